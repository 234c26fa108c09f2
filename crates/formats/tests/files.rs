//! Files of Parquet and of Arrow against the same rows as text, and files that are damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float32Array, Float64Array,
    Int64Array, LargeListArray, LargeStringArray, ListArray, RecordBatch, StringArray, StructArray,
    UInt16Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Fields, Schema};
use laneval::text::DetectedFormats;
use laneval::{
    ColumnNames, Evaluator, ExcludedDocs, FacetKind, Input, Join, LabelMatrix, Qrels, ReadOptions,
    Result,
};
use laneval_formats::Files;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

const QUERIES: [&str; 6] = ["q1", "q1", "q2", "q1", "q3", "q3"];
const DOCS: [&str; 6] = ["10", "2", "10", "33", "2", "44"];
const SCORES: [f64; 6] = [2.5, 1.0, 9.0, 0.5, 3.0, 3.0];
const GRADES: [i64; 6] = [1, 0, 2, 1, -1, 1];

fn text(run: bool) -> String {
    let rows = QUERIES.iter().zip(DOCS).zip(SCORES.iter().zip(GRADES));
    rows.map(|((query, doc), (score, grade))| {
        if run {
            format!("{query} Q0 {doc} 1 {score} tag\n")
        } else {
            format!("{query} 0 {doc} {grade}\n")
        }
    })
    .collect()
}

fn dictionary(texts: &[&str]) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    texts.iter().for_each(|text| builder.append_value(text));
    Arc::new(builder.finish())
}

fn views(texts: &[&str]) -> ArrayRef {
    let mut builder = StringViewBuilder::new();
    texts.iter().for_each(|text| builder.append_value(text));
    Arc::new(builder.finish())
}

/// Ids in every type of text that they can have.
fn ids_of_text(texts: &[&str]) -> Vec<ArrayRef> {
    let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    vec![
        Arc::new(StringArray::from(texts.to_vec())),
        Arc::new(LargeStringArray::from(texts.to_vec())),
        Arc::new(BinaryArray::from(bytes)),
        views(texts),
        dictionary(texts),
    ]
}

/// Ids in every type that they can have; documents here are numbers too.
fn ids(texts: &[&str]) -> Vec<ArrayRef> {
    let mut all = ids_of_text(texts);
    if let Ok(numbers) = texts.iter().map(|text| text.parse()).collect::<Result<Vec<i64>, _>>() {
        all.push(Arc::new(UInt16Array::from_iter_values(
            numbers.iter().map(|&number| number as u16),
        )));
        all.push(Arc::new(Int64Array::from(numbers)));
    }
    all
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let field =
        |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(
        Arc::new(schema),
        columns.iter().map(|(_, column)| column.clone()).collect(),
    )
    .unwrap()
}

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Parquet,
    Arrow,
    ArrowStream,
}

/// Writes a batch in a format, cut into pieces of some rows.
fn write(path: &Path, format: Format, batch: &RecordBatch, rows: usize) {
    let file = fs::File::create(path).unwrap();
    let cut = (0..batch.num_rows())
        .step_by(rows)
        .map(|at| batch.slice(at, rows.min(batch.num_rows() - at)));
    match format {
        Format::Parquet => {
            let settings =
                WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
            let settings = settings.set_max_row_group_row_count(Some(rows)).build();
            let mut to = ArrowWriter::try_new(file, batch.schema(), Some(settings)).unwrap();
            cut.for_each(|piece| to.write(&piece).unwrap());
            to.close().unwrap();
        }
        Format::Arrow => {
            let settings = IpcWriteOptions::default()
                .try_with_compression(Some(CompressionType::ZSTD))
                .unwrap();
            let mut to = FileWriter::try_new_with_options(file, &batch.schema(), settings).unwrap();
            cut.for_each(|piece| to.write(&piece).unwrap());
            to.finish().unwrap();
        }
        Format::ArrowStream => {
            let mut to = StreamWriter::try_new(file, &batch.schema()).unwrap();
            cut.for_each(|piece| to.write(&piece).unwrap());
            to.finish().unwrap();
        }
    }
}

const FORMATS: [Format; 3] = [Format::Parquet, Format::Arrow, Format::ArrowStream];

fn of_text() -> (Qrels, LabelMatrix) {
    let bytes = |name: &str, run| Input::Bytes { name: name.to_owned(), bytes: text(run).into() };
    let qrels = Qrels::read(bytes("qrels", false)).unwrap();
    let matrix = Join::default()
        .runs(&qrels, [laneval::RunInput::named("run", bytes("run", true))])
        .unwrap();
    (qrels, matrix)
}

fn values(matrix: &LabelMatrix, run: usize) -> Vec<u64> {
    let scores = Evaluator::new(["nDCG", "AP", "RR"])
        .unwrap()
        .with_per_query(true)
        .evaluate(matrix)
        .unwrap();
    scores.runs[run]
        .per_query
        .as_ref()
        .unwrap()
        .values
        .concat()
        .iter()
        .map(|value| value.to_bits())
        .collect()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    (folder, path)
}

/// How files are read.
fn join() -> Join {
    Join { tables: Some(&Files), ..Join::default() }
}

/// Reads a run against the judgments that are text.
fn run(path: &Path, join: &Join) -> Result<LabelMatrix> {
    join.runs(&of_text().0, [path])
}

#[test]
fn every_type_and_format_gives_the_bits_of_text() {
    let (_folder, path) = folder();
    let judged_path = path.with_extension("judged");
    let (qrels, matrix) = of_text();
    let scores: [ArrayRef; 2] = [
        Arc::new(Float64Array::from(SCORES.to_vec())),
        Arc::new(Float32Array::from_iter_values(SCORES.iter().map(|&score| score as f32))),
    ];
    let grades: ArrayRef = Arc::new(Int64Array::from(GRADES.to_vec()));
    let other: ArrayRef = Arc::new(StringArray::from(vec![None; 6] as Vec<Option<&str>>));
    let (queries, docs) = (ids(&QUERIES), ids(&DOCS));
    for (at, doc) in docs.iter().enumerate() {
        let query = &queries[at % queries.len()];
        let score = &scores[at % scores.len()];
        for (number, format) in FORMATS.into_iter().enumerate() {
            let what = format!("{:?} {format:?}", doc.data_type());
            let run = batch(&[
                ("other", other.clone()),
                ("score", score.clone()),
                ("docno", doc.clone()),
                ("qid", query.clone()),
            ]);
            let judged = batch(&[
                ("Query-ID", query.clone()),
                ("corpus-id", doc.clone()),
                ("score", grades.clone()),
            ]);
            write(&path, format, &run, 1 + (at + number) % 4);
            write(&judged_path, format, &judged, 6);
            let read = join().qrels(&judged_path).unwrap();
            assert_eq!(read.fingerprint(), qrels.fingerprint(), "{what}");
            // Of one format or of two, mapped or held, compressed once more.
            let compressed = zstd::encode_all(&fs::read(&path).unwrap()[..], 1).unwrap();
            let compressed = Input::Bytes { name: "it".to_owned(), bytes: compressed };
            let found = join().files(&judged_path, [Input::from(&path), compressed]).unwrap();
            assert_eq!(found.runs()[0].results, 6, "{what}");
            for run in 0..2 {
                assert_eq!(values(&found, run), values(&matrix, 0), "{what}");
            }
        }
    }
}

#[test]
fn samples_are_their_twins() {
    let sample = |name: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/formats").join(name)
    };
    let read = |qrels: &str, run: &str| {
        let matrix = join().files(sample(qrels), [sample(run)]).unwrap();
        (matrix.fingerprint(), matrix.tile_bytes().to_vec(), values(&matrix, 0))
    };
    let twin = read("qrels.trec", "run.trec");
    for extension in ["parquet", "arrow"] {
        assert_eq!(read(&format!("qrels.{extension}"), &format!("run.{extension}")), twin);
    }
}

#[test]
fn columns_have_the_names_that_are_given() {
    let (_folder, path) = folder();
    let ranks: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 1, 3, 1, 2]));
    let columns = [
        ("a", views(&QUERIES)),
        ("b", views(&DOCS)),
        ("c", Arc::new(Float64Array::from(SCORES.to_vec())) as ArrayRef),
        ("rank", ranks),
    ];
    write(&path, Format::Parquet, &batch(&columns), 6);
    let read = |names: Option<&str>| {
        let columns = names.map(|names| names.parse::<ColumnNames>().unwrap());
        let join = Join { runs_as: ReadOptions { columns, ..ReadOptions::default() }, ..join() };
        run(&path, &join).map(|matrix| values(&matrix, 0)).map_err(|error| error.to_string())
    };
    let of_text = values(&of_text().1, 0);
    assert_eq!(read(Some("query=a,doc=b,score=c")).unwrap(), of_text);
    assert_eq!(read(Some("query,doc,score,-")).unwrap(), of_text);
    assert_ne!(read(Some("query=a,doc=b,rank=rank")).unwrap(), of_text);
    for (names, expected) in [
        (
            Some("query=a,doc=b,score=d"),
            "there is no column `d` for the score: there are 'a', 'b', 'c', 'rank'",
        ),
        (Some("query,doc,score"), "there are 4 columns, and `query,doc,score` names 3"),
        (None, "found no query among 'a', 'b', 'c', 'rank': known names are query_id, qid"),
    ] {
        let wrong = read(names).unwrap_err();
        assert!(wrong.contains(expected), "{wrong}");
    }
}

/// A row that text could not have is none here, whatever its ids are made of.
#[test]
fn empty_ids_and_wrong_numbers_are_refused_with_their_rows() {
    let (_folder, path) = folder();
    let strings = ["q1", "q1", "", "q1", "q3", "q3"];
    let docs = ["10", "", "10", "33", "2", "44"];
    let infinite = [f64::INFINITY, 1.0, 9.0, f64::NEG_INFINITY, 3.0, f64::NAN];
    let numbers = |scores: &[f64; 6]| Arc::new(Float64Array::from(scores.to_vec())) as ArrayRef;
    for (format, at) in FORMATS.into_iter().flat_map(|format| (0..5).map(move |at| (format, at))) {
        let write = |(queries, documents, score): (ArrayRef, ArrayRef, ArrayRef)| {
            let columns = [("qid", queries), ("docno", documents), ("score", score)];
            write(&path, format, &batch(&columns), 4);
        };
        let wrong = || run(&path, &join()).unwrap_err().to_string();
        let id_array = |ids: &[&str]| ids_of_text(ids).swap_remove(at);
        write((id_array(&strings), id_array(&docs), numbers(&SCORES)));
        assert_eq!(
            wrong().replace(path.to_str().unwrap(), ""),
            ":2: the document is empty\n:3: the query is empty",
            "{format:?} {at}"
        );
        write((id_array(&QUERIES), id_array(&DOCS), numbers(&infinite)));
        assert_eq!(
            wrong().replace(path.to_str().unwrap(), ""),
            ":6: score NaN of document '44' of query 'q3' is not a number",
            "{format:?} {at}"
        );
    }
}

/// Ranks that order equal scores are read where they are asked for.
#[test]
fn ranks_order_equal_scores() {
    let (_folder, path) = folder();
    let equal: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 6]));
    let ranks: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 1, 3, 2, 1]));
    let columns =
        [("qid", views(&QUERIES)), ("docno", views(&DOCS)), ("score", equal), ("rank", ranks)];
    write(&path, Format::Parquet, &batch(&columns), 2);
    let ties = laneval::TieBreak::Rank;
    let found = run(&path, &Join { ties, ..join() }).unwrap();
    let lines = [
        "q1 Q0 10 1 1 t",
        "q1 Q0 2 2 1 t",
        "q2 Q0 10 1 1 t",
        "q1 Q0 33 3 1 t",
        "q3 Q0 2 2 1 t",
        "q3 Q0 44 1 1 t",
    ];
    let bytes = lines.join("\n").into_bytes();
    let text = Input::Bytes { name: "run".to_owned(), bytes };
    let of_text = Join { ties, ..Join::default() }.runs(&of_text().0, [text]).unwrap();
    assert_eq!(values(&found, 0), values(&of_text, 0));
    write(&path, Format::Parquet, &batch(&columns[..3]), 2);
    let wrong = run(&path, &Join { ties, ..join() }).unwrap_err().to_string();
    assert!(wrong.contains("has no ranks beside its scores"), "{wrong}");
}

#[test]
fn what_cannot_be_ids_or_numbers_is_said() {
    let (_folder, path) = folder();
    let floats: ArrayRef = Arc::new(Float64Array::from(SCORES.to_vec()));
    let nan: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0]));
    let nulls: ArrayRef =
        Arc::new(StringArray::from(vec![Some("a"), None, Some("b"), None, None, None]));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..12).map(|_| Some(vec![Some(1)])),
    ));
    let field = Arc::new(Field::new("item", lists.data_type().clone(), true));
    let nested = ListArray::new(field, OffsetBuffer::from_lengths([2; 6]), lists, None);
    for (name, column, expected) in [
        (
            "doc_id",
            floats.clone(),
            ": column `doc_id` is of type Float64: ids are text or integers",
        ),
        ("doc_id", nulls, ":2: doc_id: a null"),
        (
            "doc_id",
            views(&["10", "2", "10", "10", "2", "44"]),
            ":4: docno '10' occurs again for query 'q1', first on line 1",
        ),
        ("doc_id", Arc::new(nested) as ArrayRef, ": column `doc_id` is of type List"),
        ("score", views(&DOCS), ": column `score` is of type Utf8View: numbers were expected"),
        ("score", nan, ":3: score NaN of document"),
    ] {
        let mut columns =
            vec![("qid", views(&QUERIES)), ("doc_id", views(&DOCS)), ("score", floats.clone())];
        columns
            .iter_mut()
            .filter(|(heading, _)| *heading == name)
            .for_each(|entry| entry.1 = column.clone());
        for format in FORMATS {
            write(&path, format, &batch(&columns), 2);
            let wrong = run(&path, &join()).unwrap_err().to_string();
            assert!(wrong.contains(&format!("file{expected}")), "{format:?}: {wrong}");
            if expected.ends_with("a null") {
                let lines = [2, 4, 5, 6].map(|row| format!("file:{row}: doc_id: a null"));
                assert!(
                    wrong.lines().zip(&lines).all(|(line, ending)| line.ends_with(ending)),
                    "{wrong}"
                );
                assert_eq!(wrong.lines().count(), lines.len());
            }
        }
    }
}

/// Lists of ids in every type that they can have.
fn lists_of(values: &ArrayRef, lengths: &[usize]) -> Vec<ArrayRef> {
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let lengths = || lengths.iter().copied();
    let small =
        ListArray::new(field.clone(), OffsetBuffer::from_lengths(lengths()), values.clone(), None);
    let large = LargeListArray::new(
        field.clone(),
        OffsetBuffer::from_lengths(lengths()),
        values.clone(),
        None,
    );
    let mut all: Vec<ArrayRef> = vec![Arc::new(small), Arc::new(large)];
    let first = lengths().next().unwrap();
    if lengths().all(|length| length == first) {
        all.push(Arc::new(FixedSizeListArray::new(field, first as i32, values.clone(), None)));
    }
    all
}

/// A list of documents in each row is as many rows, whatever types the columns have, and wherever
/// they are cut.
#[test]
fn lists_are_rows() {
    let (_folder, path) = folder();
    let (queries, docs) = (["q1", "q2", "q3", "q4"], ["10", "2", "33", "10", "44", "2"]);
    let scores: ArrayRef = Arc::new(Float32Array::from(vec![9.0, 8.5, 0.25, 3.0, 2.0, 7.0]));
    let grades: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 2, 1, 3, 0]));
    for lengths in [[3, 1, 2, 0], [2, 0, 3, 1]] {
        let names = queries
            .iter()
            .zip(lengths)
            .flat_map(|(query, length)| std::iter::repeat_n(query, length));
        let lines = |line: &dyn Fn(usize, &str, &str) -> String| -> String {
            let rows = names.clone().zip(docs).enumerate();
            rows.map(|(at, (query, doc))| line(at, query, doc)).collect()
        };
        let rank = |at: usize| {
            let start: usize = names
                .clone()
                .take(at)
                .filter(|query| *query == names.clone().nth(at).unwrap())
                .count();
            start + 1
        };
        let by_rank = lines(&|at, q, d| format!("{q} Q0 {d} 1 -{} t\n", rank(at)));
        let by_score = lines(&|at, q, d| {
            format!("{q} Q0 {d} 1 {} t\n", scores.as_primitive::<Float32Type>().value(at))
        });
        // A query with an empty list is judged, as one whose documents all are irrelevant.
        let empty = queries.iter().zip(lengths).filter(|(_, length)| *length == 0);
        let empty: String = empty.map(|(query, _)| format!("{query} 0 other 0\n")).collect();
        let ones = lines(&|_, q, d| format!("{q} 0 {d} 1\n")) + &empty;
        let graded = lines(&|at, q, d| {
            format!("{q} 0 {d} {}\n", grades.as_primitive::<Int64Type>().value(at))
        }) + &empty;
        let bytes =
            |name: &str, text: &str| Input::Bytes { name: name.to_owned(), bytes: text.into() };
        let expected = |qrels: &str, run: &str| {
            let run = laneval::RunInput::named("run", bytes("run", run));
            values(&join().files(bytes("qrels", qrels), [run]).unwrap(), 0)
        };
        for (query, doc) in ids(&queries)
            .into_iter()
            .flat_map(|query| ids(&docs).into_iter().map(move |doc| (query.clone(), doc)))
        {
            for (at, list) in lists_of(&doc, &lengths).into_iter().enumerate() {
                let score = lists_of(&scores, &lengths).swap_remove(at.min(1));
                let grade = lists_of(&grades, &lengths).swap_remove(0);
                for (format, rows) in FORMATS.into_iter().zip([2, 3, 4]) {
                    let read = |columns: &[(&str, ArrayRef)], run: bool| {
                        write(&path, format, &batch(columns), rows);
                        if run {
                            values(&join().files(bytes("qrels", &ones), [&path]).unwrap(), 0)
                        } else {
                            let run = laneval::RunInput::named("run", bytes("run", &by_score));
                            values(&join().files(path.as_path(), [run]).unwrap(), 0)
                        }
                    };
                    let what = format!("{format:?} {} {} {at}", query.data_type(), doc.data_type());
                    let plain =
                        [("user_input", query.clone()), ("retrieved_context_ids", list.clone())];
                    assert_eq!(read(&plain, true), expected(&ones, &by_rank), "{what}");
                    let scored = [
                        ("score", score.clone()),
                        ("query", query.clone()),
                        ("doc_id", list.clone()),
                    ];
                    assert_eq!(read(&scored, true), expected(&ones, &by_score), "{what}");
                    let plain = [("expected_ids", list.clone()), ("query", query.clone())];
                    assert_eq!(read(&plain, false), expected(&ones, &by_score), "{what}");
                    let judged = [
                        ("query", query.clone()),
                        ("rel", grade.clone()),
                        ("relevant_docs", list.clone()),
                    ];
                    assert_eq!(read(&judged, false), expected(&graded, &by_score), "{what}");
                }
            }
        }
    }
}

/// A row whose list is empty is a judged query to which nothing is relevant, and is noted.
#[test]
fn queries_with_empty_lists_are_noted() {
    let (_folder, path) = folder();
    let docs: ArrayRef = Arc::new(StringArray::from(vec!["10", "2", "33"]));
    for query in ids(&["1", "2", "3", "4"]) {
        for list in lists_of(&docs, &[2, 0, 1, 0]) {
            for (format, rows) in FORMATS.into_iter().zip([2, 3, 4]) {
                let recognised = Arc::new(DetectedFormats::default());
                let join = Join { recognised: Some(recognised.clone()), ..join() };
                write(
                    &path,
                    format,
                    &batch(&[("query", query.clone()), ("expected_ids", list.clone())]),
                    rows,
                );
                let qrels = join.qrels(path.as_path()).unwrap();
                assert_eq!(qrels.queries().len(), 4);
                let notes: Vec<String> = recognised
                    .all()
                    .into_iter()
                    .filter(|file| file.note)
                    .map(|file| file.what)
                    .collect();
                let expected = "2 queries have empty lists (such as 2): they are judged, and no \
                            document is relevant to them";
                assert_eq!(notes, [expected], "{format:?} {}", query.data_type());
            }
        }
    }
}

#[test]
fn what_is_wrong_with_lists_is_said_with_the_row_of_the_file() {
    let (_folder, path) = folder();
    let queries: ArrayRef = Arc::new(StringArray::from(vec!["q1", "q2", "q3"]));
    let list = |docs: Vec<Option<&str>>, lengths: [usize; 3]| {
        lists_of(&(Arc::new(StringArray::from(docs)) as ArrayRef), &lengths).swap_remove(0)
    };
    let docs = || {
        list(vec![Some("1"), Some("2"), Some("10"), Some("2"), Some("44"), Some("5")], [1, 1, 4])
    };
    let numbers = |lengths: [usize; 3]| {
        let values: ArrayRef = Arc::new(Float64Array::from(vec![1.0; lengths.iter().sum()]));
        lists_of(&values, &lengths).swap_remove(0)
    };
    let repeated = list(vec![Some("1"), Some("2"), Some("44"), Some("5"), Some("44")], [1, 1, 3]);
    let with_null = list(vec![Some("1"), None, Some("44")], [1, 1, 1]);
    let single: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 3]));
    for (columns, given, expected) in [
        (
            vec![("retrieved_ids", docs()), ("score", numbers([1, 1, 3]))],
            None,
            ":3: 4 ids and 3 scores: a score for each id was expected",
        ),
        (
            vec![("retrieved_ids", repeated)],
            None,
            ":3: docno '44' occurs again for query 'q3', first on line 3",
        ),
        (vec![("retrieved_ids", with_null)], None, ":2: retrieved_ids: a null in the list"),
        (
            vec![("retrieved_contexts", docs())],
            None,
            ": has texts (retrieved_contexts) and no ids: retrieved_context_ids was expected",
        ),
        (
            vec![("retrieved_ids", docs()), ("score", single)],
            Some("query=query,doc=retrieved_ids,score=score"),
            ": column `score` is of type Float64: lists were expected",
        ),
    ] {
        let columns: Vec<(&str, ArrayRef)> =
            [("query", queries.clone())].into_iter().chain(columns).collect();
        let columns_as = given.map(|given: &str| given.parse::<ColumnNames>().unwrap());
        let join = Join {
            runs_as: ReadOptions { columns: columns_as, ..ReadOptions::default() },
            ..join()
        };
        for (format, rows) in FORMATS.into_iter().zip([1, 2, 3]) {
            write(&path, format, &batch(&columns), rows);
            let wrong = run(&path, &join).unwrap_err().to_string();
            assert!(wrong.contains(&format!("file{expected}")), "{format:?}: {wrong}");
        }
    }
}

/// Records with these fields, of which some may be null.
fn records(fields: &[(&str, ArrayRef)], nulls: Option<NullBuffer>) -> ArrayRef {
    let of_field =
        |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let names: Fields = fields.iter().map(of_field).collect();
    let columns = fields.iter().map(|(_, column)| column.clone()).collect();
    Arc::new(StructArray::new(names, columns, nulls))
}

/// A list of records of documents is as many rows, as in JSON.
#[test]
fn lists_of_records_are_rows() {
    let (_folder, path) = folder();
    let (queries, docs) = (["q1", "q2", "q3"], ["10", "2", "33", "10", "44", "2"]);
    let (scores, grades) = ([9.0, 8.5, 0.25, 3.0, 2.0, 7.0], [1_i64, 0, 2, 1, 3, 0]);
    let score: ArrayRef = Arc::new(Float64Array::from(scores.to_vec()));
    let grade: ArrayRef = Arc::new(Int64Array::from(grades.to_vec()));
    let titles = views(&["a", "b", "c", "d", "e", "f"]);
    let bytes = |name: &str, text: &str| Input::Bytes { name: name.to_owned(), bytes: text.into() };
    for lengths in [[2, 1, 3], [2, 2, 2]] {
        let (mut judged, mut scored, mut ranked) = (String::new(), String::new(), String::new());
        let mut at = 0;
        for (query, length) in queries.iter().zip(lengths) {
            for rank in 1..=length {
                judged += &format!("{query} 0 {} {}\n", docs[at], grades[at]);
                scored += &format!("{query} Q0 {} 1 {} t\n", docs[at], scores[at]);
                ranked += &format!("{query} Q0 {} 1 -{rank} t\n", docs[at]);
                at += 1;
            }
        }
        let evaluated = |qrels: Input, run: Input| {
            values(&join().files(qrels, [laneval::RunInput::named("run", run)]).unwrap(), 0)
        };
        let query = views(&queries);
        let as_lists = |fields: &[(&str, ArrayRef)]| lists_of(&records(fields, None), &lengths);
        for doc in ids(&docs) {
            let of_qrels = [("title", titles.clone()), ("corpus_id", doc.clone())];
            let of_qrels = as_lists(&[&of_qrels[..], &[("score", grade.clone())]].concat());
            let of_scores = as_lists(&[("score", score.clone()), ("doc_id", doc.clone())]);
            let of_ranks = as_lists(&[("doc_id", doc.clone()), ("title", titles.clone())]);
            for (at, of_qrels) in of_qrels.into_iter().enumerate() {
                for format in FORMATS {
                    let what = format!("{format:?} {} {at}", doc.data_type());
                    let put = |name: &str, lists: &ArrayRef| {
                        let columns = [("query_id", query.clone()), (name, lists.clone())];
                        write(&path, format, &batch(&columns), 2);
                        Input::from(&path)
                    };
                    let expected = evaluated(bytes("qrels", &judged), bytes("run", &scored));
                    let found = evaluated(put("qrels", &of_qrels), bytes("run", &scored));
                    assert_eq!(found, expected, "{what}");
                    let found =
                        evaluated(bytes("qrels", &judged), put("candidates", &of_scores[at]));
                    assert_eq!(found, expected, "{what}");
                    let expected = evaluated(bytes("qrels", &judged), bytes("run", &ranked));
                    let found =
                        evaluated(bytes("qrels", &judged), put("candidates", &of_ranks[at]));
                    assert_eq!(found, expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn what_is_wrong_with_lists_of_records_is_said() {
    let (_folder, path) = folder();
    let docs: ArrayRef = Arc::new(StringArray::from(vec!["10", "2", "33"]));
    let with_null = NullBuffer::from(vec![true, true, false]);
    for (all, expected) in [
        (
            records(&[("doc_id", docs.clone())], Some(with_null)),
            ":2: candidates: a null in the list",
        ),
        (
            records(&[("x", docs.clone()), ("y", docs.clone())], None),
            ": a document has no id: its fields are 'x', 'y'",
        ),
        (
            records(&[("doc_id", docs.clone()), ("score", docs.clone())], None),
            ": column `candidates` is of type Utf8: numbers were expected",
        ),
    ] {
        let lists = lists_of(&all, &[1, 2]).swap_remove(0);
        for format in FORMATS {
            let columns = [("query_id", views(&["q1", "q2"])), ("candidates", lists.clone())];
            write(&path, format, &batch(&columns), 2);
            let wrong = run(&path, &join()).unwrap_err().to_string();
            assert_eq!(wrong.replace(path.to_str().unwrap(), ""), expected, "{format:?}");
        }
    }
}

/// Words are grades, and so are numbers that are text, as in CSV with a header.
#[test]
fn words_are_grades() {
    let (_folder, path) = folder();
    let read = |grades: Option<&str>, input: Input| {
        let grades = grades.map(|grades| grades.parse().unwrap());
        let qrels_as = ReadOptions { grades, ..ReadOptions::default() };
        let qrels = Join { qrels_as, ..join() }.qrels(input);
        qrels.map(|qrels| qrels.fingerprint()).map_err(|error| error.to_string())
    };
    let written = |label: &ArrayRef, format: Format| {
        let columns = [("qid", views(&QUERIES)), ("docno", views(&DOCS)), ("label", label.clone())];
        write(&path, format, &batch(&columns), 4);
        Input::from(&path)
    };
    let given = "E=3,S=2,C=1,I=0";
    for (grades, words) in [
        (None, ["Relevant", "no", "TRUE", "2", "-1", "yes"]),
        (Some(given), ["E", "I", "S", "C", "2.5", "I"]),
    ] {
        let rows = QUERIES.iter().zip(DOCS).zip(words);
        let rows = rows.map(|((query, doc), word)| format!("{query},{doc},{word}\n"));
        let text = format!("qid,docno,label\n{}", rows.collect::<String>());
        let text = Input::Bytes { name: "it".to_owned(), bytes: text.into() };
        let expected = read(grades, text).unwrap();
        let columns = ids_of_text(&words).into_iter();
        // Bytes are no words.
        for label in columns.filter(|column| !column.data_type().is_binary()) {
            for format in FORMATS {
                let found = read(grades, written(&label, format));
                assert_eq!(found.as_ref(), Ok(&expected), "{format:?} {}", label.data_type());
            }
        }
    }
    let truths: ArrayRef = Arc::new(BooleanArray::from(GRADES.map(|grade| grade > 0).to_vec()));
    let numbers: ArrayRef =
        Arc::new(Int64Array::from(GRADES.map(|grade| i64::from(grade > 0)).to_vec()));
    for format in FORMATS {
        let expected = read(None, written(&numbers, format)).unwrap();
        assert_eq!(read(Some(given), written(&truths, format)), Ok(expected));
        for (grades, expected) in [
            (None, ":3: grade 'E' is not a number (`--grades E=…` gives words grades)"),
            (Some("S=1"), ":3: grade 'E' is not a number, and no word of S=1"),
        ] {
            let label = views(&["1", "0", "E", "1", "0", "1"]);
            let wrong = read(grades, written(&label, format)).unwrap_err();
            assert_eq!(wrong.replace(path.to_str().unwrap(), ""), expected);
        }
        let nulls = StringArray::from(vec![Some("1"), None, Some("0"), None, None, Some("no")]);
        let wrong = read(None, written(&(Arc::new(nulls) as ArrayRef), format)).unwrap_err();
        let lines = [2, 4, 5].map(|row| format!("{}:{row}: label: a null", path.display()));
        assert_eq!(wrong, lines.join("\n"));
    }
}

/// A folder of files, as Spark writes it, is one table in the order of their names.
#[test]
fn folders_of_files_are_one_table() {
    let (folder, _) = folder();
    let (qrels, matrix) = of_text();
    let grades: ArrayRef = Arc::new(Int64Array::from(GRADES.to_vec()));
    let scores: ArrayRef = Arc::new(Float64Array::from(SCORES.to_vec()));
    let table = |docs: &str, name: &str, numbers: &ArrayRef| {
        let ids = |texts: &[&str]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
        batch(&[("qid", ids(&QUERIES)), (docs, ids(&DOCS)), (name, numbers.clone())])
    };
    let (judged, run) = (table("docno", "rel", &grades), table("docno", "score", &scores));
    for (extension, format) in [("snappy.parquet", Format::Parquet), ("arrow", Format::Arrow)] {
        let inside = |name: &str| folder.path().join(format!("{name}.{extension}"));
        for (name, rows) in [("judged", &judged), ("run", &run)] {
            fs::create_dir(inside(name)).unwrap();
            for (part, start, count) in [(1, 2, 4), (0, 0, 2)] {
                let file = inside(name).join(format!("part-0000{part}-c0de.{extension}"));
                write(&file, format, &rows.slice(start, count), 3);
            }
            fs::write(inside(name).join("_SUCCESS"), "").unwrap();
            fs::write(inside(name).join(".part-00000-c0de.crc"), "crc").unwrap();
        }
        let read = join().qrels(inside("judged")).unwrap();
        assert_eq!(read.fingerprint(), qrels.fingerprint());
        let found = join().files(inside("judged"), [&inside("run")]).unwrap();
        assert_eq!(values(&found, 0), values(&matrix, 0), "{extension}");
    }
    let wrong_folder = folder.path().join("wrong");
    fs::create_dir(&wrong_folder).unwrap();
    let [first, second] = [0, 1].map(|part| wrong_folder.join(format!("part-{part}.parquet")));
    write(&first, Format::Parquet, &judged, 6);
    let nulls: ArrayRef =
        Arc::new(Int64Array::from(vec![Some(1), None, Some(0), None, None, None]));
    let (shown_first, shown, all) = (first.display(), second.display(), wrong_folder.display());
    for (rows, expected) in [
        (
            table("docno", "rel", &scores),
            format!(
                "{all}: {shown} is not like {shown_first}: its columns are `qid` (Utf8), `docno` \
                 (Utf8), `rel` (Float64), and not `qid` (Utf8), `docno` (Utf8), `rel` (Int64)"
            ),
        ),
        (
            table("x", "rel", &grades),
            format!(
                "{all}: {shown} is not like {shown_first}: found no document among 'qid', 'x', \
                 'rel': known names are doc_id, "
            ),
        ),
        (table("docno", "rel", &nulls).slice(0, 3), format!("{all}: {shown}: row 2: rel: a null")),
    ] {
        write(&second, Format::Parquet, &rows, 6);
        let wrong = join().qrels(&wrong_folder).unwrap_err().to_string();
        assert!(wrong.starts_with(&expected), "{wrong}");
    }
    fs::write(&second, "q1 0 10 1\n").unwrap();
    let wrong = join().qrels(&wrong_folder).unwrap_err().to_string();
    assert_eq!(wrong, format!("{shown}: is neither Parquet nor Arrow, which its name says"));
    // A folder with any other file is no table.
    fs::rename(&second, wrong_folder.join("other.parquet")).unwrap();
    assert!(join().qrels(&wrong_folder).is_err());
}

/// Documents to exclude are pairs, or lists.
#[test]
fn excluded_documents_are_read() {
    let (_folder, path) = folder();
    let pairs = [("q1", "10"), ("q1", "2"), ("q2", "33")];
    let expected = ExcludedDocs::from_pairs(pairs);
    let docs = views(&pairs.map(|(_, doc)| doc));
    let lists = lists_of(&docs, &[2, 1]).swap_remove(0);
    let queries = views(&pairs.map(|(query, _)| query));
    for columns in [
        vec![("query_id", queries.clone()), ("doc_id", docs.clone())],
        vec![("qid", queries), ("docno", docs), ("rel", views(&["yes", "no", "1"]))],
        vec![("id", views(&["q1", "q2"])), ("excluded_ids", lists)],
    ] {
        for format in FORMATS {
            write(&path, format, &batch(&columns), 2);
            let read = ExcludedDocs::read(&path, Some(&Files)).unwrap();
            assert_eq!(read.fingerprint(), expected.fingerprint(), "{format:?} {}", columns[0].0);
        }
    }
}

/// A passage whose end is beyond 64 bits is no shorter passage.
#[test]
fn a_length_that_passes_the_largest_end_is_refused_with_its_row() {
    let (_folder, path) = folder();
    let columns = |lengths: Vec<Option<i64>>| {
        let texts = |text: &str| Arc::new(StringArray::from(vec![text; 3])) as ArrayRef;
        let starts = Arc::new(Int64Array::from(vec![0, 10, i64::MAX - 1])) as ArrayRef;
        let lengths = Arc::new(Int64Array::from(lengths)) as ArrayRef;
        batch(&[("query", texts("q")), ("doc", texts("d")), ("start", starts), ("length", lengths)])
    };
    let join = Join { judged_by: Some(FacetKind::Span), ..join() };
    for (lengths, expected) in [
        (
            [Some(i64::MAX), Some(i64::MAX - 9), Some(1)],
            Some(
                ":2: start '10' and length '9223372036854775798' make no position: an end from 0 \
                 to 9223372036854775807 was expected",
            ),
        ),
        (
            [Some(5), None, Some(2)],
            Some(
                ":2: length: a null\n:3: start '9223372036854775806' and length '2' make no \
                 position: an end from 0 to 9223372036854775807 was expected",
            ),
        ),
        ([Some(5), Some(i64::MAX - 10), Some(1)], None),
    ] {
        for (format, rows) in FORMATS.into_iter().zip([1, 2, 3]) {
            write(&path, format, &columns(lengths.to_vec()), rows);
            let wrong = join.qrels(&path).err().map(|wrong| wrong.to_string());
            let wrong = wrong.map(|wrong| wrong.replace(path.to_str().unwrap(), ""));
            assert_eq!(wrong.as_deref(), expected, "{format:?}");
        }
    }
}

#[test]
fn files_are_not_read_without_a_reader() {
    let (_folder, path) = folder();
    let columns = [("qid", views(&QUERIES)), ("docno", views(&DOCS))];
    for (format, name) in FORMATS.into_iter().zip(["Parquet", "Arrow", "Arrow"]) {
        write(&path, format, &batch(&columns), 6);
        for wrong in [
            Join::default().qrels(&path).unwrap_err().to_string(),
            run(&path, &Join::default()).unwrap_err().to_string(),
        ] {
            assert!(
                wrong.contains(&format!("file: is {name}, which this build does not read")),
                "{wrong}"
            );
        }
    }
}

/// Cut anywhere, or with a byte changed, a file is an error or a table, and nothing else.
#[test]
fn damaged_files_are_errors() {
    laneval_formats::silence_reader_panics();
    let (qrels, _) = of_text();
    let columns = [
        ("qid", views(&QUERIES)),
        ("docno", dictionary(&DOCS)),
        ("score", Arc::new(Float64Array::from(SCORES.to_vec())) as ArrayRef),
    ];
    let (_folder, path) = folder();
    let read = |bytes: &[u8]| {
        let input = Input::Bytes { name: "file".to_owned(), bytes: bytes.to_vec() };
        join().runs(&qrels, [input])
    };
    let mut refused = [0; 3];
    for (number, format) in FORMATS.into_iter().enumerate() {
        write(&path, format, &batch(&columns), 4);
        let whole = fs::read(&path).unwrap();
        assert!(read(&whole).is_ok());
        for length in 0..whole.len() {
            // A stream may end behind any of its batches.
            assert!(
                read(&whole[..length]).is_err() || format == Format::ArrowStream,
                "{format:?}, {length}"
            );
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x10, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                refused[number] += usize::from(read(&bytes).is_err());
            }
        }
    }
    assert!(refused.iter().all(|&count| count > 100), "{refused:?}");
}

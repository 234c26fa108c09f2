//! Compares columns with text of the same rows, in every layout, cut anywhere.

use std::num::NonZeroU32;

use proptest::prelude::*;

use crate::bytes::input::Input;
use crate::bytes::known_seeds::{KNOWN, OTHER};
use crate::cases::cases;
use crate::columns::{CheckedColumns, IdColumn, QrelsColumns, RunColumns};
use crate::join::qrels::Qrels;
use crate::lines::chunks::ChunkSize;
use crate::lines::dialect::Dialect;
use crate::matrix::LabelMatrix;
use crate::numbers::{Integers, Numbers};
use crate::record::columns::PieceSize;
use crate::rule::{ScoreType, TieBreak};
use crate::settings::Join;
use crate::test_support::input;

/// A row: query, document, number, rank.
type Row = (String, String, f64, i64);

fn leak<T>(values: Vec<T>) -> &'static [T] {
    Box::leak(values.into_boxed_slice())
}

/// The number of layouts of [`text`].
const LAYOUTS: usize = 10;

/// Makes ids in one of the layouts; `numeric` ids may be integers.
fn text(ids: &[&str], layout: usize, numeric: bool) -> IdColumn<'static> {
    let before = "before";
    let joined = || leak([before, &ids.concat(), "after"].concat().into_bytes());
    let ends = || {
        let ends = ids.iter().scan(before.len(), |end, id| {
            *end += id.len();
            Some(*end)
        });
        std::iter::once(before.len()).chain(ends).collect::<Vec<usize>>()
    };
    let dictionary = || {
        let mut values = ids.to_vec();
        values.sort_unstable();
        values.dedup();
        // A value that no row has, and each other value twice: rows have the first and the second
        // in turns.
        let unused = if numeric { "99" } else { "unused" };
        let all: Vec<&str> =
            [unused].into_iter().chain(values.iter().copied()).chain(values.clone()).collect();
        let code = |(row, id): (usize, &&str)| {
            1 + values.iter().position(|value| value == id).unwrap() + row % 3 / 2 * values.len()
        };
        (all, ids.iter().enumerate().map(code).collect::<Vec<usize>>())
    };
    let integers = || leak(ids.iter().map(|id| id.parse::<i64>().unwrap()).collect::<Vec<i64>>());
    match layout {
        0 => IdColumn::LargeUtf8 {
            offsets: leak(ends().iter().map(|&end| end as i64).collect()),
            bytes: joined(),
        },
        1 => {
            let (front, back) = (leak(b"front".to_vec()), joined());
            let ends = ends();
            let view = |(row, id): (usize, &&str)| {
                let mut view = [0u8; 16];
                view[..4].copy_from_slice(&(id.len() as u32).to_ne_bytes());
                if id.len() <= 12 {
                    view[4..4 + id.len()].copy_from_slice(id.as_bytes());
                } else {
                    view[4..8].copy_from_slice(&id.as_bytes()[..4]);
                    view[8..12].copy_from_slice(&1u32.to_ne_bytes());
                    view[12..].copy_from_slice(&(ends[row] as u32).to_ne_bytes());
                }
                u128::from_ne_bytes(view)
            };
            let views = leak(ids.iter().enumerate().map(view).collect());
            IdColumn::Views { views, buffers: leak(vec![front, back]) }
        }
        2 => IdColumn::Bytes(leak(ids.iter().map(|id| leak(id.as_bytes().to_vec())).collect())),
        3 => IdColumn::Strs(leak(
            ids.iter().map(|id| &*Box::leak(id.to_string().into_boxed_str())).collect(),
        )),
        4 | 5 => {
            let (values, codes) = dictionary();
            let values = Box::leak(Box::new(text(&values, layout - 4, false)));
            let codes = match layout {
                4 => Integers::U8(leak(codes.iter().map(|&code| code as u8).collect())),
                _ => Integers::I64(leak(codes.iter().map(|&code| code as i64).collect())),
            };
            IdColumn::Dictionary { codes, values }
        }
        6 if numeric => IdColumn::Integers(Integers::I64(integers())),
        7 if numeric => {
            let (values, codes) = dictionary();
            let values = Box::leak(Box::new(text(&values, 6, true)));
            IdColumn::Dictionary {
                codes: Integers::U16(leak(codes.iter().map(|&code| code as u16).collect())),
                values,
            }
        }
        8 => {
            // A dictionary with more values than there are rows: a table does not pay.
            let (values, codes) = dictionary();
            let more = (0..20 * ids.len()).map(|n| format!("more-{n}")).collect::<Vec<_>>();
            let all: Vec<&str> =
                values.into_iter().chain(more.iter().map(String::as_str)).collect();
            let values = Box::leak(Box::new(text(&all, 3, false)));
            IdColumn::Dictionary {
                codes: Integers::U32(leak(codes.iter().map(|&code| code as u32).collect())),
                values,
            }
        }
        _ => IdColumn::Utf8 {
            offsets: leak(ends().iter().map(|&end| end as i32).collect()),
            bytes: joined(),
        },
    }
}

/// Returns halves of small integers as bits of half precision.
fn half_bits(number: f64) -> u16 {
    let bits = (number as f32).to_bits();
    match bits << 1 {
        0 => (bits >> 16) as u16,
        _ => (bits >> 16 & 0x8000 | ((bits >> 23 & 255) - 112) << 10 | bits >> 13 & 0x3ff) as u16,
    }
}

fn floats(numbers: Vec<f64>, layout: usize) -> Numbers<'static> {
    match layout % 5 {
        0 => Numbers::F32(leak(numbers.iter().map(|&number| number as f32).collect())),
        1 => Numbers::F16(leak(numbers.iter().map(|&number| half_bits(number)).collect())),
        2 => Numbers::Bf16(leak(
            numbers.iter().map(|&number| ((number as f32).to_bits() >> 16) as u16).collect(),
        )),
        3 if numbers.iter().all(|number| number.fract() == 0.0) => Numbers::Integers(Integers::I8(
            leak(numbers.iter().map(|&number| number as i8).collect()),
        )),
        _ => Numbers::F64(leak(numbers)),
    }
}

/// Cuts rows into batches after the numbers of rows in `cuts`, some of them 0; each batch has the
/// next layout.
fn batches<'a>(rows: &'a [Row], cuts: &[usize]) -> Vec<&'a [Row]> {
    let (mut rest, mut batches) = (rows, Vec::new());
    for &cut in cuts {
        let (batch, after) = rest.split_at(cut.min(rest.len()));
        batches.push(batch);
        rest = after;
    }
    batches.push(rest);
    batches
}

fn columns_of(rows: &[Row], layout: usize, numeric: bool) -> [IdColumn<'static>; 2] {
    let query: Vec<&str> = rows.iter().map(|row| &*row.0).collect();
    let doc: Vec<&str> = rows.iter().map(|row| &*row.1).collect();
    [text(&query, layout % LAYOUTS, numeric), text(&doc, layout / LAYOUTS % LAYOUTS, numeric)]
}

fn records(rows: &[Row], layout: usize, numeric: bool) -> RunColumns<'static> {
    let [query, doc] = columns_of(rows, layout, numeric);
    let score = floats(rows.iter().map(|row| row.2).collect(), layout);
    let rank = Integers::I64(leak(rows.iter().map(|row| row.3).collect()));
    RunColumns { query, doc, score: Some(score), rank: Some(rank), span: None, lists: None }
}

fn judgments(rows: &[Row], layout: usize, numeric: bool) -> QrelsColumns<'static> {
    let [query, doc] = columns_of(rows, layout, numeric);
    QrelsColumns::new(query, doc, floats(rows.iter().map(|row| row.2).collect(), layout))
}

/// Returns everything that is in a matrix, except the names of its run.
fn all(matrix: &LabelMatrix) -> impl PartialEq + std::fmt::Debug + use<> {
    let run = matrix.runs()[0].clone();
    let run = (run.results, run.ignored, run.seen);
    let labels = (matrix.depths().to_vec(), matrix.tile_bytes().to_vec(), matrix.queries().clone());
    (
        run,
        labels,
        matrix.facts().clone(),
        matrix.codebook().clone(),
        matrix.fingerprint(),
        matrix.rule(),
    )
}

fn qrels_text(rows: &[Row]) -> Input {
    input(
        "qrels",
        rows.iter()
            .map(|(query, doc, grade, _)| format!("{query} 0 {doc} {grade}\n"))
            .collect::<String>(),
    )
}

fn run_text(rows: &[Row]) -> Input {
    let line = |(query, doc, score, rank): &Row| format!("{query} Q0 {doc} {rank} {score} t\n");
    input("run", rows.iter().map(line).collect::<String>())
}

fn numeric_ids() -> BoxedStrategy<(String, String)> {
    let docs = vec![
        "7",
        "42",
        "-5",
        "0",
        "99999999",
        "100000000",
        "123456789012345",
        "9999999999999999",
        "10000000000000000",
    ];
    let query = prop::sample::select(vec!["1", "20", "3000000000", "-4"]);
    (query, prop::sample::select(docs))
        .prop_map(|(query, doc)| (query.to_owned(), doc.to_owned()))
        .boxed()
}

fn other_ids() -> BoxedStrategy<(String, String)> {
    let query = prop::sample::select(vec![
        "q1",
        "q20",
        "a-query-of-more-than-16",
        "a-query-of-twice-as-much",
    ]);
    let doc = prop_oneof![
        4 => (0u32..20).prop_map(|n| format!("d{n}")),
        1 => (0u32..9).prop_map(|n| format!("a-long-document-{n}")),
        1 => (0u32..9).prop_map(|n| "é".repeat(n as usize + 1)),
    ];
    (query.prop_map(str::to_owned), doc).boxed()
}

fn rows(numeric: bool, most: usize) -> impl Strategy<Value = Vec<Row>> {
    let ids = if numeric { numeric_ids() } else { other_ids() };
    let row = (ids, -4i32..8, 1i64..6)
        .prop_map(|((query, doc), half, rank)| (query, doc, f64::from(half) / 2.0, rank));
    (prop::collection::vec(row, 1..most), any::<bool>(), prop::bool::weighted(0.9)).prop_map(
        |(mut rows, grouped, distinct)| {
            if distinct {
                let mut seen = std::collections::HashSet::new();
                rows.retain(|(query, doc, ..)| seen.insert((query.clone(), doc.clone())));
            }
            if grouped {
                rows.sort_by_key(|row| std::cmp::Reverse(row.0.clone()));
            }
            rows
        },
    )
}

fn join() -> impl Strategy<Value = Join> {
    let ties = prop::sample::select(vec![
        TieBreak::DocnoDescending,
        TieBreak::DocnoAscending,
        TieBreak::Input,
    ]);
    let score = prop::sample::select(vec![ScoreType::F64, ScoreType::F32]);
    let dialect = prop::sample::select(vec![Dialect::Laneval, Dialect::Trec9, Dialect::Trec10]);
    let depth = prop::option::of(1u32..20).prop_map(|depth| depth.and_then(NonZeroU32::new));
    (ties, score, dialect, depth).prop_map(|(ties, score, dialect, depth)| Join {
        ties,
        score,
        dialect,
        depth,
        ..Join::default()
    })
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn columns_mean_what_text_means(
        (numeric, judged, results) in any::<bool>()
            .prop_flat_map(|numeric| (Just(numeric), rows(numeric, 30), rows(numeric, 60))),
        cuts in prop::collection::vec(0usize..20, 0..6),
        layout in 0..LAYOUTS * LAYOUTS,
        join in join(),
        size in 1usize..40,
        threads in 1usize..4,
    ) {
        let seed = if size % 2 == 0 { KNOWN } else { OTHER };
        let from_text = join.files_in_chunks(
            qrels_text(&judged),
            vec![run_text(&results).into()],
            ChunkSize(1 << 20),
            seed,
        );
        let from_columns = with_threads(threads, || {
            let pieces = PieceSize(size);
            let judged: Vec<_> = batches(&judged, &cuts)
                .into_iter()
                .enumerate()
                .map(|(n, rows)| judgments(rows, layout + 7 * n, numeric))
                .collect();
            let qrels = join.judgments_in_pieces(&judged, pieces)?;
            let results: Vec<_> = batches(&results, &cuts)
                .into_iter()
                .enumerate()
                .map(|(n, rows)| records(rows, layout + 3 * n, numeric))
                .collect();
            join.columns_in_pieces(&qrels, &[("run", &results)], pieces)
        });
        match (from_text, from_columns) {
            (Ok(from_text), Ok(from_columns)) => {
                prop_assert_eq!(all(&from_columns), all(&from_text))
            }
            (from_text, from_columns) => {
                let [from_text, from_columns] = [from_text, from_columns]
                    .map(|result| result.map(drop).unwrap_err().to_string());
                // Problems of the judgments alone come before those of the run.
                prop_assert!(
                    from_text.starts_with(&from_columns),
                    "{} {}",
                    from_text,
                    from_columns
                );
            }
        }
    }

    /// Ranking by rank equals ranking by score, if scores descend with ranks.
    #[test]
    fn ranks_decide_where_there_are_no_scores(
        results in rows(false, 40),
        first in -3i64..3,
        layout in 0..LAYOUTS * LAYOUTS,
        size in 1usize..40,
        grouped: bool,
    ) {
        let mut results = results;
        if grouped {
            results.sort_by_key(|row| row.0.clone());
        }
        let mut seen = std::collections::HashSet::new();
        results.retain(|(query, doc, ..)| seen.insert((query.clone(), doc.clone())));
        let count = results.len() as i64;
        for (at, row) in (0..).zip(&mut results) {
            row.3 = first + at * 7919 % 104_729 - count * (at % 2);
            row.2 = -row.3 as f64;
        }
        let judged = &results[..results.len().div_ceil(2)];
        let judged: Vec<Row> = judged
            .iter()
            .enumerate()
            .map(|(n, row)| (row.0.clone(), row.1.clone(), (n % 3) as f64, 0))
            .collect();
        let qrels = Qrels::columns(&[judgments(&judged, layout, false)], Dialect::Laneval).unwrap();
        let from_text = Join::default().runs(&qrels, [run_text(&results)]).unwrap();
        let by_rank = RunColumns { score: None, ..records(&results, layout, false) };
        let by_rank = Join::default()
            .columns_in_pieces(&qrels, &[("run", &[by_rank])], PieceSize(size))
            .unwrap();
        prop_assert_eq!(by_rank.tile_bytes(), from_text.tile_bytes());
        prop_assert_eq!(by_rank.depths(), from_text.depths());
    }
}

const QUERIES: [&str; 3] = ["q1", "q1", "q2"];
const DOCS: [&str; 3] = ["a", "b", "a"];

proptest! {
    /// Stretches of one id, longer and shorter than what is compared at a time, and of ids that
    /// differ in one byte or in their length.
    #[test]
    fn changes_of_ids_are_found(
        stretches in prop::collection::vec(
            (
                prop::sample::select(
                    &["11", "12", "1", "112", "1234567890123", "1234567890124"][..]
                ),
                prop::sample::select(&[1usize, 2, 127, 128, 300][..]),
            ),
            1..8,
        ),
        layout in 0..LAYOUTS,
        skipped in 0usize..140,
        left in 0usize..140,
    ) {
        let ids: Vec<&str> =
            stretches.iter().flat_map(|&(id, count)| std::iter::repeat_n(id, count)).collect();
        let column = text(&ids, layout, true);
        let rows =
            skipped.min(ids.len())..ids.len().saturating_sub(left).max(skipped.min(ids.len()));
        let mut found = Vec::new();
        column.each_change(rows.clone(), |row| found.push(row));
        // Codes are compared and not their values, so a value that the dictionary has twice changes
        // as well.
        let differs = |row: &usize| match column {
            IdColumn::Dictionary { codes, .. } => !codes.same(row - 1, *row),
            _ => ids[row - 1] != ids[*row],
        };
        prop_assert_eq!(found, (rows.start + 1..rows.end).filter(differs).collect::<Vec<_>>());
    }
}

fn joined(batches: &[RunColumns<'_>]) -> Result<LabelMatrix, String> {
    let qrels = Qrels::new([("q1", "a", 1.0), ("q1", "b", 0.0), ("q2", "a", 2.0)]).unwrap();
    Join::default().columns(&qrels, &[("mine", batches)]).map_err(|error| error.to_string())
}

#[test]
fn infinite_scores_are_the_first_and_the_last() {
    let scores = [f32::NEG_INFINITY, f32::INFINITY, f32::INFINITY];
    let matrix = joined(&[RunColumns::scored(&QUERIES, &DOCS, &scores)]).unwrap();
    assert_eq!(matrix.tile(0).lane(0).take(2).collect::<Vec<_>>(), [3, 4]);
    let rows = [("q1", "a", f64::NEG_INFINITY), ("q1", "b", -1e300)];
    let qrels = Qrels::new([("q1", "a", 1.0), ("q1", "b", 0.0)]).unwrap();
    let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), rows)]).unwrap();
    assert_eq!(matrix.tile(0).lane(0).take(2).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn what_is_wrong_with_columns_is_told_with_its_row() {
    let scores = [3.0, 2.0, 1.0];
    let error = |query: IdColumn<'_>, doc: IdColumn<'_>, scores: &[f64]| {
        let good = RunColumns::scored(&QUERIES, &["x", "y", "x"], &[9.0, 8.0, 9.0]);
        joined(&[good, RunColumns::scored(query, doc, scores)]).map(drop).unwrap_err()
    };
    let (queries, docs) = (IdColumn::from(&QUERIES), IdColumn::from(&DOCS));
    let views = |view: [u32; 4]| [bytemuck::cast([1u32, 0, 0, 0]), bytemuck::cast(view), 0u128];
    let dictionary = IdColumn::from(&["q1", "q2"]);
    let coded = |codes: &'static [i32]| IdColumn::Dictionary {
        codes: Integers::from(codes),
        values: &dictionary,
    };
    let bent = IdColumn::Utf8 { offsets: &[0, 2, 1], bytes: b"q1" };
    let of_bent = IdColumn::Dictionary { codes: Integers::from(&[0u8, 0, 0]), values: &bent };
    let utf8 = |offsets: &'static [i32]| IdColumn::Utf8 { offsets, bytes: b"abc" };
    for (query, doc, scores, expected) in [
        (
            queries,
            IdColumn::from(&["a"]),
            &scores[..],
            "mine: batch 2: 3 queries, 1 documents, 3 numbers: columns have the same length",
        ),
        (
            queries,
            docs,
            &scores[1..],
            "mine: batch 2: 3 queries, 3 documents, 2 numbers: columns have the same length",
        ),
        (
            queries,
            utf8(&[0, 1, 2]),
            &scores[..],
            "mine: batch 2: 3 queries, 2 documents, 3 numbers: columns have the same length",
        ),
        (
            queries,
            utf8(&[0, 2, 1, 3]),
            &scores[..],
            "mine:5: doc: offset 1 comes after offset 2: they must ascend",
        ),
        (
            queries,
            utf8(&[0, 1, 2, 4]),
            &scores[..],
            "mine:6: doc: offset 4 lies beyond the 3 bytes of the ids",
        ),
        (queries, utf8(&[-1, 0, 1, 2]), &scores[..], "mine:4: doc: offset -1 is negative"),
        (
            queries,
            IdColumn::LargeUtf8 { offsets: &[0, i64::MAX, i64::MIN, 2], bytes: b"abc" },
            &scores[..],
            "mine:4: doc: offset 9223372036854775807 lies beyond the 3 bytes of the ids",
        ),
        (coded(&[0, 1, 2]), docs, &scores[..], "mine:6: query: code 2 of a dictionary of 2 values"),
        (
            coded(&[0, -1, 1]),
            docs,
            &scores[..],
            "mine:5: query: code -1 of a dictionary of 2 values",
        ),
        (
            of_bent,
            docs,
            &scores[..],
            "mine: query: value 1 of the dictionary: offset 1 comes after offset 2: they must \
             ascend",
        ),
        (
            queries,
            IdColumn::Views { views: &views([13, 0, 1, 0]), buffers: &[b"abcdefghijklmnop"] },
            &scores[..],
            "mine:5: doc: a view into buffer 1, and there are 1",
        ),
        (
            queries,
            IdColumn::Views { views: &views([13, 0, 0, 4]), buffers: &[b"abcdefghijklmnop"] },
            &scores[..],
            "mine:5: doc: a view that ends at 17 in a buffer of 16 bytes",
        ),
        (
            queries,
            docs,
            &[1.0, f64::NAN, f64::NAN][..],
            "mine:5: score NaN of document 'b' of query 'q1' is not a number\nmine:6: score NaN of \
             document 'a' of query 'q2' is not a number",
        ),
        (
            queries,
            IdColumn::from(&["a", "a", "b"]),
            &scores[..],
            "mine:5: docno 'a' occurs again for query 'q1', first on line 4",
        ),
        (
            queries,
            IdColumn::from(&["x", "b", "b"]),
            &scores[..],
            "mine:4: docno 'x' occurs again for query 'q1', first on line 1",
        ),
    ] {
        assert_eq!(error(query, doc, scores), expected);
    }
    let none = RunColumns { score: None, ..RunColumns::scored(queries, docs, &scores) };
    let ranks = [1i64, 1, 1];
    let ranked =
        |ranks: &[u64]| joined(&[RunColumns::ranked(queries, docs, ranks)]).map(drop).unwrap_err();
    assert_eq!(joined(&[none]).unwrap_err(), "mine: batch 1: has neither scores nor ranks");
    let mixed = [
        RunColumns::scored(queries, docs, &scores),
        RunColumns::ranked(queries, &["y", "z", "y"], &ranks),
    ];
    assert_eq!(
        joined(&mixed).unwrap_err(),
        "mine: batch 2: some batches have scores, and others ranks alone"
    );
    assert_eq!(ranked(&[3, 3, 3]), "mine:2: rank 3 occurs again for query 'q1', first on line 1");
    assert_eq!(ranked(&[3, u64::MAX, 3]), "mine:2: rank: an integer of 2⁶³ or more");
    let empty = RunColumns::scored(
        IdColumn::Utf8 { offsets: &[], bytes: b"" },
        IdColumn::Strs(&[]),
        &[0f32; 0],
    );
    for nothing in [&[][..], &[empty]] {
        let matrix = joined(nothing).expect("a system may find nothing");
        assert_eq!(matrix.depths(), [0, 0]);
    }
    let others = RunColumns::scored(&[7u8, 8, 8], docs, &scores);
    assert_eq!(
        joined(&[others]).unwrap_err(),
        "mine: no query of qrels is in it: it has 2 queries such as '7', the qrels have 2 queries \
         such as 'q1'"
    );
}

#[test]
fn what_is_wrong_with_judgments_is_told_with_its_row() {
    let error = |grades: Numbers<'_>, docs: &[&str]| {
        let rows = docs.len();
        let queries = vec![1u8; rows];
        let judgments = QrelsColumns::new(&queries, docs, grades);
        Qrels::columns(&[judgments], Dialect::Laneval).map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        error(Numbers::from(&[1.0, f64::INFINITY]), &["a", "b"]),
        "qrels:2: grade inf of document 'b' of query '1' is not a finite number"
    );
    assert_eq!(
        error(Numbers::F16(&[0x3c00, 0x7e00]), &["a", "b"]),
        "qrels:2: grade NaN of document 'b' of query '1' is not a number"
    );
    assert_eq!(
        error(Numbers::from(&[1u8, 2]), &["a", "a"]),
        "qrels:2: docno 'a' of query '1' has grade 2 here, but grade 1 on line 1"
    );
    assert_eq!(error(Numbers::from(&[0u8; 0]), &[]), "qrels: there is no judgment in it");
}

#[test]
fn two_runs_of_one_name_are_refused() {
    let qrels = Qrels::new([("q1", "a", 1.0)]).unwrap();
    let batch = [RunColumns::scored(&QUERIES, &DOCS, &[1u8, 2, 3])];
    let error = Join::default().columns(&qrels, &[("mine", &batch), ("mine", &batch)]).unwrap_err();
    assert_eq!(error.to_string(), "two runs have the name `mine`: give each its own");
}

/// A part may lack what another part has.
#[test]
fn a_part_may_lack_judgments_results_and_queries_of_both() {
    let part = Join { part: true, ..Join::default() };
    let records = [RunColumns::scored(&["q1"], &["a"], &[1.0])];
    let judgments = [QrelsColumns::new(&["q2"], &["a"], &[1u8])];
    let unjudged = part.columns(&part.judgments(&[]).unwrap(), &[("run", &records)]).unwrap();
    assert_eq!((unjudged.queries().len(), unjudged.runs()[0].ignored.count), (0, 1));
    let qrels = part.judgments(&judgments).unwrap();
    for (results, ignored) in [(&records[..], 1), (&[], 0)] {
        let matrix = part.columns(&qrels, &[("run", results)]).unwrap();
        assert_eq!((matrix.depths(), matrix.runs()[0].ignored.count), (&[0][..], ignored));
    }

    let whole = Join::default();
    let refused = |results: &[RunColumns<'_>]| {
        whole.columns(&qrels, &[("run", results)]).unwrap_err().to_string()
    };
    assert_eq!(whole.judgments(&[]).unwrap_err().to_string(), "qrels: there is no judgment in it");
    assert!(refused(&records).starts_with("run: no query of qrels is in it"));
}

/// Where rows of the caller's table have lists, problems are told by these rows, in whichever batch
/// they are.
#[test]
fn problems_of_lists_are_told_by_the_rows_of_the_table() {
    let qrels = Qrels::new([("q1", "a", 1.0), ("q3", "d", 1.0)]).unwrap();
    let refused = |docs: [&'static str; 5], scores: [f64; 5]| {
        let (first, last) = (IdColumn::from(&["q1", "q1", "q2"]), IdColumn::from(&["q3", "q3"]));
        let [one, two] = [leak(docs[..3].to_vec()), leak(docs[3..].to_vec())];
        let [of_one, of_two] = [leak(scores[..3].to_vec()), leak(scores[3..].to_vec())];
        let batches = [
            RunColumns { lists: Some(&[2, 2, 3]), ..RunColumns::scored(first, one, of_one) },
            RunColumns { lists: Some(&[0, 2]), ..RunColumns::scored(last, two, of_two) },
        ];
        Join::default().columns(&qrels, &[("run", &batches)]).unwrap_err().to_string()
    };
    let (docs, scores) = (["a", "b", "c", "d", "e"], [5.0, 4.0, 3.0, 2.0, 1.0]);
    let again = refused(["a", "a", "c", "d", "e"], scores);
    assert!(
        again.starts_with("run:1: docno 'a' occurs again for query 'q1', first on line 1"),
        "{again}"
    );
    let again = refused(["a", "b", "c", "d", "d"], scores);
    assert!(
        again.starts_with("run:5: docno 'd' occurs again for query 'q3', first on line 5"),
        "{again}"
    );
    let nan = refused(docs, [5.0, 4.0, f64::NAN, 2.0, 1.0]);
    assert!(
        nan.starts_with("run:3: score NaN of document 'c' of query 'q2' is not a number"),
        "{nan}"
    );
    let wrong = |ends: &'static [usize]| {
        let rows = RunColumns::scored(&["q1", "q1"], &["a", "b"], &[2.0f64, 1.0]);
        let all = [RunColumns { lists: Some(ends), ..rows }];
        Join::default().columns(&qrels, &[("run", &all)]).unwrap_err().to_string()
    };
    for ends in [&[1][..], &[], &[2, 1, 2], &[3]] {
        assert_eq!(
            wrong(ends),
            "run: batch 1: the ends of its lists do not ascend to its number of rows",
            "{ends:?}"
        );
    }
}

/// Rows that lie together are ranked at their end, whichever batches they are in and whatever their
/// codes are: only there are ranks compared with scores.
#[test]
fn a_query_that_goes_on_in_the_next_batch_is_not_scattered() {
    let qrels = Qrels::new([("q1", "a", 1.0), ("q3", "a", 1.0)]).unwrap();
    let [one, two] = [IdColumn::from(&["q1", "q2", "q1"]), IdColumn::from(&["q3", "q1"])];
    let batch = |first: u32,
                 values: &'static IdColumn<'static>,
                 codes: &'static [u8],
                 docs: &'static [&'static str]| {
        let ranks = first..first + docs.len() as u32;
        RunColumns {
            query: IdColumn::Dictionary { codes: Integers::from(codes), values },
            doc: IdColumn::from(docs),
            score: Some(Numbers::from(leak(ranks.clone().map(|rank| -f64::from(rank)).collect()))),
            rank: Some(Integers::from(leak(ranks.collect()))),
            span: None,
            lists: None,
        }
    };
    let [one, two] = [one, two].map(|values| &*Box::leak(Box::new(values)));
    let compared = |last: &'static [u8], docs: &'static [&'static str]| {
        let batches = [
            batch(0, one, &[1, 0, 2], &["a", "b", "c"]),
            batch(3, two, &[], &[]),
            batch(3, two, &[1, 1], &["a", "d"]),
            batch(5, two, last, docs),
        ];
        let of_size = |size| {
            let matrix = Join::default()
                .columns_in_pieces(&qrels, &[("mine", &batches)], PieceSize(size))
                .unwrap();
            assert_eq!(
                matrix.depths()[0],
                4 + last.iter().filter(|&&code| code == 1).count() as u32
            );
            matrix.runs()[0].seen.compared
        };
        (1..9).map(of_size).collect::<Vec<_>>()
    };
    assert_eq!(compared(&[0, 0], &["a", "b"]), [2; 8]);
    assert_eq!(compared(&[0, 0, 1], &["a", "b", "e"]), [0; 8], "a query comes back");
}

/// A dictionary is hashed once, and a code looked up once, if that is less work than hashing and
/// looking up rows.
#[test]
fn dictionaries_are_shared_by_batches() {
    let many: Vec<String> = (0..100).map(|n| format!("d{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let [values, other] = [IdColumn::from(&many), IdColumn::from(&DOCS)];
    let codes: Vec<u8> = (0..40).collect();
    let run_columns = |values, codes| {
        RunColumns::scored(
            IdColumn::from(codes),
            IdColumn::Dictionary { codes: Integers::from(codes), values },
            codes,
        )
    };
    let batches = [
        run_columns(&values, &codes[..]),
        run_columns(&values, &codes[..]),
        run_columns(&other, &codes[..3]),
        run_columns(&values, &codes[..]),
    ];
    let columns = CheckedColumns::from_run("mine", &batches, KNOWN).unwrap();
    let docs: Vec<Option<u32>> = columns.batches.iter().map(|batch| batch.docs).collect();
    assert_eq!(docs, [Some(0), Some(0), Some(1), None]);
    assert_eq!(columns.hashes.iter().map(Vec::len).collect::<Vec<_>>(), [100, 3, 0]);
}

/// A query of which every row is wrong has no table of documents.
#[test]
fn judgments_that_are_all_wrong_are_told() {
    let infinite = |query| (query, "d", f64::INFINITY);
    let message = |judgments: &[(&str, &str, f64)]| {
        Qrels::new(judgments.iter().copied()).map(drop).unwrap_err().to_string()
    };
    let one = "qrels:1: grade inf of document 'd' of query 'q1' is not a finite number";
    assert_eq!(message(&[infinite("q1")]), one);
    assert_eq!(message(&[infinite("q1"), ("q2", "d", 1.0)]), one);
    assert_eq!(
        message(&[infinite("q1"), ("q2", "d", 1.0), infinite("q3"), ("q1", "e", 1.0)]),
        format!("{one}\n{}", one.replace(":1:", ":3:").replace("q1", "q3"))
    );
    let run = |results: &[(&str, &str, f64)]| {
        let qrels = Qrels::new([("q1", "d", 1.0)]).unwrap();
        let joined =
            Join::default().rankings(&qrels, [("mine".to_owned(), results.iter().copied())]);
        joined.map(drop).unwrap_err().to_string()
    };
    let nan = "mine:1: score NaN of document 'd' of query 'q1' is not a number";
    assert_eq!(run(&[("q1", "d", f64::NAN)]), nan);
    assert_eq!(run(&[("q1", "d", f64::NAN), ("q2", "d", 1.0)]), nan);
}

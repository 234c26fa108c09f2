//! Compares every format with the same rows as TREC, wherever the text is cut.

use proptest::prelude::*;

use crate::bytes::hash::Seed;
use crate::bytes::input::RunInput;
use crate::cases::{cases, some};
use crate::format::detect::{enough::HEAD, foreign::head};
use crate::format::{InputFormat, ReadOptions};
use crate::lines::{chunks::ChunkSize, dialect::Dialect};
use crate::matrix::{LabelMatrix, RunInfo};
use crate::rule::TieBreak;
use crate::settings::Join;
use crate::test_support::input;

/// A judgment or a result: query, document, and grade or score as it is written.
type Row = (String, String, String);

/// A function that writes judgments or results; `{n}` is the number of the row, from 1.
type Write = fn(&[Row]) -> String;

fn lines(rows: &[Row], line: impl Fn(&str, &str, &str) -> String) -> String {
    rows.iter().map(|(query, doc, number)| line(query, doc, number)).collect()
}

/// Groups rows by query, in the order of the first row of each query.
fn by_query(rows: &[Row]) -> Vec<(&str, Vec<&Row>)> {
    let mut all: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match all.iter_mut().find(|(query, _)| *query == row.0) {
            Some((_, of_query)) => of_query.push(row),
            None => all.push((&row.0, vec![row])),
        }
    }
    all
}

fn objects(rows: &[Row], [before, between, after]: [&str; 3]) -> String {
    let entry = |(_, doc, number): &Row| format!("\"{doc}\":{before}{number}");
    let of_query = |(query, rows): (&str, Vec<&Row>)| {
        let entries: Vec<String> = rows.into_iter().map(entry).collect();
        format!("\"{query}\": {{{before}{}{after}}}", entries.join(&format!(",{between}")))
    };
    let queries: Vec<String> = by_query(rows).into_iter().map(of_query).collect();
    format!("{{{before}{}{after}}}", queries.join(&format!(",{between}")))
}

/// Writes records with lists of documents and of their numbers, as one line each or in an array.
fn lists(rows: &[Row], [query, docs, numbers]: [&str; 3], between: &str) -> String {
    let record = |(query_id, rows): (&str, Vec<&Row>)| {
        let list = |field: fn(&Row) -> String| {
            rows.iter().map(|row| field(row)).collect::<Vec<_>>().join(", ")
        };
        let ids = list(|row| format!("\"{}\"", row.1));
        format!(
            "{{\"{docs}\": [{ids}],\"x\":[[]], \"{query}\": \"{query_id}\",\
         {between}\"{numbers}\":[{}]}}",
            list(|row| row.2.clone())
        )
    };
    by_query(rows).into_iter().map(record).collect::<Vec<_>>().join(&format!("{between}\n"))
}

/// Writes a large object: the objects of queries, of which `query` and `doc` are the keys, under
/// the key `under`.
fn platform(
    rows: &[Row],
    under: &str,
    [query, doc]: [&str; 2],
    rating: fn(&str) -> String,
) -> String {
    let of_query = |(query_id, rows): (&str, Vec<&Row>)| {
        let of_doc = |row: &&Row| {
            format!("{{\"x\": {{}},\n\"{doc}\": \"{}\", \"rating\": {}}}", row.1, rating(&row.2))
        };
        let ratings: Vec<String> = rows.iter().map(of_doc).collect();
        format!("{{\"ratings\": [{}], \"y\": [[]],\"{query}\": \"{query_id}\"}}", ratings.join(","))
    };
    let queries: Vec<String> = by_query(rows).into_iter().map(of_query).collect();
    format!(
        "{{\n \"name\": \"x\", \"{under}\": [{}], \"z\": {{\"a\": [1, {{}}]}}}}\n",
        queries.join(",\n")
    )
}

/// Formats of judgments.
const QRELS: &[(&str, Write)] = &[
    ("TREC", |rows| lines(rows, |q, d, g| format!("{q} 0 {d} {g}\n"))),
    ("BEIR", |rows| {
        format!("query-id\tcorpus-id\tscore\n{}", lines(rows, |q, d, g| format!("{q}\t{d}\t{g}\n")))
    }),
    ("TSV without a header", |rows| lines(rows, |q, d, g| format!("{q}\t{d}\t{g}\r\n"))),
    ("blanks", |rows| lines(rows, |q, d, g| format!("{q} {d}  {g}\n"))),
    ("CSV", |rows| {
        format!(
            "\u{feff}Relevance,x,Doc_ID,qid\r\n{}",
            lines(rows, |q, d, g| format!("{g},\"x, y\",{d},{q}\r\n"))
        )
    }),
    ("quoted CSV", |rows| lines(rows, |q, d, g| format!("\"{q}\",\"{d}\",\"{g}\"\n"))),
    ("four columns of CSV", |rows| lines(rows, |q, d, g| format!("{q},0,{d},{g}\n\n"))),
    ("semicolons", |rows| {
        format!(
            "qid;\"doc;id\";docid;label\n{}",
            lines(rows, |q, d, g| format!("{q};x;\"{d}\";{g}\n"))
        )
    }),
    ("a named semicolon", |rows| {
        format!("sep=;\r\n{}", lines(rows, |q, d, g| format!("{q};{d};{g}\r\n")))
    }),
    ("JSON", |rows| objects(rows, ["", " ", ""])),
    ("pretty JSON", |rows| objects(rows, ["\n ", "\n\t", "\r\n"])),
    ("JSONL", |rows| {
        lines(rows, |q, d, g| {
            format!("{{\"query_id\": \"{q}\", \"doc_id\": \"{d}\", \"x\": [{{}}], \"rel\": {g}}}\n")
        })
    }),
    ("an array", |rows| {
        let records =
            lines(rows, |q, d, g| format!(",\n{{\"label\":{g},\"pid\":\"{d}\",\"qid\":\"{q}\"}}"));
        format!("[{}]", &records[1..])
    }),
    ("lists", |rows| lists(rows, ["user_input", "reference_context_ids", "Rating"], "")),
    ("an array of lists", |rows| {
        format!("[{}]", lists(rows, ["qid", "doc_id", "rel"], "\n ").replace("]}\n", "]},"))
    }),
    ("_rank_eval", |rows| platform(rows, "requests", ["id", "_id"], str::to_owned)),
    ("OpenSearch", |rows| {
        platform(rows, "judgmentRatings", ["query", "docId"], |grade| format!("\"{grade}\""))
    }),
    ("Quepid", |rows| {
        let entry = |(_, doc, grade): &Row| format!("\"{doc}\": {grade}");
        let of_query = |(query, rows): (&str, Vec<&Row>)| {
            let ratings: Vec<String> = rows.into_iter().map(entry).collect();
            format!("{{\"query\":\"{query}\",\n\"ratings\":{{{}}}}}", ratings.join(","))
        };
        let queries: Vec<String> = by_query(rows).into_iter().map(of_query).collect();
        format!("{{\"queries\":[{}]}}", queries.join(", "))
    }),
    ("Quepid's CSV", |rows| {
        format!(
            "query,docid,rating\nzz\n{}z,,\n",
            lines(rows, |q, d, g| format!("{q},{d},{g}\nz,,\r\n\"{q}\",unrated,\n"))
        )
    }),
    ("LETOR", |rows| {
        lines(rows, |q, d, g| format!("{g} qid:{q} 1:0.5 2:1e-3 #docid = {d} inc = 1\n"))
    }),
];

/// Formats of runs.
const RUNS: &[(&str, Write)] = &[
    ("TREC", |rows| lines(rows, |q, d, s| format!("{q} Q0 {d} 1 {s} t\n"))),
    ("TREC without a tag", |rows| lines(rows, |q, d, s| format!("{q}\tQ0\t{d}\t1\t{s}\n"))),
    ("TSV", |rows| {
        format!("query_id\tdoc_id\tscore\n{}", lines(rows, |q, d, s| format!("{q}\t{d}\t{s}\n")))
    }),
    ("a long TSV", |rows| {
        format!(
            "text\tqid\tdocno\trank\tsim\n{}",
            lines(rows, |q, d, s| format!("\"a b\tc\"\t{q}\t{d}\t1\t{s}\n"))
        )
    }),
    ("CSV", |rows| format!("qid,docid,score\n{}", lines(rows, |q, d, s| format!("{q},{d},{s}\n")))),
    ("six columns of CSV", |rows| lines(rows, |q, d, s| format!("{q},Q0,\"{d}\",1,{s},t\n"))),
    ("JSON", |rows| objects(rows, ["", "", ""])),
    ("pretty JSON", |rows| objects(rows, [" \n", " \n", "\n\n"])),
    ("lists", |rows| lists(rows, ["query", "retrieved_ids", "score"], "")),
    ("an array of lists", |rows| {
        format!(
            "[\n{}]",
            lists(rows, ["searchText", "documentIds", "sim"], "\n\n").replace("]}\n", "]},")
        )
    }),
    ("predictions", |rows| {
        let meta = "{\"mteb_model_meta\": {\"model_name\": \"m\", \"revision\": null}";
        format!("{meta},\n \"en\": {{\"test\": {}}}, \"x\": {{}}}}", objects(rows, ["\n", " ", ""]))
    }),
    ("JSONL", |rows| {
        lines(rows, |q, d, s| format!("{{\"score\":{s},\"qid\":\"{q}\",\"docid\":\"{d}\"}}\n"))
    }),
];

/// Returns all of a matrix that every format has, without what only TREC has.
fn all(matrix: &LabelMatrix) -> impl PartialEq + std::fmt::Debug + use<> {
    let run = |run: &RunInfo| RunInfo { tag: Vec::new(), seen: Default::default(), ..run.clone() };
    let ids = (matrix.queries().clone(), matrix.runs().iter().map(run).collect::<Vec<_>>());
    let labels = (matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
    let judged = (matrix.facts().clone(), matrix.codebook().clone(), matrix.fingerprint());
    (ids, labels, judged, matrix.rule(), matrix.tied_groups().cloned())
}

fn read(
    join: &Join,
    qrels: impl AsRef<[u8]>,
    run: impl AsRef<[u8]>,
    size: usize,
    compressed: bool,
) -> Result<LabelMatrix, String> {
    let bytes =
        |text: &[u8]| if compressed { zstd::encode_all(text, 1).unwrap() } else { text.to_vec() };
    let run = RunInput::named("run", input("run", bytes(run.as_ref())));
    let qrels = input("qrels", bytes(qrels.as_ref()));
    let matrix = join.files_in_chunks(qrels, vec![run], ChunkSize(size), Seed::random());
    matrix.map_err(|error| error.to_string())
}

/// The lengths of documents without their number, in bytes: some are longer than what is looked at
/// at once.
const LENGTHS: [usize; 6] = [1, 2, 3, 57, 60, 70];

/// Rows of a few queries, each of whose documents is there once; rows of a query may be apart.
fn rows(numbers: &'static [&'static str], first: usize) -> impl Strategy<Value = Vec<Row>> {
    let row = (0usize..4, 0usize..9, prop::sample::select(numbers));
    prop::collection::vec(row, 1..20).prop_map(move |rows| {
        let mut seen = Vec::new();
        let fresh = |&(query, doc, _): &(usize, usize, &str)| {
            let fresh = !seen.contains(&(query, doc));
            seen.push((query, doc));
            fresh
        };
        let id = |query: usize| format!("q{}", query + first);
        rows.into_iter()
            .filter(fresh)
            .map(|(query, doc, number)| {
                (id(query), "d".repeat(LENGTHS[doc % 6]) + &doc.to_string(), number.to_owned())
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    #[test]
    fn every_format_is_read_as_trec_wherever_it_is_cut(
        judged in rows(&["0", "1", "2", "-1", "0.5"], 0),
        results in rows(&["1", "2.5", "-0.25", "1e-3", "2.50", "12345678901"], 0),
        ties in prop::sample::select(vec![TieBreak::DocnoDescending, TieBreak::Input]),
        size in 1usize..300,
    ) {
        let join = Join { ties, keep_ties: true, ..Join::default() };
        let (qrels, run) = (QRELS[0].1(&judged), RUNS[0].1(&results));
        let expected = read(&join, &qrels, &run, 1 << 20, false).map(|matrix| all(&matrix));
        for (name, write) in QRELS {
            let qrels = write(&judged);
            if judged.len() < 3 && *name == "blanks" {
                continue; // too few lines to recognise the format
            }
            for (size, compressed) in
                [(1 << 20, false), (1 << 20, true), (size, false), (size, true)]
            {
                let found = read(&join, &qrels, &run, size, compressed).map(|matrix| all(&matrix));
                prop_assert_eq!(&found, &expected, "{}, {} bytes, \
                    {}\n{}", name, size, compressed, qrels);
            }
        }
        for (name, write) in RUNS {
            let run = write(&results);
            if results.len() < 3 && *name == "TREC without a tag" {
                continue;
            }
            // Objects bring the results of a query together, which is another order only between
            // queries.
            for (size, compressed) in
                [(1 << 20, false), (1 << 20, true), (size, false), (size, true)]
            {
                let found = read(&join, &qrels, &run, size, compressed).map(|matrix| all(&matrix));
                prop_assert_eq!(&found, &expected, "{}, {} bytes, \
                    {}\n{}", name, size, compressed, run);
            }
        }
    }
}

/// Ranks that count from 1 are scores, −rank; with any end of lines and separator.
#[test]
fn ranks_are_scores() {
    let qrels = "a 0 d1 1\na 0 d2 2\nb 0 d3 1\n";
    let trec = "a Q0 d2 1 -1 t\na Q0 x 2 -2 t\na Q0 d1 3 -3 t\nb Q0 d3 1 -1 t\n";
    let expected = all(&read(&Join::default(), qrels, trec, 1 << 20, false).unwrap());
    for separator in ["\t", " ", ","] {
        let run = "a|d2|1\na|x|2\na|d1|3\nb|d3|1\n".replace('|', separator);
        for text in
            [run.clone(), run.replace('\n', "\r\n"), format!("{run}c{separator}d1{separator}1")]
        {
            for size in [1 << 20, 1, 9, 17] {
                let matrix = read(&Join::default(), qrels, &text, size, size == 9).unwrap();
                assert_eq!(
                    matrix.tile_bytes(),
                    read(&Join::default(), qrels, trec, 1 << 20, false).unwrap().tile_bytes()
                );
            }
        }
        let found = all(&read(&Join::default(), qrels, &run, 1 << 20, false).unwrap());
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
    // The lines of a query may be apart, as long as the ranks count on.
    let apart = "a\td2\t1\nb\td3\t1\na\tx\t2\na\td1\t3\n";
    assert_eq!(all(&read(&Join::default(), qrels, apart, 4, false).unwrap()), expected);
    let join = Join {
        runs_as: ReadOptions { format: Some(InputFormat::Msmarco), ..ReadOptions::default() },
        ..Join::default()
    };
    let shuffled = "a\td1\t7\nb\td3\t4\na\tx\t3\na\td2\t2\n";
    assert_eq!(all(&read(&join, qrels, shuffled, 4, false).unwrap()), expected);
    assert_eq!(
        read(&join, qrels, "a\td1\t7\na\tx\t3\na\td2\t7\n", 4, false).unwrap_err(),
        "run:3: rank 7 occurs again for query 'a', first on line 1"
    );
    assert_eq!(
        read(&join, qrels, "a\td1\t7.5\n", 4, false).unwrap_err(),
        "run:1: rank '7.5' is not an integer: expected 'query document rank'"
    );
}

/// An error further down than the lines that are looked at first is reported by line as well.
#[test]
fn ranks_that_do_not_count_are_refused_wherever_they_are() {
    let qrels = "a 0 d1 1\nb 0 d3 1\n";
    let ask = "a run of three columns without a header has ranks, which count 1, 2, 3 … in every \
               query, in the order of the lines; say `--run-format msmarco` if these are ranks in \
               another order or with gaps, or \
               `--columns query,doc,score` if they are scores";
    let mut run: String = (1..=40).map(|rank| format!("a\td{rank}\t{rank}\n")).collect();
    run += "b\td3\t2\nb\td4\t0.5\n";
    for size in [1 << 20, 1, 50] {
        assert_eq!(
            read(&Join::default(), qrels, &run, size, false).unwrap_err(),
            format!(
                "run:41: '2' where rank 1 was expected: {ask}\nrun:42: '0.5' where a rank was \
                 expected: {ask}"
            )
        );
    }
    for (text, found, line, rank) in [
        ("a\td1\t0.5\n", "0.5", 1, 1),
        ("a\td1\t1\na\td2\t3\n", "3", 2, 2),
        ("a\td1\t3\na\td2\t2\na\td3\t1\n", "3", 1, 1),
        ("a\td1\t01\n", "01", 1, 1),
    ] {
        let error = read(&Join::default(), qrels, text, 9, false).unwrap_err();
        assert_eq!(error, format!("run:{line}: '{found}' where rank {rank} was expected: {ask}"));
    }
    let join = Join {
        runs_as: ReadOptions {
            columns: Some("query,doc,score".parse().unwrap()),
            ..ReadOptions::default()
        },
        ..Join::default()
    };
    let scored = all(&read(&join, qrels, "a\td1\t3\na\td2\t2\n", 9, false).unwrap());
    assert_eq!(
        scored,
        all(&read(&Join::default(), qrels, "a Q0 d1 1 3 t\na Q0 d2 2 2 t\n", 9, false).unwrap())
    );
}

/// Ranks that count from 1 and scores that fall need no header, with a tag behind them or without
/// one. Where some of this does not hold, the columns are asked for.
#[test]
fn ranks_beside_scores_are_a_run() {
    let qrels = "a 0 d1 1\na 0 d5 2\nb 0 d3 1\n";
    let rows = [
        ("a", "d5", 1, "9.5"),
        ("a", "d2", 2, "9.5"),
        ("a", "d3", 3, "7"),
        ("a", "d1", 4, "-1"),
        ("a", "d4", 5, "-2.25"),
        ("b", "d3", 1, "3"),
    ];
    let trec: String =
        rows.iter().map(|(q, d, rank, score)| format!("{q} Q0 {d} {rank} {score} t\n")).collect();
    let expected = all(&read(&Join::default(), qrels, &trec, 1 << 20, false).unwrap());
    for (separator, tag) in
        [("\t", ""), (" ", ""), (",", ""), ("\t", "|bm25"), (" ", "|bm25"), (",", "|my tag")]
    {
        let run: String = rows
            .iter()
            .map(|(q, d, rank, score)| format!("{q}|{d}|{rank}|{score}{tag}\n"))
            .collect();
        let run = run.replace('|', separator);
        for (size, compressed) in [(1 << 20, false), (1, false), (13, true)] {
            let found =
                read(&Join::default(), qrels, &run, size, compressed).map(|matrix| all(&matrix));
            assert_eq!(found.as_ref(), Ok(&expected), "{run}");
        }
    }
    let four = "run:1: there is no header, and 4 columns: say `--columns query,doc,rank,score` if \
                they are query, document, rank, score; if they are judgments, the order is QRELS RUN";
    let five = "run:1: there is no header, and 5 columns: say `--columns query,doc,rank,score,-` \
                if they are query, document, rank, score, tag";
    let swapped = "run: these are judgments, a run was expected: the order is QRELS RUN";
    for (text, expected) in [
        // Too few ranks, ranks from 0, scores that rise, scores that are equal, a document twice.
        ("a d1 1 9.5\n", four),
        ("a\td1\t0\t9.5\na\td2\t1\t9\n", four),
        ("a,d,1,1\na,e,2,2\na,f,3,3\na,g,4,4\na,h,5,5\n", four),
        ("a d 1 1\na e 2 1\na f 3 1\na g 4 1\na h 5 1\n", four),
        ("a d 1 5\na e 2 4\na f 3 3\na g 4 2\na d 5 1\n", four),
        ("a d1 1 9.5 bm25\na d2 2 9 bm25\n", five),
        ("a\td1\t7\t9.5\tbm25\na\td2\t3\t9\tbm25\n", five),
        // TREC has `0` where such a run has documents, and documents where it has ranks.
        ("a 0 1 5\na 0 2 4\na 0 3 3\na 0 4 2\na 0 5 1\n", swapped),
        ("a ann d1 1\n", swapped),
        ("196\t242\t3\t881250949\n", swapped),
    ] {
        assert_eq!(of_run(text), expected, "{text}");
    }
}

#[test]
fn scores_go_with_letor() {
    let letor = "# a comment\n2 qid:7 1:0.5 # d1\n0 qid:7 1:0.1\n\n1 qid:8 3:1 # docid = d3\n";
    let qrels = "7 0 d1 2\n7 0 3 0\n8 0 d3 1\n";
    let trec = "7 Q0 d1 1 0.5 t\n7 Q0 3 1 1.5 t\n8 Q0 d3 1 -1 t\n";
    let expected = all(&read(&Join::default(), qrels, trec, 1 << 20, false).unwrap());
    for size in [1 << 20, 1, 11] {
        for compressed in [false, true] {
            let found =
                read(&Join::default(), letor, "0.5\n1.5\n\n-1\n", size, compressed).unwrap();
            assert_eq!(all(&found), expected, "{size} {compressed}");
        }
    }
    for (scores, message) in [
        ("0.5\n1.5\n", "run:2: there are fewer scores than documents in qrels"),
        ("0.5\n1.5\n2\n3\n4\n", "run:4: there are more scores than documents in qrels"),
        (
            "0.5\nx\n2\n",
            "run:2: score 'x' is not a number: expected 'a score on each line, and no header'",
        ),
        (
            "score\n0.5\n1.5\n2\n",
            "run:1: 'score' is not a number: a score on each line was expected, and no header",
        ),
        (
            "7\t0\t0.5\n7\t1\t1.5\n8\t0\t-1\n",
            "run:1: the second of three columns counts 0, 1, 2 … in every query, as RankLib numbers \
             the lines of LETOR judgments: a score on each line was expected, as after `awk \
             '{print $3}'`; say `--columns query,doc,score` if the second column has documents",
        ),
        (
            "nan\n1.5\n2\n",
            "run:1: score 'nan' of document 'd1' of query '7' is not a number: expected 'a score on \
             each line, and no header'",
        ),
    ] {
        assert_eq!(read(&Join::default(), letor, scores, 5, false).unwrap_err(), message);
    }
    let error = read(&Join::default(), qrels, "0.5\n1.5\n2\n", 5, false).unwrap_err();
    assert_eq!(error, "run: is a list of numbers: scores alone need judgments in the format LETOR");
    let error = read(&Join::default(), letor, letor, 5, false).unwrap_err();
    assert!(error.starts_with("run: is LETOR, labels and features, but no ranking"), "{error}");
    let error = read(&Join::default(), "1 1:0.5\n0 1:0.25\n", "0.5\n1.5\n", 5, false).unwrap_err();
    assert!(
        error.starts_with("qrels:1: is LETOR without qid: `--letor-groups FILE` names a file"),
        "{error}"
    );
}

#[test]
fn groups_say_which_lines_are_of_which_query() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("rank.train"), "2 1:0.5\n0 1:0.1\n1 3:1\n").unwrap();
    std::fs::write(path("labels"), "2\n0\n1\n").unwrap();
    std::fs::write(path("scores"), "0.5\n1.5\n-1\n").unwrap();
    std::fs::write(path("rank.train.query"), "2\n\n1\n").unwrap();
    let twin = Join::default();
    let twin = read(
        &twin,
        "1 0 1 2\n1 0 2 0\n2 0 3 1\n",
        "1 Q0 1 1 0.5 t\n1 Q0 2 1 1.5 t\n2 Q0 3 1 -1 t\n",
        9,
        false,
    )
    .unwrap();
    let read = |qrels: &str, groups: Option<&str>| {
        let qrels_as = ReadOptions { query_lengths: groups.map(&path), ..ReadOptions::default() };
        let join = Join { qrels_as, ..Join::default() };
        join.files(path(qrels), [RunInput::named("run", path("scores"))]).map_err(|error| {
            error.to_string().replace(&format!("{}/", folder.path().display()), "")
        })
    };
    for (qrels, groups) in [
        ("rank.train", None),
        ("rank.train", Some("rank.train.query")),
        ("labels", Some("rank.train.query")),
    ] {
        let found = read(qrels, groups).unwrap();
        assert_eq!(
            (found.tile_bytes(), found.fingerprint()),
            (twin.tile_bytes(), twin.fingerprint()),
            "{qrels}"
        );
    }
    // Compressed files, with the groups beside them under either name, and groups that agree with
    // the queries of the lines.
    let gzip = |text: &str| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    let lines = "2 1:0.5\n0 1:0.1\n1 3:1\n";
    for (judged, groups, packed) in [
        ("a.letor.gz", "a.letor.query", false),
        ("b.letor.gz", "b.letor.gz.query", false),
        ("c.letor.gz", "c.letor.group.gz", true),
        ("d.txt", "d.txt.query.gz", true),
    ] {
        std::fs::write(
            path(judged),
            if judged.ends_with("gz") { gzip(lines) } else { lines.into() },
        )
        .unwrap();
        std::fs::write(path(groups), if packed { gzip("2\n1\n") } else { "2\n1\n".into() })
            .unwrap();
        assert_eq!(read(judged, None).unwrap().tile_bytes(), twin.tile_bytes(), "{judged}");
    }
    std::fs::write(path("named"), "2 qid:a 1:0.5\n0 qid:a 1:0.1\n1 qid:b 3:1\n").unwrap();
    let found = read("named", Some("rank.train.query")).unwrap();
    assert_eq!(found.queries().iter().collect::<Vec<_>>(), [b"a", b"b"]);
    for (sizes, expected) in [
        (
            "1\n2\n",
            "named:2: qid 'a' continues after the end of group 1 in groups\nnamed:3: qid 'b' in \
             group 2 in groups, which begins with",
        ),
        ("3\n", "named:3: qid 'b' in group 1 in groups, which begins with qid 'a'"),
    ] {
        std::fs::write(path("groups"), sizes).unwrap();
        let error = read("named", Some("groups")).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    for (sizes, expected) in [
        ("2\n2\n", "rank.train:3: the groups in groups have 1 line more than the judgments"),
        ("2\n", "rank.train:3: there are more lines than the 2 of the groups in groups"),
        (
            "2\nx\n",
            "rank.train: its groups in groups: line 2: 'x' is not a number of lines: one is \
             expected for each query",
        ),
    ] {
        std::fs::write(path("groups"), sizes).unwrap();
        assert_eq!(read("rank.train", Some("groups")).unwrap_err(), expected);
    }
}

#[test]
fn documents_that_are_called_as_their_query_are_dropped() {
    let qrels = "a 0 a 1\na 0 b 2\nb 0 a 1\n";
    let run = "a Q0 a 1 9 t\na Q0 b 2 8 t\nb Q0 a 1 1 t\nb Q0 b 2 1 t\n";
    let without = "a Q0 b 2 8 t\nb Q0 a 1 1 t\n";
    for depth in [None, std::num::NonZeroU32::new(1)] {
        let plain = Join { depth, ..Join::default() };
        let join = Join { drop_identical_ids: true, ..plain.clone() };
        for size in [1 << 20, 1] {
            let found = read(&join, qrels, run, size, false).unwrap();
            assert_eq!(
                found.tile_bytes(),
                read(&plain, qrels, without, size, false).unwrap().tile_bytes()
            );
            assert_ne!(
                found.depths(),
                read(&Join::default(), qrels, run, size, false).unwrap().depths()
            );
        }
    }
}

/// Ids with quotes are read as they are meant, wherever the first of them stands.
#[test]
fn ids_may_have_quotes() {
    let rows = |filler: usize| {
        let filler = (0..filler).map(|at| ["z".to_owned(), format!("document{at:09}")]);
        let rows = [["a\"b", "\"d,1\";"], ["a\"b", "e\"\""], ["a\"b", "f"], ["c", "\"\""]];
        filler.chain(rows.map(|row| row.map(str::to_owned))).collect::<Vec<_>>()
    };
    let field = |id: &str| format!("\"{}\"", id.replace('"', "\"\""));
    let joins = [TieBreak::Rank, TieBreak::Input].map(|ties| Join { ties, ..Join::default() });
    for (join, filler) in joins.iter().flat_map(|join| [(join, 0), (join, 6000)]) {
        let (all_rows, last) = (rows(filler), filler + 9);
        let write = |row: fn(&str, &str, usize) -> String| {
            let rows = all_rows.iter().enumerate();
            rows.map(|(at, [query, doc])| row(query, doc, at)).collect::<String>()
        };
        let qrels = write(|query, doc, at| format!("{query} 0 {doc} {}\n", at % 2));
        // The ranks of equal scores descend.
        let run: String = all_rows
            .iter()
            .enumerate()
            .map(|(at, [query, doc])| format!("{query} Q0 {doc} {} 1 t\n", last - at))
            .collect();
        let expected = all(&read(join, &qrels, &run, 1 << 20, false).unwrap());
        for separator in [",", ";", "\t"] {
            let table = |header: &str, number: &dyn Fn(usize) -> String| {
                let rows = all_rows.iter().enumerate().map(|(at, [query, doc])| {
                    let [query, doc] = [query, doc].map(|id| field(id));
                    format!("{query},{doc},{}\n", number(at))
                        .replace("\",", &format!("\"{separator}"))
                });
                let header = header.replace(',', separator);
                format!("{header}\n{}", rows.collect::<String>())
            };
            let qrels = table("qid,docid,label", &|at| (at % 2).to_string());
            let run = table("qid,docid,rank,score", &|at| format!("{}{separator}1", last - at));
            for (size, compressed) in [(1 << 20, false), (1, false), (100, true)] {
                let found = read(join, &qrels, &run, size, compressed);
                assert_eq!(all(&found.unwrap()), expected, "{separator:?} {filler} {size}");
            }
        }
    }
}

#[test]
fn grades_may_be_words() {
    let run = "q Q0 d 1 2 t\nq Q0 e 2 1 t\n";
    let with = |words: Option<&str>| {
        let grades = words.map(|words| words.parse().unwrap());
        let qrels_as = ReadOptions { grades, ..ReadOptions::default() };
        Join { qrels_as, ..Join::default() }
    };
    let trec = |grades: [u8; 2]| {
        let [one, other] = grades;
        let qrels = format!("q 0 d {one}\nq 0 e {other}\n");
        all(&read(&Join::default(), qrels, run, 9, false).unwrap())
    };
    let words = Some("E=3, not good = 0");
    for (words, qrels, expected) in [
        (None, "query,doc,label\nq,d,TRUE\nq,e,no\n", [1, 0]),
        (None, "query\tdoc\tlabel\nq\td\tirrelevant\nq\te\t2\n", [0, 2]),
        (
            None,
            "{\"qid\": \"q\", \"docid\": \"d\", \"label\": true}\n{\"qid\": \"q\", \"docid\": \
             \"e\", \"label\": false}\n",
            [1, 0],
        ),
        (words, "query,doc,label\nq,d,E\nq,e,not good\n", [3, 0]),
        (words, "q,d,E\nq,e,2\n", [3, 2]),
        (words, "q;0;d;not good\nq;0;e;E\n", [0, 3]),
    ] {
        for size in [1 << 20, 1] {
            let found = all(&read(&with(words), qrels, run, size, size == 1).unwrap());
            assert_eq!(found, trec(expected), "{qrels}");
        }
    }
    let known = "E=3,not good=0";
    for (words, qrels, message) in [
        (
            words,
            "query,doc,label\nq,d,E\nq,e,e\n",
            format!(
                "qrels:3: grade 'e' is not a number, and no word of {known}: expected \
                 'query,doc,label'"
            ),
        ),
        (
            words,
            "{\"qid\": \"q\", \"docid\": \"d\", \"label\": true}\n",
            format!(
                "qrels:1: grade 'true' is not a number, and no word of {known}: expected \
                 '{{\"qid\": …, \"docid\": …, \"label\": …}}'"
            ),
        ),
        (
            None,
            "q,d,true\nq,e,false\n",
            "qrels:1: grade 'true' is not a number: expected 'query,document,grade'\nqrels:2: grade \
             'false' is not a number: expected 'query,document,grade'"
                .into(),
        ),
        (
            words,
            "q 0 d 1\nq 0 e E\n",
            "qrels:2: grade 'E' is not a number: expected 'query iter docno grade'".into(),
        ),
    ] {
        assert_eq!(read(&with(words), qrels, run, 1 << 20, false).unwrap_err(), message);
    }
    let error = read(&with(words), run, "qid,docid,score\nq,d,E\n", 9, false).unwrap_err();
    assert!(error.contains("run:2: score 'E' is not a number: expected"), "{error}");
}

#[test]
fn archives_are_told() {
    let mut tar = [0; 512];
    tar[..9].copy_from_slice(b"qrels.txt");
    tar[257..263].copy_from_slice(b"ustar\0");
    let tar = [&tar[..], b" 0 d 1\nq 0 e 1\n", &[0; 1024]].concat();
    let message = "qrels: is an archive (tar): extract it first (`tar xf FILE`)";
    let dialect = Dialect::Trec9;
    for join in [Join::default(), Join { dialect, ..Join::default() }] {
        for compressed in [false, true] {
            let error = read(&join, &tar, "q Q0 d 1 1 t\n", 9, compressed).unwrap_err();
            assert_eq!(error, message);
        }
    }
    for (start, message) in [
        ("PK\x03\x04\x14\0", "run: is an archive (zip): extract it first (`unzip FILE`)"),
        ("7z\u{bc}", "run:1: 1 field in '7z\u{bc}': expected 'query iter docno rank score tag'"),
    ] {
        assert_eq!(of_run(start), message);
    }
}

/// Returns the message for a text as judgments, wherever it is cut.
fn of_qrels(text: &str) -> String {
    let found = [1 << 20, 1, 13].map(|size| {
        let read = read(&Join::default(), text, "q Q0 d 1 1 t\n", size, size == 13);
        read.map(|_| ()).err().unwrap_or_default()
    });
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    found[0].clone()
}

/// Returns the message for a text as a run, wherever it is cut.
fn of_run(text: &str) -> String {
    let found = [1 << 20, 1, 13].map(|size| {
        let read = read(&Join::default(), "q 0 d 1\n", text, size, size == 13);
        read.map(|_| ()).err().unwrap_or_default()
    });
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    found[0].clone()
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let shape = "expected '{\"query\": {\"document\": score, …}, …}'";
    let ask = "say which are queries, documents and scores in their order (`--columns \
               query,-,doc,score`), or by their names in the first line \
               (`--columns query=…,doc=…,score=…`)";
    let mteb = "run: is a result of MTEB, which has values of measures and no documents: its file of \
                predictions is a run (`{task}_predictions.json`)";
    let response = "{\"details\": {query: {\"hits\": [{\"hit\": {\"_id\": document}}]}}}";
    let records = "a record such as {\"query_id\": \"q1\", \"doc_id\": \"d1\", \"score\": 0.5}";
    let end = "the JSON ends here, where the end of an object or array was expected: is the file \
               complete?";
    let either = format!("{records}, or {{\"query\": {{\"document\": score, …}}, …}}");
    let cases: &[(&str, String)] = &[
        // Tables.
        ("qid\tdocid\tscore\nq\td\n", "run:2: 2 fields in 'q\\td': expected 'qid docid \
                                       score'".into()),
        (
            "qid,docid,score\nq,d,1\nq,e,1,2\nq,,3\n,f,3\nq,g,x\n",
            "run:3: 4 fields in 'q,e,1,2': expected 'qid,docid,score'\nrun:4: the document is \
             empty in 'q,,3': expected 'qid,docid,score'\n\
             run:5: the query is empty in ',f,3': expected 'qid,docid,score'\nrun:6: score 'x' is \
             not a number: expected 'qid,docid,score'"
                .into(),
        ),
        ("qid,docid,score\nq,d,NaN\n", "run:2: score 'NaN' of document 'd' of query 'q' is not a \
            number: expected 'qid,docid,score'".into()),
        ("qid,docid,score\nq,d,1e999\n", "run:2: score '1e999' of document 'd' of query 'q' is \
            not a finite number: expected 'qid,docid,score'".into()),
        ("qid,docid,score\nq,d,inf\nq,e,-Infinity\n", String::new()),
        // Semicolons stand between columns where commas stand in numbers.
        ("qid;docid;score\nq;d,1;1\n\"q\";\"e;\";0.5\n", String::new()),
        ("qid;docid;score\nq;d;1\nq;e;0,5\n", "run:3: score '0,5' is not a number (it has a \
            comma: a decimal point was expected): expected 'qid;docid;score'".into()),
        ("q;Q0;d;1;0,5\n", "run:1: the score '0,5' has a comma: a decimal point was \
            expected".into()),
        ("q;d;1\nq;e;2\n", String::new()),
        ("q;d;1\nq;e;3\n", "run:2: '3' where rank 2 was expected: a run of three columns without \
            a header has ranks, which count 1, 2, 3 … in every query, in the order of the lines; \
            say `--run-format msmarco` if these are ranks in another order or with gaps, or \
            `--columns query,doc,score` if they are scores".into()),
        ("sep=;\r\nqid;docid;score\r\nq;d;1\r\nq;e;x\r\n", "run:4: score 'x' is not a number: \
            expected 'qid;docid;score'".into()),
        ("sep=,\nq,Q0,d,1,0.5\nq,Q0,e,2\n", "run:3: 4 fields in 'q,Q0,e,2': expected \
            'query,iter,document,rank,score'".into()),
        ("sep=\t\nq\td\t1\nq\te,f\t2\n", String::new()),
        ("qid,docid,score\nq,d,1\nqid,docid,score\nq,e,1\n", "run:3: score 'score' is not a \
            number: expected 'qid,docid,score'".into()),
        ("qid,docid,score\nq,d,1\nq,d,2\n", "run:3: docno 'd' occurs again for query 'q', first on \
            line 2".into()),
        ("qid,docid,score\n\"q,d,1\nq,e,2\n", "run:2: a quote (\") in '\"q,d,1' is not closed \
            where its field ends, or not on its line: expected 'qid,docid,score'".into()),
        ("qid,docid,score\nq,\"d\"\"e\",1\nq,\"d\",2\n", String::new()),
        ("qid,docid,score\n", "run: there is no result in it: expected 'qid,docid,score'".into()),
        ("qid,docid\nq,d\n", "run:1: found no score among 'qid', 'docid': known names are score, \
                              sim, prediction, pred, preds, rating_pred, scores, rank, doc_position, \
                              position; `--columns query=…,doc=…,score=NAME` names another".into()),
        ("a,b,c\nq,d,1\n", "run:1: the first line 'a,b,c' may be a header, but its names are not \
                            known: `--columns query=…,doc=…,score=…` says which is what".into()),
        ("q,d,x,0.5\n", format!("run:1: there is no header, and 4 columns: {ask}")),
        ("q\td\n", format!("run:1: there is no header, and 2 columns: {ask}")),
        (
            "q\tQ0\td\t1\t3\tt\rq Q0 e 2 2 t\rq Q0 f 3 1 t\r",
            "run:1: the first line has a carriage return inside: lines end with LF or CR LF".into(),
        ),
        // Objects of objects.
        ("{\"q\": {\"d\": 1, \"e\": 2", format!("run:1: {end}")),
        ("{\"q\": {\"d\": 1,\n\"e\"", format!("run:2: {end}")),
        ("{\"q\": {\"d\": \
          1,\n\"e", "run:2: the JSON ends within a string: is the file complete?".into()),
        ("{\"q\": {\"d\": \
          1}\n", "run:2: the JSON ends here, where ',' or '}' was expected: is the file \
                  complete?".into()),
        ("{\"q\": {\"d\": 1,}}", "run:1: trailing comma at '}'".into()),
        ("{\"q\": {\"d\": NaN, \"e\": null,\n \"f\": \"1\", \"g\": [1, {}]}}", format!(
            "run:1: score 'NaN' of document 'd' of query 'q' is not a number: {shape}\n\
             run:1: score 'null' is not a number: {shape}\n\
             run:2: document 'f' of query 'q' has the string '1', and not a score\nrun:2: document \
             'g' of query 'q' has an array, and not a score"
        )),
        ("{\"q\": {\"d\": 1, \"e\": 2,\n\"d\": \
          3}}", "run:2: docno 'd' occurs again for query 'q', first on line 1".into()),
        ("{\"q\": {\"d\": 1},\n\"r\": {\"d\": 1},\n\"q\": {\"e\": \
          [2]}}", "run:3: query 'q' occurs again".into()),
        ("{\"q\": {\"\": 1},\n\"\": {\"e\": 2},\n\"r\": 3, \"s\": {\"a\\n\": \
          1}}", "run:1: the document is empty, of query 'q'\nrun:2: the query is empty\n\
            run:3: query 'r' has '3', and not an object of documents\nrun:3: the document 'a\\n' \
            has a control character in it (\\n), of query 's'".into()),
        ("{\"q\": {\"d\": 1}} x", "run:1: '{' was expected at 'x'".into()),
        ("{}", format!("run: there is no result in it: {shape}")),
        // Records.
        (
            "{\"qid\": \"q\", \"docid\": \"d\", \"score\": 1}\n{\"qid\": null, \"docid\": \
             7, \"score\": 1}\n\n{\"qid\": \"q\", \"docid\": 1.5, \"score\": 1}\n\
             {\"qid\": \"q\", \"docid\": \"e\"}\n\
             {\"qid\": \"q\", \"docid\": \"f\", \"score\": \"1\"}\n\
             {\"qid\": \"q\", \"docid\": \"g\", \"score\": 1} x\n\
             {\"qid\": \"q\", \"docid\": \"g\", \"sco\n\
             {\"qid\": \"q\", \"qid\": \"q\", \"docid\": \"h\", \"score\": 1}\n\
             {\"qid\": \"q\", \"docid\": \"i\", \"score\": NaN}",
            "run:2: the query is 'null', and neither a string nor an integer\nrun:4: the document \
             is '1.5', and neither a string nor an integer\n\
             run:5: there is no 'score' in the record\nrun:6: the score is the string '1', and not \
             a number\nrun:7: trailing characters at 'x'\n\
             run:8: the JSON ends within a string: is the file complete?\nrun:9: 'qid' occurs \
             twice in the record\n\
             run:10: score 'NaN' of document 'i' of query 'q' is not a number: expected \
             '{\"qid\": …, \"docid\": …, \"score\": …}'"
                .into(),
        ),
        ("{\"a\": 1}\n", format!("run:1: the keys of the first record are 'a', and none is known: \
                                  {either} was expected; `--columns query=…,doc=…,score=…` names \
                                  other keys")),
        ("[{\"qid\": 1, \"docid\": 2, \"score\": 3}\n{\"qid\": 1, \"docid\": 3, \"score\": \
          3}]", "run:2: ',' or ']' was expected at '{\"qid\": 1, \"docid\": '".into()),
        ("[{\"qid\": 1, \"docid\": 2, \"score\": \
          3}", "run:1: the JSON ends here, where ',' or ']' was expected: is the file \
                complete?".into()),
        ("[]", format!("run:1: the array is empty: {records} was expected")),
        ("[{}]", format!("run:1: the first record has no keys: {records} was expected")),
        ("[[\"q\", \"d\", 1]]", format!("run:1: {records} was expected at '[\"q\", \"d\", 1]]'")),
        ("{\"q\": [\"d1\"]}", String::new()),
        // Records with lists.
        (
            "{\"query\": \"a\", \"retrieved_ids\": [\"d\", 7], \"score\": [2, \
             1]}\n{\"query\": \"b\", \"retrieved_ids\": [], \"score\": []}\n\
             {\"query\": \"c\", \"retrieved_ids\": [\"a\", \"b\", \"c\", \"d\"], \"score\": [1, 2, \
             3]}\n{\"query\": \"d\", \"retrieved_ids\": \"d\", \"score\": [1]}\n\
             {\"query\": \"e\", \"retrieved_ids\": [\"d\"], \"score\": \
             null}\n{\"query\": \"f\", \"retrieved_ids\": [\"d\", {}], \"score\": [1, 2]}\n\
             {\"query\": \"g\", \"retrieved_ids\": [\"d\"], \"score\": \
             [\"1\"]}\n{\"query\": \"h\", \"retrieved_ids\": [\"d\"]}\n\
             {\"query\": [\"i\"], \"retrieved_ids\": [\"d\"], \"score\": \
             [1]}\n{\"query\": \"j\", \"retrieved_ids\": [\"d\"], \"retrieved_ids\": \
             [], \"score\": [1]}\n\
             {\"query\": \"k\", \"retrieved_ids\": [\"d\", \"e\", \"d\"], \"score\": [1, NaN, \
             2]}\n{\"query\": \"l\", \"retrieved_ids\": [\"\"], \"score\": [1]}",
            "run:3: 4 ids and 3 scores: a score for each id was expected\nrun:4: 'retrieved_ids' \
             is the string 'd', and not a list of ids\n\
             run:5: 'score' is 'null', and not a list of scores\nrun:6: a document has no id: its \
             keys are none\n\
             run:7: a score is the string '1', and not a number\nrun:8: there is no 'score' in the \
             record\n\
             run:9: the query is an object or an array, and neither a string nor an \
             integer\nrun:10: 'retrieved_ids' occurs twice in the record\n\
             run:11: score 'NaN' of document 'e' of query 'k' is not a number: expected \
             '{\"query\": …, \"retrieved_ids\": […], \"score\": […]}'\n\
             run:12: the document is empty"
                .into(),
        ),
        (
            "{\"user_input\": \"q\", \"retrieved_context_ids\": \
             [\"d\", \"e\"]}\n{\"user_input\": \"q\", \"retrieved_context_ids\": [\"f\"]}\n\
             {\"user_input\": \"q\", \"retrieved_context_ids\": [\"f\"]}",
            "run:2: rank 1 occurs again for query 'q', first on line 1\nrun:3: rank 1 occurs again \
             for query 'q', first on line 1\n\
             run:3: docno 'f' occurs again for query 'q', first on line 2"
                .into(),
        ),
        (
            "qid,docid,score\nq,\"a\"\"b\",1\nq,d\u{1f},1\n\"q,e,1\n",
            "run:3: a unit separator (U+001F) in 'q,d\\u{1f},1', and other ids have quotes: \
             expected 'qid,docid,score'\nrun:4: a quote (\") in '\"q,e,1' is not closed where its \
             field ends, or not on its line: expected 'qid,docid,score'"
                .into(),
        ),
        (
            "{\"user_input\": \"q\", \"retrieved_context_ids\": null}",
            "run:1: 'retrieved_context_ids' is 'null', and not a list of ids".into(),
        ),
        (
            "{\"user_input\": \"a\", \"retrieved_contexts\": [\"A text.\"]}\n",
            "run:1: has texts (retrieved_contexts) and no ids: retrieved_context_ids was \
             expected".into(),
        ),
        (
            "[{\"input\": \"a\", \"context\": [\"A text.\"], \"retrieval_context\": [\"A \
             text.\"]}]\n",
            "run:1: has texts (retrieval_context) and no ids: retrieved_context_ids was \
             expected".into(),
        ),
        (
            "{\"retrieved_ids\": [\"d\"], \"question\": \"a\"}\n",
            format!(
                "run:1: the keys of the first record are 'retrieved_ids', 'question', and only \
                 'retrieved_ids' is known: {either} was expected; \
                 `--columns query=…,doc=…,score=…` names other keys"
            ),
        ),
        // Large objects with results in them.
        (
            "{\"metric_score\": 1, \"details\": {\"q\": {\"hits\": [{\"hit\": \
             {\"_index\": \"i\"}}]},\n\"r\": {\"hit\": []},\n\"s\": 3, \"t\": {\"hits\": \
             [{\"hit\": {\"_id\": null}}]},\n\
             \"\": {\"hits\": []}, \"u\": [[]]}}",
            format!(
                "run:1: a document has no id, of query 'q'\nrun:2: query 'r' has no documents: \
                 expected '{response}'\n\
                 run:3: a query is no object or array: expected '{response}'\n\
                 run:3: the document is 'null', and neither a string nor an integer, of query \
                 't'\nrun:4: the query is empty\n\
                 run:4: query 'u' has no documents: expected '{response}'"
            ),
        ),
        (
            "{\"mteb_model_meta\": {\"revision\": null, \"x\": {}}, \"en\": {}}",
            "run: there is no result in it: expected '{subset: {split: {query: {document: score, \
             …}}}}'".into(),
        ),
        (
            "{\"mteb_model_meta\": {\"revision\": \"\"}, \"en\": {\"test\": {\"q\": \
             {\"d\": \"1\"}}},\n\"de\": {\"dev\": {\"q\": 1}, \"test\": {}}}",
            "run:1: document 'd' of query 'q' has the string '1', and not a score\n\
             run: has the subsets de/dev, de/test and en/test: say which with --subset"
                .into(),
        ),
        ("{\"task_name\": \"x\",\n\"scores\": {\"test\": [{\"ndcg_at_10\": 0.5}]}}\n", mteb.into()),
        ("{\n\"task_name\": \"x\", \"scores\": {\"test\": [{\"mrr\": 1}]}}\n", mteb.into()),
        ("{\"requests\": [{\"id\": \"q\", \"ratings\": \
          []}]}", "run: these are judgments, a run was expected: the order is QRELS RUN".into()),
        // Texts that are not a table.
        ("q::d::1::9\nq::e::2::8\n", "run:1: the columns of 'q::d::1::9' are separated by '::', \
            which is not read: tabs and commas are, for example after `sed 's/::/\\t/g'`, and with \
            `--columns query,doc,score,-`".into()),
        ("qid|docid|score\nq|d \
          e|1\n", "run:1: the columns of 'qid|docid|score' are separated by '|', which is not \
                   read: tabs and commas are, for example after `tr '|' '\\t'`".into()),
        ("\"q,d,1\"\n", "run:1: quotes are around the whole line '\"q,d,1\"', which makes it one \
                         column: three or more were expected".into()),
        ("\"q,d,1\n", "run:1: a quote (\") in '\"q,d,1' is not closed where its field ends, or not \
                       on its line".into()),
        // Lines that start with '#'.
        ("# made by x\nqid,docid,score\nq,d,1\n", String::new()),
        ("qid,docid,score\n# made by \
          x\nq,d,1\n", "run:2: 1 field in '# made by x': expected 'qid,docid,score' (in tables \
                        with tabs or commas no line is a comment)".into()),
        ("qid,docid,score\n#1,d,1\nq,d,1\n", String::new()),
        ("#qid\tdocid\tscore\nq\td\t0.5\n", String::new()),
        ("# made by x\r\n# qid,docid,score\r\nq,d,1\r\n", String::new()),
        ("# qid,docid,score\nq,d,x\n", "run:2: score 'x' is not a number: expected \
                                        'qid,docid,score'".into()),
        // Too few lines to recognise the format.
        ("q d 1\n", "run:1: 3 fields in 'q d 1': expected 'query iter docno rank score tag'; say \
            `--run-format msmarco` if they are query, document and rank, \
            or `--columns query,doc,score` if they are scores".into()),
        ("q Q0 d 1 0.5\nq Q0 e 2 \
          0.25\n", "run:1: 5 fields in 'q Q0 d 1 0.5': expected 'query iter docno rank score tag'; \
                    say `--run-format trec` if only the tag is missing".into()),
        // Names that differ in case.
        ("QID,Qid,docid,score\nq,q,d,1\n", "run:1: 'QID' and 'Qid' differ only in case: it is not \
                                            clear which to read of 'QID', 'Qid', 'docid', \
                                            'score'".into()),
        ("QID,qid,docid,score\nx,q,d,1\n", String::new()),
        ("{\"q\": {\"d\": 1e999, \"e\": -Infinity,\r\n\"f\": 1\"x\"}}", format!(
            "run:1: score '1e999' of document 'd' of query 'q' is not a finite number: {shape}\n\
             run:2: expected `,` or `}}` at '\"x\"}}'"
        )),
        ("{\"q\": {\"d\": 1,\n\"\\ud83d\": \
          2}}", "run:2: unexpected end of hex escape at '\": 2}'".into()),
        ("{\"q\": {\"d\": 1,\n\"\\u12\": \
          2}}", "run:2: invalid escape at ': 2}'".into()),
        ("{\"q\": {\"d\": 1,\n\"\\x\": 2}}", "run:2: invalid escape at 'x\": 2}'".into()),
        ("{\"q\": {\"d\": [1},\n\"e\": 2}}", "run:1: ']' was expected at '},'".into()),
        ("{\"qid\": \"q\", \"docid\": \"d\", \"score\": 1, \"x\": [{\"y\": \
          1]}\n", "run:1: '}' was expected at ']}'".into()),
        (
            "[{\"qid\": \"q\", \"docid\": \"d\", \"x\": \"a\nb\n\", \"score\": \
             1},\n{\"qid\": \"q\", \"docid\": \"e\", \"score\": [2]}]",
            "run:4: the score is an object or an array, and not a number".into(),
        ),
        ("{\"q\": {\"d\": 1, \"x\ny\": 1},\n\"r\": \
          1}", "run:1: the document 'x\\ny' has a control character in it (\\n), of query 'q'\n\
            run:3: query 'r' has '1', and not an object of documents".into()),
        ("\u{feff}\u{feff}qid,docid,score\nq,d,1\n", "run:1: found no query among '\\u{feff}qid', \
            'docid', 'score': known names are query_id, qid, q_id, topic_id, \
            query, topic, user_id, userid, session_id, indexes, user_input, searchtext, \
            query_text, question_id, user, customer_id, customerid; `--columns query=NAME,doc=…,score=…` names another".into()),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, of_run(text)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| {
            format!("{text}\n--- is said of it\n{found}\n--- and not\n{expected}\n")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n===\n"));
}

#[test]
fn what_is_wrong_with_judgments_is_said_with_its_line() {
    let cases: &[(&str, &str)] = &[
        (
            "query-id\tcorpus-id\tscore\nq\td\t1\nq\td\t2\n",
            "qrels:3: docno 'd' of query 'q' has grade 2 here, but grade 1 on line 2",
        ),
        (
            "q,d\n",
            "qrels:1: there is no header, and 2 columns: say which are queries and documents in \
             their order (`--columns query,doc`), or by their names in the first line (`--columns \
             query=…,doc=…,grade=…`)",
        ),
        (
            "q d 1\n",
            "qrels:1: 3 fields in 'q d 1': expected 'query iter docno grade'; say `--columns \
             query,doc,grade` if they are that",
        ),
        (
            "{\"q\": {\"d\": 1,\n\"e\": true}}",
            "qrels:2: grade 'true' is not a number: expected '{\"query\": {\"document\": grade, \
             …}, …}'",
        ),
        (
            "2 qid:q 1:0.5 # d\nx qid:q 1:0.5\n1 1:0.5\n1 qid:q y\n1 qid: 1:2\n",
            "qrels:2: grade 'x' is not a number: expected 'grade qid:query feature:value … # \
             document'\n\
             qrels:3: there is no qid in '1 1:0.5': expected 'grade qid:query feature:value … # \
             document'\n\
             qrels:4: 'y' is not a feature: expected 'grade qid:query feature:value … # document'\n\
             qrels:5: the query is empty: expected 'grade qid:query feature:value … # document'",
        ),
        (
            "{\"judgmentRatings\": [{\"query\": \"q\", \"ratings\": \
             [{\"docId\": \"a\", \"rating\": \"x y\"}, {\"docId\": \"b\"}]},\n\
             {\"query\": \"q\", \"ratings\": [{\"docId\": \"b\", \"rating\": \"high\"}]}, \
             {\"ratings\": []}, 7]}",
            "qrels:1: a rating is the string 'x y', and not a number, of query 'q'\n\
             qrels:2: grade 'high' is not a number: expected '{\"judgmentRatings\": [{\"query\": \
             query, \"ratings\": [{\"docId\": document, \"rating\": grade}]}]}'\n\
             qrels:2: a query has no id: expected '{\"judgmentRatings\": [{\"query\": \
             query, \"ratings\": [{\"docId\": document, \"rating\": grade}]}]}'\n\
             qrels:2: a query is no object or array: expected '{\"judgmentRatings\": [{\"query\": \
             query, \"ratings\": [{\"docId\": document, \"rating\": grade}]}]}'",
        ),
        (
            "{\"details\": {\"q\": {\"hits\": []}}}",
            "qrels: this is a run, judgments were expected: the order is QRELS RUN",
        ),
        (
            "{\"user_input\": \"q\", \"reference_contexts\": [\"A text.\"]}\n",
            "qrels:1: has texts (reference_contexts) and no ids: reference_context_ids was \
             expected",
        ),
        (
            "NaN qid:q 1:0.5 # d\n",
            "qrels:1: grade 'NaN' of document 'd' of query 'q' is not a number: expected 'grade \
             qid:query feature:value … # document'",
        ),
        (
            "1::1193::5::978300760\n1::661::3::978302109\n",
            "qrels:1: the columns of '1::1193::5::978300760' are separated by '::', which is not \
             read: tabs and commas are, for example after `sed 's/::/\\t/g'`, and with `--columns \
             query,doc,grade,-`",
        ),
        (
            "196\t242\t3\t881250949\n186\t302\t3\t891717742\n",
            "qrels:1: the fourth of four columns looks like times, and a grade was expected: say \
             `--columns query,doc,grade,-` if they are query, document, grade, time, or \
             `--qrels-format trec` if the fourth is the grade",
        ),
        (
            "1,1193,5,978300760\n",
            "qrels:1: the fourth of four columns looks like times, and a grade was expected: say \
             `--columns query,doc,grade,-` if they are query, document, grade, time, or \
             `--qrels-format csv` if the fourth is the grade",
        ),
        ("q 0 3 881250949\n", ""),
        ("q x d 881250949\n", ""),
        (
            "query,doc,label\nq,d,maybe\n",
            "qrels:2: grade 'maybe' is not a number (`--grades maybe=…` gives words grades): expected \
             'query,doc,label'",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(of_qrels(text), *expected, "{text}");
    }
}

/// A million nested objects or arrays take no stack.
#[test]
fn nothing_is_too_deep() {
    const DEEP: usize = 1_000_000;
    let of_run = |text: &str| {
        let read = read(&Join::default(), "q 0 d 1\n", text, 1 << 20, false);
        read.map(|_| ()).err().unwrap_or_default()
    };
    let (open, close) = ("[".repeat(DEEP), "]".repeat(DEEP));
    let (objects, ends) = ("{\"a\":".repeat(DEEP), "}".repeat(DEEP));
    let record =
        |value: &str| format!("{{\"qid\":\"q\",\"docid\":\"d\",\"x\":{value},\"score\":1}}\n");
    assert_eq!(of_run(&record(&format!("{open}{close}"))), "");
    assert_eq!(of_run(&format!("[{}]", record(&format!("{objects}1{ends}")))), "");
    let ended = "the JSON ends here, where the end of an object or array was expected: is the file \
                 complete?";
    for (text, expected) in [
        (
            format!("{{\"q\": {{\"d\": {open}{close}}}}}"),
            "document 'd' of query 'q' has an array, and not a score",
        ),
        (
            format!("{{\"q\": {{\"d\": {objects}1{ends}}}}}"),
            "document 'd' of query 'q' has an object, and not a score",
        ),
        (
            format!("{{\"p\": {{}}, \"q\": {open}{close}}}"),
            "query 'q' has an array, and not an object of documents",
        ),
        (open.clone(), " was expected at '[[[[[[[[[[[[[[[[[[[['"),
        (objects.clone(), ended),
        (record(&open), "']' was expected at '}'"),
    ] {
        let found = of_run(&text);
        assert!(found.starts_with("run:1: ") && found.contains(expected), "{found}");
    }
}

/// What becomes of JSON that is unusual or no JSON at all: it is read, or refused by this message.
#[test]
fn json_of_every_kind_is_read_or_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let number = "is not a number: expected '{\"qid\": …, \"docid\": …, \"score\": …}'";
    let finite = number.replace("a number", "a finite number");
    let of_doc = "of document 'e' of query 'q'";
    let record = |score: &str, rest: &str| {
        format!("{{\"qid\": \"q\", \"docid\": \"e\", \"score\": {score}{rest}}}")
    };
    let with_id = |id: &str| format!("{{\"qid\": \"q\", \"docid\": {id}, \"score\": 1}}");
    let records: &[(String, String)] = &[
        // Read as they are written.
        (record("1", ", \"x\": 1, \"x\": 2"), String::new()),
        (record("123456789012345678901234567890", ""), String::new()),
        (record("0.1000000000000000055511151231257827", ""), String::new()),
        (with_id("123456789012345678901234567890"), String::new()),
        (with_id("\"\\u0065\""), String::new()),
        (record("1", &format!(", \"x\": {deep}")), String::new()),
        // What other programs write as JSON, where it is not read.
        (record("1", ", \"x\": NaN, \"y\": [{\"z\": -Infinity}]"), String::new()),
        (record("1", ", \"x\": \"\\ud800\""), String::new()),
        (record("1", ", \"x\": \"a\tb\""), String::new()),
        // And where it is read.
        (record("NaN", ", \"x\": \"NaN\""), format!("score 'NaN' {of_doc} {number}")),
        (record("-Infinity", ""), String::new()),
        (record("1e999", ""), format!("score '1e999' {of_doc} {finite}")),
        (record("null", ""), format!("score 'null' {number}")),
        (record("true", ""), format!("score 'true' {number}")),
        (record("\"1\"", ""), "the score is the string '1', and not a number".into()),
        (record("1", ", \"score\": 2"), "'score' occurs twice in the record".into()),
        (with_id("\"d\t\""), "the document 'd\\t' has a control character in it (\\t)".into()),
        (with_id("\"\\ud800\""), "unexpected end of hex escape at '\"'".into()),
        // No JSON.
        (record("007", ""), "invalid number at '07}'".into()),
        (record(".5", ""), "expected value at '.5}'".into()),
        (record("+1", ""), "expected value at '+1}'".into()),
        (record("1.", ""), "invalid number at '}'".into()),
        (record("1", ","), "trailing comma at '}'".into()),
        (record("1", ", \"x\": \"\\x\""), "invalid escape at 'x\"}'".into()),
        (record("1", "") + " x", "trailing characters at 'x'".into()),
        (
            "{\"qid\": \"q\", \"do".into(),
            "the JSON ends within a string: is the file complete?".into(),
        ),
        ("{\"qid\": \"q\",".into(), "the JSON ends here: is the file complete?".into()),
    ];
    let first = "{\"qid\": \"q\", \"docid\": \"d\", \"score\": 3}";
    for (record, message) in records {
        let expected = if message.is_empty() { String::new() } else { format!("run:2: {message}") };
        assert_eq!(of_run(&format!("{first}\n{record}\n")), expected, "{record:.200}");
        // As an item of an array the same is said, unless brackets and quotes are wrong.
        let in_array = of_run(&format!("[{first},\n{record}]"));
        if !in_array.contains("was expected") && !in_array.contains("JSON ends") {
            assert_eq!(in_array, expected, "{record:.200}");
        }
    }
    let objects: &[(&str, &str)] = &[
        ("{\"q\": {\"d\": 1}} {\"r\": {\"d\": 1}}", ""),
        ("{\"q\": {\"d\": 1}} {\"q\": {\"e\": 1}}", "query 'q' occurs again"),
        ("{\"q\": {NaN: 1}}", "key must be a string at 'NaN: 1}'"),
        ("{\"q\": {\"d: 1, \"e\": 2}}", "expected `:` at 'e\": 2}}'"),
        ("{\"q\": {\"d\": 1}, \"\\u0071\": {\"e\": 1}}", "query 'q' occurs again"),
        ("{\"q\": {\"d\": [1}}}", "']' was expected at '}}}'"),
        (
            "{\"q\": {\"d\": {\"e\": [1]}}}",
            "document 'd' of query 'q' has an object, and not a score",
        ),
        ("{\"q\": {\"d\": 1, \"d\": 2}}", "docno 'd' occurs again for query 'q', first on line 1"),
    ];
    for (text, message) in objects {
        let expected = if message.is_empty() { String::new() } else { format!("run:1: {message}") };
        assert_eq!(of_run(text), expected, "{text}");
    }
    let bytes = |run: &[u8]| read(&Join::default(), b"q 0 \xff 1\n", run, 99, false);
    let trec = bytes(b"q Q0 \xff 1 1 t\n").map(|matrix| all(&matrix));
    let json = |id: &[u8], rest: &[u8]| {
        let start = &b"{\"qid\": \"q\", \"docid\": \""[..];
        bytes(&[start, id, b"\", \"score\": 1", rest, b"}\n"].concat()).map(|matrix| all(&matrix))
    };
    assert_eq!(json(b"\xff", b""), trec, "an id that is not UTF-8");
    let not_utf8 = |found: Result<_, String>, at: &str| {
        assert_eq!(found.unwrap_err(), format!("run:1: the JSON is not UTF-8 at '{at}'"));
    };
    // Beside an escape in the same string, and outside of strings.
    not_utf8(json(b"\\u0064\xff", b""), "\\xff\", \"score\": 1}");
    not_utf8(json(b"\xff", b", \"x\": \"\\n\xfe\""), "\\xff\", \"score\": 1, \"x\":");
}

/// A text that is cut short is an error at every byte, except in the blanks at its end.
#[test]
fn json_that_is_cut_short_is_an_error() {
    let objects = "{\"q\": {\"d\\u00e9\": 1, \"e\": 2.5e0},\n \"r\": {\"d\": 3}}\n";
    let array = "[{\"qid\": \"q\", \"docid\": \"d\", \"score\": \
                 1},\n{\"qid\": \"q\", \"docid\": \"e\", \"score\": 2}]\n";
    let response = "{\"metric_score\": 1, \"details\": {\"q\": {\"hits\": [{\"hit\": \
                    {\"_id\": \"d\"}}]},\n \"r\": {\"hits\": []}}}\n";
    let predictions =
        "{\"mteb_model_meta\": {\"revision\": \"\"},\n \"en\": {\"test\": {\"q\": {\"d\": 1}}}}\n";
    for text in [objects, array, response, predictions] {
        assert_eq!(of_run(text), "");
        for at in 1..text.len() - 1 {
            let found = of_run(&text[..at]);
            assert!(found.starts_with("run:1: ") || found.starts_with("run:2: "), "{at}: {found}");
        }
    }
    // The text ends with an entry that is a block by itself.
    let docs: Vec<String> = (0..40_000).map(|doc| format!("\"d{doc}\": 1")).collect();
    let text = format!("{{\"q\": {{{}}}", docs.join(", "));
    assert_eq!(of_run(&(text.clone() + "}")), "");
    assert!(of_run(&text).starts_with("run:1: the JSON ends here, where ',' or '}' was expected"));
    let lines = "{\"qid\": \"q\", \"docid\": \"d\", \"score\": \
                 1}\n{\"qid\": \"q\", \"docid\": \"e\", \"score\": 2}\n";
    let second = lines.find('\n').unwrap() + 1;
    for at in second + 1..lines.len() - 1 {
        assert!(of_run(&lines[..at]).starts_with("run:2: "), "{at}");
    }
}

/// JSON is recognised however it is spaced, and whatever bytes its strings have.
#[test]
fn json_is_told_from_its_first_key() {
    let expected =
        all(&read(&Join::default(), "q 0 d 1\n", "q Q0 d 1 1 t\nq Q0 e 2 0.5 t\n", 9, false)
            .unwrap());
    for text in [
        "{\"q\":{\"d\":1,\"e\":0.5}}",
        "{\"q\" : { \"d\": 1 , \"e\": 0.5 } }",
        "{ \"q\" : { \"d\" : 1 , \"e\" : 0.5 } }",
        "\u{feff}\n\t {\n\"q\"\n:\n{\n\"d\"\n:\n1\n,\n\"e\"\n:\n0.5\n}\n}",
        "{ \"docid\" : \"d\" , \"score\" : 1 , \"qid\" : \"q\" \
         }\r\n{\"docid\":\"e\",\"score\":0.5,\"qid\":\"q\"}\r\n",
        "[ {\"score\" : 1 , \"docid\" : \"d\" , \"qid\" : \"q\" } \
         ,\n{\"docid\":\"e\",\"score\":0.5,\"qid\":\"q\"} ]",
    ] {
        for (size, compressed) in [(1 << 20, false), (3, true)] {
            let found = read(&Join::default(), "q 0 d 1\n", text, size, compressed)
                .map(|matrix| all(&matrix));
            assert_eq!(found.as_ref(), Ok(&expected), "{text}");
        }
    }
    let bytes = b"{\"q\": {\"\xff\xfe\": 1, \"\xc3\": 2}}";
    let trec = b"q Q0 \xff\xfe 1 1 t\nq Q0 \xc3 1 2 t\n";
    let [json, trec] =
        [&bytes[..], trec].map(|run| read(&Join::default(), b"q 0 \xc3 1\n", run, 99, false));
    assert_eq!(all(&json.unwrap()), all(&trec.unwrap()));
}

/// Formats of runs with ranks beside their scores: a name, the text before the results, a function
/// that writes a result, and the text after them.
type Ranked = (&'static str, &'static str, fn(&str, &str, usize, &str) -> String, &'static str);

const RANKED: &[Ranked] = &[
    ("TREC", "", |q, d, r, s| format!("{q} Q0 {d} {r} {s} t\n"), ""),
    ("TSV", "qid\tdocid\trank\tscore\n", |q, d, r, s| format!("{q}\t{d}\t{r}\t{s}\n"), ""),
    ("ranks last", "qid\tdocid\tscore\trank\n", |q, d, r, s| format!("{q}\t{d}\t{s}\t{r}\r\n"), ""),
    ("CSV", "qid,docid,rank,score\n", |q, d, r, s| format!("{q},\"{d}\",\"{r}\",{s}\n"), ""),
    ("ranks first", "rank,qid,score,docid\n", |q, d, r, s| format!("{r},{q},{s},{d}\n"), ""),
    ("six columns of CSV", "", |q, d, r, s| format!("{q},Q0,{d},{r},{s},t\n"), ""),
    (
        "JSONL",
        "",
        |q, d, r, s| {
            format!("{{\"rank\": {r}, \"qid\": \"{q}\", \"docid\": \"{d}\", \"score\": {s}}}\n")
        },
        "",
    ),
    (
        "an array",
        "[{\"qid\": \"-\", \"docid\": \"d\", \"rank\": 1, \"score\": 1}",
        |q, d, r, s| {
            format!(
                ",\n{{\"qid\": \"{q}\", \"docid\": \"{d}\", \"score\": {s}, \"rank\": \"{r}\"}}"
            )
        },
        "]",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    #[test]
    fn ranks_order_equal_scores_in_every_format(
        results in rows(&["1", "1", "2"], 0), descending in any::<bool>(), size in 1usize..300,
    ) {
        let results: Vec<Row> =
            by_query(&results).into_iter().flat_map(|(_, rows)| rows).cloned().collect();
        let mut counts = [0; 4];
        let mut rank = |query: &str| {
            let count = &mut counts[query[1..].parse::<usize>().unwrap()];
            *count += 1;
            if descending { 100 - *count } else { *count }
        };
        let ranked: Vec<(Row, usize)> =
            results.into_iter().map(|row| (row.clone(), rank(&row.0))).collect();
        let qrels = "q0 0 d0 1\nq0 0 dd1 2\nq1 0 d0 0\nq1 0 ddd2 1\nq2 0 d0 3\nq3 0 dd1 1\n";
        let text = |(_, before, line, after): &Ranked| {
            let lines: String = ranked.iter().map(|((q, d, s), r)| line(q, d, *r, s)).collect();
            format!("{before}{lines}{after}")
        };
        let (by_rank, plain) = (Join { ties: TieBreak::Rank, ..Join::default() }, Join::default());
        let seen = |matrix: LabelMatrix| matrix.runs()[0].seen;
        // The array has one query more, which is not judged.
        let labels = |matrix: LabelMatrix| (matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
        let trec = text(&RANKED[0]);
        let expected = labels(read(&by_rank, qrels, &trec, 1 << 20, false).unwrap());
        let expected_seen = seen(read(&plain, qrels, &trec, 1 << 20, false).unwrap());
        for format in RANKED {
            let run = text(format);
            for (size, compressed) in [(1 << 20, false), (size, false), (size, true)] {
                let found = read(&by_rank, qrels, &run, size, compressed).map(labels);
                prop_assert_eq!(found.as_ref(), Ok(&expected), "{} of\n{}", format.0, run);
            }
            let found = read(&plain, qrels, &run, 1 << 20, false).map(seen);
            prop_assert_eq!(found, Ok(expected_seen), "{} of\n{}", format.0, run);
        }
    }
}

#[test]
fn ranks_that_order_nothing_are_named_with_their_lines() {
    let by_rank = Join { ties: TieBreak::Rank, ..Join::default() };
    let error = |run: &str| read(&by_rank, "q 0 a 1\n", run, 1 << 20, false).unwrap_err();
    assert_eq!(
        error("qid,score,docid,rank\nq,1,a,1\nq,1,b,x\nq,1,c,\nq,?,d,4\nq,1,e\n"),
        "run:3: rank 'x' is not an integer, and equal scores are to be ordered by it\n\
         run:4: rank '' is not an integer, and equal scores are to be ordered by it\n\
         run:5: score '?' is not a number: expected 'qid,score,docid,rank'\n\
         run:6: 3 fields in 'q,1,e': expected 'qid,score,docid,rank'"
    );
    assert_eq!(
        error(
            "{\"qid\":\"q\",\"docid\":\"a\",\"score\":1,\"rank\":1}\n\
             {\"qid\":\"q\",\"docid\":\"b\",\"score\":1}\n"
        ),
        "run:2: rank '' is not an integer, and equal scores are to be ordered by it"
    );
    assert_eq!(
        error("qid,docid,score\nq,a,1\n"),
        "run has no ranks beside its scores that could order equal ones: take other ties than \
         `rank`"
    );
}

/// A table of TREC's columns keeps ids with blanks far down, where its first 20 lines have none.
#[test]
fn ids_with_blanks_far_down_a_table_are_whole() {
    let lines = |line: &dyn Fn(&str) -> String| {
        (0..40).map(|n| line(&format!("d{n}"))).chain([line("the doc")]).collect::<String>()
    };
    let run = lines(&|doc| format!("q\tQ0\t{doc}\t1\t0.5\tmine\n"));
    let qrels = lines(&|doc| format!("q\t0\t{doc}\t{}\n", u8::from(doc == "the doc")));
    let matrix = Join::default()
        .files(input("x.tsv", qrels), [RunInput::named("run", input("y.tsv", run))])
        .unwrap();
    assert_eq!(matrix.runs()[0].tag, b"mine");
    let labels: Vec<u8> = matrix.tile(0).lane(0).take(41).collect();
    assert!(labels.iter().all(|&label| label > 2), "{labels:?}");
    assert_eq!(labels[0], 4, "'the doc' is the last by name, which comes first among equal scores");
    let commented = "# a comment\nq\t0\td\t1\n";
    let read =
        |qrels: &str| Join::default().qrels(input("x.tsv", qrels)).map(|qrels| qrels.fingerprint());
    assert_eq!(
        read(commented).unwrap(),
        read("q\t0\td\t1\n").unwrap(),
        "comments are those of TREC"
    );
}

/// The name decides if content can be read in two ways, and only then.
#[test]
fn names_decide_where_content_does_not() {
    let named = |(qrels_name, qrels): (&str, &str), (run_name, run): (&str, &str)| {
        let run = RunInput::named("run", input(run_name, run));
        let matrix = Join::default()
            .files(input(qrels_name, qrels), [run])
            .map_err(|error| error.to_string())?;
        let labels = (matrix.tile_bytes().to_vec(), matrix.runs()[0].results);
        Ok::<_, String>((matrix.fingerprint(), matrix.queries().clone(), labels))
    };
    let twin = |qrels: &str, run: &str| named(("qrels", qrels), ("run", run));
    let (qrels, run) = ("q 0 d 1\n", "q Q0 d 1 1 t\n");
    // Ids with blanks in a table: TREC has one field more, or the rank for the score.
    let (spaced, object) = ("{\"q\": {\"the doc\": 1}}", "{\"q\": {\"the doc\": 2, \"d\": 1}}");
    let judged = "q\tthe doc\t1\n";
    let results = "q\tQ0\tthe doc\t1\t2\tt\nq\tQ0\td\t2\t1\tt\n";
    let expected = twin(spaced, object).unwrap();
    for (qrels_name, run_name) in [("x.tsv", "y.tsv"), ("X.TSV.gz", "a.b/y.tsv.zst")] {
        assert_eq!(named((qrels_name, judged), (run_name, results)), Ok(expected.clone()));
    }
    assert_ne!(named(("x.txt", judged), ("y.txt", results)), Ok(expected.clone()));
    let quoted = "q,\"the doc\",1\n";
    assert_eq!(named(("x.csv", quoted), ("y.json", object)), Ok(expected));
    // Tables without blanks are TREC all the same, and so are texts that are not tables.
    let expected = twin(qrels, run).unwrap();
    for run_name in ["y.tsv", "y.csv", "y.jsonl", "y.letor"] {
        assert_eq!(named(("x.tsv", qrels), (run_name, run)), Ok(expected.clone()));
        assert_eq!(
            named(("x.csv", "q\t0\td\t1\n"), (run_name, "q\tQ0\td\t1\t1\tt\n")),
            Ok(expected.clone())
        );
    }
    // A tab in a field of CSV.
    let csv = "a\ttext,qid,docid,score\na\tb,q,d,1\n";
    assert_eq!(named(("x", qrels), ("y.csv", csv)), Ok(expected.clone()));
    assert!(named(("x", qrels), ("y", csv)).is_err());
    // A record whose first value is an object.
    let record = "{\"more\": {\"d\": 7}, \"qid\": \"q\", \"docid\": \"d\", \"score\": 1}\n";
    assert_eq!(named(("x", qrels), ("y.jsonl", record)), Ok(expected.clone()));
    let error = named(("x", qrels), ("y.json", record)).unwrap_err();
    assert!(
        error.starts_with("y.json:1: query 'qid' has a string, and not an object of documents"),
        "{error}"
    );
    // LETOR without features.
    assert_eq!(
        named(("x.letor", "1 qid:q # 7\n"), ("y", "q Q0 7 1 1 t\n")),
        twin("q 0 7 1\n", "q Q0 7 1 1 t\n")
    );
    assert_eq!(
        named(("x", "1 qid:q # 7\n"), ("y", "1 Q0 # 1 1 t\n")),
        twin("1 0 # 7\n", "1 Q0 # 1 1 t\n")
    );
}

/// The first key decides the format of a text on one line that is longer than what is looked at.
#[test]
fn long_json_is_told_from_its_start() {
    let entries: String = (0..9000).map(|n| format!(", \"doc{n}\": {n}.25")).collect();
    let run: String = (0..9000).map(|n| format!("q Q0 doc{n} 1 {n}.25 t\n")).collect();
    let json = format!("{{\"q\": {{{}}}}}", &entries[2..]);
    assert!(json.len() > 2 * HEAD);
    assert_eq!(head(json.as_bytes()).text.len(), HEAD);
    let expected = all(&read(&Join::default(), "q 0 doc77 1\n", run, 1 << 20, false).unwrap());
    for compressed in [false, true] {
        let found = read(&Join::default(), "q 0 doc77 1\n", &json, 1 << 20, compressed).unwrap();
        assert_eq!(all(&found), expected);
    }
}

/// Ranks order equal scores if they are plain, and are not guessed if they are not.
#[test]
fn ranks_of_tables_order_equal_scores() {
    let join = Join { ties: TieBreak::Rank, ..Join::default() };
    let table =
        |rows: &str| read(&join, "q 0 b 1\n", format!("qid\tdocid\trank\tscore\n{rows}"), 9, false);
    let trec = read(&join, "q 0 b 1\n", "q Q0 a 2 5 t\nq Q0 b 1 5 t\n", 9, false).unwrap();
    assert_eq!(table("q\ta\t2\t5\nq\tb\t1\t5\n").unwrap().tile_bytes(), trec.tile_bytes());
    for rows in ["q\t\"a\"\t2\t5\nq\tb\t\"1\"\t5\n", "q\ta\t\"2\"\t5\nq\t\"b\"\t1\t5\n"] {
        assert_eq!(table(rows).unwrap().tile_bytes(), trec.tile_bytes(), "quotes");
    }
    for (row, rank) in [("q\ta\t\t5\n", "''"), ("q\ta\tx\t5\n", "'x'")] {
        let error = table(row).unwrap_err();
        assert!(error.starts_with(&format!("run:2: rank {rank} is not an integer")), "{error}");
    }
}

/// Pieces of texts of every format, and of none.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\t",
    b"\n",
    b"\r\n",
    b" ",
    b"q",
    b"d1",
    b"1",
    b"0.5",
    b"-1e999",
    b"NaN",
    b"\\u00e9",
    b"\\ud800",
    b"\\",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\x1e",
    b"\x1f",
    b"qid:",
    b"# ",
    b"1:2 ",
    b"qid\tdocid\tscore\n",
    b"score,docid,qid\n",
    b"{\"q\": {",
    b"\"d1\": 1, ",
    b"\"d2\":2}",
    b"}}\n",
    b"{\"qid\": \"q\", \"docid\": \"d1\", \"score\": 1}\n",
    b"q\td1\t1\n",
    b"q\td2\t2\n",
    b"1,d1,q\n",
    b"\"1\",\"d,2\",q\n",
    b"\"q\",\"d\"\"2\",1\n",
    b"q\td\x1f1\t1\n",
    b"q Q0 d1 1 1 t\n",
    b"q 0 d1 1\n",
    b"1 qid:q 1:2 # d1\n",
    b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn any_bytes_are_read_or_refused_wherever_they_are_cut(
        text in prop::collection::vec(prop::sample::select(PIECES), 0..30)
            .prop_map(|pieces| pieces.concat()),
        format in prop::option::of(prop::sample::select(&InputFormat::ALL[..])),
        of_qrels: bool,
        size in 1usize..100,
    ) {
        let read_as =
            ReadOptions { format: format.map(|(_, format)| format), ..ReadOptions::default() };
        let join = if of_qrels {
            Join { qrels_as: read_as, keep_ties: true, ..Join::default() }
        } else {
            Join { runs_as: read_as, keep_ties: true, ..Join::default() }
        };
        let read = |size: usize, compressed: bool| {
            let matrix = if of_qrels {
                read(&join, &text, "q Q0 d1 1 2 t\nq Q0 d2 2 1 t\n", size, compressed)
            } else {
                read(&join, "q 0 d1 1\nq 0 d2 2\n", &text, size, compressed)
            };
            matrix.map(|matrix| all(&matrix))
        };
        let expected = read(1 << 20, false);
        for found in [read(size, false), read(1, true), read(size, true)] {
            prop_assert_eq!(&found, &expected, "{}", text.escape_ascii());
        }
        if let Err(error) = expected {
            prop_assert!(
                error.lines().all(|line| line.starts_with("qrels")
                    || line.starts_with("run")
                    || line.starts_with("… and ")),
                "{}",
                error
            );
        }
    }
}

/// Judgments in every format, cut at every byte, and with every character changed or gone, are read
/// or refused alike with chunks of any size.
#[test]
fn no_cut_or_changed_text_is_read_in_two_ways() {
    const CHANGES: [&str; 8] = ["", "\"", "\n", "{", "\u{1f}", "\\", ",", " "];
    let row = |query: &str, doc: &str, number: &str| {
        (query.to_owned(), doc.to_owned(), number.to_owned())
    };
    let rows = [row("q", "a", "1"), row("q", "b", "2"), row("r", "é", "1")];
    for (_, write) in QRELS {
        let text = write(&rows);
        for (at, character) in some(text.char_indices()) {
            of_qrels(&text[..at]);
            let change = CHANGES[(at * 5 + text.len()) % CHANGES.len()];
            of_qrels(&format!("{}{change}{}", &text[..at], &text[at + character.len_utf8()..]));
        }
    }
}

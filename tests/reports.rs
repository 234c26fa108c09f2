//! Reports of scores made by hand: the effects of a terminal's width and colour.

use laneval::compare::{Comparison, ComparisonOptions, Gate};
use laneval::labels::{Ids, Unmatched};
use laneval::measure::{Average, Measure};
use laneval::report::{Format, Note, ReportOptions, notes};
use laneval::scores::PerQuery;
use laneval::{Evaluator, Join, Qrels, RunScores, Scores, StatName};

const MEASURES: [&str; 4] = ["AP", "nDCG@10", "RR", "NumRet"];

/// Returns a run over two queries in which it has the same values.
fn run(name: &str, values: [f64; 4]) -> RunScores {
    let summary = |(value, measure): (f64, Measure)| match measure.definition().average {
        Average::Sum => vec![(StatName::Sum, 2.0 * value)],
        _ => vec![(StatName::Mean, value)],
    };
    let measures = MEASURES.map(|measure| measure.parse().unwrap());
    let per_query = PerQuery {
        queries: [b"q1".as_slice(), b"q2"].into_iter().collect::<Ids>(),
        values: values.map(|value| vec![value; 2]).to_vec(),
        missing: Vec::new(),
    };
    let mut run = RunScores::default();
    (run.name, run.tag) = (name.to_owned(), b"tag".to_vec());
    (run.queries, run.filled) = (2, true);
    run.stats = values.into_iter().zip(measures).map(summary).collect();
    run.per_query = Some(per_query);
    run
}

fn scores(runs: Vec<RunScores>) -> Scores {
    let mut scores = Scores::default();
    scores.measures = MEASURES.map(|measure| measure.parse().unwrap()).to_vec();
    scores.runs = runs;
    scores
}

fn table(scores: &Scores, options: ReportOptions) -> String {
    let mut text = Vec::new();
    Format::Table.write(scores, &options, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn three() -> Scores {
    scores(vec![
        run("a.run", [0.25, 0.5, 1.0, 7.0]),
        run("b.run", [0.5, 0.5, 1.0, 8.0]),
        run("c.run", [0.5, 0.5, 0.5, 9.0]),
    ])
}

#[test]
fn the_best_are_marked_and_counts_are_not() {
    let text = table(&three(), ReportOptions { precision: 2, ..ReportOptions::default() });
    let expected = "\
run      AP   nDCG@10    RR   NumRet
────────────────────────────────────
a.run  0.25      0.50  1.00*      14
b.run  0.50*     0.50  1.00*      16
c.run  0.50*     0.50  0.50       18

* best, not necessarily better.
";
    assert_eq!(text, expected);
}

#[test]
fn bold_type_has_no_width() {
    let text = table(&three(), ReportOptions { colour: true, ..ReportOptions::default() });
    assert!(!text.contains('*') && text.contains("  \x1b[1m0.5000\x1b[0m"), "{text}");
    let bare = text.replace("\x1b[1m", "").replace("\x1b[0m", "");
    let plain = table(&three(), ReportOptions::default());
    assert_eq!(bare.split_whitespace().nth(6), Some("a.run"));
    assert_eq!(bare.split_whitespace().count(), plain.split_whitespace().count());
    let widths: Vec<usize> = bare.lines().take(5).map(|line| line.chars().count()).collect();
    assert_eq!(widths, [widths[0]; 5], "{bare}");
}

#[test]
fn a_narrow_terminal_turns_the_table_and_then_breaks_it() {
    let at = |width| {
        table(
            &three(),
            ReportOptions { width: Some(width), precision: 2, ..ReportOptions::default() },
        )
    };
    assert_eq!(at(36), table(&three(), ReportOptions { precision: 2, ..ReportOptions::default() }));
    let turned = "\
measure  a.run   b.run   c.run
───────────────────────────────
AP        0.25    0.50*   0.50*
nDCG@10   0.50    0.50    0.50
RR        1.00*   1.00*   0.50
NumRet      14      16      18

* best, not necessarily better.
";
    assert_eq!(at(35), turned);
    for width in [4, 12, 17, 20, 26] {
        let text = at(width).replace("\n* best, not necessarily better.\n", "");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width.max(17), "{width}\n{text}");
        assert!(["AP", "nDCG@10", "RR", "NumRet"].iter().all(|name| text.contains(name)), "{text}");
        assert_eq!(text.matches('*').count(), 4, "{text}");
    }
}

#[test]
fn one_run_is_a_column_of_measures() {
    let one = scores(vec![run("a.run", [0.25, 0.5, 1.0, 7.0])]);
    let expected = "\
a.run: 2 queries

measure   score
───────────────
AP       0.2500
nDCG@10  0.5000
RR       1.0000
NumRet       14
";
    assert_eq!(table(&one, ReportOptions::default()), expected);
    let by_query = table(&one, ReportOptions { per_query: true, ..ReportOptions::default() });
    let expected = "
a.run, by query

query      AP  nDCG@10      RR  NumRet
──────────────────────────────────────
q1     0.2500   0.5000  1.0000       7
q2     0.2500   0.5000  1.0000       7
";
    assert!(by_query.ends_with(expected), "{by_query}");
}

#[test]
fn a_run_in_which_no_query_counts_has_no_numbers() {
    let mut empty = run("b.run", [0.0; 4]);
    empty.queries = 0;
    empty.stats = vec![Vec::new(); 4];
    empty.per_query = Some(PerQuery { values: vec![Vec::new(); 4], ..PerQuery::default() });
    let both = scores(vec![run("a.run", [0.25, 0.5, 1.0, 7.0]), empty.clone()]);
    assert!(
        table(&both, ReportOptions::default())
            .ends_with("b.run       –        –       –       –\n")
    );
    for format in
        [Format::Tsv, Format::Csv, Format::Json, Format::Jsonl, Format::Trec, Format::Table]
    {
        format
            .write(&scores(vec![empty.clone()]), &ReportOptions::default(), &mut Vec::new())
            .unwrap();
    }
}

#[test]
fn notes_say_what_was_missing_or_ignored() {
    let mut run = run("r", [0.0; 4]);
    assert_eq!(notes(&scores(vec![run.clone()])), []);
    let ids = |count: usize| (0..count).map(|id| format!("q{id}").into_bytes()).collect::<Vec<_>>();
    let unmatched = |count| Unmatched::all(ids(count).iter().map(Vec::as_slice));
    run.queries = 20;
    run.missing = unmatched(7);
    run.ignored = unmatched(2);
    let text = "r: 7 judged queries are not in the run and count as empty rankings (queries q0, \
                q1, q2, q3, q4, …); \
                2 queries of the run are not judged and were ignored (queries q0, q1)";
    assert_eq!(notes(&scores(vec![run.clone()])), [Note::Note(text.to_owned())]);
    run.missing = unmatched(10);
    assert!(
        matches!(notes(&scores(vec![run.clone()]))[..], [Note::Note(_)]),
        "half is not fewer than half"
    );
    run.filled = false;
    run.queries = 9;
    assert!(
        matches!(&notes(&scores(vec![run]))[..], [Note::Warning(text)] if text.contains("only 9 of \
            19"))
    );
}

/// Ids that are no text stay apart in JSON, and are the bytes that they are in CSV.
#[test]
fn ids_of_comparisons_that_are_no_text_stay_apart() {
    let ids = [&b"q\xfe"[..], b"q\xff"];
    let qrels = Qrels::new(ids.map(|id| (id, "d", 1.0))).unwrap();
    let runs = ["one", "two"].map(|name| (name.to_owned(), ids.map(|id| (id, "d", 1.0))));
    let matrix = Join::default().rankings(&qrels, runs).unwrap();
    let scores = Evaluator::new(["AP"]).unwrap().with_per_query(true).evaluate(&matrix).unwrap();
    let comparison = Comparison::new(&scores, &ComparisonOptions::default()).unwrap();
    let written = |format: Format| {
        let (options, mut bytes) =
            (ReportOptions { per_query: true, ..ReportOptions::default() }, Vec::new());
        format.write_comparison(&comparison, &[], &options, &mut bytes).unwrap();
        bytes
    };
    for format in [Format::Json, Format::Jsonl] {
        let text = String::from_utf8(written(format)).unwrap();
        for id in ["q\u{fffd}fe", "q\u{fffd}ff"] {
            assert!(text.contains(&format!("\"{id}\"")), "{text}");
        }
    }
    let csv = written(Format::Csv);
    assert!(ids.iter().all(|id| csv.windows(id.len()).any(|bytes| bytes == *id)));
}

/// Gates as JUnit's XML are well-formed whatever a run is called, and have what the gates say.
#[test]
fn gates_as_junit_are_well_formed() {
    let names = ["<script>&\"'", "b\u{1}\u{ffff}\n"];
    let qrels = Qrels::new([("q1", "d", 1.0), ("q2", "d", 1.0)]).unwrap();
    let run =
        |name: &str, rest: &'static str| (name.to_owned(), [("q1", "d", 1.0), ("q2", rest, 1.0)]);
    let matrix =
        Join::default().rankings(&qrels, [run(names[0], "d"), run(names[1], "x")]).unwrap();
    let scores = Evaluator::new(["AP"]).unwrap().with_per_query(true).evaluate(&matrix).unwrap();
    let comparison = Comparison::new(&scores, &ComparisonOptions::default()).unwrap();
    let gate = Gate::parse("AP drops > 0.25").unwrap();
    let gates = [(gate.clone(), comparison.gate_verdicts(&gate).unwrap())];
    let mut bytes = Vec::new();
    Format::Junit
        .write_comparison(&comparison, &gates, &ReportOptions::default(), &mut bytes)
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let element = |name: &str| document.descendants().find(|node| node.has_tag_name(name)).unwrap();
    assert_eq!(
        (element("testsuites").attribute("tests"), element("testsuite").attribute("failures")),
        (Some("1"), Some("1"))
    );
    // U+FFFF is no control, and XML has no place for it.
    assert_eq!(element("testcase").attribute("classname"), Some("b\\u{1}\u{fffd}\\n"));
    assert_eq!(element("testcase").attribute("name"), Some("AP drops > 0.25"));
    let message = element("failure").attribute("message").unwrap();
    assert!(
        message.contains(" fell by 0.5000 (-50.0 %")
            && message.ends_with("; allowed: a drop of 0.25"),
        "{message}"
    );
}

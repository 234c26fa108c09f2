//! Results of units: chunks of documents that are named by their documents, and put together before
//! they are ranked.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::random::Random;
use laneval::{
    Aggregation, DocIdMap, DocIdRule, Error, Evaluator, Input, Join, LabelMatrix, Qrels, RunInput,
    ScoreType, Summary, TieBreak, TiedValue, View,
};

const QRELS: &str = "q 0 A 2\nq 0 B 1\nq 0 C 0\nq 0 D 1\n";
/// Chunks of documents, with their scores; all results of a query are judged but for X.
const ROWS: [(&str, f64); 8] = [
    ("A#1", 9.0),
    ("X#1", 8.0),
    ("A#2", 7.0),
    ("B#4", 6.0),
    ("C#1", 6.0),
    ("B#1", 5.0),
    ("A#3", 4.0),
    ("D#9", 1.0),
];

fn text(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

/// Returns the run as TREC text.
fn run(rows: &[(&str, f64)]) -> String {
    rows.iter()
        .enumerate()
        .map(|(at, (id, score))| format!("q Q0 {id} {} {score} t\n", at + 1))
        .collect()
}

fn chunks(repeats: &str) -> Join {
    Join {
        units: DocIdRule::before("#"),
        repeats: Some(repeats.parse().unwrap()),
        ..Join::default()
    }
}

fn matrix(join: &Join, run: &str) -> LabelMatrix {
    join.files(text("qrels", QRELS), [RunInput::named("run", text("run.trec", run))]).unwrap()
}

const NAMES: [&str; 8] = ["nDCG@3", "nDCG@5", "AP", "P@3", "R@3", "R@5", "Judged@5", "RR"];

#[track_caller]
fn assert_values(join: &Join, tied: TiedValue, expected: [f64; 8]) {
    let evaluator = Evaluator::new(NAMES).unwrap().with_tied_value(tied);
    let scores = evaluator.evaluate(&matrix(join, &run(&ROWS))).unwrap();
    for (name, value) in NAMES.iter().zip(expected) {
        let found = scores.average("run", name).unwrap();
        assert!((found - value).abs() < 1e-12, "{name}: {found} and not {value}");
    }
}

/// The values were worked out in plain Python, and by laneval and pytrec_eval on the run that is
/// put together.
#[test]
fn every_way_of_repeats_has_its_values() {
    let third = 1.0 / 3.0;
    let none = TiedValue::Ranked;
    let first = [0.638787886480, 0.899901814180, 0.7, third, third, 1.0, 0.8, 1.0];
    assert_values(&chunks("max"), none, first);
    assert_values(&chunks("max"), none, first);
    assert_values(&Join { repeats: None, ..chunks("max") }, none, first);
    let ascending = Join { ties: TieBreak::DocnoAscending, ..chunks("max") };
    let two = 2.0 / 3.0;
    assert_values(
        &ascending,
        none,
        [0.798484858099, 0.922043301656, 34.0 / 45.0, two, two, 1.0, 0.8, 1.0],
    );
    let average = Join { keep_ties: true, ..chunks("max") };
    let expected = [0.718636372290, 0.910972557918, 131.0 / 180.0, 0.5, 0.5, 1.0, 0.8, 1.0];
    assert_values(&average, TiedValue::Average, expected);
    let blank = [0.638787886480, 0.762346330036, 71.0 / 120.0, third, third, two, 0.6, 1.0];
    assert_values(&chunks("blank"), none, blank);
    let sum = [0.840303028380, 0.963861471936, 13.0 / 15.0, two, two, 1.0, 0.8, 1.0];
    assert_values(&chunks("sum"), none, sum);
    let mean = [0.403030283801, 0.664144211501, 8.0 / 15.0, third, third, 1.0, 0.8, 0.5];
    assert_values(&chunks("mean"), none, mean);
    assert_values(&chunks("mean:2"), none, mean);
    let rows = |repeats| Join { rows: NonZeroU32::new(4), ..chunks(repeats) };
    let cut = 0.638787886480;
    assert_values(
        &rows("max"),
        none,
        [cut, cut, third, third, third, third, 0.0, 1.0].with_judged(two),
    );
    assert_values(
        &rows("blank"),
        none,
        [cut, cut, third, third, third, third, 0.0, 1.0].with_judged(0.5),
    );
    assert_values(
        &rows("sum"),
        none,
        [cut, cut, third, third, third, third, 0.0, 1.0].with_judged(two),
    );
}

trait WithJudged {
    fn with_judged(self, judged: f64) -> Self;
}

impl WithJudged for [f64; 8] {
    fn with_judged(mut self, judged: f64) -> Self {
        self[6] = judged;
        self
    }
}

#[test]
fn whole_rankings_with_blanks_are_those_of_haystack() {
    let scores = Evaluator::new(["nDCG", "AP", "SetR"]).unwrap();
    let scores = scores.evaluate(&matrix(&chunks("blank"), &run(&ROWS))).unwrap();
    for (name, value) in [("nDCG", 0.863103900986), ("AP", 71.0 / 120.0), ("SetR", 1.0)] {
        assert!((scores.average("run", name).unwrap() - value).abs() < 1e-12, "{name}");
    }
}

#[test]
fn judged_passages_count_for_documents_with_their_largest_grade() {
    let qrels = "q 0 A#1 2\nq 0 A#7 1\nq 0 B#2 1\nq 0 C#1 0\n";
    let run = "q Q0 B 1 3 t\nq Q0 A 2 2 t\nq Q0 C 3 1 t\n";
    let join = Join { qrels_units: DocIdRule::before("#"), ..Join::default() };
    let files =
        join.files(text("qrels", qrels), [RunInput::named("run", text("run.trec", run))]).unwrap();
    let plain = "q 0 A 2\nq 0 B 1\nq 0 C 0\n";
    let scores = Evaluator::new(["nDCG@3", "AP", "P@3"]).unwrap().evaluate(&files).unwrap();
    for (name, value) in [("nDCG@3", 0.859718699852), ("AP", 1.0), ("P@3", 2.0 / 3.0)] {
        assert!((scores.average("run", name).unwrap() - value).abs() < 1e-12, "{name}");
    }
    let read = join.qrels(text("qrels", qrels)).unwrap();
    assert_eq!(read.fingerprint(), Qrels::read(text("qrels", plain)).unwrap().fingerprint());
    let scattered = "q 0 A#7 1\np 0 A#1 1\nq 0 A#1 2\nq 0 C#1 0\nq 0 B#2 1\np 0 A#2 -1\n";
    let read = join.qrels(text("qrels", scattered)).unwrap();
    let same = Qrels::read(text("qrels", &format!("{plain}p 0 A 1\n"))).unwrap();
    assert_eq!((read.fingerprint(), read.grades()), (same.fingerprint(), same.grades()));
}

/// A row of a run: query, id, score.
type Rows = Vec<(String, String, f64)>;

/// Rows of chunks with few different scores, and the judgments of their documents.
fn generated(random: &mut Random) -> (Rows, Rows) {
    let (mut rows, mut judged) = (Vec::new(), Vec::new());
    for query in 0..3 {
        let query = format!("q{query}");
        for document in 0..6 {
            if random.below(3) > 0 {
                judged.push((query.clone(), format!("d{document}"), random.below(4) as f64 - 1.0));
            }
            for chunk in 0..random.below(4) {
                let score = random.below(7) as f64 / 4.0 - 0.25;
                rows.push((query.clone(), format!("d{document}#{chunk}"), score));
            }
        }
        judged.push((query, "never".to_owned(), 1.0));
        rows.push((rows.len().to_string(), "x#1".to_owned(), 1.0)); // a query that is not judged
    }
    (judged, rows)
}

fn shuffle<T>(rows: &mut [T], random: &mut Random) {
    for at in (1..rows.len()).rev() {
        rows.swap(at, random.below(at + 1));
    }
}

/// Returns the run that is put together in the plainest way: a list for each document.
fn put_together(rows: &Rows, repeats: Aggregation, most_rows: Option<usize>) -> Rows {
    let mut queries: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    for (query, id, score) in rows {
        queries.entry(query).or_default().push((id.rsplit_once('#').unwrap().0.to_owned(), *score));
    }
    let mut together = Vec::new();
    for (query, mut results) in queries {
        results.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| other.0.cmp(&one.0)));
        results.truncate(most_rows.unwrap_or(usize::MAX));
        let mut documents: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        results
            .into_iter()
            .for_each(|(document, score)| documents.entry(document).or_default().push(score));
        for (document, scores) in documents {
            let best = |most: Option<NonZeroU32>| {
                let most = most.map_or(usize::MAX, |most| most.get() as usize);
                &scores[..scores.len().min(most)]
            };
            let score = match repeats {
                Aggregation::Max => scores[0],
                Aggregation::Sum(most) => {
                    best(most).iter().skip(1).fold(scores[0], |sum, score| sum + score)
                }
                Aggregation::Mean(most) => {
                    let best_scores = best(most);
                    best_scores.iter().skip(1).fold(scores[0], |sum, score| sum + score)
                        / best_scores.len() as f64
                }
                other => unreachable!("{other}"),
            };
            together.push((query.to_owned(), document, score));
        }
    }
    together
}

fn trec(rows: &Rows) -> String {
    rows.iter().map(|(query, id, score)| format!("{query} Q0 {id} 1 {score:?} t\n")).collect()
}

/// Returns the labels of a matrix, row by row.
fn labels(matrix: &LabelMatrix) -> Vec<u8> {
    matrix.tile_bytes().to_vec()
}

const WAYS: [&str; 6] = ["max", "sum", "mean", "sum:2", "mean:2", "mean:1"];

#[test]
fn a_run_is_what_it_is_when_it_is_put_together_before() {
    let mut random = Random(11);
    for case in 0..300 {
        let (judged, mut rows) = generated(&mut random);
        shuffle(&mut rows, &mut random);
        let qrels =
            Qrels::new(judged.iter().map(|(query, id, grade)| (query, id, *grade))).unwrap();
        for way in WAYS {
            let most = [None, Some(1), Some(3), Some(100)][random.below(4)];
            let join =
                Join { rows: most.and_then(NonZeroU32::new), keep_ties: true, ..chunks(way) };
            let plain = put_together(&rows, way.parse().unwrap(), most.map(|most| most as usize));
            let named = |text: String| [RunInput::named("run", self::text("run", &text))];
            let expected = Join { keep_ties: true, ..Join::default() }
                .runs(&qrels, named(trec(&plain)))
                .unwrap();
            let found = join.runs(&qrels, named(trec(&rows))).unwrap();
            assert_eq!(labels(&found), labels(&expected), "{case} {way} {most:?}");
            assert_eq!(found.depths(), expected.depths());
            assert_eq!(found.tied_groups(), expected.tied_groups(), "{case} {way}");
            let in_memory = rows.iter().map(|(query, id, score)| (query, id, *score));
            let in_memory = join.rankings(&qrels, [("run".to_owned(), in_memory)]).unwrap();
            assert_eq!(labels(&in_memory), labels(&found), "{case} {way} in memory");
        }
    }
}

#[test]
fn names_of_chunks_and_the_order_of_lines_change_no_bit() {
    let mut random = Random(7);
    for case in 0..100 {
        let (judged, mut rows) = generated(&mut random);
        let qrels =
            Qrels::new(judged.iter().map(|(query, id, grade)| (query, id, *grade))).unwrap();
        let bytes = |join: &Join, rows: &Rows| {
            let run = RunInput::named("run", text("run", &trec(rows)));
            join.runs(&qrels, [run]).unwrap().to_bytes()
        };
        for way in ["max", "blank", "sum", "mean:2"] {
            let join = Join { rows: NonZeroU32::new(5), ..chunks(way) };
            let before = bytes(&join, &rows);
            shuffle(&mut rows, &mut random);
            assert_eq!(bytes(&join, &rows), before, "{case} {way}");
            let mut renamed = rows.clone();
            for (at, row) in renamed.iter_mut().enumerate() {
                row.1 = format!("{}#{}", row.1.split_once('#').unwrap().0, 1000 - at);
            }
            assert_eq!(bytes(&join, &renamed), before, "{case} {way}");
            let map = rows.iter().map(|(_, id, _)| (id, id.split_once('#').unwrap().0));
            let units = DocIdRule::Map(Arc::new(DocIdMap::from_pairs(map).unwrap()));
            let mapped = join_of(&Join { units, ..join.clone() }, &qrels, &rows);
            assert_eq!(labels(&mapped), labels(&join_of(&join, &qrels, &rows)), "{case} {way}");
        }
    }
}

fn join_of(join: &Join, qrels: &Qrels, rows: &Rows) -> LabelMatrix {
    join.runs(qrels, [RunInput::named("run", text("run", &trec(rows)))]).unwrap()
}

/// No measure of range 0 to 1 leaves it, and blanks without their places are what is left if the
/// best result stays.
#[test]
fn repeats_are_never_counted_twice() {
    let mut random = Random(3);
    let names =
        ["nDCG", "AP", "P@5", "R@5", "RR", "Judged@5", "ERR", "Bpref", "SetF", "RBP", "nDCG@3"];
    for _ in 0..100 {
        let (judged, mut rows) = generated(&mut random);
        shuffle(&mut rows, &mut random);
        let qrels =
            Qrels::new(judged.iter().map(|(query, id, grade)| (query, id, *grade))).unwrap();
        let values = |way: &str, judged_only: bool, ties: TieBreak| {
            let view = View { judged_only, ..View::default() };
            let evaluator = Evaluator::new(names).unwrap().with_view(view).with_per_query(true);
            let scores =
                evaluator.evaluate(&join_of(&Join { ties, ..chunks(way) }, &qrels, &rows)).unwrap();
            scores.rows().map(|row| row.value.to_bits()).collect::<Vec<_>>()
        };
        for way in ["max", "blank"] {
            let all = values(way, false, TieBreak::default());
            assert!(all.into_iter().map(f64::from_bits).all(|value| (0.0..=1.0).contains(&value)));
        }
        for ties in [TieBreak::DocnoAscending, TieBreak::DocnoDescending, TieBreak::Input] {
            assert_eq!(values("blank", true, ties), values("max", true, ties), "{ties}");
        }
    }
}

#[test]
fn a_run_without_repeats_is_as_it_was() {
    let (judged, mut rows) = generated(&mut Random(5));
    rows.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    rows.iter_mut().for_each(|row| row.1 = row.1.replace('#', "-"));
    let qrels = Qrels::new(judged.iter().map(|(query, id, grade)| (query, id, *grade))).unwrap();
    let without = join_of(&Join::default(), &qrels, &rows);
    for way in ["max", "blank", "sum", "mean", "mean:1", "sum:1"] {
        let join = Join { repeats: Some(way.parse().unwrap()), ..Join::default() };
        assert_eq!(labels(&join_of(&join, &qrels, &rows)), labels(&without), "{way}");
    }
    assert_eq!(without.rule().units, None);
}

#[test]
fn scores_as_f32_are_rounded_before_and_after() {
    // As f32 the first two are equal, and 2²⁴ + 1 is 2²⁴.
    let rows = [
        ("A#1", 1.0 + 1e-12),
        ("B#1", 1.0),
        ("C#1", 16_777_216.0),
        ("C#2", 1.0),
        ("D#1", 16_777_216.0),
    ];
    let codes = |score: ScoreType, ties: TieBreak| {
        let matrix = matrix(&Join { score, ties, ..chunks("sum") }, &run(&rows));
        labels(&matrix)[..4 * 16]
            .chunks(16 * 4)
            .map(|group| group[..4].to_vec())
            .collect::<Vec<_>>()
    };
    // Codes: C 3 (grade 0), B and D 4 (grade 1), A 5 (grade 2).
    assert_eq!(codes(ScoreType::F64, TieBreak::DocnoDescending)[0], [3, 4, 5, 4]);
    assert_eq!(codes(ScoreType::F32, TieBreak::DocnoDescending)[0], [4, 3, 4, 5]);
    assert_eq!(codes(ScoreType::F32, TieBreak::DocnoAscending)[0], [3, 4, 5, 4]);
}

#[test]
fn units_stand_where_their_best_result_stands() {
    let labels_of = |ties: TieBreak, rows: &str, way: &str| {
        let matrix = matrix(&Join { ties, ..chunks(way) }, rows);
        labels(&matrix)[..4].to_vec()
    };
    let rows = "q Q0 A#1 3 5 t\nq Q0 B#1 1 9 t\nq Q0 C#1 4 9 t\nq Q0 A#2 2 9 t\n";
    // B, C and A have 9: in the order of their lines, and by their ranks 1, 4, 2.
    assert_eq!(labels_of(TieBreak::Input, rows, "max"), [4, 3, 5, 0]);
    assert_eq!(labels_of(TieBreak::Rank, rows, "max"), [4, 5, 3, 0]);
    assert_eq!(labels_of(TieBreak::Rank, rows, "blank"), [4, 5, 3, 1]);
}

#[test]
fn ids_are_dropped_by_their_units() {
    let rows = run(&[("q#1", 9.0), ("A#1", 8.0), ("q#2", 7.0), ("B#1", 6.0)]);
    for (way, expected) in [("max", [5, 4, 0, 0]), ("blank", [5, 4, 0, 0])] {
        let join = Join { drop_identical_ids: true, ..chunks(way) };
        assert_eq!(labels(&matrix(&join, &rows))[..4], expected, "{way}");
    }
}

/// Returns the error of a join, as it is written.
fn error(join: &Join, run: &str) -> String {
    join.files(text("qrels", QRELS), [RunInput::named("run", text("run.trec", run))])
        .unwrap_err()
        .to_string()
}

#[test]
fn what_is_wrong_is_said() {
    let whole = "q Q0 doc4 1 3 t\nq Q0 doc17 2 2 t\nq Q0 doc5 3 1 t\n";
    let none = "run.trec: none of its ids has '#', so --doc-id before:# would change nothing: \
                'doc17', 'doc4' and others";
    assert_eq!(error(&chunks("max"), whole), none);
    let shard = Join { part: true, ..chunks("max") };
    assert!(
        shard
            .files(text("qrels", QRELS), [RunInput::named("run", text("run.trec", whole))])
            .is_ok()
    );
    let empty = "q Q0 a#1 1 3 t\nq Q0 #3 2 2 t\n";
    let nothing =
        "run.trec:2: nothing stands before '#' in '#3', where the id of a unit was expected";
    assert_eq!(error(&chunks("max"), empty), nothing);
    let twice = "run.trec:3: docno 'A' occurs again for query 'q', first on line 1";
    assert_eq!(error(&chunks("error"), &run(&ROWS)).lines().next(), Some(twice));
    let map = DocIdMap::read(text("map.tsv", "d1#1\td1\nd1#2\td1\r\n")).unwrap();
    let by_map = Join { units: DocIdRule::Map(Arc::new(map)), ..Join::default() };
    let missing = "run.trec:2: 'd8#1' is not in map.tsv, which names the unit of each result";
    assert_eq!(error(&by_map, &run(&[("d1#1", 2.0), ("d8#1", 1.0)])), missing);
    let other = DocIdMap::read(text("map.tsv", "d1#1\td9\nd1#2\td1\n\nd1#2\td9\nx\n")).unwrap_err();
    let lines = "map.tsv:4: 'd1#2' belongs to 'd9' here, but to 'd1' on line 2\nmap.tsv:5: 'x' is \
                 not an id and its unit with a tab between them";
    assert_eq!(other.to_string(), lines);
    let ties = Join { keep_ties: true, ..chunks("blank") };
    let refused = "--aggregate blank has no expected value over ties that can be computed: take \
                   --ties docno-desc, or --aggregate max";
    assert_eq!(error(&ties, &run(&ROWS)), refused);
    let input = Join { ties: TieBreak::Input, ..chunks("sum") };
    assert!(
        error(&input, &run(&ROWS))
            .starts_with("--aggregate sum makes scores for which the input has no order")
    );
    let huge = run(&[("A#1", f64::MAX), ("A#2", f64::MAX)]);
    assert_eq!(
        error(&chunks("sum"), &huge),
        "run.trec:1: the scores of 'A' add up to no finite number"
    );
    let ranks = Join { ..chunks("mean") };
    let ranked = ranks.files(
        text("qrels", QRELS),
        [RunInput::named("run", text("run.tsv", "q\tA#1\t1\nq\tA#2\t2\n"))],
    );
    let message =
        "run.tsv: has ranks and no scores that could be added: take --aggregate max or blank";
    assert_eq!(ranked.unwrap_err().to_string(), message);
    assert!(matches!(
        DocIdRule::before("").to_string().parse::<DocIdRule>(),
        Err(Error::Unanswerable(_))
    ));
}

#[test]
fn notes_count_what_may_mislead() {
    let notices = |join: &Join, rows: &str| {
        let scores = Evaluator::new(["AP"]).unwrap().evaluate(&matrix(join, rows)).unwrap();
        scores.runs[0].notices.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        notices(&chunks("blank"), &run(&ROWS)),
        ["3 of 8 results repeat a unit (--aggregate blank)"]
    );
    assert_eq!(notices(&chunks("max"), &run(&ROWS)), [""; 0]);
    let twice = run(&[("A#1#2", 3.0), ("B#1", 2.0), ("B#2#3", 1.0)]);
    let note = "2 ids have '#' twice: before:# takes what is before the last, before-first:# \
                before the first";
    assert_eq!(notices(&chunks("max"), &twice), [note]);
    let negative = run(&[("A#1", 3.0), ("A#2", -1.0)]);
    assert!(notices(&chunks("sum"), &negative)[0].starts_with("1 result has a score below 0"));
    assert_eq!(notices(&chunks("mean"), &negative), [""; 0]);
}

#[test]
fn rules_cut_where_they_say() {
    let rows = run(&[("A_p_p1", 3.0), ("B_p2", 2.0), ("A", 1.0), ("C_p", 0.5)]);
    let found =
        |units: DocIdRule| labels(&matrix(&Join { units, ..Join::default() }, &rows))[..4].to_vec();
    assert_eq!(found(DocIdRule::before_first("_p")), [5, 4, 3, 0]);
    // A_p is a unit of its own, that nobody judged.
    assert_eq!(found(DocIdRule::before("_p")), [1, 4, 5, 3]);
}

#[test]
fn columns_name_units() {
    let table = "query_id\tdoc_id\tsource_id\tscore\nq\t1\tA\t3\nq\t2\tB\t2\nq\t3\tA\t1\n";
    let join = Join { units: DocIdRule::column("source_id"), ..Join::default() };
    let found =
        join.files(text("qrels", QRELS), [RunInput::named("run", text("run.tsv", table))]).unwrap();
    assert_eq!(labels(&found)[..4], [5, 4, 0, 0]);
    let records = "{\"query_id\": \"q\", \"id\": 1, \"ref_doc_id\": \"A\", \"score\": \
                   3}\n{\"query_id\": \"q\", \"id\": 2, \"ref_doc_id\": \"B\", \"score\": 2}\n";
    let join = Join { units: DocIdRule::column("ref_doc_id"), ..Join::default() };
    let found = join
        .files(text("qrels", QRELS), [RunInput::named("run", text("run.jsonl", records))])
        .unwrap();
    assert_eq!(labels(&found)[..4], [5, 4, 0, 0]);
    let refused = |run: &str| {
        let files =
            join.files(text("qrels", QRELS), [RunInput::named("run", text("run.json", run))]);
        files.unwrap_err().to_string()
    };
    let objects = refused("{\"q\": {\"A\": 3}}");
    assert!(
        objects.starts_with("run.json: is JSON")
            && objects.ends_with("no column 'ref_doc_id' of units"),
        "{objects}"
    );
    assert!(refused("q Q0 A 1 3 t\n").contains("ref_doc_id"));
    let missing = Join { units: DocIdRule::column("parent"), ..Join::default() };
    let refused =
        missing.files(text("qrels", QRELS), [RunInput::named("run", text("run.tsv", table))]);
    assert!(refused.unwrap_err().to_string().contains("parent"));
}

#[test]
fn the_rule_is_in_files_and_decides_what_merges() {
    let first = matrix(&chunks("max"), &run(&ROWS));
    let read = LabelMatrix::from_bytes(&first.to_bytes()).unwrap();
    assert_eq!(read.rule(), first.rule());
    assert_eq!(read.rule().units.unwrap().to_string(), "--doc-id before:# --aggregate max");
    assert_eq!(read.to_bytes(), first.to_bytes());
    let evaluator = Evaluator::new(["AP"]).unwrap();
    let summary = |way: &str| evaluator.summary(&matrix(&chunks(way), &run(&ROWS))).unwrap();
    let mut one = Summary::from_bytes(&summary("blank").to_bytes()).unwrap();
    assert_eq!(one, summary("blank"));
    #[cfg(feature = "serde")]
    assert_eq!(Summary::from_json(&one.to_json()).unwrap(), one);
    let error = one.merge(&summary("sum")).unwrap_err().to_string();
    assert!(error.contains("--aggregate"), "{error}");
    assert!(summary("max").merge(&plain_summary(&evaluator)).is_err());
}

fn plain_summary(evaluator: &Evaluator) -> Summary {
    evaluator.summary(&matrix(&Join::default(), &run(&ROWS))).unwrap()
}

#[test]
fn a_million_results_of_one_unit_are_one_result() {
    let count = 1_000_000;
    let rows: String = (0..count).map(|at| format!("q Q0 A#{at} 1 1 t\n")).collect();
    for way in ["max", "blank", "sum", "mean"] {
        let depth = if way == "blank" { count } else { 1 };
        let found = matrix(&chunks(way), &rows);
        assert_eq!(found.depths(), [depth], "{way}");
        assert_eq!(labels(&found).iter().filter(|&&label| label == 5).count(), 1);
    }
}

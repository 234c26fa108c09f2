//! Measures of passages, against sets of positions, worked cases, and Chroma's own numbers.

use std::collections::BTreeSet;

use laneval::columns::{QrelsColumns, RunColumns};
use laneval::spans::{GoldSpan, GoldSpans, Span};
use laneval::{
    EngineChoice, Evaluator, FacetKind, Input, Join, LabelMatrix, Qrels, QuerySet, RunInput,
    TieBreak, TiedValue, View,
};
use proptest::prelude::*;

use crate::cases::cases;
use crate::variants::every_grouped;

/// A passage: document, start, end, and grade or score.
type Passage = (&'static str, u64, u64, f64);

fn by_span() -> Join {
    Join { judged_by: Some(FacetKind::Span), ..Join::default() }
}

fn text(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

/// Passages of the query q as a table.
fn table(passages: &[Passage], number: &str) -> String {
    let row = |(doc, start, end, value): &Passage| format!("q,{doc},{start},{end},{value}\n");
    format!("query,doc,start,end,{number}\n") + &passages.iter().map(row).collect::<String>()
}

fn joined(gold: &[Passage], results: &[Passage]) -> LabelMatrix {
    let run = RunInput::named("run", text("run", &table(results, "score")));
    by_span().files(text("gold", &table(gold, "grade")), [run]).unwrap()
}

fn values(matrix: &LabelMatrix, measures: &[&str]) -> Vec<f64> {
    let scores = Evaluator::new(measures.iter().copied()).unwrap().evaluate(matrix).unwrap();
    measures.iter().map(|measure| scores.average("run", measure).unwrap()).collect()
}

const GOLD: [Passage; 3] = [("d1", 10, 30, 1.0), ("d1", 50, 60, 2.0), ("d2", 0, 20, 1.0)];
const RESULTS: [Passage; 5] = [
    ("d1", 0, 20, 9.0),
    ("d1", 15, 40, 8.0),
    ("d3", 0, 50, 7.0),
    ("d2", 0, 100, 6.0),
    ("d1", 20, 60, 5.0),
];

#[test]
fn sums_of_positions_have_the_values_that_were_worked_out() {
    let matrix = joined(&GOLD, &RESULTS);
    let columns =
        ["SpanR", "SpanP", "SpanP(overlap=each)", "SpanIoU", "SpanIoU(overlap=each)", "SpanF"];
    let nothing = [0.0; 6];
    for (cut, expected) in [
        ("@1", [1.0 / 5.0, 0.5, 0.5, 1.0 / 6.0, 1.0 / 6.0, 2.0 / 7.0]),
        ("@2", [2.0 / 5.0, 0.5, 4.0 / 9.0, 2.0 / 7.0, 4.0 / 15.0, 4.0 / 9.0]),
        ("@3", [2.0 / 5.0, 2.0 / 9.0, 4.0 / 19.0, 1.0 / 6.0, 4.0 / 25.0, 2.0 / 7.0]),
        ("@4", [4.0 / 5.0, 4.0 / 19.0, 8.0 / 39.0, 1.0 / 5.0, 8.0 / 41.0, 1.0 / 3.0]),
        ("@5", [1.0, 5.0 / 21.0, 10.0 / 47.0, 5.0 / 21.0, 10.0 / 47.0, 5.0 / 13.0]),
        ("", [1.0, 5.0 / 21.0, 10.0 / 47.0, 5.0 / 21.0, 10.0 / 47.0, 5.0 / 13.0]),
        ("budget=19", nothing),
        ("rel=2", [1.0, 1.0 / 21.0, 2.0 / 47.0, 1.0 / 21.0, 2.0 / 47.0, 1.0 / 11.0]),
        ("rel=3", nothing),
    ] {
        let named = |column: &str| match (cut.contains('='), column.strip_suffix(')')) {
            (false, _) => format!("{column}{cut}"),
            (true, Some(open)) => format!("{open},{cut})"),
            (true, None) => format!("{column}({cut})"),
        };
        let names = columns.map(named);
        let found = values(&matrix, &names.each_ref().map(|name| &name[..]));
        for ((name, found), expected) in names.iter().zip(found).zip(expected) {
            assert!((found - expected).abs() <= 1e-15, "{name}: {found} and not {expected}");
        }
    }
    for (budget, cut) in [(45, 2), (44, 1), (95, 3), (20, 1), (94, 2), (235, 5), (234, 4)] {
        let names = [format!("SpanIoU(budget={budget})"), format!("SpanIoU@{cut}")];
        let [with, at] = values(&matrix, &[&names[0], &names[1]])[..] else { unreachable!() };
        assert_eq!(with.to_bits(), at.to_bits(), "{names:?}");
    }
    // β² of 4: 5·50 / (4·50 + 210).
    assert_eq!(values(&matrix, &["SpanF(beta=2)"]), [250.0 / 410.0]);
    assert_eq!(values(&matrix, &["NumRet", "NumQ"]), [5.0, 1.0]);
}

/// What `base_evaluation.py` of Chroma computes for one document, and where it is odd: gold that
/// overlaps counts twice there (3/4 for 1), and so does a chunk that is retrieved twice.
#[test]
fn positions_that_come_again_count_as_chroma_counts_them_if_asked() {
    let in_d1 = |passages: &[Passage]| -> Vec<Passage> {
        passages.iter().filter(|passage| passage.0 == "d1").copied().collect()
    };
    let matrix = joined(&in_d1(&GOLD), &in_d1(&RESULTS));
    let thirds = |numbers: [[f64; 3]; 5]| numbers.concat();
    let names = |name: &str| [1, 2, 3].map(|cut| format!("{name}@{cut}"));
    let all = ["SpanR", "SpanP(overlap=each)", "SpanP", "SpanIoU(overlap=each)", "SpanIoU"]
        .map(names)
        .concat();
    let found = values(&matrix, &all.iter().map(|name| &name[..]).collect::<Vec<_>>());
    let expected = thirds([
        [1.0 / 3.0, 2.0 / 3.0, 1.0],
        [0.5, 4.0 / 9.0, 6.0 / 17.0],
        [0.5, 0.5, 0.5],
        [0.25, 4.0 / 11.0, 6.0 / 17.0],
        [0.25, 2.0 / 5.0, 0.5],
    ]);
    for ((name, found), expected) in all.iter().zip(found).zip(expected) {
        assert!((found - expected).abs() <= 1e-15, "{name}: {found} and not {expected}");
    }
    let overlapping = joined(&[("d", 10, 30, 1.0), ("d", 20, 40, 1.0)], &[("d", 0, 60, 1.0)]);
    assert_eq!(values(&overlapping, &["SpanR", "SpanP", "SpanIoU"]), [1.0, 0.5, 0.5]);
    let twice = joined(&[("d", 10, 30, 1.0)], &[("d", 10, 30, 2.0), ("d", 10, 30, 1.0)]);
    let names = ["SpanR", "SpanP", "SpanIoU", "SpanP(overlap=each)", "SpanIoU(overlap=each)"];
    assert_eq!(values(&twice, &names), [1.0, 1.0, 1.0, 0.5, 0.5]);
}

fn places(most: usize) -> impl Strategy<Value = Vec<(u8, u64, u64, u8)>> {
    let one = (0..3u8, 0..55u64, 1..20u64, 0..4u8);
    let one =
        one.prop_map(|(doc, start, length, grade)| (doc, start, (start + length).min(60), grade));
    prop::collection::vec(one, 1..most)
}

const DOCS: [&str; 3] = ["d0", "d1", "d2"];

fn passages(rows: &[(u8, u64, u64, u8)]) -> Vec<Passage> {
    rows.iter()
        .map(|&(doc, start, end, grade)| (DOCS[doc as usize], start, end, f64::from(grade)))
        .collect()
}

/// Results in their order: the scores descend.
fn ranked(rows: &[(u8, u64, u64, u8)]) -> Vec<Passage> {
    let scored = passages(rows).into_iter().zip((0..rows.len()).rev());
    scored.map(|((doc, start, end, _), score)| (doc, start, end, score as f64)).collect()
}

fn positions(passage: &Passage) -> BTreeSet<(&'static str, u64)> {
    (passage.1..passage.2).map(|at| (passage.0, at)).collect()
}

/// Returns the passage cut in two at a position, if it has one inside.
fn cut_in_two(all: &[Passage], which: usize, at: u64) -> Vec<Passage> {
    let (doc, start, end, value) = all[which % all.len()];
    let middle = start + 1 + at % (end - start);
    let mut cut = all.to_vec();
    if middle < end {
        cut.splice(
            which % all.len()..=which % all.len(),
            [(doc, start, middle, value), (doc, middle, end, value)],
        );
    }
    cut
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// The oracle is sets of positions.
    #[test]
    fn passages_have_the_values_of_sets_of_positions(
        gold in places(7),
        results in places(10),
        rel in 0..4u8,
        cut in 1..12usize,
        budget in 0..150u64,
    ) {
        let (gold, results) = (passages(&gold), ranked(&results));
        let wanted: BTreeSet<_> =
            gold.iter().filter(|passage| passage.3 >= f64::from(rel)).flat_map(positions).collect();
        let (mut length, mut count) = (0, 0);
        for passage in results.iter().take(cut) {
            length += passage.2 - passage.1;
            if length > budget {
                break;
            }
            count += 1;
        }
        let found: BTreeSet<_> = results[..count].iter().flat_map(positions).collect();
        let share =
            |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let both = found.intersection(&wanted).count();
        let expected = [
            share(both, wanted.len()),
            share(both, found.len()),
            share(both, found.union(&wanted).count()),
            share(2 * both, found.len() + wanted.len()),
        ];
        let names = ["SpanR", "SpanP", "SpanIoU", "SpanF"]
            .map(|name| format!("{name}(rel={rel},budget={budget})@{cut}"));
        let matrix = joined(&gold, &results);
        prop_assert_eq!(values(&matrix, &names.each_ref().map(|name| &name[..])), expected);
    }

    /// A result or a gold passage that is cut in two changes no value of the whole ranking.
    #[test]
    fn cuts_change_no_value(
        gold in places(7),
        results in places(10),
        which in 0..20usize,
        at in 0..30u64,
    ) {
        let (gold, results) = (passages(&gold), ranked(&results));
        let names = ["SpanR", "SpanP", "SpanIoU", "SpanF", "SpanR(rel=2)", "SpanIoU(overlap=each)"];
        let expected = values(&joined(&gold, &results), &names);
        prop_assert_eq!(
            &values(&joined(&cut_in_two(&gold, which, at), &results), &names),
            &expected
        );
        prop_assert_eq!(
            &values(&joined(&gold, &cut_in_two(&results, which, at)), &names),
            &expected
        );
    }

    /// Every measure has the bits of its plain function, from memory and from a file, and the order
    /// of lines changes nothing.
    #[test]
    fn the_engine_has_the_bits_of_the_reference(
        gold in places(7),
        results in places(40),
        depth in 0..9u32,
    ) {
        let (gold, results) = (passages(&gold), passages(&results));
        let matrix = joined(&gold, &results);
        let view = View { depth: Some(depth).filter(|&depth| depth > 0), judged_only: false };
        let evaluator =
            Evaluator::from_measures(every_grouped(FacetKind::Span))
                .with_view(view)
                .with_per_query(true);
        let bits = |matrix: &LabelMatrix, engine: EngineChoice| -> Vec<u64> {
            let scores = evaluator.clone().with_engine(engine).evaluate(matrix).unwrap();
            scores.runs[0]
                .per_query
                .as_ref()
                .unwrap()
                .values
                .iter()
                .flatten()
                .map(|value| value.to_bits())
                .collect()
        };
        let expected = bits(&matrix, EngineChoice::Cpu);
        prop_assert_eq!(&bits(&matrix, EngineChoice::Reference), &expected);
        let bytes = matrix.to_bytes();
        let read = LabelMatrix::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&bits(&read, EngineChoice::Cpu), &expected);
        prop_assert!(read.to_bytes() == bytes);
        let backwards = |all: &[Passage]| all.iter().rev().copied().collect::<Vec<_>>();
        let other = joined(&backwards(&gold), &backwards(&results));
        prop_assert!(other.to_bytes() == bytes);
        prop_assert!(of_columns(&gold, &results).to_bytes() == bytes);
    }
}

/// Returns the same from columns in memory, in batches.
fn of_columns(gold: &[Passage], results: &[Passage]) -> LabelMatrix {
    struct Columns(Vec<&'static str>, Vec<u32>, Vec<i64>, Vec<f64>);
    let columns = |all: &[Passage]| {
        Columns(
            all.iter().map(|passage| passage.0).collect(),
            all.iter().map(|passage| passage.1 as u32).collect(),
            all.iter().map(|passage| passage.2 as i64).collect(),
            all.iter().map(|passage| passage.3).collect(),
        )
    };
    let (gold, results) = (columns(gold), results.chunks(3).map(columns).collect::<Vec<_>>());
    let queries = vec!["q"; 64];
    let judged =
        QrelsColumns::new(&queries[..gold.0.len()], &gold.0, &gold.3).with_spans(&gold.1, &gold.2);
    let qrels = by_span().judgments(&[judged]).unwrap();
    fn batch<'a>(columns: &'a Columns, queries: &'a [&'a str]) -> RunColumns<'a> {
        RunColumns::scored(&queries[..columns.0.len()], &columns.0, &columns.3)
            .with_spans(&columns.1, &columns.2)
    }
    let batches: Vec<RunColumns<'_>> = results.iter().map(|chunk| batch(chunk, &queries)).collect();
    by_span().columns(&qrels, &[("run", &batches)]).unwrap()
}

#[test]
fn equal_scores_are_ordered_by_document_then_start_then_end() {
    let gold = [("a", 0, 1, 1.0), ("b", 0, 1, 2.0), ("b", 5, 6, 3.0), ("b", 6, 7, 4.0)];
    let tied = [("a", 0, 1, 1.0), ("b", 5, 7, 1.0), ("b", 5, 6, 1.0), ("b", 0, 1, 1.0)];
    let matrix = joined(&gold, &tied);
    // Documents descend as everywhere; in one of them starts and ends ascend: b 0–1, b 5–6, b 5–7,
    // a.
    let found =
        values(&matrix, &["SpanR(rel=2)@1", "SpanP(rel=4)@2", "SpanP(rel=4)@3", "SpanR(rel=4)@3"]);
    assert_eq!(found, [1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0]);
}

#[test]
fn queries_and_runs_are_as_everywhere() {
    let gold = "qid\tdocid\tbegin\tstop\trel\nq2\td\t0\t10\t1\nq1\td\t0\t10\t1\nq3\td\t0\t10\t1\n";
    let run = "{\"query\": \"q1\", \"doc\": \"d\", \"start\": 5, \"length\": 10, \"rank\": 1}\n\
               {\"query\": \"q9\", \"doc\": \"d\", \"start\": 0, \"length\": 10, \"rank\": 1}\n\
               {\"query\": \"q2\", \"doc\": \"d\", \"start\": 20, \"length\": 10, \"rank\": 1}\n\
               {\"query\": \"q2\", \"doc\": \"d\", \"start\": 0, \"length\": 10, \"rank\": 2}\n";
    let matrix =
        by_span().files(text("gold", gold), [RunInput::named("run", text("run", run))]).unwrap();
    assert_eq!(matrix.depths(), [1, 2, 0]);
    assert_eq!((matrix.runs()[0].results, matrix.runs()[0].ignored.count), (4, 1));
    let scores = |queries: QuerySet| {
        let evaluator = Evaluator::new(["SpanR@1", "SpanR"]).unwrap().with_queries(queries);
        let scores = evaluator.evaluate(&matrix).unwrap();
        ["SpanR@1", "SpanR"].map(|measure| scores.average("run", measure).unwrap())
    };
    assert_eq!(scores(QuerySet::Judged), [0.5 / 3.0, 0.5]);
    assert_eq!(scores(QuerySet::Common), [0.25, 0.75]);
    let cut = Join { depth: 1.try_into().ok(), ..by_span() };
    let cut = cut.files(text("gold", gold), [RunInput::named("run", text("run", run))]).unwrap();
    assert_eq!(cut.depths(), [1, 1, 0]);
    assert_eq!(values(&cut, &["SpanR"]), [0.5 / 3.0]);
}

fn refused(join: &Join, gold: &str, run: &str) -> String {
    join.files(text("gold.jsonl", gold), [RunInput::named("run", text("res.jsonl", run))])
        .unwrap_err()
        .to_string()
}

#[test]
fn what_has_no_meaning_for_passages_is_refused() {
    let matrix = joined(&GOLD, &RESULTS);
    let message = |evaluator: Evaluator| evaluator.evaluate(&matrix).unwrap_err().to_string();
    assert_eq!(
        message(Evaluator::new(["SpanR@5", "nDCG@10"]).unwrap()),
        "SpanR@5 needs judgments by span, and nDCG@10 judgments of chunks: `laneval convert \
         --qrels --chunks` makes those"
    );
    for measure in
        ["nDCG@10", "NumRel", "Judged@5", "P@1", "NNR@1", "AP(judges=mean)", "alpha_nDCG@5"]
    {
        let error = message(Evaluator::new([measure]).unwrap());
        assert!(error.contains(measure) && error.contains("by span"), "{error}");
    }
    let view = View { depth: None, judged_only: true };
    assert!(message(Evaluator::new(["SpanR"]).unwrap().with_view(view)).contains("leave -J"));
    assert!(
        message(Evaluator::new(["SpanR"]).unwrap().with_tied_value(TiedValue::Average))
            .contains("equal scores")
    );

    let (gold, run) = (table(&GOLD, "grade"), table(&RESULTS, "score"));
    let other_ties = Join { ties: TieBreak::DocnoAscending, ..by_span() };
    assert!(refused(&other_ties, &gold, &run).contains("take no other --ties"));
    assert!(
        refused(&Join { keep_ties: true, ..by_span() }, &gold, &run)
            .contains("take no other --ties")
    );
    let rows = Join { rows: 1.try_into().ok(), ..by_span() };
    assert!(
        refused(&rows, &gold, &run).contains("leave --doc-id, --aggregate and --max-chunks out")
    );

    let qrels = by_span().qrels(text("gold", &gold)).unwrap();
    assert_eq!(qrels.judged_by(), Some(FacetKind::Span));
    let error = by_span().rankings(&qrels, [("run".to_owned(), [("q", "d", 1.0)])]).unwrap_err();
    assert!(error.to_string().contains("have no start and end"), "{error}");
    let error = by_span()
        .columns(&qrels, &[("run", &[RunColumns::scored(&["q"], &["d"], &[1.0])])])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "run: batch 1: starts and ends are missing, and judgments are read by span"
    );
    let error =
        Evaluator::new(["SpanR"]).unwrap().run_stream(&by_span(), &qrels, "run").err().unwrap();
    assert!(error.to_string().contains("need the whole run"), "{error}");
    assert!(Qrels::by_facet([("q", "g", "d", 1.0)], FacetKind::Span).is_err());
}

#[test]
fn what_is_wrong_with_passages_is_said_with_its_line() {
    let gold = table(&GOLD, "grade");
    let record = |fields: &str| format!("{{\"query\": \"q\", \"doc\": \"d1\", {fields}}}\n");
    let fine = record("\"start\": 0, \"end\": 5, \"score\": 1");
    for (run, message) in [
        (
            "{\"query\": \"q\", \"doc\": \"d\", \"score\": 1}".to_owned(),
            "res.jsonl:1: no start is among 'query', 'doc', 'score': its name may be start, \
             start_index, start_char_idx, start_offset, begin; `--columns \
             query=…,doc=…,start=NAME,score=…` gives others",
        ),
        (
            fine.repeat(3) + &record("\"start\": 30, \"end\": 10, \"score\": 1"),
            "res.jsonl:4: the span of 'd1' ends at 10, before its start at 30",
        ),
        (
            fine.clone() + &record("\"start\": 0, \"end\": 4294967296, \"score\": 1"),
            "res.jsonl:2: the span of 'd1' has 4294967296 positions, and a result at most \
             4294967295",
        ),
        (
            fine.clone() + &record("\"start\": 0, \"end\": 9223372036854775808, \"score\": 1"),
            "res.jsonl:2: the span of 'd1' ends at 9223372036854775808, and the last position is \
             9223372036854775807",
        ),
        (fine.clone() + &record("\"start\": 0, \"end\": 5"), "res.jsonl:2: the score is missing"),
        (
            record("\"start\": 0, \"end\": 5, \"score\": \"x\""),
            "res.jsonl:1: score 'x' is not a number",
        ),
        (fine.replace("\"q\"", "\"other\""), "res.jsonl: no query of gold.jsonl is in it"),
        (String::new(), "res.jsonl: there is no row in it"),
    ] {
        let error = refused(&by_span(), &gold, &run);
        assert!(error.contains(message), "{run}\n{error}");
    }
    let far = [("a", 0, i64::MAX as u64, 1.0), ("b", 0, i64::MAX as u64, 1.0), ("c", 0, 3, 1.0)];
    let error = refused(&by_span(), &table(&far, "grade"), &fine);
    assert_eq!(error, "gold.jsonl: the passages of query 'q' have 2⁶⁴ positions or more");
    let run = [("a", 1u64 << 62, (1 << 62) + 10, 2.0), ("b", (1 << 62) - 5, 1 << 62, 1.0)];
    let matrix = joined(&far[..2], &run);
    let found = values(&matrix, &["SpanP", "SpanR", "SpanIoU"]);
    let all = 2.0 * i64::MAX as f64;
    assert_eq!(found, [1.0, 15.0 / all, 15.0 / all]);
    let many: Vec<Passage> = (0..300).map(|at| ("d", at, at + 1, at as f64)).collect();
    let error = refused(&by_span(), &table(&many, "grade"), &fine);
    assert_eq!(error, "gold.jsonl: 300 distinct grades of passages, and there may be 253");
}

/// A record may lack what may be missing, and the next one have it.
#[test]
fn a_grade_counts_in_whichever_record_it_stands() {
    let gold = "{\"query\": \"q\", \"doc\": \"d\", \"start\": 0, \"end\": \
                5}\n{\"query\": \"q\", \"doc\": \"d\", \"start\": 5, \"end\": 9, \"grade\": 2}\n";
    let run = table(&[("d", 0, 9, 1.0)], "score");
    let matrix =
        by_span().files(text("gold", gold), [RunInput::named("run", text("run", &run))]).unwrap();
    assert_eq!(values(&matrix, &["SpanP(rel=2)", "SpanP"]), [4.0 / 9.0, 1.0]);
}

#[test]
fn judged_passages_are_taken_as_they_are() {
    let gold_span = |&(doc, start, end, grade): &Passage| GoldSpan {
        query: b"q".to_vec(),
        doc: doc.into(),
        span: Span::new(start, end).unwrap(),
        grade,
    };
    let qrels = Qrels::by_span(&GoldSpans::new("gold", GOLD.iter().map(gold_span))).unwrap();
    let run = RunInput::named("run", text("run", &table(&RESULTS, "score")));
    let matrix = by_span().runs(&qrels, [run]).unwrap();
    assert!(matrix.to_bytes() == joined(&GOLD, &RESULTS).to_bytes());
    let mut all = Vec::new();
    qrels.each_judgment(|query, positions, doc, grade| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        all.push((text(query), positions.map(text), text(doc), grade));
    });
    assert_eq!(all[1], ("q".to_owned(), ["50".to_owned(), "60".to_owned()], "d1".to_owned(), 2.0));
}

//! Judgments of chunks from passages by their positions, against sets of positions, and worked
//! cases.

use std::collections::{BTreeMap, BTreeSet};

use laneval::spans::{ChunkRule, Chunks, DocumentChunk, GoldSpan, GoldSpans, Span};
use laneval::{Error, Evaluator, FacetKind, Input, Join, Qrels};
use proptest::prelude::*;

use crate::cases::cases;

fn span(start: u64, end: u64) -> Span {
    Span::new(start, end).unwrap()
}

/// Passages of one query: document, start, end, grade.
fn gold(spans: &[(&str, u64, u64, f64)]) -> GoldSpans {
    let gold_span = |&(doc, start, end, grade): &(&str, u64, u64, f64)| GoldSpan {
        query: b"q".to_vec(),
        doc: doc.into(),
        span: span(start, end),
        grade,
    };
    GoldSpans::new("gold.jsonl", spans.iter().map(gold_span))
}

/// Chunks c0, c1, … in the order in which they are given.
fn chunks(spans: &[(&str, u64, u64)]) -> Chunks {
    let chunk = |(number, &(doc, start, end)): (usize, &(&str, u64, u64))| DocumentChunk {
        id: format!("c{number}").into(),
        doc: doc.into(),
        span: span(start, end),
    };
    Chunks::new("chunks.csv", spans.iter().enumerate().map(chunk)).unwrap()
}

/// Chunks of equal length of a document.
fn cut(doc: &str, by: u64, end: u64) -> Vec<(&str, u64, u64)> {
    (0..end).step_by(by as usize).map(|start| (doc, start, start + by)).collect()
}

const GOLD: [(&str, u64, u64, f64); 3] =
    [("d1", 10, 30, 1.0), ("d1", 50, 60, 2.0), ("d2", 0, 20, 1.0)];

fn grades(gold: &GoldSpans, chunks: &Chunks, share: f64) -> String {
    let judgments = gold.chunk_judgments(chunks, ChunkRule::new(share).unwrap()).unwrap();
    let row = |row: &laneval::spans::ChunkJudgment<'_>| {
        format!("{} {}", String::from_utf8_lossy(row.chunk), row.grade)
    };
    judgments.rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

#[test]
fn chunks_of_any_size_have_the_grades_of_passages() {
    let gold = gold(&GOLD);
    let twenty = [cut("d1", 20, 60), vec![("d2", 0, 25)]].concat();
    let odd = [("d1", 5, 20), ("d1", 20, 55), ("d1", 55, 60), ("d2", 0, 9), ("d2", 9, 30)];
    for (spans, half, whole) in [
        (cut("d1", 10, 60), "c1 1, c2 1, c5 2", "c1 1, c2 1, c5 2"),
        (twenty.clone(), "c0 1, c1 1, c2 2, c3 1", "c2 2, c3 1"),
        (vec![("d1", 0, 60), ("d2", 0, 100)], "c0 2, c1 1", "c0 2, c1 1"),
        (odd.to_vec(), "c0 1, c1 2, c2 2, c3 1, c4 1", "c2 2, c3 1"),
    ] {
        assert_eq!(grades(&gold, &chunks(&spans), 0.5), half, "{spans:?}");
        assert_eq!(grades(&gold, &chunks(&spans), 1.0), whole, "{spans:?}");
    }
    let twenty_chunks = chunks(&twenty);
    let rule = ChunkRule::new(0.5).unwrap();
    let judged = gold.chunk_judgments(&twenty_chunks, rule).unwrap();
    assert_eq!(
        (&judged.note[..], judged.lost),
        ("gold.jsonl: 3 spans became 4 chunks in 1 query", 0)
    );
    let lost = gold.chunk_judgments(&twenty_chunks, ChunkRule::new(1.0).unwrap()).unwrap();
    assert_eq!(
        lost.note,
        "gold.jsonl: 3 spans became 2 chunks in 1 query; no chunk shares 1 of 1 span"
    );

    let by_span = gold.chunk_judgments(&twenty_chunks, rule.by_span(true)).unwrap();
    let text = |number: u32| number.to_string();
    let rows = by_span.rows.iter().map(|row| {
        let chunk = String::from_utf8(row.chunk.to_vec()).unwrap();
        (row.query, text(row.span.unwrap()), chunk, row.grade)
    });
    let by_span = Qrels::by_facet(rows, FacetKind::Subtopic).unwrap();
    let plain = judged.rows.iter().map(|row| (row.query, row.chunk, row.grade));
    let run = ["c0", "c1", "c9", "c3", "c2"].into_iter().zip([5.0, 4.0, 3.0, 2.0, 1.0]);
    let run: Vec<_> = run.map(|(chunk, score)| ("q", chunk, score)).collect();
    let scores = |qrels: &Qrels, measures: &[&str]| {
        let matrix = Join::default().rankings(qrels, [("run".to_owned(), run.clone())]).unwrap();
        let scores = Evaluator::new(measures.iter().copied()).unwrap().evaluate(&matrix).unwrap();
        measures.iter().map(|measure| scores.average("run", measure).unwrap()).collect::<Vec<_>>()
    };
    let found =
        scores(&by_span, &["StRecall@1", "StRecall@2", "StRecall@4", "StRecall@5", "alpha_nDCG@5"]);
    assert_eq!(found[..4], [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    assert!((found[4] - 0.909_100_841_187).abs() < 1e-12, "{}", found[4]);
    let found = scores(&Qrels::new(plain).unwrap(), &["nDCG@5", "AP", "R@2"]);
    assert!((found[0] - 0.796_076_735_613).abs() < 1e-12, "{}", found[0]);
    assert_eq!(found[1..], [71.0 / 80.0, 0.5]);
}

#[test]
fn a_chunking_costs_precision_where_recall_is_full() {
    let facts = gold(&GOLD[..2]).chunking_facts(&chunks(&cut("d1", 20, 100))).unwrap();
    assert_eq!((facts.omega, facts.covered, facts.with_gold), (0.5, 1.0, 3.0));
    assert_eq!((facts.chunks, facts.documents, facts.queries), (5, 1, 1));
    assert_eq!(facts.lengths, (20, 20, 20, 20.0));
    // One position more than a chunk.
    let facts = gold(&[("d", 0, 21, 1.0)]).chunking_facts(&chunks(&cut("d", 20, 100))).unwrap();
    assert_eq!(facts.omega, 21.0 / 40.0);
    // Chunks that only touch gold do not count, and gold that overlaps counts once.
    let overlapping = gold(&[("d", 20, 40, 1.0), ("d", 30, 40, 2.0), ("d", 0, 20, 0.0)]);
    let facts = overlapping.chunking_facts(&chunks(&cut("d", 20, 100))).unwrap();
    assert_eq!((facts.omega, facts.with_gold), (1.0, 1.0));
    let outside = gold(&[("d", 10, 30, 1.0), ("e", 0, 20, 1.0)]);
    let facts = outside.chunking_facts(&chunks(&[("d", 20, 60)])).unwrap();
    assert_eq!((facts.covered, facts.omega), (0.25, 10.0 / 70.0));
}

/// Returns a passage or a chunk of one of two documents.
fn places() -> impl Strategy<Value = (u8, u64, u64)> {
    (0u8..2, 0u64..50, 1u64..14).prop_map(|(doc, start, length)| (doc, start, start + length))
}

fn positions(&(doc, start, end): &(u8, u64, u64)) -> BTreeSet<(u8, u64)> {
    (start..end).map(|position| (doc, position)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// Sets of positions say which chunks have which grades, how much of gold chunks have, and what
    /// full recall costs.
    #[test]
    fn chunks_have_the_grades_that_sets_of_positions_give_them(
        passages in proptest::collection::vec((places(), 0u8..4), 1..8),
        cuts in proptest::collection::vec(places(), 1..12),
        tenths in 1u32..=10,
    ) {
        let docs = ["d0", "d1"];
        let gold: Vec<_> = passages
            .iter()
            .map(|((doc, start, end), grade)| {
                (docs[*doc as usize], *start, *end, f64::from(*grade))
            })
            .collect();
        let cut_chunks: Vec<_> =
            cuts.iter().map(|&(doc, start, end)| (docs[doc as usize], start, end)).collect();
        let (gold, cut_chunks) = (self::gold(&gold), chunks(&cut_chunks));
        prop_assume!(
            passages.iter().any(|((doc, ..), _)| cuts.iter().any(|(other, ..)| other == doc))
        );

        let share = f64::from(tenths) / 10.0;
        let (mut expected, mut lost) = (BTreeMap::new(), 0);
        for (passage, grade) in &passages {
            let mut any = false;
            for (number, cut) in cuts.iter().enumerate() {
                let [one, other] = [positions(passage), positions(cut)];
                let both = one.intersection(&other).count();
                // In tenths, so that no rounding decides; a share such as 0.3 is a float a little
                // below or above.
                let needed = tenths as usize * one.len().min(other.len());
                let exactly = 10 * both == needed;
                prop_assume!(!exactly || tenths == 5 || tenths == 10);
                if both > 0 && 10 * both >= needed {
                    any = true;
                    let largest = expected.entry(format!("c{number}")).or_insert(*grade);
                    *largest = (*largest).max(*grade);
                }
            }
            lost += usize::from(!any);
        }
        let judged = gold.chunk_judgments(&cut_chunks, ChunkRule::new(share).unwrap()).unwrap();
        let found: BTreeMap<String, u8> = judged
            .rows
            .iter()
            .map(|row| (String::from_utf8(row.chunk.to_vec()).unwrap(), row.grade as u8))
            .collect();
        prop_assert_eq!(
            (&found, judged.lost, judged.rows.len()),
            (&expected, lost, expected.len())
        );

        let all: BTreeSet<_> = passages
            .iter()
            .filter(|(_, grade)| *grade > 0)
            .flat_map(|(passage, _)| positions(passage))
            .collect();
        let with_gold: Vec<_> =
            cuts.iter().map(positions).filter(|cut| !cut.is_disjoint(&all)).collect();
        let union: BTreeSet<_> = with_gold.iter().flatten().copied().collect();
        let facts = gold.chunking_facts(&cut_chunks).unwrap();
        if !all.is_empty() {
            let both = union.intersection(&all).count() as f64;
            prop_assert_eq!(facts.covered, both / all.len() as f64);
            prop_assert_eq!(facts.omega, both / union.union(&all).count() as f64);
            prop_assert_eq!(facts.with_gold, with_gold.len() as f64);
        }
    }

    /// Chunks that are the passages have the grades of the passages.
    #[test]
    fn chunks_that_are_passages_have_their_grades(
        lengths in proptest::collection::vec((1u64..30, 0u8..4), 1..20),
    ) {
        let (mut passages, mut end) = (Vec::new(), 0);
        for (length, grade) in lengths {
            passages.push(("d", end, end + length, f64::from(grade)));
            end += length + u64::from(grade);
        }
        let cut_chunks: Vec<_> =
            passages.iter().map(|&(doc, start, end, _)| (doc, start, end)).collect();
        let expected: Vec<_> = passages.iter().enumerate().map(|(number, passage)|
            format!("c{number} {}", passage.3)).collect();
        prop_assert_eq!(grades(&gold(&passages), &chunks(&cut_chunks), 1.0), expected.join(", "));
    }
}

fn text(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn read_gold(name: &str, content: &str) -> Result<GoldSpans, Error> {
    GoldSpans::read(text(name, content), None)
}

#[test]
fn passages_are_read_from_records_and_tables() {
    let expected = gold(&[("d1", 10, 30, 2.0), ("d,2", 0, 5, 1.0)]);
    for (name, content) in [
        (
            "lines",
            "{\"query_id\": \"q\", \"doc_id\": \"d1\", \"start_index\": 10, \"end_index\": \
             30, \"grade\": 2}\n{\"query_id\": \"q\", \"doc_id\": \"d,2\", \"start_index\": \
             0, \"end_index\": 5, \"text\": [\"x\"], \"grade\": null}",
        ),
        (
            "array",
            "[{\"query\": \"q\", \"doc\": \"d1\", \"start_char_idx\": 10, \"end_char_idx\": \
             30, \"rel\": 2},\n \
             {\"query\": \"q\", \"doc\": \"d,2\", \"start_char_idx\": \"0\", \"end_char_idx\": \
             5, \"rel\": 1}]",
        ),
        ("tsv", "qid\tdocno\tbegin\tstop\trelevance\r\nq\td1\t10\t30\t2\r\nq\td,2\t0\t5\t\r\n"),
        ("csv", "query,document,start,length,grade\nq,d1,10,20,2\n\nq,\"d,2\",0,5,1\n"),
    ] {
        let read = read_gold(name, content).unwrap();
        assert!(read.queries().eq(expected.queries()), "{name}: {read:?}");
    }
    let named = "query=who,doc=where,grade=how".parse().unwrap();
    let given =
        GoldSpans::read(text("csv", "who,where,how,start,end,doc\nq,d1,2,10,30,x\n"), Some(&named))
            .unwrap();
    assert!(given.queries().eq(gold(&[("d1", 10, 30, 2.0)]).queries()));
    let chunks =
        Chunks::read(text("csv", "node_id,doc_id,start,end\nc1,d,5,9\nc0,d,0,5\nc1,d,5,9\n"))
            .unwrap();
    assert!(chunks.iter().map(|chunk| &chunk.id[..]).eq([b"c0", b"c1"]));
}

#[test]
fn what_is_wrong_with_passages_and_chunks_is_said() {
    let record = |start: &str, end: &str| {
        format!("{{\"query\": \"q\", \"doc\": \"d1\", \"start\": {start}, \"end\": {end}}}\n")
    };
    let ok = record("0", "5");
    for (content, expected) in [
        (
            ok.repeat(3) + &record("30", "10"),
            "gold.jsonl:4: the span of 'd1' ends at 10, before its start at 30",
        ),
        (
            ok.repeat(4) + &record("10", "10"),
            "gold.jsonl:5: the span of 'd1' from 10 to 10 is empty",
        ),
        (
            ok.clone() + &record("\"-4\"", "10"),
            "gold.jsonl:2: start '-4' is not a position: a whole number from 0 was expected",
        ),
        (
            ok.clone() + &record("1.0", "10"),
            "gold.jsonl:2: start '1.0' is not a position: a whole number from 0 was expected",
        ),
        (
            record("0", "9223372036854775808"),
            "gold.jsonl:1: the span of 'd1' ends at 9223372036854775808, and the last position is \
             9223372036854775807",
        ),
        (
            record("0", "99999999999999999999"),
            "gold.jsonl:1: end '99999999999999999999' is not a position",
        ),
        (record("0", "null"), "gold.jsonl:1: the end is missing"),
        (ok.clone() + "{\"query\": \"q\"}", "gold.jsonl:2: the document is missing"),
        (
            "{\"query\": \"q\", \"doc\": \"d\", \"score\": 1}".to_owned(),
            "gold.jsonl:1: no start is among 'query', 'doc', 'score': its name may be start, \
             start_index, start_char_idx, start_offset, begin",
        ),
        (
            "query,doc,start\nq,d,1".to_owned(),
            "gold.jsonl:1: no end is among 'query', 'doc', 'start': its name may be end, end_index",
        ),
        (
            "query,doc,start,end\nq,d,1".to_owned(),
            "gold.jsonl:2: 3 fields, and the first line has 4",
        ),
        (
            "query,doc,start,end\nq,\"d,1,2".to_owned(),
            "gold.jsonl:2: the quote of a field is not closed",
        ),
        (
            ok.clone() + "{\"query\": [1]}",
            "gold.jsonl:2: the query is an object or an array, and not a text or a number",
        ),
        (ok.clone() + "{\"query\"", "gold.jsonl:2: "),
        ("[".to_owned() + ok.trim_end(), "gold.jsonl:1: "),
        (String::new(), "gold.jsonl: there is no row in it"),
        (
            "query,doc,start,end,grade\nq,d,1,2,nan".to_owned(),
            "gold.jsonl:2: grade 'nan' is not a number",
        ),
        ("PAR1\0PAR1".to_owned(), "gold.jsonl: is Parquet, which is not read here"),
    ] {
        let error = read_gold("gold.jsonl", &content).unwrap_err().to_string();
        assert!(error.contains(expected), "{content}\n{error}");
    }
    let again = "chunk_id,doc,start,end\nx,d,0,5\nc7,d,0,5\nc7,d,0,5\nc7,d,0,6\n"
        .replacen("x,", "c7,", 1)
        .replacen("c7,d,0,5\nc7", "c7,d,0,5\nc8", 1);
    let error = Chunks::read(text("chunks.csv", &again)).unwrap_err().to_string();
    assert_eq!(error, "chunks.csv:5: chunk 'c7' is there again with another span, first on line 2");
    let other =
        Chunks::read(text("chunks.csv", "id,doc,start,end\na,doc1,0,5\nb,doc2,0,5\nc,doc3,0,5\n"))
            .unwrap();
    let gold = gold(&GOLD);
    let expected = "chunks.csv: has none of the documents of gold.jsonl ('d1', 'd2' there, 'doc1', \
                'doc2' here)";
    for error in [
        gold.chunking_facts(&other).unwrap_err(),
        gold.chunk_judgments(&other, ChunkRule::new(0.5).unwrap()).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), expected);
    }
    for share in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(ChunkRule::new(share).is_err(), "{share}");
    }
}

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::bytes::input::RunInput;
use crate::columns::{IdColumn, RunColumns};
use crate::error::Result;
use crate::join::qrels::Qrels;
use crate::lines::chunks::ChunkSize;
use crate::matrix::{RunInfo, StagedPiece};
use crate::rule::TieBreak;
use crate::settings::Join;
use crate::test_support::input;

type Rankings = BTreeMap<u32, Vec<u8>>;

/// A taker that keeps all rankings.
struct KeepAll(Arc<Mutex<Rankings>>);

impl RankingSink for KeepAll {
    fn take(&mut self, StagedPiece { rows, labels, .. }: &StagedPiece) -> bool {
        let mut all = self.0.lock().unwrap();
        let mut rest = &labels[..];
        for row in rows {
            let (of_query, after) = rest.split_at(row.depth as usize);
            assert!(all.insert(row.query, of_query.to_vec()).is_none());
            rest = after;
        }
        rest.is_empty()
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

/// Returns the rankings of the texts that are fed, and facts about the run; or the error.
fn passed(
    join: Join,
    qrels: &Qrels,
    size: usize,
    feed: impl Fn(&mut StreamingRun<'_, KeepAll>) -> Result<Option<()>>,
) -> Result<(Rankings, RunInfo), String> {
    let all = Arc::new(Mutex::new(Rankings::new()));
    let make = || KeepAll(all.clone());
    let mut run = StreamingRun::new(&join, qrels, "mine", "mine", make).unwrap();
    run.size = ChunkSize(size);
    let result = feed(&mut run).and_then(|_| run.finish());
    drop(run);
    let FinishedRun { info, seen_queries } = result.map_err(|error| error.to_string())?.unwrap();
    let rankings = Arc::into_inner(all).unwrap().into_inner().unwrap();
    assert!(
        rankings
            .keys()
            .copied()
            .eq((0..).zip(seen_queries).filter(|(_, seen)| *seen).map(|(query, _)| query))
    );
    Ok((rankings, info))
}

/// Returns the same for the whole text at once.
fn whole(join: Join, qrels: &Qrels, run: &str) -> Result<(Rankings, RunInfo), String> {
    let input = RunInput::named("mine", input("mine", run));
    let matrix = join.runs(qrels, [input]).map_err(|error| error.to_string())?;
    let mut rankings = Rankings::new();
    for tile in 0..matrix.packing().tiles.len() {
        for (lane, &row) in matrix.tile_rows(tile).iter().enumerate() {
            let depth = matrix.depths()[row as usize] as usize;
            rankings.insert(row, matrix.tile(tile).lane(lane).take(depth).collect());
        }
    }
    Ok((rankings, matrix.runs()[0].clone()))
}

fn qrels() -> Qrels {
    let judged =
        [("2", "a", 1.0), ("2", "b", 0.0), ("10", "a", -1.0), ("1", "c", 3.0), ("1", "a", 2.0)];
    Qrels::new(judged).unwrap()
}

const GROUPED: &str = "2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n# 1\n\n1 Q0 a 3 1 t\n1 Q0 b 1 1 t\r\n# 1\n1 Q0 \
                       c 2 1 t\n9 Q0 a 1 1 u\n8 Q0 a 1 1 u\n9 Q0 b 1 1 v";

#[test]
fn text_that_goes_by_is_ranked_as_the_whole_text_wherever_it_is_cut() {
    let qrels = qrels();
    for (_, ties) in TieBreak::ALL {
        let join = Join { ties, ..Join::default() };
        let wrong = format!("{GROUPED}\nx\n10 Q0 a 1 1 t\n10 Q0 a 1 1 t\n");
        for text in [GROUPED, "9 Q0 a 1 1 t\n", "", "# nothing\n", &wrong] {
            let expected = whole(join.clone(), &qrels, text);
            for size in 1..=text.len() + 1 {
                let read = passed(join.clone(), &qrels, size, |run| run.text(&mut text.as_bytes()));
                assert_eq!(read, expected, "{ties} {size}");
            }
        }
    }
}

#[test]
fn a_query_that_comes_back_is_named_with_its_line_wherever_the_text_is_cut() {
    let qrels = qrels();
    // Query 9 is not judged; query 10 comes back as well, but later.
    let again = "\n10 Q0 a 1 1 t\n2 Q0 c 1 1 t\n10 Q0 b 1 1 t\n1 Q0 d 1 1 t\n2 Q0 d 1 1 t\n";
    let text = [GROUPED, again].concat();
    let line = text.lines().count() - 3;
    for size in 1..=text.len() {
        let error = passed(Join::default(), &qrels, size, |run| run.text(&mut text.as_bytes()))
            .unwrap_err();
        assert!(
            error.starts_with(&format!("mine:{line}: query 2 comes back, but its earlier results")),
            "{size} {error}"
        );
        let parts = |run: &mut StreamingRun<'_, KeepAll>| {
            run.text(&mut GROUPED.as_bytes())?;
            run.text(&mut &again.as_bytes()[1..])
        };
        let error = passed(Join::default(), &qrels, size, parts).unwrap_err();
        assert!(error.starts_with(&format!("mine:{line}: query 2 comes back")), "{size} {error}");
    }
}

/// A result, to be written as text and as columns.
type Row = (&'static str, &'static str, i64, f64);

const ROWS: &[Row] = &[
    ("2", "x", 1, 9.5),
    ("2", "a", 2, 9.5),
    ("2", "b", 3, 1.0),
    ("7", "b", 1, 1.0),
    ("1", "a", 1, 4.0),
    ("1", "c", 2, 5.0),
    ("1", "y", 3, 4.0),
    ("1", "z", 4, 4.0),
    ("10", "a", 1, f64::INFINITY),
];

/// Passes rows in batches, each of which begins where the one before ends.
fn push(
    rows: &[Row],
    ends: &[usize],
    shape: impl Fn(usize) -> (bool, bool),
    run: &mut StreamingRun<'_, KeepAll>,
) -> Result<Option<()>> {
    let mut start = 0;
    for (number, &end) in ends.iter().enumerate() {
        let rows = &rows[start..end];
        start = end;
        let (queries, docs): (Vec<&str>, Vec<&str>) = rows.iter().map(|row| (row.0, row.1)).unzip();
        let (ranks, scores): (Vec<i64>, Vec<f64>) = rows.iter().map(|row| (row.2, row.3)).unzip();
        let (scored, ranked) = shape(number);
        let records = RunColumns {
            query: IdColumn::from(&queries),
            doc: IdColumn::from(&docs),
            score: scored.then_some((&scores).into()),
            rank: ranked.then_some((&ranks).into()),
            span: None,
            lists: None,
        };
        run.columns(&records)?;
    }
    Ok(Some(()))
}

#[test]
fn columns_that_go_by_are_ranked_as_the_whole_columns_wherever_batches_end() {
    let (qrels, join, count) = (qrels(), Join::default(), ROWS.len());
    for (scored, ranked) in [(true, false), (true, true), (false, true)] {
        let all =
            |run: &mut StreamingRun<'_, KeepAll>| push(ROWS, &[count], |_| (scored, ranked), run);
        let expected = passed(join.clone(), &qrels, 1, all).unwrap();
        assert_eq!(expected.0.len(), 3);
        for cuts in 0..1u32 << (count - 1) {
            let ends: Vec<usize> =
                (1..count).filter(|end| cuts >> (end - 1) & 1 == 1).chain([count, count]).collect();
            let cut =
                |run: &mut StreamingRun<'_, KeepAll>| push(ROWS, &ends, |_| (scored, ranked), run);
            assert_eq!(passed(join.clone(), &qrels, 1, cut).unwrap(), expected, "{ends:?}");
            let mixed = |run: &mut StreamingRun<'_, KeepAll>| {
                push(ROWS, &ends, |number| (true, number % 2 == 0), run)
            };
            if scored {
                assert_eq!(
                    passed(join.clone(), &qrels, 1, mixed).unwrap().0,
                    expected.0,
                    "{ends:?}"
                );
            }
        }
    }
    let text: String = ROWS
        .iter()
        .map(|(query, doc, rank, score)| format!("{query} 0 {doc} {rank} {score} t\n"))
        .collect();
    let expected = whole(join.clone(), &qrels, &text.replace("inf", "1e300")).unwrap();
    let all = |run: &mut StreamingRun<'_, KeepAll>| push(ROWS, &[4, count], |_| (true, true), run);
    let (rankings, info) = passed(join.clone(), &qrels, 1, all).unwrap();
    assert_eq!(
        (rankings, info.seen, info.results, info.ignored),
        (expected.0, expected.1.seen, expected.1.results, expected.1.ignored)
    );
}

#[test]
fn what_is_wrong_with_columns_is_said_by_row_of_all_batches() {
    let (qrels, join) = (qrels(), Join::default());
    for ends in [&[10, 11][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[8, 11], &[11], &[2, 10, 11]]
    {
        let wrong = |at: usize, row: Row| {
            let mut rows = ROWS.to_vec();
            rows.insert(at, row);
            rows.push(("12", "a", 1, 1.0));
            let feed =
                |run: &mut StreamingRun<'_, KeepAll>| push(&rows, ends, |_| (true, false), run);
            passed(join.clone(), &qrels, 1, feed).unwrap_err()
        };
        let again = wrong(7, ("1", "c", 9, 1.0));
        assert_eq!(
            again, "mine:8: docno 'c' occurs again for query '1', first on line 6",
            "{ends:?}"
        );
        assert_eq!(
            wrong(8, ("1", "k", 9, f64::NAN)),
            "mine:9: score NaN of document 'k' of query '1' is not a number",
            "{ends:?}"
        );
        let back = wrong(9, ("2", "k", 9, 1.0));
        assert!(back.starts_with("mine:10: query 2 comes back"), "{back} {ends:?}");
    }
    let other = |run: &mut StreamingRun<'_, KeepAll>| {
        push(ROWS, &[2, 9], |number| (number == 0, number == 1), run)
    };
    let error = passed(join.clone(), &qrels, 1, other).unwrap_err();
    assert_eq!(error, "mine: some batches have scores, and others ranks alone");
    let rank = Join { ties: TieBreak::Rank, ..join };
    let error = passed(rank, &qrels, 1, |run| push(ROWS, &[9], |_| (true, true), run)).unwrap_err();
    assert!(error.starts_with("rankings in memory have no rank column"), "{error}");
}

/// All rows of a query are in one block, however many they are, in formats without lines too.
#[test]
fn blocks_of_every_format_end_between_queries() {
    let judged = [("q1", "d7", 1.0), ("q2", "d9", 1.0), ("q3", "d1", 1.0)];
    let qrels = Qrels::new(judged).unwrap();
    const DOCS: usize = 20_000;
    let of_query = |query: usize, write: &dyn Fn(usize) -> String, between: &str| {
        let docs: Vec<String> = (0..DOCS).map(write).collect();
        docs.join(between).replace("QUERY", &format!("q{query}"))
    };
    let queries = |write: &dyn Fn(usize) -> String, between: &str| {
        [1, 2, 3].map(|query| of_query(query, write, between)).join(between)
    };
    let record = |doc: usize| {
        format!("{{\"qid\": \"QUERY\", \"docid\": \"d{doc}\", \"rank\": {doc}, \"score\": {doc}}}")
    };
    let objects = [1, 2, 3].map(|query| {
        let docs = of_query(query, &|doc| format!("\"d{doc}\": {doc}"), ", ");
        format!("\"q{query}\": {{{docs}}}")
    });
    let array = format!("[{}]", queries(&record, ",\n"));
    for text in [array, queries(&record, "\n"), format!("{{{}}}", objects.join(",\n"))] {
        assert!(text.len() > 3 * (256 << 10));
        let feed = |run: &mut StreamingRun<'_, KeepAll>| {
            run.detect_format(text.as_bytes())?;
            run.text(&mut text.as_bytes())
        };
        let (rankings, info) = passed(Join::default(), &qrels, 1 << 16, feed).unwrap();
        assert_eq!((rankings.len(), info.results), (3, 3 * DOCS as u64));
    }
}

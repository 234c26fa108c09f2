//! Tied groups: the join keeps the groups that plain grouping gives; and their order by the rank
//! column.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

use laneval::labels::{CutTieCount, RowTies, Tie, TieCounts};
use laneval::{Dialect, Input, Join, LabelMatrix, Qrels, ScoreType, TieBreak};
use proptest::prelude::*;

use crate::cases::cases;
use crate::slow_reader::{encodings, gzip};

/// A result: query, document, and the score as text.
type Line = (usize, usize, &'static str);

/// Scores of which many are equal, some in f32 only.
const SCORES: [&str; 10] =
    ["0", "-0", "-0.0", "1", "1.0", "1.00000000001", "2", "1e39", "2e39", "-5"];
/// The same scores, with other texts that trec_eval takes for a score.
const TREC_SCORES: [&str; 13] = [
    "0",
    "-0",
    "x",
    "1",
    "1.0",
    "1.00000000001",
    "2",
    "1e39",
    "inf",
    "infinity",
    "-inf",
    "-1e999",
    "1e999",
];

fn qrels_text(judged: &HashMap<(usize, usize), i32>) -> String {
    let line = |((query, document), grade): (&(usize, usize), &i32)| {
        format!("q{query} 0 d{document} {grade}\n")
    };
    judged.iter().map(line).collect()
}

fn run_text(lines: &[Line]) -> String {
    lines
        .iter()
        .map(|(query, document, score)| format!("q{query} Q0 d{document} 7 {score} t\n"))
        .collect()
}

/// Results of up to nine queries, each document once, grouped by query or not.
fn results(scores: &'static [&'static str]) -> impl Strategy<Value = Vec<Line>> {
    let line = (0..9usize, 0..40usize, prop::sample::select(scores));
    (prop::collection::vec(line, 1..200), any::<bool>()).prop_map(|(mut lines, grouped)| {
        let mut seen = std::collections::HashSet::new();
        lines.retain(|&(query, document, _)| seen.insert((query, document)));
        if grouped {
            lines.sort_by_key(|line| line.0);
        }
        lines
    })
}

fn judgments() -> impl Strategy<Value = HashMap<(usize, usize), i32>> {
    prop::collection::hash_map((0..9usize, 0..40usize), -1..3i32, 1..120).prop_map(|mut judged| {
        judged.insert((0, 0), 1); // so that some query of any run may be judged
        judged
    })
}

fn joins(dialects: &'static [Dialect]) -> impl Strategy<Value = Join> {
    let ties = prop::sample::select(vec![
        TieBreak::DocnoDescending,
        TieBreak::DocnoAscending,
        TieBreak::Input,
    ]);
    let score = prop::sample::select(vec![ScoreType::F64, ScoreType::F32]);
    let depth = prop::option::of(1u32..12).prop_map(|depth| depth.and_then(NonZeroU32::new));
    (ties, score, depth, prop::sample::select(dialects)).prop_map(
        |(ties, score, depth, dialect)| Join {
            ties,
            score,
            depth,
            dialect,
            keep_ties: true,
            ..Join::default()
        },
    )
}

/// The groups of each row that has any, the documents that were cut off, and the counts of each
/// run.
type Found = (Vec<TieCounts>, BTreeMap<u32, (Vec<Tie>, Vec<CutTieCount>)>);

fn found(matrix: &LabelMatrix) -> Found {
    let tied = matrix.tied_groups().expect("it was asked for");
    let parts = |ties: RowTies<'_>| (ties.groups.to_vec(), ties.cut.to_vec());
    let by_row =
        |row: u32| Some((row, parts(tied.get(row)))).filter(|(_, ties)| *ties != (vec![], vec![]));
    let rows = (0..matrix.rows() as u32).filter_map(by_row).collect();
    assert_eq!(tied.iter().map(|(row, ties)| (row, parts(ties))).collect::<BTreeMap<_, _>>(), rows);
    assert!(tied.rows().iter().eq(rows.keys()));
    let deepest = tied.iter().flat_map(|(_, ties)| ties.groups).map(|group| group.end()).max();
    assert_eq!(tied.deepest(), deepest.unwrap_or(0));
    (tied.counts().to_vec(), rows)
}

/// Returns the same result, by sorting and grouping each ranking.
fn plainly(
    matrix: &LabelMatrix,
    judged: &HashMap<(usize, usize), i32>,
    runs: &[&[Line]],
    join: &Join,
) -> Found {
    let (mut counts, mut rows) = (vec![TieCounts::default(); runs.len()], BTreeMap::new());
    let f32s = join.score == ScoreType::F32 || join.dialect == Dialect::Trec9;
    let value = |score: &str| {
        let value: f64 = score.parse().unwrap_or(0.0);
        if f32s { f64::from(value as f32) } else { value }
    };
    for (run, lines) in runs.iter().enumerate() {
        for (at, id) in matrix.queries().iter().enumerate() {
            let of_query = lines.iter().filter(|line| format!("q{}", line.0).as_bytes() == id);
            let mut ranked: Vec<(f64, u8)> = of_query
                .map(|&(query, document, score)| {
                    let code = match judged.get(&(query, document)) {
                        None => 1,
                        Some(&grade) if grade < 0 => 2,
                        Some(&grade) => matrix.codebook().code(f64::from(grade)).unwrap(),
                    };
                    (value(score), code)
                })
                .collect();
            ranked.sort_by(|one, other| other.0.partial_cmp(&one.0).unwrap());
            let limit = join.depth.map_or(usize::MAX, |depth| depth.get() as usize);
            let (mut start, mut groups, mut cut) = (0, vec![], vec![]);
            let row = (run * matrix.queries().len() + at) as u32;
            for group in ranked.chunk_by(|one, next| one.0 == next.0) {
                if group.len() > 1 && start < limit {
                    let mixed = group.iter().any(|result| result.1 != group[0].1);
                    let counts = &mut counts[run];
                    counts.documents += group.len() as u64;
                    counts.groups += 1;
                    counts.mixed += u64::from(mixed);
                    counts.largest = counts.largest.max(group.len() as u64);
                    let length = group.len().min(limit - start);
                    if mixed {
                        groups.push(Tie { start: start as u32, length: length as u32 });
                    }
                    if mixed && length < group.len() {
                        // The order decides which documents were cut off: the others are in the
                        // matrix.
                        let mut codes = BTreeMap::<u8, u32>::new();
                        group.iter().for_each(|result| *codes.entry(result.1).or_default() += 1);
                        let labels = labels(matrix, row);
                        labels[start..].iter().for_each(|code| *codes.get_mut(code).unwrap() -= 1);
                        let codes = codes.into_iter().filter(|&(_, count)| count > 0);
                        cut = codes.map(|(code, count)| CutTieCount { row, code, count }).collect();
                    }
                }
                start += group.len();
            }
            if !groups.is_empty() {
                rows.insert(row, (groups, cut));
            }
        }
    }
    (counts, rows)
}

fn labels(matrix: &LabelMatrix, row: u32) -> Vec<u8> {
    let batch = matrix.batch();
    let lane = |tile: usize| {
        Some((tile, batch.rows(tile).iter().position(|&candidate| candidate == row)?))
    };
    let place = batch.tiles().find_map(lane);
    place.map_or_else(Vec::new, |(tile, lane)| batch.ranking(tile, lane).collect())
}

fn input(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.into() }
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100)))]

    #[test]
    fn groups_are_those_of_plainly_grouping(
        judged in judgments(),
        (one, other) in (results(&SCORES), results(&SCORES)),
        join in joins(&[Dialect::Laneval]),
    ) {
        agrees(&judged, [&one, &other], join)?;
    }

    #[test]
    fn infinities_tie_with_their_like(
        judged in judgments(), (one, other) in (results(&TREC_SCORES), results(&TREC_SCORES)),
        join in joins(&[Dialect::Trec9, Dialect::Trec10]),
    ) {
        agrees(&judged, [&one, &other], join)?;
    }

    /// The documents that are cut off when a matrix is built are those that are cut off its groups
    /// later.
    #[test]
    fn cutting_when_building_is_cutting_when_evaluating(
        judged in judgments(),
        lines in results(&SCORES),
        join in joins(&[Dialect::Laneval]),
        depth in 1u32..12,
    ) {
        let build = |depth| {
            let join = Join { depth, ..join.clone() };
            join.files(input("qrels", &qrels_text(&judged)), [input("run", &run_text(&lines))])
        };
        let (Ok(whole), Ok(cut)) = (build(None), build(NonZeroU32::new(depth))) else {
            prop_assert!(no_query_is_judged(&judged, &lines), "refused");
            return Ok(());
        };
        let mut expected = BTreeMap::new();
        for (row, ties) in whole.tied_groups().unwrap().iter() {
            let labels = labels(&whole, row);
            let reached = ties.groups.iter().filter(|group| group.start < depth);
            let groups: Vec<Tie> = reached
                .clone()
                .map(|group| Tie {
                    start: group.start,
                    length: group.end().min(depth) - group.start,
                })
                .collect();
            let mut codes = BTreeMap::<u8, u32>::new();
            let behind = reached.flat_map(|group| group.start.max(depth)..group.end());
            behind.for_each(|rank| *codes.entry(labels[rank as usize]).or_default() += 1);
            let cut: Vec<CutTieCount> =
                codes.into_iter().map(|(code, count)| CutTieCount { row, code, count }).collect();
            if !groups.is_empty() {
                expected.insert(row, (groups, cut));
            }
        }
        prop_assert_eq!(found(&cut).1, expected);
    }

    /// The rank column is a random order, so equal scores come in it.
    #[test]
    fn equal_scores_are_in_the_order_of_the_rank_column(
        judged in judgments(),
        lines in results(&SCORES),
        shuffled in Just((0..200i64).collect::<Vec<_>>()).prop_shuffle(),
        score in prop::sample::select(vec![ScoreType::F64, ScoreType::F32]),
        depth in prop::option::of(1u32..12),
    ) {
        let rank = |at: usize| shuffled[at] - 100;
        let line = |(at, (query, document, score)): (usize, &Line)| format!("q{query} Q0 \
            d{document}\t {} {score} t\n", rank(at));
        let text: String = lines.iter().enumerate().map(line).collect();
        let depth = depth.and_then(NonZeroU32::new);
        let join = Join { ties: TieBreak::Rank, score, depth, keep_ties: true, ..Join::default() };
        // If the lines are in the order of their ranks, the input order is that of the ranks.
        let mut ordered: Vec<(i64, &Line)> =
            lines.iter().enumerate().map(|(at, line)| (rank(at), line)).collect();
        ordered.sort_by_key(|(rank, _)| *rank);
        let ordered: Vec<Line> = ordered.into_iter().map(|(_, line)| *line).collect();
        let expected = Join { ties: TieBreak::Input, ..join.clone() };
        let qrels = qrels_text(&judged);
        let expected =
            expected.files(input("qrels", &qrels), [input("the run", &run_text(&ordered))]);
        for run in encodings("the run", text.as_bytes()) {
            match (join.files(input("qrels", &qrels), [run]), &expected) {
                (Ok(found), Ok(expected)) => {
                    prop_assert_eq!(found.tile_bytes(), expected.tile_bytes());
                    prop_assert_eq!(found.depths(), expected.depths());
                    prop_assert_eq!(found.tied_groups().unwrap().counts(), [TieCounts::default()]);
                }
                (found, expected) => prop_assert!(found.is_err() && expected.is_err()),
            }
        }
    }
}

/// Returns whether a run has no query of the judgments, for which alone it may be refused.
fn no_query_is_judged(judged: &HashMap<(usize, usize), i32>, lines: &[Line]) -> bool {
    !lines.iter().any(|line| judged.keys().any(|(query, _)| *query == line.0))
}

/// Joins texts of every encoding on one thread and on three.
fn agrees(
    judged: &HashMap<(usize, usize), i32>,
    runs: [&[Line]; 2],
    join: Join,
) -> Result<(), TestCaseError> {
    let texts = runs.map(|lines| run_text(lines).into_bytes());
    let [one, other] = &texts;
    let runs_of = std::iter::zip(encodings("one", one), encodings("other", other));
    for (encoding, (one, other)) in runs_of.enumerate() {
        let qrels = input("qrels", &qrels_text(judged));
        let threads = [1, 3, 2][encoding];
        let Ok(matrix) = on_threads(threads, || join.files(qrels, [one, other])) else {
            prop_assert!(runs.iter().any(|lines| no_query_is_judged(judged, lines)), "refused");
            return Ok(());
        };
        prop_assert_eq!(found(&matrix), plainly(&matrix, judged, &runs, &join));
        if encoding > 0 {
            continue; // the file is made of the same matrix
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        matrix.write(file.path()).unwrap();
        LabelMatrix::verify(file.path()).unwrap();
        for read in
            [LabelMatrix::map(file.path()).unwrap(), LabelMatrix::read(file.path()).unwrap()]
        {
            prop_assert_eq!(read.tied_groups(), matrix.tied_groups());
            prop_assert_eq!(read.batch().tied_groups(), matrix.tied_groups());
        }
    }
    Ok(())
}

#[test]
fn groups_are_kept_where_they_are_asked_for() {
    let qrels = "a 0 d1 1\na 0 d2 0\nb 0 d1 1\n";
    let run = "a Q0 d1 1 3 t\na Q0 d2 2 2 t\na Q0 d3 3 2 t\na Q0 d4 4 2 t\n";
    let build = |join: Join| join.files(input("qrels", qrels), [input("run", run)]).unwrap();
    assert!(build(Join::default()).tied_groups().is_none());
    let keep_ties = Join { keep_ties: true, ..Join::default() };
    let matrix = build(keep_ties.clone());
    let tied = matrix.tied_groups().unwrap();
    assert_eq!(tied.get(0), RowTies { groups: &[Tie { start: 1, length: 3 }], cut: &[] });
    assert_eq!(tied.get(1), RowTies::default(), "a query that the run lacks");
    assert_eq!(tied.counts(), [TieCounts { documents: 3, groups: 1, mixed: 1, largest: 3 }]);
    // One rank of the group is left, with a document that is not judged.
    let matrix = build(Join { depth: NonZeroU32::new(2), ..keep_ties.clone() });
    let cut =
        [CutTieCount { row: 0, code: 1, count: 1 }, CutTieCount { row: 0, code: 3, count: 1 }];
    let tied = matrix.tied_groups().unwrap();
    assert_eq!(tied.get(0), RowTies { groups: &[Tie { start: 1, length: 1 }], cut: &cut });
    assert_eq!(tied.counts(), [TieCounts { documents: 3, groups: 1, mixed: 1, largest: 3 }]);
    // All ranks of the group are left.
    let matrix = build(Join { depth: NonZeroU32::new(1), ..keep_ties });
    assert_eq!(
        (matrix.tied_groups().unwrap().rows(), matrix.tied_groups().unwrap().deepest()),
        (&[][..], 0)
    );
    assert_eq!(matrix.tied_groups().unwrap().counts(), [TieCounts::default()]);
}

#[test]
fn groups_of_rankings_in_memory_are_those_of_text() {
    let qrels = Qrels::new([("a", "d1", 1.0), ("b", "d3", 1.0)]).unwrap();
    let join = Join { keep_ties: true, ..Join::default() };
    let run = [("b", "d1", 0.0), ("a", "d1", 1.0), ("b", "d3", -0.0), ("a", "d2", 1.0)];
    let matrix = join.rankings(&qrels, [("one".to_owned(), run), ("two".to_owned(), run)]).unwrap();
    let tied = matrix.tied_groups().unwrap();
    assert_eq!(tied.rows(), [0, 1, 2, 3]);
    assert_eq!(tied.counts(), [TieCounts { documents: 4, groups: 2, mixed: 2, largest: 2 }; 2]);
}

#[test]
fn a_rank_column_that_gives_no_order_is_refused() {
    let qrels = || input("qrels", "a 0 d1 1\nb 0 d1 1\n");
    for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
        let message = |run: Input| {
            let join = Join { ties: TieBreak::Rank, dialect, ..Join::default() };
            join.files(qrels(), [run]).map(drop).map_err(|error| error.to_string())
        };
        let text = "a Q0 d1 x 3 t\nc Q0 d1 x 3 t\nb Q0 d3 1 2 t\nb Q0 d4 1 3 t\n";
        let integer = |line: u32, rank: &str| {
            format!(
                "run:{line}: rank '{rank}' is not an integer, and equal scores are to be ordered \
                 by it"
            )
        };
        assert_eq!(message(input("run", text)), Err(integer(1, "x")));
        // The lines of a query are apart, so the run is read a second time.
        let apart = format!(
            "{text}a Q0 d2 1.5 3 t\nb Q0 d5 1 2 t\na Q0 d7 - 1 t\na Q0 d8 99999999999999999999 1 \
             t\n"
        );
        let expected = [
            integer(1, "x"),
            integer(5, "1.5"),
            "run:6: rank 1 occurs again among equal scores of query 'b', first on line 3"
                .to_owned(),
            integer(7, "-"),
            integer(8, "99999999999999999999"),
        ];
        for run in encodings("run", apart.as_bytes()) {
            assert_eq!(message(run), Err(expected.join("\n")));
        }
        let sound = "a Q0 d1 +2 3 t\nb Q0 d3 1 2 t\na Q0 d2 -1 3 t\nb Q0 d4 1 3 t\n";
        assert_eq!(message(input("run", sound)), Ok(()));
        assert_eq!(
            message(Input::Bytes { name: "run".into(), bytes: gzip(sound.as_bytes()) }),
            Ok(())
        );
    }
}

#[test]
fn rankings_in_memory_have_no_rank_column() {
    let qrels = Qrels::new([("a", "d1", 1.0)]).unwrap();
    let join = Join { ties: TieBreak::Rank, ..Join::default() };
    let error = join.rankings(&qrels, [("mine".to_owned(), [("a", "d1", 1.0)])]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rankings in memory have no rank column that could order equal scores: give them in that \
         order, with ties `input`"
    );
}

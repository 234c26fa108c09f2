//! Rows staged by hand: rows that do not fit together are an error.

use laneval::LabelMatrix;
use laneval::labels::{Codebook, Ids, RankingRule, RunInfo};
use laneval::parts::matrix::{GradeHistograms, MatrixBuilder, StagedPiece, StagedRow, StagedRun};

const SOUND: &[(u32, u32)] = &[(1, 3), (0, 2)];

fn ids(names: &[&str]) -> Ids {
    names.iter().map(|name| name.as_bytes()).collect()
}

/// Returns the facts of `queries` queries, each with one document of each of these codes.
fn facts(queries: usize, codes: &[u8]) -> GradeHistograms {
    let mut facts = GradeHistograms::new();
    (0..queries).for_each(|_| facts.push(codes.iter().copied()));
    facts
}

/// Returns a builder of two grades and two queries.
fn builder(ids: Ids, facts: GradeHistograms, depth: Option<u32>) -> MatrixBuilder {
    let book = Codebook::new([0.0, 1.0]).unwrap();
    MatrixBuilder::new(book, RankingRule { depth, ..RankingRule::default() }, 0, ids, facts)
}

/// Returns a matrix of one run with rows of these queries and depths in one piece of `labels`
/// labels.
fn finish(
    mut builder: MatrixBuilder,
    rows: &[(u32, u32)],
    labels: usize,
) -> Result<LabelMatrix, String> {
    let rows = rows.iter().map(|&(query, depth)| StagedRow { query, depth }).collect();
    let info = RunInfo { name: "mine".to_owned(), ..RunInfo::default() };
    builder.push(StagedRun {
        info,
        pieces: vec![StagedPiece { rows, labels: vec![1; labels], ..StagedPiece::default() }],
        ..StagedRun::default()
    });
    builder.finish().map_err(|e| e.to_string())
}

fn two_queries(rows: &[(u32, u32)], labels: usize) -> Result<LabelMatrix, String> {
    finish(builder(ids(&["a", "b"]), facts(2, &[3, 4]), None), rows, labels)
}

#[test]
fn rows_that_fit_are_a_matrix() {
    assert_eq!(two_queries(SOUND, 5).unwrap().depths(), [2, 3]);
    assert_eq!(two_queries(&[], 0).unwrap().depths(), [0, 0]);
}

#[test]
fn rows_that_do_not_fit_are_an_error() {
    let refused = |rows: &[(u32, u32)], labels| two_queries(rows, labels).unwrap_err();
    assert_eq!(refused(&[(2, 5)], 5), "run mine: a row of query 2, and there are 2");
    assert_eq!(
        refused(&[(u32::MAX, 5)], 5),
        "run mine: a row of query 4294967295, and there are 2"
    );
    assert_eq!(
        refused(&[(1, 3), (0, 3)], 5),
        "run mine: a row of query 0 with 3 labels, and its piece has 2 left"
    );
    assert_eq!(refused(&[(1, 3), (1, 2)], 5), "run mine: two rows of query 1");
    assert_eq!(refused(&[(1, 3)], 5), "run mine: a piece has 2 labels that belong to no row");
}

#[test]
fn a_query_may_be_in_one_piece_of_a_run_only() {
    let mut builder = builder(ids(&["a", "b"]), facts(2, &[3]), None);
    let piece = || StagedPiece {
        rows: vec![StagedRow { query: 0, depth: 1 }],
        labels: vec![3],
        ..StagedPiece::default()
    };
    builder.push(StagedRun { pieces: vec![piece(), piece()], ..StagedRun::default() });
    assert_eq!(builder.finish().unwrap_err().to_string(), "run : two rows of query 0");
}

#[test]
fn what_a_file_would_not_be_believed_is_not_built() {
    let refused = |ids: Ids, facts: GradeHistograms, depth| {
        finish(builder(ids, facts, depth), SOUND, 5).unwrap_err()
    };
    let two = || ids(&["a", "b"]);
    assert_eq!(refused(two(), facts(1, &[3]), None), "2 queries with the facts of 1");
    let order = "the ids of the queries are not distinct and ascending";
    assert_eq!(refused(ids(&["b", "a"]), facts(2, &[3]), None), order);
    assert_eq!(refused(ids(&["a", "a"]), facts(2, &[3]), None), order);
    let code = "judged counts: query 1 of 2: code 5 where one from 2 to 4 was expected";
    assert_eq!(refused(two(), facts(2, &[5]), None), code);
    assert_eq!(
        refused(two(), facts(2, &[3]), Some(2)),
        "a row of 3 results where the rule keeps the first 2"
    );
    assert!(finish(builder(two(), facts(2, &[3]), Some(3)), SOUND, 5).is_ok());
}

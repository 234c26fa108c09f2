//! Random label matrices of chosen shapes, made without any text.

use laneval::LabelMatrix;
use laneval::labels::{Codebook, Ids, RankingRule, RunInfo};
use laneval::parts::matrix::{
    ExactHistograms, GradeHistograms, MatrixBuilder, StagedPiece, StagedRow, StagedRun, StagedTies,
};
use proptest::prelude::*;

/// The rankings of one query in every run, as labels, and the number of judged documents by code
/// that no run retrieves.
#[derive(Debug, Clone)]
pub struct Query {
    pub rankings: Vec<Vec<u8>>,
    pub unretrieved: Vec<u8>,
}

/// A shape: grades of the codebook, runs, and queries. If there are more grades than codes, the
/// same label is another grade in another query.
#[derive(Debug, Clone)]
pub struct Shape {
    pub grades: Vec<f64>,
    pub queries: Vec<Query>,
}

/// Sets of grades that force every kind of table: none, one, a few, fractional, a full codebook.
pub fn grades() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        Just(vec![]),
        Just(vec![0.0]),
        Just(vec![1.0]),
        Just(vec![0.0, 1.0]),
        Just(vec![0.0, 1.0, 2.0, 3.0, 4.0]),
        Just(vec![0.5, 1.0, 2.25]),
        Just((0..253).map(|grade| f64::from(grade) / 63.0).collect()),
    ]
}

/// More grades than codes: whole ones, small ones, huge ones.
pub fn many_grades() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        Just((0..700).map(|grade| f64::from(grade) / 140.0).collect()),
        Just((1..300).map(|grade| f64::from(grade) * 1e-3).collect()),
        Just((0..254).map(f64::from).collect()),
        Just((0..400).map(|grade| f64::from(grade) * 1e300).collect()),
    ]
}

/// Labels of one ranking: of some depth, with judged documents at some density.
pub fn ranking(codes: u8, depth: usize, density: f64) -> impl Strategy<Value = Vec<u8>> {
    let judged = if codes > 3 { (3..codes).boxed() } else { Just(2u8).boxed() };
    let label = prop_oneof![
        ((1.0 - density) * 1000.0) as u32 + 1 => 1..=2u8,
        (density * 1000.0) as u32 + 1 => judged,
    ];
    proptest::collection::vec(label, depth)
}

/// Any shape: up to 130 queries (two tiles and a bit), up to two runs, depths around the sizes that
/// matter.
#[allow(dead_code)] // some test binaries take `any_shape`
pub fn shape() -> impl Strategy<Value = Shape> {
    shape_of(grades().boxed())
}

/// Any shape, also with more grades than codes.
#[allow(dead_code)] // not every test binary evaluates exact grades
pub fn any_shape() -> impl Strategy<Value = Shape> {
    shape_of(prop_oneof![3 => grades(), 1 => many_grades()].boxed())
}

fn shape_of(grades: BoxedStrategy<Vec<f64>>) -> impl Strategy<Value = Shape> {
    let depths = prop_oneof![Just(0usize), 0..12usize, Just(63), Just(64), Just(65), Just(260)];
    let sizes =
        prop_oneof![Just(0usize), Just(1), 2..8usize, Just(63), Just(64), Just(65), Just(130)];
    let density = prop_oneof![Just(0.0), Just(0.02), Just(0.2), Just(1.0)];
    (grades, 1..3usize, sizes, density).prop_flat_map(move |(grades, runs, size, density)| {
        let codes = (3 + grades.len()).min(255) as u8;
        let rankings = proptest::collection::vec(
            depths.clone().prop_flat_map(move |d| ranking(codes, d, density)),
            runs,
        );
        let unretrieved = proptest::collection::vec(2..codes.max(3), 0..20);
        let query = (rankings, unretrieved)
            .prop_map(|(rankings, unretrieved)| Query { rankings, unretrieved });
        proptest::collection::vec(query, size)
            .prop_map(move |queries| Shape { grades: grades.clone(), queries })
    })
}

/// Returns the matrix of a shape. The qrels of a query hold, for each code, as many documents as
/// the ranking that has most of them, and those that are not retrieved.
pub fn matrix(shape: &Shape) -> LabelMatrix {
    staged(shape, false)
}

/// Returns the matrix of a shape in which the results of a ranking have equal scores by threes.
#[allow(dead_code)] // not every test binary has ties
pub fn tied_matrix(shape: &Shape) -> LabelMatrix {
    staged(shape, true)
}

fn staged(shape: &Shape, tied: bool) -> LabelMatrix {
    let book = Codebook::new(shape.grades.iter().copied()).expect("a codebook");
    let ids: Vec<String> = (0..shape.queries.len()).map(|query| format!("q{query:05}")).collect();
    let (mut facts, mut exact) =
        (GradeHistograms::new(), (!book.is_exact()).then(ExactHistograms::default));
    let exact_codes = |labels: &[u8]| labels.iter().map(|&label| label.min(3)).collect::<Vec<_>>();
    let mut builder_runs: Vec<StagedRun> = Vec::new();
    for (number, query) in shape.queries.iter().enumerate() {
        let most = |code: u8| {
            query
                .rankings
                .iter()
                .map(|labels| labels.iter().filter(|&&label| label == code).count())
                .max()
                .unwrap_or(0)
        };
        let retrieved = (2..=255u8).flat_map(|code| std::iter::repeat_n(code, most(code)));
        let judged: Vec<u8> = retrieved.chain(query.unretrieved.iter().copied()).collect();
        // A spread of grades that differs from query to query.
        let salt = 5 * (query.unretrieved.len() + query.rankings.first().map_or(0, Vec::len));
        let grade =
            |label: &u8| shape.grades[(usize::from(*label) * 17 + salt) % shape.grades.len()];
        let grades = |labels: &[u8]| {
            labels.iter().filter(|&&label| label > 2).map(grade).collect::<Vec<_>>()
        };
        match &mut exact {
            Some(exact) => {
                exact.push(&mut grades(&judged));
                facts.push(exact_codes(&judged));
            }
            None => facts.push(judged),
        }
        for (run, labels) in query.rankings.iter().enumerate() {
            if builder_runs.len() <= run {
                let info = RunInfo { name: format!("run{run}"), ..RunInfo::default() };
                let tied = tied.then(StagedTies::default);
                builder_runs.push(StagedRun { info, tied, ..StagedRun::default() });
            }
            if let Some(tied) = &mut builder_runs[run].tied {
                let groups = labels.chunks(3).enumerate().filter(|(_, group)| group.len() > 1);
                groups.for_each(|(at, group)| {
                    tied.note(number as u32, 3 * at as u32, group, group.len())
                });
            }
            if !labels.is_empty() {
                let rows = vec![StagedRow { query: number as u32, depth: labels.len() as u32 }];
                let piece = match exact {
                    Some(_) => StagedPiece {
                        rows,
                        labels: exact_codes(labels),
                        exact: grades(labels),
                        ..StagedPiece::default()
                    },
                    None => StagedPiece { rows, labels: labels.clone(), ..StagedPiece::default() },
                };
                builder_runs[run].pieces.push(piece);
            }
        }
    }
    let ids: Ids = ids.iter().map(|id| id.as_bytes()).collect();
    let mut builder = MatrixBuilder::new(book, RankingRule::default(), 0, ids, facts);
    builder.exact = exact;
    builder_runs.into_iter().for_each(|run| builder.push(run));
    builder.finish().expect("a small matrix")
}

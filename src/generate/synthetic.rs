//! The parameters of synthetic judgments and runs: queries, depth, judged documents, grades,
//! density, runs and seed.

/// The parameters of synthetic judgments and runs.
///
/// ```
/// use laneval::Evaluator;
/// use laneval::internals::Synthetic;
/// let matrix = Synthetic { queries: 100, depth: 50, ..Synthetic::default() }.matrix()?;
/// assert_eq!(matrix.depths(), [50; 100]);
/// let scores = Evaluator::new(["AP"])?.evaluate(&matrix)?;
/// assert!(scores.runs[0].average(0).is_some_and(|ap| ap > 0.0));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synthetic {
    /// The number of judged queries; every run has all judged queries.
    pub queries: u32,
    /// The number of documents that a run retrieves for each query.
    pub depth: u32,
    /// The number of judged documents of each query; more if [`Synthetic::density`] needs more.
    pub judged: u32,
    /// The number of grades, from 0 on.
    pub grades: u8,
    /// The share of the retrieved documents that are relevant, at ranks drawn evenly; With `None`,
    /// chance decides which judged documents are retrieved, mostly near the top.
    pub density: Option<f64>,
    /// The number of runs. The runs after the first rank and retrieve a little differently.
    pub runs: u16,
    /// The seed. Different seeds give different data.
    pub seed: u64,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self { queries: 1000, depth: 1000, judged: 20, grades: 4, density: None, runs: 1, seed: 1 }
    }
}

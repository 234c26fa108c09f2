//! Judgment counts of retrieved documents alone, for evaluation as by programs that know only
//! labelled rankings.

use super::{ExactHistograms, GradeHistograms};

/// The number of retrieved documents of each label code in each ranking, to stand in for all
/// judgments of the query.
#[derive(Debug, Default)]
pub struct RetrievedHistograms {
    /// By row.
    pub(crate) facts: GradeHistograms,
    /// The exact grades by row; of no rows, unless codes are classes of grades.
    pub(crate) exact: ExactHistograms,
}

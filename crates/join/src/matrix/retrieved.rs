//! The judgments of the documents in each ranking: all that a program knows which is given a list
//! and the labels of its documents.

use super::exact::ExactFacts;
use super::facts::Facts;

/// The judgments of the documents in each row of a batch.
#[derive(Debug)]
pub struct RetrievedFacts {
    /// By row.
    pub(crate) facts: Facts,
    /// The exact grades by row, if codes are classes of grades.
    pub(crate) exact: Option<ExactFacts>,
}

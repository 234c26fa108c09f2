//! Groups of tied documents under a view (depth, judged only), for measures that take tied
//! documents together.

use crate::error::{Error, Result};
use crate::matrix::{Batch, CodesAbove, MatrixTies, Tie, View};
use crate::measure::Measure;

/// The groups of tied documents of all rankings in a batch, under a view (depth, judged only).
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewedTies<'a> {
    ties: &'a MatrixTies,
    view: View,
}

impl<'a> ViewedTies<'a> {
    /// Returns the groups of tied documents of a batch, if a measure needs groups.
    ///
    /// # Errors
    /// A batch without known ties.
    pub fn new(measures: &[Measure], batch: &Batch<'a>, view: View) -> Result<Option<Self>> {
        if !measures.iter().any(Measure::needs_ties) {
            return Ok(None);
        }
        let ties = batch.tied_groups().ok_or_else(unknown_ties_error)?;
        Ok(Some(Self { ties, view }))
    }

    /// Returns a ranking's groups of tied documents with a graded document, at the ranks of the
    /// view. `labels` are the labels of the row without the view.
    pub fn groups(&self, row: u32, labels: &[u8]) -> Vec<Tie> {
        let end = self.view.depth.map_or(labels.len(), |depth| labels.len().min(depth as usize));
        let (mut read, mut above) = (0, 0);
        let mut groups = self.ties.graded_of(row);
        for group in &mut groups {
            // The number of documents in the view above each rank. Ranks ascend, so each label is
            // looked at once.
            let [start, end] = [group.start, group.end()].map(|rank| {
                let passed = &labels[read..end.min(rank as usize)];
                let dropped = passed
                    .iter()
                    .filter(|&&label| self.view.judged_only && !CodesAbove::JUDGED.contains(label));
                above += passed.len() - dropped.count();
                read += passed.len();
                above as u32
            });
            *group = Tie { start, length: end - start };
        }
        // A group that the view cuts to one document, or to none, is no tie.
        groups.retain(|group| group.length > 1);
        groups
    }
}

/// Returns the error of rankings for which no ties were recorded.
pub(super) fn unknown_ties_error() -> Error {
    Error::Unanswerable(
        "it is not known which documents have equal scores: ask for it when rankings are made (in \
         Rust `keep_ties`, on the command line `--keep-ties`, in Python `keep_ties=True` for \
         `Matrix.build`)"
            .to_owned(),
    )
}

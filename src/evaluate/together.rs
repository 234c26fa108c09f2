//! Groups of equal scores under a view, for measures that take such documents together.

use crate::error::{Error, Result};
use crate::matrix::{Above, Batch, TiedGroup, TiedGroups, View};
use crate::measure::Measure;

/// The groups of all rows of a batch, under a view.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupsUnderView<'a> {
    ties: &'a TiedGroups,
    view: View,
}

impl<'a> GroupsUnderView<'a> {
    /// Returns the groups of equal scores, if a measure needs groups.
    ///
    /// # Errors
    /// A batch without known ties.
    pub fn of(measures: &[Measure], batch: &Batch<'a>, view: View) -> Result<Option<Self>> {
        if !measures.iter().any(Measure::needs_ties) {
            return Ok(None);
        }
        let ties = batch.tied_groups().ok_or_else(unknown)?;
        Ok(Some(GroupsUnderView { ties, view }))
    }

    /// Returns the groups of a row with a graded document, at the ranks of the view. `labels` are
    /// the labels of the row without the view.
    pub fn groups(&self, row: u32, labels: &[u8]) -> Vec<TiedGroup> {
        let end = self.view.depth.map_or(labels.len(), |depth| labels.len().min(depth as usize));
        let (mut read, mut ranks) = (0, 0);
        // The number of documents in the view above a rank; ranks ascend.
        let mut above = |rank: u32| {
            let rank = (rank as usize).min(end);
            let passed = &labels[read..rank];
            let dropped = |label: &&u8| self.view.judged_only && !Above::JUDGED.contains(**label);
            ranks += passed.len() - passed.iter().filter(dropped).count();
            read = rank;
            ranks as u32
        };
        let mut groups = self.ties.graded_of(row);
        for group in &mut groups {
            let start = above(group.start);
            *group = TiedGroup { start, length: above(group.end()) - start };
        }
        groups.retain(|group| group.length > 1);
        groups
    }
}

/// The error of rankings that do not know their ties.
pub(super) fn unknown() -> Error {
    Error::Unanswerable(
        "it is not known which documents have equal scores: ask for it when \
                         rankings are made (in Rust `keep_ties`, on the command line \
                         `--keep-ties`, in Python `keep_ties=True` for `Matrix.build`)"
            .to_owned(),
    )
}

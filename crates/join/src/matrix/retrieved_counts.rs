//! Counting of the judged documents in each ranking, to stand in for all judgments of its query.
//!
//! A batch has the judgments of each query as counts. This module makes the counts from the labels
//! of each row, under a view. Code that reads the judgments of a row (relevant documents, ideal
//! rankings) then sees only judgments of retrieved documents. The labels do not change, so no
//! second matrix is needed. Counting costs a single pass over the labels.

use rayon::prelude::*;

use super::{
    Batch, MAX_JUDGED, RetrievedHistograms, Unpacked, View,
    code::{FIRST_GRADE, NEGATIVE},
};
use crate::error::Result;

impl RetrievedHistograms {
    /// Counts the documents of each label code in each ranking of a batch that a view (depth,
    /// judged only) keeps.
    ///
    /// # Errors
    /// A ranking of more documents than a query may have judgments; more counts than 2³².
    pub fn count(batch: &Batch<'_>, view: View) -> Result<Self> {
        let deepest = u64::from(batch.deepest_row());
        reject_if!(
            deepest > MAX_JUDGED,
            "a ranking of {deepest} results: what was retrieved is counted of {MAX_JUDGED} at \
             most"
        );
        let parts: Vec<_> = batch
            .tiles()
            .into_par_iter()
            .map_init(Default::default, |(viewed, unpacked), at| {
                tile_counts(batch, view, at, viewed, unpacked)
            })
            .collect();
        let counts: usize = parts.iter().map(|part| part.facts.codes.len()).sum();
        reject_if!(
            u32::try_from(counts).is_err(),
            "{counts} counts of what was retrieved are 2³² or more"
        );
        let mut all = Self::default();
        for place in batch.places() {
            // A row that lies in no tile of the batch has no documents.
            let part = place
                .map(|(at, lane)| (&parts[at as usize - batch.tiles.start], usize::from(lane)));
            let facts = part.map(|(part, lane)| part.facts.get(lane).iter());
            all.facts.push_counts(facts.into_iter().flatten());
            if batch.exact().is_some() {
                let exact = part.map(|(part, lane)| part.exact.get(lane));
                all.exact.push_query(exact.unwrap_or_default());
            }
        }
        Ok(all)
    }
}

/// Counts the documents of each label code in the rankings of one tile, lane by lane.
fn tile_counts(
    batch: &Batch<'_>,
    view: View,
    at: usize,
    viewed: &mut Vec<u8>,
    unpacked: &mut Unpacked,
) -> RetrievedHistograms {
    unpacked.take(view.apply(batch.tile(at), viewed));
    let codes = batch.codebook().codes();
    let mut totals = RetrievedHistograms::default();
    for lane in 0..batch.rows(at).len() {
        let labels = unpacked.lane(lane).iter().copied();
        // A damaged file may have labels that stand for nothing.
        totals
            .facts
            .push(labels.clone().filter(|&label| label >= NEGATIVE && usize::from(label) < codes));
        if batch.exact().is_some() {
            // A view keeps the first documents with a grade, so their grades are the first ones.
            let count = labels.filter(|&label| label >= FIRST_GRADE).count();
            let grades = batch.exact_of(at, lane);
            totals.exact.push(&mut grades[..count.min(grades.len())].to_vec());
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::code::{Codebook, NOT_IN_QRELS};
    use crate::matrix::{Block, GradeHistograms};

    #[test]
    fn documents_are_counted_as_far_as_the_view_goes() {
        let book = Codebook::new([0.0, 1.0, 3.0]).unwrap();
        let mut block = Block::default();
        let all = [3, 4, 5, 2];
        let mut judged = GradeHistograms::new();
        judged.push(all);
        for labels in [&[NOT_IN_QRELS, 5, NEGATIVE, 3, 5][..], &[], &[4; 9]] {
            block.push_ranking(labels, judged.get(0));
        }
        let batch = block.batch(&book).unwrap();
        let counts = |depth, judged_only| {
            let known = RetrievedHistograms::count(&batch, View { depth, judged_only }).unwrap();
            (0..3).map(|row| known.facts.get(row).iter().collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        assert_eq!(counts(None, false), [vec![(2, 1), (3, 1), (5, 2)], vec![], vec![(4, 9)]]);
        assert_eq!(counts(Some(2), false), [vec![(5, 1)], vec![], vec![(4, 2)]]);
        assert_eq!(counts(Some(4), true), [vec![(3, 1), (5, 1)], vec![], vec![(4, 4)]]);
    }
}

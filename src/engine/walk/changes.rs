//! The walks of nDCGrel and RnDCG: DCG over ideal DCG, averaged over some ranks of a ranking.
//!
//! Two ways of trec_eval to average nDCG over a ranking's own ranks and not at one cutoff:
//! m_ndcg_rel.c at the documents with a gain, m_Rndcg.c where the ideal gain changes.
//!
//! The state is DCG and ideal DCG. DCG grows at listed documents only. The ideal DCG grows at each
//! rank down to the end of the ideal ranking, and the first walker reads it at arbitrary ranks: its
//! values are laid out rank by rank (`bests`) down to the last document that is listed. The second
//! reads it at the end of each run of equal gains alone, and adds each run in one loop. Both add in
//! rank order with one quotient a rank, as the formula does; only the ranks of the *row* are
//! skipped.

use std::iter::Peekable;
use std::slice::Iter;

use super::walker::{Logarithms, WalkInput, WalkScratch, Walker, documents, ideal_gains};
use crate::fold::{CodeTable, ratio};
use crate::matrix::Document;

/// The walk of nDCGrel: nDCG averaged over the documents with a positive gain.
pub(super) struct NdcgOverRelevantWalk {
    gain: CodeTable,
    logarithms: Logarithms,
}

/// The walk of RnDCG: nDCG averaged over the ranks at which the ideal gain changes.
pub(super) struct NdcgOverChangesWalk {
    gain: CodeTable,
    logarithms: Logarithms,
}

impl NdcgOverRelevantWalk {
    pub fn new(gain: CodeTable, tabled: usize) -> Self {
        Self { gain, logarithms: Logarithms::new(tabled + 2) }
    }

    /// Computes the ideal DCG down to each rank from 0 on, as far as it grows and down to rank
    /// `deepest`.
    fn bests(&self, ideal: &[(f64, u32)], deepest: usize, bests: &mut Vec<f64>) {
        let (mut sum, mut rank) = (0.0, 0);
        bests.clear();
        bests.push(sum);
        for &(gain, count) in ideal {
            for _ in 0..(count as usize).min(deepest - rank) {
                rank += 1;
                sum += gain / self.logarithms.lg(rank + 1);
                bests.push(sum);
            }
        }
    }
}

impl Walker for NdcgOverRelevantWalk {
    fn value(&self, row: &WalkInput<'_>, scratch: &mut WalkScratch) -> f64 {
        let WalkScratch { ideal, bests, .. } = scratch;
        ideal_gains(&self.gain, row.facts, ideal);
        self.bests(ideal, row.documents.last().map_or(0, |last| last.rank as usize + 1), bests);
        let (mut dcg, mut found, mut sum) = (0.0, 0, 0.0);
        for document in row.documents {
            let gain = self.gain[usize::from(document.code)];
            let rank = document.rank as usize + 1;
            dcg += gain / self.logarithms.lg(rank + 1);
            if gain > 0.0 {
                sum += dcg / bests[rank.min(bests.len() - 1)];
                found += 1;
            }
        }
        // Documents that were not retrieved have no rank of their own: each counts with the last
        // DCG over the whole ideal DCG.
        let documents = documents(ideal) as f64;
        let missing = documents - f64::from(found);
        // Negative gains can make the value negative; it counts as 0 then.
        ratio(sum + ratio(missing * dcg, row.numbers[0]), documents).max(0.0)
    }
}

impl NdcgOverChangesWalk {
    pub fn new(gain: CodeTable, tabled: usize) -> Self {
        Self { gain, logarithms: Logarithms::new(tabled + 2) }
    }

    /// Adds to a DCG the discounted gains of the listed documents, not yet passed, that are above
    /// index `end`.
    #[inline]
    fn add_above(&self, mut dcg: f64, left: &mut Peekable<Iter<'_, Document>>, end: usize) -> f64 {
        while let Some(document) = left.next_if(|document| (document.rank as usize) < end) {
            dcg += self.gain[usize::from(document.code)]
                / self.logarithms.lg(document.rank as usize + 2);
        }
        dcg
    }
}

impl Walker for NdcgOverChangesWalk {
    fn value(&self, row: &WalkInput<'_>, scratch: &mut WalkScratch) -> f64 {
        if row.numbers[0] == 0.0 {
            return 0.0;
        }
        ideal_gains(&self.gain, row.facts, &mut scratch.ideal);
        let (mut dcg, mut best, mut rank, mut sum, mut count) = (0.0, 0.0, 0, 0.0, 0.0);
        let mut left = row.documents.iter().peekable();
        for same in scratch.ideal.chunk_by(|one, next| one.0 == next.0) {
            let end = rank + documents(same);
            best = self.logarithms.add_discounted(best, same[0].0, rank..end);
            dcg = self.add_above(dcg, &mut left, end);
            sum += dcg / best;
            count += 1.0;
            rank = end;
        }
        // trec_eval notices the last change one rank late, and then needs one more document: hence
        // 2 instead of 1.
        if rank > 0 && row.depth >= rank + 2 {
            sum += self.add_above(dcg, &mut left, usize::MAX) / best;
            count += 1.0;
        }
        ratio(sum, count)
    }
}

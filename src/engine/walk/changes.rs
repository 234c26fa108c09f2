//! DCG over ideal DCG, averaged over some ranks.
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

use super::walker::{Logarithms, WalkScratch, Walked, Walker, documents, ideal_gains, ratio};
use crate::fold::CodeTable;

/// The average over the documents with a positive gain.
pub(super) struct AtGains {
    gain: CodeTable,
    logarithms: Logarithms,
}

/// The average over the ranks at which the ideal gain changes.
pub(super) struct AtChanges {
    gain: CodeTable,
    logarithms: Logarithms,
}

impl AtGains {
    pub fn new(gain: CodeTable, tabled: usize) -> Self {
        AtGains { gain, logarithms: Logarithms::new(tabled + 2) }
    }

    /// The ideal DCG down to each rank from 0 on, as far as it grows and as it is needed.
    fn bests(&self, ideal: &[(f64, u32)], deepest: usize, bests: &mut Vec<f64>) {
        let (mut sum, mut rank) = (0.0, 0);
        bests.clear();
        bests.push(sum);
        for &(gain, count) in ideal {
            for _ in 0..(count as usize).min(deepest - rank) {
                rank += 1;
                sum += gain / self.logarithms.of(rank + 1);
                bests.push(sum);
            }
        }
    }
}

impl Walker for AtGains {
    fn value(&self, row: &Walked<'_>, scratch: &mut WalkScratch) -> f64 {
        let WalkScratch { ideal, bests, .. } = scratch;
        ideal_gains(&self.gain, row.facts, ideal);
        self.bests(ideal, row.documents.last().map_or(0, |last| last.rank as usize + 1), bests);
        let (mut dcg, mut found, mut sum) = (0.0, 0, 0.0);
        for document in row.documents {
            let gain = self.gain[usize::from(document.code)];
            let rank = document.rank as usize + 1;
            dcg += gain / self.logarithms.of(rank + 1);
            if gain > 0.0 {
                sum += dcg / bests[rank.min(bests.len() - 1)];
                found += 1;
            }
        }
        let documents = documents(ideal) as f64;
        let missing = documents - f64::from(found);
        // Negative gains can make the value negative; it counts as 0 then.
        ratio(sum + ratio(missing * dcg, row.numbers[0]), documents).max(0.0)
    }
}

impl AtChanges {
    pub fn new(gain: CodeTable, tabled: usize) -> Self {
        AtChanges { gain, logarithms: Logarithms::new(tabled + 2) }
    }
}

impl Walker for AtChanges {
    fn value(&self, row: &Walked<'_>, scratch: &mut WalkScratch) -> f64 {
        if row.numbers[0] == 0.0 {
            return 0.0;
        }
        ideal_gains(&self.gain, row.facts, &mut scratch.ideal);
        let (mut dcg, mut best, mut rank, mut sum, mut count) = (0.0, 0.0, 0, 0.0, 0.0);
        let mut left = row.documents.iter().peekable();
        let mut dcg_above = |end: usize| {
            while let Some(document) = left.next_if(|document| (document.rank as usize) < end) {
                dcg += self.gain[usize::from(document.code)]
                    / self.logarithms.of(document.rank as usize + 2);
            }
            dcg
        };
        for same in scratch.ideal.chunk_by(|one, next| one.0 == next.0) {
            let end = rank + documents(same);
            best = self.logarithms.add_discounted(best, same[0].0, rank..end);
            sum += dcg_above(end) / best;
            count += 1.0;
            rank = end;
        }
        // trec_eval notices the last change one rank late, and then needs one more document: hence
        // 2 instead of 1.
        if rank > 0 && row.depth >= rank + 2 {
            sum += dcg_above(usize::MAX) / best;
            count += 1.0;
        }
        ratio(sum, count)
    }
}

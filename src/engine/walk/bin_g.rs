//! The walk of BinG: hits discounted by the number of documents above that are not hits.
//!
//! trec_eval's m_binG.c. The state is h, the number of hits so far. Above a hit of index r (from 0)
//! are r − h other documents, so ranks without a hit need no step. So a ranking costs one table
//! look-up for each heeded document.

use super::walker::{WalkInput, WalkScratch, Walker};
use crate::fold::ratio;
use crate::matrix::CodesAbove;

pub(super) struct BinGWalk {
    hits: CodesAbove,
    /// The terms of hits, by the number of other documents above.
    terms: Vec<f64>,
}

/// Returns the term of BinG, 1 / lg(2 + `others`), for a hit below `others` documents that are not
/// hits.
fn term(others: usize) -> f64 {
    1.0 / ((2 + others) as f64).log2()
}

impl BinGWalk {
    pub fn new(hits: CodesAbove, tabled: usize) -> Self {
        Self { hits, terms: (0..tabled).map(term).collect() }
    }
}

impl Walker for BinGWalk {
    fn value(&self, row: &WalkInput<'_>, _: &mut WalkScratch) -> f64 {
        let (mut above, mut sum) = (0, 0.0);
        for document in row.documents {
            let others = document.rank as usize - above;
            let term = self.terms.get(others).copied().unwrap_or_else(|| term(others));
            let hit = self.hits.contains(document.code);
            // Without a branch: lists are shared with other walks, and which documents are hits is
            // not predictable. Adding 0.0 changes no bit.
            sum += if hit { term } else { 0.0 };
            above += usize::from(hit);
        }
        ratio(sum, row.numbers[0])
    }
}

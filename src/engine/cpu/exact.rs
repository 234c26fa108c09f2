//! CPU kernels for sums over the exact grades of documents, used if label codes are only classes of
//! grades. Documents are listed lane by lane, and added in rank order.
//!
//! With more distinct grades than codes, a label gives only the class of a document, and a list
//! beside the tile gives the grade. The lists are as sparse as judgments and would not fill
//! vectors. So the kernels go lane by lane, and merge the documents of a lane with its grades.

use super::documents::Documents;
use crate::fold::{CodeTable, ExactGains, Weights};
use crate::matrix::{CodesAbove, Document, Tile};

/// A weighted sum or a cascade over the exact grades of documents, with gains and weights of ranks.
#[derive(Debug)]
pub(super) struct ExactGainSum {
    pub kind: ExactSumKind,
    pub gain: CodeTable,
    pub weights: Weights,
}

/// The kind of a sum over exact grades: discounted gains, or discounted chances to stop.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExactSumKind {
    /// The discounted gains.
    Weighted,
    /// The discounted chances to stop.
    Cascade,
}

impl ExactGainSum {
    /// Computes the sum over each ranking of a tile at each of `cuts`, ascending ranks, as
    /// `[cut][lane]`. `grades` returns the exact grades of a lane's judged documents in rank order.
    pub fn sum<'g>(
        &self,
        tile: Tile<'_>,
        grades: impl Fn(usize) -> &'g [f64],
        cuts: &[u32],
        documents: &mut Documents,
        out: &mut [f64],
    ) {
        let Self { kind, gain, weights } = self;
        let Some(exact) = gain.exact() else { return out.fill(0.0) };
        let deepest = cuts.last().map_or(0, |&cut| tile.depth.min(cut as usize));
        let tile = tile.shallower(deepest.next_multiple_of(crate::matrix::QUAD));
        documents.forget();
        for lane in 0..tile.lanes {
            let ranked = documents.lane(tile, lane, heeds(gain));
            let (mut left, mut grades) = (ranked.iter().peekable(), grades(lane));
            let (mut sum, mut goes_on) = (0.0, 1.0);
            for (&cut, out) in cuts.iter().zip(out[lane..].iter_mut().step_by(tile.lanes)) {
                while let Some(&document) = left.next_if(|document| document.rank < cut) {
                    let gain = gain_of(document, gain, exact, &mut grades);
                    // Invariant: the grades of a lane are those of its judged documents in rank
                    // order, one each, so both lists are walked in step. A document that is heeded
                    // and has no judgment takes no grade.
                    match kind {
                        // A gain of 0 changes no sum, and has no term in the plain formula.
                        ExactSumKind::Weighted => sum += weights.term(gain, document.rank as usize),
                        ExactSumKind::Cascade => {
                            sum += weights.term(goes_on * gain, document.rank as usize);
                            goes_on *= 1.0 - gain;
                        }
                    }
                }
                *out = sum;
            }
        }
    }
}

/// Returns the codes of all documents that may have a gain: judged documents, and unjudged ones
/// whose codes have gains.
fn heeds(codes: &CodeTable) -> CodesAbove {
    // The set has all judged documents, even with gain 0: documents and grades must stay in step.
    let first = (1..=CodesAbove::JUDGED.0).find(|&code| codes[usize::from(code)] != 0.0);
    first.map_or(CodesAbove::JUDGED, |code| CodesAbove(code - 1))
}

/// Returns the gain of a document, by its exact grade if the document is judged, else by its code.
/// `grades` holds the grades of the judged documents from `document` on.
#[inline]
fn gain_of(document: Document, codes: &CodeTable, exact: &ExactGains, grades: &mut &[f64]) -> f64 {
    if !CodesAbove::JUDGED.contains(document.code) {
        return codes[usize::from(document.code)];
    }
    grades.split_off_first().map_or(0.0, |&grade| exact.gain(grade))
}

//! Sums over the exact grades of documents, where codes are classes of grades. Documents are listed
//! lane by lane, and added in rank order.
//!
//! With more distinct grades than codes, a label gives only the class of a document, and a list
//! beside the tile gives the grade. The lists are as sparse as judgments and would not fill
//! vectors. So the kernels go lane by lane, and merge the documents of a lane with its grades.

use super::documents::Documents;
use crate::fold::{CodeTable, ExactGains, Weights};
use crate::matrix::{Above, Document, Tile};

/// A sum over exact grades.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExactGainSum {
    /// The discounted gains.
    Weighted,
    /// The discounted chances to stop.
    Cascade,
}

impl ExactGainSum {
    /// Computes the sum at each of `cuts`, ascending ranks, as `[cut][lane]`. `grades` returns the
    /// exact grades of a lane's judged documents in rank order.
    pub fn of<'g>(
        self,
        tile: Tile<'_>,
        grades: impl Fn(usize) -> &'g [f64],
        (gain, weights): (&CodeTable, &Weights),
        cuts: &[u32],
        documents: &mut Documents,
        out: &mut [f64],
    ) {
        let Some(exact) = gain.exact() else { return out.fill(0.0) };
        let deepest = cuts.last().map_or(0, |&cut| tile.depth.min(cut as usize));
        let tile = tile.shallower(deepest.next_multiple_of(crate::matrix::GROUP));
        let gains = DocumentGains { codes: gain, exact };
        documents.forget();
        for lane in 0..tile.lanes {
            let ranked = documents.of(tile, lane, gains.heeds());
            let (mut left, mut grades) = (ranked.iter().peekable(), grades(lane));
            let (mut sum, mut goes_on) = (0.0, 1.0);
            for (&cut, out) in cuts.iter().zip(out[lane..].iter_mut().step_by(tile.lanes)) {
                while let Some(&document) = left.next_if(|document| document.rank < cut) {
                    let gain = gains.of(document, &mut grades);
                    // Invariant: the grades of a lane are those of its judged documents in rank
                    // order, one each, so both lists are walked in step. A document that is heeded
                    // and has no judgment takes no grade.
                    match self {
                        // A gain of 0 changes no sum, and has no term in the plain formula.
                        ExactGainSum::Weighted => sum += weights.term(gain, document.rank as usize),
                        ExactGainSum::Cascade => {
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

/// The gains of documents.
struct DocumentGains<'a> {
    codes: &'a CodeTable,
    exact: &'a ExactGains,
}

impl DocumentGains<'_> {
    /// Returns a set with all documents that may have a gain: all judged documents, and unjudged
    /// documents if their codes have gains.
    fn heeds(&self) -> Above {
        // The set has all judged documents, even with gain 0: documents and grades must stay in
        // step.
        let first = (1..=Above::JUDGED.0).find(|&code| self.codes[usize::from(code)] != 0.0);
        first.map_or(Above::JUDGED, |code| Above(code - 1))
    }

    /// Returns the gain of a document. `grades` holds the grades of the judged documents from
    /// `document` on.
    #[inline]
    fn of(&self, document: Document, grades: &mut &[f64]) -> f64 {
        if !Above::JUDGED.contains(document.code) {
            return self.codes[usize::from(document.code)];
        }
        grades.split_off_first().map_or(0.0, |&grade| self.exact.of(grade))
    }
}

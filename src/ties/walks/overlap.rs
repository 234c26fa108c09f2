//! The expected value of Compat, the overlap with the nearest ideal ranking, over tie orders in
//! closed form.

use super::super::{
    folds::FoldTables,
    probability::Hypergeometric,
    tie_segments::{SegmentPrefix, TieSegments},
};
use crate::fold::ratio;
use crate::matrix::Codebook;

// The value is Σ pᵈ⁻¹·overlap(d)/d over depths d, divided by the sum for the ideal ranking itself,
// or by the sum of all weights. Here overlap(d) counts the documents in the first d of both the
// ranking and the ideal ranking. Of the many ideal rankings the nearest counts: within a grade, the
// nearest ideal ranking keeps the order of the ranking, and puts documents not retrieved last. So
//
// * The n-th document of a grade in the ranking has the place b + n of the ideal ranking, where b
//   documents have better grades. b is a number of the judgments, n a number of the ranking: no
//   other document matters.
// * The document is in both prefixes from depth max(rank, place) on: at this depth its overlap
//   *begins*. overlap(d) is the number of documents that have begun by d, and its expectation is
//   the sum of their chances to have begun.
//
// So the only quantity needed is B(d), the expected number of documents with an overlap that begins
// at d. A document of the grade stands at rank j of a group with the chance count/size. Given rank
// j, x of the `count − 1` fellows of the document stand above, drawn among j − 1 of size − 1, and
// the overlap begins at
//
//     max(above + j, place + x + 1)       above: documents before the group;
//                                         place: b, and fellows of earlier groups
//
//     x →      0   1   2   3     place = above + 2: two better documents are not among those above
//     j = 1    ■                 ■ begins at its place, place + x + 1 > above + j: one number a
//     j = 2    ■   ■               column, `beyond`, added over j
//     j = 3    □   ■   ■         □ begins at its rank: one number a row, `here`
//     j = 4    □   □   ■   ■
//
// Each row is one draw, which stores only the numbers within its spread, some √j. A group of one
// code draws nothing. Among subnormal weights p·w may round to w, so the weights stall at a size
// too small for any sum: rows behind the last normal weight are not drawn. A million equal scores
// take 54 to 68 ms, and took 5,281 ms when the rows behind were drawn too (benches/RESULTS.md).
/// Returns the expected rank-biased overlap of a ranking with the nearest ideal ranking, over tie
/// orders. A document's overlap begins at the later of two depths: its rank, and its place in the
/// ideal ranking. The place follows all better documents, and the documents of its grade above.
pub fn compatibility(
    row: &TieSegments<'_>,
    p: f64,
    normalize: bool,
    tables: &mut FoldTables,
) -> f64 {
    let codes: Vec<_> = row
        .facts
        .iter()
        .filter(|&(code, _)| is_positive(row.book, code))
        .map(|(code, count)| (code, count as usize))
        .collect();
    let ideal: usize = codes.iter().map(|&(_, count)| count).sum();
    let weights = std::iter::successors(Some(1.0), |weight| Some(weight * p)).take(row.depth);
    let weighed = weights.take_while(|&weight: &f64| weight >= f64::MIN_POSITIVE).count();
    let mut begins = OverlapBegins { within: vec![0.0; row.depth + 1], deeper: Vec::new() };
    let mut counts = [0usize; 256];
    for part in row.parts(usize::MAX) {
        for (code, count) in part.counts().filter(|&(code, _)| is_positive(row.book, code)) {
            // Codes ascend by grade, so a higher code is a better document.
            let better = codes.iter().filter(|&&(other, _)| other > code);
            let better: usize = better.map(|&(_, count)| count).sum();
            let place = better + counts[usize::from(code)];
            if count as usize == part.size {
                (1..=part.read).for_each(|j| begins.add((part.above + j).max(place + j), 1.0));
            } else {
                let ranks = part.read.min(weighed.saturating_sub(part.above));
                begins.add_drawn(part, count, place, ranks, &mut tables.chances);
            }
            // Invariant: only the last part of a row can be incomplete, because a cut ends the row.
            // No later part reads `counts`, so an incomplete part adds 0.
            if part.is_whole() {
                counts[usize::from(code)] += count as usize;
            }
        }
    }
    begins.overlap(ideal, row.depth, p, normalize)
}

/// Returns whether a label code stands for a grade above 0.
fn is_positive(book: &Codebook, code: u8) -> bool {
    book.grade(code).is_some_and(|grade| grade > 0.0)
}

// A document that stands high in the ranking and low in the ideal one begins deeper than the
// ranking goes. The deeper ranks can be as many as the judgments, and a file may claim 2²⁸
// judgments: so the deeper ranks are a list, not an array by rank.
/// The expected number of documents whose overlap with the ideal ranking begins at a rank, by rank.
struct OverlapBegins {
    /// By rank, within the ranking.
    within: Vec<f64>,
    /// Ranks that are deeper than the ranking, in any order.
    deeper: Vec<(usize, f64)>,
}

impl OverlapBegins {
    #[inline(always)]
    fn add(&mut self, rank: usize, mass: f64) {
        match self.within.get_mut(rank) {
            Some(begins) => *begins += mass,
            None => self.deeper.push((rank, mass)),
        }
    }

    /// Adds the `count` documents of one grade in a tie group with other documents, drawn for the
    /// first `ranks` ranks of the group. `place` documents precede the first of the `count` in the
    /// ideal ranking.
    fn add_drawn(
        &mut self,
        part: SegmentPrefix<'_>,
        count: u32,
        place: usize,
        ranks: usize,
        chances: &mut Hypergeometric,
    ) {
        let stands = f64::from(count) / part.size as f64;
        let mut beyond = vec![0.0; count as usize];
        for j in 1..=ranks {
            chances.draw(part.size as u64 - 1, u64::from(count) - 1, j as u64 - 1);
            // The documents whose overlap begins at their own rank are added to one number.
            let mut here = 0.0;
            for (x, chance) in chances.iter() {
                let rank = place + x as usize + 1;
                if rank <= part.above + j {
                    here += chance;
                } else {
                    beyond[x as usize] += chance;
                }
            }
            self.add(part.above + j, stands * here);
        }
        for (x, mass) in beyond.into_iter().enumerate().filter(|&(_, mass)| mass > 0.0) {
            self.add(place + x + 1, stands * mass);
        }
    }

    /// Returns the weighted overlap of a ranking of `depth` documents with an ideal ranking of
    /// `ideal` documents, as a share of the ideal ranking's own, or of all weights.
    fn overlap(mut self, ideal: usize, depth: usize, p: f64, normalize: bool) -> f64 {
        self.deeper.sort_unstable_by_key(|&(rank, _)| rank);
        let mut deeper = self.deeper.into_iter().peekable();
        let (mut overlap, mut weight, mut found, mut best, mut whole) = (0.0, 1.0, 0.0, 0.0, 0.0);
        for depth in 1..=ideal.max(depth) {
            // A weight of 0 adds nothing, and all later weights are 0 too.
            if weight == 0.0 {
                break;
            }
            overlap += self.within.get(depth).copied().unwrap_or(0.0);
            while let Some((_, mass)) = deeper.next_if(|&(rank, _)| rank <= depth) {
                overlap += mass;
            }
            found += weight * overlap / depth as f64;
            best += weight * ideal.min(depth) as f64 / depth as f64;
            whole += weight;
            weight *= p;
        }
        ratio(found, if normalize { best } else { whole })
    }
}

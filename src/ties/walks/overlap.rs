//! The closed form of the overlap with the nearest ideal ranking.

use super::super::chance::{Hypergeometric, ratio};
use super::super::folds::FoldTables;
use super::super::row::{RankingPieces, ReadPiece};

// The value is Σ pᵈ⁻¹·overlap(d)/d over depths d, where overlap(d) is how many of the first d
// documents are among the first d of the ideal ranking, over the same sum for the ideal ranking
// itself, or over all weights. Of the many ideal rankings the nearest is meant: it has the
// documents of one grade in the order of the ranking, and those that were not retrieved behind
// them. So
//
// * The n-th document of a grade in the ranking has the place b + n of the ideal ranking, where b
//   documents have better grades. b is a number of the judgments, n a number of the ranking: no
//   other document matters.
// * It is in both prefixes from depth max(rank, place) on: its overlap *begins* there. overlap(d)
//   is the number of documents that have begun by d, and its expectation is the sum of their
//   chances to have begun.
//
// So it is enough to know B(d), the expected number that begin at d. A document of the grade stands
// at rank j of a group with the chance count/size. Given that, x of its `count − 1` fellows stand
// above it, drawn among j − 1 of size − 1, and it begins at
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
// Each row is one draw, from which only the few numbers within its spread are stored, some √j of
// them. A group of one code draws nothing. Among subnormal weights p·w may round to w, so weights
// stall there, at a size that matters to no sum: rows behind the last normal weight are not drawn.
// A million equal scores take 54 to 68 ms, and took 5,281 when these rows were drawn too
// (benches/RESULTS.md).
/// Rank-biased overlap with the nearest ideal ranking. A document's overlap begins at the later of
/// its rank and its place in the ideal ranking, behind the better ones and those of its grade that
/// stand above it.
pub fn compatibility(
    row: &RankingPieces<'_>,
    p: f64,
    normalize: bool,
    tables: &mut FoldTables,
) -> f64 {
    let positive = |code: u8| row.book.grade(code).is_some_and(|grade| grade > 0.0);
    let codes: Vec<(u8, u64)> = row
        .facts
        .iter()
        .filter(|&(code, _)| positive(code))
        .map(|(code, count)| (code, count.into()))
        .collect();
    // Codes ascend by grade, so a higher code is a better document.
    let better = |code: u8| {
        codes.iter().filter(|&&(of, _)| of > code).map(|&(_, count)| count as usize).sum::<usize>()
    };
    let ideal: usize = codes.iter().map(|&(_, count)| count as usize).sum();
    let weights = std::iter::successors(Some(1.0), |weight| Some(weight * p)).take(row.depth);
    let weighed = weights.take_while(|&weight: &f64| weight >= f64::MIN_POSITIVE).count();
    let mut begins = OverlapBegins { within: vec![0.0; row.depth + 1], deeper: Vec::new() };
    let mut met = [0usize; 256];
    for part in row.parts(usize::MAX) {
        for (code, count) in part.counts().filter(|&(code, _)| positive(code)) {
            let place = better(code) + met[usize::from(code)];
            if count as usize == part.size {
                (1..=part.read).for_each(|j| begins.add((part.above + j).max(place + j), 1.0));
            } else {
                let ranks = part.read.min(weighed.saturating_sub(part.above));
                begins.add_drawn(part, count, place, ranks, &mut tables.chances);
            }
            // Invariant: a part that is not whole is the last of the row, so nobody reads what it
            // would have added.
            met[usize::from(code)] += if part.is_whole() { count as usize } else { 0 };
        }
    }
    begins.overlap(ideal, row.depth, p, normalize)
}

// A document that stands high in the ranking and low in the ideal one begins deeper than the
// ranking goes. Such ranks are as many as judgments, which a file may claim to be 2²⁸, so they are
// kept as a list and not by index.
/// The expected number of documents whose overlap begins at a rank.
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

    /// Adds the `count` documents of a grade in a group with others, of which the first one has
    /// this place in the ideal ranking. They are drawn for the first `ranks` ranks of the group.
    fn add_drawn(
        &mut self,
        part: ReadPiece<'_>,
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
        beyond
            .iter()
            .enumerate()
            .filter(|&(_, &mass)| mass > 0.0)
            .for_each(|(x, &mass)| self.add(place + x + 1, stands * mass));
    }

    /// The weighted overlap of a ranking of `depth` documents with an ideal one of `ideal`, as a
    /// share of the ideal ranking's own, or of all weights.
    fn overlap(mut self, ideal: usize, depth: usize, p: f64, normalize: bool) -> f64 {
        self.deeper.sort_unstable_by_key(|&(rank, _)| rank);
        let mut deeper = self.deeper.into_iter().peekable();
        let (mut overlap, mut weight, mut found, mut best, mut whole) = (0.0, 1.0, 0.0, 0.0, 0.0);
        for depth in 1..=ideal.max(depth) {
            // A weight of 0 and those that follow add nothing.
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

//! The expected values, over tie orders, of C/W/L users who stop at a hit: the first hit, or the
//! last wanted hit.

use super::super::{
    folds::{self, FoldTables},
    probability::{DoubleDouble, Hypergeometric, ranks_of},
    tie_segments::TieSegments,
};
use crate::matrix::CodesAbove;

// A C/W/L measure is Σ wᵢ·gᵢ / Σ wᵢ, with w₁ = 1 and wᵢ₊₁ = wᵢ·C(i). In NERR a gain of 1 stops the
// user, C = 0: all weights behind the first hit are 0. So the value is w_f / (w₁ + … + w_f) for the
// rank f of the first hit, a function of f alone, and its expectation is one sum over the chances
// of f. Without a hit the value is 0. With graded gains the user goes on behind a document in part,
// and this breaks.
/// Returns the closed form of a C/W/L user who stops at the first hit (NERR): the weight of the
/// hit's rank as a share of the weights down to it.
pub fn first_gain(
    hits: CodesAbove,
    ranks: usize,
    goes_on: impl Fn(f64) -> f64,
) -> impl Fn(&TieSegments<'_>, &mut FoldTables) -> f64 + Send + Sync {
    let (mut weight, mut weights) = (1.0, 0.0);
    let shares: Vec<f64> = (1..=ranks)
        .map(|rank| {
            weights += weight;
            let share = weight / weights;
            weight *= goes_on(rank as f64);
            share
        })
        .collect();
    move |row: &TieSegments<'_>, _: &mut FoldTables| {
        folds::first_hit(row, ranks, hits, |index| shares[index])
    }
}

// BPM reads to the rank s of the hit numbered `wanted`, or `most` ranks, and takes hits / ranks
// read:
//
//     wanted / s                   if that hit is within the first `most` ranks
//     (hits within `most`) / most  otherwise
//
// With a few hits short of the wanted hit, the number `last` of the group's own hits decides. Its
// rank in the group has a negative hypergeometric chance, C(j−1, last−1)·C(t−j, found−last) / C(t,
// found). The group with the wanted hit decides the value, whatever follows, so the walk returns at
// this group. A cut group is an exception: fewer than `last` of its hits may be within reach, and
// each smaller number x adds its own value with its own chance.
/// Returns the expected BPM over tie orders: a C/W/L user stops at the rank of the last hit that he
/// wants, or after `most` ranks.
pub fn bejeweled(row: &TieSegments<'_>, hits: CodesAbove, target: f64, most: usize) -> f64 {
    let wanted = target.ceil().max(1.0) as usize;
    let (mut hit_count, mut expected) = (0, 0.0);
    for part in row.parts(most) {
        let found = part.count(hits);
        if hit_count + found < wanted {
            hit_count += if part.is_whole() { found } else { 0 };
            expected = if part.is_whole() {
                hit_count as f64
            } else {
                hit_count as f64 + found as f64 * (part.read as f64 / part.size as f64)
            };
            continue;
        }
        let last = wanted - hit_count;
        if found == part.size {
            return if last <= part.read {
                wanted as f64 / (part.above + last) as f64
            } else {
                (hit_count + part.read) as f64 / most as f64
            };
        }
        let mut sum = DoubleDouble::default();
        let chances = ranks_of(part.size as u64, found as u64, last as u64, part.read);
        for (rank, chance) in (part.above + 1..).zip(chances) {
            sum += chance * wanted as f64 / rank as f64;
        }
        // A cut part is the last one: its end is `most`, or the end of the ranking.
        if !part.is_whole() {
            let mut chances = Hypergeometric::default();
            chances.fill(part.size as u64, found as u64, part.read as u64);
            sum += chances.mean(|x| {
                if x < last as u64 { (hit_count as f64 + x as f64) / most as f64 } else { 0.0 }
            });
        }
        return sum.value();
    }
    expected / most as f64
}

//! The search for the best or worst value of a measure over tie orders where no single order of
//! codes gives it. The search is over the number of hits of the group above the cut.
//!
//! Why the search is exhaustive: a value here is a function of two numbers that pull in different
//! directions. The first number is n, the hits in the read part of the *cut* group. The second
//! number is a sum over the ranks of the hits. For a given n the best order for the sum is known:
//! hits first, or last for the smallest value, since the divisor depends on n alone. The search
//! tries every n admitted by the group:
//!
//! ```text
//!     found + read − size ≤ n ≤ min(found, read)      at least found + read − size hits, as others
//!                                                     fill no more than size − found ranks
//! ```
//!
//! Groups above the cut group are read whole: their number of hits is known, and hits first (or
//! last) is best for each group by itself. At most one group is cut, so the search is linear in the
//! size of the cut group. InfAP is another case: InfAP has no divisor of its own, but three kinds
//! of documents that an exchange argument does not order. The search for InfAP tries all merges of
//! two of the three kinds.

use std::ops::RangeInclusive;

use super::{
    expected::TieScratch,
    folds::inferred_term,
    probability::{DoubleDouble, SumTables},
    tie_segments::TieSegments,
};
use crate::fold::{Discount, ratio};
use crate::matrix::{Codebook, CodesAbove};
use crate::measure::Measure;

/// A best or worst value of a measure that has to be searched for in each ranking with ties, with
/// the measure's hits and its cutoff.
pub struct ExtremeSearch {
    kind: SearchKind,
    hits: CodesAbove,
    ranks: usize,
    /// Whether the value is the largest one, or the smallest.
    largest: bool,
}

/// The kind of measure whose best or worst value over tie orders is searched for.
#[derive(Clone, Copy)]
enum SearchKind {
    Accuracy,
    MeanOverHits(HitTerm),
    FallOut,
    Inferred,
}

/// Returns the numbers of hits that the first `read` ranks of a tie group may have, of whose `size`
/// documents `found` are hits.
fn feasible(size: usize, found: usize, read: usize) -> RangeInclusive<usize> {
    (found + read).saturating_sub(size)..=found.min(read)
}

/// Returns the largest of some values if `largest`, else the smallest.
fn extreme(values: impl Iterator<Item = f64>, largest: bool) -> f64 {
    values.reduce(if largest { f64::max } else { f64::min }).unwrap_or(0.0)
}

impl ExtremeSearch {
    pub(super) fn new(m: &Measure, book: &Codebook, largest: bool) -> Option<Self> {
        let kind = match m.definition().name {
            "Accuracy" => SearchKind::Accuracy,
            "AP" => SearchKind::MeanOverHits(HitTerm::Precision),
            "RR" => SearchKind::MeanOverHits(HitTerm::Reciprocal),
            "FallOut" => SearchKind::FallOut,
            "InfAP" => SearchKind::Inferred,
            _ => return None,
        };
        let ranks = m.rank().map_or(usize::MAX, |rank| rank as usize);
        Some(Self { kind, hits: book.at_least(m.rel()), ranks, largest })
    }

    /// Returns the best or worst value of the measure over the tie orders of a ranking.
    pub fn value(&self, row: &TieSegments<'_>, scratch: &mut TieScratch) -> f64 {
        let Self { kind, hits, ranks, largest } = *self;
        match kind {
            SearchKind::Accuracy => accuracy(row, hits, ranks, largest),
            SearchKind::MeanOverHits(term) => {
                mean_over_hits(row, term, hits, ranks, largest, &mut scratch.tables.sums)
            }
            SearchKind::FallOut => fall_out(row, hits, ranks, largest),
            SearchKind::Inferred => inferred(row, hits, largest),
        }
    }
}

// Accuracy@k = 1 − wrong/(others·hits), over the pairs of a hit and another document within k. For
// n hits in the part, `wrong_pairs` is, if `largest`, the least number of wrong pairs: others above
// the part stand above each of the n, and with hits first no others of the part do.
/// Returns the largest or smallest Accuracy over tie orders: hits stand first, or last, in the part
/// of each tie group that is read.
fn accuracy(row: &TieSegments<'_>, hits: CodesAbove, ranks: usize, largest: bool) -> f64 {
    let (mut hit_count, mut wrong, mut read) = (0, 0u64, 0);
    for part in row.parts(ranks) {
        let found = part.count(hits);
        let others = (part.above - hit_count) as u64;
        read = part.above + part.read;
        // The least number, if `largest`, or the greatest number of pairs of one of `found` hits in
        // the read ranks and a non-hit above the hit.
        let wrong_pairs = |found: usize| {
            found as u64 * if largest { others } else { others + (part.read - found) as u64 }
        };
        if !part.is_whole() {
            let values = feasible(part.size, found, part.read).map(|found| {
                share_of_right_pairs(wrong + wrong_pairs(found), hit_count + found, read)
            });
            return extreme(values, largest);
        }
        wrong += wrong_pairs(found);
        hit_count += found;
    }
    share_of_right_pairs(wrong, hit_count, read)
}

/// Returns the share of the pairs of a hit and another document that are not in the wrong order; 0
/// without a hit.
fn share_of_right_pairs(wrong: u64, hits: usize, read: usize) -> f64 {
    let hits = hits as f64;
    if hits == 0.0 { 0.0 } else { 1.0 - ratio(wrong as f64, (read as f64 - hits) * hits) }
}

/// The term of each hit in a mean over hits: the precision at the hit's rank, or the reciprocal of
/// the rank.
#[derive(Clone, Copy)]
enum HitTerm {
    /// The precision at its rank.
    Precision,
    /// The reciprocal of its rank.
    Reciprocal,
}

impl HitTerm {
    /// Returns the term of a ranking's hit number `hits` at a rank.
    fn at(self, hits: usize, rank: usize) -> f64 {
        match self {
            Self::Precision => hits as f64 / rank as f64,
            Self::Reciprocal => 1.0 / rank as f64,
        }
    }

    /// Returns the sum of the terms of `found` consecutive hits below `above` ranks with
    /// `hit_count` hits; `harmonic` is Σ 1/i over the ranks of the `found` hits.
    fn run_sum(self, harmonic: DoubleDouble, found: usize, hit_count: usize, above: usize) -> f64 {
        match self {
            // Σ (H + x)/(c + x) for x = 1 … h, with c ranks above the first of them.
            Self::Precision => {
                harmonic.times(hit_count as f64 - above as f64).value() + found as f64
            }
            Self::Reciprocal => harmonic.value(),
        }
    }
}

/// Returns the largest or smallest mean of the terms of the hits over tie orders: the hits of a tie
/// group stand first, or last, in the read part.
fn mean_over_hits(
    row: &TieSegments<'_>,
    term: HitTerm,
    hits: CodesAbove,
    ranks: usize,
    largest: bool,
    sums: &mut SumTables,
) -> f64 {
    let (mut hit_count, mut sum) = (0, 0.0);
    for part in row.parts(ranks) {
        let end = part.above + part.read;
        let start = |found: usize| if largest { part.above } else { end - found };
        let mut found = part.count(hits);
        if !part.is_whole() {
            let harmonic = sums.get(Discount::Rank, end);
            let mut best = None;
            for candidate in feasible(part.size, found, part.read) {
                let above = start(candidate);
                let harmonic = harmonic.between(above, above + candidate);
                let gained = term.run_sum(harmonic, candidate, hit_count, above);
                let mean = ratio(sum + gained, (hit_count + candidate) as f64);
                if best.is_none_or(|best| if largest { mean > best } else { mean < best }) {
                    (found, best) = (candidate, Some(mean));
                }
            }
        }
        for x in 1..=found {
            sum += term.at(hit_count + x, start(found) + x);
        }
        hit_count += found;
    }
    ratio(sum, hit_count as f64)
}

// (top − above)/(depth − all): `above` counts hits above the cutoff, `all` the hits retrieved. It
// falls with the first and rises with the second. In a whole group `all` is fixed, so the extreme
// of `above` is right. In the group that a cut decides both move: for each number of hits above the
// cutoff the number behind it goes to one of its two ends, because the value is monotone in it.
/// Returns the largest or smallest FallOut over tie orders: the documents above the cutoff that are
/// no hits, as a share of all retrieved documents that are no hits. The number of documents that a
/// cut leaves at the end is searched together with the documents above the cutoff.
fn fall_out(row: &TieSegments<'_>, hits: CodesAbove, ranks: usize, largest: bool) -> f64 {
    let top = row.depth.min(ranks);
    // Hits above the cutoff, and hits of whole groups.
    let (mut above, mut hit_count) = (0, 0);
    for part in row.parts(usize::MAX) {
        let found = part.count(hits);
        let read = part.read.min(top.saturating_sub(part.above));
        let (least, most) = feasible(part.size, found, read).into_inner();
        if part.is_whole() {
            // More hits above the cutoff make it smaller.
            above += if largest { least } else { most };
            hit_count += found;
            continue;
        }
        let candidates = (least..=most).flat_map(|first| {
            let behind = feasible(part.size - read, found - first, part.read - read);
            [*behind.start(), *behind.end()].map(|second| {
                let others = row.depth - hit_count - first - second;
                ratio((top - above - first) as f64, others as f64)
            })
        });
        return extreme(candidates, largest);
    }
    ratio((top - above) as f64, (row.depth - hit_count) as f64)
}

// A pooled but unjudged document above a hit raises both the expected precision's share (k + u) and
// its divisor. So neither order of the document and the hit is always better. A document outside
// the pool only raises the divisor, and a non-relevant document never helps either. Both kinds go
// behind the hits for the largest value, and before the hits for the smallest. The remaining choice
// is a path through a lattice: hits go right, negative documents go down, and each hit pays a term
// of the cell left:
//
//            h=0   h=1   h=2
//     s=0     ┌──→──┬──→──┐       sums[s] after a hit: the best of all paths that have placed s
//     s=1     ├──→──┼──→──┤       negative documents by then, either here already (→ from the same
//     s=2     └──→──┴──→──┘       row) or by stepping down (↓ from the row above)
//
// Every merge is a path, so the extreme over all paths costs found · (unjudged + 1) terms.
// Documents behind the last hit pay nothing, so the last row holds the extreme over all rows.
/// Returns the largest or smallest InfAP over tie orders. Documents with a negative grade may stand
/// anywhere among the hits of their group. All other documents stand behind the hits, or before the
/// hits for the smallest value.
fn inferred(row: &TieSegments<'_>, hits: CodesAbove, largest: bool) -> f64 {
    let (mut relevant, mut nonrelevant, mut pooled, mut sum) = (0usize, 0usize, 0usize, 0.0);
    for part in row.parts(usize::MAX) {
        let [found, judged, unjudged] = part.pool(hits);
        let before = if largest { 0 } else { part.size - found - unjudged };
        let others = nonrelevant + if largest { 0 } else { judged };
        // The sums after each hit, by the number of negative documents that are placed.
        let mut sums = vec![sum; if found > 0 { unjudged + 1 } else { 0 }];
        for hits in 0..found {
            for seen in 0..=unjudged {
                let above = (part.above + before + hits + seen) as f64;
                let relevant = (relevant + hits) as f64;
                let judged = relevant + others as f64;
                let here =
                    sums[seen] + inferred_term(above, relevant, judged, (pooled + seen) as f64);
                sums[seen] = if seen > 0 {
                    extreme([here, sums[seen - 1]].into_iter(), largest)
                } else {
                    here
                };
            }
        }
        sum = sums.last().copied().unwrap_or(sum);
        relevant += found;
        nonrelevant += judged;
        pooled += unjudged;
    }
    ratio(sum, row.facts.count(hits) as f64)
}

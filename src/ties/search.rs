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

use super::folds::inferred_term;
use super::probability::{DoubleDouble, SumTables};
use super::tie_segments::{SegmentPrefix, TieSegments};
use crate::fold::{Discount, ratio};
use crate::matrix::code::{NEGATIVE, NOT_IN_QRELS};
use crate::matrix::{Codebook, CodesAbove};
use crate::measure::Measure;

/// A measure whose best or worst value over tie orders is searched for, with its hits and its
/// cutoff.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    kind: SearchKind,
    hits: CodesAbove,
    ranks: usize,
}

/// The kind of measure whose best or worst value over tie orders is searched for.
#[derive(Debug, Clone, Copy)]
enum SearchKind {
    Accuracy,
    MeanOverHits(HitTerm),
    FallOut,
    Inferred,
}

/// The counts of a tie group or stretch of a ranking: documents above, all documents, hits and read
/// ranks.
#[derive(Debug, Clone, Copy)]
struct SearchState {
    above: usize,
    size: usize,
    found: usize,
    read: usize,
}

impl SearchState {
    fn new(part: SegmentPrefix<'_>, hits: CodesAbove) -> Self {
        Self { above: part.above, size: part.size, found: part.count(hits), read: part.read }
    }

    /// Returns the least (if `largest`) or greatest number of pairs of one of `found` hits in the
    /// read ranks and a non-hit above the hit, below `others` non-hits.
    fn wrong_pairs(self, found: usize, others: u64, largest: bool) -> u64 {
        found as u64 * if largest { others } else { others + (self.read - found) as u64 }
    }

    /// Returns the numbers of hits that the first `read` ranks of the tie group may have.
    fn feasible(self, read: usize) -> std::ops::RangeInclusive<usize> {
        (self.found + read).saturating_sub(self.size)..=self.found.min(read)
    }
}

/// Returns the largest of some values if `largest`, else the smallest.
fn extreme(values: impl Iterator<Item = f64>, largest: bool) -> f64 {
    values.reduce(if largest { f64::max } else { f64::min }).unwrap_or(0.0)
}

impl Search {
    pub fn from_measure(m: &Measure, book: &Codebook) -> Option<Self> {
        let kind = match m.definition().name {
            "Accuracy" => SearchKind::Accuracy,
            "AP" => SearchKind::MeanOverHits(HitTerm::Precision),
            "RR" => SearchKind::MeanOverHits(HitTerm::Reciprocal),
            "FallOut" => SearchKind::FallOut,
            "InfAP" => SearchKind::Inferred,
            _ => return None,
        };
        let ranks = m.rank().map_or(usize::MAX, |rank| rank as usize);
        Some(Self { kind, hits: book.at_least(m.rel()), ranks })
    }

    /// Returns the largest or the smallest value of the measure over the tie orders of a ranking.
    pub fn value(self, row: &TieSegments<'_>, largest: bool, sums: &mut SumTables) -> f64 {
        let Self { kind, hits, ranks } = self;
        match kind {
            SearchKind::Accuracy => accuracy(row, hits, ranks, largest),
            SearchKind::MeanOverHits(term) => mean_over_hits(row, term, hits, ranks, largest, sums),
            SearchKind::FallOut => fall_out(row, hits, ranks, largest),
            SearchKind::Inferred => inferred(row, hits, largest),
        }
    }
}

// Accuracy@k = 1 − wrong/(others·hits), over the pairs of a hit and another document within k. For
// n hits in the part, `pairs` is the least number of wrong pairs: others above the part stand above
// each of the n, and with hits first no others of the part do.
/// Returns the largest or smallest Accuracy over tie orders: hits stand first, or last, in the part
/// of each tie group that is read.
fn accuracy(row: &TieSegments<'_>, hits: CodesAbove, ranks: usize, largest: bool) -> f64 {
    let (mut hit_count, mut wrong, mut read) = (0, 0u64, 0);
    for part in row.parts(ranks) {
        let at = SearchState::new(part, hits);
        let others = (at.above - hit_count) as u64;
        read = at.above + at.read;
        if !part.is_whole() {
            let values = at.feasible(at.read).map(|found| {
                let wrong = wrong + at.wrong_pairs(found, others, largest);
                share_of_right_pairs(wrong, hit_count + found, read)
            });
            return extreme(values, largest);
        }
        wrong += at.wrong_pairs(at.found, others, largest);
        hit_count += at.found;
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
#[derive(Debug, Clone, Copy)]
pub enum HitTerm {
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
        let at = SearchState::new(part, hits);
        let end = at.above + at.read;
        let start = |found: usize| if largest { at.above } else { end - found };
        let mut found = at.found;
        if !part.is_whole() {
            let harmonic = sums.get(Discount::Rank, end);
            let mut best = None;
            for candidate in at.feasible(at.read) {
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
        let at = SearchState::new(part, hits);
        let read = at.read.min(top.saturating_sub(at.above));
        if part.is_whole() {
            let feasible = at.feasible(read);
            // More hits above the cutoff make it smaller.
            above += if largest { *feasible.start() } else { *feasible.end() };
            hit_count += at.found;
            continue;
        }
        let candidates = at.feasible(read).flat_map(|first| {
            let behind = at.read - read;
            let rest = SearchState { size: at.size - read, found: at.found - first, ..at };
            let feasible = rest.feasible(behind);
            [*feasible.start(), *feasible.end()].map(|second| {
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
        let found = part.count(hits);
        let judged = part.count(CodesAbove::JUDGED.min(hits)) - found;
        let unjudged = part.count(CodesAbove(NOT_IN_QRELS)) - part.count(CodesAbove(NEGATIVE));
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

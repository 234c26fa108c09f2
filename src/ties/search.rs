//! Extreme values that no single order of codes gives. The search is over the number of hits of the
//! group above the cut.
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

use super::chance::{Double, SumTables, ratio};
use super::row::{RankingPieces, ReadPiece};
use crate::fold::Discount;
use crate::matrix::code::{NEGATIVE, UNPOOLED};
use crate::matrix::{Above, Codebook};
use crate::measure::Measure;

/// The measure whose value is searched for.
#[derive(Debug, Clone, Copy)]
pub enum Search {
    Accuracy { hits: Above, ranks: usize },
    MeanOverHits { term: HitTerm, hits: Above, ranks: usize },
    FallOut { hits: Above, ranks: usize },
    Inferred { hits: Above },
}

/// The counts of a part: documents above, all documents, hits and read ranks.
#[derive(Debug, Clone, Copy)]
struct Standing {
    above: usize,
    size: usize,
    found: usize,
    read: usize,
}

impl Standing {
    fn of(part: ReadPiece<'_>, hits: Above) -> Self {
        Standing { above: part.above, size: part.size, found: part.count(hits), read: part.read }
    }

    /// The numbers of hits that the first `read` ranks may have.
    fn feasible(self, read: usize) -> std::ops::RangeInclusive<usize> {
        (self.found + read).saturating_sub(self.size)..=self.found.min(read)
    }
}

/// The largest of some values if `largest`, else the smallest.
fn extreme(values: impl Iterator<Item = f64>, largest: bool) -> f64 {
    values.reduce(if largest { f64::max } else { f64::min }).unwrap_or(0.0)
}

impl Search {
    pub fn of(m: &Measure, book: &Codebook) -> Option<Self> {
        let hits = book.at_least(m.rel());
        let ranks = m.rank().map_or(usize::MAX, |rank| rank as usize);
        match m.definition().name {
            "Accuracy" => Some(Search::Accuracy { hits, ranks }),
            "AP" => Some(Search::MeanOverHits { term: HitTerm::Precision, hits, ranks }),
            "RR" => Some(Search::MeanOverHits { term: HitTerm::Reciprocal, hits, ranks }),
            "FallOut" => Some(Search::FallOut { hits, ranks }),
            "InfAP" => Some(Search::Inferred { hits }),
            _ => None,
        }
    }

    /// The largest or the smallest value over the orders of a row.
    pub fn of_row(self, row: &RankingPieces<'_>, largest: bool, sums: &mut SumTables) -> f64 {
        match self {
            Search::Accuracy { hits, ranks } => accuracy(row, hits, ranks, largest),
            Search::MeanOverHits { term, hits, ranks } => {
                mean_over_hits(row, term, (hits, ranks), largest, sums)
            }
            Search::FallOut { hits, ranks } => fall_out(row, hits, ranks, largest),
            Search::Inferred { hits } => inferred(row, hits, largest),
        }
    }
}

// Accuracy@k = 1 − wrong/(others·hits), over the pairs of a hit and another document within k. For
// n hits in the part, `pairs` is the least number of wrong pairs: others above the part stand above
// each of the n, and with hits first no others of the part do.
/// Accuracy: hits stand first, or last, in the part of each group that is read.
fn accuracy(row: &RankingPieces<'_>, hits: Above, ranks: usize, largest: bool) -> f64 {
    let (mut met, mut wrong, mut read) = (0, 0u64, 0);
    for part in row.parts(ranks) {
        let at = Standing::of(part, hits);
        let others = (at.above - met) as u64;
        read = at.above + at.read;
        let pairs = |found: usize| {
            let before = if largest { others } else { others + (at.read - found) as u64 };
            wrong + found as u64 * before
        };
        if !part.is_whole() {
            let value = |found: usize| {
                let hits = (met + found) as f64;
                if hits == 0.0 {
                    0.0
                } else {
                    1.0 - ratio(pairs(found) as f64, (read as f64 - hits) * hits)
                }
            };
            return extreme(at.feasible(at.read).map(value), largest);
        }
        wrong = pairs(at.found);
        met += at.found;
    }
    let hits = met as f64;
    if hits == 0.0 { 0.0 } else { 1.0 - ratio(wrong as f64, (read as f64 - hits) * hits) }
}

/// What a hit adds to a sum over hits.
#[derive(Debug, Clone, Copy)]
pub enum HitTerm {
    /// The precision at its rank.
    Precision,
    /// The reciprocal of its rank.
    Reciprocal,
}

impl HitTerm {
    /// Returns the term of the hit number `hits` at a rank.
    fn at(self, hits: usize, rank: usize) -> f64 {
        match self {
            HitTerm::Precision => hits as f64 / rank as f64,
            HitTerm::Reciprocal => 1.0 / rank as f64,
        }
    }

    /// Returns the sum of the terms of `found` consecutive hits below `above` ranks with `met`
    /// hits; `harmonic` is Σ 1/i over the ranks of the `found` hits.
    fn of_run(self, harmonic: Double, found: usize, met: usize, above: usize) -> f64 {
        match self {
            // Σ (H + x)/(c + x) for x = 1 … h, with c ranks above the first of them.
            HitTerm::Precision => harmonic.times(met as f64 - above as f64).value() + found as f64,
            HitTerm::Reciprocal => harmonic.value(),
        }
    }
}

/// Returns the extreme mean of the terms of the hits: the hits of a group stand first, or last, in
/// the read part.
fn mean_over_hits(
    row: &RankingPieces<'_>,
    term: HitTerm,
    (hits, ranks): (Above, usize),
    largest: bool,
    sums: &mut SumTables,
) -> f64 {
    let (mut met, mut sum) = (0, 0.0);
    for part in row.parts(ranks) {
        let at = Standing::of(part, hits);
        let end = at.above + at.read;
        let start = |found: usize| if largest { at.above } else { end - found };
        let mut found = at.found;
        if !part.is_whole() {
            let harmonic = sums.of(Discount::Rank, end);
            let value = |found: usize| {
                let above = start(found);
                let gained = term.of_run(harmonic.between(above, above + found), found, met, above);
                ratio(sum + gained, (met + found) as f64)
            };
            let better = |a: f64, b: f64| if largest { a > b } else { a < b };
            let mut feasible = at.feasible(at.read);
            found = feasible.next().unwrap_or(0);
            for other in feasible {
                if better(value(other), value(found)) {
                    found = other;
                }
            }
        }
        for x in 1..=found {
            sum += term.at(met + x, start(found) + x);
        }
        met += found;
    }
    ratio(sum, met as f64)
}

// (top − above)/(depth − all): `above` counts hits above the cutoff, `all` the hits retrieved. It
// falls with the first and rises with the second. In a whole group `all` is fixed, so the extreme
// of `above` is right. In the group that a cut decides both move: for each number of hits above the
// cutoff the number behind it goes to one of its two ends, because the value is monotone in it.
/// FallOut: the documents above the cutoff that are no hits, as a share of all retrieved ones. The
/// number of documents that a cut leaves at the end is searched together with the documents above
/// the cutoff.
fn fall_out(row: &RankingPieces<'_>, hits: Above, ranks: usize, largest: bool) -> f64 {
    let top = row.depth.min(ranks);
    // Hits above the cutoff, and hits of whole groups.
    let (mut above, mut met) = (0, 0);
    let value = |above: usize, all: usize| ratio((top - above) as f64, (row.depth - all) as f64);
    for part in row.parts(usize::MAX) {
        let at = Standing::of(part, hits);
        let read = at.read.min(top.saturating_sub(at.above));
        if part.is_whole() {
            let feasible = at.feasible(read);
            // More hits above the cutoff make it smaller.
            above += if largest { *feasible.start() } else { *feasible.end() };
            met += at.found;
            continue;
        }
        let candidates = at.feasible(read).flat_map(|first| {
            let behind = at.read - read;
            let rest = Standing { size: at.size - read, found: at.found - first, ..at };
            let feasible = rest.feasible(behind);
            [*feasible.start(), *feasible.end()]
                .map(|second| value(above + first, met + first + second))
        });
        return extreme(candidates, largest);
    }
    value(above, met)
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
/// Returns the extreme value of InfAP. Documents with a negative grade may stand anywhere among the
/// hits of their group. All other documents stand behind the hits, or before the hits for the
/// smallest value.
fn inferred(row: &RankingPieces<'_>, hits: Above, largest: bool) -> f64 {
    let (mut relevant, mut nonrelevant, mut pooled, mut sum) = (0usize, 0usize, 0usize, 0.0);
    for part in row.parts(usize::MAX) {
        let found = part.count(hits);
        let judged = part.count(Above::JUDGED.min(hits)) - found;
        let unjudged = part.count(Above(UNPOOLED)) - part.count(Above(NEGATIVE));
        let before = if largest { 0 } else { part.size - found - unjudged };
        let others = nonrelevant + if largest { 0 } else { judged };
        let term = |hits: usize, seen: usize| {
            inferred_term(
                part.above + before + hits + seen,
                [relevant + hits, others, pooled + seen],
            )
        };
        // The sums after each hit, by the number of negative documents that are placed.
        let mut sums = vec![sum; if found > 0 { unjudged + 1 } else { 0 }];
        for hits in 0..found {
            for seen in 0..=unjudged {
                let here = sums[seen] + term(hits, seen);
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

/// The expected precision at a hit below `above` documents, of which these are relevant, not
/// relevant, and pooled but unjudged.
fn inferred_term(above: usize, [relevant, nonrelevant, pooled]: [usize; 3]) -> f64 {
    const EPSILON: f64 = 0.00001;
    if above == 0 {
        return 1.0;
    }
    let (above, relevant) = (above as f64, relevant as f64);
    let judged = relevant + nonrelevant as f64;
    1.0 / (above + 1.0)
        + (above / (above + 1.0))
            * ((judged + pooled as f64) / above)
            * ((relevant + EPSILON) / (judged + 2.0 * EPSILON))
}

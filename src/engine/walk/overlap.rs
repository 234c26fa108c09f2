//! The walk of Compat: rank-biased overlap of a ranking with the nearest ideal ranking.
//!
//! The value is Σ pⁱ⁻¹·overlap(i)/i, divided by the sum of the weights pⁱ⁻¹ or, with `by_ideal`, by
//! the value of the sum for the ideal ranking. The overlap is a staircase: it grows at the later of
//! a document's rank and its place in the ideal ranking, and is constant in between. So the walk
//! lists the ranks where the overlap grows, sorts the list, and adds terms stretch by stretch.
//!
//! ```text
//! overlap                      ┌──────── 3
//!                  ┌───────────┘          2
//!         ┌────────┘                      1
//! ────────┘                               0
//! rank 1  2  3  4  5  6  7  8  9  …           grows at ranks 2, 5 and 9
//! ```
//!
//! To keep the bits, the walk must add the terms of a stretch one by one. But a term, weight ·
//! overlap / rank, does not depend on the ranking, so a table has the terms of the first overlaps
//! and ranks. Weights shrink, so a stretch ends where twice the weight no longer changes the sum;
//! bisection finds this end, because sums only grow. The normalising sums depend on the number of
//! ideal documents alone. Tables hold the prefixes, and the rest behind the end of the ideal
//! ranking is kept by the number of ideal documents, because queries have similar numbers.

use std::ops::Range;

use super::walker::{Overlaps, WalkInput, WalkScratch, Walker};
use crate::fold::ratio;
use crate::matrix::{CodesAbove, Document, GradeHistogram};

pub(super) struct Overlap {
    positive: CodesAbove,
    p: f64,
    by_ideal: bool,
    /// The weights pⁱ⁻¹, by running product, down to the first 0.
    weights: Vec<f64>,
    /// The terms of the first overlaps at the first ranks, `[overlap - 1][rank]`.
    terms: Vec<f64>,
    /// The sum of the first weights, by the number of weights.
    wholes: Vec<f64>,
    /// The overlap of an ideal ranking with itself, down to its end, by the number of its
    /// documents.
    bests: Vec<f64>,
}

/// The number of overlaps that have a table of their terms, and the number of ranks of the table:
/// 128 KiB.
const OVERLAPS: usize = 16;
const RANKS: usize = 1024;

/// Returns the term that an overlap down to a rank (from 1) adds to rank-biased overlap: weight ·
/// overlap / rank.
#[inline]
fn term(weight: f64, overlap: usize, rank: usize) -> f64 {
    weight * overlap as f64 / rank as f64
}

/// Returns whether adding twice a weight changes a floating-point sum.
#[inline]
fn is_significant(sum: f64, weight: f64) -> bool {
    sum + 2.0 * weight != sum
}

/// Returns the sums of the first terms of a sequence, by the number of terms from 0 on.
fn prefix_sums(terms: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums = terms.scan(0.0, |sum, term| {
        *sum += term;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

impl Overlap {
    pub fn new(
        positive: CodesAbove,
        p: f64,
        by_ideal: bool,
        deepest: usize,
        tabled: usize,
    ) -> Self {
        let powers = std::iter::successors(Some(1.0), |&power| Some(power * p));
        let weights: Vec<f64> = powers.take(tabled).take_while(|&power| power != 0.0).collect();
        let wholes = prefix_sums(weights.iter().copied());
        let ranks = (1..).zip(&weights);
        // A whole overlap: multiplied and divided by its rank, a weight may lose its last bit, as
        // the terms of rankings do.
        let bests = prefix_sums(ranks.clone().map(|(rank, &weight)| term(weight, rank, rank)));
        let ranks = ranks.take(RANKS.min(deepest).min(tabled / 4));
        let terms = (1..=OVERLAPS)
            .flat_map(|overlap| {
                ranks.clone().map(move |(rank, &weight)| term(weight, overlap, rank))
            })
            .collect();
        Self { positive, p, by_ideal, weights, terms, wholes, bests }
    }

    /// Returns the number of ranks down to `end` with a rank weight other than 0, or `None` if the
    /// table of weights is too short.
    fn weighty(&self, end: usize) -> Option<usize> {
        let complete = self.weights.last().is_none_or(|&last| last * self.p == 0.0);
        (complete || end <= self.weights.len()).then(|| end.min(self.weights.len()))
    }

    /// Adds the terms of a constant overlap at some ranks (from 0) to a sum; the table has a weight
    /// for each rank.
    fn add(&self, mut sum: f64, overlap: usize, Range { start, mut end }: Range<usize>) -> f64 {
        // No term is larger than its weight except for rounding, so small weights change nothing.
        if end - start > 32 && !is_significant(sum, self.weights[end - 1]) {
            let weights = &self.weights[start..end];
            end = start + weights.partition_point(|&weight| is_significant(sum, weight));
        }
        let tabled = self.terms.len() / OVERLAPS;
        // Invariant: the terms of overlap n begin at (n − 1)·tabled, because the table has `tabled`
        // terms for each overlap.
        let split =
            if (1..=OVERLAPS).contains(&overlap) { tabled.clamp(start, end) } else { start };
        if split > start {
            let terms = &self.terms[(overlap - 1) * tabled..][start..split];
            terms.iter().for_each(|term| sum += term);
        }
        for (rank, &weight) in (split + 1..).zip(&self.weights[split..end]) {
            sum += term(weight, overlap, rank);
        }
        sum
    }

    /// Returns the rank-biased overlap of an ideal ranking of `documents` documents with itself,
    /// down to rank `end`.
    fn best(&self, documents: usize, end: usize, Overlaps(cache): &mut Overlaps) -> f64 {
        if documents >= end {
            return self.bests[end];
        }
        cache.resize(256, (0.0, 0, 0, 0.0));
        // A direct-mapped cache of 256 entries: a collision costs a sum, never a wrong value, as
        // the whole key is compared. p is part of the key because walks of several p share the
        // memory.
        let slot = (documents as u64 ^ self.p.to_bits().rotate_left(20))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            >> 56;
        let known = &mut cache[slot as usize];
        if (known.0, known.1, known.2) != (self.p, documents, end) {
            let best = self.add(self.bests[documents], documents, documents..end);
            *known = (self.p, documents, end, best);
        }
        known.3
    }

    /// Collects the ranks at which a ranking's overlap with the ideal ranking grows: the later of a
    /// document's rank and its place in the ideal ranking, ranks from 1. In the ideal ranking, the
    /// places of a code start behind the places of all better documents; `taken` has the last place
    /// taken of each code.
    fn grows(&self, row: &WalkInput<'_>, taken: &mut Vec<(u8, usize)>, grows: &mut Vec<usize>) {
        grows.clear();
        for &Document { code, rank } in row.documents {
            if !self.positive.contains(code) {
                continue;
            }
            let at = taken.iter().position(|&(taken, _)| taken == code).unwrap_or_else(|| {
                taken.push((code, row.facts.count(CodesAbove(code)) as usize));
                taken.len() - 1
            });
            taken[at].1 += 1;
            grows.push(taken[at].1.max(rank as usize + 1));
        }
        grows.sort_unstable();
    }

    /// Returns the number of documents of a query's ideal ranking, and collects the number of
    /// better documents for each code.
    fn ideal(&self, facts: GradeHistogram<'_>, better: &mut Vec<(u8, usize)>) -> usize {
        better.clear();
        let positive = facts.iter().rev().take_while(|&(code, _)| self.positive.contains(code));
        positive.fold(0, |documents, (code, count)| {
            better.push((code, documents));
            documents + count as usize
        })
    }
}

impl Walker for Overlap {
    fn value(
        &self,
        row: &WalkInput<'_>,
        WalkScratch { grows, taken, overlaps, .. }: &mut WalkScratch,
    ) -> f64 {
        let ideal = self.ideal(row.facts, taken);
        self.grows(row, taken, grows);
        let Some(end) = self.weighty(ideal.max(row.depth)) else {
            return self.plainly(ideal, row.depth, grows);
        };
        let mut found = 0.0;
        for (at, &from) in grows.iter().enumerate() {
            let upto = grows.get(at + 1).map_or(end, |&next| end.min(next - 1));
            if from <= upto {
                found = self.add(found, at + 1, from - 1..upto);
            }
        }
        ratio(found, if self.by_ideal { self.best(ideal, end, overlaps) } else { self.wholes[end] })
    }
}

impl Overlap {
    /// Computes the rank-biased overlap rank by rank, for rankings deeper than the table of
    /// weights.
    #[cold]
    fn plainly(&self, ideal: usize, depth: usize, grows: &[usize]) -> f64 {
        let (mut overlap, mut weight, mut found, mut best, mut whole) = (0, 1.0, 0.0, 0.0, 0.0);
        for rank in 1..=ideal.max(depth) {
            if weight == 0.0 {
                break;
            }
            while grows.get(overlap).is_some_and(|&at| at <= rank) {
                overlap += 1;
            }
            found += weight * overlap as f64 / rank as f64;
            best += weight * ideal.min(rank) as f64 / rank as f64;
            whole += weight;
            weight *= self.p;
        }
        ratio(found, if self.by_ideal { best } else { whole })
    }
}

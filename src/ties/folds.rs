//! The expected values of the numbers that a measure reads, over the orders of tied documents: one
//! function a fold.
//!
//! A group has `size` documents behind `above` others, and its first `read` ranks count; j = 1 …
//! read below. Documents outside of groups are added as in the plain formula, and a group adds one
//! term.

use super::{
    probability::{DoubleDouble, Hypergeometric, SumTables},
    tie_segments::{SegmentPrefix, TieSegments},
};
use crate::fold::{CodeTable, Discount, ratio};
use crate::matrix::CodesAbove;

/// Memory for the expected values of folds over tie orders, used again from ranking to ranking.
#[derive(Default)]
pub struct FoldTables {
    pub numbers: Vec<f64>,
    pub sums: SumTables,
    pub chances: Hypergeometric,
}

/// The expected sum of a fold down the ranks of a ranking with ties, with the expected number of
/// hits so far.
#[derive(Clone, Copy, Default)]
pub struct GrowingSum {
    /// The expected hits.
    pub hits: f64,
    /// The expected sum.
    pub sum: f64,
}

/// The numbers of documents and of hits in a group of tied documents. The set of hits is the fold's
/// own set or, if the number of hits is given, the set of this number.
#[derive(Clone, Copy)]
pub struct PrefixHits {
    /// The number of documents in random order.
    pub size: usize,
    /// The number of hits among these documents.
    pub hits: usize,
}

impl PrefixHits {
    pub fn new(part: SegmentPrefix<'_>, set: CodesAbove) -> Self {
        Self { size: part.size, hits: part.count(set) }
    }

    /// Returns the expected number of hits among the first `read` ranks of the group of tied
    /// documents.
    pub fn expected(self, read: usize) -> f64 {
        if read == self.size {
            self.hits as f64
        } else {
            self.hits as f64 * (read as f64 / self.size as f64)
        }
    }
}

/// A number of hits that is given for the read ranks of a group of tied documents.
#[derive(Clone, Copy)]
pub struct GivenHits {
    /// The codes of the hits.
    pub set: CodesAbove,
    /// The number of hits at the ranks that are read.
    pub hits: usize,
}

// A group of t documents, h of them hits, stands behind o documents with H hits (an expectation, if
// groups above have hits). Rank j of the group is a hit with the chance h/t. The precision at rank
// j is (hits down to rank j) / (o + j). Given a hit at rank j, the expected number of hits down to
// rank j is
//
//     H + 1 + (j − 1)·(h − 1)/(t − 1)
//
// for each of the j − 1 ranks above holds one of the other h − 1 hits with the chance (h − 1)/(t −
// 1). Summed over the read ranks, the constant part separates from the part that grows with j:
//
//     E = h/t · ( (H + 1)·A + (h − 1)/(t − 1)·B )      A = Σ 1/(o + j)      B = Σ (j − 1)/(o + j)
//
// A is a difference of two prefix sums of 1/i. As (j − 1)/(o + j) = 1 − (o + 1)/(o + j), B is r −
// (o + 1)·A for r ranks. So the cost of a group does not depend on its size. B is a small
// difference of large numbers where o is large: r − (o + 1)·A loses as many digits as o/r has.
// Therefore A is kept in two floats.
/// Adds the expected sum of the precisions at the hits of a tie group, with a constant number of
/// operations for a group.
///
/// Groups of hits alone are added by the plain formula, so that their bits equal the bits without
/// ties.
pub fn precision_sum(
    state: &mut GrowingSum,
    part: SegmentPrefix<'_>,
    inside: PrefixHits,
    sums: &mut SumTables,
) {
    let PrefixHits { size, hits } = inside;
    if hits == size {
        for rank in part.above + 1..=part.above + part.read {
            state.hits += 1.0;
            state.sum += state.hits / rank as f64;
        }
        return;
    }
    if hits > 0 {
        let end = part.above + part.read;
        let a = sums.get(Discount::Rank, end).between(part.above, end);
        let mut mean = (state.hits + 1.0) * a.value();
        if hits > 1 {
            let b =
                DoubleDouble::new(part.read as f64).minus(a.times((part.above + 1) as f64)).value();
            mean += (hits - 1) as f64 / (size - 1) as f64 * b;
        }
        state.sum += hits as f64 / size as f64 * mean;
    }
    state.hits += inside.expected(part.read);
}

// A pair is a hit with another document above it. Outside the group: the expected hits times the
// others above the group. Inside, each of the r(r − 1)/2 pairs of ranks is such a pair with the
// chance (t − h)·h / (t(t − 1)): another document at the first, a hit at the second.
/// Adds the expected number of pairs of a hit in a tie group and a document above it that is no
/// hit.
pub fn pair_sum(state: &mut GrowingSum, part: SegmentPrefix<'_>, inside: PrefixHits) {
    let (size, hits, read) = (inside.size as f64, inside.hits as f64, part.read as f64);
    let others = part.above as f64 - state.hits;
    let expected = inside.expected(part.read);
    state.sum += expected * others;
    if inside.hits > 0 && inside.hits < inside.size {
        state.sum += hits * (size - hits) / 2.0 * (read * (read - 1.0) / (size * (size - 1.0)));
    }
    state.hits += expected;
}

/// Adds the expected discounted sum of gains of a tie group: the mean gain times the weights of the
/// ranks.
pub fn weighted_sum(
    sum: &mut f64,
    part: SegmentPrefix<'_>,
    gain: &CodeTable,
    discount: Discount,
    sums: &mut SumTables,
) {
    match part.shared(gain) {
        Some(0.0) => {}
        Some(gain) => plain_gains(sum, part, gain, discount, sums),
        None => *sum += mean_gain(part, part.total(gain) / part.size as f64, discount, sums),
    }
}

fn plain_gains(
    sum: &mut f64,
    part: SegmentPrefix<'_>,
    gain: f64,
    discount: Discount,
    sums: &mut SumTables,
) {
    let ranks = part.above..part.above + part.read;
    let weights = sums.get(discount, ranks.end);
    ranks.for_each(|rank| *sum += weights.term(gain, rank));
}

fn mean_gain(part: SegmentPrefix<'_>, gain: f64, discount: Discount, sums: &mut SumTables) -> f64 {
    let end = part.above + part.read;
    gain * sums.get(discount, end).between(part.above, end).value()
}

// If `hits` of the ranks read are hits, chance still decides the ranks of the hits, and the
// documents of the group that take part. So the expected gain is equal at every rank: (hits · mean
// gain of a hit + (r − hits) · mean gain of another) / r.
/// Adds the expected discounted sum of gains of a tie group, given how many of the ranks that are
/// read have a document of a set.
pub fn weighted_sum_given(
    sum: &mut f64,
    part: SegmentPrefix<'_>,
    GivenHits { set, hits }: GivenHits,
    gain: &CodeTable,
    discount: Discount,
    sums: &mut SumTables,
) {
    let [hit, other] = [true, false].map(|inside| {
        let counts = part.counts().filter(|&(code, _)| set.contains(code) == inside);
        let (total, size) = counts.fold((0.0, 0.0), |(total, size), (code, count)| {
            (total + f64::from(count) * gain[usize::from(code)], size + f64::from(count))
        });
        ratio(total, size)
    });
    if hits > 0 && hits < part.read {
        let total = hits as f64 * hit + (part.read - hits) as f64 * other;
        *sum += mean_gain(part, total / part.read as f64, discount, sums);
        return;
    }
    let gain = if hits == 0 { other } else { hit };
    if gain != 0.0 {
        plain_gains(sum, part, gain, discount, sums);
    }
}

// In a cascade the user stops at rank i with the chance R of its document times the product of (1 −
// R) over all documents above. An expectation over the orders of a group needs the mean of this
// product over all sets of documents above: normalised elementary symmetric functions of the (1 −
// R). The functions are built up document by document. With n stopping documents (R > 0) in random
// order,
//
//     M(l) = the mean of the product of (1 − R) over the first l of them            M(0) = 1
//     D(l) = the mean of R of the l-th times the product over the l − 1 before it
//
// A further document of chance R falls on one of n + 1 places with equal chance: behind the first
// l, among them, or at l itself.
//
//     M'(l) = ( (n + 1 − l)·M(l) + l·(1 − R)·M(l − 1) ) / (n + 1)
//     D'(l) = ( (n + 1 − l)·D(l) + (l − 1)·(1 − R)·D(l − 1) + R·M(l − 1) ) / (n + 1)
//
// All terms are positive, so no digit cancels. (The coefficients of a product of polynomials would
// have to be divided by binomials, which overflow.) Documents of chance 0 stop nobody: rank j of
// the group holds a stopping document with the chance n/t, and the number x of stopping documents
// among the j − 1 above is hypergeometric. So a group of t documents, n of them stopping, costs n²
// steps for the tables and a draw for each read rank. Tables end early where the chance to get so
// far is below 10⁻²⁰.
//
// The product over a whole group does not depend on the order of the group. So only the chance to
// pass all groups above carries over to the next group.
/// Returns the expected discounted sum of the chances to stop over tie orders, if the user goes on
/// with the remaining chance.
///
/// The stopping documents of a group stand in random order. M(l) is the mean chance to go on past
/// the first l, and D(l) is the mean chance to stop at the l-th. A further document of chance R
/// updates M and D to the mean over its possible places.
pub fn cascade(
    row: &TieSegments<'_>,
    ranks: usize,
    stop: &CodeTable,
    discount: Discount,
    tables: &mut FoldTables,
) -> f64 {
    let (mut sum, mut goes_on) = (0.0, 1.0);
    for part in row.parts(ranks) {
        let end = part.above + part.read;
        match part.shared(stop) {
            Some(0.0) => {}
            Some(stop) => {
                let weights = tables.sums.get(discount, end);
                for rank in part.above..end {
                    sum += weights.term(goes_on * stop, rank);
                    goes_on *= 1.0 - stop;
                }
            }
            None => {
                let stops = StopPrefix::new(part, stop);
                sum += goes_on * stops.expected(part, discount, tables);
                goes_on *= stops.goes_on.get(stops.documents as usize).copied().unwrap_or(0.0);
            }
        }
    }
    sum
}

/// Tied documents in random order, with the mean chances that a user goes on past the first of them
/// or stops there.
struct StopPrefix {
    documents: u64,
    /// The mean chance to go on past the first documents, by their number.
    goes_on: Vec<f64>,
    /// The mean chance to stop at the one of this index.
    stops: Vec<f64>,
}

impl StopPrefix {
    /// The chance below which a table leaves out all later entries.
    const LEAST: f64 = 1e-20;

    fn new(part: SegmentPrefix<'_>, stop: &CodeTable) -> Self {
        let mut all = Self { documents: 0, goes_on: vec![1.0], stops: Vec::new() };
        // The chances to stop ascend, so no later document raises an entry that was left out.
        let mut codes: Vec<_> =
            part.counts().map(|(code, count)| (stop[usize::from(code)], count)).collect();
        codes.retain(|&(stop, _)| stop > 0.0);
        codes.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (stop, count) in codes {
            if all.documents == 0 {
                all.push_alike(stop, count);
            } else {
                (0..count).for_each(|_| all.push(stop));
            }
        }
        all
    }

    /// Adds `count` documents with the same chance `stop` of stopping the user to a prefix that is
    /// still empty.
    fn push_alike(&mut self, stop: f64, count: u32) {
        self.documents = count.into();
        let mut reached = 1.0;
        for _ in 0..count {
            if reached < Self::LEAST {
                break;
            }
            self.stops.push(reached * stop);
            reached *= 1.0 - stop;
            self.goes_on.push(reached);
        }
    }

    fn push(&mut self, stop: f64) {
        let documents = self.documents as f64;
        let places = documents + 1.0;
        if self.goes_on.len() as u64 == self.documents + 1
            && self.goes_on[self.goes_on.len() - 1] >= Self::LEAST
        {
            self.goes_on.push(0.0);
            self.stops.push(0.0);
        }
        // From the deepest entry upward, because each entry reads the old value of the entry
        // before.
        for l in (1..self.goes_on.len()).rev() {
            let (at, after) = (l as f64, places - l as f64);
            let reached = self.goes_on[l - 1];
            self.stops[l - 1] = (after * self.stops[l - 1]
                + if l > 1 { (at - 1.0) * (1.0 - stop) * self.stops[l - 2] } else { 0.0 }
                + stop * reached)
                / places;
            self.goes_on[l] = (after * self.goes_on[l] + at * (1.0 - stop) * reached) / places;
        }
        self.documents += 1;
    }

    /// Returns the expected discounted sum of the chances to stop within a tie group, for a user
    /// who has reached the group.
    fn expected(
        &self,
        part: SegmentPrefix<'_>,
        discount: Discount,
        FoldTables { sums, chances, .. }: &mut FoldTables,
    ) -> f64 {
        let size = part.size as u64;
        let stands = self.documents as f64 / size as f64;
        let weights = sums.get(discount, part.above + part.read);
        let mut sum = DoubleDouble::default();
        // If even the fewest stopping documents above leave no chance to reach a rank, the rank and
        // all deeper ranks add nothing.
        for j in 0..part.read as u64 {
            chances.draw(size - 1, self.documents - 1, j);
            if chances.first >= self.stops.len() as u64 {
                break;
            }
            let stops =
                chances.mean(|before| self.stops.get(before as usize).copied().unwrap_or(0.0));
            sum += weights.term(stops, part.above + j as usize);
        }
        stands * sum.value()
    }
}

// Rank j is a hit with the chance h/t; the ranks above then draw from the other t − 1 documents. A
// caller may know a closed form of a whole group, where every number of others above is equally
// likely.
/// Returns the expected sum, over the hits of a tie group, of a function of the number of documents
/// of another set above each hit.
pub fn sum_over_hits(
    hits: usize,
    others: usize,
    part: SegmentPrefix<'_>,
    above: u64,
    value: impl Fn(u64) -> f64,
    chances: &mut Hypergeometric,
) -> f64 {
    let mut sum = DoubleDouble::default();
    for j in 0..part.read as u64 {
        chances.draw(part.size as u64 - 1, others as u64, j);
        sum += chances.mean(|x| value(above + x));
    }
    hits as f64 / part.size as f64 * sum.value()
}

/// Returns the expected sum of bpref over tie orders: over the hits, the share of known
/// non-relevant documents that are not above them. At most `most` above count, and their number is
/// divided by `bound`.
pub fn preference(
    row: &TieSegments<'_>,
    [hits, judged]: [CodesAbove; 2],
    chances: &mut Hypergeometric,
) -> f64 {
    let most = row.facts.count(hits);
    let nonrelevant =
        row.facts.iter().filter(|&(code, _)| judged.contains(code) && !hits.contains(code));
    // trec_eval's m_bpref.c: the documents above a hit are capped by R, and divided by the smaller
    // of R and N. No term falls below 0: with N < R no more than N can stand above.
    let bound = most.min(nonrelevant.map(|(_, count)| u64::from(count)).sum());
    let share =
        |above: u64| if above == 0 { 1.0 } else { 1.0 - above.min(most) as f64 / bound as f64 };
    let (mut above, mut sum) = (0, 0.0);
    for part in row.parts(usize::MAX) {
        let found = part.count(hits);
        let others = part.count(CodesAbove(judged.0.min(hits.0))) - found;
        if others == 0 {
            let read = if found == part.size { part.read } else { found };
            match found {
                0 => {}
                _ if part.is_whole() || found == part.size => {
                    (0..read).for_each(|_| sum += share(above))
                }
                _ => sum += found as f64 * (part.read as f64 / part.size as f64) * share(above),
            }
        } else if found > 0 {
            // In integers, as a difference of large floats would lose what the few terms are worth.
            sum += match capped_sum(above, above + others as u64, most) {
                _ if !part.is_whole() => sum_over_hits(found, others, part, above, share, chances),
                0 => found as f64,
                taken => found as f64 * (1.0 - taken as f64 / ((others + 1) as f64 * bound as f64)),
            };
        }
        above += others as u64;
    }
    sum
}

// The sum has two pieces: a ramp up to the cap, which is a difference of triangular numbers, and a
// flat end.
/// Returns the sum of the whole numbers from `first` to `last`, each capped by `most`.
fn capped_sum(first: u64, last: u64, most: u64) -> u128 {
    let [end, start] = [last + 1, first].map(|end| u128::from(end.min(most + 1)));
    let flat = (last + 1).saturating_sub(first.max(most + 1));
    // Below n stand n numbers from 0, whose sum is n·(n − 1)/2.
    let ramp = (end * end - end) / 2 - (start * start - start) / 2;
    ramp + u128::from(flat) * u128::from(most)
}

/// What is added to counts of judged documents, as trec_eval does.
const EPSILON: f64 = 0.00001;

// The term of InfAP (trec_eval's m_infap.c; Yilmaz and Aslam 2006) at a hit below f documents is
//
//     (1 + (k + u)·(a + ε)/(k + 2ε)) / (f + 1)    a relevant, k judged, u pooled but unjudged above
//
// In a group, let x of the j above be judged, hypergeometric with one hit taken out. Given x, the
// relevant documents among the x judged documents and the pooled documents among the other j − x
// are independent draws. The formula is linear in both numbers, so the mean of their product is the
// product of their means. One sum over x remains, of 1/(k + x + 2ε), without a simpler form; see
// `reciprocal_means` for large groups.
/// Returns the expected sum of InfAP over tie orders: over the hits, the precision expected from a
/// sampled pool; see `Fold::InferredSum`.
pub fn inferred_sum(row: &TieSegments<'_>, hits: CodesAbove, chances: &mut Hypergeometric) -> f64 {
    // The numbers of relevant, not relevant, and pooled but unjudged documents above.
    let (mut relevant, mut nonrelevant, mut pooled, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for part in row.parts(usize::MAX) {
        let [found, judged, unjudged] = part.pool(hits);
        if found == part.size {
            for above in part.above..part.above + part.read {
                sum += inferred_term(above as f64, relevant, relevant + nonrelevant, pooled);
                relevant += 1.0;
            }
            continue;
        }
        if found > 0 {
            let others = found - 1 + judged;
            let rest = part.size - 1 - others;
            let shares = [(found - 1, others), (unjudged, rest)]
                .map(|(a, b)| if b == 0 { 0.0 } else { a as f64 / b as f64 });
            let above = [relevant, relevant + nonrelevant, pooled];
            sum += found as f64 / part.size as f64
                * inferred_terms(above, part, others, shares, chances);
        }
        relevant += found as f64;
        nonrelevant += judged as f64;
        pooled += unjudged as f64;
    }
    sum
}

/// Returns InfAP's expected precision at a hit below `above` documents, of which the given numbers
/// are relevant, judged, and pooled but unjudged.
pub fn inferred_term(above: f64, relevant: f64, judged: f64, pooled: f64) -> f64 {
    // The formula would divide by the 0 documents above.
    if above == 0.0 {
        return 1.0;
    }
    1.0 / (above + 1.0)
        + (above / (above + 1.0))
            * ((judged + pooled) / above)
            * ((relevant + EPSILON) / (judged + 2.0 * EPSILON))
}

/// Returns the sum over the read ranks of a tie group of the mean InfAP term of a hit there, below
/// `[relevant, known, pooled]` documents that are relevant, judged, and pooled without a judgment.
/// Besides the hit the group has `others` judged documents, of which the share `of_others`
/// is relevant; of the rest the share `of_rest` is pooled.
#[inline(always)]
fn inferred_terms(
    [relevant, known, pooled]: [f64; 3],
    part: SegmentPrefix<'_>,
    others: usize,
    [of_others, of_rest]: [f64; 2],
    chances: &mut Hypergeometric,
) -> f64 {
    let mut terms = DoubleDouble::default();
    let tabled = (part.size > LARGE)
        .then(|| reciprocal_means(part.read, part.size - 1, others, known + 2.0 * EPSILON));
    for j in 0..part.read {
        let above = (part.above + j) as f64;
        let drawn = j as f64;
        let mean = match &tabled {
            // (a + b·x) · (c + d·x) / (k + x), divided out: only one term is not linear in x.
            Some(reciprocals) => {
                let (a, b) = (known + pooled + drawn * of_rest, 1.0 - of_rest);
                let (c, d, k) = (relevant + EPSILON, of_others, known + 2.0 * EPSILON);
                let x = drawn * others as f64 / (part.size - 1) as f64;
                b * d * x + (a * d + b * c - b * d * k) + (a - b * k) * (c - d * k) * reciprocals[j]
            }
            None => {
                chances.draw(part.size as u64 - 1, others as u64, j as u64);
                chances.mean(|x| {
                    let x = x as f64;
                    let (known, seen) = (known + x, pooled + (drawn - x) * of_rest);
                    (known + seen)
                        * ((relevant + x * of_others + EPSILON) / (known + 2.0 * EPSILON))
                })
            }
        };
        terms += (1.0 + mean) / (above + 1.0);
    }
    terms.value()
}

/// The size of a group from which on means are not summed over all numbers of documents.
const LARGE: usize = 4096;

/// Returns the expectations of 1 / (k + x) for 0, 1, … draws, fewer than `draws`, where x is the
/// number of marked documents drawn of `all`, of which `marked` are marked; k is above 0.
///
/// Let S(j) be the sum over x of C(M, x) · C(L, j − x) / (k + x), with M marked and L others of N =
/// M + L. Its generating function is (1 + z)^L · H(z), where z·H' + k·H = (1 + z)^M, and comparing
/// coefficients gives
///
/// ```text
/// (j + k) · S(j) = C(N + 1, j) + (L + 1 − k − j) · S(j − 1)
/// ```
///
/// Divided by C(N, j) it is a step from one mean to the next. Forward all terms are positive up to
/// j = L + 1 − k; behind it the two terms are subtracted, which costs a bit at most, and an error
/// shrinks with each step as long as (j + k − L) · j < (j + k) · (N − j). From there on errors
/// shrink backward from j = N, where all are drawn and the mean is 1 / (k + M). So each mean costs
/// a step, where the sum over x takes some √j terms.
fn reciprocal_means(draws: usize, all: usize, marked: usize, k: f64) -> Vec<f64> {
    let (n, m) = (all as f64, marked as f64);
    let others = n - m;
    let half = n + others - 2.0 * k;
    let turn = (0.25 * (half + (half * half + 8.0 * k * n).sqrt())) as usize;
    let turn = turn.min(draws.saturating_sub(1));
    let mut means = vec![0.0; draws];
    let mut mean = 1.0 / k;
    for (j, to) in means.iter_mut().enumerate().take(turn + 1) {
        let drawn = j as f64;
        if j > 0 {
            let before = (others + 1.0 - k - drawn) * (drawn / (n + 1.0 - drawn)) * mean;
            mean = ((n + 1.0) / (n + 1.0 - drawn) + before) / (drawn + k);
        }
        *to = mean;
    }
    mean = 1.0 / (k + m);
    for j in (turn + 1..=all).rev() {
        if let Some(to) = means.get_mut(j) {
            *to = mean;
        }
        let drawn = j as f64;
        let before = (n + 1.0) / (n + 1.0 - drawn) - (drawn + k) * mean;
        mean = before * (n + 1.0 - drawn) / (drawn * (drawn + k - others - 1.0));
    }
    means
}

// The first hit is at rank j + 1 of a group if j non-hits stand above: h/t · Π (t − h − i)/(t − 1 −
// i) for i < j, each chance from the chance before. The product has a factor for each rank above,
// so the product is kept in two floats. Later groups never matter, because the first group with a
// hit holds the first hit.
/// Returns the expectation over tie orders of a function of the rank of a ranking's first hit, 0
/// without a hit: `weight` of an index from 0. Only the first `ranks` ranks count.
pub fn first_hit(
    row: &TieSegments<'_>,
    ranks: usize,
    hits: CodesAbove,
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let Some(part) = row.parts(ranks).find(|part| part.count(hits) > 0) else { return 0.0 };
    let inside = PrefixHits::new(part, hits);
    if inside.hits == inside.size {
        return weight(part.above);
    }
    first_of(inside, part.read, |index| weight(part.above + index))
}

/// Returns the expectation of a function of the first hit's rank within one group of tied hits and
/// other documents, of which the first `read` ranks count.
pub fn first_of(
    PrefixHits { size, hits }: PrefixHits,
    read: usize,
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let mut sum = DoubleDouble::default();
    let mut chance = DoubleDouble::new(hits as f64).over(size as f64);
    for j in 0..read.min(size - hits + 1) {
        sum += chance.value() * weight(j);
        chance = chance.times((size - hits - j) as f64).over((size - 1 - j).max(1) as f64);
    }
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_reciprocals_are_those_of_summing() {
        let mut chances = Hypergeometric::default();
        for all in [1usize, 2, 3, 10, 61, 400] {
            for marked in
                [1, 2, all / 3, all / 2, all - all / 7, all].map(|count| count.clamp(1, all))
            {
                for k in [2e-5, 1.0 + 2e-5, 7.5, 100.0, 1e5] {
                    let means = reciprocal_means(all + 1, all, marked, k);
                    for (j, mean) in means.into_iter().enumerate() {
                        chances.draw(all as u64, marked as u64, j as u64);
                        let summed = chances.mean(|x| 1.0 / (k + x as f64));
                        let apart = (mean / summed - 1.0).abs();
                        assert!(apart < 1e-11, "{all}, {marked}, {k}, {j}: {mean} and {summed}");
                    }
                }
            }
        }
    }

    /// Checks that the means of one direction go on smoothly where the other direction ends.
    #[test]
    fn means_of_reciprocals_of_many_meet() {
        for (marked, k) in
            [(3, 2e-5), (500_000, 2e-5), (999_000, 3.0), (250_000, 1e6), (1_000_000, 0.5)]
        {
            let means = reciprocal_means(1_000_001, 1_000_000, marked, k);
            assert!(means.iter().all(|mean| *mean > 0.0 && *mean <= 1.0 / k));
            assert!(
                means.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)),
                "{marked}, {k}"
            );
            let smooth =
                |at: usize| (means[at - 1] / means[at]) / (means[at] / means[at + 1]) - 1.0;
            let worst = (1000..999_000).map(|at| smooth(at).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-5, "{marked}, {k}: {worst}");
        }
    }
}

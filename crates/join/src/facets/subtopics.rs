//! Diversity measures of one query: alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, P_IA and StRecall at
//! every cutoff, NRBP, nNRBP and AP_IA, all from one walk down a ranking.
//!
//! A document's gain is the sum over its subtopics of (1 − alpha)^t, where t counts the documents
//! above it that have the subtopic. The ideal ranking is chosen greedily: at every rank the
//! document with the largest gain, and on equal gains the document with the larger number.
//!
//! Sums run over subtopics in ascending number and over ranks from the top, and powers are repeated
//! products. With subtopics numbered as ndeval numbers them, every value has ndeval's bits.
//!
//! With N subtopics, x(k) the gain at rank k, and Rᵢ documents relevant to subtopic i:
//!
//! ```text
//! alpha_DCG@c   Σ x(k) / lg(k + 1) over k ≤ c, divided by the same sum for
//!               x(k) = N (1 − alpha)^(k−1): every rank has every subtopic
//! ERR_IA@c      Σ x(k) / k, divided likewise
//! NRBP          (1 − (1 − alpha) beta) / N · Σ x(k) beta^(k−1), over the whole ranking
//!               (Clarke, Kolla, Vechtomova 2009)
//! n…            the quotient by the value of the ideal ranking
//! P_IA@c        relevant judgments among the first c ranks / (c N);
//! StRecall@c    subtopics among them / N
//! AP_IA         the mean over the subtopics of average precision
//! ```
//!
//! A ranking costs one step for each relevant judgment of its documents: ranks without a subtopic
//! change nothing, and are not even listed. A long sum ends where a bound on its terms, which never
//! rises, no longer changes it: rounding to nearest is monotone, so no later term does either, and
//! the bits are those of the full sum.
//!
//! The ideal ranking costs most: each of n documents is chosen among all remaining documents.
//! `choose` explains how to skip most of the candidates.

use std::cmp::Reverse;

use xxhash_rust::xxh3::xxh3_64;

/// The relevant subtopics of each document of a query.
///
/// Documents are numbered from 0 in bytewise order of their names, subtopics from 0 in the order in
/// which their gains are summed.
#[derive(Debug, Default)]
pub struct Subtopics {
    ends: Vec<u32>,
    subtopics: Vec<u32>,
    count: u32,
}

impl Subtopics {
    /// Makes the subtopics of a query's documents: document `d` has the relevant subtopics
    /// `subtopics[ends[d]..ends[d + 1]]`.
    ///
    /// `count` is the number of subtopics with a relevant document. `None` unless `ends` starts at
    /// 0, never falls and ends at the length of `subtopics`, and each document's subtopics strictly
    /// rise and are less than `count`.
    pub fn new(ends: Vec<u32>, subtopics: Vec<u32>, count: u32) -> Option<Self> {
        let complete = ends.first() == Some(&0)
            && ends.last().map(|&end| end as usize) == Some(subtopics.len());
        let sound = complete
            && ends.windows(2).all(|pair| {
                subtopics.get(pair[0] as usize..pair[1] as usize).is_some_and(|own| {
                    own.is_sorted_by(|a, b| a < b) && own.last().is_none_or(|&last| last < count)
                })
            });
        sound.then_some(Self { ends, subtopics, count })
    }

    /// Returns the relevant subtopics of `document`; none for a number past the last document.
    fn get(&self, document: u32) -> &[u32] {
        let document = document as usize;
        match self.ends.get(document..document.saturating_add(2)) {
            Some(&[start, end]) => &self.subtopics[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// The parameters of diversity measures over subtopics (alpha, beta and cutoffs), with a table of
/// discounts.
#[derive(Debug, Default)]
pub struct DiversityTables {
    alpha: f64,
    beta: f64,
    cutoffs: Vec<u32>,
    /// Whether alpha_DCG@1 and ERR_IA@1 are raw gains, not divided by their bound, as ndeval
    /// computes them. The values at other cutoffs do not change.
    pub raw_first: bool,
    /// The discounts of the first ranks, 1 / log2(rank + 1) for ranks from 1.
    discounts: Vec<f64>,
}

/// The number of ranks whose discounts are computed once.
const DISCOUNTS: usize = 1 << 12;

impl DiversityTables {
    /// Makes the parameters of diversity measures: redundancy penalty `alpha`, patience `beta` and
    /// `cutoffs` in ranks.
    ///
    /// `None` unless alpha and beta are from 0 to 1 and the cutoffs strictly rise from at least 1.
    pub fn new(alpha: f64, beta: f64, cutoffs: &[u32]) -> Option<Self> {
        let sound = (0.0..=1.0).contains(&alpha)
            && (0.0..=1.0).contains(&beta)
            && cutoffs.first() != Some(&0)
            && cutoffs.is_sorted_by(|a, b| a < b);
        sound.then(|| {
            let cutoffs = cutoffs.to_vec();
            let mut tables = Self { alpha, beta, cutoffs, ..Self::default() };
            tables.discounts = (0..tables.deepest().min(DISCOUNTS)).map(discount).collect();
            tables
        })
    }

    fn deepest(&self) -> usize {
        self.cutoffs.last().map_or(0, |&last| last as usize)
    }

    fn discount(&self, rank: usize) -> f64 {
        self.discounts.get(rank).copied().unwrap_or_else(|| discount(rank))
    }
}

/// Returns the logarithmic discount of `rank`, counted from 0, in alpha_DCG.
fn discount(rank: usize) -> f64 {
    2f64.ln() / (rank as f64 + 2.0).ln()
}

/// Buffers for diversity values over subtopics, reused from query to query.
#[derive(Default)]
pub struct SubtopicScratch {
    /// The gain of each subtopic's next document.
    gains: Vec<f64>,
    /// The number of documents seen with each subtopic.
    seen: Vec<u32>,
    /// The sum of each subtopic's precisions.
    precisions: Vec<f64>,
    /// The hash of its subtopics and the number of each document.
    documents: Vec<(u64, u32)>,
    /// The documents, grouped by equal sets of subtopics.
    groups: Vec<SameSubtopics>,
    /// The largest key, or more, of each block of groups.
    bounds: Vec<GainKey>,
    /// The values of the last ranking at each cutoff.
    pub at: Vec<AtCutoff>,
}

/// The sort key of a document for the ideal ranking: its gain in bits, which sort as gains do, and
/// its number.
type GainKey = (u64, u32);

/// Documents of a query with equal sets of subtopics; `start..end` of the sorted documents are not
/// chosen for the ideal ranking yet.
struct SameSubtopics {
    key: GainKey,
    start: usize,
    end: usize,
}

/// The sums of alpha_DCG and ERR_IA down a ranking, before they are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SubtopicSums {
    dcg: f64,
    err: f64,
}

impl SubtopicSums {
    fn add(&mut self, gain: f64, rank: usize, setting: &DiversityTables) {
        self.dcg += gain * setting.discount(rank);
        self.err += gain / (rank + 1) as f64;
    }
}

/// The diversity values of a ranking over subtopics at one cutoff.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtCutoff {
    pub alpha_dcg: f64,
    pub alpha_ndcg: f64,
    pub err_ia: f64,
    pub nerr_ia: f64,
    pub p_ia: f64,
    pub st_recall: f64,
}

/// The diversity values of a whole ranking over subtopics: NRBP, nNRBP and AP_IA.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WholeRanking {
    pub nrbp: f64,
    pub nnrbp: f64,
    pub ap_ia: f64,
}

/// The subtopics of a query, and the divisors of diversity values for its rankings, computed once
/// for all rankings.
#[derive(Debug)]
pub struct SubtopicQuery {
    subtopics: Subtopics,
    /// The largest sums conceivable at each cutoff: every rank has every subtopic.
    bounds: Vec<SubtopicSums>,
    /// The values of the ideal ranking at each cutoff.
    ideal: Vec<SubtopicSums>,
    ideal_nrbp: f64,
    /// The number of documents that are relevant to each subtopic.
    relevant: Vec<u32>,
}

impl SubtopicQuery {
    /// Computes the divisors of a query with these subtopics, ideal ranking included, for rankings
    /// evaluated under `setting`.
    pub fn new(
        subtopics: Subtopics,
        setting: &DiversityTables,
        scratch: &mut SubtopicScratch,
    ) -> Self {
        let mut relevant = vec![0; subtopics.count as usize];
        for &subtopic in &subtopics.subtopics {
            relevant[subtopic as usize] += 1;
        }
        let mut query = Self {
            subtopics: Subtopics::default(),
            bounds: bounds(subtopics.count, setting),
            ideal: Vec::with_capacity(setting.cutoffs.len()),
            ideal_nrbp: 0.0,
            relevant,
        };
        let (mut rank, mut sums, mut nrbp, mut decay) = (0, SubtopicSums::default(), 0.0, 1.0);
        let deepest = setting.deepest();
        choose(&subtopics, setting.alpha, scratch, |gain| {
            if rank < deepest {
                sums.add(gain, rank, setting);
            }
            let before = nrbp;
            nrbp += gain * decay;
            decay *= setting.beta;
            rank += 1;
            if query.next_cutoff(setting) == Some(rank) {
                query.close(setting, sums);
            }
            rank < deepest || nrbp != before
        });
        // An ideal ranking of few documents ends before the last cutoffs.
        while query.next_cutoff(setting).is_some() {
            query.close(setting, sums);
        }
        query.ideal_nrbp = query.normalized(setting, nrbp);
        Self { subtopics, ..query }
    }

    /// Returns the number of subtopics of the query.
    fn count(&self) -> f64 {
        self.relevant.len() as f64
    }

    /// Returns the first cutoff that the ideal ranking has no values at yet.
    fn next_cutoff(&self, setting: &DiversityTables) -> Option<usize> {
        setting.cutoffs.get(self.ideal.len()).map(|&cutoff| cutoff as usize)
    }

    fn close(&mut self, setting: &DiversityTables, sums: SubtopicSums) {
        self.ideal.push(self.divided(setting, sums, self.ideal.len(), true));
    }

    /// Divides the sums of alpha_DCG and ERR_IA by their bounds at the cutoff numbered `at`; at
    /// rank 1 not if `raw_first`.
    fn divided(
        &self,
        setting: &DiversityTables,
        sums: SubtopicSums,
        at: usize,
        raw_first: bool,
    ) -> SubtopicSums {
        if self.relevant.is_empty() || raw_first && setting.cutoffs[at] == 1 {
            return sums;
        }
        let bound = self.bounds[at];
        SubtopicSums { dcg: sums.dcg / bound.dcg, err: sums.err / bound.err }
    }

    /// Computes the diversity values of the ranking that `retrieved` describes, and returns those
    /// of the whole ranking. Those at the cutoffs are in the scratch.
    ///
    /// `retrieved` has the rank, counted from 0, and the number of each document with a subtopic,
    /// in ascending rank; documents without subtopics may be among them. A query without subtopics
    /// has only zeros, and nNRBP is 0 where the ideal NRBP is 0 (alpha 0 with beta 1).
    pub fn values(
        &self,
        setting: &DiversityTables,
        retrieved: &[(u32, u32)],
        scratch: &mut SubtopicScratch,
    ) -> WholeRanking {
        let (subtopics, count) = (&self.subtopics, self.count());
        let SubtopicScratch { gains, seen, precisions, at, .. } = scratch;
        refill(gains, subtopics.count, 1.0);
        refill(seen, subtopics.count, 0);
        refill(precisions, subtopics.count, 0.0);
        at.clear();
        let (mut sums, mut judgments, mut found) = (SubtopicSums::default(), 0u64, 0u32);
        let (mut nrbp, mut decay, mut decayed) = (0.0, 1.0, 0);
        let factor = 1.0 - setting.alpha;
        let deepest = setting.deepest();
        for &(rank, document) in retrieved {
            let own = subtopics.get(document);
            while setting.cutoffs.get(at.len()).is_some_and(|&cutoff| cutoff <= rank) {
                at.push(self.at_cutoff(setting, at.len(), sums, judgments, found));
            }
            let mut gain = 0.0;
            let place = f64::from(rank) + 1.0;
            for &subtopic in own {
                let subtopic = subtopic as usize;
                gain += gains[subtopic];
                gains[subtopic] *= factor;
                found += u32::from(seen[subtopic] == 0);
                seen[subtopic] += 1;
                precisions[subtopic] += f64::from(seen[subtopic]) / place;
            }
            judgments += own.len() as u64;
            if (rank as usize) < deepest {
                sums.add(gain, rank as usize, setting);
            }
            // No term is larger than this bound: once it no longer changes the sum, none does.
            // Powers are products, rank by rank, as ndeval's: `powi` need not have the same last
            // digits.
            while decayed < rank && nrbp + count * decay != nrbp {
                decay *= setting.beta;
                decayed += 1;
            }
            if decayed == rank {
                nrbp += gain * decay;
            }
        }
        while at.len() < setting.cutoffs.len() {
            at.push(self.at_cutoff(setting, at.len(), sums, judgments, found));
        }
        let nrbp = self.normalized(setting, nrbp);
        let mut ap_ia = 0.0;
        for (&sum, &relevant) in precisions.iter().zip(&self.relevant) {
            if relevant > 0 {
                ap_ia += sum / f64::from(relevant);
            }
        }
        WholeRanking { nrbp, nnrbp: quotient(nrbp, self.ideal_nrbp), ap_ia: quotient(ap_ia, count) }
    }

    /// Computes the diversity values of a ranking at the cutoff numbered `at` from its sums down to
    /// there. The ranks above the cutoff have `judgments` relevant subtopics, `found` of them
    /// distinct.
    #[inline(always)]
    fn at_cutoff(
        &self,
        setting: &DiversityTables,
        at: usize,
        sums: SubtopicSums,
        judgments: u64,
        found: u32,
    ) -> AtCutoff {
        if self.relevant.is_empty() {
            return AtCutoff::default();
        }
        let value = self.divided(setting, sums, at, setting.raw_first);
        // The bound would cancel, but for its rounding.
        let share = self.divided(setting, sums, at, true);
        let ideal = self.ideal[at];
        let cutoff = u64::from(setting.cutoffs[at]);
        AtCutoff {
            alpha_dcg: value.dcg,
            alpha_ndcg: quotient(share.dcg, ideal.dcg),
            err_ia: value.err,
            nerr_ia: quotient(share.err, ideal.err),
            p_ia: judgments as f64 / (cutoff * self.relevant.len() as u64) as f64,
            st_recall: f64::from(found) / self.count(),
        }
    }

    /// Returns NRBP from the sum of a ranking's discounted gains.
    fn normalized(&self, setting: &DiversityTables, sum: f64) -> f64 {
        if self.relevant.is_empty() {
            return 0.0;
        }
        sum * ((1.0 - (1.0 - setting.alpha) * setting.beta) / self.count())
    }
}

/// Returns the largest possible sums of alpha_DCG and ERR_IA at each cutoff: every document has all
/// `count` subtopics.
fn bounds(count: u32, setting: &DiversityTables) -> Vec<SubtopicSums> {
    let (mut sums, mut gain, mut rank) = (SubtopicSums::default(), f64::from(count), 0);
    let mut bounds = Vec::with_capacity(setting.cutoffs.len());
    for &cutoff in &setting.cutoffs {
        while rank < cutoff as usize {
            let before = sums;
            sums.add(gain, rank, setting);
            gain *= 1.0 - setting.alpha;
            rank += 1;
            // Gains only fall, so later terms change nothing either.
            if sums == before {
                rank = usize::MAX;
            }
        }
        bounds.push(sums);
    }
    bounds
}

/// The number of groups whose largest key is kept.
const BLOCK: usize = 64;

/// A key below that of any group with a gain.
const NO_GAIN: GainKey = (0, u32::MAX);

/// Chooses the ideal diversity ranking of a query, and calls `visit` with the gain of each rank
/// from the top. The ranking ends where `visit` returns false or no document adds a gain.
///
/// Documents with equal sets of subtopics always have equal gains. Such documents form a group, and
/// the largest document number of a group is chosen first. A group's key is its last computed gain
/// and this number. Gains only fall (so do sums rounded in a fixed order), so a key is never too
/// small. Only groups with a key above the best key so far are computed anew, and whole blocks of
/// groups are skipped by their largest key.
///
/// This is the lazy greedy algorithm (Minoux 1978): the gain of a set of subtopics is submodular,
/// so a stale gain bounds the true one. It gives the ranking of the plain algorithm, ties included,
/// because keys hold the number of the document too.
pub fn choose(
    subtopics: &Subtopics,
    alpha: f64,
    scratch: &mut SubtopicScratch,
    mut visit: impl FnMut(f64) -> bool,
) {
    let SubtopicScratch { gains, documents, groups, bounds, .. } = scratch;
    refill(gains, subtopics.count, 1.0);
    group_documents(subtopics, documents, groups);
    bounds.clear();
    // Groups are sorted by key, so the first key of a block is its largest.
    bounds.extend(groups.chunks(BLOCK).map(|block| block[0].key));
    loop {
        let (mut best, mut chosen) = (NO_GAIN, 0);
        for (block, bound) in bounds.iter_mut().enumerate() {
            if *bound <= best {
                continue;
            }
            // Recompute the bound from the new keys of visited groups, and from the old keys of
            // unvisited groups. An old key is never too small, so the bound stays an upper bound.
            *bound = NO_GAIN;
            for (place, group) in groups.iter_mut().enumerate().skip(block * BLOCK).take(BLOCK) {
                if group.key > best {
                    let own = subtopics.get(group.key.1).iter();
                    let gain: f64 = own.fold(0.0, |sum, &subtopic| sum + gains[subtopic as usize]);
                    group.key.0 = gain.to_bits();
                    if group.key > best {
                        (best, chosen) = (group.key, place);
                    }
                }
                *bound = group.key.max(*bound);
            }
        }
        // The bits of non-negative numbers sort as the numbers do, so keys are compared as
        // integers.
        if best == NO_GAIN || !visit(f64::from_bits(best.0)) {
            return;
        }
        for &subtopic in subtopics.get(best.1) {
            gains[subtopic as usize] *= 1.0 - alpha;
        }
        let group = &mut groups[chosen];
        group.end -= 1;
        if group.start == group.end {
            group.key = NO_GAIN;
        } else {
            group.key.1 = documents[group.end - 1].1;
        }
    }
}

/// Sorts the documents of a query by their subtopics, and groups those with equal subtopics, the
/// largest key first.
fn group_documents(
    subtopics: &Subtopics,
    documents: &mut Vec<(u64, u32)>,
    groups: &mut Vec<SameSubtopics>,
) {
    documents.clear();
    // No document has the last number.
    documents.extend((0..subtopics.ends.len() as u32).filter_map(|document| {
        let own = subtopics.get(document);
        (!own.is_empty()).then(|| (xxh3_64(bytemuck::cast_slice(own)), document))
    }));
    documents.sort_unstable();
    groups.clear();
    let mut start = 0;
    // A group starts wherever the subtopics change. Sets that share a hash may then form more
    // groups than needed, which costs time and changes no gain.
    for group in documents.chunk_by(|a, b| a.0 == b.0 && subtopics.get(a.1) == subtopics.get(b.1)) {
        let end = start + group.len();
        let largest = documents[end - 1].1;
        groups.push(SameSubtopics {
            key: ((subtopics.get(largest).len() as f64).to_bits(), largest),
            start,
            end,
        });
        start = end;
    }
    groups.sort_unstable_by_key(|group| Reverse(group.key));
}

/// Returns the quotient of two values, 0 if the second is 0.
fn quotient(value: f64, ideal: f64) -> f64 {
    if ideal == 0.0 { 0.0 } else { value / ideal }
}

/// Fills `list` with `count` copies of `value`, and reuses its memory.
fn refill<T: Clone>(list: &mut Vec<T>, count: u32, value: T) {
    list.clear();
    list.resize(count as usize, value);
}

//! Ideal rankings: the best order of documents by gain, and its discounted gain (IDCG) at cutoffs.

use std::ops::Range;

use rayon::prelude::*;

use crate::fold::{CodeTable, Discount, Weights};
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{CodesAbove, ExactHistogram, ExactHistograms, GradeHistograms};
use crate::sort;

// An ideal ranking is never written out as a list of documents, because a query may claim 2²⁸
// documents. The walk visits groups of equal gains, rank by rank within a group, because the
// formula's sum is rounded at every rank. Ranks may be many, groups never: at most one group a code
// or distinct grade.
/// An ideal ranking, documents by gain with the largest first: the gains, discounts and cutoff of
/// its DCG. Documents of no gain are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct IdealRanking {
    /// The gain of each code.
    pub gain: CodeTable,
    /// The weight of each rank.
    pub discount: Discount,
    /// The cutoff in ranks; `None` for all ranks.
    pub rank: Option<u32>,
}

/// The number of ranks of an ideal ranking with a weight in the table. Weights of deeper ranks are
/// computed by block, so the table stays small for any number of documents and any cutoff.
const TABLED: usize = 1 << 16;

/// The number of ranks in a block of weights beyond the table.
const BLOCK: usize = 1 << 12;

impl IdealRanking {
    /// Returns the discount weights of the first ranks of ideal rankings of at most `documents`
    /// documents.
    pub fn weights(&self, documents: usize) -> Weights {
        self.discount.weights(documents.min(self.rank.unwrap_or(u32::MAX) as usize).min(TABLED))
    }

    /// Returns the discounted gain of the ideal ranking of documents, given as numbers of documents
    /// of each code. Codes ascend. Gains are summed rank by rank.
    pub fn dcg(
        &self,
        weights: &Weights,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
    ) -> f64 {
        let mut sum = [0.0];
        self.at(&[self.rank], weights, counts, &mut sum);
        sum[0]
    }

    /// Returns the discounted gain of the ideal ranking as [`IdealRanking::dcg`], of the first
    /// `ranks` ranks at most.
    pub fn dcg_at(
        &self,
        ranks: u32,
        weights: &Weights,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
    ) -> f64 {
        let (cutoff, mut sum) = (self.rank.map_or(ranks, |rank| rank.min(ranks)), [0.0]);
        self.at(&[Some(cutoff)], weights, counts, &mut sum);
        sum[0]
    }

    /// Computes the discounted gain of the ideal ranking at each of some ascending cutoffs, in one
    /// walk down the gains.
    fn at(
        &self,
        cutoffs: &[Option<u32>],
        weights: &Weights,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
        sums: &mut [f64],
    ) {
        let gains = counts.rev().map(|(code, count)| (self.gain[usize::from(code)], count));
        self.sorted_at(cutoffs, weights, gains, sums);
    }

    /// Computes the discounted gain of the ideal ranking at each of some cutoffs, for documents
    /// with exact grades.
    fn exact_at(
        &self,
        cutoffs: &[Option<u32>],
        weights: &Weights,
        judged: ExactHistogram<'_>,
        sums: &mut [f64],
    ) {
        match self.gain.exact() {
            Some(exact) => {
                let gains = judged.iter().rev().map(|(grade, count)| (exact.gain(grade), count));
                // A look at the order of all gains takes longer than adding those of a few ranks.
                if exact.ascends() {
                    let gains = gains.take_while(|&(gain, _)| gain > 0.0);
                    return self.sum_at(cutoffs, weights, gains, sums);
                }
                self.sorted_at(cutoffs, weights, gains, sums);
            }
            None => sums.fill(0.0),
        }
    }

    /// Computes the discounted gain of the ideal ranking at each of some cutoffs, for gains that
    /// mostly descend.
    fn sorted_at(
        &self,
        cutoffs: &[Option<u32>],
        weights: &Weights,
        gains: impl Iterator<Item = (f64, u32)> + Clone,
        sums: &mut [f64],
    ) {
        let gains = gains.filter(|&(gain, _)| gain > 0.0);
        // Gains ascend with codes in nearly every table, so the reversed order of codes is the
        // ideal one, without sorting.
        if gains.clone().is_sorted_by(|a, b| a.0 >= b.0) {
            return self.sum_at(cutoffs, weights, gains, sums);
        }
        let mut sorted: Vec<(f64, u32)> = gains.collect();
        sort::largest_first(&mut sorted);
        self.sum_at(cutoffs, weights, sorted.into_iter(), sums);
    }

    /// Computes the discounted sum of descending gains at each of some ascending cutoffs; `None` is
    /// the end. Each gain comes with the number of its documents.
    fn sum_at(
        &self,
        cutoffs: &[Option<u32>],
        weights: &Weights,
        mut gains: impl Iterator<Item = (f64, u32)>,
        sums: &mut [f64],
    ) {
        let (mut sum, mut rank) = (0.0, 0);
        let (mut gain, mut end) = (0.0, 0);
        for (cutoff, out) in cutoffs.iter().zip(sums) {
            let cutoff = cutoff.unwrap_or(u32::MAX) as usize;
            while rank < cutoff {
                if rank == end {
                    let Some((next, count)) = gains.next() else { break };
                    (gain, end) = (next, end + count as usize);
                }
                let ranks = rank..end.min(cutoff);
                rank = ranks.end;
                let (Weights::Divide(by) | Weights::Multiply(by)) = weights;
                match (weights, by.get(ranks.clone())) {
                    (Weights::Divide(_), Some(by)) => by.iter().for_each(|by| sum += gain / by),
                    (Weights::Multiply(_), Some(by)) => by.iter().for_each(|by| sum += gain * by),
                    (_, None) => sum = self.add_beyond_the_table(sum, gain, ranks),
                }
            }
            *out = sum;
        }
    }

    /// Adds one gain, discounted at each of some ranks beyond the table of weights, to `sum`.
    #[cold]
    #[inline(never)]
    fn add_beyond_the_table(&self, mut sum: f64, gain: f64, ranks: Range<usize>) -> f64 {
        for start in ranks.clone().step_by(BLOCK) {
            match self.discount.weights_of(start..ranks.end.min(start + BLOCK)) {
                Weights::Divide(by) => by.iter().for_each(|by| sum += gain / by),
                Weights::Multiply(by) => by.iter().for_each(|by| sum += gain * by),
            }
        }
        sum
    }

    /// Computes the discounted gain of the ideal ranking (IDCG) of every query, for each of some
    /// cutoffs. The ideals differ in nothing but the cutoff, and the deepest one is last.
    pub(super) fn columns(
        ideals: &[&IdealRanking],
        facts: &GradeHistograms,
        exact: Option<&ExactHistograms>,
    ) -> Vec<Vec<f64>> {
        let Some(deepest) = ideals.last() else { return Vec::new() };
        let exact = exact.filter(|_| deepest.gain.exact().is_some());
        // A table knows no exact grades. If the deepest ideal has a table, all have one. So its
        // table is made first, and without it no other table is begun.
        if exact.is_none()
            && let Some(last) = deepest.tabled(facts)
        {
            let others = ideals[..ideals.len() - 1].iter();
            return others.filter_map(|ideal| ideal.tabled(facts)).chain([last]).collect();
        }
        // Looking for the query with the most documents costs more than a few unneeded weights.
        let few = deepest.rank.filter(|&rank| rank <= 1 << 12).map(u64::from);
        let most = few.unwrap_or_else(|| {
            let queries = (0..facts.len()).into_par_iter();
            queries.map(|query| facts.get(query).count(CodesAbove::JUDGED)).max().unwrap_or(0)
        });
        let weights = deepest.weights(most as usize);
        let cutoffs: Vec<_> = ideals.iter().map(|ideal| ideal.rank).collect();
        let mut sums = vec![0.0; facts.len() * cutoffs.len()];
        let rows = sums.par_chunks_exact_mut(cutoffs.len()).enumerate();
        rows.for_each(|(query, sums)| match exact {
            Some(exact) => deepest.exact_at(&cutoffs, &weights, exact.get(query), sums),
            None => {
                // A table may give documents with a negative grade a gain, but the ideal is made of
                // judged ones.
                deepest.at(&cutoffs, &weights, facts.get(query).judged(), sums);
            }
        });
        // A single cutoff is the usual case, and its sums are a column as they lie.
        if cutoffs.len() == 1 {
            return vec![sums];
        }
        (0..cutoffs.len())
            .into_par_iter()
            .map(|at| sums.iter().skip(at).step_by(cutoffs.len()).copied().collect())
            .collect()
    }

    // A million queries with up to five documents of two grades have 6² = 36 different ideals at
    // rank 5. Counts above the cutoff change nothing, so they are clamped to it, and the counts of
    // the codes are the digits of a number: the place in the table. The table's entries are made by
    // the very walk that each query would take, hence the same bits. It pays with at least four
    // queries an entry.
    /// Computes the IDCG of every query by a table of all combinations of counts, if that pays. It
    /// pays if the ideal has a cutoff and there are many queries for each combination of counts.
    /// Only the first documents of each code down to the cutoff matter.
    fn tabled(&self, facts: &GradeHistograms) -> Option<Vec<f64>> {
        let rank = self.rank?;
        let digits = u64::from(rank) + 1;
        let gains: Vec<u8> =
            (FIRST_GRADE..=255).filter(|&code| self.gain[usize::from(code)] > 0.0).collect();
        let (mut places, mut entries) = ([0; 256], 1u64);
        for &code in &gains {
            places[usize::from(code)] = entries;
            entries =
                entries.checked_mul(digits).filter(|&entries| entries < facts.len() as u64 / 4)?;
        }
        let weights = self.weights(rank as usize);
        let table = (0..entries).into_par_iter().map(|entry| {
            let counts = gains
                .iter()
                .map(|&code| (code, (entry / places[usize::from(code)] % digits) as u32));
            self.dcg(&weights, counts)
        });
        let table: Vec<f64> = table.collect();
        Some(facts.map_sums(
            |code, count| u64::from(count.min(rank)) * places[usize::from(code)],
            |entry| table[entry as usize],
        ))
    }

    /// Returns whether two ideal rankings are equal but for the cutoff.
    pub(super) fn is_like(&self, other: &IdealRanking) -> bool {
        self.gain == other.gain && self.discount == other.discount
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns an ideal whose first grades have no gain, a positive one, and a larger one than the
    /// next.
    pub fn ideal(rank: u32) -> IdealRanking {
        let mut gain = [0.0; 256];
        gain[usize::from(FIRST_GRADE) + 1..][..3].copy_from_slice(&[0.3, 7.0, 2.0]);
        IdealRanking { gain: gain.into(), discount: Discount::Log2, rank: Some(rank) }
    }

    pub fn facts(queries: u32) -> GradeHistograms {
        let mut facts = GradeHistograms::new();
        for query in 0..queries {
            // Up to five codes from 2 on, a negative grade first, with up to 8 documents each; some
            // queries have none.
            let count = |code: u8| {
                (query.wrapping_mul(2_654_435_761) >> (5 * u32::from(code))) as usize % 9
            };
            facts.push((2..7).flat_map(|code| std::iter::repeat_n(code, count(code))));
        }
        facts
    }

    #[test]
    fn a_table_of_ideals_holds_what_each_query_comes_to() {
        let (facts, ideal) = (facts(10_000), ideal(5));
        let tabled = ideal.tabled(&facts).expect("enough queries for 6³ entries");
        let weights = ideal.weights(5);
        for (query, tabled) in tabled.iter().enumerate() {
            let of_judged = facts.get(query).judged();
            assert_eq!(tabled.to_bits(), ideal.dcg(&weights, of_judged).to_bits(), "query {query}");
        }
        assert_eq!([tabled], *IdealRanking::columns(&[&ideal], &facts, None));
        assert!(self::ideal(20).tabled(&facts).is_none(), "too few queries for 21³ entries");
    }

    /// Checks that below the table and across its end a sum is the plain one, rank by rank.
    #[test]
    fn ideals_deeper_than_the_table_are_the_plain_sums() {
        let counts = [(4, 3 * TABLED as u32), (5, TABLED as u32 - 7), (6, BLOCK as u32 + 9)];
        for discount in [
            Discount::Log2,
            Discount::LogFrom(7.5),
            Discount::Power(0.99999),
            Discount::InverseSquare(1e4),
        ] {
            for rank in
                [None, Some(TABLED as u32), Some(TABLED as u32 + 1), Some(4 * TABLED as u32)]
            {
                let ideal = IdealRanking { discount, rank, ..ideal(0) };
                let gains = [(7.0, counts[1].1), (2.0, counts[2].1), (0.3, counts[0].1)];
                let gains = gains
                    .into_iter()
                    .flat_map(|(gain, count)| std::iter::repeat_n(gain, count as usize));
                let gains: Vec<f64> = gains.take(rank.unwrap_or(u32::MAX) as usize).collect();
                let weights = discount.weights(gains.len());
                let plain = (0..)
                    .zip(&gains)
                    .fold(0.0, |sum, (rank, &gain)| sum + weights.term(gain, rank));
                let table = ideal.weights(usize::MAX);
                let (Weights::Divide(by) | Weights::Multiply(by)) = &table;
                assert!(by.len() <= TABLED);
                let found = ideal.dcg(&table, counts.into_iter());
                assert_eq!(found.to_bits(), plain.to_bits(), "{discount:?} at {rank:?}");
            }
        }
    }
}

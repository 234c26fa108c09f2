//! Ideal rankings: documents by gain, and their discounted gain at each of some cutoffs.

use std::ops::Range;

use rayon::prelude::*;

use crate::fold::{CodeTable, Discount, Weights};
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{Above, ExactFacts, Facts, QueryGrades};
use crate::sort;

// An ideal ranking is never written out as a list of documents, because a query may claim 2²⁸
// documents. The walk visits groups of equal gains, rank by rank within a group, because the
// formula's sum is rounded at every rank. Ranks may be many, groups never: at most one group a code
// or distinct grade.
/// An ideal ranking: documents by gain, the largest first, without those of no gain.
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
    /// The weights of the first ranks of ideal rankings of at most `documents` documents.
    pub fn weights(&self, documents: usize) -> Weights {
        self.discount.weights(documents.min(self.rank.unwrap_or(u32::MAX) as usize).min(TABLED))
    }

    /// The discounted gain of the ideal order of documents, given the number of documents of each
    /// code, by ascending code. Gains are summed rank by rank.
    pub fn of(
        &self,
        weights: &Weights,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
    ) -> f64 {
        let mut sum = [0.0];
        self.at(&[self.rank], weights, counts, &mut sum);
        sum[0]
    }

    /// As [`IdealRanking::of`], over no more than the first `ranks` ranks.
    pub fn of_first(
        &self,
        ranks: u32,
        weights: &Weights,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
    ) -> f64 {
        let mut sum = [0.0];
        self.at(
            &[Some(self.rank.map_or(ranks, |rank| rank.min(ranks)))],
            weights,
            counts,
            &mut sum,
        );
        sum[0]
    }

    /// The discounted gain at each of some cutoffs, which ascend, from one walk down the gains.
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

    /// The discounted gain at each of some cutoffs, of documents with exact grades.
    fn exact_at(
        &self,
        cutoffs: &[Option<u32>],
        weights: &Weights,
        judged: QueryGrades<'_>,
        sums: &mut [f64],
    ) {
        match self.gain.exact() {
            Some(exact) => {
                let gains = judged.iter().rev().map(|(grade, count)| (exact.of(grade), count));
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

    /// The discounted gain at each of some cutoffs, of gains that mostly descend.
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

    /// The discounted sum of gains at each of some cutoffs, which ascend; `None` is the end. Gains
    /// descend, and each comes with the number of its documents.
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

    /// Adds one gain at each of some ranks, in their order, to `sum`.
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

    /// The discounted gain of the ideal order of the judged documents of every query, for each of
    /// some ideals. The ideals differ in nothing but the cutoff, and the deepest one is last.
    pub(super) fn columns(
        ideals: &[&IdealRanking],
        facts: &Facts,
        exact: Option<&ExactFacts>,
    ) -> Vec<Vec<f64>> {
        let Some(deepest) = ideals.last() else { return Vec::new() };
        let exact = exact.filter(|_| deepest.gain.exact().is_some());
        // If the deepest ideal has a table, all have one.
        let tabled = |ideal: &&IdealRanking| ideal.rank.and_then(|rank| ideal.tabled(rank, facts));
        if let Some(last) = tabled(deepest).filter(|_| exact.is_none()) {
            let mut columns: Vec<_> =
                ideals[..ideals.len() - 1].iter().filter_map(tabled).collect();
            columns.push(last);
            return columns;
        }
        // Looking for the query with the most documents costs more than a few unneeded weights.
        let few = deepest.rank.filter(|&rank| rank <= 1 << 12).map(u64::from);
        let queries = (0..facts.len()).into_par_iter().map(|query| facts.of(query));
        let most = || queries.map(|facts| facts.count(Above::JUDGED)).max().unwrap_or(0);
        let weights = deepest.weights(few.unwrap_or_else(most) as usize);
        // A table may give documents with a negative grade a gain, but the ideal is made of judged
        // ones.
        let judged = |&(code, _): &(u8, u32)| Above::JUDGED.contains(code);
        let cutoffs: Vec<_> = ideals.iter().map(|ideal| ideal.rank).collect();
        let mut sums = vec![0.0; facts.len() * cutoffs.len()];
        sums.par_chunks_exact_mut(cutoffs.len()).enumerate().for_each(
            |(query, sums)| match exact {
                Some(exact) => deepest.exact_at(&cutoffs, &weights, exact.of(query), sums),
                None => deepest.at(&cutoffs, &weights, facts.of(query).iter().filter(judged), sums),
            },
        );
        if cutoffs.len() == 1 {
            return vec![sums];
        }
        let column = |at| sums.iter().skip(at).step_by(cutoffs.len()).copied().collect();
        (0..cutoffs.len()).into_par_iter().map(column).collect()
    }

    // A million queries with up to five documents of two grades have 6² = 36 different ideals at
    // rank 5. Counts above the cutoff change nothing, so they are clamped to it, and the counts of
    // the codes are the digits of a number: the place in the table. The table's entries are made by
    // the very walk that each query would take, hence the same bits. It pays with at least four
    // queries an entry.
    /// Looks the ideal up by the counts, if there are many queries for each combination of counts.
    /// Only the first `rank` documents of each code matter.
    fn tabled(&self, rank: u32, facts: &Facts) -> Option<Vec<f64>> {
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
        let ideal = |entry: u64| {
            let count = |&code: &u8| (code, (entry / places[usize::from(code)] % digits) as u32);
            self.of(&weights, gains.iter().map(count))
        };
        let table: Vec<f64> = (0..entries).into_par_iter().map(ideal).collect();
        let place = |code: u8, count: u32| u64::from(count.min(rank)) * places[usize::from(code)];
        Some(facts.map_sums(place, |entry| table[entry as usize]))
    }

    /// Whether two ideals are equal but for the cutoff.
    pub(super) fn is_like(&self, other: &IdealRanking) -> bool {
        self.gain == other.gain && self.discount == other.discount
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The first grades have no gain, a positive one, and a larger one than the next.
    pub fn ideal(rank: u32) -> IdealRanking {
        let mut gain = [0.0; 256];
        gain[usize::from(FIRST_GRADE) + 1..][..3].copy_from_slice(&[0.3, 7.0, 2.0]);
        IdealRanking { gain: gain.into(), discount: Discount::Log2, rank: Some(rank) }
    }

    pub fn facts(queries: u32) -> Facts {
        let mut facts = Facts::new();
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
        let tabled = ideal.tabled(5, &facts).expect("enough queries for 6³ entries");
        let weights = ideal.weights(5);
        for (query, tabled) in tabled.iter().enumerate() {
            let of_judged =
                facts.of(query).iter().filter(|&(code, _)| Above::JUDGED.contains(code));
            assert_eq!(tabled.to_bits(), ideal.of(&weights, of_judged).to_bits(), "query {query}");
        }
        assert_eq!([tabled], *IdealRanking::columns(&[&ideal], &facts, None));
        assert!(self::ideal(20).tabled(20, &facts).is_none(), "too few queries for 21³ entries");
    }

    /// Below the table and across its end a sum is the plain one, rank by rank.
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
                let found = ideal.of(&table, counts.into_iter());
                assert_eq!(found.to_bits(), plain.to_bits(), "{discount:?} at {rank:?}");
            }
        }
    }
}

//! What a measure reads and how it is finished: the only link between formulas and folds.
//!
//! A recipe has three parts: the numbers that are read, in the order of the function's arguments; where each comes from, a fold at a
//! place, or the judgments; and the last line of the formula. What a fold computes belongs to all measures together, so a recipe names it
//! by value: two recipes that name equal folds share it, without knowing of each other.
//!
//! The last line sees columns of rows and not numbers of a row: the closure is called once a tile and measure, and inside it the compiler
//! has a plain loop over slices. Where the line is a product or a quotient it is data, so that a device may do it.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::facets::FacetValue;
use crate::fold::{CodeTable, Discount, Fold, Walk, Weights};
use crate::label::code::FIRST_GRADE;
use crate::label::{Above, ExactFacts, Facts, QueryFacts, QueryGrades};
use crate::sort;

/// How a measure is computed.
#[derive(Clone)]
pub enum Recipe {
    /// From folds and facts.
    Folds {
        /// The numbers that the last step gets, in this order.
        reads: Vec<Read>,
        /// The last step, from the numbers to the value.
        last: Last,
    },
    /// By walking down each ranking, because its state needs the query's own ideal ranking or a continuation that no table holds.
    Walk {
        /// The walk; `None` for the measure's own reference function.
        walk: Option<Walk>,
        /// The facts of the query that the walk gets, in this order.
        facts: Vec<Read>,
    },
    /// From judgments by group, of which labels say nothing.
    Groups(FacetValue),
}

/// The last step of a formula, in f64. All but the custom ones are the first number times a factor of the query, or a reciprocal, so that
/// an engine can average them by itself.
#[derive(Clone)]
pub enum Last {
    /// The first number divided by this constant.
    Over(f64),
    /// The first number times this constant.
    Times(f64),
    /// The first number divided by the second; 0 if the second is 0.
    Ratio {
        /// The largest value of the second number that counts; a larger one counts as this.
        most: f64,
    },
    /// 1 divided by the first number, a rank, if it is 1 or more; else 0.
    Reciprocal {
        /// Ranks beyond this one count as 0.
        most: f64,
    },
    /// Any other step.
    Custom(Finish),
}

/// A last step for some rows at a time: from the numbers that the recipe reads, `[number][row]`, to one value for each row.
pub type Finish = Arc<dyn Fn(&[&[f64]], &mut [f64]) + Send + Sync>;

impl Last {
    /// Finishes some rows: from the numbers that the recipe reads, `[number][row]`, to one value for each row.
    pub fn finish(&self, numbers: &[&[f64]], values: &mut [f64]) {
        match *self {
            Last::Over(by) => each(numbers, values, |[number]| number / by),
            Last::Times(by) => each(numbers, values, |[number]| number * by),
            Last::Ratio { most } => {
                each(numbers, values, |[number, by]| if by == 0.0 { 0.0 } else { number / by.min(most) });
            }
            Last::Reciprocal { most } => {
                each(numbers, values, |[rank]| if rank > 0.0 && rank <= most { 1.0 / rank } else { 0.0 });
            }
            Last::Custom(ref finish) => finish(numbers, values),
        }
    }
}

/// Computes the value of each row by `of` from its numbers.
fn each<const N: usize>(numbers: &[&[f64]], values: &mut [f64], of: impl Fn([f64; N]) -> f64) {
    // All slices are cut to one length here, so the loop below needs no check of bounds and becomes vectors.
    let numbers: [&[f64]; N] = std::array::from_fn(|at| &numbers[at][..values.len()]);
    for (row, value) in values.iter_mut().enumerate() {
        *value = of(numbers.map(|number| number[row]));
    }
}

impl Recipe {
    /// The numbers that the recipe reads; those of a walk are facts.
    pub fn reads(&self) -> &[Read] {
        match self {
            Recipe::Folds { reads, .. } => reads,
            Recipe::Walk { facts, .. } => facts,
            Recipe::Groups(_) => &[],
        }
    }

    /// Makes a recipe that walks down each ranking with the measure's own reference function. A new measure can start with it.
    pub fn reference() -> Result<Self, String> {
        Ok(Recipe::Walk { walk: None, facts: Vec::new() })
    }

    /// Returns the recipe for rankings whose codes are classes of exact grades: those that no fold of exact grades computes walk with their
    /// reference functions.
    pub fn over_exact(self) -> Self {
        let plain = match &self {
            Recipe::Folds { reads, .. } => !reads.iter().any(|read| matches!(read, Read::RetrievedIdeal(_))),
            Recipe::Walk { walk, .. } => walk.as_ref().is_some_and(|walk| !walk.needs_grades()),
            Recipe::Groups(_) => true,
        };
        if plain { self } else { Recipe::Walk { walk: None, facts: Vec::new() } }
    }

    /// Makes a recipe that walks down each ranking, with facts of its query.
    pub fn walk<const N: usize>(walk: Walk, facts: [Fact; N]) -> Result<Self, String> {
        Ok(Recipe::Walk { walk: Some(walk), facts: facts.map(Read::Fact).into() })
    }

    /// Makes a recipe that reads `N` numbers and finishes with a function of them.
    pub fn new<const N: usize>(
        reads: [Read; N],
        finish: impl Fn([f64; N]) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let finish = move |numbers: &[&[f64]], values: &mut [f64]| each(numbers, values, &finish);
        Ok(Recipe::Folds { reads: reads.into(), last: Last::Custom(Arc::new(finish)) })
    }

    /// Makes a recipe of a number divided by `by`.
    pub fn over(read: Read, by: f64) -> Result<Self, String> {
        Ok(Recipe::Folds { reads: vec![read], last: Last::Over(by) })
    }

    /// Makes a recipe of a number times `by`.
    pub fn times(read: Read, by: f64) -> Result<Self, String> {
        Ok(Recipe::Folds { reads: vec![read], last: Last::Times(by) })
    }

    /// Makes a recipe of a number divided by another, of which no more than `most` counts; 0 if the other is 0.
    pub fn ratio(reads: [Read; 2], most: f64) -> Result<Self, String> {
        Ok(Recipe::Folds { reads: reads.into(), last: Last::Ratio { most } })
    }

    /// Makes a recipe of 1 divided by a rank, if the rank is 1 to `most`; else 0.
    pub fn reciprocal(rank: Read, most: f64) -> Result<Self, String> {
        Ok(Recipe::Folds { reads: vec![rank], last: Last::Reciprocal { most } })
    }

    /// Makes a recipe that reads any number of numbers and finishes with a function of them.
    pub fn of_many(
        reads: Vec<Read>,
        finish: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let finish = move |numbers: &[&[f64]], values: &mut [f64]| {
            let mut of_row = vec![0.0; numbers.len()];
            for (row, value) in values.iter_mut().enumerate() {
                of_row.iter_mut().zip(numbers).for_each(|(of_row, number)| *of_row = number[row]);
                *value = finish(&of_row);
            }
        };
        Ok(Recipe::Folds { reads, last: Last::Custom(Arc::new(finish)) })
    }
}

/// One number that is read for a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// The state of a fold at a place.
    Fold(Fold, Place),
    /// The largest precision from a level of recall on.
    Peak {
        /// The codes of the hits.
        hits: Above,
        /// The rule that turns a level of recall into a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The sum over the hits of the share of known non-relevant documents that are not above them.
    Preference {
        /// The codes of the hits.
        hits: Above,
        /// The codes of the judged documents.
        judged: Above,
    },
    /// A fact of the query, from the qrels.
    Fact(Fact),
    /// The discounted gain of the ideal order of the retrieved documents.
    RetrievedIdeal(IdealRanking),
}

/// The place at which a fold is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// After this rank, or at the end of a shorter ranking.
    Rank(u32),
    /// At the end of the ranking.
    End,
    /// After a rank that is a fact of the query.
    PerQuery(Fact),
}

impl From<Option<u32>> for Place {
    fn from(rank: Option<u32>) -> Self {
        rank.map_or(Place::End, Place::Rank)
    }
}

/// A number that follows from the judgments of a query alone.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The number of documents of the qrels in the set.
    Count(Above),
    /// The smaller of R, the number of hits, and N, the number of judged documents that are no hits.
    Fewer {
        /// The codes of the hits.
        hits: Above,
        /// The codes of the judged documents.
        judged: Above,
    },
    /// The largest grade ≥ 0 of any judged document, 0 if there is none.
    MaxGrade(Arc<[f64]>),
    /// The number of hits that a level of recall needs.
    Hits {
        /// The codes of the hits.
        hits: Above,
        /// The rule that turns a level of recall into a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The discounted gain of the ideal order of the judged documents.
    Ideal(IdealRanking),
}

/// The rule that turns a level of recall x into a number of hits, of R relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallRule {
    /// ⌊x·R + 0.9⌋, as trec_eval 9.
    V9,
    /// x·R rounded, halves away from zero, as trec_eval 10.
    V10,
    /// The fewest hits h with h / R ≥ x, without any rounding, as in textbooks. x is the shortest decimal that reads as the f64: 0.7 is
    /// 7/10.
    Exact,
}

impl RecallRule {
    // Three answers to how many hits a level of recall is. trec_eval 9 adds 0.9 to x·R and truncates (m_iprec_at_recall.c), which is
    // nearly a ceiling but takes x·R = 2.05 as 2; its version 10 rounds to the nearest, so 2.4 is 2. Textbooks want the fewest hits with
    // h/R ≥ x, and there x·R in floats fails: 0.07·100 is 7.000000000000001, whose ceiling is 8. So the level is taken as the decimal that
    // was written, digits over a power of ten, and the ceiling is a division of whole numbers.
    /// Returns the function from a number of relevant documents to the number of hits that the level `recall` needs.
    pub fn hits(self, recall: f64) -> impl Fn(u64) -> u64 {
        let exact = (self == RecallRule::Exact).then(|| decimal(recall));
        move |relevant| match (self, exact) {
            (_, Some((digits, places))) => match 10u128.checked_pow(places) {
                Some(unit) => (u128::from(digits) * u128::from(relevant)).div_ceil(unit) as u64,
                // The digits are less than 2^57, so the product is a small part of such a unit.
                None => u64::from(digits > 0 && relevant > 0),
            },
            (RecallRule::V10, _) => (recall * relevant as f64).round() as u64,
            _ => (recall * relevant as f64 + 0.9) as u64,
        }
    }
}

/// The shortest decimal that reads as `number`, which is 0 to 1: its digits, of which there are at most 17, and how many of them are behind
/// the point.
fn decimal(number: f64) -> (u64, u32) {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = fraction.len() as i32 - exponent.parse::<i32>().unwrap_or(0);
    (format!("{whole}{fraction}").parse().unwrap_or(0), places.max(0) as u32)
}

// It is never written out as a list of documents: a query may claim 2²⁸ of them. It is walked as runs of equal gains, rank by rank within
// each, because the sum must be rounded at every rank as the formula's is. Only ranks are many, never runs: at most one a code or distinct
// grade.
/// An ideal ranking: documents by gain, the largest first, without those of no gain.
#[derive(Debug, Clone, PartialEq)]
pub struct IdealRanking {
    /// The gain of each code.
    pub gain: CodeTable,
    /// The weight of each rank.
    pub discount: Discount,
    /// The number of ranks that count; `None` for all.
    pub rank: Option<u32>,
}

/// The number of ranks of an ideal ranking whose weights are in a table. The weights of deeper ranks are computed one by one, so that no
/// number of documents and no cutoff makes a large table.
const TABLED: usize = 1 << 16;
/// The number of ranks beyond the table that are weighed together.
const BLOCK: usize = 1 << 12;

impl IdealRanking {
    /// The weights of the first ranks of ideal rankings of at most `documents` documents.
    pub fn weights(&self, documents: usize) -> Weights {
        self.discount.weights(documents.min(self.rank.unwrap_or(u32::MAX) as usize).min(TABLED))
    }

    /// The discounted gain of the ideal order of documents, given the number of documents of each code, by ascending code. Gains are summed
    /// rank by rank.
    pub fn of(&self, weights: &Weights, counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone) -> f64 {
        let mut sum = [0.0];
        self.at(&[self.rank], weights, counts, &mut sum);
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
        // Gains ascend with codes in nearly every table, so the reversed order of codes is the ideal one, without sorting.
        if gains.clone().is_sorted_by(|a, b| a.0 >= b.0) {
            return self.sum_at(cutoffs, weights, gains, sums);
        }
        let mut sorted: Vec<(f64, u32)> = gains.collect();
        sort::largest_first(&mut sorted);
        self.sum_at(cutoffs, weights, sorted.into_iter(), sums);
    }

    /// The discounted sum of gains at each of some cutoffs, which ascend; `None` is the end. Gains descend, and each comes with the number
    /// of its documents.
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

    /// The discounted gain of the ideal order of the judged documents of every query, for each of some ideals. The ideals differ in nothing
    /// but the cutoff, and the deepest one is last.
    fn columns(ideals: &[&IdealRanking], facts: &Facts, exact: Option<&ExactFacts>) -> Vec<Vec<f64>> {
        let Some(deepest) = ideals.last() else { return Vec::new() };
        let exact = exact.filter(|_| deepest.gain.exact().is_some());
        // If the deepest ideal has a table, all have one.
        let tabled = |ideal: &&IdealRanking| ideal.rank.and_then(|rank| ideal.tabled(rank, facts));
        if let Some(last) = tabled(deepest).filter(|_| exact.is_none()) {
            let mut columns: Vec<_> = ideals[..ideals.len() - 1].iter().filter_map(tabled).collect();
            columns.push(last);
            return columns;
        }
        // Looking for the query with the most documents costs more than a few unneeded weights.
        let few = deepest.rank.filter(|&rank| rank <= 1 << 12).map(u64::from);
        let queries = (0..facts.len()).into_par_iter().map(|query| facts.of(query));
        let most = || queries.map(|facts| facts.count(Above::JUDGED)).max().unwrap_or(0);
        let weights = deepest.weights(few.unwrap_or_else(most) as usize);
        // A table may give documents with a negative grade a gain, but the ideal is made of judged ones.
        let judged = |&(code, _): &(u8, u32)| Above::JUDGED.contains(code);
        let cutoffs: Vec<_> = ideals.iter().map(|ideal| ideal.rank).collect();
        let mut sums = vec![0.0; facts.len() * cutoffs.len()];
        sums.par_chunks_exact_mut(cutoffs.len()).enumerate().for_each(|(query, sums)| match exact {
            Some(exact) => deepest.exact_at(&cutoffs, &weights, exact.of(query), sums),
            None => deepest.at(&cutoffs, &weights, facts.of(query).iter().filter(judged), sums),
        });
        if cutoffs.len() == 1 {
            return vec![sums];
        }
        let column = |at| sums.iter().skip(at).step_by(cutoffs.len()).copied().collect();
        (0..cutoffs.len()).into_par_iter().map(column).collect()
    }

    // A million queries with up to five documents of two grades have 6² = 36 different ideals at rank 5. Counts above the cutoff change
    // nothing, so they are clamped to it, and the counts of the codes are the digits of a number: the place in the table. The table's
    // entries are made by the very walk that each query would take, hence the same bits. It pays with at least four queries an entry.
    /// Looks the ideal up by the counts, if there are many queries for each combination of counts. Only the first `rank` documents of each
    /// code matter.
    fn tabled(&self, rank: u32, facts: &Facts) -> Option<Vec<f64>> {
        let digits = u64::from(rank) + 1;
        let gains: Vec<u8> = (FIRST_GRADE..=255).filter(|&code| self.gain[usize::from(code)] > 0.0).collect();
        let (mut places, mut entries) = ([0; 256], 1u64);
        for &code in &gains {
            places[usize::from(code)] = entries;
            entries = entries.checked_mul(digits).filter(|&entries| entries < facts.len() as u64 / 4)?;
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
    fn is_like(&self, other: &IdealRanking) -> bool {
        self.gain == other.gain && self.discount == other.discount
    }
}

impl Fact {
    /// Computes the numbers of each fact for every query. Ideals that differ only in the cutoff come from one walk. Where codes are classes,
    /// `exact` are the exact grades of the queries.
    pub fn columns(of: &[Fact], facts: &Facts, exact: Option<&ExactFacts>) -> Vec<Vec<f64>> {
        let mut columns = vec![None; of.len()];
        for at in 0..of.len() {
            match &of[at] {
                _ if columns[at].is_some() => {}
                Fact::Ideal(first) => {
                    // nDCG at ten cutoffs needs ten ideals of one ranking: one walk passes all of them, if the cutoffs ascend.
                    let mut alike: Vec<(usize, &IdealRanking)> = Vec::new();
                    for (at, fact) in of.iter().enumerate() {
                        match fact {
                            Fact::Ideal(ideal) if ideal.is_like(first) => alike.push((at, ideal)),
                            _ => {}
                        }
                    }
                    sort::by_number(&mut alike, |(_, ideal)| ideal.rank.map_or(f64::INFINITY, f64::from));
                    let ideals: Vec<&IdealRanking> = alike.iter().map(|&(_, ideal)| ideal).collect();
                    for ((at, _), column) in
                        alike.into_iter().zip(IdealRanking::columns(&ideals, facts, exact))
                    {
                        columns[at] = Some(column);
                    }
                }
                fact => columns[at] = Some(fact.column(facts, exact)),
            }
        }
        columns.into_iter().flatten().collect()
    }

    /// Computes the fact for one query, without a table of discounts.
    pub fn of(&self, facts: QueryFacts<'_>) -> f64 {
        match self {
            Fact::Count(set) => facts.count(*set) as f64,
            Fact::MaxGrade(grades) => {
                let grade = |code: u8| grades.get(usize::from(code.wrapping_sub(FIRST_GRADE))).copied();
                facts.iter().rev().find_map(|(code, _)| grade(code)).unwrap_or(0.0)
            }
            Fact::Fewer { hits, judged } => {
                let relevant = facts.count(*hits);
                relevant.min(facts.count(*judged) - relevant) as f64
            }
            Fact::Hits { hits, rule, recall } => rule.hits(*recall)(facts.count(*hits)) as f64,
            Fact::Ideal(ideal) => {
                let judged = |&(code, _): &(u8, u32)| Above::JUDGED.contains(code);
                ideal.of(&ideal.weights(0), facts.iter().filter(judged))
            }
        }
    }

    /// Computes the fact for every query.
    fn column(&self, facts: &Facts, exact: Option<&ExactFacts>) -> Vec<f64> {
        let queries = || (0..facts.len()).into_par_iter().map(|query| facts.of(query));
        let counted =
            |set: Above| move |code: u8, count: u32| if set.contains(code) { u64::from(count) } else { 0 };
        match (self, exact) {
            (Fact::Count(set), _) => facts.map_sums(counted(*set), |count| count as f64),
            (Fact::MaxGrade(_), Some(exact)) => {
                let highest =
                    |query: usize| exact.of(query).iter().next_back().map_or(0.0, |(grade, _)| grade);
                (0..exact.len()).map(highest).collect()
            }
            (Fact::MaxGrade(_) | Fact::Fewer { .. }, _) => queries().map(|facts| self.of(facts)).collect(),
            (Fact::Hits { hits, rule, recall }, _) => {
                let needed = rule.hits(*recall);
                facts.map_sums(counted(*hits), |relevant| needed(relevant) as f64)
            }
            (Fact::Ideal(ideal), _) => {
                IdealRanking::columns(&[ideal], facts, exact).pop().unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first grades have no gain, a positive one, and a larger one than the next.
    fn ideal(rank: u32) -> IdealRanking {
        let mut gain = [0.0; 256];
        gain[usize::from(FIRST_GRADE) + 1..][..3].copy_from_slice(&[0.3, 7.0, 2.0]);
        IdealRanking { gain: gain.into(), discount: Discount::Log2, rank: Some(rank) }
    }

    fn facts(queries: u32) -> Facts {
        let mut facts = Facts::new();
        for query in 0..queries {
            // Up to five codes from 2 on, a negative grade first, with up to 8 documents each; some queries have none.
            let count = |code: u8| (query.wrapping_mul(2_654_435_761) >> (5 * u32::from(code))) as usize % 9;
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
            let of_judged = facts.of(query).iter().filter(|&(code, _)| Above::JUDGED.contains(code));
            assert_eq!(tabled.to_bits(), ideal.of(&weights, of_judged).to_bits(), "query {query}");
        }
        assert_eq!([tabled], *IdealRanking::columns(&[&ideal], &facts, None));
        assert!(self::ideal(20).tabled(20, &facts).is_none(), "too few queries for 21³ entries");
    }

    #[test]
    fn ideals_at_many_cutoffs_are_those_at_each() {
        let (few, many) = (facts(40), facts(10_000));
        let other = IdealRanking { discount: Discount::Rank, ..ideal(20) };
        let end = IdealRanking { rank: None, ..ideal(0) };
        let all = [ideal(7), end, other, ideal(1), ideal(20), ideal(3)].map(Fact::Ideal);
        let shallow = [ideal(5), ideal(2)].map(Fact::Ideal);
        for (of, facts) in [(&all[..], &few), (&all[..], &many), (&shallow[..], &many)] {
            let columns = Fact::columns(of, facts, None);
            assert_eq!(columns.len(), of.len());
            for (fact, column) in of.iter().zip(columns) {
                let Fact::Ideal(ideal) = fact else { unreachable!() };
                let weights = ideal.weights(100);
                for (query, sum) in column.iter().enumerate() {
                    let of_judged = facts.of(query).iter().filter(|&(code, _)| Above::JUDGED.contains(code));
                    assert_eq!(
                        sum.to_bits(),
                        ideal.of(&weights, of_judged).to_bits(),
                        "{fact:?}, query {query}"
                    );
                }
            }
        }
        assert!(Fact::columns(&all, &Facts::new(), None).iter().all(Vec::is_empty));
    }

    /// Below the table and across its end a sum is the plain one, rank by rank.
    #[test]
    fn ideals_deeper_than_the_table_are_the_plain_sums() {
        let counts = [(4, 3 * TABLED as u32), (5, TABLED as u32 - 7), (6, BLOCK as u32 + 9)];
        for discount in
            [Discount::Log2, Discount::LogFrom(7.5), Discount::Power(0.99999), Discount::InverseSquare(1e4)]
        {
            for rank in [None, Some(TABLED as u32), Some(TABLED as u32 + 1), Some(4 * TABLED as u32)] {
                let ideal = IdealRanking { discount, rank, ..ideal(0) };
                let gains = [(7.0, counts[1].1), (2.0, counts[2].1), (0.3, counts[0].1)];
                let gains =
                    gains.into_iter().flat_map(|(gain, count)| std::iter::repeat_n(gain, count as usize));
                let gains: Vec<f64> = gains.take(rank.unwrap_or(u32::MAX) as usize).collect();
                let weights = discount.weights(gains.len());
                let plain = (0..).zip(&gains).fold(0.0, |sum, (rank, &gain)| sum + weights.term(gain, rank));
                let table = ideal.weights(usize::MAX);
                let (Weights::Divide(by) | Weights::Multiply(by)) = &table;
                assert!(by.len() <= TABLED);
                let found = ideal.of(&table, counts.into_iter());
                assert_eq!(found.to_bits(), plain.to_bits(), "{discount:?} at {rank:?}");
            }
        }
    }

    #[test]
    fn no_cutoff_makes_a_large_table() {
        let few = ideal(u32::MAX - 1);
        let none = IdealRanking { gain: [0.0; 256].into(), ..few.clone() };
        for ideal in [few, none] {
            let facts = facts(100);
            let column = Fact::columns(&[Fact::Ideal(ideal.clone())], &facts, None).remove(0);
            let whole = IdealRanking { rank: None, ..ideal };
            assert_eq!(column, Fact::columns(&[Fact::Ideal(whole)], &facts, None).remove(0));
        }
    }

    #[test]
    fn exact_levels_of_recall_are_fractions() {
        let fewest = |over: u64, by: u64, relevant: u64| (over * relevant).div_ceil(by);
        for hundredth in 0..=100u64 {
            // The level of recall is written in decimal: 0.7, not seven times 0.1.
            let recall = format!("{}.{:02}", hundredth / 100, hundredth % 100).parse().unwrap();
            let needed = RecallRule::Exact.hits(recall);
            let most = if hundredth % 10 == 0 { 3000 } else { 300 };
            for relevant in 0..most {
                let expected = fewest(hundredth, 100, relevant);
                assert_eq!(needed(relevant), expected, "{recall} of {relevant}");
            }
        }
        for (recall, relevant, expected) in [
            (0.05, 21, 2),
            (0.1 + 0.2, 10, 4),
            (1.0 / 3.0, 3, 1),
            (2.0 / 3.0, 3, 2),
            (f64::MIN_POSITIVE, 1 << 28, 1),
            (f64::MIN_POSITIVE, 0, 0),
            (1.0, u64::MAX, u64::MAX),
            (0.123_456_789_012_345_68, 10_000_000_000_000_000, 1_234_567_890_123_457),
        ] {
            assert_eq!(RecallRule::Exact.hits(recall)(relevant), expected, "{recall} of {relevant}");
        }
        assert_eq!(RecallRule::V9.hits(0.7)(3), 2);
        assert_eq!(RecallRule::V10.hits(0.7)(3), 2);
    }

    #[test]
    fn facts_of_many_queries_are_those_of_each() {
        let facts = facts(10_000);
        for above in 0..8 {
            let counts = Fact::Count(Above(above)).column(&facts, None);
            let each = (0..facts.len()).map(|query| facts.of(query).count(Above(above)) as f64);
            assert!(counts.iter().copied().eq(each), "above {above}");
        }
        assert!(Fact::Count(Above::JUDGED).column(&Facts::new(), None).is_empty());
    }
}

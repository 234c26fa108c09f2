//! What a measure reads and how it is finished: the only link between formulas and folds.

use std::sync::Arc;

use rayon::prelude::*;

use crate::fold::{CodeTable, Discount, Fold, Weights};
use crate::label::code::FIRST_GRADE;
use crate::label::{Above, Facts};

/// How a measure is computed.
#[derive(Clone)]
pub enum Recipe {
    /// From folds and facts.
    Folds {
        /// The numbers that `finish` gets, in this order.
        reads: Vec<Read>,
        /// From those numbers to the values, in f64: the last line of the formula.
        finish: Finish,
    },
    /// By walking down each ranking with the measure's own reference function, because its state needs the query's own ideal
    /// ranking or a continuation that no table holds.
    Walk,
}

/// The last line of a formula, for some rows at a time: from the numbers that the recipe reads, `[number][row]`, to a value a row.
pub type Finish = Arc<dyn Fn(&[&[f64]], &mut [f64]) + Send + Sync>;

impl Recipe {
    /// The numbers that are read; none for a walk.
    pub fn reads(&self) -> &[Read] {
        match self {
            Recipe::Folds { reads, .. } => reads,
            Recipe::Walk => &[],
        }
    }

    /// Reads `N` numbers and finishes with a function of them.
    pub fn new<const N: usize>(
        reads: [Read; N],
        finish: impl Fn([f64; N]) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let finish = move |numbers: &[&[f64]], values: &mut [f64]| {
            let numbers: [&[f64]; N] = std::array::from_fn(|at| &numbers[at][..values.len()]);
            for (row, value) in values.iter_mut().enumerate() {
                *value = finish(numbers.map(|number| number[row]));
            }
        };
        Ok(Recipe::Folds { reads: reads.into(), finish: Arc::new(finish) })
    }

    /// Reads any number of numbers and finishes with a function of them.
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
        Ok(Recipe::Folds { reads, finish: Arc::new(finish) })
    }
}

/// One number of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// The state of a fold at a place.
    Fold(Fold, Place),
    /// The largest precision from a level of recall on.
    Peak {
        /// What is a hit.
        hits: Above,
        /// How a level of recall becomes a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The sum over the hits of the share of known non-relevant documents that are not above them.
    Preference {
        /// What is a hit.
        hits: Above,
        /// What is judged.
        judged: Above,
    },
    /// Something the qrels say of the query.
    Fact(Fact),
    /// The discounted gain of the ideal order of the retrieved documents.
    RetrievedIdeal(Ideal),
}

/// Where a fold is read.
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
    /// How many documents of the qrels are in the set.
    Count(Above),
    /// The smaller one of R, the hits, and N, the judged documents that are no hits.
    Fewer {
        /// What is a hit.
        hits: Above,
        /// What is judged.
        judged: Above,
    },
    /// The largest grade ≥ 0 of any judged document, 0 if there is none.
    MaxGrade(Arc<[f64]>),
    /// How many hits a level of recall needs.
    Hits {
        /// What is a hit.
        hits: Above,
        /// How a level of recall becomes a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The discounted gain of the ideal order of the judged documents.
    Ideal(Ideal),
}

/// How a level of recall x becomes a number of hits, of R relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallRule {
    /// ⌊x·R + 0.9⌋, as trec_eval 9.
    V9,
    /// x·R rounded, halves away from zero, as trec_eval 10.
    V10,
}

impl RecallRule {
    /// The number of hits.
    pub fn hits(self, recall: f64, relevant: u64) -> u64 {
        match self {
            RecallRule::V9 => (recall * relevant as f64 + 0.9) as u64,
            RecallRule::V10 => (recall * relevant as f64).round() as u64,
        }
    }
}

/// An ideal ranking: documents by gain, the largest first, those without gain left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Ideal {
    /// The gain of each code.
    pub gain: CodeTable,
    /// How much a rank counts.
    pub discount: Discount,
    /// Only the first ranks of it.
    pub rank: Option<u32>,
}

impl Ideal {
    /// Discounts for ideal rankings of up to so many documents.
    pub fn weights(&self, documents: usize) -> Weights {
        self.discount.weights(documents.min(self.rank.unwrap_or(u32::MAX) as usize))
    }

    /// The discounted gain of the ideal order of documents that carry these codes, ascending, so many times, summed rank by rank.
    pub fn of(&self, weights: &Weights, counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone) -> f64 {
        let gains = counts.rev().map(|(code, count)| (self.gain[usize::from(code)], count));
        let gains = gains.filter(|&(gain, _)| gain > 0.0);
        if gains.clone().is_sorted_by(|a, b| a.0 >= b.0) {
            return self.sum(weights, gains);
        }
        let mut sorted: Vec<(f64, u32)> = gains.collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.sum(weights, sorted.into_iter())
    }

    /// The discounted sum of gains that descend, each so many times.
    fn sum(&self, weights: &Weights, gains: impl Iterator<Item = (f64, u32)>) -> f64 {
        let upto = self.rank.unwrap_or(u32::MAX) as usize;
        let (mut sum, mut rank) = (0.0, 0);
        for (gain, count) in gains {
            let end = upto.min(rank + count as usize);
            match weights {
                Weights::Divide(by) => by[rank..end].iter().for_each(|by| sum += gain / by),
                Weights::Multiply(by) => by[rank..end].iter().for_each(|by| sum += gain * by),
            }
            rank = end;
        }
        sum
    }
}

impl Fact {
    /// The number for every query.
    pub fn column(&self, facts: &Facts) -> Vec<f64> {
        let queries = (0..facts.len()).into_par_iter().map(|query| facts.of(query));
        match self {
            Fact::Count(set) => queries.map(|facts| facts.count(*set) as f64).collect(),
            Fact::MaxGrade(grades) => {
                let grade = |code: u8| grades.get(usize::from(code.wrapping_sub(FIRST_GRADE))).copied();
                queries
                    .map(|facts| facts.iter().rev().find_map(|(code, _)| grade(code)).unwrap_or(0.0))
                    .collect()
            }
            Fact::Fewer { hits, judged } => queries
                .map(|facts| {
                    let relevant = facts.count(*hits);
                    relevant.min(facts.count(*judged) - relevant) as f64
                })
                .collect(),
            Fact::Hits { hits, rule, recall } => {
                queries.map(|facts| rule.hits(*recall, facts.count(*hits)) as f64).collect()
            }
            Fact::Ideal(ideal) => {
                // To look for the query with the most documents costs more than a few weights too many.
                let few = ideal.rank.filter(|&rank| rank <= 1 << 12).map(u64::from);
                let most = || queries.clone().map(|facts| facts.count(Above::JUDGED)).max().unwrap_or(0);
                let weights = ideal.weights(few.unwrap_or_else(most) as usize);
                let judged = |&(code, _): &(u8, u32)| Above::JUDGED.contains(code);
                queries.map(|facts| ideal.of(&weights, facts.iter().filter(judged))).collect()
            }
        }
    }
}

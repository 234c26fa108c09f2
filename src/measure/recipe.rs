//! Recipes of measures, the only link between formulas and folds.
//!
//! A recipe has three parts: the numbers to read, in the order of the function's arguments; the
//! source of each number, a fold at a place or the judgments; and the last line of the formula. A
//! recipe names its folds by value, so recipes with equal folds share the computed columns without
//! a link between the recipes.
//!
//! The last line takes columns of rows, not numbers of a row: the closure is called once a tile and
//! measure, and its body is a plain loop over slices for the compiler. A product or a quotient as
//! the last line is data, so that a device may compute the value.

use std::sync::Arc;

use crate::facets::FacetValue;
use crate::fold::{Fold, Walk};
use crate::matrix::Above;

pub use super::facts::Fact;
pub use super::ideal::IdealRanking;
pub use super::recall::RecallRule;

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
    /// By walking down each ranking, because its state needs the query's own ideal ranking or a
    /// continuation that no table holds.
    Walk {
        /// The walk; `None` for the measure's own reference function.
        walk: Option<Walk>,
        /// The facts of the query that the walk gets, in this order.
        facts: Vec<Read>,
    },
    /// From judgments by facet, of which labels say nothing.
    Groups(FacetValue),
}

/// The last step of a formula, in f64. All steps but [`Last::Custom`] are the first number times a
/// factor of the query, or a reciprocal, so that an engine can average the values by itself.
#[derive(Clone)]
pub enum Last {
    /// The first number divided by this constant.
    Over(f64),
    /// The first number times this constant.
    Times(f64),
    /// The first number divided by the second; 0 if the second is 0.
    Ratio {
        /// The cap of the second number.
        most: f64,
    },
    /// 1 divided by the first number, a rank, if it is 1 or more; else 0.
    Reciprocal {
        /// The deepest rank with a value above 0.
        most: f64,
    },
    /// Any other step.
    Custom(Finish),
}

/// A last step for a batch of rows: reads the recipe's numbers, `[number][row]`, and writes one
/// value for each row.
pub type Finish = Arc<dyn Fn(&[&[f64]], &mut [f64]) + Send + Sync>;

impl Last {
    /// Finishes a batch of rows: reads the recipe's numbers, `[number][row]`, and writes one value
    /// for each row.
    pub fn finish(&self, numbers: &[&[f64]], values: &mut [f64]) {
        match *self {
            Last::Over(by) => each(numbers, values, |[number]| number / by),
            Last::Times(by) => each(numbers, values, |[number]| number * by),
            Last::Ratio { most } => {
                each(
                    numbers,
                    values,
                    |[number, by]| if by == 0.0 { 0.0 } else { number / by.min(most) },
                );
            }
            Last::Reciprocal { most } => {
                each(
                    numbers,
                    values,
                    |[rank]| if rank > 0.0 && rank <= most { 1.0 / rank } else { 0.0 },
                );
            }
            Last::Custom(ref finish) => finish(numbers, values),
        }
    }
}

/// Computes the value of each row by `of` from its numbers.
fn each<const N: usize>(numbers: &[&[f64]], values: &mut [f64], of: impl Fn([f64; N]) -> f64) {
    // All slices are cut to one length here, so the loop below needs no check of bounds and becomes
    // vectors.
    let numbers: [&[f64]; N] = std::array::from_fn(|at| &numbers[at][..values.len()]);
    for (row, value) in values.iter_mut().enumerate() {
        *value = of(numbers.map(|number| number[row]));
    }
}

impl Recipe {
    /// The numbers to read; a walk reads facts only.
    pub fn reads(&self) -> &[Read] {
        match self {
            Recipe::Folds { reads, .. } => reads,
            Recipe::Walk { facts, .. } => facts,
            Recipe::Groups(_) => &[],
        }
    }

    /// Makes a recipe that walks down each ranking with the measure's own reference function. A new
    /// measure can start with it.
    pub fn reference() -> Result<Self, String> {
        Ok(Recipe::Walk { walk: None, facts: Vec::new() })
    }

    /// Returns the recipe for rankings whose codes are classes of exact grades. A measure walks
    /// with its reference function if no fold of exact grades computes the measure.
    pub fn over_exact(self) -> Self {
        let plain = match &self {
            Recipe::Folds { reads, .. } => !reads
                .iter()
                .any(|read| matches!(read, Read::RetrievedIdeal(_) | Read::ReturnedIdeal(_))),
            Recipe::Walk { walk, .. } => walk.as_ref().is_some_and(|walk| !walk.needs_grades()),
            Recipe::Groups(_) => true,
        };
        if plain { self } else { Recipe::Walk { walk: None, facts: Vec::new() } }
    }

    /// Makes a recipe that walks down each ranking, with facts of its query.
    pub fn walk<const N: usize>(walk: Walk, facts: [Fact; N]) -> Result<Self, String> {
        Ok(Recipe::Walk { walk: Some(walk), facts: facts.map(Read::Fact).into() })
    }

    /// Makes a recipe from `N` numbers to read, and a function of the numbers as the last step.
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

    /// Makes a recipe of a number divided by another, of which no more than `most` counts; 0 if the
    /// other is 0.
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

/// A number that a recipe reads for each row.
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
    /// The discounted gain of the ideal order of the judged documents, over as many ranks as there
    /// are documents retrieved at most.
    ReturnedIdeal(IdealRanking),
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

//! Recipes of measures: the numbers to read from rankings and qrels, and the last step from these
//! to the value. They are the only link between formulas and folds, which read every rank alike.
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
use crate::matrix::CodesAbove;

pub use super::ideal::IdealRanking;
pub use super::query_constants::QueryConstant;
pub use super::recall::RecallRule;

/// The recipe of a measure: from folds, which read every rank alike, by a walk down the ranking, or
/// from facets.
#[derive(Clone)]
pub enum Recipe {
    /// From folds and facts.
    Folds {
        /// The numbers that the last step gets, in this order.
        reads: Vec<RecipeInput>,
        /// The last step, from the numbers to the value.
        last: LastStep,
    },
    /// By walking down each ranking, because its state needs the query's own ideal ranking or a
    /// continuation that no table holds.
    Walk {
        /// The walk; `None` for the measure's own reference function.
        walk: Option<Walk>,
        /// The facts of the query that the walk gets, in this order.
        facts: Vec<RecipeInput>,
    },
    /// From judgments by facet, of which labels say nothing.
    Facets(FacetValue),
}

/// The last step of a measure's recipe, from the numbers that were read to the value, in f64. All
/// steps but [`LastStep::Custom`] are the first number times a factor of the query, or a
/// reciprocal, so that an engine can average the values by itself.
#[derive(Clone)]
pub enum LastStep {
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

/// A last step of a measure's recipe for a batch of rows, from the numbers, `[number][row]`, to a
/// value a row.
pub type Finish = Arc<dyn Fn(&[&[f64]], &mut [f64]) + Send + Sync>;

impl LastStep {
    /// Computes the measure's values for a batch of rankings from the recipe's numbers,
    /// `[number][row]`. It writes one value for each row.
    pub fn finish(&self, numbers: &[&[f64]], values: &mut [f64]) {
        match *self {
            Self::Over(by) => each(numbers, values, |[number]| number / by),
            Self::Times(by) => each(numbers, values, |[number]| number * by),
            Self::Ratio { most } => {
                each(
                    numbers,
                    values,
                    |[number, by]| {
                        if by == 0.0 { 0.0 } else { number / by.min(most) }
                    },
                )
            }
            Self::Reciprocal { most } => {
                each(
                    numbers,
                    values,
                    |[rank]| {
                        if rank > 0.0 && rank <= most { 1.0 / rank } else { 0.0 }
                    },
                )
            }
            Self::Custom(ref finish) => finish(numbers, values),
        }
    }
}

/// Computes a value for each ranking of a batch, by `function` of its numbers.
fn each<const N: usize>(
    numbers: &[&[f64]],
    values: &mut [f64],
    function: impl Fn([f64; N]) -> f64,
) {
    // All slices are cut to one length here, so the loop below needs no check of bounds and becomes
    // vectors.
    let numbers: [&[f64]; N] = std::array::from_fn(|at| &numbers[at][..values.len()]);
    for (row, value) in values.iter_mut().enumerate() {
        *value = function(numbers.map(|number| number[row]));
    }
}

impl Recipe {
    /// Returns the numbers that the recipe reads for each ranking; a walk reads facts of the query
    /// only.
    pub fn reads(&self) -> &[RecipeInput] {
        match self {
            Self::Folds { reads, .. } => reads,
            Self::Walk { facts, .. } => facts,
            Self::Facets(_) => &[],
        }
    }

    /// Makes a recipe that computes the measure with its own reference function, ranking by
    /// ranking. A new measure can start with it.
    pub fn reference() -> Result<Self, String> {
        Ok(Self::Walk { walk: None, facts: Vec::new() })
    }

    /// Adapts the recipe to qrels with more distinct grades than codes, whose codes are classes of
    /// grades. A measure walks with its reference function if no fold of exact grades computes the
    /// measure.
    pub fn over_exact(self) -> Self {
        let plain = match &self {
            Self::Folds { reads, .. } => !reads.iter().any(|read| {
                matches!(read, RecipeInput::RetrievedIdeal(_) | RecipeInput::TruncatedIdeal(_))
            }),
            Self::Walk { walk, .. } => walk.as_ref().is_some_and(|walk| !walk.needs_grades()),
            Self::Facets(_) => true,
        };
        // Ideals of retrieved documents come from a histogram of codes, and a class of grades has
        // no single gain.
        if plain { self } else { Self::Walk { walk: None, facts: Vec::new() } }
    }

    /// Makes a recipe that computes a measure by a walk down each ranking, with facts of its query.
    pub fn walk<const N: usize>(walk: Walk, facts: [QueryConstant; N]) -> Result<Self, String> {
        Ok(Self::Walk { walk: Some(walk), facts: facts.map(RecipeInput::Fact).into() })
    }

    /// Makes a recipe that reads `N` numbers for each ranking, with any function of these as the
    /// last step.
    pub fn new<const N: usize>(
        reads: [RecipeInput; N],
        finish: impl Fn([f64; N]) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let finish: Finish = Arc::new(move |numbers, values| each(numbers, values, &finish));
        Ok(Self::Folds { reads: reads.into(), last: LastStep::Custom(finish) })
    }

    /// Makes a recipe whose value is one number divided by the constant `by`.
    pub fn over(read: RecipeInput, by: f64) -> Result<Self, String> {
        Ok(Self::Folds { reads: vec![read], last: LastStep::Over(by) })
    }

    /// Makes a recipe whose value is one number times the constant `by`.
    pub fn times(read: RecipeInput, by: f64) -> Result<Self, String> {
        Ok(Self::Folds { reads: vec![read], last: LastStep::Times(by) })
    }

    /// Makes a recipe whose value is one number divided by another, capped at `most`; 0 if the
    /// other is 0.
    pub fn ratio(reads: [RecipeInput; 2], most: f64) -> Result<Self, String> {
        Ok(Self::Folds { reads: reads.into(), last: LastStep::Ratio { most } })
    }

    /// Makes a recipe whose value is 1 divided by a rank, if the rank is 1 to `most`; else 0.
    pub fn reciprocal(rank: RecipeInput, most: f64) -> Result<Self, String> {
        Ok(Self::Folds { reads: vec![rank], last: LastStep::Reciprocal { most } })
    }

    /// Makes a recipe that reads a list of any number of numbers, with any function of these as the
    /// last step.
    pub fn custom(
        reads: Vec<RecipeInput>,
        finish: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let finish: Finish = Arc::new(move |numbers, values| {
            // One list serves all rows, so a batch costs a single allocation.
            let mut of_row = vec![0.0; numbers.len()];
            for (row, value) in values.iter_mut().enumerate() {
                of_row.iter_mut().zip(numbers).for_each(|(of_row, number)| *of_row = number[row]);
                *value = finish(&of_row);
            }
        });
        Ok(Self::Folds { reads, last: LastStep::Custom(finish) })
    }
}

/// A number that a measure's recipe reads for each ranking: from its ranks, or from the judgments
/// of its query.
#[derive(Debug, Clone, PartialEq)]
pub enum RecipeInput {
    /// The state of a fold at a place.
    Fold(Fold, ReadCutoff),
    /// The largest precision from a level of recall on.
    Peak {
        /// The codes of the hits.
        hits: CodesAbove,
        /// The rule that turns a level of recall into a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The sum over the hits of the share of known non-relevant documents that are not above them.
    Preference {
        /// The codes of the hits.
        hits: CodesAbove,
        /// The codes of the judged documents.
        judged: CodesAbove,
    },
    /// A fact of the query, from the qrels.
    Fact(QueryConstant),
    /// The discounted gain of the ideal order of the retrieved documents.
    RetrievedIdeal(IdealRanking),
    /// The discounted gain of the ideal order of the judged documents, over as many ranks as there
    /// are documents retrieved at most.
    TruncatedIdeal(IdealRanking),
}

/// The place in a ranking at which a fold, which reads every rank alike, gives its number: a rank,
/// or the end.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadCutoff {
    /// After this rank, or at the end of a shorter ranking.
    Rank(u32),
    /// At the end of the ranking.
    End,
    /// After a rank that is a fact of the query.
    PerQuery(QueryConstant),
}

impl From<Option<u32>> for ReadCutoff {
    fn from(rank: Option<u32>) -> Self {
        rank.map_or(Self::End, Self::Rank)
    }
}

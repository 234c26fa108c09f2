//! The contribution of each rank of a ranking to a measure that is a sum over ranks.
//!
//! If the last step of a recipe multiplies or divides one fold, the terms of the fold add up to the
//! value. The terms are added in rank order, as in the engines, and the last step follows: the
//! value equals the value of the engines to the last bit. Recipes with another last step, and
//! walks, have no terms.
//!
//! # Which measures have terms
//!
//! ```text
//! value = last( Σ over ranks of term(rank) )
//!
//! last        of                    one term a rank, such as
//! sum         P, hits               1                          a hit
//! over        AP, R, nDCG           h/i of a hit; gain / lg(i + 1)
//! times       RBP                   gain · p^(i−1)
//! reciprocal  RR                    1/i of the first hit only
//! anything else                     none: F and other last steps, Bpref, G and what else walks
//! ```
//!
//! A term is the addition of a rank, given the ranks above. A term of AP counts the hits above its
//! rank, so removing a document also changes the terms of deeper ranks. Terms explain how a value
//! came about, not how much a document is worth.
//!
//! The terms are made of the same tables as the kernels use (`Discount::weights`), added in the
//! same order from 0, and finished by the same division. So the value has the bits of an
//! evaluation, and a reader can add up the printed terms.

use crate::fold::{Discount, Fold, Weights};
use crate::matrix::{CodesAbove, GradeHistogram};
use crate::measure::recipe::{LastStep, ReadCutoff, Recipe, RecipeInput};

/// The value of a measure for one ranking as a sum over ranks: terms, sum and last step.
#[derive(Debug, Clone, PartialEq)]
pub struct RankTerms {
    /// The ranks that add something, in order.
    pub terms: Vec<Term>,
    /// The sum of the terms in rank order.
    pub sum: f64,
    /// The last step, from the sum to the value.
    pub last: SumStep,
}

/// The contribution of one rank to the value of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The rank, from 1.
    pub rank: u32,
    /// The value of the term.
    pub value: f64,
    /// The origin of the value.
    pub how: TermOrigin,
}

/// The origin of a rank's contribution to a measure, such as a precision or a discounted gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TermOrigin {
    /// The value is 1, for a document that counts.
    One,
    /// The value is 1 over the rank.
    Reciprocal,
    /// The value is this number of documents that count, down to this rank, over the rank.
    Precision(u32),
    /// A gain, divided by the weight of the rank.
    Divided(f64, f64),
    /// A gain, multiplied by the weight of the rank.
    Multiplied(f64, f64),
    /// The chance to come to the rank, times the chance to stop there, divided by the weight of the
    /// rank.
    Stops {
        /// The chance to come to the rank.
        comes: f64,
        /// The chance to stop at its document.
        stops: f64,
        /// The weight of the rank.
        weight: f64,
    },
    /// The value follows from the formula of the measure.
    Formula,
}

/// The last step from the sum over ranks to the value of a measure, such as a division.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SumStep {
    /// No step: the sum is the value.
    Sum,
    /// The sum is divided by this number; the value is 0 if the number is 0.
    Over(f64),
    /// The sum is multiplied by this number.
    Times(f64),
}

impl SumStep {
    /// Computes the value of the measure from the sum of its terms.
    pub fn value(self, sum: f64) -> f64 {
        match self {
            Self::Sum => sum,
            Self::Over(0.0) => 0.0,
            Self::Over(by) => sum / by,
            Self::Times(by) => sum * by,
        }
    }
}

/// Computes the contribution of each rank to a measure over the labels of a ranking; `None` if the
/// measure is no sum over ranks. The recipe is that of the measure, and the labels are best first.
pub fn terms(recipe: &Recipe, labels: &[u8], facts: GradeHistogram<'_>) -> Option<RankTerms> {
    let Recipe::Folds { reads, last } = recipe else { return None };
    let (first, rest) = reads.split_first()?;
    let last = match (last, rest) {
        // Division by 1 changes no bit, and would be a step that explains nothing.
        (LastStep::Over(1.0), []) => SumStep::Sum,
        (LastStep::Over(by), []) => SumStep::Over(*by),
        (LastStep::Times(by), []) => SumStep::Times(*by),
        (LastStep::Ratio { most }, [by]) => SumStep::Over(number(by, labels, facts)?.min(*most)),
        (LastStep::Reciprocal { most }, []) => return reciprocal(first, *most, labels),
        _ => return None,
    };
    let RecipeInput::Fold(fold, place) = first else { return None };
    let terms = fold_terms(fold, cut(place, labels, facts))?;
    let sum = terms.iter().fold(0.0, |sum, term| sum + term.value);
    Some(RankTerms { terms, sum, last })
}

/// Returns a divisor of the measure that the order of the ranking does not change, such as the
/// ideal DCG.
fn number(read: &RecipeInput, labels: &[u8], facts: GradeHistogram<'_>) -> Option<f64> {
    match read {
        RecipeInput::Fact(fact) => Some(fact.value_for(facts)),
        RecipeInput::RetrievedIdeal(ideal) => {
            let mut counts = [0; 256];
            labels.iter().for_each(|&code| counts[usize::from(code)] += 1);
            // The code 0 stands for no document.
            let counts: Vec<(u8, u32)> = (0..=255).zip(counts).skip(1).collect();
            Some(ideal.dcg(&ideal.weights(labels.len()), counts.into_iter()))
        }
        RecipeInput::TruncatedIdeal(ideal) => {
            let weights = ideal.weights(labels.len());
            Some(ideal.dcg_at(labels.len() as u32, &weights, facts.judged()))
        }
        RecipeInput::Fold(..) | RecipeInput::Peak { .. } | RecipeInput::Preference { .. } => None,
    }
}

/// Returns the labels of a ranking down to the cutoff of a measure.
fn cut<'a>(place: &ReadCutoff, labels: &'a [u8], facts: GradeHistogram<'_>) -> &'a [u8] {
    let ranks = match place {
        ReadCutoff::Rank(rank) => *rank as usize,
        ReadCutoff::End => labels.len(),
        ReadCutoff::PerQuery(fact) => fact.value_for(facts) as usize,
    };
    &labels[..ranks.min(labels.len())]
}

/// Returns the labels of a ranking with their ranks from 1.
fn ranked(labels: &[u8]) -> impl Iterator<Item = (u32, u8)> {
    (1..).zip(labels.iter().copied())
}

/// Returns RR of a ranking as a single term: 1 over the first rank with a relevant document.
fn reciprocal(first: &RecipeInput, most: f64, labels: &[u8]) -> Option<RankTerms> {
    let RecipeInput::Fold(Fold::FirstRank(hits), _) = first else { return None };
    let first = ranked(labels)
        .find(|&(_, code)| hits.contains(code))
        .filter(|&(rank, _)| f64::from(rank) <= most)
        .map(|(rank, _)| Term { rank, value: 1.0 / f64::from(rank), how: TermOrigin::Reciprocal });
    let (terms, sum) = (Vec::from_iter(first), first.map_or(0.0, |term| term.value));
    Some(RankTerms { terms, sum, last: SumStep::Sum })
}

/// Returns the terms of a fold (a sum read rank by rank), such as AP's precisions; `None` for folds
/// of another kind.
fn fold_terms(fold: &Fold, labels: &[u8]) -> Option<Vec<Term>> {
    Some(match fold {
        Fold::Count(set) => {
            let ranks = hit_ranks(*set, labels);
            ranks.map(|rank| Term { rank, value: 1.0, how: TermOrigin::One }).collect()
        }
        Fold::PrecisionSum(set) => {
            let hits = (1..).zip(hit_ranks(*set, labels)).map(|(hits, rank)| Term {
                rank,
                value: f64::from(hits) / f64::from(rank),
                how: TermOrigin::Precision(hits),
            });
            hits.collect()
        }
        Fold::WeightedSum { gain, discount } => weighted(gain, *discount, labels),
        Fold::Cascade { stop, discount } => cascade(stop, *discount, labels),
        _ => return None,
    })
}

/// Returns the ranks with a document of a set of grades, such as the relevant ones.
fn hit_ranks(set: CodesAbove, labels: &[u8]) -> impl Iterator<Item = u32> {
    ranked(labels).filter(move |&(_, code)| set.contains(code)).map(|(rank, _)| rank)
}

/// Returns the discounted gain of each rank as a term, as in DCG.
fn weighted(gain: &[f64; 256], discount: Discount, labels: &[u8]) -> Vec<Term> {
    let weights = discount.weights(labels.len());
    let gains = ranked(labels).map(|(rank, code)| (rank, gain[usize::from(code)]));
    let terms = gains.filter(|&(_, gain)| gain != 0.0).map(|(rank, gain)| {
        let at = rank as usize - 1;
        let how = match &weights {
            Weights::Divide(by) => TermOrigin::Divided(gain, by[at]),
            Weights::Multiply(by) => TermOrigin::Multiplied(gain, by[at]),
        };
        Term { rank, value: weights.term(gain, at), how }
    });
    terms.collect()
}

/// Returns the chance of a user to stop at each rank, with its discount, as a term, as in ERR.
fn cascade(stop: &[f64; 256], discount: Discount, labels: &[u8]) -> Vec<Term> {
    let weights = discount.weights(labels.len());
    let mut comes = 1.0;
    let mut terms = Vec::new();
    for (rank, code) in ranked(labels) {
        let (stops, at) = (stop[usize::from(code)], rank as usize - 1);
        let value = weights.term(comes * stops, at);
        // A rank that adds 0 has no line, but the chance to come to the next rank falls with it
        // below.
        if value != 0.0 {
            let how = match &weights {
                Weights::Divide(by) => TermOrigin::Stops { comes, stops, weight: by[at] },
                Weights::Multiply(_) => TermOrigin::Formula,
            };
            terms.push(Term { rank, value, how });
        }
        comes *= 1.0 - stops;
    }
    terms
}

//! The terms of a measure that is a sum over ranks: the share of each rank of one ranking.
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
use crate::matrix::{Above, QueryFacts};
use crate::measure::recipe::{Last, Place, Read, Recipe};

/// A measure as a sum over ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct RankTerms {
    /// The ranks that add something, in order.
    pub terms: Vec<Term>,
    /// The sum of the terms in rank order.
    pub sum: f64,
    /// The last step, from the sum to the value.
    pub last: LastLine,
}

/// The term of one rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The rank, from 1.
    pub rank: u32,
    /// The value of the term.
    pub value: f64,
    /// The origin of the value.
    pub how: How,
}

/// The origin of a term's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum How {
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

/// The last step, from the sum of the terms to the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LastLine {
    /// No step: the sum is the value.
    Sum,
    /// The sum is divided by this number; the value is 0 if the number is 0.
    Over(f64),
    /// The sum is multiplied by this number.
    Times(f64),
}

impl LastLine {
    /// Computes the value from the sum.
    pub fn value(self, sum: f64) -> f64 {
        match self {
            LastLine::Sum => sum,
            LastLine::Over(0.0) => 0.0,
            LastLine::Over(by) => sum / by,
            LastLine::Times(by) => sum * by,
        }
    }
}

/// Computes the terms of a measure with this recipe over the labels of a ranking, best first;
/// `None` if the measure is no sum over ranks.
pub fn terms(recipe: &Recipe, labels: &[u8], facts: QueryFacts<'_>) -> Option<RankTerms> {
    let Recipe::Folds { reads, last } = recipe else { return None };
    let (first, rest) = reads.split_first()?;
    let last = match (last, rest) {
        // Division by 1 changes no bit, and would be a step that explains nothing.
        (Last::Over(1.0), []) => LastLine::Sum,
        (Last::Over(by), []) => LastLine::Over(*by),
        (Last::Times(by), []) => LastLine::Times(*by),
        (Last::Ratio { most }, [by]) => LastLine::Over(number(by, labels, facts)?.min(*most)),
        (Last::Reciprocal { most }, []) => return reciprocal(first, *most, labels),
        _ => return None,
    };
    let Read::Fold(fold, place) = first else { return None };
    let terms = of_fold(fold, cut(place, labels, facts))?;
    let sum = terms.iter().fold(0.0, |sum, term| sum + term.value);
    Some(RankTerms { terms, sum, last })
}

/// A number that does not depend on the order of the ranking.
fn number(read: &Read, labels: &[u8], facts: QueryFacts<'_>) -> Option<f64> {
    match read {
        Read::Fact(fact) => Some(fact.of(facts)),
        Read::RetrievedIdeal(ideal) => {
            let mut counts = [0; 256];
            labels.iter().for_each(|&code| counts[usize::from(code)] += 1);
            let counts: Vec<(u8, u32)> = (0..=255).zip(counts).skip(1).collect();
            Some(ideal.of(&ideal.weights(labels.len()), counts.into_iter()))
        }
        Read::ReturnedIdeal(ideal) => {
            let judged = facts.iter().filter(|&(code, _)| Above::JUDGED.contains(code));
            Some(ideal.of_first(labels.len() as u32, &ideal.weights(labels.len()), judged))
        }
        Read::Fold(..) | Read::Peak { .. } | Read::Preference { .. } => None,
    }
}

/// The labels above a place.
fn cut<'a>(place: &Place, labels: &'a [u8], facts: QueryFacts<'_>) -> &'a [u8] {
    let ranks = match place {
        Place::Rank(rank) => *rank as usize,
        Place::End => labels.len(),
        Place::PerQuery(fact) => fact.of(facts) as usize,
    };
    &labels[..ranks.min(labels.len())]
}

/// The ranks from 1 with their labels.
fn ranked(labels: &[u8]) -> impl Iterator<Item = (u32, u8)> {
    (1..).zip(labels.iter().copied())
}

/// The first rank with a document that counts, as a term.
fn reciprocal(first: &Read, most: f64, labels: &[u8]) -> Option<RankTerms> {
    let Read::Fold(Fold::FirstRank(hits), _) = first else { return None };
    let rank = ranked(labels).find(|&(_, code)| hits.contains(code)).map(|(rank, _)| rank);
    let rank = rank.filter(|&rank| f64::from(rank) <= most);
    let term = |rank| Term { rank, value: 1.0 / f64::from(rank), how: How::Reciprocal };
    let terms: Vec<Term> = rank.map(term).into_iter().collect();
    // `terms` holds at most one term: the sum is the value of this term, or 0.
    let sum = terms.iter().map(|term| term.value).next().unwrap_or(0.0);
    Some(RankTerms { terms, sum, last: LastLine::Sum })
}

/// The terms of a fold that is a plain sum over ranks; `None` for the others.
fn of_fold(fold: &Fold, labels: &[u8]) -> Option<Vec<Term>> {
    let hits = |set: Above| {
        let hits =
            ranked(labels).filter(move |&(_, code)| set.contains(code)).map(|(rank, _)| rank);
        (1..).zip(hits)
    };
    let precision = |(hits, rank): (u32, u32)| Term {
        rank,
        value: f64::from(hits) / f64::from(rank),
        how: How::Precision(hits),
    };
    match fold {
        Fold::Count(set) => {
            Some(hits(*set).map(|(_, rank)| Term { rank, value: 1.0, how: How::One }).collect())
        }
        Fold::PrecisionSum(set) => Some(hits(*set).map(precision).collect()),
        Fold::WeightedSum { gain, discount } => Some(weighted(gain, *discount, labels)),
        Fold::Cascade { stop, discount } => Some(cascade(stop, *discount, labels)),
        _ => None,
    }
}

/// Gains with the weights of their ranks, as terms.
fn weighted(gain: &[f64; 256], discount: Discount, labels: &[u8]) -> Vec<Term> {
    let weights = discount.weights(labels.len());
    let term = |(rank, code): (u32, u8)| {
        let (gain, at) = (gain[usize::from(code)], rank as usize - 1);
        let how = match &weights {
            Weights::Divide(by) => How::Divided(gain, by[at]),
            Weights::Multiply(by) => How::Multiplied(gain, by[at]),
        };
        Term { rank, value: weights.term(gain, at), how }
    };
    ranked(labels).filter(|&(_, code)| gain[usize::from(code)] != 0.0).map(term).collect()
}

/// The chances to stop at each rank with its weight, as terms.
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
                Weights::Divide(by) => How::Stops { comes, stops, weight: by[at] },
                Weights::Multiply(_) => How::Formula,
            };
            terms.push(Term { rank, value, how });
        }
        comes *= 1.0 - stops;
    }
    terms
}

//! Classes of definitions: all definitions of a class give every query the same value.

use std::collections::HashMap;

use super::policy::{DefinitionResult, PolicyQueries, QueryPolicy, policies};
use super::questions::{AskedRun, Question, SumsOfLook, relevant};
use super::views::{LookAt, OrderOfTies};
use crate::error::Result;
use crate::matrix::Above;
use crate::measure::OfNothing;
use crate::scores::Known;

/// A definition: a spelling under a view and a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DefinitionAt {
    pub look: LookAt,
    /// The number of the spelling.
    pub spelling: usize,
    pub policy: QueryPolicy,
    /// The number of choices that are not trec_eval's.
    pub choices: u32,
}

/// A class of definitions: its simplest member, and the properties of all members.
#[derive(Debug, Clone)]
pub(super) struct ClassOfDefinitions {
    pub digest: u128,
    pub first: DefinitionAt,
    pub members: u64,
    /// Whether a member rounds no query.
    pub unrounded: bool,
    /// The mean of each measure of the spelling.
    pub means: Vec<f64>,
    /// The number of told queries that agree, by values of 64 bits and of 32.
    pub agree: [u32; 2],
}

/// The definitions of a question with their sums, from which every definition's result follows.
pub(super) struct Definitions<'q> {
    pub question: &'q Question,
    sums: Vec<SumsOfLook>,
    orders: Vec<OrderOfTies>,
    /// For each measure of each spelling, the number of its set of relevant documents, and whether
    /// it has a choice where there are none.
    relevant: Vec<(usize, bool)>,
    /// By known documents and set of relevant ones.
    queries: [Vec<PolicyQueries>; 2],
}

/// A result for each measure of a spelling.
type SpellingResults = Vec<DefinitionResult>;

impl<'q> Definitions<'q> {
    /// Evaluates a question.
    ///
    /// # Errors
    /// As [`Question::sums`].
    pub fn of(question: &'q Question, run: &AskedRun) -> Result<Self> {
        let sums = question.sums(run)?;
        let mut sets: Vec<Above> = Vec::new();
        let of_measure = |measure: &&crate::measure::Measure| {
            let above = relevant(measure, &run.book);
            let at = sets.iter().position(|of| *of == above).unwrap_or_else(|| {
                sets.push(above);
                sets.len() - 1
            });
            (at, (measure.definition().traits.nothing_relevant)(measure) == Some(0.0))
        };
        let relevant = question.measures().iter().map(of_measure).collect();
        let queries = [Known::Judged, Known::Retrieved].map(|known| {
            let look = LookAt { order: 0, judged_only: false, known, cut: false };
            sets.iter().map(|&above| run.policy_queries(look, above)).collect()
        });
        let orders = run.parted.orders.iter().map(|(order, _)| *order).collect();
        Ok(Definitions { question, sums, orders, relevant, queries })
    }

    /// The order of a definition.
    pub fn order(&self, of: &DefinitionAt) -> OrderOfTies {
        self.orders[of.look.order]
    }

    /// Hands on every definition with its digest, in an order that depends on nothing else, until
    /// `each` has seen all.
    pub fn each(&self, mut each: impl FnMut(DefinitionAt, u128, &SpellingResults)) {
        let width = self.question.evidence.len();
        let mut results = SpellingResults::with_capacity(width);
        for SumsOfLook { look, sums } in &self.sums {
            for (spelling, of) in self.question.spellings.iter().enumerate() {
                let measures = spelling * width..(spelling + 1) * width;
                let chooses = self.relevant[measures.clone()].iter().all(|(_, chooses)| *chooses);
                let is_asked = |policy: &QueryPolicy| {
                    of.nothing.is_none_or(|nothing| nothing == policy.nothing)
                };
                for policy in policies(chooses).filter(is_asked) {
                    results.clear();
                    results.extend(measures.clone().filter_map(|at| {
                        let queries = &self.queries[usize::from(look.known == Known::Retrieved)];
                        Some(queries[self.relevant[at].0].result(sums[at].as_ref()?, policy))
                    }));
                    if results.len() < width || results.iter().any(|result| result.mean.is_nan()) {
                        continue;
                    }
                    let choices = of.choices + self.choices(*look, policy);
                    each(
                        DefinitionAt { look: *look, spelling, policy, choices },
                        joined(&results),
                        &results,
                    );
                }
            }
        }
    }

    /// The number of choices of a view and a policy that are not trec_eval's.
    fn choices(&self, look: LookAt, policy: QueryPolicy) -> u32 {
        let order = self.orders[look.order];
        let chosen = [
            order.ties != self.orders[0].ties,
            order.score != self.orders[0].score,
            look.judged_only,
            look.known == Known::Retrieved,
            look.cut,
            policy.nothing != OfNothing::Zero,
            policy.only_present,
            policy.rounding > 0,
        ];
        chosen.iter().map(|&chosen| u32::from(chosen)).sum()
    }

    /// Gathers all definitions into classes, and counts them.
    pub fn classes(&self) -> (Vec<ClassOfDefinitions>, u64) {
        let mut places: HashMap<u128, usize> = HashMap::new();
        let mut classes: Vec<ClassOfDefinitions> = Vec::new();
        let mut definitions = 0;
        self.each(|first, digest, results| {
            definitions += 1;
            let at = *places.entry(digest).or_insert_with(|| {
                classes.push(ClassOfDefinitions {
                    digest,
                    first,
                    members: 0,
                    unrounded: false,
                    means: results.iter().map(|result| result.mean).collect(),
                    agree: results[0].agree,
                });
                classes.len() - 1
            });
            let class = &mut classes[at];
            class.members += 1;
            class.unrounded |= first.policy.rounding == 0;
            if first.choices < class.first.choices {
                class.first = first;
                class.means = results.iter().map(|result| result.mean).collect();
            }
        });
        (classes, definitions)
    }
}

/// The digest of the results of several measures.
fn joined(results: &SpellingResults) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    results.iter().fold(0, |all: u128, result| all.wrapping_mul(ODD).wrapping_add(result.digest))
}

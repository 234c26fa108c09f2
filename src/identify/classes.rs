//! Classes of definitions of a measure: all definitions of a class give every query the same value.

use std::collections::HashMap;

use super::policy::{DefinitionResult, PolicyQueries, QueryPolicy, policies};
use super::questions::{IdentifyRun, Question, ViewSums, relevant};
use super::views::{RunView, TieTreatment};
use crate::error::Result;
use crate::matrix::CodesAbove;
use crate::measure::NoRelevant;

/// A tried definition: a measure with parameters, a view (ties, `-J`, `-M`, `--relevant-from`), and
/// a policy for special queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DefinitionKey {
    pub look: RunView,
    /// The number of the spelling.
    pub spelling: usize,
    pub policy: QueryPolicy,
    /// The number of choices that are not trec_eval's.
    pub choices: u32,
}

/// A class of definitions with equal values for every query: its simplest member, and the
/// properties of all members.
#[derive(Debug, Clone)]
pub(super) struct DefinitionClass {
    pub digest: u128,
    pub first: DefinitionKey,
    pub members: u64,
    /// Whether a member rounds no query.
    pub unrounded: bool,
    /// The mean of each measure of the spelling.
    pub means: Vec<f64>,
    /// The number of told queries that agree, by values of 64 bits and of 32.
    pub agree: [u32; 2],
}

/// All definitions tried for a question of `laneval identify`, with the sums from which their means
/// follow.
pub(super) struct Definitions<'q> {
    pub question: &'q Question,
    sums: Vec<ViewSums>,
    orders: Vec<TieTreatment>,
    /// For each measure of each spelling, the number of its set of relevant documents, and whether
    /// it has a choice where there are none.
    relevant: Vec<(usize, bool)>,
    /// By known documents and set of relevant ones.
    queries: [Vec<PolicyQueries>; 2],
}

/// The mean and digest of each measure of one definition.
type SpellingResults = Vec<DefinitionResult>;

impl<'q> Definitions<'q> {
    /// Evaluates all definitions that a question tries.
    ///
    /// # Errors
    /// As [`Question::sums`].
    pub fn evaluate(question: &'q Question, run: &IdentifyRun) -> Result<Self> {
        let sums = question.sums(run)?;
        let mut sets: Vec<CodesAbove> = Vec::new();
        let relevant = question.measures().into_iter().map(|measure| {
            let above = relevant(measure, &run.book);
            let at = sets.iter().position(|set| *set == above).unwrap_or_else(|| {
                sets.push(above);
                sets.len() - 1
            });
            (at, (measure.definition().traits.nothing_relevant)(measure) == Some(0.0))
        });
        let relevant = relevant.collect();
        // No order of equal scores changes which documents are relevant.
        let queries = [false, true].map(|retrieved| {
            sets.iter().map(|&above| run.policy_queries(retrieved, above)).collect()
        });
        let orders = run.parted.orders.iter().map(|(order, _)| *order).collect();
        Ok(Self { question, sums, orders, relevant, queries })
    }

    /// Returns the treatment of equal scores that a definition has.
    pub fn order(&self, key: &DefinitionKey) -> TieTreatment {
        self.orders[key.look.order]
    }

    /// Calls `each` with every definition, the digest of its values and its results, in a fixed
    /// order.
    pub fn each(&self, mut each: impl FnMut(DefinitionKey, u128, &SpellingResults)) {
        let width = self.question.evidence.len();
        let mut results = SpellingResults::with_capacity(width);
        for ViewSums { look, sums } in &self.sums {
            for (spelling, entry) in self.question.spellings.iter().enumerate() {
                let measures = spelling * width..(spelling + 1) * width;
                let chooses = self.relevant[measures.clone()].iter().all(|(_, chooses)| *chooses);
                let compatible = policies(chooses)
                    .filter(|policy| entry.nothing.is_none_or(|nothing| nothing == policy.nothing));
                for policy in compatible {
                    results.clear();
                    results.extend(measures.clone().filter_map(|at| {
                        let queries = &self.queries[usize::from(look.relevant_from.is_retrieved())];
                        Some(queries[self.relevant[at].0].result(sums[at].as_ref()?, policy))
                    }));
                    // A definition without a mean can have printed no number.
                    if results.len() < width || results.iter().any(|result| result.mean.is_nan()) {
                        continue;
                    }
                    let choices = entry.choices + self.choices(*look, policy);
                    each(
                        DefinitionKey { look: *look, spelling, policy, choices },
                        joined(&results),
                        &results,
                    );
                }
            }
        }
    }

    /// Returns the number of choices in which a view and a policy differ from trec_eval.
    fn choices(&self, look: RunView, policy: QueryPolicy) -> u32 {
        let order = self.orders[look.order];
        let chosen = [
            order.ties != self.orders[0].ties,
            order.score != self.orders[0].score,
            look.judged_only,
            look.relevant_from.is_retrieved(),
            look.cut,
            policy.nothing != NoRelevant::Zero,
            policy.only_present,
            policy.rounding > 0,
        ];
        chosen.map(u32::from).iter().sum()
    }

    /// Groups all definitions into classes of equal values, and counts the definitions.
    pub fn classes(&self) -> (Vec<DefinitionClass>, u64) {
        let mut places: HashMap<u128, usize> = HashMap::new();
        let mut classes: Vec<DefinitionClass> = Vec::new();
        let mut definitions = 0;
        self.each(|first, digest, results| {
            definitions += 1;
            let at = *places.entry(digest).or_insert_with(|| {
                classes.push(DefinitionClass {
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
            // Of several simplest members the earliest stays, because `each` begins with the usual
            // views and policies.
            if first.choices < class.first.choices {
                class.first = first;
                class.means = results.iter().map(|result| result.mean).collect();
            }
        });
        (classes, definitions)
    }
}

/// Combines the digests of a definition's measures into one digest.
fn joined(results: &SpellingResults) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    results.iter().fold(0, |all: u128, result| all.wrapping_mul(ODD).wrapping_add(result.digest))
}

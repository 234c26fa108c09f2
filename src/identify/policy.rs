//! Policies of a definition for special queries: queries without relevant documents, queries
//! missing from the run, and rounding of each query.
//!
//! A policy needs no evaluation of its own. The tried measures are 0 for an empty ranking, and most
//! are 0 where nothing is relevant; the others have no choice there. So a policy only exchanges the
//! known values of whole queries. The mean, the digest and the number of agreeing queries follow by
//! arithmetic from the sums of the one evaluation, which are kept for each rounding.

use super::digests;
use super::orders::QueryCounts;
use super::sums::{DefinitionSums, QueryConstraints, ROUNDINGS};
use crate::matrix::CodesAbove;
use crate::measure::NoRelevant;

/// The choices for the value of a query without relevant documents, each with the word that names
/// it in a measure; the default is first.
const OF_NOTHING: [(&str, NoRelevant); 3] =
    [("0", NoRelevant::Zero), ("1", NoRelevant::One), ("skip", NoRelevant::Skip)];

/// Returns the word for the value of queries without relevant documents: `0`, `1` or `skip`.
pub(super) fn no_relevant_choice(nothing: NoRelevant) -> &'static str {
    OF_NOTHING.iter().find(|(_, is)| *is == nothing).map_or("", |(word, _)| word)
}

/// Returns the value of a query without relevant documents under a choice; `None` if such queries
/// are skipped.
pub(super) fn no_relevant_value(nothing: NoRelevant) -> Option<f64> {
    match nothing {
        NoRelevant::Zero => Some(0.0),
        NoRelevant::One => Some(1.0),
        NoRelevant::Skip => None,
    }
}

/// A policy of a definition for queries without relevant documents, for missing queries, and for
/// rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueryPolicy {
    pub nothing: NoRelevant,
    /// Whether queries that the run lacks are left out; otherwise they have the values of an empty
    /// ranking.
    pub only_present: bool,
    /// The index in [`ROUNDINGS`] of the decimals to which the value of each query is rounded.
    pub rounding: usize,
}

/// Returns every policy for special queries (no relevant documents, missing, rounding), the default
/// first. `chooses` is false for a measure that is not always 0 where nothing is relevant. Such a
/// measure keeps its own value there, under the choice [`NoRelevant::Zero`].
pub(super) fn policies(chooses: bool) -> impl Iterator<Item = QueryPolicy> {
    let choices = if chooses { &OF_NOTHING[..] } else { &OF_NOTHING[..1] };
    (0..ROUNDINGS.len()).flat_map(move |rounding| {
        [false, true].into_iter().flat_map(move |only_present| {
            choices.iter().map(move |&(_, nothing)| QueryPolicy { nothing, only_present, rounding })
        })
    })
}

/// The mean of a definition over its queries, its digest, and the number of queries whose values
/// agree with the reported values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DefinitionResult {
    /// The mean; NaN if no query counts.
    pub mean: f64,
    pub digest: u128,
    /// The number of queries that agree with their reported value: within the error of f64 values,
    /// and within the error of f32 values.
    pub agree: [u32; 2],
}

/// A set of queries that get one common value from a policy, with digests and counts for each such
/// value: 0, 1 or none.
#[derive(Debug, Clone, Copy, Default)]
struct ConstantQueries {
    count: u32,
    /// The digests of the queries with the value 0, with 1, and without one.
    digests: [u128; 3],
    /// The number of queries whose reported value agrees with 0, with 1, and with no value.
    agree: [u32; 3],
}

impl ConstantQueries {
    fn add(&mut self, query: usize, constraints: &QueryConstraints) {
        let key = constraints.keys[query];
        self.count += 1;
        for (at, value) in [Some(0.0), Some(1.0), None].into_iter().enumerate() {
            let digest = match value {
                Some(value) => digests::value_digest(key, value),
                None => digests::no_value_digest(key),
            };
            self.digests[at] = self.digests[at].wrapping_add(digest);
            self.agree[at] += u32::from(constraints.agrees(query, value));
        }
    }
}

/// The queries without relevant documents and the queries missing from the run, to which policies
/// assign values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PolicyQueries {
    /// The number of queries in the run.
    present: u32,
    /// The queries in the run without relevant documents.
    nothing: ConstantQueries,
    /// The queries missing from the run: with relevant documents (`missing`), and without
    /// (`missing_nothing`).
    missing: ConstantQueries,
    missing_nothing: ConstantQueries,
}

impl PolicyQueries {
    /// Counts the queries without relevant documents and the queries missing from the run. `above`
    /// says which grades are relevant; if `retrieved`, only retrieved documents count, else all
    /// judged documents.
    pub fn new(
        found: &[QueryCounts],
        constraints: &QueryConstraints,
        above: CodesAbove,
        retrieved: bool,
    ) -> Self {
        let mut all = Self::default();
        for (query, counts) in found.iter().enumerate() {
            all.present += u32::from(counts.present);
            match (counts.present, counts.has_nothing(above, retrieved)) {
                (true, true) => all.nothing.add(query, constraints),
                (true, false) => {}
                (false, true) => all.missing_nothing.add(query, constraints),
                (false, false) => all.missing.add(query, constraints),
            }
        }
        all
    }

    /// Returns the mean, digest and agreement of a definition under a policy, from the definition's
    /// sums over the queries in the run.
    pub fn result(&self, sums: &DefinitionSums, policy: QueryPolicy) -> DefinitionResult {
        let QueryPolicy { nothing, only_present, rounding } = policy;
        // An index of the arrays in `ConstantQueries`, which have the order of `NoRelevant`: value
        // 0, value 1, no value.
        let is = nothing as usize;
        // In the sums, queries without relevant documents have the value 0, which is exchanged here
        // for that of the policy. (Under the choice 0 nothing changes, whatever their value.)
        let mut digest = sums.digests[rounding]
            .wrapping_sub(self.nothing.digests[0])
            .wrapping_add(self.nothing.digests[is]);
        let mut agree = [sums.agree[rounding], sums.agree_single]
            .map(|agree| (agree + self.nothing.agree[is]).saturating_sub(self.nothing.agree[0]));
        let mut ones = 0;
        let mut count = self.present;
        let [missing, missing_nothing] = if only_present { [2, 2] } else { [0, is] };
        for (queries, is) in [(&self.missing, missing), (&self.missing_nothing, missing_nothing)] {
            digest = digest.wrapping_add(queries.digests[is]);
            agree.iter_mut().for_each(|agree| *agree += queries.agree[is]);
            count += if is == 2 { 0 } else { queries.count };
            ones += if is == 1 { queries.count } else { 0 };
        }
        match nothing {
            NoRelevant::Zero => {}
            NoRelevant::One => ones += self.nothing.count,
            NoRelevant::Skip => count -= self.nothing.count,
        }
        DefinitionResult { mean: sums.mean(rounding, ones, count), digest, agree }
    }
}

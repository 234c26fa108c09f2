//! Policies: the treatment of queries without relevant documents, of queries missing from the run,
//! and of the digits of each query.
//!
//! Policies cost no evaluation. A measure is 0 where nothing is relevant and 0 for an empty
//! ranking, so a policy changes only whole queries of a known value: the number of queries, the sum
//! of digests, and the number of queries that agree.

use super::digests;
use super::orders::QueryFound;
use super::sums::{AskedOfQueries, DefinitionSums, ROUNDINGS};
use crate::matrix::Above;
use crate::measure::OfNothing;

/// Every choice for the value of a query without relevant documents, with its word, the default
/// first.
const OF_NOTHING: [(&str, OfNothing); 3] =
    [("0", OfNothing::Zero), ("1", OfNothing::One), ("skip", OfNothing::Skip)];

/// The word of a choice.
pub(super) fn nothing_word(of: OfNothing) -> &'static str {
    OF_NOTHING.iter().find(|(_, is)| *is == of).map_or("", |(word, _)| word)
}

/// The value of a query for which nothing is relevant; `None` if it has none.
pub(super) fn nothing_value(of: OfNothing) -> Option<f64> {
    match of {
        OfNothing::Zero => Some(0.0),
        OfNothing::One => Some(1.0),
        OfNothing::Skip => None,
    }
}

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueryPolicy {
    pub nothing: OfNothing,
    /// Whether queries that the run lacks are left out; otherwise they have the values of an empty
    /// ranking.
    pub only_present: bool,
    /// The number among [`ROUNDINGS`] of the decimals to which each query is rounded.
    pub rounding: usize,
}

/// Returns every policy, the default first. `chooses` is false for a measure that is not 0 where
/// nothing is relevant: only the default value is left.
pub(super) fn policies(chooses: bool) -> impl Iterator<Item = QueryPolicy> {
    let choices = if chooses { &OF_NOTHING[..] } else { &OF_NOTHING[..1] };
    (0..ROUNDINGS.len()).flat_map(move |rounding| {
        [false, true].into_iter().flat_map(move |only_present| {
            choices.iter().map(move |&(_, nothing)| QueryPolicy { nothing, only_present, rounding })
        })
    })
}

/// What a definition comes to over all queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DefinitionResult {
    /// The mean; NaN if no query counts.
    pub mean: f64,
    pub digest: u128,
    /// The number of told queries that agree, by values of 64 bits and of 32.
    pub agree: [u32; 2],
}

/// Sums over queries that a policy treats alike.
#[derive(Debug, Clone, Copy, Default)]
struct AlikeQueries {
    count: u32,
    /// The digests of the queries with the value 0, with 1, and without one.
    digests: [u128; 3],
    /// The number of told queries that agree with value 0, with 1, and with no value.
    agree: [u32; 3],
}

impl AlikeQueries {
    fn add(&mut self, query: usize, asked: &AskedOfQueries) {
        let key = asked.keys[query];
        self.count += 1;
        let values =
            [digests::of_value(key, 0.0), digests::of_value(key, 1.0), digests::of_nothing(key)];
        let agree = [Some(0.0), Some(1.0), None].map(|value| u32::from(asked.agrees(query, value)));
        for at in 0..3 {
            self.digests[at] = self.digests[at].wrapping_add(values[at]);
            self.agree[at] += agree[at];
        }
    }
}

/// The queries affected by policies, for measures with one set of relevant documents.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PolicyQueries {
    /// The number of queries in the run.
    present: u32,
    /// The queries in the run without relevant documents.
    nothing: AlikeQueries,
    /// The queries missing from the run: with relevant documents (`missing`), and without
    /// (`missing_nothing`).
    missing: AlikeQueries,
    missing_nothing: AlikeQueries,
}

impl PolicyQueries {
    /// Adds up queries. `above` says which grades are relevant; if `retrieved`, only retrieved
    /// documents count, else all judged documents.
    pub fn of(
        found: &[QueryFound],
        asked: &AskedOfQueries,
        (above, retrieved): (Above, bool),
    ) -> Self {
        let mut all = PolicyQueries::default();
        for (query, of) in found.iter().enumerate() {
            all.present += u32::from(of.present);
            match (of.present, of.has_nothing(above, retrieved)) {
                (true, true) => all.nothing.add(query, asked),
                (true, false) => {}
                (false, true) => all.missing_nothing.add(query, asked),
                (false, false) => all.missing.add(query, asked),
            }
        }
        all
    }

    /// Returns the result of a definition under a policy, from the sums over the queries in the
    /// run.
    pub fn result(&self, sums: &DefinitionSums, policy: QueryPolicy) -> DefinitionResult {
        let QueryPolicy { nothing, only_present, rounding } = policy;
        let is = nothing as usize;
        let mut digest = sums.digests[rounding];
        digest =
            digest.wrapping_sub(self.nothing.digests[0]).wrapping_add(self.nothing.digests[is]);
        let moved =
            |agree: u32| (agree + self.nothing.agree[is]).saturating_sub(self.nothing.agree[0]);
        let mut agree = [sums.agree[rounding], sums.agree_single].map(moved);
        let mut ones = 0;
        let mut count = self.present;
        let mut pass = |of: &AlikeQueries, is: usize| {
            digest = digest.wrapping_add(of.digests[is]);
            agree.iter_mut().for_each(|agree| *agree += of.agree[is]);
            count += if is == 2 { 0 } else { of.count };
            ones += if is == 1 { of.count } else { 0 };
        };
        if only_present {
            pass(&self.missing, 2);
            pass(&self.missing_nothing, 2);
        } else {
            pass(&self.missing, 0);
            pass(&self.missing_nothing, is);
        }
        match nothing {
            OfNothing::Zero => {}
            OfNothing::One => ones += self.nothing.count,
            OfNothing::Skip => count -= self.nothing.count,
        }
        DefinitionResult { mean: sums.mean(rounding, ones, count), digest, agree }
    }
}

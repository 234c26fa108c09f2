//! The settings of an evaluation: with the rule of its rankings, all that two results must share to
//! be compared or merged.

use super::{QuerySet, TiedValue};
use crate::matrix::View;
use crate::rule::SettingDifference;

/// The relevant documents known to a measure, by whose number recall divides: all judged ones, or
/// only those retrieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RelevantFrom {
    /// All relevant documents in the judgments.
    #[default]
    Judged,
    /// Only the relevant documents that the run retrieved, as for a program that gets lists and no
    /// judgments.
    Retrieved,
}

impl RelevantFrom {
    /// Every choice, with its name on the command line.
    pub const ALL: [(&'static str, Self); 2] =
        [("judged", Self::Judged), ("retrieved", Self::Retrieved)];

    /// Returns whether only the relevant documents that the run retrieved are known.
    pub(crate) fn is_retrieved(self) -> bool {
        self == Self::Retrieved
    }
}

named!(RelevantFrom, "what is known of the relevant documents");

/// The settings of an evaluation: the queries that count, the ranks and documents looked at, the
/// relevant documents known, and the value of ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EvaluationSettings {
    /// The queries that count.
    pub queries: QuerySet,
    /// The ranks and documents that are looked at.
    pub view: View,
    /// The relevant documents known to measures.
    pub relevant_from: RelevantFrom,
    /// The value of a ranking in which documents have equal scores.
    pub tied: TiedValue,
}

impl EvaluationSettings {
    /// Returns the settings in which two evaluations differ, with the values of both.
    pub fn differences(&self, other: &Self) -> Vec<SettingDifference> {
        let both = self.named().into_iter().zip(other.named());
        both.filter(|((.., own), (.., other))| own != other)
            .map(|((what, option, own), (.., other))| SettingDifference {
                what,
                option,
                values: [own, other],
            })
            .collect()
    }

    fn named(&self) -> [(&'static str, &'static str, String); 5] {
        // The pattern names every field, so a new field does not compile until this list has the
        // field.
        let Self { queries, view: View { depth, judged_only }, relevant_from, tied } = self;
        let depth =
            depth.map_or("all ranks".to_owned(), |depth| format!("the first {depth} ranks"));
        let documents = if *judged_only { "judged only" } else { "all" }.to_owned();
        [
            ("sets of queries", "--queries", queries.to_string()),
            ("depths", "-M", depth),
            ("documents", "-J", documents),
            ("relevant documents", "--relevant-from", relevant_from.to_string()),
            ("values of tied rankings", "--ties", tied.to_string()),
        ]
    }
}

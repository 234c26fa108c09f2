//! The settings of an evaluation: with the rule of its rankings, all that two results must share to
//! be put beside one another.

use super::{Known, QuerySet, Scores, TiedValue};
use crate::matrix::View;
use crate::rule::SettingDifference;

/// The queries that count, and the parts of their rankings that measures look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EvaluationSettings {
    /// The queries that count.
    pub queries: QuerySet,
    /// The ranks and documents that are looked at.
    pub view: View,
    /// The relevant documents known to measures.
    pub known: Known,
    /// The value of a ranking in which documents have equal scores.
    pub tied: TiedValue,
}

impl EvaluationSettings {
    /// Returns the settings with different values in `self` and `other`.
    pub fn differences(&self, other: &EvaluationSettings) -> Vec<SettingDifference> {
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
        let EvaluationSettings { queries, view: View { depth, judged_only }, known, tied } = self;
        let depth =
            depth.map_or("all ranks".to_owned(), |depth| format!("the first {depth} ranks"));
        let documents = if *judged_only { "judged only" } else { "all" }.to_owned();
        [
            ("sets of queries", "--queries", queries.to_string()),
            ("depths", "-M", depth),
            ("documents", "-J", documents),
            ("relevant documents", "--known", known.to_string()),
            ("values of tied rankings", "--ties", tied.to_string()),
        ]
    }
}

impl Scores {
    /// The settings under which the scores were made.
    pub fn settings(&self) -> EvaluationSettings {
        EvaluationSettings {
            queries: self.queries,
            view: self.view,
            known: self.known,
            tied: self.tied,
        }
    }
}

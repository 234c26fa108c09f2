//! Counts of results that repeat a unit (the document that chunks count for), and notices about
//! them.

use super::{Notice, notice::add_counts};

/// Counts of results by their units. Counts of different queries add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct DuplicateCounts {
    /// Results, if repeats are blanks.
    pub results: u64,
    /// Results that repeat a unit, and are blanks.
    pub repeated: u64,
    /// Results with scores below 0 that were added up.
    pub negative: u64,
    /// Results whose ids have the text of a rule more than once.
    pub twice: u64,
}

impl DuplicateCounts {
    /// Adds the counts of results that repeat a unit (a document), for further queries.
    pub fn merge(&mut self, mut other: Self) {
        add_counts(self.counts(), other.counts());
    }

    fn counts(&mut self) -> [&mut u64; 4] {
        let Self { results, repeated, negative, twice } = self;
        [results, repeated, negative, twice]
    }

    /// Makes notices for the user from these counts of repeated units; `units` is the rule that
    /// maps ids to units.
    pub fn notices(&self, units: &str) -> Vec<Notice> {
        let text = units.split_once(':').map_or("", |(_, text)| text);
        [
            (self.repeated > 0).then_some(Notice::DuplicatesBlank {
                repeated: self.repeated,
                results: self.results,
            }),
            (self.twice > 0)
                .then(|| Notice::AmbiguousDelimiter { ids: self.twice, text: text.to_owned() }),
            (self.negative > 0).then_some(Notice::NegativeSums { results: self.negative }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

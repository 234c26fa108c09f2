//! The measures of trec_eval in its print order: the rows of the table of foreign names, and the
//! measures that laneval lacks.

use super::Version;
use crate::measure::{FOREIGN, Foreign, SETS, Tool};

/// One measure of trec_eval.
#[derive(Clone, Copy)]
pub enum Entry {
    /// The run id of the last line.
    RunId,
    /// The first labels as characters, ten unless a number is given.
    RelString,
    /// A measure of laneval.
    Measure(&'static Foreign),
}

/// The row after which the labels are printed.
const BEFORE_LABELS: &str = "P";

/// The measure of qrels that every nickname includes, even the nicknames of other formats.
const IN_EVERY_SET: &str = "num_q";

/// The nicknames of sets of measures: the sets over qrels first, then the sets over other formats.
pub const NICKNAMES: [&str; 6] = [SETS[0], SETS[1], SETS[2], "all_prefs", "prefs", "qrels_jg"];

/// All measures of trec_eval.
pub fn registry() -> Vec<Entry> {
    let mut entries = vec![Entry::RunId];
    // Invariant: the rows of `FOREIGN` are in trec_eval's order.
    for row in FOREIGN.iter().filter(|row| matches!(row.tool, Tool::TrecEval | Tool::TrecEval10)) {
        entries.push(Entry::Measure(row));
        if row.name == BEFORE_LABELS {
            entries.push(Entry::RelString);
        }
    }
    entries
}

impl Entry {
    /// The name of the measure.
    pub fn name(self) -> &'static str {
        match self {
            Entry::RunId => "runid",
            Entry::RelString => "relstring",
            Entry::Measure(row) => row.name,
        }
    }

    /// Whether the measure is in the set of a nickname.
    pub fn is_in(self, nickname: &str) -> bool {
        match self {
            Entry::RunId => true,
            Entry::RelString => nickname == "all_trec",
            Entry::Measure(row) => row.name == IN_EVERY_SET || row.sets.contains(&nickname),
        }
    }

    /// Whether the measure is in this version.
    pub fn is_of(self, version: Version) -> bool {
        !matches!(
            self,
            Entry::Measure(row) if row.tool == Tool::TrecEval10 && version == Version::V9
        )
    }

    /// Whether a name or a nickname means the measure.
    pub(super) fn is_meant_by(self, text: &str) -> bool {
        if NICKNAMES.contains(&text) { self.is_in(text) } else { self.name() == text }
    }
}

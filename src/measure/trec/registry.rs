//! The measures of trec_eval in its print order: the rows of the table of foreign names, and the
//! measures that laneval lacks.

use super::Version;
use crate::measure::{FOREIGN, ForeignMeasure, SETS, Tool};

/// An entry of trec_eval's list of measures: a measure of laneval, the run id, or the string of
/// labels.
#[derive(Clone, Copy)]
pub enum TrecMeasure {
    /// The run id of the last line.
    RunId,
    /// The first labels as characters, ten unless a number is given.
    RelString,
    /// A measure of laneval.
    Measure(&'static ForeignMeasure),
}

/// The row after which the labels are printed.
const BEFORE_LABELS: &str = "P";

/// The measure of qrels that every nickname includes, even the nicknames of other formats.
const IN_EVERY_SET: &str = "num_q";

/// The nicknames of sets of measures: the sets over qrels first, then the sets over other formats.
pub const NICKNAMES: [&str; 6] = [SETS[0], SETS[1], SETS[2], "all_prefs", "prefs", "qrels_jg"];

/// Returns all measures of trec_eval, in its print order.
pub fn registry() -> Vec<TrecMeasure> {
    let mut entries = vec![TrecMeasure::RunId];
    // Invariant: the rows of `FOREIGN` are in trec_eval's order.
    for row in FOREIGN.iter().filter(|row| matches!(row.tool, Tool::TrecEval | Tool::TrecEval10)) {
        entries.push(TrecMeasure::Measure(row));
        if row.name == BEFORE_LABELS {
            entries.push(TrecMeasure::RelString);
        }
    }
    entries
}

impl TrecMeasure {
    /// Returns the name of the measure in trec_eval.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunId => "runid",
            Self::RelString => "relstring",
            Self::Measure(row) => row.name,
        }
    }

    /// Returns whether trec_eval's nickname of a set of measures, such as `official`, includes the
    /// measure.
    pub fn is_in(self, nickname: &str) -> bool {
        match self {
            Self::RunId => true,
            Self::RelString => nickname == "all_trec",
            Self::Measure(row) => row.name == IN_EVERY_SET || row.sets.contains(&nickname),
        }
    }

    /// Returns whether this version of trec_eval has the measure.
    pub fn is_in_version(self, version: Version) -> bool {
        !matches!(
            self,
            Self::Measure(row) if row.tool == Tool::TrecEval10 && version == Version::V9
        )
    }

    /// Returns whether a name or a nickname after trec_eval's `-m` means the measure.
    pub(super) fn is_meant_by(self, text: &str) -> bool {
        if NICKNAMES.contains(&text) { self.is_in(text) } else { self.name() == text }
    }
}

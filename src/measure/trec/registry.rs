//! The measures of trec_eval in the order in which it prints them: the rows of the table of foreign names, and those that laneval has no
//! measure for.

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
    /// A measure that needs judgments in another format than qrels, with the nicknames that it belongs to.
    OtherFormat(&'static str, &'static [&'static str]),
}

/// The row after which the labels are printed.
const BEFORE_LABELS: &str = "P";

/// Measures that need another format of judgments, with their nicknames.
const OTHER_FORMAT: [(&str, &[&str]); 17] = [
    ("prefs_num_prefs_poss", EACH_PREFS),
    ("prefs_num_prefs_ful", EACH_PREFS),
    ("prefs_num_prefs_ful_ret", EACH_PREFS),
    ("prefs_simp", EACH_PREFS),
    ("prefs_pair", EACH_PREFS),
    ("prefs_avgjg", EACH_PREFS),
    ("prefs_avgjg_Rnonrel", ALL_PREFS),
    ("prefs_simp_ret", ALL_PREFS),
    ("prefs_pair_ret", ALL_PREFS),
    ("prefs_avgjg_ret", ALL_PREFS),
    ("prefs_avgjg_Rnonrel_ret", ALL_PREFS),
    ("prefs_simp_imp", ALL_PREFS),
    ("prefs_pair_imp", ALL_PREFS),
    ("prefs_avgjg_imp", ALL_PREFS),
    ("map_avgjg", GROUPS),
    ("P_avgjg", GROUPS),
    ("Rprec_mult_avgjg", GROUPS),
];
const EACH_PREFS: &[&str] = &["all_prefs", "prefs"];
const ALL_PREFS: &[&str] = &["all_prefs"];
const GROUPS: &[&str] = &["qrels_jg"];

/// The measure of qrels that nicknames of other formats have too.
const IN_EVERY_SET: &str = "num_q";

/// The nicknames of sets of measures: first those of measures of qrels, then those of other formats.
pub const NICKNAMES: [&str; 6] = [SETS[0], SETS[1], SETS[2], "all_prefs", "prefs", "qrels_jg"];

/// All measures of trec_eval.
pub fn registry() -> Vec<Entry> {
    let mut entries = vec![Entry::RunId];
    for row in FOREIGN.iter().filter(|row| matches!(row.tool, Tool::TrecEval | Tool::TrecEval10)) {
        entries.push(Entry::Measure(row));
        if row.name == BEFORE_LABELS {
            entries.push(Entry::RelString);
        }
    }
    entries.extend(OTHER_FORMAT.map(|(name, nicknames)| Entry::OtherFormat(name, nicknames)));
    entries
}

impl Entry {
    /// The name of the measure.
    pub fn name(self) -> &'static str {
        match self {
            Entry::RunId => "runid",
            Entry::RelString => "relstring",
            Entry::Measure(row) => row.name,
            Entry::OtherFormat(name, _) => name,
        }
    }

    /// Whether the measure is in the set of a nickname.
    pub fn is_in(self, nickname: &str) -> bool {
        match self {
            Entry::RunId => true,
            Entry::RelString => nickname == "all_trec",
            Entry::Measure(row) if SETS.contains(&nickname) => row.sets.contains(&nickname),
            Entry::Measure(row) => row.name == IN_EVERY_SET,
            Entry::OtherFormat(_, nicknames) => nicknames.contains(&nickname),
        }
    }

    /// Whether the measure is in this version.
    pub fn is_of(self, version: Version) -> bool {
        !matches!(self, Entry::Measure(row) if row.tool == Tool::TrecEval10 && version == Version::V9)
    }

    /// Whether a name or a nickname means the measure.
    pub(super) fn is_meant_by(self, text: &str) -> bool {
        if NICKNAMES.contains(&text) { self.is_in(text) } else { self.name() == text }
    }
}

//! The measures of trec_eval in the order in which it prints them: the rows of the table of foreign names, and those that are no
//! measures of laneval.

use laneval::measure::{FOREIGN, Foreign, SETS, Tool};

/// One measure of trec_eval.
#[derive(Clone, Copy)]
pub enum Entry {
    /// The run id of the last line.
    RunId,
    /// The first labels as characters, ten unless a number is given.
    RelString,
    /// A measure of laneval.
    Measure(&'static Foreign),
    /// One that needs judgments in another format than qrels.
    OtherFormat(&'static str),
}

/// The row after which the labels are printed.
const BEFORE_LABELS: &str = "P";

const OTHER_FORMAT: [&str; 17] = [
    "prefs_num_prefs_poss",
    "prefs_num_prefs_ful",
    "prefs_num_prefs_ful_ret",
    "prefs_simp",
    "prefs_pair",
    "prefs_avgjg",
    "prefs_avgjg_Rnonrel",
    "prefs_simp_ret",
    "prefs_pair_ret",
    "prefs_avgjg_ret",
    "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp",
    "prefs_pair_imp",
    "prefs_avgjg_imp",
    "map_avgjg",
    "P_avgjg",
    "Rprec_mult_avgjg",
];

/// Nicknames of measures that need another format.
pub const OTHER_NICKNAMES: &[&str] = &["all_prefs", "prefs", "qrels_jg"];

/// All of them.
pub fn registry() -> Vec<Entry> {
    let mut entries = vec![Entry::RunId];
    for row in FOREIGN.iter().filter(|row| matches!(row.tool, Tool::TrecEval | Tool::TrecEval10)) {
        entries.push(Entry::Measure(row));
        if row.name == BEFORE_LABELS {
            entries.push(Entry::RelString);
        }
    }
    entries.extend(OTHER_FORMAT.map(Entry::OtherFormat));
    entries
}

impl Entry {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Entry::RunId => "runid",
            Entry::RelString => "relstring",
            Entry::Measure(row) => row.name,
            Entry::OtherFormat(name) => name,
        }
    }

    /// Is it meant by this text, a name or a nickname?
    pub fn is_meant_by(self, text: &str) -> bool {
        if !SETS.contains(&text) {
            return self.name() == text;
        }
        match self {
            Entry::RunId => true,
            Entry::RelString => text == "all_trec",
            Entry::Measure(row) => row.sets.contains(&text),
            Entry::OtherFormat(_) => false,
        }
    }

    /// Is it only in version 10?
    pub fn is_new(self) -> bool {
        matches!(self, Entry::Measure(row) if row.tool == Tool::TrecEval10)
    }
}

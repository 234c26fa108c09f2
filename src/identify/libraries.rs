//! The libraries that compute a definition (a measure with evaluation options). Tables of the names
//! and options of libraries decide.

use super::IdentifiedLibrary;
use super::spellings::non_default_params;
use crate::measure::{FOREIGN, ForeignMeasure, Measure, NO_RELEVANT, Profile, Suffix};

/// Libraries that round the value of each query: prefix, its name of the measure (empty: all),
/// decimals.
const ROUNDED: &[(&str, &str, u8)] =
    &[("opensearch", "", 2), ("irm", "ERR", 5), ("irm", EXP_LOG2, 5)];

/// The spelling of nDCG with exponential gains in ir_measures: a parameter, not a name.
const EXP_LOG2: &str = "nDCG(dcg='exp-log2')";

/// The evaluation options of a definition that a library may fix. `ties`, `score`, `relevant_from`
/// and `queries` are words of the options `--ties`, `--score-type`, `--relevant-from` and
/// `--queries`.
#[derive(Debug, Clone, Copy)]
pub(super) struct LibraryOptions {
    pub ties: &'static str,
    pub score: &'static str,
    pub relevant_from: &'static str,
    pub queries: &'static str,
    /// Whether unjudged documents were dropped, or rankings cut, before the measure: no library
    /// does so.
    pub viewed: bool,
    /// The number of decimals to which the value of each query is rounded.
    pub rounding: Option<u8>,
    /// The value of queries without relevant documents, as the word of the parameter.
    pub nothing: &'static str,
}

/// The name of a measure in another library, with its value for queries without relevant documents.
#[derive(Clone)]
pub(super) struct LibraryMeasure {
    profile: &'static Profile,
    /// The name in the table [`FOREIGN`], without a cutoff.
    name_of_row: &'static str,
    /// The name with the cutoff of the measure.
    name: String,
    /// The value of queries without relevant documents, as a word. `None` if the name leaves the
    /// choice to a parameter, so that any value fits.
    nothing: Option<String>,
}

/// Lists the names of a measure with these parameters in all known libraries. The value of queries
/// without relevant documents may differ.
pub(super) fn names(measure: &Measure) -> Vec<LibraryMeasure> {
    let params = non_default_params(measure);
    let mut names = Vec::new();
    for row in FOREIGN.iter().filter(|row| row.measure == measure.definition().name) {
        let fixed = row.fixed.iter().filter(|(name, _)| *name != NO_RELEVANT.name);
        let fixed: Vec<(&str, String)> =
            fixed.map(|(name, value)| (*name, value.to_string())).collect();
        let same = fixed.len() == params.len() && fixed.iter().all(|param| params.contains(param));
        let Some(name) = with_cutoff(row, measure.rank()).filter(|_| same) else { continue };
        let word = row
            .fixed
            .iter()
            .find(|(name, _)| *name == NO_RELEVANT.name)
            .map_or("0".to_owned(), |(_, value)| value.to_string());
        let nothing = match row.suffix {
            Suffix::Call(needed) if needed == NO_RELEVANT.name => None,
            _ => Some(word),
        };
        let of_tool = Profile::ALL.iter().filter(|profile| profile.tools.contains(&row.tool));
        names.extend(of_tool.map(|profile| LibraryMeasure {
            profile,
            name_of_row: row.name,
            name: name.clone(),
            nothing: nothing.clone(),
        }));
    }
    let exp2 = [("gain", "exp2".to_owned())];
    if measure.definition().name == "nDCG" && params == exp2 {
        let cut = measure.rank().map_or(String::new(), |rank| format!("@{rank}"));
        let of_irm = Profile::ALL.iter().filter(|profile| profile.prefix == "irm");
        names.extend(of_irm.map(|profile| LibraryMeasure {
            profile,
            name_of_row: EXP_LOG2,
            name: format!("{EXP_LOG2}{cut}"),
            nothing: Some("0".to_owned()),
        }));
    }
    names
}

/// Returns a library's name of a measure with the cutoff `rank`. `None` if the name takes no cutoff
/// and there is one, or if the name needs a cutoff and there is none.
fn with_cutoff(row: &ForeignMeasure, rank: Option<u32>) -> Option<String> {
    let name = row.name;
    match (row.suffix, rank) {
        (Suffix::At, Some(rank)) => Some(format!("{name}_{rank}")),
        (Suffix::Ranks(_), Some(rank)) => Some(format!("{name}.{rank}")),
        (Suffix::Cut | Suffix::Call(_), Some(rank)) => Some(format!("{name}@{rank}")),
        (Suffix::None | Suffix::Whole | Suffix::Call(_) | Suffix::Gains, None) => {
            Some(name.to_owned())
        }
        _ => None,
    }
}

impl LibraryMeasure {
    /// Returns whether the library computes the measure as the definition's options say. The order
    /// of equal scores, the type of scores, digits, and queries that a run lacks may differ,
    /// because reports rarely state these options.
    pub fn has(&self, settings: &LibraryOptions) -> bool {
        let changes = self.changes(settings);
        changes.is_some_and(|changes| {
            !changes.iter().any(|change| change.starts_with("--relevant-from"))
        })
    }

    /// Returns the library's options that differ from the definition's options, as text. `None` if
    /// the definition has a view, or a value of queries without relevant documents, that the
    /// library lacks.
    pub fn changes(&self, settings: &LibraryOptions) -> Option<Vec<String>> {
        if settings.viewed || self.nothing.as_deref().is_some_and(|own| own != settings.nothing) {
            return None;
        }
        let rounds = ROUNDED.iter().find(|(prefix, name, _)| {
            *prefix == self.profile.prefix && [self.name_of_row, ""].contains(name)
        });
        let rounding = rounds.map(|row| row.2);
        let options = [
            ("ties", settings.ties, None),
            ("score-type", settings.score, None),
            ("relevant-from", settings.relevant_from, Some("judged")),
            ("queries", settings.queries, None),
        ];
        let changed = options.into_iter().filter_map(|(option, word, usual)| {
            let fixed = self.profile.option(option).or(usual).filter(|fixed| *fixed != word)?;
            Some(format!("--{option} {fixed}"))
        });
        let digits = (rounding != settings.rounding).then(|| match rounding {
            Some(digits) => format!("queries rounded to {digits} decimals"),
            None => "queries not rounded".to_owned(),
        });
        Some(changed.chain(digits).collect())
    }

    /// Returns the library with its name for the measure and the options in which it `differs`, for
    /// the answer.
    pub fn library(&self, differs: &[String]) -> IdentifiedLibrary {
        IdentifiedLibrary {
            library: self.profile.library,
            name: self.name.clone(),
            seen: self.profile.seen,
            differs: differs.join(" "),
        }
    }
}

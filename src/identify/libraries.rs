//! The libraries that compute a definition, by the tables of their names and options.

use super::IdentifiedLibrary;
use super::spellings::given;
use crate::measure::{FOREIGN, Foreign, Measure, NOTHING, Profile, Suffix};

/// Libraries that round the value of each query: prefix, its name of the measure (empty: all),
/// decimals.
const ROUNDED: &[(&str, &str, u8)] =
    &[("opensearch", "", 2), ("irm", "ERR", 5), ("irm", EXP_LOG2, 5)];

/// The spelling of nDCG with exponential gains in ir_measures: a parameter, not a name.
const EXP_LOG2: &str = "nDCG(dcg='exp-log2')";

/// The options of an evaluation as a library may fix them.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedOptions {
    pub ties: &'static str,
    pub score: &'static str,
    pub known: &'static str,
    pub queries: &'static str,
    /// Whether the view is of judged documents only, or cut: no library takes these views.
    pub viewed: bool,
    pub rounding: Option<u8>,
}

/// A name of a measure in a library, with the word that the name fixes for queries without relevant
/// documents.
#[derive(Clone)]
pub(super) struct NamedInLibrary {
    profile: &'static Profile,
    /// The name without a cutoff.
    name_of_row: &'static str,
    /// The name with the cutoff of the measure.
    name: String,
    /// `None` where the library has no number for such queries, and any choice is left.
    nothing: Option<String>,
}

/// Lists the names of a measure in libraries. The value of queries without relevant documents may
/// differ.
pub(super) fn names(measure: &Measure) -> Vec<NamedInLibrary> {
    let params = given(measure);
    let mut names = Vec::new();
    for row in FOREIGN.iter().filter(|row| row.measure == measure.definition().name) {
        let fixed = row.fixed.iter().filter(|(name, _)| *name != NOTHING.name);
        let fixed: Vec<(&str, String)> =
            fixed.map(|(name, value)| (*name, value.to_string())).collect();
        let same = fixed.len() == params.len() && fixed.iter().all(|of| params.contains(of));
        let Some(name) = with_cutoff(row, measure.rank()).filter(|_| same) else { continue };
        let word = row
            .fixed
            .iter()
            .find(|(name, _)| *name == NOTHING.name)
            .map(|(_, value)| value.to_string());
        let nothing = match row.suffix {
            Suffix::Call(needed) if needed == NOTHING.name => None,
            _ => Some(word.unwrap_or_else(|| "0".to_owned())),
        };
        let of_tool = Profile::ALL.iter().filter(|profile| profile.tools.contains(&row.tool));
        names.extend(of_tool.map(|profile| NamedInLibrary {
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
        names.extend(of_irm.map(|profile| NamedInLibrary {
            profile,
            name_of_row: EXP_LOG2,
            name: format!("{EXP_LOG2}{cut}"),
            nothing: Some("0".to_owned()),
        }));
    }
    names
}

/// Returns the name of a row with a cutoff; `None` if the row takes no cutoff, or lacks a required
/// cutoff.
fn with_cutoff(row: &Foreign, rank: Option<u32>) -> Option<String> {
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

impl NamedInLibrary {
    /// Whether the library has the definition. The order of equal scores, the type of scores,
    /// digits, and queries that a run lacks may differ, because reports rarely state these options.
    pub fn has(&self, asked: &AskedOptions, nothing: &str) -> bool {
        let formula = |change: &String| change.starts_with("--known");
        self.changes(asked, nothing).is_some_and(|changes| !changes.iter().any(formula))
    }

    /// Returns the options of the library that differ from the options of the definition, as text;
    /// `None` if the library also differs in other ways.
    pub fn changes(&self, asked: &AskedOptions, nothing: &str) -> Option<Vec<String>> {
        if asked.viewed || self.nothing.as_deref().is_some_and(|own| own != nothing) {
            return None;
        }
        let prefix = self.profile.prefix;
        let rounds =
            |of: &&(&str, &str, u8)| of.0 == prefix && [self.name_of_row, ""].contains(&of.1);
        let rounding = ROUNDED.iter().find(rounds).map(|of| of.2);
        let options = [
            ("ties", asked.ties, None),
            ("score", asked.score, None),
            ("known", asked.known, Some("judged")),
            ("queries", asked.queries, None),
        ];
        let change = |(option, word, usual): (&str, &str, Option<&'static str>)| {
            let fixed = self.profile.option(option).or(usual).filter(|fixed| *fixed != word)?;
            Some(format!("--{option} {fixed}"))
        };
        let digits = (rounding != asked.rounding).then(|| match rounding {
            Some(digits) => format!("queries rounded to {digits} decimals"),
            None => "queries not rounded".to_owned(),
        });
        Some(options.into_iter().filter_map(change).chain(digits).collect())
    }

    /// The library, as the answer names it; it `differs` in these options.
    pub fn library(&self, differs: &[String]) -> IdentifiedLibrary {
        IdentifiedLibrary {
            library: self.profile.library,
            name: self.name.clone(),
            seen: self.profile.seen,
            differs: differs.join(" "),
        }
    }
}

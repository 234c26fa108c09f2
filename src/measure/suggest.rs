//! Suggestions for the unknown name of a measure: terms of tutorials, and names that are nearly
//! right.

use super::draft::Draft;
use super::foreign::{Suffix, rows_known_to};
use super::grammar::tail;
use super::params::{Cutoff, CutoffRule};
use super::profile::{Profile, Tool};
use super::table::{MEASURES, definition};
use crate::error::MeasureError;
use crate::sort;

/// The terms of tutorials and papers, without blanks and signs, and the measures that they mean
/// here. The user gives the cutoff.
const TERMS: &[(&str, &[&str])] = &[
    ("averageprecision", &["AP"]),
    ("meanaverageprecision", &["AP"]),
    ("geometricmeanaverageprecision", &["GMAP"]),
    ("inferredaverageprecision", &["InfAP"]),
    ("reciprocalrank", &["RR"]),
    ("meanreciprocalrank", &["RR"]),
    ("expectedreciprocalrank", &["ERR"]),
    ("nerr", &["ERR"]),
    ("precision", &["P", "SetP"]),
    ("recall", &["R", "SetR"]),
    ("capped", &["R(norm=min)"]),
    ("cappedrecall", &["R(norm=min)"]),
    ("recallcap", &["R(norm=min)"]),
    ("rprecision", &["Rprec"]),
    ("fmeasure", &["F", "SetF"]),
    ("fscore", &["F", "SetF"]),
    ("fbeta", &["F", "SetF"]),
    ("f1score", &["F", "SetF"]),
    ("f1measure", &["F", "SetF"]),
    ("hit", &["Success"]),
    ("hr", &["Success"]),
    ("hitrate", &["Success"]),
    ("hitratio", &["Success"]),
    ("successrate", &["Success"]),
    ("topkaccuracy", &["Success"]),
    ("auc", &["Accuracy"]),
    ("rocauc", &["Accuracy"]),
    ("auroc", &["Accuracy"]),
    ("coverage", &["Success", "Judged"]),
    ("recallatk", &["R"]),
    ("precisionatk", &["P"]),
    ("ndcgatk", &["nDCG"]),
    ("mapatk", &["AP"]),
    ("mrratk", &["RR"]),
    ("hitrateatk", &["Success"]),
    ("pairwiseaccuracy", &["Accuracy"]),
    ("cumulativegain", &["CG"]),
    ("cumulatedgain", &["CG"]),
    ("discountedcumulativegain", &["DCG"]),
    ("discountedcumulatedgain", &["DCG"]),
    ("normalizeddiscountedcumulativegain", &["nDCG"]),
    ("normalizeddiscountedcumulatedgain", &["nDCG"]),
    ("normaliseddiscountedcumulativegain", &["nDCG"]),
    ("normaliseddiscountedcumulatedgain", &["nDCG"]),
    ("idealdcg", &["IDCG"]),
    ("idealdiscountedcumulativegain", &["IDCG"]),
    ("interpolatedprecision", &["IPrec", "IPrec11"]),
    ("interpolatedaverageprecision", &["IPrec11"]),
    ("11pointaverageprecision", &["IPrec11"]),
    ("11pointinterpolatedaverageprecision", &["IPrec11"]),
    ("elevenpointinterpolatedaverageprecision", &["IPrec11"]),
    ("rankbiasedprecision", &["RBP"]),
    ("binarypreference", &["Bpref"]),
    ("compatibility", &["Compat"]),
    ("fallout", &["FallOut"]),
    ("hole", &["Unjudged", "Judged"]),
];

/// The most names of a library that its error lists.
const MOST_NAMES: usize = 10;

/// Returns the error of an unknown name of a measure, with suggestions, in one library or in all.
pub(super) fn unknown(
    text: &str,
    name: &str,
    rest: &str,
    profile: Option<&Profile>,
) -> MeasureError {
    let message = match profile {
        _ if name.is_empty() => "a measure was expected".to_owned(),
        Some(profile) => unknown_there(text, name, profile),
        None => format!("there is no measure `{name}`: `laneval measures` lists them"),
    };
    // A library's own names are few, and its error lists them.
    let is_library = profile
        .is_some_and(|library| library.tools.iter().any(|tool| matches!(tool, Tool::Library(_))));
    let mut suggestions = if is_library { Vec::new() } else { terms(&format!("{name}{rest}")) };
    if suggestions.is_empty() && profile.is_none() && rest.is_empty() {
        suggestions = without_sign(name).into_iter().collect();
    }
    if suggestions.is_empty() {
        let prefix = profile.map_or(String::new(), |profile| format!("{}:", profile.prefix));
        suggestions =
            nearest(name, profile).into_iter().map(|name| format!("{prefix}{name}")).collect();
    }
    MeasureError { suggestions, ..MeasureError::new(text, 0..name.len(), message) }
}

/// Returns the message about a name of a measure unknown to a library, or with a suffix that does
/// not fit.
fn unknown_there(text: &str, name: &str, profile: &Profile) -> String {
    let (prefix, library) = (profile.prefix, profile.library);
    let same = rows_known_to(Some(profile)).find(|row| row.name.eq_ignore_ascii_case(name));
    match same.map(|row| row.suffix) {
        Some(Suffix::Whole) => {
            return format!("{prefix}:{name} is of the whole ranking, and takes no cutoff");
        }
        Some(Suffix::Cut) => {
            return format!("{prefix}:{name} needs a cutoff, as in {prefix}:{name}@10");
        }
        _ => {}
    }
    // A name with two suffixes has two rows, one after the other.
    let mut names: Vec<&str> = rows_known_to(Some(profile)).map(|row| row.name).collect();
    names.dedup();
    match names.len() {
        1..=MOST_NAMES => format!(
            "{prefix}:{text}: {library} has no {name}, only {} (list it: laneval measures --as \
             {prefix})",
            names.join(", ")
        ),
        _ => format!("there is no measure `{name}` of {library}"),
    }
}

/// Returns the letters and digits of a term alone, in lower case.
fn simple(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the measures that a term of tutorials means, such as `mean average precision`, with a
/// cutoff. The cutoff is that of the text, or an example.
pub(super) fn terms(text: &str) -> Vec<String> {
    let (words, cut) = match text.split_once('@').or_else(|| text.split_once(" at ")) {
        Some((words, cut)) => (words, Some(cut.split('(').next().unwrap_or(cut).trim())),
        None => (text, None),
    };
    let plain = simple(words);
    let exact = TERMS.iter().find(|(term, _)| *term == plain);
    let known = exact.or_else(|| near(&plain)).map(|(_, written)| *written);
    let written: Vec<String> = match (known, beta(words)) {
        (Some(written), _) => written.iter().map(ToString::to_string).collect(),
        (None, Some(beta)) => ["F", "SetF"].map(|name| format!("{name}(beta={beta})")).into(),
        (None, None) => Vec::new(),
    };
    written.iter().filter_map(|written| at(written, cut)).collect()
}

/// Returns the measure of a name whose cutoff lacks its `@`, such as `NDCG10` or `p5`.
fn without_sign(text: &str) -> Option<String> {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let cut = &text[name.len()..];
    let name = name.trim_end_matches(['_', '-', ' ']);
    let row = MEASURES.iter().find(|row| row.name.eq_ignore_ascii_case(name))?;
    (!cut.is_empty())
        .then(|| at(row.name, Some(cut)))
        .flatten()
        .filter(|written| written.contains('@'))
}

/// Returns the known term of tutorials nearest to `plain`, if it has 12 bytes or more and at most 2
/// typing errors.
fn near(plain: &str) -> Option<&'static (&'static str, &'static [&'static str])> {
    let terms = TERMS.iter().map(|row| (strsim::damerau_levenshtein(plain, row.0), row));
    let (distance, nearest) = terms.min_by_key(|&(distance, _)| distance)?;
    // In a short word two errors are too many: `recap` would be `recall`.
    (plain.len() >= 12 && distance <= 2).then_some(nearest)
}

/// Parses β of an F measure written as `F2`, `F0.5` or `F2-score`.
fn beta(words: &str) -> Option<f64> {
    let number = words.strip_prefix(['F', 'f'])?;
    let number =
        number.trim_end_matches(|c: char| c.is_alphabetic() || matches!(c, '-' | '_' | ' '));
    let beta = number.trim_start_matches(['-', '_', ' ']).parse::<f64>().ok()?;
    (0.0..=1e6).contains(&beta).then_some(beta)
}

/// Returns the text of the measure `written` with the cutoff `cut`, or with an example cutoff if
/// needed.
fn at(written: &str, cut: Option<&str>) -> Option<String> {
    let name = written.split('(').next().unwrap_or(written);
    let draft = Draft::new(definition(name)?);
    let draft = tail(written, name.len(), draft, false).ok()?.pop()?;
    Some(draft.at_some_cutoff(cut).written())
}

impl Draft {
    /// Sets the cutoff of the drafted measure, or an example if `cutoff` is no rank or a needed one
    /// is missing.
    pub(super) fn at_some_cutoff(mut self, cutoff: Option<&str>) -> Self {
        let rank = cutoff
            .map(|cut| cut.parse::<u32>().ok().filter(|k| (1..u32::MAX).contains(k)).unwrap_or(10));
        self.cutoff = match self.definition.cutoff {
            CutoffRule::None => None,
            CutoffRule::Optional => rank.map(Cutoff::Rank),
            CutoffRule::Required => Some(Cutoff::Rank(rank.unwrap_or(10))),
            CutoffRule::Recall => Some(Cutoff::Recall(0.1)),
        };
        self
    }
}

/// Returns likely corrections of a misspelt name of a measure, best first.
fn nearest(name: &str, profile: Option<&Profile>) -> Vec<String> {
    let bare = name.to_lowercase();
    let ours = MEASURES.iter().filter(|_| profile.is_none()).map(|row| row.name);
    let mut scored: Vec<(f64, &str)> = ours
        .chain(rows_known_to(profile).map(|row| row.name))
        .map(|known| {
            let lower = known.to_lowercase();
            // A wrong order of the right letters counts as one mistake at any distance.
            let jumbled = letters(&bare) == letters(&lower);
            let mistakes = if jumbled {
                usize::from(bare != lower)
            } else {
                strsim::damerau_levenshtein(&bare, &lower)
            };
            (mistakes as f64 / bare.chars().count().max(known.len()).max(1) as f64, known)
        })
        .filter(|&(distance, _)| distance <= 0.4)
        .collect();
    sort::by_number(&mut scored, |(distance, _)| *distance);
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scored {
        if names.len() < 3 && !names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    names
}

fn letters(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_plain_and_leads_to_a_measure() {
        for (term, written) in TERMS {
            assert_eq!(simple(term), *term);
            assert!(TERMS.iter().filter(|(other, _)| other == term).count() == 1, "{term}");
            written
                .iter()
                .for_each(|written| assert!(at(written, None).is_some(), "{term}: {written}"));
        }
    }
}

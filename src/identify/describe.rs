//! Descriptions of a definition in words: its measure, its options, and changes of options that
//! change no value.

use std::collections::BTreeSet;

use super::classes::{DefinitionKey, Definitions};
use super::libraries::LibraryOptions;
use super::policy::no_relevant_choice;
use super::spellings::non_default_params;
use super::sums::ROUNDINGS;
use crate::measure::{Measure, NO_RELEVANT, NoRelevant, parse};

/// The maximum number of listed changes.
const MOST_CHANGES: usize = 24;

/// The options without a choice.
const USUAL: [(&str, &str); 8] = [
    ("ties", "docno-desc"),
    ("score-type", "f64"),
    ("judged_only", "no"),
    ("relevant-from", "judged"),
    ("depth", "all"),
    (NO_RELEVANT.name, "0"),
    ("queries", "judged"),
    ("rounding", "none"),
];

/// An option or parameter of a definition with its chosen word, such as `("ties", "average")`.
type ChosenWord = (&'static str, String);

/// Returns the evaluation options of a definition in the form that is compared with libraries.
pub(super) fn asked_options(key: &DefinitionKey, definitions: &Definitions<'_>) -> LibraryOptions {
    let order = definitions.order(key);
    LibraryOptions {
        ties: order.ties,
        score: order.score,
        relevant_from: key.look.relevant_word(),
        queries: queries_word(key),
        viewed: key.look.judged_only || key.look.cut,
        rounding: ROUNDINGS[key.policy.rounding],
        nothing: no_relevant_choice(key.policy.nothing),
    }
}

fn queries_word(key: &DefinitionKey) -> &'static str {
    if key.policy.only_present { "common" } else { "judged" }
}

/// Returns the measure of a definition at the first cutoff, and the options that differ from the
/// defaults. The measure has its value for queries without relevant documents.
pub(super) fn spelling(
    key: &DefinitionKey,
    definitions: &Definitions<'_>,
) -> (Measure, Vec<ChosenWord>) {
    let measure = definitions.question.spellings[key.spelling].at[0].clone();
    let with_nothing = with_nothing(&measure, key.policy.nothing);
    let is_parameter = with_nothing.is_some();
    let mut options = options(key, definitions, measure.rank());
    options.retain(|(name, word)| {
        // A choice that the name of the measure says is no option beside it.
        let is_in_name = is_parameter && *name == NO_RELEVANT.name;
        !USUAL.contains(&(*name, &word[..])) && !is_in_name
    });
    (with_nothing.unwrap_or(measure), options)
}

/// Returns the measure with its value for queries without relevant documents as a parameter; `None`
/// if there is no such parameter.
fn with_nothing(measure: &Measure, nothing: NoRelevant) -> Option<Measure> {
    if nothing == NoRelevant::Zero {
        return Some(measure.clone());
    }
    let mut params: Vec<String> =
        non_default_params(measure).iter().map(|(name, word)| format!("{name}={word}")).collect();
    params.push(format!("{}={}", NO_RELEVANT.name, no_relevant_choice(nothing)));
    let cut = measure.rank().map_or(String::new(), |rank| format!("@{rank}"));
    parse(&format!("{}({}){cut}", measure.definition().name, params.join(","))).ok()
}

/// Returns every evaluation option of a definition with its chosen word, defaults included.
fn options(
    key: &DefinitionKey,
    definitions: &Definitions<'_>,
    rank: Option<u32>,
) -> Vec<ChosenWord> {
    let order = definitions.order(key);
    let depth = rank.filter(|_| key.look.cut).map_or("all".to_owned(), |rank| rank.to_string());
    let rounding =
        ROUNDINGS[key.policy.rounding].map_or("none".to_owned(), |digits| digits.to_string());
    vec![
        ("ties", order.ties.to_owned()),
        ("score-type", order.score.to_owned()),
        ("judged_only", if key.look.judged_only { "yes" } else { "no" }.to_owned()),
        ("relevant-from", key.look.relevant_word().to_owned()),
        ("depth", depth),
        (NO_RELEVANT.name, no_relevant_choice(key.policy.nothing).to_owned()),
        ("queries", queries_word(key).to_owned()),
        ("rounding", rounding),
    ]
}

/// Returns the changes of options and parameters that lead from the first definition of a class to
/// another. A change that contains a shorter change is left out.
pub(super) fn changes(members: &[DefinitionKey], definitions: &Definitions<'_>) -> Vec<String> {
    let Some((first, others)) = members.split_first() else { return Vec::new() };
    let own = choices(first, definitions);
    let changed =
        others.iter().map(|key| choices(key, definitions).difference(&own).cloned().collect());
    let mut changed: Vec<Vec<ChosenWord>> = changed.collect();
    // Shorter changes come first, so each change is compared with all that it may contain.
    changed.sort_by_key(Vec::len);
    let mut minimal_changes: Vec<Vec<ChosenWord>> = Vec::new();
    for change in changed {
        if minimal_changes.len() == MOST_CHANGES {
            break;
        }
        if !change.is_empty()
            && !minimal_changes.iter().any(|subset| subset.iter().all(|word| change.contains(word)))
        {
            minimal_changes.push(change);
        }
    }
    let spelled = minimal_changes.iter().map(|change| {
        change.iter().map(|(name, word)| spelled_change(name, word)).collect::<Vec<_>>().join(" ")
    });
    spelled.collect()
}

/// Returns the measure, the parameters and the options of a definition as a set of names with
/// words.
fn choices(key: &DefinitionKey, definitions: &Definitions<'_>) -> BTreeSet<ChosenWord> {
    let measure = &definitions.question.spellings[key.spelling].at[0];
    let definition = measure.definition();
    let params = definition.params.iter().map(|param| {
        let word = measure.value(param.name).map_or(param.default.to_owned(), ToString::to_string);
        (param.name, word)
    });
    let named = std::iter::once(("measure", definition.name.to_owned()));
    named.chain(params).chain(options(key, definitions, measure.rank())).collect()
}

/// Returns a changed option or parameter as text, spelled as on the command line.
fn spelled_change(name: &str, word: &str) -> String {
    match (name, word) {
        ("measure", _) => word.to_owned(),
        ("judged_only", "yes") => "-J".to_owned(),
        ("judged_only", _) => "without -J".to_owned(),
        ("depth", "all") => "without -M".to_owned(),
        ("depth", _) => format!("-M {word}"),
        ("rounding", "none") => "queries not rounded".to_owned(),
        ("rounding", _) => format!("queries rounded to {word} decimals"),
        // AP has a parameter of the same name as the option, with words of its own.
        ("ties", "apart" | "together") => format!("{name}={word}"),
        ("ties" | "score-type" | "relevant-from" | "queries", _) => format!("--{name} {word}"),
        _ => format!("{name}={word}"),
    }
}

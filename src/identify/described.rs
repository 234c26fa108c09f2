//! A definition in words: its measure, its options, and the changes that change no value.

use std::collections::BTreeSet;

use super::classes::{DefinitionAt, Definitions};
use super::libraries::AskedOptions;
use super::policy::nothing_word;
use super::spellings::given;
use super::sums::ROUNDINGS;
use super::views::LookAt;
use crate::measure::{Measure, NOTHING, OfNothing, parse};
use crate::scores::Known;

/// The maximum number of listed changes.
const MOST_CHANGES: usize = 24;

/// A choice of a definition and its word.
type ChosenWord = (&'static str, String);

/// The options of a definition as a library may fix them.
pub(super) fn asked_options(of: &DefinitionAt, definitions: &Definitions<'_>) -> AskedOptions {
    let order = definitions.order(of);
    AskedOptions {
        ties: order.ties,
        score: order.score,
        known: known_word(of.look),
        queries: queries_word(of),
        viewed: of.look.judged_only || of.look.cut,
        rounding: ROUNDINGS[of.policy.rounding],
    }
}

fn known_word(look: LookAt) -> &'static str {
    Known::ALL.iter().find(|(_, known)| *known == look.known).map_or("", |(word, _)| word)
}

fn queries_word(of: &DefinitionAt) -> &'static str {
    if of.policy.only_present { "both" } else { "judged" }
}

/// Returns the measure of a definition at a cutoff, with its value for queries without relevant
/// documents, and the options away from the defaults.
pub(super) fn spelled(
    of: &DefinitionAt,
    definitions: &Definitions<'_>,
    at: usize,
) -> (Measure, Vec<ChosenWord>) {
    let measure = definitions.question.spellings[of.spelling].at[at].clone();
    let with_nothing = with_nothing(&measure, of.policy.nothing);
    let is_parameter = with_nothing.is_some();
    let usual = usual_options();
    let mut options = options(of, definitions, measure.rank());
    options.retain(|(name, word)| {
        let is_usual = usual.iter().any(|(of, usual)| of == name && usual == word);
        let is_told = is_parameter && *name == NOTHING.name;
        !is_usual && !is_told
    });
    (with_nothing.unwrap_or(measure), options)
}

/// The measure with a parameter for queries without relevant documents, if there is such a
/// parameter.
fn with_nothing(measure: &Measure, nothing: OfNothing) -> Option<Measure> {
    if nothing == OfNothing::Zero {
        return Some(measure.clone());
    }
    let mut params: Vec<String> =
        given(measure).iter().map(|(name, word)| format!("{name}={word}")).collect();
    params.push(format!("{}={}", NOTHING.name, nothing_word(nothing)));
    let cut = measure.rank().map_or(String::new(), |rank| format!("@{rank}"));
    parse(&format!("{}({}){cut}", measure.definition().name, params.join(","))).ok()
}

/// The options without a choice.
fn usual_options() -> Vec<ChosenWord> {
    [
        ("ties", "docno-desc"),
        ("score", "f64"),
        ("judged_only", "no"),
        ("known", "judged"),
        ("depth", "all"),
        (NOTHING.name, "0"),
        ("queries", "judged"),
        ("rounding", "none"),
    ]
    .map(|(name, word)| (name, word.to_owned()))
    .into()
}

/// All options of a definition.
fn options(of: &DefinitionAt, definitions: &Definitions<'_>, rank: Option<u32>) -> Vec<ChosenWord> {
    let order = definitions.order(of);
    let depth = rank.filter(|_| of.look.cut).map_or("all".to_owned(), |rank| rank.to_string());
    let rounding =
        ROUNDINGS[of.policy.rounding].map_or("none".to_owned(), |digits| digits.to_string());
    vec![
        ("ties", order.ties.to_owned()),
        ("score", order.score.to_owned()),
        ("judged_only", if of.look.judged_only { "yes" } else { "no" }.to_owned()),
        ("known", known_word(of.look).to_owned()),
        ("depth", depth),
        (NOTHING.name, nothing_word(of.policy.nothing).to_owned()),
        ("queries", queries_word(of).to_owned()),
        ("rounding", rounding),
    ]
}

/// Returns the changes that turn the first member of a class into another member. A change that
/// contains a shorter change is left out.
pub(super) fn changes(members: &[DefinitionAt], definitions: &Definitions<'_>) -> Vec<String> {
    let Some((first, others)) = members.split_first() else { return Vec::new() };
    let all = |of: &DefinitionAt| -> BTreeSet<ChosenWord> {
        let measure = &definitions.question.spellings[of.spelling].at[0];
        let definition = measure.definition();
        let params = definition.params.iter().map(|param| {
            let word =
                measure.value(param.name).map_or(param.default.to_owned(), ToString::to_string);
            (param.name, word)
        });
        let named = std::iter::once(("measure", definition.name.to_owned()));
        named.chain(params).chain(options(of, definitions, measure.rank())).collect()
    };
    let own = all(first);
    let mut changed: Vec<Vec<ChosenWord>> =
        others.iter().map(|of| all(of).difference(&own).cloned().collect()).collect();
    changed.sort_by_key(Vec::len);
    let mut kept: Vec<Vec<ChosenWord>> = Vec::new();
    for change in changed {
        if kept.len() == MOST_CHANGES {
            break;
        }
        if !change.is_empty() && !kept.iter().any(|of| of.iter().all(|word| change.contains(word)))
        {
            kept.push(change);
        }
    }
    let spelled = |change: &Vec<ChosenWord>| {
        change.iter().map(|(name, word)| spelled_change(name, word)).collect::<Vec<_>>().join(" ")
    };
    kept.iter().map(spelled).collect()
}

/// Writes a change as text, in words of the command.
fn spelled_change(name: &str, word: &str) -> String {
    match (name, word) {
        ("measure", _) => word.to_owned(),
        ("judged_only", "yes") => "-J".to_owned(),
        ("judged_only", _) => "without -J".to_owned(),
        ("depth", "all") => "without -M".to_owned(),
        ("depth", _) => format!("-M {word}"),
        ("rounding", "none") => "queries not rounded".to_owned(),
        ("rounding", _) => format!("queries rounded to {word} decimals"),
        ("ties" | "score" | "known" | "queries", _) => format!("--{name} {word}"),
        _ => format!("{name}={word}"),
    }
}

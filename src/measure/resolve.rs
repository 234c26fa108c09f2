//! The resolution of the name of a measure, laneval's own or another tool's, to the measures that
//! it means.
//!
//! A canonical name in its own spelling always means its measure. Any other name resolves, case
//! ignored, if all tools with the name agree on its formula. Otherwise the name is ambiguous: the
//! error lists the formulas, and the prefix of a library (`trec:`, `ranx:`) chooses a formula.
//!
//! ```text
//! text        irm:nDCG(dcg='exp-log2')@10    ndcg_cut.5,10      mrr@10-l2
//! vocabulary  irm:                           all                all
//! name        nDCG                           ndcg_cut           mrr           -l2 is ranx's level
//! rest        (dcg='exp-log2')@10  a tail    .5,10  a suffix    @10  a tail
//! ```
//!
//! Why a name is not looked up in one table by priority: the same name has different formulas in
//! different tools (`recall` is at cutoffs in trec_eval and of the whole ranking in ranx), and a
//! user who silently gets the wrong tool's number does not notice. So all rows that match a text
//! are collected. If the rows agree in measure and parameters, any row may read the rest. If the
//! rows differ, the error lists each row with an unambiguous text. A canonical name in its own
//! spelling is never ambiguous, because names printed by laneval must parse back.

use super::draft::{Defaults, Draft};
use super::foreign::{FOREIGN, ForeignMeasure, NO_RELEVANT_REQUIRED, SETS, Suffix, rows_known_to};
use super::grammar::{MeasureResult, tail, within};
use super::params::{Param, ParamKind, ParamValue};
use super::profile::{Profile, Tool};
use super::suffix::{SuffixError, SuffixNumbers};
use super::suggest;
use super::table::{MEASURES, definition};
use super::value::Measure;
use crate::error::MeasureError;
use crate::sort;

/// Returns the drafts of the measures that one item of a list of measures means, such as
/// `ndcg_cut.5,10`. `all` is the library of all names of the list, if one is fixed.
pub(super) fn drafts(text: &str, all: Option<&'static Profile>) -> MeasureResult<Vec<Draft>> {
    if text.is_empty() {
        return Err(MeasureError::new(text, 0..0, "a measure was expected"));
    }
    let (item, level) = split_level(text);
    let (own, start) = split_prefix(item)?;
    if let (Some(all), Some(own)) = (all, own)
        && all.prefix != own.prefix
    {
        let message =
            format!("--as {} means its own names, and not those of {}", all.prefix, own.library);
        return Err(MeasureError::new(text, 0..start, message));
    }
    let drafts = named(&item[start..], own.or(all)).map_err(|error| within(text, start, error))?;
    let Some(level) = level else { return Ok(drafts) };
    let drafts = drafts.into_iter().map(|mut draft| {
        let message = match draft.definition.place("rel") {
            None => format!("`{}` takes no level `-l`", draft.definition.name),
            Some(rel) if draft.values.iter().any(|&(at, _)| at == rel) => {
                "the level is given twice".to_owned()
            }
            Some(rel) => {
                draft.values.push((rel, ParamValue::Number(level)));
                return Ok(draft);
            }
        };
        Err(MeasureError::new(text, item.len()..text.len(), message))
    });
    drafts.collect()
}

/// Splits off the relevance level of ranx's `name-l2`: returns `name` and the level 2.
fn split_level(text: &str) -> (&str, Option<f64>) {
    let split =
        text.rsplit_once("-l").and_then(|(name, level)| Some((name, level.parse::<f64>().ok()?)));
    match split.filter(|(_, level)| ParamKind::Level.accepts(&ParamValue::Number(*level))) {
        Some((name, level)) => (name, Some(level)),
        None => (text, None),
    }
}

/// Returns the library of the prefix before a measure's name, as in `ranx:mrr`, and the byte where
/// the name starts.
pub(super) fn split_prefix(text: &str) -> MeasureResult<(Option<&'static Profile>, usize)> {
    let Some((written, name)) = text.split_once(':') else { return Ok((None, 0)) };
    let prefix = written.trim();
    if prefix.is_empty() || !prefix.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Ok((None, 0));
    }
    let start = text.len() - name.trim_start().len();
    match Profile::find(prefix) {
        Ok(profile) => Ok((Some(profile), start)),
        Err(wrong) => {
            let subject = if wrong.is_version { text } else { prefix };
            let message = format!("{subject}: {}", wrong.message);
            Err(MeasureError::new(text, 0..written.len() + 1, message))
        }
    }
}

/// A measure that a text may mean, with the way to read the text behind the measure's name.
struct NameCandidate<'a> {
    /// The row's name; `draft` holds its measure and its fixed parameters.
    name: &'static str,
    draft: Draft,
    foreign: Option<&'a ForeignMeasure>,
    rest: NameTail<'a>,
}

/// The text behind the name of a measure: parameters and cutoffs, or a suffix of another tool's
/// form.
enum NameTail<'a> {
    /// Parameters and cutoffs. If true, the meaning of a parameter in ir_measures comes first.
    Tail(bool),
    /// The row's own suffix, if the text has a suffix, and the first byte of the suffix.
    Suffix(&'a ForeignMeasure, Option<&'a str>, usize),
}

/// Finds the name at the start of a measure's text; returns the text, the name, and the byte behind
/// it. A name of a library may have arguments, as `MAP(divide_by_k=True)`, or a `-` behind its
/// cutoff, as XGBoost's `ndcg@3-`; the returned text lacks these endings.
fn name_of<'a>(text: &'a str, profile: Option<&'static Profile>) -> (&'a str, &'a str, usize) {
    let end = name_end(text);
    if let Some(profile) = profile {
        let mut calls = rows_known_to(Some(profile)).filter(|row| row.name.ends_with(')'));
        if let Some(call) = text.find(')').map(|at| &text[..=at])
            && let Some(row) = calls.find(|row| is_same_name(row.name, call))
        {
            return (text, row.name, call.len());
        }
        if let Some(text) = text.strip_suffix('-') {
            let end = name_end(text);
            let mut rows = rows_known_to(Some(profile));
            let row = rows.find(|row| {
                row.name.strip_suffix('-').is_some_and(|name| is_same_name(name, &text[..end]))
            });
            if let Some(row) = row {
                return (text, row.name, end);
            }
        }
    }
    (text, text[..end].trim_end(), end)
}

/// Returns the byte of a measure's text at which parameters or a cutoff begin.
pub(super) fn name_end(text: &str) -> usize {
    text.find(['(', '@']).unwrap_or(text.len())
}

/// Returns whether a text is the name of a measure, but for case, blanks and quotes.
fn is_same_name(name: &str, written: &str) -> bool {
    let written = written.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\''));
    written.map(|c| c.to_ascii_lowercase()).eq(name.chars().map(|c| c.to_ascii_lowercase()))
}

/// Returns the drafts of the measures that a name means, in one library or in all.
fn named(text: &str, profile: Option<&'static Profile>) -> MeasureResult<Vec<Draft>> {
    let (text, name, end) = name_of(text, profile);
    let rest = &text[end..];
    let canonical = definition(name).filter(|_| profile.is_none()).map(Draft::new);
    if let Some(draft) = canonical.filter(|draft| !rest.is_empty() || !draft.lacks_cutoff()) {
        return tail(text, end, draft, false);
    }
    if profile.is_none_or(|library| library.tools.contains(&Tool::TrecEval)) && SETS.contains(&text)
    {
        return Ok(set(text, profile));
    }
    let rows =
        MEASURES.iter().filter(|row| profile.is_none() && row.name.eq_ignore_ascii_case(name));
    let rows = rows.map(|row| NameCandidate {
        name: row.name,
        draft: Draft::new(row),
        foreign: None,
        rest: NameTail::Tail(false),
    });
    let foreign = rows_known_to(profile).filter_map(|row| {
        let rest = follows(row, text, name, rest, profile.is_some())?;
        Some(NameCandidate { name: row.name, draft: row.draft(), foreign: Some(row), rest })
    });
    let mut candidates: Vec<NameCandidate> = rows.chain(foreign).collect();
    let Some(first) = candidates.first() else {
        return Err(suggest::unknown(text, name, rest, profile));
    };
    if candidates.iter().any(|other| formula(&other.draft) != formula(&first.draft)) {
        return Err(ambiguous(text, name, &candidates));
    }
    // All candidates mean the same formula, but not all candidates can read the rest of the text.
    // Prefer a name spelt as in the text, then the first name that reads the rest.
    sort::by_number(&mut candidates, |row| if text.starts_with(row.name) { 0.0 } else { 1.0 });
    let mut answers: Vec<_> = candidates.into_iter().map(|row| row.read(text, end)).collect();
    if let Some(error) = one_or_several(text, name, &answers) {
        return Err(error);
    }
    let best = answers
        .iter()
        .position(is_whole)
        .or_else(|| answers.iter().position(Result::is_ok))
        .unwrap_or(0);
    answers.swap_remove(best)
}

/// Returns whether a text was understood as measures, and none of these lacks a cutoff.
fn is_whole(answer: &MeasureResult<Vec<Draft>>) -> bool {
    answer.as_ref().is_ok_and(|drafts| !drafts.iter().any(Draft::lacks_cutoff))
}

/// Makes the error of a name that means one measure here and several elsewhere; `None` if all
/// answers agree. An example is trec_eval's `success`, which is at ranks 1, 5 and 10.
fn one_or_several(
    text: &str,
    name: &str,
    answers: &[MeasureResult<Vec<Draft>>],
) -> Option<MeasureError> {
    let whole = answers.iter().filter(|answer| is_whole(answer)).flatten();
    let meant: Vec<Vec<String>> =
        whole.map(|drafts| drafts.iter().map(Draft::written).collect()).collect();
    let row = FOREIGN.iter().find(|row| row.name == text && row.bare)?;
    let first = meant.first()?;
    if meant.iter().all(|other| other == first) {
        return None;
    }
    let several = meant.iter().max_by_key(|names| names.len())?.join(", ");
    let one = meant.iter().min_by_key(|names| names.len())?.join(", ");
    let here = definition(&one).map_or(String::new(), |row| row.doc.to_owned());
    let candidates = vec![(row.prefixed(text), several), (one, here)];
    Some(MeasureError { candidates, ..not_the_same(text, name) })
}

/// Returns the way to read the text behind another tool's name; `None` if the text does not start
/// with the name.
fn follows<'a>(
    row: &'a ForeignMeasure,
    text: &'a str,
    name: &str,
    rest: &'a str,
    is_theirs: bool,
) -> Option<NameTail<'a>> {
    if !row.name.eq_ignore_ascii_case(name) {
        return suffix(row, text).map(|(suffix, at)| NameTail::Suffix(row, Some(suffix), at));
    }
    let tail = NameTail::Tail(is_theirs && row.tool == Tool::IrMeasures);
    match row.suffix {
        Suffix::None | Suffix::Call(_) => Some(tail),
        Suffix::Cut => rest.contains('@').then_some(tail),
        Suffix::Whole => (!rest.contains('@')).then_some(tail),
        Suffix::Digits if !rest.is_empty() => {
            Some(NameTail::Suffix(row, rest.strip_prefix('@'), text.len() - rest.len() + 1))
        }
        _ => rest.is_empty().then_some(NameTail::Suffix(row, None, text.len())),
    }
}

/// Returns the suffix of a text that is another tool's name with a suffix, as `ndcg_cut.5`, and its
/// place. A suffix is after a `.`, or after a `_` if a number follows, as pytrec_eval writes it.
fn suffix<'a>(row: &ForeignMeasure, text: &'a str) -> Option<(&'a str, usize)> {
    let (name, rest) = text.split_at_checked(row.name.len())?;
    let after = rest.strip_prefix(['.', '_'])?;
    let number = after.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+'));
    let found = name.eq_ignore_ascii_case(row.name)
        && (rest.starts_with('.') || number)
        && row.suffix.accepts(after);
    found.then_some((after, text.len() - after.len()))
}

/// Returns whether a text is another tool's name of a measure with a suffix of the tool's own, as
/// `P.5`.
pub(super) fn has_suffix(text: &str, all: Option<&'static Profile>) -> bool {
    let (own, start) = split_prefix(text).unwrap_or((None, 0));
    rows_known_to(own.or(all)).any(|row| suffix(row, &text[start..]).is_some())
}

/// Returns whether a text is a measure's name in several words, as `mean average precision` in
/// tutorials.
pub(super) fn is_phrase(text: &str) -> bool {
    text.contains(char::is_whitespace) && !suggest::terms(text).is_empty()
}

/// Returns the measures of trec_eval's set `name`, such as `official`, of one version or of all.
fn set(name: &str, profile: Option<&Profile>) -> Vec<Draft> {
    let rows = FOREIGN.iter().filter(|row| row.sets.contains(&name));
    let rows = rows.filter(|row| profile.is_none_or(|library| library.tools.contains(&row.tool)));
    // A set prints the bare names, and each name of a set is complete without a suffix.
    let drafts = rows.map(|row| row.drafts(None, &SuffixNumbers::STRICT));
    drafts
        .flat_map(|drafts| drafts.unwrap_or_else(|wrong| unreachable!("{}", wrong.message)))
        .collect()
}

/// Returns the canonical name of a draft's measure, and its text without cutoff, to compare
/// formulas.
fn formula(draft: &Draft) -> (&'static str, String) {
    let whole = Draft { cutoff: None, ..draft.clone() };
    (draft.definition.name, whole.written())
}

impl NameCandidate<'_> {
    /// Reads the measures of a text, if it means this row; the name ends at byte `end`.
    fn read(self, text: &str, end: usize) -> MeasureResult<Vec<Draft>> {
        match self.rest {
            NameTail::Tail(theirs) => {
                let drafts = tail(text, end, self.draft, theirs)?;
                match self.foreign.and_then(|row| row.lacks(text, end)) {
                    Some(message) => Err(MeasureError::new(text, 0..text.len(), message)),
                    None => Ok(drafts),
                }
            }
            NameTail::Suffix(row, suffix, at) => {
                let drafts = row.drafts(suffix, &SuffixNumbers::STRICT);
                drafts.map_err(|SuffixError { span, message }| {
                    let span = if suffix.is_some() {
                        at + span.start..at + span.end
                    } else {
                        0..text.len()
                    };
                    MeasureError::new(text, span, message)
                })
            }
        }
    }
}

/// Returns the error of a measure's name that means different formulas in different tools.
fn ambiguous(text: &str, name: &str, candidates: &[NameCandidate]) -> MeasureError {
    let mut meanings: Vec<(Draft, Vec<String>)> = Vec::new();
    for candidate in candidates {
        // A canonical name has no name of a tool beside it.
        let (draft, name) = match candidate.foreign {
            Some(row) => (row.exemplified().swap_remove(0), Some(row.prefixed(&row.example()))),
            None => (candidate.draft.clone().at_some_cutoff(None), None),
        };
        match meanings.iter_mut().find(|(meaning, _)| formula(meaning) == formula(&draft)) {
            Some((_, names)) => names.extend(name),
            None => meanings.push((draft, name.into_iter().collect())),
        }
    }
    let one_row =
        meanings.iter().all(|(draft, _)| draft.definition.name == meanings[0].0.definition.name);
    let drafts: Vec<&Draft> = meanings.iter().map(|(draft, _)| draft).collect();
    let listed = meanings.iter().map(|(draft, names)| {
        let what =
            if one_row { draft.told_apart(&drafts) } else { draft.definition.doc.to_owned() };
        let names =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        (draft.written(), format!("{what}{names}"))
    });
    MeasureError { candidates: listed.collect(), ..not_the_same(text, name) }
}

fn not_the_same(text: &str, name: &str) -> MeasureError {
    let message =
        format!("`{name}` means different measures in different tools: write the one you mean");
    MeasureError::new(text, 0..name.len(), message)
}

impl Draft {
    /// Returns the drafted measure as text, as a user would write it.
    pub(super) fn written(&self) -> String {
        Measure::new(self.definition, self.values.clone(), self.cutoff).to_string()
    }

    /// Returns the drafted value of a parameter as text, or its default.
    fn value_of(&self, at: usize, param: &Param) -> String {
        let value = self.values.iter().find(|&&(index, _)| index == at);
        value.map_or(param.default.to_owned(), |(_, value)| value.to_string())
    }

    /// Lists the values of the drafted measure's parameters in which one of `drafts` differs from
    /// the default.
    fn told_apart(&self, drafts: &[&Draft]) -> String {
        let mut listed = Vec::new();
        for (at, param) in self.definition.params.iter().enumerate() {
            if drafts.iter().any(|draft| draft.value_of(at, param) != param.default) {
                listed.push(format!("{}={}", param.name, self.value_of(at, param)));
            }
        }
        listed.join(", ")
    }
}

impl ForeignMeasure {
    /// Returns the measures that another tool's name means in its example
    /// ([`ForeignMeasure::example`]).
    pub fn meaning(&self) -> Vec<Measure> {
        let drafts = self.exemplified().into_iter();
        let measures = drafts.map(|draft| draft.measure(Defaults::default()));
        measures.collect::<Result<_, _>>().unwrap_or_else(|message| unreachable!("{message}"))
    }

    fn exemplified(&self) -> Vec<Draft> {
        let example = self.example();
        let (text, name, end) = name_of(&example, Profile::for_tool(self.tool));
        let rest = follows(self, text, name, &text[end..], true)
            .unwrap_or_else(|| unreachable!("{example}"));
        NameCandidate { name: self.name, draft: self.draft(), foreign: Some(self), rest }
            .read(text, end)
            .unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Describes a required parameter that is missing behind another tool's name, which ends at
    /// byte `end`.
    fn lacks(&self, text: &str, end: usize) -> Option<String> {
        let rest = &text[end..];
        match self.suffix {
            Suffix::Call(param @ NO_RELEVANT_REQUIRED) if !rest.contains(param) => Some(format!(
                "{} is not a number where nothing is relevant; laneval gives 0 ({param}=0): say \
                 {param}=0 or {param}=skip",
                self.prefixed(text)
            )),
            Suffix::Call(needed) if !rest.contains(needed) => {
                Some(format!("`{needed}` has to be given: {}", self.example()))
            }
            _ => None,
        }
    }
}

//! The resolution of a name to its measures. A name is canonical, or belongs to another tool.
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
use super::foreign::{FOREIGN, Foreign, OF_NOTHING, SETS, Suffix};
use super::grammar::{tail, within};
use super::params::{Kind, Value};
use super::profile::{Profile, Tool};
use super::suffix::{SuffixNumbers, WrongSuffix};
use super::suggest;
use super::table::{MEASURES, definition};
use super::value::Measure;
use crate::error::MeasureError;
use crate::sort;

/// The resolved text, or the error of a text that means no measure.
type Resolved<T> = Result<T, MeasureError>;

/// Returns the drafts of the measures that an item of a list means. `all` is the library of all
/// names of the list, if one is fixed.
pub(super) fn drafts(text: &str, all: Option<&'static Profile>) -> Resolved<Vec<Draft>> {
    if text.is_empty() {
        return Err(MeasureError::new(text, 0..0, "a measure was expected"));
    }
    let (item, level) = split_level(text);
    let (own, start) = vocabulary(item)?;
    if let (Some(all), Some(own)) = (all, own)
        && all.prefix != own.prefix
    {
        let message =
            format!("--as {} means its own names, and not those of {}", all.prefix, own.library);
        return Err(MeasureError::new(text, 0..start, message));
    }
    let drafts = named(&item[start..], own.or(all)).map_err(|error| within(text, start, error))?;
    let Some(level) = level else { return Ok(drafts) };
    let at_level = |mut draft: Draft| {
        let wrong = |message| Err(MeasureError::new(text, item.len()..text.len(), message));
        match draft.definition.place("rel") {
            None => wrong(format!("`{}` takes no level `-l`", draft.definition.name)),
            Some(rel) if draft.values.iter().any(|&(at, _)| at == rel) => {
                wrong("the level is given twice".to_owned())
            }
            Some(rel) => {
                draft.values.push((rel, Value::Number(level)));
                Ok(draft)
            }
        }
    };
    drafts.into_iter().map(at_level).collect()
}

/// Splits ranx's `name-l2` into `name` and the level 2.
fn split_level(text: &str) -> (&str, Option<f64>) {
    let split =
        text.rsplit_once("-l").and_then(|(name, level)| Some((name, level.parse::<f64>().ok()?)));
    match split.filter(|(_, level)| Kind::Level.takes(&Value::Number(*level))) {
        Some((name, level)) => (name, Some(level)),
        None => (text, None),
    }
}

/// Returns the library of a text's prefix, and the first byte of the name.
pub(super) fn vocabulary(text: &str) -> Resolved<(Option<&'static Profile>, usize)> {
    let Some((written, name)) = text.split_once(':') else { return Ok((None, 0)) };
    let prefix = written.trim();
    if prefix.is_empty() || !prefix.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Ok((None, 0));
    }
    let start = text.len() - name.trim_start().len();
    match Profile::find(prefix) {
        Ok(profile) => Ok((Some(profile), start)),
        Err(wrong) => {
            let said = if wrong.is_version { text } else { prefix };
            Err(MeasureError::new(text, 0..written.len() + 1, format!("{said}: {}", wrong.message)))
        }
    }
}

/// A row that a text may mean, with the way to read what follows its name.
struct NameCandidate<'a> {
    /// The row's name; `draft` holds its measure and its fixed parameters.
    name: &'static str,
    draft: Draft,
    foreign: Option<&'a Foreign>,
    rest: Rest<'a>,
}

/// The text behind a name.
enum Rest<'a> {
    /// Parameters and cutoffs. If true, the meaning of a parameter in ir_measures comes first.
    Tail(bool),
    /// The row's own suffix, if the text has a suffix, and the first byte of the suffix.
    Suffix(&'a Foreign, Option<&'a str>, usize),
}

/// The text, the name at its start, and the byte behind the name. A name of a library may have
/// arguments, as `MAP(divide_by_k=True)`, or a `-` behind its cutoff, as XGBoost's `ndcg@3-`; the
/// returned text lacks these endings.
fn name_of<'a>(text: &'a str, profile: Option<&'static Profile>) -> (&'a str, &'a str, usize) {
    let end = |text: &str| text.find(['(', '@']).unwrap_or(text.len());
    let plain = (text, text[..end(text)].trim_end(), end(text));
    let Some(profile) = profile else { return plain };
    let names =
        || FOREIGN.iter().filter(|row| profile.tools.contains(&row.tool)).map(|row| row.name);
    let is_same = |name: &str, written: &str| {
        let written = written.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\''));
        written.map(|c| c.to_ascii_lowercase()).eq(name.chars().map(|c| c.to_ascii_lowercase()))
    };
    if let Some(call) = text.find(')').map(|at| &text[..=at])
        && let Some(name) = names().find(|name| name.ends_with(')') && is_same(name, call))
    {
        return (text, name, call.len());
    }
    let cut = text.strip_suffix('-').map(|text| (text, &text[..end(text)]));
    let minus = cut.and_then(|(text, before)| {
        let name = names()
            .find(|name| name.strip_suffix('-').is_some_and(|name| is_same(name, before)))?;
        Some((text, name, before.len()))
    });
    minus.unwrap_or(plain)
}

/// The measures of a name, in one vocabulary or in all.
fn named(text: &str, profile: Option<&'static Profile>) -> Resolved<Vec<Draft>> {
    let (text, name, end) = name_of(text, profile);
    let rest = &text[end..];
    let start = |row| Draft { definition: row, values: Vec::new(), cutoff: None };
    let canonical = definition(name).filter(|_| profile.is_none()).map(start);
    if let Some(draft) = canonical.filter(|draft| !rest.is_empty() || !draft.lacks_cutoff()) {
        return tail(text, end, draft, false);
    }
    if profile.is_none_or(|of| of.tools.contains(&Tool::TrecEval)) && SETS.contains(&text) {
        return Ok(set(text, profile));
    }
    let rows =
        MEASURES.iter().filter(|row| profile.is_none() && row.name.eq_ignore_ascii_case(name));
    let rows = rows.map(|row| NameCandidate {
        name: row.name,
        draft: start(row),
        foreign: None,
        rest: Rest::Tail(false),
    });
    let foreign =
        FOREIGN.iter().filter(|row| profile.map_or(row.bare, |of| of.tools.contains(&row.tool)));
    let foreign = foreign.filter_map(|row| {
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
    sort::by_number(&mut candidates, |of| if text.starts_with(of.name) { 0.0 } else { 1.0 });
    let mut answers: Vec<_> =
        candidates.into_iter().map(|candidate| candidate.read(text, end)).collect();
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

/// Returns whether a text is read, and no measure lacks a cutoff.
fn is_whole(answer: &Resolved<Vec<Draft>>) -> bool {
    answer.as_ref().is_ok_and(|drafts| !drafts.iter().any(Draft::lacks_cutoff))
}

/// Makes the error of a name that stands for one value here and for several elsewhere, as
/// trec_eval's `success` does for ranks 1, 5 and 10; `None` if all answers are the same.
fn one_or_several(
    text: &str,
    name: &str,
    answers: &[Resolved<Vec<Draft>>],
) -> Option<MeasureError> {
    let written = |answer: &Resolved<Vec<Draft>>| {
        answer
            .as_ref()
            .map_or(Vec::new(), |drafts| drafts.iter().map(Draft::written).collect::<Vec<_>>())
    };
    let meant: Vec<Vec<String>> =
        answers.iter().filter(|answer| is_whole(answer)).map(written).collect();
    let row = FOREIGN.iter().find(|row| row.name == text && row.bare)?;
    let first = meant.first()?;
    if meant.iter().all(|other| other == first) {
        return None;
    }
    let tool = (
        row.prefixed(text),
        meant.iter().max_by_key(|of| of.len()).map_or(String::new(), |of| of.join(", ")),
    );
    let one = meant.iter().min_by_key(|of| of.len()).map_or(String::new(), |of| of.join(", "));
    let here = definition(&one).map_or(String::new(), |row| row.doc.to_owned());
    Some(MeasureError { candidates: vec![tool, (one, here)], ..not_the_same(text, name) })
}

/// How to read the text behind the name of a row; `None` if the text does not start with this name.
fn follows<'a>(
    row: &'a Foreign,
    text: &'a str,
    name: &str,
    rest: &'a str,
    is_theirs: bool,
) -> Option<Rest<'a>> {
    if !row.name.eq_ignore_ascii_case(name) {
        return suffix(row, text).map(|(suffix, at)| Rest::Suffix(row, Some(suffix), at));
    }
    let tail = Rest::Tail(is_theirs && row.tool == Tool::IrMeasures);
    match row.suffix {
        Suffix::None | Suffix::Call(_) => Some(tail),
        Suffix::Cut => rest.contains('@').then_some(tail),
        Suffix::Whole => (!rest.contains('@')).then_some(tail),
        Suffix::Digits if !rest.is_empty() => {
            Some(Rest::Suffix(row, rest.strip_prefix('@'), text.len() - rest.len() + 1))
        }
        _ => rest.is_empty().then_some(Rest::Suffix(row, None, text.len())),
    }
}

/// The suffix of a text that is a row's name with a suffix: after a `.`, or after a `_` if a number
/// follows, as pytrec_eval writes it.
fn suffix<'a>(row: &Foreign, text: &'a str) -> Option<(&'a str, usize)> {
    let (name, rest) = text.split_at_checked(row.name.len())?;
    let after = rest.strip_prefix(['.', '_'])?;
    let number = after.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+'));
    let found = name.eq_ignore_ascii_case(row.name)
        && (rest.starts_with('.') || number)
        && row.suffix.reads(after);
    found.then_some((after, text.len() - after.len()))
}

/// Whether the text is a name with a suffix of its tool's own.
pub(super) fn has_suffix(text: &str, all: Option<&'static Profile>) -> bool {
    let (own, start) = vocabulary(text).unwrap_or((None, 0));
    let profile = own.or(all);
    let known = |row: &&Foreign| profile.map_or(row.bare, |of| of.tools.contains(&row.tool));
    FOREIGN.iter().filter(known).any(|row| suffix(row, &text[start..]).is_some())
}

/// Whether the text is a measure's name in several words, as in tutorials.
pub(super) fn is_phrase(text: &str) -> bool {
    text.contains(char::is_whitespace) && !suggest::terms(text).is_empty()
}

/// The measures of trec_eval's set of this name, of all versions or one.
fn set(name: &str, profile: Option<&Profile>) -> Vec<Draft> {
    let rows = FOREIGN.iter().filter(|row| row.sets.contains(&name));
    let rows = rows.filter(|row| profile.is_none_or(|of| of.tools.contains(&row.tool)));
    let bare = |row: &Foreign| row.drafts(None, &SuffixNumbers::STRICT);
    rows.flat_map(|row| bare(row).unwrap_or_else(|wrong| unreachable!("{}", wrong.message)))
        .collect()
}

/// Returns the key for comparing rows by meaning: the measure and its parameters.
fn formula(draft: &Draft) -> (&'static str, String) {
    let whole = Draft { definition: draft.definition, values: draft.values.clone(), cutoff: None };
    (draft.definition.name, whole.written())
}

impl NameCandidate<'_> {
    /// Reads the measures of a text whose name ends at byte `end`.
    fn read(self, text: &str, end: usize) -> Resolved<Vec<Draft>> {
        match self.rest {
            Rest::Tail(theirs) => {
                let drafts = tail(text, end, self.draft, theirs)?;
                match self.foreign.and_then(|row| row.lacks(text, end)) {
                    Some(message) => Err(MeasureError::new(text, 0..text.len(), message)),
                    None => Ok(drafts),
                }
            }
            Rest::Suffix(row, suffix, at) => {
                row.drafts(suffix, &SuffixNumbers::STRICT).map_err(|wrong| {
                    let WrongSuffix { span, message } = wrong;
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

/// The error of a name that means different formulas in different tools.
fn ambiguous(text: &str, name: &str, candidates: &[NameCandidate]) -> MeasureError {
    let mut meanings: Vec<(Draft, Vec<String>)> = Vec::new();
    for candidate in candidates {
        let (draft, name) = match candidate.foreign {
            Some(row) => (row.exemplified().swap_remove(0), row.prefixed(&row.example())),
            None => (candidate.draft.clone().at_some_cutoff(None), String::new()),
        };
        match meanings.iter_mut().find(|(of, _)| formula(of) == formula(&draft)) {
            Some((_, names)) => names.push(name),
            None => meanings.push((draft, vec![name])),
        }
    }
    let one_row =
        meanings.iter().all(|(draft, _)| draft.definition.name == meanings[0].0.definition.name);
    let drafts: Vec<&Draft> = meanings.iter().map(|(draft, _)| draft).collect();
    let listed = meanings.iter().map(|(draft, names)| {
        let what =
            if one_row { draft.told_apart(&drafts) } else { draft.definition.doc.to_owned() };
        let names: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
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
    /// The draft as text, as a user would write it.
    pub(super) fn written(&self) -> String {
        Measure::new(self.definition, self.values.clone(), self.cutoff).to_string()
    }

    /// The values of the parameters in which some drafts of the measure differ.
    fn told_apart(&self, drafts: &[&Draft]) -> String {
        let given = |at: usize| {
            let default = self.definition.param_at(at).default;
            let differs = |(of, value): &(usize, Value)| *of == at && value.to_string() != default;
            drafts.iter().any(|draft| draft.values.iter().any(differs))
        };
        let params = self.definition.params.iter().enumerate().filter(|&(at, _)| given(at));
        let values = params.map(|(at, param)| {
            let value = self.values.iter().find(|&&(of, _)| of == at);
            let value = value.map_or(param.default.to_owned(), |(_, value)| value.to_string());
            format!("{}={value}", param.name)
        });
        values.collect::<Vec<_>>().join(", ")
    }
}

impl Foreign {
    /// The measures that the example of the name means.
    pub fn meaning(&self) -> Vec<Measure> {
        let measure = |draft: Draft| draft.measure(Defaults::default());
        let measures = self.exemplified().into_iter().map(measure);
        measures.collect::<Result<_, _>>().unwrap_or_else(|message| unreachable!("{message}"))
    }

    fn exemplified(&self) -> Vec<Draft> {
        let example = self.example();
        let (text, name, end) = name_of(&example, Profile::of_tool(self.tool));
        let rest = follows(self, text, name, &text[end..], true);
        let read = |rest| {
            NameCandidate { name: self.name, draft: self.draft(), foreign: Some(self), rest }
                .read(text, end)
        };
        rest.map_or_else(|| unreachable!("{example}"), read)
            .unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// What is missing in a text behind the name, which ends at byte `end`, if something is.
    fn lacks(&self, text: &str, end: usize) -> Option<String> {
        let rest = &text[end..];
        match self.suffix {
            Suffix::Call(OF_NOTHING) if !rest.contains(OF_NOTHING) => Some(format!(
                "{} is not a number where nothing is relevant; laneval gives 0 ({OF_NOTHING}=0): \
                 say {OF_NOTHING}=0 or {OF_NOTHING}=skip",
                self.prefixed(text)
            )),
            Suffix::Call(needed) if !rest.contains(needed) => {
                Some(format!("`{needed}` has to be given: {}", self.example()))
            }
            _ => None,
        }
    }
}

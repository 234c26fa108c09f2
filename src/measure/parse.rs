//! The parsing of a list of names of measures, such as `nDCG@10,AP`.
//!
//! ```text
//! list     = measure {("," | " ") measure}
//! measure  = [tool ":"] name ( {tail} | suffix ) ["-l" level]
//! ```
//!
//! A suffix is trec_eval's or ranx's own: `ndcg_cut.5,10`, `rbp.95`. A single name may mean several
//! measures: `P@[5,10]` means two measures, trec_eval's bare `P` means nine.

use std::ops::Range;

use super::draft::{Defaults, Draft};
use super::foreign::rows_known_to;
use super::grammar::{MAX_MEASURES, within};
use super::params::{Cutoff, parse_level};
use super::profile::Profile;
use super::resolve;
use super::value::{Definition, Measure};
use crate::error::{MeasureError, Result};

/// The maximum number of wrong measures in one error.
const LIMIT: usize = 20;

/// Parses `text`, such as `nDCG@10`, as a single measure.
///
/// # Errors
/// A text for no measure, or for several measures.
pub fn parse(text: &str) -> Result<Measure> {
    let mut list = parse_list(text, Defaults::default())?;
    match (list.pop(), list.is_empty()) {
        (Some(measure), true) => Ok(measure),
        _ => {
            let message = format!("{} measures where one was expected", list.len() + 1);
            Err(MeasureError::new(text, 0..text.len(), message).into())
        }
    }
}

/// Parses the name of a measure, or a list of names, into measures.
///
/// ```
/// use laneval::measure::{Defaults, parse_list};
/// let names = |text| -> laneval::Result<Vec<String>> {
///     Ok(parse_list(text, Defaults::default())?.iter().map(ToString::to_string).collect())
/// };
/// assert_eq!(names("nDCG@10,P@[1,5]")?, ["nDCG@10", "P@1", "P@5"]);
/// assert_eq!(names("ndcg_cut.5,10")?, ["nDCG@5", "nDCG@10"]);
/// assert_eq!(names("trec:recall.100 ranx:recall")?, ["R@100", "SetR"]);
/// assert_eq!(names("mrr@10-l2")?, ["RR(rel=2)@10"]);
/// # Ok::<(), laneval::Error>(())
/// ```
///
/// # Errors
/// Each wrong name, parameter or cutoff, with its place in the text and a likely correction.
pub fn parse_list(text: &str, defaults: Defaults) -> Result<Vec<Measure>> {
    each(text, None, build_measure(defaults))
}

/// Returns a function that completes the draft of a measure with the defaults, or makes its error.
fn build_measure(defaults: Defaults) -> impl Fn(&str, Draft) -> Result<Measure, MeasureError> {
    move |item, draft| {
        draft.measure(defaults).map_err(|message| {
            let name = item[..resolve::name_end(item)].trim_end();
            MeasureError::new(item, 0..name.len(), message)
        })
    }
}

impl Profile {
    /// Parses a list of names as measures of this library (`--as`), with or without its prefix
    /// before them.
    ///
    /// ```
    /// use laneval::measure::{Defaults, Profile};
    /// let measures =
    ///     Profile::from_prefix("ranx")?
    ///         .measures("mrr@10,ranx:ndcg_burges@10", Defaults::default())?;
    /// assert_eq!(
    ///     measures.iter().map(ToString::to_string).collect::<Vec<_>>(),
    ///     ["RR@10", "nDCG(gain=exp2)@10"]
    /// );
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`parse_list`], and a prefix of another library.
    pub fn measures(&'static self, text: &str, defaults: Defaults) -> Result<Vec<Measure>> {
        each(text, Some(self), build_measure(self.defaults(defaults)))
    }

    /// Returns the given default relevance level, or else that of the library.
    fn defaults(&self, given: Defaults) -> Defaults {
        Defaults { rel: given.rel.or(parse_level(self.relevant)) }
    }

    /// Returns the library's versions of the usual measures `nDCG@10`, `AP`, `RR`, `P@10` and
    /// `R@100`. Each is by the library's first name of it. Measures that the library lacks are left
    /// out.
    pub fn usual_measures(&self, defaults: Defaults) -> Vec<Measure> {
        let defaults = self.defaults(defaults);
        let usual: [(&[&str], Option<u32>); 5] = [
            (&["nDCG", "SDCG"], Some(10)),
            (&["AP"], None),
            (&["RR"], None),
            (&["P"], Some(10)),
            (&["R"], Some(100)),
        ];
        let measures = usual.into_iter().filter_map(|(names, cut)| {
            let row = rows_known_to(Some(self)).find(|row| names.contains(&row.measure))?;
            Draft { cutoff: cut.map(Cutoff::Rank), ..row.draft() }.measure(defaults).ok()
        });
        measures.collect()
    }
}

/// Returns the names in a list of measures that have a library's prefix, each with its library.
pub fn items_with_prefix(text: &str) -> Vec<(&str, &'static Profile)> {
    let items = items(text, None).into_iter().map(|item| &text[item]);
    items.filter_map(|item| Some((item, resolve::split_prefix(item).ok()?.0?))).collect()
}

/// Parses a list of measures as [`parse_list`] does, and returns each measure with its row of the
/// table. A name that lacks a cutoff has its row alone.
///
/// # Errors
/// As [`parse_list`], but a missing cutoff is no error.
pub fn parse_with_definitions(text: &str) -> Result<Vec<(&'static Definition, Option<Measure>)>> {
    each(text, None, |_, draft| Ok((draft.definition, draft.measure(Defaults::default()).ok())))
}

/// Applies `make` to the draft of each measure of a list of names, and collects the errors. The
/// errors of the first twenty wrong ones are reported together.
fn each<T>(
    text: &str,
    profile: Option<&'static Profile>,
    make: impl Fn(&str, Draft) -> Result<T, MeasureError>,
) -> Result<Vec<T>> {
    let (mut results, mut wrong) = (Vec::new(), Vec::new());
    for item in items(text, profile) {
        let item_text = &text[item.clone()];
        let drafts = match bare_rank(text, &item) {
            Some(error) => Err(error),
            None => resolve::drafts(item_text, profile),
        };
        let all = drafts.and_then(|drafts| {
            if results.len() + drafts.len() > MAX_MEASURES {
                let message = format!("more than {MAX_MEASURES} measures");
                return Err(MeasureError::new(item_text, 0..item_text.len(), message));
            }
            drafts.into_iter().map(|draft| make(item_text, draft)).collect::<Result<Vec<T>, _>>()
        });
        match all {
            Ok(all) => results.extend(all),
            Err(error) => wrong.push(within(text, item.start, error)),
        }
        if wrong.len() == LIMIT {
            break;
        }
    }
    match (wrong.pop(), wrong.is_empty()) {
        (None, _) => Ok(results),
        (Some(error), true) => Err(error.into()),
        (Some(error), false) => {
            wrong.push(error);
            Err(crate::Error::Measures(wrong))
        }
    }
}

/// Splits a list of measures into the ranges of their names, at commas and blanks outside of
/// brackets. Ranges are trimmed. A number that continues a suffix such as `ndcg_cut.5,10` begins no
/// measure.
fn items(text: &str, profile: Option<&'static Profile>) -> Vec<Range<usize>> {
    let mut items: Vec<Range<usize>> = Vec::new();
    for piece in cut_outside(text, 0..text.len(), |_, c, _| c == ',') {
        let mut words = if resolve::is_phrase(&text[piece.clone()]) {
            vec![piece.clone()]
        } else {
            cut_outside(text, piece.clone(), parts_words)
        };
        words.retain(|word| !word.is_empty() || piece.is_empty());
        for word in words {
            match items.last_mut() {
                Some(last) if goes_on(&text[last.clone()], &text[word.clone()], profile) => {
                    last.end = word.end
                }
                _ => items.push(word),
            }
        }
    }
    items
}

/// Returns whether the character `c` in a list of measures separates two, given the text before and
/// after it.
fn parts_words(before: &str, c: char, after: &str) -> bool {
    let joined = before.trim_end().ends_with(['(', '[', '{', '@', ',', '=', ':', '.']);
    let joins = after.trim_start().starts_with(['(', '@', ')', ']', '}', ',', '=', ':', '.']);
    c.is_whitespace() && !joined && !joins
}

/// Cuts a range of a list of measures at characters outside of brackets for which `cuts` is true;
/// trims the parts.
fn cut_outside(
    text: &str,
    range: Range<usize>,
    cuts: impl Fn(&str, char, &str) -> bool,
) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), range.start, 0usize);
    for (at, c) in text[range.clone()].char_indices().map(|(at, c)| (at + range.start, c)) {
        let after = at + c.len_utf8();
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && cuts(&text[range.start..at], c, &text[after..range.end]) => {
                parts.push(start..at);
                start = after;
            }
            _ => {}
        }
    }
    parts.push(start..range.end);
    for part in &mut parts {
        let start = part.end - text[part.clone()].trim_start().len();
        *part = start..start + text[part.clone()].trim().len();
    }
    parts
}

/// Returns whether a word in a list of measures is a number that continues the suffix of the
/// measure before it.
fn goes_on(before: &str, word: &str, profile: Option<&'static Profile>) -> bool {
    // An `e` stands inside of a number such as 1e3, and never begins one.
    !word.starts_with(char::is_alphabetic)
        && !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '=' | 'e' | 'E'))
        && resolve::has_suffix(before, profile)
}

/// Returns the error of an item in a list of measures that is a rank alone, as in `nDCG@5,10`.
fn bare_rank(text: &str, item: &Range<usize>) -> Option<MeasureError> {
    let rank = &text[item.clone()];
    if rank.is_empty() || !rank.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let before = text[..item.start].trim_end_matches([',', ' ']);
    let (name, first) = before.rsplit_once('@')?;
    let first =
        first.split(|c: char| !c.is_ascii_digit()).next().filter(|first| !first.is_empty())?;
    let name = name.rsplit([',', ' ']).next()?;
    Some(MeasureError {
        suggestions: vec![format!("{name}@[{first},{rank}]")],
        ..MeasureError::new(rank, 0..rank.len(), "several cutoffs are written in brackets")
    })
}

impl std::str::FromStr for Measure {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text)
    }
}

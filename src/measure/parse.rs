//! Parsing of an argument with a list of measures.
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
use super::foreign::FOREIGN;
use super::grammar::{MOST, within};
use super::params::{Cutoff, parse_level};
use super::profile::Profile;
use super::resolve;
use super::value::{Definition, Measure};
use crate::error::{MeasureError, Result};

/// The maximum number of wrong measures in one error.
const LIMIT: usize = 20;

/// Parses `text` as a single measure.
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

/// Parses a name, or a list of names, into measures.
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
    each(text, None, made(defaults))
}

/// Makes the measure of an item.
fn made(defaults: Defaults) -> impl Fn(&str, Draft) -> Result<Measure, MeasureError> {
    move |item, draft| {
        let name = item.find(['(', '@']).unwrap_or(item.len());
        draft
            .measure(defaults)
            .map_err(|message| MeasureError::new(item, 0..item[..name].trim_end().len(), message))
    }
}

impl Profile {
    /// Parses the measures that `text` means where all names are the library's, whether or not its
    /// prefix is before them.
    ///
    /// ```
    /// use laneval::measure::{Defaults, Profile};
    /// let measures =
    ///     Profile::of("ranx")?.measures("mrr@10,ranx:ndcg_burges@10", Defaults::default())?;
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
        each(text, Some(self), made(self.defaults(defaults)))
    }

    /// The library's level of relevance, where none is given.
    fn defaults(&self, given: Defaults) -> Defaults {
        Defaults { rel: given.rel.or(parse_level(self.relevant)) }
    }

    /// Returns the library's versions of the usual measures `nDCG@10`, `AP`, `RR`, `P@10` and
    /// `R@100`, each by its first name. Measures that the library lacks are left out.
    pub fn usual_measures(&self, defaults: Defaults) -> Vec<Measure> {
        let defaults = self.defaults(defaults);
        let usual = |(names, cut): (&[&str], Option<u32>)| {
            let row = FOREIGN
                .iter()
                .find(|row| self.tools.contains(&row.tool) && names.contains(&row.measure))?;
            Draft { cutoff: cut.map(Cutoff::Rank), ..row.draft() }.measure(defaults).ok()
        };
        let all: [(&[&str], Option<u32>); 5] = [
            (&["nDCG", "SDCG"], Some(10)),
            (&["AP"], None),
            (&["RR"], None),
            (&["P"], Some(10)),
            (&["R"], Some(100)),
        ];
        all.into_iter().filter_map(usual).collect()
    }
}

/// The items of a list that have the prefix of a library, with this library.
pub fn prefixed(text: &str) -> Vec<(&str, &'static Profile)> {
    let of = |item: Range<usize>| {
        let item = &text[item];
        Some((item, resolve::vocabulary(item).ok()?.0?))
    };
    items(text, None).into_iter().filter_map(of).collect()
}

/// Parses `text` as [`parse_list`] does, and returns each measure with its row. A name that lacks a
/// cutoff has its row alone.
///
/// # Errors
/// As [`parse_list`], but a missing cutoff is no error.
pub fn meanings(text: &str) -> Result<Vec<(&'static Definition, Option<Measure>)>> {
    each(text, None, |_, draft| Ok((draft.definition, draft.measure(Defaults::default()).ok())))
}

/// Applies `make` to each measure of a list. The errors of the first twenty wrong ones are reported
/// together.
fn each<T>(
    text: &str,
    profile: Option<&'static Profile>,
    make: impl Fn(&str, Draft) -> Result<T, MeasureError>,
) -> Result<Vec<T>> {
    let (mut made, mut wrong) = (Vec::new(), Vec::new());
    for item in items(text, profile) {
        let of = &text[item.clone()];
        let drafts = match bare_rank(text, &item) {
            Some(error) => Err(error),
            None => resolve::drafts(of, profile),
        };
        let all = drafts.and_then(|drafts| {
            if made.len() + drafts.len() <= MOST {
                drafts.into_iter().map(|draft| make(of, draft)).collect::<Result<Vec<T>, _>>()
            } else {
                Err(MeasureError::new(of, 0..of.len(), format!("more than {MOST} measures")))
            }
        });
        match all {
            Ok(all) => made.extend(all),
            Err(error) => wrong.push(within(text, item.start, error)),
        }
        if wrong.len() == LIMIT {
            break;
        }
    }
    match (wrong.pop(), wrong.is_empty()) {
        (None, _) => Ok(made),
        (Some(error), true) => Err(error.into()),
        (Some(error), false) => {
            wrong.push(error);
            Err(crate::Error::Measures(wrong))
        }
    }
}

/// Splits a list into measures, each trimmed: at commas and blanks outside of brackets, unless a
/// number continues a suffix such as `ndcg_cut.5,10`.
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

/// Whether the character `c` separates two measures, given the text before and after it.
fn parts_words(before: &str, c: char, after: &str) -> bool {
    let joined = before.trim_end().ends_with(['(', '[', '{', '@', ',', '=', ':', '.']);
    let joins = after.trim_start().starts_with(['(', '@', ')', ']', '}', ',', '=', ':', '.']);
    c.is_whitespace() && !joined && !joins
}

/// Cuts a range of a text at the characters outside of brackets for which `cuts` is true, and trims
/// the parts.
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
    let trim = |part: Range<usize>| {
        let start = part.end - text[part.clone()].trim_start().len();
        start..start + text[part].trim().len()
    };
    parts.into_iter().map(trim).collect()
}

/// Whether a number, or a pair of numbers, continues the suffix of the measure before it.
fn goes_on(before: &str, word: &str, profile: Option<&'static Profile>) -> bool {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '=' | 'e' | 'E');
    word.starts_with(|c: char| numeric(c) && !c.is_alphabetic())
        && word.chars().all(numeric)
        && resolve::has_suffix(before, profile)
}

/// The error of an item that is a rank alone, as in `nDCG@5,10`.
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
    let mut error =
        MeasureError::new(rank, 0..rank.len(), "several cutoffs are written in brackets");
    error.suggestions = vec![format!("{name}@[{first},{rank}]")];
    Some(error)
}

impl std::str::FromStr for Measure {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text)
    }
}

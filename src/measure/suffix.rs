//! The suffix of another tool's name of a measure: trec_eval's `.5,10` in `P.5,10`, ranx's `.95` in
//! `rbp.95`.
//!
//! One reader serves two kinds of users. `eval` takes numbers in the usual notation and rejects
//! every other text. `trec-eval` has to read `-m P.5x` as the C program does, whose `atol` and
//! `atof` read a leading number and take 0 for any other text. So `trec-eval` passes its own
//! functions for `atol` and `atof`.

use std::ops::Range;

use super::draft::{Defaults, Draft};
use super::foreign::{ForeignMeasure, Suffix};
use super::params::{Cutoff, ParamValue};
use super::value::Measure;
use crate::error::MeasureError;
use crate::sort;

/// The functions that read the numbers in the suffix of another tool's name of a measure.
#[derive(Debug, Clone, Copy)]
pub struct SuffixNumbers {
    /// Reads a whole number, such as a rank.
    pub integer: fn(&str) -> Option<i64>,
    /// Reads a number.
    pub number: fn(&str) -> Option<f64>,
    /// Reads a grade that gets a gain. The inner `None` means that the pair is to be ignored.
    pub grade: fn(&str) -> Option<Option<f64>>,
}

impl SuffixNumbers {
    /// Reads numbers in the usual notation, and nothing else.
    pub const STRICT: Self = Self {
        integer: |text| text.trim().parse().ok(),
        number: finite,
        grade: |text| finite(text).map(Some),
    };
}

/// Parses a finite number in the usual notation; −0 is 0.
pub(super) fn finite(text: &str) -> Option<f64> {
    // + 0.0 makes −0 a 0: equal parameters must have equal text.
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number + 0.0)
}

/// The parameters and the cutoff of one measure that the suffix of another tool's name means.
type Variant = (Vec<(&'static str, ParamValue)>, Option<Cutoff>);

/// The error of a suffix of another tool's name of a measure, with the place in the suffix.
pub(super) struct SuffixError {
    pub span: Range<usize>,
    pub message: String,
}

/// The result of reading the suffix of another tool's name of a measure.
type SuffixResult<T> = Result<T, SuffixError>;

/// Returns the error of a part of the suffix of a measure's name, with its place.
fn wrong<T>(span: Range<usize>, message: impl Into<String>) -> SuffixResult<T> {
    Err(SuffixError { span, message: message.into() })
}

/// Splits the list in the suffix of a measure's name at commas, each part with its place.
fn parts(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.split(',').map(move |part| {
        // `split` gives no places, but each part lies in the text.
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        (start..start + part.len(), part)
    })
}

impl Suffix {
    /// Returns whether the text has the form of this suffix behind the name of a measure.
    pub(super) fn accepts(self, text: &str) -> bool {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::Digits => digits && !text.is_empty(),
            Self::At => {
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
            }
            Self::Persistence => !digits,
            Self::Call(_) | Self::Cut | Self::Whole => false,
            _ => true,
        }
    }

    /// Returns the parameters and cutoffs of the measures that the name means without a suffix.
    fn bare(self) -> Vec<Variant> {
        match self {
            Self::Ranks(ranks) => {
                ranks.iter().map(|&k| (Vec::new(), Some(Cutoff::Rank(k)))).collect()
            }
            Self::Recalls(levels) => {
                levels.iter().map(|&x| (Vec::new(), Some(Cutoff::Recall(x)))).collect()
            }
            Self::Each(param, values) => values
                .iter()
                .map(|&value| (vec![(param, ParamValue::Number(value))], None))
                .collect(),
            _ => vec![(Vec::new(), None)],
        }
    }

    /// Parses the suffix `text` of a measure's name: returns the parameters and cutoffs of the
    /// measures meant.
    fn read(self, name: &str, text: &str, numbers: &SuffixNumbers) -> SuffixResult<Vec<Variant>> {
        let whole = 0..text.len();
        let one = match self {
            Self::Ranks(_) | Self::At => {
                return parts(text)
                    .map(|(span, part)| Ok((Vec::new(), Some(rank(span, part, numbers)?))))
                    .collect();
            }
            Self::Recalls(_) => {
                return parts(text)
                    .map(|(span, part)| Ok((Vec::new(), Some(recall(span, part, numbers)?))))
                    .collect();
            }
            Self::Each(param, _) => {
                return parts(text)
                    .map(|(span, part)| {
                        let value = ParamValue::Number(number(span, part, numbers)?);
                        Ok((vec![(param, value)], None))
                    })
                    .collect();
            }
            Self::Number(param) => {
                vec![(param, ParamValue::Number(number(whole, text, numbers)?))]
            }
            Self::Points(param) => vec![(param, ParamValue::List(list(text, numbers)?))],
            Self::Gains => gains(text, numbers)?.map(|table| ("gain", table)).into_iter().collect(),
            Self::Numbers(params) => {
                let values = list(text, numbers)?;
                if values.len() != params.len() {
                    let expected = params.len();
                    return wrong(whole, format!("{expected} numbers were expected, not `{text}`"));
                }
                let values = values.into_iter().map(ParamValue::Number);
                params.iter().copied().zip(values).collect()
            }
            Self::Persistence => vec![("p", persistence(name, text, numbers)?)],
            Self::Digits => {
                vec![("p", ParamValue::Number(number(whole, &format!("0.{text}"), numbers)?))]
            }
            Self::None => return wrong(whole, format!("`{name}` takes no parameters")),
            Self::Call(_) | Self::Cut | Self::Whole => {
                return wrong(whole, "parameters are written in parentheses");
            }
        };
        Ok(vec![(one, None)])
    }
}

/// Parses a number in the suffix of a measure's name.
fn number(span: Range<usize>, part: &str, numbers: &SuffixNumbers) -> SuffixResult<f64> {
    (numbers.number)(part)
        .ok_or_else(|| SuffixError { span, message: format!("`{part}` is not a number") })
}

/// Parses a list of numbers in the suffix of a measure's name.
fn list(text: &str, numbers: &SuffixNumbers) -> SuffixResult<Vec<f64>> {
    parts(text).map(|(span, part)| number(span, part, numbers)).collect()
}

/// Parses a level of recall in the suffix of a measure's name, as a cutoff.
fn recall(span: Range<usize>, part: &str, numbers: &SuffixNumbers) -> SuffixResult<Cutoff> {
    match (numbers.number)(part) {
        Some(level) if (0.0..=1.0).contains(&level) => Ok(Cutoff::Recall(level)),
        _ => wrong(span, format!("`{part}` is not a level of recall from 0 to 1")),
    }
}

/// Parses a rank in the suffix of a measure's name, as a cutoff.
fn rank(span: Range<usize>, part: &str, numbers: &SuffixNumbers) -> SuffixResult<Cutoff> {
    match (numbers.integer)(part) {
        Some(..=0) => wrong(span, "a cutoff is at least 1"),
        Some(k @ 1..) if k < i64::from(u32::MAX) => Ok(Cutoff::Rank(k as u32)),
        _ => wrong(span, format!("`{part}` is not a cutoff: a rank such as 10")),
    }
}

/// Parses gains of grades, `grade=gain,…`, in the suffix of a measure's name, ascending by grade.
/// `None` if no grade is left.
fn gains(text: &str, numbers: &SuffixNumbers) -> SuffixResult<Option<ParamValue>> {
    let mut table: Vec<(f64, f64)> = Vec::new();
    for (span, part) in parts(text) {
        let pair = part.split_once('=');
        let pair =
            pair.and_then(|(grade, gain)| Some(((numbers.grade)(grade)?, (numbers.number)(gain)?)));
        let message = match pair {
            None => format!("`{part}` is not a pair grade=gain"),
            Some((Some(grade), _)) if table.iter().any(|&(other, _)| other == grade) => {
                format!("grade {grade} has two gains")
            }
            Some((grade, gain)) => {
                table.extend(grade.map(|grade| (grade, gain)));
                continue;
            }
        };
        return wrong(span, message);
    }
    sort::by_number(&mut table, |(grade, _)| *grade);
    Ok((!table.is_empty()).then_some(ParamValue::Table(table)))
}

/// Parses the parameter p, `p=…`, in the suffix of a measure's name, and nothing else.
fn persistence(name: &str, text: &str, numbers: &SuffixNumbers) -> SuffixResult<ParamValue> {
    let mut p = None;
    for (span, part) in parts(text) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if key.trim() != "p" {
            let message =
                format!("`{name}` has no parameter `{key}`, only p=…, and no gains of grades");
            return wrong(span, message);
        }
        if p.is_some() {
            return wrong(span, "`p` is given twice");
        }
        p = Some(number(span.end - value.len()..span.end, value, numbers)?);
    }
    match p {
        Some(p) => Ok(ParamValue::Number(p)),
        None => wrong(0..text.len(), "p=… was expected"),
    }
}

impl ForeignMeasure {
    /// Returns the measures that another tool's name means, given the suffix behind its `.`, if
    /// any.
    ///
    /// # Errors
    /// A suffix that the name does not take; the span lies in the suffix.
    pub fn measures(
        &self,
        suffix: Option<&str>,
        numbers: &SuffixNumbers,
        defaults: Defaults,
    ) -> Result<Vec<Measure>, MeasureError> {
        let drafts = self.drafts(suffix, numbers).map_err(|SuffixError { span, message }| {
            MeasureError::new(suffix.unwrap_or_default(), span, message)
        })?;
        let measures = drafts.into_iter().map(|draft| {
            draft
                .measure(defaults)
                .map_err(|message| MeasureError::new(self.name, 0..self.name.len(), message))
        });
        measures.collect()
    }

    /// Returns the drafts of the measures that another tool's name means with this suffix, if any.
    /// They may still lack the relevance level and a required cutoff.
    pub(super) fn drafts(
        &self,
        suffix: Option<&str>,
        numbers: &SuffixNumbers,
    ) -> SuffixResult<Vec<Draft>> {
        let variants = match suffix {
            Some(text) => self.suffix.read(self.name, text, numbers)?,
            None if self.suffix == Suffix::Digits => {
                let message = format!("the digits of p have to follow: {}", self.example());
                return wrong(0..0, message);
            }
            None => self.suffix.bare(),
        };
        let drafts = variants.into_iter().map(|(params, cutoff)| {
            let mut draft = Draft { cutoff, ..self.draft() };
            for (name, value) in params {
                let index = draft.definition.param(name);
                let kind = draft.definition.param_at(index).kind;
                if !kind.accepts(&value) {
                    let whole = 0..suffix.map_or(0, str::len);
                    return wrong(whole, format!("`{value}` is not {kind}"));
                }
                // A suffix overrides what the name fixes: `rbp.p=0.95` has p of 0.9 by name.
                draft.values.retain(|&(at, _)| at != index);
                draft.values.push((index, value));
            }
            Ok(draft)
        });
        drafts.collect()
    }

    /// Returns the draft of the measure that another tool's name means without any suffix.
    pub(super) fn draft(&self) -> Draft {
        let definition = self.definition();
        let fixed = self.fixed.iter().map(|(name, value)| (definition.param(name), value.clone()));
        Draft { definition, values: fixed.collect(), cutoff: None }
    }
}

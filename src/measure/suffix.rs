//! The text after the name of a foreign measure: trec_eval's `.5,10`, ranx's `.95`.
//!
//! One reader serves two kinds of users. `eval` takes numbers in the usual notation and rejects
//! every other text. `trec-eval` has to read `-m P.5x` as the C program does, whose `atol` and
//! `atof` read a leading number and take 0 for any other text. So `trec-eval` passes its own
//! functions for `atol` and `atof`.

use std::ops::Range;

use super::draft::{Defaults, Draft};
use super::foreign::{Foreign, Suffix};
use super::params::{Cutoff, Value};
use super::value::Measure;
use crate::error::{MeasureError, Result};
use crate::sort;

/// The functions that read the numbers of a suffix.
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
    pub const STRICT: SuffixNumbers = SuffixNumbers {
        integer: |text| text.trim().parse().ok(),
        number: finite,
        grade: |text| finite(text).map(Some),
    };
}

/// Reads a finite number.
pub(super) fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number + 0.0)
}

/// The parameters and the cutoff of a measure, from the suffix of a name.
type Variant = (Vec<(&'static str, Value)>, Option<Cutoff>);

/// The error of a suffix, with its place in it.
pub(super) struct WrongSuffix {
    pub span: Range<usize>,
    pub message: String,
}

/// The parts of a list with their places.
fn parts(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.split(',').map(move |part| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        (start..start + part.len(), part)
    })
}

impl Suffix {
    /// Whether the text may stand after a name in place of parameters and a cutoff.
    pub(super) fn reads(self, text: &str) -> bool {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Suffix::Digits => digits && !text.is_empty(),
            Suffix::At => {
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
            }
            Suffix::Persistence => !digits,
            Suffix::Call(_) | Suffix::Cut | Suffix::Whole => false,
            _ => true,
        }
    }

    /// The measures of the bare name.
    fn bare(self) -> Vec<Variant> {
        match self {
            Suffix::Ranks(ranks) => {
                ranks.iter().map(|&k| (Vec::new(), Some(Cutoff::Rank(k)))).collect()
            }
            Suffix::Recalls(levels) => {
                levels.iter().map(|&x| (Vec::new(), Some(Cutoff::Recall(x)))).collect()
            }
            Suffix::Each(param, values) => {
                values.iter().map(|&value| (vec![(param, Value::Number(value))], None)).collect()
            }
            _ => vec![(Vec::new(), None)],
        }
    }

    /// The measures of the name with this suffix.
    fn read(
        self,
        name: &str,
        text: &str,
        numbers: &SuffixNumbers,
    ) -> Result<Vec<Variant>, WrongSuffix> {
        let wrong = |span: Range<usize>, message: String| WrongSuffix { span, message };
        let number = |(span, part): (Range<usize>, &str)| {
            (numbers.number)(part).ok_or_else(|| wrong(span, format!("`{part}` is not a number")))
        };
        let whole = 0..text.len();
        let one = |params| vec![(params, None)];
        Ok(match self {
            Suffix::Ranks(_) | Suffix::At => {
                let at_rank = |(span, part)| Ok((Vec::new(), Some(rank(span, part, numbers)?)));
                parts(text).map(at_rank).collect::<Result<_, _>>()?
            }
            Suffix::Recalls(_) => {
                let level = |(span, part): (Range<usize>, &str)| match (numbers.number)(part) {
                    Some(x) if (0.0..=1.0).contains(&x) => {
                        Ok((Vec::new(), Some(Cutoff::Recall(x))))
                    }
                    _ => Err(wrong(span, format!("`{part}` is not a level of recall from 0 to 1"))),
                };
                parts(text).map(level).collect::<Result<_, _>>()?
            }
            Suffix::Each(param, _) => {
                let each = |part| Ok((vec![(param, Value::Number(number(part)?))], None));
                parts(text).map(each).collect::<Result<_, _>>()?
            }
            Suffix::Number(param) => one(vec![(param, Value::Number(number((whole, text))?))]),
            Suffix::Points(param) => {
                one(vec![(param, Value::List(parts(text).map(number).collect::<Result<_, _>>()?))])
            }
            Suffix::Gains => {
                one(gains(text, numbers)?.map(|table| ("gain", table)).into_iter().collect())
            }
            Suffix::Numbers(params) => {
                let values = parts(text).map(number).collect::<Result<Vec<_>, _>>()?;
                if values.len() != params.len() {
                    let message = format!("{} numbers were expected, not `{text}`", params.len());
                    return Err(wrong(whole, message));
                }
                one(params.iter().copied().zip(values.into_iter().map(Value::Number)).collect())
            }
            Suffix::Persistence => one(vec![("p", persistence(name, text, number)?)]),
            Suffix::Digits => {
                one(vec![("p", Value::Number(number((whole, &format!("0.{text}")))?))])
            }
            Suffix::None => return Err(wrong(whole, format!("`{name}` takes no parameters"))),
            Suffix::Call(_) | Suffix::Cut | Suffix::Whole => {
                return Err(wrong(whole, "parameters are written in parentheses".to_owned()));
            }
        })
    }
}

/// Reads a rank as a cutoff.
fn rank(span: Range<usize>, part: &str, numbers: &SuffixNumbers) -> Result<Cutoff, WrongSuffix> {
    match (numbers.integer)(part) {
        Some(..=0) => Err(WrongSuffix { span, message: "a cutoff is at least 1".to_owned() }),
        Some(k @ 1..) if k < i64::from(u32::MAX) => Ok(Cutoff::Rank(k as u32)),
        _ => {
            let message = format!("`{part}` is not a cutoff: a rank such as 10");
            Err(WrongSuffix { span, message })
        }
    }
}

/// Reads `grade=gain,…`, ascending by grade; `None` if no grade is left.
fn gains(text: &str, numbers: &SuffixNumbers) -> Result<Option<Value>, WrongSuffix> {
    let mut table: Vec<(f64, f64)> = Vec::new();
    for (span, part) in parts(text) {
        let pair = part.split_once('=');
        let pair =
            pair.and_then(|(grade, gain)| Some(((numbers.grade)(grade)?, (numbers.number)(gain)?)));
        match pair {
            None => {
                return Err(WrongSuffix {
                    span,
                    message: format!("`{part}` is not a pair grade=gain"),
                });
            }
            Some((Some(grade), _)) if table.iter().any(|&(of, _)| of == grade) => {
                return Err(WrongSuffix { span, message: format!("grade {grade} has two gains") });
            }
            Some((grade, gain)) => table.extend(grade.map(|grade| (grade, gain))),
        }
    }
    sort::by_number(&mut table, |(grade, _)| *grade);
    Ok((!table.is_empty()).then_some(Value::Table(table)))
}

/// Reads `p=…`, and nothing else.
fn persistence(
    name: &str,
    text: &str,
    number: impl Fn((Range<usize>, &str)) -> Result<f64, WrongSuffix>,
) -> Result<Value, WrongSuffix> {
    let mut p = None;
    for (span, part) in parts(text) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if key.trim() != "p" {
            let message =
                format!("`{name}` has no parameter `{key}`, only p=…, and no gains of grades");
            return Err(WrongSuffix { span, message });
        }
        if p.is_some() {
            return Err(WrongSuffix { span, message: "`p` is given twice".to_owned() });
        }
        p = Some(number((span.end - value.len()..span.end, value))?);
    }
    p.map(Value::Number)
        .ok_or_else(|| WrongSuffix {
            span: 0..text.len(), message: "p=… was expected".to_owned()
        })
}

impl Foreign {
    /// Returns the measures of the name, given the text behind its `.`, if any.
    ///
    /// # Errors
    /// A suffix that the name does not take; the span lies in the suffix.
    pub fn measures(
        &self,
        suffix: Option<&str>,
        numbers: &SuffixNumbers,
        defaults: Defaults,
    ) -> Result<Vec<Measure>, MeasureError> {
        let drafts = self.drafts(suffix, numbers).map_err(|WrongSuffix { span, message }| {
            MeasureError::new(suffix.unwrap_or_default(), span, message)
        })?;
        let measure = |draft: Draft| {
            draft
                .measure(defaults)
                .map_err(|message| MeasureError::new(self.name, 0..self.name.len(), message))
        };
        drafts.into_iter().map(measure).collect()
    }

    /// The drafts of the measures, which may still lack the relevance level and a required cutoff.
    pub(super) fn drafts(
        &self,
        suffix: Option<&str>,
        numbers: &SuffixNumbers,
    ) -> Result<Vec<Draft>, WrongSuffix> {
        let variants = match suffix {
            Some(text) => self.suffix.read(self.name, text, numbers)?,
            None if self.suffix == Suffix::Digits => {
                let message = format!("the digits of p have to follow: {}", self.example());
                return Err(WrongSuffix { span: 0..0, message });
            }
            None => self.suffix.bare(),
        };
        let draft = |(params, cutoff): Variant| {
            let mut draft = self.draft();
            draft.cutoff = cutoff;
            for (name, value) in params {
                let of = draft.definition.param(name);
                let kind = draft.definition.param_at(of).kind;
                if !kind.takes(&value) {
                    let message = format!("`{value}` is not {kind}");
                    return Err(WrongSuffix { span: 0..suffix.map_or(0, str::len), message });
                }
                draft.values.retain(|&(at, _)| at != of);
                draft.values.push((of, value));
            }
            Ok(draft)
        };
        variants.into_iter().map(draft).collect()
    }

    /// The draft of the name without any suffix.
    pub(super) fn draft(&self) -> Draft {
        let definition = self.definition();
        let fixed = self.fixed.iter().map(|(name, value)| (definition.param(name), value.clone()));
        Draft { definition, values: fixed.collect(), cutoff: None }
    }
}

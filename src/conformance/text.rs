//! The result of `laneval check` in words, and as JSON.

use std::fmt;

use serde::Serialize;

use super::answer::CaseAnswer;
use super::check::{CheckReport, DefinitionFit, FailedCase};

/// The most wrong cases that are named.
const NAMED: usize = 6;

/// The version of the JSON document's keys, which are only added to.
const SCHEMA: u32 = 1;

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.fits[..], &self.nearest) {
            ([], None) => f.write_str("no definition known"),
            ([], Some(nearest)) => self.write_nearest(nearest, f),
            ([one], _) => write!(f, "this is {}", self.described(one)),
            (several, _) => {
                write!(
                    f,
                    "{} definitions fit, and no case that was answered tells them apart:",
                    several.len()
                )?;
                several.iter().try_for_each(|fit| write!(f, "\n  {}", self.described(fit)))
            }
        }?;
        self.write_refused(f)
    }
}

impl CheckReport {
    /// Returns the result of the check as a JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.document())
            .unwrap_or_else(|error| unreachable!("{error}"))
    }

    fn write_nearest(&self, nearest: &DefinitionFit, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = nearest.definition.spelling();
        if let Some(mistake) = &self.mistake {
            return write!(
                f,
                "no definition known: this is {spelled} but for one choice: {mistake}"
            );
        }
        let counted = format!("{} of {} cases", nearest.agree, self.compared);
        write!(f, "no definition known: nearest {spelled}, {counted}; wrong: ")?;
        for (at, wrong) in nearest.wrong.iter().take(NAMED).enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            let [found, expected] = shown(wrong);
            write!(f, "{} ({found} for {expected}", wrong.case)?;
            match &wrong.hint {
                Some(hint) => write!(f, ": {hint}?)")?,
                None => f.write_str(")")?,
            }
        }
        match nearest.wrong.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }

    /// Writes the number of queries that the implementation refused, and the reason of the first.
    fn write_refused(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused = self.answers.iter().filter_map(|(case, answer)| match answer {
            CaseAnswer::Refused(why) => Some((case, why)),
            _ => None,
        });
        let refused: Vec<_> = refused.collect();
        match &refused[..] {
            [] => Ok(()),
            [(case, why)] => write!(f, "\n1 case is refused and no evidence: {case} ({why})"),
            [(case, why), ..] => {
                write!(f, "\n{} cases are refused and no evidence: {case} ({why}) …", refused.len())
            }
        }
    }

    /// Returns a fitting definition as a line of text: measure, libraries and number of agreeing
    /// queries.
    fn described(&self, fit: &DefinitionFit) -> String {
        let names: Vec<&str> = library_names(fit).collect();
        let libraries =
            if names.is_empty() { "no library known".to_owned() } else { names.join(", ") };
        let DefinitionFit { definition, agree, class, .. } = fit;
        let compared = self.compared;
        format!("{}: {libraries}   ({agree} of {compared} cases, {class})", definition.spelling())
    }

    fn document(&self) -> JsonCheck<'_> {
        let (agreed, wrong) = match &self.nearest {
            Some(nearest) => (self.mistake.as_deref(), &nearest.wrong[..]),
            None => (None, &[][..]),
        };
        JsonCheck {
            schema: SCHEMA,
            laneval: env!("CARGO_PKG_VERSION"),
            suite: &self.suite,
            measure: &self.measure,
            verdict: self.verdict.name(),
            compared: self.compared,
            telling: self.telling,
            definitions: self.fits.iter().map(JsonFit::new).collect(),
            nearest: self.nearest.as_ref().map(JsonFit::new),
            mistake: agreed,
            cases: self
                .answers
                .iter()
                .map(|(case, answer)| JsonCase::new(case, answer, wrong))
                .collect(),
        }
    }
}

/// Returns the names of the libraries that compute the measure by a definition.
fn library_names(fit: &DefinitionFit) -> impl Iterator<Item = &str> {
    fit.definition.libraries.iter().map(|library| &library.name[..])
}

/// Returns an implementation's value and the expected value as text, with enough decimals to tell
/// them apart, at least three.
fn shown(wrong: &FailedCase) -> [String; 2] {
    let mut pairs = (3..=17).map(|decimals| {
        [wrong.found, wrong.expected].map(|value| match value {
            None => "no value".to_owned(),
            Some(value) if value.fract() == 0.0 => value.to_string(),
            Some(value) => format!("{value:.decimals$}"),
        })
    });
    let apart = pairs.clone().find(|[found, expected]| found != expected);
    apart.or_else(|| pairs.next_back()).unwrap_or_default()
}

/// The JSON document of `laneval check`.
#[derive(Serialize)]
struct JsonCheck<'a> {
    schema: u32,
    laneval: &'static str,
    suite: &'a str,
    measure: &'a str,
    verdict: &'static str,
    compared: usize,
    telling: usize,
    definitions: Vec<JsonFit<'a>>,
    nearest: Option<JsonFit<'a>>,
    mistake: Option<&'a str>,
    cases: Vec<JsonCase<'a>>,
}

/// A definition of a measure in the JSON of `laneval check`, with its agreement with the
/// implementation.
#[derive(Serialize)]
struct JsonFit<'a> {
    id: &'a str,
    measure: Option<&'a str>,
    options: JsonSuiteOptions<'a>,
    formula: &'a str,
    libraries: Vec<&'a str>,
    agree: usize,
    class: String,
}

/// The evaluation options of a definition in the JSON of `laneval check`, without options at their
/// defaults.
#[derive(Serialize)]
struct JsonSuiteOptions<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    judged_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_rank: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevant_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ties: Option<&'a str>,
}

impl<'a> JsonFit<'a> {
    fn new(fit: &'a DefinitionFit) -> Self {
        let definition = &fit.definition;
        let options = &definition.options;
        Self {
            id: &definition.id,
            measure: definition.measure.as_deref(),
            options: JsonSuiteOptions {
                judged_only: options.judged_only,
                max_rank: options.max_rank.as_deref(),
                relevant_from: options.relevant_from.as_deref(),
                ties: options.ties.as_deref(),
            },
            formula: &definition.formula,
            libraries: library_names(fit).collect(),
            agree: fit.agree,
            class: fit.class.to_string(),
        }
    }
}

/// A query of the suite in the JSON of `laneval check`: the implementation's value, and the nearest
/// definition's where it differs.
#[derive(Serialize)]
struct JsonCase<'a> {
    id: &'a str,
    found: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
    agrees: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> JsonCase<'a> {
    fn new(id: &'a str, answer: &'a CaseAnswer, wrong: &'a [FailedCase]) -> Self {
        let wrong = wrong.iter().find(|wrong| wrong.case == id);
        let refused = match answer {
            CaseAnswer::Refused(why) => Some(&why[..]),
            _ => None,
        };
        Self {
            id,
            found: match answer {
                CaseAnswer::Value(value, _) => Some(*value),
                _ => None,
            },
            refused,
            agrees: refused.is_none().then_some(wrong.is_none()),
            expected: wrong.map(|wrong| wrong.expected),
            hint: wrong.and_then(|wrong| wrong.hint.as_deref()),
        }
    }
}

//! The check behind `laneval check`: an implementation's values beside the values of every known
//! definition of a measure.

use super::answer::CaseAnswer::{self, NoValue, Refused, Value};
use super::closeness::{Tolerance, closeness};
use super::suite::{Case, Suite, SuiteDefinition};
use crate::error::{Result, unanswerable};

/// The verdict of `laneval check`: whether one known definition of a measure has all values of an
/// implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckVerdict {
    /// A single definition has all the values, and every other definition differs in five cases or
    /// more.
    Found,
    /// A single definition has all the values, but some other definition differs in fewer than five
    /// cases.
    Likely,
    /// Several definitions have all the values.
    Undecided,
    /// No definition has all the values.
    None,
}

impl CheckVerdict {
    /// Returns the name of the verdict, such as `found`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Likely => "likely",
            Self::Undecided => "undecided",
            Self::None => "none",
        }
    }
}

/// A definition of a measure, with the queries of a suite in which an implementation agrees or
/// differs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DefinitionFit {
    /// The definition.
    pub definition: SuiteDefinition,
    /// The number of cases in which the answer is its value.
    pub agree: usize,
    /// How close the answers are to the values, where they agree: the class of the farthest.
    pub class: Tolerance,
    /// The cases with a wrong answer.
    pub wrong: Vec<FailedCase>,
}

/// A query of a suite in which an implementation's value is not the value of a definition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FailedCase {
    /// The name of the case.
    pub case: String,
    /// The value from the implementation; `None` if the implementation leaves the query out.
    pub found: Option<f64>,
    /// The value under the definition.
    pub expected: Option<f64>,
    /// A single change of the definition that explains the answer.
    pub hint: Option<String>,
}

/// The result of `laneval check`: the definitions of a measure that an implementation follows, or
/// the nearest definition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The name of the suite.
    pub suite: String,
    /// The measure, as the suite calls it.
    pub measure: String,
    /// The verdict of the check.
    pub verdict: CheckVerdict,
    /// The answer to each case, in the order of the suite.
    pub answers: Vec<(String, CaseAnswer)>,
    /// The number of cases that were not refused.
    pub compared: usize,
    /// The definitions that have all the values.
    pub fits: Vec<DefinitionFit>,
    /// In how many cases the next best definition differs, if one fits.
    pub telling: usize,
    /// The definition that agrees in the most cases, if none fits.
    pub nearest: Option<DefinitionFit>,
    /// The one changed choice, or the usual mistake, that gives the nearest definition all the
    /// values, in words.
    pub mistake: Option<String>,
}

/// The numbers of decimals that suggest rounding. With fewer decimals every definition would fit,
/// and with more nothing is rounded.
const ROUNDED: std::ops::RangeInclusive<usize> = 2..=6;

/// The fewest cases of difference between the definition found and every rival, for
/// [`CheckVerdict::Found`].
const TELLING: usize = 5;

/// Asks an implementation of a measure for its value of each query of a suite, and finds the
/// definition that it follows.
///
/// `library` is the short name of a library, if it has to be one of its definitions. An answer that
/// is an error ends the check.
///
/// # Errors
/// [`crate::Error::Unanswerable`]: a measure or a library that the suite does not have, or an
/// implementation that refuses every case; and whatever the implementation returns.
pub fn check(
    suite: &Suite,
    measure: &str,
    library: Option<&str>,
    mut implementation: impl FnMut(&Case) -> Result<CaseAnswer>,
) -> Result<CheckReport> {
    let measure = family(suite, measure)?;
    let candidates = candidate_indices(suite, &measure, library)?;
    let mut answers = Vec::new();
    for case in &suite.cases {
        answers.push(implementation(case)?);
    }
    let compared = answers.iter().filter_map(value).count();
    if !answers.iter().any(|answer| matches!(answer, Value(..))) {
        return unanswerable(without_numbers(&answers));
    }
    let (fits, others, digits) = sorted_out(suite, &candidates, &answers);
    let telling = others.iter().map(|(_, fit)| compared - fit.agree).min().unwrap_or(compared);
    // `max_by_key` takes the last of several equals. The order is reversed, because the usual
    // definitions come first.
    let nearest =
        others.into_iter().rev().max_by_key(|(_, fit)| rank(fit)).filter(|_| fits.is_empty());
    let mistake = nearest.as_ref().and_then(|_| mistake(suite, &candidates, &answers, digits));
    let (nearest, mistake) = match mistake {
        // The definition that the mistake was made in is the nearest, whatever agrees in more cases
        // by chance.
        Some((definition, says)) => (Some(definition), Some(says)),
        None => (nearest.map(|(definition, _)| definition), None),
    };
    let nearest = nearest.map(|definition| hinted(suite, definition, &answers, digits));
    let verdict = match fits.len() {
        0 => CheckVerdict::None,
        1 if telling >= TELLING => CheckVerdict::Found,
        1 => CheckVerdict::Likely,
        _ => CheckVerdict::Undecided,
    };
    let names = suite.cases.iter().map(|case| case.id.clone());
    let answers = names.zip(answers).collect();
    Ok(CheckReport {
        suite: suite.name.clone(),
        measure,
        verdict,
        answers,
        compared,
        telling: if fits.len() == 1 { telling } else { 0 },
        fits,
        nearest,
        mistake,
    })
}

/// Finds a measure's name as the suite writes it; refuses cutoffs, parameters and unknown measures.
fn family(suite: &Suite, measure: &str) -> Result<String> {
    let known = suite.measures();
    let why = if measure.contains(['@', '(']) {
        "cutoffs and parameters are what a check finds out"
    } else if let Some(name) = known.iter().find(|name| name.eq_ignore_ascii_case(measure)) {
        return Ok((*name).to_owned());
    } else {
        "the suite has no such measure"
    };
    unanswerable(format!("{measure}: {why}: {} was expected", known.join(", ")))
}

/// Returns the indices of a measure's definitions in the suite, of all libraries or of one library.
fn candidate_indices(suite: &Suite, measure: &str, library: Option<&str>) -> Result<Vec<usize>> {
    let definitions = &suite.definitions;
    let mut all: Vec<usize> =
        (0..definitions.len()).filter(|&at| definitions[at].family() == measure).collect();
    let Some(library) = library else { return Ok(all) };
    let mut families: Vec<&str> = definitions
        .iter()
        .filter(|definition| definition.has_library(library))
        .map(SuiteDefinition::family)
        .collect();
    if families.is_empty() {
        let known = definitions.iter().flat_map(|definition| &definition.libraries);
        let mut known: Vec<&str> = known.map(|entry| &entry.library[..]).collect();
        known.sort_unstable();
        known.dedup();
        return unanswerable(format!(
            "{library} is no library of the suite: {} was expected",
            known.join(", ")
        ));
    }
    all.retain(|&at| definitions[at].has_library(library));
    if all.is_empty() {
        families.dedup();
        return unanswerable(format!(
            "the suite does not know {measure} of {library}, only {}",
            families.join(", ")
        ));
    }
    Ok(all)
}

/// Returns the error message for an implementation without a single number among its answers.
fn without_numbers(answers: &[CaseAnswer]) -> String {
    let reason = answers.iter().find_map(|answer| match answer {
        Refused(why) => Some(why),
        _ => None,
    });
    let all = answers.iter().all(|answer| matches!(answer, Refused(_)));
    match reason {
        Some(why) if all => format!("{why} on every case: check needs a number for some"),
        Some(why) => {
            format!(
                "{why} on some cases and had no value for the others: check needs a number for some"
            )
        }
        None => "the query has no value on every case: check needs a number for some".to_owned(),
    }
}

/// Definitions of a measure by their indices in the suite, each with its agreement with an
/// implementation.
type FitsAt = Vec<(usize, DefinitionFit)>;

/// Splits definitions into those with all values of an implementation, and the others. Also returns
/// the decimals of rounded answers, if no definition fits answers with all their decimals.
fn sorted_out(
    suite: &Suite,
    candidates: &[usize],
    answers: &[CaseAnswer],
) -> (Vec<DefinitionFit>, FitsAt, Option<usize>) {
    let (mut fits, mut others) = split(suite, candidates, answers, None);
    // Answers count as rounded only after all definitions failed, because more definitions fit
    // rounded answers.
    let digits = decimals(answers).filter(|_| fits.is_empty());
    if digits.is_some() {
        (fits, others) = split(suite, candidates, answers, digits);
    }
    (fits.into_iter().map(|(_, fit)| fit).collect(), others, digits)
}

/// Splits definitions into those with all values of an implementation, rounded to `digits` if there
/// is such a number, and the others.
fn split(
    suite: &Suite,
    candidates: &[usize],
    answers: &[CaseAnswer],
    digits: Option<usize>,
) -> (FitsAt, FitsAt) {
    let all = candidates.iter().map(|&at| (at, fit(suite, at, answers, digits)));
    all.partition(|(_, fit)| fit.wrong.is_empty())
}

/// Returns the most decimals of an implementation's answers, if few enough to suggest rounding.
fn decimals(answers: &[CaseAnswer]) -> Option<usize> {
    let values = answers.iter().filter_map(|answer| match answer {
        Value(_, decimals) => Some(*decimals),
        _ => None,
    });
    let most = values.collect::<Option<Vec<usize>>>()?.into_iter().max();
    most.filter(|most| ROUNDED.contains(most))
}

/// Compares an implementation's answers with the values of a definition, query by query.
fn fit(suite: &Suite, at: usize, answers: &[CaseAnswer], digits: Option<usize>) -> DefinitionFit {
    let mut fit = DefinitionFit {
        definition: suite.definitions[at].clone(),
        agree: 0,
        class: Tolerance::Bits,
        wrong: Vec::new(),
    };
    for ((case, answer), &expected) in suite.cases.iter().zip(answers).zip(suite.values(at)) {
        let Some(found) = value(answer) else { continue };
        match same(found, expected, digits) {
            Some(class) => {
                fit.agree += 1;
                fit.class = fit.class.max(class);
            }
            None => {
                fit.wrong.push(FailedCase { case: case.id.clone(), found, expected, hint: None })
            }
        }
    }
    fit
}

/// Returns the value in an implementation's answer, itself `None` for no value; `None` if the query
/// was refused.
fn value(answer: &CaseAnswer) -> Option<Option<f64>> {
    match answer {
        Value(value, _) => Some(Some(*value)),
        NoValue => Some(None),
        Refused(_) => None,
    }
}

fn same(found: Option<f64>, expected: Option<f64>, digits: Option<usize>) -> Option<Tolerance> {
    match (found, expected) {
        (None, None) => Some(Tolerance::Bits),
        (Some(found), Some(expected)) => closeness(found, expected, digits),
        _ => None,
    }
}

/// Returns the sort key of a definition: the number of agreeing queries, then whether a library has
/// the definition. Among equals the usual definitions come first.
fn rank(fit: &DefinitionFit) -> (usize, bool) {
    (fit.agree, !fit.definition.libraries.is_empty())
}

/// Finds the one change of a definition that gives all values of an implementation; returns the
/// definition's index and the change in words.
fn mistake(
    suite: &Suite,
    candidates: &[usize],
    answers: &[CaseAnswer],
    digits: Option<usize>,
) -> Option<(usize, String)> {
    let of_measure = suite.changes.iter().filter(|change| candidates.contains(&change.definition));
    let found = of_measure.filter(|change| {
        let mut cases = answers.iter().zip(&change.values);
        cases.all(|(answer, &expected)| agree(answer, expected, digits) != Some(false))
    });
    // Definitions of a library come before definitions of no library, and the usual definitions
    // come first.
    let best = found.min_by_key(|change| {
        (suite.definitions[change.definition].libraries.is_empty(), change.definition)
    })?;
    Some((best.definition, best.says.clone()))
}

/// Compares an implementation's answers with a definition, and adds to each wrong query the changed
/// choice that explains it.
fn hinted(
    suite: &Suite,
    definition: usize,
    answers: &[CaseAnswer],
    digits: Option<usize>,
) -> DefinitionFit {
    let mut fit = fit(suite, definition, answers, digits);
    let wrong: Vec<Option<usize>> = fit
        .wrong
        .iter()
        .map(|wrong| suite.cases.iter().position(|case| case.id == wrong.case))
        .collect();
    let changes: Vec<_> =
        suite.changes.iter().filter(|change| change.definition == definition).collect();
    for (case, place) in fit.wrong.iter_mut().zip(&wrong) {
        let Some(at) = *place else { continue };
        // Among several choices, the best explains the most wrong cases, and then breaks the fewest
        // right cases.
        let best = changes
            .iter()
            .filter(|change| agree(&answers[at], change.values[at], digits) == Some(true))
            .max_by_key(|change| {
                let agreeing = |at: usize| agree(&answers[at], change.values[at], digits);
                let right = wrong.iter().flatten().filter(|&&at| agreeing(at) == Some(true));
                let broken = (0..answers.len())
                    .filter(|at| !wrong.contains(&Some(*at)) && agreeing(*at) == Some(false));
                (right.count(), std::cmp::Reverse(broken.count()))
            });
        case.hint = best.map(|change| change.says.clone());
    }
    fit
}

/// Returns whether an implementation's answer equals an expected value; `None` if the query was
/// refused.
fn agree(answer: &CaseAnswer, expected: Option<f64>, digits: Option<usize>) -> Option<bool> {
    value(answer).map(|found| same(found, expected, digits).is_some())
}

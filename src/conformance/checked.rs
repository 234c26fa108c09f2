//! The check of an implementation: its answers beside the values of every definition of a measure.

use super::answer::CaseAnswer;
use super::closeness::{Tolerance, closeness};
use super::suite::{Case, Suite, SuiteDefinition};
use crate::error::{Error, Result};

/// The verdict of a check.
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
    /// Returns the name of the verdict.
    pub fn name(self) -> &'static str {
        match self {
            CheckVerdict::Found => "found",
            CheckVerdict::Likely => "likely",
            CheckVerdict::Undecided => "undecided",
            CheckVerdict::None => "none",
        }
    }
}

/// A definition beside the answers of an implementation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// The definition.
    pub definition: SuiteDefinition,
    /// The number of cases in which the answer is its value.
    pub agree: usize,
    /// How close the answers are to the values, where they agree: the class of the farthest.
    pub class: Tolerance,
    /// The cases with a wrong answer.
    pub wrong: Vec<WrongCase>,
}

/// A case in which an answer is not the value of a definition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WrongCase {
    /// The name of the case.
    pub case: String,
    /// The value from the implementation; `None` if the implementation leaves the query out.
    pub found: Option<f64>,
    /// The value under the definition.
    pub expected: Option<f64>,
    /// A single change of the definition that explains the answer.
    pub hint: Option<String>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Checked {
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
    pub fits: Vec<Fit>,
    /// In how many cases the next best definition differs, if one fits.
    pub telling: usize,
    /// The definition that agrees in the most cases, if none fits.
    pub nearest: Option<Fit>,
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

/// Asks an implementation of a measure for its value of each case of a suite, and says which
/// definition it is.
///
/// `library` is the short name of a library, if it has to be one of its definitions. An answer that
/// is an error ends the check.
///
/// # Errors
/// [`Error::Unanswerable`]: a measure or a library that the suite does not have, or an
/// implementation that refuses every case; and whatever the implementation returns.
pub fn check(
    suite: &Suite,
    measure: &str,
    library: Option<&str>,
    mut implementation: impl FnMut(&Case) -> Result<CaseAnswer>,
) -> Result<Checked> {
    let measure = family(suite, measure)?;
    let asked = asked(suite, &measure, library)?;
    let mut answers = Vec::new();
    for case in &suite.cases {
        answers.push(implementation(case)?);
    }
    let compared =
        answers.iter().filter(|answer| !matches!(answer, CaseAnswer::Refused(_))).count();
    if !answers.iter().any(|answer| matches!(answer, CaseAnswer::Value(..))) {
        return Err(Error::Unanswerable(without_numbers(&answers)));
    }
    let (fits, others, digits) = sorted_out(suite, &asked, &answers);
    let telling = others.iter().map(|(_, fit)| compared - fit.agree).min().unwrap_or(compared);
    let nearest =
        others.into_iter().rev().max_by_key(|(_, fit)| rank(fit)).filter(|_| fits.is_empty());
    let mistake = nearest.is_some().then(|| mistake(suite, &asked, &answers, digits)).flatten();
    let (nearest, mistake) = match (mistake, nearest) {
        // The definition that the mistake was made in is the nearest, whatever agrees in more cases
        // by chance.
        (Some((of, says)), _) => (Some(hinted(suite, of, &answers, digits)), Some(says)),
        (None, nearest) => (nearest.map(|(of, _)| hinted(suite, of, &answers, digits)), None),
    };
    let verdict = match fits.len() {
        0 => CheckVerdict::None,
        1 if telling >= TELLING => CheckVerdict::Found,
        1 => CheckVerdict::Likely,
        _ => CheckVerdict::Undecided,
    };
    let names = suite.cases.iter().map(|case| case.id.clone());
    let answers = names.zip(answers).collect();
    Ok(Checked {
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

/// Finds the name of a measure as the suite writes it.
fn family(suite: &Suite, measure: &str) -> Result<String> {
    let known = suite.measures();
    let wrong = |why: &str| {
        Error::Unanswerable(format!("{measure}: {why}: {} was expected", known.join(", ")))
    };
    if measure.contains(['@', '(']) {
        return Err(wrong("cutoffs and parameters are what a check finds out"));
    }
    let same = known.iter().find(|known| known.eq_ignore_ascii_case(measure));
    same.map(|name| (*name).to_owned()).ok_or_else(|| wrong("the suite has no such measure"))
}

/// Returns the places of the definitions that come into question.
fn asked(suite: &Suite, measure: &str, library: Option<&str>) -> Result<Vec<usize>> {
    let of_measure = |at: &usize| suite.definitions[*at].family() == measure;
    let all: Vec<usize> = (0..suite.definitions.len()).filter(of_measure).collect();
    let Some(library) = library else { return Ok(all) };
    let has = |at: &usize| suite.definitions[*at].libraries.iter().any(|of| of.library == library);
    if !(0..suite.definitions.len()).any(|at| has(&at)) {
        let known = suite.definitions.iter().flat_map(|of| &of.libraries).map(|of| &of.library[..]);
        let mut known: Vec<&str> = known.collect();
        known.sort_unstable();
        known.dedup();
        return Err(Error::Unanswerable(format!(
            "{library} is no library of the suite: {} was expected",
            known.join(", ")
        )));
    }
    let of_library: Vec<usize> = all.into_iter().filter(has).collect();
    if of_library.is_empty() {
        let others =
            (0..suite.definitions.len()).filter(has).map(|at| suite.definitions[at].family());
        let mut others: Vec<&str> = others.collect();
        others.dedup();
        return Err(Error::Unanswerable(format!(
            "the suite does not know {measure} of {library}, only {}",
            others.join(", ")
        )));
    }
    Ok(of_library)
}

/// Says why there is nothing to compare.
fn without_numbers(answers: &[CaseAnswer]) -> String {
    let reason = answers.iter().find_map(|answer| match answer {
        CaseAnswer::Refused(why) => Some(why),
        _ => None,
    });
    let all = answers.iter().all(|answer| matches!(answer, CaseAnswer::Refused(_)));
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

/// Definitions by their places, each with how it fits.
type FitsAt = Vec<(usize, Fit)>;

/// Parts definitions into fitting definitions, with all the values, and the rest. Also returns the
/// decimals of rounded answers, if a definition fits rounded answers only.
fn sorted_out(
    suite: &Suite,
    asked: &[usize],
    answers: &[CaseAnswer],
) -> (Vec<Fit>, FitsAt, Option<usize>) {
    let among = |digits| -> (FitsAt, FitsAt) {
        let all = asked.iter().map(|&at| (at, fit(suite, at, answers, digits)));
        all.partition(|(_, fit)| fit.wrong.is_empty())
    };
    let (fits, others) = among(None);
    let rounded = decimals(answers).filter(|_| fits.is_empty());
    let (fits, others) = if rounded.is_some() { among(rounded) } else { (fits, others) };
    (fits.into_iter().map(|(_, fit)| fit).collect(), others, rounded)
}

/// Returns the decimals of the answers, if the answers may be rounded.
fn decimals(answers: &[CaseAnswer]) -> Option<usize> {
    let values = answers.iter().filter_map(|answer| match answer {
        CaseAnswer::Value(_, decimals) => Some(*decimals),
        _ => None,
    });
    let most = values.collect::<Option<Vec<usize>>>()?.into_iter().max();
    most.filter(|most| ROUNDED.contains(most))
}

/// Compares the answers with a definition.
fn fit(suite: &Suite, at: usize, answers: &[CaseAnswer], digits: Option<usize>) -> Fit {
    let mut fit = Fit {
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
                fit.wrong.push(WrongCase { case: case.id.clone(), found, expected, hint: None })
            }
        }
    }
    fit
}

/// Returns what an answer says of its case; `None` if it is refused.
fn value(answer: &CaseAnswer) -> Option<Option<f64>> {
    match answer {
        CaseAnswer::Value(value, _) => Some(Some(*value)),
        CaseAnswer::LeftOut => Some(None),
        CaseAnswer::Refused(_) => None,
    }
}

fn same(found: Option<f64>, expected: Option<f64>, digits: Option<usize>) -> Option<Tolerance> {
    match (found, expected) {
        (None, None) => Some(Tolerance::Bits),
        (Some(found), Some(expected)) => closeness(found, expected, digits),
        _ => None,
    }
}

/// Orders definitions by the number of agreeing cases. Among equals, definitions of a library come
/// first, and then the usual definitions.
fn rank(fit: &Fit) -> (usize, bool) {
    (fit.agree, !fit.definition.libraries.is_empty())
}

/// Finds a definition that has all the values after a change of one choice.
fn mistake(
    suite: &Suite,
    asked: &[usize],
    answers: &[CaseAnswer],
    digits: Option<usize>,
) -> Option<(usize, String)> {
    let has_all = |values: &[Option<f64>]| {
        let mut pairs =
            answers.iter().zip(values).filter_map(|(answer, known)| Some((value(answer)?, *known)));
        pairs.all(|(found, expected)| same(found, expected, digits).is_some())
    };
    let of_measure = suite.changes.iter().filter(|change| asked.contains(&change.of));
    let found = of_measure.filter(|change| has_all(&change.values));
    // Definitions of a library come before definitions of no library, and the usual definitions
    // come first.
    let best = found
        .min_by_key(|change| (suite.definitions[change.of].libraries.is_empty(), change.of))?;
    Some((best.of, best.says.clone()))
}

/// Compares the answers with a definition, and hints at the changed choice that explains each wrong
/// case.
fn hinted(suite: &Suite, of: usize, answers: &[CaseAnswer], digits: Option<usize>) -> Fit {
    let mut fit = fit(suite, of, answers, digits);
    let place = |name: &str| suite.cases.iter().position(|case| case.id == name);
    let wrong: Vec<Option<usize>> = fit.wrong.iter().map(|wrong| place(&wrong.case)).collect();
    let explains = |values: &[Option<f64>], at: usize| {
        value(&answers[at]).is_some_and(|found| same(found, values[at], digits).is_some())
    };
    let changes: Vec<_> = suite.changes.iter().filter(|change| change.of == of).collect();
    for (case, place) in fit.wrong.iter_mut().zip(&wrong) {
        let Some(at) = *place else { continue };
        // Among several choices, the best explains the most wrong cases, and then breaks the fewest
        // right cases.
        let best =
            changes.iter().filter(|change| explains(&change.values, at)).max_by_key(|change| {
                let right =
                    wrong.iter().flatten().filter(|&&at| explains(&change.values, at)).count();
                let broken = (0..answers.len()).filter(|at| !wrong.contains(&Some(*at)));
                let broken = broken
                    .filter(|&at| value(&answers[at]).is_some() && !explains(&change.values, at));
                (right, std::cmp::Reverse(broken.count()))
            });
        case.hint = best.map(|change| change.says.clone());
    }
    fit
}

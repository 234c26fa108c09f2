//! The answer of `laneval identify`: the definitions that fit a reported number, the verdict, and
//! advice on how to decide.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::chance::chance;
use super::classes::{DefinitionClass, DefinitionKey, Definitions};
use super::describe::{asked_options, changes, spelling};
use super::libraries::{LibraryMeasure, names};
use super::policy::no_relevant_value;
use super::printed::PrintRounding;
use super::questions::{Evidence, IdentifyRun, Question};
use super::sums::rounded;
use super::{Candidate, Identification, IdentifiedLibrary, IdentifyVerdict};
use crate::error::{Result, printable};
use crate::ids::Ids;

/// The most other classes expected to fit by chance, for the verdict `Found` and for the verdict
/// `Likely`.
const FOUND: f64 = 0.05;
const LIKELY: f64 = 0.5;
/// The fewest telling queries for the verdict `Found`: of a class with a library, and of a class
/// without.
const TELLING: u64 = 5;
const TELLING_ALONE: u64 = 20;
/// The most members of a class that are kept to describe the class.
const MOST_MEMBERS: usize = 5000;

/// A class of definitions with equal values, and its fit with the reported numbers.
struct FittedClass<'c> {
    class: &'c DefinitionClass,
    fits: Option<PrintRounding>,
    /// The number of told queries that agree.
    agree: u32,
    /// How far its means are off, added up in units of tolerances.
    off: f64,
    /// Whether a library has a member.
    known: bool,
}

impl FittedClass<'_> {
    /// Returns how unusual the way of printing is that makes the class fit, from 0; `None` without
    /// a fit.
    fn unusual(&self) -> Option<u8> {
        use PrintRounding::{Rounded, RoundedF32, Truncated};
        Some(match (self.fits?, self.class.unrounded) {
            (Rounded, true) => 0,
            (Rounded, false) => 1,
            (RoundedF32, true) => 2,
            (Truncated, true) => 3,
            (RoundedF32 | Truncated, false) => 4,
        })
    }

    /// Returns the sort key of a class of definitions, best fit first, without the errors of means.
    fn order_key(&self, has_values: bool) -> (bool, u32, bool, u32, usize) {
        let first = self.class.first;
        let missed = if has_values { u32::MAX - self.agree } else { 0 };
        (self.fits.is_none(), missed, !self.known, first.choices, first.spelling)
    }
}

/// Evaluates all definitions of a question, and returns those that fit with the verdict and advice.
///
/// # Errors
/// As [`Definitions::evaluate`].
pub(super) fn answer(
    question: &Question,
    run: &IdentifyRun,
    ids: &Ids,
    top: usize,
) -> Result<Identification> {
    let definitions = Definitions::evaluate(question, run)?;
    let (classes, tried) = definitions.classes();
    let has_values = question.has_values();
    let counted = run.constraints.reported_count();
    let mut libraries = Libraries::new(question);
    let fitted = ordered(&definitions, &classes, run, &mut libraries);
    let count = fitted.iter().filter(|fit| fit.fits.is_some()).count();
    let (verdict, expected) = verdict(question, &fitted, count, counted);
    let shown = count.min(top);
    let listed: Vec<&FittedClass<'_>> =
        fitted.iter().take(shown).chain(fitted.iter().skip(count).take(top)).collect();
    let digests: Vec<u128> = listed.iter().map(|fit| fit.class.digest).collect();
    let members = members(&definitions, &digests);
    let mut maker =
        CandidateBuilder { definitions: &definitions, run, ids, members: &members, libraries };
    let mut candidates = Vec::new();
    for (at, fit) in listed.iter().enumerate() {
        candidates.push(maker.candidate(fit, has_values && at >= shown)?);
    }
    let nearest = candidates.split_off(shown);
    // No class after the second agrees with more of the told values.
    if let (Some(first), Some(next), true) = (candidates.first_mut(), fitted.get(1), has_values) {
        first.telling = Some(u64::from(counted.saturating_sub(next.agree)));
    }
    let advice = maker.advice(verdict, &fitted[..count])?;
    Ok(Identification {
        verdict,
        chance: expected,
        definitions: tried,
        classes: classes.len() as u64,
        candidates,
        fitting: count as u64,
        nearest,
        advice,
        ..nothing_found()
    })
}

/// Returns all classes of definitions sorted by their fit with the reported numbers. Fitting
/// classes come first; next come more agreeing queries, classes of libraries, smaller errors of the
/// means (for classes that do not fit), and simpler classes.
fn ordered<'c>(
    definitions: &Definitions<'_>,
    classes: &'c [DefinitionClass],
    run: &IdentifyRun,
    libraries: &mut Libraries<'_>,
) -> Vec<FittedClass<'c>> {
    let question = definitions.question;
    let counted = run.constraints.reported_count();
    let queries = f64::from(run.parted.queries.len() as u32);
    let mut all: Vec<FittedClass<'_>> =
        classes.iter().map(|class| fitted(class, question, counted, queries)).collect();
    // Unusual ways of printing count only if no class fits the usual way. Definitions that round
    // per-query values count only if no other definition fits, because a mean of a few digits
    // cannot separate the two kinds.
    let best = all.iter().filter_map(FittedClass::unusual).min();
    for fit in all.iter_mut().filter(|fit| fit.unusual() != best) {
        fit.fits = None;
    }
    if !all.iter().any(|fit| fit.fits.is_some() && !fit.class.unrounded) {
        all.retain(|fit| fit.class.unrounded);
    }
    // Only the members of fitting classes are gathered, because all definitions together are many.
    let fitting = all.iter().filter(|fit| fit.fits.is_some()).map(|fit| fit.class.digest);
    let members = members(definitions, &fitting.collect::<Vec<_>>());
    for fit in &mut all {
        let members = members.get(&fit.class.digest).map_or(&[][..], Vec::as_slice);
        fit.known = members.iter().any(|member| libraries.any(member, definitions));
    }
    let has_values = question.has_values();
    all.sort_by(|one, other| {
        let (one_key, other_key) = (one.order_key(has_values), other.order_key(has_values));
        // Among classes that do not fit, the nearest class comes first; their libraries were not
        // looked up.
        let off = if one.fits.is_none() { one.off.total_cmp(&other.off) } else { Ordering::Equal };
        let front = (one_key.0, one_key.1, one_key.2).cmp(&(other_key.0, other_key.1, other_key.2));
        front
            .then(off)
            .then(one_key.cmp(&other_key))
            .then(one.class.digest.cmp(&other.class.digest))
    });
    all
}

/// Compares the means and values of a class of definitions with the reported numbers.
fn fitted<'c>(
    class: &'c DefinitionClass,
    question: &Question,
    counted: u32,
    queries: f64,
) -> FittedClass<'c> {
    let mut fits = Some(PrintRounding::Rounded);
    let (mut off, mut agree) = (0.0, 0);
    for (evidence, &mean) in question.evidence.iter().zip(&class.means) {
        let printed = match evidence {
            Evidence::Mean(number) => {
                off += (mean - number.value).abs() / number.tolerance();
                number.fits(mean, queries)
            }
            Evidence::Values => {
                agree = class.agree[0];
                match class.agree {
                    [all, _] if all == counted => Some(PrintRounding::Rounded),
                    [_, all] if all == counted => {
                        agree = all;
                        Some(PrintRounding::RoundedF32)
                    }
                    _ => None,
                }
            }
        };
        fits = fits.and_then(|fits| Some(fits.max(printed?)));
    }
    FittedClass { class, fits, agree, off, known: false }
}

/// Returns the verdict on the sorted classes, and the expected number of wrong classes that fit by
/// chance. The first `count` classes fit.
fn verdict(
    question: &Question,
    fitted: &[FittedClass<'_>],
    count: usize,
    counted: u32,
) -> (IdentifyVerdict, f64) {
    let others = fitted.get(1..).unwrap_or_default();
    let means = question.evidence.iter().enumerate().filter_map(|(at, evidence)| match evidence {
        Evidence::Mean(number) => {
            let off = others.iter().map(|fit| (fit.class.means[at] - number.value).abs());
            Some(chance(off.collect(), number.tolerance()))
        }
        Evidence::Values => None,
    });
    let expected = means.reduce(|one, other| one * other).unwrap_or(0.0);
    let telling = u64::from(counted - others.first().map_or(0, |next| next.agree.min(counted)));
    let known = fitted.first().is_some_and(|fit| fit.known);
    let verdict = match count {
        0 => IdentifyVerdict::None,
        // Values of single queries tell classes apart, whatever the chance of a mean.
        1 if question.has_values() => match telling {
            _ if telling >= TELLING_ALONE || known && telling >= TELLING => IdentifyVerdict::Found,
            1.. => IdentifyVerdict::Likely,
            _ => IdentifyVerdict::Undecided,
        },
        1 if expected <= FOUND && known => IdentifyVerdict::Found,
        1 if expected <= LIKELY => IdentifyVerdict::Likely,
        _ => IdentifyVerdict::Undecided,
    };
    (verdict, expected)
}

/// Returns the definitions in each class with one of these digests, the simplest first.
fn members(definitions: &Definitions<'_>, digests: &[u128]) -> HashMap<u128, Vec<DefinitionKey>> {
    let mut all: HashMap<u128, Vec<DefinitionKey>> =
        digests.iter().map(|&digest| (digest, Vec::new())).collect();
    if !all.is_empty() {
        definitions.each(|key, digest, _| {
            if let Some(members) =
                all.get_mut(&digest).filter(|members| members.len() < MOST_MEMBERS)
            {
                members.push(key);
            }
        });
    }
    // Stable: of equally simple members the earlier stays first.
    all.values_mut().for_each(|members| members.sort_by_key(|key| key.choices));
    all
}

/// The names of measures in other libraries, looked up once for each tried spelling.
struct Libraries<'q> {
    question: &'q Question,
    names: HashMap<usize, Vec<LibraryMeasure>>,
}

impl<'q> Libraries<'q> {
    fn new(question: &'q Question) -> Self {
        Self { question, names: HashMap::new() }
    }

    /// Returns the names that other libraries have for a definition's measure.
    fn names(&mut self, key: &DefinitionKey) -> &[LibraryMeasure] {
        let measure = &self.question.spellings[key.spelling].at[0];
        self.names.entry(key.spelling).or_insert_with(|| names(measure))
    }

    /// Returns whether any library computes a definition.
    fn any(&mut self, key: &DefinitionKey, definitions: &Definitions<'_>) -> bool {
        let settings = asked_options(key, definitions);
        self.names(key).iter().any(|name| name.has(&settings))
    }

    /// Returns the libraries that compute a definition of a class. If no library does, the
    /// libraries with the fewest differing options come instead.
    fn for_members(
        &mut self,
        members: &[DefinitionKey],
        definitions: &Definitions<'_>,
    ) -> Vec<IdentifiedLibrary> {
        let mut found: Vec<(usize, IdentifiedLibrary)> = Vec::new();
        for key in members {
            let settings = asked_options(key, definitions);
            for name in self.names(key) {
                let Some(changes) = name.changes(&settings) else { continue };
                let library = name.library(&changes);
                match found.iter_mut().find(|(_, candidate)| candidate.library == library.library) {
                    Some(known) if changes.len() < known.0 => *known = (changes.len(), library),
                    Some(_) => {}
                    None => found.push((changes.len(), library)),
                }
            }
        }
        let fewest = found.iter().map(|(changes, _)| *changes).min().unwrap_or(0);
        found
            .into_iter()
            .filter(|(changes, _)| *changes == fewest)
            .map(|(_, library)| library)
            .collect()
    }
}

/// The data from which candidates of `laneval identify` are described: definitions, run, query ids
/// and libraries.
struct CandidateBuilder<'a> {
    definitions: &'a Definitions<'a>,
    run: &'a IdentifyRun,
    ids: &'a Ids,
    members: &'a HashMap<u128, Vec<DefinitionKey>>,
    libraries: Libraries<'a>,
}

impl CandidateBuilder<'_> {
    /// Describes a class of definitions for the answer: measure, options, value and libraries. If
    /// `differs` is set, the description names queries whose told values differ from the values of
    /// the class.
    fn candidate(&mut self, fit: &FittedClass<'_>, differs: bool) -> Result<Candidate> {
        let members = self.members.get(&fit.class.digest).map_or(&[][..], Vec::as_slice);
        let (measure, options) = spelling(&fit.class.first, self.definitions);
        let libraries = self.libraries.for_members(members, self.definitions);
        Ok(Candidate {
            measure,
            options,
            value: fit.class.means.first().copied(),
            printed: fit.fits.unwrap_or(PrintRounding::Rounded),
            agree: self.definitions.question.has_values().then_some(fit.agree.into()),
            telling: None,
            members: fit.class.members,
            same_here: changes(members, self.definitions),
            libraries,
            differs: if differs { self.differs(&fit.class.first)? } else { String::new() },
        })
    }

    /// Returns the value of each query under a definition, with its policy and rounding applied.
    fn values(&self, key: &DefinitionKey) -> Result<Vec<Option<f64>>> {
        let measure = &self.definitions.question.spellings[key.spelling].at[0];
        let mut values = self.run.values(key.look, measure)?;
        let above = super::questions::relevant(measure, &self.run.book);
        let retrieved = key.look.relevant_from.is_retrieved();
        let chooses = (measure.definition().traits.nothing_relevant)(measure) == Some(0.0);
        for (value, found) in values.iter_mut().zip(&self.run.parted.queries) {
            if !found.present && key.policy.only_present {
                *value = None;
                continue;
            }
            *value = Some(rounded(value.unwrap_or(0.0), key.policy.rounding));
            if chooses && found.has_nothing(above, retrieved) {
                *value = no_relevant_value(key.policy.nothing);
            }
        }
        Ok(values)
    }

    /// Describes in words the queries whose values under a definition differ from the reported
    /// values, by a common property.
    fn differs(&self, key: &DefinitionKey) -> Result<String> {
        let values = self.values(key)?;
        let rank = self.definitions.question.spellings[key.spelling].at[0].rank();
        let queries = &self.run.parted.queries;
        let constraints = &self.run.constraints;
        let all: Vec<usize> = (0..values.len()).filter(|&at| constraints.is_reported(at)).collect();
        let (agree, off): (Vec<usize>, Vec<usize>) =
            all.iter().partition(|&&at| constraints.agrees(at, values[at]));
        if off.is_empty() || agree.is_empty() {
            return Ok(String::new());
        }
        let relevant = self.run.book.at_least(1.0);
        let kinds: [(&str, &dyn Fn(usize) -> bool); 4] = [
            ("that the run lacks", &|at| !queries[at].present),
            ("for which nothing is relevant", &|at| queries[at].has_nothing(relevant, false)),
            ("with equal scores", &|at| queries[at].tied),
            ("with fewer results than the cutoff", &|at| {
                rank.is_some_and(|rank| queries[at].depth < rank)
            }),
        ];
        // A property of all told queries would explain nothing.
        let common = kinds
            .iter()
            .find(|(_, is)| off.iter().all(|&at| is(at)) && !all.iter().all(|&at| is(at)));
        let id = printable(self.ids.get(off[0]));
        Ok(match common {
            Some((kind, _)) => format!("only queries {kind}, such as {id}"),
            None => format!("queries such as {id}"),
        })
    }

    /// Returns advice on how to decide between fitting classes of definitions, or how to make the
    /// answer surer. `fitting` holds the fitting classes.
    fn advice(&self, verdict: IdentifyVerdict, fitting: &[FittedClass<'_>]) -> Result<String> {
        let has_values = self.definitions.question.has_values();
        Ok(match (verdict, fitting) {
            (IdentifyVerdict::Found, _) => String::new(),
            (IdentifyVerdict::None, _) if has_values => {
                let counted = self.run.constraints.reported_count();
                format!("of {counted} queries none of the definitions has all values")
            }
            (IdentifyVerdict::None, _) => {
                "is it of this run and these judgments? Or of a definition that no list has"
                    .to_owned()
            }
            (_, [one, other, ..]) => self.deciding_query(&one.class.first, &other.class.first)?,
            _ if has_values => "values with more digits, or of more queries".to_owned(),
            _ => "values of queries (--query-values)".to_owned(),
        })
    }

    /// Names the query whose values differ most under two definitions, with both values, in words.
    fn deciding_query(&self, one: &DefinitionKey, other: &DefinitionKey) -> Result<String> {
        let values: Vec<_> = self.values(one)?.into_iter().zip(self.values(other)?).collect();
        // A missing value differs as far from a value as two shares can.
        let apart = values.iter().map(|pair| match pair {
            (Some(one), Some(other)) => (one - other).abs(),
            (None, None) => 0.0,
            _ => 1.0,
        });
        let apart: Vec<f64> = apart.collect();
        // `max_by` takes the last of several equals, and the first query is to be named.
        let most = (0..apart.len()).rev().max_by(|&a, &b| apart[a].total_cmp(&apart[b]));
        Ok(most.map_or(String::new(), |at| {
            let id = printable(self.ids.get(at));
            let [one, other] = <[_; 2]>::from(values[at])
                .map(|value| value.map_or("no value".to_owned(), |value| format!("{value:.6}")));
            format!("the value of query {id} decides between the first two: {one} or {other}")
        }))
    }
}

/// Merges the answers to several questions into one, with the verdict that is least sure.
pub(super) fn combine(answers: Vec<Identification>) -> Identification {
    let mut all = nothing_found();
    for one in answers {
        // Verdicts are declared from the surest to the least sure.
        if one.verdict as u8 >= all.verdict as u8 {
            all.verdict = one.verdict;
            all.advice = one.advice;
        }
        all.chance = all.chance.max(one.chance);
        all.definitions += one.definitions;
        all.classes += one.classes;
        all.fitting += one.fitting;
        all.candidates.extend(one.candidates);
        all.nearest.extend(one.nearest);
    }
    all
}

/// Returns an answer of `laneval identify` without candidates, to be filled.
fn nothing_found() -> Identification {
    Identification {
        verdict: IdentifyVerdict::Found,
        chance: 0.0,
        definitions: 0,
        classes: 0,
        numbers: Vec::new(),
        compared_queries: None,
        candidates: Vec::new(),
        fitting: 0,
        nearest: Vec::new(),
        advice: String::new(),
        notes: Vec::new(),
    }
}

//! The answer to a question: the classes that fit, the certainty of the verdict, and advice on how
//! to decide between classes.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::chance::chance;
use super::classes::{ClassOfDefinitions, DefinitionAt, Definitions};
use super::described::{asked_options, changes, spelled};
use super::libraries::{NamedInLibrary, names};
use super::policy::{nothing_value, nothing_word};
use super::printed::PrintedAs;
use super::questions::{AskedRun, Evidence, Question};
use super::sums::{ToldOfQuery, rounded};
use super::{Candidate, Identified, IdentifiedLibrary, IdentifyVerdict};
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

/// A class with how well it fits.
struct FittedClass<'c> {
    class: &'c ClassOfDefinitions,
    fits: Option<PrintedAs>,
    /// The number of told queries that agree.
    agree: u32,
    /// How far its means are off, added up in units of tolerances.
    off: f64,
    /// Whether a library has a member.
    known: bool,
}

impl FittedClass<'_> {
    /// Returns how unusual the fitting way of printing is; 0 is the usual way.
    fn unusual(&self) -> Option<u8> {
        Some(match (self.fits?, self.class.unrounded) {
            (PrintedAs::Rounded, true) => 0,
            (PrintedAs::Rounded, false) => 1,
            (PrintedAs::Single, true) => 2,
            (PrintedAs::Cut, true) => 3,
            (PrintedAs::Single | PrintedAs::Cut, false) => 4,
        })
    }
}

/// Answers a question.
///
/// # Errors
/// As [`Definitions::of`].
pub(super) fn answer(
    question: &Question,
    run: &AskedRun,
    ids: &Ids,
    top: usize,
) -> Result<Identified> {
    let definitions = Definitions::of(question, run)?;
    let (classes, tried) = definitions.classes();
    let told = question.evidence.contains(&Evidence::Values);
    let counted =
        run.asked.told.iter().filter(|told| **told != ToldOfQuery::Nothing).count() as u32;
    let mut libraries = Libraries::of(question);
    let fitted = ordered(&definitions, &classes, (run, counted), &mut libraries);
    let count = fitted.iter().filter(|of| of.fits.is_some()).count();
    let (verdict, expected) = verdict(question, &fitted, count, (told, counted));
    let shown = count.min(top);
    let listed: Vec<&FittedClass<'_>> =
        fitted.iter().take(shown).chain(fitted.iter().skip(count).take(top)).collect();
    let digests: Vec<u128> = listed.iter().map(|of| of.class.digest).collect();
    let members = members(&definitions, &digests);
    let mut maker = CandidateMaker {
        definitions: &definitions,
        run,
        ids,
        told,
        counted,
        members: &members,
        libraries,
    };
    let mut candidates = Vec::new();
    for (at, of) in listed.iter().enumerate() {
        candidates.push(maker.candidate(of, told && at >= shown)?);
    }
    let nearest = candidates.split_off(shown);
    if let (Some(first), Some(next), true) = (candidates.first_mut(), fitted.get(1), told) {
        first.telling = Some(u64::from(counted.saturating_sub(next.agree)));
    }
    let advice = maker.advice(verdict, &fitted[..count])?;
    Ok(Identified {
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

/// Sorts all classes. Fitting classes come first; next come more agreeing queries, classes of
/// libraries, smaller errors of the means (for classes that do not fit), and simpler classes.
fn ordered<'c>(
    definitions: &Definitions<'_>,
    classes: &'c [ClassOfDefinitions],
    (run, counted): (&AskedRun, u32),
    libraries: &mut Libraries<'_>,
) -> Vec<FittedClass<'c>> {
    let question = definitions.question;
    let queries = f64::from(run.parted.queries.len() as u32);
    let mut all: Vec<FittedClass<'_>> =
        classes.iter().map(|class| fitted(class, question, counted, queries)).collect();
    // Unusual ways of printing count only if no class fits the usual way. Definitions that round
    // per-query values count only if no other definition fits, because a mean of a few digits
    // cannot separate the two kinds.
    let best = all.iter().filter_map(FittedClass::unusual).min();
    for of in all.iter_mut().filter(|of| of.unusual() != best) {
        of.fits = None;
    }
    if !all.iter().any(|of| of.fits.is_some() && !of.class.unrounded) {
        all.retain(|of| of.class.unrounded);
    }
    let fitting = all.iter().filter(|of| of.fits.is_some()).map(|of| of.class.digest);
    let members = members(definitions, &fitting.collect::<Vec<_>>());
    for of in &mut all {
        let members = members.get(&of.class.digest).map_or(&[][..], Vec::as_slice);
        of.known = members.iter().any(|member| libraries.any(member, definitions));
    }
    let told = question.evidence.contains(&Evidence::Values);
    let key = |of: &FittedClass<'_>| {
        let first = of.class.first;
        (
            of.fits.is_none(),
            if told { u32::MAX - of.agree } else { 0 },
            !of.known,
            first.choices,
            first.spelling,
        )
    };
    all.sort_by(|one, other| {
        let (one_key, other_key) = (key(one), key(other));
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

/// Returns how well a class fits.
fn fitted<'c>(
    class: &'c ClassOfDefinitions,
    question: &Question,
    counted: u32,
    queries: f64,
) -> FittedClass<'c> {
    let mut fits = Some(PrintedAs::Rounded);
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
                    [all, _] if all == counted => Some(PrintedAs::Rounded),
                    [_, all] if all == counted => {
                        agree = all;
                        Some(PrintedAs::Single)
                    }
                    _ => None,
                }
            }
        };
        fits = fits.and_then(|fits| Some(fits.max(printed?)));
    }
    FittedClass { class, fits, agree, off, known: false }
}

/// Returns the verdict, and the expected number of wrong classes that fit by chance. The first
/// `count` classes fit.
fn verdict(
    question: &Question,
    fitted: &[FittedClass<'_>],
    count: usize,
    (told, counted): (bool, u32),
) -> (IdentifyVerdict, f64) {
    let others = fitted.get(1..).unwrap_or_default();
    let lambda = |(at, evidence): (usize, &Evidence)| match evidence {
        Evidence::Mean(number) => {
            let off = others.iter().map(|of| (of.class.means[at] - number.value).abs()).collect();
            Some(chance(off, number.tolerance()))
        }
        Evidence::Values => None,
    };
    let means =
        question.evidence.iter().enumerate().filter_map(lambda).reduce(|one, other| one * other);
    let expected = means.unwrap_or(0.0);
    let telling = u64::from(counted - others.first().map_or(0, |next| next.agree.min(counted)));
    let known = fitted.first().is_some_and(|of| of.known);
    let verdict = match count {
        0 => IdentifyVerdict::None,
        1 if told => match telling {
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

/// The members of some classes, the simplest first.
fn members(definitions: &Definitions<'_>, digests: &[u128]) -> HashMap<u128, Vec<DefinitionAt>> {
    let mut all: HashMap<u128, Vec<DefinitionAt>> =
        digests.iter().map(|&digest| (digest, Vec::new())).collect();
    if !all.is_empty() {
        definitions.each(|of, digest, _| {
            if let Some(members) =
                all.get_mut(&digest).filter(|members| members.len() < MOST_MEMBERS)
            {
                members.push(of);
            }
        });
    }
    // Stable: of equally simple members the earlier stays first.
    all.values_mut().for_each(|members| members.sort_by_key(|of| of.choices));
    all
}

/// The names of each spelling in libraries, looked up once.
struct Libraries<'q> {
    question: &'q Question,
    names: HashMap<usize, Vec<NamedInLibrary>>,
}

impl<'q> Libraries<'q> {
    fn of(question: &'q Question) -> Self {
        Libraries { question, names: HashMap::new() }
    }

    /// The names that libraries have for the measure of a definition.
    fn names(&mut self, of: &DefinitionAt) -> &[NamedInLibrary] {
        let measure = &self.question.spellings[of.spelling].at[0];
        self.names.entry(of.spelling).or_insert_with(|| names(measure))
    }

    /// Whether a library has a definition.
    fn any(&mut self, of: &DefinitionAt, definitions: &Definitions<'_>) -> bool {
        let (asked, nothing) = (asked_options(of, definitions), nothing_word(of.policy.nothing));
        self.names(of).iter().any(|name| name.has(&asked, nothing))
    }

    /// Returns the libraries that compute a member of a class. If no library does, the libraries
    /// with the fewest differing options come instead.
    fn of_members(
        &mut self,
        members: &[DefinitionAt],
        definitions: &Definitions<'_>,
    ) -> Vec<IdentifiedLibrary> {
        let mut found: Vec<(usize, IdentifiedLibrary)> = Vec::new();
        for of in members {
            let (asked, nothing) =
                (asked_options(of, definitions), nothing_word(of.policy.nothing));
            for name in self.names(of) {
                let Some(changes) = name.changes(&asked, nothing) else { continue };
                let library = name.library(&changes);
                match found.iter_mut().find(|(_, of)| of.library == library.library) {
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

/// The context for the description of candidates.
struct CandidateMaker<'a> {
    definitions: &'a Definitions<'a>,
    run: &'a AskedRun,
    ids: &'a Ids,
    told: bool,
    counted: u32,
    members: &'a HashMap<u128, Vec<DefinitionAt>>,
    libraries: Libraries<'a>,
}

impl CandidateMaker<'_> {
    /// Describes a class. If `differs` is set, the description names queries whose told values
    /// differ from the values of the class.
    fn candidate(&mut self, of: &FittedClass<'_>, differs: bool) -> Result<Candidate> {
        let members = self.members.get(&of.class.digest).map_or(&[][..], Vec::as_slice);
        let (measure, options) = spelled(&of.class.first, self.definitions, 0);
        let libraries = self.libraries.of_members(members, self.definitions);
        Ok(Candidate {
            measure,
            options,
            value: of.class.means.first().copied(),
            printed: of.fits.unwrap_or(PrintedAs::Rounded),
            agree: self.told.then_some(u64::from(of.agree)),
            telling: None,
            members: of.class.members,
            same_here: changes(members, self.definitions),
            libraries,
            differs: if differs { self.differs(&of.class.first)? } else { String::new() },
        })
    }

    /// The value of each query under a definition, by query of the matrix.
    fn values(&self, of: &DefinitionAt) -> Result<Vec<Option<f64>>> {
        let measure = &self.definitions.question.spellings[of.spelling].at[0];
        let mut values = self.run.values(of.look, measure)?;
        let above = super::questions::relevant(measure, &self.run.book);
        let retrieved = of.look.known == crate::scores::Known::Retrieved;
        let chooses = (measure.definition().traits.nothing_relevant)(measure) == Some(0.0);
        for (value, found) in values.iter_mut().zip(&self.run.parted.queries) {
            if !found.present && of.policy.only_present {
                *value = None;
                continue;
            }
            *value = Some(rounded(value.unwrap_or(0.0), of.policy.rounding));
            if chooses && found.has_nothing(above, retrieved) {
                *value = nothing_value(of.policy.nothing);
            }
        }
        Ok(values)
    }

    /// Describes the queries on which the values of a definition differ from the told values, by a
    /// common property.
    fn differs(&self, of: &DefinitionAt) -> Result<String> {
        let values = self.values(of)?;
        let rank = self.definitions.question.spellings[of.spelling].at[0].rank();
        let queries = &self.run.parted.queries;
        let counts = |at: &usize| {
            self.run.asked.told.get(*at).is_some_and(|told| *told != ToldOfQuery::Nothing)
        };
        let all: Vec<usize> = (0..values.len()).filter(counts).collect();
        let (agree, off): (Vec<usize>, Vec<usize>) =
            all.iter().partition(|&&at| self.run.asked.agrees(at, values[at]));
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
        let common = kinds
            .iter()
            .find(|(_, is)| off.iter().all(|&at| is(at)) && !all.iter().all(|&at| is(at)));
        let id = printable(self.ids.get(off[0]));
        Ok(match common {
            Some((kind, _)) => format!("only queries {kind}, such as {id}"),
            None => format!("queries such as {id}"),
        })
    }

    /// Returns advice on how to decide between classes, or how to make the answer surer. `fitting`
    /// holds the fitting classes.
    fn advice(&self, verdict: IdentifyVerdict, fitting: &[FittedClass<'_>]) -> Result<String> {
        let scores = "values of queries (--scores)";
        Ok(match (verdict, fitting) {
            (IdentifyVerdict::Found, _) => String::new(),
            (IdentifyVerdict::None, _) => {
                if self.told {
                    format!("of {} queries none of the definitions has all values", self.counted)
                } else {
                    "is it of this run and these judgments? Or of a definition that no list has"
                        .to_owned()
                }
            }
            (_, [one, other, ..]) => {
                let values = [&one.class.first, &other.class.first].map(|of| self.values(of));
                let [one, other] = values;
                let (one, other) = (one?, other?);
                let apart = |at: &usize| match (one[*at], other[*at]) {
                    (Some(one), Some(other)) => (one - other).abs(),
                    (None, None) => 0.0,
                    _ => 1.0,
                };
                let most =
                    (0..one.len()).max_by(|a, b| apart(a).total_cmp(&apart(b)).then(b.cmp(a)));
                let shown = |value: Option<f64>| {
                    value.map_or("no value".to_owned(), |value| format!("{value:.6}"))
                };
                most.map_or(String::new(), |at| {
                    let id = printable(self.ids.get(at));
                    format!(
                        "the value of query {id} decides between the first two: {} or {}",
                        shown(one[at]),
                        shown(other[at])
                    )
                })
            }
            _ if self.told => "values with more digits, or of more queries".to_owned(),
            _ => scores.to_owned(),
        })
    }
}

/// The answers to several questions as one: candidates of each in turn, and the verdict that is
/// least sure.
pub(super) fn combined(answers: Vec<Identified>) -> Identified {
    let mut all = nothing_found();
    for one in answers {
        let surer = (one.verdict as u8) < all.verdict as u8;
        if !surer {
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

/// An empty answer.
fn nothing_found() -> Identified {
    Identified {
        verdict: IdentifyVerdict::Found,
        chance: 0.0,
        definitions: 0,
        classes: 0,
        numbers: Vec::new(),
        told: None,
        candidates: Vec::new(),
        fitting: 0,
        nearest: Vec::new(),
        advice: String::new(),
        notes: Vec::new(),
    }
}

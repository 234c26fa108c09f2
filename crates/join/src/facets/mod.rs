//! Values of rankings over judgments by facet: by subtopics, as preferences, of several judges, and
//! of passages.

pub mod agreement;
pub mod passages;
pub mod preferences;
pub mod subtopics;

use rayon::prelude::*;

use crate::judged_by::JudgedBy;
use crate::matrix::{Facets, QueryFacets};
use passages::PassageValue;
use preferences::{PreferenceFault, PreferenceLine, Preferences};
use subtopics::{AtCutoff, Setting, SubtopicQuery, Subtopics, WholeRanking};

/// A value of a ranking over judgments by facet.
#[derive(Debug, Clone, Copy)]
pub enum FacetValue {
    /// A value over subtopics.
    Subtopic(SubtopicSetting, SubtopicValue),
    /// A value over preferences.
    Preference(preferences::PreferenceCount),
    /// The values of a measure for each judge of the query.
    Judges(Judges),
    /// A value of passages.
    Passages(PassageValue),
}

/// How the values for several judges become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// The mean over the judges of the query.
    Mean,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
}

impl Judges {
    /// The value of some values, in the order of the judges; 0 of none.
    pub fn of(self, values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = values.len();
        match self {
            _ if count == 0 => 0.0,
            Judges::Mean => values.fold(0.0, |sum, value| sum + value) / count as f64,
            Judges::Min => values.fold(f64::INFINITY, f64::min),
            Judges::Max => values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The parameters of a value over subtopics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubtopicSetting {
    /// The lowest grade that is relevant to a subtopic.
    pub rel: f64,
    /// The share of a subtopic's gain that each document with the subtopic takes away.
    pub alpha: f64,
    /// The chance to go on to the next rank.
    pub beta: f64,
    /// Whether values at rank 1 are not divided by their bound.
    pub raw_first: bool,
}

/// Which value over subtopics, and its cutoff.
#[derive(Debug, Clone, Copy)]
pub enum SubtopicValue {
    /// One at a cutoff.
    At(u32, fn(&AtCutoff) -> f64),
    /// One of the whole ranking.
    Whole(fn(&WholeRanking) -> f64),
}

impl FacetValue {
    /// The judgments that it needs.
    pub fn needs(&self) -> JudgedBy {
        match self {
            FacetValue::Subtopic(..) => JudgedBy::Subtopic,
            FacetValue::Preference(_) => JudgedBy::Preference,
            FacetValue::Judges(_) => JudgedBy::Judge,
            FacetValue::Passages(_) => JudgedBy::Span,
        }
    }
}

/// Values over judgments by facet, prepared for rankings of some queries.
#[derive(Debug)]
pub struct FacetWalks {
    /// The values over subtopics, by setting.
    settings: Vec<OfSetting>,
    /// The preferences of each query, and the values over them with the places where they go.
    preferences: Vec<Preferences>,
    preferred: Vec<(usize, preferences::PreferenceCount)>,
}

/// The values over subtopics that have a setting in common.
#[derive(Debug)]
struct OfSetting {
    setting: Setting,
    /// The relevant subtopics of the documents of each query, and what its rankings are divided by.
    queries: Vec<(Relevant, SubtopicQuery)>,
    /// The values, each with the place where it goes and, for one at a cutoff, the index of the
    /// cutoff.
    values: Vec<(usize, usize, SubtopicValue)>,
}

/// The relevant subtopics of the documents of one query.
#[derive(Debug, Default)]
struct Relevant {
    ends: Vec<u32>,
    subtopics: Vec<u32>,
    count: u32,
}

/// Numbers of the groups of one query, from 0, with its relevant judgments.
struct FacetNumbers {
    of_group: Vec<u32>,
    met: Vec<u32>,
    /// The document and the group of each relevant judgment of the query.
    relevant: Vec<(u32, u32)>,
}

const NOT_MET: u32 = u32::MAX;

impl FacetNumbers {
    fn new(groups: usize) -> Self {
        FacetNumbers { of_group: vec![NOT_MET; groups], met: Vec::new(), relevant: Vec::new() }
    }
}

impl Relevant {
    /// Takes the judgments of a query of at least the grade `rel`, and numbers its subtopics from
    /// 0.
    fn of(query: QueryFacets<'_>, rel: f64, numbers: &mut FacetNumbers) -> Self {
        let FacetNumbers { of_group, met, relevant } = numbers;
        // Without a branch on the grade, which would be guessed wrong where relevant judgments are
        // few and anywhere.
        relevant.clear();
        relevant.resize(query.judgments.len(), (0, 0));
        let mut count = 0;
        for of in query.judgments {
            relevant[count] = (of.document, of.group);
            count += usize::from(of.grade >= rel);
        }
        let relevant = &relevant[..count];
        for &(_, group) in relevant {
            let number = &mut of_group[group as usize];
            if *number == NOT_MET {
                *number = 0;
                met.push(group);
            }
        }
        met.sort_unstable();
        (0..).zip(&*met).for_each(|(number, &group)| of_group[group as usize] = number);
        let mut found = Relevant { count: met.len() as u32, ..Relevant::default() };
        found.ends.reserve(query.documents as usize + 1);
        found.ends.push(0);
        found.subtopics.reserve(count);
        for &(document, group) in relevant {
            // A document without relevant subtopics has the end of the document before.
            while found.ends.len() <= document as usize {
                found.ends.push(found.subtopics.len() as u32);
            }
            found.subtopics.push(of_group[group as usize]);
        }
        while found.ends.len() <= query.documents as usize {
            found.ends.push(found.subtopics.len() as u32);
        }
        met.drain(..).for_each(|group| of_group[group as usize] = NOT_MET);
        found
    }

    fn view(&self) -> Option<Subtopics<'_>> {
        Subtopics::new(&self.ends, &self.subtopics, self.count)
    }
}

/// Memory that is used again from ranking to ranking.
#[derive(Debug, Default)]
pub struct FacetScratch {
    subtopics: subtopics::SubtopicScratch,
    at: Vec<AtCutoff>,
    numbers: Vec<u32>,
}

impl FacetWalks {
    /// Prepares values, each with the place where it goes, for rankings of all queries of some
    /// judgments.
    ///
    /// # Errors
    /// Preferences that go round in a circle, or contradict one another, with the number of their
    /// query.
    pub fn new<'v>(
        grouped: &Facets,
        values: impl Iterator<Item = (usize, &'v FacetValue)>,
    ) -> Result<Self, (usize, PreferenceFault)> {
        let queries = grouped.judgments.len();
        let mut settings: Vec<(SubtopicSetting, Vec<(usize, SubtopicValue)>)> = Vec::new();
        let mut preferred = Vec::new();
        for (place, value) in values {
            match *value {
                FacetValue::Subtopic(of, value) => {
                    match settings.iter_mut().find(|(known, _)| *known == of) {
                        Some((_, values)) => values.push((place, value)),
                        None => settings.push((of, vec![(place, value)])),
                    }
                }
                FacetValue::Preference(measure) => preferred.push((place, measure)),
                // Values over judges take the functions of measures, which are not known here.
                FacetValue::Judges(_) => {}
                // Values of passages come from rankings of passages, which have no facets.
                FacetValue::Passages(_) => {}
            }
        }
        let lines = |query: usize| {
            grouped.of(query).with_subgroups().map(PreferenceLine::from).collect::<Vec<_>>()
        };
        let of_query = |query: usize| {
            let made = Preferences::new(&lines(query), grouped.of(query).documents);
            made.map_err(|fault| (query, fault))
        };
        let prepared: Vec<_> = if preferred.is_empty() {
            Vec::new()
        } else {
            (0..queries).into_par_iter().map(of_query).collect()
        };
        // The first query at fault is told, whichever thread is done first.
        let preferences = prepared.into_iter().collect::<Result<_, _>>()?;
        let settings = settings.into_iter().map(|(of, values)| OfSetting::new(grouped, of, values));
        Ok(FacetWalks { settings: settings.collect(), preferences, preferred })
    }

    /// Computes the values of a ranking of a query, and passes each with its place to `out`.
    /// `retrieved` are the ranks (from 0) of the named documents with their numbers.
    pub fn values(
        &self,
        query: usize,
        retrieved: &[(u32, u32)],
        scratch: &mut FacetScratch,
        mut out: impl FnMut(usize, f64),
    ) {
        let FacetScratch { subtopics, at, numbers } = scratch;
        for OfSetting { setting, queries, values } in &self.settings {
            let (relevant, of_query) = &queries[query];
            let Some(view) = relevant.view() else { continue };
            let whole = of_query.values((view, setting), retrieved, subtopics, at);
            for &(place, cutoff, value) in values {
                out(
                    place,
                    match value {
                        SubtopicValue::At(_, of) => of(&at[cutoff]),
                        SubtopicValue::Whole(of) => of(&whole),
                    },
                );
            }
        }
        if self.preferred.is_empty() {
            return;
        }
        numbers.clear();
        numbers.extend(retrieved.iter().map(|&(_, number)| number));
        let met = self.preferences[query].met(numbers);
        self.preferred.iter().for_each(|&(place, measure)| out(place, met.value(measure)));
    }
}

impl OfSetting {
    fn new(grouped: &Facets, of: SubtopicSetting, values: Vec<(usize, SubtopicValue)>) -> Self {
        let cutoff = |&(_, value): &(usize, SubtopicValue)| match value {
            SubtopicValue::At(rank, _) => Some(rank),
            SubtopicValue::Whole(_) => None,
        };
        let mut cutoffs: Vec<u32> = values.iter().filter_map(cutoff).collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        let setting = Setting::new(of.alpha, of.beta, &cutoffs).unwrap_or_default();
        let setting = if of.raw_first { setting.with_raw_first() } else { setting };
        let prepare = |(scratch, numbers): &mut (subtopics::SubtopicScratch, FacetNumbers),
                       query: usize| {
            let relevant = Relevant::of(grouped.of(query), of.rel, numbers);
            let of_query = relevant
                .view()
                .map(|view| SubtopicQuery::new(view, &setting, scratch))
                .unwrap_or_default();
            (relevant, of_query)
        };
        let all = 0..grouped.judgments.len();
        let scratch =
            || (subtopics::SubtopicScratch::default(), FacetNumbers::new(grouped.names.len()));
        let queries = all.into_par_iter().map_init(scratch, prepare).collect();
        let index = |rank: u32| cutoffs.partition_point(|&cutoff| cutoff < rank);
        let values = values.into_iter().map(|(place, value)| match value {
            SubtopicValue::At(rank, _) => (place, index(rank), value),
            SubtopicValue::Whole(_) => (place, 0, value),
        });
        OfSetting { values: values.collect(), setting, queries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Ids;
    use crate::matrix::{FacetJudgment, Ragged};

    #[test]
    fn the_query_of_contradicting_preferences_is_told() {
        let mut judgments = Ragged::default();
        let levels = |levels: [f64; 4]| {
            let of = |(at, grade): (usize, f64)| FacetJudgment {
                document: at as u32 / 2,
                group: 0,
                grade,
            };
            levels.into_iter().enumerate().map(of).collect::<Vec<_>>()
        };
        // Documents a and b in two sub-groups, which agree for the first query alone.
        judgments.push(&levels([2.0, 2.0, 1.0, 1.0]));
        judgments.push(&levels([2.0, 1.0, 1.0, 2.0]));
        let subgroups = [0, 1].repeat(4);
        let facets =
            Facets::new(JudgedBy::Preference, Ids::default(), (judgments, subgroups), [2, 2]);
        let value = FacetValue::Preference(preferences::PreferenceCount::Simple);
        let fault = FacetWalks::new(&facets, [(0, &value)].into_iter()).unwrap_err();
        assert!(matches!(fault, (1, PreferenceFault::Cycle { .. })), "{fault:?}");
    }
}

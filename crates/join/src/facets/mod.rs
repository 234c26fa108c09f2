//! Values of rankings over judgments by facet: by subtopics, as preferences, of several judges, and
//! of passages.

pub mod agreement;
pub mod passages;
pub mod preferences;
pub mod subtopics;

use rayon::prelude::*;

use crate::judged_by::FacetKind;
use crate::matrix::{Facets, QueryFacets};
use passages::PassageValue;
use preferences::{PreferenceCount, PreferenceFault, PreferenceLine, Preferences};
use subtopics::{
    AtCutoff, DiversityTables, SubtopicQuery, SubtopicScratch, Subtopics, WholeRanking,
};

/// A value to compute of a ranking over judgments by facet: subtopics, preferences, several judges,
/// or passages.
#[derive(Debug, Clone, Copy)]
pub enum FacetValue {
    /// A value over subtopics.
    Subtopic(DiversityParams, SubtopicValue),
    /// A value over preferences.
    Preference(PreferenceCount),
    /// The values of a measure for each judge of the query.
    Judges(Judges),
    /// A value of passages.
    Passages(PassageValue),
}

/// The way in which the values of a ranking for several judges become one: mean, smallest or
/// largest.
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
    /// Combines the values of a ranking for several judges, in the order of the judges, into one; 0
    /// of none.
    pub fn aggregate(self, values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = values.len();
        match self {
            _ if count == 0 => 0.0,
            Self::Mean => values.fold(0.0, |sum, value| sum + value) / count as f64,
            Self::Min => values.fold(f64::INFINITY, f64::min),
            Self::Max => values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The parameters of a diversity measure over subtopics: the lowest relevant grade, alpha, beta,
/// and the rule at rank 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiversityParams {
    /// The lowest grade that is relevant to a subtopic.
    pub rel: f64,
    /// The share of a subtopic's gain that each document with the subtopic takes away.
    pub alpha: f64,
    /// The chance to go on to the next rank.
    pub beta: f64,
    /// Whether values at rank 1 are not divided by their bound.
    pub raw_first: bool,
}

/// A diversity value of a ranking over subtopics, at a cutoff or of the whole ranking.
#[derive(Debug, Clone, Copy)]
pub enum SubtopicValue {
    /// One at a cutoff.
    At(u32, fn(&AtCutoff) -> f64),
    /// One of the whole ranking.
    Whole(fn(&WholeRanking) -> f64),
}

impl FacetValue {
    /// Returns the kind of judgments by facet that a value needs: by judge, subtopic, preference or
    /// span.
    pub fn needs(&self) -> FacetKind {
        match self {
            Self::Subtopic(..) => FacetKind::Subtopic,
            Self::Preference(_) => FacetKind::Preference,
            Self::Judges(_) => FacetKind::Judge,
            Self::Passages(_) => FacetKind::Span,
        }
    }
}

/// An evaluator of values over subtopics and preferences, prepared for rankings of all queries of
/// some judgments.
#[derive(Debug)]
pub struct FacetEvaluator {
    /// The values over subtopics, by setting.
    settings: Vec<DiversityGroup>,
    /// The preferences of each query, and the values over them with the places where they go.
    preferences: Vec<Preferences>,
    preferred: Vec<(usize, PreferenceCount)>,
}

/// The diversity values over subtopics that have their parameters in common, prepared for each
/// query.
#[derive(Debug)]
struct DiversityGroup {
    setting: DiversityTables,
    /// The relevant subtopics of each query, and what its rankings are divided by.
    queries: Vec<SubtopicQuery>,
    /// The values, each with the place where it goes and, for one at a cutoff, the index of the
    /// cutoff.
    values: Vec<(usize, usize, SubtopicValue)>,
}

/// New numbers, from 0, of the groups (judges, subtopics or preference groups) of one query.
#[derive(Default)]
pub(crate) struct GroupNumbers {
    /// The groups of the query, in the order of their new numbers.
    pub groups: Vec<u32>,
    /// The new number of each group; [`NOT_MET`] if the query does not have it.
    pub numbers: Vec<u32>,
}

/// The number of a group that the query does not have.
const NOT_MET: u32 = u32::MAX;

impl GroupNumbers {
    /// Numbers the groups `found` in a query, of `known` groups, in the order of their keys.
    pub fn find<K: Ord>(
        &mut self,
        known: usize,
        found: impl Iterator<Item = u32>,
        key: impl Fn(u32) -> K,
    ) {
        let Self { groups, numbers } = self;
        // Only the groups of the query before are cleared: all queries together may have many more.
        groups.drain(..).for_each(|group| numbers[group as usize] = NOT_MET);
        numbers.resize(known, NOT_MET);
        found.for_each(|group| {
            let number = &mut numbers[group as usize];
            if *number == NOT_MET {
                *number = 0;
                groups.push(group);
            }
        });
        groups.sort_unstable_by_key(|&group| key(group));
        (0..).zip(&*groups).for_each(|(number, &group)| numbers[group as usize] = number);
    }
}

/// Collects the relevant subtopics of a query's documents from judgments of at least the grade
/// `rel`, and numbers the subtopics from 0. `relevant` is a buffer.
fn relevant_subtopics(
    grouped: &Facets,
    query: usize,
    rel: f64,
    numbers: &mut GroupNumbers,
    relevant: &mut Vec<(u32, u32)>,
) -> Subtopics {
    let QueryFacets { documents, judgments, .. } = grouped.get(query);
    // Without a branch on the grade, which would be guessed wrong where relevant judgments are few
    // and anywhere.
    relevant.clear();
    relevant.resize(judgments.len(), (0, 0));
    let mut count = 0;
    for judgment in judgments {
        relevant[count] = (judgment.document, judgment.group);
        count += usize::from(judgment.grade >= rel);
    }
    let relevant = &relevant[..count];
    // Gains are summed by number, so the numbers must be in the order of the names.
    numbers.find(grouped.names.len(), relevant.iter().map(|&(_, group)| group), |group| group);
    let mut ends = Vec::with_capacity(documents as usize + 1);
    let mut subtopics = Vec::with_capacity(count);
    ends.push(0);
    for &(document, group) in relevant {
        // A document without relevant subtopics has the end of the document before.
        if ends.len() <= document as usize {
            ends.resize(document as usize + 1, subtopics.len() as u32);
        }
        subtopics.push(numbers.numbers[group as usize]);
    }
    ends.resize(documents as usize + 1, subtopics.len() as u32);
    // Invariant: judgments are by document and group, so the subtopics of a document ascend.
    Subtopics::new(ends, subtopics, numbers.groups.len() as u32).unwrap_or_default()
}

impl FacetEvaluator {
    /// Prepares values over subtopics and preferences, each with its place in the output, for
    /// rankings of all queries of some judgments.
    ///
    /// # Errors
    /// Preferences that go round in a circle, or contradict one another, with the number of their
    /// query.
    pub fn new<'v>(
        grouped: &Facets,
        values: impl Iterator<Item = (usize, &'v FacetValue)>,
    ) -> Result<Self, (usize, PreferenceFault)> {
        let mut settings: Vec<(DiversityParams, Vec<(usize, SubtopicValue)>)> = Vec::new();
        let mut preferred = Vec::new();
        for (place, value) in values {
            match *value {
                FacetValue::Subtopic(params, value) => {
                    match settings.iter_mut().find(|(known, _)| *known == params) {
                        Some((_, values)) => values.push((place, value)),
                        None => settings.push((params, vec![(place, value)])),
                    }
                }
                FacetValue::Preference(measure) => preferred.push((place, measure)),
                // Values over judges take the functions of measures, which are not known here.
                // Values of passages come from rankings of passages, which have no facets.
                FacetValue::Judges(_) | FacetValue::Passages(_) => {}
            }
        }
        let queries = if preferred.is_empty() { 0 } else { grouped.judgments.len() };
        let prepared: Vec<_> = (0..queries)
            .into_par_iter()
            .map(|query| {
                let facets = grouped.get(query);
                let lines = facets.with_subgroups();
                let lines: Vec<_> = lines
                    .map(|(judgment, subgroup)| PreferenceLine::new(judgment, subgroup))
                    .collect();
                Preferences::new(&lines, facets.documents).map_err(|fault| (query, fault))
            })
            .collect();
        // The first query at fault is told, whichever thread is done first.
        let preferences = prepared.into_iter().collect::<Result<_, _>>()?;
        let settings = settings
            .into_iter()
            .map(|(params, values)| DiversityGroup::new(grouped, params, values));
        Ok(Self { settings: settings.collect(), preferences, preferred })
    }

    /// Computes the values of a query's ranking over subtopics and preferences, and passes each
    /// with its place to `out`. `retrieved` are the ranks (from 0) of the documents that the
    /// judgments name, with their numbers.
    pub fn values(
        &self,
        query: usize,
        retrieved: &[(u32, u32)],
        scratch: &mut SubtopicScratch,
        mut out: impl FnMut(usize, f64),
    ) {
        for DiversityGroup { setting, queries, values } in &self.settings {
            let whole = queries[query].values(setting, retrieved, scratch);
            for &(place, cutoff, value) in values {
                let value = match value {
                    SubtopicValue::At(_, evaluate) => evaluate(&scratch.at[cutoff]),
                    SubtopicValue::Whole(evaluate) => evaluate(&whole),
                };
                out(place, value);
            }
        }
        if self.preferred.is_empty() {
            return;
        }
        let numbers = retrieved.iter().map(|&(_, number)| number);
        let counts = self.preferences[query].count_fulfilled(numbers);
        self.preferred.iter().for_each(|&(place, measure)| out(place, counts.value(measure)));
    }
}

impl DiversityGroup {
    fn new(grouped: &Facets, params: DiversityParams, values: Vec<(usize, SubtopicValue)>) -> Self {
        let mut cutoffs: Vec<u32> = values
            .iter()
            .filter_map(|(_, value)| match value {
                SubtopicValue::At(rank, _) => Some(*rank),
                SubtopicValue::Whole(_) => None,
            })
            .collect();
        // All values of a setting come from one walk, which must meet the cutoffs in order.
        cutoffs.sort_unstable();
        cutoffs.dedup();
        let tables = DiversityTables::new(params.alpha, params.beta, &cutoffs);
        let mut setting = tables.unwrap_or_default();
        setting.raw_first = params.raw_first;
        let queries = (0..grouped.judgments.len())
            .into_par_iter()
            .map_init(
                || (SubtopicScratch::default(), GroupNumbers::default(), Vec::new()),
                |(scratch, numbers, relevant), query| {
                    let subtopics =
                        relevant_subtopics(grouped, query, params.rel, numbers, relevant);
                    SubtopicQuery::new(subtopics, &setting, scratch)
                },
            )
            .collect();
        let values = values.into_iter().map(|(place, value)| match value {
            SubtopicValue::At(rank, _) => {
                (place, cutoffs.partition_point(|&cutoff| cutoff < rank), value)
            }
            SubtopicValue::Whole(_) => (place, 0, value),
        });
        Self { values: values.collect(), setting, queries }
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
            let judgment = |(at, grade): (usize, f64)| FacetJudgment {
                document: at as u32 / 2,
                group: 0,
                grade,
            };
            levels.into_iter().enumerate().map(judgment).collect::<Vec<_>>()
        };
        // Documents a and b in two sub-groups, which agree for the first query alone.
        judgments.push(&levels([2.0, 2.0, 1.0, 1.0]));
        judgments.push(&levels([2.0, 1.0, 1.0, 2.0]));
        let subgroups = [0, 1].repeat(4);
        let facets =
            Facets::new(FacetKind::Preference, Ids::default(), judgments, subgroups, [2, 2]);
        let value = FacetValue::Preference(PreferenceCount::Simple);
        let fault = FacetEvaluator::new(&facets, [(0, &value)].into_iter()).unwrap_err();
        assert!(matches!(fault, (1, PreferenceFault::Cycle { .. })), "{fault:?}");
    }
}

//! The values that a comparison of runs is made of, by run, measure and query, over one set of
//! queries, as numbers and in whole units.

use std::borrow::Cow;

use super::options::ComparisonOptions;
use super::philox::query_hash;
use super::randomised::Pair;
use super::unit::Unit;
use crate::error::{Error, Result, unanswerable};
use crate::measure::{Direction, Measure, NoRelevant};
use crate::scores::{PerQuery, QuerySet, RunScores, Scores};
use crate::stats::is_undefined;

/// The values of the runs of a comparison over the same queries, under all measures.
pub struct Values {
    /// Hashes of the ids of the queries, in bytewise order of the ids.
    pub queries: Vec<u64>,
    /// The values under each measure.
    pub measures: Vec<MeasureValues>,
    /// The number of queries missing from each run and counted as empty rankings.
    pub filled: Vec<u64>,
    /// The ids of the queries.
    pub ids: Vec<Vec<u8>>,
    /// The missing queries of each run, by place among the ids, as far as known.
    pub lacking: Vec<Vec<usize>>,
}

/// The values of the runs of a comparison under one measure, as numbers and in whole units.
pub struct MeasureValues {
    /// The terms, `[run][query]`: values, or logarithms of values for a geometric mean. A query
    /// without a value has an undefined term.
    pub terms: Vec<Vec<f64>>,
    /// The unit of the values of all runs.
    pub unit: Unit,
    /// The terms in whole units, `[run][query]`; 0 of queries without a value, which then change no
    /// sum, whatever their sign or weight.
    pub counts: Vec<Vec<i64>>,
    /// The places of the queries without a value, ascending; the same of all runs.
    pub undefined: Vec<usize>,
    /// Whether queries may have no value under the measure.
    pub may_skip: bool,
    /// The direction in which the measure is better.
    pub better: Direction,
}

impl MeasureValues {
    /// Makes the values of all runs under a measure from `terms`, `[run][query]`, and the indices
    /// of undefined queries.
    fn new(
        measure: &Measure,
        terms: Vec<Vec<f64>>,
        undefined: Vec<usize>,
        options: &ComparisonOptions,
    ) -> Self {
        let stated = options
            .largest
            .iter()
            .filter(|(candidate, _)| candidate == measure)
            .map(|&(_, largest)| largest);
        // The unit covers all runs and the stated largest value, so that every series under the
        // measure has a common unit.
        let known = terms.iter().flatten().copied().filter(|&term| !is_undefined(term));
        let unit = Unit::for_values(known.chain(stated));
        let counts = terms.iter().map(|terms| {
            let counts =
                terms.iter().map(|&term| if is_undefined(term) { 0 } else { unit.count(term) });
            counts.collect()
        });
        Self {
            counts: counts.collect(),
            undefined,
            may_skip: measure.no_relevant() == NoRelevant::Skip,
            terms,
            unit,
            better: measure.definition().better,
        }
    }

    /// Returns the differences of a pair of runs in whole units, over the queries that have a value
    /// under the measure.
    pub fn counts_of(&self, pair: Pair) -> Vec<i64> {
        self.defined_only(super::unit::deltas(&self.counts[pair.baseline], &self.counts[pair.run]))
    }

    /// Removes the entries of queries without a value from a list of numbers by query.
    fn defined_only<T: Copy>(&self, numbers: Vec<T>) -> Vec<T> {
        if self.undefined.is_empty() {
            return numbers;
        }
        let entries =
            numbers.iter().enumerate().filter(|(at, _)| self.undefined.binary_search(at).is_err());
        entries.map(|(_, &number)| number).collect()
    }

    /// Returns the averaged terms of all runs without the queries that have no value,
    /// `[run][query]`.
    pub fn defined_terms(&self) -> Cow<'_, [Vec<f64>]> {
        if self.undefined.is_empty() {
            self.terms.as_slice().into()
        } else {
            self.terms.iter().map(|terms| self.defined_only(terms.clone())).collect()
        }
    }

    /// Returns a list by query that is 1 for each query without a value, and 0 for the others.
    pub fn indicator(&self) -> Vec<i64> {
        let mut indicator = vec![0; self.terms.first().map_or(0, Vec::len)];
        self.undefined.iter().for_each(|&at| indicator[at] = 1);
        indicator
    }

    /// Returns the differences of a pair of runs by query with a value, as numbers and in whole
    /// units.
    pub fn deltas(&self, pair: Pair) -> (Vec<f64>, Vec<i64>) {
        let [a, b] = [&self.terms[pair.baseline], &self.terms[pair.run]];
        (self.defined_only(a.iter().zip(b).map(|(a, b)| b - a).collect()), self.counts_of(pair))
    }
}

impl Values {
    /// Takes the values of the queries that count in all runs from the scores of an evaluation.
    ///
    /// # Errors
    /// Fewer than two runs, runs of one name, groups of queries; runs of different judgments or
    /// ranked under different rules; no query that counts in all runs; a measure without a
    /// direction; a value that is not a finite number.
    pub fn from_scores(scores: &Scores, options: &ComparisonOptions) -> Result<Self> {
        let runs = &scores.runs;
        check_runs(runs)?;
        if let Some(measure) =
            scores.measures.iter().find(|measure| measure.definition().better == Direction::Neither)
        {
            return unanswerable(format!(
                "a higher {measure} is neither better nor worse: leave it out of the comparison"
            ));
        }
        let per_query: Option<Vec<&PerQuery>> =
            runs.iter().map(|run| run.per_query.as_ref()).collect();
        let Some(per_query) = per_query else {
            return unanswerable("a comparison needs the values of queries: evaluate with them");
        };
        let common = common(&per_query);
        let Some(first) = per_query.first().filter(|_| !common[0].is_empty()) else {
            let why = match scores.settings.queries {
                QuerySet::Common => "no query is judged and in all of the runs",
                _ => "no query counts",
            };
            return unanswerable(format!("{why}: there is nothing to compare"));
        };
        let ids: Vec<Vec<u8>> =
            common[0].iter().map(|&at| first.queries.get(at).to_vec()).collect();
        let by_run = || runs.iter().zip(&per_query).zip(&common);
        let mut measures = Vec::with_capacity(scores.measures.len());
        for (at, measure) in scores.measures.iter().enumerate() {
            let average = measure.definition().average;
            let mut terms = Vec::with_capacity(runs.len());
            for ((run, run_values), places) in by_run() {
                let run_terms = places.iter().zip(&ids).map(|(&place, id)| {
                    match run_values.values[at][place] {
                        value if is_undefined(value) => Ok(value),
                        value => finite(value, run, measure, id).map(|value| average.term(value)),
                    }
                });
                terms.push(run_terms.collect::<Result<Vec<f64>>>()?);
            }
            let undefined = undefined(runs, &terms)?;
            measures.push(MeasureValues::new(measure, terms, undefined, options));
        }
        let lacking = by_run()
            .map(|((run, run_values), places)| lacking(run, run_values, places, &ids))
            .collect();
        Ok(Self {
            queries: ids.iter().map(|id| query_hash(id)).collect(),
            measures,
            filled: runs.iter().map(|run| if run.filled { run.missing.count } else { 0 }).collect(),
            ids,
            lacking,
        })
    }

    /// Returns the values in whole units, one list by query for each measure and run.
    pub fn series(&self) -> Vec<&[i64]> {
        self.measures.iter().flat_map(|values| values.counts.iter().map(Vec::as_slice)).collect()
    }
}

/// Returns the indices of the queries without a value under a measure, and rejects runs that differ
/// in them.
fn undefined(runs: &[RunScores], terms: &[Vec<f64>]) -> Result<Vec<usize>> {
    let mut places = terms.iter().map(|terms| {
        (0..terms.len()).filter(|&at| is_undefined(terms[at])).collect::<Vec<usize>>()
    });
    let first = places.next().unwrap_or_default();
    match places.position(|other| other != first) {
        None => Ok(first),
        Some(behind) => unanswerable(format!(
            "no_relevant=skip left out other queries of {} than of {}: take no_relevant=0",
            runs[0].name,
            runs[behind + 1].name
        )),
    }
}

/// Rejects runs that cannot be compared: fewer than two, groups of queries, duplicate names, and
/// different judgments, ideal rankings or rules.
fn check_runs(runs: &[RunScores]) -> Result<()> {
    let [first, others @ ..] = runs else {
        return unanswerable("there are no runs to compare");
    };
    if others.is_empty() {
        return unanswerable(format!(
            "{} is the only run: two or more were expected, to be compared",
            first.name
        ));
    }
    for (at, run) in runs.iter().enumerate() {
        if let Some(group) = &run.group {
            return unanswerable(format!(
                "{} has the group {group} of queries: compare all, or --only-queries some",
                run.name
            ));
        }
        if runs[..at].iter().any(|other| other.name == run.name) {
            return unanswerable(format!(
                "two runs have the name {}: give one of them another name",
                run.name
            ));
        }
    }
    for run in others {
        let why = if run.fingerprints != first.fingerprints {
            "they have different judgments".to_owned()
        } else if run.ideal != first.ideal {
            "they have ideal rankings made of different things".to_owned()
        } else if let Some(setting) = first.rule.differences(&run.rule).first() {
            setting.to_string()
        } else {
            continue;
        };
        return unanswerable(format!("{} and {} cannot be compared: {why}", first.name, run.name));
    }
    Ok(())
}

/// Lists the queries missing from a run, as indices into the compared queries. The marks among the
/// run's values name the missing queries, or without marks, the run's complete list of missing ids.
fn lacking(run: &RunScores, per_query: &PerQuery, places: &[usize], ids: &[Vec<u8>]) -> Vec<usize> {
    if !run.filled {
        return Vec::new();
    }
    if per_query.missing.is_empty() && !run.missing.is_truncated() {
        let places = run.missing.ids.iter().filter_map(|id| {
            // A missing query that does not count in another run is not compared: it has no place.
            ids.binary_search_by(|candidate| candidate.as_slice().cmp(id)).ok()
        });
        return places.collect();
    }
    (0..places.len()).filter(|&at| per_query.missing.binary_search(&places[at]).is_ok()).collect()
}

/// Returns, for each run, the indices of the queries that all runs have, in ascending order of the
/// ids.
fn common(runs: &[&PerQuery]) -> Vec<Vec<usize>> {
    let mut common: Vec<Vec<usize>> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let order = ascending(run);
        if number == 0 {
            common.push(order);
            continue;
        }
        let (mut indices, mut places) = (Vec::new(), Vec::new());
        let mut left = order.into_iter().peekable();
        for (which, &place) in common[0].iter().enumerate() {
            let id = runs[0].queries.get(place);
            // A merge of two ascending lists: `common[0]` ascends by id, as it began as the order
            // of the first run and only lost members.
            while left.next_if(|&at| run.queries.get(at) < id).is_some() {}
            if let Some(at) = left.next_if(|&at| run.queries.get(at) == id) {
                indices.push(which);
                places.push(at);
            }
        }
        // Invariant: the lists in `common` are as long as each other, and place by place of the
        // same query.
        for before in &mut common {
            *before = indices.iter().map(|&which| before[which]).collect();
        }
        common.push(places);
    }
    common
}

/// Returns the indices of the queries of a run, in ascending order of their ids. Rankings without
/// ids are numbered, and are in the order of their numbers.
fn ascending(per_query: &PerQuery) -> Vec<usize> {
    let mut order: Vec<usize> = (0..per_query.queries.len()).collect();
    if !per_query.queries.are_ascending() {
        order.sort_by_key(|&at| per_query.queries.get(at));
    }
    order
}

/// Returns `value`, or an error with the run, the measure and the query if it is not finite.
fn finite(value: f64, run: &RunScores, measure: &Measure, id: &[u8]) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(Error::NotFinite {
        run: run.name.clone(),
        query: Some(id.to_vec()),
        measure: measure.to_string(),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, ids: &[&str], values: &[f64]) -> RunScores {
        let queries = ids.iter().map(|id| id.as_bytes()).collect();
        let per_query = PerQuery { queries, values: vec![values.to_vec()], missing: Vec::new() };
        RunScores { name: name.to_owned(), per_query: Some(per_query), ..RunScores::default() }
    }

    #[test]
    fn queries_in_the_order_of_numbers_all_count() {
        let ids: Vec<String> = (0..12).map(|at| at.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let values: Vec<f64> = (0..12).map(|at| f64::from(at) / 16.0).collect();
        let backwards: Vec<&str> = ids.iter().rev().copied().collect();
        let scores = Scores {
            measures: vec!["AP".parse().unwrap()],
            runs: vec![
                run("a", &ids, &values),
                run("b", &ids, &values),
                run("c", &backwards[2..], &values[2..]),
            ],
            ..Scores::default()
        };
        let two = Scores { runs: scores.runs[..2].to_vec(), ..scores.clone() };
        let two = Values::from_scores(&two, &ComparisonOptions::default()).unwrap();
        assert_eq!(two.ids.len(), 12);
        assert!(two.ids.is_sorted());
        let three = Values::from_scores(&scores, &ComparisonOptions::default()).unwrap();
        assert_eq!(three.ids.len(), 10, "10 and 11 are not in the third");
        for (at, id) in three.ids.iter().enumerate() {
            let number: usize = String::from_utf8_lossy(id).parse().unwrap();
            let [a, b, c] = [0, 1, 2].map(|run| three.measures[0].terms[run][at]);
            assert_eq!(
                [a, b, c],
                [values[number], values[number], values[11 - number]],
                "{number}"
            );
        }
    }
}

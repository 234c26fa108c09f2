//! The values that are compared: of every run, measure and query, over one set of queries, as
//! numbers and in whole units.

use std::borrow::Cow;

use super::options::ComparisonOptions;
use super::philox::query_hash;
use super::randomised::Pair;
use super::units::Unit;
use crate::error::{Error, Result};
use crate::measure::{Better, Measure, OfNothing};
use crate::scores::{PerQuery, QuerySet, RunScores, Scores};
use crate::stats::is_undefined;

/// Values of runs over the same queries.
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

/// The values of runs under a measure.
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
    pub better: Better,
}

impl MeasureValues {
    /// Makes the values of a measure from `terms`, `[run][query]`, and the indices of its undefined
    /// queries.
    fn of(
        measure: &Measure,
        terms: Vec<Vec<f64>>,
        undefined: Vec<usize>,
        options: &ComparisonOptions,
    ) -> MeasureValues {
        let stated =
            options.largest.iter().filter(|(of, _)| of == measure).map(|&(_, largest)| largest);
        // The unit covers all runs and the stated largest value, so that every series under the
        // measure has a common unit.
        let known = terms.iter().flatten().copied().filter(|&term| !is_undefined(term));
        let unit = Unit::of(known.chain(stated));
        let whole = |&term: &f64| if is_undefined(term) { 0.0 } else { term };
        let counts = |terms: &Vec<f64>| {
            if undefined.is_empty() {
                unit.counts(terms)
            } else {
                unit.counts(&terms.iter().map(whole).collect::<Vec<_>>())
            }
        };
        MeasureValues {
            counts: terms.iter().map(counts).collect(),
            undefined,
            may_skip: measure.of_nothing() == OfNothing::Skip,
            terms,
            unit,
            better: measure.definition().better,
        }
    }

    /// The differences of a pair of runs in whole units, of the queries that have a value.
    pub fn counts_of(&self, pair: Pair) -> Vec<i64> {
        self.of_defined(super::units::deltas(&self.counts[pair.baseline], &self.counts[pair.run]))
    }

    /// Removes the numbers of queries without a value.
    fn of_defined<T: Copy>(&self, numbers: Vec<T>) -> Vec<T> {
        if self.undefined.is_empty() {
            return numbers;
        }
        let kept =
            numbers.iter().enumerate().filter(|(at, _)| self.undefined.binary_search(at).is_err());
        kept.map(|(_, &number)| number).collect()
    }

    /// The terms of the queries that have a value, `[run][query]`.
    pub fn defined_terms(&self) -> Cow<'_, [Vec<f64>]> {
        if self.undefined.is_empty() {
            self.terms.as_slice().into()
        } else {
            self.terms.iter().map(|terms| self.of_defined(terms.clone())).collect()
        }
    }

    /// 1 for each query without a value, and 0 for the others.
    pub fn indicator(&self) -> Vec<i64> {
        let mut indicator = vec![0; self.terms.first().map_or(0, Vec::len)];
        self.undefined.iter().for_each(|&at| indicator[at] = 1);
        indicator
    }

    /// The differences of a pair of runs, and the same in whole units.
    pub fn deltas(&self, pair: Pair) -> (Vec<f64>, Vec<i64>) {
        let [a, b] = [&self.terms[pair.baseline], &self.terms[pair.run]];
        (self.of_defined(a.iter().zip(b).map(|(a, b)| b - a).collect()), self.counts_of(pair))
    }
}

impl Values {
    /// Takes the values of scores.
    ///
    /// # Errors
    /// Fewer than two runs, runs of one name, groups of queries; runs of different judgments or
    /// ranked under different rules; no query that counts in all runs; a measure without a
    /// direction; a value that is not a finite number.
    pub fn of(scores: &Scores, options: &ComparisonOptions) -> Result<Values> {
        let runs = &scores.runs;
        check_runs(runs)?;
        if let Some(measure) =
            scores.measures.iter().find(|of| of.definition().better == Better::Neither)
        {
            return unanswerable(format!(
                "a higher {measure} is neither better nor worse: leave it out of the comparison"
            ));
        }
        let per_query = runs.iter().map(|run| {
            run.per_query.as_ref().ok_or_else(|| {
                Error::Unanswerable(
                    "a comparison needs the values of queries: evaluate with them".to_owned(),
                )
            })
        });
        let per_query = per_query.collect::<Result<Vec<&PerQuery>>>()?;
        let common = common(&per_query);
        let Some(first) = per_query.first().filter(|_| !common[0].is_empty()) else {
            let why = match scores.queries {
                QuerySet::Both => "no query is judged and in all of the runs",
                _ => "no query counts",
            };
            return unanswerable(format!("{why}: there is nothing to compare"));
        };
        let ids: Vec<Vec<u8>> =
            common[0].iter().map(|&at| first.queries.get(at).to_vec()).collect();
        let measure = |(at, measure): (usize, &Measure)| {
            let picked = per_query.iter().zip(&common).zip(runs).map(|((of, places), run)| {
                let average = measure.definition().average;
                let value = |(&place, id): (&usize, &Vec<u8>)| match of.values[at][place] {
                    value if is_undefined(value) => Ok(value),
                    value => finite(value, run, measure, id).map(|value| average.term(value)),
                };
                places.iter().zip(&ids).map(value).collect::<Result<Vec<f64>>>()
            });
            let terms = picked.collect::<Result<Vec<_>>>()?;
            let undefined = undefined(runs, &terms)?;
            Ok(MeasureValues::of(measure, terms, undefined, options))
        };
        let measures =
            scores.measures.iter().enumerate().map(measure).collect::<Result<Vec<_>>>()?;
        let filled = |run: &RunScores| if run.filled { run.missing.count } else { 0 };
        let of_runs = runs.iter().zip(&per_query).zip(&common);
        let lacking = of_runs.map(|((run, of), places)| lacking(run, of, places, &ids)).collect();
        Ok(Values {
            queries: ids.iter().map(|id| query_hash(id)).collect(),
            measures,
            filled: runs.iter().map(filled).collect(),
            ids,
            lacking,
        })
    }
}

impl Values {
    /// The values in whole units, one series for each measure and run.
    pub fn series(&self) -> Vec<&[i64]> {
        self.measures.iter().flat_map(|of| of.counts.iter().map(Vec::as_slice)).collect()
    }
}

/// The places of the queries without a value, which must be the same in all runs.
fn undefined(runs: &[RunScores], terms: &[Vec<f64>]) -> Result<Vec<usize>> {
    let places = |terms: &Vec<f64>| -> Vec<usize> {
        (0..terms.len()).filter(|&at| is_undefined(terms[at])).collect()
    };
    let first = terms.first().map(places).unwrap_or_default();
    match runs.iter().zip(terms).find(|(_, terms)| places(terms) != first) {
        None => Ok(first),
        Some((other, _)) => unanswerable(format!(
            "nothing=skip left out other queries of {} than of {}: take nothing=0",
            runs[0].name, other.name
        )),
    }
}

fn unanswerable<T>(message: String) -> Result<T> {
    Err(Error::Unanswerable(message))
}

/// Rejects fewer than two runs, runs over a group of queries, duplicate names, and runs with
/// different judgments, ideal rankings or rules.
fn check_runs(runs: &[RunScores]) -> Result<()> {
    let [first, others @ ..] = runs else {
        return unanswerable("there are no runs to compare".to_owned());
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
                "{} has the group {group} of queries: compare all, or --only some",
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
        let differ = |what: &str| {
            unanswerable(format!(
                "{} and {} cannot be compared: they have {what}",
                first.name, run.name
            ))
        };
        if run.fingerprints != first.fingerprints {
            return differ("different judgments");
        }
        if run.ideal != first.ideal {
            return differ("ideal rankings made of different things");
        }
        if let Some(setting) = first.rule.differences(&run.rule).first() {
            return unanswerable(format!(
                "{} and {} cannot be compared: {setting}",
                first.name, run.name
            ));
        }
    }
    Ok(())
}

/// Lists the missing queries of a run, as indices into `places` and `ids`. The marks among the
/// run's values name the missing queries, or without marks, the run's complete list of missing ids.
fn lacking(run: &RunScores, of: &PerQuery, places: &[usize], ids: &[Vec<u8>]) -> Vec<usize> {
    if !run.filled {
        return Vec::new();
    }
    if of.missing.is_empty() && !run.missing.is_truncated() {
        let place = |id: &[u8]| ids.binary_search_by(|of| of.as_slice().cmp(id)).ok();
        return run.missing.ids.iter().filter_map(place).collect();
    }
    (0..places.len()).filter(|&at| of.missing.binary_search(&places[at]).is_ok()).collect()
}

/// The indices of the queries that all runs have, by run, in ascending order of their ids.
fn common(runs: &[&PerQuery]) -> Vec<Vec<usize>> {
    let mut common: Vec<Vec<usize>> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let order = ascending(run);
        if number == 0 {
            common.push(order);
            continue;
        }
        let (mut kept, mut places) = (Vec::new(), Vec::new());
        let mut left = order.into_iter().peekable();
        for (which, &place) in common[0].iter().enumerate() {
            let id = runs[0].queries.get(place);
            // A merge of two ascending lists: `common[0]` ascends by id, as it began as the order
            // of the first run and only lost members.
            while left.next_if(|&at| run.queries.get(at) < id).is_some() {}
            if let Some(at) = left.next_if(|&at| run.queries.get(at) == id) {
                kept.push(which);
                places.push(at);
            }
        }
        // Invariant: the lists in `common` are as long as each other, and place by place of the
        // same query.
        for before in &mut common {
            *before = kept.iter().map(|&which| before[which]).collect();
        }
        common.push(places);
    }
    common
}

/// The indices of the queries of a run, in ascending order of their ids. Rankings without ids are
/// numbered, and are in the order of their numbers.
fn ascending(of: &PerQuery) -> Vec<usize> {
    let mut order: Vec<usize> = (0..of.queries.len()).collect();
    if !of.queries.are_ascending() {
        order.sort_by_key(|&at| of.queries.get(at));
    }
    order
}

/// Returns `value` if it is a finite number.
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
        let two = Values::of(&two, &ComparisonOptions::default()).unwrap();
        assert_eq!(two.ids.len(), 12);
        assert!(two.ids.is_sorted());
        let three = Values::of(&scores, &ComparisonOptions::default()).unwrap();
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

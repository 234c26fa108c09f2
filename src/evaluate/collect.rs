//! Values as they come in from the tiles: exact sums, and all of them where a statistic or a reader needs that.
//!
//! A tile's values are summed by the thread that made them, while they are still in its cache.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::{Evaluator, QuerySet, missing};
use crate::error::{Error, Result};
use crate::label::{Ids, LANES, LabelMatrix, Notice, Unmatched};
use crate::measure::Average;
use crate::scores::{PerQuery, RunScores, Scores};
use crate::stats::{ExactSum, summarise};

/// The most sums, 6 MB of them, that each thread has for itself; where there would be more, threads share theirs.
const MOST_SUMS: usize = 1 << 16;
/// The memory that sums may take.
const MOST_BYTES: usize = 4 << 30;

/// What has come in so far.
pub(super) struct Collected<'a> {
    matrix: &'a LabelMatrix,
    averages: Vec<Average>,
    sums: PerThread<Sums>,
    /// By measure and row, NaN for rows that do not count; no measures unless values are kept.
    kept: Vec<Vec<f64>>,
}

/// What some threads have added up.
#[derive(Default)]
struct Sums {
    /// Rows that count, by run.
    counts: Vec<usize>,
    /// `[run][measure]`.
    sums: Vec<ExactSum>,
    /// The first row with a value that is not finite, its measure, and the value.
    not_finite: Option<(u32, usize, f64)>,
}

impl<'a> Collected<'a> {
    /// Nothing yet.
    ///
    /// # Errors
    /// Sums or values that need more memory than there is, or than is reasonable.
    pub(super) fn new(evaluator: &Evaluator, matrix: &'a LabelMatrix) -> Result<Self> {
        let (measures, runs) = (evaluator.measures.len(), matrix.runs().len());
        let keep = evaluator.per_query || evaluator.stats.iter().any(|stat| stat.needs_values());
        let count = sums(runs, measures)?;
        let none =
            || Sums { counts: vec![0; runs], sums: vec![ExactSum::default(); count], not_finite: None };
        Ok(Collected {
            matrix,
            averages: evaluator.measures.iter().map(|measure| measure.definition().average).collect(),
            sums: PerThread::new(MOST_SUMS / count.max(1), none),
            kept: if keep { room(measures, matrix.rows())? } else { Vec::new() },
        })
    }

    /// Adds the values of the rows of a tile, `[measure][row]`, and gives back those that [`Collected::keep`] needs.
    pub(super) fn add(&self, rows: &[u32], values: &[f64]) -> Vec<f64> {
        self.sums.with(|sums| {
            for (run, of_run) in runs_of(rows, self.matrix.queries().len() as u32) {
                sums.add(&self.averages, run, rows, of_run, values);
            }
        });
        if self.kept.is_empty() { Vec::new() } else { values.to_vec() }
    }

    /// Keeps the values of some rows each, `[measure][row]`, that have been added.
    pub(super) fn keep<'r>(&mut self, rows: impl Iterator<Item = &'r [u32]>, values: &[Vec<f64>]) {
        if self.kept.is_empty() {
            return;
        }
        for (rows, values) in rows.zip(values) {
            for (kept, values) in self.kept.iter_mut().zip(values.chunks_exact(rows.len())) {
                rows.iter().zip(values).for_each(|(&row, &value)| kept[row as usize] = value);
            }
        }
    }

    /// The scores, when everything has been added.
    ///
    /// # Errors
    /// A value or a statistic that is not finite, unless that is asked for.
    pub(super) fn scores(mut self, evaluator: &Evaluator) -> Result<Scores> {
        let matrix = self.matrix;
        let Sums { counts, sums, not_finite } = self.sums.take();
        if let Some((row, measure, value)) = not_finite.filter(|_| !evaluator.not_finite) {
            let (run, query) = (row as usize / matrix.queries().len(), row as usize % matrix.queries().len());
            return Err(Error::NotFinite {
                run: matrix.runs()[run].name.clone(),
                query: Some(matrix.queries().get(query).to_vec()),
                measure: evaluator.measures[measure].to_string(),
                value,
            });
        }
        let runs = matrix.runs().iter().enumerate().map(|(run, info)| {
            let missing = missing(matrix, run);
            let missing =
                if evaluator.missing_ids { Unmatched::all(missing) } else { Unmatched::first(missing) };
            let queries = counts[run];
            let all = queries == matrix.queries().len();
            let values = self.values(run, all);
            let stats = evaluator.stats.iter().filter(|stat| stat.needs_values());
            let more: Vec<_> = stats.map(|&stat| summarise(stat, &evaluator.measures, &values)).collect();
            let sums = sums[run * self.averages.len()..].iter();
            let summaries = self.averages.iter().zip(sums).enumerate().map(|(measure, (average, sum))| {
                let own = (queries > 0).then(|| (average.name(), average.of_sum(sum, queries)));
                own.into_iter().chain(more.iter().flat_map(|stat| stat[measure].iter().copied())).collect()
            });
            RunScores {
                name: info.name.clone(),
                tag: info.tag.clone(),
                queries,
                filled: evaluator.queries != QuerySet::Both,
                missing,
                ignored: info.ignored.clone(),
                notices: notices(&info.notices, evaluator, queries),
                summaries: summaries.collect(),
                per_query: evaluator.per_query.then(|| self.per_query(run, all, values)),
            }
        });
        let scores = Scores {
            measures: evaluator.measures.clone(),
            runs: runs.collect(),
            notices: evaluator.nothing_relevant(matrix.book()),
        };
        if evaluator.not_finite { Ok(scores) } else { finite(scores) }
    }

    /// The kept values of one run, `[measure][query]`, those of queries that count.
    fn values(&self, run: usize, all: bool) -> Vec<Vec<f64>> {
        let queries = self.matrix.queries().len();
        let of = |kept: &Vec<f64>| {
            let values = kept[run * queries..(run + 1) * queries].iter().copied();
            values.zip(self.counted(run, all)).filter(|&(_, counts)| counts).map(|(value, _)| value).collect()
        };
        self.kept.iter().map(of).collect()
    }

    fn per_query(&self, run: usize, all: bool, values: Vec<Vec<f64>>) -> PerQuery {
        let counted = self.matrix.queries().iter().zip(self.counted(run, all));
        let queries: Ids = counted.filter(|&(_, counts)| counts).map(|(id, _)| id).collect();
        PerQuery { queries, values }
    }

    /// Does each query count for a run? All do, or those that the run has.
    fn counted(&self, run: usize, all: bool) -> impl Iterator<Item = bool> + use<'a> {
        self.matrix.run_depths(run).iter().map(move |&depth| all || depth > 0)
    }
}

impl Sums {
    /// Adds the values `[measure][row]` of those of the rows that are of this run.
    fn add(&mut self, averages: &[Average], run: usize, rows: &[u32], of_run: Range<usize>, values: &[f64]) {
        self.counts[run] += of_run.len();
        let mut terms = [0.0; LANES];
        let terms = &mut terms[..of_run.len()];
        let sums = &mut self.sums[run * averages.len()..];
        let of_measures = averages.iter().zip(sums).zip(values.chunks_exact(rows.len()));
        for (measure, ((average, sum), values)) in of_measures.enumerate() {
            let values = &values[of_run.clone()];
            terms.iter_mut().zip(values).for_each(|(term, &value)| *term = average.term(value));
            sum.add_all(terms);
            if !sum.is_finite() {
                self.not_finite = first(self.not_finite, not_finite(measure, &rows[of_run.clone()], values));
            }
        }
    }
}

/// The first row whose value is not finite, with the measure and the value.
#[cold]
fn not_finite(measure: usize, rows: &[u32], values: &[f64]) -> Option<(u32, usize, f64)> {
    let found = rows.iter().zip(values).filter(|(_, value)| !value.is_finite());
    found.map(|(&row, &value)| (row, measure, value)).min_by_key(|&(row, ..)| row)
}

/// The first of two, by row and measure.
fn first(one: Option<(u32, usize, f64)>, other: Option<(u32, usize, f64)>) -> Option<(u32, usize, f64)> {
    one.into_iter().chain(other).min_by_key(|&(row, measure, _)| (row, measure))
}

/// The scores, if every statistic is finite.
fn finite(scores: Scores) -> Result<Scores> {
    for run in &scores.runs {
        for (measure, summary) in scores.measures.iter().zip(&run.summaries) {
            if let Some(&(stat, value)) = summary.iter().find(|(_, value)| !value.is_finite()) {
                let (run, measure) = (run.name.clone(), format!("the {stat} of {measure}"));
                return Err(Error::NotFinite { run, query: None, measure, value });
            }
        }
    }
    Ok(scores)
}

/// What is to be noticed about a run: what was found when it was read, and a single query whose values cannot vary.
fn notices(read: &[Notice], evaluator: &Evaluator, queries: usize) -> Vec<Notice> {
    let spread = queries == 1 && evaluator.stats.iter().any(|stat| stat.is_spread());
    read.iter().cloned().chain(spread.then_some(Notice::OneQuery)).collect()
}

/// How many sums that makes.
fn sums(runs: usize, measures: usize) -> Result<usize> {
    let count = runs.saturating_mul(measures);
    let bytes = count.saturating_mul(size_of::<ExactSum>());
    if bytes > MOST_BYTES {
        let what = format!("the sums of {runs} runs × {measures} measures");
        return Err(too_large(&what, bytes, "more than the 4 GiB that they may take"));
    }
    Ok(count)
}

/// `[measure][row]`, NaN.
fn room(measures: usize, rows: usize) -> Result<Vec<Vec<f64>>> {
    let column = |_| {
        let mut column = Vec::new();
        column.try_reserve_exact(rows).ok()?;
        column.resize(rows, f64::NAN);
        Some(column)
    };
    (0..measures).map(column).collect::<Option<_>>().ok_or_else(|| {
        let what = format!("the values of {rows} rankings under {measures} measures");
        too_large(&what, rows.saturating_mul(measures).saturating_mul(size_of::<f64>()), "more than there is")
    })
}

fn too_large(what: &str, bytes: usize, limit: &str) -> Error {
    let gib = bytes as f64 / f64::from(1 << 30);
    Error::Unanswerable(format!("{what} need {gib:.1} GiB, {limit}: evaluate fewer at a time"))
}

/// The runs of some rows, each with the rows of it that lie together.
fn runs_of(rows: &[u32], queries: u32) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let run = rows.get(start)? / queries;
        let of_run = run * queries..(run + 1) * queries;
        let other = rows[start..].iter().position(|row| !of_run.contains(row));
        let together = start..other.map_or(rows.len(), |other| start + other);
        start = together.end;
        Some((run as usize, together))
    })
}

/// One of something for every thread, or for every few threads.
pub(super) struct PerThread<T>(Vec<Mutex<T>>);

impl<T> PerThread<T> {
    /// At most so many.
    pub(super) fn new(most: usize, one: impl Fn() -> T) -> Self {
        let threads = rayon::current_num_threads().clamp(1, most.max(1));
        PerThread((0..threads).map(|_| Mutex::new(one())).collect())
    }

    /// Works with the one of this thread. The work must not hand over to the pool, which might bring this thread back here.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut one = self.0[thread % self.0.len()].lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut one)
    }
}

impl PerThread<Sums> {
    /// Takes the sums of all threads together.
    fn take(&mut self) -> Sums {
        let all = self.0.drain(..).map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner));
        let merged = all.reduce(|mut all, one| {
            all.counts.iter_mut().zip(&one.counts).for_each(|(all, one)| *all += one);
            all.sums.iter_mut().zip(&one.sums).for_each(|(all, one)| all.merge(one));
            all.not_finite = first(all.not_finite, one.not_finite);
            all
        });
        merged.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_sums_than_there_should_be_memory_for_are_refused() {
        assert_eq!(sums(1000, 40_000).unwrap(), 40_000_000);
        let error = sums(1000, 90_000).unwrap_err().to_string();
        assert_eq!(
            error,
            "the sums of 1000 runs × 90000 measures need 7.4 GiB, more than the 4 GiB that they may take: evaluate fewer at a time"
        );
        assert!(sums(usize::MAX, 2).is_err());
    }

    #[test]
    fn values_that_cannot_be_kept_are_refused() {
        let error = room(3, isize::MAX as usize / 8).err().unwrap().to_string();
        assert!(
            error.starts_with("the values of 1152921504606846975 rankings under 3 measures need"),
            "{error}"
        );
    }
}

//! Scores: the results of an evaluation, by run, measure and query.

#[cfg(feature = "serde")]
mod serial;
mod settings;
#[cfg(feature = "serde")]
mod text;

use crate::error::{Error, Result, unanswerable};
use crate::ids::{Ids, Unmatched};
use crate::matrix::{Notice, SharedJudgments, TieCounts};
use crate::measure::Measure;
use crate::rule::{IdealSource, RankingRule};
use crate::sort;
use crate::stats::StatName;
pub use crate::stats::{UNDEFINED, is_undefined};

#[cfg(feature = "serde")]
pub(crate) use serial::SCHEMA;
#[cfg(feature = "report")]
pub(crate) use serial::{NamedRow, ScoresDocument};
pub use settings::{EvaluationSettings, RelevantFrom};
#[cfg(feature = "serde")]
pub use text::JsonText;

/// The queries that count in an evaluation: all judged queries, or only those that the run has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum QuerySet {
    /// Every judged query. A judged query that the run lacks has the values of an empty ranking.
    #[default]
    Judged,
    /// Only queries that are both judged and in the run.
    Common,
    /// Every judged query; a run that lacks a judged query is an error.
    RequireAll,
}

impl QuerySet {
    /// All sets with their command-line names.
    pub const ALL: [(&'static str, Self); 3] =
        [("judged", Self::Judged), ("common", Self::Common), ("require-all", Self::RequireAll)];
}

named!(QuerySet, "a set of queries");

/// The value of a ranking in which documents have equal scores: of the order made, or over all
/// orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TiedValue {
    /// The value of the order that the join made.
    #[default]
    Ranked,
    /// The mean over all orders, in closed form.
    Average,
    /// The best over all orders.
    Best,
    /// The worst over all orders.
    Worst,
}

impl TiedValue {
    /// Every choice, with its name on the command line.
    pub const ALL: [(&'static str, Self); 4] = [
        ("ranked", Self::Ranked),
        ("average", Self::Average),
        ("best", Self::Best),
        ("worst", Self::Worst),
    ];
}

named!(TiedValue, "a value of tied rankings");

/// The scores of some runs under some measures.
///
/// ```
/// use laneval::{Evaluator, Join, Qrels, StatName};
/// let qrels = Qrels::new([("q1", "d1", 1.0), ("q2", "d1", 2.0)])?;
/// let run = [("q1", "d2", 9.5), ("q1", "d1", 7.0), ("q2", "d1", 3.0)];
/// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
/// let scores = Evaluator::new(["RR", "AP"])?.evaluate(&matrix)?;
/// assert_eq!(scores.average("mine", "RR"), Some(0.75));
/// let row = scores.rows().next().unwrap();
/// assert_eq!(
///     (row.run, row.measure.to_string().as_str(), row.stat, row.value),
///     ("mine", "RR", StatName::Mean, 0.75)
/// );
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Scores {
    /// The measures, in the order asked for.
    pub measures: Vec<Measure>,
    /// The runs, in the order given, each followed by its groups of queries, if there are any.
    pub runs: Vec<RunScores>,
    /// The settings of the evaluation.
    pub settings: EvaluationSettings,
    /// Notices about the measures and the judgments.
    pub notices: Vec<Notice>,
    /// Counts of queries that look like groups because they share their judged documents, see
    /// [`LabelMatrix::shared_judgments`].
    ///
    /// [`LabelMatrix::shared_judgments`]: crate::matrix::LabelMatrix::shared_judgments
    pub shared_judgments: Option<SharedJudgments>,
}

/// The scores of one run, or of a group of its queries.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunScores {
    /// The name of the run.
    pub name: String,
    /// The group of queries; `None` for all queries.
    pub group: Option<String>,
    /// The run id on the last line of the run.
    pub tag: Vec<u8>,
    /// The rule by which its rankings were made.
    pub rule: RankingRule,
    /// The fingerprints of the judgments, ascending: several if the judgments came in parts.
    pub fingerprints: Vec<u128>,
    /// The number of counted queries.
    pub queries: usize,
    /// The number of queries among them without a value, by measure; empty if all have one. They
    /// are in none of the statistics.
    pub skipped: Vec<usize>,
    /// Judged queries missing from the run.
    pub missing: Unmatched,
    /// Whether the missing queries count, with the values of an empty ranking.
    pub filled: bool,
    /// The number of queries of which a retrieved document is judged; `None` if nobody looked, as
    /// where a file of labels was opened.
    pub judged: Option<u64>,
    /// Queries of the run without judgments, which never count.
    pub ignored: Unmatched,
    /// The source of the number of relevant documents and of ideal rankings.
    pub ideal: IdealSource,
    /// The numbers of its documents that have equal scores, if they were asked for.
    pub ties: Option<TieCounts>,
    /// Notices about the run.
    pub notices: Vec<Notice>,
    /// The statistics of each measure by name, the average first.
    pub stats: Vec<Vec<(StatName, f64)>>,
    /// The values of each query, if they were asked for.
    pub per_query: Option<PerQuery>,
}

/// The values of one run by measure and query.
#[derive(Debug, Clone, Default)]
pub struct PerQuery {
    /// The queries that count, in bytewise order.
    pub queries: Ids,
    /// The values, `[measure][query]`; [`UNDEFINED`] of a query that has none.
    pub values: Vec<Vec<f64>>,
    /// The queries that the run lacks and that count as empty rankings, as indices into `queries`,
    /// ascending.
    pub missing: Vec<usize>,
}

/// The averages of a measure at each of its cutoffs, for one run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// The cutoffs, ascending: ranks, or levels of recall.
    pub cutoffs: Vec<f64>,
    /// The average at each cutoff.
    pub values: Vec<f64>,
}

/// One number of the scores, with the names of its run, query, measure and statistic.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ScoreRow<'a> {
    /// The name of the run.
    pub run: &'a str,
    /// The group of queries; `None` for all queries.
    pub group: Option<&'a str>,
    /// The query of a value of one query; `None` for a statistic.
    pub query: Option<&'a [u8]>,
    /// The measure.
    pub measure: &'a Measure,
    /// The kind of the number; `Mean` for the value of a query.
    pub stat: StatName,
    /// The number.
    pub value: f64,
}

impl PerQuery {
    /// Keeps the values of the given queries only, and skips a given query that has no values here.
    fn only(&self, queries: &[&[u8]]) -> Self {
        let mut indices: Vec<usize> =
            queries.iter().filter_map(|id| self.queries.find(id)).collect();
        // A query that is given twice counts once.
        indices.sort_unstable();
        indices.dedup();
        let missing = self.missing.iter().filter_map(|at| indices.binary_search(at).ok());
        Self {
            queries: indices.iter().map(|&at| self.queries.get(at)).collect(),
            values: self
                .values
                .iter()
                .map(|values| indices.iter().map(|&at| values[at]).collect())
                .collect(),
            missing: missing.collect(),
        }
    }
}

/// Returns whether the averages of a measure over some runs rest on equal numbers of queries.
/// Otherwise no average is the best.
pub(crate) fn are_of_as_many<'r>(
    runs: impl Iterator<Item = &'r RunScores>,
    measure: usize,
) -> bool {
    let mut counts = runs.map(|run| run.averaged(measure));
    let first = counts.next();
    counts.all(|count| Some(count) == first)
}

impl RunScores {
    /// Returns the average of the run under a measure, by the measure's index: the mean, the sum of
    /// counts, or the geometric mean.
    pub fn average(&self, measure: usize) -> Option<f64> {
        self.stats.get(measure)?.first().map(|&(_, value)| value)
    }

    /// Returns whether the run is known to have retrieved no judged document. The values of such a
    /// run say nothing about its quality.
    pub fn has_nothing_judged(&self) -> bool {
        self.judged == Some(0) || self.filled && self.missing.count >= self.queries as u64
    }

    /// Returns the number of queries without a value under a measure, by the measure's index.
    pub fn skipped(&self, measure: usize) -> usize {
        self.skipped.get(measure).copied().unwrap_or(0)
    }

    /// Returns the number of queries that the average under a measure is over, by the measure's
    /// index.
    pub fn averaged(&self, measure: usize) -> usize {
        self.queries.saturating_sub(self.skipped(measure))
    }

    /// Returns a statistic of the run's values under a measure, by the measure's index.
    pub fn stat(&self, measure: usize, stat: StatName) -> Option<f64> {
        let (_, value) = self.stats.get(measure)?.iter().find(|(name, _)| *name == stat)?;
        Some(*value)
    }

    /// Returns the numbers of the run, one a row: the values of its queries, then its statistics.
    fn rows<'a>(&'a self, measures: &'a [Measure]) -> impl Iterator<Item = ScoreRow<'a>> {
        let of_queries =
            self.per_query.iter().flat_map(move |PerQuery { queries, values, .. }| {
                queries.iter().enumerate().flat_map(move |(query, id)| {
                    let values = measures.iter().zip(values);
                    let known = values.filter(move |(_, values)| !is_undefined(values[query]));
                    known.map(move |(measure, values)| {
                        self.row(measure, Some(id), StatName::Value, values[query])
                    })
                })
            });
        let of_all = measures.iter().zip(&self.stats).flat_map(move |(measure, stats)| {
            stats.iter().map(move |&(stat, value)| self.row(measure, None, stat, value))
        });
        of_queries.chain(of_all)
    }

    /// Makes the row of one number of the run, with its query, measure and statistic.
    fn row<'a>(
        &'a self,
        measure: &'a Measure,
        query: Option<&'a [u8]>,
        stat: StatName,
        value: f64,
    ) -> ScoreRow<'a> {
        ScoreRow { run: &self.name, group: self.group.as_deref(), query, measure, stat, value }
    }

    /// Returns the run with its values of some queries alone, and without statistics.
    fn only(&self, queries: &[&[u8]]) -> Self {
        let per_query = self.per_query.as_ref().map(|per_query| per_query.only(queries));
        let lacking = per_query.iter().flat_map(|selection: &PerQuery| {
            selection.missing.iter().map(|&at| selection.queries.get(at))
        });
        Self {
            name: self.name.clone(),
            missing: Unmatched::all(lacking),
            rule: self.rule.clone(),
            ideal: self.ideal,
            filled: self.filled,
            fingerprints: self.fingerprints.clone(),
            queries: per_query.as_ref().map_or(0, |selection| selection.queries.len()),
            per_query,
            ..Self::default()
        }
    }
}

impl Scores {
    /// Returns the scores of a run by its name.
    pub fn run(&self, name: &str) -> Option<&RunScores> {
        self.runs.iter().find(|run| run.group.is_none() && run.name == name)
    }

    /// Returns the scores of a run over a group of its queries, by the names of the run and the
    /// group.
    pub fn group(&self, run: &str, group: &str) -> Option<&RunScores> {
        self.runs.iter().find(|scores| scores.group.as_deref() == Some(group) && scores.name == run)
    }

    /// Returns the scores of each run with the values of some queries alone, for a comparison;
    /// statistics and notices are left out.
    pub fn select(&self, queries: &[&[u8]]) -> Self {
        let runs = self.runs.iter().filter(|run| run.group.is_none());
        Self {
            measures: self.measures.clone(),
            runs: runs.map(|run| run.only(queries)).collect(),
            settings: self.settings,
            notices: Vec::new(),
            shared_judgments: self.shared_judgments,
        }
    }

    /// Returns the index of a measure among those of the scores, by any of its names.
    pub fn place(&self, measure: &str) -> Option<usize> {
        let measure: Measure = measure.parse().ok()?;
        self.measures.iter().position(|candidate| *candidate == measure)
    }

    /// Returns the average of a run under a measure, by the names of the run and the measure.
    pub fn average(&self, run: &str, measure: &str) -> Option<f64> {
        self.run(run)?.average(self.place(measure)?)
    }

    /// Returns the averages of a run under a measure at all evaluated cutoffs, by the names of the
    /// run and the measure; `None` if there are none.
    ///
    /// ```
    /// use laneval::{Evaluator, Join};
    /// let matrix =
    ///     Join::default().files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
    /// // One pass over the rankings for all of them.
    /// let scores = Evaluator::new(["P@1..50", "R@1..50", "nDCG(gain=exp2)@[1,5,10]"])?
    ///     .evaluate(&matrix)?;
    /// let (precision, recall) = (
    ///     scores.curve("demo-bm25.run", "P").unwrap(),
    ///     scores.curve("demo-bm25.run", "R").unwrap(),
    /// );
    /// assert_eq!(precision.cutoffs, (1..=50).map(f64::from).collect::<Vec<_>>());
    /// // The precision–recall curve: a point a rank.
    /// let points: Vec<(f64, f64)> = recall.values.into_iter().zip(precision.values).collect();
    /// assert!(points[0].0 < points[49].0 && points[0].1 > points[49].1);
    /// assert_eq!(
    ///     scores.curve("demo-bm25.run", "nDCG(gain=exp2)").unwrap().cutoffs,
    ///     [1.0, 5.0, 10.0]
    /// );
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn curve(&self, run: &str, measure: &str) -> Option<Curve> {
        let run = self.run(run)?;
        // Measures of one curve differ in their cutoff alone. 1 is a cutoff of ranks as well as a
        // level of recall.
        let measure: Measure = format!("{measure}@1").parse().ok()?;
        let alike =
            self.measures.iter().enumerate().filter(|(_, candidate)| candidate.is_like(&measure));
        let mut places: Vec<(f64, usize)> =
            alike.filter_map(|(at, candidate)| Some((candidate.cutoff()?, at))).collect();
        sort::by_number(&mut places, |place| place.0);
        let values = places.iter().map(|&(_, at)| run.average(at)).collect::<Option<Vec<f64>>>()?;
        let cutoffs: Vec<f64> = places.into_iter().map(|(cutoff, _)| cutoff).collect();
        (!cutoffs.is_empty()).then_some(Curve { cutoffs, values })
    }

    /// Returns all numbers of the scores, one a row: for each run the values of its queries, if
    /// they were asked for, then its statistics.
    pub fn rows(&self) -> impl Iterator<Item = ScoreRow<'_>> {
        self.runs.iter().flat_map(|run| run.rows(&self.measures))
    }

    /// Rejects scores with a statistic that is not finite.
    pub(crate) fn check_finite(&self) -> Result<()> {
        for run in &self.runs {
            for (measure, stats) in self.measures.iter().zip(&run.stats) {
                if let Some(&(stat, value)) = stats.iter().find(|(_, value)| !value.is_finite()) {
                    let (run, measure) = (run.name.clone(), format!("the {stat} of {measure}"));
                    return Err(Error::NotFinite { run, query: None, measure, value });
                }
            }
        }
        Ok(())
    }

    /// Appends the runs of another evaluation under the same measures and settings.
    ///
    /// # Errors
    /// Other measures, sets of queries, views, values of ties or known documents than these scores
    /// have; then nothing is added.
    pub fn append(&mut self, other: Self) -> Result<()> {
        let [own, others] = [&self.measures, &other.measures].map(|measures| {
            measures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        });
        // Checked before anything is added; names first, as their message says more.
        if own != others {
            return unanswerable(format!(
                "scores of different measures do not fit in one table: {own}, and {others}"
            ));
        }
        if self.settings != other.settings {
            return unanswerable(
                "scores of different queries, depths, values of ties or known documents do not \
                 fit in one table",
            );
        }
        self.runs.extend(other.runs);
        let new: Vec<Notice> =
            other.notices.into_iter().filter(|notice| !self.notices.contains(notice)).collect();
        self.notices.extend(new);
        self.shared_judgments = self.shared_judgments.or(other.shared_judgments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::View;

    #[test]
    fn only_scores_of_the_same_measures_are_appended() {
        let scores = |measures: &[&str], name: &str| Scores {
            measures: measures.iter().map(|name| name.parse().unwrap()).collect(),
            runs: vec![RunScores { name: name.to_owned(), ..RunScores::default() }],
            ..Scores::default()
        };
        let mut all = scores(&["AP", "RR"], "a");
        all.append(scores(&["AP", "RR"], "b")).unwrap();
        let error = all.append(scores(&["RR", "AP"], "c")).unwrap_err().to_string();
        assert_eq!(
            error,
            "scores of different measures do not fit in one table: AP, RR, and RR, AP"
        );
        let view = View { depth: Some(5), ..View::default() };
        let deeper = EvaluationSettings { view, ..EvaluationSettings::default() };
        let relevant_from = RelevantFrom::Retrieved;
        let retrieved = EvaluationSettings { relevant_from, ..EvaluationSettings::default() };
        for settings in [deeper, retrieved] {
            assert!(all.append(Scores { settings, ..scores(&["AP", "RR"], "c") }).is_err());
        }
        assert_eq!(all.runs.iter().map(|run| &run.name[..]).collect::<Vec<_>>(), ["a", "b"]);
    }
}

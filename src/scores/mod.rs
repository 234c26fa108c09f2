//! Scores: the results of an evaluation.

#[cfg(feature = "serde")]
mod serial;
mod settings;
#[cfg(feature = "serde")]
mod text;

use crate::error::{Error, Result};
use crate::ids::{Ids, Unmatched};
use crate::matrix::{Notice, SharedJudgments, TieCounts, View};
use crate::measure::Measure;
use crate::rule::{IdealOf, RankingRule};
use crate::sort;
use crate::stats::StatName;
pub use crate::stats::{UNDEFINED, is_undefined};

#[cfg(feature = "serde")]
pub(crate) use serial::SCHEMA;
#[cfg(feature = "report")]
pub(crate) use serial::{NamedRow, ScoresDocument};
pub use settings::EvaluationSettings;
#[cfg(feature = "serde")]
pub use text::JsonText;

/// The queries that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum QuerySet {
    /// Every judged query. A judged query that the run lacks has the values of an empty ranking.
    #[default]
    Judged,
    /// Only queries that are both judged and in the run.
    Both,
    /// Every judged query; a run that lacks a judged query is an error.
    Complete,
}

impl QuerySet {
    /// All sets with their command-line names.
    pub const ALL: [(&'static str, QuerySet); 3] =
        [("judged", QuerySet::Judged), ("both", QuerySet::Both), ("error", QuerySet::Complete)];
}

named!(QuerySet, "a set of queries");

/// The relevant documents known to a measure: recall divides by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Known {
    /// All relevant documents in the judgments.
    #[default]
    Judged,
    /// Only the relevant documents that the run retrieved, as for a program that gets lists and no
    /// judgments.
    Retrieved,
}

impl Known {
    /// Every choice, with its name on the command line.
    pub const ALL: [(&'static str, Known); 2] =
        [("judged", Known::Judged), ("retrieved", Known::Retrieved)];
}

named!(Known, "what is known of the relevant documents");

/// The value of a ranking in which documents have equal scores.
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
    pub const ALL: [(&'static str, TiedValue); 4] = [
        ("ranked", TiedValue::Ranked),
        ("average", TiedValue::Average),
        ("best", TiedValue::Best),
        ("worst", TiedValue::Worst),
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
    /// The queries that count.
    pub queries: QuerySet,
    /// The ranks and documents that were looked at.
    pub view: View,
    /// The relevant documents known to measures.
    pub known: Known,
    /// The value of a ranking in which documents have equal scores.
    pub tied: TiedValue,
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
    pub ideal: IdealOf,
    /// The numbers of its documents that have equal scores, if they were asked for.
    pub ties: Option<TieCounts>,
    /// Notices about the run.
    pub notices: Vec<Notice>,
    /// The statistics of each measure by name, the average first.
    pub stats: Vec<Vec<(StatName, f64)>>,
    /// The values of each query, if they were asked for.
    pub per_query: Option<PerQuery>,
}

/// Values by query.
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

/// The averages of a measure over its cutoffs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// The cutoffs, ascending: ranks, or levels of recall.
    pub cutoffs: Vec<f64>,
    /// The average at each cutoff.
    pub values: Vec<f64>,
}

/// One number of the scores, with its names.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Row<'a> {
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
    /// Keeps the values of the given queries, and skips a query that has no values here.
    fn only(&self, queries: &[&[u8]]) -> PerQuery {
        let mut kept: Vec<usize> = queries.iter().filter_map(|id| self.queries.find(id)).collect();
        kept.sort_unstable();
        kept.dedup();
        let missing = self.missing.iter().filter_map(|at| kept.binary_search(at).ok());
        PerQuery {
            queries: kept.iter().map(|&at| self.queries.get(at)).collect(),
            values: self.values.iter().map(|of| kept.iter().map(|&at| of[at]).collect()).collect(),
            missing: missing.collect(),
        }
    }
}

/// Whether the averages of a measure over some runs rest on equal numbers of queries. Otherwise no
/// average is the best.
pub(crate) fn are_of_as_many<'r>(
    runs: impl Iterator<Item = &'r RunScores>,
    measure: usize,
) -> bool {
    let mut counts = runs.map(|run| run.averaged(measure));
    let first = counts.next();
    counts.all(|count| Some(count) == first)
}

impl RunScores {
    /// The average of a measure by its index: the mean, the sum of counts, or the geometric mean.
    pub fn average(&self, measure: usize) -> Option<f64> {
        self.stats.get(measure)?.first().map(|&(_, value)| value)
    }

    /// Whether the run is known to have retrieved no judged document. The values of such a run say
    /// nothing about its quality.
    pub fn has_nothing_judged(&self) -> bool {
        self.judged == Some(0) || self.filled && self.missing.count >= self.queries as u64
    }

    /// The number of queries without a value under a measure by its index.
    pub fn skipped(&self, measure: usize) -> usize {
        self.skipped.get(measure).copied().unwrap_or(0)
    }

    /// The number of queries in the average of a measure by its index.
    pub fn averaged(&self, measure: usize) -> usize {
        self.queries.saturating_sub(self.skipped(measure))
    }

    /// A statistic of a measure by its index.
    pub fn stat(&self, measure: usize, stat: StatName) -> Option<f64> {
        let found = self.stats.get(measure)?.iter().find(|(name, _)| *name == stat);
        found.map(|&(_, value)| value)
    }

    /// The values of the queries, then the statistics, one number a row.
    fn rows<'a>(&'a self, measures: &'a [Measure]) -> impl Iterator<Item = Row<'a>> {
        let row = |query, at: usize, stat, value| Row {
            run: &self.name,
            group: self.group.as_deref(),
            query,
            measure: &measures[at],
            stat,
            value,
        };
        let of_queries =
            self.per_query.iter().flat_map(move |PerQuery { queries, values, .. }| {
                let of_query = move |(query, id)| {
                    let values = values.iter().enumerate();
                    let known = values.filter(move |(_, values)| !is_undefined(values[query]));
                    known.map(move |(at, values): (usize, &'a Vec<f64>)| {
                        row(Some(id), at, StatName::Value, values[query])
                    })
                };
                queries.iter().enumerate().flat_map(of_query)
            });
        let of_all = self.stats.iter().enumerate().flat_map(move |(at, stats)| {
            stats.iter().map(move |&(stat, value)| row(None, at, stat, value))
        });
        of_queries.chain(of_all)
    }
}

impl Scores {
    /// The scores of a run by its name.
    pub fn run(&self, name: &str) -> Option<&RunScores> {
        self.runs.iter().find(|run| run.group.is_none() && run.name == name)
    }

    /// The scores of a group of queries of a run, by their names.
    pub fn group(&self, run: &str, group: &str) -> Option<&RunScores> {
        self.runs.iter().find(|of| of.group.as_deref() == Some(group) && of.name == run)
    }

    /// The values of some queries, of each run over all queries, for a comparison of them;
    /// statistics and notices are those of all queries, and are left out.
    pub fn of_queries(&self, queries: &[&[u8]]) -> Scores {
        let run = |run: &RunScores| {
            let per_query = run.per_query.as_ref().map(|of| of.only(queries));
            let lacking = per_query
                .iter()
                .flat_map(|of: &PerQuery| of.missing.iter().map(|&at| of.queries.get(at)));
            RunScores {
                name: run.name.clone(),
                missing: Unmatched::all(lacking),
                rule: run.rule.clone(),
                ideal: run.ideal,
                filled: run.filled,
                fingerprints: run.fingerprints.clone(),
                queries: per_query.as_ref().map_or(0, |of| of.queries.len()),
                per_query,
                ..RunScores::default()
            }
        };
        Scores {
            measures: self.measures.clone(),
            runs: self.runs.iter().filter(|of| of.group.is_none()).map(run).collect(),
            queries: self.queries,
            view: self.view,
            known: self.known,
            tied: self.tied,
            notices: Vec::new(),
            shared_judgments: self.shared_judgments,
        }
    }

    /// The index of a measure by any of its names.
    pub fn place(&self, measure: &str) -> Option<usize> {
        let measure: Measure = measure.parse().ok()?;
        self.measures.iter().position(|of| *of == measure)
    }

    /// The average of a run under a measure, by their names.
    pub fn average(&self, run: &str, measure: &str) -> Option<f64> {
        self.run(run)?.average(self.place(measure)?)
    }

    /// The averages of a run under a measure at all of its cutoffs that were evaluated, by their
    /// names; `None` if none was.
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
        let alike = self.measures.iter().enumerate().filter(|(_, of)| of.is_like(&measure));
        let mut places: Vec<(f64, usize)> =
            alike.filter_map(|(at, of)| Some((of.cutoff()?, at))).collect();
        sort::by_number(&mut places, |place| place.0);
        let values = places.iter().map(|&(_, at)| run.average(at)).collect::<Option<Vec<f64>>>()?;
        let cutoffs: Vec<f64> = places.into_iter().map(|(cutoff, _)| cutoff).collect();
        (!cutoffs.is_empty()).then_some(Curve { cutoffs, values })
    }

    /// All numbers, one a row: for each run the values of its queries, if they were asked for, then
    /// its statistics.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.runs.iter().flat_map(|run| run.rows(&self.measures))
    }

    /// Refuses a statistic that is not finite.
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

    /// Appends the runs of another evaluation under the same measures.
    ///
    /// # Errors
    /// Other measures, sets of queries, views, values of ties or known documents than these scores
    /// have; then nothing is added.
    pub fn append(&mut self, other: Scores) -> Result<()> {
        let settings = |scores: &Scores| {
            let names =
                scores.measures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            (names, (scores.queries, scores.view, scores.tied, scores.known))
        };
        let (own, others) = (settings(self), settings(&other));
        // Checked before anything is added; names first, as their message says more.
        if own.0 != others.0 {
            let message = format!(
                "scores of different measures do not fit in one table: {}, and {}",
                own.0, others.0
            );
            return Err(Error::Unanswerable(message));
        }
        if own != others {
            let message = "scores of different queries, depths, values of ties or known documents \
                           do not fit in one table"
                .to_owned();
            return Err(Error::Unanswerable(message));
        }
        self.runs.extend(other.runs);
        let new: Vec<Notice> =
            other.notices.into_iter().filter(|of| !self.notices.contains(of)).collect();
        self.notices.extend(new);
        self.shared_judgments = self.shared_judgments.or(other.shared_judgments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let deeper = Scores {
            view: View { depth: Some(5), ..View::default() },
            ..scores(&["AP", "RR"], "c")
        };
        assert!(all.append(deeper).is_err());
        let retrieved = Scores { known: Known::Retrieved, ..scores(&["AP", "RR"], "c") };
        assert!(all.append(retrieved).is_err());
        assert_eq!(all.runs.iter().map(|run| &run.name[..]).collect::<Vec<_>>(), ["a", "b"]);
    }
}

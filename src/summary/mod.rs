//! Summaries: the results of an evaluation in a form that can be merged.
//!
//! For each run and measure, a [`Summary`] holds the number of counted queries, the exact sums of
//! the values and of the squares, and both extremes. A summary also holds the settings of the
//! evaluation and the queries, as hashes or ids. Merging is associative and commutative to the bit,
//! so shards in any number and any order give the result of one pass. A merge of incompatible
//! summaries fails, and the error names the setting to change.
//!
//! Means, sums, geometric means, standard deviations and extremes follow from a summary. Medians,
//! bootstrap intervals and per-query values do not, because all three need every value.
//!
//! # Why merging is associative and commutative to the bit
//!
//! ```text
//! sums, sums of squares    whole numbers, as wide as all of f64: addition of integers
//! counts                   integers, saturating: the largest number absorbs in any order
//! place, tag, extremes     smallest or first: a minimum
//! sources, fingerprints    unions of sets
//! queries                  the union of disjoint sets, in the least detail that either has
//! ```
//!
//! Each field is a commutative monoid, so the product of the fields is a commutative monoid too. A
//! tree, a chain or a shuffle of merges gives the same bytes. Therefore no field may depend on the
//! order of merging. For example, a merged run keeps the first tag in bytewise order, not the tag
//! of the first run.
//!
//! A merge checks everything, and joins the sets of queries, before changing the first run. So a
//! failed merge leaves the summary unchanged.

#[cfg(feature = "serde")]
pub(crate) mod frame;
mod grades;
mod queries;
#[cfg(feature = "serde")]
pub(crate) mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::error::{Error, Result, printable, unanswerable};
use crate::ids::Unmatched;
use crate::matrix::{DuplicateCounts, Notice, ScoreWarnings, View};
use crate::measure::Measure;
use crate::rule::{IdealSource, RankingRule, SettingDifference};
use crate::scores::{EvaluationSettings, QuerySet, RunScores, Scores, TiedValue, are_of_as_many};
use crate::sort;
use crate::stats::{Stat, StatName};

pub use crate::stats::{ExactSum, Moments};
pub(crate) use grades::{GradeBounds, of_grades};
pub use queries::QueryFingerprint;

use queries::CommonQueries;

/// The mergeable results of an evaluation: exact sums of the values of each run under each measure.
///
/// ```
/// use laneval::{Evaluator, Join, Qrels, Stat};
/// let evaluator = Evaluator::new(["AP", "nDCG@10"])?;
/// let shard = |query: &str, score: f64| {
///     let qrels = Qrels::new([(query, "d1", 1.0)])?;
///     let run = [(query, "d1", score), (query, "d2", 0.5)];
///     evaluator.summary(&Join::default().rankings(&qrels, [("mine".to_owned(), run)])?)
/// };
/// let mut summary = shard("q1", 0.7)?;
/// summary.merge(&shard("q2", 0.2)?)?;
/// assert_eq!(summary.scores(&[Stat::Min])?.average("mine", "AP"), Some(0.75));
///
/// let twice = summary.clone();
/// assert!(summary.merge(&twice).unwrap_err().to_string().contains("2 queries are counted twice"));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub(crate) measures: Vec<Measure>,
    pub(crate) settings: EvaluationSettings,
    /// The summaries by the name of the run, and of the group of queries; `None` for all queries.
    pub(crate) runs: BTreeMap<(String, Option<String>), RunSummary>,
}

/// The mergeable results of one run, or of a group of its queries.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The index of the run among those of its evaluation; the smallest of several.
    pub(crate) place: u64,
    /// The run id on the last line of the run; the first of several in bytewise order.
    pub(crate) tag: Vec<u8>,
    /// The files that the run was read from.
    pub(crate) sources: BTreeSet<String>,
    /// The number of summaries merged into this summary.
    pub(crate) parts: u64,
    pub(crate) rule: RankingRule,
    /// The fingerprints of the judgments.
    pub(crate) fingerprints: BTreeSet<u128>,
    /// The sets of judged queries, each as the sum of its hashes with its number of queries.
    pub(crate) judged: BTreeMap<u128, u64>,
    /// The queries that count.
    pub(crate) queries: Arc<QueryFingerprint>,
    /// The number of counted queries missing from the run, evaluated as empty rankings.
    pub(crate) empty: u64,
    /// Judged queries missing from the run.
    pub(crate) missing: Unmatched,
    /// Queries of the run without judgments.
    pub(crate) ignored: Unmatched,
    pub(crate) seen: ScoreWarnings,
    pub(crate) units: DuplicateCounts,
    /// The range of the grades of the judgments.
    pub(crate) grades: GradeBounds,
    /// The number that a parameter `auto` became, by measure.
    pub(crate) taken: Vec<Option<f64>>,
    /// The sum of the terms of the average, by measure.
    pub(crate) sums: Vec<ExactSum>,
    /// The moments of the values, by measure; empty if only averages were asked for.
    pub(crate) moments: Vec<Moments>,
    /// The number of queries without a value, by measure; empty if all have one.
    pub(crate) skipped: Vec<u64>,
    /// The source of the number of relevant documents and of ideal rankings.
    pub(crate) ideal: IdealSource,
}

impl Summary {
    /// Returns the measures of the summary.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Returns the set of queries that count in the evaluation, such as all judged queries.
    pub fn queries(&self) -> QuerySet {
        self.settings.queries
    }

    /// Returns the view of the rankings that the evaluation had: its depth, and whether unjudged
    /// documents were left out.
    pub fn view(&self) -> View {
        self.settings.view
    }

    /// Returns the settings of the evaluation that made the summary.
    pub fn settings(&self) -> EvaluationSettings {
        self.settings
    }

    /// Returns the summaries of the runs by name, each with its groups of queries, if there are
    /// any.
    pub fn runs(&self) -> impl Iterator<Item = (&str, Option<&str>, &RunSummary)> {
        self.runs.iter().map(|((name, group), run)| (name.as_str(), group.as_deref(), run))
    }

    /// Sets the source of the summary, such as its file, for messages about merges. All runs then
    /// have this one source.
    #[must_use]
    pub fn from_source(mut self, source: &str) -> Self {
        self.runs.values_mut().for_each(|run| run.sources = BTreeSet::from([source.to_owned()]));
        self
    }

    /// Drops the ids of queries from the summary and keeps hashes. The hashes still tell whether a
    /// query was counted twice.
    #[must_use]
    pub fn without_ids(mut self) -> Self {
        let mut done: Vec<(Arc<QueryFingerprint>, Arc<QueryFingerprint>)> = Vec::new();
        for run in self.runs.values_mut() {
            // Runs share their sets of queries. Keeping the hashed sets shared hashes each set once
            // instead of once per run.
            let known = done
                .iter()
                .find(|(queries, _)| Arc::ptr_eq(queries, &run.queries))
                .map(|(_, to)| to.clone());
            let hashed = known.unwrap_or_else(|| Arc::new(run.queries.without_ids()));
            // The old set stays alive in `done`, so no new set can have its address.
            done.push((std::mem::replace(&mut run.queries, hashed.clone()), hashed));
        }
        self
    }

    /// Adds the results of another summary, over other queries or of other runs. Runs of the same
    /// name are merged, and runs with new names are added.
    ///
    /// # Errors
    /// [`Error::Merge`] for other measures, settings or numbers taken from the judgments, and for
    /// queries that both summaries count. The error names the setting that would make the summaries
    /// fit. On an error nothing is added.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.check(other)?;
        // All sets are joined before the first run changes: an error leaves the summary as it was.
        let mut joined = JoinedSets::default();
        let mut prints = Vec::new();
        for (key, run) in &other.runs {
            if let Some(own) = self.runs.get(key) {
                prints.push(joined.both(own, run, &key.0)?);
            }
        }
        let mut prints = prints.into_iter();
        for (key, run) in &other.runs {
            match self.runs.get_mut(key) {
                None => _ = self.runs.insert(key.clone(), run.clone()),
                Some(own) => {
                    own.add(run, self.settings.queries);
                    let queries = prints.next();
                    own.queries =
                        queries.unwrap_or_else(|| unreachable!("every run of both was joined"));
                }
            }
        }
        Ok(())
    }

    /// Appends the runs of another summary under the same measures, behind the runs of this one.
    ///
    /// # Errors
    /// [`Error::Merge`] for other measures or settings, or a run name in both summaries. On an
    /// error nothing is added.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        self.check(other)?;
        if let Some((name, _)) = other.runs.keys().find(|key| self.runs.contains_key(key)) {
            return Err(Error::Merge(format!(
                "two runs have the name {}",
                printable(name.as_bytes())
            )));
        }
        let behind = self.runs.values().map(|run| run.place.saturating_add(1)).max().unwrap_or(0);
        self.runs.extend(other.runs.iter().map(|(key, run)| {
            (key.clone(), RunSummary { place: behind.saturating_add(run.place), ..run.clone() })
        }));
        Ok(())
    }

    /// Rejects a summary with other measures, settings or query groups, and with runs that cannot
    /// be merged.
    pub(crate) fn check(&self, other: &Self) -> Result<()> {
        if self.measures != other.measures {
            let [own, others] = [self, other].map(|summary| {
                summary.measures.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
            });
            let option = "-m: the same measures in the same order";
            return Err(Error::Merge(differ("measures", &own, &others, option)));
        }
        if let Some(setting) = self.settings.differences(&other.settings).first() {
            return Err(Error::Merge(setting.to_string()));
        }
        for (name, _) in
            other.runs.keys().filter(|(name, _)| self.runs.contains_key(&(name.clone(), None)))
        {
            if self.has_groups(name) != other.has_groups(name) {
                let name = printable(name.as_bytes());
                return Err(Error::Merge(format!(
                    "{name}: one has groups of queries and the other has none: set --group-by alike"
                )));
            }
        }
        for (key, run) in &other.runs {
            if let Some(own) = self.runs.get(key) {
                own.check(run, &self.measures).map_err(|message| {
                    Error::Merge(format!("{}: {message}", printable(key.0.as_bytes())))
                })?;
            }
        }
        Ok(())
    }

    /// Returns whether a run of the summary has groups of queries.
    fn has_groups(&self, run: &str) -> bool {
        // Keys sort by name and then group, `None` first: the key behind (name, None) is the name's
        // first group, if it has one.
        let behind = (Bound::Excluded((run.to_owned(), None)), Bound::Unbounded);
        self.runs.range(behind).next().is_some_and(|((name, _), _)| name == run)
    }

    /// Computes the scores of the summarised runs, with these statistics besides the averages.
    ///
    /// # Errors
    /// A statistic that needs the values of all queries, such as the median; an infinite or NaN
    /// result.
    pub fn scores(&self, stats: &[Stat]) -> Result<Scores> {
        if let Some(stat) = stats.iter().find(|stat| stat.needs_values()) {
            return unanswerable(format!(
                "{stat} needs the values of all queries, which a summary does not have: take std, \
                 min or max"
            ));
        }
        let mut runs: Vec<_> = self.runs.iter().collect();
        // Places may be alike: the first runs of two summaries that were merged both have place 0.
        sort::by(&mut runs, |(one, first), (other, second)| {
            first.place.cmp(&second.place).then(one.cmp(other))
        });
        let scores = runs.iter().map(|((name, group), run)| {
            let scores = run.scores(&self.measures, self.settings, stats, Vec::new());
            RunScores { name: name.clone(), group: group.clone(), ..scores }
        });
        let runs: Vec<RunScores> = scores.collect();
        let grades = self.runs.values().map(|run| run.grades).reduce(GradeBounds::and);
        let mut notices = of_grades(&self.measures, grades.unwrap_or_default());
        notices.extend(skipped_queries(&self.measures, &runs));
        notices.extend(unlike_queries(&self.measures, &runs));
        let scores = Scores {
            measures: self.measures.clone(),
            runs,
            settings: self.settings,
            notices,
            ..Scores::default()
        };
        scores.check_finite()?;
        Ok(scores)
    }
}

impl RunSummary {
    /// Returns the number of queries that count for the run.
    pub fn count(&self) -> u64 {
        self.queries.count()
    }

    /// Returns the set of queries that count for the run.
    pub fn queries(&self) -> &QueryFingerprint {
        &self.queries
    }

    /// Returns the moments of the run's values under a measure, by the measure's index.
    pub fn moments(&self, measure: usize) -> Option<&Moments> {
        self.moments.get(measure)
    }

    /// Returns the rule by which the rankings of the run were made.
    pub fn rule(&self) -> RankingRule {
        self.rule.clone()
    }

    /// Returns the fingerprints of the judgments that the run was evaluated by, ascending. The
    /// iterator has one entry if all shards used the same qrels.
    pub fn fingerprints(&self) -> impl Iterator<Item = u128> {
        self.fingerprints.iter().copied()
    }

    /// Returns the files that the run was read from.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(String::as_str)
    }

    /// Returns the number of summaries that were merged into this one.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    fn check(&self, other: &Self, measures: &[Measure]) -> Result<(), String> {
        if let Some(rule) = self.rule.differences(&other.rule).first() {
            return Err(rule.to_string());
        }
        if self.ideal != other.ideal {
            return Err(format!(
                "ideal rankings are made of the {} here and of the {} there: give judged counts in \
                 all, or in none",
                self.ideal, other.ideal
            ));
        }
        for (measure, (own, others)) in measures.iter().zip(self.taken.iter().zip(&other.taken)) {
            if own != others {
                let most = [own, others].into_iter().flatten().copied().fold(0.0, f64::max);
                return Err(format!(
                    "{measure} takes the highest grade of the judgments, which is {} here and {} \
                     there: set gmax={most} in all",
                    number_text(*own),
                    number_text(*others)
                ));
            }
        }
        Ok(())
    }

    /// Adds the results of the same run from another summary, except the set of queries.
    fn add(&mut self, other: &Self, policy: QuerySet) {
        self.place = self.place.min(other.place);
        if other.tag < self.tag {
            self.tag.clone_from(&other.tag);
        }
        self.sources.extend(other.sources.iter().cloned());
        // Saturating addition is associative for numbers ≥ 0. A wrapped count would pass for a
        // small one.
        self.parts = self.parts.saturating_add(other.parts);
        self.fingerprints.extend(&other.fingerprints);
        self.judged.extend(&other.judged);
        self.empty = self.empty.saturating_add(other.empty);
        self.missing = match policy {
            // Missing queries may have been counted in other shards.
            QuerySet::Common => Unmatched::default(),
            QuerySet::Judged | QuerySet::RequireAll => self.missing.and(&other.missing),
        };
        self.ignored = self.ignored.and(&other.ignored);
        self.seen.merge(other.seen);
        self.units.merge(other.units);
        self.grades = self.grades.and(other.grades);
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, more)| sum.merge(more));
        self.moments.iter_mut().zip(&other.moments).for_each(|(moments, more)| moments.merge(more));
        self.add_skipped(&other.skipped);
    }

    /// Adds the numbers of queries without a value, by measure.
    pub(crate) fn add_skipped(&mut self, more: &[u64]) {
        if self.skipped.is_empty() {
            self.skipped = more.to_vec();
        } else {
            let skipped = self.skipped.iter_mut().zip(more);
            skipped.for_each(|(skipped, more)| *skipped = skipped.saturating_add(*more));
        }
    }

    /// Returns the number of counted queries without a value under a measure, by the measure's
    /// index: these are in none of its averages.
    pub fn skipped(&self, measure: usize) -> u64 {
        self.skipped.get(measure).copied().unwrap_or(0)
    }

    /// Returns the judged queries that the run lacks.
    fn missing(&self, policy: QuerySet) -> Unmatched {
        if policy == QuerySet::Common && self.parts > 1 {
            let judged = self.judged.values().fold(0u64, |sum, &count| sum.saturating_add(count));
            return Unmatched {
                count: judged.saturating_sub(self.count()),
                ..Unmatched::default()
            };
        }
        self.missing.clone()
    }

    pub(crate) fn scores(
        &self,
        measures: &[Measure],
        settings: EvaluationSettings,
        stats: &[Stat],
        more: Vec<Vec<(StatName, f64)>>,
    ) -> RunScores {
        let count = self.count() as usize;
        let stats_by_measure = measures.iter().enumerate().map(|(at, measure)| {
            let more = more.get(at).map_or(&[][..], Vec::as_slice);
            self.measure_stats(at, measure, stats, more)
        });
        // If values are over all orders, the order of equal scores does not matter.
        let seen = self.seen.notices(self.rule.ties).into_iter().filter(|notice| {
            settings.tied == TiedValue::Ranked || !matches!(notice, Notice::EqualScores { .. })
        });
        let units = self.units.notices(&self.rule.aggregation().units);
        let unchecked =
            (self.parts > 1 && !self.queries.is_known()).then_some(Notice::OverlapNotChecked);
        let one =
            (count == 1 && stats.iter().any(|stat| stat.is_spread())).then_some(Notice::OneQuery);
        RunScores {
            tag: self.tag.clone(),
            rule: self.rule.clone(),
            fingerprints: self.fingerprints.iter().copied().collect(),
            queries: count,
            skipped: self.skipped.iter().map(|&count| count as usize).collect(),
            missing: self.missing(settings.queries),
            filled: settings.queries != QuerySet::Common,
            judged: (self.seen.ranked > 0).then_some(self.seen.judged),
            ignored: self.ignored_of_all(),
            ideal: self.ideal,
            notices: seen.chain(units).chain(one).chain(unchecked).collect(),
            stats: stats_by_measure.collect(),
            ..RunScores::default()
        }
    }

    /// Returns the statistics of the run under a measure, by the measure's index, the average
    /// first; `more` are those that need all values.
    fn measure_stats(
        &self,
        at: usize,
        measure: &Measure,
        stats: &[Stat],
        more: &[(StatName, f64)],
    ) -> Vec<(StatName, f64)> {
        let average = measure.definition().average;
        let count = self.count().saturating_sub(self.skipped(at)) as usize;
        let mut all = Vec::new();
        // An average of no queries is no number, and is left out.
        if count > 0 {
            all.push((average.name(), average.finish_exact(&self.sums[at], count)));
        }
        for stat in stats {
            all.extend(self.moments.get(at).and_then(|moments| stat.compute(moments)));
            all.extend(more.iter().filter(|(name, _)| stat.names().contains(name)));
        }
        all
    }

    /// Returns the queries of the run that have no judgments in any of the merged summaries. A part
    /// may have the whole run but only some of the judgments, and then reports queries of other
    /// parts as not judged. Queries whose ids were left out for their number are dropped from the
    /// count once another part judges a named query.
    fn ignored_of_all(&self) -> Unmatched {
        let Some(judged) =
            self.queries.hashes().filter(|_| self.parts > 1 && self.ignored.count > 0)
        else {
            return self.ignored.clone();
        };
        let ids = self.ignored.ids.iter();
        let mut left: Vec<&[u8]> =
            ids.filter(|id| judged.binary_search(&QueryFingerprint::hash(id)).is_err()).collect();
        // Several parts may have ignored a query, and the ids ascend.
        left.dedup();
        if left.len() == self.ignored.ids.len() {
            self.ignored.clone()
        } else {
            Unmatched::all(left)
        }
    }
}

/// A cache of joined sets of query ids during a merge of summaries: runs with equal sets share the
/// work of joining.
#[derive(Default)]
struct JoinedSets(Vec<([Arc<QueryFingerprint>; 2], Arc<QueryFingerprint>)>);

impl JoinedSets {
    /// Joins the query sets of two summaries of a run, or returns the join of the same sets from
    /// the cache.
    fn both(
        &mut self,
        one: &RunSummary,
        other: &RunSummary,
        name: &str,
    ) -> Result<Arc<QueryFingerprint>> {
        // By pointer: comparing the sets themselves would cost as much as joining them.
        for ([first, second], joined) in &self.0 {
            if Arc::ptr_eq(first, &one.queries) && Arc::ptr_eq(second, &other.queries) {
                return Ok(joined.clone());
            }
        }
        let joined = one.queries.and(&other.queries).map_err(|common| {
            let twice = overlap_message(&common, [one, other]);
            Error::Merge(format!("{}: {twice}", printable(name.as_bytes())))
        })?;
        let joined = Arc::new(joined);
        self.0.push(([one.queries.clone(), other.queries.clone()], joined.clone()));
        Ok(joined)
    }
}

/// Describes the queries that two summaries of a run both count.
pub(crate) fn overlap_message(common: &CommonQueries, runs: [&RunSummary; 2]) -> String {
    let queries = if common.count == 1 { "query is" } else { "queries are" };
    let first: Vec<String> = common.first.iter().map(printable).collect();
    let more = if common.count > first.len() as u64 { ", …" } else { "" };
    let named =
        if first.is_empty() { String::new() } else { format!(" ({}{more})", first.join(", ")) };
    let [one, other] = runs.map(|run| some(&run.sources));
    format!("{} {queries} counted twice{named}: in {one} and in {other}", common.count)
}

/// Lists the first few source files of a run, as text.
fn some(sources: &BTreeSet<String>) -> String {
    const NAMED: usize = 3;
    let first: Vec<String> =
        sources.iter().take(NAMED).map(|source| printable(source.as_bytes())).collect();
    let more = sources.len().saturating_sub(NAMED);
    match (first.is_empty(), more) {
        (true, _) => "memory".to_owned(),
        (_, 0) => first.join(", "),
        _ => format!("{} and {more} more", first.join(", ")),
    }
}

/// Returns an optional number as text, or `none`.
pub(crate) fn number_text(number: Option<f64>) -> String {
    number.map_or("none".to_owned(), |number| number.to_string())
}

/// Returns the error message of a merge in which a setting has two values.
pub(crate) fn differ(
    what: &'static str,
    own: &impl ToString,
    other: &impl ToString,
    option: &'static str,
) -> String {
    SettingDifference { what, option, values: [own.to_string(), other.to_string()] }.to_string()
}

/// Makes the notices of queries without a value, one for each number of these queries, with the
/// measures that have this number. The number of a measure is the largest among its runs.
pub(crate) fn skipped_queries(measures: &[Measure], runs: &[RunScores]) -> Vec<Notice> {
    let mut notices: Vec<Notice> = Vec::new();
    for (at, measure) in measures.iter().enumerate() {
        let whole = runs.iter().filter(|run| run.group.is_none());
        let most = whole.map(|run| run.skipped(at)).max().unwrap_or(0) as u64;
        if most == 0 {
            continue;
        }
        let noticed = notices.iter_mut().find_map(|notice| match notice {
            Notice::SkippedQueries { measures, queries } if *queries == most => Some(measures),
            _ => None,
        });
        match noticed {
            Some(measures) => measures.push(measure.to_string()),
            None => notices.push(Notice::SkippedQueries {
                measures: vec![measure.to_string()],
                queries: most,
            }),
        }
    }
    notices
}

/// Returns the notice of measures whose averages are over different numbers of queries in several
/// runs.
pub(crate) fn unlike_queries(measures: &[Measure], runs: &[RunScores]) -> Option<Notice> {
    let whole: Vec<&RunScores> = runs.iter().filter(|run| run.group.is_none()).collect();
    let unlike: Vec<usize> =
        (0..measures.len()).filter(|&at| !are_of_as_many(whole.iter().copied(), at)).collect();
    let counts: Vec<u64> = unlike
        .iter()
        .flat_map(|&at| whole.iter().map(move |run| run.averaged(at) as u64))
        .collect();
    let queries = [*counts.iter().min()?, *counts.iter().max()?];
    let measures = unlike.iter().map(|&at| measures[at].to_string()).collect();
    Some(Notice::UnlikeQueries { measures, queries })
}

/// Returns the text of the notice that queries have no value under a measure,
/// [`Notice::SkippedQueries`].
pub(crate) fn skipped_sentence(measure: &Measure, queries: u64) -> String {
    Notice::SkippedQueries { measures: vec![measure.to_string()], queries }.to_string()
}

//! The outcome of an evaluation: exact sums by run and query group, from which scores and a summary
//! are made, both of one pass.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Evaluator;
use super::evaluation::{Wants, check_judgments};
use super::joined_run::JoinedRun;
use super::sink::ValueCollector;
use super::slots::Slots;
use super::tally::{NotFinite, SlotSums, by_row};
use crate::error::{Error, Result, printable, unanswerable};
use crate::ids::Unmatched;
use crate::judged_by::FacetKind;
use crate::matrix::{Codebook, Notice};
use crate::measure::{JudgmentNeeds, Measure};
use crate::rule::{IdealSource, RankingRule};
use crate::scores::{PerQuery, QuerySet, RunScores, Scores};
use crate::stats::{ExactSum, Moments, StatName, summarise};
use crate::summary::{
    GradeBounds, QueryFingerprint, RunSummary, Summary, of_grades, skipped_queries, unlike_queries,
};

/// The outcome of an evaluation: exact sums of values, with the evaluator, the runs and their
/// queries.
pub(super) struct Outcome<'o, J> {
    pub evaluator: Cow<'o, Evaluator>,
    pub joined: J,
    pub slots: Slots,
    pub sums: SlotSums,
    /// Notices about the chosen queries.
    pub notices: Vec<Notice>,
    pub wants: Wants,
}

/// The summary of a run or of a group of its queries, with the run's index and the group's name.
type SlotSummary = ((usize, Option<String>), RunSummary);

impl<J: JoinedRun> Outcome<'_, J> {
    /// Returns the mergeable summary of all runs of the evaluation.
    ///
    /// # Errors
    /// An infinite or NaN value; two runs with equal names.
    pub fn summary(&self) -> Result<Summary> {
        self.summary_from(self.summaries(true)?)
    }

    /// Returns the scores and the summary of all runs of the evaluation; both say which queries
    /// count.
    ///
    /// # Errors
    /// As [`Outcome::summary`] and [`Outcome::scores`].
    pub fn scores_and_summary(&self, collector: ValueCollector) -> Result<(Scores, Summary)> {
        let summaries = self.summaries(true)?;
        let summary = self.summary_from(summaries.clone())?;
        Ok((self.scores_from(summaries, collector)?, summary))
    }

    fn summary_from(&self, summaries: Vec<SlotSummary>) -> Result<Summary> {
        let mut by_name = BTreeMap::new();
        for ((run, group), summary) in summaries {
            let name = self.joined.runs()[run].name.clone();
            if by_name.insert((name.clone(), group), summary).is_some() {
                let name = printable(name.as_bytes());
                return unanswerable(format!(
                    "two runs have the name {name}: summaries need distinct ones, as name=path \
                     gives them"
                ));
            }
        }
        Ok(self.evaluator.summary_of(by_name))
    }

    /// Returns the scores of all runs of the evaluation, with the statistics that need the values
    /// of all queries.
    ///
    /// # Errors
    /// An infinite or NaN value, unless the evaluator allows values that are not finite.
    pub fn scores(&self, collector: ValueCollector) -> Result<Scores> {
        self.scores_from(self.summaries(false)?, collector)
    }

    fn scores_from(
        &self,
        summaries: Vec<SlotSummary>,
        collector: ValueCollector,
    ) -> Result<Scores> {
        let (evaluator, joined) = (&*self.evaluator, &self.joined);
        let queries = joined.queries().len();
        let values = match &collector.parts {
            Some(parts) => by_row(parts, evaluator.measures.len(), joined.runs().len() * queries)?,
            None => Vec::new(),
        };
        let mut runs = Vec::new();
        for (slot, ((run, group), summary)) in summaries.into_iter().enumerate() {
            let counted: Vec<usize> =
                if self.wants.values { self.counted(run, slot).collect() } else { Vec::new() };
            let values: Vec<Vec<f64>> = values
                .iter()
                .map(|column| counted.iter().map(|query| column[run * queries + query]).collect())
                .collect();
            let mut of_run = evaluator.run_scores(&summary, &values);
            of_run.name.clone_from(&joined.runs()[run].name);
            of_run.group = group;
            of_run.per_query = evaluator.per_query.then(|| PerQuery {
                queries: counted.iter().map(|&query| joined.queries().get(query)).collect(),
                values,
                missing: (0..counted.len()).filter(|&at| !joined.has(run, counted[at])).collect(),
            });
            runs.push(of_run);
        }
        let largest = largest_of_groups(&evaluator.measures, joined.judged_by());
        let notices = self.notices.iter().cloned().chain(largest);
        let scores = evaluator.scores_of(joined.book(), notices, runs)?;
        Ok(Scores { shared_judgments: joined.shared_judgments(), ..scores })
    }

    /// Makes a summary of the sums of each run, and of each group of its queries; `prints` says
    /// which queries count.
    fn summaries(&self, prints: bool) -> Result<Vec<SlotSummary>> {
        self.check_finite(prints)?;
        let mut of_queries = prints.then(FingerprintCache::default);
        let slots = self.slots.iter().enumerate().map(|(slot, (run, group))| {
            let summary = self.slot_summary(slot, run, group.is_none(), &mut of_queries);
            ((run, group.map(str::to_owned)), summary)
        });
        Ok(slots.collect())
    }

    /// Rejects an outcome with infinite or NaN values. With `prints`, an evaluator that allows
    /// infinite or NaN values does not suppress the error.
    fn check_finite(&self, prints: bool) -> Result<()> {
        let found = self.sums.not_finite.filter(|_| !self.evaluator.not_finite || prints);
        let Some(NotFinite { row, measure, value }) = found else { return Ok(()) };
        let (row, queries) = (row as usize, self.joined.queries());
        Err(Error::NotFinite {
            run: self.joined.runs()[row / queries.len()].name.clone(),
            query: Some(queries.get(row % queries.len()).to_vec()),
            measure: self.evaluator.measures[measure].to_string(),
            value,
        })
    }

    /// Makes the summary of a slot of sums, which has `all` queries of its run or a group of them.
    fn slot_summary(
        &self,
        slot: usize,
        run: usize,
        all: bool,
        prints: &mut Option<FingerprintCache>,
    ) -> RunSummary {
        let (evaluator, joined) = (&*self.evaluator, &self.joined);
        let info = &joined.runs()[run];
        let lacking = missing(joined, run, self.slots.queries(slot));
        let missing = if evaluator.missing_ids || prints.is_some() {
            Unmatched::all(lacking)
        } else {
            Unmatched::first(lacking)
        };
        let queries = match prints {
            Some(prints) => prints.fingerprint(joined, self.counted(run, slot)),
            None => Arc::new(QueryFingerprint::unnamed(self.sums.counts[slot])),
        };
        let judged = prints.as_mut().map(|prints| {
            let judged = prints.fingerprint(joined, self.slots.queries(slot));
            (judged.sum().unwrap_or_default(), judged.count())
        });
        let measures = evaluator.measures.len();
        let own = slot * measures..(slot + 1) * measures;
        let moments = if self.wants.moments { &self.sums.moments[own.clone()] } else { &[] };
        RunSummary {
            place: run as u64,
            tag: info.tag.clone(),
            sources: BTreeSet::from([info.source.clone()]),
            fingerprints: BTreeSet::from([joined.fingerprint()]),
            judged: judged.into_iter().collect(),
            queries,
            empty: if evaluator.settings.queries == QuerySet::Common { 0 } else { missing.count },
            missing,
            ignored: if all { info.ignored.clone() } else { Unmatched::default() },
            seen: if all { info.seen } else { Default::default() },
            units: if all { info.units } else { Default::default() },
            ..evaluator.run_summary(
                RunProvenance { book: joined.book(), rule: joined.rule(), ideal: joined.ideal() },
                &self.sums.sums[own.clone()],
                moments,
                self.sums.skipped.get(own).unwrap_or_default(),
            )
        }
    }

    /// Returns the queries that count in a slot of sums: of a run, or of a group of its queries.
    fn counted(&self, run: usize, slot: usize) -> impl Iterator<Item = usize> {
        let all = self.evaluator.settings.queries != QuerySet::Common;
        self.slots.queries(slot).filter(move |&query| all || self.joined.has(run, query))
    }
}

impl Evaluator {
    /// Makes the summary of a run from its sums, moments and numbers of queries without a value, by
    /// measure. Facts such as its queries are not filled in yet.
    pub(super) fn run_summary(
        &self,
        provenance: RunProvenance<'_>,
        sums: &[ExactSum],
        moments: &[Moments],
        skipped: &[u64],
    ) -> RunSummary {
        let highest_grades =
            self.measures.iter().map(|measure| measure.highest_grade(provenance.book));
        RunSummary {
            place: 0,
            tag: Vec::new(),
            sources: BTreeSet::new(),
            parts: 1,
            rule: provenance.rule,
            fingerprints: BTreeSet::new(),
            judged: BTreeMap::new(),
            queries: Arc::new(QueryFingerprint::unnamed(0)),
            empty: 0,
            missing: Unmatched::default(),
            ignored: Unmatched::default(),
            seen: Default::default(),
            units: Default::default(),
            grades: GradeBounds::from_codebook(provenance.book),
            taken: highest_grades.collect(),
            sums: sums.to_vec(),
            moments: moments.to_vec(),
            // Counts of 0 become no counts, so that summaries of equal results are equal.
            skipped: if skipped.iter().all(|&count| count == 0) { &[] } else { skipped }.to_vec(),
            ideal: provenance.ideal,
        }
    }

    /// Makes the summary of an evaluation from the summaries of its runs, by their names and query
    /// groups.
    pub(super) fn summary_of(
        &self,
        runs: BTreeMap<(String, Option<String>), RunSummary>,
    ) -> Summary {
        Summary { measures: self.measures.clone(), settings: self.settings, runs }
    }

    /// Makes the scores of a run, without its name, from its summary and all `values`,
    /// `[measure][query]`, which some statistics need.
    pub(super) fn run_scores(&self, summary: &RunSummary, values: &[Vec<f64>]) -> RunScores {
        let of_values = self.stats.iter().filter(|stat| stat.needs_values());
        let more: Vec<_> = of_values.map(|&stat| summarise(stat, &self.measures, values)).collect();
        let more: Vec<Vec<(StatName, f64)>> = (0..self.measures.len())
            .map(|at| more.iter().flat_map(|stat| stat[at].iter().copied()).collect())
            .collect();
        summary.scores(&self.measures, self.settings, &self.stats, more)
    }

    /// Makes the scores of an evaluation from the scores of its runs and from notices.
    ///
    /// # Errors
    /// An infinite or NaN statistic, unless the evaluator allows values that are not finite.
    pub(super) fn scores_of(
        &self,
        book: &Codebook,
        notices: impl Iterator<Item = Notice>,
        runs: Vec<RunScores>,
    ) -> Result<Scores> {
        let measures = self.measures.clone();
        let left_out = skipped_queries(&measures, &runs);
        let of_grades = of_grades(&measures, GradeBounds::from_codebook(book));
        let unlike = unlike_queries(&measures, &runs);
        let notices = of_grades.into_iter().chain(left_out).chain(unlike).chain(notices).collect();
        let settings = self.settings;
        let scores = Scores { measures, settings, notices, runs, ..Scores::default() };
        if !self.not_finite {
            scores.check_finite()?;
        }
        Ok(scores)
    }

    /// Returns the notices about measures that mean something else than recall of nearest
    /// neighbours, where judgments are `neighbours` true neighbours of each query.
    #[doc(hidden)]
    pub fn neighbour_notices(&self, neighbours: usize) -> impl Iterator<Item = Notice> {
        // The least grade of a neighbour is 1: a higher level leaves some neighbours out, and then
        // the measure does not divide by all of them.
        let divides_by_all = self.measures.iter().filter(|measure| {
            measure.definition().name == "R"
                && measure.choice("norm") == "judged"
                && measure.rel() <= 1.0
        });
        divides_by_all.filter_map(move |measure| {
            let rank = measure.rank().filter(|&rank| (rank as usize) < neighbours)?;
            Some(Notice::AllNeighbours { measure: measure.to_string(), rank, neighbours })
        })
    }

    /// Rejects runs whose depth, judgments or queries do not suit the options of the evaluator.
    pub(super) fn check(&self, joined: &impl JoinedRun, slots: &Slots) -> Result<()> {
        self.check_depth(&joined.rule())?;
        check_judgments(&self.measures, joined.judged_by())?;
        self.check_view(joined.judged_by())?;
        self.check_known(&joined.rule())?;
        if self.settings.queries == QuerySet::RequireAll {
            let mut incomplete = Vec::new();
            for (run, info) in joined.runs().iter().enumerate() {
                // Slot 0 has all chosen queries; the queries of groups are among them.
                let missing = Unmatched::first(missing(joined, run, slots.queries(0)));
                if missing.count > 0 {
                    let (name, count) = (&info.name, missing.count);
                    incomplete
                        .push(format!("{name}: lacks {count} of the judged queries: {missing}"));
                }
            }
            if !incomplete.is_empty() {
                return unanswerable(incomplete.join("\n"));
            }
        }
        Ok(())
    }
}

/// The properties that all rankings of a run share: codebook, ranking rule, and source of ideal
/// rankings.
pub(super) struct RunProvenance<'o> {
    pub book: &'o Codebook,
    pub rule: RankingRule,
    pub ideal: IdealSource,
}

/// Returns the notice that plain measures take the largest grade of a document with several grades,
/// by judge or subtopic.
fn largest_of_groups(measures: &[Measure], by: Option<FacetKind>) -> Option<Notice> {
    let by = by.filter(|by| matches!(by, FacetKind::Judge | FacetKind::Subtopic))?;
    let plain = measures.iter().filter(|measure| measure.input() == JudgmentNeeds::Grades);
    let measures: Vec<String> = plain.map(Measure::to_string).collect();
    (!measures.is_empty()).then_some(Notice::MaxOverFacets { by, measures })
}

/// A cache of fingerprints of query sets, which runs with equal query sets share.
#[derive(Default)]
struct FingerprintCache(HashMap<Vec<usize>, Arc<QueryFingerprint>>);

impl FingerprintCache {
    /// Returns the fingerprint of a run's counted queries, computed once for each set of queries.
    fn fingerprint(
        &mut self,
        joined: &impl JoinedRun,
        counted: impl Iterator<Item = usize>,
    ) -> Arc<QueryFingerprint> {
        let print = self.0.entry(counted.collect()).or_insert_with_key(|counted| {
            let ids = counted.iter().map(|&query| joined.queries().get(query));
            Arc::new(QueryFingerprint::from_ids(ids.collect()))
        });
        print.clone()
    }
}

/// Returns the ids of those of `queries` for which a run has no results.
fn missing(
    joined: &impl JoinedRun,
    run: usize,
    queries: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &[u8]> {
    queries.filter(move |&query| !joined.has(run, query)).map(|query| joined.queries().get(query))
}

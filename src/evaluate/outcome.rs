//! The outcome of an evaluation: exact sums by slot, from which scores and a summary are made, both
//! of one pass.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Evaluator;
use super::evaluation::{Wants, check_judgments};
use super::joined::Joined;
use super::sink::KeptValues;
use super::slots::Slots;
use super::tally::{NotFinite, SlotSums, by_row};
use crate::error::{Error, Result, printable};
use crate::ids::Unmatched;
use crate::judged_by::JudgedBy;
use crate::matrix::{Codebook, Notice};
use crate::measure::{JudgmentInput, Measure};
use crate::rule::{IdealOf, RankingRule};
use crate::scores::{PerQuery, QuerySet, RunScores, Scores};
use crate::stats::{ExactSum, Moments, StatName, summarise};
use crate::summary::{
    GradeRange, QueryPrint, RunSummary, Summary, left_out, of_grades, unlike_queries,
};

/// The sums of an evaluation, with its evaluator, runs and queries.
pub(super) struct Outcome<'o, J> {
    pub evaluator: Cow<'o, Evaluator>,
    pub joined: J,
    pub slots: Slots,
    pub sums: SlotSums,
    /// Notices about the chosen queries.
    pub notices: Vec<Notice>,
    pub wants: Wants,
}

/// The run of a slot with the name of its group, and its summary.
type SlotSummary = ((usize, Option<String>), RunSummary);

impl<J: Joined> Outcome<'_, J> {
    /// The summary of all runs.
    ///
    /// # Errors
    /// An infinite or NaN value; two runs with equal names.
    pub fn summary(&self) -> Result<Summary> {
        self.summary_from(self.summaries(true)?)
    }

    /// The scores and the summary of all runs; both say which queries count.
    ///
    /// # Errors
    /// As [`Outcome::summary`] and [`Outcome::scores`].
    pub fn scores_and_summary(&self, kept: KeptValues) -> Result<(Scores, Summary)> {
        let summaries = self.summaries(true)?;
        let summary = self.summary_from(summaries.clone())?;
        Ok((self.scores_from(summaries, kept)?, summary))
    }

    fn summary_from(&self, summaries: Vec<SlotSummary>) -> Result<Summary> {
        let mut by_name = BTreeMap::new();
        for ((run, group), summary) in summaries {
            let name = self.joined.runs()[run].name.clone();
            if by_name.insert((name.clone(), group), summary).is_some() {
                let name = printable(name.as_bytes());
                return Err(Error::Unanswerable(format!(
                    "two runs have the name {name}: summaries need distinct ones, as name=path \
                     gives them"
                )));
            }
        }
        Ok(self.evaluator.summary_of(by_name))
    }

    /// The scores of all runs, with the statistics that need all values.
    ///
    /// # Errors
    /// An infinite or NaN value, unless the evaluator allows values that are not finite.
    pub fn scores(&self, kept: KeptValues) -> Result<Scores> {
        let summaries = self.summaries(false)?;
        self.scores_from(summaries, kept)
    }

    fn scores_from(&self, summaries: Vec<SlotSummary>, kept: KeptValues) -> Result<Scores> {
        let (evaluator, joined) = (&*self.evaluator, &self.joined);
        let queries = joined.queries().len();
        let values = match &kept.parts {
            Some(parts) => by_row(parts, evaluator.measures.len(), joined.runs().len() * queries)?,
            None => Vec::new(),
        };
        let mut runs = Vec::new();
        for (slot, ((run, group), summary)) in summaries.into_iter().enumerate() {
            let counted: Vec<usize> =
                if self.wants.values { self.counted(run, slot).collect() } else { Vec::new() };
            let value =
                |of: &Vec<f64>| counted.iter().map(|query| of[run * queries + query]).collect();
            let values: Vec<Vec<f64>> = values.iter().map(value).collect();
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

    /// Makes a summary of the sums of each slot; `prints` says which queries count.
    fn summaries(&self, prints: bool) -> Result<Vec<SlotSummary>> {
        self.check_finite(prints)?;
        let mut of_queries = prints.then(Prints::default);
        let slots = self.slots.iter().enumerate();
        Ok(slots
            .map(|(slot, (run, group))| {
                let summary = self.slot_summary(slot, run, group.is_none(), &mut of_queries);
                ((run, group.map(str::to_owned)), summary)
            })
            .collect())
    }

    /// Rejects infinite and NaN values. With `prints`, an evaluator that allows infinite or NaN
    /// values does not suppress the error.
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

    /// Makes the summary of a slot, which has `all` queries of its run or a group of them.
    fn slot_summary(
        &self,
        slot: usize,
        run: usize,
        all: bool,
        prints: &mut Option<Prints>,
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
            Some(prints) => prints.of(joined, self.counted(run, slot)),
            None => Arc::new(QueryPrint::unnamed(self.sums.counts[slot])),
        };
        let judged = prints.as_mut().map(|prints| {
            let judged = prints.of(joined, self.slots.queries(slot));
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
            empty: if evaluator.queries == QuerySet::Both { 0 } else { missing.count },
            missing,
            ignored: if all { info.ignored.clone() } else { Unmatched::default() },
            seen: if all { info.seen } else { Default::default() },
            units: if all { info.units } else { Default::default() },
            ..evaluator.run_summary(
                RankedBy { book: joined.book(), rule: joined.rule(), ideal: joined.ideal() },
                &self.sums.sums[own.clone()],
                moments,
                self.sums.skipped.get(own).unwrap_or_default(),
            )
        }
    }

    /// The queries of a slot that count.
    fn counted(&self, run: usize, slot: usize) -> impl Iterator<Item = usize> {
        let all = self.evaluator.queries != QuerySet::Both;
        self.slots.queries(slot).filter(move |&query| all || self.joined.has(run, query))
    }
}

impl Evaluator {
    /// The summary of a run whose facts are not filled in yet, with these sums, moments and numbers
    /// of queries without a value, by measure.
    pub(super) fn run_summary(
        &self,
        of: RankedBy<'_>,
        sums: &[ExactSum],
        moments: &[Moments],
        skipped: &[u64],
    ) -> RunSummary {
        RunSummary {
            place: 0,
            tag: Vec::new(),
            sources: BTreeSet::new(),
            parts: 1,
            rule: of.rule,
            fingerprints: BTreeSet::new(),
            judged: BTreeMap::new(),
            queries: Arc::new(QueryPrint::unnamed(0)),
            empty: 0,
            missing: Unmatched::default(),
            ignored: Unmatched::default(),
            seen: Default::default(),
            units: Default::default(),
            grades: GradeRange::of(of.book),
            taken: self.measures.iter().map(|measure| measure.highest_grade(of.book)).collect(),
            sums: sums.to_vec(),
            moments: moments.to_vec(),
            skipped: if skipped.iter().all(|&count| count == 0) {
                Vec::new()
            } else {
                skipped.to_vec()
            },
            ideal: of.ideal,
        }
    }

    /// The summary of all runs, by their names and groups.
    pub(super) fn summary_of(
        &self,
        runs: BTreeMap<(String, Option<String>), RunSummary>,
    ) -> Summary {
        let Evaluator { queries, view, known, tied, .. } = *self;
        Summary { measures: self.measures.clone(), queries, view, known, tied, runs }
    }

    /// The scores of a run without its name, with the statistics that need all `values`,
    /// `[measure][query]`.
    pub(super) fn run_scores(&self, summary: &RunSummary, values: &[Vec<f64>]) -> RunScores {
        let of_values = self.stats.iter().filter(|stat| stat.needs_values());
        let more: Vec<_> = of_values.map(|&stat| summarise(stat, &self.measures, values)).collect();
        let of_measure =
            |at: usize| more.iter().flat_map(|stat| stat[at].iter().copied()).collect();
        let more: Vec<Vec<(StatName, f64)>> = (0..self.measures.len()).map(of_measure).collect();
        summary.scores(&self.measures, (self.queries, self.tied), &self.stats, more)
    }

    /// The scores of all runs.
    ///
    /// # Errors
    /// An infinite or NaN statistic, unless the evaluator allows values that are not finite.
    pub(super) fn scores_of(
        &self,
        book: &Codebook,
        notices: impl Iterator<Item = Notice>,
        runs: Vec<RunScores>,
    ) -> Result<Scores> {
        let (measures, Evaluator { queries, view, known, tied, .. }) =
            (self.measures.clone(), self);
        let left_out = left_out(&measures, &runs);
        let of_grades = of_grades(&measures, GradeRange::of(book));
        let unlike = unlike_queries(&measures, &runs);
        let notices = of_grades.into_iter().chain(left_out).chain(unlike).chain(notices).collect();
        let (queries, view, known, tied) = (*queries, *view, *known, *tied);
        let scores =
            Scores { measures, queries, view, known, tied, notices, runs, ..Scores::default() };
        if !self.not_finite {
            scores.check_finite()?;
        }
        Ok(scores)
    }

    /// The notices about measures that mean something else than recall of nearest neighbours, where
    /// judgments are `neighbours` true neighbours of each query.
    #[doc(hidden)]
    pub fn of_neighbours(&self, neighbours: usize) -> impl Iterator<Item = Notice> {
        let divides_by_all = |measure: &&Measure| {
            measure.definition().name == "R"
                && measure.word("norm") == "judged"
                && measure.rel() <= 1.0
        };
        self.measures.iter().filter(divides_by_all).filter_map(move |measure| {
            let rank = measure.rank().filter(|&rank| (rank as usize) < neighbours)?;
            Some(Notice::AllNeighbours { measure: measure.to_string(), rank, neighbours })
        })
    }

    /// Rejects runs whose depth, judgments or queries do not suit the options of the evaluator.
    pub(super) fn check(&self, joined: &impl Joined, slots: &Slots) -> Result<()> {
        self.check_depth(&joined.rule())?;
        check_judgments(&self.measures, joined.judged_by())?;
        self.check_view(joined.judged_by())?;
        self.check_known(&joined.rule())?;
        if self.queries == QuerySet::Complete {
            let incomplete = joined.runs().iter().enumerate().filter_map(|(run, info)| {
                let missing = Unmatched::first(missing(joined, run, slots.queries(0)));
                (missing.count > 0).then(|| {
                    format!(
                        "{}: lacks {} of the judged queries: {missing}",
                        info.name, missing.count
                    )
                })
            });
            let incomplete: Vec<String> = incomplete.collect();
            if !incomplete.is_empty() {
                return Err(Error::Unanswerable(incomplete.join("\n")));
            }
        }
        Ok(())
    }
}

/// The properties that all rankings of a run share.
pub(super) struct RankedBy<'o> {
    pub book: &'o Codebook,
    pub rule: RankingRule,
    pub ideal: IdealOf,
}

/// The notice that plain measures take the largest grade of a document that has several.
fn largest_of_groups(measures: &[Measure], by: Option<JudgedBy>) -> Option<Notice> {
    let by = by.filter(|by| matches!(by, JudgedBy::Judge | JudgedBy::Subtopic))?;
    let plain = measures.iter().filter(|measure| measure.input() == JudgmentInput::Grades);
    let measures: Vec<String> = plain.map(Measure::to_string).collect();
    (!measures.is_empty()).then_some(Notice::LargestOfGroups { by, measures })
}

/// The fingerprints of query sets, which runs with equal query sets share.
#[derive(Default)]
struct Prints(HashMap<Vec<usize>, Arc<QueryPrint>>);

impl Prints {
    /// Returns the fingerprint of the counted queries.
    fn of(
        &mut self,
        joined: &impl Joined,
        counted: impl Iterator<Item = usize>,
    ) -> Arc<QueryPrint> {
        let print = self.0.entry(counted.collect()).or_insert_with_key(|counted| {
            let ids = counted.iter().map(|&query| joined.queries().get(query));
            Arc::new(QueryPrint::of(ids.collect()))
        });
        print.clone()
    }
}

/// Returns the ids of the queries in `queries` that a run lacks.
fn missing(
    joined: &impl Joined,
    run: usize,
    queries: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &[u8]> {
    queries.filter(move |&query| !joined.has(run, query)).map(|query| joined.queries().get(query))
}

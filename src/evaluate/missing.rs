//! Judged queries that all shards of a run lack, added to the merged summary of the shards.
//!
//! A shard evaluated under its own queries says nothing of judged queries that all shards lack. A
//! missing query counts with the value of an empty ranking. Not every measure has the value 0
//! there, so the value is computed: a matrix of one run with an empty ranking for each missing
//! query is evaluated like any matrix, and its summary is merged.
//!
//! Everything is checked on a copy first, run by run: an error leaves the summary unchanged, and
//! never with half of its runs extended.

use std::sync::Arc;

use super::Evaluator;
use crate::engine::{ChosenEngine, cpu::Cpu};
use crate::error::{Error, Result, printable};
use crate::ids::{Ids, Unmatched};
use crate::join::qrels::Qrels;
use crate::matrix::{ExactHistograms, GradeHistograms, MatrixBuilder, StagedRun};
use crate::scores::QuerySet;
use crate::summary::{GradeBounds, QueryFingerprint, RunSummary, Summary};

impl Summary {
    /// Adds each judged query that a run lacks to the summary, as an empty ranking, as
    /// [`QuerySet::Judged`] does. Call this method after merging shards of a run, each evaluated
    /// against all judgments under [`QuerySet::Common`]. Afterwards all judged queries count.
    ///
    /// # Errors
    /// [`Error::Merge`]: counted queries without judgments; queries with unknown ids, because the
    /// queries are too many or have no ids; groups of queries; a different highest grade, if a
    /// measure depends on the highest grade. After an error the summary is unchanged.
    pub fn add_missing(&mut self, qrels: &Qrels) -> Result<()> {
        if self.runs.keys().any(|(_, group)| group.is_some()) {
            return Err(Error::Merge("the groups of the missing queries are not known".to_owned()));
        }
        let mut whole = self.clone();
        whole.settings.queries = QuerySet::Judged;
        let judged = QueryFingerprint::from_ids(qrels.queries().clone());
        for ((name, _), run) in &mut whole.runs {
            let refused =
                |message: &str| Error::Merge(format!("{}: {message}", printable(name.as_bytes())));
            let missing = missing(&run.queries, qrels).map_err(|message| refused(&message))?;
            for (measure, taken) in self.measures.iter().zip(&run.taken) {
                let highest = measure.highest_grade(qrels.codebook());
                if highest != *taken {
                    return Err(refused(&format!(
                        "{measure} takes the highest grade of the judgments, and these are not the \
                         judgments of the shards"
                    )));
                }
            }
            let same_queries = run.judged.keys().eq([&judged.sum().unwrap_or_default()]);
            if same_queries && !run.fingerprints.iter().eq([&qrels.fingerprint()]) {
                return Err(refused(
                    "the judgments of these queries differ: these are not the judgments of the \
                     shards",
                ));
            }
            if !missing.is_empty() {
                let view = self.settings.view;
                let empty = empty_rankings(&self.measures, view, run, qrels, &missing)?;
                let queries = run.queries.and(&empty.queries);
                run.queries = Arc::new(
                    queries
                        .map_err(|_| refused("some of the missing queries are there already"))?,
                );
                let added = Unmatched::all(missing.iter());
                run.missing = if run.empty > 0 { run.missing.and(&added) } else { added };
                run.empty += empty.empty;
                run.sums.iter_mut().zip(&empty.sums).for_each(|(sum, more)| sum.merge(more));
                run.moments.iter_mut().zip(&empty.moments).for_each(|(all, more)| all.merge(more));
                run.add_skipped(&empty.skipped);
            }
            run.grades = GradeBounds::from_codebook(qrels.codebook());
            run.judged = [(judged.sum().unwrap_or_default(), judged.count())].into();
            run.fingerprints = [qrels.fingerprint()].into();
        }
        *self = whole;
        Ok(())
    }
}

/// Returns the ids of the judged queries that are not among the counted queries of a run.
fn missing(counted: &QueryFingerprint, qrels: &Qrels) -> Result<Ids, String> {
    let hashes = counted.hashes().ok_or("its queries are too many to be known, or have no ids")?;
    let judged = qrels.queries();
    // With hashes alone two ids may be one: of 2⁶⁴ hashes ten million ids collide with a chance of
    // some 3·10⁻⁶.
    let missing = judged.iter().filter(|id| match counted.ids() {
        Some(ids) => ids.find(id).is_none(),
        None => hashes.binary_search(&QueryFingerprint::hash(id)).is_err(),
    });
    let missing: Ids = missing.collect();
    // Each judged query not in `missing` is a counted query. The subtraction saturates, because a
    // collision of hashes or a forged summary may give more such queries than the count.
    let others = counted.count().saturating_sub((judged.len() - missing.len()) as u64);
    match others {
        0 => Ok(missing),
        1 => Err("1 of its queries is not in these judgments".to_owned()),
        _ => Err(format!("{others} of its queries are not in these judgments")),
    }
}

/// Returns the summary of a run that has empty rankings for the queries `missing`, and no others.
fn empty_rankings(
    measures: &[crate::measure::Measure],
    view: crate::matrix::View,
    run: &RunSummary,
    qrels: &Qrels,
    missing: &Ids,
) -> Result<RunSummary> {
    let (mut facts, mut exact) =
        (GradeHistograms::new(), qrels.exact().map(|_| ExactHistograms::default()));
    let queries = missing
        .iter()
        .map(|id| qrels.queries().find(id).unwrap_or_else(|| unreachable!("a query of the qrels")));
    let queries: Vec<usize> = queries.collect();
    for &query in &queries {
        facts.push_counts(qrels.facts().get(query).iter());
        if let (Some(exact), Some(source)) = (&mut exact, qrels.exact()) {
            exact.push_query(source.get(query));
        }
    }
    let book = qrels.codebook().clone();
    let grouped = qrels.facets().map(|grouped| Arc::new(grouped.select(queries.iter().copied())));
    let spans = qrels.gold_facts().map(|gold| Arc::new(gold.select(queries.into_iter())));
    let mut matrix =
        MatrixBuilder::new(book, run.rule.clone(), qrels.fingerprint(), missing.clone(), facts);
    (matrix.exact, matrix.grouped, matrix.spans) = (exact, grouped, spans);
    matrix.push(StagedRun::default());
    let evaluator = Evaluator::from_measures(measures.to_vec()).with_view(view);
    let engine = ChosenEngine::Cpu(Cpu::new());
    let summary = evaluator.summary_on(&engine, &matrix.finish()?)?;
    let run = summary.runs.into_values().next();
    Ok(run.unwrap_or_else(|| unreachable!("a matrix of one run has one summary")))
}

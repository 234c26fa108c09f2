//! The step from an engine's columns to the values of rankings: the last step of every formula, and
//! the walks.
//!
//! The rows of a tile are finished together, measure by measure: the last line of a formula is then
//! a loop over a column instead of a call a row, and the compiler vectorises the loop. Walks cannot
//! become loops over columns, because each row has its own documents. All walks of a row run
//! together, while the documents of the row are in the cache.
//!
//! All walks share one list: the union of the documents heeded by each walk. Each walk skips
//! documents that mean nothing to the walk; one list costs less than a list for each walk.

use super::judges::JudgeEvaluator;
use super::viewed_ties::ViewedTies;
use crate::engine::cpu::documents::Documents;
use crate::engine::walk::{WalkInput, WalkScratch, Walker, walkers};
use crate::error::{Error, Result, printable};
use crate::facets::passages::PassageValue;
use crate::facets::subtopics::SubtopicScratch;
use crate::facets::{FacetEvaluator, FacetValue, Judges};
use crate::fold::{Columns, Walk};
use crate::judged_by::FacetKind;
use crate::matrix::classes::to_class_codes;
use crate::matrix::code::PAST_END;
use crate::matrix::{Batch, CodesAbove, Document, Tile, Unpacked, View};
use crate::measure::Measure;
use crate::plan::Prepared;
use crate::reference::{self, Ranking, ReferenceGrades};
use crate::stats::UNDEFINED;

/// A finisher of values for the rankings of a batch: the last steps of formulas over an engine's
/// columns, and the walks.
pub(super) struct RowFinisher<'a> {
    batch: Batch<'a>,
    view: View,
    prepared: &'a Prepared<'a>,
    /// The walked measures, by index.
    walks: Vec<(usize, Box<dyn Walker>)>,
    /// The measures computed by their reference functions.
    references: Vec<(usize, reference::Function)>,
    /// The set of all documents that matter to a walk.
    heeded: CodesAbove,
    /// The values over judgments by facet.
    groups: Option<FacetEvaluator>,
    /// The values of passages, each with the place where it goes.
    passages: Vec<(usize, PassageValue)>,
    /// The grades of judges, and the measures over them: the rule to combine the values of judges,
    /// and the measure of a single judge with its function.
    judges: Option<JudgeEvaluator<'a>>,
    /// The groups of equal scores, if a measure needs them.
    together: Option<ViewedTies<'a>>,
    judged: Vec<(usize, Judges, Measure, reference::Function)>,
}

/// Buffers for finishing the values of rankings, reused from tile to tile.
#[derive(Default)]
pub(super) struct FinishScratch {
    queries: Vec<u32>,
    gathered: Vec<f64>,
    facts: Vec<f64>,
    viewed: Vec<u8>,
    classed: Vec<u8>,
    documents: Documents,
    unpacked: Unpacked,
    /// The labels of a row without the view.
    stored: Vec<u8>,
    walk: WalkScratch,
    groups: SubtopicScratch,
    named: Vec<(u32, u32)>,
    /// `[measure][row]`.
    pub values: Vec<f64>,
}

impl<'a> RowFinisher<'a> {
    /// Prepares the last steps of all measures for the rankings of a batch.
    ///
    /// # Errors
    /// The batch lacks judgments or ties for a measure.
    pub fn new(batch: Batch<'a>, view: View, prepared: &'a Prepared<'a>) -> Result<Self> {
        let plan = prepared.plan();
        let grouped = batch.facet_rows().filter(|_| plan.facets().next().is_some());
        let groups = grouped.map(|grouped| FacetEvaluator::new(&grouped.facets, plan.facets()));
        let groups = groups.transpose().map_err(|(query, fault)| {
            let query = printable(batch.ids().get(query));
            Error::Unanswerable(format!("query {query}: {fault}"))
        })?;
        // Tables of walks are as deep as the deepest row of this batch, so a batch of shallow rows
        // makes small tables.
        let deepest = batch.deepest() as usize;
        let (places, walks): (Vec<usize>, Vec<&Walk>) =
            plan.walks().filter_map(|(at, walk)| Some((at, walk?))).unzip();
        let references = plan.walks().filter(|(_, walk)| walk.is_none());
        let references =
            references.filter_map(|(at, _)| Some((at, reference::function(&plan.measures()[at])?)));
        // A judged-only view goes only as deep as the last judged document needed.
        let least = if view.judged_only { CodesAbove::JUDGED } else { CodesAbove(255) };
        let (mut judged, mut passages) = (Vec::new(), Vec::new());
        for (at, value) in plan.facets() {
            match *value {
                FacetValue::Judges(rule) => {
                    let measure = plan.measures()[at].for_one_judge();
                    judged.extend(
                        reference::function(&measure).map(|function| (at, rule, measure, function)),
                    );
                }
                FacetValue::Passages(value) => passages.push((at, value)),
                _ => {}
            }
        }
        let together = ViewedTies::new(plan.measures(), &batch, view)?;
        let of_judges = batch.facet_rows().filter(|_| !judged.is_empty());
        Ok(Self {
            judges: of_judges.map(|grouped| JudgeEvaluator::new(&grouped.facets, view, together)),
            judged,
            passages,
            together,
            groups,
            references: references.collect(),
            heeded: walks.iter().map(|walk| walk.selects()).fold(least, CodesAbove::min),
            walks: places.into_iter().zip(walkers(walks.into_iter(), deepest)).collect(),
            batch,
            view,
            prepared,
        })
    }

    /// Returns the groups of tied documents of the batch, if a measure needs them.
    pub fn ties(&self) -> Option<ViewedTies<'a>> {
        self.together
    }

    /// Replaces the values of rankings whose query has no relevant documents, if a measure has a
    /// value other than 0 for them. Every engine needs this last step.
    pub fn replace(&self, rows: &[u32], scratch: &mut FinishScratch) {
        if self.prepared.replaces() {
            let FinishScratch { queries, values, .. } = scratch;
            self.queries(rows, queries);
            self.prepared.replace(queries, UNDEFINED, values);
        }
    }

    /// Returns the evaluator of each judge's grades, if a measure needs judges.
    pub fn judges(&self) -> Option<&JudgeEvaluator<'a>> {
        self.judges.as_ref()
    }

    /// Computes the values of the rankings `rows` from an engine's `columns`, into the values of
    /// the scratch. The rows are the rows of `tile`, or empty rows.
    pub fn rows(
        &self,
        rows: &[u32],
        columns: &Columns,
        tile: Option<Tile<'_>>,
        scratch: &mut FinishScratch,
    ) {
        let FinishScratch { queries, gathered, values, .. } = scratch;
        self.queries(rows, queries);
        values.resize(self.prepared.plan().measures().len() * rows.len(), 0.0);
        self.prepared.finish(queries, columns, gathered, values);
        if !self.walks.is_empty() {
            self.walk(rows, tile, scratch);
        }
        if !self.references.is_empty() {
            self.walk_by_reference(rows, tile, scratch);
        }
        self.finish_facets(rows, tile, scratch);
        self.finish_passages(rows, scratch);
        self.finish_judges(rows, tile, scratch);
    }

    /// Computes the measures over subtopics and preferences for rankings, and writes their values.
    fn finish_facets(&self, rows: &[u32], tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
        let (Some(groups), Some(grouped)) = (&self.groups, self.batch.facet_rows()) else { return };
        let FinishScratch { queries, documents, groups: of_groups, named, values, .. } = scratch;
        for (lane, (&row, &query)) in rows.iter().zip(&*queries).enumerate() {
            named.clear();
            if let Some(tile) = tile {
                let pooled = documents.lane(tile, lane, CodesAbove::IN_QRELS);
                let numbers = grouped.rows.row(row as usize);
                named_documents(pooled, numbers, self.view, grouped.facets.by, named);
            }
            groups.values(query as usize, named, of_groups, |measure, value| {
                values[measure * rows.len() + lane] = value;
            });
        }
    }

    /// Writes the values of rankings of passages, if a measure needs them.
    fn finish_passages(&self, rows: &[u32], scratch: &mut FinishScratch) {
        let spans = self.batch.span_rows().filter(|_| !self.passages.is_empty());
        let Some(spans) = spans else { return };
        for (lane, &row) in rows.iter().enumerate() {
            let ranked = spans.ranked(row as usize);
            for (measure, value) in &self.passages {
                scratch.values[measure * rows.len() + lane] = value.value(&ranked, self.view.depth);
            }
        }
    }

    /// Writes the values of rankings over the grades of several judges, if a measure needs them.
    fn finish_judges(&self, rows: &[u32], tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
        let Some(judges) = &self.judges else { return };
        for (lane, &row) in rows.iter().enumerate() {
            let depth = self.batch.depths()[row as usize] as usize;
            let labels: Vec<u8> =
                tile.map_or(Vec::new(), |tile| tile.lane(lane).take(depth).collect());
            for (measure, rule, judge_measure, function) in &self.judged {
                scratch.values[measure * rows.len() + lane] =
                    judges.value(&self.batch, row, *rule, &labels, |ranking| {
                        function(judge_measure, ranking)
                    });
            }
        }
    }

    /// Collects for each of `rows` the place of its judgments, its query or the row itself; most
    /// rows belong to one run.
    fn queries(&self, rows: &[u32], queries: &mut Vec<u32>) {
        let all = self.batch.facts().len() as u32;
        let first = rows.first().map_or(0, |row| row / all * all);
        queries.clear();
        // A subtraction for the rows of the first run: a remainder takes many times as long.
        queries.extend(
            rows.iter().map(|&row| {
                if (first..first + all).contains(&row) { row - first } else { row % all }
            }),
        );
    }

    /// Returns the exact grades of the judged documents of the ranking in a lane; none if codes are
    /// grades.
    fn exact(&self, rows: &[u32], lane: usize) -> &[f64] {
        self.batch
            .exact()
            .zip(rows.get(lane))
            .map_or(&[], |(exact, &row)| exact.rows.row(row as usize))
    }

    fn walk(&self, rows: &[u32], tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
        let FinishScratch {
            queries, facts, viewed, classed: codes, documents, walk, values, ..
        } = scratch;
        let tile = tile.map(|tile| self.view.apply(tile, viewed));
        let tile = tile.map(|tile| match &self.prepared.plan().program().classes {
            Some(book) => to_class_codes(tile, book, |lane| self.exact(rows, lane), codes),
            None => tile,
        });
        for (lane, (&row, &query)) in rows.iter().zip(&*queries).enumerate() {
            let documents = tile.map_or(&[][..], |tile| documents.lane(tile, lane, self.heeded));
            let depth = self.depth(row);
            let documents = match documents.last() {
                // A damaged file may have documents behind the end of a ranking.
                Some(last) if last.rank >= depth => {
                    &documents[..documents.partition_point(|document| document.rank < depth)]
                }
                _ => documents,
            };
            // Under this view every listed document is judged, and they stand at ranks 0, 1, 2, …
            // of the scratch tile.
            let depth = if self.view.judged_only { documents.len() } else { depth as usize };
            let of_query = self.prepared.judged(query as usize);
            for (measure, walker) in &self.walks {
                facts.clear();
                facts.extend(self.prepared.facts(*measure, query as usize));
                let row = WalkInput { documents, depth, facts: of_query, numbers: facts };
                values[measure * rows.len() + lane] = walker.value(&row, walk);
            }
        }
    }

    fn walk_by_reference(&self, rows: &[u32], tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
        let FinishScratch { viewed, unpacked, stored, values, .. } = scratch;
        if let Some(tile) = tile {
            unpacked.take(self.view.apply(tile, viewed));
        }
        for (lane, &row) in rows.iter().enumerate() {
            let labels = tile.map_or(&[][..], |_| unpacked.lane(lane));
            let labels = &labels[..labels.len().min(self.depth(row) as usize)];
            // A judged-only view ends where its labels end, above the row's own depth.
            let end = if self.view.judged_only {
                labels.iter().position(|&label| label == PAST_END)
            } else {
                None
            };
            let grades = if tile.is_some() { self.exact(rows, lane) } else { &[] };
            let ties = match (self.together, tile) {
                (Some(together), Some(tile)) => {
                    let depth = self.batch.depths()[row as usize] as usize;
                    stored.clear();
                    stored.extend(tile.lane(lane).take(depth));
                    together.groups(row, stored)
                }
                _ => Vec::new(),
            };
            let ranking = ranking(&self.batch, row, &labels[..end.unwrap_or(labels.len())], grades);
            let ranking = Ranking { ties: &ties, ..ranking };
            for &(measure, function) in &self.references {
                let plan_measure = &self.prepared.plan().measures()[measure];
                values[measure * rows.len() + lane] = function(plan_measure, &ranking);
            }
        }
    }

    /// Returns the number of results in the ranking of `row` that measures look at.
    fn depth(&self, row: u32) -> u32 {
        self.batch.depths()[row as usize].min(self.view.depth.unwrap_or(u32::MAX))
    }
}

// Invariant: both lists have equal length, because a row has a number for each pooled document in
// rank order.
/// Lists the documents of a ranking that the qrels name, under a view: their ranks (from 0) and
/// their numbers.
///
/// Preferences compare all named documents, so a judged-only view drops no document of a
/// preference.
pub(super) fn named_documents(
    pooled: &[Document],
    numbers: &[u32],
    view: View,
    by: FacetKind,
    named: &mut Vec<(u32, u32)>,
) {
    let judged_only = view.judged_only && by != FacetKind::Preference;
    for (document, &number) in pooled.iter().zip(numbers) {
        if view.depth.is_some_and(|depth| document.rank >= depth) {
            break;
        }
        match judged_only {
            true if !CodesAbove::JUDGED.contains(document.code) => {}
            true => named.push((named.len() as u32, number)),
            false => named.push((document.rank, number)),
        }
    }
}

/// Returns the documents named in the qrels of one ranking, in a lane of tile `at`, as ranks and
/// numbers. Ranks count from 0; there are no documents where judgments are not by facet.
pub(super) fn named_in(batch: &Batch<'_>, at: usize, lane: usize, view: View) -> Vec<(u32, u32)> {
    let (Some(grouped), Some(&row)) = (batch.facet_rows(), batch.rows(at).get(lane)) else {
        return Vec::new();
    };
    let labels = (0..).zip(batch.ranking(at, lane)).map(|(rank, code)| Document { rank, code });
    let pooled: Vec<Document> =
        labels.filter(|document| CodesAbove::IN_QRELS.contains(document.code)).collect();
    let (numbers, mut named) = (grouped.rows.row(row as usize), Vec::new());
    named_documents(&pooled, numbers, view, grouped.facets.by, &mut named);
    named
}

/// Makes the input of reference functions for a ranking: its labels, with the judgments of its
/// query. `grades` are the exact grades of its judged documents, if codes are classes of grades.
pub(super) fn ranking<'a>(
    batch: &Batch<'a>,
    row: u32,
    labels: &'a [u8],
    grades: &'a [f64],
) -> Ranking<'a> {
    let exact = batch
        .exact_facts()
        .map(|exact| ReferenceGrades { grades, judged: exact.get(batch.judgments(row)) });
    let (facts, book) = (batch.facts_of(row), batch.codebook());
    let spans = batch.span_rows().map(|spans| spans.ranked(row as usize));
    Ranking { labels, facts, book, exact, facets: None, spans, ties: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Synthetic;
    use crate::matrix::LANES;
    use crate::measure::Measure;
    use crate::plan::Plan;

    #[test]
    fn what_has_no_walk_of_its_own_walks_with_its_reference_function() {
        let matrix =
            Synthetic { queries: 100, depth: 30, ..Synthetic::default() }.matrix().unwrap();
        let measures: Vec<Measure> =
            ["AP", "G", "RnDCG", "Compat"].map(|name| name.parse().unwrap()).into();
        let plan = Plan::new(&measures, matrix.codebook()).unwrap();
        let batch = matrix.batch();
        let prepared = plan.prepare(&batch);
        let columns = Columns::zeros(plan.program(), LANES);
        for (depth, judged_only) in
            [(None, false), (Some(7), false), (None, true), (Some(18), true)]
        {
            let view = View { depth, judged_only };
            let walking = RowFinisher::new(batch.clone(), view, &prepared).unwrap();
            let mut plainly = RowFinisher::new(batch.clone(), view, &prepared).unwrap();
            let function = |(at, _)| (at, reference::function(&measures[at]).unwrap());
            plainly.references = plainly.walks.drain(..).map(function).collect();
            for at in batch.tiles() {
                let [walked, expected] = [&walking, &plainly].map(|finishing| {
                    let mut scratch = FinishScratch::default();
                    finishing.rows(batch.rows(at), &columns, Some(batch.tile(at)), &mut scratch);
                    scratch.values
                });
                assert_eq!(walked, expected, "{view:?}");
                assert!(walked.iter().filter(|&&value| value > 0.0).count() > walked.len() / 4);
            }
        }
    }
}

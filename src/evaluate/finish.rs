//! From columns to values: the last step of every formula, and the walks.
//!
//! The rows of a tile are finished together, measure by measure: the last line of a formula is then
//! a loop over a column instead of a call a row, and the compiler vectorises the loop. Walks cannot
//! become loops over columns, because each row has its own documents. All walks of a row run
//! together, while the documents of the row are in the cache.
//!
//! All walks share one list: the union of the documents heeded by each walk. Each walk skips
//! documents that mean nothing to the walk; one list costs less than a list for each walk.

use super::judges::JudgedQueries;
use super::together::GroupsUnderView;
use crate::engine::cpu::documents::Documents;
use crate::engine::walk::{WalkScratch, Walked, Walker, walkers};
use crate::error::{Error, Result, printable};
use crate::facets::passages::PassageValue;
use crate::facets::{FacetScratch, FacetValue, FacetWalks, Judges};
use crate::fold::{Columns, Walk};
use crate::judged_by::JudgedBy;
use crate::matrix::classes::classed;
use crate::matrix::code::PAST_END;
use crate::matrix::{Above, Batch, Document, Tile, Unpacked, View};
use crate::measure::Measure;
use crate::plan::Prepared;
use crate::reference::{self, Ranking, ReferenceGrades};
use crate::stats::UNDEFINED;

/// Finishes rows of a batch.
pub(super) struct Finishing<'a> {
    batch: Batch<'a>,
    view: View,
    prepared: &'a Prepared<'a>,
    /// The walked measures, by index.
    walks: Vec<(usize, Box<dyn Walker>)>,
    /// The measures computed by their reference functions.
    references: Vec<(usize, reference::Function)>,
    /// The set of all documents that matter to a walk.
    heeded: Above,
    /// The values over judgments by facet.
    groups: Option<FacetWalks>,
    /// The values of passages, each with the place where it goes.
    passages: Vec<(usize, PassageValue)>,
    /// The grades of judges, and the measures over them: the rule to combine the values of judges,
    /// and the measure of a single judge with its function.
    judges: Option<JudgedQueries>,
    /// The groups of equal scores, if a measure needs them.
    together: Option<GroupsUnderView<'a>>,
    judged: Vec<(usize, Judges, Measure, reference::Function)>,
}

/// Memory that is used again from tile to tile.
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
    groups: FacetScratch,
    named: Vec<(u32, u32)>,
    /// `[measure][row]`.
    pub values: Vec<f64>,
}

impl<'a> Finishing<'a> {
    /// Prepares to finish rows.
    ///
    /// # Errors
    /// The batch lacks judgments or ties for a measure.
    pub fn new(batch: Batch<'a>, view: View, prepared: &'a Prepared<'a>) -> Result<Self> {
        let plan = prepared.plan();
        let needed = plan.facets().next().map(|(at, _)| &plan.measures()[at]);
        let groups = match (batch.facet_rows(), needed) {
            (Some(grouped), Some(_)) => {
                let walks = FacetWalks::new(&grouped.of, plan.facets());
                Some(walks.map_err(|(query, fault)| {
                    let query = printable(batch.ids().get(query));
                    Error::Unanswerable(format!("query {query}: {fault}"))
                })?)
            }
            _ => None,
        };
        // Tables of walks are as deep as the deepest row of this batch, so a batch of shallow rows
        // makes small tables.
        let deepest = batch.deepest() as usize;
        let (places, walks): (Vec<usize>, Vec<&Walk>) =
            plan.walks().filter_map(|(at, walk)| Some((at, walk?))).unzip();
        let function = |(at, walk): (usize, Option<&Walk>)| match walk {
            Some(_) => None,
            None => Some((at, reference::function(&plan.measures()[at])?)),
        };
        // A judged-only view goes only as deep as the last judged document needed.
        let least = if view.judged_only { Above::JUDGED } else { Above(255) };
        let judged = |(at, value): (usize, &FacetValue)| match value {
            FacetValue::Judges(rule) => {
                let measure = plan.measures()[at].of_one_judge();
                let function = reference::function(&measure)?;
                Some((at, *rule, measure, function))
            }
            _ => None,
        };
        let judged: Vec<_> = plan.facets().filter_map(judged).collect();
        let of_passages = |(at, value): (usize, &FacetValue)| match *value {
            FacetValue::Passages(value) => Some((at, value)),
            _ => None,
        };
        let of_judges = batch.facet_rows().filter(|_| !judged.is_empty());
        Ok(Finishing {
            judges: of_judges.map(|grouped| JudgedQueries::new(&grouped.of)),
            judged,
            passages: plan.facets().filter_map(of_passages).collect(),
            together: GroupsUnderView::of(plan.measures(), &batch, view)?,
            groups,
            references: plan.walks().filter_map(function).collect(),
            heeded: walks.iter().map(|walk| walk.heeds()).fold(least, Above::min),
            walks: places.into_iter().zip(walkers(walks.into_iter(), deepest)).collect(),
            batch,
            view,
            prepared,
        })
    }

    /// The groups of equal scores, if a measure needs them.
    pub fn together(&self) -> Option<GroupsUnderView<'a>> {
        self.together
    }

    /// Replaces the values of rows without relevant documents, if a measure has a value other than
    /// 0 for them. Every engine needs this last step.
    pub fn replace(&self, rows: &[u32], scratch: &mut FinishScratch) {
        if self.prepared.replaces() {
            let FinishScratch { queries, values, .. } = scratch;
            self.queries(rows, queries);
            self.prepared.replace(queries, UNDEFINED, values);
        }
    }

    /// The grades of judges, if a measure needs judges.
    pub fn judges(&self) -> Option<&JudgedQueries> {
        self.judges.as_ref()
    }

    /// Finishes `rows` with their `columns` into the values of the scratch. The rows are the rows
    /// of `tile`, or empty rows.
    pub fn rows(
        &self,
        rows: &[u32],
        columns: &Columns,
        tile: Option<Tile<'_>>,
        scratch: &mut FinishScratch,
    ) {
        let exact = |lane: usize| match self.batch.exact() {
            Some(exact) => rows.get(lane).map_or(&[][..], |&row| exact.rows.of(row as usize)),
            None => &[],
        };
        let FinishScratch { queries, gathered, values, .. } = scratch;
        self.queries(rows, queries);
        values.resize(self.prepared.plan().measures().len() * rows.len(), 0.0);
        self.prepared.finish(queries, columns, gathered, values);
        if !self.walks.is_empty() {
            self.walk(rows, (tile, &exact), scratch);
        }
        if !self.references.is_empty() {
            self.walk_by_reference(rows, (tile, &exact), scratch);
        }
        self.finish_facets(rows, tile, scratch);
        self.finish_passages(rows, scratch);
        self.finish_judges(rows, tile, scratch);
    }

    /// Writes the values over judgments by facet, if a measure needs them.
    fn finish_facets(&self, rows: &[u32], tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
        let (Some(groups), Some(grouped)) = (&self.groups, self.batch.facet_rows()) else { return };
        let FinishScratch { queries, documents, groups: of_groups, named, values, .. } = scratch;
        for (lane, (&row, &query)) in rows.iter().zip(&*queries).enumerate() {
            named.clear();
            if let Some(tile) = tile {
                let pooled = documents.of(tile, lane, Above::POOLED);
                named_documents(
                    pooled,
                    grouped.rows.of(row as usize),
                    (self.view, grouped.of.by),
                    named,
                );
            }
            let out = |measure: usize, value: f64| values[measure * rows.len() + lane] = value;
            groups.values(query as usize, named, of_groups, out);
        }
    }

    /// Writes the values of passages, if a measure needs them.
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

    /// Writes the values over the grades of judges, if a measure needs them.
    fn finish_judges(&self, rows: &[u32], tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
        let Some(judges) = &self.judges else { return };
        for (lane, &row) in rows.iter().enumerate() {
            let depth = self.batch.depths()[row as usize] as usize;
            let labels: Vec<u8> =
                tile.map_or(Vec::new(), |tile| tile.lane(lane).take(depth).collect());
            for (measure, rule, of, function) in &self.judged {
                let of_judge = |ranking: &Ranking<'_>| function(of, ranking);
                let value = judges.value(
                    &self.batch,
                    row,
                    *rule,
                    &labels,
                    (self.view, self.together),
                    of_judge,
                );
                scratch.values[measure * rows.len() + lane] = value;
            }
        }
    }

    /// Collects the places of the judgments of `rows`, most of which belong to one run: their
    /// queries, or the rows themselves.
    fn queries(&self, rows: &[u32], queries: &mut Vec<u32>) {
        let all = self.batch.facts().len() as u32;
        let first = rows.first().map_or(0, |row| row / all * all);
        let query =
            |&row: &u32| if (first..first + all).contains(&row) { row - first } else { row % all };
        queries.clear();
        queries.extend(rows.iter().map(query));
    }

    fn walk(&self, rows: &[u32], (tile, exact): WithExact<'_>, scratch: &mut FinishScratch) {
        let FinishScratch {
            queries, facts, viewed, classed: codes, documents, walk, values, ..
        } = scratch;
        let tile = tile.map(|tile| self.view.of(tile, viewed));
        let tile = tile.map(|tile| match &self.prepared.plan().program().classes {
            Some(book) => classed(tile, book, exact, codes),
            None => tile,
        });
        for (lane, (&row, &query)) in rows.iter().zip(&*queries).enumerate() {
            let documents = tile.map_or(&[][..], |tile| documents.of(tile, lane, self.heeded));
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
                let row = Walked { documents, depth, facts: of_query, numbers: facts };
                values[measure * rows.len() + lane] = walker.value(&row, walk);
            }
        }
    }

    fn walk_by_reference(
        &self,
        rows: &[u32],
        (tile, exact): WithExact<'_>,
        scratch: &mut FinishScratch,
    ) {
        let FinishScratch { viewed, unpacked, stored, values, .. } = scratch;
        if let Some(tile) = tile {
            unpacked.take(self.view.of(tile, viewed));
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
            let grades = if tile.is_some() { exact(lane) } else { &[] };
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
                let of = &self.prepared.plan().measures()[measure];
                values[measure * rows.len() + lane] = function(of, &ranking);
            }
        }
    }

    /// The number of results of `row` that are looked at.
    fn depth(&self, row: u32) -> u32 {
        self.batch.depths()[row as usize].min(self.view.depth.unwrap_or(u32::MAX))
    }
}

// Invariant: both lists have equal length, because a row has a number for each pooled document in
// rank order.
/// Lists the ranks (from 0) of a ranking's named documents under a view, with their numbers.
///
/// Preferences compare all named documents, so a judged-only view drops no document of a
/// preference.
pub(super) fn named_documents(
    pooled: &[Document],
    numbers: &[u32],
    (view, by): (View, JudgedBy),
    named: &mut Vec<(u32, u32)>,
) {
    let judged_only = view.judged_only && by != JudgedBy::Preference;
    for (document, &number) in pooled.iter().zip(numbers) {
        if view.depth.is_some_and(|depth| document.rank >= depth) {
            break;
        }
        match judged_only {
            true if !Above::JUDGED.contains(document.code) => {}
            true => named.push((named.len() as u32, number)),
            false => named.push((document.rank, number)),
        }
    }
}

/// The ranks (from 0) of the named documents of the ranking in a lane of tile `at`, with their
/// numbers; none where judgments are not by group.
pub(super) fn named_in(batch: &Batch<'_>, at: usize, lane: usize, view: View) -> Vec<(u32, u32)> {
    let (Some(grouped), Some(&row)) = (batch.facet_rows(), batch.rows(at).get(lane)) else {
        return Vec::new();
    };
    let labels = (0..).zip(batch.ranking(at, lane)).map(|(rank, code)| Document { rank, code });
    let pooled: Vec<Document> =
        labels.filter(|document| Above::POOLED.contains(document.code)).collect();
    let mut named = Vec::new();
    named_documents(&pooled, grouped.rows.of(row as usize), (view, grouped.of.by), &mut named);
    named
}

/// A tile, and the exact grades of each of its lanes.
type WithExact<'t> = (Option<Tile<'t>>, &'t dyn Fn(usize) -> &'t [f64]);

/// A row with what the qrels know of its query. `grades` are the exact grades of its judged
/// documents, if codes are classes of grades.
pub(super) fn ranking<'a>(
    batch: &Batch<'a>,
    row: u32,
    labels: &'a [u8],
    grades: &'a [f64],
) -> Ranking<'a> {
    let exact = batch
        .exact_facts()
        .map(|exact| ReferenceGrades { grades, judged: exact.of(batch.judgments(row)) });
    let (facts, book) = (batch.facts_of(row), batch.book());
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
        let plan = Plan::new(&measures, matrix.book()).unwrap();
        let batch = matrix.batch();
        let prepared = plan.prepare(&batch);
        let columns = Columns::zeros(plan.program(), LANES);
        for (depth, judged_only) in
            [(None, false), (Some(7), false), (None, true), (Some(18), true)]
        {
            let view = View { depth, judged_only };
            let walking = Finishing::new(batch.clone(), view, &prepared).unwrap();
            let mut plainly = Finishing::new(batch.clone(), view, &prepared).unwrap();
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

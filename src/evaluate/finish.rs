//! From columns to values: the last step of every formula, and the walks.

use crate::engine::cpu::documents::Documents;
use crate::engine::walk::{WalkScratch, Walked, Walker, walkers};
use crate::fold::{Columns, Walk};
use crate::label::code::PAST_END;
use crate::label::exact::classed;
use crate::label::{Above, Batch, Tile, Unpacked, View};
use crate::plan::Prepared;
use crate::reference::{self, Exact, Ranking};

/// Finishes rows of a batch.
pub(super) struct Finishing<'a> {
    batch: Batch<'a>,
    view: View,
    prepared: &'a Prepared<'a>,
    /// The measures that walk, by index.
    walks: Vec<(usize, Box<dyn Walker>)>,
    /// The measures that walk with their reference functions.
    references: Vec<(usize, reference::Function)>,
    /// The documents that matter to any walk.
    heeded: Above,
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
    walk: WalkScratch,
    /// `[measure][row]`.
    pub values: Vec<f64>,
}

impl<'a> Finishing<'a> {
    pub fn new(batch: Batch<'a>, view: View, prepared: &'a Prepared<'a>) -> Self {
        let plan = prepared.plan();
        let deepest = batch.deepest() as usize;
        let (places, walks): (Vec<usize>, Vec<&Walk>) =
            plan.walks().filter_map(|(at, walk)| Some((at, walk?))).unzip();
        let function = |(at, walk): (usize, Option<&Walk>)| match walk {
            Some(_) => None,
            None => Some((at, reference::function(&plan.measures()[at])?)),
        };
        // A view that keeps judged documents only goes as deep as the last judged document that it needs.
        let least = if view.judged_only { Above::JUDGED } else { Above(255) };
        Finishing {
            references: plan.walks().filter_map(function).collect(),
            heeded: walks.iter().map(|walk| walk.heeds()).fold(least, Above::min),
            walks: places.into_iter().zip(walkers(walks.into_iter(), deepest)).collect(),
            batch,
            view,
            prepared,
        }
    }

    /// Finishes `rows`, which have these `columns`, into the values of the scratch. They are the rows of `tile`, or empty ones.
    pub fn rows(&self, rows: &[u32], columns: &Columns, tile: Option<Tile<'_>>, scratch: &mut FinishScratch) {
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
    }

    /// Collects the queries of `rows`, most of which belong to one run.
    fn queries(&self, rows: &[u32], queries: &mut Vec<u32>) {
        let all = self.batch.queries() as u32;
        let first = rows.first().map_or(0, |row| row / all * all);
        let query = |&row: &u32| if (first..first + all).contains(&row) { row - first } else { row % all };
        queries.clear();
        queries.extend(rows.iter().map(query));
    }

    fn walk(&self, rows: &[u32], (tile, exact): WithExact<'_>, scratch: &mut FinishScratch) {
        let FinishScratch { queries, facts, viewed, classed: codes, documents, walk, values, .. } = scratch;
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

    fn walk_by_reference(&self, rows: &[u32], (tile, exact): WithExact<'_>, scratch: &mut FinishScratch) {
        let FinishScratch { viewed, unpacked, values, .. } = scratch;
        if let Some(tile) = tile {
            unpacked.take(self.view.of(tile, viewed));
        }
        for (lane, &row) in rows.iter().enumerate() {
            let labels = tile.map_or(&[][..], |_| unpacked.lane(lane));
            let labels = &labels[..labels.len().min(self.depth(row) as usize)];
            let end =
                if self.view.judged_only { labels.iter().position(|&label| label == PAST_END) } else { None };
            let grades = if tile.is_some() { exact(lane) } else { &[] };
            let ranking = ranking(&self.batch, row, &labels[..end.unwrap_or(labels.len())], grades);
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

/// A tile, and the exact grades of each of its lanes.
type WithExact<'t> = (Option<Tile<'t>>, &'t dyn Fn(usize) -> &'t [f64]);

/// A row with what the qrels know of its query. `grades` are the exact grades of its judged documents, if codes are classes of grades.
pub(super) fn ranking<'a>(batch: &Batch<'a>, row: u32, labels: &'a [u8], grades: &'a [f64]) -> Ranking<'a> {
    let exact = batch.exact().map(|exact| Exact { grades, judged: exact.facts.of(batch.query(row)) });
    Ranking { labels, facts: batch.facts_of(row), book: batch.book(), exact }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Synthetic;
    use crate::label::LANES;
    use crate::measure::Measure;
    use crate::plan::Plan;

    #[test]
    fn what_has_no_walk_of_its_own_walks_with_its_reference_function() {
        let matrix = Synthetic { queries: 100, depth: 30, ..Synthetic::default() }.matrix().unwrap();
        let measures: Vec<Measure> = ["AP", "G", "RnDCG", "Compat"].map(|name| name.parse().unwrap()).into();
        let plan = Plan::new(&measures, matrix.book()).unwrap();
        let batch = matrix.batch();
        let prepared = plan.prepare(&batch);
        let columns = Columns::zeros(plan.program(), LANES);
        for (depth, judged_only) in [(None, false), (Some(7), false), (None, true), (Some(18), true)] {
            let view = View { depth, judged_only };
            let walking = Finishing::new(batch.clone(), view, &prepared);
            let mut plainly = Finishing::new(batch.clone(), view, &prepared);
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

//! Values over the orders of equal scores, in the place of those of the order in which a matrix has them.

use super::finish::{FinishScratch, Finishing};
use crate::engine::Job;
use crate::engine::cpu::documents::Documents;
use crate::engine::cpu::{Cpu, StepScratch, Steps};
use crate::error::{Error, Result};
use crate::label::code::UNPOOLED;
use crate::label::{Above, Batch, RowTies, TiedGroups, Tile, View};
use crate::measure::Measure;
use crate::plan::Prepared;
use crate::scores::TiedValue;
use crate::ties::{Cuts, Expectation, Extreme, Key, Pieces, Row, Scratch, Searched, Side, TiedRanking};

/// What is worked out again of rows with mixed groups, for each measure.
pub(super) struct OverTies<'a> {
    ties: &'a TiedGroups,
    batch: Batch<'a>,
    view: View,
    /// By measure.
    ways: Vec<Way>,
    /// By measure the ranks of the stored rankings that matter to it.
    limits: Vec<u32>,
    /// The orders in which groups are evaluated again.
    keys: Vec<Key>,
    cpu: Cpu,
    steps: Steps,
    job: Job<'a>,
}

/// How a measure's value of a row is found.
enum Way {
    Expected(Expectation),
    /// By one of the keys.
    Arranged(usize),
    Searched(Searched),
}

/// What is used again from tile to tile.
#[derive(Default)]
pub(super) struct TiedScratch {
    documents: Documents,
    pieces: Pieces,
    arranged: Vec<u8>,
    labels: Vec<u8>,
    steps: StepScratch,
    finish: FinishScratch,
    ties: Scratch,
}

impl<'a> OverTies<'a> {
    /// How these measures are valued in a batch; `None` where its order is taken as it is.
    ///
    /// # Errors
    /// A batch that does not know its ties; measures for which there is no such value, all of them.
    pub fn new(
        value: TiedValue,
        batch: &Batch<'a>,
        view: View,
        prepared: &'a Prepared<'_>,
    ) -> Result<Option<Self>> {
        if value == TiedValue::Ranked {
            return Ok(None);
        }
        let ties = batch.tied_groups().ok_or_else(unknown)?;
        let cuts = Cuts { depth: view.depth.is_some() || ties.is_cut(), judged_only: view.judged_only };
        let measures = prepared.plan().measures();
        let mut keys: Vec<Key> = Vec::new();
        let mut way = |measure: &Measure| {
            let side = match value {
                TiedValue::Best => Side::Best,
                TiedValue::Worst => Side::Worst,
                _ => return Expectation::of(measure, batch.book(), cuts).map(Way::Expected),
            };
            Ok(match Extreme::of(measure, batch.book(), side, cuts)? {
                Extreme::Searched(searched) => Way::Searched(searched),
                Extreme::Order(key) => {
                    let known = keys.iter().position(|of| *of == key);
                    Way::Arranged(known.unwrap_or_else(|| {
                        keys.push(key);
                        keys.len() - 1
                    }))
                }
            })
        };
        let (mut ways, mut refused) = (Vec::new(), Vec::new());
        for measure in measures {
            match way(measure) {
                Ok(way) => ways.push(way),
                Err(error) => refused.push(error.to_string()),
            }
        }
        if !refused.is_empty() {
            return Err(Error::Unanswerable(refused.join("\n")));
        }
        // Where documents are dropped, those behind a cutoff move up; where rankings are cut, which documents they have is open.
        let whole = cuts == Cuts::default();
        let limit = |measure: &Measure| measure.rank().filter(|_| whole).unwrap_or(u32::MAX);
        let limits = measures.iter().map(limit).collect();
        let cpu = Cpu::new();
        let (program, inputs) = (prepared.plan().program(), prepared.inputs());
        let steps = cpu.steps(program, batch.deepest() as usize);
        let job = Job { batch: batch.clone(), view, program, inputs, watch: None };
        Ok(Some(OverTies { ties, batch: batch.clone(), view, ways, limits, keys, cpu, steps, job }))
    }

    /// Replaces the values, `[measure][row]`, of the rows of a tile that have mixed groups.
    pub fn replace(
        &self,
        at: usize,
        finishing: &Finishing<'_>,
        values: &mut [f64],
        scratch: &mut TiedScratch,
    ) {
        let rows = self.batch.rows(at);
        let tied: Vec<(usize, RowTies<'_>)> = rows
            .iter()
            .enumerate()
            .map(|(lane, &row)| (lane, self.ties.of(row)))
            .filter(|(_, ties)| !ties.groups.is_empty())
            .collect();
        if tied.is_empty() {
            return;
        }
        let tile = self.batch.tile(at);
        if self.ways.iter().any(|way| !matches!(way, Way::Arranged(_))) {
            self.compute(tile, rows, &tied, values, scratch);
        }
        for (number, key) in self.keys.iter().enumerate() {
            arrange(key, tile, &tied, scratch);
            let arranged = Tile { labels: &scratch.arranged, ..tile };
            let columns = self.cpu.columns_of(&self.job, at, arranged, &self.steps, &mut scratch.steps);
            finishing.rows(rows, columns, Some(arranged), &mut scratch.finish);
            let arranged = scratch.finish.values.chunks_exact(rows.len());
            for ((way, values), arranged) in
                self.ways.iter().zip(values.chunks_exact_mut(rows.len())).zip(arranged)
            {
                if matches!(way, Way::Arranged(of) if *of == number) {
                    tied.iter().for_each(|&(lane, _)| values[lane] = arranged[lane]);
                }
            }
        }
    }

    /// Computes the values that follow from the groups of a row.
    fn compute(
        &self,
        tile: Tile<'_>,
        rows: &[u32],
        tied: &[(usize, RowTies<'_>)],
        values: &mut [f64],
        TiedScratch { documents, pieces, ties: scratch, .. }: &mut TiedScratch,
    ) {
        documents.forget();
        for &(lane, ties) in tied {
            let first = ties.groups[0].start;
            if self.limits.iter().all(|&limit| limit <= first) {
                continue;
            }
            let (row, documents) = (rows[lane], documents.of(tile, lane, Above(UNPOOLED)));
            let depth = self.batch.depths()[row as usize];
            // A damaged file may have some behind the end of a ranking.
            let documents = &documents[..documents.partition_point(|of| of.rank < depth)];
            let (facts, book) = (self.batch.facts_of(row), self.batch.book());
            let tied = TiedRanking { documents, depth, facts, book, ties };
            let mut row = Row::new(&tied, self.view, std::mem::take(pieces));
            let each = self.ways.iter().zip(&self.limits).zip(values.chunks_exact_mut(rows.len()));
            for ((way, _), values) in each.filter(|((_, limit), _)| **limit > first) {
                match way {
                    Way::Expected(expectation) => values[lane] = expectation.of_row(&mut row, scratch),
                    Way::Searched(searched) => values[lane] = searched.of_row(&row, scratch),
                    Way::Arranged(_) => {}
                }
            }
            *pieces = row.into_pieces();
        }
    }
}

/// Makes a tile with its groups in the order of a key.
fn arrange(
    key: &Key,
    tile: Tile<'_>,
    tied: &[(usize, RowTies<'_>)],
    TiedScratch { arranged, labels, .. }: &mut TiedScratch,
) {
    arranged.clear();
    arranged.extend_from_slice(tile.labels);
    for &(lane, ties) in tied {
        for (at, group) in ties.groups.iter().enumerate() {
            let ranks = group.start as usize..group.end() as usize;
            labels.clear();
            labels.extend(ranks.clone().map(|rank| tile.label(lane, rank)));
            key.arrange(labels, if at + 1 == ties.groups.len() { ties.cut } else { &[] });
            ranks.zip(&*labels).for_each(|(rank, &label)| arranged[tile.position(lane, rank)] = label);
        }
    }
}

/// The matrix does not know its ties.
pub(super) fn unknown() -> Error {
    Error::Unanswerable("which documents have equal scores is not known: join with `keep_ties`".to_owned())
}

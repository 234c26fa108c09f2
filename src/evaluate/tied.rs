//! Values over the orders of equal scores, in the place of those of the order in which a matrix has them.

use super::finish::{FinishScratch, Finishing};
use crate::engine::Job;
use crate::engine::cpu::{Cpu, StepScratch, Steps};
use crate::error::{Error, Result};
use crate::label::{Batch, RowTies, TiedGroups, Tile, Unpacked, View};
use crate::measure::Measure;
use crate::plan::Prepared;
use crate::reference::Ranking;
use crate::scores::TiedValue;
use crate::ties::{Cuts, Expectation, Extreme, Key, Row, Scratch, Searched, Side, TiedRanking};

/// What is worked out again of rows with mixed groups, for each measure.
pub(super) struct OverTies<'a> {
    ties: &'a TiedGroups,
    batch: Batch<'a>,
    view: View,
    /// By measure.
    ways: Vec<Way>,
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
    unpacked: Unpacked,
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
        let cpu = Cpu::new();
        let (program, inputs) = (prepared.plan().program(), prepared.inputs());
        let steps = cpu.steps(program, batch.deepest() as usize);
        let job = Job { batch: batch.clone(), view, program, inputs, watch: None };
        Ok(Some(OverTies { ties, batch: batch.clone(), view, ways, keys, cpu, steps, job }))
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
        scratch.unpacked.take(tile);
        if self.ways.iter().any(|way| !matches!(way, Way::Arranged(_))) {
            for &(lane, ties) in &tied {
                let labels = self.labels(lane, rows[lane], &scratch.unpacked);
                let facts = self.batch.facts_of(rows[lane]);
                let ranking = Ranking { labels, facts, book: self.batch.book() };
                let mut row = Row::new(&TiedRanking { ranking, ties }, self.view);
                for (way, values) in self.ways.iter().zip(values.chunks_exact_mut(rows.len())) {
                    match way {
                        Way::Expected(expectation) => {
                            values[lane] = expectation.of_row(&mut row, &mut scratch.ties);
                        }
                        Way::Searched(searched) => values[lane] = searched.of_row(&row, &mut scratch.ties),
                        Way::Arranged(_) => {}
                    }
                }
            }
        }
        for (number, key) in self.keys.iter().enumerate() {
            self.arrange(key, tile, rows, &tied, scratch);
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

    /// Makes a tile with its groups in the order of a key.
    fn arrange(
        &self,
        key: &Key,
        tile: Tile<'_>,
        rows: &[u32],
        tied: &[(usize, RowTies<'_>)],
        TiedScratch { unpacked, arranged, labels, .. }: &mut TiedScratch,
    ) {
        arranged.clear();
        arranged.extend_from_slice(tile.labels);
        for &(lane, ties) in tied {
            labels.clear();
            labels.extend_from_slice(self.labels(lane, rows[lane], unpacked));
            key.arrange(labels, ties);
            for group in ties.groups {
                for rank in group.start..group.end() {
                    arranged[tile.position(lane, rank as usize)] = labels[rank as usize];
                }
            }
        }
    }

    /// The labels of a row in a lane.
    fn labels<'u>(&self, lane: usize, row: u32, unpacked: &'u Unpacked) -> &'u [u8] {
        &unpacked.lane(lane)[..self.batch.depths()[row as usize] as usize]
    }
}

/// The matrix does not know its ties.
pub(super) fn unknown() -> Error {
    Error::Unanswerable("which documents have equal scores is not known: join with `keep_ties`".to_owned())
}

//! The results of a worker: the values of the rankings in its tiles, which a sink receives, and
//! exact sums of the values.
//!
//! The worker that makes the values of a tile also adds the values, while they are still in its
//! cache. No worker waits for another worker: each has sums of its own for all runs and measures,
//! and the end merges all sums. The price is memory: workers × slots × measures sums of 88 bytes,
//! and 200 bytes more for moments. If the sums would take more than 4 GiB, fewer workers run.
//!
//! Why sums do not depend on the distribution of tiles to workers: exact sums are integers,
//! extremes are a minimum and a maximum, counts are counts, and the first value that is not finite
//! is a minimum by row and measure. All four are commutative and associative to the bit.

use std::ops::Range;

use super::row_finisher::{FinishScratch, RowFinisher};
use super::sink::ValueSink;
use super::slots::Slots;
use super::tie_values::{TieEvaluator, TiedScratch};
use crate::engine::Collector;
use crate::error::{Error, Result};
use crate::fold::Columns;
use crate::matrix::{Batch, LANES, View};
use crate::measure::Average;
use crate::stats::{ExactSum, Moments, is_undefined};

/// The most bytes for the sums of all workers.
const MOST_BYTES: usize = 4 << 30;

/// The state that all workers on a batch share: its rankings, the finisher of values, and the slots
/// of sums.
pub(super) struct TallyContext<'a> {
    pub batch: Batch<'a>,
    pub finishing: RowFinisher<'a>,
    /// The values to compute again for tied scores.
    pub over_ties: Option<TieEvaluator<'a>>,
    pub averages: Vec<Average>,
    pub slots: Slots,
    /// Whether standard deviations or extremes are wanted.
    pub moments: bool,
    /// Whether queries may have no value under a measure.
    pub skips: bool,
}

/// The exact sums of the values that a worker has computed, and a sink that has received the
/// values.
pub(super) struct Tally<'a, S> {
    context: &'a TallyContext<'a>,
    scratch: FinishScratch,
    tied: TiedScratch,
    terms: Vec<f64>,
    pub sums: SlotSums,
    pub sink: S,
}

/// Exact sums of values by slot; a slot is a run, or a group of its queries.
pub(super) struct SlotSums {
    /// The number of rows that count, by slot.
    pub counts: Vec<u64>,
    /// The sums, `[slot][measure]`.
    pub sums: Vec<ExactSum>,
    /// The moments, `[slot][measure]`, or none.
    pub moments: Vec<Moments>,
    /// The number of rows without a value, `[slot][measure]`; none where all have one.
    pub skipped: Vec<u64>,
    /// The first infinite or NaN value, by row and measure.
    pub not_finite: Option<NotFinite>,
}

/// An infinite or NaN value of a measure, with the row of its ranking.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotFinite {
    pub row: u32,
    pub measure: usize,
    pub value: f64,
}

impl TallyContext<'_> {
    /// Returns the number of workers that may have sums of their own in the memory allowed.
    ///
    /// # Errors
    /// Sums of a single worker that take more memory than is reasonable.
    pub fn workers(&self) -> Result<usize> {
        let (slots, measures) = (self.slots.count(), self.averages.len());
        let one = size_of::<ExactSum>() + if self.moments { size_of::<Moments>() } else { 0 };
        workers(slots, measures, one)
    }
}

fn workers(slots: usize, measures: usize, one: usize) -> Result<usize> {
    // Saturating: the numbers of runs and measures come from files and lists, and a product that
    // does not fit is refused like any too large.
    let bytes = slots.saturating_mul(measures).saturating_mul(one).max(1);
    match MOST_BYTES / bytes {
        0 => {
            let what = format!("the sums of {slots} runs × {measures} measures");
            Err(too_large(&what, bytes, "more than the 4 GiB that they may take"))
        }
        workers => Ok(workers),
    }
}

impl<'a, S: ValueSink> Tally<'a, S> {
    pub fn new(context: &'a TallyContext<'a>, sink: S) -> Self {
        let slots = context.slots.count();
        let sums = slots * context.averages.len();
        Self {
            context,
            scratch: FinishScratch::default(),
            tied: TiedScratch::default(),
            terms: Vec::with_capacity(LANES),
            sums: SlotSums {
                counts: vec![0; slots],
                sums: vec![ExactSum::default(); sums],
                moments: vec![Moments::default(); if context.moments { sums } else { 0 }],
                skipped: vec![0; if context.skips { sums } else { 0 }],
                not_finite: None,
            },
            sink,
        }
    }

    /// Computes the values of the rankings `rows` from an engine's `columns`, and adds them to the
    /// tally. The rows are the rows of `tile`; without a tile, the rows have no documents.
    pub fn rows(&mut self, rows: &[u32], columns: &Columns, tile: Option<usize>) {
        let TallyContext { batch, finishing, over_ties, .. } = self.context;
        // Taken out for the time of the call, because `add` borrows the whole tally.
        let mut scratch = std::mem::take(&mut self.scratch);
        match (over_ties, tile) {
            (Some(over_ties), Some(at)) => {
                over_ties.rows(at, columns, finishing, &mut scratch, &mut self.tied);
            }
            _ => finishing.rows(rows, columns, tile.map(|at| batch.tile(at)), &mut scratch),
        }
        finishing.replace(rows, &mut scratch);
        self.add(rows, &scratch.values);
        self.scratch = scratch;
    }

    /// Adds the values of some rankings, `[measure][row]`, to the sums of their slots, and shows
    /// them to the sink.
    pub fn add(&mut self, rows: &[u32], values: &[f64]) {
        let Tally { context, terms, sums, sink, .. } = self;
        match context.slots.selection() {
            None => {
                for (run, together) in runs_of(rows, context.batch.queries() as u32) {
                    sums.begin(run, together.len());
                    for (measure, values) in values.chunks_exact(rows.len()).enumerate() {
                        let (rows, values) = (&rows[together.clone()], &values[together.clone()]);
                        sums.add(context, run, measure, rows, values, terms);
                    }
                }
                sink.values(&context.batch, rows, values);
            }
            Some(selection) => {
                let mut lanes: Vec<(usize, usize)> = Vec::new();
                for (lane, &row) in rows.iter().enumerate() {
                    let first = context.batch.run(row) * selection.slots();
                    let slots = selection.slots_for(context.batch.query(row)).iter();
                    lanes.extend(slots.map(|&slot| (first + slot as usize, lane)));
                }
                // By slot, and by lane within it: the values of each slot are then one stretch,
                // added in a single call.
                lanes.sort_unstable();
                for of_slot in lanes.chunk_by(|one, next| one.0 == next.0) {
                    let slot = of_slot[0].0;
                    sums.begin(slot, of_slot.len());
                    let of_rows: Vec<u32> = of_slot.iter().map(|&(_, lane)| rows[lane]).collect();
                    let columns = values.chunks_exact(rows.len());
                    let chosen: Vec<f64> = columns
                        .flat_map(|column| of_slot.iter().map(move |&(_, lane)| column[lane]))
                        .collect();
                    for (measure, values) in chosen.chunks_exact(of_rows.len()).enumerate() {
                        sums.add(context, slot, measure, &of_rows, values, terms);
                    }
                    // The sink reads slot 0 alone: slot 0 of a run has each chosen query once, and
                    // the other slots repeat queries.
                    if slot % selection.slots() == 0 {
                        sink.values(&context.batch, &of_rows, &chosen);
                    }
                }
            }
        }
    }
}

impl<S: ValueSink> Collector for Tally<'_, S> {
    fn tile(&mut self, at: usize, columns: &Columns) {
        self.rows(self.context.batch.rows(at), columns, Some(at));
    }

    fn merge(&mut self, other: Self) {
        self.sums.merge(&other.sums);
        self.sink.merge(other.sink);
    }
}

/// Returns the labels of the ranking in one lane of a tile under a view (depth, judged only).
pub(super) fn labels(batch: &Batch<'_>, view: View, tile: usize, lane: usize) -> Vec<u8> {
    let mut labels: Vec<u8> = batch.ranking(tile, lane).collect();
    view.apply_to_row(&mut labels);
    labels
}

impl SlotSums {
    /// Adds `rows` to the number of rankings that count in a slot.
    fn begin(&mut self, slot: usize, rows: usize) {
        self.counts[slot] += rows as u64;
    }

    /// Adds the values of some rankings under a measure to the sums of a slot.
    #[inline]
    fn add(
        &mut self,
        context: &TallyContext<'_>,
        slot: usize,
        measure: usize,
        rows: &[u32],
        values: &[f64],
        terms: &mut Vec<f64>,
    ) {
        let at = slot * context.averages.len() + measure;
        if context.skips && values.iter().any(|&value| is_undefined(value)) {
            let lanes: Vec<usize> =
                (0..rows.len()).filter(|&lane| !is_undefined(values[lane])).collect();
            let of_rows: Vec<u32> = lanes.iter().map(|&lane| rows[lane]).collect();
            let of_values: Vec<f64> = lanes.iter().map(|&lane| values[lane]).collect();
            self.skipped[at] += (rows.len() - lanes.len()) as u64;
            return self.add(context, slot, measure, &of_rows, &of_values, terms);
        }
        if context.moments {
            self.moments[at].add_all(values);
        }
        let sum = &mut self.sums[at];
        match context.averages[measure] {
            Average::Mean | Average::Sum => sum.add_all(values),
            Average::Geometric => {
                terms.clear();
                terms.extend(values.iter().map(|&value| Average::Geometric.term(value)));
                sum.add_all(terms);
            }
        }
        // Once a worker's sum is not finite it stays so, and the values of each later tile are
        // looked at again: the least row of all is found in any order.
        if !sum.is_finite() {
            self.not_finite = earlier(self.not_finite, not_finite(measure, rows, values));
        }
    }

    pub fn merge(&mut self, other: &SlotSums) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(all, one)| *all += one);
        self.sums.iter_mut().zip(&other.sums).for_each(|(all, one)| all.merge(one));
        self.moments.iter_mut().zip(&other.moments).for_each(|(all, one)| all.merge(one));
        self.skipped.iter_mut().zip(&other.skipped).for_each(|(all, one)| *all += one);
        self.not_finite = earlier(self.not_finite, other.not_finite);
    }
}

/// Returns the infinite or NaN value of a measure that has the lowest row, if there is one.
#[cold]
fn not_finite(measure: usize, rows: &[u32], values: &[f64]) -> Option<NotFinite> {
    let found = rows.iter().zip(values).filter(|(_, value)| !value.is_finite());
    found.map(|(&row, &value)| NotFinite { row, measure, value }).min_by_key(|found| found.row)
}

/// Returns the earlier of two infinite or NaN values, by row and measure.
fn earlier(one: Option<NotFinite>, other: Option<NotFinite>) -> Option<NotFinite> {
    one.into_iter().chain(other).min_by_key(|found| (found.row, found.measure))
}

/// Arranges collected values of rankings as columns, `[measure][row]`.
///
/// # Errors
/// More values than there is memory for.
pub(super) fn by_row(
    parts: &[(Vec<u32>, Vec<f64>)],
    measures: usize,
    rows: usize,
) -> Result<Vec<Vec<f64>>> {
    let mut all = room(measures, rows)?;
    for (rows, values) in parts {
        for (all, values) in all.iter_mut().zip(values.chunks_exact(rows.len())) {
            rows.iter().zip(values).for_each(|(&row, &value)| all[row as usize] = value);
        }
    }
    Ok(all)
}

/// Allocates columns of zeros for the values of rankings, `[measure][row]`.
fn room(measures: usize, rows: usize) -> Result<Vec<Vec<f64>>> {
    let mut columns = Vec::new();
    for _ in 0..measures {
        let mut column: Vec<f64> = Vec::new();
        // The number of values comes from files, so too many of them must not abort the process.
        if column.try_reserve_exact(rows).is_err() {
            let what = format!("the values of {rows} rankings under {measures} measures");
            let bytes = rows.saturating_mul(measures).saturating_mul(size_of::<f64>());
            return Err(too_large(&what, bytes, "more than there is"));
        }
        column.resize(rows, 0.0);
        columns.push(column);
    }
    Ok(columns)
}

fn too_large(what: &str, bytes: usize, limit: &str) -> Error {
    let gib = bytes as f64 / f64::from(1 << 30);
    Error::Unanswerable(format!("{what} need {gib:.1} GiB, {limit}: evaluate fewer at a time"))
}

/// Returns the runs to which `rows` of a batch belong, each with the range of its rows, which lie
/// together.
fn runs_of(rows: &[u32], queries: u32) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let run = rows.get(start)? / queries;
        let of_run = run * queries..(run + 1) * queries;
        let other = rows[start..].iter().position(|row| !of_run.contains(row));
        let together = start..other.map_or(rows.len(), |other| start + other);
        start = together.end;
        Some((run as usize, together))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_sums_than_there_should_be_memory_for_are_refused() {
        let one = size_of::<ExactSum>();
        assert_eq!(workers(1000, 40_000, one).unwrap(), 1);
        assert!(workers(10, 50, one).unwrap() > 64);
        let error = workers(1000, 90_000, one).unwrap_err().to_string();
        assert_eq!(
            error,
            "the sums of 1000 runs × 90000 measures need 7.4 GiB, more than the 4 GiB that they \
             may take: evaluate fewer at a time"
        );
        assert!(workers(usize::MAX, 2, one).is_err());
    }

    #[test]
    fn values_that_cannot_be_kept_are_refused() {
        let error = room(3, isize::MAX as usize / 8).err().unwrap().to_string();
        assert!(
            error.starts_with("the values of 1152921504606846975 rankings under 3 measures need"),
            "{error}"
        );
    }
}

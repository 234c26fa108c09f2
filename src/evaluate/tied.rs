//! Values over all orders of equal scores, instead of values of the order in which a matrix has
//! them.
//!
//! Where the last step of a formula is linear, expected values follow from the expected columns of
//! a tile. Other expected values are computed for each row. The best and the worst values are those
//! of the tile with its groups rearranged.
//!
//! There are five ways, and each measure takes one for all rows of a batch:
//!
//! ```text
//! way         taken for                                          cost beyond one order
//! columns     expected values whose last step is linear, and     terms of the groups that matter
//!             measures of the judgments alone
//! first hit   the expected reciprocal rank of a first hit        one group a row
//! expected    other expected values, and all of them where       a walk over each tied row
//!             documents are dropped
//! arranged    best and worst values, where one order of codes    a copy of the tile, sorted group
//!             is best in every ranking                           by group
//! searched    best and worst values, where it depends on the     a walk over each tied row
//!             ranking
//! ```
//!
//! The first two start from the columns that an engine found in the order of the ranking, and
//! correct the rows with groups that matter; so rows without ties keep the kernels' bits, and cost
//! nothing. Where unjudged documents are dropped (judged-only), groups move up by a number that the
//! columns do not know, and the stored ranks of groups say nothing of them: such rows are walked.
//!
//! Arranged tiles replace the engine's pass, as the columns of the order in the file are of no use:
//! so an engine is given an empty program, and best and worst cost hardly more than one order (2.2
//! ms where that takes 2.1; benches/RESULTS.md). Measures share a pass if their orders are the same
//! for the codes that documents have. A second order runs the whole program again, and only its own
//! measures take their values from it.

use super::bordered::BorderedLanes;
use super::evaluator::{EngineChoice, Evaluator};
use super::finish::{FinishScratch, Finishing};
use super::together::unknown;
use crate::bytes::aligned::AlignedBytes;
use crate::engine::Job;
use crate::engine::cpu::documents::Documents;
use crate::engine::cpu::{Cpu, StepScratch, Steps};
use crate::error::{Error, Result};
use crate::fold::Columns;
use crate::matrix::code::{MAX_GRADES, UNPOOLED};
use crate::matrix::{
    Above, Batch, Document, GROUP, LabelMatrix, NARROW_LANES, RowTies, TiedGroups, Tile, View,
};
use crate::measure::Measure;
use crate::plan::{Plan, Prepared};
use crate::scores::TiedValue;
use crate::ties::{
    CodeOrder, Cuts, Expectation, ExpectedColumns, Extreme, FirstHit, Pieces, RankingPieces,
    Searched, Side, TieScratch, TiedRanking, refused,
};

/// How the values of rows with mixed groups are computed, for each measure.
pub(super) struct OverTies<'a> {
    ties: &'a TiedGroups,
    batch: Batch<'a>,
    view: View,
    measures: &'a [Measure],
    /// The way of each measure.
    ways: Vec<Way>,
    /// For each measure, the number of ranks of the stored rankings that matter to it.
    limits: Vec<u32>,
    /// The expected columns of all measures that are linear.
    columns: Option<ExpectedColumns>,
    /// The orders in which groups are evaluated.
    keys: Vec<CodeOrder>,
    /// The number of ranks of the stored rankings that matter to any measure.
    reach: u32,
    /// Whether all columns are computed here, whatever an engine found.
    computes: bool,
    cpu: Cpu,
    steps: Steps,
    job: Job<'a>,
}

/// How a measure's value of a row is computed.
enum Way {
    /// As without ties, from columns that are expectations.
    Columns,
    FirstHit(FirstHit),
    Expected(Expectation),
    /// From the tile arranged by one of the keys.
    Arranged(usize),
    Searched(Searched),
}

impl Way {
    fn describe(&self) -> &'static str {
        match self {
            Way::Columns => "from expectations of the columns",
            Way::FirstHit(_) => "from the chances of the first hit's rank",
            Way::Expected(_) => "by a closed form of each ranking",
            Way::Arranged(_) => "of the rankings with their groups in one order of codes",
            Way::Searched(_) => "searched for in each ranking",
        }
    }

    /// Whether the value is computed from the row as a whole.
    fn is_of_row(&self) -> bool {
        matches!(self, Way::Expected(_) | Way::Searched(_))
    }
}

/// The lanes of a tile that have mixed groups, with their groups.
type TiedLanes<'t> = [(usize, RowTies<'t>)];

/// Memory that is used again from tile to tile.
#[derive(Default)]
pub(super) struct TiedScratch {
    documents: Documents,
    pieces: Pieces,
    columns: Columns,
    arranged: Vec<AlignedBytes>,
    labels: Vec<u8>,
    steps: StepScratch,
    finish: FinishScratch,
    ties: TieScratch,
}

/// Returns the way of each measure of a plan, and the orders of codes in which tiles are arranged.
///
/// # Errors
/// A list of the measures that lack the value.
fn ways(
    value: TiedValue,
    batch: &Batch<'_>,
    (view, cuts): (View, Cuts),
    plan: &Plan,
) -> Result<(Vec<Way>, Vec<CodeOrder>)> {
    let mut keys: Vec<CodeOrder> = Vec::new();
    let mut way = |at: usize, measure: &Measure| -> Result<Way> {
        let Some(side) = side(value) else {
            return Ok(expected_way(Expectation::of(measure, batch.book(), cuts)?, view, plan, at));
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
    for (at, measure) in plan.measures().iter().enumerate() {
        match way(at, measure) {
            Ok(way) => ways.push(way),
            Err(error) => refused.push(error.to_string()),
        }
    }
    if !refused.is_empty() {
        return Err(Error::Unanswerable(refused.join("\n")));
    }
    Ok((ways, keys))
}

/// The way of an expected value of the measure `at` of a plan.
fn expected_way(expectation: Expectation, view: View, plan: &Plan, at: usize) -> Way {
    // Must come first: a value that is the same in every order needs no closed form, even where
    // documents are dropped.
    if expectation.is_fixed() {
        return Way::Columns;
    }
    // Where documents are dropped, groups move.
    if view.judged_only {
        return Way::Expected(expectation);
    }
    if expectation.is_linear() {
        return Way::Columns;
    }
    let first = plan.columns_of(at).next().and_then(|column| expectation.first_hit(column));
    first.map_or(Way::Expected(expectation), Way::FirstHit)
}

/// The error of values over the orders of equal scores where codes are not grades.
pub(super) fn too_many_grades() -> Error {
    Error::Unanswerable(format!(
        "values over the orders of equal scores need at most {MAX_GRADES} distinct grades: round \
         the grades, or take the order of the \
         ranking"
    ))
}

impl<'a> OverTies<'a> {
    /// Plans the values of measures over the ties of a batch; `None` where the order of the ranking
    /// counts. `cpu` is the CPU engine, if the CPU computes.
    ///
    /// # Errors
    /// A batch with too many distinct grades; a batch that does not know its ties; a list of the
    /// measures that lack the value.
    pub fn new(
        value: TiedValue,
        batch: &Batch<'a>,
        (view, cuts): (View, Cuts),
        prepared: &'a Prepared<'_>,
        cpu: Option<Cpu>,
    ) -> Result<Option<Self>> {
        if value == TiedValue::Ranked {
            return Ok(None);
        }
        if batch.exact().is_some() {
            return Err(too_many_grades());
        }
        let ties = batch.tied_groups().ok_or_else(unknown)?;
        let plan = prepared.plan();
        let (ways, keys) = ways(value, batch, (view, cuts), plan)?;
        // A group that starts behind the limit of a measure does not change the value: the row
        // keeps its value in the order of the file. Rankings that are not whole have no limit.
        // Where documents are dropped, documents behind a cutoff move up; where rankings are cut,
        // the order of ties decides which documents stay.
        let whole = cuts == Cuts::default();
        let limit = |measure: &Measure| measure.rank().filter(|_| whole).unwrap_or(u32::MAX);
        let limits = plan.measures().iter().map(limit).collect();
        let linear = ways.iter().enumerate().filter(|(_, way)| matches!(way, Way::Columns));
        let read: Vec<usize> = linear.flat_map(|(at, _)| plan.columns_of(at)).collect();
        let reach = if view.judged_only { None } else { plan.reach() };
        let reach = reach.into_iter().chain(view.depth).min().unwrap_or(u32::MAX);
        // Expected and arranged values are never asked for together, so either the columns of the
        // file's order are needed or none are.
        let computes = cpu.is_some() && !keys.is_empty();
        let cpu = cpu.unwrap_or_default();
        let (program, inputs) = (plan.program(), prepared.inputs());
        let steps = cpu.steps(program, batch.deepest() as usize);
        let columns = (!read.is_empty()).then(|| ExpectedColumns::of(program, &read));
        let job = Job { batch: batch.clone(), view, program, inputs, watch: None };
        let (batch, measures) = (batch.clone(), plan.measures());
        Ok(Some(OverTies {
            measures,
            ties,
            batch,
            view,
            ways,
            limits,
            columns,
            keys,
            reach,
            computes,
            cpu,
            steps,
            job,
        }))
    }

    /// Whether all columns are computed here. Then no engine has to compute.
    pub fn computes(&self) -> bool {
        self.computes
    }

    /// Explains how the measures are valued, one line for each way.
    fn explain(&self) -> impl Iterator<Item = String> {
        let measures: Vec<String> = self.measures.iter().map(ToString::to_string).collect();
        let mut by_way: Vec<(&str, Vec<String>)> = Vec::new();
        for (way, measure) in self.ways.iter().zip(measures) {
            let how = way.describe();
            match by_way.iter_mut().find(|(of, _)| *of == how) {
                Some((_, measures)) => measures.push(measure),
                None => by_way.push((how, vec![measure])),
            }
        }
        by_way.into_iter().map(|(how, measures)| format!("  {how}: {}", measures.join(", ")))
    }

    /// Finishes the rows of a tile, whose columns an engine computed, into the values of the
    /// scratch.
    pub fn rows(
        &self,
        at: usize,
        columns: &Columns,
        finishing: &Finishing<'_>,
        finish: &mut FinishScratch,
        scratch: &mut TiedScratch,
    ) {
        let (rows, tile) = (self.batch.rows(at), self.batch.tile(at));
        let lanes = rows.iter().enumerate().map(|(lane, &row)| (lane, self.ties.of(row)));
        let tied: Vec<(usize, RowTies<'_>)> =
            lanes.filter(|(_, ties)| !ties.groups.is_empty()).collect();
        let found = if self.computes { None } else { Some(columns) };
        match (self.keys.first(), &self.columns) {
            (Some(key), _) if self.computes || !tied.is_empty() => {
                self.arranged(at, key, &tied, finishing, finish, scratch);
            }
            (_, Some(expected)) if !tied.is_empty() => {
                self.expect(expected, at, columns, &tied, scratch);
                finishing.rows(rows, &scratch.columns, Some(tile), finish);
            }
            _ => finishing.rows(rows, columns, Some(tile), finish),
        }
        if tied.is_empty() {
            return;
        }
        let values = &mut finish.values;
        if let Some(columns) = found {
            self.first_hits(at, columns, &tied, values);
        }
        if self.ways.iter().any(Way::is_of_row) {
            self.compute(tile, rows, &tied, values, scratch);
        }
        // The values of the first key are already in place for all measures. Each further key
        // replaces the values of its measures, in tied rows alone.
        for (number, key) in self.keys.iter().enumerate().skip(1) {
            let mut finish = std::mem::take(&mut scratch.finish);
            self.arranged(at, key, &tied, finishing, &mut finish, scratch);
            let arranged = finish.values.chunks_exact(rows.len());
            for ((way, values), arranged) in
                self.ways.iter().zip(values.chunks_exact_mut(rows.len())).zip(arranged)
            {
                if matches!(way, Way::Arranged(of) if *of == number) {
                    tied.iter().for_each(|&(lane, _)| values[lane] = arranged[lane]);
                }
            }
            scratch.finish = finish;
        }
    }

    /// Finishes the rows of a tile with its groups in the order of a key.
    fn arranged(
        &self,
        at: usize,
        key: &CodeOrder,
        tied: &TiedLanes<'_>,
        finishing: &Finishing<'_>,
        finish: &mut FinishScratch,
        TiedScratch { arranged, labels, steps, .. }: &mut TiedScratch,
    ) {
        let tile = key.arranged(self.batch.tile(at), tied, self.reach, (arranged, labels));
        let columns = self.cpu.columns_of(&self.job, at, tile, &self.steps, steps);
        finishing.rows(self.batch.rows(at), columns, Some(tile), finish);
    }

    /// Replaces the columns of rows with mixed groups by their expectations.
    fn expect(
        &self,
        expected: &ExpectedColumns,
        at: usize,
        found: &Columns,
        tied: &TiedLanes<'_>,
        TiedScratch { documents, columns, ties: scratch, .. }: &mut TiedScratch,
    ) {
        columns.lanes = found.lanes;
        columns.values.clone_from(&found.values);
        columns.histogram.clone_from(&found.histogram);
        let (rows, tile) = (self.batch.rows(at), self.batch.tile(at));
        for sum in expected.precisions() {
            let kept = |&cut: &u32| cut.min(self.view.depth.unwrap_or(u32::MAX));
            let cuts: Vec<u32> = sum.cuts.iter().map(kept).collect();
            let mut lanes =
                BorderedLanes::new(tile, sum.hits, &cuts, (columns, sum.column), scratch);
            tied.iter()
                .for_each(|&(lane, ties)| lanes.push(tile, lane, ties, self.kept(rows[lane])));
            lanes.sum(self.cpu);
        }
        let input =
            |row: u32| move |input: usize| self.job.inputs[input][self.batch.judgments(row)];
        // Sixteen lanes at a time, because one vector holds the labels of sixteen lanes: one pass
        // finds the documents of all tied lanes in the vector.
        let mut rest = tied;
        while let Some(&(first, _)) = rest.first() {
            let first = first / NARROW_LANES * NARROW_LANES;
            let strip;
            (strip, rest) =
                rest.split_at(rest.partition_point(|(lane, _)| *lane < first + NARROW_LANES));
            let (mut lanes, mut deepest) = (0u16, 0);
            for &(lane, ties) in strip {
                let label = |rank: u32| tile.label(lane, rank as usize);
                let reach = expected.reach(ties, self.kept(rows[lane]), label, input(rows[lane]));
                if reach > 0 {
                    lanes |= 1 << (lane - first);
                    deepest = deepest.max(reach);
                }
            }
            let tile = tile.shallower((deepest as usize).next_multiple_of(GROUP));
            documents.of_lanes(tile, (first, lanes), expected.heeded(), |lane, documents| {
                let row = rows[lane];
                let tied = self.tied_ranking(row, documents);
                expected.replace(&tied, self.view, input(row), (columns, lane), scratch);
            });
        }
    }

    /// Computes the values that are reciprocals of the rank of a first hit in a group.
    fn first_hits(&self, at: usize, columns: &Columns, tied: &TiedLanes<'_>, values: &mut [f64]) {
        let (rows, tile) = (self.batch.rows(at), self.batch.tile(at));
        for (way, values) in self.ways.iter().zip(values.chunks_exact_mut(rows.len())) {
            let Way::FirstHit(first) = way else { continue };
            for &(lane, ties) in tied {
                let label = |rank: u32| tile.label(lane, rank as usize);
                let found = columns.value(first.column, lane);
                if let Some(value) = first.of_row(ties, self.kept(rows[lane]), found, label) {
                    values[lane] = value;
                }
            }
        }
    }

    /// Computes the values that follow from the groups of a row.
    fn compute(
        &self,
        tile: Tile<'_>,
        rows: &[u32],
        tied: &TiedLanes<'_>,
        values: &mut [f64],
        TiedScratch { documents, pieces, ties: scratch, .. }: &mut TiedScratch,
    ) {
        documents.forget();
        let each = || {
            self.ways.iter().zip(&self.limits).enumerate().filter(|(_, (way, _))| way.is_of_row())
        };
        for &(lane, ties) in tied {
            let first = ties.groups[0].start;
            if each().all(|(_, (_, &limit))| limit <= first) {
                continue;
            }
            let tied = self.tied_ranking(rows[lane], documents.of(tile, lane, Above(UNPOOLED)));
            let mut row = RankingPieces::new(&tied, self.view, std::mem::take(pieces));
            for (measure, (way, _)) in each().filter(|(_, (_, limit))| **limit > first) {
                let value = &mut values[measure * rows.len() + lane];
                match way {
                    Way::Expected(expectation) => *value = expectation.of_row(&mut row, scratch),
                    Way::Searched(searched) => *value = searched.of_row(&row, scratch),
                    Way::Columns | Way::FirstHit(_) | Way::Arranged(_) => {}
                }
            }
            *pieces = row.into_pieces();
        }
    }

    /// A row with its documents that matter.
    fn tied_ranking<'r>(&'r self, row: u32, documents: &'r [Document]) -> TiedRanking<'r> {
        let depth = self.batch.depths()[row as usize];
        // A damaged file may have documents behind the end of a ranking.
        let documents = &documents[..documents.partition_point(|of| of.rank < depth)];
        let (facts, book, ties) = (self.batch.facts_of(row), self.batch.book(), self.ties.of(row));
        TiedRanking { documents, depth, facts, book, ties }
    }

    /// The number of results of a row that are looked at.
    fn kept(&self, row: u32) -> u32 {
        self.batch.depths()[row as usize].min(self.view.depth.unwrap_or(u32::MAX))
    }
}

/// The side, best or worst, that `value` asks for; `None` for the expected value.
fn side(value: TiedValue) -> Option<Side> {
    match value {
        TiedValue::Best => Some(Side::Best),
        TiedValue::Worst => Some(Side::Worst),
        TiedValue::Average | TiedValue::Ranked => None,
    }
}

impl Evaluator {
    /// Checks that all measures have the value of tied rankings that was asked for, as far as that
    /// is known before any ranking is read.
    ///
    /// # Errors
    /// A list of the measures that lack the value; the reference engine, which values no ties.
    #[doc(hidden)]
    pub fn check_tied(&self) -> Result<()> {
        if self.tied == TiedValue::Ranked {
            return Ok(());
        }
        if self.engine == EngineChoice::Reference {
            return Err(no_reference(self.tied));
        }
        let cuts = Cuts { depth: self.view.depth.is_some(), judged_only: self.view.judged_only };
        let refused: Vec<String> = self
            .measures
            .iter()
            .filter_map(|measure| refused(measure, side(self.tied), cuts))
            .collect();
        if refused.is_empty() { Ok(()) } else { Err(Error::Unanswerable(refused.join("\n"))) }
    }

    /// Explains how rankings with equal scores are valued, one line for each way.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    #[doc(hidden)]
    pub fn explain_tied(&self, matrix: &LabelMatrix) -> Result<Vec<String>> {
        let (plan, batch) = (self.plan(matrix.book())?, matrix.batch());
        let prepared = plan.prepare(&batch);
        let over_ties =
            OverTies::new(self.tied, &batch, (self.view, self.cuts(matrix)), &prepared, None)?;
        let Some(over_ties) = over_ties else {
            return Ok(vec![format!("equal scores: in the order {}", matrix.rule().ties)]);
        };
        Ok([format!("equal scores: {} over all orders, on the CPU", self.tied)]
            .into_iter()
            .chain(over_ties.explain())
            .collect())
    }

    /// The cuts that are made between the stored rankings and the measures.
    pub(super) fn cuts(&self, matrix: &LabelMatrix) -> Cuts {
        let depth = self.view.depth.is_some() || matrix.rule().depth.is_some();
        Cuts { depth, judged_only: self.view.judged_only }
    }
}

/// The error of the reference, which values single orders only.
pub(super) fn no_reference(value: TiedValue) -> Error {
    Error::Unanswerable(format!(
        "the reference has no {value} values of tied rankings: take another engine"
    ))
}

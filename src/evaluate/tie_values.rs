//! Values of rankings over all orders of tied documents (expected, best or worst), instead of the
//! order in a matrix.
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

use super::evaluator::{EngineChoice, Evaluator};
use super::row_finisher::{FinishScratch, RowFinisher};
use super::tied_precision::TiedPrecisionLanes;
use super::viewed_ties::unknown_ties_error;
use crate::bytes::aligned::AlignedBytes;
use crate::engine::Job;
use crate::engine::cpu::documents::Documents;
use crate::engine::cpu::{Cpu, StepScratch, Steps};
use crate::error::{Error, Result, unanswerable};
use crate::fold::Columns;
use crate::matrix::code::{MAX_GRADES, NOT_IN_QRELS};
use crate::matrix::{
    Batch, CodesAbove, Document, LabelMatrix, MatrixTies, NARROW_LANES, QUAD, RowTies, Tile, View,
};
use crate::measure::Measure;
use crate::plan::{Plan, Prepared};
use crate::scores::{EvaluationSettings, TiedValue};
use crate::ties::{
    CodeOrder, Cuts, Expectation, ExpectedColumns, Extreme, ExtremeSearch, FirstHit,
    SegmentBuffers, Side, TieScratch, TieSegments, TiedRanking, unsupported_reason,
};

/// An evaluator of rankings with tied documents of different labels (mixed groups), over all orders
/// of equal scores.
pub(super) struct TieEvaluator<'a> {
    ties: &'a MatrixTies,
    batch: Batch<'a>,
    view: View,
    measures: &'a [Measure],
    /// The way of each measure.
    ways: Vec<TieMethod>,
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

/// The way to compute a measure's value of a ranking over all orders of its tied documents.
enum TieMethod {
    /// As without ties, from columns that are expectations.
    Columns,
    FirstHit(FirstHit),
    Expected(Expectation),
    /// From the tile arranged by one of the keys.
    Reordered(usize),
    Searched(ExtremeSearch),
}

impl TieMethod {
    fn describe(&self) -> &'static str {
        match self {
            Self::Columns => "from expectations of the columns",
            Self::FirstHit(_) => "from the chances of the first hit's rank",
            Self::Expected(_) => "by a closed form of each ranking",
            Self::Reordered(_) => "of the rankings with their groups in one order of codes",
            Self::Searched(_) => "searched for in each ranking",
        }
    }

    /// Returns whether the value over tie orders is computed from the ranking as a whole, and not
    /// from columns of its tile.
    fn is_of_row(&self) -> bool {
        matches!(self, Self::Expected(_) | Self::Searched(_))
    }
}

/// The lanes of a tile whose rankings have tied documents of different labels (mixed groups), with
/// these groups.
type TiedLanes<'t> = [(usize, RowTies<'t>)];

/// Buffers for values over tie orders, reused from tile to tile.
#[derive(Default)]
pub(super) struct TiedScratch {
    documents: Documents,
    pieces: SegmentBuffers,
    columns: Columns,
    arranged: Vec<AlignedBytes>,
    labels: Vec<u8>,
    steps: StepScratch,
    finish: FinishScratch,
    ties: TieScratch,
}

/// Chooses the way to compute each measure of a plan over tie orders, and the orders of codes in
/// which tiles are arranged.
///
/// # Errors
/// A list of the measures that lack the value.
fn ways(
    value: TiedValue,
    batch: &Batch<'_>,
    view: View,
    cuts: Cuts,
    plan: &Plan,
) -> Result<(Vec<TieMethod>, Vec<CodeOrder>)> {
    let (mut ways, mut keys, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let book = batch.codebook();
    for (at, measure) in plan.measures().iter().enumerate() {
        let way = match side(value) {
            None => Expectation::new(measure, book, cuts)
                .map(|expectation| expected_way(expectation, view, plan, at)),
            Some(side) => Extreme::new(measure, book, side, cuts)
                .map(|extreme| extreme_way(extreme, &mut keys)),
        };
        match way {
            Ok(way) => ways.push(way),
            // One error lists all refused measures, so that a user can drop all at once.
            Err(error) => refused.push(error.to_string()),
        }
    }
    if refused.is_empty() { Ok((ways, keys)) } else { unanswerable(refused.join("\n")) }
}

/// Returns the way to compute the best or worst value of a measure over tie orders. An order of
/// codes that is new joins `keys`.
fn extreme_way(extreme: Extreme, keys: &mut Vec<CodeOrder>) -> TieMethod {
    match extreme {
        Extreme::Search(searched) => TieMethod::Searched(searched),
        Extreme::Order(key) => {
            let known = keys.iter().position(|other| *other == key);
            TieMethod::Reordered(known.unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            }))
        }
    }
}

/// Returns the way to compute the expected value of the measure `at` of a plan over tie orders.
fn expected_way(expectation: Expectation, view: View, plan: &Plan, at: usize) -> TieMethod {
    // Must come first: a value that is the same in every order needs no closed form, even where
    // documents are dropped.
    if expectation.is_fixed() {
        return TieMethod::Columns;
    }
    // Where documents are dropped, groups move.
    if view.judged_only {
        return TieMethod::Expected(expectation);
    }
    if expectation.is_linear() {
        return TieMethod::Columns;
    }
    let first = plan.columns_of(at).next().and_then(|column| expectation.first_hit(column));
    first.map_or(TieMethod::Expected(expectation), TieMethod::FirstHit)
}

/// Returns the error of values over tie orders where grades are too many for a code each.
pub(super) fn too_many_grades() -> Error {
    Error::Unanswerable(format!(
        "values over the orders of equal scores need at most {MAX_GRADES} distinct grades: round \
         the grades, or take the order of the ranking"
    ))
}

impl<'a> TieEvaluator<'a> {
    /// Plans the values of measures over all orders of a batch's tied documents; `None` where the
    /// order of the ranking counts. `cpu` is the CPU engine, if the CPU computes.
    ///
    /// # Errors
    /// A batch with too many distinct grades; a batch that does not know its ties; a list of the
    /// measures that lack the value.
    pub fn new(
        value: TiedValue,
        batch: &Batch<'a>,
        view: View,
        cuts: Cuts,
        prepared: &'a Prepared<'_>,
        cpu: Option<Cpu>,
    ) -> Result<Option<Self>> {
        if value == TiedValue::Ranked {
            return Ok(None);
        }
        if batch.exact().is_some() {
            return Err(too_many_grades());
        }
        let ties = batch.tied_groups().ok_or_else(unknown_ties_error)?;
        let plan = prepared.plan();
        let (ways, keys) = ways(value, batch, view, cuts, plan)?;
        // A group that starts behind the limit of a measure does not change the value: the row
        // keeps its value in the order of the file. Rankings that are not whole have no limit.
        // Where documents are dropped, documents behind a cutoff move up; where rankings are cut,
        // the order of ties decides which documents stay.
        let whole = cuts == Cuts::default();
        let limits = plan.measures().iter().map(|measure| measure.rank().filter(|_| whole));
        let limits = limits.map(|limit| limit.unwrap_or(u32::MAX)).collect();
        let linear = ways.iter().enumerate().filter(|(_, way)| matches!(way, TieMethod::Columns));
        let read: Vec<usize> = linear.flat_map(|(at, _)| plan.columns_of(at)).collect();
        let reach = if view.judged_only { None } else { plan.max_rank() };
        let reach = reach.into_iter().chain(view.depth).min().unwrap_or(u32::MAX);
        // Expected and arranged values are never asked for together, so either the columns of the
        // file's order are needed or none are.
        let computes = cpu.is_some() && !keys.is_empty();
        let cpu = cpu.unwrap_or_default();
        let (program, inputs) = (plan.program(), prepared.inputs());
        let steps = cpu.steps(program, batch.deepest() as usize);
        let columns = (!read.is_empty()).then(|| ExpectedColumns::select(program, &read));
        let job = Job { batch: batch.clone(), view, program, inputs, watch: None };
        let (batch, measures) = (batch.clone(), plan.measures());
        Ok(Some(TieEvaluator {
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

    /// Returns whether all columns of a tile are computed here, so that no engine has to compute.
    pub fn computes(&self) -> bool {
        self.computes
    }

    /// Explains the ways in which measures are computed over tie orders, one line for each way.
    fn explain(&self) -> impl Iterator<Item = String> {
        let measures: Vec<String> = self.measures.iter().map(ToString::to_string).collect();
        let mut by_way: Vec<(&str, Vec<String>)> = Vec::new();
        for (way, measure) in self.ways.iter().zip(measures) {
            let how = way.describe();
            match by_way.iter_mut().find(|(other, _)| *other == how) {
                Some((_, measures)) => measures.push(measure),
                None => by_way.push((how, vec![measure])),
            }
        }
        by_way.into_iter().map(|(how, measures)| format!("  {how}: {}", measures.join(", ")))
    }

    /// Computes the values of a tile's rankings over all tie orders from an engine's columns, into
    /// the values of the scratch.
    pub fn rows(
        &self,
        at: usize,
        columns: &Columns,
        finishing: &RowFinisher<'_>,
        finish: &mut FinishScratch,
        scratch: &mut TiedScratch,
    ) {
        let (rows, tile) = (self.batch.rows(at), self.batch.tile(at));
        let lanes = rows.iter().enumerate().map(|(lane, &row)| (lane, self.ties.get(row)));
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
        if self.ways.iter().any(TieMethod::is_of_row) {
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
                if matches!(way, TieMethod::Reordered(order) if *order == number) {
                    tied.iter().for_each(|&(lane, _)| values[lane] = arranged[lane]);
                }
            }
            scratch.finish = finish;
        }
    }

    /// Computes the values of a tile's rankings with their tied documents in the order of a key
    /// (best or worst first).
    fn arranged(
        &self,
        at: usize,
        key: &CodeOrder,
        tied: &TiedLanes<'_>,
        finishing: &RowFinisher<'_>,
        finish: &mut FinishScratch,
        TiedScratch { arranged, labels, steps, .. }: &mut TiedScratch,
    ) {
        let tile = key.arranged(self.batch.tile(at), tied, self.reach, arranged, labels);
        let columns = self.cpu.columns_of(&self.job, at, tile, &self.steps, steps);
        finishing.rows(self.batch.rows(at), columns, Some(tile), finish);
    }

    /// Replaces an engine's columns of rankings with mixed ties by their expectations over all
    /// orders.
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
        for sum in &expected.precisions {
            let deepest = self.view.depth.unwrap_or(u32::MAX);
            let cuts: Vec<u32> = sum.cuts.iter().map(|&cut| cut.min(deepest)).collect();
            let mut lanes =
                TiedPrecisionLanes::new(tile, sum.hits, &cuts, (columns, sum.column), scratch);
            tied.iter().for_each(|&(lane, ties)| {
                lanes.push(tile, lane, ties, self.evaluated_depth(rows[lane]))
            });
            lanes.sum(self.cpu);
        }
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
                let row = rows[lane];
                let reach = expected.reach(
                    ties,
                    self.evaluated_depth(row),
                    |rank| tile.label(lane, rank as usize),
                    self.input(row),
                );
                if reach > 0 {
                    lanes |= 1 << (lane - first);
                    deepest = deepest.max(reach);
                }
            }
            let tile = tile.shallower((deepest as usize).next_multiple_of(QUAD));
            documents.each_lane(tile, first, lanes, expected.heeded, |lane, documents| {
                let row = rows[lane];
                let tied = self.tied_ranking(row, documents);
                expected.replace(&tied, self.view, self.input(row), columns, lane, scratch);
            });
        }
    }

    /// Computes the expected values of measures that are the reciprocal rank of a first hit, where
    /// a group of ties has it.
    fn first_hits(&self, at: usize, columns: &Columns, tied: &TiedLanes<'_>, values: &mut [f64]) {
        let (rows, tile) = (self.batch.rows(at), self.batch.tile(at));
        for (way, values) in self.ways.iter().zip(values.chunks_exact_mut(rows.len())) {
            let TieMethod::FirstHit(first) = way else { continue };
            for &(lane, ties) in tied {
                let (depth, found) =
                    (self.evaluated_depth(rows[lane]), columns.value(first.column, lane));
                let value = first.value(ties, depth, found, |rank| tile.label(lane, rank as usize));
                values[lane] = value.unwrap_or(values[lane]);
            }
        }
    }

    /// Computes the values over tie orders that follow from each ranking as a whole, not from
    /// columns.
    fn compute(
        &self,
        tile: Tile<'_>,
        rows: &[u32],
        tied: &TiedLanes<'_>,
        values: &mut [f64],
        TiedScratch { documents, pieces, ties: scratch, .. }: &mut TiedScratch,
    ) {
        // The list holds documents of the last tile, whose lanes have the same numbers.
        documents.forget();
        for &(lane, ties) in tied {
            let first = ties.groups[0].start;
            if self.row_methods().all(|(.., limit)| limit <= first) {
                continue;
            }
            let tied =
                self.tied_ranking(rows[lane], documents.lane(tile, lane, CodesAbove(NOT_IN_QRELS)));
            let mut row = TieSegments::new(&tied, self.view, std::mem::take(pieces));
            for (measure, way, _) in self.row_methods().filter(|&(.., limit)| limit > first) {
                let value = &mut values[measure * rows.len() + lane];
                match way {
                    TieMethod::Expected(expected) => *value = expected.value(&mut row, scratch),
                    TieMethod::Searched(searched) => *value = searched.value(&row, scratch),
                    TieMethod::Columns | TieMethod::FirstHit(_) | TieMethod::Reordered(_) => {}
                }
            }
            *pieces = row.buffers;
        }
    }

    /// Returns the measures whose values over tie orders follow from a ranking as a whole, each
    /// with its way and the ranks that matter.
    fn row_methods(&self) -> impl Iterator<Item = (usize, &TieMethod, u32)> {
        let methods = self.ways.iter().zip(&self.limits).enumerate();
        let methods = methods.filter(|(_, (way, _))| way.is_of_row());
        methods.map(|(measure, (way, &limit))| (measure, way, limit))
    }

    /// Returns the function from an input of the plan's program to its number for the query of a
    /// row.
    fn input(&self, row: u32) -> impl Fn(usize) -> u32 {
        let query = self.batch.judgments(row);
        move |input| self.job.inputs[input][query]
    }

    /// Makes the input of tie computations for a ranking: its documents in the qrels, its ties and
    /// the facts of its query.
    fn tied_ranking<'r>(&'r self, row: u32, documents: &'r [Document]) -> TiedRanking<'r> {
        let depth = self.batch.depths()[row as usize];
        // A damaged file may have documents behind the end of a ranking.
        let documents = &documents[..documents.partition_point(|document| document.rank < depth)];
        let (facts, book, ties) =
            (self.batch.facts_of(row), self.batch.codebook(), self.ties.get(row));
        TiedRanking { documents, depth, facts, book, ties }
    }

    /// Returns the number of results in the ranking of a row that measures look at.
    fn evaluated_depth(&self, row: u32) -> u32 {
        self.batch.depths()[row as usize].min(self.view.depth.unwrap_or(u32::MAX))
    }
}

/// Returns the extreme, best or worst, that an option for tied rankings asks for; `None` for the
/// expected value.
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
        let EvaluationSettings { view, tied, .. } = self.settings;
        if tied == TiedValue::Ranked {
            return Ok(());
        }
        if self.engine == EngineChoice::Reference {
            return Err(no_reference(tied));
        }
        let cuts = Cuts { depth: view.depth.is_some(), judged_only: view.judged_only };
        let measures = self.measures.iter();
        let refused: Vec<String> =
            measures.filter_map(|measure| unsupported_reason(measure, side(tied), cuts)).collect();
        if refused.is_empty() { Ok(()) } else { unanswerable(refused.join("\n")) }
    }

    /// Explains the values of a matrix's rankings with equal scores, one line for each way of
    /// computing.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    #[doc(hidden)]
    pub fn explain_tied(&self, matrix: &LabelMatrix) -> Result<Vec<String>> {
        let (plan, batch) = (self.plan(matrix.codebook())?, matrix.batch());
        let prepared = plan.prepare(&batch);
        let cuts = self.cuts(matrix);
        let EvaluationSettings { view, tied, .. } = self.settings;
        let Some(over_ties) = TieEvaluator::new(tied, &batch, view, cuts, &prepared, None)? else {
            return Ok(vec![format!("equal scores: in the order {}", matrix.rule().ties)]);
        };
        Ok([format!("equal scores: {tied} over all orders, on the CPU")]
            .into_iter()
            .chain(over_ties.explain())
            .collect())
    }

    /// Returns the cuts made in the rankings before measures see them: by depth, or to judged
    /// documents.
    pub(super) fn cuts(&self, matrix: &LabelMatrix) -> Cuts {
        let view = self.settings.view;
        let depth = view.depth.is_some() || matrix.rule().depth.is_some();
        Cuts { depth, judged_only: view.judged_only }
    }
}

/// Returns the error that the reference functions have no values over tie orders.
pub(super) fn no_reference(value: TiedValue) -> Error {
    Error::Unanswerable(format!(
        "the reference has no {value} values of tied rankings: take another engine"
    ))
}

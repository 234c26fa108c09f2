//! Folds: the closed set of states, such as counts and sums, that engines compute over the ranks of
//! a ranking. Data only.
//!
//! A fold walks down one ranking and keeps a small state; a measure is a choice of folds, tables
//! and cutoffs, and a last step of arithmetic on the host. Engines know folds and labels, never
//! measures.
//!
//! With the code `c` at rank `i` (from 1):
//!
//! | fold | state | step |
//! |---|---|---|
//! | [`Fold::Count`] | h | `h += 1` where `c` is in the set |
//! | [`Fold::FirstRank`] | r | the first `i` where `c` is in the set; 0 before |
//! | [`Fold::PrecisionSum`] | h, s | `h += 1; s += h / i` where `c` is in the set |
//! | [`Fold::WeightedSum`] | s | `s += gain[c] · discount(i)` |
//! | [`Fold::Cascade`] | p = 1, s | `s += p · stop[c] · discount(i); p *= 1 − stop[c]` |
//! | [`Fold::PeakPrecision`] | h, max | the largest `h / i` from the cap-th hit on |
//! | [`Fold::PreferenceSum`] | b, s | a hit: `s += 1 − min(b, cap) / bound`, or `s += 1` |
//! | | | while b = 0; another judged one: `b += 1` |
//! | [`Fold::InferredSum`] | a, b, u, s | a hit: `s +=` its expected precision, see there |
//! | [`Fold::PairSum`] | h, s | a hit: `h += 1; s += i − h` |
//! | [`Fold::Histogram`] | n\[code\] | `n[c] += 1` |
//!
//! Every lane adds in rank order, in f64, with the operations as written: the order is part of the
//! definition.

mod gain;
mod walk;

use std::ops::Range;
use std::sync::Arc;

use crate::matrix::{Codebook, CodesAbove};
pub use gain::{CodeTable, ExactGains, Gains, LARGEST_SCALE, for_ratio, stop_table};
pub use walk::{Continuation, Patience, Walk};

/// The discount of ranks: how much a gain at a rank counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Discount {
    /// No discount: all ranks count alike.
    None,
    /// Divide by lg(i + 1).
    Log2,
    /// Divide by log_b(i) from rank b on; earlier ranks are not discounted (Järvelin and Kekäläinen
    /// 2002).
    LogFrom(f64),
    /// Divide by i.
    Rank,
    /// Multiply by pⁱ⁻¹, the powers by running product.
    Power(f64),
    /// Multiply by the chance to reach i when going on from j with the chance ((j + 2T − 1) / (j +
    /// 2T))².
    InverseSquare(f64),
}

/// The numbers by which a [`Discount`] divides or multiplies gains at the ranks 1, 2, … in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Weights {
    /// A term is `gain / weights[i - 1]`.
    Divide(Arc<[f64]>),
    /// A term is `gain * weights[i - 1]`.
    Multiply(Arc<[f64]>),
}

impl Discount {
    /// Returns the discount's weights of the ranks 1 to `depth`.
    pub fn weights(self, depth: usize) -> Weights {
        self.weights_of(0..depth)
    }

    // Division and multiplication are not interchangeable in bits: g/lg(i + 1) is rounded once,
    // g·(1/lg(i + 1)) twice. Each discount has the operation that its formula writes, and the table
    // holds its operand.
    /// Returns the discount's weights of a range of ranks (from 0). Running products start at the
    /// first rank.
    pub fn weights_of(self, ranks: Range<usize>) -> Weights {
        let (above, depth) = (ranks.start, ranks.len());
        let ranks = (ranks.start + 1..=ranks.end).map(|rank| rank as f64);
        match self {
            Self::None => Weights::Multiply(ranks.map(|_| 1.0).collect()),
            Self::Log2 => Weights::Divide(ranks.map(|i| (i + 1.0).log2()).collect()),
            Self::LogFrom(b) => {
                let logs = ranks.map(|i| if i < b { 1.0 } else { i.log2() / b.log2() });
                Weights::Divide(logs.collect())
            }
            Self::Rank => Weights::Divide(ranks.collect()),
            Self::Power(p) => {
                let powers = std::iter::successors(Some(1.0), |&power| Some(power * p));
                Weights::Multiply(powers.skip(above).take(depth).collect())
            }
            Self::InverseSquare(t) => {
                let users = std::iter::successors(Some((1.0, 1.0)), |&(reaches, rank)| {
                    // The chance is squared first, as in the formula, then multiplied in.
                    let goes_on: f64 = (rank + 2.0 * t - 1.0) / (rank + 2.0 * t);
                    Some((reaches * (goes_on * goes_on), rank + 1.0))
                });
                let weights = users.map(|(reaches, _)| reaches);
                Weights::Multiply(weights.skip(above).take(depth).collect())
            }
        }
    }
}

impl Weights {
    // Kernels call this function for each hit, from functions compiled for other instructions,
    // where a call that is not inlined would cost more than the term.
    /// Returns the discounted gain at index `rank` (from 0).
    #[inline(always)]
    pub fn term(&self, gain: f64, rank: usize) -> f64 {
        match self {
            Self::Divide(by) => gain / by[rank],
            Self::Multiply(by) => gain * by[rank],
        }
    }
}

/// Returns the quotient a / b; 0 where b is 0.
pub fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// A state, such as a count of hits or a sum of gains, that an engine computes over the ranks of a
/// ranking.
#[derive(Debug, Clone, PartialEq)]
pub enum Fold {
    /// The number of labels in the set.
    Count(CodesAbove),
    /// The first rank with a label in the set, 0 if there is none.
    FirstRank(CodesAbove),
    /// The sum of the precisions at the ranks with a label in the set.
    PrecisionSum(CodesAbove),
    /// The discounted sum of gains.
    WeightedSum {
        /// The gain of each code.
        gain: CodeTable,
        /// The discount of the ranks.
        discount: Discount,
    },
    /// The discounted sum of the chances to stop at a rank, if the user goes on with the remaining
    /// chance.
    Cascade {
        /// The chance to stop at a document of each code, 0 to 1.
        stop: CodeTable,
        /// The discount of the ranks.
        discount: Discount,
    },
    /// The largest precision from the n-th hit on, for each of several n; 0 if there are fewer
    /// hits; over the whole ranking.
    PeakPrecision {
        /// The codes of the hits.
        hits: CodesAbove,
        /// Each n, as an index into the inputs of the program; ascending in every row.
        caps: Vec<usize>,
    },
    /// The sum over the hits of the share of known non-relevant documents that are not above them;
    /// over the whole ranking.
    PreferenceSum {
        /// The codes of the hits.
        hits: CodesAbove,
        /// The codes of the judged documents. Judged documents that are not hits are non-relevant.
        judged: CodesAbove,
        /// The most documents above a hit that count, as an index into the inputs of the program.
        cap: usize,
        /// The divisor of the number of documents above, as an index into the inputs.
        bound: usize,
    },
    /// The sum over the hits of the precision expected there from a sampled pool; over the whole
    /// ranking.
    ///
    /// At rank i, below a hits, b other judged documents and u pooled ones without a judgment, with
    /// f = i − 1 and ε = 0.00001: 1 where f is 0, else
    /// `1/(f+1) + f/(f+1) · (a+b+u)/f · (a+ε)/(a+b+2ε)`.
    InferredSum(CodesAbove),
    /// The number of pairs of a hit and a document above it that is no hit.
    PairSum(CodesAbove),
    /// The number of labels of each code, over the whole ranking.
    Histogram,
}

impl Fold {
    /// Returns the name of the fold's variant, such as `Count`.
    pub fn name(&self) -> &'static str {
        match self {
            Fold::Count(_) => "Count",
            Fold::FirstRank(_) => "FirstRank",
            Fold::PrecisionSum(_) => "PrecisionSum",
            Fold::WeightedSum { .. } => "WeightedSum",
            Fold::Cascade { .. } => "Cascade",
            Fold::PeakPrecision { .. } => "PeakPrecision",
            Fold::PreferenceSum { .. } => "PreferenceSum",
            Fold::InferredSum(_) => "InferredSum",
            Fold::PairSum(_) => "PairSum",
            Fold::Histogram => "Histogram",
        }
    }
}

/// The cutoff of a ranking at which a fold's state is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cut {
    /// After this rank, or at the end of a shorter ranking.
    At(u32),
    /// At the end of the ranking.
    End,
    /// After a rank of each query's own, as an index into the inputs of the program.
    PerQuery(usize),
}

impl Cut {
    /// Returns the rank of a cutoff that all queries share; the end of the ranking is the largest
    /// rank.
    pub fn fixed_rank(&self) -> Option<u32> {
        match self {
            Self::At(rank) => Some(*rank),
            Self::End => Some(u32::MAX),
            Self::PerQuery(_) => None,
        }
    }
}

/// A fold and the cutoffs at which its state is read, in order and distinct: one column of values
/// for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The fold to compute.
    pub fold: Fold,
    /// The cutoffs of the fold. [`Fold::FirstRank`] has one cut, at the deepest rank over all
    /// measures; [`Fold::PeakPrecision`] and [`Fold::Histogram`] have `End`. Only [`Fold::Count`]
    /// has per-query cuts.
    pub cuts: Vec<Cut>,
}

impl Task {
    /// Returns the number of columns of values of the task: one for each cutoff, or for each cap of
    /// a peak. A histogram is stored apart and has no column.
    pub fn columns(&self) -> usize {
        match &self.fold {
            Fold::PeakPrecision { caps, .. } => caps.len(),
            Fold::Histogram => 0,
            _ => self.cuts.len(),
        }
    }
}

/// The work of an engine: distinct folds, each with the cutoffs of all measures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// The folds.
    pub tasks: Vec<Task>,
    /// The number of codes of a histogram.
    pub codes: usize,
    /// The least grade of each class, if the codes of the folds are classes of exact grades: before
    /// folds run, labels get the codes of these classes.
    pub classes: Option<Codebook>,
}

/// Numbers of each query, such as R, that the cutoffs and caps of a program refer to,
/// `[input][query]`.
pub type QueryInputs = Vec<Vec<u32>>;

impl Program {
    /// Returns the number of columns of values of all folds of the program.
    pub fn columns(&self) -> usize {
        self.tasks.iter().map(Task::columns).sum()
    }

    /// Returns the deepest rank that any fold of the program reads; `None` if it may be the last of
    /// each ranking.
    pub fn max_rank(&self) -> Option<u32> {
        let mut cuts = self.tasks.iter().flat_map(|task| &task.cuts);
        // If one fold is read at the end, the whole program goes to the end.
        cuts.try_fold(0, |deepest, cut| match cut {
            Cut::At(rank) => Some(deepest.max(*rank)),
            Cut::End | Cut::PerQuery(_) => None,
        })
    }

    /// Returns whether a fold of the program is a histogram of label codes.
    pub fn histogram(&self) -> bool {
        self.tasks.iter().any(|task| task.fold == Fold::Histogram)
    }
}

/// A measure as a single column of fold values times a factor of the query, so that an engine can
/// sum the measure by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// The column of the program.
    pub column: usize,
    /// The factor of the column.
    pub by: Factor,
}

/// The factor, 0 or more, that turns a fold's value into the value of a measure.
#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    /// A single factor for all queries.
    Same(f64),
    /// A factor for each query.
    PerQuery(Vec<f64>),
    /// No factor: the column is a rank, and the value is its reciprocal if the rank is between 1
    /// and this limit, else 0.
    Reciprocal(u32),
}

/// The values of a program's folds that an engine computed for one tile of rankings. Counts and
/// ranks are exact in f64, so all columns have type f64.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Columns {
    /// The values, `[column][lane]`, columns in the order of the tasks and their cuts.
    pub values: Vec<f64>,
    /// The histograms, `[lane][code]`; empty unless a histogram was asked for.
    pub histogram: Vec<u32>,
    /// The number of lanes of the tile.
    pub lanes: usize,
}

impl Columns {
    /// Makes columns of zeros for a program, as for rankings without any document.
    pub fn zeros(program: &Program, lanes: usize) -> Self {
        let histogram = if program.histogram() { lanes * program.codes } else { 0 };
        Self { values: vec![0.0; program.columns() * lanes], histogram: vec![0; histogram], lanes }
    }

    /// Returns the value of a column for one lane (ranking) of the tile.
    #[inline]
    pub fn value(&self, column: usize, lane: usize) -> f64 {
        self.values[column * self.lanes + lane]
    }
}

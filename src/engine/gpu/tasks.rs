//! The folds of a program in integers for the GPU: the words of each task, and the numbers behind
//! the words.
//!
//! A task of the program becomes one of three things:
//!
//! * an integer fold, read at the ranks shared by all queries: a state takes 1 to 3 words (of a
//!   peak one word for each cap, of a histogram one for each code), and each word takes a column at
//!   each cutoff;
//! * for a count, one more task for each cutoff by query: the task compares ranks with an input of
//!   the row, and has one reading at the end;
//! * nothing here, if its terms do not fit into integers: the task is *left* to the CPU, which runs
//!   the task over the same tiles in the same call.
//!
//! ```text
//! program   PrecisionSum at 10, end    Count at 5, R              Cascade of chances above 1
//! columns   c0  c1                     c2 c3                      c4
//! tasks     sum at [10, end]           count at [5]  within [R]   left
//! words     w0 w1  w2 w3               w4            w5
//! ```
//!
//! `decode` is the way back: it turns a word or two into an f64. `decode` rounds a u64 above 2⁵³
//! once, and the following power of two is exact; hence the error of a column is at most the bound
//! of `fixed` and one rounding.

use super::fixed::{self, IntegerTerms, StopProbabilities, power_of_two};
use crate::fold::{Columns, Cut, Fold, Program, QueryInputs};
use crate::matrix::LANES;
use crate::matrix::code::NOT_IN_QRELS;

/// A program of folds in integers, as the GPU shaders run it.
#[derive(Debug, Default)]
pub struct IntegerProgram {
    /// The tasks for the device, without tasks that stay on the CPU.
    pub tasks: Vec<IntegerTask>,
    /// The inputs of the program that the device gets, in the order of the indices in tasks.
    pub inputs: Vec<usize>,
    /// The number of columns of words.
    pub words: u32,
    /// The deepest rank of any table.
    pub depth: u32,
    /// The indices of the program's tasks that do not fit into 96 bits.
    pub left: Vec<usize>,
}

/// A fold in integers on the GPU, with its cutoffs and its columns of result words.
#[derive(Debug)]
pub struct IntegerTask {
    /// The fold.
    pub kind: IntegerFold,
    /// The cutoffs of the fold, ascending; the end is the largest.
    pub cuts: Vec<u32>,
    /// The first column of the program for this task.
    pub column: usize,
    /// The first column of words of the task.
    pub word: u32,
    /// The index of the task in the program.
    pub index: usize,
}

/// A fold in integers, as the GPU shaders compute it, with its parameters.
#[derive(Debug)]
pub enum IntegerFold {
    /// A count of hits.
    Count(u8),
    /// A count of hits down to an input.
    CountWithin(u8, u32),
    /// The rank of the first hit.
    FirstRank(u8),
    /// A sum of precisions in units of 2^-63, each shortened by this number of bits.
    PrecisionSum(u8, u32),
    /// A weighted sum, with terms by rank and code.
    WeightedSum(IntegerTerms),
    /// A cascade, with chances by rank and code.
    Cascade(StopProbabilities),
    /// Peaks of precision, with the first input of their caps and the number of caps.
    PeakPrecision(u8, u32, u32),
    /// A preference sum, with the input that caps and the program's input that divides.
    PreferenceSum {
        /// The codes of the hits, as a threshold.
        hits: u8,
        /// The codes of the judged documents, as a threshold.
        judged: u8,
        /// The cap, as the index of an input on the device.
        cap: u32,
        /// The divisor, as the index of an input of the program.
        bound: usize,
    },
    /// A sum of inferred precisions in units of 2^-63, each shortened by this number of bits.
    InferredSum(u8, u32),
    /// A count of pairs.
    PairSum(u8),
    /// A histogram of labels, with the number of codes.
    Histogram(u32),
}

impl IntegerFold {
    /// Returns the number of 32-bit words of one stored state of the fold.
    pub fn words(&self) -> u32 {
        match self {
            Self::Count(_) | Self::CountWithin(..) | Self::FirstRank(_) | Self::PairSum(_) => 1,
            Self::PrecisionSum(..)
            | Self::Cascade(_)
            | Self::InferredSum(..)
            | Self::PreferenceSum { .. } => 2,
            Self::WeightedSum(terms) => terms.words(),
            &Self::PeakPrecision(_, _, words) | &Self::Histogram(words) => words,
        }
    }

    /// Returns the largest label code up to which no code changes the fold's state.
    pub fn threshold(&self) -> u8 {
        match self {
            &Self::Count(above)
            | &Self::CountWithin(above, _)
            | &Self::FirstRank(above)
            | &Self::PrecisionSum(above, _)
            | &Self::PeakPrecision(above, ..)
            | &Self::PairSum(above) => above,
            Self::WeightedSum(terms) => terms.gains.first - 1,
            Self::Cascade(chances) => chances.stops.first - 1,
            Self::PreferenceSum { hits, judged, .. } => *hits.min(judged),
            Self::InferredSum(..) => NOT_IN_QRELS,
            Self::Histogram(_) => 0,
        }
    }

    /// Returns whether the fold is a count. Counts take words whole, and do not make a kernel look
    /// at single labels.
    pub fn is_count(&self) -> bool {
        matches!(self, Self::Count(_) | Self::CountWithin(..))
    }

    /// Returns the stem of the fold's shader file, such as `precision_sum`.
    pub fn stem(&self) -> &'static str {
        match self {
            Self::Count(_) | Self::CountWithin(..) => "count",
            Self::FirstRank(_) => "first_rank",
            Self::PrecisionSum(..) => "precision_sum",
            Self::WeightedSum(_) => "weighted_sum",
            Self::Cascade(_) => "cascade",
            Self::PeakPrecision(..) => "peak_precision",
            Self::PreferenceSum { .. } => "preference_sum",
            Self::InferredSum(..) => "inferred_sum",
            Self::PairSum(_) => "pair_sum",
            Self::Histogram(_) => "histogram",
        }
    }

    /// Returns whether the fold's state is a count or a rank, which f64 holds exactly too.
    #[cfg(feature = "parts")]
    pub fn is_exact(&self) -> bool {
        matches!(
            self,
            IntegerFold::Count(_)
                | IntegerFold::CountWithin(..)
                | IntegerFold::FirstRank(_)
                | IntegerFold::PeakPrecision(..)
                | IntegerFold::PairSum(_)
                | IntegerFold::Histogram(_)
        )
    }

    /// Returns s for the unit 2^-s of the fold's sum over `depth` ranks, and the bound on the sum's
    /// error; `None` for states that are not rounded.
    fn unit(&self, depth: u32) -> Option<(i32, f64)> {
        match self {
            Self::PrecisionSum(_, bits) => Some((63 - *bits as i32, fixed::precision_error(depth))),
            Self::InferredSum(_, bits) => Some((63 - *bits as i32, fixed::inferred_error(depth))),
            Self::WeightedSum(terms) => Some((terms.scale, terms.error)),
            Self::Cascade(chances) => Some((63, chances.error)),
            _ => None,
        }
    }
}

impl IntegerTask {
    /// Returns s for the unit 2^-s of the task's sum, and the bound on the sum's error, in rankings
    /// of at most `deepest` ranks; `None` for states that are not rounded.
    pub fn unit(&self, deepest: u32) -> Option<(i32, f64)> {
        self.kind.unit(self.cuts.last().map_or(0, |&last| last.min(deepest)))
    }
}

impl IntegerProgram {
    /// Translates a program of folds to integer tasks for the GPU, over rankings of at most
    /// `deepest` ranks.
    pub fn new(program: &Program, deepest: u32) -> Self {
        let mut integers = Self { depth: deepest, ..Self::default() };
        let mut column = 0;
        for (index, task) in program.tasks.iter().enumerate() {
            let cuts: Vec<u32> = task.cuts.iter().filter_map(Cut::fixed_rank).collect();
            let depth = cuts.last().map_or(0, |&last| last.min(deepest));
            match integers.kind(&task.fold, depth, program.codes) {
                Some(kind) if !cuts.is_empty() => integers.push(kind, cuts.clone(), column, index),
                // A count at ranks of the queries alone is never read at a fixed rank.
                Some(_) => {}
                None => integers.left.push(index),
            }
            for (at, cut) in task.cuts.iter().enumerate() {
                if let (Fold::Count(set), &Cut::PerQuery(input)) = (&task.fold, cut) {
                    let input = integers.input(input);
                    integers.push(
                        IntegerFold::CountWithin(set.0, input),
                        vec![u32::MAX],
                        column + at,
                        index,
                    );
                }
            }
            column += task.columns();
        }
        integers
    }

    /// Returns the fold of the task with this first column of result words.
    pub fn kind_at(&self, word: u32) -> &IntegerFold {
        let at = self.tasks.partition_point(|task| task.word < word);
        &self.tasks[at].kind
    }

    fn push(&mut self, kind: IntegerFold, cuts: Vec<u32>, column: usize, index: usize) {
        let word = self.words;
        // Invariant: tasks ascend by their first word, which `kind_at` searches by.
        self.words += kind.words() * cuts.len() as u32;
        self.tasks.push(IntegerTask { kind, cuts, column, word, index });
    }

    fn input(&mut self, input: usize) -> u32 {
        self.inputs.push(input);
        self.inputs.len() as u32 - 1
    }

    /// Returns the integer form of a fold for the GPU; `None` for a fold without an integer form.
    fn kind(&mut self, fold: &Fold, depth: u32, codes: usize) -> Option<IntegerFold> {
        let ranks = depth as usize;
        Some(match fold {
            Fold::Count(set) => IntegerFold::Count(set.0),
            Fold::FirstRank(set) => IntegerFold::FirstRank(set.0),
            Fold::PrecisionSum(set) => {
                IntegerFold::PrecisionSum(set.0, fixed::precision_bits(depth))
            }
            Fold::WeightedSum { gain, discount } => {
                IntegerFold::WeightedSum(IntegerTerms::new(gain, discount.weights(ranks), depth)?)
            }
            Fold::Cascade { stop, discount } => {
                IntegerFold::Cascade(StopProbabilities::new(stop, discount.weights(ranks), depth)?)
            }
            Fold::PeakPrecision { hits, caps } => {
                let first = self.inputs.len() as u32;
                self.inputs.extend(caps);
                IntegerFold::PeakPrecision(hits.0, first, caps.len() as u32)
            }
            &Fold::PreferenceSum { hits, judged, cap, bound } => IntegerFold::PreferenceSum {
                hits: hits.0,
                judged: judged.0,
                cap: self.input(cap),
                bound,
            },
            Fold::InferredSum(set) => IntegerFold::InferredSum(set.0, fixed::precision_bits(depth)),
            Fold::PairSum(set) => IntegerFold::PairSum(set.0),
            Fold::Histogram => IntegerFold::Histogram(codes as u32),
        })
    }

    /// Converts the GPU's result words of one tile to numbers, and writes the numbers into the
    /// tile's columns. `word` gives a word by column and lane; `queries` are the queries of the
    /// rows.
    pub fn decode(
        &self,
        inputs: &QueryInputs,
        queries: &[usize],
        word: impl Fn(u32, usize) -> u32,
        columns: &mut Columns,
    ) {
        debug_assert!(queries.len() <= LANES);
        for task in &self.tasks {
            for at in 0..task.cuts.len() {
                let first = task.word + at as u32 * task.kind.words();
                for (lane, &query) in queries.iter().enumerate() {
                    task.kind.decode(
                        inputs,
                        query,
                        |at| word(first + at, lane),
                        task.column + at,
                        lane,
                        columns,
                    );
                }
            }
        }
    }
}

impl IntegerFold {
    /// Converts the GPU's words of one state to a number, and writes the number into its column.
    fn decode(
        &self,
        inputs: &QueryInputs,
        query: usize,
        word: impl Fn(u32) -> u32,
        column: usize,
        lane: usize,
        columns: &mut Columns,
    ) {
        let lanes = columns.lanes;
        let value = match self {
            Self::Count(_) | Self::CountWithin(..) | Self::FirstRank(_) | Self::PairSum(_) => {
                f64::from(word(0))
            }
            Self::PrecisionSum(_, bits) | Self::InferredSum(_, bits) => {
                joined(&word) as f64 * power_of_two(*bits as i32 - 63)
            }
            Self::Cascade(_) => joined(&word) as f64 * power_of_two(-63),
            Self::WeightedSum(terms) => {
                let number = if terms.wide {
                    i128::from(word(2) as i32) << 64 | i128::from(joined(&word))
                } else {
                    i128::from(joined(&word) as i64)
                };
                number as f64 * power_of_two(-terms.scale)
            }
            // All terms share the divisor of the query, so the shader counts hits and capped other
            // documents exactly, and this division is the only one. If no other document is above a
            // hit, the divisor may be 0, so there is no division.
            Self::PreferenceSum { bound, .. } => match word(1) {
                0 => f64::from(word(0)),
                preferred => {
                    f64::from(word(0)) - f64::from(preferred) / f64::from(inputs[*bound][query])
                }
            },
            &Self::PeakPrecision(_, _, caps) => {
                for cap in 0..caps {
                    // Peaks are compared as fractions, but the CPU divides the same two whole
                    // numbers, so the quotient has the bits of the CPU.
                    let fraction = word(cap);
                    columns.values[(column + cap as usize) * lanes + lane] =
                        f64::from(fraction & 0xffff) / f64::from(fraction >> 16);
                }
                return;
            }
            &Self::Histogram(codes) => {
                let counts = &mut columns.histogram[lane * codes as usize..][..codes as usize];
                counts.iter_mut().zip(0..).for_each(|(count, code)| *count = word(code));
                return;
            }
        };
        columns.values[column * lanes + lane] = value;
    }
}

/// Returns the 64-bit number in the first two words of a state.
fn joined(word: &impl Fn(u32) -> u32) -> u64 {
    u64::from(word(1)) << 32 | u64::from(word(0))
}

//! GPU kernels: groups of folds that share one walk down the ranks, and the blocks of ranks for
//! each walk.
//!
//! A kernel reads every label once, however many folds and cutoffs it computes. Four words, sixteen
//! ranks of a row, are under way at a time; one test skips a word without a label that counts for a
//! fold of the kernel.
//!
//! Tables are read by rank and code. Tables of weights by many codes and ranks may be large. A task
//! with a large table has a kernel of its own. The kernel runs once for each block of ranks with
//! the table of the block, and carries its state in columns behind the columns of the answers.

use std::ops::Range;

use super::shader::shader;
use super::tables::{TablePart, rank_words};
use super::tasks::{IntegerFold as Fold, IntegerProgram, IntegerTask};
use crate::matrix::code::NOT_IN_QRELS;

/// The most tasks that share a kernel: their states must fit into registers.
const TOGETHER: usize = 8;
/// The bytes above which a table by rank is cut into blocks of ranks, each run on its own.
const BLOCK_BYTES: u32 = 8 << 20;
/// The mark of no column.
const NONE: u32 = u32::MAX;

/// A GPU kernel that computes several folds together: its shader, cutoffs, result columns and
/// tables.
#[derive(Debug)]
pub struct Kernel {
    /// The whole shader.
    pub source: String,
    /// The cutoffs, and for each cutoff and task the column of words, `[cutoff][task]` after the
    /// cutoffs.
    pub cutoffs: Vec<u32>,
    /// The number of cutoffs.
    pub cuts: u32,
    /// The ranks of each block of tables; one block of all ranks in nearly all kernels.
    pub blocks: Vec<Range<u32>>,
    /// The columns that keep the state from block to block, after those of the tasks.
    pub carried: u32,
    tables: Vec<TablePart>,
}

/// Makes the GPU kernels of all tasks of a program in integers. Tasks over more than judged
/// documents get separate kernels, or every task of a kernel would have to look at unjudged
/// documents too.
pub fn kernels(integers: &IntegerProgram) -> Vec<Kernel> {
    // Invariant: a kernel with several blocks has one task, because `carried(&tasks[0].kind)`
    // carries only the state of the first task.
    let (alone, shared): (Vec<_>, Vec<_>) = integers
        .tasks
        .iter()
        .partition(|task| rank_words(&task.kind) * integers.depth > BLOCK_BYTES / 4);
    let (all, judged): (Vec<_>, Vec<_>) =
        shared.into_iter().partition(|task| task.kind.threshold() <= NOT_IN_QRELS);
    let groups = judged.chunks(TOGETHER).chain(all.chunks(TOGETHER)).chain(alone.chunks(1));
    groups.map(|tasks| Kernel::new(integers, tasks)).collect()
}

impl Kernel {
    fn new(integers: &IntegerProgram, tasks: &[&IntegerTask]) -> Self {
        let mut cutoffs: Vec<u32> = tasks.iter().flat_map(|task| &task.cuts).copied().collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        let mut columns = Vec::new();
        for cut in &cutoffs {
            for task in tasks {
                let at = task.cuts.iter().position(|candidate| candidate == cut);
                columns.push(at.map_or(NONE, |at| task.word + at as u32 * task.kind.words()));
            }
        }
        let by_rank: u32 = tasks.iter().map(|task| rank_words(&task.kind)).max().unwrap_or(0);
        // Without a table by rank the division gives `None`, and one block takes all ranks.
        let ranks =
            (BLOCK_BYTES / 4).checked_div(by_rank).map_or(integers.depth, |ranks| ranks.max(1));
        let blocks = (0..integers.depth.max(1)).step_by(ranks.max(1) as usize);
        let blocks: Vec<_> =
            blocks.map(|above| above..(above + ranks).min(integers.depth)).collect();
        let (source, tables) = shader(integers, tasks, &blocks);
        let carried = if blocks.len() > 1 { carried(&tasks[0].kind) } else { 0 };
        Self {
            source,
            cuts: cutoffs.len() as u32,
            cutoffs: [cutoffs, columns].concat(),
            carried,
            tables,
            blocks,
        }
    }

    /// Returns all lookup tables of the kernel, as words; tables by rank have one block of ranks.
    pub fn tables(&self, integers: &IntegerProgram, ranks: Range<u32>) -> Vec<u32> {
        let mut words = Vec::new();
        for table in &self.tables {
            table.write(integers, ranks.clone(), &mut words);
        }
        words
    }
}

/// Returns the number of words of a fold's state that is carried from one block of ranks to the
/// next.
fn carried(kind: &Fold) -> u32 {
    match kind {
        Fold::Cascade(_) => 4,
        kind => kind.words(),
    }
}

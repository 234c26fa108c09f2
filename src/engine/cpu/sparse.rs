//! CPU folds over the sparse list of a tile's documents that matter, in place of all labels of the
//! tile (`crates/join/src/matrix/sparse.rs` says when there are lists).
//!
//! A list is in the order of lines of 64 ranks. So the documents above a cutoff are the beginning
//! of the list, up to the line that the cutoff divides. A fold needs neither blocks nor masks: the
//! fold steps through the documents of the list. Each lane adds in rank order with the operations
//! of the formula, as in `folds.rs`, so the bits are the same.
//!
//! Most named documents may be no hits (judgments are most often of documents that are not
//! relevant), and no processor predicts the hits. So hits are picked first, some documents at a
//! time, without a branch, and then visited.

use std::hint::black_box;

use super::folds::above_zero;
use crate::fold::{Fold, Program, Weights};
use crate::matrix::{CodesAbove, LANES, SparseDocument};

/// The number of documents of which hits are picked at once.
const TOGETHER: usize = 256;
/// The number of documents in a line of the cache.
const CACHED: usize = 64 / size_of::<SparseDocument>();

/// The cutoffs and the output columns of the counts, precision sums and first ranks that [`hits`]
/// computes.
#[derive(Debug, Clone, Copy)]
pub struct HitColumns<'a> {
    /// The numbers of hits.
    pub counts: (&'a [u32], usize),
    /// The sums of precisions.
    pub precision: (&'a [u32], usize),
    /// The first hits, with the deepest rank of the search.
    pub first: Option<(u32, usize)>,
}

/// Returns the smallest set of codes of all documents that matter to a program, if sparse lists of
/// these documents suffice for all its folds.
pub(crate) fn selected_codes(program: &Program) -> Option<CodesAbove> {
    let all: Option<Vec<_>> = program.tasks.iter().map(|task| codes_of(&task.fold)).collect();
    all?.into_iter().min().filter(|&set| set >= CodesAbove::IN_QRELS && program.classes.is_none())
}

/// Returns the codes of the documents that matter to a fold, if a sparse list of these documents
/// suffices.
fn codes_of(fold: &Fold) -> Option<CodesAbove> {
    match fold {
        Fold::Count(set) | Fold::FirstRank(set) | Fold::PrecisionSum(set) => Some(*set),
        Fold::WeightedSum { gain: table, .. } | Fold::Cascade { stop: table, .. } => {
            match table.exact() {
                Some(_) => None,
                // Without any gain no document matters.
                None => Some(CodesAbove(above_zero(table).unwrap_or(u8::MAX))),
            }
        }
        _ => None,
    }
}

/// Loads a sparse list of documents, or its beginning, into the cache before the list is read.
pub fn prefetch(list: &[SparseDocument]) {
    let lines = list.iter().step_by(CACHED).take(64);
    black_box(lines.fold(0, |checksum, document| checksum ^ document.code()));
}

/// Computes the `wanted` counts, precision sums and first ranks of one hit threshold from a sparse
/// list into `values`, `[column][lane]`.
pub fn hits(
    list: &[SparseDocument],
    above: u8,
    wanted: HitColumns<'_>,
    lanes: usize,
    values: &mut [f64],
) {
    let HitColumns { counts: (counts, counted), precision: (precision, summed), first } = wanted;
    let upto = first.map_or(0, |(upto, _)| upto);
    let (mut hits, mut sums, mut firsts) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (mut left, mut at) = (SparseCursor::new(list), [0, 0]);
    let mut store = store(lanes, values);
    loop {
        let cuts = [counts.get(at[0]), precision.get(at[1])];
        let Some(&cut) = cuts.into_iter().flatten().min() else { break };
        visit(left.upto(cut), above, |lane, rank, _| {
            let (h, rank_is) = (hits[lane] + 1.0, f64::from(rank));
            hits[lane] = h;
            sums[lane] += h / rank_is;
            firsts[lane] = if h == 1.0 && rank <= upto { rank_is } else { firsts[lane] };
        });
        if counts.get(at[0]) == Some(&cut) {
            store(&hits, counted + at[0]);
            at[0] += 1;
        }
        if precision.get(at[1]) == Some(&cut) {
            store(&sums, summed + at[1]);
            at[1] += 1;
        }
    }
    // The sum goes at least as deep as a first hit is looked for.
    first.iter().for_each(|&(_, column)| store(&firsts, column));
}

/// Counts the hits in a sparse list of a tile's documents down to each cutoff, as `[cut][lane]`.
pub fn count(list: &[SparseDocument], above: u8, cuts: &[u32], lanes: usize, out: &mut [f64]) {
    let hits = [0.0; LANES];
    sweep(list, above, cuts, hits, |hits, lane, _, _| hits[lane] += 1.0, store(lanes, out));
}

/// Counts the hits in a sparse list of a tile's documents down to a limit of each lane's own.
pub fn count_within(list: &[SparseDocument], above: u8, limits: &[u32], out: &mut [f64]) {
    let mut hits = [0.0; LANES];
    let deepest = limits.iter().copied().max().unwrap_or(0);
    visit(SparseCursor::new(list).upto(deepest), above, |lane, rank, _| {
        hits[lane] += f64::from(u8::from(limits.get(lane).is_some_and(|&limit| rank <= limit)));
    });
    out.copy_from_slice(&hits[..limits.len()]);
}

/// Finds the rank of each lane's first hit, down to rank `upto`, in a sparse list of a tile's
/// documents; 0 if there is none.
pub fn first_rank(list: &[SparseDocument], above: u8, upto: u32, out: &mut [f64]) {
    let mut firsts = [0.0; LANES];
    visit(SparseCursor::new(list).upto(upto), above, |lane, rank, _| {
        firsts[lane] = if firsts[lane] == 0.0 { f64::from(rank) } else { firsts[lane] };
    });
    out.copy_from_slice(&firsts[..out.len()]);
}

/// Sums the gains of the documents in a sparse list with weights of their ranks, as `[cut][lane]`.
/// The set `above` has all codes with a gain.
pub fn weighted_sum(
    list: &[SparseDocument],
    above: u8,
    gain: &[f64; 256],
    weights: &Weights,
    cuts: &[u32],
    lanes: usize,
    out: &mut [f64],
) {
    sweep(
        list,
        above,
        cuts,
        [0.0; LANES],
        |sums, lane, rank, code| {
            sums[lane] += weights.term(gain[usize::from(code)], rank as usize - 1);
        },
        store(lanes, out),
    );
}

/// Sums the weighted chances to stop at the documents in a sparse list, as `[cut][lane]`. The set
/// `above` has all codes with a chance.
pub fn cascade(
    list: &[SparseDocument],
    above: u8,
    stop: &[f64; 256],
    weights: &Weights,
    cuts: &[u32],
    lanes: usize,
    out: &mut [f64],
) {
    let mut store = store(lanes, out);
    sweep(
        list,
        above,
        cuts,
        ([1.0; LANES], [0.0; LANES]),
        |(reading, sums), lane, rank, code| {
            let stop = stop[usize::from(code)];
            sums[lane] += weights.term(reading[lane] * stop, rank as usize - 1);
            reading[lane] *= 1.0 - stop;
        },
        |(_, sums), cut| store(sums, cut),
    );
}

/// Returns a function that copies the values of all lanes of a tile into the output row of a
/// cutoff.
fn store(lanes: usize, out: &mut [f64]) -> impl FnMut(&[f64; LANES], usize) {
    move |lane_values, cut| {
        out[cut * lanes..(cut + 1) * lanes].copy_from_slice(&lane_values[..lanes])
    }
}

/// Calls `hit(state, lane, rank, code)` for every hit in a sparse list down to each cutoff, and
/// `cut(state, index)` after each cutoff.
#[inline(always)]
fn sweep<T>(
    list: &[SparseDocument],
    above: u8,
    cuts: &[u32],
    mut state: T,
    mut hit: impl FnMut(&mut T, usize, u32, u8),
    mut cut: impl FnMut(&T, usize),
) {
    let mut left = SparseCursor::new(list);
    for (index, &at) in cuts.iter().enumerate() {
        visit(left.upto(at), above, |lane, rank, code| hit(&mut state, lane, rank, code));
        cut(&state, index);
    }
}

/// The documents of a sparse list that no cutoff has passed yet.
struct SparseCursor<'l> {
    list: &'l [SparseDocument],
    /// The last cutoff.
    after: u32,
}

/// The documents of a sparse list between two cutoffs, with ranks beyond `after` and at most
/// `upto`.
struct SparseSlice<'l> {
    list: &'l [SparseDocument],
    after: u32,
    upto: u32,
}

impl<'l> SparseCursor<'l> {
    fn new(list: &'l [SparseDocument]) -> Self {
        Self { list, after: 0 }
    }

    /// Takes the documents of the sparse list from the last cutoff down to the next cutoff, `upto`.
    #[inline]
    fn upto(&mut self, upto: u32) -> SparseSlice<'l> {
        const LINE: u32 = SparseDocument::LINE;
        let Self { list, after } = *self;
        // The end of the ranking is what most folds are read at, and needs no search.
        let all = list.last().is_none_or(|last| last.line() < upto / LINE);
        let (end, whole) = if all {
            (list.len(), list.len())
        } else {
            let end = list.partition_point(|document| document.line() < upto.div_ceil(LINE));
            // Documents of a line that the cutoff divides are looked at twice.
            (end, list[..end].partition_point(|document| document.line() < upto / LINE))
        };
        *self = Self { list: &list[whole..], after: upto };
        SparseSlice { list: &list[..end], after, upto }
    }
}

/// Calls `hit(lane, rank, code)` for every document, between two cutoffs of a sparse list, with a
/// code above `above`.
#[inline(always)]
fn visit(
    SparseSlice { list, after, upto }: SparseSlice<'_>,
    above: u8,
    mut hit: impl FnMut(usize, u32, u8),
) {
    let mut hits = [SparseDocument::default(); TOGETHER];
    for together in list.chunks(TOGETHER) {
        let mut found = 0;
        for &document in together {
            // Each is written, and only hits are kept. The remainder changes nothing, and spares
            // the check of the bound.
            hits[found % TOGETHER] = document;
            let inside = (document.rank() > after) & (document.rank() <= upto);
            found += usize::from(inside & (document.code() > above));
        }
        hits[..found]
            .iter()
            .for_each(|document| hit(document.lane(), document.rank(), document.code()));
    }
}

//! The folds over the list of a tile's documents that matter, in place of its labels
//! (`crates/join/src/matrix/listed.rs` says when there are lists).
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
use crate::matrix::{Above, LANES, ListedDocument};

/// The number of documents of which hits are picked at once.
const TOGETHER: usize = 256;
/// The number of documents in a line of the cache.
const CACHED: usize = 64 / size_of::<ListedDocument>();

/// The results that [`hits`] computes, each kind with its cutoffs and its first column.
#[derive(Debug, Clone, Copy)]
pub struct HitColumns<'a> {
    /// The numbers of hits.
    pub counts: (&'a [u32], usize),
    /// The sums of precisions.
    pub precision: (&'a [u32], usize),
    /// The first hits, with the deepest rank of the search.
    pub first: Option<(u32, usize)>,
}

/// Returns the smallest set with all documents that matter to a program, if lists of these
/// documents suffice for all folds of the program.
pub(crate) fn heeded(program: &Program) -> Option<Above> {
    let heeded = |fold: &Fold| match fold {
        Fold::Count(set) | Fold::FirstRank(set) | Fold::PrecisionSum(set) => Some(*set),
        Fold::WeightedSum { gain: table, .. } | Fold::Cascade { stop: table, .. } => {
            match table.exact() {
                Some(_) => None,
                // Without any gain no document matters.
                None => Some(Above(above_zero(table).unwrap_or(u8::MAX))),
            }
        }
        _ => None,
    };
    let all: Option<Vec<Above>> = program.tasks.iter().map(|task| heeded(&task.fold)).collect();
    all?.into_iter().min().filter(|&set| set >= Above::POOLED && program.classes.is_none())
}

/// Prefetches a list that will be read next, or its beginning.
pub fn ask_for(list: &[ListedDocument]) {
    let lines = list.iter().step_by(CACHED).take(64);
    black_box(lines.fold(0, |asked, document| asked ^ document.code()));
}

/// Computes the `wanted` columns of one threshold into `values`, `[column][lane]`.
pub fn hits(
    list: &[ListedDocument],
    above: u8,
    wanted: HitColumns<'_>,
    lanes: usize,
    values: &mut [f64],
) {
    let HitColumns { counts: (counts, counted), precision: (precision, summed), first } = wanted;
    let upto = first.map_or(0, |(upto, _)| upto);
    let (mut hits, mut sums, mut firsts) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (mut left, mut at) = (RestOfList::of(list), [0, 0]);
    let mut store = |column: usize, of: &[f64; LANES]| {
        values[column * lanes..(column + 1) * lanes].copy_from_slice(&of[..lanes]);
    };
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
            store(counted + at[0], &hits);
            at[0] += 1;
        }
        if precision.get(at[1]) == Some(&cut) {
            store(summed + at[1], &sums);
            at[1] += 1;
        }
    }
    // The sum goes at least as deep as a first hit is looked for.
    first.iter().for_each(|&(_, column)| store(column, &firsts));
}

/// Counts the hits down to each cutoff, as `[cut][lane]`.
pub fn count(list: &[ListedDocument], above: u8, cuts: &[u32], lanes: usize, out: &mut [f64]) {
    let step = |hits: &mut [f64; LANES], lane: usize, _, _| hits[lane] += 1.0;
    sweep(list, above, cuts, [0.0; LANES], step, store(lanes, out));
}

/// Counts the hits down to a limit of each lane's own.
pub fn count_within(list: &[ListedDocument], above: u8, limits: &[u32], out: &mut [f64]) {
    let mut hits = [0.0; LANES];
    let deepest = limits.iter().copied().max().unwrap_or(0);
    visit(RestOfList::of(list).upto(deepest), above, |lane, rank, _| {
        hits[lane] += f64::from(u8::from(limits.get(lane).is_some_and(|&limit| rank <= limit)));
    });
    out.copy_from_slice(&hits[..limits.len()]);
}

/// Finds the rank of each lane's first hit at rank `upto` or above it; 0 if there is none.
pub fn first_rank(list: &[ListedDocument], above: u8, upto: u32, out: &mut [f64]) {
    let mut firsts = [0.0; LANES];
    visit(RestOfList::of(list).upto(upto), above, |lane, rank, _| {
        firsts[lane] = if firsts[lane] == 0.0 { f64::from(rank) } else { firsts[lane] };
    });
    out.copy_from_slice(&firsts[..out.len()]);
}

/// Sums gains with weights, as `[cut][lane]`. The set `above` has all codes with a gain.
pub fn weighted_sum(
    list: &[ListedDocument],
    above: u8,
    (gain, weights): (&[f64; 256], &Weights),
    cuts: &[u32],
    lanes: usize,
    out: &mut [f64],
) {
    let step = |sums: &mut [f64; LANES], lane: usize, rank: u32, code: u8| {
        sums[lane] += weights.term(gain[usize::from(code)], rank as usize - 1);
    };
    sweep(list, above, cuts, [0.0; LANES], step, store(lanes, out));
}

/// Sums the chances to stop, as `[cut][lane]`. The set `above` has all codes with a chance.
pub fn cascade(
    list: &[ListedDocument],
    above: u8,
    (stop, weights): (&[f64; 256], &Weights),
    cuts: &[u32],
    lanes: usize,
    out: &mut [f64],
) {
    let step =
        |(reading, sums): &mut ([f64; LANES], [f64; LANES]), lane: usize, rank: u32, code: u8| {
            let stop = stop[usize::from(code)];
            sums[lane] += weights.term(reading[lane] * stop, rank as usize - 1);
            reading[lane] *= 1.0 - stop;
        };
    let mut store = store(lanes, out);
    sweep(list, above, cuts, ([1.0; LANES], [0.0; LANES]), step, |(_, sums), cut| store(sums, cut));
}

/// Copies the values of all lanes into the row of a cutoff.
fn store(lanes: usize, out: &mut [f64]) -> impl FnMut(&[f64; LANES], usize) {
    move |of, cut| out[cut * lanes..(cut + 1) * lanes].copy_from_slice(&of[..lanes])
}

/// Calls `hit(state, lane, rank, code)` for every hit down to each cutoff, and `cut(state, index)`
/// after each.
#[inline(always)]
fn sweep<T>(
    list: &[ListedDocument],
    above: u8,
    cuts: &[u32],
    mut state: T,
    mut hit: impl FnMut(&mut T, usize, u32, u8),
    mut cut: impl FnMut(&T, usize),
) {
    let mut left = RestOfList::of(list);
    for (index, &at) in cuts.iter().enumerate() {
        visit(left.upto(at), above, |lane, rank, code| hit(&mut state, lane, rank, code));
        cut(&state, index);
    }
}

/// The documents of a list that no cutoff has passed yet.
struct RestOfList<'l> {
    list: &'l [ListedDocument],
    /// The last cutoff.
    after: u32,
}

/// The documents of `list` between two cutoffs, with ranks beyond `after` and at most `upto`.
struct ListStretch<'l> {
    list: &'l [ListedDocument],
    after: u32,
    upto: u32,
}

impl<'l> RestOfList<'l> {
    fn of(list: &'l [ListedDocument]) -> Self {
        RestOfList { list, after: 0 }
    }

    /// Takes the documents down to the next cutoff.
    #[inline]
    fn upto(&mut self, upto: u32) -> ListStretch<'l> {
        const LINE: u32 = ListedDocument::LINE;
        let RestOfList { list, after } = *self;
        // The end of the ranking is what most folds are read at, and needs no search.
        let all = list.last().is_none_or(|last| last.line() < upto / LINE);
        let end = if all {
            list.len()
        } else {
            list.partition_point(|of| of.line() < upto.div_ceil(LINE))
        };
        // Documents of a line that the cutoff divides are looked at twice.
        let whole =
            if all { end } else { list[..end].partition_point(|of| of.line() < upto / LINE) };
        *self = RestOfList { list: &list[whole..], after: upto };
        ListStretch { list: &list[..end], after, upto }
    }
}

/// Calls `hit(lane, rank, code)` for every document of a stretch that is in a set.
#[inline(always)]
fn visit(
    ListStretch { list, after, upto }: ListStretch<'_>,
    above: u8,
    mut hit: impl FnMut(usize, u32, u8),
) {
    let mut hits = [ListedDocument::default(); TOGETHER];
    for together in list.chunks(TOGETHER) {
        let mut found = 0;
        for &document in together {
            // Each is written, and only hits are kept. The remainder changes nothing, and spares
            // the check of the bound.
            hits[found % TOGETHER] = document;
            let inside = (document.rank() > after) & (document.rank() <= upto);
            found += usize::from(inside & (document.code() > above));
        }
        hits[..found].iter().for_each(|of| hit(of.lane(), of.rank(), of.code()));
    }
}

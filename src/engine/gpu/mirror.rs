//! The integer folds of the GPU shaders, computed on the CPU line by line as the shaders do. A GPU
//! must give the same bits.
//!
//! It is written to be read, and not for speed, from the same definitions as the shaders: a sum
//! that a shader keeps in two or three words is a u128 here, its product in 16-bit pieces one
//! product. Two links of the chain of trust meet here: tests compare its numbers with the CPU
//! engine within the derived bounds, on any machine, and its *words* with those of a device, bit by
//! bit, where there is one.
//!
//! Labels whose code does not exceed a fold's threshold are not stepped to: the threshold is part
//! of the definition, as a word of such labels is skipped on a device.

use super::fixed::{self, StopProbabilities};
use super::tasks::{IntegerFold as Fold, IntegerProgram, IntegerTask};
use crate::fold::QueryInputs;
use crate::matrix::Tile;
use crate::matrix::code::NEGATIVE;

/// Computes the result words of one lane (ranking) of a tile as the GPU shaders do, by column.
pub fn lane(
    integers: &IntegerProgram,
    inputs: &QueryInputs,
    tile: Tile,
    lane: usize,
    query: usize,
) -> Vec<u32> {
    let mut words = vec![0; integers.words as usize];
    let labels: Vec<u8> = tile.lane(lane).take(integers.depth as usize).collect();
    for task in &integers.tasks {
        let mut twin = MirrorState::new(integers, &task.kind);
        let mut read = 0;
        for (at, &cut) in task.cuts.iter().enumerate() {
            let end = labels.len().min(cut as usize);
            for rank in read + 1..=end.max(read) {
                let code = labels[rank - 1];
                if code > task.kind.threshold() {
                    twin.step(&task.kind, rank as u32, code, &|at| {
                        inputs[integers.inputs[at as usize]][query]
                    });
                }
            }
            // A cutoff beyond the end reads the state at the end, once more.
            read = end.max(read);
            store(task, at, &twin.state(&task.kind), &mut words);
        }
    }
    words
}

fn store(task: &IntegerTask, cut: usize, state: &[u32], words: &mut [u32]) {
    let first = task.word as usize + cut * task.kind.words() as usize;
    words[first..first + state.len()].copy_from_slice(state);
}

/// The state of an integer fold on its way down a ranking, as in the GPU shaders. Each kind of fold
/// uses only some of the fields.
#[derive(Default)]
struct MirrorState {
    hits: u32,
    others: u32,
    unjudged: u32,
    /// The sum, modulo 2^96 if it is wide, else 2^64.
    sum: u128,
    reaches: u64,
    reciprocals: Vec<u64>,
    shares: Vec<[u64; 2]>,
    peaks: Vec<u32>,
}

impl MirrorState {
    fn new(integers: &IntegerProgram, kind: &Fold) -> Self {
        let precise = matches!(kind, Fold::PrecisionSum(..) | Fold::InferredSum(..));
        let inferred = matches!(kind, Fold::InferredSum(..));
        Self {
            reaches: 1 << 63,
            reciprocals: fixed::reciprocals(if precise { integers.depth } else { 0 }).collect(),
            shares: if inferred {
                fixed::inferred_shares(integers.depth).collect()
            } else {
                Vec::new()
            },
            peaks: match kind {
                Fold::PeakPrecision(..) => vec![0x10000; kind.words() as usize],
                Fold::Histogram(codes) => vec![0; *codes as usize],
                _ => Vec::new(),
            },
            ..Self::default()
        }
    }

    fn step(&mut self, kind: &Fold, rank: u32, code: u8, input: &impl Fn(u32) -> u32) {
        let at = rank as usize - 1;
        match kind {
            Fold::Count(_) => self.hits += 1,
            Fold::CountWithin(_, limit) => self.hits += u32::from(rank <= input(*limit)),
            Fold::FirstRank(_) if self.hits == 0 => self.hits = rank,
            Fold::FirstRank(_) => {}
            Fold::PrecisionSum(_, bits) => {
                self.hits += 1;
                let precision = u64::from(self.hits) * self.reciprocals[at];
                self.sum += u128::from(rounded(precision, *bits));
            }
            Fold::WeightedSum(terms) => {
                let code = u32::from(code - terms.gains.first);
                if code < terms.gains.codes() {
                    // Negative terms are two's complement, so their sum wraps.
                    self.sum = self.sum.wrapping_add(terms.term(rank - 1, code) as u128);
                }
            }
            Fold::Cascade(chances) => self.add_cascade(chances, rank, code),
            &Fold::PeakPrecision(_, first, caps) => {
                self.hits += 1;
                for cap in (0..caps).filter(|&cap| self.hits >= input(first + cap)) {
                    let peak = &mut self.peaks[cap as usize];
                    let (hits, peak_rank) = (*peak & 0xffff, *peak >> 16);
                    if u64::from(self.hits) * u64::from(peak_rank)
                        > u64::from(hits) * u64::from(rank)
                    {
                        *peak = self.hits | rank << 16;
                    }
                }
            }
            Fold::PreferenceSum { hits, cap, .. } if code > *hits => {
                self.hits += 1;
                self.sum += u128::from(self.others.min(input(*cap)));
            }
            Fold::PreferenceSum { .. } => self.others += 1,
            Fold::InferredSum(..) if code == NEGATIVE => self.unjudged += 1,
            Fold::InferredSum(above, _) if code <= *above => self.others += 1,
            Fold::InferredSum(_, bits) => {
                let judged = self.hits + self.others;
                let [relevant, alone] = self.shares[judged as usize];
                let relevant = u64::from(self.hits) * relevant + alone;
                let pooled = u64::from(judged + self.unjudged) * self.reciprocals[at];
                let term = self.reciprocals[at] + share(relevant, pooled);
                self.sum += u128::from(rounded(term, *bits));
                self.hits += 1;
            }
            Fold::PairSum(_) => {
                self.hits += 1;
                self.sum += u128::from(rank - self.hits);
            }
            Fold::Histogram(_) => {
                self.peaks.get_mut(usize::from(code)).into_iter().for_each(|count| *count += 1)
            }
        }
    }

    /// Adds a document to the cascade of a user who may stop at each document.
    fn add_cascade(&mut self, chances: &StopProbabilities, rank: u32, code: u8) {
        let code = u32::from(code - chances.stops.first);
        if code < chances.stops.codes() {
            self.sum += u128::from(share(self.reaches, chances.term(rank - 1, code)));
            self.reaches = share(self.reaches, chances.continuation(code));
        }
    }

    fn state(&self, kind: &Fold) -> Vec<u32> {
        let sum = [self.sum as u32, (self.sum >> 32) as u32, (self.sum >> 64) as u32];
        match kind {
            Fold::Count(_) | Fold::CountWithin(..) | Fold::FirstRank(_) => {
                vec![self.hits]
            }
            Fold::PairSum(_) => vec![sum[0]],
            Fold::PreferenceSum { .. } => vec![self.hits, sum[0]],
            Fold::PeakPrecision(..) | Fold::Histogram(_) => self.peaks.clone(),
            _ => sum[..kind.words() as usize].to_vec(),
        }
    }
}

/// Returns the product of two numbers in units of 2^-63, rounded down, as `share` of the shaders
/// does.
fn share(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 63) as u64
}

/// Returns the number divided by 2^bits, rounded to the nearest.
fn rounded(number: u64, bits: u32) -> u64 {
    ((u128::from(number) + (1 << (bits - 1))) >> bits) as u64
}

//! The same integers on the CPU, line by line as the shaders compute them. A GPU must give the same
//! bits.
//!
//! It is written to be read, and not for speed, from the same definitions as the shaders: a sum
//! that a shader keeps in two or three words is a u128 here, its product in 16-bit pieces one
//! product. Two links of the chain of trust meet here: tests compare its numbers with the CPU
//! engine within the derived bounds, on any machine, and its *words* with those of a device, bit by
//! bit, where there is one.
//!
//! Labels whose code does not exceed a fold's threshold are not stepped to: the threshold is part
//! of the definition, as a word of such labels is skipped on a device.

use super::fixed;
use super::tasks::{IntegerFold, IntegerProgram, IntegerTask};
use crate::fold::QueryInputs;
use crate::matrix::Tile;
use crate::matrix::code::NEGATIVE;

/// Computes the words of one lane of a tile down to a depth, by column.
pub fn lane(
    integers: &IntegerProgram,
    inputs: &QueryInputs,
    tile: Tile,
    lane: usize,
    query: usize,
) -> Vec<u32> {
    let mut words = vec![0; integers.words as usize];
    let input = |at: u32| inputs[integers.inputs[at as usize]][query];
    let labels: Vec<u8> = tile.lane(lane).take(integers.depth as usize).collect();
    for task in &integers.tasks {
        let mut twin = Twin::new(integers, &task.kind);
        let mut read = 0;
        for (at, &cut) in task.cuts.iter().enumerate() {
            let end = labels.len().min(cut as usize);
            for rank in read + 1..=end.max(read) {
                let code = labels[rank - 1];
                if code > task.kind.threshold() {
                    twin.step(&task.kind, rank as u32, code, &input);
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

/// The state of one fold. Each kind of fold uses only some of the fields.
struct Twin {
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

impl Twin {
    fn new(integers: &IntegerProgram, kind: &IntegerFold) -> Self {
        let precise = matches!(kind, IntegerFold::PrecisionSum(..) | IntegerFold::InferredSum(..));
        let inferred = matches!(kind, IntegerFold::InferredSum(..));
        Twin {
            hits: 0,
            others: 0,
            unjudged: 0,
            sum: 0,
            reaches: 1 << 63,
            reciprocals: if precise {
                fixed::reciprocals(integers.depth).collect()
            } else {
                Vec::new()
            },
            shares: if inferred {
                fixed::inferred_shares(integers.depth).collect()
            } else {
                Vec::new()
            },
            peaks: match kind {
                IntegerFold::PeakPrecision(..) => vec![0x10000; kind.words() as usize],
                IntegerFold::Histogram(codes) => vec![0; *codes as usize],
                _ => Vec::new(),
            },
        }
    }

    fn step(&mut self, kind: &IntegerFold, rank: u32, code: u8, input: &impl Fn(u32) -> u32) {
        let at = rank as usize - 1;
        match kind {
            IntegerFold::Count(_) => self.hits += 1,
            IntegerFold::CountWithin(_, limit) => self.hits += u32::from(rank <= input(*limit)),
            IntegerFold::FirstRank(_) if self.hits == 0 => self.hits = rank,
            IntegerFold::FirstRank(_) => {}
            IntegerFold::PrecisionSum(_, bits) => {
                self.hits += 1;
                let precision = u64::from(self.hits) * self.reciprocals[at];
                self.sum += u128::from(rounded(precision, *bits));
            }
            IntegerFold::WeightedSum(terms) => {
                let code = u32::from(code - terms.gains.first);
                if code < terms.gains.codes() {
                    self.sum = self.sum.wrapping_add(terms.term(rank - 1, code) as u128);
                }
            }
            IntegerFold::Cascade(chances) => {
                let code = u32::from(code - chances.stops.first);
                if code < chances.stops.codes() {
                    self.sum += u128::from(share(self.reaches, chances.term(rank - 1, code)));
                    self.reaches = share(self.reaches, chances.goes_on(code));
                }
            }
            &IntegerFold::PeakPrecision(_, first, caps) => {
                self.hits += 1;
                for cap in (0..caps).filter(|&cap| self.hits >= input(first + cap)) {
                    let (hits, of) =
                        (self.peaks[cap as usize] & 0xffff, self.peaks[cap as usize] >> 16);
                    if u64::from(self.hits) * u64::from(of) > u64::from(hits) * u64::from(rank) {
                        self.peaks[cap as usize] = self.hits | rank << 16;
                    }
                }
            }
            IntegerFold::PreferenceSum { hits, cap, .. } if code > *hits => {
                self.hits += 1;
                self.sum += u128::from(self.others.min(input(*cap)));
            }
            IntegerFold::PreferenceSum { .. } => self.others += 1,
            IntegerFold::InferredSum(..) if code == NEGATIVE => self.unjudged += 1,
            IntegerFold::InferredSum(above, _) if code <= *above => self.others += 1,
            IntegerFold::InferredSum(_, bits) => {
                let judged = self.hits + self.others;
                let [relevant, alone] = self.shares[judged as usize];
                let relevant = u64::from(self.hits) * relevant + alone;
                let pooled = u64::from(judged + self.unjudged) * self.reciprocals[at];
                let term = self.reciprocals[at] + share(relevant, pooled);
                self.sum += u128::from(rounded(term, *bits));
                self.hits += 1;
            }
            IntegerFold::PairSum(_) => {
                self.hits += 1;
                self.sum += u128::from(rank - self.hits);
            }
            IntegerFold::Histogram(_) => {
                self.peaks.get_mut(usize::from(code)).into_iter().for_each(|count| *count += 1)
            }
        }
    }

    fn state(&self, kind: &IntegerFold) -> Vec<u32> {
        let sum = [self.sum as u32, (self.sum >> 32) as u32, (self.sum >> 64) as u32];
        match kind {
            IntegerFold::Count(_) | IntegerFold::CountWithin(..) | IntegerFold::FirstRank(_) => {
                vec![self.hits]
            }
            IntegerFold::PairSum(_) => vec![sum[0]],
            IntegerFold::PreferenceSum { .. } => vec![self.hits, sum[0]],
            IntegerFold::PeakPrecision(..) | IntegerFold::Histogram(_) => self.peaks.clone(),
            _ => sum[..kind.words() as usize].to_vec(),
        }
    }
}

/// The product of two numbers in units of 2^-63, rounded down.
fn share(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 63) as u64
}

/// The number divided by 2^bits, rounded to the nearest.
fn rounded(number: u64, bits: u32) -> u64 {
    ((u128::from(number) + (1 << (bits - 1))) >> bits) as u64
}

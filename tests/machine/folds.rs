//! Every fold against a plain loop down the ranks of one ranking: the same bits.

use std::sync::Arc;

use fearless_simd::Level;
use laneval::parts::engine::cpu::Cpu;
use laneval::parts::engine::cpu::folds::{self, HitOutputs};
use laneval::parts::fold::Weights;
use laneval::parts::matrix::Tile;

use crate::cases::by_default;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 53) as f64
    }
}

/// One tile, its tables and its cutoffs.
struct Case {
    labels: Vec<u8>,
    lanes: usize,
    depth: usize,
    above: u8,
    gain: [f64; 256],
    stop: [f64; 256],
    weights: [Weights; 2],
    cuts: Vec<u32>,
    limits: Vec<u32>,
    caps: Vec<Vec<u32>>,
    upto: u32,
}

impl Case {
    fn random(
        random: &mut Random,
        lanes: usize,
        depth: usize,
        density: f64,
        grades: usize,
    ) -> Case {
        let mut labels = vec![0; lanes * depth];
        for lane in 0..lanes {
            let len = match random.below(3) {
                0 => random.below(depth + 1),
                _ => depth,
            };
            // Hits cluster in one stretch sometimes, so that one ranking is both walked and folded
            // densely.
            let dense = random.below(4) == 0;
            for rank in 0..len {
                let chance = if dense && rank % 512 < 256 { 0.4 } else { density };
                let hit = random.unit() < chance;
                let code = if hit { 3 + random.below(grades) } else { 1 + random.below(2) };
                labels[(rank / 4 * lanes + lane) * 4 + rank % 4] = code as u8;
            }
        }
        let mut gain = [0.0; 256];
        let mut stop = [0.0; 256];
        let lowest = 1 + random.below(3);
        for code in lowest..(3 + grades).min(256) {
            gain[code] = match random.below(4) {
                0 => 0.0,
                1 => -random.unit(),
                2 => random.below(8) as f64,
                _ => random.unit() * 10.0,
            };
            stop[code] = random.unit();
        }
        let w: Arc<[f64]> = (0..depth + 3).map(|i| (i as f64 + 2.0).log2()).collect();
        let mut cuts: Vec<u32> =
            (0..random.below(7)).map(|_| 1 + random.below(depth + 9) as u32).collect();
        cuts.extend([10, u32::MAX]);
        cuts.sort_unstable();
        cuts.dedup();
        let limits = (0..lanes).map(|_| random.below(depth + 9) as u32).collect();
        let mut caps: Vec<Vec<u32>> = (0..random.below(12))
            .map(|_| (0..lanes).map(|_| random.below(depth / 4 + 3) as u32).collect())
            .collect();
        for lane in 0..lanes {
            let mut column: Vec<u32> = caps.iter().map(|caps| caps[lane]).collect();
            column.sort_unstable();
            caps.iter_mut().zip(column).for_each(|(caps, cap)| caps[lane] = cap);
        }
        Case {
            labels,
            lanes,
            depth,
            above: [2, 2, 3, 0, 254, 255][random.below(6)],
            gain,
            stop,
            weights: [
                Weights::Divide(w.clone()),
                Weights::Multiply(w.iter().map(|w| w.recip()).collect()),
            ],
            cuts,
            limits,
            caps,
            upto: [u32::MAX, 1 + random.below(depth + 5) as u32][random.below(2)],
        }
    }

    fn tile(&self) -> Tile<'_> {
        Tile { labels: &self.labels, lanes: self.lanes, depth: self.depth }
    }

    /// Ranks (from 1) and codes of one ranking.
    fn ranking(&self, lane: usize) -> impl Iterator<Item = (usize, u8)> {
        (0..self.depth)
            .map(move |rank| (rank + 1, self.labels[(rank / 4 * self.lanes + lane) * 4 + rank % 4]))
            .filter(|&(_, code)| code > 0)
    }

    fn hits(&self, lane: usize) -> impl Iterator<Item = usize> {
        self.ranking(lane).filter(|&(_, code)| code > self.above).map(|(i, _)| i)
    }

    /// `[row][lane]` of some value of a row's cutoff and a lane.
    fn rows<R: Copy, T>(&self, rows: &[R], value: impl Fn(R, usize) -> T) -> Vec<T> {
        rows.iter()
            .flat_map(|&row| (0..self.lanes).map(move |lane| (row, lane)))
            .map(|(r, l)| value(r, l))
            .collect()
    }

    fn count(&self, cut: u32, lane: usize) -> u32 {
        self.hits(lane).filter(|&i| i <= cut as usize).count() as u32
    }

    fn first(&self, upto: u32, lane: usize) -> u32 {
        self.hits(lane).find(|&i| i <= upto as usize).unwrap_or(0) as u32
    }

    fn precision_sum(&self, cut: u32, lane: usize) -> u64 {
        let (mut h, mut s) = (0_u32, 0.0);
        for i in self.hits(lane).filter(|&i| i <= cut as usize) {
            h += 1;
            s += f64::from(h) / i as f64;
        }
        s.to_bits()
    }

    fn weighted_sum(&self, weights: &Weights, cut: u32, lane: usize) -> u64 {
        let mut s = 0.0;
        for (i, c) in self.ranking(lane).filter(|&(i, _)| i <= cut as usize) {
            s += match weights {
                Weights::Divide(d) => self.gain[usize::from(c)] / d[i - 1],
                Weights::Multiply(w) => self.gain[usize::from(c)] * w[i - 1],
            };
        }
        s.to_bits()
    }

    fn cascade(&self, weights: &Weights, cut: u32, lane: usize) -> u64 {
        let (mut p, mut s) = (1.0, 0.0);
        for (i, c) in self.ranking(lane).filter(|&(i, _)| i <= cut as usize) {
            let stop = self.stop[usize::from(c)];
            s += match weights {
                Weights::Divide(d) => p * stop / d[i - 1],
                Weights::Multiply(w) => p * stop * w[i - 1],
            };
            p *= 1.0 - stop;
        }
        s.to_bits()
    }

    fn peak(&self, caps: &[u32], lane: usize) -> u64 {
        let cap = caps[lane] as usize;
        let hits: Vec<usize> = self.hits(lane).collect();
        let Some(from) = (if cap == 0 { Some(1) } else { hits.get(cap - 1).copied() }) else {
            return 0;
        };
        let precision = |i: usize| hits.iter().filter(|&&hit| hit <= i).count() as f64 / i as f64;
        let at_hits = hits.iter().copied().filter(|&i| i >= from).chain([from]).map(precision);
        at_hits.fold(0.0, f64::max).to_bits()
    }

    fn check(&self, level: Level) {
        let (tile, above, cuts) = (self.tile(), self.above, &self.cuts[..]);
        let floats = |rows: usize| vec![f64::NAN; rows * self.lanes];
        let ints = |rows: usize| vec![u32::MAX; rows * self.lanes];
        let bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|v| v.to_bits()).collect() };

        let counts = self.rows(cuts, |cut, lane| self.count(cut, lane));
        let mut out = ints(cuts.len());
        folds::count(level, tile, above, cuts, &mut out);
        assert_eq!(out, counts, "count");

        let mut out = ints(1);
        folds::count_within(level, tile, above, &self.limits, &mut out);
        assert_eq!(
            out,
            self.rows(&[()], |(), lane| self.count(self.limits[lane], lane)),
            "count_within"
        );

        let first = self.rows(&[self.upto], |upto, lane| self.first(upto, lane));
        let mut out = ints(1);
        folds::first_rank(level, tile, above, self.upto, &mut out);
        assert_eq!(out, first, "first_rank");

        let precision = self.rows(cuts, |cut, lane| self.precision_sum(cut, lane));
        let mut out = floats(cuts.len());
        folds::precision_sum(level, tile, above, cuts, &mut out);
        assert_eq!(bits(&out), precision, "precision_sum");

        let some = &cuts[cuts.len() / 2..];
        let wanted = HitOutputs { counts: cuts, precision: some, first: self.upto };
        let (mut a, mut b, mut c) = (ints(cuts.len()), floats(some.len()), ints(1));
        folds::hits(level, tile, above, wanted, &mut a, &mut b, &mut c);
        assert_eq!(a, counts, "hits: counts");
        assert_eq!(bits(&b), precision[cuts.len() / 2 * self.lanes..], "hits: precision");
        assert_eq!(c, first, "hits: first");

        for weights in &self.weights {
            let mut out = floats(cuts.len());
            folds::weighted_sum(level, tile, &self.gain, weights, cuts, &mut out);
            assert_eq!(
                bits(&out),
                self.rows(cuts, |cut, lane| self.weighted_sum(weights, cut, lane)),
                "weighted"
            );

            folds::cascade(level, tile, &self.stop, weights, cuts, &mut out);
            assert_eq!(
                bits(&out),
                self.rows(cuts, |cut, lane| self.cascade(weights, cut, lane)),
                "cascade"
            );
        }

        let caps: Vec<&[u32]> = self.caps.iter().map(Vec::as_slice).collect();
        let mut out = floats(caps.len());
        folds::peak_precision(level, tile, above, &caps, &mut out);
        assert_eq!(
            bits(&out),
            self.rows(&caps, |caps, lane| self.peak(caps, lane)),
            "peak_precision"
        );
    }

    /// With all codes, and with fewer than there may be among the labels.
    fn check_histogram(&self) {
        for codes in [256, 6] {
            let mut out = vec![u32::MAX; self.cuts.len() * self.lanes * codes];
            folds::histogram(self.tile(), codes, &self.cuts, &mut out);
            let mut rows = out.chunks_exact(codes);
            for &cut in &self.cuts {
                for lane in 0..self.lanes {
                    let mut counts = [0; 256];
                    self.ranking(lane)
                        .filter(|&(i, _)| i <= cut as usize)
                        .for_each(|(_, code)| counts[usize::from(code)] += 1);
                    assert_eq!(rows.next().unwrap(), &counts[..codes], "cut {cut}, lane {lane}");
                }
            }
        }
    }
}

/// Calls `check` with tiles of these depths.
fn cases(depths: &[usize], check: impl Fn(&Case)) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for &depth in depths {
        for lanes in [16, 64] {
            for density in [0.0, 0.002, 0.05, 0.5, 1.0] {
                for grades in [1, 3, 7, 253] {
                    let case = Case::random(&mut random, lanes, depth, density, grades);
                    let place = format!("depth {depth}, {lanes} lanes, {density}, {grades} grades");
                    let check = std::panic::AssertUnwindSafe(|| check(&case));
                    std::panic::catch_unwind(check).unwrap_or_else(|_| panic!("{place}"));
                }
            }
        }
    }
}

pub fn shallow_tiles(cpu: Cpu) {
    cases(&[0, 4, 8, 12, 64, 68, 100], |case| case.check(cpu.level()));
}

pub fn tiles_of_several_blocks(cpu: Cpu) {
    cases(by_default(&[260], &[256, 260, 512, 1000, 1028]), |case| case.check(cpu.level()));
}

/// Tiles so deep that bytes and 16-bit lanes would overflow.
fn deep_tiles() -> Vec<Case> {
    let mut random = Random(7);
    let case = |density| {
        let mut case = Case::random(&mut random, 16, 100_000, density, 2);
        case.cuts = vec![65_536, u32::MAX];
        case.caps.clear(); // looking for peaks in a plain loop is quadratic
        case
    };
    [0.01, 1.0].map(case).into()
}

pub fn a_deep_tile(cpu: Cpu) {
    deep_tiles().iter().for_each(|case| case.check(cpu.level()));
}

pub fn a_cutoff_at_every_rank(cpu: Cpu) {
    let mut random = Random(11);
    for lanes in [16, 64] {
        let mut case = Case::random(&mut random, lanes, 132, 0.2, 4);
        case.cuts = (1..140).collect();
        case.check(cpu.level());
    }
}

/// The quotient without a division is the division's, for every number of hits down to some ranks.
pub fn all_hits_at_all_ranks(cpu: Cpu) {
    let depth = 4096;
    let lanes = 16;
    // Lane n has every (n+1)-th rank a hit.
    let label = |at: usize| {
        if (at / (4 * lanes) * 4 + at % 4).is_multiple_of(at / 4 % lanes + 1) { 9 } else { 1 }
    };
    let mut case = Case::random(&mut Random(3), lanes, depth, 0.0, 1);
    case.labels = (0..lanes * depth).map(label).collect();
    case.above = 8;
    case.caps.clear();
    case.check(cpu.level());
}

/// Histograms do not depend on levels.
pub fn histograms() {
    cases(&[0, 4, 8, 12, 64, 68, 100, 256, 260, 512, 1000, 1028], Case::check_histogram);
    deep_tiles().iter().for_each(Case::check_histogram);
}

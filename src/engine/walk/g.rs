//! The walk of trec_eval's G: gains discounted by their lag behind the ideal gains.
//!
//! trec_eval's m_G.c: a document's gain is divided by lg(2 + C − S). S is the sum of the gains so
//! far. C is the *cost*: the sum of the largest possible gains of equally many documents, at least
//! 1 a rank. A ranking that keeps up with the ideal one has a lag of 0 everywhere.
//!
//! The formula adds the terms of S and C rank by rank. S grows only at documents with a gain. C
//! grows at every rank, but by a constant term while the ideal gain stays. So a walk down to a
//! document costs one step for each distinct ideal gain in between, instead of one a rank. If all
//! gains are whole numbers up to 2²⁰ the sums are exact, and a step is one product; else the
//! repeated addition keeps the bits.
//!
//! C ≥ S on paper, as the ideal ranking has the largest gains; in floats, S and C add gains in
//! different orders and may cross by rounding.

use super::repeated::add_repeatedly;
use super::walker::{Logarithms, WalkInput, WalkScratch, Walker, ideal_gains};
use crate::fold::{CodeTable, ratio};

pub(super) struct GWalk {
    gain: CodeTable,
    /// Whether all sums of gains are whole numbers that f64 has.
    exact: bool,
    logarithms: Logarithms,
}

impl GWalk {
    pub fn new(gain: CodeTable, tabled: usize) -> Self {
        // With gains up to 2²⁰, 2³² documents stay below 2⁵³, where f64 has every whole number.
        let exact =
            gain.iter().all(|gain| gain.trunc() == *gain && gain.abs() <= f64::from(1 << 20));
        Self { gain, exact, logarithms: Logarithms::new(2 * tabled + 3) }
    }

    /// Adds a term to a sum `times` times, with the bits of a plain loop.
    fn add(&self, sum: f64, term: f64, times: usize) -> f64 {
        if self.exact { sum + term * times as f64 } else { add_repeatedly(sum, term, times as u64) }
    }
}

/// Returns 2 plus the lag of a ranking's gains behind the cost (the ideal gains), the argument of
/// G's logarithm. Rounding can give less than 2. With moderate sums only the last bits differ, and
/// they stay as in trec_eval. With huge sums the error has any size, so 2 replaces the result,
/// because a number below 0 has no logarithm. If documents without a judgment have gains, the true
/// result may be far below 2.
fn two_and_lag(cost: f64, gained: f64) -> f64 {
    const ROUNDING: f64 = f64::from_bits((1023 - 36) << 52);
    let lag = 2.0 + cost - gained;
    if lag < 1.999_999 && 2.0 - lag <= cost * ROUNDING { 2.0 } else { lag }
}

impl Walker for GWalk {
    fn value(&self, row: &WalkInput<'_>, scratch: &mut WalkScratch) -> f64 {
        /// The cost above which cost and gains differ by rounding only.
        const LARGEST: f64 = f64::from_bits((1023 + 900) << 52);
        ideal_gains(&self.gain, row.facts, &mut scratch.ideal);
        let mut cost =
            Cost { lag: self, sum: 0.0, rank: 0, ideal: scratch.ideal.iter(), gain: 0.0, end: 0 };
        let (mut gained, mut sum) = (0.0, 0.0);
        for document in row.documents {
            let gain = self.gain[usize::from(document.code)];
            if gain != 0.0 {
                let cost = cost.down_to(document.rank as usize + 1);
                gained += gain;
                sum += gain / self.logarithms.lg_f64(two_and_lag(cost, gained));
            }
        }
        let all = scratch.ideal.iter();
        let whole = all.fold(0.0, |sum, &(gain, count)| self.add(sum, gain, count as usize));
        // The cost is a little more than all gains at most, and 1 a rank.
        let huge = whole > LARGEST.sqrt() && cost.down_to(row.depth).max(whole) > LARGEST;
        if huge { f64::NAN } else { ratio(sum, whole) }
    }
}

/// The sum of the ideal gains down to a rank, with at least 1 for each rank, for G.
struct Cost<'a> {
    lag: &'a GWalk,
    sum: f64,
    /// The rank down to which the sum goes.
    rank: usize,
    /// The ideal gains that follow.
    ideal: std::slice::Iter<'a, (f64, u32)>,
    /// The gain that is added at each rank, down to rank `end`.
    gain: f64,
    end: usize,
}

impl Cost<'_> {
    fn down_to(&mut self, rank: usize) -> f64 {
        while self.rank < rank {
            if self.rank == self.end {
                let ideal = self
                    .ideal
                    .next()
                    .map(|&(gain, count)| (gain.max(1.0), self.end + count as usize));
                (self.gain, self.end) = ideal.unwrap_or((1.0, usize::MAX));
            }
            let upto = self.end.min(rank);
            self.sum = self.lag.add(self.sum, self.gain, upto - self.rank);
            self.rank = upto;
        }
        self.sum
    }
}

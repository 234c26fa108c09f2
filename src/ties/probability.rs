//! Chances and sums that keep their digits: numbers in two floats, prefix sums of weights,
//! hypergeometric chances.
//!
//! Three things lose digits in sums over large groups, and each has its remedy here:
//!
//! * **Differences of prefix sums.** Σ 1/i over three ranks a million down is 3·10⁻⁶ as the
//!   difference of two sums near 14. In one float six or seven of the sixteen digits would be gone;
//!   so prefix sums are kept in two floats, and rounded once after the difference.
//! * **Products of many factors.** A chance that follows from the one before by a quotient gathers
//!   an error with every step. In two floats the steps cost nothing that is seen.
//! * **Binomials.** C(1,000,000, 500,000) overflows, and the difference of three logarithms of
//!   factorials keeps nine digits. Chances are made *relative to the mode* instead: the largest is
//!   set to 1, the neighbours follow by quotients of small whole numbers outward in both
//!   directions, and all are divided by their sum. No error is amplified, as every factor is at
//!   most about 1.

use std::ops::AddAssign;

use crate::fold::{Discount, Weights};

// `plus` is Knuth's two-sum: `lost` is exactly what `sum` rounded off, without a branch on which
// number is larger. `times` and `over` compute their rounding error by a fused multiply-add, whose
// product is exact. The low parts are added in plain floats, so a result is off by some 2⁻¹⁰⁴ of
// the larger operand. (Dekker 1971; Knuth, The Art of Computer Programming 2, 4.2.2.)
/// A number as the unevaluated sum of two floats, the second at most half a unit of the first.
#[derive(Clone, Copy, Default)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    pub fn new(number: f64) -> Self {
        Self { high: number, low: 0.0 }
    }

    /// Returns the number as the nearest single float.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    pub fn plus(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let moved = sum - self.high;
        let lost = (self.high - (sum - moved)) + (other.high - moved);
        Self::normal(sum, lost + (self.low + other.low))
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    pub fn times(self, by: f64) -> Self {
        let product = self.high * by;
        Self::normal(product, self.high.mul_add(by, -product) + self.low * by)
    }

    pub fn over(self, by: f64) -> Self {
        let quotient = self.high / by;
        let rest = (-quotient).mul_add(by, self.high) + self.low;
        Self::normal(quotient, rest / by)
    }

    fn normal(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }
}

impl AddAssign<f64> for DoubleDouble {
    fn add_assign(&mut self, number: f64) {
        *self = self.plus(Self::new(number));
    }
}

/// The weights of a rank discount and their prefix sums, grown on demand, for measures under tied
/// scores.
pub struct PrefixSums {
    discount: Discount,
    /// The number by which a gain is divided, or multiplied, at each rank.
    by: Vec<f64>,
    divides: bool,
    /// The sums of the first weights, by their number.
    sums: Vec<DoubleDouble>,
}

impl PrefixSums {
    fn new(discount: Discount) -> Self {
        let divides = matches!(discount.weights(0), Weights::Divide(_));
        Self { discount, by: Vec::new(), divides, sums: vec![DoubleDouble::default()] }
    }

    /// Extends the tables of weights and prefix sums to at least `ranks` ranks.
    fn deepen(&mut self, ranks: usize) {
        let have = self.by.len();
        if ranks <= have {
            return;
        }
        // Tables at least double, so that deepening rank by rank costs a constant for each rank.
        let (Weights::Divide(by) | Weights::Multiply(by)) =
            self.discount.weights_of(have..ranks.max(2 * have).max(64));
        self.by.extend_from_slice(&by);
        let mut sum = self.sums[have];
        for &by in &self.by[have..] {
            sum = sum.plus(if self.divides {
                DoubleDouble::new(1.0).over(by)
            } else {
                DoubleDouble::new(by)
            });
            self.sums.push(sum);
        }
    }

    /// Returns the discounted gain at an index from 0, as in the plain formula.
    pub fn term(&self, gain: f64, index: usize) -> f64 {
        if self.divides { gain / self.by[index] } else { gain * self.by[index] }
    }

    /// Returns the sum of the discount's weights at the indices from `start` up to `end`.
    pub fn between(&self, start: usize, end: usize) -> DoubleDouble {
        self.sums[end].minus(self.sums[start])
    }
}

/// The prefix sums of the weights of all rank discounts that were needed so far.
#[derive(Default)]
pub struct SumTables(Vec<PrefixSums>);

impl SumTables {
    /// Returns the prefix sums of a rank discount's weights, at least `ranks` ranks deep.
    pub fn get(&mut self, discount: Discount, ranks: usize) -> &PrefixSums {
        let at = self.0.iter().position(|sums| sums.discount == discount).unwrap_or_else(|| {
            self.0.push(PrefixSums::new(discount));
            self.0.len() - 1
        });
        self.0[at].deepen(ranks);
        &self.0[at]
    }
}

/// The hypergeometric distribution: the number of marked documents among documents drawn at random.
#[derive(Default)]
pub struct Hypergeometric {
    all: u64,
    marked: u64,
    drawn: u64,
    /// The smallest number of marked documents drawn that has a chance.
    pub first: u64,
    chances: Vec<f64>,
    /// The number of documents that may still be drawn before the chances are computed anew; 0
    /// right after chances were filled in by a caller.
    steps: u64,
}

impl Hypergeometric {
    /// The number of steps after which chances are computed anew. Chances that follow from those
    /// before, one document more each time, lose about a unit of the last digit in this number of
    /// steps.
    const STEPS: u64 = 32;

    // Hoeffding bounds the chance to be s away from the mean of a draw of n by 2·exp(−2s²/n). It
    // holds for n = drawn, and by symmetry for the number that is marked, not marked or not drawn,
    // which have the same distribution up to a shift: n is the smallest of the four, `fewest`. With
    // s = 4.8·√n the bound is 2·exp(−46.08) < 2·10⁻²⁰. So a draw keeps some 10·√n numbers where n
    // may be half a million, and the + 1 is for the rounding of the ends to whole numbers.
    /// Computes the chances of all numbers of marked documents among `drawn` of `all` documents,
    /// `marked` of which are marked. The numbers that are left out at both ends have a chance below
    /// 2·10⁻²⁰ (Hoeffding 1963), or 10⁻²⁴ of the largest one.
    pub fn fill(&mut self, all: u64, marked: u64, drawn: u64) {
        const LEAST: f64 = 1e-24;
        *self = Self {
            all,
            marked,
            drawn,
            chances: std::mem::take(&mut self.chances),
            ..Self::default()
        };
        let (least, most) = ((marked + drawn).saturating_sub(all), marked.min(drawn));
        let fewest = marked.min(all - marked).min(drawn).min(all - drawn) as f64;
        let mean = if all == 0 { 0.0 } else { marked as f64 * (drawn as f64 / all as f64) };
        let spread = 4.8 * fewest.sqrt() + 1.0;
        let first = ((mean - spread).max(0.0) as u64).clamp(least, most);
        let last = ((mean + spread) as u64).clamp(first, most);
        let mode = (((marked + 1) as f64 * (drawn + 1) as f64 / (all + 2) as f64) as u64)
            .clamp(first, last);
        // The documents neither marked nor drawn, if x marked ones are drawn.
        let rest = |x: u64| (all + x - marked - drawn) as f64;
        self.chances.clear();
        let mut chance = 1.0;
        let mut sum = 0.0;
        for x in (first..mode).rev() {
            chance *= (x + 1) as f64 * rest(x + 1) / ((marked - x) as f64 * (drawn - x) as f64);
            if chance < LEAST {
                break;
            }
            sum += chance;
            self.chances.push(chance);
        }
        self.first = mode - self.chances.len() as u64;
        self.chances.reverse();
        self.chances.push(1.0);
        sum += 1.0;
        chance = 1.0;
        for x in mode + 1..=last {
            chance *= (marked + 1 - x) as f64 * (drawn + 1 - x) as f64 / (x as f64 * rest(x));
            if chance < LEAST {
                break;
            }
            sum += chance;
            self.chances.push(chance);
        }
        let by = 1.0 / sum;
        self.chances.iter_mut().for_each(|chance| *chance *= by);
    }

    /// Computes the chances as [`Hypergeometric::fill`] does, for no document drawn or one more
    /// than in the last call.
    pub fn draw(&mut self, all: u64, marked: u64, drawn: u64) {
        if drawn == 0 {
            self.fill(all, marked, 0);
        } else {
            debug_assert!((self.all, self.marked, self.drawn + 1) == (all, marked, drawn));
            self.draw_one_more();
        }
    }

    // The next draw's chances follow from this one's without any binomial. Of N − d documents left,
    // m − x are marked if x marked ones are drawn:
    //
    //     P'(x) = P(x)·(others left)/(N − d) + P(x − 1)·(m − x + 1)/(N − d)
    //
    // Both terms are positive. A step costs two products per number instead of the quotients of a
    // fill. A fill every 32 draws keeps the errors of the steps from growing, and trims numbers
    // without a chance at both ends.
    /// Updates the chances to one more document drawn from the remaining documents.
    fn draw_one_more(&mut self) {
        if self.steps == 0 {
            let steps = Self::STEPS.min(self.all - self.drawn - 1);
            self.fill(self.all, self.marked, self.drawn + 1);
            self.steps = steps;
            return;
        }
        let by = 1.0 / (self.all - self.drawn) as f64;
        let highest = self.first + self.chances.len() as u64;
        if highest <= self.marked.min(self.drawn + 1) {
            self.chances.push(0.0);
        }
        // Drawing a marked document raises the number of marked documents by one; drawing an
        // unmarked document keeps the number.
        let left = (self.marked - self.first) as f64;
        let others = (self.all - self.drawn) as f64 - left;
        for at in (1..self.chances.len()).rev() {
            let x = at as f64;
            self.chances[at] =
                (self.chances[at] * (others + x) + self.chances[at - 1] * (left + 1.0 - x)) * by;
        }
        self.chances[0] *= others * by;
        // Once all remaining documents are marked, the smallest number of marked ones has no
        // chance.
        if self.chances[0] == 0.0 && self.chances.len() > 1 {
            self.chances.remove(0);
            self.first += 1;
        }
        self.drawn += 1;
        self.steps -= 1;
    }

    /// Returns the numbers of marked documents drawn, ascending, with their chances.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.first..).zip(self.chances.iter().copied())
    }

    /// Returns the expectation of a function of the number of marked documents drawn.
    pub fn mean(&self, value: impl Fn(u64) -> f64) -> f64 {
        self.iter().map(|(x, chance)| chance * value(x)).sum()
    }
}

// Negative hypergeometric: C(rank − 1, which − 1)·C(all − rank, marked − which) / C(all, marked),
// again as quotients of neighbours outward from about the mode. The sum is the divisor, so the sum
// runs over all ranks. Only the chances of the first `up_to` ranks are stored.
/// Returns the chances that the marked document of number `which`, of `marked` among `all` in
/// random order, stands at rank 1, 2, …
pub fn ranks_of(all: u64, marked: u64, which: u64, up_to: usize) -> Vec<f64> {
    let (first, last) = (which, all - marked + which);
    let mut chances = vec![0.0; up_to];
    // Roughly, the most likely rank.
    let mode = match marked {
        ..=1 => which,
        _ => 1 + ((which - 1) as f64 * (all - 1) as f64 / (marked - 1) as f64) as u64,
    };
    let mode = mode.clamp(first, last);
    let (mut sum, mut chance) = (DoubleDouble::new(1.0), DoubleDouble::new(1.0));
    // Stores the chance of a rank (from 1), if the list has a place for it.
    let mut put = |rank: u64, chance: DoubleDouble| {
        if let Some(place) = chances.get_mut(rank as usize - 1) {
            *place = chance.value();
        }
    };
    put(mode, chance);
    for rank in mode..last {
        let over = rank as f64 * (last - rank) as f64;
        chance = chance.times(over).over((rank + 1 - which) as f64 * (all - rank) as f64);
        if chance.value() < 1e-300 {
            break;
        }
        sum = sum.plus(chance);
        put(rank + 1, chance);
    }
    chance = DoubleDouble::new(1.0);
    for rank in (first + 1..=mode).rev() {
        let over = (rank - which) as f64 * (all + 1 - rank) as f64;
        chance = chance.times(over).over((rank - 1) as f64 * (last + 1 - rank) as f64);
        if chance.value() < 1e-300 {
            break;
        }
        sum = sum.plus(chance);
        put(rank - 1, chance);
    }
    let sum = sum.value();
    chances.iter_mut().for_each(|chance| *chance /= sum);
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns C(n, k), exact while it is below 2⁵³.
    fn choose(n: u64, k: u64) -> f64 {
        if k > n {
            0.0
        } else {
            (1..=k).fold(1.0, |product, i| product * (n - k + i) as f64 / i as f64)
        }
    }

    #[test]
    fn small_chances_are_quotients_of_binomials() {
        let mut chances = Hypergeometric::default();
        for all in 0..=9u64 {
            for (marked, drawn) in
                (0..=all).flat_map(|marked| (0..=all).map(move |drawn| (marked, drawn)))
            {
                chances.fill(all, marked, drawn);
                let mut found = [0.0; 10];
                chances.iter().for_each(|(x, chance)| found[x as usize] = chance);
                let mut one_by_one = Hypergeometric::default();
                one_by_one.fill(all, marked, 0);
                (0..drawn).for_each(|_| one_by_one.draw_one_more());
                let squares = |chances: &Hypergeometric| chances.mean(|x| (x * x) as f64);
                let (steps, anew) = (squares(&one_by_one), squares(&chances));
                assert!(
                    (steps - anew).abs() <= 1e-14 * anew.max(1.0),
                    "{marked} of {all}, {drawn} drawn"
                );
                for x in 0..10 {
                    let ways = if x > drawn {
                        0.0
                    } else {
                        choose(marked, x) * choose(all - marked, drawn - x)
                    };
                    let expected = ways / choose(all, drawn);
                    assert!(
                        (found[x as usize] - expected).abs() < 1e-15,
                        "{x} of {marked} of {all}, {drawn} drawn"
                    );
                }
            }
            for (marked, which) in
                (1..=all).flat_map(|marked| (1..=marked).map(move |which| (marked, which)))
            {
                let found = ranks_of(all, marked, which, all as usize);
                for rank in 1..=all {
                    let ways = choose(rank - 1, which - 1) * choose(all - rank, marked - which);
                    let expected = ways / choose(all, marked);
                    assert!(
                        (found[rank as usize - 1] - expected).abs() < 1e-15,
                        "{which} of {marked} of {all} at {rank}"
                    );
                }
            }
        }
    }

    /// Checks that a million documents have the right mean, and that nothing is lost at the ends.
    #[test]
    fn large_chances_have_their_mean_and_spread() {
        let mut chances = Hypergeometric::default();
        for (marked, drawn) in
            [(1, 1), (1000, 500_000), (300_000, 700_000), (999_999, 3), (500_000, 500_000)]
        {
            let all = 1_000_000;
            chances.fill(all, marked, drawn);
            let (m, d, n) = (marked as f64, drawn as f64, all as f64);
            let mean = m * d / n;
            let variance = mean * (1.0 - m / n) * (n - d) / (n - 1.0);
            assert!((chances.mean(|_| 1.0) - 1.0).abs() < 1e-14);
            assert!((chances.mean(|x| x as f64) / mean - 1.0).abs() < 1e-12, "{marked} {drawn}");
            let found = chances.mean(|x| (x as f64 - mean).powi(2));
            assert!(
                (found - variance).abs() <= 1e-10 * variance,
                "{marked} {drawn}: {found} and {variance}"
            );
        }
    }

    /// Chances that follow from those before equal those that are computed anew.
    #[test]
    fn one_more_document_keeps_the_digits() {
        for (all, marked) in [(5000, 7), (5000, 400), (5000, 4990), (300, 150)] {
            let (mut steps, mut anew) = (Hypergeometric::default(), Hypergeometric::default());
            steps.fill(all, marked, 0);
            for drawn in 0..all {
                anew.fill(all, marked, drawn);
                let whole = steps.mean(|_| 1.0);
                assert!((whole - 1.0).abs() < 1e-14, "{drawn} of {all}, {marked} marked: {whole}");
                let mut chances = vec![0.0; marked as usize + 2];
                steps.iter().for_each(|(x, chance)| chances[x as usize] += chance);
                anew.iter().for_each(|(x, chance)| chances[x as usize] -= chance);
                assert!(
                    chances.iter().all(|off| off.abs() < 2e-15),
                    "{drawn} of {all}, {marked} marked"
                );
                if drawn + 1 < all {
                    steps.draw_one_more();
                }
            }
        }
    }

    /// Checks that the sum of a few weights far down still has all its digits.
    #[test]
    fn prefix_sums_lose_nothing_far_down() {
        let mut tables = SumTables::default();
        let start = 1_000_000;
        let found = tables.get(Discount::Rank, start + 3).between(start, start + 3).value();
        let plain = (1..=3).map(|j| 1.0 / (start + j) as f64).sum::<f64>();
        assert!((found / plain - 1.0).abs() < 3e-16, "{found} and {plain}");
        let few = tables.get(Discount::Rank, 3);
        assert_eq!(few.term(1.0, 2), 1.0 / 3.0);
    }

    #[test]
    fn doubles_keep_what_floats_lose() {
        let third = DoubleDouble::new(1.0).over(3.0);
        let rest = DoubleDouble::new(1.0).minus(third.plus(third).plus(third)).value();
        assert!(rest.abs() < 1e-31, "{rest}");
        assert_eq!(
            DoubleDouble::new(1e16)
                .plus(DoubleDouble::new(1.0))
                .minus(DoubleDouble::new(1e16))
                .value(),
            1.0
        );
        assert!((third.times(3.0).minus(DoubleDouble::new(1.0)).value()).abs() < 1e-31);
    }
}

//! The exact confidence interval of a binomial proportion.
//!
//! The lower end is the proportion p under which as many hits or more have the chance 2.5 %, the
//! upper end by symmetry that of the misses. The chance grows with p, so bisection finds p; it goes
//! on until two neighbouring floats are left, some 60 steps and more near 0.
//!
//! The tail is a sum of binomial terms. The first is made of a logarithm of ways, and the others
//! follow by quotients, each smaller than the one before: since p ≤ hits/trials, (n − k)/(k +
//! 1)·p/(1 − p) < 1 for k ≥ hits. So the sum stops where a term is too small to count.

use super::aggregate::ExactSum;

/// Half of the chance that an interval misses the proportion.
const TAIL: f64 = 0.025;

/// Returns the exact 95 % confidence interval of a binomial proportion from `hits` of `trials`
/// (Clopper and Pearson 1934).
pub fn interval(hits: u64, trials: u64) -> (f64, f64) {
    (lower(hits, trials), 1.0 - lower(trials - hits, trials))
}

/// Returns the lower end of the interval, the proportion under which `hits` or more occur with the
/// chance [`TAIL`]; 0 without hits.
fn lower(hits: u64, trials: u64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let ways = ln_choose(trials, hits);
    let (mut low, mut high) = (0.0f64, hits as f64 / trials as f64);
    loop {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            return middle;
        }
        if at_least(hits, trials, ways, middle) < TAIL { low = middle } else { high = middle }
    }
}

/// Returns the binomial chance of `hits` or more hits in `trials` trials. The proportion is at most
/// `hits / trials`, and `ways` is the logarithm of the number of ways to choose the hits.
fn at_least(hits: u64, trials: u64, ways: f64, proportion: f64) -> f64 {
    let (hits, trials) = (hits as f64, trials as f64);
    let first = ways + hits * proportion.ln() + (trials - hits) * (-proportion).ln_1p();
    let odds = proportion / (1.0 - proportion);
    let (mut term, mut sum, mut at) = (1.0, 1.0, hits);
    while at < trials && term > 1e-18 * sum {
        term *= (trials - at) / (at + 1.0) * odds;
        sum += term;
        at += 1.0;
    }
    first.exp() * sum
}

/// Returns the logarithm of the number of ways to choose `some` of `all`.
fn ln_choose(all: u64, some: u64) -> f64 {
    // Choosing some is choosing the rest: the fewer of both give the ways by fewer logarithms.
    let few = some.min(all - some);
    (1..=few).map(|at| ((all - few + at) as f64 / at as f64).ln()).collect::<ExactSum>().value()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From SciPy 1.17: `scipy.stats.binomtest(hits, trials).proportion_ci(method="exact")`.
    const KNOWN: [(u64, u64, f64, f64); 13] = [
        (0, 2, 0.0, 0.841886116991607),
        (1, 2, 0.01257911709367899, 0.987420882906321),
        (0, 5, 0.0, 0.5218237501049814),
        (1, 5, 0.005050763379468115, 0.7164179361180895),
        (5, 5, 0.47817624989501856, 1.0),
        (17, 43, 0.24976778864759108, 0.555900475534309),
        (49, 50, 0.893530454288499, 0.9994937720168847),
        (500, 999, 0.46903226241459745, 0.5319657811909555),
        (3, 1000, 0.0006190999316499173, 0.008742023238657654),
        (2345, 6980, 0.32487811838640485, 0.3471788280617741),
        (0, 1_000_000, 0.0, 3.688872650897376e-06),
        (123_456, 1_000_000, 0.12281184162963026, 0.1241023402768027),
        (1_000_000, 1_000_000, 0.9999963111273491, 1.0),
    ];

    #[test]
    fn intervals_are_those_of_scipy() {
        for (hits, trials, low, high) in KNOWN {
            let found = interval(hits, trials);
            let near = |found: f64, known: f64| (found - known).abs() < 1e-12;
            assert!(near(found.0, low) && near(found.1, high), "{hits} of {trials}: {found:?}");
        }
    }
}

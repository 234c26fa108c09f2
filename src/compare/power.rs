//! The power of the paired t test: the effects that a number of queries can find.
//!
//! Effects are mean differences in standard deviations of the differences. The standard deviation
//! comes from the data at hand. The effect is a difference that matters to the user, never the
//! observed difference.

use super::special::{noncentral_t_cdf, student_quantile};

/// The largest number of queries that is tried.
const MOST: f64 = 1e12;

/// Returns the power of the paired t test: the chance that the two-sided test at `alpha` of
/// `queries` queries, two or more, finds an effect.
pub fn power(effect: f64, queries: f64, alpha: f64) -> f64 {
    let df = queries - 1.0;
    // Under an effect of e standard deviations the t statistic is noncentral, shifted by e·√n. The
    // test rejects in both tails, so the chance of the wrong one is counted too, as it must be for
    // e = 0 to give alpha.
    let (low, shift) = (student_quantile(0.5 * alpha, df), queries.sqrt() * effect.abs());
    // P(T' > t) is P(T' < −t) of the opposite shift.
    noncentral_t_cdf(low, df, -shift) + noncentral_t_cdf(low, df, shift)
}

/// Returns the smallest effect that the paired t test of `queries` queries, two or more, finds with
/// a chance of `wanted`, above `alpha`.
pub fn smallest_effect(queries: f64, alpha: f64, wanted: f64) -> f64 {
    // The chance tends to 1 as the effect grows, so doubling comes to an end.
    let mut high = 1.0;
    while power(high, queries, alpha) < wanted {
        high *= 2.0;
    }
    bisect(0.0, high, |effect| power(effect, queries, alpha) >= wanted)
}

/// Returns the smallest number of queries, two or more, with which the paired t test finds an
/// effect with a chance of `wanted`; `None` if more than 10¹² are needed.
pub fn queries_for(effect: f64, alpha: f64, wanted: f64) -> Option<u64> {
    let enough = |queries: f64| power(effect, queries, alpha) >= wanted;
    let mut high = 2.0;
    while !enough(high) {
        high *= 2.0;
        if high > MOST {
            return None;
        }
    }
    // Invariant: `high` is enough, and `low` is not (or is 1, which no test can have). Doubling and
    // halving take two times log₂ n powers.
    let mut low = 0.5 * high;
    while high - low > 1.0 {
        let middle = low.midpoint(high).floor();
        *(if enough(middle) { &mut high } else { &mut low }) = middle;
    }
    Some(high as u64)
}

/// Returns the smallest number between `low` and `high` from which on `is_so` is true, to the last
/// bits.
fn bisect(mut low: f64, mut high: f64, is_so: impl Fn(f64) -> bool) -> f64 {
    // Neighbouring floats have no middle, so a stricter end might never come. The power itself is
    // off by more than four roundings.
    while high - low > 4.0 * f64::EPSILON * high {
        let middle = low.midpoint(high);
        *(if is_so(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_find_is_found_with_chance_alpha() {
        for queries in [2.0, 3.0, 10.0, 50.0, 1e3, 1e6, 1e9] {
            for alpha in [0.001, 0.05, 0.2] {
                assert!((power(0.0, queries, alpha) - alpha).abs() < 1e-10, "{queries}, {alpha}");
            }
        }
    }

    #[test]
    fn power_grows_to_certainty() {
        for queries in [2.0, 5.0, 50.0, 1e6] {
            let found: Vec<f64> =
                (0..60).map(|at| power(f64::from(at) * 0.3, queries, 0.05)).collect();
            assert!(
                found.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12),
                "{queries}: {found:?}"
            );
            assert_eq!(power(-0.3, queries, 0.05), found[1]);
        }
        assert!(
            (power(20.0, 50.0, 0.05) - 1.0).abs() < 1e-12
                && (power(1e4, 2.0, 0.05) - 1.0).abs() < 1e-9
        );
    }

    #[test]
    fn queries_and_effects_are_borders() {
        for effect in [0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0] {
            let queries = queries_for(effect, 0.05, 0.8).unwrap();
            assert!(power(effect, queries as f64, 0.05) >= 0.8);
            assert!(queries == 2 || power(effect, queries as f64 - 1.0, 0.05) < 0.8);
            let smallest = smallest_effect(queries as f64, 0.05, 0.8);
            assert!(
                smallest <= effect && (power(smallest, queries as f64, 0.05) - 0.8).abs() < 1e-12
            );
        }
        assert_eq!(queries_for(0.0, 0.05, 0.8), None);
        assert_eq!(queries_for(1e-9, 0.05, 0.8), None);
        assert_eq!(queries_for(f64::INFINITY, 0.05, 0.8), Some(2));
    }
}

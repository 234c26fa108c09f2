//! Repeated addition of a constant floating-point term in a few steps.
//!
//! ```text
//! sum  ├──── 2ᵉ ────────────────────────┤ 2ᵉ⁺¹ ──────
//!       · · · · · · · · · · · · · · · ·   ·   ·   ·    floats: a spacing for each power of two
//!       s    s+t   s+2t   …                            all additions within one octave round alike
//! ```
//!
//! Why: let u be the spacing of the octave. Sums in the octave are multiples of u. So s + t rounds
//! t to a multiple of u that does not depend on s, except at a tie. At a tie, t = (n + ½)·u,
//! rounding takes the even sum. From an odd s the first addition adds n·u or (n + 1)·u and makes s
//! even. Each later addition adds the even number of n and n + 1, in units of u, so s stays even.
//! So from the second addition on the step is constant. k steps give s + k·step, exact as long as
//! the sum stays in the octave. A count of 2²⁸ additions takes some 28 octaves, a few operations
//! each.

/// Adds `term` to `sum` `times` times, rounded every time, with the bits of the plain loop. Neither
/// number is negative.
///
/// Between two powers of two all sums have the same unit in the last place. Each addition rounds
/// the term to a constant number of units. If the term lies halfway between two units, rounding
/// takes the even sum, so the number is constant only from the second addition on. So a single
/// exact product takes all steps to the next power of two.
pub(super) fn add_repeatedly(mut sum: f64, term: f64, mut times: u64) -> f64 {
    while times > 4 {
        let once = sum + term;
        sum = once + term;
        times -= 2;
        // If a term does not change the sum, no later addition changes the sum.
        if sum == once {
            return sum;
        }
        if exponent(once) == exponent(sum) {
            let step = sum + term - sum;
            let power = f64::from_bits((exponent(sum) + 1) << 52);
            // Take two steps fewer than fit, because the quotient is rounded and the last steps may
            // leave the octave. Later plain additions take the last steps.
            let below = (((power - sum) / step) as u64).saturating_sub(2).min(times);
            sum += below as f64 * step;
            times -= below;
        }
    }
    (0..times).for_each(|_| sum += term);
    sum
}

/// Returns the exponent bits of a floating-point number that is not negative.
#[inline]
fn exponent(number: f64) -> u64 {
    number.to_bits() >> 52
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_repeatedly_is_the_plain_loop() {
        let ulp = |number: f64| number.next_up() - number;
        let mut terms = vec![
            0.0,
            f64::MIN_POSITIVE,
            5e-324,
            1.0,
            1.5,
            0.1,
            0.3,
            1e-17,
            2.0 / 3.0,
            3.5e15,
            1e300,
            f64::MAX,
        ];
        let mut sums = vec![0.0, 5e-324, 0.7, 1.0, 3.0, 1e16, f64::MAX];
        // Ties of either parity, and what is next to them.
        for sum in [1.0, 1.0f64.next_up(), 1.75, 1.99, 2f64.next_down(), 3.3, 1048575.9] {
            sums.push(sum);
            for units in [0.25, 0.5, 1.0, 1.5, 2.5, 3.5, 1e13, 1e13 + 0.5] {
                let term = units * ulp(sum);
                terms.extend([term.next_down(), term, term.next_up()]);
            }
        }
        let mut state = 1u64;
        for _ in 0..60 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            terms.push((state >> 11) as f64 / (1u64 << (20 + state % 40)) as f64);
            sums.push((state >> 40) as f64 / 4096.0);
        }
        for &term in &terms {
            for &sum in &sums {
                let mut plain = sum;
                for times in 0..70 {
                    let found = add_repeatedly(sum, term, times);
                    assert_eq!(
                        found.to_bits(),
                        plain.to_bits(),
                        "{sum:e} + {times} times {term:e}"
                    );
                    plain += term;
                }
                (70..1500).for_each(|_| plain += term);
                assert_eq!(
                    add_repeatedly(sum, term, 1500).to_bits(),
                    plain.to_bits(),
                    "{sum:e}, {term:e}"
                );
            }
        }
        assert_eq!(add_repeatedly(0.0, 1.0, 1 << 28), (1u64 << 28) as f64);
    }
}

//! The expected number of wrong definitions that print a reported number by chance, from the
//! density of values around the number.
//!
//! ```text
//! λ = 20·tol / r₂₀      tol   half a unit of the last digit
//!                       r₂₀   the distance from the number to the 20th nearest other class, or the
//!                             last if there are fewer
//! ```
//!
//! 20 classes lie within r₂₀ on either side of the number, so an interval of ±tol around the number
//! holds 20·tol / r₂₀ of these classes. The λ of numbers of one measure at several cutoffs
//! multiply.

/// The number of classes from which the density is taken.
const NEAR: usize = 20;

/// Returns the expected number of wrong classes of definitions that print a reported number by
/// chance. `off` holds the distance of each wrong class from the number.
pub(super) fn chance(mut off: Vec<f64>, tolerance: f64) -> f64 {
    if off.is_empty() {
        return 0.0;
    }
    let at = NEAR.min(off.len()) - 1;
    let (_, reach, _) = off.select_nth_unstable_by(at, f64::total_cmp);
    // The nearest classes all have exactly the number as their mean, so their density is infinite.
    if *reach <= 0.0 { f64::INFINITY } else { NEAR as f64 * tolerance / *reach }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_density_times_tolerance() {
        let even: Vec<f64> = (1..=100).map(|at| f64::from(at) * 0.001).collect();
        assert!((chance(even.clone(), 0.0005) - 0.5).abs() < 1e-12);
        assert!((chance(even[..4].to_vec(), 0.0005) - 20.0 * 0.0005 / 0.004).abs() < 1e-12);
        assert_eq!(chance(Vec::new(), 0.1), 0.0);
        assert_eq!(chance(vec![0.0; 30], 0.1), f64::INFINITY);
    }
}

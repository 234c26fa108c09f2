//! Powers by running product, 1·p·p·…, as programs have them that multiply once at each rank.
//! `powi` has other last digits.
//!
//! trec_eval's and others' loops multiply by p once a rank, so the n-th power has been rounded n
//! times. A closed form is nearer to the true power, and therefore another number.

use std::sync::OnceLock;

/// The number of powers in a table. Those of longer rankings go on from its last.
const TABLED: usize = 1 << 14;

/// The powers of a number p by running product, as trec_eval and others weight ranks.
pub struct Powers {
    p: f64,
    /// The first powers, made when one is asked for.
    first: OnceLock<Vec<f64>>,
}

impl Powers {
    /// Prepares the powers of `p`, whose table is made when one is asked for.
    pub fn new(p: f64) -> Self {
        Self { p, first: OnceLock::new() }
    }

    /// Returns p to the power n, by repeated multiplication.
    pub fn at(&self, n: usize) -> f64 {
        let first = self.first.get_or_init(|| {
            let powers = std::iter::successors(Some(1.0), |&power| Some(power * self.p));
            powers.take(TABLED).collect()
        });
        match first.get(n) {
            Some(&power) => power,
            None => (TABLED - 1..n).fold(first[TABLED - 1], |power, _| power * self.p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_running_products() {
        for p in [0.0, 0.5, 0.9, 0.9999, 1.0] {
            let (powers, mut power) = (Powers::new(p), 1.0);
            for n in 0..TABLED + 100 {
                assert_eq!(powers.at(n), power, "{p} to the power {n}");
                power *= p;
            }
        }
        let powers = Powers::new(0.9);
        assert!(
            (1..1000).any(|n| powers.at(n) != 0.9f64.powi(n as i32)),
            "or a table is not needed"
        );
    }
}

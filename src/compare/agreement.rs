//! Coefficients of agreement between two rankings of the same systems: τ_b, τ_AP and rank-biased
//! overlap. A ranking gives a number to each system: higher is better, and numbers that are equal
//! within [rounding](crate::stats::rounding) are tied.
//!
//! All three coefficients are 1 for the same ranking. The coefficients differ in the cost of an
//! exchange of two systems:
//!
//! ```text
//! τ_b      every pair of systems alike;
//!          tied pairs leave the denominator of the ranking that ties them
//! τ_AP     a system's share of the systems above it that belong there:
//!          exchanges at the top hit more shares
//! RBO      overlap of the first d systems, weighted by (1 − p)·p^(d−1):
//!          a reader who goes on with chance p sees 1/(1 − p) systems
//! ```
//!
//! Numbers are settled first: numbers that are equal on paper are made equal. Otherwise ties would
//! depend on the last bit of an average. All m² pairs of systems are compared directly: m is tens
//! or hundreds, and the number of queries does not matter here.

use std::cmp::Ordering;

use crate::stats::rounding::snap_equal;

/// Returns the order of two numbers, neither of which may be NaN.
fn order(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).expect("a number")
}

/// Returns Kendall's rank correlation τ_b of two rankings of systems (Kendall 1945); `None` if all
/// systems of one are tied.
pub fn tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    let [x, y] = [x, y].map(snap_equal);
    let (mut agree, mut of_x, mut of_y) = (0i64, 0i64, 0i64);
    for j in 1..x.len() {
        for i in 0..j {
            // An `Ordering` is −1, 0 or 1 as a number, so a product is 1 for a pair in one order.
            let [a, b] = [&x, &y].map(|values| order(values[i], values[j]) as i64);
            agree += a * b;
            of_x += a.abs();
            of_y += b.abs();
        }
    }
    (of_x > 0 && of_y > 0).then(|| agree as f64 / (of_x as f64 * of_y as f64).sqrt())
}

/// Returns the rank correlation τ_AP of an estimated ranking of systems with the true one, in which
/// the top matters most (Yilmaz, Aslam and Robertson 2008). Each of several systems that are tied
/// in the estimate is compared with the systems above all of them. `None` if all systems are tied.
pub fn tau_ap(truth: &[f64], estimate: &[f64]) -> Option<f64> {
    let [truth, estimate] = [truth, estimate].map(snap_equal);
    let (mut shares, mut count) = (0.0, 0usize);
    for (&of_truth, &of_estimate) in truth.iter().zip(&estimate) {
        let (mut above, mut rightly) = (0usize, 0usize);
        for (&other, _) in truth.iter().zip(&estimate).filter(|other| *other.1 > of_estimate) {
            above += 1;
            rightly += usize::from(other > of_truth);
        }
        // With ties the systems above are not rank − 1: a group's members are not above one
        // another. The mean is over the systems that have any above.
        if above > 0 {
            shares += rightly as f64 / above as f64;
            count += 1;
        }
    }
    (count > 0).then(|| 2.0 * shares / count as f64 - 1.0)
}

/// Returns τ_AP,b, the mean of τ_AP in both directions, for two rankings of which neither is the
/// truth (Urbano and Marrero 2017).
pub fn tau_ap_b(x: &[f64], y: &[f64]) -> Option<f64> {
    Some(tau_ap(x, y)?.midpoint(tau_ap(y, x)?))
}

/// The treatment of tied systems in the rank-biased overlap of two rankings (Corsi and Urbano
/// 2024).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RboTies {
    /// The order of tied systems is not known: the result is the expected overlap of all orders.
    #[default]
    A,
    /// The overlap under [`RboTies::A`], scaled so that a ranking and itself overlap by 1.
    B,
    /// Tied systems are equal: they share their first rank.
    W,
}

/// Returns the extrapolated rank-biased overlap of two rankings of systems with persistence `p`
/// between 0 and 1 (Webber, Moffat and Zobel 2010); `None` without systems.
pub fn rank_biased_overlap(x: &[f64], y: &[f64], p: f64, tie: RboTies) -> Option<f64> {
    let [x, y] = [x, y].map(|values| groups(&snap_equal(values)));
    let seen: f64 =
        (1..=x.len()).map(|depth| agreed_share(&x, &y, depth, tie) * p.powi(depth as i32)).sum();
    // Webber, Moffat and Zobel's extrapolation continues the last agreement, X_k/k · p^k. At full
    // depth all systems are in both, so the agreement is 1.
    (!x.is_empty()).then(|| (1.0 - p) / p * seen + p.powi(x.len() as i32))
}

/// Returns the agreement of two rankings on their first `depth` systems, from the first and the
/// last rank of each system's ties.
fn agreed_share(x: &[[usize; 2]], y: &[[usize; 2]], depth: usize, tie: RboTies) -> f64 {
    // Both rankings have the same systems, and orders of ties are independent between the rankings.
    // So `both` at a depth sums, over systems, the product of the two chances to be among the
    // first.
    let (mut both, mut of_x, mut of_y) = (0.0, [0.0; 2], [0.0; 2]);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (share(*x, depth, tie), share(*y, depth, tie));
        both += x * y;
        of_x = [of_x[0] + x, of_x[1] + x * x];
        of_y = [of_y[0] + y, of_y[1] + y * y];
    }
    match tie {
        RboTies::A => both / depth as f64,
        RboTies::B => both / (of_x[1] * of_y[1]).sqrt(),
        RboTies::W => 2.0 * both / (of_x[0] + of_y[0]),
    }
}

/// Returns, for each system, the first and the last rank of the systems tied with it.
fn groups(values: &[f64]) -> Vec<[usize; 2]> {
    let groups = values.iter().map(|number| {
        let above = values.iter().filter(|other| *other > number).count();
        [above + 1, above + values.iter().filter(|other| *other == number).count()]
    });
    groups.collect()
}

/// Returns the share, from 0 to 1, of a system that is among the first `depth`, from the first and
/// the last rank of its ties.
fn share([first, last]: [usize; 2], depth: usize, tie: RboTies) -> f64 {
    match tie {
        _ if depth < first => 0.0,
        // Under W a whole group has its first rank, so a depth that reaches the rank has them all.
        _ if depth >= last || tie == RboTies::W => 1.0,
        _ => (depth - first + 1) as f64 / (last - first + 1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIES: [RboTies; 3] = [RboTies::A, RboTies::B, RboTies::W];

    /// Both systems of the first ranking have the mean 0.2, of 0.6, 0, 0 and of 0.2, 0.4, 0.
    #[test]
    fn what_is_equal_on_paper_is_tied() {
        let (means, tied) =
            ([(0.6 + 0.0 + 0.0) / 3.0, (0.2 + 0.4 + 0.0) / 3.0, 0.1], [0.2, 0.2, 0.1]);
        assert_ne!(means[0], means[1]);
        for other in [[1.0, 2.0, 3.0], [0.3, 0.2, 0.1], [0.1, 0.1, 0.2]] {
            assert_eq!(tau_b(&means, &other), tau_b(&tied, &other));
            assert_eq!(tau_ap(&means, &other), tau_ap(&tied, &other));
            assert_eq!(tau_ap_b(&other, &means), tau_ap_b(&other, &tied));
            for tie in TIES {
                let overlap = |values: &[f64]| rank_biased_overlap(values, &other, 0.9, tie);
                assert_eq!(overlap(&means), overlap(&tied));
            }
        }
    }

    #[test]
    fn equal_and_opposite_rankings() {
        let (up, down) = ([1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0]);
        for (other, agreement) in [(up, 1.0), (down, -1.0)] {
            let found = [tau_b(&up, &other), tau_ap(&up, &other), tau_ap_b(&up, &other)];
            assert_eq!(found, [Some(agreement); 3]);
        }
        for tie in TIES {
            assert!((rank_biased_overlap(&up, &up, 0.9, tie).unwrap() - 1.0).abs() < 1e-15);
        }
        // Depths 1 to 4 agree on 0, 0, 2 of 3 and all.
        let known = 0.25 * (2.0 / 3.0 * 0.8f64.powi(3) + 0.8f64.powi(4)) + 0.8f64.powi(4);
        for tie in TIES {
            assert!((rank_biased_overlap(&up, &down, 0.8, tie).unwrap() - known).abs() < 1e-15);
        }
    }

    /// One exchange at the top matters more than one at the bottom.
    #[test]
    fn the_top_matters_most() {
        let truth = [4.0, 3.0, 2.0, 1.0];
        let (top, bottom) = ([3.0, 4.0, 2.0, 1.0], [4.0, 3.0, 1.0, 2.0]);
        assert_eq!(tau_b(&truth, &top), tau_b(&truth, &bottom));
        assert!((tau_ap(&truth, &top).unwrap() - (2.0 / 3.0 * 2.0 - 1.0)).abs() < 1e-15);
        assert!(
            (tau_ap(&truth, &bottom).unwrap() - (2.0 / 3.0 * (2.0 + 2.0 / 3.0) - 1.0)).abs()
                < 1e-15
        );
    }

    #[test]
    fn ties_alone_agree_with_nothing() {
        let (tied, other) = ([0.5; 3], [1.0, 2.0, 3.0]);
        for (x, y) in [(tied, other), (other, tied), (tied, tied)] {
            assert_eq!((tau_b(&x, &y), tau_ap_b(&x, &y)), (None, None));
        }
        assert_eq!((tau_ap(&other, &tied), tau_ap(&tied, &other)), (None, Some(-1.0)));
        assert_eq!((tau_b(&[], &[]), tau_ap(&[1.0], &[1.0])), (None, None));
        assert_eq!(rank_biased_overlap(&[], &[], 0.9, RboTies::A), None);
        assert_eq!(tau_b(&[0.0, -0.0], &[1.0, 2.0]), None, "0 and −0 are tied");
        // A tie agrees with itself fully, unless its order is taken to be unknown.
        let known =
            [(RboTies::A, 0.25 * (0.5 * 0.8 + 0.64) + 0.64), (RboTies::B, 1.0), (RboTies::W, 1.0)];
        for (tie, known) in known {
            let found = rank_biased_overlap(&[0.5; 2], &[0.5; 2], 0.8, tie).unwrap();
            assert!((found - known).abs() < 1e-15, "{tie:?}: {found}");
        }
    }

    proptest! {
        #[test]
        fn agreement(both in proptest::collection::vec((0..6u8, 0..6u8), 1..12)) {
            let (x, y): (Vec<f64>, Vec<f64>) =
                both.iter().map(|(x, y)| (f64::from(*x), f64::from(*y))).unzip();
            prop_assert_eq!(tau_b(&x, &y), tau_b(&y, &x));
            prop_assert_eq!(tau_ap_b(&x, &y), tau_ap_b(&y, &x));
            for tau in [tau_b(&x, &y), tau_ap(&x, &y), tau_ap_b(&x, &y)].into_iter().flatten() {
                prop_assert!((-1.0..=1.0).contains(&tau), "{}", tau);
            }
            for tie in TIES {
                let found = rank_biased_overlap(&x, &y, 0.9, tie).unwrap();
                prop_assert!((0.0..=1.0 + 1e-12).contains(&found));
                prop_assert!(
                    (found - rank_biased_overlap(&y, &x, 0.9, tie).unwrap()).abs() < 1e-14
                );
            }
        }

        /// The expected overlap of all orders of ties is the mean over them.
        #[test]
        fn tied_overlaps_are_means(x in proptest::collection::vec(0..3u8, 1..6)) {
            let fixed: Vec<f64> = (0..x.len()).map(|at| ((at * 7 + 3) % 11) as f64).collect();
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            let mut orders = vec![vec![]];
            for _ in 0..x.len() {
                orders = orders.into_iter().flat_map(|order: Vec<usize>| {
                    let rest: Vec<usize> = (0..x.len()).filter(|at| !order.contains(at)).collect();
                    rest.into_iter().map(move |at| [order.clone(), vec![at]].concat())
                }).collect();
            }
            let all: f64 = orders.iter().map(|order| {
                let broken: Vec<f64> =
                    (0..x.len()).map(|at| x[at] + 0.01 * order[at] as f64).collect();
                rank_biased_overlap(&broken, &fixed, 0.9, RboTies::A).unwrap()
            }).sum();
            let found = rank_biased_overlap(&x, &fixed, 0.9, RboTies::A).unwrap();
            prop_assert!((found - all / orders.len() as f64).abs() < 1e-12);
        }
    }
}

//! Corrections of p for many comparisons: Bonferroni, Holm, Benjamini–Hochberg and
//! Benjamini–Yekutieli.
//!
//! A family is corrected as a whole, in any order. A missing p stays missing and is not counted.
//!
//! ```text
//! p ascending          p₁        p₂         …  p_m
//! Bonferroni           m·p₁      m·p₂          m·p_m                    the chance of any error:
//!                                                                       at most α
//! Holm                 m·p₁    ≤ (m−1)·p₂ ≤ …  1·p_m    from the left   the same, and no p is
//!                                                                       larger than Bonferroni's
//! Benjamini, Hochberg  m/1·p₁  ≤ m/2·p₂   ≤ …  m/m·p_m  from the right  the share of errors among
//!                                                                       what is found: at most α
//! ```
//!
//! Holm's procedure stops at the first hypothesis that stands, so its p must not descend. The
//! procedure of Benjamini and Hochberg looks for the last hypothesis that falls, and rejects every
//! hypothesis before it. So Holm's p is a running maximum from the left, and the p of Benjamini and
//! Hochberg a running minimum from the right. Equal p get equal results either way, so how a sort
//! orders equal p does not matter.

use crate::sort;

/// Multiplies each p of a family by the number of p (Bonferroni), up to 1.
pub fn bonferroni(family: &[Option<f64>]) -> Vec<Option<f64>> {
    let all = family.iter().flatten().count() as f64;
    family.iter().map(|p| p.map(|p| (all * p).min(1.0))).collect()
}

/// Corrects the p of a family by Holm's procedure (1979): m times the smallest of m p, m − 1 times
/// the next p, and so on. No result is smaller than the result before.
pub fn holm(family: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut most = 0.0f64;
    adjusted(family, |sorted| {
        let all = sorted.len();
        sorted.iter_mut().enumerate().for_each(|(at, p)| {
            most = most.max((all - at) as f64 * *p).min(1.0);
            *p = most;
        });
    })
}

/// Corrects the p of a family for the false discovery rate (Benjamini and Hochberg 1995): m / j
/// times the p of rank j of m, and none larger than the one after.
pub fn benjamini_hochberg(family: &[Option<f64>]) -> Vec<Option<f64>> {
    adjusted(family, |sorted| discoveries(sorted, 1.0))
}

/// Corrects the p of a family for the false discovery rate under any dependence (Benjamini and
/// Yekutieli 2001): each p of Benjamini and Hochberg times 1 + 1/2 + … + 1/m, at most 1.
pub fn benjamini_yekutieli(family: &[Option<f64>]) -> Vec<Option<f64>> {
    adjusted(family, |sorted| {
        // From the smallest term up, which loses the least.
        let harmonic = (1..=sorted.len()).rev().map(|j| 1.0 / j as f64).sum();
        discoveries(sorted, harmonic);
    })
}

fn discoveries(sorted: &mut [f64], factor: f64) {
    let (all, mut least) = (sorted.len() as f64, 1.0f64);
    // The factor of p is 1 or more after rounding too, so that no p becomes smaller.
    for (at, p) in sorted.iter_mut().enumerate().rev() {
        least = least.min(factor * (all / (at + 1) as f64) * *p);
        *p = least;
    }
}

/// Applies a correction to the known p of a family in ascending order, and returns all p in the
/// order of the family.
fn adjusted(family: &[Option<f64>], correct: impl FnOnce(&mut [f64])) -> Vec<Option<f64>> {
    let mut places: Vec<usize> = (0..family.len()).filter(|&at| family[at].is_some()).collect();
    sort::by_number(&mut places, |&at| family[at].expect("p is there"));
    let mut sorted: Vec<f64> = places.iter().filter_map(|&at| family[at]).collect();
    correct(&mut sorted);
    let mut all = vec![None; family.len()];
    places.into_iter().zip(sorted).for_each(|(at, p)| all[at] = Some(p));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Correction = fn(&[Option<f64>]) -> Vec<Option<f64>>;
    const ALL: [Correction; 4] = [bonferroni, holm, benjamini_hochberg, benjamini_yekutieli];

    #[test]
    fn what_is_absent_is_not_counted() {
        let some = [0.01, 0.04, 0.03].map(Some);
        let gaps = [None, some[0], None, some[1], some[2], None];
        for correct in ALL {
            let (whole, found) = (correct(&some), correct(&gaps));
            assert_eq!(found, [None, whole[0], None, whole[1], whole[2], None]);
            assert_eq!(correct(&[]), []);
            assert_eq!(correct(&[None, None]), [None, None]);
            assert_eq!(correct(&[None, Some(0.2)]), [None, Some(0.2)]);
        }
    }

    #[test]
    fn small_families() {
        let family = [0.04, 0.01, 0.03].map(Some);
        let near = |found: Vec<Option<f64>>, known: [f64; 3]| {
            for (found, known) in found.iter().zip(known) {
                assert!((found.unwrap() - known).abs() < 1e-15, "{found:?} is not {known}");
            }
        };
        near(bonferroni(&family), [0.12, 0.03, 0.09]);
        near(holm(&family), [0.06, 0.03, 0.06]);
        near(benjamini_hochberg(&family), [0.04, 0.03, 0.04]);
        near(benjamini_yekutieli(&family), [0.04, 0.03, 0.04].map(|p| p * 11.0 / 6.0));
        for correct in ALL {
            assert_eq!(correct(&[Some(1.0), Some(1.0)]), [Some(1.0); 2]);
            assert_eq!(correct(&[Some(0.0), Some(0.0)]), [Some(0.0); 2]);
        }
    }

    proptest! {
        /// Another order of p changes only the order of the results. No result is smaller than its
        /// p, or larger than 1; equal p stay equal; Holm is below Bonferroni, and Benjamini and
        /// Hochberg below Holm.
        #[test]
        fn families(p in proptest::collection::vec(proptest::option::of(0u32..40), 0..30)) {
            let family: Vec<Option<f64>> =
                p.iter().map(|p| p.map(|p| f64::from(p) / 40.0)).collect();
            for correct in ALL {
                let found = correct(&family);
                let reversed: Vec<Option<f64>> = family.iter().rev().copied().collect();
                prop_assert_eq!(
                    correct(&reversed),
                    found.iter().rev().copied().collect::<Vec<_>>()
                );
                for (i, (p, adjusted)) in family.iter().zip(&found).enumerate() {
                    prop_assert_eq!(p.is_some(), adjusted.is_some());
                    prop_assert!(adjusted >= p && adjusted.is_none_or(|p| p <= 1.0));
                    for (j, other) in family.iter().enumerate() {
                        prop_assert!(other != p || found[i] == found[j]);
                        prop_assert!(other.is_none() || p >= other || found[i] <= found[j]);
                    }
                }
            }
            let [strict, holm, discoveries] =
                [bonferroni, holm, benjamini_hochberg].map(|correct| correct(&family));
            prop_assert!(strict.iter().zip(&holm).all(|(strict, holm)| holm <= strict));
            prop_assert!(
                holm.iter()
                    .zip(&discoveries)
                    .all(|(holm, discoveries)| discoveries.map(|p| p - 1e-12) <= *holm)
            );
        }
    }
}

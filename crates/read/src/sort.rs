//! Sorts of slices that compile to little code, for places where the speed of sorting is not felt.
//!
//! The sorts of slices are compiled anew for each closure that compares: four to seven kilobytes of
//! machine code each, and a share of the time that a build takes. Here the places of things are
//! sorted by their keys, which is compiled once, and then the things are put there. Where many
//! things are sorted, or a few very often, `slice::sort_by` is right: it takes no memory besides,
//! and no call for each comparison.

use std::cmp::Ordering;

/// Sorts a slice by a number of each item, in the order of [`f64::total_cmp`]. The sort is stable,
/// and the key `-key` reverses the order.
pub fn by_number<T>(things: &mut [T], key: impl Fn(&T) -> f64) {
    let keys: Vec<f64> = things.iter().map(key).collect();
    let places = places(things.len(), &mut |one, other| keys[*one].total_cmp(&keys[*other]));
    arrange(things, places);
}

/// Sorts a slice by a comparison of two items. The sort is stable.
pub fn by<T>(things: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let places = places(things.len(), &mut |one, other| compare(&things[*one], &things[*other]));
    arrange(things, places);
}

/// Sorts gains, each with the number of documents that have it, the largest first.
pub fn largest_first(gains: &mut [(f64, u32)]) {
    gains.sort_by(|one, other| other.0.total_cmp(&one.0));
}

/// Returns the indices of `count` items in sorted order, by a comparison of two indices.
fn places(count: usize, compare: &mut dyn FnMut(&usize, &usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(compare);
    places
}

/// Reorders a slice: moves `things[places[i]]` to `things[i]`, for every index `i`.
fn arrange<T>(things: &mut [T], mut places: Vec<usize>) {
    for start in 0..places.len() {
        // Round a cycle of places; each is marked as done by naming itself.
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut places[at], at);
            if from == start {
                break;
            }
            things.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_stable_sort_of_slices(
            mut things in prop::collection::vec((0..9i32, any::<u8>()), 0..80),
        ) {
            let (mut by_key, mut by_closure) = (things.clone(), things.clone());
            by_number(&mut by_key, |thing| -f64::from(thing.0));
            by(&mut by_closure, |one, other| other.0.cmp(&one.0));
            things.sort_by_key(|thing| std::cmp::Reverse(thing.0));
            prop_assert_eq!(&by_key, &things);
            prop_assert_eq!(&by_closure, &things);
        }
    }

    #[test]
    fn numbers_are_in_their_total_order() {
        let mut numbers =
            [f64::NAN, 1.0, 0.0, f64::INFINITY, -0.0, -1.0, f64::NEG_INFINITY, -f64::NAN];
        let mut expected = numbers;
        expected.sort_by(f64::total_cmp);
        by_number(&mut numbers, |number| *number);
        assert_eq!(numbers.map(f64::to_bits), expected.map(f64::to_bits));
    }
}

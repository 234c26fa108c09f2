//! Hashes of the values of queries, which add up to one hash by which equal definitions are found.
//!
//! A digest is a sum over queries, modulo 2¹²⁸, of a hash of query and value. So threads and parts
//! of a run may come in any order, and the effect of a policy on some queries is a difference of
//! sums.

/// The bits that stand for a query without a value; no value has them.
const LEFT_OUT: u64 = u64::MAX;

/// Returns the hash of a query's index, under which its value enters a digest. Consecutive queries
/// need unrelated keys. Hashes are odd, so the key 0 is free to mark a query that does not count.
pub(super) fn key(query: usize) -> u64 {
    // The finaliser of SplitMix64.
    let mut key = (query as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (key ^ key >> 31) | 1
}

/// Returns the hash of a query and its value, to be summed into a definition's digest.
#[inline]
pub(super) fn value_digest(key: u64, value: f64) -> u128 {
    // −0 and 0 are one value.
    digest(key, (value + 0.0).to_bits())
}

/// Returns the hash of a query without a value, to be summed into a definition's digest.
pub(super) fn no_value_digest(key: u64) -> u128 {
    digest(key, LEFT_OUT)
}

#[inline]
fn digest(key: u64, bits: u64) -> u128 {
    if key == 0 {
        return 0;
    }
    let product = u128::from(bits ^ key) * u128::from(key.rotate_left(29) | 1);
    let folded = (product >> 64) as u64 ^ product as u64;
    u128::from(folded) * u128::from(folded ^ 0xa076_1d64_78bd_642f)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn digests_differ() {
        let mut seen = HashSet::new();
        for query in 0..1000 {
            let key = key(query);
            for hits in 0..100 {
                assert!(seen.insert(value_digest(key, f64::from(hits) / 100.0)));
            }
            assert!(seen.insert(no_value_digest(key)));
            assert_eq!(value_digest(key, 0.0), value_digest(key, -0.0));
        }
        assert_eq!((value_digest(0, 0.5), no_value_digest(0)), (0, 0));
    }

    #[test]
    fn sums_of_exchanged_values_differ() {
        let mut seen = HashSet::new();
        for one in 0..200 {
            for other in 0..200 {
                let values = [one, other].map(|hits| f64::from(hits) / 200.0);
                let sum =
                    value_digest(key(1), values[0]).wrapping_add(value_digest(key(2), values[1]));
                assert!(seen.insert(sum), "{one} {other}");
            }
        }
    }
}

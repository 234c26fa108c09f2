// PreferenceSum: a hit adds `1 - min(b, cap) / bound`, another judged label `b += 1`.
//
// The shares have one divisor a row: the hits and the sum of the min(b, cap) are counted, and the host divides once.

struct PreferenceSum {
    others: u32,
    hits: u32,
    // At most hits · others < 2^32 in 2^16 ranks.
    preferred: u32,
}

fn preference_sum(state: PreferenceSum, hit: bool, cap: u32) -> PreferenceSum {
    if hit {
        return PreferenceSum(state.others, state.hits + 1u, state.preferred + min(state.others, cap));
    }
    return PreferenceSum(state.others + 1u, state.hits, state.preferred);
}

// PrecisionSum: `h += 1; s += h / i` where the code is in the set.
//
// The table holds 2^63 / i, rounded; a term is h times that, rounded to units of 2^(bits - 63). Depths below 2^16 only.

struct PrecisionSum {
    hits: u32,
    sum: vec2<u32>,
}

fn precision_sum(state: PrecisionSum, rank: u32, reciprocals: u32, bits: u32) -> PrecisionSum {
    let hits = state.hits + 1u;
    let quotient = scaled(hits, table64(reciprocals + 2u * (rank - 1u)));
    return PrecisionSum(hits, add(state.sum, rounded(quotient, bits)));
}

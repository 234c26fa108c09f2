// PairSum: a hit does `h += 1; s += i - h`. At most 2^30 pairs in 2^16 ranks.

struct PairSum {
    hits: u32,
    pairs: u32,
}

fn pair_sum(state: PairSum, rank: u32) -> PairSum {
    return PairSum(state.hits + 1u, state.pairs + rank - state.hits - 1u);
}

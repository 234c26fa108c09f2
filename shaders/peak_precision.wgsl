// PeakPrecision: the largest h / i from the cap-th hit on, for each of several caps of the row, ascending.
//
// A precision is kept as a fraction, h in the low half of a word and i in the high one, so nothing is rounded. Each column first takes the
// peak between its cap and the next; at the end each takes the largest of its own and those below.

struct PeakPrecision {
    hits: u32,
    // The number of caps that were reached.
    reached: u32,
    // The peak since the last cap was reached.
    peak: u32,
}

// The fraction 0 / 1.
const NO_PRECISION = 0x10000u;

// h/i > g/j exactly if h * j > g * i. Both products are below 2^32, since ranks are below 2^16: the comparison has no rounding.
fn larger(a: u32, b: u32) -> u32 {
    let more = (b & 0xffffu) * (a >> 16u) > (a & 0xffffu) * (b >> 16u);
    return select(a, b, more);
}

fn peak_precision_start(column: u32, caps: u32, slot: u32) -> PeakPrecision {
    for (var cap = 0u; cap < caps; cap++) {
        put(column + cap, slot, NO_PRECISION);
    }
    return PeakPrecision(0u, 0u, NO_PRECISION);
}

fn peak_precision_hit(state: PeakPrecision) -> PeakPrecision {
    return PeakPrecision(state.hits + 1u, state.reached, state.peak);
}

// Whether this hit reaches a further cap; `first` is the first input with a cap. A hit may reach several, because caps may be equal.
fn peak_precision_is_due(state: PeakPrecision, first: u32, caps: u32, slot: u32) -> bool {
    return state.reached < caps && state.hits >= input(first + state.reached, slot);
}

fn peak_precision_reach(state: PeakPrecision, column: u32, slot: u32) -> PeakPrecision {
    if state.reached > 0u {
        put(column + state.reached - 1u, slot, state.peak);
    }
    return PeakPrecision(state.hits, state.reached + 1u, NO_PRECISION);
}

fn peak_precision_at(state: PeakPrecision, rank: u32) -> PeakPrecision {
    return PeakPrecision(state.hits, state.reached, larger(state.peak, state.hits | (rank << 16u)));
}

fn peak_precision_end(state: PeakPrecision, column: u32, slot: u32) {
    var peak = state.peak;
    for (var cap = state.reached; cap > 0u; cap--) {
        if cap < state.reached {
            // Of equal fractions the earlier one.
            peak = larger(taken(column + cap - 1u, slot), peak);
        }
        put(column + cap - 1u, slot, peak);
    }
}

// InferredSum: a hit adds the precision expected there, `(1 + (a + b + u) · (a + ε) / (a + b + 2ε)) / i`, below a hits, b other
// judged labels and u pooled ones without a judgment.
//
// In units of 2^-63, then of the sum: the tables hold 1 / i, 1 / (j + 2ε) and ε / (j + 2ε) for j = a + b. Depths below 2^16 only.

struct InferredSum {
    hits: u32,
    others: u32,
    unjudged: u32,
    sum: vec2<u32>,
}

// The code of a pooled document without a judgment.
const NEGATIVE = 2u;

// (a + e) / (j + 2e) is a * (1 / (j + 2e)) + e / (j + 2e), both from tables: no division runs on the device.
fn inferred_sum(state: InferredSum, rank: u32, code: u32, above: u32, reciprocals: u32, shares: u32, bits: u32) -> InferredSum {
    var next = state;
    if code == NEGATIVE {
        next.unjudged++;
    } else if code <= above {
        next.others++;
    } else {
        let judged = state.hits + state.others;
        let relevant = add(scaled(state.hits, table64(shares + 4u * judged)), table64(shares + 4u * judged + 2u));
        let reciprocal = table64(reciprocals + 2u * (rank - 1u));
        let pooled = scaled(judged + state.unjudged, reciprocal);
        next.sum = add(state.sum, rounded(add(reciprocal, share(relevant, pooled)), bits));
        next.hits++;
    }
    return next;
}

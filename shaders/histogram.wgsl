// Histogram: `n[c] += 1`, one column a code. Labels are counted in the columns themselves, because only the row's own invocation writes to
// them. The state is the first column.

fn histogram_start(column: u32, codes: u32, slot: u32) -> u32 {
    for (var code = 0u; code < codes; code++) {
        put(column + code, slot, 0u);
    }
    return column;
}

// A label may be any byte; those beyond the codes are not counted.
fn histogram(column: u32, code: u32, codes: u32, slot: u32) {
    if code < codes {
        put(column + code, slot, taken(column + code, slot) + 1u);
    }
}

// Cascade: `s += p · stop[c] · discount(i); p *= 1 - stop[c]`, from p = 1.
//
// All numbers stand for 0 to 1 in units of 2^-63. The table holds stop · discount, `[rank][code from the first that stops]`;
// another holds 1 - stop by code.

// 1 is 0x80000000 in the high word: it is representable, so that a first document keeps its whole term.
struct Cascade {
    reaches: vec2<u32>,
    sum: vec2<u32>,
}

fn cascade_start() -> Cascade {
    return Cascade(vec2(0u, 0x80000000u), vec2(0u));
}

fn cascade(state: Cascade, at: u32, goes_on: u32) -> Cascade {
    let term = share(state.reaches, table64(at));
    return Cascade(share(state.reaches, table64(goes_on)), add(state.sum, term));
}

//! How much a test tries of what it could try.
//!
//! By default a quarter or less, so that nobody waits for long; all of it with
//! `LANEVAL_ALL_CASES=1`, which `.ci/run` sets, but of what takes a tenth of a second each no more
//! than its test has time for.

/// Returns whether everything is tried.
fn all() -> bool {
    std::env::var("LANEVAL_ALL_CASES").is_ok_and(|set| !matches!(&*set, "" | "0"))
}

/// Returns the number of random cases, of this many.
#[allow(dead_code)] // not every test binary has random cases
pub fn cases(most: u32) -> u32 {
    if all() { most } else { most.div_ceil(4) }
}

/// Returns a size or a number of what is tried: by default `few`, or `all`.
#[allow(dead_code)] // not every test binary has sizes
pub fn by_default<T>(few: T, all_of_it: T) -> T {
    if all() { all_of_it } else { few }
}

/// Of things that are counted out one by one, those that are tried: all, or every fifth (five, so
/// that of bits in bytes each has its turn).
#[allow(dead_code)] // not every test binary counts
pub fn some<I: Iterator>(things: I) -> std::iter::StepBy<I> {
    things.step_by(if all() { 1 } else { 5 })
}

/// Returns the same where each takes long: never more than `most`.
#[allow(dead_code)] // not every test binary has such
pub fn few<I: ExactSizeIterator>(things: I, most: usize) -> std::iter::StepBy<I> {
    // An odd step, so that of bits in bytes each has its turn.
    let step = things.len().div_ceil(most) | 1;
    things.step_by(if all() { step } else { 5 * step })
}

//! Helpers that the tests of several modules share.

use fearless_simd::Level;
use laneval::parts::engine::cpu::Cpu;

use crate::bytes::input::Input;

/// Returns a text in memory as an input.
pub fn input(name: &str, bytes: impl Into<Vec<u8>>) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: bytes.into() }
}

/// Returns the levels of SIMD that this processor has.
pub fn levels() -> impl Iterator<Item = Level> {
    Cpu::levels().into_iter().map(|cpu| cpu.level())
}

/// Returns a source of numbers of 31 bits that are random enough for tests.
pub fn random(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

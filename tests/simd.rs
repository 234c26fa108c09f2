//! The levels of SIMD, as tests and benches ask for them.

use fearless_simd::Level;
use laneval::parts::engine::cpu::Cpu;

/// Returns every level of this kind of processor by name, the best first, the scalar fallback last;
/// `None` if this machine lacks it.
pub fn levels() -> Vec<(&'static str, Option<Cpu>)> {
    let mut levels = Cpu::known_levels();
    levels.retain(|(name, _)| *name != "fallback");
    levels.push(("fallback", Some(Cpu::at(Level::fallback()))));
    levels
}

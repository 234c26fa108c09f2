//! What must hold at every level of SIMD, once for each level.

use laneval::parts::engine::cpu::Cpu;
use libtest_mimic::{Failed, Trial};

use crate::simd::levels;
use crate::{agree, folds};

/// A name, and the test of a level.
type Test = (&'static str, fn(Cpu));

const TESTS: [Test; 6] = [
    ("agree::cpu_equals_reference", agree::cpu_equals_reference),
    ("folds::shallow_tiles", folds::shallow_tiles),
    ("folds::tiles_of_several_blocks", folds::tiles_of_several_blocks),
    ("folds::a_deep_tile", folds::a_deep_tile),
    ("folds::a_cutoff_at_every_rank", folds::a_cutoff_at_every_rank),
    ("folds::all_hits_at_all_ranks", folds::all_hits_at_all_ranks),
];

/// Returns the tests of each level, and those of none.
pub fn trials() -> Vec<Trial> {
    let required = std::env::var("LANEVAL_REQUIRE_LEVEL").unwrap_or_default();
    let mut levels = levels();
    for required in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if levels.iter().all(|(name, _)| *name != required) {
            levels.push((required.to_owned().leak(), None));
        }
    }
    let mut trials = vec![Trial::test("folds::histograms", || {
        folds::histograms();
        Ok(())
    })];
    for (level, cpu) in levels {
        let ignored = cpu.is_none() && required.split(',').all(|name| name.trim() != level);
        for (name, test) in TESTS {
            let run = move || {
                let lacks =
                    || Failed::from(format!("this machine has no {level}, which is required"));
                test(cpu.ok_or_else(lacks)?);
                Ok(())
            };
            trials.push(Trial::test(format!("{name}::{level}"), run).with_ignored_flag(ignored));
        }
    }
    trials
}

//! Tests that must pass at every level of SIMD, each once for each level.
//!
//! Levels that the machine lacks show as ignored. `LANEVAL_REQUIRE_LEVEL` lists levels, such as `avx512,avx2`, whose tests fail
//! then instead.

use std::process::ExitCode;

use laneval::internals::engine::cpu::Cpu;
use libtest_mimic::{Arguments, Failed, Trial};

mod agree;
#[path = "../compared.rs"]
mod compared;
mod folds;
#[path = "../matrices.rs"]
mod matrices;
#[path = "../simd.rs"]
mod simd;
#[path = "../variants.rs"]
mod variants;

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

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var("LANEVAL_REQUIRE_LEVEL").unwrap_or_default();
    let mut levels = simd::levels();
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
                let lacks = || Failed::from(format!("this machine has no {level}, which is required"));
                test(cpu.ok_or_else(lacks)?);
                Ok(())
            };
            trials.push(Trial::test(format!("{name}::{level}"), run).with_ignored_flag(ignored));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

//! Tests of what machines differ in: every level of SIMD, and a GPU.
//!
//! Each test of a level runs once for each level. Levels that the machine lacks show as ignored.
//! `LANEVAL_REQUIRE_LEVEL` lists levels, such as `avx512,avx2`, whose tests fail then instead.
//!
//! `LANEVAL_ADAPTER` names the adapter of the tests of a GPU (`llvmpipe` will do); without it any
//! GPU is taken, then any software adapter. Without an adapter they show as ignored, unless
//! `LANEVAL_REQUIRE_ADAPTER` is set: then they fail.

use std::process::ExitCode;

use libtest_mimic::Arguments;

mod agree;
#[path = "../cases.rs"]
mod cases;
#[path = "../compared.rs"]
mod compared;
mod folds;
#[cfg(feature = "gpu")]
#[path = "../forge.rs"]
mod forge;
#[cfg(feature = "gpu")]
mod gpu;
mod levels;
#[path = "../matrices.rs"]
mod matrices;
#[path = "../simd.rs"]
mod simd;
#[path = "../variants.rs"]
mod variants;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = levels::trials();
    #[cfg(feature = "gpu")]
    trials.extend(gpu::trials(&arguments));
    libtest_mimic::run(&arguments, trials).exit_code()
}

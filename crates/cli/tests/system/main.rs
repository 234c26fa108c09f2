//! The command and what is around it: an adapter, and on Linux a system that refuses.
//!
//! `LANEVAL_ADAPTER` names the adapter (`llvmpipe` will do); without it the first one is taken.
//! Where there is none its test shows as ignored, unless `LANEVAL_REQUIRE_ADAPTER` is set: then it
//! fails.

use std::process::ExitCode;

use libtest_mimic::Arguments;

#[cfg(feature = "gpu")]
mod adapter;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/cases.rs"]
mod cases;
#[cfg(target_os = "linux")]
mod faults;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    #[cfg(target_os = "linux")]
    trials.extend(faults::trials());
    #[cfg(feature = "gpu")]
    trials.extend(adapter::trials(&arguments));
    libtest_mimic::run(&arguments, trials).exit_code()
}

//! Lets the linker keep one of equal functions, which makes the wheel smaller by a hundredth.
//!
//! Rust makes a function anew for each type, and many come out as the same instructions. Only LLD
//! folds them. Rust links by LLD for x86-64 under Linux since version 1.90; elsewhere nothing is
//! asked of the linker.

use std::{env, process::Command};

/// The first version of Rust, 1.90, that links by LLD.
const FIRST: u32 = 90;

/// Returns the minor version of the compiler, which is 90 for Rust 1.90.2.
fn minor_version() -> Option<u32> {
    let version = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let version = String::from_utf8(version.stdout).ok()?;
    version.split('.').nth(1)?.parse().ok()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_linux = env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu");
    if is_linux && minor_version().is_some_and(|minor| minor >= FIRST) {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--icf=all");
    }
}

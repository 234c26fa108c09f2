//! The contents of judgments and runs, counted for `laneval info`.

pub mod judgments;
pub mod pair;
pub mod pair_report;
pub mod run;
pub mod spread;

use std::io::{self, Write};

/// Writes a line of `laneval info` for people: a name and a text.
pub fn field(to: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(to, "{name:<14} {text}")
}

//! The contents of judgments and runs, counted for `laneval info`.

pub mod both;
pub mod judgments;
pub mod pair;
pub mod run;
mod spread;

use std::io::{self, Write};

/// Writes a line of a description for people.
pub fn field(to: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(to, "{name:<14} {text}")
}

//! The `laneval` command.

fn main() {}

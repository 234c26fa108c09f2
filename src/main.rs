//! The `laneval` command: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;

mod cli;

/// 0: fine, or the reader of our output went away. 2: wrong usage or input, said on stderr.
fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stop.exit(),
    }
}

//! The `laneval` command: parse, run, exit code.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where nothing can be written

use std::process::ExitCode;

mod cli;

/// 0: fine, or the reader of our output went away. 2: wrong usage or input, or output that cannot be written, said on stderr;
/// `trec-eval` has codes of its own.
fn main() -> ExitCode {
    match cli::Cli::read(std::env::args_os()).map(cli::Cli::run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(stop)) => stop.exit(),
        Err(code) => code,
    }
}

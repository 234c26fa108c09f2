//! The `laneval` command: parse, run, exit code.

use std::process::ExitCode;

mod cli;

/// 0: fine, or the reader of our output went away. 2: wrong usage or input, said on stderr; `trec-eval` has codes of its own.
fn main() -> ExitCode {
    match cli::Cli::read(std::env::args_os()).map(cli::Cli::run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(stop)) => stop.exit(),
        Err(code) => code,
    }
}

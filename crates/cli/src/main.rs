//! The entry point of the command `laneval`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(laneval_cli::run(std::env::args_os()))
}

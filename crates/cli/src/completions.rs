//! `laneval completions`: a completion script, from the same definitions as the parser.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::output::print;
use super::stop::Stop;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  laneval completions bash > ~/.local/share/bash-completion/completions/laneval"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "laneval", &mut script);
        print(|to| to.write_all(&script))
    }
}

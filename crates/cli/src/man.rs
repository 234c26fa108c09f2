//! `laneval man`: manual pages, from the same definitions as the parser.

use clap::{Args, CommandFactory};

use super::Cli;
use super::output::print;
use super::stop::Stop;

/// Print a manual page.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  laneval man eval | man -l -")]
pub struct Man {
    /// A command; without it the page of laneval itself
    command: Option<String>,
}

impl Man {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let mut root = Cli::command();
        root.build();
        let command = match &self.command {
            None => root,
            Some(name) => {
                let names: Vec<&str> = root.get_subcommands().map(clap::Command::get_name).collect();
                let unknown = format!("there is no command `{name}`, but {}", names.join(", "));
                root.find_subcommand(name).ok_or_else(|| Stop::new(unknown))?.clone()
            }
        };
        let mut page = Vec::new();
        let version = concat!("laneval ", env!("CARGO_PKG_VERSION"));
        clap_mangen::Man::new(command).source(version).render(&mut page)?;
        print(|to| to.write_all(&page))
    }
}

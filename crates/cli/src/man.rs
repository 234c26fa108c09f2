//! `laneval man`: manual pages, from the same definitions as the parser.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::internals::whole_file;
use roff::{Roff, bold, roman};

use super::Cli;
use super::output::{self, print};
use super::stop::Stop;
use super::style::shown;

const EXAMPLES: &str = "\
Examples:
  laneval man eval | man -l -
  laneval man --dir ~/.local/share/man/man1";

/// Print a manual page, or write all of them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Man {
    /// The command; without it the page of laneval itself
    command: Option<String>,
    /// Write a page for each command into this folder, which is made if it is missing
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl Man {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let mut root = Cli::arranged();
        root.build();
        if let Some(folder) = &self.dir {
            return write_all(&root, folder);
        }
        let command = match &self.command {
            None => root,
            Some(name) => {
                let names: Vec<&str> =
                    root.get_subcommands().map(clap::Command::get_name).collect();
                let unknown = format!("there is no command `{name}`, but {}", names.join(", "));
                root.find_subcommand(name).ok_or_else(|| Stop::new(unknown))?.clone()
            }
        };
        let page = page(command)?;
        print(|to| to.write_all(&page))
    }
}

/// Writes the pages of laneval and of its commands, one file for each.
fn write_all(root: &clap::Command, folder: &Path) -> Result<(), Stop> {
    let cannot = |path: &Path, what, error: io::Error| {
        Stop::new(format!("{}: cannot {what}: {error}", shown(path)))
    };
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, "make a folder", error))?;
    let commands = root.get_subcommands().filter(|command| command.get_name() != "help");
    for command in [root].into_iter().chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        output::check(&path, &[])?;
        let page = page(command.clone())?;
        whole_file::write(&path, |to| to.write_all(&page))
            .map_err(|error| cannot(&path, "write", error))?;
    }
    Ok(())
}

/// Makes the page of a command. Its examples are lines as they are typed, which must not be
/// wrapped.
fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let examples = command
        .get_after_long_help()
        .or(command.get_after_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let names = command.get_subcommands().map(|of| of.get_name().to_owned());
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    // A page has all options with their text, whatever `-h` has.
    let command = command.mut_args(|option| option.hide_short_help(false));
    let man = clap_mangen::Man::new(command).source(concat!("laneval ", env!("CARGO_PKG_VERSION")));
    let mut to = Vec::new();
    man.render_title(&mut to)?;
    man.render_name_section(&mut to)?;
    man.render_synopsis_section(&mut to)?;
    man.render_description_section(&mut to)?;
    man.render_options_section(&mut to)?;
    let mut rest = Roff::new();
    if !names.is_empty() {
        rest.control("SH", ["COMMANDS"]);
        for name in names {
            rest.text([bold(format!("laneval-{name}")), roman("(1)")]).control("br", []);
        }
    }
    if !examples.is_empty() {
        rest.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines().skip(1) {
            rest.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        rest.control("fi", []);
    }
    rest.to_writer(&mut to)?;
    Ok(to)
}

//! A row of the table of commands, and the arguments with which a command runs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use laneval::options::{Given, Value, options_of};

use super::cli_error::CliResult;

/// A command of `laneval`.
#[derive(Debug)]
pub struct CommandRow {
    /// The name.
    pub name: &'static str,
    /// The first line of its help, at most 60 characters.
    pub first: &'static str,
    /// The paragraphs of its help, which only `--help` has.
    pub more: &'static str,
    /// The lines of its usage, behind `laneval `; empty for clap's own.
    pub usage: &'static [&'static str],
    /// Its arguments that are no options.
    pub inputs: Option<Inputs>,
    /// Its examples, a command each.
    pub examples: &'static [&'static str],
    /// The page of the documentation about it.
    pub page: &'static str,
    /// The meaning of its exit codes, where it has others than most commands.
    pub exit_codes: &'static str,
    /// Clap's own definition of the command, for a command whose options are not in the table.
    pub define: Option<fn(Command) -> Command>,
    /// Runs the command.
    pub run: fn(Arguments) -> CliResult<()>,
}

impl CommandRow {
    /// A command with nothing but defaults, on which rows are built.
    pub const NEW: Self = Self {
        name: "",
        first: "",
        more: "",
        usage: &[],
        inputs: None,
        examples: &[],
        page: "getting-started.md",
        exit_codes: "",
        define: None,
        run: |_| Ok(()),
    };
}

/// The arguments of a command that are no options.
#[derive(Debug)]
pub struct Inputs {
    /// The name in the usage, such as `FILES`.
    pub name: &'static str,
    /// The first line of its help.
    pub first: &'static str,
    /// The paragraph of its help.
    pub more: &'static str,
    /// The smallest and the largest number of arguments that clap lets pass.
    pub count: (usize, usize),
    /// Whether the arguments stand behind `--`.
    pub is_last: bool,
}

/// The arguments of a command line.
pub struct Arguments {
    /// The options.
    pub given: Given,
    /// The arguments that are no options.
    pub inputs: Vec<PathBuf>,
    /// All words of the command line.
    pub words: Vec<OsString>,
    /// What clap read.
    pub matches: ArgMatches,
}

impl Arguments {
    /// Collects the arguments of a command that clap read.
    pub fn new(row: &CommandRow, matches: ArgMatches, words: Vec<OsString>) -> Self {
        let mut given = Given::new(row.name);
        if row.define.is_none() {
            for option in options_of(row.name) {
                if matches.value_source(option.id) != Some(ValueSource::CommandLine) {
                    continue;
                }
                let values = match option.value {
                    Value::Flag => None,
                    _ => matches.get_many::<OsString>(option.id),
                };
                given.set(option.id, values.into_iter().flatten().cloned().collect());
            }
        }
        let inputs = row
            .inputs
            .as_ref()
            .and_then(|inputs| matches.try_get_many::<OsString>(inputs.name).ok().flatten());
        let inputs = inputs.into_iter().flatten().map(PathBuf::from).collect();
        Self { given, inputs, words, matches }
    }
}

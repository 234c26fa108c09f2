//! `laneval completions`: prints a completion script for a shell, made from the definition of the
//! command line.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, ValueEnum};
use clap_complete::Shell;
use laneval::measure::MEASURES;

use super::{
    COMMANDS,
    cli_error::{CliError, CliResult},
    command_row::{Arguments, CommandRow, Inputs},
    output::print,
};

/// `laneval completions`.
pub const COMMAND: CommandRow = CommandRow {
    name: "completions",
    first: "Generate a shell completion script",
    more: "It completes commands, options, their values, and names of measures.",
    inputs: Some(Inputs {
        name: "SHELL",
        first: "The shell: bash, elvish, fish, powershell or zsh",
        more: "",
        count: (1, 1),
        is_last: false,
    }),
    examples: &[
        "laneval completions bash \\\n    > ~/.local/share/bash-completion/completions/laneval",
    ],
    run,
    ..CommandRow::NEW
};

/// Runs `laneval completions`: prints the completion script of a shell.
fn run(arguments: Arguments) -> CliResult<()> {
    let name = arguments.inputs.first().and_then(|name| name.to_str()).unwrap_or_default();
    let shell = Shell::from_str(name, false).map_err(|_| {
        CliError::new(format!(
            "`{name}` is no shell that laneval knows: bash, elvish, fish, powershell or zsh was \
             expected"
        ))
    })?;
    let mut script = Vec::new();
    let mut command = with_values(super::complete_root());
    clap_complete::generate(shell, &mut command, "laneval", &mut script);
    print(|to| to.write_all(&script))
}

/// Adds possible values to the arguments for measures, GPU adapters, commands and shells, for a
/// completion script. The resulting command parses nothing.
fn with_values(mut root: Command) -> Command {
    let measures: Vec<PossibleValue> =
        MEASURES.iter().map(|row| PossibleValue::new(row.name)).collect();
    let adapters = adapters();
    let commands: Vec<PossibleValue> =
        COMMANDS.iter().map(|row| PossibleValue::new(row.name)).collect();
    let shells: Vec<PossibleValue> =
        Shell::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
    for row in COMMANDS.iter().filter(|row| row.define.is_none()) {
        root = root.mut_subcommand(row.name, |command| {
            command.mut_args(|arg| {
                let values = match (row.name, arg.get_id().as_str()) {
                    (_, "measure") | ("measures", "NAME") => &measures,
                    (_, "adapter") => &adapters,
                    ("help" | "man", "COMMAND") => &commands,
                    ("completions", "SHELL") => &shells,
                    _ => return arg,
                };
                if values.is_empty() {
                    return arg;
                }
                arg.value_parser(PossibleValuesParser::new(values.clone()))
            })
        });
    }
    root
}

/// Lists the numbers of the GPU adapters of this machine, with their names, for a completion
/// script.
#[cfg(feature = "gpu")]
fn adapters() -> Vec<PossibleValue> {
    const NUMBERS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let numbered = NUMBERS.into_iter().zip(laneval::gpu::adapters());
    numbered.map(|(at, adapter)| PossibleValue::new(at).help(adapter.name)).collect()
}

/// Lists no GPU adapters, in a build without the GPU engine.
#[cfg(not(feature = "gpu"))]
fn adapters() -> Vec<PossibleValue> {
    Vec::new()
}

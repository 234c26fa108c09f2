//! `laneval completions`: a completion script, from the same definitions as the parser.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Command};
use clap_complete::Shell;
use laneval::measure::MEASURES;

use super::Cli;
use super::output::print;
use super::stop::Stop;

/// Print a completion script for a shell.
///
/// It completes commands, options and their values, the names of measures, and the numbers of the
/// GPU adapters of this machine.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  laneval completions bash \\\n    > \
                  ~/.local/share/bash-completion/completions/laneval")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let mut script = Vec::new();
        let mut command = with_values(Cli::arranged());
        clap_complete::generate(self.shell, &mut command, "laneval", &mut script);
        print(|to| to.write_all(&script))
    }
}

/// Gives arguments of measures and adapters values to choose from. The resulting command parses
/// nothing.
fn with_values(mut root: Command) -> Command {
    let measures: Vec<PossibleValue> =
        MEASURES.iter().map(|row| PossibleValue::new(row.name)).collect();
    let adapters = adapters();
    let names: Vec<String> =
        root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names.into_iter().filter(|name| name != super::trec_eval::NAME) {
        root = root.mut_subcommand(name, |command| {
            command.mut_args(|arg| match arg.get_id().as_str() {
                "measures" | "asked" => {
                    arg.value_parser(PossibleValuesParser::new(measures.clone()))
                }
                "adapter" if !adapters.is_empty() => {
                    arg.value_parser(PossibleValuesParser::new(adapters.clone()))
                }
                _ => arg,
            })
        });
    }
    root
}

/// Lists the numbers of adapters, with their names.
#[cfg(feature = "gpu")]
fn adapters() -> Vec<PossibleValue> {
    const NUMBERS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let value = |(at, adapter): (&'static str, laneval::gpu::Adapter)| {
        PossibleValue::new(at).help(adapter.name)
    };
    NUMBERS.into_iter().zip(laneval::gpu::adapters()).map(value).collect()
}

/// Lists no adapters, without the GPU engine.
#[cfg(not(feature = "gpu"))]
fn adapters() -> Vec<PossibleValue> {
    Vec::new()
}

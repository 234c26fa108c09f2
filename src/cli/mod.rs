//! The command line: one file a command, over the library's public interface.

mod bench;
mod build;
mod choice;
mod completions;
mod devices;
mod eval;
mod r#gen;
mod info;
mod inputs;
mod man;
mod measures;
mod output;
mod signals;
mod stop;
mod style;
mod threads;
mod trec_eval;

use std::ffi::OsString;
use std::io::{Write, stdout};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use stop::Stop;

/// Evaluate ranked retrieval: AP, nDCG, RR, recall, ERR … of runs against relevance judgments.
#[derive(Debug, Parser)]
#[command(name = "laneval", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  laneval eval qrels.txt bm25.run dense.run
  laneval eval qrels.txt bm25.run -m nDCG@10 -m AP -m 'P@[5,10]' --per-query -o scores.csv
  laneval build qrels.txt *.run -o trec8.lmx && laneval eval trec8.lmx
  laneval measures nDCG";

#[derive(Debug, Subcommand)]
enum Command {
    Eval(eval::Eval),
    Build(build::Build),
    Info(info::Info),
    Gen(r#gen::Gen),
    Measures(measures::Measures),
    Devices(devices::Devices),
    Bench(bench::Bench),
    TrecEval(trec_eval::TrecEval),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// The command of these arguments. Help and wrong usage are answered right here; what is left then is the exit code.
    pub fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, ExitCode> {
        signals::heed_size_limit();
        let args = trec_eval::arguments(args);
        let trec_eval = args.get(1).is_some_and(|command| command == trec_eval::NAME);
        Self::try_parse_from(&args).map_err(|error| match error.print().and_then(|()| stdout().flush()) {
            _ if error.use_stderr() => ExitCode::from(if trec_eval { 1 } else { 2 }),
            Ok(()) => ExitCode::SUCCESS,
            Err(refused) => Stop::from(refused).exit(),
        })
    }

    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        laneval::label::exit_when_a_mapped_file_shrinks(2, inputs::unreadable);
        match self.command {
            Command::Eval(eval) => eval.run(),
            Command::Build(build) => build.run(),
            Command::Info(info) => info.run(),
            Command::Gen(command) => command.run(),
            Command::Measures(measures) => measures.run(),
            Command::Devices(devices) => devices.run(),
            Command::Bench(bench) => bench.run(),
            Command::TrecEval(trec_eval) => trec_eval.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

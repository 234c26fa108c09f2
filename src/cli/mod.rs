//! The command line: one file a command, over the library's public interface.

mod build;
mod choice;
mod completions;
mod eval;
mod r#gen;
mod info;
mod inputs;
mod man;
mod measures;
mod output;
mod stop;
mod style;
mod threads;

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
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        match self.command {
            Command::Eval(eval) => eval.run(),
            Command::Build(build) => build.run(),
            Command::Info(info) => info.run(),
            Command::Gen(command) => command.run(),
            Command::Measures(measures) => measures.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

//! The command `laneval` as a library: one file for each command, over the library's public
//! interface.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic if nothing can be written

mod as_library;
mod asked;
mod bench;
mod build;
mod check;
mod choice;
mod chunks;
mod compare;
mod completions;
mod convert;
mod devices;
mod eval;
mod evaluation;
mod formats;
mod gates;
mod r#gen;
mod help;
mod identify;
mod info;
mod inputs;
mod judges;
mod libraries;
mod limited;
mod lost_queries;
mod man;
mod measures;
mod merge;
mod mesa;
mod output;
mod page;
mod pipe;
mod pools;
mod preview;
mod progress;
mod queries;
mod refused;
mod row_output;
mod score_output;
#[cfg(feature = "parquet")]
mod score_table;
mod show;
mod side_file;
mod signals;
mod stop;
mod style;
mod texts;
mod threads;
mod titles;
mod trec_eval;
mod units;
mod usage;
mod wrapped;

use std::ffi::OsString;
use std::io::{Write, stdout};

use anstream::ColorChoice;
use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use choice::one_of;
use stop::Stop;

/// Runs the command with these arguments, the first of which is its name, and returns the exit
/// code.
///
/// The exit code is 0 on success, and if the reader of the output goes away; 1 if a gate failed; 2
/// for wrong usage or input, or output that cannot be written, which stderr explains. `trec-eval`
/// has other codes. Signals that end a program are handled while files are written.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    match Cli::read(args).map(Cli::run) {
        Ok(Ok(())) => 0,
        Ok(Err(stop)) => stop.exit(),
        Err(code) => code,
    }
}

/// Evaluate ranked retrieval: AP, nDCG, RR, recall, ERR … of runs against relevance judgments.
#[derive(Debug, Parser)]
#[command(name = "laneval", version, arg_required_else_help = true, propagate_version = true)]
#[command(disable_help_flag = true, disable_version_flag = true)]
#[command(max_term_width = help::WIDTH, after_help = EXAMPLES, styles = style::STYLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The use of colour: auto (on a terminal, unless NO_COLOR is set), always, never
    #[arg(
        long, global = true, value_name = "WHEN", default_value = "auto",
        value_parser = one_of(style::colours())
    )]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    #[arg(hide_short_help = true, help_heading = help::ADVANCED, display_order = 1000)]
    color: ColorChoice,
    /// Print help: the common options with -h, all of them with --help
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = "Help")]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, global = true, action = ArgAction::Version, help_heading = "Help")]
    version: Option<bool>,
    /// The words of the command line.
    #[arg(skip)]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  laneval eval qrels.txt bm25.run dense.run
  laneval eval qrels.txt bm25.run -m nDCG@10,AP,'P@[5,10]' -q -o scores.csv
  laneval compare qrels.txt bm25.run dense.run hybrid.run
  laneval build qrels.txt *.run -o trec8.lmx && laneval eval trec8.lmx
  laneval show qrels.txt bm25.run dense.run --query 301
  laneval measures nDCG";

/// The commands, each with its name and its options.
macro_rules! commands {
    ($($name:literal $variant:ident($options:ty)),* $(,)?) => {
        #[derive(Debug)]
        enum Command {
            $($variant(Box<$options>)),*
        }

        impl Command {
            /// Gives all commands their options.
            fn defined(root: clap::Command) -> clap::Command {
                root$(.mut_subcommand($name, |of| <$options>::augment_args(of.defer(|of| of))))*
            }
        }

        /// Clap defines the options of a command when it is asked for: those of all take longer
        /// than to evaluate small files.
        impl Subcommand for Command {
            fn augment_subcommands(root: clap::Command) -> clap::Command {
                root.subcommand_required(true)
                    $(.subcommand(clap::Command::new($name).defer(<$options>::augment_args)))*
            }

            fn augment_subcommands_for_update(root: clap::Command) -> clap::Command {
                Self::augment_subcommands(root)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, of)) => {
                        Ok(Command::$variant(Box::new(<$options>::from_arg_matches(of)?)))
                    })*
                    _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

commands! {
    "eval" Eval(eval::Eval),
    "compare" Compare(compare::Compare),
    "pools" Pools(pools::PoolsAsked),
    "identify" Identify(identify::IdentifyAsked),
    "show" Show(show::Show),
    "merge" Merge(merge::Merge),
    "build" Build(build::Build),
    "convert" Convert(convert::Convert),
    "info" Info(info::Info),
    "check" Check(check::Check),
    "gen" Gen(r#gen::Gen),
    "measures" Measures(measures::Measures),
    "devices" Devices(devices::Devices),
    "bench" Bench(bench::Bench),
    "trec-eval" TrecEval(trec_eval::TrecEval),
    "completions" Completions(completions::Completions),
    "man" Man(man::Man),
}

impl Command {
    /// Returns whether the command looks at GPUs, whatever the data are.
    fn looks_at_gpus(&self) -> bool {
        match self {
            Command::Devices(_) | Command::Bench(_) | Command::Completions(_) => true,
            Command::Eval(eval) => eval.names_a_gpu(),
            Command::Compare(compare) => compare.names_a_gpu(),
            _ => false,
        }
    }
}

impl Cli {
    /// Parses the arguments. Help and wrong usage are answered right here; only the exit code is
    /// left then.
    fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, u8> {
        // Before anything is printed, as help may go to a file at its limit too.
        signals::heed_size_limit();
        let args = trec_eval::arguments(args);
        let trec_eval = args.get(1).is_some_and(|command| command == trec_eval::NAME);
        // Before clap reads them: its messages about wrong arguments are coloured by the global
        // choice.
        style::heed_colour(&args);
        // Help takes longer to arrange than small files to evaluate, and is rarely asked for. And
        // trec-eval has an option --help of its own, which clap sees in time only where all are
        // defined.
        let line = if trec_eval || help::is_asked(&args) {
            help::of_named(Command::defined(Self::command()), &args)
        } else {
            Self::command()
        };
        let parsed = line.try_get_matches_from(&args).and_then(|of| Self::from_arg_matches(&of));
        let read = parsed.map_err(|error| {
            let wrong = error.use_stderr();
            // Help and the version are no errors that a tip could mend.
            let told =
                if wrong { usage::with_tips(error, &args, &Self::arranged()) } else { error };
            match told.print().and_then(|()| stdout().flush()) {
                _ if wrong => {
                    if trec_eval {
                        1
                    } else {
                        2
                    }
                }
                Ok(()) => 0,
                Err(refused) => Stop::from(refused).exit(),
            }
        })?;
        Ok(Cli { words: args, ..read })
    }

    /// Returns the definition of the command line, with its help in order.
    fn arranged() -> clap::Command {
        help::arranged(Command::defined(Self::command()))
    }

    /// Runs the command.
    fn run(self) -> Result<(), Stop> {
        self.color.write_global();
        // Early, as it may start the program anew: nothing must have been read from stdin.
        if cfg!(feature = "gpu") && self.command.looks_at_gpus() {
            mesa::hush();
        }
        #[cfg(feature = "parquet")]
        laneval_formats::say_nothing_of_damaged_files();
        laneval::lmx::exit_when_a_mapped_file_shrinks(2, inputs::unreadable);
        match self.command {
            Command::Eval(eval) => eval.run(&self.words).map_err(Stop::hinting_at_repeats),
            Command::Compare(compare) => compare.run(&self.words).map_err(Stop::hinting_at_repeats),
            Command::Pools(pools) => pools.run(),
            Command::Identify(identify) => identify.run(),
            Command::Show(show) => show.run(&self.words).map_err(Stop::hinting_at_repeats),
            Command::Merge(merge) => merge.run(),
            Command::Build(build) => build.run().map_err(Stop::hinting_at_repeats),
            Command::Convert(convert) => convert.run(),
            Command::Info(info) => info.run(),
            Command::Check(check) => check.run(),
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

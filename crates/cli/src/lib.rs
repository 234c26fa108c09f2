//! The command `laneval` as a library: one file for each command, over the library's public
//! interface.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic if nothing can be written

mod arguments;
mod bench;
mod build;
mod check;
mod chunks;
mod cli_error;
mod command_row;
mod compare;
mod completions;
mod conflicts;
mod convert;
mod devices;
mod eval;
mod evaluation_options;
mod formats;
mod gates;
mod r#gen;
mod help;
mod help_command;
mod identify;
mod info;
mod inputs;
mod judges;
mod libraries;
mod library_notes;
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
mod row_output;
mod score_output;
#[cfg(feature = "parquet")]
mod score_table;
mod scores;
mod show;
mod side_file;
mod signals;
mod style;
mod text_stats;
mod threads;
mod timeout;
mod topics;
mod trec_eval;
mod usage;
mod wrapped;

use std::ffi::OsString;
use std::io::{Write, stdout};

use anstream::ColorChoice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

use cli_error::{CliError, CliResult};
use command_row::{Arguments, CommandRow};
use help::HelpKind;

/// All commands, in the order of help.
const COMMANDS: &[&CommandRow] = &[
    &eval::COMMAND,
    &compare::COMMAND,
    &show::COMMAND,
    &measures::COMMAND,
    &build::COMMAND,
    &convert::COMMAND,
    &info::COMMAND,
    &merge::COMMAND,
    &pools::COMMAND,
    &identify::COMMAND,
    &r#gen::COMMAND,
    &bench::COMMAND,
    &devices::COMMAND,
    &check::COMMAND,
    &completions::COMMAND,
    &man::COMMAND,
    &trec_eval::COMMAND,
    &help_command::COMMAND,
    &help_command::VERSION,
];

const ABOUT: &str = "Evaluate rankings: nDCG, AP, RR, recall … of runs against qrels";

const EXAMPLES: &str = "\
Examples:
  laneval eval qrels.txt bm25.run dense.run
  laneval compare qrels.txt bm25.run dense.run hybrid.run
  laneval build qrels.txt *.run -o trec8.lmx && laneval eval trec8.lmx
  laneval show qrels.txt bm25.run dense.run --query 301
  laneval measures nDCG";

/// Runs the command `laneval` with these arguments, the first of which is its name, and returns the
/// exit code.
///
/// The exit code is 0 on success, and if the reader of the output goes away; 1 if a gate failed; 2
/// for wrong usage or input, or output that cannot be written, which stderr explains. `trec-eval`
/// has other codes. Signals that end a program are handled while files are written.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    match read(args).map(run_command) {
        Ok(Ok(())) => 0,
        Ok(Err(stop)) => stop.print_and_exit_code(),
        Err(code) => code,
    }
}

/// Returns clap's definition of the command line. Only the commands that `is_defined` picks have
/// their arguments, because those of all take longer than to evaluate small files; the others are
/// names alone, or left out if it is known that none of them is meant (`is_known`). Texts are there
/// only for the help that is asked for.
fn root(is_defined: impl Fn(&str) -> bool, is_known: bool, kind: HelpKind) -> Command {
    let commands = COMMANDS.iter().filter(|row| !is_known || is_defined(row.name)).map(|row| {
        // Not `Command::defer`: clap would put the options of all commands before those of this
        // one, and their headings too.
        let command = Command::new(row.name);
        if is_defined(row.name) { arguments::define(command, row, kind) } else { command }
    });
    let root = Command::new("laneval")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .propagate_version(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .hide_possible_values(kind == HelpKind::Short)
        .max_term_width(help::WIDTH)
        .styles(style::STYLES)
        .subcommands(commands)
        .args(global_options(kind));
    match kind {
        HelpKind::None => root,
        _ => root.help_template(help::template(COMMANDS)).after_help(EXAMPLES),
    }
}

/// Returns the options that every command has.
fn global_options(kind: HelpKind) -> [Arg; 3] {
    let names = style::COLOURS.map(|(name, _)| name);
    let colours = PossibleValuesParser::new(names).map(|name| {
        let named = style::COLOURS.iter().find(|(other, _)| *other == name);
        named.map_or(ColorChoice::Auto, |&(_, choice)| choice)
    });
    let heading = Some("Help").filter(|_| kind == HelpKind::Long);
    [
        Arg::new("color")
            .long("color")
            .global(true)
            .value_name("WHEN")
            .default_value("auto")
            .value_parser(colours)
            .help("When to use colour: auto, always, never")
            .long_help(
                "When to use colour: auto, always, never\n\n\
                 auto is on a terminal, unless NO_COLOR is set.",
            )
            .hide_possible_values(true)
            .hide_default_value(true)
            .hide_short_help(true)
            .help_heading(help::ADVANCED)
            .display_order(1000),
        Arg::new("help")
            .short('h')
            .long("help")
            .global(true)
            .action(ArgAction::Help)
            .help("Print help (-h: common options; --help: all)")
            .help_heading(heading)
            .display_order(1001),
        Arg::new("version")
            .short('V')
            .long("version")
            .global(true)
            .action(ArgAction::Version)
            .help("Print version")
            .help_heading(heading)
            .display_order(1002),
    ]
}

/// Returns clap's definition of the command line, with the arguments of all commands.
fn complete_root() -> Command {
    let mut root = root(|_| true, true, HelpKind::Long);
    root.build();
    root
}

/// A command of a command line, with its arguments.
struct CommandLine {
    row: &'static CommandRow,
    arguments: Arguments,
    colour: ColorChoice,
}

/// Reads the arguments of the command line of `laneval`. Help and wrong usage are answered right
/// here; only the exit code is left then.
fn read(args: impl IntoIterator<Item = OsString>) -> Result<CommandLine, u8> {
    // Before anything is printed, as help may go to a file at its limit too.
    signals::report_size_limit();
    let args = trec_eval::arguments(args);
    // Before clap reads them: its messages about wrong arguments are coloured by the global
    // choice.
    style::apply_color_argument(&args);
    let kind = HelpKind::requested(&args);
    // A command that runs is among the words. A file may have the name of another one: that is
    // defined in vain.
    let first = args.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let is_known = first == "--version" || COMMANDS.iter().any(|row| row.name == first);
    let root = root(|name| args.iter().skip(1).any(|word| word == name), is_known, kind);
    match root.try_get_matches_from(&args) {
        Ok(matches) => requested(matches, args).ok_or(2),
        Err(error) => Err(answer(error, &args)),
    }
}

/// Finds the command that clap read.
fn requested(mut matches: ArgMatches, words: Vec<OsString>) -> Option<CommandLine> {
    let (name, own) = matches.remove_subcommand()?;
    let row = COMMANDS.iter().find(|row| row.name == name)?;
    let colour = own.get_one("color").copied().unwrap_or(ColorChoice::Auto);
    Some(CommandLine { row, arguments: Arguments::new(row, own, words), colour })
}

/// Prints what clap says instead of arguments, help or what is wrong with them, and returns the
/// exit code.
fn answer(error: clap::Error, args: &[OsString]) -> u8 {
    let is_wrong = error.use_stderr();
    // Help and the version are no errors that a tip could mend.
    let message = if is_wrong { usage::with_tips(error, args) } else { error };
    match message.print().and_then(|()| stdout().flush()) {
        _ if is_wrong && args.get(1).is_some_and(|command| command == trec_eval::NAME) => 1,
        _ if is_wrong => 2,
        Ok(()) => 0,
        Err(refused) => CliError::from(refused).print_and_exit_code(),
    }
}

/// Runs the command of `laneval` that the arguments name.
fn run_command(requested: CommandLine) -> CliResult<()> {
    let CommandLine { row, arguments, colour } = requested;
    colour.write_global();
    // Early, as it may start the program anew: nothing must have been read from stdin.
    let lists_gpus = ["devices", "bench", "completions"].contains(&row.name);
    if cfg!(feature = "gpu") && (lists_gpus || arguments.given.requests_gpu()) {
        mesa::silence_mesa_warning();
    }
    #[cfg(feature = "parquet")]
    laneval_formats::silence_reader_panics();
    laneval::lmx::exit_when_a_mapped_file_shrinks(2, inputs::lost_mapping_message);
    (row.run)(arguments)
}

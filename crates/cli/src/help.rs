//! The arrangement of help: `-h` has the common options of a command and fits a screen, `--help`
//! has all of them under headings.
//!
//! What an option is, and its heading, stands where the option is. Which options are common and
//! which are rare stands here, for all commands. A new option of a command that is listed here
//! needs no line: it is in `--help` under its heading, and not in `-h`.

use std::ffi::OsString;

use clap::{Arg, Command};

/// The columns that help is made for, on a terminal that has as many or more.
pub const WIDTH: usize = 80;

/// The options that `-h` shows, by their ids and in this order; `--help` begins with them. Commands
/// that are not here have few options, and `-h` shows them all.
#[rustfmt::skip] // a row each
const COMMON: &[(&str, &[&str])] = &[
    ("eval", &[
        "measures", "stats", "per_query", "output", "format", "precision", "fail_if", "group_by",
        "only", "rel", "queries", "depth", "judged_only", "ties", "names_by", "partial", "threads",
        "verbose", "quiet",
    ]),
    ("compare", &[
        "measures", "baseline", "per_query", "output", "format", "precision", "fail_if", "group_by",
        "sort", "top", "test", "correction", "ci", "margin", "power", "rel", "only", "partial",
        "verbose", "quiet",
    ]),
    ("pools", &[
        "measures", "depth", "teams", "output", "format", "precision", "rel", "queries", "ties",
        "quiet",
    ]),
    ("identify", &["scores", "measure", "digits", "top", "output", "format", "quiet"]),
    ("show", &[
        "queries", "measures", "top", "titles", "output", "format", "precision", "rel", "depth",
        "judged_only", "ties", "names_by", "quiet",
    ]),
    ("merge", &[
        "qrels", "stats", "output", "format", "precision", "fail_if", "wide", "partial", "quiet",
    ]),
    ("build", &["output", "keep_ties", "depth", "ties", "score", "names_by", "threads", "quiet"]),
    ("convert", &["output", "qrels", "judgments_by", "run_format", "columns", "quiet"]),
    ("info", &["verify", "format", "judgments_by", "run_format", "columns"]),
    ("bench", &["queries", "depth", "density", "threads", "seconds", "output", "format"]),
    ("trec-eval", &[
        "profile", "measures", "per_query", "no_summary", "complete", "level", "judged_only",
        "depth", "documents", "zscores", "judgments_format", "results_format",
    ]),
];

/// The options of these commands that few users need, by their ids.
#[rustfmt::skip]
const RARE: &[&str] = &[
    "hold", "no_mmap", "groups", "adapter", "explain", "timing", "all_id", "seed", "tie", "zeros",
    "wilcoxon", "largest", "debug",
];

/// Help of options that mean less in one command than in the others.
const WORDS: &[(&str, &str, &str)] =
    &[("merge", "wide", "Write a row for each run, with a column for each measure, as tsv or csv")];

/// The headings in the order of `--help`. A heading that is not here comes behind them.
#[rustfmt::skip]
const HEADINGS: &[&str] = &[
    "Input", "Units", "Items", "Measures", "Ranking", "Definition", "Design", "Comparison", "Gates",
    "Watching", "Output", "Engine",
];

/// The heading of rare options, which is the last but the one for help itself.
pub const ADVANCED: &str = "Advanced";

/// The number of examples in `-h`.
const EXAMPLES: usize = 3;

/// Returns whether these arguments may ask for help: by an option, by its letter among others, or
/// by giving a command nothing to do.
pub fn is_asked(args: &[OsString]) -> bool {
    let asks = |arg: &OsString| {
        let text = arg.to_string_lossy();
        text == "help"
            || text.starts_with("--h")
            || text.starts_with('-') && !text.starts_with("--") && text.contains('h')
    };
    let is_version =
        args.len() == 2 && ["--version", "-V"].iter().any(|version| args[1] == *version);
    !is_version && (args.len() <= 2 || args.iter().skip(1).any(asks))
}

/// Arranges the help of the command that these arguments name.
pub fn of_named(root: Command, args: &[OsString]) -> Command {
    let named = |name: &&str| args.iter().skip(1).any(|arg| arg == *name);
    let names: Vec<String> = root.get_subcommands().map(|of| of.get_name().to_owned()).collect();
    names
        .iter()
        .map(String::as_str)
        .filter(named)
        .fold(root, |root, name| root.mut_subcommand(name, of_command))
}

/// Arranges the help of all commands.
pub fn arranged(root: Command) -> Command {
    let names: Vec<String> =
        root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(root, |root, name| root.mut_subcommand(name, of_command))
}

/// Arranges the options of a command, and its examples.
fn of_command(command: Command) -> Command {
    let listed = COMMON.iter().find(|(name, _)| *name == command.get_name());
    let Some((name, common)) = listed else { return command };
    let mut options: Vec<(HelpPlace, String)> = command
        .get_opts()
        .map(|option| (HelpPlace::of(option, common), option.get_id().to_string()))
        .collect();
    options.sort_by_key(|(place, _)| *place);
    let words = WORDS.iter().filter(|(command, ..)| command == name);
    let reword = |command: Command, &(_, id, words): &(&str, &'static str, &'static str)| {
        command.mut_arg(id, |option| option.help(words).long_help(words))
    };
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let short = format!("{}\n\n`laneval {name} --help` has all options.", first(&examples));
    let in_order = |command: Command, (at, (place, id)): (usize, (HelpPlace, String))| {
        // An option that is changed moves behind all others, so the order of changing them is their
        // order.
        command.mut_arg(id, |option| place.put(option.display_order(at)))
    };
    options
        .into_iter()
        .enumerate()
        .fold(words.fold(command, reword), in_order)
        .after_help(short)
        .after_long_help(examples)
}

/// Returns the first examples, of which each may go on in the next line.
fn first(examples: &str) -> String {
    let mut lines = examples.lines();
    let heading = lines.next().unwrap_or_default();
    let (mut taken, mut count) = (vec![heading], 0);
    for line in lines {
        count += usize::from(!line.starts_with("    "));
        if line.is_empty() || count > EXAMPLES {
            break;
        }
        taken.push(line);
    }
    taken.join("\n")
}

/// The place of an option in help, the first first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HelpPlace {
    /// Among the common ones.
    Common(usize),
    /// Without a heading, but not common.
    Plain,
    /// Under a heading.
    Under(usize),
    Rare,
}

impl HelpPlace {
    fn of(option: &Arg, common: &[&str]) -> Self {
        let id = option.get_id().as_str();
        let at = |list: &[&str], text: &str| list.iter().position(|one| *one == text);
        match (at(common, id), option.get_help_heading()) {
            (Some(place), _) => HelpPlace::Common(place),
            _ if RARE.contains(&id) => HelpPlace::Rare,
            (None, Some(heading)) => {
                HelpPlace::Under(at(HEADINGS, heading).unwrap_or(HEADINGS.len()))
            }
            (None, None) => HelpPlace::Plain,
        }
    }

    fn put(self, option: Arg) -> Arg {
        match self {
            HelpPlace::Common(_) => option.help_heading(None::<&'static str>),
            HelpPlace::Plain | HelpPlace::Under(_) => option.hide_short_help(true),
            HelpPlace::Rare => option.hide_short_help(true).help_heading(ADVANCED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    #[test]
    fn every_option_that_is_listed_is_there() {
        let root = Cli::arranged();
        let has = |command: &Command, id: &str| {
            command.get_arguments().any(|option| option.get_id() == id)
        };
        for (name, common) in COMMON {
            let command = root.find_subcommand(name).unwrap();
            for id in *common {
                assert!(has(command, id), "{name} has no option {id}");
            }
        }
        for id in RARE {
            assert!(
                root.get_subcommands().any(|command| has(command, id)),
                "no command has an option {id}"
            );
        }
    }
}

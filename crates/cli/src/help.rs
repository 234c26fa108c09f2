//! The help of `laneval` and of its commands, beside the options: groups of commands, examples,
//! exit codes, and the page of the documentation.
//!
//! `-h` has the common options of a command in one list and fits a screen; `--help` has all options
//! under headings. Which options are common stands in the table of options.

use std::ffi::OsString;
use std::fmt::Write;

use clap::Command;
use laneval::options::options_of;

use super::command_row::CommandRow;
use super::style::STYLES;

/// The columns that help is made for, on a terminal that has as many or more.
pub const WIDTH: usize = 80;

/// The number of examples in `-h`.
const EXAMPLES: usize = 3;

/// The heading of options that few users need, which is the last but the one for help itself.
pub const ADVANCED: &str = "Advanced";

/// The heading of the options of input, which is the first.
pub const INPUT: &str = "Input";

/// The meaning of the exit codes of most commands: around that of gates, which some have.
const EXIT_CODES: [&str; 2] = [
    "Exit codes:\n  0  success, also if the reader of the output closes it early\n",
    "  2  wrong usage or input, or output that cannot be written",
];
const GATE_EXIT_CODE: &str = "  1  a gate of --fail-if was true\n";

/// The commands of a group: its heading, and their names.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Evaluate", &["eval", "compare", "show", "measures"]),
    ("Files", &["build", "convert", "info", "merge"]),
    ("Decide", &["pools", "identify"]),
    (
        "Tools",
        &["gen", "bench", "devices", "check", "completions", "man", "trec-eval", "help", "version"],
    ),
];

/// The help that a command line may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelpKind {
    /// None: its texts are left out, which take longer to arrange than small files to evaluate.
    None,
    /// That of `-h`, which fits a screen: it has no headings, and no lists of values.
    Short,
    /// That of `--help`.
    Long,
}

impl HelpKind {
    /// Returns the help that these arguments may ask for. A wrong yes only takes longer, because
    /// clap decides whether help is asked for.
    pub fn requested(args: &[OsString]) -> Self {
        let asks = |word: &OsString| {
            let text = word.to_string_lossy();
            text.starts_with("--h")
                || text.starts_with('-') && !text.starts_with("--") && text.contains('h')
        };
        if args.iter().any(|word| word == "-h") {
            Self::Short
        } else if args.len() < 2 || args.iter().skip(1).any(asks) {
            Self::Long
        } else {
            Self::None
        }
    }
}

/// Adds to the help of a command what stands below the options: examples, exit codes and pages.
pub fn with_ends(command: Command, row: &CommandRow) -> Command {
    let name = row.name;
    let short = format!(
        "{}\n\n`laneval {name} --help` has all options.",
        examples(&row.examples[..row.examples.len().min(EXAMPLES)])
    );
    let has_gates = options_of(name).any(|option| option.id == "fail-if");
    let codes = match row.exit_codes {
        "" => EXIT_CODES.join(if has_gates { GATE_EXIT_CODE } else { "" }),
        codes => codes.to_owned(),
    };
    let mut long = examples(row.examples);
    let _ = write!(long, "\n\n{codes}\n\nSee also:\n  docs/{}", row.page);
    command.after_help(short.trim_start().to_owned()).after_long_help(long.trim_start().to_owned())
}

/// Returns the examples of a command under their heading.
fn examples(commands: &[&str]) -> String {
    let mut text = String::new();
    for (at, example) in commands.iter().enumerate() {
        let heading = if at == 0 { "Examples:" } else { "" };
        let _ = write!(text, "{heading}\n  {example}");
    }
    text
}

/// Returns clap's template of the help of `laneval` itself, with the commands in groups.
pub fn template(commands: &[&CommandRow]) -> String {
    let header = STYLES.get_header();
    let literal = STYLES.get_literal();
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        let _ = write!(text, "\n{header}{heading}:{header:#}\n");
        for row in names.iter().filter_map(|name| commands.iter().find(|row| row.name == *name)) {
            let _ = writeln!(text, "  {literal}{:11}{literal:#}  {}", row.name, row.first);
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n");
    text + "{options}{after-help}"
}

//! Wrong usage: the message of clap, with tips for users of other tools.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::trec_eval;

/// Adds a tip to an error if the arguments look like those of another tool or command, or lack the
/// name of the command, and removes one that names an unrelated option. `root` is the definition of
/// the command line.
pub fn with_tips(mut error: clap::Error, args: &[OsString], root: &Command) -> clap::Error {
    let tips = match error.kind() {
        ErrorKind::UnknownArgument => {
            of_option(&error, args).or_else(|| of_other_command(&error, args, root))
        }
        ErrorKind::InvalidSubcommand => of_files(args),
        _ => None,
    };
    if let Some(tips) = tips {
        // clap guesses by spelling, and would send `-c` or a file's name to whatever option or
        // command looks like it.
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        let tips = tips.into_iter().map(StyledStr::from).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    } else if is_unrelated(&error) {
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// Returns whether the option that clap suggests is no slip of the one that was given. clap takes
/// `--groups` for `--group-by`.
fn is_unrelated(error: &clap::Error) -> bool {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(option)) => Some(option.trim_start_matches('-')),
        _ => None,
    };
    let Some((given, suggested)) =
        word(ContextKind::InvalidArg).zip(word(ContextKind::SuggestedArg))
    else {
        return false;
    };
    let slips = strsim::osa_distance(given, suggested);
    !suggested.starts_with(given) && slips > (given.chars().count() / 3).max(1)
}

/// Returns a tip for an option that only other commands have.
fn of_other_command(error: &clap::Error, args: &[OsString], root: &Command) -> Option<Vec<String>> {
    let command = root
        .find_subcommand(args.get(1)?)
        .filter(|command| command.get_name() != trec_eval::NAME)?;
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let has = |command: &&Command| {
        command
            .get_opts()
            .any(|of| of.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long)))
    };
    let others =
        root.get_subcommands().filter(|other| other.get_name() != command.get_name()).filter(has);
    let others: Vec<String> =
        others.map(|other| format!("`laneval {}`", other.get_name())).collect();
    let (last, before) = others.split_last()?;
    let list =
        if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    Some(vec![format!("{option} is an option of {list}")])
}

/// Options of trec_eval, some of which ir_measures has too, and the options here that do the same.
const TREC_EVAL: &[(&str, &str)] = &[
    ("-c", "here every judged query counts, as `--queries judged` says, which is the default"),
    ("-n", "here averages have no query_id, so that they are easy to leave out"),
    ("-l", "here `--rel GRADE` says which grade is relevant"),
    ("-N", "here `-m 'Utility(docs=N)'` takes the number of documents"),
    ("-Z", "no other command has it"),
    ("-R", "here `--qrels-format FORMAT` says how judgments are read"),
    ("-T", "here `--run-format FORMAT` says how runs are read"),
];

/// Returns tips for an option that `eval` or `compare` do not have.
fn of_option(error: &clap::Error, args: &[OsString]) -> Option<Vec<String>> {
    // Only where an option of trec_eval is likely: `-n` of `gen` is a slip of another kind.
    args.get(1)?.to_str().filter(|name| ["eval", "compare"].contains(name))?;
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if ["--qrels", "--run", "--runs"].contains(&option.as_str()) {
        let command = args[1].to_string_lossy();
        return Some(vec![format!(
            "files are given without options: `laneval {command} QRELS RUN...`"
        )]);
    }
    let (letter, here) = TREC_EVAL.iter().find(|(letter, _)| letter == option)?;
    let trec_eval = trec_eval::NAME;
    Some(vec![format!(
        "{letter} is an option of trec_eval: `laneval {trec_eval} {letter} …`; {here}"
    )])
}

/// Returns tips for a first argument that is a file, and not a command.
fn of_files(args: &[OsString]) -> Option<Vec<String>> {
    let files = args.get(1..)?;
    if !Path::new(files.first()?).is_file() {
        return None;
    }
    let words = files.iter().map(|word| shlex::try_quote(word.to_str()?).ok());
    let words: Vec<_> = words.collect::<Option<_>>()?;
    Some(vec![format!("to evaluate files, use `laneval eval {}`", words.join(" "))])
}

//! The messages of clap about wrong usage, with tips for users of other tools.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use laneval::options::options_of;

use super::{COMMANDS, trec_eval};

/// Adds a tip to an error of clap if the arguments look like those of another tool, and removes
/// misleading tips.
pub fn with_tips(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let tips = match error.kind() {
        ErrorKind::UnknownArgument => {
            let tip = option_tip(&error, args).or_else(|| former_name_tip(&error, args));
            tip.or_else(|| other_command_tip(&error, args))
        }
        ErrorKind::InvalidSubcommand => files_tip(args),
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

/// Returns whether the option that clap suggests is too unlike the given one to be meant. clap
/// suggests names that have no more than their first letters in common.
fn is_unrelated(error: &clap::Error) -> bool {
    let [given, suggested] = [ContextKind::InvalidArg, ContextKind::SuggestedArg]
        .map(|kind| context(error, kind).map(|option| option.trim_start_matches('-')));
    let (Some(given), Some(suggested)) = (given, suggested) else { return false };
    // A name may have a slip in every third letter, and a short one a single slip.
    let slips = strsim::osa_distance(given, suggested);
    !suggested.starts_with(given) && slips > (given.chars().count() / 3).max(1)
}

/// Returns a text that clap has put into an error, such as the wrong option.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// Returns a tip for an option that has another name here.
fn former_name_tip(error: &clap::Error, args: &[OsString]) -> Option<Vec<String>> {
    let option = context(error, ContextKind::InvalidArg)?.strip_prefix("--")?;
    let row = options_of(args.get(1)?.to_str()?).find(|row| row.former.contains(&option))?;
    Some(vec![format!("--{option} is called --{}", row.id)])
}

/// Returns a tip for an option that only other commands of `laneval` have.
fn other_command_tip(error: &clap::Error, args: &[OsString]) -> Option<Vec<String>> {
    let command = args.get(1)?.to_str()?;
    let is_known = COMMANDS.iter().any(|row| row.name == command && row.define.is_none());
    let option = context(error, ContextKind::InvalidArg).filter(|_| is_known)?;
    let others = COMMANDS.iter().filter(|other| {
        other.name != command
            && options_of(other.name).any(|row| option.strip_prefix("--") == Some(row.id))
    });
    let others: Vec<String> = others.map(|other| format!("`laneval {}`", other.name)).collect();
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

/// Returns tips for an option that `eval` and `compare` lack, such as one of trec_eval.
fn option_tip(error: &clap::Error, args: &[OsString]) -> Option<Vec<String>> {
    // Only where an option of trec_eval is likely: `-n` of `gen` is a slip of another kind.
    args.get(1)?.to_str().filter(|name| ["eval", "compare"].contains(name))?;
    let option = context(error, ContextKind::InvalidArg)?;
    if ["--qrels", "--run", "--runs"].contains(&option) {
        let command = args[1].to_string_lossy();
        return Some(vec![format!(
            "files are given without options: `laneval {command} QRELS RUN...`"
        )]);
    }
    let (letter, here) = TREC_EVAL.iter().find(|(letter, _)| *letter == option)?;
    let trec_eval = trec_eval::NAME;
    Some(vec![format!(
        "{letter} is an option of trec_eval: `laneval {trec_eval} {letter} …`; {here}"
    )])
}

/// Returns a tip to use `laneval eval`, if the first argument is a file and not a command.
fn files_tip(args: &[OsString]) -> Option<Vec<String>> {
    let files = args.get(1..)?;
    if !Path::new(files.first()?).is_file() {
        return None;
    }
    let words = files.iter().map(|word| shlex::try_quote(word.to_str()?).ok());
    let words: Vec<_> = words.collect::<Option<_>>()?;
    Some(vec![format!("to evaluate files, use `laneval eval {}`", words.join(" "))])
}

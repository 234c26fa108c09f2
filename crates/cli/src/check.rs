//! `laneval check`: which definition of a measure a program computes, by the cases of the
//! conformance suite.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use clap::Args;
use laneval::conformance::{Case, CaseAnswer, CheckVerdict, Suite, check};
use laneval::{Error, Result};
use tempfile::TempDir;

use super::choice::{NamedChoice, one_of};
use super::limited::{self, Ended};
use super::output::print_text;
use super::stop::Stop;
use super::style::shown;

const EXAMPLES: &str = "\
Examples:
  laneval check -m nDCG -- ./ndcg {qrels} {run} {k}
  laneval check -m AP --as lightgbm -- python3 mine.py {qrels} {run} {k}";

/// The time that a program has for a case.
const MOST: Duration = Duration::from_secs(10);

/// The number of first cases that may all take too long before the program is given up.
const PATIENCE: usize = 3;

/// Find out which definition of a measure a program computes
///
/// For each case of the conformance suite, a query of a few documents, COMMAND is run once, without
/// a shell and for 10 seconds at most. In its words {qrels} and {run} become the names of files in
/// TREC's format, and {k} the cutoff. It prints one number, or a last line that ends in one. `nan`,
/// `null` or nothing means that the query has no value; any other exit code than 0 means that the
/// case is refused, and is no evidence. Exit code 0: it is one definition, 1: it is none, or
/// several fit, 2: it cannot be run.
#[derive(Debug, Args)]
#[command(override_usage = "laneval check [OPTIONS] -m <MEASURE> -- \
                            <COMMAND>...", after_help = EXAMPLES)]
pub struct Check {
    /// The measure: nDCG, AP, RR, P, R, ERR, Bpref or AUC
    #[arg(short, long, value_name = "MEASURE")]
    measure: String,
    /// Ask for the definition of this library, such as lightgbm
    #[arg(long = "as", value_name = "LIBRARY")]
    library: Option<String>,
    /// The suite
    #[arg(long, value_name = "NAME", default_value = "v1")]
    suite: String,
    /// The format
    #[arg(
        long, value_name = "FORMAT", default_value = "text",
        value_parser = one_of(answer_formats())
    )]
    format: AnswerFormat,
    /// The program with its arguments, in which {qrels}, {run} and {k} are filled in
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

/// A format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerFormat {
    Text,
    Json,
}

fn answer_formats() -> Vec<NamedChoice<AnswerFormat>> {
    vec![("text", AnswerFormat::Text, "sentences"), ("json", AnswerFormat::Json, "one document")]
}

impl Check {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        for place in ["{qrels}", "{run}"] {
            if !self.command.iter().any(|word| word.to_string_lossy().contains(place)) {
                return Err(Stop::new(format!(
                    "no word of COMMAND has {place}, which becomes the name of a file: -- ./ndcg \
                     {{qrels}} {{run}} {{k}} was expected"
                )));
            }
        }
        let suite = Suite::named(&self.suite)?;
        let folder = TempDir::new()
            .map_err(|error| Stop::new(format!("no folder for the cases: {error}")))?;
        let program = shown(self.command[0].as_ref()).to_string();
        let (mut done, mut late) = (0, 0);
        let checked = check(&suite, &self.measure, self.library.as_deref(), |case| {
            let words = self.words(case, folder.path())?;
            let ended = limited::run(&words, MOST);
            let ended = ended
                .map_err(|error| Error::Unanswerable(format!("{program}: cannot run: {error}")))?;
            let took_long = matches!(ended, Ended::TooLong);
            (done, late) = (done + 1, late + usize::from(took_long));
            if late == PATIENCE && done == late {
                let seconds = MOST.as_secs();
                let said = format!(
                    "{program} took more than {seconds} s on each of the first {late} cases"
                );
                return Err(Error::Unanswerable(said));
            }
            Ok(answer(&program, ended))
        })?;
        print_text(self.format == AnswerFormat::Text, |to| match self.format {
            AnswerFormat::Text => writeln!(to, "{checked}"),
            AnswerFormat::Json => writeln!(to, "{}", checked.to_json()),
        })?;
        match checked.verdict {
            CheckVerdict::Found | CheckVerdict::Likely => Ok(()),
            CheckVerdict::Undecided | CheckVerdict::None => Err(Stop::Coded(1, Vec::new())),
        }
    }

    /// Writes the files of a case, and fills them in.
    fn words(&self, case: &Case, folder: &Path) -> Result<Vec<OsString>> {
        let [qrels, run] = ["qrels.txt", "run.txt"].map(|name| folder.join(name));
        for (path, text) in [(&qrels, case.qrels_text()), (&run, case.run_text())] {
            fs::write(path, text).map_err(|source| Error::Io {
                path: path.clone(),
                action: "write",
                source,
            })?;
        }
        let k = OsString::from(case.k.to_string());
        let values =
            [("{qrels}", qrels.as_os_str()), ("{run}", run.as_os_str()), ("{k}", k.as_os_str())];
        Ok(self.command.iter().map(|word| filled(word, &values)).collect())
    }
}

/// Fills values into a word, which stays as it is if it is no text.
fn filled(word: &OsString, values: &[(&str, &std::ffi::OsStr)]) -> OsString {
    let Some(mut rest) = word.to_str() else { return word.clone() };
    let mut made = OsString::new();
    // From left to right, so that a value is never looked at for places.
    while let Some((at, place, value)) = values
        .iter()
        .filter_map(|(place, value)| Some((rest.find(place)?, place, value)))
        .min_by_key(|(at, ..)| *at)
    {
        made.push(&rest[..at]);
        made.push(value);
        rest = &rest[at + place.len()..];
    }
    made.push(rest);
    made
}

/// Returns what a program says of a case.
fn answer(program: &str, ended: Ended) -> CaseAnswer {
    match ended {
        Ended::TooLong => {
            CaseAnswer::Refused(format!("{program} took more than {} s", MOST.as_secs()))
        }
        Ended::Done(status, out, _) if status.success() => match CaseAnswer::of_text(&out) {
            CaseAnswer::Refused(why) => CaseAnswer::Refused(format!("{program} {why}")),
            answer => answer,
        },
        Ended::Done(status, _, err) => {
            let last = err.lines().rev().find(|line| !line.trim().is_empty());
            let why =
                last.map(|line| format!(" ({})", shown(line.trim().as_ref()))).unwrap_or_default();
            CaseAnswer::Refused(format!("{program} {}{why}", end_of(status)))
        }
    }
}

/// Says how a program ended.
fn end_of(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    status.code().map_or("failed".to_owned(), |code| format!("exited with {code}"))
}

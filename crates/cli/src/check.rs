//! `laneval check`: finds the definition of a measure that a program computes, by the cases of the
//! conformance suite.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use laneval::Error;
use laneval::conformance::{Case, CaseAnswer, CheckVerdict, Suite, check};
use laneval::options::Given;
use tempfile::TempDir;

use super::{
    cli_error::{CliError, CliResult, fail},
    command_row::{CommandRow, Inputs},
    output::print_text,
    style::shown,
    timeout::{self, ChildOutcome},
};

/// `laneval check`.
pub const COMMAND: CommandRow = CommandRow {
    name: "check",
    first: "Find the definition that a program computes",
    more: "For each case of the conformance suite, a query of a few documents, COMMAND is run \
        without a shell, for 10 seconds at most. In its arguments {qrels} and {run} become \
        the names of files in TREC's format, and {k} the cutoff. It prints one number, or a last \
        line that ends in one. `nan`, `null` or nothing is a query without a value; another exit \
        code than 0 refuses the case, which is no evidence then.",
    usage: &["check [OPTIONS] -m <MEASURE> -- <COMMAND>..."],
    inputs: Some(Inputs {
        name: "COMMAND",
        first: "The program and its arguments, with {qrels}, {run}, {k}",
        more: "Names of files and the cutoff are put in place of {qrels}, {run} and {k}.",
        count: (1, usize::MAX),
        is_last: true,
    }),
    examples: &[
        "laneval check -m nDCG -- ./ndcg {qrels} {run} {k}",
        "laneval check -m AP --as lightgbm -- python3 mine.py {qrels} {run} {k}",
    ],
    page: "check.md",
    exit_codes: "\
Exit codes:
  0  it is one definition
  1  it is none, or several fit
  2  wrong usage, or the program cannot be run",
    run: |arguments| Check { given: arguments.given, command: arguments.inputs }.run(),
    ..CommandRow::NEW
};

/// The time that a program has for a case.
const MOST: Duration = Duration::from_secs(10);

/// The number of first cases that may all take too long before the program is given up.
const PATIENCE: usize = 3;

/// The options of `laneval check`, and the program with its arguments.
struct Check {
    given: Given,
    command: Vec<PathBuf>,
}

impl Check {
    /// Runs `laneval check`: runs a program on each case of the conformance suite, and prints the
    /// definition that fits.
    fn run(self) -> CliResult<()> {
        self.check_places()?;
        let suite = Suite::named(self.given.text("suite").unwrap_or_default())?;
        let measure: String = self.given.required("measure")?;
        let is_json = self.given.text("format") == Some("json");
        let folder = TempDir::new()
            .map_err(|error| CliError::new(format!("no folder for the cases: {error}")))?;
        let program = shown(&self.command[0]);
        let (mut done, mut late) = (0, 0);
        let checked = check(&suite, &measure, self.given.text("as"), |case| {
            let words = self.words(case, folder.path())?;
            let ended = timeout::run(&words, MOST);
            let ended = ended
                .map_err(|error| Error::Unanswerable(format!("{program}: cannot run: {error}")))?;
            let took_long = matches!(ended, ChildOutcome::TimedOut);
            (done, late) = (done + 1, late + usize::from(took_long));
            // A program that never ends would take ten seconds for each case of the suite.
            if late == PATIENCE && done == late {
                let seconds = MOST.as_secs();
                return Err(Error::Unanswerable(format!(
                    "{program} took more than {seconds} s on each of the first {late} cases"
                )));
            }
            Ok(answer(&program, ended))
        })?;
        print_text(!is_json, |to| {
            if is_json { writeln!(to, "{}", checked.to_json()) } else { writeln!(to, "{checked}") }
        })?;
        match checked.verdict {
            CheckVerdict::Found | CheckVerdict::Likely => Ok(()),
            CheckVerdict::Undecided | CheckVerdict::None => Err(CliError::WithCode(1, Vec::new())),
        }
    }

    /// Rejects a program that is not given both files of a case.
    fn check_places(&self) -> CliResult<()> {
        for place in ["{qrels}", "{run}"] {
            if !self.command.iter().any(|word| word.to_string_lossy().contains(place)) {
                return fail(format!(
                    "no word of COMMAND has {place}, which becomes the name of a file: -- ./ndcg \
                     {{qrels}} {{run}} {{k}} was expected"
                ));
            }
        }
        Ok(())
    }

    /// Writes the judgments and run of a test case to files, and returns the checked program's
    /// command line with their names.
    fn words(&self, case: &Case, folder: &Path) -> Result<Vec<OsString>, Error> {
        let [qrels, run] = ["qrels.txt", "run.txt"].map(|name| folder.join(name));
        for (path, text) in [(&qrels, case.qrels_text()), (&run, case.run_text())] {
            fs::write(path, text).map_err(|source| Error::io(path, "write", source))?;
        }
        let k = OsString::from(case.k.to_string());
        let values =
            [("{qrels}", qrels.as_os_str()), ("{run}", run.as_os_str()), ("{k}", k.as_os_str())];
        Ok(self.command.iter().map(|word| filled(word.as_os_str(), &values)).collect())
    }
}

/// Replaces placeholders such as `{qrels}` in a word of a command line by their values; a word that
/// is no text stays.
fn filled(word: &OsStr, values: &[(&str, &OsStr)]) -> OsString {
    let Some(mut rest) = word.to_str() else { return word.to_owned() };
    let mut argument = OsString::new();
    // From left to right, so that a value is never looked at for places.
    while let Some((at, place, value)) = values
        .iter()
        .filter_map(|(place, value)| Some((rest.find(place)?, place, value)))
        .min_by_key(|(at, ..)| *at)
    {
        argument.push(&rest[..at]);
        argument.push(value);
        rest = &rest[at + place.len()..];
    }
    argument.push(rest);
    argument
}

/// Returns the answer of a checked program to a test case: its printed value, or the reason why
/// there is none.
fn answer(program: &str, ended: ChildOutcome) -> CaseAnswer {
    match ended {
        ChildOutcome::TimedOut => {
            CaseAnswer::Refused(format!("{program} took more than {} s", MOST.as_secs()))
        }
        ChildOutcome::Exited(status, out, _) if status.success() => match CaseAnswer::parse(&out) {
            CaseAnswer::Refused(why) => CaseAnswer::Refused(format!("{program} {why}")),
            answer => answer,
        },
        ChildOutcome::Exited(status, _, err) => {
            let last = err.lines().rev().find(|line| !line.trim().is_empty());
            let why =
                last.map(|line| format!(" ({})", shown(line.trim().as_ref()))).unwrap_or_default();
            CaseAnswer::Refused(format!("{program} {}{why}", end_of(status)))
        }
    }
}

/// Describes the exit status of a program: the signal that ended it, or its exit code.
fn end_of(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    status.code().map_or("failed".to_owned(), |code| format!("exited with {code}"))
}

//! `laneval trec-eval`: trec_eval's own command line and output. A program with the name
//! `trec_eval` does the same.
//!
//! ```text
//! values     the topics that count, and their values
//! zscores    the file of -Z
//! lines      the output
//! codes      exit codes
//! ```
//!
//! docs/trec_eval.md lists the intended differences.

mod codes;
mod lines;
mod values;
mod zscores;

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, FromArgMatches};
use laneval::labels::FileAccess;
use laneval::measure::JudgmentNeeds as Needed;
use laneval::measure::trec::{RefusedMeasure, Request, Version};
use laneval::{
    Dialect, Error, Evaluator, FacetKind, Input, Join, LabelMatrix, QuerySet, TieBreak, View,
};

use super::{
    cli_error::{CliError, CliResult},
    command_row::CommandRow,
    help::ADVANCED,
    inputs::bytes,
    output::print,
    style::{comma_list, print_line},
    threads::Threads,
};
use codes::{INPUT, NOTHING, TOPIC, USAGE};
use values::ValueTable;
use zscores::ZScores;

/// The command's name among those of laneval.
pub const NAME: &str = "trec-eval";
/// The file name by which the program acts as this command.
const PROGRAM: &str = "trec_eval";

/// A value of an option: its name, the value, and its text in the help.
type NamedChoice<T> = (&'static str, T, &'static str);

const PROFILES: &[NamedChoice<Version>] = &[
    ("9", Version::V9, "trec_eval 9.0.8: scores as f32, topics missing from the run are left out"),
    ("10", Version::V10, "trec_eval 10.0: scores as f64, topics missing from the run need -c"),
];

const FORMATS: &[NamedChoice<Option<FacetKind>>] = &[
    ("qrels", None, "topic iter docno grade"),
    ("qrels_jg", Some(FacetKind::Judge), "topic judge docno grade"),
    ("prefs", Some(FacetKind::Preference), "topic group sub-group docno level"),
    ("qrels_prefs", Some(FacetKind::Preference), "topic group docno level"),
];

/// `laneval trec-eval`, whose options are those of trec_eval.
pub const COMMAND: CommandRow = CommandRow {
    name: NAME,
    first: "Run as trec_eval: same options, same output",
    examples: &[
        "laneval trec-eval qrels.txt bm25.run",
        "laneval trec-eval -q -m all_trec qrels.txt bm25.run",
        "laneval trec-eval -c -M1000 -m map -m ndcg_cut.10,20 qrels.txt bm25.run",
        "ln -s laneval trec_eval && ./trec_eval -q qrels.txt bm25.run",
    ],
    page: "trec_eval.md",
    exit_codes: "\
Exit codes:
  0  success, and the reader of the output may have gone away
  1  wrong usage, or a measure that does not exist
  2  input or output that cannot be read or written, or a wrong format or cutoff
  4  a topic that cannot be evaluated
  7  no topic in common",
    define: Some(TrecEval::augment_args),
    run: |arguments| {
        let read = TrecEval::from_arg_matches(&arguments.matches);
        read.map_err(|error| CliError::with_exit_code(USAGE, error.to_string()))?.run()
    },
    ..CommandRow::NEW
};

/// Run as trec_eval: same options, same output
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true, infer_long_args = true)]
#[command(args_override_self = true)]
pub struct TrecEval {
    /// Judgments
    qrels: Option<PathBuf>,
    /// A run
    run: Option<PathBuf>,
    /// Read files into memory instead of mapping them
    ///
    /// If another program shortens a mapped file, laneval ends with an error (exit code 2). If it
    /// rewrites the file in place, values may be wrong. With this option a change matters only
    /// until the file is read, at the start.
    #[arg(long, hide_short_help = true, help_heading = ADVANCED)]
    no_mmap: bool,

    /// The version of trec_eval to follow
    #[arg(long, value_name = "VERSION", default_value = "9", value_parser = profiles())]
    profile: Version,
    /// A measure, with its parameters after a `.`, or official, set or all_trec; may be repeated
    #[arg(short, long = "measure", value_name = "MEASURE[.PARAMS]", default_value = "official")]
    measures: Vec<String>,
    /// Print the values of every topic too
    #[arg(short = 'q', long = "query_eval_wanted")]
    per_query: bool,
    /// Print no summary over the topics
    #[arg(short = 'n', long = "nosummary")]
    no_summary: bool,
    /// Average over all topics of the qrels; those that the run lacks score 0
    // Without these names `--c` and `--co` could also mean `--color`, and would be refused.
    #[arg(short = 'c', long = "complete_rel_info_wanted", aliases = ["c", "co"])]
    complete: bool,
    /// The lowest grade that counts as relevant
    #[arg(short = 'l', long = "level_for_rel", value_name = "GRADE", default_value = "1")]
    level: u32,
    /// Drop documents without a judgment from the ranking
    #[arg(short = 'J', long = "Judged_docs_only")]
    judged_only: bool,
    /// Keep only the first N ranks of every topic
    #[arg(short = 'M', long = "Max_retrieved_per_topic", value_name = "N")]
    depth: Option<u64>,
    /// The number of documents in the collection, for utility
    #[arg(short = 'N', long = "Number_docs_in_coll", value_name = "N", default_value = "0")]
    documents: u64,
    /// A file of `topic measure mean deviation`: print how many deviations each value is above the
    /// mean
    #[arg(short = 'Z', long = "Zscore", value_name = "FILE")]
    zscores: Option<PathBuf>,
    /// The format of the judgments: qrels, qrels_jg, prefs or qrels_prefs
    #[arg(short = 'R', long = "Rel_info_format", value_name = "FORMAT", default_value = "qrels")]
    judgments_format: String,
    /// The format of the run: trec_results
    #[arg(
        short = 'T',
        long = "Results_format",
        value_name = "FORMAT",
        default_value = "trec_results"
    )]
    results_format: String,
    /// Accepted, and ignored
    #[arg(short = 'D', long = "Debug_level", value_name = "LEVEL")]
    #[arg(hide_short_help = true, help_heading = ADVANCED)]
    debug: Option<String>,
    /// Print help
    #[arg(short, long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Print the version on stderr
    #[arg(short = 'v', long = "version")]
    version: bool,
}

/// Returns a parser of the versions of trec_eval that can be followed.
fn profiles() -> impl TypedValueParser<Value = Version> {
    let possible =
        PROFILES.iter().map(|(name, _, meaning)| PossibleValue::new(*name).help(*meaning));
    PossibleValuesParser::new(possible.collect::<Vec<_>>()).try_map(|name| {
        let profile = PROFILES.iter().find(|(other, ..)| *other == name);
        profile.map(|&(_, version, _)| version).ok_or("not among the versions")
    })
}

/// Returns the arguments of `laneval`; those of a program named `trec_eval` become `laneval
/// trec-eval`.
pub fn arguments(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let called = args.first().and_then(|program| Path::new(program).file_stem());
    if called.is_some_and(|name| name == PROGRAM) {
        args.splice(..1, ["laneval".into(), NAME.into()]);
    }
    args
}

impl TrecEval {
    /// Runs `laneval trec-eval`: evaluates a run, and prints what trec_eval prints.
    pub fn run(self) -> CliResult<()> {
        if self.version {
            let entry = PROFILES.iter().find(|(_, profile, _)| *profile == self.profile);
            let as_what = entry.map_or("", |(.., what)| what.split(':').next().unwrap_or(what));
            print_line(format_args!("laneval {} as {as_what}", env!("CARGO_PKG_VERSION")));
            return Ok(());
        }
        let by = self.check_formats()?;
        let (Some(qrels), Some(run)) = (&self.qrels, &self.run) else {
            return Err(CliError::with_exit_code(
                USAGE,
                "two files were expected: the qrels and a run",
            ));
        };
        let request =
            Request::new(&self.measures, self.profile, f64::from(self.level), self.documents)
                .map_err(refused)?;
        let zscores = self.zscores.as_deref().map(ZScores::read).transpose()?;
        let table = Threads::default().install_for(bytes([qrels, run]), || {
            let matrix = self.join(qrels, run, by)?;
            self.check_topics(&matrix)?;
            self.evaluate(&request, &matrix)
        })?;
        print(|to| {
            let lines = lines::OutputLines {
                table: &table,
                columns: &request.columns,
                zscores: zscores.as_ref(),
            };
            lines.write(self.per_query, !self.no_summary, to)
        })
    }

    /// Rejects unknown formats of `-R` and `-T`; returns the facet of the judgments, a judge or
    /// preference level, if any.
    fn check_formats(&self) -> CliResult<Option<FacetKind>> {
        if self.results_format != "trec_results" {
            let other = &self.results_format;
            let message = format!("-T {other}: there is no such format, only trec_results");
            return Err(CliError::with_exit_code(INPUT, message));
        }
        let format = FORMATS.iter().find(|(name, ..)| *name == self.judgments_format);
        format.map(|&(_, by, _)| by).ok_or_else(|| {
            let other = &self.judgments_format;
            let known = comma_list(FORMATS.iter().map(|(name, ..)| name));
            CliError::with_exit_code(
                INPUT,
                format!("-R {other}: there is no such format, only {known}"),
            )
        })
    }

    fn join(&self, qrels: &Path, run: &Path, by: Option<FacetKind>) -> CliResult<LabelMatrix> {
        let dialect = match self.profile {
            Version::V9 => Dialect::Trec9,
            Version::V10 => Dialect::Trec10,
        };
        // To keep no ranks at all, one is read, and not looked at.
        let depth = self.ranks().and_then(|ranks| NonZeroU32::new(ranks.max(1)));
        // Preferences are the one format in which equal scores are in ascending order.
        let ties = match by {
            Some(FacetKind::Preference) => TieBreak::DocnoAscending,
            _ => TieBreak::DocnoDescending,
        };
        let access = if self.no_mmap { FileAccess::Read } else { FileAccess::Mapped };
        let width = self.judgments_format.as_str();
        let preference_fields = if width == "prefs" { Some(5) } else { Some(4) };
        let join = Join {
            dialect,
            depth,
            access,
            ties,
            judged_by: by,
            preference_fields,
            ..Join::default()
        };
        let matrix = join.files(Input::from(qrels.to_owned()), [Input::from(run.to_owned())]);
        matrix.map_err(|error| match error {
            Error::Duplicate(_) => CliError::from(error).set_exit_code(TOPIC),
            _ => CliError::from(error).set_exit_code(INPUT),
        })
    }

    /// Returns the number of ranks that trec_eval's `-M` keeps of each topic, if it was given.
    fn ranks(&self) -> Option<u32> {
        self.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX))
    }

    /// Rejects a run that lacks topics of the qrels where trec_eval would stop.
    fn check_topics(&self, matrix: &LabelMatrix) -> CliResult<()> {
        let missing = matrix.depths().iter().position(|&depth| depth == 0);
        let none = matrix.depths().iter().all(|&depth| depth == 0);
        match (self.profile, missing) {
            (Version::V9, _) if none => Err(CliError::with_exit_code(
                NOTHING,
                "no topic is both in the qrels and in the run",
            )),
            (Version::V10, Some(query)) if !self.complete => {
                let id = laneval::error::printable(matrix.queries().get(query));
                let message =
                    format!("topic {id} of the qrels is not in the run: -c counts it as 0");
                Err(CliError::with_exit_code(TOPIC, message))
            }
            _ => Ok(()),
        }
    }

    fn evaluate(&self, request: &Request, matrix: &LabelMatrix) -> CliResult<ValueTable> {
        // laneval takes the largest grade of a document; trec_eval computes nothing of it.
        let plain = request.measures.iter().find(|measure| measure.input() == Needed::Grades);
        if let (Some(plain), Some(by)) = (plain, matrix.judged_by()) {
            let message = format!(
                "{plain} needs {}, and -R {} is {}",
                plain.input(),
                self.judgments_format,
                Needed::Facets(by)
            );
            return Err(CliError::with_exit_code(TOPIC, message));
        }
        let view =
            View { depth: self.ranks().filter(|&ranks| ranks == 0), judged_only: self.judged_only };
        let evaluator = Evaluator::from_measures(request.measures.clone())
            .with_queries(QuerySet::Common)
            .with_view(view);
        let evaluator = evaluator.with_per_query(true).allow_non_finite(true);
        let scores = evaluator.evaluate(matrix).map_err(|error| match error {
            // A measure of another format of judgments.
            Error::Unanswerable(_) => CliError::from(error).set_exit_code(TOPIC),
            _ => CliError::from(error).set_exit_code(INPUT),
        })?;
        let complete = self.complete.then_some(self.profile);
        Ok(ValueTable::new(scores, matrix, request, view, complete))
    }
}

/// Makes the error for a measure of trec_eval's `-m` that is unknown or malformed.
fn refused(refused: RefusedMeasure) -> CliError {
    CliError::with_exit_code(if refused.unknown { USAGE } else { INPUT }, format!("-m {refused}"))
}

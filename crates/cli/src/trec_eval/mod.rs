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

use clap::Args;
use laneval::measure::JudgmentInput as Needed;
use laneval::measure::trec::{Refused, Request, Version};
use laneval::{
    Dialect, Error, Evaluator, Input, Join, JudgedBy, LabelMatrix, QuerySet, Ties, View,
};

use super::choice::{NamedChoice, one_of};
use super::inputs::{FileOptions, bytes};
use super::output::print;
use super::stop::Stop;
use super::style::tell;
use super::threads::Threads;
use codes::{INPUT, NOTHING, TOPIC, USAGE};
use values::ValueTable;
use zscores::ZScores;

/// The command's name among those of laneval.
pub const NAME: &str = "trec-eval";
/// The file name by which the program acts as this command.
const PROGRAM: &str = "trec_eval";

const PROFILES: &[NamedChoice<Version>] = &[
    ("9", Version::V9, "trec_eval 9.0.8: scores as f32, topics missing from the run are left out"),
    ("10", Version::V10, "trec_eval 10.0: scores as f64, topics missing from the run need -c"),
];

const FORMATS: &[NamedChoice<Option<JudgedBy>>] = &[
    ("qrels", None, "topic iter docno grade"),
    ("qrels_jg", Some(JudgedBy::Judge), "topic judge docno grade"),
    ("prefs", Some(JudgedBy::Preference), "topic group sub-group docno level"),
    ("qrels_prefs", Some(JudgedBy::Preference), "topic group docno level"),
];

const EXAMPLES: &str = "\
Examples:
  laneval trec-eval qrels.txt bm25.run
  laneval trec-eval -q -m all_trec qrels.txt bm25.run
  laneval trec-eval -c -M1000 -m map -m ndcg_cut.10,20 qrels.txt bm25.run
  ln -s laneval trec_eval && ./trec_eval -q qrels.txt bm25.run";

/// Print what trec_eval prints, from its own command line.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true, infer_long_args = true)]
#[command(args_override_self = true, after_help = EXAMPLES)]
pub struct TrecEval {
    /// Judgments
    qrels: Option<PathBuf>,
    /// A run
    run: Option<PathBuf>,
    #[command(flatten)]
    files: FileOptions,

    /// The version of trec_eval to follow
    #[arg(long, value_name = "VERSION", default_value = "9", value_parser = one_of(PROFILES))]
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
    debug: Option<String>,
    /// Print help
    #[arg(short, long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Print the version on stderr
    #[arg(short = 'v', long = "version")]
    version: bool,
}

/// Returns the arguments of laneval, from those of a program that may have the name `trec_eval`.
pub fn arguments(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let called = args.first().and_then(|program| Path::new(program).file_stem());
    if called.is_some_and(|name| name == PROGRAM) {
        args.splice(..1, ["laneval".into(), NAME.into()]);
    }
    args
}

impl TrecEval {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        if self.version {
            let of = PROFILES.iter().find(|(_, profile, _)| *profile == self.profile);
            let as_what = of.map_or("", |(.., what)| what.split(':').next().unwrap_or(what));
            tell(format_args!("laneval {} as {as_what}", env!("CARGO_PKG_VERSION")));
            return Ok(());
        }
        let by = self.check_formats()?;
        let (Some(qrels), Some(run)) = (&self.qrels, &self.run) else {
            return Err(Stop::coded(USAGE, "two files were expected: the qrels and a run"));
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

    /// Returns the facets by which judgments are read.
    fn check_formats(&self) -> Result<Option<JudgedBy>, Stop> {
        if self.results_format != "trec_results" {
            let other = &self.results_format;
            let message = format!("-T {other}: there is no such format, only trec_results");
            return Err(Stop::coded(INPUT, message));
        }
        let format = FORMATS.iter().find(|(name, ..)| *name == self.judgments_format);
        format.map(|&(_, by, _)| by).ok_or_else(|| {
            let (other, known) = (&self.judgments_format, FORMATS.iter().map(|(name, ..)| *name));
            let known = known.collect::<Vec<_>>().join(", ");
            Stop::coded(INPUT, format!("-R {other}: there is no such format, only {known}"))
        })
    }

    fn join(&self, qrels: &Path, run: &Path, by: Option<JudgedBy>) -> Result<LabelMatrix, Stop> {
        let dialect = match self.profile {
            Version::V9 => Dialect::Trec9,
            Version::V10 => Dialect::Trec10,
        };
        // To keep no ranks at all, one is read, and not looked at.
        let depth = self.ranks().and_then(|ranks| NonZeroU32::new(ranks.max(1)));
        // Preferences are the one format in which equal scores are in ascending order.
        let ties = match by {
            Some(JudgedBy::Preference) => Ties::DocnoAscending,
            _ => Ties::DocnoDescending,
        };
        let (access, width) = (self.files.access(), self.judgments_format.as_str());
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
            Error::Repeated(_) => Stop::from(error).with_code(TOPIC),
            _ => Stop::from(error).with_code(INPUT),
        })
    }

    /// Returns the number of ranks that are kept.
    fn ranks(&self) -> Option<u32> {
        self.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX))
    }

    /// Refuses topics that make trec_eval stop.
    fn check_topics(&self, matrix: &LabelMatrix) -> Result<(), Stop> {
        let missing = matrix.depths().iter().position(|&depth| depth == 0);
        let none = matrix.depths().iter().all(|&depth| depth == 0);
        match (self.profile, missing) {
            (Version::V9, _) if none => {
                Err(Stop::coded(NOTHING, "no topic is both in the qrels and in the run"))
            }
            (Version::V10, Some(query)) if !self.complete => {
                let id = laneval::error::printable(matrix.queries().get(query));
                let message =
                    format!("topic {id} of the qrels is not in the run: -c counts it as 0");
                Err(Stop::coded(TOPIC, message))
            }
            _ => Ok(()),
        }
    }

    fn evaluate(&self, request: &Request, matrix: &LabelMatrix) -> Result<ValueTable, Stop> {
        // laneval takes the largest grade of a document; trec_eval computes nothing of it.
        let plain = request.measures.iter().find(|measure| measure.input() == Needed::Grades);
        if let (Some(plain), Some(by)) = (plain, matrix.judged_by()) {
            let message = format!(
                "{plain} needs {}, and -R {} is {}",
                plain.input(),
                self.judgments_format,
                Needed::Groups(by)
            );
            return Err(Stop::coded(TOPIC, message));
        }
        let view =
            View { depth: self.ranks().filter(|&ranks| ranks == 0), judged_only: self.judged_only };
        let evaluator =
            Evaluator::of(request.measures.clone()).with_queries(QuerySet::Both).with_view(view);
        let evaluator = evaluator.with_per_query(true).with_not_finite(true);
        let scores = evaluator.evaluate(matrix).map_err(|error| match error {
            // A measure of another format of judgments.
            Error::Unanswerable(_) => Stop::from(error).with_code(TOPIC),
            _ => Stop::from(error).with_code(INPUT),
        })?;
        let complete = self.complete.then_some(self.profile);
        Ok(ValueTable::new(scores, matrix, request, view, complete))
    }
}

/// Makes the end of a command that asked for a measure that is refused.
fn refused(refused: Refused) -> Stop {
    Stop::coded(if refused.unknown { USAGE } else { INPUT }, format!("-m {refused}"))
}

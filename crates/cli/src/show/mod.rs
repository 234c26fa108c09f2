//! `laneval show`: explains the score of a query, and why another run does better.

mod document;
mod explained;
mod rows;
mod table;

use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::internals::Shown;
use laneval::measure::Measure;
use laneval::report::Note;
use laneval::{EngineChoice, Evaluator, Input, Join, TiedValue, Ties, View};

use explained::Explanation;

use super::asked::{DEFAULT_MEASURES, level, measures};
use super::choice::{NamedChoice, TieRule, one_of};
use super::inputs::{EvaluationInputs, FileOptions, RankingOptions, RunPath, bytes, named};
use super::output::{Output, unknown_extension};
use super::refused::{self, Wish};
use super::stop::Stop;
use super::style::{say, shown, stdout_width};
use super::threads::Threads;

/// The ranks that a table shows if no measure says how many matter.
const SHORT: usize = 20;

const EXAMPLES: &str = "\
Examples:
  laneval show qrels.txt bm25.run --query 301
  laneval show qrels.txt bm25.run dense.run --query 301 --top 50
  laneval show qrels.txt bm25.run --query 301 -m 'nDCG(gain=exp2)@10' -m ERR@20
  laneval show qrels.txt bm25.run --query 301 --query 302 --format json";

const ABOUT: &str = "\
Explain the score of a query: its ranking with documents, grades and ties, and what each rank adds to each measure.

Below the ranks are their sum (Σ), what it is divided by or multiplied with, and the value (=), which is that of `eval --per-query` to the \
last bit. A measure that is not a sum over ranks has only its value. The relevant documents below the ranks shown follow with their ranks, \
then the missed ones; with two runs or more, also those whose ranks differ between the runs. All lines are read, but only the given queries \
are kept: a document that is twice in the ranking of another query is not reported.";

/// Explain the score of a query: its documents, and what each adds to each measure.
#[derive(Debug, Args)]
#[command(override_usage = "laneval show [OPTIONS] QRELS RUN... --query ID", long_about = ABOUT)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// Judgments and runs as TREC text, TSV, CSV, JSON or LETOR (see docs/formats.md), plain or compressed by gzip or zstd, one of them `-`
    /// for stdin; name=path gives a run a name
    #[arg(value_name = "QRELS RUN...")]
    inputs: Vec<PathBuf>,
    /// The query; may be repeated
    #[arg(long = "query", value_name = "ID", required = true, allow_hyphen_values = true)]
    queries: Vec<OsString>,
    #[command(flatten)]
    files: FileOptions,

    /// Measures as in `laneval eval`; may be repeated
    #[arg(short, long = "measure", value_name = "MEASURE", default_values = DEFAULT_MEASURES)]
    #[arg(help_heading = "Measures")]
    measures: Vec<String>,
    /// The lowest grade that counts as relevant, here and in measures that do not set it themselves [default: 1]
    #[arg(long, value_name = "GRADE", value_parser = level)]
    #[arg(allow_negative_numbers = true, help_heading = "Measures")]
    rel: Option<f64>,

    /// Drop documents without a judgment from the rankings, so that the others move up; -M first, then -J, as trec_eval
    #[arg(short = 'J', long, help_heading = "Ranking")]
    judged_only: bool,
    #[command(flatten)]
    ranking: RankingOptions,

    /// The number of ranks that a table shows, 0 for all [default: the deepest cutoff if all measures have one, else 20; on a terminal at
    /// most 20]
    #[arg(long, value_name = "N", help_heading = "Output")]
    top: Option<usize>,
    /// The format of the explanation [default: by the extension of -o, else table]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(formats()), help_heading = "Output")]
    format: Option<ShowFormat>,
    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// The number of decimals in tables
    #[arg(long, value_name = "N", default_value = "4", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=17))]
    precision: u8,
    /// Print no notes on stderr; warnings stay
    #[arg(long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    threads: Threads,
}

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShowFormat {
    Table,
    Tsv,
    Csv,
    Json,
    Jsonl,
}

fn formats() -> Vec<NamedChoice<ShowFormat>> {
    vec![
        ("table", ShowFormat::Table, "for people"),
        (
            "tsv",
            ShowFormat::Tsv,
            "one row per document: all ranks, then the relevant documents that were missed; separated by tabs",
        ),
        ("csv", ShowFormat::Csv, "the same rows, separated by commas"),
        ("json", ShowFormat::Json, "one document with everything"),
        ("jsonl", ShowFormat::Jsonl, "the same rows as tsv, one JSON object per line"),
    ]
}

impl Show {
    /// Runs the command.
    pub fn run(mut self) -> Result<(), Stop> {
        self.ranking.read_for(&measures(&self.measures, self.rel)?)?;
        refused::check([(Wish::Show, true)].into_iter().chain(refused::of_ties(self.ranking.ties)))?;
        let ties = self.ranking.ties.unwrap_or(TieRule::Order(Ties::default()));
        let tied = match ties {
            TieRule::Value(tied) => tied,
            TieRule::Order(_) | TieRule::Interval => TiedValue::Ranked,
        };
        let view = View { depth: self.ranking.depth.map(NonZeroU32::get), judged_only: self.judged_only };
        let evaluator = Evaluator::of(measures(&self.measures, self.rel)?)
            .with_view(view)
            .with_tied(tied)
            .with_engine(EngineChoice::Cpu);
        evaluator.check_tied()?;
        let format = self.format()?;
        let output = Output::new(self.file(), &named(&self.inputs).1)?;
        let (qrels, runs) = self.texts()?;
        let size = bytes([&qrels].into_iter().chain(runs.iter().map(|run| &run.path)));
        let shown = self.threads.install_for(size, || self.read(&evaluator, qrels, &runs))?;
        let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
        self.threads.note().iter().chain(&self.ranking.formats.notes()).filter(loud).for_each(say);
        let score = self.ranking.score.unwrap_or_default();
        let asked = Explanation { shown, rel: self.rel.unwrap_or(1.0), ties, score, view };
        output.write(|to| match format {
            ShowFormat::Table => {
                let top = self.top(&asked.shown.measures);
                let width = stdout_width().filter(|_| self.file().is_none());
                table::ExplanationTable::new(&asked, top, usize::from(self.precision), width).write(to)
            }
            ShowFormat::Json => document::write(&asked, to),
            ShowFormat::Jsonl => rows::json_lines(&asked, to),
            ShowFormat::Tsv => rows::delimited(&asked, b'\t', to),
            ShowFormat::Csv => rows::delimited(&asked, b',', to),
        })
    }

    /// Returns the file to write to; `-` is stdout.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Returns the format that was asked for, or else the one that the file's extension names.
    fn format(&self) -> Result<ShowFormat, Stop> {
        const EXTENSIONS: [(&str, ShowFormat); 5] = [
            ("txt", ShowFormat::Table),
            ("tsv", ShowFormat::Tsv),
            ("csv", ShowFormat::Csv),
            ("json", ShowFormat::Json),
            ("jsonl", ShowFormat::Jsonl),
        ];
        let extension = self.file().and_then(|path| Some((path, path.extension()?)));
        let (None, Some((path, extension))) = (self.format, extension) else {
            return Ok(self.format.unwrap_or(ShowFormat::Table));
        };
        let known = EXTENSIONS.iter().find(|(name, _)| extension.eq_ignore_ascii_case(name));
        known.map(|&(_, format)| format).ok_or_else(|| {
            unknown_extension(path, &EXTENSIONS.map(|(extension, _)| extension), ", or use --format")
        })
    }

    /// Returns the judgments and the runs, which have to be text.
    fn texts(&self) -> Result<(PathBuf, Vec<RunPath>), Stop> {
        match EvaluationInputs::of(&self.inputs)? {
            EvaluationInputs::Text(qrels, runs) => Ok((qrels, runs)),
            EvaluationInputs::Matrices(paths) => Err(Stop::new(format!(
                "{} is a label matrix, which keeps no documents: give the QRELS RUN... that it was built from",
                paths.first().map(|path| shown(path)).unwrap_or_default()
            ))),
        }
    }

    fn read(&self, evaluator: &Evaluator, qrels: PathBuf, runs: &[RunPath]) -> Result<Shown, Stop> {
        let join = Join { keep_ties: self.ranking.needs_ties(), ..self.ranking.rule(self.files) };
        let runs = runs.iter().map(RunPath::input).collect();
        let queries = self.queries.iter().map(|id| id.as_encoded_bytes().to_vec());
        Ok(Shown::read(&join, evaluator, Input::from(qrels), runs, &queries.collect::<Vec<_>>())?)
    }

    /// Returns how many ranks of these measures a table shows.
    fn top(&self, measures: &[Measure]) -> usize {
        match self.top {
            Some(0) => usize::MAX,
            Some(top) => top,
            None => {
                let cutoffs = measures.iter().map(|measure| measure.rank()).collect::<Option<Vec<u32>>>();
                let deepest = cutoffs.and_then(|all| all.into_iter().max()).map(|rank| rank as usize);
                let most = if self.file().is_none() && stdout().is_terminal() { SHORT } else { usize::MAX };
                deepest.unwrap_or(SHORT).min(most)
            }
        }
    }
}

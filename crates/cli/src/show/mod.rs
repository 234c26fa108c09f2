//! `laneval show`: explains the score of a query, and why another run does better.

mod blocks;
mod document;
mod explained;
mod parts;
mod rows;
mod table;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::error::printable;
use laneval::internals::Shown;
use laneval::measure::Measure;
use laneval::report::{Note, blocks as report_blocks, html};
use laneval::{EngineChoice, Evaluator, Input, Join, Known, TiedValue, Ties, View};

use explained::Explanation;
use parts::ExplanationParts;

use super::asked::{DEFAULT_MEASURES, level, measures, usual};
use super::choice::{NamedChoice, TieRule, known, one_of};
use super::inputs::{
    EvaluationInputs, FileOptions, NameOptions, RankingOptions, RunPath, bytes, named,
};
use super::output::{Output, unknown_extension};
use super::page::{self, PageOrigin};
use super::refused::{self, Wish};
use super::stop::Stop;
use super::style::{say, shown, stdout_width};
use super::threads::Threads;
use super::titles::{self, Titles};

/// The ranks that a table shows if no measure says how many matter.
const SHORT: usize = 20;

const EXAMPLES: &str = "\
Examples:
  laneval show qrels.txt bm25.run --query 301
  laneval show qrels.txt bm25.run dense.run --query 301 --top 50
  laneval show qrels.txt bm25.run --query 301 -m 'nDCG(gain=exp2)@10' -m ERR@20
  laneval show qrels.txt bm25.run --query 301 --query 302 --format json
  laneval show qrels.txt bm25.run --query 301 --titles topics.tsv -o 301.html";

const ABOUT: &str = "\
Explain the score of a query: its ranking with documents, grades and ties, and what each rank adds \
to each measure.

Below the ranks are their sum (Σ), what it is divided by or multiplied with, and the value (=), \
    which is that of `eval --per-query` to the \
last bit. A measure that is not a sum over ranks has only its value. The relevant documents below \
the ranks shown follow with their ranks, \
then the missed ones; with two runs or more, also those whose ranks differ between the runs. All \
lines are read, but only the given queries \
are kept: a document that is twice in the ranking of another query is not reported.";

/// Explain the score of a query: what each document adds to it.
#[derive(Debug, Args)]
#[command(override_usage = "laneval show [OPTIONS] <QRELS> <RUN>... --query \
                            <ID>", long_about = ABOUT)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// Judgments and then runs, in any format, plain or compressed; `-` is stdin, and name=path
    /// gives a run a name
    ///
    /// Formats are TREC text, TSV, CSV, JSON and LETOR (see docs/formats.md), compressed by gzip or
    /// zstd.
    #[arg(value_name = "FILES")]
    inputs: Vec<PathBuf>,
    /// The query; may be repeated
    #[arg(long = "query", value_name = "ID", required = true, allow_hyphen_values = true)]
    queries: Vec<OsString>,
    #[command(flatten)]
    files: FileOptions,
    #[command(flatten)]
    naming: NameOptions,

    /// Measures as in `laneval eval`; may be repeated
    #[arg(short, long = "measure", value_name = "MEASURE", default_values = DEFAULT_MEASURES)]
    #[arg(help_heading = "Measures")]
    measures: Vec<String>,
    /// The lowest relevant grade, here and in measures without one [default: 1]
    #[arg(long, value_name = "GRADE", value_parser = level)]
    #[arg(allow_negative_numbers = true, help_heading = "Measures")]
    rel: Option<f64>,

    /// Drop documents without a judgment from the rankings
    ///
    /// The others move up. -M first, then -J, as trec_eval.
    #[arg(short = 'J', long, help_heading = "Ranking")]
    judged_only: bool,
    #[command(flatten)]
    ranking: RankingOptions,
    /// The relevant documents that there are [default: judged]
    ///
    /// It is what recall divides by and what ideal rankings are made of. What is retrieved is seen
    /// after -M and -J.
    #[arg(long, value_name = "WHICH", value_parser = one_of(known()))]
    #[arg(help_heading = "Definition")]
    known: Option<Known>,

    /// The number of ranks in a table, 0 for all [default: by the measures]
    ///
    /// Without it a table has the ranks down to the deepest cutoff if all measures have one, else
    /// 20; on a terminal at most 20.
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
    /// Show the texts of queries from this file: lines of id, tab, text
    ///
    /// Or TSV or CSV with columns such as query_id and text; queries of BEIR; an object {id: text};
    /// or topics of TREC. A text is cut behind 500 characters.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    titles: Option<PathBuf>,
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
    Markdown,
    Html,
}

fn formats() -> Vec<NamedChoice<ShowFormat>> {
    vec![
        ("table", ShowFormat::Table, "for people"),
        (
            "tsv",
            ShowFormat::Tsv,
            "one row per document: all ranks, then the relevant documents that were missed; \
             separated by tabs",
        ),
        ("csv", ShowFormat::Csv, "the same rows, separated by commas"),
        ("json", ShowFormat::Json, "one document with everything"),
        ("jsonl", ShowFormat::Jsonl, "the same rows as tsv, one JSON object per line"),
        ("markdown", ShowFormat::Markdown, "the tables, for pull requests and issues"),
        ("html", ShowFormat::Html, "the tables as one page for browsers, with nothing to load"),
    ]
}

impl Show {
    /// Runs the command.
    pub fn run(mut self, words: &[OsString]) -> Result<(), Stop> {
        self.ranking.settle()?;
        self.ranking.library.settle("known", &mut self.known, &known())?;
        let names = usual(&self.measures, self.ranking.groups());
        let asked = measures(&names, self.rel, &self.ranking.library)?;
        self.ranking.read_for(&asked)?;
        refused::check(
            [(Wish::Show, true)].into_iter().chain(refused::of_ties(self.ranking.ties)),
        )?;
        let ties = self.ranking.ties.unwrap_or(TieRule::Order(Ties::default()));
        let view =
            View { depth: self.ranking.depth.map(NonZeroU32::get), judged_only: self.judged_only };
        let evaluator = self.evaluator(asked, view, ties);
        evaluator.check_tied()?;
        let format = self.format()?;
        let read: Vec<PathBuf> =
            named(&self.inputs).1.into_iter().chain(self.titles.clone()).collect();
        let output = Output::new(self.file(), &read)?;
        let inputs = EvaluationInputs::of(&self.inputs)?;
        let (qrels, runs) = texts(&inputs)?;
        let (titles, untitled) = self.titles()?;
        let origin =
            (format == ShowFormat::Html).then(|| self.origin(words, &inputs)).transpose()?;
        let size = bytes([qrels].into_iter().chain(runs.iter().map(|run| &run.path)));
        let shown = self.threads.install_for(size, || self.read(&evaluator, qrels, runs))?;
        let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
        let known = self.known.unwrap_or_default();
        let rel = self.ranking.library.level(self.rel);
        let of_libraries = self.ranking.held(known, rel).notes(&self.measures);
        let notes = self.threads.note().into_iter().chain(self.ranking.formats.notes());
        let notes = notes.chain(of_libraries).chain(untitled);
        notes.filter(|note| loud(&note)).for_each(|note| say(&note));
        let score = self.ranking.score.unwrap_or_default();
        let asked = Explanation { shown, rel, ties, score, view, known, titles };
        let (top, precision) = (self.top(&asked.shown.measures), usize::from(self.precision));
        let parts = ExplanationParts { asked: &asked, top, precision };
        output.write_text(format == ShowFormat::Table, |mut to| match format {
            ShowFormat::Table => {
                let width = stdout_width().filter(|_| self.file().is_none());
                table::ExplanationTable::new(parts, width).write(to)
            }
            ShowFormat::Markdown => report_blocks::markdown(&blocks::of(parts), &mut to),
            ShowFormat::Html => {
                let title = title(&asked);
                let origin = origin.unwrap_or_default().with_settings(settings(&asked));
                html::blocks(&blocks::of(parts), &origin.context(&title), &mut to)
            }
            ShowFormat::Json => document::write(&asked, to),
            ShowFormat::Jsonl => rows::json_lines(&asked, to),
            ShowFormat::Tsv => rows::delimited(&asked, b'\t', to),
            ShowFormat::Csv => rows::delimited(&asked, b',', to),
        })
    }

    /// Makes the evaluator of these measures.
    fn evaluator(&self, measures: Vec<Measure>, view: View, ties: TieRule) -> Evaluator {
        let tied = match ties {
            TieRule::Value(tied) => tied,
            TieRule::Order(_) | TieRule::Interval => TiedValue::Ranked,
        };
        Evaluator::of(measures)
            .with_view(view)
            .with_known(self.known.unwrap_or_default())
            .with_tied(tied)
            .with_engine(EngineChoice::Cpu)
    }

    /// Returns the file to write to; `-` is stdout.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Returns the format that was asked for, or else the one that the file's extension names.
    fn format(&self) -> Result<ShowFormat, Stop> {
        const EXTENSIONS: [(&str, ShowFormat); 8] = [
            ("txt", ShowFormat::Table),
            ("tsv", ShowFormat::Tsv),
            ("csv", ShowFormat::Csv),
            ("json", ShowFormat::Json),
            ("jsonl", ShowFormat::Jsonl),
            ("md", ShowFormat::Markdown),
            ("html", ShowFormat::Html),
            ("htm", ShowFormat::Html),
        ];
        let extension = self.file().and_then(|path| Some((path, path.extension()?)));
        let (None, Some((path, extension))) = (self.format, extension) else {
            return Ok(self.format.unwrap_or(ShowFormat::Table));
        };
        let known = EXTENSIONS.iter().find(|(name, _)| extension.eq_ignore_ascii_case(name));
        known.map(|&(_, format)| format).ok_or_else(|| {
            unknown_extension(
                path,
                &EXTENSIONS.map(|(extension, _)| extension),
                ", or use --format",
            )
        })
    }

    /// Returns the origin of a page: the command, and the files that are read.
    fn origin(&self, words: &[OsString], inputs: &EvaluationInputs) -> Result<PageOrigin, Stop> {
        let origin = PageOrigin::of(words, inputs)?;
        match &self.titles {
            Some(path) => origin.with_file("texts of queries", path),
            None => Ok(origin),
        }
    }

    /// Reads the texts of the queries, if there are some, and notes which have none.
    fn titles(&self) -> Result<(Titles, Option<Note>), Stop> {
        let Some(path) = &self.titles else { return Ok(Default::default()) };
        let queries: BTreeSet<&[u8]> =
            self.queries.iter().map(|id| id.as_encoded_bytes()).collect();
        titles::read(path, queries)
    }

    fn read(&self, evaluator: &Evaluator, qrels: &Path, runs: &[RunPath]) -> Result<Shown, Stop> {
        let join = Join { keep_ties: self.ranking.keeps_ties(), ..self.ranking.rule(self.files)? };
        let (inputs, naming) = (runs.iter().map(RunPath::input).collect(), self.naming);
        let queries: Vec<Vec<u8>> =
            self.queries.iter().map(|id| id.as_encoded_bytes().to_vec()).collect();
        let named = |matrix| naming.name(matrix, runs);
        Ok(Shown::read(&join, evaluator, (Input::from(qrels), inputs), &queries, named)?)
    }

    /// Returns how many ranks of these measures a table shows.
    fn top(&self, measures: &[Measure]) -> usize {
        match self.top {
            Some(0) => usize::MAX,
            Some(top) => top,
            None => {
                let cutoffs =
                    measures.iter().map(|measure| measure.rank()).collect::<Option<Vec<u32>>>();
                let deepest =
                    cutoffs.and_then(|all| all.into_iter().max()).map(|rank| rank as usize);
                let most = if self.file().is_none() && stdout().is_terminal() {
                    SHORT
                } else {
                    usize::MAX
                };
                deepest.unwrap_or(SHORT).min(most)
            }
        }
    }
}

/// Returns the judgments and the runs, which have to be text.
fn texts(inputs: &EvaluationInputs) -> Result<(&PathBuf, &[RunPath]), Stop> {
    match inputs {
        EvaluationInputs::Text(qrels, runs) => Ok((qrels, runs)),
        EvaluationInputs::Matrices(paths) => Err(Stop::new(format!(
            "{} is a label matrix, which keeps no documents: give the QRELS RUN... that it was \
             built from",
            paths.first().map(|path| shown(path)).unwrap_or_default()
        ))),
    }
}

/// Returns the title of a page.
fn title(asked: &Explanation) -> String {
    let runs = page::names(asked.shown.runs.iter().map(String::as_str));
    match asked.shown.queries.as_slice() {
        [query] => format!("Query {} in {runs}", printable(&query.id)),
        queries => format!("{} queries in {runs}", queries.len()),
    }
}

/// Returns the settings that a page lists.
fn settings(asked: &Explanation) -> Vec<(String, String)> {
    let measures: Vec<String> = asked.shown.measures.iter().map(ToString::to_string).collect();
    let mut rows = vec![
        ("measures", measures.join(", ")),
        ("relevant from grade", asked.rel.to_string()),
        ("equal scores", asked.ties.name()),
        ("scores compared as", asked.score.to_string()),
    ];
    rows.extend(asked.view.depth.map(|depth| ("ranks", format!("the first {depth}"))));
    rows.extend(
        asked.view.judged_only.then(|| ("documents", "only those with a judgment".to_owned())),
    );
    let known = Some(asked.known).filter(|&known| known != Known::Judged);
    rows.extend(known.map(|known| ("relevant documents", known.to_string())));
    rows.into_iter().map(|(what, value)| (what.to_owned(), value)).collect()
}

//! `laneval identify`: which definition a number is of.

mod values;

use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::identify::{Identify, joined_in_every_order};
use laneval::report::{Format, Note, ReportOptions};
use laneval::{Input, Join, LabelMatrix, RunInput};

use super::choice::{NamedChoice, formats, one_of};
use super::formats::FormatOptions;
use super::inputs::{FileOptions, RankingOptions, RunPath, bytes, recognise};
use super::output::{Output, unknown_extension};
use super::progress::{Progress, WorkAmount};
use super::stop::Stop;
use super::style::{say, shown, stdout_width};
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  laneval identify qrels.txt bm25.run nDCG@10=0.4561
  laneval identify qrels.txt bm25.run 45.61% --top 10
  laneval identify qrels.txt bm25.run --scores theirs.tsv -m nDCG@10
  laneval identify qrels.txt bm25.run nDCG@5=0.5541 nDCG@10=0.4561 --format json";

const ABOUT: &str = "\
Find which definition of a measure a number is of, by trying them all on the judgments and the run \
that it was made of.

Definitions with the same value of every query on these data are one class, and a class is the \
    answer: with its simplest definition, the \
libraries that compute it, and what else is the same here. The digits that a number shows are its \
tolerance. A single mean of four digits \
often fits several classes by chance, and the answer says how many are expected to; values of \
queries (--scores) tell more.

The exit code is 0 if one definition is found or likely, 1 if several or none are, 2 for errors.";

/// Find which definition of a measure a number is of
#[derive(Debug, Args)]
#[command(override_usage = "laneval identify [OPTIONS] <QRELS> <RUN> <NUMBER>...\n       laneval \
                      identify [OPTIONS] <QRELS> <RUN> --scores <FILE>")]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub struct IdentifyAsked {
    /// Judgments and a run in any format, or a label matrix built with --keep-ties; then numbers as
    /// they were printed: nDCG@10=0.4561, 0.4561 or 45.6%
    ///
    /// A name chooses the measure and its cutoff; parameters that it has hold. Without a name the
    /// usual measures from 0 to 1 are tried, at usual cutoffs.
    #[arg(value_name = "FILES", allow_negative_numbers = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    files: FileOptions,
    #[command(flatten)]
    formats: FormatOptions,

    /// Values of queries: per-query output of laneval (TSV, CSV, JSON) or of trec_eval -q, or two
    /// columns of query and value
    #[arg(long, value_name = "FILE", help_heading = "Measures")]
    scores: Option<PathBuf>,
    /// The measure of the values of --scores, such as nDCG@10 [default: as the file says, else any]
    #[arg(short, long, value_name = "MEASURE", requires = "scores", help_heading = "Measures")]
    measure: Option<String>,
    /// The number of exact decimals of all numbers [default: as many as each shows]
    #[arg(long, value_name = "N", help_heading = "Measures")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=17))]
    digits: Option<u8>,

    /// Drop documents from the rankings whose id is that of their query, as BEIR does
    #[arg(long, help_heading = "Ranking")]
    drop_identical_ids: bool,

    /// The number of classes to list
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Output")]
    top: usize,
    /// The format [default: by the extension of -o, else table]
    #[arg(
        long, value_name = "FORMAT", value_parser = one_of(answer_formats()),
        help_heading = "Output"
    )]
    format: Option<Format>,
    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print no notes on stderr; warnings stay
    #[arg(long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Lists the formats of an answer.
fn answer_formats() -> Vec<NamedChoice<Format>> {
    let has_one = |format: &Format| matches!(format, Format::Table | Format::Json);
    formats().into_iter().filter(|(_, format, _)| has_one(format)).collect()
}

/// The run that is asked about, in every order that can be told.
struct AskedMatrices {
    all: Vec<LabelMatrix>,
    /// What cannot be told, if something cannot.
    note: Option<String>,
}

impl IdentifyAsked {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let format = self.format()?;
        let files = self.files_given()?;
        let paths: Vec<PathBuf> =
            self.inputs.iter().take(files).cloned().chain(self.scores.clone()).collect();
        let output = Output::new(self.file(), &paths)?;
        self.threads.install_for(bytes(&paths), || {
            let progress = Progress::start("reading", WorkAmount::of(bytes(&paths)), self.quiet);
            let matrices = if files == 1 { self.stored()? } else { self.joined()? };
            drop(progress);
            let progress = Progress::start("trying definitions", WorkAmount::Unknown, self.quiet);
            let mut asked = Identify::of(&matrices.all)?.digits(self.digits).top(self.top);
            for number in &self.inputs[files..] {
                let (name, number) = named_number(number)?;
                asked = asked.number(&name, &number)?;
            }
            if let Some(path) = &self.scores {
                let (name, rows) = values::read(path, self.measure.as_deref())?;
                asked = asked.scores(&name, rows)?;
            }
            let found = asked.run()?;
            drop(progress);
            if !self.quiet {
                let all = self.formats.notes().into_iter().chain(self.threads.note());
                all.for_each(|note| say(&note));
                let notes = found.notes.iter().cloned().chain(matrices.note);
                notes.for_each(|text| say(&Note::Note(text)));
            }
            let look = ReportOptions {
                width: stdout_width().filter(|_| self.file().is_none()),
                ..ReportOptions::default()
            };
            let is_text = format == Format::Table;
            output.write_text(is_text, |mut to| format.write_identified(&found, &look, &mut to))?;
            if found.verdict.names_one() { Ok(()) } else { Err(Stop::Coded(1, Vec::new())) }
        })
    }

    /// The number of arguments that are files: a label matrix, or judgments and a run. The others
    /// are numbers.
    fn files_given(&self) -> Result<usize, Stop> {
        let usage =
            || Stop::new("give QRELS RUN and numbers such as nDCG@10=0.4561, or --scores FILE");
        let first = self.inputs.first().ok_or_else(usage)?;
        let is_matrix = recognise(std::slice::from_ref(first))?.contains(&true);
        let files = if is_matrix { 1 } else { 2 };
        if self.inputs.len() < files || self.inputs.len() == files && self.scores.is_none() {
            return Err(usage());
        }
        if files == 2 {
            let run = RunPath::of(&self.inputs[1]);
            if recognise(&[first.clone(), run.path.clone()])?[1] {
                let path = shown(&run.path);
                return Err(Stop::new(format!(
                    "{path} is a label matrix, which has its judgments: give it alone"
                )));
            }
        }
        Ok(files)
    }

    /// Opens a label matrix. It has one order of equal scores and its reverse.
    fn stored(&self) -> Result<AskedMatrices, Stop> {
        let path = &self.inputs[0];
        let matrix = LabelMatrix::open(path, self.files.access())?;
        if matrix.tied_groups().is_none() {
            let path = shown(path);
            return Err(Stop::new(format!(
                "{path} does not know its ties: build it again with --keep-ties"
            )));
        }
        let note = format!(
            "{} knows no other orders of equal scores than {} and its reverse, and no other type \
             of scores: QRELS RUN tell more",
            shown(path),
            matrix.rule().ties
        );
        Ok(AskedMatrices { all: vec![matrix], note: Some(note) })
    }

    /// Joins the run in every order of equal scores, if there are any that matter, and by both
    /// types of scores.
    fn joined(&self) -> Result<AskedMatrices, Stop> {
        let run = RunPath::of(&self.inputs[1]);
        let mut ranking = RankingOptions::of(self.formats.clone());
        ranking.drop_identical_ids = self.drop_identical_ids;
        let join = Join { keep_ties: true, ..ranking.rule(self.files)? };
        let qrels = join.qrels(Input::from(self.inputs[0].clone()))?;
        let input = read_again(&run)?;
        let all = joined_in_every_order(&join, |join| join.runs(&qrels, [input.clone()]))?;
        Ok(AskedMatrices { all, note: None })
    }

    /// Returns the file to write to; `-` is stdout.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    fn format(&self) -> Result<Format, Stop> {
        let known = answer_formats();
        let is_known = |of: &Format| known.iter().any(|(_, format, _)| format == of);
        match (self.format, self.file()) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Format::Table),
            (None, Some(path)) => Format::of_path(path)
                .filter(is_known)
                .ok_or_else(|| unknown_extension(path, &["json", "txt"], ", or use --format")),
        }
    }
}

/// The input of a run that can be read several times: what comes through a pipe is held in memory.
fn read_again(run: &RunPath) -> Result<RunInput, Stop> {
    let is_stdin = run.path.as_os_str() == "-";
    if !is_stdin && run.path.metadata().map_or(true, |file| file.is_file()) {
        return Ok(run.input());
    }
    let mut bytes = Vec::new();
    let read = if is_stdin {
        stdin().read_to_end(&mut bytes)
    } else {
        File::open(&run.path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    let name = if is_stdin { "stdin".to_owned() } else { run.shown() };
    read.map_err(|error| Stop::new(format!("{name}: cannot read: {error}")))?;
    Ok(Input::Bytes { name, bytes }.into())
}

/// Reads `name=number` or a number alone.
fn named_number(argument: &Path) -> Result<(String, String), Stop> {
    let text = argument
        .to_str()
        .ok_or_else(|| Stop::new(format!("{} is not a number", shown(argument))))?;
    Ok(match text.rsplit_once('=') {
        Some((name, number)) if !number.ends_with(')') => {
            (name.trim().to_owned(), number.to_owned())
        }
        _ => (String::new(), text.to_owned()),
    })
}

//! `laneval build`: joins runs to judgments once, and keeps the label matrix as a file.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::formats::FormatOptions;
use super::inputs::{FileOptions, NameOptions, RankingOptions, RunPath, bytes, named, recognise};
use super::output::{self, unknown_extension};
use super::progress::{Progress, WorkAmount};
use super::refused::{self, Wish};
use super::stop::Stop;
use super::style::{counted, say, shown, tell};
use super::threads::Threads;
use super::units::UnitOptions;

const EXAMPLES: &str = "\
Examples:
  laneval build qrels.txt bm25.run dense.run -o trec8.lmx
  laneval build qrels.txt runs/*.gz -o top1000.lmx -M 1000 --score f32";

/// The extension of a label matrix.
pub const EXTENSION: &str = "lmx";

/// Join runs to judgments into one file, a label matrix.
///
/// It is evaluated without the text, and again and again in little time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    /// Judgments, plain or compressed; `-` is stdin
    qrels: PathBuf,
    /// Runs, plain or compressed; `-` is stdin; name=path gives a run a name
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The file to write
    ///
    /// It appears only when it is complete.
    #[arg(short, long, value_name = "FILE.lmx")]
    output: PathBuf,
    /// Keep which documents with equal scores have different labels
    ///
    /// Only such a file gives values over all orders of equal scores. It is a little larger;
    /// `laneval info` says how many scores are equal.
    #[arg(long)]
    keep_ties: bool,
    /// Print nothing on stderr
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    files: FileOptions,
    #[command(flatten)]
    naming: NameOptions,
    #[command(flatten)]
    ranking: RankingOptions,
    #[command(flatten)]
    threads: Threads,
}

impl Build {
    /// Makes a build of judgments and runs in these formats, without other options.
    pub fn of(
        (qrels, runs): (PathBuf, Vec<PathBuf>),
        output: PathBuf,
        (formats, units): (FormatOptions, UnitOptions),
        quiet: bool,
    ) -> Self {
        let mut ranking = RankingOptions::of(formats);
        ranking.units = units;
        let (keep_ties, files, threads) = Default::default();
        let naming = NameOptions::PATH;
        Build { qrels, runs, output, keep_ties, quiet, files, naming, ranking, threads }
    }

    /// Runs the command.
    pub fn run(mut self) -> Result<(), Stop> {
        self.settle()?;
        let arguments: Vec<PathBuf> =
            [&self.qrels].into_iter().chain(&self.runs).cloned().collect();
        let (runs, inputs) = named(&arguments);
        if self
            .output
            .extension()
            .is_some_and(|extension| !extension.eq_ignore_ascii_case(EXTENSION))
        {
            return Err(unknown_extension(&self.output, &[EXTENSION], ""));
        }
        output::check(&self.output, &inputs)?;
        if let Some((path, _)) = inputs.iter().zip(recognise(&inputs)?).find(|&(_, matrix)| matrix)
        {
            return Err(Stop::new(format!(
                "{} is a label matrix already: build from QRELS RUN...",
                shown(path)
            )));
        }
        self.threads.install(|| self.build(&runs))
    }

    /// Takes the tie order and score type of the library that was asked for. If the library values
    /// all orders of equal scores, the matrix keeps its ties, so that an evaluation of the file can
    /// value all orders too.
    fn settle(&mut self) -> Result<(), Stop> {
        let given = self.ranking.ties;
        self.ranking.settle()?;
        if given.is_none() && self.ranking.needs_ties() {
            (self.ranking.ties, self.keep_ties) = (None, true);
        }
        Ok(())
    }

    fn build(&self, runs: &[RunPath]) -> Result<(), Stop> {
        let start = Instant::now();
        let own = [(Wish::Build, true), (Wish::KeepTies, self.keep_ties)];
        refused::check(own.into_iter().chain(refused::of_ties(self.ranking.ties)))?;
        let paths: Vec<PathBuf> = runs.iter().map(|run| run.path.clone()).collect();
        let amount = WorkAmount::of(bytes([&self.qrels].into_iter().chain(&paths)));
        let progress = Progress::start("reading", amount, self.quiet);
        let matrix = self.ranking.join(
            (&self.qrels, runs),
            (self.files, self.naming),
            self.keep_ties,
            progress.watch(),
        )?;
        drop(progress);
        let progress = Progress::start("writing", WorkAmount::Unknown, self.quiet);
        matrix.write(&self.output)?;
        drop(progress);
        if !self.quiet {
            self.threads.note().iter().chain(&self.ranking.formats.notes()).for_each(say);
            let labels = matrix.depths().iter().map(|&depth| u64::from(depth)).sum();
            let bytes = self.output.metadata().map_or(0, |file| file.len());
            tell(format_args!(
                "{}: {}, {}, {}, {} in {:.3} s",
                shown(&self.output),
                counted(matrix.runs().len() as u64, "run"),
                counted(matrix.queries().len() as u64, "judged query"),
                counted(labels, "label"),
                counted(bytes, "byte"),
                start.elapsed().as_secs_f64()
            ));
        }
        Ok(())
    }
}

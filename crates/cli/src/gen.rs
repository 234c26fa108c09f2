//! `laneval gen`: synthetic judgments and runs of any size, for benchmarks.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use laneval::internals::{Synthetic, whole_file};
use laneval::report::Note;

use super::build::EXTENSION;
use super::output::{self, unknown_extension};
use super::progress::{Progress, WorkAmount};
use super::signals;
use super::stop::Stop;
use super::style::{counted, say, shown, tell};
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  laneval gen --queries 6980 --depth 1000 -o data && \\
    laneval eval data/qrels.txt data/run.txt
  laneval gen --queries 100000 --depth 1000 --density 0.01 -o dense.lmx
  laneval gen --queries 50 --runs 100 --judged 1500 --seed 7 -o trec";

/// Make synthetic judgments and runs, for benchmarks.
///
/// The data look like a test collection: few documents of a query are judged, most of those near
/// the top of its ranking; 5 % of the scores are tied; the lines of a query are together, best
/// first. The same options make the same bytes, whatever the number of threads.
///
/// Into a folder go qrels.txt and run.txt, or run-1.txt and so on; a file that ends in .lmx is the
/// label matrix of the same data, made without text.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Gen {
    /// The number of queries, all of them judged and in every run
    #[arg(
        long, value_name = "N", default_value_t = Synthetic::default().queries,
        value_parser = positive()
    )]
    queries: u32,
    /// The number of documents that a run retrieves for a query
    #[arg(
        long, value_name = "K", default_value_t = Synthetic::default().depth,
        value_parser = positive()
    )]
    depth: u32,
    /// The number of judged documents of a query; more if --density needs more
    #[arg(
        long, value_name = "J", default_value_t = Synthetic::default().judged,
        value_parser = positive()
    )]
    judged: u32,
    /// The number of grades, counted from 0
    #[arg(long, value_name = "G", default_value_t = Synthetic::default().grades)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=253))]
    grades: u8,
    /// The share of the retrieved documents that are relevant, spread evenly [default: as the
    /// judged documents happen to be retrieved]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    density: Option<f64>,
    /// The number of runs; each after the first ranks and retrieves a little differently
    #[arg(
        long, value_name = "R", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    runs: u16,
    /// The seed of the random numbers that the data are made of
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The folder to write into, made if it is missing, or a label matrix
    #[arg(short, long, value_name = "DIR|FILE.lmx")]
    output: PathBuf,
    /// Print nothing on stderr
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Makes a parser of numbers from 1 on.
pub fn positive() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// Reads a share, 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share, 0 to 1, was expected".to_owned())
}

impl Gen {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let start = Instant::now();
        let matrix = self.is_matrix()?;
        let others = if matrix { None } else { self.other_runs() };
        self.threads.install(|| if matrix { self.matrix() } else { self.text() })?;
        if !self.quiet {
            self.threads.note().iter().for_each(say);
            others.iter().for_each(say);
            let labels = u64::from(self.queries) * u64::from(self.depth) * u64::from(self.runs);
            tell(format_args!(
                "{}: {}, {}, {} in {:.3} s",
                shown(&self.output),
                counted(self.runs.into(), "run"),
                counted(self.queries.into(), "judged query"),
                counted(labels, "result"),
                start.elapsed().as_secs_f64()
            ));
        }
        Ok(())
    }

    /// Returns whether a label matrix is written, and not a folder. An output with the extension of
    /// another kind of file may be a mistake.
    fn is_matrix(&self) -> Result<bool, Stop> {
        let folder =
            self.output.is_dir() || self.output.as_os_str().as_encoded_bytes().ends_with(b"/");
        match self.output.extension().filter(|_| !folder) {
            None => Ok(false),
            Some(extension) if extension.eq_ignore_ascii_case(EXTENSION) => Ok(true),
            Some(_) => Err(unknown_extension(
                &self.output,
                &[EXTENSION],
                ", or end the name of a folder in /",
            )),
        }
    }

    /// Notes the runs in the folder that an earlier call made and this one does not replace.
    fn other_runs(&self) -> Option<Note> {
        let made = self.synthetic().run_names();
        let files = std::fs::read_dir(&self.output).ok()?;
        let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
        let is_run = |name: &String| {
            let number = name.strip_prefix("run-").and_then(|rest| rest.strip_suffix(".txt"));
            name == "run.txt" || number.is_some_and(|number| number.parse::<u16>().is_ok())
        };
        let mut others: Vec<String> =
            names.filter(is_run).filter(|name| !made.contains(name)).collect();
        others.sort_unstable();
        let more = if others.len() > 3 {
            format!(" and {} more", others.len() - 3)
        } else {
            String::new()
        };
        let listed = others.get(..3).unwrap_or(&others).join(", ");
        let text =
            format!("{} has runs of other judgments too: {listed}{more}", shown(&self.output));
        (!others.is_empty()).then_some(Note::Warning(text))
    }

    fn synthetic(&self) -> Synthetic {
        let Gen { queries, depth, judged, grades, density, runs, seed, .. } = *self;
        Synthetic { queries, depth, judged, grades, density, runs, seed }
    }

    fn matrix(&self) -> Result<(), Stop> {
        output::check(&self.output, &[])?;
        let _progress = Progress::start("making labels", WorkAmount::Unknown, self.quiet);
        Ok(self.synthetic().matrix()?.write(&self.output)?)
    }

    fn text(&self) -> Result<(), Stop> {
        let folder: &Path = &self.output;
        signals::clean_up();
        let _made = whole_file::make_folder(folder)
            .map_err(|e| Stop::new(format!("{}: cannot make a folder: {e}", shown(folder))))?;
        let progress = Progress::start("writing", WorkAmount::Bytes(None), self.quiet);
        Ok(self.synthetic().write_text_watched(folder, progress.watch().as_deref())?)
    }
}

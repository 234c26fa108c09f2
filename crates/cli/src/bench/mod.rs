//! `laneval bench`: how fast this machine computes, compared with how fast it reads.

mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod measure;
mod report;
mod turns;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use laneval::LabelMatrix;
use laneval::internals::{Cpu, Synthetic};

use super::choice::{PlainFormat, adapter, one_of, plain};
use super::r#gen::{positive, share};
use super::inputs::FileOptions;
use super::output::{Output, unknown_extension};
use super::stop::Stop;
use super::style::{counted, say};
use super::threads::Threads;
use measure::{BenchRows, Subject};
use report::Report;
use turns::Turns;

const EXAMPLES: &str = "\
Examples:
  laneval bench
  laneval bench trec8.lmx --seconds 2
  laneval bench --queries 100000 --depth 100 --density 0.05 -o bench.json
  laneval bench --adapter llvmpipe";

const USAGE: &str = "laneval bench [OPTIONS]\n       laneval bench [OPTIONS] <FILE.lmx>";

/// Measure how fast this machine evaluates.
///
/// It is compared with how fast the machine reads memory.
///
/// Six measures (AP, RR, nDCG@10, nDCG, P@10, R@100) by the plain formulas, at every level of SIMD,
/// on all threads and on a GPU; each fold alone; and only reading the labels. Every engine must
/// give the same averages, or nothing is reported.
///
/// Rows with the same number of threads are run in turns, each for --seconds and at least three
/// times; the best time counts.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub struct Bench {
    /// A label matrix made by `laneval build` or `laneval gen` [default: synthetic labels]
    #[arg(
        value_name = "FILE.lmx",
        conflicts_with_all = ["queries", "depth", "density", "grades", "seed"]
    )]
    file: Option<PathBuf>,
    #[command(flatten)]
    files: FileOptions,

    /// The number of queries
    #[arg(
        long, value_name = "N", default_value_t = 20_000, value_parser = positive(),
        help_heading = "Synthetic labels"
    )]
    queries: u32,
    /// The number of documents that are retrieved for a query
    #[arg(
        long, value_name = "K", default_value_t = 1000, value_parser = positive(),
        help_heading = "Synthetic labels"
    )]
    depth: u32,
    /// The share of the retrieved documents that are relevant
    #[arg(
        long, value_name = "SHARE", default_value_t = 0.01, value_parser = share,
        help_heading = "Synthetic labels"
    )]
    density: f64,
    /// The number of grades, counted from 0
    #[arg(long, value_name = "G", default_value_t = 4, help_heading = "Synthetic labels")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=253))]
    grades: u8,
    /// The seed of the random numbers that labels are made of
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Synthetic labels")]
    seed: u64,

    /// The GPU, by its number or a part of its name; software only when named [default: the most
    /// powerful]
    #[arg(long, value_name = "NAME|INDEX", value_parser = adapter, help_heading = "Engine")]
    adapter: Option<String>,
    #[command(flatten)]
    threads: Threads,
    /// The time for which each row is run, again and again, in seconds
    #[arg(
        long, value_name = "S", default_value_t = 0.5, value_parser = seconds,
        help_heading = "Engine"
    )]
    seconds: f64,

    /// The format of the report [default: table, or by the extension of -o]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(plain()), help_heading = "Output")]
    format: Option<PlainFormat>,
    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// Finds the format that the extension of a file names.
fn of_path(file: Option<&Path>) -> Result<PlainFormat, Stop> {
    let extension = file.and_then(|path| Some((path, path.extension()?)));
    match extension {
        None => Ok(PlainFormat::Table),
        Some((_, name)) if name.eq_ignore_ascii_case("json") => Ok(PlainFormat::Json),
        Some((_, name)) if name.eq_ignore_ascii_case("txt") => Ok(PlainFormat::Table),
        Some((path, _)) => Err(unknown_extension(path, &["json", "txt"], ", or use --format")),
    }
}

/// Reads a time in seconds, from 0 to an hour.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds, 0 to 3600, was expected".to_owned())
}

impl Bench {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let file = self.output.as_deref().filter(|path| path.as_os_str() != "-");
        let format = self.format.map_or_else(|| of_path(file), Ok)?;
        self.threads.note().iter().for_each(say);
        let output = Output::new(file, self.file.as_slice())?;
        let report = self.threads.install(|| self.measure())?;
        output.write_text(format == PlainFormat::Table, |to| match format {
            PlainFormat::Json => report.write_json(to),
            PlainFormat::Table => report.write_table(file.is_none(), to),
        })
    }

    fn measure(&self) -> Result<Report, Stop> {
        let budget = Duration::from_secs_f64(self.seconds);
        measure_all(&Subject::new(self.matrix()?)?, budget, self.adapter.as_deref())
    }

    fn matrix(&self) -> Result<LabelMatrix, Stop> {
        if let Some(file) = &self.file {
            return Ok(LabelMatrix::open(file, self.files.access())?);
        }
        let Bench { queries, depth, grades, seed, .. } = *self;
        let density = Some(self.density);
        Ok(Synthetic { queries, depth, grades, density, seed, ..Synthetic::default() }.matrix()?)
    }
}

/// Times all works, each for the time `budget`.
fn measure_all(subject: &Subject, budget: Duration, adapter: Option<&str>) -> Result<Report, Stop> {
    let gpu = gpu::open(subject, adapter)?;
    let threads = rayon::current_num_threads();
    let alone = 3 + Cpu::levels().len() + subject.folds.names().len();
    let others = |times: bool| if times { 4 + subject.folds.names().len() } else { 0 };
    let turns = Turns::new(budget, alone + others(threads > 1) + others(gpu.is_ok()));
    let mut found = BenchRows::default();
    turns.say("CPU, 1 thread");
    found.rows = if threads > 1 {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let one = one.map_err(|e| Stop::new(format!("cannot start a thread: {e}")))?;
        one.install(|| cpu::rows(subject, &turns))?
    } else {
        cpu::rows(subject, &turns)?
    };
    if subject.labels > cpu::PLAIN_LABELS {
        let note = "the plain formulas were not timed: there are too many labels for them";
        found.notes.push(note.to_owned());
    }
    if threads > 1 {
        turns.say(&format!("CPU, {}", counted(threads as u64, "thread")));
        found.rows.extend(cpu::rows(subject, &turns)?);
    }
    let adapter = match &gpu {
        Ok(gpu) => {
            turns.say("GPU");
            gpu::rows(gpu, subject, &turns, &mut found)?;
            Ok(gpu::adapter(gpu))
        }
        Err(reason) => Err(reason.clone()),
    };
    drop(turns);
    Ok(Report::new(subject, adapter, found))
}

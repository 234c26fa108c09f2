//! `laneval bench`: times the evaluation of a label matrix on CPU and GPU, and compares it with
//! reading memory.

mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod measure;
mod report;
mod round_robin;

use std::path::{Path, PathBuf};
use std::time::Duration;

use laneval::LabelMatrix;
use laneval::internals::Cpu;
use laneval::options::Given;

use super::{
    cli_error::{CliError, CliResult},
    command_row::{CommandRow, Inputs},
    r#gen::synthetic,
    output::{Output, PlainFormat, output_file, unknown_extension, write_json},
    style::{pluralize, print_note},
    threads::Threads,
};
use measure::{BenchRows, Subject};
use report::BenchReport;
use round_robin::RoundRobin;

/// `laneval bench`.
pub const COMMAND: CommandRow = CommandRow {
    name: "bench",
    first: "Benchmark evaluation on this machine",
    more: "The times are compared with how fast the machine reads memory.\n\n\
        Rows are six measures by the plain formulas, at every level of SIMD, on all threads and on \
        a GPU; each fold alone; and only reading the labels. Every engine must give the same \
        averages, or nothing is reported. The best of three times or more counts.",
    usage: &["bench [OPTIONS]", "bench [OPTIONS] <FILE.lmx>"],
    inputs: Some(Inputs {
        name: "FILE.lmx",
        first: "A label matrix [default: synthetic labels]",
        more: "`laneval build` and `laneval gen` make label matrices.",
        count: (0, 1),
        is_last: false,
    }),
    examples: &[
        "laneval bench",
        "laneval bench trec8.lmx --seconds 2",
        "laneval bench --query-count 100000 --results 100 --density 0.05 -o bench.json",
        "laneval bench --adapter llvmpipe",
    ],
    page: "scale.md",
    run: |arguments| Bench { given: arguments.given, inputs: arguments.inputs }.run(),
    ..CommandRow::NEW
};

/// The options of `laneval bench`, and the label matrix to time, if one was given.
struct Bench {
    given: Given,
    inputs: Vec<PathBuf>,
}

/// Returns the format of the report of `laneval bench`, by the extension of the output file: JSON,
/// or a table.
fn format_for_path(file: Option<&Path>) -> CliResult<PlainFormat> {
    match file.and_then(|path| Some((path, path.extension()?))) {
        None => Ok(PlainFormat::Table),
        Some((_, name)) if name.eq_ignore_ascii_case("json") => Ok(PlainFormat::Json),
        Some((_, name)) if name.eq_ignore_ascii_case("txt") => Ok(PlainFormat::Table),
        Some((path, _)) => Err(unknown_extension(path, &["json", "txt"], ", or use --format")),
    }
}

impl Bench {
    /// Runs `laneval bench`: times evaluation on this machine, and writes the report.
    fn run(self) -> CliResult<()> {
        let file = output_file(&self.given);
        let format = self.given.value("format")?.map_or_else(|| format_for_path(file), Ok)?;
        let threads = Threads::new(&self.given)?;
        threads.note().iter().for_each(print_note);
        let output = Output::new(file, &self.inputs)?;
        let report = threads.install(|| self.measure())?;
        output.write_text(format == PlainFormat::Table, |to| match format {
            PlainFormat::Json => write_json(&report, to),
            PlainFormat::Table => report.write_table(file.is_none(), to),
        })
    }

    fn measure(&self) -> CliResult<BenchReport> {
        let budget = Duration::from_secs_f64(self.given.required("seconds")?);
        measure_all(&Subject::new(self.matrix()?)?, budget, self.given.text("adapter"))
    }

    fn matrix(&self) -> CliResult<LabelMatrix> {
        match self.inputs.first() {
            Some(file) => Ok(LabelMatrix::open(file, self.given.access())?),
            None => Ok(synthetic(&self.given)?.matrix()?),
        }
    }
}

/// Times all work of `laneval bench` on the CPU and on a GPU, each for the time `budget`, and makes
/// the report.
fn measure_all(
    subject: &Subject,
    budget: Duration,
    adapter: Option<&str>,
) -> CliResult<BenchReport> {
    let gpu = gpu::open(subject, adapter)?;
    let threads = rayon::current_num_threads();
    let alone = 3 + Cpu::levels().len() + subject.folds.names().len();
    let others = usize::from(threads > 1) + usize::from(gpu.is_ok());
    let turns = RoundRobin::new(budget, alone + others * (4 + subject.folds.names().len()));
    let mut found = BenchRows::default();
    turns.show_progress("CPU, 1 thread");
    found.rows = if threads > 1 {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let one = one.map_err(|e| CliError::new(format!("cannot start a thread: {e}")))?;
        one.install(|| cpu::rows(subject, &turns))?
    } else {
        cpu::rows(subject, &turns)?
    };
    if subject.labels > cpu::PLAIN_LABELS {
        let note = "the plain formulas were not timed: there are too many labels for them";
        found.notes.push(note.to_owned());
    }
    if threads > 1 {
        turns.show_progress(&format!("CPU, {}", pluralize(threads as u64, "thread")));
        found.rows.extend(cpu::rows(subject, &turns)?);
    }
    let adapter = match &gpu {
        Ok(gpu) => {
            turns.show_progress("GPU");
            gpu::rows(gpu, subject, &turns, &mut found)?;
            Ok(gpu::adapter(gpu))
        }
        Err(reason) => Err(reason.clone()),
    };

    drop(turns);
    Ok(BenchReport::new(subject, adapter, found))
}

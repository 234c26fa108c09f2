//! `laneval gen`: synthetic judgments and runs of any size, for benchmarks.

use std::path::Path;
use std::time::Instant;

use laneval::Error;
use laneval::internals::{Synthetic, whole_file};
use laneval::options::{Given, random_seed};
use laneval::report::Note;

use super::{
    build::EXTENSION,
    cli_error::CliResult,
    command_row::CommandRow,
    output::{self, unknown_extension},
    progress::{Progress, WorkAmount},
    signals,
    style::{pluralize, print_note, print_written, shown},
    threads::Threads,
};

/// `laneval gen`.
pub const COMMAND: CommandRow = CommandRow {
    name: "gen",
    first: "Generate synthetic qrels and runs",
    more: "The data look like a test collection: few documents of a query are judged, most of \
        those near the top of its ranking, and 5 % of the scores are tied. The same options make \
        the same bytes.\n\n\
        Into a folder go qrels.txt and run.txt, or run-1.txt and so on; a .lmx file is the label \
        matrix of the same data.",
    usage: &["gen [OPTIONS] --output <DIR|FILE.lmx>"],
    examples: &[
        "laneval gen --query-count 6980 --results 1000 -o data && \\\n    \
            laneval eval data/qrels.txt data/run.txt",
        "laneval gen --query-count 100000 --results 1000 --density 0.01 -o dense.lmx",
        "laneval gen --query-count 50 --runs 100 --judged 1500 --seed 7 -o trec",
    ],
    page: "scale.md",
    run: |arguments| Gen { given: arguments.given }.run(),
    ..CommandRow::NEW
};

/// The options of `laneval gen`.
struct Gen {
    given: Given,
}

/// Returns the description of the synthetic data that the options of `gen` or `bench` ask for.
pub fn synthetic(given: &Given) -> Result<Synthetic, Error> {
    let default = Synthetic::default();
    Ok(Synthetic {
        queries: given.required("query-count")?,
        depth: given.required("results")?,
        judged: given.value("judged")?.unwrap_or(default.judged),
        grades: given.required("grades")?,
        density: given.value("density")?,
        runs: given.value("runs")?.unwrap_or(default.runs),
        seed: given.parsed("seed", random_seed)?.unwrap_or(default.seed),
    })
}

impl Gen {
    /// Runs `laneval gen`: writes synthetic judgments and runs, or their label matrix.
    fn run(self) -> CliResult<()> {
        let start = Instant::now();
        let (output, data) = (self.given.required_path("output")?, synthetic(&self.given)?);
        let threads = Threads::new(&self.given)?;
        let matrix = is_matrix(output)?;
        // Before the runs are written, because afterwards they could not be told from others.
        let others = if matrix { None } else { other_runs(output, data) };
        threads
            .install(|| if matrix { self.matrix(output, data) } else { self.text(output, data) })?;
        if !self.given.flag("quiet") {
            threads.note().iter().for_each(print_note);
            others.iter().for_each(print_note);
            let labels = u64::from(data.queries) * u64::from(data.depth) * u64::from(data.runs);
            let contents = [
                pluralize(data.runs.into(), "run"),
                pluralize(data.queries.into(), "judged query"),
                pluralize(labels, "result"),
            ];
            print_written(output, contents.join(", "), start);
        }
        Ok(())
    }

    fn matrix(&self, output: &Path, data: Synthetic) -> CliResult<()> {
        output::check(output, &[])?;
        let quiet = self.given.flag("quiet");
        let _progress = Progress::start("making labels", WorkAmount::Unknown, quiet);
        Ok(data.matrix()?.write(output)?)
    }

    fn text(&self, folder: &Path, data: Synthetic) -> CliResult<()> {
        signals::clean_up();
        let _made = whole_file::make_folder(folder)
            .map_err(|error| Error::io(folder, "make a folder", error))?;
        let quiet = self.given.flag("quiet");
        let progress = Progress::start("writing", WorkAmount::Bytes(None), quiet);
        Ok(data.write_text_watched(folder, progress.watch().as_deref())?)
    }
}

/// Returns whether `laneval gen` writes a label matrix, and not a folder of text files. An output
/// with the extension of another kind of file may be a mistake.
fn is_matrix(output: &Path) -> CliResult<bool> {
    let folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    match output.extension().filter(|_| !folder) {
        None => Ok(false),
        Some(extension) if extension.eq_ignore_ascii_case(EXTENSION) => Ok(true),
        Some(_) => {
            Err(unknown_extension(output, &[EXTENSION], ", or end the name of a folder in /"))
        }
    }
}

/// Warns of runs in the output folder that an earlier `laneval gen` made and this one does not
/// replace.
fn other_runs(folder: &Path, data: Synthetic) -> Option<Note> {
    let run_names = data.run_names();
    let files = std::fs::read_dir(folder).ok()?;
    let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
    let mut others: Vec<String> =
        names.filter(|name| is_run_name(name) && !run_names.contains(name)).collect();
    others.sort_unstable();
    let more =
        if others.len() > 3 { format!(" and {} more", others.len() - 3) } else { String::new() };
    let listed = others.get(..3).unwrap_or(&others).join(", ");
    let text = format!("{} has runs of other judgments too: {listed}{more}", shown(folder));
    (!others.is_empty()).then_some(Note::Warning(text))
}

/// Returns whether a file is named like a run of `laneval gen`: `run.txt`, or `run-1.txt` and so
/// on.
fn is_run_name(name: &str) -> bool {
    let number = name.strip_prefix("run-").and_then(|rest| rest.strip_suffix(".txt"));
    name == "run.txt" || number.is_some_and(|number| number.parse::<u16>().is_ok())
}

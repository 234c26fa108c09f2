//! `laneval build`: joins runs to judgments once, and keeps the label matrix as a `.lmx` file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use laneval::options::{Given, TieRule};

use super::{
    cli_error::{CliResult, fail},
    command_row::{CommandRow, Inputs},
    conflicts::{self, Requested},
    inputs::{RankingOptions, RunPath, TEXTS, bytes, find_matrices, named_runs},
    output::{self, unknown_extension},
    progress::{Progress, WorkAmount},
    style::{pluralize, print_note, print_written, shown},
    threads::Threads,
};

/// `laneval build`.
pub const COMMAND: CommandRow = CommandRow {
    name: "build",
    first: "Join qrels and runs into a label matrix (.lmx)",
    more: "It holds the labels of all results in the order of their ranks: `eval` and `compare` \
        read it \
        in place of the text, in a fraction of the time.",
    usage: &["build [OPTIONS] <QRELS> <RUN>... --output <FILE.lmx>"],
    inputs: Some(Inputs {
        name: "FILES",
        first: "Qrels, then runs (or name=path)",
        more: TEXTS,
        // Not 2 or more: clap counts the arguments before an option and those behind it apart.
        count: (1, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval build qrels.txt bm25.run dense.run -o trec8.lmx",
        "laneval build qrels.txt runs/*.gz -o top1000.lmx -M 1000 --score-type f32",
    ],
    page: "lmx.md",
    run: |arguments| Build::new(arguments.given, arguments.inputs).run(),
    ..CommandRow::NEW
};

/// The extension of a label matrix.
pub const EXTENSION: &str = "lmx";

/// The command `laneval build`: its options, and the judgments and runs.
#[derive(Debug)]
pub struct Build {
    ranking: RankingOptions,
    inputs: Vec<PathBuf>,
}

impl Build {
    /// Makes the command of its options and of its inputs, the judgments and then the runs.
    pub fn new(given: Given, inputs: Vec<PathBuf>) -> Self {
        Self { ranking: RankingOptions::new(given), inputs }
    }

    /// Runs `laneval build`: joins runs to judgments, and writes the label matrix as a `.lmx` file.
    pub fn run(mut self) -> CliResult<()> {
        let output = self.ranking.given.required_path("output")?.to_owned();
        if self.inputs.len() < 2 {
            return fail("a matrix has judgments and runs: give QRELS RUN...");
        }
        self.apply_library()?;
        let (runs, paths) = named_runs(&self.inputs);
        if output.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case(EXTENSION)) {
            return Err(unknown_extension(&output, &[EXTENSION], ""));
        }
        output::check(&output, &paths)?;
        if let Some(at) = find_matrices(&paths)?.into_iter().position(|matrix| matrix) {
            return fail(format!(
                "{} is a label matrix already: build from QRELS RUN...",
                shown(&paths[at])
            ));
        }
        let threads = Threads::new(&self.ranking.given)?;
        threads.install(|| self.build(&output, &runs, &threads))
    }

    /// Takes the tie order and score type of the library that `--as` names, if it was given. If the
    /// library values all orders of equal scores, the matrix keeps its ties, so that an evaluation
    /// of the file can value all orders too.
    fn apply_library(&mut self) -> CliResult<()> {
        let has_rule = self.ranking.given.is_given("ties");
        self.ranking.given.apply_profile()?;
        // A rule that the user gave is refused later, if it is a value over all orders.
        if !has_rule && self.ranking.needs_ties() {
            self.ranking.given.set("ties", vec![TieRule::default().to_string().into()]);
            self.ranking.given.set("keep-ties", Vec::new());
        }
        Ok(())
    }

    fn build(&self, output: &Path, runs: &[RunPath], threads: &Threads) -> CliResult<()> {
        let start = Instant::now();
        let given = &self.ranking.given;
        let (keep_ties, quiet) = (given.flag("keep-ties"), given.flag("quiet"));
        let own = [(Requested::Build, true), (Requested::KeepTies, keep_ties)];
        let by_ties = conflicts::requested_by_ties(given.tie_rule()?);
        conflicts::check(own.into_iter().chain(by_ties))?;
        let qrels = &self.inputs[0];
        let paths: Vec<PathBuf> = runs.iter().map(|run| run.path.clone()).collect();
        let amount = WorkAmount::from_bytes(bytes([qrels].into_iter().chain(&paths)));
        let progress = Progress::start("reading", amount, quiet);
        let matrix = self.ranking.join(qrels, runs, keep_ties, progress.watch())?;
        drop(progress);
        let progress = Progress::start("writing", WorkAmount::Unknown, quiet);
        matrix.write(output)?;
        drop(progress);
        if !quiet {
            threads.note().iter().chain(&self.ranking.formats.notes()).for_each(print_note);
            let labels = matrix.depths().iter().map(|&depth| u64::from(depth)).sum();
            let bytes = output.metadata().map_or(0, |file| file.len());
            let contents = [
                pluralize(matrix.runs().len() as u64, "run"),
                pluralize(matrix.queries().len() as u64, "judged query"),
                pluralize(labels, "label"),
                pluralize(bytes, "byte"),
            ];
            print_written(output, contents.join(", "), start);
        }
        Ok(())
    }
}

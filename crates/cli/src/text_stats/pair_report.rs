//! The description by `laneval info` of judgments and runs that are given together.

use std::io::{self, Write};
use std::path::Path;

use laneval::{Error, Input, Join, RunInput};
use serde::Serialize;

use super::{
    field,
    judgments::JudgmentCounts,
    pair::{self, PairCounts},
    run::{self, RunCounts},
};
use crate::{
    cli_error::CliResult,
    inputs::RunPath,
    output::{PlainFormat, print_plain},
    pipe::read_to_memory,
    style::shown,
};

/// Counts of judgments and of runs for `laneval info`, with the overlap of each run and the
/// judgments.
#[derive(Serialize)]
struct DescribedPair {
    file: String,
    judgments: JudgmentCounts,
    runs: Vec<DescribedRun>,
}

#[derive(Serialize)]
struct DescribedRun {
    run: String,
    #[serde(flatten)]
    counts: RunCounts,
    #[serde(flatten)]
    pair: PairCounts,
}

/// Prints what judgments and runs contain and share, for `laneval info`. One run is in memory at a
/// time, a byte for each result.
pub fn print_pair(
    join: &Join,
    qrels: &Path,
    runs: &[RunPath],
    format: PlainFormat,
) -> CliResult<()> {
    let judgments = join.qrels(Input::from(qrels.to_owned()))?;
    let counts = JudgmentCounts::count(&judgments);
    let mut described = Vec::new();
    for run in runs {
        // Each run is read twice.
        let input = buffer_stream(run.input().input)?;
        let name = run.display_name();
        let of_run = run::read(join, &input, Some(&judgments))?;
        let pair = pair::read(join, &judgments, &counts, RunInput::named(&name, input))?;
        described.push(DescribedRun { run: name, counts: of_run, pair });
    }
    let described = DescribedPair { file: shown(qrels), judgments: counts, runs: described };
    print_plain(format, &described, |to| described.write(to))
}

/// Reads an input into memory if it is a stream, which can be read only once.
pub fn buffer_stream(input: Input) -> Result<Input, Error> {
    if input.is_stream() { read_to_memory(input) } else { Ok(input) }
}

impl DescribedPair {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        field(to, "judgments", &self.file)?;
        self.judgments.write(to)?;
        for run in &self.runs {
            writeln!(to)?;
            field(to, "run", &run.run)?;
            run.counts.write(to)?;
            run.pair.write(to)?;
        }
        Ok(())
    }
}

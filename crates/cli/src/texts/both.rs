//! The description of judgments and runs that are given together.

use std::io::{self, Write};
use std::path::Path;

use laneval::{Error, Input, Join, RunInput};
use serde::Serialize;

use super::field;
use super::judgments::JudgmentCounts;
use super::pair::{self, PairCounts};
use super::run::{self, RunCounts};
use crate::choice::PlainFormat;
use crate::inputs::RunPath;
use crate::output::print_text;
use crate::pipe::in_memory;
use crate::stop::Stop;
use crate::style::shown;

/// Counts of judgments and of runs, with the overlap of each run and the judgments.
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

/// Prints what judgments and runs contain. One run is in memory at a time, a byte for each result.
pub fn print_of(
    join: &Join,
    qrels: &Path,
    runs: &[RunPath],
    format: PlainFormat,
) -> Result<(), Stop> {
    let judgments = join.qrels(Input::from(qrels.to_owned()))?;
    let counts = JudgmentCounts::of(&judgments);
    let of_run = |run: &RunPath| {
        // Each run is read twice.
        let input = held(run.input().input().clone())?;
        let shown = run.shown();
        let of_run = run::read(join, &input, Some(&judgments))?;
        let pair = pair::read(join, &judgments, &counts, RunInput::named(&shown, input))?;
        Ok(DescribedRun { run: shown, counts: of_run, pair })
    };
    let runs = runs.iter().map(of_run).collect::<Result<Vec<_>, Error>>()?;
    let described = DescribedPair { file: shown(qrels), judgments: counts, runs };
    print_text(format == PlainFormat::Table, |to| match format {
        PlainFormat::Json => {
            serde_json::to_writer_pretty(&mut *to, &described)?;
            writeln!(to)
        }
        PlainFormat::Table => described.write(to),
    })
}

/// Reads a stream into memory, which can be read only once.
pub fn held(input: Input) -> Result<Input, Error> {
    if input.passes() { in_memory(input) } else { Ok(input) }
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

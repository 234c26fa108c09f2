//! The recognised format of judgments or a run, their first rows, and what they contain.

use std::io::Write;
use std::path::Path;

use laneval::error::printable;
use laneval::internals::Preview;
use laneval::report::{Align, Grid, ReportOptions};
use laneval::{Error, Input, Join, ReadAs};
use serde::Serialize;

use super::choice::PlainFormat;
use super::formats::{FormatOptions, tables};
use super::output::print_text;
use super::stop::Stop;
use super::style::{shown, stdout_width};
use super::texts::judgments::{self, JudgmentCounts};
use super::texts::run::{self, RunCounts};
use super::texts::{both, field};

/// The number of rows that are shown.
const ROWS: usize = 5;

/// A file that is not a label matrix.
#[derive(Serialize)]
struct PreviewedText {
    file: String,
    judgments: TakenAs,
    run: TakenAs,
    rows: Vec<PreviewedRow>,
    contents: TextContents,
}

/// What a text contains, read in each of the ways in which it can be read.
#[derive(Serialize)]
struct TextContents {
    #[serde(skip_serializing_if = "Option::is_none")]
    judgments: Option<CountedText<JudgmentCounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<CountedText<RunCounts>>,
}

/// The counts of a text, or the first of the reasons why it cannot be read as a whole.
#[derive(Serialize)]
#[serde(untagged)]
enum CountedText<C> {
    Counts(C),
    Wrong { error: String },
}

/// The format of a file as judgments or as a run, or why it cannot be read so.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum TakenAs {
    For(String),
    Error(String),
}

/// A row as it is read.
#[derive(Serialize)]
#[serde(untagged)]
enum PreviewedRow {
    Read { line: u64, query: String, document: String, number: String },
    Wrong { line: u64, error: String },
}

/// Prints the format of a file; it is an error if the file can be neither judgments nor a run.
pub fn print_of(
    path: &Path,
    formats: &FormatOptions,
    join: &Join,
    format: PlainFormat,
) -> Result<(), Stop> {
    // A stream can be read only once.
    let input = both::held(Input::from(path.to_owned()))?;
    let (qrels_as, runs_as) = formats.read_as();
    let of = |judgments: bool, read_as: &ReadAs| {
        Preview::of(input.clone(), judgments, read_as, tables(), ROWS)
    };
    let (judgments, run) = (of(true, &qrels_as), of(false, &runs_as));
    if let (Err(error @ Error::Io { .. }), _) = (&judgments, &run) {
        return Err(Stop::new(error.to_string()));
    }
    // Of the two ways to read the file, the one with fewer wrong rows is shown.
    let best = [&judgments, &run]
        .into_iter()
        .flatten()
        .filter(|preview| is_readable(preview))
        .min_by_key(|preview| wrong_rows(preview));
    let rows = best
        .map(|preview| {
            preview.rows.iter().map(|row| PreviewedRow::of(row.line, &row.read)).collect()
        })
        .unwrap_or_default();
    let is_neither = best.is_none();
    let can_be = |preview: &Result<Preview, Error>| preview.as_ref().is_ok_and(is_readable);
    let contents = TextContents {
        judgments: can_be(&judgments)
            .then(|| CountedText::of(judgments::read(join, input.clone()))),
        run: can_be(&run).then(|| CountedText::of(run::read(join, &input, None))),
    };
    let (judgments, run) = (TakenAs::of(path, &judgments), TakenAs::of(path, &run));
    let text = PreviewedText { file: shown(path), judgments, run, rows, contents };
    print_text(format == PlainFormat::Table, |to| match format {
        PlainFormat::Json => {
            serde_json::to_writer_pretty(&mut *to, &text)?;
            writeln!(to)
        }
        PlainFormat::Table => text.write(to),
    })?;
    if is_neither {
        Err(Stop::new(format!("{} can be read neither as judgments nor as a run", shown(path))))
    } else {
        Ok(())
    }
}

/// Counts the rows that cannot be read.
fn wrong_rows(preview: &Preview) -> usize {
    preview.rows.iter().filter(|row| row.read.is_err()).count()
}

/// Returns whether any row can be read.
fn is_readable(preview: &Preview) -> bool {
    wrong_rows(preview) < preview.rows.len()
}

impl TakenAs {
    /// Names the format of a file, or says why the file cannot be read.
    fn of(path: &Path, preview: &Result<Preview, Error>) -> Self {
        match preview {
            Ok(preview) if is_readable(preview) => TakenAs::For(preview.what.clone()),
            // A row is wrong in every way of reading it.
            Ok(Preview { rows, .. }) => match rows.first() {
                Some(row) => TakenAs::Error(format!(
                    "{}:{}: {}",
                    shown(path),
                    row.line,
                    row.read.as_ref().err().map_or("", String::as_str)
                )),
                None => TakenAs::Error(format!("{}: there is no row in it", shown(path))),
            },
            Err(error) => TakenAs::Error(error.to_string()),
        }
    }
}

impl<C> CountedText<C> {
    fn of(counted: Result<C, Error>) -> Self {
        match counted {
            Ok(counts) => CountedText::Counts(counts),
            Err(error) => CountedText::Wrong {
                error: error.to_string().lines().next().unwrap_or_default().to_owned(),
            },
        }
    }

    /// Writes the counts for people, under the name of what they are counts of.
    fn write(
        &self,
        name: &str,
        to: &mut dyn Write,
        write: impl FnOnce(&C, &mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        writeln!(to)?;
        match self {
            CountedText::Counts(counts) => {
                writeln!(to, "{name}")?;
                write(counts, to)
            }
            CountedText::Wrong { error } => field(to, name, &format!("error: {error}")),
        }
    }
}

impl PreviewedRow {
    fn of(line: u64, read: &Result<[Vec<u8>; 3], String>) -> Self {
        match read {
            Ok(fields) => {
                let [query, document, number] = fields.each_ref().map(|field| printable(field));
                PreviewedRow::Read { line, query, document, number }
            }
            Err(error) => PreviewedRow::Wrong { line, error: error.clone() },
        }
    }
}

impl PreviewedText {
    fn write(&self, to: &mut dyn Write) -> std::io::Result<()> {
        writeln!(to, "{:<14} {}", "file", self.file)?;
        for (role, taken) in [("as judgments", &self.judgments), ("as a run", &self.run)] {
            match taken {
                TakenAs::For(what) => writeln!(to, "{role:<14} {what}")?,
                TakenAs::Error(error) => writeln!(to, "{role:<14} error: {error}")?,
            }
        }
        if !self.rows.is_empty() {
            self.write_rows(to)?;
        }
        if let Some(counted) = &self.contents.judgments {
            counted.write("judgments", to, JudgmentCounts::write)?;
        }
        if let Some(counted) = &self.contents.run {
            counted.write("run", to, RunCounts::write)?;
        }
        Ok(())
    }

    fn write_rows(&self, to: &mut dyn Write) -> std::io::Result<()> {
        let columns = [
            ("line", Align::Right),
            ("query", Align::Left),
            ("document", Align::Left),
            ("number", Align::Right),
        ];
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        for row in &self.rows {
            if let PreviewedRow::Read { line, query, document, number } = row {
                grid.push(
                    [line.to_string(), query.clone(), document.clone(), number.clone()]
                        .map(Into::into),
                );
            }
        }
        writeln!(to)?;
        grid.write(
            &ReportOptions { width: stdout_width(), ..ReportOptions::default() },
            &mut &mut *to,
        )?;
        for row in &self.rows {
            if let PreviewedRow::Wrong { line, error } = row {
                writeln!(to, "line {line}: {error}")?;
            }
        }
        Ok(())
    }
}

//! The description of one text file by `laneval info`: its format as judgments or a run, first
//! rows, and counts.

use std::io::Write;
use std::path::Path;

use laneval::error::printable;
use laneval::internals::Preview;
use laneval::report::{Align, Grid};
use laneval::{Error, Input, Join};
use serde::Serialize;

use super::{
    cli_error::{CliResult, fail},
    formats::{RecognisedFormats, tables},
    output::{PlainFormat, print_plain, write_grid},
    style::{print_note, shown},
    text_stats::judgments::{self, JudgmentCounts},
    text_stats::run::{self, RunCounts},
    text_stats::{field, pair_report},
};

/// The number of rows that are shown.
const ROWS: usize = 5;

/// The description of one text file by `laneval info`: its format, first rows, and counts.
#[derive(Serialize)]
struct PreviewedText {
    file: String,
    judgments: ReadAttempt,
    run: ReadAttempt,
    rows: Vec<PreviewedRow>,
    contents: TextContents,
}

/// The counts of a text file for `laneval info`, read as judgments, as a run, or as both.
#[derive(Serialize)]
struct TextContents {
    #[serde(skip_serializing_if = "Option::is_none")]
    judgments: Option<CountedText<JudgmentCounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<CountedText<RunCounts>>,
}

/// The counts of a text file, or the first reason why the file cannot be read as a whole.
#[derive(Serialize)]
#[serde(untagged)]
enum CountedText<C> {
    Counts(C),
    Invalid { error: String },
}

/// The format of a file when read as judgments or as a run, or the reason why it cannot be read so.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ReadAttempt {
    Readable(String),
    Error(String),
}

/// One of the first rows of a file for `laneval info`, parsed to query, document and number, or its
/// error.
#[derive(Serialize)]
#[serde(untagged)]
enum PreviewedRow {
    Parsed { line: u64, query: String, document: String, number: String },
    Invalid { line: u64, error: String },
}

/// Prints the format, first rows and counts of a text file; rejects one that is neither judgments
/// nor a run.
pub fn print_preview(
    path: &Path,
    formats: &RecognisedFormats,
    join: &Join,
    format: PlainFormat,
) -> CliResult<()> {
    // A stream can be read only once.
    let input = pair_report::buffer_stream(Input::from(path.to_owned()))?;
    let read_as = [(true, &join.qrels_as), (false, &join.runs_as)];
    let [judgments, run] = read_as.map(|(judgments, read_as)| {
        Preview::read(input.clone(), judgments, read_as, tables(), ROWS)
    });
    // A file that cannot be opened as judgments cannot be opened as a run either.
    if let Err(error @ Error::Io { .. }) = &judgments {
        return fail(error.to_string());
    }
    // Of the two ways to read the file, the one with fewer wrong rows is shown.
    let best = [&judgments, &run]
        .into_iter()
        .flatten()
        .filter(|preview| is_readable(preview))
        .min_by_key(|preview| wrong_rows(preview));
    let rows = best.into_iter().flat_map(|preview| &preview.rows);
    let rows = rows.map(|row| PreviewedRow::new(row.line, &row.read)).collect();
    let is_neither = best.is_none();
    let [can_be_judgments, can_be_run] =
        [&judgments, &run].map(|preview| preview.as_ref().is_ok_and(is_readable));
    let contents = TextContents {
        judgments: can_be_judgments.then(|| CountedText::new(judgments::read(join, input.clone()))),
        run: can_be_run.then(|| CountedText::new(run::read(join, &input, None))),
    };
    let [judgments, run] =
        [&judgments, &run].map(|preview| ReadAttempt::from_preview(path, preview));
    let text = PreviewedText { file: shown(path), judgments, run, rows, contents };
    print_plain(format, &text, |to| text.write(to))?;
    formats.treatment_notes().iter().for_each(print_note);
    if is_neither {
        fail(format!("{} can be read neither as judgments nor as a run", shown(path)))
    } else {
        Ok(())
    }
}

/// Counts the previewed rows of a file that cannot be parsed.
fn wrong_rows(preview: &Preview) -> usize {
    preview.rows.iter().filter(|row| row.read.is_err()).count()
}

/// Returns whether any of the previewed rows of a file can be parsed.
fn is_readable(preview: &Preview) -> bool {
    wrong_rows(preview) < preview.rows.len()
}

impl ReadAttempt {
    /// Returns the format of a previewed file, or the reason why the file cannot be read.
    fn from_preview(path: &Path, preview: &Result<Preview, Error>) -> Self {
        match preview {
            Ok(preview) if is_readable(preview) => Self::Readable(preview.what.clone()),
            // A row is wrong in every way of reading it.
            Ok(Preview { rows, .. }) => match rows.first() {
                Some(row) => Self::Error(format!(
                    "{}:{}: {}",
                    shown(path),
                    row.line,
                    row.read.as_ref().err().map_or("", String::as_str)
                )),
                None => Self::Error(format!("{}: there is no row in it", shown(path))),
            },
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

impl<C> CountedText<C> {
    fn new(counted: Result<C, Error>) -> Self {
        match counted {
            Ok(counts) => Self::Counts(counts),
            Err(error) => Self::Invalid {
                error: error.to_string().lines().next().unwrap_or_default().to_owned(),
            },
        }
    }

    /// Writes the counts of a text file for people, under the heading `name`; an error in their
    /// place if there is one.
    fn write(
        &self,
        name: &str,
        to: &mut dyn Write,
        write: impl FnOnce(&C, &mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        writeln!(to)?;
        match self {
            Self::Counts(counts) => {
                writeln!(to, "{name}")?;
                write(counts, to)
            }
            Self::Invalid { error } => field(to, name, &format!("error: {error}")),
        }
    }
}

impl PreviewedRow {
    fn new(line: u64, read: &Result<[Vec<u8>; 3], String>) -> Self {
        match read {
            Ok(fields) => {
                let [query, document, number] = fields.each_ref().map(|field| printable(field));
                Self::Parsed { line, query, document, number }
            }
            Err(error) => Self::Invalid { line, error: error.clone() },
        }
    }
}

impl PreviewedText {
    fn write(&self, to: &mut dyn Write) -> std::io::Result<()> {
        writeln!(to, "{:<14} {}", "file", self.file)?;
        for (role, taken) in [("as judgments", &self.judgments), ("as a run", &self.run)] {
            match taken {
                ReadAttempt::Readable(what) => writeln!(to, "{role:<14} {what}")?,
                ReadAttempt::Error(error) => writeln!(to, "{role:<14} error: {error}")?,
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
            if let PreviewedRow::Parsed { line, query, document, number } = row {
                let cells = [&line.to_string(), query, document, number];
                grid.push(cells.map(|cell| cell.clone().into()));
            }
        }
        writeln!(to)?;
        write_grid(&grid, to)?;
        for row in &self.rows {
            if let PreviewedRow::Invalid { line, error } = row {
                writeln!(to, "line {line}: {error}")?;
            }
        }
        Ok(())
    }
}

//! Reports: scores as bytes, one file a format.
//!
//! A report is a pure function of scores and [`Options`]; it knows neither files nor terminals.

mod delimited;
mod grid;
mod json;
mod jsonl;
mod long;
mod notes;
mod table;
mod trec;

use std::io::{self, Write};
use std::path::Path;

use crate::scores::Scores;

pub use crate::scores::Text;
pub use grid::{Align, Cell, Grid};
pub use notes::{Note, notes};

/// A way to write scores down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Aligned columns for people.
    Table,
    /// Long rows, separated by tabs.
    Tsv,
    /// Long rows, separated by commas.
    Csv,
    /// One document, with the queries that were missing or ignored.
    Json,
    /// Long rows, one JSON object a line.
    Jsonl,
    /// The lines of `trec_eval`.
    Trec,
}

/// How a report is to look. Only tables look at anything but `per_query`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Write the values of every query too, where the scores have them.
    pub per_query: bool,
    /// Decimals in tables.
    pub precision: usize,
    /// Mark with bold type instead of a `*`.
    pub colour: bool,
    /// The columns of the terminal, if it is one.
    pub width: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Options { per_query: false, precision: 4, colour: false, width: None }
    }
}

named!(Format, "a format of scores");

impl Format {
    /// Every format, with the name that it has on the command line.
    pub const ALL: [(&'static str, Format); 6] = [
        ("table", Format::Table),
        ("tsv", Format::Tsv),
        ("csv", Format::Csv),
        ("json", Format::Json),
        ("jsonl", Format::Jsonl),
        ("trec", Format::Trec),
    ];

    /// The extensions that name a format.
    pub const EXTENSIONS: [(&'static str, Format); 5] = [
        ("tsv", Format::Tsv),
        ("csv", Format::Csv),
        ("json", Format::Json),
        ("jsonl", Format::Jsonl),
        ("txt", Format::Table),
    ];

    /// The format that a file's extension names; TSV where it has none, and `None` where it has another.
    pub fn of_path(path: &Path) -> Option<Self> {
        let Some(extension) = path.extension() else { return Some(Format::Tsv) };
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    /// Writes scores in this format.
    ///
    /// # Errors
    /// What the writer refuses.
    pub fn write(self, scores: &Scores, options: &Options, to: &mut impl Write) -> io::Result<()> {
        match self {
            Format::Table => table::write(scores, options, to),
            Format::Tsv => delimited::write(b'\t', scores, options, to),
            Format::Csv => delimited::write(b',', scores, options, to),
            Format::Json => json::write(scores, options, to),
            Format::Jsonl => jsonl::write(scores, options, to),
            Format::Trec => trec::write(scores, options, to),
        }
    }
}

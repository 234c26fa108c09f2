//! Reports: scores as bytes, one file for each format.
//!
//! A report is a pure function of scores and [`ReportOptions`]; it uses neither files nor terminals.

mod comparison;
mod delimited;
mod grid;
pub mod html;
mod json;
mod jsonl;
pub(crate) mod long;
mod markup;
mod notes;
mod options;
mod run_name;
mod sparks;
mod table;
mod trec;

use std::io::{self, Write};
use std::path::Path;

use crate::compare::{Comparison, Gate, Judged};
use crate::scores::Scores;
use markup::Markup;

pub use crate::scores::JsonText;
pub use comparison::numbers;
pub use grid::{Align, Cell, Grid};
pub use notes::{Note, notes};
pub use options::ReportOptions;

/// The old name of [`ReportOptions`]; it goes with 0.2.
#[deprecated(since = "0.1.0", note = "use `ReportOptions`")]
pub type Options = ReportOptions;

/// The old name of [`JsonText`]; it goes with 0.2.
#[deprecated(since = "0.1.0", note = "use `JsonText`")]
pub type Text<'a> = JsonText<'a>;

/// A format of reports.
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
    /// Long rows, one JSON object on each line.
    Jsonl,
    /// The lines of `trec_eval`.
    Trec,
    /// A table of Markdown.
    Markdown,
    /// A table of LaTeX, for the package booktabs.
    Latex,
    /// A page for a browser, with charts; the functions of [`html`] can show more than scores contain.
    Html,
    /// One chart: a measure over its cutoffs, or the differences of a comparison.
    Svg,
}

named!(Format, "a format of scores");

impl Format {
    /// Every format, with the name that it has on the command line.
    pub const ALL: [(&'static str, Format); 10] = [
        ("table", Format::Table),
        ("tsv", Format::Tsv),
        ("csv", Format::Csv),
        ("json", Format::Json),
        ("jsonl", Format::Jsonl),
        ("trec", Format::Trec),
        ("markdown", Format::Markdown),
        ("latex", Format::Latex),
        ("html", Format::Html),
        ("svg", Format::Svg),
    ];

    /// The extensions that name a format.
    pub const EXTENSIONS: [(&'static str, Format); 10] = [
        ("tsv", Format::Tsv),
        ("csv", Format::Csv),
        ("json", Format::Json),
        ("jsonl", Format::Jsonl),
        ("txt", Format::Table),
        ("md", Format::Markdown),
        ("tex", Format::Latex),
        ("html", Format::Html),
        ("htm", Format::Html),
        ("svg", Format::Svg),
    ];

    /// The format that a file's extension names: TSV if it has none, and `None` if it has an unknown one.
    pub fn of_path(path: &Path) -> Option<Self> {
        let Some(extension) = path.extension() else { return Some(Format::Tsv) };
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    /// Writes scores in this format.
    ///
    /// # Errors
    /// The error of the writer; [`Format::Svg`] unless there is one measure at three cutoffs or more.
    pub fn write(self, scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
        match self {
            Format::Table => table::write(scores, options, to),
            Format::Tsv if options.wide => delimited::write_wide(b'\t', scores, options, to),
            Format::Csv if options.wide => delimited::write_wide(b',', scores, options, to),
            Format::Tsv => delimited::write(b'\t', scores, options, to),
            Format::Csv => delimited::write(b',', scores, options, to),
            Format::Json => json::write(scores, options, to),
            Format::Jsonl => jsonl::write(scores, options, to),
            Format::Trec => trec::write(scores, options, to),
            Format::Markdown => table::write_markup(Markup::Markdown, scores, options, to),
            Format::Latex => table::write_markup(Markup::Latex, scores, options, to),
            Format::Html => html::scores(scores, &html::Context::new("Scores"), to),
            Format::Svg => html::curve(scores, &html::only_curve(&scores.measures)?, to),
        }
    }

    /// Writes a comparison in this format, with the results of gates.
    ///
    /// # Errors
    /// The error of the writer; [`Format::Trec`], which has no place for a comparison.
    pub fn write_comparison(
        self,
        comparison: &Comparison,
        gates: &[(Gate, Vec<Judged>)],
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Format::Table => comparison::table::write(comparison, gates, options, to),
            Format::Tsv => comparison::long::write_delimited(b'\t', comparison, options, to),
            Format::Csv => comparison::long::write_delimited(b',', comparison, options, to),
            Format::Json => comparison::json::write(comparison, gates, options, to),
            Format::Jsonl => comparison::long::write_lines(comparison, options, to),
            Format::Markdown => comparison::table::write_markup(Markup::Markdown, comparison, options, to),
            Format::Latex => comparison::table::write_markup(Markup::Latex, comparison, options, to),
            Format::Html => {
                let context = html::Context { gates, ..html::Context::new("Comparison") };
                html::comparison(comparison, &context, to)
            }
            Format::Svg => html::forest(comparison, to),
            Format::Trec => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the format trec has no place for a comparison",
            )),
        }
    }
}

//! Reports: scores as bytes, one file for each format.
//!
//! A report is a pure function of scores and [`ReportOptions`], without access to files or
//! terminals.

#[doc(hidden)]
pub mod blocks;
mod comparison;
mod delimited;
mod grid;
pub mod html;
mod identified;
mod json;
mod jsonl;
pub(crate) mod long;
mod markup;
mod notes;
mod options;
mod pooled;
mod run_name;
mod shorten;
mod sparks;
mod table;
mod trec;

use std::io::{self, Write};
use std::path::Path;

use crate::compare::{Comparison, Gate, Judged};
use crate::identify::Identified;
use crate::pools::Pools;
use crate::scores::Scores;
use markup::Markup;

pub use crate::scores::JsonText;
pub use comparison::junit::write_cases;
pub use comparison::{ComparedGroup, ComparisonReport, GateCase, GroupKind, numbers};
pub use grid::{Align, Cell, Grid};
pub use notes::{Note, notes};
pub use options::{ReportOptions, RunOrder};

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
    /// One JSON document, including the missing and the ignored queries.
    Json,
    /// Long rows, one JSON object on each line.
    Jsonl,
    /// The lines of `trec_eval`.
    Trec,
    /// A table of Markdown.
    Markdown,
    /// A table of LaTeX, for the package booktabs.
    Latex,
    /// A page for a browser, with charts; the functions of [`html`] can show more than scores
    /// contain.
    Html,
    /// One chart: a measure over its cutoffs, or the differences of a comparison.
    Svg,
    /// The results of gates as JUnit's XML, for build servers.
    Junit,
}

named!(Format, "a format of scores");

impl Format {
    /// All formats with their command-line names.
    pub const ALL: [(&'static str, Format); 11] = [
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
        ("junit", Format::Junit),
    ];

    /// File extensions with their formats.
    pub const EXTENSIONS: [(&'static str, Format); 11] = [
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
        ("xml", Format::Junit),
    ];

    /// Returns the format for a file extension: TSV without an extension, `None` for an unknown
    /// extension.
    pub fn of_path(path: &Path) -> Option<Self> {
        let Some(extension) = path.extension() else { return Some(Format::Tsv) };
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    /// Writes scores in this format.
    ///
    /// # Errors
    /// The error of the writer; [`Format::Svg`], unless the scores have one measure at three
    /// cutoffs or more; [`Format::Junit`], because JUnit cannot hold scores (for gates over one
    /// run, see [`write_cases`]).
    pub fn write(
        self,
        scores: &Scores,
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
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
            Format::Junit => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the format junit has the results of gates, and no scores",
            )),
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
        self.write_report(&ComparisonReport::new(comparison, gates), options, to)
    }

    /// Writes a comparison in this format, with the results of gates and the comparisons of groups.
    ///
    /// # Errors
    /// The error of the writer; [`Format::Trec`], which has no place for a comparison.
    pub fn write_report(
        self,
        report: &ComparisonReport<'_>,
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Format::Table => comparison::table::write(report, options, to),
            Format::Tsv => comparison::long::write_delimited(b'\t', report, options, to),
            Format::Csv => comparison::long::write_delimited(b',', report, options, to),
            Format::Json => comparison::json::write(report, options, to),
            Format::Jsonl => comparison::long::write_lines(report, options, to),
            Format::Markdown => {
                comparison::table::write_markup(Markup::Markdown, report, options, to)
            }
            Format::Latex => comparison::table::write_markup(Markup::Latex, report, options, to),
            Format::Html => {
                let context = html::Context {
                    gates: report.gates,
                    groups: report.groups,
                    group_kind: report.kind,
                    ..html::Context::new("Comparison")
                };
                html::comparison(report.comparison, &context, to)
            }
            Format::Svg => html::forest(report.comparison, to),
            Format::Junit => comparison::junit::write(report, to),
            Format::Trec => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the format trec has no place for a comparison",
            )),
        }
    }

    /// Writes pools in this format.
    ///
    /// # Errors
    /// The error of the writer; [`Format::Trec`], [`Format::Html`], [`Format::Svg`] and
    /// [`Format::Junit`], which have no place for pools.
    pub fn write_pools(
        self,
        pools: &Pools,
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Format::Table => pooled::table::write(pools, options, to),
            Format::Tsv => pooled::long::write_delimited(b'\t', pools, options, to),
            Format::Csv => pooled::long::write_delimited(b',', pools, options, to),
            Format::Json => pooled::json::write(pools, options, to),
            Format::Jsonl => pooled::long::write_lines(pools, options, to),
            Format::Markdown => pooled::table::write_markup(Markup::Markdown, pools, options, to),
            Format::Latex => pooled::table::write_markup(Markup::Latex, pools, options, to),
            Format::Trec | Format::Html | Format::Svg | Format::Junit => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("the format {self} has no place for pools"),
            )),
        }
    }

    /// Writes the definition of a number in this format.
    ///
    /// # Errors
    /// The error of the writer; any format other than [`Format::Table`] and [`Format::Json`].
    pub fn write_identified(
        self,
        found: &Identified,
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Format::Table => identified::table::write(found, options, to),
            Format::Json => identified::json::write(found, to),
            _ => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("the format {self} has no place for the definition of a number"),
            )),
        }
    }
}

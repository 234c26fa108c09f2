//! Reports of scores, comparisons and pools, written in many formats, one file for each format.
//!
//! A report is a pure function of scores and [`ReportOptions`], without access to files or
//! terminals.

#[doc(hidden)]
pub mod blocks;
mod comparison;
mod delimited;
mod grid;
pub mod html;
mod identification;
mod json;
mod jsonl;
pub(crate) mod long;
mod markup;
mod notes;
mod options;
mod pools;
mod run_name;
mod shorten;
mod sparklines;
mod table;
mod trec;

use std::io::{self, Write};
use std::path::Path;

use crate::compare::{Comparison, Gate, RunGateVerdict};
use crate::identify::Identification;
use crate::pools::Pools;
use crate::scores::Scores;
use markup::Markup;

pub use crate::scores::JsonText;
pub use comparison::junit::write_cases;
pub use comparison::{ComparedGroup, ComparisonReport, GateCase, GroupKind, numbers};
pub use grid::{Align, Cell, Grid};
pub use notes::{Note, notes};
pub use options::{ReportOptions, RunOrder};

/// An output format of scores, comparisons and pools: text table, TSV, JSON, HTML and so on.
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
    pub const ALL: [(&'static str, Self); 11] = [
        ("table", Self::Table),
        ("tsv", Self::Tsv),
        ("csv", Self::Csv),
        ("json", Self::Json),
        ("jsonl", Self::Jsonl),
        ("trec", Self::Trec),
        ("markdown", Self::Markdown),
        ("latex", Self::Latex),
        ("html", Self::Html),
        ("svg", Self::Svg),
        ("junit", Self::Junit),
    ];

    /// File extensions with their formats.
    pub const EXTENSIONS: [(&'static str, Self); 11] = [
        ("tsv", Self::Tsv),
        ("csv", Self::Csv),
        ("json", Self::Json),
        ("jsonl", Self::Jsonl),
        ("txt", Self::Table),
        ("md", Self::Markdown),
        ("tex", Self::Latex),
        ("html", Self::Html),
        ("htm", Self::Html),
        ("svg", Self::Svg),
        ("xml", Self::Junit),
    ];

    /// Returns the output format for a file's extension: TSV without an extension, `None` for an
    /// unknown extension.
    pub fn from_path(path: &Path) -> Option<Self> {
        let Some(extension) = path.extension() else { return Some(Self::Tsv) };
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    /// Writes the scores of runs in this format.
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
            Self::Table => table::write(scores, options, to),
            Self::Tsv if options.wide => delimited::write_wide(b'\t', scores, options, to),
            Self::Csv if options.wide => delimited::write_wide(b',', scores, options, to),
            Self::Tsv => delimited::write(b'\t', scores, options, to),
            Self::Csv => delimited::write(b',', scores, options, to),
            Self::Json => json::write(scores, options, to),
            Self::Jsonl => jsonl::write(scores, options, to),
            Self::Trec => trec::write(scores, options, to),
            Self::Markdown => table::write_markup(Markup::Markdown, scores, options, to),
            Self::Latex => table::write_markup(Markup::Latex, scores, options, to),
            Self::Html => html::scores(scores, &html::PageContext::new("Scores"), to),
            Self::Svg => html::curve(scores, &html::only_curve(&scores.measures)?, to),
            Self::Junit => unsupported("the format junit has the results of gates, and no scores"),
        }
    }

    /// Writes a comparison of runs in this format, with the results of gates.
    ///
    /// # Errors
    /// The error of the writer; [`Format::Trec`], which has no place for a comparison.
    pub fn write_comparison(
        self,
        comparison: &Comparison,
        gates: &[(Gate, Vec<RunGateVerdict>)],
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        self.write_report(&ComparisonReport::new(comparison, gates), options, to)
    }

    /// Writes a comparison of runs in this format, with the results of gates and the comparisons of
    /// groups of queries.
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
            Self::Table => comparison::table::write(report, options, to),
            Self::Tsv => comparison::long_form::write_delimited(b'\t', report, options, to),
            Self::Csv => comparison::long_form::write_delimited(b',', report, options, to),
            Self::Json => comparison::json::write(report, options, to),
            Self::Jsonl => comparison::long_form::write_lines(report, options, to),
            Self::Markdown => {
                comparison::table::write_markup(Markup::Markdown, report, options, to)
            }
            Self::Latex => comparison::table::write_markup(Markup::Latex, report, options, to),
            Self::Html => {
                let context = html::PageContext {
                    gates: report.gates,
                    groups: report.groups,
                    group_kind: report.kind,
                    ..html::PageContext::new("Comparison")
                };
                html::comparison(report.comparison, &context, to)
            }
            Self::Svg => html::forest(report.comparison, to),
            Self::Junit => comparison::junit::write(report, to),
            Self::Trec => unsupported("the format trec has no place for a comparison"),
        }
    }

    /// Writes a pool analysis (`laneval pools`) in this format.
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
            Self::Table => pools::table::write(pools, options, to),
            Self::Tsv => pools::long::write_delimited(b'\t', pools, options, to),
            Self::Csv => pools::long::write_delimited(b',', pools, options, to),
            Self::Json => pools::json::write(pools, options, to),
            Self::Jsonl => pools::long::write_lines(pools, options, to),
            Self::Markdown => pools::table::write_markup(Markup::Markdown, pools, options, to),
            Self::Latex => pools::table::write_markup(Markup::Latex, pools, options, to),
            Self::Trec | Self::Html | Self::Svg | Self::Junit => {
                unsupported(&format!("the format {self} has no place for pools"))
            }
        }
    }

    /// Writes the answer of `laneval identify` in this format.
    ///
    /// # Errors
    /// The error of the writer; any format other than [`Format::Table`] and [`Format::Json`].
    pub fn write_identified(
        self,
        found: &Identification,
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Self::Table => identification::table::write(found, options, to),
            Self::Json => identification::json::write(found, to),
            _ => unsupported(&format!(
                "the format {self} has no place for the definition of a number"
            )),
        }
    }
}

/// Returns an I/O error for an output format that cannot hold the report.
fn unsupported(why: &str) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

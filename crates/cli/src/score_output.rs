//! The output of scores and summaries, and its look: `eval` and `merge` share it.

use std::io::{self, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::Scores;
use laneval::error::printable;
use laneval::measure::Measure;
use laneval::report::html::only_curve;
use laneval::report::{Format, ReportOptions};

use super::choice::{formats, one_of};
use super::output::{Output, same_file, unknown_extension};
use super::row_output::NO_PARQUET;
#[cfg(feature = "parquet")]
use super::score_table;
use super::stop::Stop;
use super::style::{shown, stdout_has_colour, stdout_width};

/// Options of a report.
#[derive(Debug, Args)]
pub struct ReportOutput {
    /// The format of the scores [default: table on a terminal, by the extension of -o, else tsv]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(formats()), help_heading = "Output")]
    format: Option<Format>,
    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// The number of decimals [default: 4 in tables and in trec, elsewhere as many as the number has]
    #[arg(long, value_name = "N", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=17))]
    precision: Option<u8>,
}

/// Options of the output.
#[derive(Debug, Args)]
pub struct ScoreOutput {
    #[command(flatten)]
    pub report: ReportOutput,
    /// Write a row for each query, with a column for each measure, as tsv or csv
    ///
    /// The rows of averages have `all` in the column query_id, unless --all-id says otherwise. With --stat a column `stat` names the
    /// statistic of a row.
    #[arg(long, help_heading = "Output")]
    wide: bool,
    /// The text of rows of averages in the column query_id [default: nothing; `all` with --wide and in trec]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    all_id: Option<String>,
    /// Write a summary too, which `laneval merge` adds to those of other shards
    ///
    /// It holds counts, exact sums and the ids of the queries. Shards of a run need the same name (name=path) and the same options.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    partial: Option<PathBuf>,
}

impl ReportOutput {
    /// Returns the format that was asked for, or else the one that the output suggests.
    pub fn format(&self) -> Result<Format, Stop> {
        match (self.format, self.file()) {
            (None, Some(path)) if is_parquet(path) => match cfg!(feature = "parquet") {
                // Of all formats this one has the same rows.
                true => Ok(Format::Jsonl),
                false => Err(Stop::new(format!("{}: cannot write: {NO_PARQUET}", shown(path)))),
            },
            (None, Some(path)) => Format::of_path(path).ok_or_else(|| {
                let known = Format::EXTENSIONS.map(|(extension, _)| extension);
                unknown_extension(path, &known, ", or use --format")
            }),
            _ => Ok(self.format_on_stdout()),
        }
    }

    /// Writes scores in a format, or as a table of Parquet if the file is one.
    pub fn write(
        &self,
        scores: &Scores,
        format: Format,
        options: &ReportOptions,
        to: &mut (dyn Write + Send),
    ) -> io::Result<()> {
        #[cfg(feature = "parquet")]
        if self.format.is_none() && self.file().is_some_and(is_parquet) {
            return score_table::write(scores, options, to);
        }
        format.write(scores, options, &mut &mut *to)
    }

    /// Returns the format that was asked for, or else the one that stdout suggests.
    pub fn format_on_stdout(&self) -> Format {
        self.format.unwrap_or(if stdout().is_terminal() { Format::Table } else { Format::Tsv })
    }

    /// Refuses a chart of measures that are not a curve.
    pub fn check_curve(format: Format, measures: &[Measure]) -> Result<(), Stop> {
        match format {
            Format::Svg => only_curve(measures).map(drop).map_err(|e| Stop::new(e.to_string())),
            _ => Ok(()),
        }
    }

    /// Returns the output of the report, which is none of the inputs.
    pub fn place(&self, inputs: &[PathBuf]) -> Result<Output, Stop> {
        Output::new(self.file(), inputs)
    }

    /// Returns the look of a report, with or without the values of queries.
    pub fn options(&self, per_query: bool) -> ReportOptions {
        let to_stdout = self.file().is_none();
        ReportOptions {
            per_query,
            precision: self.precision.map_or(4, usize::from),
            decimals: self.precision.map(usize::from),
            colour: to_stdout && stdout_has_colour(),
            width: if to_stdout { stdout_width() } else { None },
            sparklines: to_stdout && stdout().is_terminal(),
            ..ReportOptions::default()
        }
    }

    /// Returns the output of a summary, if `path` asks for one: it is none of the inputs, and not the output of the report.
    pub fn partial(&self, path: Option<&Path>, inputs: &[PathBuf]) -> Result<Option<Output>, Stop> {
        let Some(path) = path else { return Ok(None) };
        let shared = || Stop::new("--partial needs a separate file, because the scores are written too");
        if path.as_os_str() == "-" || self.output.as_deref().is_some_and(|scores| same_file(path, scores)) {
            return Err(shared());
        }
        match Output::new(Some(path), inputs)? {
            Output::Stdout if self.file().is_none() => Err(shared()),
            output => Ok(Some(output)),
        }
    }

    /// Returns the file to write to; `-` is stdout here too.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }
}

/// Returns whether a file is to be a table of Parquet.
fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

impl ScoreOutput {
    /// Returns the format that was asked for, or else the one that the output suggests.
    pub fn format(&self) -> Result<Format, Stop> {
        match self.report.format()? {
            format if !self.wide => Ok(format),
            _ if self.report.file().is_some_and(is_parquet) => Err(Self::not_wide("a table of Parquet")),
            format @ (Format::Tsv | Format::Csv) => Ok(format),
            Format::Table if self.report.format.is_none() && self.report.file().is_none() => Ok(Format::Tsv),
            format => Err(Self::not_wide(&format!("the format {format}"))),
        }
    }

    fn not_wide(what: &str) -> Stop {
        Stop::new(format!("--wide is for tsv and csv, and not for {what}"))
    }

    /// Returns whether options say how rows of scores look.
    pub fn has_row_options(&self) -> bool {
        self.wide || self.all_id.is_some()
    }

    /// Returns whether the values of queries have the wide form.
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// Returns the look of scores, with or without the values of queries.
    ///
    /// # Errors
    /// A query whose id is the one that stands for all queries.
    pub fn options(&self, per_query: bool, scores: &Scores) -> Result<ReportOptions, Stop> {
        let all = if self.wide { "all" } else { "" };
        let all_id = self.all_id.as_deref().unwrap_or(all);
        let mut queries = scores.runs.iter().filter_map(|run| run.per_query.as_ref());
        let is_taken =
            !all_id.is_empty() && queries.any(|of| of.queries.iter().any(|id| id == all_id.as_bytes()));
        if per_query && is_taken {
            return Err(Stop::new(format!(
                "the id `{}` of a query is also that of the rows of averages: use --all-id to give them another",
                printable(all_id.as_bytes())
            )));
        }
        let options = self.report.options(per_query);
        Ok(ReportOptions { wide: self.wide, all_id: all_id.to_owned(), ..options })
    }

    /// Returns whether a summary is asked for.
    pub fn wants_partial(&self) -> bool {
        self.partial.is_some()
    }

    /// Returns the output of a summary, which is none of the inputs, and not the output of the scores.
    pub fn partial(&self, inputs: &[PathBuf]) -> Result<Option<Output>, Stop> {
        self.report.partial(self.partial.as_deref(), inputs)
    }
}

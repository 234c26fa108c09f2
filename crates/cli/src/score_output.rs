//! The output options of `eval`, `compare` and `merge`: formats, files and layout of reports and
//! summaries.

use std::io::{self, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use laneval::Scores;
use laneval::error::printable;
use laneval::measure::Measure;
use laneval::options::Given;
use laneval::report::html::{self, only_curve};
use laneval::report::{Format, ReportOptions};

#[cfg(feature = "parquet")]
use super::score_table;
use super::{
    cli_error::{CliError, CliResult, fail},
    conflicts::{self, Requested},
    output::{Output, cannot_write, same_file, unknown_extension},
    row_output::NO_PARQUET,
    style::{shown, stdout_has_colour, stdout_width},
};

/// An output of a report: its format, and its place (stdout or a file), which is checked before any
/// work is done.
pub struct ReportTarget {
    pub format: Format,
    output: Output,
    is_stdout: bool,
    /// Whether scores are written as a table of Parquet, which has the rows of the format.
    is_parquet: bool,
    /// The title of a page, if one was asked for.
    title: Option<String>,
}

impl ReportTarget {
    /// Writes a report to this output, by calling `write`.
    pub fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> CliResult<()> {
        self.output.write_text(self.format == Format::Table, write)
    }

    /// Writes scores to this output in its format, or as a table of Parquet.
    pub fn write_scores(self, scores: &Scores, options: &ReportOptions) -> CliResult<()> {
        let (format, is_parquet, title) = (self.format, self.is_parquet, self.title.clone());
        self.write(|to| match (is_parquet, &title) {
            #[cfg(feature = "parquet")]
            (true, _) => score_table::write(scores, options, to),
            (_, Some(title)) if format == Format::Html => {
                html::scores(scores, &html::PageContext::new(title), &mut &mut *to)
            }
            _ => format.write(scores, options, &mut &mut *to),
        })
    }

    /// Returns whether people see this output as it is: a table or Markdown on stdout.
    pub fn is_for_people(&self) -> bool {
        self.is_stdout && matches!(self.format, Format::Table | Format::Markdown)
    }

    /// Rejects Parquet as the output of a comparison: only scores have such a table.
    pub fn check_comparison(&self) -> CliResult<()> {
        if self.is_parquet {
            fail("a comparison has no table of Parquet: take .tsv, .csv, .jsonl or .json")
        } else {
            Ok(())
        }
    }

    /// Returns the layout of a report for this output: a file has no width and colours of a
    /// terminal.
    pub fn report_options(&self, options: &ReportOptions) -> ReportOptions {
        if self.is_stdout {
            options.clone()
        } else {
            ReportOptions { colour: false, width: None, sparklines: false, ..options.clone() }
        }
    }
}

/// What the options of output ask for.
#[derive(Debug, Clone, Copy)]
pub struct ReportOutput<'a>(pub &'a Given);

impl<'a> ReportOutput<'a> {
    /// Returns the outputs that `--output` asks for, each in its format, none of them an input;
    /// stdout without it.
    ///
    /// # Errors
    /// An unknown extension; two outputs of one name; a title without a page; a format beside
    /// several outputs none of which is stdout; a place that cannot be written to.
    pub fn targets(self, inputs: &[PathBuf]) -> CliResult<Vec<ReportTarget>> {
        let mut places = self.places();
        if places.is_empty() {
            places.push(None);
        }
        for (at, place) in places.iter().enumerate() {
            let Some(path) = place else { continue };
            if places[..at].iter().flatten().any(|other| same_file(path, other)) {
                return fail(format!("two outputs have one name: {}", shown(path)));
            }
        }
        if places.len() > 1 && self.0.is_given("format") && !places.contains(&None) {
            return fail(
                "--format is of stdout where there are several -o, whose names say their formats: \
                 leave it out, or add `-o -`",
            );
        }
        let targets = places.iter().map(|&place| self.target(place, places.len() == 1, inputs));
        let targets = targets.collect::<CliResult<Vec<ReportTarget>>>()?;
        // `-`, /dev/stdout and /dev/fd/1 are all stdout.
        if targets.iter().filter(|target| matches!(target.output, Output::Stdout)).count() > 1 {
            return fail("two outputs have one name: stdout");
        }
        let is_page = targets.iter().any(|target| target.format == Format::Html);
        conflicts::check([
            (Requested::Title, self.title().is_some()),
            (Requested::NoPage, !is_page),
        ])?;
        Ok(targets)
    }

    /// Returns the places that `--output` names; `None` for stdout, which `-` means.
    fn places(self) -> Vec<Option<&'a Path>> {
        let paths = self.0.paths("output").into_iter();
        paths.map(|path| Some(path).filter(|path| path.as_os_str() != "-")).collect()
    }

    /// Returns the output for a path, or for stdout without a path, in the format of `--format` or
    /// the extension. --format applies to a path only if the output is `alone`.
    fn target(
        self,
        place: Option<&Path>,
        alone: bool,
        inputs: &[PathBuf],
    ) -> CliResult<ReportTarget> {
        let requested: Option<Format> =
            if alone || place.is_none() { self.0.value("format")? } else { None };
        let is_parquet = requested.is_none() && place.is_some_and(is_parquet);
        let format = match (requested, place) {
            (Some(format), _) => format,
            (None, Some(path)) if is_parquet && !cfg!(feature = "parquet") => {
                return Err(cannot_write(path, NO_PARQUET));
            }
            // Of all formats this one has the same rows.
            (None, Some(_)) if is_parquet => Format::Jsonl,
            (None, Some(path)) => Format::from_path(path).ok_or_else(|| {
                let known = Format::EXTENSIONS.map(|(extension, _)| extension);
                unknown_extension(path, &known, ", or use --format")
            })?,
            (None, None) => self.format_on_stdout()?,
        };
        Ok(ReportTarget {
            format,
            output: Output::new(place, inputs)?,
            is_stdout: place.is_none(),
            is_parquet,
            title: self.title().map(str::to_owned),
        })
    }

    /// Returns the title of the HTML page that `--title` gives, if it was given.
    pub fn title(self) -> Option<&'a str> {
        self.0.text("title")
    }

    /// Returns the format of `--format`, or else a table on a terminal and TSV in a pipe.
    pub fn format_on_stdout(self) -> CliResult<Format> {
        let default = if stdout().is_terminal() { Format::Table } else { Format::Tsv };
        Ok(self.0.value("format")?.unwrap_or(default))
    }

    /// Rejects an SVG chart of measures that are not a curve, which is a measure over its cutoffs.
    pub fn check_curve(format: Format, measures: &[Measure]) -> CliResult<()> {
        match format {
            Format::Svg => only_curve(measures).map(drop).map_err(|e| CliError::new(e.to_string())),
            _ => Ok(()),
        }
    }

    /// Returns whether `--output` was given several times.
    pub fn has_several_outputs(self) -> bool {
        self.0.raw("output").len() > 1
    }

    /// Returns the output for the plan that `eval --explain` prints: the first `--output`, or
    /// stdout.
    pub fn explained(self, inputs: &[PathBuf]) -> CliResult<Output> {
        Output::new(self.places().first().copied().flatten(), inputs)
    }

    /// Returns the layout of a report on stdout, with or without the values of queries;
    /// [`ReportTarget::report_options`] makes that of a file.
    pub fn options(self, per_query: bool) -> CliResult<ReportOptions> {
        let decimals = self.0.value("precision")?;
        Ok(ReportOptions {
            per_query,
            precision: decimals.unwrap_or(4),
            decimals,
            colour: stdout_has_colour(),
            width: stdout_width(),
            sparklines: stdout().is_terminal(),
            ..ReportOptions::default()
        })
    }

    /// Returns whether `--partial` asks for a part for `laneval merge`.
    pub fn has_partial(self) -> bool {
        self.0.is_given("partial")
    }

    /// Returns the output of `--partial`, a part for `laneval merge`; rejects an input, or the
    /// output of the report.
    pub fn partial(self, inputs: &[PathBuf]) -> CliResult<Option<Output>> {
        const SHARED: &str = "--partial needs a separate file, because the scores are written too";
        let Some(path) = self.0.path("partial") else { return Ok(None) };
        let places = self.places();
        if path.as_os_str() == "-" || places.iter().flatten().any(|other| same_file(path, other)) {
            return fail(SHARED);
        }
        match Output::new(Some(path), inputs)? {
            // The path may be /dev/stdout or another name of stdout.
            Output::Stdout if places.is_empty() || places.contains(&None) => fail(SHARED),
            output => Ok(Some(output)),
        }
    }

    /// Returns the outputs of scores that `--output` asks for, each in its format; rejects formats
    /// without `--wide` rows if it was given.
    pub fn score_targets(self, inputs: &[PathBuf]) -> CliResult<Vec<ReportTarget>> {
        let mut targets = self.targets(inputs)?;
        for target in targets.iter_mut().filter(|_| self.is_wide()) {
            target.format = match target.format {
                _ if target.is_parquet => return Err(not_wide("a table of Parquet")),
                format @ (Format::Tsv | Format::Csv) => format,
                Format::Table if !self.0.is_given("format") && target.is_stdout => Format::Tsv,
                format => return Err(not_wide(&format!("the format {format}"))),
            };
        }
        Ok(targets)
    }

    /// Returns whether `--wide` or `--average-id` was given, which are about rows of scores.
    pub fn has_row_options(self) -> bool {
        self.is_wide() || self.0.is_given("average-id")
    }

    /// Returns whether `--wide` was given: a row for each query, with a column for each measure.
    pub fn is_wide(self) -> bool {
        self.0.flag("wide")
    }

    /// Returns the layout of a report of scores, with or without the values of queries.
    ///
    /// # Errors
    /// A query whose id equals the id of the rows of averages.
    pub fn score_options(self, per_query: bool, scores: &Scores) -> CliResult<ReportOptions> {
        let wide = self.is_wide();
        let all_id = self.0.text("average-id").unwrap_or(if wide { "all" } else { "" });
        let mut queries = scores.runs.iter().filter_map(|run| run.per_query.as_ref());
        let is_taken = !all_id.is_empty()
            && queries
                .any(|query_scores| query_scores.queries.iter().any(|id| id == all_id.as_bytes()));
        if per_query && is_taken {
            return fail(format!(
                "the id `{}` of a query is also that of the rows of averages: use --average-id to \
                 give them another",
                printable(all_id.as_bytes())
            ));
        }
        Ok(ReportOptions { wide, all_id: all_id.to_owned(), ..self.options(per_query)? })
    }
}

fn not_wide(what: &str) -> CliError {
    CliError::new(format!("--wide is for tsv and csv, and not for {what}"))
}

/// Returns whether an output file is to be a table of Parquet, by its extension.
fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

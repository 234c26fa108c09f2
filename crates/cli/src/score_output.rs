//! The output of scores and summaries, and its look: `eval` and `merge` share it.

use std::io::{self, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::Scores;
use laneval::error::printable;
use laneval::measure::Measure;
use laneval::report::html::{self, only_curve};
use laneval::report::{Format, ReportOptions};

use super::choice::{formats, one_of};
use super::output::{Output, same_file, unknown_extension};
use super::refused::{self, Wish};
use super::row_output::NO_PARQUET;
#[cfg(feature = "parquet")]
use super::score_table;
use super::stop::Stop;
use super::style::{shown, stdout_has_colour, stdout_width};

/// Options of a report.
#[derive(Debug, Args)]
pub struct ReportOutput {
    /// The format [default: by -o, else table on a terminal and tsv in a pipe]
    ///
    /// junit has the results of --fail-if.
    #[arg(long, value_name = "FORMAT", value_parser = one_of(formats()), help_heading = "Output")]
    format: Option<Format>,
    /// Write to this file; may be repeated, `-` is stdout
    ///
    /// It appears only when it is complete, in the format that its name says.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    /// The title of a page [default: the names of the runs]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,
    /// The number of decimals [default: 4 in tables]
    ///
    /// The format trec has 4 too. In other formats a number has as many as it takes to read the
    /// same number back.
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
    /// The rows of averages have `all` in the column query_id, unless --all-id says otherwise. With
    /// --stat a column `stat` names the statistic of a row.
    #[arg(long, help_heading = "Output")]
    wide: bool,
    /// The text of rows of averages in the column query_id [default: nothing; `all` with --wide and
    /// in trec]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    all_id: Option<String>,
    /// Write a summary too, for `laneval merge`
    ///
    /// It is added to those of other shards. It holds counts, exact sums and the ids of the
    /// queries. Shards of a run need the same name (name=path) and the same options.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    partial: Option<PathBuf>,
}

/// One output of a report: its format, and its place, which is checked before any work is done.
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
    /// Writes the report.
    pub fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Stop> {
        self.output.write_text(self.format == Format::Table, write)
    }

    /// Writes scores in the format, or as a table of Parquet.
    pub fn write_scores(self, scores: &Scores, options: &ReportOptions) -> Result<(), Stop> {
        let (format, is_parquet, title) = (self.format, self.is_parquet, self.title.clone());
        self.write(|to| match (is_parquet, &title) {
            #[cfg(feature = "parquet")]
            (true, _) => score_table::write(scores, options, to),
            (_, Some(title)) if format == Format::Html => {
                html::scores(scores, &html::Context::new(title), &mut &mut *to)
            }
            _ => format.write(scores, options, &mut &mut *to),
        })
    }

    /// Returns whether people see the output as it is, on a terminal or in a log.
    pub fn is_seen(&self) -> bool {
        self.is_stdout && matches!(self.format, Format::Table | Format::Markdown)
    }

    /// Refuses a table of Parquet, which only scores have.
    pub fn check_comparison(&self) -> Result<(), Stop> {
        if self.is_parquet {
            Err(Stop::new("a comparison has no table of Parquet: take .tsv, .csv, .jsonl or .json"))
        } else {
            Ok(())
        }
    }

    /// Returns a look that suits the place: widths and colours are those of a terminal.
    pub fn look(&self, options: &ReportOptions) -> ReportOptions {
        if self.is_stdout {
            options.clone()
        } else {
            ReportOptions { colour: false, width: None, sparklines: false, ..options.clone() }
        }
    }
}

impl ReportOutput {
    /// Returns the outputs that were asked for, none of which is an input, each in its format.
    ///
    /// # Errors
    /// An unknown extension; two outputs of one name; a title without a page; a format beside
    /// several outputs none of which is stdout; a place that cannot be written to.
    pub fn targets(&self, inputs: &[PathBuf]) -> Result<Vec<ReportTarget>, Stop> {
        let places: Vec<Option<&Path>> = match self.output.as_slice() {
            [] => vec![None],
            paths => paths
                .iter()
                .map(|path| Some(path.as_path()).filter(|path| path.as_os_str() != "-"))
                .collect(),
        };
        for (at, place) in places.iter().enumerate() {
            let Some(path) = place else { continue };
            if places[..at].iter().flatten().any(|other| same_file(path, other)) {
                return Err(Stop::new(format!("two outputs have one name: {}", shown(path))));
            }
        }
        if places.len() > 1 && self.format.is_some() && !places.contains(&None) {
            return Err(Stop::new(
                "--format is of stdout where there are several -o, whose names say their formats: \
                 leave it out, or add `-o -`",
            ));
        }
        let one = |place: &Option<&Path>| self.target(*place, places.len() == 1, inputs);
        let targets = places.iter().map(one).collect::<Result<Vec<ReportTarget>, Stop>>()?;
        // `-`, /dev/stdout and /dev/fd/1 are all stdout.
        if targets.iter().filter(|target| matches!(target.output, Output::Stdout)).count() > 1 {
            return Err(Stop::new("two outputs have one name: stdout"));
        }
        let is_page = targets.iter().any(|target| target.format == Format::Html);
        refused::check([(Wish::Title, self.title.is_some()), (Wish::NoPage, !is_page)])?;
        Ok(targets)
    }

    /// Returns the output for a path, or for stdout without a path. --format applies to a path only
    /// if the output is `alone`.
    fn target(
        &self,
        place: Option<&Path>,
        alone: bool,
        inputs: &[PathBuf],
    ) -> Result<ReportTarget, Stop> {
        let asked = self.format.filter(|_| alone || place.is_none());
        let is_parquet = asked.is_none() && place.is_some_and(is_parquet);
        let format = match (asked, place) {
            (Some(format), _) => format,
            (None, Some(path)) if is_parquet && !cfg!(feature = "parquet") => {
                return Err(Stop::new(format!("{}: cannot write: {NO_PARQUET}", shown(path))));
            }
            // Of all formats this one has the same rows.
            (None, Some(_)) if is_parquet => Format::Jsonl,
            (None, Some(path)) => Format::of_path(path).ok_or_else(|| {
                let known = Format::EXTENSIONS.map(|(extension, _)| extension);
                unknown_extension(path, &known, ", or use --format")
            })?,
            (None, None) => self.format_on_stdout(),
        };
        Ok(ReportTarget {
            format,
            output: Output::new(place, inputs)?,
            is_stdout: place.is_none(),
            is_parquet,
            title: self.title.clone(),
        })
    }

    /// Returns the title of a page, if one was asked for.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
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

    /// Returns whether there are several outputs.
    pub fn is_many(&self) -> bool {
        self.output.len() > 1
    }

    /// Returns the output of what `--explain` prints: that of the scores, the first of several.
    pub fn explained(&self, inputs: &[PathBuf]) -> Result<Output, Stop> {
        let path = self.output.first().map(PathBuf::as_path).filter(|path| path.as_os_str() != "-");
        Output::new(path, inputs)
    }

    /// Returns the look of a report on stdout, with or without the values of queries;
    /// [`ReportTarget::look`] makes that of a file.
    pub fn options(&self, per_query: bool) -> ReportOptions {
        ReportOptions {
            per_query,
            precision: self.precision.map_or(4, usize::from),
            decimals: self.precision.map(usize::from),
            colour: stdout_has_colour(),
            width: stdout_width(),
            sparklines: stdout().is_terminal(),
            ..ReportOptions::default()
        }
    }

    /// Returns the output of a summary, if `path` asks for one: it is none of the inputs, and not
    /// the output of the report.
    pub fn partial(&self, path: Option<&Path>, inputs: &[PathBuf]) -> Result<Option<Output>, Stop> {
        let Some(path) = path else { return Ok(None) };
        let shared =
            || Stop::new("--partial needs a separate file, because the scores are written too");
        if path.as_os_str() == "-" || self.output.iter().any(|scores| same_file(path, scores)) {
            return Err(shared());
        }
        let to_stdout =
            self.output.is_empty() || self.output.iter().any(|path| path.as_os_str() == "-");
        match Output::new(Some(path), inputs)? {
            Output::Stdout if to_stdout => Err(shared()),
            output => Ok(Some(output)),
        }
    }
}

/// Returns whether a file is to be a table of Parquet.
fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

impl ScoreOutput {
    /// Returns the outputs that were asked for, each in its format.
    pub fn targets(&self, inputs: &[PathBuf]) -> Result<Vec<ReportTarget>, Stop> {
        let mut targets = self.report.targets(inputs)?;
        for target in targets.iter_mut().filter(|_| self.wide) {
            target.format = match target.format {
                _ if target.is_parquet => return Err(Self::not_wide("a table of Parquet")),
                format @ (Format::Tsv | Format::Csv) => format,
                Format::Table if self.report.format.is_none() && target.is_stdout => Format::Tsv,
                format => return Err(Self::not_wide(&format!("the format {format}"))),
            };
        }
        Ok(targets)
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
    /// A query whose id equals the id of the rows of averages.
    pub fn options(&self, per_query: bool, scores: &Scores) -> Result<ReportOptions, Stop> {
        let all = if self.wide { "all" } else { "" };
        let all_id = self.all_id.as_deref().unwrap_or(all);
        let mut queries = scores.runs.iter().filter_map(|run| run.per_query.as_ref());
        let is_taken = !all_id.is_empty()
            && queries.any(|of| of.queries.iter().any(|id| id == all_id.as_bytes()));
        if per_query && is_taken {
            return Err(Stop::new(format!(
                "the id `{}` of a query is also that of the rows of averages: use --all-id to give \
                 them another",
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

    /// Returns the output of a summary, which is none of the inputs, and not the output of the
    /// scores.
    pub fn partial(&self, inputs: &[PathBuf]) -> Result<Option<Output>, Stop> {
        self.report.partial(self.partial.as_deref(), inputs)
    }
}

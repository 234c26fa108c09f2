//! `laneval convert`: reads a run or judgments in any format, and writes another.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use laneval::report::Note;
use laneval::text::TextRow;
use laneval::{Error, Input, Join, JudgedBy, Qrels};

use super::build::{Build, EXTENSION};
use super::choice::{NamedChoice, groups, one_of};
use super::chunks::ChunkOptions;
use super::formats::FormatOptions;
use super::inputs::{bytes, recognise, stem};
use super::output::{Output, unknown_extension};
use super::progress::{Progress, WorkAmount};
use super::row_output::{NO_PARQUET, RowFormat, RowWriter};
use super::stop::Stop;
use super::style::{counted, say, shown, tell};
use super::threads::Threads;
use super::units::UnitOptions;

const EXAMPLES: &str = "\
Examples:
  laneval convert run.json -o run.trec
  laneval convert qrels.tsv --qrels -o qrels.qrels
  laneval convert judged.qrels --qrels --judgments-by judge -o judged.tsv
  laneval convert judged.letor scores.txt -o model.run.gz
  laneval convert passages.jsonl --qrels --chunks chunks.csv -o chunks.qrels
  laneval convert chunks.run --units before:# -o documents.run
  laneval convert qrels.tsv run.json run.csv -o all.lmx";

/// Write a run, or with --qrels judgments, in another format.
///
/// Rows keep their order, and numbers are written as they were read. The extension of the output
/// decides the format. If the input lacks fields that TREC text needs, they are made up: the rank
/// is the number of the row among those of its query, and the tag is the name of the file.
/// Documents that occur twice are not reported, but with --units or --repeats: then each document
/// is written once, with its score.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Convert {
    /// A run, or with --qrels judgments, in any format, plain or compressed; `-` is stdin. For a
    /// file of scores alone, one on each line or a matrix of NumPy, give two files: first the
    /// judgments that they belong to, then the scores. For .lmx give the judgments, then the runs
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// The file to write, which appears only when it is complete: .trec, .run or .qrels, .tsv,
    /// .jsonl, each of them also .gz; .parquet; or .lmx, as `laneval build` makes it
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Read judgments, not a run
    #[arg(long)]
    qrels: bool,
    /// Keep who judged a document, or for which subtopic: a column of tables and records, the
    /// second field of TREC text
    #[arg(long, value_name = "GROUP", requires = "qrels", value_parser = one_of(columns()))]
    judgments_by: Option<JudgedBy>,
    #[command(flatten)]
    chunks: ChunkOptions,
    /// Print nothing on stderr
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    units: UnitOptions,
    #[command(flatten)]
    formats: FormatOptions,
}

/// Lists the facets of judgments that tables have columns for.
fn columns() -> Vec<NamedChoice<JudgedBy>> {
    groups()
        .into_iter()
        .filter(|(_, by, _)| matches!(by, JudgedBy::Judge | JudgedBy::Subtopic))
        .collect()
}

/// The kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// Rows of text, perhaps compressed by gzip.
    Rows(RowFormat, Gzip),
    /// A label matrix.
    Matrix,
}

type Gzip = bool;

/// Extensions, with the format of their rows (a matrix has none), and whether they stand for
/// judgments.
const TARGETS: &[(&str, Option<RowFormat>, Option<bool>)] = &[
    ("trec", Some(RowFormat::Trec), None),
    ("run", Some(RowFormat::Trec), Some(false)),
    ("qrels", Some(RowFormat::Trec), Some(true)),
    ("tsv", Some(RowFormat::Tsv), None),
    ("jsonl", Some(RowFormat::Jsonl), None),
    #[cfg(feature = "parquet")]
    ("parquet", Some(RowFormat::Parquet), None),
    (EXTENSION, None, None),
];

impl Target {
    /// Returns the target that the extension of a path names.
    fn of(path: &Path, judgments: bool) -> Result<Self, Stop> {
        let plain = without(path, &["gz"]);
        let extension = plain.extension().map(|extension| extension.to_ascii_lowercase());
        let known =
            TARGETS.iter().find(|(name, ..)| extension.as_deref().is_some_and(|one| one == *name));
        let target = match known {
            Some((_, Some(format), _)) if format.is_text() || plain == *path => {
                Target::Rows(*format, plain != *path)
            }
            Some((_, None, _)) if plain == *path => Target::Matrix,
            _ if cfg!(not(feature = "parquet"))
                && extension.as_deref().is_some_and(|one| one == "parquet") =>
            {
                return Err(Stop::new(format!("{}: cannot write: {NO_PARQUET}", shown(path))));
            }
            _ => {
                let extensions: Vec<&str> = TARGETS.iter().map(|(name, ..)| *name).collect();
                return Err(unknown_extension(path, &extensions, "; text also with .gz"));
            }
        };
        match known.and_then(|(.., says)| *says) {
            Some(true) if !judgments => {
                Err(Stop::new(format!("{} is for judgments: add --qrels", shown(path))))
            }
            Some(false) if judgments => Err(Stop::new(format!(
                "{} is for a run: leave out --qrels, or write .qrels",
                shown(path)
            ))),
            _ => Ok(target),
        }
    }
}

/// Returns a path without its last extension, if it is one of `extensions`.
fn without(path: &Path, extensions: &[&str]) -> PathBuf {
    let is_one =
        |last: &std::ffi::OsStr| extensions.iter().any(|one| last.eq_ignore_ascii_case(one));
    if path.extension().is_some_and(is_one) { path.with_extension("") } else { path.to_owned() }
}

impl Convert {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        match Target::of(&self.output, self.qrels)? {
            Target::Matrix => self.matrix(),
            Target::Rows(format, gzip) if self.chunks.is_asked() => self.chunked(format, gzip),
            Target::Rows(format, gzip) => self.rows(format, gzip),
        }
    }

    /// Writes judgments of chunks, which are made of judged passages.
    fn chunked(self, format: RowFormat, gzip: Gzip) -> Result<(), Stop> {
        let start = Instant::now();
        let by_span = match self.judgments_by {
            None => false,
            Some(JudgedBy::Subtopic) => true,
            Some(by) => {
                return Err(Stop::new(format!(
                    "--judgments-by {by}: passages have none; subtopic makes one of each passage"
                )));
            }
        };
        let (input, _) = self.input()?;
        let inputs: Vec<PathBuf> = self.inputs.iter().chain(self.chunks.path()).cloned().collect();
        let output = Output::new(Some(&self.output), &inputs)?;
        let (gold, chunks) = self.chunks.read(input, &self.formats)?;
        let judgments = gold.chunk_judgments(&chunks, self.chunks.rule(by_span)?)?;
        output.write(|to| {
            written(to, (format, gzip), (self.qrels, tag(input)), |writer| {
                let mut writer = writer.by(self.judgments_by);
                for (line, row) in (1..).zip(&judgments.rows) {
                    let (number, span) =
                        (row.grade.to_string(), row.span.map(|span| span.to_string()));
                    writer
                        .row(&TextRow {
                            line,
                            query: row.query,
                            doc: row.chunk,
                            number: number.as_bytes(),
                            value: row.grade,
                            rank: None,
                            tag: None,
                            group: span.as_ref().map(|span| span.as_bytes()),
                        })
                        .map_err(io::Error::other)?;
                }
                writer.finish().map(drop)
            })
        })?;
        if !self.quiet {
            say(&Note::Note(judgments.note));
            let rows = counted(judgments.rows.len() as u64, "judgment");
            tell(format_args!(
                "{}: {rows} in {:.3} s",
                shown(&self.output),
                start.elapsed().as_secs_f64()
            ));
        }
        Ok(())
    }

    fn matrix(self) -> Result<(), Stop> {
        let Convert { inputs, output, qrels, quiet, units, formats, .. } = self;
        match inputs.split_first() {
            Some((judgments, runs)) if !runs.is_empty() && !qrels => {
                Build::of((judgments.clone(), runs.to_vec()), output, (formats, units), quiet).run()
            }
            _ => Err(Stop::new(format!(
                "{}: a matrix has judgments and runs: give QRELS RUN..., without --qrels",
                shown(&output)
            ))),
        }
    }

    fn rows(self, format: RowFormat, gzip: Gzip) -> Result<(), Stop> {
        let start = Instant::now();
        let (input, letor) = self.input()?;
        let output = Output::new(Some(&self.output), &self.inputs)?;
        if recognise(&self.inputs)?.contains(&true) {
            let message = "a label matrix keeps neither documents nor scores: convert the files \
                           that it was built from";
            return Err(Stop::new(message));
        }
        let amount = WorkAmount::of(bytes(&self.inputs));
        let progress = Progress::start("converting", amount, self.quiet);
        let by = self.judgments_by;
        let join =
            self.formats.of(Join { watch: progress.watch(), judged_by: by, ..Join::default() });
        let join = self.units.of(join)?;
        let letor = letor.map(|path| self.judgments(&join, path)).transpose()?;
        let (mut count, mut wrong) = (0, None);
        let written = output.write(|to| {
            let mut all = |writer: RowWriter<'_>| {
                let mut writer = writer.by(by);
                let read = self.read(&join, input, letor.as_ref(), |row| writer.row(&row));
                count = writer.finish()?;
                read.map_err(|error| {
                    // The writer's error has to be one of I/O, so the reason is kept beside it, and
                    // told instead of it.
                    wrong = Some(error);
                    io::Error::other("the input is wrong")
                })
            };
            written(to, (format, gzip), (self.qrels, tag(input)), &mut all)
        });
        drop(progress);
        match wrong {
            Some(error) => return Err(self.refused(error)),
            None => written?,
        }
        if !self.quiet {
            self.formats.notes().iter().for_each(say);
            let rows = counted(count, if self.qrels { "judgment" } else { "result" });
            tell(format_args!(
                "{}: {rows} in {:.3} s",
                shown(&self.output),
                start.elapsed().as_secs_f64()
            ));
        }
        Ok(())
    }

    /// Returns the file of rows, and the judgments that its scores belong to, if it has scores
    /// alone.
    fn input(&self) -> Result<(&Path, Option<&Path>), Stop> {
        match &self.inputs[..] {
            [input] => Ok((input, None)),
            [letor, input] if !self.qrels => Ok((input, Some(letor))),
            _ => Err(Stop::new(
                "one input becomes one file: give a run alone, or with --qrels judgments alone",
            )),
        }
    }

    /// Reads judgments that scores alone go with.
    fn judgments(&self, join: &Join, path: &Path) -> Result<Qrels, Stop> {
        let judgments = Threads::default().install(|| join.qrels(path))?;
        if judgments.take_scores() {
            return Ok(judgments);
        }
        let judgments = shown(path);
        Err(Stop::new(format!(
            "{judgments} is neither LETOR nor a matrix, and scores alone need such judgments: one \
             input becomes one file"
        )))
    }

    /// Returns the error of an input, with the option that helps where it has the other kind of
    /// rows.
    fn refused(&self, error: Error) -> Stop {
        /// The hint of commands that take judgments and runs.
        const ORDER: &str = "the order is QRELS RUN";
        let (expected, option) = if self.qrels {
            (", judgments were expected", "leave out --qrels")
        } else {
            (", a run was expected", "add --qrels")
        };
        let hint = |message: String| {
            if message.ends_with(expected) {
                format!("{message}; {option}")
            } else {
                message.replace(ORDER, option)
            }
        };
        match Stop::from(error) {
            Stop::Failed(messages) => Stop::Failed(messages.into_iter().map(hint).collect()),
            other => other,
        }
    }

    /// Reads rows.
    fn read(
        &self,
        join: &Join,
        input: &Path,
        letor: Option<&Qrels>,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<(), Error> {
        let input = Input::from(input);
        if self.qrels {
            join.each_judgment(input, take)
        } else {
            join.each_result(input, letor, take)
        }
    }
}

/// Writes all rows that `write` gives a writer of judgments, or of results with a tag.
fn written(
    to: &mut (dyn Write + Send),
    (format, gzip): (RowFormat, Gzip),
    (judgments, tag): (bool, String),
    write: impl FnOnce(RowWriter<'_>) -> io::Result<()>,
) -> io::Result<()> {
    match format {
        #[cfg(feature = "parquet")]
        RowFormat::Parquet => write(RowWriter::parquet(judgments, to)),
        format if gzip => {
            let mut gzip = GzEncoder::new(to, Compression::default());
            write(RowWriter::new(format, judgments, tag, &mut gzip))?;
            gzip.finish().map(drop)
        }
        format => write(RowWriter::new(format, judgments, tag, to)),
    }
}

/// Returns the tag for results that have none: the name of the file without extensions.
fn tag(input: &Path) -> String {
    stem(input)
        .split(|c: char| c.is_ascii_whitespace() || c == '\u{b}')
        .collect::<Vec<_>>()
        .join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_names_of_files() {
        for (path, name) in [
            ("a/run.v2.tsv.gz", "run.v2"),
            ("my run.json", "my_run"),
            ("-", "stdin"),
            ("x.zst", "x"),
        ] {
            assert_eq!(tag(Path::new(path)), name);
        }
    }

    #[test]
    fn extensions_say_what_is_written() {
        let of = |path: &str, judgments| Target::of(Path::new(path), judgments).map_err(|_| ());
        let rows = |format, gzip| Ok(Target::Rows(format, gzip));
        assert_eq!(of("a.b/x.TREC", true), rows(RowFormat::Trec, false));
        assert_eq!(of("x.run.gz", false), rows(RowFormat::Trec, true));
        assert_eq!(of("x.qrels.GZ", true), rows(RowFormat::Trec, true));
        assert_eq!(of("x.tsv", false), rows(RowFormat::Tsv, false));
        assert_eq!(of("x.jsonl.gz", false), rows(RowFormat::Jsonl, true));
        assert_eq!(of("x.lmx", false), Ok(Target::Matrix));
        for (path, judgments) in [
            ("x.qrels", false),
            ("x.run", true),
            ("x.lmx.gz", false),
            ("x", false),
            ("x.gz", false),
            ("x.csv", true),
        ] {
            assert_eq!(of(path, judgments), Err(()), "{path}");
        }
    }
}

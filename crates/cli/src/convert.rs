//! `laneval convert`: reads a run or judgments in any format, and writes another.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use laneval::options::Given;
use laneval::report::Note;
use laneval::text::TextRow;
use laneval::{Error, FacetKind, Input, Join, Qrels};

use super::{
    build::{Build, EXTENSION},
    chunks,
    cli_error::{CliError, CliResult, fail},
    command_row::{CommandRow, Inputs},
    formats::RecognisedFormats,
    inputs::{bytes, find_matrices, stem, without_extension},
    output::{Output, cannot_write, unknown_extension},
    progress::{Progress, WorkAmount},
    row_output::{NO_PARQUET, RowFormat, RowWriter},
    style::{pluralize, print_note, print_written, shown},
    threads::Threads,
};

/// `laneval convert`.
pub const COMMAND: CommandRow = CommandRow {
    name: "convert",
    first: "Convert a run, or qrels with --qrels, to another format",
    more: "Rows keep their order, and numbers are written as they were read. Fields that TREC text \
        needs and the input lacks are made up: the rank by the order of rows, the tag by the name \
        of the file. Documents that occur twice are not reported, except with --doc-id or \
        --aggregate: then each document is written once, with \
        its score.",
    usage: &[
        "convert [OPTIONS] <RUN> --output <OUT>",
        "convert [OPTIONS] --qrels <QRELS> --output <OUT>",
        "convert [OPTIONS] <QRELS> <RUN>... --output <FILE.lmx>",
        "convert [OPTIONS] <QRELS> <SCORES> --output <OUT>",
    ],
    inputs: Some(Inputs {
        name: "IN",
        first: "A run, or with --qrels qrels; `-` is stdin",
        more: "It is in any format, plain or compressed. For a file of scores alone, one on each \
            line or a matrix of NumPy, give two files: first the qrels that they belong to, then \
            the scores. For .lmx give the qrels, then the runs.",
        count: (1, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval convert run.json -o run.trec",
        "laneval convert qrels.tsv --qrels -o qrels.qrels",
        "laneval convert judged.qrels --qrels --facet judge -o judged.tsv",
        "laneval convert judged.letor scores.txt -o model.run.gz",
        "laneval convert passages.jsonl --qrels --chunks chunks.csv -o chunks.qrels",
        "laneval convert chunks.run --doc-id before:# -o documents.run",
        "laneval convert qrels.tsv run.json run.csv -o all.lmx",
    ],
    page: "converting.md",
    run: |arguments| Convert { given: arguments.given, inputs: arguments.inputs }.run(),
    ..CommandRow::NEW
};

/// The command `laneval convert`: its options, and its inputs.
#[derive(Debug)]
struct Convert {
    given: Given,
    inputs: Vec<PathBuf>,
}

/// The kind of file that `laneval convert` writes: rows in a format, or a label matrix.
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
    /// Returns the kind of file that `laneval convert` writes, by the extension of the output path.
    fn from_path(path: &Path, judgments: bool) -> CliResult<Self> {
        let plain = without_extension(path, &["gz"]);
        let extension = plain.extension().map(|extension| extension.to_ascii_lowercase());
        let known = TARGETS
            .iter()
            .find(|(name, ..)| extension.as_deref().is_some_and(|found| found == *name));
        let target = match known {
            Some((_, Some(format), _)) if format.is_text() || plain == *path => {
                Self::Rows(*format, plain != *path)
            }
            Some((_, None, _)) if plain == *path => Self::Matrix,
            _ if cfg!(not(feature = "parquet"))
                && extension.as_deref().is_some_and(|found| found == "parquet") =>
            {
                return Err(cannot_write(path, NO_PARQUET));
            }
            _ => {
                let extensions: Vec<&str> = TARGETS.iter().map(|(name, ..)| *name).collect();
                return Err(unknown_extension(path, &extensions, "; text also with .gz"));
            }
        };
        match known.and_then(|(.., says)| *says) {
            Some(true) if !judgments => {
                fail(format!("{} is for judgments: add --qrels", shown(path)))
            }
            Some(false) if judgments => {
                fail(format!("{} is for a run: leave out --qrels, or write .qrels", shown(path)))
            }
            _ => Ok(target),
        }
    }
}

impl Convert {
    /// Runs `laneval convert`: writes a run or judgments in the format of the output's extension.
    fn run(self) -> CliResult<()> {
        let output = self.given.required_path("output")?;
        match Target::from_path(output, self.given.flag("qrels"))? {
            Target::Matrix => self.matrix(),
            Target::Rows(format, gzip) if self.given.is_given("chunks") => {
                self.chunked(output, format, gzip)
            }
            Target::Rows(format, gzip) => self.rows(output, format, gzip),
        }
    }

    /// Writes judgments of chunks, made of the judged passages that they overlap, for `convert
    /// --chunks`.
    fn chunked(&self, path: &Path, format: RowFormat, gzip: Gzip) -> CliResult<()> {
        let start = Instant::now();
        let facet = self.passage_facet()?;
        let (input, _) = self.input()?;
        let inputs = self.inputs.iter().map(PathBuf::as_path).chain(self.given.path("chunks"));
        let inputs: Vec<PathBuf> = inputs.map(Path::to_owned).collect();
        let output = Output::new(Some(path), &inputs)?;
        let (gold, pieces) = chunks::read(&self.given, input)?;
        let rule = chunks::rule(&self.given, facet.is_some())?;
        let judgments = gold.chunk_judgments(&pieces, rule)?;
        output.write(|to| {
            write_rows(to, format, gzip, self.given.flag("qrels"), tag(input), |writer| {
                let mut writer = writer.with_facet(facet);
                for (line, row) in (1..).zip(&judgments.rows) {
                    let number = row.grade.to_string();
                    let span = row.span.map(|span| span.to_string());
                    let row = TextRow {
                        line,
                        query: row.query,
                        doc: row.chunk,
                        number: number.as_bytes(),
                        value: row.grade,
                        rank: None,
                        tag: None,
                        group: span.as_deref().map(str::as_bytes),
                    };
                    writer.row(&row).map_err(io::Error::other)?;
                }
                writer.finish().map(drop)
            })
        })?;
        let note = Note::Note(judgments.note);
        self.print_done(path, &[note], judgments.rows.len() as u64, start);
        Ok(())
    }

    /// Returns the facet by which judgments of chunks are written, each passage a subtopic, if
    /// `--facet` asks for one.
    fn passage_facet(&self) -> CliResult<Option<FacetKind>> {
        match self.given.value("facet")? {
            facet @ (None | Some(FacetKind::Subtopic)) => Ok(facet),
            Some(facet) => fail(format!(
                "--facet {facet}: passages have none; subtopic makes one of each passage"
            )),
        }
    }

    /// Prints notes, and the number of judgments or results that were written, unless `--quiet` is
    /// given.
    fn print_done(&self, path: &Path, notes: &[Note], rows: u64, start: Instant) {
        if self.given.flag("quiet") {
            return;
        }
        notes.iter().for_each(print_note);
        let noun = if self.given.flag("qrels") { "judgment" } else { "result" };
        print_written(path, pluralize(rows, noun), start);
    }

    fn matrix(self) -> CliResult<()> {
        if self.inputs.len() < 2 || self.given.flag("qrels") {
            return Err(CliError::for_path(
                self.given.required_path("output")?,
                "a matrix has judgments and runs: give QRELS RUN..., without --qrels",
            ));
        }
        Build::new(self.given, self.inputs).run()
    }

    fn rows(&self, path: &Path, format: RowFormat, gzip: Gzip) -> CliResult<()> {
        let start = Instant::now();
        let (input, letor) = self.input()?;
        let output = Output::new(Some(path), &self.inputs)?;
        if find_matrices(&self.inputs)?.contains(&true) {
            let message = "a label matrix keeps neither documents nor scores: convert the files \
                           that it was built from";
            return fail(message);
        }
        let amount = WorkAmount::from_bytes(bytes(&self.inputs));
        let progress = Progress::start("converting", amount, self.given.flag("quiet"));
        let formats = RecognisedFormats::default();
        let join = Join { watch: progress.watch(), ..formats.join(&self.given)? };
        let letor = letor.map(|path| judgments(&join, path)).transpose()?;
        let (mut count, mut wrong) = (0, None);
        let written = output.write(|to| {
            write_rows(to, format, gzip, self.given.flag("qrels"), tag(input), |writer| {
                let mut writer = writer.with_facet(join.judged_by);
                let read = self.read(&join, input, letor.as_ref(), |row| writer.row(&row));
                count = writer.finish()?;
                read.map_err(|error| {
                    // The writer's error has to be one of I/O, so the reason is kept beside it, and
                    // told instead of it.
                    wrong = Some(error);
                    io::Error::other("the input is wrong")
                })
            })
        });
        drop(progress);
        match wrong {
            Some(error) => return Err(self.refused(error)),
            None => written?,
        }
        self.print_done(path, &formats.notes(), count, start);
        Ok(())
    }

    /// Returns the path of the rows to convert, and of the judgments that they are aligned with if
    /// they are scores alone.
    fn input(&self) -> CliResult<(&Path, Option<&Path>)> {
        match &self.inputs[..] {
            [input] => Ok((input, None)),
            [letor, input] if !self.given.flag("qrels") => Ok((input, Some(letor))),
            _ => fail(
                "one input becomes one file: give a run alone, or with --qrels judgments alone",
            ),
        }
    }

    /// Returns the error of an input of `laneval convert`, with a hint at `--qrels` if its rows are
    /// of the other kind.
    fn refused(&self, error: Error) -> CliError {
        /// The hint of commands that take judgments and runs.
        const ORDER: &str = "the order is QRELS RUN";
        let (expected, option) = if self.given.flag("qrels") {
            (", judgments were expected", "leave out --qrels")
        } else {
            (", a run was expected", "add --qrels")
        };
        let mut failure = CliError::from(error);
        if let CliError::Failed(messages) = &mut failure {
            for message in messages {
                if message.ends_with(expected) {
                    *message += &format!("; {option}");
                } else {
                    *message = message.replace(ORDER, option);
                }
            }
        }
        failure
    }

    /// Reads the rows of the input, judgments or results of a run, and hands each to `take`.
    fn read(
        &self,
        join: &Join,
        input: &Path,
        letor: Option<&Qrels>,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<(), Error> {
        let input = Input::from(input);
        if self.given.flag("qrels") {
            join.each_judgment(input, take)
        } else {
            join.each_result(input, letor, take)
        }
    }
}

/// Reads the judgments that a file of scores alone is aligned with: LETOR or a matrix.
fn judgments(join: &Join, path: &Path) -> CliResult<Qrels> {
    let judgments = Threads::default().install(|| join.qrels(path))?;
    if judgments.is_aligned() {
        return Ok(judgments);
    }
    fail(format!(
        "{} is neither LETOR nor a matrix, and scores alone need such judgments: one input becomes \
         one file",
        shown(path)
    ))
}

/// Makes a writer of rows in this format, compressed by gzip if requested, and hands it to `write`.
fn write_rows(
    to: &mut (dyn Write + Send),
    format: RowFormat,
    gzip: Gzip,
    judgments: bool,
    tag: String,
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

/// Returns the tag for results of a run that have none: the name of the input file without
/// extensions.
fn tag(input: &Path) -> String {
    // A blank would end the tag, which is the last field of a line. Rust does not count the
    // vertical tab among ASCII blanks, C does.
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
        let target =
            |path: &str, judgments| Target::from_path(Path::new(path), judgments).map_err(|_| ());
        let rows = |format, gzip| Ok(Target::Rows(format, gzip));
        assert_eq!(target("a.b/x.TREC", true), rows(RowFormat::Trec, false));
        assert_eq!(target("x.run.gz", false), rows(RowFormat::Trec, true));
        assert_eq!(target("x.qrels.GZ", true), rows(RowFormat::Trec, true));
        assert_eq!(target("x.tsv", false), rows(RowFormat::Tsv, false));
        assert_eq!(target("x.jsonl.gz", false), rows(RowFormat::Jsonl, true));
        assert_eq!(target("x.lmx", false), Ok(Target::Matrix));
        for (path, judgments) in [
            ("x.qrels", false),
            ("x.run", true),
            ("x.lmx.gz", false),
            ("x", false),
            ("x.gz", false),
            ("x.csv", true),
        ] {
            assert_eq!(target(path, judgments), Err(()), "{path}");
        }
    }
}

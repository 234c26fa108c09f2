//! A run that comes through a pipe: held while it is small, and evaluated query by query otherwise.
//!
//! A pipe can be read once, and lines may come in any order. So a query is complete only at the end
//! of the text, unless its lines are together. Only the arriving lines show whether each query's
//! lines are together:
//!
//! ```text
//! start ── hold up to 32 MiB ──┬─ the end is reached ──► join: any order, as of a file
//!                              ├─ a table, whose columns stand at its end ─ hold all ──► join
//!                              └─ evaluate the whole queries of it
//!                                 ├─ one came back ─ hold all ──► join, and say why
//!                                 └─ forget them, and go on ─┬─ the end ──► scores
//!                                                            └─ one comes back ──► error
//! ```
//!
//! A user must act only on the last case, because the results to rank anew are gone. A text with
//! mixed queries mostly shows the mixture before. So memory is bounded for every text in order, and
//! small texts lose nothing.

use std::io::{Cursor, Read};
use std::path::Path;

use laneval::error::printable;
use laneval::internals::StreamingText;
use laneval::labels::FileAccess;
use laneval::{Error, Evaluator, Input, InputFormat, Join, LabelMatrix, RunInput, Scores, Summary};

use super::{
    cli_error::{CliError, CliResult},
    inputs::RunPath,
    progress::{Progress, WorkAmount},
    style::{shown, thousands},
};

/// The most bytes of text that are held in memory with their lines in any order.
const SMALL: usize = 32 << 20;

/// The result of reading a run from a pipe: a label matrix of the held run, or its scores already.
pub enum PipedRun {
    /// A run that was held, and joined; perhaps with the reason why.
    Buffered(Box<LabelMatrix>, Option<String>),
    /// A run that was evaluated while its text arrived.
    Streamed(Box<StreamedResults>),
}

/// The scores of a run that was evaluated query by query while its text came through a pipe.
pub struct StreamedResults {
    pub scores: Scores,
    pub summary: Option<Summary>,
    /// The name of the engine.
    pub engine: String,
    /// The number of judged queries, and the number of results.
    pub queries: u64,
    pub results: u64,
}

/// Reads the one run of an evaluation from a pipe; returns `None` for a file, which can be read
/// again.
pub fn read(
    evaluator: &Evaluator,
    join: &Join,
    qrels: &Path,
    run: &RunPath,
    summary: bool,
    quiet: bool,
) -> CliResult<Option<PipedRun>> {
    let (qrels, run) = (Input::from(qrels.to_owned()), run.input());
    if !run.input.is_stream() {
        return Ok(None);
    }
    let progress = Progress::start("reading", WorkAmount::Stream, quiet);
    // A program that writes both may write the judgments first. Files that are not mapped are read
    // at the start, but folders that are one table.
    let is_folder = matches!(&qrels, Input::Path(path) if path.is_dir());
    let first = qrels.is_stream() || join.access == FileAccess::Read && !is_folder;
    let qrels = if first { read_to_memory(qrels)? } else { qrels };
    let (name, mut text) =
        (run.name_alone()?, StreamingText::from_input(run.input.clone(), progress.watch())?);
    let (source, mut buffer) = (text.name().to_owned(), Vec::new());

    let mut all = text.fill_buffer(&mut buffer, SMALL)?;
    // The columns of a table are known only at its end.
    if !all && InputFormat::detect_table(&buffer).is_some() {
        all = text.fill_buffer(&mut buffer, usize::MAX)?;
    }
    if all {
        let matrix = join.files(qrels, [whole_run(&name, &source, buffer)])?;
        return Ok(Some(PipedRun::Buffered(Box::new(matrix), None)));
    }
    let qrels = join.qrels(qrels)?;
    let mut stream = evaluator.run_stream_named(join, &qrels, &name, &source, summary)?;
    let complete = stream.detect_format(&buffer)?.unwrap_or(0);
    match if complete > 0 { stream.read_part(&buffer[..complete]) } else { Ok(()) } {
        Err(Error::QueryNotContiguous { line, query, .. }) => {
            drop(stream);
            text.fill_buffer(&mut buffer, usize::MAX)?;
            let why = held_why(&source, line, &query, buffer.len());
            let matrix = join.runs(&qrels, [whole_run(&name, &source, buffer)])?;
            return Ok(Some(PipedRun::Buffered(Box::new(matrix), Some(why))));
        }
        done => done?,
    }
    // The beginning of the query at the cut goes before what is still to come. The rest of 32 MiB
    // is given back first.
    let rest = buffer.split_off(complete);
    drop(buffer);
    stream.read_part(Cursor::new(rest).chain(text)).map_err(too_late_error)?;
    let engine = stream.engine_name();
    let (queries, results) = (qrels.queries().len() as u64, stream.results());
    let (scores, summary) = if summary {
        stream.scores_and_summary().map(|(scores, summary)| (scores, Some(summary)))?
    } else {
        (stream.scores()?, None)
    };
    let streamed = StreamedResults { scores, summary, engine, queries, results };
    Ok(Some(PipedRun::Streamed(Box::new(streamed))))
}

/// Makes the error for a piped run in which a query comes back after its first results were
/// dropped.
fn too_late_error(error: Error) -> CliError {
    match error {
        Error::QueryNotContiguous { file, line, query } => CliError::new(format!(
            "{}:{line}: query {} comes back, but its earlier results are no longer held: sort the \
             lines by query, give a file, or hold \
             all of the run with --buffer",
            shown(file.as_ref()),
            printable(&query)
        )),
        other => other.into(),
    }
}

/// Makes the input of a run whose whole text is in memory.
fn whole_run(name: &str, source: &str, bytes: Vec<u8>) -> RunInput {
    RunInput::named(name, Input::Bytes { name: source.to_owned(), bytes })
}

/// Returns the reason why a piped run is held in memory: a query that came back after others.
fn held_why(source: &str, line: u64, query: &[u8], bytes: usize) -> String {
    format!(
        "{}: query {} comes back on line {}, so all of the run is held in memory, {} MB: a file \
         needs less, and so does a run \
         with the lines of each query together",
        shown(source.as_ref()),
        printable(query),
        thousands(line),
        thousands(bytes as u64 / 1_000_000)
    )
}

/// Reads an input of text, such as a pipe, to its end, and returns it as bytes in memory.
pub fn read_to_memory(input: Input) -> Result<Input, Error> {
    let (mut text, mut bytes) = (StreamingText::from_input(input, None)?, Vec::new());
    text.fill_buffer(&mut bytes, usize::MAX)?;
    Ok(Input::Bytes { name: text.name().to_owned(), bytes })
}

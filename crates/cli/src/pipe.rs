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
use laneval::internals::PassingText;
use laneval::labels::FileAccess;
use laneval::{Error, Evaluator, Input, InputFormat, Join, LabelMatrix, RunInput, Scores, Summary};

use super::inputs::RunPath;
use super::progress::{Progress, WorkAmount};
use super::stop::Stop;
use super::style::{shown, thousands};

/// The most bytes of text that are held in memory with their lines in any order.
const SMALL: usize = 32 << 20;

/// The result of reading a run.
pub enum Piped {
    /// A run that was held, and joined; perhaps with the reason why.
    Held(Box<LabelMatrix>, Option<String>),
    /// A run that was evaluated while its text arrived.
    Gone(Box<PipeResults>),
}

/// The results of a run that was evaluated while its text arrived.
pub struct PipeResults {
    pub scores: Scores,
    pub summary: Option<Summary>,
    /// The name of the engine.
    pub engine: String,
    /// The number of judged queries, and the number of results.
    pub queries: u64,
    pub results: u64,
}

/// Reads the one run of an evaluation; returns `None` if it can be read more than once.
pub fn read(
    evaluator: &Evaluator,
    join: &Join,
    (qrels, run): (&Path, &RunPath),
    summary: bool,
    quiet: bool,
) -> Result<Option<Piped>, Stop> {
    let (qrels, run) = (Input::from(qrels.to_owned()), run.input());
    if !run.input().passes() {
        return Ok(None);
    }
    let progress = Progress::start("reading", WorkAmount::Stream, quiet);
    // A program that writes both may write the judgments first. Files that are not mapped are read
    // at the start.
    let first = qrels.passes() || join.access == FileAccess::Read;
    let qrels = if first { in_memory(qrels)? } else { qrels };
    let (name, mut text) =
        (run.name_alone()?, PassingText::watched(run.input().clone(), progress.watch())?);
    let (source, mut held) = (text.name().to_owned(), Vec::new());
    let whole =
        |held: Vec<u8>| RunInput::named(&name, Input::Bytes { name: source.clone(), bytes: held });
    let mut all = text.hold(&mut held, SMALL)?;
    // The columns of a table are known only at its end.
    if !all && InputFormat::of_tables(&held).is_some() {
        all = text.hold(&mut held, usize::MAX)?;
    }
    if all {
        let matrix = join.files(qrels, [whole(held)])?;
        return Ok(Some(Piped::Held(Box::new(matrix), None)));
    }
    let qrels = join.qrels(qrels)?;
    let mut stream = evaluator.run_stream_of(join, &qrels, (&name, &source), summary)?;
    let complete = stream.tell(&held)?.unwrap_or(0);
    match if complete > 0 { stream.read_part(&held[..complete]) } else { Ok(()) } {
        Err(Error::CameBack { line, query, .. }) => {
            drop(stream);
            text.hold(&mut held, usize::MAX)?;
            let why = held_why(&source, line, &query, held.len());
            return Ok(Some(Piped::Held(Box::new(join.runs(&qrels, [whole(held)])?), Some(why))));
        }
        done => done?,
    }
    // The beginning of the query at the cut goes before what is still to come. The rest of 32 MiB
    // is given back first.
    let rest = held.split_off(complete);
    drop(held);
    stream.read_part(Cursor::new(rest).chain(text)).map_err(|error| match error {
        Error::CameBack { file, line, query } => Stop::new(format!(
            "{}:{line}: query {} comes back, but its earlier results are no longer held: sort the \
             lines by query, give a file, or hold \
             all of the run with --hold",
            shown(file.as_ref()),
            printable(&query)
        )),
        other => other.into(),
    })?;
    let engine = stream.engine_name();
    let (queries, results) = (qrels.queries().len() as u64, stream.results());
    let (scores, summary) = if summary {
        stream.scores_and_summary().map(|(scores, summary)| (scores, Some(summary)))?
    } else {
        (stream.scores()?, None)
    };
    Ok(Some(Piped::Gone(Box::new(PipeResults { scores, summary, engine, queries, results }))))
}

/// Says why a run is held in memory though it came through a pipe.
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

/// Reads an input to its end, and returns it as bytes in memory.
pub fn in_memory(input: Input) -> Result<Input, Error> {
    let (mut text, mut bytes) = (PassingText::of(input)?, Vec::new());
    text.hold(&mut bytes, usize::MAX)?;
    Ok(Input::Bytes { name: text.name().to_owned(), bytes })
}

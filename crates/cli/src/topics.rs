//! The texts of queries for people who read reports: the file of `--topics`.

use std::path::Path;

use laneval::error::printable;
use laneval::report::Note;
use laneval::text::QueryTexts;
use laneval::{Error, Input};

use super::{
    cli_error::{CliError, CliResult},
    style::{comma_list, shown, thousands},
};

/// The most queries without a text that a note names.
const NAMED: usize = 5;

/// Rejects, before any work, a file of query texts (`--topics`) that is missing or a folder.
pub fn check(path: &Path) -> CliResult<()> {
    match std::fs::metadata(path) {
        Ok(file) if file.is_dir() => Err(CliError::for_path(path, "cannot open: it is a folder")),
        Ok(_) => Ok(()),
        Err(error) => Err(Error::io(path, "open", error).into()),
    }
}

/// Reads the texts of some queries from a file of `--topics`, and notes which of these have none.
pub fn read<'a>(
    path: &'a Path,
    queries: impl IntoIterator<Item = &'a [u8]>,
) -> CliResult<(QueryTexts, Option<Note>)> {
    let queries: Vec<&[u8]> = queries.into_iter().collect();
    let read = QueryTexts::read(Input::Path(path.to_owned()), queries.iter().copied())?;
    let lacking = queries.iter().copied().filter(|id| !read.texts.contains_key(*id));
    let note = missing(&lacking.collect::<Vec<_>>(), queries.len(), path, &read.first_id);
    Ok((read, note))
}

/// Returns a note on the queries without a text in the file of `--topics`. If no query has a text,
/// the file may be of other queries, so the note names the first id of the file.
fn missing(lacking: &[&[u8]], queries: usize, path: &Path, first: &[u8]) -> Option<Note> {
    let path = shown(path);
    let more = if lacking.len() > NAMED { ", …" } else { "" };
    let named = comma_list(lacking.iter().take(NAMED).map(|id| printable(id))) + more;
    let [all, some] = [queries, lacking.len()].map(|count| thousands(count as u64));
    match lacking.len() {
        0 => None,
        _ if lacking.len() == queries => {
            let first = printable(first);
            let message = format!(
                "no query has a text in {path}: its first id is {first}, those asked for are \
                 {named}"
            );
            Some(Note::Warning(message))
        }
        1 => Some(Note::Note(format!("1 of {all} queries has no text in {path} ({named})"))),
        _ => Some(Note::Note(format!("{some} of {all} queries have no text in {path} ({named})"))),
    }
}

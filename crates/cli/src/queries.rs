//! The queries that count (`--only-queries`), and groups of queries (`--group-by`).

use std::collections::HashSet;
use std::path::Path;

use laneval::Groups;
use laneval::error::{Problems, printable};
use laneval::labels::Ids;
use laneval::text::KeyedValues;

use super::{
    cli_error::{CliError, CliResult, fail},
    side_file,
    style::{comma_list, shown},
};

/// The most keys of judgments that a message names.
const NAMED: usize = 8;

/// The bytes that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the ids of the queries to evaluate from a file of `--only-queries`: the first column of
/// its lines.
pub fn only(path: &Path) -> CliResult<Ids> {
    let text = read(path)?;
    let queries: HashSet<&[u8]> = lines(&text).map(|(_, line)| columns(line).0).collect();
    if queries.is_empty() {
        return Err(CliError::for_path(path, "there is no query in it"));
    }
    Ok(queries.into_iter().collect())
}

/// Reads groups of queries from a file of `--group-by`, lines of a query, a tab, and the name of
/// its group.
pub fn groups(path: &Path) -> CliResult<Groups> {
    let text = read(path)?;
    let (mut pairs, mut seen, mut problems) = (Vec::new(), HashSet::new(), Problems::default());
    for (number, line) in lines(&text) {
        let wrong = match columns(line) {
            (_, None) => "expected 'query<TAB>group'",
            (query, Some(group)) => match str::from_utf8(group) {
                Err(_) => "the name of the group is not UTF-8",
                Ok("") => "the group has no name: expected 'query<TAB>group'",
                Ok(_) if !seen.insert((query, group)) => "the query is in this group already",
                Ok(group) => {
                    pairs.push((query, group));
                    continue;
                }
            },
        };
        side_file::add_problem(&mut problems, path, number, wrong);
    }
    problems.into_result(())?;
    if pairs.is_empty() {
        return Err(CliError::for_path(
            path,
            "there is no query in it: expected 'query<TAB>group'",
        ));
    }
    Ok(Groups::new(pairs)?)
}

/// Returns the groups of `--group-by`: those of the file at `path` if there is one, or else the
/// values of a key of the judgments at `place`.
pub fn groups_by(
    path: &Path,
    is_file: bool,
    values: KeyedValues,
    place: &str,
) -> CliResult<Groups> {
    let KeyedValues { pairs, names } = values;
    match (is_file, pairs.is_empty()) {
        (true, true) => groups(path),
        (false, false) => Ok(Groups::new(pairs)?),
        (true, false) => {
            let name = shown(path);
            fail(format!(
                "--group-by {name}: there is a file of this name, and {place} has a key or column \
                 of this name: say ./{name} for the file, or rename it for the other"
            ))
        }
        (false, true) => {
            let more = if names.len() > NAMED { ", …" } else { "" };
            let named = comma_list(names.iter().take(NAMED).map(|name| printable(name.as_bytes())));
            let has = match names.len() {
                0 => "no keys or columns for groups, which are read of files of JSON, TSV and CSV"
                    .to_owned(),
                _ => format!("no values under this name: it has {named}{more}"),
            };
            let message = format!("cannot read: there is no such file, and {place} has {has}");
            Err(CliError::for_path(path, message))
        }
    }
}

/// Makes the error for groups of queries (`--group-by`) in which no query counts.
pub fn in_no_group(groups: &Groups) -> CliError {
    let id = groups
        .names()
        .flat_map(|name| groups.queries(name))
        .next()
        .map_or(String::new(), printable);
    CliError::new(format!(
        "--group-by: no query that counts is in a group; the ids of the groups are such as {id}: \
         are they those of the judgments?"
    ))
}

fn read(path: &Path) -> CliResult<Vec<u8>> {
    let mut text = side_file::read(path)?;
    // The mark stands before the first id, which would then be another id.
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// Returns the lines of a text that are not blank, with their numbers from 1.
fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = (1..).zip(text.split(|&byte| byte == b'\n'));
    lines.filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Returns the first column of a tab-separated line, and the second if there is one, without blanks
/// around them.
fn columns(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut columns = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
    (columns.next().unwrap_or_default(), columns.next())
}

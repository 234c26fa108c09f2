//! Files of query ids: the queries that count, or the group of each query.

use std::collections::HashSet;
use std::path::Path;

use laneval::error::{Problem, Problems, printable};
use laneval::labels::Ids;
use laneval::{Error, Groups};

use super::side_file;
use super::stop::Stop;
use super::style::shown;

/// The bytes that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the queries of a file: the first column of its lines.
pub fn only(path: &Path) -> Result<Ids, Stop> {
    let text = read(path)?;
    let queries: HashSet<&[u8]> = lines(&text).map(|(_, line)| columns(line).0).collect();
    if queries.is_empty() {
        return Err(Stop::new(format!("{}: there is no query in it", shown(path))));
    }
    Ok(queries.into_iter().collect())
}

/// Reads the groups of a file with lines of a query, a tab, and the name of its group.
pub fn groups(path: &Path) -> Result<Groups, Stop> {
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
        if problems.first.len() < Problems::LIMIT {
            problems.first.push(Problem {
                file: path.display().to_string(),
                line: number,
                message: wrong.to_owned(),
            })
        } else {
            problems.more += 1
        }
    }
    if !problems.first.is_empty() {
        return Err(Error::Input(problems).into());
    }
    if pairs.is_empty() {
        return Err(Stop::new(format!(
            "{}: there is no query in it: expected 'query<TAB>group'",
            shown(path)
        )));
    }
    Ok(Groups::new(pairs)?)
}

/// Says that no query that counts is in a group.
pub fn in_no_group(groups: &Groups) -> Stop {
    let id = groups
        .names()
        .flat_map(|name| groups.queries(name))
        .next()
        .map_or(String::new(), printable);
    Stop::new(format!(
        "--group-by: no query that counts is in a group; the ids of the groups are such as {id}: \
         are they those of the judgments?"
    ))
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let read = side_file::read(path);
    let mut text = read.map_err(|what| Stop::new(format!("{}{what}", shown(path))))?;
    // The mark stands before the first id, which would then be another id.
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// Returns the lines that are not blank, with their numbers from 1.
fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = (1..).zip(text.split(|&byte| byte == b'\n'));
    lines.filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Returns the first column of a line, and the second if there is one, without blanks around them.
fn columns(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut columns = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
    (columns.next().unwrap_or_default(), columns.next())
}

//! Reading of small files beside judgments and runs: lists and groups of queries, scales of
//! z-scores, baselines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use laneval::error::Problems;

use super::{
    cli_error::{CliError, CliResult},
    style::shown,
};

/// The bytes that are looked at before more is read.
const PIECE: usize = 1 << 16;

/// The most bytes of a list of queries, of groups, scales or a baseline: tens of millions of lines.
const MOST: usize = 512 << 20;

/// Reads the whole text of a side file, such as a list of queries; rejects binary data and endless
/// devices early.
///
/// # Errors
/// The file cannot be read, is binary, is larger than [`MOST`], or has lines that end with a lone
/// carriage return, which would run together.
pub fn read(path: &Path) -> CliResult<Vec<u8>> {
    let text = File::open(path).map_err(failed);
    let text = text.and_then(|mut file| read_up_to(MOST, &mut file));
    text.map_err(|what| CliError::new(format!("{}{what}", shown(path))))
}

fn failed(error: io::Error) -> String {
    format!(": cannot read: {error}")
}

/// Reads the whole text of an open side file, up to `most` bytes; rejects binary data early. An
/// error is a message to follow the name of the file.
pub fn read_up_to(most: usize, file: &mut impl Read) -> Result<Vec<u8>, String> {
    let (mut text, mut checked) = (Vec::new(), 0);
    loop {
        // A piece at a time, for a file's length says nothing of devices: /dev/zero has 0 bytes and
        // no end. Text has no byte 0, and whatever else is binary has one in its first kilobytes,
        // mostly.
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut text).map_err(failed)?;
        // Invariant: `checked` bytes were looked at, so each byte is looked at once.
        if text[checked..].contains(&0) {
            return Err(": is binary: text was expected".to_owned());
        }
        if read == 0 {
            break;
        }
        if text.len() > most {
            return Err(format!(
                ": has more than {} MiB, which is more than is read of such a file",
                most >> 20
            ));
        }
        checked = text.len();
    }
    match lone_return(&text) {
        Some(line) => Err(format!(
            ":{line}: a carriage return without a line feed: lines were expected to end with a \
             line feed"
        )),
        None => Ok(text),
    }
}

/// Adds the problem of a line to those of a file, or only counts it where there are too many to
/// name.
pub fn add_problem(problems: &mut Problems, path: &Path, line: u64, message: impl Into<String>) {
    problems.add(&path.display().to_string(), line, || message.into());
}

/// Returns the number of the first line of a text, from 1, with a carriage return that no line feed
/// follows.
fn lone_return(text: &[u8]) -> Option<usize> {
    let at = (0..text.len()).find(|&at| text[at] == b'\r' && text.get(at + 1) != Some(&b'\n'))?;
    Some(1 + text[..at].iter().filter(|&&byte| byte == b'\n').count())
}

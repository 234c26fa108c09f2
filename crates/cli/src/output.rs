//! The output of a command: stdout, a stream, or a file that gets its name only once it is
//! complete.
//!
//! ```text
//! no path, -, /dev/stdout, /dev/fd/1     stdout, with its own errors
//! /dev/null, a pipe, /dev/fd/3           written as it comes: there is no name that could wait
//! a file, there or not                   a temporary file beside it, synced, which then takes the
//!                                        name (`whole_file`)
//! ```
//!
//! What can be refused is refused before the work: an evaluation of an hour should not end with "no
//! such folder". The check makes a temporary file in the folder and removes it, because
//! permissions, quotas and read-only file systems are known for certain only so.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use laneval::internals::whole_file;
use laneval::options::Given;
use laneval::report::{Align, Grid, ReportOptions};
use serde::Serialize;

use super::{
    cli_error::{CliError, CliResult},
    signals,
    style::{comma_list, shown, stdout_width},
    wrapped::WrappedText,
};

/// The format of commands that print other things than scores: a table for people, or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainFormat {
    /// A table for people.
    Table,
    /// JSON for programs.
    Json,
}

impl FromStr for PlainFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "table" => Ok(Self::Table),
            "json" => Ok(Self::Json),
            _ => Err("table or json was expected".to_owned()),
        }
    }
}

/// Returns the path that `--output` names; `None` for stdout, which `-` means too.
pub fn output_file(given: &Given) -> Option<&Path> {
    given.path("output").filter(|path| path.as_os_str() != "-")
}

/// The place that a command writes to, checked before any work is done: stdout, a stream or a file.
pub enum Output {
    /// The standard output.
    Stdout,
    /// A device, a pipe or a socket, or another descriptor of this process, which is written to
    /// directly.
    Stream(PathBuf),
    /// A regular file, which is replaced or made.
    File(PathBuf),
}

impl Output {
    /// Makes the output of a command: stdout, or a path that lies in a folder and is none of the
    /// inputs.
    pub fn new(path: Option<&Path>, inputs: &[PathBuf]) -> CliResult<Self> {
        match path {
            None => Ok(Self::Stdout),
            Some(path) if descriptor(path) == Some(1) => Ok(Self::Stdout),
            Some(path) if is_stream(path) => Ok(Self::Stream(path.to_owned())),
            Some(path) => {
                check(path, inputs)?;
                Ok(Self::File(path.to_owned()))
            }
        }
    }

    /// Writes the whole output of a command to its place, by calling `write`. `is_text`: it is for
    /// people, and a terminal shows it wrapped at words.
    pub fn write_text(
        self,
        is_text: bool,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> CliResult<()> {
        match self {
            Self::Stdout => print_text(is_text, write),
            other => other.write(write),
        }
    }

    /// Writes the whole output of a command to its place, by calling `write`, without wrapping
    /// lines.
    pub fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> CliResult<()> {
        let (path, written) = match &self {
            Self::Stdout => return print(write),
            Self::Stream(path) => (path, to_stream(path, write)),
            Self::File(path) => (path, whole_file::write(path, |to| write(to))),
        };
        written.map_err(|e| cannot_write(path, &e.to_string()))
    }
}

/// Prints to stdout what `write` writes, wrapped at words on a terminal if `is_text`.
pub fn print_text(
    is_text: bool,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> CliResult<()> {
    match stdout_width().filter(|_| is_text) {
        None => print(write),
        Some(width) => print(|to| {
            let mut lines = WrappedText::new(to, width);
            write(&mut lines)?;
            lines.flush()
        }),
    }
}

/// Prints to stdout what `write` writes, without wrapping lines.
pub fn print(write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> CliResult<()> {
    let mut to = BufWriter::new(io::stdout());
    write(&mut to)?;
    Ok(to.flush()?)
}

/// Prints a value as one JSON document, or as the text that `write` makes of it.
pub fn print_plain(
    format: PlainFormat,
    value: &impl Serialize,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> CliResult<()> {
    print_text(format == PlainFormat::Table, |to| match format {
        PlainFormat::Json => write_json(value, to),
        PlainFormat::Table => write(to),
    })
}

/// Writes a value as one JSON document.
pub fn write_json(value: &impl Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

/// Makes an empty table with these headings: first the columns of texts, then those of numbers.
pub fn make_grid(texts: &[&str], numbers: &[&str]) -> Grid {
    let texts = texts.iter().map(|&heading| (heading.to_owned(), Align::Left));
    Grid::new(texts.chain(numbers.iter().map(|&heading| (heading.to_owned(), Align::Right))))
}

/// Writes a table to the output, fitted to the width of the terminal.
pub fn write_grid(grid: &Grid, to: &mut dyn Write) -> io::Result<()> {
    let options = ReportOptions { width: stdout_width(), ..ReportOptions::default() };
    grid.write(&options, &mut &mut *to)
}

/// Rejects an output path, before any work, if it is an input, no regular file, or cannot be made.
/// From here on signals remove unfinished files.
pub fn check(path: &Path, inputs: &[PathBuf]) -> CliResult<()> {
    let slash = path.as_os_str().as_encoded_bytes().last() == Some(&b'/');
    if path.is_dir() || slash || path.file_name().is_none() {
        return Err(cannot_write(path, "it is a folder"));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(cannot_write(path, &format!("there is no folder {}", shown(folder))));
    }
    if is_stream(path) {
        return Err(cannot_write(path, "it is not a regular file"));
    }
    // By what they are, and not by name only: `./run` and a link to it are the run.
    if inputs.iter().any(|input| {
        input == path
            || matches!((input.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b)
    }) {
        return Err(cannot_write(path, "it is one of the inputs"));
    }
    signals::clean_up();
    whole_file::check(path).map_err(|e| cannot_write(path, &e.to_string()))
}

/// Returns whether two paths lead to one file, which need not exist yet.
pub fn same_file(one: &Path, other: &Path) -> bool {
    one == other || real_path(one).is_some_and(|one| real_path(other) == Some(one))
}

/// Returns the absolute path of a file, with links resolved; the file may be missing, its folder
/// may not.
fn real_path(path: &Path) -> Option<PathBuf> {
    let in_folder = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder)
}

/// Makes the error for an output file whose extension is not among the known ones.
pub fn unknown_extension(path: &Path, known: &[&str], or: &str) -> CliError {
    let extension = path.extension().map_or(String::new(), |extension| shown(Path::new(extension)));
    let known = comma_list(known.iter().map(|known| format!(".{known}")));
    cannot_write(path, &format!("unknown extension .{extension}: take {known}{or}"))
}

/// Makes the error for an output path that cannot be written to.
pub fn cannot_write(path: &Path, why: &str) -> CliError {
    CliError::for_path(path, format_args!("cannot write: {why}"))
}

/// Returns whether output is written to `path` directly: to devices, pipes, sockets, and
/// descriptors. A file behind `/dev/fd/3` belongs to the program that opened it, and may hold more
/// than this output.
fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir())
        || descriptor(path).is_some()
}

/// Returns the file descriptor of this process that a path names, as `/dev/stdout` and `/dev/fd/3`
/// do.
fn descriptor(path: &Path) -> Option<u32> {
    // Links are followed by hand: `canonicalize` would go on from /proc/self/fd/3 to the file
    // behind it, and the fact that it is a descriptor would be lost.
    let descriptors = Path::new("/dev/fd").canonicalize().ok()?;
    path.metadata().ok()?; // an error if its links form a loop
    let mut path = path.to_owned();
    while folder_of(&path).canonicalize().ok()? != descriptors {
        path = folder_of(&path).join(path.read_link().ok()?);
    }
    path.file_name()?.to_str()?.parse().ok()
}

/// Writes straight into a device, pipe or file descriptor, behind the content that a file has.
fn to_stream(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    // Opening /dev/fd/3 on Linux opens the file behind it anew, at its start. Without `append` the
    // output would replace what its owner has written before.
    let file = path.metadata()?.is_file();
    let mut to = BufWriter::new(OpenOptions::new().write(true).append(file).open(path)?);
    write(&mut to).and_then(|()| to.flush()).or_else(ignore_broken_pipe)
}

/// Turns the error of a closed pipe into success, and returns any other error.
fn ignore_broken_pipe(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Returns the folder that a path lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

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

use std::fs::{FileType, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use laneval::internals::whole_file;

use super::signals;
use super::stop::Stop;
use super::style::{shown, stdout_width};
use super::wrapped::WrappedText;

/// A place to write to, checked before any work is done.
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
    /// Chooses stdout, or the file of a path, in a folder that exists and not one of the inputs.
    pub fn new(path: Option<&Path>, inputs: &[PathBuf]) -> Result<Self, Stop> {
        match path {
            None => Ok(Output::Stdout),
            Some(path) if descriptor(path) == Some(1) => Ok(Output::Stdout),
            Some(path) if is_stream(path) => Ok(Output::Stream(path.to_owned())),
            Some(path) => {
                check(path, inputs)?;
                Ok(Output::File(path.to_owned()))
            }
        }
    }

    /// Writes the whole output. `is_text`: it is for people, and a terminal shows it wrapped at
    /// words.
    pub fn write_text(
        self,
        is_text: bool,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Stop> {
        match self {
            Output::Stdout => print_text(is_text, write),
            other => other.write(write),
        }
    }

    /// Writes the whole output.
    pub fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Stop> {
        let (path, written) = match &self {
            Output::Stdout => return print(write),
            Output::Stream(path) => (path, to_stream(path, write)),
            Output::File(path) => (path, whole_file::write(path, |to| write(to))),
        };
        written.map_err(|e| cannot_write(path, &e.to_string()))
    }
}

/// Writes to stdout. `is_text`: it is for people, and a terminal shows it wrapped at words.
pub fn print_text(
    is_text: bool,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), Stop> {
    match stdout_width().filter(|_| is_text) {
        None => print(write),
        Some(width) => print(|to| {
            let mut lines = WrappedText::new(to, width);
            write(&mut lines)?;
            lines.flush()
        }),
    }
}

/// Writes to stdout.
pub fn print(write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<(), Stop> {
    let mut to = BufWriter::new(io::stdout());
    write(&mut to)?;
    Ok(to.flush()?)
}

/// Refuses, before anything is computed, a file that is an input, that is not a regular file, or
/// that cannot be made in its folder. From here on signals remove unfinished files.
pub fn check(path: &Path, inputs: &[PathBuf]) -> Result<(), Stop> {
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
    let same = |input: &PathBuf| {
        // By what they are, and not by name only: `./run` and a link to it are the run.
        input == path
            || matches!((input.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    if inputs.iter().any(same) {
        return Err(cannot_write(path, "it is one of the inputs"));
    }
    signals::clean_up();
    whole_file::check(path).map_err(|e| cannot_write(path, &e.to_string()))
}

/// Returns whether two paths lead to one file, which need not exist yet.
pub fn same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let made = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(made)
    };
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

/// Makes the error for a file whose extension is not among the known ones.
pub fn unknown_extension(path: &Path, known: &[&str], or: &str) -> Stop {
    let extension = path.extension().map_or(String::new(), |extension| shown(Path::new(extension)));
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    cannot_write(path, &format!("unknown extension .{extension}: take {}{or}", known.join(", ")))
}

fn cannot_write(path: &Path, why: &str) -> Stop {
    Stop::new(format!("{}: cannot write: {why}", shown(path)))
}

/// Returns whether output is written to `path` directly: to devices, pipes, sockets, and
/// descriptors. A file behind `/dev/fd/3` belongs to the program that opened it, and may hold more
/// than this output.
fn is_stream(path: &Path) -> bool {
    let stream = |kind: FileType| !kind.is_file() && !kind.is_dir();
    path.metadata().is_ok_and(|file| stream(file.file_type())) || descriptor(path).is_some()
}

/// Returns the descriptor of this process that a path names, as `/dev/stdout` and `/dev/fd/3` do.
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

/// Writes straight into a stream, or behind the content of a file.
fn to_stream(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    // Opening /dev/fd/3 on Linux opens the file behind it anew, at its start. Without `append` the
    // output would replace what its owner has written before.
    let file = path.metadata()?.is_file();
    let mut to = BufWriter::new(OpenOptions::new().write(true).append(file).open(path)?);
    write(&mut to).and_then(|()| to.flush()).or_else(quiet)
}

fn quiet(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Returns the folder that a path lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

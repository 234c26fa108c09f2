//! Where a command writes: stdout, or a file that has its name only once it is complete.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use laneval::whole_file;

use super::stop::Stop;

/// A place to write to, checked before any work is done.
pub struct Output(Option<PathBuf>);

impl Output {
    /// Stdout, or a file in a folder that exists and that is none of the inputs.
    pub fn new(path: Option<&Path>, inputs: &[PathBuf]) -> Result<Self, Stop> {
        if let Some(path) = path {
            check(path, inputs)?;
        }
        Ok(Output(path.map(Path::to_owned)))
    }

    /// Writes all of it.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
        let Some(path) = self.0 else {
            let mut to = BufWriter::new(io::stdout().lock());
            write(&mut to)?;
            return Ok(to.flush()?);
        };
        to_file(&path, write).map_err(|e| Stop::new(format!("{}: cannot write: {e}", path.display())))
    }
}

/// Refuses what could only fail, or do harm, when everything has been computed.
pub fn check(path: &Path, inputs: &[PathBuf]) -> Result<(), Stop> {
    let refuse = |why: &str| Err(Stop::new(format!("{}: cannot write: {why}", path.display())));
    let slash = path.as_os_str().as_encoded_bytes().last() == Some(&b'/');
    if path.is_dir() || slash || path.file_name().is_none() {
        return refuse("it is a folder");
    }
    let folder = whole_file::folder(path);
    if !folder.is_dir() {
        return refuse(&format!("there is no folder {}", folder.display()));
    }
    if !is_stream(path)
        && let Err(e) = whole_file::check(path)
    {
        return refuse(&e.to_string());
    }
    let same = |input: &PathBuf| {
        input == path || matches!((input.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    if inputs.iter().any(same) {
        return refuse("it is one of the inputs");
    }
    Ok(())
}

/// Refuses pipes and devices, for what is written under another name first would replace them.
pub fn check_regular(path: &Path) -> Result<(), Stop> {
    if is_stream(path) {
        return Err(Stop::new(format!("{}: cannot write: it is not a regular file", path.display())));
    }
    Ok(())
}

/// Is it a pipe or a device, or a name of the system for one, such as `/dev/stdout`?
fn is_stream(path: &Path) -> bool {
    let of_system = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    of_system || path.metadata().is_ok_and(|kind| !kind.is_file())
}

/// To a temporary file in the same folder, which then takes the name; straight into pipes and devices.
fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if is_stream(path) {
        let mut to = BufWriter::new(std::fs::OpenOptions::new().write(true).open(path)?);
        return write(&mut to).and_then(|()| to.flush()).or_else(quiet);
    }
    whole_file::write(path, write)
}

fn quiet(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

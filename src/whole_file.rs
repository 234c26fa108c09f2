//! Files that appear whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file under a temporary name in the same folder, syncs it, and then gives it its name; the file that a link names is
/// replaced, not the link. New files are as readable as the umask says.
///
/// # Errors
/// What the system refuses, in its own words and without the temporary name; there is then no new file, and an old one is as it was.
pub fn write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".laneval-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    let mut to = BufWriter::new(builder.tempfile_in(folder(path)).map_err(without_path)?);
    write(&mut to)?;
    let file = to.into_inner().map_err(|e| e.into_error())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Can a file be made in the folder of this path?
///
/// # Errors
/// Why not, in the system's own words.
pub fn check(path: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder(path)).map(drop).map_err(without_path)
}

/// The folder that a path lies in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn without_path(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(error, io::Error::from_raw_os_error)
}

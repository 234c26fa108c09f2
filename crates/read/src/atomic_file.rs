//! Writing of output files that appear whole or not at all, as they have a temporary name at first.
//!
//! While a file is written, it has a temporary name in its folder. The complete and synced file
//! takes its own name. An unfinished file vanishes when writing fails. A program can remove
//! unfinished files with [`remove_unfinished`] when a signal ends the program; the library itself
//! handles no signal.
//!
//! ```text
//! 1  follow links to the file that is meant        a link stays a link
//! 2  make `.laneval-…` in the same folder, listed  a rename is atomic within one file system, and
//!                                                  another folder may be in another
//! 3  write, through a buffer                       an error from here on: the temporary file goes,
//!                                                  an old one is as it was
//! 4  owner, group, permissions of the old file     in this order, for a change of owner may clear
//!                                                  bits of the mode
//! 5  fsync                                         else a crash could leave the name with an empty
//!                                                  file behind it
//! 6  rename                                        whoever opens the name sees all of the old file
//!                                                  or all of the new one
//! ```
//!
//! The folder is not synced: after a crash the old file may be back, and is whole. A signal handler
//! needs the list of unfinished files, for no destructor runs then. A thread holds the lock of the
//! list while it makes and lists a file, and while it renames a file. So the holder of the lock
//! knows every unfinished file, and no file appears meanwhile.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempPath;

use crate::lock::lock;

/// Writes a file under a temporary name in the same folder, syncs the file, and then renames it to
/// `path`. If `path` is a link, the file that it names is replaced or made, not the link. A
/// replaced file hands on its permissions, and its owner and group if the system allows that; a new
/// file has the permissions of the umask.
///
/// # Errors
/// The error of the system, without the temporary name. After an error no new file exists, and an
/// old file is unchanged.
pub fn write(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    write_pending(path, write)?.persist()
}

/// Writes and syncs an output file under a temporary name; the caller decides when it takes its own
/// name.
///
/// # Errors
/// As [`write`](fn@write).
pub fn write_pending(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<PendingFile> {
    let path = target(path)?;
    let old = path.metadata().ok();
    // The old file's permissions may be stricter than the umask. So until the new file has these
    // permissions, only its owner can read the new file.
    let (file, temporary, _listed) = temporary(folder(&path), old.is_none())?;
    let complete = PendingFile { temporary, _listed, path };
    let mut to = BufWriter::new(file);
    write(&mut to)?;
    let file = to.into_inner().map_err(|e| e.into_error())?;
    if let Some(old) = old {
        resemble(&file, &old)?;
    }
    file.sync_all()?;
    Ok(complete)
}

/// A complete output file that still has a temporary name. Dropping the value removes the file,
/// unless [`persist`](PendingFile::persist) renamed it.
#[derive(Debug)]
pub struct PendingFile {
    temporary: TempPath,
    _listed: CleanupEntry,
    path: PathBuf,
}

impl PendingFile {
    /// Renames the complete output file from its temporary name to its own name.
    ///
    /// # Errors
    /// The error of the system; then an old file of this name is unchanged.
    pub fn persist(self) -> io::Result<()> {
        // The order of these two lines matters. Values are dropped in reverse, so the lock is
        // released before `_listed` is dropped. Dropping `_listed` takes the lock again.
        let Self { temporary, _listed, path } = self;
        // No signal comes between the file's name and the end of the list's entry.
        let _unfinished = lock(&UNFINISHED);
        temporary.persist(path).map_err(|e| e.error)
    }
}

/// Makes a folder, and the missing folders above it.
///
/// # Errors
/// The error of the system.
pub fn make_folder(path: &Path) -> io::Result<CreatedFolder> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    let mut folders = CreatedFolder(Vec::new());
    for folder in missing.into_iter().rev() {
        // The lock is taken before the folder is made, because a signal between the two would leave
        // the folder behind.
        let mut unfinished = lock(&UNFINISHED);
        match fs::create_dir(folder) {
            Ok(()) => folders.0.push(CleanupEntry::new(&mut unfinished, folder)),
            // The folder exists nevertheless: the path has a part such as `new/..`, or another
            // process made the folder first.
            Err(_) if folder.is_dir() => {}
            Err(e) => {
                drop(unfinished);
                return Err(e);
            }
        }
    }
    if path.is_dir() { Ok(folders) } else { Err(ErrorKind::NotADirectory.into()) }
}

/// The folders that were made for an output file. Dropping the value removes the folders that are
/// empty.
#[derive(Debug)]
#[must_use]
pub struct CreatedFolder(Vec<CleanupEntry>);

impl Drop for CreatedFolder {
    fn drop(&mut self) {
        while let Some(listed) = self.0.pop() {
            remove(&listed.0);
        }
    }
}

/// Checks that a file can be made in the folder of this path, and that an existing file may be
/// replaced.
///
/// # Errors
/// The reason why not, as the system says it.
pub fn check(path: &Path) -> io::Result<()> {
    let path = target(path)?;
    // A rename needs no permission to write the old file, so the old file is opened as well.
    if path.exists() {
        OpenOptions::new().write(true).open(&path)?;
    }
    temporary(folder(&path), false).map(drop).map_err(|error| {
        io::Error::new(error.kind(), format!("no file can be made in its folder: {error}"))
    })
}

/// Returns the folder that a path lies in; `.` for a mere file name.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes the unfinished output files and folders of this process, for a program that is about to
/// end. As long as the result is held, no file is begun and none appears.
pub fn remove_unfinished() -> Cleanup {
    let mut unfinished = lock(&UNFINISHED);
    // The latest first, because a folder must be empty before its removal.
    unfinished.drain(..).rev().for_each(|path| remove(&path));
    Cleanup(unfinished)
}

/// The guard that [`remove_unfinished`] returns: while it is held, no output file is begun and none
/// appears.
#[derive(Debug)]
#[must_use]
pub struct Cleanup(#[allow(dead_code)] MutexGuard<'static, Vec<PathBuf>>);

/// The unfinished files and folders of this process, in order of creation.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes an unfinished output file, which has a name of ours, or a made folder if nothing is in
/// it.
fn remove(path: &Path) {
    let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    let is_file = name.starts_with(PREFIX.as_bytes());
    let _ = if is_file { fs::remove_file(path) } else { fs::remove_dir(path) };
}

/// What the names of unfinished output files begin with.
const PREFIX: &str = ".laneval-";

/// An unfinished file or folder on the list [`UNFINISHED`]; dropping the value takes it off the
/// list.
#[derive(Debug)]
struct CleanupEntry(PathBuf);

impl CleanupEntry {
    fn new(unfinished: &mut Vec<PathBuf>, path: &Path) -> Self {
        unfinished.push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for CleanupEntry {
    fn drop(&mut self) {
        lock(&UNFINISHED).retain(|path| *path != self.0);
    }
}

/// Makes an empty output file under a temporary name in a folder. If `readable`, it has the
/// permissions of the umask; otherwise only its owner can read it.
fn temporary(folder: &Path, readable: bool) -> io::Result<(File, TempPath, CleanupEntry)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if readable { 0o666 } else { 0o600 });
    let mut unfinished = lock(&UNFINISHED);
    let temp_file =
        tempfile::Builder::new().prefix(PREFIX).make_in(folder, |path| options.open(path))?;
    let (file, path) = temp_file.into_parts();
    let listed = CleanupEntry::new(&mut unfinished, &path);
    Ok((file, path, listed))
}

/// Returns the path of the file that a path leads to behind all links, whether the file exists or
/// not.
fn target(path: &Path) -> io::Result<PathBuf> {
    match (path.canonicalize(), path.read_link()) {
        // A link to nothing yet: its file is made. A circle of links is another kind of error, so
        // this ends.
        (Err(e), Ok(link)) if e.kind() == ErrorKind::NotFound => target(&folder(path).join(link)),
        (Err(e), Err(_)) if e.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        (found, _) => found,
    }
}

/// Gives a file the permissions of the file that it will replace, and its owner and group if the
/// system allows it. If the group has to differ, the group has no permissions.
#[cfg(unix)]
fn resemble(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    // Only root may give files away; for others the file is theirs from now on.
    if new.uid() != old.uid() {
        let _ = fchown(file, Some(old.uid()), None);
    }
    let same_group = new.gid() == old.gid() || fchown(file, None, Some(old.gid())).is_ok();
    // In another group, what the old group might do is nobody's right. Bits such as setuid are not
    // handed on.
    let mode = old.mode() & if same_group { 0o777 } else { 0o707 };
    if file.metadata()?.mode() & 0o777 == mode {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn resemble(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

//! Files that appear whole or not at all.
//!
//! While a file is written, it has a temporary name in its folder. The complete and synced file
//! takes its own name. An unfinished file vanishes when writing fails. A program can remove
//! unfinished files with [`abandon`] when a signal ends the program; the library itself handles no
//! signal.
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

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

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
    complete(path, write)?.appear()
}

/// Writes and syncs a file as [`write`](fn@write) does, but the caller decides when it appears.
///
/// # Errors
/// As [`write`](fn@write).
pub fn complete(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<Complete> {
    let path = target(path)?;
    let old = path.metadata().ok();
    // The old file's permissions may be stricter than the umask. So until the new file has these
    // permissions, only its owner can read the new file.
    let TemporaryFile { file, path: temporary, listed } = temporary(folder(&path), old.is_none())?;
    let complete = Complete { temporary, _listed: listed, path };
    let mut to = BufWriter::new(file);
    write(&mut to)?;
    let file = to.into_inner().map_err(|e| e.into_error())?;
    if let Some(old) = old {
        resemble(&file, &old)?;
    }
    file.sync_all()?;
    Ok(complete)
}

/// A complete file under a temporary name. Dropping the value removes the file, unless
/// [`appear`](Complete::appear) renamed it.
#[derive(Debug)]
pub struct Complete {
    temporary: TempPath,
    _listed: Listed,
    path: PathBuf,
}

impl Complete {
    /// Gives the file its name.
    ///
    /// # Errors
    /// The error of the system; then an old file of this name is unchanged.
    pub fn appear(self) -> io::Result<()> {
        // The order of these two lines matters. Values are dropped in reverse, so the lock is
        // released before `_listed` is dropped. Dropping `_listed` takes the lock again.
        let Complete { temporary, _listed, path } = self;
        // No signal comes between the file's name and the end of the list's entry.
        let _unfinished = unfinished();
        temporary.persist(path).map_err(|e| e.error)
    }
}

/// Makes a folder, and the missing folders above it.
///
/// # Errors
/// The error of the system.
pub fn make_folder(path: &Path) -> io::Result<MadeFolder> {
    let missing =
        path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let missing: Vec<&Path> = missing.collect();
    let mut made = MadeFolder(Vec::new());
    for folder in missing.into_iter().rev() {
        let mut unfinished = unfinished();
        match fs::create_dir(folder) {
            Ok(()) => {
                made.0.push(Listed::new(&mut unfinished, MadePath::Folder(folder.to_owned())))
            }
            Err(_) if folder.is_dir() => {} // such as `new/..`, or another process was faster
            Err(e) => {
                drop(unfinished);
                return Err(e);
            }
        }
    }
    if path.is_dir() { Ok(made) } else { Err(ErrorKind::NotADirectory.into()) }
}

/// The folders made for a path. Dropping the value removes the folders that are empty.
#[derive(Debug)]
#[must_use]
pub struct MadeFolder(Vec<Listed>);

impl Drop for MadeFolder {
    fn drop(&mut self) {
        while let Some(listed) = self.0.pop() {
            listed.0.remove();
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
    if path.exists() {
        OpenOptions::new().write(true).open(&path)?;
    }
    let refused =
        |e: io::Error| io::Error::new(e.kind(), format!("no file can be made in its folder: {e}"));
    temporary(folder(&path), false).map(drop).map_err(refused)
}

/// The folder that a path lies in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes everything that this process has begun and not finished, for a program that is about to
/// end. As long as the result is held, no file is begun and none appears.
pub fn abandon() -> Abandoned {
    let mut unfinished = unfinished();
    // The latest first, because a folder must be empty before its removal.
    unfinished.drain(..).rev().for_each(|made| made.remove());
    Abandoned(unfinished)
}

/// The result of [`abandon`].
#[derive(Debug)]
#[must_use]
pub struct Abandoned(#[allow(dead_code)] MutexGuard<'static, Vec<MadePath>>);

/// The unfinished files and folders of this process, in order of creation.
static UNFINISHED: Mutex<Vec<MadePath>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<MadePath>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or a folder that was made, by its path.
#[derive(Debug, Clone, PartialEq)]
enum MadePath {
    File(PathBuf),
    Folder(PathBuf),
}

impl MadePath {
    /// Removes a file, or a folder if nothing is in it.
    fn remove(&self) {
        let _ = match self {
            MadePath::File(path) => fs::remove_file(path),
            MadePath::Folder(path) => fs::remove_dir(path),
        };
    }
}

/// An entry of [`UNFINISHED`], which is removed with this value.
#[derive(Debug)]
struct Listed(MadePath);

impl Listed {
    fn new(unfinished: &mut Vec<MadePath>, made: MadePath) -> Self {
        unfinished.push(made.clone());
        Listed(made)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        unfinished().retain(|made| *made != self.0);
    }
}

/// A file that was begun under a temporary name.
struct TemporaryFile {
    file: File,
    path: TempPath,
    listed: Listed,
}

/// A temporary file in a folder. If `readable`, it has the permissions of the umask; otherwise only
/// its owner can read it.
fn temporary(folder: &Path, readable: bool) -> io::Result<TemporaryFile> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if readable { 0o666 } else { 0o600 });
    let mut unfinished = unfinished();
    let made =
        tempfile::Builder::new().prefix(".laneval-").make_in(folder, |path| options.open(path))?;
    let (file, path) = made.into_parts();
    let listed = Listed::new(&mut unfinished, MadePath::File(path.to_path_buf()));
    Ok(TemporaryFile { file, path, listed })
}

/// The file that a path names behind all links, whether it exists or not.
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

//! Lines that the graphics driver Mesa writes to stderr, and that look like errors of laneval.

/// Prevents a warning of Mesa about XDG_RUNTIME_DIR if that is not set, as in containers: the
/// program starts anew, with a folder in it. Nothing is written there, for nothing is displayed.
#[cfg(target_os = "linux")]
pub fn hush() {
    use std::os::unix::process::CommandExt;
    const FOLDER: &str = "XDG_RUNTIME_DIR";
    if std::env::var_os(FOLDER).is_some_and(|folder| !folder.is_empty()) {
        return;
    }
    let mut words = std::env::args_os();
    let (Ok(program), Some(name)) = (std::env::current_exe(), words.next()) else { return };
    let mut command = std::process::Command::new(program);
    // If the program cannot start anew, it goes on, and Mesa prints its warning.
    let _ = command.arg0(name).args(words).env(FOLDER, std::env::temp_dir()).exec();
}

/// Does nothing, because there is no Mesa.
#[cfg(not(target_os = "linux"))]
pub fn hush() {}

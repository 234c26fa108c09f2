//! Prevention of messages of the graphics driver Mesa on stderr that look like errors of laneval.

/// Prevents a warning of the graphics driver Mesa by restarting the program with XDG_RUNTIME_DIR
/// set, where it is not. Containers often do not set it. Nothing is written to that folder, for
/// nothing is displayed.
#[cfg(target_os = "linux")]
pub fn silence_mesa_warning() {
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

/// Does nothing on systems other than Linux, where no warning of the graphics driver Mesa is
/// expected.
#[cfg(not(target_os = "linux"))]
pub fn silence_mesa_warning() {}

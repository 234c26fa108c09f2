//! What the command does when the system refuses, on Linux; elsewhere there is nothing here.

#[cfg(target_os = "linux")]
mod linux;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return linux::main();
    #[cfg(not(target_os = "linux"))]
    std::process::ExitCode::SUCCESS
}

//! Signals: a process that is told to end removes its unfinished files, and ends the program that
//! it runs. A file that grows too large is an error.
//!
//! A handler of a signal may do almost nothing: no allocation and no lock, for the thread that it
//! interrupts may hold that lock. Removing files takes both. So the signals are turned into
//! messages for a thread of its own, which is like any other; it ends the process by the signal's
//! default, so that a shell sees the signal as the reason.

#[cfg(unix)]
pub use unix::{clean_up, report_size_limit};

/// Does nothing on systems other than Unix, which have no signals to remove unfinished files at.
#[cfg(not(unix))]
pub fn clean_up() {}

/// Does nothing on systems other than Unix, which have no signal about files that grow too large.
#[cfg(not(unix))]
pub fn report_size_limit() {}

#[cfg(unix)]
mod unix {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{SyncSender, sync_channel};
    use std::sync::{Arc, Once};

    use laneval::internals::whole_file;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Makes a write beyond the limit on the size of files fail, like a write to a full disk,
    /// instead of ending the process.
    pub fn report_size_limit() {
        // If this is refused, the signal ends the process as before. The flag is read by nobody. A
        // signal that is caught does not end the process, and the write fails with EFBIG.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default());
    }

    /// Makes SIGINT, SIGTERM and SIGHUP remove unfinished files, and end the program that runs,
    /// before they end the process as usual, from the first call on. If no thread can be started
    /// for this, they just end the process.
    pub fn clean_up() {
        // One thread serves all files: a command may write a dozen, and each thread takes the
        // address space of its stack.
        static WATCHED: Once = Once::new();
        WATCHED.call_once(start);
    }

    fn start() {
        // Whoever calls goes on once the signals are caught: before that, one would end the process
        // and leave the file that is begun next. If the thread gives up, its end is dropped, and
        // `recv` returns as well.
        let (ready, wait) = sync_channel(0);
        let thread = std::thread::Builder::new().name("signals".to_owned());
        if thread.spawn(move || watch(ready)).is_ok() {
            let _ = wait.recv(); // the thread is ready, or has given up
        }
    }

    fn watch(ready: SyncSender<()>) {
        // Catching a signal that `nohup` told the process to ignore would end it after all.
        let ignored = ignored();
        let heeded = [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let Ok(mut signals) = Signals::new(heeded) else { return };
        let _ = ready.send(());
        for signal in signals.forever() {
            // Held until the process has ended: no other thread can begin a file or give one its
            // name between here and there.
            let _abandoned = whole_file::remove_unfinished();
            super::super::timeout::end_running();
            let _ = emulate_default_handler(signal);
        }
    }

    /// Returns the signals that this process was told to ignore, as `nohup` does, one bit for each.
    /// If the system does not say, it is SIGHUP.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.unwrap_or(1 << (SIGHUP - 1))
    }
}

//! A program that is run without a shell, for a time at most, and the end of what it printed.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The end of a text that is kept, in bytes: a number stands in its last line.
const KEPT: usize = 1 << 16;

/// How long the end of what was printed is waited for when the program has ended; a program that it
/// started may hold its stdout.
const GRACE: Duration = Duration::from_millis(500);

/// How often it is looked whether the program has ended.
const PAUSES: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(5)];

/// What a program came to.
pub enum Ended {
    /// It ended by itself, and printed these last bytes to stdout and stderr.
    Done(ExitStatus, String, String),
    /// It took too long and was ended.
    TooLong,
}

/// Runs a program with arguments.
pub fn run(words: &[OsString], most: Duration) -> io::Result<Ended> {
    let [program, arguments @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = group::spawn(&mut command)?;
    let texts = LastBytes::of(child.stdout.take())
        .and_then(|out| Ok((out, LastBytes::of(child.stderr.take())?)));
    let ended = texts.and_then(|texts| Ok((wait(&mut child, most)?, texts)));
    match ended {
        Ok((Some(status), (out, err))) => {
            group::forget();
            Ok(Ended::Done(status, out.text(), err.text()))
        }
        Ok((None, _)) => {
            end(&mut child);
            Ok(Ended::TooLong)
        }
        Err(error) => {
            end(&mut child);
            Err(error)
        }
    }
}

/// Waits until a program has ended; `None` if it takes too long.
fn wait(child: &mut Child, most: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let gone = begun.elapsed();
        if gone >= most {
            return Ok(None);
        }
        // Most programs of this kind are done in milliseconds, or in seconds.
        thread::sleep(PAUSES[usize::from(gone > Duration::from_millis(20))]);
    }
}

/// Ends a program with the programs of its group, and reaps the program.
fn end(child: &mut Child) {
    group::end();
    let _ = child.kill();
    let _ = child.wait();
}

/// The last bytes of a stream, read on a thread of its own, so that a program that prints much
/// never waits.
struct LastBytes {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Is disconnected at the end of the stream.
    end: Receiver<()>,
}

impl LastBytes {
    fn of(stream: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let (at_end, end) = channel();
        let kept = Arc::<Mutex<Vec<u8>>>::default();
        let Some(stream) = stream else { return Ok(LastBytes { kept, end }) };
        let into = Arc::clone(&kept);
        thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || keep_last(stream, &into, at_end))?;
        Ok(LastBytes { kept, end })
    }

    /// Returns what was printed until now, at the end of the stream if that comes soon.
    fn text(self) -> String {
        let _ = self.end.recv_timeout(GRACE);
        String::from_utf8_lossy(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
            .into_owned()
    }
}

/// Reads a stream to its end.
fn keep_last(mut stream: impl Read, into: &Mutex<Vec<u8>>, _at_end: Sender<()>) {
    let mut bytes = [0; 1 << 13];
    while let Ok(read @ 1..) = stream.read(&mut bytes) {
        let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[..read]);
        if kept.len() > 2 * KEPT {
            let more = kept.len() - KEPT;
            kept.drain(..more);
        }
    }
}

#[cfg(unix)]
pub use group::end as end_running;

/// A program and what it started, which end together, also when a signal ends this process.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::sync::{Mutex, PoisonError};

    use rustix::process::{Pid, Signal, kill_process_group};

    /// The group that runs.
    static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);

    /// Starts a program as the first of a group.
    pub fn spawn(command: &mut Command) -> std::io::Result<Child> {
        super::super::signals::clean_up();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.process_group(0).spawn()?;
        *running = Some(Pid::from_child(&child));
        Ok(child)
    }

    /// Lets the group go on: its first program has ended by itself.
    pub fn forget() {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Ends all programs of the group, if one runs.
    pub fn end() {
        if let Some(group) = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// A program alone, where there are no groups.
#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub fn spawn(command: &mut Command) -> std::io::Result<Child> {
        command.spawn()
    }

    pub fn forget() {}

    pub fn end() {}
}

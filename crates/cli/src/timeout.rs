//! Running of another program without a shell, for a limited time, and the end of what it printed.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The end of a text that is kept, in bytes: a number stands in its last line.
const MAX_TAIL_BYTES: usize = 1 << 16;

/// The time to wait for the end of what was printed when the program has ended; a program that it
/// started may hold its stdout.
const GRACE: Duration = Duration::from_millis(500);

/// The pauses between two looks at whether the program has ended.
const PAUSES: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(5)];

/// The outcome of a program that was run: its exit status and last output, or that it took too
/// long.
pub enum ChildOutcome {
    /// It ended by itself, and printed these last bytes to stdout and stderr.
    Exited(ExitStatus, String, String),
    /// It took too long and was ended.
    TimedOut,
}

/// Runs a program with arguments for at most the time `most`, and returns its outcome.
pub fn run(words: &[OsString], most: Duration) -> io::Result<ChildOutcome> {
    let [program, arguments @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = group::spawn(&mut command)?;
    let texts = LastBytes::read_from(child.stdout.take())
        .and_then(|out| Ok((out, LastBytes::read_from(child.stderr.take())?)));
    let ended = texts.and_then(|texts| Ok((wait(&mut child, most)?, texts)));
    match ended {
        Ok((Some(status), (out, err))) => {
            group::forget();
            Ok(ChildOutcome::Exited(status, out.text(), err.text()))
        }
        Ok((None, _)) => {
            end(&mut child);
            Ok(ChildOutcome::TimedOut)
        }
        Err(error) => {
            end(&mut child);
            Err(error)
        }
    }
}

/// Waits until a child process has ended; returns `None` if that takes longer than `most`.
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

/// Kills a child process and its process group, and reaps the process.
fn end(child: &mut Child) {
    group::end();
    let _ = child.kill();
    let _ = child.wait();
}

/// The last bytes that a program prints to a stream, read on a thread, so that the program never
/// waits.
struct LastBytes {
    tail: Arc<Mutex<Vec<u8>>>,
    /// Is disconnected at the end of the stream.
    end: Receiver<()>,
}

impl LastBytes {
    fn read_from(stream: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let (at_end, end) = channel();
        let tail = Arc::<Mutex<Vec<u8>>>::default();
        let Some(stream) = stream else { return Ok(Self { tail, end }) };
        let into = Arc::clone(&tail);
        thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || keep_last(stream, &into, at_end))?;
        Ok(Self { tail, end })
    }

    /// Returns the last text that a program printed, after a short wait for the end of the stream.
    fn text(self) -> String {
        let _ = self.end.recv_timeout(GRACE);
        String::from_utf8_lossy(&self.tail.lock().unwrap_or_else(PoisonError::into_inner))
            .into_owned()
    }
}

/// Reads a stream to its end, and keeps only its last bytes.
fn keep_last(mut stream: impl Read, into: &Mutex<Vec<u8>>, _at_end: Sender<()>) {
    let mut bytes = [0; 1 << 13];
    while let Ok(read @ 1..) = stream.read(&mut bytes) {
        let mut tail = into.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&bytes[..read]);
        // The tail grows to twice its size, so that each byte is moved once on average.
        if tail.len() > 2 * MAX_TAIL_BYTES {
            let more = tail.len() - MAX_TAIL_BYTES;
            tail.drain(..more);
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
        // The lock is held until the group is known: a signal between would leave the program
        // running.
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

//! A program that is run without a shell, for a time at most, and the end of what it printed.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The end of a text that is kept, in bytes: a number stands in its last line.
const KEPT: usize = 1 << 16;

/// How long what was printed is waited for when the program has ended; a program that it started may hold its stdout.
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
    let mut child = command.spawn()?;
    let texts = last_bytes(child.stdout.take()).and_then(|out| Ok((out, last_bytes(child.stderr.take())?)));
    let ended = texts.and_then(|texts| Ok((wait(&mut child, most)?, texts)));
    match ended {
        Ok((Some(status), (out, err))) => Ok(Ended::Done(status, text(&out), text(&err))),
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

/// Ends a program, and forgets it.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads a stream on a thread of its own, so that a program that prints much never waits, and hands over its last bytes.
fn last_bytes(stream: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (send, receive) = channel();
    let Some(mut stream) = stream else { return Ok(receive) };
    thread::Builder::new().name("output".to_owned()).spawn(move || {
        let (mut kept, mut bytes) = (Vec::new(), [0; 1 << 13]);
        while let Ok(read @ 1..) = stream.read(&mut bytes) {
            kept.extend_from_slice(&bytes[..read]);
            if kept.len() > 2 * KEPT {
                kept.drain(..kept.len() - KEPT);
            }
        }
        let _ = send.send(kept);
    })?;
    Ok(receive)
}

fn text(bytes: &Receiver<Vec<u8>>) -> String {
    match bytes.recv_timeout(GRACE) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => String::new(),
    }
}

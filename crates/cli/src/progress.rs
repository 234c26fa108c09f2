//! The progress of long work: a line on a terminal, which is removed before any other output.
//!
//! The line is drawn by a thread of its own, so work that goes on for long between two reports
//! still shows a moving clock. Its end is the end of a channel: dropping the sender wakes it at
//! once, and waiting for the thread is waiting for the line to be gone. So nothing that is printed
//! after the work stands behind a half line.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use laneval::ProgressHandle;

use crate::style::thousands;

/// The time before the line appears: shorter work shows nothing.
const SOON: Duration = Duration::from_millis(500);
/// The time between two updates of the line.
const TICK: Duration = Duration::from_millis(100);

/// The amount of work that a progress line shows: bytes, random draws, or an unknown amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkAmount {
    /// Bytes that are reported to the watch as they are done, with their total number; `None` if
    /// the watch gets the total.
    Bytes(Option<u64>),
    /// Bytes that are reported to the watch as they come through a pipe.
    Stream,
    /// Random draws, which the watch gets; until there are any, only the time is shown.
    Draws,
    /// An unknown amount: only the time is shown.
    Unknown,
}

/// A line on a terminal that shows the progress of some work, until this value is dropped. Nothing
/// is drawn unless stderr is a terminal.
#[derive(Debug, Default)]
pub struct Progress {
    drawn: Option<(Arc<ProgressHandle>, Sender<()>, JoinHandle<()>)>,
}

impl WorkAmount {
    /// Returns the amount of work for reading `bytes` bytes, or for reading a stream if that is
    /// `None`.
    pub fn from_bytes(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Stream, |bytes| Self::Bytes(Some(bytes)))
    }
}

impl Progress {
    /// Starts to show the progress of some work on a terminal, unless `quiet`.
    pub fn start(what: &'static str, amount: WorkAmount, quiet: bool) -> Self {
        // A dumb terminal cannot go back to the start of a line.
        if quiet
            || !stderr().is_terminal()
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
        {
            return Self::default();
        }
        let (watch, (end, ended)) = (Arc::<ProgressHandle>::default(), channel());
        let watched = watch.clone();
        let thread = std::thread::Builder::new().name("progress".to_owned());
        let drawing = thread.spawn(move || draw(what, amount, &watched, &ended));
        Self { drawn: drawing.ok().map(|drawing| (watch, end, drawing)) }
    }

    /// Returns the handle that the work reports its progress to, if the progress is shown.
    pub fn watch(&self) -> Option<Arc<ProgressHandle>> {
        self.drawn.as_ref().map(|(watch, ..)| watch.clone())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((_, end, drawing)) = self.drawn.take() {
            drop(end);
            let _ = drawing.join(); // the line is gone
        }
    }
}

/// Draws the progress line of some work until the work has ended.
fn draw(what: &'static str, amount: WorkAmount, watch: &ProgressHandle, ended: &Receiver<()>) {
    let start = Instant::now();
    if !is_running_after(ended, SOON) {
        return;
    }
    let has_bar = matches!(amount, WorkAmount::Bytes(_) | WorkAmount::Draws);
    let template = if has_bar { "{prefix} {bar:20} {wide_msg}" } else { "{prefix} {wide_msg}" };
    // If the crate refuses the template, the bar has another look.
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(1).with_style(style.progress_chars("━╸─")).with_prefix(what);
    loop {
        let total = if let WorkAmount::Bytes(Some(known)) = amount { known } else { watch.total() };
        let done = watch.done();
        // A bar of length 0 would be full.
        bar.set_length(total.max(1));
        // Some totals are estimates (`gen` says about how many bytes it will write): never beyond
        // the end.
        bar.set_position(done.min(total));
        bar.set_message(state(amount, done, total, start.elapsed()));
        bar.tick();
        if !is_running_after(ended, TICK) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Waits for this time, and returns whether the work still goes on.
fn is_running_after(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

/// Returns the text of a progress line after the time `took`: amount done, rate, and time left.
fn state(amount: WorkAmount, done: u64, total: u64, took: Duration) -> String {
    let rate = done as f64 / took.as_secs_f64().max(1e-9);
    match amount {
        WorkAmount::Bytes(_) if done >= total => {
            format!("{}, for {}", bytes(done), time(took.as_secs()))
        }
        WorkAmount::Bytes(_) => {
            let left = left(done, total, rate);
            format!("{} of {}, {}/s{left}", bytes(done), bytes(total), bytes(rate as u64))
        }
        WorkAmount::Draws if done < total => {
            let left = left(done, total, rate);
            format!("{} of {} draws{left}", thousands(done), thousands(total))
        }
        WorkAmount::Stream => format!("{}, {}/s", bytes(done), bytes(rate as u64)),
        WorkAmount::Draws | WorkAmount::Unknown => format!("for {}", time(took.as_secs())),
    }
}

/// Returns the text on the time that the rest of the work takes, once anything is done.
fn left(done: u64, total: u64, rate: f64) -> String {
    match done {
        0 => String::new(),
        _ => format!(", {} left", time(((total - done) as f64 / rate).ceil() as u64)),
    }
}

/// Formats a number of seconds with one unit: seconds, minutes or hours.
fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// Formats a number of bytes with about three digits, in kB, MB or GB.
fn bytes(bytes: u64) -> String {
    let size = bytes as f64;
    match bytes {
        0..1_000_000 => format!("{:.0} kB", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", size / 1e6),
        _ => format!("{:.2} GB", size / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_says_rate_and_time_left_where_they_are_known() {
        let after = |amount, done, total| state(amount, done, total, Duration::from_secs(2));
        let heard = WorkAmount::Bytes(None);
        assert_eq!(
            after(heard, 500_000_000, 2_000_000_000),
            "500 MB of 2.00 GB, 250 MB/s, 6 s left"
        );
        assert_eq!(after(heard, 0, 2_000_000), "0 kB of 2 MB, 0 kB/s");
        assert_eq!(after(heard, 1_000_000, 500_000_000), "1 MB of 500 MB, 500 kB/s, 16 min left");
        assert_eq!(after(heard, 2_000_000, 2_000_000), "2 MB, for 2 s");
        assert_eq!(after(WorkAmount::Stream, 6_000_000, 0), "6 MB, 3 MB/s");
        assert_eq!(after(WorkAmount::Unknown, 0, 0), "for 2 s");
        assert_eq!(after(WorkAmount::Draws, 0, 0), "for 2 s");
        assert_eq!(after(WorkAmount::Draws, 25_000, 100_000), "25,000 of 100,000 draws, 6 s left");
    }

    #[test]
    fn nothing_is_watched_where_nothing_is_shown() {
        assert!(Progress::start("reading", WorkAmount::Stream, true).watch().is_none());
    }
}

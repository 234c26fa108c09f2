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
use laneval::Watch;

use crate::style::thousands;

/// The time before the line appears: shorter work shows nothing.
const SOON: Duration = Duration::from_millis(500);
/// The time between two updates of the line.
const TICK: Duration = Duration::from_millis(100);

/// The known amount of work.
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

/// A line that shows the progress of some work, until it is dropped. Nothing is drawn unless stderr
/// is a terminal.
#[derive(Debug, Default)]
pub struct Progress {
    drawn: Option<(Arc<Watch>, Sender<()>, JoinHandle<()>)>,
}

impl WorkAmount {
    /// Returns the amount of work for inputs of `bytes` bytes; `None` if an input is a stream.
    pub fn of(bytes: Option<u64>) -> Self {
        bytes.map_or(WorkAmount::Stream, |bytes| WorkAmount::Bytes(Some(bytes)))
    }
}

impl Progress {
    /// Starts to show the work, unless the command is `quiet`.
    pub fn start(what: &'static str, amount: WorkAmount, quiet: bool) -> Self {
        let dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if quiet || !stderr().is_terminal() || dumb() {
            return Progress::default();
        }
        let (watch, (end, ended)) = (Arc::<Watch>::default(), channel());
        let watched = watch.clone();
        let thread = std::thread::Builder::new().name("progress".to_owned());
        let drawing = thread.spawn(move || draw(what, amount, &watched, &ended));
        Progress { drawn: drawing.ok().map(|drawing| (watch, end, drawing)) }
    }

    /// Returns the watch of the work, if its progress is shown.
    pub fn watch(&self) -> Option<Arc<Watch>> {
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

/// Draws until the work has ended.
fn draw(what: &'static str, amount: WorkAmount, watch: &Watch, ended: &Receiver<()>) {
    let goes_on = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    let start = Instant::now();
    if !goes_on(SOON) {
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
        bar.set_message(state(amount, (done, total), start.elapsed()));
        bar.tick();
        if !goes_on(TICK) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Describes the progress of the work after the time `took`.
fn state(amount: WorkAmount, (done, total): (u64, u64), took: Duration) -> String {
    let rate = done as f64 / took.as_secs_f64().max(1e-9);
    match amount {
        WorkAmount::Bytes(_) if done >= total => {
            format!("{}, for {}", bytes(done), time(took.as_secs()))
        }
        WorkAmount::Bytes(_) => {
            let left = left((done, total), rate);
            format!("{} of {}, {}/s{left}", bytes(done), bytes(total), bytes(rate as u64))
        }
        WorkAmount::Draws if done < total => {
            format!(
                "{} of {} draws{}",
                thousands(done),
                thousands(total),
                left((done, total), rate)
            )
        }
        WorkAmount::Stream => format!("{}, {}/s", bytes(done), bytes(rate as u64)),
        WorkAmount::Draws | WorkAmount::Unknown => format!("for {}", time(took.as_secs())),
    }
}

/// Says how long the rest takes, once anything is done.
fn left((done, total): (u64, u64), rate: f64) -> String {
    match done {
        0 => String::new(),
        _ => format!(", {} left", time(((total - done) as f64 / rate).ceil() as u64)),
    }
}

/// Writes a time with one unit.
fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// Writes a number of bytes with about three digits.
fn bytes(bytes: u64) -> String {
    let of = |unit: f64| bytes as f64 / unit;
    match bytes {
        0..1_000_000 => format!("{:.0} kB", of(1e3)),
        1_000_000..1_000_000_000 => format!("{:.0} MB", of(1e6)),
        _ => format!("{:.2} GB", of(1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_says_rate_and_time_left_where_they_are_known() {
        let after = |amount, done, total| state(amount, (done, total), Duration::from_secs(2));
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

//! The number of threads of a command.

use std::num::NonZeroUsize;

use clap::Args;
use laneval::report::Note;

use super::style::say;

/// The number of bytes of input up to which the work is done before a pool would have started.
const LITTLE: u64 = 4 << 20;
/// The number of threads that may be asked for on any machine.
const MOST: u16 = 64;
/// The number of threads that may be asked for, for each that the machine has.
const EACH: u16 = 4;

/// The size of the thread pool.
#[derive(Debug, Default, Args)]
pub struct Threads {
    /// The number of threads to work on, at most 64 or four times what the machine has [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Engine")]
    threads: Option<u16>,
}

impl Threads {
    /// Notes that fewer threads are used than were asked for, if so.
    pub fn note(&self) -> Option<Note> {
        let (asked, most) = (self.threads?, most());
        let text = format!("{asked} threads would only wait for each other: {most} are taken");
        (asked > most).then_some(Note::Note(text))
    }

    /// Does the work in a pool of this size.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.install_for(None, work)
    }

    /// Does the work in a pool of this size. If `bytes`, the size of the input, is known to be small, or no thread can be started, this
    /// thread does it alone.
    pub fn install_for<T: Send>(&self, bytes: Option<u64>, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new();
        let refused = match self.threads.map(|threads| threads.min(most())) {
            None if bytes.is_some_and(|bytes| bytes <= LITTLE) => return alone(work),
            Some(1) => return alone(work),
            None => match pool.build_global() {
                Ok(()) => return work(),
                Err(refused) => refused,
            },
            Some(threads) => match pool.num_threads(threads.into()).build() {
                Ok(pool) => return pool.install(work),
                Err(refused) => refused,
            },
        };
        say(&Note::Warning(format!("no threads can be started ({refused}): one does all the work")));
        alone(work)
    }
}

/// Does the work on this thread, without starting any.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(), // this thread is in such a pool already
    }
}

/// Returns the most threads that may be asked for on this machine.
fn most() -> u16 {
    let here = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    MOST.max(u16::try_from(here).unwrap_or(u16::MAX).saturating_mul(EACH))
}

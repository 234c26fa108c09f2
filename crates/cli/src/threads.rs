//! The number of threads of a command.

use clap::Args;
use laneval::most_threads;
use laneval::report::Note;

use super::style::say;

/// The number of bytes of input up to which the work is done before a pool would have started.
const LITTLE: u64 = 4 << 20;

/// The size of the thread pool.
#[derive(Debug, Default, Args)]
pub struct Threads {
    /// The number of threads [default: all]
    ///
    /// Without it there are as many as the machine has. It is at most 64, or four times as many as
    /// the machine has.
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Engine")]
    threads: Option<u16>,
}

/// Reads a number of threads.
fn threads(text: &str) -> Result<u16, String> {
    let threads = text.parse().ok().filter(|&threads| threads > 0);
    threads.ok_or_else(|| format!("a number of threads, 1 to {}, was expected", most_threads()))
}

impl Threads {
    /// Notes that fewer threads are used than were asked for, if so.
    pub fn note(&self) -> Option<Note> {
        let (asked, most) = (usize::from(self.threads?), most_threads());
        let text = format!("{asked} threads are too many for this machine: {most} are used");
        (asked > most).then_some(Note::Note(text))
    }

    /// Does the work in a pool of this size.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.install_for(None, work)
    }

    /// Does the work in a pool of this size. If `bytes`, the size of the input, is known to be
    /// small, or no thread can be started, this thread does it alone.
    pub fn install_for<T: Send>(&self, bytes: Option<u64>, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new();
        let refused = match self.threads.map(|threads| usize::from(threads).min(most_threads())) {
            // Rayon's global pool would start on its first use, also for a parallel loop over ten
            // rows.
            None if bytes.is_some_and(|bytes| bytes <= LITTLE) => return alone(work),
            Some(1) => return alone(work),
            None => match pool.build_global() {
                Ok(()) => return work(),
                Err(refused) => refused,
            },
            Some(threads) => match pool.num_threads(threads).build() {
                Ok(pool) => return pool.install(work),
                Err(refused) => refused,
            },
        };
        say(&Note::Warning(format!(
            "no threads can be started ({refused}): one does all the work"
        )));
        alone(work)
    }
}

/// Does the work on this thread, without starting any.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // A pool of the thread that is here: parallel code runs as it is, and no thread is started.
    // That also works where the system allows no further one.
    match rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(), // this thread is in such a pool already
    }
}

//! The option `--threads`, and the thread pool in which a command works.

use laneval::max_threads;
use laneval::options::Given;
use laneval::report::Note;

use super::cli_error::CliResult;
use super::style::print_note;

/// The number of bytes of input up to which the work is done before a pool would have started.
const LITTLE: u64 = 4 << 20;

/// The size of the thread pool.
#[derive(Debug, Default)]
pub struct Threads {
    threads: Option<u16>,
}

impl Threads {
    /// Makes the pool that `--threads` asks for.
    pub fn new(given: &Given) -> CliResult<Self> {
        Ok(Self { threads: given.value("threads")? })
    }

    /// Returns a note if fewer threads are used than `--threads` asks for.
    pub fn note(&self) -> Option<Note> {
        let (threads, most) = (usize::from(self.threads?), max_threads());
        let text = format!("{threads} threads are too many for this machine: {most} are used");
        (threads > most).then_some(Note::Note(text))
    }

    /// Runs `work` in a thread pool of the size that `--threads` asks for.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.install_for(None, work)
    }

    /// Runs `work` in a thread pool of the size that `--threads` asks for, unless the input is
    /// small. If `bytes`, the size of the input, is known to be small, or no thread can be started,
    /// this thread does it alone.
    pub fn install_for<T: Send>(&self, bytes: Option<u64>, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new();
        let refused = match self.threads.map(|threads| usize::from(threads).min(max_threads())) {
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
        print_note(&Note::Warning(format!(
            "no threads can be started ({refused}): one does all the work"
        )));
        alone(work)
    }
}

/// Runs `work` on the current thread, without starting any.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // A pool of the thread that is here: parallel code runs as it is, and no thread is started.
    // That also works where the system allows no further one.
    match rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(), // this thread is in such a pool already
    }
}

//! Work of the Rust library on its own threads, while Python's interpreter is free. Signals stop
//! the work, and its progress can be watched.
//!
//! ```text
//! thread of Python      lets go of the interpreter ─ waits 40 ms at a time, ───── takes it again
//!                       │                            looks for signals,         │
//!                       │                            reports progress           │
//! thread of this call   └ runs the work in a pool ── drops its end of a channel ┘
//! threads of the pool     └ tiles, chunks, queries
//! ```
//!
//! Handlers of signals run in Python's main thread only, when it asks for them. If that thread did
//! the work, Ctrl-C would be heard at the end of it. So another one does, and this one asks; an
//! exception of a handler stops the work by its watch, and is raised once the work has ended: what
//! the work borrows lives on this stack.
//!
//! A panic goes the same way: it is caught where the worker ends and goes on in the caller, where
//! it becomes an exception.
//!
//! # Forks
//!
//! A child has the memory of its parent and one thread. A pool of the parent would be a queue that
//! nobody serves, so pools carry the id of the process that made them and are left alone elsewhere:
//! not even dropped, for dropping tells threads to end that are not there. The list's lock is taken
//! only by who holds the interpreter's lock, where there is one, as does who forks in Python; so no
//! child inherits it locked.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::process;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use laneval::{Error, ProgressHandle, max_threads};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{OrRaise, exception, unanswerable};

/// The time between two checks for signals.
const GLANCE: Duration = Duration::from_millis(40);

/// The number of threads for some work, and the Python function that is told its progress.
#[derive(Clone, Copy, Default)]
pub struct Workers<'a> {
    /// The number of threads; `None` for one a processor.
    pub threads: Option<NonZeroUsize>,
    /// The function that is told how much is done and how much there is to do.
    pub progress: Option<&'a Py<PyAny>>,
    /// Whether there is so little work that no other thread should be woken.
    pub little: bool,
}

/// Runs some work of the Rust library on other threads, while other Python threads go on.
///
/// Signals are checked meanwhile: if a handler raises, as that of Ctrl-C does, the watch is told to
/// stop.
pub fn work<T: Send>(
    py: Python<'_>,
    workers: Workers<'_>,
    watch: &Arc<ProgressHandle>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    // Waking a thread and waiting for it takes longer than the work. Nothing is asked about
    // signals: it is over before anyone could press a key.
    if workers.little {
        let done = py.detach(|| match alone() {
            Some(pool) => pool.install(work),
            None => work(),
        });
        return done.or_raise(py);
    }
    let pool = &PoolGuard::acquire(py, workers.threads)?;
    let done = py.detach(|| {
        thread::scope(|scope| {
            // Nothing is ever sent. A channel that is closed wakes the waiting thread at once,
            // where a join could not look at the clock.
            let (sender, receiver) = sync_channel::<()>(1);
            let worker = scope.spawn(move || {
                let _tell = sender; // dropped at the end, whatever comes
                pool.install(work)
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(GLANCE) {
                // After the first exception only the end is awaited: a second Ctrl-C must not
                // replace the reason.
                if raised.is_none() {
                    raised = Python::attach(|py| glance(py, workers.progress, watch)).err();
                    if raised.is_some() {
                        watch.stop();
                    }
                }
            }
            let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            (done, raised)
        })
    });
    match done {
        (_, Some(raised)) => Err(raised),
        (Err(error), None) => Err(exception(py, error)),
        (Ok(done), None) => glance(py, workers.progress, watch).map(|()| done),
    }
}

/// Runs Python's handlers of signals, and reports progress to the user's Python function.
fn glance(py: Python<'_>, progress: Option<&Py<PyAny>>, watch: &ProgressHandle) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, (watch.done(), watch.total())).map(drop),
        None => Ok(()),
    }
}

/// The pools of this process that nobody works in, each with the process that made it and its
/// number of threads.
static IDLE: Mutex<Vec<(u32, usize, ThreadPool)>> = Mutex::new(Vec::new());
/// The most pools that are kept.
const MOST_IDLE: usize = 16;

/// A pool of threads, held for as long as somebody works in it. Calls from several threads of
/// Python have a pool each: in one pool of one thread, one would wait for the other.
struct PoolGuard {
    threads: usize,
    /// The pool, until it goes back.
    pool: Option<ThreadPool>,
}

impl PoolGuard {
    /// Takes an idle pool of `threads` threads, or makes one; `None` stands for one thread a
    /// processor.
    fn acquire(py: Python<'_>, threads: Option<NonZeroUsize>) -> PyResult<Self> {
        let threads =
            threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let threads = threads.min(max_threads());
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().position(|&(pid, size, _)| (pid, size) == (process::id(), threads));
        if let Some(at) = at {
            return Ok(Self { threads, pool: Some(idle.swap_remove(at).2) });
        }
        // Threads start outside of the lock.
        drop(idle);
        let new_pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("laneval-{at}"))
            .build();
        let pool = new_pool
            .map_err(|error| unanswerable(py, format!("no threads can be started: {error}")))?;
        Ok(Self { threads, pool: Some(pool) })
    }

    fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

impl Drop for PoolGuard {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.iter().filter(|entry| entry.0 == process::id()).count() < MOST_IDLE
            && let Some(pool) = self.pool.take()
        {
            idle.push((process::id(), self.threads, pool));
        }
    }
}

/// Returns a pool of the calling thread alone, in which parallel iterators start no threads. `None`
/// if the thread is in another pool.
fn alone() -> Option<&'static ThreadPool> {
    thread_local! {
        static ALONE: Option<&'static ThreadPool> = {
            let pool_result = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            // Rayon never frees a pool of the current thread anyway, so there is one a thread, and
            // it is kept.
            pool_result.ok().map(|pool| &*Box::leak(Box::new(pool)))
        };
    }
    ALONE.with(|alone| *alone)
}

//! Progress of a join or an evaluation, with a way to stop it from another thread.
//!
//! A watch has three numbers that any thread may read and write, and no callback. The reader
//! decides how often to show the progress, and from which thread. All accesses are relaxed. Relaxed
//! counts lose nothing, because counts are sums. A stop need not be seen at once: workers check for
//! a stop between pieces of work (chunks of text, tiles, draws). So the check costs a load per
//! piece. `total` grows while inputs are opened, so `done` may be a smaller share of it for a
//! moment.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The progress of an evaluation, or a `Join`, shared with another thread.
/// The watch counts finished work, and can stop the work.
///
/// ```
/// use std::sync::Arc;
/// use laneval::{ErrorKind, Evaluator, Join, ProgressHandle};
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// let matrix =
///     Join::default().files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
/// let watch = Arc::new(ProgressHandle::default());
/// let evaluator = Evaluator::new(["AP"])?.with_progress(Some(watch.clone()));
/// evaluator.evaluate(&matrix)?;
/// assert_eq!(watch.done(), watch.total());
/// watch.stop();
/// assert_eq!(evaluator.evaluate(&matrix).unwrap_err().kind(), ErrorKind::Stopped);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ProgressHandle {
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl ProgressHandle {
    /// Tells the evaluation to stop; the evaluation soon ends with an error.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the evaluation or join was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns the finished work of the evaluation or join. Work counts in bytes of text, rows of
    /// columns, bytes of labels with their padding, and random draws of comparisons.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Returns the total work of the evaluation or join, as far as known.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Adds `work` to the total work of the evaluation or join.
    pub fn expect(&self, work: u64) {
        self.total.fetch_add(work, Ordering::Relaxed);
    }

    /// Adds `work` to the finished work of the evaluation or join.
    pub fn add(&self, work: u64) {
        self.done.fetch_add(work, Ordering::Relaxed);
    }
}

/// A reader that reports the number of bytes that each read took.
pub struct ProgressReader<R, F> {
    pub reader: R,
    pub report: F,
}

impl<R: Read, F: FnMut(u64)> Read for ProgressReader<R, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(into)?;
        (self.report)(bytes as u64);
        Ok(bytes)
    }
}

/// Adds `work` to the total work of an evaluation or join, if its progress is watched.
pub fn expect_work(watch: Option<&ProgressHandle>, work: u64) {
    if let Some(watch) = watch {
        watch.expect(work);
    }
}

/// Adds `work` to the finished work of an evaluation or join, if its progress is watched.
pub fn add_work(watch: Option<&ProgressHandle>, work: u64) {
    if let Some(watch) = watch {
        watch.add(work);
    }
}

/// Returns whether an evaluation or join was told to stop through `watch`; `false` without a watch.
pub fn is_stopped(watch: Option<&ProgressHandle>) -> bool {
    watch.is_some_and(ProgressHandle::is_stopped)
}

/// Returns the error of a stopped evaluation or join if `watch` was told to stop.
pub fn check_stopped(watch: Option<&ProgressHandle>) -> Result<()> {
    if is_stopped(watch) { Err(Error::Stopped) } else { Ok(()) }
}

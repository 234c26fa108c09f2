//! Progress of a join or an evaluation, and a way to stop it, for another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Shared with whoever watches an evaluation, or a [`Join`](crate::Join): it counts what is done, and can be told to stop.
///
/// ```
/// use std::sync::Arc;
/// use laneval::{ErrorKind, Evaluator, Join, Watch};
/// let matrix = Join::default().files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
/// let watch = Arc::new(Watch::default());
/// let evaluator = Evaluator::new(["AP"])?.with_watch(Some(watch.clone()));
/// evaluator.evaluate(&matrix)?;
/// assert_eq!(watch.done(), watch.total());
/// watch.stop();
/// assert_eq!(evaluator.evaluate(&matrix).unwrap_err().kind(), ErrorKind::Stopped);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Watch {
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// Tells the evaluation to stop: it ends with an error soon.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Was it told to stop?
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// How much is done: bytes of text, rows of columns, and bytes of labels with their padding.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// How much there is to do, as far as that is known.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Says that there are so many more to do.
    pub(crate) fn expect(&self, labels: u64) {
        self.total.fetch_add(labels, Ordering::Relaxed);
    }

    /// Says that so many more are done.
    pub(crate) fn add(&self, labels: u64) {
        self.done.fetch_add(labels, Ordering::Relaxed);
    }
}

/// Has somebody said to stop?
pub(crate) fn is_stopped(watch: Option<&Watch>) -> bool {
    watch.is_some_and(Watch::is_stopped)
}

/// Refuses to go on where somebody has said so.
pub(crate) fn not_stopped(watch: Option<&Watch>) -> Result<()> {
    if is_stopped(watch) { Err(Error::Stopped) } else { Ok(()) }
}

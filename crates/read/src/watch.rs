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
/// use laneval::{ErrorKind, Evaluator, Join, Watch};
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// let matrix =
///     Join::default().files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
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
    /// Tells the evaluation to stop; the evaluation soon ends with an error.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the work was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The work that is done: bytes of text, rows of columns, bytes of labels with their padding,
    /// and random draws of comparisons.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The total work to do, as far as known.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Adds to the total work to do.
    pub fn expect(&self, work: u64) {
        self.total.fetch_add(work, Ordering::Relaxed);
    }

    /// Adds to the finished work.
    pub fn add(&self, work: u64) {
        self.done.fetch_add(work, Ordering::Relaxed);
    }
}

/// A reader that tells how many bytes were read, each time some were.
pub struct TellingReader<R, F> {
    pub reader: R,
    pub tell: F,
}

impl<R: Read, F: FnMut(u64)> Read for TellingReader<R, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(into)?;
        (self.tell)(bytes as u64);
        Ok(bytes)
    }
}

/// Has somebody said to stop?
pub fn is_stopped(watch: Option<&Watch>) -> bool {
    watch.is_some_and(Watch::is_stopped)
}

/// Returns an error if `watch` was told to stop.
pub fn not_stopped(watch: Option<&Watch>) -> Result<()> {
    if is_stopped(watch) { Err(Error::Stopped) } else { Ok(()) }
}

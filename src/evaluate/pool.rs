//! The threads that are started for an evaluation, and their largest number.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// The number of threads to start on any machine if the caller asks.
const MOST: usize = 64;
/// The number of threads to start for each hardware thread if the caller asks.
const EACH: usize = 4;

/// Returns the maximal number of threads to start, for any request: 64, or four times the number of
/// hardware threads, whichever is more. More threads would only wait for each other.
///
/// ```
/// assert!(laneval::max_threads() >= 64);
/// ```
pub fn max_threads() -> usize {
    MOST.max(available_parallelism().map_or(1, NonZeroUsize::get).saturating_mul(EACH))
}

/// Starts a pool of `threads` threads, but at most [`max_threads`].
pub(crate) fn pool(threads: NonZeroUsize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.get().min(max_threads())).build();
    pool.map_err(|error| Error::Unanswerable(format!("no threads can be started: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_no_larger_than_what_helps() {
        let size =
            |threads| pool(NonZeroUsize::new(threads).unwrap()).unwrap().current_num_threads();
        assert_eq!((size(1), size(3)), (1, 3));
        assert_eq!(size(1_000_000_000), max_threads());
    }
}

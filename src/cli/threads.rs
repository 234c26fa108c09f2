//! How many threads a command works on.

use clap::Args;

use super::stop::Stop;

/// So many bytes of input are little work.
const LITTLE: u64 = 4 << 20;

/// The size of the thread pool.
#[derive(Debug, Args)]
pub struct Threads {
    /// How many threads to work on [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Engine")]
    threads: Option<u16>,
}

impl Threads {
    /// Does the work in a pool of this size.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Stop> {
        self.install_for(None, work)
    }

    /// Does the work, over so many bytes of input if that is known, in a pool of this size. Little work is done before a pool
    /// would have started.
    pub fn install_for<T: Send>(
        &self,
        bytes: Option<u64>,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, Stop> {
        let little = bytes.is_some_and(|bytes| bytes <= LITTLE);
        let threads = match self.threads {
            None if !little => return Ok(work()),
            threads => threads.unwrap_or(1),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        // This very thread is the only one, so none is started.
        let pool = if threads == 1 { pool.use_current_thread() } else { pool };
        match pool.build() {
            Ok(pool) => Ok(pool.install(work)),
            Err(e) => Err(Stop::new(format!("cannot start {threads} threads: {e}"))),
        }
    }
}

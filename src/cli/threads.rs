//! How many threads a command works on.

use clap::Args;

use super::stop::Stop;

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
        let Some(threads) = self.threads else { return Ok(work()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build();
        match pool {
            Ok(pool) => Ok(pool.install(work)),
            Err(e) => Err(Stop::new(format!("cannot start {threads} threads: {e}"))),
        }
    }
}

//! Timing of several works in turns for `laneval bench`, so that disturbances of the machine affect
//! all alike.
//!
//! # Why turns, and why the smallest
//!
//! ```text
//! turn   read   plain   avx2   avx512   fold …
//!   1      ●      ●       ●       ●       ●        all rows once, then again
//!   2      ●      ●       ●       ●       ●
//!   ⋮                                              each until its time is used up,
//!                                                  at least three times
//! ```
//!
//! Whatever disturbs a run (another process, a clock that falls with the heat, pages not yet
//! mapped) makes it longer and never shorter. So the smallest time is nearest to what the machine
//! can do; a mean or a median measures the other processes as well. A disturbance that lasts for
//! seconds would fall upon one row if each had all its runs at once, and rows are read as ratios.
//! In turns it meets all of them, and each has turns before and after it.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli_error::CliResult;

/// The fewest times that each work is done.
const LEAST: u32 = 3;
/// The number of times after which a shortest time does not get shorter: works on small files take
/// far less than their time.
const ENOUGH: u32 = 2_000;
/// The units of the progress bar that a finished work counts.
const DONE: u64 = 100;

/// A closure that does a work of `laneval bench` once, to be timed. The closure returns the time
/// that counts, if that is only a part, such as the time of kernels.
type BenchFn<'a> = Box<dyn FnMut() -> Result<Option<Duration>, laneval::Error> + Send + 'a>;

/// A closure that `laneval bench` times again and again, with its shortest times so far.
pub struct BenchTask<'a> {
    run: BenchFn<'a>,
    /// The shortest time by the wall clock.
    pub wall: Duration,
    /// The shortest time by the work's own clock.
    pub own: Option<Duration>,
    runs: u32,
    spent: Duration,
}

impl<'a> BenchTask<'a> {
    /// Makes a benchmark task of a closure that is timed by the wall clock only.
    pub fn new(mut run: impl FnMut() -> Result<(), laneval::Error> + Send + 'a) -> Self {
        Self::with_clock(move || run().map(|()| None))
    }

    /// Makes a benchmark task of a closure that also returns a time of its own, such as that of GPU
    /// kernels.
    pub fn with_clock(
        run: impl FnMut() -> Result<Option<Duration>, laneval::Error> + Send + 'a,
    ) -> Self {
        Self { run: Box::new(run), wall: Duration::MAX, own: None, runs: 0, spent: Duration::ZERO }
    }

    fn turn(&mut self) -> Result<(), laneval::Error> {
        let start = Instant::now();
        let own = (self.run)()?;
        let took = start.elapsed();
        self.wall = self.wall.min(took);
        // A chain, because the smaller of `None` and a time would be `None`.
        self.own = self.own.into_iter().chain(own).min();
        self.runs += 1;
        self.spent += took;
        Ok(())
    }

    /// Returns how much of the timing of this benchmark task is done, from 0 to [`DONE`].
    fn progress(&self, budget: Duration) -> u64 {
        let runs = f64::from(self.runs) / f64::from(LEAST);
        let time = if budget.is_zero() { 1.0 } else { self.spent.div_duration_f64(budget) };
        let enough = f64::from(self.runs) / f64::from(ENOUGH);
        // A row is done after the fewest runs and the time that it is given, or after ENOUGH runs,
        // beyond which more tell nothing.
        (runs.min(time).max(enough).min(1.0) * DONE as f64) as u64
    }
}

/// A scheduler that times benchmark tasks in turns, with the time for each task and a progress bar.
pub struct RoundRobin {
    budget: Duration,
    bar: ProgressBar,
}

impl RoundRobin {
    /// Makes a scheduler for `works` benchmark tasks, with the time `budget` for each.
    pub fn new(budget: Duration, works: usize) -> Self {
        let bar = ProgressBar::new(works as u64 * DONE);
        // If the crate refuses the template, the bar has another look.
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { budget, bar }
    }

    /// Shows on the progress bar of `laneval bench` the work that is timed next.
    pub fn show_progress(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// Runs all benchmark tasks in turns, each until its time is used up.
    pub fn run_all(&self, works: &mut [BenchTask<'_>]) -> CliResult<()> {
        let from = self.bar.position();
        loop {
            let mut rest =
                works.iter_mut().filter(|work| work.progress(self.budget) < DONE).peekable();
            if rest.peek().is_none() {
                return Ok(());
            }
            rest.try_for_each(BenchTask::turn)?;
            let done = works.iter().map(|work| work.progress(self.budget)).sum::<u64>();
            self.bar.set_position(from + done);
        }
    }
}

impl Drop for RoundRobin {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_has_its_turns() {
        let mut order = std::sync::Mutex::new(Vec::new());
        let work = |name: &'static str, nap: u64| {
            let order = &order;
            BenchTask::with_clock(move || {
                order.lock().unwrap().push(name);
                std::thread::sleep(Duration::from_millis(nap));
                Ok(Some(Duration::from_secs(nap)))
            })
        };
        let mut works = [work("long", 4), work("short", 0)];
        RoundRobin::new(Duration::from_millis(5), 2).run_all(&mut works).unwrap();
        assert!(works[0].wall >= Duration::from_millis(4));
        assert_eq!(works[0].own, Some(Duration::from_secs(4)));
        assert_eq!(works[0].runs, 3);
        let mut short = [BenchTask::new(|| Ok(()))];
        RoundRobin::new(Duration::from_secs(3600), 1).run_all(&mut short).unwrap();
        assert_eq!(short[0].runs, ENOUGH, "and not an hour");
        drop(works);
        let order = order.get_mut().unwrap();
        assert_eq!(order[..4], ["long", "short", "long", "short"]);
        assert!(
            order.iter().filter(|name| **name == "short").count() > 3,
            "there was time for more"
        );
    }
}

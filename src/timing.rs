//! The time that the steps of some work took.

use std::time::{Duration, Instant};

/// Steps with their total times, ordered by first occurrence.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    steps: Vec<(&'static str, Duration)>,
}

impl Timing {
    /// Does some work and adds its time to a step.
    pub fn time<T>(&mut self, step: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        self.add(step, start.elapsed());
        done
    }

    /// Adds some time to a step.
    pub fn add(&mut self, step: &'static str, took: Duration) {
        // A list and no map: steps are few, and shown in order of first occurrence.
        match self.steps.iter_mut().find(|(of, _)| *of == step) {
            Some((_, all)) => *all += took,
            None => self.steps.push((step, took)),
        }
    }

    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &Timing) {
        other.steps.iter().for_each(|&(step, took)| self.add(step, took));
    }

    /// The steps with their times.
    #[cfg(feature = "internals")]
    pub fn steps(&self) -> &[(&'static str, Duration)] {
        &self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_comes_again_is_one_step() {
        let mut timing = Timing::default();
        assert_eq!(timing.time("a", || 1), 1);
        timing.time("b", || ());
        timing.time("a", || std::thread::sleep(Duration::from_millis(2)));
        assert_eq!(timing.steps().iter().map(|(step, _)| *step).collect::<Vec<_>>(), ["a", "b"]);
        assert!(timing.steps()[0].1 >= Duration::from_millis(2));
    }
}

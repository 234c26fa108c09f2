//! A record of the time that each step of a program took, such as reading or evaluation.

use std::time::{Duration, Instant};

/// Named steps of a program with their total times, in order of first occurrence.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    steps: Vec<(&'static str, Duration)>,
}

impl Timing {
    /// Runs a function and adds the time that it took to a named step.
    pub fn time<T>(&mut self, step: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        self.add(step, start.elapsed());
        done
    }

    /// Adds an amount of time to a named step.
    pub fn add(&mut self, step: &'static str, took: Duration) {
        // A list and no map: steps are few, and shown in order of first occurrence.
        match self.steps.iter_mut().find(|(name, _)| *name == step) {
            Some((_, all)) => *all += took,
            None => self.steps.push((step, took)),
        }
    }

    /// Adds the times of another record, step by step.
    pub fn merge(&mut self, other: &Timing) {
        other.steps.iter().for_each(|&(step, took)| self.add(step, took));
    }

    /// Returns the named steps with their total times, in order of first occurrence.
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

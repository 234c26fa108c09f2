//! The discriminative power of measures: how many pairs of runs each tells apart (Sakai, SIGIR 2006).

use super::comparison::Comparison;

/// From how many runs on there is enough to tell apart.
const RUNS: usize = 4;

/// How many pairs of runs a measure tells apart.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Discrimination {
    /// The place of the measure.
    pub measure: usize,
    /// The p of the test that decides of each pair that has one, uncorrected, ascending: a curve that is the lower the better.
    pub p: Vec<f64>,
    /// Of how many of them p is below the level.
    pub apart: usize,
}

impl Discrimination {
    /// The share of pairs that are told apart; `None` if no pair has a p.
    pub fn share(&self) -> Option<f64> {
        (!self.p.is_empty()).then(|| self.apart as f64 / self.p.len() as f64)
    }
}

impl Comparison {
    /// How many pairs each measure tells apart, where all pairs of four runs or more are compared.
    pub fn discrimination(&self) -> Vec<Discrimination> {
        if self.runs.len() < RUNS || self.baseline.is_some() {
            return Vec::new();
        }
        let of_measure = |measure| {
            let mut p: Vec<f64> = self.of_measure(measure).iter().filter_map(|of| of.p).collect();
            p.sort_by(f64::total_cmp);
            let apart = p.iter().filter(|&&p| p < self.options.alpha).count();
            Discrimination { measure, p, apart }
        };
        (0..self.measures.len()).map(of_measure).collect()
    }
}

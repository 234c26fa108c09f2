//! The discriminative power of measures: the number of pairs of runs that each tells apart (Sakai,
//! SIGIR 2006).

use super::comparison::Comparison;

/// The fewest runs for which the power is computed.
const RUNS: usize = 4;

/// The discriminative power of a measure: the number of pairs of runs that the measure tells apart.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Discrimination {
    /// The index of the measure.
    pub measure: usize,
    /// The uncorrected p of the deciding test for each pair with a p, ascending. The lower this
    /// curve, the better.
    pub p: Vec<f64>,
    /// The number of pairs whose p is below the level.
    pub apart: usize,
}

impl Discrimination {
    /// Returns the share of pairs of runs that the measure tells apart; `None` if no pair has a p.
    pub fn share(&self) -> Option<f64> {
        (!self.p.is_empty()).then(|| self.apart as f64 / self.p.len() as f64)
    }
}

impl Comparison {
    /// Computes the discriminative power of each measure, if all pairs of four runs or more are
    /// compared.
    pub fn discrimination(&self) -> Vec<Discrimination> {
        if self.runs.len() < RUNS || self.baseline.is_some() {
            return Vec::new();
        }
        let powers = (0..self.measures.len()).map(|measure| {
            let differences = self.differences_for(measure).iter();
            let mut p: Vec<f64> = differences.filter_map(|difference| difference.p).collect();
            p.sort_by(f64::total_cmp);
            let apart = p.iter().filter(|&&p| p < self.options.alpha).count();
            Discrimination { measure, p, apart }
        });
        powers.collect()
    }
}

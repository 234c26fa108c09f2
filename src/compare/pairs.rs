//! The pairs of runs that are compared: each other run with the baseline, or all pairs.

use super::options::ComparisonOptions;
use super::randomised::Pair;
use crate::error::{Error, Result};

/// Returns the index of the run that the options name as the baseline; `None` without a baseline.
pub(super) fn baseline(options: &ComparisonOptions, names: &[String]) -> Result<Option<usize>> {
    let Some(name) = &options.baseline else { return Ok(None) };
    let place = names.iter().position(|candidate| candidate == name).ok_or_else(|| {
        Error::Unanswerable(format!(
            "no run has the name {name}, the baseline: there are {}",
            names.join(", ")
        ))
    })?;
    Ok(Some(place))
}

/// Returns the number of pairs of runs that are compared: each other run with the baseline, or all
/// pairs.
#[cfg(feature = "serde")]
pub(super) fn count_of_pairs(runs: usize, baseline: bool) -> usize {
    if baseline { runs - 1 } else { runs.saturating_mul(runs - 1) / 2 }
}

/// Returns the pairs of runs that are compared: each other run with the baseline, or all pairs.
pub(super) fn pairs(runs: usize, baseline: Option<usize>) -> Vec<Pair> {
    match baseline {
        Some(baseline) => {
            (0..runs).filter(|&run| run != baseline).map(|run| Pair { baseline, run }).collect()
        }
        None => (0..runs)
            .flat_map(|baseline| (baseline + 1..runs).map(move |run| Pair { baseline, run }))
            .collect(),
    }
}

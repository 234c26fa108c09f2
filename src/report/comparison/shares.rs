//! The shares of judged documents of each run, for the tables of a comparison.

use crate::compare::{Comparison, judged_measure};

/// Returns the measures `Judged@k` known for the compared runs, each once, with the index of a
/// measure that has their values.
pub fn judged(comparison: &Comparison) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for (at, measure) in comparison.measures.iter().enumerate() {
        let known =
            comparison.runs.iter().any(|run| run.judged.get(at).copied().flatten().is_some());
        let name = judged_measure(measure).to_string();
        if known && all.iter().all(|(other, _)| *other != name) {
            all.push((name, at));
        }
    }
    all
}

/// Returns the share of judged documents of a run as text in percent, or a dash.
pub fn share(comparison: &Comparison, run: usize, measure: usize) -> String {
    let share = comparison.runs[run].judged.get(measure).copied().flatten();
    share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

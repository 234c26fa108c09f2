//! The shares of judged documents as the tables of a comparison have them.

use crate::compare::{Comparison, judged_measure};

/// The measures of judged documents that are known, each once, with the index of a measure under
/// which they were computed.
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

/// The share of the documents of a run that are judged.
pub fn share(comparison: &Comparison, run: usize, measure: usize) -> String {
    let share = comparison.runs[run].judged.get(measure).copied().flatten();
    share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

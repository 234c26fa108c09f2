//! The step from a ranking to the inputs of the reference formulas over subtopics and preferences.

use super::preferences;
use super::ranking::Ranking;
use super::subtopics;
use crate::facets::preferences::{PreferenceCount as Preference, PreferenceLine};
use crate::measure::Measure;

/// Returns a diversity measure that `function` computes from the judged subtopics and a ranking's
/// documents. The value is 0 where judgments are of documents alone.
pub fn over_subtopics(
    m: &Measure,
    r: &Ranking<'_>,
    function: impl Fn(&subtopics::DocumentSubtopics, &subtopics::DocumentsAtRanks) -> f64,
) -> f64 {
    let Some(groups) = r.facets else { return 0.0 };
    let mut judged = vec![Vec::new(); groups.judged.documents as usize];
    for judgment in groups.judged.judgments.iter().filter(|judgment| judgment.grade >= m.rel()) {
        judged[judgment.document as usize].push(judgment.group);
    }
    let mut ranking = vec![None; r.labels.len()];
    groups.named.iter().for_each(|&(rank, number)| ranking[rank as usize] = Some(number as usize));
    function(&judged, &ranking)
}

/// Returns a preference measure of a ranking and its query; 0 where judgments are of documents
/// alone.
pub fn over_preferences(r: &Ranking<'_>, measure: Preference) -> f64 {
    let Some(groups) = r.facets else { return 0.0 };
    let lines = groups.judged.with_subgroups();
    let lines: Vec<_> =
        lines.map(|(judgment, subgroup)| PreferenceLine::new(judgment, subgroup)).collect();
    let retrieved: Vec<u32> = groups.named.iter().map(|&(_, number)| number).collect();
    preferences::value(&lines, groups.judged.documents, &retrieved, measure)
}

pub fn alpha(m: &Measure) -> f64 {
    m.number("alpha").unwrap_or(0.5)
}

pub fn beta(m: &Measure) -> f64 {
    m.number("beta").unwrap_or(0.5)
}

pub fn raw_first(m: &Measure) -> bool {
    m.choice("first") == "raw"
}

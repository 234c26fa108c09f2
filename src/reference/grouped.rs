//! Measures over subtopics and preferences: what the plain functions take, made of a ranking.

use super::preferences;
use super::ranking::Ranking;
use super::subtopics;
use crate::facets::preferences::{PreferenceCount as Preference, PreferenceLine};
use crate::measure::Measure;

/// A value over the subtopics of a query, with the ranking's documents by rank; 0 where judgments
/// are of documents alone.
pub fn over_subtopics(
    m: &Measure,
    r: &Ranking<'_>,
    of: impl Fn(&subtopics::DocumentSubtopics, &subtopics::DocumentsAtRanks) -> f64,
) -> f64 {
    let Some(groups) = r.facets else { return 0.0 };
    let mut judged = vec![Vec::new(); groups.judged.documents as usize];
    for judgment in groups.judged.judgments.iter().filter(|judgment| judgment.grade >= m.rel()) {
        judged[judgment.document as usize].push(judgment.group);
    }
    let mut ranking = vec![None; r.labels.len()];
    groups.named.iter().for_each(|&(rank, number)| ranking[rank as usize] = Some(number as usize));
    of(&judged, &ranking)
}

/// A value over the preferences of a query; 0 where judgments are of documents alone.
pub fn over_preferences(r: &Ranking<'_>, measure: Preference) -> f64 {
    let Some(groups) = r.facets else { return 0.0 };
    let lines: Vec<PreferenceLine> =
        groups.judged.with_subgroups().map(PreferenceLine::from).collect();
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
    m.word("first") == "raw"
}

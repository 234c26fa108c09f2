//! Whether nothing is relevant for a query, from the grades of its judged documents.

use super::gains::has_gain;
use super::ranking::Ranking;
use crate::measure::{Kind, Measure};

/// Whether no judged document counts for the measure: none has a gain, or the grade from which on
/// documents are relevant.
pub fn is_nothing_relevant(m: &Measure, r: &Ranking<'_>) -> bool {
    let params = m.definition().params;
    if params.iter().any(|param| param.kind == Kind::Gain) {
        return !has_gain(m, r);
    }
    // Grades that are gains have no level.
    let graded = m.word("gain") == "grade" && m.definition().name != "RBP";
    match m.value("rel").is_some() || params.iter().any(|param| param.name == "rel") {
        true if !graded => r.relevant(m.rel()) == 0.0,
        _ => r.judged().all(|(grade, _)| grade <= 0.0),
    }
}

//! The test whether a query has nothing relevant for a measure, from the grades of its judged
//! documents.

use super::gains::has_gain;
use super::ranking::Ranking;
use crate::measure::{Measure, ParamKind};

/// Returns whether no judged document of a query counts for a measure: none has a gain, or a
/// relevant grade.
pub fn is_nothing_relevant(m: &Measure, r: &Ranking<'_>) -> bool {
    let params = m.definition().params;
    if params.iter().any(|param| param.kind == ParamKind::Gain) {
        return !has_gain(m, r);
    }
    // Grades that are gains have no level.
    let graded = m.choice("gain") == "grade" && m.definition().name != "RBP";
    match m.value("rel").is_some() || params.iter().any(|param| param.name == "rel") {
        true if !graded => r.relevant(m.rel()) == 0.0,
        _ => r.judged().all(|(grade, _)| grade <= 0.0),
    }
}

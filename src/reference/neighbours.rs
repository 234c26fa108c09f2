//! Reference formula of the recall of nearest neighbours, whose grades fall by one from each to the
//! next.

use super::common::ratio;
use super::ranking::Ranking;
use crate::measure::Measure;

pub fn recall_of_neighbours(m: &Measure, r: &Ranking<'_>) -> f64 {
    let highest = r.book.max_grade().unwrap_or(0.0);
    let looked_for = match (m.number("truth"), m.rank()) {
        (Some(t), _) => t,
        (None, Some(k)) => f64::from(k),
        (None, None) => highest,
    };
    let neighbours: f64 =
        r.judged().filter(|(grade, _)| *grade > 0.0).map(|(_, count)| f64::from(count)).sum();
    let most = looked_for.min(neighbours);
    // The nearest has the highest grade, the t-th one t − 1 less.
    let lowest = (highest + 1.0 - looked_for).max(1.0);
    let found = r.top(m.rank()).filter(|(_, document)| document.is_relevant(lowest)).count();
    ratio((found as f64).min(most), most)
}

//! The value of trec_eval 10 for a topic that a run lacks.

use crate::matrix::{Codebook, LabelMatrix, View};
use crate::measure::Measure;
use crate::reference::{self, RankedFacets, Ranking, ReferenceGrades};

/// Returns the value of a ranking of a single document outside the qrels, for a query of a matrix,
/// and 0 for a measure without a function.
///
/// trec_eval 10 gives a topic that a run lacks the value of this ranking.
pub fn of_one_unpooled(measure: &Measure, matrix: &LabelMatrix, query: usize, view: View) -> f64 {
    let mut labels = vec![Codebook::UNPOOLED];
    view.of_row(&mut labels);
    let exact = matrix.exact();
    let exact = exact.map(|exact| ReferenceGrades { grades: &[], judged: exact.facts.of(query) });
    let (facts, book) = (matrix.facts().of(query), matrix.book());
    let judged = matrix.facet_rows().map(|grouped| grouped.of.of(query));
    let facets = judged.map(|judged| RankedFacets { judged, named: &[] });
    let spans = matrix.span_rows().map(|spans| spans.unranked(query));
    let ranking = Ranking { labels: &labels, facts, book, exact, facets, spans, ties: &[] };
    reference::function(measure).map_or(0.0, |function| function(measure, &ranking))
}

//! The value that trec_eval 10 gives a measure for a topic (query) that a run lacks.

use crate::matrix::{Codebook, LabelMatrix, View};
use crate::measure::Measure;
use crate::reference::{self, RankedFacets, Ranking, ReferenceGrades};

/// Returns the value of a measure for a query that a run lacks, as trec_eval 10 has it. The value
/// is that of a ranking of a single document outside the qrels, and 0 for a measure without a
/// function.
///
/// trec_eval 10 gives a topic that a run lacks the value of this ranking.
pub fn missing_topic_value(
    measure: &Measure,
    matrix: &LabelMatrix,
    query: usize,
    view: View,
) -> f64 {
    let mut labels = vec![Codebook::NOT_IN_QRELS];
    view.apply_to_row(&mut labels);
    let exact =
        matrix.exact().map(|exact| ReferenceGrades { grades: &[], judged: exact.facts.get(query) });
    let (facts, book) = (matrix.facts().get(query), matrix.codebook());
    let judged = matrix.facet_rows().map(|grouped| grouped.facets.get(query));
    let facets = judged.map(|judged| RankedFacets { judged, named: &[] });
    let spans = matrix.span_rows().map(|spans| spans.unranked(query));
    let ranking = Ranking { labels: &labels, facts, book, exact, facets, spans, ties: &[] };
    reference::function(measure).map_or(0.0, |function| function(measure, &ranking))
}

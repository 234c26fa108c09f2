//! The top documents of the queries on which a run lost most, for the HTML page of a comparison.
//!
//! Documents are gone behind the join, so the judgments and the two runs are read once more, as
//! `laneval show` reads them. What cannot be read twice, or keeps no documents, leaves the page
//! without them: label matrices, pipes, stored scores.

use laneval::compare::Comparison;
use laneval::internals::ShownQueries;
use laneval::report::html::{LostQueries, TopDocument, TopDocuments, lost_queries};
use laneval::{Evaluator, Input};

use super::{
    evaluation_options::EvaluationOptions,
    inputs::{EvaluationInputs, RunPath},
    show::grade_text,
};

/// The number of documents of a ranking.
const DOCUMENTS: usize = 10;

/// Reads the top documents of the queries on which a run lost most; none if the inputs keep no
/// documents.
pub fn documents(
    comparison: &Comparison,
    inputs: &EvaluationInputs,
    options: &EvaluationOptions,
    evaluator: &Evaluator,
) -> Vec<TopDocuments> {
    let EvaluationInputs::Text(qrels, runs) = inputs else { return Vec::new() };
    let Some(LostQueries { runs: pair, queries }) = lost_queries(comparison) else {
        return Vec::new();
    };

    // A baseline of stored scores stands behind the runs that were given.
    let known: Vec<(usize, &RunPath)> =
        pair.into_iter().filter_map(|run| Some((run, runs.get(run)?))).collect();
    if !qrels.is_file() || !known.iter().all(|(_, run)| run.path.is_file()) {
        return Vec::new();
    }
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let ids: Vec<Vec<u8>> = queries.into_iter().map(|query| ids[query].to_vec()).collect();
    let evaluator = evaluator.clone().with_measures(comparison.measures[..1].to_vec());
    let Ok(join) = options.ranking.rule() else { return Vec::new() };
    let read = known.iter().map(|(_, run)| run.input()).collect();
    // What the comparison could read and this cannot, judgments by facet among them, has no
    // documents to show.
    let Ok(shown) =
        ShownQueries::read(&join, &evaluator, Input::from(qrels.clone()), read, &ids, Ok)
    else {
        return Vec::new();
    };
    let level = options.given().level();
    let mut rankings = Vec::new();
    for query in &shown.queries {
        for (&(run, _), shown_run) in known.iter().zip(&query.runs) {
            let documents = shown_run.ranking.iter().take(DOCUMENTS).map(|at| TopDocument {
                rank: at.rank,
                id: String::from_utf8_lossy(&at.docno).into_owned(),
                grade: grade_text(at.judgment),
                is_relevant: at.judgment.is_relevant(level),
                score: score(at.score),
            });
            rankings.push(TopDocuments {
                query: query.id.clone(),
                run: comparison.runs[run].name.clone(),
                documents: documents.collect(),
            });
        }
    }
    rankings
}

/// Formats the score of a document with four decimals, or with four digits if it is very small or
/// large.
fn score(score: f64) -> String {
    match score.abs() {
        size if size == 0.0 || (0.001..1e7).contains(&size) => format!("{score:.4}"),
        _ => format!("{score:.3e}"),
    }
}

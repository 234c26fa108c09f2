//! The first documents of the queries that a run lost most, for the page of a comparison.
//!
//! Documents are gone behind the join, so the judgments and the two runs are read once more, as
//! `laneval show` reads them. What cannot be read twice, or keeps no documents, leaves the page
//! without them: label matrices, pipes, stored scores.

use std::fs::metadata;
use std::path::Path;

use laneval::compare::Comparison;
use laneval::internals::{Shown, ShownJudgment};
use laneval::report::html::{LostQueries, TopDocument, TopDocuments, lost_queries};
use laneval::{Evaluator, Input};

use super::asked::EvaluationOptions;
use super::inputs::{EvaluationInputs, RunPath};

/// The number of documents of a ranking.
const DOCUMENTS: usize = 10;

/// Reads the first documents of the queries that a page has room for, if the inputs have documents.
pub fn documents(
    comparison: &Comparison,
    inputs: &EvaluationInputs,
    asked: &EvaluationOptions,
    evaluator: &Evaluator,
) -> Vec<TopDocuments> {
    let EvaluationInputs::Text(qrels, runs) = inputs else { return Vec::new() };
    let Some(LostQueries { runs: pair, queries }) = lost_queries(comparison) else {
        return Vec::new();
    };
    let is_file = |path: &Path| metadata(path).is_ok_and(|of| of.is_file());
    // A baseline of stored scores stands behind the runs that were given.
    let known: Vec<(usize, &RunPath)> =
        pair.into_iter().filter_map(|run| Some((run, runs.get(run)?))).collect();
    if !is_file(qrels) || !known.iter().all(|(_, run)| is_file(&run.path)) {
        return Vec::new();
    }
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let ids: Vec<Vec<u8>> = queries.into_iter().map(|query| ids[query].to_vec()).collect();
    let evaluator = evaluator.clone().with_measures(comparison.measures[..1].to_vec());
    let Ok(join) = asked.ranking.rule(asked.files) else { return Vec::new() };
    let read = known.iter().map(|(_, run)| run.input()).collect();
    // What the comparison could read and this cannot, judgments by facet among them, has no
    // documents to show.
    let Ok(shown) = Shown::read(&join, &evaluator, (Input::from(qrels.clone()), read), &ids, Ok)
    else {
        return Vec::new();
    };
    let of_query = |query: laneval::internals::ShownQuery| {
        let id = query.id;
        let rankings =
            known.iter().zip(query.runs).map(move |(&(run, _), of)| (run, id.clone(), of.ranking));
        rankings.collect::<Vec<_>>()
    };
    let level = asked.relevance();
    let rankings = shown.queries.into_iter().flat_map(of_query);
    let written = rankings.map(|(run, query, ranking)| TopDocuments {
        query,
        run: comparison.runs[run].name.clone(),
        documents: ranking
            .iter()
            .take(DOCUMENTS)
            .map(|at| TopDocument {
                rank: at.rank,
                id: String::from_utf8_lossy(&at.docno).into_owned(),
                grade: grade(at.judgment),
                is_relevant: at.judgment.is_relevant(level),
                score: score(at.score),
            })
            .collect(),
    });
    written.collect()
}

/// Writes a grade, or a dash for a document that the judgments do not name.
fn grade(judgment: ShownJudgment) -> String {
    match judgment {
        ShownJudgment::None => "–".to_owned(),
        ShownJudgment::Negative => "< 0".to_owned(),
        ShownJudgment::Grade(grade) => grade.to_string(),
        ShownJudgment::Gold { new, of } => format!("+{new} of {of}"),
    }
}

/// Writes a score with four decimals, or with four digits if it is very small or large.
fn score(score: f64) -> String {
    match score.abs() {
        size if size == 0.0 || (0.001..1e7).contains(&size) => format!("{score:.4}"),
        _ => format!("{score:.3e}"),
    }
}

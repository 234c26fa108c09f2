//! The explanation of queries by `laneval show`, and what all its formats share.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use laneval::internals::{ShownJudgment, ShownQueries, ShownQuery, ShownRun};
use laneval::options::TieRule;
use laneval::{ScoreType, View};

use laneval::text::QueryTexts;

/// The queries that `laneval show` explains, with their rankings and values, and the options in
/// effect.
pub struct Explanation {
    pub shown: ShownQueries,
    /// The lowest grade of the relevant documents.
    pub rel: f64,
    pub ties: TieRule,
    pub score: ScoreType,
    pub view: View,
    /// The relevant documents that measures know, as `--relevant-from` names them.
    pub relevant_from: String,
    /// Texts of the queries, as far as they are known.
    pub titles: QueryTexts,
}

/// Returns the relevant documents of a query that a run lacks, the highest grades first.
pub fn missed_relevant<'a>(
    query: &'a ShownQuery,
    run: &ShownRun,
    rel: f64,
) -> Vec<(&'a [u8], f64)> {
    let found: HashSet<&[u8]> = run.ranking.iter().map(|ranked| &ranked.docno[..]).collect();
    let mut missed = relevant(query, rel);
    missed.retain(|(docno, _)| !found.contains(docno));
    missed
}

/// Returns the relevant documents of a query with their grades, the highest first, then by id.
pub fn relevant(query: &ShownQuery, rel: f64) -> Vec<(&[u8], f64)> {
    let judged = query.judged.iter().flatten();
    let mut relevant: Vec<(&[u8], f64)> = judged
        .filter_map(|(docno, judgment)| match judgment {
            ShownJudgment::Grade(grade) if *grade >= rel => Some((&docno[..], *grade)),
            _ => None,
        })
        .collect();
    relevant.sort_by(|first, second| second.1.total_cmp(&first.1).then(first.0.cmp(second.0)));
    relevant
}

/// A relevant document that stands at different ranks in different runs.
pub struct RankDifference<'a> {
    pub docno: &'a [u8],
    pub grade: f64,
    /// The rank of the document in each run; `None` if a run lacks the document.
    pub ranks: Vec<Option<u32>>,
    /// The largest rank less the smallest. In a run without the document, its rank is the rank
    /// behind the deepest ranking.
    pub spread: u32,
}

/// Returns the relevant documents that do not stand at the same rank in all runs, the largest
/// differences first.
pub fn differences(query: &ShownQuery, rel: f64) -> Vec<RankDifference<'_>> {
    let behind = query.runs.iter().map(|run| run.ranking.len() as u32).max().unwrap_or(0) + 1;
    let mut all_ranks: Vec<HashMap<&[u8], u32>> = Vec::new();
    for run in &query.runs {
        let ranked = run.ranking.iter().map(|ranked| (&ranked.docno[..], ranked.rank));
        all_ranks.push(ranked.collect());
    }
    let mut differences = Vec::new();
    for (docno, grade) in relevant(query, rel) {
        let ranks: Vec<Option<u32>> =
            all_ranks.iter().map(|ranks| ranks.get(docno).copied()).collect();
        let places = ranks.iter().map(|rank| rank.unwrap_or(behind));
        let spread = places.clone().max().unwrap_or(0) - places.min().unwrap_or(0);
        if spread > 0 {
            differences.push(RankDifference { docno, grade, ranks, spread });
        }
    }
    // A stable sort: equal differences keep the order of grades.
    differences.sort_by_key(|difference| Reverse(difference.spread));
    differences
}

/// Returns the grade in the judgment of a document, if the judgment has one.
pub fn grade(judgment: ShownJudgment) -> Option<f64> {
    match judgment {
        ShownJudgment::Grade(grade) => Some(grade),
        ShownJudgment::None | ShownJudgment::Negative | ShownJudgment::Gold { .. } => None,
    }
}

/// Returns a word for a judgment, such as `graded`; of a passage, its new relevant positions, as
/// `+3 of 5`.
pub fn judgment(judgment: ShownJudgment) -> Cow<'static, str> {
    match judgment {
        ShownJudgment::None => "none".into(),
        ShownJudgment::Negative => "negative".into(),
        ShownJudgment::Grade(_) => "graded".into(),
        ShownJudgment::Gold { new, total } => format!("+{new} of {total}").into(),
    }
}

//! The explanation, and what all its formats share.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use laneval::internals::{InRun, Shown, ShownJudgment, ShownQuery};
use laneval::{Known, ScoreType, View};

use crate::choice::TieRule;
use crate::titles::Titles;

/// The explanation, and the options that it was asked for with.
pub struct Explanation {
    pub shown: Shown,
    /// The lowest grade of the relevant documents.
    pub rel: f64,
    pub ties: TieRule,
    pub score: ScoreType,
    pub view: View,
    pub known: Known,
    /// Texts of the queries, as far as they are known.
    pub titles: Titles,
}

/// Returns the relevant documents of a query that a run lacks, the highest grades first.
pub fn missed<'a>(query: &'a ShownQuery, run: &InRun, rel: f64) -> Vec<(&'a [u8], f64)> {
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
    relevant.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
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
    let ranks = |run: &InRun| {
        let ranked = run.ranking.iter().map(|ranked| (ranked.docno.clone(), ranked.rank));
        ranked.collect::<HashMap<Vec<u8>, u32>>()
    };
    let ranks: Vec<_> = query.runs.iter().map(ranks).collect();
    let difference = |(docno, grade)| {
        let ranks: Vec<Option<u32>> = ranks.iter().map(|ranks| ranks.get(docno).copied()).collect();
        let all = || ranks.iter().map(|rank| rank.unwrap_or(behind));
        let spread = all().max().unwrap_or(0) - all().min().unwrap_or(0);
        RankDifference { docno, grade, ranks, spread }
    };
    let mut differences: Vec<RankDifference> =
        relevant(query, rel).into_iter().map(difference).collect();
    differences.retain(|difference| difference.spread > 0);
    differences.sort_by_key(|difference| Reverse(difference.spread));
    differences
}

/// Returns the grade of a document, if it has one.
pub fn grade(judgment: ShownJudgment) -> Option<f64> {
    match judgment {
        ShownJudgment::Grade(grade) => Some(grade),
        ShownJudgment::None | ShownJudgment::Negative | ShownJudgment::Gold { .. } => None,
    }
}

/// Names a judgment in a word; of a passage it says how much gold is new, and of how much.
pub fn judgment(judgment: ShownJudgment) -> Cow<'static, str> {
    match judgment {
        ShownJudgment::None => "none".into(),
        ShownJudgment::Negative => "negative".into(),
        ShownJudgment::Grade(_) => "graded".into(),
        ShownJudgment::Gold { new, of } => format!("+{new} of {of}").into(),
    }
}

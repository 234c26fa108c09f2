//! The overlap of judgments and a run, counted for `laneval info`, with what only one of them has.

use std::io::{self, Write};

use laneval::labels::Codebook;
use laneval::{Error, Evaluator, Join, LabelMatrix, Qrels, QuerySet, RunInput};
use serde::Serialize;

use super::{
    field,
    judgments::{JudgmentCounts, RELEVANT},
    spread::NamedQueries,
};
use crate::style::thousands;

/// Counts of the queries and documents that judgments and a run share, and of those on one side
/// only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairCounts {
    /// The judged queries that the run lacks.
    pub only_judged: NamedQueries,
    /// The queries of the run that are not judged.
    pub only_in_run: NamedQueries,
    /// The means of Judged@10 and Judged@100 over the judged queries of the run.
    pub judged_10: f64,
    pub judged_100: f64,
    /// The number of judged documents that the run retrieves, and the number that the run misses.
    pub judged_retrieved: u64,
    pub judged_missed: u64,
    /// The number of relevant documents that the run retrieves, and the number that the run misses.
    pub relevant_retrieved: u64,
    pub relevant_missed: u64,
}

/// Joins a run with judgments, and counts the queries and documents that they share. `counts` has
/// the counts of the judgments.
pub fn read(
    join: &Join,
    qrels: &Qrels,
    counts: &JudgmentCounts,
    run: RunInput,
) -> Result<PairCounts, Error> {
    let matrix = join.runs(qrels, [run])?;
    let (judged, relevant) = retrieved(&matrix);
    let shares = Evaluator::new(["Judged@10", "Judged@100"])?
        .with_queries(QuerySet::Common)
        .evaluate(&matrix)?;
    let [judged_10, judged_100] = [0, 1].map(|at| shares.runs[0].average(at).unwrap_or(0.0));
    let info = &matrix.runs()[0];
    let missing = matrix.queries().iter().zip(matrix.depths()).filter(|&(_, &depth)| depth == 0);
    Ok(PairCounts {
        only_judged: NamedQueries::from_ids(missing.map(|(id, _)| id)),
        only_in_run: NamedQueries::from(&info.ignored),
        judged_10,
        judged_100,
        judged_retrieved: judged,
        judged_missed: counts.judgments - judged,
        relevant_retrieved: relevant,
        relevant_missed: counts.relevant - relevant,
    })
}

/// Counts the judged and the relevant documents in the rankings of a matrix.
fn retrieved(matrix: &LabelMatrix) -> (u64, u64) {
    let (book, mut judged, mut relevant) = (matrix.codebook(), 0, 0);
    for &code in matrix.tile_bytes() {
        judged += u64::from(code > Codebook::NOT_IN_QRELS);
        relevant += u64::from(book.grade(code).is_some_and(|grade| grade >= RELEVANT));
    }
    match matrix.exact() {
        None => (judged, relevant),
        Some(exact) => {
            let good = exact.rows.values().iter().filter(|&&grade| grade >= RELEVANT);
            (judged, good.count() as u64)
        }
    }
}

impl PairCounts {
    /// Writes the overlap of judgments and a run as text for people.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        field(to, "only judged", &self.only_judged.to_string())?;
        field(to, "only in run", &self.only_in_run.to_string())?;
        let shares =
            [self.judged_10, self.judged_100].map(|share| format!("{:.1} %", 100.0 * share));
        field(
            to,
            "judged share",
            &format!("{} of the first 10, {} of the first 100", shares[0], shares[1]),
        )?;
        for (name, retrieved, missed) in [
            ("judged", self.judged_retrieved, self.judged_missed),
            ("relevant", self.relevant_retrieved, self.relevant_missed),
        ] {
            let [found, all, missed] = [retrieved, retrieved + missed, missed].map(thousands);
            let text = format!("{found} of {all} documents retrieved, {missed} missed");
            field(to, name, &text)?;
        }
        Ok(())
    }
}

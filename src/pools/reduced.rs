//! The averages of all runs evaluated with only some of the judgments.
//!
//! Removed judgments leave no trace: unused grades leave the codebook, and a query without
//! judgments is no judged query. So values have the bits of an evaluation with the smaller file of
//! judgments.

use crate::error::Result;
use crate::evaluate::Evaluator;
use crate::ids::Ids;
use crate::matrix::code::{NEGATIVE, NOT_IN_QRELS};
use crate::matrix::{
    Codebook, ExactHistograms, GradeHistograms, LabelMatrix, MatrixBuilder, StagedPiece, StagedRow,
    StagedRun,
};

use super::pool_runs::PoolHits;

/// The most labels that are made at once, unless a single run has more.
const MOST_LABELS: u64 = 16 << 20;

/// The averages of all runs, as `[run][measure]`; `None` where no query counts.
pub type RunAverages = Vec<Vec<Option<f64>>>;

/// The judgments that are left once some judged documents are removed, with the codes of their
/// grades.
struct ReducedQrels<'f> {
    found: &'f PoolHits,
    book: Codebook,
    /// The queries that have a judgment left, with their ids, facts and exact grades.
    queries: Vec<usize>,
    ids: Ids,
    facts: GradeHistograms,
    exact: Option<ExactHistograms>,
    /// The code of each judged document of all queries.
    codes: Vec<u8>,
}

/// Evaluates all runs without the judged documents for which `is_out` is true, and returns their
/// averages.
pub fn averages(
    found: &PoolHits,
    evaluator: &Evaluator,
    is_out: impl Fn(usize) -> bool,
) -> Result<RunAverages> {
    averages_in_parts(found, evaluator, is_out, MOST_LABELS)
}

/// Evaluates all runs with fewer judgments, in matrices of about `most` labels at once, and returns
/// their averages.
fn averages_in_parts(
    found: &PoolHits,
    evaluator: &Evaluator,
    is_out: impl Fn(usize) -> bool,
    most: u64,
) -> Result<RunAverages> {
    let reduced = ReducedQrels::new(found, is_out)?;
    let runs = found.runs.len();
    if reduced.queries.is_empty() {
        return Ok(vec![vec![None; evaluator.measures().len()]; runs]);
    }
    let mut averages = Vec::with_capacity(runs);
    while averages.len() < runs {
        let matrix = reduced.matrix(averages.len(), most)?;
        let scores = evaluator.evaluate(&matrix)?;
        averages.extend(scores.runs.iter().map(|run| {
            (0..evaluator.measures().len()).map(|measure| run.average(measure)).collect::<Vec<_>>()
        }));
    }
    Ok(averages)
}

impl<'f> ReducedQrels<'f> {
    fn new(found: &'f PoolHits, is_out: impl Fn(usize) -> bool) -> Result<Self> {
        let grades = &found.grades;
        let left = (0..grades.len()).filter(|&document| !is_out(document));
        let book = Codebook::new(left.map(|document| grades[document]))?;
        let (mut ids, mut facts, mut queries) =
            (Ids::default(), GradeHistograms::new(), Vec::new());
        let mut exact = (!book.is_exact()).then(ExactHistograms::default);
        let mut codes = vec![NOT_IN_QRELS; grades.len()];
        let mut documents = Vec::new();
        for query in 0..found.queries.len() {
            documents.clear();
            documents.extend(found.facets.documents(query).filter(|&document| !is_out(document)));
            if documents.is_empty() {
                continue;
            }
            for &document in &documents {
                // The book is made of these grades, so every one of them has a code.
                codes[document] = book.code(grades[document]).unwrap_or(NEGATIVE);
            }
            queries.push(query);
            ids.push(found.queries.get(query));
            facts.push(documents.iter().map(|&document| codes[document]));
            if let Some(exact) = &mut exact {
                let known = documents.iter().map(|&document| grades[document]);
                exact.push(&mut known.filter(|&grade| grade >= 0.0).collect::<Vec<_>>());
            }
        }
        Ok(Self { found, book, queries, ids, facts, exact, codes })
    }

    /// Makes a label matrix with the remaining judgments of as many runs from `first` on as `most`
    /// labels allow.
    fn matrix(&self, first: usize, most: u64) -> Result<LabelMatrix> {
        let (ids, facts) = (self.ids.clone(), self.facts.clone());
        let (rule, fingerprint) = (self.found.rule.clone(), self.found.fingerprint);
        let mut builder = MatrixBuilder::new(self.book.clone(), rule, fingerprint, ids, facts);
        builder.exact = self.exact.clone();
        let mut labels = 0;
        for (run, info) in self.found.runs.iter().enumerate().skip(first) {
            let depths = self.queries.iter().map(|&query| self.found.row(run, query));
            labels += depths.map(|row| u64::from(self.found.depths[row])).sum::<u64>();
            // The first run is taken whatever its size, because every matrix needs a run.
            if run > first && labels > most {
                break;
            }
            let pieces = vec![self.piece(run)];
            builder.push(StagedRun { info: info.clone(), pieces, ..StagedRun::default() });
        }
        builder.finish()
    }

    /// Returns the rankings of a run, with the labels of the remaining judgments.
    fn piece(&self, run: usize) -> StagedPiece {
        let (found, grades) = (self.found, &self.found.grades);
        let mut piece = StagedPiece::default();
        for (number, &query) in (0..).zip(&self.queries) {
            let row = found.row(run, query);
            let (depth, start, first) =
                (found.depths[row], piece.labels.len(), found.facets.documents(query).start);
            if depth == 0 {
                continue;
            }
            piece.labels.resize(start + depth as usize, NOT_IN_QRELS);
            for at in found.rows.row(row) {
                let document = first + at.number as usize;
                let code = self.codes[document];
                piece.labels[start + at.rank as usize] = code;
                if self.exact.is_some() && code > NEGATIVE {
                    piece.exact.push(grades[document]);
                }
            }
            piece.rows.push(StagedRow { query: number, depth });
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Join;
    use crate::join::qrels::Qrels;

    #[test]
    fn parts_of_the_runs_change_nothing() {
        let judged =
            (0..300).map(|at| (format!("q{}", at % 3), format!("d{at}"), f64::from(at % 7) - 1.0));
        let qrels = Qrels::new(judged).unwrap().numbered().unwrap();
        let run = |run: usize| {
            let results =
                move |at: usize| (format!("q{}", at % 4), format!("d{at}"), (at * run % 97) as f64);
            (format!("r{run}"), (0..300).filter(move |at| at % run != 1).map(results))
        };
        let found =
            PoolHits::from_matrix(Join::default().rankings(&qrels, (2..7).map(run)).unwrap())
                .unwrap();
        let evaluator = Evaluator::new(["AP", "nDCG@10"]).unwrap();
        let is_out = |document: usize| document.is_multiple_of(5);
        let whole = averages(&found, &evaluator, is_out).unwrap();
        assert_eq!(whole.len(), 5);
        for most in [1, 300, 500] {
            assert_eq!(
                averages_in_parts(&found, &evaluator, is_out, most).unwrap(),
                whole,
                "{most}"
            );
        }
        assert_ne!(averages(&found, &evaluator, |_| false).unwrap(), whole);
        assert_eq!(averages(&found, &evaluator, |_| true).unwrap(), vec![vec![None; 2]; 5]);
    }
}

//! The values of all runs with some of the judgments.
//!
//! Removed judgments leave no trace: unused grades leave the codebook, and a query without
//! judgments is no judged query. So values have the bits of an evaluation with the smaller file of
//! judgments.

use crate::error::Result;
use crate::evaluate::Evaluator;
use crate::ids::Ids;
use crate::matrix::code::{NEGATIVE, UNPOOLED};
use crate::matrix::{
    Codebook, ExactFacts, Facts, LabelMatrix, MatrixBuilder, StagedPiece, StagedRow, StagedRun,
};

use super::found::FoundDocuments;
use crate::scores::RunScores;

/// The most labels that are made at once, unless a single run has more.
const MOST_LABELS: u64 = 16 << 20;

/// The averages of all runs: `[run][measure]`; `None` where no query counts.
pub type RunAverages = Vec<Vec<Option<f64>>>;

/// Some of the judgments.
struct Reduced<'f> {
    found: &'f FoundDocuments,
    book: Codebook,
    /// The queries that have a judgment left, with their ids, facts and exact grades.
    queries: Vec<usize>,
    ids: Ids,
    facts: Facts,
    exact: Option<ExactFacts>,
    /// The code of each judged document of all queries.
    codes: Vec<u8>,
}

/// Returns the averages of all runs with the judgments of which `is_out` is false.
pub fn averages(
    found: &FoundDocuments,
    evaluator: &Evaluator,
    is_out: impl Fn(usize) -> bool,
) -> Result<RunAverages> {
    averages_in_parts(found, evaluator, is_out, MOST_LABELS)
}

/// Returns the averages of runs, of which `most` labels are made at once.
fn averages_in_parts(
    found: &FoundDocuments,
    evaluator: &Evaluator,
    is_out: impl Fn(usize) -> bool,
    most: u64,
) -> Result<RunAverages> {
    let reduced = Reduced::of(found, is_out)?;
    let runs = found.runs.len();
    if reduced.queries.is_empty() {
        return Ok(vec![vec![None; evaluator.measures().len()]; runs]);
    }
    let mut averages = Vec::with_capacity(runs);
    while averages.len() < runs {
        let matrix = reduced.matrix(averages.len(), most)?;
        let scores = evaluator.evaluate(&matrix)?;
        let of_run = |run: &RunScores| {
            (0..evaluator.measures().len()).map(|measure| run.average(measure)).collect()
        };
        averages.extend(scores.runs.iter().map(of_run));
    }
    Ok(averages)
}

impl<'f> Reduced<'f> {
    fn of(found: &'f FoundDocuments, is_out: impl Fn(usize) -> bool) -> Result<Self> {
        let grades = &found.grades;
        let left =
            |documents: std::ops::Range<usize>| documents.filter(|&document| !is_out(document));
        let book = Codebook::new(left(0..grades.len()).map(|document| grades[document]))?;
        let code = |grade: f64| book.code(grade).unwrap_or(NEGATIVE);
        let (mut ids, mut facts, mut queries) = (Ids::default(), Facts::new(), Vec::new());
        let mut exact = (!book.is_exact()).then(ExactFacts::default);
        let mut codes = vec![UNPOOLED; grades.len()];
        for query in 0..found.queries.len() {
            let documents = || left(found.of.documents(query));
            if documents().next().is_none() {
                continue;
            }
            documents().for_each(|document| codes[document] = code(grades[document]));
            queries.push(query);
            ids.push(found.queries.get(query));
            facts.push(documents().map(|document| codes[document]));
            if let Some(exact) = &mut exact {
                let of_query =
                    documents().map(|document| grades[document]).filter(|&grade| grade >= 0.0);
                exact.push(&mut of_query.collect::<Vec<_>>());
            }
        }
        Ok(Reduced { found, book, queries, ids, facts, exact, codes })
    }

    /// Makes a matrix of the runs from `first` on, as many as may be made at once.
    fn matrix(&self, first: usize, most: u64) -> Result<LabelMatrix> {
        let (ids, facts) = (self.ids.clone(), self.facts.clone());
        let (rule, fingerprint) = (self.found.rule.clone(), self.found.fingerprint);
        let builder = MatrixBuilder::new(self.book.clone(), rule, fingerprint, ids, facts);
        let (mut builder, mut labels) = (builder.with_exact(self.exact.clone()), 0);
        for (run, info) in self.found.runs.iter().enumerate().skip(first) {
            let depth = |&query: &usize| u64::from(self.found.depths[self.found.row(run, query)]);
            labels += self.queries.iter().map(depth).sum::<u64>();
            if run > first && labels > most {
                break;
            }
            let pieces = vec![self.piece(run)];
            builder.push(StagedRun { info: info.clone(), pieces, ..StagedRun::default() });
        }
        builder.finish()
    }

    /// The rankings of a run.
    fn piece(&self, run: usize) -> StagedPiece {
        let (found, grades) = (self.found, &self.found.grades);
        let mut piece = StagedPiece::default();
        for (number, &query) in (0..).zip(&self.queries) {
            let row = found.row(run, query);
            let (depth, start, first) =
                (found.depths[row], piece.labels.len(), found.of.documents(query).start);
            if depth == 0 {
                continue;
            }
            piece.labels.resize(start + depth as usize, UNPOOLED);
            for at in found.rows.of(row) {
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
            FoundDocuments::of(Join::default().rankings(&qrels, (2..7).map(run)).unwrap()).unwrap();
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

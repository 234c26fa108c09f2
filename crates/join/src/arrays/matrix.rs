//! Rankings in memory as a label matrix: for groups of queries, a GPU, a file, or repeated evaluation.

use super::{Coder, Rankings, Scratch};
use crate::error::{Error, Result, printable};
use crate::label::{
    Block, ExactFacts, Facts, IdealOf, Ids, LabelMatrix, MatrixBuilder, RankingRule, RunInfo, StagedPiece,
    StagedRow, StagedRun, Ties,
};

impl LabelMatrix {
    /// Makes a matrix of rankings, as a run called `name`. A ranking without an id is called by its index, from 0, with as many digits as
    /// the last index.
    ///
    /// ```
    /// use laneval::arrays::{Rankings, Shape};
    /// use laneval::{Evaluator, LabelMatrix};
    /// let rankings = Rankings::labels(&[0u8, 1, 2, 0], Shape::dense(2))?;
    /// let matrix = LabelMatrix::of_rankings("mine", &rankings)?;
    /// assert_eq!(Evaluator::new(["RR"])?.evaluate(&matrix)?.average("mine", "RR"), Some(0.75));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// A fault of the arrays, with its row and place; an id that two rankings have; more than 2³² rankings.
    pub fn of_rankings(name: &str, rankings: &Rankings<'_>) -> Result<Self> {
        let book = rankings.codebook()?;
        let rows = rankings.len();
        let ids = match rankings.row_ids() {
            Some(ids) => ids.clone(),
            None => numbers(rows),
        };
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| ids.get(row));
        if let Some(pair) = order.windows(2).find(|pair| ids.get(pair[0]) == ids.get(pair[1])) {
            let id = printable(ids.get(pair[0]));
            return Err(Error::Unanswerable(format!("the id {id} is there twice")));
        }
        let (mut facts, mut piece) = (Facts::new(), StagedPiece::default());
        let mut exact = ExactFacts::default();
        let (coder, mut scratch, mut block) = (Coder::new(&book), Scratch::default(), Block::default());
        for (row, query) in order.iter().zip(0..) {
            block.clear();
            rankings.fill(&mut block, *row..row + 1, &coder, usize::MAX, &mut scratch)?;
            facts.append(block.facts());
            if let Some(of_row) = block.exact(&book) {
                exact.append(&of_row.facts);
                piece.exact.extend_from_slice(of_row.rows.of(0));
            }
            let labels = block.labels(0);
            if !labels.is_empty() {
                piece.rows.push(StagedRow { query, depth: labels.len() as u32 });
                piece.labels.extend_from_slice(labels);
            }
        }
        let ids: Ids = order.iter().map(|&row| ids.get(row)).collect();
        let rule = RankingRule { ties: Ties::Input, ..RankingRule::default() };
        let ideal = if rankings.are_ideals_retrieved() { IdealOf::Retrieved } else { IdealOf::Judgments };
        let exact = (!book.is_exact()).then_some(exact);
        let mut matrix = MatrixBuilder::new(book, rule, 0, ids, facts).with_ideal(ideal).with_exact(exact);
        let info =
            RunInfo { name: name.to_owned(), results: piece.labels.len() as u64, ..RunInfo::default() };
        matrix.push(StagedRun { info, pieces: vec![piece], ..StagedRun::default() });
        matrix.finish()
    }
}

/// The numbers from 0, each with as many digits as the last, so that they are in bytewise order.
fn numbers(count: usize) -> Ids {
    let digits = count.saturating_sub(1).to_string().len();
    let mut ids = Ids::default();
    (0..count).for_each(|number| ids.push(format!("{number:0digits$}").as_bytes()));
    ids
}

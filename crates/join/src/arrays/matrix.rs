//! Rankings in memory as a label matrix: for groups of queries, a GPU, a file, or repeated
//! evaluation.

use super::id_arrays::row_of;
use super::numbers::ArrayNumber;
use super::{Coder, RankingSource, Rankings, Scratch};
use crate::error::{Error, Result, printable};
use crate::ids::Ids;
use crate::matrix::code::MAX_GRADES;
use crate::matrix::{
    Block, ExactFacts, Facts, LabelMatrix, MatrixBuilder, RunInfo, ScoresSeen, StagedPiece,
    StagedRow, StagedRun, StagedTies,
};
use crate::numbers::with_numbers;
use crate::rule::{IdealOf, RankingRule, Ties};

impl LabelMatrix {
    /// Makes a matrix of rankings, as a run called `name`. A ranking without an id is called by its
    /// index, from 0, with as many digits as the last index.
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
    /// A fault of the arrays, with its row and place; two rankings with an equal id; more than 2³²
    /// rankings.
    pub fn of_rankings(name: &str, rankings: &Rankings<'_>) -> Result<Self> {
        Self::staged(name, rankings, None)
    }

    /// Makes a matrix as [`LabelMatrix::of_rankings`] does, and records tied documents, so that the
    /// matrix can be evaluated over all orders of ties. Scores are compared as the numbers of their
    /// array, without rounding.
    ///
    /// ```
    /// use laneval::arrays::{Rankings, Shape};
    /// use laneval::{Evaluator, LabelMatrix, TiedValue};
    /// let rankings = Rankings::scores(&[0.5f32, 0.5, 0.1], &[0u8, 1, 0], Shape::dense(3))?;
    /// let matrix = LabelMatrix::of_tied_rankings("mine", &rankings)?;
    /// let evaluator = Evaluator::new(["RR"])?.with_tied(TiedValue::Average);
    /// assert_eq!(evaluator.evaluate(&matrix)?.average("mine", "RR"), Some(0.75));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`LabelMatrix::of_rankings`]; rankings without scores; more than 253 distinct
    /// grades.
    pub fn of_tied_rankings(name: &str, rankings: &Rankings<'_>) -> Result<Self> {
        let message = match rankings.source {
            RankingSource::Scores { .. } if rankings.codebook()?.is_exact() => {
                return Self::staged(name, rankings, Some(StagedTies::default()));
            }
            RankingSource::Scores { .. } => format!(
                "the grades have more than {MAX_GRADES} distinct values, over which the orders of \
                 equal scores cannot be evaluated: round \
                 them, or take the order of the ranking"
            ),
            _ => "rankings without scores do not know which of their documents are tied: scores \
                 were expected"
                .to_owned(),
        };
        Err(Error::Unanswerable(message))
    }

    fn staged(name: &str, rankings: &Rankings<'_>, mut tied: Option<StagedTies>) -> Result<Self> {
        if rankings.are_within() {
            return Err(Error::Unanswerable(
                "distances of found neighbours give values of NNR alone, and no matrix: leave them \
                 out, or evaluate the rankings"
                    .to_owned(),
            ));
        }
        let book = rankings.codebook()?;
        let rows = rankings.len();
        let ids = match rankings.row_ids() {
            Some(ids) => ids.clone(),
            None => numbers(rows, rankings.dropped_rows()),
        };
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| ids.get(row));
        if let Some(pair) = order.windows(2).find(|pair| ids.get(pair[0]) == ids.get(pair[1])) {
            let id = printable(ids.get(pair[0]));
            return Err(Error::Unanswerable(format!("the id {id} occurs twice")));
        }
        let (mut facts, mut piece) = (Facts::new(), StagedPiece::default());
        let mut exact = ExactFacts::default();
        let (coder, mut scratch, mut block) =
            (Coder::new(&book), Scratch::default(), Block::default());
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
            if let Some(tied) = &mut tied {
                rankings.each_tie(*row, |start, length| {
                    tied.note(query, start as u32, &labels[start..start + length], length);
                });
            }
        }
        let ids: Ids = order.iter().map(|&row| ids.get(row)).collect();
        let rule = RankingRule { ties: Ties::Input, ..RankingRule::default() };
        let ideal =
            if rankings.are_ideals_retrieved() { IdealOf::Retrieved } else { IdealOf::Judgments };
        let exact = (!book.is_exact()).then_some(exact);
        let mut matrix =
            MatrixBuilder::new(book, rule, 0, ids, facts).with_ideal(ideal).with_exact(exact);
        // Where all orders of equal scores are evaluated, none decides.
        let seen = if tied.is_some() { ScoresSeen::default() } else { scratch.seen };
        let (name, results) = (name.to_owned(), piece.labels.len() as u64);
        let info = RunInfo { name, results, seen, ..RunInfo::default() };
        matrix.push(StagedRun { info, pieces: vec![piece], tied });
        matrix.finish()
    }
}

impl Rankings<'_> {
    /// Calls `note` with the first rank, from 0, and the number of the documents of a row that have
    /// equal scores, two at least, if there are scores.
    fn each_tie(&self, row: usize, note: impl FnMut(usize, usize)) {
        if let RankingSource::Scores { scores, layout, .. } = &self.source {
            with_numbers!(*scores, scores => each_tie(&scores[layout.row(row)], note));
        }
    }
}

fn each_tie<N: ArrayNumber>(scores: &[N], mut note: impl FnMut(usize, usize)) {
    let mut keys: Vec<N::Key> = scores.iter().map(|score| score.key()).collect();
    keys.sort_unstable();
    let mut start = 0;
    for equal in keys.chunk_by(|one, other| one == other) {
        if equal.len() > 1 {
            note(start, equal.len());
        }
        start += equal.len();
    }
}

/// The numbers of rows from 0, as ids. Each number has as many digits as the last, so that the ids
/// are in bytewise order. Rows in `dropped` are not rankings; `count` rows are left.
fn numbers(count: usize, dropped: &[usize]) -> Ids {
    let digits = (count + dropped.len()).saturating_sub(1).to_string().len();
    let mut ids = Ids::default();
    (0..count)
        .for_each(|ranking| ids.push(format!("{:0digits$}", row_of(dropped, ranking)).as_bytes()));
    ids
}

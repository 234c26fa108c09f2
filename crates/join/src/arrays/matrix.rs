//! Label matrices made from rankings in memory: for groups of queries, a GPU, a file, or repeated
//! evaluation.

use super::{
    GradeArrays, GradeEncoder, Rankings, Scratch, id_arrays::ranking_row, numbers::ArrayNumber,
};
use crate::error::{Result, printable};
use crate::ids::Ids;
use crate::matrix::{
    Block, ExactHistograms, GradeHistograms, LabelMatrix, MatrixBuilder, RunInfo, ScoreWarnings,
    StagedPiece, StagedRow, StagedRun, StagedTies, code::MAX_GRADES,
};
use crate::numbers::with_numbers;
use crate::rule::{IdealSource, RankingRule, TieBreak};

impl LabelMatrix {
    /// Makes a label matrix from rankings in the caller's memory, as a run called `name`. A ranking
    /// without an id is called by its index, from 0, with as many digits as the last index.
    ///
    /// ```
    /// use laneval::arrays::{Rankings, Shape};
    /// use laneval::{Evaluator, LabelMatrix};
    /// let rankings = Rankings::labels(&[0u8, 1, 2, 0], Shape::dense(2))?;
    /// let matrix = LabelMatrix::from_rankings("mine", &rankings)?;
    /// assert_eq!(Evaluator::new(["RR"])?.evaluate(&matrix)?.average("mine", "RR"), Some(0.75));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// A fault of the arrays, with its row and place; two rankings with an equal id; more than 2³²
    /// rankings.
    pub fn from_rankings(name: &str, rankings: &Rankings<'_>) -> Result<Self> {
        Self::staged(name, rankings, None)
    }

    /// Makes a label matrix from rankings as [`LabelMatrix::from_rankings`] does, and records tied
    /// documents, so that it can be evaluated over all orders of ties. Scores are compared as the
    /// numbers of their array, without rounding.
    ///
    /// ```
    /// use laneval::arrays::{Rankings, Shape};
    /// use laneval::{Evaluator, LabelMatrix, TiedValue};
    /// let rankings = Rankings::scores(&[0.5f32, 0.5, 0.1], &[0u8, 1, 0], Shape::dense(3))?;
    /// let matrix = LabelMatrix::from_rankings_with_ties("mine", &rankings)?;
    /// let evaluator = Evaluator::new(["RR"])?.with_tied_value(TiedValue::Average);
    /// assert_eq!(evaluator.evaluate(&matrix)?.average("mine", "RR"), Some(0.75));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors The errors of [`LabelMatrix::from_rankings`]; rankings without scores; more than
    /// 253 distinct grades.
    pub fn from_rankings_with_ties(name: &str, rankings: &Rankings<'_>) -> Result<Self> {
        reject_if!(
            !rankings.arrays().is_ok_and(|arrays| arrays.scores.is_some()),
            "rankings without scores do not know which of their documents are tied: scores \
             were expected"
        );
        reject_if!(
            !rankings.codebook()?.is_exact(),
            "the grades have more than {MAX_GRADES} distinct values, over which the orders of \
             equal scores cannot be evaluated: round them, or take the order of the ranking"
        );
        Self::staged(name, rankings, Some(StagedTies::default()))
    }

    fn staged(name: &str, rankings: &Rankings<'_>, mut tied: Option<StagedTies>) -> Result<Self> {
        reject_if!(
            rankings.uses_distances(),
            "distances of found neighbours give values of NNR alone, and no matrix: leave them \
             out, or evaluate the rankings"
        );
        let book = rankings.codebook()?;
        let rows = rankings.len();
        let ids = match rankings.row_ids() {
            Some(ids) => ids.clone(),
            None => numbers(rows, rankings.dropped_rows()),
        };
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| ids.get(row));
        if let Some(pair) = order.windows(2).find(|pair| ids.get(pair[0]) == ids.get(pair[1])) {
            reject!("the id {} occurs twice", printable(ids.get(pair[0])));
        }
        let (mut facts, mut piece) = (GradeHistograms::new(), StagedPiece::default());
        let mut exact = ExactHistograms::default();
        let (coder, mut scratch, mut block) =
            (GradeEncoder::new(&book), Scratch::default(), Block::default());
        for (row, query) in order.iter().zip(0..) {
            block.clear();
            rankings.fill(&mut block, *row..row + 1, &coder, usize::MAX, &mut scratch)?;
            facts.append(&block.facts);
            if let Some(of_row) = block.exact(&book) {
                exact.append(&of_row.facts);
                piece.exact.extend_from_slice(of_row.rows.row(0));
            }
            let labels = block.labels(0);
            if !labels.is_empty() {
                piece.rows.push(StagedRow { query, depth: labels.len() as u32 });
                piece.labels.extend_from_slice(labels);
            }
            if let (Some(tied), Ok(GradeArrays { scores: Some(scores), layout, .. })) =
                (&mut tied, rankings.arrays())
            {
                let note = |start: usize, length: usize| {
                    tied.note(query, start as u32, &labels[start..start + length], length);
                };
                with_numbers!(*scores, scores => each_tie(&scores[layout.row(*row)], note));
            }
        }
        let ids: Ids = order.iter().map(|&row| ids.get(row)).collect();
        let rule = RankingRule { ties: TieBreak::Input, ..RankingRule::default() };
        let exact = (!book.is_exact()).then_some(exact);
        let mut matrix = MatrixBuilder::new(book, rule, 0, ids, facts);
        if rankings.is_ideal_from_retrieved() {
            matrix.ideal = IdealSource::Retrieved;
        }
        matrix.exact = exact;
        // Where all orders of equal scores are evaluated, none decides.
        let seen = if tied.is_some() { ScoreWarnings::default() } else { scratch.seen };
        let results = piece.labels.len() as u64;
        let info = RunInfo { name: name.to_owned(), results, seen, ..RunInfo::default() };
        matrix.push(StagedRun { info, pieces: vec![piece], tied });
        matrix.finish()
    }
}

/// Passes each group of equal scores in a ranking to `note`: its first rank, from 0, and its number
/// of documents, two at least.
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

/// Makes ids for rankings without ids: the numbers of their rows, from 0. Each number has as many
/// digits as the last, so that the ids are in bytewise order. Rows in `dropped` are not rankings;
/// `count` rows are left.
fn numbers(count: usize, dropped: &[usize]) -> Ids {
    let digits = (count + dropped.len()).saturating_sub(1).to_string().len();
    let mut ids = Ids::default();
    for ranking in 0..count {
        ids.push(format!("{:0digits$}", ranking_row(dropped, ranking)).as_bytes());
    }
    ids
}

//! The join of qrels with runs in memory: lists of results, or columns.

use rayon::prelude::*;

use super::{
    qrels::Qrels,
    run,
    validate::{finish, without_problems},
};
use crate::bytes::input::distinct_names;
use crate::columns::{CheckedColumns, CollectedRows, RunColumns};
use crate::error::{Problems, Result};
use crate::lines::diagnostics::RunProblems;
use crate::matrix::{LabelMatrix, StagedRun};
use crate::record::columns::{ColumnSource, PieceSize};
use crate::rule::TieBreak;
use crate::settings::Join;

impl Join {
    /// Joins runs in memory with qrels to a matrix; a run is a name and results (query, docno,
    /// score) in any order.
    ///
    /// ```
    /// use laneval::{Join, Qrels};
    /// let qrels = Qrels::new([("q1", "d1", 1.0)])?;
    /// let run = [("q1", "d1", 0.5), ("q1", "d7", 0.25), ("q2", "d7", 0.5)];
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
    /// assert_eq!(matrix.runs()[0].ignored.count, 1);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Join::runs`]; the file of a problem is the name of the run, its line the number of the
    /// result, from 1. Equal scores that are to be ordered by [`TieBreak::Rank`].
    pub fn rankings<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        &self,
        qrels: &Qrels,
        runs: impl IntoIterator<Item = (String, impl IntoIterator<Item = (Q, D, f64)>)>,
    ) -> Result<LabelMatrix> {
        self.check_in_memory(qrels)?;
        reject_if!(
            qrels.passages.is_some(),
            "judgments are by span, and these results have no start and end: join columns with \
             spans"
        );
        let staged = runs.into_iter().map(|(name, results)| {
            let rows = CollectedRows::from_rows(results);
            self.read_columns(&name, &[rows.records(&rows.queries())], qrels, PieceSize::default())
        });
        let staged = staged.collect::<Result<Vec<_>>>()?;
        finish(qrels.matrix(self), without_problems(Problems::default(), staged, qrels)?)
    }

    /// Joins runs that are columns in memory with qrels to a matrix; a run is a name and batches of
    /// columns. Rows are in any order.
    ///
    /// Columns are borrowed without a copy. Joining is fastest if the rows of a query are together,
    /// in one batch or in consecutive batches, and if queries are codes of a dictionary or
    /// integers.
    ///
    /// ```
    /// use laneval::columns::{IdColumn, Integers, RunColumns};
    /// use laneval::{Join, Qrels};
    ///
    /// let qrels = Qrels::new([("q1", "42", 1.0), ("q2", "7", 2.0)])?;
    /// let names = IdColumn::from(&["q1", "q2"]);
    /// let queries = IdColumn::Dictionary { codes: Integers::from(&[0u8, 0, 1]), values: &names };
    /// let batch = RunColumns::scored(queries, &[7u32, 42, 7], &[2.5f32, 1.5, 9.0]);
    /// let matrix = Join::default().columns(&qrels, &[("mine", &[batch])])?;
    /// // Not in the qrels; grade 1.
    /// assert_eq!(matrix.tile(0).lane(0).take(2).collect::<Vec<_>>(), [1, 3]);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Columns of different lengths, or with invalid content: offsets that descend or lie beyond
    /// the bytes, codes beyond their dictionary, views beyond their buffers. Scores that are NaN;
    /// documents of a query with equal ranks, where ranks decide. Otherwise as [`Join::runs`]; the
    /// file of a problem is the name of the run, its line the row, from 1, in all batches together.
    pub fn columns(
        &self,
        qrels: &Qrels,
        runs: &[(&str, &[RunColumns<'_>])],
    ) -> Result<LabelMatrix> {
        self.columns_in_pieces(qrels, runs, PieceSize::default())
    }

    pub(crate) fn columns_in_pieces(
        &self,
        qrels: &Qrels,
        runs: &[(&str, &[RunColumns<'_>])],
        size: PieceSize,
    ) -> Result<LabelMatrix> {
        self.check_in_memory(qrels)?;
        distinct_names(runs.iter().map(|(name, _)| *name))?;
        if qrels.passages.is_some() {
            return self.passage_columns(qrels, runs);
        }
        let staged = runs
            .par_iter()
            .map(|(name, batches)| self.read_columns(name, batches, qrels, size))
            .collect::<Result<Vec<_>>>()?;
        finish(qrels.matrix(self), without_problems(Problems::default(), staged, qrels)?)
    }

    /// Reads one run of columns, called `name`, and joins it with the qrels to rows of labels.
    fn read_columns(
        &self,
        name: &str,
        batches: &[RunColumns<'_>],
        qrels: &Qrels,
        size: PieceSize,
    ) -> Result<(StagedRun, RunProblems)> {
        let columns = CheckedColumns::from_run(name, batches, qrels.seed())?;
        // A file without a result is a mistake; a system may well find nothing.
        let joining = run::JoinContext { may_be_empty: true, ..self.context(qrels) };
        run::read(&ColumnSource::all(&columns, size, self.watch()), name, &joining)
    }

    /// Rejects settings that contradict one another or the qrels, and ties by rank column for runs
    /// in memory, which have no rank column.
    pub(crate) fn check_in_memory(&self, qrels: &Qrels) -> Result<()> {
        self.check_dialect(qrels)?;
        reject_if!(
            self.ties == TieBreak::Rank,
            "rankings in memory have no rank column that could order equal scores: give them \
             in that order, with ties `input`"
        );
        self.check_units()
    }
}

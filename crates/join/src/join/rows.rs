//! The rows of a qrels or run text, passed to a function one by one in the order of the text. A run
//! of scores alone needs its judgments.

use super::{aggregate_rows::RowAggregator, qrels::Qrels};
use crate::aggregation::Aggregation;
use crate::bytes::input::Input;
use crate::error::Result;
use crate::format::AlignedQrels;
use crate::lines::shape::Role;
use crate::rows::{
    key_values::KeyedValues,
    text_rows::{TextRow, each_row},
};
use crate::settings::Join;

impl Join {
    /// Passes each judgment of a qrels text to `take`, in the order of the text, until `take`
    /// returns `false`. The text has any [`InputFormat`](crate::format::InputFormat). An error that
    /// `take` returns for a row becomes an error of the text.
    ///
    /// Documents judged twice are not noticed.
    ///
    /// ```
    /// use laneval::{Input, Join};
    /// let text = b"query-id\tcorpus-id\tscore\nq1\td7\t1\nq2\td9\t0.50\n".to_vec();
    /// let mut trec = String::new();
    /// Join::default().each_judgment(
    ///     Input::Bytes { name: "qrels.tsv".into(), bytes: text },
    ///     |row| {
    ///         let [query, doc, grade] =
    ///             [row.query, row.doc, row.number].map(String::from_utf8_lossy);
    ///         trec += &format!("{query} 0 {doc} {grade}\n");
    ///         Ok(true)
    ///     },
    /// )?;
    /// assert_eq!(trec, "q1 0 d7 1\nq2 0 d9 0.50\n");
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// An unreadable text; the problems of all its lines; a text without a judgment.
    pub fn each_judgment(
        &self,
        input: impl Into<Input>,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        self.check_qrels_units()?;
        let input = input.into();
        if !self.qrels_units.is_some_rule() {
            return each_row(self.read_settings(), input, Role::Qrels, None, take);
        }
        self.buffer_rows(input, Role::Qrels, None)?.each_judgment(&self.qrels_units, take)
    }

    /// Passes each result of a run text to `take`, in the order of the text, until `take` returns
    /// `false`. A run of scores alone needs LETOR judgments.
    ///
    /// ```
    /// use laneval::text::TextRank;
    /// use laneval::{Input, Join};
    /// let text = br#"{"q1": {"d7": 2.5, "d9": 0.25}, "q2": {"d7": 1e-3}}"#.to_vec();
    /// let mut ranks = Vec::new();
    /// Join::default().each_result(
    ///     Input::Bytes { name: "run.json".into(), bytes: text },
    ///     None,
    ///     |row| {
    ///         if let Some(TextRank::Counted(rank)) = row.rank {
    ///             ranks.push((rank, row.value));
    ///         }
    ///         Ok(true)
    ///     },
    /// )?;
    /// assert_eq!(ranks, [(1, 2.5), (2, 0.25), (1, 0.001)]);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Join::each_judgment`]; ranks other than 1, 2, 3 … in a format that requires consecutive
    /// ranks.
    pub fn each_result(
        &self,
        input: impl Into<Input>,
        judgments: Option<&Qrels>,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        self.check_units()?;
        let (input, partner) = (input.into(), judgments.and_then(Qrels::aligned));
        if !self.aggregates() {
            return each_row(self.read_settings(), input, Role::Run, partner, take);
        }
        reject_if!(
            self.aggregation() == Aggregation::Blank,
            "--aggregate blank leaves ranks empty, which files of results cannot have: take \
             --aggregate max"
        );
        self.buffer_rows(input, Role::Run, partner)?.each_result(self.clone(), take)
    }

    /// Reads the values of a key of the records of judgments, or of a column of their table, by
    /// query: groups of queries, for example.
    ///
    /// ```
    /// use laneval::{Groups, Input, Join};
    /// let text = b"query-id\tcorpus-id\tscore\tkind\nq1\td7\t1\tlong\nq2\td9\t1\t\n".to_vec();
    /// let input = Input::Bytes { name: "qrels.tsv".into(), bytes: text };
    /// let values = Join::default().query_values(input, "kind")?;
    /// assert_eq!((values.pairs.len(), &values.names[..]), (1, &["kind".to_owned()][..]));
    /// assert_eq!(Groups::new(values.pairs)?.names().collect::<Vec<_>>(), ["long"]);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Unreadable judgments; records or rows of one query with different values; a value that is an
    /// object.
    pub fn query_values(&self, input: impl Into<Input>, key: &str) -> Result<KeyedValues> {
        KeyedValues::read(self.read_settings(), input.into(), key)
    }

    /// Reads all rows of a qrels or run text into memory, in order to merge the rows of each unit.
    fn buffer_rows(
        &self,
        input: Input,
        role: Role,
        partner: Option<&AlignedQrels>,
    ) -> Result<RowAggregator> {
        let mut rows = RowAggregator::new(input.display_name());
        each_row(self.read_settings(), input, role, partner, |row| {
            rows.push(row);
            Ok(true)
        })?;
        Ok(rows)
    }
}

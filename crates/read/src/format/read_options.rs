//! The settings for reading judgments or runs where their content does not decide: format, columns,
//! subset.

use std::path::PathBuf;

use super::{input_format::InputFormat, names::ColumnNames};
use crate::lines::{grade_words::GradeWords, options::OptionStyle};

/// The settings for reading judgments or runs where their content does not decide: format, columns,
/// subset.
///
/// ```
/// use laneval::{Input, Join, Qrels, ReadOptions};
///
/// let run = Input::Bytes { name: "run".into(), bytes: b"q1\td7\t0.5\nq1\td9\t2.5\n".into() };
/// let qrels = Qrels::new([("q1", "d7", 1.0)])?;
/// // Three columns, and no header.
/// let error = Join::default().runs(&qrels, [run.clone()]).unwrap_err();
/// assert!(error.to_string().contains("--columns query,doc,score"));
/// let columns = Some("query,doc,score".parse()?);
/// let runs_as = ReadOptions { columns, ..ReadOptions::default() };
/// let matrix = Join { runs_as, ..Join::default() }.runs(&qrels, [run])?;
/// assert_eq!(matrix.depths(), [2]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format. By default the content decides.
    pub format: Option<InputFormat>,
    /// The columns of tables and the keys of records that are read. By default their names decide.
    pub columns: Option<ColumnNames>,
    /// The file that says how many lines each query has, for LETOR judgments without `qid`. By
    /// default it has the path of the judgments with `.query` or `.group` behind it.
    pub query_lengths: Option<PathBuf>,
    /// The subset of MTEB's predictions to read, as `en/test`. By default the predictions must have
    /// a single subset.
    pub subset: Option<String>,
    /// The grades of words, for judgments in tables and JSON. By default words of truth have grades
    /// where columns have names.
    pub grades: Option<GradeWords>,
    /// The style in which messages write options.
    pub options: OptionStyle,
}

impl ReadOptions {
    /// Returns the format, Parquet or Arrow, as which a file that begins with `start` is read, if
    /// it is.
    pub fn tables(&self, start: &[u8]) -> Option<InputFormat> {
        match self.format {
            None => InputFormat::detect_table(start),
            format => format.filter(|format| format.name_of_tables().is_some()),
        }
    }

    /// Returns whether an input must be whole in memory before rows are made: Parquet, Arrow,
    /// `.ibin`. The text begins with `start`. In `.ibin` files distances may follow the ids of
    /// neighbours.
    pub fn needs_whole(&self, start: &[u8], name: &str) -> bool {
        let format = self.format.or_else(|| InputFormat::from_extension(name));
        self.tables(start).is_some() || format == Some(InputFormat::Ibin)
    }
}

//! How a report is to look.

use crate::measure::Measure;

/// The order of the runs of a comparison in tables for people. Formats for programs keep the order
/// of the input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunOrder {
    /// The best under the first measure first if there are six runs or more, and otherwise that of
    /// the input.
    #[default]
    Suited,
    /// That of the input.
    Input,
    /// The best under a measure first.
    By(Measure),
}

/// How a report is to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportOptions {
    /// Whether the values of every query are written too, if the scores have them.
    pub per_query: bool,
    /// The number of decimals in tables.
    pub precision: usize,
    /// Whether the best is marked with bold type instead of a `*`.
    pub colour: bool,
    /// The width of the terminal in columns, if the output is one.
    pub width: Option<usize>,
    /// Draw curves and distributions as lines of blocks below tables.
    pub sparklines: bool,
    /// Decimals in formats other than tables. `None` prints as many decimals as a number needs to
    /// read back unchanged, and 4 in [`Format::Trec`](super::Format::Trec).
    pub decimals: Option<usize>,
    /// Write a row for each query with a column for each measure, in
    /// [`Format::Tsv`](super::Format::Tsv) and
    /// [`Format::Csv`](super::Format::Csv).
    pub wide: bool,
    /// What stands in the place of the query in rows of averages, and in
    /// [`Format::Trec`](super::Format::Trec) if it is not empty.
    pub all_id: String,
    /// The order of the runs of a comparison.
    pub order: RunOrder,
    /// The most runs in the table of a comparison: the first of the order.
    pub top: Option<usize>,
    /// Whether a comparison has a sentence for every pair of runs.
    pub all_pairs: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            per_query: false,
            precision: 4,
            colour: false,
            width: None,
            sparklines: false,
            decimals: None,
            wide: false,
            all_id: String::new(),
            order: RunOrder::default(),
            top: None,
            all_pairs: false,
        }
    }
}

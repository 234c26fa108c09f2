//! Options of reports: order of runs, decimals, width, colour and values of queries.

use crate::measure::Measure;
use crate::scores::{PerQuery, RunScores};

/// The order of the runs in a comparison's tables. Formats for programs keep the order of the
/// input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunOrder {
    /// The best under the first measure first if there are six runs or more, and otherwise that of
    /// the input.
    #[default]
    Auto,
    /// That of the input.
    Input,
    /// The best under a measure first.
    By(Measure),
}

/// The options of a report: decimals, width, colour, order of runs, and whether values of queries
/// are written.
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

impl ReportOptions {
    /// Returns a run's values of queries, if the options ask for them and the run is not a group.
    pub(super) fn shown_queries<'a>(&self, run: &'a RunScores) -> Option<&'a PerQuery> {
        // The values of queries are shown once, with all queries, and not in each group again.
        run.per_query.as_ref().filter(|_| self.per_query && run.group.is_none())
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
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

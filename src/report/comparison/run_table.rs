//! The table of a comparison of several runs: runs as rows, measures as columns, with marks of
//! significantly better runs.
//!
//! ```text
//! up to six runs    0.7351*ᵃᵇ     letters of the runs that it is shown to be better than
//! more, all pairs   a–c           one column of letters, which runs share that are not shown to
//!                                 differ under the measure of the order
//! more, a baseline  0.7351*↑      shown to be better than the baseline, or ↓ worse
//! ```
//!
//! Sixty runs would otherwise have cells with fifty letters.

use super::shares::{judged, share};
use crate::compare::Comparison;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::options::{ReportOptions, RunOrder};
use crate::report::run_name::visible;

/// The maximum number of runs for letters in each cell.
const MOST_LETTERED: usize = 6;

/// The marks of significant differences in a table of runs: letters of worse runs, shared letters,
/// or arrows.
enum RunMarks {
    /// Letters of worse runs in each cell.
    Better,
    /// A column of shared letters, by run, under a measure.
    Shared(usize, Vec<String>),
    /// Arrows, against a baseline.
    Arrows(usize),
}

impl RunMarks {
    fn new(comparison: &Comparison, measure: usize) -> Self {
        match (comparison.runs.len() > MOST_LETTERED, comparison.baseline) {
            (false, _) => Self::Better,
            (true, Some(baseline)) => Self::Arrows(baseline),
            (true, None) => comparison
                .group_letters(measure)
                .map_or(Self::Better, |letters| Self::Shared(measure, letters)),
        }
    }
}

/// The table of a comparison of several runs before it is written: rows in order, and marks. The
/// cells and the legend share its rows and marks.
pub struct RunTable<'a> {
    comparison: &'a Comparison,
    options: &'a ReportOptions,
    marks: RunMarks,
    /// The indices of the runs, in order.
    rows: Vec<usize>,
    /// The number of runs left out.
    left: usize,
}

impl<'a> RunTable<'a> {
    /// Makes the table of a comparison: orders the runs, keeps the first of them, and finds marks
    /// of significance.
    pub fn new(comparison: &'a Comparison, options: &'a ReportOptions) -> Self {
        // The measure of the order: the first one, unless another is asked for.
        let measure = match &options.order {
            RunOrder::By(measure) => {
                comparison.measures.iter().position(|candidate| candidate == measure).unwrap_or(0)
            }
            _ => 0,
        };
        let mut rows = match &options.order {
            // Order by the first measure, because the first rows must be the best runs, not the
            // runs named first.
            RunOrder::Auto if comparison.has_many_runs() || options.top.is_some() => {
                comparison.ranked(0)
            }
            RunOrder::By(_) => comparison.ranked(measure),
            _ => (0..comparison.runs.len()).collect(),
        };
        let left = rows.len().saturating_sub(options.top.unwrap_or(usize::MAX));
        rows.truncate(rows.len() - left);
        Self { comparison, options, marks: RunMarks::new(comparison, measure), rows, left }
    }

    /// Returns the table of the compared runs with their means and marks as cells.
    pub fn grid(&self) -> Grid {
        let comparison = self.comparison;
        let judged = judged(comparison);
        let measures =
            comparison.measures.iter().map(|measure| (measure.to_string(), Align::Right));
        let shares = judged.iter().map(|(name, _)| (name.clone(), Align::Right));
        let letters =
            matches!(self.marks, RunMarks::Shared(..)).then(|| ("letters".to_owned(), Align::Left));
        // Labels are letters, and ranks are numbers.
        let side = if matches!(self.marks, RunMarks::Better) { Align::Left } else { Align::Right };
        let names = [("#".to_owned(), side), ("run".to_owned(), Align::Left)];
        let mut grid = Grid::new(names.into_iter().chain(letters).chain(measures).chain(shares));
        for (at, &run) in self.rows.iter().enumerate() {
            let number = match self.marks {
                RunMarks::Better => comparison.runs[run].label.clone(),
                _ => (at + 1).to_string(),
            };
            let letters = match &self.marks {
                RunMarks::Shared(_, letters) => Some(Cell::from(letters[run].as_str())),
                _ => None,
            };
            let names = [Cell::from(number), visible(comparison.name(run)).into()];
            let cells = (0..comparison.measures.len()).map(|measure| self.cell(run, measure));
            let shares = judged.iter().map(|&(_, measure)| share(comparison, run, measure).into());
            grid.push(names.into_iter().chain(letters).chain(cells).chain(shares));
        }
        grid
    }

    /// Returns the table cell of a run under a measure: its mean with marks of significance.
    fn cell(&self, run: usize, measure: usize) -> Cell {
        let comparison = self.comparison;
        let best = comparison.is_best(measure, run);
        let labels = match self.marks {
            RunMarks::Better => {
                // Letters of runs that are left out would lead nowhere.
                let beaten = comparison
                    .significantly_worse(measure, run)
                    .into_iter()
                    .filter(|other_run| self.rows.contains(other_run));
                beaten.map(|run| comparison.runs[run].label.clone()).collect()
            }
            RunMarks::Shared(..) => Vec::new(),
            RunMarks::Arrows(baseline) => {
                let than = [(run, baseline, "↑"), (baseline, run, "↓")];
                let shown = than.into_iter().find(|&(one, other, _)| {
                    comparison.significantly_worse(measure, one).contains(&other)
                });
                let shown = shown.filter(|_| run != baseline);
                Vec::from_iter(shown.map(|(.., arrow)| arrow.to_owned()))
            }
        };
        Cell {
            text: format!("{:.*}", self.options.precision, comparison.runs[run].means[measure]),
            best,
            tied: !best && comparison.is_not_worse_than_best(measure, run) == Some(true),
            labels,
        }
    }

    /// Returns the legend below the table: the meaning of its marks, and the number of runs left
    /// out.
    pub fn legend(&self) -> String {
        let comparison = self.comparison;
        let alpha = comparison.options.alpha;
        let tied = if comparison.compares_all_pairs() { "= not shown to be worse; " } else { "" };
        let marks = match self.marks {
            RunMarks::Better => {
                format!("letters: shown to be better than that run (adjusted p < {alpha}).")
            }
            RunMarks::Shared(measure, _) => format!(
                "runs that share a letter are not shown to differ on {} (adjusted p < {alpha}).",
                comparison.measures[measure]
            ),
            RunMarks::Arrows(baseline) => format!(
                "↑ shown to be better than {}, ↓ worse (adjusted p < {alpha}).",
                visible(comparison.name(baseline))
            ),
        };
        let left = match self.left {
            0 => String::new(),
            1 => " 1 more run is left out.".to_owned(),
            left => format!(" {left} more runs are left out."),
        };
        format!("{tied}{marks}{left}")
    }
}

//! The table of several runs: runs as rows, measures as columns, with marks of what is shown to be
//! better than what.
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
use crate::error::printable;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::options::{ReportOptions, RunOrder};

/// The maximum number of runs for letters in each cell.
const MOST_LETTERED: usize = 6;

/// The table's marks for significantly better runs.
enum RunMarks {
    /// Letters of worse runs in each cell.
    Better,
    /// A column of shared letters, by run, under a measure.
    Shared(usize, Vec<String>),
    /// Arrows, against a baseline.
    Arrows(usize),
}

impl RunMarks {
    fn of(comparison: &Comparison, measure: usize) -> RunMarks {
        match (comparison.runs.len() > MOST_LETTERED, comparison.baseline) {
            (false, _) => RunMarks::Better,
            (true, Some(baseline)) => RunMarks::Arrows(baseline),
            (true, None) => comparison
                .letters(measure)
                .map_or(RunMarks::Better, |of| RunMarks::Shared(measure, of)),
        }
    }
}

/// The table before writing. The cells and the legend share its rows and marks.
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
    /// Puts the runs in order, cuts them, and finds their marks.
    pub fn of(comparison: &'a Comparison, options: &'a ReportOptions) -> RunTable<'a> {
        // The measure of the order: the first one, unless another is asked for.
        let measure = match &options.order {
            RunOrder::By(measure) => {
                comparison.measures.iter().position(|of| of == measure).unwrap_or(0)
            }
            _ => 0,
        };
        let mut rows = match &options.order {
            // Order by the first measure, because the first rows must be the best runs, not the
            // runs named first.
            RunOrder::Suited if comparison.has_many_runs() || options.top.is_some() => {
                comparison.ranked(0)
            }
            RunOrder::By(_) => comparison.ranked(measure),
            _ => (0..comparison.runs.len()).collect(),
        };
        let left = rows.len().saturating_sub(options.top.unwrap_or(usize::MAX));
        rows.truncate(rows.len() - left);
        RunTable { comparison, options, marks: RunMarks::of(comparison, measure), rows, left }
    }

    /// The table.
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
            let names =
                [Cell::from(number), printable(comparison.runs[run].name.as_bytes()).into()];
            let cells = (0..comparison.measures.len()).map(|measure| self.cell(run, measure));
            let shares = judged.iter().map(|&(_, measure)| share(comparison, run, measure).into());
            grid.push(names.into_iter().chain(letters).chain(cells).chain(shares));
        }
        grid
    }

    /// The mean of a run under a measure, with its marks.
    fn cell(&self, run: usize, measure: usize) -> Cell {
        let comparison = self.comparison;
        let best = comparison.is_best(measure, run);
        let labels = match self.marks {
            RunMarks::Better => {
                // Letters of runs that are left out would lead nowhere.
                let beaten =
                    comparison.beaten(measure, run).into_iter().filter(|of| self.rows.contains(of));
                beaten.map(|run| comparison.runs[run].label.clone()).collect()
            }
            RunMarks::Shared(..) => Vec::new(),
            RunMarks::Arrows(baseline) => {
                let than = [(run, baseline, "↑"), (baseline, run, "↓")];
                let shown = than
                    .into_iter()
                    .find(|&(one, other, _)| comparison.beaten(measure, one).contains(&other));
                shown
                    .filter(|_| run != baseline)
                    .map(|(.., arrow)| arrow.to_owned())
                    .into_iter()
                    .collect()
            }
        };
        Cell {
            text: format!("{:.*}", self.options.precision, comparison.runs[run].means[measure]),
            best,
            tied: !best && comparison.is_tied_with_best(measure, run) == Some(true),
            labels,
        }
    }

    /// The legend of the marks, and of what is left out.
    pub fn legend(&self) -> String {
        let comparison = self.comparison;
        let alpha = comparison.options.alpha;
        let tied = if comparison.tells_the_best() { "= not shown to be worse; " } else { "" };
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
                printable(comparison.runs[baseline].name.as_bytes())
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

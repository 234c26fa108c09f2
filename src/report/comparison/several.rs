//! The table of several runs: runs as rows, measures as columns, with marks of what is shown to be better than what.
//!
//! ```text
//! up to six runs    0.7351*ᵃᵇ     letters of the runs that it is shown to be better than
//! more, all pairs   a–c           one column of letters, which runs share that are not shown to differ under the measure of the order
//! more, a baseline  0.7351*↑      shown to be better than the baseline, or ↓ worse
//! ```
//!
//! Sixty runs would otherwise have cells with fifty letters.

use super::shares::{judged, share};
use crate::compare::Comparison;
use crate::error::printable;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::options::{ReportOptions, RunOrder};

/// The most runs whose cells have letters of other runs.
const MOST_LETTERED: usize = 6;

/// How the table marks what is better than what.
enum RunMarks {
    /// Letters of other runs in each cell.
    Better,
    /// A column of shared letters, by run, under a measure.
    Shared(usize, Vec<String>),
    /// Arrows, against a baseline.
    Arrows(usize),
}

impl RunMarks {
    fn of(comparison: &Comparison, measure: usize) -> RunMarks {
        match (comparison.runs.len() > MOST_LETTERED, comparison.baseline, comparison.letters(measure)) {
            (true, Some(baseline), _) => RunMarks::Arrows(baseline),
            (true, None, Some(letters)) => RunMarks::Shared(measure, letters),
            _ => RunMarks::Better,
        }
    }
}

/// The indices of the runs that the table has, in its order, and how many it leaves out.
fn rows(comparison: &Comparison, options: &ReportOptions) -> (Vec<usize>, usize) {
    let mut rows = match (&options.order, ordering(comparison, options)) {
        // The first of some runs are the best, and not those that were named first.
        (RunOrder::Suited, _) if comparison.has_many_runs() || options.top.is_some() => comparison.ranked(0),
        (RunOrder::By(_), measure) => comparison.ranked(measure),
        _ => (0..comparison.runs.len()).collect(),
    };
    let left = rows.len().saturating_sub(options.top.unwrap_or(usize::MAX));
    rows.truncate(rows.len() - left);
    (rows, left)
}

/// The index of the measure by which the runs are in order: the first one, unless another is asked for.
fn ordering(comparison: &Comparison, options: &ReportOptions) -> usize {
    let RunOrder::By(measure) = &options.order else { return 0 };
    comparison.measures.iter().position(|of| of == measure).unwrap_or(0)
}

/// The table.
pub fn grid(comparison: &Comparison, options: &ReportOptions) -> Grid {
    let measure = ordering(comparison, options);
    let marks = RunMarks::of(comparison, measure);
    let judged = judged(comparison);
    let measures = comparison.measures.iter().map(|measure| (measure.to_string(), Align::Right));
    let shares = judged.iter().map(|(name, _)| (name.clone(), Align::Right));
    let letters = matches!(marks, RunMarks::Shared(..)).then(|| ("letters".to_owned(), Align::Left));
    let names = [("#".to_owned(), Align::Right), ("run".to_owned(), Align::Left)];
    let names = if matches!(marks, RunMarks::Better) {
        [("#".to_owned(), Align::Left), names[1].clone()]
    } else {
        names
    };
    let mut grid = Grid::new(names.into_iter().chain(letters).chain(measures).chain(shares));
    for (at, run) in rows(comparison, options).0.into_iter().enumerate() {
        let number = match marks {
            RunMarks::Better => comparison.runs[run].label.clone(),
            _ => (at + 1).to_string(),
        };
        let letters = match &marks {
            RunMarks::Shared(_, letters) => Some(Cell::from(letters[run].as_str())),
            _ => None,
        };
        let names = [Cell::from(number), printable(comparison.runs[run].name.as_bytes()).into()];
        let cells =
            (0..comparison.measures.len()).map(|measure| cell(comparison, &marks, run, measure, options));
        let shares = judged.iter().map(|&(_, measure)| share(comparison, run, measure).into());
        grid.push(names.into_iter().chain(letters).chain(cells).chain(shares));
    }
    grid
}

/// The mean of a run under a measure, with its marks.
fn cell(
    comparison: &Comparison,
    marks: &RunMarks,
    run: usize,
    measure: usize,
    options: &ReportOptions,
) -> Cell {
    let best = comparison.is_best(measure, run);
    let labels = match marks {
        RunMarks::Better => {
            let is_row = |of: &usize| rows(comparison, options).0.contains(of);
            let beaten =
                comparison.beaten(measure, run).into_iter().filter(|of| options.top.is_none() || is_row(of));
            beaten.map(|run| comparison.runs[run].label.clone()).collect()
        }
        RunMarks::Shared(..) => Vec::new(),
        RunMarks::Arrows(baseline) => {
            let than = [(run, *baseline, "↑"), (*baseline, run, "↓")];
            let shown =
                than.into_iter().find(|&(one, other, _)| comparison.beaten(measure, one).contains(&other));
            shown.filter(|_| run != *baseline).map(|(.., arrow)| arrow.to_owned()).into_iter().collect()
        }
    };
    Cell {
        text: format!("{:.*}", options.precision, comparison.runs[run].means[measure]),
        best,
        tied: !best && comparison.is_tied_with_best(measure, run) == Some(true),
        labels,
    }
}

/// The legend of the marks, and of what is left out.
pub fn legend(comparison: &Comparison, options: &ReportOptions) -> String {
    let alpha = comparison.options.alpha;
    let tied = if comparison.tells_the_best() { "= not shown to be worse; " } else { "" };
    let marks = match RunMarks::of(comparison, ordering(comparison, options)) {
        RunMarks::Better => format!("letters: shown to be better than that run (adjusted p < {alpha})."),
        RunMarks::Shared(measure, _) => format!(
            "runs that share a letter are not shown to differ on {} (adjusted p < {alpha}).",
            comparison.measures[measure]
        ),
        RunMarks::Arrows(baseline) => format!(
            "↑ shown to be better than {}, ↓ worse (adjusted p < {alpha}).",
            printable(comparison.runs[baseline].name.as_bytes())
        ),
    };
    let left = match rows(comparison, options).1 {
        0 => String::new(),
        1 => " 1 more run is left out.".to_owned(),
        left => format!(" {left} more runs are left out."),
    };
    format!("{tied}{marks}{left}")
}

//! Curves and distributions as lines of blocks, for terminals.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::html::curves as names_of_curves;
use super::options::ReportOptions;
use super::run_name::run_name;
use crate::measure::{Average, Measure};
use crate::scores::{PerQuery, Scores};
use crate::stats::undefined::defined;

/// Blocks of rising height.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bins of a distribution.
const BINS: usize = 20;
/// The most points of a curve that are drawn.
const POINTS: usize = 60;

/// A line of blocks for values between two ends.
fn line(values: &[f64], (low, high): (f64, f64)) -> String {
    let block = |&value: &f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        BLOCKS[((share * BLOCKS.len() as f64) as usize).min(BLOCKS.len() - 1)]
    };
    values.iter().map(block).collect()
}

/// Text with blanks behind it.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Draws each measure that is there at three cutoffs or more, a line for each run, all between the
/// same two values.
pub fn curves(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    for measure in names_of_curves(&scores.measures) {
        let runs: Vec<_> = scores.runs.iter().filter(|run| run.group.is_none()).collect();
        let drawn: Vec<_> = runs
            .iter()
            .filter_map(|run| Some((run_name(run), scores.curve(&run.name, &measure)?)))
            .collect();
        let all = || drawn.iter().flat_map(|(_, curve)| curve.values.iter().copied());
        let (low, high) =
            (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let Some((_, first)) = drawn.first() else { continue };
        let cutoffs = first.cutoffs.first().zip(first.cutoffs.last());
        let Some((from, up_to)) =
            cutoffs.filter(|_| first.cutoffs.len() <= POINTS && low.is_finite())
        else {
            continue;
        };
        writeln!(
            to,
            "\n{measure}@{from} to {measure}@{up_to}, from {low:.*} to {high:.*}\n",
            options.precision, options.precision
        )?;
        let width = drawn.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
        for (name, curve) in &drawn {
            writeln!(to, "{}  {}", padded(name, width), line(&curve.values, (low, high)))?;
        }
    }
    Ok(())
}

/// Draws how many queries have which values, a line for each measure that is no count.
pub fn distributions(
    of: &PerQuery,
    measures: &[Measure],
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let few = of.queries.len() < BINS;
    let shown: Vec<_> = measures
        .iter()
        .zip(&of.values)
        .filter(|(measure, _)| !few && measure.definition().average != Average::Sum)
        .collect();
    let width = shown.iter().map(|(measure, _)| measure.to_string().width()).max().unwrap_or(0);
    for (at, (measure, values)) in shown.into_iter().enumerate() {
        if at == 0 {
            writeln!(to, "\nqueries by their values\n")?;
        }
        let values = defined(values);
        let (least, most) = measure.range().bounds();
        let all = |end: f64, fold: fn(f64, f64) -> f64| values.iter().copied().fold(end, fold);
        let low = if least.is_finite() { least } else { all(f64::INFINITY, f64::min) };
        let high = if most.is_finite() { most } else { all(f64::NEG_INFINITY, f64::max) };
        let mut counts = [0.0; BINS];
        for value in &*values {
            let share = if high > low { (value - low) / (high - low) } else { 0.0 };
            counts[((share * BINS as f64) as usize).min(BINS - 1)] += 1.0;
        }
        let tallest = counts.iter().copied().fold(0.0, f64::max);
        let bars: String = counts
            .iter()
            // A bin with a query shows at least the lowest block, and an empty one nothing: one
            // query among thousands is not none.
            .map(|&count| if count > 0.0 { line(&[count], (0.0, tallest)) } else { " ".into() })
            .collect();
        let name = padded(&measure.to_string(), width);
        writeln!(to, "{name}  {low:.*} {bars} {high:.*}", options.precision, options.precision)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_rise_with_values() {
        assert_eq!(line(&[0.0, 0.5, 1.0], (0.0, 1.0)), "▁▅█");
        assert_eq!(line(&[3.0, 3.0], (3.0, 3.0)), "▅▅");
        assert_eq!(line(&[], (0.0, 1.0)), "");
    }
}

//! Curves of measures over cutoffs and distributions of values, as lines of block characters for
//! terminals.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::html::curves as names_of_curves;
use super::html::scale::extent;
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

/// Returns values as a line of block characters, scaled between `low` and `high`.
fn line(values: &[f64], low: f64, high: f64) -> String {
    let blocks = values.iter().map(|value| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        BLOCKS[((share * BLOCKS.len() as f64) as usize).min(BLOCKS.len() - 1)]
    });
    blocks.collect()
}

/// Returns text padded with blanks to a width.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Writes each measure with three cutoffs or more as lines of block characters, a line for each
/// run. All lines of a measure lie between the same two values.
pub fn curves(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    for measure in names_of_curves(&scores.measures) {
        let runs: Vec<_> = scores.runs.iter().filter(|run| run.group.is_none()).collect();
        let drawn: Vec<_> = runs
            .iter()
            .filter_map(|run| Some((run_name(run), scores.curve(&run.name, &measure)?)))
            .collect();
        let [low, high] = extent(drawn.iter().flat_map(|(_, curve)| curve.values.iter().copied()));
        let Some((_, first)) = drawn.first() else { continue };
        // A line of more points would not fit a terminal.
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
            writeln!(to, "{}  {}", padded(name, width), line(&curve.values, low, high))?;
        }
    }
    Ok(())
}

/// Writes histograms of a run's values of queries as lines of block characters, a line for each
/// measure. Measures that are counts have none.
pub fn distributions(
    per_query: &PerQuery,
    measures: &[Measure],
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    // With fewer queries than bins, most bins would be empty.
    let few = per_query.queries.len() < BINS;
    let shown: Vec<_> = measures
        .iter()
        .zip(&per_query.values)
        .filter(|(measure, _)| !few && measure.definition().average != Average::Sum)
        .collect();
    let width = shown.iter().map(|(measure, _)| measure.to_string().width()).max().unwrap_or(0);
    for (at, (measure, values)) in shown.into_iter().enumerate() {
        if at == 0 {
            writeln!(to, "\nqueries by their values\n")?;
        }
        let values = defined(values);
        let (least, most) = measure.range().bounds();
        let [low, high] = extent(values.iter().copied());
        let low = if least.is_finite() { least } else { low };
        let high = if most.is_finite() { most } else { high };
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
            .map(|&count| if count > 0.0 { line(&[count], 0.0, tallest) } else { " ".into() })
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
        assert_eq!(line(&[0.0, 0.5, 1.0], 0.0, 1.0), "▁▅█");
        assert_eq!(line(&[3.0, 3.0], 3.0, 3.0), "▅▅");
        assert_eq!(line(&[], 0.0, 1.0), "");
    }
}

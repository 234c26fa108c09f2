//! Histograms of values or differences of queries: bars over bins of equal width.

use std::borrow::Cow;

use super::markup::Elements;
use super::plot::{
    AltText, COLUMN, EDGE, Plot, WIDTH, chart, line, rectangle, shortened, text, ticks_below,
};
use super::scale::{Scale, extent, number, signed};
use crate::sort;

/// The most bins.
const BINS: usize = 24;
const HEIGHT: f64 = 300.0;
/// The height of a row of a run.
const ROW: f64 = 66.0;

/// The counts of a histogram, in bins of equal width.
struct Bins {
    /// The lower border of the first bin.
    low: f64,
    width: f64,
    counts: Vec<usize>,
}

impl Bins {
    /// Counts numbers in `bins` bins of equal width from `low` on. The last bin includes its upper
    /// border.
    fn new(numbers: &[f64], low: f64, width: f64, bins: usize) -> Self {
        let mut counts = vec![0; bins];
        for number in numbers {
            // A number on a border, except for rounding, belongs above it.
            let bin = ((number - low) / width + 1e-9).floor();
            counts[(bin.max(0.0) as usize).min(bins - 1)] += 1;
        }
        Self { low, width, counts }
    }

    fn borders(&self, bin: usize) -> [f64; 2] {
        [bin, bin + 1].map(|border| self.low + border as f64 * self.width)
    }
}

/// The differences of queries between two runs, with title and bounds, for a histogram.
pub struct Deltas<'a> {
    /// The differences, descending.
    pub deltas: &'a [f64],
    /// Whether a query is better if its difference is above 0.
    pub higher_is_better: bool,
    /// The title of the differences.
    pub title: &'a str,
    /// The smallest and the largest possible difference.
    pub bounds: [f64; 2],
}

/// Draws the histogram of the differences of queries between two runs. The bin in the middle is
/// around 0.
pub fn deltas(page: &mut Elements, title: String, deltas: &Deltas) {
    let (first, last) = (deltas.deltas[0], deltas.deltas[deltas.deltas.len() - 1]);
    let most = first.abs().max(last.abs());
    let scale = Scale::round(0.0, most, BINS / 2 - 2);
    let width = scale.ticks().get(1).map_or(1.0, |tick| tick - scale.ticks()[0]);
    // The middle bin reaches half a width to either side of 0, so that differences of about 0 are
    // one bar and not two. A largest difference that lies on a border gets no bin of its own.
    let [below, above] = [-last, first].map(|end| (end.max(0.0) / width + 0.5 - 1e-9).floor());
    let bins =
        Bins::new(deltas.deltas, -(below + 0.5) * width, width, (below + above) as usize + 1);
    let highest = bins.counts.iter().copied().max().unwrap_or(0);
    let x = Scale::exact(-(below + 0.5) * width, (above + 0.5) * width, 5).bounded(deltas.bounds);
    let plot = Plot::new(x, Scale::round(0.0, highest as f64, 5).with_integer_ticks(), HEIGHT, 0.0);
    let full = bins.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let titles = full.clone().map(|(bin, &count)| {
        let [low, high] = bins.borders(bin);
        format!("{}: {} to {}", queries(count), signed(low, 4), signed(high, 4))
    });
    let titles: Vec<String> = titles.collect();
    let says = AltText { title, values: titles.join("; ") };
    chart(page, HEIGHT, &says, |paper| {
        plot.axes(paper, deltas.title, "queries");
        for ((bin, &count), title) in full.zip(&titles) {
            let [low, high] = bins.borders(bin).map(|border| plot.x.clamped(border));
            let class = match (bin as f64).total_cmp(&below) {
                std::cmp::Ordering::Equal => "tied",
                order if order.is_gt() == deltas.higher_is_better => "gain",
                _ => "loss",
            };
            let [top, bottom] = [count as f64, 0.0].map(|count| plot.y.at(count));
            rectangle(paper, class, [low + 0.6, top], [high - 0.6, bottom], Some(title));
        }
        let [.., top, bottom] = plot.borders();
        line(paper, "zero", [plot.x.at(0.0), top], [plot.x.at(0.0), bottom]);
    });
}

/// The values of a run's queries under a measure, with label and average, for a histogram.
pub struct RunValues<'a> {
    /// The label of the run.
    pub label: String,
    /// The values.
    pub values: Cow<'a, [f64]>,
    /// The average as text, and its place among the values.
    pub average: Option<(String, f64)>,
}

impl RunValues<'_> {
    /// Returns a run's values of queries in words: number, average, least, median and largest.
    fn describe(&self) -> String {
        let mut sorted = self.values.to_vec();
        sort::by_number(&mut sorted, |&value| value);
        let average =
            self.average.as_ref().map_or(String::new(), |(text, _)| format!("average {text}, "));
        let [least, median, most] =
            [0, sorted.len() / 2, sorted.len() - 1].map(|at| number(sorted[at], 4));
        format!(
            "{}: {}, {average}from {least} to {most}, half of them {median} or more",
            self.label,
            queries(sorted.len())
        )
    }
}

/// Draws histograms of values of queries, one row for each run over one axis.
pub fn values(page: &mut Elements, title: &str, bounds: [f64; 2], runs: &[RunValues]) {
    let [low, high] = extent(runs.iter().flat_map(|run| run.values.iter().copied()));
    let bins = Scale::round(low.min(0.0), high, BINS - 4).bounded(bounds);
    let ticks = bins.ticks();
    let (low, width) = (bins.numbers[0], ticks[1] - ticks[0]);
    let binned: Vec<Bins> =
        runs.iter().map(|run| Bins::new(&run.values, low, width, ticks.len() - 1)).collect();
    let highest = binned.iter().flat_map(|bins| &bins.counts).max().map_or(1, |&most| most.max(1));
    let [from, to] = bins.numbers;
    let scale = Scale::exact(from, to, 5).with_range(EDGE + 8.0, WIDTH - EDGE - 8.0);
    let bottom = runs.len() as f64 * ROW;
    let says = AltText {
        title: format!("number of queries by {title}"),
        values: runs.iter().map(RunValues::describe).collect::<Vec<_>>().join("; "),
    };
    chart(page, bottom + 38.0, &says, |paper| {
        for (row, (run, bins)) in runs.iter().zip(&binned).enumerate() {
            let base = (row + 1) as f64 * ROW;
            let average = run.average.as_ref().map_or(String::new(), |(text, _)| text.clone());
            let room = (WIDTH - 2.0 * EDGE) / COLUMN - average.chars().count() as f64 - 2.0;
            text(
                paper,
                "label",
                [EDGE, base - 50.0],
                shortened(&run.label, room.max(8.0) as usize),
            );
            text(paper, "label end", [WIDTH - EDGE, base - 50.0], average);
            for (bin, &count) in bins.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let [from, to] = bins.borders(bin);
                let title = format!("{}: {} to {}", queries(count), number(from, 4), number(to, 4));
                let [left, right] = [scale.at(from) + 0.5, scale.at(to) - 0.5];
                // One query among thousands still has a bar that can be seen.
                let above = base - (count as f64 / highest as f64 * 42.0).max(0.8);
                rectangle(paper, "value", [left, above], [right, base], Some(&title));
            }
            if let Some((_, average)) = run.average {
                let at = scale.clamped(average);
                line(paper, "mean", [at, base - 44.0], [at, base]);
            }
            line(paper, "axis", [EDGE, base], [WIDTH - EDGE, base]);
        }
        ticks_below(paper, &scale, bottom);
        text(paper, "title middle", [0.5 * WIDTH, bottom + 32.0], title);
    });
}

/// Returns a number of queries in words: `1 query`, or `5 queries`.
pub fn queries(count: usize) -> String {
    if count == 1 { "1 query".to_owned() } else { format!("{count} queries") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_belong_to_the_bin_above() {
        let bins = Bins::new(&[0.0, 0.1, 0.3, 0.30000000000000004, 0.29, 1.0], 0.0, 0.1, 10);
        assert_eq!(bins.counts, [1, 1, 1, 2, 0, 0, 0, 0, 0, 1]);
    }
}

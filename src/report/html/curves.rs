//! A chart of a measure over its cutoffs, one line for each run.

use super::markup::Elements;
use super::names::bounds;
use super::plot::{AltText, COLUMN, EDGE, Plot, WIDTH, chart, document, line, shortened, text};
use super::scale::{Coordinate, Scale, extent, number};
use super::series::{mark, stroke};

use crate::measure::{CutoffRule, Direction, Measure};
use crate::report::run_name::visible;
use crate::scores::{Curve, Scores};
use crate::sort;

/// The most lines that can be told apart.
const LINES: usize = 12;
/// The fewest cutoffs that make a curve.
const CUTOFFS: usize = 3;
/// The most cutoffs of a line that are drawn.
const DRAWN: usize = 120;
/// The most marks on a line.
const MARKS: usize = 11;
const PLOT: f64 = 250.0;
/// The height of a line of the legend.
const LEGEND: f64 = 17.0;

/// A chart of a measure over its cutoffs, one line for each run.
pub struct Chart {
    caption: String,
    /// The title of the upright axis.
    title: String,
    across: CurveAxis,
    /// The values that the measure cannot exceed.
    bounds: [f64; 2],
    lines: Vec<CurveLine>,
    /// The number of runs that have no line.
    left: usize,
}

/// The meaning of the cutoffs on a chart's axis: ranks, or levels of recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CurveAxis {
    Rank,
    Recall,
}

impl CurveAxis {
    fn name(self) -> &'static str {
        match self {
            Self::Rank => "cutoff rank k",
            Self::Recall => "level of recall",
        }
    }
}

struct CurveLine {
    /// The index of the run, which decides the looks of the line.
    run: usize,
    label: String,
    name: String,
    curve: Curve,
}

/// Returns the names, without cutoff, of measures that come at three cutoffs or more.
pub fn measures(measures: &[Measure]) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for measure in measures {
        let name = measure.to_string();
        let Some((name, _)) = name.rsplit_once('@') else { continue };
        match found.iter_mut().find(|(candidate, _)| candidate == name) {
            Some((_, count)) => *count += 1,
            None => found.push((name.to_owned(), 1)),
        }
    }
    found.into_iter().filter(|(_, count)| *count >= CUTOFFS).map(|(name, _)| name).collect()
}

/// Returns a chart of each measure with three cutoffs or more, for runs given as names with labels.
pub fn all(scores: &Scores, runs: &[(&str, String)]) -> Vec<Chart> {
    measures(&scores.measures)
        .iter()
        .filter_map(|measure| Chart::new(scores, measure, runs))
        .collect()
}

impl Chart {
    /// Makes the chart of a measure over its cutoffs, for runs given as names with labels. `None`
    /// if the scores have no curve of the measure.
    pub fn new(scores: &Scores, measure: &str, runs: &[(&str, String)]) -> Option<Self> {
        let like: Measure = format!("{measure}@1").parse().ok()?;
        let lines = runs.iter().enumerate().filter_map(|(run, (name, label))| {
            let curve = scores.curve(name, measure)?;
            let fits =
                curve.cutoffs.len() > 1 && curve.values.iter().all(|value| value.is_finite());
            fits.then(|| CurveLine { run, label: label.clone(), name: visible(name), curve })
        });
        let mut lines: Vec<CurveLine> = lines.collect();
        let left = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        let definition = like.definition();
        let better = match definition.better {
            Direction::Higher => ", higher is better",
            Direction::Lower => ", lower is better",
            Direction::Neither => "",
        };
        let (caption, title, across) = match definition.cutoff {
            _ if definition.name == "IPrec" => {
                let caption = "Precision at levels of recall".to_owned();
                (caption, format!("interpolated precision{better}"), CurveAxis::Recall)
            }
            CutoffRule::Recall => (
                format!("{measure} over its levels"),
                format!("{measure}{better}"),
                CurveAxis::Recall,
            ),
            _ => (
                format!("{measure} over its cutoffs"),
                format!("{measure}@k{better}"),
                CurveAxis::Rank,
            ),
        };
        (!lines.is_empty()).then_some(Self {
            caption,
            title,
            across,
            bounds: bounds(&like),
            lines,
            left,
        })
    }

    /// Returns the caption of the chart of a measure over its cutoffs.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// Returns a note on the runs that the chart leaves out, if any.
    pub fn note(&self) -> Option<String> {
        (self.left > 0).then(|| format!("{LINES} runs are drawn; {} more are not.", self.left))
    }

    /// Draws the chart of a measure over its cutoffs in an HTML page.
    pub fn draw(&self, page: &mut Elements) {
        chart(page, self.height(), &self.says(), |paper| self.lines(paper));
    }

    /// Returns the chart of a measure over its cutoffs as an SVG document.
    pub fn document(&self, style: &str) -> Elements {
        document(self.height(), &self.says(), style, |paper| self.lines(paper))
    }

    fn height(&self) -> f64 {
        PLOT + 10.0 + self.lines.len() as f64 * LEGEND
    }

    /// Returns the chart in words: values of each run at the first, middle and last cutoff.
    fn says(&self) -> AltText {
        let lines = self.lines.iter().map(|line| {
            let Curve { cutoffs, values, .. } = &line.curve;
            let last = cutoffs.len() - 1;
            let mut places = vec![0, last / 2, last];
            // A curve of two cutoffs has no middle one.
            places.dedup();
            let values =
                places.iter().map(|&at| format!("{} at {}", number(values[at], 4), cutoffs[at]));
            format!("{}: {}", line.name, values.collect::<Vec<_>>().join(", "))
        });
        AltText {
            title: format!("{}: {} over {}", self.caption, self.title, self.across.name()),
            values: lines.collect::<Vec<_>>().join("; "),
        }
    }

    fn lines(&self, paper: &mut Elements) {
        let curves = self.lines.iter().map(|line| &line.curve);
        let [first, last] = extent(curves.clone().flat_map(|curve| curve.cutoffs.iter().copied()));
        let [low, high] = extent(curves.flat_map(|curve| curve.values.iter().copied()));
        // Precision and recall are shown as parts of 1.
        let (x, y) = match self.across {
            CurveAxis::Rank => {
                (Scale::exact(first, last, 6).with_integer_ticks(), Scale::round(low, high, 5))
            }
            CurveAxis::Recall => (Scale::round(0.0, last, 5), Scale::round(low.min(0.0), high, 5)),
        };
        let plot = Plot::new(x, y.bounded(self.bounds), PLOT, 16.0);
        plot.axes(paper, self.across.name(), &self.title);
        let labels = self.labels(&plot);
        for (number, (line, label)) in self.lines.iter().zip(labels).enumerate() {
            self.line(paper, line, &plot);
            let end = plot.borders()[1];
            text(paper, "label", [end + 5.0, label], shortened(&line.label, 3));
            self.legend(paper, line, PLOT + 14.0 + number as f64 * LEGEND);
        }
    }

    /// Returns the heights of the run labels at the ends of the lines, spaced to avoid overlaps.
    fn labels(&self, plot: &Plot) -> Vec<f64> {
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        let ends = self.lines.iter().map(|line| line.curve.values.last());
        let mut labels: Vec<f64> =
            ends.map(|end| end.map_or(0.0, |&value| plot.y.at(value) + 4.0)).collect();
        sort::by_number(&mut order, |&at| labels[at]);
        let lowest = plot.borders()[3] + 4.0;
        // Down: each label is pushed below its upper neighbour. Then up, from the lower border: a
        // label below the plot is pushed back, and pushes its upper neighbours. Labels keep the
        // order of their lines.
        for at in 1..order.len() {
            labels[order[at]] = labels[order[at]].max(labels[order[at - 1]] + 12.0);
        }
        let mut limit = lowest;
        for &line in order.iter().rev() {
            labels[line] = labels[line].min(limit);
            limit = labels[line] - 12.0;
        }
        labels
    }

    fn line(&self, paper: &mut Elements, line: &CurveLine, plot: &Plot) {
        let Curve { cutoffs, values, .. } = &line.curve;
        let mut path = String::new();
        for at in thinned(cutoffs.len(), DRAWN) {
            let to = if path.is_empty() { 'M' } else { 'L' };
            path.push_str(&format!(
                "{to}{} {}",
                Coordinate(plot.x.at(cutoffs[at])),
                Coordinate(plot.y.at(values[at]))
            ));
        }
        paper.mark("path", &[("class", &stroke(line.run)), ("d", &path)], &line.name);
        for at in thinned(cutoffs.len(), MARKS) {
            let title = format!(
                "{}, {} {}: {}",
                line.name,
                self.across.name(),
                cutoffs[at],
                number(values[at], 4)
            );
            mark(paper, line.run, [plot.x.at(cutoffs[at]), plot.y.at(values[at])], Some(&title));
        }
    }

    fn legend(&self, paper: &mut Elements, entry: &CurveLine, y: f64) {
        line(paper, &stroke(entry.run), [EDGE, y], [EDGE + 36.0, y]);
        mark(paper, entry.run, [EDGE + 18.0, y], None);
        let label = format!("{}  ", entry.label);
        let room = (WIDTH - EDGE - 44.0 - EDGE) / COLUMN - label.len() as f64;
        text(
            paper,
            "label",
            [EDGE + 44.0, y + 4.0],
            format_args!("{label}{}", shortened(&entry.name, room as usize)),
        );
    }
}

/// Returns about `most` evenly spaced indices below `count`, and the last index.
fn thinned(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let every = count.div_ceil(most);
    // The last place stays, because the label of a line stands at its end.
    (0..count).filter(move |at| at % every == 0 || at + 1 == count)
}

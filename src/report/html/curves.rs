//! A measure over its cutoffs, one line for each run.

use super::markup::Elements;
use super::names::bounds;
use super::plot::{AltText, COLUMN, EDGE, Plot, WIDTH, chart, document, line, shortened, text};
use super::scale::{At, Scale, number};
use super::series::{mark, stroke};

use crate::error::printable;
use crate::measure::{Better, CutoffRule, Measure};
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

/// The lines of a measure.
pub struct Chart {
    caption: String,
    /// The title of the upright axis.
    title: String,
    across: Across,
    /// The values that the measure cannot exceed.
    bounds: [f64; 2],
    lines: Vec<CurveLine>,
    /// The number of runs that have no line.
    left: usize,
}

/// The meaning of the cutoffs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Across {
    Rank,
    Recall,
}

impl Across {
    fn name(self) -> &'static str {
        match self {
            Across::Rank => "cutoff rank k",
            Across::Recall => "level of recall",
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

/// The measures with three cutoffs or more, without their cutoffs, in their order.
pub fn measures(measures: &[Measure]) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for measure in measures {
        let name = measure.to_string();
        let Some((name, _)) = name.rsplit_once('@') else { continue };
        match found.iter_mut().find(|(of, _)| of == name) {
            Some((_, count)) => *count += 1,
            None => found.push((name.to_owned(), 1)),
        }
    }
    found.into_iter().filter(|(_, count)| *count >= CUTOFFS).map(|(name, _)| name).collect()
}

/// The charts of all curves that scores have for runs, which are given by names with labels.
pub fn all(scores: &Scores, runs: &[(&str, String)]) -> Vec<Chart> {
    measures(&scores.measures)
        .iter()
        .filter_map(|measure| Chart::of(scores, measure, runs))
        .collect()
}

impl Chart {
    /// The lines of runs, which are given by names with labels. If the runs are many, only the
    /// first have lines. `None` if there is no curve of this measure.
    pub fn of(scores: &Scores, measure: &str, runs: &[(&str, String)]) -> Option<Chart> {
        let like: Measure = format!("{measure}@1").parse().ok()?;
        let lines = runs.iter().enumerate().filter_map(|(run, (name, label))| {
            let curve = scores.curve(name, measure)?;
            let fits =
                curve.cutoffs.len() > 1 && curve.values.iter().all(|value| value.is_finite());
            fits.then(|| CurveLine {
                run,
                label: label.clone(),
                name: printable(name.as_bytes()),
                curve,
            })
        });
        let mut lines: Vec<CurveLine> = lines.collect();
        let left = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        let definition = like.definition();
        let better = match definition.better {
            Better::Higher => ", higher is better",
            Better::Lower => ", lower is better",
            Better::Neither => "",
        };
        let (caption, title, across) = match definition.cutoff {
            _ if definition.name == "IPrec" => {
                let caption = "Precision at levels of recall".to_owned();
                (caption, format!("interpolated precision{better}"), Across::Recall)
            }
            CutoffRule::Recall => {
                (format!("{measure} over its levels"), format!("{measure}{better}"), Across::Recall)
            }
            _ => (
                format!("{measure} over its cutoffs"),
                format!("{measure}@k{better}"),
                Across::Rank,
            ),
        };
        (!lines.is_empty()).then_some(Chart {
            caption,
            title,
            across,
            bounds: bounds(&like),
            lines,
            left,
        })
    }

    /// The caption of the chart.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// A note on the runs that are left out.
    pub fn note(&self) -> Option<String> {
        (self.left > 0).then(|| format!("{LINES} runs are drawn; {} more are not.", self.left))
    }

    /// Draws the chart in a page.
    pub fn draw(&self, page: &mut Elements) {
        chart(page, self.height(), &self.says(), |paper| self.lines(paper));
    }

    /// The chart as an SVG document.
    pub fn document(&self, style: &str) -> Elements {
        document(self.height(), &self.says(), style, |paper| self.lines(paper))
    }

    fn height(&self) -> f64 {
        PLOT + 10.0 + self.lines.len() as f64 * LEGEND
    }

    /// The values in words: those at the first, the middle and the last cutoff of each line.
    fn says(&self) -> AltText {
        let line = |line: &CurveLine| {
            let Curve { cutoffs, values, .. } = &line.curve;
            let at = |at: usize| format!("{} at {}", number(values[at], 4), cutoffs[at]);
            let last = cutoffs.len() - 1;
            let mut places = vec![0, last / 2, last];
            places.dedup();
            format!("{}: {}", line.name, places.into_iter().map(at).collect::<Vec<_>>().join(", "))
        };
        AltText {
            title: format!("{}: {} over {}", self.caption, self.title, self.across.name()),
            values: self.lines.iter().map(line).collect::<Vec<_>>().join("; "),
        }
    }

    fn lines(&self, paper: &mut Elements) {
        let all = |of: fn(&Curve) -> &[f64]| {
            let all = self.lines.iter().flat_map(move |line| of(&line.curve).iter().copied());
            all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| {
                [low.min(at), high.max(at)]
            })
        };
        let ([first, last], [low, high]) = (all(|of| &of.cutoffs), all(|of| &of.values));
        // Precision and recall are shown as parts of 1.
        let (x, y) = match self.across {
            Across::Rank => (Scale::exact(first, last, 6).whole(), Scale::round(low, high, 5)),
            Across::Recall => (Scale::round(0.0, last, 5), Scale::round(low.min(0.0), high, 5)),
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

    /// Returns the heights of the labels at the lines' ends, spaced to avoid overlaps.
    fn labels(&self, plot: &Plot) -> Vec<f64> {
        let end = |line: &CurveLine| {
            line.curve.values.last().map_or(0.0, |&value| plot.y.at(value) + 4.0)
        };
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        let mut labels: Vec<f64> = self.lines.iter().map(end).collect();
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
        let every = cutoffs.len().div_ceil(DRAWN);
        let drawn = |every: usize| {
            (0..cutoffs.len()).filter(move |at| at % every == 0 || at + 1 == cutoffs.len())
        };
        let mut path = String::new();
        for at in drawn(every) {
            let to = if path.is_empty() { 'M' } else { 'L' };
            path.push_str(&format!(
                "{to}{} {}",
                At(plot.x.at(cutoffs[at])),
                At(plot.y.at(values[at]))
            ));
        }
        paper.mark("path", &[("class", &stroke(line.run)), ("d", &path)], &line.name);
        for at in drawn(cutoffs.len().div_ceil(MARKS)) {
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

    fn legend(&self, paper: &mut Elements, of: &CurveLine, y: f64) {
        line(paper, &stroke(of.run), [EDGE, y], [EDGE + 36.0, y]);
        mark(paper, of.run, [EDGE + 18.0, y], None);
        let label = format!("{}  ", of.label);
        let room = (WIDTH - EDGE - 44.0 - EDGE) / COLUMN - label.len() as f64;
        text(
            paper,
            "label",
            [EDGE + 44.0, y + 4.0],
            format_args!("{label}{}", shortened(&of.name, room as usize)),
        );
    }
}

//! The scores of each judge, and how far judges and their scores agree.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use laneval::error::printable;
use laneval::internals::{Evaluation, Timing, tau_b};
use laneval::judges::{JudgeAgreement, MOST_PAIRED_JUDGES};
use laneval::labels::Ids;
use laneval::measure::Measure;
use laneval::report::{Align, Grid, Note, ReportOptions};
use laneval::{Error, Input, Join, JudgedBy, LabelMatrix, RunScores, Scores};
use serde::Serialize;

use super::choice::PlainFormat;
use super::output::print_text;
use super::stop::Stop;
use super::style::{stdout_width, thousands};

/// Refuses measures that have one value over all judges.
pub fn check(measures: &[Measure]) -> Result<(), Stop> {
    match measures.iter().find(|measure| measure.judges().is_some()) {
        Some(measure) => Err(Stop::new(format!(
            "{measure} is one value over all judges: --judges each takes measures without judges="
        ))),
        None => Ok(()),
    }
}

/// Evaluates the runs of a matrix for each judge, over the queries that the judge has judged.
/// Judges are groups in the scores.
pub fn each(
    evaluation: &mut Evaluation<'_>,
    matrix: &LabelMatrix,
    timing: &mut Timing,
) -> Result<Scores, Error> {
    let mut all: Option<Scores> = None;
    let apart = matrix.judges_apart();
    for (judge, name) in matrix.judges().iter().enumerate() {
        let of_judge = apart.matrix(judge)?;
        let mut scores = evaluation.scores(&of_judge, timing)?;
        // Reports escape names where they have to.
        let name = std::str::from_utf8(name).map_or_else(|_| printable(name), str::to_owned);
        scores.runs.iter_mut().for_each(|run| run.group = Some(name.clone()));
        match &mut all {
            None => all = Some(scores),
            Some(all) => {
                // A notice about one judge would read as if it were about all judges.
                all.notices.retain(|notice| scores.notices.contains(notice));
                scores.notices.clear();
                all.append(scores)?;
            }
        }
    }
    all.ok_or_else(|| {
        Error::Unanswerable("no judge is named: judgments were not read by judge".to_owned())
    })
}

/// Notes how far the averages of each run spread over the judges, and, unless there are too many,
/// how far judges agree on the order of the runs.
pub fn notes(scores: &Scores) -> Vec<Note> {
    let mut runs: Vec<&str> = scores.runs.iter().map(|run| &run.name[..]).collect();
    runs.sort_unstable();
    runs.dedup();
    let mut judges: Vec<&str> = scores.runs.iter().filter_map(|run| run.group.as_deref()).collect();
    judges.sort_unstable();
    judges.dedup();
    if judges.len() < 2 {
        return Vec::new();
    }
    let of_judges =
        scores.runs.iter().filter_map(|run| Some(((run.group.as_deref()?, &run.name[..]), run)));
    let known: HashMap<(&str, &str), &RunScores> = of_judges.collect();
    let of_measure = |(at, measure): (usize, &laneval::Measure)| {
        let averages = judges.iter().map(|judge| {
            let of = |run: &&str| {
                known.get(&(*judge, *run)).and_then(|run| run.average(at)).unwrap_or(f64::NAN)
            };
            runs.iter().map(of).collect::<Vec<f64>>()
        });
        let averages: Vec<Vec<f64>> = averages.collect();
        let spread = |run: usize| {
            let of_run = || averages.iter().map(|of| of[run]);
            of_run().fold(f64::NEG_INFINITY, f64::max) - of_run().fold(f64::INFINITY, f64::min)
        };
        let widest =
            (0..runs.len()).max_by(|&one, &other| spread(one).total_cmp(&spread(other)))?;
        let paired = if judges.len() > MOST_PAIRED_JUDGES { 0 } else { judges.len() };
        let pairs = (0..paired).flat_map(|one| (0..one).map(move |other| (one, other)));
        let whole = |of: &[f64]| of.iter().all(|value| !value.is_nan());
        let comparable =
            pairs.filter(|&(one, other)| whole(&averages[one]) && whole(&averages[other]));
        let taus: Vec<f64> =
            comparable.filter_map(|(one, other)| tau_b(&averages[one], &averages[other])).collect();
        let mut text = format!(
            "{measure}: the average of {} differs by up to {:.4} between {} judges, each over the \
             queries that it has judged",
            printable(runs[widest].as_bytes()),
            spread(widest),
            judges.len()
        );
        if runs.len() > 1 && !taus.is_empty() {
            let mean = taus.iter().sum::<f64>() / taus.len() as f64;
            let least = taus.iter().copied().fold(f64::INFINITY, f64::min);
            text += &format!(
                ", the most of all runs; the judges' orders of the runs agree by τ {mean:.2} on \
                 average, {least:.2} at least"
            );
        }
        Some(Note::Note(text))
    };
    scores.measures.iter().enumerate().filter_map(of_measure).collect()
}

/// The agreement of the judges of a text, as it is printed.
#[derive(Serialize)]
struct PrintedAgreement {
    judges: Vec<String>,
    #[serde(flatten)]
    agreement: JudgeAgreement,
}

/// Prints how far the judges of a text agree. The text is read like the judgments of a join.
pub fn print_agreement(path: &Path, join: Join, format: PlainFormat) -> Result<(), Stop> {
    let join = Join { judged_by: Some(JudgedBy::Judge), ..join };
    let qrels = join.qrels(Input::from(path.to_owned()))?;
    let (names, agreement): (Ids, JudgeAgreement) =
        qrels.agreement().ok_or_else(|| Stop::new("the judgments are not by judge"))?;
    let judged = PrintedAgreement { judges: names.iter().map(printable).collect(), agreement };
    print_text(format == PlainFormat::Table, |to| match format {
        PlainFormat::Json => {
            serde_json::to_writer_pretty(&mut *to, &judged)?;
            writeln!(to)
        }
        PlainFormat::Table => judged.write(to),
    })
}

impl PrintedAgreement {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let PrintedAgreement { judges, agreement } = self;
        let mut field = |name: &str, text: String| writeln!(to, "{name:<13}{text}");
        let whole = |count: usize| thousands(count as u64);
        field("judges", whole(judges.len()))?;
        field("judgments", whole(agreement.ratings))?;
        field(
            "documents",
            format!(
                "{}, {} of them by two judges or more",
                whole(agreement.items),
                whole(agreement.shared_items)
            ),
        )?;
        field("Fleiss κ", number(agreement.fleiss))?;
        field(
            "Krippend. α",
            format!(
                "{} nominal, {} ordinal, {} interval",
                number(agreement.alpha_nominal),
                number(agreement.alpha_ordinal),
                number(agreement.alpha_interval)
            ),
        )?;
        writeln!(to)?;
        if agreement.pairs_left_out {
            return writeln!(
                to,
                "Pairs are not compared: there are more than {MOST_PAIRED_JUDGES} judges."
            );
        }
        let columns = [("judge", Align::Left), ("judge", Align::Left)].into_iter();
        let numbers = ["documents", "equal", "Cohen κ", "linear", "quadratic"];
        let columns = columns.chain(numbers.map(|name| (name, Align::Right)));
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        for pair in &agreement.pairs {
            let [one, other] = pair.judges.map(|judge| judges[judge as usize].clone());
            let equal = pair
                .share_equal()
                .map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            let kappas = [pair.kappa, pair.kappa_linear, pair.kappa_quadratic].map(number);
            let cells = [one, other, whole(pair.common), equal].into_iter().chain(kappas);
            grid.push(cells.map(Into::into));
        }
        grid.write(
            &ReportOptions { width: stdout_width(), ..ReportOptions::default() },
            &mut &mut *to,
        )
    }
}

/// A coefficient with three digits; `-` if it has no value.
fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

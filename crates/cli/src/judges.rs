//! The scores of each judge (`--judges each`), and how far judges and their scores agree.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use laneval::error::printable;
use laneval::internals::{Evaluation, Timing, tau_b};
use laneval::judges::{JudgeAgreement, MAX_PAIRED_JUDGES};
use laneval::labels::Ids;
use laneval::measure::Measure;
use laneval::report::Note;
use laneval::{Error, FacetKind, Input, Join, LabelMatrix, RunScores, Scores};
use serde::Serialize;

use super::{
    cli_error::{CliError, CliResult, fail},
    output::{PlainFormat, make_grid, print_plain, write_grid},
    style::thousands,
};

/// Rejects measures that have one value over all judges, where `--judges each` asks for the scores
/// of each judge.
pub fn check(measures: &[Measure]) -> CliResult<()> {
    match measures.iter().find(|measure| measure.judges().is_some()) {
        Some(measure) => fail(format!(
            "{measure} is one value over all judges: --judges each takes measures without judges="
        )),
        None => Ok(()),
    }
}

/// Evaluates the runs of a matrix for each judge, over the queries that the judge has judged.
/// Judges are groups in the scores.
pub fn evaluate_by_judge(
    evaluation: &mut Evaluation<'_>,
    matrix: &LabelMatrix,
    timing: &mut Timing,
) -> Result<Scores, Error> {
    let mut all: Option<Scores> = None;
    let apart = matrix.split_by_judge();
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

/// Returns notes on how far judges differ in the averages of each run, and agree on the order of
/// the runs.
pub fn notes(scores: &Scores) -> Vec<Note> {
    let runs = sorted(scores.runs.iter().map(|run| &run.name[..]));
    let judges = sorted(scores.runs.iter().filter_map(|run| run.group.as_deref()));
    if judges.len() < 2 {
        return Vec::new();
    }
    let of_judges =
        scores.runs.iter().filter_map(|run| Some(((run.group.as_deref()?, &run.name[..]), run)));
    let known: HashMap<(&str, &str), &RunScores> = of_judges.collect();
    let mut notes = Vec::new();
    for (at, measure) in scores.measures.iter().enumerate() {
        let mut averages = Vec::new();
        for &judge in &judges {
            let of_runs = runs.iter().map(|&run| {
                known.get(&(judge, run)).and_then(|run| run.average(at)).unwrap_or(f64::NAN)
            });
            averages.push(of_runs.collect::<Vec<f64>>());
        }
        notes.extend(agreement_note(measure, &runs, &averages));
    }
    notes
}

/// Returns each of some names once, in bytewise order.
pub fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    BTreeSet::from_iter(names).into_iter().collect()
}

/// Returns a note on how far judges differ under a measure, by averages `[judge][run]` and the
/// order of the runs.
fn agreement_note(measure: &Measure, runs: &[&str], averages: &[Vec<f64>]) -> Option<Note> {
    let judges = averages.len();
    let widest = (0..runs.len())
        .max_by(|&one, &other| spread(averages, one).total_cmp(&spread(averages, other)))?;
    // Pairs grow with the square of the judges.
    let paired = if judges > MAX_PAIRED_JUDGES { 0 } else { judges };
    let pairs = (0..paired).flat_map(|one| (0..one).map(move |other| (one, other)));
    let taus = pairs.map(|(one, other)| (&averages[one], &averages[other])).filter_map(
        // A judge with an average of only some runs has no order of all runs.
        |(one, other)| {
            let is_whole = !one.iter().chain(other).any(|value| value.is_nan());
            if is_whole { tau_b(one, other) } else { None }
        },
    );
    let taus: Vec<f64> = taus.collect();
    let mut text = format!(
        "{measure}: the average of {} differs by up to {:.4} between {judges} judges, each over \
         the queries that it has judged",
        printable(runs[widest].as_bytes()),
        spread(averages, widest)
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
}

/// Returns the largest average of a run by any judge less the smallest; NaN does not count.
fn spread(averages: &[Vec<f64>], run: usize) -> f64 {
    let of_run = averages.iter().map(|values| values[run]);
    of_run.clone().fold(f64::NEG_INFINITY, f64::max) - of_run.fold(f64::INFINITY, f64::min)
}

/// The agreement of the judges in a file of judgments, as `laneval info --facet judge` prints it.
#[derive(Serialize)]
struct PrintedAgreement {
    judges: Vec<String>,
    #[serde(flatten)]
    agreement: JudgeAgreement,
}

/// Prints how far the judges in a file of judgments agree, for `laneval info --facet judge`. The
/// file is read like the judgments of a join.
pub fn print_agreement(path: &Path, join: Join, format: PlainFormat) -> CliResult<()> {
    let join = Join { judged_by: Some(FacetKind::Judge), ..join };
    let qrels = join.qrels(Input::from(path.to_owned()))?;
    let (names, agreement): (Ids, JudgeAgreement) =
        qrels.agreement().ok_or_else(|| CliError::new("the judgments are not by judge"))?;
    let judged = PrintedAgreement { judges: names.iter().map(printable).collect(), agreement };
    print_plain(format, &judged, |to| judged.write(to))
}

impl PrintedAgreement {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let Self { judges, agreement } = self;
        let [judge_count, ratings, items, shared] =
            [judges.len(), agreement.ratings, agreement.items, agreement.shared_items]
                .map(|count| thousands(count as u64));
        let [nominal, ordinal, interval] =
            [agreement.alpha_nominal, agreement.alpha_ordinal, agreement.alpha_interval]
                .map(number);
        writeln!(to, "judges       {judge_count}")?;
        writeln!(to, "judgments    {ratings}")?;
        writeln!(to, "documents    {items}, {shared} of them by two judges or more")?;
        writeln!(to, "Fleiss κ     {}", number(agreement.fleiss))?;
        writeln!(to, "Krippend. α  {nominal} nominal, {ordinal} ordinal, {interval} interval")?;
        writeln!(to)?;
        if agreement.pairs_left_out {
            return writeln!(
                to,
                "Pairs are not compared: there are more than {MAX_PAIRED_JUDGES} judges."
            );
        }
        let numbers = ["documents", "equal", "Cohen κ", "linear", "quadratic"];
        let mut grid = make_grid(&["judge"; 2], &numbers);
        for pair in &agreement.pairs {
            let [one, other] = pair.judges.map(|judge| judges[judge as usize].clone());
            let equal = pair
                .share_equal()
                .map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            let kappas = [pair.kappa, pair.kappa_linear, pair.kappa_quadratic].map(number);
            let common = thousands(pair.common as u64);
            let cells = [one, other, common, equal].into_iter().chain(kappas);
            grid.push(cells.map(Into::into));
        }
        write_grid(&grid, to)
    }
}

/// Formats a coefficient of agreement with three decimals; `-` if it has no value.
fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

//! The outputs of `laneval compare`, and the results of its gates (`--fail-if`).

use laneval::compare::{Comparison, Gate, RunGateVerdict};
use laneval::error::printable;
use laneval::report::{ComparisonReport, Format, Note, ReportOptions, html};

use crate::{
    cli_error::CliResult,
    conflicts::{self, Requested},
    gates,
    page::{self, PageProvenance},
    score_output::ReportTarget,
};

/// Rejects output formats that have no place for a comparison, or that need gates (`--fail-if`)
/// where there are none.
pub fn check(targets: &[ReportTarget], gates: &[Gate]) -> CliResult<()> {
    for target in targets {
        let own = [(Requested::Compare, true), (Requested::NoGates, gates.is_empty())];
        conflicts::check(own.into_iter().chain(conflicts::requested_by_format(target.format)))?;
        target.check_comparison()?;
    }
    Ok(())
}

/// Writes a comparison to its outputs; an HTML page also has the origin of its numbers. Ends with
/// exit code 1 if a gate failed.
pub fn write(
    report: &ComparisonReport<'_>,
    look: &ReportOptions,
    origin: &PageProvenance,
    targets: Vec<ReportTarget>,
    quiet: bool,
) -> CliResult<()> {
    let cases = report.cases();
    let is_seen = targets.iter().any(ReportTarget::is_for_people);
    for target in targets {
        let (format, look) = (target.format, target.report_options(look));
        target.write(|mut to| match format {
            Format::Html => {
                let title = page::title(report.comparison);
                let mut context = origin.context(&title);
                (context.gates, context.groups, context.group_kind) =
                    (report.gates, report.groups, report.kind);
                html::comparison(report.comparison, &context, &mut to)
            }
            _ => format.write_report(report, &look, &mut to),
        })?;
    }
    gates::print_passed(&cases, quiet || is_seen);
    gates::exit_status(&cases, is_seen)
}

/// Decides the gates (`--fail-if`) that name the compared group of queries, and those that name
/// none.
pub fn check_gates(
    comparison: &Comparison,
    gates: &[Gate],
) -> CliResult<Vec<(Gate, Vec<RunGateVerdict>)>> {
    let here = comparison.group.as_deref();
    gates
        .iter()
        .filter(|gate| gate.group().is_none_or(|group| here == Some(group)))
        .map(|gate| Ok((gate.clone(), comparison.gate_verdicts(gate)?)))
        .collect()
}

/// Returns the notes of a comparison, with the names of runs made printable.
pub fn notes(comparison: &Comparison) -> Vec<Note> {
    comparison.notes.iter().map(|note| Note::Note(printable(note.as_bytes()))).collect()
}

/// Warns if a gate (`--fail-if`) asks for p, and fewer than 10 queries are compared.
pub fn warn_few_queries(comparison: &Comparison, gates: &[Gate]) -> Option<Note> {
    let few = comparison.queries < 10 && gates.iter().any(Gate::needs_p);
    few.then(|| {
        Note::Warning(format!("a gate asks for p of {} queries: that is few", comparison.queries))
    })
}

//! The outputs of a comparison, and the results of its gates.

use laneval::compare::{Comparison, Gate, Judged};
use laneval::error::printable;
use laneval::report::{ComparisonReport, Format, Note, ReportOptions, html};

use crate::gates;
use crate::page::{self, PageOrigin};
use crate::refused::{self, Wish};
use crate::score_output::ReportTarget;
use crate::stop::Stop;

/// Refuses outputs that have no place for a comparison, or for no gates.
pub fn check(targets: &[ReportTarget], gates: &[Gate]) -> Result<(), Stop> {
    for target in targets {
        let own = [(Wish::Compare, true), (Wish::NoGates, gates.is_empty())];
        refused::check(own.into_iter().chain(refused::of_format(target.format)))?;
        target.check_comparison()?;
    }
    Ok(())
}

/// Writes a comparison to its outputs; a page has the origin of its numbers. Ends with exit code 1
/// if a gate failed.
pub fn write(
    report: &ComparisonReport<'_>,
    look: &ReportOptions,
    origin: &PageOrigin,
    targets: Vec<ReportTarget>,
    quiet: bool,
) -> Result<(), Stop> {
    let cases = report.cases();
    let is_seen = targets.iter().any(ReportTarget::is_seen);
    for target in targets {
        let (format, look) = (target.format, target.look(look));
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
    gates::tell_all(&cases, quiet || is_seen);
    gates::fate(&cases, is_seen)
}

/// Judges the gates that name the group that is compared, or none.
pub fn judged(comparison: &Comparison, gates: &[Gate]) -> Result<Vec<(Gate, Vec<Judged>)>, Stop> {
    let is_here =
        |gate: &&Gate| gate.group().is_none_or(|group| comparison.group.as_deref() == Some(group));
    let judged = |gate: &Gate| Ok((gate.clone(), comparison.judge(gate)?));
    gates.iter().filter(is_here).map(judged).collect()
}

/// Returns the notes of a comparison, in which names of runs are printable.
pub fn notes(comparison: &Comparison) -> Vec<Note> {
    comparison.notes.iter().map(|note| Note::Note(printable(note.as_bytes()))).collect()
}

/// Warns if gates ask for p of few queries.
pub fn few(comparison: &Comparison, gates: &[Gate]) -> Option<Note> {
    let few = comparison.queries < 10 && gates.iter().any(Gate::asks_p);
    few.then(|| {
        Note::Warning(format!("a gate asks for p of {} queries: that is few", comparison.queries))
    })
}

//! The output of a comparison, and the verdicts of its gates.

use laneval::compare::{Comparison, Gate, Judged};
use laneval::report::{Format, Note, ReportOptions as Look, html};

use crate::gates;
use crate::output::Output;
use crate::page::{self, PageOrigin};
use crate::stop::Stop;

/// Writes a comparison; a page has the origin of its numbers.
pub fn write(
    comparison: &Comparison,
    gates: &[(Gate, Vec<Judged>)],
    (format, look): (Format, &Look),
    origin: &PageOrigin,
    output: Output,
) -> Result<(), Stop> {
    output.write(|mut to| match format {
        Format::Html => {
            let title = page::title(comparison);
            let mut context = origin.context(&title);
            context.gates = gates;
            html::comparison(comparison, &context, &mut to)
        }
        _ => format.write_comparison(comparison, gates, look, &mut to),
    })
}

/// Judges the gates.
pub fn judged(comparison: &Comparison, gates: &[Gate]) -> Result<Vec<(Gate, Vec<Judged>)>, Stop> {
    let judged = |gate: &Gate| Ok((gate.clone(), comparison.judge(gate)?));
    gates.iter().map(judged).collect()
}

/// Warns if gates ask for p of few queries.
pub fn few(comparison: &Comparison, gates: &[Gate]) -> Option<Note> {
    let few = comparison.queries < 10 && gates.iter().any(Gate::asks_p);
    few.then(|| Note::Warning(format!("a gate asks for p of {} queries: that is few", comparison.queries)))
}

/// Returns exit code 1 if a gate failed.
pub fn fate(comparison: &Comparison, judged: &[(Gate, Vec<Judged>)]) -> Result<(), Stop> {
    let failed = |(gate, judged): &(Gate, Vec<Judged>)| {
        let failed = judged.iter().filter(|of| of.verdict.failed);
        failed.map(|of| format!("{}: {gate}", comparison.runs[of.run].name)).collect::<Vec<_>>()
    };
    gates::fate(&judged.iter().flat_map(failed).collect::<Vec<_>>())
}

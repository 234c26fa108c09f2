//! The gates of `--fail-if`: conditions on scores under which a command ends with exit code 1.

use laneval::compare::{Gate, GateChange, GateInputs};
use laneval::error::printable;
use laneval::measure::Measure;
use laneval::options::Given;
use laneval::report::{GateCase, write_cases};
use laneval::{Error, Evaluator, Scores};

use super::{
    cli_error::{CliError, CliResult, fail},
    judges::sorted,
    score_output::ReportTarget,
    style::{comma_list, print_line},
};

/// Returns the gates that `--fail-if` gives.
pub fn given(given: &Given) -> CliResult<Vec<Gate>> {
    given.texts("fail-if").into_iter().map(|text| Ok(Gate::parse(text)?)).collect()
}

/// Rejects gates (`--fail-if`) that name a group of queries without a query that counts.
pub fn check_groups<'a>(
    gates: &[Gate],
    groups: impl Iterator<Item = &'a str> + Clone,
) -> CliResult<()> {
    let Some(gate) = gates
        .iter()
        .find(|gate| gate.group().is_some_and(|group| groups.clone().all(|name| name != group)))
    else {
        return Ok(());
    };
    let instead = match comma_list(groups.map(|name| printable(name.as_bytes()))) {
        known if known.is_empty() => "--group-by FILE gives groups".to_owned(),
        known => format!("there are {known}"),
    };
    fail(format!(
        "the gate `{gate}` cannot be computed: no query that counts is in the group {}: {instead}",
        gate.group().unwrap_or_default()
    ))
}

/// Adds the measures of gates (`--fail-if`) to an evaluator, behind the requested measures.
pub fn with_measures(evaluator: Evaluator, gates: &[Gate]) -> Evaluator {
    let mut measures: Vec<Measure> = evaluator.measures().to_vec();
    for gate in gates {
        if !measures.contains(gate.measure()) {
            measures.push(gate.measure().clone());
        }
    }
    evaluator.with_measures(measures)
}

/// Decides for each run the gates on its average (`AP < 0.3`), over all queries or the group of
/// queries that they name.
pub fn check_gates(scores: &Scores, gates: &[Gate]) -> CliResult<Vec<GateCase>> {
    let mut cases = Vec::new();
    let with_queries = scores.runs.iter().filter(|run| run.queries > 0);
    let groups = sorted(with_queries.filter_map(|run| run.group.as_deref()));
    check_groups(gates, groups.into_iter())?;
    for gate in gates {
        let measure = scores.measures.iter().position(|candidate| candidate == gate.measure());
        for run in scores.runs.iter().filter(|run| run.group.as_deref() == gate.group()) {
            let average = measure.and_then(|measure| run.average(measure)).ok_or_else(|| {
                Error::Unanswerable(format!(
                    "the gate `{gate}` cannot be computed: {} has no average",
                    run.name
                ))
            })?;
            gate.check_skipped(measure.map_or(0, |measure| run.skipped(measure)), run.queries)?;
            // Scores have no baseline, and gates that need a baseline were refused before.
            let verdict = gate.verdict(GateInputs {
                run: average,
                baseline: None,
                paired: None,
                worse: None,
                judged: None,
            })?;
            // A gate that passes on the wrong files would hide the mistake; a failed gate shows it.
            if !verdict.failed && run.has_nothing_judged() {
                return fail(format!(
                    "the gate `{gate}` cannot be computed: no result of {} is judged: are these \
                     the right files, with the same ids?",
                    printable(run.name.as_bytes())
                ));
            }
            let sentence = gate.sentence(&run.name, &verdict, GateChange::default()).to_string();
            cases.push(GateCase {
                run: run.name.clone(),
                gate: gate.to_string(),
                failed: verdict.failed,
                sentence,
            });
        }
    }
    Ok(cases)
}

/// Writes the results of gates (`--fail-if`) as JUnit XML; nothing if a gate could not be computed.
pub fn write(cases: &CliResult<Vec<GateCase>>, suite: &str, target: ReportTarget) -> CliResult<()> {
    match cases {
        Ok(cases) => target.write(|mut to| write_cases(suite, cases, &mut to)),
        Err(_) => Ok(()),
    }
}

/// Prints on stderr the gates (`--fail-if`) that passed, unless `quiet`.
pub fn print_passed(cases: &[GateCase], quiet: bool) {
    // What failed is in the error.
    for case in cases.iter().filter(|case| !quiet && !case.failed) {
        let text = format!("{}: {}  ({})", case.run, case.gate, case.sentence);
        print_line(format_args!("PASSED  {}", printable(text.as_bytes())));
    }
}

/// Returns an error with exit code 1 if a gate (`--fail-if`) failed. If `is_seen`, the message
/// leaves out the details, because an output has shown the details already.
pub fn exit_status(cases: &[GateCase], is_seen: bool) -> CliResult<()> {
    let failed = cases.iter().filter(|case| case.failed).map(|case| {
        let detail = if is_seen { String::new() } else { format!(" ({})", case.sentence) };
        let text = format!("{}: {}{detail}", case.run, case.gate);
        format!("a gate failed: {}", printable(text.as_bytes()))
    });
    let mut messages: Vec<String> = failed.collect();
    match messages.len() {
        0 => return Ok(()),
        1 => {}
        count => messages.push(format!("{count} of {} gates failed", cases.len())),
    }
    Err(CliError::WithCode(1, messages))
}

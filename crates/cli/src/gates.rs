//! Gates of the command line: conditions for exit code 1.

use laneval::compare::{ChangeTold, Gate, GateFacts};
use laneval::error::printable;
use laneval::measure::Measure;
use laneval::report::{GateCase, write_cases};
use laneval::{Error, Evaluator, Scores};

use super::score_output::ReportTarget;
use super::stop::Stop;
use super::style::tell;

/// Reads a gate.
pub fn parse(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| error.to_string())
}

/// Reads a gate that looks at one run only.
pub fn parse_threshold(text: &str) -> Result<Gate, String> {
    match parse(text)? {
        gate if gate.compares() => Err(
            "it compares with a baseline, which only `laneval compare` has: a gate such as `AP \
                 < 0.3` was expected"
                .to_owned(),
        ),
        gate => Ok(gate),
    }
}

/// Checks that queries are in the groups that gates name.
pub fn check_groups<'a>(
    gates: &[Gate],
    groups: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Stop> {
    let lacks =
        |gate: &&Gate| gate.group().is_some_and(|group| groups.clone().all(|of| of != group));
    let Some(gate) = gates.iter().find(lacks) else { return Ok(()) };
    let known: Vec<String> = groups.map(|of| printable(of.as_bytes())).collect();
    let instead = match known.as_slice() {
        [] => "--group-by FILE gives groups".to_owned(),
        _ => format!("there are {}", known.join(", ")),
    };
    Err(Stop::new(format!(
        "the gate `{gate}` cannot be computed: no query that counts is in the group {}: {instead}",
        gate.group().unwrap_or_default()
    )))
}

/// Adds the measures of gates to an evaluator, behind those that were asked for.
pub fn with_measures(evaluator: Evaluator, gates: &[Gate]) -> Evaluator {
    let mut measures: Vec<Measure> = evaluator.measures().to_vec();
    for gate in gates {
        if !measures.contains(gate.measure()) {
            measures.push(gate.measure().clone());
        }
    }
    evaluator.with_measures(measures)
}

/// Judges gates that look at one run only, for each run, over all queries or the group that they
/// name.
pub fn judged(scores: &Scores, gates: &[Gate]) -> Result<Vec<GateCase>, Stop> {
    let mut cases = Vec::new();
    let with_queries = scores.runs.iter().filter(|run| run.queries > 0);
    let mut groups: Vec<&str> = with_queries.filter_map(|run| run.group.as_deref()).collect();
    groups.sort_unstable();
    groups.dedup();
    check_groups(gates, groups.into_iter())?;
    for gate in gates {
        let measure = scores.measures.iter().position(|of| of == gate.measure());
        for run in scores.runs.iter().filter(|run| run.group.as_deref() == gate.group()) {
            let average = measure.and_then(|measure| run.average(measure)).ok_or_else(|| {
                Error::Unanswerable(format!(
                    "the gate `{gate}` cannot be computed: {} has no average",
                    run.name
                ))
            })?;
            gate.check_skipped(measure.map_or(0, |measure| run.skipped(measure)), run.queries)?;
            let verdict = gate.verdict(GateFacts {
                run: average,
                baseline: None,
                paired: None,
                worse: None,
                judged: None,
            })?;
            if !verdict.failed && run.has_nothing_judged() {
                return Err(Stop::new(format!(
                    "the gate `{gate}` cannot be computed: no result of {} is judged: are these \
                     the right files, with the same ids?",
                    printable(run.name.as_bytes())
                )));
            }
            let told = gate.sentence(&run.name, &verdict, ChangeTold::default()).to_string();
            cases.push(GateCase {
                run: run.name.clone(),
                gate: gate.to_string(),
                failed: verdict.failed,
                told,
            });
        }
    }
    Ok(cases)
}

/// Writes the results of gates as JUnit's XML; those that could not be computed are no results.
pub fn write(
    cases: &Result<Vec<GateCase>, Stop>,
    suite: &str,
    target: ReportTarget,
) -> Result<(), Stop> {
    match cases {
        Ok(cases) => target.write(|mut to| write_cases(suite, cases, &mut to)),
        Err(_) => Ok(()),
    }
}

/// Prints the results of gates on stderr.
pub fn tell_all(cases: &[GateCase], quiet: bool) {
    // What failed is in the error.
    for case in cases.iter().filter(|case| !quiet && !case.failed) {
        let text = format!("{}: {}  ({})", case.run, case.gate, case.told);
        tell(format_args!("PASSED  {}", printable(text.as_bytes())));
    }
}

/// Returns exit code 1 if a gate failed. If `is_seen`, the message leaves out the details, because
/// an output has shown the details already.
pub fn fate(cases: &[GateCase], is_seen: bool) -> Result<(), Stop> {
    let told = |case: &GateCase| {
        let told = if is_seen { String::new() } else { format!(" ({})", case.told) };
        printable(format!("{}: {}{told}", case.run, case.gate).as_bytes())
    };
    let failed: Vec<String> = cases.iter().filter(|case| case.failed).map(told).collect();
    match failed.len() {
        0 => Ok(()),
        1 => Err(Stop::coded(1, format!("a gate failed: {}", failed[0]))),
        count => Err(Stop::Coded(
            1,
            failed
                .iter()
                .map(|failed| format!("a gate failed: {failed}"))
                .chain([format!("{count} of {} gates failed", cases.len())])
                .collect(),
        )),
    }
}

//! Gates of the command line: conditions for exit code 1.

use laneval::compare::{Gate, GateFacts};
use laneval::measure::Measure;
use laneval::{Error, Evaluator, Scores};

use super::stop::Stop;
use super::style::tell;

/// Reads a gate.
pub fn parse(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| error.to_string())
}

/// Reads a gate that looks at one run only.
pub fn parse_threshold(text: &str) -> Result<Gate, String> {
    match parse(text)? {
        gate if gate.compares() => {
            Err("it compares with a baseline, which only `laneval compare` has: a gate such as `AP < 0.3` was expected".to_owned())
        }
        gate => Ok(gate),
    }
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

/// Prints for each run the results of gates that look at one run only, and ends with exit code 1 if one failed.
pub fn judge(scores: &Scores, gates: &[Gate]) -> Result<(), Stop> {
    let mut failed = Vec::new();
    for gate in gates {
        let measure = scores.measures.iter().position(|of| of == gate.measure());
        for run in scores.runs.iter().filter(|run| run.group.is_none()) {
            let average = measure.and_then(|measure| run.average(measure)).ok_or_else(|| {
                Error::Unanswerable(format!(
                    "the gate `{gate}` cannot be computed: {} has no average",
                    run.name
                ))
            })?;
            let verdict =
                gate.verdict(GateFacts { run: average, baseline: None, paired: None, worse: None })?;
            tell(format_args!(
                "{}  {}: {gate}  ({average:.6})",
                if verdict.failed { "FAILED" } else { "passed" },
                run.name
            ));
            if verdict.failed {
                failed.push(format!("{}: {gate}", run.name));
            }
        }
    }
    fate(&failed)
}

/// Returns exit code 1 if a gate failed; `failed` has the runs and the gates.
pub fn fate(failed: &[String]) -> Result<(), Stop> {
    match failed.len() {
        0 => Ok(()),
        1 => Err(Stop::coded(1, format!("a gate failed: {}", failed[0]))),
        count => Err(Stop::coded(1, format!("{count} gates failed: {}", failed.join("; ")))),
    }
}

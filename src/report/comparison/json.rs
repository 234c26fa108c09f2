//! The JSON document of a comparison of runs.

use std::io::{self, Write};

use super::document::{
    ComparisonDocument, JsonAgreement, JsonAnova, JsonDiscrimination, JsonGate, JsonGroup,
    JsonPair, JsonQuery, JsonRun, JsonSettings, JsonVerdict,
};
use super::report::{ComparisonReport, GroupKind};
use crate::compare::{Anova, Comparison, Gate, GateSentence, Permutations, RunGateVerdict};
use crate::report::JsonText;
use crate::report::options::ReportOptions;

/// The version of the document's keys. They are only added to; were one renamed or given another
/// meaning, this would grow.
const SCHEMA: u32 = 1;

/// Writes a comparison of runs as a JSON document.
pub fn write(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, &document(report, options))?;
    to.write_all(b"\n")
}

/// Makes the JSON document of a comparison of runs.
fn document<'a>(report: &ComparisonReport<'a>, options: &ReportOptions) -> ComparisonDocument<'a> {
    let comparison = report.comparison;
    ComparisonDocument {
        schema: SCHEMA,
        laneval: env!("CARGO_PKG_VERSION"),
        verdict: verdict(comparison),
        settings: settings(comparison),
        queries: comparison.queries,
        measures: comparison.measures.iter().map(ToString::to_string).collect(),
        skipped: if comparison.skipped.iter().any(|&count| count > 0) {
            comparison.skipped.clone()
        } else {
            Vec::new()
        },
        runs: runs(comparison),
        pairs: pairs(comparison),
        anova: comparison
            .measures
            .iter()
            .zip(&comparison.anova)
            .map(|(measure, analysis)| anova(measure.to_string(), analysis))
            .collect(),
        agreement: comparison
            .agreement
            .iter()
            .map(|agreement| JsonAgreement {
                measure: comparison.measures[agreement.measure].to_string(),
                tau_b: agreement.tau,
                tau_ap_b: agreement.tau_ap,
                rbo: agreement.overlap,
            })
            .collect(),
        discrimination: comparison
            .discrimination()
            .into_iter()
            .map(|discrimination| JsonDiscrimination {
                measure: comparison.measures[discrimination.measure].to_string(),
                apart: discrimination.apart,
                p: discrimination.p,
            })
            .collect(),
        gates: results(comparison, report.gates),
        sentences: if options.all_pairs {
            comparison.all_sentences()
        } else {
            comparison.sentences()
        },
        notes: &comparison.notes,
        per_query: if options.per_query {
            (0..comparison.measures.len()).flat_map(|at| per_query(comparison, at)).collect()
        } else {
            Vec::new()
        },
        groups: groups(report, GroupKind::Queries),
        judges: groups(report, GroupKind::Judge),
    }
}

fn verdict(comparison: &Comparison) -> JsonVerdict<'_> {
    let best = comparison.best(0);
    let others = comparison.compares_all_pairs().then(|| {
        let others = comparison.best_group(0).into_iter().filter(|&run| run != best);
        others.map(|run| comparison.name(run)).collect()
    });
    JsonVerdict {
        text: comparison.verdict().join(" "),
        best: comparison.name(best),
        not_told_from_best: others,
    }
}

fn pairs(comparison: &Comparison) -> Vec<JsonPair<'_>> {
    comparison.differences.iter().map(|difference| JsonPair(comparison, difference)).collect()
}

/// Returns the groups of a comparison for its JSON, if they are of this kind (queries or judges).
fn groups<'a>(report: &ComparisonReport<'a>, kind: GroupKind) -> Vec<JsonGroup<'a>> {
    let groups = if report.kind == kind { report.groups } else { &[] };
    let groups = groups.iter().map(|group| JsonGroup {
        name: &group.name,
        queries: group.comparison.queries,
        verdict: verdict(&group.comparison),
        runs: runs(&group.comparison),
        pairs: pairs(&group.comparison),
        gates: results(&group.comparison, &group.gates),
    });
    groups.collect()
}

fn settings(comparison: &Comparison) -> JsonSettings<'_> {
    let options = &comparison.options;
    JsonSettings {
        baseline: comparison.baseline.map(|at| comparison.name(at)),
        test: options.test.to_string(),
        alternative: options.alternative.to_string(),
        alpha: options.alpha,
        correction: options.correction.to_string(),
        family: options.family.to_string(),
        family_size: comparison.family_size,
        ci: options.interval.to_string(),
        permutations: match options.permutations {
            Permutations::Fixed(draws) => draws,
            _ => comparison.draws,
        },
        seed: options.seed,
        margin: options.margin,
        power: options.power,
        tie: options.tie,
        queries: comparison.query_set.to_string(),
    }
}

fn runs(comparison: &Comparison) -> Vec<JsonRun<'_>> {
    let runs = comparison.runs.iter().map(|run| JsonRun {
        name: &run.name,
        label: &run.label,
        filled: run.filled,
        means: run.means.clone(),
        judged: &run.judged,
    });
    runs.collect()
}

fn anova(measure: String, analysis: &Anova) -> JsonAnova {
    JsonAnova {
        measure,
        f_runs: analysis.runs.f,
        df_runs: analysis.runs.df,
        p_runs: analysis.runs.p,
        f_queries: analysis.queries.f,
        df_queries: analysis.queries.df,
        p_queries: analysis.queries.p,
        ss_error: analysis.error,
        df_error: analysis.error_df,
    }
}

/// Returns the result of each gate for each run, for the JSON of a comparison.
fn results<'a>(
    comparison: &'a Comparison,
    gates: &[(Gate, Vec<RunGateVerdict>)],
) -> Vec<JsonGate<'a>> {
    let mut results = Vec::new();
    for (gate, judged) in gates {
        for judged in judged {
            let GateSentence { happened, allowed } = comparison.gate_sentence(gate, judged);
            let verdict = &judged.verdict;
            results.push(JsonGate {
                gate: gate.to_string(),
                run: comparison.name(judged.run),
                verdict: if verdict.failed { "failed" } else { "passed" },
                value: verdict.value,
                threshold: verdict.threshold,
                p: verdict.p,
                happened,
                allowed,
            });
        }
    }
    results
}

/// Returns the values of all runs for each query under a measure, for the JSON of a comparison.
fn per_query(comparison: &Comparison, measure: usize) -> impl Iterator<Item = JsonQuery<'_>> {
    let defined = comparison
        .query_ids()
        .enumerate()
        .filter(move |&(at, _)| comparison.is_defined(measure, at));
    defined.map(move |(query, id)| JsonQuery {
        query_id: JsonText(id),
        measure: comparison.measures[measure].to_string(),
        values: (0..comparison.runs.len())
            .map(|run| (comparison.name(run), comparison.values(measure, run)[query]))
            .collect(),
    })
}

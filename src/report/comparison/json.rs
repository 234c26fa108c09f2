//! A comparison as one JSON document.

use std::io::{self, Write};

use super::document::{
    AgreementOf, AnovaOf, ComparisonDocument, DiscriminationOf, GateOf, JsonQuery, JsonRun, JsonSettings,
    PairOf,
};
use crate::compare::{Agreement, Anova, Comparison, Gate, Judged, Permutations};
use crate::report::JsonText;
use crate::report::options::ReportOptions;

/// The version of the document's keys. They are only added to; were one renamed or given another meaning, this would grow.
const SCHEMA: u32 = 1;

/// Writes the document.
pub fn write(
    comparison: &Comparison,
    gates: &[(Gate, Vec<Judged>)],
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, &document(comparison, gates, options))?;
    to.write_all(b"\n")
}

/// The document of a comparison, its parts in the order in which they are written.
fn document<'a>(
    comparison: &'a Comparison,
    gates: &[(Gate, Vec<Judged>)],
    options: &ReportOptions,
) -> ComparisonDocument<'a> {
    let measure = |at: usize| comparison.measures[at].to_string();
    ComparisonDocument {
        schema: SCHEMA,
        laneval: env!("CARGO_PKG_VERSION"),
        settings: settings(comparison),
        queries: comparison.queries,
        measures: comparison.measures.iter().map(ToString::to_string).collect(),
        runs: runs(comparison),
        pairs: comparison.differences.iter().map(|of| PairOf(comparison, of)).collect(),
        anova: comparison.anova.iter().enumerate().map(|(at, of)| anova(measure(at), of)).collect(),
        agreement: comparison.agreement.iter().map(|of| agreement(measure(of.measure), of)).collect(),
        discrimination: comparison
            .discrimination()
            .into_iter()
            .map(|of| DiscriminationOf { measure: measure(of.measure), apart: of.apart, p: of.p })
            .collect(),
        gates: gates.iter().flat_map(|(gate, judged)| verdicts(comparison, gate, judged)).collect(),
        sentences: comparison.sentences(),
        notes: &comparison.notes,
        per_query: if options.per_query {
            (0..comparison.measures.len()).flat_map(|at| per_query(comparison, at)).collect()
        } else {
            Vec::new()
        },
    }
}

fn name(comparison: &Comparison, run: usize) -> &str {
    &comparison.runs[run].name
}

fn settings(comparison: &Comparison) -> JsonSettings<'_> {
    let asked = &comparison.options;
    JsonSettings {
        baseline: comparison.baseline.map(|at| name(comparison, at)),
        test: asked.test.to_string(),
        alternative: asked.alternative.to_string(),
        alpha: asked.alpha,
        correction: asked.correction.to_string(),
        family: asked.family.to_string(),
        family_size: comparison.family_size,
        ci: asked.interval.to_string(),
        permutations: match asked.permutations {
            Permutations::Fixed(draws) => draws,
            _ => comparison.draws,
        },
        seed: asked.seed,
        margin: asked.margin,
        power: asked.power,
        tie: asked.tie,
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

fn anova(measure: String, of: &Anova) -> AnovaOf {
    AnovaOf {
        measure,
        f_runs: of.runs.f,
        df_runs: of.runs.df,
        p_runs: of.runs.p,
        f_queries: of.queries.f,
        df_queries: of.queries.df,
        p_queries: of.queries.p,
        ss_error: of.error,
        df_error: of.error_df,
    }
}

fn agreement(measure: String, of: &Agreement) -> AgreementOf {
    AgreementOf { measure, tau_b: of.tau, tau_ap_b: of.tau_ap, rbo: of.overlap }
}

/// What a gate came to for each run that was judged.
fn verdicts<'a>(
    comparison: &'a Comparison,
    gate: &Gate,
    judged: &[Judged],
) -> impl Iterator<Item = GateOf<'a>> {
    judged.iter().map(|of| GateOf {
        gate: gate.to_string(),
        run: name(comparison, of.run),
        verdict: if of.verdict.failed { "failed" } else { "passed" },
        value: of.verdict.value,
        threshold: of.verdict.threshold,
        p: of.verdict.p,
    })
}

/// The values of each query under a measure.
fn per_query(comparison: &Comparison, measure: usize) -> impl Iterator<Item = JsonQuery<'_>> {
    let value = move |run, query: usize| (name(comparison, run), comparison.values(measure, run)[query]);
    comparison.query_ids().enumerate().map(move |(query, id)| JsonQuery {
        query_id: JsonText(id),
        measure: comparison.measures[measure].to_string(),
        values: (0..comparison.runs.len()).map(|run| value(run, query)).collect(),
    })
}

//! A comparison as a JSON document.

use std::io::{self, Write};

use super::document::{
    AgreementOf, AnovaOf, ComparisonDocument, DiscriminationOf, GateOf, JsonGroup, JsonQuery,
    JsonRun, JsonSettings, JsonVerdict, PairOf,
};
use super::whole::{ComparedGroup, ComparisonReport, GroupKind};
use crate::compare::{Agreement, Anova, Comparison, Gate, GateSentence, Judged, Permutations};
use crate::report::JsonText;
use crate::report::options::ReportOptions;

/// The version of the document's keys. They are only added to; were one renamed or given another
/// meaning, this would grow.
const SCHEMA: u32 = 1;

/// Writes the document.
pub fn write(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, &document(report, options))?;
    to.write_all(b"\n")
}

/// The document of a comparison, its parts in the order in which they are written.
fn document<'a>(report: &ComparisonReport<'a>, options: &ReportOptions) -> ComparisonDocument<'a> {
    let comparison = report.comparison;
    let measure = |at: usize| comparison.measures[at].to_string();
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
        pairs: comparison.differences.iter().map(|of| PairOf(comparison, of)).collect(),
        anova: comparison.anova.iter().enumerate().map(|(at, of)| anova(measure(at), of)).collect(),
        agreement: comparison
            .agreement
            .iter()
            .map(|of| agreement(measure(of.measure), of))
            .collect(),
        discrimination: comparison
            .discrimination()
            .into_iter()
            .map(|of| DiscriminationOf { measure: measure(of.measure), apart: of.apart, p: of.p })
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
    let others = || {
        comparison
            .leaders(0)
            .into_iter()
            .filter(|&run| run != best)
            .map(|run| name(comparison, run))
    };
    JsonVerdict {
        text: comparison.verdict().join(" "),
        best: name(comparison, best),
        not_told_from_best: comparison.tells_the_best().then(|| others().collect()),
    }
}

/// Returns the groups of a report, if the report's groups are of the kind.
fn groups<'a>(report: &ComparisonReport<'a>, kind: GroupKind) -> Vec<JsonGroup<'a>> {
    let group = |of: &'a ComparedGroup| JsonGroup {
        name: &of.name,
        queries: of.comparison.queries,
        verdict: verdict(&of.comparison),
        runs: runs(&of.comparison),
        pairs: of.comparison.differences.iter().map(|pair| PairOf(&of.comparison, pair)).collect(),
        gates: results(&of.comparison, &of.gates),
    };
    if report.kind == kind { report.groups.iter().map(group).collect() } else { Vec::new() }
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

/// Returns the result of each gate for each judged run.
fn results<'a>(comparison: &'a Comparison, gates: &[(Gate, Vec<Judged>)]) -> Vec<GateOf<'a>> {
    let result = |gate: &Gate, of: &Judged| {
        let GateSentence { happened, allowed } = comparison.gate_sentence(gate, of);
        GateOf {
            gate: gate.to_string(),
            run: name(comparison, of.run),
            verdict: if of.verdict.failed { "failed" } else { "passed" },
            value: of.verdict.value,
            threshold: of.verdict.threshold,
            p: of.verdict.p,
            happened,
            allowed,
        }
    };
    gates.iter().flat_map(|(gate, judged)| judged.iter().map(|of| result(gate, of))).collect()
}

/// The values of each query under a measure.
fn per_query(comparison: &Comparison, measure: usize) -> impl Iterator<Item = JsonQuery<'_>> {
    let value =
        move |run, query: usize| (name(comparison, run), comparison.values(measure, run)[query]);
    let defined = comparison
        .query_ids()
        .enumerate()
        .filter(move |&(at, _)| comparison.is_defined(measure, at));
    defined.map(move |(query, id)| JsonQuery {
        query_id: JsonText(id),
        measure: comparison.measures[measure].to_string(),
        values: (0..comparison.runs.len()).map(|run| value(run, query)).collect(),
    })
}

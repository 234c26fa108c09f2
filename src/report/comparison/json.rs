//! A comparison as one JSON document.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::stats;
use crate::compare::{Comparison, Difference, Gate, Judged, Permutations};
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
    serde_json::to_writer_pretty(&mut *to, &ComparisonDocument::new(comparison, gates, options))?;
    to.write_all(b"\n")
}

#[derive(Serialize)]
struct ComparisonDocument<'a> {
    schema: u32,
    laneval: &'static str,
    settings: JsonSettings<'a>,
    queries: usize,
    measures: Vec<String>,
    runs: Vec<JsonRun<'a>>,
    pairs: Vec<PairOf<'a>>,
    anova: Vec<AnovaOf>,
    agreement: Vec<AgreementOf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    discrimination: Vec<DiscriminationOf>,
    gates: Vec<GateOf<'a>>,
    sentences: Vec<String>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    per_query: Vec<JsonQuery<'a>>,
}

#[derive(Serialize)]
struct JsonSettings<'a> {
    baseline: Option<&'a str>,
    test: String,
    alternative: String,
    alpha: f64,
    correction: String,
    family: String,
    family_size: usize,
    ci: String,
    permutations: u32,
    seed: u64,
    margin: Option<f64>,
    power: Option<f64>,
    tie: Option<f64>,
    queries: String,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    name: &'a str,
    label: &'a str,
    filled: usize,
    means: Vec<f64>,
    judged: &'a [Option<f64>],
}

/// A pair under a measure, with all of its numbers; `better` is the name of the run that is significantly better.
struct PairOf<'a>(&'a Comparison, &'a Difference);

#[derive(Serialize)]
struct AnovaOf {
    measure: String,
    f_runs: Option<f64>,
    df_runs: f64,
    p_runs: Option<f64>,
    f_queries: Option<f64>,
    df_queries: f64,
    p_queries: Option<f64>,
    ss_error: f64,
    df_error: f64,
}

#[derive(Serialize)]
struct AgreementOf {
    measure: String,
    tau_b: Option<f64>,
    tau_ap_b: Option<f64>,
    rbo: Option<f64>,
}

/// The uncorrected p of a measure's pairs, ascending, and the number of those below the level.
#[derive(Serialize)]
struct DiscriminationOf {
    measure: String,
    apart: usize,
    p: Vec<f64>,
}

#[derive(Serialize)]
struct GateOf<'a> {
    gate: String,
    run: &'a str,
    verdict: &'static str,
    value: f64,
    threshold: f64,
    p: Option<f64>,
}

#[derive(Serialize)]
struct JsonQuery<'a> {
    query_id: String,
    measure: String,
    values: Vec<(&'a str, f64)>,
}

impl Serialize for PairOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let PairOf(comparison, of) = self;
        let name = |run: usize| comparison.runs[run].name.as_str();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("run", name(of.pair.run))?;
        map.serialize_entry("baseline", name(of.pair.baseline))?;
        map.serialize_entry("measure", &comparison.measures[of.measure].to_string())?;
        for (stat, value) in stats::of_difference(comparison, of) {
            map.serialize_entry(stat, &value)?;
        }
        let winner = if of.gain() > 0.0 { of.pair.run } else { of.pair.baseline };
        let better = of.is_significant(comparison.options.alpha).then(|| name(winner));
        map.serialize_entry("better", &better)?;
        map.serialize_entry("equivalent", &of.is_equivalent)?;
        map.end()
    }
}

impl<'a> ComparisonDocument<'a> {
    fn new(comparison: &'a Comparison, gates: &[(Gate, Vec<Judged>)], options: &ReportOptions) -> Self {
        let asked = &comparison.options;
        let measure = |at: usize| comparison.measures[at].to_string();
        let run = |at: usize| comparison.runs[at].name.as_str();
        let gate = |(gate, judged): &(Gate, Vec<Judged>)| {
            let of = |of: &Judged| GateOf {
                gate: gate.to_string(),
                run: run(of.run),
                verdict: if of.verdict.failed { "failed" } else { "passed" },
                value: of.verdict.value,
                threshold: of.verdict.threshold,
                p: of.verdict.p,
            };
            judged.iter().map(of).collect::<Vec<_>>()
        };
        let per_query = |at: usize| {
            let values = move |query: usize| {
                (0..comparison.runs.len())
                    .map(move |of| (run(of), comparison.values(at, of)[query]))
                    .collect()
            };
            let ids = comparison.query_ids().enumerate();
            ids.map(move |(query, id)| JsonQuery {
                query_id: String::from_utf8_lossy(id).into_owned(),
                measure: measure(at),
                values: values(query),
            })
        };
        ComparisonDocument {
            schema: SCHEMA,
            laneval: env!("CARGO_PKG_VERSION"),
            settings: JsonSettings {
                baseline: comparison.baseline.map(run),
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
            },
            queries: comparison.queries,
            measures: comparison.measures.iter().map(ToString::to_string).collect(),
            runs: comparison
                .runs
                .iter()
                .map(|run| JsonRun {
                    name: &run.name,
                    label: &run.label,
                    filled: run.filled,
                    means: run.means.clone(),
                    judged: &run.judged,
                })
                .collect(),
            pairs: comparison.differences.iter().map(|of| PairOf(comparison, of)).collect(),
            anova: comparison
                .anova
                .iter()
                .enumerate()
                .map(|(at, of)| AnovaOf {
                    measure: measure(at),
                    f_runs: of.runs.f,
                    df_runs: of.runs.df,
                    p_runs: of.runs.p,
                    f_queries: of.queries.f,
                    df_queries: of.queries.df,
                    p_queries: of.queries.p,
                    ss_error: of.error,
                    df_error: of.error_df,
                })
                .collect(),
            agreement: comparison
                .agreement
                .iter()
                .map(|of| AgreementOf {
                    measure: measure(of.measure),
                    tau_b: of.tau,
                    tau_ap_b: of.tau_ap,
                    rbo: of.overlap,
                })
                .collect(),
            discrimination: comparison
                .discrimination()
                .into_iter()
                .map(|of| DiscriminationOf { measure: measure(of.measure), apart: of.apart, p: of.p })
                .collect(),
            gates: gates.iter().flat_map(gate).collect(),
            sentences: comparison.sentences(),
            notes: &comparison.notes,
            per_query: if options.per_query {
                (0..comparison.measures.len()).flat_map(per_query).collect()
            } else {
                Vec::new()
            },
        }
    }
}

//! The types of a comparison's JSON document, with keys in the order in which they are written.

use crate::report::JsonText;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::stats;
use crate::compare::{Comparison, Difference};

/// The whole JSON document of a comparison of runs.
#[derive(Serialize)]
pub struct ComparisonDocument<'a> {
    pub schema: u32,
    pub laneval: &'static str,
    pub verdict: JsonVerdict<'a>,
    pub settings: JsonSettings<'a>,
    pub queries: usize,
    pub measures: Vec<String>,
    /// The numbers of queries without a value, by measure; left out if every query has a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<usize>,
    pub runs: Vec<JsonRun<'a>>,
    pub pairs: Vec<JsonPair<'a>>,
    pub anova: Vec<JsonAnova>,
    pub agreement: Vec<JsonAgreement>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discrimination: Vec<JsonDiscrimination>,
    pub gates: Vec<JsonGate<'a>>,
    pub sentences: Vec<String>,
    pub notes: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_query: Vec<JsonQuery<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<JsonGroup<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JsonGroup<'a>>,
}

/// The verdict in a comparison's JSON: its sentences, the best run, and the runs that cannot be
/// told from the best run. The measure is the first one, and the runs are in order, the best first;
/// `null` with a baseline or a one-sided alternative, which leave pairs or directions out.
#[derive(Serialize)]
pub struct JsonVerdict<'a> {
    pub text: String,
    pub best: &'a str,
    pub not_told_from_best: Option<Vec<&'a str>>,
}

/// The comparison over a group of queries, or under one judge, in a comparison's JSON.
#[derive(Serialize)]
pub struct JsonGroup<'a> {
    pub name: &'a str,
    pub queries: usize,
    pub verdict: JsonVerdict<'a>,
    pub runs: Vec<JsonRun<'a>>,
    pub pairs: Vec<JsonPair<'a>>,
    pub gates: Vec<JsonGate<'a>>,
}

/// The options of a comparison in its JSON, as text where they have names.
#[derive(Serialize)]
pub struct JsonSettings<'a> {
    pub baseline: Option<&'a str>,
    pub test: String,
    pub alternative: String,
    pub alpha: f64,
    pub correction: String,
    pub family: String,
    pub family_size: usize,
    pub ci: String,
    pub permutations: u32,
    pub seed: u64,
    pub margin: Option<f64>,
    pub power: Option<f64>,
    pub tie: Option<f64>,
    pub queries: String,
}

/// A run in a comparison's JSON, with its means under the measures.
#[derive(Serialize)]
pub struct JsonRun<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub filled: usize,
    pub means: Vec<f64>,
    pub judged: &'a [Option<f64>],
}

/// A pair of runs under a measure in a comparison's JSON, with its difference and tests. `better`
/// is the name of the run that is significantly better.
pub struct JsonPair<'a>(pub &'a Comparison, pub &'a Difference);

/// The analysis of variance of runs and queries under a measure, in a comparison's JSON.
#[derive(Serialize)]
pub struct JsonAnova {
    pub measure: String,
    pub f_runs: Option<f64>,
    pub df_runs: f64,
    pub p_runs: Option<f64>,
    pub f_queries: Option<f64>,
    pub df_queries: f64,
    pub p_queries: Option<f64>,
    pub ss_error: f64,
    pub df_error: f64,
}

/// The agreement of a measure with the first measure on the order of the runs, in a comparison's
/// JSON.
#[derive(Serialize)]
pub struct JsonAgreement {
    pub measure: String,
    pub tau_b: Option<f64>,
    pub tau_ap_b: Option<f64>,
    pub rbo: Option<f64>,
}

/// The uncorrected p of all pairs of runs under a measure, ascending, in a comparison's JSON. Also
/// the number of those below the level.
#[derive(Serialize)]
pub struct JsonDiscrimination {
    pub measure: String,
    pub apart: usize,
    pub p: Vec<f64>,
}

/// The result of a gate (a pass condition such as a least value) for a run, in a comparison's JSON.
#[derive(Serialize)]
pub struct JsonGate<'a> {
    pub gate: String,
    pub run: &'a str,
    pub verdict: &'static str,
    pub value: f64,
    pub threshold: f64,
    pub p: Option<f64>,
    pub happened: String,
    pub allowed: String,
}

/// The values of all runs for a query under a measure, in a comparison's JSON.
#[derive(Serialize)]
pub struct JsonQuery<'a> {
    pub query_id: JsonText<'a>,
    pub measure: String,
    pub values: Vec<(&'a str, f64)>,
}

impl Serialize for JsonPair<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let JsonPair(comparison, difference) = self;
        let [run, baseline] = comparison.pair_names(difference.pair);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("run", run)?;
        map.serialize_entry("baseline", baseline)?;
        map.serialize_entry("measure", &comparison.measures[difference.measure].to_string())?;
        for (stat, value) in stats::difference_stats(comparison, difference) {
            map.serialize_entry(stat, &value)?;
        }
        let winner = if difference.gain() > 0.0 { run } else { baseline };
        let better = comparison.is_significant(difference).then_some(winner);
        map.serialize_entry("better", &better)?;
        map.serialize_entry("equivalent", &difference.is_equivalent)?;
        map.end()
    }
}

//! The keys of a comparison's JSON document, in the order in which they are written.

use crate::report::JsonText;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::stats;
use crate::compare::{Comparison, Difference};

/// The whole document.
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
    pub pairs: Vec<PairOf<'a>>,
    pub anova: Vec<AnovaOf>,
    pub agreement: Vec<AgreementOf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discrimination: Vec<DiscriminationOf>,
    pub gates: Vec<GateOf<'a>>,
    pub sentences: Vec<String>,
    pub notes: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_query: Vec<JsonQuery<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<JsonGroup<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JsonGroup<'a>>,
}

/// The verdict: its sentences, the best run under the first measure, and the runs that cannot be
/// told from it, the best first; `null` with a baseline or a one-sided alternative, which leave
/// pairs or directions out.
#[derive(Serialize)]
pub struct JsonVerdict<'a> {
    pub text: String,
    pub best: &'a str,
    pub not_told_from_best: Option<Vec<&'a str>>,
}

/// The comparison of a group of queries, or by a judge.
#[derive(Serialize)]
pub struct JsonGroup<'a> {
    pub name: &'a str,
    pub queries: usize,
    pub verdict: JsonVerdict<'a>,
    pub runs: Vec<JsonRun<'a>>,
    pub pairs: Vec<PairOf<'a>>,
    pub gates: Vec<GateOf<'a>>,
}

/// The options of the comparison, as text where they have names.
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

/// A run with its means under the measures.
#[derive(Serialize)]
pub struct JsonRun<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub filled: usize,
    pub means: Vec<f64>,
    pub judged: &'a [Option<f64>],
}

/// A pair under a measure, with all of its numbers; `better` is the name of the run that is
/// significantly better.
pub struct PairOf<'a>(pub &'a Comparison, pub &'a Difference);

/// The analysis of variance under a measure.
#[derive(Serialize)]
pub struct AnovaOf {
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

/// The agreement of a measure with the first one.
#[derive(Serialize)]
pub struct AgreementOf {
    pub measure: String,
    pub tau_b: Option<f64>,
    pub tau_ap_b: Option<f64>,
    pub rbo: Option<f64>,
}

/// The uncorrected p of a measure's pairs, ascending, and the number of those below the level.
#[derive(Serialize)]
pub struct DiscriminationOf {
    pub measure: String,
    pub apart: usize,
    pub p: Vec<f64>,
}

/// The result of a gate for a run.
#[derive(Serialize)]
pub struct GateOf<'a> {
    pub gate: String,
    pub run: &'a str,
    pub verdict: &'static str,
    pub value: f64,
    pub threshold: f64,
    pub p: Option<f64>,
    pub happened: String,
    pub allowed: String,
}

/// The values of the runs for a query under a measure.
#[derive(Serialize)]
pub struct JsonQuery<'a> {
    pub query_id: JsonText<'a>,
    pub measure: String,
    pub values: Vec<(&'a str, f64)>,
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
        let better = comparison.is_shown(of).then(|| name(winner));
        map.serialize_entry("better", &better)?;
        map.serialize_entry("equivalent", &of.is_equivalent)?;
        map.end()
    }
}

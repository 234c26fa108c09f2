//! The result of a pool analysis (`laneval pools`) as one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use super::shortened;
use crate::pools::{PoolLoss, PooledRun, Pools};
use crate::report::options::ReportOptions;

/// The version of the document's keys, which are only added to.
const SCHEMA: u32 = 1;

/// The whole JSON document of `laneval pools`.
#[derive(Serialize)]
struct PoolDocument<'a> {
    schema: u32,
    laneval: &'static str,
    depth: u32,
    queries: u64,
    judged: u64,
    relevant: u64,
    pooled: u64,
    pooled_relevant: u64,
    measures: Vec<String>,
    runs: Vec<JsonPooledRun<'a>>,
    losses: Vec<JsonLoss<'a>>,
}

#[derive(Serialize)]
struct JsonPooledRun<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<&'a str>,
    judged: u64,
    relevant: u64,
    unique: u64,
    unique_relevant: u64,
    judged_10: Option<f64>,
    judged_100: Option<f64>,
    judged_to: u32,
    removed: u64,
    queries_lost: u64,
    left_out: Vec<JsonLeftOut>,
}

#[derive(Serialize)]
struct JsonLeftOut {
    measure: String,
    value: Option<f64>,
    without: Option<f64>,
    delta: Option<f64>,
    relative: Option<f64>,
    rank: Option<u32>,
    rank_without: Option<u32>,
}

#[derive(Serialize)]
struct JsonLoss<'a> {
    measure: String,
    mean: Option<f64>,
    largest: Option<f64>,
    largest_run: Option<&'a str>,
    tau_b: Option<f64>,
}

/// Writes a pool analysis as a JSON document.
pub fn write(pools: &Pools, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    let names: Vec<String> = pools.measures.iter().map(ToString::to_string).collect();
    let losses = names.iter().zip(&pools.losses);
    let document = PoolDocument {
        schema: SCHEMA,
        laneval: env!("CARGO_PKG_VERSION"),
        depth: pools.depth,
        queries: pools.queries,
        judged: pools.judged,
        relevant: pools.relevant,
        pooled: pools.pooled,
        pooled_relevant: pools.pooled_relevant,
        runs: pools.runs.iter().map(|run| run_json(run, &names, options)).collect(),
        losses: losses.map(|(name, loss)| loss_json(pools, name, loss, options)).collect(),
        measures: names.clone(),
    };
    serde_json::to_writer_pretty(&mut *to, &document)?;
    to.write_all(b"\n")
}

fn run_json<'a>(
    run: &'a PooledRun,
    measures: &[String],
    options: &ReportOptions,
) -> JsonPooledRun<'a> {
    let left_out = measures.iter().zip(&run.left_out).map(|(measure, effect)| JsonLeftOut {
        measure: measure.clone(),
        value: short(effect.value, options),
        without: short(effect.without, options),
        delta: short(effect.delta(), options),
        relative: short(effect.relative(), options),
        rank: effect.rank,
        rank_without: effect.rank_without,
    });
    let [judged_10, judged_100] = run.judged_share.map(|share| short(share, options));
    JsonPooledRun {
        name: &run.name,
        team: run.team.as_deref(),
        judged: run.judged,
        relevant: run.relevant,
        unique: run.unique,
        unique_relevant: run.unique_relevant,
        judged_10,
        judged_100,
        judged_to: run.judged_to,
        removed: run.removed,
        queries_lost: run.queries_lost,
        left_out: left_out.collect(),
    }
}

/// Rounds a number of a pool analysis to the decimals of the options, if it is defined.
fn short(value: Option<f64>, options: &ReportOptions) -> Option<f64> {
    value.map(|value| shortened(value, options))
}

fn loss_json<'a>(
    pools: &'a Pools,
    measure: &str,
    loss: &PoolLoss,
    options: &ReportOptions,
) -> JsonLoss<'a> {
    let (largest, run) = loss.largest.unzip();
    JsonLoss {
        measure: measure.to_owned(),
        mean: short(loss.mean, options),
        largest: short(largest, options),
        largest_run: run.map(|run| &pools.runs[run].name[..]),
        tau_b: short(loss.tau_b, options),
    }
}

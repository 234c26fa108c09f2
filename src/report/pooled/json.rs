//! Pools as one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use super::shortened;
use crate::pools::{LeftOut, PoolLoss, PooledRun, Pools};
use crate::report::options::ReportOptions;

/// The version of the document's keys, which are only added to.
const SCHEMA: u32 = 1;

/// The whole document.
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

/// Writes the document.
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
        runs: pools.runs.iter().map(|run| of_run(run, &names, options)).collect(),
        losses: losses.map(|(name, loss)| of_loss(pools, name, loss, options)).collect(),
        measures: names.clone(),
    };
    serde_json::to_writer_pretty(&mut *to, &document)?;
    to.write_all(b"\n")
}

fn of_run<'a>(
    run: &'a PooledRun,
    measures: &[String],
    options: &ReportOptions,
) -> JsonPooledRun<'a> {
    let short = |value: Option<f64>| value.map(|value| shortened(value, options));
    let of_measure = |(measure, of): (&String, &LeftOut)| JsonLeftOut {
        measure: measure.clone(),
        value: short(of.value),
        without: short(of.without),
        delta: short(of.delta()),
        relative: short(of.relative()),
        rank: of.rank,
        rank_without: of.rank_without,
    };
    JsonPooledRun {
        name: &run.name,
        team: run.team.as_deref(),
        judged: run.judged,
        relevant: run.relevant,
        unique: run.unique,
        unique_relevant: run.unique_relevant,
        judged_10: short(run.judged_share[0]),
        judged_100: short(run.judged_share[1]),
        judged_to: run.judged_to,
        removed: run.removed,
        queries_lost: run.queries_lost,
        left_out: measures.iter().zip(&run.left_out).map(of_measure).collect(),
    }
}

fn of_loss<'a>(
    pools: &'a Pools,
    measure: &str,
    loss: &PoolLoss,
    options: &ReportOptions,
) -> JsonLoss<'a> {
    let short = |value: Option<f64>| value.map(|value| shortened(value, options));
    JsonLoss {
        measure: measure.to_owned(),
        mean: short(loss.mean),
        largest: short(loss.largest.map(|(largest, _)| largest)),
        largest_run: loss.largest.map(|(_, run)| &pools.runs[run].name[..]),
        tau_b: short(loss.tau_b),
    }
}

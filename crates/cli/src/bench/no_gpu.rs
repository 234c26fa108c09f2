//! Stand-ins for the GPU timings of `laneval bench` in a build without the GPU engine.

use std::convert::Infallible;

use super::{
    measure::{BenchRows, Subject},
    report::BenchAdapter,
    round_robin::RoundRobin,
};
use crate::cli_error::{CliResult, fail};

const WITHOUT: &str = "laneval was built without its GPU engine (feature `gpu`)";

pub fn open(_: &Subject, adapter: Option<&str>) -> CliResult<Result<Infallible, String>> {
    if adapter.is_some() { fail(WITHOUT) } else { Ok(Err(WITHOUT.to_owned())) }
}

pub fn adapter(gpu: &Infallible) -> BenchAdapter {
    match *gpu {}
}

pub fn rows(gpu: &Infallible, _: &Subject, _: &RoundRobin, _: &mut BenchRows) -> CliResult<()> {
    match *gpu {}
}

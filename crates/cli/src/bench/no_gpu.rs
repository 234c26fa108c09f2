//! Stand-ins for the GPU in a laneval that is built without it.

use std::convert::Infallible;

use super::measure::{BenchRows, Subject};
use super::report::BenchAdapter;
use super::turns::Turns;
use crate::stop::Stop;

const WITHOUT: &str = "laneval was built without its GPU engine (feature `gpu`)";

pub fn open(_: &Subject, adapter: Option<&str>) -> Result<Result<Infallible, String>, Stop> {
    if adapter.is_some() { Err(Stop::new(WITHOUT)) } else { Ok(Err(WITHOUT.to_owned())) }
}

pub fn adapter(gpu: &Infallible) -> BenchAdapter {
    match *gpu {}
}

pub fn rows(gpu: &Infallible, _: &Subject, _: &Turns, _: &mut BenchRows) -> Result<(), Stop> {
    match *gpu {}
}

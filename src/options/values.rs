//! The checks of values that options take: numbers in a range, measures, gates, columns.
//!
//! A check says what is wrong with a text, and what was expected. Code parses the text again when
//! it needs the value, by the function that the check calls.

use std::num::NonZeroU32;
use std::str::FromStr;

use super::ValueCheck;
use crate::aggregation::Aggregation;
use crate::compare::{Gate, Permutations};
use crate::doc_ids::rule::DocIdRule;
use crate::format::{ColumnNames, GradeWords};
use crate::measure::{Measure, parse_level};

/// Accepts every text.
pub(super) const ANY: ValueCheck = |_| Ok(());

/// Parses the lowest relevant grade: a number, 0 or more, or `>` and a number.
pub fn grade(text: &str) -> Result<f64, String> {
    parse_level(text)
        .ok_or_else(|| "a grade, 0 or more, was expected, or > and a grade, as >0".to_owned())
}

/// Parses a number of `what`, 1 or more.
fn natural(text: &str, what: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("a number of {what}, 1 or more, was expected"))
}

/// Parses a whole number of a range.
fn in_range<T>(text: &str, from: T, to: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + std::fmt::Display,
{
    text.parse()
        .ok()
        .filter(|number| (&from..=&to).contains(&number))
        .ok_or_else(|| format!("a whole number, {from} to {to}, was expected"))
}

/// Parses a number from `from` to `to`, called `what` in the message.
fn within(text: &str, from: f64, to: f64, what: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (from..=to).contains(number));
    number.ok_or_else(|| format!("{what}, {from} to {to}, was expected"))
}

/// Parses the number of random draws of signs: a number, `auto` or `exact`.
pub fn permutations(text: &str) -> Result<Permutations, String> {
    match text {
        "auto" => Ok(Permutations::Auto),
        "exact" => Ok(Permutations::Exact),
        _ => match text.parse() {
            Ok(draws @ 1..) => Ok(Permutations::Fixed(draws)),
            _ => Err("a number, 1 or more, `auto` or `exact` was expected".to_owned()),
        },
    }
}

/// Parses a seed, such as 42 or 0x2a.
pub fn random_seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a whole number of 64 bits was expected, such as 42 or 0x2a".to_owned())
}

/// Parses an order of runs: a measure, or `None` for `input`.
pub fn run_order(text: &str) -> Result<Option<Measure>, String> {
    match text {
        "input" => Ok(None),
        _ => parsed(text).map(Some),
    }
}

/// Parses a measure and the largest value that a query can have, as `DCG=16`.
pub fn value_bound(text: &str) -> Result<(Measure, f64), String> {
    let (measure, value) =
        text.rsplit_once('=').ok_or("MEASURE=VALUE was expected, such as DCG=16")?;
    let measure = parsed(measure)?;
    Ok((measure, value.parse().map_err(|_| format!("`{value}` is not a number"))?))
}

/// Parses a gate such as `AP < 0.3`, which needs no baseline.
fn threshold(text: &str) -> Result<Gate, String> {
    match gate(text)? {
        gate if gate.needs_baseline() => Err("it compares with a baseline, which only `laneval \
            compare` has: a gate such as `AP < 0.3` was expected"
            .to_owned()),
        gate => Ok(gate),
    }
}

fn gate(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| error.to_string())
}

fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Checks a rule that maps chunks to documents, such as `before:#`; its file is read later.
pub(super) const DOC_ID_RULE: ValueCheck = |text| {
    if DocIdRule::is_rule(text) {
        Ok(())
    } else {
        Err(format!("{} was expected", DocIdRule::EXPECTED))
    }
};
pub(super) const AGGREGATION: ValueCheck = |text| parsed::<Aggregation>(text).map(drop);
pub(super) const COLUMNS: ValueCheck = |text| parsed::<ColumnNames>(text).map(drop);
pub(super) const GRADE_WORDS: ValueCheck = |text| parsed::<GradeWords>(text).map(drop);
pub(super) const GATE: ValueCheck = |text| gate(text).map(drop);
pub(super) const THRESHOLD: ValueCheck = |text| threshold(text).map(drop);
pub(super) const GRADE: ValueCheck = |text| grade(text).map(drop);
pub(super) const RANKS: ValueCheck = |text| natural(text, "ranks").map(drop);
pub(super) const RESULTS: ValueCheck = |text| natural(text, "results").map(drop);
pub(super) const DOCUMENTS: ValueCheck = |text| natural(text, "documents").map(drop);
pub(super) const NATURAL: ValueCheck = |text| in_range(text, 1, u32::MAX).map(drop);
pub(super) const COUNT: ValueCheck = |text| in_range(text, 0, u32::MAX).map(drop);
pub(super) const RUNS: ValueCheck = |text| in_range(text, 1, u16::MAX).map(drop);
pub(super) const GRADES: ValueCheck = |text| in_range(text, 2, 253_u8).map(drop);
pub(super) const DECIMALS: ValueCheck = |text| in_range(text, 0, 17_u8).map(drop);
pub(super) const DIGITS: ValueCheck = |text| in_range(text, 1, 17_u8).map(drop);
pub(super) const REAL: ValueCheck = |text| parsed::<f64>(text).map(drop);
pub(super) const DENSE: ValueCheck = |text| within(text, 0.0, 1.0, "a share").map(drop);
pub(super) const SECONDS: ValueCheck =
    |text| within(text, 0.0, 3600.0, "a number of seconds").map(drop);
pub(super) const DRAWS: ValueCheck = |text| permutations(text).map(drop);
pub(super) const SEED: ValueCheck = |text| random_seed(text).map(drop);
pub(super) const ORDER: ValueCheck = |text| run_order(text).map(drop);
pub(super) const VALUE_BOUND: ValueCheck = |text| value_bound(text).map(drop);

/// Checks a number of threads.
pub(super) const THREADS: ValueCheck = |text| match text.parse::<u16>() {
    Ok(1..) => Ok(()),
    _ => Err(format!("a number of threads, 1 to {}, was expected", crate::evaluate::max_threads())),
};
/// Checks the number of a GPU, or a part of its name.
pub(super) const ADAPTER: ValueCheck = |text| match text.trim() {
    "" => Err("a number, or a part of a name, was expected".to_owned()),
    _ => Ok(()),
};
/// Checks the text at which the name of a team ends in the name of its run.
pub(super) const TEAM_END: ValueCheck = |text| match text {
    "" => Err("a text was expected, such as `-`".to_owned()),
    _ => Ok(()),
};

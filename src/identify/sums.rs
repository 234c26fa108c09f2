//! Sums over the values of queries. An evaluation keeps only the sums, so memory does not grow with
//! the number of queries.

use super::digests;
use crate::evaluate::Sink;
use crate::matrix::{Batch, LANES};
use crate::stats::ExactSum;

/// The decimals to which libraries round the value of each query; `None` leaves the value
/// unrounded.
pub(super) const ROUNDINGS: [Option<u8>; 4] = [None, Some(2), Some(4), Some(5)];

/// The powers of ten of these decimals.
const SCALES: [f64; 3] = [1e2, 1e4, 1e5];

/// The questions about the values of queries.
#[derive(Debug, Clone, Default)]
pub(super) struct AskedOfQueries {
    /// The key of each query; 0 for a query without evidence.
    pub keys: Vec<u64>,
    /// The told value of each query; empty if no values were told.
    pub told: Vec<ToldOfQuery>,
}

/// The told value of a query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum ToldOfQuery {
    /// No usable value.
    #[default]
    Nothing,
    /// The query has no value.
    LeftOut,
    /// The value of the query, and half a unit of the last digit.
    Value(f64, f64),
}

/// The allowed error of a query's value: for sums in another order, and for numbers of 32 bits.
const SLACK: f64 = 1e-12;
const SINGLE: f64 = 4.0 * f32::EPSILON as f64;

impl ToldOfQuery {
    /// Whether the value agrees with the told value; `single` allows for the error of 32-bit
    /// floats.
    #[inline]
    fn agrees(self, value: f64, single: bool) -> bool {
        match self {
            ToldOfQuery::Value(told, half) => {
                let slack = SLACK + if single { SINGLE * value.abs() } else { 0.0 };
                (value - told).abs() <= half + slack
            }
            ToldOfQuery::LeftOut | ToldOfQuery::Nothing => false,
        }
    }
}

impl AskedOfQueries {
    /// Whether `value`, or `None` for a query without a value, agrees with the told value.
    pub fn agrees(&self, query: usize, value: Option<f64>) -> bool {
        let told = self.told.get(query).copied().unwrap_or_default();
        match value {
            Some(value) => told.agrees(value, false),
            None => told == ToldOfQuery::LeftOut,
        }
    }
}

/// Sums of a measure's values over the queries in the run.
#[derive(Debug, Clone, Default)]
pub(super) struct DefinitionSums {
    /// The digest of the values as they are, and rounded.
    pub digests: [u128; 4],
    /// The exact sum of the values.
    pub exact: ExactSum,
    /// The sums of the rounded values, in units of their last digit.
    pub units: [i64; 3],
    /// The number of told queries that agree, with unrounded values, and with each rounding.
    pub agree: [u32; 4],
    /// The number of told queries that agree within the error of 32-bit floats.
    pub agree_single: u32,
}

impl DefinitionSums {
    /// Adds the sums over further queries.
    pub fn merge(&mut self, other: &DefinitionSums) {
        let add = |(all, one): (&mut u128, &u128)| *all = all.wrapping_add(*one);
        self.digests.iter_mut().zip(&other.digests).for_each(add);
        self.exact.merge(&other.exact);
        self.units.iter_mut().zip(&other.units).for_each(|(all, one)| *all += one);
        self.agree.iter_mut().zip(&other.agree).for_each(|(all, one)| *all += one);
        self.agree_single += other.agree_single;
    }

    /// Returns the mean over `count` queries, including `ones` added queries of value 1.
    pub fn mean(&self, rounding: usize, ones: u32, count: u32) -> f64 {
        match rounding.checked_sub(1) {
            None => (self.exact.value() + f64::from(ones)) / f64::from(count),
            Some(at) => (self.units[at] as f64 / SCALES[at] + f64::from(ones)) / f64::from(count),
        }
    }

    #[inline]
    fn add(&mut self, key: u64, value: f64) {
        let plain = digests::of_value(key, value);
        self.digests[0] = self.digests[0].wrapping_add(plain);
        for (at, scale) in SCALES.iter().enumerate() {
            let units = units(value, at);
            let rounded = units / scale;
            self.units[at] += units as i64;
            let digest = if rounded == value { plain } else { digests::of_value(key, rounded) };
            self.digests[at + 1] = self.digests[at + 1].wrapping_add(digest);
        }
    }

    fn compare(&mut self, told: ToldOfQuery, value: f64) {
        self.agree[0] += u32::from(told.agrees(value, false));
        for (at, scale) in SCALES.iter().enumerate() {
            self.agree[at + 1] += u32::from(told.agrees(units(value, at) / scale, false));
        }
        self.agree_single += u32::from(told.agrees(value, true));
    }
}

/// Rounds a value, and returns the result in units of the last decimal. Two decimals round half up,
/// as in Java; more decimals round half to even, as in C's `printf`.
#[inline]
fn units(value: f64, at: usize) -> f64 {
    // Adding and subtracting 1.5·2⁵² rounds to a whole number, half to even, because neighbouring
    // floats there differ by 1.
    const ONES: f64 = 3.0 * (1u64 << 51) as f64;
    let scaled = value * SCALES[at];
    let whole = (scaled + ONES) - ONES;
    if at == 0 && scaled - whole == 0.5 { whole + 1.0 } else { whole }
}

/// Rounds a value by an index into [`ROUNDINGS`].
pub(super) fn rounded(value: f64, rounding: usize) -> f64 {
    rounding.checked_sub(1).map_or(value, |at| units(value, at) / SCALES[at])
}

/// A sink that adds up values, of some queries of the whole run.
pub(super) struct SumsOfValues<'a> {
    pub asked: &'a AskedOfQueries,
    /// The query of the run of each query of the batch.
    pub queries: &'a [u32],
    /// By measure.
    pub sums: Vec<DefinitionSums>,
}

impl Sink for SumsOfValues<'_> {
    fn values(&mut self, batch: &Batch<'_>, rows: &[u32], values: &[f64]) {
        let query = |&row: &u32| self.queries[batch.query(row)] as usize;
        let mut keys = [0; LANES];
        let mut told = [ToldOfQuery::Nothing; LANES];
        for (lane, query) in rows.iter().map(query).enumerate() {
            keys[lane] = self.asked.keys[query];
            told[lane] = self.asked.told.get(query).copied().unwrap_or_default();
        }
        let compares = !self.asked.told.is_empty();
        for (sums, values) in self.sums.iter_mut().zip(values.chunks_exact(rows.len())) {
            for (&key, &value) in keys.iter().zip(values) {
                sums.add(key, value);
            }
            if compares {
                told.iter().zip(values).for_each(|(&told, &value)| sums.compare(told, value));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(all, one)| all.merge(one));
    }
}

/// A sink that keeps the values of one measure, by query of the whole run.
pub(super) struct KeptOfQueries<'a> {
    pub queries: &'a [u32],
    pub values: Vec<(u32, f64)>,
}

impl Sink for KeptOfQueries<'_> {
    fn values(&mut self, batch: &Batch<'_>, rows: &[u32], values: &[f64]) {
        let query = |&row: &u32| self.queries[batch.query(row)];
        self.values.extend(rows.iter().map(query).zip(values.iter().copied()));
    }

    fn merge(&mut self, other: Self) {
        self.values.extend(other.values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_as_libraries_do() {
        for (value, rounding, expected) in [
            (0.26616, 1, 0.27),
            (0.125, 1, 0.13),
            (0.135, 1, 0.14),
            (0.015625, 3, 0.01562),
            (0.796707, 2, 0.7967),
            (0.0, 1, 0.0),
            (1.0, 3, 1.0),
        ] {
            assert_eq!(rounded(value, rounding), expected, "{value}");
        }
        assert_eq!(rounded(0.123456, 0), 0.123456);
    }

    #[test]
    fn sums_of_rounded_values_are_in_units() {
        let mut sums = DefinitionSums::default();
        for value in [0.26616, 0.18213, 0.5] {
            sums.add(digests::key(0), value);
        }
        assert_eq!(sums.units, [27 + 18 + 50, 2662 + 1821 + 5000, 26616 + 18213 + 50000]);
        assert_eq!(sums.mean(1, 1, 4), (0.95 + 1.0) / 4.0);
    }
}

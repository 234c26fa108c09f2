//! Sums over the values of queries under a definition: exact, rounded, as digests, and as counts of
//! agreeing queries. An evaluation keeps only the sums, so memory does not grow with the number of
//! queries.

use super::digests;
use crate::evaluate::ValueSink;
use crate::matrix::{Batch, LANES};
use crate::stats::ExactSum;

/// The decimals to which libraries round the value of each query; `None` leaves the value
/// unrounded.
pub(super) const ROUNDINGS: [Option<u8>; 4] = [None, Some(2), Some(4), Some(5)];

/// The powers of ten of these decimals.
const SCALES: [f64; 3] = [1e2, 1e4, 1e5];

/// The reported value of each query, and the key by which the query enters a digest.
#[derive(Debug, Clone, Default)]
pub(super) struct QueryConstraints {
    /// The key of each query; 0 for a query without evidence.
    pub keys: Vec<u64>,
    /// The told value of each query; empty if no values were told.
    pub reported_queries: Vec<ReportedQuery>,
}

/// The reported value of a query with its tolerance, or the report that the query has no value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum ReportedQuery {
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

impl ReportedQuery {
    /// Returns whether a computed value agrees with the reported value of the query; `single`
    /// allows for the error of 32-bit floats.
    #[inline]
    fn agrees(self, value: f64, single: bool) -> bool {
        match self {
            Self::Value(reported_value, half) => {
                let slack = SLACK + if single { SINGLE * value.abs() } else { 0.0 };
                (value - reported_value).abs() <= half + slack
            }
            Self::LeftOut | Self::Nothing => false,
        }
    }
}

impl QueryConstraints {
    /// Returns whether the query has a usable reported value.
    pub fn is_reported(&self, query: usize) -> bool {
        self.reported_queries.get(query).is_some_and(|value| *value != ReportedQuery::Nothing)
    }

    /// Counts the queries with a usable reported value.
    pub fn reported_count(&self) -> u32 {
        (0..self.reported_queries.len()).filter(|&query| self.is_reported(query)).count() as u32
    }

    /// Returns whether the computed `value` of a query, or `None` for no value, agrees with the
    /// reported value.
    pub fn agrees(&self, query: usize, value: Option<f64>) -> bool {
        let reported = self.reported_queries.get(query).copied().unwrap_or_default();
        match value {
            Some(value) => reported.agrees(value, false),
            None => reported == ReportedQuery::LeftOut,
        }
    }
}

/// Sums of a measure's values over queries in the run: exact, rounded, and as digests.
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
    /// Adds the sums of the same measure over further queries.
    pub fn merge(&mut self, other: &Self) {
        for (all, one) in self.digests.iter_mut().zip(&other.digests) {
            *all = all.wrapping_add(*one);
        }
        self.exact.merge(&other.exact);
        self.units.iter_mut().zip(&other.units).for_each(|(all, one)| *all += one);
        self.agree.iter_mut().zip(&other.agree).for_each(|(all, one)| *all += one);
        self.agree_single += other.agree_single;
    }

    /// Returns the mean of the summed values over `count` queries, including `ones` added queries
    /// of value 1. `rounding` is the index of the rounding of each query in [`ROUNDINGS`].
    pub fn mean(&self, rounding: usize, ones: u32, count: u32) -> f64 {
        match rounding.checked_sub(1) {
            None => (self.exact.value() + f64::from(ones)) / f64::from(count),
            Some(at) => (self.units[at] as f64 / SCALES[at] + f64::from(ones)) / f64::from(count),
        }
    }

    #[inline]
    fn add(&mut self, key: u64, value: f64) {
        let plain = digests::value_digest(key, value);
        self.digests[0] = self.digests[0].wrapping_add(plain);
        for (at, scale) in SCALES.iter().enumerate() {
            let units = units(value, at);
            let rounded = units / scale;
            self.units[at] += units as i64;
            // Values such as 0 and 1 are their own roundings, and need no second hash.
            let digest = if rounded == value { plain } else { digests::value_digest(key, rounded) };
            self.digests[at + 1] = self.digests[at + 1].wrapping_add(digest);
        }
    }

    fn compare(&mut self, reported: ReportedQuery, value: f64) {
        self.agree[0] += u32::from(reported.agrees(value, false));
        for (at, scale) in SCALES.iter().enumerate() {
            self.agree[at + 1] += u32::from(reported.agrees(units(value, at) / scale, false));
        }
        self.agree_single += u32::from(reported.agrees(value, true));
    }
}

/// Rounds a query's value as libraries do, and returns the result in units of the last decimal. Two
/// decimals round half up, as in Java; more decimals round half to even, as in C's `printf`.
#[inline]
fn units(value: f64, at: usize) -> f64 {
    // Adding and subtracting 1.5·2⁵² rounds to a whole number, half to even, because neighbouring
    // floats there differ by 1.
    const ONES: f64 = 3.0 * (1u64 << 51) as f64;
    let scaled = value * SCALES[at];
    let whole = (scaled + ONES) - ONES;
    if at == 0 && scaled - whole == 0.5 { whole + 1.0 } else { whole }
}

/// Rounds a query's value to the decimals at an index of [`ROUNDINGS`].
pub(super) fn rounded(value: f64, rounding: usize) -> f64 {
    rounding.checked_sub(1).map_or(value, |at| units(value, at) / SCALES[at])
}

/// A receiver of evaluated values that adds up the values of each measure for `laneval identify`.
pub(super) struct ValueSums<'a> {
    pub constraints: &'a QueryConstraints,
    /// The query of the run of each query of the batch.
    pub queries: &'a [u32],
    /// By measure.
    pub sums: Vec<DefinitionSums>,
}

impl ValueSink for ValueSums<'_> {
    fn values(&mut self, batch: &Batch<'_>, rows: &[u32], values: &[f64]) {
        // The keys and told values are looked up once for all measures of the batch.
        let mut keys = [0; LANES];
        let mut reported_queries = [ReportedQuery::Nothing; LANES];
        for (lane, &row) in rows.iter().enumerate() {
            let query = self.queries[batch.query(row)] as usize;
            keys[lane] = self.constraints.keys[query];
            reported_queries[lane] =
                self.constraints.reported_queries.get(query).copied().unwrap_or_default();
        }
        let compares = !self.constraints.reported_queries.is_empty();
        for (sums, values) in self.sums.iter_mut().zip(values.chunks_exact(rows.len())) {
            for (&key, &value) in keys.iter().zip(values) {
                sums.add(key, value);
            }
            if compares {
                for (&reported, &value) in reported_queries.iter().zip(values) {
                    sums.compare(reported, value);
                }
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(all, one)| all.merge(one));
    }
}

/// A receiver of evaluated values that keeps the value of one measure for each query.
pub(super) struct QueryValueSink<'a> {
    pub queries: &'a [u32],
    pub values: Vec<(u32, f64)>,
}

impl ValueSink for QueryValueSink<'_> {
    fn values(&mut self, batch: &Batch<'_>, rows: &[u32], values: &[f64]) {
        let queries = rows.iter().map(|&row| self.queries[batch.query(row)]);
        self.values.extend(queries.zip(values.iter().copied()));
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

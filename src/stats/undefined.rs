//! The mark of a query that has no value under a measure: one special NaN.
//!
//! Columns of values are plain f64, and a query without a value keeps its place in the columns. So
//! the place holds one special NaN, recognised by its bits, which no arithmetic produces. Any other
//! NaN still signals a faulty computation.

use std::borrow::Cow;

/// The value of a query that has none under a measure, and is in none of its averages.
pub const UNDEFINED: f64 = f64::from_bits(0x7ff8_6e6f_7468_696e);

/// Returns whether a value is [`UNDEFINED`], the mark of a query without a value.
#[inline]
pub fn is_undefined(value: f64) -> bool {
    value.to_bits() == UNDEFINED.to_bits()
}

/// Returns the values of the queries that have one, borrowed if every query has a value.
pub fn defined(values: &[f64]) -> Cow<'_, [f64]> {
    if values.iter().any(|&value| is_undefined(value)) {
        values.iter().copied().filter(|&value| !is_undefined(value)).collect()
    } else {
        values.into()
    }
}

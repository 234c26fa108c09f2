//! The value of a query that has none.
//!
//! Columns of values are plain f64, and a query without a value keeps its place in them. So there
//! is one NaN that no arithmetic makes, told by its bits; any other NaN is what it was, a number
//! that went wrong.

use std::borrow::Cow;

/// The value of a query that has none under a measure, and is in none of its averages.
pub const UNDEFINED: f64 = f64::from_bits(0x7ff8_6e6f_7468_696e);

/// Whether a value is [`UNDEFINED`].
#[inline]
pub fn is_undefined(value: f64) -> bool {
    value.to_bits() == UNDEFINED.to_bits()
}

/// The values of those queries that have one, borrowed if that is all of them.
pub fn defined(values: &[f64]) -> Cow<'_, [f64]> {
    if values.iter().any(|&value| is_undefined(value)) {
        values.iter().copied().filter(|&value| !is_undefined(value)).collect()
    } else {
        values.into()
    }
}

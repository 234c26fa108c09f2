//! Pools as bytes, one file for each kind of format.

pub mod json;
pub mod long;
pub mod table;

use super::long::rounded;
use super::options::ReportOptions;

/// A number with the decimals that were asked for; counts are whole.
fn shortened(value: f64, options: &ReportOptions) -> f64 {
    options
        .decimals
        .filter(|_| value.fract() != 0.0)
        .map_or(value, |decimals| rounded(value, decimals))
}

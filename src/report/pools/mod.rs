//! Writers of a pool analysis (`laneval pools`), one file for each kind of format.

pub mod json;
pub mod long;
pub mod table;

use super::long::with_decimals;
use super::options::ReportOptions;

/// Rounds a number of a pool analysis to the decimals of the options; counts stay whole.
fn shortened(value: f64, options: &ReportOptions) -> f64 {
    if value.fract() == 0.0 { value } else { with_decimals(value, options) }
}

//! Traits that the rows of the table declare, checked over whatever rankings there can be.

use laneval::measure::Measure;

/// Returns whether a value is in the range that the row declares.
pub fn holds(measure: &Measure, value: f64) -> bool {
    use laneval::measure::Range;
    // Files may be forged so that a value is NaN; under the range `Any` that is not checked here.
    measure.range() == Range::Any || measure.range().contains(value)
}

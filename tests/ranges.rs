//! The range of a measure's values over whatever rankings there can be.

use std::ops::RangeInclusive;

use laneval::measure::Measure;

/// Measures whose values are sums of gains, counts, prices or odds.
const UNBOUNDED: &[&str] = &[
    "Hits",
    "CG",
    "DCG",
    "IDCG",
    "Utility",
    "YAAP",
    "NumQ",
    "NumRet",
    "NumRel",
    "NumRelRet",
    "NumNonrelRet",
];
/// Two roundings of what would be 1.
const ROUNDED: f64 = 1e-9;

/// The range of a measure, `None` where its values have none.
pub fn of(measure: &Measure) -> Option<RangeInclusive<f64>> {
    let text = measure.to_string();
    // A table may give a document without judgment a gain that no ideal has, raw grades are gains of any size, and a user who wants
    // less than half a document goes on with a chance above 1.
    let boundless = ["{", "gain=raw"].iter().any(|part| text.contains(part))
        || measure.definition().name == "INST" && measure.number("T").is_some_and(|target| target < 0.5);
    let bounded = !boundless && !UNBOUNDED.contains(&measure.definition().name);
    bounded.then_some(0.0..=1.0 + ROUNDED)
}

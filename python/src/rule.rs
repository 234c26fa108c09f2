//! The rule of rankings (order of equal scores, depth, documents of chunks and so on) as a Python
//! dict of
//! keywords.

use std::str::FromStr;
use std::sync::Arc;

use laneval::Error;
use laneval::labels::{AppliedAggregation, RankingRule};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{OrRaise, value_error};

/// Returns the settings of a ranking rule as a Python dict by their keywords. The dict has all
/// settings, so that whatever is compared by this dict is compared by the whole rule.
pub fn to_dict<'py>(py: Python<'py>, rule: &RankingRule) -> PyResult<Bound<'py, PyDict>> {
    // Every field by its name: a new one does not compile before it has its keyword here.
    let RankingRule { ties, score, depth, drop_identical_ids, units, excluded } = rule;
    let AppliedAggregation { units, repeats, rows } = units.as_deref().cloned().unwrap_or_default();
    let dict = PyDict::new(py);
    dict.set_item("ties", ties.to_string())?;
    dict.set_item("score_type", score.to_string())?;
    dict.set_item("depth", depth)?;
    dict.set_item("drop_identical_ids", drop_identical_ids)?;
    dict.set_item("doc_id", (!units.is_empty()).then_some(units))?;
    dict.set_item("aggregate", repeats.to_string())?;
    dict.set_item("max_chunks", rows)?;
    dict.set_item("exclude", excluded.as_deref())?;
    Ok(dict)
}

/// Returns the ranking rule of a Python dict that [`to_dict`] made.
pub fn of_dict(dict: &Bound<'_, PyDict>) -> PyResult<RankingRule> {
    let units = AppliedAggregation {
        units: item(dict, "doc_id")?.extract::<Option<String>>()?.unwrap_or_default(),
        repeats: parsed(dict, "aggregate")?,
        rows: item(dict, "max_chunks")?.extract()?,
    };
    let excluded = item(dict, "exclude")?.extract::<Option<String>>()?;
    Ok(RankingRule {
        ties: parsed(dict, "ties")?,
        score: parsed(dict, "score_type")?,
        depth: item(dict, "depth")?.extract()?,
        drop_identical_ids: item(dict, "drop_identical_ids")?.extract()?,
        units: (units != AppliedAggregation::default()).then(|| Arc::new(units)),
        excluded: excluded.map(Into::into),
    })
}

/// Returns the value of a key that a Python dict must have; a missing key is an exception.
pub fn item<'py>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    dict.get_item(key)?.ok_or_else(|| value_error(format!("it is not known what {key} is")))
}

/// Reads an option of the Rust library from its name in a Python dict.
pub fn parsed<T: FromStr<Err = Error>>(dict: &Bound<'_, PyDict>, key: &str) -> PyResult<T> {
    item(dict, key)?.extract::<String>()?.parse().or_raise(dict.py())
}

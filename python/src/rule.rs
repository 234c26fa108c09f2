//! The rule of rankings as Python holds it: a dict by the keywords that set it.

use std::sync::Arc;

use laneval::labels::{RankingRule, UnitRule};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;

/// The settings of a rule by their keywords: all of them, so that whatever is compared by this dict
/// is compared by the whole rule.
pub fn to_dict<'py>(py: Python<'py>, rule: &RankingRule) -> PyResult<Bound<'py, PyDict>> {
    // Every field by its name: a new one does not compile before it has its keyword here.
    let RankingRule { ties, score, depth, drop_identical_ids, units } = rule;
    let UnitRule { units, repeats, rows } = units.as_deref().cloned().unwrap_or_default();
    let dict = PyDict::new(py);
    dict.set_item("ties", ties.to_string())?;
    dict.set_item("score", score.to_string())?;
    dict.set_item("depth", depth)?;
    dict.set_item("drop_identical_ids", drop_identical_ids)?;
    dict.set_item("units", (!units.is_empty()).then_some(units))?;
    dict.set_item("repeats", repeats.to_string())?;
    dict.set_item("rows", rows)?;
    Ok(dict)
}

/// The rule of a dict that [`to_dict`] made.
pub fn of_dict(dict: &Bound<'_, PyDict>) -> PyResult<RankingRule> {
    let item = |key: &str| {
        dict.get_item(key)?
            .ok_or_else(|| PyValueError::new_err(format!("it is not known what {key} is")))
    };
    let py = dict.py();
    let text = |key: &str| item(key)?.extract::<String>();
    let units = UnitRule {
        units: item("units")?.extract::<Option<String>>()?.unwrap_or_default(),
        repeats: text("repeats")?.parse().map_err(|error| exception(py, error))?,
        rows: item("rows")?.extract()?,
    };
    Ok(RankingRule {
        ties: text("ties")?.parse().map_err(|error| exception(py, error))?,
        score: text("score")?.parse().map_err(|error| exception(py, error))?,
        depth: item("depth")?.extract()?,
        drop_identical_ids: item("drop_identical_ids")?.extract()?,
        units: (units != UnitRule::default()).then(|| Arc::new(units)),
    })
}

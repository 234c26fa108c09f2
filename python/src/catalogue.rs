//! Functions for Python that list measures and GPUs, and one that runs the command `laneval`.

use laneval::compare::Gate;
use std::collections::BTreeMap;

use laneval::measure::{Direction, MEASURES, Measure, Profile, parse_list};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::OrRaise;

/// Returns the canonical names of the measures of a list, whose names are those of a library if one
/// is given.
#[pyfunction]
#[pyo3(signature = (text, as_library=None))]
pub fn parse(py: Python<'_>, text: &str, as_library: Option<&str>) -> PyResult<Vec<String>> {
    let measures = match as_library {
        Some(prefix) => library(py, prefix)?.measures(text, Default::default()),
        None => parse_list(text, Default::default()),
    };
    Ok(names(&measures.or_raise(py)?))
}

/// Returns the canonical names of the usual measures, as far as a library has them.
#[pyfunction]
pub fn usual_measures(py: Python<'_>, as_library: &str) -> PyResult<Vec<String>> {
    Ok(names(&library(py, as_library)?.usual_measures(Default::default())))
}

/// Returns the keywords that a library fixes, with their words. Words that are given have to agree.
#[pyfunction]
pub fn library_options(
    py: Python<'_>,
    as_library: &str,
    given: BTreeMap<String, String>,
) -> PyResult<BTreeMap<String, &'static str>> {
    let profile = library(py, as_library)?;
    let as_keyword = format!("as_={:?}", profile.prefix);
    let settled = profile.options.iter().map(|&(option, _)| {
        let keyword = option.replace('-', "_");
        let given = given.get(&keyword).map(String::as_str);
        let word = profile
            .check_option(&as_keyword, option, given, |word| format!("{keyword}={word:?}"))?;
        Ok((keyword, word.unwrap_or_default()))
    });
    settled.collect::<laneval::Result<_>>().or_option_error(py)
}

fn library(py: Python<'_>, prefix: &str) -> PyResult<&'static Profile> {
    Profile::from_prefix(prefix).or_option_error(py)
}

fn names(measures: &[Measure]) -> Vec<String> {
    measures.iter().map(ToString::to_string).collect()
}

/// Returns the canonical name of the measure that a gate looks at.
#[pyfunction]
pub fn measure_of_gate(py: Python<'_>, text: &str) -> PyResult<String> {
    Ok(Gate::parse(text).or_raise(py)?.measure().to_string())
}

/// Returns all measures, each as a dict of its properties.
#[pyfunction]
pub fn measures(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entries = MEASURES.iter().map(|definition| {
        let dict = PyDict::new(py);
        dict.set_item("name", definition.name)?;
        dict.set_item("plain", definition.plain)?;
        dict.set_item("doc", definition.doc)?;
        dict.set_item("formula", definition.formula)?;
        dict.set_item("source", definition.citation)?;
        dict.set_item("cutoff", definition.cutoff.to_string())?;
        dict.set_item(
            "parameters",
            definition.params.iter().map(|param| param.name).collect::<Vec<_>>(),
        )?;
        dict.set_item("needs", definition.traits.input.to_string())?;
        dict.set_item("average", definition.average.name().to_string())?;
        dict.set_item("better", better(definition.better))?;
        Ok(dict)
    });
    entries.collect()
}

fn better(better: Direction) -> Option<&'static str> {
    match better {
        Direction::Higher => Some("higher"),
        Direction::Lower => Some("lower"),
        Direction::Neither => None,
    }
}

/// Marks the best of some averages, and those equal to it within rounding; none if all are equal or
/// neither direction is better.
#[pyfunction]
pub fn are_best(numbers: Vec<f64>, better: Option<&str>) -> Vec<bool> {
    let better = match better {
        Some("higher") => Direction::Higher,
        Some("lower") => Direction::Lower,
        _ => Direction::Neither,
    };
    let numbers: Vec<Option<f64>> =
        numbers.into_iter().map(|number| Some(number).filter(|value| !value.is_nan())).collect();
    laneval::compare::are_best(&numbers, better)
}

/// Returns the GPUs, each as a dict of its properties.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    #[cfg(feature = "gpu")]
    {
        let adapters = py.detach(laneval::gpu::adapters);
        let entries = adapters.into_iter().map(|adapter| {
            let dict = PyDict::new(py);
            dict.set_item("name", &adapter.name)?;
            dict.set_item("backend", &adapter.backend)?;
            dict.set_item("kind", adapter.kind)?;
            dict.set_item("driver", &adapter.driver)?;
            dict.set_item("unusable", &adapter.unusable)?;
            Ok(dict)
        });
        entries.collect()
    }
    #[cfg(not(feature = "gpu"))]
    {
        let _ = py;
        Ok(Vec::new())
    }
}

/// Runs the command `laneval` with these arguments, the first of which is its name, and returns the
/// exit code.
#[pyfunction]
pub fn command(py: Python<'_>, args: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| laneval_cli::run(args))
}

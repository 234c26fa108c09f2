//! Lists of measures and GPUs, the measure of a gate, and the command.

use laneval::compare::Gate;
use std::collections::BTreeMap;

use laneval::measure::{Better, Definition, MEASURES, Measure, Profile, parse_list};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{exception, option_of};

/// The canonical names of the measures of a list, whose names are those of a library if one is
/// given.
#[pyfunction]
#[pyo3(signature = (text, as_library=None))]
pub fn parse(py: Python<'_>, text: &str, as_library: Option<&str>) -> PyResult<Vec<String>> {
    let measures = match as_library {
        Some(prefix) => library(py, prefix)?.measures(text, Default::default()),
        None => parse_list(text, Default::default()),
    };
    Ok(names(&measures.map_err(|error| exception(py, error))?))
}

/// The canonical names of the usual measures, as far as a library has them.
#[pyfunction]
pub fn usual_measures(py: Python<'_>, as_library: &str) -> PyResult<Vec<String>> {
    Ok(names(&library(py, as_library)?.usual_measures(Default::default())))
}

/// The keywords that a library fixes, with their words. Words that are given have to agree.
#[pyfunction]
pub fn library_options(
    py: Python<'_>,
    as_library: &str,
    given: BTreeMap<String, String>,
) -> PyResult<BTreeMap<&'static str, &'static str>> {
    let profile = library(py, as_library)?;
    let said = format!("as_={:?}", profile.prefix);
    let settled = |&(option, _): &(&'static str, &'static str)| {
        let given = given.get(option).map(String::as_str);
        let word = profile.agree(&said, option, given, |word| format!("{option}={word:?}"));
        word.map(|word| (option, word.unwrap_or_default()))
    };
    let settled: laneval::Result<_> = profile.options.iter().map(settled).collect();
    settled.map_err(|error| option_of(py, error))
}

fn library(py: Python<'_>, prefix: &str) -> PyResult<&'static Profile> {
    Profile::of(prefix).map_err(|error| option_of(py, error))
}

fn names(measures: &[Measure]) -> Vec<String> {
    measures.iter().map(ToString::to_string).collect()
}

/// The canonical name of the measure that a gate looks at.
#[pyfunction]
pub fn measure_of_gate(py: Python<'_>, text: &str) -> PyResult<String> {
    let gate = Gate::parse(text).map_err(|error| exception(py, error))?;
    Ok(gate.measure().to_string())
}

/// All measures, each as a dict of its properties.
#[pyfunction]
pub fn measures(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let of = |definition: &Definition| {
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
    };
    MEASURES.iter().map(of).collect()
}

fn better(better: Better) -> Option<&'static str> {
    match better {
        Better::Higher => Some("higher"),
        Better::Lower => Some("lower"),
        Better::Neither => None,
    }
}

/// Marks the best of some averages, and those equal to it within rounding; none if all are equal or
/// neither direction is better.
#[pyfunction]
pub fn are_best(numbers: Vec<f64>, better: Option<&str>) -> Vec<bool> {
    let better = match better {
        Some("higher") => Better::Higher,
        Some("lower") => Better::Lower,
        _ => Better::Neither,
    };
    let numbers: Vec<Option<f64>> =
        numbers.into_iter().map(|number| Some(number).filter(|of| !of.is_nan())).collect();
    laneval::compare::are_best(&numbers, better)
}

/// The GPUs, each as a dict of its properties.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    #[cfg(feature = "gpu")]
    {
        let adapters = py.detach(laneval::gpu::adapters);
        let of = |adapter: laneval::gpu::Adapter| {
            let dict = PyDict::new(py);
            dict.set_item("name", &adapter.name)?;
            dict.set_item("backend", &adapter.backend)?;
            dict.set_item("kind", adapter.kind)?;
            dict.set_item("driver", &adapter.driver)?;
            dict.set_item("unusable", &adapter.unusable)?;
            Ok(dict)
        };
        adapters.into_iter().map(of).collect()
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

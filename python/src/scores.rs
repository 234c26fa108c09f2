//! Scores for Python: statistics by run and measure, and the values of queries.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BinaryArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use laneval::labels::{Ids, Unmatched};
use laneval::scores::is_undefined;
use laneval::{Notice, RunScores};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyFloat, PyList, PyString};

use crate::errors::{arrow_error, value_error, with_keywords};
use crate::{ffi, rule, text};

/// The scores of runs.
#[pyclass(frozen, module = "laneval._native")]
pub struct Scores {
    pub scores: laneval::Scores,
    /// What is probably wrong with the texts of the runs, in words.
    pub notes: Vec<String>,
}

impl From<laneval::Scores> for Scores {
    fn from(scores: laneval::Scores) -> Self {
        Self { scores, notes: Vec::new() }
    }
}

#[pymethods]
impl Scores {
    /// Returns the canonical names of the measures.
    fn measures(&self) -> Vec<String> {
        self.scores.measures.iter().map(ToString::to_string).collect()
    }

    /// Returns the runs, each as a dict of its properties.
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.scores.runs.iter().map(|run| known(py, &self.scores, run)).collect()
    }

    /// Returns the statistics of each measure of a run by name, the average first.
    fn stats(&self, run: usize) -> Vec<Vec<(String, f64)>> {
        let stats = &self.scores.runs[run].stats;
        stats
            .iter()
            .map(|stats| stats.iter().map(|(name, value)| (name.to_string(), *value)).collect())
            .collect()
    }

    /// Returns the values of the queries of a run, if they were kept.
    fn per_query(&self, run: usize) -> Option<PerQuery> {
        let per_query = self.scores.runs[run].per_query.as_ref()?;
        Some(PerQuery {
            measures: self.measures(),
            queries: Arc::new(per_query.queries.clone()),
            values: Arc::new(per_query.values.clone()),
            missing: Arc::new(per_query.missing.clone()),
        })
    }

    /// Returns notes about what is probably wrong with the texts of the runs.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Notices about the measures and the judgments.
    fn notices(&self) -> Vec<String> {
        self.scores.notices.iter().map(notice_message).collect()
    }

    /// Writes a report, as the command does.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        text::written(py, format, |format, options, to| format.write(&self.scores, options, to))
    }
}

/// Returns the properties of a run's scores besides the numbers, as a Python dict.
fn known<'py>(
    py: Python<'py>,
    scores: &laneval::Scores,
    run: &RunScores,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &run.name)?;
    dict.set_item("group", &run.group)?;
    dict.set_item("tag", text::id_to_py(py, &run.tag)?)?;
    dict.set_item("nothing_judged", run.has_nothing_judged())?;
    dict.set_item("queries", run.queries)?;
    let skipped = PyDict::new(py);
    for (at, measure) in scores.measures.iter().enumerate().filter(|(at, _)| run.skipped(*at) > 0) {
        skipped.set_item(measure.to_string(), run.skipped(at))?;
    }
    dict.set_item("skipped", skipped)?;
    dict.set_item("missing", unmatched(py, &run.missing)?)?;
    dict.set_item("filled", run.filled)?;
    dict.set_item("ignored", unmatched(py, &run.ignored)?)?;
    dict.set_item("ideal", run.ideal.to_string())?;
    dict.set_item("rule", rule::to_dict(py, &run.rule)?)?;
    dict.set_item("tied", scores.settings.tied.to_string())?;
    if run.per_query.is_some() {
        compared(&dict, scores, run)?;
    }
    // Each with the name of its warning.
    let notices = run.notices.iter().map(|notice| {
        let warning = match notice {
            Notice::DecidedByTies { .. } => "TiedScoresWarning",
            _ => "LanevalWarning",
        };
        (warning, notice_message(notice))
    });
    dict.set_item("notices", notices.collect::<Vec<_>>())?;
    Ok(dict)
}

/// Returns the number of unmatched queries and the ids of some of them, as Python objects.
fn unmatched(py: Python<'_>, queries: &Unmatched) -> PyResult<(u64, Vec<Py<PyAny>>)> {
    let ids = queries.ids.iter().map(|id| text::id_to_py(py, id)).collect::<PyResult<_>>()?;
    Ok((queries.count, ids))
}

/// Adds to a Python dict the properties of a run that must be equal for runs that are compared.
fn compared(dict: &Bound<'_, PyDict>, scores: &laneval::Scores, run: &RunScores) -> PyResult<()> {
    let fingerprints = run
        .fingerprints
        .iter()
        .map(|fingerprint| format!("{fingerprint:032x}"))
        .collect::<Vec<_>>();
    dict.set_item("fingerprints", fingerprints)?;
    dict.set_item("query_set", scores.settings.queries.to_string())?;
    dict.set_item("view_depth", scores.settings.view.depth)?;
    dict.set_item("judged_only", scores.settings.view.judged_only)?;
    dict.set_item("relevant_from", scores.settings.relevant_from.to_string())?;
    // Not a property that must be equal: a comparison notes it of the first run that has it.
    dict.set_item(
        "shared_judgments",
        scores.shared_judgments.map(|judgments| (judgments.queries, judgments.groups)),
    )
}

/// The values of the queries of a run.
#[pyclass(frozen, module = "laneval._native")]
pub struct PerQuery {
    pub measures: Vec<String>,
    pub queries: Arc<Ids>,
    /// The values, `[measure][query]`.
    pub values: Arc<Vec<Vec<f64>>>,
    /// The queries that the run lacks, as far as they are known.
    pub missing: Arc<Vec<usize>>,
}

#[pymethods]
impl PerQuery {
    /// Makes the values of some measures, in the order of queries, which ascend.
    #[new]
    fn new(
        measures: Vec<String>,
        queries: Vec<Bound<'_, PyAny>>,
        values: Vec<Vec<f64>>,
    ) -> PyResult<Self> {
        let ids = queries.iter().map(bytes_of).collect::<PyResult<Vec<Bound<'_, PyBytes>>>>()?;
        if values.len() != measures.len()
            || values.iter().any(|measure_values| measure_values.len() != ids.len())
        {
            return Err(value_error("there is not a value for each query and measure"));
        }
        let queries = ids.iter().map(|id| id.as_bytes()).collect();
        Ok(Self {
            measures,
            queries: Arc::new(queries),
            values: Arc::new(values),
            missing: Arc::default(),
        })
    }

    /// Returns the ids of the queries, in bytewise order.
    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.queries.iter().map(|id| text::id_to_py(py, id)).collect()
    }

    /// Returns the number of queries.
    fn __len__(&self) -> usize {
        self.queries.len()
    }

    /// Returns the values of a measure, by its index.
    fn column<'py>(&self, py: Python<'py>, measure: usize) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.values[measure])
    }

    /// Returns all values as the bytes of `f64`, query by query.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (queries, measures) = (self.queries.len(), self.values.len());
        PyBytes::new_with(py, queries * measures * 8, |bytes| {
            for (at, bytes) in bytes.chunks_exact_mut(8).enumerate() {
                // Cannot divide by 0: without measures there are no bytes.
                bytes.copy_from_slice(&self.values[at % measures][at / measures].to_ne_bytes());
            }
            Ok(())
        })
    }

    /// Returns a dict of dicts: query, measure by the given names, value. `order` has the indices
    /// of the queries in the order that is wanted.
    #[pyo3(signature = (names, order = None))]
    fn to_dict<'py>(
        &self,
        py: Python<'py>,
        names: Vec<Bound<'py, PyString>>,
        order: Option<Vec<usize>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for at in order.unwrap_or_else(|| (0..self.queries.len()).collect()) {
            let of_query = PyDict::new(py);
            for (name, values) in names.iter().zip(self.values.iter()) {
                // A query without a value has no key, as it has no row elsewhere.
                if !is_undefined(values[at]) {
                    of_query.set_item(name, PyFloat::new(py, values[at]))?;
                }
            }
            all.set_item(text::id_to_py(py, self.queries.get(at))?, of_query)?;
        }
        Ok(all)
    }

    /// Returns the index of a query.
    fn find(&self, query: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        Ok(self.queries.find(bytes_of(query)?.as_bytes()))
    }

    /// Returns the value of a measure and a query, by their indices.
    fn value(&self, measure: usize, query: usize) -> f64 {
        self.values[measure][query]
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // a wish, which need not be granted
        let queries = ids_column(&self.queries);
        let values = self.values.iter().map(|values| {
            // A query without a value is null in a table.
            let column = if values.iter().any(|&value| is_undefined(value)) {
                values.iter().map(|&value| Some(value).filter(|_| !is_undefined(value))).collect()
            } else {
                Float64Array::from(values.clone())
            };
            Arc::new(column) as ArrayRef
        });
        let names = std::iter::once("query_id").chain(self.measures.iter().map(String::as_str));
        let batch = RecordBatch::try_from_iter(names.zip(std::iter::once(queries).chain(values)));
        let batch = batch.map_err(arrow_error)?;
        let schema = batch.schema();
        let stream =
            FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        PyCapsule::new_with_value(py, stream, ffi::STREAM)
    }
}

/// Returns query ids as an Arrow column of text, or of bytes if an id is not UTF-8.
pub fn ids_column(ids: &Ids) -> ArrayRef {
    let texts: Result<Vec<&str>, _> = ids.iter().map(std::str::from_utf8).collect();
    match texts {
        Ok(texts) => Arc::new(StringArray::from(texts)),
        Err(_) => Arc::new(BinaryArray::from_iter_values(ids.iter())),
    }
}

/// Returns the bytes of a query id that is a Python `str`. Lone surrogates stand for bytes that are
/// not UTF-8.
fn bytes_of<'py>(id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(id.call_method1("encode", ("utf-8", "surrogateescape"))?.cast_into::<PyBytes>()?)
}

fn notice_message(notice: &Notice) -> String {
    with_keywords(&notice.to_string())
}

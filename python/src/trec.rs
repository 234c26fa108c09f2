//! trec_eval's measures under its own names, over dicts, for the module that replaces pytrec_eval.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use laneval::measure::trec::{
    LineKind, NICKNAMES, Refused, Request, TopicSource, Version, registry,
};
use laneval::scores::PerQuery;
use laneval::{Dialect, EngineChoice, Evaluator, Join, QuerySet, ScoreType, Scores, View, Watch};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString};

use crate::errors::problem;
use crate::ffi;
use crate::qrels::LITTLE;
use crate::rows::{OwnedRows, shown};
use crate::work::{Workers, work};

/// trec_eval's measures of version 9 in its order, each with the nicknames of the sets that it is
/// in.
#[pyfunction]
pub fn trec_measures() -> Vec<(&'static str, Vec<&'static str>)> {
    let entries = registry().into_iter().filter(|entry| entry.is_of(Version::V9));
    let nicknames = |entry: laneval::measure::trec::Entry| {
        NICKNAMES.into_iter().filter(|nickname| entry.is_in(nickname)).collect()
    };
    entries.map(|entry| (entry.name(), nicknames(entry))).collect()
}

/// A join that ranks as trec_eval 9 does.
fn join(watch: &Arc<Watch>) -> Join {
    Join {
        dialect: Dialect::Trec9,
        score: ScoreType::F32,
        watch: Some(watch.clone()),
        ..Join::default()
    }
}

/// The divisor: if a run has fewer than an eighth of the judged queries, only the judgments of its
/// queries are used.
const FEW: usize = 8;

/// Measures of trec_eval 9 and judgments, by which runs are evaluated.
#[pyclass(frozen, module = "laneval._native")]
pub struct TrecEvaluator {
    evaluator: Evaluator,
    /// The judgments; `None` if there are none.
    judged: Option<DictQrels>,
    /// The keys of each answer, with the sources of their values.
    keys: Vec<(Py<PyString>, TopicSource)>,
}

#[pymethods]
impl TrecEvaluator {
    /// Makes an evaluator of judgments, a dict of dicts of integers, and measures, given as `name`
    /// or `name.params`.
    #[new]
    fn new(
        py: Python<'_>,
        qrels: &Bound<'_, PyDict>,
        measures: Vec<String>,
        level: u32,
        judged_only: bool,
    ) -> PyResult<Self> {
        let request = Request::new(&measures, Version::V9, f64::from(level), 0)
            .map_err(|refused: Refused| PyValueError::new_err(refused.to_string()))?;
        let keys = request.columns.iter().map(|column| {
            let key = if column.is_cut { column.name.as_str() } else { column.base };
            (PyString::intern(py, key).unbind(), column.source)
        });
        let evaluator = Evaluator::of(request.measures)
            .with_view(View { depth: None, judged_only })
            .with_engine(EngineChoice::Cpu)
            .with_queries(QuerySet::Both)
            .with_per_query(true)
            .with_not_finite(true);
        let judged = DictQrels::of(qrels)?;
        Ok(TrecEvaluator { evaluator, keys: keys.collect(), judged })
    }

    /// The values of the judged queries of a dict of dicts, in its order: query, measure, value.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        scores: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let run = DictRun::of(scores)?;
        let answer = PyDict::new(py);
        let Some(judged) = &self.judged else { return Ok(answer) };
        let queries = judged.find(&run.queries)?;
        let nothing =
            self.evaluator.measures().is_empty() || queries.is_empty() || run.rows.len() == 0;
        let values = if nothing { None } else { Some(self.values(py, judged, &run, &queries)?) };
        let empty = self.of_an_empty_ranking(py)?;
        for (query, _) in queries {
            let of_query = empty.copy()?;
            let id = query.to_str()?.as_bytes();
            if let Some((values, at)) =
                values.as_ref().and_then(|of| Some((of, of.queries.find(id)?)))
            {
                for (key, source) in &self.keys {
                    if let TopicSource::Measure(measure, _) = *source {
                        of_query.set_item(key, PyFloat::new(py, values.values[measure][at]))?;
                    }
                }
            }
            answer.set_item(query, of_query)?;
        }
        Ok(answer)
    }
}

impl TrecEvaluator {
    /// The answer of pytrec_eval for a query without documents: the query is there, and nothing was
    /// computed.
    fn of_an_empty_ranking<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (key, source) in &self.keys {
            let value =
                if matches!(source, TopicSource::Measure(_, LineKind::Topics)) { 1.0 } else { 0.0 };
            values.set_item(key, value)?;
        }
        Ok(values)
    }

    /// The values of the queries of a run, of which these are judged, `[measure][query]`:
    /// logarithms for geometric means.
    fn values(
        &self,
        py: Python<'_>,
        judged: &DictQrels,
        run: &DictRun<'_>,
        queries: &[(&Bound<'_, PyString>, usize)],
    ) -> PyResult<PerQuery> {
        let few = queries.len() * FEW < judged.qrels.queries().len();
        let part = few.then(|| judged.part(queries.iter().map(|(_, at)| *at)));
        let results = &run.rows;
        let rows = part.as_ref().unwrap_or(&judged.rows).len() + results.len();
        let watch = Arc::new(Watch::default());
        let workers = Workers { little: rows < LITTLE, ..Workers::default() };
        let evaluator = self.evaluator.clone().with_watch(Some(watch.clone()));
        let join = join(&watch);
        let scores: Scores = work(py, workers, &watch, || {
            let part =
                part.as_ref().map(|rows| rows.with_judgments(|batches| join.judgments(batches)));
            let part = part.transpose()?;
            let qrels = part.as_ref().unwrap_or(&judged.qrels);
            let matrix =
                results.with_records(|records| join.columns(qrels, &[("scores", records)]))?;
            evaluator.evaluate(&matrix)
        })?;
        let run = scores.runs.into_iter().next();
        let mut of =
            run.and_then(|run| run.per_query).unwrap_or_else(|| unreachable!("they are kept"));
        for (measure, values) in self.evaluator.measures().iter().zip(&mut of.values) {
            let average = measure.definition().average;
            values.iter_mut().for_each(|value| *value = average.term(*value));
        }
        Ok(of)
    }
}

/// Judgments with their rows, from which those of some queries can be taken.
struct DictQrels {
    rows: OwnedRows,
    qrels: laneval::Qrels,
    /// The index and the rows of each judged query.
    places: Vec<(usize, Range<usize>)>,
}

impl DictQrels {
    /// Reads judgments from a dict of dicts; `None` if it is empty.
    fn of(dict: &Bound<'_, PyDict>) -> PyResult<Option<Self>> {
        let (rows, ends) = judgments(dict)?;
        if rows.len() == 0 {
            return Ok(None);
        }
        let workers = Workers { little: rows.len() < LITTLE, ..Workers::default() };
        let watch = Arc::new(Watch::default());
        let join = join(&watch);
        let qrels = work(dict.py(), workers, &watch, || {
            rows.with_judgments(|batches| join.judgments(batches))
        })?;
        let mut places = vec![(0, 0..0); qrels.queries().len()];
        let mut start = 0;
        for (query, end) in ends.into_iter().enumerate() {
            if let Some(at) = qrels.queries().find(rows.query(query)) {
                places[at] = (query, start..end);
            }
            start = end;
        }
        Ok(Some(DictQrels { rows, qrels, places }))
    }

    /// The judgments of some queries.
    fn part(&self, queries: impl Iterator<Item = usize>) -> OwnedRows {
        self.rows.part(queries.map(|at| self.places[at].clone()))
    }

    /// The judged queries of a run, with their indices here.
    fn find<'a, 'py>(
        &self,
        queries: &'a [Bound<'py, PyString>],
    ) -> PyResult<Vec<(&'a Bound<'py, PyString>, usize)>> {
        let mut found = Vec::with_capacity(queries.len());
        for query in queries {
            let at = self.qrels.queries().find(query.to_str()?.as_bytes());
            found.extend(at.map(|at| (query, at)));
        }
        Ok(found)
    }
}

/// Reads judgments from a dict of dicts of integers, with the end of the rows of each query.
fn judgments(dict: &Bound<'_, PyDict>) -> PyResult<(OwnedRows, Vec<usize>)> {
    let (mut rows, mut ends) = (OwnedRows::new(), Vec::with_capacity(dict.len()));
    for (query, docs) in dict.iter() {
        let query = query
            .cast::<PyString>()
            .map_err(|_| PyTypeError::new_err("Expected string as key."))?;
        let docs = docs.cast::<PyDict>();
        let docs = docs.map_err(|_| PyTypeError::new_err("Expected dictionary as value."))?;
        rows.begin(query.to_str()?.as_bytes());
        let one = |doc: &Bound<'_, PyAny>, grade: &Bound<'_, PyAny>| {
            let message = "Expected mapping of document id to query relevance or matching score.";
            let doc = doc.cast::<PyString>().map_err(|_| PyTypeError::new_err(message))?;
            let grade = grade.cast::<PyInt>();
            let grade =
                grade.map_err(|_| PyTypeError::new_err("Expected relevance to be integer."))?;
            rows.push(doc.to_str()?.as_bytes(), grade.extract::<i64>()? as f64);
            Ok(())
        };
        ffi::for_each_item(docs, |_, _| false, one)?;
        ends.push(rows.len());
    }
    Ok((rows, ends))
}

/// The run of a dict of dicts of numbers.
struct DictRun<'py> {
    rows: OwnedRows,
    queries: Vec<Bound<'py, PyString>>,
}

impl<'py> DictRun<'py> {
    fn of(dict: &Bound<'py, PyDict>) -> PyResult<Self> {
        let py = dict.py();
        let mut rows = OwnedRows::new();
        let mut queries = Vec::with_capacity(dict.len());
        for (at, (query, docs)) in dict.iter().enumerate() {
            let query =
                query.cast::<PyString>().map_err(|_| refused(py, &query, "a query", "a str"))?;
            let docs = docs
                .cast::<PyDict>()
                .map_err(|_| refused(py, &docs, "the scores of a query", "a dict"))?;
            let id = query.to_str()?;
            rows.begin(id.as_bytes());
            scores(&mut rows, query, docs)?;
            // Keys of the answer are of type `str`, and not of a subclass.
            let plain = query.cast_exact::<PyString>().cloned();
            queries.push(plain.unwrap_or_else(|_| PyString::new(py, id)));
            if at % 1024 == 1023 {
                py.check_signals()?;
            }
        }
        Ok(DictRun { rows, queries })
    }
}

/// Appends the scores of a query.
fn scores(
    rows: &mut OwnedRows,
    query: &Bound<'_, PyString>,
    docs: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let py = docs.py();
    let rows = RefCell::new(rows);
    let plain = |doc: &[u8], score: f64| {
        let fine = !score.is_nan();
        if fine {
            rows.borrow_mut().push(doc, score);
        }
        fine
    };
    let other = |doc: &Bound<'_, PyAny>, score: &Bound<'_, PyAny>| {
        let text = doc.cast::<PyString>().map_err(|_| refused(py, doc, "a document", "a str"))?;
        if !score.is_instance_of::<PyFloat>() && !score.is_instance_of::<PyInt>() {
            return Err(refused(py, score, "a score", "an int or a float"));
        }
        let value = score.extract::<f64>()?;
        if value.is_nan() {
            let message = format!(
                "the score of document {} of query {} is not a number (NaN)",
                shown(doc),
                shown(query)
            );
            return Err(problem(py, "scores", 0, message));
        }
        rows.borrow_mut().push(text.to_str()?.as_bytes(), value);
        Ok(())
    };
    ffi::for_each_item(docs, plain, other)
}

/// The exception of pytrec_eval for wrong scores, with the cause.
fn refused(py: Python<'_>, found: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyErr {
    let cause =
        format!("{what} is {} of {}: {expected} was expected", shown(found), found.get_type());
    let error = PyTypeError::new_err("Unable to extract query/object scores.");
    error.set_cause(py, Some(PyTypeError::new_err(cause)));
    error
}

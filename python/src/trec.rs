//! trec_eval's measures under trec_eval's names over Python dicts, for the module that replaces
//! pytrec_eval.

use std::ops::Range;
use std::sync::Arc;

use laneval::measure::trec::{
    LineKind, NICKNAMES, RefusedMeasure, Request, TopicSource, Version, registry,
};
use laneval::scores::PerQuery;
use laneval::{Dialect, EngineChoice, Evaluator, Join, ProgressHandle, QuerySet, ScoreType, View};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString};

use crate::errors::{problem, type_error, value_error};
use crate::ffi::{self, ItemSink};
use crate::qrels::LITTLE;
use crate::rows::OwnedRows;
use crate::text::shown;
use crate::work::{Workers, work};

/// Returns trec_eval's measures of version 9 in its order, each with the nicknames of the sets that
/// it is in.
#[pyfunction]
pub fn trec_measures() -> Vec<(&'static str, Vec<&'static str>)> {
    let entries = registry().into_iter().filter(|entry| entry.is_in_version(Version::V9));
    let rows = entries.map(|entry| {
        let nicknames = NICKNAMES.into_iter().filter(|nickname| entry.is_in(nickname));
        (entry.name(), nicknames.collect())
    });
    rows.collect()
}

/// Returns the settings of a join that ranks runs as trec_eval 9 does.
fn join(watch: &Arc<ProgressHandle>) -> Join {
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
            .map_err(|refused: RefusedMeasure| value_error(refused.to_string()))?;
        // Keys are interned once, because the dict of every query has the same keys.
        let keys = request.columns.iter().map(|column| {
            let key = if column.is_cut { column.name.as_str() } else { column.base };
            (PyString::intern(py, key).unbind(), column.source)
        });
        let evaluator = Evaluator::from_measures(request.measures)
            .with_view(View { depth: None, judged_only })
            .with_engine(EngineChoice::Cpu)
            .with_queries(QuerySet::Common)
            .with_per_query(true)
            .allow_non_finite(true);
        let judged = DictQrels::from_dict(qrels)?;
        Ok(Self { evaluator, keys: keys.collect(), judged })
    }

    /// Returns the values of the judged queries of a dict of dicts, in its order: query, measure,
    /// value.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        scores: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let run = DictRun::from_dict(scores)?;
        let answer = PyDict::new(py);
        let Some(judged) = &self.judged else { return Ok(answer) };
        let queries = judged.find(&run.queries)?;
        let nothing =
            self.evaluator.measures().is_empty() || queries.is_empty() || run.rows.len() == 0;
        let values = if nothing { None } else { Some(self.values(py, judged, &run, &queries)?) };
        let empty = self.empty_ranking_values(py)?;
        for (query, _) in queries {
            let of_query = empty.copy()?;
            let id = query.to_str()?.as_bytes();
            if let Some((values, at)) =
                values.as_ref().and_then(|per_query| Some((per_query, per_query.queries.find(id)?)))
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
    /// Returns the values that pytrec_eval gives a query without documents: 0 for each measure but
    /// the number of queries.
    fn empty_ranking_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (key, source) in &self.keys {
            let value =
                if matches!(source, TopicSource::Measure(_, LineKind::Topics)) { 1.0 } else { 0.0 };
            values.set_item(key, value)?;
        }
        Ok(values)
    }

    /// Evaluates the judged queries of a run, and returns their values, `[measure][query]`. The
    /// values are logarithms for geometric means.
    fn values(
        &self,
        py: Python<'_>,
        judged: &DictQrels,
        run: &DictRun<'_>,
        queries: &[(&Bound<'_, PyString>, usize)],
    ) -> PyResult<PerQuery> {
        let few = queries.len() * FEW < judged.qrels.queries().len();
        let part =
            few.then(|| judged.rows.part(queries.iter().map(|&(_, at)| judged.places[at].clone())));
        let results = &run.rows;
        let rows = part.as_ref().unwrap_or(&judged.rows).len() + results.len();
        let watch = Arc::<ProgressHandle>::default();
        let workers = Workers { little: rows < LITTLE, ..Workers::default() };
        let evaluator = self.evaluator.clone().with_progress(Some(watch.clone()));
        let join = join(&watch);
        let scores = work(py, workers, &watch, || {
            let part =
                part.as_ref().map(|rows| rows.with_judgments(|batches| join.judgments(batches)));
            let part = part.transpose()?;
            let qrels = part.as_ref().unwrap_or(&judged.qrels);
            let matrix =
                results.with_records(|records| join.columns(qrels, &[("scores", records)]))?;
            evaluator.evaluate(&matrix)
        })?;
        let run = scores.runs.into_iter().next();
        let mut per_query =
            run.and_then(|run| run.per_query).unwrap_or_else(|| unreachable!("they are kept"));
        for (measure, values) in self.evaluator.measures().iter().zip(&mut per_query.values) {
            let average = measure.definition().average;
            values.iter_mut().for_each(|value| *value = average.term(*value));
        }
        Ok(per_query)
    }
}

/// Judgments from a Python dict with their rows, from which those of some queries can be taken.
struct DictQrels {
    rows: OwnedRows,
    qrels: laneval::Qrels,
    /// The index and the rows of each judged query.
    places: Vec<(usize, Range<usize>)>,
}

impl DictQrels {
    /// Reads judgments from a Python dict of dicts (query, document, grade); `None` if there are
    /// none.
    fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<Option<Self>> {
        let (rows, ends) = judgments(dict)?;
        if rows.len() == 0 {
            return Ok(None);
        }
        let workers = Workers { little: rows.len() < LITTLE, ..Workers::default() };
        let watch = Arc::<ProgressHandle>::default();
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
        Ok(Some(Self { rows, qrels, places }))
    }

    /// Returns those queries of a run that are judged, each with its index among the judged
    /// queries.
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

/// Reads judgments from a Python dict of dicts of integers, with the end of the rows of each query.
fn judgments(dict: &Bound<'_, PyDict>) -> PyResult<(OwnedRows, Vec<usize>)> {
    let (mut rows, mut ends) = (OwnedRows::default(), Vec::with_capacity(dict.len()));
    for (query, docs) in dict.iter() {
        let query = query.cast::<PyString>().map_err(|_| type_error("Expected string as key."))?;
        let docs = docs.cast::<PyDict>();
        let docs = docs.map_err(|_| type_error("Expected dictionary as value."))?;
        rows.begin(query.to_str()?.as_bytes());
        ffi::for_each_item(docs, &mut QueryGrades(&mut rows))?;
        ends.push(rows.len());
    }
    Ok((rows, ends))
}

/// A reader of the grades of one query's documents from a Python dict.
struct QueryGrades<'r>(&'r mut OwnedRows);

impl<'py> ItemSink<'py> for QueryGrades<'_> {
    // Grades are integers, so no float is taken.
    fn plain(&mut self, _: &[u8], _: f64) -> bool {
        false
    }

    fn other(&mut self, doc: &Bound<'py, PyAny>, grade: &Bound<'py, PyAny>) -> PyResult<()> {
        let message = "Expected mapping of document id to query relevance or matching score.";
        let doc = doc.cast::<PyString>().map_err(|_| type_error(message))?;
        let message = "Expected relevance to be integer.";
        let grade = grade.cast::<PyInt>().map_err(|_| type_error(message))?;
        self.0.push(doc.to_str()?.as_bytes(), grade.extract::<i64>()? as f64);
        Ok(())
    }
}

/// A run from a Python dict of dicts: query, document, score.
struct DictRun<'py> {
    rows: OwnedRows,
    queries: Vec<Bound<'py, PyString>>,
}

impl<'py> DictRun<'py> {
    fn from_dict(dict: &Bound<'py, PyDict>) -> PyResult<Self> {
        let py = dict.py();
        let mut rows = OwnedRows::default();
        let mut queries = Vec::with_capacity(dict.len());
        for (at, (query, docs)) in dict.iter().enumerate() {
            let query =
                query.cast::<PyString>().map_err(|_| refused(py, &query, "a query", "a str"))?;
            let docs = docs
                .cast::<PyDict>()
                .map_err(|_| refused(py, &docs, "the scores of a query", "a dict"))?;
            let id = query.to_str()?;
            rows.begin(id.as_bytes());
            ffi::for_each_item(docs, &mut QueryScores { rows: &mut rows, query })?;
            // Keys of the answer are of type `str`, and not of a subclass.
            let plain = query.cast_exact::<PyString>().cloned();
            queries.push(plain.unwrap_or_else(|_| PyString::new(py, id)));
            if at % 1024 == 1023 {
                py.check_signals()?;
            }
        }
        Ok(Self { rows, queries })
    }
}

/// A reader of the scores of one query's documents from a Python dict.
struct QueryScores<'r, 'py> {
    rows: &'r mut OwnedRows,
    query: &'r Bound<'py, PyString>,
}

impl<'py> ItemSink<'py> for QueryScores<'_, 'py> {
    fn plain(&mut self, doc: &[u8], score: f64) -> bool {
        let is_number = !score.is_nan();
        if is_number {
            self.rows.push(doc, score);
        }
        is_number
    }

    fn other(&mut self, doc: &Bound<'py, PyAny>, score: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = doc.py();
        let text = doc.cast::<PyString>().map_err(|_| refused(py, doc, "a document", "a str"))?;
        if !score.is_instance_of::<PyFloat>() && !score.is_instance_of::<PyInt>() {
            return Err(refused(py, score, "a score", "an int or a float"));
        }
        let value = score.extract::<f64>()?;
        if value.is_nan() {
            let message = format!(
                "the score of document {} of query {} is not a number (NaN)",
                shown(doc),
                shown(self.query)
            );
            return Err(problem(py, "scores", 0, message));
        }
        self.rows.push(text.to_str()?.as_bytes(), value);
        Ok(())
    }
}

/// Returns the exception that pytrec_eval raises for wrong scores, with the cause.
fn refused(py: Python<'_>, found: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyErr {
    let cause =
        format!("{what} is {} of {}: {expected} was expected", shown(found), found.get_type());
    let error = type_error("Unable to extract query/object scores.");
    error.set_cause(py, Some(type_error(cause)));
    error
}

//! Measures and the options of their evaluation: the keywords of every `evaluate` in Python.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use laneval::arrays::Rankings;
use laneval::identify::{IdentifyBuilder, ReportedValue, joined_in_every_order};
use laneval::measure::{Defaults, Measure, facets_needed, parse_list};
use laneval::options::{Given, OPTIONS, OptionRow, Value};
use laneval::pools::PoolOptions;
use laneval::text::{DetectedFile, DetectedFormats, OptionStyle};
use laneval::{
    DocIdRule, Error, Evaluator, ExcludedDocs, FacetKind, Input, Join, LabelMatrix, Notice,
    ProgressHandle, ReadOptions, RunInput, Scores, Stat,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::arrays;
use crate::columns::{ColumnNaming, RowsRole};
use crate::doc_ids::PyDocIds;
use crate::errors::{OrRaise, exception, option};
use crate::identify::Identification;
use crate::matrix::Matrix;
use crate::pools::Pools;
use crate::qrels::{LITTLE, Qrels, dialect_of, noted, tables};
use crate::scores;
use crate::source::PySource;
use crate::stream::{RankingStream, StreamKind};
use crate::summary::Summary;
use crate::work::{Workers, work};

/// The reported numbers to identify: `(name, number)` pairs, the measure of query values, and
/// `(query, value)` pairs. A number is a name and a text; the measure is that of the values; a
/// value is a query and a text.
type IdentifyNumbers = (Vec<(String, String)>, String, Vec<(String, String)>);

/// Runs as Python gives them: an object each, with a name or none.
type NamedObjects<'py> = Vec<(Option<String>, Bound<'py, PyAny>)>;

/// Excluded documents as Python gives them: a file, or pairs of query and document.
#[derive(FromPyObject)]
enum ExcludeSource {
    Pairs(Vec<(String, String)>),
    File(PathBuf),
}

/// Returns the documents to leave out of rankings, read from their file.
fn excluded_docs(source: Option<ExcludeSource>) -> Result<Option<Arc<ExcludedDocs>>, Error> {
    let docs = source.map(|source| match source {
        ExcludeSource::Pairs(pairs) => Ok(ExcludedDocs::from_pairs(pairs)),
        ExcludeSource::File(path) => ExcludedDocs::read(Input::Path(path), tables()),
    });
    Ok(docs.transpose()?.map(Arc::new))
}

/// Measures and the options of their evaluation.
#[pyclass(frozen, module = "laneval._native")]
pub struct Settings {
    join: Join,
    evaluator: Evaluator,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
}

#[pymethods]
impl Settings {
    #[new]
    fn new(
        py: Python<'_>,
        measures: Vec<String>,
        keywords: Bound<'_, PyDict>,
        doc_id: Option<PyRef<'_, PyDocIds>>,
        qrels_doc_id: Option<PyRef<'_, PyDocIds>>,
        exclude: Option<ExcludeSource>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = options(&keywords)?;
        let lists = measures.iter().map(|name| parse_list(name, Defaults::default()));
        let measures = lists.collect::<Result<Vec<_>, _>>().or_raise(py)?.concat();
        let measures = given.over_judges(measures).or_raise(py)?;
        let facet: Option<FacetKind> = given.value("facet").or_option_error(py)?;
        let judged_by = match facet.or(given.text("judges").map(|_| FacetKind::Judge)) {
            None => facets_needed(&measures).or_raise(py)?,
            by => by,
        };
        let dialect = given.text("dialect").map(|name| dialect_of(py, name)).transpose()?;
        let ties = given.tie_rule().or_option_error(py)?;
        let join = given.join().or_option_error(py)?;
        let join = Join {
            dialect: dialect.unwrap_or_default(),
            keep_ties: ties.needs_ties() || measures.iter().any(Measure::needs_ties),
            runs_as: ReadOptions { options: OptionStyle::Python, ..join.runs_as },
            judged_by,
            tables: tables(),
            units: rule_of(doc_id),
            qrels_units: rule_of(qrels_doc_id),
            exclude: py.detach(|| excluded_docs(exclude)).or_raise(py)?,
            shared_judgments: given.flag("per-query"),
            ..join
        };
        let stats = given.texts("stat").into_iter().map(str::parse::<Stat>);
        let evaluator = given
            .evaluator(measures)
            .or_option_error(py)?
            .with_per_query(given.flag("per-query"))
            .with_stats(stats.collect::<Result<Vec<_>, _>>().or_option_error(py)?);
        let threads = given.value("threads").or_option_error(py)?;
        Ok(Self { join, evaluator, threads, progress })
    }

    /// Returns the canonical names of the measures.
    fn measures(&self) -> Vec<String> {
        self.evaluator.measures().iter().map(ToString::to_string).collect()
    }

    /// Returns the facet by which judgments are read: the one that was asked for, or that the
    /// measures need.
    fn facet(&self) -> Option<String> {
        self.join.judged_by.map(|by| by.to_string())
    }

    /// Returns the scores of some runs, each given as a name and a source.
    fn evaluate(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: NamedObjects<'_>,
        columns: ColumnNaming,
    ) -> PyResult<scores::Scores> {
        let runs = self.runs(py, qrels, runs, columns)?;
        let texts = RunTexts::watch(qrels);
        let scores = self.work_on(py, qrels, &runs, |join, evaluator| {
            let (join, judged) = (&texts.join(join), &qrels.qrels);
            match runs.joined(join, judged)? {
                Some(matrix) => evaluator.evaluate(&matrix),
                None => runs.each(join, judged, |matrix| evaluator.evaluate(&matrix)),
            }
        })?;
        Ok(scores::Scores { scores, notes: texts.notes() })
    }

    /// Returns the matrix of some runs.
    fn build(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: NamedObjects<'_>,
        columns: ColumnNaming,
        keep_ties: bool,
    ) -> PyResult<Matrix> {
        let runs = self.runs(py, qrels, runs, columns)?;
        let texts = RunTexts::watch(qrels);
        let matrix = self.work_on(py, qrels, &runs, |join, _| {
            let join = texts.join(join);
            let join =
                Join { keep_ties: keep_ties || join.keep_ties, shared_judgments: true, ..join };
            runs.joined_as(&join, &qrels.qrels, "matrix")
        })?;
        Ok(Matrix::with_notes(matrix, texts.notes()))
    }

    /// Returns the pools of some runs down to a depth, and the scores of the runs.
    fn pools(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: NamedObjects<'_>,
        columns: ColumnNaming,
        pool_depth: NonZeroU32,
        teams: Option<String>,
    ) -> PyResult<(Pools, scores::Scores)> {
        let runs = self.runs(py, qrels, runs, columns)?;
        let mut options = PoolOptions::default();
        (options.depth, options.teams) = (pool_depth, teams);
        let texts = RunTexts::watch(qrels);
        let (pools, mut scores) = self.work_on(py, qrels, &runs, |join, evaluator| {
            let numbered = qrels.qrels.numbered()?;
            let matrix = runs.joined_as(&texts.join(join), &numbered, "pool")?;
            let scores = evaluator.evaluate(&matrix)?;
            Ok((laneval::pools::Pools::new(matrix, &evaluator, &options)?, scores))
        })?;
        // Numbered documents are those of one judge, of whom nobody has heard.
        scores.notices.retain(|notice| !matches!(notice, Notice::MaxOverFacets { .. }));
        Ok((Pools { pools }, scores::Scores { scores, notes: texts.notes() }))
    }

    /// Returns the definitions of what is `request`: numbers, each a name and a text, and the
    /// values of queries under a measure. `shown` are the number of exact decimals and the number
    /// of classes to list.
    fn identify(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: NamedObjects<'_>,
        columns: ColumnNaming,
        request: IdentifyNumbers,
        shown: (Option<u8>, usize),
    ) -> PyResult<Identification> {
        let ((numbers, measure, reported_values), (digits, top)) = (request, shown);
        let runs = self.runs(py, qrels, runs, columns)?;
        let found = self.work_on(py, qrels, &runs, |join, _| {
            let message = "a run is a file, or in memory".to_owned();
            let matrices = joined_in_every_order(&join, |join| {
                runs.joined(join, &qrels.qrels)?.ok_or_else(|| Error::Unanswerable(message.clone()))
            })?;
            let mut builder = IdentifyBuilder::from_matrices(&matrices)?.digits(digits).top(top);
            for (name, number) in &numbers {
                builder = builder.number(name, number)?;
            }
            if !reported_values.is_empty() {
                let values = reported_values.into_iter().map(|(query, value)| ReportedValue {
                    place: String::new(),
                    query: query.into_bytes(),
                    value,
                });
                builder = builder.scores(&measure, values)?;
            }
            builder.run()
        })?;
        Ok(Identification { found })
    }

    /// Returns the matrix of rows that are a part of all rows, such as a partition. Any of the
    /// sources may be `None`.
    fn part(
        &self,
        py: Python<'_>,
        judged: Option<Bound<'_, PyAny>>,
        runs: Vec<(String, Option<Bound<'_, PyAny>>)>,
    ) -> PyResult<Matrix> {
        let judged = PySource::optional_from_py(judged.as_ref(), "qrels", RowsRole::Qrels)?;
        let mut sources = Vec::new();
        for (name, object) in runs {
            let source = PySource::optional_from_py(object.as_ref(), &name, RowsRole::Run)?;
            sources.push((Some(name), source));
        }
        let runs = Runs { sources, columns: None };
        let rows = runs.rows().saturating_add(judged.len());
        let matrix = self.work(py, rows, |join, _| {
            let join = Join { part: true, judged_by: None, ..join.clone() };
            let qrels = judged.with_judgments(|batches| join.judgments(batches));
            runs.columns(
                &join,
                &qrels.unwrap_or_else(|| unreachable!("it is no text"))?,
                &mut Vec::new(),
            )
        })?;
        Ok(matrix.into())
    }

    /// Returns the scores of all runs of a matrix.
    fn matrix(&self, py: Python<'_>, matrix: &Matrix) -> PyResult<scores::Scores> {
        let matrix = &matrix.matrix;
        let scores = self.work(py, matrix.rows(), |_, evaluator| evaluator.evaluate(matrix))?;
        Ok(scores.into())
    }

    /// Returns the summary of all runs of a matrix.
    fn summary(&self, py: Python<'_>, matrix: &Matrix) -> PyResult<Summary> {
        let matrix = &matrix.matrix;
        let summary = self.work(py, matrix.rows(), |_, evaluator| evaluator.summary(matrix))?;
        Ok(Summary { summary })
    }

    /// Starts an evaluation of batches: of a run against judgments, or of labels with these grades.
    fn stream(
        &self,
        py: Python<'_>,
        qrels: Option<&Qrels>,
        grouped: bool,
        grades: Vec<f64>,
        columns: ColumnNaming,
    ) -> PyResult<RankingStream> {
        let workers = Workers { threads: self.threads, ..Workers::default() };
        let kind = match (qrels, grouped) {
            (Some(qrels), true) => StreamKind::Run(qrels),
            (Some(qrels), false) => StreamKind::Rows(qrels),
            (None, _) => StreamKind::Labels(grades),
        };
        RankingStream::new(py, self.join.clone(), self.evaluator.clone(), workers, kind, columns)
    }

    /// Returns the scores of rankings in arrays.
    fn rankings(&self, py: Python<'_>, rankings: &arrays::Arrays) -> PyResult<scores::Scores> {
        let little = rankings.values();
        let scores = self.work(py, little, |_, evaluator| {
            rankings.with(|rankings: &Rankings<'_>| evaluator.rankings(rankings))
        })?;
        Ok(scores.into())
    }
}

/// The texts of runs that are read while the runs are joined, as recognised, for notes.
struct RunTexts {
    /// The texts of the judgments, recognised before.
    before: Vec<DetectedFile>,
    recognised: Arc<DetectedFormats>,
}

impl RunTexts {
    fn watch(qrels: &Qrels) -> Self {
        let (before, recognised) = (qrels.recognised.clone(), Arc::<DetectedFormats>::default());
        recognised.extend(before.iter().cloned());
        Self { before, recognised }
    }

    fn join(&self, join: Join) -> Join {
        Join { recognised: Some(self.recognised.clone()), ..join }
    }

    /// Returns notes about probable faults of the runs' texts, and what was done with the texts.
    fn notes(&self) -> Vec<String> {
        noted(self.recognised.all().into_iter().filter(|text| !self.before.contains(text)))
    }
}

impl Settings {
    /// Reads runs from Python objects, and rejects options of files where no run is a file.
    fn runs(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: NamedObjects<'_>,
        columns: ColumnNaming,
    ) -> PyResult<Runs> {
        let columns = columns.with_doc_id_column(&self.join.units);
        let sources = self.sources(runs, &columns, qrels.qrels.judged_by())?;
        let of_files = [
            ("run_format", self.join.runs_as.format.is_some()),
            ("subset", self.join.runs_as.subset.is_some()),
        ];
        if let Some((word, _)) = of_files.into_iter().find(|(_, given)| *given)
            && !sources.iter().any(|(_, source)| matches!(source, PySource::Text(_)))
        {
            let message = format!("{word} changes nothing for runs in memory: leave it out");
            return Err(option(py, message));
        }
        Ok(Runs { sources, columns: RowsRole::Run.names(py, &columns)? })
    }

    /// Reads each run from its Python object; results are passages where judgments are by span.
    fn sources(
        &self,
        runs: NamedObjects<'_>,
        columns: &ColumnNaming,
        by: Option<FacetKind>,
    ) -> PyResult<Vec<(Option<String>, PySource)>> {
        let mut sources = Vec::with_capacity(runs.len());
        for (name, object) in runs {
            if let DocIdRule::Column(column) = &self.join.units
                && object.cast::<PyMapping>().is_ok()
            {
                let message = format!("doc_id='column:{column}': a dict of queries has no columns");
                return Err(exception(object.py(), Error::Unanswerable(message)));
            }
            let source =
                PySource::run_from_py(&object, name.as_deref().unwrap_or("run"), by, columns)?;
            sources.push((name, source));
        }
        Ok(sources)
    }

    /// Runs a task as [`Settings::work`] does, with the columns that are read of runs set in the
    /// join.
    fn work_on<T: Send>(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: &Runs,
        task: impl FnOnce(Join, Evaluator) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.work(py, runs.rows().saturating_add(qrels.rows), |join, evaluator| {
            let runs_as = ReadOptions { columns: runs.columns.clone(), ..join.runs_as.clone() };
            task(Join { runs_as, ..join.clone() }, evaluator)
        })
    }

    /// Runs a task on the number of threads that was asked for, and lets Python signals stop the
    /// task.
    pub fn work<T: Send>(
        &self,
        py: Python<'_>,
        rows: usize,
        task: impl FnOnce(&Join, Evaluator) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let watch = Arc::<ProgressHandle>::default();
        let workers = Workers {
            threads: self.threads,
            progress: self.progress.as_ref(),
            little: rows < LITTLE,
        };
        let evaluator = self.evaluator.clone().with_progress(Some(watch.clone()));
        let join = Join { watch: Some(watch.clone()), ..self.join.clone() };
        work(py, workers, &watch, || task(&join, evaluator))
    }
}

/// Returns the keywords of an evaluation as options. A keyword that is `None` is not given.
fn options(keywords: &Bound<'_, PyDict>) -> PyResult<Given> {
    let mut given = Given::new("eval");
    for row in OPTIONS.iter().filter(|row| row.keyword.is_some()) {
        if let Some(values) = texts(keywords, row)? {
            given.set(row.id, values.into_iter().map(OsString::from).collect());
        }
    }
    Ok(given)
}

/// Returns the value of a keyword as the texts of an option, which a flag has none of; `None` if
/// the keyword is not given.
fn texts(keywords: &Bound<'_, PyDict>, row: &OptionRow) -> PyResult<Option<Vec<String>>> {
    let value = keywords.get_item(row.keyword_name())?.filter(|value| !value.is_none());
    let Some(value) = value else { return Ok(None) };
    Ok(match row.value {
        Value::Flag => value.extract::<bool>()?.then(Vec::new),
        Value::Words(..) => Some(value.extract::<Vec<String>>()?),
        Value::Number(..) => Some(vec![value.extract::<u64>()?.to_string()]),
        _ => Some(vec![value.extract::<String>()?]),
    })
}

fn rule_of(ids: Option<PyRef<'_, PyDocIds>>) -> DocIdRule {
    ids.map(|ids| ids.rule.clone()).unwrap_or_default()
}

/// Runs that were read from Python objects, with their names, and the names of the columns to read.
struct Runs {
    sources: Vec<(Option<String>, PySource)>,
    columns: Option<laneval::ColumnNames>,
}

impl Runs {
    fn rows(&self) -> usize {
        self.sources.iter().fold(0, |rows, (_, source)| rows.saturating_add(source.len()))
    }

    /// Joins all runs to judgments, if the runs are all text or all in memory; `None` for a
    /// mixture.
    fn joined(&self, join: &Join, qrels: &laneval::Qrels) -> Result<Option<LabelMatrix>, Error> {
        let texts: Vec<RunInput> = self
            .sources
            .iter()
            .filter_map(|(name, source)| text(name.as_deref(), source))
            .collect();
        match texts.len() {
            0 => self.columns(join, qrels, &mut Vec::new()).map(Some),
            count if count == self.sources.len() => join.runs(qrels, texts).map(Some),
            _ => Ok(None),
        }
    }

    /// Joins all runs to judgments for one matrix or pool, as `what` says, or rejects a mixture of
    /// files and memory.
    fn joined_as(
        &self,
        join: &Join,
        qrels: &laneval::Qrels,
        what: &str,
    ) -> Result<LabelMatrix, Error> {
        self.joined(join, qrels)?.ok_or_else(|| {
            Error::Unanswerable(format!(
                "runs of one {what} are all files, or all in memory: read files into memory first"
            ))
        })
    }

    // Columns are lent to a function, so all of them are there at once only in calls within calls,
    // one for each run.

    /// Joins all runs, which are columns in memory, to judgments.
    fn columns(
        &self,
        join: &Join,
        qrels: &laneval::Qrels,
        before: &mut Vec<(&str, &[laneval::columns::RunColumns<'_>])>,
    ) -> Result<LabelMatrix, Error> {
        let Some((name, source)) = self.sources.get(before.len()) else {
            return join.columns(qrels, before);
        };
        let joined = source.with_records(|records| {
            let mut all = before.clone();
            all.push((name.as_deref().unwrap_or("run"), records));
            self.columns(join, qrels, &mut all)
        });
        joined.unwrap_or_else(|| unreachable!("it is no text"))
    }

    /// Joins and evaluates each run alone, and returns the scores of all runs.
    fn each(
        &self,
        join: &Join,
        qrels: &laneval::Qrels,
        evaluate: impl Fn(LabelMatrix) -> Result<Scores, Error>,
    ) -> Result<Scores, Error> {
        let mut all: Option<Scores> = None;
        for (name, source) in &self.sources {
            let matrix = match text(name.as_deref(), source) {
                Some(text) => join.runs(qrels, [text])?,
                None => source
                    .with_records(|records| {
                        join.columns(qrels, &[(name.as_deref().unwrap_or("run"), records)])
                    })
                    .unwrap_or_else(|| unreachable!("it is no text"))?,
            };
            let scores = evaluate(matrix)?;
            match &mut all {
                Some(all) => all.append(scores)?,
                None => all = Some(scores),
            }
        }
        all.ok_or_else(|| Error::Unanswerable("there are no runs".to_owned()))
    }
}

/// Returns a run that is text as an input with its name; `None` for a run in memory.
fn text(name: Option<&str>, source: &PySource) -> Option<RunInput> {
    match (source, name) {
        (PySource::Text(input), Some(name)) => Some(RunInput::named(name, input.clone())),
        (PySource::Text(input), None) => Some(RunInput::from(input.clone())),
        _ => None,
    }
}

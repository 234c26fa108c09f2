//! Measures and the options of their evaluation: the keywords of every `evaluate`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::sync::Arc;

use laneval::arrays::Rankings;
use laneval::identify::{Identify, ToldRow, joined_in_every_order};
use laneval::measure::{
    Defaults, JUDGES, JudgmentInput, Kind, Measure, Value, facets_needed, parse_list,
};
use laneval::pools::PoolOptions;
use laneval::text::{Recognised, RecognisedText};
use laneval::{
    Dialect, EngineChoice, Error, Evaluator, Join, JudgedBy, LabelMatrix, Notice, ReadAs, RunInput,
    Scores, Stat, TiedValue, Ties, Units, View, Watch,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::arrays;
use crate::columns::{NamedColumns, RowsRole};
use crate::errors::{exception, option, option_of};
use crate::identify::Identified;
use crate::matrix::Matrix;
use crate::pools::Pools;
use crate::qrels::{LITTLE, Qrels, dialect_of, noted, read_as, tables};
use crate::scores;
use crate::source::PySource;
use crate::stream::{Stream, StreamOf};
use crate::summary::Summary;
use crate::units::PyUnits;
use crate::work::{Workers, work};

/// Numbers, each a name and a text; the measure of values of queries; and these values, each a
/// query and a text.
type AskedNumbers = (Vec<(String, String)>, String, Vec<(String, String)>);

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
        options: Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = Keywords(options);
        let said = |error: Error| exception(py, error);
        let deepest = given
            .positive("depth")?
            .map(|depth| NonZeroU32::try_from(depth).unwrap_or(NonZeroU32::MAX));
        let threads = given.positive("threads")?;
        let (order, tied) = given.ties()?;
        let stats: Vec<String> = given.get("stats")?.unwrap_or_default();
        let stats = stats.iter().map(|stat| stat.parse().map_err(|error| option_of(py, error)));
        let judges: Option<String> = given.get("judges")?;
        let measures = judged(&measures, judges.as_deref()).map_err(said)?;
        let asked: Option<JudgedBy> = given.named("judgments_by")?;
        let judged_by = match asked.or(judges.map(|_| JudgedBy::Judge)) {
            None => facets_needed(&measures).map_err(said)?,
            by => by,
        };
        let dialect: Option<String> = given.get("dialect")?;
        let run_format: Option<String> = given.get("run_format")?;
        let adapter: Option<String> = given.get("adapter")?;
        // A user who names an adapter wants it to be used.
        let engine = if adapter.is_some() { EngineChoice::Gpu } else { EngineChoice::Auto };
        let join = Join {
            dialect: dialect.map_or(Ok(Dialect::default()), |name| dialect_of(py, &name))?,
            ties: order,
            score: given.named("score")?.unwrap_or_default(),
            depth: deepest,
            keep_ties: tied != TiedValue::Ranked || measures.iter().any(Measure::needs_ties),
            runs_as: read_as(py, run_format.as_deref())?,
            drop_identical_ids: given.get("drop_identical_ids")?.unwrap_or_default(),
            judged_by,
            tables: tables(),
            units: given.units("units")?,
            qrels_units: given.units("qrels_units")?,
            repeats: given.named("repeats")?,
            shared_judgments: given.get("per_query")?.unwrap_or_default(),
            rows: given
                .positive("rows")?
                .map(|rows| NonZeroU32::try_from(rows).unwrap_or(NonZeroU32::MAX)),
            ..Join::default()
        };
        let join =
            Join { runs_as: ReadAs { subset: given.get("subset")?, ..join.runs_as }, ..join };
        let judged_only = given.get("judged_only")?.unwrap_or_default();
        let evaluator = Evaluator::of(measures)
            .with_queries(given.named("queries")?.unwrap_or_default())
            .with_view(View { depth: deepest.map(NonZeroU32::get), judged_only })
            .with_known(given.named("known")?.unwrap_or_default())
            .with_tied(tied)
            .with_per_query(given.get("per_query")?.unwrap_or_default())
            .with_stats(stats.collect::<PyResult<Vec<Stat>>>()?)
            .with_engine(given.named("engine")?.unwrap_or(engine))
            .with_adapter(adapter);
        Ok(Settings { join, evaluator, threads, progress })
    }

    /// The canonical names of the measures.
    fn measures(&self) -> Vec<String> {
        self.evaluator.measures().iter().map(ToString::to_string).collect()
    }

    /// The facets by which judgments are read: those that were asked for, or that the measures
    /// need.
    fn judgments_by(&self) -> Option<String> {
        self.join.judged_by.map(|by| by.to_string())
    }

    /// The scores of some runs, each given as a name and a source.
    fn evaluate(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: Vec<(Option<String>, Bound<'_, PyAny>)>,
        columns: NamedColumns,
    ) -> PyResult<scores::Scores> {
        let columns = columns.of_units(&self.join.units);
        let judged = &qrels.qrels;
        let runs = self.runs(py, qrels, runs, &columns)?;
        let named = RowsRole::Run.names(py, &columns)?;
        let rows = runs.rows().saturating_add(qrels.rows);
        let told = TextsTold::of(qrels);
        let scores = self.work(py, rows, |join, evaluator| {
            let join = &told.join(with_columns(join, named));
            match runs.joined(join, judged)? {
                Some(matrix) => evaluator.evaluate(&matrix),
                None => runs.each(join, judged, |matrix| evaluator.evaluate(&matrix)),
            }
        })?;
        Ok(scores::Scores { scores, notes: told.notes() })
    }

    /// The matrix of some runs.
    fn build(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: Vec<(Option<String>, Bound<'_, PyAny>)>,
        columns: NamedColumns,
        keep_ties: bool,
    ) -> PyResult<Matrix> {
        let columns = columns.of_units(&self.join.units);
        let runs = self.runs(py, qrels, runs, &columns)?;
        let named = RowsRole::Run.names(py, &columns)?;
        let rows = runs.rows().saturating_add(qrels.rows);
        let told = TextsTold::of(qrels);
        let matrix = self.work(py, rows, |join, _| {
            let join = told.join(with_columns(join, named));
            let join =
                Join { keep_ties: keep_ties || join.keep_ties, shared_judgments: true, ..join };
            runs.joined(&join, &qrels.qrels)?.ok_or_else(|| {
                let message =
                    "runs of one matrix are all files, or all in memory: read files into memory \
                     first";
                Error::Unanswerable(message.to_owned())
            })
        })?;
        Ok(Matrix::told(matrix, told.notes()))
    }

    /// The pools of some runs down to a depth, and the scores of the runs.
    fn pools(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: Vec<(Option<String>, Bound<'_, PyAny>)>,
        columns: NamedColumns,
        depth: NonZeroU32,
        teams: Option<String>,
    ) -> PyResult<(Pools, scores::Scores)> {
        let columns = columns.of_units(&self.join.units);
        let runs = self.runs(py, qrels, runs, &columns)?;
        let named = RowsRole::Run.names(py, &columns)?;
        let rows = runs.rows().saturating_add(qrels.rows);
        let mut options = PoolOptions::default();
        (options.depth, options.teams) = (depth, teams);
        let told = TextsTold::of(qrels);
        let (pools, mut scores) = self.work(py, rows, |join, evaluator| {
            let numbered = qrels.qrels.numbered()?;
            let matrix = runs
                .joined(&told.join(with_columns(join, named)), &numbered)?
                .ok_or_else(|| {
                    let message =
                        "runs of one pool are all files, or all in memory: read files into memory \
                         first";
                    Error::Unanswerable(message.to_owned())
                })?;
            let scores = evaluator.evaluate(&matrix)?;
            Ok((laneval::pools::Pools::of(matrix, &evaluator, &options)?, scores))
        })?;
        // Numbered documents are those of one judge, of whom nobody has heard.
        scores.notices.retain(|notice| !matches!(notice, Notice::LargestOfGroups { .. }));
        Ok((Pools { pools }, scores::Scores { scores, notes: told.notes() }))
    }

    /// The definitions of what is `asked`: numbers, each a name and a text, and the values of
    /// queries under a measure. `shown` are the number of exact decimals and the number of classes
    /// to list.
    fn identify(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: Vec<(Option<String>, Bound<'_, PyAny>)>,
        columns: NamedColumns,
        asked: AskedNumbers,
        shown: (Option<u8>, usize),
    ) -> PyResult<Identified> {
        let ((numbers, measure, told), (digits, top)) = (asked, shown);
        let columns = columns.of_units(&self.join.units);
        let runs = self.runs(py, qrels, runs, &columns)?;
        let named = RowsRole::Run.names(py, &columns)?;
        let rows = runs.rows().saturating_add(qrels.rows);
        let found = self.work(py, rows, |join, _| {
            let message = "a run is a file, or in memory".to_owned();
            let matrices = joined_in_every_order(&with_columns(join, named), |join| {
                runs.joined(join, &qrels.qrels)?.ok_or_else(|| Error::Unanswerable(message.clone()))
            })?;
            let mut asked = Identify::of(&matrices)?.digits(digits).top(top);
            for (name, number) in &numbers {
                asked = asked.number(name, number)?;
            }
            if !told.is_empty() {
                let row = |(query, value)| ToldRow {
                    place: String::new(),
                    query: String::into_bytes(query),
                    value,
                };
                asked = asked.scores(&measure, told.into_iter().map(row))?;
            }
            asked.run()
        })?;
        Ok(Identified { found })
    }

    /// The matrix of rows that are a part of all rows, such as a partition. Any of the sources may
    /// be `None`.
    fn part(
        &self,
        py: Python<'_>,
        judged: Option<Bound<'_, PyAny>>,
        runs: Vec<(String, Option<Bound<'_, PyAny>>)>,
    ) -> PyResult<Matrix> {
        let judged = PySource::of_part(judged.as_ref(), "qrels", RowsRole::Qrels)?;
        let of = |(name, object): (String, Option<Bound<'_, PyAny>>)| {
            let source = PySource::of_part(object.as_ref(), &name, RowsRole::Run)?;
            Ok((Some(name), source))
        };
        let runs = Runs(runs.into_iter().map(of).collect::<PyResult<_>>()?);
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

    /// The scores of all runs of a matrix.
    fn matrix(&self, py: Python<'_>, matrix: &Matrix) -> PyResult<scores::Scores> {
        let matrix = &matrix.matrix;
        let scores = self.work(py, matrix.rows(), |_, evaluator| evaluator.evaluate(matrix))?;
        Ok(scores.into())
    }

    /// The summary of all runs of a matrix.
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
        columns: NamedColumns,
    ) -> PyResult<Stream> {
        let workers = Workers { threads: self.threads, ..Workers::default() };
        let settings = (self.join.clone(), self.evaluator.clone());
        let of = match (qrels, grouped) {
            (Some(qrels), true) => StreamOf::Run(qrels),
            (Some(qrels), false) => StreamOf::Rows(qrels),
            (None, _) => StreamOf::Labels(grades),
        };
        Stream::new(py, settings, workers, of, columns)
    }

    /// The scores of rankings in arrays.
    fn rankings(&self, py: Python<'_>, rankings: &arrays::Arrays) -> PyResult<scores::Scores> {
        let little = rankings.values();
        let scores = self.work(py, little, |_, evaluator| {
            rankings.with(|rankings: &Rankings<'_>| evaluator.rankings(rankings))
        })?;
        Ok(scores.into())
    }
}

/// What is told of the texts of runs while they are joined.
struct TextsTold {
    /// What was told of the judgments before.
    before: Vec<RecognisedText>,
    recognised: Arc<Recognised>,
}

impl TextsTold {
    fn of(qrels: &Qrels) -> Self {
        let (before, recognised) = (qrels.recognised.clone(), Arc::new(Recognised::default()));
        recognised.extend(before.iter().cloned());
        TextsTold { before, recognised }
    }

    fn join(&self, join: Join) -> Join {
        Join { recognised: Some(self.recognised.clone()), ..join }
    }

    /// What is probably wrong with the texts, and what was done with them, in words.
    fn notes(&self) -> Vec<String> {
        noted(self.recognised.all().into_iter().filter(|text| !self.before.contains(text)))
    }
}

impl Settings {
    /// Takes runs, and refuses what would be read of files where there is none.
    fn runs(
        &self,
        py: Python<'_>,
        qrels: &Qrels,
        runs: Vec<(Option<String>, Bound<'_, PyAny>)>,
        columns: &NamedColumns,
    ) -> PyResult<Runs> {
        let runs = Runs::of(runs, columns, (&self.join.units, qrels.qrels.judged_by()))?;
        let of_files = [
            ("run_format", self.join.runs_as.format.is_some()),
            ("subset", self.join.runs_as.subset.is_some()),
        ];
        let is_text =
            |(_, source): &(Option<String>, PySource)| matches!(source, PySource::Text(_));
        match of_files.into_iter().find(|(_, given)| *given) {
            Some((word, _)) if !runs.0.iter().any(is_text) => {
                Err(option(py, format!("{word} changes nothing for runs in memory: leave it out")))
            }
            _ => Ok(runs),
        }
    }

    /// Works on the number of threads that was asked for, and can be interrupted.
    pub fn work<T: Send>(
        &self,
        py: Python<'_>,
        rows: usize,
        task: impl FnOnce(&Join, Evaluator) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let watch = Arc::new(Watch::default());
        let workers = Workers {
            threads: self.threads,
            progress: self.progress.as_ref(),
            little: rows < LITTLE,
        };
        let evaluator = self.evaluator.clone().with_watch(Some(watch.clone()));
        let join = Join { watch: Some(watch.clone()), ..self.join.clone() };
        work(py, workers, &watch, || task(&join, evaluator))
    }
}

/// The measures of these names; those that take a grade for each document, and do not say how
/// several judges count, count them by `judges`.
fn judged(names: &[String], judges: Option<&str>) -> Result<Vec<Measure>, Error> {
    let lists = names.iter().map(|name| parse_list(name, Defaults::default()));
    let measures = lists.collect::<Result<Vec<_>, _>>()?.concat();
    let Some(judges) = judges else { return Ok(measures) };
    let Kind::Word(words) = JUDGES.kind else { return Ok(measures) };
    let Some(&word) = words.iter().find(|word| **word == judges && **word != JUDGES.default) else {
        let words: Vec<&str> =
            words.iter().copied().filter(|word| *word != JUDGES.default).collect();
        return Err(Error::Unanswerable(format!(
            "judges is `{judges}`: {} was expected",
            words.join(", ")
        )));
    };
    let over = |measure: Measure| match measure.input() {
        JudgmentInput::Grades => measure.with(JUDGES.name, Value::Word(word)),
        _ => Ok(measure),
    };
    measures.into_iter().map(over).collect()
}

/// The keywords of an evaluation. One that is `None` is not given.
struct Keywords<'py>(Bound<'py, PyDict>);

impl<'py> Keywords<'py> {
    /// Returns the value of a keyword, if it is given.
    fn get<T>(&self, word: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
    {
        let given = self.0.get_item(word)?.filter(|given| !given.is_none());
        let noted = |error: PyErr| {
            // As errors of arguments have it; without the note the error is the same.
            let _ = error
                .value(self.0.py())
                .call_method1("add_note", (format!("while processing '{word}'"),));
            error
        };
        given.map(|given| given.extract().map_err(noted)).transpose()
    }

    /// Returns the option of the library that a keyword names.
    fn named<T: FromStr<Err = Error>>(&self, word: &str) -> PyResult<Option<T>> {
        let name: Option<String> = self.get(word)?;
        name.map(|name| name.parse()).transpose().map_err(|error| option_of(self.0.py(), error))
    }

    /// Returns a whole number from 1.
    fn positive(&self, word: &str) -> PyResult<Option<NonZeroUsize>> {
        let Some(number) = self.get::<i64>(word)? else { return Ok(None) };
        let positive = usize::try_from(number).ok().and_then(NonZeroUsize::new);
        let wrong = || option(self.0.py(), format!("{word} is {number}: 1 or more was expected"));
        positive.map(Some).ok_or_else(wrong)
    }

    /// Returns the rule of units of a keyword.
    fn units(&self, word: &str) -> PyResult<Units> {
        let Some(given) = self.0.get_item(word)?.filter(|given| !given.is_none()) else {
            return Ok(Units::AsIs);
        };
        Ok(given.cast::<PyUnits>()?.get().units.clone())
    }

    /// Returns the order of equal scores, and the value over all orders if there is none.
    fn ties(&self) -> PyResult<(Ties, TiedValue)> {
        let Some(ties) = self.get::<String>("ties")? else { return Ok(Default::default()) };
        let tied =
            TiedValue::ALL.iter().find(|(name, of)| *name == ties && *of != TiedValue::Ranked);
        match tied {
            Some(&(_, tied)) => Ok((Ties::default(), tied)),
            None => {
                let order = ties.parse().map_err(|_| option(self.0.py(), no_ties(&ties)))?;
                Ok((order, TiedValue::Ranked))
            }
        }
    }
}

fn no_ties(text: &str) -> String {
    let orders = Ties::ALL.iter().map(|(name, _)| *name);
    let values =
        TiedValue::ALL.iter().filter(|(_, of)| *of != TiedValue::Ranked).map(|(name, _)| *name);
    let names: Vec<&str> = orders.chain(values).collect();
    format!("`{text}` is no order of equal scores: {} was expected", names.join(", "))
}

/// The join for runs whose columns have these names.
fn with_columns(join: &Join, columns: Option<laneval::ColumnNames>) -> Join {
    Join { runs_as: ReadAs { columns, ..join.runs_as.clone() }, ..join.clone() }
}

/// Runs with their names.
struct Runs(Vec<(Option<String>, PySource)>);

impl Runs {
    fn of(
        runs: Vec<(Option<String>, Bound<'_, PyAny>)>,
        columns: &NamedColumns,
        (units, by): (&Units, Option<JudgedBy>),
    ) -> PyResult<Self> {
        let of = |(name, object): (Option<String>, Bound<'_, PyAny>)| {
            if let Units::Column(column) = units
                && object.cast::<PyMapping>().is_ok()
            {
                let message = format!("units='column:{column}': a dict of queries has no columns");
                return Err(exception(object.py(), Error::Unanswerable(message)));
            }
            let source = PySource::of_run(&object, name.as_deref().unwrap_or("run"), by, columns)?;
            Ok((name, source))
        };
        runs.into_iter().map(of).collect::<PyResult<_>>().map(Runs)
    }

    fn rows(&self) -> usize {
        self.0.iter().fold(0, |rows, (_, source)| rows.saturating_add(source.len()))
    }

    /// Joins all runs, if they are all text or all columns.
    fn joined(&self, join: &Join, qrels: &laneval::Qrels) -> Result<Option<LabelMatrix>, Error> {
        let texts: Vec<RunInput> =
            self.0.iter().filter_map(|(name, source)| text(name.as_deref(), source)).collect();
        match texts.len() {
            0 => self.columns(join, qrels, &mut Vec::new()).map(Some),
            count if count == self.0.len() => join.runs(qrels, texts).map(Some),
            _ => Ok(None),
        }
    }

    /// Joins all runs, which are columns.
    fn columns(
        &self,
        join: &Join,
        qrels: &laneval::Qrels,
        before: &mut Vec<(&str, &[laneval::columns::Records<'_>])>,
    ) -> Result<LabelMatrix, Error> {
        let Some((name, source)) = self.0.get(before.len()) else {
            return join.columns(qrels, before);
        };
        let joined = source.with_records(|records| {
            let mut all = before.clone();
            all.push((name.as_deref().unwrap_or("run"), records));
            self.columns(join, qrels, &mut all)
        });
        joined.unwrap_or_else(|| unreachable!("it is no text"))
    }

    /// The scores of each run, one after the other.
    fn each(
        &self,
        join: &Join,
        qrels: &laneval::Qrels,
        evaluate: impl Fn(LabelMatrix) -> Result<Scores, Error>,
    ) -> Result<Scores, Error> {
        let mut all: Option<Scores> = None;
        for (name, source) in &self.0 {
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

/// A run that is text.
fn text(name: Option<&str>, source: &PySource) -> Option<RunInput> {
    match (source, name) {
        (PySource::Text(input), Some(name)) => Some(RunInput::named(name, input.clone())),
        (PySource::Text(input), None) => Some(RunInput::from(input.clone())),
        _ => None,
    }
}

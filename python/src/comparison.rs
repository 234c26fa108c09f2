//! Comparisons of runs, made of the values of queries that are kept in their scores.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::ArrowError;
use laneval::compare::{
    self, ChangeTold, ComparisonOptions, Difference, Gate, GateFacts, Interval, Judged, Pair,
    Permutations, judged_measure,
};
use laneval::labels::{Ids, SharedJudgments, Unmatched};
use laneval::measure::Measure;
use laneval::report::{self, Format, html};
use laneval::{Error, QuerySet, RunScores, Scores, StatName, View, Watch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::errors::exception;
use crate::scores::{PerQuery, ids_column};
use crate::text::with_keywords;
use crate::work::{Workers, work};
use crate::{ffi, rule, text};

/// The number of additions up to which a comparison does not wake other threads.
const LITTLE: f64 = 1e8;
/// Numbers of a difference that are counts.
const COUNTS: [&str; 4] = ["wins", "ties", "losses", "n80"];

/// A comparison of runs.
#[pyclass(frozen, module = "laneval._native")]
pub struct Comparison {
    comparison: Arc<compare::Comparison>,
}

/// A run to compare: its name, its properties, its averages, and the values of its queries.
type ComparedRun<'py> = (String, Bound<'py, PyDict>, HashMap<String, f64>, PyRef<'py, PerQuery>);

/// A pair under a measure: the names of the run, the baseline and the measure; its numbers; the
/// name of the better run, if one is better; whether they are equal within the margin.
type PairRow = (String, String, String, Vec<Option<f64>>, Option<String>, Option<bool>);

/// The origin of the numbers of a page: its title, the ranking rule, and further settings with
/// their names.
type PyOrigin = (String, String, Vec<(String, String)>);

/// The result of a gate for a run: its name, whether it failed, the value, the threshold, and p.
type PyVerdict = (String, bool, f64, f64, Option<f64>, String);

#[pymethods]
impl Comparison {
    /// Compares runs under some of their measures.
    #[staticmethod]
    #[pyo3(
        signature = (
            runs, measures, *, baseline, test, alternative, alpha, correction, family, ci,
            permutations, seed, margin, power, tie, zeros, wilcoxon, anova, threads
        )
    )]
    #[allow(clippy::too_many_arguments)] // keywords
    fn of(
        py: Python<'_>,
        runs: Vec<ComparedRun<'_>>,
        measures: Vec<String>,
        baseline: Option<String>,
        test: &str,
        alternative: &str,
        alpha: f64,
        correction: &str,
        family: &str,
        ci: &str,
        permutations: &str,
        seed: Option<u64>,
        margin: Option<f64>,
        power: Option<f64>,
        tie: Option<f64>,
        zeros: &str,
        wilcoxon: &str,
        anova: bool,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Self> {
        let said = |error: Error| exception(py, error);
        let mut options = ComparisonOptions::default();
        options.baseline = baseline;
        options.test = test.parse().map_err(said)?;
        options.alternative = alternative.parse().map_err(said)?;
        options.alpha = alpha;
        options.correction = correction.parse().map_err(said)?;
        options.family = family.parse().map_err(said)?;
        options.interval = ci.parse().map_err(said)?;
        options.permutations = drawn(permutations)?;
        options.seed = seed.unwrap_or(compare::SEED);
        options.margin = margin;
        options.power = power;
        options.tie = tie;
        options.zeros =
            if zeros == "pratt" { compare::Zeros::Pratt } else { compare::Zeros::Wilcox };
        options.wilcoxon =
            if wilcoxon == "normal" { compare::Method::Normal } else { compare::Method::Auto };
        options.anova = anova;
        let measures: Vec<Measure> =
            measures.iter().map(|name| name.parse().map_err(said)).collect::<PyResult<_>>()?;
        let asked = RunsToCompare::of(py, measures, runs)?;
        let workers = Workers { threads, progress: None, little: asked.cost(&options) < LITTLE };
        let watch = Arc::new(Watch::default());
        let comparison = work(py, workers, &watch, || asked.compare(&options, &watch))?;
        Ok(Comparison { comparison: Arc::new(comparison) })
    }

    /// The names of the numbers of each pair.
    fn stats(&self) -> Vec<&'static str> {
        let numbers =
            self.comparison.differences.first().map(|of| report::numbers(&self.comparison, of));
        numbers.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
    }

    /// The pairs: by measure, then by baseline and run.
    fn pairs(&self) -> Vec<PairRow> {
        let row = |of: &Difference| {
            let [run, baseline] = self.names(of.pair).map(str::to_owned);
            let numbers = report::numbers(&self.comparison, of).into_iter().map(|(_, value)| value);
            let better = self.better(of).map(str::to_owned);
            (run, baseline, self.measure(of), numbers.collect(), better, of.is_equivalent)
        };
        self.comparison.differences.iter().map(row).collect()
    }

    /// The verdict, a sentence each.
    fn verdict(&self) -> Vec<String> {
        self.comparison.verdict()
    }

    /// The comparison in words.
    fn sentences(&self) -> Vec<String> {
        self.comparison.sentences()
    }

    /// Notes about the data and the tests.
    fn notes(&self) -> Vec<String> {
        self.comparison.notes.clone()
    }

    /// The ids of the queries, in bytewise order.
    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.comparison.query_ids().map(|id| text::of_bytes(py, id)).collect()
    }

    /// The values of the queries of a pair, by its index: the run's, and the baseline's.
    fn values(&self, pair: usize) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let of = self.comparison.differences.get(pair);
        let of = of.ok_or_else(|| PyValueError::new_err("there is no such pair"))?;
        let values = |run| self.comparison.values(of.measure, run).to_vec();
        Ok((values(of.pair.run), values(of.pair.baseline)))
    }

    /// Judges a gate.
    fn gate(&self, py: Python<'_>, text: &str) -> PyResult<Vec<PyVerdict>> {
        let (gate, judged) = self.judged(text).map_err(|error| exception(py, error))?;
        let verdict = |of: Judged| {
            let name = self.comparison.runs[of.run].name.clone();
            let told = self.comparison.gate_sentence(&gate, &of).to_string();
            (name, of.verdict.failed, of.verdict.value, of.verdict.threshold, of.verdict.p, told)
        };
        Ok(judged.into_iter().map(verdict).collect())
    }

    /// Writes a report, as the command does, with the results of gates.
    fn report(
        &self,
        py: Python<'_>,
        format: &str,
        gates: Vec<String>,
        per_query: bool,
        origin: PyOrigin,
    ) -> PyResult<Vec<u8>> {
        let gates = gates.iter().map(|text| self.judged(text)).collect::<Result<Vec<_>, Error>>();
        let gates = gates.map_err(|error| exception(py, error))?;
        if format == "html" {
            return Ok(py.detach(|| self.page(&gates, &origin))?);
        }
        let format: Format = format.parse().map_err(|error| exception(py, error))?;
        let options = report::ReportOptions { per_query, ..report::ReportOptions::default() };
        let mut written = Vec::new();
        py.detach(|| format.write_comparison(&self.comparison, &gates, &options, &mut written))?;
        Ok(written)
    }

    /// The pairs as a stream of Arrow, one row each.
    fn arrow_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batch = self.table().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let schema = batch.schema();
        stream(
            py,
            FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))),
        )
    }

    /// The values of queries as a stream of Arrow, one batch for each pair.
    fn arrow_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = Batches::of(self.comparison.clone());
        let schema =
            batches.batch(0).map_err(|error| PyValueError::new_err(error.to_string()))?.schema();
        let all = (0..self.comparison.differences.len()).map(move |pair| batches.batch(pair));
        stream(py, FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(all, schema))))
    }
}

impl Comparison {
    /// The names of the run and the baseline.
    fn names(&self, pair: Pair) -> [&str; 2] {
        [pair.run, pair.baseline].map(|run| self.comparison.runs[run].name.as_str())
    }

    fn measure(&self, of: &Difference) -> String {
        self.comparison.measures[of.measure].to_string()
    }

    /// The name of the run that is significantly better.
    fn better(&self, of: &Difference) -> Option<&str> {
        let [run, baseline] = self.names(of.pair);
        let better = if of.gain() > 0.0 { run } else { baseline };
        self.comparison.is_shown(of).then_some(better)
    }

    fn judged(&self, gate: &str) -> Result<(Gate, Vec<Judged>), Error> {
        let gate = Gate::parse(gate)?;
        let judged = self.comparison.judge(&gate)?;
        Ok((gate, judged))
    }

    fn page(
        &self,
        gates: &[(Gate, Vec<Judged>)],
        (title, rule, settings): &PyOrigin,
    ) -> std::io::Result<Vec<u8>> {
        let mut context = html::Context::new(title);
        context.ranking_rule = Some(rule);
        context.settings = settings;
        context.gates = gates;
        let mut written = Vec::new();
        html::comparison(&self.comparison, &context, &mut written)?;
        Ok(written)
    }

    /// The pairs as columns.
    fn table(&self) -> Result<RecordBatch, ArrowError> {
        let differences = &self.comparison.differences;
        let texts = |of: &dyn Fn(&Difference) -> Option<String>| {
            let mut texts = StringBuilder::new();
            differences.iter().for_each(|at| texts.append_option(of(at)));
            Arc::new(texts.finish()) as ArrayRef
        };
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("run", texts(&|of| Some(self.names(of.pair)[0].to_owned())), false),
            ("baseline", texts(&|of| Some(self.names(of.pair)[1].to_owned())), false),
            ("measure", texts(&|of| Some(self.measure(of))), false),
        ];
        let numbers: Vec<_> =
            differences.iter().map(|of| report::numbers(&self.comparison, of)).collect();
        for (at, name) in self.stats().into_iter().enumerate() {
            let values = numbers.iter().map(|of| of[at].1);
            let column: ArrayRef = if COUNTS.contains(&name) {
                let mut counts = Int64Builder::new();
                values.for_each(|value| counts.append_option(value.map(|value| value as i64)));
                Arc::new(counts.finish())
            } else {
                let mut numbers = Float64Builder::new();
                values.for_each(|value| numbers.append_option(value));
                Arc::new(numbers.finish())
            };
            columns.push((name, column, true));
        }
        columns.push(("better", texts(&|of| self.better(of).map(str::to_owned)), true));
        let mut equal = BooleanBuilder::new();
        differences.iter().for_each(|of| equal.append_option(of.is_equivalent));
        columns.push(("equivalent", Arc::new(equal.finish()), true));
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

/// A source of batches of the values of queries.
struct Batches {
    comparison: Arc<compare::Comparison>,
    queries: ArrayRef,
    runs: ArrayRef,
    measures: ArrayRef,
}

impl Batches {
    fn of(comparison: Arc<compare::Comparison>) -> Self {
        let ids: Ids = comparison.query_ids().collect();
        let runs = comparison.runs.iter().map(|run| Some(run.name.as_str()));
        let measures = comparison.measures.iter().map(|measure| Some(measure.to_string()));
        Batches {
            queries: ids_column(&ids),
            runs: Arc::new(runs.collect::<StringArray>()),
            measures: Arc::new(measures.collect::<StringArray>()),
            comparison,
        }
    }

    /// The values of the queries of a pair.
    fn batch(&self, pair: usize) -> Result<RecordBatch, ArrowError> {
        let of = &self.comparison.differences[pair];
        let same = |at: usize, names: &ArrayRef| -> Result<ArrayRef, ArrowError> {
            let codes = Int32Array::from_value(at as i32, self.queries.len());
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(codes, names.clone())?))
        };
        let [value, baseline] =
            [of.pair.run, of.pair.baseline].map(|run| self.comparison.values(of.measure, run));
        let delta: Vec<f64> =
            value.iter().zip(baseline).map(|(value, baseline)| value - baseline).collect();
        let numbers = |of: Vec<f64>| Arc::new(Float64Array::from(of)) as ArrayRef;
        RecordBatch::try_from_iter([
            ("run", same(of.pair.run, &self.runs)?),
            ("baseline", same(of.pair.baseline, &self.runs)?),
            ("query_id", self.queries.clone()),
            ("measure", same(of.measure, &self.measures)?),
            ("value", numbers(value.to_vec())),
            ("baseline_value", numbers(baseline.to_vec())),
            ("delta", numbers(delta)),
        ])
    }
}

fn stream(py: Python<'_>, stream: FFI_ArrowArrayStream) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, ffi::STREAM)
}

/// Reads the number of draws of signs.
fn drawn(text: &str) -> PyResult<Permutations> {
    match text {
        "" => Ok(Permutations::Affordable),
        "auto" => Ok(Permutations::Auto),
        "exact" => Ok(Permutations::Exact),
        number => number.parse().map(Permutations::Fixed).map_err(|_| {
            PyValueError::new_err(format!("permutations is {number}: fewer were expected"))
        }),
    }
}

/// The runs to compare, and the shares of their documents that are judged.
struct RunsToCompare {
    /// The scores without the values of queries.
    scores: Scores,
    /// The values of each run.
    values: Vec<QueryValues>,
    judged: Option<Scores>,
}

/// The values of the queries of a run.
struct QueryValues {
    queries: Arc<Ids>,
    /// The values, `[measure][query]`.
    values: Arc<Vec<Vec<f64>>>,
    missing: Arc<Vec<usize>>,
    /// The indices of the measures that are compared.
    places: Vec<usize>,
}

impl RunsToCompare {
    fn of(py: Python<'_>, measures: Vec<Measure>, runs: Vec<ComparedRun<'_>>) -> PyResult<Self> {
        let mut scores = Scores::default();
        let mut values = Vec::new();
        let mut shares: Vec<HashMap<String, f64>> = Vec::new();
        for (name, known, averages, kept) in runs {
            scores.queries = parsed(py, &known, "query_set")?;
            if let Some((queries, groups)) =
                known.get_item("shared_judgments")?.and_then(|of| of.extract().ok())
            {
                scores.shared_judgments = Some(SharedJudgments { queries, groups });
            }
            scores.runs.push(known_run(py, name, &known)?);
            let place = |measure: &Measure| {
                let name = measure.to_string();
                let place = kept.measures.iter().position(|of| *of == name);
                place.ok_or_else(|| PyValueError::new_err(format!("there are no values of {name}")))
            };
            let places = measures.iter().map(place).collect::<PyResult<Vec<usize>>>()?;
            let (queries, of, missing) =
                (kept.queries.clone(), kept.values.clone(), kept.missing.clone());
            values.push(QueryValues { queries, values: of, missing, places });
            shares.push(averages);
        }
        let judged = judged_shares(&measures, &scores.runs, &shares);
        scores.measures = measures;
        Ok(RunsToCompare { scores, values, judged })
    }

    /// The number of additions in draws and resamples.
    fn cost(&self, options: &ComparisonOptions) -> f64 {
        let draws = match options.permutations {
            Permutations::Fixed(draws) => f64::from(draws),
            Permutations::Auto => 1e7,
            _ => f64::from(compare::DRAWS),
        };
        let resamples = if options.interval == Interval::T { 0.0 } else { 1e4 };
        let queries = self.values.iter().map(|of| of.queries.len()).max().unwrap_or(0);
        let series = self.scores.runs.len() * self.scores.measures.len();
        queries as f64 * series as f64 * (draws + resamples)
    }

    fn compare(
        mut self,
        options: &ComparisonOptions,
        watch: &Watch,
    ) -> Result<compare::Comparison, Error> {
        for (run, of) in self.scores.runs.iter_mut().zip(self.values) {
            let values = of.places.iter().map(|&place| of.values[place].clone()).collect();
            run.per_query = Some(laneval::scores::PerQuery {
                queries: (*of.queries).clone(),
                values,
                missing: (*of.missing).clone(),
            });
        }
        if self.scores.queries != QuerySet::Both {
            check_queries(&self.scores.runs)?;
        }
        let mut comparison = compare::Comparison::watched(&self.scores, options, Some(watch))?;
        if let Some(judged) = &self.judged {
            comparison.set_judged(judged);
        }
        for note in &mut comparison.notes {
            *note = with_keywords(note);
        }
        Ok(comparison)
    }
}

/// The scores of a run with the values of its queries, as `laneval eval --per-query -o FILE.json`
/// writes them. The statistics of each measure are names and numbers.
#[pyfunction]
pub fn scores_json(
    py: Python<'_>,
    known: &Bound<'_, PyDict>,
    measures: Vec<String>,
    stats: Vec<Vec<(String, f64)>>,
    values: PyRef<'_, PerQuery>,
) -> PyResult<Vec<u8>> {
    let said = |error: Error| exception(py, error);
    let name: String = item(known, "name")?.extract()?;
    let mut run = known_run(py, name, known)?;
    run.queries = item(known, "queries")?.extract()?;
    let skipped: HashMap<String, usize> = item(known, "skipped")?.extract()?;
    if !skipped.is_empty() {
        run.skipped = measures.iter().map(|name| skipped.get(name).copied().unwrap_or(0)).collect();
    }
    let named = |of: &(String, f64)| Ok((of.0.parse::<StatName>().map_err(said)?, of.1));
    run.stats =
        stats.iter().map(|of| of.iter().map(named).collect()).collect::<PyResult<Vec<Vec<_>>>>()?;
    run.per_query = Some(laneval::scores::PerQuery {
        queries: (*values.queries).clone(),
        values: (*values.values).clone(),
        missing: (*values.missing).clone(),
    });
    let mut scores = Scores::default();
    scores.measures =
        measures.iter().map(|name| name.parse()).collect::<Result<_, Error>>().map_err(said)?;
    scores.queries = parsed(py, known, "query_set")?;
    scores.known = parsed(py, known, "known")?;
    scores.tied = parsed(py, known, "tied")?;
    scores.view = View {
        depth: item(known, "view_depth")?.extract()?,
        judged_only: item(known, "judged_only")?.extract()?,
    };
    scores.runs.push(run);
    let options = report::ReportOptions { per_query: true, ..report::ReportOptions::default() };
    let mut written = Vec::new();
    Format::Json.write(&scores, &options, &mut written)?;
    Ok(written)
}

/// The result of a gate about a run alone: whether it failed, the average, the limit, and what is
/// said of it. The run has this average, of these numbers of queries without a value and in all.
#[pyfunction]
pub fn judge_alone(
    py: Python<'_>,
    text: &str,
    run: &str,
    average: f64,
    counts: (usize, usize),
) -> PyResult<(bool, f64, f64, String)> {
    let (skipped, queries) = counts;
    let said = |error: Error| exception(py, error);
    let gate = Gate::parse(text).map_err(said)?;
    if let Some(group) = gate.group() {
        let message =
            format!("the gate `{gate}` is about the group {group}, and all queries are evaluated");
        return Err(said(Error::Unanswerable(message)));
    }
    gate.check_skipped(skipped, queries).map_err(said)?;
    let facts = GateFacts { run: average, baseline: None, paired: None, worse: None, judged: None };
    let verdict = gate.verdict(facts).map_err(said)?;
    let told = gate.sentence(run, &verdict, ChangeTold::default()).to_string();
    Ok((verdict.failed, verdict.value, verdict.threshold, told))
}

/// Makes a run without its numbers, from its properties.
fn known_run(py: Python<'_>, name: String, known: &Bound<'_, PyDict>) -> PyResult<RunScores> {
    let fingerprint = |hex: &String| {
        u128::from_str_radix(hex, 16)
            .map_err(|_| PyValueError::new_err(format!("{hex} is no fingerprint")))
    };
    let fingerprints: Vec<String> = item(known, "fingerprints")?.extract()?;
    let (missing, ids): (u64, Vec<Bound<'_, PyAny>>) = item(known, "missing")?.extract()?;
    let id = |id: &Bound<'_, PyAny>| match id.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => id.extract().map(String::into_bytes),
    };
    let ids = ids.iter().map(id).collect::<PyResult<Vec<_>>>()?;
    let mut run = RunScores::default();
    run.name = name;
    run.rule = rule::of_dict(item(known, "rule")?.cast()?)?;
    run.ideal = parsed(py, known, "ideal")?;
    run.fingerprints = fingerprints.iter().map(fingerprint).collect::<PyResult<_>>()?;
    run.filled = item(known, "filled")?.extract()?;
    run.missing = Unmatched { count: missing, ids: ids.iter().map(Vec::as_slice).collect() };
    let (ignored, ids): (u64, Vec<Bound<'_, PyAny>>) = item(known, "ignored")?.extract()?;
    let ids = ids.iter().map(id).collect::<PyResult<Vec<_>>>()?;
    run.ignored = Unmatched { count: ignored, ids: ids.iter().map(Vec::as_slice).collect() };
    run.tag = id(&item(known, "tag")?)?;
    Ok(run)
}

fn item<'py>(known: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    known
        .get_item(key)?
        .ok_or_else(|| PyValueError::new_err(format!("it is not known what {key} is")))
}

/// Reads an option by its name.
fn parsed<T: std::str::FromStr<Err = Error>>(
    py: Python<'_>,
    known: &Bound<'_, PyDict>,
    key: &str,
) -> PyResult<T> {
    item(known, key)?.extract::<String>()?.parse().map_err(|error| exception(py, error))
}

/// The averages of `Judged` at the cutoffs of measures, for the runs that have them.
fn judged_shares(
    measures: &[Measure],
    runs: &[RunScores],
    averages: &[HashMap<String, f64>],
) -> Option<Scores> {
    let mut scores = Scores::default();
    for measure in measures.iter().map(judged_measure) {
        let name = measure.to_string();
        if averages.iter().all(|of| of.contains_key(&name)) && !scores.measures.contains(&measure) {
            scores.measures.push(measure);
        }
    }
    let names: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    for (run, averages) in runs.iter().zip(averages) {
        let mut of = RunScores::default();
        of.name = run.name.clone();
        of.stats = names.iter().map(|name| vec![(StatName::Mean, averages[name])]).collect();
        scores.runs.push(of);
    }
    (!names.is_empty()).then_some(scores)
}

/// Checks that all runs have values of the same queries.
fn check_queries(runs: &[RunScores]) -> Result<(), Error> {
    let Some((first, others)) = runs.split_first() else { return Ok(()) };
    for other in others {
        let (Some(one), Some(two)) = (&first.per_query, &other.per_query) else { continue };
        if one.queries != two.queries {
            return Err(Error::Unanswerable(format!(
                "{} and {} cannot be compared: they have values of different queries, {} and {} of \
                 them",
                first.name,
                other.name,
                one.queries.len(),
                two.queries.len()
            )));
        }
    }
    Ok(())
}

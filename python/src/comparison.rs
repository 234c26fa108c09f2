//! Comparisons of runs for Python, made of the values of queries that scores keep.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_schema::ArrowError;
use laneval::compare::{
    self, ComparisonOptions, Difference, Gate, GateChange, GateInputs, Interval, Pair,
    Permutations, RunGateVerdict, judged_measure,
};
use laneval::labels::{Ids, SharedJudgments, Unmatched};
use laneval::measure::Measure;
use laneval::report::{self, Format, html};
use laneval::{Error, ProgressHandle, QuerySet, RunScores, Scores, StatName, View};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::errors::{OrRaise, arrow_error, exception, value_error, with_keywords};
use crate::rule::{item, parsed};
use crate::scores::{PerQuery, ids_column};
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

/// A run to compare, from Python: its name, its properties, its averages, and the values of its
/// queries.
type ComparedRun<'py> = (String, Bound<'py, PyDict>, HashMap<String, f64>, PyRef<'py, PerQuery>);

/// The comparison of a run with a baseline under a measure, as a row for Python. The row has the
/// names of the run, the baseline and the measure; its numbers; the name of the better run, if one
/// is better; whether they are equal within the margin.
type PairRow = (String, String, String, Vec<Option<f64>>, Option<String>, Option<bool>);

/// The origin of the numbers on an HTML page: its title, the ranking rule, and further settings
/// with their names.
type PyOrigin = (String, String, Vec<(String, String)>);

/// The result of a gate (a rule that a run must pass) for a run, as a row for Python. The row has
/// the run's name, whether it failed, the value, the threshold, p, and a sentence.
type PyVerdict = (String, bool, f64, f64, Option<f64>, String);

#[pymethods]
impl Comparison {
    /// Compares runs under some of their measures.
    #[staticmethod]
    #[pyo3(
        signature = (
            runs, measures, *, baseline, test, alternative, alpha, correction, family, ci,
            permutations, seed, margin, power, tie_epsilon, wilcoxon_zeros, wilcoxon_method,
            anova, threads
        )
    )]
    #[allow(clippy::too_many_arguments)] // keywords
    fn new(
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
        tie_epsilon: Option<f64>,
        wilcoxon_zeros: &str,
        wilcoxon_method: &str,
        anova: bool,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Self> {
        let mut options = ComparisonOptions::default();
        options.baseline = baseline;
        options.test = test.parse().or_raise(py)?;
        options.alternative = alternative.parse().or_raise(py)?;
        options.alpha = alpha;
        options.correction = correction.parse().or_raise(py)?;
        options.family = family.parse().or_raise(py)?;
        options.interval = ci.parse().or_raise(py)?;
        options.permutations = drawn(permutations)?;
        options.seed = seed.unwrap_or(compare::SEED);
        options.margin = margin;
        options.power = power;
        options.tie = tie_epsilon;
        options.zeros =
            if wilcoxon_zeros == "pratt" { compare::Zeros::Pratt } else { compare::Zeros::Wilcox };
        options.wilcoxon = if wilcoxon_method == "normal" {
            compare::Method::Normal
        } else {
            compare::Method::Auto
        };
        options.anova = anova;
        let measures: Vec<Measure> =
            measures.iter().map(|name| name.parse().or_raise(py)).collect::<PyResult<_>>()?;
        let runs_to_compare = RunsToCompare::new(measures, runs)?;
        let workers =
            Workers { threads, progress: None, little: runs_to_compare.cost(&options) < LITTLE };
        let watch = Arc::<ProgressHandle>::default();
        let comparison = work(py, workers, &watch, || runs_to_compare.compare(&options, &watch))?;
        Ok(Self { comparison: Arc::new(comparison) })
    }

    /// Returns the names of the numbers of each pair.
    fn stats(&self) -> Vec<&'static str> {
        let numbers = self
            .comparison
            .differences
            .first()
            .map(|difference| report::numbers(&self.comparison, difference));
        numbers.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the pairs: by measure, then by baseline and run.
    fn pairs(&self) -> Vec<PairRow> {
        let rows = self.comparison.differences.iter().map(|difference| {
            let [run, baseline] = self.names(difference.pair).map(str::to_owned);
            let numbers = report::numbers(&self.comparison, difference).into_iter();
            let numbers = numbers.map(|(_, value)| value).collect();
            let better = self.better(difference).map(str::to_owned);
            (run, baseline, self.measure(difference), numbers, better, difference.is_equivalent)
        });
        rows.collect()
    }

    /// Returns the verdict in sentences, under the first measure: the better run, and by how much.
    fn verdict(&self) -> Vec<String> {
        self.comparison.verdict()
    }

    /// Returns the comparison in words.
    fn sentences(&self) -> Vec<String> {
        self.comparison.sentences()
    }

    /// Notes about the data and the tests.
    fn notes(&self) -> Vec<String> {
        self.comparison.notes.clone()
    }

    /// Returns the ids of the queries, in bytewise order.
    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.comparison.query_ids().map(|id| text::id_to_py(py, id)).collect()
    }

    /// Returns the values of the queries of a pair, by its index: the run's, and the baseline's.
    fn values(&self, pair: usize) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let difference = self.comparison.differences.get(pair);
        let difference = difference.ok_or_else(|| value_error("there is no such pair"))?;
        let [values, baseline] = [difference.pair.run, difference.pair.baseline]
            .map(|run| self.comparison.values(difference.measure, run).to_vec());
        Ok((values, baseline))
    }

    /// Judges a gate.
    fn gate(&self, py: Python<'_>, text: &str) -> PyResult<Vec<PyVerdict>> {
        let (gate, judged) = self.judged(text).or_raise(py)?;
        let verdicts = judged.into_iter().map(|run_verdict| {
            let name = self.comparison.runs[run_verdict.run].name.clone();
            let sentence = self.comparison.gate_sentence(&gate, &run_verdict).to_string();
            let verdict = run_verdict.verdict;
            (name, verdict.failed, verdict.value, verdict.threshold, verdict.p, sentence)
        });
        Ok(verdicts.collect())
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
        let gates = gates.or_raise(py)?;
        if format == "html" {
            return Ok(py.detach(|| self.page(&gates, &origin))?);
        }
        let format: Format = format.parse().or_raise(py)?;
        let options = report::ReportOptions { per_query, ..report::ReportOptions::default() };
        let mut written = Vec::new();
        py.detach(|| format.write_comparison(&self.comparison, &gates, &options, &mut written))?;
        Ok(written)
    }

    /// Returns the pairs as a stream of Arrow, one row each.
    fn arrow_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batch = self.table().map_err(arrow_error)?;
        let schema = batch.schema();
        stream(
            py,
            FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))),
        )
    }

    /// Returns the values of queries as a stream of Arrow, one batch for each pair.
    fn arrow_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = Batches::new(self.comparison.clone());
        let schema = batches.batch(0).map_err(arrow_error)?.schema();
        let all = (0..self.comparison.differences.len()).map(move |pair| batches.batch(pair));
        stream(py, FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(all, schema))))
    }
}

impl Comparison {
    /// Returns the names of the run and the baseline in a compared pair.
    fn names(&self, pair: Pair) -> [&str; 2] {
        [pair.run, pair.baseline].map(|run| self.comparison.runs[run].name.as_str())
    }

    fn measure(&self, difference: &Difference) -> String {
        self.comparison.measures[difference.measure].to_string()
    }

    /// Returns the name of the run of a compared pair that is significantly better, if one is.
    fn better(&self, difference: &Difference) -> Option<&str> {
        let [run, baseline] = self.names(difference.pair);
        let better = if difference.gain() > 0.0 { run } else { baseline };
        self.comparison.is_significant(difference).then_some(better)
    }

    fn judged(&self, gate: &str) -> Result<(Gate, Vec<RunGateVerdict>), Error> {
        let gate = Gate::parse(gate)?;
        let judged = self.comparison.gate_verdicts(&gate)?;
        Ok((gate, judged))
    }

    fn page(
        &self,
        gates: &[(Gate, Vec<RunGateVerdict>)],
        origin: &PyOrigin,
    ) -> std::io::Result<Vec<u8>> {
        let (title, rule, settings) = origin;
        let mut context = html::PageContext::new(title);
        context.ranking_rule = Some(rule);
        context.settings = settings;
        context.gates = gates;
        let mut written = Vec::new();
        html::comparison(&self.comparison, &context, &mut written)?;
        Ok(written)
    }

    /// Returns the compared pairs as an Arrow table, with a row for each pair and measure.
    fn table(&self) -> Result<RecordBatch, ArrowError> {
        let differences = &self.comparison.differences;
        let names = differences.iter().map(|difference| self.names(difference.pair));
        let measures = differences.iter().map(|difference| Some(self.measure(difference)));
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("run", texts(names.clone().map(|[run, _]| Some(run))), false),
            ("baseline", texts(names.map(|[_, baseline]| Some(baseline))), false),
            ("measure", texts(measures), false),
        ];
        let numbers: Vec<_> = differences
            .iter()
            .map(|difference| report::numbers(&self.comparison, difference))
            .collect();
        for (at, name) in self.stats().into_iter().enumerate() {
            let values = numbers.iter().map(|row| row[at].1);
            let column: ArrayRef = if COUNTS.contains(&name) {
                let counts = values.map(|value| value.map(|value| value as i64));
                Arc::new(counts.collect::<Int64Array>())
            } else {
                Arc::new(values.collect::<Float64Array>())
            };
            columns.push((name, column, true));
        }
        let better = differences.iter().map(|difference| self.better(difference));
        columns.push(("better", texts(better), true));
        let equal = differences.iter().map(|difference| difference.is_equivalent);
        columns.push(("equivalent", Arc::new(equal.collect::<BooleanArray>()), true));
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

/// Returns an Arrow column of texts.
fn texts(texts: impl Iterator<Item = Option<impl AsRef<str>>>) -> ArrayRef {
    Arc::new(texts.collect::<StringArray>())
}

/// A source of Arrow batches with the values of queries, one for each compared pair.
struct Batches {
    comparison: Arc<compare::Comparison>,
    queries: ArrayRef,
    runs: ArrayRef,
    measures: ArrayRef,
}

impl Batches {
    fn new(comparison: Arc<compare::Comparison>) -> Self {
        let ids: Ids = comparison.query_ids().collect();
        let runs = comparison.runs.iter().map(|run| Some(run.name.as_str()));
        let measures = comparison.measures.iter().map(|measure| Some(measure.to_string()));
        Self { queries: ids_column(&ids), runs: texts(runs), measures: texts(measures), comparison }
    }

    /// Returns an Arrow batch with each query's values for both runs of a compared pair, and their
    /// difference.
    fn batch(&self, pair: usize) -> Result<RecordBatch, ArrowError> {
        let difference = &self.comparison.differences[pair];
        let [value, baseline] = [difference.pair.run, difference.pair.baseline]
            .map(|run| self.comparison.values(difference.measure, run));
        let delta = value.iter().zip(baseline).map(|(value, baseline)| value - baseline).collect();
        let numbers = [value.to_vec(), baseline.to_vec(), delta];
        let [value, baseline, delta] =
            numbers.map(|numbers| Arc::new(Float64Array::from(numbers)) as ArrayRef);
        RecordBatch::try_from_iter([
            ("run", self.repeated(difference.pair.run, &self.runs)?),
            ("baseline", self.repeated(difference.pair.baseline, &self.runs)?),
            ("query_id", self.queries.clone()),
            ("measure", self.repeated(difference.measure, &self.measures)?),
            ("value", value),
            ("baseline_value", baseline),
            ("delta", delta),
        ])
    }

    /// Returns an Arrow column with one of some names, repeated for each query.
    fn repeated(&self, at: usize, names: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let codes = Int32Array::from_value(at as i32, self.queries.len());
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(codes, names.clone())?))
    }
}

fn stream(py: Python<'_>, stream: FFI_ArrowArrayStream) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, ffi::STREAM)
}

/// Parses the number of random draws of a randomisation test: `auto`, `exact` or a number.
fn drawn(text: &str) -> PyResult<Permutations> {
    match text {
        "" => Ok(Permutations::Default),
        "auto" => Ok(Permutations::Auto),
        "exact" => Ok(Permutations::Exact),
        number => number
            .parse()
            .map(Permutations::Fixed)
            .map_err(|_| value_error(format!("permutations is {number}: fewer were expected"))),
    }
}

/// The runs of a comparison: their scores, the values of their queries, and the shares of judged
/// documents.
struct RunsToCompare {
    /// The scores without the values of queries.
    scores: Scores,
    /// The values of each run.
    values: Vec<QueryValues>,
    judged: Option<Scores>,
}

/// The values of the queries of a run to compare, by measure.
struct QueryValues {
    queries: Arc<Ids>,
    /// The values, `[measure][query]`.
    values: Arc<Vec<Vec<f64>>>,
    missing: Arc<Vec<usize>>,
    /// The indices of the measures that are compared.
    places: Vec<usize>,
}

impl RunsToCompare {
    fn new(measures: Vec<Measure>, runs: Vec<ComparedRun<'_>>) -> PyResult<Self> {
        let mut scores = Scores::default();
        let mut values = Vec::new();
        let mut shares: Vec<HashMap<String, f64>> = Vec::new();
        for (name, known, averages, per_query) in runs {
            scores.settings.queries = parsed(&known, "query_set")?;
            if let Some((queries, groups)) =
                known.get_item("shared_judgments")?.and_then(|value| value.extract().ok())
            {
                scores.shared_judgments = Some(SharedJudgments { queries, groups });
            }
            scores.runs.push(known_run(name, &known)?);
            let places = measures.iter().map(|measure| {
                let name = measure.to_string();
                let place = per_query.measures.iter().position(|candidate| *candidate == name);
                place.ok_or_else(|| value_error(format!("there are no values of {name}")))
            });
            values.push(QueryValues {
                places: places.collect::<PyResult<_>>()?,
                queries: per_query.queries.clone(),
                values: per_query.values.clone(),
                missing: per_query.missing.clone(),
            });
            shares.push(averages);
        }
        let judged = judged_shares(&measures, &scores.runs, &shares);
        scores.measures = measures;
        Ok(Self { scores, values, judged })
    }

    /// Returns the number of additions that the comparison takes for random draws and resamples.
    fn cost(&self, options: &ComparisonOptions) -> f64 {
        let draws = match options.permutations {
            Permutations::Fixed(draws) => f64::from(draws),
            Permutations::Auto => 1e7,
            _ => f64::from(compare::DRAWS),
        };
        let resamples = if options.interval == Interval::T { 0.0 } else { 1e4 };
        let queries = self.values.iter().map(|values| values.queries.len()).max().unwrap_or(0);
        let series = self.scores.runs.len() * self.scores.measures.len();
        queries as f64 * series as f64 * (draws + resamples)
    }

    fn compare(
        mut self,
        options: &ComparisonOptions,
        watch: &ProgressHandle,
    ) -> Result<compare::Comparison, Error> {
        for (run, QueryValues { queries, values, missing, places }) in
            self.scores.runs.iter_mut().zip(self.values)
        {
            run.per_query = Some(laneval::scores::PerQuery {
                queries: (*queries).clone(),
                values: places.into_iter().map(|place| values[place].clone()).collect(),
                missing: (*missing).clone(),
            });
        }
        if self.scores.settings.queries != QuerySet::Common {
            check_queries(&self.scores.runs)?;
        }
        let mut comparison =
            compare::Comparison::new_with_progress(&self.scores, options, Some(watch))?;
        if let Some(judged) = &self.judged {
            comparison.set_judged_share(judged);
        }
        for note in &mut comparison.notes {
            *note = with_keywords(note);
        }
        Ok(comparison)
    }
}

/// Returns the scores of a run with the values of its queries, as
/// `laneval eval --per-query -o FILE.json` writes them. The statistics of each measure are names
/// and numbers.
#[pyfunction]
pub fn scores_json(
    py: Python<'_>,
    known: &Bound<'_, PyDict>,
    measures: Vec<String>,
    stats: Vec<Vec<(String, f64)>>,
    values: PyRef<'_, PerQuery>,
) -> PyResult<Vec<u8>> {
    let name: String = item(known, "name")?.extract()?;
    let mut run = known_run(name, known)?;
    run.queries = item(known, "queries")?.extract()?;
    let skipped: HashMap<String, usize> = item(known, "skipped")?.extract()?;
    if !skipped.is_empty() {
        run.skipped = measures.iter().map(|name| skipped.get(name).copied().unwrap_or(0)).collect();
    }
    for measure_stats in stats {
        let named = measure_stats
            .into_iter()
            .map(|(name, value)| Ok((name.parse::<StatName>().or_raise(py)?, value)));
        run.stats.push(named.collect::<PyResult<_>>()?);
    }
    run.per_query = Some(laneval::scores::PerQuery {
        queries: (*values.queries).clone(),
        values: (*values.values).clone(),
        missing: (*values.missing).clone(),
    });
    let mut scores = Scores::default();
    scores.measures =
        measures.iter().map(|name| name.parse()).collect::<Result<_, Error>>().or_raise(py)?;
    scores.settings.queries = parsed(known, "query_set")?;
    scores.settings.relevant_from = parsed(known, "relevant_from")?;
    scores.settings.tied = parsed(known, "tied")?;
    scores.settings.view = View {
        depth: item(known, "view_depth")?.extract()?,
        judged_only: item(known, "judged_only")?.extract()?,
    };
    scores.runs.push(run);
    let options = report::ReportOptions { per_query: true, ..report::ReportOptions::default() };
    let mut written = Vec::new();
    Format::Json.write(&scores, &options, &mut written)?;
    Ok(written)
}

/// Returns the result of a gate about a run alone: whether it failed, the average, the limit, and
/// what is said of it. The run has this average, of these numbers of queries without a value and in
/// all.
#[pyfunction]
pub fn judge_alone(
    py: Python<'_>,
    text: &str,
    run: &str,
    average: f64,
    counts: (usize, usize),
) -> PyResult<(bool, f64, f64, String)> {
    let (skipped, queries) = counts;
    let gate = Gate::parse(text).or_raise(py)?;
    if let Some(group) = gate.group() {
        let message =
            format!("the gate `{gate}` is about the group {group}, and all queries are evaluated");
        return Err(exception(py, Error::Unanswerable(message)));
    }
    gate.check_skipped(skipped, queries).or_raise(py)?;
    let facts =
        GateInputs { run: average, baseline: None, paired: None, worse: None, judged: None };
    let verdict = gate.verdict(facts).or_raise(py)?;
    let sentence = gate.sentence(run, &verdict, GateChange::default()).to_string();
    Ok((verdict.failed, verdict.value, verdict.threshold, sentence))
}

/// Makes a run's scores without numbers, from the properties that Python keeps of the run.
fn known_run(name: String, known: &Bound<'_, PyDict>) -> PyResult<RunScores> {
    let fingerprints: Vec<String> = item(known, "fingerprints")?.extract()?;
    let fingerprints = fingerprints.iter().map(|hex| {
        u128::from_str_radix(hex, 16).map_err(|_| value_error(format!("{hex} is no fingerprint")))
    });
    let mut run = RunScores::default();
    run.name = name;
    run.rule = rule::of_dict(item(known, "rule")?.cast()?)?;
    run.ideal = parsed(known, "ideal")?;
    run.fingerprints = fingerprints.collect::<PyResult<_>>()?;
    run.filled = item(known, "filled")?.extract()?;
    run.missing = unmatched(&item(known, "missing")?)?;
    run.ignored = unmatched(&item(known, "ignored")?)?;
    run.tag = id_bytes(&item(known, "tag")?)?;
    Ok(run)
}

/// Reads a number of unmatched queries, and the ids of some of them, from a Python pair.
fn unmatched(pair: &Bound<'_, PyAny>) -> PyResult<Unmatched> {
    let (count, ids): (u64, Vec<Bound<'_, PyAny>>) = pair.extract()?;
    let ids = ids.iter().map(id_bytes).collect::<PyResult<Vec<_>>>()?;
    Ok(Unmatched { count, ids: ids.iter().map(Vec::as_slice).collect() })
}

/// Returns the bytes of an id that is a Python `str` or `bytes`.
fn id_bytes(id: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match id.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => id.extract().map(String::into_bytes),
    }
}

/// Returns the runs' averages of `Judged` (the share of judged results) at the cutoffs of measures.
fn judged_shares(
    measures: &[Measure],
    runs: &[RunScores],
    averages: &[HashMap<String, f64>],
) -> Option<Scores> {
    let mut scores = Scores::default();
    for measure in measures.iter().map(judged_measure) {
        let name = measure.to_string();
        if averages.iter().all(|run_averages| run_averages.contains_key(&name))
            && !scores.measures.contains(&measure)
        {
            scores.measures.push(measure);
        }
    }
    let names: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    for (run, averages) in runs.iter().zip(averages) {
        let mut run_scores = RunScores::default();
        run_scores.name = run.name.clone();
        run_scores.stats =
            names.iter().map(|name| vec![(StatName::Mean, averages[name])]).collect();
        scores.runs.push(run_scores);
    }
    (!names.is_empty()).then_some(scores)
}

/// Rejects runs to compare that have values of different queries.
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

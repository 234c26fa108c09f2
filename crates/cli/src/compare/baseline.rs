//! The baseline of a comparison: a run of the command line, or the scores of queries that
//! `laneval eval --per-query` wrote earlier.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use laneval::error::printable;
use laneval::labels::{IdealOf, Ids, RankingRule, SettingDifference};
use laneval::measure::{Measure, OfNothing};
use laneval::report::{JsonText, Note};
use laneval::scores::{EvaluationSettings, PerQuery, UNDEFINED, is_undefined};
use laneval::{Known, QuerySet, RunScores, Scores, TiedValue, View};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::side_file;
use crate::stop::Stop;
use crate::style::shown;

/// Returns the name of the run that `text` stands for: its name, its path, or the name of its file.
/// If `text` is a file of scores, its run is put before the others. The first runs were read from
/// `paths`.
pub fn of(
    text: &str,
    paths: &[&Path],
    scores: &mut Scores,
) -> Result<(String, Option<Note>), Stop> {
    let names = || scores.runs.iter().map(|run| run.name.as_str());
    let stem = |name: &str| {
        PathBuf::from(name).file_name().map(|name| name.to_string_lossy().into_owned())
    };
    let at = paths.iter().position(|path| *path == Path::new(text));
    let by_path = at.and_then(|at| names().nth(at));
    let exact = names().find(|name| *name == text).or(by_path);
    let like: Vec<&str> =
        names().filter(|name| stem(name).is_some() && stem(name) == stem(text)).collect();
    match (exact, like.as_slice(), file(text)) {
        (Some(name), ..) | (None, &[name], None) => Ok((name.to_owned(), None)),
        (.., Some((name, path))) => add(name, &path, scores),
        _ => Err(Stop::new(format!(
            "--baseline {text}: no run and no file of scores has this name; the runs are {}",
            names().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Returns the file of `path` or `name=path`, with the name.
pub fn file(text: &str) -> Option<(Option<&str>, PathBuf)> {
    let is_file = |path: &str| Path::new(path).is_file();
    match text.split_once('=') {
        _ if is_file(text) => Some((None, text.into())),
        Some((name, path)) if !name.is_empty() && is_file(path) => Some((Some(name), path.into())),
        _ => None,
    }
}

/// Returns the measures of a file of scores, in their order; `None` if `text` is a run, or no file
/// of scores. What is wrong with the file is said when its run is read.
pub fn measures(text: &str, paths: &[&Path]) -> Option<Vec<String>> {
    let (_, path) = file(text).filter(|_| !paths.contains(&Path::new(text)))?;
    let stored = stored(&side_file::read(&path).ok()?).ok()?;
    Some(stored.measures)
}

/// Puts the run of a file of scores before the others.
fn add(
    name: Option<&str>,
    path: &Path,
    scores: &mut Scores,
) -> Result<(String, Option<Note>), Stop> {
    let failed = |message: String| Stop::new(format!("{}: {message}", shown(path)));
    let bytes =
        side_file::read(path).map_err(|what| Stop::new(format!("{}{what}", shown(path))))?;
    let stored = stored(&bytes).map_err(failed)?;
    let mut run = stored.run_scores(scores).map_err(failed)?;
    let taken = |name: &str| scores.runs.iter().any(|run| run.name == name);
    run.name = match name {
        Some(name) => name.to_owned(),
        None if taken(&stored.run) => format!("{} ({})", stored.run, shown(path)),
        None => stored.run.clone(),
    };
    let note = match &stored.settings {
        Some(settings) => settings.check(scores).map(|()| None).map_err(failed)?,
        None => Some(Note::Note(format!(
            "{}: the file does not record its judgments and rules: those of the other runs are \
             assumed",
            printable(run.name.as_bytes())
        ))),
    };
    let name = run.name.clone();
    scores.runs.insert(0, run);
    Ok((name, note))
}

/// The scores of one run in a file.
#[derive(Debug, Default)]
struct StoredScores {
    run: String,
    /// The names of measures, in the order in which they are met.
    measures: Vec<String>,
    /// The values by query, for each name of a measure.
    values: BTreeMap<String, BTreeMap<Vec<u8>, f64>>,
    /// The settings, if the file has them.
    settings: Option<BaselineSettings>,
}

/// The settings under which scores were made.
#[derive(Debug)]
struct BaselineSettings {
    of_evaluation: EvaluationSettings,
    qrels: Vec<String>,
    rule: RankingRule,
    ideal: IdealOf,
}

#[derive(Debug, Deserialize)]
struct BaselineDocument {
    query_set: QuerySet,
    depth: Option<u32>,
    judged_only: bool,
    #[serde(default)]
    known: Known,
    #[serde(default)]
    tied: TiedValue,
    #[serde(default)]
    runs: Vec<BaselineRun>,
}

#[derive(Debug, Deserialize)]
struct BaselineRun {
    run: String,
    group: Option<String>,
    qrels: Vec<String>,
    rule: RankingRule,
    #[serde(default)]
    ideal: IdealOf,
    per_query: Option<KeyValues<KeyValues<f64>>>,
}

/// A row of the long form.
#[derive(Deserialize)]
struct BaselineRow {
    run: String,
    #[serde(default)]
    group: Option<String>,
    query_id: String,
    measure: String,
    stat: String,
    value: f64,
}

/// The keys and values of an object; a key may be there twice.
#[derive(Debug)]
struct KeyValues<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for KeyValues<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyValueVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for KeyValueVisitor<T> {
            type Value = KeyValues<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeyValues<T>, A::Error> {
                // A map would keep the last of two equal keys; here each is seen, and a query that
                // is there twice is an error.
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(KeyValues(pairs))
            }
        }
        deserializer.deserialize_map(KeyValueVisitor(PhantomData))
    }
}

/// Reads the run of a file in any format of `laneval eval`, which is recognised by its content.
fn stored(bytes: &[u8]) -> Result<StoredScores, String> {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let stored = if bytes.trim_ascii_start().starts_with(b"{") {
        match serde_json::from_slice::<BaselineRow>(first) {
            Ok(_) => lines(bytes)?,
            Err(_) => document(bytes)?,
        }
    } else {
        table(if first.contains(&b'\t') { b'\t' } else { b',' }, bytes)?
    };
    if stored.values.is_empty() {
        Err("it has no values of queries: write it with `laneval eval --per-query`".to_owned())
    } else {
        Ok(stored)
    }
}

/// A row of a file of scores: a value with its run, group, query, measure and statistic.
struct StoredValue<'a> {
    run: &'a str,
    /// The group of queries; empty of all queries.
    group: &'a str,
    query: Vec<u8>,
    measure: String,
    stat: &'a str,
    value: f64,
}

/// Reads JSON lines.
fn lines(bytes: &[u8]) -> Result<StoredScores, String> {
    let mut stored = StoredScores::default();
    for (number, line) in
        bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty())
    {
        let at = |message: String| format!("line {}: {message}", number + 1);
        let row: BaselineRow =
            serde_json::from_slice(line).map_err(|error| at(error.to_string()))?;
        let query =
            JsonText::bytes(&row.query_id).ok_or_else(|| at("an id was expected".to_owned()))?;
        let group = row.group.unwrap_or_default();
        let value = StoredValue {
            run: &row.run,
            group: &group,
            query,
            measure: row.measure,
            stat: &row.stat,
            value: row.value,
        };
        stored.add(value).map_err(at)?;
    }
    Ok(stored)
}

/// Reads rows with a delimiter.
fn table(delimiter: u8, bytes: &[u8]) -> Result<StoredScores, String> {
    let mut rows = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes);
    let columns = rows.byte_headers().map_err(|error| error.to_string())?.clone();
    let known: [&[&[u8]]; 2] = [
        &[b"run", b"query_id", b"measure", b"stat", b"value"],
        &[b"run", b"group", b"query_id", b"measure", b"stat", b"value"],
    ];
    let Some(known) = known.into_iter().find(|known| columns.iter().eq(known.iter().copied()))
    else {
        return Err("it is not a file of scores: the columns run, query_id, measure, stat, value \
                    were expected, as `laneval eval --per-query` writes them"
            .to_owned());
    };
    let group = known.len() - 5;
    let mut stored = StoredScores::default();
    for row in rows.byte_records() {
        let row = row.map_err(|error| error.to_string())?;
        let at = |message: String| {
            format!("line {}: {message}", row.position().map_or(0, |at| at.line()))
        };
        let text = |place: usize| {
            str::from_utf8(&row[place]).map_err(|_| at("text was expected".to_owned()))
        };
        let value = text(group + 4)?;
        let value = value.parse().map_err(|_| at(format!("`{value}` is not a number")))?;
        let value = StoredValue {
            group: if group == 1 { text(1)? } else { "" },
            run: text(0)?,
            query: row[group + 1].to_vec(),
            measure: text(group + 2)?.to_owned(),
            stat: text(group + 3)?,
            value,
        };
        stored.add(value).map_err(at)?;
    }
    Ok(stored)
}

/// Reads one JSON document.
fn document(bytes: &[u8]) -> Result<StoredScores, String> {
    let BaselineDocument { query_set, depth, judged_only, known, tied, runs } =
        serde_json::from_slice(bytes)
            .map_err(|error| format!("it is not a file of scores: {error}"))?;
    let view = View { depth, judged_only };
    let of_evaluation = EvaluationSettings { queries: query_set, view, known, tied };
    let mut stored = StoredScores::default();
    for run in runs {
        stored.is_of(&run.run)?;
        if run.group.is_some() {
            continue;
        }
        for (query, values) in run.per_query.into_iter().flat_map(|KeyValues(queries)| queries) {
            let id = JsonText::bytes(&query)
                .ok_or_else(|| format!("`{query}` is not the text of an id"))?;
            for (measure, value) in values.0 {
                let (run, query) = (run.run.as_str(), id.clone());
                stored.add(StoredValue { run, group: "", query, measure, stat: "value", value })?;
            }
        }
        stored.settings = Some(BaselineSettings {
            of_evaluation,
            qrels: run.qrels,
            rule: run.rule,
            ideal: run.ideal,
        });
    }
    Ok(stored)
}

impl StoredScores {
    /// Refuses a second run.
    fn is_of(&mut self, run: &str) -> Result<(), String> {
        if self.run.is_empty() {
            run.clone_into(&mut self.run);
        }
        if self.run == run {
            Ok(())
        } else {
            Err(format!(
                "it has several runs ({}, {}, …): write the scores of one alone",
                printable(self.run.as_bytes()),
                printable(run.as_bytes())
            ))
        }
    }

    /// Adds a row. Rows of groups and of all queries are skipped: they follow from the others.
    fn add(&mut self, row: StoredValue<'_>) -> Result<(), String> {
        let StoredValue { run, group, query, measure, stat, value } = row;
        self.is_of(run)?;
        if stat != "value" || !group.is_empty() {
            return Ok(());
        }
        if !value.is_finite() {
            return Err(format!("{value} is not a finite number"));
        }
        let name = printable(&query);
        if !self.values.contains_key(&measure) {
            self.measures.push(measure.clone());
        }
        match self.values.entry(measure).or_default().insert(query, value) {
            None => Ok(()),
            Some(_) => Err(format!("query {name} has two values under one measure")),
        }
    }

    /// Returns the values as scores beside those of other runs: of the same measures, and of the
    /// same queries unless the queries of both count.
    fn run_scores(&self, beside: &Scores) -> Result<RunScores, String> {
        let known: HashMap<Measure, &BTreeMap<Vec<u8>, f64>> = self
            .values
            .iter()
            .filter_map(|(name, values)| Some((name.parse::<Measure>().ok()?, values)))
            .collect();
        let mut values = Vec::new();
        for measure in &beside.measures {
            values.push(*known.get(measure).ok_or_else(|| {
                let has: Vec<&str> = self.values.keys().map(String::as_str).collect();
                format!(
                    "it has no {measure}, but {}: evaluate the baseline with {measure}, or leave \
                     it out",
                    has.join(", ")
                )
            })?);
        }
        let first = beside.runs.iter().find_map(|run| run.per_query.as_ref());
        let mut queries: BTreeSet<&[u8]> =
            self.values.values().flat_map(|of| of.keys().map(Vec::as_slice)).collect();
        // A query without any value has no row in the file. The judgments decide which queries have
        // no value, and the runs here have the judgments of the file.
        if let Some(first) = first {
            let none = |at: &usize| first.values.iter().all(|of| is_undefined(of[*at]));
            queries.extend((0..first.queries.len()).filter(none).map(|at| first.queries.get(at)));
        }
        let always = |(measure, _): &(&Measure, _)| measure.of_nothing() != OfNothing::Skip;
        for (measure, values) in beside.measures.iter().zip(&values).filter(always) {
            if let Some(query) = queries.iter().find(|query| !values.contains_key(**query)) {
                return Err(format!("query {} has no {measure}", printable(query)));
            }
        }
        if let Some(first) = first.filter(|_| beside.queries != QuerySet::Both) {
            same_queries(&queries, &first.queries)?;
        }
        let mut run = RunScores::default();
        if let Some(first) = beside.runs.first() {
            (run.rule, run.ideal) = (first.rule.clone(), first.ideal);
            run.fingerprints.clone_from(&first.fingerprints);
        }
        run.filled = beside.queries != QuerySet::Both;
        run.queries = queries.len();
        run.per_query = Some(PerQuery {
            values: values
                .into_iter()
                .map(|of| {
                    queries
                        .iter()
                        .map(|&query| of.get(query).copied().unwrap_or(UNDEFINED))
                        .collect()
                })
                .collect(),
            queries: queries.into_iter().collect(),
            missing: Vec::new(),
        });
        Ok(run)
    }
}

/// Rejects a baseline whose queries differ from the queries that count here.
fn same_queries(stored: &BTreeSet<&[u8]>, here: &Ids) -> Result<(), String> {
    let mend = "evaluate the baseline again, or compare the queries of both by --queries both";
    let here: BTreeSet<&[u8]> = here.iter().collect();
    if let Some(query) = here.difference(stored).next() {
        return Err(format!("it lacks query {}, which counts here: {mend}", printable(query)));
    }
    match stored.difference(&here).next() {
        Some(query) => {
            Err(format!("it has query {}, which does not count here: {mend}", printable(query)))
        }
        None => Ok(()),
    }
}

impl BaselineSettings {
    /// Rejects a baseline with other judgments or settings than the first run of `beside`.
    fn check(&self, beside: &Scores) -> Result<(), String> {
        let Some(run) = beside.runs.first() else { return Ok(()) };
        let prints: Vec<String> =
            run.fingerprints.iter().map(|print| format!("{print:032x}")).collect();
        let again = "evaluate the baseline again";
        if self.qrels != prints {
            return Err(format!("its scores have other judgments than the runs here: {again}"));
        }
        let of_evaluation = self.of_evaluation.differences(&beside.settings());
        let of_rankings = self.rule.differences(&run.rule);
        if let Some(setting) = of_evaluation.into_iter().chain(of_rankings).next() {
            let SettingDifference { what, option, values: [there, here] } = setting;
            return Err(format!(
                "its scores have other {what} than the runs here ({option}: {there}, not {here}): \
                 {again}"
            ));
        }
        if self.ideal == run.ideal {
            Ok(())
        } else {
            Err(format!(
                "its ideal rankings are made of the {}, not of the {}: {again}",
                self.ideal, run.ideal
            ))
        }
    }
}

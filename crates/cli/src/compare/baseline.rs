//! The baseline of a comparison: a run of the command line, or the scores of queries that
//! `laneval eval --per-query` wrote earlier.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use laneval::error::printable;
use laneval::labels::{IdealSource, Ids, RankingRule, SettingDifference};
use laneval::measure::{Measure, NoRelevant};
use laneval::report::{JsonText, Note};
use laneval::scores::{EvaluationSettings, PerQuery, UNDEFINED, is_undefined};
use laneval::{QuerySet, RunScores, Scores, TiedValue, View};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::{
    cli_error::{CliError, CliResult, fail},
    side_file,
    style::{comma_list, shown},
};

/// Returns the name of the baseline run that `text` names: by its name, its path, or the name of
/// its file. If `text` is a file of scores, its run is put before the others. The first runs were
/// read from `paths`.
pub fn resolve_run_name(
    text: &str,
    paths: &[&Path],
    scores: &mut Scores,
) -> CliResult<(String, Option<Note>)> {
    let names: Vec<&str> = scores.runs.iter().map(|run| run.name.as_str()).collect();
    let at = paths.iter().position(|path| *path == Path::new(text));
    let by_path = at.and_then(|at| names.get(at).copied());
    let exact = names.iter().copied().find(|name| *name == text).or(by_path);
    let mut like = names.clone();
    like.retain(|name| {
        let file = Path::new(name).file_name();
        file.is_some() && file == Path::new(text).file_name()
    });
    // A name or path that is exactly that of a run wins over a file of scores, and the file over
    // a run whose file has only the same name in another folder.
    match (exact, like.as_slice(), stored_scores_path(text)) {
        (Some(name), ..) | (None, &[name], None) => Ok((name.to_owned(), None)),
        (.., Some((name, path))) => add(name, &path, scores),
        _ => fail(format!(
            "--baseline {text}: no run and no file of scores has this name; the runs are {}",
            names.join(", ")
        )),
    }
}

/// Splits the argument of `--baseline`, `path` or `name=path`, if it names a file of scores.
pub fn stored_scores_path(text: &str) -> Option<(Option<&str>, PathBuf)> {
    match text.split_once('=') {
        // A file may have `=` in its own name.
        _ if Path::new(text).is_file() => Some((None, text.into())),
        Some((name, path)) if !name.is_empty() && Path::new(path).is_file() => {
            Some((Some(name), path.into()))
        }
        _ => None,
    }
}

/// Returns the measures of a baseline that is a file of scores, in their order; `None` for a run or
/// another file. What is wrong with the file is said when its run is read.
pub fn measures(text: &str, paths: &[&Path]) -> Option<Vec<String>> {
    let (_, path) = stored_scores_path(text).filter(|_| !paths.contains(&Path::new(text)))?;
    let stored = stored(&side_file::read(&path).ok()?).ok()?;
    Some(stored.measures)
}

/// Reads the baseline run of a file of scores, and puts it before the other runs.
fn add(name: Option<&str>, path: &Path, scores: &mut Scores) -> CliResult<(String, Option<Note>)> {
    let bytes = side_file::read(path)?;
    insert(name, path, &bytes, scores).map_err(|message| CliError::for_path(path, message))
}

/// Puts the baseline run in these bytes of a file of scores before the other runs.
fn insert(
    name: Option<&str>,
    path: &Path,
    bytes: &[u8],
    scores: &mut Scores,
) -> Result<(String, Option<Note>), String> {
    let stored = stored(bytes)?;
    let mut run = stored.run_scores(scores)?;
    run.name = match name {
        Some(name) => name.to_owned(),
        None if scores.runs.iter().any(|run| run.name == stored.run) => {
            format!("{} ({})", stored.run, shown(path))
        }
        None => stored.run.clone(),
    };
    let note = match &stored.settings {
        Some(settings) => settings.check(scores).map(|()| None)?,
        // Only the JSON document has settings; rows of tables have no place for them.
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

/// The scores of the one run in a file of `laneval eval --per-query`, by measure and query.
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

/// The settings under which a baseline's file of scores was made, such as judgments and ranking
/// rule.
#[derive(Debug)]
struct BaselineSettings {
    of_evaluation: EvaluationSettings,
    qrels: Vec<String>,
    rule: RankingRule,
    ideal: IdealSource,
}

#[derive(Debug, Deserialize)]
struct BaselineDocument {
    query_set: QuerySet,
    depth: Option<u32>,
    judged_only: bool,
    /// The relevant documents known to measures; left out for all that were judged.
    relevant_from: Option<String>,
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
    ideal: IdealSource,
    per_query: Option<KeyValues<KeyValues<f64>>>,
}

/// A line of a baseline's file of scores in JSON lines: a value with its run, query and measure.
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

/// The keys and values of a JSON object in their order; a key may occur twice.
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

/// Parses a baseline's file of scores in any format of `laneval eval --per-query`, recognised by
/// its content.
fn stored(bytes: &[u8]) -> Result<StoredScores, String> {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    // The first line alone is a row only in JSON lines: a document is longer, or has other keys.
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

/// A row of a baseline's file of scores: a value with its run, group, query, measure and statistic.
struct StoredValue<'a> {
    run: &'a str,
    /// The group of queries; empty of all queries.
    group: &'a str,
    query: Vec<u8>,
    measure: String,
    stat: &'a str,
    value: f64,
}

/// Parses a baseline's file of scores in JSON lines.
fn lines(bytes: &[u8]) -> Result<StoredScores, String> {
    let mut stored = StoredScores::default();
    for (number, line) in
        bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty())
    {
        stored.add_line(line).map_err(|message| format!("line {}: {message}", number + 1))?;
    }
    Ok(stored)
}

/// Parses a baseline's file of scores in TSV or CSV.
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
        stored.add_record(&row, group).map_err(|message| {
            format!("line {}: {message}", row.position().map_or(0, |at| at.line()))
        })?;
    }
    Ok(stored)
}

/// Returns the text of a column in a row of TSV or CSV; rejects bytes that are not UTF-8.
fn column_text(row: &csv::ByteRecord, at: usize) -> Result<&str, String> {
    str::from_utf8(&row[at]).map_err(|_| "text was expected".to_owned())
}

/// Parses a baseline's file of scores that is one JSON document.
fn document(bytes: &[u8]) -> Result<StoredScores, String> {
    let BaselineDocument { query_set, depth, judged_only, relevant_from, tied, runs } =
        serde_json::from_slice(bytes)
            .map_err(|error| format!("it is not a file of scores: {error}"))?;
    let relevant_from = relevant_from.as_deref().map_or(Ok(Default::default()), str::parse);
    let relevant_from =
        relevant_from.map_err(|error| format!("it is not a file of scores: {error}"))?;
    let view = View { depth, judged_only };
    let of_evaluation = EvaluationSettings { queries: query_set, view, relevant_from, tied };
    let mut stored = StoredScores::default();
    for run in runs {
        stored.check_run(&run.run)?;
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
    /// Rejects a second run in a baseline's file of scores, which has to be of one run.
    fn check_run(&mut self, run: &str) -> Result<(), String> {
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

    /// Adds the value in a JSON line to the scores of a baseline.
    fn add_line(&mut self, line: &[u8]) -> Result<(), String> {
        let row: BaselineRow = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        self.add(StoredValue {
            run: &row.run,
            group: row.group.as_deref().unwrap_or_default(),
            query: JsonText::bytes(&row.query_id).ok_or("an id was expected")?,
            measure: row.measure,
            stat: &row.stat,
            value: row.value,
        })
    }

    /// Adds the value in a row of TSV or CSV to a baseline's scores; `group` is 1 if a column names
    /// query groups, else 0.
    fn add_record(&mut self, row: &csv::ByteRecord, group: usize) -> Result<(), String> {
        let value = column_text(row, group + 4)?;
        let value = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
        self.add(StoredValue {
            group: if group == 1 { column_text(row, 1)? } else { "" },
            run: column_text(row, 0)?,
            query: row[group + 1].to_vec(),
            measure: column_text(row, group + 2)?.to_owned(),
            stat: column_text(row, group + 3)?,
            value,
        })
    }

    /// Adds the value of a query under a measure to the scores of a baseline. Rows of groups and of
    /// all queries are skipped: they follow from the others.
    fn add(&mut self, row: StoredValue<'_>) -> Result<(), String> {
        let StoredValue { run, group, query, measure, stat, value } = row;
        self.check_run(run)?;
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

    /// Returns a baseline's stored values as the scores of a run, under the measures of the runs
    /// `beside`. The queries must be those of the runs `beside`, unless only the queries of both
    /// count.
    fn run_scores(&self, beside: &Scores) -> Result<RunScores, String> {
        let known: HashMap<Measure, &BTreeMap<Vec<u8>, f64>> = self
            .values
            .iter()
            .filter_map(|(name, values)| Some((name.parse::<Measure>().ok()?, values)))
            .collect();
        let mut values = Vec::new();
        for measure in &beside.measures {
            values.push(*known.get(measure).ok_or_else(|| {
                let has = comma_list(self.values.keys());
                format!(
                    "it has no {measure}, but {has}: evaluate the baseline with {measure}, or \
                     leave it out"
                )
            })?);
        }
        let first = beside.runs.iter().find_map(|run| run.per_query.as_ref());
        let rows = self.values.values();
        let mut queries: BTreeSet<&[u8]> =
            rows.flat_map(|query_values| query_values.keys().map(Vec::as_slice)).collect();
        // A query without any value has no row in the file. The judgments decide which queries have
        // no value, and the runs here have the judgments of the file.
        if let Some(first) = first {
            let none = (0..first.queries.len())
                .filter(|&at| first.values.iter().all(|column| is_undefined(column[at])));
            queries.extend(none.map(|at| first.queries.get(at)));
        }
        // A measure that skips queries without relevant documents has no rows of them.
        let measures = beside.measures.iter().zip(&values);
        for (measure, values) in measures.filter(|(one, _)| one.no_relevant() != NoRelevant::Skip) {
            if let Some(query) = queries.iter().find(|query| !values.contains_key(**query)) {
                return Err(format!("query {} has no {measure}", printable(query)));
            }
        }
        if let Some(first) = first.filter(|_| beside.settings.queries != QuerySet::Common) {
            same_queries(&queries, &first.queries)?;
        }
        let mut run = RunScores::default();
        if let Some(first) = beside.runs.first() {
            (run.rule, run.ideal) = (first.rule.clone(), first.ideal);
            run.fingerprints.clone_from(&first.fingerprints);
        }
        run.filled = beside.settings.queries != QuerySet::Common;
        run.queries = queries.len();
        run.per_query = Some(PerQuery {
            values: values
                .into_iter()
                .map(|query_values| {
                    queries
                        .iter()
                        .map(|&query| query_values.get(query).copied().unwrap_or(UNDEFINED))
                        .collect()
                })
                .collect(),
            queries: queries.into_iter().collect(),
            missing: Vec::new(),
        });
        Ok(run)
    }
}

/// Rejects a baseline's file of scores whose queries differ from those that count in this
/// comparison.
fn same_queries(stored: &BTreeSet<&[u8]>, here: &Ids) -> Result<(), String> {
    let mend = "evaluate the baseline again, or compare the queries of both by --queries common";
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
    /// Rejects a baseline's file of scores with other judgments or settings than the first run of
    /// `beside`.
    fn check(&self, beside: &Scores) -> Result<(), String> {
        let Some(run) = beside.runs.first() else { return Ok(()) };
        let prints: Vec<String> =
            run.fingerprints.iter().map(|print| format!("{print:032x}")).collect();
        let again = "evaluate the baseline again";
        if self.qrels != prints {
            return Err(format!("its scores have other judgments than the runs here: {again}"));
        }
        let of_evaluation = self.of_evaluation.differences(&beside.settings);
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

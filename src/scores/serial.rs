//! Serialization of scores: one document by run and measure, with the settings and the missing or
//! ignored queries; and rows.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{
    EvaluationSettings, JsonText, PerQuery, QuerySet, RelevantFrom, RunScores, ScoreRow, Scores,
    TiedValue,
};
use crate::ids::Ids;
use crate::matrix::TieCounts;
use crate::rule::{IdealSource, RankingRule};
use crate::stats::{StatName, is_undefined};

/// The version of the documents of scores and summaries. Removing a field, or changing the meaning
/// of a field, raises the version.
pub(crate) const SCHEMA: u32 = 1;

impl Serialize for Scores {
    /// Serializes the scores as one document, with the values of the queries if the scores have
    /// them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ScoresDocument::new(self, true).serialize(serializer)
    }
}

impl Serialize for ScoreRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NamedRow { measure: &self.measure.to_string(), row: self }.serialize(serializer)
    }
}

/// A row of the scores with the written name of its measure, for serialization.
pub(crate) struct NamedRow<'a> {
    pub measure: &'a str,
    pub row: &'a ScoreRow<'a>,
}

impl Serialize for NamedRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SerialCells<'a> {
            run: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            group: Option<&'a str>,
            query_id: JsonText<'a>,
            measure: &'a str,
            stat: StatName,
            value: f64,
        }
        let ScoreRow { run, group, query, stat, value, .. } = *self.row;
        let query_id = JsonText(query.unwrap_or_default());
        SerialCells { run, group, query_id, measure: self.measure, stat, value }
            .serialize(serializer)
    }
}

/// The document that scores are serialized as, with the settings of the evaluation.
#[derive(Serialize)]
pub(crate) struct ScoresDocument<'a> {
    schema: u32,
    laneval: &'static str,
    query_set: QuerySet,
    depth: Option<u32>,
    judged_only: bool,
    /// The relevant documents known to measures; left out for [`RelevantFrom::Judged`].
    #[serde(skip_serializing_if = "Option::is_none")]
    relevant_from: Option<RelevantFrom>,
    /// The value of tied rankings; left out for [`TiedValue::Ranked`].
    #[serde(skip_serializing_if = "Option::is_none")]
    tied: Option<TiedValue>,
    measures: Vec<String>,
    runs: Vec<SerialRun<'a>>,
}

impl<'a> ScoresDocument<'a> {
    /// Makes the serializable document of `scores`, with or without the values of queries.
    pub fn new(scores: &'a Scores, per_query: bool) -> Self {
        let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
        let EvaluationSettings { queries, view, relevant_from, tied } = scores.settings;
        Self {
            schema: SCHEMA,
            laneval: env!("CARGO_PKG_VERSION"),
            query_set: queries,
            depth: view.depth,
            judged_only: view.judged_only,
            relevant_from: Some(relevant_from).filter(|choice| choice.is_retrieved()),
            tied: Some(tied).filter(|&tied| tied != TiedValue::Ranked),
            runs: scores.runs.iter().map(|run| SerialRun::new(run, &measures, per_query)).collect(),
            measures,
        }
    }
}

#[derive(Serialize)]
struct SerialRun<'a> {
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    tag: JsonText<'a>,
    rule: RankingRule,
    qrels: Vec<String>,
    /// The source of ideal rankings; left out if it is the judgments.
    #[serde(skip_serializing_if = "Option::is_none")]
    ideal: Option<IdealSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ties: Option<TieCounts>,
    queries: SerialQueries<'a>,
    scores: OrderedObject<String, SerialStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<SerialValues<'a>>,
}

#[derive(Serialize)]
struct SerialQueries<'a> {
    counted: usize,
    missing: u64,
    missing_ids: SerialIds<'a>,
    missing_ids_truncated: bool,
    filled: bool,
    ignored: u64,
    ignored_ids: SerialIds<'a>,
    ignored_ids_truncated: bool,
}

/// A list of query ids, serialized id by id, because a list may hold millions of ids.
struct SerialIds<'a>(&'a Ids);

impl Serialize for SerialIds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(JsonText))
    }
}

/// The values of a run by query, serialized query by query.
struct SerialValues<'a>(&'a PerQuery, Vec<String>);

impl Serialize for SerialValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(PerQuery { queries, values, .. }, measures) = self;
        serializer.collect_map(queries.iter().enumerate().map(|(at, id)| {
            let values = measures.iter().zip(values).map(|(measure, values)| (measure, values[at]));
            let known = values.filter(|&(_, value)| !is_undefined(value));
            (JsonText(id), OrderedObject(known.collect()))
        }))
    }
}

/// The serialized statistics of a measure, and the number of queries without a value, if there are
/// any.
struct SerialStats {
    stats: Vec<(StatName, f64)>,
    skipped: Option<usize>,
}

impl Serialize for SerialStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.stats.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        self.skipped.iter().try_for_each(|skipped| map.serialize_entry("skipped", skipped))?;
        map.end()
    }
}

/// Keys and values that are serialized as an object in the order of the measures or queries.
struct OrderedObject<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for OrderedObject<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'a> SerialRun<'a> {
    fn new(run: &'a RunScores, measures: &[String], per_query: bool) -> Self {
        let stats = run.stats.iter().enumerate().map(|(at, stats)| SerialStats {
            stats: stats.clone(),
            skipped: Some(run.skipped(at)).filter(|&count| count > 0),
        });
        Self {
            run: &run.name,
            group: run.group.as_deref(),
            tag: JsonText(&run.tag),
            rule: run.rule.clone(),
            qrels: run.fingerprints.iter().map(|print| format!("{print:032x}")).collect(),
            ideal: Some(run.ideal).filter(|&ideal| ideal != IdealSource::Judgments),
            ties: run.ties,
            queries: SerialQueries {
                counted: run.queries,
                missing: run.missing.count,
                missing_ids: SerialIds(&run.missing.ids),
                missing_ids_truncated: run.missing.is_truncated(),
                filled: run.filled,
                ignored: run.ignored.count,
                ignored_ids: SerialIds(&run.ignored.ids),
                ignored_ids_truncated: run.ignored.is_truncated(),
            },
            scores: OrderedObject(measures.iter().cloned().zip(stats).collect()),
            per_query: run
                .per_query
                .as_ref()
                .filter(|_| per_query)
                .map(|values| SerialValues(values, measures.to_vec())),
        }
    }
}

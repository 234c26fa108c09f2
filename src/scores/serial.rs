//! Scores as data: one document by run and measure, with the settings and the queries that were
//! missing or ignored; and rows.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{JsonText, Known, PerQuery, QuerySet, Row, RunScores, Scores, TiedValue};
use crate::ids::Ids;
use crate::matrix::TieCounts;
use crate::rule::{IdealOf, RankingRule};
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

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NamedRow { measure: &self.measure.to_string(), row: self }.serialize(serializer)
    }
}

/// A row with the name of its measure.
pub(crate) struct NamedRow<'a> {
    pub measure: &'a str,
    pub row: &'a Row<'a>,
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
        let Row { run, group, query, stat, value, .. } = *self.row;
        let query_id = JsonText(query.unwrap_or_default());
        SerialCells { run, group, query_id, measure: self.measure, stat, value }
            .serialize(serializer)
    }
}

/// All scores in one document.
#[derive(Serialize)]
pub(crate) struct ScoresDocument<'a> {
    schema: u32,
    laneval: &'static str,
    query_set: QuerySet,
    depth: Option<u32>,
    judged_only: bool,
    /// The relevant documents known to measures; left out for [`Known::Judged`].
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    /// The value of tied rankings; left out for [`TiedValue::Ranked`].
    #[serde(skip_serializing_if = "Option::is_none")]
    tied: Option<TiedValue>,
    measures: Vec<String>,
    runs: Vec<SerialRun<'a>>,
}

impl<'a> ScoresDocument<'a> {
    /// The document of `scores`, with or without the values of queries.
    pub fn new(scores: &'a Scores, per_query: bool) -> Self {
        let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
        ScoresDocument {
            schema: SCHEMA,
            laneval: env!("CARGO_PKG_VERSION"),
            query_set: scores.queries,
            depth: scores.view.depth,
            judged_only: scores.view.judged_only,
            known: Some(scores.known).filter(|&known| known != Known::Judged),
            tied: Some(scores.tied).filter(|&tied| tied != TiedValue::Ranked),
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
    ideal: Option<IdealOf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ties: Option<TieCounts>,
    queries: SerialQueries<'a>,
    scores: Object<String, SerialStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<Queried<'a>>,
}

#[derive(Serialize)]
struct SerialQueries<'a> {
    counted: usize,
    missing: u64,
    missing_ids: Texts<'a>,
    missing_ids_truncated: bool,
    filled: bool,
    ignored: u64,
    ignored_ids: Texts<'a>,
    ignored_ids_truncated: bool,
}

/// A list of ids, serialized id by id, because a list may hold millions of ids.
struct Texts<'a>(&'a Ids);

impl Serialize for Texts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(JsonText))
    }
}

/// The values of the queries, serialized query by query.
struct Queried<'a>(&'a PerQuery, Vec<String>);

impl Serialize for Queried<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Queried(PerQuery { queries, values, .. }, measures) = self;
        let of = |at: usize| {
            let values =
                measures.iter().zip(values).map(|(measure, values)| (measure.as_str(), values[at]));
            values.filter(|&(_, value)| !is_undefined(value)).collect()
        };
        serializer
            .collect_map(queries.iter().enumerate().map(|(at, id)| (JsonText(id), Object(of(at)))))
    }
}

/// The statistics of a measure, and the number of queries without a value, if there are any.
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

/// Keys and values in the order of the measures and queries, which a map type would lose.
struct Object<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
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
        SerialRun {
            run: &run.name,
            group: run.group.as_deref(),
            tag: JsonText(&run.tag),
            rule: run.rule.clone(),
            qrels: run.fingerprints.iter().map(|print| format!("{print:032x}")).collect(),
            ideal: Some(run.ideal).filter(|&ideal| ideal != IdealOf::Judgments),
            ties: run.ties,
            queries: SerialQueries {
                counted: run.queries,
                missing: run.missing.count,
                missing_ids: Texts(&run.missing.ids),
                missing_ids_truncated: run.missing.is_truncated(),
                filled: run.filled,
                ignored: run.ignored.count,
                ignored_ids: Texts(&run.ignored.ids),
                ignored_ids_truncated: run.ignored.is_truncated(),
            },
            scores: Object(measures.iter().cloned().zip(stats).collect()),
            per_query: run
                .per_query
                .as_ref()
                .filter(|_| per_query)
                .map(|of| Queried(of, measures.to_vec())),
        }
    }
}

//! One JSON document: the scores by run and measure, and which queries were missing or ignored.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::Options;
use crate::error::printable;
use crate::label::Unmatched;
use crate::scores::{PerQuery, RunScores, Scores};

pub fn write(scores: &Scores, options: &Options, to: &mut impl Write) -> io::Result<()> {
    let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    let document = Document {
        laneval: env!("CARGO_PKG_VERSION"),
        runs: scores.runs.iter().map(|run| Run::new(run, &measures, options)).collect(),
        measures: &measures,
    };
    serde_json::to_writer_pretty(&mut *to, &document)?;
    to.write_all(b"\n")
}

#[derive(Serialize)]
struct Document<'a> {
    laneval: &'static str,
    measures: &'a [String],
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: String,
    tag: String,
    queries: Queries,
    scores: Object<&'a str, Object<&'static str, f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<Object<String, Object<&'a str, f64>>>,
}

#[derive(Serialize)]
struct Queries {
    counted: usize,
    missing: u64,
    missing_ids: Vec<String>,
    filled: bool,
    ignored: u64,
    ignored_ids: Vec<String>,
}

/// Keys and values in the order of the measures and queries, which a map type would lose.
struct Object<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'a> Run<'a> {
    fn new(run: &RunScores, measures: &'a [String], options: &Options) -> Self {
        let names = measures.iter().map(String::as_str);
        Run {
            run: printable(run.name.as_bytes()),
            tag: printable(&run.tag),
            queries: Queries {
                counted: run.queries,
                missing: run.missing.count,
                missing_ids: ids(&run.missing),
                filled: run.filled,
                ignored: run.ignored.count,
                ignored_ids: ids(&run.ignored),
            },
            scores: Object(names.zip(run.summaries.iter().map(|summary| Object(summary.clone()))).collect()),
            per_query: run.per_query.as_ref().filter(|_| options.per_query).map(|of| by_query(of, measures)),
        }
    }
}

fn ids(unmatched: &Unmatched) -> Vec<String> {
    unmatched.first.iter().map(|id| printable(id)).collect()
}

fn by_query<'a>(of: &PerQuery, measures: &'a [String]) -> Object<String, Object<&'a str, f64>> {
    let values =
        |at: usize| measures.iter().map(String::as_str).zip(of.values.iter().map(move |values| values[at]));
    Object(
        of.queries.iter().enumerate().map(|(at, id)| (printable(id), Object(values(at).collect()))).collect(),
    )
}

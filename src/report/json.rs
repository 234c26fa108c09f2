//! One JSON document: the scores by run and measure, and which queries were missing or ignored.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::{Options, Text};
use crate::label::Ids;
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
    run: &'a str,
    tag: Text<'a>,
    queries: Queries<'a>,
    scores: Object<&'a str, Object<&'static str, f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<Queried<'a>>,
}

#[derive(Serialize)]
struct Queries<'a> {
    counted: usize,
    missing: u64,
    missing_ids: Texts<'a>,
    missing_ids_truncated: bool,
    filled: bool,
    ignored: u64,
    ignored_ids: Texts<'a>,
    ignored_ids_truncated: bool,
}

/// Ids, written one by one: there may be millions.
struct Texts<'a>(&'a Ids);

impl Serialize for Texts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Text))
    }
}

/// The values of the queries, written one by one.
struct Queried<'a>(&'a PerQuery, &'a [String]);

impl Serialize for Queried<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Queried(PerQuery { queries, values }, measures) = self;
        let of = |at: usize| {
            measures.iter().zip(values).map(|(measure, values)| (measure.as_str(), values[at])).collect()
        };
        serializer.collect_map(queries.iter().enumerate().map(|(at, id)| (Text(id), Object(of(at)))))
    }
}

/// Keys and values in the order of the measures and queries, which a map type would lose.
struct Object<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'a> Run<'a> {
    fn new(run: &'a RunScores, measures: &'a [String], options: &Options) -> Self {
        let names = measures.iter().map(String::as_str);
        Run {
            run: &run.name,
            tag: Text(&run.tag),
            queries: Queries {
                counted: run.queries,
                missing: run.missing.count,
                missing_ids: Texts(&run.missing.ids),
                missing_ids_truncated: run.missing.is_truncated(),
                filled: run.filled,
                ignored: run.ignored.count,
                ignored_ids: Texts(&run.ignored.ids),
                ignored_ids_truncated: run.ignored.is_truncated(),
            },
            scores: Object(names.zip(run.summaries.iter().map(|summary| Object(summary.clone()))).collect()),
            per_query: run.per_query.as_ref().filter(|_| options.per_query).map(|of| Queried(of, measures)),
        }
    }
}

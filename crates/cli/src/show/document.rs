//! The explanation of queries as one JSON document.

use std::borrow::Cow;
use std::io::{self, Write};

use laneval::Known;
use laneval::internals::{How, InRun, LastLine, ShownQuery, Term};
use laneval::report::JsonText;
use laneval::scores::is_undefined;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::explained::{Explanation, differences, grade, judgment, missed, relevant};

/// Writes the document.
pub fn write(asked: &Explanation, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, &ExplanationDocument::of(asked))?;
    writeln!(to)
}

#[derive(Serialize)]
struct ExplanationDocument<'a> {
    schema: u32,
    laneval: &'static str,
    rel: f64,
    ties: String,
    score: String,
    depth: Option<u32>,
    judged_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    measures: Vec<String>,
    queries: Vec<OfQuery<'a>>,
}

#[derive(Serialize)]
struct OfQuery<'a> {
    query_id: JsonText<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    judged: bool,
    relevant: usize,
    runs: Vec<OfRun<'a>>,
    differences: Vec<OfDifference<'a>>,
}

#[derive(Serialize)]
struct OfRun<'a> {
    run: &'a str,
    present: bool,
    values: NamedValues<f64>,
    ranking: Vec<OfRank<'a>>,
    terms: NamedValues<OfTerms>,
    missed: Vec<Missed<'a>>,
}

#[derive(Serialize)]
struct OfRank<'a> {
    rank: u32,
    doc_id: JsonText<'a>,
    score: f64,
    grade: Option<f64>,
    judgment: Cow<'static, str>,
    tied: u32,
}

#[derive(Serialize)]
struct OfTerms {
    terms: Vec<OfTerm>,
    sum: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    divided_by: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multiplied_by: Option<f64>,
}

#[derive(Serialize)]
struct OfTerm {
    rank: u32,
    value: f64,
    #[serde(flatten)]
    how: NamedValues<f64>,
}

#[derive(Serialize)]
struct Missed<'a> {
    doc_id: JsonText<'a>,
    grade: f64,
}

#[derive(Serialize)]
struct OfDifference<'a> {
    doc_id: JsonText<'a>,
    grade: f64,
    ranks: Vec<Option<u32>>,
}

/// Values with their names, in order.
pub struct NamedValues<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for NamedValues<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'a> ExplanationDocument<'a> {
    fn of(asked: &'a Explanation) -> Self {
        ExplanationDocument {
            schema: 1,
            laneval: env!("CARGO_PKG_VERSION"),
            rel: asked.rel,
            ties: asked.ties.name(),
            score: asked.score.to_string(),
            depth: asked.view.depth,
            judged_only: asked.view.judged_only,
            known: Some(asked.known)
                .filter(|&known| known != Known::Judged)
                .map(|known| known.to_string()),
            measures: names(asked),
            queries: asked.shown.queries.iter().map(|query| of_query(asked, query)).collect(),
        }
    }
}

fn names(asked: &Explanation) -> Vec<String> {
    asked.shown.measures.iter().map(ToString::to_string).collect()
}

fn of_query<'a>(asked: &'a Explanation, query: &'a ShownQuery) -> OfQuery<'a> {
    let differs = differences(query, asked.rel);
    OfQuery {
        query_id: JsonText(&query.id),
        text: asked.titles.get(&query.id).map(String::as_str),
        judged: query.judged.is_some(),
        relevant: relevant(query, asked.rel).len(),
        runs: asked
            .shown
            .runs
            .iter()
            .zip(&query.runs)
            .map(|(name, run)| of_run(asked, query, name, run))
            .collect(),
        differences: differs
            .into_iter()
            .map(|of| OfDifference { doc_id: JsonText(of.docno), grade: of.grade, ranks: of.ranks })
            .collect(),
    }
}

fn of_run<'a>(
    asked: &Explanation,
    query: &'a ShownQuery,
    name: &'a str,
    run: &'a InRun,
) -> OfRun<'a> {
    let ranking = run.ranking.iter().map(|ranked| OfRank {
        rank: ranked.rank,
        doc_id: JsonText(&ranked.docno),
        score: ranked.score,
        grade: grade(ranked.judgment),
        judgment: judgment(ranked.judgment),
        tied: ranked.tied,
    });
    let summed = names(asked).into_iter().zip(&run.terms).filter_map(|(name, terms)| {
        let terms = terms.as_ref()?;
        let (divided_by, multiplied_by) = match terms.last {
            LastLine::Sum => (None, None),
            LastLine::Over(by) => (Some(by), None),
            LastLine::Times(by) => (None, Some(by)),
        };
        let each = terms.terms.iter().map(of_term).collect();
        Some((name, OfTerms { terms: each, sum: terms.sum, divided_by, multiplied_by }))
    });
    let missed = missed(query, run, asked.rel).into_iter();
    OfRun {
        run: name,
        present: run.present,
        values: NamedValues(
            names(asked)
                .into_iter()
                .zip(run.values.iter().copied())
                .filter(|of| !is_undefined(of.1))
                .collect(),
        ),
        ranking: ranking.collect(),
        terms: NamedValues(summed.collect()),
        missed: missed.map(|(docno, grade)| Missed { doc_id: JsonText(docno), grade }).collect(),
    }
}

fn of_term(term: &Term) -> OfTerm {
    let how: &[(&str, f64)] = match term.how {
        How::One | How::Reciprocal | How::Formula => &[],
        How::Precision(hits) => &[("hits", f64::from(hits))],
        How::Divided(gain, by) => &[("gain", gain), ("divided_by", by)],
        How::Multiplied(gain, by) => &[("gain", gain), ("multiplied_by", by)],
        How::Stops { comes, stops, weight } => {
            &[("comes", comes), ("stops", stops), ("divided_by", weight)]
        }
    };
    let how = how.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    OfTerm { rank: term.rank, value: term.value, how: NamedValues(how) }
}

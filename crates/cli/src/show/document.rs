//! The explanation of `laneval show` as one JSON document.

use std::borrow::Cow;
use std::io::{self, Write};

use laneval::internals::{ShownQuery, ShownRun, SumStep, Term, TermOrigin};
use laneval::report::JsonText;
use laneval::scores::is_undefined;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::explanation::{Explanation, differences, grade, judgment, missed_relevant, relevant};
use crate::output::write_json;

/// Writes the explanation of `laneval show` as one JSON document.
pub fn write(explanation: &Explanation, to: &mut dyn Write) -> io::Result<()> {
    write_json(&ExplanationDocument::new(explanation), to)
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
    relevant_from: Option<&'a str>,
    measures: Vec<String>,
    queries: Vec<JsonShownQuery<'a>>,
}

#[derive(Serialize)]
struct JsonShownQuery<'a> {
    query_id: JsonText<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    judged: bool,
    relevant: usize,
    runs: Vec<JsonShownRun<'a>>,
    differences: Vec<JsonRankDifference<'a>>,
}

#[derive(Serialize)]
struct JsonShownRun<'a> {
    run: &'a str,
    present: bool,
    values: NamedValues<f64>,
    ranking: Vec<JsonShownRank<'a>>,
    terms: NamedValues<JsonTermColumn>,
    missed: Vec<JsonMissedDocument<'a>>,
}

#[derive(Serialize)]
struct JsonShownRank<'a> {
    rank: u32,
    doc_id: JsonText<'a>,
    score: f64,
    grade: Option<f64>,
    judgment: Cow<'static, str>,
    tied: u32,
}

#[derive(Serialize)]
struct JsonTermColumn {
    terms: Vec<JsonTerm>,
    sum: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    divided_by: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multiplied_by: Option<f64>,
}

#[derive(Serialize)]
struct JsonTerm {
    rank: u32,
    value: f64,
    #[serde(flatten)]
    origin: NamedValues<f64>,
}

#[derive(Serialize)]
struct JsonMissedDocument<'a> {
    doc_id: JsonText<'a>,
    grade: f64,
}

#[derive(Serialize)]
struct JsonRankDifference<'a> {
    doc_id: JsonText<'a>,
    grade: f64,
    ranks: Vec<Option<u32>>,
}

/// Pairs of a name and a value, written as a JSON object in their order.
pub struct NamedValues<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for NamedValues<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'a> ExplanationDocument<'a> {
    fn new(explanation: &'a Explanation) -> Self {
        Self {
            schema: 1,
            laneval: env!("CARGO_PKG_VERSION"),
            rel: explanation.rel,
            ties: explanation.ties.to_string(),
            score: explanation.score.to_string(),
            depth: explanation.view.depth,
            judged_only: explanation.view.judged_only,
            relevant_from: Some(&explanation.relevant_from[..]).filter(|&word| word != "judged"),
            measures: names(explanation),
            queries: explanation
                .shown
                .queries
                .iter()
                .map(|query| query_json(explanation, query))
                .collect(),
        }
    }
}

fn names(explanation: &Explanation) -> Vec<String> {
    explanation.shown.measures.iter().map(ToString::to_string).collect()
}

fn query_json<'a>(explanation: &'a Explanation, query: &'a ShownQuery) -> JsonShownQuery<'a> {
    let differs = differences(query, explanation.rel);
    JsonShownQuery {
        query_id: JsonText(&query.id),
        text: explanation.titles.texts.get(&query.id).map(String::as_str),
        judged: query.judged.is_some(),
        relevant: relevant(query, explanation.rel).len(),
        runs: explanation
            .shown
            .runs
            .iter()
            .zip(&query.runs)
            .map(|(name, run)| run_json(explanation, query, name, run))
            .collect(),
        differences: differs
            .into_iter()
            .map(|difference| JsonRankDifference {
                doc_id: JsonText(difference.docno),
                grade: difference.grade,
                ranks: difference.ranks,
            })
            .collect(),
    }
}

fn run_json<'a>(
    explanation: &Explanation,
    query: &'a ShownQuery,
    name: &'a str,
    run: &'a ShownRun,
) -> JsonShownRun<'a> {
    let ranking = run.ranking.iter().map(|ranked| JsonShownRank {
        rank: ranked.rank,
        doc_id: JsonText(&ranked.docno),
        score: ranked.score,
        grade: grade(ranked.judgment),
        judgment: judgment(ranked.judgment),
        tied: ranked.tied,
    });
    let summed = names(explanation).into_iter().zip(&run.terms).filter_map(|(name, terms)| {
        let terms = terms.as_ref()?;
        let (divided_by, multiplied_by) = match terms.last {
            SumStep::Sum => (None, None),
            SumStep::Over(by) => (Some(by), None),
            SumStep::Times(by) => (None, Some(by)),
        };
        let (sum, terms) = (terms.sum, terms.terms.iter().map(term_json).collect());
        Some((name, JsonTermColumn { terms, sum, divided_by, multiplied_by }))
    });
    let missed = missed_relevant(query, run, explanation.rel).into_iter();
    JsonShownRun {
        run: name,
        present: run.present,
        values: NamedValues(
            names(explanation)
                .into_iter()
                .zip(run.values.iter().copied())
                .filter(|entry| !is_undefined(entry.1))
                .collect(),
        ),
        ranking: ranking.collect(),
        terms: NamedValues(summed.collect()),
        missed: missed
            .map(|(docno, grade)| JsonMissedDocument { doc_id: JsonText(docno), grade })
            .collect(),
    }
}

fn term_json(term: &Term) -> JsonTerm {
    let origin: &[(&str, f64)] = match term.how {
        TermOrigin::One | TermOrigin::Reciprocal | TermOrigin::Formula => &[],
        TermOrigin::Precision(hits) => &[("hits", f64::from(hits))],
        TermOrigin::Divided(gain, by) => &[("gain", gain), ("divided_by", by)],
        TermOrigin::Multiplied(gain, by) => &[("gain", gain), ("multiplied_by", by)],
        TermOrigin::Stops { comes, stops, weight } => {
            &[("comes", comes), ("stops", stops), ("divided_by", weight)]
        }
    };
    let origin = origin.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    JsonTerm { rank: term.rank, value: term.value, origin: NamedValues(origin) }
}

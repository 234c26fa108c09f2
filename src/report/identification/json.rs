//! The answer of `laneval identify` as one JSON document.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::identify::{Candidate, Identification};

/// The version of the document's keys, which are only added to.
const SCHEMA: u32 = 1;

/// The whole JSON document of `laneval identify`.
#[derive(Serialize)]
struct IdentifyDocument<'a> {
    schema: u32,
    laneval: &'static str,
    verdict: String,
    /// `null` where it is infinite.
    chance: Option<f64>,
    space: JsonSpace,
    numbers: Vec<JsonNumber<'a>>,
    queries: Option<u64>,
    fitting: u64,
    candidates: Vec<JsonCandidate<'a>>,
    nearest: Vec<JsonCandidate<'a>>,
    advice: &'a str,
    notes: &'a [String],
}

#[derive(Serialize)]
struct JsonSpace {
    definitions: u64,
    classes: u64,
}

#[derive(Serialize)]
struct JsonNumber<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct JsonCandidate<'a> {
    measure: String,
    options: BTreeMap<String, &'a str>,
    value: Option<f64>,
    printed: String,
    agree: Option<u64>,
    telling: Option<u64>,
    members: u64,
    same_here: &'a [String],
    libraries: Vec<JsonLibrary<'a>>,
    differs: &'a str,
}

#[derive(Serialize)]
struct JsonLibrary<'a> {
    library: &'static str,
    name: &'a str,
    seen: String,
    differs: &'a str,
}

/// Writes the answer of `laneval identify` as a JSON document.
pub fn write(found: &Identification, to: &mut impl Write) -> io::Result<()> {
    let document = IdentifyDocument {
        schema: SCHEMA,
        laneval: env!("CARGO_PKG_VERSION"),
        verdict: found.verdict.to_string(),
        chance: Some(found.chance).filter(|chance| chance.is_finite()),
        space: JsonSpace { definitions: found.definitions, classes: found.classes },
        numbers: found.numbers.iter().map(|(name, value)| JsonNumber { name, value }).collect(),
        queries: found.compared_queries,
        fitting: found.fitting,
        candidates: found.candidates.iter().map(candidate_json).collect(),
        nearest: found.nearest.iter().map(candidate_json).collect(),
        advice: &found.advice,
        notes: &found.notes,
    };
    serde_json::to_writer_pretty(&mut *to, &document)?;
    to.write_all(b"\n")
}

fn candidate_json(candidate: &Candidate) -> JsonCandidate<'_> {
    let libraries = candidate.libraries.iter().map(|library| JsonLibrary {
        library: library.library,
        name: &library.name,
        seen: library.seen.to_string(),
        differs: &library.differs,
    });
    let options = candidate.options.iter();
    JsonCandidate {
        measure: candidate.measure.to_string(),
        options: options.map(|(name, word)| (name.replace('-', "_"), word.as_str())).collect(),
        value: candidate.value,
        printed: candidate.printed.to_string(),
        agree: candidate.agree,
        telling: candidate.telling,
        members: candidate.members,
        same_here: &candidate.same_here,
        libraries: libraries.collect(),
        differs: &candidate.differs,
    }
}

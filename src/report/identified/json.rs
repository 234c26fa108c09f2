//! The definition of a number as one JSON document.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::identify::{Candidate, Identified};

/// The version of the document's keys, which are only added to.
const SCHEMA: u32 = 1;

/// The whole document.
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
    options: BTreeMap<&'static str, &'a str>,
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

/// Writes the document.
pub fn write(found: &Identified, to: &mut impl Write) -> io::Result<()> {
    let document = IdentifyDocument {
        schema: SCHEMA,
        laneval: env!("CARGO_PKG_VERSION"),
        verdict: found.verdict.to_string(),
        chance: Some(found.chance).filter(|chance| chance.is_finite()),
        space: JsonSpace { definitions: found.definitions, classes: found.classes },
        numbers: found.numbers.iter().map(|(name, value)| JsonNumber { name, value }).collect(),
        queries: found.told,
        fitting: found.fitting,
        candidates: found.candidates.iter().map(of_candidate).collect(),
        nearest: found.nearest.iter().map(of_candidate).collect(),
        advice: &found.advice,
        notes: &found.notes,
    };
    serde_json::to_writer_pretty(&mut *to, &document)?;
    to.write_all(b"\n")
}

fn of_candidate(of: &Candidate) -> JsonCandidate<'_> {
    let libraries = of.libraries.iter().map(|library| JsonLibrary {
        library: library.library,
        name: &library.name,
        seen: library.seen.to_string(),
        differs: &library.differs,
    });
    JsonCandidate {
        measure: of.measure.to_string(),
        options: of.options.iter().map(|(name, word)| (*name, word.as_str())).collect(),
        value: of.value,
        printed: of.printed.to_string(),
        agree: of.agree,
        telling: of.telling,
        members: of.members,
        same_here: &of.same_here,
        libraries: libraries.collect(),
        differs: &of.differs,
    }
}

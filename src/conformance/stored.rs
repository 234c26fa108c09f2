//! The conformance suite built into laneval, read from the JSON files of `conformance/`.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::suite::{Case, Mutation, Suite, SuiteDefinition};
use crate::error::{Result, unanswerable};

const CASES: &str = include_str!("../../conformance/v1/cases.json");
const DEFINITIONS: &str = include_str!("../../conformance/v1/definitions.json");
const VALUES: &str = include_str!("../../conformance/v1/values.json");
const MISTAKES: &str = include_str!("../../conformance/mistakes.json");

#[derive(Deserialize)]
struct StoredCases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct StoredDefinitions {
    definitions: Vec<SuiteDefinition>,
}

#[derive(Deserialize)]
struct ValueTexts {
    values: Vec<ValuesOfDefinition>,
}

#[derive(Deserialize)]
struct ValuesOfDefinition {
    id: String,
    values: HashMap<String, Option<ValueText>>,
}

#[derive(Deserialize)]
struct ValueText {
    v: String,
}

#[derive(Deserialize)]
struct StoredMistakes {
    says: Vec<String>,
    mistakes: Vec<(String, usize, HashMap<String, Option<f64>>)>,
}

impl Suite {
    /// Returns the conformance suite of this name that is built into laneval.
    ///
    /// # Errors
    /// [`crate::Error::Unanswerable`]: no suite has the name.
    pub fn named(name: &str) -> Result<Self> {
        if Self::NAMES.contains(&name) {
            return Ok(v1(name));
        }
        let known = Self::NAMES.join(", ");
        unanswerable(format!("there is no suite `{name}`, only {known}"))
    }
}

/// Reads the built-in conformance suite v1 from its JSON files. The files are part of the program,
/// so none can be wrong; a test reads them.
fn v1(name: &str) -> Suite {
    let StoredCases { cases } = read(CASES);
    let StoredDefinitions { definitions } = read(DEFINITIONS);
    let ValueTexts { values: stored } = read(VALUES);
    let values = definitions.iter().map(|definition| {
        let entry = stored.iter().find(|entry| entry.id == definition.id);
        cases.iter().map(|case| entry?.values.get(&case.id)?.as_ref()?.v.parse().ok()).collect()
    });
    let values: Vec<Vec<Option<f64>>> = values.collect();
    let changes = changes(&cases, &definitions, &values);
    Suite { name: name.to_owned(), cases, definitions, values, changes }
}

fn changes(
    cases: &[Case],
    definitions: &[SuiteDefinition],
    values: &[Vec<Option<f64>>],
) -> Vec<Mutation> {
    let StoredMistakes { says, mistakes } = read(MISTAKES);
    let changes = mistakes.into_iter().filter_map(|(id, words, differing)| {
        let definition = definitions.iter().position(|definition| definition.id == id)?;
        let values = cases.iter().zip(&values[definition]);
        // Only the differing values are stored, because most changes alter the values of few cases.
        let values = values.map(|(case, value)| *differing.get(&case.id).unwrap_or(value));
        Some(Mutation { definition, says: says.get(words)?.clone(), values: values.collect() })
    });
    changes.collect()
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::{MISTAKES, StoredMistakes, VALUES, read, v1};

    #[test]
    fn everything_is_read() {
        let suite = v1("v1");
        assert_eq!(suite.definitions.len(), 62);
        assert!(suite.values.iter().all(|values| values.len() == suite.cases.len()));
        let none = suite.values.iter().flatten().filter(|value| value.is_none()).count();
        assert_eq!(none, VALUES.matches(": null").count());
        let stored: StoredMistakes = read(MISTAKES);
        assert_eq!(suite.changes.len(), stored.mistakes.len());
        assert!(suite.changes.len() > 500);
    }
}

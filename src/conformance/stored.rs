//! The files of `conformance/`, as they are in the program.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::suite::{Case, Change, Suite, SuiteDefinition};
use crate::error::{Error, Result};

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
    /// Returns a suite built into laneval.
    ///
    /// # Errors
    /// [`Error::Unanswerable`]: no suite has the name.
    pub fn named(name: &str) -> Result<Self> {
        if Suite::NAMES.contains(&name) {
            return Ok(v1(name));
        }
        let known = Suite::NAMES.join(", ");
        Err(Error::Unanswerable(format!("there is no suite `{name}`, only {known}")))
    }
}

/// Reads the suite v1. The files are part of the program, so none can be wrong; a test reads them.
fn v1(name: &str) -> Suite {
    let StoredCases { cases } = read(CASES);
    let StoredDefinitions { definitions } = read(DEFINITIONS);
    let ValueTexts { values: stored } = read(VALUES);
    let of_definition = |definition: &SuiteDefinition| {
        let of = stored.iter().find(|of| of.id == definition.id);
        let number = |case: &Case| {
            let value = of.and_then(|of| of.values.get(&case.id)).and_then(Option::as_ref)?;
            value.v.parse().ok()
        };
        cases.iter().map(number).collect::<Vec<Option<f64>>>()
    };
    let values: Vec<_> = definitions.iter().map(of_definition).collect();
    let changes = changes(&cases, &definitions, &values);
    Suite { name: name.to_owned(), cases, definitions, values, changes }
}

fn changes(
    cases: &[Case],
    definitions: &[SuiteDefinition],
    values: &[Vec<Option<f64>>],
) -> Vec<Change> {
    let StoredMistakes { says, mistakes } = read(MISTAKES);
    let change = |(id, words, differing): (String, usize, HashMap<String, Option<f64>>)| {
        let of = definitions.iter().position(|definition| definition.id == id)?;
        let value = |(case, value): (&Case, &Option<f64>)| {
            differing.get(&case.id).copied().unwrap_or(*value)
        };
        let values = cases.iter().zip(&values[of]).map(value).collect();
        Some(Change { of, says: says.get(words)?.clone(), values })
    };
    mistakes.into_iter().filter_map(change).collect()
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

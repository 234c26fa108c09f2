//! A conformance suite: queries with judgments and results, definitions of measures, and the value
//! of each query under each definition.

use std::fmt::Write;

use serde::Deserialize;

/// A query of a conformance suite: its judgments, and its results in one run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Case {
    /// The name of the case and of its query.
    pub id: String,
    /// The cutoff.
    pub k: u32,
    /// The judged documents with their grades, in the order of the file.
    pub qrels: Vec<(String, i32)>,
    /// The results with their scores as decimal text, in the order of the file.
    pub run: Vec<(String, String)>,
    /// The choices under test.
    pub tests: Vec<String>,
    /// A note on the purpose of the case.
    pub note: String,
}

impl Case {
    /// Returns the judgments of the query as TREC qrels text.
    pub fn qrels_text(&self) -> String {
        self.qrels.iter().fold(String::new(), |mut text, (document, grade)| {
            let _ = writeln!(text, "{} 0 {document} {grade}", self.id);
            text
        })
    }

    /// Returns the results of the query as TREC run text, lines in the order of the file; empty
    /// without results.
    pub fn run_text(&self) -> String {
        self.run.iter().enumerate().fold(String::new(), |mut text, (at, (document, score))| {
            let _ = writeln!(text, "{} Q0 {document} {} {score} run", self.id, at + 1);
            text
        })
    }
}

/// The evaluation options of a definition in a conformance suite (`-J`, `-M`, `--relevant-from`,
/// `--ties`), as `laneval eval` spells the values. A missing option has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SuiteOptions {
    /// Whether unjudged documents are dropped (`-J`).
    pub judged_only: bool,
    /// The number of first results that are looked at (`-M`): `k`, the cutoff of the case.
    pub max_rank: Option<String>,
    /// Which relevant documents count as existing (`--relevant-from`).
    pub relevant_from: Option<String>,
    /// The order of equal scores (`--ties`).
    pub ties: Option<String>,
}

/// A library that computes a measure by a definition of a conformance suite.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SuiteLibrary {
    /// The short name of the library, with a digit at the end for an older behaviour.
    pub library: String,
    /// The library, with versions and functions where they matter.
    pub name: String,
}

/// A definition of a measure in a conformance suite: its formula, its spelling in laneval, and its
/// libraries.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SuiteDefinition {
    /// The name of the definition, which begins with the name of its measure.
    pub id: String,
    /// The measure of laneval for the definition, if any; `@k` is the cutoff of the case.
    pub measure: Option<String>,
    /// The evaluation options of the definition.
    pub options: SuiteOptions,
    /// The definition in words.
    pub formula: String,
    /// The libraries with the definition.
    pub libraries: Vec<SuiteLibrary>,
    /// Where laneval's measure has another value: with `negative grades`, or in a ranking with
    /// documents of `one kind`.
    pub unless: Option<String>,
}

impl SuiteDefinition {
    /// Returns the name of the measure that the definition defines.
    pub fn family(&self) -> &str {
        self.id.split(':').next().unwrap_or_default()
    }

    /// Returns whether a library, by its short name, computes the measure by this definition.
    pub(super) fn has_library(&self, library: &str) -> bool {
        self.libraries.iter().any(|entry| entry.library == library)
    }

    /// Returns the definition as measure and options of `laneval eval`, or in words if laneval does
    /// not have it.
    pub fn spelling(&self) -> String {
        let Some(measure) = &self.measure else {
            return format!("{}, {}", self.family(), self.formula);
        };
        let mut text = measure.clone();
        let options = &self.options;
        if options.judged_only {
            text.push_str(" -J");
        }
        let valued = [
            ("-M", &options.max_rank),
            ("--relevant-from", &options.relevant_from),
            ("--ties", &options.ties),
        ];
        for (option, value) in valued {
            if let Some(value) = value {
                let _ = write!(text, " {option} {value}");
            }
        }
        text
    }
}

/// A variant of a definition in a conformance suite, with one choice changed or a usual mistake
/// made, and its values.
#[derive(Debug, Clone)]
pub(super) struct Mutation {
    /// The index of the definition.
    pub definition: usize,
    /// The changed choice, in words.
    pub says: String,
    /// The value of each case, to seven digits where the change alters the value; `None` is a query
    /// that is left out.
    pub values: Vec<Option<f64>>,
}

/// A conformance suite: queries, definitions of measures, and the value of each query under each
/// definition.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The name of the suite.
    pub name: String,
    /// The queries.
    pub cases: Vec<Case>,
    /// The definitions by measure, the usual definitions first.
    pub definitions: Vec<SuiteDefinition>,
    /// The values by definition and case; `None` for a query left out.
    pub(super) values: Vec<Vec<Option<f64>>>,
    /// Variants of definitions with one choice changed.
    pub(super) changes: Vec<Mutation>,
}

impl Suite {
    /// The names of the suites that laneval brings along.
    pub const NAMES: [&str; 1] = ["v1"];

    /// Returns the names of the measures of the suite, in order.
    pub fn measures(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.definitions.iter().map(SuiteDefinition::family).collect();
        names.dedup();
        names
    }

    /// Returns the value of each query of the suite under the definition with this index; `None` is
    /// a query that is left out.
    pub fn values(&self, definition: usize) -> &[Option<f64>] {
        self.values.get(definition).map_or(&[], Vec::as_slice)
    }
}

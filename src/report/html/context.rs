//! The context of an HTML page: its title, input files, settings, gates, groups and documents of
//! queries.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::compare::comparison::{Comparison, RunGateVerdict};
use crate::compare::gate::Gate;
use crate::report::comparison::{ComparedGroup, ComparisonReport, GroupKind};
use crate::scores::Scores;

/// The texts of queries of a page that has none.
static NO_TITLES: LazyLock<HashMap<Vec<u8>, String>> = LazyLock::new(HashMap::new);

/// The context of an HTML page: its title, the command and inputs behind its numbers, gates, groups
/// and documents.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PageContext<'a> {
    /// The heading of the page.
    pub title: &'a str,
    /// The version of laneval.
    pub version: &'a str,
    /// The command that makes the page again.
    pub command: Option<&'a str>,
    /// The files that were read.
    pub inputs: &'a [ReadFile],
    /// The rule by which rankings were made of scores, in words.
    pub ranking_rule: Option<&'a str>,
    /// Further settings: the name and the value of each.
    pub settings: &'a [(String, String)],
    /// Scores at many cutoffs, for curves: of IPrec at levels of recall, of nDCG at ranks.
    pub curves: Option<&'a Scores>,
    /// Gates with their results.
    pub gates: &'a [(Gate, Vec<RunGateVerdict>)],
    /// The comparisons of groups of queries, or by judge, with the results of gates in them.
    pub groups: &'a [ComparedGroup],
    /// What the groups are.
    pub group_kind: GroupKind,
    /// Texts of queries, by the ids of the queries.
    pub titles: &'a HashMap<Vec<u8>, String>,
    /// The first documents of some queries in some runs.
    pub documents: &'a [TopDocuments],
}

/// An input file of an evaluation, named on an HTML page with its fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// The kind of the file: judgments, a run.
    pub kind: String,
    /// The name of the file.
    pub name: String,
    /// A fingerprint of its content, as text.
    pub fingerprint: Option<String>,
}

/// The first documents of a query in a run, for an HTML page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopDocuments {
    /// The id of the query.
    pub query: Vec<u8>,
    /// The name of the run.
    pub run: String,
    /// The documents in the order of their ranks.
    pub documents: Vec<TopDocument>,
}

/// A retrieved document on an HTML page, with its rank, grade and score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopDocument {
    /// The rank, from 1.
    pub rank: u32,
    /// The id of the document, as text.
    pub id: String,
    /// The grade of the document, as text.
    pub grade: String,
    /// Whether the document is relevant.
    pub is_relevant: bool,
    /// The score of the document in the run, as text.
    pub score: String,
}

impl<'a> PageContext<'a> {
    /// Combines a comparison with the gates and groups of queries of this page into a report.
    pub(super) fn report(&self, comparison: &'a Comparison) -> ComparisonReport<'a> {
        let mut report = ComparisonReport::new(comparison, self.gates);
        (report.groups, report.kind) = (self.groups, self.group_kind);
        report
    }

    /// Makes the context of a page with a title alone.
    pub fn new(title: &'a str) -> Self {
        Self {
            title,
            version: env!("CARGO_PKG_VERSION"),
            command: None,
            inputs: &[],
            ranking_rule: None,
            settings: &[],
            curves: None,
            gates: &[],
            groups: &[],
            group_kind: GroupKind::Queries,
            titles: &NO_TITLES,
            documents: &[],
        }
    }
}

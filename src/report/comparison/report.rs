//! A comparison of runs, with the results of its gates and the comparisons of groups of queries.

use crate::compare::{Comparison, Gate, GateSentence, RunGateVerdict};

/// A comparison of runs and the results of its gates, over all queries and by group of queries.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ComparisonReport<'a> {
    /// The comparison over all queries.
    pub comparison: &'a Comparison,
    /// The gates with their results.
    pub gates: &'a [(Gate, Vec<RunGateVerdict>)],
    /// The comparisons of groups of queries, or of judges.
    pub groups: &'a [ComparedGroup],
    /// The kind of the groups.
    pub kind: GroupKind,
}

/// The kind of groups in a report of a comparison: groups of queries, or judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupKind {
    /// Groups of queries.
    #[default]
    Queries,
    /// A group for each judge: all queries under the judge's judgments.
    Judge,
}

/// A comparison of runs on a group of queries, or under one judge, with the results of gates.
#[derive(Debug, Clone)]
pub struct ComparedGroup {
    /// The name of the group, or of the judge.
    pub name: String,
    /// The comparison.
    pub comparison: Comparison,
    /// The gates with their results in the group.
    pub gates: Vec<(Gate, Vec<RunGateVerdict>)>,
}

/// The result of a gate for a run, with the comparison and the group of queries that it is about.
#[derive(Clone, Copy)]
pub(in crate::report) struct GateResult<'a> {
    /// The name of the group; empty for all queries.
    pub group: &'a str,
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The gate.
    pub gate: &'a Gate,
    /// The result.
    pub judged: &'a RunGateVerdict,
}

/// The result of a gate as a JUnit test case: run, gate, whether it failed, and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateCase {
    /// The name of the run.
    pub run: String,
    /// The gate, with the name of its group, if any.
    pub gate: String,
    /// Whether the gate failed.
    pub failed: bool,
    /// The result of the gate in words: the value or change, and the range that the gate allows.
    pub sentence: String,
}

impl<'a> ComparisonReport<'a> {
    /// Makes the report of a comparison with the results of its gates, without groups of queries.
    pub fn new(comparison: &'a Comparison, gates: &'a [(Gate, Vec<RunGateVerdict>)]) -> Self {
        Self { comparison, gates, groups: &[], kind: GroupKind::Queries }
    }

    /// Returns the word for a group of the report: `group` for queries, or `judge`.
    pub fn word(&self) -> &'static str {
        match self.kind {
            GroupKind::Queries => "group",
            GroupKind::Judge => "judge",
        }
    }

    /// Returns the comparison over all queries, with an empty name, and the comparison of each
    /// group with the group's name.
    pub fn comparisons(&self) -> impl Iterator<Item = (&'a str, &'a Comparison)> {
        [("", self.comparison)]
            .into_iter()
            .chain(self.groups.iter().map(|group| (&group.name[..], &group.comparison)))
    }

    /// Returns the results of the report's gates as JUnit test cases.
    pub fn cases(&self) -> Vec<GateCase> {
        let results = self.results();
        let cases = results.iter().map(|result| GateCase {
            run: result.run().to_owned(),
            gate: result.title(),
            failed: result.has_failed(),
            sentence: result.sentence().to_string(),
        });
        cases.collect()
    }

    /// Returns the results of the report's gates, failed gates first.
    pub(in crate::report) fn failed_first(&self) -> Vec<GateResult<'a>> {
        let mut results = self.results();
        // A stable sort, so that the results of either kind stay in their order.
        results.sort_by_key(|result| !result.has_failed());
        results
    }

    /// Returns the results of the report's gates: over all queries, then group by group.
    pub(in crate::report) fn results(&self) -> Vec<GateResult<'a>> {
        let whole = ("", self.comparison, self.gates);
        let groups =
            self.groups.iter().map(|group| (&group.name[..], &group.comparison, &group.gates[..]));
        let mut all = Vec::new();
        for (group, comparison, gates) in [whole].into_iter().chain(groups) {
            for (gate, judged) in gates {
                let results = judged.iter();
                all.extend(results.map(|judged| GateResult { group, comparison, gate, judged }));
            }
        }
        all
    }
}

impl GateResult<'_> {
    /// Returns whether the gate failed for the run.
    pub fn has_failed(&self) -> bool {
        self.judged.verdict.failed
    }

    /// Returns the name of the run that the gate was applied to.
    pub fn run(&self) -> &str {
        self.comparison.name(self.judged.run)
    }

    /// Returns the result of the gate in words: the run's value or change, and the range that the
    /// gate allows.
    pub fn sentence(&self) -> GateSentence {
        self.comparison.gate_sentence(self.gate, self.judged)
    }

    /// Returns the gate as text, with the name of its group of queries, if any.
    pub fn title(&self) -> String {
        match self.group {
            "" => self.gate.to_string(),
            group => format!("{} [{group}]", self.gate),
        }
    }
}

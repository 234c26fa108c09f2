//! A comparison with its gates and its groups.

use crate::compare::{Comparison, Gate, GateSentence, Judged};

/// A comparison and the results of its gates, over all queries and by group.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ComparisonReport<'a> {
    /// The comparison over all queries.
    pub comparison: &'a Comparison,
    /// The gates with their results.
    pub gates: &'a [(Gate, Vec<Judged>)],
    /// The comparisons of groups of queries, or of judges.
    pub groups: &'a [ComparedGroup],
    /// The kind of the groups.
    pub kind: GroupKind,
}

/// The kind of a report's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupKind {
    /// Groups of queries.
    #[default]
    Queries,
    /// A group for each judge: all queries under the judge's judgments.
    Judge,
}

/// A comparison on a group of queries, or by a judge.
#[derive(Debug, Clone)]
pub struct ComparedGroup {
    /// The name of the group, or of the judge.
    pub name: String,
    /// The comparison.
    pub comparison: Comparison,
    /// The gates with their results in the group.
    pub gates: Vec<(Gate, Vec<Judged>)>,
}

/// The result of a gate, with the comparison behind the result.
#[derive(Clone, Copy)]
pub(in crate::report) struct GateResult<'a> {
    /// The name of the group; empty for all queries.
    pub group: &'a str,
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The gate.
    pub gate: &'a Gate,
    /// The result.
    pub judged: &'a Judged,
}

/// The result of a gate as a case of a test, by its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateCase {
    /// The name of the run.
    pub run: String,
    /// The gate, with the name of its group, if any.
    pub gate: String,
    /// Whether the gate failed.
    pub failed: bool,
    /// The result of the gate in words: the value or change, and the range that the gate allows.
    pub told: String,
}

impl<'a> ComparisonReport<'a> {
    /// Makes a report of a comparison alone.
    pub fn new(comparison: &'a Comparison, gates: &'a [(Gate, Vec<Judged>)]) -> Self {
        ComparisonReport { comparison, gates, groups: &[], kind: GroupKind::Queries }
    }

    /// The word for a group.
    pub fn word(&self) -> &'static str {
        match self.kind {
            GroupKind::Queries => "group",
            GroupKind::Judge => "judge",
        }
    }

    /// The comparison over all queries, with an empty group name, and the comparisons of groups.
    pub fn comparisons(&self) -> impl Iterator<Item = (&'a str, &'a Comparison)> {
        [("", self.comparison)]
            .into_iter()
            .chain(self.groups.iter().map(|of| (&of.name[..], &of.comparison)))
    }

    /// The results of gates as cases of a test.
    pub fn cases(&self) -> Vec<GateCase> {
        let case = |result: &GateResult<'_>| GateCase {
            run: result.run().to_owned(),
            gate: result.title(),
            failed: result.judged.verdict.failed,
            told: result.sentence().to_string(),
        };
        self.results().iter().map(case).collect()
    }

    /// The results of gates: over all queries, then group by group.
    pub(in crate::report) fn results(&self) -> Vec<GateResult<'a>> {
        let whole = ("", self.comparison, self.gates);
        let groups = self.groups.iter().map(|of| (&of.name[..], &of.comparison, &of.gates[..]));
        let all = [whole].into_iter().chain(groups);
        all.flat_map(|(group, comparison, gates)| {
            let results = gates
                .iter()
                .flat_map(|(gate, judged)| judged.iter().map(move |judged| (gate, judged)));
            results.map(move |(gate, judged)| GateResult { group, comparison, gate, judged })
        })
        .collect()
    }
}

impl GateResult<'_> {
    /// The name of the run.
    pub fn run(&self) -> &str {
        &self.comparison.runs[self.judged.run].name
    }

    /// The result of the gate in words: the value or change, and the range that the gate allows.
    pub fn sentence(&self) -> GateSentence {
        self.comparison.gate_sentence(self.gate, self.judged)
    }

    /// Returns the gate as text, with the name of its group, if any.
    pub fn title(&self) -> String {
        match self.group {
            "" => self.gate.to_string(),
            group => format!("{} [{group}]", self.gate),
        }
    }
}

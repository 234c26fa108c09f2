//! The rules that make rankings from scores, and the source of ideal rankings.

use std::fmt;
use std::sync::Arc;

use super::aggregation::Aggregation;
#[cfg(feature = "serde")]
use super::stored_drops::{self, StoredDrops};

/// The order in a ranking of documents with equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieBreak {
    /// By docno, bytewise descending, as in trec_eval.
    #[default]
    DocnoDescending,
    /// By docno, bytewise ascending.
    DocnoAscending,
    /// In the order of the input.
    Input,
    /// By the rank column, ascending. The column must have an integer in every line of a judged
    /// query, and no two equal integers among equal scores; results in memory have no such column.
    Rank,
}

impl TieBreak {
    /// All orders, with their names on the command line.
    pub const ALL: [(&'static str, Self); 4] = [
        ("docno-desc", Self::DocnoDescending),
        ("docno-asc", Self::DocnoAscending),
        ("input", Self::Input),
        ("rank", Self::Rank),
    ];
}

named!(TieBreak, "an order of equal scores");

/// The type in which the scores of a run are compared: 64-bit or 32-bit floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScoreType {
    /// 64-bit floats, as trec_eval 10 does.
    #[default]
    F64,
    /// Parsed as 64-bit floats, then rounded to 32 bits, as trec_eval 9 and pytrec_eval do.
    F32,
}

impl ScoreType {
    /// All types, with their names on the command line.
    pub const ALL: [(&'static str, Self); 2] = [("f64", Self::F64), ("f32", Self::F32)];
}

named!(ScoreType, "a type of scores");

/// The source of the number of relevant documents and of ideal rankings: the judgments, or the
/// ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdealSource {
    /// The judgments of a query.
    #[default]
    Judgments,
    /// The ranking itself, because nothing else is known: no measure misses a relevant document
    /// that the ranking lacks.
    Retrieved,
}

impl IdealSource {
    /// Both sources, with their names.
    pub const ALL: [(&'static str, Self); 2] =
        [("judgments", Self::Judgments), ("retrieved", Self::Retrieved)];
}

named!(IdealSource, "what ideal rankings are made of");

/// The rule that merges results to units (documents that chunks count for) before ranking, as
/// options spell it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AppliedAggregation {
    /// The rule of the units of results; empty if ids are units.
    pub units: String,
    /// The rule for several results of one unit.
    pub repeats: Aggregation,
    /// The number of best results kept of each query before repeats are treated; `None` for all.
    pub rows: Option<u32>,
}

impl AppliedAggregation {
    /// Lists the settings in which two rules that merge results to units differ.
    pub fn differences(&self, other: &AppliedAggregation) -> Vec<SettingDifference> {
        differences(&self.settings(), &other.settings())
    }

    fn settings(&self) -> [RuleSetting; 3] {
        let Self { units, repeats, rows } = self;
        let units = if units.is_empty() { "none".to_owned() } else { units.clone() };
        let rows = rows.map_or("all".to_owned(), |rows| rows.to_string());
        [
            ("units of results", "--doc-id", units),
            ("ways with repeated units", "--aggregate", repeats.to_string()),
            ("numbers of results", "--max-chunks", rows),
        ]
    }
}

impl fmt::Display for AppliedAggregation {
    /// Writes the rule that merges results to units as options of the command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Self::default();
        let given = self
            .differences(&all)
            .into_iter()
            .map(|difference| format!("{} {}", difference.option, difference.values[0]));
        f.pad(&given.collect::<Vec<_>>().join(" "))
    }
}

/// A setting that differs between two results, which rules out a comparison or merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDifference {
    /// The name of the setting, in the plural: `orders of equal scores`.
    pub what: &'static str,
    /// The command-line option of the setting.
    pub option: &'static str,
    /// The values of the setting in the two results.
    pub values: [String; 2],
}

impl fmt::Display for SettingDifference {
    /// Writes the name and both values of the setting, and the option to set alike.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, option, values: [own, other] } = self;
        write!(f, "the {what} differ ({own} and {other}): set {option} alike")
    }
}

/// A setting of a rule that makes rankings: its name, its option and its value.
type RuleSetting = (&'static str, &'static str, String);

/// Lists the settings that differ between two ranking rules, each given as all its settings in one
/// order.
fn differences(own: &[RuleSetting], others: &[RuleSetting]) -> Vec<SettingDifference> {
    let both = own.iter().zip(others).filter(|(own, other)| own != other);
    both.map(|(&(what, option, ref own), (.., other))| SettingDifference {
        what,
        option,
        values: [own.clone(), other.clone()],
    })
    .collect()
}

/// The rule that makes rankings from scores. The rule holds every setting that changes the ranking
/// of given results. An evaluation, merge or comparison requires one rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "StoredRule", into = "StoredRule"))]
pub struct RankingRule {
    /// The order of equal scores.
    pub ties: TieBreak,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// The number of kept ranks of each ranking; `None` if all ranks were kept.
    pub depth: Option<u32>,
    /// Whether documents with the id of their query were dropped.
    pub drop_identical_ids: bool,
    /// The rule of units; `None` is the default rule.
    pub units: Option<Arc<AppliedAggregation>>,
    /// The fingerprint of the pairs of query and document that were left out; `None` if all
    /// documents were kept.
    pub excluded: Option<Arc<str>>,
}

/// The fields of a ranking rule as they are stored.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRule {
    ties: TieBreak,
    score: ScoreType,
    depth: Option<u32>,
    #[serde(with = "stored_drops::flag")]
    drop_identical_ids: StoredDrops,
    // It is not left out, as an `Option` may be otherwise.
    #[serde(deserialize_with = "serde::Deserialize::deserialize")]
    units: Option<Arc<AppliedAggregation>>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored_drops::key")]
    excluded: Option<Arc<str>>,
}

#[cfg(feature = "serde")]
impl From<RankingRule> for StoredRule {
    fn from(rule: RankingRule) -> Self {
        let RankingRule { ties, score, depth, drop_identical_ids, units, excluded } = rule;
        let drop_identical_ids = (drop_identical_ids, excluded.clone());
        Self { ties, score, depth, drop_identical_ids, units, excluded }
    }
}

#[cfg(feature = "serde")]
impl From<StoredRule> for RankingRule {
    fn from(stored: StoredRule) -> Self {
        let StoredRule { ties, score, depth, drop_identical_ids, units, excluded } = stored;
        let (drop_identical_ids, print) = drop_identical_ids;
        Self { ties, score, depth, drop_identical_ids, units, excluded: print.or(excluded) }
    }
}

impl RankingRule {
    /// Returns the rule that merges results to units before ranking, or the default rule.
    pub fn aggregation(&self) -> AppliedAggregation {
        self.units.as_deref().cloned().unwrap_or_default()
    }

    /// Lists the settings in which two ranking rules differ, over all settings that shape rankings.
    pub fn differences(&self, other: &RankingRule) -> Vec<SettingDifference> {
        differences(&self.settings(), &other.settings())
    }

    fn settings(&self) -> Vec<RuleSetting> {
        // Every field is named, so that a new field does not compile without its place here.
        let Self { ties, score, depth, drop_identical_ids, units: _, excluded } = self;
        let depth =
            depth.map_or("all ranks".to_owned(), |depth| format!("the first {depth} ranks"));
        let dropped = if *drop_identical_ids { "dropped" } else { "kept" }.to_owned();
        let excluded =
            excluded.as_ref().map_or("none".to_owned(), |print| format!("those of {print}"));
        let settings = [
            ("orders of equal scores", "--ties", ties.to_string()),
            ("score types", "--score-type", score.to_string()),
            ("depths", "-M", depth),
            ("documents with the id of their query", "--drop-identical-ids", dropped),
            ("excluded documents", "--exclude", excluded),
        ];
        settings.into_iter().chain(self.aggregation().settings()).collect()
    }

    /// Finds a ranking with more results than the rule keeps, and returns its depth and the depth
    /// that is kept.
    pub fn first_too_deep(&self, depths: &[u32]) -> Option<(u32, u32)> {
        let max_depth = self.depth?;
        let depth = *depths.iter().find(|&&depth| depth > max_depth)?;
        Some((depth, max_depth))
    }
}

//! The rules by which rankings are made of scores, and what they are held against.

use std::fmt;
use std::sync::Arc;

use super::repeats::Repeats;

/// The order of documents with equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ties {
    /// By docno, bytewise descending, as in trec_eval.
    #[default]
    DocnoDescending,
    /// By docno, bytewise ascending.
    DocnoAscending,
    /// In the order of the input.
    Input,
    /// By the rank column, ascending. It must have an integer in every line of a judged query, and no two equal ones among equal scores;
    /// results in memory have no such column.
    Rank,
}

impl Ties {
    /// Every order, with the name that it has on the command line.
    pub const ALL: [(&'static str, Ties); 4] = [
        ("docno-desc", Ties::DocnoDescending),
        ("docno-asc", Ties::DocnoAscending),
        ("input", Ties::Input),
        ("rank", Ties::Rank),
    ];
}

named!(Ties, "an order of equal scores");

/// The type in which scores are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ScoreType {
    /// 64-bit floats, as trec_eval 10 does.
    #[default]
    F64,
    /// Parsed as 64-bit floats, then rounded to 32 bits, as trec_eval 9 and pytrec_eval do.
    F32,
}

impl ScoreType {
    /// Every type, with the name that it has on the command line.
    pub const ALL: [(&'static str, ScoreType); 2] = [("f64", ScoreType::F64), ("f32", ScoreType::F32)];
}

named!(ScoreType, "a type of scores");

/// The source of the number of relevant documents and of ideal rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IdealOf {
    /// The judgments of a query.
    #[default]
    Judgments,
    /// The ranking itself, because nothing else is known: a relevant document that the ranking lacks is missed by no measure.
    Retrieved,
}

impl IdealOf {
    /// Both sources, with their names.
    pub const ALL: [(&'static str, IdealOf); 2] =
        [("judgments", IdealOf::Judgments), ("retrieved", IdealOf::Retrieved)];
}

named!(IdealOf, "what ideal rankings are made of");

/// What was done with the units of results before rankings were made, as the options say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnitRule {
    /// The rule of the units of results; empty if ids are units.
    pub units: String,
    /// What became of several results of one unit.
    pub repeats: Repeats,
    /// The number of best results of a query that were kept before; `None` if all were.
    pub rows: Option<u32>,
}

impl UnitRule {
    /// The options that differ from those of another rule, each with its two values: here and there.
    pub fn differences(&self, other: &UnitRule) -> Vec<(&'static str, [String; 2])> {
        let text = |of: &str| if of.is_empty() { "none".to_owned() } else { of.to_owned() };
        let rows = |of: Option<u32>| of.map_or("all".to_owned(), |rows| rows.to_string());
        let both = [
            ("--units", [text(&self.units), text(&other.units)]),
            ("--repeats", [self.repeats.to_string(), other.repeats.to_string()]),
            ("--rows", [rows(self.rows), rows(other.rows)]),
        ];
        both.into_iter().filter(|(_, [own, others])| own != others).collect()
    }
}

impl fmt::Display for UnitRule {
    /// Writes the rule in the options of the command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = UnitRule::default();
        let given = self.differences(&all).into_iter().map(|(option, [own, _])| format!("{option} {own}"));
        f.pad(&given.collect::<Vec<_>>().join(" "))
    }
}

/// The rule by which rankings are made of scores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RankingRule {
    /// The order of equal scores.
    pub ties: Ties,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// The number of ranks that were kept of each ranking; `None` if all were.
    pub depth: Option<u32>,
    /// What was done with units; `None` if nothing was.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", serialize_with = "as_itself")
    )]
    pub units: Option<Arc<UnitRule>>,
}

/// Writes what was done with units.
#[cfg(feature = "serde")]
fn as_itself<S: serde::Serializer>(units: &Option<Arc<UnitRule>>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&units.as_deref(), serializer)
}

impl RankingRule {
    /// What was done with units, in words that are those of nothing if nothing was.
    pub fn of_units(&self) -> UnitRule {
        self.units.as_deref().cloned().unwrap_or_default()
    }

    /// Finds a row with more results than the rule keeps: its index, and how many results the rule keeps.
    pub(super) fn deeper(&self, depths: &[u32]) -> Option<(u32, u32)> {
        let kept = self.depth?;
        let deeper = depths.iter().copied().find(|&depth| depth > kept);
        deeper.map(|depth| (depth, kept))
    }
}

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
    /// By the rank column, ascending. It must have an integer in every line of a judged query, and
    /// no two equal ones among equal scores; results in memory have no such column.
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
    pub const ALL: [(&'static str, ScoreType); 2] =
        [("f64", ScoreType::F64), ("f32", ScoreType::F32)];
}

named!(ScoreType, "a type of scores");

/// The source of the number of relevant documents and of ideal rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IdealOf {
    /// The judgments of a query.
    #[default]
    Judgments,
    /// The ranking itself, because nothing else is known: a relevant document that the ranking
    /// lacks is missed by no measure.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct UnitRule {
    /// The rule of the units of results; empty if ids are units.
    pub units: String,
    /// What became of several results of one unit.
    pub repeats: Repeats,
    /// The number of best results of a query that were kept before; `None` if all were.
    pub rows: Option<u32>,
}

impl UnitRule {
    /// The settings that differ from those of another rule.
    pub fn differences(&self, other: &UnitRule) -> Vec<SettingDifference> {
        differences(&self.settings(), &other.settings())
    }

    fn settings(&self) -> [RuleSetting; 3] {
        let UnitRule { units, repeats, rows } = self;
        let units = if units.is_empty() { "none".to_owned() } else { units.clone() };
        let rows = rows.map_or("all".to_owned(), |rows| rows.to_string());
        [
            RuleSetting { what: "units of results", option: "--units", value: units },
            RuleSetting {
                what: "ways with repeated units",
                option: "--repeats",
                value: repeats.to_string(),
            },
            RuleSetting { what: "numbers of results", option: "--rows", value: rows },
        ]
    }
}

impl fmt::Display for UnitRule {
    /// Writes the rule in the options of the command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = UnitRule::default();
        let given =
            self.differences(&all).into_iter().map(|of| format!("{} {}", of.option, of.values[0]));
        f.pad(&given.collect::<Vec<_>>().join(" "))
    }
}

/// A setting in which two results differ that therefore cannot be put beside one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDifference {
    /// What it is called, of several: `orders of equal scores`.
    pub what: &'static str,
    /// The option of the command that sets it.
    pub option: &'static str,
    /// Its values, here and there.
    pub values: [String; 2],
}

impl fmt::Display for SettingDifference {
    /// Says what differs, and what to set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SettingDifference { what, option, values: [own, other] } = self;
        write!(f, "the {what} differ ({own} and {other}): set {option} alike")
    }
}

/// A setting of a rule.
struct RuleSetting {
    what: &'static str,
    option: &'static str,
    value: String,
}

/// The settings in which two rules differ, of the same settings in the same order.
fn differences(own: &[RuleSetting], others: &[RuleSetting]) -> Vec<SettingDifference> {
    let both = own.iter().zip(others).filter(|(own, other)| own.value != other.value);
    both.map(|(own, other)| SettingDifference {
        what: own.what,
        option: own.option,
        values: [own.value.clone(), other.value.clone()],
    })
    .collect()
}

/// The rule by which rankings are made of scores. Everything is in it that changes a ranking of the
/// same results: what is evaluated together, merged or compared has one rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RankingRule {
    /// The order of equal scores.
    pub ties: Ties,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// The number of ranks that were kept of each ranking; `None` if all were.
    pub depth: Option<u32>,
    /// Whether documents were left out whose id is that of their query.
    pub drop_identical_ids: bool,
    /// What was done with units; `None` if nothing was.
    #[cfg_attr(feature = "serde", serde(with = "as_itself"))]
    pub units: Option<Arc<UnitRule>>,
}

/// What was done with units, written and read as if it were not shared.
#[cfg(feature = "serde")]
mod as_itself {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::UnitRule;

    pub fn serialize<S: Serializer>(
        units: &Option<Arc<UnitRule>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        units.as_deref().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<UnitRule>>, D::Error> {
        Ok(Option::<UnitRule>::deserialize(from)?.map(Arc::new))
    }
}

impl RankingRule {
    /// What was done with units, in words that are those of nothing if nothing was.
    pub fn of_units(&self) -> UnitRule {
        self.units.as_deref().cloned().unwrap_or_default()
    }

    /// The settings that differ from those of another rule: the one list of what shapes rankings.
    pub fn differences(&self, other: &RankingRule) -> Vec<SettingDifference> {
        differences(&self.settings(), &other.settings())
    }

    fn settings(&self) -> Vec<RuleSetting> {
        // Every field by its name: a new one does not compile before it has its place here.
        let RankingRule { ties, score, depth, drop_identical_ids, units: _ } = self;
        let depth =
            depth.map_or("all ranks".to_owned(), |depth| format!("the first {depth} ranks"));
        let dropped = if *drop_identical_ids { "dropped" } else { "kept" }.to_owned();
        let settings = [
            RuleSetting {
                what: "orders of equal scores",
                option: "--ties",
                value: ties.to_string(),
            },
            RuleSetting { what: "score types", option: "--score", value: score.to_string() },
            RuleSetting { what: "depths", option: "-M", value: depth },
            RuleSetting {
                what: "documents with the id of their query",
                option: "--drop-identical-ids",
                value: dropped,
            },
        ];
        settings.into_iter().chain(self.of_units().settings()).collect()
    }

    /// Finds a row with more results than the rule keeps: its index, and how many results the rule
    /// keeps.
    pub(super) fn deeper(&self, depths: &[u32]) -> Option<(u32, u32)> {
        let kept = self.depth?;
        let deeper = depths.iter().copied().find(|&depth| depth > kept);
        deeper.map(|depth| (depth, kept))
    }
}

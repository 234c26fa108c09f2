//! The rules that make rankings from scores, and the source of ideal rankings.

use std::fmt;
use std::sync::Arc;

use super::repeats::Repeats;

/// The order of documents with equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
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

impl Ties {
    /// All orders, with their names on the command line.
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
pub enum ScoreType {
    /// 64-bit floats, as trec_eval 10 does.
    #[default]
    F64,
    /// Parsed as 64-bit floats, then rounded to 32 bits, as trec_eval 9 and pytrec_eval do.
    F32,
}

impl ScoreType {
    /// All types, with their names on the command line.
    pub const ALL: [(&'static str, ScoreType); 2] =
        [("f64", ScoreType::F64), ("f32", ScoreType::F32)];
}

named!(ScoreType, "a type of scores");

/// The source of the number of relevant documents and of ideal rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdealOf {
    /// The judgments of a query.
    #[default]
    Judgments,
    /// The ranking itself, because nothing else is known: no measure misses a relevant document
    /// that the ranking lacks.
    Retrieved,
}

impl IdealOf {
    /// Both sources, with their names.
    pub const ALL: [(&'static str, IdealOf); 2] =
        [("judgments", IdealOf::Judgments), ("retrieved", IdealOf::Retrieved)];
}

named!(IdealOf, "what ideal rankings are made of");

/// The treatment of units of results before ranking, as the options spell it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct UnitRule {
    /// The rule of the units of results; empty if ids are units.
    pub units: String,
    /// The rule for several results of one unit.
    pub repeats: Repeats,
    /// The number of best results kept of each query before repeats are treated; `None` for all.
    pub rows: Option<u32>,
}

impl UnitRule {
    /// Lists the settings that differ from another rule.
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

/// Lists the settings that differ between two rules, each given as all its settings in one order.
fn differences(own: &[RuleSetting], others: &[RuleSetting]) -> Vec<SettingDifference> {
    let both = own.iter().zip(others).filter(|(own, other)| own.value != other.value);
    both.map(|(own, other)| SettingDifference {
        what: own.what,
        option: own.option,
        values: [own.value.clone(), other.value.clone()],
    })
    .collect()
}

/// The rule that makes rankings from scores. The rule holds every setting that changes the ranking
/// of given results. An evaluation, merge or comparison requires one rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RankingRule {
    /// The order of equal scores.
    pub ties: Ties,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// The number of kept ranks of each ranking; `None` if all ranks were kept.
    pub depth: Option<u32>,
    /// Whether documents with the id of their query were dropped.
    pub drop_identical_ids: bool,
    /// The rule of units; `None` is the default rule.
    #[cfg_attr(feature = "serde", serde(with = "as_itself"))]
    pub units: Option<Arc<UnitRule>>,
}

/// Serialization of a shared rule of units as the rule itself.
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
    /// Returns the rule of units, or the default rule.
    pub fn of_units(&self) -> UnitRule {
        self.units.as_deref().cloned().unwrap_or_default()
    }

    /// Lists the settings that differ from another rule, over all settings that shape rankings.
    pub fn differences(&self, other: &RankingRule) -> Vec<SettingDifference> {
        differences(&self.settings(), &other.settings())
    }

    fn settings(&self) -> Vec<RuleSetting> {
        // Every field is named, so that a new field does not compile without its place here.
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

    /// Finds a row with more results than the rule keeps, and returns its depth and the depth that
    /// the rule keeps.
    pub fn deeper(&self, depths: &[u32]) -> Option<(u32, u32)> {
        let kept = self.depth?;
        let deeper = depths.iter().copied().find(|&depth| depth > kept);
        deeper.map(|depth| (depth, kept))
    }
}

//! The rules by which rankings are made of scores, and what they are held against.

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

/// The rule by which rankings are made of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RankingRule {
    /// The order of equal scores.
    pub ties: Ties,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// The number of ranks that were kept of each ranking; `None` if all were.
    pub depth: Option<u32>,
}

impl RankingRule {
    /// Finds a row with more results than the rule keeps: its index, and how many results the rule keeps.
    pub(super) fn deeper(&self, depths: &[u32]) -> Option<(u32, u32)> {
        let kept = self.depth?;
        let deeper = depths.iter().copied().find(|&depth| depth > kept);
        deeper.map(|depth| (depth, kept))
    }
}

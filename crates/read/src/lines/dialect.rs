//! The dialects of TREC qrels and runs, laneval's own and those of trec_eval 9 and 10, and their
//! rules.

use super::number;
use crate::rule::ScoreType;

/// The rules by which lines of TREC qrels and runs are read: laneval's own, or those of trec_eval 9
/// or 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// Whole fields are finite numbers, or infinities for scores, lines that start with `#` are
    /// skipped, and a document that is twice in a ranking or judged twice for a query is a problem
    /// wherever it is.
    #[default]
    Laneval,
    /// As trec_eval 9: a score or grade is the longest prefix of its field that is a number (an
    /// integer, for a grade), or 0 without such a prefix; there are no comments; a repeated
    /// document is a problem only in queries of a run, and only among the kept ranks. Scores are
    /// compared as f32, whatever the join says. A run may lack all queries of the qrels.
    Trec9,
    /// As trec_eval 10: as `Trec9`, but scores are compared as the join says, and there are
    /// comments: lines of a run that start with `#`, blanks before it or not, and lines of qrels
    /// that start with `#` in their first column.
    Trec10,
}

impl Dialect {
    pub fn rules(self) -> Rules {
        let is_trec_eval = self != Self::Laneval;
        let (run_comments, qrels_comments) = match self {
            Self::Laneval => (Comments::AfterBlanks, Comments::AfterBlanks),
            Self::Trec9 => (Comments::None, Comments::None),
            Self::Trec10 => (Comments::AfterBlanks, Comments::FirstColumn),
        };
        Rules {
            run_comments,
            qrels_comments,
            score: if is_trec_eval { number::prefix } else { number::score },
            grade: if is_trec_eval { number::integer_prefix } else { number::finite },
            whole_grades: is_trec_eval,
            late_repeats: is_trec_eval,
            unjudged_runs: is_trec_eval,
            lone_returns: is_trec_eval,
        }
    }

    /// Returns the type in which the dialect compares scores, if the join asks for `requested`.
    pub fn score(self, requested: ScoreType) -> ScoreType {
        if self == Self::Trec9 { ScoreType::F32 } else { requested }
    }
}

/// The rule by which lines of qrels or runs that start with `#` are skipped as comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comments {
    /// No lines: all are data.
    None,
    /// Lines whose first byte is `#`.
    FirstColumn,
    /// Lines whose first non-blank byte is `#`.
    AfterBlanks,
}

impl Comments {
    /// Returns whether a line whose first non-blank byte is a `#` in this column, from 0, is
    /// skipped as a comment.
    pub fn cover(self, column: usize) -> bool {
        match self {
            Self::None => false,
            Self::FirstColumn => column == 0,
            Self::AfterBlanks => true,
        }
    }
}

/// The settings in which dialects differ in reading TREC qrels and runs: comments, numbers,
/// repeats.
///
/// Plain decimals (`digits[.digits]`) mean the same number in every dialect and never reach
/// [`Rules::score`] or [`Rules::grade`].
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The comments that are skipped in runs.
    pub run_comments: Comments,
    /// The comments that are skipped in qrels.
    pub qrels_comments: Comments,
    /// Reads the value of a score field; `None` if it is not a number.
    pub score: fn(&[u8]) -> Option<f64>,
    /// Reads the value of a grade field; `None` if it is not a number.
    pub grade: fn(&[u8]) -> Option<f64>,
    /// Whether grades lose the digits behind their dot.
    pub whole_grades: bool,
    /// Whether a repeated document matters only in evaluation: in queries of a run, among the kept
    /// ranks.
    pub late_repeats: bool,
    /// Whether a run may have no query of the qrels at all.
    pub unjudged_runs: bool,
    /// Whether a carriage return inside a line of a run is a blank, and no mistake.
    pub lone_returns: bool,
}

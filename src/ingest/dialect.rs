//! The dialects of the two text formats, and what each decides; one reader serves them all.

use super::number;
use crate::label::ScoreType;

/// How strictly lines of text are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// Whole fields are finite numbers, lines that start with `#` are skipped, and a document that is twice in a ranking or judged
    /// twice for a query is a problem wherever it is.
    #[default]
    Laneval,
    /// As trec_eval 9: of a score or grade the longest prefix counts that is a number (an integer, for a grade), and 0 if there is
    /// none; there are no comments; documents are looked for twice only in queries that a run has, in it only among the ranks that
    /// are kept. Scores are compared as f32, whatever the join says. A run may have no query of the qrels at all.
    Trec9,
    /// As trec_eval 10: the same with scores as the join says, and with comments: lines of a run that start with `#`, blanks before
    /// it or not, and lines of qrels that start with `#` in their first column.
    Trec10,
}

impl Dialect {
    pub(super) fn rules(self) -> Rules {
        let trec = Rules {
            run_comments: Comments::None,
            qrels_comments: Comments::None,
            score: number::prefix,
            grade: number::integer_prefix,
            whole_grades: true,
            late_repeats: true,
            unjudged_runs: true,
            lone_returns: true,
        };
        match self {
            Dialect::Laneval => Rules {
                run_comments: Comments::AfterBlanks,
                qrels_comments: Comments::AfterBlanks,
                score: number::finite,
                grade: number::finite,
                whole_grades: false,
                late_repeats: false,
                unjudged_runs: false,
                lone_returns: false,
            },
            Dialect::Trec9 => trec,
            Dialect::Trec10 => {
                Rules { run_comments: Comments::AfterBlanks, qrels_comments: Comments::FirstColumn, ..trec }
            }
        }
    }

    /// The type in which scores are compared, of that asked for.
    pub(super) fn score(self, asked: ScoreType) -> ScoreType {
        if self == Dialect::Trec9 { ScoreType::F32 } else { asked }
    }
}

/// Which lines that start with `#` are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// None: they are data.
    None,
    /// Those where it is the first byte.
    FirstColumn,
    /// Those where it is the first byte that is not blank.
    AfterBlanks,
}

impl Comments {
    /// Is a line skipped whose first byte that is not blank is a `#` in this column, from 0?
    pub fn cover(self, column: usize) -> bool {
        match self {
            Comments::None => false,
            Comments::FirstColumn => column == 0,
            Comments::AfterBlanks => true,
        }
    }
}

/// The rules in which readers of qrels and runs differ.
///
/// Plain decimals (`digits[.digits]`) mean the same number in every dialect and never reach [`Rules::score`] or [`Rules::grade`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// What is skipped in runs.
    pub run_comments: Comments,
    /// What is skipped in qrels.
    pub qrels_comments: Comments,
    /// The value of a score field, `None` where it is not a number.
    pub score: fn(&[u8]) -> Option<f64>,
    /// The value of a grade field, `None` where it is not a number.
    pub grade: fn(&[u8]) -> Option<f64>,
    /// Do grades lose what is behind their dot?
    pub whole_grades: bool,
    /// Does a repeated document matter only where it is evaluated: in queries that a run has, and there among the ranks kept?
    pub late_repeats: bool,
    /// May a run have no query of the qrels at all?
    pub unjudged_runs: bool,
    /// Is a carriage return inside a line of a run a blank, and no mistake?
    pub lone_returns: bool,
}

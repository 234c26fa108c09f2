//! What is to be noticed about rankings, judgments or measures, because scores may mean less than they seem to.

use std::fmt;

use super::Ties;

/// Something to notice. It changes no score.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// All results of a query have the same score, in every query that has several: the order is that of equal scores.
    EqualScores {
        /// The queries with several results.
        queries: u64,
        /// The order of equal scores.
        ties: Ties,
    },
    /// In most queries scores and the rank column are contrary: of the first and the last line of a query one has the higher score and
    /// the other the better rank. This is looked at in text whose lines of a query are together.
    ContraryRanks {
        /// The queries where they are contrary.
        queries: u64,
        /// The queries that were looked at: with two different numbers in both columns.
        of: u64,
    },
    /// Scores that differ as f64 are equal as f32, and ordered as equal ones the labels come in another order.
    TiesInF32 {
        /// The queries where that is so.
        queries: u64,
    },
    /// No judgment has a grade that these measures take for relevant, so they find nothing.
    NothingRelevant {
        /// The names of the measures.
        measures: Vec<String>,
        /// The lowest grade that counts as relevant.
        level: f64,
        /// The highest grade.
        highest: f64,
    },
    /// One query has neither a standard deviation nor a confidence interval.
    OneQuery,
}

impl fmt::Display for Notice {
    /// In a sentence, without the name of the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::EqualScores { ties, .. } => {
                let by = match ties {
                    Ties::DocnoDescending => "by document id, descending",
                    Ties::DocnoAscending => "by document id, ascending",
                    Ties::Input => "as in the input",
                };
                write!(f, "all results of a query have the same score, in every query: they are ordered {by}")
            }
            Notice::ContraryRanks { queries, of } => write!(
                f,
                "scores and the rank column are contrary in {queries} of {of} queries (first against last line): \
                 the scores count, the highest first"
            ),
            Notice::TiesInF32 { queries } => {
                let queries = if *queries == 1 { "1 query".to_owned() } else { format!("{queries} queries") };
                write!(
                    f,
                    "scores that differ are equal as f32 in {queries}, where trec_eval 9 and pytrec_eval order \
                     documents otherwise, and so does --score f32"
                )
            }
            Notice::NothingRelevant { measures, level, highest } => {
                /// Measures that are named.
                const NAMED: usize = 5;
                write!(f, "{}", measures[..measures.len().min(NAMED)].join(", "))?;
                if measures.len() > NAMED {
                    write!(f, " and {} more", measures.len() - NAMED)?;
                }
                write!(
                    f,
                    ": nothing is relevant, for no grade is {level} or more (the highest is {highest}): \
                     --rel or rel= sets the lowest relevant grade"
                )
            }
            Notice::OneQuery => {
                f.write_str("one query has neither a standard deviation nor a confidence interval")
            }
        }
    }
}

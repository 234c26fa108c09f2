//! Notices to the user about rankings, judgments or measures whose scores may mislead.

use std::fmt;

use super::Codebook;
use crate::judged_by::FacetKind;
use crate::numbers::Level;
use crate::rule::TieBreak;

/// Counts of queries whose scores may mislead. Counts of different queries add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct ScoreWarnings {
    /// Queries with results.
    pub ranked: u64,
    /// Queries with at least one result in the qrels.
    pub judged: u64,
    /// Queries with several results.
    pub several: u64,
    /// Queries with several results, all of equal score.
    pub equal: u64,
    /// Queries with two checked lines that differ both in score and in rank column.
    pub compared: u64,
    /// Queries among `compared` with two such lines whose scores and ranks are contrary.
    pub contrary: u64,
    /// Queries whose order of labels changes if scores are compared as f32; 0 if scores are
    /// compared as f32 anyway.
    pub in_f32: u64,
    /// Queries whose best and worst score are whole numbers from 0 to 20, like grades; 0 unless
    /// most grades are fractions.
    pub whole: u64,
    /// Queries among `whole` whose scores may count their results, like reversed ranks.
    pub counted: u64,
    /// Queries whose rank column has decimals, while their scores count the lines.
    pub exchanged: u64,
    /// Queries whose scores come from arrays, where equal scores keep the order of their documents.
    pub in_arrays: u64,
    /// Queries among `in_arrays` in which the order of equal scores decides the first relevant
    /// document or the documents within the cutoff.
    pub decided: u64,
}

impl ScoreWarnings {
    /// Adds the counts of suspicious scores of further queries.
    pub fn merge(&mut self, mut other: Self) {
        add_counts(self.counts(), other.counts());
    }

    fn counts(&mut self) -> [&mut u64; 12] {
        let Self {
            ranked,
            judged,
            several,
            equal,
            compared,
            contrary,
            in_f32,
            whole,
            counted,
            exchanged,
            in_arrays,
            decided,
        } = self;
        [
            ranked, judged, several, equal, compared, contrary, in_f32, whole, counted, exchanged,
            in_arrays, decided,
        ]
    }

    /// Drops the counts of small whole scores, unless most grades of `book` are fractions. Small
    /// whole scores are strange only where most grades are fractions.
    #[must_use]
    pub fn beside(self, book: &Codebook) -> Self {
        let fractions = book.grades().iter().filter(|grade| grade.fract() != 0.0).count();
        if 2 * fractions > book.grades().len() {
            self
        } else {
            Self { whole: 0, counted: 0, ..self }
        }
    }

    /// Makes notices for the user from these counts of suspicious scores; `ties` is the order of
    /// equal scores.
    pub fn notices(&self, ties: TieBreak) -> Vec<Notice> {
        let equal = self.several > 0 && self.equal == self.several;
        let contrary = self.contrary > self.compared / 10;
        /// The least number of queries for which a lack of judged documents is strange.
        const STRANGE: u64 = 3;
        let strange = self.ranked >= STRANGE && self.judged == 0;
        [
            strange.then_some(Notice::NothingJudged { queries: self.ranked }),
            (self.ranked > 0 && self.whole == self.ranked && self.counted <= self.whole / 2)
                .then_some(Notice::ScoresLikeGrades { queries: self.ranked }),
            (self.exchanged > self.several / 2).then_some(Notice::ExchangedColumns {
                queries: self.exchanged,
                total: self.several,
            }),
            equal.then_some(Notice::EqualScores { queries: self.several, ties }),
            contrary
                .then_some(Notice::ContraryRanks { queries: self.contrary, total: self.compared }),
            (self.in_f32 > 0).then_some(Notice::TiesInF32 { queries: self.in_f32 }),
            (self.decided > self.in_arrays / 10)
                .then_some(Notice::DecidedByTies { queries: self.decided, total: self.in_arrays }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Adds the counts `more` to `sums`.
pub(super) fn add_counts<const N: usize>(sums: [&mut u64; N], more: [&mut u64; N]) {
    for (sum, count) in sums.into_iter().zip(more) {
        // Counts come from files, too, so a sum may exceed 64 bits.
        *sum = sum.saturating_add(*count);
    }
}

/// A message to the user about scores that may mislead, such as equal scores in all rankings. A
/// notice changes no score.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// No retrieved document is in the qrels of its query, in any query: perhaps the ids are
    /// written differently.
    NothingJudged {
        /// The number of queries with results.
        queries: u64,
    },
    /// All results of a query have the same score, in every query with several results: the ranking
    /// is only the order of equal scores.
    EqualScores {
        /// The number of queries with several results.
        queries: u64,
        /// The order of equal scores.
        ties: TieBreak,
    },
    /// In more than a tenth of the queries, scores and the rank column are contrary: of two lines
    /// of a query, one has the higher score and the other the better rank. A few lines of each
    /// query are checked, first and last line included, in text with the lines of each query
    /// together.
    ContraryRanks {
        /// The number of queries with contrary scores and ranks.
        queries: u64,
        /// The number of checked queries: queries with two different numbers in both columns.
        total: u64,
    },
    /// In more than a tenth of the queries of arrays, documents of different grades have equal
    /// scores, and their order decides the first relevant document or the documents within the
    /// cutoff. The value then depends on the order of the input.
    DecidedByTies {
        /// The number of such queries.
        queries: u64,
        /// The number of all queries with scores of arrays.
        total: u64,
    },
    /// Most grades of the judgments are fractions, and all scores are small whole numbers:
    /// judgments and run are probably exchanged.
    ScoresLikeGrades {
        /// The number of queries with results.
        queries: u64,
    },
    /// In most queries the rank column has decimals and the scores count the lines: the two columns
    /// are probably exchanged.
    ExchangedColumns {
        /// The number of such queries.
        queries: u64,
        /// The number of queries with several results.
        total: u64,
    },
    /// Scores that differ as f64 are equal as f32, and the order of equal scores then changes the
    /// order of the labels.
    TiesInF32 {
        /// The number of such queries.
        queries: u64,
    },
    /// No judgment has a relevant grade under these measures, so the measures find no relevant
    /// document.
    NothingRelevant {
        /// The names of the measures.
        measures: Vec<String>,
        /// The lowest grade that counts as relevant.
        level: f64,
        /// The highest grade.
        highest: f64,
    },
    /// Some grades lie between 0 and the lowest relevant grade, which is 1 by default.
    FractionsNotRelevant {
        /// The names of the measures.
        measures: Vec<String>,
        /// The lowest grade above 0.
        lowest: f64,
    },
    /// The lowest grade is 1, which is relevant by default, and the highest grade is 5 or 10, as of
    /// ratings.
    LowestRelevant {
        /// The names of the measures.
        measures: Vec<String>,
        /// The highest grade.
        highest: f64,
    },
    /// These measures take the largest grade of a document that several judges have graded, or that
    /// is judged for several subtopics.
    MaxOverFacets {
        /// The meaning of the groups.
        by: FacetKind,
        /// The names of the measures.
        measures: Vec<String>,
    },
    /// Queries that were chosen are not judged.
    SelectedNotJudged {
        /// The number of these queries.
        queries: u64,
    },
    /// Evaluated queries are in no group.
    Ungrouped {
        /// The number of these queries.
        queries: u64,
    },
    /// No judged query is in these groups.
    EmptyGroups {
        /// The names of the groups.
        groups: Vec<String>,
        /// The number of all groups.
        total: usize,
    },
    /// The merge of summaries could not check for queries counted twice, because the queries are
    /// too many or have no ids.
    OverlapNotChecked,
    /// The averages of these measures depend on the order of equal scores by more than a hundredth.
    TieSensitive {
        /// The names of the measures.
        measures: Vec<String>,
    },
    /// Queries without relevant documents have no value under these measures, and no average
    /// includes such queries.
    SkippedQueries {
        /// The names of the measures.
        measures: Vec<String>,
        /// The number of these queries; if runs differ, the largest number of a run.
        queries: u64,
    },
    /// The averages of these measures are over different numbers of queries from run to run, so no
    /// run is the best.
    UnlikeQueries {
        /// The names of the measures.
        measures: Vec<String>,
        /// The least and the largest number of queries.
        queries: [u64; 2],
    },
    /// A measure with a cutoff divides by all true neighbours of a query, which are more than the
    /// cutoff.
    AllNeighbours {
        /// The name of the measure.
        measure: String,
        /// Its cutoff.
        rank: u32,
        /// The number of true neighbours of a query.
        neighbours: usize,
    },
    /// One query has neither a standard deviation nor a confidence interval.
    OneQuery,
    /// Results repeat a unit, and keep their ranks without counting.
    DuplicatesBlank {
        /// The number of these results.
        repeated: u64,
        /// The number of all results.
        results: u64,
    },
    /// Ids contain the text of the unit rule more than once, and two rules differ for such ids.
    AmbiguousDelimiter {
        /// The number of results with such ids.
        ids: u64,
        /// The text.
        text: String,
    },
    /// Scores below 0 were added up, so further results make a unit worse.
    NegativeSums {
        /// The number of results with such scores.
        results: u64,
    },
}

impl Notice {
    /// Returns whether the notice says that scores are probably not the intended ones. A warning is
    /// shown even without notes.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::NothingJudged { .. }
                | Self::EmptyGroups { .. }
                | Self::ScoresLikeGrades { .. }
                | Self::ExchangedColumns { .. }
                | Self::DecidedByTies { .. }
        )
    }
}

/// Returns the first five names of measures or of groups of queries as text, with the number of the
/// rest.
fn few(names: &[String]) -> String {
    /// The largest number of names.
    const NAMED: usize = 5;
    let (first, more) = names.split_at(names.len().min(NAMED));
    let first = first.join(", ");
    if more.is_empty() { first } else { format!("{first} and {} more", more.len()) }
}

/// Writes the sentence of a notice about the scores or the documents of a run.
fn seen_said(notice: &Notice, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match notice {
        Notice::NothingJudged { queries } => write!(
            f,
            "no retrieved document is judged, in any of its {queries} queries: compare the \
             document ids with those of \
             the judgments, and check for extra spaces, quotes or leading zeros"
        ),
        Notice::ScoresLikeGrades { queries } => write!(
            f,
            "most grades are fractions, and all scores are small whole numbers, in all {queries} \
             queries with results: are judgments \
             and run exchanged? The order is QRELS RUN"
        ),
        Notice::ExchangedColumns { queries, total } => write!(
            f,
            "the rank column has decimals and the scores count 1, 2, 3 in {queries} of {total} \
             queries: are the two columns exchanged? \
             awk '{{ print $1, $2, $3, $5, $4, $6 }}' puts them right"
        ),
        Notice::EqualScores { ties, .. } => write!(
            f,
            "all results of a query have the same score, in every query: they are ordered {}",
            order_said(*ties)
        ),
        Notice::ContraryRanks { queries, total } => write!(
            f,
            "scores and the rank column contradict each other in {queries} of {total} queries (by \
             a few lines of each): \
             the order follows the scores, the highest first"
        ),
        Notice::DecidedByTies { queries, total } => write!(
            f,
            "in {queries} of {total} queries documents of different grades have equal scores, and \
             their order in the arrays decides which is \
             relevant first, or within the cutoff: ties=\"average\" takes the mean over all orders"
        ),
        Notice::TiesInF32 { queries } => write!(
            f,
            "different scores are equal as f32 in {queries} {}: trec_eval 9 and pytrec_eval order \
             the \
             documents differently there, and so does --score-type f32",
            if *queries == 1 { "query" } else { "queries" }
        ),
        // Other functions write the remaining notices.
        _ => Ok(()),
    }
}

/// Writes the sentence of a notice about grades and levels of relevance, about units (the documents
/// that retrieved chunks count for), or about chosen queries and groups of queries.
fn inputs_said(notice: &Notice, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match notice {
        Notice::NothingRelevant { measures, level, highest } => write!(
            f,
            "{}: nothing is relevant, because no grade is {} (the highest is {highest}): \
             --rel or rel= sets the lowest relevant grade",
            few(measures),
            Level(*level).in_words()
        ),
        Notice::FractionsNotRelevant { measures, lowest } => write!(
            f,
            "{}: grades below 1 are not relevant (the lowest above 0 is {lowest}): --rel or rel= \
             sets the lowest relevant grade",
            few(measures)
        ),
        Notice::LowestRelevant { measures, highest } => write!(
            f,
            "{}: every judged document is relevant, because the lowest of the grades, 1 to \
             {highest}, is: --rel or rel= sets the lowest \
             relevant grade",
            few(measures)
        ),
        Notice::DuplicatesBlank { repeated, results } => {
            let repeat = if *repeated == 1 { "repeats" } else { "repeat" };
            write!(f, "{repeated} of {results} results {repeat} a unit (--aggregate blank)")
        }
        Notice::AmbiguousDelimiter { ids, text } => {
            let have = if *ids == 1 { "id has" } else { "ids have" };
            write!(
                f,
                "{ids} {have} '{text}' twice: before:{text} takes what is before the last, \
                 before-first:{text} before the first"
            )
        }
        Notice::NegativeSums { results } => {
            let have = if *results == 1 { "result has a score" } else { "results have scores" };
            write!(
                f,
                "{results} {have} below 0, so the sum of a unit is the lower the more results it \
                 has: --aggregate mean or max does not count them"
            )
        }
        Notice::SelectedNotJudged { queries } => {
            let are = if *queries == 1 { "is" } else { "are" };
            write!(f, "{queries} of the chosen queries {are} not judged")
        }
        Notice::EmptyGroups { groups, .. } => {
            let group = if groups.len() == 1 { "group" } else { "groups" };
            write!(f, "no judged query is in the {group} {}", few(groups))
        }
        Notice::Ungrouped { queries: 1 } => f.write_str("1 query is in no group"),
        Notice::Ungrouped { queries } => write!(f, "{queries} queries are in no group"),
        // Other functions write the remaining notices.
        _ => Ok(()),
    }
}

/// Describes the order of equal scores in words, such as by document id.
fn order_said(ties: TieBreak) -> &'static str {
    match ties {
        TieBreak::DocnoDescending => "by document id, descending",
        TieBreak::DocnoAscending => "by document id, ascending",
        TieBreak::Input => "as in the input",
        TieBreak::Rank => "by the rank column",
    }
}

impl fmt::Display for Notice {
    /// Writes the notice as a sentence for the user, without the name of the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingJudged { .. }
            | Self::ScoresLikeGrades { .. }
            | Self::ExchangedColumns { .. }
            | Self::EqualScores { .. }
            | Self::ContraryRanks { .. }
            | Self::DecidedByTies { .. }
            | Self::TiesInF32 { .. } => seen_said(self, f),
            Self::MaxOverFacets { by, measures } => write!(
                f,
                "{}: a document with several judgments, by {by}, counts with its largest grade",
                few(measures)
            ),
            Self::NothingRelevant { .. }
            | Self::FractionsNotRelevant { .. }
            | Self::LowestRelevant { .. }
            | Self::DuplicatesBlank { .. }
            | Self::AmbiguousDelimiter { .. }
            | Self::NegativeSums { .. }
            | Self::SelectedNotJudged { .. }
            | Self::EmptyGroups { .. }
            | Self::Ungrouped { .. } => inputs_said(self, f),
            Self::TieSensitive { measures } => write!(
                f,
                "{}: the order of equal scores moves the average by more than 1 %",
                measures.join(", ")
            ),
            Self::OverlapNotChecked => {
                f.write_str("whether a query was counted twice could not be checked")
            }
            Self::SkippedQueries { measures, queries } => {
                let (query, is, it) =
                    if *queries == 1 { ("query", "is", "it") } else { ("queries", "are", "them") };
                write!(
                    f,
                    "{}: {queries} {query} {is} left out, because nothing is relevant for {it} \
                     (no_relevant=skip)",
                    few(measures)
                )
            }
            Self::UnlikeQueries { measures, queries: [least, most] } => write!(
                f,
                "{}: the averages are of {least} to {most} queries from run to run, so none is \
                 marked as the best: `laneval compare` takes \
                 the same queries for all",
                few(measures)
            ),
            Self::AllNeighbours { measure, rank, neighbours } => write!(
                f,
                "{measure} divides by all {neighbours} true neighbours; NNR@{rank} is the recall \
                 of nearest neighbours"
            ),
            Self::OneQuery => {
                f.write_str("one query has neither a standard deviation nor a confidence interval")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parts_have_seen_adds_up_and_is_judged_as_a_whole() {
        let ties = TieBreak::Input;
        // Queries that are ranked, judged, several, equal, compared, contrary, in_f32, whole,
        // counted, exchanged, in_arrays and decided.
        let counts = |numbers: [u64; 12]| {
            let mut counts = ScoreWarnings::default();
            std::iter::zip(counts.counts(), numbers).for_each(|(to, number)| *to = number);
            counts
        };
        let mut all = counts([3, 0, 2, 2, 3, 2, 1, 3, 1, 2, 9, 1]);
        assert_eq!(
            all.notices(ties),
            [
                Notice::NothingJudged { queries: 3 },
                Notice::ScoresLikeGrades { queries: 3 },
                Notice::ExchangedColumns { queries: 2, total: 2 },
                Notice::EqualScores { queries: 2, ties },
                Notice::ContraryRanks { queries: 2, total: 3 },
                Notice::TiesInF32 { queries: 1 },
                Notice::DecidedByTies { queries: 1, total: 9 },
            ]
        );
        all.merge(counts([3, 1, 3, 2, 17, 0, 4, 2, 2, 0, 2, 0]));
        assert_eq!(all, counts([6, 1, 5, 4, 20, 2, 5, 5, 3, 2, 11, 1]));
        assert_eq!(
            all.notices(ties),
            [Notice::TiesInF32 { queries: 5 }],
            "neither in all queries, nor in most, nor in more than a tenth"
        );
        let most =
            ScoreWarnings { compared: u64::MAX, contrary: u64::MAX, ..ScoreWarnings::default() };
        all.merge(most);
        assert_eq!((all.compared, all.notices(ties).len()), (u64::MAX, 2));
        assert_eq!(ScoreWarnings::default().notices(ties), []);
    }
}

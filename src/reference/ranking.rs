//! A ranking as the reference formulas see it: its labels, with the judgments of its query.

use crate::matrix::{
    Codebook, CodesAbove, ExactHistogram, GradeHistogram, QueryFacets, SpanRanking, Tie, code,
};

/// The labels of a ranking, with the judgments of its query, as the reference formulas read them.
#[derive(Debug, Clone, Copy)]
pub struct Ranking<'a> {
    /// The labels in rank order, without padding.
    pub labels: &'a [u8],
    /// The number of documents of the qrels that carry each code.
    pub facts: GradeHistogram<'a>,
    /// The meaning of the codes.
    pub book: &'a Codebook,
    /// The exact grades, if codes are classes of grades.
    pub exact: Option<ReferenceGrades<'a>>,
    /// The judgments by facet, if judgments were read by facet.
    pub facets: Option<RankedFacets<'a>>,
    /// The results as passages, if judgments are by span.
    pub spans: Option<SpanRanking<'a>>,
    /// The tied groups with a graded document, from the first rank on, if ties are known.
    pub ties: &'a [Tie],
}

/// The judgments of a query by facet, such as subtopics, and the ranks of the documents that they
/// judge.
#[derive(Debug, Clone, Copy)]
pub struct RankedFacets<'a> {
    /// The judgments.
    pub judged: QueryFacets<'a>,
    /// The ranks (from 0) of the ranking's named documents, with their numbers.
    pub named: &'a [(u32, u32)],
}

/// The exact grades of the judged documents of a ranking and of its query.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceGrades<'a> {
    /// The grades of the judged documents of the ranking, in rank order.
    pub grades: &'a [f64],
    /// The grades of the judged documents of the query.
    pub judged: ExactHistogram<'a>,
}

/// A retrieved document as the reference formulas see it: not in the qrels, of negative grade, or
/// judged.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum DocumentJudgment {
    /// Not in the qrels.
    Unpooled,
    /// In the qrels with a negative grade.
    Negative,
    /// With a grade ≥ 0.
    Judged(f64),
}

impl DocumentJudgment {
    /// Returns whether the retrieved document is judged and its grade reaches the level of
    /// relevance.
    pub(super) fn is_relevant(self, level: f64) -> bool {
        matches!(self, Self::Judged(grade) if grade >= level)
    }

    /// Returns whether the retrieved document is judged and not relevant.
    pub(super) fn is_nonrelevant(self, level: f64) -> bool {
        matches!(self, Self::Judged(grade) if grade < level)
    }

    /// Returns whether the retrieved document has a grade ≥ 0.
    pub(super) fn is_judged(self) -> bool {
        matches!(self, Self::Judged(_))
    }
}

impl<'a> Ranking<'a> {
    fn document(&self, code: u8) -> DocumentJudgment {
        match code {
            code::NOT_IN_QRELS => DocumentJudgment::Unpooled,
            code::NEGATIVE => DocumentJudgment::Negative,
            // Codes behind the grades come only from unverified files.
            code => {
                self.book.grade(code).map_or(DocumentJudgment::Unpooled, DocumentJudgment::Judged)
            }
        }
    }

    /// Returns the first `k` documents of the ranking with their ranks from 1; all without `k`.
    pub(super) fn top(
        &self,
        k: Option<u32>,
    ) -> impl Iterator<Item = (usize, DocumentJudgment)> + '_ {
        let k = k.map_or(usize::MAX, |k| k as usize);
        let mut grades = self.exact.map_or(&[][..], |exact| exact.grades).iter();
        self.labels.iter().take(k).enumerate().map(move |(index, &code)| {
            let exact = self.exact.filter(|_| CodesAbove::JUDGED.contains(code));
            let document = match exact {
                Some(_) => DocumentJudgment::Judged(grades.next().copied().unwrap_or(0.0)),
                None => self.document(code),
            };
            (index + 1, document)
        })
    }

    /// Returns, for each rank i of the ranking, e(i): the last rank with the score of that rank.
    pub(super) fn last_ranks(&self) -> Vec<usize> {
        let mut last: Vec<usize> = (1..=self.labels.len()).collect();
        for group in self.ties {
            let end = group.end() as usize;
            if let Some(ranks) = last.get_mut(group.start as usize..end) {
                ranks.fill(end);
            }
        }
        last
    }

    /// Returns r(k), the number of relevant documents among the first `k` of the ranking.
    pub(super) fn hits(&self, level: f64, k: Option<u32>) -> f64 {
        self.top(k).filter(|(_, document)| document.is_relevant(level)).count() as f64
    }

    /// Returns the judged documents of the query, as the number of documents of each grade.
    pub(super) fn judged(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        let of_codes = self.facts.iter().filter(|_| self.exact.is_none());
        let of_codes = of_codes.filter_map(|(code, count)| Some((self.book.grade(code)?, count)));
        of_codes.chain(self.exact.iter().flat_map(|exact| exact.judged.iter()))
    }

    /// Returns R, the number of relevant documents of the query.
    pub(super) fn relevant(&self, level: f64) -> f64 {
        self.judged()
            .filter(|&(grade, _)| grade >= level)
            .map(|(_, count)| u64::from(count))
            .sum::<u64>() as f64
    }

    /// Returns n, the number of documents retrieved for the query.
    pub(super) fn retrieved(&self) -> f64 {
        self.labels.len() as f64
    }
}

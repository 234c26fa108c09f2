//! Values of a ranking for each judge of its query, and their combination into one value.
//!
//! The ranking is made once. For each judge, the ranking gets the labels of the judge's grades, and
//! the reference function of the measure values the ranking.

use rayon::prelude::*;

use super::viewed_ties::ViewedTies;
use crate::facets::Judges;
use crate::matrix::code::{FIRST_GRADE, GradeRange, NEGATIVE, NOT_IN_QRELS};
use crate::matrix::{
    Batch, Codebook, CodesAbove, ExactHistograms, FacetJudgment, Facets, GradeHistograms,
    QueryFacets, View,
};
use crate::reference::{Ranking, ReferenceGrades};

/// An evaluator of rankings for each judge of each query, with the grades of the judges.
pub(super) struct JudgeEvaluator<'a> {
    queries: Vec<Vec<JudgeCodes>>,
    /// The codebook of a single class, with the extent of all grades.
    book: Codebook,
    view: View,
    /// The groups of equal scores, if a measure needs them.
    together: Option<ViewedTies<'a>>,
}

/// The grades that a judge gave to the documents of a query.
struct JudgeCodes {
    /// The documents that the judge has graded, by number, with their grades.
    graded: Vec<(u32, f64)>,
    /// The grades as the facts of a single query.
    facts: GradeHistograms,
    exact: ExactHistograms,
}

impl<'a> JudgeEvaluator<'a> {
    pub fn new(grouped: &Facets, view: View, together: Option<ViewedTies<'a>>) -> Self {
        // The extent is that of all judges, because a scale that follows from the largest grade
        // must be the same for each judge.
        let grades = grouped.judgments.values().iter().map(|judgment| judgment.grade);
        let extent = GradeRange::from_grades(grades.filter(|&grade| grade >= 0.0))
            .unwrap_or(GradeRange::NONE);
        let queries = (0..grouped.judgments.len()).into_par_iter();
        Self {
            queries: queries.map(|query| JudgeCodes::all(grouped.get(query))).collect(),
            book: Codebook::single_class(extent),
            view,
            together,
        }
    }

    /// Returns the value of a ranking with `labels`, combined over all judges of its query;
    /// `function` computes the value for a single judge.
    pub fn value(
        &self,
        batch: &Batch<'_>,
        row: u32,
        rule: Judges,
        labels: &[u8],
        function: impl Fn(&Ranking<'_>) -> f64,
    ) -> f64 {
        let numbers = batch.facet_rows().map_or(&[][..], |grouped| grouped.rows.row(row as usize));
        let judges = self.queries[batch.query(row)].iter();
        let values: Vec<f64> =
            judges.map(|judge| judge.value(self, row, labels, numbers, &function)).collect();
        rule.aggregate(values.into_iter())
    }
}

impl JudgeCodes {
    /// Returns the grades of each judge of a query, in the order of the judges' numbers.
    fn all(query: QueryFacets<'_>) -> Vec<JudgeCodes> {
        let mut judgments: Vec<_> = query.judgments.iter().collect();
        judgments.sort_by_key(|judgment| (judgment.group, judgment.document));
        judgments.chunk_by(|one, next| one.group == next.group).map(Self::new).collect()
    }

    /// Makes the grades of one judge for a query from the judge's judgments, which ascend by
    /// document.
    fn new(judgments: &[&FacetJudgment]) -> Self {
        let (mut facts, mut exact) = (GradeHistograms::new(), ExactHistograms::default());
        let grades = judgments.iter().map(|judgment| judgment.grade);
        facts.push(grades.clone().map(|grade| if grade < 0.0 { NEGATIVE } else { FIRST_GRADE }));
        exact.push(&mut grades.filter(|&grade| grade >= 0.0).collect::<Vec<_>>());
        let graded = judgments.iter().map(|judgment| (judgment.document, judgment.grade)).collect();
        Self { graded, facts, exact }
    }

    /// Returns the judge's grade of a document, if the judge has graded it.
    fn grade(&self, number: u32) -> Option<f64> {
        let at = self.graded.binary_search_by_key(&number, |&(document, _)| document).ok()?;
        Some(self.graded[at].1)
    }

    /// Computes the value of a ranking with `labels` under the judge's grades; its documents in the
    /// qrels have `numbers`.
    fn value(
        &self,
        judges: &JudgeEvaluator<'_>,
        row: u32,
        labels: &[u8],
        numbers: &[u32],
        function: impl Fn(&Ranking<'_>) -> f64,
    ) -> f64 {
        let (mut own, mut grades) = (Vec::with_capacity(labels.len()), Vec::new());
        let mut numbers = numbers.iter();
        for &label in labels {
            // A document that some judge has graded takes a number even if this judge has not, so
            // numbers stay in step with labels.
            let named = CodesAbove::IN_QRELS.contains(label).then(|| numbers.next()).flatten();
            own.push(match named.and_then(|&number| self.grade(number)) {
                None => NOT_IN_QRELS,
                Some(grade) if grade < 0.0 => NEGATIVE,
                Some(grade) => {
                    grades.push(grade);
                    FIRST_GRADE
                }
            });
        }
        // Before the view, because the groups are counted in ranks of the stored ranking.
        let ties = judges.together.map_or(Vec::new(), |together| together.groups(row, &own));
        judges.view.apply_to_row(&mut own);
        function(&Ranking {
            labels: &own,
            facts: self.facts.get(0),
            book: &judges.book,
            exact: Some(ReferenceGrades { grades: &grades, judged: self.exact.get(0) }),
            facets: None,
            spans: None,
            ties: &ties,
        })
    }
}

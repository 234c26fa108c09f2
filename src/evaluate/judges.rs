//! Values for each judge of a query, and their combination into one value.
//!
//! The ranking is made once. For each judge, the ranking gets the labels of the judge's grades, and
//! the reference function of the measure values the ranking.

use rayon::prelude::*;

use super::together::GroupsUnderView;
use crate::facets::Judges;
use crate::matrix::code::{Extent, FIRST_GRADE, NEGATIVE, UNPOOLED};
use crate::matrix::{
    Above, Batch, Codebook, ExactFacts, Facets, Facts, QueryFacets, TiedGroup, View,
};
use crate::reference::{Ranking, ReferenceGrades};

/// The groups of equal scores among the labels of a ranking.
type TiesOfLabels<'a> = dyn Fn(&[u8]) -> Vec<TiedGroup> + Sync + 'a;

/// The grades of each judge of each query.
pub(super) struct JudgedQueries {
    queries: Vec<Vec<Judge>>,
    /// The codebook of a single class, with the extent of all grades.
    book: Codebook,
}

/// The grades of a judge for a query.
struct Judge {
    /// The documents that the judge has graded, by number, with their grades.
    graded: Vec<(u32, f64)>,
    /// The grades as the facts of a single query.
    facts: Facts,
    exact: ExactFacts,
}

impl JudgedQueries {
    pub fn new(grouped: &Facets) -> Self {
        let grades = grouped.judgments.values().iter().map(|judgment| judgment.grade);
        let extent = Extent::of(grades.filter(|&grade| grade >= 0.0)).unwrap_or(Extent::NONE);
        let of_query = |query: usize| Judge::all(grouped.of(query));
        let queries = (0..grouped.judgments.len()).into_par_iter().map(of_query).collect();
        JudgedQueries { queries, book: Codebook::of_extent(extent) }
    }

    /// Returns the value of a ranking with `labels` over all its judges; `of` computes the value
    /// for a single judge.
    pub fn value(
        &self,
        batch: &Batch<'_>,
        row: u32,
        rule: Judges,
        labels: &[u8],
        (view, together): (View, Option<GroupsUnderView<'_>>),
        of: impl Fn(&Ranking<'_>) -> f64,
    ) -> f64 {
        let ties = |own: &[u8]| together.map_or(Vec::new(), |together| together.groups(row, own));
        let numbers = batch.facet_rows().map_or(&[][..], |grouped| grouped.rows.of(row as usize));
        let judges = &self.queries[batch.query(row)];
        let values: Vec<f64> = judges
            .iter()
            .map(|judge| judge.value(&self.book, labels, numbers, (view, &ties), &of))
            .collect();
        rule.of(values.into_iter())
    }
}

impl Judge {
    /// The judges of a query, in the order of their numbers.
    fn all(query: QueryFacets<'_>) -> Vec<Judge> {
        let mut judgments: Vec<_> = query.judgments.iter().collect();
        judgments.sort_by_key(|judgment| (judgment.group, judgment.document));
        let of_judge = |of: &[&crate::matrix::FacetJudgment]| {
            let graded = of.iter().map(|judgment| (judgment.document, judgment.grade)).collect();
            let code = |grade: f64| if grade < 0.0 { NEGATIVE } else { FIRST_GRADE };
            let (mut facts, mut exact) = (Facts::new(), ExactFacts::default());
            facts.push(of.iter().map(|judgment| code(judgment.grade)));
            let mut judged: Vec<f64> =
                of.iter().map(|judgment| judgment.grade).filter(|&grade| grade >= 0.0).collect();
            exact.push(&mut judged);
            Judge { graded, facts, exact }
        };
        judgments.chunk_by(|one, next| one.group == next.group).map(of_judge).collect()
    }

    /// The grade of a document, if the judge has graded it.
    fn grade(&self, number: u32) -> Option<f64> {
        let at = self.graded.binary_search_by_key(&number, |&(of, _)| of).ok()?;
        Some(self.graded[at].1)
    }

    fn value(
        &self,
        book: &Codebook,
        labels: &[u8],
        numbers: &[u32],
        (view, ties): (View, &TiesOfLabels<'_>),
        of: impl Fn(&Ranking<'_>) -> f64,
    ) -> f64 {
        let (mut own, mut grades) = (Vec::with_capacity(labels.len()), Vec::new());
        let mut numbers = numbers.iter();
        for &label in labels {
            let named = Above::POOLED.contains(label).then(|| numbers.next()).flatten();
            own.push(match named.and_then(|&number| self.grade(number)) {
                None => UNPOOLED,
                Some(grade) if grade < 0.0 => NEGATIVE,
                Some(grade) => {
                    grades.push(grade);
                    FIRST_GRADE
                }
            });
        }
        let ties = ties(&own);
        view.of_row(&mut own);
        let exact = Some(ReferenceGrades { grades: &grades, judged: self.exact.of(0) });
        of(&Ranking {
            labels: &own,
            facts: self.facts.of(0),
            book,
            exact,
            facets: None,
            spans: None,
            ties: &ties,
        })
    }
}

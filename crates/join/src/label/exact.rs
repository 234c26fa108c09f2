//! The exact grades of judged documents, beside their labels, where there are too many distinct ones for a code each.
//!
//! The stored label of every judged document is the code of a single class then. Before folds run, it becomes that of a class between the
//! levels that the measures ask for; gains follow from the exact grade.
//!
//! ```text
//! codebook        one class, code 3, for all grades ≥ 0             the labels that are stored
//! measures ask    rel=1, rel=2.5                                     levels, from the plan
//! classes         [0, 1) = 3   [1, 2.5) = 4   [2.5, ∞) = 5           the labels that kernels see, in a copy of the tile
//! row's grades    0.3 2.75 1.0 …  in rank order                      the k-th judged label of a row belongs to the k-th grade
//! ```
//!
//! So thresholds and counts run in the kernels that know nothing of this, and only gains look at grades. Labels of two bytes would need a
//! second copy of every kernel; this costs 8 bytes for each judged document that was retrieved, which are few. Where all documents are
//! judged it is felt: eight bytes are read beside each label (benches/RESULTS.md). `classes.rs` makes the labels.
//!
//! Facts keep running sums, `upto`: the number of documents in a class is a difference of two, each found by binary search, so a codebook
//! of L levels costs L log n for a query and not a pass over its grades. Sums of integers are exact, so classes have the counts that codes
//! would.

use std::ops::Range;

use rayon::prelude::*;

use super::code::{Above, Codebook, Extent, FIRST_GRADE, NEGATIVE};
use super::facts::Facts;
use super::ragged::{Ragged, are_ends, pieces, range_of};

/// The number of queries whose facts are made at once.
const PIECE: usize = 1 << 10;

/// The exact grades of some queries: their distinct grades ≥ 0, ascending, each with the number of documents that have it or a lower one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExactFacts {
    /// The end of each query.
    ends: Vec<u64>,
    grades: Vec<f64>,
    upto: Vec<u32>,
}

/// The exact grades of one query.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryGrades<'a> {
    grades: &'a [f64],
    upto: &'a [u32],
}

impl<'a> QueryGrades<'a> {
    /// The distinct grades, ascending, each with its number of documents.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (f64, u32)> + Clone + use<'a> {
        let QueryGrades { grades, upto } = *self;
        (0..grades.len()).map(move |at| {
            let below = at.checked_sub(1).map_or(0, |below| upto[below]);
            (grades[at], upto[at] - below)
        })
    }

    /// The number of documents with a grade below a level.
    fn below(&self, level: f64) -> u32 {
        let first = self.grades.partition_point(|&grade| grade < level);
        first.checked_sub(1).map_or(0, |last| self.upto[last])
    }
}

impl ExactFacts {
    /// Appends a query whose judged documents have these grades ≥ 0, which are sorted here.
    pub fn push(&mut self, grades: &mut [f64]) {
        grades.sort_unstable_by(f64::total_cmp);
        let mut upto = 0;
        for alike in grades.chunk_by(|one, next| one == next) {
            upto += alike.len() as u32;
            self.grades.push(alike[0]);
            self.upto.push(upto);
        }
        self.ends.push(self.grades.len() as u64);
    }

    /// Appends a query with these distinct grades, ascending, and their numbers of documents.
    pub fn push_query(&mut self, query: QueryGrades<'_>) {
        self.grades.extend_from_slice(query.grades);
        self.upto.extend_from_slice(query.upto);
        self.ends.push(self.grades.len() as u64);
    }

    /// Appends the queries of `others`.
    pub fn append(&mut self, others: &ExactFacts) {
        let before = self.grades.len() as u64;
        self.ends.extend(others.ends.iter().map(|end| before + end));
        self.grades.extend_from_slice(&others.grades);
        self.upto.extend_from_slice(&others.upto);
    }

    /// Forgets all queries.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.grades.clear();
        self.upto.clear();
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The grades of one query.
    pub fn of(&self, query: usize) -> QueryGrades<'_> {
        let range = range_of(&self.ends, query);
        QueryGrades { grades: &self.grades[range.clone()], upto: &self.upto[range] }
    }

    /// The extent of all grades.
    pub fn extent(&self) -> Option<Extent> {
        // The least grade above 0 of a query is its first or its second one.
        let ends = |query: usize| {
            let grades = self.of(query).grades;
            grades.iter().take(2).chain(grades.last()).copied()
        };
        Extent::of((0..self.len()).flat_map(ends))
    }

    /// All distinct grades, ascending.
    pub fn distinct(&self) -> Vec<f64> {
        let mut grades = self.grades.clone();
        grades.par_sort_unstable_by(f64::total_cmp);
        grades.dedup();
        grades
    }

    /// The facts of the queries by the classes of a codebook; `facts` are those by a single class, with the negative grades.
    pub fn classed(&self, facts: &Facts, book: &Codebook) -> Facts {
        let of_piece = |queries: Range<usize>| {
            let mut classed = Facts::new();
            for query in queries {
                let negative = facts.of(query).iter().filter(|&(code, _)| code == NEGATIVE);
                let grades = self.of(query);
                let all = grades.upto.last().copied().unwrap_or(0);
                // All grades are at least 0, the bound of the first class.
                let ends = book.grades().iter().skip(1).map(|&bound| grades.below(bound)).chain([all]);
                let mut below = 0;
                let classes = (FIRST_GRADE..).zip(ends).map(|(code, end)| {
                    // Invariant: bounds ascend, so the difference is not negative.
                    let count = end - below;
                    below = end;
                    (code, count)
                });
                classed.push_counts(negative.chain(classes.filter(|&(_, count)| count > 0)));
            }
            classed
        };
        let parts: Vec<Facts> = pieces(self.len(), PIECE).into_par_iter().map(of_piece).collect();
        let mut all = Facts::new();
        parts.iter().for_each(|part| all.append(part));
        all
    }

    /// Makes the grades of the columns of a file, and checks them: those of a query are finite, not negative, distinct and ascending, and
    /// as many documents have one as its facts say.
    pub(super) fn from_columns(
        ends: Vec<u64>,
        grades: Vec<f64>,
        counts: Vec<u32>,
        facts: &Facts,
    ) -> Result<Self, String> {
        if !are_ends(&ends, grades.len()) || grades.len() != counts.len() || ends.len() != facts.len() {
            return Err("ends, grades and counts do not fit together".to_owned());
        }
        let mut upto = counts;
        for query in 0..ends.len() {
            let range = range_of(&ends, query);
            let of_query = &grades[range.clone()];
            let fine = |grade: &f64| grade.is_finite() && grade.is_sign_positive();
            let ascend = of_query.iter().all(fine) && of_query.is_sorted_by(|one, next| one < next);
            if !ascend || upto[range.clone()].contains(&0) {
                return Err(format!(
                    "query {}: its grades are not finite, distinct and ascending",
                    query + 1
                ));
            }
            // Sums that wrap would be found below: a query has fewer than 2³² documents.
            let mut sum = 0u64;
            for count in &mut upto[range] {
                sum += u64::from(*count);
                *count = sum as u32;
            }
            if sum != facts.of(query).count(Above::JUDGED) {
                return Err(format!("query {}: not every judged document has an exact grade", query + 1));
            }
        }
        Ok(ExactFacts { ends, grades, upto })
    }

    /// The columns that a file has of the grades.
    pub(super) fn columns(&self) -> ExactColumns<'_> {
        let counts = (0..self.len()).flat_map(|query| self.of(query).iter().map(|(_, count)| count));
        ExactColumns { ends: &self.ends, grades: &self.grades, counts: counts.collect() }
    }
}

/// The distinct grades of all queries as columns.
pub(super) struct ExactColumns<'a> {
    /// The end of each query.
    pub ends: &'a [u64],
    pub grades: &'a [f64],
    /// The number of documents of each grade.
    pub counts: Vec<u32>,
}

/// The exact grades of queries and of rankings of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExactGrades {
    /// The grades of the judged documents of each query.
    pub facts: ExactFacts,
    /// The grades of the judged documents of each row.
    pub rows: Ragged<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_of_queries_are_distinct_and_counted_by_class() {
        let mut exact = ExactFacts::default();
        exact.push(&mut [0.5, 2.25, 0.5, 0.0]);
        exact.push(&mut []);
        exact.push(&mut [1.0]);
        assert_eq!(exact.of(0).iter().collect::<Vec<_>>(), [(0.0, 1), (0.5, 2), (2.25, 1)]);
        let mut facts = Facts::new();
        facts.push([2, 2, 3, 3, 3, 3]);
        facts.push([2]);
        facts.push([3]);
        let book = Codebook::of_extent(exact.extent().unwrap()).at_levels([0.25, 1.0]).unwrap();
        let classed = exact.classed(&facts, &book);
        let counts = |query: usize| classed.of(query).iter().collect::<Vec<_>>();
        assert_eq!(
            [counts(0), counts(1), counts(2)],
            [vec![(2, 2), (3, 1), (4, 2), (5, 1)], vec![(2, 1)], vec![(5, 1)]]
        );
        let ExactColumns { ends, grades, counts } = exact.columns();
        let (ends, grades, counts) = (ends.to_vec(), grades.to_vec(), counts.to_vec());
        assert_eq!(ExactFacts::from_columns(ends.clone(), grades.clone(), counts.clone(), &facts), Ok(exact));
        let wrong = ExactFacts::from_columns(ends.clone(), grades.clone(), vec![1; counts.len()], &facts);
        assert_eq!(wrong, Err("query 1: not every judged document has an exact grade".to_owned()));
        let wrong = ExactFacts::from_columns(ends, vec![-0.0, 0.5, 2.25, 1.0], counts, &facts);
        assert_eq!(wrong, Err("query 1: its grades are not finite, distinct and ascending".to_owned()));
    }
}

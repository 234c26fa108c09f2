//! The exact grades of judged documents, beside their labels, if there are too many distinct grades
//! for a code each.
//!
//! Then the stored label of every judged document is the code of a single class. Before folds run,
//! the label becomes the code of a class between the levels of the measures; gains follow from the
//! exact grade.
//!
//! ```text
//! codebook       one class, code 3, for all grades ≥ 0       the labels that are stored
//! measures ask   rel=1, rel=2.5                              levels, from the plan
//! classes        [0, 1) = 3   [1, 2.5) = 4   [2.5, ∞) = 5    the labels that kernels see, in a
//!                                                            copy of the tile
//! row's grades   0.3 2.75 1.0 …  in rank order               the k-th judged label of a row
//!                                                            belongs to the k-th grade
//! ```
//!
//! So thresholds and counts run in kernels without knowledge of exact grades, and only gains look
//! at grades. Labels of two bytes would need a second copy of every kernel. Exact grades cost 8
//! bytes for each judged document of a ranking, and few documents are judged. With all documents
//! judged, the cost is felt: eight bytes are read beside each label (benches/RESULTS.md).
//! `classes.rs` makes the labels.
//!
//! The number of documents in a class is a difference of two sums, each found by binary search. So
//! a codebook of L levels costs L log n for a query, and not a pass over its grades. Facts keep
//! these sums from the first grade of several documents on. Before this grade, the sums are the
//! places of the grades, and most grades of many digits belong to one document. Sums of integers
//! are exact, so classes have the same counts as codes.
//!
//! Grades of a file stay in the file, and so may change after their check (`mmap.rs`). Sums are a
//! copy.

use std::ops::Range;

use rayon::prelude::*;

use super::code::{Above, Codebook, Extent, FIRST_GRADE, NEGATIVE};
use super::column::Column;
use super::facts::Facts;
use super::ragged::{Ragged, pieces};

/// The number of queries whose facts are made at once.
const PIECE: usize = 1 << 10;

/// The exact grades of some queries: the distinct grades ≥ 0 of each query, ascending, with the
/// number of documents of each grade.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExactFacts {
    grades: Ragged<f64>,
    /// The number of documents up to each grade of their query, from its first grade of several
    /// documents on.
    upto: Ragged<u32>,
}

/// The exact grades of a single query.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryGrades<'a> {
    grades: &'a [f64],
    /// The sums at the last of the grades.
    upto: &'a [u32],
}

impl<'a> QueryGrades<'a> {
    /// The distinct grades, ascending, each with its number of documents.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (f64, u32)> + Clone + use<'a> {
        let query = *self;
        (0..query.grades.len())
            .map(move |at| (query.grades[at], query.upto(at + 1) - query.upto(at)))
    }

    /// The number of documents with one of the first `grades` grades.
    fn upto(&self, grades: usize) -> u32 {
        let alone = self.grades.len() - self.upto.len();
        grades.checked_sub(alone + 1).map_or(grades as u32, |at| self.upto[at])
    }
}

/// The places of the first grades from a level on, for each of some queries.
///
/// A search step waits for memory, and a machine can wait for many memory reads at once. So all
/// queries take each step together.
fn places_from(level: f64, queries: &[QueryGrades<'_>]) -> Vec<usize> {
    let most = queries.iter().map(|query| query.grades.len()).max().unwrap_or(0);
    let mut places = vec![0; queries.len()];
    let steps = (0..=most.checked_ilog2().unwrap_or(0)).rev().map(|bit| 1 << bit);
    for step in steps {
        for (place, query) in places.iter_mut().zip(queries) {
            // A product, for a branch could not be predicted.
            let is_below = query.grades.get(*place + step - 1).is_some_and(|&grade| grade < level);
            *place += step * usize::from(is_below);
        }
    }
    places
}

/// The sums that facts keep of a query, from its number of documents of each grade.
fn kept_sums(counts: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = u32> {
    let alone = counts.clone().take_while(|&count| count == 1).count();
    counts.skip(alone).scan(alone as u32, |sum, count| {
        *sum = sum.wrapping_add(count);
        Some(*sum)
    })
}

/// Whether all numbers are finite and not negative.
pub(crate) fn are_grades(numbers: &[f64]) -> bool {
    // The highest bit is the sign, and the next bits are the exponent. Only a number that is not
    // finite has an exponent of ones: adding 1 then flows into the sign.
    let flows = |number: &f64| {
        number.to_bits() | number.to_bits().wrapping_add(1 << (f64::MANTISSA_DIGITS - 1))
    };
    let fine = |piece: &[f64]| piece.iter().fold(0, |any, number| any | flows(number)) >> 63 == 0;
    numbers.par_chunks(1 << 16).all(fine)
}

impl ExactFacts {
    /// Appends a query with the grades ≥ 0 of its judged documents, and sorts `grades`.
    pub fn push(&mut self, grades: &mut [f64]) {
        grades.sort_unstable_by(f64::total_cmp);
        let alike = grades.chunk_by(|one, next| one == next);
        self.grades.push_each(alike.clone().map(|alike| alike[0]));
        self.upto.push_each(kept_sums(alike.map(|alike| alike.len() as u32)));
    }

    /// Appends a query with these distinct grades, ascending, and their numbers of documents.
    pub fn push_query(&mut self, query: QueryGrades<'_>) {
        self.grades.push(query.grades);
        self.upto.push(query.upto);
    }

    /// Appends the queries of `others`.
    pub fn append(&mut self, others: &ExactFacts) {
        self.grades.append(&others.grades);
        self.upto.append(&others.upto);
    }

    /// Forgets all queries.
    pub fn clear(&mut self) {
        self.grades.clear();
        self.upto.clear();
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.grades.len()
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.grades.is_empty()
    }

    /// The grades of one query.
    pub fn of(&self, query: usize) -> QueryGrades<'_> {
        QueryGrades { grades: self.grades.of(query), upto: self.upto.of(query) }
    }

    /// The extent of all grades.
    pub fn extent(&self) -> Option<Extent> {
        // The least grade above 0 of a query is its first or its second grade.
        let ends = |query: usize| {
            let grades = self.of(query).grades;
            grades.iter().take(2).chain(grades.last()).copied()
        };
        Extent::of((0..self.len()).flat_map(ends))
    }

    /// All distinct grades, ascending.
    pub fn distinct(&self) -> Vec<f64> {
        let mut grades = self.grades.values().to_vec();
        grades.par_sort_unstable_by(f64::total_cmp);
        grades.dedup();
        grades
    }

    /// The facts of the queries by the classes of a codebook; `facts` are the facts by a single
    /// class, with the negative grades.
    pub fn classed(&self, facts: &Facts, book: &Codebook) -> Facts {
        let of_piece = |queries: Range<usize>| {
            let grades: Vec<QueryGrades<'_>> =
                queries.clone().map(|query| self.of(query)).collect();
            // All grades are at least 0, the bound of the first class.
            let bounds: Vec<_> =
                book.grades().iter().skip(1).map(|&bound| places_from(bound, &grades)).collect();
            let mut classed = Facts::new();
            for (at, (query, grades)) in queries.zip(&grades).enumerate() {
                let negative = facts.of(query).iter().filter(|&(code, _)| code == NEGATIVE);
                let ends = bounds.iter().map(|places| places[at]).chain([grades.grades.len()]);
                let mut below = 0;
                let classes = (FIRST_GRADE..).zip(ends).map(|(code, end)| {
                    // Bounds ascend, and so do these ends, unless grades of a file change between
                    // two searches.
                    let first = below;
                    below = grades.upto(end).max(first);
                    (code, below - first)
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

    /// Builds the grades from the columns of a file, and checks the grades of each query: finite,
    /// not negative, distinct, ascending, and with as many documents as its facts count.
    pub(crate) fn from_columns(
        ends: Vec<u64>,
        grades: Column<f64>,
        counts: &[[u8; 4]],
        facts: &Facts,
    ) -> Result<Self, String> {
        let grades = Ragged::from_columns(ends, grades, facts.len());
        let grades = grades.filter(|grades| grades.values().len() == counts.len());
        let grades = grades.ok_or("ends, grades and counts do not fit together")?;
        let mut upto = Ragged::default();
        for query in 0..grades.len() {
            let of_query = grades.of(query);
            let counts = counts[grades.range(query)].iter().map(|count| u32::from_le_bytes(*count));
            // Ascending grades are all sound if the first and the last grade are sound.
            let sound = of_query.first().is_none_or(|grade| grade.is_sign_positive())
                && of_query.last().is_none_or(|grade| grade.is_finite());
            let ascend =
                of_query.windows(2).fold(true, |ascend, pair| ascend & (pair[0] < pair[1]));
            if !sound || !ascend || counts.clone().min() == Some(0) {
                return Err(format!(
                    "query {}: its grades are not finite, distinct and ascending",
                    query + 1
                ));
            }
            let documents: u64 = counts.clone().map(u64::from).sum();
            if documents != facts.of(query).count(Above::JUDGED) {
                return Err(format!(
                    "query {}: not every judged document has an exact grade",
                    query + 1
                ));
            }
            if documents > of_query.len() as u64 {
                upto.push_each(kept_sums(counts))
            } else {
                upto.push(&[])
            }
        }
        Ok(ExactFacts { grades, upto })
    }

    /// The columns of the grades in a file.
    pub(crate) fn columns(&self) -> ExactColumns<'_> {
        let counts =
            (0..self.len()).flat_map(|query| self.of(query).iter().map(|(_, count)| count));
        let (ends, grades) = self.grades.columns();
        ExactColumns { ends, grades, counts: counts.collect() }
    }
}

/// The distinct grades of all queries as columns.
pub(crate) struct ExactColumns<'a> {
    /// The end of each query.
    pub ends: &'a [u64],
    pub grades: &'a [f64],
    /// The number of documents of each grade.
    pub counts: Vec<u32>,
}

/// The exact grades of queries and of their rankings.
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
        let opened = |grades: &[f64], counts: &[u32]| {
            let counts: Vec<_> = counts.iter().map(|count| count.to_le_bytes()).collect();
            ExactFacts::from_columns(ends.clone(), grades.to_vec().into(), &counts, &facts)
        };
        assert_eq!(opened(&grades, &counts), Ok(exact));
        let wrong = opened(&grades, &vec![1; counts.len()]);
        assert_eq!(wrong, Err("query 1: not every judged document has an exact grade".to_owned()));
        let wrong = opened(&[-0.0, 0.5, 2.25, 1.0], &counts);
        assert_eq!(
            wrong,
            Err("query 1: its grades are not finite, distinct and ascending".to_owned())
        );
    }

    #[test]
    fn places_are_found_as_one_by_one() {
        let mut exact = ExactFacts::default();
        for query in 0..70u32 {
            // Up to 69 documents, of a few or of many grades.
            let grade = |document: u32| f64::from(document * 37 % 64 / (1 + query % 3)) / 2.0;
            exact.push(&mut (0..query).map(grade).collect::<Vec<_>>());
        }
        let queries: Vec<QueryGrades<'_>> = (0..exact.len()).map(|query| exact.of(query)).collect();
        for level in (0..140).map(|level| f64::from(level) / 4.0 - 0.25) {
            let expected =
                queries.iter().map(|query| query.grades.partition_point(|&grade| grade < level));
            assert!(expected.eq(places_from(level, &queries)), "{level}");
        }
        assert!(places_from(1.0, &[]).is_empty());
        // Sums begin at the first grade of several documents.
        let kept = |counts: &[u32]| kept_sums(counts.iter().copied()).collect::<Vec<_>>();
        assert_eq!(
            [kept(&[1, 1, 1]), kept(&[]), kept(&[1, 3, 1]), kept(&[2, 1])],
            [vec![], vec![], vec![4, 5], vec![2, 3]]
        );
    }
}

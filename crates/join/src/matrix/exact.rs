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

use super::{
    Codebook, CodesAbove, GradeHistograms, Ragged,
    code::{FIRST_GRADE, GradeRange, NEGATIVE},
    column::Column,
    pieces,
};

/// The number of queries whose facts are made at once.
const PIECE: usize = 1 << 10;

/// The exact grades of some queries' judgments: the distinct grades ≥ 0, each with its number of
/// documents. The grades of each query ascend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExactHistograms {
    grades: Ragged<f64>,
    /// The number of documents up to each grade of their query, from its first grade of several
    /// documents on.
    upto: Ragged<u32>,
}

/// The distinct exact grades of a single query's judgments, each with its number of documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactHistogram<'a> {
    grades: &'a [f64],
    /// The sums at the last of the grades.
    upto: &'a [u32],
}

impl<'a> ExactHistogram<'a> {
    /// Returns the distinct exact grades of the query, ascending, each with its number of
    /// documents.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (f64, u32)> + Clone + use<'a> {
        let query = *self;
        (0..query.grades.len())
            .map(move |at| (query.grades[at], query.upto(at + 1) - query.upto(at)))
    }

    /// Returns the number of judged documents of the query that have one of its `grades` lowest
    /// grades.
    fn upto(&self, grades: usize) -> u32 {
        let alone = self.grades.len() - self.upto.len();
        grades.checked_sub(alone + 1).map_or(grades as u32, |at| self.upto[at])
    }
}

/// Returns, for each of some queries, the index of its first exact grade that is at least `level`.
///
/// A search step waits for memory, and a machine can wait for many memory reads at once. So all
/// queries take each step together.
fn places_from(level: f64, queries: &[ExactHistogram<'_>]) -> Vec<usize> {
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

/// Returns the running sums of a query's document counts that are stored, from its count for each
/// grade.
fn kept_sums(counts: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = u32> {
    let alone = counts.clone().take_while(|&count| count == 1).count();
    counts.skip(alone).scan(alone as u32, |sum, count| {
        *sum = sum.wrapping_add(count);
        Some(*sum)
    })
}

/// Returns whether all numbers can be exact grades ≥ 0: finite and not negative.
pub(crate) fn are_grades(numbers: &[f64]) -> bool {
    // The highest bit is the sign, and the next bits are the exponent. Only a number that is not
    // finite has an exponent of ones: adding 1 then flows into the sign.
    numbers.par_chunks(1 << 16).all(|piece| {
        let any = piece
            .iter()
            .map(|number| number.to_bits())
            .fold(0, |any, bits| any | bits | bits.wrapping_add(1 << (f64::MANTISSA_DIGITS - 1)));
        any >> 63 == 0
    })
}

impl ExactHistograms {
    /// Appends a query with the exact grades ≥ 0 of its judged documents, and sorts `grades`.
    pub fn push(&mut self, grades: &mut [f64]) {
        grades.sort_unstable_by(f64::total_cmp);
        let alike = grades.chunk_by(|one, next| one == next);
        self.grades.push_each(alike.clone().map(|alike| alike[0]));
        self.upto.push_each(kept_sums(alike.map(|alike| alike.len() as u32)));
    }

    /// Appends a query with its distinct exact grades and their numbers of documents.
    pub fn push_query(&mut self, query: ExactHistogram<'_>) {
        self.grades.push(query.grades);
        self.upto.push(query.upto);
    }

    /// Appends the queries of `others` with their exact grades.
    pub fn append(&mut self, others: &Self) {
        self.grades.append(&others.grades);
        self.upto.append(&others.upto);
    }

    /// Removes all queries with their exact grades.
    pub fn clear(&mut self) {
        self.grades.clear();
        self.upto.clear();
    }

    /// Returns the number of queries whose exact grades are kept.
    pub fn len(&self) -> usize {
        self.grades.len()
    }

    /// Returns whether exact grades of no query are kept.
    pub fn is_empty(&self) -> bool {
        self.grades.is_empty()
    }

    /// Returns the distinct exact grades of one query, with their numbers of documents.
    pub fn get(&self, query: usize) -> ExactHistogram<'_> {
        ExactHistogram { grades: self.grades.row(query), upto: self.upto.row(query) }
    }

    /// Returns the range of the exact grades of all queries, from the smallest above 0 to the
    /// largest.
    pub fn extent(&self) -> Option<GradeRange> {
        GradeRange::from_grades((0..self.len()).flat_map(|query| {
            // The least grade above 0 of a query is its first or its second grade.
            let grades = self.get(query).grades;
            grades.iter().take(2).chain(grades.last()).copied()
        }))
    }

    /// Returns all distinct exact grades of all queries, ascending.
    pub fn distinct(&self) -> Vec<f64> {
        let mut grades = self.grades.values().to_vec();
        grades.par_sort_unstable_by(f64::total_cmp);
        grades.dedup();
        grades
    }

    /// Counts the judged documents of each class of grades for every query, by the classes of a
    /// codebook. `facts` are the counts by a single class, with the negative grades.
    pub fn classed(&self, facts: &GradeHistograms, book: &Codebook) -> GradeHistograms {
        let classify = |queries: Range<usize>| {
            let grades: Vec<_> = queries.clone().map(|query| self.get(query)).collect();
            // All grades are at least 0, the bound of the first class.
            let bounds: Vec<_> =
                book.grades().iter().skip(1).map(|&bound| places_from(bound, &grades)).collect();
            let mut classed = GradeHistograms::new();
            for (at, (query, grades)) in queries.zip(&grades).enumerate() {
                let negative = facts.get(query).iter().filter(|&(code, _)| code == NEGATIVE);
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
        let parts: Vec<_> = pieces(self.len(), PIECE).into_par_iter().map(classify).collect();
        let mut all = GradeHistograms::new();
        parts.iter().for_each(|part| all.append(part));
        all
    }

    /// Builds the exact grades of queries from columns of an `.lmx` file, and rejects unsound
    /// grades. The grades of each query are finite, not negative, distinct, ascending, and of as
    /// many documents as its facts count.
    pub(crate) fn from_columns(
        ends: Vec<u64>,
        grades: Column<f64>,
        counts: &[[u8; 4]],
        facts: &GradeHistograms,
    ) -> Result<Self, String> {
        let grades = Ragged::from_columns(ends, grades, facts.len())
            .filter(|grades| grades.values().len() == counts.len())
            .ok_or("ends, grades and counts do not fit together")?;
        let mut upto = Ragged::default();
        for query in 0..grades.len() {
            let wrong = |message| Err(format!("query {}: {message}", query + 1));
            let of_query = grades.row(query);
            let counts = counts[grades.range(query)].iter().map(|count| u32::from_le_bytes(*count));
            // Ascending grades are all sound if the first and the last grade are sound.
            let sound = of_query.first().is_none_or(|grade| grade.is_sign_positive())
                && of_query.last().is_none_or(|grade| grade.is_finite());
            // Damage is rare, and a fold without an early end becomes vectors.
            let ascend =
                of_query.windows(2).fold(true, |ascend, pair| ascend & (pair[0] < pair[1]));
            if !sound || !ascend || counts.clone().min() == Some(0) {
                return wrong("its grades are not finite, distinct and ascending");
            }
            let documents: u64 = counts.clone().map(u64::from).sum();
            if documents != facts.get(query).count(CodesAbove::JUDGED) {
                return wrong("not every judged document has an exact grade");
            }
            // Where every grade has one document, the place of a grade is its sum already.
            if documents > of_query.len() as u64 {
                upto.push_each(kept_sums(counts))
            } else {
                upto.push(&[])
            }
        }
        Ok(Self { grades, upto })
    }

    /// Returns the exact grades as two columns for an `.lmx` file: the end of each query, and the
    /// grades.
    pub(crate) fn columns(&self) -> (&[u64], &[f64]) {
        self.grades.columns()
    }

    /// Returns the number of judged documents of each distinct exact grade, query by query.
    pub(crate) fn counts(&self) -> Vec<u32> {
        (0..self.len()).flat_map(|query| self.get(query).iter().map(|(_, count)| count)).collect()
    }
}

/// The exact grades of judged documents, by query and by ranking, for matrices with too many grades
/// for a code each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExactGrades {
    /// The grades of the judged documents of each query.
    pub facts: ExactHistograms,
    /// The grades of the judged documents of each row.
    pub rows: Ragged<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_of_queries_are_distinct_and_counted_by_class() {
        let mut exact = ExactHistograms::default();
        exact.push(&mut [0.5, 2.25, 0.5, 0.0]);
        exact.push(&mut []);
        exact.push(&mut [1.0]);
        assert_eq!(exact.get(0).iter().collect::<Vec<_>>(), [(0.0, 1), (0.5, 2), (2.25, 1)]);
        let mut facts = GradeHistograms::new();
        facts.push([2, 2, 3, 3, 3, 3]);
        facts.push([2]);
        facts.push([3]);
        let book = Codebook::single_class(exact.extent().unwrap()).at_levels([0.25, 1.0]).unwrap();
        let classed = exact.classed(&facts, &book);
        assert_eq!(
            [0, 1, 2].map(|query| classed.get(query).iter().collect::<Vec<_>>()),
            [vec![(2, 2), (3, 1), (4, 2), (5, 1)], vec![(2, 1)], vec![(5, 1)]]
        );
        let (ends, grades) = exact.columns();
        let (ends, grades, counts) = (ends.to_vec(), grades.to_vec(), exact.counts());
        let opened = |grades: &[f64], counts: &[u32]| {
            let counts: Vec<_> = counts.iter().map(|count| count.to_le_bytes()).collect();
            ExactHistograms::from_columns(ends.clone(), grades.to_vec().into(), &counts, &facts)
        };
        assert_eq!(opened(&grades, &counts), Ok(exact));
        for (grades, counts, message) in [
            (&grades[..], &[1; 4][..], "not every judged document has an exact grade"),
            (&[-0.0, 0.5, 2.25, 1.0], &counts, "its grades are not finite, distinct and ascending"),
        ] {
            assert_eq!(opened(grades, counts), Err(format!("query 1: {message}")));
        }
    }

    #[test]
    fn places_are_found_as_one_by_one() {
        let mut exact = ExactHistograms::default();
        for query in 0..70u32 {
            // Up to 69 documents, of a few or of many grades.
            let grade = |document: u32| f64::from(document * 37 % 64 / (1 + query % 3)) / 2.0;
            exact.push(&mut (0..query).map(grade).collect::<Vec<_>>());
        }
        let queries: Vec<_> = (0..exact.len()).map(|query| exact.get(query)).collect();
        for level in (0..140).map(|level| f64::from(level) / 4.0 - 0.25) {
            let expected =
                queries.iter().map(|query| query.grades.partition_point(|&grade| grade < level));
            assert!(expected.eq(places_from(level, &queries)), "{level}");
        }
        assert!(places_from(1.0, &[]).is_empty());
        // Sums begin at the first grade of several documents.
        let sums = |counts: &[u32]| kept_sums(counts.iter().copied()).collect::<Vec<_>>();
        assert_eq!(
            [sums(&[1, 1, 1]), sums(&[]), sums(&[1, 3, 1]), sums(&[2, 1])],
            [vec![], vec![], vec![4, 5], vec![2, 3]]
        );
    }
}

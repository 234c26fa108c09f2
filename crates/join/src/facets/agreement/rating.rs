//! Ratings, what may be wrong with them, and their grades as positions in a sorted list.

use std::fmt;

/// One rating: the numbers of an item and a judge, and the grade that the judge gave to the item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// The number of the item, such as a document of a query.
    pub item: u32,
    /// The number of the judge, from 0.
    pub judge: u32,
    /// The grade: a finite number. The two zeros are the same grade.
    pub grade: f64,
}

/// A fault of a rating.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RatingFault {
    /// A grade is infinite or not a number.
    NotFinite {
        /// The number of the item.
        item: u32,
        /// The number of the judge.
        judge: u32,
        /// The grade.
        grade: f64,
    },
    /// A judge's number is not below the number of judges.
    NoSuchJudge {
        /// The number of the item.
        item: u32,
        /// The number of the judge.
        judge: u32,
        /// The number of judges.
        judges: usize,
    },
    /// A judge graded an item twice.
    Twice {
        /// The number of the item.
        item: u32,
        /// The number of the judge.
        judge: u32,
    },
}

impl fmt::Display for RatingFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { item, judge, grade } => {
                write!(
                    out,
                    "item {item}, judge {judge}: the grade is {grade}, expected a finite number"
                )
            }
            Self::NoSuchJudge { item, judge, judges } => {
                write!(out, "item {item}: the judge is {judge}, expected a number below {judges}")
            }
            Self::Twice { item, judge } => {
                write!(out, "item {item}, judge {judge}: rated twice, expected at most one rating")
            }
        }
    }
}

impl std::error::Error for RatingFault {}

/// A rating whose grade is replaced by its position in the sorted list of grades.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coded {
    pub(super) item: u32,
    pub(super) judge: u32,
    pub(super) code: usize,
}

/// Returns the `ratings` with codes, and the sorted list of different grades. The grades are
/// finite.
pub(super) fn coded(ratings: &[Rating]) -> (Vec<Coded>, Vec<f64>) {
    let mut grades: Vec<f64> = ratings.iter().map(|rating| rating.grade).collect();
    grades.sort_unstable_by(f64::total_cmp);
    // The two zeros are equal, and of them the first is kept.
    grades.dedup();
    let code = |grade: f64| grades.partition_point(|&lower| lower < grade);
    let coded = ratings.iter().map(|&Rating { item, judge, grade }| Coded {
        item,
        judge,
        code: code(grade),
    });
    (coded.collect(), grades)
}

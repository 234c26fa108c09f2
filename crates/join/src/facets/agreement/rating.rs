//! Ratings (grades that judges gave to items), their faults, and their grades as positions in a
//! sorted list.

use std::fmt;

/// A grade that a judge gave to an item, with the numbers of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// The number of the item, such as a document of a query.
    pub item: u32,
    /// The number of the judge, from 0.
    pub judge: u32,
    /// The grade: a finite number. The two zeros are the same grade.
    pub grade: f64,
}

/// A fault of a judge's rating: a grade that is not finite, an unknown judge, or an item rated
/// twice.
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
#[derive(Clone, Copy)]
pub struct CodedRating {
    pub item: u32,
    pub judge: u32,
    pub code: usize,
}

/// Returns the judges' `ratings` with each grade replaced by its position in the sorted list of
/// different grades, and this list. The grades are finite.
pub fn coded(ratings: &[Rating]) -> (Vec<CodedRating>, Vec<f64>) {
    let mut grades: Vec<f64> = ratings.iter().map(|rating| rating.grade).collect();
    grades.sort_unstable_by(f64::total_cmp);
    // The two zeros are equal, and of them the first is kept.
    grades.dedup();
    let coded = ratings.iter().map(|&Rating { item, judge, grade }| {
        let code = grades.partition_point(|&lower| lower < grade);
        CodedRating { item, judge, code }
    });
    (coded.collect(), grades)
}

//! The one-byte label of a retrieved document, and the codebook that gives it meaning.
//!
//! Codes are sorted by grade, so every set of documents that a measure asks for is one unsigned compare, `code > above`:
//!
//! | code | the document at this rank |
//! |---|---|
//! | 0 | none: the ranking has ended |
//! | 1 | is not in the qrels of the query |
//! | 2 | is in the qrels with a negative grade: pooled, not judged |
//! | 3 … 255 | is judged; the distinct grades ≥ 0 of the collection, ascending |

use crate::error::{Error, Result};

/// The code past the end of a ranking.
pub const PAST_END: u8 = 0;
/// The code of a retrieved document that the qrels do not name.
pub const UNPOOLED: u8 = 1;
/// The code of a document with a negative grade.
pub const NEGATIVE: u8 = 2;
/// The code of the smallest grade ≥ 0.
pub const FIRST_GRADE: u8 = 3;
/// The most distinct grades ≥ 0: those that fit into a byte beside the three other codes.
pub const MAX_GRADES: usize = 256 - FIRST_GRADE as usize;

/// A set of codes: all those greater than the one named.
///
/// Written this way round, "no document at all" is expressible too (`Above(255)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Above(pub u8);

impl Above {
    /// Every retrieved document.
    pub const RETRIEVED: Above = Above(PAST_END);
    /// Every document that the qrels name, with whatever grade.
    pub const POOLED: Above = Above(UNPOOLED);
    /// Every document with a grade ≥ 0.
    pub const JUDGED: Above = Above(NEGATIVE);

    /// Whether `code` is in the set.
    #[inline]
    pub fn contains(self, code: u8) -> bool {
        code > self.0
    }
}

/// The meaning of the codes: the distinct grades ≥ 0 of the qrels, ascending.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Codebook {
    grades: Vec<f64>,
}

impl Codebook {
    /// Makes the codebook of all the grades that occur, in any order, negative ones included.
    ///
    /// # Errors
    /// More than 253 distinct grades ≥ 0, or one that is not finite.
    ///
    /// ```
    /// use laneval::Codebook;
    /// let book = Codebook::new([2.0, 0.0, -1.0, 2.0])?;
    /// assert_eq!(book.grades(), [0.0, 2.0]);
    /// assert_eq!(book.code(2.0), Some(4));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn new(grades: impl IntoIterator<Item = f64>) -> Result<Self> {
        let mut distinct: Vec<f64> = Vec::new();
        for grade in grades {
            if !grade.is_finite() {
                return Err(Error::Unanswerable(format!("grade {grade} is not a finite number")));
            }
            let grade = grade + 0.0; // −0 is 0
            if grade >= 0.0
                && let Err(at) = distinct.binary_search_by(|g| g.total_cmp(&grade))
            {
                distinct.insert(at, grade);
                if distinct.len() > MAX_GRADES {
                    return Err(Error::Unanswerable(format!(
                        "the qrels have more than {MAX_GRADES} distinct grades ≥ 0, such as {grade}: if these are scores of a run, the \
                         order is QRELS RUN; if they are grades, round them to at most {MAX_GRADES} values, for a label is one byte"
                    )));
                }
            }
        }
        Ok(Codebook { grades: distinct })
    }

    /// The distinct grades ≥ 0, ascending; the grade at index `i` has the code `i + 3`.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }

    /// The largest grade, if anything is judged at all.
    pub fn max_grade(&self) -> Option<f64> {
        self.grades.last().copied()
    }

    /// The code of a grade: 2 for every grade below 0, `None` for one that is not in the book.
    pub fn code(&self, grade: f64) -> Option<u8> {
        if grade < 0.0 {
            return Some(NEGATIVE);
        }
        let at = self.grades.binary_search_by(|g| g.total_cmp(&(grade + 0.0))).ok()?;
        Some(FIRST_GRADE + at as u8)
    }

    /// The grade of a code, `None` for the codes of documents that are not judged.
    pub fn grade(&self, code: u8) -> Option<f64> {
        self.grades.get(usize::from(code.checked_sub(FIRST_GRADE)?)).copied()
    }

    /// The documents judged at `level` or higher.
    pub fn at_least(&self, level: f64) -> Above {
        Above(NEGATIVE + self.grades.partition_point(|&g| g < level) as u8)
    }

    /// The number of codes that can occur: three, and one for each grade.
    pub fn codes(&self) -> usize {
        usize::from(FIRST_GRADE) + self.grades.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_one_compare() {
        let book = Codebook::new([3.0, 0.0, 1.5, -2.0, -0.0]).unwrap();
        assert_eq!(book.grades(), [0.0, 1.5, 3.0]);
        let relevant = |level: f64| {
            (0..=255u8).filter(|&c| book.at_least(level).contains(c) && c < 6).collect::<Vec<_>>()
        };
        assert_eq!(relevant(0.0), [3, 4, 5]);
        assert_eq!(relevant(1.0), [4, 5]);
        assert_eq!(relevant(2.0), [5]);
        assert_eq!(relevant(4.0), [0u8; 0]);
    }

    #[test]
    fn a_full_book_has_no_code_above_its_last_grade() {
        let book = Codebook::new((0..253).map(f64::from)).unwrap();
        assert_eq!(book.code(252.0), Some(255));
        assert_eq!(book.at_least(252.0), Above(254));
        assert_eq!(book.at_least(253.0), Above(255));
        assert!(Codebook::new((0..254).map(f64::from)).is_err());
        assert!(Codebook::new([f64::NAN]).is_err());
    }
}

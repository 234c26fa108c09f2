//! The one-byte label of a retrieved document, and the codebook that gives it meaning.
//!
//! Codes are sorted by grade, so every set of documents that a measure asks for is one unsigned
//! compare, `code > above`:
//!
//! | code | the document at this rank |
//! |---|---|
//! | 0 | none: the ranking has ended |
//! | 1 | is not in the qrels of the query |
//! | 2 | is in the qrels with a negative grade: pooled, not judged |
//! | 3 … 255 | is judged; the distinct grades ≥ 0 of the collection, ascending |
//!
//! More than 253 distinct grades do not fit into a byte. Then a code stands for a *class*: all
//! grades from one bound to the next, and the exact grades lie beside the labels (see
//! [`exact`](super::exact)).

use crate::error::Result;

/// The code past the end of a ranking.
pub const PAST_END: u8 = 0;
/// The code of a retrieved document that the qrels do not name.
pub const NOT_IN_QRELS: u8 = 1;
/// The code of a document with a negative grade.
pub const NEGATIVE: u8 = 2;
/// The code of the smallest grade ≥ 0.
pub const FIRST_GRADE: u8 = 3;
/// The most distinct grades ≥ 0: a byte has 256 codes, and three are reserved.
pub const MAX_GRADES: usize = 256 - FIRST_GRADE as usize;

impl GradeRange {
    /// The extent of no grades.
    pub const NONE: Self = Self { least_positive: f64::INFINITY, largest: 0.0 };

    /// Returns whether all grades within the range `range` are within this range, too.
    pub fn covers(self, range: Self) -> bool {
        self.least_positive > 0.0
            && self.least_positive <= range.least_positive
            && self.largest >= range.largest
    }

    /// Returns the range of some grades ≥ 0, from the smallest above 0 to the largest; `None`
    /// without grades.
    pub fn from_grades(grades: impl IntoIterator<Item = f64>) -> Option<Self> {
        grades.into_iter().map(Self::single).reduce(Self::and)
    }

    /// Returns the smallest range that contains the grades of both ranges.
    pub fn and(self, other: Self) -> Self {
        let least_positive = self.least_positive.min(other.least_positive);
        Self { least_positive, largest: self.largest.max(other.largest) }
    }

    fn single(grade: f64) -> Self {
        let least_positive = if grade > 0.0 { grade } else { f64::INFINITY };
        Self { least_positive, largest: 0f64.max(grade) }
    }
}

/// A set of label codes: all codes greater than a bound, such as the codes of relevant grades.
///
/// The strict bound can also express "no document at all" (`Above(255)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodesAbove(pub u8);

impl CodesAbove {
    /// Every retrieved document.
    pub const RETRIEVED: Self = Self(PAST_END);
    /// Every document in the qrels, with any grade.
    pub const IN_QRELS: Self = Self(NOT_IN_QRELS);
    /// Every document with a grade ≥ 0.
    pub const JUDGED: Self = Self(NEGATIVE);

    /// Returns whether the label code `code` is in the set.
    #[inline]
    pub fn contains(self, code: u8) -> bool {
        code > self.0
    }
}

/// The meaning of label codes: the distinct grades ≥ 0 of the qrels, ascending, or classes of
/// grades. Codes are classes where there are more than 253 grades.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Codebook {
    /// The distinct grades, or the least grade of each class.
    grades: Vec<f64>,
    /// The extent of the grades, if codes are classes.
    extent: Option<GradeRange>,
}

/// The smallest positive and the largest grade of judgments with too many distinct grades for a
/// code each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradeRange {
    /// The least grade above 0.
    pub least_positive: f64,
    /// The largest grade.
    pub largest: f64,
}

impl Codebook {
    /// The code of a place behind the last document of a ranking.
    pub const PAST_END: u8 = PAST_END;
    /// The code of a document that the judgments do not name.
    pub const NOT_IN_QRELS: u8 = NOT_IN_QRELS;
    /// The code of a document with a negative grade, which was seen and not judged.
    pub const NEGATIVE: u8 = NEGATIVE;
    /// The code of the lowest grade from 0 on; higher grades have the next codes, in their order.
    ///
    /// ```
    /// use laneval::labels::Codebook;
    /// let book = Codebook::new([0.0, 1.0, 2.5])?;
    /// assert_eq!(book.grade(Codebook::FIRST_GRADE + 2), Some(2.5));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub const FIRST_GRADE: u8 = FIRST_GRADE;

    /// Makes the codebook of the grades of judgments, given in any order, negative grades included.
    /// If more than 253 distinct grades are ≥ 0, these grades share one code, and only the exact
    /// grades tell them apart.
    ///
    /// # Errors
    /// A grade that is infinite or NaN.
    ///
    /// ```
    /// use laneval::labels::Codebook;
    /// let book = Codebook::new([2.0, 0.0, -1.0, 2.0])?;
    /// assert_eq!(book.grades(), [0.0, 2.0]);
    /// assert_eq!(book.code(2.0), Some(4));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn new(grades: impl IntoIterator<Item = f64>) -> Result<Self> {
        let (mut distinct, mut extent) = (Vec::<f64>::new(), None::<GradeRange>);
        for grade in grades {
            reject_if!(!grade.is_finite(), "grade {grade} is not a finite number");
            let grade = grade + 0.0; // −0 is 0
            if grade < 0.0 {
                continue;
            }
            // Once the grades are too many, only their extent matters, and no search is needed.
            if let Some(extent) = &mut extent {
                *extent = extent.and(GradeRange::single(grade));
            } else if let Err(at) = distinct.binary_search_by(|g| g.total_cmp(&grade)) {
                distinct.insert(at, grade);
                if distinct.len() > MAX_GRADES {
                    extent = GradeRange::from_grades(distinct.iter().copied());
                }
            }
        }
        Ok(extent.map_or(Self { grades: distinct, extent: None }, Self::single_class))
    }

    /// Makes a codebook with one label code for all grades ≥ 0, which lie in the range `extent`.
    pub fn single_class(extent: GradeRange) -> Self {
        Self { grades: vec![0.0], extent: Some(extent) }
    }

    /// Returns a codebook of classes of grades that are separated by these levels of relevance. A
    /// level need not be a grade. A codebook with a code for each grade stays unchanged.
    ///
    /// # Errors
    /// More levels than codes.
    pub fn at_levels(&self, levels: impl IntoIterator<Item = f64>) -> Result<Self> {
        let Some(extent) = self.extent else { return Ok(self.clone()) };
        let mut bounds: Vec<f64> = levels.into_iter().filter(|&level| level > 0.0).collect();
        // Every grade needs a class, so the first class begins at 0, whatever the levels are.
        bounds.push(0.0);
        bounds.sort_by(f64::total_cmp);
        bounds.dedup();
        // Levels above all grades tell nothing apart.
        bounds.retain(|&bound| bound <= extent.largest || bound == 0.0);
        reject_if!(
            bounds.len() > MAX_GRADES,
            "measures with {} levels of relevance, where {MAX_GRADES} can be evaluated \
             together over more than {MAX_GRADES} \
             distinct grades: ask for fewer at a time",
            bounds.len()
        );
        Ok(Self { grades: bounds, extent: Some(extent) })
    }

    /// Returns whether each grade has a label code of its own. Otherwise codes are classes of
    /// grades.
    pub fn is_exact(&self) -> bool {
        self.extent.is_none()
    }

    /// Returns the smallest positive and the largest grade, if label codes are classes of grades.
    pub fn extent(&self) -> Option<GradeRange> {
        self.extent
    }

    /// Returns the distinct grades ≥ 0 of the judgments, ascending; the grade at index `i` has the
    /// label code `i + 3`. If codes are classes, the least grade of each class.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }

    /// Returns the largest grade of the judgments, if anything is judged at all.
    pub fn max_grade(&self) -> Option<f64> {
        self.extent.map(|extent| extent.largest).or(self.grades.last().copied())
    }

    /// Returns the smallest grade above 0 of the judgments; `None` without grades above 0.
    pub fn least_positive(&self) -> Option<f64> {
        match self.extent {
            Some(extent) => Some(extent.least_positive).filter(|least| least.is_finite()),
            None => self.grades.iter().copied().find(|&grade| grade > 0.0),
        }
    }

    /// Returns the label code of a grade, or of its class; `None` for a grade that the codebook
    /// lacks. A grade below 0 has the code 2.
    pub fn code(&self, grade: f64) -> Option<u8> {
        if grade < 0.0 {
            return Some(NEGATIVE);
        }
        if let Some(extent) = self.extent {
            return (grade <= extent.largest).then(|| self.class(grade));
        }
        let at = self.grades.binary_search_by(|g| g.total_cmp(&(grade + 0.0))).ok()?;
        Some(FIRST_GRADE + at as u8)
    }

    /// Returns the label code of the class that a grade ≥ 0 falls into.
    #[inline]
    pub fn class(&self, grade: f64) -> u8 {
        NEGATIVE + self.grades.iter().filter(|&&bound| bound <= grade).count() as u8
    }

    /// Returns the grade of a label code, or the least grade of its class; `None` for codes of
    /// unjudged documents.
    pub fn grade(&self, code: u8) -> Option<f64> {
        self.grades.get(usize::from(code.checked_sub(FIRST_GRADE)?)).copied()
    }

    /// Returns the set of label codes of documents judged at `level` or higher.
    pub fn at_least(&self, level: f64) -> CodesAbove {
        debug_assert!(
            self.extent.is_none_or(|extent| level <= 0.0
                || level > extent.largest
                || self.grades.contains(&level)),
            "the classes are not told apart by {level}"
        );
        CodesAbove(NEGATIVE + self.grades.partition_point(|&g| g < level) as u8)
    }

    /// Returns the number of possible label codes: three reserved ones, and one for each grade.
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
        for (level, relevant) in [(0.0, &[3, 4, 5][..]), (1.0, &[4, 5]), (2.0, &[5]), (4.0, &[])] {
            let found = (0..6).filter(|&code| book.at_least(level).contains(code));
            assert!(found.eq(relevant.iter().copied()), "{level}");
        }
    }

    #[test]
    fn a_full_book_has_no_code_above_its_last_grade() {
        let book = Codebook::new((0..253).map(f64::from)).unwrap();
        assert_eq!(book.code(252.0), Some(255));
        assert_eq!(book.at_least(252.0), CodesAbove(254));
        assert_eq!(book.at_least(253.0), CodesAbove(255));
        assert!(book.is_exact());
        assert!(Codebook::new([f64::NAN]).is_err());
        assert!(Codebook::new((0..300).map(f64::from).chain([f64::INFINITY])).is_err());
    }

    #[test]
    fn too_many_grades_are_classes_between_levels() {
        let book = Codebook::new((0..254).rev().map(|n| f64::from(n) / 4.0)).unwrap();
        assert_eq!((book.is_exact(), book.grades(), book.codes()), (false, &[0.0][..], 4));
        assert_eq!(book.extent(), Some(GradeRange { least_positive: 0.25, largest: 63.25 }));
        assert_eq!(
            [-1.0, 0.0, 0.3, 63.25, 64.0].map(|grade| book.code(grade)),
            [Some(2), Some(3), Some(3), Some(3), None]
        );
        let book = book.at_levels([5.1, -1.0, 1.0, 0.0, 5.1, 64.0]).unwrap();
        assert_eq!(book.grades(), [0.0, 1.0, 5.1]);
        assert_eq!([0.75, 1.0, 5.0, 5.25].map(|grade| book.class(grade)), [3, 4, 4, 5]);
        assert_eq!(
            [0.0, 1.0, 5.1, 64.0].map(|level| book.at_least(level)),
            [2, 3, 4, 5].map(CodesAbove)
        );
        assert_eq!(book.max_grade(), Some(63.25));
        let error = book.at_levels((0..300).map(|n| f64::from(n) / 10.0)).unwrap_err();
        assert!(error.to_string().starts_with("measures with 300 levels"));
    }
}

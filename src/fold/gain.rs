//! Gains: the worth of a document of each grade, as functions and as tables by code.
//!
//! A gain is made from a grade once a plan, and not once a label: the formula with its exponentials
//! runs at most 253 times, for the distinct grades, and kernels see numbers. Any function of the
//! grade is therefore as fast as any other, and all engines and the reference have the same bits of
//! it.
//!
//! With more distinct grades than codes the table of codes cannot say it, and the function itself
//! goes along with the table.

use std::ops::Deref;
use std::sync::Arc;

use crate::matrix::code::{FIRST_GRADE, GradeRange, NEGATIVE, NOT_IN_QRELS};
use crate::matrix::{Codebook, CodesAbove};

/// A table of one value, such as a gain, for each label code; the entry of code 0 is 0. If codes
/// are classes of grades, the values of judged documents may be a function of their exact grades
/// instead, and then their entries are 0.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeTable {
    codes: Arc<[f64; 256]>,
    exact: Option<ExactGains>,
}

/// A function from exact grades to gains, with a floor and a factor, where label codes are only
/// classes of grades.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactGains {
    /// The function.
    pub gains: Gains,
    /// The least grade that has a value; lower ones have 0.
    pub floor: f64,
    /// The factor of all values.
    pub unit: f64,
}

impl ExactGains {
    /// Returns the gain of an exact grade ≥ 0.
    #[inline]
    pub fn gain(&self, grade: f64) -> f64 {
        if grade < self.floor { 0.0 } else { self.gains.gain(grade) * self.unit }
    }

    /// Returns whether the gain certainly never falls while the grade (≥ 0) rises: rounded
    /// quotients keep their order, and powers of 2 need not.
    pub fn ascends(&self) -> bool {
        let ascend = match self.gains {
            Gains::Linear | Gains::AtLeast(_) => true,
            Gains::Share(max) | Gains::Clipped(max) => max > 0.0,
            Gains::Exp2 | Gains::Satisfies(_) | Gains::Table(_) => false,
        };
        ascend && self.unit > 0.0
    }
}

impl From<[f64; 256]> for CodeTable {
    fn from(codes: [f64; 256]) -> Self {
        Self { codes: codes.into(), exact: None }
    }
}

impl Deref for CodeTable {
    type Target = [f64; 256];

    fn deref(&self) -> &[f64; 256] {
        &self.codes
    }
}

impl CodeTable {
    /// Returns the gains by exact grade, if the table has such gains.
    pub fn exact(&self) -> Option<&ExactGains> {
        self.exact.as_ref()
    }

    /// Returns the table after applying a function to the value of every code.
    #[must_use]
    pub fn map(mut self, function: impl Fn(u8, f64) -> f64) -> Self {
        // Measures with equal gains share a table, so `make_mut` copies a shared table before the
        // change.
        let entries = Arc::make_mut(&mut self.codes);
        (0..=u8::MAX).zip(entries).for_each(|(code, value)| *value = function(code, *value));
        self
    }

    /// Returns the table with value 0 for judged documents below a grade; `codes` has the codes of
    /// all other judged documents.
    #[must_use]
    pub fn floored(self, floor: f64, codes: CodesAbove) -> Self {
        let table = self.map(|code, value| {
            if CodesAbove::JUDGED.contains(code) && !codes.contains(code) { 0.0 } else { value }
        });
        Self {
            exact: table.exact.map(|exact| ExactGains { floor: floor.max(exact.floor), ..exact }),
            ..table
        }
    }
}

/// A function from relevance grades to gains, such as 2^grade − 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Gains {
    /// The grade itself (Järvelin and Kekäläinen 2002).
    Linear,
    /// 2^grade − 1 (Burges et al. 2005).
    Exp2,
    /// 1 for grades of at least the level, 0 below.
    AtLeast(f64),
    /// The grade divided by a largest grade.
    Share(f64),
    /// The grade divided by the top of a scale, at most 1.
    Clipped(f64),
    /// (2^grade − 1) / 2^top: the chance that a document satisfies the user (Chapelle et al. 2009).
    Satisfies(f64),
    /// The grades in the table have the gains of the table, and other grades are worth themselves.
    /// As in trec_eval, −1 stands for documents that the qrels lack, and −2 for those with a
    /// negative grade.
    Table(Vec<(f64, f64)>),
}

impl Gains {
    /// Returns the gain of a relevance grade ≥ 0.
    pub fn gain(&self, grade: f64) -> f64 {
        match self {
            Self::Linear => grade,
            Self::Exp2 => grade.exp2() - 1.0,
            Self::AtLeast(level) => f64::from(grade >= *level),
            Self::Share(max) => grade / max,
            Self::Clipped(max) => grade.min(*max) / max,
            Self::Satisfies(top) => (grade.exp2() - 1.0) / top.exp2(),
            Self::Table(pairs) => named(pairs, grade).unwrap_or(grade),
        }
    }

    /// Returns the table of the gain of every label code. Codes of unjudged documents have gain 0,
    /// unless a table names these codes.
    ///
    /// # Errors
    /// An infinite or NaN gain, such as 2^2000.
    pub fn table(&self, book: &Codebook) -> Result<CodeTable, String> {
        let mut table = [0.0; 256];
        if let Self::Table(pairs) = self {
            table[usize::from(NOT_IN_QRELS)] = named(pairs, -1.0).unwrap_or(0.0);
            table[usize::from(NEGATIVE)] = named(pairs, -2.0).unwrap_or(0.0);
        }
        // A class has no grades on both sides of the level of a measure, so `AtLeast` has one gain
        // for a whole class and needs no exact grades.
        let classes_differ = matches!(self, Gains::AtLeast(_));
        match book.extent() {
            // All functions but `AtLeast` grow with the grade, and the gains of a table are finite.
            Some(extent) if !classes_differ => {
                self.finite_gain(extent.largest)?;
                let exact = ExactGains { gains: self.clone(), floor: 0.0, unit: 1.0 };
                Ok(CodeTable { exact: Some(exact), ..table.into() })
            }
            _ => {
                for (at, &grade) in book.grades().iter().enumerate() {
                    table[usize::from(FIRST_GRADE) + at] = self.finite_gain(grade)?;
                }
                Ok(table.into())
            }
        }
    }

    /// Returns the gain of a grade, and rejects an infinite gain and NaN.
    fn finite_gain(&self, grade: f64) -> Result<f64, String> {
        match self.gain(grade) {
            gain if gain.is_finite() => Ok(gain),
            _ => Err(format!("the gain of grade {grade} is not a finite number")),
        }
    }

    /// Returns the least positive and the largest absolute gain of the grades in a range.
    fn extremes(&self, extent: GradeRange) -> (f64, f64) {
        let named: &[(f64, f64)] = if let Self::Table(pairs) = self { pairs } else { &[] };
        let of_grades = [extent.least_positive, extent.largest].map(|grade| self.gain(grade));
        let gains = of_grades.into_iter().chain(named.iter().map(|pair| pair.1)).map(f64::abs);
        let positive = gains.filter(|&gain| gain > 0.0 && gain.is_finite());
        positive.fold((f64::INFINITY, 0.0), |(least, largest), gain| {
            (least.min(gain), largest.max(gain))
        })
    }
}

// A gain of 2¹⁰²³ is finite, but the sum of two is not. In a quotient of two sums of gains a common
// factor cancels, and a power of two cancels to the bit: multiplying all terms by a power of two
// multiplies all sums and roundings alike, as long as no number leaves the normal range. So all
// gains are multiplied by 2⁻¹²⁸: the largest finite gain comes below 2⁸⁹⁶, and 2⁶⁰ such gains can
// be added. At the lower end 2⁻⁸⁰⁰ becomes 2⁻⁹²⁸. Divided by a logarithm, 2⁻⁹²⁸ is still far above
// the subnormal numbers, which would lose bits.
/// Scales the gain table of a measure that divides one sum of gains by another, so that no sum
/// overflows. If a sum of the gains might not be finite, all gains are multiplied by a power of
/// two. The factor changes no bit of the quotient.
///
/// # Errors
/// The smallest gain would lose bits beside the largest gain.
pub fn for_ratio(mut table: CodeTable, book: &Codebook) -> Result<CodeTable, String> {
    /// The largest gain, so that a sum of 2⁶⁰ gains does not overflow.
    const LARGEST: f64 = power_of_two(900);
    /// The smallest gain allowed beside a gain above [`LARGEST`].
    const SMALLEST: f64 = power_of_two(-800);
    const UNIT: f64 = power_of_two(-128);
    let gains = table.iter().map(|gain| gain.abs()).filter(|&gain| gain > 0.0);
    let mut smallest = gains.clone().fold(f64::INFINITY, f64::min);
    let mut largest = gains.fold(0.0, f64::max);
    if let (Some(exact), Some(extent)) = (&table.exact, book.extent()) {
        let (least, most) = exact.gains.extremes(extent);
        (smallest, largest) = (smallest.min(least), largest.max(most));
    }
    if largest <= LARGEST {
        return Ok(table);
    }
    if smallest < SMALLEST {
        return Err(format!(
            "the grades of the judgments give gains of {largest:e} and {smallest:e}, too far apart \
             to be added up"
        ));
    }
    if let Some(exact) = &mut table.exact {
        exact.unit *= UNIT;
    }
    Ok(table.map(|_, gain| gain * UNIT))
}

/// Returns 2^exponent, for exponents within the normal range of f64.
const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Returns the gain that a list of pairs of grade and gain has for a grade, if it has the grade.
fn named(pairs: &[(f64, f64)], grade: f64) -> Option<f64> {
    pairs.iter().find(|(candidate, _)| *candidate == grade).map(|&(_, gain)| gain)
}

/// The largest scale of [`stop_table`]: 2^gmax is a finite number.
pub const LARGEST_SCALE: f64 = 1000.0;

/// Returns the chance that a document of each label code satisfies the user,
/// `(2^grade − 1) / 2^gmax`, as in ERR (Chapelle and others, 2009).
///
/// # Errors
/// A grade above `gmax`.
pub fn stop_table(gmax: f64, book: &Codebook) -> Result<CodeTable, String> {
    if let Some(max) = book.max_grade().filter(|&max| max > LARGEST_SCALE) {
        return Err(format!(
            "the qrels have a grade of {max}, and 2^grade is too large beyond {LARGEST_SCALE}"
        ));
    }
    if let Some(max) = book.max_grade()
        && max > gmax
    {
        return Err(format!(
            "the qrels have a grade of {max}, above gmax={gmax}: give gmax={max} or more, or \
             gmax=auto"
        ));
    }
    Gains::Satisfies(gmax).table(book)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that gains said to ascend do so, over grades that lie as near to one another as
    /// floats do, and that other gains are not said to ascend.
    #[test]
    fn gains_that_are_said_to_ascend_do() {
        let gains = |gains, floor, unit| ExactGains { gains, floor, unit };
        let near = |grade: f64| [grade.next_down().max(0.0), grade, grade.next_up()];
        let mut grades: Vec<f64> = (0..400)
            .map(|at| f64::from(at) / 37.0)
            .chain([1e-300, 2.8, 1e300])
            .flat_map(near)
            .collect();
        grades.sort_unstable_by(f64::total_cmp);
        for kind in [
            Gains::Linear,
            Gains::AtLeast(1.5),
            Gains::Share(2.8),
            Gains::Share(4.1),
            Gains::Clipped(1.7),
        ] {
            for (floor, unit) in [(0.0, 1.0), (1.2, 1.0), (0.0, 0.3), (2.0, 7.7)] {
                let exact_gains = gains(kind.clone(), floor, unit);
                assert!(exact_gains.ascends(), "{kind:?}");
                let values = grades.iter().map(|&grade| exact_gains.gain(grade));
                assert!(values.is_sorted(), "{kind:?} from {floor} on, of {unit}");
            }
            assert!(!gains(kind.clone(), 0.0, -1.0).ascends() && !gains(kind, 0.0, 0.0).ascends());
        }
        let others = [
            Gains::Share(0.0),
            Gains::Share(-1.0),
            Gains::Clipped(0.0),
            Gains::Clipped(f64::NAN),
            Gains::Exp2,
        ];
        assert!(others.into_iter().all(|kind| !gains(kind, 0.0, 1.0).ascends()));
    }
}

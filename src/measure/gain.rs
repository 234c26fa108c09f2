//! Gains: the worth of a document of each grade.

use crate::fold::CodeTable;
use crate::label::Codebook;
use crate::label::code::{FIRST_GRADE, NEGATIVE, UNPOOLED};

/// A function from grades to gains.
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
    /// The grades in the table have the gains of the table, and other grades are worth themselves. As in trec_eval, −1 stands for documents
    /// that the qrels lack, and −2 for those with a negative grade.
    Table(Vec<(f64, f64)>),
}

impl Gains {
    /// The gain of a grade ≥ 0.
    pub fn of(&self, grade: f64) -> f64 {
        match self {
            Gains::Linear => grade,
            Gains::Exp2 => grade.exp2() - 1.0,
            Gains::AtLeast(level) => f64::from(grade >= *level),
            Gains::Share(max) => grade / max,
            Gains::Clipped(max) => grade.min(*max) / max,
            Gains::Table(pairs) => named(pairs, grade).unwrap_or(grade),
        }
    }

    /// The gain of every code; 0 for the codes of unjudged documents unless a table names them.
    ///
    /// # Errors
    /// A gain that is not finite, such as 2^2000.
    pub fn table(&self, book: &Codebook) -> Result<CodeTable, String> {
        let mut table = [0.0; 256];
        if let Gains::Table(pairs) = self {
            table[usize::from(UNPOOLED)] = named(pairs, -1.0).unwrap_or(0.0);
            table[usize::from(NEGATIVE)] = named(pairs, -2.0).unwrap_or(0.0);
        }
        for (at, &grade) in book.grades().iter().enumerate() {
            let gain = self.of(grade);
            if !gain.is_finite() {
                return Err(format!("the gain of grade {grade} is not a finite number"));
            }
            table[usize::from(FIRST_GRADE) + at] = gain;
        }
        Ok(table.into())
    }
}

/// Scales the table of a measure that divides one sum of gains by another. If gains are so large that a sum might not be finite, all are
/// multiplied by a power of two, which changes no bit of the quotient.
///
/// # Errors
/// Gains so far apart that the smallest would lose bits.
pub fn for_ratio(mut table: CodeTable) -> Result<CodeTable, String> {
    /// The largest gain of which 2⁶⁰ can be added without overflow.
    const LARGEST: f64 = power_of_two(900);
    /// The smallest gain that may occur beside one above [`LARGEST`].
    const SMALLEST: f64 = power_of_two(-800);
    const UNIT: f64 = power_of_two(-128);
    let gains = || table.iter().map(|gain| gain.abs()).filter(|&gain| gain > 0.0);
    let (largest, smallest) = (gains().fold(0.0, f64::max), gains().fold(f64::INFINITY, f64::min));
    if largest <= LARGEST {
        return Ok(table);
    }
    if smallest < SMALLEST {
        return Err(format!("the gains {largest:e} and {smallest:e} are too far apart to be added up"));
    }
    std::sync::Arc::make_mut(&mut table).iter_mut().for_each(|gain| *gain *= UNIT);
    Ok(table)
}

/// 2^exponent, for exponents within the normal range of f64.
const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

fn named(pairs: &[(f64, f64)], grade: f64) -> Option<f64> {
    pairs.iter().find(|(of, _)| *of == grade).map(|&(_, gain)| gain)
}

/// The largest scale of [`stop_table`]: 2^gmax is a finite number.
pub(super) const LARGEST_SCALE: f64 = 1000.0;

/// The chance that a document of each code satisfies the user, `(2^grade − 1) / 2^gmax` (Chapelle et al. 2009).
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
            "the qrels have a grade of {max}, above gmax={gmax}: give gmax={max} or more, or gmax=auto"
        ));
    }
    let mut table = [0.0; 256];
    for (at, &grade) in book.grades().iter().enumerate() {
        table[usize::from(FIRST_GRADE) + at] = (grade.exp2() - 1.0) / gmax.exp2();
    }
    Ok(table.into())
}

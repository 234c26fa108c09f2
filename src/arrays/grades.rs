//! From grades in arrays to the codes of labels.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};
use rayon::prelude::*;

use super::numbers::{Number, Numbers, with_values};
use super::shape::{Layout, wrong};
use crate::error::Result;
use crate::label::Codebook;
use crate::label::code::{FIRST_GRADE, MAX_GRADES, UNPOOLED};

/// The largest grade up to which all integers from 0 on are taken into a codebook without a look at which of them occur.
const FEW: i32 = 15;
/// So many grades are looked at by one thread at a time.
const PIECE: usize = 1 << 20;

/// Makes codes of grades.
#[derive(Debug, Clone)]
pub(crate) struct Coder {
    level: Level,
    /// The largest grade, where they are all integers from 0 on.
    through: Option<i32>,
    /// The codes of small integers; 0 for those that are no grade.
    small: Box<[u8; 256]>,
    book: Codebook,
}

impl Coder {
    /// For the grades of a codebook.
    pub fn new(book: &Codebook) -> Self {
        let grades = book.grades();
        let through = grades.iter().zip(0..).all(|(&grade, at)| grade == f64::from(at));
        let mut small = Box::new([0; 256]);
        for (&grade, code) in grades.iter().zip(FIRST_GRADE..=255) {
            if let Ok(at) = usize::try_from(grade.small())
                && at < small.len()
            {
                small[at] = code;
            }
        }
        let through = through.then(|| grades.len() as i32 - 1);
        Coder { level: Level::new(), through, small, book: book.clone() }
    }

    /// The codebook.
    pub fn book(&self) -> &Codebook {
        &self.book
    }

    /// Appends the codes of some grades; −1 is a document that is not judged.
    ///
    /// # Errors
    /// The place of the first that has no code.
    pub fn append(&self, grades: &Numbers<'_>, of: Range<usize>, codes: &mut Vec<u8>) -> Result<(), usize> {
        let start = codes.len();
        codes.resize(start + of.len(), 0);
        let first = of.start;
        with_values!(*grades, values => self.encode(&values[of], &mut codes[start..]))
            .map_err(|at| first + at)
    }

    fn encode<N: Number>(&self, values: &[N], codes: &mut [u8]) -> Result<(), usize> {
        let Some(most) = self.through else { return self.look_up(values, codes) };
        if dispatch!(self.level, simd => shift(simd, values, most, codes)) {
            return Ok(());
        }
        let wrong = values.iter().position(|value| !(-1..=most).contains(&value.small()));
        wrong.map_or(Ok(()), Err)
    }

    /// The codes one by one.
    fn look_up<N: Number>(&self, values: &[N], codes: &mut [u8]) -> Result<(), usize> {
        for (at, (value, code)) in values.iter().zip(codes).enumerate() {
            *code = match value.small() {
                -1 => UNPOOLED,
                small @ 0..256 => self.small[small as usize],
                _ => self.book.code(value.to_f64()).filter(|_| value.to_f64() >= 0.0).unwrap_or(0),
            };
            if *code == 0 {
                return Err(at);
            }
        }
        Ok(())
    }
}

/// The codes of integers from −1 to `most`; false where there is another number.
#[inline(always)]
fn shift<S: Simd, N: Number>(_: S, values: &[N], most: i32, codes: &mut [u8]) -> bool {
    let mut wrong = false;
    for (value, code) in values.iter().zip(codes) {
        let refused;
        (*code, refused) = value.shifted(most);
        wrong |= refused;
    }
    !wrong
}

/// The codebook of the grades of an array, which errors call `name`. Where all are integers from −1 to 15, it has all from 0 to the
/// largest; else those that occur.
///
/// # Errors
/// A grade that is not finite, or less than 0 and not −1; more than 253 of them.
pub(super) fn codebook(grades: &Numbers<'_>, layout: &Layout<'_>, name: &str) -> Result<Codebook> {
    let level = Level::new();
    let rows = (layout.rows() * PIECE).div_ceil(layout.values(0..layout.rows()).max(1)).max(1);
    let pieces: Vec<Range<usize>> =
        (0..layout.rows()).step_by(rows).map(|start| start..layout.rows().min(start + rows)).collect();
    let largest = |rows: &Range<usize>| {
        let extents = rows.clone().map(|row| {
            with_values!(*grades, values => dispatch!(level, simd => extent(simd, &values[layout.row(row)])))
        });
        extents.fold((0, -1), |(least, most), (small, large)| (least.min(small), most.max(large)))
    };
    let sum = |one: (i32, i32), other: (i32, i32)| (one.0.min(other.0), one.1.max(other.1));
    let (least, most) = in_pieces(&pieces, largest, sum).unwrap_or((0, -1));
    if least >= -1 && most <= FEW {
        return Codebook::new((0..=most).map(f64::from));
    }
    let distinct = |rows: &Range<usize>| {
        let mut distinct = Distinct::default();
        for row in rows.clone() {
            let values = layout.row(row);
            let start = values.start;
            let added = with_values!(*grades, all => distinct.add(&all[values]));
            added.map_err(|(at, more)| {
                let shown = format!("{name}[{row}, {at}] is {}", grades.show(start + at));
                wrong(if more {
                    format!("{shown}, another grade after {MAX_GRADES} distinct ones, and a label is one byte: round the grades")
                } else {
                    format!("{shown}: a grade from 0 was expected, or -1 for a document that is not judged")
                })
            })?;
        }
        Ok(distinct.grades)
    };
    let all = in_pieces(&pieces, distinct, |one: Result<Vec<f64>>, other| {
        let (mut one, other) = (one?, other?);
        one.extend(other);
        one.sort_by(f64::total_cmp);
        one.dedup();
        Ok(one)
    });
    let all = all.transpose()?.unwrap_or_default();
    if all.len() > MAX_GRADES {
        return Err(wrong(format!(
            "{name} has {} distinct grades, and a label is one byte: round them to at most {MAX_GRADES} values",
            all.len()
        )));
    }
    Codebook::new(all)
}

/// The sum of what becomes of pieces, on all threads if there are several.
fn in_pieces<T: Send>(
    pieces: &[Range<usize>],
    of: impl Fn(&Range<usize>) -> T + Send + Sync,
    sum: impl Fn(T, T) -> T + Send + Sync,
) -> Option<T> {
    match pieces {
        [] => None,
        [one] => Some(of(one)),
        pieces => pieces.par_iter().map(of).reduce_with(sum),
    }
}

/// The smallest and the largest of some numbers and of 0 and −1; the smallest is less than −1 where one is not small.
#[inline(always)]
fn extent<S: Simd, N: Number>(_: S, values: &[N]) -> (i32, i32) {
    values.iter().fold((0, -1), |(least, most), value| (least.min(value.small()), most.max(value.small())))
}

/// The distinct grades of some numbers, ascending.
#[derive(Default)]
struct Distinct {
    grades: Vec<f64>,
    last: f64,
}

impl Distinct {
    /// Adds numbers. The place of the first that is refused is an error, and whether it is one too many.
    fn add<N: Number>(&mut self, values: &[N]) -> Result<(), (usize, bool)> {
        for (at, value) in values.iter().enumerate() {
            let grade = value.to_f64() + 0.0;
            if grade == -1.0 || grade == self.last && !self.grades.is_empty() {
                continue;
            }
            if !(grade >= 0.0 && grade.is_finite()) {
                return Err((at, false));
            }
            self.last = grade;
            if let Err(place) = self.grades.binary_search_by(|of| of.total_cmp(&grade)) {
                if self.grades.len() == MAX_GRADES {
                    return Err((at, true));
                }
                self.grades.insert(place, grade);
            }
        }
        Ok(())
    }
}

//! Encoding of grades in arrays as one-byte labels, and the codebook of an array's grades.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use rayon::prelude::*;

use super::{numbers::ArrayNumber, shape::Layout};
use crate::error::{Error, Result};
use crate::matrix::{
    Codebook,
    code::{FIRST_GRADE, GradeRange, MAX_GRADES, NOT_IN_QRELS},
    pieces,
};
use crate::numbers::{Numbers, with_numbers};

/// The largest grade up to which a codebook has all integers from 0 on, without a search for the
/// integers that occur.
const FEW: i32 = 15;
/// The number of labels in one SIMD vector.
const VECTOR: usize = 64;
/// The number of grades that a thread examines at a time.
const PIECE: usize = 1 << 20;

/// An encoder of grades, numbers of any type, as the one-byte codes of a codebook.
#[derive(Debug, Clone)]
pub struct GradeEncoder {
    /// The largest grade, if the grades are all integers from 0 on.
    through: Option<i32>,
    /// The codes of small integers; 0 for integers outside the codebook.
    small: Box<[u8; 256]>,
    book: Codebook,
}

impl GradeEncoder {
    /// Makes an encoder for the grades of a codebook.
    pub fn new(book: &Codebook) -> Self {
        let grades = book.grades();
        let through = grades.iter().zip(0..).all(|(&grade, at)| grade == f64::from(at));
        let through = through.then(|| grades.len() as i32 - 1);
        let mut small = Box::new([0; 256]);
        for (&grade, code) in grades.iter().zip(FIRST_GRADE..=255) {
            if let Ok(at) = usize::try_from(grade.small())
                && at < small.len()
            {
                small[at] = code;
            }
        }
        Self { through, small, book: book.clone() }
    }

    /// Returns the codebook of the encoder: the grade of each code.
    pub fn book(&self) -> &Codebook {
        &self.book
    }

    /// Returns the code of a grade of the codebook. A codebook has a code for grades below 0 too,
    /// but arrays and lists have no such grade.
    pub(super) fn code(&self, grade: f64) -> Option<u8> {
        self.book.code(grade).filter(|_| grade >= 0.0)
    }

    /// Writes the one-byte codes of grades; −1 is a document that is not judged. Returns false if a
    /// grade has no code.
    #[inline(always)]
    pub(super) fn encode<N: ArrayNumber>(&self, values: &[N], codes: &mut [u8]) -> bool {
        match self.through {
            Some(most) => shift(values, most, codes),
            None => self.look_up(values, codes).is_ok(),
        }
    }

    /// Looks up the one-byte code of each grade in the codebook. The error is the index of the
    /// first grade without a code.
    #[inline(never)]
    pub(super) fn look_up<N: ArrayNumber>(
        &self,
        values: &[N],
        codes: &mut [u8],
    ) -> Result<(), usize> {
        for (at, (value, code)) in values.iter().zip(codes).enumerate() {
            *code = match value.small() {
                -1 => NOT_IN_QRELS,
                small @ 0..256 => self.small[small as usize],
                _ => self.code(value.to_f64()).unwrap_or(0),
            };
            if *code == 0 {
                return Err(at);
            }
        }
        Ok(())
    }
}

/// Writes the codes of grades that are integers from −1 to `most`; returns false on any other
/// number.
#[inline(always)]
fn shift<N: ArrayNumber>(values: &[N], most: i32, codes: &mut [u8]) -> bool {
    let mut wrong = false;
    let codes = &mut codes[..values.len()];
    for (values, codes) in
        values.as_chunks::<VECTOR>().0.iter().zip(codes.as_chunks_mut::<VECTOR>().0)
    {
        wrong |= shift_each(values, most, codes);
    }
    // The last whole vector ends at the last number, so it overlaps the vector before.
    wrong |= match (values.last_chunk::<VECTOR>(), codes.last_chunk_mut::<VECTOR>()) {
        (Some(values), Some(codes)) => shift_each(values, most, codes),
        _ => shift_each(values, most, codes),
    };
    !wrong
}

/// Writes the codes of grades as [`shift`] does, with the opposite result: true on a number that is
/// no integer from −1 to `most`.
#[inline(always)]
fn shift_each<N: ArrayNumber>(values: &[N], most: i32, codes: &mut [u8]) -> bool {
    let mut wrong = false;
    for (value, code) in values.iter().zip(codes) {
        let refused;
        (*code, refused) = value.shifted(most);
        wrong |= refused;
    }
    wrong
}

/// Adds the number of labels of each grade among a ranking's first `depth` labels to `counts`;
/// `labels` are whole SIMD vectors.
#[inline(always)]
pub(super) fn count<S: Simd>(simd: S, labels: &[u8], depth: usize, counts: &mut [u32]) {
    /// The largest number of grades for which one SIMD pass per grade counts the labels; more
    /// grades are counted label by label.
    const FEW: usize = 32;
    if counts.len() > FEW {
        for &label in &labels[..depth] {
            if let Some(count) = counts.get_mut(usize::from(label.wrapping_sub(FIRST_GRADE))) {
                *count += 1;
            }
        }
        return;
    }
    let (whole, rest) = labels.split_at(depth - depth % VECTOR);
    let inside = u64::MAX.checked_shr((whole.len() + VECTOR - depth) as u32).unwrap_or(0);
    for (code, count) in (FIRST_GRADE..=255).zip(counts) {
        for labels in whole.chunks_exact(VECTOR) {
            *count += equal(simd, labels, code).count_ones();
        }
        for labels in rest.chunks_exact(VECTOR) {
            *count += (equal(simd, labels, code) & inside).count_ones();
        }
    }
}

/// Returns a bit for each of 64 labels: 1 if the label equals `code`.
#[inline(always)]
fn equal<S: Simd>(simd: S, labels: &[u8], code: u8) -> u64 {
    u8x64::from_slice(simd, labels).simd_eq(u8x64::splat(simd, code)).to_bitmask()
}

/// Makes the codebook for the grades in an array. If all grades are integers from −1 to 15, the
/// codebook has all grades from 0 to the largest; else the grades that occur.
///
/// # Errors
/// A grade that is not finite, or less than 0 and not −1: `wrong` makes the error of a place of a
/// row.
pub(super) fn codebook(
    grades: Numbers<'_>,
    layout: &Layout<'_>,
    wrong: impl Fn(usize, usize) -> Error + Sync,
) -> Result<Codebook> {
    let level = Level::new();
    let rows = (layout.rows() * PIECE).div_ceil(layout.values(0..layout.rows()).max(1)).max(1);
    let pieces = pieces(layout.rows(), rows);
    let extent_of = |values: Range<usize>| -> (i32, i32) {
        with_numbers!(grades, all => dispatch!(level, _simd => ArrayNumber::extent(&all[values])))
    };
    // Nearly all arrays have small integers, whose extent is found at the speed of memory.
    let extent = in_pieces(
        &pieces,
        |rows| match layout.contiguous_range(rows.clone()) {
            Some(values) => extent_of(values),
            None => rows.map(|row| extent_of(layout.row(row))).fold((0, -1), join_extents),
        },
        join_extents,
    );
    let (least, most) = extent.unwrap_or((0, -1));
    if least >= -1 && most <= FEW {
        return Codebook::new((0..=most).map(f64::from));
    }
    let all = in_pieces(
        &pieces,
        |rows| {
            let distinct = with_numbers!(grades, all => distinct_grades(all, layout, rows));
            distinct.map_err(|(row, at)| wrong(row, at))
        },
        |one: Result<Vec<f64>>, other| Ok([one?, other?].concat()),
    );
    Codebook::new(all.transpose()?.unwrap_or_default())
}

/// Computes a value for each range of rows, on all threads if there are several ranges, and
/// combines the values by `sum`.
fn in_pieces<T: Send>(
    pieces: &[Range<usize>],
    compute: impl Fn(Range<usize>) -> T + Send + Sync,
    sum: impl Fn(T, T) -> T + Send + Sync,
) -> Option<T> {
    match pieces {
        [] => None,
        // A small array must not wake the threads, nor wait for them.
        [one] => Some(compute(one.clone())),
        pieces => pieces.par_iter().cloned().map(compute).reduce_with(sum),
    }
}

/// Combines two extents, each the smallest and the largest of some numbers, into the extent of all
/// of them.
fn join_extents(one: (i32, i32), other: (i32, i32)) -> (i32, i32) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Collects the distinct grades of some rows of an array, as many as can have codes, and the
/// extremes of any further grades. The error is the row and the place in it of the first number
/// that is refused.
fn distinct_grades<N: ArrayNumber>(
    all: &[N],
    layout: &Layout<'_>,
    rows: Range<usize>,
) -> Result<Vec<f64>, (usize, usize)> {
    let mut grades: Vec<f64> = Vec::new();
    let (mut further, mut last) = (None, f64::NAN);
    for row in rows {
        for (at, value) in all[layout.row(row)].iter().enumerate() {
            let grade = value.to_f64() + 0.0;
            // Neighbours often have the same grade, and a comparison is cheaper than a search.
            if grade == -1.0 || grade == last {
                continue;
            }
            if !(grade >= 0.0 && grade.is_finite()) {
                return Err((row, at));
            }
            last = grade;
            if let Err(place) = grades.binary_search_by(|probe| probe.total_cmp(&grade)) {
                if grades.len() < MAX_GRADES {
                    grades.insert(place, grade);
                } else {
                    let own = GradeRange::from_grades([grade]);
                    further = own.into_iter().chain(further).reduce(GradeRange::and);
                }
            }
        }
    }
    let further = further.map(|further| [further.least_positive, further.largest]);
    // Without a grade above 0, the least of these is infinite.
    grades.extend(further.iter().flatten().filter(|grade| grade.is_finite()));
    Ok(grades)
}

//! Rankings as two arrays of integer ids: the relevant or nearest ids of each query (the truth),
//! and the found ids.
//!
//! Vectors or a table compare a row ([`matching`](super::matching)). For a row with a repeated id
//! or an inner empty place, a plain function finds the ids or reports their fault.

use std::{collections::HashMap, mem, ops::Range};

use bytemuck::cast_slice;
use fearless_simd::{Level, dispatch, prelude::*};

use super::{
    DuplicateIds, GradeEncoder, Scratch,
    lists::IdListSource,
    match_buffers::{IdTableAccess, MatchBuffers},
    matching::{ArrayId, FEW, FoundId, RowIds},
    numbers::ArrayNumber,
    shape::{Layout, check_judged_counts, depth, shape_error},
    short::SHORT,
};
use crate::error::Result;
use crate::matrix::{
    Block,
    code::{FIRST_GRADE, NOT_IN_QRELS},
};
use crate::numbers::{Integers, Numbers, with_numbers};

/// An array of integer ids, a row for each query, with its name in error messages.
#[derive(Debug, Clone)]
pub(super) struct IdArray<'a> {
    pub name: &'static str,
    pub ids: Integers<'a>,
    pub layout: Layout<'a>,
}

/// Rankings as two arrays of integer ids, the true and the found ids of each query, with the grades
/// of true ids.
#[derive(Debug)]
pub(super) struct IdArrays<'a> {
    pub truth: IdArray<'a>,
    pub found: IdArray<'a>,
    /// Whether the ids are of nearest neighbours. The nearest true id then has the highest grade,
    /// and the id −1 marks an empty place of a row. Else all true ids are alike.
    pub are_near: bool,
    /// The distances of the true ids: an id takes the column of the first id at its distance.
    pub distances: Option<Numbers<'a>>,
    /// The distances of the found ids, beside those of the true ones, and a tolerance: a found id
    /// stands where the first one stands that is not nearer than its distance less the tolerance.
    pub within: Option<(Numbers<'a>, f64)>,
    pub repeats: DuplicateIds,
    /// The rows of the arrays that are no rankings because their truth is empty, ascending.
    pub dropped: Vec<usize>,
    /// The most ids that the truth of a row has.
    pub width: usize,
}

/// Returns the row of an array that has the ranking numbered `ranking`, where the ascending
/// `dropped` rows have none.
pub fn ranking_row(dropped: &[usize], ranking: usize) -> usize {
    // The number of dropped rows before a row does not fall from row to row.
    ranking + partition_point(dropped.len(), |at| dropped[at] - at <= ranking)
}

/// Returns the first index for which `is_before` is false, as it is for all behind it; `count` if
/// it is true for all of that many.
fn partition_point(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

impl IdArray<'_> {
    fn show(&self, row: usize, at: usize) -> String {
        format!("{}[{row}, {at}], {}", self.name, self.ids.get(self.layout.row(row).start + at))
    }
}

/// The output block for rankings from arrays of ids, with buffers for matching ids and counting
/// judged documents.
struct FilledRows<'f> {
    /// The number of judged documents of each grade of a row whose truth is complete.
    whole: Vec<u32>,
    /// The index of a row of the block whose judged documents are `whole`.
    as_whole: Option<usize>,
    reach: usize,
    room: &'f mut MatchBuffers,
    /// The number of judged documents of each grade of a row.
    judged: &'f mut Vec<u32>,
    block: &'f mut Block,
}

impl IdArrays<'_> {
    /// Returns whether an id marks an empty place of a row, without a neighbour.
    #[inline]
    fn is_empty_place<K: ArrayId>(&self, id: K) -> bool {
        self.are_near && id.is_empty()
    }

    /// Copies the true and the found ids of a query as 64-bit integers, so that arrays of different
    /// integer types can be compared. Trailing empty places are left out.
    fn widen(&self, row: usize, into: &mut [Vec<i64>; 2]) -> Result<()> {
        for (array, ids) in [&self.truth, &self.found].into_iter().zip(into) {
            let range = array.layout.row(row);
            ids.clear();
            for at in range.clone() {
                let id = array.ids.get(at);
                // −1 as an unsigned id is the largest `u64`.
                let id = if id == i128::from(u64::MAX) { -1 } else { id };
                ids.push(i64::try_from(id).map_err(|_| {
                    let shown = array.show(row, at - range.start);
                    shape_error(format!(
                        "{shown}, is more than an int64 has, and the other ids have another \
                               type: give both one type"
                    ))
                })?);
            }
            let count = self.row(ids, 0..ids.len()).ids.len();
            ids.truncate(count);
        }
        Ok(())
    }

    /// Returns the ids of a query's row in an array, without trailing empty places.
    #[inline(always)]
    fn row<'k, K: ArrayId>(&self, all_ids: &'k [K], range: Range<usize>) -> RowIds<'k, K> {
        let whole = all_ids[range.start..].first_chunk();
        let mut ids = &all_ids[range];
        if self.are_near {
            while let [before @ .., last] = ids
                && last.is_empty()
            {
                ids = before;
            }
        }
        RowIds { ids, whole }
    }

    /// Matches a query's found ids with its true ids one by one, and lists the found ids that take
    /// a rank. Handles empty places and repeated ids too.
    #[cold]
    #[inline(never)]
    fn plain<K: ArrayId>(
        &self,
        row: usize,
        truth: &[K],
        found: &[K],
        into: &mut Vec<FoundId>,
    ) -> Result<()> {
        let again = if self.are_near { "is there twice" } else { "occurs twice" };
        // By id: the column, and whether the id was found already.
        let mut known = HashMap::with_capacity(truth.len() + found.len());
        for (at, &id) in truth.iter().enumerate() {
            reject_if!(
                !self.is_empty_place(id) && known.insert(id, (at + 1, false)).is_some(),
                "{}, {again}",
                self.truth.show(row, at)
            );
        }
        into.clear();
        for (at, &id) in found.iter().enumerate() {
            if self.is_empty_place(id) {
                into.push(FoundId { at: None, column: 0 });
                continue;
            }
            let (column, is_found) = known.entry(id).or_default();
            into.push(match (mem::replace(is_found, true), self.repeats) {
                (false, _) => FoundId { at: Some(at), column: *column },
                (true, DuplicateIds::Error) => reject!("{}, {again}", self.found.show(row, at)),
                (true, DuplicateIds::First) => continue,
                (true, DuplicateIds::Blank) => FoundId { at: None, column: 0 },
            });
        }
        Ok(())
    }

    /// Writes for each true id of a query the first column, from 0, with an equal distance, or
    /// without distances the id's own column.
    fn firsts<K: ArrayId>(&self, row: usize, ids: &[K], firsts: &mut Vec<u32>) -> Result<()> {
        firsts.clear();
        let Some(distances) = self.distances else {
            firsts.extend(0..ids.len() as u32);
            return Ok(());
        };
        let start = self.truth.layout.row(row).start;
        let written = with_numbers!(distances, all => first_columns(ids, &all[start..], firsts));
        written.map_err(|(before, at)| {
            let (before, distance) = (distances.get(start + before), distances.get(start + at));
            shape_error(if distance.is_nan() {
                format!("truth_distances[{row}, {at}] is not a number")
            } else {
                format!(
                    "truth_distances[{row}]: {distance:?} follows {before:?} at rank {}: \
                     ascending distances were expected; of similarities give the negative",
                    at + 1
                )
            })
        })
    }

    /// Returns the column, from 1, of a found id among the `count` true ids, or 0. Where distances
    /// of found ids decide, it is the column of the first true neighbour not nearer than the
    /// distance less the tolerance.
    fn column(&self, row: usize, count: usize, found_id: FoundId) -> Result<usize> {
        let (Some(distances), Some((found, within))) = (self.distances, self.within) else {
            return Ok(found_id.column);
        };
        let Some(at) = found_id.at else { return Ok(0) };
        let distance = found.get(self.found.layout.row(row).start + at);
        reject_if!(distance.is_nan(), "found_distances[{row}, {at}] is not a number");
        let start = self.truth.layout.row(row).start;
        let nearer = partition_point(count, |at| distances.get(start + at) + within < distance);
        Ok(if nearer < count { nearer + 1 } else { 0 })
    }

    /// Returns the grade of the true id in a column, from 0, and the one-byte code of the grade.
    /// The grade is 1, or for neighbours the higher the nearer.
    fn grade(&self, coder: &GradeEncoder, column: usize) -> Result<(f64, u8)> {
        let grade = if self.are_near { (self.width - column) as f64 } else { 1.0 };
        let code = coder.code(grade).ok_or_else(|| {
            let name = self.truth.name;
            shape_error(format!("{name} has the grade {grade}, which the codebook lacks"))
        })?;
        Ok((grade, code))
    }

    /// Appends the rankings of some rows to a block of labels, from true and found ids of one
    /// integer type.
    fn fill_alike<K: IdTableAccess>(
        &self,
        truth: &[K],
        found: &[K],
        rows: Range<usize>,
        into: &mut FilledRows<'_>,
    ) -> Result<()> {
        dispatch!(Level::new(), simd => {
            for row in rows {
                let row = ranking_row(&self.dropped, row);
                let truth = self.row(truth, self.truth.layout.row(row));
                let found = self.row(found, self.found.layout.row(row));
                self.fill_row(simd, row, [truth, found], into)?;
            }
            Ok(())
        })
    }

    /// Appends the rankings of some rows to a block of labels, from true and found ids of different
    /// integer types.
    #[inline(never)]
    fn fill_mixed(&self, rows: Range<usize>, into: &mut FilledRows<'_>) -> Result<()> {
        for row in rows {
            let row = ranking_row(&self.dropped, row);
            let mut widened = mem::take(&mut into.room.widened);
            self.widen(row, &mut widened)?;
            let both = widened.each_ref().map(|ids| RowIds { ids, whole: ids.first_chunk() });
            dispatch!(Level::new(), simd => self.fill_row(simd, row, both, into))?;
            into.room.widened = widened;
        }
        Ok(())
    }

    /// Appends the ranking of a row to a block: the labels of its found ids, and its judged
    /// documents by grade.
    #[inline(always)]
    fn fill_row<S: Simd, K: IdTableAccess>(
        &self,
        simd: S,
        row: usize,
        both: [RowIds<'_, K>; 2],
        into: &mut FilledRows<'_>,
    ) -> Result<()> {
        let FilledRows { whole, as_whole, reach, room, judged, block } = into;
        let [truth, found] = both.map(|ids| ids.ids);
        let count = truth.len();
        let mut depth = depth(row, found.len())?;
        check_judged_counts(row, &[u32::try_from(count).unwrap_or(u32::MAX)])?;
        let by_distance = self.distances.is_some();
        // The tables below borrow the whole room, so the codes leave the room for this row.
        let (all, mut of_row) = (mem::take(&mut room.codes), mem::take(&mut room.of_row));
        if by_distance {
            self.firsts(row, truth, &mut room.firsts)?;
            of_row.clear();
            of_row.push(NOT_IN_QRELS);
            of_row.extend(room.firsts.iter().map(|&first| all[first as usize + 1]));
        }
        let codes: &[u8] = if by_distance { &of_row } else { &all };
        let labels = block.room(depth);
        let is_plain = label_matched(simd, both, labels, codes, room);
        if !is_plain || self.is_within() {
            self.plain(row, truth, found, &mut room.found)?;
            for (label, &found_id) in labels.iter_mut().zip(&room.found) {
                *label = codes[self.column(row, count, found_id)?];
            }
            depth = room.found.len();
        }
        block.push_labels(depth.min(*reach));
        // All rows with complete truth share one entry of judged documents.
        let is_whole = is_plain && count == self.width && (!by_distance || codes == all);
        match (is_whole, *as_whole) {
            (true, Some(row)) => block.facts.push_again(row),
            (true, None) => {
                *as_whole = Some(block.facts.len());
                block.facts.push_all(1, whole);
            }
            (false, _) => {
                judged.clear();
                judged.resize(whole.len(), 0);
                for (&id, code) in truth.iter().zip(&codes[1..]) {
                    judged[usize::from(code - FIRST_GRADE)] += u32::from(!self.is_empty_place(id));
                }
                block.facts.push_all(1, judged);
            }
        }
        (room.codes, room.of_row) = (all, of_row);
        Ok(())
    }
}

/// Writes the labels of found ids, the codes of their columns, if each id is there once, by
/// whichever of three ways is fastest for their number; returns whether each is.
#[inline(always)]
fn label_matched<S: Simd, K: IdTableAccess>(
    simd: S,
    both: [RowIds<'_, K>; 2],
    labels: &mut [u8],
    codes: &[u8],
    room: &mut MatchBuffers,
) -> bool {
    let [truth, found] = both.map(|ids| ids.ids);
    if truth.len().max(found.len()) <= FEW {
        let mut columns = [0; FEW];
        let is_plain = K::few(simd, both, &mut columns);
        for (label, column) in labels.iter_mut().zip(&columns[..found.len()]) {
            *label = codes[usize::from(*column).min(codes.len() - 1)];
        }
        return is_plain;
    }
    let (tables, codes) = (K::tables(room), &codes[..truth.len() + 1]);
    if truth.len().max(found.len()) <= SHORT {
        tables.short.label(truth, found, codes, labels)
    } else {
        tables.long.match_ids(truth, found, |at, column| labels[at] = codes[column])
    }
}

impl IdListSource for IdArrays<'_> {
    fn rows(&self) -> usize {
        self.truth.layout.rows() - self.dropped.len()
    }

    fn values(&self, rows: Range<usize>) -> usize {
        let Some(last) = rows.clone().next_back() else { return 0 };
        let [first, last] = [rows.start, last].map(|row| ranking_row(&self.dropped, row));
        self.found.layout.values(first..last + 1)
    }

    fn is_row_empty(&self, row: usize) -> bool {
        let mut range = self.found.layout.row(ranking_row(&self.dropped, row));
        range.all(|at| self.are_near && is_padding_id(self.found.ids.get(at)))
    }

    fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    fn neighbours(&self) -> Option<usize> {
        self.are_near.then_some(self.width)
    }

    fn is_within(&self) -> bool {
        self.within.is_some()
    }

    fn set_repeats(&mut self, repeats: DuplicateIds) {
        self.repeats = repeats;
    }

    fn grades(&self) -> Result<Vec<f64>> {
        let largest = if self.are_near { self.width } else { 1 };
        Ok((1..=largest).map(|grade| grade as f64).collect())
    }

    fn fill(
        &self,
        rows: Range<usize>,
        coder: &GradeEncoder,
        reach: usize,
        scratch: &mut Scratch,
        block: &mut Block,
    ) -> Result<()> {
        let Scratch { judged, matching: room, .. } = scratch;
        // The codes where no distances decide.
        room.codes.clear();
        room.codes.push(NOT_IN_QRELS);
        for column in 0..self.width {
            room.codes.push(self.grade(coder, column)?.1);
        }
        let mut whole = vec![0; coder.book().grades().len()];
        room.codes[1..].iter().for_each(|code| whole[usize::from(code - FIRST_GRADE)] += 1);
        let into = &mut FilledRows { whole, as_whole: None, reach, room, judged, block };
        // Ids are only compared for equality, so unsigned ids may be read as signed ones.
        match (self.truth.ids, self.found.ids) {
            (Integers::I32(truth), Integers::I32(found)) => {
                self.fill_alike(truth, found, rows, into)
            }
            (Integers::U32(truth), Integers::U32(found)) => {
                self.fill_alike::<i32>(cast_slice(truth), cast_slice(found), rows, into)
            }
            (Integers::I64(truth), Integers::I64(found)) => {
                self.fill_alike(truth, found, rows, into)
            }
            (Integers::U64(truth), Integers::U64(found)) => {
                self.fill_alike::<i64>(cast_slice(truth), cast_slice(found), rows, into)
            }
            _ => self.fill_mixed(rows, into),
        }
    }

    fn graded(
        &self,
        row: usize,
        coder: &GradeEncoder,
        room: &mut MatchBuffers,
        ranking: &mut Vec<Option<f64>>,
        judged: &mut Vec<f64>,
    ) -> Result<()> {
        let row = ranking_row(&self.dropped, row);
        let MatchBuffers { wide, widened, firsts, found: matched, .. } = room;
        self.widen(row, widened)?;
        let [truth, found] = &*widened;
        matched.clear();
        let is_plain = wide.long.match_ids(truth, found, |at, column| {
            matched.push(FoundId { at: Some(at), column });
        });
        if !is_plain {
            self.plain(row, truth, found, matched)?;
        }
        self.firsts(row, truth, firsts)?;
        for (&id, &first) in truth.iter().zip(&*firsts) {
            if !self.is_empty_place(id) {
                judged.push(self.grade(coder, first as usize)?.0);
            }
        }
        for &found_id in &*matched {
            ranking.push(match self.column(row, truth.len(), found_id)?.checked_sub(1) {
                Some(column) => Some(self.grade(coder, firsts[column] as usize)?.0),
                None => None,
            });
        }
        Ok(())
    }
}

/// Returns whether an integer is −1, the id of an empty place, in any signed or unsigned type.
pub(super) fn is_padding_id(id: i128) -> bool {
    id == -1 || id == i128::from(u32::MAX) || id == i128::from(u64::MAX)
}

/// Writes for each true neighbour the first column, from 0, with an equal distance. An empty place
/// has its own column. The error is a column and an earlier one with a greater distance, or itself
/// if its distance is no number.
fn first_columns<K: ArrayId, N: ArrayNumber>(
    ids: &[K],
    distances: &[N],
    firsts: &mut Vec<u32>,
) -> Result<(), (usize, usize)> {
    let mut nearest: Option<(f64, usize)> = None;
    let mut first = 0;
    for (at, (id, distance)) in ids.iter().zip(distances).enumerate() {
        if id.is_empty() {
            firsts.push(at as u32);
            continue;
        }
        let distance = distance.to_f64();
        match nearest {
            _ if distance.is_nan() => return Err((at, at)),
            Some((before, column)) if distance < before => return Err((column, at)),
            Some((before, _)) if distance == before => {}
            _ => first = at as u32,
        }
        nearest = Some((distance, at));
        firsts.push(first);
    }
    Ok(())
}

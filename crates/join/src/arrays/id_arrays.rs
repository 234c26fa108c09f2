//! Rankings as two arrays of integer ids: the true ids of each query (the truth), and the found
//! ids.
//!
//! Vectors or a table compare a row ([`matching`](super::matching)). For a row with a repeated id
//! or an inner empty place, a plain function finds the ids or reports their fault.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use super::grades::Coder;
use super::lists::Lists;
use super::match_room::{HasTables, MatchRoom};
use super::matching::{ArrayId, FEW, FoundId, RowIds};
use super::numbers::ArrayNumber;
use super::repeated::RepeatedIds;
use super::scratch::Scratch;
use super::shape::{Layout, depth, few_enough, wrong};
use super::short::SHORT;
use crate::error::Result;
use crate::matrix::Block;
use crate::matrix::code::{FIRST_GRADE, PAST_END, UNPOOLED};
use crate::numbers::{Integers, Numbers, with_numbers};

/// An array of ids with its name in errors.
#[derive(Debug, Clone)]
pub(super) struct IdArray<'a> {
    pub name: &'static str,
    pub ids: Integers<'a>,
    pub layout: Layout<'a>,
}

/// What an id of the truth is worth.
#[derive(Debug, Clone, Copy)]
pub(super) enum Worth<'a> {
    /// All are alike.
    Same,
    /// The nearest has the highest grade. With distances, an id takes the column of the first id at
    /// its distance.
    Nearness { distances: Option<Numbers<'a>> },
    /// As nearness, and a found id stands where the first one stands that is not nearer than its
    /// distance less `within`.
    Within { distances: Numbers<'a>, found: Numbers<'a>, within: f64 },
}

/// Two arrays of ids.
#[derive(Debug)]
pub(super) struct IdArrays<'a> {
    pub truth: IdArray<'a>,
    pub found: IdArray<'a>,
    pub worth: Worth<'a>,
    pub repeats: RepeatedIds,
    /// The rows of the arrays that are no rankings because their truth is empty, ascending.
    pub dropped: Vec<usize>,
    /// The most ids that the truth of a row has.
    pub width: usize,
}

/// The row of an array that is a ranking, if the ascending `dropped` are none.
pub fn row_of(dropped: &[usize], ranking: usize) -> usize {
    if dropped.is_empty() {
        return ranking;
    }
    // The number of dropped rows before a row does not fall from row to row.
    let (mut low, mut high) = (0, dropped.len());
    while low < high {
        let middle = (low + high) / 2;
        if dropped[middle] - middle <= ranking { low = middle + 1 } else { high = middle }
    }
    ranking + low
}

impl IdArray<'_> {
    fn show(&self, row: usize, at: usize) -> String {
        format!("{}[{row}, {at}], {}", self.name, self.ids.get(self.layout.row(row).start + at))
    }
}

impl IdArrays<'_> {
    /// Whether −1 is an empty place.
    fn has_empty(&self) -> bool {
        !matches!(self.worth, Worth::Same)
    }

    /// The ids of a row as numbers of 64 bits.
    fn widened(&self, of: &IdArray<'_>, row: usize, into: &mut Vec<i64>) -> Result<()> {
        let range = of.layout.row(row);
        into.clear();
        for at in range.clone() {
            let id = of.ids.get(at);
            // −1 as an unsigned id is the largest `u64`.
            let id = if id == i128::from(u64::MAX) { -1 } else { id };
            let id = i64::try_from(id).map_err(|_| {
                let shown = of.show(row, at - range.start);
                wrong(format!(
                    "{shown}, is more than an int64 has, and the other ids have another \
                               type: give both one type"
                ))
            })?;
            into.push(id);
        }
        Ok(())
    }

    /// The ids of a row, without trailing empty places.
    #[inline(always)]
    fn row<'k, K: ArrayId>(&self, of: &'k [K], range: Range<usize>) -> RowIds<'k, K> {
        let whole = of[range.start..].first_chunk();
        let mut ids = &of[range];
        if self.has_empty() {
            while let [before @ .., last] = ids
                && last.is_empty()
            {
                ids = before;
            }
        }
        RowIds { ids, whole }
    }

    /// Finds the found ids of a row that count, id by id. Handles empty places and repeated ids
    /// too.
    #[cold]
    #[inline(never)]
    fn plain<K: ArrayId>(
        &self,
        row: usize,
        truth: &[K],
        found: &[K],
        into: &mut Vec<FoundId>,
    ) -> Result<()> {
        let again = if self.has_empty() { "is there twice" } else { "occurs twice" };
        let is_empty = |id: K| self.has_empty() && id.is_empty();
        let mut known: HashMap<K, (usize, bool)> =
            HashMap::with_capacity(truth.len() + found.len());
        for (at, &id) in truth.iter().enumerate().filter(|&(_, &id)| !is_empty(id)) {
            if known.insert(id, (at + 1, false)).is_some() {
                return Err(wrong(format!("{}, {again}", self.truth.show(row, at))));
            }
        }
        into.clear();
        for (at, &id) in found.iter().enumerate() {
            if is_empty(id) {
                into.push(FoundId { at, column: 0, is_nothing: true });
                continue;
            }
            match known.entry(id) {
                Entry::Occupied(entry) if entry.get().1 => match self.repeats {
                    RepeatedIds::Error => {
                        return Err(wrong(format!("{}, {again}", self.found.show(row, at))));
                    }
                    RepeatedIds::First => {}
                    RepeatedIds::Blank => into.push(FoundId { at, column: 0, is_nothing: true }),
                },
                Entry::Occupied(mut entry) => {
                    entry.get_mut().1 = true;
                    into.push(FoundId { at, column: entry.get().0, is_nothing: false });
                }
                Entry::Vacant(entry) => {
                    entry.insert((0, true));
                    into.push(FoundId { at, column: 0, is_nothing: false });
                }
            }
        }
        Ok(())
    }

    /// Writes for each id of the truth of a row the first column, from 0, of those with its
    /// distance, or its own column.
    fn firsts<K: ArrayId>(&self, row: usize, ids: &[K], firsts: &mut Vec<u32>) -> Result<()> {
        firsts.clear();
        let (Worth::Nearness { distances: Some(distances) } | Worth::Within { distances, .. }) =
            self.worth
        else {
            firsts.extend(0..ids.len() as u32);
            return Ok(());
        };
        let start = self.truth.layout.row(row).start;
        let wrong_at =
            with_numbers!(distances, all => first_columns(ids, &all[start..], firsts)).err();
        wrong_at.map_or(Ok(()), |(before, at)| {
            let (before, distance, rank) =
                (distances.get(start + before), distances.get(start + at), at + 1);
            Err(wrong(if distance.is_nan() {
                format!("truth_distances[{row}, {at}] is not a number")
            } else {
                format!(
                    "truth_distances[{row}]: {distance:?} follows {before:?} at rank {rank}: \
                     ascending distances were expected; of similarities give the negative"
                )
            }))
        })
    }

    /// The column, from 1, of the first id of the truth that is not nearer than a found id, less
    /// `within`; 0 if all are.
    fn column_within(&self, row: usize, count: usize, at: usize) -> Result<usize> {
        let Worth::Within { distances, found, within } = self.worth else { return Ok(0) };
        let distance = found.get(self.found.layout.row(row).start + at);
        if distance.is_nan() {
            return Err(wrong(format!("found_distances[{row}, {at}] is not a number")));
        }
        let start = self.truth.layout.row(row).start;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if distances.get(start + middle) + within < distance {
                low = middle + 1
            } else {
                high = middle
            }
        }
        Ok(if low < count { low + 1 } else { 0 })
    }
}

/// What is written for the rows of a block.
struct RowsFilled<'f> {
    /// The number of judged documents of each grade of a row whose truth is complete.
    whole: Vec<u32>,
    /// The index of a row of the block whose judged documents are `whole`.
    as_whole: Option<usize>,
    reach: usize,
    room: &'f mut MatchRoom,
    /// The number of judged documents of each grade of a row.
    judged: &'f mut Vec<u32>,
    block: &'f mut Block,
}

impl IdArrays<'_> {
    /// The code of each column of the truth, from 1, where no distances decide, and that of no
    /// column.
    fn codes(&self, coder: &Coder, codes: &mut Vec<u8>) -> Result<()> {
        codes.clear();
        codes.push(UNPOOLED);
        for column in 0..self.width {
            let grade = self.grade(column);
            let code = coder.book().code(grade).ok_or_else(|| {
                wrong(format!(
                    "{} has the grade {grade}, which the codebook lacks",
                    self.truth.name
                ))
            })?;
            codes.push(code);
        }
        Ok(())
    }

    /// The grade of a column, from 0, of the truth.
    fn grade(&self, column: usize) -> f64 {
        match self.worth {
            Worth::Same => 1.0,
            _ => (self.width - column) as f64,
        }
    }

    /// Appends rows to a block, from arrays of equal type.
    #[inline(always)]
    fn fill_alike<S: Simd, K: HasTables>(
        &self,
        simd: S,
        [truth, found]: [&[K]; 2],
        rows: Range<usize>,
        into: &mut RowsFilled<'_>,
    ) -> Result<()> {
        for row in rows {
            let row = row_of(&self.dropped, row);
            let truth = self.row(truth, self.truth.layout.row(row));
            let found = self.row(found, self.found.layout.row(row));
            self.fill_row(simd, row, truth, found, into)?;
        }
        Ok(())
    }

    /// Appends rows to a block whose arrays have different types.
    #[inline(never)]
    fn fill_mixed(
        &self,
        level: Level,
        rows: Range<usize>,
        into: &mut RowsFilled<'_>,
    ) -> Result<()> {
        for row in rows {
            let row = row_of(&self.dropped, row);
            let mut widened = std::mem::take(&mut into.room.widened);
            let [truth, found] = &mut widened;
            self.widened(&self.truth, row, truth)?;
            self.widened(&self.found, row, found)?;
            let (truth, found) = (self.row(truth, 0..truth.len()), self.row(found, 0..found.len()));
            dispatch!(level, simd => self.fill_row(simd, row, truth, found, into))?;
            into.room.widened = widened;
        }
        Ok(())
    }

    /// Appends a row to a block.
    #[inline(always)]
    fn fill_row<S: Simd, K: HasTables>(
        &self,
        simd: S,
        row: usize,
        truth: RowIds<'_, K>,
        found: RowIds<'_, K>,
        into: &mut RowsFilled<'_>,
    ) -> Result<()> {
        let RowsFilled { reach, room, block, .. } = into;
        let count = truth.ids.len();
        let mut depth = depth(row, found.ids.len())?;
        few_enough(row, &[u32::try_from(count).unwrap_or(u32::MAX)])?;
        let by_distance =
            matches!(self.worth, Worth::Nearness { distances: Some(_) } | Worth::Within { .. });
        let (all, mut of_row) = (std::mem::take(&mut room.codes), std::mem::take(&mut room.of_row));
        if by_distance {
            self.firsts(row, truth.ids, &mut room.firsts)?;
            of_row.clear();
            of_row.push(UNPOOLED);
            of_row.extend(room.firsts.iter().map(|&first| all[first as usize + 1]));
        }
        let codes: &[u8] = if by_distance { &of_row } else { &all };
        let labels = block.room(depth);
        let is_plain = if count.max(depth) <= FEW {
            let mut columns = [0; FEW];
            let is_plain = K::few(simd, [truth, found], &mut columns);
            for (label, column) in labels.iter_mut().zip(&columns[..depth]) {
                *label = codes[usize::from(*column).min(codes.len() - 1)];
            }
            is_plain
        } else {
            let (tables, codes) = (K::tables(room), &codes[..count + 1]);
            if count.max(depth) <= SHORT {
                tables.short.label(truth.ids, found.ids, codes, labels)
            } else {
                tables.long.match_ids(truth.ids, found.ids, |at, column| labels[at] = codes[column])
            }
        };
        if !is_plain || self.is_within() {
            depth =
                self.label_plainly((row, truth.ids, found.ids), codes, &mut room.found, labels)?;
        }
        block.push_labels(depth.min(*reach));
        let is_whole = is_plain && count == self.width && (!by_distance || codes == all);
        self.push_judged(is_whole, truth.ids, codes, into);
        (into.room.codes, into.room.of_row) = (all, of_row);
        Ok(())
    }

    /// Appends the judged documents of a row to a block. All rows with complete truth (`is_whole`)
    /// share one entry.
    #[inline(always)]
    fn push_judged<K: ArrayId>(
        &self,
        is_whole: bool,
        truth: &[K],
        codes: &[u8],
        into: &mut RowsFilled<'_>,
    ) {
        let RowsFilled { whole, as_whole, judged, block, .. } = into;
        match (is_whole, *as_whole) {
            (true, Some(row)) => block.push_judged_as(row),
            (true, None) => {
                *as_whole = Some(block.judged_rows());
                block.push_judged(1, FIRST_GRADE, whole);
            }
            (false, _) => {
                judged.clear();
                judged.resize(whole.len(), 0);
                for (id, code) in truth.iter().zip(&codes[1..]) {
                    let is_empty = self.has_empty() && id.is_empty();
                    judged[usize::from(code - FIRST_GRADE)] += u32::from(!is_empty);
                }
                block.push_judged(1, FIRST_GRADE, judged);
            }
        }
    }

    /// Writes the labels of the found ids of a row, even with empty places or repeated ids, and
    /// returns the number of labels.
    fn label_plainly<K: ArrayId>(
        &self,
        (row, truth, found): (usize, &[K], &[K]),
        codes: &[u8],
        room: &mut Vec<FoundId>,
        labels: &mut [u8],
    ) -> Result<usize> {
        self.plain(row, truth, found, room)?;
        for (label, of) in labels.iter_mut().zip(&*room) {
            *label = codes[if of.is_nothing {
                0
            } else if self.is_within() {
                self.column_within(row, truth.len(), of.at)?
            } else {
                of.column
            }];
        }
        labels[room.len()..].fill(PAST_END);
        Ok(room.len())
    }

    /// Finds the found ids of a row that count, of the widest ids, and leaves these in the room.
    fn widest_row(&self, row: usize, room: &mut MatchRoom) -> Result<()> {
        let MatchRoom { widened: [of_truth, of_found], found, .. } = room;
        self.widened(&self.truth, row, of_truth)?;
        self.widened(&self.found, row, of_found)?;
        for ids in [of_truth, of_found] {
            let count = self.row(&ids[..], 0..ids.len()).ids.len();
            ids.truncate(count);
        }
        found.clear();
        let widened = std::mem::take(&mut room.widened);
        let mut matched = std::mem::take(&mut room.found);
        let [truth, found] = &widened;
        let see = |at, column| matched.push(FoundId { at, column, is_nothing: false });
        let is_plain = i64::tables(room).long.match_ids(truth, found, see);
        let whatever = if is_plain { Ok(()) } else { self.plain(row, truth, found, &mut matched) };
        (room.widened, room.found) = (widened, matched);
        whatever
    }
}

impl Lists for IdArrays<'_> {
    fn rows(&self) -> usize {
        self.truth.layout.rows() - self.dropped.len()
    }

    fn retrieved(&self, row: usize) -> usize {
        let range = self.found.layout.row(row_of(&self.dropped, row));
        let is_empty = |at: &usize| self.has_empty() && is_empty(self.found.ids.get(*at));
        range.clone().rev().find(|at| !is_empty(at)).map_or(0, |last| last + 1 - range.start)
    }

    fn values(&self, rows: Range<usize>) -> usize {
        let Some(last) = rows.clone().next_back() else { return 0 };
        let (first, last) = (row_of(&self.dropped, rows.start), row_of(&self.dropped, last));
        self.found.layout.values(first..last + 1)
    }

    fn is_row_empty(&self, row: usize) -> bool {
        let range = self.found.layout.row(row_of(&self.dropped, row));
        !range.clone().any(|at| !(self.has_empty() && is_empty(self.found.ids.get(at))))
    }

    fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    fn neighbours(&self) -> Option<usize> {
        self.has_empty().then_some(self.width)
    }

    fn is_within(&self) -> bool {
        matches!(self.worth, Worth::Within { .. })
    }

    fn set_repeats(&mut self, repeats: RepeatedIds) {
        self.repeats = repeats;
    }

    fn grades(&self) -> Result<Vec<f64>> {
        Ok(match self.worth {
            Worth::Same => vec![1.0],
            _ => (0..self.width).map(|column| self.grade(column)).collect(),
        })
    }

    fn fill(
        &self,
        rows: Range<usize>,
        coder: &Coder,
        reach: usize,
        scratch: &mut Scratch,
        block: &mut Block,
    ) -> Result<()> {
        let Scratch { level, judged, matching: room, .. } = scratch;
        let level = *level;
        self.codes(coder, &mut room.codes)?;
        let mut whole = vec![0; coder.book().grades().len()];
        room.codes[1..].iter().for_each(|code| whole[usize::from(code - FIRST_GRADE)] += 1);
        let mut into = RowsFilled { whole, as_whole: None, reach, room, judged, block };
        let of = &mut into;
        match (self.truth.ids, self.found.ids) {
            (Integers::I32(truth), Integers::I32(found)) => {
                dispatch!(level, simd => self.fill_alike(simd, [truth, found], rows, of))
            }
            (Integers::U32(truth), Integers::U32(found)) => {
                let both: [&[i32]; 2] = [bytemuck::cast_slice(truth), bytemuck::cast_slice(found)];
                dispatch!(level, simd => self.fill_alike(simd, both, rows, of))
            }
            (Integers::I64(truth), Integers::I64(found)) => {
                dispatch!(level, simd => self.fill_alike(simd, [truth, found], rows, of))
            }
            (Integers::U64(truth), Integers::U64(found)) => {
                let both: [&[i64]; 2] = [bytemuck::cast_slice(truth), bytemuck::cast_slice(found)];
                dispatch!(level, simd => self.fill_alike(simd, both, rows, of))
            }
            _ => self.fill_mixed(level, rows, of),
        }
    }

    fn graded(
        &self,
        row: usize,
        coder: &Coder,
        room: &mut MatchRoom,
        ranking: &mut Vec<Option<f64>>,
        judged: &mut Vec<f64>,
    ) -> Result<()> {
        let row = row_of(&self.dropped, row);
        self.widest_row(row, room)?;
        let MatchRoom { widened: [truth, _], found, firsts, .. } = room;
        self.firsts(row, truth, firsts)?;
        let grade = |column: usize| {
            let grade = self.grade(firsts[column] as usize);
            match coder.book().code(grade) {
                Some(_) => Ok(grade),
                None => Err(wrong(format!(
                    "{} has the grade {grade}, which the codebook lacks",
                    self.truth.name
                ))),
            }
        };
        let is_empty = |id: &i64| self.has_empty() && ArrayId::is_empty(*id);
        for (column, _) in truth.iter().enumerate().filter(|(_, id)| !is_empty(id)) {
            judged.push(grade(column)?);
        }
        for of in &*found {
            let column = match (of.is_nothing, self.is_within()) {
                (true, _) => 0,
                (false, true) => self.column_within(row, truth.len(), of.at)?,
                (false, false) => of.column,
            };
            ranking.push(column.checked_sub(1).map(grade).transpose()?);
        }
        Ok(())
    }
}

/// Whether an integer is the id of an empty place, in any type.
pub(super) fn is_empty(id: i128) -> bool {
    id == -1 || id == i128::from(u32::MAX) || id == i128::from(u64::MAX)
}

/// Writes the first column of each group of equal distances. An empty place has none. The error is
/// a column and an earlier one with a greater distance, or itself if its distance is no number.
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

//! The fast scanner of rows of a table: fields between tabs, commas, semicolons or blanks, equally
//! many on each line.
//!
//! ```text
//! for each window of the text:
//!     three columns and no quotes: a bit mask of the separators of 64 bytes and one of the line
//!                                  feeds, by vector comparisons
//!         for each line: its separators are the three lowest bits, the last a line feed
//!                        → the row is passed on as it lies
//!     otherwise the places of separators, line feeds and quotes, in order
//!         for each line: as many places as it has columns, all separators but the last, a line
//!                        feed → the same
//!     any other line is split byte by byte: quotes, blank lines, another number of fields
//! ```
//!
//! A field may stand between quotes (`"`), and ends on its line. Quotes in it are written twice:
//! see `doubled_quotes`.
//!
//! Why TREC's lines have another reader: TREC reads any number of blanks as one separator, and has
//! no empty fields. In tables, two separators side by side are an empty field, blanks belong to
//! their field, and a quote suspends all these rules. Why there are two ways: most tables have
//! three columns (query, document, number). Three bits are taken off a mask without a loop.
//! For another number of columns, the bits of a window first become a list of places. A line is
//! then as many neighbours in the list as the table has columns:
//!
//! ```text
//! text     a , b , c , d ⏎ e , f , g , h ⏎          4 columns
//! places   1   3   5   7   9  11  13  15            u16, for a window has 4096 bytes
//!          └─────────────┘ └─────────────┘          3 separators and a line feed: a row;
//!                                                   anything else: the line is split byte by byte
//! ```
//!
//! The list includes quotes. A quote is neither a separator nor a line feed, so a line with a quote
//! never looks like a row. With three columns, a window with a quote goes the general way as a
//! whole: one test for 4096 bytes, and none in the loop over its lines.

use std::sync::Arc;

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use memchr::{memchr_iter, memmem};

use super::{
    diagnostics::{pluralize, quoted},
    dialect::Rules,
    layout::TableLayout,
    row::{Place, Row, RowSink, grade_of_word},
    scan::{SeparatorMark, bits_from, blocks_of, line_end, whole_line},
    separator::{Field, Separator, split},
    shape::{Role, TOO_LONG},
};
use crate::bytes::limits::MAX_LINE_BYTES;

/// A table whose rows are found, and how their numbers are read: by their role and a dialect.
#[derive(Clone, Copy)]
pub struct TableRows<'a> {
    pub table: &'a TableLayout,
    pub role: Role,
    pub rules: &'a Rules,
}

/// The number of bytes of text that are marked ahead: with the places of its separators a window
/// stays in the first-level cache.
const WINDOW: usize = 4 << 10;

/// The separator masks of a window of a table, one for each 64 bytes, and one empty mask.
type SeparatorMarks = [SeparatorMark; WINDOW / 64 + 1];

/// The SIMD scanner of the rows of a table; its buffers are reused from window to window.
#[derive(Debug)]
pub struct RowScanner {
    level: Level,
    marks: Box<SeparatorMarks>,
    /// The places in a window of separators, line feeds and quotes. They are written eight at a
    /// time.
    places: Box<[u16; WINDOW + 64]>,
}

impl Default for RowScanner {
    fn default() -> Self {
        let marks = Box::new([SeparatorMark::default(); WINDOW / 64 + 1]);
        Self { level: Level::new(), marks, places: Box::new([0; WINDOW + 64]) }
    }
}

impl RowScanner {
    /// Finds every row of a table behind its first `skip` bytes, passes it to `sink`, and returns
    /// the number of lines.
    pub fn each_row(
        &mut self,
        text: &[u8],
        skip: usize,
        rows: TableRows<'_>,
        sink: &mut impl RowSink,
    ) -> u64 {
        let mut line = memchr_iter(b'\n', &text[..skip]).count() as u64;
        // Rows may lack the number: all lines are split byte by byte.
        if rows.table.bare.is_some() {
            let mut start = skip;
            while start < text.len() {
                let end = line_end(text, start);
                line += 1;
                any_line(text, [start, end], line, rows, sink);
                start = end + 1;
            }
            return line;
        }
        match (rows.table.columns, rows.table.separator.has_quotes()) {
            (3, true) => {
                let level = self.level;
                dispatch!(level, simd => {
                    each_row_of_three(simd, self, text, skip, line, rows, sink)
                })
            }
            _ => self.each_row_until(text, skip, line, text.len(), rows, sink).1,
        }
    }

    /// Finds the rows of a table of any number of columns, from `start` to the first line at or
    /// behind `until`. Before `start` are `line` lines. Returns the start of that line, and the
    /// number of lines before it.
    ///
    /// This is a single function, because its loop over bytes keeps the places, the start and the
    /// count in registers.
    #[inline(never)]
    fn each_row_until(
        &mut self,
        text: &[u8],
        mut start: usize,
        mut line: u64,
        until: usize,
        rows: TableRows<'_>,
        sink: &mut impl RowSink,
    ) -> (usize, u64) {
        let Self { level, places, .. } = self;
        let table = rows.table;
        let (level, separator, columns) = (*level, table.separator, table.columns);
        let blanks = separator == Separator::Blanks;
        while start < until {
            let window = start;
            let here = &text[window..text.len().min(window + WINDOW)];
            let count = dispatch!(level, simd => index(simd, here, separator, places));
            let mut at = 0;
            loop {
                // Invariant: the places from `at` on are the places from `start` on, because each
                // turn skips a whole line. So the first of these places ends the first field.
                if let Some(ends) = places[at..count].get(..columns)
                    && let end = window + usize::from(ends[columns - 1])
                    && text[end] == b'\n'
                    && ends[..columns - 1]
                        .iter()
                        .all(|&place| separator.is(here[usize::from(place)]))
                {
                    line += 1;
                    // CR LF ends a line as LF does. Between blanks a CR is a blank, whose place
                    // makes one column too many: the slow way.
                    let last = end - usize::from(!blanks && end > start && text[end - 1] == b'\r');
                    let row = [start, last];
                    let place = |column| field_place(ends, window, row, column);
                    let fields = [table.query, table.doc, table.number].map(place);
                    let is_whole = fields[..2].iter().all(|[start, end]| start < end);
                    // Between tabs or commas a field may be empty, unless the field is an id.
                    // Between blanks no field is empty: only the slow way reads two blanks side by
                    // side as one separator.
                    let is_plain = !blanks
                        || text[start] != b'#'
                            && (0..columns).all(|column| {
                                let [begin, end] = place(column);
                                begin < end
                            });
                    if is_whole && is_plain {
                        rows.pass(text, line, fields, place, sink);
                    } else {
                        any_line(text, [start, end], line, rows, sink);
                    }
                    (at, start) = (at + columns, end + 1);
                    continue;
                }
                let feed =
                    places[at..count].iter().position(|&place| here[usize::from(place)] == b'\n');
                let end = match feed {
                    Some(feed) => {
                        let end = window + usize::from(places[at + feed]);
                        at += feed + 1;
                        end
                    }
                    // The line may end behind the window, and is then read again at the start of
                    // the next window.
                    None if start > window => break,
                    // At the start of the window the line is longer than a window, or the text ends
                    // without a line feed.
                    None => line_end(text, start),
                };
                line += 1;
                any_line(text, [start, end], line, rows, sink);
                start = end + 1;
                if feed.is_none() {
                    break;
                }
            }
        }
        (start, line)
    }
}

/// Returns the place in the text of the field in a column of a table's row. The row goes from
/// `start` to `end`. `ends` are the ends of its columns in the window.
#[inline(always)]
fn field_place(ends: &[u16], window: usize, [start, end]: [usize; 2], column: usize) -> [usize; 2] {
    [
        if column == 0 { start } else { window + usize::from(ends[column - 1]) + 1 },
        if column + 1 == ends.len() { end } else { window + usize::from(ends[column]) },
    ]
}

impl TableRows<'_> {
    /// Passes a row to `sink`, or the fault of its number; `place` returns the place of any column.
    #[inline(always)]
    fn pass<S: RowSink>(
        self,
        text: &[u8],
        line: u64,
        [query, doc, number]: [Place; 3],
        place: impl Fn(usize) -> Place,
        sink: &mut S,
    ) {
        let Self { table, role, rules } = self;
        let read = match table.value.parse(text, number, role.parser(rules)) {
            Some(value) => Some((value, number)),
            None => grade_of_word(table.words.as_ref(), text, number),
        };
        let Some((value, number)) = read else {
            return sink.fault(doc[0], line, || {
                let [query, doc, number] =
                    [query, doc, number].map(|[start, end]| &text[start..end]);
                table.not_a_number(role, number, [query, doc])
            });
        };
        let other = |column: Option<usize>| column.filter(|_| S::ALL_FIELDS).map(&place);
        let [rank, group, tag] = [table.rank, table.group, table.tag].map(other);
        let subgroup = None;
        let row = Row { line, query, doc, number, value, rank, group, subgroup, tag };
        match S::ALL_FIELDS.then(|| wrong_field(text, &row, table)).flatten() {
            None => sink.row(text, row),
            Some(message) => sink.fault(doc[0], line, || message),
        }
    }
}

/// Returns the message about an empty rank or group of a row.
#[inline(always)]
fn wrong_field(text: &[u8], row: &Row, table: &TableLayout) -> Option<String> {
    let (what, line) = (row.empty_field()?, line_as_it_was(text, row, table));
    Some(format!("the {what} is missing or empty in {line}: {}", table.expected()))
}

/// Returns the line of a row in quotes, for messages, with the separators that it had in the file.
#[cold]
fn line_as_it_was(text: &[u8], row: &Row, table: &TableLayout) -> String {
    let mut line = whole_line(text, row.doc[0]).to_vec();
    if let Some(original) = &table.original {
        let units = line.iter_mut().filter(|byte| table.separator.is(**byte));
        units.for_each(|byte| *byte = original.separator.byte());
    }
    quoted(&line)
}

/// Finds the rows of a table of three columns from `start` on, after `line` lines. Returns the
/// number of all lines.
///
/// Everything down to the parsing of fields is compiled for each SIMD level, because instructions
/// for bits come with it.
#[inline(always)]
fn each_row_of_three<S: Simd>(
    simd: S,
    scanner: &mut RowScanner,
    text: &[u8],
    mut start: usize,
    mut line: u64,
    rows: TableRows<'_>,
    sink: &mut impl RowSink,
) -> u64 {
    let TableLayout { separator, query, doc, number, .. } = *rows.table;
    let is_in_order = [query, doc, number] == [0, 1, 2];
    while start < text.len() {
        let window = start;
        let end = text.len().min(window + WINDOW);
        // The general way takes this window, up to a line that begins behind the window.
        if !mark(simd, &text[window..end], separator, &mut scanner.marks) {
            (start, line) = scanner.each_row_until(text, start, line, end, rows, sink);
            continue;
        }
        while let Some((ends, is_plain)) = ends_of_three(&scanner.marks, window, start) {
            let [one, two, feed] = ends;
            line += 1;
            // Invariant: two separators stand before the line feed, so `feed` is not 0.
            let last = feed - usize::from(text[feed - 1] == b'\r');
            let fields = [[start, one], [one + 1, two], [two + 1, last]];
            if !is_plain {
                any_line(text, [start, feed], line, rows, sink);
            } else if is_in_order {
                rows.pass(text, line, fields, |column| fields[column], sink);
            } else {
                let picked = picked(rows.table, fields);
                rows.pass(text, line, picked, |column| fields[column], sink);
            }
            start = feed + 1;
        }
        if start >= end {
            continue;
        }
        // The line is not a row, or continues behind the window.
        let feed = line_end(text, start);
        if feed < end || start == window {
            line += 1;
            any_line(text, [start, feed], line, rows, sink);
            start = feed + 1;
        }
    }
    line
}

/// Returns the query, document and number of a row with its columns in another order.
// This stays a call, so that the loop over tables in the usual order has less code.
#[inline(never)]
fn picked(table: &TableLayout, fields: [Place; 3]) -> [Place; 3] {
    [table.query, table.doc, table.number].map(|column| fields[column])
}

/// Splits a line of a table byte by byte, as works for any line, and passes it on as a row or as
/// wrong.
#[cold]
#[inline(never)]
fn any_line<S: RowSink>(
    text: &[u8],
    [start, end]: [usize; 2],
    number: u64,
    rows: TableRows<'_>,
    sink: &mut S,
) {
    let (line, table) = (&text[start..end], rows.table);
    if is_left(text, [start, end], number, rows, sink) {
        return;
    }
    let separator = table.separator;
    let first = line.iter().find(|&&byte| {
        byte != b' ' && byte != b'\r' && (byte != b'\t' || separator == Separator::Tab)
    });
    match (first, separator) {
        (None, _) | (Some(b'#'), Separator::Blanks) => return,
        _ if line.len() > MAX_LINE_BYTES => {
            return sink.fault(start, number, || format!("{TOO_LONG}: {}", table.expected()));
        }
        _ => {}
    }
    let fields = match split(line, separator) {
        Some(fields) if fields.is_empty() => return,
        Some(fields) => fields,
        None => {
            return sink.fault(start, number, || {
                format!(
                    "a quote (\") in {} is not closed where its field ends, or not on its line: {}",
                    quoted(line),
                    table.expected()
                )
            });
        }
    };
    if let Some(bare) = &table.bare
        && is_bare(&fields, table)
    {
        return bare.add_one();
    }
    if fields.len() != table.columns {
        return sink.fault(start, number, || {
            let hint = if first == Some(&b'#') {
                " (in tables with tabs or commas no line is a comment)"
            } else {
                ""
            };
            let fields = pluralize(fields.len(), "field");
            format!("{fields} in {}: {}{hint}", quoted(line), table.expected())
        });
    }
    if let Some(message) = wrong_id(&fields, line, table, S::ALL_FIELDS) {
        return sink.fault(start, number, || message);
    }
    let place = |column: usize| [start + fields[column].start, start + fields[column].end];
    let read = [table.query, table.doc, table.number].map(place);
    rows.pass(text, number, read, place, sink);
}

/// Writes the rows of a table to `text` with plain fields between unit separators, and returns their
/// layout; `None` if no line has doubled quotes that are read. The first `skip` bytes are no rows.
///
/// It must not depend on the lines beside a line how it is read. So other lines than rows stay as
/// they are, behind a mark, for their reader to tell; and so do lines with unit separators, which
/// no table may have that has such quotes.
pub fn unquoted(
    table: &TableLayout,
    lines: &[u8],
    skip: usize,
    text: &mut Vec<u8>,
) -> Option<TableLayout> {
    let (unit, rows) = (Separator::Unit.byte(), &lines[skip..]);
    let are_read = table.separator.has_quotes() && table.quotes.are_read();
    if !are_read || memmem::find(rows, b"\"\"").is_none() && !rows.contains(&unit) {
        return None;
    }
    text.extend_from_slice(&lines[..skip]);
    for line in rows.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let is_row = |fields: &Vec<Field>| {
            let has = |id: usize| fields[id].start < fields[id].end;
            fields.len() == table.columns && has(table.query) && has(table.doc)
        };
        match split(line, table.separator).filter(|fields| is_row(fields) && !line.contains(&unit))
        {
            Some(fields) => {
                for (at, field) in fields.into_iter().enumerate() {
                    text.extend((at > 0).then_some(unit));
                    text.extend_from_slice(&field.text(line));
                }
            }
            None => {
                text.extend(std::iter::repeat_n(unit, table.columns));
                text.extend_from_slice(line);
            }
        }
        text.push(b'\n');
    }
    let original = Some(Arc::new(table.clone()));
    Some(TableLayout { separator: Separator::Unit, original, ..table.clone() })
}

/// Passes the fault of a line that [`unquoted`] left as it was behind a mark, which has more
/// separators than a row; returns `false` if the line is another.
fn is_left<S: RowSink>(
    text: &[u8],
    [start, end]: [usize; 2],
    number: u64,
    rows: TableRows<'_>,
    sink: &mut S,
) -> bool {
    let Some(table) = rows.table.original.as_deref() else { return false };
    let is_unit = |byte: &u8| Separator::Unit.is(*byte);
    let (mark, line) = text[start..end].split_at(table.columns.min(end - start));
    if mark.len() < table.columns || !mark.iter().all(is_unit) {
        return false;
    }
    if line.iter().any(is_unit) {
        sink.fault(start, number, || {
            let (line, expected) = (quoted(line), table.expected());
            format!("a unit separator (U+001F) in {line}, and other ids have quotes: {expected}")
        });
    } else {
        any_line(text, [start + mark.len(), end], number, TableRows { table, ..rows }, sink);
    }
    true
}

/// Returns whether a row of a table has a query and no number, or ends behind its query.
fn is_bare(fields: &[Field], table: &TableLayout) -> bool {
    let [has_query, has_number] = [table.query, table.number]
        .map(|column| fields.get(column).is_some_and(|field| field.start < field.end));
    (fields.len() == table.columns || fields.len() == table.query + 1) && has_query && !has_number
}

/// Returns the error message about a query or document id in a line of a table that is empty, or an
/// id, also of a group, that has quotes in it where none was met before.
fn wrong_id(
    fields: &[Field],
    line: &[u8],
    table: &TableLayout,
    with_groups: bool,
) -> Option<String> {
    let group = table.group.filter(|&column| with_groups && fields[column].escaped);
    let ids = [(Some(table.query), "query"), (Some(table.doc), "document"), (group, "group")];
    let is_wrong = |field: &Field| field.start == field.end || field.escaped;
    let mut ids = ids.into_iter().filter_map(|(column, what)| Some((fields[column?], what)));
    let (field, what) = ids.find(|(field, _)| is_wrong(field))?;
    let line = quoted(line);
    if !field.escaped {
        return Some(format!("the {what} is empty in {line}: {}", table.expected()));
    }
    table.quotes.meet();
    Some(format!(
        "the {what} has quotes in it in {line}; a table that comes through a pipe may have them if \
         one of its first lines has: give the table as a file, or move this line to its start"
    ))
}

/// Computes the separator masks of a window of a table; returns `false` if the window has quotes.
/// One empty block behind the window is marked too.
#[inline(always)]
fn mark<S: Simd>(simd: S, window: &[u8], separator: Separator, marks: &mut SeparatorMarks) -> bool {
    let (blocks, last) = blocks_of(window);
    let byte = separator.byte();
    // Without quotes, the same comparison looks for line feeds, and `!feeds` removes the line feeds
    // below: no second loop is compiled.
    let quote = if separator.has_quotes() { b'"' } else { b'\n' };
    let mut quotes = 0;
    for (mark, block) in std::iter::zip(marks.iter_mut(), blocks.iter().chain([&last])) {
        let bytes = u8x64::from_slice(simd, block);
        let feeds = bytes.simd_eq(b'\n').to_bitmask();
        *mark = SeparatorMark { separators: bytes.simd_eq(byte).to_bitmask() | feeds, feeds };
        quotes |= bytes.simd_eq(quote).to_bitmask() & !feeds;
    }
    // Marks of a longer window before this one may be left.
    marks[(blocks.len() + 1).min(WINDOW / 64)..].fill(SeparatorMark::default());
    quotes == 0
}

/// Returns the ends of the three fields of the table line at `start`, and whether no field is
/// empty; else `None`. `None` stands for another number of fields, or an end behind the marks.
#[inline(always)]
fn ends_of_three(
    marks: &SeparatorMarks,
    window: usize,
    start: usize,
) -> Option<([usize; 3], bool)> {
    let (block, bit) = ((start - window) / 64, (start - window) % 64);
    let (here, next) = (marks.get(block)?, marks.get(block + 1)?);
    let feeds = bits_from(bit, here.feeds, next.feeds);
    if feeds == 0 {
        return ends_of_long(marks, window, start);
    }
    // `one` has all separators of the line, `two` all but the lowest, and `three` all but the
    // lowest two. With exactly three separators, the last is the line feed, because the mask ends
    // there.
    let one = bits_from(bit, here.separators, next.separators) & (feeds ^ feeds.wrapping_sub(1));
    let two = one & one.wrapping_sub(1);
    let three = two & two.wrapping_sub(1);
    let is_so = three != 0 && three & three.wrapping_sub(1) == 0;
    // No separator stands at the start or right behind another: no field is empty.
    let is_plain = one & (one << 1 | 1) == 0;
    is_so.then(|| ([one, two, three].map(|bits| start + bits.trailing_zeros() as usize), is_plain))
}

/// Returns the ends of the three fields of a table line as `ends_of_three` does, for a line of any
/// length.
#[inline(never)]
fn ends_of_long(marks: &SeparatorMarks, window: usize, start: usize) -> Option<([usize; 3], bool)> {
    let (mut block, bit) = ((start - window) / 64, (start - window) % 64);
    let mut left = marks.get(block)?.separators & u64::MAX << bit;
    let mut ends = [0; 3];
    for (field, end) in ends.iter_mut().enumerate() {
        while left == 0 {
            block += 1;
            left = marks.get(block)?.separators;
        }
        let at = left.trailing_zeros();
        if (marks[block].feeds >> at & 1 == 1) != (field == 2) {
            return None;
        }
        *end = window + 64 * block + at as usize;
        left &= left - 1;
    }
    let [one, two, feed] = ends;
    Some((ends, start < one && one + 1 < two && two + 1 < feed))
}

/// Writes the places of separators, line feeds and quotes in a window of a table, and returns their
/// number.
#[inline(always)]
fn index<S: Simd>(
    simd: S,
    window: &[u8],
    separator: Separator,
    places: &mut [u16; WINDOW + 64],
) -> usize {
    let mut count = 0;
    let (blocks, last) = blocks_of(window);
    let byte = separator.byte();
    let quote = if separator.has_quotes() { b'"' } else { byte };
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let bytes = u8x64::from_slice(simd, block);
        let marks = match separator {
            Separator::Blanks => {
                bytes.simd_eq(b' ') | (bytes - u8x64::splat(simd, b'\t')).simd_lt(5)
            }
            _ => bytes.simd_eq(byte) | bytes.simd_eq(b'\n') | bytes.simd_eq(quote),
        };
        let mut marks = marks.to_bitmask();
        let here = marks.count_ones() as usize;
        // Each turn writes eight places, even if fewer are left, and `count` counts only real
        // places. So a block takes one or two turns of the loop, not a turn for each place. The
        // list has room for the surplus, and the next block overwrites the surplus.
        for first in (0..here).step_by(8) {
            let Some(eight) = places[count + first..].first_chunk_mut::<8>() else {
                unreachable!("there is room")
            };
            for place in eight {
                *place = (64 * number) as u16 + marks.trailing_zeros() as u16;
                marks &= marks.wrapping_sub(1);
            }
        }
        count += here;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{
        dialect::Dialect, doubled_quotes::DoubledQuotes, layout::NumberKind, options::OptionStyle,
    };
    use Separator::{Blanks, Comma, Semicolon, Tab};
    use proptest::prelude::*;

    /// All lines as they were passed on.
    #[derive(Default, Debug, PartialEq)]
    struct Seen {
        rows: Vec<(u64, [Vec<u8>; 3])>,
        wrong: Vec<u64>,
    }

    impl RowSink for Seen {
        const ALL_FIELDS: bool = true;

        fn row(&mut self, text: &[u8], row: Row) {
            let field = |[start, end]: Place| text[start..end].to_vec();
            self.rows.push((row.line, [row.query, row.doc, row.number].map(field)));
        }

        fn fault(&mut self, _: usize, line: u64, _: impl FnOnce() -> String) {
            self.wrong.push(line);
        }
    }

    fn table(separator: Separator, columns: usize) -> TableLayout {
        let [query, doc, number] = [3, 2, 1].map(|from_end| columns - from_end);
        TableLayout {
            separator,
            columns,
            query,
            doc,
            number,
            skip: 0,
            shape: String::new(),
            value: NumberKind::Number,
            rank: None,
            tag: None,
            group: None,
            options: OptionStyle::default(),
            bare: None,
            words: None,
            quotes: DoubledQuotes::default(),
            original: None,
        }
    }

    /// Passes the rows of a table to `take`, as rows of a run.
    fn with_rows<T>(table: &TableLayout, take: impl FnOnce(TableRows<'_>) -> T) -> T {
        take(TableRows { table, role: Role::Run, rules: &Dialect::Laneval.rules() })
    }

    /// Reads line by line, without windows.
    fn slowly(text: &[u8], table: &TableLayout) -> (u64, Seen) {
        let mut seen = Seen::default();
        let (mut start, mut line) = (0, 0);
        while start < text.len() {
            let end = line_end(text, start);
            line += 1;
            with_rows(table, |rows| any_line(text, [start, end], line, rows, &mut seen));
            start = end + 1;
        }
        (line, seen)
    }

    fn check(text: &[u8], table: &TableLayout) {
        let mut seen = Seen::default();
        let count =
            with_rows(table, |rows| RowScanner::default().each_row(text, 0, rows, &mut seen));
        assert_eq!((count, seen), slowly(text, table));
    }

    #[test]
    fn fields_of_every_kind() {
        let fields = |separator: Separator, line: &'static str| {
            separator
                .fields(line.as_bytes())
                .into_iter()
                .map(|field| std::str::from_utf8(field).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(fields(Comma, "a,b c,\"d,e\",\r"), ["a", "b c", "d,e", ""]);
        assert_eq!(fields(Comma, "\"a\",\"\",\"b\"\"c\""), ["a", "", "b\"\"c"]);
        assert_eq!(fields(Comma, "\"a"), [""; 0]);
        assert_eq!(fields(Comma, "\"a\"b,c"), [""; 0]);
        assert_eq!(fields(Semicolon, "a,b;\"c;d\";\"e\""), ["a,b", "c;d", "e"]);
        assert_eq!(fields(Semicolon, "\"a\"b;c"), [""; 0]);
        assert_eq!(fields(Tab, "\"a\tb\"\tc\"d\t\"e\t\"f\"g"), ["a\tb", "c\"d", "\"e", "\"f\"g"]);
        assert_eq!(fields(Blanks, " a\t b,c \r"), ["a", "b,c"]);
    }

    /// The query of a line is the same with quotes or without, and whatever stands between quotes
    /// before it.
    #[test]
    fn queries_of_lines() {
        let read_query = |separator: Separator, query: usize, line: &str| {
            let table = TableLayout { query, ..table(separator, 3) };
            table.query_of(line.as_bytes()).map(|query| String::from_utf8(query.to_vec()).unwrap())
        };
        for (separator, query, line, found) in [
            (Comma, 0, "q,d,1\n", Some("q")),
            (Comma, 0, "\"q\",d,1\r\n", Some("q")),
            (Comma, 1, "\"d,1\",q,1\n", Some("q")),
            (Comma, 2, "\"d,1\",1,q\r\n", Some("q")),
            (Comma, 1, "\"d,1,q,1\n", None),
            (Tab, 1, "\"d\t1\"\tq\t1\n", Some("q")),
            (Tab, 1, "d\"\tq\t1", Some("q")),
            (Semicolon, 1, "\"d;1\";q;1\r\n", Some("q")),
            (Blanks, 1, " d  q 1\r\n", Some("q")),
            (Comma, 0, "\r\n", None),
            (Tab, 0, "\td\t1\n", None),
        ] {
            assert_eq!(read_query(separator, query, line).as_deref(), found, "{line:?}");
        }
    }

    #[test]
    fn lines_longer_than_a_window() {
        for separator in [Tab, Comma, Semicolon] {
            let byte = char::from(separator.byte());
            let long = "x".repeat(3 * WINDOW);
            let text =
                format!("a{byte}b{byte}1\n{long}{byte}b{byte}2\r\na{byte}{long}\na{byte}b{byte}3");
            check(text.as_bytes(), &table(separator, 3));
            let mut seen = Seen::default();
            with_rows(&table(separator, 3), |rows| {
                RowScanner::default().each_row(text.as_bytes(), 6, rows, &mut seen)
            });
            assert_eq!(seen.rows.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
            assert_eq!(seen.wrong, [3]);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_split_as_line_by_line(
            text in "([ab#]{0,3}|[ \t,;\x1f]|\"|\r?\n|a,b,1\n|a\tb\t1\r\n|a b \
                     1\n|a;b;1\n|\"a\",\"b,\"\"\",1\n|\"a\";\"b;\"\"\";1\n|a{40},b{30},1\n){0,80}",
            separator in prop::sample::select(vec![
                Blanks,
                Tab,
                Comma,
                Semicolon,
            ]),
            columns in 3usize..5, times in prop::sample::select(vec![1usize, 1, 1, 60]),
        ) {
            check(text.repeat(times).as_bytes(), &table(separator, columns));
        }
    }
}

//! Rows of a table: fields between tabs, commas or blanks, with the same number on each line.
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
//! A field may stand between quotes (`"`), but contains no quotes and ends on its line.
//!
//! Why TREC's lines have another reader: TREC reads any number of blanks as one separator, and has
//! no empty fields. In tables, two separators side by side are an empty field, blanks belong to
//! their field, and a quote suspends all these rules. Why there are two ways: most tables have
//! three columns (query, document, number). Rows made of JSON, LETOR and matrices have three
//! columns, too, unless they carry ranks or groups. Three bits are taken off a mask without a loop.
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

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};
use memchr::{memchr, memchr_iter};

use super::diagnostics::quoted;
use super::layout::TableLayout;
use super::separator::{Field, Separator, Unclosed, split};
use super::shape::TOO_LONG;
use crate::bytes::limits::{LONGEST_LINE, WRONG};

/// The places of a row's query, document and number in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlaces {
    pub query: [usize; 2],
    pub doc: [usize; 2],
    pub number: [usize; 2],
}

/// A taker of the rows of a text. Lines are counted from 1.
pub trait TakeRows {
    /// Takes a row; neither its query nor its document is empty.
    fn row(&mut self, text: &[u8], line: u64, row: FieldPlaces);

    /// Takes a line at `start` that is not a row, with a message about its fault.
    fn wrong(&mut self, start: usize, line: u64, message: impl FnOnce() -> String);
}

/// The number of bytes of text that are marked ahead: with the places of its separators a window
/// stays in the first-level cache.
const WINDOW: usize = 4 << 10;

/// A finder of rows; its buffer is reused from window to window.
#[derive(Debug)]
pub struct RowScanner {
    level: Level,
    marks: Box<[SeparatorMark; WINDOW / 64 + 1]>,
    /// The places in a window of separators, line feeds and quotes. They are written eight at a
    /// time.
    places: Box<[u16; WINDOW + 64]>,
}

impl Default for RowScanner {
    fn default() -> Self {
        let marks = Box::new([SeparatorMark::default(); WINDOW / 64 + 1]);
        RowScanner { level: Level::new(), marks, places: Box::new([0; WINDOW + 64]) }
    }
}

impl RowScanner {
    /// Passes every row of `text` to `lines`, without the text before the byte `skip`, and returns
    /// the number of lines.
    pub fn each_row(
        &mut self,
        text: &[u8],
        skip: usize,
        table: &TableLayout,
        lines: &mut impl TakeRows,
    ) -> u64 {
        let line = memchr_iter(b'\n', &text[..skip]).count() as u64;
        if table.bare.is_some() {
            return each_line(text, (skip, line), table, lines);
        }
        match (table.columns, table.separator) {
            (3, Separator::Tab | Separator::Comma | Separator::Unit) => {
                let level = self.level;
                dispatch!(level, simd => {
                    each_row_of_three(simd, self, text, (skip, line), table, lines)
                })
            }
            _ => self.each_row_until(text, (skip, line), text.len(), table, lines).1,
        }
    }

    /// Finds rows of any number of columns from `start` on, after `line` lines, up to the first
    /// line at or behind `until`. Returns the start of that line, and the number of lines before
    /// it.
    ///
    /// This is a single function, because its loop over bytes keeps the places, the start and the
    /// count in registers.
    #[inline(never)]
    fn each_row_until(
        &mut self,
        text: &[u8],
        (mut start, mut line): (usize, u64),
        until: usize,
        table: &TableLayout,
        lines: &mut impl TakeRows,
    ) -> (usize, u64) {
        let RowScanner { level, places, .. } = self;
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
                    let field = |column: usize| {
                        let begin = if column == 0 {
                            start
                        } else {
                            window + usize::from(ends[column - 1]) + 1
                        };
                        [
                            begin,
                            if column + 1 == columns {
                                last
                            } else {
                                window + usize::from(ends[column])
                            },
                        ]
                    };
                    let row = FieldPlaces {
                        query: field(table.query),
                        doc: field(table.doc),
                        number: field(table.number),
                    };
                    let is_whole = row.query[0] < row.query[1] && row.doc[0] < row.doc[1];
                    // Between tabs or commas a field may be empty, unless the field is an id.
                    // Between blanks no field is empty: only the slow way reads two blanks side by
                    // side as one separator.
                    let is_plain = !blanks
                        || text[start] != b'#'
                            && (0..columns).all(|column| field(column)[0] < field(column)[1]);
                    if is_whole && is_plain {
                        lines.row(text, line, row);
                    } else {
                        any_line(text, [start, end], line, table, lines);
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
                    // At the start of the window the line is longer than a window, or the text ends
                    // without a line feed.
                    None if start > window => break, // the line may end behind the window
                    None => {
                        memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length)
                    }
                };
                line += 1;
                any_line(text, [start, end], line, table, lines);
                start = end + 1;
                if feed.is_none() {
                    break;
                }
            }
        }
        (start, line)
    }
}

/// Finds rows of three columns from `start` on, after `line` lines. Returns the number of all
/// lines.
///
/// Everything down to the parsing of fields is compiled for each SIMD level, because instructions
/// for bits come with it.
#[inline(always)]
fn each_row_of_three<S: Simd>(
    simd: S,
    scanner: &mut RowScanner,
    text: &[u8],
    (mut start, mut line): (usize, u64),
    table: &TableLayout,
    lines: &mut impl TakeRows,
) -> u64 {
    let separator = table.separator;
    let is_in_order = [table.query, table.doc, table.number] == [0, 1, 2];
    while start < text.len() {
        let window = start;
        let end = text.len().min(window + WINDOW);
        // The general way takes this window, up to a line that begins behind the window.
        if !mark(simd, &text[window..end], separator, &mut scanner.marks) {
            (start, line) = scanner.each_row_until(text, (start, line), end, table, lines);
            continue;
        }
        while let Some((ends, is_plain)) = ends_of_three(&scanner.marks, window, start) {
            let [one, two, feed] = ends;
            line += 1;
            // Invariant: two separators stand before the line feed, so `feed` is not 0.
            let last = feed - usize::from(text[feed - 1] == b'\r');
            if !is_plain {
                any_line(text, [start, feed], line, table, lines);
            } else if is_in_order {
                lines.row(
                    text,
                    line,
                    FieldPlaces {
                        query: [start, one],
                        doc: [one + 1, two],
                        number: [two + 1, last],
                    },
                );
            } else {
                lines.row(
                    text,
                    line,
                    picked(table, [[start, one], [one + 1, two], [two + 1, last]]),
                );
            }
            start = feed + 1;
        }
        if start >= end {
            continue;
        }
        // The line is not a row, or continues behind the window.
        let feed = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
        if feed < end || start == window {
            line += 1;
            any_line(text, [start, feed], line, table, lines);
            start = feed + 1;
        }
    }
    line
}

/// Returns the query, document and number of a row with its columns in another order.
#[inline(never)]
fn picked(table: &TableLayout, fields: [[usize; 2]; 3]) -> FieldPlaces {
    let [query, doc, number] = [table.query, table.doc, table.number].map(|column| fields[column]);
    FieldPlaces { query, doc, number }
}

/// Splits a line byte by byte.
#[cold]
#[inline(never)]
fn any_line(
    text: &[u8],
    [start, end]: [usize; 2],
    number: u64,
    table: &TableLayout,
    lines: &mut impl TakeRows,
) {
    let line = &text[start..end];
    let separator = table.separator;
    let first = line.iter().find(|&&byte| {
        byte != b' ' && byte != b'\r' && (byte != b'\t' || separator == Separator::Tab)
    });
    match (first, separator) {
        (None, _) | (Some(b'#'), Separator::Blanks) => return,
        (Some(&WRONG), Separator::Unit) => {
            return lines.wrong(start, number, || String::from_utf8_lossy(&line[1..]).into_owned());
        }
        _ if line.len() > LONGEST_LINE => {
            return lines.wrong(start, number, || format!("{TOO_LONG}: {}", table.expected()));
        }
        _ => {}
    }
    let fields = match split(line, separator) {
        Ok(fields) if fields.is_empty() => return,
        Ok(fields) => fields,
        Err(Unclosed) => {
            return lines.wrong(start, number, || unclosed(line, table));
        }
    };
    if let Some(bare) = &table.bare
        && is_bare(&fields, table)
    {
        return bare.add_one();
    }
    if fields.len() != table.columns {
        let (count, is_comment) = (fields.len(), first == Some(&b'#'));
        return lines.wrong(start, number, || other_count(count, is_comment, line, table));
    }
    for (column, what) in [(table.query, "query"), (table.doc, "document")] {
        let field = fields[column];
        if field.start == field.end || field.escaped {
            return lines.wrong(start, number, || wrong_id(field, what, line, table));
        }
    }
    let place = |column: usize| [start + fields[column].start, start + fields[column].end];
    lines.row(
        text,
        number,
        FieldPlaces {
            query: place(table.query),
            doc: place(table.doc),
            number: place(table.number),
        },
    );
}

/// Splits all lines byte by byte, where some may have no number.
fn each_line(
    text: &[u8],
    (mut start, mut line): (usize, u64),
    table: &TableLayout,
    lines: &mut impl TakeRows,
) -> u64 {
    while start < text.len() {
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
        line += 1;
        any_line(text, [start, end], line, table, lines);
        start = end + 1;
    }
    line
}

/// Checks whether a row has a query and no number, or ends behind its query.
fn is_bare(fields: &[Field], table: &TableLayout) -> bool {
    let is_empty = |column: usize| fields.get(column).is_none_or(|field| field.start == field.end);
    (fields.len() == table.columns || fields.len() == table.query + 1)
        && !is_empty(table.query)
        && is_empty(table.number)
}

/// The message about a quote that is not closed.
fn unclosed(line: &[u8], table: &TableLayout) -> String {
    format!(
        "a quote (\") in {} is not closed where its field ends, or not on its line: {}",
        quoted(line),
        table.expected()
    )
}

/// Returns the message about an id that is empty, or else has quotes in it.
fn wrong_id(field: Field, what: &str, line: &[u8], table: &TableLayout) -> String {
    if field.start == field.end {
        return format!("the {what} is empty in {}: {}", quoted(line), table.expected());
    }
    format!("the {what} has quotes in it in {}, which is not read from a table", quoted(line))
}

/// The message about a line with another number of fields; `is_comment` adds that tables have no
/// comments.
fn other_count(count: usize, is_comment: bool, line: &[u8], table: &TableLayout) -> String {
    let fields = format!("{count} field{}", if count == 1 { "" } else { "s" });
    let comment =
        if is_comment { " (in tables with tabs or commas no line is a comment)" } else { "" };
    format!("{fields} in {}: {}{comment}", quoted(line), table.expected())
}

/// The separators and line feeds among 64 bytes, and which of these are line feeds: a bit for each
/// byte.
#[derive(Debug, Clone, Copy, Default)]
struct SeparatorMark {
    separators: u64,
    feeds: u64,
}

/// Marks a window and one empty block behind the window; returns `false` if the window has quotes.
#[inline(always)]
fn mark<S: Simd>(
    simd: S,
    window: &[u8],
    separator: Separator,
    marks: &mut [SeparatorMark; WINDOW / 64 + 1],
) -> bool {
    let (blocks, tail) = window.as_chunks::<64>();
    let mut last = [b'x'; 64];
    last[..tail.len()].copy_from_slice(tail);
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

/// Returns the ends of the three fields of the line at `start`, and whether no field is empty;
/// `None` for another number of fields, or an end behind the marks.
#[inline(always)]
fn ends_of_three(
    marks: &[SeparatorMark; WINDOW / 64 + 1],
    window: usize,
    start: usize,
) -> Option<([usize; 3], bool)> {
    let (block, bit) = ((start - window) / 64, (start - window) % 64);
    let (here, next) = (marks.get(block)?, marks.get(block + 1)?);
    let from = |here: u64, next: u64| here >> bit | (next << 1) << (63 - bit);
    let feeds = from(here.feeds, next.feeds);
    if feeds == 0 {
        return ends_of_long(marks, window, start);
    }
    // `one` has all separators of the line, `two` all but the lowest, and `three` all but the
    // lowest two. With exactly three separators, the last is the line feed, because the mask ends
    // there.
    let one = from(here.separators, next.separators) & (feeds ^ feeds.wrapping_sub(1));
    let two = one & one.wrapping_sub(1);
    let three = two & two.wrapping_sub(1);
    let is_so = three != 0 && three & three.wrapping_sub(1) == 0;
    // No separator stands at the start or right behind another: no field is empty.
    let is_plain = one & (one << 1 | 1) == 0;
    is_so.then(|| ([one, two, three].map(|bits| start + bits.trailing_zeros() as usize), is_plain))
}

/// Returns the ends of three fields like `ends_of_three`, for a line of any length.
#[inline(never)]
fn ends_of_long(
    marks: &[SeparatorMark; WINDOW / 64 + 1],
    window: usize,
    start: usize,
) -> Option<([usize; 3], bool)> {
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

/// Writes the places of the separators, line feeds and quotes of a window, and returns their
/// number.
#[inline(always)]
fn index<S: Simd>(
    simd: S,
    window: &[u8],
    separator: Separator,
    places: &mut [u16; WINDOW + 64],
) -> usize {
    let mut count = 0;
    let (blocks, tail) = window.as_chunks::<64>();
    let mut last = [b'x'; 64];
    last[..tail.len()].copy_from_slice(tail);
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
    use crate::lines::layout::NumberKind;
    use proptest::prelude::*;

    /// All lines as they were passed on.
    #[derive(Default, Debug, PartialEq)]
    struct Seen {
        rows: Vec<(u64, [Vec<u8>; 3])>,
        wrong: Vec<u64>,
    }

    impl TakeRows for Seen {
        fn row(&mut self, text: &[u8], line: u64, row: FieldPlaces) {
            let field = |[start, end]: [usize; 2]| text[start..end].to_vec();
            self.rows.push((line, [row.query, row.doc, row.number].map(field)));
        }

        fn wrong(&mut self, _: usize, line: u64, _: impl FnOnce() -> String) {
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
            ..TableLayout::made(NumberKind::Number, "")
        }
    }

    /// Reads line by line, without windows.
    fn slowly(text: &[u8], table: &TableLayout) -> (u64, Seen) {
        let mut seen = Seen::default();
        let (mut start, mut line) = (0, 0);
        while start < text.len() {
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
            line += 1;
            any_line(text, [start, end], line, table, &mut seen);
            start = end + 1;
        }
        (line, seen)
    }

    fn check(text: &[u8], table: &TableLayout) {
        let mut seen = Seen::default();
        let count = RowScanner::default().each_row(text, 0, table, &mut seen);
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
        assert_eq!(fields(Separator::Comma, "a,b c,\"d,e\",\r"), ["a", "b c", "d,e", ""]);
        assert_eq!(fields(Separator::Comma, "\"a\",\"\",\"b\"\"c\""), ["a", "", "b\"\"c"]);
        assert_eq!(fields(Separator::Comma, "\"a"), [""; 0]);
        assert_eq!(fields(Separator::Comma, "\"a\"b,c"), [""; 0]);
        assert_eq!(
            fields(Separator::Tab, "\"a\tb\"\tc\"d\t\"e\t\"f\"g"),
            ["a\tb", "c\"d", "\"e", "\"f\"g"]
        );
        assert_eq!(fields(Separator::Blanks, " a\t b,c \r"), ["a", "b,c"]);
        assert_eq!(fields(Separator::Unit, "\"a\x1fb\t\x1f1"), ["\"a", "b\t", "1"]);
    }

    /// The query of a line is the same with quotes or without, and whatever stands between quotes
    /// before it.
    #[test]
    fn queries_of_lines() {
        let of = |separator: Separator, query: usize, line: &str| {
            let table = TableLayout { query, ..table(separator, 3) };
            table.query_of(line.as_bytes()).map(|query| String::from_utf8(query.to_vec()).unwrap())
        };
        for (separator, query, line, found) in [
            (Separator::Comma, 0, "q,d,1\n", Some("q")),
            (Separator::Comma, 0, "\"q\",d,1\r\n", Some("q")),
            (Separator::Comma, 1, "\"d,1\",q,1\n", Some("q")),
            (Separator::Comma, 2, "\"d,1\",1,q\r\n", Some("q")),
            (Separator::Comma, 1, "\"d,1,q,1\n", None),
            (Separator::Tab, 1, "\"d\t1\"\tq\t1\n", Some("q")),
            (Separator::Tab, 1, "d\"\tq\t1", Some("q")),
            (Separator::Unit, 0, "\"q\x1fd\x1f1\n", Some("\"q")),
            (Separator::Blanks, 1, " d  q 1\r\n", Some("q")),
            (Separator::Comma, 0, "\r\n", None),
            (Separator::Tab, 0, "\td\t1\n", None),
        ] {
            assert_eq!(of(separator, query, line).as_deref(), found, "{line:?}");
        }
    }

    #[test]
    fn lines_longer_than_a_window() {
        for separator in [Separator::Tab, Separator::Comma] {
            let byte = char::from(separator.byte());
            let long = "x".repeat(3 * WINDOW);
            let text =
                format!("a{byte}b{byte}1\n{long}{byte}b{byte}2\r\na{byte}{long}\na{byte}b{byte}3");
            check(text.as_bytes(), &table(separator, 3));
            let mut seen = Seen::default();
            RowScanner::default().each_row(text.as_bytes(), 6, &table(separator, 3), &mut seen);
            assert_eq!(seen.rows.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
            assert_eq!(seen.wrong, [3]);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_split_as_line_by_line(
            text in "([ab#]{0,3}|[ \t,\x1f]|\"|\r?\n|a,b,1\n|a\tb\t1\r\n|a b \
                     1\n|\x1fa\x1fb\x1f1\n|\"a\",\"b,\"\"\",1\n|\x1ex\n|a{40},b{30},1\n){0,80}",
            separator in prop::sample::select(vec![
                Separator::Blanks,
                Separator::Tab,
                Separator::Comma,
                Separator::Unit,
            ]),
            columns in 3usize..5, times in prop::sample::select(vec![1usize, 1, 1, 60]),
        ) {
            check(text.repeat(times).as_bytes(), &table(separator, columns));
        }
    }
}

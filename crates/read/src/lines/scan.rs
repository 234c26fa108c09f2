//! The fast scanner that finds the lines of TREC text and their fields in one pass, by SIMD.
//!
//! ```text
//! for each window of the text:
//!     64 bytes at a time: a bit mask of the separators and one of the line feeds,
//!         by vector comparisons
//!     for each line: the masks of the next 64 bytes;
//!         its N lowest separators are the ends of its N fields, if no two are neighbours
//!         (no empty field) and the text behind them is blank → the line is passed on as it lies
//!         otherwise the same a bit at a time, for longer lines;
//!         otherwise the line is split byte by byte
//! ```
//!
//! Blank lines are skipped as far as a mask shows them, comments up to the next line feed.
//!
//! Marking a window first keeps many reads of memory under way at a time, while reading and parsing
//! in turns would wait for each; and the fields of a line are found without a branch. Everything
//! down to the parsing of fields is compiled for each SIMD level, because instructions for bits
//! come with it. This module does not know what fields mean.
//!
//! How a block becomes fields, bit 0 on the left:
//!
//! ```text
//! text                    q1 Q0 d7 1 2.5 t⏎q1 Q0 d3 …
//! separators              ..1..1..1.1...1.1..1..1..1
//! feeds                   ................1.........
//! feeds ^ (feeds - 1)     11111111111111111.........   the line: all bits up to its line feed
//! separators of the line  ..1..1..1.1...1.1.........   the lowest ends field 1; x & (x - 1)
//!                                                      removes it, the next one ends field 2 …
//! ```
//!
//! So a line of N fields costs N times two instructions (count the zeros below the lowest bit,
//! remove it) and one branch, whatever the lengths of its fields. One more mask shows that no field
//! is empty: a separator is *doubled* if a separator precedes it, and only separators behind the
//! last field may be doubled. Masks in place of a loop over bytes made this module 1.3 times as
//! fast (git log, b4e13b7). Lines over 64 bytes, blanks side by side and comments go to slower
//! ways. All ways give the same fields: the tests compare each way with splitting line by line.

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use memchr::{memchr, memrchr};

use super::dialect::Comments;
use crate::bytes::limits::MAX_LINE_BYTES;

/// The number of bytes of text that are marked ahead: a window stays in the first-level cache, with
/// its masks.
const WINDOW: usize = 8 << 10;

/// The starts and ends in the text of the first `N` fields of a TREC line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields<const N: usize> {
    pub starts: [usize; N],
    pub ends: [usize; N],
}

/// A receiver of the lines that the scanner finds in TREC text. Lines are counted from 1.
pub trait TakeLines<const N: usize> {
    /// Whether a line may have more than `N` fields.
    const MORE: bool;

    /// Receives a line of TREC text with its first `N` fields.
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<N>);

    /// Receives a line, from `start` on, that is too long or has another number of fields than `N`,
    /// at least one. The line is without its line feed.
    fn other(&mut self, start: usize, line: u64, bytes: &[u8]);

    /// Rejects a line with more than `N` fields that has a fault; returns whether it was rejected.
    fn refuses(&mut self, _start: usize, _line: u64, _bytes: &[u8]) -> bool {
        false
    }

    /// Returns the rule for skipping lines of the text that start with `#`, as comments.
    fn comments(&self) -> Comments;

    /// Returns whether a carriage return inside a line of the text is a blank, and not an error.
    fn lone_returns(&self) -> bool {
        false
    }
}

/// Returns whether a line has a carriage return before its end. The writer may have meant several
/// lines.
pub fn has_lone_return(line: &[u8]) -> bool {
    line.trim_ascii_end().contains(&b'\r')
}

/// Returns whether `byte` separates fields of TREC text, as blanks and tabs do.
#[inline(always)]
pub fn is_separator(byte: u8) -> bool {
    // The blanks of C's `isspace`, at which trec_eval splits lines; five of the six are neighbours,
    // 9 to 13.
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

/// Returns the line of a text in which the byte at `at` lies, without its line feed.
pub fn whole_line(text: &[u8], at: usize) -> &[u8] {
    &text[last_line(&text[..at])..line_end(text, at)]
}

/// Returns the place of the end, before the line feed, of the line in which byte `at` lies.
pub fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length)
}

/// Returns the start of the last line of a text, which is empty behind a line feed.
pub fn last_line(text: &[u8]) -> usize {
    memrchr(b'\n', text).map_or(0, |feed| feed + 1)
}

/// Returns the whole blocks of 64 bytes of a window of text, and a padded block of the rest.
#[inline(always)]
pub fn blocks_of(window: &[u8]) -> (&[[u8; 64]], [u8; 64]) {
    let (blocks, tail) = window.as_chunks::<64>();
    // The padding behind the text must end no field and no line, so a letter fills up the last
    // block.
    let mut last = [b'x'; 64];
    last[..tail.len()].copy_from_slice(tail);
    (blocks, last)
}

/// Returns the byte at which `part` begins in the text that it is a part of.
pub fn offset_in(text: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Splits a line of TREC text into its fields, between blanks and tabs.
pub fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_separator(byte)).filter(|field| !field.is_empty())
}

/// The SIMD scanner of lines of TREC text; its buffer is reused from window to window.
#[derive(Debug)]
pub struct Scanner {
    level: Level,
    marks: Box<Marks>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self { level: Level::new(), marks: Box::new([SeparatorMark::default(); WINDOW / 64 + 1]) }
    }
}

impl Scanner {
    /// Finds every line of TREC text, passes it with its fields to `lines`, and returns the number
    /// of lines.
    pub fn each_line<const N: usize>(&mut self, text: &[u8], lines: &mut impl TakeLines<N>) -> u64 {
        dispatch!(self.level, simd => each_line(simd, &mut self.marks, text, lines))
    }
}

/// Bit masks of 64 bytes of text: of the field separators, and of the line feeds among them.
#[derive(Debug, Clone, Copy, Default)]
pub struct SeparatorMark {
    pub separators: u64,
    pub feeds: u64,
}

/// Returns 64 bits of a mask from bit `bit` (below 64) of `here` on, continued with those of
/// `next`.
#[inline(always)]
pub fn bits_from(bit: usize, here: u64, next: u64) -> u64 {
    // A `bit` of 0 would need a shift by 64, which does not exist, so `next` is shifted in two
    // steps.
    here >> bit | (next << 1) << (63 - bit)
}

/// The separator masks of a window of text, one for each 64 bytes, and one empty mask.
type Marks = [SeparatorMark; WINDOW / 64 + 1];

#[inline(always)]
fn each_line<S: Simd, const N: usize>(
    simd: S,
    marks: &mut Marks,
    text: &[u8],
    lines: &mut impl TakeLines<N>,
) -> u64 {
    let (mut line, mut start) = (0, 0);
    while start < text.len() {
        let window = start;
        mark(simd, &text[window..text.len().min(window + WINDOW)], marks);
        loop {
            while let Some((fields, after)) = short_line(text, marks, window, start) {
                line += 1;
                lines.fields(text, line, &fields);
                start = after;
            }
            // A line that may go on behind the window is read again at the start of the next
            // window. Only a line that fills a whole window is split here, byte by byte: otherwise
            // the same window would be marked again for ever.
            if start >= text.len() || start > window && !has_end(marks, start - window) {
                break;
            }
            let (skipped, after) = skip(text, marks, window, start, lines.comments());
            if skipped > 0 {
                (line, start) = (line + skipped, after);
                continue;
            }
            line += 1;
            if let Some((fields, after)) = plain_line(text, marks, window, start) {
                lines.fields(text, line, &fields);
                start = after;
            } else {
                start = any_line(text, start, line, lines);
            }
        }
    }
    line
}

/// Returns the fields of the short TREC line at `start`, and the start of the next line; else
/// `None`. A short line has at most 64 bytes, and `N` fields with one separator behind each. The
/// last separator is a line feed, or blanks and a line feed follow it.
///
/// The separators of the line are a number, and fields end at its lowest set bits. Only the
/// separators behind the last field may stand right behind another separator.
#[inline(always)]
fn short_line<const N: usize>(
    text: &[u8],
    marks: &Marks,
    window: usize,
    start: usize,
) -> Option<(Fields<N>, usize)> {
    let (block, bit) = ((start - window) / 64, (start - window) % 64);
    let (here, next) = (marks.get(block)?, marks.get(block + 1)?);
    // Invariant: `next` exists for every block of the window, because an empty mark follows the
    // last block.
    let feeds = bits_from(bit, here.feeds, next.feeds);
    let separators =
        bits_from(bit, here.separators, next.separators) & (feeds ^ feeds.wrapping_sub(1));
    let mut fields = Fields { starts: [start; N], ends: [start; N] };
    let mut rest = separators;
    for field in 0..N {
        if field > 0 {
            fields.starts[field] = fields.ends[field - 1] + 1;
            rest &= rest.wrapping_sub(1);
        }
        fields.ends[field] = start + rest.trailing_zeros() as usize;
    }
    // `rest` is the end of field N and all separators behind field N. The separators behind that
    // end must be exactly the doubled ones: then no field is empty, and only blanks follow the last
    // field. The `| 1` makes a separator at the very start count as doubled. The text is read last:
    // without a line feed ahead, `start` may be the end of the text.
    let doubled = separators & (separators << 1 | 1);
    let plain =
        feeds != 0 && rest != 0 && doubled == rest & rest.wrapping_sub(1) && text[start] != b'#';
    plain.then(|| (fields, start + feeds.trailing_zeros() as usize + 1))
}

/// Returns the fields of a TREC line as `short_line` does, for a line of any length that ends in
/// the window.
#[inline(never)]
fn plain_line<const N: usize>(
    text: &[u8],
    marks: &Marks,
    window: usize,
    start: usize,
) -> Option<(Fields<N>, usize)> {
    let (mut block, bit) = ((start - window) / 64, (start - window) % 64);
    let mut left = marks[block].separators & u64::MAX << bit;
    let mut fields = Fields { starts: [start; N], ends: [start; N] };
    let mut begin = start;
    let mut plain = text[start] != b'#';
    for field in 0..N {
        while left == 0 {
            block += 1;
            left = marks.get(block)?.separators;
        }
        let end = window + 64 * block + left.trailing_zeros() as usize;
        left &= left - 1;
        plain &= end > begin && (field + 1 == N || text[end] != b'\n');
        (fields.starts[field], fields.ends[field]) = (begin, end);
        begin = end + 1;
    }
    // Invariant: the padding behind the text has no marks, so `begin - 1`, the place of a mark, is
    // in the text.
    let after = match text[begin - 1] {
        b'\n' => begin,
        b'\r' if text.get(begin) == Some(&b'\n') => begin + 1,
        _ => return None,
    };
    plain.then_some((fields, after))
}

/// Skips blank lines and comments of TREC text from `start` on, as far as the marks of the window
/// show them. Returns their number and the start of the next line.
#[inline(never)]
fn skip(
    text: &[u8],
    marks: &Marks,
    window: usize,
    mut start: usize,
    comments: Comments,
) -> (u64, usize) {
    let mut lines = 0;
    loop {
        let (block, bit) = ((start - window) / 64, (start - window) % 64);
        let Some(mark) = marks.get(block) else { return (lines, start) };
        // Zeros shifted in from above end the run of blanks, so the run never reaches into the next
        // block. The loop then continues in the next block.
        let blank = (!(mark.separators >> bit)).trailing_zeros().min(64 - bit as u32);
        let feeds = mark.feeds >> bit & u64::MAX.checked_shr(64 - blank).unwrap_or(0);
        if feeds != 0 {
            lines += u64::from(feeds.count_ones());
            start += 64 - feeds.leading_zeros() as usize;
            continue;
        }
        let column = blank as usize;
        if bit + column == 64 || text.get(start + column) != Some(&b'#') || !comments.cover(column)
        {
            return (lines, start);
        }
        let Some(end) = next_feed(marks, start - window) else { return (lines, start) };
        (lines, start) = (lines + 1, window + end + 1);
    }
}

/// Returns the place of the first line feed at or after `place` in the marked window of text.
#[inline(always)]
fn next_feed(marks: &Marks, place: usize) -> Option<usize> {
    let (mut block, bit) = (place / 64, place % 64);
    let mut feeds = marks.get(block)?.feeds & u64::MAX << bit;
    while feeds == 0 {
        block += 1;
        feeds = marks.get(block)?.feeds;
    }
    Some(64 * block + feeds.trailing_zeros() as usize)
}

/// Returns whether the marked window of text has a line feed at or after `place`.
#[inline(never)]
fn has_end(marks: &Marks, place: usize) -> bool {
    next_feed(marks, place).is_some()
}

/// Splits the TREC line at `start` byte by byte, as works for any line; returns the start of the
/// next line.
#[cold]
#[inline(never)]
fn any_line<const N: usize, L: TakeLines<N>>(
    text: &[u8],
    start: usize,
    number: u64,
    lines: &mut L,
) -> usize {
    let end = line_end(text, start);
    let line = &text[start..end];
    if line.len() > MAX_LINE_BYTES {
        lines.other(start, number, line);
        return end + 1;
    }
    let (mut fields, mut count, mut at) = (Fields { starts: [0; N], ends: [0; N] }, 0, 0);
    loop {
        at += line[at..].iter().take_while(|&&byte| is_separator(byte)).count();
        let field = line[at..].iter().take_while(|&&byte| !is_separator(byte)).count();
        if field == 0 {
            break;
        }
        if count == 0 && line[at] == b'#' && lines.comments().cover(at) {
            return end + 1;
        }
        if count < N {
            (fields.starts[count], fields.ends[count]) = (start + at, start + at + field);
        }
        count += 1;
        at += field;
    }
    if count == N || (L::MORE && count > N && (lines.lone_returns() || !has_lone_return(line))) {
        if count == N || !lines.refuses(start, number, line) {
            lines.fields(text, number, &fields);
        }
    } else if count > 0 {
        lines.other(start, number, line);
    }
    end + 1
}

/// Computes the bit masks of the separators and line feeds of a window of TREC text.
#[inline(always)]
fn mark<S: Simd>(simd: S, window: &[u8], marks: &mut Marks) {
    let (blocks, last) = blocks_of(window);
    for (mark, block) in std::iter::zip(marks.iter_mut(), blocks) {
        *mark = mark_of(simd, block);
    }
    marks[blocks.len()] = mark_of(simd, &last);
    marks[blocks.len() + 1..].fill(SeparatorMark::default());
}

#[inline(always)]
fn mark_of<S: Simd>(simd: S, block: &[u8; 64]) -> SeparatorMark {
    let bytes = u8x64::from_slice(simd, block);
    let blank = bytes.simd_eq(b' ');
    // The subtraction wraps, so a single unsigned comparison finds all bytes from 9 to 13.
    let control = (bytes - u8x64::splat(simd, b'\t')).simd_lt(5);
    SeparatorMark {
        separators: (blank | control).to_bitmask(),
        feeds: bytes.simd_eq(b'\n').to_bitmask(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All lines as they were passed on.
    #[derive(Default, Debug, PartialEq)]
    struct Seen {
        fields: Vec<(u64, Vec<Vec<u8>>)>,
        other: Vec<(u64, Vec<u8>)>,
    }

    impl TakeLines<4> for Seen {
        const MORE: bool = false;

        fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<4>) {
            let places = std::iter::zip(fields.starts, fields.ends);
            let fields = places.map(|(start, end)| text[start..end].to_vec());
            self.fields.push((line, fields.collect()));
        }

        fn other(&mut self, _: usize, line: u64, bytes: &[u8]) {
            self.other.push((line, bytes.to_vec()));
        }

        fn comments(&self) -> Comments {
            Comments::AfterBlanks
        }
    }

    fn slowly(text: &[u8]) -> (u64, Seen) {
        let (mut count, mut seen) = (0, Seen::default());
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            count += 1;
            let fields: Vec<Vec<u8>> = split(line).map(<[u8]>::to_vec).collect();
            match fields.len() {
                0 => {}
                _ if fields[0][0] == b'#' => {}
                4 => seen.fields.push((count, fields)),
                _ => seen.other.push((count, line.strip_suffix(b"\n").unwrap_or(line).to_vec())),
            }
        }
        (count, seen)
    }

    fn check(text: &[u8]) {
        let mut seen = Seen::default();
        let count = Scanner::default().each_line(text, &mut seen);
        assert_eq!((count, seen), slowly(text));
    }

    #[test]
    fn lines_of_every_kind() {
        check(b"");
        check(b"a b c d");
        check(b"a b c d\n\n#x y z w\n a b c d\r\na\tb\x0bc\x0cd \na b c\na b c d e\n\n\n");
        let mut text = Vec::new();
        for line in 0..3000 {
            text.extend_from_slice(format!("q{} 0 document{line} 1\r\n", line / 7).as_bytes());
        }
        check(&text);
        check(
            &[
                &vec![b'x'; 3 * WINDOW],
                &b" 0 d 1\nq 0 d 1\n"[..],
                &vec![b' '; 2 * WINDOW],
                b"q\nq 0 d 1",
            ]
            .concat(),
        );
    }

    proptest! {
        #[test]
        fn any_text_is_split_as_the_slow_way_does(text in "([a#]{1,3}|[ \t\r\x0b]{1,2}|\n|a b c \
            d\n|a 0 b 1\r\n|a{1,40} b{1,30} c 1\n){0,60}") {
            check(text.as_bytes());
        }

        #[test]
        fn every_level_marks_the_same_separators(
            text in prop::collection::vec(
                prop::sample::select(b" \t\n\r\x0b\x0c\x08\x0e!x\xa0\x89".to_vec()),
                0..400,
            ),
        ) {
            for level in [Level::new(), Level::baseline()] {
                let mut marks = [SeparatorMark::default(); WINDOW / 64 + 1];
                dispatch!(level, simd => mark(simd, &text, &mut marks));
                for (at, &byte) in text.iter().enumerate() {
                    let SeparatorMark { separators, feeds } = marks[at / 64];
                    prop_assert_eq!(separators >> (at % 64) & 1 == 1, is_separator(byte));
                    prop_assert_eq!(feeds >> (at % 64) & 1 == 1, byte == b'\n');
                }
                let beyond = marks[text.len() / 64].separators.checked_shr(text.len() as u32 % 64);
                prop_assert_eq!((beyond, marks[text.len() / 64 + 1].separators), (Some(0), 0));
            }
        }
    }
}

//! The hot loop: lines and their fields, found in one pass over the text.
//!
//! ```text
//! for each window of the text:
//!     64 bytes at a time: a bit mask of the separators by two vector compares; its bits become a list of positions
//!     for each line: the next N positions are the ends of its N fields, if no two are neighbours (no empty field),
//!         the last is a line feed and no other is → the line is handed on as it lies
//!         else the line is split byte by byte
//! ```
//!
//! Writing out the positions first costs one store a field and saves a mispredicted branch a field.
//! It knows nothing of what a field means.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};
use memchr::memchr;

use super::dialect::Comments;

/// How much text is scanned ahead: positions of a window stay in the first-level cache.
const WINDOW: usize = 8 << 10;
/// How many positions of 64 bytes are written without looking whether there are as many.
const BURST: usize = 16;

/// Where the `N` fields of a line lie in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields<const N: usize> {
    pub starts: [usize; N],
    pub ends: [usize; N],
}

/// Who takes the lines of a text. Lines are counted from 1.
pub(super) trait Lines<const N: usize> {
    /// May a line have more than `N` fields?
    const MORE: bool;

    /// A line with its first `N` fields.
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<N>);

    /// A line (without its line feed) that has another number of fields, at least one; it starts at `start`.
    fn other(&mut self, start: usize, line: u64, bytes: &[u8]);

    /// Which lines that start with `#` are skipped?
    fn comments(&self) -> Comments;

    /// Is a carriage return inside a line a mistake, and no blank?
    fn strict(&self) -> bool {
        true
    }
}

/// Is there a carriage return inside the line? Then it may be many lines to whoever wrote it.
pub(super) fn has_lone_return(line: &[u8]) -> bool {
    line.trim_ascii_end().contains(&b'\r')
}

/// Is the byte between fields?
#[inline(always)]
pub(super) fn is_separator(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5 // \t \n \v \f \r
}

/// The fields of one line.
pub(super) fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_separator(byte)).filter(|field| !field.is_empty())
}

/// Finds separators; its buffer is reused from window to window.
#[derive(Debug)]
pub(super) struct Scanner {
    level: Level,
    positions: Vec<u32>,
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner { level: Level::new(), positions: vec![0; WINDOW + BURST] }
    }
}

impl Scanner {
    /// The positions of the separators of `window`, at most [`WINDOW`] bytes.
    #[inline(always)]
    fn separators(&mut self, window: &[u8]) -> &[u32] {
        let count = dispatch!(self.level, simd => separators(simd, window, &mut self.positions));
        &self.positions[..count]
    }

    /// Hands every line of `text` to `lines`, and says how many lines there are.
    pub fn each_line<const N: usize>(&mut self, text: &[u8], lines: &mut impl Lines<N>) -> u64 {
        let (mut line, mut start) = (0, 0);
        while start < text.len() {
            let window = start;
            let separators = self.separators(&text[window..text.len().min(window + WINDOW)]);
            let mut next = 0;
            while let Some(ends) = separators.get(next..).and_then(|rest| rest.first_chunk::<N>()) {
                line += 1;
                if let Some((fields, after)) = plain_line(text, start, ends.map(|end| window + end as usize))
                {
                    lines.fields(text, line, &fields);
                    next += N + (after - fields.ends[N - 1] - 1);
                    start = after;
                } else {
                    start = any_line(text, start, line, lines);
                    next += separators[next..].partition_point(|&at| window + (at as usize) < start);
                }
            }
            if start == window {
                line += 1;
                start = any_line(text, start, line, lines);
            }
        }
        line
    }
}

/// The line at `start`, if the next `N` separators are those of `N` fields, and where the next line starts.
#[inline(always)]
fn plain_line<const N: usize>(text: &[u8], start: usize, ends: [usize; N]) -> Option<(Fields<N>, usize)> {
    let mut starts = [start; N];
    let mut plain = text[start] != b'#' && ends[0] > start;
    for field in 1..N {
        starts[field] = ends[field - 1] + 1;
        plain &= ends[field] > starts[field];
        plain &= text[ends[field - 1]] != b'\n';
    }
    let last = ends[N - 1];
    let after = match text[last] {
        b'\n' => last + 1,
        b'\r' if text.get(last + 1) == Some(&b'\n') => last + 2,
        _ => return None,
    };
    plain.then_some((Fields { starts, ends }, after))
}

/// Splits the line at `start` byte by byte; returns where the next one starts.
#[cold]
#[inline(never)]
fn any_line<const N: usize, L: Lines<N>>(text: &[u8], start: usize, number: u64, lines: &mut L) -> usize {
    let rest = &text[start..];
    let length = memchr(b'\n', rest).unwrap_or(rest.len());
    let line = &rest[..length];
    let (mut fields, mut count, mut at) = (Fields { starts: [0; N], ends: [0; N] }, 0, 0);
    loop {
        at += line[at..].iter().take_while(|&&byte| is_separator(byte)).count();
        let field = line[at..].iter().take_while(|&&byte| !is_separator(byte)).count();
        if field == 0 {
            break;
        }
        if count == 0 && line[at] == b'#' && lines.comments().cover(at) {
            return start + length + 1;
        }
        if count < N {
            (fields.starts[count], fields.ends[count]) = (start + at, start + at + field);
        }
        count += 1;
        at += field;
    }
    if count == N || (L::MORE && count > N && !(lines.strict() && has_lone_return(line))) {
        lines.fields(text, number, &fields);
    } else if count > 0 {
        lines.other(start, number, line);
    }
    start + length + 1
}

/// Writes the positions of all separators of `window` to `positions`; returns how many there are.
#[inline(always)]
fn separators<S: Simd>(simd: S, window: &[u8], positions: &mut [u32]) -> usize {
    let mut count = 0;
    let (blocks, tail) = window.as_chunks::<64>();
    for (number, block) in blocks.iter().enumerate() {
        count = write_positions(mask(simd, block), 64 * number as u32, positions, count);
    }
    if !tail.is_empty() {
        let mut block = [b'x'; 64];
        block[..tail.len()].copy_from_slice(tail);
        count = write_positions(mask(simd, &block), 64 * blocks.len() as u32, positions, count);
    }
    count
}

/// A bit for each separator.
#[inline(always)]
fn mask<S: Simd>(simd: S, block: &[u8; 64]) -> u64 {
    let bytes = u8x64::from_slice(simd, block);
    let blank = bytes.simd_eq(b' ');
    let control = (bytes - u8x64::splat(simd, b'\t')).simd_lt(5);
    (blank | control).to_bitmask()
}

/// Appends the positions of the set bits.
#[inline(always)]
fn write_positions(mut mask: u64, base: u32, positions: &mut [u32], count: usize) -> usize {
    let after = count + mask.count_ones() as usize;
    let mut at = count;
    while let Some(burst) = positions.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<BURST>()) {
        for place in burst {
            *place = base + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        }
        at += BURST;
        if at >= after {
            break;
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All lines as they were handed over.
    #[derive(Default, Debug, PartialEq)]
    struct Seen {
        fields: Vec<(u64, Vec<Vec<u8>>)>,
        other: Vec<(u64, Vec<u8>)>,
    }

    impl Lines<4> for Seen {
        const MORE: bool = false;

        fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<4>) {
            self.fields.push((
                line,
                (0..4).map(|field| text[fields.starts[field]..fields.ends[field]].to_vec()).collect(),
            ));
        }

        fn other(&mut self, _: usize, line: u64, bytes: &[u8]) {
            self.other.push((line, bytes.to_vec()));
        }

        fn comments(&self) -> Comments {
            Comments::AfterBlanks
        }
    }

    fn slowly(text: &[u8]) -> (u64, Seen) {
        let mut seen = Seen::default();
        let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
        let lines = if lines.last() == Some(&&b""[..]) { &lines[..lines.len() - 1] } else { &lines[..] };
        for (number, line) in lines.iter().enumerate() {
            let fields: Vec<Vec<u8>> = split(line).map(<[u8]>::to_vec).collect();
            match fields.len() {
                0 => {}
                _ if fields[0][0] == b'#' => {}
                4 => seen.fields.push((number as u64 + 1, fields)),
                _ => seen.other.push((number as u64 + 1, line.to_vec())),
            }
        }
        (lines.len() as u64, seen)
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
            &[&vec![b'x'; 3 * WINDOW], &b" 0 d 1\nq 0 d 1\n"[..], &vec![b' '; 2 * WINDOW], b"q\nq 0 d 1"]
                .concat(),
        );
    }

    proptest! {
        #[test]
        fn any_text_is_split_as_the_slow_way_does(text in "([a#]{1,3}|[ \t\r\x0b]{1,2}|\n|a b c d\n|a 0 b 1\r\n){0,60}") {
            check(text.as_bytes());
        }

        #[test]
        fn every_level_finds_the_same_separators(text in prop::collection::vec(prop::sample::select(b" \t\n\r\x0b\x0c\x08\x0e!x\xa0\x89".to_vec()), 0..400)) {
            let expected: Vec<u32> = (0..text.len()).filter(|&at| is_separator(text[at])).map(|at| at as u32).collect();
            let mut positions = vec![0; WINDOW + BURST];
            let level = Level::new();
            let found = dispatch!(level, simd => separators(simd, &text, &mut positions));
            prop_assert_eq!(&positions[..found], &expected[..]);
            let baseline = Level::baseline();
            let found = dispatch!(baseline, simd => separators(simd, &text, &mut positions));
            prop_assert_eq!(&positions[..found], &expected[..]);
        }
    }
}

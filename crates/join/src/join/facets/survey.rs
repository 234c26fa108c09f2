//! Where the judgments of each query are, in a text or in columns, before they are read.
//!
//! ```text
//! text     q1 ann d7 1 ⏎ q1 ann d3 0 ⏎ q1 bob d7 2 ⏎ q2 ann d1 1 ⏎ q1 …
//! places   q1: lines 1 to 3, and 5 …;  q2: line 4        bytes, the line before them,
//!                                                        and at most how many judgments
//! ```
//!
//! A look at the first field of each line costs a few nanoseconds, and is worth them: a query is
//! then read as a whole, so that its rows stay in a cache, and its judgments are written once, to
//! where they stay. The survey promises one thing: each judgment of a place is of the query. Blank
//! lines, comments and wrong lines may lie in any place, and count as room.

use std::ops::Range;

use rayon::prelude::*;

use crate::bytes::brief::Brief;
use crate::bytes::hash::Seed;
use crate::bytes::interner::Interner;
use crate::columns::CheckedColumns;
use crate::ids::Ids;
use crate::lines::dialect::Comments;
use crate::lines::scan::{each_feed, is_separator, split};
use crate::lines::shape::counts;

/// The place of consecutive judgments of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPlace {
    /// The bytes of the text, or the rows.
    pub range: Range<usize>,
    /// The number of lines before.
    pub before: u64,
    /// The largest number of judgments that the place can hold.
    pub room: usize,
}

/// The places of the judgments of each query.
pub struct Survey {
    queries: Interner,
    places: Vec<Vec<QueryPlace>>,
    /// The number of the last query.
    last: u32,
    /// The number of places, and of lines.
    count: u64,
    pub lines: u64,
}

/// The lines of a place, at least, for reading query by query to pay: there are about as many if a
/// query's lines are together.
const LEAST: u64 = 4;

impl Survey {
    fn new(seed: Seed) -> Self {
        Survey { queries: Interner::new(seed), places: Vec::new(), last: 0, count: 0, lines: 0 }
    }

    /// Adds a place behind all places so far.
    fn push(&mut self, query: &[u8], range: Range<usize>, (lines, room): (u64, usize)) {
        let before = self.lines;
        self.lines += lines;
        if self.queries.is(self.last, query)
            && let Some(last) = self.places[self.last as usize].last_mut()
            && last.range.end == range.start
        {
            last.range.end = range.end;
            last.room += room;
            return;
        }
        let (number, is_new) = self.queries.insert(query);
        if is_new {
            self.places.push(Vec::new());
        }
        self.places[number as usize].push(QueryPlace { range, before, room });
        (self.last, self.count) = (number, self.count + 1);
    }

    /// The survey, unless lines of a query are seldom together.
    fn useful(self) -> Option<Self> {
        // Lines of a query are counted from its first one, in 32 bits.
        (self.count * LEAST <= self.lines && self.lines <= u64::from(u32::MAX)).then_some(self)
    }

    /// Looks at a text in these pieces; `None` if lines of a query are seldom together.
    pub fn of_text(
        text: &[u8],
        pieces: &[Range<usize>],
        comments: Comments,
        seed: Seed,
    ) -> Option<Self> {
        let looks: Vec<PieceLook<'_>> =
            pieces.par_iter().map(|range| PieceLook::of(text, range.clone(), comments)).collect();
        let mut survey = Survey::new(seed);
        for look in looks {
            survey.lines += look.before;
            look.stretches
                .into_iter()
                .for_each(|(query, range, lines)| survey.push(query, range, lines));
        }
        survey.useful()
    }

    /// Looks at columns; `None` if rows of a query are seldom together.
    pub fn of_columns(columns: &CheckedColumns<'_>, seed: Seed) -> Option<Self> {
        let mut survey = Survey::new(seed);
        columns.each_stretch(|query, rows| {
            let count = rows.len();
            survey.push(query, rows, (count as u64, count));
        });
        survey.useful()
    }

    /// The queries in bytewise order, and their places in the same order.
    pub fn sorted(self) -> (Ids, Vec<Vec<QueryPlace>>) {
        let Survey { queries, mut places, .. } = self;
        let ids = queries.ids();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.par_sort_unstable_by_key(|&query| ids.get(query));
        let sorted = order.iter().map(|&query| std::mem::take(&mut places[query])).collect();
        (order.iter().map(|&query| ids.get(query)).collect(), sorted)
    }
}

/// What is seen of a piece of the text.
struct PieceLook<'t> {
    /// The number of lines before the first query.
    before: u64,
    stretches: Vec<SeenStretch<'t>>,
}

/// The query and the bytes of a stretch, the number of its lines, and the most judgments that they
/// can be.
type SeenStretch<'t> = (&'t [u8], Range<usize>, (u64, usize));

/// The bytes of the shortest judgment, `q g d 1` and a line feed.
const SHORTEST: usize = 8;

impl<'t> PieceLook<'t> {
    fn of(text: &'t [u8], piece: Range<usize>, comments: Comments) -> Self {
        let mut looking = Looking {
            text,
            comments,
            look: PieceLook { before: 0, stretches: Vec::new() },
            query: b"",
            brief: Brief::default(),
            first: piece.start,
            start: piece.start,
            lines: 0,
            skipped: 0,
        };
        each_feed(&text[piece.clone()], |feed| looking.line(piece.start + feed));
        // A last line may lack its feed.
        if text[..piece.end].last() != Some(&b'\n') {
            looking.line(piece.end);
        }
        looking.end(piece.end);
        looking.look
    }
}

/// The stretch that is being looked at.
struct Looking<'t> {
    text: &'t [u8],
    comments: Comments,
    look: PieceLook<'t>,
    /// The query; empty before the first one.
    query: &'t [u8],
    brief: Brief,
    /// Where the stretch begins, and where the line.
    first: usize,
    start: usize,
    lines: u64,
    /// Lines that are no judgments: they must not cost memory, as a text may be all blank lines, or
    /// lines too short.
    skipped: u64,
}

impl Looking<'_> {
    /// Looks at the line that ends at `end`.
    #[inline(always)]
    fn line(&mut self, end: usize) {
        if !self.goes_on() {
            self.other_line(end);
        }
        self.lines += 1;
        self.start = end + 1;
    }

    /// Whether the line begins with the query, and a blank or the line feed. The text behind the
    /// line is never part of it, for a query has no line feed.
    #[inline(always)]
    fn goes_on(&self) -> bool {
        let (text, length) = (self.text, self.query.len());
        let end = self.start + length;
        length > 0
            && text.get(end).is_some_and(|&behind| is_separator(behind))
            && Brief::of(text, self.start, end) == self.brief
            && (length <= Brief::ALL || text[self.start..end] == *self.query)
    }

    /// Looks at a line that does not start with the current query. A blank line or comment is
    /// skipped; another query begins a stretch.
    fn other_line(&mut self, end: usize) {
        let line = &self.text[self.start..end];
        if !counts(line, self.comments) {
            self.skipped += 1;
        } else if let Some(query) = split(line).next().filter(|&query| query != self.query) {
            self.end(self.start);
            self.brief = Brief::of(query, 0, query.len());
            (self.query, self.first, self.lines, self.skipped) = (query, self.start, 0, 0);
        }
    }

    /// Ends the stretch before the byte at `end`.
    fn end(&mut self, end: usize) {
        if self.query.is_empty() {
            self.look.before = self.lines;
            return;
        }
        let range = self.first..end;
        let room = ((self.lines - self.skipped) as usize).min((range.len() + 1) / SHORTEST);
        self.look.stretches.push((self.query, range, (self.lines, room)));
    }
}

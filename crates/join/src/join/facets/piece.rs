//! Judgments during reading: consecutive rows of a query are a stretch, and each stretch numbers
//! its documents.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use crate::bytes::hash::Seed;
use crate::bytes::id::IdInText;
use crate::bytes::interner::Interner;
use crate::error::Problems;
use crate::ids::Ids;
use crate::lines::diagnostics::Earliest;

/// The ids of a judgment.
#[derive(Debug, Clone, Copy)]
pub struct JudgmentPlace<'t> {
    pub query: IdInText<'t>,
    pub group: IdInText<'t>,
    pub subgroup: Option<IdInText<'t>>,
    pub doc: IdInText<'t>,
}

impl<'t> JudgmentPlace<'t> {
    /// Ids that stand alone; an empty sub-group is none.
    pub fn alone(query: &'t [u8], [group, subgroup]: [&'t [u8]; 2], doc: &'t [u8]) -> Self {
        JudgmentPlace {
            query: query.into(),
            group: group.into(),
            subgroup: Some(subgroup.into()).filter(|subgroup: &IdInText<'_>| !subgroup.is_empty()),
            doc: doc.into(),
        }
    }
}

/// The most rows of a piece that do not lie in a text.
const ROWS: usize = 1 << 20;

/// A judgment.
#[derive(Debug, Clone, Copy)]
pub struct JudgmentRow {
    pub grade: f64,
    /// The number of the document among those of the stretch.
    pub doc: u32,
    /// The numbers of the group and the sub-group among the names of the piece; 0 without a
    /// sub-group, which then means nothing.
    pub groups: [u32; 2],
    /// The number of the line in the piece.
    pub line: u32,
}

/// Judgments that were read together.
#[derive(Debug)]
pub struct JudgmentPiece {
    /// The number of lines before the piece.
    pub before: u64,
    pub rows: Vec<JudgmentRow>,
    /// The query of each stretch.
    pub queries: Ids,
    /// What is wrong, with the numbers of lines in the piece.
    pub problems: Earliest<String>,
    /// The documents of all stretches but the last, which is being read.
    docs: Ids,
    /// Where the rows and the documents of each stretch end.
    ends: Vec<[u32; 2]>,
    names: Interner,
    /// The documents of the stretch being read.
    numbering: Interner,
    /// The groups and the document of the last row.
    last: ([u32; 2], u32),
    /// Whether repeated rows may be dropped; `dropped` counts the dropped rows.
    thinning: bool,
    pub dropped: u64,
}

/// The judgments of a stretch.
#[derive(Debug, Clone)]
pub struct StretchJudgments<'p> {
    pub rows: &'p [JudgmentRow],
    /// The number of lines before the piece.
    pub before: u64,
    docs: &'p Ids,
    numbers: Range<usize>,
}

impl<'p> StretchJudgments<'p> {
    /// The documents, by number.
    pub fn docs(&self) -> impl ExactSizeIterator<Item = IdInText<'p>> + use<'p> {
        let (ends, text) = self.docs.columns();
        let id =
            |at: usize| IdInText { text, start: ends[at] as usize, end: ends[at + 1] as usize };
        self.numbers.clone().map(id)
    }
}

/// The names of groups and sub-groups of all pieces, in bytewise order.
pub fn names_of<'p>(pieces: impl IntoIterator<Item = &'p JudgmentPiece>) -> Vec<&'p [u8]> {
    let names: BTreeSet<&[u8]> =
        pieces.into_iter().flat_map(|piece| piece.names().iter()).collect();
    names.into_iter().collect()
}

impl JudgmentPiece {
    /// Makes an empty piece with room for some rows.
    pub fn new(seed: Seed, rows: usize, thinning: bool) -> Self {
        JudgmentPiece {
            before: 0,
            rows: Vec::with_capacity(rows),
            queries: Ids::default(),
            problems: Earliest::default(),
            docs: Ids::default(),
            ends: Vec::new(),
            names: Interner::new(seed),
            numbering: Interner::new(seed),
            last: ([0; 2], 0),
            thinning,
            dropped: 0,
        }
    }

    /// The names of groups and sub-groups, by number.
    pub fn names(&self) -> &Ids {
        self.names.ids()
    }

    /// The number among `all` names of each name, by its own number.
    pub fn numbers_among(&self, all: &[&[u8]]) -> Vec<u32> {
        // Invariant: `all` contains every name of this piece, because `all` is made of all pieces.
        self.names()
            .iter()
            .map(|name| all.binary_search(&name).unwrap_or_default() as u32)
            .collect()
    }

    /// The judgments of a finished stretch.
    pub fn part(&self, stretch: usize) -> StretchJudgments<'_> {
        let [first_row, first_doc] =
            stretch.checked_sub(1).map_or([0; 2], |before| self.ends[before]);
        let [last_row, last_doc] = self.ends[stretch];
        StretchJudgments {
            rows: &self.rows[first_row as usize..last_row as usize],
            before: self.before,
            docs: &self.docs,
            numbers: first_doc as usize..last_doc as usize,
        }
    }

    /// Begins a stretch.
    pub fn begin(&mut self, query: &[u8]) {
        self.end();
        self.queries.push(query);
    }

    /// Adds a judgment, on a line of the piece. A piece has fewer than 2³² rows.
    pub fn push(&mut self, line: u32, place: JudgmentPlace<'_>, grade: f64) {
        let (stretches, query) = (self.queries.len(), place.query.bytes());
        if stretches == 0 || self.queries.get(stretches - 1) != query {
            self.begin(query);
        }
        self.push_row(line, place, grade);
    }

    /// Adds a judgment of the query that was begun last.
    #[inline(always)]
    pub fn push_row(
        &mut self,
        line: u32,
        JudgmentPlace { group, subgroup, doc, .. }: JudgmentPlace<'_>,
        grade: f64,
    ) {
        let ([last_group, last_subgroup], last_doc) = &mut self.last;
        // Groups often change more slowly than documents, or take turns: a guess, and a look into
        // the table if it is wrong.
        if !self.names.is_at(*last_group, group) {
            *last_group = self.names.insert_at(group).0;
        }
        if let Some(subgroup) = subgroup
            && !self.names.is_at(*last_subgroup, subgroup)
        {
            *last_subgroup = self.names.insert_at(subgroup).0;
        }
        if !self.numbering.is_at(*last_doc, doc) {
            let next = *last_doc + 1;
            *last_doc = if self.numbering.is_at(next, doc) {
                next
            } else {
                self.numbering.insert_at(doc).0
            };
        }
        self.rows.push(JudgmentRow {
            grade,
            doc: *last_doc,
            groups: [*last_group, *last_subgroup],
            line,
        });
    }

    /// Forgets all stretches, and keeps the names, the number of dropped rows, and room.
    pub fn start_over(&mut self) {
        self.rows.clear();
        self.queries.clear();
        self.docs.clear();
        self.ends.clear();
    }

    /// Drops rows of the last stretch that judge a document again in the same group, but for the
    /// earliest: they are errors, and compressed text of a few kilobytes can have millions. If
    /// there are more rows than documents and groups go together, some do.
    #[cold]
    fn drop_repeated(&mut self, start: usize) {
        let (mut met, mut again) = (HashSet::new(), 0);
        let is_kept = |row: &JudgmentRow| {
            met.insert((row.doc, row.groups)) || {
                again += 1;
                again <= Problems::LIMIT as u64
            }
        };
        let kept: Vec<JudgmentRow> = self.rows.drain(start..).filter(is_kept).collect();
        self.dropped += again.saturating_sub(Problems::LIMIT as u64);
        self.rows.extend(kept);
        self.rows.shrink_to_fit();
    }

    fn thin(&mut self) {
        let start = self.ends.last().map_or(0, |[rows, _]| *rows as usize);
        let (docs, names) = (self.numbering.ids().len(), self.names.ids().len().max(1));
        // The most rows without a repeat: a place (document, group, sub-group) each. The bound
        // costs nothing, so honest text is never looked at row by row.
        let places = docs.saturating_mul(names).saturating_mul(names);
        if self.rows.len() - start > places.saturating_add(Problems::LIMIT) {
            self.drop_repeated(start);
        }
    }

    /// Ends the last stretch, if it has not ended.
    pub fn end(&mut self) {
        if self.ends.len() < self.queries.len() {
            if self.thinning {
                self.thin();
            }
            self.docs.append(self.numbering.ids());
            self.numbering.clear();
            self.ends.push([self.rows.len() as u32, self.docs.len() as u32]);
            // The numbers of documents begin at 0 again. Names go on, for they are few, and
            // numbered for the whole piece.
            self.last.1 = 0;
        }
    }
}

/// Pieces of judgments, built row by row.
pub struct Growing {
    seed: Seed,
    thinning: bool,
    pieces: Vec<JudgmentPiece>,
}

impl Growing {
    /// Creates an empty list of pieces; `thinning` says whether repeated rows may be dropped.
    pub fn new(seed: Seed, thinning: bool) -> Self {
        Growing { seed, thinning, pieces: Vec::new() }
    }

    /// Returns the piece that takes a line, and the number of the line there.
    fn at(&mut self, line: u64) -> (&mut JudgmentPiece, u32) {
        let has_room = |piece: &JudgmentPiece| {
            piece.rows.len() < ROWS && line - piece.before <= u64::from(u32::MAX)
        };
        if !self.pieces.last().is_some_and(has_room) {
            self.pieces.last_mut().into_iter().for_each(JudgmentPiece::end);
            self.pieces.push(JudgmentPiece {
                before: line - 1,
                ..JudgmentPiece::new(self.seed, 0, self.thinning)
            });
        }
        let last = self.pieces.len() - 1;
        let piece = &mut self.pieces[last];
        let line = (line - piece.before) as u32;
        (piece, line)
    }

    /// Adds a judgment, on a line behind those before.
    pub fn push(&mut self, line: u64, place: JudgmentPlace<'_>, grade: f64) {
        let (piece, line) = self.at(line);
        piece.push(line, place, grade);
    }

    /// Adds a problem of line `line`, a line behind all lines so far.
    pub fn problem(&mut self, line: u64, message: String) {
        let (piece, line) = self.at(line);
        piece.problems.add(u64::from(line), || message);
    }

    pub fn finish(mut self) -> Vec<JudgmentPiece> {
        self.pieces.last_mut().into_iter().for_each(JudgmentPiece::end);
        self.pieces
    }
}

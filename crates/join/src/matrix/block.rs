//! A block: rankings that become tiles in reused memory and are dropped after their evaluation.

use fearless_simd::Level;

use super::batch::Batch;
use super::code::{Codebook, PAST_END};
use super::exact::{ExactGrades, QueryGrades};
use super::facts::{Facts, QueryFacts};
use super::place::place;
use super::tile::{LANES, Packing};
use crate::bytes::aligned::AlignedBytes;
use crate::error::Result;
use crate::ids::Ids;

/// Some rankings of one run, with the judgments of each.
#[derive(Debug)]
pub struct Block {
    level: Level,
    /// No ids: the rankings of a block have none.
    ids: Ids,
    facts: Facts,
    depths: Vec<u32>,
    /// The labels, row after row. Each row starts on a line, and [`PAST_END`] fills up its last
    /// line.
    staged: Vec<AlignedBytes>,
    /// The first line of each row, and the end of the last row.
    starts: Vec<usize>,
    /// The number of labels of the room that was made last.
    room: usize,
    packing: Packing,
    lines: Vec<AlignedBytes>,
    /// The exact grades of the rankings and of their judgments, if codes are classes of grades.
    exact: ExactGrades,
}

impl Default for Block {
    fn default() -> Self {
        Block {
            level: Level::new(),
            ids: Ids::default(),
            facts: Facts::new(),
            depths: Vec::new(),
            staged: Vec::new(),
            starts: vec![0],
            room: 0,
            packing: Packing::default(),
            lines: Vec::new(),
            exact: ExactGrades::default(),
        }
    }
}

impl Block {
    /// Forgets all rankings.
    pub fn clear(&mut self) {
        self.facts.clear();
        self.depths.clear();
        self.starts.truncate(1);
        self.exact.facts.clear();
        self.exact.rows.clear();
    }

    /// Makes room for the next ranking, of `labels` labels, rounded up to whole lines. Behind the
    /// labels there is [`PAST_END`].
    #[inline]
    pub fn room(&mut self, labels: usize) -> &mut [u8] {
        let start = self.end();
        let end = start + labels.div_ceil(size_of::<AlignedBytes>());
        grow(&mut self.staged, end);
        self.room = labels;
        let lines = &mut self.staged[start..end];
        if let Some(last) = lines.last_mut() {
            *last = bytemuck::Zeroable::zeroed();
        }
        bytemuck::cast_slice_mut(lines)
    }

    /// Takes the first `depth` labels of the room as a ranking, whose judgments follow.
    #[inline]
    pub fn push_labels(&mut self, depth: usize) {
        let (start, end) = (self.end(), self.end() + depth.div_ceil(size_of::<AlignedBytes>()));
        if depth < self.room {
            bytemuck::cast_slice_mut(&mut self.staged[start..end])[depth..].fill(PAST_END);
        }
        self.depths.push(depth as u32);
        self.starts.push(end);
    }

    /// Appends a ranking with the judgments of its query.
    pub fn push_ranking(&mut self, labels: &[u8], judged: QueryFacts<'_>) {
        self.room(labels.len())[..labels.len()].copy_from_slice(labels);
        self.push_labels(labels.len());
        self.facts.push_counts(judged.iter());
    }

    /// Adds the exact grades of the last ranking's judged documents, in rank order, and the exact
    /// grades of its judgments.
    pub fn push_exact(&mut self, grades: &[f64], judged: QueryGrades<'_>) {
        self.exact.rows.push(grades);
        self.exact.facts.push_query(judged);
    }

    /// Adds the exact grades of the last ranking's judged documents, in rank order, and of all
    /// judged documents, which are sorted here.
    pub fn push_grades(&mut self, grades: &[f64], judged: &mut [f64]) {
        self.exact.rows.push(grades);
        self.exact.facts.push(judged);
    }

    /// Sets the judgments of the next `rankings` rankings whose labels were taken: the number of
    /// documents of each code from `first` on, `[ranking][code]`.
    pub fn push_judged(&mut self, rankings: usize, first: u8, judged: &[u32]) {
        self.facts.push_all(rankings, first, judged);
    }

    /// Gives the next ranking whose labels were taken the judgments of an earlier one.
    pub fn push_judged_as(&mut self, row: usize) {
        self.facts.push_again(row);
    }

    /// The number of rankings that have judgments.
    pub fn judged_rows(&self) -> usize {
        self.facts.len()
    }

    /// Takes the judgments of the rankings from another block, which has as many rankings.
    pub fn take_facts(&mut self, of: &mut Block) {
        std::mem::swap(&mut self.facts, &mut of.facts);
    }

    /// The labels of a ranking.
    pub fn labels(&self, row: usize) -> &[u8] {
        &self.padded(row)[..self.depths[row] as usize]
    }

    /// The labels of a ranking in whole lines, [`PAST_END`] behind them.
    pub fn lines(&self, row: usize) -> &[[u8; size_of::<AlignedBytes>()]] {
        self.padded(row).as_chunks().0
    }

    /// The number of rankings.
    pub fn rows(&self) -> usize {
        self.depths.len()
    }

    /// The judgments of each ranking.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The exact grades of the rankings, if the codes of `book` are classes of grades.
    pub fn exact(&self, book: &Codebook) -> Option<&ExactGrades> {
        (!book.is_exact()).then_some(&self.exact)
    }

    fn end(&self) -> usize {
        self.starts[self.depths.len()]
    }

    /// The labels of a ranking, and the padding behind them in their last line.
    fn padded(&self, row: usize) -> &[u8] {
        bytemuck::cast_slice(&self.staged[self.starts[row]..self.starts[row + 1]])
    }

    /// The rankings in tiles.
    ///
    /// # Errors
    /// A ranking that is too deep for a tile.
    pub fn batch<'a>(&'a mut self, book: &'a Codebook) -> Result<Batch<'a>> {
        self.packing = Packing::new(&self.depths)?;
        let mut tiled = std::mem::take(&mut self.lines);
        let lines = self.packing.bytes() as usize / size_of::<AlignedBytes>();
        grow(&mut tiled, lines);
        let tiles: &mut [u8] = bytemuck::cast_slice_mut(&mut tiled[..lines]);
        let mut of_tile: Vec<&[u8]> = Vec::with_capacity(LANES);
        for span in &self.packing.tiles {
            let rows = &self.packing.order[span.first as usize..(span.first + span.rows) as usize];
            of_tile.clear();
            of_tile.extend(rows.iter().map(|&row| self.padded(row as usize)));
            let tile = &mut tiles[span.offset as usize..(span.offset + span.bytes()) as usize];
            place(self.level, &of_tile, span.lanes as usize, tile);
        }
        self.lines = tiled;
        Ok(Batch {
            book,
            ids: &self.ids,
            facts: &self.facts,
            depths: &self.depths,
            packing: &self.packing,
            labels: bytemuck::cast_slice(&self.lines[..lines]),
            tiles: 0..self.packing.tiles.len(),
            tied: None,
            exact: (!book.is_exact()).then_some(&self.exact),
            grouped: None,
            spans: None,
            known: None,
            lists: None,
        })
    }
}

/// Grows `lines` to at least `count` lines.
fn grow(lines: &mut Vec<AlignedBytes>, count: usize) {
    if lines.len() < count {
        lines.resize(count, bytemuck::Zeroable::zeroed());
    }
}

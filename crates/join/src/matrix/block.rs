//! A block: rankings that become tiles in reused memory and are dropped after their evaluation.

use fearless_simd::Level;

use super::{
    Batch, Codebook, ExactGrades, ExactHistogram, GradeHistogram, GradeHistograms, LANES, Packing,
    code::PAST_END, ragged::range_of, transpose::transpose_into,
};
use crate::bytes::aligned::AlignedBytes;
use crate::error::Result;
use crate::ids::Ids;

/// A reusable buffer of some rankings of one run: the labels of each ranking and its judgment
/// counts.
#[derive(Debug, Default)]
pub struct Block {
    /// No ids: the rankings of a block have none.
    ids: Ids,
    /// The judgment counts of each ranking: its number of documents of each label code. Rankings
    /// whose labels come first get their counts here.
    pub(crate) facts: GradeHistograms,
    depths: Vec<u32>,
    /// The labels, row after row. Each row starts on a line, and [`PAST_END`] fills up its last
    /// line.
    staged: Vec<AlignedBytes>,
    /// The end of the lines of each row.
    ends: Vec<u64>,
    /// The number of labels of the room that was made last.
    room: usize,
    packing: Packing,
    lines: Vec<AlignedBytes>,
    /// The exact grades of the rankings and of their judgments, if codes are classes of grades.
    exact: ExactGrades,
}

impl Block {
    /// Removes all rankings from the block, and keeps its memory.
    pub fn clear(&mut self) {
        self.facts.clear();
        self.depths.clear();
        self.ends.clear();
        self.exact.facts.clear();
        self.exact.rows.clear();
    }

    /// Returns memory for the labels of the block's next ranking, rounded up to whole 64-byte
    /// lines. Behind the `labels` labels there is [`PAST_END`].
    #[inline]
    pub fn room(&mut self, labels: usize) -> &mut [u8] {
        let start = self.end();
        let end = start + labels.div_ceil(size_of::<AlignedBytes>());
        grow(&mut self.staged, end);
        self.room = labels;
        let lines = &mut self.staged[start..end];
        if let Some(last) = lines.last_mut() {
            // Reused memory has old labels, which must not stay behind the labels of the last line.
            *last = bytemuck::Zeroable::zeroed();
        }
        bytemuck::cast_slice_mut(lines)
    }

    /// Adds the first `depth` labels that were written to the room as the next ranking of the
    /// block. The judgments of the ranking follow.
    #[inline]
    pub fn push_labels(&mut self, depth: usize) {
        let (start, end) = (self.end(), self.end() + depth.div_ceil(size_of::<AlignedBytes>()));
        if depth < self.room {
            // The caller may have written labels of ranks that the ranking does not keep.
            bytemuck::cast_slice_mut(&mut self.staged[start..end])[depth..].fill(PAST_END);
        }
        self.depths.push(depth as u32);
        self.ends.push(end as u64);
    }

    /// Adds a ranking to the block: its labels, and the judgment counts of its query.
    pub fn push_ranking(&mut self, labels: &[u8], judged: GradeHistogram<'_>) {
        self.room(labels.len())[..labels.len()].copy_from_slice(labels);
        self.push_labels(labels.len());
        self.facts.push_counts(judged.iter());
    }

    /// Adds the exact grades of the last ranking's judged documents, in rank order, and those of
    /// its judgments.
    pub fn push_exact(&mut self, grades: &[f64], judged: ExactHistogram<'_>) {
        self.exact.rows.push(grades);
        self.exact.facts.push_query(judged);
    }

    /// Adds the exact grades of the last ranking's judged documents, in rank order, and of all
    /// judged documents. The grades of all judged documents are sorted here.
    pub fn push_grades(&mut self, grades: &[f64], judged: &mut [f64]) {
        self.exact.rows.push(grades);
        self.exact.facts.push(judged);
    }

    /// Returns the labels of one ranking of the block, in rank order.
    pub fn labels(&self, row: usize) -> &[u8] {
        &self.padded(row)[..self.depths[row] as usize]
    }

    /// Returns the labels of one ranking of the block in 64-byte lines, the last one padded with
    /// [`PAST_END`].
    pub fn lines(&self, row: usize) -> &[[u8; size_of::<AlignedBytes>()]] {
        self.padded(row).as_chunks().0
    }

    /// Returns the number of rankings in the block.
    pub fn rows(&self) -> usize {
        self.depths.len()
    }

    /// Returns the exact grades of the block's rankings, if a code of `book` covers several grades.
    pub fn exact(&self, book: &Codebook) -> Option<&ExactGrades> {
        (!book.is_exact()).then_some(&self.exact)
    }

    fn end(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Returns the labels of one ranking of the block, with the padding in its last 64-byte line.
    fn padded(&self, row: usize) -> &[u8] {
        bytemuck::cast_slice(&self.staged[range_of(&self.ends, row)])
    }

    /// Packs the rankings of the block into label tiles, and returns these as a batch for an
    /// engine.
    ///
    /// # Errors
    /// A ranking that is too deep for a tile.
    pub fn batch<'a>(&'a mut self, book: &'a Codebook) -> Result<Batch<'a>> {
        self.packing = Packing::new(&self.depths)?;
        // `padded` borrows the whole block, so the lines of the tiles leave the block meanwhile.
        let mut tiled = std::mem::take(&mut self.lines);
        let lines = self.packing.bytes() as usize / size_of::<AlignedBytes>();
        grow(&mut tiled, lines);
        let tiles: &mut [u8] = bytemuck::cast_slice_mut(&mut tiled[..lines]);
        let mut of_tile = Vec::with_capacity(LANES);
        for span in &self.packing.tiles {
            of_tile.clear();
            of_tile.extend(self.packing.rows(span).iter().map(|&row| self.padded(row as usize)));
            transpose_into(Level::new(), &of_tile, span.lanes as usize, &mut tiles[span.range()]);
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
            exact: self.exact(book),
            matrix: None,
            known: None,
            lists: None,
        })
    }
}

/// Grows a vector of 64-byte lines to at least `count` lines.
fn grow(lines: &mut Vec<AlignedBytes>, count: usize) {
    if lines.len() < count {
        lines.resize(count, bytemuck::Zeroable::zeroed());
    }
}

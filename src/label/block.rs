//! A block: rankings that become tiles in memory that is used again, and are gone after they were evaluated.

use fearless_simd::Level;

use super::batch::Batch;
use super::code::Codebook;
use super::facts::Facts;
use super::matrix::Ids;
use super::place::place;
use super::tile::{LANES, Line, Packing};
use crate::error::Result;

/// Some rankings of one run, with what is judged of each.
#[derive(Debug)]
pub(crate) struct Block {
    level: Level,
    /// None: the rankings have no ids here.
    ids: Ids,
    facts: Facts,
    depths: Vec<u32>,
    /// The labels, row after row.
    labels: Vec<u8>,
    /// Where the labels of each row end.
    ends: Vec<usize>,
    packing: Packing,
    lines: Vec<Line>,
}

impl Default for Block {
    fn default() -> Self {
        Block {
            level: Level::new(),
            ids: Ids::default(),
            facts: Facts::new(),
            depths: Vec::new(),
            labels: Vec::new(),
            ends: Vec::new(),
            packing: Packing::default(),
            lines: Vec::new(),
        }
    }
}

impl Block {
    /// Forgets all rankings.
    pub fn clear(&mut self) {
        self.facts.clear();
        self.depths.clear();
        self.labels.clear();
        self.ends.clear();
    }

    /// Appends a ranking, with how many judged documents there are of each code, ascending.
    pub fn push(&mut self, labels: &[u8], judged: &[(u8, u32)]) {
        self.depths.push(labels.len() as u32);
        self.labels.extend_from_slice(labels);
        self.ends.push(self.labels.len());
        self.facts.push_ascending(judged);
    }

    /// The rankings in tiles.
    ///
    /// # Errors
    /// A ranking that is too deep for a tile.
    pub fn batch<'a>(&'a mut self, book: &'a Codebook) -> Result<Batch<'a>> {
        self.packing = Packing::new(&self.depths)?;
        let lines = self.packing.bytes() as usize / size_of::<Line>();
        self.lines.resize(lines.max(self.lines.len()), <Line as bytemuck::Zeroable>::zeroed());
        let tiles: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines[..lines]);
        let mut of_tile: Vec<&[u8]> = Vec::with_capacity(LANES);
        for span in &self.packing.tiles {
            let rows = &self.packing.order[span.first as usize..(span.first + span.rows) as usize];
            of_tile.clear();
            of_tile.extend(rows.iter().map(|&row| {
                let end = self.ends[row as usize];
                &self.labels[end - self.depths[row as usize] as usize..end]
            }));
            let tile = &mut tiles[span.offset as usize..(span.offset + span.bytes()) as usize];
            place(self.level, &of_tile, span.lanes as usize, tile);
        }
        Ok(Batch {
            book,
            ids: &self.ids,
            facts: &self.facts,
            depths: &self.depths,
            packing: &self.packing,
            labels: bytemuck::cast_slice(&self.lines[..lines]),
            tiles: 0..self.packing.tiles.len(),
            tied: None,
        })
    }
}

//! Opening of a `.lmx` file as a label matrix, mapped or read, with the checks of its sections.

use std::path::Path;
use std::sync::Arc;

use super::fields::{Decoder, damaged};
use super::header::{Description, Section, describe, section};
use super::layout::{
    AGGREGATION, CODEBOOK, EXACT, FACETS, IDEAL, JUDGED, PACKING, QUERIES, ROWS, RULE, RUNS,
    SECTIONS, SPANS, TIES, TILES,
};
use super::optional_sections::{
    decode_exact, decode_groups, decode_ideal, decode_spans, decode_tied, decode_units,
};
use super::sections::{
    decode_book, decode_facts, decode_ids, decode_rule, decode_runs, encode_packing,
};
use crate::bytes::mmap::{FileAccess, Mapping};
use crate::error::{Error, Result};
use crate::matrix::label_matrix::{LabelMatrix, TileBytes, check_depths};
use crate::matrix::sparse::SparseTiles;
use crate::matrix::ties::TieContext;
use crate::matrix::tile::Packing;
use crate::rule::RankingRule;

impl LabelMatrix {
    /// Reads a label matrix from a `.lmx` file into memory, and checks all sections.
    ///
    /// # Errors
    /// A file that cannot be read, or that is truncated, foreign, of another version, or damaged.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path, FileAccess::Read)
    }

    /// Maps a label matrix from a `.lmx` file: its tiles are read when they are used, and never
    /// copied.
    ///
    /// No other program may write to the file meanwhile: see [`FileAccess::Mapped`]. Everything but
    /// the tiles is checked, as [`LabelMatrix::read`] does.
    pub fn map(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path, FileAccess::Mapped)
    }

    /// Opens a label matrix from a `.lmx` file, mapped or read into memory.
    ///
    /// # Errors
    /// As [`LabelMatrix::read`].
    pub fn open(path: impl AsRef<Path>, access: FileAccess) -> Result<Self> {
        open(path.as_ref(), access)
    }

    /// Reads a label matrix from the bytes of a `.lmx` file.
    ///
    /// # Errors
    /// Bytes that are truncated, foreign, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let name = Path::new("bytes");
        let file = Mapping::copied(bytes).map_err(|e| Error::io(name, "read", e))?;
        decode_whole(file, name)
    }
}

fn open(path: &Path, access: FileAccess) -> Result<LabelMatrix> {
    let file = Mapping::open(path, access)?;
    if access == FileAccess::Read {
        return decode_whole(file, path);
    }
    let description = describe(&file, file.len() as u64, path)?;
    decode(file, &description, path)
}

/// Decodes the label matrix of a `.lmx` file, and checks the checksums of all sections, tiles
/// included.
fn decode_whole(file: Mapping, path: &Path) -> Result<LabelMatrix> {
    let description = describe(&file, file.len() as u64, path)?;
    // `decode` reads neither the tiles nor sections of unknown kinds, so it compares no checksum of
    // theirs.
    for at in TILES..description.sections.len() {
        section(&file, &description, at, path)?;
    }
    decode(file, &description, path)
}

/// A reader of the sections of a `.lmx` file, each decoded after a comparison of its checksum.
struct SectionReader<'a> {
    file: &'a Arc<Mapping>,
    description: &'a Description,
    path: &'a Path,
}

impl<'a> SectionReader<'a> {
    /// Decodes the section numbered `at` of a `.lmx` file, after comparing its checksum.
    fn decode<T>(
        &self,
        at: usize,
        decode: impl FnOnce(&mut Decoder<'a>) -> Result<T>,
    ) -> Result<T> {
        let Self { file, description, path } = *self;
        let rest = section(file, description, at, path)?;
        let &Section { name, offset, length, .. } = &description.sections[at];
        decode(&mut Decoder { file, rest, end: (offset + length) as usize, name, path })
    }

    /// Decodes the section of a given kind that only some `.lmx` files have; returns `None` if the
    /// file has no such section.
    fn decode_kind<T>(
        &self,
        kind: u32,
        decode: impl FnOnce(&mut Decoder<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        let at = self.description.sections.iter().position(|section| section.kind == kind);
        at.map(|at| self.decode(at, decode)).transpose()
    }

    /// Computes the packing of rankings of these depths into tiles, and rejects a `.lmx` file with
    /// another packing or another size of tiles.
    fn compute_packing(&self, depths: &[u32]) -> Result<Packing> {
        let Self { file, description, path } = *self;
        // As much work as sorting the rows, whose lengths were in the file; the sum of the tiles is
        // checked not to overflow.
        let packing =
            Packing::new(depths).map_err(|e| damaged(path, SECTIONS[ROWS], e.to_string()))?;
        // Compare the bytes of the stored directory, then drop them: the matrix uses the computed
        // packing.
        if section(file, description, PACKING, path)? != encode_packing(&packing) {
            let message = "does not follow from the row lengths";
            return Err(damaged(path, SECTIONS[PACKING], message));
        }
        let (length, needed) = (description.sections[TILES].length, packing.bytes());
        if length != needed {
            let message = format!("has {length} bytes where the row lengths need {needed}");
            return Err(damaged(path, SECTIONS[TILES], message));
        }
        Ok(packing)
    }
}

/// Decodes the label matrix of a `.lmx` file, and checks all but its tiles.
pub(super) fn decode(file: Mapping, description: &Description, path: &Path) -> Result<LabelMatrix> {
    let file = Arc::new(file);
    let reader = SectionReader { file: &file, description, path };

    let (rule, fingerprint) = reader.decode(RULE, decode_rule)?;
    let book = reader.decode(CODEBOOK, decode_book)?;
    let queries = reader.decode(QUERIES, decode_ids)?;
    let facts = reader.decode(JUDGED, |from| decode_facts(from, queries.len(), book.codes()))?;
    let runs = reader.decode(RUNS, decode_runs)?;
    let rows = queries.len().saturating_mul(runs.len());
    let depths = reader.decode(ROWS, |from| from.u32s(rows))?;
    check_depths(&rule, &depths).map_err(|message| damaged(path, SECTIONS[ROWS], message))?;
    let packing = reader.compute_packing(&depths)?;
    let rankings = TieContext { depths: &depths, max_depth: rule.depth, facts: &facts };
    let tied = reader.decode_kind(TIES, |from| decode_tied(from, runs.len(), rankings))?;
    let units = reader.decode_kind(AGGREGATION, decode_units)?.map(Arc::new);
    let ideal = reader.decode_kind(IDEAL, decode_ideal)?.unwrap_or_default();
    let exact = reader.decode_kind(EXACT, |from| decode_exact(from, &book, &facts, &depths))?;
    let grouped =
        reader.decode_kind(FACETS, |from| decode_groups(from, queries.len(), depths.len()))?;
    let alone = grouped.is_none() && exact.is_none();
    let spans =
        reader.decode_kind(SPANS, |from| decode_spans(from, queries.len(), &depths, alone))?;
    // The stored book has a single class; the section of exact grades has the extent beside it.
    let (book, exact) = exact.map_or((book, None), |(book, exact)| (book, Some(exact)));
    let tiles = &description.sections[TILES];
    let range = tiles.offset as usize..(tiles.offset + tiles.length) as usize;
    Ok(LabelMatrix {
        book,
        rule: RankingRule { units, ..rule },
        fingerprint,
        queries,
        facts,
        runs,
        depths,
        packing,
        labels: TileBytes::InFile { file, range },
        tied,
        ideal,
        exact,
        grouped,
        spans,
        lists: SparseTiles::default(),
        shared: None,
    })
}

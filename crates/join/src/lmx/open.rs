//! Opening a file: all but its tiles is checked.

use std::path::Path;
use std::sync::Arc;

use super::fields::{Decoder, damaged};
use super::further::{
    decode_exact, decode_groups, decode_ideal, decode_spans, decode_tied, decode_units,
};
use super::header::{Description, Section, describe, section};
use super::layout::{
    BOOK, EXACT, GROUPS, IDEAL, JUDGED, PACKING, QUERIES, ROWS, RULE, RUNS, SECTIONS, SPANS, TIED,
    TILES, UNITS,
};
use super::sections::{
    decode_book, decode_facts, decode_ids, decode_rule, decode_runs, encode_packing,
};
use crate::bytes::mmap::{FileAccess, Mapping};
use crate::error::{Error, Result};
use crate::matrix::label_matrix::{LabelMatrix, TileBytes};
use crate::matrix::listed::ListedTiles;
use crate::matrix::tied::TiedIn;
use crate::matrix::tile::Packing;
use crate::rule::RankingRule;

impl LabelMatrix {
    /// Reads a `.lmx` file into memory.
    ///
    /// # Errors
    /// A file that cannot be read, or that is truncated, foreign, of another version, or damaged.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path, FileAccess::Read)
    }

    /// Maps a `.lmx` file: its tiles are read when they are used, and never copied.
    ///
    /// No other program may write to the file meanwhile: see [`FileAccess::Mapped`]. Everything but
    /// the tiles is checked, as [`LabelMatrix::read`] does.
    pub fn map(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path, FileAccess::Mapped)
    }

    /// Maps or reads a `.lmx` file.
    ///
    /// # Errors
    /// As [`LabelMatrix::read`].
    pub fn open(path: impl AsRef<Path>, access: FileAccess) -> Result<Self> {
        open(path.as_ref(), access)
    }

    /// Reads the bytes of a `.lmx` file.
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

/// Decodes the matrix of a file, and checks its tiles, too.
fn decode_whole(file: Mapping, path: &Path) -> Result<LabelMatrix> {
    let description = describe(&file, file.len() as u64, path)?;
    for at in TILES..description.sections.len() {
        section(&file, &description, at, path)?;
    }
    decode(file, &description, path)
}

/// A reader of a section, after comparing its checksum.
fn decoder<'a>(
    file: &'a Arc<Mapping>,
    description: &Description,
    at: usize,
    path: &'a Path,
) -> Result<Decoder<'a>> {
    let rest = section(file, description, at, path)?;
    let &Section { name, offset, length, .. } = &description.sections[at];
    Ok(Decoder { file, rest, end: (offset + length) as usize, name, path })
}

/// Computes the packing of rows with these depths, and rejects a file with another packing or
/// another size of tiles.
fn compute_packing(
    file: &Mapping,
    description: &Description,
    path: &Path,
    depths: &[u32],
) -> Result<Packing> {
    // As much work as sorting the rows, whose lengths were in the file; the sum of the tiles is
    // checked not to overflow.
    let packing = Packing::new(depths).map_err(|e| damaged(path, SECTIONS[ROWS], e.to_string()))?;
    // Compare the bytes of the stored directory, then drop them: the matrix uses the computed
    // packing.
    if section(file, description, PACKING, path)? != encode_packing(&packing) {
        let message = "does not follow from the row lengths".into();
        return Err(damaged(path, SECTIONS[PACKING], message));
    }
    let tiles = &description.sections[TILES];
    if tiles.length != packing.bytes() {
        let message =
            format!("has {} bytes where the row lengths need {}", tiles.length, packing.bytes());
        return Err(damaged(path, SECTIONS[TILES], message));
    }
    Ok(packing)
}

/// Decodes the matrix of a file, and checks all but its tiles.
pub(super) fn decode(file: Mapping, description: &Description, path: &Path) -> Result<LabelMatrix> {
    let file = Arc::new(file);
    let read = |at: usize| decoder(&file, description, at, path);

    let (rule, fingerprint) = decode_rule(&mut read(RULE)?)?;
    let book = decode_book(&mut read(BOOK)?)?;
    let queries = decode_ids(&mut read(QUERIES)?)?;
    let facts = decode_facts(&mut read(JUDGED)?, queries.len(), book.codes())?;
    let runs = decode_runs(&mut read(RUNS)?)?;
    let depths = read(ROWS)?.u32s(queries.len().saturating_mul(runs.len()))?;
    if let Some((depth, kept)) = rule.deeper(&depths) {
        let message = format!("a row of {depth} results where the rule keeps the first {kept}");
        return Err(damaged(path, SECTIONS[ROWS], message));
    }
    let packing = compute_packing(&file, description, path, &depths)?;
    let rankings = TiedIn { depths: &depths, kept: rule.depth, facts: &facts };
    let of_kind = |kind: u32| description.sections.iter().position(|section| section.kind == kind);
    let decode_tied = |at| decode_tied(&mut read(at)?, runs.len(), rankings);
    let tied = of_kind(TIED).map(decode_tied).transpose()?;
    let units = of_kind(UNITS).map(|at| decode_units(&mut read(at)?)).transpose()?.map(Arc::new);
    let ideal =
        of_kind(IDEAL).map(|at| decode_ideal(&mut read(at)?)).transpose()?.unwrap_or_default();
    let exact = of_kind(EXACT)
        .map(|at| decode_exact(&mut read(at)?, &book, &facts, &depths))
        .transpose()?;
    let grouped = of_kind(GROUPS)
        .map(|at| decode_groups(&mut read(at)?, queries.len(), depths.len()))
        .transpose()?;
    let alone = grouped.is_none() && exact.is_none();
    let decode_spans = |at| decode_spans(&mut read(at)?, queries.len(), &depths, alone);
    let spans = of_kind(SPANS).map(decode_spans).transpose()?;
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
        lists: ListedTiles::default(),
        shared: None,
    })
}

//! Opening of a `.lmx` file as a label matrix, mapped or read, with the checks of its sections.

use std::{path::Path, sync::Arc};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    fields::{Decoder, damaged, encoded},
    header::{Description, describe},
    layout::{
        AGGREGATION, CODEBOOK, EXACT, EXCLUDED, FACETS, IDEAL, JUDGED, PACKING, QUERIES, ROWS,
        RULE, RUNS, SECTIONS, SPANS, TIES, TILES,
    },
};
use crate::bytes::mmap::{FileAccess, Mapping};
use crate::error::{Error, Result};
use crate::matrix::{
    LabelMatrix, Packing, column::Column, label_matrix::check_depths, sparse::SparseTiles,
    ties::TieContext,
};
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
        let path = path.as_ref();
        let file = LmxFile::new(Mapping::open(path, access)?, path)?;
        match access {
            FileAccess::Read => file.checked_matrix(),
            FileAccess::Mapped => file.matrix(),
        }
    }

    /// Reads a label matrix from the bytes of a `.lmx` file.
    ///
    /// # Errors
    /// Bytes that are truncated, foreign, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let name = Path::new("bytes");
        let map = Mapping::copied(bytes).map_err(|e| Error::io(name, "read", e))?;
        LmxFile::new(map, name)?.checked_matrix()
    }
}

/// A `.lmx` file that is open, with its header and section table, which are checked.
pub(super) struct LmxFile<'a> {
    pub map: Arc<Mapping>,
    pub description: Description,
    path: &'a Path,
}

impl<'a> LmxFile<'a> {
    /// Checks the header and section table of a `.lmx` file.
    pub fn new(map: Mapping, path: &'a Path) -> Result<Self> {
        let description = describe(&map, map.len() as u64, path)?;
        Ok(Self { map: Arc::new(map), description, path })
    }

    /// Returns the bytes of the section numbered `at`, after comparing their checksum.
    pub fn section(&self, at: usize) -> Result<&[u8]> {
        let section = &self.description.sections[at];
        let bytes = &self.map[section.range()];
        if xxh3_64(bytes) != section.checksum {
            let message = "the checksum does not match: the file is damaged";
            return Err(damaged(self.path, section.name, message));
        }
        Ok(bytes)
    }

    /// Returns a decoder of the section numbered `at`, after comparing its checksum.
    fn decoder(&self, at: usize) -> Result<Decoder<'_>> {
        let section = &self.description.sections[at];
        Ok(Decoder {
            file: &self.map,
            rest: self.section(at)?,
            end: section.range().end,
            name: section.name,
            path: self.path,
        })
    }

    /// Decodes the section of a given kind that only some files have; returns `None` if the file
    /// has no such section.
    fn decode_kind<T>(
        &self,
        kind: u32,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let at = self.description.sections.iter().position(|section| section.kind == kind);
        at.map(|at| decode(&mut self.decoder(at)?)).transpose()
    }

    /// Returns the error of a damaged section that every file has.
    fn damaged(&self, at: usize, message: impl Into<String>) -> Error {
        damaged(self.path, SECTIONS[at], message)
    }

    /// Computes the packing of rankings of these depths into tiles, and rejects a `.lmx` file with
    /// another packing or another size of tiles.
    fn compute_packing(&self, depths: &[u32]) -> Result<Packing> {
        // As much work as sorting the rows, whose lengths were in the file; the sum of the tiles is
        // checked not to overflow.
        let packing = Packing::new(depths).map_err(|e| self.damaged(ROWS, e.to_string()))?;
        // Compare the bytes of the stored directory, then drop them: the matrix uses the computed
        // packing.
        if self.section(PACKING)? != encoded(|to| to.packing(&packing)) {
            return Err(self.damaged(PACKING, "does not follow from the row lengths"));
        }
        let (length, needed) = (self.description.sections[TILES].length, packing.bytes());
        if length != needed {
            let message = format!("has {length} bytes where the row lengths need {needed}");
            return Err(self.damaged(TILES, message));
        }
        Ok(packing)
    }

    /// Decodes the label matrix, and checks the checksums of all sections, tiles included.
    fn checked_matrix(&self) -> Result<LabelMatrix> {
        // `matrix` reads neither the tiles nor sections of unknown kinds, so it compares no
        // checksum of theirs.
        for at in TILES..self.description.sections.len() {
            self.section(at)?;
        }
        self.matrix()
    }

    /// Decodes the label matrix, and checks all but its tiles.
    pub fn matrix(&self) -> Result<LabelMatrix> {
        let (rule, fingerprint) = self.decoder(RULE)?.rule()?;
        let book = self.decoder(CODEBOOK)?.book()?;
        let queries = self.decoder(QUERIES)?.ids()?;
        let facts = self.decoder(JUDGED)?.facts(queries.len(), book.codes())?;
        let runs = self.decoder(RUNS)?.runs()?;
        let rows = queries.len().saturating_mul(runs.len());
        let mut lengths = self.decoder(ROWS)?;
        let depths = lengths.u32s(rows)?;
        lengths.end()?;
        check_depths(&rule, &depths).map_err(|message| self.damaged(ROWS, message))?;
        let packing = self.compute_packing(&depths)?;
        let rankings = TieContext { depths: &depths, max_depth: rule.depth, facts: &facts };
        let tied = self.decode_kind(TIES, |from| from.tied(runs.len(), rankings))?;
        let units = self.decode_kind(AGGREGATION, |from| from.units())?.map(Arc::new);
        let excluded = self.decode_kind(EXCLUDED, |from| from.excluded())?;
        let ideal = self.decode_kind(IDEAL, |from| from.ideal())?.unwrap_or_default();
        let exact = self.decode_kind(EXACT, |from| from.exact(&book, &facts, &depths))?;
        let grouped = self.decode_kind(FACETS, |from| from.facets(queries.len(), depths.len()))?;
        let alone = grouped.is_none() && exact.is_none();
        let spans = self.decode_kind(SPANS, |from| from.spans(queries.len(), &depths, alone))?;
        // The stored book has a single class; the section of exact grades has the extent beside it.
        let (book, exact) = exact.map_or((book, None), |(book, exact)| (book, Some(exact)));
        let labels = Column::in_file(&self.map, self.description.sections[TILES].range())
            .ok_or_else(|| self.damaged(TILES, "the tiles are not whole lines"))?;
        Ok(LabelMatrix {
            book,
            rule: RankingRule { units, excluded, ..rule },
            fingerprint,
            queries,
            facts,
            runs,
            depths,
            packing,
            labels,
            tied,
            ideal,
            exact,
            grouped,
            spans,
            lists: SparseTiles::default(),
            shared: None,
        })
    }
}

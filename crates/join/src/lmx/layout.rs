//! Sizes and alignments in a `.lmx` file, and the kinds and names of its sections.

/// The newest version of the format. Every later laneval reads files of this version; another
/// layout gets another number.
pub const VERSION: u32 = 1;

pub(super) const HEADER: usize = 32;
pub(super) const ENTRY: usize = 32;
pub(super) const ALIGN: usize = 64;
/// The alignment of tiles: a page, so that mapped tiles are as aligned as owned tiles.
pub(super) const TILE_ALIGN: usize = 4096;

/// The names of the sections; the kind of a section is its index + 1. The first [`CORE`] are in
/// every file, in this order.
pub(super) const SECTIONS: [&str; 15] = [
    "rule",
    "codebook",
    "query ids",
    "judged counts",
    "runs",
    "row lengths",
    "tile directory",
    "tiles",
    "tied groups",
    "ideal rankings",
    "exact grades",
    "judgment groups",
    "units",
    "spans",
    "excluded documents",
];
/// The number of sections that every file has.
pub(super) const CORE: usize = 8;
/// The places of the sections.
pub(super) const RULE: usize = 0;
pub(super) const CODEBOOK: usize = 1;
pub(super) const QUERIES: usize = 2;
pub(super) const JUDGED: usize = 3;
pub(super) const RUNS: usize = 4;
pub(super) const ROWS: usize = 5;
pub(super) const PACKING: usize = 6;
pub(super) const TILES: usize = 7;

/// The kind of the section of tied groups.
pub(super) const TIES: u32 = 9;
/// The kind of the section of the source of ideal rankings.
pub(super) const IDEAL: u32 = 10;
/// The kind of the section of exact grades.
pub(super) const EXACT: u32 = 11;
/// The kind of the section of judgment groups.
pub(super) const FACETS: u32 = 12;
/// The kind of the section of the rule of units.
pub(super) const AGGREGATION: u32 = 13;
/// The kind of the section of rankings of passages.
pub(super) const SPANS: u32 = 14;
/// The kind of the section of the fingerprint of excluded documents.
pub(super) const EXCLUDED: u32 = 15;
/// The mark of a section that a reader may skip.
pub(super) const OPTIONAL: u32 = 1;
/// The mark of a section that a reader needs to understand the file.
pub(super) const REQUIRED: u32 = 2;
/// The most sections that a file may have.
pub(super) const MAX_SECTIONS: usize = 256;

//! The `.lmx` file: a label matrix as it lies in memory, with checksums.
//!
//! ```text
//! header     magic (8) · version u32 · sections u32 · file length u64 ·
//!            checksum u64 of header and table
//! table      for each section: kind u32 · mark u32 · offset u64 · length u64 · xxh3-64 u64
//! sections   each on a 64-byte boundary, the tiles on a 4096-byte boundary, in this order:
//!            rule · codebook · query ids · judged counts · runs · row lengths · tile directory ·
//!            tiles
//!            perhaps more of ascending kinds: tied groups (9) · ideal rankings (10) ·
//!            exact grades (11) · judgment groups (12) · units (13) · spans (14)
//! ```
//!
//! The first eight sections are in every file, with the mark 0. A further section is marked 1,
//! *optional*, or 2, *required*. A reader that does not know the kind of a section skips an
//! optional section, and refuses a file with a required section. A further section is written only
//! if the matrix has such content. Exact grades and spans are required. Judgment groups are
//! required, too, unless the groups are subtopics.
//!
//! The first eight sections. A *row* is the ranking of one query in one run. A *string* is a length
//! u32 and its bytes. *Ids* are their number n u64, where they begin and the last ends u64[n + 1],
//! and their bytes.
//!
//! ```text
//! rule          order of equal scores u32: 0 docno descending, 1 docno ascending, 2 input, 3 rank
//!               type of scores u32: 0 f64, 1 f32 · ranks that were kept u32, 0 for all ·
//!               whether documents with the id of their query were dropped u32 ·
//!               fingerprint of the judgments u128
//! codebook      number of grades n u32 · grade f64[n], ascending
//! query ids     ids
//! judged counts  n entries u64 · where the entries of each query begin, and the last end
//!               u32[queries + 1] · number of documents u32[n] · code of their grade u8[n]
//! runs          number u32, and for each run: name string · tag string · source string ·
//!               results u64 · queries without judgments u64 · number of those named u32 ·
//!               their ids, each a string
//! row lengths   u32[runs][queries]
//! tile directory  for each tile: offset in the tiles u64 · depth u32 · lanes u32 ·
//!               first row in the order of packing u32 · number of rows u32
//! tiles         labels u8, a code each, as `matrix/tile.rs` describes
//! ```
//!
//! The further sections:
//!
//! ```text
//! tied groups   a group is documents of one row with equal scores; a mixed group has documents
//!               of different labels
//!               for each run: tied documents, groups, mixed groups, size of the largest group u64
//!               n rows with mixed groups, g mixed groups, c counts of documents cut off,
//!               a groups of one grade u64 ·
//!               where the mixed groups of each such row end u64[n] · rows u32[n]
//!               mixed groups: start u32, length u32 [g]
//!               documents of a group that the kept depth cut off:
//!               row u32, code u32, count u32 [c]
//!               groups whose documents have one grade: row u32, start u32, length u32 [a]
//! ideal rankings  u32: 1, ideal rankings and judged counts are of the retrieved documents alone;
//!               without the section they are of all judged documents
//! exact grades  in a file with this section, the codebook has the grade 0 alone, for all grades
//!               the least grade above 0, the largest grade f64
//!               n distinct grades of all queries together,
//!               m judged documents of all rows together u64
//!               where the distinct grades of each query end u64[queries] ·
//!               grade f64[n], ascending by query · documents u32[n]
//!               where the judged documents of each row end u64[rows] · grade f64[m], in rank order
//! judgment groups  what the groups are u32: 1 judges, 2 subtopics, 3 preferences
//!               n judgments of all queries together, m named documents of all rows together u64
//!               where the judgments of each query end u64[queries], by document, group and
//!               sub-group · document u32[n], numbered by docno · group u32[n] ·
//!               sub-group u32[n] · grade f64[n]
//!               where the named documents of each row end u64[rows] ·
//!               document u32[m], in rank order
//!               names of groups and sub-groups as ids
//! units         how results were merged into units, such as documents of chunks;
//!               without the section they were not merged
//!               best results of each query that were kept for this u32, 0 for all ·
//!               rule of units string · way of repeats string, both as the options are written,
//!               but a map of units as the fingerprint of its content
//! spans         g distinct grades of all queries together, m numbers of all rows together u64
//!               grade f64[g], ascending · gold positions of at least each grade u64[queries][g]
//!               where the numbers of each row end u64[rows] · numbers u32[m]: for each rank its
//!               positions, its new positions, its new gold positions of at least each grade
//! ```
//!
//! Everything is little-endian. All sections of known kinds but the tiles are decoded and checked
//! when the file is opened. The engines read the tiles in place. The checksum of the tiles is
//! compared when the whole file is read into memory, but on request only when the file is mapped.
//! A label that a flipped bit made meaningless is still a byte, and every table by label has 256
//! entries: damage there gives a wrong number, never a read out of bounds.
//!
//! **What opening checks, in this order.** A checksum finds damage but not malice: a forger
//! computes xxh3 as well. So each step trusts only facts from earlier steps. A number in the file
//! costs nothing until the bytes for this number are known to be in the file.
//!
//! ```text
//! header    magic → version → file length → number of sections → table is there → checksum of both
//!           (the message names the likeliest cause: no .lmx, too new, truncated, damaged)
//! table     each section: kind in order, place after the section before, in the file, aligned;
//!           mark known; the last section ends where the file ends
//! sections  checksum → fields, each by `take`: the section must still have a field's bytes
//!           rule → codebook: finite, distinct, ascending → ids: ascending
//!           → counts: codes of the codebook, 2²⁸ documents a query at most
//!           → runs → row lengths: one for each query of each run, none deeper than the rule keeps
//! tiles     which rows lie where is computed from the row lengths;
//!           the stored directory and the length of the tiles must be just that
//! further   each against the earlier sections: ties within the rows and the judged counts,
//!           exact grades as many as judged documents, documents by numbers that exist
//! ```
//!
//! Why a forged file costs nothing: no number allocates memory before its bytes are found. A column
//! of n numbers is made of n · 4 or n · 8 bytes that were taken from the file. Multiplications
//! saturate, so a huge n asks for more than the file has. The tiles, possibly the largest part,
//! must be in the file byte by byte before a row of that length is believed. Only a judged count,
//! the number of documents with a grade, has no bytes for each document. This number is bounded,
//! and a walk down an ideal ranking never writes the ranking out.
//!
//! The directory of tiles follows from the row lengths. The file stores the directory all the same,
//! because a comparison with the computed directory finds a file packed by another rule. Without
//! the comparison, the labels of that file would be read as labels of the wrong rows.

mod fields;
mod header;
mod layout;
mod open;
mod optional_sections;
mod sections;
mod verify;
mod write;

pub use header::{Description, Section};
pub use layout::VERSION;

//! The `.lmx` file: a label matrix as it lies in memory, with checksums.
//!
//! ```text
//! header     magic (8) · version u32 · sections u32 · file length u64 ·
//!            checksum u64 of header and table
//! table      a section each: kind u32 · mark u32 · offset u64 · length u64 · xxh3-64 u64
//! sections   each on a 64-byte boundary, in this order:
//!            rule · codebook · query ids · judged counts · runs · row lengths · tile directory ·
//!            tiles
//!            perhaps more of ascending kinds: tied groups (9) · ideal rankings (10) ·
//!            exact grades (11) · judgment groups (12) · units (13) · spans (14)
//! ```
//!
//! The first eight sections are in every file, with the mark 0. A further section is marked 1,
//! *optional*, or 2, *required*. A reader that does not know the kind of a section skips an
//! optional section, and refuses a file with a required section. A section is written only if it
//! says something. Exact grades and spans are required. Judgment groups are required, too, unless
//! the groups are subtopics.
//!
//! ```text
//! tied groups   of each run tied documents, groups, mixed groups, largest group u64
//!               n rows, g groups, c cut-offs, a groups of one grade u64 ·
//!               where the groups of each row end u64[n] · rows u32[n]
//!               start u32, length u32 [g] · row u32, code u32, count u32 [c]
//!               groups of equal scores whose documents have one grade:
//!               row u32, start u32, length u32 [a]
//! ideal rankings  what they and the judged counts are made of u32: 1, of what was retrieved;
//!               without the section, of the judgments
//! exact grades  with it the codebook is the grade 0, which stands for all grades
//!               the least grade above 0, the largest grade f64
//!               n distinct grades of all queries together,
//!               m judged documents of all rows together u64
//!               where the distinct grades of each query end u64[queries] ·
//!               grade f64[n], ascending by query · documents u32[n]
//!               where the judged documents of each row end u64[rows] · grade f64[m], in rank order
//! judgment groups  what groups are u32: 1 judges, 2 subtopics, 3 preferences
//!               n judgments of all queries together, m named documents of all rows together u64
//!               where the judgments of each query end u64[queries], by document, group and
//!               sub-group · document u32[n], numbered by docno · group u32[n] ·
//!               sub-group u32[n] · grade f64[n]
//!               where the named documents of each row end u64[rows] ·
//!               document u32[m], in rank order
//!               names of groups and sub-groups as ids
//! units         what was done with the units of results before they were ranked;
//!               without the section nothing was
//!               rows of a query that were kept u32, 0 for all · rule of units · way of repeats:
//!               each a length u32 and its bytes, as the options are written;
//!               a map goes by the fingerprint of its content
//! ```
//!
//! Everything is little-endian. The sections before the tiles are decoded and checked when the file
//! is opened; the tiles are read in place by the engines, and their checksum is compared on request
//! only. A label that a flipped bit made meaningless is still a byte, and every table has 256
//! entries: damage there gives a wrong number, never a read out of bounds.
//!
//! **What opening checks, in this order.** A checksum finds damage but not malice: a forger
//! computes xxh3 as well. So each step trusts only facts from earlier steps. A number in the file
//! costs nothing until the bytes for this number are known to be in the file.
//!
//! ```text
//! header    magic → version → file length → number of sections → table is there → checksum of both
//!           (the message names the likeliest cause: no .lmx, too new, truncated, damaged)
//! table     each section: kind in order, place behind the one before, inside of the file, aligned;
//!           mark known; the last ends the file
//! sections  checksum → fields, each by `take`: as many bytes as it claims must be left
//!           rule → codebook: finite, distinct, ascending → ids: ascending
//!           → counts: codes of the codebook, 2²⁸ documents a query at most
//!           → runs → row lengths: one for each query of each run, none deeper than the rule keeps
//! tiles     which rows lie where is computed from the row lengths;
//!           the stored directory and the length of the tiles must be just that
//! further   each against what is known by then: ties within rows and facts,
//!           exact grades as many as judged, documents numbered
//! ```
//!
//! Why a forged file costs nothing: no number allocates memory before its bytes are found. A column
//! of n numbers is made of n · 4 or n · 8 bytes that were taken from the file. Multiplications
//! saturate, so a huge n asks for more than the file has. The tiles, possibly the largest part,
//! must be in the file byte by byte before a row of that length is believed. Only the number of
//! documents judged with a grade has no bytes behind it. This number is bounded, and a walk down an
//! ideal ranking never writes the ranking out.
//!
//! The directory of tiles follows from the row lengths. The file stores the directory all the same,
//! because a comparison with the computed directory finds a file packed by another rule. Without
//! the comparison, the labels of that file would be read as labels of the wrong rows.

mod fields;
mod further;
mod header;
mod layout;
mod open;
mod sections;
mod verify;
mod write;

pub use header::{Description, Section};
pub use layout::VERSION;

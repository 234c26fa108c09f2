//! The `.lmx` file: a label matrix as it lies in memory, with checksums.
//!
//! ```text
//! header     magic (8) · version u32 · sections u32 · file length u64 · checksum u64 of header and table
//! table      a section each: kind u32 · mark u32 · offset u64 · length u64 · xxh3-64 u64
//! sections   each on a 64-byte boundary, in this order:
//!            rule · codebook · query ids · judged counts · runs · row lengths · tile directory · tiles
//!            in version 2 perhaps more of ascending kinds: tied groups (9) · ideal rankings (10) · exact grades (11) ·
//!            judgment groups (12)
//! ```
//!
//! The first eight sections are in every file, with the mark 0. A further one is marked 1, *optional*, or 2, *required*: a reader that does
//! not know its kind skips it if it is optional, and else refuses the file. A matrix is written as version 1 if that version can hold all
//! of it: if the matrix does not know its ties, equal scores are not ordered by the rank column (rule 3 of version 2), ideal rankings
//! are made of the judgments, and no more than 253 grades are distinct. Exact grades are required,
//! and so are judgment groups unless they are subtopics.
//!
//! ```text
//! tied groups   of each run tied documents, groups, mixed groups, largest group u64
//!               n rows, g groups, c cut-offs u64 · where the groups of each row end u64[n] · rows u32[n]
//!               start u32, length u32 [g] · row u32, code u32, count u32 [c]
//! ideal rankings  what they and the judged counts are made of u32: 1, of what was retrieved; without the section, of the judgments
//! exact grades  with it the codebook is the grade 0, which stands for all grades
//!               the least grade above 0, the largest grade f64
//!               n distinct grades of all queries together, m judged documents of all rows together u64
//!               where the distinct grades of each query end u64[queries] · grade f64[n], ascending by query · documents u32[n]
//!               where the judged documents of each row end u64[rows] · grade f64[m], in rank order
//! judgment groups  what groups are u32: 1 judges, 2 subtopics, 3 preferences
//!               n judgments of all queries together, m named documents of all rows together u64
//!               where the judgments of each query end u64[queries], by document, group and sub-group · document u32[n], numbered by
//!               docno · group u32[n] · sub-group u32[n] · grade f64[n]
//!               where the named documents of each row end u64[rows] · document u32[m], in rank order · names of groups and sub-groups as ids
//! ```
//!
//! Everything is little-endian. The sections before the tiles are decoded and checked when the file is opened; the tiles are read
//! in place by the engines, and their checksum is compared on request only. A label that a flipped bit made meaningless is still a
//! byte, and every table has 256 entries: damage there gives a wrong number, never a read out of bounds.
//!
//! **What opening checks, in this order.** A checksum finds damage and no malice: whoever forges a file computes xxh3 as well. So each step
//! trusts only what the steps before it have shown, and what a file claims costs nothing until the bytes for it are seen to be there.
//!
//! ```text
//! header    magic → version → file length → number of sections → table is there → checksum of both
//!           (the message names the likeliest cause: no .lmx, too new, truncated, damaged)
//! table     each section: kind in order, place behind the one before, inside of the file, aligned; mark known; the last ends the file
//! sections  checksum → fields, each by `take`: as many bytes as it claims must be left
//!           rule → codebook: finite, distinct, ascending → ids: ascending → counts: codes of the codebook, 2²⁸ documents a query at most
//!           → runs → row lengths: one for each query of each run, none deeper than the rule keeps
//! tiles     which rows lie where is computed from the row lengths; the stored directory and the length of the tiles must be just that
//! further   each against what is known by then: ties within rows and facts, exact grades as many as judged, documents numbered
//! ```
//!
//! Why a forged file costs nothing: there is no allocation by a number that was only read. A column of n numbers is made of n · 4 or n · 8
//! bytes that were taken from the file, multiplications saturate (so a huge n asks for more than the file has), and the tiles, which can be
//! the largest part, must be in the file byte by byte before a row of that length is believed. The one number that is not backed by bytes
//! is how many documents are judged with a grade; it is bounded, and what walks down an ideal ranking never writes it out.
//!
//! The directory of tiles follows from the row lengths, and is stored all the same: comparing it with what must be there finds a file that
//! was packed by another rule, whose labels would else be read as those of other rows.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::code::{Above, Codebook, Extent, MAX_GRADES, PAST_END, UNPOOLED};
use super::exact::{ExactFacts, ExactGrades};
use super::facets::{FacetJudgment, FacetRows, Facets, JudgedBy};
use super::facts::Facts;
use super::ids::{Ids, Unmatched};
use super::matrix::{LabelMatrix, RunInfo, TileBytes};
use super::mmap::{FileAccess, Mapping};
use super::notice::ScoresSeen;
use super::ragged::Ragged;
use super::rule::{IdealOf, RankingRule, ScoreType, Ties};
use super::tied::{CutOff, TieCounts, TiedColumns, TiedGroup, TiedGroups, TiedIn};
use super::tile::{Packing, Tile};
use crate::error::{Error, Result};
use crate::whole_file;

/// The newest version of the format. Every later laneval reads files of versions 1 and 2; another layout gets another number.
pub const VERSION: u32 = 2;

/// PNG's trick: a byte above 127, then CR LF and a lone LF, so that a file mangled as text is recognised.
const MAGIC: [u8; 8] = *b"\x8bLMX\r\n\x1a\n";
const HEADER: usize = 32;
const ENTRY: usize = 32;
const ALIGN: usize = 64;
/// Tiles start on a page, so that mapped tiles are as aligned as owned ones.
const TILE_ALIGN: usize = 4096;

/// The sections in file order; the kind of a section is its index + 1.
const SECTIONS: [&str; 8] =
    ["rule", "codebook", "query ids", "judged counts", "runs", "row lengths", "tile directory", "tiles"];
/// The places of the sections.
const RULE: usize = 0;
const BOOK: usize = 1;
const QUERIES: usize = 2;
const JUDGED: usize = 3;
const RUNS: usize = 4;
const ROWS: usize = 5;
const PACKING: usize = 6;
const TILES: usize = 7;

/// The kind of the section of tied groups.
const TIED: u32 = 9;
/// The kind of the section of what ideal rankings are made of.
const IDEAL: u32 = 10;
/// The kind of the section of exact grades.
const EXACT: u32 = 11;
/// The kind of the section of judgment groups.
const GROUPS: u32 = 12;
/// A section that may be skipped.
const OPTIONAL: u32 = 1;
/// A section without which the file cannot be understood.
const REQUIRED: u32 = 2;
/// The most sections that a file may have.
const MOST_SECTIONS: usize = 256;

/// The name of a section of this kind.
fn name_of(kind: u32) -> &'static str {
    match kind {
        TIED => "tied groups",
        IDEAL => "ideal rankings",
        EXACT => "exact grades",
        GROUPS => "judgment groups",
        _ => (kind as usize).checked_sub(1).and_then(|at| SECTIONS.get(at)).unwrap_or(&"unknown"),
    }
}

/// One section of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The number of its kind: its index + 1, or the number of a further section.
    pub kind: u32,
    /// The name of the section; `unknown` for an optional section that this laneval does not know.
    pub name: &'static str,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The length of the section in bytes.
    pub length: u64,
    /// The xxh3-64 of the bytes of the section.
    pub checksum: u64,
}

/// The header and table of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The version of the format.
    pub version: u32,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The sections in file order.
    pub sections: Vec<Section>,
}

impl Description {
    /// Reads the header and section table of the file at `path`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let failed = |e| Error::io(path, "read", e);
        let length = file.metadata().map_err(failed)?.len();
        let mut start = Vec::new();
        file.take((HEADER + ENTRY * MOST_SECTIONS) as u64).read_to_end(&mut start).map_err(failed)?;
        describe(&start, length, path)
    }

    /// Whether `start`, the first bytes of a file, is the start of a `.lmx` file.
    pub fn recognises(start: &[u8]) -> bool {
        start.starts_with(&MAGIC)
    }
}

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
    /// No other program may write to the file meanwhile: see [`FileAccess::Mapped`]. Everything but the tiles is checked, as
    /// [`LabelMatrix::read`] does.
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

    /// Writes the matrix as a `.lmx` file. It is written under a temporary name in the same folder first, so `path` never names half a
    /// file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        write(self, path.as_ref())
    }

    /// The bytes that [`LabelMatrix::write`] writes.
    ///
    /// ```
    /// use laneval::{Join, LabelMatrix, Qrels};
    /// let qrels = Qrels::new([("q1", "d1", 1.0)])?;
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), [("q1", "d1", 0.5)])])?;
    /// assert_eq!(LabelMatrix::from_bytes(&matrix.to_bytes())?.depths(), [1]);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(self, &mut bytes).unwrap_or_else(|_| unreachable!("memory takes all that is written"));
        bytes
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

    /// Checks every bit of the file at `path`: the checksums of all sections, tiles included, and the gaps between them. Every ranking must
    /// be one that the judgments allow: it has as many labels as the row has results, each label is a code of the codebook, and of no code
    /// and no exact grade there are more documents than are judged so. Tied groups must be mixed where they are said to be, and of judgments
    /// by group a document's label is that of its largest grade.
    pub fn verify(path: impl AsRef<Path>) -> Result<()> {
        Self::verify_with(path, FileAccess::Mapped)
    }

    /// Checks the file as [`LabelMatrix::verify`] does, mapping or reading it.
    pub fn verify_with(path: impl AsRef<Path>, access: FileAccess) -> Result<()> {
        let path = path.as_ref();
        let map = Mapping::open(path, access)?;
        let description = describe(&map, map.len() as u64, path)?;
        let mut end = HEADER + ENTRY * description.sections.len();
        for (at, Section { name, offset, length, .. }) in description.sections.iter().enumerate() {
            if map[end..*offset as usize].iter().any(|&byte| byte != 0) {
                return Err(damaged(path, name, "the bytes before it are not 0".into()));
            }
            end = (offset + length) as usize;
            section(&map, &description, at, path)?;
        }
        let matrix = decode(map, &description, path)?;
        let unsound = |at: usize| {
            let (tile, rows) = (matrix.tile(at), matrix.tile_rows(at));
            (0..tile.lanes).find_map(|lane| {
                let message = unsound(&matrix, tile, lane, rows.get(lane).map(|&row| row as usize))?;
                Some(format!("tile {at}, lane {lane}: {message}"))
            })
        };
        match (0..matrix.packing().tiles.len()).into_par_iter().find_map_first(unsound) {
            Some(message) => Err(damaged(path, SECTIONS[TILES], message)),
            None => Ok(()),
        }
    }
}

/// Describes what is wrong with the labels of one lane, which holds `row`, or no row.
fn unsound(matrix: &LabelMatrix, tile: Tile<'_>, lane: usize, row: Option<usize>) -> Option<String> {
    let depth = row.map_or(0, |row| matrix.depths()[row] as usize);
    // The number of documents of each code that may still come.
    let mut left = [0u32; 256];
    if let Some(row) = row {
        left[usize::from(UNPOOLED)] = u32::MAX;
        let judged = matrix.facts().of(row % matrix.queries().len());
        judged.iter().for_each(|(code, count)| left[usize::from(code)] = count);
    }
    let ties = row.zip(matrix.tied_groups()).map(|(row, tied)| tied.of(row as u32)).unwrap_or_default();
    // Documents that the rule cut off are judged too, and are not in the labels.
    ties.cut.iter().for_each(|cut| left[usize::from(cut.code)] -= cut.count); // at most as many are judged so
    for (rank, label) in (1..).zip(tile.lane(lane)) {
        let left = &mut left[usize::from(label)];
        match label {
            PAST_END if rank > depth => {}
            _ if rank > depth => return Some(format!("a label at rank {rank}, past the end at {depth}")),
            _ if label == PAST_END || usize::from(label) >= matrix.book().codes() => {
                return Some(format!("the label at rank {rank} means nothing in this codebook"));
            }
            _ if *left == 0 => {
                return Some(format!(
                    "the ranking has more documents of code {label} than are judged so for its query"
                ));
            }
            _ => *left -= 1,
        }
    }
    if let (Some(exact), Some(row)) = (matrix.exact(), row)
        && let Some(message) = unsound_grades(exact, row, matrix.queries().len(), tile.lane(lane))
    {
        return Some(message);
    }
    if let (Some(grouped), Some(row)) = (matrix.facet_rows(), row)
        && let Some(message) = unsound_documents(grouped, row, matrix.book(), tile.lane(lane))
    {
        return Some(message);
    }
    let unmixed = ties.unmixed(|rank| tile.label(lane, rank))?;
    Some(format!("the {} tied labels from rank {} on are not mixed", unmixed.length, unmixed.start + 1))
}

/// Describes what is wrong with the exact grades of a row that has these labels.
fn unsound_grades(
    exact: &ExactGrades,
    row: usize,
    queries: usize,
    labels: impl Iterator<Item = u8>,
) -> Option<String> {
    let judged = labels.filter(|&label| Above::JUDGED.contains(label)).count();
    let mut grades = exact.rows.of(row).to_vec();
    if grades.len() != judged {
        return Some(format!("{judged} judged documents with {} exact grades", grades.len()));
    }
    grades.sort_unstable_by(f64::total_cmp);
    let mut known = exact.facts.of(row % queries).iter();
    let mut most = |grade: f64| known.find(|&(of, _)| of == grade).map_or(0, |(_, count)| count as usize);
    let too_many = grades.chunk_by(|one, next| one == next).find(|alike| alike.len() > most(alike[0]))?;
    Some(format!("the ranking has more documents of grade {} than are judged so for its query", too_many[0]))
}

/// Describes what is wrong with the numbers of the documents of a row that has these labels.
fn unsound_documents(
    grouped: &FacetRows,
    row: usize,
    book: &Codebook,
    labels: impl Iterator<Item = u8>,
) -> Option<String> {
    let named: Vec<u8> = labels.filter(|&label| Above::POOLED.contains(label)).collect();
    let numbers = grouped.rows.of(row);
    if named.len() != numbers.len() {
        return Some(format!("{} documents of the qrels with {} numbers", named.len(), numbers.len()));
    }
    // Levels of preferences are no grades.
    let graded = grouped.of.by != JudgedBy::Preference;
    let largest = &grouped.of.largest.of(row % grouped.of.largest.len());
    let other = |&(label, number): &(u8, u32)| graded && book.code(largest[number as usize]) != Some(label);
    let (label, number) = named.into_iter().zip(numbers.iter().copied()).find(other)?;
    Some(format!("document {number} has code {label}, which is not that of its largest grade"))
}

fn write(matrix: &LabelMatrix, path: &Path) -> Result<()> {
    let failed = |e| Error::io(path, "write", e);
    if path.metadata().is_ok_and(|kind| !kind.is_file()) {
        return Err(failed(std::io::Error::other("it is not a regular file")));
    }
    whole_file::write(path, |file: &mut (dyn Write + Send)| encode(matrix, file)).map_err(failed)
}

fn encode(matrix: &LabelMatrix, to: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let small = [
        encode_rule(matrix),
        encode_book(&matrix.book),
        encode_ids(&matrix.queries),
        encode_facts(&matrix.facts),
        encode_runs(&matrix.runs),
        bytes_of(&matrix.depths),
        encode_packing(&matrix.packing),
    ];
    let tied = matrix.tied.as_ref().map(encode_tied);
    let ideal = encode_ideal(matrix.ideal);
    let exact =
        matrix.exact.as_ref().map(|exact| encode_exact(exact, matrix.book.extent().unwrap_or(Extent::NONE)));
    let groups = matrix.grouped.as_ref().map(encode_groups);
    let of_groups = if matrix.judged_by() == Some(JudgedBy::Subtopic) { OPTIONAL } else { REQUIRED };
    let more = [
        (TIED, OPTIONAL, tied),
        (IDEAL, OPTIONAL, ideal),
        (EXACT, REQUIRED, exact),
        (GROUPS, of_groups, groups),
    ];
    let has_more = more.iter().any(|(.., bytes)| bytes.is_some());
    let version = if has_more || matrix.rule.ties == Ties::Rank { 2 } else { 1 };
    let first = (1..).zip(small.iter().map(Vec::as_slice).chain([matrix.tile_bytes()]));
    let first = first.map(|(kind, bytes)| (kind, 0, bytes));
    let more = more.iter().filter_map(|(kind, mark, bytes)| Some((*kind, *mark, &bytes.as_ref()?[..])));
    let sections: Vec<(u32, u32, &[u8])> = first.chain(more).collect();
    let mut table = Vec::new();
    let mut offset = HEADER + ENTRY * sections.len();
    for (at, &(kind, mark, bytes)) in sections.iter().enumerate() {
        offset = offset.next_multiple_of(if at == TILES { TILE_ALIGN } else { ALIGN });
        table.push((kind, mark, offset, bytes));
        offset += bytes.len();
    }
    let mut head = Encoder::default();
    head.bytes(&MAGIC);
    head.u32(version);
    head.u32(sections.len() as u32);
    head.u64(offset as u64);
    head.u64(0);
    for (kind, mark, offset, bytes) in &table {
        head.u32(*kind);
        head.u32(*mark);
        head.u64(*offset as u64);
        head.u64(bytes.len() as u64);
        head.u64(xxh3_64(bytes));
    }
    let mut head = head.0;
    let checksum = xxh3_64(&head);
    head[HEADER - 8..HEADER].copy_from_slice(&checksum.to_le_bytes());

    to.write_all(&head)?;
    let mut written = head.len();
    for (.., offset, bytes) in table {
        to.write_all(&vec![0; offset - written])?;
        to.write_all(bytes)?;
        written = offset + bytes.len();
    }
    Ok(())
}

fn open(path: &Path, access: FileAccess) -> Result<LabelMatrix> {
    let file = Mapping::open(path, access)?;
    if access == FileAccess::Read {
        return decode_whole(file, path);
    }
    let description = describe(&file, file.len() as u64, path)?;
    decode(file, &description, path)
}

/// Makes the matrix that is in a file, and checks its tiles too.
fn decode_whole(file: Mapping, path: &Path) -> Result<LabelMatrix> {
    let description = describe(&file, file.len() as u64, path)?;
    for at in TILES..description.sections.len() {
        section(&file, &description, at, path)?;
    }
    decode(file, &description, path)
}

/// Makes the matrix that is in a file. All but its tiles is checked.
fn decode(file: Mapping, description: &Description, path: &Path) -> Result<LabelMatrix> {
    let read = |at: usize| {
        let (rest, name) = (section(&file, description, at, path)?, description.sections[at].name);
        Ok::<_, Error>(Decoder { rest, name, path })
    };

    let (rule, fingerprint) = decode_rule(&mut read(RULE)?, description.version)?;
    let book = decode_book(&mut read(BOOK)?)?;
    let queries = decode_ids(&mut read(QUERIES)?)?;
    let facts = decode_facts(&mut read(JUDGED)?, queries.len(), book.codes())?;
    let runs = decode_runs(&mut read(RUNS)?)?;
    let depths = read(ROWS)?.u32s(queries.len().saturating_mul(runs.len()))?;
    if let Some((depth, kept)) = rule.deeper(&depths) {
        let message = format!("a row of {depth} results where the rule keeps the first {kept}");
        return Err(damaged(path, SECTIONS[ROWS], message));
    }
    // As much work as sorting the rows, whose lengths were in the file; the sum of the tiles is checked not to overflow.
    let packing = Packing::new(&depths).map_err(|e| damaged(path, SECTIONS[ROWS], e.to_string()))?;
    // Compared as bytes and then thrown away: what is used is what was computed.
    if section(&file, description, PACKING, path)? != encode_packing(&packing) {
        return Err(damaged(path, SECTIONS[PACKING], "does not follow from the row lengths".into()));
    }
    let tiles = &description.sections[TILES];
    if tiles.length != packing.bytes() {
        let message = format!("has {} bytes where the row lengths need {}", tiles.length, packing.bytes());
        return Err(damaged(path, SECTIONS[TILES], message));
    }
    let rankings = TiedIn { depths: &depths, kept: rule.depth, facts: &facts };
    let of_kind = |kind: u32| description.sections.iter().position(|section| section.kind == kind);
    let tied = of_kind(TIED).map(|at| decode_tied(&mut read(at)?, runs.len(), rankings)).transpose()?;
    let ideal = of_kind(IDEAL).map(|at| decode_ideal(&mut read(at)?)).transpose()?.unwrap_or_default();
    let exact = of_kind(EXACT).map(|at| decode_exact(&mut read(at)?, &book, &facts, &depths)).transpose()?;
    let grouped =
        of_kind(GROUPS).map(|at| decode_groups(&mut read(at)?, queries.len(), depths.len())).transpose()?;
    let (book, exact) = match exact {
        Some((book, exact)) => (book, Some(exact)),
        None => (book, None),
    };
    let range = tiles.offset as usize..(tiles.offset + tiles.length) as usize;
    let labels = TileBytes::InFile { file, range };
    Ok(LabelMatrix {
        book,
        rule,
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
    })
}

fn damaged(path: &Path, section: &'static str, message: String) -> Error {
    Error::Matrix { path: path.to_owned(), section, message }
}

/// Checks the header and the table, which are at the start of a file of `length` bytes: magic, version, checksum, sizes, order.
fn describe(start: &[u8], length: u64, path: &Path) -> Result<Description> {
    let header = |message: String| damaged(path, "header", message);
    if !start.starts_with(&MAGIC[..MAGIC.len().min(start.len())]) || start.is_empty() {
        return Err(header("is not a .lmx file (made by `laneval build`)".into()));
    }
    let Some(head) = start.get(..HEADER) else {
        return Err(header(format!("the file ends after {length} bytes")));
    };
    let u32_at =
        |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
    let u64_at =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    let (version, count) = (u32_at(head, 8), u32_at(head, 12) as usize);
    if !(1..=VERSION).contains(&version) {
        return Err(header(format!(
            "is of format version {version}, and this laneval reads versions 1 to {VERSION}: rebuild it with `laneval build`"
        )));
    }
    let bytes = u64_at(head, 16);
    // Before the checksum, for a truncated file is the most usual damage, and deserves its own words. The length in the table is believed
    // only once it is that of the file.
    if bytes != length {
        return Err(header(format!(
            "the file has {length} bytes where its header says {bytes}: it is truncated"
        )));
    }
    let most = if version == 1 { SECTIONS.len() } else { MOST_SECTIONS };
    if !(SECTIONS.len()..=most).contains(&count) {
        return Err(header(format!("has {count} sections, which no file of version {version} has")));
    }
    let table_end = HEADER + ENTRY * count;
    let Some(table) = start.get(..table_end) else {
        return Err(header(format!("the file ends after {length} bytes")));
    };
    let mut unsigned = table.to_vec();
    // The checksum is over the header with zeros in the place of the checksum, as it was when it was computed.
    unsigned[HEADER - 8..HEADER].fill(0);
    if xxh3_64(&unsigned) != u64_at(head, 24) {
        return Err(header("the checksum does not match: the file is damaged".into()));
    }
    let mut sections: Vec<Section> = Vec::new();
    let mut end = table_end as u64;
    for (at, entry) in table[HEADER..].chunks_exact(ENTRY).enumerate() {
        let (kind, mark) = (u32_at(entry, 0), u32_at(entry, 4));
        let core = at < SECTIONS.len();
        let name = if core { SECTIONS[at] } else { name_of(kind) };
        // Invariant: behind this loop sections ascend, do not overlap, and lie in the file, so that slices of it need no check.
        let next = if core { kind as usize == at + 1 } else { kind > sections[at - 1].kind };
        let (offset, length) = (u64_at(entry, 8), u64_at(entry, 16));
        // Checked: a length near 2⁶⁴ would wrap to a small end.
        let inside = offset >= end && offset.checked_add(length).is_some_and(|end| end <= bytes);
        if !next || !inside || !offset.is_multiple_of(ALIGN as u64) {
            return Err(damaged(path, name, "lies outside of the file".into()));
        }
        match mark {
            0 if core => {}
            _ if core => return Err(damaged(path, name, "the reserved word of its entry is not 0".into())),
            REQUIRED if ![TIED, IDEAL, EXACT, GROUPS].contains(&kind) => {
                return Err(header(format!(
                    "needs its section of kind {kind}, which this laneval does not know: a newer laneval reads it"
                )));
            }
            OPTIONAL | REQUIRED => {}
            _ => return Err(damaged(path, name, format!("is marked {mark}, neither optional nor required"))),
        }
        end = offset + length;
        sections.push(Section { kind, name, offset, length, checksum: u64_at(entry, 24) });
    }
    if end != bytes {
        return Err(header(format!("the file has {bytes} bytes, and its last section ends after {end}")));
    }
    Ok(Description { version, bytes, sections })
}

/// The bytes of a section, after comparing their checksum.
fn section<'a>(file: &'a [u8], description: &Description, at: usize, path: &Path) -> Result<&'a [u8]> {
    let section = &description.sections[at];
    let bytes = &file[section.offset as usize..(section.offset + section.length) as usize];
    if xxh3_64(bytes) != section.checksum {
        return Err(damaged(path, section.name, "the checksum does not match: the file is damaged".into()));
    }
    Ok(bytes)
}

fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn encode_rule(matrix: &LabelMatrix) -> Vec<u8> {
    let mut out = Encoder::default();
    out.u32(match matrix.rule.ties {
        Ties::DocnoDescending => 0,
        Ties::DocnoAscending => 1,
        Ties::Input => 2,
        Ties::Rank => 3,
    });
    out.u32(match matrix.rule.score {
        ScoreType::F64 => 0,
        ScoreType::F32 => 1,
    });
    out.u32(matrix.rule.depth.unwrap_or(0));
    out.bytes(&matrix.fingerprint.to_le_bytes());
    out.0
}

fn decode_rule(from: &mut Decoder<'_>, version: u32) -> Result<(RankingRule, u128)> {
    let ties = match from.u32()? {
        0 => Ties::DocnoDescending,
        1 => Ties::DocnoAscending,
        2 => Ties::Input,
        3 if version > 1 => Ties::Rank,
        other => return Err(from.bad(format!("unknown tie rule {other}"))),
    };
    let score = match from.u32()? {
        0 => ScoreType::F64,
        1 => ScoreType::F32,
        other => return Err(from.bad(format!("unknown score type {other}"))),
    };
    let depth = Some(from.u32()?).filter(|&depth| depth > 0);
    let fingerprint = from.take(16)?.try_into().map(u128::from_le_bytes).unwrap_or_default();
    from.end()?;
    Ok((RankingRule { ties, score, depth }, fingerprint))
}

fn encode_book(book: &Codebook) -> Vec<u8> {
    let mut out = Encoder::default();
    out.u32(book.grades().len() as u32);
    book.grades().iter().for_each(|grade| out.u64(grade.to_bits()));
    out.0
}

fn decode_book(from: &mut Decoder<'_>) -> Result<Codebook> {
    let count = from.u32()? as usize;
    if count > MAX_GRADES {
        return Err(from.bad(format!("{count} grades")));
    }
    let grades: Vec<f64> = from.u64s(count)?.into_iter().map(f64::from_bits).collect();
    from.end()?;
    let bits = |grades: &[f64]| grades.iter().map(|grade| grade.to_bits()).collect::<Vec<_>>();
    match Codebook::new(grades.iter().copied()) {
        // By bits: −0 equals 0, and would be another file for the same matrix.
        Ok(book) if bits(book.grades()) == bits(&grades) => Ok(book),
        _ => Err(from.bad("the grades are not finite, distinct and ascending".into())),
    }
}

fn encode_ids(ids: &Ids) -> Vec<u8> {
    let (ends, bytes) = ids.columns();
    let mut out = Encoder::default();
    out.u64(ids.len() as u64);
    ends.iter().for_each(|&end| out.u64(end));
    out.bytes(bytes);
    out.0
}

fn decode_ids(from: &mut Decoder<'_>) -> Result<Ids> {
    let count = from.count()?;
    let ends = from.u64s(count.saturating_add(1))?;
    let bytes = from.take(from.rest.len())?.to_vec();
    let ids = Ids::from_columns(ends, bytes).ok_or_else(|| from.bad("the ends do not fit the ids".into()))?;
    if !ids.are_ascending() {
        return Err(from.bad("the ids are not distinct and ascending".into()));
    }
    Ok(ids)
}

fn encode_facts(facts: &Facts) -> Vec<u8> {
    let (offsets, codes, counts) = facts.columns();
    let mut out = Encoder::default();
    out.u64(codes.len() as u64);
    out.bytes(&bytes_of(offsets));
    out.bytes(&bytes_of(counts));
    out.bytes(codes);
    out.0
}

fn decode_facts(from: &mut Decoder<'_>, queries: usize, codes: usize) -> Result<Facts> {
    let entries = from.count()?;
    let offsets = from.u32_column(queries + 1)?;
    let counts = from.u32_column(entries)?;
    let of = from.take(entries)?.to_vec();
    from.end()?;
    let facts = Facts::from_columns(offsets, of, counts)
        .ok_or_else(|| from.bad("offsets, codes and counts do not fit together".into()))?;
    facts.check(codes).map_err(|message| from.bad(message))?;
    Ok(facts)
}

fn encode_runs(runs: &[RunInfo]) -> Vec<u8> {
    let mut out = Encoder::default();
    out.u32(runs.len() as u32);
    for run in runs {
        out.string(run.name.as_bytes());
        out.string(&run.tag);
        out.string(run.source.as_bytes());
        out.u64(run.results);
        out.u64(run.ignored.count);
        // A run of a million unjudged queries must not make the file large: their number, and a few for a message.
        let first = run.ignored.ids.iter().take(Unmatched::SHOWN);
        out.u32(first.len() as u32);
        first.for_each(|id| out.string(id));
    }
    out.0
}

fn decode_runs(from: &mut Decoder<'_>) -> Result<Vec<RunInfo>> {
    let mut runs = Vec::new();
    // No room by the count: each run takes 32 bytes at least, and a section that lacks them ends the loop.
    for _ in 0..from.u32()? {
        let name = from.text()?;
        let tag = from.string()?.to_vec();
        let source = from.text()?;
        let results = from.u64()?;
        let count = from.u64()?;
        let mut ids = Ids::default();
        for _ in 0..from.u32()? {
            ids.push(from.string()?);
        }
        let ignored = Unmatched { count, ids };
        runs.push(RunInfo { name, tag, source, results, ignored, seen: ScoresSeen::default() });
    }
    from.end()?;
    Ok(runs)
}

fn encode_packing(packing: &Packing) -> Vec<u8> {
    let mut out = Encoder::default();
    for tile in &packing.tiles {
        out.u64(tile.offset);
        out.u32(tile.depth);
        out.u32(tile.lanes);
        out.u32(tile.first);
        out.u32(tile.rows);
    }
    out.0
}

fn encode_tied(tied: &TiedGroups) -> Vec<u8> {
    let (ends, groups, cut) = tied.columns();
    let mut out = Encoder::default();
    for counts in tied.counts() {
        let TieCounts { documents, groups, mixed, largest } = *counts;
        [documents, groups, mixed, largest].iter().for_each(|&count| out.u64(count));
    }
    [ends.len(), groups.len(), cut.len()].iter().for_each(|&count| out.u64(count as u64));
    ends.iter().for_each(|&end| out.u64(end));
    tied.rows().iter().for_each(|&row| out.u32(row));
    groups.iter().for_each(|group| out.words([group.start, group.length]));
    cut.iter().for_each(|cut| out.words([cut.row, cut.code.into(), cut.count]));
    out.0
}

fn decode_tied(from: &mut Decoder<'_>, runs: usize, of: TiedIn<'_>) -> Result<TiedGroups> {
    let counts = from.u64s(runs.saturating_mul(4))?;
    let counts = counts.as_chunks::<4>().0.iter().map(|&[documents, groups, mixed, largest]| TieCounts {
        documents,
        groups,
        mixed,
        largest,
    });
    let [rows, groups, cut] = [from.count()?, from.count()?, from.count()?];
    let (ends, rows) = (from.u64s(rows)?, from.u32_column(rows)?);
    let groups = from.u32_column(groups.saturating_mul(2))?;
    let groups = groups.as_chunks::<2>().0.iter().map(|&[start, length]| TiedGroup { start, length });
    let cut = from.u32_column(cut.saturating_mul(3))?;
    let cut = cut.as_chunks::<3>().0.iter().map(|&[row, code, count]| {
        let code = u8::try_from(code).map_err(|_| from.bad(format!("documents of code {code}")))?;
        Ok(CutOff { row, code, count })
    });
    let (counts, groups, cut) = (counts.collect(), groups.collect(), cut.collect::<Result<_>>()?);
    from.end()?;
    TiedGroups::new(TiedColumns { counts, rows, ends, groups, cut }, of).map_err(|message| from.bad(message))
}

fn encode_exact(exact: &ExactGrades, extent: Extent) -> Vec<u8> {
    let (ends, grades, counts) = exact.facts.columns();
    let (row_ends, of_rows) = exact.rows.columns();
    let mut out = Encoder::default();
    [extent.least_positive, extent.largest].iter().for_each(|grade| out.u64(grade.to_bits()));
    [grades.len(), of_rows.len()].iter().for_each(|&count| out.u64(count as u64));
    let f64s = |grades: &[f64], out: &mut Encoder| grades.iter().for_each(|grade| out.u64(grade.to_bits()));
    ends.iter().for_each(|&end| out.u64(end));
    f64s(grades, &mut out);
    out.bytes(&bytes_of(&counts));
    row_ends.iter().for_each(|&end| out.u64(end));
    f64s(of_rows, &mut out);
    out.0
}

fn decode_exact(
    from: &mut Decoder<'_>,
    book: &Codebook,
    facts: &Facts,
    depths: &[u32],
) -> Result<(Codebook, ExactGrades)> {
    if book.grades() != [0.0] {
        return Err(from.bad("beside a codebook of other grades than 0".into()));
    }
    let extent = from.f64s(2)?;
    let extent = Extent { least_positive: extent[0], largest: extent[1] };
    let [distinct, judged] = [from.count()?, from.count()?];
    let ends = from.u64s(facts.len())?;
    let grades = from.f64s(distinct)?;
    let counts = from.u32_column(distinct)?;
    let row_ends = from.u64s(depths.len())?;
    let of_rows = from.f64s(judged)?;
    from.end()?;
    let facts = ExactFacts::from_columns(ends, grades, counts, facts).map_err(|message| from.bad(message))?;
    let fine = |grade: &f64| grade.is_finite() && grade.is_sign_positive();
    let rows = Ragged::from_columns(row_ends, of_rows, depths.len())
        .filter(|rows| rows.values().par_iter().all(fine))
        .ok_or_else(|| from.bad("the grades of the rows are no grades, or do not fit their ends".into()))?;
    if let Some(row) = (0..depths.len()).find(|&row| rows.of(row).len() > depths[row] as usize) {
        let (grades, depth) = (rows.of(row).len(), depths[row]);
        return Err(from.bad(format!("row {}: {grades} exact grades of {depth} results", row + 1)));
    }
    if !(extent.largest.is_finite() && extent.covers(facts.extent().unwrap_or(Extent::NONE))) {
        return Err(from.bad("the grades are outside of their extent".into()));
    }
    Ok((Codebook::of_extent(extent), ExactGrades { facts, rows }))
}

fn encode_groups(grouped: &FacetRows) -> Vec<u8> {
    let (ends, judgments) = grouped.of.judgments.columns();
    let (row_ends, numbers) = grouped.rows.columns();
    let mut out = Encoder::default();
    out.u32(match grouped.of.by {
        JudgedBy::Judge => 1,
        JudgedBy::Subtopic => 2,
        JudgedBy::Preference => 3,
    });
    [judgments.len(), numbers.len()].iter().for_each(|&count| out.u64(count as u64));
    ends.iter().for_each(|&end| out.u64(end));
    judgments.iter().for_each(|of| out.u32(of.document));
    judgments.iter().for_each(|of| out.u32(of.group));
    judgments.iter().for_each(|of| out.u32(of.subgroup));
    judgments.iter().for_each(|of| out.u64(of.grade.to_bits()));
    row_ends.iter().for_each(|&end| out.u64(end));
    out.bytes(&bytes_of(numbers));
    out.bytes(&encode_ids(&grouped.of.names));
    out.0
}

fn decode_groups(from: &mut Decoder<'_>, queries: usize, rows: usize) -> Result<FacetRows> {
    let by = match from.u32()? {
        1 => JudgedBy::Judge,
        2 => JudgedBy::Subtopic,
        3 => JudgedBy::Preference,
        other => return Err(from.bad(format!("groups of unknown kind {other}"))),
    };
    let [judgments, named] = [from.count()?, from.count()?];
    let ends = from.u64s(queries)?;
    let [documents, groups, subgroups] =
        [from.words(judgments)?, from.words(judgments)?, from.words(judgments)?];
    let grades = from.doubles(judgments)?;
    let row_ends = from.u64s(rows)?;
    let numbers = from.u32_column(named)?;
    let names = decode_ids(from)?;
    let of = |at: usize| FacetJudgment {
        document: u32::from_le_bytes(documents[at]),
        group: u32::from_le_bytes(groups[at]),
        subgroup: u32::from_le_bytes(subgroups[at]),
        grade: f64::from_le_bytes(grades[at]),
    };
    let judgments = Ragged::from_columns(ends, (0..judgments).into_par_iter().map(of).collect(), queries);
    let numbers = Ragged::from_columns(row_ends, numbers, rows);
    let (judgments, numbers) = judgments
        .zip(numbers)
        .ok_or_else(|| from.bad("ends, judgments and documents do not fit together".into()))?;
    let of = Facets::checked(by, names, judgments).map_err(|message| from.bad(message))?;
    FacetRows::checked(Arc::new(of), numbers, queries).map_err(|message| from.bad(message))
}

/// Encodes the source of ideal rankings; `None` if they are made of the judgments.
fn encode_ideal(ideal: IdealOf) -> Option<Vec<u8>> {
    match ideal {
        IdealOf::Judgments => None,
        IdealOf::Retrieved => Some(bytes_of(&[1])),
    }
}

fn decode_ideal(from: &mut Decoder<'_>) -> Result<IdealOf> {
    let of = from.u32()?;
    from.end()?;
    match of {
        1 => Ok(IdealOf::Retrieved),
        other => Err(from.bad(format!("ideal rankings of unknown kind {other}"))),
    }
}

#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn words<const N: usize>(&mut self, words: [u32; N]) {
        words.iter().for_each(|&word| self.u32(word));
    }

    fn string(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes(bytes);
    }
}

/// A reader of the fields of a section. Running out of bytes is an error that names the section.
struct Decoder<'a> {
    rest: &'a [u8],
    name: &'static str,
    path: &'a Path,
}

impl<'a> Decoder<'a> {
    fn bad(&self, message: String) -> Error {
        damaged(self.path, self.name, message)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.bad("ends too early".into()));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(self.u32_column(1)?[0])
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(self.u64s(1)?[0])
    }

    fn count(&mut self) -> Result<usize> {
        let count = self.u64()?;
        usize::try_from(count).map_err(|_| self.bad(format!("{count} entries")))
    }

    fn words(&mut self, count: usize) -> Result<&'a [[u8; 4]]> {
        Ok(self.take(count.saturating_mul(4))?.as_chunks().0)
    }

    fn doubles(&mut self, count: usize) -> Result<&'a [[u8; 8]]> {
        Ok(self.take(count.saturating_mul(8))?.as_chunks().0)
    }

    fn u32_column(&mut self, count: usize) -> Result<Vec<u32>> {
        Ok(self.words(count)?.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    /// Reads a section that is nothing but `count` numbers.
    fn u32s(&mut self, count: usize) -> Result<Vec<u32>> {
        let numbers = self.u32_column(count)?;
        self.end()?;
        Ok(numbers)
    }

    fn u64s(&mut self, count: usize) -> Result<Vec<u64>> {
        Ok(self.doubles(count)?.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    fn f64s(&mut self, count: usize) -> Result<Vec<f64>> {
        let bytes = self.take(count.saturating_mul(8))?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a string as UTF-8, validated in a copy: a mapped file may change.
    fn text(&mut self) -> Result<String> {
        let bytes = self.string()?.to_vec();
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.bad(format!("{} bytes too many", self.rest.len())))
        }
    }
}

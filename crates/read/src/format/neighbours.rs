//! Files of ids of nearest neighbours, as benchmarks of approximate search keep them, read as
//! judgments or runs.
//!
//! ```text
//! ivecs   for each query: d, and d ids, all i32
//! ibin    the numbers of queries and of ids a query, u32; all ids, i32; perhaps all distances,
//!         f32, in the same order
//! ids     a matrix of integers of NumPy (see `npy`)
//! ```
//!
//! Of T true neighbours the nearest has the grade T, the next one T − 1. Neighbours of equal
//! distance all have the grade of the first of them. Each retrieved neighbour has its rank. Queries
//! are numbered from 1. −1, or 2³² − 1, is an empty place. An empty place between ids keeps its
//! rank, under a docno that no id has.

use std::{
    io::{self, Read},
    sync::Arc,
};

use super::{
    npy::{Counter, NpyHeader},
    open_input::OpenInput,
    row_layout::{AlignedQrels, AlignedTruth},
    sequence::{Sequence, SequenceFormat, Started},
};
use crate::columns::decimal::{Integer, LONGEST};
use crate::error::printable;
use crate::lines::{row::RowBatch, shape::Role};

/// A file of ids of nearest neighbours: a matrix of NumPy, ibin, or ivecs.
#[derive(Debug)]
pub struct IdFile {
    /// The header of a matrix of NumPy; `None` for ibin and ivecs.
    matrix: Option<NpyHeader>,
    /// The number of rows, one a query; `None` for ivecs, which has no header: there each row begins
    /// with its number of ids.
    rows: Option<u64>,
    /// The number of ids of a row.
    width: u64,
    /// The size in bytes of the header, and of one id.
    header: u64,
    size: usize,
}

impl IdFile {
    /// Reads the start of an ivecs file of neighbour ids, in which each row begins with its number
    /// of ids.
    pub fn counted(start: &[u8]) -> Result<Self, String> {
        let Some(width) = number(start) else {
            return Err(format!(
                "has {} bytes, and rows begin with 4: is the file complete?",
                start.len()
            ));
        };
        match u64::try_from(width as i32) {
            Ok(width @ 1..) => Ok(Self { matrix: None, rows: None, width, header: 0, size: 4 }),
            _ => Err(format!("row 1 has {} ids: 1 or more were expected", width as i32)),
        }
    }

    /// Reads the header of an ibin file of neighbour ids: the numbers of rows and of ids in a row.
    pub fn headed(start: &[u8]) -> Result<Self, String> {
        let (rows, width) =
            number(start).zip(start.get(4..).and_then(number)).ok_or_else(|| {
                format!("has {} bytes, and its header 8: is the file complete?", start.len())
            })?;
        if rows == 0 || width == 0 {
            return Err(format!(
                "its header says {rows} rows of {width} ids: 1 or more were expected"
            ));
        }
        let (rows, width) = (Some(rows.into()), width.into());
        Ok(Self { matrix: None, rows, width, header: 8, size: 4 })
    }

    /// Makes a file of neighbour ids of a NumPy matrix; rejects a matrix without integers in rows.
    pub fn matrix(npy: NpyHeader) -> Result<Self, String> {
        let [rows, width] = npy.shape;
        if !npy.is_of_integers() {
            return Err(format!("has values of the type {}, and ids are integers", npy.values()));
        }
        if npy.is_fortran() {
            return Err(
                "has its columns one behind the other: numpy.ascontiguousarray makes rows of them"
                    .to_owned(),
            );
        }
        let (header, size) = (npy.offset as u64, npy.size);
        Ok(Self { matrix: Some(npy), rows: Some(rows), width, header, size })
    }

    /// Returns the number of rows, one a query, in a file of neighbour ids of `bytes` bytes; 0 if
    /// the last row is cut off. The reader of the rows reports the cut row.
    fn rows_in(&self, bytes: u64) -> u64 {
        self.rows.unwrap_or_else(|| {
            let row = self.bytes_of_row();
            if bytes.is_multiple_of(row) { bytes / row } else { 0 }
        })
    }

    /// Returns the number of bytes of a row that begins with its number of ids.
    fn bytes_of_row(&self) -> u64 {
        4 * (self.width + 1)
    }

    /// Describes the file of neighbour ids in words, with its numbers of ids and queries.
    pub fn what(&self) -> String {
        let ids = with_commas(self.width);
        match (&self.matrix, self.rows) {
            (Some(npy), _) => {
                format!("ids of neighbours, a NumPy matrix of {}, {ids} a query", npy.values())
            }
            (None, None) => format!("ids of neighbours, {ids} a query"),
            (None, Some(rows)) => {
                format!("ids of neighbours, {ids} for each of {} queries", with_commas(rows))
            }
        }
    }

    /// Returns the byte offset at which the neighbour ids of a file end; `None` for a file without
    /// a header.
    fn end(&self) -> Option<u64> {
        let ids = self.rows?.saturating_mul(self.width);
        Some(ids.saturating_mul(self.size as u64).saturating_add(self.header))
    }

    /// Returns the neighbour id in the bytes of one cell of the file.
    fn id(&self, cell: &[u8]) -> i128 {
        match &self.matrix {
            Some(npy) => npy.integer(cell),
            None => number(cell).map_or(0, |bits| (bits as i32).into()),
        }
    }
}

/// Reads a little-endian integer of four bytes; `None` if there are fewer.
fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Nearest neighbours: true ones as judgments, or found ones as a run.
#[derive(Debug)]
pub struct NeighbourRows {
    pub file: IdFile,
    /// The size of the file of true neighbours, for found ones.
    pub truth: Option<AlignedTruth>,
    pub role: Role,
    /// The input, read twice, if distances stand behind the ids of true neighbours.
    pub distances: Option<Arc<OpenInput>>,
}

impl NeighbourRows {
    /// Makes the input of true neighbours from a file of ids, and the facts that runs of found
    /// neighbours need.
    ///
    /// # Errors
    /// A text that cannot be read.
    pub fn truth(
        file: IdFile,
        text: Option<&Arc<OpenInput>>,
        name: &str,
    ) -> io::Result<(Self, AlignedQrels)> {
        let length = text.map(|text| text.length()).transpose()?;
        let ids = file.end().filter(|_| file.matrix.is_none());
        let distances = text.filter(|_| ids.is_some() && length > ids).cloned();
        let rows = length.map_or(0, |length| file.rows_in(length));
        let truth = AlignedTruth { name: name.to_owned(), rows, width: file.width };
        let judgments = Self { file, truth: None, role: Role::Qrels, distances };
        Ok((judgments, AlignedQrels::Neighbours(truth)))
    }
}

impl SequenceFormat for NeighbourRows {
    fn start(&self) -> Started<'_> {
        let mut distances = None;
        if let Some(text) = &self.distances {
            let mut text = text.text()?;
            io::copy(&mut text.by_ref().take(self.file.end().unwrap_or(0)), &mut io::sink())?;
            distances = Some(io::BufReader::new(text));
        }
        Ok(Box::new(IdCells {
            file: &self.file,
            role: self.role,
            truth: self.truth.as_ref(),
            distances,
            read: 0,
            query: Counter::default(),
            column: None,
            empty: 0,
            nearest: None,
        }))
    }
}

/// The reader of neighbour ids as rows of judgments or of a run; the line of a row is its query.
struct IdCells<'f> {
    file: &'f IdFile,
    role: Role,
    truth: Option<&'f AlignedTruth>,
    distances: Option<io::BufReader<Box<dyn Read + Send + 'f>>>,
    /// The bytes that were read.
    read: u64,
    query: Counter,
    /// The column of the next id, from 0; `None` where a row begins.
    column: Option<u64>,
    /// The empty places since the last id of the row.
    empty: u64,
    /// The distance of the last id of the row, and the first column with it.
    nearest: Option<(f32, u64)>,
}

impl IdCells<'_> {
    /// Returns the bytes still to read up to the end of the neighbour ids; `None` without a known
    /// end.
    fn left(&self) -> Option<u64> {
        Some(self.file.end()?.saturating_sub(self.read))
    }

    /// Begins a row of `width` neighbour ids; returns a message if row 1 has another width.
    fn begin(&mut self, width: u32) -> Option<String> {
        self.column = Some(0);
        let (width, first) = (width as i32, self.file.width);
        let fits = u64::try_from(width) == Ok(first);
        (!fits).then(|| {
            let [row, first] = [self.query.number, first].map(with_commas);
            format!("row {row} has {width} ids, and row 1 has {first}")
        })
    }

    /// Converts a neighbour id to a row; returns a message if the id or its distance is wrong.
    fn cell(&mut self, id: i128, rows: &mut RowBatch) -> io::Result<Option<String>> {
        let (column, row) = (self.column.unwrap_or(0), self.query.number);
        let is_empty = id == -1 || id == i128::from(u32::MAX) || id == i128::from(u64::MAX);
        let place = match self.next_distance()? {
            Some(distance) if !is_empty => match self.nearest {
                Some((before, _)) if distance < before || distance.is_nan() => {
                    return Ok(Some(format!(
                        "row {row}: {distance:?} follows {before:?} at rank {}: ascending \
                         distances were expected; of similarities give the negative",
                        column + 1
                    )));
                }
                Some((before, first)) if distance == before => first,
                _ => {
                    self.nearest = Some((distance, column));
                    column
                }
            },
            _ => column,
        };
        let query = self.query.digits();
        let (mut doc, mut number) = ([0; LONGEST], [0; LONGEST]);
        if is_empty {
            self.empty += 1;
        } else if self.role == Role::Qrels {
            if self.empty == column && column > 0 {
                return Ok(Some(format!("row {row} begins with an empty place, and ids follow")));
            }
            let grade = decimal((self.file.width - place).into(), &mut number);
            rows.row(row, query, decimal(id, &mut doc), grade);
        } else {
            // Empty places at the end of a row are no results; those before an id keep their ranks.
            for empty in column - self.empty..column {
                let rank = decimal((empty + 1).into(), &mut number);
                rows.row(row, query, &[b"-1@", rank].concat(), rank);
            }
            self.empty = 0;
            let rank = decimal((column + 1).into(), &mut number);
            rows.row(row, query, decimal(id, &mut doc), rank);
        }
        self.column = Some(column + 1);
        if column + 1 == self.file.width {
            self.query.count();
            (self.column, self.empty, self.nearest) = (None, 0, None);
        }
        Ok(None)
    }

    /// Reads the distance of the next neighbour id; `None` if there are no distances.
    fn next_distance(&mut self) -> io::Result<Option<f32>> {
        let Some(distances) = &mut self.distances else { return Ok(None) };
        let mut bytes = [0; 4];
        match distances.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(f32::from_le_bytes(bytes))),
            // What is missing is said where the file ends.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the error message about the end of a file of neighbour ids with `rest` bytes left
    /// over, if it is wrong.
    fn wrong_end(&self, rest: usize) -> Option<String> {
        let read = self.read + rest as u64;
        let [bytes, ids] = [read, self.file.width].map(with_commas);
        let rows = self.file.rows.unwrap_or(self.query.number - 1);
        match (&self.file.matrix, self.file.end()) {
            (None, None) if rest > 0 || self.column.is_some() => {
                return Some(format!(
                    "has {bytes} bytes, and rows of {ids} ids have {} each: is the file complete?",
                    with_commas(self.file.bytes_of_row())
                ));
            }
            (None, Some(plain)) => {
                let near = plain.saturating_add(plain - 8);
                if ![plain, near].contains(&read) {
                    let [rows, plain, near] = [rows, plain, near].map(with_commas);
                    return Some(format!(
                        "has {bytes} bytes, and {rows} rows of {ids} ids have {plain}, or {near} \
                         with distances: is the file complete?"
                    ));
                }
                if plain != read && self.role == Role::Qrels && self.distances.is_none() {
                    let message = "has distances behind its ids, and is not there as a whole: give \
                                   it as a file";
                    return Some(message.to_owned());
                }
            }
            (Some(_), _) if rest > 0 || self.left() != Some(0) => {
                return Some(format!(
                    "has {bytes} bytes, and {} rows of {ids} ids were expected: is the file \
                     complete?",
                    with_commas(rows)
                ));
            }
            _ => {}
        }
        let truth = self.truth.filter(|truth| truth.rows > 0 && truth.rows != rows)?;
        let [found, expected] = [rows, truth.rows].map(with_commas);
        let name = printable(truth.name.as_bytes());
        Some(format!("has {found} rows, and {name} {expected}: a row for each query was expected"))
    }
}

impl Sequence for IdCells<'_> {
    fn next(&mut self, text: &[u8], ended: bool, rows: &mut RowBatch) -> io::Result<usize> {
        let IdFile { header, size, .. } = *self.file;
        let (mut done, mut wrong) = (0, None);
        while wrong.is_none() && !rows.are_enough() {
            let rest = &text[done..];
            let step = if self.read < header {
                rest.len().min((header - self.read) as usize)
            } else if self.left() == Some(0) {
                // Distances, which another reader reads.
                rest.len()
            } else if self.column.is_none() && self.file.rows.is_none() {
                let Some(width) = number(rest) else { break };
                wrong = self.begin(width);
                4
            } else {
                let Some(cell) = rest.get(..size) else { break };
                wrong = self.cell(self.file.id(cell), rows)?;
                size
            };
            if step == 0 {
                break;
            }
            self.read += step as u64;
            done += step;
        }
        if ended && wrong.is_none() && !rows.are_enough() {
            wrong = self.wrong_end(text.len() - done);
        }
        if let Some(message) = wrong {
            rows.end_with(0, message);
            done = text.len();
        }
        Ok(done)
    }
}

/// Writes a neighbour id, or its grade or rank, in decimal into `digits`, and returns the written
/// digits.
fn decimal(number: i128, digits: &mut [u8; LONGEST]) -> &[u8] {
    // Ids have at most 64 bits, and a sign.
    let number = Integer { negative: number < 0, magnitude: number.unsigned_abs() as u64 };
    let length = number.write(digits);
    &digits[..length]
}

/// Returns a number in decimal with a comma before each three digits, for messages.
fn with_commas(number: u64) -> String {
    let mut with = number.to_string();
    for at in (1..with.len()).rev().skip(2).step_by(3) {
        with.insert(at, ',');
    }
    with
}

//! NumPy matrices (`.npy`) of grades or scores: a row for each query, a column for each document,
//! from 1.
//!
//! ```text
//! \x93NUMPY, version, length of the header (2 or 4 bytes)
//! {'descr': '<f4', 'fortran_order': False, 'shape': (queries, documents), }
//! the values, row after row, or column after column
//! ```

use std::io;

use super::sequence::{Sequence, SequenceFormat, Started};
use crate::columns::is_valid_number;
use crate::lines::{
    diagnostics::{pluralize, quoted},
    row::RowBatch,
    shape::Role,
};
use crate::numbers::F16;

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The checked header of a NumPy file: the type, the place and the shape of its matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyHeader {
    /// The offset in bytes of the first value.
    pub(super) offset: usize,
    kind: ElementKind,
    /// The number of bytes of a value.
    pub(super) size: usize,
    big_endian: bool,
    /// Whether the values of a column follow one another.
    fortran: bool,
    /// The numbers of queries and documents.
    pub shape: [u64; 2],
}

/// The kind of the values of a NumPy matrix: booleans, integers or floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

impl NpyHeader {
    /// Parses and checks the header of a NumPy matrix from the start of its file.
    ///
    /// # Errors
    /// What is wrong with the header, or that the file is not a matrix of numbers.
    pub fn parse(start: &[u8]) -> Result<Self, String> {
        let cut = || "its header is cut off: is the file complete?".to_owned();
        let (&[major, _], rest) = start
            .strip_prefix(MAGIC)
            .ok_or_else(|| "is no .npy file, which starts with '\\x93NUMPY'".to_owned())?
            .split_first_chunk()
            .ok_or_else(cut)?;
        let (length, before) = match major {
            1 => (rest.first_chunk().map(|length| u64::from(u16::from_le_bytes(*length))), 10),
            2 | 3 => (rest.first_chunk().map(|length| u64::from(u32::from_le_bytes(*length))), 12),
            _ => return Err(format!("is .npy of version {major}, and 1, 2 and 3 are read")),
        };
        let length = length.ok_or_else(cut)?;
        if length > LONGEST_HEADER {
            return Err(format!(
                "its header has {length} bytes, and at most {LONGEST_HEADER} are read"
            ));
        }
        let offset = before + length as usize;
        // If `start` has whole lines only, it may end before the line feed of the header.
        let header =
            start.get(before..offset).or_else(|| start.get(before..offset - 1)).ok_or_else(cut)?;
        let Dictionary { descr, fortran, shape } = Literal(header).header().ok_or_else(|| {
            format!("its header {} is not that of an array", quoted(header.trim_ascii()))
        })?;
        let shape = <[u64; 2]>::try_from(shape).map_err(|shape| {
            let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!(
                "is an array of {} ({}), and one of two was expected: queries and documents",
                pluralize(shape.len(), "dimension"),
                shape.join(", ")
            )
        })?;
        let Some(descr) = descr else {
            return Err("is a structured array, and one of numbers was expected".to_owned());
        };
        let (kind, size, big_endian) = element_type(descr)?;
        let npy = Self { offset, kind, size, big_endian, fortran, shape };
        if npy.bytes().is_none_or(|bytes| bytes > i64::MAX as u64) {
            return Err(format!("its header says {}, which no file has", npy.size()));
        }
        Ok(npy)
    }

    /// Returns the number of bytes of the NumPy matrix's values; `None` if it is too large.
    fn bytes(&self) -> Option<u64> {
        let [queries, documents] = self.shape;
        queries.checked_mul(documents)?.checked_mul(self.size as u64)
    }

    /// Returns the shape of the NumPy matrix in words: `3 queries × 5 documents`.
    pub fn size(&self) -> String {
        let [queries, documents] = self.shape.map(|count| count as usize);
        format!("{} × {}", pluralize(queries, "query"), pluralize(documents, "document"))
    }

    /// Returns the type of the NumPy matrix's values in words, such as `float32`.
    pub fn values(&self) -> String {
        let kind = match self.kind {
            ElementKind::Bool => return "bool".to_owned(),
            ElementKind::Signed => "int",
            ElementKind::Unsigned => "uint",
            ElementKind::Float => "float",
        };
        format!("{kind}{}", 8 * self.size)
    }

    /// Returns whether the values of the NumPy matrix are integers.
    pub fn is_of_integers(&self) -> bool {
        matches!(self.kind, ElementKind::Signed | ElementKind::Unsigned)
    }

    /// Returns whether the NumPy matrix is stored column by column, and not row by row.
    pub fn is_fortran(&self) -> bool {
        self.fortran && self.shape.iter().all(|&count| count > 1)
    }

    /// Returns the bytes of all values of a NumPy file; `None` if the file has fewer or more bytes.
    pub fn all_cells<'t>(&self, file: &'t [u8]) -> Option<&'t [u8]> {
        file.get(self.offset..).filter(|cells| Some(cells.len() as u64) == self.bytes())
    }

    /// Puts the values of a query, from 0, of the NumPy matrix into `values`; `cells` are
    /// [all](Self::all_cells).
    pub fn row(&self, cells: &[u8], query: usize, values: &mut Vec<f64>) {
        match self.size {
            1 => self.row_of::<1>(cells, query, values),
            2 => self.row_of::<2>(cells, query, values),
            4 => self.row_of::<4>(cells, query, values),
            _ => self.row_of::<8>(cells, query, values),
        }
    }

    /// Puts the values like [`NpyHeader::row`], for cells of `N` bytes.
    // With a known size the compiler makes a load of each copy.
    fn row_of<const N: usize>(&self, cells: &[u8], query: usize, values: &mut Vec<f64>) {
        let [queries, documents] = self.shape.map(|count| count as usize);
        let (cells, _) = cells.as_chunks::<N>();
        values.clear();
        if self.fortran {
            values.extend(cells[query..].iter().step_by(queries).map(|cell| self.value(cell)));
        } else {
            values.extend(
                cells[query * documents..][..documents].iter().map(|cell| self.value(cell)),
            );
        }
    }

    /// Returns whether the values of the NumPy matrix are floats, which may be infinite or not a
    /// number.
    pub fn is_of_floats(&self) -> bool {
        self.kind == ElementKind::Float
    }

    /// Returns the integer in the bytes of one value of a NumPy matrix of integers.
    pub fn integer(&self, cell: &[u8]) -> i128 {
        let bits = self.bits(cell);
        if self.kind == ElementKind::Signed { self.signed(bits).into() } else { bits.into() }
    }

    /// Returns the signed integer of the size of a value that has these bits.
    #[inline(always)]
    fn signed(&self, bits: u64) -> i64 {
        let unused = 64 - 8 * self.size;
        (bits << unused) as i64 >> unused
    }

    /// Returns the bits of one value of the NumPy matrix, in the machine's byte order.
    #[inline(always)]
    fn bits(&self, cell: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        if self.big_endian {
            bytes.iter_mut().zip(cell.iter().rev()).for_each(|(byte, source)| *byte = *source)
        } else {
            bytes[..cell.len()].copy_from_slice(cell)
        }
        u64::from_le_bytes(bytes)
    }

    /// Converts the bytes of one value of the NumPy matrix to a 64-bit float.
    #[inline(always)]
    fn value(&self, cell: &[u8]) -> f64 {
        let bits = self.bits(cell);
        match (self.kind, self.size) {
            (ElementKind::Bool, _) => f64::from(u8::from(bits != 0)),
            (ElementKind::Unsigned, _) => bits as f64,
            (ElementKind::Signed, _) => self.signed(bits) as f64,
            (ElementKind::Float, 2) => F16(bits as u16).to_f32().into(),
            (ElementKind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (ElementKind::Float, _) => f64::from_bits(bits),
        }
    }
}

/// The most bytes of a header that is read; NumPy's headers have 118 bytes.
const LONGEST_HEADER: u64 = 10_000;

/// Parses the name of a value type in a NumPy header, such as `<f4`: the kind, the number of bytes,
/// and whether the highest byte comes first.
fn element_type(descr: &[u8]) -> Result<(ElementKind, usize, bool), String> {
    let (order, name) = match descr {
        [order @ (b'<' | b'>' | b'=' | b'|'), name @ ..] => (*order, name),
        name => (b'=', name),
    };
    let (kind, size) = match name {
        b"b1" | b"?" => (ElementKind::Bool, b'1'),
        [b'i', size @ (b'1' | b'2' | b'4' | b'8')] => (ElementKind::Signed, *size),
        [b'u', size @ (b'1' | b'2' | b'4' | b'8')] => (ElementKind::Unsigned, *size),
        [b'f', size @ (b'2' | b'4' | b'8')] => (ElementKind::Float, *size),
        [b'O', ..] => {
            return Err("is an array of Python objects, and one of numbers was expected: \
                        `numpy.asarray(it, float)` may make one"
                .to_owned());
        }
        _ => {
            return Err(format!(
                "has values of the type {}, and bool, integers of 8 to 64 bits or floats of 16, 32 \
                 or 64 bits were expected",
                quoted(descr)
            ));
        }
    };
    Ok((kind, usize::from(size - b'0'), order == b'>'))
}

/// The Python dictionary in a NumPy header.
struct Dictionary<'t> {
    /// The type of values; `None` for a type with fields.
    descr: Option<&'t [u8]>,
    /// Whether the values of a column follow one another.
    fortran: bool,
    shape: Vec<u64>,
}

/// The unread rest of the Python dictionary in a NumPy header.
struct Literal<'t>(&'t [u8]);

impl<'t> Literal<'t> {
    /// Parses the dictionary; `None` if it is no dictionary of an array.
    fn header(mut self) -> Option<Dictionary<'t>> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.passes(b'}') {
            match self.string()? {
                b"descr" if self.passes(b':') => {
                    descr = Some(if self.next() == Some(b'[') {
                        self.skip_list()?;
                        None
                    } else {
                        Some(self.string()?)
                    });
                }
                b"fortran_order" if self.passes(b':') => fortran = Some(self.truth()?),
                b"shape" if self.passes(b':') => shape = Some(self.tuple()?),
                _ => return None,
            }
            if !self.passes(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        let (descr, fortran, shape) = (descr?, fortran?, shape?);
        self.next().is_none().then_some(Dictionary { descr, fortran, shape })
    }

    /// Skips blanks of a NumPy header, and returns the next byte without consuming the byte.
    fn next(&mut self) -> Option<u8> {
        self.0 = self.0.trim_ascii_start();
        self.0.first().copied()
    }

    fn passes(&mut self, byte: u8) -> bool {
        let is = self.next() == Some(byte);
        self.0 = &self.0[usize::from(is)..];
        is
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.passes(byte).then_some(())
    }

    fn string(&mut self) -> Option<&'t [u8]> {
        let quote = self.next().filter(|byte| matches!(byte, b'\'' | b'"'))?;
        let rest = &self.0[1..];
        let length = rest.iter().position(|&byte| byte == quote)?;
        self.0 = &rest[length + 1..];
        Some(&rest[..length])
    }

    fn truth(&mut self) -> Option<bool> {
        self.next()?;
        let truth = self.0.starts_with(b"True");
        self.0 = self.0.strip_prefix(if truth { &b"True"[..] } else { b"False" })?;
        Some(truth)
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        let mut all = Vec::new();
        self.expect(b'(')?;
        while !self.passes(b')') {
            self.next()?;
            let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            all.push(str::from_utf8(&self.0[..digits]).ok()?.parse().ok()?);
            self.0 = &self.0[digits..];
            // Python 2 wrote long integers with the suffix L.
            self.passes(b'L');
            if !self.passes(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Some(all)
    }

    fn skip_list(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.next()? {
                b'\'' | b'"' => drop(self.string()?),
                byte => {
                    depth += i32::from(matches!(byte, b'[' | b'('))
                        - i32::from(matches!(byte, b']' | b')'));
                    self.0 = &self.0[1..];
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

/// The reader of a NumPy matrix as rows of judgments or of a run; the line of a row is its
/// query.
struct MatrixCells {
    npy: NpyHeader,
    /// What the cells are: grades or scores.
    role: Role,
    /// Whether the header was passed.
    begun: bool,
    left: u64,
    query: Counter,
    document: Counter,
}

impl MatrixCells {
    fn cell(&mut self, cell: &[u8], rows: &mut RowBatch) {
        let value = self.npy.value(cell);
        let (query, document) = (&mut self.query, &mut self.document);
        if is_valid_number(self.role, value) {
            rows.row_of_value(query.number, query.digits(), document.digits(), value);
        } else {
            let finite = if value.is_nan() { "" } else { "finite " };
            let message = format!(
                "{} {value} in column {} is not a {finite}number",
                self.role.number(),
                document.number
            );
            rows.fault(query.number, message);
        }
        self.left -= 1;
        let [queries, documents] = self.npy.shape;
        let (inner, outer, end) = if self.npy.fortran {
            (query, document, queries)
        } else {
            (document, query, documents)
        };
        if inner.number == end {
            *inner = Counter::default();
            outer.count();
        } else {
            inner.count();
        }
    }
}

/// A NumPy matrix as judgments or a run.
#[derive(Debug)]
pub(super) struct OfMatrix(pub NpyHeader, pub Role);

impl SequenceFormat for OfMatrix {
    fn start(&self) -> Started<'_> {
        let &Self(ref npy, role) = self;
        Ok(Box::new(MatrixCells {
            npy: npy.clone(),
            role,
            begun: false,
            left: npy.shape.iter().product(),
            query: Counter::default(),
            document: Counter::default(),
        }))
    }
}

impl Sequence for MatrixCells {
    fn next(&mut self, text: &[u8], ended: bool, rows: &mut RowBatch) -> io::Result<usize> {
        let mut done = 0;
        if !self.begun && text.len() >= self.npy.offset {
            (done, self.begun) = (self.npy.offset, true);
        }
        if self.begun {
            while self.left > 0
                && !rows.are_enough()
                && let Some(cell) = text.get(done..done + self.npy.size)
            {
                self.cell(cell, rows);
                done += self.npy.size;
            }
        }
        let rest = text.len() - done;
        if self.begun && self.left == 0 && rest > 0 {
            rows.end_with(0, "there are more bytes after the values");
        } else if ended && (!self.begun || self.left > 0 && rest < self.npy.size) {
            let (row, column) = (self.query.number, self.document.number);
            let message = format!(
                "the values end before row {row}, column {column}, and {} were expected: is the \
                 file complete?",
                self.npy.size()
            );
            rows.end_with(row, message);
        }
        Ok(done)
    }
}

/// A number that counts up from 1, with its decimal digits, for ids of queries and documents, and for
/// ranks.
pub(super) struct Counter {
    pub number: u64,
    /// The digits, and how many bytes they are.
    digits: [u8; 20],
    length: usize,
}

impl Default for Counter {
    fn default() -> Self {
        let mut digits = [0; 20];
        digits[0] = b'1';
        Self { number: 1, digits, length: 1 }
    }
}

impl Counter {
    /// Returns the decimal digits of the counter.
    #[inline(always)]
    pub fn digits(&self) -> &[u8] {
        &self.digits[..self.length]
    }

    /// Adds 1 to the counter and to its decimal digits.
    #[inline(always)]
    pub fn count(&mut self) {
        self.number += 1;
        for digit in self.digits[..self.length].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        // A number of 64 bits has 20 digits at most.
        self.digits.copy_within(..self.length, 1);
        self.digits[0] = b'1';
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a file of version 1 with this header.
    fn parse_header(header: &str) -> Result<NpyHeader, String> {
        let length = (header.len() as u16).to_le_bytes();
        NpyHeader::parse(&[MAGIC, &[1, 0], &length, header.as_bytes()].concat())
    }

    fn header(descr: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1, 1), }}    \n")
    }

    #[test]
    fn values_of_every_type() {
        let cases: &[(&str, &[u8], f64)] = &[
            ("|b1", &[1], 1.0),
            ("|b1", &[0], 0.0),
            ("|i1", &[0xff], -1.0),
            ("|u1", &[0xff], 255.0),
            ("<i2", &[0xfe, 0xff], -2.0),
            (">i2", &[0xff, 0xfe], -2.0),
            ("<u2", &[0xfe, 0xff], 65534.0),
            ("<i4", &[0, 0, 0, 0x80], -2147483648.0),
            (">u4", &[0x80, 0, 0, 0], 2147483648.0),
            ("<i8", &(-3i64).to_le_bytes(), -3.0),
            (">u8", &[0x80, 0, 0, 0, 0, 0, 0, 0], 9223372036854775808.0),
            ("<f2", &[0x00, 0x3c], 1.0),
            ("<f2", &[0x01, 0x00], 5.960464477539063e-8),
            (">f2", &[0xfb, 0xff], -65504.0),
            ("<f2", &[0x55, 0x35], 0.333251953125),
            ("<f4", &[0xcd, 0xcc, 0xcc, 0x3d], 0.10000000149011612),
            (">f4", &[0x3d, 0xcc, 0xcc, 0xcd], 0.10000000149011612),
            ("<f8", &0.1f64.to_le_bytes(), 0.1),
            (">f8", &0.1f64.to_be_bytes(), 0.1),
        ];
        for (descr, bytes, value) in cases {
            let npy = parse_header(&header(descr)).unwrap();
            assert_eq!((npy.value(bytes), npy.size), (*value, bytes.len()), "{descr}");
        }
        assert!(F16(0x7e00).to_f32().is_nan() && F16(0xfc00).to_f32() == f32::NEG_INFINITY);
    }

    #[test]
    fn headers_are_those_of_any_version_and_order() {
        let text = "{\"shape\": (3L, 5), 'descr':'>f4','fortran_order' : True}";
        let expected = NpyHeader {
            offset: 10 + text.len(),
            kind: ElementKind::Float,
            size: 4,
            big_endian: true,
            fortran: true,
            shape: [3, 5],
        };
        assert_eq!(parse_header(text), Ok(expected.clone()));
        let length = (text.len() as u32).to_le_bytes();
        for version in [2, 3] {
            let long = [MAGIC, &[version, 0], &length, text.as_bytes(), b"xyz"].concat();
            let of_long = NpyHeader { offset: expected.offset + 2, ..expected.clone() };
            assert_eq!(NpyHeader::parse(&long), Ok(of_long));
            for end in 0..expected.offset + 1 {
                assert!(NpyHeader::parse(&long[..end]).is_err(), "{end}");
            }
        }
        assert_eq!(expected.size(), "3 queries × 5 documents");
        assert_eq!(expected.values(), "float32");
    }

    #[test]
    fn what_is_no_matrix_of_numbers_is_said() {
        let shaped = |shape: &str| header("<f8").replace("(1, 1)", shape);
        for (header, expected) in [
            (shaped("(5,)"), "is an array of 1 dimension (5), and one of two was expected"),
            (shaped("()"), "is an array of 0 dimensions ()"),
            (shaped("(2, 3, 4)"), "is an array of 3 dimensions (2, 3, 4)"),
            (
                shaped("(4294967296, 4294967296)"),
                "its header says 4294967296 queries × 4294967296 documents, which no file has",
            ),
            (shaped("(4294967296, 1073741824)"), "which no file has"),
            (shaped("(99999999999999999999, 1)"), "is not that of an array"),
            (shaped("(-1, 1)"), "is not that of an array"),
            (shaped("[1, 1]"), "is not that of an array"),
            (header("|O"), "is an array of Python objects"),
            (header("<U7"), "has values of the type '<U7', and bool, integers"),
            (header("<c16"), "has values of the type '<c16'"),
            (header("<f16"), "has values of the type '<f16'"),
            (header("<M8[ns]"), "has values of the type '<M8[ns]'"),
            (
                "{'descr': [('a', '<f4'), ('b]', '<i4', (2,))], 'fortran_order': False, 'shape': \
                 (1, 1), }"
                    .to_owned(),
                "is a structured array",
            ),
            ("{'descr': '<f4', 'shape': (1, 1)}".to_owned(), "is not that of an array"),
            (header("<f4") + "x", "is not that of an array"),
            ("".to_owned(), "its header '' is not that of an array"),
            (" ".repeat(10_001), "its header has 10001 bytes"),
        ] {
            let error = parse_header(&header).unwrap_err();
            assert!(error.contains(expected), "{error}\n{expected}");
        }
        assert!(NpyHeader::parse(b"\x93NUMPY\x04\x00\x00\x00").unwrap_err().contains("version 4"));
        assert!(NpyHeader::parse(b"\x93NUMPX").unwrap_err().contains("is no .npy file"));
    }

    #[test]
    fn numbers_are_counted() {
        let mut counter = Counter::default();
        for number in 1..=12_345u64 {
            assert_eq!((counter.number, counter.digits()), (number, number.to_string().as_bytes()));
            counter.count();
        }
    }
}

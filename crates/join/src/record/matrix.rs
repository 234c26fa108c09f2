//! A NumPy matrix as qrels or run, a row a query, whose cells become records without becoming lines
//! first.
//!
//! ```text
//! columns   1\n2\n3\n…     the documents, which are the same for every query: their digits and
//!                          hashes are made once
//! cells     27.5 3.1 …     the values of a query, as floats of 64 bits; with a column each makes a
//!                          record
//! ```
//!
//! A row of the matrix is a chunk, and a line. Only a complete and finite matrix is read in this
//! way, and so has no problems. For any other matrix, [the reader of cells](crate::format::npy)
//! reports the problems.

use crate::bytes::hash::Seed;
use crate::format::{RowLayout, npy::NpyHeader, open_input::OpenInput};
use crate::lines::row::copy_docno;

/// The most rows and columns: chunks are numbered by 24 bits, and results of a query by 32.
const MOST: [u64; 2] = [1 << 24, 1 << 31];

/// A NumPy matrix without missing, infinite or NaN cells: a row for each query, a column for each
/// document.
pub(super) struct DenseMatrix<'a> {
    npy: &'a NpyHeader,
    cells: &'a [u8],
    /// The numbers of queries and of documents.
    pub shape: [usize; 2],
}

impl<'a> DenseMatrix<'a> {
    /// Returns the NumPy matrix of an uncompressed text; `None` for other content, or a matrix with
    /// a problem.
    pub fn from_text(text: &'a OpenInput, form: &'a RowLayout) -> Option<Self> {
        let npy = form.other_format()?.matrix.as_ref()?;
        let (bytes, None) = text.content() else { return None };
        let cells = npy.all_cells(bytes)?;
        let fits = std::iter::zip(npy.shape, MOST).all(|(count, most)| (1..=most).contains(&count));
        let shape = npy.shape.map(|count| count as usize);
        let matrix = fits.then_some(Self { npy, cells, shape })?;
        // Integers are always finite, so only floats are read an additional time.
        (!npy.is_of_floats() || matrix.is_finite()).then_some(matrix)
    }

    /// Returns whether no cell of the NumPy matrix is infinite or NaN.
    fn is_finite(&self) -> bool {
        let mut values = Vec::new();
        (0..self.shape[0]).all(|query| {
            self.row(query, &mut values);
            values.iter().all(|value| value.is_finite())
        })
    }

    /// Returns the number of bytes of all cells of the NumPy matrix.
    pub fn bytes(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Writes the cells of a row of the NumPy matrix, a query counted from 0, into `values`.
    pub fn row(&self, query: usize, values: &mut Vec<f64>) {
        self.npy.row(self.cells, query, values);
    }
}

/// The documents of a NumPy matrix, which are its columns by number, with their hashes.
pub(super) struct ColumnDocs {
    /// The digits of the documents, copied as all docnos are.
    pub digits: Vec<u8>,
    /// The hash of each document, and the start and end of its number in `digits`.
    pub hashes: Vec<(u64, usize, usize)>,
}

impl ColumnDocs {
    /// Makes the documents 1 to `count`, named by the columns of a NumPy matrix, with their hashes.
    pub fn new(count: usize, seed: Seed) -> Self {
        let (mut digits, mut hashes) = (Vec::new(), Vec::with_capacity(count));
        for column in 1..=count {
            let start = copy_docno(&mut digits, 1, column.to_string().as_bytes(), None);
            hashes.push((seed.hash(&digits, start, digits.len()), start, digits.len()));
        }
        Self { digits, hashes }
    }
}

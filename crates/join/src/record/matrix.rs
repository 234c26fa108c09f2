//! A matrix of NumPy in memory, whose cells become records without becoming lines first.
//!
//! ```text
//! columns   1\n2\n3\n…     the documents, which are the same for every query: their digits and
//!                          hashes are made once
//! cells     27.5 3.1 …     the values of a query, as floats of 64 bits; with a column each makes a
//!                          record
//! ```
//!
//! A row of the matrix is a chunk, and each column is a line of this chunk. So records have the
//! same places, and messages name the same lines, as with lines made of the cells. Only a complete
//! and finite matrix is read in this way, and so has no problems. For any other matrix, [the maker
//! of lines](crate::format::npy) reports the problems.

use crate::bytes::hash::Seed;
use crate::format::Form;
use crate::format::npy::Npy;
use crate::format::opened::Opened;

/// The most rows and columns: chunks are numbered by 24 bits, and results of a query by 32.
const MOST: [u64; 2] = [1 << 24, 1 << 31];

/// A matrix with nothing wrong.
pub(super) struct SoundMatrix<'a> {
    npy: &'a Npy,
    cells: &'a [u8],
    /// The numbers of queries and of documents.
    pub shape: [usize; 2],
}

impl<'a> SoundMatrix<'a> {
    /// Returns the matrix of a text; `None` for other content, a compressed text, or a matrix with
    /// a problem.
    pub fn of(text: &'a Opened, form: &'a Form) -> Option<Self> {
        let npy = form.made()?.matrix()?;
        let (bytes, None) = text.content() else { return None };
        let cells = npy.all_cells(bytes)?;
        let fits = std::iter::zip(npy.shape, MOST).all(|(count, most)| (1..=most).contains(&count));
        let shape = npy.shape.map(|count| count as usize);
        let matrix = fits.then_some(SoundMatrix { npy, cells, shape })?;
        (!npy.is_of_floats() || matrix.is_finite()).then_some(matrix)
    }

    fn is_finite(&self) -> bool {
        let mut values = Vec::new();
        (0..self.shape[0]).all(|query| {
            self.row(query, &mut values);
            values.iter().all(|value| value.is_finite())
        })
    }

    /// The number of bytes of all cells.
    pub fn bytes(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Puts the values of a query, from 0, into `values`.
    pub fn row(&self, query: usize, values: &mut Vec<f64>) {
        self.npy.row(self.cells, query, values);
    }

    /// The line of the file, that is the query, of a cell; cells are numbered from 1.
    pub fn line(&self, cell: u64) -> u64 {
        cell.saturating_sub(1) / self.shape[1] as u64 + 1
    }
}

/// The documents of the columns of a matrix: 1, 2, 3 ….
pub(super) struct ColumnDocs {
    /// The digits of the documents, with a line feed behind each number.
    digits: Vec<u8>,
    /// The hash of each document, and the end of its number in `digits`.
    hashes: Vec<(u64, usize)>,
}

impl ColumnDocs {
    /// Makes the documents of `count` columns.
    pub fn new(count: usize, seed: Seed) -> Self {
        let (mut digits, mut hashes) = (Vec::new(), Vec::with_capacity(count));
        for column in 1..=count {
            let start = digits.len();
            digits.extend_from_slice(column.to_string().as_bytes());
            hashes.push((seed.hash(&digits, start, digits.len()), digits.len()));
            digits.push(b'\n');
        }
        ColumnDocs { digits, hashes }
    }

    /// The documents as the bytes of a chunk.
    pub fn bytes(&self) -> &[u8] {
        &self.digits
    }

    /// Each document: its hash, and where it starts and ends.
    pub fn each(&self) -> impl Iterator<Item = (u64, usize, usize)> {
        self.hashes
            .iter()
            .scan(0, |next, &(hash, end)| Some((hash, std::mem::replace(next, end + 1), end)))
    }
}

//! Label matrices for Python: runs joined to judgments once, and evaluated often.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use laneval::labels::FileAccess;
use laneval::{LabelMatrix, View};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{OrRaise, unanswerable};
use crate::text;
use crate::work::{Workers, work};

/// A label matrix.
#[pyclass(frozen, module = "laneval._native")]
pub struct Matrix {
    pub matrix: Arc<LabelMatrix>,
    /// The tile and the lane of each row that has one, computed when labels are first asked for.
    places: OnceLock<Vec<Option<(u32, u8)>>>,
    /// What is probably wrong with the texts of the runs, in words.
    notes: Vec<String>,
}

impl From<LabelMatrix> for Matrix {
    fn from(matrix: LabelMatrix) -> Self {
        Self::with_notes(matrix, Vec::new())
    }
}

impl Matrix {
    /// Returns a label matrix for Python, with notes about the texts that it was made of.
    pub fn with_notes(matrix: LabelMatrix, notes: Vec<String>) -> Self {
        Self { matrix: Arc::new(matrix), places: OnceLock::new(), notes }
    }

    fn places(&self) -> &[Option<(u32, u8)>] {
        self.places.get_or_init(|| {
            let mut places = vec![None; self.matrix.rows()];
            for tile in self.matrix.batch().tiles() {
                for (lane, &row) in (0..).zip(self.matrix.tile_rows(tile)) {
                    places[row as usize] = Some((tile as u32, lane));
                }
            }
            places
        })
    }
}

/// The labels of some rankings as bytes of arrays: depth, labels, lengths and judgment counts. The
/// bytes are those of `labels[n, depth]`, `lengths[n]` and `judged[n, labels]`.
type RankingLabels<'py> = (usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl Matrix {
    /// Returns notes about what is probably wrong with the texts of the runs.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Opens a file, which is mapped into memory.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let matrix = work(py, Workers::default(), &Arc::default(), || {
            LabelMatrix::open(&path, FileAccess::default())
        })?;
        Ok(matrix.into())
    }

    /// Makes a matrix of the bytes that `to_bytes` returned.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let matrix = py.detach(|| LabelMatrix::from_bytes(bytes));
        matrix.map(Self::from).or_raise(py)
    }

    /// Returns the bytes of the file that the matrix would be written to.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.matrix.to_bytes()))
    }

    /// Writes the matrix to a file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work(py, Workers::default(), &Arc::default(), || self.matrix.write(&path))
    }

    fn runs(&self) -> Vec<String> {
        self.matrix.runs().iter().map(|run| run.name.clone()).collect()
    }

    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.matrix.queries().iter().map(|id| text::id_to_py(py, id)).collect()
    }

    /// Returns the names of the order of equal scores and of the type of scores by which rankings
    /// were made.
    fn rule(&self) -> (String, String) {
        let rule = self.matrix.rule();
        (rule.ties.to_string(), rule.score.to_string())
    }

    fn fingerprint(&self) -> String {
        format!("{:032x}", self.matrix.fingerprint())
    }

    /// Returns the grade of each label; NaN if it has none.
    fn grades(&self) -> Vec<f64> {
        let book = self.matrix.codebook();
        (0..book.codes()).map(|code| book.grade(code as u8).unwrap_or(f64::NAN)).collect()
    }

    /// Returns the labels of some queries of a run, cut at a depth, or of judged documents only.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        run: usize,
        start: usize,
        end: usize,
        depth: Option<u32>,
        judged_only: bool,
    ) -> PyResult<RankingLabels<'py>> {
        let (matrix, queries) = (&self.matrix, self.matrix.queries().len());
        if !matrix.codebook().is_exact() {
            return Err(unanswerable(
                py,
                "measures of one's own get a label for each document, and there are more distinct \
                 grades than labels (253): round the grades",
            ));
        }
        if run >= matrix.runs().len() || start > end || end > queries {
            return Err(PyIndexError::new_err("there are no such rankings"));
        }
        let view = View { depth, judged_only };
        let (rows, count) = (run * queries + start..run * queries + end, end - start);
        let rankings = rows.map(|row| {
            let mut ranking = Vec::new();
            if let Some((tile, lane)) = self.places()[row] {
                // A lane is as deep as its tile: labels below the row's own depth are padding.
                let depth = matrix.depths()[row] as usize;
                ranking.extend(matrix.tile(tile as usize).lane(usize::from(lane)).take(depth));
                view.apply_to_row(&mut ranking);
            }
            ranking
        });
        let rankings: Vec<Vec<u8>> = rankings.collect();
        let deepest = rankings.iter().map(Vec::len).max().unwrap_or(0);
        let codes = matrix.codebook().codes();
        let mut labels = vec![0u8; count * deepest];
        let mut judged = vec![0u32; count * codes];
        for (at, ranking) in rankings.iter().enumerate() {
            labels[at * deepest..][..ranking.len()].copy_from_slice(ranking);
            for (code, count) in matrix.facts().get(start + at).iter() {
                judged[at * codes + usize::from(code)] = count;
            }
        }
        let lengths: Vec<u32> = rankings.iter().map(|ranking| ranking.len() as u32).collect();
        let [lengths, judged] = [lengths, judged].map(|numbers| {
            let bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_ne_bytes).collect();
            PyBytes::new(py, &bytes)
        });
        Ok((deepest, PyBytes::new(py, &labels), lengths, judged))
    }
}

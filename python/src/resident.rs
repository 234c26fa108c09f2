//! Label matrices that stay in the memory of a GPU, for Python.

use std::mem::forget;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use laneval::gpu::{AdapterChoice, Gpu, LoadedMatrix};
use laneval::{Error, LabelMatrix};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::matrix::Matrix;
use crate::scores;
use crate::settings::Settings;
use crate::work::{Workers, work};

self_cell! {
    /// A GPU, and a matrix whose labels are in its memory.
    struct GpuMatrix {
        owner: (Gpu, Arc<LabelMatrix>),
        #[not_covariant]
        dependent: LoadedMatrix,
    }
}

/// The labels of a matrix in the memory of a GPU, until they are released.
#[pyclass(frozen, module = "laneval._native")]
pub struct ResidentEvaluator {
    gpu_matrix: Mutex<Option<GpuMatrix>>,
    /// The process that opened the GPU: a forked child cannot use it.
    process: u32,
}

#[pymethods]
impl ResidentEvaluator {
    /// Sends the labels of a matrix to this GPU, or to the most powerful one.
    #[staticmethod]
    fn load(py: Python<'_>, matrix: &Matrix, adapter: Option<&str>) -> PyResult<Self> {
        let matrix = matrix.matrix.clone();
        let gpu_matrix = work(py, Workers::default(), &Arc::default(), || {
            let gpu = Gpu::open(adapter.map_or(AdapterChoice::Hardware, AdapterChoice::Named))?;
            GpuMatrix::try_new((gpu, matrix), |(gpu, matrix)| gpu.load(matrix))
        })?;
        Ok(Self { gpu_matrix: Mutex::new(Some(gpu_matrix)), process: process::id() })
    }

    /// Returns the scores of all runs.
    fn evaluate(&self, py: Python<'_>, settings: &Settings) -> PyResult<scores::Scores> {
        let scores = settings.work(py, usize::MAX, |_, evaluator| {
            if self.process != process::id() {
                let message =
                    "this GPU was opened by the parent process: load the matrix again here";
                return Err(Error::Device(message.to_owned()));
            }
            match &*self.lock() {
                Some(gpu_matrix) => gpu_matrix
                    .with_dependent(|(_, matrix), loaded| evaluator.evaluate_on(loaded, matrix)),
                None => {
                    let message = "the labels are no longer on the GPU: load the matrix again";
                    Err(Error::Unanswerable(message.to_owned()))
                }
            }
        })?;
        Ok(scores.into())
    }

    /// Releases the memory. Resources that the parent process opened are left alone.
    fn close(&self, py: Python<'_>) {
        if self.process == process::id() {
            py.detach(|| drop(self.lock().take()));
        }
    }
}

impl ResidentEvaluator {
    fn lock(&self) -> MutexGuard<'_, Option<GpuMatrix>> {
        self.gpu_matrix.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ResidentEvaluator {
    fn drop(&mut self) {
        if self.process != process::id() {
            // A driver's threads do not exist in a forked child.
            forget(self.gpu_matrix.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

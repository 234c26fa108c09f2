//! Labels that stay on a GPU.

use std::mem::forget;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use laneval::gpu::{Choice, Gpu, Loaded};
use laneval::{Error, LabelMatrix, Watch};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::matrix::Matrix;
use crate::scores;
use crate::settings::Settings;
use crate::work::{Workers, work};

self_cell! {
    /// A GPU, and a matrix whose labels are in its memory.
    struct Held {
        owner: (Gpu, Arc<LabelMatrix>),
        #[not_covariant]
        dependent: Loaded,
    }
}

/// The labels of a matrix in the memory of a GPU, until they are released.
#[pyclass(frozen, module = "laneval._native")]
pub struct Resident {
    held: Mutex<Option<Held>>,
    /// The process that opened the GPU: a forked child cannot use it.
    process: u32,
}

#[pymethods]
impl Resident {
    /// Sends the labels of a matrix to this GPU, or to the most powerful one.
    #[staticmethod]
    fn load(py: Python<'_>, matrix: &Matrix, adapter: Option<&str>) -> PyResult<Self> {
        let matrix = matrix.matrix.clone();
        let held = work(py, Workers::default(), &Arc::new(Watch::default()), || {
            let gpu = Gpu::open(adapter.map_or(Choice::Hardware, Choice::Named))?;
            Held::try_new((gpu, matrix), |(gpu, matrix)| gpu.load(matrix))
        })?;
        Ok(Resident { held: Mutex::new(Some(held)), process: process::id() })
    }

    /// The scores of all runs.
    fn evaluate(&self, py: Python<'_>, settings: &Settings) -> PyResult<scores::Scores> {
        let scores = settings.work(py, usize::MAX, |_, evaluator| {
            if self.process != process::id() {
                let message =
                    "this GPU was opened by the parent process: load the matrix again here";
                return Err(Error::Device(message.to_owned()));
            }
            match &*self.lock() {
                Some(held) => {
                    held.with_dependent(|(_, matrix), loaded| evaluator.evaluate_on(loaded, matrix))
                }
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

impl Resident {
    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        if self.process != process::id() {
            // A driver's threads do not exist in a forked child.
            forget(self.held.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

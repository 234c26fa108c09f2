//! Synthetic judgments and runs of any size, for benchmarks: as text, or as a label matrix without
//! any text.
//!
//! ```text
//! synthetic  the parameters
//! model      what is in a query: its id, documents, judgments and rankings,
//!            from random numbers of its own
//! text       qrels and runs as TREC text
//! matrix     the same data as a label matrix
//! ```
//!
//! The data look like a test collection: few documents are judged, most of those stand near the
//! top, some scores are tied, and the lines of a run are grouped and ranked. The data follow from
//! the parameters alone, never from threads, and are made with integers only, so they are the same
//! on every machine.

mod matrix;
mod model;
mod synthetic;
mod text;

use std::path::Path;

use crate::error::{Result, unanswerable};
use crate::matrix::LabelMatrix;
use crate::matrix::code::MAX_GRADES;
use crate::progress::ProgressHandle;

use model::Model;

pub use synthetic::Synthetic;

impl Synthetic {
    /// Writes the synthetic judgments and runs as `qrels.txt` and `run.txt`, or `run-1.txt` and so
    /// on, into an existing folder.
    ///
    /// # Errors
    /// Contradictory parameters, or a file that cannot be written.
    pub fn write_text(&self, folder: impl AsRef<Path>) -> Result<()> {
        self.write_text_watched(folder, None)
    }

    /// Writes the synthetic judgments and runs as [`Synthetic::write_text`] does, and reports the
    /// bytes written as progress.
    ///
    /// # Errors
    /// As [`Synthetic::write_text`].
    pub fn write_text_watched(
        &self,
        folder: impl AsRef<Path>,
        watch: Option<&ProgressHandle>,
    ) -> Result<()> {
        let model = self.model()?;
        text::write(&model, folder.as_ref(), watch)
    }

    /// Makes the label matrix of the synthetic judgments and runs, as if joined from their text.
    /// Only the sources of its runs are empty.
    ///
    /// # Errors
    /// Contradictory parameters.
    pub fn matrix(&self) -> Result<LabelMatrix> {
        matrix::build(&self.model()?)
    }

    /// Returns the file names of the synthetic runs: `run.txt`, or `run-1.txt` and so on.
    #[doc(hidden)]
    pub fn run_names(&self) -> Vec<String> {
        match self.runs {
            1 => vec!["run.txt".to_owned()],
            runs => (1..=runs).map(|run| format!("run-{run}.txt")).collect(),
        }
    }

    fn model(&self) -> Result<Model> {
        let wrong = if [self.queries, self.depth, self.judged, self.runs.into()].contains(&0) {
            "queries, depth, judged documents and runs are 1 or more".to_owned()
        } else if !(2..=MAX_GRADES).contains(&usize::from(self.grades)) {
            format!("there are 2 to {MAX_GRADES} grades")
        } else if self.density.is_some_and(|density| !(0.0..=1.0).contains(&density)) {
            "a density is a share, 0 to 1".to_owned()
        } else if u64::from(self.depth.max(self.judged)) > model::MOST_DOCUMENTS {
            format!("there are at most {} documents a query", model::MOST_DOCUMENTS)
        } else {
            return Ok(Model::new(*self));
        };
        unanswerable(format!("synthetic data: {wrong}"))
    }
}

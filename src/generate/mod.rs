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

use crate::error::{Error, Result};
use crate::matrix::LabelMatrix;
use crate::matrix::code::MAX_GRADES;
use crate::watch::Watch;

use model::Model;

pub use synthetic::Synthetic;

impl Synthetic {
    /// Writes `qrels.txt` and `run.txt`, or `run-1.txt` and so on, into an existing folder.
    ///
    /// # Errors
    /// Contradictory parameters, or a file that cannot be written.
    pub fn write_text(&self, folder: impl AsRef<Path>) -> Result<()> {
        self.write_text_watched(folder, None)
    }

    /// Writes the files of [`Synthetic::write_text`], and tells the watch the number of bytes
    /// written and an estimate of all bytes.
    ///
    /// # Errors
    /// As [`Synthetic::write_text`].
    pub fn write_text_watched(
        &self,
        folder: impl AsRef<Path>,
        watch: Option<&Watch>,
    ) -> Result<()> {
        let model = self.model()?;
        text::write(&model, folder.as_ref(), watch)
    }

    /// Makes the matrix of the joined text, except that the sources of its runs are empty.
    ///
    /// # Errors
    /// Contradictory parameters.
    pub fn matrix(&self) -> Result<LabelMatrix> {
        matrix::build(&self.model()?)
    }

    /// The file names of the runs.
    #[doc(hidden)]
    pub fn run_names(&self) -> Vec<String> {
        match self.runs {
            1 => vec!["run.txt".to_owned()],
            runs => (1..=runs).map(|run| format!("run-{run}.txt")).collect(),
        }
    }

    fn model(&self) -> Result<Model> {
        let refuse = |what: &str| Err(Error::Unanswerable(format!("synthetic data: {what}")));
        if [self.queries, self.depth, self.judged, self.runs.into()].contains(&0) {
            return refuse("queries, depth, judged documents and runs are 1 or more");
        }
        if !(2..=MAX_GRADES).contains(&usize::from(self.grades)) {
            return refuse(&format!("there are 2 to {MAX_GRADES} grades"));
        }
        if self.density.is_some_and(|density| !(0.0..=1.0).contains(&density)) {
            return refuse("a density is a share, 0 to 1");
        }
        if u64::from(self.depth.max(self.judged)) > model::MOST_DOCUMENTS {
            return refuse(&format!(
                "there are at most {} documents a query",
                model::MOST_DOCUMENTS
            ));
        }
        Ok(Model::new(*self))
    }
}

//! An evaluation of several label matrices. The engine is chosen once for all matrices, and can
//! explain its work.

use std::borrow::Cow;

use super::Evaluator;
use super::evaluation::{Evaluation, Feeder};
#[cfg(feature = "parts")]
use crate::engine::{ChosenEngine, auto::SelectedEngine};
use crate::engine::{Engine, Job};
use crate::error::Result;
use crate::matrix::LabelMatrix;
use crate::plan::Plan;

impl<'e> Evaluation<'e> {
    /// Makes an evaluation of `matrices`: chooses the engine by their labels, and starts the
    /// requested threads.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], as far as it is about an engine.
    pub fn for_matrices(evaluator: &'e Evaluator, matrices: &[LabelMatrix]) -> Result<Self> {
        let labels = matrices.iter().map(|matrix| matrix.tile_bytes().len() as u64).sum();
        Self::new(Cow::Borrowed(evaluator), Feeder::Matrices { labels })
    }

    /// Makes an evaluation of matrices on a given engine, without threads of its own.
    #[cfg(feature = "parts")]
    pub fn on_engine_of(evaluator: &'e Evaluator, engine: ChosenEngine) -> Self {
        let taken = Some(SelectedEngine::requested(engine));
        Self { evaluator: Cow::Borrowed(evaluator), taken, pool: None }
    }

    /// Returns the reason why the evaluation does not use a faster GPU.
    pub fn gpu_refusal(&self) -> Option<&str> {
        self.taken.as_ref().and_then(|taken| taken.refused.as_deref())
    }

    /// Returns lines that explain the work of the engine on a plan for a label matrix.
    pub fn explain(&self, plan: &Plan, matrix: &LabelMatrix) -> Vec<String> {
        let prepared = plan.prepare(&matrix.batch());
        let (program, inputs, view) = (plan.program(), prepared.inputs(), self.evaluator.view());
        let job = Job { batch: matrix.batch(), view, program, inputs, watch: None };
        self.engine().map(|engine| engine.explain(&job)).unwrap_or_default()
    }
}

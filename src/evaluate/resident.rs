//! Repeated averages of measures over a label matrix that stays on a GPU: only averages come back.

use super::Evaluator;
use super::slots::Slots;
use crate::engine::Job;
use crate::engine::gpu::LoadedMatrix;
use crate::engine::gpu::reduce::Reducer;
use crate::error::{Error, Result, unanswerable};
use crate::matrix::LabelMatrix;
use crate::scores::{QuerySet, TiedValue};

/// Measures over a label matrix on a GPU, ready to be averaged any number of times.
pub struct ResidentEvaluator<'a> {
    reducer: Reducer<'a>,
    /// The number of queries that count, by run.
    counts: Vec<usize>,
}

impl Evaluator {
    /// Prepares repeated averages of the measures over a matrix on the GPU: facts about the queries
    /// are computed and sent to the device once.
    ///
    /// Measures must be one sum or count times a factor of the query, such as P, R, AP, RR, nDCG,
    /// ERR and RBP. Only averages are computed: statistics and values of single queries come from
    /// [`Evaluator::evaluate`].
    ///
    /// ```no_run
    /// use laneval::gpu::{AdapterChoice, Gpu};
    /// use laneval::{Evaluator, LabelMatrix};
    /// let matrix = LabelMatrix::map("run.lmx")?;
    /// let gpu = Gpu::open(AdapterChoice::Hardware)?;
    /// let loaded = gpu.load(&matrix)?;
    /// let resident = Evaluator::new(["AP", "RR", "nDCG@10"])?.resident(&loaded)?;
    /// let averages = resident.averages()?;
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// A measure of another kind, and what the device refuses.
    pub fn resident<'a>(&self, loaded: &'a LoadedMatrix<'a>) -> Result<ResidentEvaluator<'a>> {
        let matrix = loaded.matrix();
        self.check_resident(matrix)?;
        let (slots, _) = Slots::new(matrix.runs().len(), matrix.queries(), None, None)?;
        self.check(&matrix, &slots)?;
        let plan = self.plan(matrix.codebook())?;
        let prepared = plan.prepare(&matrix.batch());
        let products = prepared.products().map_err(|measure| {
            Error::Unanswerable(format!(
                "{measure} is not a sum or count times a factor of the query: it cannot be \
                 averaged on the device"
            ))
        })?;
        let (program, inputs) = (plan.program(), prepared.inputs());
        let view = self.settings.view;
        let job = Job { batch: matrix.batch(), view, program, inputs, watch: None };
        let counts = (0..matrix.runs().len()).map(|run| match self.settings.queries {
            QuerySet::Common => matrix.run_depths(run).iter().filter(|&&depth| depth > 0).count(),
            QuerySet::Judged | QuerySet::RequireAll => matrix.queries().len(),
        });
        Ok(ResidentEvaluator {
            reducer: Reducer::new(loaded, &job, &products, |at| self.measures[at].to_string())?,
            counts: counts.collect(),
        })
    }

    /// Rejects options and a matrix whose averages cannot be computed on the device alone.
    fn check_resident(&self, matrix: &LabelMatrix) -> Result<()> {
        if self.settings.tied != TiedValue::Ranked {
            return unanswerable(
                "the device has no values over all orders of equal scores, only those of the \
                 matrix's order",
            );
        }
        if self.settings.relevant_from.is_retrieved() {
            return unanswerable(
                "the device has the relevant documents that were judged, and not those that each \
                 run retrieved",
            );
        }
        if self.only.is_some() || self.groups.is_some() {
            return unanswerable(
                "queries can be neither chosen nor grouped if only averages come back from the \
                 device",
            );
        }
        if !matrix.codebook().is_exact() {
            return unanswerable(
                "there are more distinct grades than codes, and exact grades are added up on the \
                 CPU",
            );
        }
        Ok(())
    }
}

impl ResidentEvaluator<'_> {
    /// Computes the averages of every run on the GPU, `[run][measure]`; NaN for a run without
    /// queries that count.
    ///
    /// Other averages are finite: a value is a bounded integer on the device, and a measure without
    /// a bound is refused beforehand.
    ///
    /// # Errors
    /// A device that was lost.
    pub fn averages(&self) -> Result<Vec<Vec<f64>>> {
        let sums = self.reducer.sums()?;
        // A run without queries that count is 0 / 0, which is NaN.
        let averages = self
            .counts
            .iter()
            .enumerate()
            .map(|(run, &count)| sums.iter().map(|sums| sums[run] / count as f64).collect());
        Ok(averages.collect())
    }

    /// Returns a bound on the error of each average from the GPU, besides the rounding of f64. Sums
    /// are made of integers, and each value is rounded once.
    pub fn errors(&self) -> Vec<f64> {
        self.reducer.errors()
    }
}

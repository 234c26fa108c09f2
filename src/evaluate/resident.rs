//! Repeated averages of measures over labels that stay on a GPU: only averages come back.

use super::Evaluator;
use super::slots::Slots;
use crate::engine::Job;
use crate::engine::gpu::Loaded;
use crate::engine::gpu::reduce::Reducer;
use crate::error::{Error, Result};
use crate::scores::{Known, QuerySet, TiedValue};

/// Measures over resident labels, ready to be averaged any number of times.
pub struct Resident<'a> {
    reducer: Reducer<'a>,
    /// The number of queries that count, by run.
    counts: Vec<usize>,
}

impl Evaluator {
    /// Prepares averages of the measures on the device: facts about the queries are computed and
    /// sent to the device once.
    ///
    /// Measures must be one sum or count times a factor of the query, such as P, R, AP, RR, nDCG,
    /// ERR and RBP. Only averages are computed: statistics and values of single queries come from
    /// [`Evaluator::evaluate`].
    ///
    /// ```no_run
    /// use laneval::gpu::{Choice, Gpu};
    /// use laneval::{Evaluator, LabelMatrix};
    /// let matrix = LabelMatrix::map("run.lmx")?;
    /// let gpu = Gpu::open(Choice::Hardware)?;
    /// let loaded = gpu.load(&matrix)?;
    /// let resident = Evaluator::new(["AP", "RR", "nDCG@10"])?.resident(&loaded)?;
    /// let averages = resident.averages()?;
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// A measure of another kind, and what the device refuses.
    pub fn resident<'a>(&self, loaded: &'a Loaded<'a>) -> Result<Resident<'a>> {
        let matrix = loaded.matrix();
        if self.tied != TiedValue::Ranked {
            let message = "the device has no values over all orders of equal scores, only those of \
                           the matrix's order";
            return Err(Error::Unanswerable(message.to_owned()));
        }
        if self.known != Known::Judged {
            let message = "the device has the relevant documents that were judged, and not those \
                           that each run retrieved";
            return Err(Error::Unanswerable(message.to_owned()));
        }
        if self.only.is_some() || self.groups.is_some() {
            let message = "queries can be neither chosen nor grouped if only averages come back \
                           from the device";
            return Err(Error::Unanswerable(message.to_owned()));
        }
        if !matrix.book().is_exact() {
            let message = "there are more distinct grades than codes, and exact grades are added \
                           up on the CPU";
            return Err(Error::Unanswerable(message.to_owned()));
        }
        let (slots, _) = Slots::new(matrix.runs().len(), matrix.queries(), None, None)?;
        self.check(&matrix, &slots)?;
        let plan = self.plan(matrix.book())?;
        let prepared = plan.prepare(&matrix.batch());
        let products = prepared.products().map_err(|measure| {
            Error::Unanswerable(format!(
                "{measure} is not a sum or count times a factor of the \
                                         query: it cannot be averaged on the device"
            ))
        })?;
        let (program, inputs) = (plan.program(), prepared.inputs());
        let job = Job { batch: matrix.batch(), view: self.view, program, inputs, watch: None };
        let counted = |run: usize| match self.queries {
            QuerySet::Both => matrix.run_depths(run).iter().filter(|&&depth| depth > 0).count(),
            QuerySet::Judged | QuerySet::Complete => matrix.queries().len(),
        };
        Ok(Resident {
            reducer: Reducer::new(loaded, &job, &products, |at| self.measures[at].to_string())?,
            counts: (0..matrix.runs().len()).map(counted).collect(),
        })
    }
}

impl Resident<'_> {
    /// Returns the averages of every run, `[run][measure]`; NaN for a run without queries that
    /// count.
    ///
    /// Other averages are finite: a value is a bounded integer on the device, and a measure without
    /// a bound is refused beforehand.
    ///
    /// # Errors
    /// A device that was lost.
    pub fn averages(&self) -> Result<Vec<Vec<f64>>> {
        let sums = self.reducer.sums()?;
        let of = |(run, &count): (usize, &usize)| {
            sums.iter().map(|sums| sums[run] / count as f64).collect()
        };
        Ok(self.counts.iter().enumerate().map(of).collect())
    }

    /// Returns how far each average can be off, besides the rounding of f64: sums are made of
    /// integers, and each value is rounded once.
    pub fn errors(&self) -> Vec<f64> {
        self.reducer.errors()
    }
}

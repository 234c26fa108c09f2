//! Sinks: receivers of each query's values of the measures, while runs are evaluated.

use crate::matrix::Batch;

/// A receiver of the values of single queries during an evaluation, some rows at a time, in any
/// order. A sink can compute statistics missing from a summary, such as a median.
///
/// Each worker has a sink of its own, and in the end the sinks are merged.
///
/// ```
/// use laneval::labels::Batch;
/// use laneval::{Evaluator, Join, ValueSink};
///
/// /// How many queries have no relevant document among the first ten.
/// #[derive(Default)]
/// struct Failures(usize);
///
/// impl ValueSink for Failures {
///     fn values(&mut self, _: &Batch<'_>, rows: &[u32], values: &[f64]) {
///         let of_first_measure = &values[..rows.len()];
///         self.0 += of_first_measure.iter().filter(|&&value| value == 0.0).count();
///     }
///
///     fn merge(&mut self, other: Self) {
///         self.0 += other.0;
///     }
/// }
///
/// let matrix =
///     Join::default().files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
/// let (summary, failures) =
///     Evaluator::new(["Success@10"])?.summary_into(&matrix, Failures::default)?;
/// let share = 1.0 - failures.0 as f64 / 40.0;
/// assert_eq!(summary.scores(&[])?.average("demo-bm25.run", "Success@10"), Some(share));
/// # Ok::<(), laneval::Error>(())
/// ```
pub trait ValueSink: Send {
    /// Receives the values of some rankings of a batch that count, `[measure][row]`. [`Batch::run`]
    /// and [`Batch::query`] tell the run and the query of a row. A query without a value has
    /// [`UNDEFINED`](crate::scores::UNDEFINED).
    fn values(&mut self, batch: &Batch<'_>, rows: &[u32], values: &[f64]);

    /// Adds the values that the sink of another worker has received to this sink.
    fn merge(&mut self, other: Self)
    where
        Self: Sized;
}

/// A sink without effect: it ignores all values.
impl ValueSink for () {
    fn values(&mut self, _: &Batch<'_>, _: &[u32], _: &[f64]) {}

    fn merge(&mut self, _: Self) {}
}

/// A sink that keeps the values of all queries if `parts` is set.
#[derive(Default)]
pub(super) struct ValueCollector {
    /// Rows with their values, `[measure][row]`, in any order.
    pub parts: Option<Vec<(Vec<u32>, Vec<f64>)>>,
}

impl ValueSink for ValueCollector {
    fn values(&mut self, _: &Batch<'_>, rows: &[u32], values: &[f64]) {
        if let Some(parts) = &mut self.parts {
            parts.push((rows.to_vec(), values.to_vec()));
        }
    }

    fn merge(&mut self, other: Self) {
        if let (Some(parts), Some(others)) = (&mut self.parts, other.parts) {
            parts.extend(others);
        }
    }
}

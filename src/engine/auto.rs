//! The choice of the engine for `--engine auto`: the CPU, unless a GPU promises to be much faster.
//!
//! The CPU's time is guessed from the number of labels and folds, the GPU's from the time to open a
//! device and to send the labels up: kernels and answers are left out, as the way up alone decides
//! for labels that are evaluated once. Nothing is measured at run time, because a measurement would
//! cost more than most evaluations take (1.4 ms for 6,980 queries of depth 1000). A device is
//! opened only after the guess is for it, since opening is what takes long.

use super::ChosenEngine;
use super::cpu::Cpu;

/// A CPU or GPU engine that was chosen, with the reason for the choice.
pub struct SelectedEngine {
    /// The engine.
    pub engine: ChosenEngine,
    /// The reason, in a few words; empty if the engine was asked for.
    pub why: String,
    /// The error of a GPU that would have been taken, if it had not refused.
    pub refused: Option<String>,
}

impl SelectedEngine {
    /// Wraps an engine that the user asked for, without a reason.
    pub fn requested(engine: ChosenEngine) -> Self {
        Self { engine, why: String::new(), refused: None }
    }
}

/// Chooses the CPU or a GPU for `labels` labels and `folds` folds over them, by estimated time.
///
/// The estimates are rough: labels that are evaluated once must go up to a GPU first, and opening
/// one takes longer than most evaluations.
pub fn select(labels: u64, folds: usize) -> SelectedEngine {
    /// The number of labels that a thread folds in a second, one fold at a time.
    const FOLDED: f64 = 4e9;
    let on_cpu = labels as f64 * folds as f64 / (FOLDED * rayon::current_num_threads() as f64);
    let (why, refused) = match gpu(labels as f64, on_cpu) {
        Ok(taken) => return taken,
        Err(reasons) => reasons,
    };
    SelectedEngine { engine: ChosenEngine::Cpu(Cpu::new()), why, refused }
}

/// Opens a GPU if the estimate makes a GPU at least twice as fast as the CPU. The error is the
/// reason against the GPU, and the GPU's own error after a try.
#[cfg(feature = "gpu")]
fn gpu(labels: f64, on_cpu: f64) -> Result<SelectedEngine, (String, Option<String>)> {
    /// The bytes per second to a GPU: the bound for labels evaluated once.
    const UP: f64 = 1e10;
    /// Seconds to open a device.
    const OPEN: f64 = 0.25;
    /// The factor by which a GPU must be faster than the CPU to be tried.
    const FASTER: f64 = 2.0;
    let on_gpu = OPEN + labels / UP;
    if on_cpu < FASTER * on_gpu {
        let why = format!(
            "about {on_cpu:.2} s of work, and sending the labels to a GPU would take {on_gpu:.2} s"
        );
        return Err((why, None));
    }
    match super::gpu::Gpu::open(super::gpu::device::AdapterChoice::Hardware) {
        Ok(gpu) => {
            let why = format!("the CPU would take about {on_cpu:.1} s, this about {on_gpu:.1} s");
            Ok(SelectedEngine {
                why,
                ..SelectedEngine::requested(ChosenEngine::Gpu(Box::new(gpu)))
            })
        }
        Err(error) => Err(("no GPU is ready".to_owned(), Some(error.to_string()))),
    }
}

#[cfg(not(feature = "gpu"))]
fn gpu(_: f64, _: f64) -> Result<SelectedEngine, (String, Option<String>)> {
    Err(("laneval was built without its GPU engine".to_owned(), None))
}

#[cfg(test)]
mod tests {
    use super::super::Engine;
    use super::*;

    #[test]
    fn little_work_stays_on_the_cpu() {
        let taken = select(1_000_000, 5);
        assert!(taken.engine.describe().starts_with("cpu"));
        assert!(taken.refused.is_none());
    }
}

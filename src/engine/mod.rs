//! Engines: they run a [`Program`](crate::fold::Program) over the tiles of a batch. They know folds
//! and labels, never measures.

pub mod auto;
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod walk;

#[cfg(feature = "internals")]
pub mod folds_alone;
mod job;

use fearless_simd::Level;

use crate::error::Result;

pub(crate) use job::in_parallel;
pub use job::{Engine, Gather, Job};

/// An engine that was chosen at run time.
pub enum ChosenEngine {
    /// The CPU.
    Cpu(cpu::Cpu),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Box<gpu::Gpu>),
}

impl Engine for ChosenEngine {
    fn describe(&self) -> String {
        match self {
            ChosenEngine::Cpu(cpu) => cpu.describe(),
            #[cfg(feature = "gpu")]
            ChosenEngine::Gpu(gpu) => gpu.describe(),
        }
    }

    fn cpu_level(&self) -> Option<Level> {
        match self {
            ChosenEngine::Cpu(cpu) => Some(cpu.level()),
            #[cfg(feature = "gpu")]
            ChosenEngine::Gpu(_) => None,
        }
    }

    fn explain(&self, job: &Job<'_>) -> Vec<String> {
        match self {
            ChosenEngine::Cpu(cpu) => cpu.explain(job),
            #[cfg(feature = "gpu")]
            ChosenEngine::Gpu(gpu) => gpu.explain(job),
        }
    }

    fn run<G: Gather>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        match self {
            ChosenEngine::Cpu(cpu) => cpu.run(job, workers, begin),
            #[cfg(feature = "gpu")]
            ChosenEngine::Gpu(gpu) => gpu.run(job, workers, begin),
        }
    }
}

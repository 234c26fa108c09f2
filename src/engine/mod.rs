//! Engines that run a [`Program`](crate::fold::Program) of folds over tiles of rankings, on the CPU
//! or a GPU. They know folds and labels, never measures.

pub mod auto;
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod walk;

mod job;
#[cfg(feature = "internals")]
pub mod single_folds;

use fearless_simd::Level;

use crate::error::Result;

pub(crate) use job::in_parallel;
pub use job::{Collector, Engine, Job};

/// The CPU engine or a GPU engine, chosen at run time.
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
            Self::Cpu(cpu) => cpu.describe(),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.describe(),
        }
    }

    fn cpu_level(&self) -> Option<Level> {
        match self {
            Self::Cpu(cpu) => Some(cpu.level()),
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => None,
        }
    }

    fn explain(&self, job: &Job<'_>) -> Vec<String> {
        match self {
            Self::Cpu(cpu) => cpu.explain(job),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.explain(job),
        }
    }

    fn run<G: Collector>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        match self {
            Self::Cpu(cpu) => cpu.run(job, workers, begin),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.run(job, workers, begin),
        }
    }
}

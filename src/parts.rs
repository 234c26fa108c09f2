//! Internal items of the library that its tests and benchmarks use, by module. They change without
//! notice.
//!
//! Each name is listed. A part that neither the library nor a test uses is reported as unused, as
//! anything private is.

pub mod compare {
    pub use crate::compare::bootstrap::{RESAMPLES, ResampleKind, Resamples};
    pub use crate::compare::flips::Flips;
    pub use crate::compare::philox::{Philox, purpose, query_hash};
    pub use crate::compare::randomised::{DrawSums, Family, Pair, tallies};
}

pub mod engine {
    pub use crate::engine::{ChosenEngine, Collector, Engine, Job};

    pub mod cpu {
        pub use crate::engine::cpu::Cpu;

        pub mod folds {
            pub use crate::engine::cpu::folds::{
                HitOutputs, cascade, count, count_within, first_rank, histogram, hits,
                inferred_sum, pair_sum, peak_precision, precision_sum, preference_sum,
                weighted_sum,
            };
        }
    }

    #[cfg(feature = "gpu")]
    pub mod gpu {
        pub use crate::engine::gpu::{Gpu, mirror};

        pub mod batch {
            pub use crate::engine::gpu::batch::{BatchResult, PreparedProgram, Sizes};
        }

        pub mod device {
            pub use crate::engine::gpu::device::{Adapter, AdapterChoice, Device};
        }

        pub mod kernels {
            pub use crate::engine::gpu::kernels::kernels;
        }

        pub mod layout {
            pub use crate::engine::gpu::layout::{BatchUniform, ProductUniform, TileEntry};
        }

        pub mod reduce {
            pub use crate::engine::gpu::reduce::{Reducer, ScaledProduct};
        }

        pub mod resident {
            pub use crate::engine::gpu::resident::ResidentLabels;
        }

        pub mod sources {
            pub use crate::engine::gpu::sources::{
                COMMON, FOLDS, JUDGED, REDUCE, with_native_integers,
            };
        }

        pub mod tasks {
            pub use crate::engine::gpu::tasks::{IntegerFold, IntegerProgram};
        }
    }
}

pub mod evaluate {
    pub use crate::evaluate::Evaluation;
}

pub mod fold {
    pub use crate::fold::{
        CodeTable, Columns, Cut, Discount, Factor, Fold, Product, Program, QueryInputs, Task,
        Weights,
    };
}

pub mod generate {
    pub use crate::generate::Synthetic;
}

pub mod matrix {
    pub use crate::matrix::{
        CodesAbove, Document, ExactHistograms, GradeHistograms, MAX_JUDGED, MatrixBuilder, Packing,
        StagedPiece, StagedRow, StagedRun, StagedTies, Tile,
    };

    pub mod code {
        pub use crate::matrix::code::{FIRST_GRADE, NEGATIVE, NOT_IN_QRELS};
    }
}

pub mod measure {
    pub use crate::measure::recipe::Recipe;
}

pub mod reference {
    pub use crate::reference::{FUNCTIONS, Ranking, function};
}

pub mod show {
    pub use crate::show::{ShownJudgment, ShownQueries, ShownRun, SumStep};
}

pub mod stats {
    pub use crate::stats::ExactSum;
}

pub mod ties {
    pub use crate::ties::{
        CodeOrder, Cuts, Expectation, Extreme, SegmentBuffers, Side, TieScratch, TieSegments,
        TiedRanking,
    };
}

pub mod timing {
    pub use crate::timing::Timing;
}

pub mod whole_file {
    pub use crate::atomic_file::write;
}

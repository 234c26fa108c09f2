//! Items of the library for its command-line program and its Python package, and for nobody else.
//! They change without notice.
//!
//! Each name is listed, and a test checks that the command uses every name and that the names stay
//! few. The reason: features built on these parts are out of reach for other programs. A public
//! item inside the crate without a listing counts as unused once its last user goes.

pub use crate::compare::agreement::tau_b;
pub use crate::engine::Engine;
pub use crate::engine::cpu::Cpu;
pub use crate::engine::single_folds::SingleFolds;
pub use crate::evaluate::{Evaluation, missing_topic_value};
pub use crate::generate::Synthetic;
#[cfg(feature = "report")]
pub use crate::report::long::{columns, rows};
pub use crate::show::{
    RankTerms, RankedDocument, ShownJudgment, ShownQueries, ShownQuery, ShownRun, SumStep, Term,
    TermOrigin,
};
pub use crate::timing::Timing;
pub use laneval_read::rows::preview::Preview;
pub use laneval_read::text::streaming::StreamingText;

pub mod whole_file {
    pub use crate::atomic_file::{check, make_folder, remove_unfinished, write};
}

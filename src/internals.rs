//! Parts for the command of this repository. They change without notice.
//!
//! Each name is listed, and a test holds that all of them are used and that they stay few: whatever
//! the command takes from here, other programs cannot do. What is public inside and listed nowhere
//! counts as unused once nothing uses it.

pub use crate::compare::agreement::tau_b;
pub use crate::engine::Engine;
pub use crate::engine::cpu::Cpu;
pub use crate::engine::folds_alone::FoldsAlone;
pub use crate::evaluate::{Evaluation, of_one_unpooled};
pub use crate::generate::Synthetic;
pub use crate::ingest::{PassingText, Preview};
#[cfg(feature = "report")]
pub use crate::report::long::{columns, rows};
pub use crate::show::{
    How, InRun, LastLine, RankTerms, RankedDocument, Shown, ShownJudgment, ShownQuery, Term,
};
pub use crate::timing::Timing;

pub mod whole_file {
    pub use crate::whole_file::{abandon, check, make_folder, write};
}

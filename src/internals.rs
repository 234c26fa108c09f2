//! Parts for the command of this repository. The parts change without notice.
//!
//! Each name is listed, and a test checks that the command uses every name and that the names stay
//! few. The reason: features built on these parts are out of reach for other programs. A public
//! item inside the crate without a listing counts as unused once its last user goes.

pub use crate::compare::agreement::tau_b;
pub use crate::engine::Engine;
pub use crate::engine::cpu::Cpu;
pub use crate::engine::folds_alone::FoldsAlone;
pub use crate::evaluate::{Evaluation, of_one_unpooled};
pub use crate::generate::Synthetic;
#[cfg(feature = "report")]
pub use crate::report::long::{columns, rows};
pub use crate::show::{
    How, InRun, LastLine, RankTerms, RankedDocument, Shown, ShownJudgment, ShownQuery, Term,
};
pub use crate::timing::Timing;
pub use laneval_read::rows::preview::Preview;
pub use laneval_read::text::passing::PassingText;

pub mod whole_file {
    pub use crate::whole_file::{abandon, check, make_folder, write};
}

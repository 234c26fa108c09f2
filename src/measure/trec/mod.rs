//! The measures of trec_eval under its own names, in its own order, with its own parameters: the
//! meaning of its option `-m`.
//!
//! ```text
//! registry   the measures of trec_eval, in its order
//! params     what stands after the `.` of a measure
//! request    what was asked for → columns
//! version    trec_eval 9 or 10
//! ```

mod params;
mod registry;
mod request;
mod version;

pub use registry::{NICKNAMES, TrecMeasure, registry};
pub use request::{LineKind, RefusedMeasure, Request, TopicColumn, TopicSource};
pub use version::Version;

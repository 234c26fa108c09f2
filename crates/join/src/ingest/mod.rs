//! From text to labels: qrels and runs are read, joined and ranked in one pass.
//!
//! Its folders are layers, and each layer knows only the layers before it in this list:
//!
//! ```text
//! bytes      inputs, compression, ids as hashes
//! lines      chunks, lines, fields, numbers, and the problems of lines
//! columns    rows that are columns in memory
//! format     the format of a text, and rows that are made of formats other than TREC and tables
//! units      the unit that a result or a judgment counts for
//! text       an input that is opened and whose format is known
//! rows       rows one after another, as they stand in a text
//! record     a row as 32 bytes, and the records of a query together
//! join       the records of judgments and of runs become labels
//! settings   what a join is asked for
//! ```
//!
//! A dialect (see `dialect`) decides which lines are valid. The result depends neither on the
//! number of threads nor on where the text is cut.
//!
//! TREC, with fields between blanks, blank lines skipped, and comments as the dialect says
//! (docs/formats.md has the other formats):
//!
//! ```text
//! qrels   query iter docno grade                  a grade < 0: pooled, but not judged
//! run     query iter docno rank score tag …       scores are sorted; the rank is ignored, unless
//!                                                 it is to order equal scores
//! ```

mod bytes;
pub mod columns;
mod format;
mod join;
mod lines;
mod record;
mod rows;
mod settings;
mod text;
mod units;

pub use bytes::input::{Input, RunInput};
pub use format::tables;
pub use format::{ColumnNames, InputFormat, OptionStyle, ReadAs, Recognised, RecognisedText};
pub use join::facets::JudgmentsByFacet;
pub use join::passing;
pub use join::picks::{Picked, PickedQuery, Retrieved, RetrievedSpan};
pub use join::qrels::Qrels;
pub use lines::dialect::Dialect;
pub use rows::preview::{Preview, PreviewRow};
pub use rows::text_rows::{TextRank, TextRow};
pub use settings::Join;
pub use text::passing::PassingText;
pub use units::map::UnitMap;
pub use units::rule::Units;

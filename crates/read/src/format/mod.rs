//! The formats of judgments and runs: how a format is recognised, and how rows are read.
//!
//! It must never know records, judgments and rankings.
//!
//! ```text
//! input_format      the formats
//! read_options      what a caller says of an input where its content does not decide
//! open_input        an open input
//! row_layout        the format of a text, and how its rows are read
//! detected_formats  the formats that were detected, for `-v`
//! detect            the format of a text by its first lines: a file for each family of formats
//! names             the columns or keys that are read
//! sequence          formats that are read from the start of a text to its end
//! json              records, lists, objects of queries, and files of platforms
//! fields            rows of which any columns are read by their names
//! span_columns      the columns of passages
//! letor             judgments among features, and files of scores
//! npy               matrices of NumPy
//! neighbours        ids of nearest neighbours
//! tables            files of tables, which another crate reads as columns
//! ```
//!
//! Rows of TREC text and of tables are read where they lie. All other formats copy the fields of
//! their rows to batches: line by line on all threads, or in sequence on one, while others work on
//! the rows. Only the cells of a valid matrix in memory are read without rows.

pub mod detect;
pub mod detected_formats;
pub mod fields;
pub mod input_format;
pub mod json;
pub mod letor;
pub mod lmx;
pub mod names;
mod neighbours;
pub mod npy;
pub mod open_input;
pub mod read_options;
pub mod row_layout;
pub mod sequence;
pub mod span_columns;
pub mod tables;

pub use super::lines::{grade_words::GradeWords, options::OptionStyle};
pub use detected_formats::{DetectedFile, DetectedFormats};
pub use input_format::InputFormat;
pub use names::ColumnNames;
pub use read_options::ReadOptions;
pub use row_layout::{AlignedQrels, OtherFormat, RowLayout, RowShape, UNGRADED};

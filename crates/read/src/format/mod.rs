//! The formats of judgments and runs: how a format is recognised, and how rows are read.
//!
//! It must never know records, judgments and rankings.
//!
//! ```text
//! input_format, read_as   the formats, and what is said of them where the content does not decide
//! opened    an input that is open
//! form      the format of a text, and how its rows are read; recognised: those that were
//! look      a look at the first lines of a text
//! tell      recognises the format of a text by its first lines; tell_file, tell_ids, tell_json,
//!           tell_letor, tell_platform and tell_table by what is in them
//! names     finds the columns or keys that are read
//! made      rows that are made of another format, a line each
//! json      objects of queries with objects of documents
//! records   objects that are a judgment or a result
//! alike     records of JSON that are written alike, without reading their keys
//! fields    rows of which any columns are read by their names; span_columns: those of passages
//! lists     objects that have a list of judgments or results
//! platforms large objects with judgments or results somewhere in them, as platforms write them
//! letor     judgments among features, and files of scores
//! npy       matrices of NumPy
//! neighbours   ids of nearest neighbours, of which `tell_ids` tells the format
//! tables    files of tables, which another crate reads as columns
//! foreign   texts that are in no known format
//! ranked    tables whose ranks do not stand right behind the documents
//! ```
//!
//! TREC text and tables (see `scan` and `table`) are read in place. The other formats are turned
//! into lines while they are read. The made lines are read like compressed text: by blocks, while
//! another thread works on the rows. Only the cells of a valid matrix in memory are read without
//! lines.

mod alike;
pub mod fields;
pub mod foreign;
pub mod form;
pub mod input_format;
pub mod json;
pub mod letor;
pub mod lists;
pub mod lmx;
pub mod look;
pub mod made;
pub mod names;
mod neighbours;
pub mod npy;
pub mod opened;
mod platforms;
pub mod ranked;
pub mod read_as;
pub mod recognised;
pub mod records;
pub mod span_columns;
pub mod tables;
pub mod tell;
mod tell_file;
mod tell_ids;
mod tell_json;
mod tell_letor;
mod tell_platform;
mod tell_table;

pub use super::lines::options::OptionStyle;
pub use form::{Form, Partner, RowMaker, RowShape};
pub use input_format::InputFormat;
pub use names::ColumnNames;
pub use read_as::ReadAs;
pub use recognised::{Recognised, RecognisedText};

//! Arrow tables, and Parquet and Arrow files, read as judgments and runs of laneval.
//!
//! Columns are borrowed without a copy: text of any kind, codes of dictionaries, numbers of any
//! type.
//!
//! ```
//! # #[cfg(feature = "parquet")] {
//! use laneval::{Evaluator, Join};
//!
//! let join = Join { tables: Some(&laneval_formats::Files), ..Join::default() };
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/formats");
//! let matrix = join.files(format!("{folder}/qrels.tsv"), [format!("{folder}/run.parquet")])?;
//! let scores = Evaluator::new(["nDCG@10"])?.evaluate(&matrix)?;
//! assert_eq!(format!("{:.4}", scores.average("run.parquet", "nDCG@10").unwrap()), "0.6503");
//! # }
//! # Ok::<(), laneval::Error>(())
//! ```

#[cfg(feature = "parquet")]
mod arrow;
mod columns;
#[cfg(feature = "parquet")]
mod file;
mod lists;
#[cfg(feature = "parquet")]
mod panics;
mod table;
#[cfg(feature = "parquet")]
mod write;

#[cfg(feature = "parquet")]
pub use self::{
    file::Files,
    panics::silence_reader_panics,
    write::{ColumnKind, ParquetWriter, RowCell},
};
pub use lists::has_lists;
pub use table::ArrowTable;

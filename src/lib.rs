//! laneval evaluates ranked retrieval offline: runs and relevance judgments in, AP, nDCG, RR,
//! recall, ERR … out.
//!
//! A [`Join`] turns rankings and judgments into a [`LabelMatrix`] of one byte for each retrieved
//! document, in memory or as a file that can be mapped later. An [`Evaluator`] plans its
//! [`Measure`]s for the grades, folds over the matrix with SIMD on all cores or on a GPU, and
//! finishes each measure in f64, with the same bits as trec_eval. The results are [`Scores`], or a
//! [`Summary`] to be merged with the summaries of further shards. `docs/rust.md`, beside these
//! sources, is a page for newcomers.
//!
//! # Five uses
//!
//! Files, as trec_eval reads them:
//!
//! ```
//! use laneval::{Evaluator, Join};
//!
//! let matrix =
//!     Join::default().files("examples/data/tutorial.qrels", ["examples/data/tutorial.run"])?;
//! let scores = Evaluator::new(["nDCG@10", "AP", "P@[5,10]"])?.evaluate(&matrix)?;
//! assert_eq!(format!("{:.4}", scores.average("tutorial.run", "nDCG@10").unwrap()), "0.8417");
//! # Ok::<(), laneval::Error>(())
//! ```
//!
//! Rankings in memory, the judgments read once for any number of them, with a confidence interval:
//!
//! ```
//! use laneval::{Evaluator, Join, Qrels, Stat, StatName};
//!
//! let qrels = Qrels::new([("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d3", 1.0)])?;
//! let run = [("q1", "d2", 12.5), ("q1", "d1", 11.0), ("q2", "d3", 0.5)];
//! let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
//! let scores = Evaluator::new(["AP"])?.with_stats([Stat::Ci95]).evaluate(&matrix)?;
//! let run = scores.run("mine").unwrap();
//! assert!(run.stat(0, StatName::Ci95Low) <= run.average(0) && run.average(0) == Some(0.75));
//! # Ok::<(), laneval::Error>(())
//! ```
//!
//! A label matrix as a file, joined once and evaluated often, and the value of every query:
//!
//! ```
//! use laneval::{Evaluator, Join, LabelMatrix};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("demo.lmx");
//! let runs = ["examples/data/demo-bm25.run", "examples/data/demo-dense.run"];
//! Join::default().files("examples/data/demo.qrels", runs)?.write(&path)?;
//! let matrix = LabelMatrix::map(&path)?;
//! let scores = Evaluator::new(["RR", "ERR"])?.with_per_query(true).evaluate(&matrix)?;
//! let best = scores.rows().filter(|row| row.query.is_some() && row.value == 1.0).count();
//! assert_eq!(best, 53);
//! # Ok::<(), laneval::Error>(())
//! ```
//!
//! Shards, evaluated on any machine: summaries merged in any order give the bits of one pass:
//!
//! ```
//! use laneval::{Evaluator, Join, Qrels, Summary};
//!
//! let evaluator = Evaluator::new(["nDCG@10"])?;
//! let shard = |query: &str| {
//!     let qrels = Qrels::new([(query, "d1", 1.0)])?;
//!     evaluator.summary(
//!         &Join::default().rankings(&qrels, [("mine".to_owned(), [(query, "d1", 1.0)])])?,
//!     )
//! };
//! let (mut all, bytes) = (shard("q1")?, shard("q2")?.to_bytes());
//! all.merge(&Summary::from_bytes(&bytes)?)?;
//! assert_eq!(all.scores(&[])?.run("mine").unwrap().queries, 2);
//! # Ok::<(), laneval::Error>(())
//! ```
//!
//! A report, and scores as data (feature `report`):
//!
//! ```
//! # #[cfg(feature = "report")] {
//! use laneval::report::{Format, ReportOptions};
//! use laneval::{Evaluator, Join};
//!
//! let matrix =
//!     Join::default().files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
//! let scores = Evaluator::new(["AP", "P@10"])?.evaluate(&matrix)?;
//! let mut table = Vec::new();
//! Format::Table.write(&scores, &ReportOptions::default(), &mut table).unwrap();
//! assert!(serde_json::to_value(&scores).unwrap()["schema"] == 1);
//! # }
//! # Ok::<(), laneval::Error>(())
//! ```
//!
//! # Features
//!
//! `gpu` (default): the GPU engine. Without it the library does not depend on wgpu.
//!
//! `report` (default): scores as tables, TSV, CSV, JSON and lines of trec_eval, in the module
//! `report`.
//!
//! `serde`: scores and summaries as data for other programs; `report` brings it.
//!
//! `internals`, `parts`: for the command, and for the tests and benches, of this repository. They
//! change without notice.

// `println!` and `eprintln!` panic where nothing can be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate laneval_read;

#[cfg(test)]
#[path = "../tests/cases.rs"]
mod cases;
pub mod compare;
#[cfg(feature = "serde")]
pub mod conformance;
mod engine;
mod evaluate;
mod fold;
#[cfg(feature = "internals")]
mod generate;
pub mod identify;
pub mod measure;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod options;
mod plan;
pub mod pools;
mod reference;
#[cfg(feature = "report")]
pub mod report;
pub mod scores;
#[cfg(feature = "internals")]
mod show;
mod stats;
pub mod summary;
mod ties;
mod timing;
mod topics;

// The packages below.
#[doc(inline)]
pub use laneval_join::arrays;
#[cfg(feature = "internals")]
use laneval_join::settings;
use laneval_join::{facets, join, matrix};
#[cfg(any(feature = "internals", feature = "serde"))]
use laneval_read::atomic_file;
#[cfg(feature = "internals")]
use laneval_read::doc_ids;
#[doc(inline)]
pub use laneval_read::error;
use laneval_read::text::streaming::StreamingText;
use laneval_read::{
    aggregation, bytes, format, ids, judged_by, lines, numbers, progress, rule, sort,
};

#[doc(inline)]
pub use aggregation::Aggregation;
#[doc(inline)]
pub use bytes::input::{Input, RunInput};
#[doc(inline)]
pub use error::{Error, ErrorKind, Result};
pub use evaluate::{
    EngineChoice, Evaluator, Groups, RankingStream, RunStream, ValueSink, max_threads,
};
#[doc(inline)]
pub use judged_by::FacetKind;
#[doc(inline)]
pub use laneval_join::join::qrels::Qrels;
#[doc(inline)]
pub use laneval_join::settings::Join;
#[doc(inline)]
pub use laneval_read::doc_ids::{map::DocIdMap, rule::DocIdRule};
#[doc(inline)]
pub use laneval_read::excluded::ExcludedDocs;
#[doc(inline)]
pub use laneval_read::format::{ColumnNames, GradeWords, InputFormat, ReadOptions};
#[doc(inline)]
pub use laneval_read::lines::dialect::Dialect;
#[doc(inline)]
pub use matrix::{LabelMatrix, Notice, View};
pub use measure::Measure;
pub use plan::Plan;
#[doc(inline)]
pub use progress::ProgressHandle;
#[doc(inline)]
pub use rule::{ScoreType, TieBreak};
#[doc(inline)]
pub use scores::{QuerySet, RelevantFrom, RunScores, Scores, TiedValue};
pub use stats::{Stat, StatName};
pub use summary::Summary;

/// What a [`LabelMatrix`] consists of: its codebook, rules, runs, ids, batches and ties.
pub mod labels {
    pub use crate::ids::{Ids, Unmatched};
    #[doc(inline)]
    pub use crate::matrix::{
        Batch, Codebook, CutTieCount, MatrixTies, RowTies, RunInfo, ScoreWarnings, SharedJudgments,
        Tie, TieCounts,
    };
    pub use crate::rule::{AppliedAggregation, IdealSource, RankingRule, SettingDifference};
    pub use laneval_read::bytes::mmap::FileAccess;
}

/// Passages of documents by their positions, and judgments of the chunks that documents are cut
/// into.
pub mod spans {
    #[doc(inline)]
    pub use laneval_join::spans::{
        ChunkJudgment, ChunkJudgments, ChunkRule, ChunkingStats, Chunks, DocumentChunk, GoldSpan,
        GoldSpans, Span, SpanError,
    };
}

/// Texts of judgments and runs row by row, the formats that they were recognised as, and texts of
/// queries.
pub mod text {
    pub use crate::topics::QueryTexts;
    #[doc(inline)]
    pub use laneval_read::format::{DetectedFile, DetectedFormats, OptionStyle, UNGRADED};
    pub use laneval_read::lines::row::BareQuery;
    pub use laneval_read::rows::key_values::KeyedValues;
    pub use laneval_read::rows::text_rows::{TextRank, TextRow};
}

/// The agreement between judges of the same documents: Cohen's and Fleiss' κ, Krippendorff's α.
pub mod judges {
    pub use crate::facets::agreement::{
        JudgeAgreement, MAX_PAIRED_JUDGES, PairAgreement, Rating, RatingFault, agreement,
    };
}

/// Runs and judgments as columns in memory, borrowed as they lie, for [`Join::columns`] and
/// [`Qrels::columns`].
///
/// Columns have the layouts of Arrow or of plain slices: any table of queries, documents and scores
/// fits without a copy. `FacetQrelsBuilder` takes single judgments by facet without columns.
pub mod columns {
    pub use crate::numbers::{Integers, Numbers};
    pub use laneval_join::join::facets::FacetQrelsBuilder;
    pub use laneval_read::columns::{IdColumn, QrelsColumns, RunColumns};
}

/// The interface between [`Join::tables`] and a crate that reads table files, such as Parquet.
pub mod tables {
    pub use laneval_read::format::tables::{
        ColumnIndices, ListColumns, MissingColumn, Table, TableBytes, TableColumns, TableError,
        TableFile, TableReader, with_judgments, with_records,
    };
}

/// `.lmx` files: their sections, and what happens when a mapped file shrinks.
pub mod lmx {
    pub use laneval_join::lmx::{Description, Section, VERSION};
    pub use laneval_read::bytes::sigbus::exit_when_a_mapped_file_shrinks;
}

/// Labels that stay on a GPU, and the list of GPUs.
#[cfg(feature = "gpu")]
pub mod gpu {
    pub use crate::engine::gpu::device::{Adapter, AdapterChoice, adapters};
    pub use crate::engine::gpu::{Gpu, LoadedMatrix};
    pub use crate::evaluate::resident::ResidentEvaluator;
}

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
#[cfg(feature = "parts")]
#[doc(hidden)]
pub mod parts;

/// The examples of the README, run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the documentation page on Rust (`docs/rust.md`), run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
struct Rust;

/// The examples of the documentation page on shards and streams (`docs/shards.md`), run as doc
/// tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/shards.md")]
struct Shards;

/// The examples of the documentation page on formats (`docs/formats.md`), run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/formats.md")]
struct FormatsPage;

/// The examples of the documentation page on nearest neighbours (`docs/neighbours.md`), run as doc
/// tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/neighbours.md")]
struct NeighboursPage;

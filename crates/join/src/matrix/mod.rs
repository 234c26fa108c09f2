//! The label matrix: rankings joined to judgments, one byte for each retrieved document, and
//! nothing else.
//!
//! Documents and their ids are dropped at this stage. A *row* is one ranking, a (run, query) pair;
//! a *column* is a rank; a *label* is a [`code`] of the [`Codebook`]. Rows are packed side by side
//! into [`Tile`]s, which the engines read in place.

mod batch;
mod block;
pub mod classes;
pub mod code;
pub(crate) mod column;
mod counted;
pub mod exact;
pub(crate) mod facets;
pub(crate) mod facts;
mod judge;
pub(crate) mod label_matrix;
pub(crate) mod listed;
pub(crate) mod notice;
pub(crate) mod passages;
mod place;
pub(crate) mod ragged;
pub(crate) mod retrieved;
pub(crate) mod shared_judgments;
pub(crate) mod tied;
pub(crate) mod tile;
pub(crate) mod unit_counts;
mod unpacked;
mod view;

pub use batch::Batch;
pub use block::Block;
pub use code::{Above, Codebook};
pub use exact::{ExactFacts, ExactGrades, QueryGrades};
pub use facets::{FacetJudgment, FacetRows, Facets, QueryFacets};
pub use facts::{Facts, MOST_JUDGED, QueryFacts};
pub use label_matrix::{LabelMatrix, MatrixBuilder, RunInfo, StagedPiece, StagedRow, StagedRun};
pub use listed::ListedDocument;
pub use notice::{Notice, ScoresSeen};
pub use passages::{GoldFacts, RankedSpans, SpanAtRank, SpanRows};
pub use ragged::Ragged;
pub use ragged::{compact, pieces};
pub use retrieved::RetrievedFacts;
pub use shared_judgments::SharedJudgments;
pub use tied::{AlikeGroup, CutOff, RowTies, StagedTies, TieCounts, TiedGroup, TiedGroups};
pub use tile::GROUP;
pub use tile::{DEEPEST, Document, LANES, NARROW_LANES, Packing, Tile, TileSpan};
pub use unit_counts::UnitCounts;
pub use unpacked::Unpacked;
pub use view::View;

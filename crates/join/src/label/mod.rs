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
mod column;
mod counted;
pub mod exact;
mod facets;
mod facts;
mod format;
mod ids;
mod judge;
mod listed;
mod lost_pages;
mod matrix;
pub mod mmap;
mod notice;
mod passages;
mod place;
mod ragged;
mod repeats;
mod retrieved;
mod rule;
mod shared_judgments;
mod tied;
mod tile;
mod unpacked;
mod view;

pub use batch::Batch;
pub use block::Block;
pub use code::{Above, Codebook};
pub use exact::{ExactFacts, ExactGrades, QueryGrades};
pub use facets::{FacetJudgment, FacetRows, Facets, JudgedBy, QueryFacets};
pub use facts::{Facts, MOST_JUDGED, QueryFacts};
pub use format::{Description, Section, VERSION};
pub use ids::{Ids, Unmatched};
pub use listed::ListedDocument;
pub use lost_pages::exit_when_a_mapped_file_shrinks;
pub use matrix::{LabelMatrix, MatrixBuilder, RunInfo, StagedPiece, StagedRow, StagedRun};
pub use mmap::FileAccess;
pub use notice::{Notice, ScoresSeen};
pub use passages::{GoldFacts, RankedSpans, SpanAtRank, SpanRows};
pub use ragged::Ragged;
pub use ragged::{compact, pieces};
pub use repeats::{Repeats, UnitCounts};
pub use retrieved::RetrievedFacts;
pub use rule::{IdealOf, RankingRule, ScoreType, SettingDifference, Ties, UnitRule};
pub use shared_judgments::SharedJudgments;
pub use tied::{AlikeGroup, CutOff, RowTies, StagedTies, TieCounts, TiedGroup, TiedGroups};
pub use tile::GROUP;
pub use tile::{AlignedBytes, DEEPEST, Document, LANES, NARROW_LANES, Packing, Tile, TileSpan};
pub use unpacked::Unpacked;
pub use view::View;

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
pub mod exact;
pub(crate) mod facets;
pub(crate) mod histograms;
mod judge;
pub(crate) mod label_matrix;
pub(crate) mod notice;
pub(crate) mod passages;
pub(crate) mod ragged;
pub(crate) mod retrieved;
mod retrieved_counts;
pub(crate) mod shared_judgments;
pub(crate) mod sparse;
pub(crate) mod ties;
pub(crate) mod tile;
mod transpose;
pub(crate) mod unit_counts;
mod unpacked;
mod view;

pub use self::{
    batch::Batch,
    block::Block,
    code::{Codebook, CodesAbove},
    exact::{ExactGrades, ExactHistogram, ExactHistograms},
    facets::{FacetJudgment, FacetRows, Facets, QueryFacets},
    histograms::{GradeHistogram, GradeHistograms, MAX_JUDGED},
    label_matrix::{LabelMatrix, MatrixBuilder, RunInfo, StagedPiece, StagedRow, StagedRun},
    notice::{Notice, ScoreWarnings},
    passages::{GoldCounts, RankedSpan, SpanRanking, SpanRows},
    ragged::{Ragged, pieces},
    retrieved::RetrievedHistograms,
    shared_judgments::SharedJudgments,
    sparse::SparseDocument,
    ties::{CutTieCount, MatrixTies, RowTies, SameGradeTie, StagedTies, Tie, TieCounts},
    tile::{Document, LANES, MAX_TILE_DEPTH, NARROW_LANES, Packing, QUAD, Tile, TileSpan},
    unit_counts::DuplicateCounts,
    unpacked::Unpacked,
    view::View,
};

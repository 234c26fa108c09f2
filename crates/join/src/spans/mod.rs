//! Spans of documents: gold passages by their positions, and the chunks that a pipeline cuts
//! documents into.
//!
//! Judgments of chunks die with the chunking: another size, and none of the ids is left. Judgments
//! of *positions* stay. A span is half-open and counts from 0, in bytes, characters or tokens,
//! whatever both sides agree on. [`GoldSpans::chunk_judgments`] makes ordinary judgments of any
//! chunking of the same documents. Results that are spans too need no chunking: [`GoldPositions`]
//! says how much of gold each brings.

mod chunked;
mod coverage;
mod gold;
mod position;
pub(crate) mod span_rows;

pub use chunked::{ChunkJudgment, ChunkJudgments, ChunkRule, ChunkingStats};
pub use coverage::{CoveredSpans, GoldPositions};
pub use gold::{Chunks, DocumentChunk, GoldSpan, GoldSpans};
pub use position::{Span, SpanError};

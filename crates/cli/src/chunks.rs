//! Passages by their positions, and chunkings of their documents: what `convert` makes judgments
//! of, and `info` describes.

use std::path::{Path, PathBuf};

use clap::Args;
use laneval::spans::{ChunkRule, ChunkingFacts, Chunks, GoldSpans};
use serde_json::json;

use super::choice::PlainFormat;
use super::formats::FormatOptions;
use super::output::print_text;
use super::stop::Stop;
use super::style::{shown, thousands};

/// The options by which judgments of chunks are made.
#[derive(Debug, Args)]
pub struct ChunkOptions {
    /// Make judgments of these chunks: IN is passages (query, document, start, end, grade), and
    /// FILE has chunk, document, start, end
    ///
    /// Positions count from 0, and the end is behind the last one. They may be of bytes, characters
    /// or tokens, the same in both files. Both are records, or tables whose first line has names;
    /// `length` may stand for `end`. With --judgments-by subtopic each passage is a subtopic,
    /// numbered from 0.
    #[arg(long, value_name = "FILE", requires = "qrels", help_heading = "Units")]
    chunks: Option<PathBuf>,
    /// The part of the shorter of chunk and passage that both must share: above 0, at most 1
    /// [default: 0.5]
    #[arg(long, value_name = "PART", requires = "chunks", help_heading = "Units")]
    share: Option<f64>,
}

impl ChunkOptions {
    /// Whether judgments of chunks are asked for.
    pub fn is_asked(&self) -> bool {
        self.chunks.is_some()
    }

    /// The file of chunks.
    pub fn path(&self) -> Option<&PathBuf> {
        self.chunks.as_ref()
    }

    /// The rule by which a chunk has the grade of a passage.
    pub fn rule(&self, by_span: bool) -> Result<ChunkRule, Stop> {
        Ok(ChunkRule::new(self.share.unwrap_or(0.5))?.by_span(by_span))
    }

    /// Reads passages, and the chunks.
    pub fn read(&self, gold: &Path, formats: &FormatOptions) -> Result<(GoldSpans, Chunks), Stop> {
        let chunks = self.chunks.as_deref().unwrap_or_else(|| Path::new("-"));
        read((gold, chunks), formats)
    }
}

fn read(
    (gold, chunks): (&Path, &Path),
    formats: &FormatOptions,
) -> Result<(GoldSpans, Chunks), Stop> {
    if gold == chunks {
        return Err(Stop::new(format!("{} cannot be both passages and chunks", shown(gold))));
    }
    let (as_judgments, _) = formats.read_as();
    Ok((GoldSpans::read(gold, as_judgments.columns.as_ref())?, Chunks::read(chunks)?))
}

/// Prints what a chunking does to passages.
pub fn print_facts(
    (gold, chunks): (&Path, &Path),
    formats: &FormatOptions,
    format: PlainFormat,
) -> Result<(), Stop> {
    let (spans, pieces) = read((gold, chunks), formats)?;
    let facts = spans.chunking_facts(&pieces)?;
    print_text(format == PlainFormat::Table, |to| match format {
        PlainFormat::Json => writeln!(to, "{:#}", document((gold, spans.len()), chunks, &facts)),
        PlainFormat::Table => {
            let (least, median, most, mean) = facts.lengths;
            let count = |number: usize| thousands(number as u64);
            let rows = [
                (
                    "passages",
                    format!(
                        "{}, of {} queries with gold",
                        count(spans.len()),
                        count(facts.queries)
                    ),
                ),
                (
                    "chunks",
                    format!("{} of {} documents", count(facts.chunks), count(facts.documents)),
                ),
                (
                    "length",
                    format!(
                        "{} to {}, median {}, mean {mean:.1}",
                        thousands(least),
                        thousands(most),
                        thousands(median)
                    ),
                ),
                ("gold in chunks", format!("{:.4} of its positions", facts.covered)),
                ("chunks with gold", format!("{:.2} a query", facts.with_gold)),
                ("precision-Ω", format!("{:.4}", facts.omega)),
            ];
            rows.iter().try_for_each(|(what, said)| writeln!(to, "{what:<18}{said}"))
        }
    })
}

/// The facts for programs.
fn document(
    (gold, spans): (&Path, usize),
    chunks: &Path,
    facts: &ChunkingFacts,
) -> serde_json::Value {
    let (least, median, most, mean) = facts.lengths;
    json!({
        "file": gold.to_string_lossy(),
        "chunks_file": chunks.to_string_lossy(),
        "passages": spans,
        "queries": facts.queries,
        "chunks": facts.chunks,
        "documents": facts.documents,
        "length": {"min": least, "median": median, "max": most, "mean": mean},
        "covered": facts.covered,
        "chunks_with_gold": facts.with_gold,
        "precision_omega": facts.omega,
    })
}

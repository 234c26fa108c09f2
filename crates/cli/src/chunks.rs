//! The option `--chunks`: judged passages become judgments of chunks in `convert`, and are compared
//! with them in `info`.

use std::path::Path;

use laneval::options::Given;
use laneval::spans::{ChunkRule, ChunkingStats, Chunks, GoldSpans};
use serde_json::json;

use super::{
    cli_error::{CliResult, fail},
    output::{PlainFormat, print_plain},
    style::{shown, thousands},
};

/// Returns the rule by which a chunk of a document takes the grade of a passage that it overlaps.
pub fn rule(given: &Given, by_span: bool) -> CliResult<ChunkRule> {
    let least = given.value("min-overlap")?.unwrap_or(0.5);
    Ok(ChunkRule::new(least)?.by_span(by_span))
}

/// Reads the judged passages, and the chunks that `--chunks` names.
pub fn read(given: &Given, gold: &Path) -> CliResult<(GoldSpans, Chunks)> {
    let chunks = path(given);
    if gold == chunks {
        return fail(format!("{} cannot be both passages and chunks", shown(gold)));
    }
    let (as_judgments, _) = given.read_options()?;
    Ok((GoldSpans::read(gold, as_judgments.columns.as_ref())?, Chunks::read(chunks)?))
}

/// Returns the path of the file of chunks that `--chunks` names, or else that of stdin.
fn path(given: &Given) -> &Path {
    given.path("chunks").unwrap_or_else(|| Path::new("-"))
}

/// Prints what a chunking of documents does to judged passages, for `laneval info --chunks`.
pub fn print_facts(given: &Given, gold: &Path) -> CliResult<()> {
    let (spans, pieces) = read(given, gold)?;
    let facts = spans.chunking_facts(&pieces)?;
    let format: PlainFormat = given.required("format")?;
    print_plain(format, &document(gold, path(given), spans.len(), &facts), |to| {
        let (least, median, most, mean) = facts.lengths;
        let [least, median, most] = [least, median, most].map(thousands);
        let [passages, queries, pieces, documents] =
            [spans.len(), facts.queries, facts.chunks, facts.documents]
                .map(|count| thousands(count as u64));
        let rows = [
            ("passages", format!("{passages}, of {queries} queries with gold")),
            ("chunks", format!("{pieces} of {documents} documents")),
            ("length", format!("{least} to {most}, median {median}, mean {mean:.1}")),
            ("gold in chunks", format!("{:.4} of its positions", facts.covered)),
            ("chunks with gold", format!("{:.2} a query", facts.with_gold)),
            ("precision-Ω", format!("{:.4}", facts.omega)),
        ];
        rows.iter().try_for_each(|(name, value)| writeln!(to, "{name:<18}{value}"))
    })
}

/// Returns the facts about passages and chunks as JSON, for `laneval info --chunks`.
fn document(gold: &Path, chunks: &Path, spans: usize, facts: &ChunkingStats) -> serde_json::Value {
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

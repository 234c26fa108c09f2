//! Judgments of chunks, made from gold spans (judged passages), and statistics of a chunking by
//! gold.
//!
//! A chunk has the grade of a span if they share at least a given part of the *shorter* of the two.
//! A share of the span alone would reject every chunk smaller than half of a gold passage. A share
//! of the chunk alone would reject every large chunk.

use std::collections::BTreeMap;

use super::{
    coverage::{CoveredSpans, GoldPositions},
    gold::{Chunks, GoldSpans},
    position::Span,
};
use crate::error::{Result, printable};
use crate::lines::diagnostics::pluralize;

/// The rule by which a chunk gets the grade of a gold span: the least share that both have in
/// common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkRule {
    share: f64,
    by_span: bool,
}

impl ChunkRule {
    /// Makes the rule that a chunk gets the grade of a gold span if both share at least `share` of
    /// the shorter. The share is above 0 and at most 1; a half is usual.
    ///
    /// # Errors
    /// Another share.
    pub fn new(share: f64) -> Result<Self> {
        reject_if!(
            !(share > 0.0 && share <= 1.0),
            "a share of {share} is none: a number above 0, and at most 1, was expected"
        );
        Ok(Self { share, by_span: false })
    }

    /// Sets whether each gold span is a subtopic of its own in the judgments of chunks.
    #[must_use]
    pub fn by_span(self, by_span: bool) -> Self {
        Self { by_span, ..self }
    }
}

/// Returns the least whole number of positions that is at least `share` of `length`. The result is
/// exact, for positions may have more digits than a float.
fn least(share: f64, length: u64) -> u64 {
    let bits = share.to_bits();
    // A share above 0 and at most 1 is `whole` / 2^`by`. A subnormal share is far below 1 position
    // of any length.
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let (whole, by) = (u128::from(fraction | 1 << 52), 1075 - exponent.min(1075));
    match exponent {
        0 => 1,
        // The product is below 2^117.
        _ if by >= 117 => 1,
        _ => (whole * u128::from(length)).div_ceil(1 << by) as u64,
    }
}

/// A relevance judgment of a chunk for a query, made from gold spans.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkJudgment<'a> {
    /// The id of the query.
    pub query: &'a [u8],
    /// The number of the span among those of its query by document, start and end, from 0, where
    /// each is a subtopic.
    pub span: Option<u32>,
    /// The id of the chunk.
    pub chunk: &'a [u8],
    /// The grade.
    pub grade: f64,
}

/// Relevance judgments of chunks, made from gold spans, with the number of spans that no chunk
/// holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkJudgments<'a> {
    /// The judgments: queries as they came, then by span where each is a subtopic, then by
    /// document, start and end of the chunk.
    pub rows: Vec<ChunkJudgment<'a>>,
    /// The number of spans of which no chunk has the grade.
    pub lost: usize,
    /// A sentence with the numbers of spans, chunks made from spans, and spans without a chunk.
    pub note: String,
}

/// Statistics of a chunking of documents: lengths of chunks, and the share of gold spans in chunks.
/// Means are over the queries that have a span of a grade above 0.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkingStats {
    /// The number of chunks.
    pub chunks: usize,
    /// The number of documents that have chunks.
    pub documents: usize,
    /// The smallest, the median and the largest length of a chunk, and the mean.
    pub lengths: (u64, u64, u64, f64),
    /// The number of queries with gold.
    pub queries: usize,
    /// The mean share of gold positions that are in any chunk.
    pub covered: f64,
    /// The mean number of chunks that share a position with gold.
    pub with_gold: f64,
    /// Precision-Ω, the mean of |gold ∩ C| / |gold ∪ C|, where C is the positions of all chunks
    /// with gold. The number shows the cost of full recall in this chunking.
    pub omega: f64,
}

impl GoldSpans {
    /// Makes relevance judgments of chunks from the gold spans of the same documents. A chunk has
    /// the largest grade of the spans that it shares enough with, or the grade of each where every
    /// span is a subtopic.
    ///
    /// ```
    /// use laneval::spans::{DocumentChunk, ChunkRule, Chunks, GoldSpan, GoldSpans, Span};
    /// let span = |start, end| Span::new(start, end).unwrap();
    /// let gold =
    ///     GoldSpan { query: b"q1".to_vec(), doc: b"d1".to_vec(), span: span(10, 30), grade: 1.0 };
    /// let gold = GoldSpans::new("gold", [gold]);
    /// let chunk = |id: &str, start, end| DocumentChunk {
    ///     id: id.into(),
    ///     doc: b"d1".to_vec(),
    ///     span: span(start, end),
    /// };
    /// let chunks =
    ///     Chunks::new("chunks", [chunk("c0", 0, 20), chunk("c1", 20, 40), chunk("c2", 40, 60)])
    ///         .unwrap();
    /// let made = gold.chunk_judgments(&chunks, ChunkRule::new(0.5)?)?;
    /// let ids: Vec<&[u8]> = made.rows.iter().map(|row| row.chunk).collect();
    /// assert_eq!(ids, [b"c0", b"c1"]);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Chunks of other documents alone.
    pub fn chunk_judgments<'a>(
        &'a self,
        chunks: &'a Chunks,
        rule: ChunkRule,
    ) -> Result<ChunkJudgments<'a>> {
        self.check(chunks)?;
        let (mut rows, mut lost, mut with) = (Vec::new(), 0, 0);
        for (query, spans) in self.queries() {
            // Chunks by their order in the table, for one may hold several spans.
            let mut largest = BTreeMap::new();
            let before = rows.len();
            for (number, gold) in (0..).zip(spans) {
                let mut any = false;
                for chunk in chunks.overlapping(&gold.doc, gold.span) {
                    let shorter = chunk.span.length().min(gold.span.length());
                    if chunk.span.shared(gold.span) < least(rule.share, shorter) {
                        continue;
                    }
                    any = true;
                    if rule.by_span {
                        let (span, grade) = (Some(number), gold.grade);
                        rows.push(ChunkJudgment { query, span, chunk: &chunk.id, grade });
                    } else {
                        let grade = largest.entry(chunk.place()).or_insert(gold.grade);
                        *grade = grade.max(gold.grade);
                    }
                }
                lost += usize::from(!any);
            }
            rows.extend(largest.into_iter().map(|((.., chunk), grade)| ChunkJudgment {
                query,
                span: None,
                chunk,
                grade,
            }));
            with += usize::from(rows.len() > before);
        }
        let spans = pluralize(self.len(), "span");
        let judgments = match rows.len() {
            count if !rule.by_span => pluralize(count, "chunk"),
            1 => "1 judgment of a chunk".to_owned(),
            count => format!("{count} judgments of chunks"),
        };
        let queries = pluralize(with, "query");
        let rest = match lost {
            0 => String::new(),
            lost => format!("; no chunk shares {} of {}", rule.share, pluralize(lost, "span")),
        };
        let note = format!("{}: {spans} became {judgments} in {queries}{rest}", self.name());
        Ok(ChunkJudgments { rows, lost, note })
    }

    /// Returns the id of the document of each gold span.
    fn docs(&self) -> impl Iterator<Item = &[u8]> {
        self.queries().flat_map(|(_, spans)| spans.iter().map(|span| &span.doc[..]))
    }

    /// Rejects chunks if none of them is cut from a document of the gold spans.
    fn check(&self, chunks: &Chunks) -> Result<()> {
        if self.is_empty() || self.docs().any(|doc| chunks.has(doc)) {
            return Ok(());
        }
        let there = first_two(self.docs());
        let here = first_two(chunks.iter().map(|chunk| &chunk.doc[..]));
        reject!(
            "{}: has none of the documents of {} ({there} there, {here} here)",
            chunks.name(),
            self.name()
        )
    }

    /// Measures a chunking of documents by the gold spans of a grade above 0 in the same documents.
    ///
    /// # Errors
    /// As [`GoldSpans::chunk_judgments`].
    pub fn chunking_facts(&self, chunks: &Chunks) -> Result<ChunkingStats> {
        self.check(chunks)?;
        let mut lengths: Vec<u64> = chunks.iter().map(|chunk| chunk.span.length()).collect();
        lengths.sort_unstable();
        let all: u128 = lengths.iter().map(|&length| u128::from(length)).sum();
        let last = lengths.len().saturating_sub(1);
        let [least, median, most] =
            [0, last / 2, last].map(|at| lengths.get(at).copied().unwrap_or(0));
        let docs: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk.doc[..]).collect();
        let (mut queries, mut covered, mut with_gold, mut omega) = (0usize, 0.0, 0usize, 0.0);
        for (_, spans) in self.queries() {
            // Grades above 0 are one, and the others another.
            let positions = GoldPositions::from_spans(spans, &[0.0, f64::INFINITY]);
            let gold = spans.iter().filter(|span| span.grade > 0.0);
            let of_gold = gold.clone().map(|gold| (&gold.doc[..], gold.span));
            let (all_gold, _) = union(of_gold, &positions);
            // A query without gold has no share to add to the means.
            if all_gold == 0 {
                continue;
            }
            let mut with: Vec<_> =
                gold.flat_map(|gold| chunks.overlapping(&gold.doc, gold.span)).collect();
            // A chunk that overlaps two spans comes twice, and counts once.
            with.sort_by_key(|chunk| chunk.place());
            with.dedup();
            let of_chunks = with.iter().map(|chunk| (&chunk.doc[..], chunk.span));
            let (in_chunks, shared) = union(of_chunks, &positions);
            queries += 1;
            covered += shared as f64 / all_gold as f64;
            with_gold += with.len();
            omega += shared as f64 / (in_chunks + all_gold - shared) as f64;
        }
        // Sums over no queries are 0, and so are the means.
        let divisor = queries.max(1) as f64;
        Ok(ChunkingStats {
            chunks: chunks.len(),
            documents: docs.chunk_by(|a, b| a == b).count(),
            lengths: (least, median, most, all as f64 / lengths.len().max(1) as f64),
            queries,
            covered: covered / divisor,
            with_gold: with_gold as f64 / divisor,
            omega: omega / divisor,
        })
    }
}

/// Returns the number of positions in the union of spans of documents, and the number of those that
/// are gold of the higher of two grades.
fn union<'d>(spans: impl Iterator<Item = (&'d [u8], Span)>, gold: &GoldPositions) -> (u128, u128) {
    let mut covered = CoveredSpans::default();
    spans.fold((0, 0), |(all, shared), (doc, span)| {
        let (new, new_gold) = covered.add(doc, span, gold);
        (all + u128::from(new), shared + u128::from(new_gold[1]))
    })
}

/// Returns the first two distinct document ids, quoted for an error message.
fn first_two<'a>(mut ids: impl Iterator<Item = &'a [u8]>) -> String {
    let first = ids.next();
    let other = ids.find(|id| Some(*id) != first);
    let shown = first.into_iter().chain(other).map(|id| format!("'{}'", printable(id)));
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_shared_length_is_exact() {
        for (share, length, expected) in [
            (0.5, 20, 10),
            (0.5, 21, 11),
            (1.0, 7, 7),
            (1.0, u64::MAX, u64::MAX),
            (0.1, 10, 2), // 0.1 is a little more than a tenth
            (0.25, 9, 3),
            (f64::MIN_POSITIVE, u64::MAX, 1),
            (5e-324, 1, 1),
            (1.0 - f64::EPSILON / 2.0, u64::MAX, u64::MAX - 2047),
        ] {
            assert_eq!(least(share, length), expected, "{share} of {length}");
        }
    }
}

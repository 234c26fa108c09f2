//! Gold spans (judged passages of documents) and chunks (pieces of documents), as the caller gives
//! them.

use super::position::Span;

/// A gold span: a passage of a document that was judged for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldSpan {
    /// The id of the query.
    pub query: Vec<u8>,
    /// The id of the document.
    pub doc: Vec<u8>,
    /// The positions of the passage in the document.
    pub span: Span,
    /// The grade.
    pub grade: f64,
}

/// A chunk: a piece of a document, as a retrieval pipeline cut the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChunk {
    /// The id of the chunk, which runs have.
    pub id: Vec<u8>,
    /// The id of the document.
    pub doc: Vec<u8>,
    /// The positions of the chunk in the document.
    pub span: Span,
}

/// The gold spans of some queries: judged passages of documents. They may overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldSpans {
    name: String,
    /// The queries in the order in which they came, each with its spans by document, start and end.
    queries: Vec<(Vec<u8>, Vec<GoldSpan>)>,
}

/// The chunks into which a retrieval pipeline cut some documents, with their ids and positions.
/// They may overlap, and leave parts of a document out.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunks {
    name: String,
    /// By document, start, end and id.
    chunks: Vec<DocumentChunk>,
    /// The largest end of the chunks up to each, of its document.
    reach: Vec<u64>,
}

impl GoldSpans {
    /// Makes a collection of gold spans, which messages call `name`.
    pub fn new(name: impl Into<String>, spans: impl IntoIterator<Item = GoldSpan>) -> Self {
        let mut places = std::collections::HashMap::new();
        let mut queries: Vec<(Vec<u8>, Vec<GoldSpan>)> = Vec::new();
        for span in spans {
            let at = *places.entry(span.query.clone()).or_insert(queries.len());
            match queries.get_mut(at) {
                Some((_, query_spans)) => query_spans.push(span),
                None => queries.push((span.query.clone(), vec![span])),
            }
        }
        for (_, spans) in &mut queries {
            // The sort is stable: spans with equal positions keep their input order.
            spans.sort_by(|a, b| (&a.doc, a.span).cmp(&(&b.doc, b.span)));
        }
        Self { name: name.into(), queries }
    }

    /// Returns the name of the gold spans in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the queries in the order in which they came, each with its gold spans by document,
    /// start and end.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = (&[u8], &[GoldSpan])> {
        self.queries.iter().map(|(query, spans)| (&query[..], &spans[..]))
    }

    /// Returns the number of gold spans of all queries.
    pub fn len(&self) -> usize {
        self.queries.iter().map(|(_, spans)| spans.len()).sum()
    }

    /// Returns whether there are no gold spans.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }
}

impl Chunks {
    /// Makes a collection of chunks, which messages call `name`. A chunk may be repeated.
    ///
    /// # Errors
    /// A chunk id with two different places: the index of the second chunk, then of the first
    /// chunk.
    pub fn new(
        name: impl Into<String>,
        chunks: impl IntoIterator<Item = DocumentChunk>,
    ) -> Result<Self, (usize, usize)> {
        let given: Vec<DocumentChunk> = chunks.into_iter().collect();
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by(|&a, &b| (&given[a].id, a).cmp(&(&given[b].id, b)));
        let pairs = order.windows(2).map(|pair| [pair[0], pair[1]]);
        let again: Vec<[usize; 2]> =
            pairs.filter(|&[one, next]| given[one].id == given[next].id).collect();
        let other = again.iter().filter(|[first, again]| given[*first] != given[*again]);
        if let Some([_, at]) = other.min_by_key(|[_, again]| *again) {
            let first = order.iter().find(|&&one| given[one].id == given[*at].id).unwrap_or(at);
            return Err((*at, *first));
        }
        let mut keep = vec![true; given.len()];
        again.iter().for_each(|[_, again]| keep[*again] = false);
        let mut chunks: Vec<DocumentChunk> =
            given.into_iter().zip(keep).filter_map(|(chunk, keep)| keep.then_some(chunk)).collect();
        chunks.sort_by(|a, b| (&a.doc, a.span, &a.id).cmp(&(&b.doc, b.span, &b.id)));
        let mut reach: Vec<u64> = Vec::with_capacity(chunks.len());
        for (at, chunk) in chunks.iter().enumerate() {
            let before = at.checked_sub(1).filter(|&before| chunks[before].doc == chunk.doc);
            reach.push(before.map_or(0, |before| reach[before]).max(chunk.span.end()));
        }
        Ok(Self { name: name.into(), chunks, reach })
    }

    /// Returns the name of the chunks in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the chunks, by document, start, end and id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DocumentChunk> {
        self.chunks.iter()
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Returns whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the chunks of a document that share a position with a span, in order. Chunks that
    /// begin before the end of the span lie together. The scan goes backwards from the last of
    /// these chunks, and stops where all earlier chunks end too early. So a call costs a search,
    /// and a step for each overlapping chunk.
    pub fn overlapping<'a>(
        &'a self,
        doc: &[u8],
        span: Span,
    ) -> impl Iterator<Item = &'a DocumentChunk> + use<'a> {
        let first = self.chunks.partition_point(|chunk| &chunk.doc[..] < doc);
        let end = first
            + self.chunks[first..]
                .partition_point(|chunk| (&chunk.doc[..], chunk.span.start()) < (doc, span.end()));
        let behind =
            self.reach[first..end].iter().rev().take_while(|&&reach| reach > span.start()).count();
        self.chunks[end - behind..end].iter().filter(move |chunk| chunk.span.shared(span) > 0)
    }

    /// Returns whether any chunk is cut from a document.
    pub fn has(&self, doc: &[u8]) -> bool {
        let at = self.chunks.partition_point(|chunk| &chunk.doc[..] < doc);
        self.chunks.get(at).is_some_and(|chunk| chunk.doc == doc)
    }
}

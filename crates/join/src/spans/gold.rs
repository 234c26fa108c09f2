//! Gold spans and chunks, as they are given.

use super::position::Span;

/// A passage that was judged for a query.
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

/// A piece of a document, as a pipeline cut it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChunk {
    /// The id of the chunk, which runs have.
    pub id: Vec<u8>,
    /// The id of the document.
    pub doc: Vec<u8>,
    /// The positions of the chunk in the document.
    pub span: Span,
}

/// Judged passages of some queries. They may overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldSpans {
    name: String,
    /// The queries in the order in which they came, each with its spans by document, start and end.
    queries: Vec<(Vec<u8>, Vec<GoldSpan>)>,
}

/// The chunks of some documents. They may overlap, and leave parts of a document out.
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
                Some((_, of)) => of.push(span),
                None => queries.push((span.query.clone(), vec![span])),
            }
        }
        for (_, spans) in &mut queries {
            // The sort is stable: spans with equal positions keep their input order.
            spans.sort_by(|a, b| (&a.doc, a.span).cmp(&(&b.doc, b.span)));
        }
        GoldSpans { name: name.into(), queries }
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The queries in the order in which they came, each with its spans by document, start and end.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = (&[u8], &[GoldSpan])> {
        self.queries.iter().map(|(query, spans)| (&query[..], &spans[..]))
    }

    /// The number of spans.
    pub fn len(&self) -> usize {
        self.queries.iter().map(|(_, spans)| spans.len()).sum()
    }

    /// Whether there are none.
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
        let of_id = |pair: &[usize]| given[pair[0]].id == given[pair[1]].id;
        let again: Vec<[usize; 2]> =
            order.windows(2).filter(|pair| of_id(pair)).map(|pair| [pair[0], pair[1]]).collect();
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
        Ok(Chunks { name: name.into(), chunks, reach })
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The chunks, by document, start, end and id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DocumentChunk> {
        self.chunks.iter()
    }

    /// The number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The chunks of a document that share a position with a span, in order. Chunks that begin
    /// before the end of the span lie together. The scan goes backwards from the last of these
    /// chunks, and stops where all earlier chunks end too early. So a call costs a search, and a
    /// step for each overlapping chunk.
    pub fn of_span<'a>(
        &'a self,
        doc: &[u8],
        span: Span,
    ) -> impl Iterator<Item = &'a DocumentChunk> + use<'a> {
        let first = self.chunks.partition_point(|chunk| &chunk.doc[..] < doc);
        let upto = |chunk: &DocumentChunk| (&chunk.doc[..], chunk.span.start()) < (doc, span.end());
        let end = first + self.chunks[first..].partition_point(upto);
        let of_doc = end - first;
        let behind =
            self.reach[first..end].iter().rev().take_while(|&&reach| reach > span.start()).count();
        let from = first + of_doc - behind;
        self.chunks[from..end].iter().filter(move |chunk| chunk.span.shared(span) > 0)
    }

    /// Whether a document has chunks.
    pub fn has(&self, doc: &[u8]) -> bool {
        let at = self.chunks.partition_point(|chunk| &chunk.doc[..] < doc);
        self.chunks.get(at).is_some_and(|chunk| chunk.doc == doc)
    }
}

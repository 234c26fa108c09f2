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

impl DocumentChunk {
    /// Returns what chunks are sorted by.
    pub(super) fn place(&self) -> (&[u8], Span, &[u8]) {
        (&self.doc, self.span, &self.id)
    }
}

/// The gold spans of some queries: judged passages of documents. They may overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldSpans {
    name: String,
    /// The spans of each query by document, start and end, in the order in which queries came.
    queries: Vec<Vec<GoldSpan>>,
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
        let mut queries: Vec<Vec<GoldSpan>> = Vec::new();
        for span in spans {
            let at = *places.entry(span.query.clone()).or_insert(queries.len());
            if at == queries.len() {
                queries.push(Vec::new());
            }
            queries[at].push(span);
        }
        for spans in &mut queries {
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
        self.queries.iter().map(|spans| (&spans[0].query[..], &spans[..]))
    }

    /// Returns the number of gold spans of all queries.
    pub fn len(&self) -> usize {
        self.queries.iter().map(Vec::len).sum()
    }

    /// Returns whether there are no gold spans.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }
}

impl Chunks {
    /// Makes a collection of the given document chunks; messages call the collection `name`. A
    /// chunk may be repeated.
    ///
    /// # Errors
    /// A chunk id with two different places: the index of the second chunk, then of the first
    /// chunk.
    pub fn new(
        name: impl Into<String>,
        chunks: impl IntoIterator<Item = DocumentChunk>,
    ) -> Result<Self, (usize, usize)> {
        let mut given: Vec<_> = chunks.into_iter().enumerate().collect();
        given.sort_by(|(_, one), (_, other)| one.id.cmp(&other.id));
        let mut wrong = None;
        // The sort is stable: of chunks with equal ids, the first one given is kept.
        given.dedup_by(|(at, again), (before, first)| {
            if again.id == first.id && again != first {
                wrong = wrong.into_iter().chain([(*at, *before)]).min();
            }
            again.id == first.id
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let mut chunks: Vec<_> = given.into_iter().map(|(_, chunk)| chunk).collect();
        chunks.sort_by(|a, b| a.place().cmp(&b.place()));
        let mut reach = Vec::with_capacity(chunks.len());
        for of_doc in chunks.chunk_by(|one, next| one.doc == next.doc) {
            let mut end = 0;
            reach.extend(of_doc.iter().map(|chunk| {
                end = chunk.span.end().max(end);
                end
            }));
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
        self.chunks.binary_search_by(|chunk| chunk.doc[..].cmp(doc)).is_ok()
    }
}

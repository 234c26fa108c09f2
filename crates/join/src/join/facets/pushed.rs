//! Judgments by facet that are pushed row by row, in any order, to a store of records.

use super::{
    rows::{FacetReader, sort_out, store},
    shape::{FacetContext, FacetShape},
};
use crate::bytes::{hash::Seed, interner::Interner};
use crate::error::Result;
use crate::join::qrels::Qrels;
use crate::judged_by::FacetKind;
use crate::lines::{
    diagnostics::{Diagnostic, Position},
    dialect::Dialect,
};
use crate::progress::{ProgressHandle, check_stopped};
use crate::record::{
    any_order::{AnyOrder, BufferedInput},
    layout::{Docnos, Record, address},
    reader::{Reader, RowReader, gather},
    store::RecordStore,
};

/// A builder of qrels by judge, subtopic or preference, from rows pushed one at a time in any
/// order. The rows are equivalent to columns of judgments, but need no columns.
///
/// ```
/// use laneval::columns::FacetQrelsBuilder;
/// use laneval::{Dialect, Join, FacetKind};
///
/// let mut rows = FacetQrelsBuilder::new(FacetKind::Subtopic, Dialect::Laneval)?;
/// rows.push(b"q1", b"s1", b"d1", 1.0);
/// rows.push(b"q1", b"s2", b"d1", 0.0);
/// let join = Join { judged_by: Some(FacetKind::Subtopic), ..Join::default() };
/// assert_eq!(join.judgments_by_facet(rows)?.queries().len(), 1);
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct FacetQrelsBuilder {
    /// The reader of rows without sub-groups.
    reader: Box<Reader<FacetReader<4>, AnyOrder>>,
    /// The query of the last row; `None` before the first row.
    last: Option<u32>,
}

/// The rows of a chunk of pushed rows.
const ROWS: u64 = 1 << 16;

impl FacetQrelsBuilder {
    /// Creates an empty builder of qrels by facet, for a [`Join`](crate::settings::Join) of this
    /// dialect and facet.
    ///
    /// # Errors
    /// Judgments by span, which have positions and no groups.
    pub fn new(by: FacetKind, dialect: Dialect) -> Result<Self> {
        reject_if!(
            by == FacetKind::Span,
            "a judgment by span has a start and an end, and no group: `Qrels::by_span` takes these"
        );
        let (shape, seed) = (FacetShape::new(by, 4, dialect), Seed::random());
        let keep = store(BufferedInput::Streaming, shape, seed);
        let rows = FacetReader { shape, queries: Interner::new(seed) };
        let reader = Reader::new(|| (rows, keep), seed);
        Ok(Self { reader: Box::new(reader), last: None })
    }

    /// Adds a judgment of a document in a group (judge, subtopic or preference group) of a query.
    /// Messages name the judgment's number, counted from 1, as its line. Problems are reported when
    /// the judgments are finished.
    pub fn push(&mut self, query: &[u8], group: &[u8], doc: &[u8], grade: f64) {
        let Reader { rows, keep, findings, chunks, count, .. } = &mut *self.reader;
        let (chunk, row) = (*count / ROWS, *count % ROWS);
        let position = Position { chunk, line: row + 1 };
        *count += 1;
        if row == 0 {
            // The last chunk has fewer rows, but no chunk comes after it.
            chunks.push((chunk, ROWS));
            keep.begin_chunk(chunk, 0..0);
        }
        let fault = if rows.is_valid(grade) {
            group.is_empty().then(|| "the group is empty".to_owned())
        } else {
            Some(rows.invalid_number(grade, [query, doc]))
        };
        if let Some(message) = fault {
            let place = keep.address(chunk, 0);
            return findings.add(place, || Diagnostic { position, message, earlier: None });
        }
        let last = self.last.filter(|&last| rows.queries.matches(last, query));
        let query = last.unwrap_or_else(|| rows.queries.insert(query).0);
        self.last = Some(query);
        if !keep.has_room() {
            keep.make_room(Docnos::copied(&[]));
        }
        let hash = keep.groups(group.into(), None);
        let (key, at, length) = (rows.key(grade), address(chunk, 0), doc.len() as u32);
        keep.keep(Record { key, hash, at, length, query }, position.line, || (doc, None));
    }

    /// Returns the number of judgments added so far.
    pub fn len(&self) -> usize {
        self.reader.count as usize
    }

    /// Returns whether no judgment was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes qrels of all judgments that were added, and rejects judgments with problems.
    pub(crate) fn finish(self, watch: Option<&ProgressHandle>) -> Result<Qrels> {
        check_stopped(watch)?;
        let Reader { rows: FacetReader { shape, .. }, seed, .. } = *self.reader;
        let context = FacetContext { name: "qrels", shape, expected: "", seed, watch };
        let (read, scattered) = gather(vec![*self.reader]);
        let (qrels, problems) =
            sort_out(read, scattered, BufferedInput::Streaming, &|line| line, context)?;
        problems.into_result(qrels)
    }
}

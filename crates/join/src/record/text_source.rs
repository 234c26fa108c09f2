//! The rows of a run text as a source of records: columns of a table file, a text in memory, or a
//! stream.

use super::{
    columns::{ColumnSource, PieceSize},
    reader::{RowSource, TextSource},
};
use crate::bytes::hash::Seed;
use crate::columns::CheckedColumns;
use crate::error::{Error, Result};
use crate::format::{RowLayout, RowShape, tables::with_records};
use crate::lines::{
    chunks::{ChunkSize, CutRule},
    shape::Role,
};
use crate::progress::ProgressHandle;
use crate::text::TextBody;

/// A visitor that reads the rows of a run from any kind of source. A trait, because each kind of
/// source is a type.
pub(crate) trait SourceVisitor {
    type Output;

    fn take(self, source: &impl RowSource) -> Result<Self::Output>;
}

/// Context for reading qrels or a run: the seed of hashes, the chunk sizes and the watch.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'w> {
    /// The seed of hashes; of a run, the seed of the judgments.
    pub seed: Seed,
    /// The sizes in which text is cut.
    pub size: ChunkSize,
    pub watch: Option<&'w ProgressHandle>,
}

/// Opens a run text as a source of rows by its format, and passes the source to the visitor `take`.
/// `name` is the name of the text in messages. A passing text can be read only once.
///
/// # Errors
/// An unreadable text; an error of `take`.
pub(crate) fn with_run<T: SourceVisitor>(
    name: &str,
    form: &RowLayout,
    body: &mut TextBody,
    ReadContext { seed, size, watch }: ReadContext<'_>,
    take: T,
) -> Result<T::Output> {
    if let RowShape::Columns(table) = &form.shape {
        return with_records(&**table, |batches| {
            let columns = CheckedColumns::from_run(name, batches, seed)?.check_file(Role::Run)?;
            take.take(&ColumnSource::all(&columns, PieceSize::default(), watch))
        });
    }
    match body {
        TextBody::Buffered(text) => take.take(&TextSource::buffered(text, form, size, watch)),
        TextBody::Streaming(text) => {
            let cuts = |rule| CutRule::between_queries(size, rule);
            let blocks = form.blocks(Box::new(text.all()), cuts);
            let mut blocks = blocks.map_err(|error| Error::unreadable(name, error))?;
            take.take(&TextSource::passing(name, form, size, &mut *blocks))
        }
    }
}

//! The rows of any text as a source of records: columns of a file of tables, a held text, or a
//! passing text.

use std::io::Read;

use super::columns::{ColumnSource, PieceSize};
use super::reader::{Source, TextSource};
use crate::bytes::hash::Seed;
use crate::columns::CheckedColumns;
use crate::error::{Error, Result};
use crate::format::tables::with_records;
use crate::format::{Form, RowShape};
use crate::lines::chunks::ChunkSize;
use crate::lines::shape::Role;
use crate::text::TextBody;
use crate::watch::Watch;

/// A use of the rows of a run; a trait, because each kind of source is a type.
pub(crate) trait TakeSource {
    type Output;

    fn take(self, source: &impl Source) -> Result<Self::Output>;
}

/// Context for reading a run: the seed of hashes, the chunk sizes and the watch.
#[derive(Clone, Copy)]
pub(crate) struct RunReading<'w> {
    /// The seed of hashes, equal to the seed of the judgments.
    pub seed: Seed,
    /// The sizes in which text is cut.
    pub size: ChunkSize,
    pub watch: Option<&'w Watch>,
}

/// Passes the rows of a run to `take`; `name` is the name of the text in messages. A passing text
/// can be read only once.
///
/// # Errors
/// An unreadable text; an error of `take`.
pub(crate) fn with_run<T: TakeSource>(
    name: &str,
    form: &Form,
    body: &mut TextBody,
    RunReading { seed, size, watch }: RunReading<'_>,
    take: T,
) -> Result<T::Output> {
    if let RowShape::Columns(table) = &form.shape {
        return with_records(&**table, |batches| {
            let columns = CheckedColumns::of_run(name, batches, seed)?.of_a_file(Role::Run)?;
            take.take(&ColumnSource::all(&columns, PieceSize::default(), watch))
        });
    }
    match body {
        TextBody::Held(text) => take.take(&TextSource::held(text, form, size, watch)),
        TextBody::Passing(text) => {
            let all: Box<dyn Read + Send + '_> = Box::new(text.all());
            let mut rows =
                form.rows(all).map_err(|error| Error::io(name.as_ref(), "read", error))?;
            take.take(&TextSource::passing(name, form, size, &mut *rows))
        }
    }
}

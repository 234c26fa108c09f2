//! Files of Parquet and of Arrow, read as tables: only the columns that are needed, row groups and
//! batches in parallel.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use laneval::InputFormat;
use laneval::tables::{self, Places, TableColumns, TableFile, TableReader, WrongTable};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use rayon::prelude::*;

use crate::arrow::ArrowFile;
use crate::lists::has_lists;
use crate::panics::guarded;
use crate::table::ArrowTable;

/// The number of rows of a batch.
const ROWS: usize = 1 << 16;

/// A reader of files of Parquet and of Arrow, with every compression but Brotli and LZO: see
/// [`Join::tables`](laneval::Join::tables).
///
/// The columns of ids and numbers are held in memory, decoded. Ids of queries that are text are
/// held as codes.
#[derive(Debug, Clone, Copy)]
pub struct Files;

impl TableReader for Files {
    fn read(&self, file: TableFile<'_>) -> Result<Box<dyn tables::Table>, WrongTable> {
        let TableFile { format, bytes, columns, .. } = file;
        let table = match format {
            InputFormat::Parquet => of_parquet(Bytes::from_owner(bytes), columns),
            _ => of_arrow(Bytes::from_owner(bytes), columns),
        };
        Ok(Box::new(table?))
    }
}

/// Returns the places of the columns that are read.
fn places(
    schema: &Schema,
    names: &[String],
    columns: TableColumns<'_>,
) -> Result<Places, WrongTable> {
    let lists: Vec<bool> =
        schema.fields().iter().map(|field| has_lists(field.data_type())).collect();
    columns.places_with_lists(names, &lists)
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

fn of_arrow(file: Bytes, columns: TableColumns<'_>) -> Result<ArrowTable, WrongTable> {
    let file = guarded(|| ArrowFile::of(file.into()))?;
    let names = names(&file.schema);
    let places = places(&file.schema, &names, columns)?;
    of_batches(file.batches(places.all())?, &names, &places)
}

/// Makes the table of batches that have only the columns of `places`.
fn of_batches(
    batches: Vec<RecordBatch>,
    names: &[String],
    places: &Places,
) -> Result<ArrowTable, WrongTable> {
    let names: Vec<String> = places.all().into_iter().map(|at| names[at].clone()).collect();
    let mut table = ArrowTable::new(&names, places.among_all());
    table.push(&batches)?;
    Ok(table)
}

fn of_parquet(file: Bytes, columns: TableColumns<'_>) -> Result<ArrowTable, WrongTable> {
    let said =
        |error: ParquetError| WrongTable::File(format!("is Parquet that cannot be read: {error}"));
    let (names, places, metadata) = guarded(|| {
        let read = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(said)?;
        let names = names(read.schema());
        let places = places(read.schema(), &names, columns)?;
        // The id of a query stands in all of its rows. Codes take 4 bytes a row, and each id is
        // looked up once.
        let options = ArrowReaderOptions::new().with_schema(coded(read.schema(), places.query));
        let coded = ArrowReaderMetadata::try_new(read.metadata().clone(), options);
        // If a type cannot be read as codes, the reader keeps the type of the file.
        Ok((names, places, coded.unwrap_or(read)))
    })?;
    let group = |group: usize| -> Result<Vec<RecordBatch>, WrongTable> {
        guarded(|| {
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone());
            let mask = ProjectionMask::roots(builder.parquet_schema(), places.all());
            let reader =
                builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(ROWS);
            reader
                .build()
                .map_err(said)?
                .collect::<Result<_, _>>()
                .map_err(|error| said(error.into()))
        })
    };
    // A row group can be decoded by itself, and its batches are consecutive rows. The order of
    // groups is kept, because the order of rows may break ties.
    let groups = (0..metadata.metadata().num_row_groups()).into_par_iter().map(group);
    let groups = groups.collect::<Result<Vec<_>, _>>()?;
    of_batches(groups.concat(), &names, &places)
}

/// Returns the schema with text of queries as codes of a dictionary, as it mostly lies in the file.
fn coded(schema: &Schema, query: usize) -> Arc<Schema> {
    let field = |(at, field): (usize, &Arc<Field>)| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if at == query => {
            let text = match field.data_type() {
                DataType::LargeUtf8 => DataType::LargeUtf8,
                _ => DataType::Utf8,
            };
            let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(text));
            Arc::new(field.as_ref().clone().with_data_type(coded))
        }
        _ => field.clone(),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().enumerate().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

//! Parquet and Arrow files, read as tables of judgments or results: only the needed columns, in
//! parallel.

use std::sync::Arc;

use arrow_schema::{DataType, Fields, Schema};
use bytes::Bytes;
use laneval::{
    InputFormat,
    tables::{self, ColumnIndices, TableColumns, TableError, TableFile, TableReader},
};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    errors::ParquetError,
};
use rayon::prelude::*;

use crate::arrow::ArrowFile;
use crate::lists::has_lists;
use crate::panics::catch_reader_panic;
use crate::table::ArrowTable;

/// The number of rows of a batch.
const ROWS: usize = 1 << 16;

/// A reader of Parquet and Arrow files of judgments or results, with every compression but Brotli
/// and LZO. See [`Join::tables`](laneval::Join::tables).
///
/// The columns of ids and numbers are held in memory, decoded. Ids of queries that are text are
/// held as codes.
#[derive(Debug, Clone, Copy)]
pub struct Files;

impl TableReader for Files {
    fn read(&self, file: TableFile<'_>) -> Result<Box<dyn tables::Table>, TableError> {
        let TableFile { format, bytes, columns, parts, .. } = file;
        let Some(((name, first), more)) = parts.split_first() else {
            return Ok(Box::new(read_file(format, bytes, columns)?.0));
        };
        let (mut table, schema) =
            read_file(format, first.clone(), columns).map_err(|error| in_part(name, error))?;
        for (part, bytes) in more {
            let unlike =
                |what: String| TableError::File(format!("{part} is not like {name}: {what}"));
            let (rows, other) =
                read_file(format, bytes.clone(), columns).map_err(|error| match error {
                    TableError::Missing(missing) => unlike(missing.to_string()),
                    error => in_part(part, error),
                })?;
            let [expected, found] = [&schema, &other].map(|schema| columns_of(schema));
            if found != expected {
                return Err(unlike(format!("its columns are {found}, and not {expected}")));
            }
            table.append(rows);
        }
        Ok(Box::new(table))
    }
}

/// Makes the error of a folder that is one table from the error of one of its files.
fn in_part(part: &str, error: TableError) -> TableError {
    match error {
        // All files have the same columns.
        TableError::Missing(_) => error,
        error => TableError::File(format!("{part}: {error}")),
    }
}

/// Returns the names and types of the columns of a schema, for messages.
fn columns_of(schema: &Schema) -> String {
    let columns = schema.fields().iter();
    let columns = columns.map(|field| format!("`{}` ({})", field.name(), field.data_type()));
    columns.collect::<Vec<_>>().join(", ")
}

/// Reads the requested columns of a Parquet or Arrow file, and returns them with the schema of all
/// columns.
fn read_file(
    format: InputFormat,
    bytes: tables::TableBytes,
    columns: TableColumns<'_>,
) -> Result<(ArrowTable, Arc<Schema>), TableError> {
    let bytes = Bytes::from_owner(bytes);
    match format {
        InputFormat::Parquet => read_parquet(bytes, columns),
        _ => read_arrow(bytes, columns),
    }
}

/// Returns the indices of the columns of a Parquet or Arrow file that hold queries, documents,
/// scores and so on, and an empty table for batches that have only these columns.
fn table_of(
    schema: &Schema,
    columns: TableColumns<'_>,
) -> Result<(ColumnIndices, ArrowTable), TableError> {
    let fields = schema.fields();
    let names: Vec<&String> = fields.iter().map(|field| field.name()).collect();
    let lists: Vec<bool> = fields.iter().map(|field| has_lists(field.data_type())).collect();
    let places = columns.places_with_lists(&names, &lists)?;
    let read: Vec<String> = places.all().into_iter().map(|at| names[at].clone()).collect();
    let table = ArrowTable::new(&read, places.among_all()).with_words(columns.words());
    Ok((places, table))
}

fn read_arrow(
    file: Bytes,
    columns: TableColumns<'_>,
) -> Result<(ArrowTable, Arc<Schema>), TableError> {
    let file = catch_reader_panic(|| ArrowFile::parse(file.into()))?;
    let (places, mut table) = table_of(&file.schema, columns)?;
    table.push(&file.batches(places.all())?)?;
    Ok((table, file.schema.clone()))
}

fn read_parquet(
    file: Bytes,
    columns: TableColumns<'_>,
) -> Result<(ArrowTable, Arc<Schema>), TableError> {
    let (places, mut table, schema, metadata) = catch_reader_panic(|| {
        let read =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(unreadable)?;
        let (places, table) = table_of(read.schema(), columns)?;
        // The id of a query stands in all of its rows. Codes take 4 bytes a row, and each id is
        // looked up once.
        let options = ArrowReaderOptions::new().with_schema(coded(read.schema(), places.query));
        let coded = ArrowReaderMetadata::try_new(read.metadata().clone(), options);
        // If a type cannot be read as codes, the reader keeps the type of the file.
        let schema = read.schema().clone();
        Ok((places, table, schema, coded.unwrap_or(read)))
    })?;
    // A row group can be decoded by itself, and its batches are consecutive rows. The order of
    // groups is kept, because the order of rows may break ties.
    let groups = (0..metadata.metadata().num_row_groups()).into_par_iter().map(|group| {
        catch_reader_panic(|| {
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone());
            let mask = ProjectionMask::roots(builder.parquet_schema(), places.all());
            let reader =
                builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(ROWS);
            let batches = reader.build().map_err(unreadable)?.collect::<Result<Vec<_>, _>>();
            batches.map_err(|error| unreadable(error.into()))
        })
    });
    let groups = groups.collect::<Result<Vec<_>, _>>()?;
    table.push(&groups.concat())?;
    Ok((table, schema))
}

/// Returns the error for a Parquet file that the crate `parquet` cannot read.
fn unreadable(error: ParquetError) -> TableError {
    TableError::File(format!("is Parquet that cannot be read: {error}"))
}

/// Returns the schema of a Parquet file with the text column of queries read as dictionary codes.
/// Most files store the column so.
fn coded(schema: &Schema, query: usize) -> Arc<Schema> {
    let fields = schema.fields().iter().enumerate().map(|(at, field)| {
        let text = match field.data_type() {
            DataType::Utf8 | DataType::Utf8View if at == query => DataType::Utf8,
            DataType::LargeUtf8 if at == query => DataType::LargeUtf8,
            _ => return field.clone(),
        };
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(text));
        Arc::new(field.as_ref().clone().with_data_type(coded))
    });
    let fields: Fields = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

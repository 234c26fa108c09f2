//! Tables of Parquet, written row by row.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

/// The number of rows of a batch.
const ROWS: usize = 1 << 16;

/// The kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Text of few different values.
    Names,
    /// 64-bit floats.
    Float,
    /// 64-bit integers.
    Integer,
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A text.
    Text(&'a str),
    /// A float.
    Float(f64),
    /// An integer.
    Integer(i64),
    /// No value.
    Null,
}

/// A writer of rows as a table of Parquet, compressed by zstd. It holds one row group in memory, of about a million rows.
///
/// ```
/// use laneval_formats::{Cell, Kind, ParquetWriter};
/// let mut file = Vec::new();
/// let mut writer = ParquetWriter::new(&mut file, &[("query_id", Kind::Text), ("value", Kind::Float)])?;
/// writer.push(&[Cell::Text("q1"), Cell::Float(0.5)])?;
/// writer.finish()?;
/// assert!(file.starts_with(b"PAR1"));
/// # std::io::Result::Ok(())
/// ```
pub struct ParquetWriter<W: Write + Send> {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
    to: ArrowWriter<W>,
}

enum Column {
    Text(StringBuilder),
    Names(StringDictionaryBuilder<Int32Type>),
    Float(Float64Builder),
    Integer(Int64Builder),
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a table of the columns `columns`.
    ///
    /// # Errors
    /// An error of the stream.
    pub fn new(to: W, columns: &[(&str, Kind)]) -> io::Result<Self> {
        let field = |&(name, kind): &(&str, Kind)| Field::new(name, kind.data_type(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let settings = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        let to = ArrowWriter::try_new(to, schema.clone(), Some(settings.build())).map_err(plain)?;
        Ok(ParquetWriter {
            schema,
            columns: columns.iter().map(|(_, kind)| kind.column()).collect(),
            rows: 0,
            to,
        })
    }

    /// Adds a row: for each column a cell of its kind, or null.
    ///
    /// # Errors
    /// Cells that do not fit the columns; an error of the stream.
    pub fn push(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        if row.len() != self.columns.len() {
            return Err(io::Error::other(format!("{} cells for {} columns", row.len(), self.columns.len())));
        }
        self.columns.iter_mut().zip(row).try_for_each(|(column, cell)| column.push(*cell))?;
        self.rows += 1;
        if self.rows == ROWS { self.write() } else { Ok(()) }
    }

    /// Writes the remaining rows, and ends the table.
    ///
    /// # Errors
    /// An error of the stream.
    pub fn finish(mut self) -> io::Result<()> {
        self.write()?;
        self.to.close().map(drop).map_err(plain)
    }

    fn write(&mut self) -> io::Result<()> {
        let columns = self.columns.iter_mut().map(Column::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.rows = 0;
        self.to.write(&batch).map_err(plain)
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Kind::Text => DataType::Utf8,
            Kind::Names => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Kind::Float => DataType::Float64,
            Kind::Integer => DataType::Int64,
        }
    }

    fn column(self) -> Column {
        match self {
            Kind::Text => Column::Text(StringBuilder::new()),
            Kind::Names => Column::Names(StringDictionaryBuilder::new()),
            Kind::Float => Column::Float(Float64Builder::new()),
            Kind::Integer => Column::Integer(Int64Builder::new()),
        }
    }
}

impl Column {
    fn push(&mut self, cell: Cell<'_>) -> io::Result<()> {
        match (self, cell) {
            (Column::Text(column), Cell::Text(text)) => column.append_value(text),
            (Column::Text(column), Cell::Null) => column.append_null(),
            (Column::Names(column), Cell::Text(text)) => drop(column.append(text).map_err(io::Error::other)?),
            (Column::Names(column), Cell::Null) => column.append_null(),
            (Column::Float(column), Cell::Float(value)) => column.append_value(value),
            (Column::Float(column), Cell::Null) => column.append_null(),
            (Column::Integer(column), Cell::Integer(value)) => column.append_value(value),
            (Column::Integer(column), Cell::Null) => column.append_null(),
            (_, cell) => return Err(io::Error::other(format!("{cell:?} is not of the kind of its column"))),
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Column::Text(column) => Arc::new(column.finish()),
            Column::Names(column) => Arc::new(column.finish()),
            Column::Float(column) => Arc::new(column.finish()),
            Column::Integer(column) => Arc::new(column.finish()),
        }
    }
}

/// Returns the stream's own error, which the writer would hide.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

//! A writer of Parquet tables, row by row.
//!
//! The columns are written as Parquet has them, and not by way of tables of Arrow: that writer
//! knows every type of Arrow, and is a megabyte of machine code. Readers find the types of Arrow in
//! the metadata all the same.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::{
    arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata},
    basic::{Compression, Encoding, ZstdLevel},
    data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::{WriterProperties, WriterPropertiesBuilder},
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::types::ColumnPath,
};

/// The number of rows of a row group.
const ROWS: usize = 1 << 17;
/// The most bytes of a dictionary of values of which each may be another.
const FEW_VALUES: usize = 64 << 10;

/// The type of the values in a Parquet column to be written: text, repeated text, floats or
/// integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// Text of few different values.
    Dictionary,
    /// 64-bit floats.
    Float,
    /// 64-bit integers.
    Integer,
}

/// A cell of a row to be written to a Parquet table: a text, a float, an integer, or null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowCell<'a> {
    /// A text.
    Text(&'a str),
    /// A float.
    Float(f64),
    /// An integer.
    Integer(i64),
    /// No value.
    Null,
}

/// A writer of rows as a table of Parquet, compressed by zstd. The writer holds a row group of
/// 131,072 rows in memory.
///
/// ```
/// use laneval_formats::{ColumnKind, ParquetWriter, RowCell};
/// let mut file = Vec::new();
/// let mut writer = ParquetWriter::new(
///     &mut file,
///     &[("query_id", ColumnKind::Text), ("value", ColumnKind::Float)],
/// )?;
/// writer.push(&[RowCell::Text("q1"), RowCell::Float(0.5)])?;
/// writer.finish()?;
/// assert!(file.starts_with(b"PAR1"));
/// # std::io::Result::Ok(())
/// ```
pub struct ParquetWriter<W: Write + Send> {
    columns: Vec<ColumnBuffer>,
    rows: usize,
    to: SerializedFileWriter<W>,
}

/// The values of one column that wait to be written as part of a Parquet row group. Nulls are left
/// out of the values; each row has a 1 if there is a value, else a 0.
struct ColumnBuffer {
    // The definition levels of Parquet for a column that may be null: 1 for a value, 0 for a null.
    // `values` has no gaps for nulls.
    there: Vec<i16>,
    values: ColumnValues,
}

enum ColumnValues {
    /// The concatenated texts, and the end of each text.
    Texts {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
    Floats(Vec<f64>),
    Integers(Vec<i64>),
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a Parquet table with the columns `columns`, each a name and a kind of values.
    ///
    /// # Errors
    /// An error of the stream.
    pub fn new(to: W, columns: &[(&str, ColumnKind)]) -> io::Result<Self> {
        let fields = columns.iter().map(|(name, kind)| Field::new(*name, kind.data_type(), true));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let settings =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        let settings = columns.iter().fold(settings, |settings, &(name, kind)| {
            kind.encoded(settings, ColumnPath::from(name))
        });
        let mut settings = settings.build();
        add_encoded_arrow_schema_to_metadata(&schema, &mut settings);
        let schema = ArrowSchemaConverter::new().convert(&schema).map_err(plain)?.root_schema_ptr();
        let to = SerializedFileWriter::new(to, schema, Arc::new(settings)).map_err(plain)?;
        Ok(Self { columns: columns.iter().map(|(_, kind)| kind.column()).collect(), rows: 0, to })
    }

    /// Adds a row to the Parquet table: for each column a cell of its kind, or null.
    ///
    /// # Errors
    /// Cells that do not fit the columns; an error of the stream.
    pub fn push(&mut self, row: &[RowCell<'_>]) -> io::Result<()> {
        let [cells, columns] = [row.len(), self.columns.len()];
        if cells != columns {
            return Err(io::Error::other(format!("{cells} cells for {columns} columns")));
        }
        self.columns.iter_mut().zip(row).try_for_each(|(column, cell)| column.push(*cell))?;
        self.rows += 1;
        if self.rows == ROWS { self.write() } else { Ok(()) }
    }

    /// Writes the remaining rows, and ends the Parquet table.
    ///
    /// # Errors
    /// An error of the stream.
    pub fn finish(mut self) -> io::Result<()> {
        self.write()?;
        self.to.close().map(drop).map_err(plain)
    }

    fn write(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let mut group = self.to.next_row_group().map_err(plain)?;
        for column in &mut self.columns {
            let mut to = group.next_column().map_err(plain)?.expect("a column of the schema");
            column.write(&mut to).map_err(plain)?;
            to.close().map_err(plain)?;
        }
        group.close().map(drop).map_err(plain)
    }
}

impl ColumnKind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Dictionary => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            Self::Float => DataType::Float64,
            Self::Integer => DataType::Int64,
        }
    }

    /// Sets the Parquet encoding of the column `path` to one that suits its kind of values.
    ///
    /// A dictionary suits repeated values. Ids of documents and scores mostly do not repeat, and a
    /// dictionary would write such a value twice: in the dictionary and as a code. So their
    /// dictionary ends early, and later values are written plainly. All readers know these
    /// encodings.
    fn encoded(
        self,
        settings: WriterPropertiesBuilder,
        path: ColumnPath,
    ) -> WriterPropertiesBuilder {
        match self {
            Self::Dictionary => settings,
            // The lengths are stored apart from the letters: between the letters, each length would
            // take four bytes.
            Self::Text => settings
                .set_column_dictionary_page_size_limit(path.clone(), FEW_VALUES)
                .set_column_encoding(path, Encoding::DELTA_LENGTH_BYTE_ARRAY),
            Self::Float => settings.set_column_dictionary_page_size_limit(path, FEW_VALUES),
            // Ranks go up by one.
            Self::Integer => settings
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        }
    }

    fn column(self) -> ColumnBuffer {
        let values = match self {
            Self::Text | Self::Dictionary => {
                ColumnValues::Texts { bytes: Vec::new(), ends: Vec::new() }
            }
            Self::Float => ColumnValues::Floats(Vec::new()),
            Self::Integer => ColumnValues::Integers(Vec::new()),
        };
        ColumnBuffer { there: Vec::new(), values }
    }
}

impl ColumnBuffer {
    fn push(&mut self, cell: RowCell<'_>) -> io::Result<()> {
        match (&mut self.values, cell) {
            (_, RowCell::Null) => {}
            (ColumnValues::Texts { bytes, ends }, RowCell::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
            }
            (ColumnValues::Floats(values), RowCell::Float(value)) => values.push(value),
            (ColumnValues::Integers(values), RowCell::Integer(value)) => values.push(value),
            (_, cell) => {
                return Err(io::Error::other(format!("{cell:?} is not of the kind of its column")));
            }
        }
        self.there.push(i16::from(cell != RowCell::Null));
        Ok(())
    }

    /// Writes the waiting values of the column to a Parquet row group, and empties the buffer.
    fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let there = mem::take(&mut self.there);
        let written = match &mut self.values {
            ColumnValues::Texts { bytes, ends } => {
                let (bytes, mut start) = (Bytes::from(mem::take(bytes)), 0);
                let texts = ends
                    .drain(..)
                    .map(|end| ByteArray::from(bytes.slice(mem::replace(&mut start, end)..end)));
                let texts = texts.collect::<Vec<_>>();
                to.typed::<ByteArrayType>().write_batch(&texts, Some(&there), None)
            }
            ColumnValues::Floats(values) => {
                to.typed::<DoubleType>().write_batch(&mem::take(values), Some(&there), None)
            }
            ColumnValues::Integers(values) => {
                to.typed::<Int64Type>().write_batch(&mem::take(values), Some(&there), None)
            }
        };
        written.map(drop)
    }
}

/// Returns the I/O error inside an error of the Parquet writer; wraps any other error as an I/O
/// error.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => {
            error.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error)
        }
        error => io::Error::other(error),
    }
}

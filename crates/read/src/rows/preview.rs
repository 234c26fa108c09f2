//! A preview of a qrels or run text: its recognised format and its first rows.

use super::text_rows::TextRows;
use crate::bytes::input::Input;
use crate::error::Result;
use crate::format::{ReadOptions, tables::TableReader};
use crate::lines::shape::Role;
use crate::text::ReadSettings;

/// The recognised format of a qrels or run text, and its first rows as they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The format, in words.
    pub what: String,
    /// The first rows of the text.
    pub rows: Vec<PreviewRow>,
}

/// A line of a previewed qrels or run text: query, document and number, or the fault of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewRow {
    /// The number of the line, from 1.
    pub line: u64,
    /// The query, the document, and the grade, score or −rank of the line, as written in the input;
    /// or the fault of the line.
    pub read: Result<[Vec<u8>; 3], String>,
}

impl Preview {
    /// Reads the format and the first `most` rows of an input, as judgments or as a run.
    ///
    /// # Errors
    /// An input that cannot be read, or is neither judgments nor a run.
    pub fn read(
        input: Input,
        judgments: bool,
        read_as: &ReadOptions,
        tables: Option<&'static dyn TableReader>,
        most: usize,
    ) -> Result<Self> {
        let role = if judgments { Role::Qrels } else { Role::Run };
        let settings = ReadSettings { tables, ..ReadSettings::new(read_as) };
        let mut text = TextRows::open(settings, input, role, None)?;
        let (what, mut rows) = (text.form.what.clone(), Vec::new());
        text.each(&mut |line, row| {
            let read = row.map(|row| [row.query, row.doc, row.number].map(<[u8]>::to_vec));
            rows.push(PreviewRow { line, read });
            rows.len() < most
        })?;
        Ok(Self { what, rows })
    }
}

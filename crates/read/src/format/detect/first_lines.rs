//! The first lines of an input with the facts known of it, from which its format is detected.

use std::sync::Arc;

use super::foreign::{FileHead, ForeignFormat};
use crate::format::{
    AlignedQrels, ReadOptions, RowLayout, input_format::InputFormat, open_input::OpenInput,
    tables::TableReader,
};
use crate::judged_by::FacetKind;
use crate::lines::{
    dialect::{Dialect, Rules},
    options::OptionStyle,
    scan::offset_in,
    separator::Separator,
    shape::Role,
};

/// The facts from which an input's format is detected beside its first bytes: role, name, dialect,
/// options.
#[derive(Clone, Copy)]
pub struct DetectContext<'a> {
    pub role: Role,
    /// The facets of judgments to read, if tables can have the facets.
    pub by: Option<FacetKind>,
    /// The name of the text, perhaps a path.
    pub name: &'a str,
    pub dialect: Dialect,
    pub read_as: &'a ReadOptions,
    /// The text itself, if it can be read again, as judgments can.
    pub text: Option<&'a Arc<OpenInput>>,
    /// The reader of Parquet and Arrow files, if there is one.
    pub tables: Option<&'static dyn TableReader>,
    /// Whether ranks are read beside scores.
    pub ranks: bool,
    /// The judgments, if runs without ids go with them.
    pub partner: Option<&'a AlignedQrels>,
}

/// The result of format detection: the layout of an input's rows, or why they are not read.
pub type Detected = Result<RowLayout, ForeignFormat>;

/// The fewest lines of a table with blanks that has no header.
pub(super) const FEWEST: usize = 3;

/// The first lines of an input with the facts known of it, by which its format is detected.
#[derive(Clone, Copy)]
pub struct FirstLines<'a> {
    pub head: FileHead<'a>,
    /// The lines that are neither blank nor comments, with their numbers.
    pub lines: &'a [(u64, &'a [u8])],
    /// The number of the first such line, and its text.
    pub number: u64,
    pub first: &'a [u8],
    pub known: DetectContext<'a>,
    pub rules: Rules,
}

impl<'l> FirstLines<'l> {
    /// Returns the text of an input from its first line that is neither blank nor a comment.
    pub fn text(self) -> &'l [u8] {
        &self.head.text[self.start()..]
    }

    /// Returns the byte offset in an input of its first line that is neither blank nor a comment.
    pub fn start(self) -> usize {
        offset_in(self.head.text, self.first)
    }

    /// Returns the likely separator of the first line's columns: a tab, a comma, a semicolon or
    /// blanks.
    pub fn separator(self) -> Separator {
        let usual = match [b'\t', b','].map(|byte| self.first.contains(&byte)) {
            [true, true]
                if InputFormat::from_extension(self.known.name) == Some(InputFormat::Csv) =>
            {
                Separator::Comma
            }
            [true, _] => Separator::Tab,
            [_, true] => Separator::Comma,
            _ => Separator::Blanks,
        };
        // Where a semicolon is one, no line could be read by another separator.
        let columns = self.columns(Separator::Semicolon);
        let is_semicolon = usual != Separator::Tab
            && columns > 2
            && self.columns(usual) <= 2
            && self
                .lines
                .iter()
                .all(|(_, line)| Separator::Semicolon.fields(line).len() == columns);
        if is_semicolon { Separator::Semicolon } else { usual }
    }

    /// Returns the separator of a table that is said to be CSV.
    pub fn separator_of_csv(self) -> Separator {
        match self.separator() {
            Separator::Semicolon => Separator::Semicolon,
            _ => Separator::Comma,
        }
    }

    /// Returns the style in which messages write options: as on the command line, or as in Python.
    pub fn options(self) -> OptionStyle {
        self.known.read_as.options
    }

    pub fn columns(self, separator: Separator) -> usize {
        separator.fields(self.first).len()
    }

    /// Returns a format error with this message at the first line of an input.
    pub fn refuse<T>(self, message: impl Into<String>) -> Result<T, ForeignFormat> {
        Err(ForeignFormat::Explained(self.number, message.into()))
    }
}

//! A look at the start of a text: known facts, the first lines, and helpers that all formats use.

use std::sync::Arc;

use super::Form;
use super::Partner;
use super::ReadAs;
use super::foreign::{Head, OtherFormat};
use super::input_format::InputFormat;
use super::opened::Opened;
use super::tables::TableReader;
use crate::judged_by::JudgedBy;
use crate::lines::dialect::{Dialect, Rules};
use crate::lines::options::OptionStyle;
use crate::lines::separator::Separator;
use crate::lines::shape::Role;

/// The facts about a text that are known beside its start.
#[derive(Debug, Clone, Copy)]
pub struct KnownOfText<'a> {
    pub role: Role,
    /// The facets of judgments to read, if tables can have the facets.
    pub by: Option<JudgedBy>,
    /// The name of the text, perhaps a path.
    pub name: &'a str,
    pub dialect: Dialect,
    pub read_as: &'a ReadAs,
    /// The text itself, if it can be read again, as judgments can.
    pub text: Option<&'a Arc<Opened>>,
    /// The readers of files of tables.
    pub tables: TableReaders,
    /// The judgments, if runs without ids go with them.
    pub partner: Option<&'a Partner>,
}

/// The readers of files of tables, and whether ranks are read beside scores.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableReaders {
    pub reader: Option<&'static dyn TableReader>,
    pub ranks: bool,
}

/// The recognised format of a text, or an error.
pub(super) type Told = Result<Form, OtherFormat>;

/// The fewest lines of a table with blanks that has no header.
pub(super) const FEWEST: usize = 3;

/// A look at the start of a text.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub head: Head<'a>,
    /// The lines that are neither blank nor comments, with their numbers.
    pub lines: &'a [(u64, &'a [u8])],
    /// The number of the first such line, and its text.
    pub number: u64,
    pub first: &'a [u8],
    pub known: KnownOfText<'a>,
    pub rules: Rules,
}

impl<'l> Look<'l> {
    /// The text from the first line that is neither blank nor a comment.
    pub fn text(self) -> &'l [u8] {
        let start = self.first.as_ptr() as usize - self.head.text.as_ptr() as usize;
        &self.head.text[start..]
    }

    /// The separator of the columns of the first line.
    pub fn separator(self) -> Separator {
        match [b'\t', b','].map(|byte| self.first.contains(&byte)) {
            [true, true] if InputFormat::of_name(self.known.name) == Some(InputFormat::Csv) => {
                Separator::Comma
            }
            [true, _] => Separator::Tab,
            [_, true] => Separator::Comma,
            _ => Separator::Blanks,
        }
    }

    /// The way messages write options.
    pub fn options(self) -> OptionStyle {
        self.known.read_as.options
    }

    pub fn columns(self, separator: Separator) -> usize {
        separator.fields(self.first).len()
    }

    /// Makes an error about the first line.
    pub fn wrong(self, message: String) -> OtherFormat {
        OtherFormat::Told(self.number, message)
    }
}

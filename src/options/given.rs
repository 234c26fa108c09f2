//! The options that a command line or a call gives, by their ids.

use std::ffi::OsString;
use std::path::Path;
use std::str::FromStr;

use super::{OPTIONS, OptionRow};
use crate::error::{Error, Result};

/// The options that were given, each with its values. An option that was not given has the default
/// of its row, if that has one.
#[derive(Debug, Clone, Default)]
pub struct Given {
    command: &'static str,
    values: Vec<(&'static str, Vec<OsString>)>,
}

impl Given {
    /// Makes the options of a command, none of which is given.
    pub fn new(command: &'static str) -> Self {
        Self { command, values: Vec::new() }
    }

    /// Sets the values of an option: none for a flag. Earlier values are replaced.
    pub fn set(&mut self, id: &'static str, values: Vec<OsString>) {
        self.values.retain(|(other, _)| *other != id);
        self.values.push((id, values));
    }

    /// Returns whether an option was given.
    pub fn is_given(&self, id: &str) -> bool {
        self.given(id).is_some()
    }

    /// Returns whether a flag was given.
    pub fn flag(&self, id: &str) -> bool {
        self.is_given(id)
    }

    /// Returns the value of an option as text: the given one, or else the default.
    pub fn text(&self, id: &str) -> Option<&str> {
        match self.given(id) {
            Some(values) => values.last().and_then(|value| value.to_str()),
            None => self.row(id).map(|row| row.default).filter(|default| !default.is_empty()),
        }
    }

    /// Returns the values of an option as texts: the given ones, or else the default.
    pub fn texts(&self, id: &str) -> Vec<&str> {
        match self.given(id) {
            Some(values) => values.iter().filter_map(|value| value.to_str()).collect(),
            None => self.text(id).into_iter().collect(),
        }
    }

    /// Returns the given path.
    pub fn path(&self, id: &str) -> Option<&Path> {
        self.paths(id).last().copied()
    }

    /// Returns the path of an option that must be given.
    ///
    /// # Errors
    /// It was not given.
    pub fn required_path(&self, id: &str) -> Result<&Path> {
        self.path(id).ok_or_else(|| Error::Unanswerable(format!("--{id} is needed")))
    }

    /// Returns all given paths.
    pub fn paths(&self, id: &str) -> Vec<&Path> {
        self.raw(id).iter().map(Path::new).collect()
    }

    /// Returns the given values as they are, which need not be UTF-8.
    pub fn raw(&self, id: &str) -> &[OsString] {
        self.given(id).unwrap_or_default()
    }

    /// Parses the value of an option: the given one, or else the default, if there is one.
    ///
    /// # Errors
    /// The value is none of the type.
    pub fn value<T: FromStr<Err: ToString>>(&self, id: &str) -> Result<Option<T>> {
        self.parsed(id, |text| text.parse().map_err(|error: T::Err| error.to_string()))
    }

    /// Parses the value of an option by `parse`: the given one, or else the default, if there is
    /// one.
    ///
    /// # Errors
    /// What `parse` says.
    pub fn parsed<T>(
        &self,
        id: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>> {
        let read = self.text(id).map(parse).transpose();
        read.map_err(|wrong| Error::Unanswerable(format!("--{id}: {wrong}")))
    }

    /// Parses the value of an option that has a default, or must be given.
    ///
    /// # Errors
    /// The value is none of the type, or there is none.
    pub fn required<T: FromStr<Err: ToString>>(&self, id: &str) -> Result<T> {
        self.value(id)?.ok_or_else(|| Error::Unanswerable(format!("--{id} is needed")))
    }

    fn given(&self, id: &str) -> Option<&[OsString]> {
        debug_assert!(OPTIONS.iter().any(|row| row.id == id), "no option --{id}");
        self.values.iter().find(|(own, _)| *own == id).map(|(_, values)| &values[..])
    }

    /// Returns the row of an option that the command has.
    pub(super) fn row(&self, id: &str) -> Option<&'static OptionRow> {
        OPTIONS.iter().find(|row| row.id == id && row.is_of(self.command))
    }
}

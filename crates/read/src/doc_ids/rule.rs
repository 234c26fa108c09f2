//! The rule that maps ids of results or judgments to units, such as chunks to documents.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::map::DocIdMap;
use crate::bytes::input::Input;
use crate::error::{Error, Result};

/// The rule that maps ids of results or judgments to units, such as chunks to documents.
///
/// ```
/// use laneval::DocIdRule;
/// assert_eq!(DocIdRule::before("#"), "before:#".parse()?);
/// assert_eq!(DocIdRule::before_first("_p").to_string(), "before-first:_p");
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DocIdRule {
    /// Every id is its own unit.
    #[default]
    Identity,
    /// The id up to the last occurrence of this text. An id without the text is its own unit.
    BeforeLast(Box<str>),
    /// The id up to the first occurrence of this text. An id without the text is its own unit.
    BeforeFirst(Box<str>),
    /// The unit of the id in this map.
    Map(Arc<DocIdMap>),
    /// The unit is a column of tables, or a key of records, of this name; ids are not read.
    Column(Box<str>),
}

impl DocIdRule {
    /// The syntax of all rules.
    pub const EXPECTED: &'static str = "before:TEXT, before-first:TEXT, map:FILE or column:NAME";

    /// Makes the rule that a unit is the part of an id before the last `text`, such as `d1` of
    /// `d1#2`.
    pub fn before(text: &str) -> Self {
        Self::BeforeLast(text.into())
    }

    /// Makes the rule that a unit is the part of an id before the first `text`.
    pub fn before_first(text: &str) -> Self {
        Self::BeforeFirst(text.into())
    }

    /// Makes the rule that looks up units in a file of lines of id and unit, with a tab between
    /// them.
    ///
    /// # Errors
    /// As [`DocIdMap::read`].
    pub fn map(input: impl Into<Input>) -> Result<Self> {
        Ok(Self::Map(Arc::new(DocIdMap::read(input)?)))
    }

    /// Makes the rule that reads units from the table column, or the key of records, called `name`.
    pub fn column(name: &str) -> Self {
        Self::Column(name.into())
    }

    /// Returns whether a text has the syntax of a unit rule, such as `before:#`, even if its file
    /// does not exist.
    pub fn is_rule(text: &str) -> bool {
        let parts = text.split_once(':').filter(|(_, argument)| !argument.is_empty());
        parts.is_some_and(|(name, _)| ["before", "before-first", "map", "column"].contains(&name))
    }

    /// Rejects a unit rule with an empty text or name.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::BeforeLast(argument) | Self::BeforeFirst(argument) | Self::Column(argument)
                if argument.is_empty() =>
            {
                Err(no_rule(&self.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the rule gives units other than the ids themselves.
    pub fn is_some_rule(&self) -> bool {
        *self != Self::Identity
    }
}

impl fmt::Display for DocIdRule {
    /// Writes the unit rule in the syntax of the option, such as `before:#`; a map goes by its
    /// fingerprint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => Ok(()),
            Self::BeforeLast(text) => write!(f, "before:{text}"),
            Self::BeforeFirst(text) => write!(f, "before-first:{text}"),
            Self::Map(map) => write!(f, "map:{:032x}", map.fingerprint()),
            Self::Column(name) => write!(f, "column:{name}"),
        }
    }
}

impl FromStr for DocIdRule {
    type Err = Error;

    /// Parses a unit rule such as `before:#`, and reads the file of a map.
    ///
    /// # Errors
    /// Another text; as [`DocIdMap::read`].
    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':').filter(|_| Self::is_rule(text)) {
            Some(("before", text)) => Ok(Self::before(text)),
            Some(("before-first", text)) => Ok(Self::before_first(text)),
            Some(("map", file)) => Self::map(file),
            Some((_, name)) => Ok(Self::column(name)),
            None => Err(no_rule(text)),
        }
    }
}

/// Returns the error for a text that is no unit rule.
fn no_rule(text: &str) -> Error {
    Error::Unanswerable(format!(
        "`{text}` is no rule of units: {} was expected",
        DocIdRule::EXPECTED
    ))
}

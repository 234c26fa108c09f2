//! The rule that derives the id of a unit from the id of a result.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::map::UnitMap;
use crate::bytes::input::Input;
use crate::error::{Error, Result};

/// The rule that maps results or judgments to units, such as chunks to documents.
///
/// ```
/// use laneval::Units;
/// assert_eq!(Units::before("#"), "before:#".parse()?);
/// assert_eq!(Units::before_first("_p").to_string(), "before-first:_p");
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Units {
    /// Every id is its own unit.
    #[default]
    AsIs,
    /// The id up to the last occurrence of this text. An id without the text is its own unit.
    Before(Box<str>),
    /// The id up to the first occurrence of this text. An id without the text is its own unit.
    BeforeFirst(Box<str>),
    /// The unit of the id in this map.
    Map(Arc<UnitMap>),
    /// The unit is a column of tables, or a key of records, of this name; ids are not read.
    Column(Box<str>),
}

impl Units {
    /// The syntax of all rules.
    pub const EXPECTED: &'static str = "before:TEXT, before-first:TEXT, map:FILE or column:NAME";

    /// The id up to the last `text`.
    pub fn before(text: &str) -> Self {
        Units::Before(text.into())
    }

    /// The id up to the first `text`.
    pub fn before_first(text: &str) -> Self {
        Units::BeforeFirst(text.into())
    }

    /// The units of a file of ids and units, with a tab between them.
    ///
    /// # Errors
    /// As [`UnitMap::read`].
    pub fn map(input: impl Into<Input>) -> Result<Self> {
        Ok(Units::Map(Arc::new(UnitMap::read(input)?)))
    }

    /// The column of a table, or the key of a record.
    pub fn column(name: &str) -> Self {
        Units::Column(name.into())
    }

    /// Whether the text has the syntax of a rule, even if the file of the rule does not exist.
    pub fn is_rule(text: &str) -> bool {
        let parts = text.split_once(':').filter(|(_, of)| !of.is_empty());
        parts.is_some_and(|(name, _)| ["before", "before-first", "map", "column"].contains(&name))
    }

    /// Checks that the rule has a text or a name.
    pub fn check(&self) -> Result<()> {
        match self {
            Units::Before(of) | Units::BeforeFirst(of) | Units::Column(of) if of.is_empty() => {
                Err(no_rule(&self.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Whether units differ from ids.
    pub fn is_given(&self) -> bool {
        *self != Units::AsIs
    }
}

impl fmt::Display for Units {
    /// Writes the rule as it is asked for; a map goes by the fingerprint of its content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Units::AsIs => Ok(()),
            Units::Before(text) => write!(f, "before:{text}"),
            Units::BeforeFirst(text) => write!(f, "before-first:{text}"),
            Units::Map(map) => write!(f, "map:{:032x}", map.fingerprint()),
            Units::Column(name) => write!(f, "column:{name}"),
        }
    }
}

impl FromStr for Units {
    type Err = Error;

    /// Parses a rule, and reads the file of a map.
    ///
    /// # Errors
    /// Another text; as [`UnitMap::read`].
    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':').filter(|_| Units::is_rule(text)) {
            Some(("before", text)) => Ok(Units::before(text)),
            Some(("before-first", text)) => Ok(Units::before_first(text)),
            Some(("map", file)) => Units::map(file),
            Some((_, name)) => Ok(Units::column(name)),
            None => Err(no_rule(text)),
        }
    }
}

/// The error of a text that is no rule.
fn no_rule(text: &str) -> Error {
    Error::Unanswerable(format!("`{text}` is no rule of units: {} was expected", Units::EXPECTED))
}

//! The rules for several results of one document in a ranking: an error, the best, the sum or the
//! mean.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::error::Error;

/// The rule for several results of one document, or of the unit that chunks count for: see
/// `Join::units`.
///
/// ```
/// use laneval::Aggregation;
/// assert_eq!("max".parse::<Aggregation>()?, Aggregation::Max);
/// assert_eq!("mean:2".parse::<Aggregation>()?.to_string(), "mean:2");
/// assert_eq!(
///     "mean:0".parse::<Aggregation>().unwrap_err().to_string(),
///     "behind mean: a number of results, 1 or more, was expected"
/// );
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aggregation {
    /// Several results of a document are an error.
    #[default]
    Error,
    /// The best result stays, so a document has its largest score.
    Max,
    /// The best result stays, and further results keep their ranks as unjudged documents.
    Blank,
    /// The document has the sum of its N best scores, or of all its scores.
    Sum(Option<NonZeroU32>),
    /// The document has the mean of its N best scores, or of all its scores if it has fewer.
    Mean(Option<NonZeroU32>),
}

impl Aggregation {
    /// Returns whether the rule gives documents new scores, which results with ranks alone cannot
    /// have.
    pub fn changes_scores(self) -> bool {
        matches!(self, Aggregation::Sum(_) | Aggregation::Mean(_))
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.pad("error"),
            Self::Max => f.pad("max"),
            Self::Blank => f.pad("blank"),
            Self::Sum(None) => f.pad("sum"),
            Self::Mean(None) => f.pad("mean"),
            Self::Sum(Some(most)) => f.pad(&format!("sum:{most}")),
            Self::Mean(Some(most)) => f.pad(&format!("mean:{most}")),
        }
    }
}

impl FromStr for Aggregation {
    type Err = Error;

    /// Parses the rule for several results of a document: `error`, `max`, `blank`,
    /// `sum` or `mean`. The last two may have `:N` behind them.
    ///
    /// # Errors
    /// Another name, or no number of results where one was expected.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, most) = match text.split_once(':') {
            Some((name, most)) => (name, Some(most)),
            None => (text, None),
        };
        let rule = match (name, most) {
            ("error", None) => return Ok(Self::Error),
            ("max", None) => return Ok(Self::Max),
            ("blank", None) => return Ok(Self::Blank),
            ("sum", _) => Self::Sum,
            ("mean", _) => Self::Mean,
            _ => {
                let message = "error, max, blank, sum[:N] or mean[:N] was expected";
                return Err(Error::Unanswerable(message.to_owned()));
            }
        };
        most.map(str::parse).transpose().map(rule).map_err(|_| {
            Error::Unanswerable(format!(
                "behind {name}: a number of results, 1 or more, was expected"
            ))
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Aggregation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Aggregation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

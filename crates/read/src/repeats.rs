//! The rules for several results of one document.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::error::Error;

/// The rule for several results of a document or of a unit: see
/// `Join::units`.
///
/// ```
/// use laneval::Repeats;
/// assert_eq!("max".parse::<Repeats>()?, Repeats::First);
/// assert_eq!("mean:2".parse::<Repeats>()?.to_string(), "mean:2");
/// assert_eq!(
///     "mean:0".parse::<Repeats>().unwrap_err().to_string(),
///     "behind mean: a number of results, 1 or more, was expected"
/// );
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeats {
    /// Several results of a document are an error.
    #[default]
    Error,
    /// The best result stays, so a document has its largest score.
    First,
    /// The best result stays, and further results keep their ranks as unjudged documents.
    Blank,
    /// The document has the sum of its N best scores, or of all its scores.
    Sum(Option<NonZeroU32>),
    /// The document has the mean of its N best scores, or of all its scores if it has fewer.
    Mean(Option<NonZeroU32>),
}

impl Repeats {
    /// Whether documents get new scores, which results with ranks alone cannot have.
    pub fn makes_scores(self) -> bool {
        matches!(self, Repeats::Sum(_) | Repeats::Mean(_))
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repeats::Error => f.pad("error"),
            Repeats::First => f.pad("first"),
            Repeats::Blank => f.pad("blank"),
            Repeats::Sum(None) => f.pad("sum"),
            Repeats::Mean(None) => f.pad("mean"),
            Repeats::Sum(Some(most)) => f.pad(&format!("sum:{most}")),
            Repeats::Mean(Some(most)) => f.pad(&format!("mean:{most}")),
        }
    }
}

impl FromStr for Repeats {
    type Err = Error;

    /// Parses a name: `error`, `first` (or `max`), `blank`, `sum` or `mean`, the last two perhaps
    /// with `:N`.
    ///
    /// # Errors
    /// Another name, or no number of results where one was expected.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, most) = match text.split_once(':') {
            Some((name, most)) => (name, Some(most)),
            None => (text, None),
        };
        let most_of = |most: Option<&str>| match most.map(str::parse::<NonZeroU32>) {
            None => Ok(None),
            Some(Ok(most)) => Ok(Some(most)),
            Some(Err(_)) => {
                let message =
                    format!("behind {name}: a number of results, 1 or more, was expected");
                Err(Error::Unanswerable(message))
            }
        };
        match (name, most) {
            ("error", None) => Ok(Repeats::Error),
            ("first" | "max", None) => Ok(Repeats::First),
            ("blank", None) => Ok(Repeats::Blank),
            ("sum", most) => most_of(most).map(Repeats::Sum),
            ("mean", most) => most_of(most).map(Repeats::Mean),
            _ => Err(Error::Unanswerable(
                "error, first, blank, sum[:N] or mean[:N] was expected".to_owned(),
            )),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Repeats {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Repeats {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

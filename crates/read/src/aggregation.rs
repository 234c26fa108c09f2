//! The rules for several results of one document in a ranking: an error, the best, the sum or the
//! mean.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::error::{Error, unanswerable};

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
        let (name, most) =
            text.split_once(':').map_or((text, None), |(name, most)| (name, Some(most)));
        let rule = match (name, most) {
            ("error", None) => return Ok(Self::Error),
            ("max", None) => return Ok(Self::Max),
            ("blank", None) => return Ok(Self::Blank),
            ("sum", _) => Self::Sum,
            ("mean", _) => Self::Mean,
            _ => return unanswerable("error, max, blank, sum[:N] or mean[:N] was expected"),
        };
        most.map(str::parse).transpose().map(rule).map_err(|_| {
            Error::Unanswerable(format!(
                "behind {name}: a number of results, 1 or more, was expected"
            ))
        })
    }
}

serialized_as_text!(Aggregation);

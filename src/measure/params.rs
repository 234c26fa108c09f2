//! Parameters of measures and cutoffs: their kinds, their values and the printed forms of the
//! values.

use std::fmt;

/// The parameter of all measures that take a grade for each document, where several judges have
/// graded it.
pub static JUDGES: Param = Param {
    name: "judges",
    kind: ParamKind::Choice(&["largest", "mean", "min", "max"]),
    default: "largest",
    excludes: "no_relevant",
    needs: "",
    doc: "of a document that several judges have graded, the largest grade counts; or the value is \
          computed for each judge of the query, and its mean, minimum or maximum over them counts",
};

/// The parameter of all measures of grades that average values which are 0 where nothing is
/// relevant.
pub static NO_RELEVANT: Param = Param {
    name: "no_relevant",
    kind: ParamKind::Choice(&["0", "1", "skip"]),
    default: "0",
    excludes: "judges",
    needs: "",
    doc: "the value of a query for which nothing is relevant (for gains: whose ideal ranking gains \
          nothing): 0, 1, or none, so that it is in no average (skip)",
};

/// The rule for the cutoff `@k` of a measure: none, optional, required, or a level of recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutoffRule {
    /// It takes no cutoff.
    None,
    /// The cutoff is optional: `@k` counts the first k ranks, no cutoff counts the whole ranking.
    Optional,
    /// The cutoff is required.
    Required,
    /// The cutoff is a level of recall, 0 to 1.
    Recall,
}

impl fmt::Display for CutoffRule {
    /// Writes the cutoff of a measure as in syntax help: `@k`, `[@k]` if optional, `@x` for recall,
    /// or nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::Optional => "[@k]",
            Self::Required => "@k",
            Self::Recall => "@x",
        })
    }
}

/// A parameter of a measure in the table of measures: name, kind of values, default and
/// description.
pub struct Param {
    /// The name of the parameter.
    pub name: &'static str,
    /// The values of the parameter; in a list, the default is first.
    pub kind: ParamKind,
    /// The default as text; empty if a missing parameter means none of the values.
    pub default: &'static str,
    /// The name of another parameter that excludes this parameter.
    pub excludes: &'static str,
    /// The required value of a second parameter, such as `discount=jk`.
    pub needs: &'static str,
    /// A description of the parameter's effect.
    pub doc: &'static str,
}

/// The kind of values that a parameter of a measure takes, such as a relevance level or a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamKind {
    /// A relevance level: a finite grade ≥ 0.
    Level,
    /// A number in a closed range.
    Number(f64, f64),
    /// A number in a closed range, or a word.
    NumberOrChoice(f64, f64, &'static [&'static str]),
    /// A whole number from 0 to this limit.
    Whole(f64),
    /// A number of ranks, 1 to a million, or a word.
    Ranks(&'static [&'static str]),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `linear`, `exp2`, `binary`, or a table `{grade:gain,…}`.
    Gain,
    /// A list of levels of recall, ascending: `[0.2,0.5,0.8]`.
    Points,
}

impl ParamKind {
    /// Returns whether `value` is of this kind of values, as a parameter of a measure must be.
    pub(super) fn accepts(&self, value: &ParamValue) -> bool {
        match (self, value) {
            (Self::Level, ParamValue::Number(level)) => (0.0..=f64::MAX).contains(level),
            (
                Self::Number(least, most) | Self::NumberOrChoice(least, most, _),
                ParamValue::Number(number),
            ) => (least..=most).contains(&number),
            (Self::Whole(most), ParamValue::Number(number)) => {
                (0.0..=*most).contains(number) && number.fract() == 0.0
            }
            (Self::Ranks(_), ParamValue::Number(ranks)) => {
                (1.0..=1e6).contains(ranks) && ranks.fract() == 0.0
            }
            (
                Self::NumberOrChoice(_, _, words) | Self::Ranks(words) | Self::Choice(words),
                ParamValue::Choice(word),
            ) => words.contains(word),
            (Self::Gain, ParamValue::Choice(word)) => GAINS.contains(word),
            (Self::Gain, ParamValue::Table(pairs)) => {
                pairs.windows(2).all(|pair| pair[0].0 < pair[1].0)
            }
            (Self::Points, ParamValue::List(points)) => {
                points.iter().all(|point| (0.0..=1.0).contains(point))
                    && points.windows(2).all(|pair| pair[0] < pair[1])
            }
            _ => false,
        }
    }

    /// Returns the words that a parameter of this kind may have as its value.
    pub(crate) fn choices(&self) -> &'static [&'static str] {
        match *self {
            Self::NumberOrChoice(_, _, words) | Self::Ranks(words) | Self::Choice(words) => words,
            Self::Gain => &GAINS,
            Self::Level | Self::Number(..) | Self::Whole(_) | Self::Points => &[],
        }
    }
}

/// The named gains.
const GAINS: [&str; 3] = ["linear", "exp2", "binary"];

impl fmt::Display for ParamKind {
    /// Describes the values of a parameter of this kind in words, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level => f.write_str("a grade, 0 or more, or > and a grade"),
            Self::Number(least, most) => write!(f, "a number from {least} to {most}"),
            Self::NumberOrChoice(least, most, words) => {
                write!(f, "a number from {least} to {most}, or {}", words.join(" or "))
            }
            Self::Whole(most) => write!(f, "a whole number from 0 to {most}"),
            Self::Ranks(words) => {
                f.write_str("a number of ranks, 1 to 1000000")?;
                words.iter().try_for_each(|word| write!(f, ", or {word}"))
            }
            Self::Choice(words) => f.write_str(&words.join(" or ")),
            Self::Gain => f.write_str("linear, exp2, binary or a table such as {1:3,2:9}"),
            Self::Points => f.write_str("a list such as [0.2,0.5,0.8]"),
        }
    }
}

/// The value of a parameter of a measure: a number, a word, a table of gains or a list.
#[derive(Debug, Clone)]
pub enum ParamValue {
    /// A number.
    Number(f64),
    /// A word of the parameter's list.
    Choice(&'static str),
    /// A table of (grade, gain), ascending by grade.
    Table(Vec<(f64, f64)>),
    /// A list of numbers.
    List(Vec<f64>),
}

/// Parses a relevance level: a grade, or a grade behind `>` as an exclusive bound, such as `>0`.
///
/// ```
/// use laneval::measure::parse_level;
/// assert_eq!(
///     (parse_level("2"), parse_level(">0.5"), parse_level("-1")),
///     (Some(2.0), Some(0.5f64.next_up()), None)
/// );
/// ```
pub fn parse_level(text: &str) -> Option<f64> {
    let (text, is_above) = match text.strip_prefix('>') {
        Some(text) => (text.trim_start(), true),
        None => (text, false),
    };
    // + 0.0 makes −0 a 0: equal levels must have equal text.
    let level = text.parse::<f64>().ok()? + 0.0;
    let level = if is_above { level.next_up() } else { level };
    ParamKind::Level.accepts(&ParamValue::Number(level)).then_some(level)
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Choice(word) => f.write_str(word),
            Self::Table(pairs) => {
                let pairs: Vec<_> =
                    pairs.iter().map(|(grade, gain)| format!("{grade}:{gain}")).collect();
                write!(f, "{{{}}}", pairs.join(","))
            }
            Self::List(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(f64::to_string).collect();
                write!(f, "[{}]", numbers.join(","))
            }
        }
    }
}

/// The cutoff of a measure, where it stops reading a ranking: a rank, or a level of recall.
#[derive(Debug, Clone, Copy)]
pub enum Cutoff {
    /// After this number of ranks, at least 1.
    Rank(u32),
    /// At a level of recall.
    Recall(f64),
}

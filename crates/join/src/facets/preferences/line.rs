//! Judgment lines that state preferences between documents, and the faults of lines that do not
//! form any.

use std::fmt;

use crate::matrix::FacetJudgment;

/// The most documents of a query with preferences: all pairs of documents are examined for each
/// group.
pub const MOST_DOCUMENTS: u32 = 10_000;

/// A judgment line of preferences: the level of a document in a sub-group of a judgment group.
///
/// Groups, sub-groups and documents are numbered per query in bytewise order of their names. Any
/// other numbering of groups gives the same preferences, but the averages over groups may then
/// differ in the last bit from those of trec_eval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreferenceLine {
    /// The number of the judgment group.
    pub group: u32,
    /// The number of the sub-group; equal numbers in different groups have nothing in common.
    pub subgroup: u32,
    /// The number of the document, below the number of documents given to
    /// [`Preferences::new`](super::Preferences::new).
    pub document: u32,
    /// The level of the document, a number: a higher level is preferred, 0 means not relevant.
    /// Infinite and negative levels are compared like any other.
    pub level: f64,
}

/// A preference line with its index among the lines of its query.
#[derive(Clone, Copy)]
pub struct NumberedLine {
    pub line: PreferenceLine,
    pub index: usize,
}

/// The reason why the judgment lines of a query do not form preferences. Lines are named by their
/// index.
#[derive(Debug, PartialEq)]
pub enum PreferenceFault {
    /// A document at two levels in a group with a single sub-group.
    TwoLevels {
        /// The index of the line with the higher level.
        higher: usize,
        /// The index of the line with the lower level.
        lower: usize,
    },
    /// A document with level 0 in a sub-group and a level above 0 in a further sub-group of the
    /// group.
    ZeroAndMore {
        /// The index of the line with level 0.
        zero: usize,
        /// The index of the line with the level above 0.
        more: usize,
    },
    /// A circle of preferences in a group.
    Cycle {
        /// The steps of the circle, each as two lines of one sub-group: the document of the first
        /// is preferred to the document of the second. The second document of a step is the first
        /// document of the next step, and the last step leads back to the first.
        steps: Vec<(usize, usize)>,
    },
    /// More documents than [`MOST_DOCUMENTS`].
    TooMany {
        /// The number of documents of the query.
        documents: u32,
    },
}

impl PreferenceFault {
    /// Returns the indices of the judgment lines at fault.
    pub fn lines(&self) -> Vec<usize> {
        match self {
            Self::TwoLevels { higher: one, lower: other }
            | Self::ZeroAndMore { zero: one, more: other } => vec![*one, *other],
            Self::Cycle { steps } => steps.iter().flat_map(|&(one, other)| [one, other]).collect(),
            Self::TooMany { .. } => Vec::new(),
        }
    }
}

impl PreferenceLine {
    /// Makes a preference line from a judgment, whose grade becomes the level, and the number of
    /// its sub-group.
    pub fn new(judgment: &FacetJudgment, subgroup: u32) -> Self {
        let FacetJudgment { group, document, grade: level } = *judgment;
        Self { group, subgroup, document, level }
    }
}

impl fmt::Display for PreferenceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoLevels { .. } => "the document has two levels in one judgment group",
            Self::ZeroAndMore { .. } => {
                "the document has level 0 and a level above 0 in one judgment group"
            }
            Self::Cycle { .. } => "the preferences of a judgment group form a cycle",
            Self::TooMany { documents } => {
                return write!(
                    f,
                    "the preferences are among {documents} documents, at most {MOST_DOCUMENTS} \
                     are allowed"
                );
            }
        })
    }
}

impl std::error::Error for PreferenceFault {}

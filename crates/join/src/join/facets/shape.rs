//! The shape of a line of judgments by facet: its number of fields, and the meaning of its number.

use crate::bytes::hash::Seed;
use crate::judged_by::FacetKind;
use crate::lines::dialect::{Dialect, Rules};
use crate::progress::ProgressHandle;

/// The shape of lines of judgments by facet: the kind of facet, the dialect and the number of
/// fields.
#[derive(Clone, Copy)]
pub struct FacetShape {
    pub by: FacetKind,
    pub dialect: Dialect,
    pub rules: Rules,
    /// The number of fields of a line.
    pub fields: usize,
}

impl FacetShape {
    pub fn new(by: FacetKind, fields: usize, dialect: Dialect) -> Self {
        Self { by, dialect, rules: dialect.rules(), fields }
    }

    /// Returns whether a line of preferences names a sub-group beside the group.
    pub fn has_subgroups(self) -> bool {
        self.fields == 5
    }

    /// Returns whether repeated judgments count, so that no row may be dropped: trec_eval counts a
    /// repeated preference twice. Else they are an error, for whose message a few suffice.
    pub fn counts_repeats(self) -> bool {
        self.by == FacetKind::Preference && self.rules.late_repeats
    }

    /// Returns the word for the number of a line of judgments by facet in messages: `level` or
    /// `grade`.
    pub fn number(self) -> &'static str {
        if self.by == FacetKind::Preference { "level" } else { "grade" }
    }

    /// Returns the parser of the grade or preference level of a line by the dialect. The parser
    /// returns `None` if the field is not a number.
    pub fn parser(self) -> fn(&[u8]) -> Option<f64> {
        match (self.by, self.dialect) {
            // A level may be infinite only once it is rounded.
            (FacetKind::Preference, Dialect::Trec9) => |field| {
                (Dialect::Trec9.rules().score)(field).filter(|&level| (level as f32).is_finite())
            },
            (FacetKind::Preference, Dialect::Trec10) => {
                |field| (Dialect::Trec10.rules().score)(field).filter(|level| level.is_finite())
            }
            _ => self.rules.grade,
        }
    }

    /// Converts a grade or a preference level to its value in the dialect: trec_eval 9 rounds
    /// levels to f32.
    pub fn grade(self, grade: f64) -> f64 {
        let grade = match self.by {
            FacetKind::Preference if self.dialect == Dialect::Trec9 => f64::from(grade as f32),
            FacetKind::Preference => grade,
            _ if self.rules.whole_grades => grade.trunc(),
            _ => grade,
        };
        grade + 0.0 // −0 is 0
    }

    /// Returns the grade of a document in the qrels, given its largest grade or level over all
    /// judges or groups. trec_eval 10 cuts off what is behind the dot of a grade, and levels are
    /// grades there.
    pub fn table_grade(self, largest: f64) -> f64 {
        if self.rules.whole_grades { largest.trunc() + 0.0 } else { largest }
    }

    /// Returns the expected fields of a line of judgments by facet, in words for a message, behind a
    /// colon.
    pub fn expected(self) -> &'static str {
        match (self.by, self.fields) {
            (FacetKind::Judge, _) => ": expected 'query judge docno grade'",
            (FacetKind::Subtopic, _) => ": expected 'query subtopic docno grade'",
            (FacetKind::Preference, 5) => ": expected 'query group sub-group docno level'",
            (FacetKind::Preference | FacetKind::Span, _) => ": expected 'query group docno level'",
        }
    }
}

/// A source of judgments by facet as messages name it, and what they are read with.
#[derive(Clone, Copy)]
pub struct FacetContext<'a> {
    pub name: &'a str,
    pub shape: FacetShape,
    /// The expected shape of a row, behind a colon; empty for rows that are not text.
    pub expected: &'a str,
    pub seed: Seed,
    pub watch: Option<&'a ProgressHandle>,
}

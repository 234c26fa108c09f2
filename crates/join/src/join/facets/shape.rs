//! The shape of a line of judgments by facet.

use crate::judged_by::JudgedBy;
use crate::lines::dialect::{Dialect, Rules};

/// The shape of the lines.
#[derive(Clone, Copy)]
pub struct FacetShape {
    pub by: JudgedBy,
    pub dialect: Dialect,
    pub rules: Rules,
    /// The number of fields of a line.
    pub fields: usize,
}

impl FacetShape {
    pub fn of(by: JudgedBy, fields: usize, dialect: Dialect) -> Self {
        FacetShape { by, dialect, rules: dialect.rules(), fields }
    }

    /// Whether a line names a sub-group.
    pub fn has_subgroups(self) -> bool {
        self.fields == 5
    }

    /// Whether repeated rows may be dropped, because they are errors and a few suffice for the
    /// message.
    pub fn thins(self) -> bool {
        // trec_eval counts a repeated preference twice, so no row may be dropped.
        !(self.by == JudgedBy::Preference && self.rules.late_repeats)
    }

    /// The name of the number of a line.
    pub fn number(self) -> &'static str {
        if self.by == JudgedBy::Preference { "level" } else { "grade" }
    }

    /// The parser of the grade or level; the parser returns `None` if the field is not a number.
    #[inline(always)]
    pub fn parser(&self) -> fn(&[u8]) -> Option<f64> {
        if self.by == JudgedBy::Preference { self.rules.score } else { self.rules.grade }
    }

    /// Returns a grade or a level as the dialect takes it: trec_eval 9 rounds levels to f32.
    pub fn grade(self, grade: f64) -> f64 {
        let grade = match self.by {
            JudgedBy::Preference if self.dialect == Dialect::Trec9 => f64::from(grade as f32),
            JudgedBy::Preference => grade,
            _ if self.rules.whole_grades => grade.trunc(),
            _ => grade,
        };
        grade + 0.0
    }

    pub fn expected(self) -> &'static str {
        match (self.by, self.fields) {
            (JudgedBy::Judge, _) => "expected 'query judge docno grade'",
            (JudgedBy::Subtopic, _) => "expected 'query subtopic docno grade'",
            (JudgedBy::Preference, 5) => "expected 'query group sub-group docno level'",
            (JudgedBy::Preference | JudgedBy::Span, _) => "expected 'query group docno level'",
        }
    }
}

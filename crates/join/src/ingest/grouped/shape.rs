//! The shape of a line of judgments by group.

use super::super::dialect::{Dialect, Rules};
use crate::label::GroupedBy;

/// The shape of the lines.
#[derive(Clone, Copy)]
pub struct Shape {
    pub by: GroupedBy,
    pub dialect: Dialect,
    pub rules: Rules,
    /// The number of fields of a line.
    pub fields: usize,
}

impl Shape {
    pub fn of(by: GroupedBy, fields: usize, dialect: Dialect) -> Self {
        Shape { by, dialect, rules: dialect.rules(), fields }
    }

    /// Whether rows that repeat others are errors, which a few of them tell.
    pub fn thins(self) -> bool {
        // trec_eval counts a preference twice that is there twice.
        !(self.by == GroupedBy::Preference && self.rules.late_repeats)
    }

    /// The name of the number of a line.
    pub fn number(self) -> &'static str {
        if self.by == GroupedBy::Preference { "level" } else { "grade" }
    }

    /// The function that reads this number; it gives `None` if the field is not a number.
    #[inline(always)]
    pub fn parser(&self) -> fn(&[u8]) -> Option<f64> {
        if self.by == GroupedBy::Preference { self.rules.score } else { self.rules.grade }
    }

    /// Returns a grade or a level as the dialect takes it: trec_eval 9 rounds levels to f32.
    pub fn grade(self, grade: f64) -> f64 {
        let grade = match self.by {
            GroupedBy::Preference if self.dialect == Dialect::Trec9 => f64::from(grade as f32),
            GroupedBy::Preference => grade,
            _ if self.rules.whole_grades => grade.trunc(),
            _ => grade,
        };
        grade + 0.0
    }

    pub fn expected(self) -> &'static str {
        match (self.by, self.fields) {
            (GroupedBy::Judge, _) => "expected 'query judge docno grade'",
            (GroupedBy::Subtopic, _) => "expected 'query subtopic docno grade'",
            (GroupedBy::Preference, 5) => "expected 'query group sub-group docno level'",
            (GroupedBy::Preference, _) => "expected 'query group docno level'",
        }
    }
}

//! The lines of a text of judgments by facet, which become rows of a piece.

use super::piece::{JudgmentPiece, JudgmentPlace};
use super::shape::FacetShape;
use crate::bytes::id::IdInText;
use crate::bytes::limits::LONGEST_LINE;
use crate::lines::diagnostics::quoted;
use crate::lines::dialect::Comments;
use crate::lines::number::decimal;
use crate::lines::scan::{Fields, TakeLines, split};
use crate::lines::shape::TOO_LONG;

/// The lines of a piece of the text.
pub struct PieceLines<'p> {
    pub piece: &'p mut JudgmentPiece,
    pub shape: FacetShape,
    /// The number of lines of the piece before these.
    pub before: u64,
    /// Whether all lines are of the query that the piece has begun.
    pub of_one_query: bool,
}

impl PieceLines<'_> {
    /// The grade or level of a number that was read.
    #[inline(always)]
    fn grade(&self, value: Option<f64>) -> Option<f64> {
        // A level may be infinite only once it is rounded to f32.
        value.map(|value| self.shape.grade(value)).filter(|value| value.is_finite())
    }

    /// Takes a line with its grade.
    #[inline(always)]
    fn take(&mut self, line: u64, place: JudgmentPlace<'_>, grade: f64) {
        let line = (self.before + line) as u32;
        if self.of_one_query {
            self.piece.push_row(line, place, grade)
        } else {
            self.piece.push(line, place, grade)
        }
    }

    /// Notes that a field is not a number.
    #[cold]
    fn not_a_number(&mut self, line: u64, field: &[u8]) {
        let (what, expected) = (self.shape.number(), self.shape.expected());
        let message = || format!("{what} {} is not a number: {expected}", quoted(field));
        self.piece.problems.add(self.before + line, message);
    }
}

impl TakeLines<4> for PieceLines<'_> {
    const MORE: bool = false;

    fn fields(&mut self, text: &[u8], line: u64, Fields { starts, ends }: &Fields<4>) {
        if self.shape.fields != 4 {
            return self.other(starts[0], line, &text[starts[0]..ends[3]]);
        }
        let value = match text[starts[3]..ends[3]] {
            // Nearly every grade.
            [digit @ b'0'..=b'9'] => Some(f64::from(digit - b'0')),
            _ => decimal(text, starts[3], ends[3], self.shape.parser()),
        };
        let Some(grade) = self.grade(value) else {
            return self.not_a_number(line, &text[starts[3]..ends[3]]);
        };
        let id = |field: usize| IdInText { text, start: starts[field], end: ends[field] };
        self.take(
            line,
            JudgmentPlace { query: id(0), group: id(1), subgroup: None, doc: id(2) },
            grade,
        );
    }

    // Lines of five fields are few.
    fn other(&mut self, _: usize, line: u64, bytes: &[u8]) {
        let expected = self.shape.expected();
        let fields: Vec<&[u8]> = split(bytes).take(6).collect();
        let message = match (&fields[..], self.shape.fields) {
            _ if bytes.len() > LONGEST_LINE => format!("{TOO_LONG}: {expected}"),
            (&[query, group, subgroup, doc, level], 5) => {
                let Some(grade) = self.grade(self.shape.parser()(level)) else {
                    return self.not_a_number(line, level);
                };
                return self.take(line, JudgmentPlace::alone(query, [group, subgroup], doc), grade);
            }
            ([_], _) => format!("there is 1 field: {expected}"),
            _ => format!("there are {} fields: {expected}", split(bytes).count()),
        };
        self.piece.problems.add(self.before + line, || message);
    }

    fn comments(&self) -> Comments {
        self.shape.rules.qrels_comments
    }
}

//! The lines of a text of judgments by facet, which become rows of a piece.

use super::piece::{JudgmentPiece, JudgmentPlace};
use super::shape::FacetShape;
use crate::ingest::bytes::limits::LONGEST_LINE;
use crate::ingest::lines::diagnostics::quoted;
use crate::ingest::lines::dialect::Comments;
use crate::ingest::lines::number::decimal;
use crate::ingest::lines::scan::{Fields, TakeLines, split};
use crate::ingest::lines::shape::TOO_LONG;

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
    /// Takes a line with its number, which was read already.
    #[inline(always)]
    fn take(&mut self, line: u64, place: JudgmentPlace<'_>, (field, value): (&[u8], Option<f64>)) {
        // A level may be infinite only once it is rounded to f32.
        let line = self.before + line;
        match value.map(|value| self.shape.grade(value)).filter(|value| value.is_finite()) {
            Some(value) if self.of_one_query => self.piece.push_row(line as u32, (place.1, place.2), value),
            Some(value) => self.piece.push(line as u32, place, value),
            None => {
                let (what, expected) = (self.shape.number(), self.shape.expected());
                let message = || format!("{what} {} is not a number: {expected}", quoted(field));
                self.piece.problems.add(line, message);
            }
        }
    }
}

impl TakeLines<4> for PieceLines<'_> {
    const MORE: bool = false;

    fn fields(&mut self, text: &[u8], line: u64, Fields { starts, ends }: &Fields<4>) {
        if self.shape.fields != 4 {
            return self.other(starts[0], line, &text[starts[0]..ends[3]]);
        }
        let field = |field: usize| &text[starts[field]..ends[field]];
        let value = decimal(text, starts[3], ends[3], self.shape.parser());
        self.take(line, (field(0), [field(1), b""], field(2)), (field(3), value));
    }

    // Lines of five fields are few.
    fn other(&mut self, _: usize, line: u64, bytes: &[u8]) {
        let expected = self.shape.expected();
        let fields: Vec<&[u8]> = split(bytes).take(6).collect();
        let message = match (&fields[..], self.shape.fields) {
            _ if bytes.len() > LONGEST_LINE => format!("{TOO_LONG}: {expected}"),
            (&[query, group, subgroup, doc, level], 5) => {
                let value = self.shape.parser()(level);
                return self.take(line, (query, [group, subgroup], doc), (level, value));
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

//! The rows of TREC text: what the fields of its lines mean.

use super::{
    dialect::{Comments, Rules},
    number::decimal,
    row::{Row, RowSink},
    scan::{Fields, TakeLines},
    shape::{LineFault, Role},
};

/// A taker of lines that makes rows of them, for a sink of rows. Lines have `N` fields: those of a
/// run six or more, and judgments four, or five with a sub-group.
pub struct TrecRows<'s, S, const N: usize> {
    pub role: Role,
    pub rules: Rules,
    pub sink: &'s mut S,
}

impl<S: RowSink, const N: usize> TakeLines<N> for TrecRows<'_, S, N> {
    const MORE: bool = N == 6;

    #[inline(always)]
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<N>) {
        let Fields { starts, ends } = fields;
        let (number, parser) =
            if Self::MORE { (N - 2, self.rules.score) } else { (N - 1, self.rules.grade) };
        let Some(value) = decimal(text, starts[number], ends[number], parser) else {
            return self.other(starts[0], line, &text[starts[0]..ends[N - 1]]);
        };
        let place = |field: usize| [starts[field], ends[field]];
        let doc = place(if N == 5 { 3 } else { 2 });
        let [rank, tag] = [3, N - 1].map(|field| Self::MORE.then(|| place(field)));
        let group = (!Self::MORE).then(|| place(1));
        let subgroup = (N == 5).then(|| place(2));
        let (query, number) = (place(0), place(number));
        self.sink.row(text, Row { line, query, doc, number, value, rank, group, subgroup, tag });
    }

    #[cold]
    fn other(&mut self, start: usize, line: u64, bytes: &[u8]) {
        self.sink.wrong_line(start, line, bytes, self.role, &self.rules);
    }

    #[cold]
    fn refuses(&mut self, start: usize, line: u64, bytes: &[u8]) -> bool {
        let (role, rules) = (self.role, self.rules);
        let has_blank = role.fault(bytes, rules) == Some(LineFault::Blank);
        if has_blank {
            self.sink.fault(start, line, || role.complaint(bytes, LineFault::Blank, rules));
        }
        has_blank
    }

    fn comments(&self) -> Comments {
        self.role.comments(self.rules)
    }

    fn lone_returns(&self) -> bool {
        self.rules.lone_returns
    }
}

//! Rows of a table with the ranks right behind the documents, for ranks that order equal scores.
//! The table has its ranks in another column, or is CSV.

use std::io;

use memchr::memrchr;

use super::made::{MadeOf, MadeRows, MakeRows};
use crate::bytes::limits::UNIT;
use crate::lines::layout::TableLayout;
use crate::lines::scan::whole_line;
use crate::lines::table::{FieldPlaces, RowScanner, TakeRows};

/// Makes rows with ranks right behind documents from those of a table.
#[derive(Debug)]
struct RankedRows {
    table: TableLayout,
    scanner: RowScanner,
    /// The number of lines before the current text.
    line: u64,
}

/// A table whose ranks do not stand right behind the documents.
#[derive(Debug)]
pub(super) struct RanksMoved(pub TableLayout);

impl MadeOf for RanksMoved {
    fn maker(&self) -> io::Result<Box<dyn MakeRows + '_>> {
        let (table, scanner) = (self.0.clone(), RowScanner::default());
        Ok(Box::new(RankedRows { table, scanner, line: 0 }))
    }

    fn has_names(&self) -> bool {
        true
    }
}

impl MakeRows for RankedRows {
    fn make(&mut self, text: &[u8], ended: bool, rows: &mut MadeRows) -> io::Result<usize> {
        let skip = self.table.skip;
        let whole =
            if ended { text.len() } else { memrchr(b'\n', text).map_or(0, |feed| feed + 1) };
        if whole < skip && !ended {
            return Ok(0); // the header is not complete yet
        }
        let mut taking = TakingRanked { table: &self.table, before: self.line, rows };
        self.line +=
            self.scanner.each_row(&text[..whole], skip.min(whole), &self.table, &mut taking);
        if whole > 0 {
            self.table.skip = 0;
        }
        Ok(whole)
    }
}

struct TakingRanked<'r> {
    table: &'r TableLayout,
    before: u64,
    rows: &'r mut MadeRows,
}

impl TakeRows for TakingRanked<'_> {
    fn row(&mut self, text: &[u8], line: u64, FieldPlaces { query, doc, number }: FieldPlaces) {
        let fields = self.table.separator.fields(whole_line(text, doc[0]));
        let rank = self.table.rank.and_then(|rank| fields.get(rank)).copied().unwrap_or_default();
        let [query, doc, number] = [query, doc, number].map(|[start, end]| &text[start..end]);
        if [query, doc, rank, number].iter().any(|field| field.contains(&UNIT)) {
            return self
                .rows
                .wrong(self.before + line, "a field has a control character in it (\\x1f)");
        }
        self.rows.wide_row(self.before + line, query, doc, rank, number);
    }

    fn wrong(&mut self, _: usize, line: u64, message: impl FnOnce() -> String) {
        self.rows.wrong(self.before + line, &message());
    }
}

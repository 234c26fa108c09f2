//! The columns of a row, and the numbers in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;

use super::diagnostics::quoted;
use super::number::{decimal, of_letters};
use super::options::OptionStyle;
use super::scan::whole_line;
use super::separator::{Separator, split};
use super::shape::{Role, not_a_number};

/// The numbers that results are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Scores; ranks may stand beside them.
    Scores { ranks: RankColumn },
    /// Ranks that are integers.
    Ranks,
    /// Ranks as scores, −rank; `counted` if ranks have to count 1, 2, 3 …, with how messages write
    /// options.
    RankScores { counted: Option<OptionStyle> },
}

/// The place of ranks beside scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankColumn {
    /// No place: there are no ranks.
    None,
    /// The field right behind the document.
    Behind,
    /// A column of a table, from 0.
    At(Separator, usize),
}

/// The kind of the number of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// A grade or a score.
    Number,
    /// A grade or a score as [letters](super::number::letters) of rows that were made.
    Letters,
    /// A rank: the score is −rank. No two documents of a query have the same rank.
    Rank,
    /// A rank; in every query ranks count 1, 2, 3 ….
    CountedRank,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLayout {
    pub separator: Separator,
    /// The number of bytes before the rows.
    pub skip: usize,
    /// The number of columns.
    pub columns: usize,
    /// The shape of a row, for messages.
    pub shape: String,
    /// The columns, from 0, of the query, the document, and the grade, score or rank.
    pub query: usize,
    pub doc: usize,
    pub number: usize,
    pub value: NumberKind,
    /// The columns of ranks, if scores are sorted, and of tags.
    pub rank: Option<usize>,
    pub tag: Option<usize>,
    /// The column of judges or subtopics, if judgments are read by them.
    pub group: Option<usize>,
    /// The way messages write options.
    pub options: OptionStyle,
    /// The rows without a number, if these are allowed.
    pub bare: Option<BareRows>,
}

/// The number of rows that have no number: Quepid writes a query without documents or ratings
/// alone, and documents without a rating as well. They are skipped.
#[derive(Debug, Clone, Default)]
pub struct BareRows(Arc<AtomicU64>);

/// Always equal: the count of rows without a number is no property of a table.
impl PartialEq for BareRows {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for BareRows {}

impl BareRows {
    pub fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl TableLayout {
    /// Makes the table of rows that are made of another format: query, document, number.
    pub fn made(value: NumberKind, shape: &str) -> Self {
        TableLayout {
            separator: Separator::Unit,
            skip: 0,
            columns: 3,
            shape: shape.to_owned(),
            query: 0,
            doc: 1,
            number: 2,
            value,
            rank: None,
            tag: None,
            group: None,
            options: OptionStyle::default(),
            bare: None,
        }
    }

    /// Makes the table of rows that are made of another format: query, document, rank, number.
    pub fn made_with_ranks(value: NumberKind, shape: &str) -> Self {
        TableLayout { columns: 4, number: 3, rank: Some(2), ..TableLayout::made(value, shape) }
    }

    /// Makes the table of rows that are made of another format: query, document, judge or subtopic,
    /// number.
    pub fn made_with_groups(value: NumberKind, shape: &str) -> Self {
        TableLayout { columns: 4, number: 3, group: Some(2), ..TableLayout::made(value, shape) }
    }

    /// Returns the place of ranks beside the scores.
    pub fn rank_column(&self) -> RankColumn {
        match self.rank {
            None => RankColumn::None,
            // A field right behind the document that ends with a blank is found from the document.
            Some(rank)
                if rank == self.doc + 1
                    && rank + 1 < self.columns
                    && self.separator != Separator::Comma =>
            {
                RankColumn::Behind
            }
            Some(rank) => RankColumn::At(self.separator, rank),
        }
    }

    /// Describes the expected line.
    pub fn expected(&self) -> String {
        format!("expected '{}'", self.shape)
    }

    /// Returns the tag of the last line of a text that is not blank; nothing if the table has no
    /// tags.
    pub fn tag_at_the_end<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let last = text.trim_ascii_end().len().checked_sub(1);
        let fields = |last| self.separator.fields(whole_line(text, last));
        let tag = self.tag.zip(last).and_then(|(tag, last)| fields(last).get(tag).copied());
        tag.unwrap_or_default()
    }

    /// Returns the query of a line, to find where a text is cut; `None` for a blank line.
    pub fn query_of<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        let separator = self.separator;
        if separator == Separator::Blanks {
            let mut fields = super::scan::split(line);
            return fields.nth(self.query).filter(|_| line.trim_ascii_start()[0] != b'#');
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let query = if separator.has_quotes() && memchr(b'"', line).is_some() {
            let field = *split(line, separator).ok()?.get(self.query)?;
            &line[field.start..field.end]
        } else {
            let byte = separator.byte();
            line.split(|&other| other == byte).nth(self.query)?
        };
        (!query.is_empty()).then_some(query)
    }
}

impl NumberKind {
    /// Reads the number in a field; `None` if the field is not such a number.
    #[inline(always)]
    pub fn of(
        self,
        text: &[u8],
        [start, end]: [usize; 2],
        parser: fn(&[u8]) -> Option<f64>,
    ) -> Option<f64> {
        match self {
            NumberKind::Number => decimal(text, start, end, parser),
            NumberKind::Letters => of_letters(&text[start..end]),
            NumberKind::Rank | NumberKind::CountedRank => {
                decimal(text, start, end, parser).filter(|number| number.fract() == 0.0)
            }
        }
    }
}

impl TableLayout {
    /// Returns the message about a field that is not the expected number.
    pub fn not_a_number(&self, role: Role, field: &[u8]) -> String {
        match self.value {
            NumberKind::Number | NumberKind::Letters => {
                format!("{} {}: {}", role.number(), not_a_number(field), self.expected())
            }
            NumberKind::Rank => {
                format!("rank {} is not an integer: {}", quoted(field), self.expected())
            }
            NumberKind::CountedRank => not_counted(field, None, self.options),
        }
    }
}

/// Makes the message for a number that stands in the place of a rank, perhaps of the rank `rank`.
pub fn not_counted(number: &[u8], rank: Option<u64>, options: OptionStyle) -> String {
    let rank = rank.map_or("a rank".to_owned(), |rank| format!("rank {rank}"));
    format!(
        "{} where {rank} was expected: a run of three columns without a header has ranks, which \
         count 1, 2, 3 … in every query, in \
         the order of the lines; say `{}` if these are ranks in another order or with gaps, or \
         `{}` if they are scores",
        quoted(number),
        options.format(Role::Run, "msmarco"),
        options.columns_in_order("query,doc,score")
    )
}

//! The columns of a table's rows, and the kinds of numbers in them: grades, scores or ranks.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use memchr::memchr;

use super::{
    diagnostics::quoted,
    doubled_quotes::DoubledQuotes,
    grade_words::GradeWords,
    number::decimal,
    options::OptionStyle,
    scan::whole_line,
    separator::{Separator, split},
    shape::{Role, not_a_number},
};

/// The numbers by which the results of a run are sorted: scores, ranks, or ranks as scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// Scores; ranks may stand beside them.
    Scores { ranks: RankColumn },
    /// Ranks that are integers.
    Ranks,
    /// Ranks as scores, −rank; `counted` if ranks have to count 1, 2, 3 …, with how messages write
    /// options.
    RankScores { counted: Option<OptionStyle> },
}

impl SortBy {
    /// Returns the place of ranks beside scores.
    pub fn ranks(self) -> RankColumn {
        if let Self::Scores { ranks } = self { ranks } else { RankColumn::None }
    }
}

/// The place of ranks that stand beside the scores of a run, if there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankColumn {
    /// No place: there are no ranks.
    None,
    /// The next field of TREC text.
    OfTrec,
    /// A column of a table, from 0, which may be the next one behind the document.
    OfTable { separator: Separator, column: usize, is_next: bool },
    /// Kept beside the document, as columns and batches of rows have it.
    Beside,
}

/// The kind of the number in a row of qrels or of a run: a grade or score, or a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// A grade or a score.
    Number,
    /// A rank: the score is −rank. No two documents of a query have the same rank.
    Rank,
    /// A rank; in every query ranks count 1, 2, 3 ….
    CountedRank,
    /// No number: each document of judgments without grades has grade 1.
    One,
}

/// The layout of a table of text: its separator, and the columns of query, document and number.
#[derive(Debug, Clone)]
pub struct TableLayout {
    pub separator: Separator,
    /// The number of bytes before the rows.
    pub skip: usize,
    /// The number of columns.
    pub columns: usize,
    /// The shape of a row, for messages.
    pub shape: String,
    /// The columns, from 0, of the query, the document, and the grade, score or rank, or the
    /// document again for [`NumberKind::One`].
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
    /// The grades of words, if words may stand in the place of numbers.
    pub words: Option<GradeWords>,
    /// Whether ids with quotes are read.
    pub quotes: DoubledQuotes,
    /// The layout that the table had before ids with quotes were written anew.
    pub original: Option<Arc<TableLayout>>,
}

/// The number of a table's rows that have no grade, as Quepid writes them, and are skipped. Quepid
/// writes a query without documents or ratings alone, and documents without a rating as well.
#[derive(Debug, Clone, Default)]
pub struct BareRows(Arc<AtomicU64>);

impl BareRows {
    pub fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts from 0 again, as a table is read again.
    pub fn restart(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl TableLayout {
    /// Returns the place of the ranks beside the scores in a table that is a run.
    pub fn rank_column(&self) -> RankColumn {
        self.rank.map_or(RankColumn::None, |column| RankColumn::OfTable {
            separator: self.separator,
            column,
            is_next: column == self.doc + 1,
        })
    }

    /// Returns the expected shape of a row of the table, for messages.
    pub fn expected(&self) -> String {
        format!("expected '{}'", self.shape)
    }

    /// Returns the run tag in the last non-blank line of a text; empty if the table has no tags.
    pub fn tag_at_the_end<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let last = text.trim_ascii_end().len().checked_sub(1);
        let tag = self.tag.zip(last).and_then(|(tag, last)| {
            self.separator.fields(whole_line(text, last)).get(tag).copied()
        });
        tag.unwrap_or_default()
    }

    /// Returns the query id of a line of the table, to find cuts between queries; `None` for a
    /// blank line.
    pub fn query_of<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        let separator = self.separator;
        if separator == Separator::Blanks {
            let mut fields = super::scan::split(line);
            return fields.nth(self.query).filter(|_| line.trim_ascii_start()[0] != b'#');
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let query = if memchr(b'"', line).is_some() {
            let field = *split(line, separator)?.get(self.query)?;
            &line[field.start..field.end]
        } else {
            let byte = separator.byte();
            line.split(|&other| other == byte).nth(self.query)?
        };
        (!query.is_empty()).then_some(query)
    }

    /// Returns the error message about a field of the table, of a query and a document, that is not
    /// the expected grade, score or rank.
    pub fn not_a_number(&self, role: Role, field: &[u8], ids: [&[u8]; 2]) -> String {
        match self.value {
            NumberKind::CountedRank => not_counted(field, None, self.options),
            value => {
                let fault = value.fault(role, field, ids);
                let hint = self.words.as_ref().map(|words| words.hint(field, self.options));
                let hint = hint.unwrap_or_default();
                format!("{fault}{hint}: {}", self.expected())
            }
        }
    }
}

impl NumberKind {
    /// Returns whether numbers of this kind are ranks.
    pub fn is_rank(self) -> bool {
        matches!(self, Self::Rank | Self::CountedRank)
    }

    /// Parses a field as a number of this kind: a grade, score or rank; `None` if it is not one.
    #[inline(always)]
    pub fn parse(
        self,
        text: &[u8],
        [start, end]: [usize; 2],
        parser: fn(&[u8]) -> Option<f64>,
    ) -> Option<f64> {
        match self {
            Self::Number => decimal(text, start, end, parser),
            Self::Rank | Self::CountedRank => {
                decimal(text, start, end, parser).filter(|number| number.fract() == 0.0)
            }
            Self::One => Some(1.0),
        }
    }

    /// Returns the error message about a field, of a query and a document, that is not the expected
    /// grade, score or rank.
    pub fn fault(self, role: Role, field: &[u8], ids: [&[u8]; 2]) -> String {
        match self {
            Self::Number | Self::One => format!("{} {}", role.number(), not_a_number(field, ids)),
            Self::Rank | Self::CountedRank => format!("rank {} is not an integer", quoted(field)),
        }
    }
}

/// Makes the error message about a number where a rank that counts 1, 2, 3 … was expected.
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

//! The rows of a text one after another, unchanged, for conversion to another format and for
//! preview.
//!
//! The text is read once, in blocks of whole lines, so it may be of any size. A number is kept for
//! each query only if ranks are counted.

use std::io::{Read, Write};

use memchr::{memchr, memrchr};

use crate::bytes::hash::Seed;
use crate::bytes::input::Input;
use crate::bytes::interner::Interner;
use crate::columns::{self, CheckedColumns};
use crate::error::{Error, Problem, Problems, Result};
use crate::format::made::{LineOrigins, MadeText};
use crate::format::opened::Opened;
use crate::format::tables::{with_judgments, with_records};
use crate::format::{Form, Partner, RowMaker, RowShape};
use crate::lines::diagnostics::{quoted, whole_file};
use crate::lines::dialect::{Comments, Rules};
use crate::lines::layout::{NumberKind, TableLayout, not_counted};
use crate::lines::number::decimal;
use crate::lines::scan::{Fields, Scanner, TakeLines, whole_line};
use crate::lines::separator::Separator;
use crate::lines::shape::{LineFault, Role};
use crate::lines::table::{FieldPlaces, RowScanner, TakeRows};
use crate::text::{ReadSettings, StartedText};
use crate::watch::not_stopped;

/// A row of judgments or of a run, as it stands in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextRow<'t> {
    /// The line number of the row, from 1.
    pub line: u64,
    /// The id of the query.
    pub query: &'t [u8],
    /// The id of the document.
    pub doc: &'t [u8],
    /// The text of the grade or the score; −rank if the text has ranks only.
    pub number: &'t [u8],
    /// The value of `number`.
    pub value: f64,
    /// The rank; judgments have none.
    pub rank: Option<TextRank<'t>>,
    /// The text behind the score, if the format has a tag.
    pub tag: Option<&'t [u8]>,
    /// The judge or the subtopic, if judgments are read by judge or subtopic.
    pub group: Option<&'t [u8]>,
}

/// The rank of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRank<'t> {
    /// The rank, verbatim.
    Written(&'t [u8]),
    /// The position of the row among the rows of its query, from 1, in a text without ranks.
    Counted(u64),
}

/// Passes the rows of a text to `take` until `take` returns `false`. An error of `take` becomes one
/// of the errors of the text.
///
/// # Errors
/// An unreadable text; the problems of all lines; a text without rows.
pub fn each_row(
    settings: ReadSettings<'_>,
    input: Input,
    role: Role,
    partner: Option<&Partner>,
    mut take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
) -> Result<()> {
    let text = TextRows::open(settings, input, role, partner)?;
    let (name, expected) = (text.text.text.name().to_owned(), text.form.expected(role));
    let (mut problems, mut any) = (Problems::default(), false);
    text.each(|line, row| {
        any = true;
        let stopped = || not_stopped(settings.watch.map(|watch| &**watch)).is_err();
        match row.and_then(&mut take) {
            Ok(more) => more && !stopped(),
            Err(message) if problems.first.len() < Problems::LIMIT => {
                problems.first.push(Problem { file: name.clone(), line, message });
                true
            }
            Err(_) => {
                problems.more += 1;
                true
            }
        }
    })?;
    not_stopped(settings.watch.map(|watch| &**watch))?;
    if !any {
        let what = if role == Role::Qrels { "judgment" } else { "result" };
        problems = whole_file(&name, format!("there is no {what} in it{expected}"));
    }
    if problems.first.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
}

/// A text that was opened to be read row by row.
pub struct TextRows {
    text: StartedText,
    pub form: Form,
    role: Role,
    rules: Rules,
    /// Whether judgments are read by judge or subtopic.
    by_facet: bool,
    /// The number of bytes of text that are read at a time.
    block: usize,
}

impl TextRows {
    /// Opens a text, and recognises its format.
    ///
    /// # Errors
    /// An unreadable text, or a text without the expected content.
    pub fn open(
        settings: ReadSettings<'_>,
        input: Input,
        role: Role,
        partner: Option<&Partner>,
    ) -> Result<Self> {
        let (told, text) = StartedText::of_rows(settings, input, role, partner)?;
        let form =
            told.map_err(|other| Error::Input(other.problems_alone(role, text.text.name())))?;
        let by_facet = role == Role::Qrels && settings.table_facets().is_some();
        let rules = settings.dialect.rules();
        Ok(TextRows { text, form, role, rules, by_facet, block: BLOCK })
    }

    /// Passes lines to `take`, each with its row or a message about its fault, until `take` returns
    /// `false`.
    ///
    /// # Errors
    /// An unreadable text.
    pub fn each(self, take: impl FnMut(u64, Result<TextRow<'_>, String>) -> bool) -> Result<()> {
        let TextRows { mut text, form, role, rules, by_facet, block } = self;
        let name = text.text.name().to_owned();
        let mut taking = TakingRows::new(role, rules, by_facet, &form, take);
        if let Some(table) = form.columns() {
            return match role {
                Role::Qrels => with_judgments(table, |batches| {
                    CheckedColumns::of_judgments(&name, batches, Seed::random())
                        .map(|columns| taking.columns(&columns))
                }),
                Role::Run => with_records(table, |batches| {
                    CheckedColumns::of_run(&name, batches, Seed::random())
                        .map(|columns| taking.columns(&columns))
                }),
            };
        }
        let failed = |error| Error::io(name.as_ref(), "read", error);
        if let Some(made) = form.made() {
            let all: Box<dyn Read + Send + '_> = Box::new(text.all());
            return taking.made(made.of(all).map_err(failed)?, &form).map_err(failed);
        }
        let StartedText { start: mut held, mut text } = text;
        let mut wanted = block;
        while taking.more {
            let ended = text.hold(&mut held, wanted)?;
            let whole =
                if ended { held.len() } else { memrchr(b'\n', &held).map_or(0, |feed| feed + 1) };
            taking.block(&held[..whole], &form, None);
            if ended {
                break;
            }
            held.drain(..whole);
            wanted = block.max(2 * held.len());
        }
        Ok(())
    }
}

/// Passes the judgments of a text without columns to `take`, each with its line, or a message about
/// a wrong line.
///
/// # Errors
/// An unreadable text.
pub fn each_judgment(
    (text, form): (&Opened, &Form),
    rules: Rules,
    take: impl FnMut(u64, Result<TextRow<'_>, String>) -> bool,
) -> std::io::Result<()> {
    let mut taking = TakingRows::new(Role::Qrels, rules, true, form, take);
    if let Some(made) = form.made() {
        return taking.made(made.of(text.text()?)?, form);
    }
    taking.block(&text.whole()?, form, None);
    Ok(())
}

/// The number of bytes of text that are read at a time, unless a line is longer.
const BLOCK: usize = 1 << 20;

/// The number of rows of each query so far.
struct RowCounts {
    queries: Interner,
    counts: Vec<u64>,
    last: u32,
}

impl Default for RowCounts {
    fn default() -> Self {
        RowCounts { queries: Interner::new(Seed::random()), counts: Vec::new(), last: 0 }
    }
}

impl RowCounts {
    /// The count of a query after a wrong rank; further ranks of the query are not checked.
    const WRONG: u64 = u64::MAX;

    /// Counts a row of a query, and returns the count.
    fn count(&mut self, query: &[u8]) -> &mut u64 {
        if !self.queries.is(self.last, query) {
            self.last = self.queries.insert(query).0;
            self.counts.resize(self.queries.ids().len(), 0);
        }
        let count = &mut self.counts[self.last as usize];
        *count = count.saturating_add(1);
        count
    }
}

/// The function that takes rows, with the state that is kept from block to block.
struct TakingRows<'f, T> {
    role: Role,
    rules: Rules,
    /// Whether judgments are read by judge or subtopic.
    by_facet: bool,
    table: Option<&'f TableLayout>,
    /// The counts of rows, if ranks are counted.
    counts: Option<RowCounts>,
    /// The decimal of a number without text.
    number: Vec<u8>,
    /// The number of lines before the block.
    before: u64,
    more: bool,
    take: T,
}

impl<'f, T> TakingRows<'f, T> {
    fn new(role: Role, rules: Rules, by_facet: bool, form: &'f Form, take: T) -> Self {
        let table = form.table();
        let counts = (role == Role::Run && table.is_some_and(TableLayout::counts_ranks))
            .then(RowCounts::default);
        TakingRows {
            role,
            rules,
            by_facet,
            table,
            counts,
            number: Vec::new(),
            before: 0,
            more: true,
            take,
        }
    }
}

impl<T: FnMut(u64, Result<TextRow<'_>, String>) -> bool> TakingRows<'_, T> {
    /// Passes on the rows of columns.
    fn columns(&mut self, columns: &CheckedColumns<'_>) {
        let (role, mut counts) = (self.role, RowCounts::default());
        let (mut decimal, mut rank_decimal) = (Vec::new(), Vec::new());
        let by_facet = self.by_facet;
        let mut take =
            |at: usize, (query, group, doc): (&[u8], Option<&[u8]>, &[u8]), number, rank| {
                let line = at as u64 + 1;
                if !columns::is_fine(role, number) {
                    return (self.take)(line, Err(columns::not_fine(role, number)));
                }
                if group.is_some_and(<[u8]>::is_empty) {
                    return (self.take)(line, Err("the group is empty".to_owned()));
                }
                let value = if role == Role::Qrels && self.rules.whole_grades {
                    number.trunc()
                } else {
                    number
                };
                let number = written_out(number, &mut decimal);
                let rank = match (role, rank) {
                    (Role::Qrels, _) => None,
                    (Role::Run, Some(rank)) => {
                        rank_decimal.clear();
                        let _ = write!(rank_decimal, "{rank}"); // writing into memory cannot fail
                        Some(TextRank::Written(&rank_decimal))
                    }
                    (Role::Run, None) => Some(TextRank::Counted(*counts.count(query))),
                };
                (self.take)(
                    line,
                    Ok(TextRow { line, query, doc, number, value, rank, tag: None, group }),
                )
            };
        if by_facet {
            columns.each_grouped(0..columns.rows(), |at, query, [group, _], doc, grade| {
                take(at, (query, Some(group), doc), grade, None)
            });
        } else {
            columns.each_row(|at, query, doc, number, rank| {
                take(at, (query, None, doc), number, rank)
            });
        }
    }

    /// Reads the lines that are made of a text.
    fn made(&mut self, mut text: MadeText<'_>, form: &Form) -> std::io::Result<()> {
        while self.more
            && let Some((rows, lines)) = text.next_rows()?
        {
            self.block(rows, form, Some(lines));
        }
        Ok(())
    }

    /// Reads whole lines, perhaps made from `lines` of another text.
    fn block(&mut self, text: &[u8], form: &Form, lines: Option<&LineOrigins>) {
        let first = self.before == 0;
        let role = self.role;
        let mut block = RowsOfBlock { taking: self, lines };
        let count = match (&form.shape, role) {
            (RowShape::Trec, Role::Qrels) => Scanner::default().each_line::<4>(text, &mut block),
            (RowShape::Trec, Role::Run) => Scanner::default().each_line::<6>(text, &mut block),
            (RowShape::Columns(_), _) => 0, // columns have no lines
            (RowShape::Table(table) | RowShape::Made(RowMaker { table, .. }), _) => {
                let skip = if first { table.skip.min(text.len()) } else { 0 };
                RowScanner::default().each_row(text, skip, table, &mut block)
            }
        };
        self.before += count;
    }
}

/// The state of reading a block of lines.
struct RowsOfBlock<'b, 'f, T> {
    taking: &'b mut TakingRows<'f, T>,
    lines: Option<&'b LineOrigins>,
}

impl<T: FnMut(u64, Result<TextRow<'_>, String>) -> bool> RowsOfBlock<'_, '_, T> {
    /// Returns the line of the file to which a line of the block belongs.
    fn line(&self, line: u64) -> u64 {
        let line = self.taking.before + line;
        self.lines.map_or(line, |lines| lines.of(line))
    }

    fn take(&mut self, row: TextRow<'_>) {
        if self.taking.more {
            self.taking.more = (self.taking.take)(row.line, Ok(row));
        }
    }

    #[cold]
    fn refuse(&mut self, line: u64, message: impl FnOnce() -> String) {
        let line = self.line(line);
        if self.taking.more {
            self.taking.more = (self.taking.take)(line, Err(message()));
        }
    }

    /// Returns a grade, without the digits behind its dot if the dialect has whole grades.
    fn grade(&self, value: f64) -> f64 {
        let TakingRows { role, rules, .. } = &*self.taking;
        if *role == Role::Qrels && rules.whole_grades { value.trunc() } else { value }
    }

    /// Takes a row of a table, on line `line` of the block. A missing rank is counted, and a
    /// missing score is −rank.
    #[inline(always)]
    fn take_ranked(&mut self, row: TextRow<'_>, line: u64, table: &TableLayout) {
        let TextRow { query, number, value, .. } = row;
        let count = self.taking.counts.as_mut().map(|counts| counts.count(query));
        match (table.value, count) {
            (NumberKind::Number | NumberKind::Letters, count) => {
                let counted = count.map(|count| TextRank::Counted(*count));
                let mut decimal = std::mem::take(&mut self.taking.number);
                let number = if table.value == NumberKind::Letters {
                    written_out(value, &mut decimal)
                } else {
                    number
                };
                self.take(TextRow { number, rank: row.rank.or(counted), ..row });
                self.taking.number = decimal;
            }
            (NumberKind::CountedRank, Some(count))
                if *count != RowCounts::WRONG && value != *count as f64 =>
            {
                let expected = std::mem::replace(count, RowCounts::WRONG);
                self.refuse(line, || {
                    not_counted(value.to_string().as_bytes(), Some(expected), table.options)
                });
            }
            (NumberKind::CountedRank | NumberKind::Rank, _) => {
                let mut decimal = std::mem::take(&mut self.taking.number);
                let rank = Some(TextRank::Written(number));
                self.take(TextRow {
                    number: written_out(-value, &mut decimal),
                    value: -value,
                    rank,
                    ..row
                });
                self.taking.number = decimal;
            }
        }
    }
}

impl<T: FnMut(u64, Result<TextRow<'_>, String>) -> bool, const N: usize> TakeLines<N>
    for RowsOfBlock<'_, '_, T>
{
    const MORE: bool = N == 6;

    fn fields(&mut self, text: &[u8], line: u64, Fields { starts, ends }: &Fields<N>) {
        let (role, rules) = (self.taking.role, self.taking.rules);
        let number = role.number_field();
        let field = |field: usize| &text[starts[field]..ends[field]];
        let value = decimal(text, starts[number], ends[number], role.parser(&rules));
        let Some(value) = value.map(|value| self.grade(value)) else {
            let line_of_text = &text[starts[0]..ends[N - 1]];
            return self.refuse(line, || role.complaint(line_of_text, LineFault::Number, rules));
        };
        let (rank, tag) = match role {
            Role::Qrels => (None, None),
            Role::Run => {
                let rest = &text[starts[N - 1]..];
                let tag = memchr(b'\n', rest).map_or(rest, |length| &rest[..length]);
                (Some(TextRank::Written(field(3))), Some(tag.trim_ascii_end()))
            }
        };
        let (query, doc, number, line) = (field(0), field(2), field(number), self.line(line));
        let group = self.taking.by_facet.then(|| field(1));
        self.take(TextRow { line, query, doc, number, value, rank, tag, group });
    }

    #[cold]
    fn other(&mut self, _: usize, line: u64, bytes: &[u8]) {
        let (role, rules) = (self.taking.role, self.taking.rules);
        let fault = role.fault(bytes, rules).unwrap_or(LineFault::Number);
        self.refuse(line, || role.complaint(bytes, fault, rules));
    }

    fn comments(&self) -> Comments {
        self.taking.role.comments(self.taking.rules)
    }

    fn lone_returns(&self) -> bool {
        self.taking.rules.lone_returns
    }
}

impl<T: FnMut(u64, Result<TextRow<'_>, String>) -> bool> TakeRows for RowsOfBlock<'_, '_, T> {
    fn row(&mut self, text: &[u8], line: u64, FieldPlaces { query, doc, number }: FieldPlaces) {
        let Some(table) = self.taking.table else { return };
        let field = |[start, end]: [usize; 2]| &text[start..end];
        let value = table.value.of(text, number, self.taking.role.parser(&self.taking.rules));
        let value = value.map(|value| self.grade(value));
        let (role, query, doc, number) =
            (self.taking.role, field(query), field(doc), field(number));
        let Some(value) = value else {
            return self.refuse(line, || table.not_a_number(role, number));
        };
        let whole = || whole_line(text, doc.as_ptr() as usize - text.as_ptr() as usize);
        let written = |column: usize| {
            table.separator.fields(whole()).get(column).copied().unwrap_or_default()
        };
        let (rank, tag, group) =
            (table.rank.map(written), table.tag.map(written), table.group.map(written));
        let made = table.separator == Separator::Unit;
        let place = || if made { String::new() } else { format!(" in {}", quoted(whole())) };
        for (field, what) in [(rank, "rank"), (group, "group")] {
            if field.is_some_and(<[u8]>::is_empty) {
                let expected = || format!("{}: {}", place(), table.expected());
                return self
                    .refuse(line, || format!("the {what} is missing or empty{}", expected()));
            }
        }
        if !made && group.is_some_and(|group| group.contains(&b'"')) {
            return self.refuse(line, || format!("the group has a quote (\") in it{}", place()));
        }
        let (line_of_text, rank) = (self.line(line), rank.map(TextRank::Written));
        let row = TextRow { line: line_of_text, query, doc, number, value, rank, tag, group };
        self.take_ranked(row, line, table);
    }

    fn wrong(&mut self, _: usize, line: u64, message: impl FnOnce() -> String) {
        self.refuse(line, message);
    }
}

/// Writes the shortest decimal that is read as `value`.
fn written_out(value: f64, decimal: &mut Vec<u8>) -> &[u8] {
    decimal.clear();
    // Writing into memory cannot fail.
    let _ =
        if value.abs() < 1e15 { write!(decimal, "{value}") } else { write!(decimal, "{value:?}") };
    decimal
}

impl TableLayout {
    /// Returns whether rows are counted: in a table without ranks, or to check counted ranks.
    fn counts_ranks(&self) -> bool {
        self.rank.is_none() && self.value != NumberKind::Rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ReadAs;

    type Seen = Vec<(u64, Result<[String; 5], String>)>;

    fn rows(text: &str, role: Role, columns: Option<&str>, block: usize) -> Result<Seen, String> {
        let read_as = ReadAs {
            columns: columns.map(|columns| columns.parse().unwrap()),
            ..ReadAs::default()
        };
        let input = Input::Bytes { name: "it".into(), bytes: text.into() };
        let rows = TextRows::open(ReadSettings::new(&read_as), input, role, None)
            .map_err(|error| error.to_string())?;
        let mut seen = Seen::new();
        let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        TextRows { block, ..rows }
            .each(|line, row| {
                let fields = |row: TextRow<'_>| {
                    assert_eq!(row.line, line);
                    assert_eq!(
                        string(row.number).parse::<f64>().unwrap().to_bits(),
                        row.value.to_bits()
                    );
                    let rank = match row.rank {
                        Some(TextRank::Written(rank)) => string(rank),
                        Some(TextRank::Counted(count)) => format!("#{count}"),
                        None => String::new(),
                    };
                    [row.query, row.doc, row.number]
                        .map(string)
                        .into_iter()
                        .chain([rank, row.tag.map(string).unwrap_or_default()])
                };
                seen.push((
                    line,
                    row.map(|row| fields(row).collect::<Vec<_>>().try_into().unwrap()),
                ));
                true
            })
            .map_err(|error| error.to_string())?;
        Ok(seen)
    }

    fn row(fields: &str) -> Result<[String; 5], String> {
        Ok(fields.split('|').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap())
    }

    #[test]
    fn rows_are_as_they_are_written() {
        let seen = |text: &str, columns| rows(text, Role::Run, columns, BLOCK).unwrap();
        assert_eq!(
            seen("# x\n\nq Q0  d 07 1.50\tt u \r\nq 0 e x 2 t", None),
            [(3, row("q|d|1.50|07|t u")), (4, row("q|e|2|x|t"))]
        );
        assert_eq!(
            seen("qid\tx\tdocid\tscore\nq\t\t\"d e\"\t1\nr\tx\td\t2\nq\tx\tf\t+3\n", None),
            [(2, row("q|d e|1|#1|")), (3, row("r|d|2|#1|")), (4, row("q|f|+3|#2|"))]
        );
        assert_eq!(seen("score,rank,docid,qid\n1,\"7\",d,q\n", None), [(2, row("q|d|1|7|"))]);
        assert_eq!(seen("q,Q0,d,7,1,a tag\n", None), [(1, row("q|d|1|7|a tag"))]);
        let ranks = [(1, row("q|d|-1|1|")), (2, row("r|d|-1|1|")), (3, row("q|e|-2|2|"))];
        assert_eq!(seen("q\td\t1\nr\td\t1\nq\te\t2\n", None), ranks);
        assert_eq!(
            seen("q\td\t1e1\nq\te\t-2\n", Some("query,doc,rank")),
            [(1, row("q|d|-10|1e1|")), (2, row("q|e|2|-2|"))]
        );
        let records = "{\"qid\": \"q\", \"rank\": 1, \"docid\": 7, \"score\": \
                       1e2}\n\n{\"rank\": \"x y\", \"qid\": \"q\", \"docid\": \"e\", \"score\": \
                       0.50}\n";
        assert_eq!(seen(records, None), [(1, row("q|7|1e2|1|")), (3, row("q|e|0.50|x y|"))]);
        let array = format!("[{}]", records.trim_end().replace("\n\n", ",\n"));
        assert_eq!(seen(&array, None), [(1, row("q|7|1e2|1|")), (2, row("q|e|0.50|x y|"))]);
        let objects = "{\"q\": {\"d\": 1,\n \"e\": 2}, \"r\": {\n\"d\": 3}}";
        assert_eq!(
            seen(objects, None),
            [(1, row("q|d|1|#1|")), (2, row("q|e|2|#2|")), (3, row("r|d|3|#1|"))]
        );
        let judged = |text: &str| rows(text, Role::Qrels, None, BLOCK).unwrap();
        assert_eq!(judged("q 0 d -1.0\n"), [(1, row("q|d|-1.0||"))]);
        assert_eq!(
            judged("1 qid:q 1:2 # d\n\n2 qid:r 1:2\n"),
            [(1, row("q|d|1||")), (3, row("r|3|2||"))]
        );
    }

    #[test]
    fn objects_with_words_are_no_trec() {
        for text in [
            "{\"qid\": \"a b c 5 e\", \"docid\": \"d\", \"score\": 1}",
            "{\"a b c d 5 e\": {\"d\": 1}}",
            "{\n\"a b c d 5 e\": {\"d\":\n1}}",
            "[{\"qid\": \"a b c 5 e\", \"docid\": \"d\", \"score\": 1}]",
        ] {
            let seen = rows(text, Role::Run, None, BLOCK).unwrap();
            assert!(seen[0].1.as_ref().unwrap()[0].starts_with("a b c"), "{text} {seen:?}");
        }
    }

    #[test]
    fn blocks_change_nothing() {
        let line = |n: usize| {
            format!("q{} Q0 doc{} {n} 1 {}\n", n / 9, "x".repeat(n % 70), "t".repeat(1 + n % 40))
        };
        let trec: String = (0..3000)
            .map(|n| if n % 700 == 699 { "wrong\n".to_owned() } else { line(n) })
            .collect();
        let tsv: String = (0..3000)
            .map(|n| format!("q{}\tdoc{n}{}\t{}\n", n % 7, "x".repeat(n % 50), n / 7 + 1))
            .collect();
        for (text, count) in [(&trec, 3000), (&trec.trim_end().to_owned(), 3000), (&tsv, 3000)] {
            assert!(text.len() > 65 << 10); // longer than the start that is always read at once
            let whole = rows(text, Role::Run, None, BLOCK).unwrap();
            assert_eq!(whole.len(), count);
            assert_eq!(
                whole.iter().filter(|(_, row)| row.is_err()).count(),
                if text.starts_with("q0 ") { 4 } else { 0 }
            );
            for block in [1, 17, 1000, 70_000] {
                assert_eq!(rows(text, Role::Run, None, block).unwrap(), whole, "{block}");
            }
        }
    }

    #[test]
    fn no_more_is_read_than_is_wanted() {
        let endless = std::iter::repeat_n("q 0 d 1\n", 1 << 20).collect::<String>();
        let input = Input::Bytes { name: "it".into(), bytes: (endless + "wrong\n").into() };
        let read_as = ReadAs::default();
        let (settings, mut count) = (ReadSettings::new(&read_as), 0);
        let read = each_row(settings, input.clone(), Role::Qrels, None, |_| {
            count += 1;
            Ok(count < 3)
        });
        assert_eq!((read.is_ok(), count), (true, 3));
        let error = each_row(settings, input, Role::Qrels, None, |row| {
            if row.line % (1 << 18) == 0 { Err("is bad".to_owned()) } else { Ok(true) }
        });
        let said = "it:262144: is bad\nit:524288: is bad\nit:786432: is bad\nit:1048576: is \
                    bad\nit:1048577: 1 field in 'wrong': expected 'query iter docno grade'";
        assert_eq!(error.unwrap_err().to_string(), said);
    }
}

//! The rows of a qrels or run text one after another, unchanged, for conversion and preview.
//!
//! The text is read once, in blocks of whole lines, so it may be of any size. A number is kept for
//! each query only if ranks are counted.

use std::io::{Read, Write};

use crate::bytes::{hash::Seed, input::Input, interner::Interner};
use crate::columns::{
    self, CheckedColumns,
    decimal::{Integer, LONGEST},
    text::ColumnId,
};
use crate::error::{Error, Problems, Result};
use crate::format::{
    AlignedQrels, RowLayout, RowShape,
    row_layout::{LinesOf, RowScanners},
    tables::{with_judgments, with_records},
};
use crate::lines::{
    chunks::{ChunkSize, CutRule, StreamBlock},
    diagnostics::whole_file,
    layout::{NumberKind, RankColumn, not_counted},
    row::{Place, Row, RowBatch, RowSink},
    scan::line_end,
    shape::Role,
};
use crate::progress::{check_stopped, is_stopped};
use crate::text::{ReadSettings, StreamHead};

/// A judgment or a result of a run, as it stands in a line of a text.
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

/// The rank of a row of a run: as written in the text, or counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRank<'t> {
    /// The rank, verbatim.
    Written(&'t [u8]),
    /// The position of the row among the rows of its query, from 1, in a text without ranks.
    Counted(u64),
}

/// Passes each row of a qrels or run text to `take` until `take` returns `false`. An error of
/// `take` becomes one of the errors of the text.
///
/// # Errors
/// An unreadable text; the problems of all lines; a text without rows.
pub fn each_row(
    settings: ReadSettings<'_>,
    input: Input,
    role: Role,
    partner: Option<&AlignedQrels>,
    mut take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
) -> Result<()> {
    let mut text = TextRows::open(settings, input, role, partner)?;
    let name = text.text.text.name().to_owned();
    let watch = settings.watch.map(|watch| &**watch);
    let (mut problems, mut any) = (Problems::default(), false);
    // Lines of a row each cannot name a query without documents.
    let is_of_lines = matches!(text.form.shape, RowShape::Trec | RowShape::Table(_));
    let recognised = settings.recognised.filter(|_| role == Role::Qrels && !is_of_lines);
    let mut judged = RowCounts::default();
    text.each(&mut |line, row| {
        any = true;
        if let (Some(_), Ok(row)) = (recognised, &row) {
            judged.count(row.query);
        }
        match row.and_then(&mut take) {
            Ok(more) => more && !is_stopped(watch),
            Err(message) => {
                problems.add(&name, line, || message);
                true
            }
        }
    })?;
    check_stopped(watch)?;
    if !any {
        let what = role.pick("judgment", "result");
        let expected = text.form.expected(role);
        problems = whole_file(&name, format!("there is no {what} in it{expected}"));
    }
    if let Some(recognised) = recognised {
        recognised.note_bare_queries(&name, text.form.bare_queries(), |id| {
            judged.queries.get(id).map(|_| true)
        });
    }
    problems.into_result(())
}

/// A qrels or run text that was opened to be read row by row.
pub struct TextRows {
    text: StreamHead,
    pub form: RowLayout,
    lines: LinesOf,
    /// Whether judgments are read by judge or subtopic.
    by_facet: bool,
    /// The number of bytes of text that are read at a time, unless a line is longer.
    block: ChunkSize,
}

impl TextRows {
    /// Opens a qrels or run text to be read row by row, and recognises its format.
    ///
    /// # Errors
    /// An unreadable text, or a text without the expected content.
    pub fn open(
        settings: ReadSettings<'_>,
        input: Input,
        role: Role,
        partner: Option<&AlignedQrels>,
    ) -> Result<Self> {
        let (detected, text) = StreamHead::open_rows(settings, input, role, partner)?;
        let form =
            detected.map_err(|other| Error::Input(other.problems_alone(role, text.text.name())))?;
        // The rows are passed on at once, so each block is read by itself.
        if let Some(table) = form.table() {
            table.quotes.read();
        }
        let by_facet = role == Role::Qrels && settings.table_facets().is_some();
        let lines = LinesOf { role, rules: settings.dialect.rules(), groups: 1 };
        Ok(Self { text, form, lines, by_facet, block: ChunkSize::default() })
    }

    /// Passes each line of the text to `take`, as a row or a message about its fault, until `take`
    /// returns `false`.
    ///
    /// # Errors
    /// An unreadable text.
    pub fn each(&mut self, take: &mut TakeRow<'_>) -> Result<()> {
        let Self { text, form: layout, lines, by_facet, block } = self;
        let (name, layout, role) = (text.text.name().to_owned(), &*layout, lines.role);
        let mut taking = TakingRows {
            lines: *lines,
            by_facet: *by_facet,
            layout,
            counts: (role == Role::Run && layout.counts_ranks()).then(RowCounts::default),
            number: Vec::new(),
            before: 0,
            more: true,
            take,
        };
        if let Some(table) = layout.columns() {
            return match role {
                Role::Qrels => with_judgments(table, |batches| {
                    CheckedColumns::from_judgments(&name, batches, Seed::random())
                        .map(|columns| taking.columns(&columns))
                }),
                Role::Run => with_records(table, |batches| {
                    CheckedColumns::from_run(&name, batches, Seed::random())
                        .map(|columns| taking.columns(&columns))
                }),
            };
        }
        let read = taking.text(Box::new(text.all()), *block);
        read.map_err(|error| Error::unreadable(&name, error))
    }
}

/// The number of rows of each query of a run so far, for ranks that are counted.
struct RowCounts {
    queries: Interner,
    counts: Vec<u64>,
    last: u32,
}

impl Default for RowCounts {
    fn default() -> Self {
        Self { queries: Interner::new(Seed::random()), counts: Vec::new(), last: 0 }
    }
}

impl RowCounts {
    /// The count of a query after a wrong rank; further ranks of the query are not checked.
    const WRONG: u64 = u64::MAX;

    /// Counts a row of a query, and returns the number of the query's rows so far.
    fn count(&mut self, query: &[u8]) -> &mut u64 {
        if !self.queries.matches(self.last, query) {
            self.last = self.queries.insert(query).0;
            self.counts.resize(self.queries.ids().len(), 0);
        }
        let count = &mut self.counts[self.last as usize];
        *count = count.saturating_add(1);
        count
    }
}

/// A function that takes a row and its line, or a message about a line that is no row; it returns
/// whether it wants more. All such functions share one copy of the scanners, which are large.
type TakeRow<'f> = dyn FnMut(u64, Result<TextRow<'_>, String>) -> bool + 'f;

/// The receiver of a text's rows: the caller's function, and the state kept from block to block.
struct TakingRows<'f> {
    lines: LinesOf,
    /// Whether judgments are read by judge or subtopic.
    by_facet: bool,
    layout: &'f RowLayout,
    /// The counts of rows, if ranks are counted.
    counts: Option<RowCounts>,
    /// The decimal of a number without text.
    number: Vec<u8>,
    /// The number of lines before the block.
    before: u64,
    more: bool,
    take: &'f mut TakeRow<'f>,
}

impl TakingRows<'_> {
    /// Returns a grade as the dialect reads it: without decimals, if the dialect has whole grades.
    fn grade(&self, value: f64) -> f64 {
        let is_whole = self.lines.role == Role::Qrels && self.lines.rules.whole_grades;
        if is_whole { value.trunc() } else { value }
    }

    /// Checks all rows of columns in memory, writes their numbers and ranks as text, and passes them
    /// to the caller's function.
    fn columns(&mut self, columns: &CheckedColumns<'_>) {
        let (role, mut counts) = (self.lines.role, RowCounts::default());
        columns.each_row(|row, (batch, at), [query, doc]| {
            let (line, value) = (row as u64 + 1, batch.number(at));
            if !columns::is_valid_number(role, value) {
                return (self.take)(
                    line,
                    Err(columns::invalid_number_message(role, value, [query, doc])),
                );
            }
            let [mut group, mut rank] = [[0; LONGEST]; 2];
            let group = self.by_facet.then(|| match &batch.groups[0] {
                Some(groups) => groups.id(at).bytes(&mut group),
                None => &[],
            });
            if group.is_some_and(<[u8]>::is_empty) {
                return (self.take)(line, Err("the group is empty".to_owned()));
            }
            let given = batch.rank.and_then(|ranks| ranks.signed(at));
            let rank = (role == Role::Run).then(|| match given {
                Some(given) => {
                    let given = ColumnId::Integer(Integer::from(given));
                    TextRank::Written(given.bytes(&mut rank))
                }
                None => TextRank::Counted(*counts.count(query)),
            });
            // A conversion writes the number as it stands in the input, even if the dialect cuts
            // grades.
            let (value, number) = (self.grade(value), written_out(value, &mut self.number));
            let row = TextRow { line, query, doc, number, value, rank, tag: None, group };
            (self.take)(line, Ok(row))
        });
    }

    /// Passes the rows of a text to the caller's function, block by block.
    fn text(&mut self, text: Box<dyn Read + Send + '_>, block: ChunkSize) -> std::io::Result<()> {
        let layout = self.layout;
        let mut blocks = layout.blocks(text, |rule| CutRule::at_lines(block, rule))?;
        let (mut spare, mut batch) = (StreamBlock::default(), RowBatch::default());
        let mut scanners = RowScanners::default();
        while self.more
            && let Some(block) = blocks.next(spare)?
        {
            let chunk = block.chunk();
            let (rows, skip) = (layout.chunk_rows(chunk, &mut batch), layout.skip(chunk));
            self.before += scanners.each(layout, rows, skip, self.lines, self);
            spare = block;
        }
        Ok(())
    }

    /// Passes a row to the caller's function, unless it wants no more.
    fn take(&mut self, row: TextRow<'_>) {
        if self.more {
            self.more = (self.take)(row.line, Ok(row));
        }
    }
}

impl RowSink for TakingRows<'_> {
    const ALL_FIELDS: bool = true;

    fn row(&mut self, text: &[u8], row: Row) {
        let field = |[start, end]: Place| &text[start..end];
        let [query, doc, number] = [row.query, row.doc, row.number].map(field);
        let [rank, group, tag] = [row.rank, row.group, row.tag].map(|place| place.map(field));
        let (line, value) = (self.before + row.line, self.grade(row.value));
        let rank = rank.map(TextRank::Written);
        let group = group.filter(|_| self.by_facet);
        let of_row = TextRow { line, query, doc, number, value, rank, tag, group };
        if matches!(self.layout.shape, RowShape::Trec) {
            let tag = row.tag.map(|[start, _]| text[start..line_end(text, start)].trim_ascii_end());
            return self.take(TextRow { tag, ..of_row });
        }
        // A missing rank is counted, and −rank is written for a missing score.
        let count = self.counts.as_mut().map(|counts| counts.count(query));
        let counted = count.as_ref().map(|count| TextRank::Counted(**count));
        if let (Some(options), Some(count)) = (self.layout.counted_ranks(), count)
            && *count != RowCounts::WRONG
            && value != *count as f64
        {
            let expected = std::mem::replace(count, RowCounts::WRONG);
            return self.fault(0, row.line, || {
                not_counted(value.to_string().as_bytes(), Some(expected), options)
            });
        }
        // The buffer is taken out of `self`, because `take` borrows `self` while the row borrows
        // the buffer.
        let mut decimal = std::mem::take(&mut self.number);
        let rank = rank.or(counted);
        self.take(match self.layout.number_kind() {
            NumberKind::One => TextRow { number: b"1", ..of_row },
            NumberKind::Number if number.is_empty() => {
                TextRow { number: written_out(value, &mut decimal), rank, ..of_row }
            }
            NumberKind::Number => TextRow { rank, ..of_row },
            NumberKind::CountedRank | NumberKind::Rank => {
                let (rank, value) = (Some(TextRank::Written(number)), -value);
                TextRow { number: written_out(value, &mut decimal), value, rank, ..of_row }
            }
        });
        self.number = decimal;
    }

    #[cold]
    fn fault(&mut self, _: usize, line: u64, message: impl FnOnce() -> String) {
        if self.more {
            // Line 0 stands for the whole input.
            let line = if line == 0 { 0 } else { self.before + line };
            self.more = (self.take)(line, Err(message()));
        }
    }
}

/// Writes the shortest decimal text that is read as the number `value`.
fn written_out(value: f64, decimal: &mut Vec<u8>) -> &[u8] {
    decimal.clear();
    // Writing into memory cannot fail.
    let _ =
        if value.abs() < 1e15 { write!(decimal, "{value}") } else { write!(decimal, "{value:?}") };
    decimal
}

impl RowLayout {
    /// Returns whether the rows of each query of a run are counted, to give ranks or to check them.
    /// Rows are counted in a text without ranks, or to check counted ranks.
    fn counts_ranks(&self) -> bool {
        self.order().ranks() == RankColumn::None && self.number_kind() != NumberKind::Rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ReadOptions;

    type Seen = Vec<(u64, Result<String, String>)>;

    /// Returns the lines of a text: the fields of each row, or its fault.
    fn rows(text: &str, role: Role, columns: Option<&str>, block: ChunkSize) -> Seen {
        let columns = columns.map(|columns| columns.parse().unwrap());
        let read_as = ReadOptions { columns, ..ReadOptions::default() };
        let input = Input::Bytes { name: "it".into(), bytes: text.into() };
        let rows = TextRows::open(ReadSettings::new(&read_as), input, role, None).unwrap();
        let mut seen = Seen::new();
        let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let each = TextRows { block, ..rows }.each(&mut |line, row| {
            let fields = row.map(|row| {
                assert_eq!(row.line, line);
                let fields = [row.query, row.doc, row.number, row.tag.unwrap_or_default()];
                let [query, doc, number, tag] = fields.map(string);
                assert_eq!(number.parse::<f64>().unwrap().to_bits(), row.value.to_bits());
                let rank = match row.rank {
                    Some(TextRank::Written(rank)) => string(rank),
                    Some(TextRank::Counted(count)) => format!("#{count}"),
                    None => String::new(),
                };
                format!("{query}|{doc}|{number}|{rank}|{tag}")
            });
            seen.push((line, fields));
            true
        });
        each.unwrap();
        seen
    }

    #[test]
    fn rows_are_as_they_are_written() {
        let read = |text: &str, role, columns| {
            let rows = rows(text, role, columns, ChunkSize::default()).into_iter();
            rows.map(|(line, row)| format!("{line} {}", row.unwrap())).collect::<Vec<_>>()
        };
        let seen = |text: &str, columns| read(text, Role::Run, columns);
        assert_eq!(
            seen("# x\n\nq Q0  d 07 1.50\tt u \r\nq 0 e x 2 t", None),
            ["3 q|d|1.50|07|t u", "4 q|e|2|x|t"]
        );
        assert_eq!(
            seen("qid\tx\tdocid\tscore\nq\t\t\"d e\"\t1\nr\tx\td\t2\nq\tx\tf\t+3\n", None),
            ["2 q|d e|1|#1|", "3 r|d|2|#1|", "4 q|f|+3|#2|"]
        );
        assert_eq!(seen("score,rank,docid,qid\n1,\"7\",d,q\n", None), ["2 q|d|1|7|"]);
        assert_eq!(seen("q,Q0,d,7,1,a tag\n", None), ["1 q|d|1|7|a tag"]);
        let ranks = ["1 q|d|-1|1|", "2 r|d|-1|1|", "3 q|e|-2|2|"];
        assert_eq!(seen("q\td\t1\nr\td\t1\nq\te\t2\n", None), ranks);
        assert_eq!(
            seen("q\td\t1e1\nq\te\t-2\n", Some("query,doc,rank")),
            ["1 q|d|-10|1e1|", "2 q|e|2|-2|"]
        );
        let records = "{\"qid\": \"q\", \"rank\": 1, \"docid\": 7, \"score\": \
                       1e2}\n\n{\"rank\": \"x y\", \"qid\": \"q\", \"docid\": \"e\", \"score\": \
                       0.50}\n";
        assert_eq!(seen(records, None), ["1 q|7|1e2|1|", "3 q|e|0.50|x y|"]);
        let array = format!("[{}]", records.trim_end().replace("\n\n", ",\n"));
        assert_eq!(seen(&array, None), ["1 q|7|1e2|1|", "2 q|e|0.50|x y|"]);
        let objects = "{\"q\": {\"d\": 1,\n \"e\": 2}, \"r\": {\n\"d\": 3}}";
        assert_eq!(seen(objects, None), ["1 q|d|1|#1|", "2 q|e|2|#2|", "3 r|d|3|#1|"]);
        let judged = |text: &str| read(text, Role::Qrels, None);
        assert_eq!(judged("q 0 d -1.0\n"), ["1 q|d|-1.0||"]);
        assert_eq!(judged("1 qid:q 1:2 # d\n\n2 qid:r 1:2\n"), ["1 q|d|1||", "3 r|3|2||"]);
    }

    #[test]
    fn objects_with_words_are_no_trec() {
        for text in [
            r#"{"qid": "a b c 5 e", "docid": "d", "score": 1}"#,
            r#"{"a b c d 5 e": {"d": 1}}"#,
            "{\n\"a b c d 5 e\": {\"d\":\n1}}",
            r#"[{"qid": "a b c 5 e", "docid": "d", "score": 1}]"#,
        ] {
            let seen = rows(text, Role::Run, None, ChunkSize::default());
            assert!(seen[0].1.as_ref().unwrap().starts_with("a b c"), "{text} {seen:?}");
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
        for text in [&trec, &trec.trim_end().to_owned(), &tsv] {
            assert!(text.len() > 65 << 10); // longer than the start that is always read at once
            let whole = rows(text, Role::Run, None, ChunkSize::default());
            assert_eq!(whole.len(), 3000);
            assert_eq!(
                whole.iter().filter(|(_, row)| row.is_err()).count(),
                if text.starts_with("q0 ") { 4 } else { 0 }
            );
            for block in [1, 17, 1000, 70_000] {
                assert_eq!(rows(text, Role::Run, None, ChunkSize(block)), whole, "{block}");
            }
        }
    }

    #[test]
    fn no_more_is_read_than_is_wanted() {
        let endless = "q 0 d 1\n".repeat(1 << 20);
        let input = Input::Bytes { name: "it".into(), bytes: (endless + "wrong\n").into() };
        let read_as = ReadOptions::default();
        let (settings, mut count) = (ReadSettings::new(&read_as), 0);
        let read = each_row(settings, input.clone(), Role::Qrels, None, |_| {
            count += 1;
            Ok(count < 3)
        });
        assert_eq!((read.is_ok(), count), (true, 3));
        let error = each_row(settings, input, Role::Qrels, None, |row| {
            if row.line % (1 << 18) == 0 { Err("is bad".to_owned()) } else { Ok(true) }
        });
        let expected = "it:262144: is bad\nit:524288: is bad\nit:786432: is bad\nit:1048576: is \
                    bad\nit:1048577: 1 field in 'wrong': expected 'query iter docno grade'";
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

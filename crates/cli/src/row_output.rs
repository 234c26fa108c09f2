//! Judgments and results of runs, written row by row for `laneval convert`: as TREC text, TSV,
//! JSONL or Parquet.

use std::io::{self, Write};

use laneval::FacetKind;
use laneval::error::printable;
use laneval::text::{TextRank, TextRow};
#[cfg(feature = "parquet")]
use laneval_formats::{ColumnKind, ParquetWriter, RowCell};
use serde::de::IgnoredAny;

/// A format in which `laneval convert` writes judgments or results: TREC text, TSV, JSONL or
/// Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// `query 0 document grade`, with a judge or a subtopic for the 0, or
    /// `query Q0 document rank score tag`.
    Trec,
    /// A table with a header; judgments have that of BEIR.
    Tsv,
    /// A record on each line.
    Jsonl,
    /// A table of Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// The names of ids in messages.
const QUERY: &str = "query";
const DOCUMENT: &str = "document";
const RANK: &str = "rank";
const GROUP: &str = "group";

/// The most bytes of an id of JSON that is read.
const LONGEST_IN_JSON: usize = 64 << 10;

/// The message for tables of Parquet in a build that cannot write them.
pub const NO_PARQUET: &str = "this build cannot write Parquet: build the command with `--features \
                              parquet`, or use the command of the Python package";

impl RowFormat {
    const ALL: &[(Self, &str)] = &[
        (Self::Trec, ".trec"),
        (Self::Tsv, ".tsv"),
        (Self::Jsonl, ".jsonl"),
        #[cfg(feature = "parquet")]
        (Self::Parquet, ".parquet"),
    ];

    /// Returns the extension of files in this format of rows, such as `.tsv`.
    fn extension(self) -> &'static str {
        Self::ALL.iter().find(|(format, _)| *format == self).map_or("", |(_, extension)| extension)
    }

    /// Returns whether this format of rows is text, which may be compressed; Parquet is not.
    pub fn is_text(self) -> bool {
        self.extension() != ".parquet"
    }

    /// Returns the reason why this format of rows cannot have a field, such as a blank in an id of
    /// TREC text.
    fn refuses(self, what: &str, field: &[u8]) -> Option<&'static str> {
        match self {
            _ if field.is_empty() => Some("is empty"),
            // The five bytes from the tab on are the other blanks of C.
            Self::Trec if has(field, |byte| byte == b' ' || byte.wrapping_sub(b'\t') < 5) => {
                Some("has a blank in it")
            }
            Self::Trec if what == QUERY && field.starts_with(b"#") => {
                Some("starts as a comment does")
            }
            Self::Trec if what == QUERY && field.starts_with(b"\xef\xbb\xbf") => {
                Some("starts with a byte order mark")
            }
            Self::Tsv if has(field, |byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'"')) => {
                Some("has a tab, an end of line or a quote in it")
            }
            Self::Jsonl if has(field, |byte| byte < b' ') => Some("has a control character in it"),
            Self::Jsonl if field.len() > LONGEST_IN_JSON => Some("has more than 64 KiB"),
            Self::Jsonl if std::str::from_utf8(field).is_err() => Some("is not UTF-8"),
            #[cfg(feature = "parquet")]
            Self::Parquet if std::str::from_utf8(field).is_err() => Some("is not UTF-8"),
            #[cfg(feature = "parquet")]
            Self::Parquet if what == RANK && as_integer(field).is_none() => {
                Some("is not an integer")
            }
            _ => None,
        }
    }

    /// Rejects a field that this format of rows cannot have, and names the formats that can.
    fn check(self, what: &str, field: &[u8]) -> Result<(), String> {
        let Some(why) = self.refuses(what, field) else { return Ok(()) };

        let able = Self::ALL.iter().filter(|(format, _)| format.refuses(what, field).is_none());
        let able: Vec<&str> = able.map(|&(_, extension)| extension).collect();
        let able = match able.as_slice() {
            [] => "no format that is written here can have it".to_owned(),
            able => format!("{} can have it", able.join(" and ")),
        };
        // The field is cut, because an id may have megabytes.
        let (extension, shown) = (self.extension(), printable(&field[..field.len().min(60)]));
        Err(format!("the {what} '{shown}' {why}, so {extension} cannot have it: {able}"))
    }
}

/// Returns whether any byte of a field satisfies `is`.
#[inline]
fn has(field: &[u8], is: impl Fn(u8) -> bool) -> bool {
    // A fold and not `any`: without an early end no byte has a branch, and nearly all fields have
    // nothing of the kind.
    field.iter().fold(false, |found, &byte| found | is(byte))
}

/// The destination of the rows of `laneval convert`: a stream of text, or a table of Parquet.
enum RowDestination<'w> {
    Text(&'w mut dyn Write),
    /// A table, which is made when its first row says which columns it has.
    #[cfg(feature = "parquet")]
    Parquet(
        Option<&'w mut (dyn Write + Send)>,
        Option<Box<ParquetWriter<&'w mut (dyn Write + Send)>>>,
    ),
}

/// A writer of judgments or results of a run, row by row, in a format of `laneval convert`.
pub struct RowWriter<'w> {
    format: RowFormat,
    judgments: bool,
    /// What judgments are written by: judges or subtopics.
    by: Option<FacetKind>,
    /// The tag for TREC results that have none.
    tag: String,
    to: RowDestination<'w>,
    line: Vec<u8>,
    rows: u64,
    /// The error after which nothing can be written any more.
    refused: Option<io::Error>,
}

/// The number of bytes that are written at a time.
const BLOCK: usize = 256 << 10;

impl<'w> RowWriter<'w> {
    /// Makes a writer of judgments, or of results of a run, as text; TREC results without a tag get
    /// `tag`.
    pub fn new(format: RowFormat, judgments: bool, tag: String, to: &'w mut dyn Write) -> Self {
        Self::to(format, judgments, tag, RowDestination::Text(to))
    }

    /// Makes a writer of judgments, or of results of a run, as a table of Parquet.
    #[cfg(feature = "parquet")]
    pub fn parquet(judgments: bool, to: &'w mut (dyn Write + Send)) -> Self {
        Self::to(
            RowFormat::Parquet,
            judgments,
            String::new(),
            RowDestination::Parquet(Some(to), None),
        )
    }

    fn to(format: RowFormat, judgments: bool, tag: String, to: RowDestination<'w>) -> Self {
        Self { format, judgments, by: None, tag, to, line: Vec::new(), rows: 0, refused: None }
    }

    /// Sets that the writer adds to each judgment its judge or subtopic.
    pub fn with_facet(self, by: Option<FacetKind>) -> Self {
        Self { by, ..self }
    }

    /// Writes one judgment or result; returns `false` if nothing can be written any more.
    ///
    /// # Errors
    /// A field that the format cannot have.
    pub fn row(&mut self, row: &TextRow<'_>) -> Result<bool, String> {
        self.format.check(QUERY, row.query)?;
        self.format.check(DOCUMENT, row.doc)?;
        if let Some(TextRank::Written(rank)) = row.rank {
            self.format.check(RANK, rank)?;
        }
        match (self.by, row.group) {
            (Some(_), Some(group)) => self.format.check(GROUP, group)?,
            (Some(by), None) => return Err(format!("there is no {by}")),
            (None, _) => {}
        }
        if !row.value.is_finite() && matches!(self.format, RowFormat::Jsonl) {
            return Err(format!("{} is not a finite number, which JSON does not have", row.value));
        }
        match self.format {
            RowFormat::Trec => self.trec(row),
            RowFormat::Tsv => self.tsv(row),
            RowFormat::Jsonl => self.jsonl(row),
            #[cfg(feature = "parquet")]
            RowFormat::Parquet => self.refused = self.cells(row).err(),
        }
        self.rows += 1;
        // One call of the writer for many rows: it may be gzip.
        if self.line.len() >= BLOCK {
            self.refused = self.flush().err();
        }
        Ok(self.refused.is_none())
    }

    /// Writes the rows that are still buffered, and returns the number of all rows.
    ///
    /// # Errors
    /// An error of the stream.
    pub fn finish(mut self) -> io::Result<u64> {
        self.refused.take().map_or(Ok(()), Err)?;
        self.flush()?;
        #[cfg(feature = "parquet")]
        if let RowDestination::Parquet(_, Some(table)) = self.to {
            table.finish()?;
        }
        Ok(self.rows)
    }

    /// Writes the buffered lines of text to the destination.
    fn flush(&mut self) -> io::Result<()> {
        #[cfg_attr(not(feature = "parquet"), allow(irrefutable_let_patterns))]
        if let RowDestination::Text(to) = &mut self.to {
            to.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }

    /// Adds a judgment or result to the table of Parquet, which is made at the first row.
    #[cfg(feature = "parquet")]
    fn cells(
        &mut self,
        &TextRow { query, doc, value, rank, group, .. }: &TextRow<'_>,
    ) -> io::Result<()> {
        let rank = match rank {
            Some(TextRank::Written(rank)) => as_integer(rank).map(RowCell::Integer),
            _ => None,
        };
        let by = self.by.map(column);
        let RowDestination::Parquet(to, table) = &mut self.to else { return Ok(()) };
        if let Some(to) = to.take() {
            let number = if self.judgments { "relevance" } else { "score" };
            let query = [("query_id", ColumnKind::Dictionary)]
                .into_iter()
                .chain(by.map(|by| (by, ColumnKind::Dictionary)));
            let ids = query.chain([("doc_id", ColumnKind::Text)]);
            let columns = ids.chain(rank.map(|_| ("rank", ColumnKind::Integer)));
            let columns: Vec<(&str, ColumnKind)> =
                columns.chain([(number, ColumnKind::Float)]).collect();
            *table = Some(Box::new(ParquetWriter::new(to, &columns)?));
        }
        let group = by.and(group).map(text_cell);
        let ids = [text_cell(query)].into_iter().chain(group).chain([text_cell(doc)]);
        let cells: Vec<RowCell<'_>> = ids.chain(rank).chain([RowCell::Float(value)]).collect();
        table.as_mut().map_or(Ok(()), |table| table.push(&cells))
    }

    fn put<const N: usize>(&mut self, parts: [&[u8]; N]) {
        parts.into_iter().for_each(|part| self.line.extend_from_slice(part));
    }

    /// Returns the judge or subtopic of a row, if the writer writes them.
    fn group<'t>(&self, row: &TextRow<'t>) -> Option<&'t [u8]> {
        self.by.and(row.group)
    }

    fn trec(&mut self, row: &TextRow<'_>) {
        let &TextRow { query, doc, number, rank, tag, .. } = row;
        if self.judgments {
            let group = self.group(row).unwrap_or(b"0");
            return self.put([query, b" ", group, b" ", doc, b" ", number, b"\n"]);
        }
        self.put([query, b" Q0 ", doc, b" "]);
        match rank {
            Some(TextRank::Written(rank)) => self.put([rank]),
            Some(TextRank::Counted(rank)) => self.line.extend(rank.to_string().bytes()),
            None => {}
        }
        self.put([b" ", number, b" "]);
        match tag.map(<[u8]>::trim_ascii).filter(|tag| !tag.is_empty()) {
            Some(tag) => self.put([tag, b"\n"]),
            None => {
                self.line.extend(self.tag.bytes());
                self.line.push(b'\n');
            }
        }
    }

    fn tsv(&mut self, row: &TextRow<'_>) {
        let (&TextRow { query, doc, number, rank, .. }, group) = (row, self.group(row));
        if self.rows == 0 {
            match (self.judgments, rank, self.by.map(column)) {
                (true, _, Some(by)) => {
                    self.put([b"query-id\t", by.as_bytes(), b"\tcorpus-id\tscore\n"])
                }
                (true, _, None) => self.put([b"query-id\tcorpus-id\tscore\n"]),
                (false, Some(TextRank::Written(_)), _) => {
                    self.put([b"query_id\tdoc_id\trank\tscore\n"])
                }
                (false, ..) => self.put([b"query_id\tdoc_id\tscore\n"]),
            }
        }
        self.put([query, b"\t"]);
        if let Some(group) = group {
            self.put([group, b"\t"]);
        }
        self.put([doc, b"\t"]);
        if let Some(TextRank::Written(rank)) = rank {
            self.put([rank, b"\t"]);
        }
        self.put([number, b"\n"]);
    }

    fn jsonl(&mut self, row: &TextRow<'_>) {
        let &TextRow { query, doc, number, value, rank, .. } = row;
        self.put([b"{\"query_id\": "]);
        self.string(query);
        if let (Some(by), Some(group)) = (self.by, row.group) {
            self.put([b", \"", column(by).as_bytes(), b"\": "]);
            self.string(group);
        }
        self.put([b", \"doc_id\": "]);
        self.string(doc);
        if let Some(TextRank::Written(rank)) = rank {
            self.put([b", \"rank\": "]);
            if is_json_number(rank) { self.put([rank]) } else { self.string(rank) }
        }
        self.put([if self.judgments { b", \"relevance\": " } else { b", \"score\": " }]);
        if is_json_number(number) {
            self.put([number]);
        } else {
            self.line.extend(format!("{value:?}").bytes());
        }
        self.put([b"}\n"]);
    }

    /// Appends an id to the buffered line as a JSON string, in quotes and escaped.
    fn string(&mut self, text: &[u8]) {
        self.line.push(b'"');
        for part in text.split_inclusive(|byte| matches!(byte, b'"' | b'\\')) {
            let (last, before) = part.split_last().unwrap_or((&b' ', &[]));
            let escape: &[u8] = if matches!(last, b'"' | b'\\') { b"\\" } else { b"" };
            self.put([before, escape, &[*last]]);
        }
        self.line.push(b'"');
    }
}

/// Returns the name of the column for judges or subtopics of judgments.
fn column(by: FacetKind) -> &'static str {
    if by == FacetKind::Judge { "judge" } else { "subtopic" }
}

/// Returns the cell of Parquet for an id that was checked before.
#[cfg(feature = "parquet")]
fn text_cell(id: &[u8]) -> RowCell<'_> {
    RowCell::Text(std::str::from_utf8(id).unwrap_or_default())
}

/// Parses the rank of a result as an integer, for a column of Parquet.
#[cfg(feature = "parquet")]
fn as_integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns whether the text of a number is JSON as it stands.
fn is_json_number(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'-' | b'0'..=b'9'))
        && text.last().is_some_and(u8::is_ascii_digit)
        && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RowFormat, judgments: bool, rows: &[TextRow<'_>]) -> Result<String, String> {
        let mut to = Vec::new();
        let mut writer = RowWriter::new(format, judgments, "mine".to_owned(), &mut to);
        for row in rows {
            assert!(writer.row(row)?);
        }
        assert_eq!(writer.finish().unwrap(), rows.len() as u64);
        Ok(String::from_utf8(to).unwrap())
    }

    fn row<'t>(query: &'t str, doc: &'t str, number: &'t str) -> TextRow<'t> {
        let (query, doc, number, value) =
            (query.as_bytes(), doc.as_bytes(), number.as_bytes(), number.parse().unwrap());
        TextRow { line: 1, query, doc, number, value, rank: None, tag: None, group: None }
    }

    #[test]
    fn numbers_of_json_stay_as_they_are_written() {
        for (number, json) in [
            ("1", "1"),
            ("-0.50", "-0.50"),
            ("1e-3", "1e-3"),
            ("1E+05", "1E+05"),
            ("+1.5", "1.5"),
            (".5", "0.5"),
            ("5.", "5.0"),
            ("007", "7.0"),
            ("+1e300", "1e300"),
            ("+0.1000000000000000055511151231257827", "0.1"),
        ] {
            let found = written(RowFormat::Jsonl, true, &[row("q", "d", number)]).unwrap();
            assert_eq!(
                found,
                format!("{{\"query_id\": \"q\", \"doc_id\": \"d\", \"relevance\": {json}}}\n")
            );
        }
    }

    #[test]
    fn what_a_format_cannot_have_is_said_with_those_that_can() {
        let refused =
            |format, query, doc| written(format, true, &[row(query, doc, "1")]).unwrap_err();
        for (format, query, doc, expected) in [
            (
                RowFormat::Trec,
                "a b",
                "d",
                "the query 'a b' has a blank in it, so .trec cannot have it: .tsv and .jsonl can \
                 have it",
            ),
            (
                RowFormat::Trec,
                "q",
                "a\"\u{b}b",
                "the document 'a\"\\u{b}b' has a blank in it, so .trec cannot have it: no format \
                 that is written here can have it",
            ),
            (
                RowFormat::Trec,
                "#q",
                "d",
                "the query '#q' starts as a comment does, so .trec cannot have it: .tsv and .jsonl \
                 can have it",
            ),
            (
                RowFormat::Trec,
                "\u{feff}q",
                "d",
                "the query '\\u{feff}q' starts with a byte order mark, so .trec cannot have it: \
                 .tsv and .jsonl can have it",
            ),
            (
                RowFormat::Tsv,
                "q",
                "a\"",
                "the document 'a\"' has a tab, an end of line or a quote in it, so .tsv cannot \
                 have it: .trec and .jsonl can have it",
            ),
            (
                RowFormat::Tsv,
                "a\tb",
                "d",
                "the query 'a\\tb' has a tab, an end of line or a quote in it, so .tsv cannot have \
                 it: no format that is written here can have it",
            ),
            (
                RowFormat::Jsonl,
                "\u{1}",
                "d",
                "the query '\\u{1}' has a control character in it, so .jsonl cannot have it: .trec \
                 and .tsv can have it",
            ),
        ] {
            assert_eq!(refused(format, query, doc), expected);
        }
        assert!(written(RowFormat::Trec, true, &[row("q", "#\u{feff}é", "1")]).is_ok());
        let broken = TextRow { doc: b"\xff", ..row("q", "d", "1") };
        let message = written(RowFormat::Jsonl, true, &[broken]).unwrap_err();
        assert_eq!(
            message,
            "the document '\\xff' is not UTF-8, so .jsonl cannot have it: .trec and .tsv can have \
             it"
        );
        let ranked = TextRow { rank: Some(TextRank::Written(b"1 2")), ..row("q", "d", "1") };
        assert!(
            written(RowFormat::Trec, false, &[ranked])
                .unwrap_err()
                .starts_with("the rank '1 2' has a blank in it")
        );
    }

    #[test]
    fn strings_of_json_are_those_of_serde_json() {
        for id in ["", "plain", "a\"b\\c", "\\", "\"\"", "é\u{1f600}\u{7f}", "/"] {
            let mut to = Vec::new();
            let mut writer = RowWriter::new(RowFormat::Jsonl, true, String::new(), &mut to);
            writer.string(id.as_bytes());
            assert_eq!(
                std::str::from_utf8(&writer.line).unwrap(),
                serde_json::to_string(id).unwrap()
            );
        }
    }
}

//! The file of `--topics`: texts of queries by their ids, for people who read reports.
//!
//! ```text
//! id<TAB>text                            topics of MS MARCO
//! query_id,text and rows below           TSV or CSV whose first line names the columns
//! {"_id": …, "text": …} on each line     queries of BEIR
//! {id: text, …}                          one object of JSON
//! <top> <num> … <title> …                topics of TREC
//! ```
//!
//! The content decides which format a file has. The file is read once, and only texts of the
//! queries asked for are kept, so a large file takes no memory.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use laneval::error::{Problems, printable};
use laneval::internals::StreamingText;
use laneval::report::Note;
use laneval::{Error, Input};
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{
    cli_error::{CliError, CliResult, fail},
    side_file,
    style::{comma_list, pluralize, shown, thousands},
};

/// Texts of queries by the bytes of their ids.
pub type QueryTexts = HashMap<Vec<u8>, String>;

/// The most characters of a text. What is longer ends with `…`.
const LONGEST_TITLE: usize = 500;
/// The most bytes of a line, and of an entry of an object.
const LONGEST_ENTRY: usize = 64 << 20;
/// The most queries without a text that a note names.
const NAMED: usize = 5;

/// The names of the column or key of the id, the best first.
const IDS: [&str; 5] = ["query_id", "qid", "_id", "id", "query-id"];
/// The names of the column or key of the text, the best first.
const TEXTS: [&str; 3] = ["text", "title", "query"];

/// What a file of texts was expected to be.
const EXPECTED: &str = "expected 'query<TAB>text', columns such as query_id and text, {\"_id\": \
     …, \"text\": …} on each line, {id: text}, or \
     topics of TREC";
/// The expected row of a text without names of columns.
const ROW: &str = "expected 'query<TAB>text', or a first line with the names of the columns, such \
                   as query_id and text";
/// The expected record.
const RECORD: &str = "expected {\"_id\": …, \"text\": …}";

/// Rejects, before any work, a file of query texts (`--topics`) that is missing or a folder.
pub fn check(path: &Path) -> CliResult<()> {
    match std::fs::metadata(path) {
        Ok(file) if file.is_dir() => Err(CliError::for_path(path, "cannot open: it is a folder")),
        Ok(_) => Ok(()),
        Err(error) => Err(Error::io(path, "open", error).into()),
    }
}

/// Reads the texts of some queries from a file of `--topics`, and notes which of these have none.
/// The text of any other query is dropped.
///
/// # Errors
/// A file that cannot be read, has no text in it, has lines of another form, or has two texts for
/// one query.
pub fn read<'a>(
    path: &'a Path,
    queries: impl IntoIterator<Item = &'a [u8]>,
) -> CliResult<(QueryTexts, Option<Note>)> {
    let mut collector = TopicCollector::new(path, queries);
    let mut lines = TopicLines::open(path)?;
    if lines.next()? {
        match lines.line.trim_ascii_start() {
            [b'{', ..] if !lines.cut && is_record(&lines.line) => records(lines, &mut collector)?,
            [b'{', ..] => object(lines, &mut collector)?,
            [b'<', ..] => topics(lines, &mut collector)?,
            _ => table(lines, &mut collector)?,
        }
    }
    collector.finish()
}

/// The lines of a file of query texts, read one after the other.
struct TopicLines {
    name: String,
    text: BufReader<StreamingText<'static>>,
    /// The number of the last line of the text that was read, from 1.
    read: u64,
    /// The number of the line below.
    number: u64,
    /// The line, without its end.
    line: Vec<u8>,
    /// Whether more of the line follows: an object of JSON may be a long one.
    cut: bool,
}

impl TopicLines {
    fn open(path: &Path) -> CliResult<Self> {
        let text = BufReader::new(StreamingText::from_input(Input::Path(path.to_owned()))?);
        Ok(Self { name: shown(path), text, read: 0, number: 0, line: Vec::new(), cut: false })
    }

    /// Reads the next line of the file that is not blank; returns `false` at the end.
    fn next(&mut self) -> CliResult<bool> {
        loop {
            self.line.clear();
            if !self.more()? {
                return Ok(false);
            }
            self.number = self.read;
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Appends the next line of the file to the current line; returns `false` at the end.
    fn more(&mut self) -> CliResult<bool> {
        let from = self.line.len();
        let most = (LONGEST_ENTRY + 1).saturating_sub(from) as u64;
        let read = self.text.by_ref().take(most).read_until(b'\n', &mut self.line);
        let read =
            read.map_err(|error| CliError::new(format!("{}: cannot read: {error}", self.name)))?;
        self.read += u64::from(read > 0);
        let too_long = self.line.len() > LONGEST_ENTRY;
        self.cut = too_long && from == 0 && self.line.trim_ascii_start().starts_with(b"{");
        let added = &self.line[from..];
        let of_table = matches!(added, [b'P', b'A', b'R', b'1', next, ..] if *next != b'\t')
            || added.starts_with(b"ARROW1\0");
        let wrong = if self.read == 1 && of_table {
            "a table of Parquet or Arrow is not read for texts: give them as TSV, CSV or JSON"
        } else if added.contains(&0) {
            "is binary: text was expected, in UTF-8"
        } else if too_long && !self.cut {
            "the line has more than 64 MiB"
        } else {
            while let [.., b'\n' | b'\r'] = self.line[from..] {
                self.line.pop();
            }
            if !self.line[from..].contains(&b'\r') {
                return Ok(read > 0);
            }
            "a carriage return without a line feed: lines were expected to end with a line feed"
        };
        fail(format!("{}:{}: {wrong}", self.name, self.read))
    }
}

/// A collector of the texts of requested queries, and of the problems of their file.
struct TopicCollector<'a> {
    path: &'a Path,
    queries: Vec<&'a [u8]>,
    wanted: HashSet<&'a [u8]>,
    found: HashMap<&'a [u8], CollectedText>,
    /// The first id of the file.
    first: Option<Vec<u8>>,
    problems: Problems,
}

/// The text of a query that was found in the file of `--topics`, with its line.
struct CollectedText {
    line: u64,
    /// The hash of the whole text, to tell another one.
    hash: u64,
    text: String,
}

impl<'a> TopicCollector<'a> {
    fn new(path: &'a Path, queries: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let queries: Vec<&[u8]> = queries.into_iter().collect();
        let wanted = queries.iter().copied().collect();
        Self {
            path,
            queries,
            wanted,
            found: HashMap::new(),
            first: None,
            problems: Problems::default(),
        }
    }

    /// Keeps the text of a query, if the query was asked for, and notes what is wrong with the
    /// line.
    fn take(&mut self, line: u64, id: &[u8], text: &[u8]) {
        if id.is_empty() {
            return self.wrong(line, "the id of the query is empty");
        }
        self.first.get_or_insert_with(|| id.to_vec());
        let Some(&id) = self.wanted.get(id) else { return };
        let Ok(text) = std::str::from_utf8(text) else {
            return self.wrong(line, "the text of the query is not UTF-8");
        };
        // The same text with other blanks is no other text.
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let hash = hasher.finish();
        match self.found.get(id) {
            Some(entry) if entry.hash != hash => {
                let first = entry.line;
                let id = printable(id);
                self.wrong(
                    line,
                    format!("query '{id}' has another text here than on line {first}"),
                );
            }
            Some(_) => {}
            None => {
                let text = shortened(&words.join(" "));
                self.found.insert(id, CollectedText { line, hash, text });
            }
        }
    }

    fn wrong(&mut self, line: u64, message: impl Into<String>) {
        side_file::add_problem(&mut self.problems, self.path, line, message);
    }

    fn finish(self) -> CliResult<(QueryTexts, Option<Note>)> {
        self.problems.into_result(())?;
        let Some(first) = &self.first else {
            return Err(CliError::for_path(
                self.path,
                format_args!("there is no text of a query in it: {EXPECTED}"),
            ));
        };
        // Empty texts go only now, because two texts of a query are compared with them.
        let mut found = self.found;
        found.retain(|_, entry| !entry.text.is_empty());
        let mut lacking = self.queries.clone();
        lacking.retain(|id| !found.contains_key(id));
        let note = missing(&lacking, self.queries.len(), self.path, first);
        Ok((found.into_iter().map(|(id, entry)| (id.to_vec(), entry.text)).collect(), note))
    }
}

/// Returns a note on the queries without a text in the file of `--topics`. If no query has a text,
/// the file may be of other queries, so the note names the first id of the file.
fn missing(lacking: &[&[u8]], queries: usize, path: &Path, first: &[u8]) -> Option<Note> {
    let path = shown(path);
    let more = if lacking.len() > NAMED { ", …" } else { "" };
    let named = comma_list(lacking.iter().take(NAMED).map(|id| printable(id))) + more;
    let [all, some] = [queries, lacking.len()].map(|count| thousands(count as u64));
    match lacking.len() {
        0 => None,
        _ if lacking.len() == queries => {
            let first = printable(first);
            let message = format!(
                "no query has a text in {path}: its first id is {first}, those asked for are \
                 {named}"
            );
            Some(Note::Warning(message))
        }
        1 => Some(Note::Note(format!("1 of {all} queries has no text in {path} ({named})"))),
        _ => Some(Note::Note(format!("{some} of {all} queries have no text in {path} ({named})"))),
    }
}

/// Cuts the text of a query that is too long, with `…` at the end.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TITLE) {
        Some(_) => text.chars().take(LONGEST_TITLE - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// The columns of ids and texts in a table of query texts, TSV or CSV.
struct TopicColumns {
    separator: u8,
    id: usize,
    text: usize,
    /// The number of columns.
    count: usize,
    /// Whether the first line names them.
    named: bool,
}

impl TopicColumns {
    /// Finds the columns of ids and texts by the first line of a table of query texts.
    fn from_header(line: &[u8]) -> Self {
        let separator = if line.contains(&b'\t') { b'\t' } else { b',' };
        let names = fields(line, separator);
        let names: Vec<String> =
            names.iter().map(|name| String::from_utf8_lossy(name).to_ascii_lowercase()).collect();
        let [id, text] = [&IDS[..], &TEXTS]
            .map(|known| known.iter().find_map(|one| names.iter().position(|name| name == one)));
        match (id, text) {
            (Some(id), Some(text)) => Self { separator, id, text, count: names.len(), named: true },
            _ => Self { separator: b'\t', id: 0, text: 1, count: 2, named: false },
        }
    }
}

/// Collects the texts of queries from the rows of TSV or CSV.
fn table(mut lines: TopicLines, collector: &mut TopicCollector) -> CliResult<()> {
    let columns = TopicColumns::from_header(&lines.line);
    let mut is_row = !columns.named || lines.next()?;
    while is_row {
        // A field of CSV in quotes may go on in the next line. Each byte is looked at once.
        let mut open = count_quotes(&lines.line);
        while columns.separator == b',' && open % 2 == 1 {
            lines.line.push(b'\n');
            let from = lines.line.len();
            if !lines.more()? {
                collector.wrong(lines.number, "the quote of a field has no end");
                return Ok(());
            }
            open += count_quotes(&lines.line[from..]);
        }
        let row = fields(&lines.line, columns.separator);
        match row.len() {
            count if count == columns.count => {
                collector.take(lines.number, &row[columns.id], &row[columns.text])
            }
            count if columns.named => {
                let (found, expected) = (pluralize(count as u64, "column"), columns.count);
                collector.wrong(
                    lines.number,
                    format!("found {found}, but the first line names {expected}"),
                );
            }
            count => {
                let found =
                    if count == 1 { "no tab".to_owned() } else { format!("{count} columns") };
                collector.wrong(lines.number, format!("found {found}: {ROW}"));
            }
        }
        is_row = lines.next()?;
    }
    Ok(())
}

fn count_quotes(part: &[u8]) -> usize {
    part.iter().filter(|&&byte| byte == b'"').count()
}

/// Splits a line of TSV or CSV into its fields. Quotes around a whole field are left out; in TSV
/// any other quote is text.
fn fields(line: &[u8], separator: u8) -> Vec<Cow<'_, [u8]>> {
    if separator == b',' {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader =
            reader.has_headers(false).flexible(true).buffer_capacity(1 << 10).from_reader(line);
        let record = reader.byte_records().next().and_then(Result::ok).unwrap_or_default();
        return record.iter().map(|field| field.trim_ascii().to_vec().into()).collect();
    }
    line.split(|&byte| byte == separator).map(unquote).collect()
}

/// Returns a field of TSV without quotes around it, if they are around all of it.
fn unquote(field: &[u8]) -> Cow<'_, [u8]> {
    let trimmed = field.trim_ascii();
    let [b'"', inside @ .., b'"'] = trimmed else { return Cow::Borrowed(trimmed) };
    match std::str::from_utf8(inside) {
        // A single quote inside belongs to the text: `"one" and "two"`.
        Ok(text) if !text.replace("\"\"", "").contains('"') => {
            text.replace("\"\"", "\"").into_bytes().into()
        }
        _ => Cow::Borrowed(field),
    }
}

/// Collects the texts of queries from JSON records, one on each line.
fn records(mut lines: TopicLines, collector: &mut TopicCollector) -> CliResult<()> {
    let mut is_row = true;
    while is_row {
        match serde_json::from_slice::<Map<String, Value>>(&lines.line) {
            Err(error) => {
                collector.wrong(lines.number, format!("{}: {RECORD}", without_place(&error)))
            }
            Ok(record) => match titled(&record) {
                Ok((id, text)) => collector.take(lines.number, id.as_bytes(), text.as_bytes()),
                Err(message) => collector.wrong(lines.number, message),
            },
        }
        is_row = lines.next()?;
    }
    Ok(())
}

/// Returns whether a line is a JSON record with a key for the query id, and no object `{id: text}`.
fn is_record(line: &[u8]) -> bool {
    let record = serde_json::from_slice::<Map<String, Value>>(line);
    record.is_ok_and(|record| IDS.iter().any(|name| record.contains_key(*name)))
}

/// Returns the query id and the text in a JSON record.
fn titled(record: &Map<String, Value>) -> Result<(String, &str), String> {
    let (name, id) = find_key(record, "id", &IDS)?;
    let id = match id {
        Value::String(id) => id.clone(),
        Value::Number(id) if id.is_i64() || id.is_u64() => id.to_string(),
        _ => return Err(format!("'{name}' is neither a string nor an integer: {RECORD}")),
    };
    let (name, text) = find_key(record, "text", &TEXTS)?;
    let text = text.as_str().ok_or_else(|| format!("'{name}' is not a string: {RECORD}"))?;
    Ok((id, text))
}

/// Returns the first of the keys `names` that a JSON record has, with its value.
fn find_key<'r>(
    record: &'r Map<String, Value>,
    what: &str,
    names: &[&'static str],
) -> Result<(&'static str, &'r Value), String> {
    names
        .iter()
        .find_map(|name| Some((*name, record.get(*name)?)))
        .ok_or_else(|| format!("there is no {what} ({}): {RECORD}", names.join(", ")))
}

/// Returns the message of a JSON error without its line and column.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.clone(), |(message, _)| message.to_owned())
}

/// Collects the texts of queries from a JSON object `{id: text}`, one after the other.
fn object(lines: TopicLines, collector: &mut TopicCollector) -> CliResult<()> {
    let before = lines.number - 1;
    let (line, left) = (Cell::new(lines.number), Cell::new(LONGEST_ENTRY));
    let end: &[u8] = if lines.cut { b"" } else { b"\n" };
    let text = Cursor::new(lines.line).chain(end).chain(lines.text);
    let mut reader =
        serde_json::Deserializer::from_reader(LimitedText { text, line: &line, left: &left });
    let read =
        (&mut reader).deserialize_map(TopicObjectVisitor { collector, line: &line, left: &left });
    read.and_then(|()| reader.end()).map_err(|error| {
        let message = without_place(&error);
        CliError::new(if error.is_io() {
            format!("{}: cannot read: {message}", lines.name)
        } else {
            format!(
                "{}:{}: {message}: expected {{id: text}}",
                lines.name,
                before + error.line() as u64
            )
        })
    })
}

/// A reader of a JSON object of query texts that counts lines, and fails where an entry is too
/// long.
struct LimitedText<'a, R> {
    text: R,
    line: &'a Cell<u64>,
    /// The number of bytes that the entry may still have.
    left: &'a Cell<usize>,
}

impl<R: Read> Read for LimitedText<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(into)?;
        let feeds = into[..read].iter().filter(|&&byte| byte == b'\n').count();
        self.line.set(self.line.get() + feeds as u64);
        match self.left.get().checked_sub(read) {
            Some(left) => self.left.set(left),
            None => return Err(io::Error::other("an entry has more than 64 MiB")),
        }
        Ok(read)
    }
}

/// The serde visitor that collects the texts of queries from a JSON object `{id: text}`.
struct TopicObjectVisitor<'a, 'k> {
    collector: &'a mut TopicCollector<'k>,
    line: &'a Cell<u64>,
    left: &'a Cell<usize>,
}

impl<'de> Visitor<'de> for TopicObjectVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(id) = map.next_key::<String>()? {
            let line = self.line.get();
            let text: String = map.next_value()?;
            self.collector.take(line, id.as_bytes(), text.as_bytes());
            self.left.set(LONGEST_ENTRY);
        }
        Ok(())
    }
}

/// The number and title of a TREC topic that is being read.
#[derive(Default)]
struct Topic {
    /// The line of its first tag.
    line: u64,
    number: Option<String>,
    title: Option<String>,
}

/// Collects the texts of queries from topics of TREC: the number and the title of each. Other
/// fields are left out.
fn topics(mut lines: TopicLines, collector: &mut TopicCollector) -> CliResult<()> {
    let (mut topic, mut field, mut is_line) = (None::<Topic>, String::new(), true);
    while is_line {
        let number = lines.number;
        let line = std::mem::take(&mut lines.line);
        let Ok(mut rest) = std::str::from_utf8(&line) else {
            collector.wrong(number, "is not UTF-8");
            is_line = lines.next()?;
            continue;
        };
        loop {
            let next = tag(rest);
            let text = next.map_or(rest, |(before, ..)| before);
            match (&mut topic, field.as_str()) {
                (Some(Topic { number: Some(content), .. }), "num")
                | (Some(Topic { title: Some(content), .. }), "title") => {
                    if content.len() + text.len() > LONGEST_ENTRY {
                        collector.wrong(number, "the text of a topic has more than 64 MiB");
                        return Ok(());
                    }
                    content.push(' ');
                    content.push_str(text);
                }
                _ => {}
            }
            // Any tag ends a field, also one that is not read.
            let Some((_, name, behind)) = next else { break };
            (field, rest) = (name.to_ascii_lowercase(), behind);
            match (field.as_str(), &mut topic) {
                ("top", None) => topic = Some(Topic { line: number, ..Topic::default() }),
                ("num", Some(topic)) => topic.number = Some(String::new()),
                ("title", Some(topic)) => topic.title = Some(String::new()),
                ("/top", Some(_)) => {
                    topic.take().into_iter().for_each(|topic| topic.end(collector))
                }
                ("top", Some(open)) => {
                    collector.wrong(
                        number,
                        format!("<top>, but </top> was expected: line {} opens a topic", open.line),
                    );
                    return Ok(());
                }
                (_, None) => {
                    collector.wrong(
                        number,
                        format!("<{name}>, but <top> was expected, as in topics of TREC"),
                    );
                    return Ok(());
                }
                _ => {}
            }
        }
        is_line = lines.next()?;
    }
    if let Some(open) = topic {
        collector.wrong(open.line, "<top> without </top>");
    }
    Ok(())
}

/// Splits a text at its first tag, such as `<num>`: the text before, the tag's name, and the text
/// behind.
fn tag(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    // Each `>` is looked for once, and the tag that it ends begins at the last `<` before it.
    while let Some(end) = text[from..].find('>').map(|at| from + at) {
        if let Some(at) = text[from..end].rfind('<').map(|at| from + at) {
            let name = &text[at + 1..end];
            if !name.is_empty() && !name.starts_with(char::is_whitespace) {
                return Some((&text[..at], name, &text[end + 1..]));
            }
        }
        from = end + 1;
    }
    None
}

impl Topic {
    /// Hands the number and title of a complete TREC topic to the collector, as the text of a
    /// query.
    fn end(self, collector: &mut TopicCollector) {
        /// Returns a field of a TREC topic without the word before it, such as `Number:`.
        fn behind(text: &str, word: &str) -> String {
            let text = text.trim();
            match text.get(..word.len()) {
                Some(start) if start.eq_ignore_ascii_case(word) => {
                    text[word.len()..].trim().to_owned()
                }
                _ => text.to_owned(),
            }
        }
        match (self.number, self.title) {
            (Some(number), Some(title)) => {
                let (number, title) = (behind(&number, "Number:"), behind(&title, "Topic:"));
                collector.take(self.line, number.as_bytes(), title.as_bytes());
            }
            (None, _) => collector.wrong(self.line, "the topic has no <num>"),
            (_, None) => collector.wrong(self.line, "the topic has no <title>"),
        }
    }
}

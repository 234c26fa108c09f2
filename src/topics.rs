//! The texts of queries by their ids, for people who read reports.
//!
//! ```text
//! id<TAB>text                            topics of MS MARCO
//! query_id,text and rows below           TSV or CSV whose first line names the columns
//! {"_id": …, "text": …} on each line     queries of BEIR
//! {id: text, …}                          one object of JSON
//! <top> <num> … <title> …                topics of TREC
//! ```
//!
//! The content decides which format a file has. Tables and JSON are read as the named columns of
//! passages are.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::bytes::{input::Input, limits::MAX_LINE_BYTES};
use crate::error::{Error, Problems, Result, printable};
use crate::format::fields::{NamedColumn, Need, each_named_row};
use crate::lines::shape::TOO_LONG;

/// The most characters of a text. What is longer ends with `…`.
const LONGEST_TITLE: usize = 500;

/// The columns or keys of the id and of the text, with their names, the best first.
const COLUMNS: [NamedColumn<'_>; 2] =
    [column("id", &["query_id", "qid", "_id", "id"]), column("text", &["text", "title", "query"])];

const fn column(what: &'static str, names: &'static [&'static str]) -> NamedColumn<'static> {
    NamedColumn { what, given: None, names, need: Need::Always, hint: "" }
}

/// The shape of a row without names of columns.
const ROW: &str = "'query<TAB>text', or a first line with the names of the columns, such as \
                   query_id and text";

/// The texts of queries that a file has.
///
/// ```
/// use laneval::{Input, text::QueryTexts};
/// let file = "q1\tnoise cancelling headphones\nq2\tsprouted potatoes\n";
/// let input = Input::Bytes { name: "topics.tsv".into(), bytes: file.into() };
/// let read = QueryTexts::read(input, [&b"q2"[..]])?;
/// assert_eq!(read.texts[&b"q2"[..]], "sprouted potatoes");
/// assert_eq!((read.texts.len(), &read.first_id[..]), (1, &b"q1"[..]));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryTexts {
    /// The text of each requested query that has one, by the id of the query.
    pub texts: HashMap<Vec<u8>, String>,
    /// The id of the first query of the file, requested or not.
    pub first_id: Vec<u8>,
}

impl QueryTexts {
    /// Reads the texts of some queries: lines of id, tab and text, a table with names of columns,
    /// JSON records, an object `{id: text}`, or topics of TREC. White space in a text becomes a
    /// blank, and a text ends with `…` after 500 characters.
    ///
    /// # Errors
    /// An input that cannot be read, has no text in it, has lines of another form or of more than
    /// 64 MiB, or has two texts for one query.
    pub fn read<'q>(
        input: impl Into<Input>,
        queries: impl IntoIterator<Item = &'q [u8]>,
    ) -> Result<Self> {
        let text = input.into().open(Default::default())?;
        let mut collector = TextCollector {
            wanted: queries.into_iter().collect(),
            found: HashMap::new(),
            first_id: Vec::new(),
        };
        if text.start().is_some_and(|start| start.trim_ascii_start().starts_with(b"<")) {
            let whole = text.whole().map_err(|error| Error::unreadable(&text.name, error))?;
            let mut problems = Problems::default();
            trec_topics(&whole, &mut |line, topic| {
                let taken = topic
                    .and_then(|[id, text]| collector.take(line, id.as_bytes(), text.as_bytes()));
                taken.unwrap_or_else(|message| problems.add(&text.name, line, || message));
            });
            if collector.first_id.is_empty() && problems.first.is_empty() {
                problems.add(&text.name, 0, || "there is no topic of TREC in it".to_owned());
            }
            problems.into_result(())?;
        } else {
            each_named_row(&text, &COLUMNS, Some(ROW), &mut |line, row| {
                let [id, text] = [0, 1].map(|at| row[at].as_deref().unwrap_or_default());
                collector.take(line, id.trim_ascii(), text)
            })?;
        }
        // Empty texts go only now, because two texts of a query are compared with them.
        let found = collector.found.into_iter().filter(|(_, found)| !found.text.is_empty());
        let texts = found.map(|(id, found)| (id.to_vec(), found.text)).collect();
        Ok(Self { texts, first_id: collector.first_id })
    }
}

/// A collector of the texts of requested queries.
struct TextCollector<'q> {
    wanted: HashSet<&'q [u8]>,
    found: HashMap<&'q [u8], FoundText>,
    first_id: Vec<u8>,
}

/// The text of a query that was found in the file, with its line.
struct FoundText {
    line: u64,
    /// The hash of the whole text, to tell another one.
    hash: u64,
    text: String,
}

impl TextCollector<'_> {
    /// Keeps the text of a query, if the query was asked for, or says what is wrong with it.
    fn take(&mut self, line: u64, id: &[u8], text: &[u8]) -> Result<(), String> {
        if id.is_empty() {
            return Err("the id of the query is empty".to_owned());
        }
        if id.contains(&0) || text.contains(&0) {
            return Err("is binary: text was expected, in UTF-8".to_owned());
        }
        if self.first_id.is_empty() {
            self.first_id = id.to_vec();
        }
        let Some(&id) = self.wanted.get(id) else { return Ok(()) };
        let text = std::str::from_utf8(text).map_err(|_| "the text of the query is not UTF-8")?;
        // The same text with other blanks is no other text.
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let hash = hasher.finish();
        let entry = self.found.entry(id).or_insert_with(|| FoundText {
            line,
            hash,
            text: shortened(&words.join(" ")),
        });
        if entry.hash != hash {
            let (id, first) = (printable(id), entry.line);
            return Err(format!("query '{id}' has another text here than on line {first}"));
        }
        Ok(())
    }
}

/// Cuts the text of a query that is too long, with `…` at the end.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TITLE) {
        Some(_) => text.chars().take(LONGEST_TITLE - 1).chain(['…']).collect(),
        None => text.to_owned(),
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

/// A function that takes the number and the title of a topic of TREC with its line, or what is wrong
/// on a line.
type TakeTopic<'a> = dyn FnMut(u64, Result<[&str; 2], String>) + 'a;

/// Passes the number and the title of each topic of TREC to `take`. Other fields are left out.
fn trec_topics(text: &[u8], take: &mut TakeTopic<'_>) {
    let (mut topic, mut field) = (None::<Topic>, String::new());
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        if line.len() > MAX_LINE_BYTES {
            return take(number, Err(TOO_LONG.to_owned()));
        }
        let Ok(mut rest) = std::str::from_utf8(line) else {
            take(number, Err("is not UTF-8".to_owned()));
            continue;
        };
        loop {
            let next = tag(rest);
            let text = next.map_or(rest, |(before, ..)| before);
            match (&mut topic, field.as_str()) {
                (Some(Topic { number: Some(content), .. }), "num")
                | (Some(Topic { title: Some(content), .. }), "title") => {
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
                ("/top", Some(_)) => topic.take().into_iter().for_each(|topic| topic.end(take)),
                ("top", Some(Topic { line, .. })) => {
                    let message =
                        format!("<top>, but </top> was expected: line {line} opens a topic");
                    return take(number, Err(message));
                }
                (_, None) => {
                    let message = format!("<{name}>, but <top> was expected, as in topics of TREC");
                    return take(number, Err(message));
                }
                _ => {}
            }
        }
    }
    if let Some(open) = topic {
        take(open.line, Err("<top> without </top>".to_owned()));
    }
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
    /// Passes on the number and the title of a complete topic.
    fn end(self, take: &mut TakeTopic<'_>) {
        /// Returns a field of a TREC topic without the word before it, such as `Number:`.
        fn behind<'t>(text: &'t str, word: &str) -> &'t str {
            let text = text.trim();
            match text.split_at_checked(word.len()) {
                Some((start, rest)) if start.eq_ignore_ascii_case(word) => rest.trim(),
                _ => text,
            }
        }
        let read = match (&self.number, &self.title) {
            (Some(number), Some(title)) => Ok([behind(number, "Number:"), behind(title, "Topic:")]),
            (None, _) => Err("the topic has no <num>".to_owned()),
            (_, None) => Err("the topic has no <title>".to_owned()),
        };
        take(self.line, read);
    }
}

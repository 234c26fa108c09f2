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
//! The content decides which format a file has. Tables and JSON are read as the named columns of
//! passages are. Only texts of the queries asked for are kept.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use laneval::error::{Problems, printable};
use laneval::internals::{NamedColumn, Need, each_named_row};
use laneval::report::Note;
use laneval::{Error, Input};

use super::{
    cli_error::{CliError, CliResult},
    style::{comma_list, shown, thousands},
};

/// Texts of queries by the bytes of their ids.
pub type QueryTexts = HashMap<Vec<u8>, String>;

/// The most characters of a text. What is longer ends with `…`.
const LONGEST_TITLE: usize = 500;
/// The most queries without a text that a note names.
const NAMED: usize = 5;

/// The columns or keys of the id and of the text, with their names, the best first.
const COLUMNS: [NamedColumn<'_>; 2] =
    [column("id", &["query_id", "qid", "_id", "id"]), column("text", &["text", "title", "query"])];

const fn column(what: &'static str, names: &'static [&'static str]) -> NamedColumn<'static> {
    NamedColumn { what, given: None, names, need: Need::Always, hint: "" }
}

/// The shape of a row without names of columns.
const ROW: &str = "'query<TAB>text', or a first line with the names of the columns, such as \
                   query_id and text";

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
    let mut collector = TopicCollector::new(queries);
    let text = Input::Path(path.to_owned()).open(Default::default())?;
    if text.start().is_some_and(|start| start.trim_ascii_start().starts_with(b"<")) {
        let whole = text.whole().map_err(|error| Error::io(path, "read", error))?;
        let mut problems = Problems::default();
        trec_topics(&whole, &mut |line, topic| {
            let taken =
                topic.and_then(|[id, text]| collector.take(line, id.as_bytes(), text.as_bytes()));
            taken.unwrap_or_else(|message| problems.add(&text.name, line, || message));
        });
        if collector.first.is_empty() && problems.first.is_empty() {
            problems.add(&text.name, 0, || "there is no topic of TREC in it".to_owned());
        }
        problems.into_result(())?;
    } else {
        each_named_row(&text, &COLUMNS, Some(ROW), &mut |line, row| {
            let [id, text] = [0, 1].map(|at| row[at].as_deref().unwrap_or_default());
            collector.take(line, id.trim_ascii(), text)
        })?;
    }
    Ok(collector.finish(path))
}

/// A collector of the texts of requested queries.
struct TopicCollector<'a> {
    queries: Vec<&'a [u8]>,
    wanted: HashSet<&'a [u8]>,
    found: HashMap<&'a [u8], CollectedText>,
    /// The first id of the file.
    first: Vec<u8>,
}

/// The text of a query that was found in the file of `--topics`, with its line.
struct CollectedText {
    line: u64,
    /// The hash of the whole text, to tell another one.
    hash: u64,
    text: String,
}

impl<'a> TopicCollector<'a> {
    fn new(queries: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let queries: Vec<&[u8]> = queries.into_iter().collect();
        let wanted = queries.iter().copied().collect();
        Self { queries, wanted, found: HashMap::new(), first: Vec::new() }
    }

    /// Keeps the text of a query, if the query was asked for, or says what is wrong with it.
    fn take(&mut self, line: u64, id: &[u8], text: &[u8]) -> Result<(), String> {
        if id.is_empty() {
            return Err("the id of the query is empty".to_owned());
        }
        if id.contains(&0) || text.contains(&0) {
            return Err("is binary: text was expected, in UTF-8".to_owned());
        }
        if self.first.is_empty() {
            self.first = id.to_vec();
        }
        let Some(&id) = self.wanted.get(id) else { return Ok(()) };
        let text = std::str::from_utf8(text).map_err(|_| "the text of the query is not UTF-8")?;
        // The same text with other blanks is no other text.
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let hash = hasher.finish();
        let entry = self.found.entry(id).or_insert_with(|| CollectedText {
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

    fn finish(self, path: &Path) -> (QueryTexts, Option<Note>) {
        let Self { queries, mut found, first, .. } = self;
        // Empty texts go only now, because two texts of a query are compared with them.
        found.retain(|_, entry| !entry.text.is_empty());
        let lacking: Vec<&[u8]> =
            queries.iter().copied().filter(|id| !found.contains_key(id)).collect();
        let note = missing(&lacking, queries.len(), path, &first);
        (found.into_iter().map(|(id, entry)| (id.to_vec(), entry.text)).collect(), note)
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

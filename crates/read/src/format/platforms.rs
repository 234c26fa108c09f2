//! The JSON files of platforms: judgments or results somewhere in one large object.
//!
//! ```text
//! MTEB        {"mteb_model_meta": …, "en": {"test": {query: {document: score}}}}
//! LlamaIndex  {"queries": …, "corpus": …, "relevant_docs": {query: [document]}}
//! _rank_eval  {"requests": [{"id": query, "ratings": [{"_id": document, "rating": 1}]}]}
//!             {"metric_score": …, "details": {query: {"hits": [{"hit": {"_id": document}}]}}}
//! OpenSearch  {"judgmentRatings": [{"query": query,
//!                                   "ratings": [{"docId": document, "rating": "1.0"}]}]}
//! Quepid      {"queries": [{"query": query, "ratings": {document: 1}}]}
//! ```
//!
//! The parts around judgments or results are skipped token by token, for such a part may be a whole
//! corpus. The value of one query is read at once.

use std::borrow::Cow;

use super::json::{Cursor, Objects, Stuck, Token};
use super::lists::{
    LeftRows, ListOfQuery, each_field, id, items, not_too_many, number, rows_of_lists,
};
use super::made::{MadeOf, MadeRows, MakeRows};
use crate::error::printable;
use crate::lines::diagnostics::quoted;
use crate::lines::layout::{NumberKind, TableLayout};
use crate::lines::shape::Role;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    /// Predictions of MTEB.
    Predictions,
    /// The `EmbeddingQAFinetuneDataset` of LlamaIndex.
    Finetuning,
    /// A request of `_rank_eval`, and its response.
    EvalRequest,
    EvalResponse,
    /// Judgments of OpenSearch's search relevance.
    Judgments,
    /// A case of Quepid.
    Case,
}

impl Platform {
    /// The role of the file: judgments or results.
    pub fn role(self) -> Role {
        match self {
            Platform::Predictions | Platform::EvalResponse => Role::Run,
            _ => Role::Qrels,
        }
    }

    /// The kind of file in words.
    pub fn what(self) -> &'static str {
        match self {
            Platform::Predictions => "predictions of MTEB",
            Platform::Finetuning => "an EmbeddingQAFinetuneDataset of LlamaIndex",
            Platform::EvalRequest => "a request of _rank_eval",
            Platform::EvalResponse => "a response of _rank_eval",
            Platform::Judgments => "judgments of OpenSearch",
            Platform::Case => "a case of Quepid",
        }
    }

    /// The shape of the file, for messages.
    pub fn shape(self) -> &'static str {
        match self {
            Platform::Predictions => "{subset: {split: {query: {document: score, …}}}}",
            Platform::Finetuning => "{\"relevant_docs\": {query: [document, …]}}",
            Platform::EvalRequest => {
                "{\"requests\": [{\"id\": query, \"ratings\": [{\"_id\": document, \"rating\": \
                 grade}]}]}"
            }
            Platform::EvalResponse => {
                "{\"details\": {query: {\"hits\": [{\"hit\": {\"_id\": document}}]}}}"
            }
            Platform::Judgments => {
                "{\"judgmentRatings\": [{\"query\": query, \"ratings\": [{\"docId\": \
                 document, \"rating\": grade}]}]}"
            }
            Platform::Case => "{\"queries\": [{\"query\": query, \"ratings\": {document: grade}}]}",
        }
    }

    /// The layout of the table of made rows.
    pub fn table(self) -> TableLayout {
        match self {
            Platform::Predictions => TableLayout::made(NumberKind::Number, self.shape()),
            _ => rows_of_lists(self.role(), false, false, self.shape()),
        }
    }

    /// The key of the object or array of queries, and its opening byte. The key of OpenSearch may
    /// lie deep in a response; the other keys belong to the outermost object.
    fn queries(self) -> (&'static [u8], u8) {
        match self {
            Platform::Predictions => (b"", b'{'),
            Platform::Finetuning => (b"relevant_docs", b'{'),
            Platform::EvalRequest => (b"requests", b'['),
            Platform::EvalResponse => (b"details", b'{'),
            Platform::Judgments => (b"judgmentRatings", b'['),
            Platform::Case => (b"queries", b'['),
        }
    }

    /// Reads a query with its documents from an opened value; `key` is the key of the value in its
    /// object.
    fn query<'t>(
        self,
        key: Cow<'t, [u8]>,
        value: Token<'t>,
        cursor: &mut Cursor<'t>,
    ) -> Result<Result<ListOfQuery<'t>, String>, Stuck> {
        let Token::Open(open) = value else {
            return Ok(Err(format!("a query is no object or array: expected '{}'", self.shape())));
        };
        let of_object = |query| PartsOfQuery { query, ..PartsOfQuery::default() };
        let mut parts = of_object(Some(Token::String(key)));
        match (self, open) {
            (Platform::Finetuning, b'[') => {
                parts.docs = items(cursor)?.into_iter().map(|doc| (Some(doc), None)).collect();
                parts.listed = true;
            }
            (Platform::EvalResponse, b'{') => parts.fill(cursor, [b"", b"hits"], [b"_id", b""])?,
            (Platform::EvalRequest, b'{') => {
                parts = of_object(None);
                parts.fill(cursor, [b"id", b"ratings"], [b"_id", b"rating"])?;
            }
            (Platform::Judgments, b'{') => {
                parts = of_object(None);
                parts.fill(cursor, [b"query", b"ratings"], [b"docId", b"rating"])?;
            }
            (Platform::Case, b'{') => {
                parts = of_object(None);
                parts.fill(cursor, [b"query", b"ratings"], [b"", b""])?;
            }
            (_, open) => {
                cursor.skip_rest(open)?;
                parts.listed = false;
            }
        }
        Ok(parts.list(self))
    }
}

/// The values of a query.
#[derive(Debug, Default)]
struct PartsOfQuery<'t> {
    query: Option<Token<'t>>,
    /// Documents and their grades.
    docs: Vec<(Option<Token<'t>>, Option<Token<'t>>)>,
    /// Whether the query has a list of documents, perhaps empty.
    listed: bool,
}

impl<'t> PartsOfQuery<'t> {
    /// Reads the object of a query that was opened: the query and its documents under the keys of
    /// `names`; of each document the values under those of `of_doc`.
    fn fill(
        &mut self,
        cursor: &mut Cursor<'t>,
        names: [&[u8]; 2],
        of_doc: [&[u8]; 2],
    ) -> Result<(), Stuck> {
        each_field(cursor, |name, value, cursor| {
            match value {
                Token::Open(b'[') if *name == *names[1] => {
                    self.listed = true;
                    self.array(cursor, of_doc)
                }
                // Documents with their grades, as one object.
                Token::Open(b'{') if *name == *names[1] && of_doc[0].is_empty() => {
                    self.listed = true;
                    each_field(cursor, |doc, grade, cursor| {
                        if let Token::Open(open) = grade {
                            cursor.skip_rest(open)?;
                        }
                        self.docs.push((Some(Token::String(doc)), Some(grade)));
                        not_too_many(self.docs.len())
                    })
                }
                Token::Open(open) => cursor.skip_rest(open),
                single => {
                    if !names[0].is_empty() && *name == *names[0] {
                        self.query = Some(single);
                    }
                    Ok(())
                }
            }
        })
    }

    /// Reads an array of documents that was opened.
    fn array(&mut self, cursor: &mut Cursor<'t>, of_doc: [&[u8]; 2]) -> Result<(), Stuck> {
        if cursor.passes(b']')? {
            return Ok(());
        }
        loop {
            let mut doc = (None, None);
            match cursor.value()? {
                Token::Open(b'{') => fields_of(cursor, of_doc, &mut doc)?,
                Token::Open(open) => cursor.skip_rest(open)?,
                _ => {}
            }
            self.docs.push(doc);
            not_too_many(self.docs.len())?;
            if !cursor.passes(b',')? {
                return cursor.expect(b']', "',' or ']'");
            }
        }
    }

    /// Returns the query and its documents.
    fn list(self, of: Platform) -> Result<ListOfQuery<'t>, String> {
        let expected = || format!("expected '{}'", of.shape());
        let query = self.query.ok_or_else(|| format!("a query has no id: {}", expected()))?;
        let query = id(query, "query")?;
        if !self.listed {
            return Err(format!("query {} has no documents: {}", quoted(&query), expected()));
        }
        let of_query = |message: String| format!("{message}, of query {}", quoted(&query));
        let graded = of.role() == Role::Qrels && of != Platform::Finetuning;
        let (mut docs, mut numbers) = (Vec::new(), Vec::new());
        for (doc, grade) in self.docs {
            let missing = |what: &str| of_query(format!("a document has no {what}"));
            docs.push(id(doc.ok_or_else(|| missing("id"))?, "document").map_err(of_query)?);
            if graded {
                numbers.push(grade_of(grade.ok_or_else(|| missing("rating"))?).map_err(of_query)?);
            }
        }
        Ok(ListOfQuery { query, group: Cow::default(), docs, numbers: graded.then_some(numbers) })
    }
}

/// Reads the fields of a document that was opened: its id and its grade. The id may lie in an
/// object, as that of a hit.
fn fields_of<'t>(
    cursor: &mut Cursor<'t>,
    of_doc: [&[u8]; 2],
    into: &mut (Option<Token<'t>>, Option<Token<'t>>),
) -> Result<(), Stuck> {
    each_field(cursor, |name, value, cursor| match value {
        Token::Open(b'{') if *name == *b"hit" => {
            each_field(cursor, |name, value, cursor| match value {
                Token::Open(open) => cursor.skip_rest(open),
                single => {
                    if *name == *of_doc[0] {
                        into.0 = Some(single);
                    }
                    Ok(())
                }
            })
        }
        Token::Open(open) => cursor.skip_rest(open),
        single => {
            if *name == *of_doc[0] {
                into.0 = Some(single);
            } else if *name == *of_doc[1] {
                into.1 = Some(single);
            }
            Ok(())
        }
    })
}

/// Reads a grade: a number, or a string as OpenSearch writes grades.
fn grade_of(value: Token<'_>) -> Result<Cow<'_, [u8]>, String> {
    let in_number = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    match value {
        Token::String(text) if !text.is_empty() && text.iter().all(in_number) => Ok(text),
        other => number(other, "rating"),
    }
}

/// A file of a platform, and the subset to read.
#[derive(Debug)]
pub(super) struct OfPlatform {
    pub platform: Platform,
    pub subset: Option<String>,
    /// The option that names a subset, for messages.
    pub option: &'static str,
}

impl MadeOf for OfPlatform {
    fn maker(&self) -> std::io::Result<Box<dyn MakeRows + '_>> {
        Ok(Box::new(RowsOfPlatform::new(self)))
    }
}

/// An open object or array.
#[derive(Debug, Clone)]
struct OpenLevel {
    open: u8,
    /// Whether none of its content was read yet.
    first: bool,
    /// Whether its values are queries.
    queries: bool,
    /// The key of the object or array in its parent.
    key: Vec<u8>,
}

/// The most objects and arrays around the queries: what lies deeper is passed at once.
const DEEPEST: usize = 32;

/// Makes the rows of a file of a platform.
#[derive(Debug)]
pub(super) struct RowsOfPlatform<'p> {
    of: &'p OfPlatform,
    open: Vec<OpenLevel>,
    line: u64,
    /// Whether an object was read.
    any: bool,
    pending: LeftRows,
    /// The queries of a subset of predictions, while they are read.
    predictions: Option<Objects>,
    /// The names of the subsets met so far; `read` says whether one of the subsets was read.
    subsets: Vec<String>,
    read: bool,
    ended: bool,
}

impl<'p> RowsOfPlatform<'p> {
    pub fn new(of: &'p OfPlatform) -> Self {
        RowsOfPlatform {
            of,
            open: Vec::new(),
            line: 1,
            any: false,
            pending: LeftRows::default(),
            predictions: None,
            subsets: Vec::new(),
            read: false,
            ended: false,
        }
    }

    /// Reads the next item; returns `false` at the end.
    fn step(&mut self, cursor: &mut Cursor<'_>, rows: &mut MadeRows) -> Result<bool, Stuck> {
        let Some(level) = self.open.last() else { return self.open_outermost(cursor) };
        let (open, first, queries) = (level.open, level.first, level.queries);
        let close = if open == b'{' { b'}' } else { b']' };
        if first || !cursor.passes(b',')? {
            if cursor.passes(close)? {
                self.open.pop();
                return Ok(true);
            }
            if !first {
                return Err(cursor.unexpected(if open == b'{' {
                    "',' or '}'"
                } else {
                    "',' or ']'"
                }));
            }
        }
        let key = if open == b'{' { cursor.string("a key in quotes")? } else { Cow::default() };
        if open == b'{' {
            cursor.expect(b':', "':'")?;
        }
        cursor.peek()?;
        let line = cursor.line;
        let value = cursor.value()?;
        if queries {
            match self.of.platform.query(key, value, cursor)? {
                Ok(list) => {
                    self.pending.set(line, &list, rows);
                    self.pending.make(self.of.platform.role(), rows);
                }
                Err(message) => rows.wrong(line, &message),
            }
        } else if let (Token::Open(open), DEEPEST) = (&value, self.open.len()) {
            cursor.skip_rest(*open)?;
        } else if let Token::Open(of_value) = value {
            let (wanted, opens) = self.of.platform.queries();
            let is_here = self.of.platform == Platform::Judgments || self.open.len() == 1;
            let holds_queries =
                is_here && !wanted.is_empty() && *key == *wanted && of_value == opens;
            let subset = self.subset(&key).filter(|_| of_value == b'{');
            let is_read = subset.is_some_and(|subset| self.meets(subset));
            if let Some(level) = self.open.last_mut() {
                level.first = false;
            }
            self.push(of_value, holds_queries, &key);
            self.predictions = is_read.then(|| Objects::inner("score", cursor.line));
            return Ok(true);
        }
        if let Some(level) = self.open.last_mut() {
            level.first = false;
        }
        Ok(true)
    }

    /// Opens an outermost object; returns `false` at the end.
    fn open_outermost(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Stuck> {
        match cursor.peek()? {
            None if self.any => return Ok(false),
            Some(b'{') => cursor.at += 1,
            _ => return Err(cursor.unexpected("'{'")),
        }
        self.any = true;
        self.push(b'{', false, &[]);
        Ok(true)
    }

    fn push(&mut self, open: u8, queries: bool, key: &[u8]) {
        self.open.push(OpenLevel { open, first: true, queries, key: key.to_vec() });
    }

    /// The name of the subset whose split `key` is; `None` if it is none.
    fn subset(&self, key: &[u8]) -> Option<String> {
        match &self.open[..] {
            [_, subset] if self.of.platform == Platform::Predictions && subset.key != META => {
                Some(format!("{}/{}", printable(&subset.key), printable(key)))
            }
            _ => None,
        }
    }

    /// Notes a subset; returns whether to read this subset.
    fn meets(&mut self, subset: String) -> bool {
        let is_read =
            self.of.subset.as_ref().map_or(self.subsets.is_empty(), |asked| *asked == subset);
        self.read |= is_read;
        self.subsets.push(subset);
        is_read
    }

    /// Returns a message that lists all subsets, if the choice is ambiguous or the chosen subset is
    /// missing. Called at the end of the text.
    fn wrong_subsets(&self) -> Option<String> {
        let mut all = self.subsets.clone();
        all.sort_unstable();
        all.dedup();
        let listed = match &all[..] {
            [] => return None,
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            [only, ..] => only.clone(),
        };
        let subsets = if all.len() == 1 { "the subset" } else { "the subsets" };
        match &self.of.subset {
            None if self.subsets.len() > 1 => {
                Some(format!("has {subsets} {listed}: say which with {}", self.of.option))
            }
            Some(asked) if !self.read => {
                let asked = quoted(asked.as_bytes());
                Some(format!("has {subsets} {listed}, and no {asked}"))
            }
            _ => None,
        }
    }
}

/// The key of MTEB's predictions for the metadata of the model.
pub(super) const META: &[u8] = b"mteb_model_meta";

impl MakeRows for RowsOfPlatform<'_> {
    fn make(&mut self, text: &[u8], ended: bool, rows: &mut MadeRows) -> std::io::Result<usize> {
        let mut done = 0;
        while !self.ended && !rows.are_enough() {
            if let Some(predictions) = &mut self.predictions {
                done += predictions.make(&text[done..], ended, rows)?;
                match predictions.end() {
                    None => return Ok(done),
                    Some(line) => (self.predictions, self.line) = (None, line),
                }
                self.open.pop();
            }
            let mut cursor = Cursor::new(&text[done..], ended, self.line);
            let stays = self.walk(&mut cursor, rows);
            (self.line, done) = (cursor.line, done + cursor.at);
            if stays {
                break;
            }
        }
        Ok(done)
    }
}

impl RowsOfPlatform<'_> {
    /// Reads on until there are enough rows, or the text has ended for now; returns whether nothing
    /// more is read of it.
    fn walk(&mut self, cursor: &mut Cursor<'_>, rows: &mut MadeRows) -> bool {
        while self.pending.make(self.of.platform.role(), rows) {
            if self.predictions.is_some() {
                return false;
            }
            let before = *cursor;
            match self.step(cursor, rows) {
                Ok(true) => {}
                Ok(false) => {
                    self.ended = true;
                    if let Some(message) = self.wrong_subsets() {
                        rows.wrong(0, &message);
                    }
                    return true;
                }
                Err(Stuck::Incomplete) => {
                    *cursor = before;
                    return true;
                }
                Err(Stuck::Wrong(message)) => {
                    self.ended = true;
                    rows.wrong_from_here(cursor.line, &message);
                    return true;
                }
            }
        }
        true
    }
}

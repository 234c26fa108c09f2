//! JSON files of evaluation platforms such as MTEB and Quepid: judgments or results in one large
//! object.
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
//! The parts around judgments or results are passed over, for such a part may be a whole corpus.

use std::borrow::Cow;
use std::io;

use super::lists::{ListOfQuery, form};
use super::objects::documents;
use super::walk::{JsonWalk, Way};
use super::{JsonFault, JsonValue, find, id, items, number, pairs, unescaped};
use crate::error::printable;
use crate::format::sequence::{Sequence, SequenceFormat};
use crate::lines::diagnostics::quoted;
use crate::lines::layout::NumberKind;
use crate::lines::row::{Entry, RowBatch, RowForm, wrong_id};
use crate::lines::shape::Role;

/// A kind of JSON file that an evaluation platform writes, such as predictions of MTEB or a case of
/// Quepid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
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
    /// Returns the role of the platform's file: judgments or results.
    pub fn role(self) -> Role {
        match self {
            Self::Predictions | Self::EvalResponse => Role::Run,
            _ => Role::Qrels,
        }
    }

    /// Returns the kind of the platform's file in words, such as `predictions of MTEB`.
    pub fn what(self) -> &'static str {
        match self {
            Self::Predictions => "predictions of MTEB",
            Self::Finetuning => "an EmbeddingQAFinetuneDataset of LlamaIndex",
            Self::EvalRequest => "a request of _rank_eval",
            Self::EvalResponse => "a response of _rank_eval",
            Self::Judgments => "judgments of OpenSearch",
            Self::Case => "a case of Quepid",
        }
    }

    /// Returns the expected JSON shape of the platform's file, for messages.
    pub fn shape(self) -> &'static str {
        match self {
            Self::Predictions => "{subset: {split: {query: {document: score, …}}}}",
            Self::Finetuning => "{\"relevant_docs\": {query: [document, …]}}",
            Self::EvalRequest => {
                "{\"requests\": [{\"id\": query, \"ratings\": [{\"_id\": document, \"rating\": \
                 grade}]}]}"
            }
            Self::EvalResponse => {
                "{\"details\": {query: {\"hits\": [{\"hit\": {\"_id\": document}}]}}}"
            }
            Self::Judgments => {
                "{\"judgmentRatings\": [{\"query\": query, \"ratings\": [{\"docId\": \
                 document, \"rating\": grade}]}]}"
            }
            Self::Case => "{\"queries\": [{\"query\": query, \"ratings\": {document: grade}}]}",
        }
    }

    /// Returns the form of the rows of the platform's file.
    pub fn form(self) -> RowForm {
        match self {
            Self::Predictions => RowForm::new(NumberKind::Number, self.shape()),
            _ => form(self.role(), false, false, self.shape().to_owned()),
        }
    }

    /// Returns the key of the JSON object or array of queries in the platform's file, and its
    /// opening byte. The key of OpenSearch may lie deep in a response; the other keys belong to the
    /// outermost object.
    fn queries(self) -> (&'static [u8], u8) {
        match self {
            Self::Predictions => (b"", b'{'),
            Self::Finetuning => (b"relevant_docs", b'{'),
            Self::EvalRequest => (b"requests", b'['),
            Self::EvalResponse => (b"details", b'{'),
            Self::Judgments => (b"judgmentRatings", b'['),
            Self::Case => (b"queries", b'['),
        }
    }

    /// Returns the query that an entry of the platform's file is, with its documents, or a message
    /// about a missing or wrong part.
    fn query<'t>(self, Entry { key, value, .. }: Entry<'t>) -> Result<ListOfQuery<'t>, String> {
        let expected = || format!("expected '{}'", self.shape());
        let value = JsonValue::parse(value)?;
        let docs = match (self, &value) {
            (Self::Finetuning, JsonValue::Array(docs)) => {
                let docs = items(docs).map_err(|fault| fault.message)?;
                let docs = docs.into_iter().map(|doc| (Some(id(doc, "document")), None));
                DocsOfQuery { query: None, docs: Some(docs.collect()) }
            }
            (Self::EvalResponse, JsonValue::Object(text)) => {
                DocsOfQuery::read(text, ["", "hits"], ["_id", ""])?
            }
            (Self::EvalRequest, JsonValue::Object(text)) => {
                DocsOfQuery::read(text, ["id", "ratings"], ["_id", "rating"])?
            }
            (Self::Judgments, JsonValue::Object(text)) => {
                DocsOfQuery::read(text, ["query", "ratings"], ["docId", "rating"])?
            }
            (Self::Case, JsonValue::Object(text)) => {
                DocsOfQuery::read(text, ["query", "ratings"], ["", ""])?
            }
            (_, JsonValue::Object(_) | JsonValue::Array(_)) => DocsOfQuery::default(),
            _ => return Err(format!("a query is no object or array: {}", expected())),
        };
        let query = match docs.query {
            Some(query) => id(query, "query")?,
            None if self.has_queries_as_keys() => {
                let query = unescaped(key)?;
                wrong_id("query", &query).map_or(Ok(query), Err)?
            }
            None => return Err(format!("a query has no id: {}", expected())),
        };
        let Some(docs) = docs.docs else {
            return Err(format!("query {} has no documents: {}", quoted(&query), expected()));
        };
        let of_query = |message: String| format!("{message}, of query {}", quoted(&query));
        let is_graded = self.role() == Role::Qrels && self != Self::Finetuning;
        let (mut ids, mut numbers) = (Vec::new(), Vec::new());
        for (doc, grade) in docs {
            let missing = |what: &str| of_query(format!("a document has no {what}"));
            ids.push(doc.ok_or_else(|| missing("id"))?.map_err(of_query)?);
            if is_graded {
                numbers.push(grade_of(grade.ok_or_else(|| missing("rating"))?).map_err(of_query)?);
            }
        }
        let (group, numbers) = (Cow::default(), is_graded.then_some(numbers));
        Ok(ListOfQuery { query, group, docs: ids, numbers })
    }

    /// Returns whether the queries of the platform's file are the keys of an object.
    fn has_queries_as_keys(self) -> bool {
        matches!(self, Self::Predictions | Self::Finetuning | Self::EvalResponse)
    }
}

/// The documents of a query in a platform's file: the id of each, if it has one, and its grade.
type PlatformDocs<'t> = Vec<(Option<Result<Cow<'t, [u8]>, String>>, Option<&'t [u8]>)>;

/// The parts of a query found in a platform's file, as far as it has them.
#[derive(Default)]
struct DocsOfQuery<'t> {
    /// The id, as it is written.
    query: Option<&'t [u8]>,
    /// The list of documents, perhaps empty.
    docs: Option<PlatformDocs<'t>>,
}

impl<'t> DocsOfQuery<'t> {
    /// Reads the object of a query: its id and documents have the keys `names`, and the id and the
    /// grade of a document the keys `of_doc`. Without these, documents are the keys of grades.
    fn read(text: &'t [u8], names: [&str; 2], of_doc: [&str; 2]) -> Result<Self, String> {
        let message = |fault: JsonFault| fault.message;
        let place = |names: &[&str], key: &[u8]| {
            names.iter().position(|name| !name.is_empty() && name.as_bytes() == key)
        };
        let found = find::<2>(text, |key| place(&names, key)).map_err(message)?;
        let [query, docs] = found.values;
        let docs = match docs.map(JsonValue::parse).transpose()? {
            Some(JsonValue::Array(docs)) => {
                let mut all = PlatformDocs::new();
                for doc in items(docs).map_err(message)? {
                    let names = [of_doc[0], of_doc[1], "hit"];
                    let [mut id_of_doc, grade, hit] = match doc {
                        [b'{', ..] => find(doc, |key| place(&names, key)).map_err(message)?.values,
                        _ => [None; 3],
                    };
                    // The id of a hit lies in an object of its own.
                    if let Some(hit @ [b'{', ..]) = hit {
                        let found = find(hit, |key| place(&of_doc[..1], key)).map_err(message)?;
                        [id_of_doc] = found.values;
                    }
                    all.push((id_of_doc.map(|doc| id(doc, "document")), grade));
                }
                Some(all)
            }
            Some(JsonValue::Object(docs)) if of_doc[0].is_empty() => {
                let docs = pairs(docs).map_err(message)?.into_iter().map(|(doc, grade)| {
                    let doc = wrong_id("document", &doc).map_or(Ok(Cow::Owned(doc)), Err);
                    (Some(doc), Some(grade))
                });
                Some(docs.collect())
            }
            _ => None,
        };
        Ok(Self { query, docs })
    }
}

/// Returns the grade that a value is: a number, or a string as OpenSearch writes grades.
fn grade_of(text: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    match JsonValue::parse(text)? {
        JsonValue::String(grade)
            if !grade.is_empty()
                && grade
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)) =>
        {
            Ok(grade)
        }
        _ => number(text, "a rating").map(Cow::Borrowed),
    }
}

/// A JSON file of a platform such as MTEB, and the subset to read.
#[derive(Debug)]
pub struct PlatformFile {
    pub platform: Platform,
    pub subset: Option<String>,
    /// The option that names a subset, for messages.
    pub option: &'static str,
}

impl SequenceFormat for PlatformFile {
    fn start(&self) -> io::Result<Box<dyn Sequence + '_>> {
        Ok(Box::new(JsonWalk::new(WayInFile { file: self, subsets: Vec::new(), read: false })))
    }

    fn entry(&self, entry: Entry<'_>, rows: &mut RowBatch) {
        if self.platform == Platform::Predictions {
            return documents(entry, Role::Run, rows);
        }
        match self.platform.query(entry) {
            Ok(list) => list.add(self.platform.role(), entry.line, rows),
            Err(message) => rows.fault(entry.line, message),
        }
    }
}

/// The way to the queries of a platform's file.
struct WayInFile<'p> {
    file: &'p PlatformFile,
    /// The names of the subsets met so far; `read` says whether one of the subsets was read.
    subsets: Vec<String>,
    read: bool,
}

impl Way for WayInFile<'_> {
    fn has_entries(&mut self, keys: &[Vec<u8>], open: u8) -> bool {
        let (wanted, opens) = self.file.platform.queries();
        match (self.file.platform, keys) {
            (Platform::Predictions, [_, subset, split]) if subset != META && open == b'{' => {
                self.meets(format!("{}/{}", printable(subset), printable(split)))
            }
            (Platform::Predictions, _) => false,
            (Platform::Judgments, [.., key]) => key == wanted && open == opens,
            (_, [_, key]) => key == wanted && open == opens,
            _ => false,
        }
    }

    fn has_queries_as_keys(&self) -> bool {
        self.file.platform == Platform::Predictions
    }

    fn end(&self) -> Option<String> {
        self.wrong_subsets()
    }
}

impl WayInFile<'_> {
    /// Notes a subset that MTEB's predictions have; returns whether it is to be read: the requested
    /// one, else the first.
    fn meets(&mut self, subset: String) -> bool {
        let requested = self.file.subset.as_ref();
        let is_read = requested.map_or(self.subsets.is_empty(), |requested| *requested == subset);
        self.read |= is_read;
        self.subsets.push(subset);
        is_read
    }

    /// Returns a message that lists all subsets of MTEB's predictions, if the choice is ambiguous
    /// or missing.
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
        match &self.file.subset {
            None if self.subsets.len() > 1 => {
                Some(format!("has {subsets} {listed}: say which with {}", self.file.option))
            }
            Some(requested) if !self.read => {
                let name = quoted(requested.as_bytes());
                Some(format!("has {subsets} {listed}, and no {name}"))
            }
            _ => None,
        }
    }
}

/// The key of MTEB's predictions for the metadata of the model.
pub const META: &[u8] = b"mteb_model_meta";

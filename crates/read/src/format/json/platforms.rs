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

use super::{
    JsonValue, find, id, items,
    lists::{ListOfQuery, form},
    number,
    objects::documents,
    pairs, unescaped,
    walk::{JsonWalk, Way},
};
use crate::error::printable;
use crate::format::sequence::{SequenceFormat, Started};
use crate::lines::{
    diagnostics::quoted,
    layout::NumberKind,
    row::{Entry, RowBatch, RowForm, wrong_id},
    shape::Role,
};

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

/// What is known of a kind of file of a platform.
pub struct PlatformFacts {
    /// The kind in words, such as `predictions of MTEB`.
    pub what: &'static str,
    /// The expected shape of the JSON, for messages.
    pub shape: &'static str,
    /// The role of the file: judgments or results.
    pub role: Role,
    /// The key of the JSON object or array of the queries. That of OpenSearch may lie deep in a
    /// response; the others belong to the outermost object.
    key: &'static [u8],
    /// The opening byte of this object or array.
    opens: u8,
}

impl Platform {
    /// Returns what is known of the platform's kind of file.
    pub fn facts(self) -> PlatformFacts {
        let (what, shape, role, key, opens): (_, _, _, &[u8], _) = match self {
            Self::Predictions => (
                "predictions of MTEB",
                "{subset: {split: {query: {document: score, …}}}}",
                Role::Run,
                b"",
                b'{',
            ),
            Self::Finetuning => (
                "an EmbeddingQAFinetuneDataset of LlamaIndex",
                "{\"relevant_docs\": {query: [document, …]}}",
                Role::Qrels,
                b"relevant_docs",
                b'{',
            ),
            Self::EvalRequest => (
                "a request of _rank_eval",
                "{\"requests\": [{\"id\": query, \"ratings\": [{\"_id\": document, \"rating\": \
                 grade}]}]}",
                Role::Qrels,
                b"requests",
                b'[',
            ),
            Self::EvalResponse => (
                "a response of _rank_eval",
                "{\"details\": {query: {\"hits\": [{\"hit\": {\"_id\": document}}]}}}",
                Role::Run,
                b"details",
                b'{',
            ),
            Self::Judgments => (
                "judgments of OpenSearch",
                "{\"judgmentRatings\": [{\"query\": query, \"ratings\": [{\"docId\": document, \
                 \"rating\": grade}]}]}",
                Role::Qrels,
                b"judgmentRatings",
                b'[',
            ),
            Self::Case => (
                "a case of Quepid",
                "{\"queries\": [{\"query\": query, \"ratings\": {document: grade}}]}",
                Role::Qrels,
                b"queries",
                b'[',
            ),
        };
        PlatformFacts { what, shape, role, key, opens }
    }

    /// Returns the form of the rows of the platform's file.
    pub fn form(self) -> RowForm {
        let PlatformFacts { shape, role, .. } = self.facts();
        match self {
            Self::Predictions => RowForm::new(NumberKind::Number, shape),
            _ => form(role, false, shape),
        }
    }

    /// Returns the query that an entry of the platform's file is, with its documents, or a message
    /// about a missing or wrong part.
    fn query<'t>(self, Entry { key, value, .. }: Entry<'t>) -> Result<ListOfQuery<'t>, String> {
        let PlatformFacts { shape, role, opens, .. } = self.facts();
        let expected = || format!("expected '{shape}'");
        let value = JsonValue::parse(value)?;
        let (query, docs) = match (self, &value) {
            (Self::Finetuning, JsonValue::Array(docs)) => {
                let docs = items(docs)?.into_iter();
                let docs = docs.map(|doc| (id(doc, "document"), None));
                (None, Some(docs.collect()))
            }
            (_, JsonValue::Object(text)) => match self {
                Self::EvalResponse => docs_of(text, ["", "hits"], ["_id", ""])?,
                Self::EvalRequest => docs_of(text, ["id", "ratings"], ["_id", "rating"])?,
                Self::Judgments => docs_of(text, ["query", "ratings"], ["docId", "rating"])?,
                Self::Case => docs_of(text, ["query", "ratings"], ["", ""])?,
                Self::Predictions | Self::Finetuning => (None, None),
            },
            (_, JsonValue::Array(_)) => (None, None),
            _ => return Err(format!("a query is no object or array: {}", expected())),
        };
        let query = match query {
            Some(query) => id(query, "query")?,
            // The queries are the keys of an object.
            None if opens == b'{' => {
                let query = unescaped(key)?;
                wrong_id("query", &query).map_or(Ok(query), Err)?
            }
            None => return Err(format!("a query has no id: {}", expected())),
        };
        let Some(docs) = docs else {
            return Err(format!("query {} has no documents: {}", quoted(&query), expected()));
        };
        let of_query = |message: String| format!("{message}, of query {}", quoted(&query));
        let is_graded = role == Role::Qrels && self != Self::Finetuning;
        let (mut ids, mut numbers) = (Vec::new(), Vec::new());
        for (doc, grade) in docs {
            ids.push(doc.map_err(of_query)?);
            if is_graded {
                let grade = grade.ok_or_else(|| "a document has no rating".to_owned());
                numbers.push(grade.and_then(grade_of).map_err(of_query)?);
            }
        }
        let numbers = is_graded.then_some(numbers);
        Ok(ListOfQuery { query, group: Cow::default(), docs: ids, numbers })
    }
}

/// The documents of a query in a platform's file: the id of each, or what is wrong with it, and its
/// grade.
type PlatformDocs<'t> = Vec<(Result<Cow<'t, [u8]>, String>, Option<&'t [u8]>)>;

/// The id of a query in a platform's file, as it is written, and its list of documents, perhaps
/// empty, as far as the file has them.
type DocsOfQuery<'t> = (Option<&'t [u8]>, Option<PlatformDocs<'t>>);

/// Reads the object of a query: its id and documents have the keys `names`, and the id and the
/// grade of a document the keys `of_doc`. Without these, documents are the keys of grades.
fn docs_of<'t>(
    text: &'t [u8],
    names: [&str; 2],
    of_doc: [&str; 2],
) -> Result<DocsOfQuery<'t>, String> {
    let place = |names: &[&str], key: &[u8]| {
        names.iter().position(|name| !name.is_empty() && name.as_bytes() == key)
    };
    let [query, docs] = find(text, |key| place(&names, key))?.values;
    let docs = match docs.map(JsonValue::parse).transpose()? {
        Some(JsonValue::Array(docs)) => {
            let mut all = PlatformDocs::new();
            for doc in items(docs)? {
                let names = [of_doc[0], of_doc[1], "hit"];
                let [mut id_of_doc, grade, hit] = match doc {
                    [b'{', ..] => find(doc, |key| place(&names, key))?.values,
                    _ => [None; 3],
                };
                // The id of a hit lies in an object of its own.
                if let Some(hit @ [b'{', ..]) = hit {
                    [id_of_doc] = find(hit, |key| place(&of_doc[..1], key))?.values;
                }
                let missing = || Err("a document has no id".to_owned());
                all.push((id_of_doc.map_or_else(missing, |doc| id(doc, "document")), grade));
            }
            Some(all)
        }
        Some(JsonValue::Object(docs)) if of_doc[0].is_empty() => {
            let docs = pairs(docs)?.into_iter().map(|(doc, grade)| {
                (wrong_id("document", &doc).map_or(Ok(Cow::Owned(doc)), Err), Some(grade))
            });
            Some(docs.collect())
        }
        _ => None,
    };
    Ok((query, docs))
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
    fn start(&self) -> Started<'_> {
        Ok(Box::new(JsonWalk::new(WayInFile { file: self, subsets: Vec::new() })))
    }

    fn entry(&self, entry: Entry<'_>, rows: &mut RowBatch) {
        if self.platform == Platform::Predictions {
            return documents(entry, Role::Run, rows);
        }
        match self.platform.query(entry) {
            Ok(list) => {
                list.add(self.platform.facts().role, entry.line, rows);
                // Where documents are rated, a query without any is not judged yet.
                if list.docs.is_empty()
                    && self.platform != Platform::Finetuning
                    && let Some(bare) = rows.bare.last_mut()
                {
                    bare.is_judged = false;
                }
            }
            Err(message) => rows.fault(entry.line, message),
        }
    }
}

/// The way to the queries of a platform's file.
struct WayInFile<'p> {
    file: &'p PlatformFile,
    /// The names of the subsets met so far.
    subsets: Vec<String>,
}

impl Way for WayInFile<'_> {
    fn has_entries(&mut self, keys: &[Vec<u8>], open: u8) -> bool {
        let PlatformFacts { key: wanted, opens, .. } = self.file.platform.facts();
        match (self.file.platform, keys) {
            (Platform::Predictions, [_, subset, split]) if subset != META && open == b'{' => {
                // The requested subset is read, else the first.
                let subset = format!("{}/{}", printable(subset), printable(split));
                let requested = self.file.subset.as_ref();
                let is_read = requested.map_or(self.subsets.is_empty(), |name| *name == subset);
                self.subsets.push(subset);
                is_read
            }
            (Platform::Predictions, _) => false,
            (Platform::Judgments, [.., key]) | (_, [_, key]) => key == wanted && open == opens,
            _ => false,
        }
    }

    fn has_queries_as_keys(&self) -> bool {
        self.file.platform == Platform::Predictions
    }

    /// Returns a message that lists all subsets of MTEB's predictions, if the choice is ambiguous
    /// or missing.
    fn end(&self) -> Option<String> {
        let mut all = self.subsets.clone();
        all.sort_unstable();
        all.dedup();
        let listed = match &all[..] {
            [] => return None,
            [only] => format!("the subset {only}"),
            [others @ .., last] => format!("the subsets {} and {last}", others.join(", ")),
        };
        match &self.file.subset {
            None if self.subsets.len() > 1 => {
                Some(format!("has {listed}: say which with {}", self.file.option))
            }
            Some(requested) if !all.contains(requested) => {
                Some(format!("has {listed}, and no {}", quoted(requested.as_bytes())))
            }
            _ => None,
        }
    }
}

/// The key of MTEB's predictions for the metadata of the model.
pub const META: &[u8] = b"mteb_model_meta";

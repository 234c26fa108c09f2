//! The names by which columns of tables and keys of records are found: known names, and the user's.

use std::{fmt, str::FromStr};

use crate::error::Error;
use crate::judged_by::FacetKind;
use crate::lines::{diagnostics::quoted, layout::NumberKind, options::OptionStyle, shape::Role};

/// The most columns or keys that a message lists.
const MOST_NAMED: usize = 20;

/// The content of a table's column or a record's key, such as query, document, grade, score or
/// rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnRole {
    Query,
    Doc,
    Grade,
    Judge,
    Subtopic,
    Score,
    Rank,
    Start,
    End,
    Length,
}

impl ColumnRole {
    /// Every content, with its name, in the order of the variants.
    const ALL: [(&'static str, Self); 10] = [
        ("query", Self::Query),
        ("doc", Self::Doc),
        ("grade", Self::Grade),
        ("judge", Self::Judge),
        ("subtopic", Self::Subtopic),
        ("score", Self::Score),
        ("rank", Self::Rank),
        ("start", Self::Start),
        ("end", Self::End),
        ("length", Self::Length),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Returns the content, judge or subtopic, of the column for a kind of facet; `None` if tables
    /// have no such column.
    fn for_facet(by: FacetKind) -> Option<Self> {
        Self::from_name(&by.to_string()).ok()
    }

    /// Parses the content of a column, such as `query` or `score`.
    ///
    /// # Errors
    /// An unknown content.
    fn from_name(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, column)| column).ok_or_else(|| {
            format!(
                "`{name}` is none of query, doc, grade, judge, subtopic, score, rank, start, end \
                 and length"
            )
        })
    }

    /// Returns the header names, such as `query_id`, that mark a column of this content in qrels or
    /// in a run. The first that a header has is taken. Case does not matter, and `-` counts as `_`.
    pub fn known_as(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (Self::Query, _) => &[
                "query_id",
                "qid",
                "q_id",
                "topic_id",
                "query",
                "topic",
                "user_id",
                "userid",
                "session_id",
                "indexes",
            ],
            (Self::Doc, _) => &[
                "doc_id",
                // `docno` comes before `docid`, because in PyTerrier's tables `docid` is a number
                // of the index.
                "docno",
                "docid",
                "document_id",
                "pid",
                "passage_id",
                "corpus_id",
                "item_id",
                "itemid",
                "doc",
                "document",
            ],
            (Self::Grade, Role::Qrels) => {
                &["relevance", "rel", "label", "grade", "target", "rating", "score"]
            }
            (Self::Judge, Role::Qrels) => &[
                "judge_id",
                "judge",
                "assessor_id",
                "assessor",
                "annotator_id",
                "annotator",
                "rater_id",
                "rater",
            ],
            (Self::Subtopic, Role::Qrels) => {
                &["subtopic_id", "subtopic", "intent_id", "intent", "aspect_id", "aspect"]
            }
            (Self::Score, Role::Run) => {
                &["score", "sim", "prediction", "pred", "preds", "rating_pred"]
            }
            (Self::Rank, Role::Run) => &["rank"],
            // Spellings of Chroma, LlamaIndex, LangChain and other libraries.
            (Self::Start, _) => {
                &["start", "start_index", "start_char_idx", "start_offset", "begin"]
            }
            (Self::End, _) => &["end", "end_index", "end_char_idx", "end_offset", "stop"],
            (Self::Length, _) => &["length"],
            _ => &[],
        }
    }

    /// Returns fallback header names of a column's content, tried only where the usual names are
    /// not enough. So files keep their earlier meaning. Ragas, LlamaIndex and OpenSearch use the
    /// names for columns with a list in each row, and Quepid for its tables.
    fn also_known_as(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (Self::Query, _) => &[
                "user_input",
                "searchtext",
                "query_text",
                "question_id",
                "user",
                "customer_id",
                "customerid",
            ],
            (Self::Doc, Role::Qrels) => &["reference_context_ids", "expected_ids", "relevant_docs"],
            (Self::Doc, Role::Run) => &["retrieved_context_ids", "retrieved_ids", "documentids"],
            (Self::Grade, Role::Qrels) => {
                &["interaction", "grades", "relevances", "labels", "ratings"]
            }
            (Self::Score, Role::Run) => &["scores"],
            (Self::Rank, Role::Run) => &["doc_position", "position"],
            _ => &[],
        }
    }

    /// Returns the names of lists of documents in golden sets and in what systems write beside
    /// them, which are tried last, as plurals and as singulars.
    fn known_in_golden_sets(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (Self::Doc, Role::Qrels) => &[
                "relevant_ids",
                "relevant_doc_ids",
                "relevant_document_ids",
                "relevant_chunk_ids",
                "expected_doc_ids",
                "expected_chunk_ids",
                "gold_ids",
                "gold_doc_ids",
                "golden_ids",
                "ground_truth_ids",
                "positive_ids",
                "positive_corpus_ids",
                "positive_doc_ids",
                "doc_ids",
                "document_ids",
                "chunk_ids",
                "corpus_ids",
            ],
            (Self::Doc, Role::Run) => &[
                "retrieved_doc_ids",
                "retrieved_document_ids",
                "retrieved_chunk_ids",
                "ranked_ids",
                "context_ids",
                "doc_ids",
                "document_ids",
                "chunk_ids",
                "corpus_ids",
                "candidates",
            ],
            _ => &[],
        }
    }

    /// Returns whether a column of this content has a name of golden sets, as a plural or as a
    /// singular, which is none of the usual names.
    fn is_of_golden_set(self, name: &[u8], role: Role) -> bool {
        let is = |known: &&str| are_same(known.as_bytes(), name);
        self.golden_names(role).any(|known| is(&known)) && !self.known_as(role).iter().any(is)
    }

    /// Returns the names of golden sets as plurals and as singulars.
    fn golden_names(self, role: Role) -> impl Iterator<Item = &'static str> {
        let all = self.known_in_golden_sets(role).iter();
        all.flat_map(|name| [*name, name.strip_suffix('s').unwrap_or(name)])
    }
}

/// The names of documents in tables of recommenders, which are tried after all others.
const ITEMS: [&str; 7] =
    ["item", "movie_id", "movieid", "product_id", "productid", "article_id", "articleid"];

/// The names of queries in records that may also have the text of the query.
const QUERY_IDS: [&str; 6] = ["query_id", "qid", "q_id", "topic_id", "question_id", "id"];

/// Returns the index of the key that has the id of a query, among the keys of an object that is a
/// query.
pub(super) fn query_key(names: &[&[u8]]) -> Option<usize> {
    QUERY_IDS.iter().find_map(|name| find_name(names, name))
}

/// Returns the indices of the keys that have the id and, if any, the number of a document, among
/// the keys of an object that is a document of a list.
pub(super) fn document_keys(names: &[&[u8]], role: Role) -> Option<(usize, Option<usize>)> {
    let find =
        |column: ColumnRole| column.known_as(role).iter().find_map(|name| find_name(names, name));
    let doc = find(ColumnRole::Doc).or_else(|| find_name(names, "id"));
    Some((
        doc.or_else(|| find_name(names, "_id"))?,
        find(role.pick(ColumnRole::Grade, ColumnRole::Score)),
    ))
}

/// The columns to read of a table or of records, by name (`query=qid,doc=pid,score=s`) or in order.
/// Columns in order, as `query,-,doc,score`, are for a table without a header. Runs have a score or
/// a rank, and qrels a grade, perhaps with a judge or a subtopic. Without a grade, or with
/// `grade=-`, each document of qrels has grade 1. Where each row of a run has a list of documents,
/// `score=-` says that no column of numbers belongs to it: its order is the ranking.
///
/// ```
/// use laneval::ColumnNames;
/// let names: ColumnNames = "query=user,doc=item,score=sim".parse()?;
/// assert_eq!(names.to_string(), "query=user,doc=item,score=sim");
/// assert!("query,score".parse::<ColumnNames>().is_err());
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnNames(ColumnSelection);

#[derive(Debug, Clone, PartialEq, Eq)]
enum ColumnSelection {
    Named(Vec<(ColumnRole, String)>),
    /// The columns in order; `None` for a column that is not read.
    Ordered(Vec<Option<ColumnRole>>),
}

impl FromStr for ColumnNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        const WAYS: &str = "give columns as query=NAME,doc=NAME,score=NAME, or in their order, as \
                            query,-,doc,score, with - for one that \
                            is not read; judgments have grade in the place of score, or no grade, \
                            and may have judge or subtopic; score=- is \
                            for lists of documents without scores";
        let names = ColumnSelection::parse(text).and_then(Self::complete);
        names.map_err(|what| Error::Unanswerable(format!("{what}: {WAYS}")))
    }
}

impl ColumnSelection {
    /// Parses columns given by name (`query=qid`) or in order (`query,-,doc`), of which some may be
    /// missing.
    fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split(',');
        if text.contains('=') {
            let named = parts.map(|part| match part.split_once('=') {
                Some((name, value)) if !value.is_empty() => {
                    Ok((ColumnRole::from_name(name)?, value.to_owned()))
                }
                _ => Err(format!("`{part}` names no column")),
            });
            named.collect::<Result<_, _>>().map(Self::Named)
        } else {
            Self::parse_ordered(parts.map(|part| (part != "-").then_some(part)))
        }
    }

    /// Parses the contents of all columns in order.
    fn parse_ordered<'n>(columns: impl Iterator<Item = Option<&'n str>>) -> Result<Self, String> {
        let columns = columns.map(|name| name.map(ColumnRole::from_name).transpose());
        columns.collect::<Result<_, _>>().map(Self::Ordered)
    }
}

impl fmt::Display for ColumnNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = match &self.0 {
            ColumnSelection::Named(named) => {
                named.iter().map(|(column, name)| format!("{}={name}", column.name())).collect()
            }
            ColumnSelection::Ordered(all) => {
                all.iter().map(|column| column.map_or("-", ColumnRole::name).to_owned()).collect()
            }
        };
        f.write_str(&parts.join(","))
    }
}

impl ColumnNames {
    /// Makes the choice of columns by name, from pairs of a content and its column's name in the
    /// header. A content is `query`, `doc`, `grade`, `judge`, `subtopic`, `score` or `rank`.
    /// Columns without a pair are recognised by their usual names.
    ///
    /// ```
    /// use laneval::ColumnNames;
    /// assert_eq!(ColumnNames::named([("doc", "item")])?.to_string(), "doc=item");
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// A content other than these.
    pub fn named<'n>(names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<Self, Error> {
        let named = names
            .into_iter()
            .map(|(what, name)| Ok((ColumnRole::from_name(what)?, name.to_owned())));
        named
            .collect::<Result<_, _>>()
            .map(|named| Self(ColumnSelection::Named(named)))
            .map_err(Error::Unanswerable)
    }

    /// Makes the choice of columns of a table without a header, from the contents of all columns in
    /// order. A content is `query`, `doc`, `grade`, `judge`, `subtopic`, `score` or `rank`, and
    /// `None` stands for a column that is not read.
    ///
    /// ```
    /// use laneval::ColumnNames;
    /// let columns = ColumnNames::in_order([Some("query"), None, Some("doc"), Some("score")])?;
    /// assert_eq!(columns, "query,-,doc,score".parse()?);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// An unknown content; a missing column; a repeated column.
    pub fn in_order<'n>(columns: impl IntoIterator<Item = Option<&'n str>>) -> Result<Self, Error> {
        let columns = ColumnSelection::parse_ordered(columns.into_iter()).and_then(Self::complete);
        columns.map_err(|wrong| Error::Unanswerable(format!("columns: {wrong}")))
    }

    /// Returns the chosen columns if they suffice to read judgments or results; otherwise returns a
    /// message.
    fn complete(names: ColumnSelection) -> Result<Self, String> {
        let columns = Self(names);
        let all = columns.columns();
        if let Some(again) =
            all.iter().find(|one| all.iter().filter(|other| other == one).count() > 1)
        {
            return Err(format!("{} occurs twice", again.name()));
        }
        let has = |column| all.contains(&column);
        let wrong = if !has(ColumnRole::Query) {
            "the query is missing"
        } else if !has(ColumnRole::Doc) {
            "the doc is missing"
        } else if has(ColumnRole::Grade) && !columns.are_of_qrels() {
            "judgments have a grade, and runs a score or a rank: there are both"
        } else {
            return Ok(columns);
        };
        Err(wrong.to_owned())
    }

    /// Returns the choice `columns` of columns with `name` as the name of the document's column.
    /// Columns in order have no names, so recognised columns replace the columns in order.
    pub fn with_doc(columns: Option<&Self>, name: &str) -> Self {
        let known = columns.map_or(&[][..], Self::by_name);
        let others = known.iter().filter(|(column, _)| *column != ColumnRole::Doc).cloned();
        Self(ColumnSelection::Named(others.chain([(ColumnRole::Doc, name.to_owned())]).collect()))
    }

    /// Returns the choice `columns` of columns with `name` as the name of the query's column, unless
    /// the user chose the query's column or gave the columns in order.
    pub(super) fn with_query(columns: Option<&Self>, name: &str) -> Self {
        let named = columns.map_or(&[][..], Self::by_name);
        let of_query = (ColumnRole::Query, name.to_owned());
        match columns {
            Some(given)
                if given.ordered().is_some() || given.name_of(ColumnRole::Query).is_some() =>
            {
                given.clone()
            }
            _ => Self(ColumnSelection::Named(named.iter().cloned().chain([of_query]).collect())),
        }
    }

    /// Returns the columns chosen by name, with their names in the header.
    fn by_name(&self) -> &[(ColumnRole, String)] {
        if let ColumnSelection::Named(named) = &self.0 { named } else { &[] }
    }

    fn columns(&self) -> Vec<ColumnRole> {
        match &self.0 {
            ColumnSelection::Named(named) => named.iter().map(|(column, _)| *column).collect(),
            ColumnSelection::Ordered(all) => all.iter().flatten().copied().collect(),
        }
    }

    /// Returns whether the chosen columns are of judgments: neither a score nor a rank is among
    /// them.
    pub fn are_of_qrels(&self) -> bool {
        let columns = self.columns();
        ![ColumnRole::Score, ColumnRole::Rank].iter().any(|of_run| columns.contains(of_run))
    }

    /// Returns the header name given for the column of this content, if columns were chosen by
    /// name.
    pub(super) fn name_of(&self, column: ColumnRole) -> Option<&str> {
        let mut named = self.by_name().iter();
        named.find(|(other, _)| *other == column).map(|(_, name)| &name[..])
    }

    /// Returns the index of the column of this content, if columns were chosen in order.
    fn place(&self, column: ColumnRole) -> Option<usize> {
        let ColumnSelection::Ordered(all) = &self.0 else { return None };
        all.iter().position(|other| *other == Some(column))
    }

    /// Returns the number of the table's columns, if columns were chosen in order.
    pub fn ordered(&self) -> Option<usize> {
        if let ColumnSelection::Ordered(all) = &self.0 { Some(all.len()) } else { None }
    }
}

/// The indices of the columns to read of a table: query, document, number, and perhaps rank and
/// facet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenColumns {
    pub query: usize,
    pub doc: usize,
    /// The column of the number; that of the document for [`NumberKind::One`].
    pub number: usize,
    pub value: NumberKind,
    /// The column of ranks, if scores are sorted.
    pub rank: Option<usize>,
    /// The column of judges or subtopics, if judgments are read by them.
    pub group: Option<usize>,
}

/// The indices of the columns to read of a table: with one document in each row, or with a list of
/// documents.
#[derive(Debug)]
pub struct ChosenRows {
    pub query: usize,
    pub doc: usize,
    /// The column of numbers, or of lists of grades or scores; without such lists, documents are in
    /// the order of their ranks, or have grade 1.
    pub number: Option<usize>,
    /// The kind of the number of the document; `None` if rows have lists of documents.
    pub value: Option<NumberKind>,
    pub rank: Option<usize>,
    pub group: Option<usize>,
}

impl From<ChosenColumns> for ChosenRows {
    fn from(chosen: ChosenColumns) -> Self {
        let ChosenColumns { query, doc, number, value, rank, group } = chosen;
        let number = Some(number).filter(|_| value != NumberKind::One);
        Self { query, doc, number, value: Some(value), rank, group }
    }
}

/// The names in a table's header or a record's keys by which its queries may be grouped; empty where
/// there are none.
#[derive(Debug, Clone, Default)]
pub struct GroupingNames {
    /// The name of the query.
    pub query: String,
    /// The names that are not read.
    pub others: Vec<String>,
}

impl GroupingNames {
    /// Makes the names of a table or of records, of which some were chosen to be read.
    pub(super) fn new(names: &[&[u8]], chosen: &ChosenRows) -> Self {
        let read = [Some(chosen.query), Some(chosen.doc), chosen.number, chosen.rank, chosen.group];
        let name = |at: usize| String::from_utf8_lossy(names[at]).into_owned();
        let others = (0..names.len()).filter(|&at| !read.contains(&Some(at))).map(name);
        Self { query: name(chosen.query), others: others.collect() }
    }
}

/// The shape of a column's cells, in a table or in records: single values or lists, as far as it is
/// known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellShape {
    Single,
    List,
    /// An object, which may be a list of documents with their numbers.
    Object,
    /// A null, which may stand for either.
    Null,
}

/// The reason why the columns of query, document and number cannot be chosen by a header's names.
#[derive(Debug, PartialEq, Eq)]
pub enum ColumnChoiceError {
    /// No name is known, or at most one.
    NoNames(MissingColumn),
    /// Some names are known, but a needed one is missing.
    Missing(MissingColumn),
    /// A column named by the user that is missing or repeated, as a message.
    Invalid(String),
}

/// A choice of columns by a header's names, or why there is none.
pub type ColumnChoice<T> = Result<T, ColumnChoiceError>;

/// A needed column of a table, or key of records, that none of its known names found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingColumn {
    pub(super) role: Role,
    /// The content of the column: `query`, `doc`, `grade`, `judge`, `subtopic`, `score`, `start` or
    /// `end`.
    pub what: &'static str,
    /// The names by which the column is recognised.
    pub known: Vec<&'static str>,
    /// The names in the text, in quotes.
    pub among: Vec<String>,
    /// The first known name among the names of the text, if any.
    pub known_name: Option<String>,
}

impl MissingColumn {
    /// Makes the error message about the missing column, with the option that gives its name.
    pub fn message(&self, options: OptionStyle) -> String {
        let what = if self.what == "doc" { "document" } else { self.what };
        let none = if self.what == "grade" {
            ", and `-` as its name gives each document grade 1"
        } else {
            ""
        };
        format!(
            "found no {what} among {}: known names are {}; `{}` names another{none}",
            self.among.join(", "),
            self.known.join(", "),
            options.columns_by_name(self.role, Some(self.what)),
        )
    }
}

impl fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(OptionStyle::default()))
    }
}

/// Chooses the columns to read of a table whose columns the user gave in order, that of facets by
/// `by`.
///
/// # Errors
/// Names that are not in order, or lack a column; what to say of it.
pub fn in_order(
    names: &ColumnNames,
    role: Role,
    by: Option<FacetKind>,
) -> Result<ChosenColumns, String> {
    let numbers = [ColumnRole::Grade, ColumnRole::Score, ColumnRole::Rank];
    let facet = by.and_then(ColumnRole::for_facet);
    let is_ungraded = role == Role::Qrels;
    chosen(|column| names.place(column), &numbers, facet, is_ungraded).ok_or_else(|| {
        let group = facet.filter(|&group| names.place(group).is_none());
        let missing = group.map_or("score and no rank, by which a run is sorted", ColumnRole::name);
        format!("the columns `{names}` have no {missing}")
    })
}

/// Chooses query, document, the first existing column of `numbers` and the facet's column through
/// `find`. Without a column of numbers each document has grade 1, if `is_ungraded`.
fn chosen(
    find: impl Fn(ColumnRole) -> Option<usize>,
    numbers: &[ColumnRole],
    facet: Option<ColumnRole>,
    is_ungraded: bool,
) -> Option<ChosenColumns> {
    let (query, doc) = (find(ColumnRole::Query)?, find(ColumnRole::Doc)?);
    let found = numbers.iter().find_map(|&column| Some((column, find(column)?)));
    let (value, number) = match found {
        Some((ColumnRole::Rank, at)) => (NumberKind::Rank, at),
        Some((_, at)) => (NumberKind::Number, at),
        None => (NumberKind::One, is_ungraded.then_some(doc)?),
    };
    let is_score = value == NumberKind::Number;
    let rank = find(ColumnRole::Rank).filter(|&rank| is_score && rank != number);
    let group = match facet {
        Some(group) => Some(find(group)?),
        None => None,
    };
    Some(ChosenColumns { query, doc, number, value, rank, group })
}

/// Chooses the columns of query, document and number by the names of a header, for qrels or a run.
pub fn choose(
    names: &[&[u8]],
    role: Role,
    by: Option<FacetKind>,
    given: Option<&ColumnNames>,
) -> ColumnChoice<ChosenColumns> {
    let header = NamedHeader::new(names, &[], role, by, given)?;
    let more = header.with_more_names();
    let chosen = header.single().or_else(|usual| more.single().map_err(|_| usual));
    chosen.or_else(|usual| more.ungraded().ok_or(usual))
}

/// Chooses columns by the names of a header where cells may be lists: `shapes` says so of the first
/// row.
pub fn choose_rows(
    names: &[&[u8]],
    shapes: &[CellShape],
    role: Role,
    by: Option<FacetKind>,
    given: Option<&ColumnNames>,
) -> ColumnChoice<ChosenRows> {
    let header = NamedHeader::new(names, shapes, role, by, given)?;
    let usual = match header.single() {
        Ok(chosen) if header.shape(chosen.doc) != CellShape::List => {
            return Ok(chosen.into());
        }
        usual => usual,
    };
    let more = header.with_more_names();
    // Lists come before single columns, because most of the additional names are names of lists.
    if let Some(lists) = more.lists()? {
        return Ok(lists);
    }
    let texts = |usual| header.texts().map_or(usual, ColumnChoiceError::Invalid);
    let chosen = usual.or_else(|usual| more.single().map_err(|_| usual));
    let chosen = chosen.or_else(|usual| more.ungraded().ok_or_else(|| texts(usual)));
    chosen.map(ChosenRows::from)
}

/// The names in a table's header or a record's keys, with the names to look for among them.
#[derive(Clone, Copy)]
struct NamedHeader<'a> {
    names: &'a [&'a [u8]],
    role: Role,
    /// The columns of numbers, in order of preference; a single one is read.
    numbers: &'a [ColumnRole],
    /// The column of the facets by which judgments are read.
    facet: Option<ColumnRole>,
    /// The names given by the user.
    given: &'a [(ColumnRole, String)],
    /// What the columns have in each row; none if all have a single value.
    shapes: &'a [CellShape],
    /// Whether to try the additional names after the usual names.
    more: bool,
}

/// Returns the error, with this message, about a column that the user has to name otherwise.
fn reject<T>(message: String) -> ColumnChoice<T> {
    Err(ColumnChoiceError::Invalid(message))
}

/// The name that stands for no column.
const NO_COLUMN: &str = "-";

impl<'a> NamedHeader<'a> {
    /// Makes the lookup of columns in a header from its names, and checks the names that the user
    /// gave.
    ///
    /// # Errors
    /// A name given by the user that the header lacks.
    fn new(
        names: &'a [&'a [u8]],
        shapes: &'a [CellShape],
        role: Role,
        by: Option<FacetKind>,
        given: Option<&'a ColumnNames>,
    ) -> ColumnChoice<Self> {
        let numbers = role.pick(&[ColumnRole::Grade][..], &[ColumnRole::Score, ColumnRole::Rank]);
        let given = given.map_or(&[][..], ColumnNames::by_name);
        let facet = by.and_then(ColumnRole::for_facet);
        let header = Self { names, role, numbers, facet, given, shapes, more: false };
        for (column, name) in given {
            if header.place(name).is_none() && !(name == NO_COLUMN && numbers.contains(column)) {
                return reject(no_column(name, column.name(), names));
            }
        }
        Ok(header)
    }

    /// Returns this lookup of columns in a header with fallback names to try after the usual names.
    fn with_more_names(self) -> Self {
        Self { more: true, ..self }
    }

    /// Returns the shape of the cells of the column `at`: single values, lists or null.
    fn shape(self, at: usize) -> CellShape {
        self.shapes.get(at).copied().unwrap_or(CellShape::Single)
    }

    /// Chooses the columns of a table that has one document in each row, by the names of its
    /// header.
    fn single(self) -> ColumnChoice<ChosenColumns> {
        let chosen = chosen(|column| self.find(column), self.numbers, self.facet, false);
        let chosen = chosen.ok_or_else(|| self.lacks())?;
        let ChosenColumns { query, doc, number, group, .. } = chosen;
        self.without_twins(&[Some(query), Some(doc), Some(number), group])?;
        Ok(chosen)
    }

    /// Returns whether the column `at` has documents under a name of golden sets, or of what
    /// systems write beside them.
    fn is_golden(self, at: usize) -> bool {
        let mut lists = ColumnRole::Doc.also_known_as(self.role).iter();
        lists.any(|name| are_same(name.as_bytes(), self.names[at]))
            || ColumnRole::Doc.is_of_golden_set(self.names[at], self.role)
    }

    /// Chooses the columns of judgments without grades, of which each has grade 1. So that no
    /// column of grades with an unknown name is overlooked, the user said that there is none, or
    /// there are no other columns, or the name of the documents says that they are relevant.
    fn ungraded(self) -> Option<ChosenColumns> {
        let chosen = chosen(|column| self.find(column), self.numbers, self.facet, true)?;
        let needed = 2 + usize::from(self.facet.is_some());
        let is_sure = self.is_given(ColumnRole::Grade)
            || self.names.len() == needed
            || self.is_golden(chosen.doc);
        (self.role == Role::Qrels && chosen.value == NumberKind::One && is_sure).then_some(chosen)
    }

    /// Chooses the columns of a table that has a list of documents in each row; `None` if no column
    /// has lists.
    fn lists(self) -> ColumnChoice<Option<ChosenRows>> {
        let doc = self.find_where(ColumnRole::Doc, |at| self.shape(at) != CellShape::Single);
        let Some(doc) = doc.or_else(|| self.list_of_judgments()) else { return Ok(None) };
        // A null may stand for a list or an id, and an object for a list or for the text of a
        // document. Under a usual name that the user did not give, both count as ids, because the
        // columns of these names mostly have ids.
        let mut usual = ColumnRole::Doc.known_as(self.role).iter();
        if matches!(self.shape(doc), CellShape::Null | CellShape::Object)
            && !self.is_given(ColumnRole::Doc)
            && usual.any(|name| are_same(name.as_bytes(), self.names[doc]))
        {
            return Ok(None);
        }
        let is_single = |at| matches!(self.shape(at), CellShape::Single | CellShape::Object);
        let single = |column| self.find_where(column, is_single).ok_or_else(|| self.lacks());
        // Golden sets have the text of the query beside its id.
        let by_id = !self.is_given(ColumnRole::Query)
            && ColumnRole::Doc.is_of_golden_set(self.names[doc], self.role);
        let query_id = by_id.then(|| query_key(self.names).filter(|&at| is_single(at))).flatten();
        let query = query_id.map_or_else(|| single(ColumnRole::Query), Ok)?;
        let group = self.facet.map(single).transpose()?;
        if self.is_given(ColumnRole::Rank) {
            return reject(format!(
                "{} has lists, whose order is the rank: name a score, or say score=-",
                quoted(self.names[doc])
            ));
        }
        let number = self.numbers[0];
        let numbers = self
            .find_where(number, |at| self.is_given(number) || self.shape(at) == CellShape::List);
        self.without_lost_numbers(doc, numbers)?;
        self.without_twins(&[Some(query), Some(doc), numbers, group])?;
        Ok(Some(ChosenRows { query, doc, number: numbers, value: None, rank: None, group }))
    }

    /// Returns the index of the column `qrels` of judgments, if it has lists and no column has a name
    /// of documents.
    fn list_of_judgments(self) -> Option<usize> {
        let is_alone = self.role == Role::Qrels && self.find(ColumnRole::Doc).is_none();
        self.place("qrels").filter(|&at| is_alone && self.shape(at) == CellShape::List)
    }

    /// Rejects a table in which grades, scores or ranks beside a list of documents would go unread.
    /// Such are a null in the place of their list, and a list of ranks, which need not be in the
    /// order of the documents.
    fn without_lost_numbers(self, docs: usize, numbers: Option<usize>) -> ColumnChoice<()> {
        if numbers.is_some() {
            return Ok(());
        }
        let (docs, number) = (quoted(self.names[docs]), self.numbers[0]);
        let none = format!("{}=-", number.name());
        if let Some(null) = self.find_where(number, |at| self.shape(at) == CellShape::Null) {
            let null = quoted(self.names[null]);
            return reject(format!(
                "{null} is null beside the list {docs}: a list of {}s was expected, or leave \
                 {null} out, or say {none}",
                self.role.number()
            ));
        }
        let ranks = self.find_where(ColumnRole::Rank, |at| self.shape(at) == CellShape::List);
        let Some(ranks) = ranks.filter(|_| self.role == Role::Run) else { return Ok(()) };
        let ranks = quoted(self.names[ranks]);
        reject(format!(
            "{ranks} is a list beside the list {docs}, whose order is the rank: put the documents \
             in the order of their ranks and leave {ranks} out, or say {none} if they are in this \
             order"
        ))
    }

    /// Returns the message that a header has texts of documents where ids were expected, if so.
    fn texts(self) -> Option<String> {
        if self.with_more_names().find(ColumnRole::Doc).is_some() {
            return None;
        }
        // The keys under which other tools keep texts, and the key that would have the ids.
        let known = self.role.pick(
            &[
                "reference_contexts",
                "context",
                "expected_chunks",
                "retrieved_contexts",
                "retrieval_context",
            ][..],
            &["retrieved_contexts", "retrieval_context", "retrieved_chunks"],
        );
        let ids = self.role.pick("reference_context_ids", "retrieved_context_ids");
        let mut places = known.iter().filter_map(|name| self.place(name));
        let at = places.find(|&at| self.shape(at) == CellShape::List)?;
        let texts = crate::error::printable(self.names[at]);
        Some(format!("has texts ({texts}) and no ids: {ids} was expected"))
    }

    /// Returns the index of the header's column of this name: as it is written, or else in another
    /// case.
    fn place(self, name: &str) -> Option<usize> {
        find_name(self.names, name)
    }

    /// Returns the index of the header's column of this content, such as query or score.
    fn find(self, column: ColumnRole) -> Option<usize> {
        self.find_where(column, |_| true)
    }

    /// Returns whether the user gave a name for the column of this content.
    fn is_given(self, column: ColumnRole) -> bool {
        self.given.iter().any(|(other, _)| *other == column)
    }

    /// Returns the index of the column of this content among the header's columns that `fits`
    /// allows.
    fn find_where(self, column: ColumnRole, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let Self { given, numbers, .. } = self;
        match given.iter().find(|(other, _)| *other == column) {
            Some((_, name)) => self.place(name).filter(|&at| fits(at)),
            // A user who names a score or a rank means no other number.
            None if numbers.contains(&column)
                && numbers.iter().any(|&number| self.is_given(number)) =>
            {
                None
            }
            None => self.known(column).find_map(|name| self.place(name).filter(|&at| fits(at))),
        }
    }

    /// Returns the header names that mark a column of this content, the fallback names included if
    /// they are on.
    fn known(self, column: ColumnRole) -> impl Iterator<Item = &'static str> {
        let more = if self.more { column.also_known_as(self.role) } else { &[] };
        let golden = self.more.then(|| column.golden_names(self.role)).into_iter().flatten();
        // A table of single documents may have numbers of its rows under the name `id`.
        let is_query = column == ColumnRole::Query && self.more;
        let by_id = is_query && (0..self.names.len()).any(|at| self.is_golden(at));
        let all = column.known_as(self.role).iter().chain(more).copied().chain(golden);
        let items = if self.more && column == ColumnRole::Doc { &ITEMS[..] } else { &[] };
        all.chain(items.iter().copied()).chain(by_id.then_some("id"))
    }

    /// Rejects a header in which another column has the same name as a chosen column. A name
    /// spelled exactly as known or given beats a name that differs in case.
    fn without_twins(self, read: &[Option<usize>]) -> ColumnChoice<()> {
        let names = self.names;
        let twins = read.iter().flatten().find_map(|&at| {
            let other = names.iter().enumerate().position(|(other, name)| {
                other != at
                    && (*name == names[at] || !self.is_exact(at) && are_same(name, names[at]))
            })?;
            Some((names[at], names[other]))
        });
        let Some((name, other)) = twins else { return Ok(()) };
        let (shown, all) = (quoted(name), quoted_all(names).join(", "));
        reject(if name == other {
            format!("{shown} occurs twice in {all}")
        } else {
            let other = quoted(other);
            format!(
                "{shown} and {other} differ only in case: it is not clear which to read of {all}"
            )
        })
    }

    /// Returns whether the name of the header's column `at` is spelled exactly as a known or given
    /// name.
    fn is_exact(self, at: usize) -> bool {
        let name = self.names[at];
        self.given.iter().any(|(_, given)| given.as_bytes() == name)
            || ColumnRole::ALL
                .iter()
                .any(|&(_, column)| self.known(column).any(|known| known.as_bytes() == name))
    }

    /// Makes the error that names the needed column that a header lacks.
    fn lacks(self) -> ColumnChoiceError {
        let Self { names, role, numbers, given, .. } = self;
        let number = numbers.iter().find_map(|&column| self.find(column));
        let found = [self.find(ColumnRole::Query), self.find(ColumnRole::Doc), number];
        let column = match found {
            [None, ..] => ColumnRole::Query,
            [_, None, _] => ColumnRole::Doc,
            [_, _, None] => numbers[0],
            _ => self.facet.unwrap_or(numbers[0]),
        };
        // The names of golden sets are too many for a message.
        let all = |column: ColumnRole| [column.known_as(role), column.also_known_as(role)].concat();
        let mut known = all(column);
        if column == ColumnRole::Score {
            known.extend(all(ColumnRole::Rank));
        }
        let mut among = quoted_all(&names[..names.len().min(MOST_NAMED)]);
        if names.len() > MOST_NAMED {
            among.push(format!("{} more", names.len() - MOST_NAMED));
        }
        let known_name = found.iter().flatten().next().map(|&at| quoted(names[at]));
        let missing = MissingColumn { role, what: column.name(), known, among, known_name };
        if given.is_empty() && found.iter().flatten().count() < 2 {
            ColumnChoiceError::NoNames(missing)
        } else {
            ColumnChoiceError::Missing(missing)
        }
    }
}

/// Returns names in quotes, for messages.
pub(super) fn quoted_all(names: &[impl AsRef<[u8]>]) -> Vec<String> {
    names.iter().map(|name| quoted(name.as_ref())).collect()
}

/// Makes the message that the column of the content `what` has a name that is not among `names`.
pub(super) fn no_column(name: &str, what: &str, names: &[impl AsRef<[u8]>]) -> String {
    let among = quoted_all(names).join(", ");
    format!("there is no column `{name}` for the {what}: there are {among}")
}

/// Returns the index of this name among names: as it is written, or else in another case.
pub(super) fn find_name(names: &[impl AsRef<[u8]>], name: &str) -> Option<usize> {
    let name = name.as_bytes();
    let exact = names.iter().position(|other| other.as_ref() == name);
    exact.or_else(|| names.iter().position(|other| are_same(other.as_ref(), name)))
}

/// Returns whether two column names are the same, whatever their case, and with `-` or a blank for
/// `_`.
fn are_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && std::iter::zip(one, other).all(|(&one, &other)| normalize(one) == normalize(other))
}

/// Returns a byte of a column name as it is compared: in lower case, `_` for `-` and blanks.
fn normalize(byte: u8) -> u8 {
    match byte {
        b'-' | b' ' => b'_',
        letter => letter.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &str) -> Vec<&[u8]> {
        names.split(' ').map(str::as_bytes).collect()
    }

    fn parse(given: Option<&str>) -> Option<ColumnNames> {
        given.map(|given| given.parse().unwrap())
    }

    fn choose_names(names: &str, role: Role, given: Option<&str>) -> ColumnChoice<ChosenColumns> {
        choose(&header(names), role, None, parse(given).as_ref())
    }

    fn plain(query: usize, doc: usize, number: usize) -> ChosenColumns {
        let (value, rank, group) = (NumberKind::Number, None, None);
        ChosenColumns { query, doc, number, value, rank, group }
    }

    #[test]
    fn columns_are_known_by_many_names() {
        let ranked = ChosenColumns { rank: Some(2), ..plain(0, 1, 3) };
        let rank = ChosenColumns { value: NumberKind::Rank, ..plain(0, 1, 2) };
        for (names, role, given, expected) in [
            ("query-id corpus-id score", Role::Qrels, None, plain(0, 1, 2)),
            ("Score Doc_ID QUERY_ID", Role::Run, None, plain(2, 1, 0)),
            ("query query_id doc rel score", Role::Qrels, None, plain(1, 2, 3)),
            ("qid pid rank score", Role::Run, None, ranked),
            ("qid pid rank", Role::Run, None, rank),
            ("qid pid rank score", Role::Run, Some("query=qid,doc=pid,rank=rank"), rank),
            ("a b score c", Role::Run, Some("query=b,doc=a,score=c"), plain(1, 0, 3)),
        ] {
            assert_eq!(choose_names(names, role, given), Ok(expected));
        }
        assert!(matches!(
            choose_names("1 d1 0.5", Role::Run, None),
            Err(ColumnChoiceError::NoNames(_))
        ));
        for (names, given, expected) in [
            (
                "qid x score",
                None,
                "found no document among 'qid', 'x', 'score': known names are doc_id, docno, docid",
            ),
            (
                "qid doc x",
                None,
                "found no score among 'qid', 'doc', 'x': known names are score, sim, prediction, \
                 pred, preds, rating_pred, scores, rank, doc_position, position;",
            ),
            ("x doc score", None, "`--columns query=NAME,doc=…,score=…` names another"),
            ("qid doc score score", None, "'score' occurs twice in"),
            (
                "qid doc score",
                Some("query=q,doc=doc,score=score"),
                "there is no column `q` for the query: there are 'qid'",
            ),
        ] {
            let message = match choose_names(names, Role::Run, given) {
                Err(ColumnChoiceError::Invalid(message)) => message,
                Err(ColumnChoiceError::Missing(missing)) => missing.to_string(),
                other => panic!("{names}: {other:?}"),
            };
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn judgments_without_grades_have_no_other_column() {
        let one = ChosenColumns { value: NumberKind::One, ..plain(0, 1, 1) };
        for (names, given, expected) in [
            ("query-id corpus-id", None, Some(one)),
            ("userId item", None, Some(one)),
            ("qid docid weight", None, None),
            ("qid docid weight", Some("query=qid,doc=docid,grade=-"), Some(one)),
            ("qid relevant_id text", None, Some(one)),
            ("query_id doc_id score", None, Some(plain(0, 1, 2))),
        ] {
            assert_eq!(choose_names(names, Role::Qrels, given).ok(), expected, "{names}");
        }
        assert!(choose_names("query-id corpus-id", Role::Run, None).is_err());
        let chosen = |role| in_order(&"doc,-,query".parse().unwrap(), role, None);
        let turned = ChosenColumns { value: NumberKind::One, ..plain(2, 0, 0) };
        assert_eq!(chosen(Role::Qrels), Ok(turned));
        let message =
            "the columns `doc,-,query` have no score and no rank, by which a run is sorted";
        assert_eq!(chosen(Role::Run), Err(message.to_owned()));
    }

    /// Golden sets have the text of a query beside its id; under the names that were known before
    /// them, the text stays the query.
    #[test]
    fn queries_of_golden_sets_are_their_ids() {
        use CellShape::{List, Object, Single};
        for (names, shapes, role, query) in [
            ("query id relevant_ids", [Single, Single, List], Role::Qrels, Some(1)),
            ("query id relevant_ids", [Single, Single, Object], Role::Qrels, Some(1)),
            ("id query expected_ids", [Single, Single, List], Role::Qrels, Some(1)),
            ("id text expected_ids", [Single, Single, List], Role::Qrels, Some(0)),
            ("id query_id context_ids", [Single, Single, List], Role::Run, Some(1)),
            ("x query candidates", [Single, Object, List], Role::Run, Some(1)),
            ("id x doc_id", [Single, Single, List], Role::Run, None),
            ("x query qrels", [Single, Single, List], Role::Qrels, Some(1)),
            ("x query qrels", [Single, Single, Single], Role::Qrels, None),
            ("x query qrels", [Single, Single, List], Role::Run, None),
        ] {
            let chosen = choose_rows(&header(names), &shapes, role, None, None);
            assert_eq!(chosen.ok().map(|chosen| chosen.query), query, "{names}");
        }
    }

    /// A list of documents whose ranks or scores would not be read is refused: its order need not
    /// be the ranking.
    #[test]
    fn numbers_beside_a_list_are_read_or_refused() {
        use CellShape::{List, Null, Single};
        let lists = |names: &str, shapes: &[CellShape], given: Option<&str>| match choose_rows(
            &header(names),
            shapes,
            Role::Run,
            None,
            parse(given).as_ref(),
        ) {
            Ok(ChosenRows { doc, number, value: None, .. }) => Ok((doc, number)),
            Err(ColumnChoiceError::Invalid(message)) => Err(message),
            other => panic!("{other:?}"),
        };
        let given = Some("query=query_id,doc=doc_id,score=-");
        for (names, shapes, given, number) in [
            ("query_id doc_id", &[Single, List][..], None, None),
            ("query_id doc_id score", &[Single, List, List], None, Some(2)),
            ("query_id doc_id rank score", &[Single, List, List, List], None, Some(3)),
            // Of a record, and not of its documents.
            ("query_id doc_id rank score", &[Single, List, Single, Single], None, None),
            ("query_id doc_id rank", &[Single, List, List], given, None),
            ("query_id doc_id score", &[Single, List, Null], given, None),
        ] {
            assert_eq!(lists(names, shapes, given), Ok((1, number)), "{names}");
        }
        for (names, last, expected) in [
            (
                "query_id doc_id rank",
                List,
                "'rank' is a list beside the list 'doc_id', whose order is the rank",
            ),
            (
                "query_id doc_id score",
                Null,
                "'score' is null beside the list 'doc_id': a list of scores was expected",
            ),
        ] {
            let wrong = lists(names, &[Single, List, last], None).unwrap_err();
            assert!(wrong.starts_with(expected), "{wrong}");
        }
    }

    #[test]
    fn the_number_of_a_document_in_an_index_is_not_its_id() {
        let given = Some("query=qid,doc=docid,rank=rank,score=score");
        for (names, given, doc) in [
            ("qid docid docno rank score", None, 2),
            ("qid docid docno rank score", given, 1),
            ("qid docid doc_id rank score", None, 2),
        ] {
            let expected = ChosenColumns { rank: Some(3), ..plain(0, doc, 4) };
            assert_eq!(choose_names(names, Role::Run, given), Ok(expected));
        }
    }

    #[test]
    fn columns_of_groups_are_known_by_many_names() {
        let columns = |names: &str, by, given: Option<&str>| match choose(
            &header(names),
            Role::Qrels,
            Some(by),
            parse(given).as_ref(),
        ) {
            Ok(ChosenColumns { query, doc, number, group, .. }) => Ok((query, group, doc, number)),
            Err(ColumnChoiceError::Missing(missing)) => Err(missing.to_string()),
            Err(other) => panic!("{other:?}"),
        };
        let (judge, subtopic) = (FacetKind::Judge, FacetKind::Subtopic);
        let given = Some("query=qid,judge=who,doc=docid,grade=rel");
        let message = "found no judge among 'qid', 'subtopic', 'docid', 'rel': known names are \
                    judge_id, judge, assessor_id, assessor, annotator_id, \
                    annotator, rater_id, rater; `--columns query=…,doc=…,grade=…,judge=NAME` names \
                    another";
        for (names, by, given, expected) in [
            ("qid assessor docid rel", judge, None, Ok((0, Some(1), 2, 3))),
            ("qid Judge-ID judge docid rel", judge, None, Ok((0, Some(1), 3, 4))),
            ("qid subtopic_id docid rel", subtopic, None, Ok((0, Some(1), 2, 3))),
            ("qid judge docid rel who", judge, given, Ok((0, Some(4), 2, 3))),
            ("qid subtopic docid rel", judge, None, Err(message.to_owned())),
        ] {
            assert_eq!(columns(names, by, given), expected);
        }
    }

    #[test]
    fn columns_are_given_by_name_or_in_order() {
        for text in [
            "query=a,doc=b,score=c",
            "query,-,doc,score",
            "doc,query,grade",
            "query,doc,rank,score",
        ] {
            assert_eq!(text.parse::<ColumnNames>().unwrap().to_string(), text);
        }
        let chosen = in_order(&"query,-,doc,rank,score".parse().unwrap(), Role::Run, None);
        assert_eq!(chosen, Ok(ChosenColumns { rank: Some(3), ..plain(0, 2, 4) }));
        let names: ColumnNames = "subtopic,query,doc,grade".parse().unwrap();
        let chosen = |by| in_order(&names, Role::Qrels, Some(by));
        assert_eq!(chosen(FacetKind::Subtopic).unwrap().group, Some(0));
        let message = "the columns `subtopic,query,doc,grade` have no judge";
        assert_eq!(chosen(FacetKind::Judge), Err(message.to_owned()));
        for (text, expected) in [
            ("query,score", "the doc is missing"),
            ("doc=a,score=b", "the query is missing"),
            ("query,doc,grade,score", "there are both"),
            ("query,doc,query,score", "query occurs twice"),
            ("query=a,doc,score=b", "`doc` names no column"),
            ("query,dok,score", "`dok` is none of"),
        ] {
            let error = text.parse::<ColumnNames>().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

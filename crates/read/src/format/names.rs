//! Names of columns: the names that identify the columns of a header or record, and the names that
//! the user gives.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::quoted;
use crate::lines::layout::NumberKind;
use crate::lines::options::OptionStyle;
use crate::lines::shape::Role;

/// The most columns or keys that a message lists.
const MOST_NAMED: usize = 20;

/// The content of a column of a table, or of a key of a record.
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

const COLUMNS: [(&str, ColumnRole); 10] = [
    ("query", ColumnRole::Query),
    ("doc", ColumnRole::Doc),
    ("grade", ColumnRole::Grade),
    ("judge", ColumnRole::Judge),
    ("subtopic", ColumnRole::Subtopic),
    ("score", ColumnRole::Score),
    ("rank", ColumnRole::Rank),
    ("start", ColumnRole::Start),
    ("end", ColumnRole::End),
    ("length", ColumnRole::Length),
];

impl ColumnRole {
    fn name(self) -> &'static str {
        COLUMNS.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }

    /// The column of the facets of judgments, if tables can have them.
    fn of_groups(by: JudgedBy) -> Option<Self> {
        match by {
            JudgedBy::Judge => Some(ColumnRole::Judge),
            JudgedBy::Subtopic => Some(ColumnRole::Subtopic),
            JudgedBy::Preference | JudgedBy::Span => None,
        }
    }

    /// Parses the content of a column.
    ///
    /// # Errors
    /// An unknown content.
    fn of(name: &str) -> Result<Self, String> {
        let known = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        known.ok_or_else(|| {
            format!(
                "`{name}` is none of query, doc, grade, judge, subtopic, score, rank, start, end \
                 and length"
            )
        })
    }

    /// The names by which the column is recognised in qrels or in a run; the first that a header
    /// has is taken. Case does not matter, and `-` counts as `_`.
    fn known_as(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (ColumnRole::Query, _) => &[
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
            (ColumnRole::Doc, _) => &[
                "doc_id",
                "docno", // before docid: in PyTerrier's tables that is a number of the index
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
            (ColumnRole::Grade, Role::Qrels) => {
                &["relevance", "rel", "label", "grade", "target", "rating", "score"]
            }
            (ColumnRole::Judge, Role::Qrels) => &[
                "judge_id",
                "judge",
                "assessor_id",
                "assessor",
                "annotator_id",
                "annotator",
                "rater_id",
                "rater",
            ],
            (ColumnRole::Subtopic, Role::Qrels) => {
                &["subtopic_id", "subtopic", "intent_id", "intent", "aspect_id", "aspect"]
            }
            (ColumnRole::Score, Role::Run) => {
                &["score", "sim", "prediction", "pred", "preds", "rating_pred"]
            }
            (ColumnRole::Rank, Role::Run) => &["rank"],
            // Spellings of Chroma, LlamaIndex, LangChain and other libraries.
            (ColumnRole::Start, _) => {
                &["start", "start_index", "start_char_idx", "start_offset", "begin"]
            }
            (ColumnRole::End, _) => &["end", "end_index", "end_char_idx", "end_offset", "stop"],
            (ColumnRole::Length, _) => &["length"],
            _ => &[],
        }
    }

    /// Fallback names, tried only where the usual names are not enough, so that files keep their
    /// earlier meaning. Ragas, LlamaIndex and OpenSearch use the names for columns with a list in
    /// each row, and Quepid for its tables.
    fn also_known_as(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (ColumnRole::Query, _) => &["user_input", "searchtext", "query_text"],
            (ColumnRole::Doc, Role::Qrels) => {
                &["reference_context_ids", "expected_ids", "relevant_docs"]
            }
            (ColumnRole::Doc, Role::Run) => {
                &["retrieved_context_ids", "retrieved_ids", "documentids"]
            }
            (ColumnRole::Rank, Role::Run) => &["doc_position", "position"],
            _ => &[],
        }
    }
}

/// The names by which a column of this content is recognised.
pub fn usual_names(what: &str, role: Role) -> &'static [&'static str] {
    ColumnRole::of(what).map_or(&[], |column| column.known_as(role))
}

/// The keys under which other tools keep the texts of documents, where ids were expected, and the
/// key that would have the ids.
const TEXTS: [(Role, &[&str], &str); 2] = [
    (
        Role::Qrels,
        &[
            "reference_contexts",
            "context",
            "expected_chunks",
            "retrieved_contexts",
            "retrieval_context",
        ],
        "reference_context_ids",
    ),
    (
        Role::Run,
        &["retrieved_contexts", "retrieval_context", "retrieved_chunks"],
        "retrieved_context_ids",
    ),
];

/// The columns of a table, or the keys of a record, that are read: `query=qid,doc=pid,score=s` by
/// the names in its header, or `query,-,doc,score` in the order of its columns, if it has no
/// header. Runs have a score or a rank, and qrels a grade, perhaps with a judge or a subtopic.
/// Where each row has a list of documents, `score=-` or `grade=-` says that no column of numbers
/// belongs to it: its order is the ranking, and its documents have grade 1.
///
/// ```
/// use laneval::ColumnNames;
/// let names: ColumnNames = "query=user,doc=item,score=sim".parse()?;
/// assert_eq!(names.to_string(), "query=user,doc=item,score=sim");
/// assert!("query,doc".parse::<ColumnNames>().is_err());
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnNames(Names);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Names {
    Named(Vec<(ColumnRole, String)>),
    /// The columns in order; `None` for a column that is not read.
    Ordered(Vec<Option<ColumnRole>>),
}

impl FromStr for ColumnNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        const WAYS: &str = "give columns as query=NAME,doc=NAME,score=NAME, or in their order, as \
                            query,-,doc,score, with - for one that \
                            is not read; judgments have grade in the place of score, and may have \
                            judge or subtopic; score=- and grade=- \
                            are for lists of documents without numbers";
        let wrong = |what: String| Error::Unanswerable(format!("{what}: {WAYS}"));
        let column = |name: &str| ColumnRole::of(name).map_err(wrong);
        let parts: Vec<&str> = text.split(',').collect();
        let names = if text.contains('=') {
            let named = parts.iter().map(|part| match part.split_once('=') {
                Some((name, of)) if !of.is_empty() => Ok((column(name)?, of.to_owned())),
                _ => Err(wrong(format!("`{part}` names no column"))),
            });
            Names::Named(named.collect::<Result<_, _>>()?)
        } else {
            let ordered = parts
                .iter()
                .map(|part| if *part == "-" { Ok(None) } else { column(part).map(Some) });
            Names::Ordered(ordered.collect::<Result<_, _>>()?)
        };
        ColumnNames::complete(names).map_err(wrong)
    }
}

impl fmt::Display for ColumnNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = match &self.0 {
            Names::Named(named) => {
                named.iter().map(|(column, name)| format!("{}={name}", column.name())).collect()
            }
            Names::Ordered(all) => {
                all.iter().map(|column| column.map_or("-", ColumnRole::name).to_owned()).collect()
            }
        };
        f.write_str(&parts.join(","))
    }
}

impl ColumnNames {
    /// Makes names from pairs of a content, `query`, `doc`, `grade`, `judge`, `subtopic`, `score`
    /// or `rank`, and the name of its column. Columns without a pair are recognised by their usual
    /// names.
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
        let named =
            names.into_iter().map(|(what, name)| Ok((ColumnRole::of(what)?, name.to_owned())));
        named
            .collect::<Result<_, _>>()
            .map(|named| ColumnNames(Names::Named(named)))
            .map_err(Error::Unanswerable)
    }

    /// Makes names from all columns of a table without a header, in their order: `query`, `doc`,
    /// `grade`, `judge`, `subtopic`, `score` or `rank`, and `None` for a column that is not read.
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
        let column = |name: Option<&str>| name.map(ColumnRole::of).transpose();
        let ordered: Result<_, String> = columns.into_iter().map(column).collect();
        let columns = ordered.and_then(|ordered| ColumnNames::complete(Names::Ordered(ordered)));
        columns.map_err(|wrong| Error::Unanswerable(format!("columns: {wrong}")))
    }

    /// Returns the columns if they suffice for judgments or results; otherwise returns a message.
    fn complete(names: Names) -> Result<Self, String> {
        let columns = ColumnNames(names);
        let (all, is) = (columns.columns(), |one: ColumnRole| columns.columns().contains(&one));
        if let Some(again) =
            all.iter().find(|one| all.iter().filter(|other| other == one).count() > 1)
        {
            return Err(format!("{} occurs twice", again.name()));
        }
        let results = is(ColumnRole::Score) || is(ColumnRole::Rank);
        let wrong = match () {
            () if !is(ColumnRole::Query) => "the query is missing",
            () if !is(ColumnRole::Doc) => "the doc is missing",
            () if is(ColumnRole::Grade) && results => {
                "judgments have a grade, and runs a score or a rank: there are both"
            }
            () if !is(ColumnRole::Grade) && !results => {
                "a score, a rank or, for judgments, a grade is missing"
            }
            () => return Ok(columns),
        };
        Err(wrong.to_owned())
    }

    /// Returns `columns` with `name` as the column of the document. Columns in order have no names,
    /// so recognised columns replace the columns in order.
    pub fn with_doc(columns: Option<&Self>, name: &str) -> Self {
        let known: &[(ColumnRole, String)] = match columns {
            Some(ColumnNames(Names::Named(named))) => named,
            _ => &[],
        };
        let others = known.iter().filter(|(column, _)| *column != ColumnRole::Doc).cloned();
        ColumnNames(Names::Named(others.chain([(ColumnRole::Doc, name.to_owned())]).collect()))
    }

    fn columns(&self) -> Vec<ColumnRole> {
        match &self.0 {
            Names::Named(named) => named.iter().map(|(column, _)| *column).collect(),
            Names::Ordered(all) => all.iter().flatten().copied().collect(),
        }
    }

    /// Returns whether the columns are columns of judgments.
    pub fn are_of_qrels(&self) -> bool {
        self.columns().contains(&ColumnRole::Grade)
    }

    /// The name that a content was given, if columns are named.
    pub fn name_of(&self, what: &str) -> Option<&str> {
        let Names::Named(named) = &self.0 else { return None };
        named.iter().find(|(column, _)| column.name() == what).map(|(_, name)| &name[..])
    }

    /// The number of columns, if they are named in order.
    pub fn ordered(&self) -> Option<usize> {
        match &self.0 {
            Names::Named(_) => None,
            Names::Ordered(all) => Some(all.len()),
        }
    }
}

/// The indices of the columns to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenColumns {
    pub query: usize,
    pub doc: usize,
    pub number: usize,
    pub value: NumberKind,
    /// The column of ranks, if scores are sorted.
    pub rank: Option<usize>,
    /// The column of judges or subtopics, if judgments are read by them.
    pub group: Option<usize>,
}

/// The indices of the columns that are read where each row has a list of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenLists {
    pub query: usize,
    pub docs: usize,
    /// The column of lists of grades or scores; without one, documents are in the order of their
    /// ranks, or have grade 1.
    pub numbers: Option<usize>,
    /// The column of judges or subtopics, if judgments are read by them.
    pub group: Option<usize>,
}

/// The columns that are read: with a document in each row, or a list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenRows {
    Single(ChosenColumns),
    Lists(ChosenLists),
}

/// What a column has in each row, as far as it is known before all are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellShape {
    Single,
    List,
    /// A null, which may stand for either.
    Null,
}

/// The reason why columns cannot be chosen.
#[derive(Debug, PartialEq, Eq)]
pub enum NotChosen {
    /// No name is known, or at most one.
    NoNames(Missing),
    /// Some names are known, but a needed one is missing.
    Missing(Missing),
    /// A column named by the user that is missing or repeated, as a message.
    Wrong(String),
}

/// A column, or a key of records, that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub(super) role: Role,
    /// The content of the column: `query`, `doc`, `grade`, `judge`, `subtopic`, `score`, `start` or
    /// `end`.
    pub what: &'static str,
    /// The names by which the column is recognised.
    pub known: Vec<&'static str>,
    /// The names in the text, in quotes.
    pub among: Vec<String>,
    /// The first known name among the names of the text, if any.
    pub met: Option<String>,
}

impl Missing {
    /// Makes a message about the column, with the option that gives names.
    pub fn message(&self, options: OptionStyle) -> String {
        let what = if self.what == "doc" { "document" } else { self.what };
        format!(
            "found no {what} among {}: known names are {}; `{}` names another",
            self.among.join(", "),
            self.known.join(", "),
            options.columns_by_name(self.role, Some(self.what)),
        )
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(OptionStyle::default()))
    }
}

/// Chooses columns that are named in order, with those of the facets of judgments by `by`.
///
/// # Errors
/// Names that are not in order, or lack a column; what to say of it.
pub fn in_order(
    names: &ColumnNames,
    role: Role,
    by: Option<JudgedBy>,
) -> Result<ChosenColumns, String> {
    let all: &[Option<ColumnRole>] = match &names.0 {
        Names::Ordered(all) => all,
        Names::Named(_) => &[],
    };
    let find = |column| all.iter().position(|other| *other == Some(column));
    chosen(find, &[ColumnRole::Grade, ColumnRole::Score, ColumnRole::Rank], by).ok_or_else(|| {
        let group = by.and_then(ColumnRole::of_groups).filter(|&group| find(group).is_none());
        format!("the columns `{names}` have no {}", group.map_or(role.number(), ColumnRole::name))
    })
}

/// Chooses columns through `find`, and the first column of `numbers` with a match.
fn chosen(
    find: impl Fn(ColumnRole) -> Option<usize>,
    numbers: &[ColumnRole],
    by: Option<JudgedBy>,
) -> Option<ChosenColumns> {
    let (column, number) = numbers.iter().find_map(|&column| Some((column, find(column)?)))?;
    let value = if column == ColumnRole::Rank { NumberKind::Rank } else { NumberKind::Number };
    let rank = find(ColumnRole::Rank).filter(|_| column == ColumnRole::Score);
    let group = match by.and_then(ColumnRole::of_groups) {
        Some(group) => Some(find(group)?),
        None => None,
    };
    Some(ChosenColumns {
        query: find(ColumnRole::Query)?,
        doc: find(ColumnRole::Doc)?,
        number,
        value,
        rank,
        group,
    })
}

/// Chooses the columns of these names that are read as results, or as judgments, perhaps by facets.
pub fn choose(
    names: &[&[u8]],
    role: Role,
    by: Option<JudgedBy>,
    given: Option<&ColumnNames>,
) -> Result<ChosenColumns, NotChosen> {
    let header = NamedHeader::of(names, &[], role, given)?;
    header.single(by).or_else(|usual| header.with_more_names().single(by).map_err(|_| usual))
}

/// Chooses the columns of these names, in some of which each row may have a list: `shapes` says
/// what the first row has.
pub fn choose_rows(
    names: &[&[u8]],
    shapes: &[CellShape],
    role: Role,
    by: Option<JudgedBy>,
    given: Option<&ColumnNames>,
) -> Result<ChosenRows, NotChosen> {
    let header = NamedHeader::of(names, shapes, role, given)?;
    let usual = match header.single(by) {
        Ok(chosen) if header.shape(chosen.doc) != CellShape::List => {
            return Ok(ChosenRows::Single(chosen));
        }
        usual => usual,
    };
    let more = header.with_more_names();
    let lists = || more.lists(by).transpose().map(|chosen| chosen.map(ChosenRows::Lists));
    lists().unwrap_or_else(|| match (more.single(by), usual) {
        (Ok(chosen), Err(_)) => Ok(ChosenRows::Single(chosen)),
        (_, Ok(chosen)) => Ok(ChosenRows::Single(chosen)),
        (Err(_), Err(usual)) => Err(header.texts().map_or(usual, NotChosen::Wrong)),
    })
}

/// A header's names, with the column names to look for.
#[derive(Clone, Copy)]
struct NamedHeader<'a> {
    names: &'a [&'a [u8]],
    role: Role,
    /// The columns of numbers, in order of preference; a single one is read.
    numbers: &'a [ColumnRole],
    /// The names given by the user.
    given: &'a [(ColumnRole, String)],
    /// What the columns have in each row; none if all have a single value.
    shapes: &'a [CellShape],
    /// Whether to try the additional names after the usual names.
    more: bool,
}

/// The name that stands for no column.
const NO_COLUMN: &str = "-";

impl<'a> NamedHeader<'a> {
    /// Makes the header from column names.
    ///
    /// # Errors
    /// A name given by the user that the header lacks.
    fn of(
        names: &'a [&'a [u8]],
        shapes: &'a [CellShape],
        role: Role,
        given: Option<&'a ColumnNames>,
    ) -> Result<Self, NotChosen> {
        let numbers: &[ColumnRole] = match role {
            Role::Qrels => &[ColumnRole::Grade],
            Role::Run => &[ColumnRole::Score, ColumnRole::Rank],
        };
        let given: &[(ColumnRole, String)] = match given {
            Some(ColumnNames(Names::Named(named))) => named,
            _ => &[],
        };
        let header = NamedHeader { names, role, numbers, given, shapes, more: false };
        for (column, name) in given {
            if header.place(name).is_none() && !(name == NO_COLUMN && numbers.contains(column)) {
                let (column, all) = (column.name(), header.all());
                return Err(NotChosen::Wrong(format!(
                    "there is no column `{name}` for the {column}: there are {all}"
                )));
            }
        }
        Ok(header)
    }

    /// Returns this header with additional names to try after the usual names.
    fn with_more_names(self) -> Self {
        NamedHeader { more: true, ..self }
    }

    /// The shape of the cells of the column `at`.
    fn shape(self, at: usize) -> CellShape {
        self.shapes.get(at).copied().unwrap_or(CellShape::Single)
    }

    /// Chooses columns that have a document in each row.
    fn single(self, by: Option<JudgedBy>) -> Result<ChosenColumns, NotChosen> {
        match chosen(|column| self.find(column), self.numbers, by) {
            Some(chosen) => {
                let read =
                    [Some(chosen.query), Some(chosen.doc), Some(chosen.number), chosen.group];
                self.without_twins(&read)?;
                Ok(chosen)
            }
            None => Err(self.lacks(by)),
        }
    }

    /// Chooses columns that have a list of documents in each row; `None` if none has.
    fn lists(self, by: Option<JudgedBy>) -> Result<Option<ChosenLists>, NotChosen> {
        let is_list = |at: usize| self.shape(at) != CellShape::Single;
        let is_given = |column: ColumnRole| self.given.iter().any(|(other, _)| *other == column);
        let Some(docs) = self.find_where(ColumnRole::Doc, is_list) else { return Ok(None) };
        if self.shape(docs) == CellShape::Null && !is_given(ColumnRole::Doc) && self.is_usual(docs)
        {
            return Ok(None);
        }
        let Some(query) = self.find_where(ColumnRole::Query, |at| !is_list(at)) else {
            return Err(self.lacks(by));
        };
        let group = by.and_then(ColumnRole::of_groups);
        let found = group.map(|group| self.find_where(group, |at| !is_list(at)));
        if found == Some(None) {
            return Err(self.lacks(by));
        }
        if is_given(ColumnRole::Rank) {
            return Err(NotChosen::Wrong(format!(
                "{} has lists, whose order is the rank: name a score, or say score=-",
                quoted(self.names[docs])
            )));
        }
        let number = self.numbers[0];
        let numbers =
            self.find_where(number, |at| is_given(number) || self.shape(at) == CellShape::List);
        self.without_lost_numbers(docs, numbers)?;
        let chosen = ChosenLists { query, docs, numbers, group: found.flatten() };
        self.without_twins(&[Some(query), Some(docs), numbers, chosen.group])?;
        Ok(Some(chosen))
    }

    /// Refuses numbers that stand beside a list of documents and would not be read: a null in the
    /// place of their list, and a list of ranks, which need not be in the order of the documents.
    fn without_lost_numbers(self, docs: usize, numbers: Option<usize>) -> Result<(), NotChosen> {
        if numbers.is_some() {
            return Ok(());
        }
        let (docs, number) = (quoted(self.names[docs]), self.numbers[0]);
        let none = format!("{}=-", number.name());
        if let Some(null) = self.find_where(number, |at| self.shape(at) == CellShape::Null) {
            let null = quoted(self.names[null]);
            return Err(NotChosen::Wrong(format!(
                "{null} is null beside the list {docs}: a list of {}s was expected, or leave \
                 {null} out, or say {none}",
                self.role.number()
            )));
        }
        let is_list = |at: usize| self.shape(at) == CellShape::List;
        match self.find_where(ColumnRole::Rank, is_list).filter(|_| self.role == Role::Run) {
            Some(ranks) => {
                let ranks = quoted(self.names[ranks]);
                Err(NotChosen::Wrong(format!(
                    "{ranks} is a list beside the list {docs}, whose order is the rank: put the \
                     documents in the order of their ranks and leave \
                     {ranks} out, or say {none} if they are in this order"
                )))
            }
            None => Ok(()),
        }
    }

    /// Checks whether the column `at` has one of the usual names of documents.
    fn is_usual(self, at: usize) -> bool {
        let usual = ColumnRole::Doc.known_as(self.role);
        usual.iter().any(|name| are_same(name.as_bytes(), self.names[at]))
    }

    /// Says that texts are here where ids were expected.
    fn texts(self) -> Option<String> {
        if self.with_more_names().find(ColumnRole::Doc).is_some() {
            return None;
        }
        let (_, known, ids) = TEXTS.iter().find(|(role, ..)| *role == self.role)?;
        let is_list = |at: &usize| self.shape(*at) == CellShape::List;
        let at = known.iter().find_map(|name| self.place(name).filter(is_list))?;
        let texts = crate::error::printable(self.names[at]);
        Some(format!("has texts ({texts}) and no ids: {ids} was expected"))
    }

    /// All names, for messages.
    fn all(self) -> String {
        self.names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
    }

    /// Finds the column of this name: as it is written, or else in another case.
    fn place(self, name: &str) -> Option<usize> {
        let exact = self.names.iter().position(|other| *other == name.as_bytes());
        exact.or_else(|| self.names.iter().position(|other| are_same(other, name.as_bytes())))
    }

    /// Finds the column of this role.
    fn find(self, column: ColumnRole) -> Option<usize> {
        self.find_where(column, |_| true)
    }

    /// Finds the column of a role among the columns that `fits` allows.
    fn find_where(self, column: ColumnRole, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let NamedHeader { given, numbers, .. } = self;
        match given.iter().find(|(other, _)| *other == column) {
            Some((_, name)) => self.place(name).filter(|&at| fits(at)),
            // A user who names a score or a rank means no other number.
            None if numbers.contains(&column)
                && given.iter().any(|(other, _)| numbers.contains(other)) =>
            {
                None
            }
            None => self.known(column).find_map(|name| self.place(name).filter(|&at| fits(at))),
        }
    }

    /// The names by which a column is recognised here.
    fn known(self, column: ColumnRole) -> impl Iterator<Item = &'static str> {
        let more = if self.more { column.also_known_as(self.role) } else { &[] };
        column.known_as(self.role).iter().chain(more).copied()
    }

    /// Rejects a chosen column if another column has the same name. A name spelled exactly as known
    /// or given beats a name that differs in case.
    fn without_twins(self, read: &[Option<usize>]) -> Result<(), NotChosen> {
        let names = self.names;
        let is_exact = |at: usize| {
            let is_known =
                |column: ColumnRole| self.known(column).any(|name| name.as_bytes() == names[at]);
            self.given.iter().any(|(_, name)| name.as_bytes() == names[at])
                || COLUMNS.iter().any(|&(_, column)| is_known(column))
        };
        let twin = |at: usize| {
            let is_twin = |(other, name): (usize, &&[u8])| {
                other != at && (*name == names[at] || !is_exact(at) && are_same(name, names[at]))
            };
            names.iter().enumerate().position(is_twin).map(|other| (names[at], names[other]))
        };
        match read.iter().flatten().copied().find_map(twin) {
            Some((name, other)) if name == other => {
                Err(NotChosen::Wrong(format!("{} occurs twice in {}", quoted(name), self.all())))
            }
            Some((name, other)) => Err(NotChosen::Wrong(format!(
                "{} and {} differ only in case: it is not clear which to read of {}",
                quoted(name),
                quoted(other),
                self.all()
            ))),
            None => Ok(()),
        }
    }

    /// Returns the error that names the missing column of a header.
    fn lacks(self, by: Option<JudgedBy>) -> NotChosen {
        let NamedHeader { names, role, numbers, given, .. } = self;
        let find = |column| self.find(column);
        let number = numbers.iter().find_map(|&column| find(column));
        let found = [find(ColumnRole::Query), find(ColumnRole::Doc), number];
        let column = match found {
            [None, ..] => ColumnRole::Query,
            [_, None, _] => ColumnRole::Doc,
            [_, _, None] => numbers[0],
            _ => by.and_then(ColumnRole::of_groups).unwrap_or(numbers[0]),
        };
        let mut known: Vec<&str> = self.with_more_names().known(column).collect();
        if column == ColumnRole::Score {
            known.extend(self.with_more_names().known(ColumnRole::Rank));
        }
        let mut among: Vec<String> =
            names.iter().take(MOST_NAMED).map(|name| quoted(name)).collect();
        if names.len() > MOST_NAMED {
            among.push(format!("{} more", names.len() - MOST_NAMED));
        }
        let met = found.iter().flatten().next().map(|&at| quoted(names[at]));
        let missing = Missing { role, what: column.name(), known, among, met };
        if given.is_empty() && found.iter().flatten().count() < 2 {
            NotChosen::NoNames(missing)
        } else {
            NotChosen::Missing(missing)
        }
    }
}

/// Checks whether two names are the same, whatever their case, and with `-` for `_`.
pub(super) fn are_same(one: &[u8], other: &[u8]) -> bool {
    let plain =
        |byte: u8| if byte == b'-' || byte == b' ' { b'_' } else { byte.to_ascii_lowercase() };
    one.len() == other.len() && std::iter::zip(one, other).all(|(&a, &b)| plain(a) == plain(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &str, role: Role, given: Option<&str>) -> Result<ChosenColumns, NotChosen> {
        let names: Vec<&[u8]> = names.split(' ').map(str::as_bytes).collect();
        choose(&names, role, None, given.map(|given| given.parse().unwrap()).as_ref())
    }

    #[test]
    fn columns_are_known_by_many_names() {
        let plain = |query, doc, number| ChosenColumns {
            query,
            doc,
            number,
            value: NumberKind::Number,
            rank: None,
            group: None,
        };
        assert_eq!(of("query-id corpus-id score", Role::Qrels, None), Ok(plain(0, 1, 2)));
        assert_eq!(of("Score Doc_ID QUERY_ID", Role::Run, None), Ok(plain(2, 1, 0)));
        assert_eq!(of("query query_id doc rel score", Role::Qrels, None), Ok(plain(1, 2, 3)));
        let ranked = ChosenColumns { rank: Some(2), ..plain(0, 1, 3) };
        assert_eq!(of("qid pid rank score", Role::Run, None), Ok(ranked));
        let rank = ChosenColumns { value: NumberKind::Rank, ..plain(0, 1, 2) };
        assert_eq!(of("qid pid rank", Role::Run, None), Ok(rank));
        assert_eq!(
            of("qid pid rank score", Role::Run, Some("query=qid,doc=pid,rank=rank")),
            Ok(rank)
        );
        assert_eq!(of("a b score c", Role::Run, Some("query=b,doc=a,score=c")), Ok(plain(1, 0, 3)));
        assert!(matches!(of("1 d1 0.5", Role::Run, None), Err(NotChosen::NoNames(_))));
        for (names, given, said) in [
            (
                "qid x score",
                None,
                "found no document among 'qid', 'x', 'score': known names are doc_id, docno, docid",
            ),
            (
                "qid doc x",
                None,
                "found no score among 'qid', 'doc', 'x': known names are score, sim, prediction, \
                 pred, preds, rating_pred, rank, doc_position, position;",
            ),
            ("x doc score", None, "`--columns query=NAME,doc=…,score=…` names another"),
            ("qid doc score score", None, "'score' occurs twice in"),
            (
                "qid doc score",
                Some("query=q,doc=doc,score=score"),
                "there is no column `q` for the query: there are 'qid'",
            ),
        ] {
            let message = match of(names, Role::Run, given) {
                Err(NotChosen::Wrong(message)) => message,
                Err(NotChosen::Missing(missing)) => missing.to_string(),
                other => panic!("{names}: {other:?}"),
            };
            assert!(message.contains(said), "{message}");
        }
    }

    /// A list of documents whose ranks or scores would not be read is refused: its order need not
    /// be the ranking.
    #[test]
    fn numbers_beside_a_list_are_read_or_refused() {
        use CellShape::{List, Null, Single};
        let of = |names: &str, shapes: &[CellShape], given: Option<&str>| {
            let names: Vec<&[u8]> = names.split(' ').map(str::as_bytes).collect();
            let given = given.map(|given| given.parse().unwrap());
            match choose_rows(&names, shapes, Role::Run, None, given.as_ref()) {
                Ok(ChosenRows::Lists(ChosenLists { docs, numbers, .. })) => Ok((docs, numbers)),
                Ok(other) => panic!("{other:?}"),
                Err(NotChosen::Wrong(message)) => Err(message),
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(of("query_id doc_id", &[Single, List], None), Ok((1, None)));
        assert_eq!(of("query_id doc_id score", &[Single, List, List], None), Ok((1, Some(2))));
        assert_eq!(
            of("query_id doc_id rank score", &[Single, List, List, List], None),
            Ok((1, Some(3)))
        );
        // Of a record, and not of its documents.
        assert_eq!(
            of("query_id doc_id rank score", &[Single, List, Single, Single], None),
            Ok((1, None))
        );
        let wrong = of("query_id doc_id rank", &[Single, List, List], None).unwrap_err();
        assert!(
            wrong.starts_with("'rank' is a list beside the list 'doc_id', whose order is the rank"),
            "{wrong}"
        );
        let given = Some("query=query_id,doc=doc_id,score=-");
        assert_eq!(of("query_id doc_id rank", &[Single, List, List], given), Ok((1, None)));
        let wrong = of("query_id doc_id score", &[Single, List, Null], None).unwrap_err();
        assert!(
            wrong.starts_with(
                "'score' is null beside the list 'doc_id': a list of scores was expected"
            ),
            "{wrong}"
        );
        assert_eq!(of("query_id doc_id score", &[Single, List, Null], given), Ok((1, None)));
    }

    #[test]
    fn the_number_of_a_document_in_an_index_is_not_its_id() {
        let plain = |doc| ChosenColumns {
            query: 0,
            doc,
            number: 4,
            value: NumberKind::Number,
            rank: Some(3),
            group: None,
        };
        assert_eq!(of("qid docid docno rank score", Role::Run, None), Ok(plain(2)));
        assert_eq!(
            of(
                "qid docid docno rank score",
                Role::Run,
                Some("query=qid,doc=docid,rank=rank,score=score")
            ),
            Ok(plain(1))
        );
        assert_eq!(of("qid docid doc_id rank score", Role::Run, None), Ok(plain(2)));
    }

    #[test]
    fn columns_of_groups_are_known_by_many_names() {
        let of = |names: &str, by, given: Option<&str>| {
            let names: Vec<&[u8]> = names.split(' ').map(str::as_bytes).collect();
            let given = given.map(|given| given.parse().unwrap());
            match choose(&names, Role::Qrels, Some(by), given.as_ref()) {
                Ok(ChosenColumns { query, doc, number, group, .. }) => {
                    Ok((query, group, doc, number))
                }
                Err(NotChosen::Missing(missing)) => Err(missing.to_string()),
                Err(other) => panic!("{other:?}"),
            }
        };
        let (judge, subtopic) = (JudgedBy::Judge, JudgedBy::Subtopic);
        assert_eq!(of("qid assessor docid rel", judge, None), Ok((0, Some(1), 2, 3)));
        assert_eq!(of("qid Judge-ID judge docid rel", judge, None), Ok((0, Some(1), 3, 4)));
        assert_eq!(of("qid subtopic_id docid rel", subtopic, None), Ok((0, Some(1), 2, 3)));
        let given = Some("query=qid,judge=who,doc=docid,grade=rel");
        assert_eq!(of("qid judge docid rel who", judge, given), Ok((0, Some(4), 2, 3)));
        let missing = of("qid subtopic docid rel", judge, None).unwrap_err();
        let said = "found no judge among 'qid', 'subtopic', 'docid', 'rel': known names are \
                    judge_id, judge, assessor_id, assessor, annotator_id, \
                    annotator, rater_id, rater; `--columns query=…,doc=…,grade=…,judge=NAME` names \
                    another";
        assert_eq!(missing, said);
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
        let (value, group) = (NumberKind::Number, None);
        assert_eq!(
            chosen,
            Ok(ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group })
        );
        let names: ColumnNames = "subtopic,query,doc,grade".parse().unwrap();
        let chosen = |by| in_order(&names, Role::Qrels, Some(by));
        assert_eq!(chosen(JudgedBy::Subtopic).unwrap().group, Some(0));
        let said = "the columns `subtopic,query,doc,grade` have no judge";
        assert_eq!(chosen(JudgedBy::Judge), Err(said.to_owned()));
        for (text, said) in [
            ("query,doc", "a score, a rank or"),
            ("query,score", "the doc is missing"),
            ("doc=a,score=b", "the query is missing"),
            ("query,doc,grade,score", "there are both"),
            ("query,doc,query,score", "query occurs twice"),
            ("query=a,doc,score=b", "`doc` names no column"),
            ("query,dok,score", "`dok` is none of"),
        ] {
            let error = text.parse::<ColumnNames>().unwrap_err().to_string();
            assert!(error.starts_with(said) || error.contains(said), "{error}");
        }
    }
}

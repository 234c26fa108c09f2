//! Judgments and results from Python dicts and tuples, collected as columns.
//!
//! Rows are copied into four columns as they are read, in the layout in which a table of Arrow
//! would lie: ids in one buffer with offsets of 64 bits (`LargeUtf8`), queries as codes of a
//! dictionary. So one reader serves dicts, tuples and tables, an id costs its bytes and 8 more
//! instead of an object, and once they are copied the interpreter is not needed.

use std::collections::HashMap;
use std::ops::Range;

use laneval::FacetKind;
use laneval::columns::{FacetQrelsBuilder, IdColumn, Integers, QrelsColumns, RunColumns};
use laneval::tables::{ColumnIndices, ListColumns};
use laneval::text::BareQuery;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString,
    PyTuple,
};

use crate::columns::{RowSpec, RowsRole, number_of};
use crate::errors::{type_error, wrong_type};
use crate::ffi::{self, ItemSink, TupleSink};
use crate::table;
use crate::text::shown;

/// Ids of queries or documents in one buffer of bytes.
pub struct IdBuffer {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Default for IdBuffer {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl IdBuffer {
    pub fn push(&mut self, id: &[u8]) {
        self.bytes.extend_from_slice(id);
        self.offsets.push(self.bytes.len() as i64);
    }

    fn append(&mut self, more: Self) {
        let start = self.bytes.len() as i64;
        self.offsets.extend(more.offsets[1..].iter().map(|end| start + end));
        self.bytes.extend(more.bytes);
    }

    /// Returns the number of ids in the buffer.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// Returns whether any id in the buffer is not empty.
    pub fn any(&self) -> bool {
        !self.bytes.is_empty()
    }

    pub fn text(&self) -> IdColumn<'_> {
        IdColumn::LargeUtf8 { offsets: &self.offsets, bytes: &self.bytes }
    }
}

/// Judgments or results that were copied from Python objects into columns.
#[derive(Default)]
pub struct OwnedRows {
    queries: IdBuffer,
    /// The query of each row.
    codes: Vec<u32>,
    docs: IdBuffer,
    values: Vec<f64>,
    /// The judgments if they are read by facet; there are no other rows then.
    pub facets: Option<FacetQrelsBuilder>,
    /// The first position of each row and the one behind its last, if rows are passages.
    span: Option<[Vec<i64>; 2]>,
    /// Where the rows of each record end, if records had lists.
    lists: Vec<usize>,
    /// The queries that have an empty mapping or list of documents.
    pub bare: Vec<BareQuery>,
    /// Whether judgments have no grades, so that each document has grade 1.
    pub is_ungraded: bool,
}

/// Returns the name of a kind of facet in messages, such as `judge` or `subtopic`.
fn name_of(by: FacetKind) -> String {
    if by == FacetKind::Preference { "group".to_owned() } else { by.to_string() }
}

/// Adds a judgment by facet (judge, subtopic or preference group) from Python objects: query,
/// facet, document.
fn push_judgment(
    rows: &mut FacetQrelsBuilder,
    [query, group, doc]: [&Bound<'_, PyAny>; 3],
    number: impl FnOnce() -> PyResult<f64>,
    name: &str,
    kind: &str,
) -> PyResult<()> {
    // The ids come first: an id of a wrong type is reported before a wrong number.
    with_id(query, name, "query", |query| {
        with_id(doc, name, "document", |doc| {
            with_id(group, name, kind, |group| {
                rows.push(query, group, doc, number()?);
                Ok(())
            })?
        })?
    })?
}

impl OwnedRows {
    /// Reads judgments by facet from a mapping of mappings of mappings: query, document, facet
    /// (such as judge), grade.
    pub fn from_facets(
        object: &Bound<'_, PyMapping>,
        spec: RowSpec<'_>,
        by: FacetKind,
        mut facets: FacetQrelsBuilder,
    ) -> PyResult<Self> {
        let mut rows = Self::default();
        let (name, group) = (spec.name, name_of(by));
        for_each(object, |query, of_query| {
            let Ok(of_query) = of_query.cast::<PyMapping>() else {
                let expected = format!("a mapping of documents to mappings of {group}s to grades");
                return Err(wrong_type(format!("{name}[{}]", shown(query)), of_query, expected));
            };
            if of_query.is_empty()? {
                with_id(query, name, "query", |query| {
                    let id = query.to_vec();
                    rows.bare.push(BareQuery { id, is_judged: false });
                })?;
            }
            for_each(of_query, |doc, of_doc| {
                let Ok(of_doc) = of_doc.cast::<PyMapping>() else {
                    let place = format!("{name}[{}][{}]", shown(query), shown(doc));
                    return Err(wrong_type(
                        place,
                        of_doc,
                        format!("a mapping of {group}s to grades"),
                    ));
                };
                for_each(of_doc, |group_id, grade| {
                    let ids = [query, group_id, doc];
                    let grade = number_of(grade, RowsRole::Qrels).map_err(|what| {
                        let [query, group_id, doc] = ids.map(shown);
                        let message = format!(
                            "the grade of document {doc} of query {query} by {group} {group_id} \
                             is {what}"
                        );
                        spec.problem(object.py(), 0, message)
                    });
                    push_judgment(&mut facets, ids, || grade, name, &group)
                })
            })
        })?;
        Ok(Self { facets: Some(facets), ..rows })
    }

    /// Reads judgments or results from a mapping of queries to mappings of documents to their
    /// grades or scores, or to lists or sets of documents.
    pub fn from_mapping(object: &Bound<'_, PyMapping>, spec: RowSpec<'_>) -> PyResult<Self> {
        let name = spec.name;
        let mut rows = Self::default();
        let mut first = None;
        for_each(object, |query, of_query| {
            let place = rows.queries.offsets.len() - 1;
            push_id(&mut rows.queries, query, name, "query")?;
            let code = u32::try_from(place)
                .map_err(|_| spec.problem(query.py(), 0, "more than 2³² queries"))?;
            let mut reader = MappingReader { rows: &mut rows, spec, query };
            let (is_listed, has_numbers) = match of_query.cast::<PyMapping>() {
                Ok(of_query) => {
                    match of_query.cast_exact::<PyDict>() {
                        Ok(dict) => ffi::for_each_item(dict, &mut reader)?,
                        Err(_) => for_each(of_query, |doc, number| reader.other(doc, number))?,
                    }
                    (false, true)
                }
                Err(_) => (true, reader.listed(of_query)?),
            };
            if rows.values.len() == rows.codes.len() {
                let id = rows.queries.get(place).to_vec();
                rows.bare.push(BareQuery { id, is_judged: is_listed });
            } else if spec.role == RowsRole::Run && *first.get_or_insert(has_numbers) != has_numbers
            {
                let [here, before] =
                    if has_numbers { ["scores", "none"] } else { ["no scores", "scores"] };
                let message = format!(
                    "the documents of query {} have {here}, and those of the queries before have \
                     {before}",
                    shown(query)
                );
                return Err(spec.problem(query.py(), 0, message));
            }
            // One code a row, all at once: `values` grew by the query's documents.
            rows.codes.resize(rows.values.len(), code);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Reads judgments or results from an iterable of tuples: query, document, grade or score.
    /// Judgments by facet are query, group, document, grade, and `facets` takes them. If the first
    /// is a mapping, all are mappings with keys as tables have columns. Named tuples of more items
    /// are read by their names.
    pub fn from_tuples(
        object: &Bound<'_, PyAny>,
        spec: RowSpec<'_>,
        facets: Option<FacetQrelsBuilder>,
    ) -> PyResult<Self> {
        let mut reading = TupleReader {
            rows: Self { facets, ..Self::default() },
            codes: QueryCodes::default(),
            keys: None,
            named: None,
            spec,
            group: spec.by.map(name_of),
        };
        match (object.cast_exact::<PyList>(), spec.by) {
            (Ok(list), Some(_)) => ffi::each_tuple::<4>(list, &mut reading)?,
            (Ok(list), None) => ffi::each_tuple::<3>(list, &mut reading)?,
            (Err(_), _) => {
                for (row, item) in (1u64..).zip(object.try_iter()?) {
                    reading.other(row, &item?)?;
                    // Signals are asked for now and then: each look takes longer than a row.
                    if row % (1 << 16) == 0 {
                        object.py().check_signals()?;
                    }
                }
            }
        }
        Ok(reading.rows)
    }

    /// Appends a row for each document of a record (a Python dict) that has a list of documents.
    /// Without scores the order of the list is the ranking.
    fn push_list(
        &mut self,
        record: &DictRecord<'_, '_>,
        group: Option<&str>,
        codes: &mut QueryCodes,
    ) -> PyResult<()> {
        let DictRecord { mapping, keys, spec, row } = *record;
        let (py, name, before) = (mapping.py(), spec.name, self.queries.offsets.len());
        let query = record.value(&keys.query)?;
        let code = codes.code(&query, &mut self.queries, name)?;
        let numbers = match &keys.numbers {
            None => None,
            Some(key) => Some(record.list(key)?),
        };
        let is_ranked = spec.role == RowsRole::Run && numbers.is_none();
        // Two lists without scores have no order between them.
        if is_ranked && before == self.queries.offsets.len() {
            let message = format!("query {} has a list already", shown(&query));
            return Err(spec.problem(py, row, message));
        }
        let docs = record.list(&keys.docs)?;
        if let Some(numbers) = numbers.as_ref().filter(|numbers| numbers.len() != docs.len()) {
            let message = keys.lists.length_mismatch(docs.len(), numbers.len());
            return Err(spec.problem(py, row, message));
        }
        if docs.is_empty() {
            let id = self.queries.get(code as usize).to_vec();
            self.bare.push(BareQuery { id, is_judged: true });
        }
        for (at, doc) in docs.iter().enumerate() {
            let number = || match &numbers {
                Some(numbers) => spec.number(&numbers[at], [&query, doc], row),
                None if is_ranked => Ok(-((at + 1) as f64)),
                None => Ok(1.0),
            };
            if let (Some(facets), Some(kind), Some(key)) = (&mut self.facets, group, &keys.group) {
                push_judgment(facets, [&query, &record.value(key)?, doc], number, name, kind)?;
                continue;
            }
            push_id(&mut self.docs, doc, name, "document")?;
            self.values.push(number()?);
            self.codes.push(code);
        }
        if row % 1024 == 0 { py.check_signals() } else { Ok(()) }
    }

    /// Appends a row of Python objects: a query, a document, and a score or grade.
    pub fn push_row(
        &mut self,
        query: &Bound<'_, PyAny>,
        doc: &Bound<'_, PyAny>,
        value: impl FnOnce() -> PyResult<f64>,
        codes: &mut QueryCodes,
        name: &str,
    ) -> PyResult<()> {
        let code = codes.code(query, &mut self.queries, name)?;
        push_id(&mut self.docs, doc, name, "document")?;
        self.values.push(value()?);
        self.codes.push(code);
        Ok(())
    }

    /// Returns the same rows as passages, each with a start position and the position behind its
    /// end.
    pub fn with_spans(self, starts: Vec<i64>, ends: Vec<i64>) -> Self {
        Self { span: Some([starts, ends]), ..self }
    }

    /// Returns the start and end positions of rows that are passages; `None` for other rows.
    fn positions(&self) -> Option<[Integers<'_>; 2]> {
        self.span.as_ref().map(|span| span.each_ref().map(|column| Integers::I64(column)))
    }

    /// Appends other judgments or results, which have no facets. A query that is in both has two
    /// entries with the same text.
    pub fn append(&mut self, more: Self) {
        let (first, before) = (self.queries.offsets.len() as u32 - 1, self.len());
        if !(self.lists.is_empty() && more.lists.is_empty()) {
            self.lists = self.record_ends();
            self.lists.extend(more.record_ends().into_iter().map(|end| before + end));
        }
        self.bare.extend(more.bare);
        self.queries.append(more.queries);
        self.codes.extend(more.codes.iter().map(|code| first + code));
        self.docs.append(more.docs);
        self.values.extend(more.values);
        if let (Some(all), Some(more)) = (&mut self.span, more.span) {
            all.iter_mut().zip(more).for_each(|(all, more)| all.extend(more));
        }
    }

    /// Returns the end of the rows of each record (a Python dict, perhaps with a list of
    /// documents). Of rows without lists each is a record.
    fn record_ends(&self) -> Vec<usize> {
        if self.lists.is_empty() { (1..=self.len()).collect() } else { self.lists.clone() }
    }

    /// Begins a query, to which the next rows belong.
    pub fn begin(&mut self, query: &[u8]) {
        self.queries.push(query);
    }

    /// Appends a row of the last query: a document with its score or grade.
    pub fn push(&mut self, doc: &[u8], value: f64) {
        self.codes.push((self.queries.offsets.len() - 2) as u32);
        self.docs.push(doc);
        self.values.push(value);
    }

    /// Returns the id of the query with this index.
    pub fn query(&self, at: usize) -> &[u8] {
        self.queries.get(at)
    }

    /// Returns a copy of the rows of some queries alone, if the rows of each query are together.
    /// Each query is given as its index and its rows.
    pub fn part(&self, queries: impl IntoIterator<Item = (usize, Range<usize>)>) -> Self {
        let mut part = Self::default();
        for (query, rows) in queries {
            part.begin(self.query(query));
            rows.for_each(|row| part.push(self.docs.get(row), self.values[row]));
        }
        part
    }

    /// Returns the number of judgments or results.
    pub fn len(&self) -> usize {
        self.facets.as_ref().map_or(self.codes.len(), FacetQrelsBuilder::len)
    }

    /// Returns the end of the rows of each record (a Python dict), if records had lists of
    /// documents.
    fn lists(&self) -> Option<&[usize]> {
        (!self.lists.is_empty()).then_some(&self.lists[..])
    }

    /// Calls `work` with the rows as columns of a run's results.
    pub fn with_records<R>(&self, work: impl FnOnce(&[RunColumns<'_>]) -> R) -> R {
        let names = self.queries.text();
        let query = IdColumn::Dictionary { codes: Integers::U32(&self.codes), values: &names };
        let columns = RunColumns::scored(query, self.docs.text(), &self.values);
        work(&[RunColumns { span: self.positions(), lists: self.lists(), ..columns }])
    }

    /// Calls `work` with the rows as columns of judgments.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[QrelsColumns<'_>]) -> R) -> R {
        let names = self.queries.text();
        let query = IdColumn::Dictionary { codes: Integers::U32(&self.codes), values: &names };
        let columns = QrelsColumns::new(query, self.docs.text(), &self.values);
        work(&[QrelsColumns { span: self.positions(), lists: self.lists(), ..columns }])
    }
}

/// A reader of the documents of one query, with scores or grades, from a Python mapping.
struct MappingReader<'r, 'py> {
    rows: &'r mut OwnedRows,
    spec: RowSpec<'r>,
    query: &'r Bound<'py, PyAny>,
}

impl<'py> MappingReader<'_, 'py> {
    /// Reads the documents of the query from a Python list or set, and returns whether they have
    /// grades or scores, in pairs. Without them each document of judgments has grade 1, and the
    /// order of a list is the ranking.
    fn listed(&mut self, docs: &Bound<'py, PyAny>) -> PyResult<bool> {
        let (py, spec, query) = (docs.py(), self.spec, self.query);
        let (name, value) = (spec.name, spec.role.value());
        let is_set = docs.is_instance_of::<PySet>() || docs.is_instance_of::<PyFrozenSet>();
        if !(is_set || docs.is_instance_of::<PyList>() || docs.is_instance_of::<PyTuple>()) {
            let expected =
                format!("a list of documents or a mapping of documents to their {value}s");
            return Err(wrong_type(format!("{name}[{}]", shown(query)), docs, expected));
        }
        let problem =
            |what: String| Err(spec.problem(py, 0, format!("query {}: {what}", shown(query))));
        let mut are_pairs = None;
        for (at, item) in docs.try_iter()?.enumerate() {
            let item = item?;
            let is_pair = item.is_instance_of::<PyTuple>() || item.is_instance_of::<PyList>();
            if *are_pairs.get_or_insert(is_pair) != is_pair {
                return problem(format!("some documents have a {value}, and others have none"));
            }
            if is_pair {
                let Ok([doc, number]) = item.extract::<[Bound<'py, PyAny>; 2]>() else {
                    let item = shown(&item);
                    return problem(format!("{item} was found: (document, {value}) was expected"));
                };
                self.other(&doc, &number)?;
                continue;
            }
            if is_set && spec.role == RowsRole::Run {
                let message = "a set of documents has no order: a list in the order of the \
                               ranking, or a score for each document, was expected";
                return problem(message.to_owned());
            }
            push_id(&mut self.rows.docs, &item, name, "document")?;
            let is_run = spec.role == RowsRole::Run;
            self.rows.values.push(if is_run { -((at + 1) as f64) } else { 1.0 });
        }
        Ok(are_pairs == Some(true))
    }
}

impl<'py> ItemSink<'py> for MappingReader<'_, 'py> {
    fn plain(&mut self, doc: &[u8], number: f64) -> bool {
        // NaN goes to `other`, which has the objects for its message.
        let is_number = !number.is_nan();
        if is_number {
            self.rows.docs.push(doc);
            self.rows.values.push(number);
        }
        is_number
    }

    fn other(&mut self, doc: &Bound<'py, PyAny>, number: &Bound<'py, PyAny>) -> PyResult<()> {
        let Self { rows, spec, query } = self;
        push_id(&mut rows.docs, doc, spec.name, "document")?;
        rows.values.push(number_of(number, spec.role).map_err(|what| {
            let (value, doc, query) = (spec.role.value(), shown(doc), shown(query));
            let message = format!("the {value} of document {doc} of query {query} is {what}");
            spec.problem(number.py(), 0, message)
        })?);
        Ok(())
    }
}

/// A reader of judgments or results from a Python iterable of tuples or dicts, row by row.
struct TupleReader<'r, 'py> {
    rows: OwnedRows,
    codes: QueryCodes,
    /// The keys of the first mapping.
    keys: Option<DictKeys<'py>>,
    /// The places of the items of named tuples, if the first tuple has names that say more than the
    /// order.
    named: Option<Option<Vec<usize>>>,
    spec: RowSpec<'r>,
    /// The name of a group in messages.
    group: Option<String>,
}

impl<'py> TupleSink<'py> for TupleReader<'_, 'py> {
    fn plain(&mut self, ids: &[&[u8]], number: f64) -> bool {
        if number.is_nan() || matches!(self.named, Some(Some(_))) {
            return false;
        }
        // A tuple without names is the first: no later one is asked for any.
        self.named = Some(None);
        match (&mut self.rows.facets, ids) {
            (Some(facets), &[query, group, doc]) => facets.push(query, group, doc, number),
            (None, &[query, doc]) => {
                let code = self.codes.code_for_bytes(query, &mut self.rows.queries);
                self.rows.docs.push(doc);
                self.rows.values.push(number);
                self.rows.codes.push(code);
            }
            _ => return false,
        }
        true
    }

    fn other(&mut self, row: u64, item: &Bound<'py, PyAny>) -> PyResult<()> {
        let Self { rows, codes, keys, named, spec, group } = self;
        let (py, spec, group) = (item.py(), *spec, group.as_deref());
        let mut item = item.clone();
        // Tuples are tried first, because asking whether an object is a mapping takes longer than
        // reading a row.
        if let Ok(tuple) = item.cast::<PyTuple>() {
            if named.is_none() {
                *named = Some(named_items(tuple, spec)?);
            }
            if let Some(Some(places)) = &named {
                let items =
                    places.iter().map(|&at| tuple.get_item(at)).collect::<PyResult<Vec<_>>>();
                item = PyTuple::new(py, items.unwrap_or_default())?.into_any();
            }
        } else if let Ok(mapping) = item.cast::<PyMapping>() {
            if keys.is_none() {
                *keys = Some(keys_of(mapping, spec)?);
            }
            match &keys {
                Some(DictKeys::Lists(lists)) => {
                    let record = DictRecord { mapping, keys: lists, spec, row };
                    rows.push_list(&record, group, codes)?;
                    rows.lists.push(rows.codes.len());
                    return Ok(());
                }
                Some(DictKeys::Single(keys)) => {
                    rows.is_ungraded = keys.len() == if group.is_some() { 3 } else { 2 };
                    item = tuple_of(mapping, keys, rows.is_ungraded, spec, row)?;
                }
                None => {}
            }
        }
        let fields = RowFields::from_tuple(&item, group.is_some()).map_err(|_| {
            let group = group.map_or(String::new(), |group| format!("{group}, "));
            let expected = format!("(query, {group}document, {})", spec.role.value());
            let message = format!("{} was found: {expected} was expected", shown(&item));
            spec.problem(py, row, message)
        })?;
        let RowFields { query, group: group_id, doc, number } = &fields;
        let number = || spec.number(number, [query, doc], row);
        if let (Some(facets), Some(group_id), Some(kind)) = (&mut rows.facets, group_id, group) {
            return push_judgment(facets, [query, group_id, doc], number, spec.name, kind);
        }
        rows.push_row(query, doc, number, codes, spec.name)
    }
}

/// Calls `visit` with each item of a Python mapping, and checks for signals meanwhile.
fn for_each<'py>(
    mapping: &Bound<'py, PyMapping>,
    mut visit: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let py = mapping.py();
    if let Ok(dict) = mapping.cast_exact::<PyDict>() {
        for (at, (key, value)) in dict.iter().enumerate() {
            visit(&key, &value)?;
            if at % 1024 == 1023 {
                py.check_signals()?;
            }
        }
        return Ok(());
    }
    for item in mapping.items()?.iter() {
        let (key, value) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
        visit(&key, &value)?;
    }
    Ok(())
}

/// The codes of query ids: their numbers in the order in which they are first met.
#[derive(Default)]
pub struct QueryCodes {
    known: HashMap<Vec<u8>, u32>,
    /// The last id. Rows of a query mostly follow one another: it is compared before the map is
    /// asked.
    last: Option<(Vec<u8>, u32)>,
}

impl QueryCodes {
    /// Returns the code of the query with this Python id, which is added to `queries` if it is new.
    fn code(
        &mut self,
        query: &Bound<'_, PyAny>,
        queries: &mut IdBuffer,
        name: &str,
    ) -> PyResult<u32> {
        with_id(query, name, "query", |id| self.code_for_bytes(id, queries))
    }

    /// Returns the code of the query with these bytes as its id, which is added to `queries` if it
    /// is new.
    fn code_for_bytes(&mut self, id: &[u8], queries: &mut IdBuffer) -> u32 {
        let Self { known, last } = self;
        match last {
            Some((last, code)) if last.as_slice() == id => *code,
            _ => {
                let next = known.len() as u32;
                let code = *known.entry(id.to_vec()).or_insert_with(|| {
                    queries.push(id);
                    next
                });
                *last = Some((id.to_vec(), code));
                code
            }
        }
    }
}

/// The fields of a judgment or result that is a Python tuple: query, perhaps a facet, document,
/// number.
struct RowFields<'py> {
    query: Bound<'py, PyAny>,
    /// The group of a judgment, if judgments are read by facet.
    group: Option<Bound<'py, PyAny>>,
    doc: Bound<'py, PyAny>,
    number: Bound<'py, PyAny>,
}

impl<'py> RowFields<'py> {
    /// Reads the fields of a Python tuple of three, or of four with a facet (judge, subtopic,
    /// preference group).
    fn from_tuple(item: &Bound<'py, PyAny>, grouped: bool) -> PyResult<Self> {
        if let Ok(tuple) = item.cast::<PyTuple>()
            && tuple.len() == if grouped { 4 } else { 3 }
        {
            let group = if grouped { Some(tuple.get_item(1)?) } else { None };
            let [doc, number] = [tuple.len() - 2, tuple.len() - 1].map(|at| tuple.get_item(at));
            return Ok(Self { query: tuple.get_item(0)?, group, doc: doc?, number: number? });
        }
        if grouped {
            let [query, group, doc, number] = item.extract::<[Bound<'py, PyAny>; 4]>()?;
            return Ok(Self { query, group: Some(group), doc, number });
        }
        let [query, doc, number] = item.extract::<[Bound<'py, PyAny>; 3]>()?;
        Ok(Self { query, group: None, doc, number })
    }
}

/// Returns the values of a record (a Python mapping) as a tuple, in the order of `keys`; if
/// judgments have no grades (`is_ungraded`), with grade 1.
fn tuple_of<'py>(
    mapping: &Bound<'py, PyMapping>,
    keys: &[Bound<'py, PyAny>],
    is_ungraded: bool,
    spec: RowSpec<'_>,
    row: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let mut values = Vec::with_capacity(4);
    for key in keys {
        values.push(spec.field(mapping, key, row)?);
    }
    if is_ungraded {
        values.push(PyFloat::new(mapping.py(), 1.0).into_any());
    }
    Ok(PyTuple::new(mapping.py(), values)?.into_any())
}

/// The keys by which records (Python dicts) of judgments or results are read.
enum DictKeys<'py> {
    /// In the order of the fields of tuples; judgments may have no grades.
    Single(Vec<Bound<'py, PyAny>>),
    Lists(DictLists<'py>),
}

/// The keys of records (Python dicts) that have a list of documents each.
struct DictLists<'py> {
    query: Bound<'py, PyAny>,
    docs: Bound<'py, PyAny>,
    numbers: Option<Bound<'py, PyAny>>,
    group: Option<Bound<'py, PyAny>>,
    lists: ListColumns,
}

/// A record (a Python dict) that has a list of documents, with its row number for messages.
#[derive(Clone, Copy)]
struct DictRecord<'r, 'py> {
    mapping: &'r Bound<'py, PyMapping>,
    keys: &'r DictLists<'py>,
    spec: RowSpec<'r>,
    row: u64,
}

impl<'py> DictRecord<'_, 'py> {
    fn value(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.spec.field(self.mapping, key, self.row)
    }

    fn list(&self, key: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let value = self.value(key)?;
        if !is_list(&value) {
            let message = format!("{} is {}: a list was expected", shown(key), shown(&value));
            return Err(self.spec.problem(self.mapping.py(), self.row, message));
        }
        value.try_iter()?.collect()
    }
}

/// Returns whether a Python object is a list of values, perhaps an array.
pub fn is_list(object: &Bound<'_, PyAny>) -> bool {
    let is_other = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.cast::<PyMapping>().is_ok();
    !is_other && object.len().is_ok() && object.try_iter().is_ok()
}

/// Returns the keys of a Python mapping, and their texts.
pub fn keys_and_names<'py>(
    mapping: &Bound<'py, PyMapping>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<String>)> {
    let keys: Vec<_> = mapping.keys()?.iter().collect();
    let names = keys.iter().map(|key| Ok(key.str()?.to_string())).collect::<PyResult<_>>()?;
    Ok((keys, names))
}

/// Returns the keys by which records (Python dicts) are read, found from the first record.
fn keys_of<'py>(first: &Bound<'py, PyMapping>, spec: RowSpec<'_>) -> PyResult<DictKeys<'py>> {
    let (keys, names) = keys_and_names(first)?;
    let lists: Vec<bool> = first.values()?.iter().map(|value| is_list(&value)).collect();
    let ColumnIndices { query, doc, number, group, lists, .. } =
        table::places(first.py(), &names, &lists, spec)?;
    table::warn_of_docid(first.py(), &names, doc, spec)?;
    if let Some(lists) = lists {
        return Ok(DictKeys::Lists(DictLists {
            query: keys[query].clone(),
            docs: keys[doc].clone(),
            numbers: number.map(|at| keys[at].clone()),
            group: group.map(|at| keys[at].clone()),
            lists,
        }));
    }
    // Judgments have no ranks, so without a number they have no grades.
    if number.is_none() && spec.role == RowsRole::Run {
        let name = spec.name;
        return Err(type_error(format!(
            "{name}: records have ranks and no scores: sort them into {{query: {{document: \
             score}}}}"
        )));
    }
    let all = [Some(query), group, Some(doc), number];
    Ok(DictKeys::Single(all.into_iter().flatten().map(|at| keys[at].clone()).collect()))
}

/// Returns the indices of the items to read in named tuples, if their names say more than their
/// order. Named tuples of three items, or four by facet, are read in their order.
fn named_items(first: &Bound<'_, PyTuple>, spec: RowSpec<'_>) -> PyResult<Option<Vec<usize>>> {
    let Ok(names) = first.getattr("_fields").and_then(|names| names.extract::<Vec<String>>())
    else {
        return Ok(None);
    };
    if names.len() <= 3 {
        return Ok(None);
    }
    let places = table::places(first.py(), &names, &[], spec);
    let ColumnIndices { query, doc, number, group, .. } = match places {
        Err(_) if spec.by.is_some() && names.len() == 4 => return Ok(None),
        places => places?,
    };
    let Some(number) = number else { return Ok(None) };
    Ok(Some([Some(query), group, Some(doc), Some(number)].into_iter().flatten().collect()))
}

/// Appends an id from Python to `ids`: text, bytes, or an integer as its decimal text.
fn push_id(ids: &mut IdBuffer, id: &Bound<'_, PyAny>, name: &str, what: &str) -> PyResult<()> {
    with_id(id, name, what, |id| ids.push(id))
}

/// Passes the bytes of an id from Python to `take`: text, bytes, or an integer as its decimal text.
fn with_id<T>(
    id: &Bound<'_, PyAny>,
    name: &str,
    what: &str,
    take: impl FnOnce(&[u8]) -> T,
) -> PyResult<T> {
    if let Ok(text) = id.cast::<PyString>() {
        return Ok(take(text.to_str()?.as_bytes()));
    }
    if let Ok(bytes) = id.cast::<PyBytes>() {
        return Ok(take(bytes.as_bytes()));
    }
    // True is an int in Python, and as an id always a slip.
    let is_integer = !id.is_instance_of::<PyBool>() && !id.is_instance_of::<PyFloat>();
    match id.call_method0("__index__") {
        Ok(integer) if is_integer && integer.is_instance_of::<PyInt>() => {
            Ok(take(integer.str()?.to_str()?.as_bytes()))
        }
        _ => {
            let place = format!("{name}: the id {} of a {what}", shown(id));
            Err(wrong_type(place, id, "a str or an int"))
        }
    }
}

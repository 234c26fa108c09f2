//! Results and judgments from Python objects, collected as columns: dicts of dicts, or tuples.
//!
//! Rows are copied into four columns as they are read, in the layout in which a table of Arrow
//! would lie: ids in one buffer with offsets of 64 bits (`LargeUtf8`), queries as codes of a
//! dictionary. So one reader serves dicts, tuples and tables, an id costs its bytes and 8 more
//! instead of an object, and once they are copied the interpreter is not needed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use laneval::JudgedBy;
use laneval::columns::{Integers, Judgments, JudgmentsByFacet, Records, Text};
use laneval::tables::{ListColumns, Places};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::columns::{NamedColumns as Asked, RowsRole};
use crate::errors::problem;
use crate::ffi::{self, TakeTuples};
use crate::table;

/// Ids in one buffer.
pub struct IdBuffer {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl IdBuffer {
    pub fn new() -> Self {
        IdBuffer { offsets: vec![0], bytes: Vec::new() }
    }

    pub fn push(&mut self, id: &[u8]) {
        self.bytes.extend_from_slice(id);
        self.offsets.push(self.bytes.len() as i64);
    }

    fn append(&mut self, more: IdBuffer) {
        let start = self.bytes.len() as i64;
        self.offsets.extend(more.offsets[1..].iter().map(|end| start + end));
        self.bytes.extend(more.bytes);
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// Whether there is an id that is not empty.
    pub fn any(&self) -> bool {
        !self.bytes.is_empty()
    }

    pub fn text(&self) -> Text<'_> {
        Text::LargeUtf8 { offsets: &self.offsets, bytes: &self.bytes }
    }
}

/// Rows in memory of their own.
pub struct OwnedRows {
    queries: IdBuffer,
    /// The query of each row.
    codes: Vec<u32>,
    docs: IdBuffer,
    values: Vec<f64>,
    /// The judgments if they are read by facet; there are no other rows then.
    pub facets: Option<JudgmentsByFacet>,
    /// The first position of each row and the one behind its last, if rows are passages.
    span: Option<[Vec<i64>; 2]>,
    /// Where the rows of each record end, if records had lists.
    lists: Vec<usize>,
    /// The queries that have an empty mapping or list of documents.
    pub bare: Vec<Vec<u8>>,
}

/// The name of a group of judgments in messages.
fn name_of(by: JudgedBy) -> String {
    if by == JudgedBy::Preference { "group".to_owned() } else { by.to_string() }
}

/// Passes judgments by facet of a mapping of mappings of mappings to `rows`.
fn facets_of_mapping(
    object: &Bound<'_, PyMapping>,
    name: &str,
    by: JudgedBy,
    (rows, bare): (&mut JudgmentsByFacet, &mut Vec<Vec<u8>>),
) -> PyResult<()> {
    let (py, group) = (object.py(), name_of(by));
    let expected = |what: String, of: &Bound<'_, PyAny>, inner: &str| {
        PyTypeError::new_err(format!("{what} is of {}: {inner} was expected", of.get_type()))
    };
    for_each(object, |query, of_query| {
        let Ok(of_query) = of_query.cast::<PyMapping>() else {
            let inner = format!("a mapping of documents to mappings of {group}s to grades");
            return Err(expected(format!("{name}[{}]", shown(query)), of_query, &inner));
        };
        if of_query.is_empty()? {
            with_id(query, name, "query", |query| bare.push(query.to_vec()))?;
        }
        for_each(of_query, |doc, of_doc| {
            let Ok(of_doc) = of_doc.cast::<PyMapping>() else {
                let inner = format!("a mapping of {group}s to grades");
                return Err(expected(
                    format!("{name}[{}][{}]", shown(query), shown(doc)),
                    of_doc,
                    &inner,
                ));
            };
            for_each(of_doc, |of, grade| {
                let number = || {
                    number_of(grade, RowsRole::Qrels).map_err(|what| {
                        let (query, doc, of) = (shown(query), shown(doc), shown(of));
                        let message = format!(
                            "the grade of document {doc} of query {query} by {group} {of} is {what}"
                        );
                        problem(py, name, 0, message)
                    })
                };
                push_judgment(rows, [query, of, doc], number, (name, &group))
            })
        })
    })
}

/// Takes a judgment by facet of these objects: query, group, document.
fn push_judgment(
    rows: &mut JudgmentsByFacet,
    [query, group, doc]: [&Bound<'_, PyAny>; 3],
    number: impl FnOnce() -> PyResult<f64>,
    (name, kind): (&str, &str),
) -> PyResult<()> {
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
    /// Reads judgments by facet from a mapping of mappings of mappings: query, document, group,
    /// grade.
    pub fn of_facets(
        object: &Bound<'_, PyMapping>,
        name: &str,
        by: JudgedBy,
        mut facets: JudgmentsByFacet,
    ) -> PyResult<Self> {
        let mut rows = OwnedRows::new();
        facets_of_mapping(object, name, by, (&mut facets, &mut rows.bare))?;
        Ok(OwnedRows { facets: Some(facets), ..rows })
    }

    /// Reads the rows of a mapping of mappings: query, document, number.
    pub fn of_mapping(object: &Bound<'_, PyMapping>, name: &str, role: RowsRole) -> PyResult<Self> {
        let (py, value) = (object.py(), role.value());
        let mut rows = OwnedRows::new();
        for_each(object, |query, of_query| {
            let place = rows.queries.offsets.len() - 1;
            push_id(&mut rows.queries, query, name, "query")?;
            let code = u32::try_from(place)
                .map_err(|_| problem(query.py(), name, 0, "more than 2³² queries".to_owned()))?;
            let Ok(of_query) = of_query.cast::<PyMapping>() else {
                let of = of_query.get_type();
                let query = shown(query);
                return Err(PyTypeError::new_err(format!(
                    "{name}[{query}] is of {of}: a mapping of documents to their {value}s was \
                     expected"
                )));
            };
            let OwnedRows { queries, codes, docs, values, bare, .. } = &mut rows;
            let (docs, values) = (RefCell::new(docs), RefCell::new(values));
            let text = |doc: &[u8], number: f64| {
                // What is not fine goes to `any`, which has the objects for its message.
                let fine = !number.is_nan();
                if fine {
                    docs.borrow_mut().push(doc);
                    values.borrow_mut().push(number);
                }
                fine
            };
            let any = |doc: &Bound<'_, PyAny>, number: &Bound<'_, PyAny>| {
                push_id(&mut docs.borrow_mut(), doc, name, "document")?;
                let number = number_of(number, role).map_err(|what| {
                    let (query, doc) = (shown(query), shown(doc));
                    let message =
                        format!("the {value} of document {doc} of query {query} is {what}");
                    problem(py, name, 0, message)
                })?;
                values.borrow_mut().push(number);
                Ok(())
            };
            match of_query.cast_exact::<PyDict>() {
                Ok(dict) => ffi::for_each_item(dict, text, any)?,
                Err(_) => for_each(of_query, any)?,
            }
            if values.borrow().len() == codes.len() {
                bare.push(queries.get(place).to_vec());
            }
            // One code a row, all at once: `values` grew by the query's documents.
            codes.resize(values.borrow().len(), code);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Reads the rows of an iterable of tuples: query, document, number; or query, group, document,
    /// grade for judgments by facet, which `facets` takes. If the first is a mapping, all are
    /// mappings with keys as tables have columns. Named tuples of more items are read by their
    /// names.
    pub fn of_tuples(
        object: &Bound<'_, PyAny>,
        name: &str,
        (role, by): (RowsRole, Option<JudgedBy>),
        columns: &Asked,
        facets: Option<JudgmentsByFacet>,
    ) -> PyResult<Self> {
        let mut reading = TupleReader {
            rows: OwnedRows { facets, ..OwnedRows::new() },
            codes: QueryCodes::new(),
            keys: None,
            named: None,
            name,
            role,
            by,
            group: by.map(name_of),
            columns,
        };
        match (object.cast_exact::<PyList>(), by) {
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

    /// Appends the rows of a record that has a list of documents. Without scores the order of the
    /// list is the ranking.
    fn push_list(
        &mut self,
        record: &DictRecord<'_, '_>,
        (role, group): (RowsRole, Option<&str>),
        codes: &mut QueryCodes,
    ) -> PyResult<()> {
        let DictRecord { mapping, keys, name, row } = *record;
        let (py, before) = (mapping.py(), self.queries.offsets.len());
        let query = record.value(&keys.query)?;
        let code = codes.of(&query, &mut self.queries, name)?;
        let numbers = match &keys.numbers {
            None => None,
            Some(key) => Some(record.list(key)?),
        };
        let is_ranked = role == RowsRole::Run && numbers.is_none();
        if is_ranked && before == self.queries.offsets.len() {
            let message = format!("query {} has a list already", shown(&query));
            return Err(problem(py, name, row, message));
        }
        let docs = record.list(&keys.docs)?;
        if let Some(numbers) = numbers.as_ref().filter(|numbers| numbers.len() != docs.len()) {
            return Err(problem(py, name, row, keys.lists.unlike(docs.len(), numbers.len())));
        }
        if docs.is_empty() {
            self.bare.push(self.queries.get(code as usize).to_vec());
        }
        for (at, doc) in docs.iter().enumerate() {
            let number = || match &numbers {
                Some(numbers) => number_of(&numbers[at], role).map_err(|what| {
                    let message =
                        format!("the {} of document {} is {what}", role.value(), shown(doc));
                    problem(py, name, row, message)
                }),
                None if is_ranked => Ok(-((at + 1) as f64)),
                None => Ok(1.0),
            };
            if let (Some(facets), Some(kind), Some(key)) = (&mut self.facets, group, &keys.group) {
                push_judgment(facets, [&query, &record.value(key)?, doc], number, (name, kind))?;
                continue;
            }
            push_id(&mut self.docs, doc, name, "document")?;
            self.values.push(number()?);
            self.codes.push(code);
        }
        if row % 1024 == 0 { py.check_signals() } else { Ok(()) }
    }

    /// Makes rows that are still empty.
    pub fn new() -> Self {
        OwnedRows {
            queries: IdBuffer::new(),
            codes: Vec::new(),
            docs: IdBuffer::new(),
            values: Vec::new(),
            facets: None,
            span: None,
            lists: Vec::new(),
            bare: Vec::new(),
        }
    }

    /// Appends a row of objects.
    pub fn push_row(
        &mut self,
        (query, doc): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        value: impl FnOnce() -> PyResult<f64>,
        codes: &mut QueryCodes,
        name: &str,
    ) -> PyResult<()> {
        let code = codes.of(query, &mut self.queries, name)?;
        push_id(&mut self.docs, doc, name, "document")?;
        self.values.push(value()?);
        self.codes.push(code);
        Ok(())
    }

    /// The same rows as passages, each from a position to before another one.
    pub fn with_spans(self, starts: Vec<i64>, ends: Vec<i64>) -> Self {
        OwnedRows { span: Some([starts, ends]), ..self }
    }

    /// The positions of passages.
    fn positions(&self) -> Option<[Integers<'_>; 2]> {
        self.span.as_ref().map(|span| span.each_ref().map(|of| Integers::I64(of)))
    }

    /// Appends other rows without groups. A query that is in both has two entries with the same
    /// text.
    pub fn append(&mut self, more: OwnedRows) {
        let (first, before) = (self.queries.offsets.len() as u32 - 1, self.len());
        if !(self.lists.is_empty() && more.lists.is_empty()) {
            // Of rows without lists each is a record.
            let ends = |rows: &OwnedRows| {
                if rows.lists.is_empty() { (1..=rows.len()).collect() } else { rows.lists.clone() }
            };
            self.lists = ends(self);
            self.lists.extend(ends(&more).into_iter().map(|end| before + end));
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

    /// Begins a query.
    pub fn begin(&mut self, query: &[u8]) {
        self.queries.push(query);
    }

    /// Appends a row of the last query.
    pub fn push(&mut self, doc: &[u8], value: f64) {
        self.codes.push((self.queries.offsets.len() - 2) as u32);
        self.docs.push(doc);
        self.values.push(value);
    }

    /// The id of a query, by its index.
    pub fn query(&self, at: usize) -> &[u8] {
        self.queries.get(at)
    }

    /// The rows of some queries, if the rows of each are together; each query is given as its index
    /// and its rows.
    pub fn part(&self, queries: impl IntoIterator<Item = (usize, Range<usize>)>) -> Self {
        let mut part = OwnedRows::new();
        for (query, rows) in queries {
            part.begin(self.query(query));
            rows.for_each(|row| part.push(self.docs.get(row), self.values[row]));
        }
        part
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.facets.as_ref().map_or(self.codes.len(), JudgmentsByFacet::len)
    }

    /// Where the rows of each record end, if records had lists.
    fn lists(&self) -> Option<&[usize]> {
        (!self.lists.is_empty()).then_some(&self.lists[..])
    }

    /// Calls `work` with the rows as results.
    pub fn with_records<R>(&self, work: impl FnOnce(&[Records<'_>]) -> R) -> R {
        let names = self.queries.text();
        let query = Text::Coded { codes: Integers::U32(&self.codes), values: &names };
        let (span, lists) = (self.positions(), self.lists());
        work(&[Records { span, lists, ..Records::scored(query, self.docs.text(), &self.values) }])
    }

    /// Calls `work` with the rows as judgments.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[Judgments<'_>]) -> R) -> R {
        let names = self.queries.text();
        let query = Text::Coded { codes: Integers::U32(&self.codes), values: &names };
        let (span, lists) = (self.positions(), self.lists());
        work(&[Judgments { span, lists, ..Judgments::new(query, self.docs.text(), &self.values) }])
    }
}

/// A reader of the rows of an iterable, from row to row.
struct TupleReader<'r, 'py> {
    rows: OwnedRows,
    codes: QueryCodes,
    /// The keys of the first mapping.
    keys: Option<DictKeys<'py>>,
    /// The places of the items of named tuples, if the first tuple has names that say more than the
    /// order.
    named: Option<Option<Vec<usize>>>,
    name: &'r str,
    role: RowsRole,
    by: Option<JudgedBy>,
    /// What a group is called.
    group: Option<String>,
    columns: &'r Asked,
}

impl<'py> TakeTuples<'py> for TupleReader<'_, 'py> {
    fn plain(&mut self, ids: &[&[u8]], number: f64) -> bool {
        if number.is_nan() || matches!(self.named, Some(Some(_))) {
            return false;
        }
        // A tuple without names is the first: no later one is asked for any.
        self.named = Some(None);
        match (&mut self.rows.facets, ids) {
            (Some(facets), &[query, group, doc]) => facets.push(query, group, doc, number),
            (None, &[query, doc]) => {
                let code = self.codes.of_bytes(query, &mut self.rows.queries);
                self.rows.docs.push(doc);
                self.rows.values.push(number);
                self.rows.codes.push(code);
            }
            _ => return false,
        }
        true
    }

    fn other(&mut self, row: u64, item: &Bound<'py, PyAny>) -> PyResult<()> {
        let TupleReader { rows, codes, keys, named, name, role, by, group, columns } = self;
        let (py, name, of, group) = (item.py(), *name, (*role, *by), group.as_deref());
        let mut item = item.clone();
        // Asked first: whether an object is a mapping takes longer than reading a row.
        if let Ok(tuple) = item.cast::<PyTuple>() {
            if named.is_none() {
                *named = Some(named_items(tuple, name, of, columns)?);
            }
            if let Some(Some(places)) = &named {
                let items =
                    places.iter().map(|&at| tuple.get_item(at)).collect::<PyResult<Vec<_>>>();
                item = PyTuple::new(py, items.unwrap_or_default())?.into_any();
            }
        } else if let Ok(mapping) = item.cast::<PyMapping>() {
            if keys.is_none() {
                *keys = Some(keys_of(mapping, name, of, columns)?);
            }
            match &keys {
                Some(DictKeys::Lists(lists)) => {
                    let record = DictRecord { mapping, keys: lists, name, row };
                    rows.push_list(&record, (*role, group), codes)?;
                    rows.lists.push(rows.codes.len());
                    return Ok(());
                }
                Some(DictKeys::Single(keys)) => item = tuple_of(mapping, keys, name, row)?,
                None => {}
            }
        }
        let fields = RowFields::of(&item, group.is_some()).map_err(|_| {
            let group = group.map_or(String::new(), |group| format!("{group}, "));
            let expected = format!("(query, {group}document, {})", role.value());
            problem(py, name, row, format!("{} was found: {expected} was expected", shown(&item)))
        })?;
        let RowFields { query, group: of, doc, number } = &fields;
        let number = || {
            number_of(number, *role).map_err(|what| {
                let message = format!("the {} of document {} is {what}", role.value(), shown(doc));
                problem(py, name, row, message)
            })
        };
        if let (Some(facets), Some(of), Some(kind)) = (&mut rows.facets, of, group) {
            return push_judgment(facets, [query, of, doc], number, (name, kind));
        }
        rows.push_row((query, doc), number, codes, name)
    }
}

/// Visits the items of a mapping, and checks for signals meanwhile.
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

/// The codes of queries in the order in which they come.
pub struct QueryCodes {
    known: HashMap<Vec<u8>, u32>,
    /// The last id. Rows of a query mostly follow one another: it is compared before the map is
    /// asked.
    last: Option<(Vec<u8>, u32)>,
}

impl QueryCodes {
    pub fn new() -> Self {
        QueryCodes { known: HashMap::new(), last: None }
    }

    /// The code of a query, whose id is added to `queries` if it is new.
    fn of(
        &mut self,
        query: &Bound<'_, PyAny>,
        queries: &mut IdBuffer,
        name: &str,
    ) -> PyResult<u32> {
        with_id(query, name, "query", |id| self.of_bytes(id, queries))
    }

    /// The code of the query of these bytes, as above.
    fn of_bytes(&mut self, id: &[u8], queries: &mut IdBuffer) -> u32 {
        let QueryCodes { known, last } = self;
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

/// The fields of a row that is a tuple.
struct RowFields<'py> {
    query: Bound<'py, PyAny>,
    /// The group of a judgment, if judgments are read by facet.
    group: Option<Bound<'py, PyAny>>,
    doc: Bound<'py, PyAny>,
    number: Bound<'py, PyAny>,
}

impl<'py> RowFields<'py> {
    /// Reads a tuple of three, or of four if there are groups.
    fn of(item: &Bound<'py, PyAny>, grouped: bool) -> PyResult<Self> {
        if let Ok(tuple) = item.cast::<PyTuple>()
            && tuple.len() == if grouped { 4 } else { 3 }
        {
            let group = if grouped { Some(tuple.get_item(1)?) } else { None };
            let [doc, number] = [tuple.len() - 2, tuple.len() - 1].map(|at| tuple.get_item(at));
            return Ok(RowFields { query: tuple.get_item(0)?, group, doc: doc?, number: number? });
        }
        if grouped {
            let [query, group, doc, number] = item.extract::<[Bound<'py, PyAny>; 4]>()?;
            return Ok(RowFields { query, group: Some(group), doc, number });
        }
        let [query, doc, number] = item.extract::<[Bound<'py, PyAny>; 3]>()?;
        Ok(RowFields { query, group: None, doc, number })
    }
}

/// The values of a row that is a mapping, as a tuple in the order of the keys.
fn tuple_of<'py>(
    mapping: &Bound<'py, PyMapping>,
    keys: &[Bound<'py, PyAny>],
    name: &str,
    row: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = mapping.py();
    let mut values = Vec::with_capacity(4);
    for key in keys {
        values.push(mapping.get_item(key).map_err(|_| {
            problem(
                py,
                name,
                row,
                format!("{} was found, which has no {}", shown(mapping), shown(key)),
            )
        })?);
    }
    Ok(PyTuple::new(py, values)?.into_any())
}

/// The keys of records.
enum DictKeys<'py> {
    /// In the order of the fields of tuples.
    Single(Vec<Bound<'py, PyAny>>),
    Lists(DictLists<'py>),
}

/// The keys of records that have a list of documents.
struct DictLists<'py> {
    query: Bound<'py, PyAny>,
    docs: Bound<'py, PyAny>,
    numbers: Option<Bound<'py, PyAny>>,
    group: Option<Bound<'py, PyAny>>,
    lists: ListColumns,
}

/// A record that has a list of documents, with its place for messages.
#[derive(Clone, Copy)]
struct DictRecord<'r, 'py> {
    mapping: &'r Bound<'py, PyMapping>,
    keys: &'r DictLists<'py>,
    name: &'r str,
    row: u64,
}

impl<'py> DictRecord<'_, 'py> {
    fn value(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let DictRecord { mapping, name, row, .. } = self;
        mapping.get_item(key).map_err(|_| {
            let message = format!("{} was found, which has no {}", shown(mapping), shown(key));
            problem(mapping.py(), name, *row, message)
        })
    }

    fn list(&self, key: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let value = self.value(key)?;
        if !is_list(&value) {
            let message = format!("{} is {}: a list was expected", shown(key), shown(&value));
            return Err(problem(self.mapping.py(), self.name, self.row, message));
        }
        value.try_iter()?.collect()
    }
}

/// Whether an object is a list of values, perhaps an array.
pub fn is_list(object: &Bound<'_, PyAny>) -> bool {
    let is_other = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.cast::<PyMapping>().is_ok();
    !is_other && object.len().is_ok() && object.try_iter().is_ok()
}

/// The keys by which records are read, of which this is the first.
fn keys_of<'py>(
    first: &Bound<'py, PyMapping>,
    name: &str,
    (role, by): (RowsRole, Option<JudgedBy>),
    columns: &Asked,
) -> PyResult<DictKeys<'py>> {
    let keys: Vec<Bound<'py, PyAny>> = first.keys()?.iter().collect();
    let names: Vec<String> =
        keys.iter().map(|key| Ok(key.str()?.to_string())).collect::<PyResult<_>>()?;
    let lists: Vec<bool> = first.values()?.iter().map(|value| is_list(&value)).collect();
    let Places { query, doc, number, group, lists, .. } =
        table::places(first.py(), (&names, &lists), name, (role, by), columns)?;
    table::tell_of_docid(first.py(), (&names, doc), name, role, columns)?;
    let key = |at: usize| keys[at].clone();
    if let Some(lists) = lists {
        let (numbers, group) = (number.map(key), group.map(key));
        return Ok(DictKeys::Lists(DictLists {
            query: key(query),
            docs: key(doc),
            numbers,
            group,
            lists,
        }));
    }
    let number = number.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{name}: records have ranks and no {}s: sort them into {{query: {{document: {}}}}}",
            role.value(),
            role.value()
        ))
    })?;
    let all = [Some(query), group, Some(doc), Some(number)];
    Ok(DictKeys::Single(all.into_iter().flatten().map(key).collect()))
}

/// The places in named tuples of the items that are read, if the names say more than the order: of
/// three, or four by facet, it is the order.
fn named_items(
    first: &Bound<'_, PyTuple>,
    name: &str,
    (role, by): (RowsRole, Option<JudgedBy>),
    columns: &Asked,
) -> PyResult<Option<Vec<usize>>> {
    let Ok(names) = first.getattr("_fields").and_then(|names| names.extract::<Vec<String>>())
    else {
        return Ok(None);
    };
    if names.len() <= 3 {
        return Ok(None);
    }
    let places = table::places(first.py(), (&names, &[]), name, (role, by), columns);
    let Places { query, doc, number, group, .. } = match places {
        Err(_) if by.is_some() && names.len() == 4 => return Ok(None),
        places => places?,
    };
    let Some(number) = number else { return Ok(None) };
    Ok(Some([Some(query), group, Some(doc), Some(number)].into_iter().flatten().collect()))
}

/// Appends an id: text, bytes, or an integer as its decimal text.
fn push_id(ids: &mut IdBuffer, id: &Bound<'_, PyAny>, name: &str, what: &str) -> PyResult<()> {
    with_id(id, name, what, |id| ids.push(id))
}

/// Passes an id to `take`: text, bytes, or an integer as its decimal text.
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
        _ => Err(PyTypeError::new_err(format!(
            "{name}: the id {} of a {what} is of {}: a str or an int was expected",
            shown(id),
            id.get_type()
        ))),
    }
}

/// Reads a number that is not NaN; the error says what the object is instead.
pub fn number_of(object: &Bound<'_, PyAny>, role: RowsRole) -> Result<f64, String> {
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        let value = float.value();
        return if value.is_nan() { Err("not a number (NaN)".to_owned()) } else { Ok(value) };
    }
    let value =
        if object.is_instance_of::<PyString>() { None } else { object.extract::<f64>().ok() };
    match value {
        None if object.is_instance_of::<PyInt>() => {
            Err(format!("{}, which is too large for a float", shown(object)))
        }
        Some(value) if value.is_nan() => Err("not a number (NaN)".to_owned()),
        Some(value) => Ok(value),
        None if object.is_none() => Err("None: a number was expected".to_owned()),
        None => {
            let expected =
                if role == RowsRole::Run { "a number" } else { "a number, mostly an int," };
            Err(format!("{} of {}: {expected} was expected", shown(object), object.get_type()))
        }
    }
}

/// An object as text, shortened if it is long.
pub fn shown(object: &Bound<'_, PyAny>) -> String {
    let text =
        object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().into_owned());
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

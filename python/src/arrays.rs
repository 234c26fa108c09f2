//! Rankings from Python arrays: labels, scores with grades, lists of ids, or nearest neighbours.

use laneval::arrays::{DuplicateIds, Ideal, Integers, Neighbours, Rankings, Shape};
use laneval::labels::Ids;
use laneval::{Aggregation, Error, LabelMatrix};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFrozenSet, PyInt, PySet, PyString};
use std::sync::Arc;

use crate::errors::{option, type_error, value_error, wrong_type};
use crate::ffi::Array;
use crate::matrix::Matrix;
use crate::table;
use crate::work::{Workers, work};

/// A Python object with a buffer of numbers, and whether its values have the bits of bfloat16.
#[derive(FromPyObject)]
struct BorrowedArray<'py>(Bound<'py, PyAny>, bool);

impl BorrowedArray<'_> {
    /// Borrows the numbers of the Python array, which messages call `name`.
    fn numbers(&self, name: &str) -> PyResult<Array> {
        Array::from_py(&self.0, name, self.1)
    }
}

/// Rankings in arrays.
#[pyclass(frozen, module = "laneval._native")]
pub struct Arrays {
    source: ArraySource,
    /// The numbers of relevant documents, or of documents of each grade from 0.
    relevant: Option<IntegerArray>,
    judged: Option<IntegerArray>,
    /// The ids of the queries.
    ids: Option<Ids>,
}

enum ArraySource {
    Labels { labels: Array, shape: RowLists },
    Scores { scores: Array, grades: Array, shape: RowLists },
    Ids { relevant: Vec<Vec<(PyId, f64)>>, retrieved: Vec<Vec<PyId>>, repeats: DuplicateIds },
    IdArrays { relevant: IdRows, retrieved: IdRows, repeats: DuplicateIds },
    Neighbours(Box<NeighbourArrays>),
}

/// Arrays of the ids of true and of found nearest neighbours, perhaps with distances.
struct NeighbourArrays {
    truth: IdRows,
    found: IdRows,
    truth_distances: Option<Array>,
    found_distances: Option<Array>,
    within: f64,
    repeats: DuplicateIds,
}

/// A two-dimensional Python array of integer ids, with a row for each query.
struct IdRows {
    ids: IntegerArray,
    width: usize,
    stride: usize,
}

impl IdRows {
    fn new(array: BorrowedArray<'_>, name: &str) -> PyResult<Self> {
        let ids = IntegerArray::new(array, name)?;
        let Some((width, stride)) = ids.0.width() else {
            return Err(value_error(format!(
                "{name} has one dimension: two were expected, a row a query"
            )));
        };
        match ids.integers() {
            Integers::I32(_) | Integers::U32(_) | Integers::I64(_) | Integers::U64(_) => {
                Ok(Self { ids, width, stride })
            }
            _ => Err(type_error(format!(
                "{name} has integers of 8 or 16 bits, or bools: int32, uint32, int64 or uint64 \
                 were expected"
            ))),
        }
    }

    fn shape(&self) -> Shape<'_> {
        Shape::strided(self.width, self.stride)
    }

    /// Borrows an array of the neighbours' distances, which must have the shape of the ids.
    fn distances(
        &self,
        input: Option<BorrowedArray<'_>>,
        name: &str,
        ids: &str,
    ) -> PyResult<Option<Array>> {
        let Some(array) = input else { return Ok(None) };
        let array = array.numbers(name)?;
        let rows = &self.ids.0;
        if (array.rows(), array.width().map(|(width, _)| width)) != (rows.rows(), Some(self.width))
        {
            return Err(value_error(format!(
                "{name} has the shape {}, and {ids} {}: the same was expected",
                shape(&array),
                shape(rows)
            )));
        }
        if array.width() != rows.width() {
            return Err(value_error(format!(
                "{name} and {ids} have rows that lie apart in memory in different ways: take \
                 numpy.ascontiguousarray of both"
            )));
        }
        Ok(Some(array))
    }
}

/// Parses what becomes of an id that a list has twice.
fn duplicates_of(py: Python<'_>, name: &str) -> PyResult<DuplicateIds> {
    let why = match name.parse() {
        Ok(Aggregation::Error) => return Ok(DuplicateIds::Error),
        Ok(Aggregation::Max) => return Ok(DuplicateIds::First),
        Ok(Aggregation::Blank) => return Ok(DuplicateIds::Blank),
        Ok(_) => ", and lists of ids have no scores that could be added",
        Err(_) => "",
    };
    Err(option(py, format!("aggregate is '{name}'{why}: error, max or blank was expected")))
}

/// The division of an array's values into queries: by rows, offsets, sizes or group numbers.
enum RowLists {
    Dense { width: usize, stride: usize, lengths: Option<IntegerArray> },
    Offsets(IntegerArray),
    Sizes(IntegerArray),
    Groups(IntegerArray),
}

/// A Python array that was checked to hold integers.
struct IntegerArray(Array);

impl IntegerArray {
    fn new(array: BorrowedArray<'_>, name: &str) -> PyResult<Self> {
        let array = array.numbers(name)?;
        match array.integers() {
            Some(_) => Ok(Self(array)),
            None => Err(type_error(format!("{name} has floats: integers were expected"))),
        }
    }

    /// Borrows the integers of an optional array argument, which messages call `name`.
    fn optional(array: Option<BorrowedArray<'_>>, name: &str) -> PyResult<Option<Self>> {
        array.map(|array| Self::new(array, name)).transpose()
    }

    /// Borrows the integers of an optional array argument that must have one dimension.
    fn vector(array: Option<BorrowedArray<'_>>, name: &str) -> PyResult<Option<Self>> {
        match Self::optional(array, name)? {
            Some(array) if array.0.width().is_some() => {
                Err(value_error(format!("{name} has two dimensions: one was expected")))
            }
            array => Ok(array),
        }
    }

    fn integers(&self) -> Integers<'_> {
        self.0.integers().unwrap_or_else(|| unreachable!("it was looked at"))
    }
}

/// A document id from Python: text or an integer, where an integer equals the text of its digits.
/// Text that is such digits is kept as their integer.
#[derive(PartialEq, Eq, Hash)]
enum PyId {
    Integer(i64),
    Text(Box<[u8]>),
}

impl PyId {
    fn from_bytes(text: &[u8]) -> Self {
        // 20 bytes are the longest i64 with its sign. The check is there because nearly all ids of
        // text fail it at their first byte.
        let starts_like_digits = matches!(text, [b'-' | b'0'..=b'9', ..]) && text.len() <= 20;
        let integer =
            starts_like_digits.then(|| std::str::from_utf8(text).ok()?.parse::<i64>().ok());
        match integer.flatten() {
            // Digits such as `007` are another text than their integer.
            Some(integer) if integer.to_string().as_bytes() == text => PyId::Integer(integer),
            _ => PyId::Text(text.into()),
        }
    }
}

impl std::fmt::Debug for PyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PyId::Integer(integer) => write!(f, "{integer}"),
            PyId::Text(text) => write!(f, "{:?}", String::from_utf8_lossy(text)),
        }
    }
}

#[pymethods]
impl Arrays {
    /// Makes rankings of grades by rank, with the ids of the queries as the only column of a table.
    #[staticmethod]
    #[pyo3(signature = (labels, lengths, offsets, groups, relevant, judged, ids=None))]
    fn labels(
        labels: BorrowedArray<'_>,
        lengths: Option<BorrowedArray<'_>>,
        offsets: Option<BorrowedArray<'_>>,
        groups: Option<BorrowedArray<'_>>,
        relevant: Option<BorrowedArray<'_>>,
        judged: Option<BorrowedArray<'_>>,
        ids: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let labels = labels.numbers("labels")?;
        let offsets = IntegerArray::vector(offsets, "offsets")?.map(RowLists::Offsets);
        let groups = IntegerArray::vector(groups, "groups")?.map(RowLists::Groups);
        let shape = rows(&labels, "labels", lengths, division([offsets, groups])?)?;
        let judged = IntegerArray::optional(judged, "judged")?;
        if judged
            .as_ref()
            .is_some_and(|judged| judged.0.width().is_none_or(|(width, stride)| width != stride))
        {
            return Err(value_error(
                "judged has one row a query and one column a grade, without gaps",
            ));
        }
        let relevant = IntegerArray::optional(relevant, "relevant")?;
        if relevant.is_some() && judged.is_some() {
            return Err(value_error("relevant and judged say the same: one of them was expected"));
        }
        let ids = ids.map(|ids| table::ids(&ids)).transpose()?;
        Ok(Self { source: ArraySource::Labels { labels, shape }, relevant, judged, ids })
    }

    /// Makes rankings of scores, with grades in the same order.
    #[staticmethod]
    #[pyo3(signature = (scores, grades, lengths, sizes, groups))]
    fn scores(
        scores: BorrowedArray<'_>,
        grades: BorrowedArray<'_>,
        lengths: Option<BorrowedArray<'_>>,
        sizes: Option<BorrowedArray<'_>>,
        groups: Option<BorrowedArray<'_>>,
    ) -> PyResult<Self> {
        let (scores, grades) = (scores.numbers("scores")?, grades.numbers("grades")?);
        if (scores.rows(), scores.width()) != (grades.rows(), grades.width()) {
            return Err(value_error(format!(
                "scores has the shape {}, and grades {}: the same was expected",
                shape(&scores),
                shape(&grades)
            )));
        }
        let sizes = IntegerArray::vector(sizes, "sizes")?.map(RowLists::Sizes);
        let groups = IntegerArray::vector(groups, "groups")?.map(RowLists::Groups);
        let shape = rows(&scores, "scores", lengths, division([sizes, groups])?)?;
        Ok(Self::new(ArraySource::Scores { scores, grades, shape }, None))
    }

    /// Makes rankings of lists of ids: the relevant ones, perhaps with grades, and the retrieved
    /// ones; `None` is a list without any. The queries may have ids.
    #[staticmethod]
    #[pyo3(signature = (relevant, retrieved, queries=None, aggregate="error"))]
    fn ids(
        relevant: &Bound<'_, PyAny>,
        retrieved: &Bound<'_, PyAny>,
        queries: Option<Vec<String>>,
        aggregate: &str,
    ) -> PyResult<Self> {
        let repeats = duplicates_of(relevant.py(), aggregate)?;
        let relevant = lists(relevant, "relevant", |list| {
            if let Ok(mapping) = list.cast::<pyo3::types::PyMapping>() {
                return mapping
                    .items()?
                    .iter()
                    .map(|item| {
                        let (id, grade) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
                        Ok((id_of(&id, "relevant")?, grade.extract::<f64>()?))
                    })
                    .collect();
            }
            list.try_iter()?.map(|id| Ok((id_of(&id?, "relevant")?, 1.0))).collect()
        })?;
        let retrieved = lists(retrieved, "retrieved", |list| {
            let is_mapping = list.cast::<pyo3::types::PyMapping>().is_ok();
            if is_mapping || list.is_instance_of::<PySet>() || list.is_instance_of::<PyFrozenSet>()
            {
                let order = if is_mapping {
                    "whose values would not be looked at"
                } else {
                    "which has no order"
                };
                return Err(type_error(format!(
                    "retrieved has a {}, {order}: a list of ids, the best first, was expected",
                    list.get_type().name()?
                )));
            }
            list.try_iter()?.map(|id| id_of(&id?, "retrieved")).collect::<PyResult<Vec<PyId>>>()
        })?;
        let ids = queries.map(|queries| queries.iter().map(String::as_bytes).collect());
        let source = ArraySource::Ids { relevant, retrieved, repeats };
        Ok(Self::new(source, ids))
    }

    /// Makes rankings of arrays of integer ids: the relevant ones, and the retrieved ones.
    #[staticmethod]
    fn id_arrays(
        relevant: BorrowedArray<'_>,
        retrieved: BorrowedArray<'_>,
        aggregate: &str,
    ) -> PyResult<Self> {
        let repeats = duplicates_of(relevant.0.py(), aggregate)?;
        let source = ArraySource::IdArrays {
            relevant: IdRows::new(relevant, "relevant")?,
            retrieved: IdRows::new(retrieved, "retrieved")?,
            repeats,
        };
        Ok(Self::new(source, None))
    }

    /// Makes rankings of the ids of neighbours: the true ones, and the found ones.
    #[staticmethod]
    #[pyo3(signature = (truth, found, truth_distances, found_distances, within, aggregate))]
    fn neighbours(
        truth: BorrowedArray<'_>,
        found: BorrowedArray<'_>,
        truth_distances: Option<BorrowedArray<'_>>,
        found_distances: Option<BorrowedArray<'_>>,
        within: f64,
        aggregate: &str,
    ) -> PyResult<Self> {
        let repeats = duplicates_of(truth.0.py(), aggregate)?;
        let (truth, found) = (IdRows::new(truth, "truth")?, IdRows::new(found, "found")?);
        let truth_distances = truth.distances(truth_distances, "truth_distances", "truth")?;
        let found_distances = found.distances(found_distances, "found_distances", "found")?;
        if found_distances.is_none() && within != 0.0 {
            return Err(value_error(
                "within without found_distances has no meaning: give those as well",
            ));
        }
        let arrays =
            NeighbourArrays { truth, found, truth_distances, found_distances, within, repeats };
        Ok(Self::new(ArraySource::Neighbours(Box::new(arrays)), None))
    }

    /// Makes a label matrix of a run called `name`.
    fn matrix(&self, py: Python<'_>, name: &str) -> PyResult<Matrix> {
        let matrix = work(py, Workers::default(), &Arc::default(), || {
            self.with(|rankings| LabelMatrix::from_rankings(name, rankings))
        })?;
        Ok(matrix.into())
    }
}

impl Arrays {
    fn new(source: ArraySource, ids: Option<Ids>) -> Self {
        Self { source, relevant: None, judged: None, ids }
    }

    /// Returns roughly the number of retrieved documents in all rankings, as a measure of the work.
    pub fn values(&self) -> usize {
        match &self.source {
            ArraySource::Labels { labels: array, .. }
            | ArraySource::Scores { scores: array, .. } => {
                array.rows() * array.width().map_or(1, |(width, _)| width)
            }
            ArraySource::Ids { retrieved, .. } => retrieved.iter().map(Vec::len).sum(),
            ArraySource::IdArrays { retrieved: id_rows, .. } => {
                id_rows.ids.0.rows() * id_rows.width
            }
            ArraySource::Neighbours(arrays) => arrays.found.ids.0.rows() * arrays.found.width,
        }
    }

    /// Calls `work` with the Python arrays as rankings of the Rust library.
    pub fn with<R>(
        &self,
        work: impl FnOnce(&Rankings<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let rankings = match &self.source {
            ArraySource::Labels { labels, shape } => {
                Rankings::labels(labels.numbers(), shape.shape())?
            }
            ArraySource::Scores { scores, grades, shape } => {
                Rankings::scores(scores.numbers(), grades.numbers(), shape.shape())?
            }
            ArraySource::Ids { relevant, retrieved, repeats } => {
                Rankings::graded_ids(relevant, retrieved)?.with_duplicates(*repeats)?
            }
            ArraySource::IdArrays { relevant, retrieved, repeats } => {
                let (of_relevant, of_retrieved) = (relevant.shape(), retrieved.shape());
                let (relevant, retrieved) = (relevant.ids.integers(), retrieved.ids.integers());
                Rankings::id_arrays(relevant, of_relevant, retrieved, of_retrieved)?
                    .with_duplicates(*repeats)?
            }
            ArraySource::Neighbours(arrays) => arrays.rankings()?,
        };
        let rankings = match &self.ids {
            Some(ids) => rankings.with_ids(ids)?,
            None => rankings,
        };
        let grades: Vec<f64>;
        let ideal = match (&self.relevant, &self.judged) {
            (Some(relevant), _) => Ideal::Relevant(relevant.integers()),
            (None, Some(judged)) => {
                grades = (0..judged.0.width().map_or(0, |(width, _)| width))
                    .map(|grade| grade as f64)
                    .collect();
                Ideal::Counts { grades: &grades, counts: judged.integers() }
            }
            (None, None) => return work(&rankings),
        };
        work(&rankings.with_ideal(ideal)?)
    }
}

impl NeighbourArrays {
    fn rankings(&self) -> Result<Rankings<'_>, Error> {
        let truth = Neighbours::ids(self.truth.ids.integers(), self.truth.shape())?;
        let truth = match &self.truth_distances {
            Some(distances) => truth.with_distances(distances.numbers())?,
            None => truth,
        };
        let (found, shape) = (self.found.ids.integers(), self.found.shape());
        let rankings = match &self.found_distances {
            Some(distances) => {
                Rankings::neighbours_within(truth, found, shape, distances.numbers(), self.within)?
            }
            None => Rankings::neighbours(truth, found, shape)?,
        };
        rankings.with_duplicates(self.repeats)
    }
}

impl RowLists {
    fn shape(&self) -> Shape<'_> {
        match self {
            Self::Dense { width, stride, lengths } => {
                let shape = Shape::strided(*width, *stride);
                match lengths {
                    Some(lengths) => shape.with_lengths(lengths.integers()),
                    None => shape,
                }
            }
            Self::Offsets(offsets) => Shape::offsets(offsets.integers()),
            Self::Sizes(sizes) => Shape::sizes(sizes.integers()),
            Self::Groups(groups) => Shape::groups(groups.integers()),
        }
    }
}

/// Returns the shape of an array for messages, as Python writes it.
fn shape(array: &Array) -> String {
    match array.width() {
        Some((width, _)) => format!("({}, {width})", array.rows()),
        None => format!("({},)", array.rows()),
    }
}

/// Returns the given one of two divisions of a flat array into queries, if one is given.
fn division(lists: [Option<RowLists>; 2]) -> PyResult<Option<RowLists>> {
    match lists {
        [Some(_), Some(_)] => {
            Err(value_error("offsets, sizes and groups say the same: one of them was expected"))
        }
        [first, second] => Ok(first.or(second)),
    }
}

/// Returns the division of an array into queries, by its dimensions and keywords such as `offsets`:
/// by its rows, with their lengths, or for one dimension `flat`.
fn rows(
    array: &Array,
    name: &str,
    lengths: Option<BorrowedArray<'_>>,
    flat: Option<RowLists>,
) -> PyResult<RowLists> {
    match (array.width(), flat) {
        (Some((width, stride)), None) => {
            let lengths = IntegerArray::vector(lengths, "lengths")?;
            Ok(RowLists::Dense { width, stride, lengths })
        }
        (Some(_), Some(_)) => Err(value_error(format!(
            "{name} has two dimensions, a row a query: offsets, sizes and groups are for one"
        ))),
        (None, Some(shape)) if lengths.is_none() => Ok(shape),
        (None, Some(_)) => Err(value_error("lengths are for arrays of two dimensions")),
        (None, None) => Err(value_error(format!(
            "{name} has one dimension: two were expected, a row a query, or offsets, sizes or \
             groups that say which values are a query's"
        ))),
    }
}

/// Reads a Python list of lists, such as the document ids of each query; `None` is an empty list.
fn lists<'py, T>(
    object: &Bound<'py, PyAny>,
    name: &str,
    list: impl Fn(&Bound<'py, PyAny>) -> PyResult<Vec<T>>,
) -> PyResult<Vec<Vec<T>>> {
    let mut all = Vec::new();
    for (row, item) in object.try_iter()?.enumerate() {
        let item = item?;
        if item.is_none() {
            all.push(Vec::new());
            continue;
        }
        if item.is_instance_of::<PyString>() || item.try_iter().is_err() {
            return Err(wrong_type(format!("{name}[{row}]"), &item, "a collection of ids"));
        }
        all.push(list(&item)?);
    }
    Ok(all)
}

fn id_of(id: &Bound<'_, PyAny>, name: &str) -> PyResult<PyId> {
    if let Ok(text) = id.cast::<PyString>() {
        return Ok(PyId::from_bytes(text.to_str()?.as_bytes()));
    }
    if let Ok(bytes) = id.cast::<PyBytes>() {
        return Ok(PyId::from_bytes(bytes.as_bytes()));
    }
    // True is an int in Python, and as an id always a slip.
    let integer = if id.is_instance_of::<PyBool>() {
        None
    } else {
        id.call_method0("__index__").ok().filter(|value| value.is_instance_of::<PyInt>())
    };
    match integer {
        Some(integer) => match integer.extract::<i64>() {
            Ok(integer) => Ok(PyId::Integer(integer)),
            Err(_) => Ok(PyId::from_bytes(integer.str()?.to_str()?.as_bytes())),
        },
        None => Err(wrong_type(format!("{name}: the id {id:?}"), id, "a str or an int")),
    }
}

//! Rankings in arrays: labels, scores with grades, lists of ids.

use laneval::arrays::{Ideal, Integers, Neighbours, Rankings, RepeatedIds, Shape};
use laneval::labels::Ids;
use laneval::{Error, LabelMatrix, Repeats};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFrozenSet, PyInt, PySet, PyString};
use std::sync::Arc;

use crate::errors::option;
use crate::ffi::Array;
use crate::matrix::Matrix;
use crate::table;
use crate::work::{Workers, work};

/// An array, with whether it has the bits of bfloat16.
type LentArray<'py> = (Bound<'py, PyAny>, bool);

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
    Ids { relevant: Vec<Vec<(PyId, f64)>>, retrieved: Vec<Vec<PyId>>, repeats: RepeatedIds },
    IdArrays { relevant: IdRows, retrieved: IdRows, repeats: RepeatedIds },
    Neighbours(Box<NeighbourArrays>),
}

/// Ids of true and of found neighbours, perhaps with distances.
struct NeighbourArrays {
    truth: IdRows,
    found: IdRows,
    truth_distances: Option<Array>,
    found_distances: Option<Array>,
    within: f64,
    repeats: RepeatedIds,
}

/// An array of ids, of two dimensions.
struct IdRows {
    ids: IntegerArray,
    width: usize,
    stride: usize,
}

impl IdRows {
    fn of(array: LentArray<'_>, name: &str) -> PyResult<Self> {
        let ids = IntegerArray::of(array, name)?;
        let Some((width, stride)) = ids.0.width() else {
            return Err(PyValueError::new_err(format!(
                "{name} has one dimension: two were expected, a row a query"
            )));
        };
        match ids.integers() {
            Integers::I32(_) | Integers::U32(_) | Integers::I64(_) | Integers::U64(_) => {
                Ok(IdRows { ids, width, stride })
            }
            _ => Err(PyTypeError::new_err(format!(
                "{name} has integers of 8 or 16 bits, or bools: int32, uint32, int64 or uint64 \
                 were expected"
            ))),
        }
    }

    fn shape(&self) -> Shape<'_> {
        Shape::strided(self.width, self.stride)
    }

    /// Takes the distances of the ids.
    fn distances(
        &self,
        of: Option<LentArray<'_>>,
        name: &str,
        ids: &str,
    ) -> PyResult<Option<Array>> {
        let Some((array, bf16)) = of else { return Ok(None) };
        let array = Array::of(&array, name, bf16)?;
        let rows = &self.ids.0;
        if (array.rows(), array.width().map(|(width, _)| width)) != (rows.rows(), Some(self.width))
        {
            return Err(PyValueError::new_err(format!(
                "{name} has the shape {}, and {ids} {}: the same was expected",
                shape(&array),
                shape(rows)
            )));
        }
        if array.width() != rows.width() {
            return Err(PyValueError::new_err(format!(
                "{name} and {ids} have rows that lie apart in memory in different ways: take \
                 numpy.ascontiguousarray of both"
            )));
        }
        Ok(Some(array))
    }
}

fn repeats_of(py: Python<'_>, name: &str) -> PyResult<RepeatedIds> {
    let known = RepeatedIds::ALL.iter().find(|(of, _)| *of == name);
    let makes_scores = name.parse::<Repeats>().is_ok_and(Repeats::makes_scores);
    let why =
        if makes_scores { ", and lists of ids have no scores that could be added" } else { "" };
    known.map(|&(_, repeats)| repeats).ok_or_else(|| {
        option(py, format!("repeats is '{name}'{why}: error, first or blank was expected"))
    })
}

/// The values that belong to each row.
enum RowLists {
    Dense { width: usize, stride: usize, lengths: Option<IntegerArray> },
    Offsets(IntegerArray),
    Sizes(IntegerArray),
    Groups(IntegerArray),
}

/// An array of integers.
struct IntegerArray(Array);

impl IntegerArray {
    fn of((array, bf16): LentArray<'_>, name: &str) -> PyResult<Self> {
        let array = Array::of(&array, name, bf16)?;
        match array.integers() {
            Some(_) => Ok(IntegerArray(array)),
            None => Err(PyTypeError::new_err(format!("{name} has floats: integers were expected"))),
        }
    }

    fn integers(&self) -> Integers<'_> {
        self.0.integers().unwrap_or_else(|| unreachable!("it was looked at"))
    }
}

/// An id of Python. An integer is the text of its digits, as it is everywhere: text that is such
/// digits is kept as their integer.
#[derive(PartialEq, Eq, Hash)]
enum PyId {
    Integer(i64),
    Text(Box<[u8]>),
}

impl PyId {
    fn of(text: &[u8]) -> Self {
        // 20 bytes are the longest i64 with its sign. The check is there because nearly all ids of
        // text fail it at their first byte.
        let starts_like_digits = matches!(text, [b'-' | b'0'..=b'9', ..]) && text.len() <= 20;
        let integer = || std::str::from_utf8(text).ok()?.parse::<i64>().ok();
        match starts_like_digits.then(integer).flatten() {
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
        labels: LentArray<'_>,
        lengths: Option<LentArray<'_>>,
        offsets: Option<LentArray<'_>>,
        groups: Option<LentArray<'_>>,
        relevant: Option<LentArray<'_>>,
        judged: Option<LentArray<'_>>,
        ids: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let labels = Array::of(&labels.0, "labels", labels.1)?;
        let shape = rows(
            &labels,
            "labels",
            RowKeywords { lengths, offsets, groups, ..RowKeywords::default() },
        )?;
        let array = |of: Option<LentArray<'_>>, name: &str| {
            of.map(|of| IntegerArray::of(of, name)).transpose()
        };
        let judged = array(judged, "judged")?;
        if judged
            .as_ref()
            .is_some_and(|judged| judged.0.width().is_none_or(|(width, stride)| width != stride))
        {
            return Err(PyValueError::new_err(
                "judged has one row a query and one column a grade, without gaps",
            ));
        }
        let relevant = array(relevant, "relevant")?;
        if relevant.is_some() && judged.is_some() {
            return Err(PyValueError::new_err(
                "relevant and judged say the same: one of them was expected",
            ));
        }
        let ids = ids.map(|ids| table::ids(&ids)).transpose()?;
        Ok(Arrays { source: ArraySource::Labels { labels, shape }, relevant, judged, ids })
    }

    /// Makes rankings of scores, with grades in the same order.
    #[staticmethod]
    #[pyo3(signature = (scores, grades, lengths, sizes, groups))]
    fn scores(
        scores: LentArray<'_>,
        grades: LentArray<'_>,
        lengths: Option<LentArray<'_>>,
        sizes: Option<LentArray<'_>>,
        groups: Option<LentArray<'_>>,
    ) -> PyResult<Self> {
        let scores = Array::of(&scores.0, "scores", scores.1)?;
        let grades = Array::of(&grades.0, "grades", grades.1)?;
        if (scores.rows(), scores.width()) != (grades.rows(), grades.width()) {
            return Err(PyValueError::new_err(format!(
                "scores has the shape {}, and grades {}: the same was expected",
                shape(&scores),
                shape(&grades)
            )));
        }
        let shape = rows(
            &scores,
            "scores",
            RowKeywords { lengths, sizes, groups, ..RowKeywords::default() },
        )?;
        Ok(Arrays {
            source: ArraySource::Scores { scores, grades, shape },
            relevant: None,
            judged: None,
            ids: None,
        })
    }

    /// Makes rankings of lists of ids: the relevant ones, perhaps with grades, and the retrieved
    /// ones; `None` is a list without any. The queries may have ids.
    #[staticmethod]
    #[pyo3(signature = (relevant, retrieved, queries=None, repeats="error"))]
    fn ids(
        relevant: &Bound<'_, PyAny>,
        retrieved: &Bound<'_, PyAny>,
        queries: Option<Vec<String>>,
        repeats: &str,
    ) -> PyResult<Self> {
        let repeats = repeats_of(relevant.py(), repeats)?;
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
                return Err(PyTypeError::new_err(format!(
                    "retrieved has a {}, {order}: a list of ids, the best first, was expected",
                    list.get_type().name()?
                )));
            }
            list.try_iter()?.map(|id| id_of(&id?, "retrieved")).collect::<PyResult<Vec<PyId>>>()
        })?;
        let ids = queries.map(|queries| queries.iter().map(String::as_bytes).collect());
        let source = ArraySource::Ids { relevant, retrieved, repeats };
        Ok(Arrays { source, relevant: None, judged: None, ids })
    }

    /// Makes rankings of arrays of integer ids: the relevant ones, and the retrieved ones.
    #[staticmethod]
    fn id_arrays(
        relevant: LentArray<'_>,
        retrieved: LentArray<'_>,
        repeats: &str,
    ) -> PyResult<Self> {
        let repeats = repeats_of(relevant.0.py(), repeats)?;
        let source = ArraySource::IdArrays {
            relevant: IdRows::of(relevant, "relevant")?,
            retrieved: IdRows::of(retrieved, "retrieved")?,
            repeats,
        };
        Ok(Arrays { source, relevant: None, judged: None, ids: None })
    }

    /// Makes rankings of the ids of neighbours: the true ones, and the found ones.
    #[staticmethod]
    #[pyo3(signature = (truth, found, truth_distances, found_distances, within, repeats))]
    fn neighbours(
        truth: LentArray<'_>,
        found: LentArray<'_>,
        truth_distances: Option<LentArray<'_>>,
        found_distances: Option<LentArray<'_>>,
        within: f64,
        repeats: &str,
    ) -> PyResult<Self> {
        let repeats = repeats_of(truth.0.py(), repeats)?;
        let (truth, found) = (IdRows::of(truth, "truth")?, IdRows::of(found, "found")?);
        let truth_distances = truth.distances(truth_distances, "truth_distances", "truth")?;
        let found_distances = found.distances(found_distances, "found_distances", "found")?;
        if found_distances.is_none() && within != 0.0 {
            return Err(PyValueError::new_err(
                "within without found_distances has no meaning: give those as well",
            ));
        }
        let arrays =
            NeighbourArrays { truth, found, truth_distances, found_distances, within, repeats };
        let source = ArraySource::Neighbours(Box::new(arrays));
        Ok(Arrays { source, relevant: None, judged: None, ids: None })
    }

    /// Makes a label matrix of a run called `name`.
    fn matrix(&self, py: Python<'_>, name: &str) -> PyResult<Matrix> {
        let matrix = work(py, Workers::default(), &Arc::default(), || {
            self.with(|rankings| LabelMatrix::of_rankings(name, rankings))
        })?;
        Ok(matrix.into())
    }
}

impl Arrays {
    /// The number of values, roughly.
    pub fn values(&self) -> usize {
        match &self.source {
            ArraySource::Labels { labels: of, .. } | ArraySource::Scores { scores: of, .. } => {
                of.rows() * of.width().map_or(1, |(width, _)| width)
            }
            ArraySource::Ids { retrieved, .. } => retrieved.iter().map(Vec::len).sum(),
            ArraySource::IdArrays { retrieved: of, .. } => of.ids.0.rows() * of.width,
            ArraySource::Neighbours(arrays) => arrays.found.ids.0.rows() * arrays.found.width,
        }
    }

    /// Calls `work` with the rankings.
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
                Rankings::graded_ids(relevant, retrieved)?.with_repeats(*repeats)?
            }
            ArraySource::IdArrays { relevant, retrieved, repeats } => {
                let (of_relevant, of_retrieved) = (relevant.shape(), retrieved.shape());
                let (relevant, retrieved) = (relevant.ids.integers(), retrieved.ids.integers());
                Rankings::id_arrays(relevant, of_relevant, retrieved, of_retrieved)?
                    .with_repeats(*repeats)?
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
        rankings.with_repeats(self.repeats)
    }
}

impl RowLists {
    fn shape(&self) -> Shape<'_> {
        match self {
            RowLists::Dense { width, stride, lengths } => {
                let shape = Shape::strided(*width, *stride);
                match lengths {
                    Some(lengths) => shape.with_lengths(lengths.integers()),
                    None => shape,
                }
            }
            RowLists::Offsets(offsets) => Shape::offsets(offsets.integers()),
            RowLists::Sizes(sizes) => Shape::sizes(sizes.integers()),
            RowLists::Groups(groups) => Shape::groups(groups.integers()),
        }
    }
}

/// The shape of an array, as Python writes it.
fn shape(of: &Array) -> String {
    match of.width() {
        Some((width, _)) => format!("({}, {width})", of.rows()),
        None => format!("({},)", of.rows()),
    }
}

/// The keywords that say which values of an array belong to each row.
#[derive(Default)]
struct RowKeywords<'a> {
    lengths: Option<LentArray<'a>>,
    offsets: Option<LentArray<'a>>,
    sizes: Option<LentArray<'a>>,
    groups: Option<LentArray<'a>>,
}

/// The values of an array that belong to each row, by its dimensions and the keywords.
fn rows(array: &Array, name: &str, keywords: RowKeywords<'_>) -> PyResult<RowLists> {
    let RowKeywords { lengths, offsets, sizes, groups } = keywords;
    let of = |lent: Option<LentArray<'_>>, name: &str| {
        let array = lent.map(|lent| IntegerArray::of(lent, name)).transpose()?;
        match array.as_ref().and_then(|array| array.0.width()) {
            Some(_) => {
                Err(PyValueError::new_err(format!("{name} has two dimensions: one was expected")))
            }
            None => Ok(array),
        }
    };
    let flat = [
        of(offsets, "offsets")?.map(RowLists::Offsets),
        of(sizes, "sizes")?.map(RowLists::Sizes),
        of(groups, "groups")?.map(RowLists::Groups),
    ];
    let mut flat = flat.into_iter().flatten();
    match (array.width(), flat.next(), flat.next()) {
        (_, _, Some(_)) => Err(PyValueError::new_err(
            "offsets, sizes and groups say the same: one of them was expected",
        )),
        (Some((width, stride)), None, _) => {
            Ok(RowLists::Dense { width, stride, lengths: of(lengths, "lengths")? })
        }
        (Some(_), Some(_), _) => Err(PyValueError::new_err(format!(
            "{name} has two dimensions, a row a query: offsets, sizes and groups are for one"
        ))),
        (None, Some(shape), _) if lengths.is_none() => Ok(shape),
        (None, Some(_), _) => {
            Err(PyValueError::new_err("lengths are for arrays of two dimensions"))
        }
        (None, None, _) => Err(PyValueError::new_err(format!(
            "{name} has one dimension: two were expected, a row a query, or offsets, sizes or \
             groups that say which values are a query's"
        ))),
    }
}

/// Reads a list of lists.
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
            return Err(PyTypeError::new_err(format!(
                "{name}[{row}] is of {}: a collection of ids was expected",
                item.get_type()
            )));
        }
        all.push(list(&item)?);
    }
    Ok(all)
}

fn id_of(id: &Bound<'_, PyAny>, name: &str) -> PyResult<PyId> {
    if let Ok(text) = id.cast::<PyString>() {
        return Ok(PyId::of(text.to_str()?.as_bytes()));
    }
    if let Ok(bytes) = id.cast::<PyBytes>() {
        return Ok(PyId::of(bytes.as_bytes()));
    }
    let integer = if id.is_instance_of::<PyBool>() {
        None
    } else {
        id.call_method0("__index__").ok().filter(|of| of.is_instance_of::<PyInt>())
    };
    match integer {
        Some(integer) => match integer.extract::<i64>() {
            Ok(integer) => Ok(PyId::Integer(integer)),
            Err(_) => Ok(PyId::of(integer.str()?.to_str()?.as_bytes())),
        },
        None => Err(PyTypeError::new_err(format!(
            "{name}: the id {id:?} is of {}: a str or an int was expected",
            id.get_type()
        ))),
    }
}

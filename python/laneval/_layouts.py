"""Rows of tables that hold more than a run: results and judgments mixed, or the labels of one ranking each. This module needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneval import _native
from laneval._errors import InputError, UnanswerableError

if TYPE_CHECKING:
    import pyarrow

QUERY, DOC, SCORE, GRADE, RUN = "query_id", "doc_id", "score", "grade", "run"
LABELS, JUDGED, RELEVANT = "labels", "judged", "relevant"
COLUMNS = ("query", "doc", "score", "grade", "run")
LABEL_COLUMNS = ("query", "labels", "relevant", "judged")


def known_columns(columns: Mapping[str, str], known: Sequence[str]) -> None:
    """Raises an error if a name is given for an unknown column."""
    unknown = sorted(set(columns) - set(known))
    if unknown:
        raise TypeError(f"columns names {', '.join(map(repr, unknown))}: {', '.join(known)} were expected")


def tables(batch: Any) -> list[pyarrow.RecordBatch]:
    """The batches of an object that has a stream or an array of Arrow."""
    import pyarrow as pa

    if isinstance(batch, pa.RecordBatch):
        return [batch]
    if not hasattr(batch, "__arrow_c_stream__") and not hasattr(batch, "__arrow_c_array__"):
        raise TypeError(f"{type(batch)}: a table with a stream of Arrow was expected")
    found: list[pyarrow.RecordBatch] = pa.table(batch).to_batches()
    return found


class TaggedStream:
    """Results and judgments in one table, in any order: a row with a score is a result, one with a grade is a judgment, and one with both
    is both. If there are several runs, a column names the run of a result.
    """

    def __init__(self, settings: _native.Settings, columns: Mapping[str, str], runs: Sequence[str] | None) -> None:
        known_columns(columns, COLUMNS)
        self._settings = settings
        self._columns = {what: name for what, name in columns.items() if what != "run"}
        self._run = columns.get("run", RUN)
        self._names = None if runs is None else list(runs)
        self._judged: list[pyarrow.RecordBatch] = []
        self._results: list[pyarrow.RecordBatch] = []

    def push(self, batch: Any) -> None:
        """Adds some rows."""
        for part in tables(batch):
            if len(part):
                self._push(part)

    def _push(self, batch: pyarrow.RecordBatch) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = [batch.column(at) for at in self._places(batch.schema.names)]
        query, doc, score, grade = map(_selectable, columns)
        for column, what in ((query, "query"), (doc, "document")):
            if column.null_count:
                raise problem(f"the id of a {what} is a null")
        neither = pc.and_(pc.is_null(score), pc.is_null(grade))
        at = pc.index(neither, True).as_py()
        if at >= 0:
            where = f"document {doc[at].as_py()!r} of query {query[at].as_py()!r}"
            raise problem(f"{where} has neither a score nor a grade: both are nulls")
        result = {QUERY: query, DOC: doc, SCORE: score}
        if self._names is not None:
            result[RUN] = _text(batch.column(self._place(batch.schema.names, self._run, "run")))
        judgment = {QUERY: query, DOC: doc, GRADE: grade}
        for row, value, kept in ((result, score, self._results), (judgment, grade, self._judged)):
            if value.null_count == len(value):
                continue
            rows = pa.RecordBatch.from_arrays(list(row.values()), names=list(row))
            kept.append(rows.filter(pc.is_valid(value)) if value.null_count else rows)

    def _places(self, names: list[str]) -> tuple[int, int, int, int]:
        query, doc, score, _ = _native.places(names, "rows", False, self._columns)
        _, _, grade, _ = _native.places(names, "rows", True, self._columns)
        if score is None:
            score = self._place(names, self._columns.get("score", SCORE), "score")
        if grade is None or grade == score:
            grade = self._place(names, self._columns.get("grade", GRADE), "grade")
        return query, doc, score, grade

    def _place(self, names: list[str], name: str, what: str) -> int:
        if name in names:
            return names.index(name)
        raise ValueError(f"rows: no column `{name}` is the {what}: there are {', '.join(names)}")

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return sum(map(len, self._results)) + sum(map(len, self._judged))

    def seen(self) -> pyarrow.Array:
        """The ids of all queries, once each."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = [_text(pc.unique(batch.column(QUERY))) for batch in [*self._results, *self._judged]]
        return pc.unique(pa.chunked_array(ids))

    def finish(self) -> _native.Summary:
        """The summary of all rows."""
        return self._settings.summary(self._matrix())

    def scores(self) -> _native.Scores:
        """The scores of all rows."""
        return self._settings.matrix(self._matrix())

    def summary_and_scores(self) -> tuple[_native.Summary, _native.Scores]:
        """The summary and the scores of all rows."""
        matrix = self._matrix()
        return self._settings.summary(matrix), self._settings.matrix(matrix)

    def _matrix(self) -> _native.Matrix:
        return self._settings.part(_table(self._judged), self._by_run())

    def _by_run(self) -> list[tuple[str, Any]]:
        """The results of each run by its name."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._names is None:
            return [("run", _table(self._results))]
        parts: dict[str, list[pyarrow.RecordBatch]] = {name: [] for name in self._names}
        for batch in self._results:
            run = batch.column(RUN)
            rows = batch.select([QUERY, DOC, SCORE])
            there = pc.unique(run).to_pylist()
            for name in there:
                if name is None:
                    raise problem("the run of a result is a null")
                if name not in parts:
                    known = ", ".join(map(repr, self._names))
                    raise problem(f"the run {name!r} of a result is not one of those named: {known}")
                parts[name].append(rows if len(there) == 1 else rows.filter(pc.equal(run, pa.scalar(name, run.type))))
        return [(name, _table(part)) for name, part in parts.items()]


class LabelStream:
    """Rankings in a table, one in each row: the id of the query; the grades of the retrieved documents, the best rank first, as a list or
    as one signed byte for each rank, −1 for a document that is not judged; and the judged documents, as numbers of each grade or of
    relevant ones.
    """

    def __init__(self, stream: _native.RankingStream, columns: Mapping[str, str]) -> None:
        known_columns(columns, LABEL_COLUMNS)
        self._stream = stream
        self._columns = columns

    def push(self, batch: Any) -> None:
        """Adds some rankings."""
        for part in tables(batch):
            if len(part):
                self._stream.push_arrays(self._arrays(part))

    def finish(self) -> _native.Summary:
        """The summary of all rankings."""
        return self._stream.finish()

    def _arrays(self, batch: pyarrow.RecordBatch) -> _native.Arrays:
        import pyarrow as pa

        names = batch.schema.names
        ids = self._column(batch, QUERY, "query")
        labels = self._column(batch, LABELS, "labels")
        for column, what in ((ids, "the id of a query is a null"), (labels, "the labels of a query are a null")):
            if column.null_count:
                raise problem(what)
        relevant = judged = None
        if self._columns.get("relevant", RELEVANT) in names or "relevant" in self._columns:
            relevant = _whole(self._column(batch, RELEVANT, "relevant"), "relevant")
        if self._columns.get("judged", JUDGED) in names or "judged" in self._columns:
            judged = _counts(self._column(batch, JUDGED, "judged"))
        values, offsets = _flat(labels)
        return _native.Arrays.labels(
            (values, False),
            None,
            (offsets, False),
            None,
            None if relevant is None else (relevant, False),
            None if judged is None else (judged, False),
            pa.table({QUERY: _text(ids)}),
        )

    def _column(self, batch: pyarrow.RecordBatch, usual: str, what: str) -> pyarrow.Array:
        names = batch.schema.names
        key = {QUERY: "query"}.get(usual, usual)
        name = self._columns.get(key, usual)
        if name not in names:
            raise ValueError(f"rows: no column `{name}` is the {what}: there are {', '.join(names)}")
        return batch.column(names.index(name))


def _table(batches: list[pyarrow.RecordBatch]) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches(batches) if batches else None


def problem(message: str) -> InputError:
    """An error in rows that have no number."""
    return InputError(f"rows: {message}", [("rows", 0, message)])


def _selectable(column: pyarrow.Array) -> pyarrow.Array:
    """The column in a type from which pyarrow can select rows."""
    import pyarrow as pa
    import pyarrow.types as pt

    if pt.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if pt.is_binary_view(column.type) else column


def _text(ids: pyarrow.Array) -> pyarrow.Array:
    """Ids as text: integers as their digits."""
    import pyarrow as pa
    import pyarrow.types as pt

    if pt.is_dictionary(ids.type):
        return _text(ids.dictionary).take(ids.indices)
    ids = _selectable(ids)
    if pt.is_binary(ids.type) or pt.is_large_binary(ids.type):
        return ids
    if pt.is_floating(ids.type):
        raise TypeError(f"ids are of type {ids.type}: text or integers were expected")
    return ids.cast(pa.large_string())


def _flat(labels: pyarrow.Array) -> tuple[Any, Any]:
    """All labels one behind the other, and the starts of the rows."""
    import numpy as np
    import pyarrow.types as pt

    of = labels.type
    if pt.is_binary(of) or pt.is_large_binary(of):
        wide = np.int64 if pt.is_large_binary(of) else np.int32
        _, ends, data = labels.buffers()
        offsets = np.frombuffer(ends, wide, len(labels) + 1, labels.offset * np.dtype(wide).itemsize)
        values = np.frombuffer(data, np.int8) if data is not None and data.size else np.empty(0, np.int8)
        return values[offsets[0] : offsets[-1]], offsets - offsets[0]
    if pt.is_fixed_size_list(of):
        offsets = np.arange(len(labels) + 1, dtype=np.int64) * of.list_size
        return _numbers(labels.flatten(), "labels"), offsets
    if pt.is_list(of) or pt.is_large_list(of):
        offsets = labels.offsets.to_numpy()
        return _numbers(labels.flatten(), "labels"), offsets - offsets[0]
    raise TypeError(f"labels are of type {of}: bytes, or lists of numbers, were expected")


def _numbers(values: pyarrow.Array, what: str) -> Any:
    if values.null_count:
        raise problem(f"{what} have a null: −1 says that a document is not judged")
    return values.to_numpy(zero_copy_only=False)


def _whole(values: pyarrow.Array, what: str) -> Any:
    if values.null_count:
        raise problem(f"{what} has a null")
    return values.to_numpy()


def _counts(judged: pyarrow.Array) -> Any:
    """The number of documents of each grade, one row for each query."""
    import numpy as np
    import pyarrow.types as pt

    of = judged.type
    if not (pt.is_list(of) or pt.is_large_list(of) or pt.is_fixed_size_list(of)):
        raise TypeError(f"judged is of type {of}: a list of counts of each grade was expected")
    if judged.null_count:
        raise problem("judged has a null")
    values = _whole(judged.flatten(), "judged")
    if len(values) % len(judged):
        raise problem("judged has lists of different lengths: a count of each grade was expected")
    width = len(values) // len(judged)
    if not width:
        raise problem("judged has empty lists: a count of each grade was expected, of grade 0 first")
    if not pt.is_fixed_size_list(of) and (np.diff(judged.offsets.to_numpy()) != width).any():
        raise problem("judged has lists of different lengths: a count of each grade was expected")
    return values.reshape(len(judged), width)


def names_of_runs(names: Iterable[Any]) -> list[str]:
    """The names of runs in bytewise order, after checking that they are text and not null."""
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            what = "a null" if name is None else f"{name!r} of {type(name)}"
            raise problem(f"the run of a result is {what}: text was expected")
    if not found:
        raise UnanswerableError("there are no runs")
    return sorted(found)

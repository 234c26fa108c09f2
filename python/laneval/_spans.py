"""Passages of documents by their positions, and judgments of the chunks that documents are cut into."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, Literal, TypeAlias

from laneval import _native
from laneval._sources import ArrowStream, Path, Qrels

Spans: TypeAlias = Path | Iterable[Sequence[Any]] | Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | ArrowStream

QUERY = ("query_id", "qid", "query", "user_input")
DOC = ("doc_id", "docid", "docno", "document_id", "doc", "document")
CHUNK = ("chunk_id", "chunk", "id", "node_id")
START = ("start", "start_index", "start_char_idx", "start_offset", "begin")
END = ("end", "end_index", "end_char_idx", "end_offset", "stop")
GRADE = ("relevance", "rel", "label", "grade", "rating", "score")


def chunk_qrels(gold: Spans, chunks: Spans, *, min_overlap: float = 0.5, facet: Literal["subtopic"] | None = None) -> Qrels:
    """Makes judgments of chunks from passages by their positions, so that judgments outlive a chunking, and returns them.

    `gold` has passages, (query, document, start, end) and perhaps a grade, which is 1 without; `chunks` has (chunk, document, start, end).
    Both are paths of JSON records, TSV or CSV, lists of tuples or of dicts, dicts of columns, or tables of pandas, polars or pyarrow. A
    position counts from 0, in bytes, characters or tokens, the same in both, and an end is behind the last position.

    A chunk has the grade of a passage if both share at least `min_overlap` of the shorter of the two, above 0 and at most 1, and the largest
    if several do. With `facet="subtopic"` each passage is a subtopic of its query, so that StRecall is the share of passages found and what it
    divides by does not depend on the chunking.

    >>> import laneval
    >>> gold = [("q1", "d1", 10, 30), ("q1", "d1", 50, 60)]
    >>> chunks = [(f"d1#{n}", "d1", 20 * n, 20 * n + 20) for n in range(3)]
    >>> qrels = laneval.chunk_qrels(gold, chunks)
    >>> laneval.evaluate(qrels, {"q1": {"d1#0": 0.9, "d1#2": 0.5}}, "R@2")["R@2"]
    0.6666666666666666

    Raises `InputError` if a passage or a chunk is wrong, `UnanswerableError` if no chunk is of a document of the passages or `min_overlap`
    is none, `TypeError` or `ValueError` if a source is of no such type or `facet` is another one, and `OSError` if a file cannot be read.
    """
    if facet not in (None, "subtopic"):
        raise ValueError(f"facet is {facet!r}: 'subtopic' or None was expected")
    passages = _rows(gold, "gold", (QUERY, DOC, START, END), GRADE)
    pieces = _rows(chunks, "chunks", (CHUNK, DOC, START, END), None)
    made, _ = _native.chunk_qrels(passages, pieces, min_overlap, facet == "subtopic")
    qrels = Qrels.__new__(Qrels)
    qrels._native = made
    return qrels


def _rows(source: Spans, what: str, names: Sequence[Sequence[str]], more: Sequence[str] | None) -> Any:
    """The rows of a source: two ids, two positions, and if there are `more` names a grade; a path stays one."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    rows: Any = source
    columns = _columns(source)
    if columns is not None:
        chosen = [_column(columns, known, what) for known in names]
        if more is not None:
            grades = next((columns[name] for name in more if name in columns), None)
            chosen.append([1.0] * len(chosen[0]) if grades is None else grades)
        rows = zip(*chosen, strict=True)
    return [_row(row, at, what, names, more) for at, row in enumerate(rows, start=1)]


def _columns(source: Any) -> dict[str, list[Any]] | None:
    """The columns of a table by their names; `None` of rows."""
    if isinstance(source, Mapping):
        return {str(name): list(values) for name, values in source.items()}
    if hasattr(source, "to_pydict"):
        found: dict[str, list[Any]] = source.to_pydict()
        return found
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        return {str(name): list(source[name]) for name in source.columns}
    return None


def _column(columns: Mapping[str, list[Any]], known: Sequence[str], what: str) -> list[Any]:
    for name in known:
        if name in columns:
            return columns[name]
    raise ValueError(f"{what}: none of {', '.join(known)} is among the columns {', '.join(columns)}")


def _row(row: Any, at: int, what: str, names: Sequence[Sequence[str]], more: Sequence[str] | None) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        fields = [_column({name: [value] for name, value in row.items()}, known, f"{what}, row {at}")[0] for known in names]
        fields += [row[name] for name in more or () if name in row][:1]
    elif isinstance(row, (str, bytes)) or not isinstance(row, Sequence):
        raise TypeError(f"{what}, row {at} is of {type(row)}: a tuple or a dict was expected")
    else:
        fields = list(row)
    most = 4 + (more is not None)
    if not 4 <= len(fields) <= most:
        raise ValueError(f"{what}, row {at} has {len(fields)} fields: 4{' or 5' if more else ''} were expected")
    one, doc, start, end, *rest = fields
    positions = (index(start), index(end))
    ids = tuple(of if isinstance(of, bytes) else str(of).encode("utf-8", "surrogateescape") for of in (one, doc))
    if more is None:
        return (*ids, *positions)
    grade = rest[0] if rest else None
    return (*ids, *positions, 1.0 if grade is None else float(grade))

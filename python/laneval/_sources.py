"""What judgments and runs are read from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, Literal, Protocol, TypeAlias

from laneval import _native
from laneval._arrays import borrow
from laneval._errors import LanevalWarning, OptionError, UnanswerableError
from laneval._options import Columns, Format, FacetKind, Options, PreparedOptions, column_names, doc_id_rule, words_of_grades

class ArrowStream(Protocol):
    """A table with a stream of Arrow, such as those of pyarrow, pandas, polars and DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Path: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = (
    Path
    | bytes
    | Mapping[str, Mapping[str, float]]
    | Mapping[str, Collection[Any]]
    | ArrowStream
    | Iterable[tuple[str, str, float]]
    | Iterable[Mapping[str, Any]]
)
GroupedSource: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]] | Iterable[tuple[str, str, str, float]]
Array: TypeAlias = Any
Id: TypeAlias = str | int | bytes
Relevant: TypeAlias = Collection[Id] | Mapping[Id, float]


class Qrels:
    """Judgments, read once and used for many runs.

    `source` is what `evaluate` takes: dicts of dicts, of lists or of sets, records, tables, paths or `bytes`. `columns`, `dialect`,
    `qrels_format`, `facet`, `qrels_doc_id` and `grade_words` are keywords of `Options`. `letor_groups` is the file that says how many lines each
    query has in LETOR judgments without `qid`. Documents of grade 1 or more are relevant, unless a measure has another `rel`; a grade below 0 counts as 0.

    Raises `InputError` if judgments are wrong or there are none, `TypeError` if the source is of no such type, `OptionError` or
    `UnanswerableError` if a keyword has a value that it does not have, and `OSError` if a file cannot be read.

    >>> import laneval
    >>> qrels = laneval.Qrels({"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}})
    >>> qrels.queries, qrels.grades
    (['q1', 'q2'], [0.0, 1.0, 2.0])
    >>> laneval.evaluate(qrels, {"q1": {"d1": 0.5}, "q2": {"d2": 0.1}}, "RR")["RR"]
    0.5

    A document may have several judgments, by judge, by subtopic, as preferences, or of passages in it (`facet="span"`: a start and an
    end). Each of the others names its judge, subtopic or preference group: in a column of a table, as the second item of (query, group, document, grade), or as the innermost key of {query: {document: {group: grade}}}.

    >>> judged = laneval.Qrels([("q1", "ann", "d1", 1), ("q1", "bob", "d1", 0)], facet="judge")
    >>> laneval.evaluate(judged, {"q1": {"d1": 0.5}}, "P(judges=mean)@1")["P(judges=mean)@1"]
    0.5
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        source: Source | GroupedSource,
        *,
        columns: Columns | None = None,
        dialect: Literal["laneval", "trec9", "trec10"] = "laneval",
        qrels_format: Format | None = None,
        letor_groups: Path | None = None,
        facet: FacetKind | None = None,
        qrels_doc_id: str | Mapping[str, str] | None = None,
        grade_words: Mapping[str, float] | None = None,
    ) -> None:
        """Reads judgments."""
        doc_id, words = doc_id_rule(qrels_doc_id), words_of_grades(grade_words)
        self._native = _native.Qrels(
            source, "qrels", dialect, column_names(columns), qrels_format, letor_groups, facet, doc_id, words
        )
        warn_of_notes(self._native.notes(), 3)

    @property
    def queries(self) -> list[str]:
        """The ids of the judged queries, `[query]`, in bytewise order."""
        return self._native.queries()

    @property
    def grades(self) -> list[float]:
        """The distinct grades, `[grade]`, ascending, from 0: negative ones are left out."""
        return self._native.grades()

    @property
    def fingerprint(self) -> str:
        """A hash of all judgments, whatever their order: 32 hexadecimal digits."""
        return self._native.fingerprint()

    @classmethod
    def from_bytes(cls, data: bytes) -> Qrels:
        """Makes judgments of `data`, the bytes that `to_bytes` returned, in this or a later version of laneval, and returns them.

        Raises `InputError` if they are others, or damaged.
        """
        qrels = cls.__new__(cls)
        qrels._native = _native.Qrels.from_bytes(data)
        return qrels

    def to_bytes(self) -> bytes:
        """The judgments as bytes, which pickles hold, so that joblib, Dask and `multiprocessing` hand judgments on.

        >>> import laneval
        >>> qrels = laneval.Qrels({"q1": {"d1": 1}})
        >>> laneval.Qrels.from_bytes(qrels.to_bytes()).fingerprint == qrels.fingerprint
        True
        """
        return self._native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Qrels.from_bytes, (self.to_bytes(),))

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<judgments of {len(self)} queries>"


def _lent(array: Array | None) -> tuple[Any, bool] | None:
    if isinstance(array, (list, tuple)) and not array:
        array = memoryview(b"")  # of whole numbers, though NumPy makes floats of nothing
    return None if array is None else borrow(array)


def _judgments(
    ready: PreparedOptions | None, qrels: Source | GroupedSource | Qrels, options: Options, letor_groups: Path | None = None
) -> _native.Qrels:
    """The judgments, read by the groups that were asked for or that the measures need."""
    if isinstance(qrels, Qrels):
        of_qrels = ("facet", "qrels_doc_id", "qrels_format", "grade_words")
        read = {"letor_groups": letor_groups, **{word: options.get(word) for word in of_qrels}}
        for name, given in read.items():
            if given is not None:
                raise TypeError(f"{name} is for judgments that are read here: give it to Qrels")
        return qrels._native
    facet = None if ready is None else ready.native.facet()
    dialect, columns = options.get("dialect", "laneval"), column_names(options.get("columns"))
    doc_id, words = doc_id_rule(options.get("qrels_doc_id")), words_of_grades(options.get("grade_words"))
    judged = _native.Qrels(qrels, "qrels", dialect, columns, options.get("qrels_format"), letor_groups, facet, doc_id, words)
    warn_of_notes(judged.notes(), 4)
    return judged


def check_columns(options: Options, sources: Iterable[object]) -> None:
    """Checks that no columns are named where neither judgments nor runs have any."""

    def has_columns(source: object) -> bool:
        return not (isinstance(source, Mapping) and source and all(isinstance(of, (Mapping, Set)) for of in source.values()))

    if options.get("columns") is not None and not any(map(has_columns, sources)):
        raise OptionError("columns changes nothing for dicts of queries, which have none: leave it out")


def warn_of_notes(notes: Sequence[str], level: int) -> None:
    """Warns of what is doubtful of texts, and of rows that were left out."""
    for note in notes:
        warnings.warn(note, LanevalWarning, stacklevel=level)


def _named(runs: Mapping[str, Source] | Sequence[Path]) -> list[tuple[str | None, Any]]:
    """Runs with their names, of which there is one at least."""
    if isinstance(runs, Mapping):
        for name in runs:
            if not isinstance(name, str):
                raise TypeError(f"the name {name!r} of a run is of {type(name)}: a str was expected")
        return _some(list(runs.items()))
    if isinstance(runs, (str, bytes, os.PathLike)):
        raise TypeError("runs is one path: a list of paths, or a dict of runs by their names, was expected")
    paths = list(runs)  # once, of an iterator
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"a run of {type(path)} has no name: a list holds paths, and runs in memory are {{'name': run, …}}")
    return _some([(None, os.fspath(path)) for path in paths])


def _some(runs: list[tuple[str | None, Any]]) -> list[tuple[str | None, Any]]:
    """Runs, of which there is one at least."""
    if not runs:
        raise UnanswerableError("there are no runs")
    return runs

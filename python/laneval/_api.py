"""Judgments and rankings in, scores out."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from laneval import _native
from laneval._arrays import borrow
from laneval._custom import CustomMeasure, statistics
from laneval._errors import DeviceError, InputError, OptionError, UnanswerableError
from laneval._names import base_name
from laneval._options import DEFAULT, Measures, Options, PreparedOptions, reject_others, apply_library, stat_names
from laneval._scores import PerQuery, RunScores, Scores, warn, with_ignored
from laneval._sources import Array, GroupedSource, Id, Path, Qrels, Relevant, Source, _judgments, _lent, _named, check_columns, warn_of_notes

if TYPE_CHECKING:
    from types import TracebackType

    from laneval._summary import Summary


class Matrix:
    """Rankings joined with judgments, one byte for each document. A matrix is made once, by `build`, and evaluated often, from memory or a
    `.lmx` file.

    >>> import os, tempfile
    >>> import laneval
    >>> matrix = laneval.Matrix.build({"q1": {"d1": 1}}, {"mine": {"q1": {"d2": 0.7, "d1": 0.5}}})
    >>> matrix.evaluate("RR")["mine"]["RR"]
    0.5
    >>> matrix.runs, matrix.queries, len(matrix.fingerprint)
    (['mine'], ['q1'], 32)
    >>> path = os.path.join(tempfile.mkdtemp(), "runs.lmx")
    >>> matrix.write(path)
    >>> laneval.Matrix.open(path).evaluate("RR")["mine"]["RR"]
    0.5
    >>> laneval.Matrix.from_bytes(matrix.to_bytes()).summary("RR").scores()["mine"]["RR"]
    0.5
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Matrix) -> None:
        self._native = native

    @classmethod
    def build(
        cls,
        qrels: Source | GroupedSource | Qrels,
        runs: Mapping[str, Source] | Sequence[Path],
        *,
        letor_groups: Path | None = None,
        keep_ties: bool = False,
        **options: Unpack[Options],
    ) -> Matrix:
        """Joins `runs` with judgments (`qrels`), and returns their matrix. Both are what `evaluate_runs` takes; `letor_groups` is
        as for `Qrels`. `keep_ties` keeps which documents have equal scores, for values over all their orders (`ties="average"` of
        `evaluate`). `options` are the keywords of `Options` that say how files are read, and how rankings are ordered and cut.

        Raises what `evaluate_runs` raises for judgments, runs and keywords, `TypeError` if `keep_ties` is no bool, and `OptionError` for a
        keyword that changes values and not rankings: it is for `evaluate`.
        """
        if not isinstance(keep_ties, bool):
            raise TypeError(f"keep_ties is {keep_ties!r}: True or False was expected")
        ready = PreparedOptions((), options)
        _made_later(options, ready.options)
        named = _named(runs)
        check_columns(options, [qrels, *(run for _, run in named)])
        judgments = _judgments(ready, qrels, options, letor_groups)
        matrix = ready.native.build(judgments, named, ready.columns, keep_ties)
        warn_of_notes(matrix.notes(), 3)
        return cls(matrix)

    @classmethod
    def open(cls, path: Path) -> Matrix:
        """Opens a `.lmx` file, which is mapped into memory, and returns its matrix.

        Raises `OSError` if the file at `path` cannot be read, and `MatrixError` if it is another one, or damaged.
        """
        return cls(_native.Matrix.open(path))

    def write(self, path: Path) -> None:
        """Writes the matrix as a `.lmx` file: whole, or not at all.

        Raises `OSError` if the file at `path` cannot be written.
        """
        self._native.write(path)

    def evaluate(self, measures: Measures = DEFAULT, **options: Unpack[Options]) -> Scores:
        """Evaluates all runs, and returns their scores, `{run: {measure: average}}`. `measures` are names or `CustomMeasure`s, and
        `options` are keywords of `Options` but those by which rankings were made already.

        Raises `MeasureError` if there is no such measure, `UnanswerableError` if one needs other judgments, and `TypeError` or
        `OptionError` if a keyword is wrong, or is for `build`.
        """
        ready = PreparedOptions(measures, options)
        _made_already(options, self._native.rule())
        return Scores(_scores(ready, ready.native.matrix(self._native), self._native, options, 4))

    def summary(self, measures: Measures = DEFAULT, **options: Unpack[Options]) -> Summary:
        """Evaluates all runs, and returns their summary, to be merged with others. `measures` and `options`, keywords of `Options`, are as
        for `evaluate`, but for what needs the values of all queries, as `Summary.evaluate` says.

        Raises what `evaluate` raises, `OptionError` if a keyword needs the values of all queries, and `UnanswerableError` if a measure is
        written in Python.
        """
        from laneval._summary import Summary, _ready

        ready = _ready(measures, options)
        _made_already(options, self._native.rule())
        return Summary(ready.native.summary(self._native))

    def load(self, adapter: str | None = None) -> ResidentMatrix:
        """Sends the labels to a GPU, where they stay for repeated evaluation. `adapter` is the number of a GPU in `devices()`, or a part of
        its name; the default is the most powerful GPU. Returns the matrix there; its memory is released at the end of a `with` block, or by
        `close`.

        Raises `DeviceError` if there is no such GPU, or laneval was built without its GPU engine.

        >>> import laneval
        >>> matrix = laneval.Matrix.build({"q1": {"d1": 1}}, {"mine": {"q1": {"d2": 0.7, "d1": 0.5}}})
        >>> try:
        ...     with matrix.load() as resident:
        ...         print(resident.evaluate("RR")["mine"]["RR"])
        ... except laneval.DeviceError:  # there is no GPU
        ...     print(matrix.evaluate("RR")["mine"]["RR"])
        0.5
        """
        if not hasattr(_native, "ResidentEvaluator"):
            raise DeviceError("this laneval was built without its GPU engine")
        resident = _native.ResidentEvaluator.load(self._native, adapter)
        return ResidentMatrix(resident, self.runs, self._native.rule())

    @property
    def runs(self) -> list[str]:
        """The names of the runs, `[run]`."""
        return self._native.runs()

    @property
    def queries(self) -> list[str]:
        """The ids of the judged queries, `[query]`, in bytewise order."""
        return self._native.queries()

    @property
    def fingerprint(self) -> str:
        """A hash of all judgments: 32 hexadecimal digits."""
        return self._native.fingerprint()

    @classmethod
    def from_bytes(cls, data: bytes) -> Matrix:
        """Makes a matrix of `data`, the bytes of a `.lmx` file, and returns it.

        Raises `MatrixError` if they are others, or damaged.
        """
        return cls(_native.Matrix.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The bytes of the `.lmx` file that `write` would write. Pickles hold them."""
        return self._native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Matrix.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return f"<{', '.join(self.runs)}: {len(self.queries)} queries>"


class ResidentMatrix:
    """A label matrix whose labels are in the memory of a GPU, made by `Matrix.load`.

    >>> import laneval
    >>> matrix = laneval.Matrix.build({"q1": {"d1": 1}}, {"mine": {"q1": {"d2": 0.7, "d1": 0.5}}})
    >>> try:
    ...     resident = matrix.load()
    ... except laneval.DeviceError:  # there is no GPU
    ...     print(matrix.evaluate("RR")["mine"]["RR"])
    ... else:
    ...     print(resident.evaluate("RR")["mine"]["RR"])
    ...     resident.close()
    0.5
    """

    __slots__ = ("_native", "_rule", "_runs")

    def __init__(self, native: _native.ResidentEvaluator, runs: list[str], rule: tuple[str, str]) -> None:
        self._native = native
        self._runs = runs
        self._rule = rule

    def evaluate(self, measures: Measures = DEFAULT, **options: Unpack[Options]) -> Scores:
        """Evaluates all runs on the GPU, and returns their scores, `{run: {measure: average}}`. `measures` are names of measures, and
        `options` are keywords of `Options`, as for `Matrix.evaluate`, but `engine` and `adapter`.

        Raises `UnanswerableError` if a measure is written in Python or the labels were released, `MeasureError` if there is no such
        measure, `TypeError` or `OptionError` if a keyword is wrong, and `DeviceError` if the GPU is lost.
        """
        for word in ("engine", "adapter"):
            if word in options:
                raise TypeError(f"{word} is chosen already, because the labels are on a GPU")
        ready = PreparedOptions(measures, options)
        _made_already(options, self._rule)
        if ready.custom:
            name = ready.custom[0].name
            raise UnanswerableError(f"{name} is a function of Python, which no GPU runs: evaluate it on the matrix")
        return Scores(_scores(ready, self._native.evaluate(ready.native), None, options, 4))

    def close(self) -> None:
        """Releases the memory of the GPU. To do so twice changes nothing."""
        self._native.close()

    def __enter__(self) -> ResidentMatrix:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{', '.join(self._runs)}: on a GPU>"


def evaluate(
    qrels: Source | GroupedSource | Qrels,
    run: Source,
    measures: Measures = DEFAULT,
    *,
    letor_groups: Path | None = None,
    **options: Unpack[Options],
) -> RunScores:
    """Evaluates a `run` against judgments (`qrels`), and returns its scores, `{measure: average}`.

    Both are dicts of dicts, or of lists of documents (in the order of the ranking) or of pairs with numbers, iterables of (query, document,
    number) or of dicts with such keys as tables have columns, tables of pandas, polars (also lazy ones), pyarrow or DuckDB, paths of files in any format of `docs/formats.md` (`str` is always a path) or their content
    as `bytes`. A run may be empty: a system that finds nothing scores 0. `letor_groups` is the file that says how many lines each query
    has in LETOR judgments without `qid`.

    `measures` are names, such as `"nDCG@10"` or those of other tools, and `CustomMeasure`s; `options` are keywords of `Options`. Most
    measures are from 0 to 1, and have no unit; those that count or add up, such as `NumRel` and `DCG`, may be above 1. `measures()` has the
    formulas.

    Raises `InputError` if judgments or results are wrong, there are no judgments, or no query of the run is judged, `MeasureError` if there
    is no such measure, `UnanswerableError` if a measure needs judgments of another kind, `TypeError` or `OptionError` if an argument is
    wrong, `OSError` if a file cannot be read, and `DeviceError` if there is no such GPU.

    >>> import laneval
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d2": 1.5, "d1": 1.2}, "q2": {"d3": 0.7}}
    >>> scores = laneval.evaluate(qrels, run, ["nDCG@10", "AP", "RR"])
    >>> scores["RR"]
    0.75

    Measures over subtopics, preferences or judges read judgments by these facets, as `Qrels` does with `facet`; `judges="mean"`
    takes the mean over the judges of a query for all other measures.

    >>> qrels = [("q1", "s1", "d1", 1), ("q1", "s2", "d2", 1)]
    >>> laneval.evaluate(qrels, {"q1": {"d1": 0.9, "d2": 0.8}}, "StRecall@1")["StRecall@1"]
    0.5
    >>> laneval.evaluate(qrels, {"q1": {"d1": 0.9, "d2": 0.8}}, "RR", judges="mean")["RR(judges=mean)"]
    0.75
    """
    ready = PreparedOptions(measures, options)
    check_columns(options, (qrels, run))
    judgments = _judgments(ready, qrels, options, letor_groups)
    return _evaluated(ready, judgments, [("run", run)], options)[0]


def evaluate_runs(
    qrels: Source | GroupedSource | Qrels,
    runs: Mapping[str, Source] | Sequence[Path],
    measures: Measures = DEFAULT,
    *,
    letor_groups: Path | None = None,
    **options: Unpack[Options],
) -> Scores:
    """Evaluates several `runs`, given by names or as files, which are named by their paths, and returns their scores,
    `{run: {measure: average}}`, in that order.

    A run by its name, the judgments (`qrels`), `measures`, `letor_groups` and `options`, keywords of `Options`, are as for
    `evaluate`.

    Raises what `evaluate` raises, with the name of the run, `TypeError` if a run in memory has no name, and `UnanswerableError` if there
    are no runs.

    >>> import laneval
    >>> qrels = {"q1": {"d1": 1}}
    >>> laneval.evaluate_runs(qrels, {"a": {"q1": {"d1": 0.5}}, "b": {"q1": {"d2": 0.5}}}, "RR").to_dict()
    {'a': {'RR': 1.0}, 'b': {'RR': 0.0}}
    """
    ready = PreparedOptions(measures, options)
    named = _named(runs)
    check_columns(options, [qrels, *(run for _, run in named)])
    judgments = _judgments(ready, qrels, options, letor_groups)
    return Scores(_evaluated(ready, judgments, named, options))


def evaluate_labels(
    labels: Array,
    measures: Measures = DEFAULT,
    *,
    lengths: Array | None = None,
    offsets: Array | None = None,
    groups: Array | None = None,
    relevant: Array | None = None,
    judged: Array | None = None,
    **options: Unpack[Options],
) -> RunScores:
    """Evaluates rankings whose documents are given by their grades: `labels[query, rank]`, the best rank first, −1 for a document that is
    not judged.

    Rows may end early (`lengths`). Labels of one dimension have their rows one behind the other (`offsets`, one more than rows, or
    `groups`, one group id for each value). All judged documents are given by `judged[query, grade]`, the numbers of documents of each grade
    from 0, or by `relevant[query]`, the number of relevant ones. Without them ideal rankings are made of the labels themselves, and `ideal`
    of the scores is `"retrieved"`.

    The shapes are `labels[Q, D]` or `labels[n]`, `lengths[Q]`, `offsets[Q + 1]`, `groups[n]`, `relevant[Q]` and `judged[Q, grades]`, for Q
    queries, D ranks and n labels. Arrays are of any library, or lists; grades are any numbers from 0, all others are whole. Returns the
    scores `{measure: average}` for `measures` and `options`, the keywords of `Options`, as for `evaluate`; queries have the ids `0`, `1` ….

    Raises `ValueError` if shapes do not go together, `UnanswerableError` if numbers do not (NaN, a grade below −1, more relevant documents
    retrieved than there are), `MeasureError` if there is no such measure, and `TypeError` or `OptionError` if an argument is wrong.

    >>> import array, laneval
    >>> labels = memoryview(array.array("b", [1, 0, 0, 0, 0, 1])).cast("B").cast("b", (2, 3))
    >>> scores = laneval.evaluate_labels(labels, "RR")
    >>> scores["RR"], scores.ideal
    (0.6666666666666666, 'retrieved')
    """
    _cover(offsets, labels)
    arrays = _native.Arrays.labels(
        borrow(labels), _lent(lengths), _lent(offsets), _lent(groups), _lent(relevant), _lent(judged)
    )
    return _ranked(arrays, measures, options)


def evaluate_scores(
    scores: Array,
    grades: Array,
    measures: Measures = DEFAULT,
    *,
    lengths: Array | None = None,
    groups: Array | None = None,
    sizes: Array | None = None,
    empty: Literal["neg", "pos", "skip", "error"] = "neg",
    **options: Unpack[Options],
) -> RunScores:
    """Evaluates documents that are ranked by `scores[query, document]`; their grades have the same shape. Arrays of one dimension have the
    queries one behind the other, with their `sizes`, or with `groups`, one group id for each document.

    Equal scores keep their order. Ideal rankings are made of the grades given. Queries without any relevant document have the value 0
    (`empty="neg"`) or 1 (`"pos"`), do not count (`"skip"`), or are an error (`"error"`).

    The shapes are `scores[Q, D]` and `grades[Q, D]`, of which `lengths[Q]` documents count, or `scores[n]` and `grades[n]` with `sizes[Q]`
    or `groups[n]`, for Q queries, D documents and n documents of all queries. Scores are any numbers but NaN, and grades are from 0, or −1
    for a document that is not judged. Returns the scores `{measure: average}` for `measures` and `options`, the keywords of `Options`, as
    for `evaluate`; queries have the ids `0`, `1` ….

    Raises `ValueError` if shapes do not go together or `empty` is none of these, `UnanswerableError` if numbers do not go together, a score
    is NaN or nothing is relevant with `empty="error"`, `MeasureError` if there is no such measure, and `TypeError` or `OptionError` if an
    argument is wrong.

    >>> import array, laneval
    >>> scores = array.array("f", [0.1, 0.9, 0.3, 0.2])
    >>> grades = array.array("b", [1, 0, 1, 0])
    >>> laneval.evaluate_scores(scores, grades, "RR", sizes=array.array("i", [2, 2]))["RR"]
    0.75
    """
    arrays = _native.Arrays.scores(borrow(scores), borrow(grades), _lent(lengths), _lent(sizes), _lent(groups))
    if empty == "neg":
        return _ranked(arrays, measures, options)
    if empty not in ("pos", "skip", "error"):
        raise ValueError(f"empty is {empty!r}: 'neg', 'pos', 'skip' or 'error' was expected")
    return _without_relevant(arrays, measures, options, empty)


def evaluate_ids(
    relevant: Sequence[Relevant | None] | Mapping[Id, Relevant | None],
    retrieved: Sequence[Sequence[Id] | None] | Mapping[Id, Sequence[Id] | None],
    measures: Measures = DEFAULT,
    **options: Unpack[Options],
) -> RunScores:
    """Evaluates lists of ids: the `relevant` ids of each query, or a mapping from ids to grades, and the `retrieved` ids, the best first.
    `None` is a list without any.

    The shapes are `relevant[query][any order]` or `relevant[query]{id: grade}`, and `retrieved[query][rank]`; ids are `str`, `int` or
    `bytes`, and grades numbers, 1 and above for relevant. Two arrays of integers of 32 or 64 bits are read where they lie. Returns the
    scores `{measure: average}` for `measures` and `options`, the keywords of `Options`, as for `evaluate`; in lists, queries have the ids
    `0`, `1` ….

    Raises `UnanswerableError` if there are not as many lists on both sides, or an id is in a list twice, `InputError` if no query is
    judged, `TypeError` if an id or an argument is of another type, `ValueError` if a query is there twice or tables have different indices,
    `MeasureError` if there is no such measure, and `OptionError` if a keyword has a value that it does not have.

    >>> import laneval
    >>> laneval.evaluate_ids([{"a", "b"}, [7]], [["a", "c"], [3, 7]], "RR")["RR"]
    0.75

    Both may be mappings from queries instead. A judged query without a list is an empty ranking, and queries that are not judged do not
    count; warnings say so.

    >>> laneval.evaluate_ids({"q1": ["a"], "q2": ["b"]}, {"q2": ["c", "b"], "q1": ["a"]}, "RR", per_query=True).per_query().to_dict()
    {'q1': {'RR': 1.0}, 'q2': {'RR': 0.5}}

    An id that is in a retrieved list again is an error, unless `aggregate` says otherwise: with `"max"` only its first place counts, and the
    others close up; with `"blank"` they stay, as documents that nobody judged.

    >>> [laneval.evaluate_ids([["a", "b"]], [["a", "a", "b"]], "AP", aggregate=how)["AP"] for how in ("max", "blank")]
    [1.0, 0.8333333333333333]
    """
    aggregate = options.pop("aggregate", "error")
    one, other = getattr(relevant, "index", None), getattr(retrieved, "index", None)
    if one is not None and hasattr(one, "equals") and hasattr(other, "equals") and not one.equals(other):
        raise ValueError("relevant and retrieved have different indices: give mappings, as `relevant.to_dict()`, to match them by query")
    if _are_arrays_of_ids(relevant, retrieved):
        return _ranked(_native.Arrays.id_arrays(borrow(relevant), borrow(retrieved), aggregate), measures, options)
    if not isinstance(relevant, Mapping) and not isinstance(retrieved, Mapping):
        return _ranked(_native.Arrays.ids(relevant, retrieved, None, aggregate), measures, options)
    judged, found = _by_query(relevant, "relevant"), _by_query(retrieved, "retrieved")
    ignored = [query for query in found if query not in judged]
    if ignored and len(ignored) == len(found):
        raise InputError("retrieved: no query of it is judged: the queries of both were expected to have the same ids")
    arrays = _native.Arrays.ids(judged.values(), [found.get(query) for query in judged], list(judged), aggregate)
    return with_ignored(_ranked(arrays, measures, options), ignored, 3)


def _are_arrays_of_ids(relevant: Any, retrieved: Any) -> bool:
    """Whether both are arrays of integers of 32 or 64 bits in rows, as NumPy or PyTorch have them, whose ids can be compared."""
    kinds = [str(getattr(array, "dtype", "")).removeprefix("torch.") for array in (relevant, retrieved)]
    if not all(kind in ("int32", "uint32", "int64", "uint64") for kind in kinds) or "uint64" in kinds and kinds[0] != kinds[1]:
        return False
    is_plain = all(hasattr(array, "ndim") and not hasattr(array, "mask") for array in (relevant, retrieved))
    shapes = [tuple(array.shape) for array in (relevant, retrieved)]
    return is_plain and all(len(shape) == 2 and all(shape) for shape in shapes) and shapes[0][0] == shapes[1][0]


def evaluate_neighbours(
    truth: Array,
    found: Array,
    measures: Measures = "NNR@10",
    *,
    truth_distances: Array | None = None,
    found_distances: Array | None = None,
    within: float = 0.0,
    **options: Unpack[Options],
) -> RunScores:
    """Evaluates approximate nearest neighbours: the ids of the true ones (`truth`) of each query, and of those that were `found`, the nearest
    first. −1 (or 2³² − 1) is an empty place, which keeps its rank and is nothing.

    The recall of nearest neighbours is `NNR@k`: how many of the k nearest are among the first k; `NNR(truth=1)@100` asks whether the nearest
    is among the first 100. All other measures work as well, with the grade T for the nearest of T neighbours, T − 1 for the next, and so on.

    With `truth_distances`, which ascend, neighbours at the same distance count alike. With `found_distances` as well, a found neighbour is one
    of the t nearest if its distance is at most that of the t-th and `within`, from 0 to infinity, whatever its id; then only `NNR` has a value. An id that was
    found twice is an error, unless the keyword `aggregate` says otherwise: with `"max"` it is left out, with `"blank"` it keeps its rank and is
    nothing.

    The shapes are `truth[Q, T]` and `found[Q, D]`, of integers of 32 or 64 bits, `truth_distances[Q, T]` and `found_distances[Q, D]`. Returns the scores
    `{measure: average}` for `measures` and `options`, the keywords of `Options`, as for `evaluate`; queries have the ids `0`, `1` …, and
    those without a true neighbour do not count.

    Raises `ValueError` if shapes do not go together, `UnanswerableError` if numbers do not, `MeasureError` if there is no such measure or
    the truth is too short for it, and `TypeError` or `OptionError` if an argument is wrong.

    >>> import array, laneval
    >>> truth = memoryview(array.array("i", [1, 2, 3, 7, 8, 9])).cast("B").cast("i", (2, 3))
    >>> found = memoryview(array.array("q", [1, 4, 8, 7])).cast("B").cast("q", (2, 2))
    >>> laneval.evaluate_neighbours(truth, found, "NNR@[1,2]").to_dict()
    {'NNR@1': 0.5, 'NNR@2': 0.75}
    """
    aggregate = options.pop("aggregate", "error")
    arrays = _native.Arrays.neighbours(
        borrow(truth), borrow(found), _lent(truth_distances), _lent(found_distances), within, aggregate
    )
    return _ranked(arrays, measures, options)


def _by_query(lists: object, name: str) -> dict[str, Any]:
    """Lists of ids by the ids of their queries, as text."""
    if not isinstance(lists, Mapping):
        raise TypeError(f"{name} is of {type(lists)}: a mapping from queries was expected, as the other one is")
    by_query: dict[str, Any] = {}
    for query, ids in lists.items():
        text = _id_text(query)
        if text is None:
            raise TypeError(f"{name}: the query {query!r} is of {type(query)}: a str, an int or bytes were expected")
        if text in by_query:
            raise ValueError(f"{name}: the query {text!r} occurs twice")
        by_query[text] = ids
    return by_query


def _id_text(query: object) -> str | None:
    """The text of an id, which of an integer is its digits; `None` if it is no id."""
    if isinstance(query, str):
        return str.__str__(query)
    if isinstance(query, bytes):
        return query.decode()
    if isinstance(query, bool) or type(query).__name__ == "bool_" or not hasattr(query, "__index__"):
        return None
    return int.__repr__(operator.index(query))


def parse_measure(text: str) -> str:
    """Returns the canonical name of a measure, given any of its names as `text`.

    Raises `MeasureError` if there is no such measure, and `UnanswerableError` if the text means several.

    >>> import laneval
    >>> laneval.parse_measure("ndcg_cut_10")
    'nDCG@10'
    """
    names = _native.parse(text)
    if len(names) != 1:
        raise UnanswerableError(f"{text} means {len(names)} measures: {', '.join(names)}")
    return names[0]


def measures() -> list[dict[str, Any]]:
    """Returns all measures, `[measure]`, each with its `name`, `doc`, `formula` and `source`, the `cutoff` and the `parameters` that it
    takes, the judgments that it `needs`, its `average` over queries, and whether `"higher"` or `"lower"` is `better`, or `None` if neither
    is.

    >>> import laneval
    >>> {of["name"]: of["formula"] for of in laneval.measures()}["Success"]
    'Success@k = 1 if r(k) > 0, else 0'
    """
    return _native.measures()


def devices() -> list[dict[str, Any]]:
    """Returns the GPUs of this machine, `[gpu]`, each with its `name`, `backend`, `kind`, `driver`, and why it is `unusable`, or `None`.
    The list is empty where laneval was built without its GPU engine.

    >>> import laneval
    >>> all(gpu["name"] for gpu in laneval.devices())
    True
    """
    return _native.devices()


def _cover(offsets: Array | None, values: Array) -> None:
    """Checks that offsets begin with the first value and end behind the last one: no value belongs to no query."""
    if offsets is None:
        return
    ends, all_values = memoryview(borrow(offsets)[0]), memoryview(borrow(values)[0])
    try:
        if ends.ndim == all_values.ndim == 1 and len(ends) and (ends[0], ends[-1]) != (0, len(all_values)):
            raise ValueError(f"offsets are from {ends[0]} to {ends[-1]}, and labels has {len(all_values)} values: 0 to {len(all_values)} were expected")
    except NotImplementedError:
        pass  # numbers in another order of bytes, which the native part refuses


def _evaluated(
    ready: PreparedOptions, qrels: _native.Qrels, runs: Sequence[tuple[str | None, Any]], options: Options
) -> list[RunScores]:
    matrix = None
    if ready.custom:
        matrix = ready.native.build(qrels, runs, ready.columns, False)
        scores = ready.native.matrix(matrix)
        warn_of_notes(matrix.notes(), 4)
    else:
        scores = ready.native.evaluate(qrels, runs, ready.columns)
        warn_of_notes(scores.notes(), 4)
    return _scores(ready, scores, matrix, options, 5)


def _made_already(options: Options, rule: tuple[str, str]) -> None:
    """Checks that no option is given that has to be known when the rankings of a matrix are made, and that they were made as a library
    does. `rule` is the order of equal scores and the type of scores by which they were made.
    """
    reject_others(options, "for a matrix, whose rankings were made already", "give it to `Matrix.build` instead")
    if options.get("ties") in ("docno-asc", "input", "rank"):
        raise OptionError(f"ties={options['ties']!r} has to be known when rankings are made: give it to `Matrix.build`")
    if options.get("as_") is None:
        return
    fixed = apply_library({"as_": options["as_"]})
    ties, score_type = fixed.get("ties", rule[0]), fixed.get("score_type", rule[1])
    if ties not in ("average", "best", "worst", rule[0]) or score_type != rule[1]:
        raise OptionError(
            f"as_={options['as_']!r} has ties={ties!r} and score_type={score_type!r}, and the rankings of the matrix were made with "
            f"ties={rule[0]!r} and score_type={rule[1]!r}: give it to `Matrix.build`"
        )


def _made_later(given: Options, options: Options) -> None:
    """Checks that no keyword of an evaluation is given where only rankings are made. `options` are the keywords with those of a library."""
    later: dict[str, object] = {
        "queries": "judged", "judged_only": False, "relevant_from": "judged", "per_query": False, "stats": (),
        "engine": "auto", "adapter": None, "judges": None,
    }
    found = [word for word, default in later.items() if options.get(word, default) not in (default, None, [])]
    found += ["ties"] if options.get("ties") in ("average", "best", "worst") else []
    if not found:
        return
    words = ", ".join(f"{word}={options[word]!r}" for word in found)  # type: ignore[literal-required]
    of_library = f"as_={given['as_']!r} stands for {words}, which" if given.get("as_") is not None else words
    more = " and, for ties, keep_ties=True to `Matrix.build`" if "ties" in found else ""
    more = " and facet='judge' to `Matrix.build`" if "judges" in found else more
    raise OptionError(f"{of_library} changes values and not rankings: give it to `evaluate`{more}")


def _ranked(arrays: _native.Arrays, measures: Measures, options: Options) -> RunScores:
    ready = PreparedOptions(measures, options)
    reject_others(options, "for arrays, whose scores are compared as they are", "leave it out")
    if options.get("ties") in ("docno-asc", "rank"):
        raise OptionError(f"ties={options['ties']!r} changes nothing for arrays, which have no ids and no ranks: leave it out")
    if not ready.custom:
        return _scores(ready, ready.native.rankings(arrays), None, options, 5)[0]
    matrix = arrays.matrix("rankings")
    return _scores(ready, ready.native.matrix(matrix), matrix, options, 5)[0]


def _without_relevant(
    arrays: _native.Arrays, measures: Measures, options: Options, empty: str
) -> RunScores:
    """The scores if queries without any relevant document have other values than 0."""
    ready = PreparedOptions(measures, options)
    names = ready.names()
    # The scores of arrays are compared as they are, whatever the library.
    options = {word: of for word, of in ready.options.items() if word != "score_type"}  # type: ignore[assignment]
    found = _ranked(arrays, [*ready.order, "NumRel"], {**options, "per_query": True, "stats": ()})
    values = found.per_query()
    relevant = values["NumRel"]
    if empty == "error" and 0 in relevant:
        raise UnanswerableError(f"query {values.queries[relevant.index(0)]} has nothing relevant")
    kept = [at for at, count in enumerate(relevant) if count or empty != "skip"]
    columns = {name: [values[name][at] if relevant[at] else 1.0 for at in kept] for name in names}
    averages = {of["name"]: of["average"] for of in _native.measures()}
    asked = stat_names(options.get("stats", ()))
    stats = [
        statistics(name, averages.get(base_name(name), "mean"), column, asked) for name, column in columns.items()
    ]
    queries = [values.queries[at] for at in kept]
    per_query = PerQuery(None, names, queries, columns) if options.get("per_query") else None
    return RunScores(names, {**found._known, "queries": len(kept)}, stats, per_query)


def _scores(
    ready: PreparedOptions, native: _native.Scores, matrix: _native.Matrix | None, options: Options, level: int
) -> list[RunScores]:
    """The scores of each run, with the measures that are functions. Warns of everything that should be noticed."""
    names = native.measures()
    notices = native.notices()
    all_runs = []
    for at, known in enumerate(native.runs()):
        stats = [dict(of) for of in native.stats(at)]
        values = native.per_query(at)
        per_query = None if values is None else PerQuery(values, names, None, {})
        if ready.custom and matrix is not None:
            run = _with_custom(ready, matrix, at, known, (names, stats, values), options)
        else:
            run = RunScores(names, known, stats, per_query)
        warn(run, notices if at == 0 else [], level)
        all_runs.append(run)
    return all_runs


def _with_custom(
    ready: PreparedOptions,
    matrix: _native.Matrix,
    at: int,
    known: dict[str, Any],
    built_in: tuple[list[str], list[dict[str, float]], _native.PerQuery | None],
    options: Options,
) -> RunScores:
    """The scores of a run under all measures, in the order asked for."""
    names, stats, values = built_in
    queries = matrix.queries()
    common = ready.options.get("queries") == "common"
    asked = stat_names(options.get("stats", ()))
    found: dict[str, dict[str, float]] = {}
    columns: dict[str, list[float]] = {}
    there: list[bool] = []
    for measure in ready.custom:
        if measure.name in found:
            raise UnanswerableError(f"{measure.name}: two measures have this name")
        of_all, there = measure.values(matrix, at, queries, ready.view)
        column = [value for value, counts in zip(of_all, there, strict=True) if counts or not common]
        found[measure.name] = measure.statistics(column, asked)
        columns[measure.name] = column
    order = ready.names()
    by_name = {**dict(zip(names, stats, strict=True)), **found}
    per_query = None
    if options.get("per_query"):
        counted = [query for query, counts in zip(queries, there, strict=True) if counts or not common]
        per_query = PerQuery(values, order, counted, columns)
    return RunScores(order, known, [by_name[name] for name in order], per_query)

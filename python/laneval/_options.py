"""Measures and keywords of every `evaluate`, checked and prepared."""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, get_args

from laneval import _native
from laneval._custom import CustomMeasure
from laneval._errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

QuerySet: TypeAlias = Literal["judged", "both", "error"]
Ties: TypeAlias = Literal["docno-desc", "docno-asc", "input", "rank", "average", "best", "worst"]
Stat: TypeAlias = Literal["median", "std", "min", "max", "ci95"]
Column: TypeAlias = Literal["query", "doc", "score", "grade", "rank", "judge", "subtopic", "start", "end", "length"]
JudgmentsBy: TypeAlias = Literal["judge", "subtopic", "preference", "span"]
Format: TypeAlias = Literal["trec", "tsv", "csv", "msmarco", "json", "jsonl", "letor", "npy", "ivecs", "ibin", "ids", "parquet", "arrow"]
Columns: TypeAlias = "Mapping[Column, str] | Sequence[Column | Literal['-'] | None]"
Measures: TypeAlias = str | CustomMeasure | Iterable[str | CustomMeasure]

DEFAULT: tuple[str, ...] = ("nDCG@10", "AP", "RR", "P@10", "R@100")
"""The measures that are computed if none are named."""


class Options(TypedDict, total=False):
    """Keywords of every `evaluate`. A wrong one raises `TypeError`, a wrong value `OptionError`.

    >>> import laneval
    >>> options: laneval.Options = {"depth": 1, "per_query": True}
    >>> laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.7}}, "RR", **options).per_query()["RR"]
    [0.0]
    """

    queries: QuerySet
    """The queries that count: every judged one (`"judged"`, the default), only those that are in the run too (`"both"`), or every judged
    one, with an error if the run lacks one (`"error"`).
    """
    ties: Ties
    """The order of equal scores, or the `"average"`, `"best"` or `"worst"` value over all orders. The default is by document id descending,
    as in trec_eval.
    """
    score: Literal["f64", "f32"]
    """The type in which scores are compared: pytrec_eval and trec_eval 9 use `"f32"`."""
    depth: int
    """The number of ranks that count, from 1. The default is all of them."""
    judged_only: bool
    """Whether documents that are not judged are dropped, so that the others move up."""
    known: Literal["judged", "retrieved"]
    """The relevant documents that there are: all that were judged (`"judged"`, the default), or only those that the run retrieved
    (`"retrieved"`), as for programs that are given lists and no judgments.
    """
    as_: str
    """The library as which to evaluate, such as `"sklearn"` or `"xgboost"`: names of measures are its own, and `ties`, `score`, `known` and
    `queries` are what it does. One of these that is given as well has to agree. Without names of measures it is the default ones, as far as
    the library has them. `laneval measures --as` lists the libraries.
    """
    per_query: bool
    """Whether the values of each query are kept."""
    stats: Sequence[Stat]
    """Statistics besides the average: `"median"`, the standard deviation `"std"`, `"min"`, `"max"`, and the 95 % interval `"ci95"` of the
    average.
    """
    engine: Literal["auto", "cpu", "gpu", "reference"]
    """The engine: the CPU (`"cpu"`), a GPU (`"gpu"`), plain functions to compare with (`"reference"`), or the CPU unless a GPU is expected
    to be twice as fast (`"auto"`).
    """
    adapter: str
    """The GPU, by its number from 0 in `devices()`, or a part of its name."""
    threads: int
    """The number of threads, at most 64 or four times as many as the machine has. The default is `LANEVAL_THREADS`, or else one per
    processor. Calls from several threads of Python run side by side, each with its own threads.
    """
    progress: bool | Callable[[int, int], object]
    """Show the progress on stderr, or call a function with two numbers of the same unit, the work done and the total, both from 0."""
    columns: Columns
    """The names of columns of tables, or of keys of records: `{"doc": "pid"}`. For tables without a header it lists the columns in their
    order, with `None` for a column that is not read: `["query", None, "doc", "score"]` is a run, and a list with `"grade"` is judgments."""
    qrels_format: Format
    """The format of a file of judgments, if it cannot be recognised from the content."""
    run_format: Format
    """The format of files of runs, if it cannot be recognised from the content."""
    subset: str
    """The subset that is read of a file of predictions of MTEB that has several, as `"en/test"`."""
    drop_identical_ids: bool
    """Whether documents whose id is that of their query are dropped from the rankings, as BEIR does; this comes before `depth`."""
    dialect: Literal["laneval", "trec9", "trec10"]
    """The strictness with which files are read: that of laneval, or what trec_eval 9 (`"trec9"`) or 10 (`"trec10"`) takes."""
    units: str | Mapping[str, str]
    """The documents that results are pieces of: a rule, `"before:#"`, `"before-first:#"`, `"map:FILE"` or `"column:NAME"`, or a dict of ids and
    their documents. Judgments are of documents, and equal scores are ordered by the ids of documents.
    """
    qrels_units: str | Mapping[str, str]
    """The same of judgments, if pieces are judged and documents retrieved: the largest grade of a document counts."""
    repeats: str
    """What becomes of several results of one document: an error (`"error"`, the default), the best one stays (`"first"` or `"max"`, the default
    with `units`), the others stay as documents that nobody judged (`"blank"`), or the sum or the mean of their scores, perhaps of the best ones
    only (`"sum"`, `"sum:3"`, `"mean"`, `"mean:3"`).
    """
    rows: int
    """The number of best results of a query that are kept before those of a document are put together. The default is all of them."""
    judgments_by: JudgmentsBy
    """How judgments are read if a document may have several: by `"judge"`, by `"subtopic"`, or as `"preference"`s. The default is what the
    measures need.
    """
    judges: Literal["mean", "min", "max"]
    """The value of a query whose documents several judges have graded: the mean, the smallest or the largest over its judges. Measures with
    their own `judges=` keep it. The default is to take the largest grade of each document.
    """


FLAGS: tuple[str, ...] = tuple(
    word for word, of in Options.__annotations__.items() if getattr(of, "__forward_arg__", of) in ("bool", bool)
)
"""The keywords that are `True` or `False`."""


UNITS: tuple[str, ...] = ("units", "qrels_units")
"""The keywords that are rules of units."""


class Ready:
    """Measures and keywords that were checked."""

    __slots__ = ("columns", "custom", "native", "options", "order", "view")

    def __init__(self, measures: Measures, options: Options) -> None:
        names, self.custom, self.order = split(measures, options.get("as_"))
        self.columns = column_names(options.get("columns"))
        unknown = sorted({what for what in self.columns if what is not None} - set(get_args(Column)))
        if unknown:
            known = ", ".join(get_args(Column))
            raise TypeError(f"columns names {', '.join(map(repr, unknown))}: {known} were expected")
        checked(options)
        self.options = options = settled(options)
        self.view = (options.get("depth"), options.get("judged_only", False))
        progress = options.get("progress")
        if any(_holds_map(options.get(word)) for word in UNITS):  # its file may change, and a dict is not remembered
            self.native = settings(names, options, _bar if progress is True else progress or None)
        elif progress:
            self.native = settings(names, options, _bar if progress is True else progress)
        else:
            of = {**options, "threads": threads_of(options.get("threads"))}
            key = tuple(sorted((k, _hashable(v)) for k, v in of.items() if k not in ("columns", "progress")))
            self.native = _remembered(names, key)

    def names(self) -> list[str]:
        """The canonical names of all measures, in the order asked for."""
        names: dict[str, None] = {}
        for item in self.order:
            names.update(dict.fromkeys([item.name] if isinstance(item, CustomMeasure) else _native.parse(str(item))))
        return list(names)


def split(
    measures: Measures, as_library: str | None = None
) -> tuple[tuple[str, ...], list[CustomMeasure], list[CustomMeasure | str]]:
    """The names of measures, the measures that are functions, and all of them in their order. Names of a library become canonical ones."""
    if as_library is not None:
        measures = _canonical(measures, as_library)
    if isinstance(measures, (str, CustomMeasure)):
        measures = (measures,)
    elif not isinstance(measures, Iterable):
        raise TypeError(f"measures is of {type(measures)}: names such as 'nDCG@10' were expected")
    order: list[CustomMeasure | str] = list(measures)
    names: list[str] = []
    custom: list[CustomMeasure] = []
    for measure in order:
        if isinstance(measure, CustomMeasure):
            custom.append(measure)
        else:
            names.append(measure if isinstance(measure, str) else str(measure))
    return tuple(names), custom, order


def _canonical(measures: Measures, as_library: str) -> Measures:
    """The measures that a library means by names."""
    if not isinstance(as_library, str):
        raise TypeError(f"as_ is {as_library!r}: a str was expected, such as 'sklearn'")
    if measures is DEFAULT:
        return _native.usual_measures(as_library)
    found: list[str | CustomMeasure] = []
    for measure in split(measures)[2]:
        found += [measure] if isinstance(measure, CustomMeasure) else _native.parse(str(measure), as_library)
    return found


def settled(options: Options) -> Options:
    """The keywords with those of the library that `as_` names in its place.

    Raises `OptionError` if there is no such library, or a keyword does not agree with it.
    """
    as_library = options.get("as_")
    if as_library is None:
        return options
    given = {word: of for word in ("ties", "score", "known", "queries") if isinstance(of := options.get(word), str)}
    rest = {word: of for word, of in options.items() if word != "as_"}
    return {**rest, **_native.library_options(as_library, given)}  # type: ignore[typeddict-item]


def column_names(columns: Columns | None) -> dict[str, str] | list[str | None]:
    """The names of columns by what they are, or what columns are in their order."""
    if columns is None or isinstance(columns, Mapping):
        return named_columns(columns)
    if isinstance(columns, str):
        raise TypeError(f"columns is the str {columns!r}: a dict of names, or a list of what the columns are, was expected")
    if not isinstance(columns, Iterable):
        raise TypeError(f"columns is {columns!r}: a dict of names, or a list of what the columns are, was expected")
    return [None if what in (None, "-") else str(what) for what in columns]


def named_columns(columns: Mapping[Any, str] | Sequence[Any] | None) -> dict[str, str]:
    """The names of columns by what they are."""
    if columns is not None and not isinstance(columns, Mapping):
        raise TypeError(f"columns is of {type(columns)}: a dict of names was expected, because these tables have named columns")
    for what, name in (columns or {}).items():
        if not isinstance(name, str):
            raise TypeError(f"columns names the {what} {name!r}: the name of a column was expected, a str")
    return {str(what): name for what, name in (columns or {}).items()}


def stat_names(stats: str | Sequence[str]) -> list[str]:
    """The names of one statistic, or of several."""
    return [stats] if isinstance(stats, str) else list(stats)


def checked(options: Options) -> None:
    """Checks that keywords are known, and have values of the types that they take.

    Raises `TypeError` otherwise.
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        known = ", ".join(Options.__annotations__)
        raise TypeError(f"unknown keyword {', '.join(unknown)}: there are {known}")
    for word in FLAGS:
        of = options.get(word, False)
        if not isinstance(of, bool):
            raise TypeError(f"{word} is {of!r}: True or False was expected")
    for word in ("queries", "ties", "score", "engine", "dialect", "repeats"):
        of = options.get(word, "")
        if not isinstance(of, str):
            raise TypeError(f"{word} is {of!r}: a str was expected")
    whole(options.get("threads"), "threads")
    whole(options.get("depth"), "depth")
    whole(options.get("rows"), "rows")
    for word in UNITS:
        of = options.get(word, "")
        if not isinstance(of, (str, Mapping)):
            raise TypeError(f"{word} is {of!r}: a str such as 'before:#', or a dict of ids and their documents, was expected")
    stats = options.get("stats", ())
    if not isinstance(stats, Iterable):
        raise TypeError(f"stats is {stats!r}: names of statistics were expected, such as ['std']")
    progress = options.get("progress")
    if progress is None or isinstance(progress, bool):
        return
    if not callable(progress):
        raise TypeError(f"progress is {progress!r}: True, False, or a function of the work done and the total was expected")
    import inspect  # it takes longer to import than all of laneval

    try:
        inspect.signature(progress).bind(0, 0)
    except TypeError:
        raise TypeError(f"progress is {progress!r}, which does not take two arguments, the work done and the total") from None
    except ValueError:
        pass  # a function of C that does not tell


def whole(number: object, word: str) -> None:
    """Checks that a keyword, if it is given, is a whole number that a machine can count to.

    Raises `TypeError` or `ValueError` otherwise.
    """
    if number is None:
        return
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{word} is {number!r}: an int was expected")
    if not 0 <= operator.index(number) < 2**32:
        raise ValueError(f"{word} is out of range: an int from 1 to 4294967295 was expected")


def alone(options: Options, where: str, instead: str) -> None:
    """Checks that keywords by which rankings are made have their defaults, where they were made already. `where` and `instead` say in the
    message why a keyword changes nothing, and what to do.

    Raises `OptionError` otherwise, because ignoring them silently would mislead.
    """
    made: dict[str, object] = {
        "score": "f64", "drop_identical_ids": False, "dialect": "laneval", "run_format": None, "qrels_format": None,
        "subset": None, "units": None, "qrels_units": None, "repeats": None, "rows": None, "columns": None, "judgments_by": None,
    }
    for word, default in made.items():
        of = options.get(word, default)
        if of != default:
            raise OptionError(f"{word}={of!r} changes nothing {where}: {instead}")


def _hashable(value: Any) -> Any:
    value = tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else value
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"{value!r} of {type(value)} is not a value of a keyword") from None
    return value


@functools.lru_cache(maxsize=128)
def _remembered(names: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> _native.Settings:
    return settings(names, dict(options), None)  # type: ignore[arg-type]


def settings(
    names: tuple[str, ...], options: Options, progress: Callable[[int, int], object] | None
) -> _native.Settings:
    """The settings of the native part."""
    checked(options)
    of = {**options, "stats": stat_names(options.get("stats", ())), "threads": threads_of(options.get("threads"))}
    of.update({"units": units_of(options.get("units")), "qrels_units": units_of(options.get("qrels_units"))})
    return _native.Settings(list(names), of, progress)


def units_of(of: str | Mapping[str, str] | None) -> _native.Units | None:
    """The units of a rule, or of a dict of ids."""
    if of is None:
        return None
    return _native.Units.rule(of) if isinstance(of, str) else _native.Units.mapping([(str(k), str(v)) for k, v in of.items()])


def _holds_map(of: object) -> bool:
    """Whether units are a map, in a file or a dict."""
    return isinstance(of, Mapping) or (isinstance(of, str) and of.startswith("map:"))


def threads_of(asked: int | None) -> int | None:
    """The number of threads that was asked for, by the keyword or by `LANEVAL_THREADS`."""
    if asked is None and os.environ.get("LANEVAL_THREADS"):
        text = os.environ["LANEVAL_THREADS"]
        if not text.isdecimal() or int(text) == 0:
            raise OptionError(f"LANEVAL_THREADS is {text!r}: a number of threads was expected")
        return min(int(text), 2**32 - 1)
    return asked


def _bar(done: int, total: int) -> None:
    """Shows the progress on stderr."""
    if total:
        share = min(done / total, 1.0)
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{'#' * round(40 * share):40} {share:4.0%}{end}")
        sys.stderr.flush()

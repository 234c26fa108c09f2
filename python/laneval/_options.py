"""Measures and keywords of every `evaluate`, checked and prepared."""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, get_args, get_origin, get_type_hints

from laneval import _native
from laneval._custom import CustomMeasure
from laneval._errors import OptionError

QuerySet: TypeAlias = Literal["judged", "common", "require-all"]
TieRule: TypeAlias = Literal["docno-desc", "docno-asc", "input", "rank", "average", "best", "worst"]
Stat: TypeAlias = Literal["mean", "median", "std", "min", "max", "ci95"]
Column: TypeAlias = Literal["query", "doc", "score", "grade", "rank", "judge", "subtopic", "start", "end", "length"]
FacetKind: TypeAlias = Literal["judge", "subtopic", "preference", "span"]
Format: TypeAlias = Literal["trec", "tsv", "csv", "msmarco", "json", "jsonl", "letor", "npy", "ivecs", "ibin", "ids", "parquet", "arrow"]
Columns: TypeAlias = "Mapping[Column, str | None] | Sequence[Column | Literal['-'] | None]"
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

    # Written from src/options/table.rs by UPDATE_README=1 cargo test options
    stats: Sequence[Stat]
    """Statistics besides the average: `"median"`, the standard deviation `"std"`, `"min"`, `"max"`, and the 95 % interval `"ci95"` of the
    average.
    """
    judges: Literal["mean", "min", "max"]
    """How to combine several judges. Judgments are then read as `query judge document grade`. By default, with `facet` judge the largest
    grade counts, and without it different grades are an error. `"mean"`: the mean of the query's values by its judges. `"each"`: no
    combination: the scores of each judge, over the queries that the judge has judged. `"min"`: the smallest of these values. `"max"`: the
    largest of these values.
    """
    facet: FacetKind
    """What column 2 of the qrels is: judge, subtopic…. It matters where a document has several judgments. By default it is what the
    measures need. `"judge"`: `query judge document grade`. `"subtopic"`: `query subtopic document grade`. `"preference"`: `query group
    document level`, or `query group sub-group document level`. `"span"`: a passage: records or a table with query, document, start, end and
    perhaps grade; results have start and end too.
    """
    queries: QuerySet
    """Queries to average over [default: judged]. `"judged"`: every judged query; one that the run lacks scores 0. `"common"`: only the
    judged queries that are in the run, as trec_eval does. `"require-all"`: every judged query; it is an error if the run lacks one.
    """
    depth: int
    """Keep the first N ranks; applied before `judged_only`. N is a number from 1."""
    judged_only: bool
    """Remove unjudged documents from the rankings. The others move up. `depth` first, then `judged_only`, as in trec_eval."""
    ties: TieRule
    """How to treat equal scores [default: docno-desc]. `"docno-desc"`: by document id, bytewise descending, as trec_eval does.
    `"docno-asc"`: by document id, bytewise ascending. `"input"`: in the order of the run file. `"rank"`: by the rank column of the run,
    ascending. `"average"`: no order: the expected value over all of them. `"best"`: no order: the best value over all of them. `"worst"`:
    no order: the worst value over all of them. `"interval"`: the expected, best and worst average, and how many queries depend on the
    order.
    """
    score_type: Literal["f64", "f32"]
    """Compare scores as f64 or f32 [default: f64]. `"f64"`: as trec_eval 10 does. `"f32"`: as trec_eval 9 and pytrec_eval do: more scores
    are tied.
    """
    drop_identical_ids: bool
    """Drop documents with the query's own id, as BEIR does. This comes before `depth`."""
    exclude: str | os.PathLike[str] | Mapping[str, Iterable[str]]
    """Leave documents of FILE out of their queries' rankings. FILE has pairs of query and document as judgments have them, with or without
    grades, or records of a query with a list `excluded_ids` or `seen_ids`. This comes before `depth`, and judgments stay as they are
    (docs/queries.md).
    """
    as_: str
    """The library as which to evaluate, such as `"sklearn"`: names of measures, `ties`, `score_type`, `relevant_from` and `queries` are its
    own, and given ones have to agree. `laneval measures --as` lists the libraries.
    """
    relevant_from: Literal["judged", "retrieved"]
    """Relevant documents that recall counts [default: judged]. Recall divides by them and ideal rankings contain them. `retrieved` means
    retrieved after `depth` and `judged_only`. `"judged"`: all relevant documents of the qrels. `"retrieved"`: those that the run retrieved,
    as for programs that are given lists and no judgments.
    """
    per_query: bool
    """Also write per-query scores. `compare` writes their differences too; a table has the queries that differ most."""
    qrels_format: Format
    """Qrels format [default: detected]. The formats are those of `run_format`. `"trec"`: lines of query iter docno grade, or of query iter
    docno rank score [tag]. `"tsv"`: a table with tabs, with a header or without one, as BEIR's judgments. `"csv"`: a table with commas or
    semicolons, with a header or without one. `"msmarco"`: lines of query, document and rank. `"json"`: an object of queries with objects of
    documents, or an array of records. `"jsonl"`: a record on each line. `"letor"`: lines of grade qid:query feature:value … # document; for
    runs a score on each line. `"npy"`: a matrix of NumPy: a row for each query, a column for each document. `"ivecs"`: ids of nearest
    neighbours: for each query their number and the ids, as SIFT1M's. `"ibin"`: ids of nearest neighbours: two counts, the ids, perhaps
    distances, as big-ann-benchmarks'. `"ids"`: ids of nearest neighbours: a matrix of integers of NumPy, a row for each query. `"parquet"`:
    a table of Parquet. `"arrow"`: a table of Arrow, a file or a stream.
    """
    run_format: Format
    """Run format [default: detected]. `laneval info FILE` shows which format a file is recognised as. docs/formats.md has a sample of each.
    `"trec"`: lines of query iter docno grade, or of query iter docno rank score [tag]. `"tsv"`: a table with tabs, with a header or without
    one, as BEIR's judgments. `"csv"`: a table with commas or semicolons, with a header or without one. `"msmarco"`: lines of query,
    document and rank. `"json"`: an object of queries with objects of documents, or an array of records. `"jsonl"`: a record on each line.
    `"letor"`: lines of grade qid:query feature:value … # document; for runs a score on each line. `"npy"`: a matrix of NumPy: a row for
    each query, a column for each document. `"ivecs"`: ids of nearest neighbours: for each query their number and the ids, as SIFT1M's.
    `"ibin"`: ids of nearest neighbours: two counts, the ids, perhaps distances, as big-ann-benchmarks'. `"ids"`: ids of nearest neighbours:
    a matrix of integers of NumPy, a row for each query. `"parquet"`: a table of Parquet. `"arrow"`: a table of Arrow, a file or a stream.
    """
    columns: Columns
    """The names of columns or keys: `{"doc": "pid"}`; or, for tables without a header, the columns in their order, with `None` for one that
    is not read: `["query", None, "doc", "score"]`. A list with `"grade"` is judgments. `{"grade": None}`: judgments without grades, where
    each document has grade 1.
    """
    grade_words: Mapping[str, float]
    """The grades of words in files of judgments: `{"E": 3, "S": 2, "C": 1, "I": 0}`; those of 1 or more are relevant. Without it, and where
    columns have names, `true`, `yes` and `relevant` are 1, and `false`, `no` and `irrelevant` are 0.
    """
    subset: str
    """Subset of MTEB predictions, such as en/test."""
    dialect: Literal["laneval", "trec9", "trec10"]
    """Strictness with which files are read [default: laneval]. `"laneval"`: that of laneval. `"trec9"`: what trec_eval 9 takes. `"trec10"`:
    what trec_eval 10 takes.
    """
    doc_id: str | Mapping[str, str]
    """How chunks map to documents: before:#, map:FILE…. `before:#` cuts the chunk id at its last `#`, `before-first:#` at its first; an id
    without # is its own document. `map:FILE` reads lines of chunk<TAB>document; `column:NAME` reads a column or a key, and the id is not
    read. Qrels then name documents, and equal scores are ordered by the ids of documents.
    """
    qrels_doc_id: str | Mapping[str, str]
    """How chunks in the qrels map to documents. The largest grade of a document counts."""
    aggregate: str
    """How to merge repeated results [default: error]. error: stop. max: best chunk (MaxP), the default with `doc_id`. blank: best chunk,
    later ones stay as unjudged ranks. sum, mean: SumP, AvgP; sum:N and mean:N: of the N best.
    """
    max_chunks: int
    """Top N chunks per query before merging. N is a number from 1."""
    threads: int
    """The number of threads, at most 64 or four times as many as the machine has. The default is `LANEVAL_THREADS`, or else one per
    processor. Calls from several threads run side by side.
    """
    engine: Literal["auto", "cpu", "gpu", "reference"]
    """Engine: auto, cpu, gpu or reference. `"auto"`: the fastest for the data at hand. `"cpu"`: SIMD on all threads. `"gpu"`: compute
    shaders, with sums in integers; exit code 2 where there is no GPU. `"reference"`: the plain formulas, slow and obvious, to check a
    number.
    """
    adapter: str
    """GPU to use: its number or a part of its name. `laneval devices` lists them. The option turns `engine` auto into gpu. The default is
    the most powerful one; a software adapter is used only when named.
    """
    progress: bool | Callable[[int, int], object]
    """Show the progress on stderr, or call a function with two numbers of the same unit, the work done and the total, both from 0."""
    # End of what is written


RULES: tuple[str, ...] = ("doc_id", "qrels_doc_id")
"""The keywords that are rules from chunks to documents."""

WORDED: tuple[str, ...] = ("queries", "ties", "score_type", "engine", "dialect", "aggregate")
"""The keywords whose default is a word, so that `None` is none of their values."""


class PreparedOptions:
    """Measures and keywords that were checked."""

    __slots__ = ("columns", "custom", "native", "options", "order", "view")

    def __init__(self, measures: Measures, options: Options) -> None:
        names, self.custom, self.order = split_custom(measures, options.get("as_"))
        self.columns = column_names(options.get("columns"))
        unknown = sorted({what for what in self.columns if what is not None} - set(get_args(Column)))
        if unknown:
            known = ", ".join(get_args(Column))
            raise TypeError(f"columns names {', '.join(map(repr, unknown))}: {known} were expected")
        check_options(options)
        self.options = options = apply_library(options)
        self.view = (options.get("depth"), options.get("judged_only", False))
        progress = options.get("progress")
        # A file may change, and a dict is not remembered.
        if options.get("exclude") is not None or any(_holds_map(options.get(word)) for word in RULES):
            self.native = settings(names, options, _bar if progress is True else progress or None)
        elif progress:
            self.native = settings(names, options, _bar if progress is True else progress)
        else:
            of = {**options, "threads": threads_of(options.get("threads"))}
            key = tuple(sorted((k, _hashable(v)) for k, v in of.items() if k not in ("columns", "grade_words", "progress")))
            self.native = _remembered(names, key)

    def names(self) -> list[str]:
        """The canonical names of all measures, in the order asked for."""
        names: dict[str, None] = {}
        for item in self.order:
            names.update(dict.fromkeys([item.name] if isinstance(item, CustomMeasure) else _native.parse(str(item))))
        return list(names)


def split_custom(
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
    for measure in split_custom(measures)[2]:
        found += [measure] if isinstance(measure, CustomMeasure) else _native.parse(str(measure), as_library)
    return found


def apply_library(options: Options) -> Options:
    """The keywords with those of the library that `as_` names in its place.

    Raises `OptionError` if there is no such library, or a keyword does not agree with it.
    """
    as_library = options.get("as_")
    if as_library is None:
        return options
    given = {word: of for word, of in options.items() if isinstance(of, str)}
    rest = {word: of for word, of in options.items() if word != "as_"}
    return {**rest, **_native.library_options(as_library, given)}  # type: ignore[typeddict-item]


def column_names(columns: Columns | None) -> dict[str, str] | list[str | None]:
    """The names of columns by what they are, or what columns are in their order."""
    if columns is None or isinstance(columns, Mapping):
        # Judgments may have no grades, and lists no scores: the option has `-` for their column.
        given = columns or {}
        return named_columns({what: "-" if name is None and what in ("grade", "score") else name for what, name in given.items()})
    if isinstance(columns, str):
        raise TypeError(f"columns is the str {columns!r}: a dict of names, or a list of what the columns are, was expected")
    if not isinstance(columns, Iterable):
        raise TypeError(f"columns is {columns!r}: a dict of names, or a list of what the columns are, was expected")
    return [None if what in (None, "-") else str(what) for what in columns]


def named_columns(columns: Mapping[Any, Any] | Sequence[Any] | None) -> dict[str, str]:
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


@functools.cache
def _types() -> dict[str, Any]:
    """The types of the keywords; of those that take words, these words."""
    return {word: get_args(of) if get_origin(of) is Literal else of for word, of in get_type_hints(Options).items()}


def check_options(options: Options) -> None:
    """Checks that keywords are known, and have values of the types that they take.

    Raises `TypeError` or `OptionError` otherwise.
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        known = ", ".join(Options.__annotations__)
        raise TypeError(f"unknown keyword {', '.join(unknown)}: there are {known}")
    for word, of in options.items():
        _check_option(word, of, _types()[word])
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


def _check_option(word: str, of: object, kind: Any) -> None:
    """Checks that a keyword has a value of its type, or one of its words."""
    words: tuple[str, ...] = kind if isinstance(kind, tuple) else ()
    if kind is bool:
        if not isinstance(of, bool):
            raise TypeError(f"{word} is {of!r}: True or False was expected")
    elif word in RULES:
        if not isinstance(of, (str, Mapping)):
            raise TypeError(f"{word} is {of!r}: a str such as 'before:#', or a dict of ids and their documents, was expected")
    elif of is None and word not in WORDED:
        return
    elif word == "exclude":
        if not isinstance(of, (str, os.PathLike, Mapping)):
            raise TypeError(f"{word} is {of!r}: a path, or a dict of queries and their documents, was expected")
    elif kind is int:
        check_integer(of, word)
    elif words or kind is str:
        if not isinstance(of, str):
            raise TypeError(f"{word} is {of!r}: a str was expected")
        if words and of not in words:
            raise OptionError(f"{word} is {of!r}: {', '.join(words[:-1])} or {words[-1]} was expected")


def check_integer(number: object, word: str, least: int = 1) -> None:
    """Checks that a keyword, if it is given, is a whole number that a machine can count to, and not less than `least`.

    Raises `TypeError` or `ValueError` otherwise.
    """
    if number is None:
        return
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{word} is {number!r}: an int was expected")
    if not 0 <= operator.index(number) < 2**32:
        raise ValueError(f"{word} is out of range: an int from 1 to 4294967295 was expected")
    if operator.index(number) < least:
        raise OptionError(f"{word} is {number}: {least} or more was expected")


def reject_others(options: Options, where: str, instead: str) -> None:
    """Checks that keywords by which rankings are made have their defaults, where they were made already. `where` and `instead` say in the
    message why a keyword changes nothing, and what to do.

    Raises `OptionError` otherwise, because ignoring them silently would mislead.
    """
    made: dict[str, object] = {
        "score_type": "f64", "drop_identical_ids": False, "dialect": "laneval", "run_format": None, "qrels_format": None, "subset": None,
        "doc_id": None, "qrels_doc_id": None, "aggregate": None, "max_chunks": None, "columns": None, "facet": None, "exclude": None,
        "grade_words": None,
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
    check_options(options)
    texts = {word: of for word, of in options.items() if word not in ("columns", "exclude", "grade_words", "progress", *RULES)}
    texts.update({"stats": stat_names(options.get("stats", ())), "threads": threads_of(options.get("threads"))})
    rules = doc_id_rule(options.get("doc_id")), doc_id_rule(options.get("qrels_doc_id"))
    return _native.Settings(list(names), texts, *rules, excluded_docs(options.get("exclude")), progress)


def excluded_docs(of: str | os.PathLike[str] | Mapping[str, Iterable[str]] | None) -> str | os.PathLike[str] | list[tuple[str, str]] | None:
    """The file of excluded documents, or the pairs of a dict of queries."""
    if not isinstance(of, Mapping):
        return of
    for query, docs in of.items():
        if isinstance(docs, (str, bytes)) or not isinstance(docs, Iterable):
            raise TypeError(f"exclude has {docs!r} for the query {query!r}: a list of documents was expected")
    return [(str(query), str(doc)) for query, docs in of.items() for doc in docs]


def doc_id_rule(of: str | Mapping[str, str] | None) -> _native.DocIds | None:
    """The documents of a rule, or of a dict of ids."""
    if of is None:
        return None
    return _native.DocIds.rule(of) if isinstance(of, str) else _native.DocIds.mapping([(str(k), str(v)) for k, v in of.items()])


def words_of_grades(words: Mapping[str, float] | None) -> str | None:
    """The grades of words as the option of the command has them."""
    if words is None:
        return None
    if not isinstance(words, Mapping):
        raise TypeError(f"grade_words is {words!r}: a dict of words and their grades was expected")
    for word, grade in words.items():
        if not isinstance(word, str) or "," in word:
            raise TypeError(f"grade_words has the word {word!r}: a str without a comma was expected")
        if isinstance(grade, bool) or not isinstance(grade, (int, float)):
            raise TypeError(f"grade_words has the grade {grade!r} for {word!r}: a number was expected")
    return ",".join(f"{word}={grade!r}" for word, grade in words.items())


def _holds_map(of: object) -> bool:
    """Whether documents are those of a map, in a file or a dict."""
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

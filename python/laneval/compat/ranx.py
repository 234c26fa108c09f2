"""ranx's `Qrels`, `Run`, `evaluate` and `compare`, computed by laneval.

>>> from laneval.compat.ranx import Qrels, Run, compare, evaluate
>>> qrels = Qrels({"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}})
>>> run = Run({"q_1": {"d_12": 0.9, "d_23": 0.8}, "q_2": {"d_12": 0.9, "d_11": 0.8}})
>>> evaluate(qrels, run, "mrr")
0.75
>>> evaluate(qrels, run, ["precision@1", "recall-l2"])
{'precision@1': 0.5, 'recall-l2': 0.75}
>>> run.scores["mrr"]
{'q_1': 1.0, 'q_2': 0.5}
>>> other = Run({"q_1": {"d_12": 0.9}, "q_2": {"d_22": 0.9, "d_11": 0.8}}, name="other")
>>> compare(qrels, [run, other], ["mrr", "precision@2"], max_p=0.05)
#  Model  MRR    P@2
-  -----  -----  -----
a  run_1  0.750  0.500
b  other  1.000  0.750

Equal to ranx 0.3: names of metrics (`ndcg@10`, `rbp.95`, `r-precision`, `map@100-l2`); a float for one metric, a dict for several, arrays
of NumPy in the order of the queries with `return_mean=False`, `mean` and `std` with `return_std=True`; `run.scores`, `run.mean_scores`,
`run.std_scores`; `make_comparable`; assertions where queries differ; values, but for the last digits, where no scores are equal. The report of
`compare` has the same attributes, the same data as a dict, a DataFrame and JSON, the same p of the paired t test, and the same letters for it.

`evaluate` takes arrays of NumPy and typed lists of Numba too, for each query the rows (document, number), as they are: the rows of a run
are its ranking, whatever their scores, and those of the judgments are the ideal ranking of nDCG, which is above 1 for a better one.
Repeated judgments of one document count as several documents for recall and similar measures, and the first relevant one is its grade.

>>> import numpy as np
>>> evaluate(np.array([[[1, 5], [2, 3]]]), np.array([[[3, 0.9], [1, 0.8]]]), ["mrr", "recall"])
{'mrr': 0.5, 'recall': 0.5}

Different on purpose:

* Equal scores are ordered by document id, descending; there the order is arbitrary.
* Dicts are matched by query; there by index.
* `bpref` is trec_eval's formula; there a document with a negative grade counts as judged not relevant, and a query without a relevant
  document may make the values of others 0.
* `rbp` uses grades as they are, as there, and a sum of weights: values above 1 are possible if grades are.
* A cutoff is at least 1; there `@0` means no cutoff.
* `compare`: Fisher's test draws other signs, the same for every pair, order and number of threads; its p is exact if few queries differ,
  and never 0. Tukey's test is on a two-way analysis of variance, because the queries are the same; there it is as if each run had other
  queries. Values that differ by rounding alone are equal, in tests, wins and ties. Identical runs have p = 1, not NaN; if every query
  changes by the same amount, t has no p: it is NaN and not significant. `correction="holm"` and the other corrections correct for
  the number of pairs; by default there is no correction, as there. Labels have no q, whose raised letter is hard to read, and are numbers
  beyond 25 runs; two runs of one name are an error. Tables have all digits that are asked for; LaTeX has another layout, for the package
  booktabs alone, and names are escaped.
* Arrays have to have as many queries on both sides; there a longer run is cut. A relevant document that is twice in one ranking is an
  error; there it counts twice. Any other that comes again counts as not judged.
* `to_typed_list` makes a plain list of arrays, which typed lists of Numba can be made of, and which `evaluate` takes.
* There are no fusion, normalization, plots, and no downloads from ranxhub: `fuse`, `normalize`, `optimize_fusion`, `plot` and
  `Run.from_ranxhub` only raise `NotImplementedError`. There are no modules inside of this one. `threads` is the number of threads, all
  if 0.
* LZ4 needs the packages lz4 and cbor2, Parquet pandas with pyarrow or fastparquet, and `Qrels.from_ir_datasets` ir_datasets. `from_file`
  reads the Parquet that `save` writes; there it does not. A `.gz` is compressed when saved too. Files appear whole
  or not at all.
"""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import json
import math
import operator
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias, overload

from laneval import _native
from laneval._comparison import Comparison, ComparisonOptions
from laneval._comparison import compare as compare_values
from laneval._files import write_atomic
from laneval._options import Options, settings
from laneval._scores import PerQuery, RunScores, _latex

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

__all__ = ["Qrels", "Report", "Run", "compare", "evaluate", "fuse", "normalize", "optimize_fusion", "plot"]


def _absent(name: str, what: str) -> Callable[..., NoReturn]:
    """A function of ranx that is not here."""

    def function(*arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(f"laneval.compat.ranx has no {name}: {what}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Not here: {what}. Whatever the `arguments` and `keywords` are, raises `NotImplementedError` if it is called.

    >>> from laneval.compat import ranx
    >>> try:
    ...     ranx.{name}()
    ... except NotImplementedError as error:
    ...     print(error)
    laneval.compat.ranx has no {name}: {what}
    """
    return function


_ONLY = "it evaluates and compares only"
fuse = _absent("fuse", _ONLY)
normalize = _absent("normalize", _ONLY)
optimize_fusion = _absent("optimize_fusion", _ONLY)
plot = _absent("plot", _ONLY)


class _Table:
    """Numbers of documents of queries. If `sorted`, queries are ascending, and documents by their numbers, descending.

    Evaluating needs no order of documents, and making it takes longer: so `sorted` is a promise, which is kept when rows are looked at.
    """

    _kept: dict[str, dict[str, Any]]
    _promised: bool
    """Whether the documents of `_kept` are still to be brought in order."""
    name: str | None
    sorted: bool
    _number: type[int] | type[float]

    def __init__(self, rows: Mapping[str, Mapping[str, Any]] | None, name: str | None) -> None:
        self._kept = dict(rows or {})  # type: ignore[arg-type]
        self.name = name
        self.sort()
        self.sorted = rows is not None

    def _numbers(self, docs: Mapping[str, Any]) -> dict[str, Any]:
        # Nearly all numbers are of the type already, which is found out without running Python for each of them.
        if set(map(type, docs.values())) == {self._number}:
            return dict(docs)
        return {doc: self._number(number) for doc, number in docs.items()}

    @property
    def _rows(self) -> dict[str, dict[str, Any]]:
        """The rows in the order that was promised."""
        if self._promised:
            for query, docs in self._kept.items():
                self._kept[query] = _ranked(docs)
            self._promised = False
        return self._kept

    def _set(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Takes a copy of rows, in their order."""
        self._kept, self._promised, self.sorted = {query: dict(docs) for query, docs in rows.items()}, False, False

    def keys(self) -> Any:
        """The ids of the queries, as a dict has its keys."""
        return self._kept.keys()

    def get_query_ids(self) -> list[str]:
        """The ids of the queries, `[query]`."""
        return list(self._kept)

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        """The documents of each query with their numbers, `[query]{document: number}`."""
        return list(self._rows.values())

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        """Adds a document (`doc_id`) to a query (`q_id`), or changes its number (`score`): a grade, whole and relevant from 1 up, or any
        score. Leaves the order to `sort`.

        Raises `ValueError` if the score is no number.
        """
        self._rows.setdefault(q_id, {})[doc_id] = self._number(score)
        self.sorted = False

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> None:
        """Adds a query (`q_id`) with its documents, `doc_ids[document]`, and their `scores[document]`, or replaces it. Grades are relevant
        from 1 up.

        Raises `ValueError` if there are not as many documents as scores, or a score is no number.
        """
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
    ) -> None:
        """Adds several queries, `q_ids[query]`, with their documents, `doc_ids[query][document]`, and their `scores[query][document]`, and
        sorts. Grades are relevant from 1 up.

        Raises `ValueError` if there are not as many of each, or a score is no number.
        """
        if not self.sorted:
            self.sort()
        for query, docs, numbers in zip(q_ids, doc_ids, scores, strict=True):
            self._kept[query] = _ranked(self._numbers(dict(zip(docs, numbers, strict=True))))
        self._kept = dict(sorted(self._kept.items()))

    def sort(self) -> None:
        """Sorts queries by their ids, and documents by their numbers, descending."""
        self._kept = {query: self._numbers(docs) for query, docs in sorted(self._kept.items())}
        self._promised = self.sorted = True

    def to_typed_list(self) -> list[NDArray[Any]]:
        """The arrays `[query][document, 2]` of float64, of the hash of each document and its number, sorted."""
        import numpy as np

        if not self.sorted:
            self.sort()
        rows = ([(hash(doc), number) for doc, number in docs.items()] for docs in self._rows.values())
        return [np.array(of, dtype=np.float64).reshape(-1, 2) for of in rows]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """A dict of dicts, `{query: {document: number}}`."""
        return defaultdict(dict, {query: dict(docs) for query, docs in self._rows.items()})

    def to_dataframe(self) -> pandas.DataFrame:
        """A DataFrame with the columns `q_id`, `doc_id` and `score`, and one row for each document of each query."""
        import pandas as pd

        rows = [(query, doc, number) for query, docs in self._rows.items() for doc, number in docs.items()]
        return pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])

    def _save(self, path: str | os.PathLike[str], kind: str | None) -> None:
        """Writes a file of a kind, which its extension says if `kind` does not."""
        kind = get_file_kind(path, kind)
        if not self.sorted:
            self.sort()
        content: bytes | str
        if kind == "parquet":
            _parquet()
            content = self.to_dataframe().to_parquet(index=False)
        elif kind == "json":
            content = json.dumps(self._rows, indent=2)
        elif kind == "lz4":
            frame = _needed("lz4.frame", "LZ4")
            inner = frame.compress(_needed("cbor2", "LZ4").dumps(self._rows), compression_level=16)
            content = frame.compress(inner)
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        else:
            text = "\n".join(self._lines())
            content = gzip.compress(text.encode()) if kind == "gz" else text
        write_atomic(path, content)

    def _lines(self) -> Iterable[str]:
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of queries, from 0."""
        return len(self._kept)

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        """The documents of a query (`q_id`) with their numbers, `{document: number}`.

        Raises `KeyError` if there is no such query.
        """
        return dict(self._rows[q_id])

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return repr(self._rows)


def _ranked(docs: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(docs.items(), key=operator.itemgetter(1), reverse=True))


class Qrels(_Table):
    """Judgments: `qrels` are `{query: {document: grade}}`, and `name` is theirs. Grades are whole numbers, relevant from 1 up; fractions
    are cut off. `sorted` is whether queries and documents are in order.

    Raises `ValueError` or `TypeError` if a grade is no number.

    >>> from laneval.compat.ranx import Qrels
    >>> qrels = Qrels({"q_1": {"d_12": 1, "d_25": 3}}, name="mine")
    >>> qrels.add("q_2", ["d_11"], [2])
    >>> qrels.add_multi(["q_3"], [["d_7", "d_8"]], [[1, 2]])
    >>> qrels.add_score("q_3", "d_9", 5)
    >>> qrels.sort()
    >>> qrels["q_3"]
    {'d_9': 5, 'd_8': 2, 'd_7': 1}
    >>> qrels.size, qrels.get_query_ids(), list(qrels.keys()) == list(qrels.qrels)
    (3, ['q_1', 'q_2', 'q_3'], True)
    >>> qrels.get_doc_ids_and_scores()[0]
    {'d_25': 3, 'd_12': 1}
    >>> qrels.set_relevance_level(2)
    >>> qrels.to_dict()["q_1"]
    {'d_25': 2, 'd_12': 0}
    >>> qrels.to_typed_list()[0].shape
    (2, 2)

    Dicts, DataFrames and files hold them:

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> qrels.save(os.path.join(folder, "qrels.trec"))
    >>> qrels.save(os.path.join(folder, "qrels.parquet"))
    >>> len(Qrels.from_dict(qrels.to_dict())), len(Qrels.from_df(qrels.to_dataframe()))
    (3, 3)
    >>> len(Qrels.from_file(os.path.join(folder, "qrels.trec"))), len(Qrels.from_parquet(os.path.join(folder, "qrels.parquet")))
    (3, 3)

    Those of a dataset that ir_datasets knows are `Qrels.from_ir_datasets("beir/scifact/test")`.
    """

    _number = int

    def __init__(self, qrels: Mapping[str, Mapping[str, int]] | None = None, name: str | None = None) -> None:
        super().__init__(qrels, name)

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The grades of the documents of each query, `{query: {document: grade}}`, relevant from 1 up. It can be set."""
        return self._rows

    @qrels.setter
    def qrels(self, qrels: Mapping[str, Mapping[str, int]]) -> None:
        self._set(qrels)

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Lowers all grades so that `rel_lvl` becomes 1: documents are relevant from 1 up.

        Raises `TypeError` if `rel_lvl` is no number.
        """
        self._kept = {
            query: {doc: grade - (rel_lvl - 1) for doc, grade in docs.items()} for query, docs in self._kept.items()
        }

    def save(self, path: str | os.PathLike[str] = "qrels.json", kind: str | None = None) -> None:
        """Writes a file at `path`, whole or not at all: JSON, TREC, gzipped TREC, Parquet or LZ4, by `kind` (`"json"`, `"trec"`, `"gz"`,
        `"parquet"` or `"lz4"`) or its extension.

        Raises `AssertionError` if the kind is none of these, `OSError` if the file cannot be written, and `ModuleNotFoundError` if it needs
        a package that is not there.
        """
        self._save(path, kind)

    def _lines(self) -> Iterable[str]:
        for query, docs in self._rows.items():
            for doc, grade in docs.items():
                yield f"{query} 0 {doc} {grade}"

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, int]]) -> Qrels:
        """Makes judgments of a dict of dicts, `d[query][document]`, and returns them. Grades are relevant from 1 up.

        Raises `ValueError` or `TypeError` if a grade is no number.
        """
        return Qrels(d)

    @staticmethod
    def from_file(path: str | os.PathLike[str], kind: str | None = None) -> Qrels:
        """Reads judgments from the file at `path`, and returns them: JSON, TREC, gzipped TREC, Parquet as `save` writes it, or LZ4, by
        `kind` or its extension.

        Raises `AssertionError` if the kind is none of these, `OSError` if the file cannot be read, `ValueError` if a line has another
        number of fields or a field that is no number, `ModuleNotFoundError` if it needs a package that is not there, and what
        `from_parquet` raises if the columns are others.
        """
        if get_file_kind(path, kind) == "parquet":
            return Qrels.from_parquet(path)
        rows, _ = _read(path, kind, (0, 2, 3), 4)
        return Qrels(rows)

    @staticmethod
    def from_df(
        df: pandas.DataFrame, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score"
    ) -> Qrels:
        """Makes judgments of a DataFrame (`df`) with one row for each, and returns them. `q_id_col`, `doc_id_col` and `score_col` are the
        names of the columns of queries, documents and grades.

        Raises `AssertionError` if ids are no text, or grades no whole numbers, and `KeyError` if a column is not there.
        """
        return Qrels(_of_frame(df, (q_id_col, doc_id_col, score_col), "i", "`int`"))

    @staticmethod
    def from_parquet(
        path: str | os.PathLike[str],
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[str, Any] | None = None,
    ) -> Qrels:
        """Reads judgments from the Parquet file at `path`, with one row for each, and returns them. `q_id_col`, `doc_id_col` and
        `score_col` are as for `from_df`, and `pd_kwargs` are keywords of `pandas.read_parquet`.

        Raises `OSError` if the file cannot be read, `AssertionError` if ids are no text, or grades no whole numbers, `KeyError` if a column
        is not there, and `ModuleNotFoundError` if a package that it needs is not.
        """
        pd = _parquet()
        return Qrels.from_df(pd.read_parquet(path, **(pd_kwargs or {})), q_id_col, doc_id_col, score_col)

    @staticmethod
    def from_ir_datasets(dataset_id: str) -> Qrels:
        """Reads the judgments of a dataset (`dataset_id`) of ir_datasets, which downloads them if need be, and returns them. Their name is
        that of the dataset.

        Raises `ModuleNotFoundError` if ir_datasets is not installed, and `KeyError` if it has no such dataset.
        """
        datasets = _needed("ir_datasets", "Qrels.from_ir_datasets")
        return Qrels(datasets.load(dataset_id).qrels_dict(), dataset_id)


class Run(_Table):
    """Results, with the scores that `evaluate` computed: `run` is `{query: {document: score}}`, and `name` its name. Scores are
    numbers from −inf to inf, the best the largest.

    `scores` are `{metric: {query: value}}`, `mean_scores` and `std_scores` `{metric: value}`. `metadata` is a dict of yours, and `sorted`
    is whether queries and documents are in order.

    Raises `ValueError` or `TypeError` if a score is no number.

    >>> from laneval.compat.ranx import Qrels, Run, evaluate
    >>> run = Run({"q_1": {"d_12": 0.5, "d_25": 0.75}}, name="mine")
    >>> run.add("q_2", ["d_11"], [0.25])
    >>> run.add_multi(["q_3"], [["d_7", "d_8"]], [[0.5, 1.0]])
    >>> run.add_score("q_3", "d_9", 2.0)
    >>> run.sort()
    >>> run["q_3"]
    {'d_9': 2.0, 'd_8': 1.0, 'd_7': 0.5}
    >>> run.size, run.get_query_ids(), list(run.keys()) == list(run.run)
    (3, ['q_1', 'q_2', 'q_3'], True)
    >>> run.get_doc_ids_and_scores()[0]
    {'d_25': 0.75, 'd_12': 0.5}
    >>> qrels = Qrels({"q_1": {"d_12": 1}, "q_2": {"d_1": 1}})
    >>> evaluate(qrels, run.make_comparable(qrels), "mrr"), run.scores["mrr"], run.mean_scores
    (0.25, {'q_1': 0.5, 'q_2': 0.0}, {'mrr': 0.25})
    >>> run.to_typed_list()[0].shape
    (2, 2)

    Dicts, DataFrames and files hold them:

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> run.save(os.path.join(folder, "run.json"))
    >>> run.save(os.path.join(folder, "run.parquet"))
    >>> len(Run.from_dict(run.to_dict())), len(Run.from_df(run.to_dataframe()))
    (2, 2)
    >>> len(Run.from_file(os.path.join(folder, "run.json"))), len(Run.from_parquet(os.path.join(folder, "run.parquet")))
    (2, 2)

    Nothing is downloaded: `Run.from_ranxhub` raises `NotImplementedError`.
    """

    _number = float

    def __init__(self, run: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores of the documents of each query, `{query: {document: score}}`, from −inf to inf. It can be set."""
        return self._rows

    @run.setter
    def run(self, run: Mapping[str, Mapping[str, float]]) -> None:
        self._set(run)

    def make_comparable(self, qrels: Qrels) -> Run:
        """Adds empty results for queries of `qrels` that are missing, drops those that are not judged, and returns the run itself.

        Raises `AttributeError` if `qrels` has no keys.
        """
        self._kept = {query: self._kept.get(query, {}) for query in qrels.keys()}
        self.sort()
        return self

    def save(self, path: str | os.PathLike[str] = "run.json", kind: str | None = None) -> None:
        """Writes a file at `path`, whole or not at all: JSON, TREC, gzipped TREC, Parquet or LZ4, by `kind` (`"json"`, `"trec"`, `"gz"`,
        `"parquet"` or `"lz4"`) or its extension.

        Raises `AssertionError` if the kind is none of these, `OSError` if the file cannot be written, and `ModuleNotFoundError` if it needs
        a package that is not there.
        """
        self._save(path, kind)

    def _lines(self) -> Iterable[str]:
        for query, docs in self._rows.items():
            for rank, (doc, score) in enumerate(docs.items(), 1):
                yield f"{query} Q0 {doc} {rank} {score} {self.name}"

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, float]], name: str | None = None) -> Run:
        """Makes results of a dict of dicts, `d[query][document]`, with a `name`, and returns them. Scores are from −inf to inf.

        Raises `ValueError` or `TypeError` if a score is no number.
        """
        return Run(d, name)

    @staticmethod
    def from_file(path: str | os.PathLike[str], kind: str | None = None, name: str | None = None) -> Run:
        """Reads results from the file at `path`, and returns them: JSON, TREC, gzipped TREC, Parquet as `save` writes it, or LZ4, by `kind`
        or its extension. Their `name` is the tag of a TREC file by default.

        Raises `AssertionError` if the kind is none of these, `OSError` if the file cannot be read, `ValueError` if a line has another
        number of fields or a field that is no number, `ModuleNotFoundError` if it needs a package that is not there, and what
        `from_parquet` raises if the columns are others.
        """
        if get_file_kind(path, kind) == "parquet":
            return Run.from_parquet(path, name=name)
        rows, tag = _read(path, kind, (0, 2, 4), 6)
        return Run(rows, tag if name is None else name)

    @staticmethod
    def from_df(
        df: pandas.DataFrame,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Run:
        """Makes results of a DataFrame (`df`) with one row for each, and returns them. `q_id_col`, `doc_id_col` and `score_col` are the
        names of the columns of queries, documents and scores, and `name` is that of the run.

        Raises `AssertionError` if ids are no text, or scores no fractions, and `KeyError` if a column is not there.
        """
        return Run(_of_frame(df, (q_id_col, doc_id_col, score_col), "f", "`float`"), name)

    @staticmethod
    def from_parquet(
        path: str | os.PathLike[str],
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Run:
        """Reads results from the Parquet file at `path`, with one row for each, and returns them. `q_id_col`, `doc_id_col`, `score_col` and
        `name` are as for `from_df`, and `pd_kwargs` are keywords of `pandas.read_parquet`.

        Raises `OSError` if the file cannot be read, `AssertionError` if ids are no text, or scores no fractions, `KeyError` if a column
        is not there, and `ModuleNotFoundError` if a package that it needs is not.
        """
        pd = _parquet()
        return Run.from_df(pd.read_parquet(path, **(pd_kwargs or {})), q_id_col, doc_id_col, score_col, name)

    from_ranxhub = staticmethod(_absent("Run.from_ranxhub", "it downloads nothing"))


_Judgments: TypeAlias = "Qrels | Mapping[str, Mapping[str, int]] | Sequence[Any] | NDArray[Any]"
_Results: TypeAlias = "Run | Mapping[str, Mapping[str, float]] | Sequence[Any] | NDArray[Any]"


@overload
def evaluate(
    qrels: _Judgments,
    run: _Results,
    metrics: str,
    return_mean: Literal[True] = True,
    return_std: Literal[False] = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> float: ...
@overload
def evaluate(
    qrels: _Judgments,
    run: _Results,
    metrics: str | Sequence[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any: ...
def evaluate(
    qrels: _Judgments,
    run: _Results,
    metrics: str | Sequence[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """Computes the values of `metrics` of a `run` against `qrels`, and returns them: over all queries, or with `return_mean=False` of each
    query.

    Of one metric that is a number, or an array `[query]` of float64; of several it is a dict `{metric: number}` of these. With
    `return_std=True` a number is a dict of `mean` and `std`. Most metrics are from 0 to 1. `threads` is a number of threads, all if 0.

    The queries of both sides have to be the same, unless `make_comparable` gives those that the run lacks an empty ranking and drops those
    that are not judged. The values of queries, means and standard deviations are kept in the run, if it is a `Run`, unless
    `save_results_in_run=False`. Arrays are rows (document, number) of each query, `[query][document, 2]`, in the same order of queries on
    both sides.

    Raises `AssertionError` if the queries of both sides differ or a metric is no text, `ValueError` if there is no such metric, arrays have
    wrong shapes or a score is NaN, and `TypeError` if an argument is of another type.

    >>> from laneval.compat.ranx import evaluate
    >>> qrels, run = {"q_1": {"d_1": 1}, "q_2": {"d_1": 1}}, {"q_1": {"d_1": 0.5}, "q_2": {"d_2": 0.7, "d_1": 0.5}}
    >>> evaluate(qrels, run, "mrr")
    0.75
    >>> evaluate(qrels, run, ["mrr", "hits"], return_mean=False)
    {'mrr': array([1. , 0.5]), 'hits': array([1., 1.])}
    """
    asked, _, values, means, stds = _evaluated(
        qrels, run, metrics, return_mean and return_std, threads, save_results_in_run, make_comparable
    )
    answer: dict[str, Any]
    if not return_mean:
        import numpy as np

        answer = {metric: np.array(of, dtype=np.float64) for metric, of in values.items()}
    elif return_std:
        answer = {metric: {"mean": means[metric], "std": stds[metric]} for metric in values}
    else:
        answer = dict(means)
    return answer[asked[0]] if len(asked) == 1 else answer


def _evaluated(
    qrels: _Judgments,
    run: _Results,
    metrics: str | Sequence[str],
    wants_std: bool,
    threads: int,
    save_results_in_run: bool,
    make_comparable: bool,
) -> tuple[list[str], list[str], dict[str, list[float]], dict[str, float], dict[str, float]]:
    """The metrics, the queries, the values of each metric query by query in the order of the run, means and standard deviations."""
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run = run.make_comparable(qrels)
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    assert all(isinstance(metric, str) for metric in asked), "Metrics error"
    if isinstance(qrels, (_Table, Mapping)) and isinstance(run, (_Table, Mapping)):
        assert qrels.keys() == run.keys(), (
            "Qrels and Run query ids do not match. Pass `make_comparable=True` to add empty results for queries missing from the run and"
            " remove those not appearing in qrels."
        )
        found = _rows(run)
        queries = list(found)
        values = _values(_rows(qrels), found, asked, queries, threads)
    else:
        queries, values = _values_of_arrays(qrels, run, asked, threads)
    means = {metric: _mean(of) for metric, of in values.items()}
    stds = {metric: _std(of, means[metric]) for metric, of in values.items()} if wants_std else {}
    if isinstance(run, Run) and save_results_in_run:
        run.mean_scores.update(means)
        run.std_scores.update(stds)
        for metric, of in values.items():
            run.scores[metric].update(zip(queries, of, strict=True))
    return asked, queries, values, means, stds


def compare(
    qrels: _Judgments,
    runs: Sequence[_Results],
    metrics: str | Sequence[str],
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
    *,
    correction: Literal["none", "bonferroni", "holm", "bh", "by", "maxt", "rhsd"] = "none",
) -> Report:
    """Evaluates `runs` against `qrels` and compares every pair of them under `metrics`: by the paired t test (`stat_test="student"`),
    Fisher's randomisation test (`"fisher"`) or Tukey's HSD (`"tukey"`). Returns the report.

    A difference is significant if p is `max_p` or less, a number from 0 to 1. `correction` chooses the correction for the number of pairs,
    which ranx does not have; Tukey's test has its own. Fisher's draws `n_permutations` signs, from 1, with `random_seed`. `rounding_digits`
    and `show_percentages` are how the report shows numbers; `threads` and `make_comparable` are as for `evaluate`.

    Raises what `evaluate` raises, `NotImplementedError` if there is no such test, and `ValueError` if two runs have one name, or an
    argument has a value that it does not have.

    >>> from laneval.compat.ranx import Run, compare
    >>> qrels = {"q_1": {"d_1": 1}, "q_2": {"d_1": 1}}
    >>> one, two = Run({"q_1": {"d_1": 0.5}, "q_2": {"d_1": 0.5}}, "one"), Run({"q_1": {"d_2": 0.5}, "q_2": {"d_1": 0.5}}, "two")
    >>> compare(qrels, [one, two], "mrr", rounding_digits=2, show_percentages=True)
    #  Model  MRR
    -  -----  ---
    a  one    100
    b  two    50
    """
    if stat_test not in STAT_TESTS:
        raise NotImplementedError(f"Statistical test `{stat_test}` not supported.")
    if stat_test == "tukey" and correction != "none":
        raise ValueError("stat_test='tukey' brings its own correction: leave correction out")
    names = [getattr(run, "name", None) or f"run_{at}" for at, run in enumerate(runs, 1)]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise ValueError(f"two runs have the name {twice[0]}: give one of them another name")
    results: dict[str, dict[str, float]] = {}
    evaluated: list[tuple[str, RunScores]] = []
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    for name, run in zip(names, runs, strict=True):
        asked, queries, values, means, _ = _evaluated(qrels, run, asked, False, threads, True, make_comparable)
        results[name] = dict(means)
        evaluated.append((name, _kept(name, queries, values)))
    options: ComparisonOptions = {
        "test": "randomisation" if stat_test == "fisher" else "t",
        "correction": "hsd" if stat_test == "tukey" else correction,
        "permutations": n_permutations,
        "seed": random_seed,
    }
    if threads:
        options["threads"] = threads
    comparison = compare_values(evaluated, None, options) if len(evaluated) > 1 else None
    pairs, wins = _pairs(names, asked, comparison, corrected=stat_test == "tukey" or correction != "none", max_p=max_p)
    return Report(names, results, pairs, asked, max_p, wins, rounding_digits, show_percentages, stat_test)


def _kept(name: str, queries: list[str], values: Mapping[str, list[float]]) -> RunScores:
    """Makes scores of the values of metrics, query by query."""
    order = sorted(range(len(queries)), key=lambda at: queries[at].encode("utf-8", "surrogateescape"))
    columns = {_name(metric): [of[at] for at in order] for metric, of in values.items()}
    measures = list(columns)
    stats = [{"mean": _mean(of)} for of in columns.values()]
    return RunScores(measures, {**_KNOWN, "name": name}, stats, PerQuery(None, measures, [queries[at] for at in order], columns))


_KNOWN: dict[str, Any] = {
    "filled": False,
    "fingerprints": [],
    "ideal": "judgments",
    "ignored": (0, []),
    "judged_only": False,
    "missing": (0, []),
    "query_set": "judged",
    "relevant_from": "judged",
    "rule": {
        "ties": "docno-desc",
        "score_type": "f64",
        "depth": None,
        "drop_identical_ids": False,
        "doc_id": None,
        "aggregate": "error",
        "max_chunks": None,
        "exclude": None,
    },
    "tag": "",
    "tied": "ranked",
    "view_depth": None,
}


def _pairs(
    names: Sequence[str], metrics: Sequence[str], comparison: Comparison | None, *, corrected: bool, max_p: float
) -> tuple[_Pairs, dict[tuple[str, str], dict[str, dict[str, int]]]]:
    """For each pair of runs, p under each metric, and the numbers of queries in which the first one wins, ties and loses."""
    tests: dict[frozenset[str], dict[str, dict[str, Any]]] = {}
    wins: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for at, baseline in enumerate(names):
        for run in names[at + 1 :]:
            assert comparison is not None
            of_pair = tests.setdefault(frozenset((run, baseline)), {})
            for metric in metrics:
                pair = comparison[run, baseline, _name(metric)]
                p = pair.p_adj if corrected else pair.p
                of_pair[metric] = {"p_value": math.nan if p is None else p, "significant": p is not None and p <= max_p}
                forth, back = wins.setdefault((run, baseline), {}), wins.setdefault((baseline, run), {})
                forth[metric] = {"W": pair.wins, "T": pair.ties, "L": pair.losses}
                back[metric] = {"W": pair.losses, "T": pair.ties, "L": pair.wins}
    return _Pairs(tests), wins


class _Pairs(Mapping[Any, Any]):
    """The data of pairs of runs, whichever is named first."""

    def __init__(self, pairs: dict[frozenset[str], dict[str, dict[str, Any]]]) -> None:
        self._of = pairs

    def __getitem__(self, pair: Iterable[str]) -> dict[str, dict[str, Any]]:
        return self._of[frozenset(pair)]

    def __iter__(self) -> Iterator[frozenset[str]]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)


STAT_TESTS = {
    "fisher": "Fisher's randomization test",
    "student": "paired Student's t-test",
    "tukey": "Tukey's HSD test",
}

LABELS = {
    "bpref": "BPref",
    "dcg": "DCG",
    "dcg_burges": "DCG Burges",
    "f1": "F1",
    "hit_rate": "Hit Rate",
    "hits": "Hits",
    "map": "MAP",
    "mrr": "MRR",
    "ndcg": "NDCG",
    "ndcg_burges": "NDCG Burges",
    "precision": "P",
    "r-precision": "R-Prec",
    "recall": "Recall",
}


class Report:
    """The result of `compare`: as text, the table of means with the letters of the runs that each is significantly better than.

    `model_names` are the runs, `[run]`, and `metrics` the metrics, `[metric]`; `results` are `{run: {metric: mean}}`,
    `comparisons` `{pair of runs: {metric: {"p_value": p, "significant": …}}}` and `win_tie_loss`
    `{(run, other): {metric: {"W": number, "T": number, "L": number}}}`. Every p is from 0 to 1.
    `max_p`, `rounding_digits`, `show_percentages` and `stat_test` are what `compare` was asked for.

    >>> from laneval.compat.ranx import Run, compare
    >>> qrels = {f"q_{at}": {"d_1": 1} for at in range(8)}
    >>> one = Run({query: {"d_1": 0.5} for query in qrels}, "one")
    >>> two = Run({query: {"d_2": 0.5, **({"d_1": 0.4} if query > "q_2" else {})} for query in qrels}, "two")
    >>> report = compare(qrels, [one, two], ["mrr"])
    >>> print(report.to_table())
    #  Model  MRR
    -  -----  ------
    a  one    1.000ᵇ
    b  two    0.312
    >>> report.get_superscript_for_table("one", "mrr"), report.get_superscript_for_latex("one", "mrr")
    ('ᵇ', 'b')
    >>> report.get_phantoms_for_latex("two", "mrr"), report.get_metric_label("ndcg@10"), report.get_stat_test_label("student")
    ('a', 'NDCG@10', "paired Student's t-test")
    >>> report.format_score(0.5), report.to_dataframe().shape
    ('0.500', (2, 2))
    >>> report.to_dict()["one"]["win_tie_loss"]
    {'two': {'mrr': {'W': 8, 'T': 0, 'L': 0}}}
    >>> report.print_results()
    {
        "one": {
            "mrr": 1.0
        },
        "two": {
            "mrr": 0.3125
        }
    }
    >>> print(report.to_latex().splitlines()[0])
    \\begin{table}
    >>> import os, tempfile
    >>> report.save(os.path.join(tempfile.mkdtemp(), "report.json"))
    """

    def __init__(
        self,
        model_names: list[str],
        results: dict[str, dict[str, float]],
        comparisons: Mapping[Any, Any],
        metrics: list[str],
        max_p: float,
        win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]],
        rounding_digits: int = 3,
        show_percentages: bool = False,
        stat_test: str = "student",
    ) -> None:
        self.model_names = model_names
        self.results = results
        self.comparisons = comparisons
        self.metrics = metrics
        self.max_p = max_p
        self.win_tie_loss = win_tie_loss
        self.rounding_digits = rounding_digits
        self.show_percentages = show_percentages
        self.stat_test = stat_test

    def to_table(self) -> str:
        """The table as text."""
        labels = self._labels()
        rows = [["#", "Model", *map(self.get_metric_label, self.metrics)]]
        for name, label in zip(self.model_names, labels, strict=True):
            cells = [
                self.format_score(self.results[name][metric]) + self.get_superscript_for_table(name, metric) for metric in self.metrics
            ]
            rows.append([label, name, *cells])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)

    def to_latex(self) -> str:
        """The table in LaTeX, for the package booktabs."""
        head = " & ".join([r"\#", "Model", *(_latex(self.get_metric_label(metric)) for metric in self.metrics)])
        best = {
            metric: _native.are_best([self.results[name][metric] for name in self.model_names], "higher") for metric in self.metrics
        }
        lines = []
        for at, (name, label) in enumerate(zip(self.model_names, self._labels(), strict=True)):
            cells = []
            for metric in self.metrics:
                score = self.format_score(self.results[name][metric])
                bold = best[metric][at]
                raised = self.get_superscript_for_latex(name, metric)
                cells.append((rf"\textbf{{{score}}}" if bold else score) + (f"$^{{{raised}}}$" if raised else ""))
            lines.append(" & ".join([label, _latex(name), *cells]) + r" \\")
        caption = (
            "Overall effectiveness of the models. The best results are in boldface. "
            f"Superscripts: significantly better than that model, {self.get_stat_test_label(self.stat_test)}, $p \\le {self.max_p}$."
        )
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{caption}}}",
                r"\label{tab:results}",
                rf"\begin{{tabular}}{{ll{'r' * len(self.metrics)}}}",
                r"\toprule",
                head + r" \\",
                r"\midrule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain data, `{part: data}`: `stat_test`, `metrics`, `model_names`, and for each model `scores`,
        `comparisons`, `win_tie_loss`.
        """
        data: dict[str, Any] = {
            "stat_test": self.stat_test,
            "metrics": self.metrics,
            "model_names": self.model_names,
        }
        for name in self.model_names:
            others = [other for other in self.model_names if other != name]
            data[name] = {
                "scores": self.results[name],
                "comparisons": {
                    other: {metric: of["p_value"] for metric, of in self.comparisons[name, other].items()} for other in others
                },
                "win_tie_loss": {other: dict(self.win_tie_loss[name, other]) for other in others},
            }
        return data

    def to_dataframe(self) -> pandas.DataFrame:
        """The means as a DataFrame with one row for each model, and a column for each metric."""
        import pandas as pd

        return pd.DataFrame([{"model_names": name, **self.results[name]} for name in self.model_names])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole report as JSON, at `path`, whole or not at all.

        Raises `OSError` if the file cannot be written.
        """
        write_atomic(path, json.dumps(self.to_dict(), indent=4))

    def print_results(self) -> None:
        """Prints the means as JSON."""
        print(json.dumps(self.results, indent=4))

    def get_metric_label(self, m: str) -> str:
        """The name of a metric (`m`) in the table."""
        name = m.split("@")[0].split("-l")[0]
        return LABELS.get(name, name.upper()) + m[len(name) :]

    def get_stat_test_label(self, stat_test: str) -> str:
        """The name of a test (`stat_test`) in LaTeX.

        Raises `KeyError` if there is no such test.
        """
        return STAT_TESTS[stat_test]

    def get_superscript_for_table(self, model: str, metric: str) -> str:
        """The raised letters of the runs that a run (`model`) is significantly better than under a `metric`.

        Raises `KeyError` if there is no such run or metric.
        """
        return _raised(self._beaten(model, metric))

    def get_superscript_for_latex(self, model: str, metric: str) -> str:
        """The letters of the runs that a run (`model`) is significantly better than under a `metric`.

        Raises `KeyError` if there is no such run or metric.
        """
        return _apart(self._beaten(model, metric), r"{\cdot}")

    def get_phantoms_for_latex(self, model: str, metric: str) -> str:
        """The letters of the other runs that a run (`model`) is not significantly better than under a `metric`.

        Raises `KeyError` if there is no such run or metric.
        """
        beaten = self._beaten(model, metric)
        others = (label for label, other in zip(self._labels(), self.model_names, strict=True) if other != model)
        return _apart([label for label in others if label not in beaten], r"{\cdot}")

    def _labels(self) -> list[str]:
        """A letter for each run, or a number where there are more runs than letters."""
        letters = "abcdefghijklmnoprstuvwxyz"
        count = len(self.model_names)
        return list(letters[:count]) if count <= len(letters) else [str(at) for at in range(1, count + 1)]

    def _beaten(self, name: str, metric: str) -> list[str]:
        """The labels of the runs that a run is significantly better than."""
        return [
            label
            for label, other in zip(self._labels(), self.model_names, strict=True)
            if other != name
            and self.comparisons[name, other][metric]["significant"]
            and self.results[name][metric] > self.results[other][metric]
        ]

    def format_score(self, score: float) -> str:
        """A value (`score`), of most metrics from 0 to 1, with the digits that were asked for, perhaps as a percentage."""
        if self.show_percentages:
            return f"{100 * score:.{max(0, self.rounding_digits - 2)}f}"
        return f"{score:.{self.rounding_digits}f}"

    def __repr__(self) -> str:
        return self.to_table()


def _apart(labels: Sequence[str], dot: str) -> str:
    return dot.join(labels) if any(label.isdigit() for label in labels) else "".join(labels)


def _raised(labels: Sequence[str]) -> str:
    """Labels as raised letters or numbers."""
    plain, raised = "0123456789abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
    return _apart(labels, "·").translate(str.maketrans(plain, raised))


def _rows(source: _Table | Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
    if not isinstance(source, _Table):
        return source
    if not source.sorted:
        source.sort()
    return source._kept


def _values(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Mapping[str, float]],
    metrics: Sequence[str],
    queries: Sequence[str],
    threads: int,
) -> dict[str, list[float]]:
    """The values of each metric, query by query."""
    names = {metric: _name(metric) for metric in metrics}
    judged, found = any(qrels.values()), any(run.values())
    if not judged or not found:
        return {metric: [0.0] * len(queries) for metric in names}
    evaluation = _settings(names.values(), threads)
    native = _native.Qrels(qrels, "qrels", "trec10", {})
    per_query = evaluation.evaluate(native, [("run", run)], {}).per_query(0)
    assert per_query is not None
    order, places = evaluation.measures(), {query: at for at, query in enumerate(per_query.queries())}
    values: dict[str, list[float]] = {}
    for metric, name in names.items():
        column = per_query.column(order.index(name))
        values[metric] = [column[places[query]] if query in places else 0.0 for query in queries]
    return values


class _Lists(NamedTuple):
    """Documents and numbers of queries, one query behind the other."""

    docs: NDArray[Any]
    numbers: NDArray[Any]
    sizes: NDArray[Any]

    def queries(self) -> NDArray[Any]:
        """The place of the query of each document."""
        import numpy as np

        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def _lists(source: Any, what: str) -> _Lists:
    """The rows of arrays, and of others as ranx makes arrays of them."""
    import numpy as np

    if isinstance(source, Mapping):
        source = [
            np.array([(hash(doc), number) for doc, number in sorted(docs.items(), key=lambda item: -item[1])], np.float64)
            for docs in source.values()
        ]
    elif isinstance(source, _Table):
        source = source.to_typed_list()
    elif isinstance(source, (str, bytes)) or not (isinstance(source, Sequence) or hasattr(source, "__array__")):
        raise TypeError(f"{what} is of {type(source)}: {what.title()} of this module, a dict of dicts, or arrays were expected")
    parts = [np.asarray(part) for part in source]
    for at, part in enumerate(parts):
        if part.size and (part.ndim != 2 or part.shape[1] != 2 or part.dtype.kind not in "biuf"):
            raise ValueError(
                f"{what}[{at}] is of {part.dtype} and of the shape {part.shape}: numbers of the shape (documents, 2) were expected"
            )
    rows = np.concatenate([part for part in parts if part.size] or [np.empty((0, 2))])
    return _Lists(rows[:, 0], rows[:, 1], np.array([part.size // 2 for part in parts], np.int64))


class _Found(NamedTuple):
    """What judgments say of documents of rankings."""

    states: NDArray[Any]
    """1 if relevant, 0 if judged, −1 if not judged."""
    gains: NDArray[Any]
    """The grade if relevant, or else 0."""
    repeated: NDArray[Any]
    """The places of judged documents that were in the same ranking before."""


def _found(judged: _Lists, ranked: _Lists, level: float) -> _Found:
    """Looks documents up. The first of several judgments that make a document relevant is the one that counts."""
    import numpy as np

    relevant = judged.numbers >= level
    order = np.argsort(~relevant, kind="stable")
    docs, doc_of = np.unique(judged.docs, return_inverse=True)
    # A judged document of a query as one number.
    pairs, first = np.unique(judged.queries()[order] * len(docs) + doc_of[order], return_index=True)
    doc_at, rows = _places(docs, ranked.docs)
    of_rows = ranked.queries()[rows] * len(docs) + doc_at[rows]
    pair_at, known = _places(pairs, of_rows)
    rows, judgments = rows[known], order[first[pair_at[known]]]
    states = np.full(len(ranked.docs), -1, np.int8)
    states[rows] = relevant[judgments]
    gains = np.zeros(len(ranked.docs))
    gains[rows] = np.where(relevant[judgments], judged.numbers[judgments], 0.0)
    repeated = rows[~np.isin(np.arange(len(rows)), np.unique(of_rows[known], return_index=True)[1])]
    return _Found(states, gains, repeated)


def _places(ascending: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The places of values among others, and at which of the values there is one."""
    import numpy as np

    places = np.searchsorted(ascending, values)
    inside = np.flatnonzero(places < len(ascending))
    return places, inside[ascending[places[inside]] == values[inside]]


def _values_of_arrays(
    qrels: _Judgments, run: _Results, metrics: Sequence[str], threads: int
) -> tuple[list[str], dict[str, list[float]]]:
    """The queries, and the values of each metric, query by query, if one side or both are arrays."""
    judged, ranked = _lists(qrels, "qrels"), _lists(run, "run")
    count = len(judged.sizes)
    if count != len(ranked.sizes):
        raise ValueError(f"qrels have {count} queries, and run {len(ranked.sizes)}: the same number was expected")
    named = next((list(source.keys()) for source in (run, qrels) if isinstance(source, (_Table, Mapping))), None)
    levels: dict[float, list[str]] = {}
    for metric in metrics:
        _name(metric)
        levels.setdefault(float(metric.partition("-l")[2] or 1), []).append(metric)
    values: dict[str, list[float]] = {metric: [] for metric in metrics}
    if count:
        for level, of_level in levels.items():
            values.update(_values_of_level(judged, ranked, level, of_level, threads))
    return named or [str(at) for at in range(count)], values


def _values_of_level(
    judged: _Lists, ranked: _Lists, level: float, metrics: Sequence[str], threads: int
) -> dict[str, list[float]]:
    """The values of each metric, query by query, with the documents relevant that have this grade or a higher one."""
    import numpy as np

    found = _found(judged, ranked, level)
    twice = found.repeated[found.states[found.repeated] == 1]
    if twice.size:
        doc, query = ranked.docs[twice[0]], ranked.queries()[twice[0]]
        raise ValueError(f"run[{query}] has the relevant document {doc} twice: once was expected")
    found.states[found.repeated] = -1
    relevant = np.bincount(judged.queries()[judged.numbers >= level], minlength=len(judged.sizes))
    judgments = np.stack([judged.sizes - relevant, relevant], axis=1)
    binary = {metric: _name(metric.partition("-l")[0]) for metric in metrics if not metric.startswith(_GRADED)}
    graded = {metric: _name(metric.removeprefix("n")) for metric in metrics if metric.startswith(_GRADED)}
    values = _columns(binary, found.states, judgments, ranked.sizes, threads)
    values |= _columns(graded, found.gains, None, ranked.sizes, threads)
    normed = {metric: graded[metric] for metric in graded if metric.startswith("n")}
    ideals = _columns(normed, _found(judged, judged, level).gains, None, judged.sizes, threads) if normed else {}
    for metric, ideal in ideals.items():
        values[metric] = [value / (most or 1.0) for value, most in zip(values[metric], ideal, strict=True)]
    return values


_GRADED = ("dcg", "ndcg", "rbp")


def _columns(
    names: Mapping[str, str], labels: NDArray[Any], judged: NDArray[Any] | None, sizes: NDArray[Any], threads: int
) -> dict[str, list[float]]:
    """The values of each metric for rankings of grades, one behind the other."""
    import numpy as np

    if not names:
        return {}
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    counts = None if judged is None else (judged, False)
    rankings = _native.Arrays.labels((labels, False), None, (offsets, False), None, None, counts)
    scores = _settings(names.values(), threads).rankings(rankings)
    order, per_query = scores.measures(), scores.per_query(0)
    assert per_query is not None
    return {metric: per_query.column(order.index(name)) for metric, name in names.items()}


def _settings(names: Iterable[str], threads: int) -> _native.Settings:
    options: Options = {"queries": "judged", "per_query": True, "engine": "cpu", "dialect": "trec10"}
    if threads:
        options["threads"] = threads
    return settings(tuple(dict.fromkeys(names)), options, None)


def _name(metric: str) -> str:
    """The name of a metric in laneval."""
    if metric.split("-l")[0] == "rbp":
        raise ValueError("RBP requires persistence value. Example: `rpb.95`")
    try:
        (name,) = _native.parse(f"ranx:{metric}")
    except ValueError as error:
        raise ValueError(f"Metric {metric} not supported: {error}") from None
    return name


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _std(values: Sequence[float], mean: float) -> float:
    """The standard deviation of a population, as NumPy computes it."""
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) if values else math.nan


def _needed(module: str, what: str) -> Any:
    """A module that may be missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{what} needs the package {module.partition('.')[0]}", name=module) from None


def _parquet() -> Any:
    """pandas, which reads and writes Parquet by one of two packages."""
    pandas = _needed("pandas", "Parquet")
    if not any(importlib.util.find_spec(engine) for engine in ("pyarrow", "fastparquet")):
        raise ModuleNotFoundError("Parquet needs the package pyarrow, or fastparquet", name="pyarrow")
    return pandas


def get_file_kind(path: str | os.PathLike[str] = "run.json", kind: str | None = None) -> str:
    """The kind of a file: `kind`, or by its extension."""
    if kind is None:
        ending = os.path.splitext(path)[1][1:]
        kind = {"txt": "trec", "parq": "parquet"}.get(ending, ending)
    assert kind in {"json", "trec", "lz4", "gz", "parquet"}, "Error `kind` must be 'json', 'trec', 'lz4', 'gz', or 'parquet'"
    return kind


def _read(
    path: str | os.PathLike[str], kind: str | None, fields: tuple[int, int, int], count: int
) -> tuple[dict[str, Any], str | None]:
    """The rows of a file, and the tag of its first line if it has one."""
    kind = get_file_kind(path, kind)
    if kind == "json":
        with open(path, encoding="utf-8") as file:
            return json.load(file), None
    if kind == "lz4":
        frame = _needed("lz4.frame", "LZ4")
        with open(path, "rb") as packed:
            inner = frame.decompress(packed.read())
        return _needed("cbor2", "LZ4").loads(frame.decompress(inner)), None
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    tag = None
    with gzip.open(path, "rt", encoding="utf-8") if kind == "gz" else open(path, encoding="utf-8") as file:
        for line in file:
            parts = line.split()
            if len(parts) != count:
                raise ValueError(f"{path}: {count} fields were expected, not {line!r}")
            query, doc, number = (parts[field] for field in fields)
            rows[query][doc] = float(number)
            tag = tag if tag is not None or count < 6 else parts[5]
    return rows, tag


def _of_frame(
    df: pandas.DataFrame, columns: tuple[str, str, str], number: str, numbers: str
) -> dict[str, dict[str, Any]]:
    """The rows of a DataFrame."""
    query, doc, score = columns
    for column in columns:
        if column not in df:
            raise KeyError(f"there is no column {column!r}: there are {', '.join(map(repr, df.columns))}")
    for column, what in ((query, "Query IDs"), (doc, "Document IDs")):
        text = df[column].dtype.kind == "O" or str(df[column].dtype).startswith(("str", "object"))
        assert text, f"DataFrame {what} column dtype must be `object` (string)"
    assert df[score].dtype.kind == number, f"DataFrame scores column dtype must be {numbers}"
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for query_id, doc_id, of in zip(df[query].tolist(), df[doc].tolist(), df[score].tolist(), strict=True):
        rows[query_id][doc_id] = of
    return rows

"""ranx's `Qrels`, `Run` and `evaluate`, computed by laneval.

>>> from laneval.compat.ranx import Qrels, Run, evaluate
>>> qrels = Qrels({"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}})
>>> run = Run({"q_1": {"d_12": 0.9, "d_23": 0.8}, "q_2": {"d_12": 0.9, "d_11": 0.8}})
>>> evaluate(qrels, run, "mrr")
0.75
>>> evaluate(qrels, run, ["precision@1", "recall-l2"])
{'precision@1': 0.5, 'recall-l2': 0.75}
>>> run.scores["mrr"]
{'q_1': 1.0, 'q_2': 0.5}

Equal to ranx 0.3: names of metrics (`ndcg@10`, `rbp.95`, `r-precision`, `map@100-l2`); a float for one metric, a dict for several, arrays
of NumPy in the order of the queries with `return_mean=False`, `mean` and `std` with `return_std=True`; `run.scores`, `run.mean_scores`,
`run.std_scores`; `make_comparable`; assertions where queries differ; values, but for the last digits, where no scores are equal.

Other on purpose:

* Equal scores are ordered by document id, descending; there the order is arbitrary.
* Dicts are matched by query; there by place.
* `bpref` is trec_eval's formula; there a document with a negative grade counts as judged not relevant.
* `rbp` is over grades as they are, as there, and a sum of weights: values above 1 are possible where grades are.
* A cutoff is at least 1; there `@0` is none.
* No fusion, no normalization, no plots, no downloads, no typed lists of Numba; `threads` is how many threads work, all if 0.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from laneval import _native
from laneval._options import Options, settings

if TYPE_CHECKING:
    import pandas

__all__ = ["Qrels", "Run", "evaluate"]


class _Table:
    """Numbers of documents of queries: queries ascending, documents by their numbers, descending."""

    _rows: dict[str, dict[str, Any]]
    name: str | None

    def __init__(self, rows: Mapping[str, Mapping[str, Any]] | None, name: str | None) -> None:
        self._rows = {query: self._ranked(docs) for query, docs in sorted((rows or {}).items())}
        self.name = name

    def _ranked(self, docs: Mapping[str, Any]) -> dict[str, Any]:
        numbers = {doc: self._number(number) for doc, number in docs.items()}
        return dict(sorted(numbers.items(), key=lambda item: -item[1]))

    @staticmethod
    def _number(number: Any) -> Any:
        raise NotImplementedError

    def keys(self) -> Any:
        """The ids of the queries."""
        return self._rows.keys()

    def get_query_ids(self) -> list[str]:
        """The ids of the queries, ascending."""
        return list(self._rows)

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        """The documents of each query with their numbers."""
        return list(self._rows.values())

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        """Adds a document to a query, or changes its number."""
        self.add(q_id, [*self._rows.get(q_id, {}), doc_id], [*self._rows.get(q_id, {}).values(), score])

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> None:
        """Adds a query with its documents, or replaces it."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
    ) -> None:
        """Adds several queries with their documents."""
        for query, docs, numbers in zip(q_ids, doc_ids, scores, strict=True):
            self._rows[query] = self._ranked(dict(zip(docs, numbers, strict=True)))
        self._rows = dict(sorted(self._rows.items()))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """A dict of dicts."""
        return defaultdict(dict, {query: dict(docs) for query, docs in self._rows.items()})

    def to_dataframe(self) -> pandas.DataFrame:
        """A DataFrame with the columns `q_id`, `doc_id` and `score`."""
        import pandas as pd

        rows = [(query, doc, number) for query, docs in self._rows.items() for doc, number in docs.items()]
        return pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])

    def save(self, path: str, kind: str | None = None) -> None:
        """Writes a file: JSON, TREC or Parquet, as `kind` or its ending says."""
        kind = _kind(path, kind)
        if kind == "parquet":
            self.to_dataframe().to_parquet(path, index=False)
            return
        text = json.dumps(self._rows, indent=2) if kind == "json" else "\n".join(self._lines())
        if kind == "gz":
            with gzip.open(path, "wt", encoding="utf-8") as file:
                file.write(text)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def _lines(self) -> Iterable[str]:
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many queries there are."""
        return len(self._rows)

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        return dict(self._rows[q_id])

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return repr(self._rows)


class Qrels(_Table):
    """Judgments."""

    def __init__(self, qrels: Mapping[str, Mapping[str, int]] | None = None, name: str | None = None) -> None:
        super().__init__(qrels, name)

    @staticmethod
    def _number(number: Any) -> int:
        return int(number)

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The grades of the documents of each query."""
        return self._rows

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Lowers all grades, so that this one becomes 1."""
        self._rows = {
            query: {doc: grade - (rel_lvl - 1) for doc, grade in docs.items()} for query, docs in self._rows.items()
        }

    def _lines(self) -> Iterable[str]:
        for query, docs in self._rows.items():
            for doc, grade in docs.items():
                yield f"{query} 0 {doc} {grade}"

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, int]]) -> Qrels:
        """Judgments of a dict of dicts."""
        return Qrels(d)

    @staticmethod
    def from_file(path: str, kind: str | None = None) -> Qrels:
        """Judgments of a file: JSON, TREC or gzipped TREC."""
        rows, _ = _read(path, kind, (0, 2, 3), 4)
        return Qrels(rows)

    @staticmethod
    def from_df(
        df: pandas.DataFrame, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score"
    ) -> Qrels:
        """Judgments of a DataFrame."""
        return Qrels(_of_frame(df, (q_id_col, doc_id_col, score_col), "i", "`int`"))

    @staticmethod
    def from_parquet(
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[str, Any] | None = None,
    ) -> Qrels:
        """Judgments of a Parquet file."""
        import pandas as pd

        return Qrels.from_df(pd.read_parquet(path, **(pd_kwargs or {})), q_id_col, doc_id_col, score_col)


class Run(_Table):
    """Results, and the scores that `evaluate` found."""

    def __init__(self, run: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @staticmethod
    def _number(number: Any) -> float:
        return float(number)

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores of the documents of each query."""
        return self._rows

    def make_comparable(self, qrels: Qrels) -> Run:
        """Adds empty results for queries that are missing, and drops those that are not judged."""
        self._rows = {query: self._rows.get(query, {}) for query in qrels.keys()}
        return self

    def _lines(self) -> Iterable[str]:
        for query, docs in self._rows.items():
            for rank, (doc, score) in enumerate(docs.items(), 1):
                yield f"{query} Q0 {doc} {rank} {score} {self.name}"

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, float]], name: str | None = None) -> Run:
        """Results of a dict of dicts."""
        return Run(d, name)

    @staticmethod
    def from_file(path: str, kind: str | None = None, name: str | None = None) -> Run:
        """Results of a file: JSON, TREC or gzipped TREC."""
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
        """Results of a DataFrame."""
        return Run(_of_frame(df, (q_id_col, doc_id_col, score_col), "f", "`float`"), name)

    @staticmethod
    def from_parquet(
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Run:
        """Results of a Parquet file."""
        import pandas as pd

        return Run.from_df(pd.read_parquet(path, **(pd_kwargs or {})), q_id_col, doc_id_col, score_col, name)


_Source = _Table | Mapping[str, Mapping[str, float]]


@overload
def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, int]],
    run: Run | Mapping[str, Mapping[str, float]],
    metrics: str,
    return_mean: Literal[True] = True,
    return_std: Literal[False] = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> float: ...
@overload
def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, int]],
    run: Run | Mapping[str, Mapping[str, float]],
    metrics: str | Sequence[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any: ...
def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, int]],
    run: Run | Mapping[str, Mapping[str, float]],
    metrics: str | Sequence[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """The values of metrics: over all queries, or with `return_mean=False` of each query.

    The queries of both sides have to be the same, unless `make_comparable` gives those that the run lacks an empty ranking and drops
    those that are not judged. The values of queries, means and standard deviations are kept in the run, if it is a `Run`.
    """
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run = run.make_comparable(qrels)
    assert qrels.keys() == run.keys(), (
        "Qrels and Run query ids do not match. Pass `make_comparable=True` to add empty results for queries missing from the run and"
        " remove those not appearing in qrels."
    )
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    assert all(isinstance(metric, str) for metric in asked), "Metrics error"
    queries = list(run.keys())
    values = _values(_rows(qrels), _rows(run), asked, queries, threads)
    means = {metric: _mean(of) for metric, of in values.items()}
    stds = {metric: _std(of, means[metric]) for metric, of in values.items()} if return_mean and return_std else {}
    if isinstance(run, Run) and save_results_in_run:
        run.mean_scores.update(means)
        run.std_scores.update(stds)
        for metric, of in values.items():
            run.scores[metric].update(zip(queries, of, strict=True))
    answer: dict[str, Any]
    if not return_mean:
        import numpy as np

        answer = {metric: np.array(of, dtype=np.float64) for metric, of in values.items()}
    elif return_std:
        answer = {metric: {"mean": means[metric], "std": stds[metric]} for metric in values}
    else:
        answer = dict(means)
    return answer[asked[0]] if len(asked) == 1 else answer


def _rows(source: _Source) -> Mapping[str, Mapping[str, float]]:
    return source._rows if isinstance(source, _Table) else source


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
    options: Options = {"queries": "judged", "per_query": True, "engine": "cpu", "dialect": "trec10"}
    if threads:
        options["threads"] = threads
    evaluation = settings(tuple(dict.fromkeys(names.values())), options, None)
    native = _native.Qrels(qrels, "qrels", "trec10", {})
    per_query = evaluation.evaluate(native, [("run", run)], {}).per_query(0)
    assert per_query is not None
    order, places = evaluation.measures(), {query: at for at, query in enumerate(per_query.queries())}
    values: dict[str, list[float]] = {}
    for metric, name in names.items():
        column = per_query.column(order.index(name))
        values[metric] = [column[places[query]] if query in places else 0.0 for query in queries]
    return values


def _name(metric: str) -> str:
    """What laneval calls a metric."""
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
    """The standard deviation of a population, as NumPy has it."""
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) if values else math.nan


def _kind(path: str, kind: str | None) -> str:
    """The kind of a file, by its ending if it is not said."""
    if kind is None:
        ending = os.path.splitext(path)[1][1:]
        kind = {"txt": "trec", "parq": "parquet"}.get(ending, ending)
    assert kind in {"json", "trec", "gz", "parquet"}, "Error `kind` must be 'json', 'trec', 'gz', or 'parquet'"
    return kind


def _read(path: str, kind: str | None, fields: tuple[int, int, int], count: int) -> tuple[dict[str, Any], str | None]:
    """The rows of a file, and the tag of its first line if it has one."""
    kind = _kind(path, kind)
    if kind == "json":
        with open(path, encoding="utf-8") as file:
            return json.load(file), None
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
    for column, what in ((query, "Query IDs"), (doc, "Document IDs")):
        text = df[column].dtype.kind == "O" or str(df[column].dtype).startswith(("str", "object"))
        assert text, f"DataFrame {what} column dtype must be `object` (string)"
    assert df[score].dtype.kind == number, f"DataFrame scores column dtype must be {numbers}"
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for query_id, doc_id, of in zip(df[query].tolist(), df[doc].tolist(), df[score].tolist(), strict=True):
        rows[query_id][doc_id] = of
    return rows

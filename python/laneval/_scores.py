"""Scores: numbers by measure, by run and by query."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from laneval import _native
from laneval._errors import (
    IgnoredQueriesWarning,
    LanevalWarning,
    MeasureError,
    MissingQueriesWarning,
    TiedScoresWarning,
    UnanswerableError,
)
from laneval._files import write_atomic
from laneval._names import _name, better

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars

    from laneval._comparison import Comparison, ComparisonOptions


class UnmatchedQueries:
    """Queries that only one side has: their number (`count`, from 0), and the first few of their `ids`, `[query]`. `missing` and `ignored`
    of scores are such.

    >>> import laneval
    >>> scores = laneval.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", queries="common")
    >>> scores.missing.count, scores.missing.ids
    (1, ['q2'])
    """

    __slots__ = ("count", "ids")

    def __init__(self, count: int, ids: list[str]) -> None:
        self.count = count
        self.ids = ids

    def __repr__(self) -> str:
        return f"UnmatchedQueries(count={self.count}, ids={self.ids!r})"

    def __str__(self) -> str:
        more = ["…"] if self.count > len(self.ids) else []
        return ", ".join([*self.ids, *more])


class RankingRule(NamedTuple):
    """The rule by which rankings were made of scores.

    >>> import laneval
    >>> laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", depth=10).rule
    RankingRule(ties='docno-desc', score_type='f64', depth=10, drop_identical_ids=False, doc_id=None, aggregate='error', max_chunks=None, exclude=None)
    """

    ties: str
    """The order of equal scores, or `"average"`, `"best"` or `"worst"` where values are over all orders."""
    score_type: str
    """The type in which scores were compared, `"f64"` or `"f32"`."""
    depth: int | None
    """The number of ranks that were kept, from 1; all if `None`."""
    drop_identical_ids: bool
    """Whether documents were left out whose id is that of their query."""
    doc_id: str | None
    """The rule from chunks to documents; `None` if ids are of documents."""
    aggregate: str
    """What became of several results of one document."""
    max_chunks: int | None
    """The number of best results of a query that were kept before those of a document were merged; all if `None`."""
    exclude: str | None
    """The fingerprint of the documents that were left out of rankings: 32 hexadecimal digits; `None` if there are none."""


def _is_undefined(measure: str, value: float) -> bool:
    """Whether a value is that of a query which has none. Other measures may have a NaN that is a number gone wrong."""
    return "no_relevant=skip" in measure and math.isnan(value)


class PerQuery:
    """The values of each query, `[query][measure]`, as `RunScores.per_query` returns them. It is also a stream of Arrow: pandas, polars,
    pyarrow and DuckDB read it. Its length is the number of queries.

    >>> import laneval
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> run = {"q1": {"d1": 0.5}, "q2": {"d2": 0.7, "d1": 0.5}}
    >>> values = laneval.evaluate(qrels, run, ["RR", "P@1"], per_query=True).per_query()
    >>> values.measures, values.queries
    (['RR', 'P@1'], ['q1', 'q2'])
    >>> values["RR"]
    [1.0, 0.5]
    >>> values.to_numpy().shape, values.to_pandas().shape, values.to_polars().shape
    ((2, 2), (2, 2), (2, 3))
    """

    __slots__ = ("_custom", "_measures", "_native", "_queries")

    def __init__(
        self, native: _native.PerQuery | None, measures: list[str], queries: list[str] | None, custom: dict[str, list[float]]
    ) -> None:
        self._native = native
        self._measures = measures
        self._queries = queries
        self._custom = custom

    @property
    def measures(self) -> list[str]:
        """The canonical names of the measures, `[measure]`."""
        return list(self._measures)

    @property
    def queries(self) -> list[str]:
        """The ids of the queries, `[query]`, in bytewise order; those of arrays and lists in their order."""
        if self._queries is None:
            assert self._native is not None
            self._queries = self._native.queries()
        return self._queries

    def __len__(self) -> int:
        return len(self._native) if self._native is not None else len(self.queries)

    def __getitem__(self, measure: str) -> list[float]:
        """The values under a `measure`, by any of its names: `[query]`, in the order of `queries`, of most measures from 0 to 1; NaN of a
        query that has none (`no_relevant=skip`).

        Raises `KeyError` if it was not evaluated.
        """
        return self._column(_name(measure, self._measures))

    def _column(self, name: str) -> list[float]:
        if name in self._custom:
            return self._custom[name]
        assert self._native is not None
        return self._native.column([of for of in self._measures if of not in self._custom].index(name))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """A dict of dicts, `{query: {measure: value}}`, of most measures from 0 to 1. A query without a value has no key.

        >>> import laneval
        >>> scores = laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", per_query=True)
        >>> scores.per_query().to_dict()
        {'q1': {'RR': 1.0}}
        """
        if not self._custom and self._native is not None:
            return self._native.to_dict(self._measures)
        columns = [self._column(name) for name in self._measures]
        return {
            query: {name: value for name, value in zip(self._measures, values, strict=True) if not _is_undefined(name, value)}
            for query, values in zip(self.queries, zip(*columns, strict=True), strict=True)
        }

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """An array `[query, measure]` of float64. It needs NumPy."""
        import numpy as np

        if not self._custom and self._native is not None:
            return np.frombuffer(self._native.bytes()).reshape(len(self), len(self._measures))
        return np.column_stack([self._column(name) for name in self._measures])

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of pandas with one row for each query, the queries as its index, and a column for each measure."""
        import pandas as pd

        return pd.DataFrame(self.to_numpy(), index=pd.Index(self.queries, name="query_id"), columns=self._measures)

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars with one row for each query, a column `query_id` and one for each measure."""
        import polars as pl

        columns = {name: self._column(name) for name in self._measures}
        return pl.DataFrame({"query_id": self.queries, **columns})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        native = self._native
        if self._custom or native is None:
            values = [self._column(name) for name in self._measures]
            native = _native.PerQuery(self._measures, self.queries, values)
        return native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{len(self)} queries × {', '.join(self._measures)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        custom = {name: list(self._column(name)) for name in self._measures}
        return (PerQuery, (None, self._measures, self.queries, custom))


class RunScores(Mapping[str, float]):
    """The averages of a run by the names of the measures, `{measure: average}`, with their settings and statistics, as `evaluate` returns
    them.

    Keys are canonical names; any other name of a measure works, too. Most measures are from 0 to 1.

    >>> import laneval
    >>> scores = laneval.evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 0.5, "d2": 0.7}}, ["AP", "nDCG@10"])
    >>> scores["AP"], scores["map"]
    (0.5, 0.5)
    >>> list(scores)
    ['AP', 'nDCG@10']
    >>> scores.name, scores.queries, scores.missing.count, scores.ignored.count
    ('run', 1, 0, 0)
    >>> scores.rule.ties, scores.rule.score_type, scores.rule.depth, scores.ideal
    ('docno-desc', 'f64', None, 'judgments')
    >>> scores.stats["AP"]
    {'mean': 0.5}
    >>> scores.to_pandas().shape, scores.to_polars().shape
    ((1, 2), (1, 3))
    """

    __slots__ = ("_known", "_measures", "_per_query", "_stats")

    def __init__(
        self,
        measures: list[str],
        known: dict[str, Any],
        stats: list[dict[str, float]],
        per_query: PerQuery | None,
    ) -> None:
        self._measures = measures
        self._known = known
        self._stats = stats
        self._per_query = per_query

    def __getitem__(self, measure: str) -> float:
        """The average under a `measure`, by any of its names, of most measures from 0 to 1; NaN if no query counts.

        Raises `KeyError` if it was not evaluated.
        """
        at = self._measures.index(_name(measure, self._measures))
        return next(iter(self._stats[at].values()), math.nan)  # without queries there is no average

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __contains__(self, measure: object) -> bool:
        if not isinstance(measure, str):
            return False
        try:
            _name(measure, self._measures)
        except KeyError:
            return False
        return True

    @property
    def name(self) -> str:
        """The name of the run; `"run"` if it has none, and `"rankings"` of arrays."""
        return str(self._known["name"])

    @property
    def queries(self) -> int:
        """The number of queries that count, from 0."""
        return int(self._known["queries"])

    @property
    def skipped(self) -> Mapping[str, int]:
        """The number of queries without a value, `{measure: number}`, of the measures that have such queries (`no_relevant=skip`): they are in no
        average.

        >>> import laneval, warnings
        >>> qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 0}}, {"q1": {"d1": 0.5}, "q2": {"d1": 0.5}}
        >>> with warnings.catch_warnings(action="ignore"):
        ...     scores = laneval.evaluate(qrels, run, ["RR(no_relevant=skip)", "RR"])
        >>> scores["RR(no_relevant=skip)"], scores["RR"], scores.skipped
        (1.0, 0.5, {'RR(no_relevant=skip)': 1})
        """
        return dict(self._known.get("skipped", {}))

    @property
    def missing(self) -> UnmatchedQueries:
        """Judged queries that the run lacks, which count as empty rankings unless `queries="common"`."""
        return UnmatchedQueries(*self._known["missing"])

    @property
    def ignored(self) -> UnmatchedQueries:
        """Queries of the run that are not judged, which never count."""
        return UnmatchedQueries(*self._known["ignored"])

    @property
    def rule(self) -> RankingRule:
        """The rule by which the rankings were made of scores."""
        rule, tied = self._known["rule"], self._known.get("tied", "ranked")
        return RankingRule(**{**rule, "ties": rule["ties"] if tied == "ranked" else tied})

    @property
    def ideal(self) -> str:
        """The source of ideal rankings: `"judgments"`, or the documents that were `"retrieved"`."""
        return str(self._known["ideal"])

    @property
    def stats(self) -> Mapping[str, Mapping[str, float]]:
        """The statistics of each measure by name, `{measure: {statistic: value}}`, the average first; of most measures from 0 to 1."""
        return dict(zip(self._measures, self._stats, strict=True))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scores and the values of each query to `path`, a JSON file as `laneval eval --per-query -o FILE.json` writes it: a
        baseline of later comparisons, of `assert_gates` and of `laneval compare --baseline FILE.json`. It appears only when it is complete.

        Raises `UnanswerableError` if the values of queries were not kept, or a measure is a function of Python, and `OSError` if the file
        cannot be written.

        >>> import json, laneval, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "main.json")
        >>> laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", per_query=True).save(path)
        >>> json.loads(path.read_text())["runs"][0]["scores"]
        {'RR': {'mean': 1.0}}
        """
        values = self.per_query()
        for name in self._measures:
            try:
                _native.parse(name)
            except MeasureError:
                raise UnanswerableError(f"{name} is a function of Python, which a file cannot name: evaluate without it") from None
        native = values._native
        if native is None:
            native = _native.PerQuery(self._measures, values.queries, [list(values._column(name)) for name in self._measures])
        known = {"skipped": {}, "tag": "", **self._known}
        write_atomic(path, _native.scores_json(known, self._measures, [list(of.items()) for of in self._stats], native))

    def per_query(self) -> PerQuery:
        """The values of each query, `[query][measure]`.

        Raises `UnanswerableError` if they were not kept: ask for them with `per_query=True`.

        >>> import laneval
        >>> laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", per_query=True).per_query()["RR"]
        [1.0]
        """
        if self._per_query is None:
            raise UnanswerableError("the values of queries were not kept: evaluate with per_query=True")
        return self._per_query

    def compare(self, other: RunScores, **options: Unpack[ComparisonOptions]) -> Comparison:
        """Compares this run with another one, the baseline (`other`): which is better, by how much, and how sure that is. Returns the
        comparison, with a pair for each measure; `options` are keywords of `ComparisonOptions`.

        Both have to be evaluated with `per_query=True`, against the same judgments and in the same way. If both have the same name, the
        other one is called `baseline`.

        Raises `UnanswerableError` if they were not, or the measures of the two differ and `measures` does not say which, `MeasureError` if
        there is no such measure, and `TypeError` or `OptionError` if an argument is wrong.

        >>> import laneval
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
        >>> new = laneval.evaluate(qrels, {query: {"d1": 0.5} for query in qrels}, "RR", per_query=True)
        >>> old = laneval.evaluate(qrels, {query: {"d1": 0.5, "d2": len(query)} for query in qrels}, "RR", per_query=True)
        >>> new.compare(old).pairs[0].delta
        0.5
        """
        from laneval._comparison import compare

        if not isinstance(other, RunScores):
            raise TypeError(f"other is of {type(other)}: the scores of a run, as evaluate gives them, were expected")
        names = [other.name, self.name]
        if names[0] == names[1]:
            names[0] = "baseline" if names[1] != "baseline" else "other"
        return compare([(names[0], other), (names[1], self)], names[0], options)

    def to_dict(self) -> dict[str, float | None]:
        """A dict of averages by measure, `{measure: average}`, which JSON can hold: `None` where no query counts. Most measures are from 0
        to 1.

        >>> import json, laneval
        >>> json.dumps(laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR").to_dict())
        '{"RR": 1.0}'
        """
        return {name: None if math.isnan(value) else value for name, value in self.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of pandas with one row, the run, and a column for each measure."""
        return Scores([self]).to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars with one row, the run, and a column for each measure."""
        return Scores([self]).to_polars()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}: {value:.4f}" for name, value in self.items())
        return f"<{self.name}: {values}; {self._words()}>"

    def _words(self) -> str:
        """The queries and settings of the numbers, in words."""
        rule = self.rule
        depth = f", {rule.depth} ranks" if rule.depth else ""
        missing = f", {self.missing.count} of them not in the run" if self.missing.count and self._known["filled"] else ""
        return f"{self.queries} queries{missing}; ties {rule.ties}, scores {rule.score_type}{depth}"

    def _repr_html_(self) -> str:
        return _table([self])

    def __reduce__(self) -> tuple[Any, ...]:
        return (RunScores, (self._measures, self._known, self._stats, self._per_query))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RunScores):
            return dict(self) == dict(other) and self._stats == other._stats
        return dict(self) == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


class Scores(Mapping[str, RunScores]):
    """The scores of several runs by their names, `{run: {measure: average}}`, as `evaluate_runs` returns them.

    >>> import laneval
    >>> qrels = {"q1": {"d1": 1}}
    >>> scores = laneval.evaluate_runs(qrels, {"a": {"q1": {"d1": 0.5}}, "b": {"q1": {"d2": 0.5}}}, "RR")
    >>> {name: run["RR"] for name, run in scores.items()}
    {'a': 1.0, 'b': 0.0}
    >>> scores.to_dict()
    {'a': {'RR': 1.0}, 'b': {'RR': 0.0}}
    >>> scores.to_pandas().shape, scores.to_polars().shape
    ((2, 1), (2, 2))
    >>> print(scores.to_latex().splitlines()[2])
    Run & RR \\\\
    """

    __slots__ = ("_runs",)

    def __init__(self, runs: Sequence[RunScores]) -> None:
        self._runs = {run.name: run for run in runs}

    def __getitem__(self, run: str) -> RunScores:
        """The scores of a `run` by its name.

        Raises `KeyError` if there is none of this name.
        """
        return self._runs[run]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def compare(
        self, baseline: str | RunScores | None = None, **options: Unpack[ComparisonOptions]
    ) -> Comparison:
        """Compares the runs: which is better, by how much, and how sure that is. With a `baseline`, which is one of the runs by its name or
        the scores of another run, all other runs are compared with it; otherwise every pair is. Returns the comparison, with a pair for
        each two runs and measure; `options` are keywords of `ComparisonOptions`.

        All runs have to be evaluated with `per_query=True`.

        Raises `UnanswerableError` if they were not, there are fewer than two, or the baseline is none of them, `MeasureError` if there is
        no such measure, and `TypeError` or `OptionError` if a keyword is wrong.

        >>> import laneval
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
        >>> runs = {name: {query: {"d1": 0.5, "d2": score} for query in qrels} for name, score in {"a": 0.3, "b": 0.4}.items()}
        >>> scores = laneval.evaluate_runs(qrels, runs, "RR", per_query=True)
        >>> scores.compare(baseline="a").sentences
        ['b and a have the same RR in each of the 3 queries.']
        """
        from laneval._comparison import compare

        runs = list(self._runs.items())
        if isinstance(baseline, RunScores):
            name = baseline.name if baseline.name not in self._runs else "baseline"
            runs.insert(0, (name, baseline))
            baseline = name
        return compare(runs, baseline, options)

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """A dict of dicts, `{run: {measure: average}}`, of most measures from 0 to 1, `None` where no query counts. JSON can hold it:
        `json.dumps(scores.to_dict())`.
        """
        return {name: run.to_dict() for name, run in self._runs.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of pandas with one row for each run, the runs as its index, and a column for each measure."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.to_dict(), orient="index").rename_axis("run")

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars with one row for each run, a column `run` and one for each measure."""
        import polars as pl

        return pl.DataFrame([{"run": name, **run} for name, run in self.to_dict().items()])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def to_latex(self) -> str:
        """A table of LaTeX (booktabs) with one row for each run."""
        names = list(next(iter(self._runs.values()), ()))
        head = " & ".join(["Run", *map(_latex, names)])
        rows = [
            " & ".join([_latex(name), *(f"{value:.4f}" for value in run.values())]) + r" \\"
            for name, run in self._runs.items()
        ]
        lines = [rf"\begin{{tabular}}{{l{'r' * len(names)}}}", r"\toprule", head + r" \\", r"\midrule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._runs.values()))

    def _repr_html_(self) -> str:
        return _table(list(self._runs.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scores, (list(self._runs.values()),))


def _latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, rf"\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


def _table(runs: Sequence[RunScores]) -> str:
    """A table of HTML with the best average of each measure in bold, and the queries and settings below it."""
    import html

    if not runs:
        return "<p>no runs</p>"
    names = list(runs[0])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ["run", *names])
    best = {name: _native.are_best([run[name] for run in runs], better(name)) for name in names}
    for name in names:
        if len({run.queries - run.skipped.get(name, 0) for run in runs}) > 1:
            best[name] = [False] * len(runs)
    rows = []
    for at, run in enumerate(runs):
        cells = []
        for name in names:
            text = f"{run[name]:.4f}"
            bold = best[name][at]
            cells.append(f"<td>{'<b>' + text + '</b>' if bold else text}</td>")
        rows.append(f"<tr><th>{html.escape(run.name)}</th>{''.join(cells)}</tr>")
    words = html.escape(runs[0]._words())
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table><p>{words}</p>"


def warn(run: RunScores, notices: Sequence[str], level: int) -> None:
    """Warns of everything that should be noticed about a run."""
    name = run.name
    if run.missing.count and run._known["filled"]:
        what = "judged queries are not in the run and count as empty rankings"
        if run.missing.count == 1:
            what = "judged query is not in the run and counts as an empty ranking"
        message = f"{name}: {run.missing.count} {what}: {run.missing}"
        warnings.warn(message, MissingQueriesWarning, stacklevel=level)
    _warn_of_ignored(run, level + 1)
    of_run = run._known["notices"]
    for kind, notice in [*of_run, *(("LanevalWarning", notice) for notice in notices)]:
        category = TiedScoresWarning if kind == "TiedScoresWarning" else LanevalWarning
        warnings.warn(f"{name}: {notice}", category, stacklevel=level)


def with_ignored(run: RunScores, queries: Sequence[str], level: int) -> RunScores:
    """The scores of a run with these queries that are not judged, of which it warns."""
    shown = sorted(queries)[:5]
    found = RunScores(run._measures, {**run._known, "ignored": (len(queries), shown)}, run._stats, run._per_query)
    _warn_of_ignored(found, level + 1)
    return found


def _warn_of_ignored(run: RunScores, level: int) -> None:
    if run.ignored.count:
        what = "is not judged and does not count" if run.ignored.count == 1 else "are not judged and do not count"
        message = f"{run.name}: {run.ignored.count} of its queries {what}: {run.ignored}"
        warnings.warn(message, IgnoredQueriesWarning, stacklevel=level)

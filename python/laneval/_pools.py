"""Pools: what each run brought to the judgments, and what it loses by not having been in the pool."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from laneval import _native
from laneval._api import _scores
from laneval._errors import UnanswerableError
from laneval._files import write_atomic
from laneval._options import DEFAULT, Columns, Format, Measures, Options, QuerySet, PreparedOptions, check_integer
from laneval._sources import Path, Qrels, Source, _judgments, _named, warn_of_notes

if TYPE_CHECKING:
    import pandas
    import polars

FORMATS = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".tex": "latex", ".tsv": "tsv", ".txt": "table"}


class PooledRun(NamedTuple):
    """What a run brought to a pool. All documents that the judgments name are judged; relevant are those of grade 1 and above.

    >>> import laneval
    >>> runs = {"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d1": 1}}}
    >>> run = laneval.pools({"q": {"d1": 1, "d2": 0}}, runs, "AP").runs[0]
    >>> run.name, run.judged, run.unique
    ('a', 2, 1)
    """

    name: str
    """The name of the run."""
    team: str | None
    """The team of the run, if runs are left out by team."""
    judged: int
    """The number of judged documents among the first ones of the run, down to the depth of the pool."""
    relevant: int
    """The number of relevant documents among these."""
    unique: int
    """The number of judged documents among these that no other run has there."""
    unique_relevant: int
    """The number of relevant documents among those."""
    judged_10: float | None
    """The average of `Judged@10`, from 0 to 1; `None` if no query counts."""
    judged_100: float | None
    """The average of `Judged@100`, from 0 to 1; `None` if no query counts."""
    judged_to: int
    """The rank, from 0, down to which every document is judged, in each query."""
    removed: int
    """The number of judgments that go with the run, or with its team."""
    queries_lost: int
    """The number of queries that have no judgments without the run, and do not count then."""


class LeaveOneOut(NamedTuple):
    """The values of a run under a measure, with all judgments, and without those of documents that only the run, or its team, brought.

    Most measures are from 0 to 1, and so are their values; differences are from −1 to 1 then.

    >>> import laneval
    >>> runs = {"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d1": 1}}}
    >>> of = laneval.pools({"q": {"d1": 1, "d2": 1, "d3": 1}}, runs, "AP").left_out[0]
    >>> of.value, of.without, of.rank, of.rank_without
    (0.6666666666666666, 0.5, 1, 1)
    """

    run: str
    """The name of the run."""
    measure: str
    """The canonical name of the measure."""
    value: float | None
    """The average with all judgments; `None` if no query counts."""
    without: float | None
    """The average without those judgments; `None` if no query counts."""
    delta: float | None
    """`without` less `value`."""
    relative: float | None
    """`delta` as a share of `value`; `None` if that is 0."""
    rank: int | None
    """The rank among all runs, from 1; `None` if the measure does not rate runs."""
    rank_without: int | None
    """The rank among all runs, from 1, if all are evaluated without those judgments."""


class PoolLoss(NamedTuple):
    """What leaving out comes to over all runs, under a measure. Losses are how much worse a run is when it is left out, in the unit of the
    measure.

    >>> import laneval
    >>> runs = {"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d1": 1}}}
    >>> loss = laneval.pools({"q": {"d1": 1, "d2": 1, "d3": 1}}, runs, "AP").losses[0]
    >>> loss.largest_run, round(loss.largest, 4), loss.tau_b
    ('a', 0.1667, 1.0)
    """

    measure: str
    """The canonical name of the measure."""
    mean: float | None
    """The mean loss over all runs, of most measures from −1 to 1; `None` if the measure does not rate runs."""
    largest: float | None
    """The largest loss, of most measures from −1 to 1."""
    largest_run: str | None
    """The run that loses most."""
    tau_b: float | None
    """Kendall's τ_b, from −1 to 1, between the order of the runs as they are, and as each is when it is left out; `None` if all are tied."""


class Pools:
    """What runs brought to a pool, and what each loses by not having been in it; `pools` makes it.

    `pool_depth` is the depth of the pool, and `queries`, `judged` and `relevant` are the numbers of judged queries, of judged documents, and of
    relevant ones. `pooled` and `pooled_relevant` are the numbers of those that some run has among its first ones. `runs` has a `PooledRun`
    for each run, `left_out` a `LeaveOneOut` for each run and measure, and `losses` a `PoolLoss` for each measure.

    >>> import laneval
    >>> runs = {"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d1": 1}}}
    >>> pools = laneval.pools({"q": {"d1": 1, "d2": 1, "d3": 1}}, runs, "AP")
    >>> pools.pooled, pools.judged, len(pools.runs), len(pools.left_out), len(pools.losses)
    (2, 3, 2, 2, 1)
    >>> pools.to_dict()["runs"][0]["unique"], pools.to_json()[:1], pools.to_markdown()[:7]
    (1, '{', '| run |')
    >>> import os, tempfile
    >>> pools.save(os.path.join(tempfile.mkdtemp(), "pools.csv"))
    >>> for frame in (pools.to_pandas, pools.to_polars):
    ...     try:
    ...         print(frame()["without"][0])
    ...     except ImportError:
    ...         print(0.5)
    0.5
    0.5
    """

    __slots__ = ("_native", "judged", "left_out", "losses", "pool_depth", "pooled", "pooled_relevant", "queries", "relevant", "runs")

    def __init__(self, native: _native.Pools) -> None:
        self._native = native
        data = self.to_dict()
        self.pool_depth: int = data["depth"]
        self.queries: int = data["queries"]
        self.judged: int = data["judged"]
        self.relevant: int = data["relevant"]
        self.pooled: int = data["pooled"]
        self.pooled_relevant: int = data["pooled_relevant"]
        self.runs = [PooledRun(**{field: run.get(field) for field in PooledRun._fields}) for run in data["runs"]]
        self.left_out = [LeaveOneOut(run=run["name"], **of) for run in data["runs"] for of in run["left_out"]]
        self.losses = [PoolLoss(**loss) for loss in data["losses"]]

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain data, `{part: data}`: those of the pool, of the runs, and of the measures."""
        import json

        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_json(self) -> str:
        """All numbers as JSON."""
        return self._native.report("json").decode()

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return self._native.report("markdown").decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file at `path`, whole or not at all, in the format of its extension: `.json`, `.csv`, `.tsv`, `.jsonl`, `.md`, `.tex`, or
        `.txt` for the tables.

        Raises `UnanswerableError` if the extension is none of these, and `OSError` if the file cannot be written.
        """
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in FORMATS:
            known = ", ".join(FORMATS)
            raise UnanswerableError(f"{os.fspath(path)}: the extension says how it is written: {known} were expected")
        write_atomic(path, self._native.report(FORMATS[ending]))

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of pandas with one row for each run and measure, and columns named as the attributes of `LeaveOneOut`."""
        import pandas as pd

        kinds = {"rank": "Int64", "rank_without": "Int64", **dict.fromkeys(("value", "without", "delta", "relative"), "float64")}
        return pd.DataFrame(self.left_out, columns=list(LeaveOneOut._fields)).astype(kinds)

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars with one row for each run and measure, and columns named as the attributes of `LeaveOneOut`."""
        import polars as pl

        numbers = dict.fromkeys(("value", "without", "delta", "relative"), pl.Float64)
        schema = {"run": pl.String, "measure": pl.String, **numbers, "rank": pl.Int64, "rank_without": pl.Int64}
        return pl.DataFrame(self.left_out, schema=schema, orient="row")

    def __repr__(self) -> str:
        return self._native.report("table").decode().rstrip("\n")


def pools(
    qrels: Source | Qrels,
    runs: Mapping[str, Source] | Sequence[Path],
    measures: Measures = DEFAULT,
    *,
    pool_depth: int = 100,
    teams: str | None = None,
    queries: QuerySet = "judged",
    ties: Literal["docno-desc", "docno-asc", "input", "rank"] = "docno-desc",
    score_type: Literal["f64", "f32"] = "f64",
    as_: str | None = None,
    drop_identical_ids: bool = False,
    exclude: Path | Mapping[str, Iterable[str]] | None = None,
    columns: Columns | None = None,
    qrels_format: Format | None = None,
    run_format: Format | None = None,
    threads: int | None = None,
) -> Pools:
    """Counts what each of two or more `runs` brought to the judgments (`qrels`), leaves out each, and returns their `Pools`.

    Judgments are made of the first documents of some runs, here of the first `pool_depth`, from 1. A judged document that no other run has there
    is unique to its run. Without the judgments of its unique documents a run has the value that a new system would have, whose documents
    nobody has judged (Zobel 1998; Buckley and others 2007). With `teams` the runs whose names are equal up to this text are of one team,
    and are left out together.

    `qrels`, `runs` and `measures` are as for `evaluate_runs`, and `queries`, `ties`, `score_type`, `as_`, `drop_identical_ids`, `exclude`, `columns`,
    `qrels_format`, `run_format` and `threads` are keywords of `Options`; with `as_`, those that have their defaults are as the library has
    them. Runs are all files, or all in memory.

    Raises `UnanswerableError` if there are fewer than two runs or teams, a run shares no judged query with another, no run has a judged
    document among its first ones, `ties` is no order, `teams` is empty, or a measure needs judgments of another kind or is written in
    Python, `ValueError` or `TypeError` if `pool_depth` is no such number, and what `evaluate_runs` raises.

    >>> import laneval
    >>> runs = {"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d1": 1}}}
    >>> pools = laneval.pools({"q": {"d1": 1, "d2": 1, "d3": 1}}, runs, "AP", pool_depth=10)
    >>> [(of.run, round(of.value, 4), round(of.without, 4)) for of in pools.left_out]
    [('a', 0.6667, 0.5), ('b', 0.3333, 0.3333)]
    """
    check_integer(pool_depth, "pool_depth")
    if ties in ("average", "best", "worst"):
        raise UnanswerableError(f"ties={ties!r} puts no documents in an order, from which it follows what is within the depth")
    if teams is not None and not isinstance(teams, str):
        raise TypeError(f"teams is {teams!r}: a str was expected, the text behind the team in the name of a run")
    if teams == "":
        raise UnanswerableError("teams is empty: the text behind the team in the name of a run was expected")
    options: Options = {"queries": queries, "ties": ties, "score_type": score_type, "drop_identical_ids": drop_identical_ids}
    if exclude is not None:
        options["exclude"] = exclude
    if as_ is not None:
        defaults = {"queries": "judged", "ties": "docno-desc", "score_type": "f64"}
        given = {word: of for word, of in options.items() if of != defaults.get(word)}
        options = {**given, "as_": as_}  # type: ignore[typeddict-item]
    if columns is not None:
        options["columns"] = columns
    if qrels_format is not None:
        options["qrels_format"] = qrels_format
    if run_format is not None:
        options["run_format"] = run_format
    if threads is not None:
        options["threads"] = threads
    ready = PreparedOptions(measures, options)
    if ready.options.get("ties") in ("average", "worst") or ready.options.get("relevant_from") == "retrieved":
        raise UnanswerableError(f"as_={as_!r} has values over all orders of equal scores, or of lists alone, of which no pools are made")
    if ready.custom:
        raise UnanswerableError(f"{ready.custom[0].name} is a function of Python, under which no run is left out")
    facet = ready.native.facet()
    if facet is not None:
        raise UnanswerableError(f"{', '.join(ready.names())}: a measure needs judgments by {facet}, of which no pools are made")
    judgments = _judgments(ready, qrels, options)
    native, scores = ready.native.pools(judgments, _named(runs), ready.columns, pool_depth, teams)
    warn_of_notes(scores.notes(), 3)
    _scores(ready, scores, None, options, 4)  # for its warnings
    return Pools(native)

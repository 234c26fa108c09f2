"""Summaries, which can be merged, and evaluations of batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Unpack

from laneval import _native
from laneval._arrays import borrow
from laneval._errors import OptionError, UnanswerableError
from laneval._layouts import LabelStream, TaggedStream
from laneval._options import DEFAULT, Measures, Options, PreparedOptions, Stat, named_columns, stat_names
from laneval._scores import RunScores, Scores
from laneval._sources import Array, ArrowStream, GroupedSource, Path, Qrels, Source, _judgments, _lent, _named, warn_of_notes


_OF_VALUES = ("median", "ci95")
"""The statistics that need the values of all queries, so that no summary has them."""


class Summary:
    """The part of an evaluation that can be merged: numbers of queries, exact sums, extremes, and the set of queries. It is immutable, and
    made by `evaluate`, by `Matrix.summary`, by a `RankingStream`, or of bytes.

    Summaries of disjoint sets of queries, from any number of processes, add up to the summary of all of them, to the last bit.

    >>> import laneval
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> one = laneval.Summary.evaluate({"q1": qrels["q1"]}, {"mine": {"q1": {"d1": 0.5}}}, "RR")
    >>> two = laneval.Summary.evaluate({"q2": qrels["q2"]}, {"mine": {"q2": {"d2": 0.5}}}, "RR")
    >>> (one + two).scores()["mine"]["RR"]
    0.5
    >>> both = laneval.Summary.merge([one.to_bytes(), two.to_bytes()])
    >>> both == laneval.Summary.from_bytes(both.to_bytes())
    True
    >>> one.with_missing(qrels).scores(["max"])["mine"].stats
    {'RR': {'mean': 0.5, 'max': 1.0}}

    Files hold the bytes:

    >>> import json, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "one.part")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(one.to_bytes())
    >>> laneval.Summary.read(path) == one
    True
    >>> json.loads(one.to_json())["measures"]
    ['RR']
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Summary) -> None:
        self._native = native

    @classmethod
    def evaluate(
        cls,
        qrels: Source | GroupedSource | Qrels,
        runs: Mapping[str, Source] | Sequence[Path],
        measures: Measures = DEFAULT,
        **options: Unpack[Options],
    ) -> Summary:
        """Evaluates `runs` against judgments (`qrels`), and returns their summary. `measures` and `options`, keywords of `Options`, are as
        for `evaluate_runs`, but for what needs the values of all queries: `per_query`, and the statistics `"median"` and `"ci95"`. A
        summary holds what all other statistics need, whether they are named here or not: `scores` computes them.

        Raises what `evaluate_runs` raises, `OptionError` if a keyword needs the values of all queries, and `UnanswerableError` if a
        measure is written in Python.
        """
        ready = _ready(measures, options)
        judgments = _judgments(ready, qrels, options)
        matrix = ready.native.build(judgments, _named(runs), ready.columns, False)
        warn_of_notes(matrix.notes(), 3)
        return cls(ready.native.summary(matrix))

    @classmethod
    def merge(cls, parts: Iterable[Summary | bytes]) -> Summary:
        """Merges `parts`, `[part]`, which are summaries or their bytes, and returns the sum.

        Raises `ShardError` if they do not belong together, are damaged, or a query was counted twice, and `ValueError` if there are none.
        """
        # Sums of 1, 2, 4, 8 … parts wait for another of their size, so that few are held, and each query is compared few times.
        sums: list[tuple[int, _native.Summary]] = []
        for part in parts:
            of = part._native if isinstance(part, Summary) else _native.Summary.from_bytes(part)
            count = 1
            while sums and sums[-1][0] == count:
                of = _native.Summary.merge([sums.pop()[1], of])
                count *= 2
            sums.append((count, of))
        return cls(_native.Summary.merge([of for _, of in reversed(sums)]))

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        """Makes a summary of `data`, the bytes that `to_bytes` returned, in this or an older version of laneval, and returns it.

        Raises `ShardError` if they are others, or damaged.
        """
        return cls(_native.Summary.from_bytes(data))

    @classmethod
    def read(cls, path: Path) -> Summary:
        """Reads a summary from the file at `path`, as `laneval eval --partial` writes it, and returns it.

        Raises `OSError` if the file cannot be read, and `ShardError` if it holds something else, or is damaged.
        """
        return cls(_native.Summary.read(os.fspath(path)))

    def to_bytes(self) -> bytes:
        """The summary as bytes, with a checksum."""
        return self._native.to_bytes()

    def to_json(self) -> str:
        """The summary as JSON."""
        return self._native.to_json()

    def with_missing(self, qrels: Source | Qrels) -> Summary:
        """Adds the judged queries (of `qrels`) that no part had, as empty rankings, and returns the sum.

        Raises `ShardError` if a query of the summary is not judged.
        """
        return Summary(self._native.with_missing(_judgments(None, qrels, {})))

    def scores(self, stats: Sequence[Stat] = ()) -> Scores:
        """Computes the scores of each run, with these statistics (`stats`) besides the averages, and returns them,
        `{run: {measure: average}}`.

        Raises `UnanswerableError` if there is no such statistic, or it needs the values of all queries, as `"median"` does.
        """
        native = self._native.scores(stat_names(stats))
        names = native.measures()
        runs = enumerate(native.runs())
        return Scores([RunScores(names, run, [dict(of) for of in native.stats(at)], None) for at, run in runs])

    def __add__(self, other: Summary) -> Summary:
        """The sum of this summary and an `other` one, as `merge` returns it.

        Raises `ShardError` if they do not belong together, or a query was counted twice.
        """
        return Summary.merge([self, other]) if isinstance(other, Summary) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Summary) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<summary of {self.scores()!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Summary.from_bytes, (self.to_bytes(),))


class RankingStream:
    """An evaluation of batches, in memory that does not grow with them.

    With judgments, batches are rows of a run. In the order `"grouped"` the rows of a query follow one another, and each query is evaluated
    when the next one begins; in the order `"any"` all batches are held. Without judgments, batches are arrays of labels with `grades`, as
    for `evaluate_labels`. As a context manager the evaluation is dropped if an exception is raised.

    Other `layout`s are tables with a stream of Arrow, and need pyarrow. `"tagged"` has columns for query, document, score and grade: a row
    with a score is a result, one with a grade is a judgment, and the other is null. Rows come in any order and are all held. With `runs`,
    the names of all runs, a column `run` names the run of a result. `"labels"` has one ranking in each row: `query_id`, `labels` (lists of
    grades, or bytes with one signed byte for each rank; −1 is not judged), and `relevant` or `judged` as for `evaluate_labels`.

    `measures`, the judgments (`qrels`) and `options`, keywords of `Options`, are as for `Summary.evaluate`; `grades` are those that labels may
    have, `[grade]`, from 0, by default 0 and 1.

    Raises `ValueError` if `order` or `layout` is none of these, `TypeError` if arguments do not go together or are of another type,
    `InputError` if judgments are wrong, `MeasureError` if there is no such measure, `OptionError` if a keyword needs the values of all
    queries, which a stream does not hold, and `UnanswerableError` if a measure is written in Python, or `runs` are none.

    >>> import laneval
    >>> with laneval.RankingStream("RR", qrels={"q1": {"d1": 1}, "q2": {"d1": 1}}) as stream:
    ...     stream.push({"q1": {"d1": 0.5}})
    ...     stream.push({"q2": {"d2": 0.7, "d1": 0.5}})
    ...     stream.finish().scores()["run"]["RR"]
    0.75
    """

    __slots__ = ("_native", "_of_labels")

    def __init__(
        self,
        measures: Measures = DEFAULT,
        *,
        qrels: Source | GroupedSource | Qrels | None = None,
        order: Literal["grouped", "any"] = "grouped",
        grades: Sequence[float] = (0, 1),
        layout: Literal["run", "tagged", "labels"] = "run",
        runs: Sequence[str] | None = None,
        **options: Unpack[Options],
    ) -> None:
        if order not in ("grouped", "any"):
            raise ValueError(f"order is {order!r}: 'grouped' or 'any' was expected")
        if layout not in ("run", "tagged", "labels"):
            raise ValueError(f"layout is {layout!r}: 'run', 'tagged' or 'labels' was expected")
        if qrels is not None and layout != "run":
            raise TypeError(f"the layout {layout!r} has the judgments among its rows: qrels are for runs")
        if runs is not None and layout != "tagged":
            raise TypeError("runs are for the layout 'tagged'")
        if runs is not None and not runs:
            raise UnanswerableError("there are no runs")
        columns = named_columns(options.pop("columns", None)) if layout != "run" else {}
        ready = _ready(measures, options)
        judgments = None if qrels is None else _judgments(ready, qrels, options)
        self._of_labels = judgments is None and layout == "run"
        self._native: _native.RankingStream | TaggedStream | LabelStream | None
        if layout == "tagged":
            self._native = TaggedStream(ready.native, columns, runs)
            return
        of = [float(grade) for grade in grades]
        stream = ready.native.stream(judgments, order == "grouped", of, ready.columns)
        self._native = LabelStream(stream, columns) if layout == "labels" else stream

    def push(
        self,
        batch: Source | ArrowStream | Array,
        *,
        lengths: Array | None = None,
        relevant: Array | None = None,
        judged: Array | None = None,
    ) -> None:
        """Evaluates a `batch`. The last three arguments are for arrays of labels, as for `evaluate_labels`: of a batch `[Q, D]`,
        `lengths[Q]`, `relevant[Q]` and `judged[Q, grades]`. Numbers are from 0, and labels those of `grades`, or −1.

        Raises `InputError` if results are wrong, or of a query that has ended, `UnanswerableError` if the stream has ended or labels are
        wrong, and `TypeError` if an argument is of another type or not for this layout.
        """
        if self._native is None:
            raise UnanswerableError("the stream has ended")
        if self._of_labels:
            arrays = _native.Arrays.labels(
                borrow(batch), _lent(lengths), None, None, _lent(relevant), _lent(judged)
            )
            assert isinstance(self._native, _native.RankingStream)
            self._native.push_arrays(arrays)
        elif lengths is not None or relevant is not None or judged is not None:
            raise TypeError("lengths, relevant and judged are for arrays of labels")
        else:
            self._native.push(batch)

    def finish(self) -> Summary:
        """Returns the summary of all batches. Nothing can be pushed afterwards.

        Raises `UnanswerableError` if the stream has ended or had no labels, and `InputError` if results are wrong or there are none.
        """
        if self._native is None:
            raise UnanswerableError("the stream has ended")
        native, self._native = self._native, None
        summary = Summary(native.finish())
        if isinstance(native, _native.RankingStream):
            warn_of_notes(native.notes(), 3)
        return summary

    def __enter__(self) -> RankingStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._native = None


def _ready(measures: Measures, options: Options) -> PreparedOptions:
    """Measures and keywords that were checked, of which none needs the values of all queries."""
    stats = options.get("stats", ())
    if isinstance(stats, Iterable):
        options = {**options, "stats": stat_names(stats)}  # type: ignore[typeddict-item]  # once, of an iterator
    ready = PreparedOptions(measures, options)
    if options.get("per_query"):
        raise OptionError(
            "per_query=True needs the values of all queries, which a summary does not have: take `evaluate` or `evaluate_runs`"
        )
    for stat in options.get("stats", ()):
        if stat in _OF_VALUES:
            raise OptionError(
                f"stats: {stat} needs the values of all queries, which a summary does not have: "
                "take std, min or max, which `Summary.scores` computes, or `evaluate` or `evaluate_runs`"
            )
    if ready.custom:
        names = ", ".join(measure.name for measure in ready.custom)
        raise UnanswerableError(f"{names}: measures written in Python have no summary that can be merged")
    return ready

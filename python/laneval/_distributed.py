"""The parts that Spark and Ray share: they turn a partition's rows into its summary, or the values of its queries, and add all summaries.

An exception of a worker is data, too: it goes to the driver in the place of a summary, and is raised there.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict, cast

from laneval import _native
from laneval._custom import CustomMeasure
from laneval._errors import InputError, LanevalError, ShardError, UnanswerableError
from laneval._layouts import COLUMNS, LABEL_COLUMNS, RUN, LabelStream, TaggedStream, known_columns
from laneval._options import Measures, Options, QuerySet, PreparedOptions, named_columns
from laneval._scores import PerQuery, RunScores, Scores
from laneval._summary import Summary

if TYPE_CHECKING:
    import pyarrow

Column: TypeAlias = Literal["query", "doc", "score", "grade", "run"]
LabelColumn: TypeAlias = Literal["query", "labels", "relevant", "judged"]


class EngineOptions(TypedDict, total=False):
    """Keywords of evaluations on an engine: those of every `evaluate` that apply to a partition. The default is one thread of the CPU."""

    queries: QuerySet
    ties: Literal["docno-desc", "docno-asc", "average", "best", "worst"]
    score_type: Literal["f64", "f32"]
    depth: int
    judged_only: bool
    relevant_from: Literal["judged", "retrieved"]
    as_: str
    drop_identical_ids: bool
    exclude: str | os.PathLike[str] | Mapping[str, Iterable[str]]
    doc_id: str | Mapping[str, str]
    qrels_doc_id: str | Mapping[str, str]
    aggregate: str
    max_chunks: int
    engine: Literal["auto", "cpu", "gpu", "reference"]
    adapter: str
    threads: int
    dialect: Literal["laneval", "trec9", "trec10"]


SUMMARIES = "summary binary, seen binary, error binary"
SCORES = "summary binary, values binary, error binary"


class ColumnIndices(NamedTuple):
    """The columns of results and judgments, by their names in each table."""

    results: tuple[str, str, str]
    """The names of the query, the document and the score."""
    judgments: tuple[str, str, str]
    """The names of the query, the document and the grade."""
    run: str | None
    """The name of the column with the run of a result, if there are several runs."""


def places(results: Sequence[str], judgments: Sequence[str], columns: Mapping[Column, str] | None) -> ColumnIndices:
    """Finds the columns of results and judgments, by their usual names or those given."""
    names = named_columns(columns)
    known_columns(names, COLUMNS)
    run = names.pop("run", None)
    of_run = {what: name for what, name in names.items() if what != "grade"}
    of_qrels = {what: name for what, name in names.items() if what != "score"}
    query, doc, score, _ = _native.places(list(results), "run", False, of_run)
    if score is None:
        raise ValueError("run: it has ranks but no scores: make scores of the ranks, such as the negative rank")
    judged_query, judged_doc, grade, _ = _native.places(list(judgments), "qrels", True, of_qrels)
    if grade is None:
        raise ValueError("qrels: there is no column of grades: add one, with 1 for each document")
    if run is not None and run not in results:
        raise ValueError(f"run: there is no column `{run}` for the run: there are {', '.join(results)}")
    return ColumnIndices(
        (results[query], results[doc], results[score]),
        (judgments[judged_query], judgments[judged_doc], judgments[grade]),
        run,
    )


def column_of_runs(columns: Mapping[Column, str] | None, runs: Sequence[str] | None) -> str | None:
    """Returns the column that names the run of a result; `None` if there is one run, which `runs` cannot list then."""
    of_run = (columns or {}).get("run")
    if of_run is None and runs is not None:
        raise TypeError('runs are several: say which column has their names with columns={"run": …}')
    return of_run


def refuse_partitions(partitions: int | None, repartition: bool) -> None:
    """Refuses a number of partitions where rows are not partitioned anew."""
    if partitions is not None and not repartition:
        raise TypeError("partitions is for a shuffle: with repartition=False there is none")


class PartitionTask:
    """The work on a partition, which is sent to the workers: measures, keywords and the names of the runs."""

    def __init__(self, measures: Measures, options: EngineOptions, runs: Sequence[str] | None = None) -> None:
        unknown = sorted(set(options) - set(EngineOptions.__annotations__))
        if unknown:
            known = ", ".join(EngineOptions.__annotations__)
            raise TypeError(f"unknown keyword {', '.join(unknown)}: on an engine there are {known}")
        engine = {} if "adapter" in options else {"engine": "cpu"}
        ready = PreparedOptions(measures, cast(Options, {"threads": 1, **engine, **options}))
        self.options = ready.options
        ties: str = self.options.get("ties", "docno-desc")
        if ties in ("input", "rank"):
            raise UnanswerableError(f"ties={ties!r}: a shuffle keeps neither the order of rows nor ranks")
        if str(options.get("doc_id", "")).startswith("column:"):
            raise UnanswerableError(f"doc_id={options['doc_id']!r}: say which column names documents with columns={{\"doc\": …}}")
        if isinstance(runs, str):
            raise TypeError(f"runs is {runs!r}: a list of names was expected")
        if ready.custom:
            names = ", ".join(measure.name for measure in ready.custom)
            raise UnanswerableError(f"{names}: measures written in Python cannot be sent to the workers of an engine")
        self.measures = [str(measure) for measure in ready.order if not isinstance(measure, CustomMeasure)]
        self.names = ready.names()
        self.runs = None if runs is None else list(runs)
        self.dialect: str = options.get("dialect", "laneval")

    def _tagged(self, batches: Iterable[Any], **more: Any) -> TaggedStream:
        options: Options = {**self.options, **more}  # type: ignore[typeddict-item]
        settings = PreparedOptions(self.measures, options).native
        tagged = TaggedStream(settings, {}, self.runs)
        for batch in batches:
            tagged.push(batch)
        return tagged


class _Summaries(PartitionTask):
    def schema(self) -> pyarrow.Schema:
        """The columns of `SUMMARIES`."""
        import pyarrow as pa

        return pa.schema([(name, pa.binary()) for name in ("summary", "seen", "error")])


class SummaryTask(_Summaries):
    """The summary of a partition of results and judgments, and whether its queries are reported, too."""

    def __init__(self, measures: Measures, options: EngineOptions, runs: Sequence[str] | None, check: bool) -> None:
        super().__init__(measures, options, runs)
        self.check = check

    def __call__(self, batches: Iterable[Any]) -> Iterator[pyarrow.RecordBatch]:
        """One row of `SUMMARIES`; none if there are no rows."""
        try:
            tagged = self._tagged(batches)
            if not tagged.rows:
                return
            summary = tagged.finish().to_bytes()
            seen = _queries(tagged.seen()) if self.check else None
            yield _row(summary, seen, None)
        except (LanevalError, TypeError, ValueError) as error:
            yield _row(None, None, error)


class LabelSummaryTask(_Summaries):
    """The summary of a partition of rankings of labels."""

    def __init__(
        self,
        measures: Measures,
        options: EngineOptions,
        grades: Sequence[float],
        columns: Mapping[LabelColumn, str] | None,
    ) -> None:
        super().__init__(measures, options)
        self.columns = named_columns(columns)
        known_columns(self.columns, LABEL_COLUMNS)
        self.grades = [float(grade) for grade in grades]

    def used(self, names: Sequence[str]) -> list[str]:
        """The columns that are read, among those of a table."""
        usual = {"query": "query_id", "labels": "labels", "relevant": "relevant", "judged": "judged"}
        asked = {what: self.columns.get(what, name) for what, name in usual.items()}
        for what, name in asked.items():
            if name not in names and (what in self.columns or what in ("query", "labels")):
                raise ValueError(f"rows: there is no column `{name}` for the {what}: there are {', '.join(names)}")
        return [name for name in asked.values() if name in names]

    def __call__(self, batches: Iterable[Any]) -> Iterator[pyarrow.RecordBatch]:
        """One row of `SUMMARIES`; none if there are no rows."""
        try:
            native = PreparedOptions(self.measures, self.options).native.stream(None, True, self.grades, {})
            stream = LabelStream(native, self.columns)
            rows = 0
            for batch in batches:
                stream.push(batch)
                rows += len(batch)
            if rows:
                yield _row(stream.finish().to_bytes(), None, None)
        except (LanevalError, TypeError, ValueError) as error:
            yield _row(None, None, error)


class ScoresTask(PartitionTask):
    """The summary of a partition, and the values of its queries, which are sent to the driver."""

    def schema(self) -> pyarrow.Schema:
        """The columns of `SCORES`."""
        import pyarrow as pa

        return pa.schema([(name, pa.binary()) for name in ("summary", "values", "error")])

    def __call__(self, batches: Iterable[Any]) -> Iterator[pyarrow.RecordBatch]:
        """One row of `SCORES`; none if there are no rows."""
        import pyarrow as pa

        try:
            tagged = self._tagged(batches, per_query=True)
            if not tagged.rows:
                return
            summary, scores = tagged.summary_and_scores()
            values = [(known, pa.table(scores.per_query(at))) for at, known in enumerate(scores.runs())]
            yield _row(summary.to_bytes(), pickle.dumps(values), None, "values")
        except (LanevalError, TypeError, ValueError) as error:
            yield _row(None, None, error, "values")


class ValuesTask(PartitionTask):
    """The values of the queries of a partition, one row for each query (and run)."""

    def schema(self) -> pyarrow.Schema:
        """The columns: the query, the run if there are several, and a value for each measure."""
        import pyarrow as pa

        keys = ["query_id"] if self.runs is None else ["query_id", RUN]
        return pa.schema([*((key, pa.string()) for key in keys), *((name, pa.float64()) for name in self.names)])

    def __call__(self, batches: Iterable[Any]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow as pa

        tagged = self._tagged(batches, per_query=True)
        if not tagged.rows:
            return
        scores = tagged.scores()
        for at, known in enumerate(scores.runs()):
            values = pa.table(scores.per_query(at))
            columns = values.columns
            if self.runs is not None:
                columns.insert(1, pa.array([known["name"]] * len(values)))
            found = pa.table(columns, names=self.schema().names)
            yield from found.cast(self.schema()).combine_chunks().to_batches()


def merge_rows(rows: Iterable[tuple[bytes | None, bytes | None, bytes | None]], ours: bool, dialect: str) -> Summary:
    """The sum of the summaries of all partitions, which are `ours`, or which others made and which are checked."""
    summaries: list[bytes] = []
    all_seen: list[bytes] = []
    for summary, seen, error in rows:
        if error is not None:
            raise pickle.loads(error)
        if summary is not None:
            summaries.append(summary)
        if seen is not None:
            all_seen.append(seen)
    if not summaries:
        raise InputError("there are no rows", [("rows", 0, "there are none")])
    if not ours:
        _check(all_seen)
    total = Summary.merge(summaries)
    if dialect == "laneval":
        _refuse_nothing(total)
    return total


def collect_rows(rows: Sequence[tuple[bytes | None, bytes | None, bytes | None]], names: list[str], dialect: str) -> Scores:
    """The scores of all partitions with the values of all queries, which can be compared."""
    import pyarrow as pa

    total = merge_rows([(summary, None, error) for summary, _, error in rows], ours=True, dialect=dialect)
    parts: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    for _, values, _ in rows:
        for known, table in pickle.loads(values) if values is not None else ():
            parts.setdefault(known["name"], []).append((known, table))
    runs = []
    for name, run in total.scores().items():
        table = pa.concat_tables([table for _, table in parts[name]]).sort_by("query_id")
        queries, *columns = (column.to_pylist() for column in table.columns)
        native = _native.PerQuery(names, queries, columns)
        # The fingerprint of judgments is a sum over all of them.
        fingerprint = sum(int(of, 16) for known, _ in parts[name] for of in known["fingerprints"]) % 2**128
        known = {**parts[name][0][0], **run._known, "fingerprints": [f"{fingerprint:032x}"]}
        runs.append(RunScores(names, known, run._stats, PerQuery(native, names, None, {})))
    return Scores(runs)


def _refuse_nothing(total: Summary) -> None:
    """Raises an error if nothing was evaluated: it is an error in one process, but not in a partition."""
    for name, scores in total.scores().items():
        missing, ignored = scores.missing, scores.ignored
        if scores.queries == missing.count == 0:
            raise _nothing("qrels", "there is no judgment in it")
        joined = scores.queries - (missing.count if scores._known["filled"] else 0)
        if not joined and ignored.count == 0:
            raise _nothing(name, "there is no result in it")
        if not joined:
            there = f"it has {ignored.count} such as {ignored.ids[0]!r}"
            wanted = f"the qrels have {missing.count} such as {missing.ids[0]!r}"
            raise _nothing(name, f"no query of the qrels is in it: {there}, {wanted}")


def _nothing(what: str, message: str) -> InputError:
    return InputError(f"{what}: {message}", [(what, 0, message)])


def _check(all_seen: list[bytes]) -> None:
    """Raises an error if two partitions have rows of one query."""
    try:
        seen = Summary.merge(all_seen)
    except ShardError as error:
        # "… counted twice (q1, …): in run and in run"; ids in it may have any of these words.
        message = str(error).removeprefix("run: ")
        message = message.rpartition(": in ")[0] or message
        message = message.replace(" counted twice", " in more than one partition", 1)
        raise ShardError(
            f"{message}: all rows of a query, judgments too, belong in one partition: partition by the query, or use repartition=True"
        ) from None
    if any("could not be checked" in notice for _, notice in seen.scores()["run"]._known["notices"]):
        raise UnanswerableError(
            "there are too many queries to check whether each is in one partition: take repartition=True"
        )


def _queries(ids: pyarrow.Array) -> bytes:
    """A set of queries, as bytes that can be merged and tell whether a query is in two sets: the summary of an evaluation where nothing
    counts.
    """
    import pyarrow as pa

    judged = pa.table({"query_id": ids, "doc_id": ["d"] * len(ids), "grade": [0] * len(ids)})
    settings = PreparedOptions("NumRet", {"threads": 1, "engine": "cpu"}).native
    return settings.summary(settings.part(judged, [("run", None)])).to_bytes()


def _row(
    summary: bytes | None, more: bytes | None, error: Exception | None, name: str = "seen"
) -> pyarrow.RecordBatch:
    import pyarrow as pa

    raised = None
    if error is not None:
        error.add_note("Rows are counted in one partition.")
        raised = pickle.dumps(error)
    columns = {"summary": summary, name: more, "error": raised}
    arrays = [pa.array([value], pa.binary()) for value in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))

"""Evaluations on Spark: DataFrames in, a summary out.

    scores = laneval.spark.evaluate(run, qrels, ["nDCG@10", "AP"]).scores()["run"]

Rows go through one shuffle, by query, into partitions that workers evaluate. Each partition returns a summary, and their sum has the same
bits as one process. Workers need laneval and pyarrow, and memory for the rows of one partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from laneval._distributed import (
    SCORES,
    SUMMARIES,
    Column,
    EngineOptions,
    LabelColumn,
    LabelSummaryTask,
    ScoresTask,
    SummaryTask,
    ValuesTask,
    column_of_runs,
    collect_rows,
    merge_rows,
    places,
    refuse_partitions,
)
from laneval._layouts import DOC, GRADE, QUERY, RUN, SCORE, names_of_runs
from laneval._options import DEFAULT, Measures
from laneval._scores import Scores
from laneval._summary import Summary

if TYPE_CHECKING:
    DataFrame: TypeAlias = Any
    SparkColumn: TypeAlias = Any

__all__ = ["evaluate", "evaluate_labels", "evaluate_tagged", "per_query", "scores", "tag_run"]

INTEGERS = ("byte", "tinyint", "short", "smallint", "integer", "int", "long", "bigint")
TEXTS = ("string", "char", "varchar")
FLOATS = ("float", "double")


def evaluate(
    run: DataFrame,
    qrels: DataFrame,
    measures: Measures = DEFAULT,
    *,
    columns: Mapping[Column, str] | None = None,
    runs: Sequence[str] | None = None,
    partitions: int | None = None,
    **options: Unpack[EngineOptions],
) -> Summary:
    """Evaluates a `run` against judgments (`qrels`), given as DataFrames with one row for each result and for each judgment, and returns
    the summary.

    `measures` are names as for `laneval.evaluate`, and `options` the keywords of `Options` that apply to a partition: `queries`, `ties`
    (but `"input"` and `"rank"`), `score_type`, `depth`, `judged_only`, `relevant_from`, `as_`, `drop_identical_ids`, `exclude`, `doc_id` (but
    `"column:NAME"`), `qrels_doc_id`, `aggregate`, `max_chunks`, `engine`, `adapter`, `threads`
    and `dialect`. The default is one thread of the CPU.

    `columns` gives the names of columns that are unusual. With `columns={"run": …}` that column names the run of a result; the names of the
    runs are found by a pass over it unless `runs` lists them. The shuffle makes `partitions` partitions, at least 1: as many as Spark
    chooses by default.

    Raises `InputError` if judgments or results are wrong or there are none, `ValueError` if a column is not there, `MeasureError` if there
    is no such measure, `UnanswerableError` if it is written in Python, needs other judgments, or `ties` need the order of rows, and
    `TypeError` if a keyword or a type is wrong.

    >>> import laneval.spark
    >>> run = spark.createDataFrame([("q1", "d1", 0.5), ("q1", "d2", 0.7)], ["query_id", "doc_id", "score"])  # doctest: +SKIP
    >>> qrels = spark.createDataFrame([("q1", "d1", 1)], ["query_id", "doc_id", "grade"])  # doctest: +SKIP
    >>> laneval.spark.evaluate(run, qrels, "RR").scores()["run"]["RR"]  # doctest: +SKIP
    0.5
    """
    rows, names = _tagged(run, qrels, columns, runs)
    work = SummaryTask(measures, options, names, check=False)
    return merge_rows(_collected(_by_query(rows, partitions), work), ours=True, dialect=work.dialect)


def evaluate_tagged(
    rows: DataFrame,
    /,
    measures: Measures = DEFAULT,
    *,
    runs: Sequence[str] | None = None,
    partitions: int | None = None,
    repartition: bool = True,
    **options: Unpack[EngineOptions],
) -> Summary:
    """Evaluates `rows` that are results and judgments, as `tagged` makes them, and returns the summary. `measures`, `runs`, `partitions`,
    at least 1, and `options`, keywords of `Options`, are as for `evaluate`.

    With `repartition=False` there is no shuffle: all rows of a query must be in one partition already. If they are not, `ShardError` is
    raised; for this check the queries of each partition are sent to the driver.

    Raises what `evaluate` raises, `ShardError` if rows of a query are in two partitions, and `TypeError` if `partitions` is given without a
    shuffle.

    >>> import laneval.spark
    >>> run = spark.createDataFrame([("q1", "d1", 0.5), ("q1", "d2", 0.7)], ["query_id", "doc_id", "score"])  # doctest: +SKIP
    >>> qrels = spark.createDataFrame([("q1", "d1", 1)], ["query_id", "doc_id", "grade"])  # doctest: +SKIP
    >>> rows = laneval.spark.tag_run(run, qrels)  # doctest: +SKIP
    >>> laneval.spark.evaluate_tagged(rows, "RR").scores()["run"]["RR"]  # doctest: +SKIP
    0.5
    """
    refuse_partitions(partitions, repartition)
    names = runs
    if names is None and RUN in rows.columns:
        of_results = rows.where(rows[SCORE].isNotNull())
        names = names_of_runs(row[0] for row in of_results.select(RUN).distinct().collect())
    work = SummaryTask(measures, options, names, check=not repartition)
    there = _by_query(rows, partitions) if repartition else rows
    return merge_rows(_collected(there, work), ours=repartition, dialect=work.dialect)


def evaluate_labels(
    rankings: DataFrame,
    measures: Measures = DEFAULT,
    *,
    grades: Sequence[float] = (0, 1),
    columns: Mapping[LabelColumn, str] | None = None,
    **options: Unpack[EngineOptions],
) -> Summary:
    """Evaluates `rankings`, one in each row, without a shuffle, and returns the summary. `measures` and `options`, keywords of `Options`,
    are as for `evaluate`; `columns` gives the names of columns that are unusual, `{"labels": name}`.

    `query_id` is the query, and `labels` are the `grades` of the retrieved documents, the best rank first: an array, or bytes with one
    signed byte for each rank; −1 is a document that is not judged. A column `relevant` has the number of relevant documents, or `judged` an
    array of the numbers of judged documents of each grade; without them ideal rankings are made of the labels.

    A row has `query_id`, `labels[rank]`, and `relevant` or `judged[grade]`; grades are from 0, and by default 0 and 1.

    Raises `InputError` if there are no rows or nulls among them, `ValueError` if a column is not there, `UnanswerableError` if a label is
    none of the grades, `MeasureError` if there is no such measure, and `TypeError` if a keyword or a type is wrong.

    >>> import laneval.spark
    >>> rankings = spark.createDataFrame([("q1", [0, 1]), ("q2", [1, -1])], ["query_id", "labels"])  # doctest: +SKIP
    >>> laneval.spark.evaluate_labels(rankings, "RR").scores()["rankings"]["RR"]  # doctest: +SKIP
    0.75
    """
    work = LabelSummaryTask(measures, options, grades, columns)
    rows = rankings.select(*(_column(rankings, name) for name in work.used(rankings.columns)))
    return merge_rows(_collected(rows, work), ours=True, dialect="")


def scores(
    run: DataFrame,
    qrels: DataFrame,
    measures: Measures = DEFAULT,
    *,
    columns: Mapping[Column, str] | None = None,
    runs: Sequence[str] | None = None,
    partitions: int | None = None,
    **options: Unpack[EngineOptions],
) -> Scores:
    """Evaluates one run (named `run`) or several, with the values of all queries in the memory of the driver, which `compare` needs, and
    returns their scores, `{run: {measure: average}}`. A query takes about ten bytes for each measure there, and its id.

    The run, the judgments (`qrels`), `measures`, `columns`, `runs`, `partitions`, at least 1, and `options`, keywords of `Options`, are as
    for `evaluate`.

    Raises what `evaluate` raises.

    >>> import laneval.spark
    >>> run = spark.createDataFrame(  # doctest: +SKIP
    ...     [("q1", "d1", 0.5, "a"), ("q1", "d1", 0.5, "b"), ("q1", "d2", 0.7, "b")], ["query_id", "doc_id", "score", "run"]
    ... )
    >>> qrels = spark.createDataFrame([("q1", "d1", 1)], ["query_id", "doc_id", "grade"])  # doctest: +SKIP
    >>> scores = laneval.spark.scores(run, qrels, "RR", columns={"run": "run"})  # doctest: +SKIP
    >>> scores.to_dict(), scores["b"].per_query()["RR"]  # doctest: +SKIP
    ({'a': {'RR': 1.0}, 'b': {'RR': 0.5}}, [0.5])
    """
    rows, names = _tagged(run, qrels, columns, runs)
    work = ScoresTask(measures, options, names)
    return collect_rows(_collected(_by_query(rows, partitions), work), work.names, work.dialect)


def per_query(
    run: DataFrame,
    qrels: DataFrame,
    measures: Measures = DEFAULT,
    *,
    columns: Mapping[Column, str] | None = None,
    runs: Sequence[str] | None = None,
    partitions: int | None = None,
    **options: Unpack[EngineOptions],
) -> DataFrame:
    """Evaluates each query, and returns the values as a DataFrame with one row for each query and run: `query_id`, `run` if there are
    several, and one column for each measure, of most from 0 to 1. It is computed when it is used.

    The `run`, the judgments (`qrels`), `measures`, `columns`, `runs`, `partitions` and `options`, keywords of `Options`, are as for
    `evaluate`.

    Raises what `evaluate` raises for arguments; errors of workers are a `PythonException` of Spark when it is used.

    >>> import laneval.spark
    >>> run = spark.createDataFrame([("q1", "d1", 0.5), ("q1", "d2", 0.7)], ["query_id", "doc_id", "score"])  # doctest: +SKIP
    >>> qrels = spark.createDataFrame([("q1", "d1", 1)], ["query_id", "doc_id", "grade"])  # doctest: +SKIP
    >>> [(row["query_id"], row["RR"]) for row in laneval.spark.per_query(run, qrels, "RR").collect()]  # doctest: +SKIP
    [('q1', 0.5)]
    """
    rows, names = _tagged(run, qrels, columns, runs)
    work = ValuesTask(measures, options, names)
    keys = [QUERY] if names is None else [QUERY, RUN]
    ddl = [f"`{key}` string" for key in keys] + [f"`{name}` double" for name in work.names]
    return _by_query(rows, partitions).mapInArrow(work, ", ".join(ddl))


def tag_run(run: DataFrame, qrels: DataFrame, *, columns: Mapping[Column, str] | None = None) -> DataFrame:
    """Joins results (`run`) and judgments (`qrels`) in one DataFrame, and returns it. It has one row for each of both: `query_id`,
    `doc_id`, `score`, `grade`, and `run` if `columns` names it. A result has no grade, and a judgment no score.

    Raises `ValueError` if a column is not there, and `TypeError` if its type is wrong.

    >>> import laneval.spark
    >>> run = spark.createDataFrame([("q1", "d1", 0.5), ("q1", "d2", 0.7)], ["query_id", "doc_id", "score"])  # doctest: +SKIP
    >>> qrels = spark.createDataFrame([("q1", "d1", 1)], ["query_id", "doc_id", "grade"])  # doctest: +SKIP
    >>> laneval.spark.tag_run(run, qrels).columns  # doctest: +SKIP
    ['query_id', 'doc_id', 'score', 'grade']
    """
    from pyspark.sql import functions

    of = places(run.columns, qrels.columns, columns)
    query = _common(run, of.results[0], qrels, of.judgments[0])
    doc = _common(run, of.results[1], qrels, of.judgments[1])
    score_type, grade_type = _number(run, of.results[2]), _number(qrels, of.judgments[2])
    nothing = functions.lit(None)
    results = [
        query[0].alias(QUERY),
        doc[0].alias(DOC),
        _column(run, of.results[2]).alias(SCORE),
        nothing.cast(grade_type).alias(GRADE),
    ]
    judgments = [
        query[1].alias(QUERY),
        doc[1].alias(DOC),
        nothing.cast(score_type).alias(SCORE),
        _column(qrels, of.judgments[2]).alias(GRADE),
    ]
    if of.run is not None:
        results.append(_column(run, of.run).cast("string").alias(RUN))
        judgments.append(nothing.cast("string").alias(RUN))
    return run.select(*results).unionByName(qrels.select(*judgments))


def _tagged(
    run: DataFrame, qrels: DataFrame, columns: Mapping[Column, str] | None, runs: Sequence[str] | None
) -> tuple[DataFrame, Sequence[str] | None]:
    """Results and judgments in one DataFrame, and the names of the runs if there are several."""
    rows = tag_run(run, qrels, columns=columns)
    of_run = column_of_runs(columns, runs)
    if of_run is None:
        return rows, None
    if runs is None:
        found = run.select(_column(run, of_run).cast("string")).distinct().collect()
        runs = names_of_runs(row[0] for row in found)
    return rows, runs


def _by_query(rows: DataFrame, partitions: int | None) -> DataFrame:
    return rows.repartition(QUERY) if partitions is None else rows.repartition(partitions, QUERY)


def _collected(rows: DataFrame, work: SummaryTask | LabelSummaryTask | ScoresTask) -> list[Any]:
    form = SCORES if isinstance(work, ScoresTask) else SUMMARIES
    found: list[Any] = rows.mapInArrow(work, form).collect()
    return [tuple(None if of is None else bytes(of) for of in row) for row in found]


def _column(of: DataFrame, name: str) -> SparkColumn:
    return of["`" + name.replace("`", "``") + "`"]


def _type(of: DataFrame, name: str) -> Any:
    return next(field.dataType for field in of.schema.fields if field.name == name)


def _common(run: DataFrame, of_run: str, qrels: DataFrame, of_qrels: str) -> tuple[SparkColumn, SparkColumn]:
    """Two columns of ids in one type: otherwise Spark would make integers of text."""
    types = []
    for of, name, table in ((run, of_run, "run"), (qrels, of_qrels, "qrels")):
        kind = _type(of, name)
        if kind.typeName() not in (*INTEGERS, *TEXTS, "binary"):
            found = kind.simpleString()
            raise TypeError(f"{table}: column `{name}` is of type {found}: ids are text or integers")
        types.append(kind)
    one, other = _column(run, of_run), _column(qrels, of_qrels)
    if types[0] == types[1]:
        return one, other
    if "binary" in (types[0].typeName(), types[1].typeName()):
        raise TypeError(f"ids are bytes in one of run `{of_run}` and qrels `{of_qrels}`, and not in the other: cast one of them")
    return one.cast("string"), other.cast("string")


def _number(of: DataFrame, name: str) -> Any:
    kind = _type(of, name)
    if kind.typeName() not in (*INTEGERS, *FLOATS):
        raise TypeError(f"column `{name}` is of type {kind.simpleString()}: float, double or integers were expected")
    return kind

"""Evaluations on Ray Data: Datasets in, a summary out.

    scores = laneval.ray.evaluate(run, qrels, ["nDCG@10", "AP"]).scores()["run"]

Rows go through one shuffle, by query, into blocks that workers evaluate. Each block returns a summary, and their sum has the same bits as
one process. Workers need laneval, and memory for the rows of one block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from laneval._distributed import (
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
from laneval._errors import InputError
from laneval._layouts import DOC, GRADE, QUERY, RUN, SCORE, names_of_runs
from laneval._options import DEFAULT, Measures
from laneval._scores import Scores
from laneval._summary import Summary

if TYPE_CHECKING:
    import pyarrow

    Dataset: TypeAlias = Any

__all__ = ["evaluate", "evaluate_labels", "evaluate_tagged", "per_query", "scores", "tag_run"]


def evaluate(
    run: Dataset,
    qrels: Dataset,
    measures: Measures = DEFAULT,
    *,
    columns: Mapping[Column, str] | None = None,
    runs: Sequence[str] | None = None,
    partitions: int | None = None,
    **options: Unpack[EngineOptions],
) -> Summary:
    """Evaluates a `run` against judgments (`qrels`), given as Datasets with one row for each result and for each judgment, and returns the
    summary.

    `measures` are names as for `laneval.evaluate`, and `options` the keywords of `Options` that apply to a block: `queries`, `ties` (but
    `"input"` and `"rank"`), `score_type`, `depth`, `judged_only`, `relevant_from`, `as_`, `drop_identical_ids`, `exclude`, `doc_id` (but
    `"column:NAME"`), `qrels_doc_id`, `aggregate`, `max_chunks`, `engine`, `adapter`, `threads`
    and `dialect`. The default is one thread of the CPU.

    `columns` gives the names of columns that are unusual. With `columns={"run": …}` that column names the run of a result; the names of the
    runs are found by a pass over it unless `runs` lists them. The shuffle makes `partitions` partitions, at least 1: four per processor by
    default.

    Raises `InputError` if judgments or results are wrong or there are none, `ValueError` if a column is not there, `MeasureError` if there
    is no such measure, `UnanswerableError` if it is written in Python, needs other judgments, or `ties` need the order of rows, and
    `TypeError` if a keyword or a type is wrong.

    >>> import ray  # doctest: +SKIP
    >>> import laneval.ray
    >>> run = ray.data.from_items(  # doctest: +SKIP
    ...     [{"query_id": "q1", "doc_id": "d1", "score": 0.5}, {"query_id": "q1", "doc_id": "d2", "score": 0.7}]
    ... )
    >>> qrels = ray.data.from_items([{"query_id": "q1", "doc_id": "d1", "grade": 1}])  # doctest: +SKIP
    >>> laneval.ray.evaluate(run, qrels, "RR").scores()["run"]["RR"]  # doctest: +SKIP
    0.5
    """
    rows, names = _tagged(run, qrels, columns, runs)
    work = SummaryTask(measures, options, names, check=False)
    return merge_rows(_collected(_by_query(rows, partitions), work), ours=True, dialect=work.dialect)


def evaluate_tagged(
    rows: Dataset,
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

    With `repartition=False` there is no shuffle: all rows of a query must be in one block already. If they are not, `ShardError` is raised;
    for this check the queries of each block are sent to the driver.

    Raises what `evaluate` raises, `ShardError` if rows of a query are in two blocks, and `TypeError` if `partitions` is given without a
    shuffle.

    >>> import ray  # doctest: +SKIP
    >>> import laneval.ray
    >>> run = ray.data.from_items(  # doctest: +SKIP
    ...     [{"query_id": "q1", "doc_id": "d1", "score": 0.5}, {"query_id": "q1", "doc_id": "d2", "score": 0.7}]
    ... )
    >>> qrels = ray.data.from_items([{"query_id": "q1", "doc_id": "d1", "grade": 1}])  # doctest: +SKIP
    >>> rows = laneval.ray.tag_run(run, qrels)  # doctest: +SKIP
    >>> laneval.ray.evaluate_tagged(rows, "RR").scores()["run"]["RR"]  # doctest: +SKIP
    0.5
    """
    refuse_partitions(partitions, repartition)
    names = runs
    if names is None and RUN in _names(rows, "rows"):
        names = names_of_runs(name for name in rows.unique(RUN) if name is not None)
    work = SummaryTask(measures, options, names, check=not repartition)
    there = _by_query(rows, partitions) if repartition else rows
    return merge_rows(_collected(there, work), ours=repartition, dialect=work.dialect)


def evaluate_labels(
    rankings: Dataset,
    measures: Measures = DEFAULT,
    *,
    grades: Sequence[float] = (0, 1),
    columns: Mapping[LabelColumn, str] | None = None,
    **options: Unpack[EngineOptions],
) -> Summary:
    """Evaluates `rankings`, one in each row, without a shuffle, and returns the summary. `measures` and `options`, keywords of `Options`,
    are as for `evaluate`; `columns` gives the names of columns that are unusual, `{"labels": name}`.

    `query_id` is the query, and `labels` are the `grades` of the retrieved documents, the best rank first: a list, or bytes with one signed
    byte for each rank; −1 is a document that is not judged. A column `relevant` has the number of relevant documents, or `judged` a list of
    the numbers of judged documents of each grade; without them ideal rankings are made of the labels.

    A row has `query_id`, `labels[rank]`, and `relevant` or `judged[grade]`; grades are from 0, and by default 0 and 1.

    Raises `InputError` if there are no rows or nulls among them, `ValueError` if a column is not there, `UnanswerableError` if a label is
    none of the grades, `MeasureError` if there is no such measure, and `TypeError` if a keyword or a type is wrong.

    >>> import ray  # doctest: +SKIP
    >>> import laneval.ray
    >>> rankings = ray.data.from_items(  # doctest: +SKIP
    ...     [{"query_id": "q1", "labels": [0, 1]}, {"query_id": "q2", "labels": [1, -1]}]
    ... )
    >>> laneval.ray.evaluate_labels(rankings, "RR").scores()["rankings"]["RR"]  # doctest: +SKIP
    0.75
    """
    work = LabelSummaryTask(measures, options, grades, columns)
    return merge_rows(_collected(rankings.select_columns(work.used(_names(rankings, "rows"))), work), ours=True, dialect="")


def scores(
    run: Dataset,
    qrels: Dataset,
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

    >>> import ray  # doctest: +SKIP
    >>> import laneval.ray
    >>> results = [("d1", 0.5, "a"), ("d1", 0.5, "b"), ("d2", 0.7, "b")]
    >>> run = ray.data.from_items(  # doctest: +SKIP
    ...     [{"query_id": "q1", "doc_id": doc, "score": score, "run": name} for doc, score, name in results]
    ... )
    >>> qrels = ray.data.from_items([{"query_id": "q1", "doc_id": "d1", "grade": 1}])  # doctest: +SKIP
    >>> scores = laneval.ray.scores(run, qrels, "RR", columns={"run": "run"})  # doctest: +SKIP
    >>> scores.to_dict(), scores["b"].per_query()["RR"]  # doctest: +SKIP
    ({'a': {'RR': 1.0}, 'b': {'RR': 0.5}}, [0.5])
    """
    rows, names = _tagged(run, qrels, columns, runs)
    work = ScoresTask(measures, options, names)
    return collect_rows(_collected(_by_query(rows, partitions), work), work.names, work.dialect)


def per_query(
    run: Dataset,
    qrels: Dataset,
    measures: Measures = DEFAULT,
    *,
    columns: Mapping[Column, str] | None = None,
    runs: Sequence[str] | None = None,
    partitions: int | None = None,
    **options: Unpack[EngineOptions],
) -> Dataset:
    """Evaluates each query, and returns the values as a Dataset with one row for each query and run: `query_id`, `run` if there are
    several, and one column for each measure, of most from 0 to 1. It is computed when it is used.

    The `run`, the judgments (`qrels`), `measures`, `columns`, `runs`, `partitions` and `options`, keywords of `Options`, are as for
    `evaluate`.

    Raises what `evaluate` raises for arguments; errors of workers are exceptions of Ray when it is used.

    >>> import ray  # doctest: +SKIP
    >>> import laneval.ray
    >>> run = ray.data.from_items(  # doctest: +SKIP
    ...     [{"query_id": "q1", "doc_id": "d1", "score": 0.5}, {"query_id": "q1", "doc_id": "d2", "score": 0.7}]
    ... )
    >>> qrels = ray.data.from_items([{"query_id": "q1", "doc_id": "d1", "grade": 1}])  # doctest: +SKIP
    >>> [(row["query_id"], row["RR"]) for row in laneval.ray.per_query(run, qrels, "RR").take_all()]  # doctest: +SKIP
    [('q1', 0.5)]
    """
    rows, names = _tagged(run, qrels, columns, runs)
    return _mapped(_by_query(rows, partitions), ValuesTask(measures, options, names))


def tag_run(run: Dataset, qrels: Dataset, *, columns: Mapping[Column, str] | None = None) -> Dataset:
    """Joins results (`run`) and judgments (`qrels`) in one Dataset, and returns it. It has one row for each of both: `query_id`, `doc_id`,
    `score`, `grade`, and `run` if `columns` names it. A result has no grade, and a judgment no score.

    Raises `ValueError` if a column is not there, and `TypeError` if its type is wrong; a type is seen when it is used.

    >>> import ray  # doctest: +SKIP
    >>> import laneval.ray
    >>> run = ray.data.from_items(  # doctest: +SKIP
    ...     [{"query_id": "q1", "doc_id": "d1", "score": 0.5}, {"query_id": "q1", "doc_id": "d2", "score": 0.7}]
    ... )
    >>> qrels = ray.data.from_items([{"query_id": "q1", "doc_id": "d1", "grade": 1}])  # doctest: +SKIP
    >>> laneval.ray.tag_run(run, qrels).columns()  # doctest: +SKIP
    ['query_id', 'doc_id', 'score', 'grade']
    """
    of = places(_names(run, "run"), _names(qrels, "qrels"), columns)
    several = of.run is not None

    def results(table: pyarrow.Table) -> pyarrow.Table:
        query, doc, score = (table[name] for name in of.results)
        return _rows(query, doc, score, None, table[of.run] if several else None, several)

    def judgments(table: pyarrow.Table) -> pyarrow.Table:
        query, doc, grade = (table[name] for name in of.judgments)
        return _rows(query, doc, None, grade, None, several)

    def kept(names: Sequence[str | None]) -> list[str]:
        return list(dict.fromkeys(name for name in names if name is not None))

    form = {"batch_format": "pyarrow", "batch_size": None}
    of_run = run.select_columns(kept([*of.results, of.run])).map_batches(results, **form)
    return of_run.union(qrels.select_columns(kept(of.judgments)).map_batches(judgments, **form))


def _rows(query: Any, doc: Any, score: Any, grade: Any, run: Any, several: bool) -> pyarrow.Table:
    """Rows in the types that all blocks have."""
    import pyarrow as pa

    def number(column: Any, what: str) -> Any:
        if column is None:
            return pa.nulls(len(query), pa.float64())
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
            raise TypeError(f"the {what} is of type {column.type}: numbers were expected")
        return column.cast(pa.float64(), safe=False)

    columns = {
        QUERY: _id(query, "query"),
        DOC: _id(doc, "document"),
        SCORE: number(score, "score"),
        GRADE: number(grade, "grade"),
    }
    if several:
        columns[RUN] = pa.nulls(len(query), pa.large_string()) if run is None else _id(run, "run")
    return pa.table(columns)


def _id(column: Any, what: str) -> Any:
    """Ids as text, so that those of results and of judgments are equal and go to the same place."""
    import pyarrow as pa

    of = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_integer, pa.types.is_null)
    if not any(test(of) for test in texts):
        raise TypeError(f"the id of a {what} is of type {of}: text or integers were expected")
    return column.cast(of).cast(pa.large_string())


def _tagged(
    run: Dataset, qrels: Dataset, columns: Mapping[Column, str] | None, runs: Sequence[str] | None
) -> tuple[Dataset, Sequence[str] | None]:
    """Results and judgments in one Dataset, and the names of the runs if there are several."""
    rows = tag_run(run, qrels, columns=columns)
    of_run = column_of_runs(columns, runs)
    if of_run is None:
        return rows, None
    return rows, names_of_runs(run.unique(of_run)) if runs is None else runs


def _names(of: Dataset, what: str) -> list[str]:
    names: list[str] | None = of.columns()
    if not names:
        raise InputError(f"{what}: there is nothing in it", [(what, 0, "there is nothing in it")])
    return names


def _by_query(rows: Dataset, partitions: int | None) -> Dataset:
    if partitions is None:
        import ray

        resources: dict[str, float] = ray.cluster_resources()
        partitions = 4 * max(1, int(resources.get("CPU", 1)))
    return rows.repartition(partitions, keys=[QUERY])


def _mapped(rows: Dataset, work: SummaryTask | LabelSummaryTask | ScoresTask | ValuesTask) -> Dataset:
    return rows.map_batches(_of_block(work), batch_format="pyarrow", batch_size=None)


def _of_block(work: SummaryTask | LabelSummaryTask | ScoresTask | ValuesTask) -> Callable[[Any], Any]:
    """The work as a function of a block."""

    def of_block(block: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        return pa.Table.from_batches(work([block]), schema=work.schema())

    return of_block


def _collected(rows: Dataset, work: SummaryTask | LabelSummaryTask | ScoresTask) -> list[Any]:
    found = _mapped(rows, work).take_all()
    return [tuple(row[name] for name in work.schema().names) for row in found]

"""Spark gives the bits of one process, or says what is wrong."""

import os
import sys

import pytest

import laneval

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
import laneval.spark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from .cases import MEASURES, STATS, data, judgments, labels, results, run_examples, same, whole, whole_labels

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frames(spark):
    qrels, run = data()
    return spark.createDataFrame(results(run)), spark.createDataFrame(judgments(qrels))


@pytest.mark.parametrize("partitions", [1, 2, 7, None])
def test_bits_of_one_process(frames, partitions):
    qrels, run = data()
    summary = laneval.spark.evaluate(*frames, MEASURES, partitions=partitions)
    same(summary, whole(qrels, run))


@pytest.mark.parametrize(
    "options",
    [{"ties": "average"}, {"queries": "common", "ties": "docno-asc"}, {"depth": 5, "judged_only": True}, {"score_type": "f32"}],
)
def test_options(frames, options):
    qrels, run = data()
    same(laneval.spark.evaluate(*frames, MEASURES, partitions=4, **options), whole(qrels, run, **options))


def test_ids_of_two_types_and_other_names(spark):
    run = spark.createDataFrame([(7, 1, 0.5), (7, 2, 0.7), (8, 1, 0.1)], "user int, item long, prediction float")
    qrels = spark.createDataFrame([("7", "1", 1), ("8", "1", 2), ("q9", "d", 1)], "user string, item string, rating int")
    columns = {"query": "user", "doc": "item", "score": "prediction", "grade": "rating"}
    summary = laneval.spark.evaluate(run, qrels, MEASURES, columns=columns)
    expected = whole({"7": {"1": 1}, "8": {"1": 2}, "q9": {"d": 1}}, {"7": {"1": 0.5, "2": 0.7}, "8": {"1": 0.1}})
    same(summary, expected)


def test_partitions_without_anything_and_with_one_kind_of_rows(spark):
    qrels, run = {"a": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}, {"c": {"d": 1.0}, "x": {"d": 1.0}, "y": {"d": 1.0}}
    frames = spark.createDataFrame(results(run)), spark.createDataFrame(judgments(qrels))
    same(laneval.spark.evaluate(*frames, MEASURES, partitions=20), whole(qrels, run))


def test_several_runs(spark, frames):
    qrels, run = data()
    other = {query: dict(list(of.items())[::2]) for query, of in run.items() if query != "q3"}
    both = frames[0].withColumn("system", F.lit("one")).unionByName(
        spark.createDataFrame(results(other)).withColumn("system", F.lit("two"))
    )
    for names in (None, ["two", "one"]):
        summary = laneval.spark.evaluate(
            both, frames[1], MEASURES, columns={"run": "system"}, runs=names, partitions=5
        )
        same(summary, whole(qrels, run), "one")
        same(summary, whole(qrels, other), "two")
    with pytest.raises(laneval.InputError, match="the run 'two' of a result is not one of those named: 'one'"):
        laneval.spark.evaluate(both, frames[1], MEASURES, columns={"run": "system"}, runs=["one"])
    table = laneval.spark.per_query(both, frames[1], MEASURES, columns={"run": "system"}, partitions=3).toPandas()
    for name, of in (("one", run), ("two", other)):
        expected = whole(qrels, of, per_query=True, stats=[]).per_query().to_dict()
        found = table[table.run == name].drop(columns="run").set_index("query_id").to_dict("index")
        assert found == expected


def test_comparisons(spark, frames):
    qrels, run = data()
    other = {query: dict(list(of.items())[::2]) for query, of in run.items() if query != "q3"}
    both = frames[0].withColumn("system", F.lit("one")).unionByName(
        spark.createDataFrame(results(other)).withColumn("system", F.lit("two"))
    )
    scores = laneval.spark.scores(both, frames[1], MEASURES, columns={"run": "system"}, partitions=4)
    expected = laneval.evaluate_runs(qrels, {"one": run, "two": other}, MEASURES, per_query=True)
    assert scores.to_dict() == expected.to_dict()
    options = {"test": "randomisation", "measures": ["AP", "nDCG@10"]}
    assert scores.compare("one", **options).pairs == expected.compare("one", **options).pairs
    local = scores["two"].compare(expected["one"], measures="AP")
    assert local.pairs[0].delta == expected["two"].compare(expected["one"], measures="AP").pairs[0].delta


@pytest.mark.parametrize("partitions", [1, 4])
def test_values_of_queries(frames, partitions):
    qrels, run = data()
    table = laneval.spark.per_query(*frames, MEASURES, partitions=partitions).toPandas()
    expected = whole(qrels, run, per_query=True, stats=[]).per_query().to_dict()
    assert len(table) == len(expected)
    assert table.set_index("query_id").to_dict("index") == expected


def test_rows_that_are_in_their_partitions_already(frames):
    qrels, run = data()
    rows = laneval.spark.tag_run(*frames)
    there = rows.repartition(4, "query_id")
    same(laneval.spark.evaluate_tagged(there, MEASURES, repartition=False), whole(qrels, run))
    same(laneval.spark.evaluate_tagged(rows, MEASURES, partitions=3), whole(qrels, run))
    with pytest.raises(laneval.ShardError, match="queries are in more than one partition .*huge.* repartition=True"):
        laneval.spark.evaluate_tagged(rows.repartition(4), MEASURES, repartition=False)


def test_a_query_whose_judgments_are_in_one_partition_and_its_results_in_others(spark):
    here = [("q1", "d7", None, 1), ("q2", "d", None, 1), ("q2", "d", 1.0, None)]
    there = [("q1", f"d{at}", float(at), None) for at in range(8)]
    parts = spark.sparkContext.parallelize([here, there], 2).flatMap(list)
    rows = spark.createDataFrame(parts, "query_id string, doc_id string, score double, grade int")
    with pytest.raises(laneval.ShardError, match=r"1 query is in more than one partition \(q1\)"):
        laneval.spark.evaluate_tagged(rows, "RR", repartition=False)
    assert laneval.spark.evaluate_tagged(rows, "RR").scores()["run"]["RR"] == 1.0


def test_labels(spark):
    rankings, relevant = labels()
    rows = [(f"q{at:02}", ranking, bytes(grade & 255 for grade in ranking), count) for at, (ranking, count) in enumerate(zip(rankings, relevant, strict=True))]
    frame = spark.createDataFrame(rows, "query_id string, labels array<int>, packed binary, relevant long").repartition(3)
    for columns in ({}, {"labels": "packed"}):
        summary = laneval.spark.evaluate_labels(frame, MEASURES, columns=columns)
        same(summary, whole_labels(rankings, relevant), "rankings")
        summary = laneval.spark.evaluate_labels(frame.drop("relevant"), MEASURES, columns=columns)
        same(summary, whole_labels(rankings, None), "rankings")
    counted = frame.withColumn("judged", F.array(F.lit(9), "relevant", F.lit(0))).drop("relevant")
    summary = laneval.spark.evaluate_labels(counted, ["R@5"], grades=[0, 1, 2])
    assert summary.scores()["rankings"]["R@5"] == whole_labels_recall(rankings, relevant)
    with pytest.raises(laneval.ShardError, match="counted twice"):
        laneval.spark.evaluate_labels(frame.unionByName(frame), MEASURES)
    with pytest.raises(laneval.InputError, match="labels of a query are a null"):
        nulls = frame.withColumn("labels", F.when(F.col("query_id") != "q07", F.col("labels")))
        laneval.spark.evaluate_labels(nulls, MEASURES)


def whole_labels_recall(rankings, relevant):
    import numpy as np

    flat = np.array([grade for ranking in rankings for grade in ranking], np.int8)
    offsets = np.cumsum([0, *map(len, rankings)])
    judged = np.array([[9, count, 0] for count in relevant])
    return laneval.evaluate_labels(flat, ["R@5"], offsets=offsets, judged=judged)["R@5"]


RUN = "query_id string, doc_id string, score double"
QRELS = "query_id string, doc_id string, grade int"


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        ([("q", "d", None)], [("q", "d", 1)], "document 'd' of query 'q' has neither a score nor a grade"),
        ([("q", "d", 1.0)], [("q", "e", None)], "document 'e' of query 'q' has neither a score nor a grade"),
        ([(None, "d", 1.0)], [("q", "d", 1)], "the id of a query is a null"),
        ([("q", None, 1.0)], [("q", "d", 1)], "the id of a document is a null"),
        ([("q", "d", float("nan"))], [("q", "d", 1)], "NaN"),
        ([("q", "d", 1.0), ("q", "d", 2.0)], [("q", "d", 1)], "'d'"),
        ([("q", "d", 1.0)], [("q", "d", 1), ("q", "d", 2)], "'d' of query 'q' has grade"),
        ([("x", "d", 1.0)], [("q", "d", 1)], "no query of the qrels is in it: it has 1 such as 'x', the qrels have 1 such as 'q'"),
        ([], [("q", "d", 1)], "run: there is no result in it"),
        ([("q", "d", 1.0)], [], "qrels: there is no judgment in it"),
        ([], [], "there are no rows"),
    ],
)
def test_wrong_rows(spark, run, qrels, message):
    frames = spark.createDataFrame(run, RUN), spark.createDataFrame(qrels, QRELS)
    with pytest.raises(laneval.InputError, match=message):
        laneval.spark.evaluate(*frames, MEASURES, partitions=2)


def test_what_is_refused_before_anything_runs(spark, frames):
    run, qrels = frames
    own = laneval.measure(name="Own")(lambda labels, lengths, judged, grades: lengths * 0.0)
    for options, kind, message in (
        ({"ties": "input"}, laneval.UnanswerableError, "a shuffle keeps neither the order"),
        ({"measures": [own]}, laneval.UnanswerableError, "Own: measures written in Python"),
        ({"measures": "nDGC"}, laneval.MeasureError, "did you mean nDCG"),
        ({"stats": ["std"]}, TypeError, "unknown keyword stats"),
        ({"colour": 1}, TypeError, "unknown keyword colour"),
        ({"columns": {"doc": "docs"}}, ValueError, "there is no column `docs`"),
        ({"columns": {"document": "doc_id"}}, TypeError, "columns names 'document'"),
        ({"columns": {"run": "system"}}, ValueError, "no column `system` for the run"),
        ({"runs": ["a"]}, TypeError, "say which column"),
    ):
        with pytest.raises(kind, match=message):
            laneval.spark.evaluate(run, qrels, **options)
    floats = run.withColumn("doc_id", F.lit(1.0))
    with pytest.raises(TypeError, match="run: column `doc_id` is of type double: ids are text or integers"):
        laneval.spark.evaluate(floats, qrels)
    with pytest.raises(TypeError, match="column `score` is of type decimal"):
        laneval.spark.evaluate(run.withColumn("score", F.col("score").cast("decimal(9,3)")), qrels)


def test_grades_that_no_partition_knows_all_of(spark):
    qrels, run = {"a": {"d": 1}, "b": {"d": 2}, "c": {"d": 1}}, {q: {"d": 1.0} for q in "abc"}
    frames = spark.createDataFrame(results(run)), spark.createDataFrame(judgments(qrels))
    with pytest.raises(laneval.ShardError, match="gmax=2"):
        laneval.spark.evaluate(*frames, "ERR(gmax=auto)@10", partitions=20)
    expected = whole(qrels, run)
    same(laneval.spark.evaluate(*frames, MEASURES, partitions=20), expected)
    found = laneval.spark.evaluate(*frames, "ERR(gmax=2)@10", partitions=20).scores(STATS)["run"]
    assert found["ERR(gmax=2)@10"] == laneval.evaluate(qrels, run, "ERR(gmax=auto)@10")["ERR(gmax=auto)@10"]


def test_the_examples_of_docstrings(spark):
    assert run_examples(laneval.spark, spark=spark) > 20

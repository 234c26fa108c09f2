"""Seconds a row of each step of an evaluation on an engine: python python/benches/scale.py [QUERIES] [--spark] [--ray]

A run of 100 results a query and 20 judgments a query are made once, as Parquet files in a temporary folder. Steps in one process are
the best CPU time of three, on one thread; those on an engine are seconds by the clock on two cores, the best of two after one for nothing.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import laneval

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]
RESULTS, JUDGED = 100, 20


def made(queries: int) -> tuple[pa.Table, pa.Table]:
    """Results, query by query, and judgments, half of which are of documents that are not retrieved."""
    draw = np.random.default_rng(1)

    def rows(each: int, first: int) -> dict[str, Any]:
        query = pc.binary_join_element_wise("query", pa.array(np.repeat(np.arange(queries), each)).cast(pa.string()), "")
        docs = (first + np.arange(queries * each) % each * 7919 + np.repeat(np.arange(queries), each) * 13) % 10_000_000
        return {"query_id": query, "doc_id": pc.binary_join_element_wise("doc", pa.array(docs).cast(pa.string()), "")}

    run = pa.table({**rows(RESULTS, 0), "score": draw.random(queries * RESULTS)})
    qrels = pa.table({**rows(JUDGED, 90 * 7919), "grade": draw.integers(0, 3, queries * JUDGED).astype(np.int32)})
    return run, qrels


def best(times: int, clock: Callable[[], float], work: Callable[[], Any]) -> tuple[float, Any]:
    seconds, found = [], None
    for _ in range(times):
        start = clock()
        found = work()
        seconds.append(clock() - start)
    return min(seconds), found


def say(step: str, seconds: float, rows: int, what: str = "row") -> None:
    print(f"{step:58} {seconds:8.2f} s {seconds / rows * 1e9:8.1f} ns a {what}", flush=True)


def in_process(run: pa.Table, qrels: pa.Table) -> laneval.Summary:
    rows = len(run) + len(qrels)

    def of_run(batch: Any) -> Any:
        return batch.append_column("grade", pa.nulls(len(batch), pa.int32()))

    judged = qrels.select(["query_id", "doc_id"]).append_column("score", pa.nulls(len(qrels), pa.float64()))
    tagged = pa.concat_tables([of_run(run), judged.append_column("grade", qrels["grade"])])
    shuffled = tagged.take(np.random.default_rng(2).permutation(rows))

    def stream(table: pa.Table) -> laneval.Summary:
        with laneval.RankingStream(MEASURES, layout="tagged", threads=1, engine="cpu") as stream:
            for batch in table.to_batches(10_000):
                stream.push(batch)
            return stream.finish()

    seconds, summary = best(3, time.process_time, lambda: stream(tagged))
    say("a partition: rows of a query together", seconds, rows)
    seconds, other = best(3, time.process_time, lambda: stream(shuffled.combine_chunks()))
    say("a partition: rows in no order", seconds, rows)
    assert summary.scores() == other.scores()
    matrix = laneval.Matrix.build(qrels, {"run": run}, threads=1)
    seconds, other = best(3, time.process_time, lambda: matrix.summary(MEASURES, threads=1, engine="cpu"))
    say("of which the fold (five measures)", seconds, len(run))
    assert summary.scores() == other.scores()
    rankings = logged(len(qrels) // JUDGED)

    def stream_labels() -> laneval.Summary:
        with laneval.RankingStream(MEASURES, layout="labels", grades=[0, 1, 2], threads=1, engine="cpu") as stream:
            for batch in rankings.to_batches(10_000):
                stream.push(batch)
            return stream.finish()

    seconds, _ = best(3, time.process_time, stream_labels)
    say("labels, 100 a ranking", seconds, len(rankings) * RESULTS, "label")
    return summary


def logged(queries: int) -> pa.Table:
    """Rankings of labels, a row each."""
    grades = np.random.default_rng(3).integers(-1, 3, queries * RESULTS).astype(np.int8)
    offsets = pa.array(np.arange(queries + 1, dtype=np.int32) * RESULTS)
    packed = pa.BinaryArray.from_buffers(pa.binary(), queries, [None, offsets.buffers()[1], pa.py_buffer(grades)])
    ids = pc.binary_join_element_wise("query", pa.array(np.arange(queries)).cast(pa.string()), "")
    return pa.table({"query_id": ids, "labels": packed})


def on_spark(folder: pathlib.Path, expected: laneval.Summary, rows: int) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import laneval.spark
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    spark = spark.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    run, qrels = (spark.read.parquet(str(folder / f"{name}.parquet")) for name in ("run", "qrels"))
    tagged = laneval.spark.tag_run(run, qrels)

    def nothing(batches: Any) -> Any:
        for batch in batches:
            yield batch.slice(0, 0)

    def noop(frame: Any) -> None:
        frame.write.format("noop").mode("overwrite").save()

    for step, work in (
        ("Spark: reading", lambda: noop(tagged)),
        ("Spark: reading, shuffle", lambda: noop(tagged.repartition(8, "query_id"))),
        ("Spark: reading, shuffle, rows to Python", lambda: noop(tagged.repartition(8, "query_id").mapInArrow(nothing, tagged.schema))),
        ("Spark: evaluate", lambda: laneval.spark.evaluate(run, qrels, MEASURES, partitions=8)),
    ):
        work()
        seconds, summary = best(2, time.perf_counter, work)
        say(step, seconds, rows)
    assert dict(summary.scores()["run"]) == dict(expected.scores()["run"])
    labels = spark.read.parquet(str(folder / "labels.parquet"))
    laneval.spark.evaluate_labels(labels, MEASURES, grades=[0, 1, 2])
    seconds, _ = best(2, time.perf_counter, lambda: laneval.spark.evaluate_labels(labels, MEASURES, grades=[0, 1, 2]))
    say("Spark: evaluate_labels", seconds, labels.count() * RESULTS, "label")
    spark.stop()


def on_ray(folder: pathlib.Path, expected: laneval.Summary, rows: int) -> None:
    import laneval.ray
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    ray.data.DataContext.get_current().enable_progress_bars = False
    run, qrels = (ray.data.read_parquet(str(folder / f"{name}.parquet")) for name in ("run", "qrels"))

    def shuffle() -> None:
        laneval.ray.tag_run(run, qrels).repartition(8, keys=["query_id"]).materialize()

    for step, work in (
        ("Ray: reading, shuffle", shuffle),
        ("Ray: evaluate", lambda: laneval.ray.evaluate(run, qrels, MEASURES, partitions=8)),
    ):
        work()
        seconds, summary = best(2, time.perf_counter, work)
        say(step, seconds, rows)
    assert dict(summary.scores()["run"]) == dict(expected.scores()["run"])
    labels = ray.data.read_parquet(str(folder / "labels.parquet"))
    laneval.ray.evaluate_labels(labels, MEASURES, grades=[0, 1, 2])
    seconds, _ = best(2, time.perf_counter, lambda: laneval.ray.evaluate_labels(labels, MEASURES, grades=[0, 1, 2]))
    say("Ray: evaluate_labels", seconds, labels.count() * RESULTS, "label")
    ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="?", type=int, default=50_000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--ray", action="store_true")
    asked = parser.parse_args()
    run, qrels = made(asked.queries)
    rows = len(run) + len(qrels)
    print(f"{asked.queries:,} queries, {len(run):,} results, {len(qrels):,} judgments; load {os.getloadavg()[0]:.1f}")
    summary = in_process(run, qrels)
    if not (asked.spark or asked.ray):
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pq.write_table(run, folder / "run.parquet")
        pq.write_table(qrels, folder / "qrels.parquet")
        pq.write_table(logged(asked.queries * 10), folder / "labels.parquet")
        if asked.spark:
            on_spark(folder, summary, rows)
        if asked.ray:
            on_ray(folder, summary, rows)


if __name__ == "__main__":
    main()

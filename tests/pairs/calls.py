"""The work that pairs.py times inside of Python, one process for each build: it reads the name of a workload from stdin, a line each time that
it is to be done, and answers with the CPU time of all threads in seconds. What a workload needs is made when it is first named. `calls.py --list`
prints the names."""

from __future__ import annotations

import gc
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import laneval
import numpy as np

FIVE = ["AP", "nDCG@10", "RR", "P@10", "R@100"]
WORK: dict[str, Callable[[], Callable[[], Any]]] = {}


def work(prepare: Callable[[], Callable[[], Any]]) -> Callable[[], Callable[[], Any]]:
    WORK[prepare.__name__.replace("_", "-")] = prepare
    return prepare


def rows(queries: int, results: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments of 15 documents a query, and a run, best first."""
    draw = np.random.default_rng(1)
    docs = [f"doc{at:07}" for at in range(100_000)]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(queries):
        found = [docs[at] for at in draw.choice(len(docs), results, replace=False)]
        run[f"q{query}"] = {doc: (results - rank) / 100 for rank, doc in enumerate(found)}
        qrels[f"q{query}"] = {doc: at % 3 for at, doc in enumerate(found[: 5 * results // 6 : max(results // 18, 1)][:15])}
    return qrels, run


def columns(of: dict[str, dict[str, Any]], number: str) -> dict[str, list[Any]]:
    flat = [(query, doc, value) for query, found in of.items() for doc, value in found.items()]
    return dict(zip(("query_id", "doc_id", number), map(list, zip(*flat))))


def held(density: str, measures: list[str]) -> Callable[[], Any]:
    """A matrix of this density, which is in the folder of the build."""
    matrix = laneval.Matrix.from_bytes((pathlib.Path(sys.argv[1]) / f"{density}.lmx").read_bytes())
    return lambda: matrix.evaluate(measures, threads=1)


for density in ("0.1", "1", "10"):
    WORK[f"held-{density}%-five"] = lambda density=density: held(density, FIVE)
    WORK[f"held-{density}%-nDCG@10"] = lambda density=density: held(density, ["nDCG@10"])


@work
def dicts() -> Callable[[], Any]:
    qrels, run = rows(300, 1000)
    judged = laneval.Qrels(qrels)
    return lambda: laneval.evaluate(judged, run, FIVE, threads=1)


@work
def frames() -> Callable[[], Any]:
    import pandas as pd

    qrels, run = rows(300, 1000)
    judged, frame = laneval.Qrels(qrels), pd.DataFrame(columns(run, "score"))
    return lambda: laneval.evaluate(judged, frame, FIVE, threads=1)


@work
def labels() -> Callable[[], Any]:
    of = (np.random.default_rng(2).random((5000, 1000)) < 0.01).astype(np.uint8)
    return lambda: laneval.evaluate_labels(of, FIVE, threads=1)


@work
def scores() -> Callable[[], Any]:
    draw = np.random.default_rng(3)
    grades, of = (draw.random((1000, 1000)) < 0.01).astype(np.uint8), draw.random((1000, 1000), np.float32)
    return lambda: laneval.evaluate_scores(of, grades, FIVE, threads=1)


def repeated(call: Callable[[], Any]) -> Callable[[], None]:
    def calls() -> None:
        for _ in range(2000):
            call()

    return calls


@work
def small_dicts() -> Callable[[], Any]:
    qrels, run = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 1.5, "d1": 1.2}}
    return repeated(lambda: laneval.evaluate(qrels, run, "nDCG@10"))


@work
def small_scores() -> Callable[[], Any]:
    of, grades = np.array([[0.1, 0.9, 0.3]], np.float32), np.array([[1, 0, 1]], np.uint8)
    return repeated(lambda: laneval.evaluate_scores(of, grades, "nDCG@10"))


def asked() -> Iterator[str]:
    while line := sys.stdin.readline():
        yield line.strip()


def main() -> None:
    if sys.argv[1] == "--list":
        print(*WORK, sep="\n")
        return
    name, call = "", lambda: None
    for wanted in asked():
        if wanted != name:
            name, call = wanted, WORK[wanted]()
            call()
        gc.collect()
        gc.disable()
        start = time.process_time()
        call()
        took = time.process_time() - start
        gc.enable()
        print(took, flush=True)


if __name__ == "__main__":
    main()

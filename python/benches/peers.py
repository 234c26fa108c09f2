"""laneval beside its peers in Python, in turns, CPU time: `python python/benches/peers.py [queries]`.

Answers are compared before anything is timed; each ratio is the median of the ratios of pairs.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl
import pyarrow as pa
import pytrec_eval

import laneval

PAIRS = 9
MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]
THEIRS = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
NAMES = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "R@100": "recall_100"}


def made(queries: int, results: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run, with 15 judged documents a query, ten of which the run has."""
    draw = random.Random(1)
    docs = [f"doc{at:07}" for at in range(100_000)]
    run = {f"q{at}": {doc: draw.random() for doc in draw.sample(docs, results)} for at in range(queries)}
    qrels = {
        query: {**{doc: draw.randint(0, 2) for doc in list(of)[:10]}, **dict.fromkeys(draw.sample(docs, 5), 1)}
        for query, of in run.items()
    }
    return qrels, run


def pairs(name: str, ours: Callable[[], object], theirs: Callable[[], object], target: float | None) -> None:
    """Times both in turns, and prints how many times as fast we are."""
    ratios, times = [], []
    for _ in range(PAIRS):
        start = time.process_time()
        ours()
        middle = time.process_time()
        theirs()
        end = time.process_time()
        ratios.append((end - middle) / (middle - start))
        times.append((middle - start, end - middle))
    mine, other = (statistics.median(of) * 1e3 for of in zip(*times, strict=True))
    ratio = statistics.median(ratios)
    wanted = "" if target is None else f"  target {target}{', not met' if ratio < target else ''}"
    print(f"{name:52} {mine:9.2f} ms {other:9.2f} ms {ratio:7.2f} x{wanted}", flush=True)


def numpy_five(labels: np.ndarray) -> dict[str, float]:
    """The five measures of labels, each the whole matrix at a time."""
    hits = labels > 0
    depth = labels.shape[1]
    ranks = np.arange(1, depth + 1)
    relevant = np.maximum(hits.sum(1), 1)
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = np.sort(labels, axis=1)[:, :-11:-1] @ discount
    found = hits.any(1)
    return {
        "nDCG@10": float(np.mean((labels[:, :10] @ discount) / np.where(ideal > 0, ideal, 1))),
        "AP": float(np.mean((hits.cumsum(1) / ranks * hits).sum(1) / relevant)),
        "RR": float(np.mean(np.where(found, 1 / (hits.argmax(1) + 1), 0))),
        "P@10": float(hits[:, :10].mean()),
        "R@100": float(np.mean(hits[:, :100].sum(1) / relevant)),
    }


def main() -> None:
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    qrels, run = made(queries, 100)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, THEIRS)
    judged = laneval.Qrels(qrels)
    per_query = laneval.evaluate(judged, run, MEASURES, per_query=True, score_type="f32").per_query().to_dict()
    theirs = evaluator.evaluate(run)
    assert per_query == {q: {m: theirs[q][NAMES[m]] for m in MEASURES} for q in sorted(theirs)}

    print(f"{queries} queries x 100, five measures; median CPU time of {PAIRS} pairs")
    evaluate = lambda: evaluator.evaluate(run)  # noqa: E731
    pairs(
        "dicts, values of queries | pytrec_eval",
        lambda: laneval.evaluate(judged, run, MEASURES, per_query=True).per_query().to_dict(),
        evaluate,
        2.5,
    )
    pairs("dicts, averages | pytrec_eval", lambda: laneval.evaluate(judged, run, MEASURES), evaluate, 3)
    rows = [(q, d, s) for q, of in run.items() for d, s in of.items()]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(["query_id", "doc_id", "score"])}
    for name, table in [("pyarrow", pa.table(columns)), ("polars", pl.DataFrame(columns))]:
        assert laneval.evaluate(judged, table, MEASURES) == laneval.evaluate(judged, run, MEASURES)
        pairs(f"{name} table | pytrec_eval", lambda: laneval.evaluate(judged, table, MEASURES), evaluate, 10)  # noqa: B023

    for shape in ((10 * queries, 100), (queries, 1000)):
        labels = np.random.default_rng(1).integers(1, 3, shape).astype(np.uint8)
        labels *= np.random.default_rng(2).random(shape) < 0.01
        expected = numpy_five(labels)
        for kind in ("uint8", "int64", "float32"):
            typed = labels.astype(kind)
            found = laneval.evaluate_labels(typed, MEASURES)
            assert all(abs(expected[name] - found[name]) < 1e-12 for name in MEASURES)
            pairs(
                f"labels {list(shape)} {kind} | NumPy, uint8",
                lambda: laneval.evaluate_labels(typed, MEASURES),  # noqa: B023
                lambda: numpy_five(labels),  # noqa: B023
                8,
            )

    qrels, run = made(queries // 20, 1000)
    judged, evaluator = laneval.Qrels(qrels), pytrec_eval.RelevanceEvaluator(qrels, THEIRS)
    pairs(
        f"dicts, {queries // 20} x 1000, averages | pytrec_eval",
        lambda: laneval.evaluate(judged, run, MEASURES),
        lambda: evaluator.evaluate(run),
        6,
    )

    small, few = made(50, 10)
    small_judged, small_evaluator = laneval.Qrels(small), pytrec_eval.RelevanceEvaluator(small, THEIRS)
    repeat = range(200)
    pairs(
        "50 x 10 dicts, 200 times | pytrec_eval",
        lambda: [laneval.evaluate(small_judged, few, MEASURES) for _ in repeat],
        lambda: [small_evaluator.evaluate(few) for _ in repeat],
        None,
    )
    took = [float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True).stdout) for _ in range(9)]
    print(f"import laneval: {statistics.median(took):.1f} ms")


IMPORT = "import time; start = time.perf_counter(); import laneval; print((time.perf_counter() - start) * 1e3)"

if __name__ == "__main__":
    main()

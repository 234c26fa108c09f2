"""Seconds and bytes of merging many partial summaries on one thread, as a driver does: python python/benches/merge.py [PARTS] [QUERIES]

Each part is the summary of other queries (10 if not said) under five measures, and comes as bytes. The sum is checked against plain sums.
"""

from __future__ import annotations

import resource
import sys
import time
from fractions import Fraction

import laneval

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def part(number: int, queries: int) -> tuple[bytes, Fraction]:
    """The bytes of a summary, and the sum of the reciprocal ranks in it."""
    qrels, run, total = {}, {}, Fraction(0)
    for query in range(number * queries, (number + 1) * queries):
        rank = query % 7
        qrels[f"query{query:08}"] = {f"d{rank}": 1}
        run[f"query{query:08}"] = {f"d{at}": float(-at) for at in range(6)}
        total += Fraction(1.0 / (rank + 1)) if rank < 6 else 0
    summary = laneval.Summary.evaluate(qrels, {"run": run}, MEASURES, threads=1, engine="cpu")
    return summary.to_bytes(), total


def main() -> None:
    parts, queries = (int(sys.argv[at]) if len(sys.argv) > at else of for at, of in ((1, 100_000), (2, 10)))
    start = time.process_time()
    made = [part(number, queries) for number in range(parts)]
    print(f"{parts} summaries of {queries} queries made in {time.process_time() - start:.1f} s of CPU time")
    size = sum(len(data) for data, _ in made)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    merged = laneval.Summary.merge(data for data, _ in made)
    seconds = time.process_time() - start
    scores = merged.scores()["run"]
    assert scores.queries == parts * queries
    assert scores["RR"] == float(sum(total for _, total in made)) / scores.queries
    print(f"{size:,} bytes, {size / parts:.0f} a part; {seconds:.2f} s of CPU time, {seconds / parts * 1e6:.0f} µs a part")
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"the sum: {len(merged.to_bytes()):,} bytes; {more / 1024:.0f} MiB of memory more than for the parts")


if __name__ == "__main__":
    main()

"""Calls from several threads of Python at once, each with `threads=1`: calls a second beside those of one thread, medians of turns.

python python/benches/calls.py [queries] [results]
"""

import random
import statistics
import sys
import threading
import time

import laneval

CALLS = 12
TURNS = 9
MEASURES = ["AP", "nDCG@10", "RR", "P@10", "R@100"]


def calls_a_second(threads, call):
    """Returns the calls a second of a number of threads that call at once."""

    def calls():
        for _ in range(CALLS):
            call()

    workers = [threading.Thread(target=calls) for _ in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return threads * CALLS / (time.perf_counter() - start)


def compare(name, call):
    """Compares numbers of threads with one, in turns."""
    call()
    for threads in (2, 8):
        one, ratios = [], []
        for _ in range(TURNS):
            one.append(calls_a_second(1, call))
            ratios.append(calls_a_second(threads, call) / one[-1])
        print(f"{name:22} {threads} threads: {statistics.median(ratios):.2f} × one thread's {statistics.median(one):.0f} calls/s")


def main(queries=1000, results=100):
    draw = random.Random(1)
    docs = [f"doc{at:07}" for at in range(100_000)]
    run = {f"q{at}": {doc: draw.random() for doc in draw.sample(docs, results)} for at in range(queries)}
    qrels = {query: {doc: draw.randint(0, 2) for doc in list(found)[:10]} for query, found in run.items()}
    lines = "".join(f"{query} Q0 {doc} 0 {score} t\n" for query, found in run.items() for doc, score in found.items()).encode()
    ready = laneval.Qrels(qrels)
    matrix = laneval.Matrix.build(ready, {"run": run})
    compare("text", lambda: laneval.evaluate(ready, lines, MEASURES, threads=1))
    compare("matrix, 20 at a time", lambda: [matrix.evaluate(MEASURES, threads=1) for _ in range(20)])
    compare("dicts (mostly the GIL)", lambda: laneval.evaluate(ready, run, MEASURES, threads=1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

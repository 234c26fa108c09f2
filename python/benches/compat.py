"""CPU time of what stands in for other tools beside theirs, in pairs: medians of the ratios.

    python python/benches/compat.py [queries] [results]
"""

import gc
import random
import statistics
import sys
import time

import ir_measures
import pandas
import pytrec_eval
import ranx
from ir_measures import AP, RR, P, R, nDCG

import laneval.compat.ir_measures
import laneval.compat.pytrec_eval
import laneval.compat.ranx

ROUNDS = 7


def seconds(work):
    """Returns the CPU time of some work, in seconds."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(name, theirs, ours):
    """Times both in turn, and prints the medians."""
    pairs = [(seconds(theirs), seconds(ours)) for _ in range(ROUNDS)]
    ratio = statistics.median(one / other for one, other in pairs)
    their, our = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{name:50} {their:8.3f} s {our:8.3f} s {ratio:6.2f} ×")


def with_provider(work):
    """Returns some work with the provider."""

    def swapped():
        laneval.compat.ir_measures.install()
        try:
            work()
        finally:
            laneval.compat.ir_measures.uninstall()

    return swapped


def main(queries=20_000, results=100):
    draw = random.Random(1)
    docs = [f"doc{at:07}" for at in range(100_000)]
    run = {f"q{at}": {doc: draw.random() for doc in draw.sample(docs, results)} for at in range(queries)}
    qrels = {
        query: {**{doc: draw.randint(0, 2) for doc in list(found)[:10]}, **{doc: 1 for doc in draw.sample(docs, 5)}}
        for query, found in run.items()
    }
    for measures in ({"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.100"}, {"all_trec"}):
        modules = (pytrec_eval, laneval.compat.pytrec_eval)
        theirs, ours = (module.RelevanceEvaluator(qrels, measures) for module in modules)
        name = f"pytrec_eval, {'five measures' if len(measures) == 5 else 'all_trec'}"
        compare(name, lambda of=theirs: of.evaluate(run), lambda of=ours: of.evaluate(run))
    one = {"q1": run["q1"]}
    theirs, ours = (module.RelevanceEvaluator(qrels, {"map"}) for module in modules)
    compare(
        "pytrec_eval, a query of many a thousand times",
        lambda: [theirs.evaluate(one) for _ in range(1000)],
        lambda: [ours.evaluate(one) for _ in range(1000)],
    )
    measures = [nDCG @ 10, AP, RR, P @ 10, R @ 100]
    judged = pandas.DataFrame(
        [(query, doc, grade) for query, of in qrels.items() for doc, grade in of.items()],
        columns=["query_id", "doc_id", "relevance"],
    )
    found = pandas.DataFrame(
        [(query, doc, score) for query, of in run.items() for doc, score in of.items()],
        columns=["query_id", "doc_id", "score"],
    )
    for name, (left, right) in {"dicts": (qrels, run), "DataFrames": (judged, found)}.items():

        def aggregate(left=left, right=right):
            ir_measures.calc_aggregate(measures, left, right)

        compare(f"ir_measures.calc_aggregate, {name}", aggregate, with_provider(aggregate))

    def of_tables(module):
        metrics = ["map", "ndcg@10", "mrr", "precision@10", "recall@100"]
        return lambda: module.evaluate(module.Qrels(qrels), module.Run(run), metrics)

    of_tables(ranx)()  # compiles
    compare("ranx, judgments and run made of dicts", of_tables(ranx), of_tables(laneval.compat.ranx))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

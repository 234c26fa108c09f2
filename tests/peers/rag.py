#!/usr/bin/env python3
"""Compare chunks of documents and nearest neighbours with the programs that evaluate them today, by their own code.

Cases whose values are known and random ones, laneval as the Python package:

    haystack      the evaluators of documents, chunks with repeats: `--aggregate blank`, without cutoff, 1e-12
    llama_index   the metrics of retrieval, lists of ids without repeats, and sets of ids with repeats (`first`): 1e-12
    faiss         knn_intersection_measure, neighbours without empty places: 1e-12
    big-ann       get_recall_values with and without equal distances, from a checkout of big-ann-benchmarks: equal counts
    ann           get_recall_values over distances, from a checkout of ann-benchmarks: equal counts

What programs do otherwise on purpose is checked as well: what an empty place is worth, and what a repeat. One line per (peer, measure) says how
many values were compared and how many differ. Exit status 1 on any difference, 2 when a peer is not installed.

    pip install -r requirements-rag.txt laneval
    rag.py [--seed S] [--rounds N] [--only haystack,faiss] [--big-ann FOLDER] [--ann FOLDER]
"""

import argparse
import random
import sys
import warnings

import numpy as np

import laneval
from tally import CLOSE, Tally


def close(ours, theirs):
    return abs(ours - theirs) <= CLOSE


def values(scores, measure):
    """The values of queries by their number."""
    kept = scores.per_query()
    return dict(zip(kept.queries, kept[measure]))


# Four judged documents, and eight chunks, some of which repeat a document.
JUDGED = {"A": 2, "B": 1, "C": 0, "D": 1}
CHUNKS = [("A#1", 9), ("X#1", 8), ("A#2", 7), ("C#1", 6.5), ("B#4", 6), ("B#1", 5), ("A#3", 4), ("D#9", 1)]


def chunked(rng, rounds):
    """Judgments and chunks of queries, in rank order and with scores that differ."""
    yield JUDGED, CHUNKS
    for _ in range(rounds):
        documents = [f"d{number}" for number in range(rng.randint(2, 9))]
        judged = {document: rng.choice([0, 1, 1, 2, 3]) for document in rng.sample(documents, rng.randint(1, len(documents)))}
        if not any(judged.values()):
            continue
        retrieved = [f"{rng.choice(documents)}#{number}" for number in range(rng.randint(1, 15))]
        yield judged, [(chunk, float(-rank)) for rank, chunk in enumerate(retrieved)]


def haystack(tally, rng, rounds, _folders):
    from haystack import Document
    from haystack.components.evaluators import (
        DocumentMAPEvaluator,
        DocumentMRREvaluator,
        DocumentNDCGEvaluator,
        DocumentRecallEvaluator,
    )

    cases = list(chunked(rng, rounds))
    truth = [[Document(id=name, content=name, score=grade, meta={"of": name}) for name, grade in judged.items() if grade] for judged, _ in cases]
    found = [[Document(id=name, content=name, meta={"of": name.rpartition("#")[0]}) for name, _ in chunks] for _, chunks in cases]
    by = {"document_comparison_field": "meta.of"}
    evaluators = {
        "R@100": DocumentRecallEvaluator(mode="multi_hit", **by),
        "AP": DocumentMAPEvaluator(**by),
        "RR": DocumentMRREvaluator(**by),
        "nDCG": DocumentNDCGEvaluator(**by),
    }
    qrels = {str(at): judged for at, (judged, _) in enumerate(cases)}
    run = {str(at): dict(chunks) for at, (_, chunks) in enumerate(cases)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", laneval.LanevalWarning)  # it says how many results repeat a document
        ours = laneval.evaluate(qrels, run, list(evaluators), doc_id="before:#", aggregate="blank", per_query=True)
    for measure, evaluator in evaluators.items():
        theirs = evaluator.run(ground_truth_documents=truth, retrieved_documents=found)["individual_scores"]
        theirs = {str(at): value for at, value in enumerate(theirs)}
        tally.add_topics("haystack", measure, values(ours, measure), theirs, close, "")


def llama_index(tally, rng, rounds, _folders):
    from llama_index.core.evaluation.retrieval.metrics import MRR, NDCG, AveragePrecision, HitRate, Precision, Recall

    cases = list(chunked(rng, rounds))
    relevant = [[name for name, grade in judged.items() if grade] for judged, _ in cases]
    repeated = [[name.rpartition("#")[0] for name, _ in chunks] for _, chunks in cases]
    once = [list(dict.fromkeys(found)) for found in repeated]
    for kind, lists, metrics in [
        ("lists", once, {"RR": MRR(), "nDCG": NDCG(), "AP": AveragePrecision(), "Success@100": HitRate(), "SetR": Recall(), "SetP": Precision()}),
        ("sets", repeated, {"SetR": Recall(), "SetP": Precision()}),
    ]:
        ours = laneval.evaluate_ids(relevant, lists, list(metrics), aggregate="max", per_query=True)
        for measure, metric in metrics.items():
            for at, (expected, found) in enumerate(zip(relevant, lists)):
                theirs = float(metric.compute(expected_ids=expected, retrieved_ids=found).score)
                mine = values(ours, measure)[str(at)]
                tally.add(f"llama_index {kind}", measure, mine, theirs, close(mine, theirs), f"query {at}")


# Three queries with distances, of which the first two have no empty place.
TRUTH = np.array([[1, 2, 3, 4, 5, 6], [10, 11, 12, 13, 14, 15]], dtype=np.int32)
DISTANCES = np.array([[1, 2, 2, 2, 3, 4], [1, 1, 1, 1, 1, 2]], dtype=np.float32)
FOUND = np.array([[1, 4, 9, 2], [15, 14, 10, 11]], dtype=np.int32)


def near(rng, rounds):
    """Matrices of true neighbours with their distances, of which many are equal, and of found ones."""
    yield TRUTH, DISTANCES, FOUND
    numbers = np.random.default_rng(rng.randrange(2**32))
    for _ in range(rounds):
        rows, found = int(numbers.integers(1, 9)), int(numbers.integers(1, 130))
        width = found + int(numbers.integers(0, 40))
        ids = np.array([numbers.permutation(3 * width) for _ in range(rows)], dtype=np.int32)
        distances = np.sort(numbers.integers(0, width, (rows, width)), axis=1).astype(np.float32)
        kept = np.array([numbers.permutation(2 * width)[:found] for _ in range(rows)])
        yield ids[:, :width].copy(), distances, np.take_along_axis(ids, kept, axis=1)


def recalls(truth, found, k, **options):
    scores = laneval.evaluate_neighbours(truth, found, [f"NNR@{k}"], per_query=True, **options)
    by_row = values(scores, f"NNR@{k}")
    return [by_row[str(row)] for row in range(len(truth))]


def faiss(tally, rng, rounds, _folders):
    from faiss.contrib.evaluation import knn_intersection_measure

    for case, (truth, _, found) in enumerate(near(rng, rounds)):
        for k in {1, found.shape[1] // 2 + 1, found.shape[1]}:
            k = min(k, found.shape[1])
            mine = float(np.mean(recalls(truth, found, k)))
            theirs = float(knn_intersection_measure(truth[:, :k].copy(), found[:, :k].copy()))
            tally.add("faiss", "NNR@k", mine, theirs, close(mine, theirs), f"case {case} at {k}")
    # An empty place equals an empty place there.
    truth, found = np.array([[7, -1, -1, -1]], dtype=np.int32), np.array([[8, -1, -1, -1]], dtype=np.int32)
    tally.add("faiss, empty", "NNR@k", recalls(truth, found, 4)[0], 0.0, recalls(truth, found, 4)[0] == 0.0, "ours")
    theirs = float(knn_intersection_measure(truth, found))
    tally.add("faiss, empty", "theirs", theirs, 0.25, theirs == 0.25, "theirs")


def big_ann(tally, rng, rounds, folders):
    sys.path.insert(0, folders.big_ann)
    from benchmark.plotting.metrics import get_recall_values

    sys.path.pop(0)
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmark"]:
        del sys.modules[name]
    for case, (truth, distances, found) in enumerate(near(rng, rounds)):
        for k in sorted({1, found.shape[1] // 2 + 1, found.shape[1]}):
            k = min(k, found.shape[1])
            for ties in [False, True]:
                options = {"truth_distances": distances} if ties else {}
                counts = get_recall_values((truth, distances), found[:, :k], k, count_ties=ties)[2]
                for row, (mine, count) in enumerate(zip(recalls(truth, found, k, **options), counts)):
                    tally.add("big-ann", f"NNR@k ties={ties}", mine * k, count, round(mine * k, 9) == count, f"case {case} row {row} at {k}")


def ann(tally, rng, rounds, folders):
    sys.path.insert(0, folders.ann)
    import importlib.util

    spec = importlib.util.spec_from_file_location("ann_metrics", f"{folders.ann}/ann_benchmarks/plotting/metrics.py")
    metrics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(metrics)
    for case, (truth, distances, found) in enumerate(near(rng, rounds)):
        of_found = np.sort(np.random.default_rng(case).integers(0, truth.shape[1], found.shape), axis=1).astype(np.float32)
        for k in sorted({1, found.shape[1] // 2 + 1, found.shape[1]}):
            k = min(k, found.shape[1])
            counts = metrics.get_recall_values(distances, of_found, k, metrics.knn_threshold, 1e-3)[2]
            ours = recalls(truth, found, k, truth_distances=distances, found_distances=of_found, within=1e-3)
            for row, (mine, count) in enumerate(zip(ours, counts)):
                tally.add("ann", "NNR@k within", mine * k, count, round(mine * k, 9) == count, f"case {case} row {row} at {k}")


SECTIONS = {"haystack": haystack, "llama_index": llama_index, "faiss": faiss, "big-ann": big_ann, "ann": ann}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the seed of random cases")
    parser.add_argument("--rounds", type=int, default=300, metavar="N", help="the number of random cases of each peer")
    parser.add_argument("--big-ann", metavar="FOLDER", help="a checkout of big-ann-benchmarks, with which it is compared")
    parser.add_argument("--ann", metavar="FOLDER", help="a checkout of ann-benchmarks, with which it is compared")
    parser.add_argument("--only", metavar="PEER,...", help="these peers, and not all whose code is there")
    options = parser.parse_args()
    there = [name for name in SECTIONS if name not in ("big-ann", "ann") or getattr(options, name.replace("-", "_"))]
    wanted = options.only.split(",") if options.only else there
    if unknown := set(wanted) - set(there):
        parser.error(f"no such peer, or no folder of it: {', '.join(sorted(unknown))}")
    tally = Tally()
    for name in wanted:
        try:
            tally.section(name, lambda: SECTIONS[name](tally, random.Random(options.seed), options.rounds, options))
        except ImportError as error:
            print(f"rag.py: {error}; install requirements-rag.txt, or leave the peer out with --only", file=sys.stderr)
            sys.exit(2)
    sys.exit(1 if tally.report() else 0)


if __name__ == "__main__":
    main()

"""What other tools need for the same files, each phase timed.

    python benches/peers.py read RUN           Polars merely reads query, docno and score
    python benches/peers.py polars QRELS RUN   AP, nDCG@10, RR, P@10, R@100 by hand in Polars, in trec_eval's order
    python benches/peers.py pytrec QRELS RUN   pytrec_eval computes the same
    python benches/peers.py ir_measures QRELS RUN
    python benches/peers.py ranx QRELS RUN
    python benches/peers.py numpy ROWS DEPTH   the same from labels in memory, by NumPy, a block of rows at a time
    python benches/peers.py argpartition ROWS WIDTH   NumPy merely looks for the ten best scores of each row
    python benches/peers.py pyndeval QRELS RUN   values of subtopics, from lists of tuples that are ready
    python benches/peers.py subtopics QRELS RUN   the same by laneval, from the same lists

Needs polars, pytrec-eval-terrier, ir_measures, ranx, numpy, or pyndeval and laneval. Polars takes its threads from POLARS_MAX_THREADS.
"""

import sys
import time


def phase(name, work):
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    print(f"{name:8} {time.perf_counter() - start:7.3f} s wall {time.process_time() - cpu:7.3f} s CPU")
    return result


def read(run):
    import polars as pl

    names = ["query", "iter", "docno", "rank", "score", "tag"]
    schema = dict.fromkeys(names, pl.String) | {"rank": pl.Int32, "score": pl.Float64}
    for _ in range(3):
        lines = pl.scan_csv(run, separator=" ", has_header=False, quote_char=None, schema=schema)
        frame = phase("read", lambda: lines.select("query", "docno", "score").collect())
    print(frame.shape[0], "rows")


def polars(qrels, run):
    import polars as pl

    def scan(path, names):
        return pl.scan_csv(path, separator=" ", has_header=False, quote_char=None, schema=names)

    def five():
        judged = scan(qrels, {"query": pl.String, "iter": pl.String, "docno": pl.String, "grade": pl.Int32})
        judged = judged.select("query", "docno", "grade").collect()
        names = ["query", "iter", "docno", "rank", "score", "tag"]
        schema = dict.fromkeys(names, pl.String) | {"rank": pl.Int32, "score": pl.Float64}
        ranked = scan(run, schema).select("query", "docno", "score").collect()
        ranked = ranked.sort("query", "score", "docno", descending=[False, True, True])
        ranked = ranked.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))
        hits = ranked.join(judged.filter(pl.col("grade") > 0), on=["query", "docno"]).sort("query", "rank")
        first = pl.col("rank") <= 10
        hits = hits.with_columns(nth=pl.int_range(1, pl.len() + 1).over("query"))
        sums = hits.group_by("query").agg(
            ap=(pl.col("nth") / pl.col("rank")).sum(),
            rr=1 / pl.col("rank").min(),
            p10=first.sum() / 10,
            r100=(pl.col("rank") <= 100).sum(),
            dcg=(pl.col("grade") / (pl.col("rank") + 1).log(2)).filter(first).sum(),
        )
        best = judged.filter(pl.col("grade") > 0).sort("grade", descending=True)
        best = best.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))
        ideal = best.group_by("query").agg(
            relevant=pl.len(),
            ideal=(pl.col("grade") / (pl.col("rank") + 1).log(2)).filter(first).sum(),
        )
        queries = judged.select("query").unique().join(ideal, on="query", how="left")
        all_of = queries.join(sums, on="query", how="left").fill_null(0)
        share = lambda name, by: pl.when(pl.col(by) > 0).then(pl.col(name) / pl.col(by)).otherwise(0)
        means = [share("ap", "relevant"), pl.col("rr"), share("dcg", "ideal"), pl.col("p10"), share("r100", "relevant")]
        return all_of.select(mean.mean().alias(str(at)) for at, mean in enumerate(means)).row(0)

    for _ in range(3):
        means = phase("five", five)
    print("AP {:.4f} RR {:.4f} nDCG@10 {:.4f} P@10 {:.4f} R@100 {:.4f}".format(*means))


def numpy(rows, depth):
    import numpy as np

    rows, depth = int(rows), int(depth)
    random = np.random.default_rng(1)
    labels = np.where(random.random((rows, depth), np.float32) < 0.01, random.integers(1, 4, (rows, depth), np.uint8), 0)
    labels = labels.astype(np.uint8)
    relevant = np.maximum((labels > 0).sum(1), 1)
    ideal = -np.sort(-labels, axis=1)[:, :10]
    discount = 1 / np.log2(np.arange(2, 12))

    def five(labels, relevant, ideal):
        hit = labels > 0
        precision = np.cumsum(hit, axis=1) / np.arange(1, depth + 1)
        ap = (precision * hit).sum(1) / relevant
        dcg = np.divide(labels[:, :10] @ discount, np.maximum(ideal @ discount, 1e-9))
        rr = np.where(hit.any(1), 1 / (hit.argmax(1) + 1), 0)
        return ap, dcg, rr, hit[:, :10].mean(1), hit[:, :100].sum(1) / relevant

    def blocks(block=1024):
        parts = [slice(at, at + block) for at in range(0, rows, block)]
        return [np.concatenate(values).mean() for values in zip(*(five(labels[p], relevant[p], ideal[p]) for p in parts))]

    for _ in range(3):
        start = time.perf_counter()
        blocks()
        print(f"five     {rows * depth / (time.perf_counter() - start) / 1e6:7.1f} M labels/s")


def argpartition(rows, width):
    import numpy as np

    rows, width = int(rows), int(width)
    scores = np.random.default_rng(1).random((rows, width), np.float32)
    for _ in range(9):
        cpu = time.process_time()
        np.argpartition(-scores, 9, axis=1)
        print(f"best ten {(time.process_time() - cpu) / rows * 1e9:7.0f} ns of CPU time a row")


def pytrec(qrels, run):
    import pytrec_eval

    def parse(path, parser):
        with open(path) as file:
            return parser(file)

    qrels = phase("qrels", lambda: parse(qrels, pytrec_eval.parse_qrel))
    run = phase("run", lambda: parse(run, pytrec_eval.parse_run))
    measures = {"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.100"}
    values = phase("evaluate", lambda: pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run))
    for name in sorted(next(iter(values.values()))):
        print(name, sum(of[name] for of in values.values()) / len(qrels))


def ir_measures(qrels, run):
    import ir_measures as ir

    five = [ir.AP, ir.nDCG @ 10, ir.RR, ir.P @ 10, ir.R @ 100]

    def work():
        return ir.calc_aggregate(five, ir.read_trec_qrels(qrels), ir.read_trec_run(run))

    print(phase("five", work))


def ranx(qrels, run):
    from ranx import Qrels, Run, evaluate

    five = ["map", "ndcg@10", "mrr", "precision@10", "recall@100"]

    def work():
        judged, ranked = Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec")
        return evaluate(judged, ranked, five, make_comparable=True)

    phase("cold", work)
    print(phase("five", work))


def tuples(qrels, run):
    def fields(path):
        with open(path) as file:
            return [line.split() for line in file]

    judged = [(query, subtopic, doc, int(grade)) for query, subtopic, doc, grade in fields(qrels)]
    return judged, [(query, doc, float(score)) for query, _, doc, _, score, _ in fields(run)]


def pyndeval(qrels, run):
    import pyndeval

    judged, ranked = tuples(qrels, run)
    judged = [pyndeval.SubtopicQrel(*row) for row in judged]
    ranked = [pyndeval.ScoredDoc(*row) for row in ranked]
    values = phase("ndeval", lambda: pyndeval.ndeval(judged, ranked))
    print("alpha_nDCG@10", sum(of["alpha-nDCG@10"] for of in values.values()) / len(values))


def subtopics(qrels, run):
    import laneval

    judged, ranked = tuples(qrels, run)
    names = ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "P_IA", "StRecall"]
    measures = [f"{name}@{cut}" for name in names for cut in (5, 10, 20)] + ["NRBP", "nNRBP", "AP_IA"]

    def work():
        of = laneval.Qrels(judged, facet="subtopic")
        return laneval.evaluate(of, ranked, measures, ties="docno-asc", per_query=True)

    print("alpha_nDCG@10", phase("tuples", work)["alpha_nDCG@10"])


if __name__ == "__main__":
    tools = [read, polars, pytrec, ir_measures, ranx, numpy, argpartition, pyndeval, subtopics]
    {tool.__name__: tool for tool in tools}[sys.argv[1]](*sys.argv[2:])

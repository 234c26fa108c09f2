"""What other tools need for the same files, each phase timed.

    python benches/peers.py read RUN           Polars merely reads query, docno and score
    python benches/peers.py pytrec QRELS RUN   pytrec_eval computes AP, nDCG@10, RR, P@10, R@100

Needs polars, or pytrec-eval-terrier. Polars takes its threads from POLARS_MAX_THREADS.
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


if __name__ == "__main__":
    {"read": read, "pytrec": pytrec}[sys.argv[1]](*sys.argv[2:])

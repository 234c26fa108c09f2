"""Tables of results beside the same rows as text, and dicts: CPU time of joining and evaluating, judgments read before, the least of turns.

python python/benches/tables.py [queries] [results]
"""

from __future__ import annotations

import random
import sys
import time

import pandas as pd
import polars as pl
import pyarrow as pa

import laneval

TURNS = 7
MEASURES = ["AP", "nDCG@10", "RR", "P@10", "R@100"]


def main(queries: int = 1000, results: int = 1000) -> None:
    draw = random.Random(1)
    docs = [f"doc{at:07}" for at in range(100_000)]
    # Best first, with short numbers, as runs are written.
    run = {f"q{at}": {doc: (results - rank) / 100 for rank, doc in enumerate(draw.sample(docs, results))} for at in range(queries)}
    judged = laneval.Qrels({query: {doc: draw.randint(0, 2) for doc in list(found)[:10]} for query, found in run.items()})
    rows = [(query, doc, score) for query, of in run.items() for doc, score in of.items()]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(["query_id", "doc_id", "score"])}

    arrow, pandas, polars = pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns)
    coded = pa.Table.from_arrays([arrow[0].dictionary_encode(), arrow[1].dictionary_encode(), arrow[2]], names=arrow.column_names)
    forms = {
        "TREC text": "".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in rows).encode(),
        "Arrow, text": arrow,
        "Arrow, dictionaries": coded,
        "pandas, text": pandas,
        "pandas, categories": pandas.astype({"query_id": "category", "doc_id": "category"}),
        "Polars, text": polars,
        "Polars, queries as categories": polars.with_columns(pl.col("query_id").cast(pl.Categorical)),
        "Polars, both as categories": polars.with_columns(pl.col("query_id", "doc_id").cast(pl.Categorical)),
        "dicts": run,
    }
    expected = laneval.evaluate(judged, run, MEASURES)
    least = dict.fromkeys(forms, float("inf"))
    for _ in range(TURNS):
        for name, form in forms.items():
            start = time.process_time()
            found = laneval.evaluate(judged, form, MEASURES, threads=1)
            least[name] = min(least[name], time.process_time() - start)
            assert found == expected, name
    for name, took in least.items():
        print(f"{name:32} {took * 1e3:7.1f} ms {took / least['TREC text']:6.2f} of text")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""What all engines are asked, and the answers of one process."""

from __future__ import annotations

import doctest
from types import ModuleType
from typing import Any

import pyarrow as pa

import laneval

from ..conftest import Judgments, Results, made

MEASURES = ["nDCG@10", "AP", "RR", "P@[1,5]", "NumRet"]
STATS = ["std", "min", "max"]


def data() -> tuple[Judgments, Results]:
    """Queries without results, results without judgments, ties, negative grades, and one query with more results than all others."""
    qrels, run = made(11, queries=25)
    qrels["q5"]["doc1"] = -1
    qrels["huge"] = {f"doc{at}": at % 3 for at in range(0, 4000, 7)}
    run["huge"] = {f"doc{at}": float(at * 37 % 1000) for at in range(4000)}
    return qrels, run


def results(run: Results) -> pa.Table:
    rows = [(q, d, s) for q, of in run.items() for d, s in of.items()]
    return pa.table(dict(zip(["query_id", "doc_id", "score"], map(list, zip(*rows, strict=True)), strict=True)))


def judgments(qrels: Judgments) -> pa.Table:
    rows = [(q, d, g) for q, of in qrels.items() for d, g in of.items()]
    return pa.table(dict(zip(["query_id", "doc_id", "grade"], map(list, zip(*rows, strict=True)), strict=True)))


def whole(qrels: Any, run: Any, **options: Any) -> laneval.RunScores:
    """The scores in one process."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return laneval.evaluate(qrels, run, MEASURES, **{"stats": STATS, **options})


def same(summary: laneval.Summary, expected: laneval.RunScores, run: str = "run") -> None:
    """Checks every bit, and what the numbers are of."""
    scores = summary.scores(STATS)[run]
    assert {name: list(of.values()) for name, of in scores.stats.items()} == {
        name: list(of.values()) for name, of in expected.stats.items()
    }
    assert (scores.queries, scores.rule, scores.ideal) == (expected.queries, expected.rule, expected.ideal)
    assert (scores.missing.count, scores.ignored.count) == (expected.missing.count, expected.ignored.count)


def labels() -> tuple[list[list[int]], list[int]]:
    """Labels of rankings of different lengths, one of them empty, and how many documents are relevant."""
    rankings = [[(query * 7 + rank * 2) % 3 - 1 for rank in range(query % 9)] for query in range(40)]
    return rankings, [sum(grade > 0 for grade in ranking) + 1 for ranking in rankings]


def whole_labels(rankings: list[list[int]], relevant: list[int] | None) -> laneval.RunScores:
    import numpy as np

    flat = np.array([grade for ranking in rankings for grade in ranking], np.int8)
    offsets = np.cumsum([0, *map(len, rankings)])
    return laneval.evaluate_labels(flat, MEASURES, offsets=offsets, relevant=relevant and np.array(relevant), stats=STATS)


def run_examples(module: ModuleType, **names: Any) -> int:
    """Runs the examples of a module's docstrings with these names there, those too that are skipped where there is no engine. Returns their
    number.
    """
    runner = doctest.DocTestRunner()
    attempted = 0
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        for example in test.examples:
            example.options.pop(doctest.SKIP, None)
        found = runner.run(test)
        assert not found.failed, f"{test.name}: see what was printed"
        attempted += found.attempted
    return attempted

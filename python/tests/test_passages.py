"""Measures of passages, of every source."""

import pathlib
import pickle

import pytest

import laneval

GOLD = [("q", "d1", 10, 30), ("q", "d1", 50, 60, 2), ("q", "d2", 0, 20, None)]
RESULTS = [("q", "d1", 0, 20, 9.0), ("q", "d1", 15, 40, 8.5), ("q", "d3", 0, 50, 7.0), ("q", "d2", 0, 100, 6.0), ("q", "d1", 20, 60, 5.0)]
MEASURES = ["SpanR@2", "SpanP(overlap=each)@2", "SpanIoU", "SpanF(rel=2)@5", "SpanR(budget=44)"]
EXPECTED = [2 / 5, 4 / 9, 5 / 21, 1 / 11, 1 / 5]


def sources(folder: pathlib.Path) -> list[tuple[object, object]]:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    gold = {"qid": ["q"] * 3, "docid": ["d1", "d1", "d2"], "start_index": [10, 50, 0], "end_index": [30, 60, 20], "rel": [1, 2, 1]}
    lengths = [end - start for _, _, start, end, _ in RESULTS]
    run = dict(zip(("query", "doc", "start", "score"), ([row[at] for row in RESULTS] for at in (0, 1, 2, 4)), strict=True))
    run = {**run, "length": lengths, "doc": [row[1] for row in RESULTS]}
    (folder / "gold.csv").write_text("query,doc,start,end,grade\n" + "".join(f"{q},{d},{s},{e},{(*g, 1)[0] or 1}\n" for q, d, s, e, *g in GOLD))
    (folder / "run.tsv").write_text("query\tdoc\tstart\tend\tscore\n" + "".join("\t".join(map(str, row)) + "\n" for row in RESULTS))
    pyarrow.parquet.write_table(pyarrow.table(gold), folder / "gold.parquet")
    pyarrow.parquet.write_table(pyarrow.table(run), folder / "run.parquet")
    records = [dict(zip(("query", "doc", "start", "end", "grade"), row, strict=False)) for row in GOLD]
    ranked = [dict(query=q, doc=d, start=s, end=e, rank=at) for at, (q, d, s, e, _) in enumerate(RESULTS)]
    return [
        (GOLD, RESULTS),
        (records, ranked),
        (gold, run),
        (pandas.DataFrame(gold), pandas.DataFrame(run)),
        (polars.DataFrame(gold), polars.DataFrame(run)),
        (pyarrow.table(gold), pyarrow.table(run)),
        (folder / "gold.csv", str(folder / "run.tsv")),
        (folder / "gold.parquet", folder / "run.parquet"),
    ]


def test_every_source_has_the_values_that_were_worked_out(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    for gold, results in sources(tmp_path):
        scores = laneval.evaluate(gold, results, MEASURES)
        for measure, expected in zip(MEASURES, EXPECTED, strict=True):
            assert scores[measure] == pytest.approx(expected, abs=1e-15), (measure, gold)
        qrels = laneval.Qrels(gold, facet="span")
        assert len(qrels) == 1
        again = pickle.loads(pickle.dumps(qrels))
        assert laneval.evaluate(again, results, "SpanIoU")["SpanIoU"] == scores["SpanIoU"]
        two = laneval.evaluate_runs(qrels, {"one": results, "other": results}, "SpanR@2", per_query=True)
        assert [run["SpanR@2"] for run in two.values()] == [2 / 5, 2 / 5]
        assert two.compare().pairs


def test_columns_that_are_named_are_read() -> None:
    gold = [{"query": "q", "doc": "d", "von": 0, "bis": 10}]
    results = [{"query": "q", "doc": "d", "von": 5, "bis": 15, "score": 1.0}]
    scores = laneval.evaluate(gold, results, "SpanIoU", columns={"start": "von", "end": "bis"})
    assert scores["SpanIoU"] == 1 / 3


@pytest.mark.parametrize(
    ("gold", "results", "kind", "said"),
    [
        (GOLD, {"q": {"d": 1.0}}, TypeError, "judgments are by span, so a path, a table, or an iterable"),
        ({"q": {"d": 1}}, RESULTS, TypeError, "judgments are by span"),
        (GOLD, [("q", "d", 1.0)], laneval.InputError, "(query, document, start, end, score) was expected"),
        (GOLD, [("q", "d", 0, 5)], laneval.InputError, "(query, document, start, end, score) was expected"),
        (GOLD, [("q", "d", 5, 2, 1)], laneval.InputError, "run:1: the span of 'd' ends at 2, before its start at 5"),
        (GOLD, [("q", "d", 5, 5, 1)], laneval.InputError, "run:1: the span of 'd' from 5 to 5 is empty"),
        (GOLD, [("q", "d", -1, 5, 1)], laneval.InputError, "run:1: start '-1' is not a position"),
        (GOLD, [("q", "d", 1.5, 5, 1)], laneval.InputError, "run:1: start 1.5 is not a position"),
        (GOLD, [("q", "d", 0, 5, float("nan"))], laneval.InputError, "run:1: the score of document 'd' of query 'q' is not a number"),
        (GOLD, [{"query": "q", "doc": "d", "score": 1}], ValueError, "no column is the start"),
    ],
)
def test_what_is_wrong_is_said(gold: object, results: object, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as error:
        laneval.evaluate(gold, results, "SpanR")
    assert said in str(error.value)


def test_what_has_no_meaning_is_refused() -> None:
    for options in ({"judged_only": True}, {"ties": "average"}, {"doc_id": "before:#"}, {"ties": "docno-asc"}):
        with pytest.raises(laneval.UnanswerableError):
            laneval.evaluate(GOLD, RESULTS, "SpanR", **options)
    with pytest.raises(laneval.UnanswerableError, match="judgments of chunks"):
        laneval.evaluate(GOLD, RESULTS, ["SpanR", "nDCG@10"])
    with pytest.raises(laneval.UnanswerableError, match="no documents that runs could share"):
        laneval.pools(laneval.Qrels(GOLD, facet="span"), {"a": RESULTS, "b": RESULTS})

"""Results that are chunks of the judged documents, as dicts, tables, files and streams."""

from pathlib import Path
from typing import Literal

import pytest

import laneval

QRELS = {"q": {"A": 2, "B": 1, "C": 0, "D": 1}}
RUN = {"q": {"A#1": 9.0, "X#1": 8.0, "A#2": 7.0, "B#4": 6.0, "C#1": 6.0, "B#1": 5.0, "A#3": 4.0, "D#9": 1.0}}
UNITS = {row: row.split("#")[0] for row in RUN["q"]}

VALUES = {"max": 7 / 10, "blank": 71 / 120, "sum": 13 / 15, "mean": 8 / 15, "mean:2": 8 / 15}


@pytest.mark.parametrize("aggregate", VALUES)
@pytest.mark.filterwarnings("ignore")
def test_chunks_have_their_values(aggregate: str, tmp_path: Path) -> None:
    ours = laneval.evaluate(QRELS, RUN, "AP", doc_id="before:#", aggregate=aggregate)
    assert ours["AP"] == pytest.approx(VALUES[aggregate], abs=1e-12)
    assert dict(laneval.evaluate(QRELS, RUN, "AP", doc_id=UNITS, aggregate=aggregate)) == dict(ours)
    path = tmp_path / "map.tsv"
    path.write_text("".join(f"{row}\t{unit}\n" for row, unit in UNITS.items()))
    assert dict(laneval.evaluate(QRELS, RUN, "AP", doc_id=f"map:{path}", aggregate=aggregate)) == dict(ours)
    file = tmp_path / "run.trec"
    file.write_text("".join(f"q Q0 {row} 1 {score} t\n" for row, score in RUN["q"].items()))
    assert dict(laneval.evaluate(QRELS, file, "AP", doc_id="before-first:#", aggregate=aggregate)) == dict(ours)


def test_rows_are_kept_before() -> None:
    found = laneval.evaluate(QRELS, RUN, ["AP", "Judged@5"], doc_id="before:#", max_chunks=4)
    assert dict(found) == pytest.approx({"AP": 1 / 3, "Judged@5": 2 / 3}, abs=1e-12)


def test_columns_are_units() -> None:
    rows = [{"query": "q", "chunk": at, "source_id": row.split("#")[0], "score": of} for at, (row, of) in enumerate(RUN["q"].items())]
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows)
    ours = laneval.evaluate(QRELS, table, "AP", doc_id="column:source_id")
    assert ours["AP"] == pytest.approx(0.7, abs=1e-12)


def test_judged_passages_are_of_documents() -> None:
    passages = {"q": {"A#1": 2, "A#7": 1, "B#2": 1, "C#1": 0}}
    run = {"q": {"B": 3.0, "A": 2.0, "C": 1.0}}
    qrels = laneval.Qrels(passages, qrels_doc_id="before:#")
    assert qrels.fingerprint == laneval.Qrels({"q": {"A": 2, "B": 1, "C": 0}}).fingerprint
    ours = laneval.evaluate(qrels, run, "nDCG@3")
    assert ours["nDCG@3"] == pytest.approx(0.859718699852, abs=1e-12)
    assert dict(laneval.evaluate(passages, run, "nDCG@3", qrels_doc_id="before:#")) == dict(ours)
    with pytest.raises(TypeError, match="qrels_doc_id is for judgments that are read here: give it to Qrels"):
        laneval.evaluate(qrels, run, "nDCG@3", qrels_doc_id="before:#")


def test_lists_of_ids_may_repeat() -> None:
    retrieved = [["a", "a", "b", "a"]]
    with pytest.raises(laneval.UnanswerableError, match="occurs twice"):
        laneval.evaluate_ids([["a", "b"]], retrieved, "AP")
    assert laneval.evaluate_ids([["a", "b"]], retrieved, "AP", aggregate="max")["AP"] == 1.0
    assert laneval.evaluate_ids([["a", "b"]], retrieved, "AP", aggregate="blank")["AP"] == pytest.approx((1 + 2 / 3) / 2)
    with pytest.raises(laneval.OptionError, match="no scores that could be added"):
        laneval.evaluate_ids([["a", "b"]], retrieved, "AP", aggregate="sum")


def test_wrong_values_are_refused() -> None:
    with pytest.raises(laneval.OptionError, match="before:TEXT, before-first:TEXT, map:FILE or column:NAME was expected"):
        laneval.evaluate(QRELS, RUN, "AP", doc_id="regex:^d")
    with pytest.raises(laneval.OptionError, match="behind mean: a number of results"):
        laneval.evaluate(QRELS, RUN, "AP", doc_id="before:#", aggregate="mean:0")
    with pytest.raises(laneval.UnanswerableError, match="doc_id='column:doc': a dict of queries has no columns"):
        laneval.evaluate(QRELS, RUN, "AP", doc_id="column:doc")
    with pytest.raises(TypeError, match="doc_id is 7"):
        laneval.evaluate(QRELS, RUN, "AP", doc_id=7)  # type: ignore[arg-type]
    with pytest.raises(laneval.InputError, match="none of its ids has '@'"):
        laneval.evaluate(QRELS, RUN, "AP", doc_id="before:@")
    with pytest.raises(laneval.OptionError, match="doc_id='before:#' changes nothing"):
        laneval.evaluate_ids([["a"]], [["a"]], "AP", doc_id="before:#")
    one = laneval.evaluate(QRELS, RUN, "AP", doc_id="before:#", per_query=True)
    other = laneval.evaluate(QRELS, RUN, "AP", doc_id="before:#", aggregate="sum", per_query=True)
    with pytest.raises(ValueError, match="aggregate='sum' and aggregate='max'"):
        one.compare(other)


@pytest.mark.parametrize("order", ["grouped", "any"])
def test_streams_are_of_units(order: Literal["grouped", "any"]) -> None:
    qrels = {**QRELS, "r": {"A": 1}}
    later = {"r": {"B#1": 2.0, "A#1": 1.0, "A#2": 1.0}}
    ours = laneval.evaluate(qrels, {**RUN, **later}, "AP", doc_id="before:#", aggregate="sum")
    with laneval.RankingStream("AP", qrels=qrels, order=order, doc_id="before:#", aggregate="sum") as stream:
        for batch in (RUN, later):
            stream.push(batch)
        summary = stream.finish()
    assert dict(summary.scores()["run"]) == dict(ours)

"""Results of units: chunks where documents are judged, as dicts, tables, files and streams."""

from pathlib import Path
from typing import Literal

import pytest

import laneval

QRELS = {"q": {"A": 2, "B": 1, "C": 0, "D": 1}}
RUN = {"q": {"A#1": 9.0, "X#1": 8.0, "A#2": 7.0, "B#4": 6.0, "C#1": 6.0, "B#1": 5.0, "A#3": 4.0, "D#9": 1.0}}
UNITS = {row: row.split("#")[0] for row in RUN["q"]}

VALUES = {"first": 7 / 10, "max": 7 / 10, "blank": 71 / 120, "sum": 13 / 15, "mean": 8 / 15, "mean:2": 8 / 15}


@pytest.mark.parametrize("repeats", VALUES)
@pytest.mark.filterwarnings("ignore")
def test_repeats_have_their_values(repeats: str, tmp_path: Path) -> None:
    ours = laneval.evaluate(QRELS, RUN, "AP", units="before:#", repeats=repeats)
    assert ours["AP"] == pytest.approx(VALUES[repeats], abs=1e-12)
    assert dict(laneval.evaluate(QRELS, RUN, "AP", units=UNITS, repeats=repeats)) == dict(ours)
    path = tmp_path / "map.tsv"
    path.write_text("".join(f"{row}\t{unit}\n" for row, unit in UNITS.items()))
    assert dict(laneval.evaluate(QRELS, RUN, "AP", units=f"map:{path}", repeats=repeats)) == dict(ours)
    file = tmp_path / "run.trec"
    file.write_text("".join(f"q Q0 {row} 1 {score} t\n" for row, score in RUN["q"].items()))
    assert dict(laneval.evaluate(QRELS, file, "AP", units="before-first:#", repeats=repeats)) == dict(ours)


def test_rows_are_kept_before() -> None:
    found = laneval.evaluate(QRELS, RUN, ["AP", "Judged@5"], units="before:#", rows=4)
    assert dict(found) == pytest.approx({"AP": 1 / 3, "Judged@5": 2 / 3}, abs=1e-12)


def test_columns_are_units() -> None:
    rows = [{"query": "q", "chunk": at, "source_id": row.split("#")[0], "score": of} for at, (row, of) in enumerate(RUN["q"].items())]
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows)
    ours = laneval.evaluate(QRELS, table, "AP", units="column:source_id")
    assert ours["AP"] == pytest.approx(0.7, abs=1e-12)


def test_judged_passages_are_of_documents() -> None:
    passages = {"q": {"A#1": 2, "A#7": 1, "B#2": 1, "C#1": 0}}
    run = {"q": {"B": 3.0, "A": 2.0, "C": 1.0}}
    qrels = laneval.Qrels(passages, units="before:#")
    assert qrels.fingerprint == laneval.Qrels({"q": {"A": 2, "B": 1, "C": 0}}).fingerprint
    ours = laneval.evaluate(qrels, run, "nDCG@3")
    assert ours["nDCG@3"] == pytest.approx(0.859718699852, abs=1e-12)
    assert dict(laneval.evaluate(passages, run, "nDCG@3", qrels_units="before:#")) == dict(ours)
    with pytest.raises(TypeError, match="qrels_units is for judgments that are read here: give it to Qrels"):
        laneval.evaluate(qrels, run, "nDCG@3", qrels_units="before:#")


def test_lists_of_ids_may_repeat() -> None:
    retrieved = [["a", "a", "b", "a"]]
    with pytest.raises(laneval.UnanswerableError, match="occurs twice"):
        laneval.evaluate_ids([["a", "b"]], retrieved, "AP")
    assert laneval.evaluate_ids([["a", "b"]], retrieved, "AP", repeats="first")["AP"] == 1.0
    assert laneval.evaluate_ids([["a", "b"]], retrieved, "AP", repeats="blank")["AP"] == pytest.approx((1 + 2 / 3) / 2)
    with pytest.raises(laneval.OptionError, match="no scores that could be added"):
        laneval.evaluate_ids([["a", "b"]], retrieved, "AP", repeats="sum")


def test_wrong_values_are_refused() -> None:
    with pytest.raises(laneval.OptionError, match="before:TEXT, before-first:TEXT, map:FILE or column:NAME was expected"):
        laneval.evaluate(QRELS, RUN, "AP", units="regex:^d")
    with pytest.raises(laneval.OptionError, match="behind mean: a number of results"):
        laneval.evaluate(QRELS, RUN, "AP", units="before:#", repeats="mean:0")
    with pytest.raises(laneval.UnanswerableError, match="units='column:doc': a dict of queries has no columns"):
        laneval.evaluate(QRELS, RUN, "AP", units="column:doc")
    with pytest.raises(TypeError, match="units is 7"):
        laneval.evaluate(QRELS, RUN, "AP", units=7)  # type: ignore[arg-type]
    with pytest.raises(laneval.InputError, match="none of its ids has '@'"):
        laneval.evaluate(QRELS, RUN, "AP", units="before:@")
    with pytest.raises(laneval.OptionError, match="units='before:#' changes nothing"):
        laneval.evaluate_ids([["a"]], [["a"]], "AP", units="before:#")
    one = laneval.evaluate(QRELS, RUN, "AP", units="before:#", per_query=True)
    other = laneval.evaluate(QRELS, RUN, "AP", units="before:#", repeats="sum", per_query=True)
    with pytest.raises(ValueError, match="repeats='sum' and repeats='first'"):
        one.compare(other)


@pytest.mark.parametrize("order", ["grouped", "any"])
def test_streams_are_of_units(order: Literal["grouped", "any"]) -> None:
    qrels = {**QRELS, "r": {"A": 1}}
    later = {"r": {"B#1": 2.0, "A#1": 1.0, "A#2": 1.0}}
    ours = laneval.evaluate(qrels, {**RUN, **later}, "AP", units="before:#", repeats="sum")
    with laneval.Stream("AP", qrels=qrels, order=order, units="before:#", repeats="sum") as stream:
        for batch in (RUN, later):
            stream.push(batch)
        summary = stream.finish()
    assert dict(summary.scores()["run"]) == dict(ours)

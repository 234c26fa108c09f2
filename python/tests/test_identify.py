"""Which definition a number is of: the answers of the command, and what they are as Python objects."""

import json
import pathlib
import subprocess
import sys

import pytest

import laneval

DEMO = pathlib.Path(__file__).parents[2] / "examples/data"
QRELS, RUN = str(DEMO / "demo.qrels"), str(DEMO / "demo-bm25.run")


def told(measure: str, **options) -> dict[str, float]:
    scores = laneval.evaluate(QRELS, RUN, measure, per_query=True, **options)
    return {query: of[measure] for query, of in scores.per_query().to_dict().items()}


def test_the_answer_is_that_of_the_command():
    words = [sys.executable, "-m", "laneval", "identify", QRELS, RUN, "nDCG@5=0.5541", "--top", "3", "--format", "json", "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    found = laneval.identify(QRELS, RUN, {"nDCG@5": "0.5541"}, top=3)
    assert found.to_dict() == json.loads(done.stdout)
    assert found.verdict == "likely"
    assert found.candidates[0].measure == "nDCG(gain=exp2)@5"
    assert found.candidates[0].options == {}
    assert "ranx" in {library.library for library in found.candidates[0].libraries}
    assert len(found.nearest) == 3
    assert repr(found).startswith("likely: 1 of ")


def test_values_of_queries_are_found():
    values = told("nDCG(gain=exp2)@5", ties="average")
    found = laneval.identify(QRELS, RUN, values, measure="nDCG@5")
    # One query has equal scores and tells it from other orders.
    assert found.verdict == "likely"
    assert found.candidates[0].agree == len(values)
    assert found.candidates[0].measure == "nDCG(gain=exp2)@5"
    # Floats have all digits, and texts those that they show.
    shown = {query: f"{value:.3f}" for query, value in values.items()}
    assert laneval.identify(QRELS, RUN, shown, measure="nDCG@5").candidates[0].agree == len(values)


def test_keys_that_are_judged_queries_are_queries():
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1, "d3": 2}}
    run = {"q1": {"d9": 2.0, "d1": 1.0}, "q2": {"d2": 3.0, "d3": 2.0}}
    found = laneval.identify(qrels, run, {"q1": "0.5000", "q2": "1.0000"})
    # AP and RR have the same values of these queries, so they are one class, which has the name of one of them.
    alike = laneval.evaluate(qrels, run, ["AP", "RR"], per_query=True).per_query()
    assert list(alike["AP"]) == list(alike["RR"]) == [0.5, 1.0]
    assert {of.measure.split("@")[0] for of in found.candidates} == {"AP"}
    assert all(of.agree == 2 for of in found.candidates)
    skipped = laneval.identify(qrels, run, {"q1": None, "q2": 1.0}, measure="RR")
    assert skipped.candidates == [] and skipped.verdict == "none"


def test_a_number_alone_is_of_any_measure():
    found = laneval.identify(QRELS, RUN, "0.5541")
    assert found.definitions > 10_000
    assert found.verdict == "undecided"
    named = laneval.identify(QRELS, RUN, "55.41%", measure="nDCG@5")
    assert named.candidates[0].measure == "nDCG(gain=exp2)@5"


def test_a_float_has_all_its_digits():
    mean = laneval.evaluate(QRELS, RUN, "AP")["AP"]
    found = laneval.identify(QRELS, RUN, {"AP": mean})
    assert (found.verdict, found.candidates[0].measure, found.candidates[0].value) == ("found", "AP", mean)
    assert laneval.identify(QRELS, RUN, {"AP": mean}, digits=1).fitting > 1


@pytest.mark.parametrize(
    ("error", "said", "wrong"),
    [
        (laneval.UnanswerableError, "'x' is not a number", {"numbers": "x"}),
        (laneval.UnanswerableError, "'1' has no decimals", {"numbers": {"AP": "1"}}),
        (laneval.UnanswerableError, "above the range 0 to 1 and no percent", {"numbers": {"AP": "1.3"}}),
        (laneval.UnanswerableError, "numbers is empty", {"numbers": {}}),
        (laneval.UnanswerableError, "query 17 is not judged", {"numbers": {"17": "0.5"}, "measure": "AP"}),
        (laneval.UnanswerableError, "NumRel is no mean", {"numbers": {"NumRel": "0.5"}}),
        (laneval.MeasureError, "ngcd", {"numbers": {"ngcd@5": "0.5"}}),
        (ValueError, "1 to 17 was expected", {"digits": 0}),
        (TypeError, "an int was expected", {"top": "all"}),
        (TypeError, "a str was expected", {"numbers": {1: "0.5"}}),
        (TypeError, "that keeps its digits", {"numbers": {"AP": [0.5]}}),
    ],
)
def test_what_cannot_be_asked_is_an_error(error, said, wrong):
    asked = {"qrels": {"q": {"d": 1}}, "run": {"q": {"d": 1}}, "numbers": {"AP": "0.500"}, **wrong}
    with pytest.raises(error, match=said):
        laneval.identify(**asked)

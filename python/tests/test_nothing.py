"""The value of queries for which nothing is relevant: 0, 1 or none."""

import math

import pytest

import laneval

pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
QRELS = {"a": {"x": 1, "y": 0}, "b": {"x": 0}, "c": {"x": 2, "y": 1}}
RUN = {"a": {"y": 2.0, "x": 1.0}, "b": {"x": 1.0}, "c": {"x": 2.0, "y": 1.0}}


def test_values_are_those_that_were_asked_for() -> None:
    scores = laneval.evaluate(QRELS, RUN, ["RR", "RR(no_relevant=1)", "RR(no_relevant=skip)"])
    assert [scores[measure] for measure in scores] == [0.5, 2.5 / 3, 0.75]
    assert scores.skipped == {"RR(no_relevant=skip)": 1}
    assert scores.queries == 3


def test_a_query_without_a_value_has_no_key() -> None:
    values = laneval.evaluate(QRELS, RUN, ["P@1", "RR(no_relevant=skip)"], per_query=True).per_query()
    assert values.to_dict()["b"] == {"P@1": 0.0}
    assert values.to_dict()["c"] == {"P@1": 1.0, "RR(no_relevant=skip)": 1.0}
    assert math.isnan(values["RR(no_relevant=skip)"][1])


def test_comparisons_leave_the_query_out_of_that_measure() -> None:
    other = {**RUN, "c": {"x": 1.0, "y": 1.5}}
    runs = laneval.evaluate_runs(QRELS, {"one": RUN, "two": other}, ["P@1", "RR(no_relevant=skip)"], per_query=True)
    comparison = runs.compare()
    assert comparison.to_dict()["skipped"] == [0, 1]
    assert comparison.to_dict()["runs"][0]["means"] == [1 / 3, 0.75]


def test_wrong_words_are_refused() -> None:
    with pytest.raises(laneval.MeasureError, match="no_relevant=2 is not 0, 1 or skip"):
        laneval.evaluate(QRELS, RUN, "AP(no_relevant=2)")

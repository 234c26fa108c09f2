"""Measures written in Python."""

import math
import sys

import pytest

import laneval

from .conftest import made

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")


@laneval.measure(name="MyRR", range=(0, 1))
def my_rr(labels, lengths, judged, grades):
    relevant = grades[labels] >= 1 if labels.shape[1] else np.zeros((len(lengths), 1), bool)
    return np.where(relevant.any(1), 1 / (relevant.argmax(1) + 1), 0.0)


@laneval.measure
def MyRecall(labels, lengths, judged, grades):
    relevant = (grades[labels] >= 1).sum(1)
    return relevant / np.maximum(judged[:, grades >= 1].sum(1), 1)


@pytest.mark.parametrize("options", [{}, {"queries": "common"}, {"depth": 7}, {"judged_only": True}, {"ties": "docno-asc"}])
def test_they_give_what_the_same_built_in_ones_give(options):
    qrels, run = made(11)
    scores = laneval.evaluate(qrels, run, [my_rr, "RR", MyRecall, "R@1000"], per_query=True, stats=["std", "max"], **options)
    assert list(scores) == ["MyRR", "RR", "MyRecall", "R@1000"]
    values = scores.per_query()
    for mine, theirs in [("MyRR", "RR"), ("MyRecall", "R@1000")]:
        assert scores[mine] == scores[theirs] and values[mine] == values[theirs]
        assert dict(scores.stats[mine]) == pytest.approx(dict(scores.stats[theirs]), abs=1e-15)
    assert values.to_dict()[values.queries[3]]["MyRR"] == values["RR"][3]


def test_they_stand_wherever_names_do():
    qrels, run = made(11)
    matrix = laneval.Matrix.build(qrels, {"a": run, "b": made(12)[1]})
    for scores in [matrix.evaluate([my_rr, "RR"]), laneval.evaluate_runs(qrels, {"a": run}, [my_rr, "RR"])]:
        assert all(of["MyRR"] == of["RR"] for of in scores.values())
    labels = np.array([[0, 1], [1, 0]], np.uint8)
    assert laneval.evaluate_labels(labels, my_rr)["MyRR"] == 0.75


def test_many_queries_come_in_batches():
    qrels = {f"q{at:05}": {"a": at % 3, "b": 1} for at in range(9000)}
    run = {query: {"a": 0.5, "b": 0.1 * (at % 7)} for at, query in enumerate(qrels) if at % 5}
    seen = []

    @laneval.measure(name="Batched")
    def batched(labels, lengths, judged, grades):
        seen.append(len(labels))
        return my_rr.function(labels, lengths, judged, grades)

    scores = laneval.evaluate(qrels, run, [batched, "RR"], per_query=True)
    assert scores.per_query()["Batched"] == scores.per_query()["RR"]
    assert len(seen) > 1 and sum(seen) == 9000


def test_what_is_wrong_with_them():
    with pytest.raises(laneval.MeasureError, match="nDCG: laneval has a measure of this name"):
        laneval.measure(name="nDCG")(lambda *_: [])
    short = laneval.measure(name="Short")(lambda labels, *_: [0.0])
    with pytest.raises(laneval.UnanswerableError, match="Short: 1 values came back for 30 rankings"):
        laneval.evaluate(*made(1), short)
    nan = laneval.measure(name="Odd")(lambda labels, *_: [0.0] + [math.nan] * (len(labels) - 1))
    with pytest.raises(laneval.UnanswerableError, match="Odd: the value of query q1 is nan"):
        laneval.evaluate(*made(1), nan)
    high = laneval.measure(name="High", range=(0, 1))(lambda labels, *_: [2.0] * len(labels))
    with pytest.raises(laneval.UnanswerableError, match="High: the value of query q0 is 2.0: one from 0 to 1"):
        laneval.evaluate(*made(1), high)
    with pytest.raises(laneval.UnanswerableError, match="have no summary"):
        laneval.Summary.evaluate(made(1)[0], {"a": made(1)[1]}, [my_rr])


def test_what_no_measure_is_made_of():
    for options, message in [
        ({"average": "foo"}, "average is 'foo': 'mean', 'sum' or 'gmean' was expected"),
        ({"average": None}, "average is None: 'mean', 'sum' or 'gmean' was expected"),
        ({"better": "foo"}, "better is 'foo': 'higher', 'lower' or None was expected"),
        ({"better": True}, "better is True: 'higher', 'lower' or None was expected"),
    ]:
        with pytest.raises(laneval.OptionError) as raised:
            laneval.measure(**options)  # before there is a function
        assert str(raised.value) == message
    for make in (laneval.measure, laneval.measure(name="Five")):
        for of in (5, "Five"):
            with pytest.raises(TypeError, match=f"{of!r} of {type(of)}: a function of labels, lengths, judged and grades was expected"):
                make(of)
    for better in ("higher", "lower", None):
        assert laneval.measure(name="Good", better=better)(my_rr.function).better == better


def test_buffers_are_lent_to_be_read():
    def write(labels, *_):
        labels[0, 0] = 1
        return [0.0] * len(labels)

    with pytest.raises(ValueError, match="read-only"):
        laneval.evaluate(*made(1), laneval.measure(name="Write")(write))


def test_values_of_queries_are_a_stream_of_arrow_without_polars(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    qrels, run = made(11)
    values = laneval.evaluate(qrels, run, [my_rr, "RR"], per_query=True).per_query()
    monkeypatch.setitem(sys.modules, "polars", None)
    table = pa.table(values)
    assert table.column_names == ["query_id", "MyRR", "RR"]
    assert table["MyRR"].to_pylist() == values["RR"] and table["query_id"].to_pylist() == values.queries

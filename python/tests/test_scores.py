"""What scores are as Python objects."""

import pickle

import pytest

import laneval

from .conftest import made

pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")


@pytest.fixture
def scores() -> laneval.RunScores:
    return laneval.evaluate(*made(3), ["nDCG@10", "map"], per_query=True, stats=["median", "std", "min", "max", "ci95"])


def test_names(scores):
    assert list(scores) == ["nDCG@10", "AP"] and len(scores) == 2
    assert scores["ndcg_cut_10"] == scores["nDCG@10"] and "recip_rank" not in scores and 3 not in scores
    assert scores == dict(scores) and repr(scores).startswith("<run: nDCG@10: 0.")


def test_statistics_are_those_of_the_values(scores):
    np = pytest.importorskip("numpy")
    values = scores.per_query().to_numpy()
    assert values.shape == (30, 2)
    for at, stats in enumerate(scores.stats.values()):
        column = values[:, at]
        assert stats["mean"] == pytest.approx(column.mean(), abs=1e-15)
        assert stats["std"] == pytest.approx(column.std(ddof=1), abs=1e-15)
        assert stats["median"] == pytest.approx(np.median(column), abs=1e-15)
        assert (stats["min"], stats["max"]) == (column.min(), column.max())
        assert stats["ci95_low"] < stats["mean"] < stats["ci95_high"]


def test_values_of_queries_in_every_form(scores):
    values = scores.per_query()
    plain = values.to_dict()
    assert list(plain) == values.queries and len(values) == 30
    assert values["map"] == [of["AP"] for of in plain.values()]
    pd = pytest.importorskip("pandas")
    assert values.to_pandas().to_dict(orient="index") == plain
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame(values).rows_by_key("query_id", named=True, unique=True)
    assert rows == plain and values.to_polars().equals(pl.DataFrame(values))
    pa = pytest.importorskip("pyarrow")
    assert pa.table(values).to_pydict()["AP"] == values["AP"]
    assert pd.api.interchange is not None


def test_runs_in_every_form():
    qrels, run = made(3)
    scores = laneval.evaluate_runs(qrels, {"a": run, "b_<i>": made(4)[1]}, ["nDCG@10", "AP"])
    assert scores.to_pandas().loc["a", "AP"] == scores["a"]["AP"]
    assert scores.to_polars().columns == ["run", "nDCG@10", "AP"]
    latex = scores.to_latex()
    assert r"b\_<i>" in latex and latex.count(r"\\") == 3
    html = scores._repr_html_()
    assert "b_&lt;i&gt;" in html and html.count("<b>") == 2 and "30 queries" in html


def test_everything_is_pickled(scores):
    again = pickle.loads(pickle.dumps(scores))
    assert again == scores and again.stats == scores.stats and again.rule == scores.rule
    assert again.per_query().to_dict() == scores.per_query().to_dict()
    both = laneval.Scores([scores])
    assert pickle.loads(pickle.dumps(both)).to_dict() == both.to_dict()


def test_queries_that_are_no_text(tmp_path):
    qrels, run = tmp_path / "q", tmp_path / "r"
    qrels.write_bytes(b"q\xff 0 d 1\n")
    run.write_bytes(b"q\xff Q0 d 1 1 t\n")
    values = laneval.evaluate(qrels, run, "RR", per_query=True).per_query()
    assert values.queries == [b"q\xff".decode("utf-8", "surrogateescape")]
    pa = pytest.importorskip("pyarrow")
    assert pa.table(values)["query_id"].to_pylist() == [b"q\xff"]


def test_the_rule_says_how_rankings_were_made():
    rule = laneval.evaluate(*made(3), "RR", depth=5, ties="docno-asc", score_type="f32").rule
    assert rule == ("docno-asc", "f32", 5, False, None, "error", None, None)

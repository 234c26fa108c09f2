"""Pools: the command's numbers, evaluations with fewer judgments, and what they are as Python objects."""

import json
import pathlib
import subprocess
import sys

import pytest

import laneval

DEMO = pathlib.Path(__file__).parents[2] / "examples/data"
RUNS = {name: str(DEMO / f"demo-{name}.run") for name in ("bm25", "dense", "hybrid")}
QRELS = str(DEMO / "demo.qrels")
pytestmark = pytest.mark.filterwarnings("ignore::laneval.MissingQueriesWarning")


def read(path: str, doc: int, number: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in pathlib.Path(path).read_text().splitlines():
        fields = line.split()
        found.setdefault(fields[0], {})[fields[doc]] = float(fields[number])
    return found


def test_pools_are_those_of_the_command():
    words = [sys.executable, "-m", "laneval", "pools", QRELS, *(f"{name}={path}" for name, path in RUNS.items())]
    done = subprocess.run([*words, "--pool-depth", "7", "--format", "json", "--quiet"], capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    assert laneval.pools(QRELS, RUNS, pool_depth=7).to_dict() == json.loads(done.stdout)


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_run_left_out_has_the_value_of_fewer_judgments(in_memory):
    qrels, runs = read(QRELS, 2, 3), {name: read(path, 2, 4) for name, path in RUNS.items()}
    pools = laneval.pools(qrels, runs if in_memory else RUNS, ["AP", "nDCG@10"], pool_depth=10)

    def first(run):
        ranked = {query: sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)[:10] for query, docs in run.items()}
        return {(query, doc) for query, docs in ranked.items() for doc in docs if doc in qrels.get(query, {})}

    found = {name: first(run) for name, run in runs.items()}
    assert pools.pooled == len(set.union(*found.values()))
    for at, (name, docs) in enumerate(found.items()):
        unique = docs - set.union(*(other for of, other in found.items() if of != name))
        assert (pools.runs[at].judged, pools.runs[at].unique, pools.runs[at].removed) == (len(docs), len(unique), len(unique))
        left = {query: {doc: grade for doc, grade in of.items() if (query, doc) not in unique} for query, of in qrels.items()}
        without = laneval.evaluate_runs({query: of for query, of in left.items() if of}, runs, ["AP", "nDCG@10"])
        for of in pools.left_out:
            if of.run == name:
                assert of.without == without[name][of.measure]
                assert of.delta == of.without - of.value


def test_frames_have_a_row_for_each_run_and_measure():
    pools = laneval.pools(QRELS, RUNS, ["AP", "NumRel"])
    pandas = pytest.importorskip("pandas")
    frame = pools.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(laneval.LeaveOneOut._fields)
    assert frame["without"].tolist() == [of.without for of in pools.left_out]
    assert frame["rank"].isna().tolist() == [of.rank is None for of in pools.left_out] == [False, True] * 3
    polars = pytest.importorskip("polars")
    assert pools.to_polars().rows() == [tuple(of) for of in pools.left_out]
    assert pools.to_polars().schema["rank"] == polars.Int64


def test_teams_are_left_out_together(tmp_path):
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {"x-1": {"q": {"a": 2, "b": 1}}, "x-2": {"q": {"b": 2}}, "y-1": {"q": {"c": 1}}}
    alone, teams = (laneval.pools(qrels, runs, "AP", teams=end) for end in (None, "-"))
    assert [run.team for run in alone.runs] == [None] * 3
    assert [run.team for run in teams.runs] == ["x", "x", "y"]
    assert [run.removed for run in alone.runs] == [1, 0, 1]
    assert [run.removed for run in teams.runs] == [2, 2, 1]
    teams.save(tmp_path / "pools.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "pools.jsonl").read_text().splitlines()]
    assert {"run": "x-1", "measure": "", "stat": "removed", "value": 2.0} in rows
    assert repr(teams).startswith("3 runs, 1 query; ")


@pytest.mark.parametrize(
    ("error", "said", "wrong"),
    [
        (laneval.UnanswerableError, "two runs or more", {"runs": {"a": {"q": {"d": 1}}}}),
        (laneval.UnanswerableError, "the pool is empty", {"runs": {"a": {"q": {"e": 1}}, "b": {"q": {"f": 1}}}}),
        (laneval.UnanswerableError, "no judged query in common", {"runs": {"a": {"q": {"d": 1}}, "b": {"r": {"d": 1}}}}),
        (laneval.UnanswerableError, "puts no documents in an order", {"ties": "average"}),
        (laneval.UnanswerableError, "judgments by subtopic", {"measures": "StRecall@5"}),
        (laneval.UnanswerableError, "is a function of Python", {"measures": laneval.measure(lambda query: 1.0, name="one")}),
        (laneval.UnanswerableError, "all runs are of the team", {"teams": "z", "runs": {"az": {"q": {"d": 1}}, "azb": {"q": {"d": 1}}}}),
        (laneval.UnanswerableError, "teams is empty", {"teams": ""}),
        (TypeError, "teams is 1", {"teams": 1}),
        (TypeError, "pool_depth is 'deep': an int was expected", {"pool_depth": "deep"}),
        (ValueError, "pool_depth is 0: 1 or more was expected", {"pool_depth": 0}),
    ],
)
def test_what_is_no_pool_is_an_error(error, said, wrong):
    asked = {"qrels": {"q": {"d": 1}, "r": {"d": 1}}, "runs": {"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}}, "measures": "AP", **wrong}
    with pytest.raises(error, match=said):
        laneval.pools(**asked)


def test_missing_queries_are_warned_of():
    with pytest.warns(laneval.MissingQueriesWarning, match="b: 1 judged query"):
        laneval.pools({"q": {"d": 1}, "r": {"d": 1}}, {"a": {"q": {"d": 1}, "r": {"d": 1}}, "b": {"q": {"d": 1}}}, "AP")

"""The same judgments and runs in every form give the same scores."""

import pathlib

import pytest

import laneval

from .conftest import Judgments, Results, made

pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100", "Bpref"]


def qrels_text(qrels: Judgments) -> str:
    return "".join(f"{q} 0 {d} {g}\n" for q, of in qrels.items() for d, g in of.items())


def run_text(run: Results) -> str:
    return "".join(f"{q} Q0 {d} 0 {s!r} tag\n" for q, of in run.items() for d, s in of.items())


def triples(of: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    return [(q, d, v) for q, docs in of.items() for d, v in docs.items()]


def table(of: dict[str, dict[str, float]], value: str) -> dict[str, list[object]]:
    rows = triples(of)
    return {
        "query_id": [q for q, _, _ in rows],
        "doc_id": [d for _, d, _ in rows],
        value: [v for _, _, v in rows],
    }


def expected(data: tuple[Judgments, Results]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    scores = laneval.evaluate(*data, MEASURES, per_query=True)
    return dict(scores), scores.per_query().to_dict()


def check(data, qrels, run, **options) -> None:
    scores = laneval.evaluate(qrels, run, MEASURES, per_query=True, **options)
    assert (dict(scores), scores.per_query().to_dict()) == expected(data)


def test_pytrec_eval_gives_the_same(data):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = data
    names = {"AP": "map", "nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@10": "P_10", "R@100": "recall_100", "Bpref": "bpref"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.100", "bpref"}).evaluate(run)
    ours = laneval.evaluate(qrels, run, MEASURES, per_query=True, queries="both", score="f32").per_query().to_dict()
    assert ours == {q: {m: of[names[m]] for m in MEASURES} for q, of in sorted(theirs.items())}


def test_files_and_their_text(data, tmp_path: pathlib.Path):
    qrels, run = data
    q, r = tmp_path / "q.txt", tmp_path / "r.txt"
    q.write_text(qrels_text(qrels))
    r.write_text(run_text(run))
    check(data, q, r)
    check(data, str(q), str(r))
    check(data, qrels_text(qrels).encode(), run_text(run).encode())
    check(data, laneval.Qrels(q), run)


def test_tuples_and_generators(data):
    qrels, run = data
    check(data, triples(qrels), triples(run))
    check(data, iter(triples(qrels)), (row for row in triples(run)))
    check(data, {q: dict(of) for q, of in qrels.items()}, {q: Odd(of) for q, of in run.items()})


class Odd(dict):
    """A mapping that is no plain dict."""


@pytest.mark.parametrize("kind", ["pandas", "pandas category", "polars", "polars categorical", "pyarrow", "pyarrow chunks", "duckdb"])
def test_tables(data, kind):
    qrels, run = (table(data[0], "relevance"), table(data[1], "score"))
    if kind.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        q, r = pd.DataFrame(qrels), pd.DataFrame(run)
        if kind == "pandas category":
            r = r.astype({"query_id": "category", "doc_id": "category"})
    elif kind.startswith("polars"):
        pl = pytest.importorskip("polars")
        q, r = pl.DataFrame(qrels), pl.DataFrame(run)
        if kind == "polars categorical":
            r = r.cast({"query_id": pl.Categorical, "doc_id": pl.Categorical})
    else:
        pa = pytest.importorskip("pyarrow")
        q, r = pa.table(qrels), pa.table(run)
        if kind == "pyarrow chunks":
            half = len(r) // 2 + 3
            r = pa.concat_tables([r.slice(0, half), r.slice(half)])
        elif kind == "duckdb":
            duckdb = pytest.importorskip("duckdb")
            r = duckdb.sql("select * from r")
    check(data, q, r)


def test_pandas_without_pyarrow(data, monkeypatch):
    pd = pytest.importorskip("pandas")

    def no_stream(self, requested_schema=None):
        raise ImportError("pyarrow is not installed")

    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", no_stream)
    q, r = pd.DataFrame(table(data[0], "relevance")), pd.DataFrame(table(data[1], "score"))
    check(data, q, r)
    with pytest.raises(ValueError, match="no column is the query"):
        laneval.evaluate(q.rename(columns={"query_id": "x"}), r)
    with pytest.raises(laneval.InputError, match="run:1: the score of document"):
        laneval.evaluate(q, r.assign(score=float("nan")))


def test_columns_by_their_names(data):
    pa = pytest.importorskip("pyarrow")
    qrels, run = (table(data[0], "relevance"), table(data[1], "score"))
    other = pa.table({"a": run["query_id"], "b": run["doc_id"], "c": run["score"]})
    check(data, data[0], other, columns={"query": "a", "doc": "b", "score": "c"})
    beir = pa.table({"query-id": qrels["query_id"], "corpus-id": qrels["doc_id"], "score": qrels["relevance"]})
    check(data, beir, data[1])
    with pytest.raises(ValueError, match="no column is the query: there are 'a', 'b', 'c', and query_id, qid"):
        laneval.evaluate(data[0], other)
    with pytest.raises(ValueError, match="there is no column `x` for the doc: there are 'a', 'b', 'c'"):
        laneval.evaluate(data[0], other, columns={"query": "a", "doc": "x", "score": "c"})
    with pytest.raises(TypeError, match="'docs'"):
        laneval.evaluate(data[0], other, columns={"docs": "b"})


def test_integers_are_decimal_text():
    pa = pytest.importorskip("pyarrow")
    qrels = {"7": {"42": 1, "9": 0}}
    run = pa.table({"qid": pa.array([7, 7], pa.int32()), "docno": pa.array([9, 42], pa.uint16()), "score": [1.0, 0.5]})
    assert laneval.evaluate(qrels, run, "RR")["RR"] == 0.5
    assert laneval.evaluate({7: {42: 1, 9: 0}}, {7: {9: 1, 42: 0.5}}, "RR")["RR"] == 0.5


def test_ranks_decide_where_there_are_no_scores():
    pa = pytest.importorskip("pyarrow")
    run = pa.table({"qid": ["q", "q"], "pid": ["a", "b"], "rank": [2, 1]})
    assert laneval.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 1.0


def test_sliced_tables_are_read_where_they_begin(data):
    pa = pytest.importorskip("pyarrow")
    run = table(data[1], "score")
    padded = {name: [column[0], *column] for name, column in run.items()}
    check(data, data[0], pa.table(padded).slice(1))


def test_infinite_scores_are_scores():
    run = {"q": {"a": float("-inf"), "b": 0.0, "c": float("inf")}}
    assert laneval.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 0.5


def test_many_runs(data, tmp_path):
    qrels, run = data
    other = made(8)[1]
    scores = laneval.evaluate_runs(qrels, {"a": run, "b": other}, MEASURES)
    assert dict(scores["a"]) == expected(data)[0] and list(scores) == ["a", "b"]
    file = tmp_path / "b.run"
    file.write_text(run_text(other))
    mixed = laneval.evaluate_runs(qrels, {"a": run, "b": file}, MEASURES)
    assert mixed.to_dict() == scores.to_dict()
    named = laneval.evaluate_runs(qrels, [file], MEASURES)
    assert named.to_dict() == {"b.run": scores.to_dict()["b"]}


def test_ties():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    of = lambda ties: laneval.evaluate(qrels, run, "RR", ties=ties)["RR"]  # noqa: E731
    assert [of(t) for t in ("docno-desc", "docno-asc", "input", "average", "best", "worst")] == [0.5, 1, 1, 0.75, 1, 0.5]


def test_a_matrix_is_made_once(data, tmp_path):
    qrels, run = data
    matrix = laneval.Matrix.build(qrels, {"run": run})
    assert dict(matrix.evaluate(MEASURES)["run"]) == expected(data)[0]
    assert matrix.runs == ["run"] and matrix.queries == sorted(qrels)
    file = tmp_path / "m.lmx"
    matrix.write(file)
    again = laneval.Matrix.open(file)
    assert again.evaluate(MEASURES).to_dict() == matrix.evaluate(MEASURES).to_dict()
    assert again.fingerprint == laneval.Qrels(qrels).fingerprint


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_threads_change_nothing(data, threads, monkeypatch):
    if threads:
        monkeypatch.setenv("LANEVAL_THREADS", str(threads))
    check(data, *data)
    if threads:
        check(data, *data, threads=threads)

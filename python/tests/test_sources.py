"""The same judgments and runs in every form give the same scores."""

import fractions
import math
import pathlib
import pickle
import re
import typing

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
    ours = laneval.evaluate(qrels, run, MEASURES, per_query=True, queries="common", score_type="f32").per_query().to_dict()
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


def test_datasets_of_pyarrow(data, tmp_path):
    pa, dataset = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    qrels, run = pa.table(table(data[0], "relevance")), pa.table(table(data[1], "score"))
    dataset.write_dataset(run, tmp_path / "run", format="parquet")
    stored, memory = dataset.dataset(tmp_path / "run"), dataset.dataset(qrels)
    check(data, memory, stored)
    check(data, memory.scanner(), dataset.dataset([stored]))


@pytest.mark.parametrize("names", [(None, None), ("query_id", "doc_id"), ("someone", "something"), ("doc_id", "query_id")])
def test_series_of_pandas(data, names):
    pd = pytest.importorskip("pandas")
    turned = names[0] == "doc_id"

    def series(of):
        keys = [(d, q) if turned else (q, d) for q, d, _ in triples(of)]
        return pd.Series([v for _, _, v in triples(of)], pd.MultiIndex.from_tuples(keys, names=names))

    check(data, series(data[0]), series(data[1]))
    with pytest.raises(TypeError, match="run is of .*Series'>: an index of two levels, queries and documents, was expected"):
        laneval.evaluate(data[0], pd.Series({"a": 1.0}))
    with pytest.raises(ValueError, match="run: no column is the query: there are 'x', 'doc_id', 'score'"):
        laneval.evaluate(data[0], series(data[1]).rename_axis(["x", "doc_id"]))


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


def test_infinite_scores_are_scores(tmp_path):
    run = {"q": {"a": float("-inf"), "b": 0.0, "c": float("inf")}}
    assert laneval.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 0.5
    file = tmp_path / "run"
    file.write_text("q Q0 a 1 -inf t\nq Q0 b 2 0 t\nq Q0 c 3 inf t\n")
    assert laneval.evaluate({"q": {"b": 1}}, file, "RR")["RR"] == 0.5


def test_words_have_grades(tmp_path):
    file = tmp_path / "qrels.csv"
    file.write_text("query,doc,label\nq,a,E\nq,b,I\n")
    columns = {"grade": "label"}
    qrels = laneval.Qrels(file, columns=columns, grade_words={"E": 3, "I": 0})
    assert qrels.grades == [0.0, 3.0]
    run = {"q": {"a": 1.0}}
    assert laneval.evaluate(file, run, "RR", columns=columns, grade_words={"E": 1, "I": 0})["RR"] == 1.0
    with pytest.raises(laneval.InputError, match="grade 'I' is not a number, and no word of E=3"):
        laneval.Qrels(file, columns=columns, grade_words={"E": 3})
    for wrong in ({"E": "3"}, {"a,b": 1}, ["E"]):
        with pytest.raises(TypeError, match="grade_words"):
            laneval.Qrels(file, grade_words=wrong)
    with pytest.raises(laneval.OptionError, match="grade_words changes nothing"):
        laneval.Qrels({"q": {"a": 1}}, grade_words={"E": 3})


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


def test_a_system_that_finds_nothing_scores_0():
    for nothing in ({}, {"q1": {}}, [], [("q1", "d", 1.0)][:0]):
        with pytest.warns(laneval.MissingQueriesWarning):
            scores = laneval.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, nothing, ["AP", "P@5"])
        assert (scores["AP"], scores["P@5"], scores.queries) == (0.0, 0.0, 2)
    with pytest.raises(laneval.InputError, match="there is no judgment in it"):
        laneval.Qrels({})


def test_an_integer_is_the_text_of_its_digits():
    same = [([[1]], [["1"]]), ([["1"]], [[1]]), ([{7: 2}], [[b"7"]]), ([[2**70]], [[str(2**70)]]), ([["-3"]], [[-3]])]
    for relevant, retrieved in same:
        assert laneval.evaluate_ids(relevant, retrieved, "RR")["RR"] == 1.0, (relevant, retrieved)
    for relevant, retrieved in [([["01"]], [[1]]), ([["+1"]], [[1]]), ([["1 "]], [[1]]), ([["-0"]], [[0]])]:
        assert laneval.evaluate_ids(relevant, retrieved, "RR")["RR"] == 0.0, (relevant, retrieved)


def test_truth_values_and_decimals_are_numbers():
    pa = pytest.importorskip("pyarrow")
    from decimal import Decimal

    rows = {"qid": ["q1", "q1", "q1"], "docno": ["a", "b", "c"]}
    judged = pa.table({**rows, "grade": [True, False, True]})
    for kind in (pa.decimal32(5, 2), pa.decimal64(9, 2), pa.decimal128(20, 2), pa.decimal256(40, 2)):
        scores = pa.array([Decimal("1.50"), Decimal("-0.25"), Decimal("2.75")], kind)
        ranked = pa.table({**rows, "score": scores})
        expected = {"q1": {"a": 1.5, "b": -0.25, "c": 2.75}}
        of = [laneval.evaluate(judged, run, ["AP", "nDCG"], per_query=True).per_query().to_dict() for run in (ranked, expected)]
        assert of[0] == of[1] and of[0]["q1"]["AP"] == 1.0


class Named(typing.NamedTuple):
    query: str
    doc: str
    value: float


class Subclass(str):
    pass


ODD = [
    lambda query, doc, value: [query, doc, value],
    lambda query, doc, value: Named(query, doc, value),
    lambda query, doc, value: (Subclass(query), doc.encode(), value),
    lambda query, doc, value: (query, doc, int(value)),
    lambda query, doc, value: (query, doc, fractions.Fraction(int(value))),
    lambda query, doc, value: {"query": query, "doc": doc, "score": value},
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 5, 31, 32, 40, 95, 99])
def test_lists_of_any_length_with_any_item_in_them(place, odd):
    """Items are looked at some at a time, and plain ones by a way of their own."""
    qrels = {f"q{query}": {f"d{doc}": doc % 3 for doc in range(0, 20, 2)} for query in range(6)}
    for count in (0, 1, 31, 32, 33, 64, 100):
        rows = [(f"q{at // 20}", f"d{at % 20}", float(at * 37 % 100)) for at in range(count)]
        plain: dict[str, dict[str, float]] = {}
        for query, doc, value in rows:
            plain.setdefault(query, {})[doc] = value
        if place < count:
            rows[place] = odd(*rows[place])
        found, expected = (laneval.evaluate(qrels, run, ["AP", "num_ret"], per_query=True) for run in (rows, plain))
        assert found.per_query().to_dict() == expected.per_query().to_dict()


@pytest.mark.parametrize("place", [0, 31, 32, 77])
def test_what_is_wrong_in_a_list_is_said_with_its_row(place):
    qrels = [(f"q{at // 20}", f"d{at % 20}", at % 2) for at in range(100)]
    of = qrels[place]
    for wrong, error, said in [
        ((of[0], of[1], math.nan), laneval.InputError, f"qrels:{place + 1}: the grade of document '{of[1]}' of query '{of[0]}' is not a number"),
        ((of[0], of[1], 10**400), laneval.InputError, f"qrels:{place + 1}: the grade of document '{of[1]}' of query '{of[0]}' is 1000"),
        (of[:2], laneval.InputError, f"qrels:{place + 1}: ('q"),
        (of + (1,), laneval.InputError, f"qrels:{place + 1}: ('q"),
        ((of[0], None, 1), TypeError, "the id None of a document"),
        ((of[0], "\ud800", 1), UnicodeEncodeError, "surrogates"),
        (("q0", "d1", 3) if place > 1 else ("q2", "d0", 7), laneval.InputError, "here, but grade"),
    ]:
        with pytest.raises(error, match=re.escape(said)):
            laneval.Qrels([*qrels[:place], wrong, *qrels[place + 1 :]])


def test_a_list_that_changes_while_it_is_looked_at():
    rows: list[object] = [("q1", f"d{at}", float(at)) for at in range(100)]

    class Clears:
        def __index__(self):
            rows.clear()
            rows.extend(("q1", f"e{at}", 0.5) for at in range(70))
            return 40

    rows[40] = ("q1", Clears(), 1.0)
    found = laneval.evaluate({"q1": {"d0": 1}}, rows, ["num_ret"])
    # The first 64 were held, and six of the new ones are behind them.
    assert found["num_ret"] == 70


def test_records_and_lazy_frames_are_read():
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 2}}
    run = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 0.5}}
    expected = dict(laneval.evaluate(qrels, run, ["RR", "nDCG"]))
    records = [{"query_id": q, "doc_id": d, "score": s, "text": "…"} for q, docs in run.items() for d, s in docs.items()]
    judged = [{"query": q, "doc": d, "relevance": g} for q, docs in qrels.items() for d, g in docs.items()]
    assert dict(laneval.evaluate(judged, records, ["RR", "nDCG"])) == expected
    named = [{"q": of["query_id"], "pid": of["doc_id"], "s": of["score"]} for of in records]
    assert dict(laneval.evaluate(qrels, named, ["RR", "nDCG"], columns={"query": "q", "doc": "pid", "score": "s"})) == expected
    with pytest.raises(laneval.InputError, match="run:2: .* was found, which has no 'doc_id'"):
        laneval.evaluate(qrels, [records[0], {"query_id": "q2", "score": 1.0}])
    pl = pytest.importorskip("polars")
    assert dict(laneval.evaluate(pl.LazyFrame(judged), pl.LazyFrame(records), ["RR", "nDCG"])) == expected


def test_judgments_and_matrices_pickle():
    grouped = [("q1", "ann", "d1", 1), ("q1", "bob", "d1", 0), ("q2", "ann", "d2", 2)]
    preferences = [("q1", "g1", "d1", 2), ("q1", "g1", "d2", 1), ("q2", "g1", "d1", 1), ("q2", "g1", "d3", 2)]
    many = {"q1": {f"d{n}": n / 8 for n in range(400)}, "q 2": {"x y": 1}}
    run = {"q1": {"d1": 0.5, "d2": 0.25, "d7": 1.5}, "q2": {"d1": 0.1, "d2": 0.2, "d3": 0.3}}
    for judged, measures, options in [
        ({"q1": {"d1": 2, "d2": -1}, "q2": {"d1": 0}}, ["nDCG", "Bpref", "Unjudged@2"], {}),
        ({"q1": {"d1": 2, "d2": -2}, "q2": {"d1": 1}}, ["AP"], {"dialect": "trec10"}),
        (many, ["nDCG", "AP(rel=10)"], {}),
        (grouped, ["AP(judges=mean)", "map_avgjg"], {"facet": "judge"}),
        (preferences, ["prefs_simp"], {"facet": "preference"}),
    ]:
        qrels = laneval.Qrels(judged, **options)
        again = pickle.loads(pickle.dumps(qrels))
        assert (again.fingerprint, again.queries, again.grades) == (qrels.fingerprint, qrels.queries, qrels.grades)
        asked = {"queries": "common", "per_query": True, **{k: v for k, v in options.items() if k == "dialect"}}
        values = [laneval.evaluate(of, run, measures, **asked).per_query().to_dict() for of in (qrels, again)]
        assert values[0] == values[1] and values[0]
        asked = {word: of for word, of in asked.items() if word not in ("per_query", "queries")}
        matrix = laneval.Matrix.build(qrels, {"mine": run}, **asked)
        copied = pickle.loads(pickle.dumps(matrix))
        assert copied.evaluate(measures, queries="common").to_dict() == matrix.evaluate(measures, queries="common").to_dict()
    for damaged in (b"", b"others", qrels.to_bytes()[:-3], qrels.to_bytes()[:30], qrels.to_bytes().replace(b"\x01", b"\x02", 1)):
        with pytest.raises(laneval.InputError, match="these bytes "):
            laneval.Qrels.from_bytes(damaged)
    with pytest.raises(laneval.MatrixError):
        laneval.Matrix.from_bytes(matrix.to_bytes()[:-1])


def test_columns_of_polars_without_a_type():
    pl = pytest.importorskip("polars")
    columns = {"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0], "text": [None], "tags": [[None]], "large": [2**100]}
    frame = pl.DataFrame(columns, schema_overrides={"large": pl.Int128})
    for run in (frame, frame.lazy()):
        assert laneval.evaluate({"q1": {"d1": 1}}, run, "RR")["RR"] == 1.0
    in_order = laneval.evaluate({"q1": {"d1": 1}}, frame.select("text", "query_id", "doc_id", "score"), "RR", columns=[None, "query", "doc", "score"])
    assert in_order["RR"] == 1.0
    nothing = pl.DataFrame({"query_id": [], "doc_id": [], "score": []})
    with pytest.warns(laneval.MissingQueriesWarning):
        assert laneval.evaluate({"q1": {"d1": 1}}, nothing, "RR")["RR"] == 0.0
    with pytest.raises(laneval.InputError, match="null"):
        laneval.evaluate({"q1": {"d1": 1}}, frame.with_columns(score=pl.lit(None)), "RR")


def test_judgments_that_changed_on_their_way_are_refused():
    data = laneval.Qrels({f"q{at}": {"d1": 1, "d2": 0} for at in range(4)}).to_bytes()
    assert laneval.Qrels.from_bytes(data).queries == ["q0", "q1", "q2", "q3"]
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        with pytest.raises(laneval.InputError, match="these bytes"):
            laneval.Qrels.from_bytes(bytes(damaged))
    for end in range(len(data)):
        with pytest.raises(laneval.InputError, match="these bytes"):
            laneval.Qrels.from_bytes(data[:end])

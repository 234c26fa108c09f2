"""laneval.compat.ranx against ranx, on data without equal scores."""

import gzip
import json
import os
import random
import sys
import types

import numba.typed
import numpy
import pandas
import pytest
import ranx

import laneval.compat.ranx as swap

# ranx casts carelessly, and leaves files open.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

METRICS = (
    "hits hits@5 hit_rate hit_rate@3 precision precision@10 precision@50 recall recall@10 recall-l2 f1 f1@5 r-precision r-precision-l2 "
    "mrr mrr@10 mrr-l2 map map@10 map@10-l2 dcg dcg@5 dcg_burges dcg_burges@7 ndcg ndcg@10 ndcg@10-l2 ndcg_burges@10-l2 rbp.95 rbp.5 "
    "rbp.8-l2 rbp@9"
).split()


def made(seed: int):
    draw = random.Random(seed)
    docs = [f"d{i}" for i in range(60)]
    queries = [f"q_{i}" for i in range(15)]
    qrels = {query: {doc: draw.choice([0, 0, 1, 2, 3]) for doc in draw.sample(docs, 20)} for query in draw.sample(queries, 15)}
    run = {query: {doc: draw.random() for doc in draw.sample(docs, draw.randint(1, 30))} for query in draw.sample(queries, 15)}
    return qrels, run


@pytest.mark.parametrize("seed", range(3))
def test_values(seed):
    qrels, run = made(seed)
    theirs_run, ours_run = ranx.Run(run, name="a"), swap.Run(run, name="a")
    theirs = ranx.evaluate(ranx.Qrels(qrels), theirs_run, METRICS)
    ours = swap.evaluate(swap.Qrels(qrels), ours_run, METRICS)
    assert list(ours) == list(theirs) == METRICS
    for metric in METRICS:
        assert ours[metric] == pytest.approx(theirs[metric], rel=1e-12, abs=1e-15), metric
        assert ours_run.mean_scores[metric] == ours[metric]
        assert list(ours_run.scores[metric]) == list(theirs_run.scores[metric])
        assert ours_run.scores[metric] == pytest.approx(dict(theirs_run.scores[metric]), rel=1e-12, abs=1e-15), metric


def test_bpref_where_no_grade_is_negative():
    qrels, run = made(9)
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref")
    assert swap.evaluate(swap.Qrels(qrels), swap.Run(run), "bpref") == pytest.approx(theirs, rel=1e-12)


def test_return_types():
    qrels, run = made(4)
    both = [(ranx, ranx.Qrels(qrels), ranx.Run(run)), (swap, swap.Qrels(qrels), swap.Run(run))]
    one, several, single, arrays, array, stds = (
        [module.evaluate(judged, found, *arguments, **keywords) for module, judged, found in both]
        for arguments, keywords in [
            (("map",), {}),
            ((["map", "mrr"],), {}),
            ((["map"],), {}),
            ((["map", "mrr"],), {"return_mean": False}),
            (("map",), {"return_mean": False}),
            ((["map", "mrr"],), {"return_std": True}),
        ]
    )
    assert isinstance(one[0], float) and type(one[1]) is float
    assert type(single[1]) is float and single[1] == one[1]
    assert one[1] == pytest.approx(one[0], rel=1e-12)
    assert several[1] == pytest.approx(several[0], rel=1e-12)
    for theirs, ours in [(array[0], array[1]), (arrays[0]["mrr"], arrays[1]["mrr"])]:
        assert type(ours) is numpy.ndarray and ours.dtype == theirs.dtype
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    assert list(stds[1]["map"]) == list(stds[0]["map"]) == ["mean", "std"]
    for metric in ("map", "mrr"):
        assert stds[1][metric] == pytest.approx(stds[0][metric], rel=1e-12)
        assert both[1][2].std_scores[metric] == pytest.approx(both[0][2].std_scores[metric], rel=1e-12)


def test_dicts_are_matched_by_query():
    qrels, run = made(6)
    assert list(qrels) != list(run)
    expected = swap.evaluate(swap.Qrels(qrels), swap.Run(run), "ndcg@10")
    assert swap.evaluate(qrels, run, "ndcg@10") == pytest.approx(expected, rel=1e-14)
    run = {query: run[query] for query in qrels}
    assert swap.evaluate(qrels, run, "ndcg@10") == pytest.approx(ranx.evaluate(qrels, run, "ndcg@10"), rel=1e-12)


def test_nothing_is_kept_unless_wanted():
    qrels, run = made(6)
    found = swap.Run(run)
    swap.evaluate(swap.Qrels(qrels), found, "map", save_results_in_run=False)
    assert not found.scores and not found.mean_scores and not found.std_scores


def test_queries_that_differ():
    qrels, run = made(7)
    missing = next(iter(run))
    del run[missing]
    run["elsewhere"] = {"d1": 0.5}
    for module in (ranx, swap):
        with pytest.raises(AssertionError, match="query ids do not match. Pass `make_comparable=True`"):
            module.evaluate(module.Qrels(qrels), module.Run(run), "map")
    theirs_run, ours_run = ranx.Run(run), swap.Run(run)
    theirs = ranx.evaluate(ranx.Qrels(qrels), theirs_run, ["map", "ndcg@5"], make_comparable=True)
    ours = swap.evaluate(swap.Qrels(qrels), ours_run, ["map", "ndcg@5"], make_comparable=True, threads=1)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert ours_run.get_query_ids() == theirs_run.get_query_ids()
    assert ours_run.scores["map"][missing] == 0.0


def test_wrong_metrics():
    qrels, run = made(1)
    for module in (ranx, swap):
        judged, found = module.Qrels(qrels), module.Run(run)
        with pytest.raises(AssertionError, match="Metrics error"):
            module.evaluate(judged, found, ["map", 3])
        with pytest.raises(ValueError, match="Metric foo not supported"):
            module.evaluate(judged, found, "foo")
        with pytest.raises(ValueError, match="persistence"):
            module.evaluate(judged, found, "rbp")
        with pytest.raises(ValueError):
            module.evaluate(judged, found, "map@x")


def same(ours, theirs):
    assert ours.get_query_ids() == theirs.get_query_ids()
    assert len(ours) == len(theirs) == ours.size == theirs.size
    for query in theirs.get_query_ids():
        assert ours[query] == theirs[query]
        assert list(ours[query].values()) == list(theirs[query].values())
    assert ours.to_dict() == theirs.to_dict()
    frames = [table.to_dataframe().sort_values(["q_id", "doc_id"], ignore_index=True) for table in (ours, theirs)]
    pandas.testing.assert_frame_equal(*frames)


def test_tables_that_grow():
    for kind, scores in [("Qrels", [[1, 3], [2]]), ("Run", [[0.1, 0.3], [0.2]])]:
        tables = []
        for module in (swap, ranx):
            table = getattr(module, kind)()
            assert table.name is None
            table.add_multi(["q2", "q1"], [["a", "b"], ["c"]], scores)
            table.add("q3", ["d"], scores[1])
            table.add_score("q1", "z", 7)
            table.add_score("q0", "z", 7)
            getattr(table, "sort", lambda: None)()
            tables.append(table)
        same(*tables)


def test_relevance_levels():
    qrels, run = made(2)
    values = []
    for module in (ranx, swap):
        judged = module.Qrels(qrels)
        judged.set_relevance_level(2)
        values.append(module.evaluate(judged, module.Run(run), ["map", "ndcg"]))
    assert values[1] == pytest.approx(values[0], rel=1e-12)


def test_files(tmp_path):
    qrels, run = made(3)
    for kind, rows in [("Qrels", qrels), ("Run", run)]:
        for ending in ("json", "trec", "txt", "parquet"):
            path = str(tmp_path / f"{kind}.{ending}")
            ours, theirs = getattr(swap, kind), getattr(ranx, kind)
            ours(rows, name="tag").save(path)
            read = "from_parquet" if ending == "parquet" else "from_file"
            table = getattr(ours, read)(path)
            assert table.to_dict() == {query: docs for query, docs in rows.items()}
            if ending != "parquet":  # there only types of older pandas are taken
                same(table, theirs.from_file(path))
            if kind == "Run" and ending in ("trec", "txt"):
                assert table.name == theirs.from_file(path).name == "tag"
        with pytest.raises(AssertionError, match="Error `kind`"):
            getattr(swap, kind).from_file(str(tmp_path / "what.bin"))


def test_frames():
    qrels, run = made(3)
    judged, found = swap.Qrels(qrels).to_dataframe(), swap.Run(run).to_dataframe()
    assert swap.Qrels.from_df(judged).to_dict() == qrels
    renamed = found.rename(columns={"q_id": "query"})
    assert swap.Run.from_df(renamed, q_id_col="query", name="x").to_dict() == run
    for frame, message in [
        (judged.assign(q_id=1), "Query IDs column dtype must be `object`"),
        (judged.assign(doc_id=1), "Document IDs column dtype must be `object`"),
        (judged.assign(score=0.5), "scores column dtype must be `int`"),
    ]:
        for module in (swap, ranx):
            with pytest.raises(AssertionError, match=message if module is swap else None):
                module.Qrels.from_df(frame)
    with pytest.raises(AssertionError, match="scores column dtype must be `float`"):
        swap.Run.from_df(found.assign(score=1))


# Arrays, and lists of Numba.


def made_arrays(seed: int, judged: int | None = None, ranked: int | None = None):
    """Rows (document, number) of each query: as many as are asked for, or as it happens. Judgments are in no order."""
    draw = numpy.random.default_rng(seed)
    qrels, run = [], []
    for _ in range(12):
        docs = draw.permutation(60)[: judged or draw.integers(1, 30)]
        qrels.append(numpy.stack([docs, draw.integers(0, 4, len(docs))], axis=1))
        docs = draw.permutation(60)[: ranked or draw.integers(0, 40)]
        run.append(numpy.stack([docs, draw.permutation(len(docs))], axis=1).astype(float))
    return qrels, run


def same_values(ours, theirs):
    assert list(ours) == list(theirs)
    for metric in theirs:
        numpy.testing.assert_allclose(ours[metric], theirs[metric], rtol=1e-11, atol=1e-14, err_msg=metric)


@pytest.mark.parametrize("seed", range(3))
def test_arrays_and_typed_lists(seed):
    cube = [numpy.stack(of) for of in made_arrays(seed, 20, 25)]
    same_values(swap.evaluate(*cube, METRICS), ranx.evaluate(*cube, METRICS))
    lists = made_arrays(seed)
    typed = [numba.typed.List(of) for of in lists]
    theirs = ranx.evaluate(*typed, METRICS, return_mean=False)
    same_values(swap.evaluate(*typed, METRICS, return_mean=False), theirs)
    same_values(swap.evaluate(*lists, METRICS, return_mean=False, threads=1), theirs)
    stds = swap.evaluate(*typed, ["map", "mrr"], return_std=True)
    assert stds["map"] == pytest.approx(ranx.evaluate(*typed, ["map", "mrr"], return_std=True)["map"], rel=1e-11)
    assert type(swap.evaluate(*lists, "map")) is float


def test_the_order_of_arrays_is_the_ranking():
    qrels, run = numpy.array([[[3, 1], [5, 2]]]), numpy.array([[[4, 0.1], [5, 0.2], [3, 0.9]]])
    assert swap.evaluate(qrels, run, "mrr") == 0.5
    for metric in ("ndcg", "ndcg_burges@1", "ndcg-l2"):
        assert swap.evaluate(qrels, run, metric) == pytest.approx(ranx.evaluate(qrels, run, metric), rel=1e-12)


def test_documents_that_come_again_in_arrays():
    qrels, run = made_arrays(8, 20, 25)
    qrels = [numpy.concatenate([of, of[:7] * [1, 0] + [0, 2], [[99, 0]]]) for of in qrels]
    run = [numpy.concatenate([of, [[-1, 0], [-1, 0], [99, 0], [99, 0]]]) for of in run]
    typed = [numba.typed.List(of) for of in (qrels, run)]
    same_values(swap.evaluate(qrels, run, METRICS, return_mean=False), ranx.evaluate(*typed, METRICS, return_mean=False))
    assert 0.0 <= swap.evaluate(qrels, run, "bpref") <= 1.0
    with pytest.raises(ValueError, match=r"^run\[1\] has the relevant document 7 twice: once was expected$"):
        swap.evaluate([[[7, 0]], [[7, 1]]], [[[7, 1], [7, 1]], [[7, 1], [7, 1]]], "map")


def test_bpref_of_arrays():
    qrels, run = made_arrays(5, 30, 30)
    typed = [numba.typed.List(of) for of in (qrels, run)]
    metrics = ["bpref", "bpref-l2"]
    same_values(swap.evaluate(qrels, run, metrics, return_mean=False), ranx.evaluate(*typed, metrics, return_mean=False))


def test_arrays_without_anything():
    nothing = [numpy.zeros((0, 2)), []]
    assert set(swap.evaluate(nothing, nothing, [*METRICS, "bpref"]).values()) == {0.0}
    assert list(swap.evaluate([], [], "map", return_mean=False)) == []


def test_arrays_of_tables():
    qrels, run = made(5)
    for kind, rows in [("Qrels", qrels), ("Run", run)]:
        ours, theirs = getattr(swap, kind)(rows).to_typed_list(), getattr(ranx, kind)(rows).to_typed_list()
        assert type(ours) is list and len(ours) == len(theirs)
        for one, two in zip(ours, theirs, strict=True):
            assert one.dtype == two.dtype and one.shape == two.shape
            assert set(map(tuple, one)) == set(map(tuple, two)) and list(one[:, 1]) == list(two[:, 1])
    theirs_run, ours_run = ranx.Run(run), swap.Run(run)
    theirs = ranx.evaluate(ranx.Qrels(qrels).to_typed_list(), theirs_run, METRICS)
    same_values(swap.evaluate(ranx.Qrels(qrels).to_typed_list(), ours_run, METRICS), theirs)
    assert ours_run.scores["map"] == pytest.approx(dict(theirs_run.scores["map"]), rel=1e-12)
    same_values(swap.evaluate(swap.Qrels(qrels), swap.Run(run).to_typed_list(), METRICS), theirs)
    same_values(swap.evaluate(swap.Qrels(qrels).to_typed_list(), dict(sorted(run.items())), METRICS), theirs)


def test_wrong_arrays():
    row = numpy.ones((2, 3, 2))
    for qrels, run, error, message in [
        (row, row[:1], ValueError, "qrels have 2 queries, and run 1: the same number was expected"),
        (row, row[0], ValueError, "run[0] is of float64 and of the shape (2,): numbers of the shape (documents, 2) were expected"),
        ([[["d", "1"]]], row, ValueError, "qrels[0] is of <U1 and of the shape (1, 2): numbers of the shape (documents, 2) were expected"),
        ("qrels.txt", row, TypeError, "qrels is of <class 'str'>: Qrels of this module, a dict of dicts, or arrays were expected"),
        ({}, 7, TypeError, "run is of <class 'int'>: Run of this module, a dict of dicts, or arrays were expected"),
    ]:
        with pytest.raises(error) as raised:
            swap.evaluate(qrels, run, "map")
        assert str(raised.value) == message
    for metric in ("foo", "map@0", "map-lx"):
        with pytest.raises(ValueError, match="not supported"):
            swap.evaluate(row, row, metric)


# Names.


def test_rows_are_in_order_only_once_sorted():
    for kind in ("Qrels", "Run"):
        ours, theirs = getattr(swap, kind)(), getattr(ranx, kind)()
        for table in (ours, theirs):
            assert table.sorted is False
            for query, doc, number in [("q2", "d1", 1), ("q1", "d1", 1), ("q1", "d2", 2), ("q1", "d1", 3)]:
                table.add_score(query, doc, number)
            assert table.sorted is False
        assert ours.get_query_ids() == theirs.get_query_ids() == ["q2", "q1"]
        for table in (ours, theirs):
            table.sort()
            assert table.sorted is True
        assert ours.get_query_ids() == theirs.get_query_ids() == ["q1", "q2"]
        assert list(ours["q1"].items()) == list(theirs["q1"].items()) == [("d1", 3), ("d2", 2)]
        for table in (ours, theirs):
            table.add_score("q0", "d", 1)
            table.add("q00", ["a", "b"], [1, 2])
            assert table.sorted is True and table.get_query_ids() == ["q0", "q00", "q1", "q2"]
    judged, found = swap.Qrels({"b": {"x": 1}}), swap.Run({"b": {"x": 1.0}})
    judged.add_score("a", "x", 1)
    found.make_comparable(judged)
    assert found.sorted is True and found.get_query_ids() == ["a", "b"]


def test_rows_are_as_if_they_had_been_put_in_order_at_once():
    """They are when they are looked at, which nothing shows: not what came in between, nor what becomes of the dict that they are from."""
    rows = {"q2": {"a": 1, "b": 3, "c": 2, "d": 3}, "q1": {"a": 0, "b": 5}}
    ordered = {"q1": {"b": 5, "a": 0}, "q2": {"b": 3, "d": 3, "c": 2, "a": 1}}
    for kind in (swap.Qrels, swap.Run):
        source = {query: dict(docs) for query, docs in rows.items()}
        made = [kind(source) for _ in range(7)]
        keys = made[0].keys()
        source["q3"], source["q1"]["b"] = {"a": 1}, 9
        made[0].add_score("q1", "c", 7)
        made[1].add("q0", ["a", "b"], [1, 2])
        made[2].add_score("q1", "c", 7)
        made[2].sort()
        swap.evaluate(swap.Qrels({"q1": {"a": 1}, "q2": {"a": 1}}), made[3], "mrr") if kind is swap.Run else made[3].sort()
        expected = [
            {**ordered, "q1": {"b": 5, "a": 0, "c": 7}},
            {"q0": {"b": 2, "a": 1}, **ordered},
            {**ordered, "q1": {"c": 7, "b": 5, "a": 0}},
            *[ordered] * 4,
        ]
        assert [table.sorted for table in made] == [False, *[True] * 6]
        assert list(keys) == ["q1", "q2"]
        for table, of in zip(made, expected, strict=True):
            assert table.get_query_ids() == list(of) and table.size == len(table) == len(of)
        assert json.dumps(made[4].to_dict()) == repr(made[5]).replace("'", '"') == json.dumps(getattr(made[6], kind.__name__.lower()))
        for table, of in zip(made, expected, strict=True):
            assert [list(docs.items()) for docs in table.get_doc_ids_and_scores()] == [list(docs.items()) for docs in of.values()]
            assert all(list(table[query].items()) == list(docs.items()) for query, docs in of.items())


def test_rows_can_be_set():
    judged, found = swap.Qrels(), swap.Run()
    judged.qrels, found.run = {"q": {"a": 0, "b": 1}}, {"q": {"a": 0.5, "b": 0.7}}
    assert swap.evaluate(judged, found, "mrr") == 1.0 and list(found.run["q"]) == ["b", "a"]


def test_what_is_not_here_says_so():
    assert set(ranx.__all__) <= set(swap.__all__)
    for name in ("fuse", "normalize", "optimize_fusion", "plot"):
        with pytest.raises(NotImplementedError) as raised:
            getattr(swap, name)([swap.Run()], norm="min-max")
        assert str(raised.value) == f"laneval.compat.ranx has no {name}: it evaluates and compares only"
    with pytest.raises(NotImplementedError, match="^laneval.compat.ranx has no Run.from_ranxhub: it downloads nothing$"):
        swap.Run.from_ranxhub("some/run")


def test_every_name_of_the_classes_is_here():
    qrels, runs = some_runs(1, ranx, 2)
    for kind, theirs in [(swap.Qrels, qrels), (swap.Run, runs[0]), (swap.Report, ranx.compare(qrels, runs, "map"))]:
        assert not [name for name in dir(type(theirs)) if not name.startswith("_") and not hasattr(kind, name)]


def test_parts_of_reports():
    theirs, ours = (module.compare(*some_runs(1, module), COMPARED, max_p=0.05) for module in (ranx, swap))
    for metric in [*COMPARED, "ndcg_burges@10-l2", "rbp.95", "hit_rate-l2"]:
        assert ours.get_metric_label(metric) == theirs.get_metric_label(metric)
    for test in ("fisher", "student", "tukey"):
        assert ours.get_stat_test_label(test) == theirs.get_stat_test_label(test)
    assert ours.format_score(0.12345) == theirs.format_score(0.12345) == "0.123"
    for part in ("get_superscript_for_table", "get_superscript_for_latex", "get_phantoms_for_latex"):
        found = [getattr(ours, part)(name, metric) for name in ours.model_names for metric in COMPARED]
        assert found == [getattr(theirs, part)(name, metric) for name in ours.model_names for metric in COMPARED] and any(found)


def test_lz4(tmp_path, monkeypatch):
    _, run = made(3)
    path = str(tmp_path / "new" / "run.lz4")
    swap.Run(run).save(path)
    assert swap.Run.from_file(path, name="x").to_dict() == ranx.Run.from_file(path).to_dict() == run
    ranx.Run(run).save(path)
    assert swap.Run.from_file(path).to_dict() == run
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    for use in (lambda: swap.Run(run).save(path), lambda: swap.Run.from_file(path)):
        with pytest.raises(ImportError, match="^LZ4 needs the package lz4$"):
            use()


@pytest.mark.parametrize("kind", ["Qrels", "Run"])
def test_parquet_is_read_as_it_was_written(tmp_path, monkeypatch, kind):
    table, rows = getattr(swap, kind), dict(zip(("Qrels", "Run"), made(3), strict=True))[kind]
    named = {"name": "mine"} if kind == "Run" else {}
    for path, of in ((tmp_path / "x.parquet", None), (str(tmp_path / "x.parq"), None), (tmp_path / "x.data", "parquet")):
        table(rows).save(path, of)
        read = table.from_file(path, of, **named)
        assert read.to_dict() == table.from_parquet(path).to_dict() == rows and read.name == named.get("name")
    path = tmp_path / "other.parquet"
    table(rows).to_dataframe().rename(columns={"q_id": "query"}).to_parquet(path)
    with pytest.raises(KeyError, match="there is no column 'q_id': there are 'query', 'doc_id', 'score'"):
        table.from_file(path)
    table(rows).to_dataframe().assign(q_id=1).to_parquet(path)
    with pytest.raises(AssertionError, match="Query IDs column dtype must be `object`"):
        table.from_file(path)
    with pytest.raises(FileNotFoundError):
        table.from_file(tmp_path / "not-there.parquet")
    uses = (lambda: table(rows).save(path), lambda: table.from_file(path), lambda: table.from_parquet(path))
    for missing, message in (("pyarrow", "package pyarrow, or fastparquet$"), ("pandas", "package pandas$")):
        monkeypatch.setitem(sys.modules, "fastparquet", None)
        monkeypatch.setitem(sys.modules, missing, None)
        for use in uses:
            with pytest.raises(ModuleNotFoundError, match=f"^Parquet needs the {message}"):
                use()


def test_ir_datasets(monkeypatch):
    qrels, _ = made(3)
    dataset = types.SimpleNamespace(qrels_dict=lambda: qrels)
    monkeypatch.setitem(sys.modules, "ir_datasets", types.SimpleNamespace(load={"some/one": dataset}.get))
    judged = swap.Qrels.from_ir_datasets("some/one")
    assert judged.to_dict() == qrels and judged.name == "some/one"
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ImportError, match="^Qrels.from_ir_datasets needs the package ir_datasets$"):
        swap.Qrels.from_ir_datasets("some/one")


def test_names_of_files(tmp_path, monkeypatch):
    qrels, run = made(3)
    monkeypatch.chdir(tmp_path)
    swap.Qrels(qrels).save()
    swap.Run(run).save()
    assert ranx.Qrels.from_file("qrels.json").to_dict() == qrels and ranx.Run.from_file("run.json").to_dict() == run
    swap.Run(run, name="x").save(tmp_path / "run.gz")
    assert gzip.open("run.gz", "rt").read().count("\n") == sum(map(len, run.values())) - 1
    assert swap.Run.from_file(tmp_path / "run.gz").to_dict() == ranx.Run.from_file("run.gz").to_dict() == run
    for name in ("x.json", "x.trec", "x.txt", "x.gz", "x.lz4", "x.parquet", "x.parq"):
        assert swap.get_file_kind(name) == ranx.data_structures.run.get_file_kind(name)
    assert swap.get_file_kind("x", "trec") == "trec"


def test_files_appear_whole_or_not_at_all(tmp_path):
    qrels, runs = some_runs(1, swap, 2)
    report = swap.compare(qrels, runs, "map")
    report.results["m_0"]["map"] = object()
    unwritable = swap.Run({"q_1": {f"d{at}": 1.0 for at in range(3000)} | {"\ud800": 0.5}})
    for name in ("run.trec", "run.gz", "run.parquet", "report.json"):
        save = report.save if name == "report.json" else unwritable.save
        path = tmp_path / name
        path.write_text("old")
        with pytest.raises((UnicodeEncodeError, TypeError)):
            save(str(path))
        assert path.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["report.json", "run.gz", "run.parquet", "run.trec"]


# Comparisons.

COMPARED = ["map", "ndcg@10", "mrr@10", "precision@5-l2", "hits@10"]


def some_runs(seed: int, module, count: int = 4, better: float = 0.06):
    draw = random.Random(seed)
    qrels = {f"q_{q}": {f"d{d}": draw.choice([0, 0, 1, 2]) for d in range(30)} for q in range(25)}
    runs = [
        {query: {doc: draw.random() + better * at * grade for doc, grade in docs.items()} for query, docs in qrels.items()}
        for at in range(count)
    ]
    return module.Qrels(qrels), [module.Run(run, name=None if at == 1 else f"m_{at}") for at, run in enumerate(runs)]


def cells(table: str) -> list[list[str]]:
    """The cells of a table, numbers without zeros at their end."""
    lines = [line.split() for line in table.splitlines()]
    return [[cell.rstrip("0") if cell.replace(".", "").isdigit() else cell for cell in line] for line in lines if "-" not in line[0]]


@pytest.mark.parametrize("seed", range(3))
def test_reports_of_student(seed):
    theirs, ours = (
        module.compare(*some_runs(seed, module), COMPARED, max_p=0.05, rounding_digits=4) for module in (ranx, swap)
    )
    assert ours.model_names == theirs.model_names == ["m_0", "run_2", "m_2", "m_3"]
    assert (ours.metrics, ours.max_p, ours.stat_test) == (theirs.metrics, theirs.max_p, theirs.stat_test)
    for name in ours.model_names:
        assert ours.results[name] == pytest.approx(theirs.results[name], rel=1e-12)
        for other in ours.model_names:
            if other == name:
                continue
            for metric in COMPARED:
                one, two = ours.comparisons[name, other][metric], theirs.comparisons[name, other][metric]
                p = two["p_value"] if two["p_value"] == two["p_value"] else 1.0  # identical values
                assert one["p_value"] == pytest.approx(p, rel=1e-9) and one["significant"] == two["significant"]
                assert one is ours.comparisons[{other, name}][metric]
                assert ours.win_tie_loss[name, other][metric] == theirs.win_tie_loss[name, other][metric]
    assert len(ours.comparisons) == 6
    data = ours.to_dict()
    assert list(data) == list(theirs.to_dict()) and list(data["m_0"]) == list(theirs.to_dict()["m_0"])
    assert data["m_0"]["win_tie_loss"] == theirs.to_dict()["m_0"]["win_tie_loss"]
    assert cells(str(ours)) == cells(str(theirs)) and "ᵃ" in str(ours)
    assert list(ours.to_dataframe().columns) == list(theirs.to_dataframe().columns)
    pandas.testing.assert_frame_equal(ours.to_dataframe(), theirs.to_dataframe(), rtol=1e-12, check_dtype=False)


def test_reports_as_text(tmp_path, capsys):
    qrels, runs = some_runs(1, swap)
    report = swap.compare(qrels, runs, ["map", "rbp.95", "hit_rate@5-l2"], max_p=0.05, show_percentages=True, rounding_digits=3)
    head, rule, *rows = str(report).splitlines()
    assert head.split() == ["#", "Model", "MAP", "RBP.95", "Hit", "Rate@5-l2"]
    assert set(rule) == {"-", " "} and [row.split()[1] for row in rows] == report.model_names
    assert rows[0].split()[2] == f"{100 * report.results['m_0']['map']:.1f}"
    latex = report.to_latex()
    assert r"run\_2" in latex and r"$^{a" in latex and latex.count(r"\textbf{") >= 3 and "Hit Rate@5-l2" in latex
    assert r"paired Student's t-test, $p \le 0.05$" in latex
    report.save(str(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text()) == report.to_dict()
    report.print_results()
    assert json.loads(capsys.readouterr().out) == report.results
    assert runs[0].mean_scores["map"] == report.results["m_0"]["map"]


def test_fisher_is_paired_exact_and_never_zero():
    stats = pytest.importorskip("scipy.stats")
    qrels, runs = some_runs(2, swap)
    reports = [swap.compare(qrels, runs, "map", stat_test="fisher", n_permutations=5000, threads=threads) for threads in (0, 1, 3)]
    assert len({str(report.to_dict()) for report in reports}) == 1
    for name, other in [("m_0", "m_2"), ("run_2", "m_3")]:
        one, two = (numpy.array(list(run.scores["map"].values())) for run in runs if (run.name or "run_2") in (name, other))
        p = reports[0].comparisons[name, other]["map"]["p_value"]
        rng = numpy.random.default_rng(1)
        drawn = stats.permutation_test((one - two,), numpy.mean, permutation_type="samples", n_resamples=20_000, rng=rng).pvalue
        assert 0 < p and p == pytest.approx(drawn, abs=0.01)


def test_tukey_is_of_the_same_queries():
    qrels, runs = some_runs(3, swap)
    report = swap.compare(qrels, runs, "ndcg@10", stat_test="tukey", max_p=0.05)
    values = numpy.array([list(run.scores["ndcg@10"].values()) for run in runs])
    error = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    m, n = values.shape
    stats = pytest.importorskip("scipy.stats")
    for i, one in enumerate(report.model_names):
        for j, other in enumerate(report.model_names[:i]):
            q = abs(values[i].mean() - values[j].mean()) / ((error**2).sum() / ((m - 1) * (n - 1)) / n) ** 0.5
            p = stats.studentized_range.sf(q, m, (m - 1) * (n - 1))
            assert report.comparisons[one, other]["ndcg@10"]["p_value"] == pytest.approx(p, rel=1e-6, abs=1e-12)


def test_corrections():
    qrels, runs = some_runs(4, swap)
    plain, holm = (swap.compare(qrels, runs, ["map"], correction=correction) for correction in ("none", "holm"))
    p = sorted(plain.comparisons[pair]["map"]["p_value"] for pair in plain.comparisons)
    adjusted = sorted(holm.comparisons[pair]["map"]["p_value"] for pair in holm.comparisons)
    expected, most = [], 0.0
    for rank, of in enumerate(p):
        most = max(most, min(1.0, (len(p) - rank) * of))
        expected.append(most)
    assert adjusted == pytest.approx(expected, rel=1e-12)


def test_identical_and_single_runs():
    qrels, runs = some_runs(5, swap, 2)
    twin = swap.Run(runs[0].run, name="twin")
    for stat_test in ("student", "fisher", "tukey"):
        report = swap.compare(qrels, [runs[0], twin], ["map", "mrr"], stat_test=stat_test)
        assert report.comparisons["m_0", "twin"]["map"] == {"p_value": 1.0, "significant": False}
        assert report.win_tie_loss["m_0", "twin"]["map"] == {"W": 0, "T": 25, "L": 0}
    alone = swap.compare(qrels, runs[:1], "map")
    assert len(alone.comparisons) == 0 and str(alone).splitlines()[-1].split()[:2] == ["a", "m_0"]
    dicts = swap.compare(qrels, [runs[0].to_dict(), dict(reversed(runs[1].to_dict().items()))], "map")
    assert dicts.model_names == ["run_1", "run_2"]
    assert dicts.comparisons["run_1", "run_2"] == swap.compare(qrels, runs, "map").comparisons["m_0", "run_2"]


def test_many_runs_have_numbers_and_no_q():
    qrels, runs = some_runs(6, swap, 26, better=0.02)
    table = str(swap.compare(qrels, runs[:25], "map", max_p=0.05))
    labels = list("abcdefghijklmnoprstuvwxyz")
    assert [line[0] for line in table.splitlines()[2:]] == labels and "ᵖʳ" in table
    table = str(swap.compare(qrels, runs, "map", max_p=0.05))
    assert table.splitlines()[-1].split()[0] == "26" and "¹·²·³" in table


def test_wrong_comparisons():
    for module in (ranx, swap):
        qrels, runs = some_runs(7, module)
        with pytest.raises(NotImplementedError, match="Statistical test `welch` not supported."):
            module.compare(qrels, runs, "map", stat_test="welch")
        with pytest.raises(AssertionError, match="Metrics error"):
            module.compare(qrels, runs, ["map", 3])
        with pytest.raises(AssertionError, match="make_comparable"):
            module.compare(qrels, [*runs, module.Run({"q_1": {"d1": 0.5}}, name="short")], "map")
        assert len(module.compare(qrels, [*runs, module.Run({"q_1": {"d1": 0.5}}, name="short")], "map", make_comparable=True).model_names) == 5
    with pytest.raises(ValueError, match="two runs have the name m_0: give one of them another name"):
        swap.compare(qrels, [runs[0], runs[0]], "map")
    with pytest.raises(ValueError, match="tukey.* brings its own correction"):
        swap.compare(qrels, runs, "map", stat_test="tukey", correction="holm")

"""laneval.compat.ir_measures against ir_measures' own providers."""

import math
import random
import struct

import ir_measures
import pandas
import pytest
from ir_measures import (
    AP,
    ERR,
    RR,
    Accuracy,
    Bpref,
    Compat,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRet,
    P,
    Qrel,
    R,
    Rprec,
    ScoredDoc,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

import laneval
import laneval.compat.ir_measures as swap

SAME = [
    *(P @ 5, P(rel=2, judged_only=True) @ 10, RR, RR(rel=2), Rprec, Rprec(rel=2), AP, AP(rel=2) @ 10, AP(judged_only=True)),
    *(nDCG, nDCG @ 10, nDCG(gains={0: 1, 1: 3, 2: 9}) @ 5, nDCG(judged_only=True), R @ 10, R(rel=2) @ 20, Bpref, Bpref(rel=2)),
    *(NumRet, NumRet(rel=1), NumRet(rel=2), NumQ, NumRel, SetAP, SetF, SetF(beta=2.0), SetF(beta=0.5, rel=2)),
    *(SetP, SetP(relative=True), SetP(rel=2), SetR, SetR(rel=2), Success @ 1, Success(rel=2) @ 10),
    *(IPrec @ 0.1, IPrec(rel=2) @ 0.5, *(IPrec @ level for level in (0.256, 0.306, 0.344, 0.424, 0.506)), infAP, infAP(rel=2)),
]


@pytest.fixture(autouse=True)
def tidy():
    yield
    swap.uninstall()


def made(seed: int, ties: bool = True):
    draw = random.Random(seed)
    docs = [f"d{i}" for i in range(80)]
    qrels = {f"q{i}": {doc: draw.choice([0, 0, 1, 2]) for doc in draw.sample(docs, 25)} for i in range(12)}
    score = (lambda: float(draw.randint(0, 9))) if ties else draw.random
    queries = draw.sample([f"q{i}" for i in range(2, 14)], 12)
    return qrels, {query: {doc: score() for doc in draw.sample(docs, 30)} for query in queries}


def frames(qrels, run):
    judged = [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]
    found = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return (
        pandas.DataFrame(judged, columns=["query_id", "doc_id", "relevance"]),
        pandas.DataFrame(found, columns=["query_id", "doc_id", "score"]),
    )


def tuples(qrels, run):
    judged, found = frames(qrels, run)
    return (
        [Qrel(*row) for row in judged.itertuples(index=False)],
        [ScoredDoc(*row) for row in found.itertuples(index=False)],
    )


def bits(value: float) -> bytes:
    return struct.pack("d", value)


@pytest.mark.parametrize("shape", [lambda *both: both, frames, tuples])
def test_same_values(shape):
    for seed in range(4):
        qrels, run = made(seed)
        theirs = {(of.query_id, of.measure): of.value for of in ir_measures.pytrec_eval.iter_calc(SAME, qrels, run)}
        assert len(theirs) == len(SAME) * len(qrels)
        aggregates = ir_measures.pytrec_eval.calc_aggregate(SAME, qrels, run)
        swap.install()
        ours = {(of.query_id, of.measure): of.value for of in ir_measures.iter_calc(SAME, *shape(qrels, run))}
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            assert bits(ours[key]) == bits(value), key
        found = ir_measures.calc_aggregate(SAME, *shape(qrels, run))
        assert {measure: bits(value) for measure, value in found.items()} == {
            measure: bits(value) for measure, value in aggregates.items()
        }
        both = ir_measures.calc(SAME, *shape(qrels, run))
        assert both.aggregated == found and len(both.per_query) == len(theirs)
        swap.uninstall()


def test_every_call_uses_it():
    qrels, run = made(1)
    swap.install()
    assert ir_measures.DefaultPipeline.providers[0].NAME == "laneval"
    assert isinstance(ir_measures.evaluator(SAME, qrels), swap.Evaluator)
    assert AP.calc_aggregate(qrels, run) == ir_measures.pytrec_eval.calc_aggregate([AP], qrels, run)[AP]
    evaluator = AP.evaluator(qrels)
    assert evaluator.calc_aggregate(run) == evaluator.calc_aggregate(run)
    swap.install("all")
    assert sum(provider.NAME == "laneval" for provider in ir_measures.DefaultPipeline.providers) == 1
    swap.uninstall()
    assert all(provider.NAME != "laneval" for provider in ir_measures.DefaultPipeline.providers)


def test_what_is_taken():
    same, all_of_them = swap.Provider(), swap.Provider("all")
    for measure in SAME:
        assert same.supports(measure) and all_of_them.supports(measure)
    own = ir_measures.define_byquery(lambda qrels, run: 1.0, name="AP")
    for measure in [RR @ 10, Judged @ 10, ERR @ 20, Compat, Accuracy, nDCG(dcg="exp-log2") @ 5, NumRel(rel=2)]:
        assert not same.supports(measure) and all_of_them.supports(measure), measure
    for measure in [ir_measures.alpha_nDCG @ 5, ir_measures.StRecall @ 5, own]:
        assert not same.supports(measure) and not all_of_them.supports(measure), measure
    with pytest.raises(ValueError, match="'same' or 'all'"):
        swap.install("some")
    with pytest.raises(AssertionError, match="unsupported params"):
        same.supports(AP(foo=1))


@pytest.mark.parametrize("measure", [RR @ 10, Judged @ 10, Judged, Compat, Compat(p=0.8), Compat(normalize=False), NumRel(rel=2)])
def test_all_measures_without_ties(measure):
    qrels, run = made(5, ties=False)
    run = {query: docs for query, docs in run.items() if query in qrels}
    if measure.NAME == "NumRel":
        theirs = {query: sum(grade >= 2 for grade in qrels[query].values()) for query in run}
    else:
        theirs = {of.query_id: of.value for of in ir_measures.iter_calc([measure], qrels, run)}
    swap.install("all")
    ours = {of.query_id: of.value for of in ir_measures.iter_calc([measure], qrels, run)}
    for query in run:
        assert ours[query] == pytest.approx(theirs[query], rel=1e-12), query


def test_measures_of_others_still_work():
    qrels, run = made(3)
    own = ir_measures.define_byquery(lambda qrels, run: float(len(run)), name="Length")
    theirs = ir_measures.calc_aggregate([own, AP, Judged @ 5], qrels, run)
    assert theirs[own] > 20
    swap.install()
    assert ir_measures.calc_aggregate([own, AP, Judged @ 5], qrels, run) == theirs


def test_nothing_there():
    qrels, run = made(2)
    swap.install()
    judged, found = frames(qrels, run)
    for empty in ({}, {"q3": {}}, [], found[:0], {"elsewhere": {"d1": 1.0}}):
        assert ir_measures.calc_aggregate([AP, NumRet], qrels, empty) == {AP: 0.0, NumRet: 0.0}
        assert {of.value for of in ir_measures.iter_calc([AP], judged, empty)} == {0.0}
    for empty in ({}, [], judged[:0]):
        assert math.isnan(ir_measures.calc_aggregate([AP], empty, run)[AP])


def test_wrong_input():
    qrels, run = made(2)
    swap.install()
    _, found = frames(qrels, run)
    with pytest.raises(ValueError, match="unknown run format.*missing columns"):
        ir_measures.calc_aggregate([AP], qrels, found.drop(columns="score"))
    with pytest.raises(ValueError, match="unknown qrels format"):
        ir_measures.calc_aggregate([AP], 5, run)
    with pytest.raises(laneval.InputError):
        ir_measures.calc_aggregate([AP], qrels, pandas.concat([found, found]))


def test_tables_without_pyarrow(monkeypatch):
    judged, found = frames(*made(6))
    theirs = ir_measures.pytrec_eval.calc_aggregate(SAME, judged, found)
    swap.install()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delattr(pandas.DataFrame, "__arrow_c_stream__")
    assert ir_measures.calc_aggregate(SAME, judged, found) == theirs


def test_scores_are_compared_as_f32():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": math.nextafter(0.1, 1.0), "b": 0.1}}
    swap.install()
    assert ir_measures.calc_aggregate([RR], qrels, run) == ir_measures.pytrec_eval.calc_aggregate([RR], qrels, run) == {RR: 0.5}


def test_experiments_of_pyterrier():
    """Rankings in tables need no Java."""
    pyterrier = pytest.importorskip("pyterrier")
    judged, found = frames(*made(4))
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    judged, found = judged.rename(columns=names), found.rename(columns=names)
    topics = pandas.DataFrame({"qid": judged["qid"].unique(), "query": "words"})
    found = found.assign(query="words", rank=0)

    def experiment(**keywords):
        systems = [pyterrier.Transformer.from_df(found)]
        return pyterrier.Experiment(systems, topics, judged, ["map", nDCG @ 10, RR(rel=2)], names=["system"], **keywords)

    theirs = [experiment(), experiment(perquery=True)]
    swap.install()
    calls = []
    calc = swap.Evaluator._iter_calc
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swap.Evaluator, "_iter_calc", lambda self, run: calls.append(run) or calc(self, run))
        ours = [experiment(), experiment(perquery=True)]
    assert len(calls) == 2
    for one, other in zip(theirs, ours, strict=True):
        keys = [key for key in ("name", "qid", "measure") if key in one.columns]
        one, other = (table.sort_values(keys).reset_index(drop=True) for table in (one, other))
        pandas.testing.assert_frame_equal(one, other, check_exact=True, check_like=True)


def test_tables_are_not_walked_through():
    """PyTerrier's calls: tables whose columns were renamed, with more columns, as they lie."""
    judged, found = frames(*made(4))
    judged = judged.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}).assign(iteration="0")
    found = found.rename(columns={"query_id": "qid", "doc_id": "docno"}).assign(rank=0, query="words", name="bm25")
    names = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    judged, found = judged.rename(columns=names), found.rename(columns=names)
    theirs = ir_measures.pytrec_eval.calc_aggregate([AP, nDCG @ 10], judged, found)
    swap.install()
    judged.itertuples = found.itertuples = None  # type: ignore[method-assign]
    assert ir_measures.calc_aggregate([AP, nDCG @ 10], judged, found) == theirs
    metrics = list(ir_measures.iter_calc([AP, nDCG @ 10], judged, found))
    assert [of.query_id for of in metrics[:4:2]] == found["query_id"].unique().tolist()[:2]


def test_measures_that_laneval_lacks_are_named():
    own = ir_measures.define(lambda qrels, run: [], name="AP")
    for measure, name in ((ir_measures.alpha_nDCG @ 10, "alpha_nDCG@10"), (ir_measures.StRecall @ 5, "StRecall@5"), (own, "AP")):
        for evaluator in (swap.Evaluator, swap.Provider("all").evaluator):
            with pytest.raises(laneval.MeasureError, match=f"^laneval has no `{name}` for ir_measures: a measure of grades") as raised:
                evaluator([AP, measure], {"q": {"d": 1}})
            assert raised.value.text == name and raised.value.span == (0, len(name))
    with pytest.raises(TypeError, match="^'AP' is of <class 'str'>: a measure of ir_measures was expected, such as `ir_measures.AP`$"):
        swap.Evaluator(["AP"], {"q": {"d": 1}})


def test_providers_of_other_measures_than_there_are():
    before = list(ir_measures.DefaultPipeline.providers)
    for make in (swap.Provider, swap.install):
        for measures in ("foo", None, ["same"]):
            with pytest.raises(ValueError) as raised:
                make(measures)
            assert str(raised.value) == f"measures is {measures!r}: 'same' or 'all' was expected"
    assert ir_measures.DefaultPipeline.providers == before

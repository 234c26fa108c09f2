"""laneval.compat.sentence_transformers, over a stand-in for the base that has what is called."""

import math
import random
import sys
import types

import pytest

from laneval.compat.sentence_transformers import Metrics

KEYS = ["accuracy@k", "precision@k", "recall@k", "ndcg@k", "mrr@k", "map@k"]


class Base:
    """What InformationRetrievalEvaluator keeps, and its formulas."""

    def __init__(self, queries, corpus, relevant_docs, cuts=(1, 3, 5, 10)):
        self.queries_ids = [query for query in queries if relevant_docs.get(query)]
        self.queries = [queries[query] for query in self.queries_ids]
        self.relevant_docs = relevant_docs
        self.mrr_at_k, self.ndcg_at_k, self.map_at_k = [10], [3, 10], [100]
        self.accuracy_at_k = self.precision_recall_at_k = list(cuts)

    def compute_metrics(self, queries_result_list):
        values = {key: {} for key in KEYS}

        def mean(key, k, of_query):
            found = []
            for query, hits in zip(self.queries_ids, queries_result_list, strict=True):
                hits = sorted(hits, key=lambda hit: (-hit["score"], hit["corpus_id"]))
                relevant = self.relevant_docs[query]
                found.append(of_query([hit["corpus_id"] in relevant for hit in hits[:k]], len(relevant)))
            values[key][k] = math.fsum(found) / len(found)

        def gains(hits):
            return math.fsum(hit / math.log2(at + 2) for at, hit in enumerate(hits))

        def first(hits):
            return 1 / (hits.index(True) + 1) if True in hits else 0.0

        def precisions(hits):
            return math.fsum(sum(hits[: at + 1]) / (at + 1) for at, hit in enumerate(hits) if hit)

        for k in self.accuracy_at_k:
            mean("accuracy@k", k, lambda hits, count: float(any(hits)))
        for k in self.precision_recall_at_k:
            mean("precision@k", k, lambda hits, count, k=k: sum(hits) / k)
            mean("recall@k", k, lambda hits, count: sum(hits) / count)
        for k in self.ndcg_at_k:
            mean("ndcg@k", k, lambda hits, count, k=k: gains(hits) / gains([1] * min(count, k)))
        for k in self.mrr_at_k:
            mean("mrr@k", k, lambda hits, count: first(hits))
        for k in self.map_at_k:
            mean("map@k", k, lambda hits, count, k=k: precisions(hits) / min(k, count))
        return values


class Swapped(Metrics, Base):
    pass


def made(seed, ids):
    draw = random.Random(seed)
    corpus = {ids(at): "words" for at in range(150)}
    queries = {f"q{at}": "words" for at in range(20)}
    relevant = {query: set(draw.sample(list(corpus), draw.randint(0, 120 if query == "q3" else 6))) for query in queries}
    base, ours = Base(queries, corpus, relevant), Swapped(queries, corpus, relevant)
    hits = [
        [{"corpus_id": doc, "score": draw.randint(0, 9) / 4} for doc in draw.sample(list(corpus), draw.choice([0, 5, 100]))]
        for _ in base.queries
    ]
    return base, ours, hits


@pytest.mark.parametrize("ids", [lambda at: f"d{at}", lambda at: at])
def test_values(ids):
    for seed in range(5):
        base, ours, hits = made(seed, ids)
        theirs, found = base.compute_metrics(hits), ours.compute_metrics(hits)
        assert list(found) == list(theirs) == KEYS
        for key in KEYS:
            assert list(found[key]) == list(theirs[key])
            assert found[key] == pytest.approx(theirs[key], rel=1e-13), key
            assert all(type(value) is float for value in found[key].values())


def test_nothing_asked_for():
    base, ours, hits = made(1, str)
    ours.accuracy_at_k = []
    assert ours.compute_metrics(hits)["accuracy@k"] == {}
    for name in ("precision_recall_at_k", "mrr_at_k", "ndcg_at_k", "map_at_k"):
        setattr(ours, name, [])
    assert ours.compute_metrics(hits) == {key: {} for key in KEYS}


def test_the_class_of_the_same_name(monkeypatch):
    import laneval.compat.sentence_transformers as swap

    package, evaluation = types.ModuleType("sentence_transformers"), types.ModuleType("sentence_transformers.evaluation")
    evaluation.InformationRetrievalEvaluator = Base
    package.evaluation = evaluation
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setitem(sys.modules, "sentence_transformers.evaluation", evaluation)
    try:
        made = swap.InformationRetrievalEvaluator
        assert made.__mro__[1:3] == (Metrics, Base) and made.__name__ == "InformationRetrievalEvaluator"
        assert swap.InformationRetrievalEvaluator is made
        evaluator = made({"q": "words"}, {"d": "words"}, {"q": {"d"}})
        assert evaluator.compute_metrics([[{"corpus_id": "d", "score": 1.0}]])["map@k"] == {100: 1.0}
    finally:
        vars(swap).pop("InformationRetrievalEvaluator", None)
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        swap.Other  # noqa: B018

"""sentence-transformers' `InformationRetrievalEvaluator`, whose metrics are computed by laneval.

    from laneval.compat.sentence_transformers import InformationRetrievalEvaluator

    evaluator = InformationRetrievalEvaluator(queries, corpus, relevant_docs)
    evaluator(model)

It is a subclass that overrides `compute_metrics` and nothing else, so embeddings, reports, files and model cards stay the same; for other
evaluators over the same base, such as that of sparse encoders, put `Metrics` before them:

    class Evaluator(Metrics, SparseInformationRetrievalEvaluator): ...

Equal to sentence-transformers 6: keys (`accuracy@k`, `precision@k`, `recall@k`, `ndcg@k`, `mrr@k`, `map@k`, each a dict by k), hits of equal
scores by ascending corpus id, queries without hits as 0, values but for the last digit of averages. Accuracy is Success, and `map@k` is
divided by at most k.

Different on purpose: values are floats, never NumPy's.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from laneval import _native
from laneval._options import settings

__all__ = ["InformationRetrievalEvaluator", "Metrics"]

_MEASURES = {
    "accuracy@k": ("accuracy_at_k", "Success@{}"),
    "precision@k": ("precision_recall_at_k", "P@{}"),
    "recall@k": ("precision_recall_at_k", "R@{}"),
    "ndcg@k": ("ndcg_at_k", "nDCG@{}"),
    "mrr@k": ("mrr_at_k", "RR@{}"),
    "map@k": ("map_at_k", "AP(norm=min)@{}"),
}


class Metrics:
    """Computes the metrics of evaluators of information retrieval, of which it is put before others.

    It reads of an evaluator its `queries_ids`, `[query]`, its `relevant_docs`, `{query: {document, …}}`, and the numbers k of its metrics,
    from 1: `accuracy_at_k`, `precision_recall_at_k`, `mrr_at_k`, `ndcg_at_k` and `map_at_k`, each `[k]`.

    >>> from laneval.compat.sentence_transformers import Metrics
    >>> class Evaluator(Metrics):
    ...     queries_ids, relevant_docs = ["q1"], {"q1": {"d1"}}
    ...     accuracy_at_k, precision_recall_at_k, mrr_at_k, ndcg_at_k, map_at_k = [1], [2], [10], [], []
    >>> Evaluator().compute_metrics([[{"corpus_id": "d1", "score": 0.5}, {"corpus_id": "d2", "score": 0.7}]])
    {'accuracy@k': {1: 0.0}, 'precision@k': {2: 0.5}, 'recall@k': {2: 1.0}, 'ndcg@k': {}, 'mrr@k': {10: 0.5}, 'map@k': {}}
    """

    queries_ids: list[Any]
    relevant_docs: Mapping[Any, Any]

    def compute_metrics(self, queries_result_list: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, dict[int, float]]:
        """The metrics at each k, `{metric: {k: average}}`, from 0 to 1, for the hits of each query, `queries_result_list[query][hit]`,
        which are dicts with `corpus_id` and `score`.

        Raises `KeyError` if a hit lacks one of these, `UnanswerableError` if a document is twice among the hits of a query or there
        are more of them than queries, and `MeasureError` if a k is below 1.
        """
        cuts = {key: list(getattr(self, attribute)) for key, (attribute, _) in _MEASURES.items()}
        names = {(key, k): _MEASURES[key][1].format(k) for key, of in cuts.items() for k in of}
        if not names or not queries_result_list:
            return {key: dict.fromkeys(of, 0.0) for key, of in cuts.items()}
        relevant = [self.relevant_docs[query] for query in self.queries_ids[: len(queries_result_list)]]
        ranked = [
            [hit["corpus_id"] for hit in sorted(hits, key=lambda hit: (-hit["score"], hit["corpus_id"]))]
            for hits in queries_result_list
        ]
        evaluation = settings(tuple(dict.fromkeys(names.values())), {}, None)
        scores = evaluation.rankings(_native.Arrays.ids(relevant, ranked))
        found = {name: stats[0][1] for name, stats in zip(scores.measures(), scores.stats(0), strict=True)}
        return {key: {k: found[names[key, k]] for k in of} for key, of in cuts.items()}


def __getattr__(name: str) -> Any:
    if name != "InformationRetrievalEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base = getattr(importlib.import_module("sentence_transformers.evaluation"), name)
    made = type(name, (Metrics, base), {"__module__": __name__})
    globals()[name] = made
    return made

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
    """Computes the metrics of evaluators of information retrieval."""

    queries_ids: list[Any]
    relevant_docs: Mapping[Any, Any]

    def compute_metrics(self, queries_result_list: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, dict[int, float]]:
        """The metrics at each k, for the hits of each query: `corpus_id` and `score`."""
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

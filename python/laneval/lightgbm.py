"""Measures for LightGBM, which computes them while it trains:

    lightgbm.train(parameters, data, valid_sets=[valid], feval=laneval.lightgbm.metric(["nDCG(gain=exp2)@10", "AP"]))

The labels of the data are grades, and its groups are queries. Documents of equal scores keep their order. A query without relevant
documents counts as 0, while LightGBM's own `ndcg` counts it as 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from laneval._api import evaluate_scores
from laneval._errors import UnanswerableError
from laneval._options import Measures, PreparedOptions
from laneval._names import better

if TYPE_CHECKING:
    from typing import TypeAlias

    Evaluation: TypeAlias = Callable[[Any, Any], list[tuple[str, float, bool]]]

__all__ = ["metric"]


def metric(measures: Measures) -> Evaluation:
    """Makes a function for `feval`, of `measures` named as for `evaluate`: of scores, `[document]`, and a data set, it returns for each
    measure its name, its value, of most measures from 0 to 1, and whether higher is better: `[measure][name, value, higher]`.

    Raises `MeasureError` if there is no such measure; the function raises `UnanswerableError` if the data has no groups.

    >>> import lightgbm, numpy
    >>> import laneval.lightgbm
    >>> data = lightgbm.Dataset(numpy.array([[0.1], [0.2], [0.3]]), label=[1, 0, 1], group=[2, 1])
    >>> laneval.lightgbm.metric(["RR", "Unjudged@1"])(numpy.array([0.1, 0.9, 0.5]), data)
    [('RR', 0.75, True), ('Unjudged@1', 0.0, False)]
    """
    names = PreparedOptions(measures, {}).names()

    def evaluate(scores: Any, data: Any) -> list[tuple[str, float, bool]]:
        sizes = data.get_group()
        if sizes is None:
            raise UnanswerableError("the data has no groups: make it with group=, the number of documents of each query")
        found = evaluate_scores(scores, data.get_label(), measures, sizes=sizes)
        return [(name, found[name], better(name) != "lower") for name in names]

    return evaluate

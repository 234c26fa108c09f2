"""pytrec_eval's module, computed by laneval.

Change one import, or let code that imports pytrec_eval itself get this module:

>>> import laneval.compat.pytrec_eval as pytrec_eval
>>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "ndcg_cut.10"})
>>> evaluator.evaluate({"q1": {"d1": 1.0, "d2": 2.0}})
{'q1': {'map': 0.5, 'ndcg_cut_10': 0.6309297535714575}}

Equal to pytrec_eval 0.5 (pytrec-eval-terrier): names, keywords, measures, nicknames and parameters (`meas`, `meas.1,2`, `meas_1,2`,
merged); the answer's shape and its order, that of the run, with the queries of both only; every value to the last bit, the logarithms
of `gm_map` and `gm_bpref` included; scores compared as 32-bit floats, equal ones by document id, descending; types and messages of
exceptions.

Different on purpose:

* A measure that trec_eval cannot read (`ndcg_10`, `P_0`, `P_5,5.5`, levels of recall above 1) is a `ValueError`; there it ends the
  interpreter, or has a meaningless value. `runid` is 0.0; there it is an arbitrary value from memory.
* Ids with a lone surrogate are a `UnicodeEncodeError`; there they end the interpreter. Ids with a NUL are compared as a whole.
* A score that is NaN is a `ValueError` that names the document; there the order is arbitrary. A grade that is no 64-bit integer,
  and an integer as a score that is too large for a float, is an `OverflowError`; there it is a `SystemError`.
* A query whose documents are all dropped by `judged_docs_only_flag` has an `iprec_at_recall_0.00` and `11pt_avg` of 0; there they are
  NaN.
* An empty ranking has 0 under every measure but `num_q`, even `num_rel` and `gm_map`, as there; but there some combinations of measures
  end the interpreter. So do grades that are all negative.
* `compute_aggregated_measure` takes the exponential of `gm_*` by the C library, whose last bit may differ from NumPy's.
* Negative levels of relevance are a `TypeError`, as 0 is; there some are accepted by accident.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from laneval import _native

__version__ = "0.5.11"

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "install",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_NAMES = _native.trec_measures()

supported_nicknames: dict[str, set[str]] = {
    nickname: {name for name, nicknames in _NAMES if nickname in nicknames}
    for nickname in dict.fromkeys(nickname for _, nicknames in _NAMES for nickname in nicknames)
}
"""The nicknames of trec_eval with the measures that they stand for."""

supported_measures: set[str] = set(supported_nicknames["all_trec"])
"""All measures."""

_PARAMETERS = re.compile(
    rf"({'|'.join(sorted(map(re.escape, supported_measures)))})"
    r"[._]([0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*)"
)


class RelevanceEvaluator:
    """Evaluates runs against judgments.

    `query_relevance` has the grades of the documents of each query, and `measures` the names and nicknames of measures; documents of
    `relevance_level` and above are relevant, from 1. With `judged_docs_only_flag` documents that are not judged are dropped from rankings.

    Raises `ValueError` if there is no such measure, and `TypeError` if `relevance_level` is below 1 or an argument is of another type.

    >>> import laneval.compat.pytrec_eval as pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1, "d2": 2}}, {"map", "P.1"}, relevance_level=2)
    >>> evaluator.evaluate({"q1": {"d1": 1.0, "d2": 0.5}})
    {'q1': {'map': 0.5, 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        merged = _merged(measures)
        judgments = {query: docs for query, docs in query_relevance.items() if len(docs) > 0}
        level, judged_only = _integer(relevance_level), _integer(judged_docs_only_flag)
        if level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        self._evaluator = _native.TrecEvaluator(judgments, merged, level, judged_only != 0)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluates the judged queries of a run, `scores[query][document]`, and returns their values, `{query: {measure: value}}`, of most
        measures from 0 to 1; those whose names begin with `gm_` are logarithms.

        Raises `TypeError` if the run is no dict of dicts of numbers, and `ValueError` if a score is NaN.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument object scores should be of type dictionary.")
        return self._evaluator.evaluate(scores)


def _integer(value: object) -> int:
    """Converts an object to an integer of 32 bits."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not -(2**31) <= number < 2**31:
        raise TypeError("Expected object_relevance_per_qid dictionary and measures set.")
    return number


def _merged(measures: Iterable[str]) -> list[str]:
    """Measures without nicknames, each once, with all its parameters in the order of their texts."""
    names: dict[str, None] = {}
    for measure in measures:
        names.update(dict.fromkeys(sorted(supported_nicknames.get(measure, [measure]))))
    parameters: dict[str, set[str]] = {}
    for name in names:
        if name in supported_measures:
            parameters.setdefault(name, set())
            continue
        match = _PARAMETERS.match(name)
        if match is None:
            raise ValueError(f"unsupported measure {name}")
        parameters.setdefault(match[1], set()).update(match[2].split(","))
    return [f"{name}.{','.join(sorted(of))}" if of else name for name, of in parameters.items()]


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The value of a `measure` over all queries, given its `values`, `[query]`: the sum of `num_*`, the exponential of the mean of `gm_*`,
    the mean of all others, of most measures from 0 to 1. Without values the mean is NaN.

    Raises `ValueError` or `TypeError` if a value is no number.

    >>> import laneval.compat.pytrec_eval as pytrec_eval
    >>> pytrec_eval.compute_aggregated_measure("map", [0.5, 1.0]), pytrec_eval.compute_aggregated_measure("num_rel", [2.0, 3.0])
    (0.75, 5.0)
    """
    numbers = [float(value) for value in values]
    total = _sum(numbers, 0, len(numbers))
    if measure.startswith("num_"):
        return total
    if not numbers:
        return math.nan
    mean = total / len(numbers)
    return math.exp(mean) if measure.startswith("gm_") else mean


def _sum(values: Sequence[float], start: int, end: int) -> float:
    """The sum of some numbers, added in NumPy's order: in halves, down to 128 numbers, which are added as eight columns."""
    count = end - start
    if count > 128:
        middle = start + count // 2 // 8 * 8
        return _sum(values, start, middle) + _sum(values, middle, end)
    if count < 8:
        rest, total = start, 0.0
    else:
        rest = end - count % 8
        c = [_in_order(values[start + column : rest : 8]) for column in range(8)]
        total = ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]))
    for value in values[rest:end]:
        total += value
    return total


def _in_order(values: Sequence[float]) -> float:
    total = values[0]
    for value in values[1:]:
        total += value
    return total


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """The scores in lines (`f_run`) of `query Q0 document rank score tag`, `{query: {document: score}}`; scores are from −inf
    to inf.

    Raises `AssertionError` if a document is twice in a query, and `ValueError` if a line has other fields, or a score that is no number.

    >>> import laneval.compat.pytrec_eval as pytrec_eval
    >>> dict(pytrec_eval.parse_run(["q1 Q0 d1 1 0.5 tag", "q1 Q0 d2 2 0.25 tag"]))
    {'q1': {'d1': 0.5, 'd2': 0.25}}
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in f_run:
        query, _, doc, _, score, _ = line.strip().split()
        _once(doc, run[query])
        run[query][doc] = float(score)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """The grades in lines (`f_qrel`) of `query 0 document grade`, `{query: {document: grade}}`; grades are whole numbers, and those from 1
    up are relevant.

    Raises `AssertionError` if a document is twice in a query, and `ValueError` if a line has other fields, or a grade that is no whole
    number.

    >>> import laneval.compat.pytrec_eval as pytrec_eval
    >>> dict(pytrec_eval.parse_qrel(["q1 0 d1 1", "q1 0 d2 0"]))
    {'q1': {'d1': 1, 'd2': 0}}
    """
    qrel: dict[str, dict[str, int]] = defaultdict(dict)
    for line in f_qrel:
        query, _, doc, grade = line.strip().split()
        _once(doc, qrel[query])
        qrel[query][doc] = int(grade)
    return qrel


def _once(doc: str, docs: Mapping[str, object]) -> None:
    if doc in docs:
        raise AssertionError(f"document {doc} is twice in a query")


def install() -> None:
    """Lets `import pytrec_eval` find this module, from now on and in this process, whether pytrec_eval is installed or not.

    Modules that have imported pytrec_eval before keep it.

    >>> import sys
    >>> import laneval.compat.pytrec_eval
    >>> laneval.compat.pytrec_eval.install()
    >>> import pytrec_eval
    >>> pytrec_eval.__name__
    'laneval.compat.pytrec_eval'

    To undo it, take it out:

    >>> del sys.modules["pytrec_eval"]
    """
    sys.modules["pytrec_eval"] = sys.modules[__name__]

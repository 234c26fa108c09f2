"""A provider for ir_measures: `install()` puts it before all others, and `ir_measures.calc_aggregate`, `iter_calc`, `calc` and `evaluator`
use it, as do their callers, such as `pt.Experiment` of PyTerrier.

>>> import ir_measures
>>> from ir_measures import AP, nDCG
>>> import laneval.compat.ir_measures
>>> laneval.compat.ir_measures.install()
>>> ir_measures.calc_aggregate([nDCG@10, AP], {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 1.0, "d2": 2.0}})[AP]
0.5
>>> laneval.compat.ir_measures.uninstall()

Equal: with `measures="same"`, the default, the provider takes the measures that ir_measures has from pytrec_eval, and every value of a
query and every aggregate has the same bits as there. pytrec_eval need not be installed.

With `measures="all"` it takes every measure of grades that laneval has, and its values are laneval's: equal scores are ordered by document
id, descending, and compared as 32-bit floats, while other providers order them differently (`RR@k`, `Judged`, `Accuracy`, `RBP`), and ERR
and nDCG of gdeval are not rounded to five digits. `Accuracy` is 0 where it is not defined; there such queries are left out, but count.
Measures over subtopics stay with pyndeval.

Different on purpose: DataFrames are read without conversion, so ids may be integers, grades may be fractions, and a document that is twice
in a query is an `InputError`, while the last one counts there. A score that is NaN is an `InputError`.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import ir_measures
from ir_measures import Metric, util

from laneval import _native
from laneval._errors import MeasureError
from laneval._options import Options, settings

__all__ = ["Evaluator", "Provider", "install", "uninstall"]

_QrelsConverter: Any = util.QrelsConverter
_RunConverter: Any = util.RunConverter

# The names of the measures that the provider may take.
_OF_GRADES = {row["name"] for row in _native.measures() if row["needs"] in ("any judgments", "a grade for each document")}

_RUN = {"query": "query_id", "doc": "doc_id", "score": "score"}
_QRELS = {"query": "query_id", "doc": "doc_id", "grade": "relevance"}


def install(measures: Literal["same", "all"] = "same") -> None:
    """Puts the provider before all others: for the `measures` whose values stay the same (`"same"`), or for all that laneval has (`"all"`).

    Raises `ValueError` if `measures` is neither.

    >>> import ir_measures
    >>> import laneval.compat.ir_measures
    >>> laneval.compat.ir_measures.install("all")
    >>> ir_measures.calc_aggregate([ir_measures.RR], {"q1": {"d1": 1}}, {"q1": {"d1": 1.0, "d2": 2.0}})
    {RR: 0.5}
    >>> laneval.compat.ir_measures.uninstall()
    """
    provider = Provider(measures)
    uninstall()
    ir_measures.DefaultPipeline.providers.insert(0, provider)


def uninstall() -> None:
    """Removes the provider, if it is there.

    >>> import ir_measures
    >>> import laneval.compat.ir_measures
    >>> laneval.compat.ir_measures.install()
    >>> laneval.compat.ir_measures.uninstall()
    >>> any(provider.NAME == "laneval" for provider in ir_measures.DefaultPipeline.providers)
    False
    """
    providers = ir_measures.DefaultPipeline.providers
    providers[:] = [provider for provider in providers if not isinstance(provider, Provider)]


class Provider(ir_measures.Provider):
    """The provider of laneval for ir_measures, for `measures` as for `install`. `SUPPORTED_MEASURES` are those of pytrec_eval.

    Raises `ValueError` if `measures` is neither `"same"` nor `"all"`.

    >>> from ir_measures import AP, ERR
    >>> from laneval.compat.ir_measures import Provider
    >>> provider = Provider()
    >>> provider.supports(AP), provider.supports(ERR @ 10), Provider("all").supports(ERR @ 10)
    (True, False, True)
    >>> provider.calc_aggregate([AP], {"q1": {"d1": 1}}, {"q1": {"d1": 1.0, "d2": 2.0}})
    {AP: 0.5}
    """

    NAME = "laneval"

    def __init__(self, measures: Literal["same", "all"] = "same") -> None:
        if measures not in ("same", "all"):
            raise ValueError(f"measures is {measures!r}: 'same' or 'all' was expected")
        self._is_available = True
        self._measures = measures
        self.SUPPORTED_MEASURES = list(ir_measures.providers.PytrecEvalProvider.SUPPORTED_MEASURES)

    def supports(self, measure: Any) -> bool:
        """Whether the provider has this `measure`.

        Raises `AssertionError` if the measure has parameters that ir_measures does not know.
        """
        measure.validate_params()
        return _name(measure) is not None and (self._measures == "all" or bool(super().supports(measure)))

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Evaluator:
        return Evaluator(list(measures), qrels)


def _name(measure: Any) -> str | None:
    """The name of a measure in laneval; `None` if laneval does not have it, or it is a function of Python."""
    if hasattr(measure, "runtime_impl"):
        return None
    known = {key: value for key, value in measure.params.items() if key not in ("judged_only", "gains")}
    if measure.NAME == "IPrec":
        known["recall"] = float(f"{measure['recall']:.2f}")  # as pytrec_eval is asked for it
    text = repr(type(measure)(**known))
    if measure.NAME == "NumRet" and "rel" in known:
        text = f"NumRelRet(rel={known['rel']})"
    try:
        (name,) = _native.parse(f"irm:{text}")
    except ValueError:
        return None
    return name if re.split("[(@]", name)[0] in _OF_GRADES else None


def _check(measures: Iterable[Any]) -> None:
    """Checks that laneval has these measures.

    Raises `TypeError` or `MeasureError` otherwise.
    """
    for measure in measures:
        if not isinstance(measure, ir_measures.Measure):
            raise TypeError(f"{measure!r} is of {type(measure)}: a measure of ir_measures was expected, such as `ir_measures.AP`")
        if _name(measure) is None:
            text = repr(measure)
            message = f"laneval has no `{text}` for ir_measures: a measure of grades that `laneval measures` lists was expected"
            raise MeasureError(message, text, (0, len(text.encode())))


class Evaluator(ir_measures.Evaluator):
    """The `measures` and judgments (`qrels`) with which runs are evaluated. Both are as for `evaluator` of ir_measures.

    Raises `InputError` if judgments are wrong, `ValueError` if they are of no format of ir_measures, `MeasureError` if laneval lacks a
    measure, and `TypeError` if one is no measure of ir_measures.

    >>> from ir_measures import AP, RR
    >>> from laneval.compat.ir_measures import Evaluator
    >>> evaluator = Evaluator([AP, RR], {"q1": {"d1": 1, "d2": 1}})
    >>> evaluator.calc_aggregate({"q1": {"d1": 1.0, "d3": 2.0}})
    {AP: 0.25, RR: 0.5}
    >>> [(of.query_id, of.value) for of in evaluator.iter_calc({"q1": {"d1": 1.0, "d3": 2.0}})]
    [('q1', 0.25), ('q1', 0.5)]
    """

    def __init__(self, measures: list[Any], qrels: Any) -> None:
        _check(measures)
        judged = _source(_QrelsConverter(qrels))
        queries = set(_queries(judged))
        super().__init__(measures, queries)
        self._count = len(queries)
        self._passes: list[_Pass] = []
        keys: dict[tuple[bool, tuple[tuple[int, int], ...]], list[Any]] = {}
        for measure in measures:
            judged_only = bool(measure.SUPPORTED_PARAMS.get("judged_only") and measure["judged_only"])
            gains = tuple(sorted(measure.params.get("gains", {}).items()))
            keys.setdefault((judged_only, gains), []).append(measure)
        for (judged_only, gains), of in keys.items():
            self._passes.append(_Pass(of, judged_only, _with_gains(judged, dict(gains))))

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        source = _source(_RunConverter(run))
        for of in self._passes:
            columns, places = of.values(source)
            for query, at in places:
                for measure, values in columns:
                    yield Metric(query_id=query, measure=measure, value=values[at])

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """The aggregate of each measure over a `run`, `{measure: aggregate}`, of most measures from 0 to 1.

        Raises `InputError` if results are wrong.
        """
        source = _source(_RunConverter(run))
        found: dict[Any, float] = {}
        for of in self._passes:
            columns, places = of.values(source)
            for measure, values in columns:
                aggregator = measure.aggregator()
                for _, at in places:
                    aggregator.add(values[at])
                for _ in range(self._count - len(places)):
                    aggregator.add(measure.DEFAULT)
                found[measure] = aggregator.result()
        return {measure: found[measure] for measure in self.measures}


class _Pass:
    """Measures that are evaluated together."""

    def __init__(self, measures: list[Any], judged_only: bool, qrels: Any) -> None:
        names = {measure: _name(measure) or repr(measure) for measure in measures}
        # In this dialect scores are compared as 32-bit floats, and a run may have no judged query.
        options: Options = {"queries": "common", "dialect": "trec9", "judged_only": judged_only, "per_query": True, "engine": "cpu"}
        self._measures = measures
        self._settings = settings(tuple(dict.fromkeys(names.values())), options, None)
        order = self._settings.measures()
        self._columns = [(measure, order.index(name)) for measure, name in names.items()]
        self._qrels = None if _is_empty(qrels) else _native.Qrels(_readable(qrels), "qrels", "trec9", _QRELS)

    def values(self, run: Any) -> tuple[list[tuple[Any, list[float]]], list[tuple[str, int]]]:
        """The values of each measure, and the judged queries of the run in its order, with their indices among the values."""
        if self._qrels is None or _is_empty(run):
            return [(measure, []) for measure in self._measures], []
        scores = self._settings.evaluate(self._qrels, [("run", _readable(run))], _RUN).per_query(0)
        assert scores is not None
        places = {query: at for at, query in enumerate(scores.queries())}
        there = [(query, places[str(query)]) for query in _queries(run) if str(query) in places]
        return [(measure, scores.column(at)) for measure, at in self._columns], there


def _source(converter: Any) -> Any:
    """Converts a source of ir_measures to a DataFrame or a dict of dicts."""
    kind, _ = converter.predict_type()
    if kind == "pd_dataframe":
        return converter.as_pd_dataframe()[list((_RUN if isinstance(converter, _RunConverter) else _QRELS).values())]
    return converter.as_dict_of_dict()


def _readable(source: Any) -> Any:
    """A table as it is, or its rows if pandas has no pyarrow."""
    if isinstance(source, Mapping) or importlib.util.find_spec("pyarrow"):
        return source
    return zip(*(source[column].tolist() for column in source.columns), strict=True)


def _queries(source: Any) -> list[Any]:
    """The ids of queries in the order of their first rows."""
    return list(source) if isinstance(source, Mapping) else source["query_id"].unique().tolist()


def _is_empty(source: Any) -> bool:
    return not any(source.values()) if isinstance(source, Mapping) else not len(source)


def _with_gains(qrels: Any, gains: dict[int, int]) -> Any:
    """Replaces the grades of judgments by gains."""
    if not gains:
        return qrels
    if isinstance(qrels, Mapping):
        return {query: {doc: gains.get(of, of) for doc, of in docs.items()} for query, docs in qrels.items()}
    return qrels.assign(relevance=qrels["relevance"].map(lambda grade: gains.get(grade, grade)))

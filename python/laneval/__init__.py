"""Evaluates ranked retrieval offline: AP, nDCG, RR, recall, ERR … of runs against relevance judgments.

>>> import laneval
>>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
>>> run = {"q1": {"d2": 1.5, "d1": 1.2}, "q2": {"d3": 0.7}}
>>> laneval.evaluate(qrels, run, ["nDCG@10", "AP", "RR"])
<run: nDCG@10: 0.8155, AP: 0.7500, RR: 0.7500; 2 queries; ties docno-desc, scores f64>
"""

import importlib
import sys

from laneval._native import __version__

# Checkers of types take this name for True, wherever it is from: that of `typing` takes longer to import than all that is needed here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from laneval._api import (
        Matrix,
        ResidentMatrix,
        devices,
        evaluate,
        evaluate_ids,
        evaluate_labels,
        evaluate_neighbours,
        evaluate_runs,
        evaluate_scores,
        measures,
        parse_measure,
    )
    from laneval._check import CheckReport, check
    from laneval._comparison import Comparison, ComparisonOptions, PairDeltas, GateVerdict, Pair
    from laneval._custom import CustomMeasure, measure
    from laneval._errors import (
        DeviceError,
        IgnoredQueriesWarning,
        InputError,
        LanevalError,
        LanevalWarning,
        MatrixError,
        MeasureError,
        MissingQueriesWarning,
        OptionError,
        Problem,
        ShardError,
        TiedScoresWarning,
        UnanswerableError,
    )
    from laneval._identify import Candidate, Identification, IdentifiedLibrary, identify
    from laneval._options import DEFAULT, Options
    from laneval._pools import LeaveOneOut, PooledRun, PoolLoss, Pools, pools
    from laneval._scores import PerQuery, RankingRule, RunScores, Scores, UnmatchedQueries
    from laneval._sources import Qrels
    from laneval._spans import chunk_qrels
    from laneval._summary import RankingStream, Summary
else:
    # A module is imported when one of its names is first asked for: the command asks for none, and who evaluates for no comparison.
    _MODULES = {
        "_api": (
            "Matrix", "ResidentMatrix", "devices", "evaluate", "evaluate_ids", "evaluate_labels", "evaluate_neighbours",
            "evaluate_runs", "evaluate_scores", "measures", "parse_measure",
        ),
        "_check": ("CheckReport", "check"),
        "_comparison": ("Comparison", "ComparisonOptions", "PairDeltas", "GateVerdict", "Pair"),
        "_custom": ("CustomMeasure", "measure"),
        "_errors": (
            "DeviceError", "IgnoredQueriesWarning", "InputError", "LanevalError", "LanevalWarning", "MatrixError",
            "MeasureError", "MissingQueriesWarning", "OptionError", "Problem", "ShardError", "TiedScoresWarning",
            "UnanswerableError",
        ),
        "_identify": ("Candidate", "Identification", "IdentifiedLibrary", "identify"),
        "_options": ("DEFAULT", "Options"),
        "_pools": ("LeaveOneOut", "PooledRun", "PoolLoss", "Pools", "pools"),
        "_scores": ("PerQuery", "RankingRule", "RunScores", "Scores", "UnmatchedQueries"),
        "_sources": ("Qrels",),
        "_spans": ("chunk_qrels",),
        "_summary": ("RankingStream", "Summary"),
    }
    _MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

    def __getattr__(name):
        module = _MODULE_OF.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        of = getattr(importlib.import_module(f"laneval.{module}"), name)
        globals()[name] = of
        return of

    def __dir__():
        return sorted({*globals(), *_MODULE_OF})


__all__ = [
    "DEFAULT",
    "Candidate",
    "CheckReport",
    "Comparison",
    "ComparisonOptions",
    "CustomMeasure",
    "PairDeltas",
    "DeviceError",
    "GateVerdict",
    "Identification",
    "IdentifiedLibrary",
    "IgnoredQueriesWarning",
    "InputError",
    "LanevalError",
    "LanevalWarning",
    "LeaveOneOut",
    "Matrix",
    "MatrixError",
    "MeasureError",
    "MissingQueriesWarning",
    "OptionError",
    "Options",
    "Pair",
    "PerQuery",
    "PoolLoss",
    "PooledRun",
    "Pools",
    "Problem",
    "Qrels",
    "ResidentMatrix",
    "RankingRule",
    "RunScores",
    "Scores",
    "ShardError",
    "RankingStream",
    "Summary",
    "TiedScoresWarning",
    "UnanswerableError",
    "UnmatchedQueries",
    "__version__",
    "check",
    "chunk_qrels",
    "devices",
    "evaluate",
    "evaluate_ids",
    "evaluate_labels",
    "evaluate_neighbours",
    "evaluate_runs",
    "evaluate_scores",
    "identify",
    "measure",
    "measures",
    "parse_measure",
    "pools",
]

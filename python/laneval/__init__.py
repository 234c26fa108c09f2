"""Evaluates ranked retrieval offline: AP, nDCG, RR, recall, ERR … of runs against relevance judgments.

>>> import laneval
>>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
>>> run = {"q1": {"d2": 1.5, "d1": 1.2}, "q2": {"d3": 0.7}}
>>> laneval.evaluate(qrels, run, ["nDCG@10", "AP", "RR"])
<run: nDCG@10: 0.8155, AP: 0.7500, RR: 0.7500; 2 queries; ties docno-desc, scores f64>
"""

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
from laneval._check import Checked, check
from laneval._comparison import Comparison, ComparisonOptions, Deltas, GateVerdict, Pair
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
    UnanswerableError,
)
from laneval._identify import Candidate, Identified, IdentifiedLibrary, identify
from laneval._native import __version__
from laneval._options import DEFAULT, Options
from laneval._pools import LeftOut, PooledRun, PoolLoss, Pools, pools
from laneval._scores import PerQuery, Rule, RunScores, Scores, Unmatched
from laneval._sources import Qrels
from laneval._spans import chunk_qrels
from laneval._summary import Stream, Summary

__all__ = [
    "DEFAULT",
    "Candidate",
    "Checked",
    "Comparison",
    "ComparisonOptions",
    "CustomMeasure",
    "Deltas",
    "DeviceError",
    "GateVerdict",
    "Identified",
    "IdentifiedLibrary",
    "IgnoredQueriesWarning",
    "InputError",
    "LanevalError",
    "LanevalWarning",
    "LeftOut",
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
    "Rule",
    "RunScores",
    "Scores",
    "ShardError",
    "Stream",
    "Summary",
    "UnanswerableError",
    "Unmatched",
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

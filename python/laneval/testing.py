"""Gates in tests: a test fails if search got worse, and says what happened and what was allowed.

Any test calls `assert_gates`. Tests of pytest have it as the fixture `laneval_gate` as well, once the topmost `conftest.py` says

    pytest_plugins = ["laneval.testing"]

The package registers no plugin by itself: then every run of pytest in its environment would import laneval, also where no test asks for it.
pytest need not be installed.

No assertion stands here that pytest could explain, so that it may be imported before: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Unpack, overload

from laneval import _native
from laneval._api import evaluate, evaluate_runs
from laneval._baseline import has_scores, stored_measures, stored_run
from laneval._comparison import Comparison, ComparisonOptions, GateVerdict, format_of
from laneval._errors import UnanswerableError
from laneval._names import base_name
from laneval._options import Options
from laneval._scores import RunScores
from laneval._sources import GroupedSource, Path, Qrels, Source

__all__ = ["assert_gates"]


@overload
def assert_gates(
    qrels: Source | GroupedSource | Qrels,
    run: Source | RunScores,
    *,
    baseline: Source | RunScores,
    fail_if: str | Iterable[str],
    measures: str | Iterable[str] = (),
    page: Path | None = None,
    comparison: ComparisonOptions | None = None,
    **options: Unpack[Options],
) -> Comparison: ...


@overload
def assert_gates(
    qrels: Source | GroupedSource | Qrels,
    run: Source | RunScores,
    *,
    baseline: None = None,
    fail_if: str | Iterable[str],
    measures: str | Iterable[str] = (),
    page: Path | None = None,
    comparison: ComparisonOptions | None = None,
    **options: Unpack[Options],
) -> RunScores: ...


def assert_gates(
    qrels: Source | GroupedSource | Qrels,
    run: Source | RunScores,
    *,
    baseline: Source | RunScores | None = None,
    fail_if: str | Iterable[str],
    measures: str | Iterable[str] = (),
    page: Path | None = None,
    comparison: ComparisonOptions | None = None,
    **options: Unpack[Options],
) -> Comparison | RunScores:
    """Compares a `run` with a `baseline` against judgments (`qrels`), and returns the comparison if no gate of `fail_if` holds, such as
    `"nDCG@10 drops > 0.5%"`. Without a baseline gates are about the run alone, such as `"nDCG@10 < 0.4"`, and its scores are returned.

    Judgments and runs are what `evaluate` takes, or scores that it returned with `per_query=True`. A baseline may also be the path of a
    JSON file that `RunScores.save` or `laneval eval --per-query -o FILE.json` wrote. The first of `measures` decides the verdict, which
    the message begins with; those of the gates are added, and suffice; without `measures` those of a baseline that has scores come before
    them. A `page` is the path of a file that is written as by `Comparison.save`, also if a gate fails. `comparison` has keywords of
    `ComparisonOptions`, and `options` are keywords of `Options`, for runs that are evaluated here.

    Raises `AssertionError` if a gate holds, with the verdict and what happened and what was allowed under each gate. A gate that cannot be
    computed is no pass: raises what `evaluate` and `Comparison.gate` raise, and `UnanswerableError` if there is no gate, if nothing that a
    run retrieved is judged, or for `options` but nothing to evaluate, and `page` or `comparison` but no baseline.

    >>> from laneval.testing import assert_gates
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
    >>> old = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
    >>> new = {**old, "q3": {"d1": 1.0, "d2": 2.0}}
    >>> assert_gates(qrels, new, baseline=old, fail_if="RR drops > 0.2")["run", "baseline", "RR"].losses
    1
    >>> try:
    ...     assert_gates(qrels, new, baseline=old, fail_if=["RR drops > 0.1", "P@1 < 0.5"])
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[-1])
    PASSED  run: P@1 < 0.5  (P@1 of run is 0.6667; allowed: 0.5 or more)
    >>> assert_gates(qrels, new, fail_if="P@1 < 0.5")["P@1"] > 0.6
    True
    """
    __tracebackhide__ = True  # pytest shows the line that asked
    gates = [fail_if] if isinstance(fail_if, str) else list(fail_if)
    if not gates:
        raise UnanswerableError('fail_if has no gate: one such as "nDCG@10 drops > 0.5%" was expected')
    if page is not None:
        format_of(page)
    if baseline is None:
        if page is not None or comparison is not None:
            raise UnanswerableError("page and comparison are of a comparison, and there is no baseline")
        return _alone(qrels, run, gates, _names(measures, gates), options)
    new, old, names = _evaluated(qrels, run, baseline, (measures, gates), options)
    asked: ComparisonOptions = {**(comparison or {}), "measures": names}
    compared = new.compare(old, **asked)
    verdicts = [verdict for gate in gates for verdict in compared.gate(gate)]
    if page is not None:
        compared.save(page, gates=gates)
    if not all(verdict.passed for verdict in verdicts):
        raise AssertionError("\n".join([compared.verdict, *map(str, verdicts)]))
    return compared


def _alone(
    qrels: Source | GroupedSource | Qrels,
    run: Source | RunScores,
    gates: list[str],
    names: list[str],
    options: Options,
) -> RunScores:
    """The scores of a run of which no gate holds that is about it alone."""
    __tracebackhide__ = True
    if isinstance(run, RunScores) and options:
        raise UnanswerableError(f"{', '.join(options)}: the run was evaluated already")
    scores = run if isinstance(run, RunScores) else evaluate(qrels, run, names, **options)
    verdicts = []
    for gate in gates:
        measure = _native.measure_of_gate(gate)
        if measure not in scores:
            raise UnanswerableError(f"{scores.name} was not evaluated with {measure}: there are {', '.join(scores)}")
        counts = (scores.skipped.get(measure, 0), scores.queries)
        failed, value, limit, told = _native.judge_alone(gate, scores.name, scores[measure], counts)
        if not failed and scores._known["nothing_judged"]:
            raise UnanswerableError(
                f"the gate `{gate}` cannot be computed: no result of {scores.name} is judged: are these the right judgments, with the same ids?"
            )
        verdicts.append(GateVerdict(gate, scores.name, not failed, value, limit, None, told))
    if not all(verdict.passed for verdict in verdicts):
        raise AssertionError("\n".join(map(str, verdicts)))
    return scores


def _names(measures: str | Iterable[str], gates: list[str]) -> list[str]:
    """The canonical names of measures, and of those of gates behind them."""
    asked = [measures] if isinstance(measures, str) else list(measures)
    names = [name for measure in asked for name in _native.parse(measure)]
    return list(dict.fromkeys([*names, *map(_native.measure_of_gate, gates)]))


def _evaluated(
    qrels: Source | GroupedSource | Qrels,
    run: Source | RunScores,
    baseline: Source | RunScores,
    asked: tuple[str | Iterable[str], list[str]],
    options: Options,
) -> tuple[RunScores, RunScores, list[str]]:
    """The scores of the run and the baseline, and the measures to compare by: those that are asked for, or else those of a baseline that
    has scores, and those of gates. What has no scores yet is evaluated, together if it can be.
    """
    kept: Options = {**options, "per_query": True}
    file = baseline if isinstance(baseline, (str, os.PathLike)) and has_scores(baseline) else None
    measures, gates = asked
    if not measures:
        of_baseline = stored_measures(file) if file is not None else list(baseline) if isinstance(baseline, RunScores) else []
        measures = [name for name in of_baseline if base_name(name) != "Judged" and (not isinstance(run, RunScores) or name in run)]
    names = _names(measures, gates)
    if not isinstance(run, RunScores) and not isinstance(baseline, RunScores) and file is None:
        both = evaluate_runs(qrels, {"baseline": baseline, "run": run}, names, **kept)
        return both["run"], both["baseline"], names
    if isinstance(run, RunScores) and (isinstance(baseline, RunScores) or file is not None) and options:
        raise UnanswerableError(f"{', '.join(options)}: both runs were evaluated already")
    new = run if isinstance(run, RunScores) else evaluate(qrels, run, names, **kept)
    if file is not None:
        return new, stored_run(file, new), names
    return new, baseline if isinstance(baseline, RunScores) else evaluate(qrels, baseline, names, **kept), names


if TYPE_CHECKING or "pytest" in sys.modules:  # as a plugin of pytest, which is not asked for elsewhere
    import pytest

    @pytest.fixture
    def laneval_gate() -> Callable[..., Comparison | RunScores]:
        """The function `assert_gates`."""
        return assert_gates

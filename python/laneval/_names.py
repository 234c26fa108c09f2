"""Names of measures."""

from __future__ import annotations

from collections.abc import Sequence

from laneval import _native
from laneval._errors import MeasureError


def better(measure: str) -> str | None:
    """The direction in which averages of a measure are better, `"higher"` or `"lower"`; `None` if neither is."""
    if not _directions:
        _directions.update((of["name"], of["better"]) for of in _native.measures())
    return _directions.get(base_name(measure), "higher")


def base_name(measure: str) -> str:
    """The name of a measure without parameters and cutoff."""
    return measure.split("@")[0].split("(")[0]


_directions: dict[str, str | None] = {}


def _name(measure: str, names: Sequence[str]) -> str:
    """The canonical name of an evaluated measure, given any of its names."""
    if measure in names:
        return measure
    try:
        found = _native.parse(measure)
    except MeasureError:
        raise KeyError(measure) from None
    if len(found) == 1 and found[0] in names:
        return found[0]
    raise KeyError(measure)

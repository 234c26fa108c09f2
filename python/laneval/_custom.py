"""Measures written in Python, over batches of rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from laneval._errors import OptionError, UnanswerableError

if TYPE_CHECKING:
    from laneval import _native

class CustomMeasure:
    """A measure written in Python, made by `measure`. It can be used wherever the name of a measure can.

    It has its `function`, its `name`, which of two averages is `better`, how values are averaged (`average`), and the `range` of its
    values.

    >>> import laneval
    >>> @laneval.measure(name="Found", range=(0, 1))
    ... def found(labels, lengths, judged, grades):
    ...     return [float(length > 0) for length in lengths]
    >>> found.name, found.range
    ('Found', (0, 1))
    >>> found.statistics([1.0, 0.0], ["max"])
    {'mean': 0.5, 'max': 1.0}
    >>> laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, found)["Found"]
    1.0
    """

    def __init__(
        self,
        function: Callable[[Any, Any, Any, Any], Sequence[float]],
        name: str,
        better: Literal["higher", "lower"] | None,
        average: Literal["mean", "sum", "gmean"],
        range: tuple[float, float],
    ) -> None:
        from laneval import _native
        from laneval._errors import MeasureError

        if not callable(function):
            what = f"{function!r} of {type(function)}"
            raise TypeError(f"the measure is made of {what}: a function of labels, lengths, judged and grades was expected")
        _check(better, average)
        try:
            taken = _native.parse(name)
        except MeasureError:
            taken = []
        whole = (0, len(name.encode()))
        if taken:
            raise MeasureError(f"{name}: laneval has a measure of this name: {taken[0]}", name, whole)
        if not name or any(letter.isspace() or letter == "," for letter in name):
            raise MeasureError(f"{name!r} cannot be the name of a measure", name, whole)
        self.function = function
        self.name = name
        self.better = better
        self.average = average
        self.range = range

    def __repr__(self) -> str:
        return f"<measure {self.name}>"

    def __str__(self) -> str:
        return self.name

    def values(
        self, matrix: _native.Matrix, run: int, queries: Sequence[str], view: tuple[int | None, bool]
    ) -> tuple[list[float], list[bool]]:
        """The value of each of `queries` of the `run` at this place of a `matrix`, from 0, and whether the run has any result for it:
        `[query]` and `[query]`. `view` is the number of ranks that count, and whether only judged documents do.

        Raises `UnanswerableError` if the function returns another number of values, or one that is not in `range`.
        """
        grades = _array(memoryview(_doubles(matrix.grades())), "d", None)
        codes = len(grades)
        values: list[float] = []
        there: list[bool] = []
        step = 1 << 12
        for start in range(0, len(queries), step):
            end = min(start + step, len(queries))
            depth, labels, lengths, judged = matrix.labels(run, start, end, *view)
            n = end - start
            arrays = (
                _array(memoryview(labels), "B", (n, depth)),
                _array(memoryview(lengths), "I", None),
                _array(memoryview(judged), "I", (n, codes)),
            )
            found = self.function(*arrays, grades)
            if len(found) != n:
                raise UnanswerableError(f"{self.name}: {len(found)} values came back for {n} rankings")
            low, high = self.range
            for at, value in enumerate(found, start):
                value = float(value)
                if not low <= value <= high or math.isinf(value):
                    raise UnanswerableError(
                        f"{self.name}: the value of query {queries[at]} is {value}: one from {low} to {high} was expected"
                    )
                values.append(value)
            there.extend(length > 0 for length in memoryview(lengths).cast("I"))
        return values, there

    def statistics(self, values: Sequence[float], stats: Sequence[str]) -> dict[str, float]:
        """The average of `values`, `[query]`, by its name, with these `stats`: `{statistic: value}`. `range` has their limits, from −inf to
        inf.

        Raises `UnanswerableError` if `"ci95"` is asked for.
        """
        return statistics(self.name, self.average, values, stats)


def statistics(name: str, average: str, values: Sequence[float], stats: Sequence[str]) -> dict[str, float]:
    """The average of values under a measure by its name (exact sums, rounded once), with these statistics."""
    if average == "gmean":
        logs = [math.log(max(value, 1e-5)) for value in values]
        found = {average: math.exp(math.fsum(logs) / len(values)) if values else 0.0}
    else:
        of_all = math.fsum(values)
        found = {average: of_all / len(values) if average == "mean" and values else of_all}
    for stat in stats:
        if stat == "ci95":
            raise UnanswerableError(f"{name}: there is no interval of values that laneval did not compute")
        if not values or (stat == "std" and len(values) < 2):
            continue
        if stat in ("min", "max"):
            found[stat] = min(values) if stat == "min" else max(values)
        else:
            import statistics as of

            found[stat] = of.median(values) if stat == "median" else of.stdev(values)
    return found


@overload
def measure(function: Callable[[Any, Any, Any, Any], Sequence[float]], /) -> CustomMeasure: ...
@overload
def measure(
    *,
    name: str | None = None,
    better: Literal["higher", "lower"] | None = "higher",
    average: Literal["mean", "sum", "gmean"] = "mean",
    range: tuple[float, float] = (-math.inf, math.inf),
) -> Callable[[Callable[[Any, Any, Any, Any], Sequence[float]]], CustomMeasure]: ...
def measure(
    function: Callable[[Any, Any, Any, Any], Sequence[float]] | None = None,
    /,
    *,
    name: str | None = None,
    better: Literal["higher", "lower"] | None = "higher",
    average: Literal["mean", "sum", "gmean"] = "mean",
    range: tuple[float, float] = (-math.inf, math.inf),
) -> Any:
    """Makes a measure of a function over batches of rankings, to be used wherever the name of a measure is.

    The function gets these four arguments for n rankings, and returns n values:

    * `labels[n, depth]` (uint8): the label of the document at each rank;
    * `lengths[n]` (uint32): the number of ranks of each ranking; labels behind them are 0;
    * `judged[n, number of labels]` (uint32): the number of judged documents of each label of the query;
    * `grades[number of labels]` (float64): the grade of each label; NaN for labels of documents that are not judged.

    The arguments are read-only arrays of NumPy if NumPy is installed, else memoryviews.

    `name` is that of the `function` by default. `better` says which of two averages is, `"higher"`, `"lower"`, or `None` if neither is;
    `average` is how the values of queries become one, `"mean"`, `"sum"` or `"gmean"`, the geometric mean; values lie in `range`, from its
    first number to its second, by default from −inf to inf. Without a function, returns a decorator that makes the measure.

    Raises `TypeError` if the function is none, `OptionError` if `better` or `average` is none of these, and `MeasureError` if the name is
    one of laneval's, or no name; `evaluate` raises `UnanswerableError` if not n values come back, or
    one that is not in the range.

    >>> import numpy as np
    >>> import laneval
    >>> @laneval.measure(name="Top1Grade")
    ... def top1(labels, lengths, judged, grades):
    ...     return np.nan_to_num(grades[labels[:, 0]]) * (lengths > 0)
    >>> qrels = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d7": 0.5, "d1": 0.4}}
    >>> dict(laneval.evaluate(qrels, run, [top1, "RR"]))
    {'Top1Grade': 1.0, 'RR': 0.75}
    """
    _check(better, average)
    if function is None:
        return lambda of: CustomMeasure(of, name or str(getattr(of, "__name__", "")), better, average, range)
    return CustomMeasure(function, name or str(getattr(function, "__name__", "")), better, average, range)


def _check(better: object, average: object) -> None:
    """Checks that the keywords of a measure have values that they take.

    Raises `OptionError` otherwise.
    """
    if better not in ("higher", "lower", None):
        raise OptionError(f"better is {better!r}: 'higher', 'lower' or None was expected")
    if average not in ("mean", "sum", "gmean"):
        raise OptionError(f"average is {average!r}: 'mean', 'sum' or 'gmean' was expected")


def _doubles(values: Sequence[float]) -> bytes:
    import array

    return array.array("d", values).tobytes()


def _array(view: memoryview, kind: Literal["B", "I", "d"], shape: tuple[int, int] | None) -> Any:
    """Numbers of a kind, as an array of NumPy if NumPy is installed."""
    try:
        import numpy as np
    except ImportError:
        pass
    else:
        flat: Any = np.frombuffer(view, dtype=kind)
        return flat if shape is None else flat.reshape(shape)
    flat = view.cast(kind)
    return flat if shape is None or 0 in shape else view.cast("B").cast(kind, shape)

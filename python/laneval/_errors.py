"""Errors, as exceptions, and notices, as warnings."""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple


class LanevalError(Exception):
    """The base of all errors of laneval. Errors of the operating system are `OSError`.

    >>> import laneval
    >>> try:
    ...     laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "nDGC@10")
    ... except laneval.LanevalError as error:
    ...     print(type(error).__name__)
    MeasureError
    """


class Problem(NamedTuple):
    """One wrong line of a file, or row of a table. `InputError` has them.

    >>> import laneval
    >>> try:
    ...     laneval.Qrels(b"q1 0 d1 high")
    ... except laneval.InputError as error:
    ...     error.problems[0]
    Problem(file='qrels', line=1, message="grade 'high' is not a number: expected 'query iter docno grade'")
    """

    file: str
    """The file or the argument, by its name in messages."""
    line: int
    """The line or row, from 1; 0 for the whole input."""
    message: str
    """What was found and what was expected."""


class InputError(LanevalError, ValueError):
    """Wrong judgments or results: all `problems` that were found, `[problem]`, at most 20 of them, and the number
    `more` of others, from 0.

    `message` is its text.

    >>> import laneval
    >>> try:
    ...     laneval.evaluate({"q1": {"d1": 1}}, b"q1 Q0 d1 1 0.5 tag\\nq1 Q0 d2 2 high tag\\n")
    ... except laneval.InputError as error:
    ...     error.problems[0].line, error.more
    (2, 0)
    """

    def __init__(self, message: str, problems: list[tuple[str, int, str]] | None = None, more: int = 0) -> None:
        super().__init__(message, problems or [], more)
        self.problems = [Problem(*problem) for problem in problems or []]
        self.more = more

    def __str__(self) -> str:
        return str(self.args[0])


class MeasureError(LanevalError, ValueError):
    """An unknown measure: its `text`, the `span` of it that is at fault, `(start, end)` in letters of the text from 0, and `suggestions`
    `[name]`. So `text[start:end]` is at fault.

    `message` is its text. An error is made of the span in bytes of UTF-8, as the native part counts it.

    >>> import laneval
    >>> try:
    ...     laneval.parse_measure("nDGC@10")
    ... except laneval.MeasureError as error:
    ...     error.text, error.span, error.suggestions
    ('nDGC@10', (0, 4), ['nDCG', 'RnDCG'])
    """

    def __init__(
        self,
        message: str,
        text: str = "",
        span: tuple[int, int] = (0, 0),
        suggestions: list[str] | None = None,
    ) -> None:
        super().__init__(message, text, span, suggestions or [])
        self.text = text
        start, end = span
        self.span = (_letters(text, start), _letters(text, end))
        self.suggestions = suggestions or []

    def __str__(self) -> str:
        return str(self.args[0])


def _letters(text: str, count: int) -> int:
    """The number of letters that begin in this number of bytes of a text in UTF-8."""
    if text.isascii():
        return count
    return sum(byte & 0xC0 != 0x80 for byte in text.encode(errors="surrogatepass")[:count])


class MatrixError(LanevalError, ValueError):
    """A `.lmx` file that is damaged, foreign, or of another version.

    >>> import laneval
    >>> try:
    ...     laneval.Matrix.from_bytes(b"something else")
    ... except laneval.MatrixError as error:
    ...     print(error)
    bytes: header: is not a .lmx file (made by `laneval build`)
    """


class UnanswerableError(LanevalError, ValueError):
    """A question that cannot be answered from the input.

    >>> import laneval
    >>> scores = laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR")
    >>> try:
    ...     scores.per_query()
    ... except laneval.UnanswerableError as error:
    ...     print(error)
    the values of queries were not kept: evaluate with per_query=True
    """


class OptionError(UnanswerableError):
    """A keyword with a value that it does not have.

    >>> import laneval
    >>> try:
    ...     laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", depth=0)
    ... except laneval.OptionError as error:
    ...     print(error)
    depth is 0: 1 or more was expected
    """


class ShardError(LanevalError, ValueError):
    """Summaries that do not belong together, or are damaged.

    >>> import laneval
    >>> summary = laneval.Summary.evaluate({"q1": {"d1": 1}}, {"mine": {"q1": {"d1": 0.5}}}, "RR")
    >>> try:
    ...     summary + summary
    ... except laneval.ShardError as error:
    ...     print(error)
    mine: 1 query is counted twice (q1): in mine and in mine
    """


class DeviceError(LanevalError, RuntimeError):
    """A GPU that is not there, refuses, or was lost.

    >>> import laneval
    >>> try:
    ...     laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR", adapter="no such GPU")
    ... except laneval.DeviceError as error:
    ...     print(type(error).__name__)
    DeviceError
    """


class LanevalWarning(UserWarning):
    """A notice. It changes no score.

    >>> import laneval, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", laneval.LanevalWarning)
    ...     laneval.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR")["RR"]
    0.5
    """


class MissingQueriesWarning(LanevalWarning):
    """Judged queries that a run lacks.

    >>> import laneval, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     scores = laneval.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR")
    >>> print(caught[0].message)
    run: 1 judged query is not in the run and counts as an empty ranking: q2
    """


class TiedScoresWarning(LanevalWarning):
    """Equal scores of documents of different grades, in more than a tenth of the rows of an array, whose order decides the values: the
    earlier of equal documents comes first, which a model that scores all alike is given for nothing.

    >>> import laneval, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     scores = laneval.evaluate_scores([[0.0, 0.0, 0.0]], [[1, 0, 0]], "RR")
    >>> scores["RR"], caught[0].category.__name__
    (1.0, 'TiedScoresWarning')
    >>> laneval.evaluate_scores([[0.0, 0.0, 0.0]], [[1, 0, 0]], "RR", ties="average")["RR"]
    0.611111111111111
    """


class IgnoredQueriesWarning(LanevalWarning):
    """Queries of a run that are not judged, which never count.

    >>> import laneval, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     scores = laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}, "q2": {"d1": 0.5}}, "RR")
    >>> print(caught[0].message)
    run: 1 of its queries is not judged and does not count: q2
    """


def warn_caller(message: str) -> None:
    """Warns with the line that called the package."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("laneval."):
        level += 1
    warnings.warn(message, LanevalWarning, stacklevel=level + 1)

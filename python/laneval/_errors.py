"""Errors, as exceptions, and notices, as warnings."""

from __future__ import annotations

from typing import NamedTuple


class LanevalError(Exception):
    """The base of all errors of laneval. Errors of the operating system are `OSError`."""


class Problem(NamedTuple):
    """One wrong line of a file, or row of a table."""

    file: str
    """The file or the argument, by its name in messages."""
    line: int
    """The line or row, from 1; 0 for the whole input."""
    message: str
    """What was found and what was expected."""


class InputError(LanevalError, ValueError):
    """Wrong judgments or results: all `problems` that were found, at most twenty of them, and the number `more` of others."""

    def __init__(self, message: str, problems: list[tuple[str, int, str]] | None = None, more: int = 0) -> None:
        super().__init__(message, problems or [], more)
        self.problems = [Problem(*problem) for problem in problems or []]
        self.more = more

    def __str__(self) -> str:
        return str(self.args[0])


class MeasureError(LanevalError, ValueError):
    """An unknown measure: the `text`, the `span` of it that is at fault, and `suggestions`."""

    def __init__(
        self,
        message: str,
        text: str = "",
        span: tuple[int, int] = (0, 0),
        suggestions: list[str] | None = None,
    ) -> None:
        super().__init__(message, text, span, suggestions or [])
        self.text = text
        self.span = span
        self.suggestions = suggestions or []

    def __str__(self) -> str:
        return str(self.args[0])


class MatrixError(LanevalError, ValueError):
    """A `.lmx` file that is damaged, foreign, or of another version."""


class UnanswerableError(LanevalError, ValueError):
    """A question that cannot be answered from the input."""


class OptionError(UnanswerableError):
    """A keyword with a value that it does not have."""


class ShardError(LanevalError, ValueError):
    """Summaries that do not belong together, or are damaged."""


class DeviceError(LanevalError, RuntimeError):
    """A GPU that is not there, refuses, or was lost."""


class LanevalWarning(UserWarning):
    """A notice. It changes no score."""


class MissingQueriesWarning(LanevalWarning):
    """Judged queries that a run lacks."""


class IgnoredQueriesWarning(LanevalWarning):
    """Queries of a run that are not judged, which never count."""

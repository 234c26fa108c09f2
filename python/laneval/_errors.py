"""What goes wrong, as exceptions, and what deserves notice, as warnings."""

from __future__ import annotations

from typing import NamedTuple


class LanevalError(Exception):
    """Whatever laneval refuses. What the operating system refuses is an `OSError`."""


class Problem(NamedTuple):
    """One wrong line of a file, or row of a table."""

    file: str
    """The file or the argument, as messages call it."""
    line: int
    """The line or row, from 1; 0 where all of it is meant."""
    message: str
    """What was found and what was expected."""


class InputError(LanevalError, ValueError):
    """Judgments or results that are wrong: all `problems` that were found, at most twenty of them, and how many `more`."""

    def __init__(self, message: str, problems: list[tuple[str, int, str]] | None = None, more: int = 0) -> None:
        super().__init__(message, problems or [], more)
        self.problems = [Problem(*problem) for problem in problems or []]
        self.more = more

    def __str__(self) -> str:
        return str(self.args[0])


class MeasureError(LanevalError, ValueError):
    """A measure that there is not: the `text`, the `span` of it that is at fault, and `suggestions`."""

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
    """Something that cannot be answered from the input."""


class ShardError(LanevalError, ValueError):
    """Summaries that do not belong together, or are damaged."""


class DeviceError(LanevalError, RuntimeError):
    """A GPU that is not there, refuses, or was lost."""


class LanevalWarning(UserWarning):
    """Something to notice. It changes no score."""


class MissingQueriesWarning(LanevalWarning):
    """Judged queries that a run lacks."""


class IgnoredQueriesWarning(LanevalWarning):
    """Queries of a run that are not judged, which never count."""

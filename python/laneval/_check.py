"""Checks: which definition of a measure a function computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from laneval import _native


class CheckReport:
    """What a function computes; `check` makes it.

    `verdict` is `found` or `likely` if one definition has all the values (`found`: every other one differs in five cases or more), `undecided`
    if several have them, and `none`. `definitions` has those that have all the values, as dictionaries; `nearest` is the one that agrees in the
    most cases if none has, and `mistake` the one other choice that would explain all values then. `cases` has a dictionary for each case.
    `str` says it in sentences.

    >>> import laneval
    >>> def precision(qrels, run, k):
    ...     (query, grades), = qrels.items()
    ...     ranked = sorted(run[query], key=run[query].get, reverse=True)
    ...     return sum(grades.get(document, 0) > 0 for document in ranked[:k]) / k
    >>> checked = laneval.check(precision, "P")
    >>> checked.verdict, checked.compared, checked.definitions[0]["measure"], checked.definitions[0]["options"]
    ('likely', 21, 'P@k', {'ties': 'input'})
    >>> checked.to_dict()["measure"], checked.to_json()[0]
    ('P', '{')
    """

    __slots__ = ("_json", "_text", "cases", "compared", "definitions", "measure", "mistake", "nearest", "suite", "telling", "verdict")

    def __init__(self, text: str, as_json: str) -> None:
        self._text = text
        self._json = as_json
        data = self.to_dict()
        self.suite: str = data["suite"]
        self.measure: str = data["measure"]
        self.verdict: Literal["found", "likely", "undecided", "none"] = data["verdict"]
        self.compared: int = data["compared"]
        self.telling: int = data["telling"]
        self.definitions: list[dict[str, Any]] = data["definitions"]
        self.nearest: dict[str, Any] | None = data["nearest"]
        self.mistake: str | None = data["mistake"]
        self.cases: list[dict[str, Any]] = data["cases"]

    def to_dict(self) -> dict[str, Any]:
        """The check as plain data: `{"verdict": …, "definitions": …}`, with the keys of `to_json`."""
        import json

        data: dict[str, Any] = json.loads(self._json)
        return data

    def to_json(self) -> str:
        """The check as JSON, as `laneval check --format json` prints it."""
        return self._json

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


def check(
    function: Callable[[dict[str, dict[str, int]], dict[str, dict[str, float]], int], float | None],
    measure: str = "nDCG",
    suite: str = "v1",
    *,
    as_: str | None = None,
) -> CheckReport:
    """Finds out which definition of `measure` a `function` computes, by the cases of a conformance `suite`.

    `function(qrels, run, k)` is called for each case: `qrels` is `{query: {document: grade}}` and `run` is `{query: {document: score}}`, both of one
    query and in the order of their files; `k` is 1 or more. It returns the value of the query; `None` or NaN mean that the query has none. An
    exception means that it refuses the case, which is no evidence then. `as_` asks for the definition of one library, such as `"lightgbm"`.

    Raises `UnanswerableError` for a measure, a suite or a library that is not known, and if the function has a number for no case.

    >>> import laneval
    >>> def reciprocal(qrels, run, k):
    ...     (query, grades), = qrels.items()
    ...     ranked = sorted(run[query], key=run[query].get, reverse=True)
    ...     hits = (rank for rank, document in enumerate(ranked, start=2) if grades.get(document, 0) > 0 and rank <= k + 1)
    ...     return 1 / next(hits, float("inf"))
    >>> print(laneval.check(reciprocal, "RR"))
    no definition known: this is RR@k --ties input but for one choice: i + 1 for the rank i
    """
    return CheckReport(*_native.run_check(function, measure, suite, as_))

"""Which definition a number is of: all definitions of a measure are tried on the judgments and the run that it was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from laneval import _native
from laneval._errors import UnanswerableError
from laneval._options import Columns, Format, Options, PreparedOptions, check_integer
from laneval._sources import Path, Qrels, Source, _judgments

Number = str | float | int | None


class IdentifiedLibrary(NamedTuple):
    """A library that computes a definition.

    >>> import laneval
    >>> qrels, run = {"q": {"d1": 1, "d2": 1}}, {"q": {"d3": 3, "d1": 2}}
    >>> libraries = laneval.identify(qrels, run, {"RR": "0.500"}).candidates[0].libraries
    >>> "trec_eval" in {of.library for of in libraries}
    True
    """

    library: str
    """The name of the library."""
    name: str
    """The name that it has for the measure."""
    seen: str
    """The way in which it is known: `run`, `function` or `source`."""
    differs: str
    """The options in which it evaluates otherwise, where no library evaluates just so."""


class Candidate(NamedTuple):
    """A class of definitions, which have the same value of every query on the data.

    >>> import laneval
    >>> qrels, run = {"q": {"d1": 1, "d2": 1}}, {"q": {"d3": 3, "d1": 2}}
    >>> of = laneval.identify(qrels, run, {"AP": "0.250"}).candidates[0]
    >>> of.measure, of.options, of.value, of.printed
    ('AP', {}, 0.25, 'rounded')
    """

    measure: str
    """The measure of its simplest member, in its canonical name."""
    options: dict[str, str]
    """The options of its simplest member that differ from the defaults, `{option: word}`."""
    value: float | None
    """The average, of most measures from 0 to 1; `None` if no query counts."""
    printed: str
    """The way in which its value was printed: `rounded`, `f32` or `cut`."""
    agree: int | None
    """The number of queries whose value is the one given; `None` if none were."""
    telling: int | None
    """The number of queries on which the next class has another value; `None` if no values were given, or for other classes than the first."""
    members: int
    """The number of definitions in it."""
    same_here: list[str]
    """The changes of its simplest member that change no value here, `[change]`."""
    libraries: list[IdentifiedLibrary]
    """The libraries that compute a member, `[library]`."""
    differs: str
    """The queries on which a class that does not fit differs, in words."""


class Identification:
    """What was found of a number; `identify` makes it.

    `verdict` is `found`, `likely`, `undecided` or `none`. `chance` is the number of other classes that print the same by chance, 0 or more,
    or `None` if there is no bound. `definitions` and `classes` are the numbers of definitions that were tried, and of classes among them.
    `candidates` are the classes that fit, of which there are `fitting`, and `nearest` those that come next. `advice` says what would decide,
    and `notes` are remarks on what was given.

    >>> import laneval
    >>> qrels, run = {"q": {"d1": 1, "d2": 1}}, {"q": {"d3": 3, "d1": 2}}
    >>> found = laneval.identify(qrels, run, {"AP": "0.250"})
    >>> found.fitting, found.candidates[0].measure, found.to_dict()["numbers"]
    (1, 'AP', [{'name': 'AP', 'value': '0.250'}])
    >>> found.to_json()[:1]
    '{'
    """

    __slots__ = ("_native", "advice", "candidates", "chance", "classes", "definitions", "fitting", "nearest", "notes", "verdict")

    def __init__(self, native: _native.Identification) -> None:
        self._native = native
        data = self.to_dict()
        self.verdict: Literal["found", "likely", "undecided", "none"] = data["verdict"]
        self.chance: float | None = data["chance"]
        self.definitions: int = data["space"]["definitions"]
        self.classes: int = data["space"]["classes"]
        self.fitting: int = data["fitting"]
        self.candidates = [_candidate(of) for of in data["candidates"]]
        self.nearest = [_candidate(of) for of in data["nearest"]]
        self.advice: str = data["advice"]
        self.notes: list[str] = data["notes"]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, `{part: data}`."""
        import json

        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_json(self) -> str:
        """All of it as JSON."""
        return self._native.report("json").decode()

    def __repr__(self) -> str:
        return self._native.report("table").decode().rstrip("\n")


def _candidate(of: dict[str, Any]) -> Candidate:
    libraries = [IdentifiedLibrary(**library) for library in of["libraries"]]
    return Candidate(**{**of, "libraries": libraries})


def _text(number: object, of: str) -> str:
    """A number as it was printed: a `str` keeps its digits, a float has all of them."""
    if isinstance(number, str):
        return number
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise TypeError(f"{of} is {number!r}: a number, or a str that keeps its digits, was expected")
    if number != number:
        return "nan"
    return str(number) if isinstance(number, int) else f"{number:.17f}"


def identify(
    qrels: Source | Qrels,
    run: Source,
    numbers: str | float | Mapping[str, Number],
    *,
    measure: str | None = None,
    digits: int | None = None,
    top: int = 5,
    drop_identical_ids: bool = False,
    exclude: Path | Mapping[str, Iterable[str]] | None = None,
    columns: Columns | None = None,
    qrels_format: Format | None = None,
    run_format: Format | None = None,
    threads: int | None = None,
) -> Identification:
    """Finds which definition of a measure `numbers` are of, by trying all of them on the judgments (`qrels`) and the `run`, and returns what
    was `Identification`.

    `numbers` is `{measure: mean}`; a mean alone, of any measure; or, where `measure` is given, the values of queries, `{query: value}`, in
    which `None` is no value. A mapping whose keys all are judged queries has the values of queries, of any measure. A `str` such as
    `"0.4561"` or `"45.6%"` keeps its digits, which are its tolerance; a float has all 17. `digits`, from 1 to 17, overrules them. `top` is
    the number of classes that are listed, 0 or more.

    `qrels` and `run` are as for `evaluate`, and `drop_identical_ids`, `exclude`, `columns`, `qrels_format`, `run_format` and `threads` are keywords of
    `Options`.

    Raises `UnanswerableError` if a number is none, or has no decimals, values contradict one another or are of other queries, or a measure
    has no definitions to tell apart, `MeasureError` if there is no such measure, `ValueError` or `TypeError` if `digits` or `top` is no such
    number, and what `evaluate` raises.

    >>> import laneval
    >>> qrels, run = {"q": {"d1": 3, "d2": 1, "d3": 2}}, {"q": {"d4": 4, "d1": 3, "d2": 2}}
    >>> found = laneval.identify(qrels, run, {"nDCG@3": "0.5234"})
    >>> [of.measure for of in found.candidates]
    ['nDCG(gain=exp2)@3']
    """
    check_integer(top, "top", least=0)
    if digits is not None:
        check_integer(digits, "digits", least=0)
        if not 1 <= digits <= 17:
            raise ValueError(f"digits is {digits}: 1 to 17 was expected")
    options: Options = {"drop_identical_ids": drop_identical_ids}
    if exclude is not None:
        options["exclude"] = exclude
    if columns is not None:
        options["columns"] = columns
    if qrels_format is not None:
        options["qrels_format"] = qrels_format
    if run_format is not None:
        options["run_format"] = run_format
    if threads is not None:
        options["threads"] = threads
    ready = PreparedOptions((), options)
    judgments = _judgments(ready, qrels, options)
    means: list[tuple[str, str]] = []
    told: list[tuple[str, str]] = []
    if isinstance(numbers, Mapping):
        for name in numbers:
            if not isinstance(name, str):
                raise TypeError(f"the key {name!r} of numbers is of {type(name)}: a str was expected")
        if measure is not None or _are_queries(numbers, qrels):
            told = [(query, "nan" if value is None else _text(value, f"the value of query {query}")) for query, value in numbers.items()]
        else:
            means = [(name, _text(value, f"the mean of {name}")) for name, value in numbers.items()]
    elif measure is not None:
        means = [(measure, _text(numbers, "numbers"))]
    else:
        means = [("", _text(numbers, "numbers"))]
    if not means and not told:
        raise UnanswerableError("numbers is empty: a mean, or values of queries, were expected")
    asked = (means, measure or "", told)
    return Identification(ready.native.identify(judgments, [("run", run)], ready.columns, asked, (digits, top)))


def _are_queries(numbers: Mapping[str, Number], qrels: Source | Qrels) -> bool:
    """Whether all keys are queries that a mapping judges."""
    return isinstance(qrels, Mapping) and bool(numbers) and all(key in qrels for key in numbers)

"""Comparisons: which run is better, by how much, and how sure that is."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, get_args, get_type_hints

from laneval import _native
from laneval._errors import MeasureError, OptionError, UnanswerableError
from laneval._files import write_atomic
from laneval._names import _name, base_name, better
from laneval._options import threads_of, check_integer

if TYPE_CHECKING:
    import pandas
    import polars

FORMATS = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".svg": "svg",
    ".tex": "latex",
    ".tsv": "tsv",
    ".txt": "table",
    ".xml": "junit",
}


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that the extension of a `path` says.

    Raises `UnanswerableError` if the extension is none of those that are known.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise UnanswerableError(f"{os.fspath(path)}: the extension says how it is written: {known} were expected")
    return FORMATS[ending]


class ComparisonOptions(TypedDict, total=False):
    """Keywords of every `compare`; they are those of the command `laneval compare`. A wrong one raises `TypeError`, a wrong value
    `OptionError`.

    >>> import laneval
    >>> options: laneval.ComparisonOptions = {"test": "randomisation", "seed": 7}
    >>> relevant, ranked = [{"a"}] * 3, [["a"], ["x", "a"], ["x"]]
    >>> scores = laneval.evaluate_ids(relevant, ranked, "RR", per_query=True)
    >>> scores.compare(scores, **options).settings["test"]
    'randomisation'
    """

    measures: str | Iterable[str]
    """The measures to compare by, out of those that were evaluated. The default is all of them except `Judged`, which is shown as the share
    of documents that are judged. The first measure decides.
    """
    test: Literal["t", "randomisation", "wilcoxon", "sign"]
    """The test whose p decides. The default is the paired t test, `"t"`."""
    alternative: Literal["two-sided", "better", "worse"]
    """The alternative to "the runs are equal"."""
    alpha: float
    """The level of significance, between 0 and 1. The default is 0.05."""
    correction: Literal["none", "bonferroni", "holm", "bh", "by", "maxt", "hsd", "rhsd"]
    """The correction of p for the number of comparisons. The default is Holm's."""
    family: Literal["measure", "all"]
    """The pairs that are corrected together: those under each measure, or all."""
    ci: Literal["t", "bootstrap", "bca"]
    """The way in which intervals of differences are made."""
    permutations: int | Literal["auto", "exact"]
    """The number of random sign draws for the randomisation test, from 1. The default is 99,999, if that takes no more than some seconds;
    `"auto"` draws until every p is clear, `"exact"` also counts all flips of signs for pairs of which at most 40 queries differ.
    """
    seed: int
    """The seed of all random draws, from 0 to 2⁶⁴ − 1."""
    margin: float
    """Differences smaller than this, which is above 0, do not matter for practical purposes: they are tested by two one-sided tests."""
    power: float
    """A difference, above 0: the comparison tells how many queries find it four times in five."""
    tie_epsilon: float
    """The largest difference of a query that is a tie, from 0. By default only differences by rounding are ties."""
    wilcoxon_zeros: Literal["wilcox", "pratt"]
    """The treatment of differences of 0 in Wilcoxon's test: they are left out, or get ranks that are left out."""
    wilcoxon_method: Literal["auto", "normal"]
    """The way in which Wilcoxon's p is computed: exactly up to 50 differences, or by the normal distribution."""
    anova: bool
    """Whether the two-way analysis of variance is added."""
    threads: int
    """The number of threads, from 1. The default is `LANEVAL_THREADS`, or else one per processor."""


class Pair(NamedTuple):
    """The difference of a run from its baseline under a measure. A number that does not exist is `None`, not 0.

    Differences are the run's value less the baseline's; for a geometric mean they are ratios. They have the unit of the measure, which for
    most has none, so that they are from −1 to 1. Every p is from 0 to 1, and effect sizes are in standard deviations. A `Comparison` has
    pairs.

    >>> import laneval
    >>> relevant = [{"a"}] * 4
    >>> old = laneval.evaluate_ids(relevant, [["x", "a"], ["x", "a"], ["a"], ["a"]], "RR", per_query=True)
    >>> new = laneval.evaluate_ids(relevant, [["a"], ["x", "a"], ["a"], ["a"]], "RR", per_query=True)
    >>> pair = new.compare(old).pairs[0]
    >>> pair.delta, pair.wins, pair.ties, pair.losses, pair.p_sign
    (0.125, 1, 3, 0, 1.0)
    >>> [round(end, 4) for end in pair.interval]
    [-0.2728, 0.5228]
    """

    run: str
    """The name of the run."""
    baseline: str
    """The name of the run that `run` is compared with."""
    measure: str
    """The canonical name of the measure."""
    delta: float
    """The difference of the means."""
    delta_rel: float | None
    """The difference divided by the baseline's mean."""
    ci_low: float | None
    """The lower end of the interval of confidence 1 − alpha."""
    ci_high: float | None
    """The upper end of the interval of confidence 1 − alpha."""
    sd: float | None
    """The standard deviation of the differences of queries."""
    t: float | None
    """The statistic of the t test."""
    df: float | None
    """The degrees of freedom of the t test."""
    p_t: float | None
    """The p of the paired t test."""
    p_perm: float | None
    """The p of the randomisation test by random signs."""
    p_perm_se: float | None
    """The standard error of `p_perm`, which comes from random draws."""
    p_exact: float | None
    """The exact p of the randomisation test, if few queries differ and it decides or was asked for."""
    p_wilcoxon: float | None
    """The p of Wilcoxon's signed-rank test, if it was asked for."""
    p_sign: float | None
    """The p of the sign test."""
    p: float | None
    """The p of the test that decides, not corrected."""
    p_adj: float | None
    """The p after the correction, which decides whether a run is better."""
    d_z: float | None
    """The size of the effect: the difference in standard deviations."""
    g_z: float | None
    """The size of the effect, without the bias of few queries."""
    wins: int
    """The number of queries in which the run is better."""
    ties: int
    """The number of queries in which the two are equal."""
    losses: int
    """The number of queries in which the baseline is better."""
    ps: float
    """The share of queries won; a tie counts as half a query."""
    mde80: float | None
    """The smallest difference that this number of queries finds four times in five."""
    n80: int | None
    """The number of queries that find the difference `power` four times in five."""
    p_tost: float | None
    """The larger p of the two one-sided tests against `margin`."""
    better: str | None
    """The name of the run that is better, if one of the two is shown to be."""
    equivalent: bool | None
    """Whether the two are equal within `margin`."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the difference, `[low, high]`, of most measures from −1 to 1; `None` if there is none."""
        return None if self.ci_low is None or self.ci_high is None else (self.ci_low, self.ci_high)

    def __repr__(self) -> str:
        interval = "" if self.interval is None else f" ({self.ci_low:.4f} … {self.ci_high:.4f})"
        p = ", ".join(f"{word} {_p(value)}" for word, value in [("p", self.p), ("adjusted", self.p_adj)])
        return f"<{self.run} against {self.baseline}, {self.measure}: {self.delta:.4f}{interval}, {p}>"


class GateVerdict(NamedTuple):
    """The result of a gate for a run, as `Comparison.gate` returns it.

    >>> import laneval
    >>> scores = laneval.evaluate_ids([{"a"}] * 2, [["a"], ["x", "a"]], "RR", per_query=True)
    >>> print(*scores.compare(scores).gate("RR < 0.5"))
    PASSED  rankings: RR < 0.5  (RR of rankings is 0.7500; allowed: 0.5 or more)
    """

    gate: str
    """The gate."""
    run: str
    """The name of the run."""
    passed: bool
    """Whether the run passed."""
    value: float
    """The run's mean, or by how much the run is worse than the baseline; of most measures from 0 to 1."""
    threshold: float
    """The number that the value is compared with, in the unit of the value: of most measures from 0 to 1."""
    p: float | None
    """The p, from 0 to 1, if the gate asks for one."""
    told: str
    """What happened, and what was allowed, in words."""

    def __str__(self) -> str:
        return f"{'PASSED' if self.passed else 'FAILED'}  {self.run}: {self.gate}  ({self.told})"


Key = tuple[str, str, str]


class Comparison:
    """A comparison of runs, which `compare` of scores makes: a sequence of pairs, which are found by the names of the run, its baseline and
    the measure too. It is immutable.

    As text it is the output of `laneval compare`, the verdict first. It is also a stream of Arrow, with one row for each pair and columns named as the
    attributes of `Pair`: pandas, polars, pyarrow and DuckDB read it.

    >>> import laneval
    >>> relevant = [{"a"}] * 6
    >>> old = [["x", "a"], ["x", "y", "a"], ["a"], ["x", "a"], ["x", "y", "a"], ["x", "a"]]
    >>> new = [["a"], ["x", "a"], ["a"], ["a"], ["x", "a"], ["x", "y", "a"]]
    >>> old, new = (laneval.evaluate_ids(relevant, ranked, "RR", per_query=True) for ranked in (old, new))
    >>> comparison = new.compare(old)
    >>> comparison["rankings", "baseline", "RR"]
    <rankings against baseline, RR: 0.1944 (-0.0858 … 0.4747), p 0.1345, adjusted 0.1345>
    >>> comparison.pairs[0].wins, new.compare(old, test="randomisation").pairs[0].p_exact
    (4, 0.25)
    >>> comparison.gate("RR drops > 0.01")[0].passed
    True
    >>> comparison.measures, comparison.runs, comparison.baseline
    (['RR'], ['baseline', 'rankings'], 'baseline')
    >>> print(comparison.verdict)
    rankings against baseline is undecided: RR +0.194 (+36.8 %, 95 % interval -0.086 to +0.475), p = 0.1345.
    >>> print(comparison.sentences[0].split(",")[0])
    No difference shown between rankings and baseline on RR: +0.1944
    >>> print(*comparison.notes)
    6 queries are few: the interval and the t test assume normality: see p_perm, that of the randomisation test
    >>> comparison.settings["test"], comparison.settings["correction"]
    ('t', 'holm')

    It is handed on in many forms:

    >>> comparison.per_query()["rankings", "baseline"][:3]
    [0.5, 0.16666666666666669, 0.0]
    >>> comparison.to_dict(gates=["RR drops > 0.01"])["gates"][0]["verdict"]
    'passed'
    >>> print(comparison.to_markdown().splitlines()[2])
    | measure | baseline | rankings | delta | relative | interval | p | p adj | d | won/tied/lost |
    >>> comparison.to_latex().splitlines()[2], comparison.to_json()[:1], comparison.to_html(title="Two runs")[:15]
    ('\\\\begin{table}', '{', '<!DOCTYPE html>')
    >>> len(comparison.to_pandas()), len(comparison.to_polars())
    (1, 1)
    >>> import os, tempfile
    >>> comparison.save(os.path.join(tempfile.mkdtemp(), "report.html"))
    """

    __slots__ = ("_asked", "_native", "_pairs")

    def __init__(self, native: _native.Comparison, asked: tuple[Any, ...]) -> None:
        self._native = native
        self._asked = asked
        stats = native.stats()
        pairs = (_pair(stats, *row) for row in native.pairs())
        self._pairs = {pair[:3]: pair for pair in pairs}

    def __getitem__(self, key: Key | tuple[str, str]) -> Pair:
        """A pair, by a `key`: the run, the baseline, and the measure by any of its names, `[run, baseline, measure]`; the default is the
        first measure.

        Raises `KeyError` if there is no such pair.
        """
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            raise KeyError(key)
        run, baseline, *measure = key
        name = _name(measure[0], self.measures) if measure else self.measures[0]
        pair = self._pairs.get((run, baseline, name))
        if pair is None:
            raise KeyError(key)
        return pair

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._pairs.values())

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self._pairs)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs, `[pair]`: by measure, then by baseline and run."""
        return list(self._pairs.values())

    @property
    def measures(self) -> list[str]:
        """The canonical names of the measures, `[measure]`. The first one decides."""
        return list(dict.fromkeys(measure for _, _, measure in self._pairs))

    @property
    def runs(self) -> list[str]:
        """The names of the runs, `[run]`."""
        return [name for name, _ in self._asked[0]]

    @property
    def baseline(self) -> str | None:
        """The name of the run with which all others are compared; `None` if all pairs are compared."""
        name: str | None = self._asked[1]
        return name

    @property
    def verdict(self) -> str:
        """The verdict under the first measure in plain words: which run is better, by how much, how sure that is. From six runs on it tells
        the best against the next, and which runs cannot be told from the best.
        """
        return " ".join(self._native.verdict())

    @property
    def sentences(self) -> list[str]:
        """The comparison in words, `[sentence]`, for people who are not statisticians."""
        return self._native.sentences()

    @property
    def notes(self) -> list[str]:
        """Notes about the data and the tests, `[note]`."""
        return self._native.notes()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings and what follows from them, `{name: value}`: the test, the correction, the size of a family, the number of draws,
        the seed …
        """
        settings: dict[str, Any] = self.to_dict()["settings"]
        return settings

    def gate(self, gate: str) -> list[GateVerdict]:
        """Judges a `gate` such as `"nDCG@10 drops > 0.005 p<0.05"` for each run except the baseline, which is the first run if there is
        none, and returns the verdicts, `[run]`.

        Raises `ValueError` if the gate cannot be parsed or computed: `MeasureError` if there is no such measure, or else
        `UnanswerableError`.
        """
        verdicts = self._native.gate(gate)
        return [
            GateVerdict(gate, run, not failed, value, threshold, p, told)
            for run, failed, value, threshold, p, told in verdicts
        ]

    def per_query(self) -> PairDeltas:
        """The differences of each query, `[pair][query]`."""
        return PairDeltas(self)

    def to_dict(self, *, gates: Iterable[str] = (), per_query: bool = False) -> dict[str, Any]:
        """The whole comparison as plain data, `{part: data}`: settings, runs, pairs, the analysis of variance, agreement, sentences, and
        the results of `gates`; with `per_query=True` the values of each query, too.

        Raises `ValueError` if a gate cannot be parsed or computed, and `TypeError` if `gates` is no list.
        """
        import json

        data: dict[str, Any] = json.loads(self.to_json(gates=gates, per_query=per_query))
        return data

    def to_json(self, *, gates: Iterable[str] = (), per_query: bool = False) -> str:
        """The whole comparison as JSON, with `gates` and `per_query` as for `to_dict`.

        Raises `ValueError` if a gate cannot be parsed or computed, and `TypeError` if `gates` is no list.
        """
        return self._report("json", gates, per_query).decode()

    def to_markdown(self, *, gates: Iterable[str] = ()) -> str:
        """The verdict, the table and the results of `gates` in Markdown.

        Raises `ValueError` if a gate cannot be parsed or computed, and `TypeError` if `gates` is no list.
        """
        return self._report("markdown", gates).decode()

    def to_latex(self) -> str:
        """The table in LaTeX (booktabs)."""
        return self._report("latex").decode()

    def to_html(self, *, title: str | None = None, gates: Iterable[str] = ()) -> str:
        """A page with sentences, charts, tables, and the results of `gates`. It loads nothing and runs no script. Its `title` is made of
        the names of the runs by default.

        Raises `ValueError` if a gate cannot be parsed or computed, and `TypeError` if `gates` is no list.
        """
        return self._report("html", gates, title=title).decode()

    def save(self, path: str | os.PathLike[str], *, gates: Iterable[str] = (), per_query: bool = False) -> None:
        """Writes a file at `path`, whole or not at all, in the format of its extension: `.html`, `.json`, `.csv`, `.tsv`, `.jsonl`, `.md`,
        `.tex`, `.txt` for the table, `.xml` for the results of gates as JUnit's XML, or `.svg` for a chart of the differences under the first
        measure. `gates` and `per_query` are as for
        `to_dict`.

        Raises `UnanswerableError` if the extension is none of these, `OSError` if the file cannot be written, `ValueError` if a gate cannot
        be parsed or computed, and `TypeError` if `gates` is no list.
        """
        report = self._report(format_of(path), gates, per_query)
        write_atomic(path, report)

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of pandas with one row for each pair, and columns named as the attributes of `Pair`."""
        import pandas as pd

        types = get_type_hints(Pair)
        table = pd.DataFrame(self.pairs)
        kinds = {name: _KINDS[types[name]] for name in Pair._fields if types[name] in _KINDS}
        return table.astype(kinds)

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars with one row for each pair, and columns named as the attributes of `Pair`."""
        import polars as pl

        return pl.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.arrow_pairs()

    def __repr__(self) -> str:
        table = self._report("table").decode().rstrip("\n")
        return "\n".join([table, *(f"\nnote: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return _html(self)

    def _report(
        self, format: str, gates: Iterable[str] = (), per_query: bool = False, title: str | None = None
    ) -> bytes:
        if isinstance(gates, str):
            raise TypeError("gates is one str: a list of gates was expected")
        origin = (title or _title(self.runs), *_origin(self._asked[0][0][1]))
        return self._native.report(format, list(gates), per_query, origin)

    def __reduce__(self) -> tuple[Any, ...]:
        return (compare, self._asked)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Comparison):
            return self.to_json() == other.to_json()
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]


class PairDeltas:
    """The differences of each query, `[pair][query]`; for a geometric mean, those of logarithms. `Comparison.per_query` returns them.

    It is a stream of Arrow, with the columns `run`, `baseline`, `query_id`, `measure`, `value`, `baseline_value` and `delta`, which pandas,
    polars, pyarrow and DuckDB read.

    >>> import laneval
    >>> relevant = [{"a"}] * 2
    >>> old = laneval.evaluate_ids(relevant, [["x", "a"], ["a"]], "RR", per_query=True)
    >>> new = laneval.evaluate_ids(relevant, [["a"], ["a"]], "RR", per_query=True)
    >>> deltas = new.compare(old).per_query()
    >>> deltas.queries, deltas["rankings", "baseline"]
    (['0', '1'], [0.5, 0.0])
    >>> deltas.to_pandas().shape, deltas.to_polars().shape
    ((2, 7), (2, 7))
    """

    __slots__ = ("_comparison",)

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    @property
    def queries(self) -> list[str]:
        """The ids of the queries, `[query]`, in bytewise order."""
        return self._comparison._native.queries()

    def __getitem__(self, key: Key | tuple[str, str]) -> list[float]:
        """The differences of a pair, which its `key` names as in `Comparison`: `[query]`, in the order of `queries`, of most measures from
        −1 to 1.

        Raises `KeyError` if there is no such pair.
        """
        place = self._comparison.pairs.index(self._comparison[key])
        values, baseline = self._comparison._native.values(place)
        return [value - other for value, other in zip(values, baseline, strict=True)]

    def __len__(self) -> int:
        """The number of rows: one for each pair and query."""
        return len(self._comparison) * len(self.queries)

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of pandas with one row for each pair and query."""
        import pandas as pd

        queries = pd.Index(self.queries)
        frames = []
        for place, pair in enumerate(self._comparison):
            value, other = (pd.Series(values, dtype="float64") for values in self._comparison._native.values(place))
            columns = {"query_id": queries, "measure": pair.measure, "value": value, "baseline_value": other, "delta": value - other}
            frames.append(pd.DataFrame({"run": pair.run, "baseline": pair.baseline, **columns}))
        return pd.concat(frames, ignore_index=True)

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars with one row for each pair and query."""
        import polars as pl

        return pl.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._comparison._native.arrow_values()

    def __repr__(self) -> str:
        return f"<{len(self._comparison)} pairs × {len(self.queries)} queries>"


NativeValues: TypeAlias = _native.PerQuery


class ComparableValues(Protocol):
    """What is compared of the values of queries."""

    @property
    def _native(self) -> NativeValues | None: ...

    @property
    def _custom(self) -> Mapping[str, Any]: ...

    @property
    def queries(self) -> list[str]: ...

    def _column(self, name: str) -> Sequence[float]: ...


class ComparableScores(Iterable[str], Protocol):
    """What is compared of the scores of a run, whose items are names of measures with averages."""

    @property
    def _known(self) -> dict[str, Any]: ...

    @property
    def _measures(self) -> Sequence[str]: ...

    def items(self) -> Iterable[tuple[str, float]]: ...

    def per_query(self) -> ComparableValues: ...


def compare(
    runs: Sequence[tuple[str, ComparableScores]], baseline: str | None, options: ComparisonOptions
) -> Comparison:
    """Compares runs, given with their names."""
    checked = _checked(options)
    if not runs:
        raise UnanswerableError("there are no runs to compare")
    check_integer(options.get("threads"), "threads")
    threads = threads_of(options.get("threads"))
    names = [name for name, _ in runs]
    if baseline is not None and baseline not in names:
        raise UnanswerableError(f"baseline is {baseline!r}: there are {', '.join(names)}")
    _check(runs)
    measures = _measures(runs, options.get("measures"))
    given = [(name, run._known, _judged(run), _values(run, measures)) for name, run in runs]
    native = _native.Comparison.new(given, measures, baseline=baseline, threads=threads, **checked)
    return Comparison(native, (list(runs), baseline, {**options, "measures": measures}))


def _checked(options: ComparisonOptions) -> dict[str, Any]:
    """The keywords of the native part."""
    unknown = sorted(set(options) - set(ComparisonOptions.__annotations__))
    if unknown:
        known = ", ".join(ComparisonOptions.__annotations__)
        raise TypeError(f"unknown keyword {', '.join(unknown)}: there are {known}")
    checked: dict[str, Any] = {}
    types = get_type_hints(ComparisonOptions)
    for word, default in _DEFAULTS.items():
        value = options.get(word, default)
        allowed = get_args(types[word])
        if value not in allowed:
            raise OptionError(f"{word} is {value!r}: {', '.join(map(repr, allowed))} were expected")
        checked[word] = value
    checked["alpha"] = _number("alpha", options.get("alpha", 0.05), lambda of: 0 < of < 1, "a number between 0 and 1")
    for word in ("margin", "power"):
        checked[word] = _number(word, options.get(word), lambda of: 0 < of < math.inf, "a number above 0")
    checked["tie_epsilon"] = _number("tie_epsilon", options.get("tie_epsilon"), lambda of: 0 <= of < math.inf, "0 or more")
    checked["seed"] = _whole("seed", options.get("seed"), 0, 2**64 - 1)
    draws = options.get("permutations")
    checked["permutations"] = draws if draws in ("auto", "exact") else str(_whole("permutations", draws, 1, 2**32 - 1) or "")
    checked["anova"] = options.get("anova", False)
    if not isinstance(checked["anova"], bool):
        raise TypeError(f"anova is {checked['anova']!r}: True or False was expected")
    return checked


_DEFAULTS = {
    "test": "t",
    "alternative": "two-sided",
    "correction": "holm",
    "family": "measure",
    "ci": "t",
    "wilcoxon_zeros": "wilcox",
    "wilcoxon_method": "auto",
}

_KINDS: dict[Any, str] = {float: "float64", float | None: "float64", int: "int64", int | None: "Int64", bool | None: "boolean"}


def _fits(value: Any, fits: Callable[[float], bool]) -> bool:
    try:
        return fits(float(value))
    except OverflowError:  # an int beyond all floats
        return False


def _number(word: str, value: Any, fits: Callable[[float], bool], what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{word} is {value!r} of {type(value)}: {what} was expected")
    if not _fits(value, fits):
        raise OptionError(f"{word} is {value!r}: {what} was expected")
    return float(value)


def _whole(word: str, value: Any, least: int, most: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{word} is {value!r} of {type(value)}: an int was expected")
    if not least <= int(value) <= most:
        raise UnanswerableError(f"{word} is {value!r}: a whole number from {least} to {most} was expected")
    return int(value)


def _check(runs: Sequence[tuple[str, ComparableScores]]) -> None:
    """Checks that the runs were evaluated alike, and that the values of queries were kept."""
    for _, run in runs:
        run.per_query()
    first, one = runs[0]
    for name, run in runs[1:]:
        for word, value in _evaluated_with(one):
            other = dict(_evaluated_with(run))[word]
            if value != other:
                both = f"{word}={value!r} and {word}={other!r}"
                raise UnanswerableError(f"{first} and {name} cannot be compared: they were evaluated with {both}")


def _evaluated_with(run: ComparableScores) -> list[tuple[str, Any]]:
    """The keywords that change the values of runs."""
    known = run._known
    rule = known["rule"]
    depths = [depth for depth in (rule["depth"], known["view_depth"]) if depth is not None]
    shaped = {**rule, "ties": rule["ties"] if known["tied"] == "ranked" else known["tied"], "depth": min(depths, default=None)}
    return [
        ("queries", known["query_set"]),
        *shaped.items(),
        ("judged_only", known["judged_only"]),
        ("relevant_from", known["relevant_from"]),
    ]


def _title(runs: list[str]) -> str:
    return f"{', '.join(runs[:-1])} and {runs[-1]} compared" if len(runs) <= 3 else f"{len(runs)} runs compared"


def _origin(run: ComparableScores) -> tuple[str, list[tuple[str, str]]]:
    """The origin of the numbers of a page: the ranking rule, and further settings."""
    given = dict(_evaluated_with(run))
    depth = "all ranks" if given["depth"] is None else f"the first {given['depth']} ranks"
    documents = [("documents", "only those with a judgment")] if given["judged_only"] else []
    documents += [("documents with the id of their query", "dropped")] if given["drop_identical_ids"] else []
    documents += [("fingerprint of the excluded documents", given["exclude"])] if given["exclude"] else []
    documents += [("relevant documents", given["relevant_from"])] if given["relevant_from"] != "judged" else []
    fingerprints = [("fingerprint of the judgments", of) for of in run._known["fingerprints"]]
    return f"scores compared as {given['score_type']}, equal ones {given['ties']}, {depth}", documents + fingerprints


def _measures(runs: Sequence[tuple[str, ComparableScores]], asked: str | Iterable[str] | None) -> list[str]:
    """The canonical names of the measures to compare by, which all runs have."""
    first, one = runs[0]
    if asked is None:
        names = [name for name in one if base_name(name) != "Judged"]
        for name, run in runs[1:]:
            if set(run) != set(one):
                both = f"{', '.join(one)} and {', '.join(run)}"
                raise UnanswerableError(
                    f"{first} and {name} have different measures, {both}: choose some with measures="
                )
    else:
        given = [asked] if isinstance(asked, str) else [str(measure) for measure in asked]
        parsed = ([measure] if measure in one._measures else _native.parse(measure) for measure in given)
        names = list(dict.fromkeys(name for of in parsed for name in of))
        for name, run in runs:
            for measure in names:
                if measure not in run._measures:
                    raise UnanswerableError(f"{name} was not evaluated with {measure}: there are {', '.join(run)}")
    for measure in names:
        try:
            _native.parse(measure)
        except MeasureError:
            raise UnanswerableError(
                f"{measure} is a function of Python, which cannot be compared: choose others with measures="
            ) from None
    return names


def _judged(run: ComparableScores) -> dict[str, float]:
    """The shares of judged documents, if they were evaluated. If the other documents were dropped, every share would be 1."""
    if run._known["judged_only"]:
        return {}
    return {name: value for name, value in run.items() if base_name(name) == "Judged"}


def _values(run: ComparableScores, measures: list[str]) -> _native.PerQuery:
    """The values of queries under these measures."""
    values = run.per_query()
    if values._native is not None and not any(name in values._custom for name in measures):
        return values._native
    return _native.PerQuery(measures, values.queries, [list(values._column(name)) for name in measures])


def _pair(
    stats: Sequence[str],
    run: str,
    baseline: str,
    measure: str,
    values: Sequence[float | None],
    better: str | None,
    equivalent: bool | None,
) -> Pair:
    numbers: dict[str, Any] = dict(zip(stats, values, strict=True))
    for name in ("wins", "ties", "losses", "n80"):
        numbers[name] = None if numbers[name] is None else int(numbers[name])
    return Pair(run=run, baseline=baseline, measure=measure, better=better, equivalent=equivalent, **numbers)


def _p(p: float | None) -> str:
    return "–" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _html(comparison: Comparison) -> str:
    """A table of HTML with sentences and notes below it: for two runs their differences, for more the runs that each is better than."""
    from html import escape

    data = comparison.to_dict()
    rows = _rows_of_two(comparison, data) if len(data["runs"]) == 2 else _rows_of_several(comparison, data)
    head, *body = [[cell if isinstance(cell, tuple) else (cell, False, "") for cell in row] for row in rows]
    columns = "".join(f"<th>{escape(text)}</th>" for text, _, _ in head)
    lines = []
    for row in body:
        cells = []
        for text, bold, raised in row:
            shown = f"<b>{escape(text)}</b>" if bold else escape(text)
            cells.append(shown + (f"<sup>{escape(raised)}</sup>" if raised else ""))
        name, *values = cells
        lines.append(f"<tr><th>{name}</th>{''.join(f'<td>{value}</td>' for value in values)}</tr>")
    table = f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    words = [*comparison.sentences, *(f"Note: {note}." for note in comparison.notes)]
    return table + "".join(f"<p>{escape(text)}</p>" for text in words)


Cell = str | tuple[str, bool, str]


def _rows_of_two(comparison: Comparison, data: dict[str, Any]) -> list[list[Cell]]:
    """The rows of the table, one for each measure."""
    means = {run["name"]: run["means"] for run in data["runs"]}
    first = comparison.pairs[0]
    geometric = {of["name"] for of in _native.measures() if of["average"] == "gmean"}
    rows: list[list[Cell]] = [
        ["measure", first.baseline, first.run, "delta", "interval", "p", "adjusted p", "d", "won/tied/lost"]
    ]
    for at, pair in enumerate(comparison.pairs):
        sign = "×{:.4f}" if base_name(pair.measure) in geometric else "{:+.4f}"
        delta, *ends = map(sign.format, (pair.delta, *(pair.interval or ())))
        both: list[Cell] = [(f"{means[name][at]:.4f}", pair.better == name, "") for name in (pair.baseline, pair.run)]
        interval = " … ".join(ends) or "–"
        effect = "–" if pair.d_z is None else f"{pair.d_z:+.2f}"
        wins = f"{pair.wins}/{pair.ties}/{pair.losses}"
        rows.append([pair.measure, *both, delta, interval, _p(pair.p), _p(pair.p_adj), effect, wins])
    return rows


def _rows_of_several(comparison: Comparison, data: dict[str, Any]) -> list[list[Cell]]:
    """The rows of the table, one for each run: its means, the best of them bold, with the labels of the runs that it is better than, or `=`
    if it is not shown to be worse than the best.
    """
    names = [run["name"] for run in data["runs"]]
    labels = {run["name"]: run["label"] for run in data["runs"]}
    apart = "" if all(label.isalpha() for label in labels.values()) else "·"
    rows: list[list[Cell]] = [["run", "#", *comparison.measures]]
    rows += [[name, labels[name]] for name in names]
    for at, measure in enumerate(comparison.measures):
        means = {run["name"]: run["means"][at] for run in data["runs"]}
        bold = dict(zip(names, _native.are_best([means[name] for name in names], better(measure)), strict=True))
        pick = min if better(measure) == "lower" else max
        best = pick(names, key=means.__getitem__)
        pairs = [pair for pair in comparison.pairs if pair.measure == measure]
        for row, name in zip(rows[1:], names, strict=True):
            beaten = [pair for pair in pairs if pair.better == name]
            worse = {other for pair in beaten for other in pair[:2]} - {name}
            raised = apart.join(labels[other] for other in names if other in worse)
            with_best = [pair for pair in pairs if {pair.run, pair.baseline} == {name, best}]
            tied = comparison.baseline is None and not bold[name] and any(pair.better is None for pair in with_best)
            row.append((f"{means[name]:.4f}", bold[name], "=" + raised if tied else raised))
    return rows

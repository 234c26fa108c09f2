"""Scores of a run that `laneval eval --per-query -o FILE.json` wrote, as the baseline of a comparison."""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any

from laneval import _native
from laneval._errors import LanevalError, UnanswerableError
from laneval._scores import PerQuery, RunScores

# A run in JSON has an object of documents where scores have the number of their schema.
_HEAD = re.compile(rb'\s*\{\s*"schema"\s*:\s*\d+\s*,\s*"laneval"\s*:')

# Larger files are runs.
_MOST = 1 << 26

_MARK = "\N{REPLACEMENT CHARACTER}"


def has_scores(path: str | os.PathLike[str]) -> bool:
    """Whether a file has scores, and not documents. Raises `OSError` if it cannot be read."""
    if os.path.exists(path) and not os.path.isfile(path):
        return False  # a pipe is read once
    with open(path, "rb") as file:
        if _HEAD.match(file.read(256)) is not None:
            return True
        file.seek(0)
        _refuse_values(path, file.read(_MOST))
    return False


def _refuse_values(path: str | os.PathLike[str], content: bytes) -> None:
    """Refuses values of queries that are written as a run is: `{query: {measure: value}}`, which would be read as documents.

    Raises `UnanswerableError`.
    """
    try:
        queries = json.loads(content)
        names = [name for of in list(queries.values())[:3] for name in of]
        for name in names:
            _native.parse(name)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return  # ids of documents, or no JSON at all: a run is read by the library
    if names:
        raise UnanswerableError(
            f"{os.fspath(path)}: it has values of {', '.join(dict.fromkeys(names))} for each query, where a run has documents, and no settings: "
            "write the baseline by RunScores.save(path), or `laneval eval --per-query -o FILE.json`"
        )


def stored_measures(path: str | os.PathLike[str]) -> list[str]:
    """The measures of a file of scores; none if it is none, which is said when its run is read."""
    try:
        with open(path, "rb") as file:
            return [_canonical(name) for name in json.loads(file.read())["measures"]]
    except (LookupError, TypeError, ValueError, RecursionError):
        return []


def stored_run(path: str | os.PathLike[str], beside: RunScores) -> RunScores:
    """The scores of the run in a file. What the file does not record is taken from the scores that it is compared with (`beside`).

    Raises `UnanswerableError` if the file is no file of scores of one run with the values of its queries, and `OSError` if it cannot be
    read.
    """

    def wrong(what: str) -> UnanswerableError:
        return UnanswerableError(f"{os.fspath(path)}: {what}")

    with open(path, "rb") as file:
        content = file.read()
    try:
        document = json.loads(content, object_pairs_hook=_object)
        names = list(dict.fromkeys(run["run"] for run in document["runs"]))
        if len(names) > 1:
            raise wrong(f"it has several runs ({', '.join(names)}): write the scores of one alone")
        whole = [run for run in document["runs"] if run.get("group") is None]
        if not whole or not whole[0].get("per_query"):
            raise wrong("it has no values of queries: write it with `laneval eval --per-query`")
        run = whole[0]
        values = {_id(query): of for query, of in run["per_query"].items()}
        measures = {_canonical(name): name for name in document["measures"]}
        queries = sorted(values, key=lambda query: query.encode("utf-8", "surrogateescape"))
        columns = {name: [_value_of(values[query], stored) for query in queries] for name, stored in measures.items()}
        stats = [
            {stat: float(value) for stat, value in run["scores"][stored].items() if stat != "skipped"} for stored in measures.values()
        ]
        known = {**beside._known, **_settings(document, run), "name": names[0], "queries": len(queries)}
    except LanevalError:
        raise
    except (ValueError, RecursionError) as error:
        raise wrong(f"it is not a file of scores: {error}") from None
    except (AttributeError, LookupError, TypeError):
        raise wrong("it is not a file of scores as `laneval eval --per-query` writes it") from None
    return RunScores(list(measures), known, stats, PerQuery(None, list(measures), queries, columns))


def _settings(document: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The settings under which scores were made, by the names of `RunScores`."""
    rule = run["rule"]
    merged = rule["units"] or {"units": "", "repeats": "error", "rows": None}
    return {
        "query_set": document["query_set"],
        "judged_only": document["judged_only"],
        "view_depth": document["depth"],
        "relevant_from": document.get("relevant_from") or "judged",
        "tied": document.get("tied") or "ranked",
        "rule": {
            "ties": rule["ties"],
            "score_type": rule["score"],
            "depth": rule["depth"],
            "drop_identical_ids": rule["drop_identical_ids"],
            "doc_id": merged["units"] or None,
            "aggregate": merged["repeats"],
            "max_chunks": merged["rows"],
            "exclude": rule.get("excluded"),
        },
        "ideal": run.get("ideal") or "judgments",
        "fingerprints": list(run["qrels"]),
        "filled": document["query_set"] != "common",
        "missing": (0, []),
        "ignored": (0, []),
        "tag": run.get("tag") or "",
        "nothing_judged": False,
    }


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, none of whose keys is there twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"{key!r} is there twice")
            seen.add(key)
    return made


def _canonical(name: str) -> str:
    """The canonical name of a measure; one that this version does not know keeps its name."""
    try:
        found = _native.parse(name)
    except LanevalError:
        return name
    return found[0] if len(found) == 1 else name


def _value_of(values: dict[str, object], measure: str) -> float:
    # Under no_relevant=skip a query may have no value, and then has no key.
    if measure not in values and "no_relevant=skip" in measure:
        return _native.UNDEFINED
    return _value(values[measure])


def _value(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)


def _id(text: str) -> str:
    """The id of a query: bytes that are not UTF-8 are two hexadecimal digits behind a mark."""
    first, *parts = text.split(_MARK)
    of_bytes = first.encode()
    for part in parts:
        if not re.match("[0-9a-fA-F]{2}", part):
            raise ValueError(f"{text!r} is not the text of an id")
        of_bytes += bytes.fromhex(part[:2]) + part[2:].encode()
    return of_bytes.decode("utf-8", "surrogateescape")

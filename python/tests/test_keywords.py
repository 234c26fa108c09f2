"""Every keyword changes a value, changes none because it is of how and not of what, or is refused: none is taken and forgotten."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import laneval
import pytest
from laneval._options import Options

QRELS: dict[str, Any] = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": {"x": 3}}
RUN = {"q1": {"q1": 3.0, "a": 1.0, "b": 1.0, "z": 0.5}, "q2": {"z": 1.0, "a": 1.00000001}, "q9": {"a": 1.0}}
MEASURES = ["mrr", "precision@2"]
CHUNKS = {"q1": {"a#1": 3.0, "a#2": 2.0, "c#1": 1.0}, "q2": {"a#1": 1.0}}
JUDGES = {"q1": {"a": {"anna": 2, "ben": 0}, "c": {"ben": 1}}, "q2": {"a": {"anna": 1}}}

VALUES: dict[str, Any] = {
    "queries": "common", "ties": "docno-asc", "score_type": "f32", "depth": 1, "judged_only": True, "relevant_from": "retrieved", "as_": "ranx",
    "per_query": True, "stats": ["std"], "engine": "reference", "adapter": "none", "threads": 2, "progress": lambda done, of: None,
    "columns": {"score": "points"}, "qrels_format": "tsv", "run_format": "msmarco", "subset": "en/test", "drop_identical_ids": True,
    "dialect": "trec9", "doc_id": "before:#", "qrels_doc_id": "before:#", "aggregate": "blank", "max_chunks": 1, "facet": "judge",
    "judges": "mean", "exclude": {"q1": ["q1"]}, "grade_words": {"E": 3},
}

NEUTRAL = {"engine", "threads", "progress"}
"""What computes, and what is told meanwhile: the values stay."""

OF_RANKINGS = {
    "score_type", "columns", "qrels_format", "run_format", "subset", "drop_identical_ids", "dialect", "doc_id", "qrels_doc_id",
    "max_chunks", "facet", "exclude", "grade_words",
}
"""What makes rankings: refused where they are made already, with `ties` and `aggregate` of their own."""

REFUSED: dict[str, set[str]] = {
    "evaluate": {"adapter"},
    "evaluate_runs": {"adapter"},
    "Summary.evaluate": {"adapter", "per_query"},
    "Matrix.build": {"queries", "judged_only", "relevant_from", "per_query", "stats", "engine", "adapter", "judges"},
    "Matrix.evaluate": OF_RANKINGS | {"ties", "aggregate", "as_", "adapter", "judges"},
    "evaluate_labels": OF_RANKINGS | {"ties", "aggregate", "adapter", "judges"},
    "evaluate_scores": OF_RANKINGS | {"ties", "aggregate", "adapter", "judges"},
    "evaluate_ids": OF_RANKINGS | {"ties", "adapter", "judges"},
}

ALSO_NEUTRAL: dict[str, set[str]] = {
    # A summary holds what all statistics need.
    "Summary.evaluate": {"stats"},
    # Rows of arrays are all there, and the order of equal scores is that of most libraries.
    "evaluate_labels": {"queries", "as_"},
    "evaluate_scores": {"queries", "as_", "relevant_from"},
    "evaluate_ids": {"queries", "as_"},
}


def sources(keyword: str, folder: Path) -> tuple[Any, Any]:
    """Judgments and a run in which the keyword matters."""
    text = folder / "qrels.tsv"
    match keyword:
        case "columns":
            return QRELS, {"query_id": ["q1", "q2"], "doc_id": ["a", "a"], "points": [2.0, 1.0]}
        case "qrels_format":
            text.write_text("".join(f"q1\t{document}\t{rank + 1}\n" for rank, document in enumerate("abcde")))
            return text, RUN
        case "run_format":
            text.write_text("q1 b 1\nq1 a 2\n")
            return QRELS, text
        case "grade_words":
            text.write_text("query_id\tdoc_id\tgrade\nq1\tb\tE\nq1\ta\t1\nq2\ta\t1\n")
            return text, RUN
        case "subset":
            text.write_text(
                '{"mteb_model_meta": {"model_name": "m"}, "en": {"test": {"q1": {"a": 0.5}}}, "de": {"test": {"q1": {"b": 0.5}}}}'
            )
            return QRELS, text
        case "doc_id" | "max_chunks":
            return QRELS, CHUNKS
        case "qrels_doc_id":
            return {"q1": {"a#1": 2, "a#2": 1}, "q2": {"b#1": 1}}, {"q1": {"z": 3.0, "a": 2.0}}
        case "aggregate":
            return QRELS, [("q1", "z", 3.0), ("q1", "a", 2.0), ("q1", "a", 1.0)]
        case "facet" | "judges":
            return JUDGES, RUN
    return QRELS, RUN


def said(evaluate: Callable[[], Any]) -> str:
    """What becomes of a call, in all that can be seen; an error by its class."""
    try:
        found = evaluate()
        if isinstance(found, laneval.Matrix):
            found = found.evaluate(MEASURES)
        elif isinstance(found, laneval.Summary):
            found = found.scores()
    except (laneval.LanevalError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    run = next(iter(found.values())) if isinstance(found, laneval.Scores) else found
    try:
        values = repr(run.per_query().to_dict())
    except laneval.UnanswerableError:
        values = ""
    return f"{dict(run)} {run.queries} {run.missing} {run.stats} {values}"


LABELS = [[-1, 0, 2, 1], [0, 0, 1, 0]]
SCORES = [[0.9, 0.5, 0.1, 0.5], [0.1, 0.2, 0.3, 0.3]]


def call(function: str, keyword: str, folder: Path) -> Callable[..., Any]:
    qrels, run = sources(keyword, folder)
    measures = "AP" if keyword == "relevant_from" else MEASURES
    return {
        "evaluate": lambda **given: laneval.evaluate(qrels, run, measures, **given),
        "evaluate_runs": lambda **given: laneval.evaluate_runs(qrels, {"run": run}, measures, **given),
        "Summary.evaluate": lambda **given: laneval.Summary.evaluate(qrels, {"run": run}, measures, **given),
        "Matrix.build": lambda **given: laneval.Matrix.build(qrels, {"run": run}, **given),
        "Matrix.evaluate": lambda **given: laneval.Matrix.build(QRELS, {"run": RUN}).evaluate(measures, **given),
        "evaluate_labels": lambda **given: laneval.evaluate_labels([[-1, 0, 1, 1], [0, 0, 1, 0]], measures, relevant=[3, 3], **given)
        if keyword == "relevant_from" else laneval.evaluate_labels(LABELS, MEASURES, **given),
        "evaluate_scores": lambda **given: laneval.evaluate_scores(SCORES, LABELS, measures, **given),
        "evaluate_ids": lambda **given: laneval.evaluate_ids(
            [["a", "c"], ["b"]], [["x", "a", "a"] if keyword == "aggregate" else ["x", "a"], ["b", "y"]], measures, **given
        ),
    }[function]


@pytest.mark.parametrize("keyword", Options.__annotations__)
@pytest.mark.parametrize("function", REFUSED)
def test_keywords_are_applied_or_refused(function: str, keyword: str, tmp_path: Path) -> None:
    evaluate = call(function, keyword, tmp_path)
    with warnings.catch_warnings(action="ignore"):
        given: dict[str, Any] = {keyword: VALUES[keyword]}
        more: dict[str, Any] = {"doc_id": "before:#"} if keyword == "max_chunks" and keyword not in REFUSED[function] else {}
        plain, changed = said(lambda: evaluate(**more)), said(lambda: evaluate(**more, **given))
    if keyword in REFUSED[function]:
        refused = ("OptionError", "DeviceError", "TypeError", "UnanswerableError")
        assert changed.startswith(refused) and not plain.startswith(refused), (plain, changed)
    elif keyword in NEUTRAL | ALSO_NEUTRAL.get(function, set()):
        assert plain == changed
    else:
        assert plain != changed and "Error" not in changed[:30], (plain, changed)


def test_every_keyword_has_a_value() -> None:
    assert set(VALUES) == set(Options.__annotations__)

"""The cases of bits.py that call the Python package: `cases.py OUT GLOB` runs those whose names fit, in a folder with the folder data, and
writes what each returns to a file of its own in OUT/NAME, beside its exit code.

A case is a function; `@case(...)` makes one for each of some words. What it returns is written with all digits, warnings as well. A call that is
to fail goes through `refused`; a case that raises has failed.
"""

from __future__ import annotations

import fnmatch
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import laneval
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from data import split

DATA = pathlib.Path("data")
CASES: dict[str, Callable[[], Any]] = {}
TIES = ("docno-desc", "docno-asc", "input", "average", "best", "worst")  # rankings in memory have no ranks
ORDERS = TIES[:3]
SHAPES = ("mixed", "free", "real", "many", "huge", "closed", "tied")
# Whichever name the revision gives them that is compared.
SUMMARY_OF: Any = getattr(laneval.Summary, "evaluate", None) or getattr(laneval.Summary, "of")  # noqa: B009
STREAM: Any = getattr(laneval, "RankingStream", None) or getattr(laneval, "Stream")  # noqa: B009
USUAL = ["nDCG@10", "nDCG", "AP", "AP@5", "RR", "P@10", "R@100", "Bpref", "ERR(gmax=auto)@20"]


def case(*words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a case of a function, or one for each word, which it takes."""

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__.replace("_", "-")
        CASES.update({f"{name}-{word}": lambda word=word: function(word) for word in words} if words else {name: function})
        return function

    return made


def shown(value: Any) -> str:
    """A value with all its digits."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {shown(value.tolist())}"
    if isinstance(value, laneval.RunScores):
        parts = [dict(value), dict(value.stats), value.queries, dict(value.skipped), value.missing, value.ignored, value.rule, value.ideal]
        return "\n".join([repr(value), *map(shown, parts), *([shown(value.per_query().to_dict())] if has_queries(value) else [])])
    if isinstance(value, laneval.Scores):
        return "\n".join(f"== {name}\n{shown(run)}" for name, run in value.items())
    if isinstance(value, laneval.Comparison):
        return "\n".join([value.to_json(per_query=True), *map(shown, value.pairs), *value.sentences, *value.notes])
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return f"{value.dtypes}\n{value.index.tolist()}\n{shown(value.to_dict())}"
    if isinstance(value, pl.DataFrame):
        return f"{value.schema}\n{shown(value.to_dicts())}"
    if isinstance(value, pa.Table):
        return f"{value.schema}\n{shown(value.to_pylist())}"
    if isinstance(value, dict):
        return "{" + ",\n".join(f"{shown(key)}: {shown(of)}" for key, of in value.items()) + "}"
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return "[" + ",\n".join(map(shown, value)) + "]"
    return value if isinstance(value, str) else repr(value)


def has_queries(scores: laneval.RunScores) -> bool:
    try:
        scores.per_query()
    except (laneval.LanevalError, ValueError, TypeError):
        return False
    return True


def refused(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> str:
    """The exception that a call raises."""
    try:
        function(*arguments, **keywords)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{function.__name__} was to refuse {arguments} {keywords}")


def read(path: str, number: type = float) -> dict[str, dict[str, Any]]:
    """Judgments or a run of TREC text as dicts."""
    found: dict[str, dict[str, Any]] = {}
    for line in (DATA / path).read_text().splitlines():
        fields = line.split()
        found.setdefault(fields[0], {})[fields[2]] = number(fields[4 if len(fields) > 4 else 3])
    return found


def both(shape: str) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    return read(f"{shape}/qrels.txt"), read(f"{shape}/run.txt")


def examples(of: str = "common") -> list[str]:
    """Names of measures that can be evaluated on these data, or on any."""
    path = DATA / "measures" / of
    return split((path / "examples" if path.is_dir() else path).read_text())


@case(*SHAPES)
def dicts(shape: str) -> Any:
    return laneval.evaluate(*both(shape), examples(shape), per_query=True, stats=["median", "std", "min", "max", "ci95"])


@case(*TIES)
def ties(how: str) -> Any:
    return [laneval.evaluate(*both(shape), USUAL, ties=how, per_query=True) for shape in ("mixed", "tied")]


@case()
def options() -> Any:
    of = [
        {"score_type": "f32"}, {"depth": 7}, {"judged_only": True}, {"relevant_from": "retrieved"}, {"queries": "common"}, {"engine": "reference"}, {"threads": 2},
        {"drop_identical_ids": True}, {"dialect": "trec9"}, {"dialect": "trec10"},
    ]  # fmt: skip
    found = [laneval.evaluate(*both("mixed"), USUAL, per_query=True, **each) for each in of]
    return [*found, laneval.evaluate(*both("closed"), as_="sklearn", per_query=True), laneval.evaluate(*both("closed"), as_="ranx", per_query=True)]


@case("tsv", "csv", "json", "jsonl", "records.json", "parquet", "arrow", "txt.gz", "txt.zst")
def files(end: str) -> Any:
    qrels, run = (DATA / "tables" / f"{name}.{end}" for name in ("qrels", "run"))
    found = [laneval.evaluate(qrels, run, examples(), per_query=True)]
    return found if end in ("parquet", "arrow") else [*found, laneval.evaluate(qrels.read_bytes(), run.read_bytes(), USUAL, per_query=True)]


@case()
def samples() -> Any:
    of = DATA / "examples/data/formats"
    runs = [
        of / name for name in ("run.csv", "run.json", "run.jsonl", "run.tsv", "run.trec", "run.parquet", "run.arrow", "msmarco.tsv", "untagged.trec")
    ]
    judged = [of / name for name in ("qrels.csv", "qrels.json", "qrels.jsonl", "qrels.tsv", "qrels.trec", "qrels.parquet", "qrels.arrow")]
    found = [laneval.evaluate(of / "qrels.trec", run, per_query=True) for run in runs] + [
        laneval.evaluate(qrels, runs[4], per_query=True) for qrels in judged
    ]
    return [
        *found,
        laneval.evaluate(of / "labels.npy", of / "scores.npy"),
        laneval.evaluate(of / "judged.letor", of / "scores.txt", letor_groups=None),
    ]


def columns_of(rows: dict[str, dict[str, Any]], number: str) -> dict[str, list[Any]]:
    flat = [(query, doc, value) for query, of in rows.items() for doc, value in of.items()]
    return dict(zip(("query_id", "doc_id", number), map(list, zip(*flat))))


@case("pandas", "categories", "polars", "lazy", "pyarrow", "tuples", "records", "columns", "renamed")
def tables(kind: str) -> Any:
    qrels, run = (columns_of(of, name) for of, name in zip(both("mixed"), ("grade", "score")))
    make: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
        "pandas": pd.DataFrame,
        "categories": lambda of: pd.DataFrame(of).astype({"query_id": "category", "doc_id": "category"}),
        "polars": pl.DataFrame,
        "lazy": lambda of: pl.DataFrame(of).lazy(),
        "pyarrow": pa.table,
        "tuples": lambda of: list(zip(*of.values())),
        "records": lambda of: [dict(zip(of, row)) for row in zip(*of.values())],
        "columns": lambda of: pa.table(of).to_pandas(),
        "renamed": lambda of: pa.table({f"x{name}": column for name, column in of.items()}),
    }
    keywords = {"columns": {"query": "xquery_id", "doc": "xdoc_id", "score": "xscore", "grade": "xgrade"}} if kind == "renamed" else {}
    found = laneval.evaluate(make[kind](qrels), make[kind](run), examples(), per_query=True, **keywords)
    values = found.per_query()
    return [found, values.to_numpy(), values.to_pandas(), values.to_polars(), pa.table(values), found.to_pandas(), found.to_polars()]


@case()
def judgments() -> Any:
    of = laneval.Qrels(both("mixed")[0])
    again = laneval.Qrels.from_bytes(of.to_bytes())
    return [repr(of), of.queries, of.grades, of.fingerprint, len(of), laneval.evaluate(again, both("mixed")[1], examples(), per_query=True)]


@case()
def judgments_bytes() -> Any:
    return laneval.Qrels(both("mixed")[0]).to_bytes()


@case(*ORDERS)
def matrix(order: str) -> Any:
    qrels, run = both("mixed")
    of = laneval.Matrix.build(qrels, {"run": run, "run2": read("mixed/run2.txt")}, ties=order)
    again = laneval.Matrix.from_bytes(of.to_bytes())
    values = again.evaluate(examples(), per_query=True, stats=["std", "ci95"])
    return [
        of.runs,
        of.queries,
        of.fingerprint,
        values,
        of.summary(USUAL).to_json(),
        again.evaluate(USUAL, depth=5),
        again.evaluate(USUAL, judged_only=True),
    ]


@case()
def matrix_bytes() -> Any:
    return laneval.Matrix.build(both("mixed")[0], {"run": both("mixed")[1]}).to_bytes()


@case("f32", "f64")
def scores(kind: str) -> Any:
    draw = np.random.default_rng(1)
    values, grades = (draw.integers(0, 40, (50, 60)) / 8).astype(f"float{kind[1:]}"), draw.integers(0, 4, (50, 60))
    lengths = draw.integers(1, 60, 50)
    sizes = np.full(50, 60)
    found = [
        laneval.evaluate_scores(values, grades.astype(of), examples(), per_query=True)
        for of in ("int8", "int16", "int32", "int64", "uint8", "float32", "float64")
    ]
    found += [laneval.evaluate_scores(values, grades, USUAL, per_query=True, ties=how) for how in ("input", "average", "best", "worst")]
    found.append(laneval.evaluate_scores(values, grades, USUAL, lengths=lengths, per_query=True))
    found.append(laneval.evaluate_scores(values.ravel(), grades.ravel(), USUAL, sizes=sizes, per_query=True))
    found.append(laneval.evaluate_scores(values.ravel(), grades.ravel(), USUAL, groups=np.repeat(np.arange(50), 60), per_query=True))
    found.append(laneval.evaluate_scores(np.asfortranarray(values), grades[:, ::-1], USUAL, per_query=True))
    return found + [
        laneval.evaluate_scores(values, np.maximum(grades - 3, 0) * (np.arange(50) % 2)[:, None], USUAL, empty=how) for how in ("neg", "pos", "skip")
    ]


@case("int8", "uint8", "int16", "int32", "int64", "float32", "float64")
def labels(kind: str) -> Any:
    draw = np.random.default_rng(2)
    of = draw.integers(0 if kind[0] == "u" else -1, 5, (70, 90)).astype(kind)
    relevant = (of > 0).sum(1) + draw.integers(0, 9, 70)
    judged = np.stack([(of == grade).sum(1) + 2 for grade in range(5)], 1)
    found = [laneval.evaluate_labels(of, examples(), per_query=True), laneval.evaluate_labels(of, examples(), judged=judged, per_query=True)]
    found.append(laneval.evaluate_labels((of > 0).astype(kind), USUAL, relevant=relevant, per_query=True))
    found.append(laneval.evaluate_labels(of, USUAL, lengths=draw.integers(0, 90, 70), per_query=True))
    found.append(laneval.evaluate_labels(of.ravel(), USUAL, offsets=np.arange(0, 6301, 90), per_query=True))
    found.append(laneval.evaluate_labels(of.ravel(), USUAL, groups=np.repeat(np.arange(70), 90), per_query=True))
    found.append(laneval.evaluate_labels(np.asfortranarray(of), USUAL, depth=10, per_query=True))
    return [*found, laneval.evaluate_labels(of[:, ::2].tolist(), USUAL, per_query=True)]


@case()
def labels_of_many_grades() -> Any:
    draw = np.random.default_rng(3)
    return laneval.evaluate_labels(
        draw.integers(0, 900, (40, 50)) / 4,
        ["nDCG@10", "nDCG", "AP", "AP(rel=2.5)", "RR", "P(rel=100)@10", "ERR(gmax=auto)@20", "RBP", "CG@5"],
        per_query=True,
    )


@case("lists", "sets", "grades", "int32", "int64", "queries", "repeats")
def ids(kind: str) -> Any:
    draw = np.random.default_rng(4)
    relevant, retrieved = ([row[:width].tolist() for row in draw.permuted(np.tile(np.arange(80), (60, 1)), axis=1)] for width in (12, 30))
    if kind in ("int32", "int64"):
        return laneval.evaluate_ids(np.array(relevant, kind), np.array(retrieved, kind), examples(), per_query=True)
    if kind == "queries":
        return laneval.evaluate_ids(dict(zip("abcdefgh", relevant)), dict(zip("hgfexy", retrieved)), USUAL, per_query=True)
    if kind == "repeats":
        again = [row + row[:5] for row in retrieved]
        return [laneval.evaluate_ids(relevant, again, USUAL, per_query=True, aggregate=how) for how in ("max", "blank")]
    make: dict[str, Callable[[list[int]], Any]] = {"lists": list, "sets": set, "grades": lambda row: {doc: doc % 4 for doc in row}}
    return laneval.evaluate_ids([make[kind](row) for row in relevant], [[*map(int, row)] for row in retrieved], examples(), per_query=True)


@case("int32", "int64", "uint32")
def neighbours(kind: str) -> Any:
    draw = np.random.default_rng(5)
    truth, found = (draw.permuted(np.tile(np.arange(300), (50, 1)), axis=1)[:, :width].astype(kind) for width in (40, 30))
    found[:, :15] = truth[:, 5:20]
    found[:, 15:] = np.arange(300, 315)
    near, far = (np.sort(draw.integers(0, 60, (50, width)) / 4, axis=1).astype(np.float32) for width in (40, 30))
    names = ["NNR@[1,5,10,30]", "NNR(truth=1)@10", "R@10", "nDCG@10", "AP", "RR"]
    return [
        laneval.evaluate_neighbours(truth, found, names, per_query=True),
        laneval.evaluate_neighbours(truth, found, "NNR@[1,10]", truth_distances=near, per_query=True),
        laneval.evaluate_neighbours(truth, found, "NNR@[1,10]", truth_distances=near, found_distances=far, within=0.25, per_query=True),
    ]


@case()
def facets() -> Any:
    lines = {name: [line.split() for line in (DATA / name / "qrels.txt").read_text().splitlines()] for name in ("judges", "subtopics", "preferences")}
    of = {name: [(query, group, doc, float(grade)) for query, group, doc, grade in rows] for name, rows in lines.items()}
    found = [laneval.evaluate(of["judges"], read("judges/run.txt"), USUAL, judges=how, per_query=True) for how in ("mean", "min", "max")]
    found.append(laneval.evaluate(of["judges"], read("judges/run.txt"), USUAL, facet="judge", per_query=True))
    found.append(laneval.evaluate(of["subtopics"], read("subtopics/run.txt"), examples("subtopics"), per_query=True))
    found.append(laneval.evaluate(of["preferences"], read("preferences/run.txt"), ["prefs_simp", "prefs_pair"], per_query=True))
    frame = pd.DataFrame(of["subtopics"], columns=["query_id", "subtopic", "doc_id", "relevance"])
    return [*found, laneval.evaluate(frame, read("subtopics/run.txt"), ["StRecall@5", "alpha_nDCG@10"], per_query=True)]


@case()
def passages() -> Any:
    gold, found = (DATA / "passages" / f"{name}.csv" for name in ("gold", "found"))
    chunks, run = DATA / "passages" / "chunks.csv", DATA / "passages" / "chunks.run"
    of = [laneval.evaluate(gold, found, ["SpanR", "SpanP", "SpanIoU", "SpanF@5"], per_query=True)]
    of += [laneval.evaluate(laneval.chunk_qrels(gold, chunks, min_overlap=share), run, USUAL, per_query=True) for share in (0.25, 0.5, 1.0)]
    of.append(laneval.evaluate(laneval.chunk_qrels(gold, chunks, facet="subtopic"), run, ["StRecall@5", "alpha_nDCG@10"], per_query=True))
    docs = DATA / "passages" / "docs.qrels"
    of += [laneval.evaluate(docs, run, USUAL, doc_id="before:#", aggregate=how, per_query=True) for how in ("max", "blank", "sum", "sum:2", "mean")]
    mapped = {f"d{doc}#{at}": f"d{doc}" for doc in range(8) for at in range(6)}
    return [*of, laneval.evaluate(docs, run, USUAL, doc_id=mapped, max_chunks=9, per_query=True)]


def runs() -> laneval.Scores:
    names = {f"r{at}": DATA / "runs" / f"run-{at}.txt" for at in range(1, 6)}
    return laneval.evaluate_runs(DATA / "runs" / "qrels.txt", names, ["nDCG@10", "AP", "RR", "Judged@10"], per_query=True)


@case("t", "randomisation", "wilcoxon", "sign")
def compare(test: str) -> Any:
    scores = runs()
    found = [scores.compare(test=test, correction=how) for how in ("none", "bonferroni", "holm", "bh", "by")]
    found += [scores.compare(test=test, alternative=how, baseline="r1", alpha=0.01) for how in ("better", "worse")]
    return [*found, scores.compare(test=test, family="all", measures=["AP"]), scores["r2"].compare(scores["r1"], test=test)]


@case()
def compare_options() -> Any:
    scores = runs()
    of = [{"correction": how} for how in ("maxt", "hsd", "rhsd")] + [{"ci": how} for how in ("bootstrap", "bca")]
    of += [{"test": "randomisation", "permutations": number, "seed": 7} for number in (999, "auto")]
    of += [{"test": "wilcoxon", "wilcoxon_zeros": "pratt", "wilcoxon_method": "normal"}, {"margin": 0.02, "power": 0.01, "tie_epsilon": 0.001, "anova": True}]
    found = [scores.compare(**each) for each in of]
    one = found[-1]
    tables = [one.to_pandas(), one.to_polars(), pa.table(one), one.per_query().to_pandas(), scores.to_pandas(), scores.to_polars()]
    texts = [one.to_markdown(), one.to_latex(), one.to_html(title="A page"), one.to_dict(), one.verdict, one.settings, repr(one), scores.to_latex()]
    gates = [one.gate("nDCG@10 drops > 0.001"), one.gate("AP < 0.5"), one.gate("AP worse p<0.05"), one.gate("AP may drop > 0.005")]
    return [*found, *tables, *texts, *gates]


@case()
def gates() -> Any:
    from laneval.testing import assert_gates

    qrels, old, new = (DATA / "runs" / name for name in ("qrels.txt", "run-1.txt", "run-2.txt"))
    passed = assert_gates(qrels, new, baseline=old, fail_if="nDCG@10 drops > 90%")
    return [passed, refused(assert_gates, qrels, new, baseline=old, fail_if=["nDCG@10 < 0.999", "AP drops > 0.9"])]


@case()
def pools() -> Any:
    names = {f"r{at}": DATA / "runs" / f"run-{at}.txt" for at in range(1, 6)}
    found = laneval.pools(DATA / "runs" / "qrels.txt", names, ["AP", "nDCG@10"], pool_depth=10)
    return [found.to_dict(), found.to_json(), found.to_markdown(), repr(found), found.to_pandas(), found.to_polars()]


@case()
def identify() -> Any:
    qrels, run = (DATA / "examples" / "data" / name for name in ("demo.qrels", "demo-bm25.run"))
    values = laneval.evaluate(qrels, run, "nDCG(gain=exp2)@10", per_query=True).per_query().to_dict()
    told = {query: next(iter(of.values())) for query, of in values.items()}
    return [laneval.identify(qrels, run, {"nDCG@5": "0.5541"}).to_dict(), laneval.identify(qrels, run, told, measure="nDCG@10").to_json()]


@case()
def check() -> Any:
    def reciprocal(qrels: Any, run: Any, k: int) -> float:
        ((query, grades),) = qrels.items()
        ranked = sorted(run[query], key=run[query].get, reverse=True)
        return 1 / next((rank for rank, doc in enumerate(ranked, 1) if grades.get(doc, 0) > 0 and rank <= k), float("inf"))

    found = laneval.check(reciprocal, "RR")
    return [found.to_dict(), found.to_json(), str(found)]


@case()
def summaries() -> Any:
    parts = [SUMMARY_OF(DATA / f"mixed/qrels.{at}", {"run": DATA / f"mixed/run.{at}"}, examples()) for at in (0, 1)]
    merged = laneval.Summary.merge([parts[1].to_bytes(), parts[0]])
    both_of = SUMMARY_OF(DATA / "mixed/qrels.txt", {"run": DATA / "mixed/run.0"}, USUAL, queries="common")
    return [merged.to_json(), merged.scores(["std", "min", "max"]), repr(merged), both_of.with_missing(DATA / "mixed/qrels.txt").scores()]


@case()
def summary_bytes() -> Any:
    return SUMMARY_OF(DATA / "mixed/qrels.txt", {"run": DATA / "mixed/run.txt"}, USUAL).to_bytes()


@case()
def streams() -> Any:
    qrels, run = both("mixed")
    found = []
    for order in ("grouped", "any"):
        with STREAM(examples(), qrels=qrels, order=order) as stream:
            for query, of in run.items():
                stream.push({query: of})
            found.append(stream.finish().scores(["std"]))
    rows = [(query, doc, score, None) for query, of in run.items() for doc, score in of.items()]
    rows += [(query, doc, None, grade) for query, of in qrels.items() for doc, grade in of.items()]
    kinds = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64()), ("grade", pa.float64())])
    with STREAM(USUAL, layout="tagged") as stream:
        stream.push(pa.Table.from_arrays([pa.array(column, kind.type) for column, kind in zip(zip(*rows), kinds)], schema=kinds))
        found.append(stream.finish().scores())
    with STREAM(USUAL, grades=(0, 1, 2)) as stream:
        stream.push(np.random.default_rng(6).integers(0, 3, (30, 40)).astype(np.uint8))
        found.append(stream.finish().scores(["min", "max"]))
    return found


@case()
def custom() -> Any:
    @laneval.measure(name="Top1Grade")
    def top1(labels: Any, lengths: Any, judged: Any, grades: Any) -> Any:
        return np.nan_to_num(grades[labels[:, 0]]) * (lengths > 0)

    found = laneval.evaluate(*both("mixed"), [top1, "RR"], per_query=True, stats=["std", "median"])
    return [found, laneval.evaluate_labels(np.eye(5, dtype=np.uint8), [top1, "RR"], per_query=True)]


@case()
def names() -> Any:
    asked = ["map", "ndcg_cut_10", "recip_rank", "ranx:hits@5", "ndcg@10", "nDCG(dcg='exp-log2')@10", "trec:recall_5", "rbp.95", "success_1"]
    return [laneval.measures(), [laneval.parse_measure(name) for name in asked], laneval.DEFAULT, laneval.__version__, sorted(laneval.__all__)]


@case()
def errors() -> Any:
    qrels, run = both("mixed")
    return [
        refused(laneval.evaluate, qrels, run, "nDGC@10"),
        refused(laneval.evaluate, qrels, {"q1": {"d1": None}}),
        refused(laneval.evaluate, qrels, b"q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 high tag\n"),
        refused(laneval.evaluate, {"q1": {"d1": "yes"}}, run),
        refused(laneval.evaluate, qrels, run, ties="none"),
        refused(laneval.evaluate, qrels, run, tie="input"),
        refused(laneval.evaluate, qrels, run, depth=-1),
        refused(laneval.evaluate, qrels, run, "StRecall@3"),
        refused(laneval.evaluate, qrels, {"nothing": {"d1": 1.0}}),
        refused(laneval.evaluate_runs, qrels, {}),
        refused(laneval.evaluate_labels, np.full((2, 2), -3, np.int8)),
        refused(laneval.evaluate_scores, np.full((2, 2), np.nan), np.ones((2, 2), np.int8)),
        refused(laneval.evaluate_ids, [["a"]], [["a", "a"]]),
        refused(laneval.Matrix.from_bytes, b"nothing"),
        refused(laneval.Summary.from_bytes, b"nothing"),
    ]


@case()
def pytrec_eval() -> Any:
    import laneval.compat.pytrec_eval as compat

    qrels, run = both("mixed")
    whole = {query: {doc: int(grade) for doc, grade in of.items()} for query, of in qrels.items()}
    found = [compat.RelevanceEvaluator(whole, compat.supported_measures).evaluate(run)]
    found.append(compat.RelevanceEvaluator(whole, {"map", "ndcg_cut.3,10", "P.5"}, relevance_level=2, judged_docs_only_flag=True).evaluate(run))
    means = {name: compat.compute_aggregated_measure(name, [of[name] for of in found[0].values()]) for name in next(iter(found[0].values()))}
    lines = (DATA / "mixed" / "run.txt").read_text().splitlines()
    return [*found, means, compat.parse_run(lines), sorted(compat.supported_measures)]


@case()
def ir_measures() -> Any:
    import ir_measures as theirs
    import laneval.compat.ir_measures as compat

    compat.install("all")
    try:
        qrels, run = both("closed")
        whole = {query: {doc: int(grade) for doc, grade in of.items()} for query, of in qrels.items()}
        asked = [theirs.parse_measure(name) for name in ("nDCG@10", "nDCG", "AP", "AP@5", "RR", "P@10", "R@100", "Bpref", "ERR@20", "Judged@10")]
        values = sorted((of.query_id, str(of.measure), of.value) for of in theirs.iter_calc(asked, whole, run))
        return [values, {str(name): value for name, value in theirs.calc_aggregate(asked, whole, run).items()}]
    finally:
        compat.uninstall()


@case()
def ranx() -> Any:
    from laneval.compat.ranx import Qrels, Run, compare, evaluate

    qrels = Qrels({query: {doc: max(int(grade), 0) for doc, grade in of.items()} for query, of in both("closed")[0].items()})
    these = [Run(read(f"closed/{name}.txt"), name=name) for name in ("run", "run2")]
    asked = [
        "ndcg@10",
        "map",
        "mrr",
        "precision@10",
        "recall@100",
        "hits@5",
        "hit_rate@5",
        "r-precision",
        "bpref",
        "rbp.95",
        "f1@10",
        "ndcg_burges@10",
    ]
    mean = [evaluate(qrels, run, asked) for run in these]
    values = [evaluate(qrels, run, asked, return_mean=False) for run in these]
    tests = [compare(qrels, these, ["ndcg@10", "map"], stat_test=test) for test in ("student", "fisher", "tukey")]
    return [mean, values, *(of for report in tests for of in (report.to_table(), report.to_latex(), report.to_dict(), report.to_dataframe()))]


@case()
def others() -> Any:
    import laneval.lightgbm
    from laneval.compat.sentence_transformers import Metrics

    draw = np.random.default_rng(7)

    class Data:
        def get_group(self) -> Any:
            return np.full(20, 15)

        def get_label(self) -> Any:
            return np.arange(300) % 4

    class Evaluator(Metrics):
        queries_ids, relevant_docs = ["q1", "q2"], {"q1": {"d1", "d5"}, "q2": {"d2"}}
        accuracy_at_k, precision_recall_at_k, mrr_at_k, ndcg_at_k, map_at_k = [1, 3], [2, 5], [10], [10], [100]

    hits = [[{"corpus_id": f"d{at}", "score": float(score)} for at, score in enumerate(draw.integers(0, 5, 8))] for _ in range(2)]
    return [laneval.lightgbm.metric(["nDCG(gain=exp2)@10", "AP", "RR", "Unjudged@1"])(draw.random(300), Data()), Evaluator().compute_metrics(hits)]


def main() -> None:
    out, wanted = pathlib.Path(sys.argv[1]), sys.argv[2]
    for name, function in CASES.items():
        if not fnmatch.fnmatchcase(f"python/{name}", wanted):
            continue
        to = out / name
        to.mkdir(parents=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value, code = function(), 0
            except Exception as error:
                value, code = f"error: {type(error).__name__}: {error}", 1
        (to / "exit").write_text(str(code))
        (to / "value").write_bytes(value if isinstance(value, bytes) else f"{shown(value)}\n".encode())
        (to / "warnings").write_text("".join(f"{of.category.__name__}: {of.message}\n" for of in caught))
    print(len(CASES))


if __name__ == "__main__":
    main()

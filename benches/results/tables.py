"""The tables, a function each, which returns Markdown."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import pathlib
import random
import re
import sys
from collections.abc import Callable, Iterable

import data
from data import DATA, FIVE, evaluate, large, matrix, medium, once, sampled, text
from timing import BENCHES, ROOT, anonymous, bench, commit, criterion, folds, least, peer, printed, rows, seconds, shown

# The command of the Python package, which has Parquet.
PACKAGE: list[object] = [sys.executable, "-m", "laneval"]
TABLES: dict[str, Callable[[], str]] = {}


def table(write: Callable[[], str]) -> Callable[[], str]:
    TABLES[write.__name__] = write
    return write


@table
def machine() -> str:
    """Where and when."""
    cpu = re.findall(r"model name\s+: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    widest = next((name for flag, name in [("avx512bw", "AVX-512"), ("avx2", "AVX2")] if flag in flags), "neither AVX2 nor AVX-512")
    memory = int(re.findall(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[0]) >> 20
    rust = printed("rustc", "--version").split()[1]
    return (
        f"{datetime.date.today()}, commit {commit()}, rustc {rust}, Python {sys.version.split()[0]}; {cpu[0]} with {widest}, {len(cpu)} virtual "
        f"cores, {memory} GiB; load {os.getloadavg()[1]:.1f} in the five minutes before."
    )


@table
def from_text() -> str:
    """Text to five numbers, beside other programs."""
    lines = []
    for name, (qrels, run) in {"6,980 × 1000": medium(), "100,000 × 100": large()}.items():
        commands = {f"**laneval**, threads: {threads}": evaluate(qrels, run, threads=threads) for threads in (1, 2)}
        ours = least(commands, 9)
        for program, (cpu, wall) in ours.items():
            lines.append([name, program, seconds(cpu), seconds(wall), f"{anonymous(commands[program]):.0f}", ""])
        programs = {
            "Polars merely reads three columns, threads: 2": fastest(peer("read", run)),
            "Polars by hand, threads: 2": fastest(peer("polars", qrels, run)),
            "pytrec_eval": peer("pytrec", qrels, run),
        }
        if run == medium()[1]:
            programs["ir_measures"] = peer("ir_measures", qrels, run)
            programs["ranx, compiled before"] = peer("ranx", qrels, run)[-1:]
        for program, phases in programs.items():
            theirs, of_cpu = sum(of[1] for of in phases), sum(of[2] for of in phases)
            lines.append([name, program, seconds(of_cpu), seconds(theirs), "", f"{theirs / wall:.1f}"])
    return rows(["queries × results", "program", "CPU s", "wall s", "own memory MiB", "× laneval's wall, 2 threads"], lines)


def fastest(phases: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    return [min(phases, key=lambda phase: phase[1])]


PARQUET = "Parquet, by the Python package's command"


def packed(path: pathlib.Path) -> None:
    printed(*PACKAGE, "convert", medium()[1], "-o", path)


@table
def kinds() -> str:
    """The same rows in other formats and orders."""
    qrels, run = medium()
    folder = run.parent

    def shuffled(path: pathlib.Path) -> None:
        rows = run.read_bytes().splitlines(keepends=True)
        random.Random(1).shuffle(rows)
        path.write_bytes(b"".join(rows))

    def within(path: pathlib.Path) -> None:
        rows = run.read_bytes().splitlines(keepends=True)
        draw = random.Random(1)
        blocks = [rows[at : at + 1000] for at in range(0, len(rows), 1000)]
        for block in blocks:
            draw.shuffle(block)
        path.write_bytes(b"".join(row for block in blocks for row in block))

    def zipped(path: pathlib.Path) -> None:
        with gzip.open(path, "wb", 1) as file:
            file.write(run.read_bytes())

    def objects(path: pathlib.Path) -> None:
        of: dict[str, dict[str, float]] = {}
        for line in run.read_text().splitlines():
            query, _, doc, _, score, _ = line.split()
            of.setdefault(query, {})[doc] = float(score)
        path.write_text(json.dumps(of))

    def converted(path: pathlib.Path) -> None:
        printed(data.laneval, "convert", run, "-o", path)

    files = {
        "TREC text": run,
        "the lines of each query shuffled": once(folder / "within.txt", within),
        "all lines shuffled": once(folder / "shuffled.txt", shuffled),
        "gzip": once(folder / "run.txt.gz", zipped),
        "TSV": once(folder / "run.tsv", converted),
        "JSON, a record a line": once(folder / "run.jsonl", converted),
        "JSON, objects of queries": once(folder / "run.json", objects),
        PARQUET: once(folder / "run.parquet", packed),
    }

    def commands(threads: int) -> dict[str, list[object]]:
        of = {name: evaluate(qrels, path, threads=threads) for name, path in files.items()}
        of[PARQUET] = [*PACKAGE, *of[PARQUET][1:]]
        return of

    of, two = least(commands(1), 5), least(commands(2), 5)
    plain = of["TREC text"][0]

    def row(name: str, path: pathlib.Path) -> list[str]:
        size, cpu = path.stat().st_size / 1e6, of[name][0]
        return [name, f"{size:.0f}", seconds(cpu), seconds(two[name][1]), f"{size / cpu:,.0f}", f"{cpu / plain:.2f}"]

    lines = [row(name, path) for name, path in files.items()]
    lines.append(row_of_matrices(plain * 2000 / 6980))
    return rows(["run", "MB", "CPU s, 1 thread", "wall s, 2 threads", "MB a CPU s", "of as many lines of TREC text"], lines)


def row_of_matrices(plain: float) -> list[str]:
    """Two matrices of NumPy, 2,000 × 1000: labels and scores."""
    import numpy as np

    draw = np.random.default_rng(1)
    labels, scores = DATA / "labels.npy", DATA / "scores.npy"
    once(labels, lambda path: np.save(path, (draw.random((2000, 1000)) < 0.01).astype(np.uint8)))
    once(scores, lambda path: np.save(path, draw.random((2000, 1000), np.float32)))
    of = least({str(threads): evaluate(labels, scores, threads=threads) for threads in (1, 2)}, 5)
    size, cpu = (labels.stat().st_size + scores.stat().st_size) / 1e6, of["1"][0]
    return ["two `.npy` of 2,000 × 1000", f"{size:.0f}", seconds(cpu), seconds(of["2"][1]), f"{size / cpu:,.0f}", f"{cpu / plain:.2f}"]


@table
def chunks() -> str:
    """Results that are pieces of documents: chunks by their ids, and passages by their positions."""
    qrels, run = medium()

    def third(doc: str) -> tuple[str, int]:
        number = int(doc.removeprefix("d"))
        return f"d{number // 3 * 3}", number % 3

    def of_documents(path: pathlib.Path) -> None:
        grades: dict[tuple[str, str], int] = {}
        for line in qrels.read_text().splitlines():
            query, _, doc, grade = line.split()
            key = query, third(doc)[0]
            grades[key] = max(grades.get(key, 0), int(grade))
        path.write_text("".join(f"{query} 0 {doc} {grade}\n" for (query, doc), grade in grades.items()))

    def of_chunks(path: pathlib.Path) -> None:
        with path.open("w") as file:
            for line in run.read_text().splitlines():
                query, zero, doc, rest = line.split(maxsplit=3)
                file.write("{} {} {}#{} {}\n".format(query, zero, *third(doc), rest))

    judged, found = once(run.parent / "of-chunks.qrels", of_documents), once(run.parent / "chunks.run", of_chunks)
    commands = {"the ids as they are": evaluate(judged, found)}
    for repeats in ("first", "blank", "sum", "mean"):
        commands[f"`--doc-id before:# --aggregate {repeats}`"] = [*evaluate(judged, found), "--doc-id", "before:#", "--aggregate", repeats]

    def of_gold(path: pathlib.Path) -> None:
        draw = random.Random(1)
        of = ((query, draw.randrange(100), draw.randrange(9600), 1 + draw.randrange(2)) for query in range(7000) for _ in range(5))
        path.write_text("query_id,doc_id,start,end,grade\n" + "".join(f"q{query},d{doc},{at},{at + 400},{grade}\n" for query, doc, at, grade in of))

    def of_passages(path: pathlib.Path) -> None:
        draw = random.Random(2)
        with path.open("w") as file:
            file.write("query_id,doc_id,start,end,score\n")
            for query in range(7000):
                for rank in range(100):
                    at = draw.randrange(25) * 400
                    file.write(f"q{query},d{draw.randrange(100)},{at},{at + 400},{100 - rank}\n")

    gold, passages = once(DATA / "gold.csv", of_gold), once(DATA / "passages.csv", of_passages)
    commands["700,000 passages, `--facet span`"] = [data.laneval, "eval", gold, passages, "--facet", "span", "--threads", 1]
    return rows(["work, 1 thread", "CPU s"], [[name, seconds(cpu)] for name, (cpu, _) in least(commands, 5).items()])


@table
def written() -> str:
    """Bytes of what is written."""
    qrels, run = medium()
    count = 6980 * 1000
    parquet = once(run.parent / "run.parquet", packed)
    values = run.parent / "values.parquet"
    printed(*PACKAGE, "eval", qrels, run, "-m", FIVE, "--per-query", "-o", values)
    partial = run.parent / "part.lms"
    printed(data.laneval, "eval", qrels, run, "-m", FIVE, "--partial", partial)
    label = matrix("medium", "build", qrels, run)
    of = [
        ("a run as Parquet, `convert`", parquet, count, "result"),
        ("values of queries as Parquet, `eval --per-query`", values, 6980 * 5, "value"),
        ("a summary, `eval --partial`", partial, 6980, "query"),
        ("a label matrix, `build`", label, count, "result"),
    ]
    return rows(
        ["file", "MB", "bytes"],
        [[name, f"{path.stat().st_size / 1e6:.1f}", f"{path.stat().st_size / of:.1f} a {what}"] for name, path, of, what in of],
    )


@table
def trec_eval() -> str:
    """All of trec_eval's measures."""
    qrels, run = medium()
    wanted = {"-m official": [], "-m all_trec": ["-m", "all_trec"], "-q -m all_trec": ["-q", "-m", "all_trec"]}
    of = least({name: [data.laneval, "trec-eval", *words, qrels, run] for name, words in wanted.items()}, 5)
    return rows(
        ["`laneval trec-eval`, 6,980 × 1000 from text", "CPU s", "wall s"],
        [[f"`{name}`", seconds(cpu), seconds(wall)] for name, (cpu, wall) in of.items()],
    )


@table
def from_matrix() -> str:
    """Labels in memory, by density, beside reading them."""
    output = bench("five")
    found: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = {}
    for line in output.splitlines()[1:]:
        depth, relevant, threads, read, evaluation, rate, share, *_ = line.split()
        found.setdefault((depth, relevant), {})[threads, evaluation] = [read, rate, share]

    def row(key: tuple[str, str], of: dict[tuple[str, str], list[str]]) -> list[str]:
        rates = [f"{int(of['1', name][1]):,} · {of['1', name][2]}" for name in ("first", "second", "third")]
        return [*key, of["1", "first"][0], *rates, f"{int(of['2', 'third'][1]):,} · {of['2', 'third'][2]}"]

    head = ["depth", "relevant", "read GB/s", "first evaluation", "second", "third", "third, 2 threads"]
    return rows(head, [row(key, of) for key, of in found.items()])


@table
def each_fold() -> str:
    """The folds one by one, and the levels of SIMD."""
    return shown("laneval bench --adapter llvmpipe", printed(data.laneval, "bench", "--adapter", "llvmpipe"))


@table
def first_evaluation() -> str:
    """Files of labels, whole processes."""
    files = [
        (share, matrix(f"of-{share}", "gen", "--query-count", 10_000, "--results", 1000, "--density", share / 100)) for share in (0.1, 0.5, 1, 2, 10, 50)
    ]
    of = least({str(share): evaluate(path) for share, path in files}, 25)
    return rows(
        ["10,000 × 1000, relevant", "folds and formulas, ms", "whole process, CPU ms", "wall ms"],
        [[f"{share} %", f"{folds(evaluate(path)) * 1e3:.2f}", *(f"{of[str(share)][at] * 1e3:.1f}" for at in (0, 1))] for share, path in files],
    )


@table
def ties() -> str:
    """What equal scores cost."""
    qrels, run = medium()
    path = matrix("ties", "build", "--keep-ties", qrels, run)
    of = {rule: folds([*evaluate(path), "--ties", rule], 60) for rule in ("docno-desc", "average", "best", "worst")}
    plain = of["docno-desc"]
    return rows(
        ["`--ties`", "folds and formulas, ms", "of docno-desc"], [[rule, f"{took * 1e3:.2f}", f"{took / plain:.2f}"] for rule, took in of.items()]
    )


@table
def many_grades() -> str:
    """More than 253 grades."""

    def judged(share: float, kind: str) -> pathlib.Path:
        def write(path: pathlib.Path) -> None:
            draw = random.Random(1)
            with path.open("w") as file:
                for query in range(1500):
                    for doc in range(2000):
                        if draw.random() < share:
                            grade = f"{draw.random() * 4:.6f}" if kind == "many" else draw.randrange(4)
                            file.write(f"q{query} 0 d{doc:06} {grade}\n")

        return once(DATA / f"grades-{share}-{kind}.qrels", write)

    run = sampled("grades", 1500, 1000, 2000)
    lines = []
    for share, name in [(0.05, "a twentieth"), (1.0, "all")]:
        few, many = judged(share, "few"), judged(share, "many")
        of = least({"few": evaluate(few, run), "many": evaluate(many, run)}, 5)
        lines.append([f"text, {name} judged, five", "CPU s", *(seconds(of[kind][0]) for kind in of), f"{of['many'][0] / of['few'][0]:.1f}"])
        files = [matrix(f"grades-{share}-{kind}", "build", path, run) for kind, path in [("few", few), ("many", many)]]
        for measures in (FIVE, "nDCG@10", "AP"):
            took = [folds([data.laneval, "eval", path, "-m", measures, "--threads", 1]) for path in files]
            named = "five" if measures == FIVE else measures
            lines.append([f"`.lmx`, {name} judged, {named}", "folds, ms", *(f"{of * 1e3:.2f}" for of in took), f"{took[1] / took[0]:.1f}"])
    return rows(["1,500 × 1000", "", "4 grades", "values of 6 digits", "×"], lines)


@table
def facets() -> str:
    """Judgments by subtopic, beside pyndeval."""

    def judged(path: pathlib.Path) -> None:
        draw = random.Random(1)
        with path.open("w") as file:
            for query in range(10_000):
                for subtopic in range(1, 1 + draw.randint(3, 8)):
                    for doc in sorted(draw.sample(range(200), draw.randint(50, 100))):
                        file.write(f"q{query} {subtopic} d{doc:06} {int(draw.random() < 0.15)}\n")

    qrels, run = once(DATA / "facets.qrels", judged), sampled("facets", 10_000, 100, 200)
    names = ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "P_IA", "StRecall"]
    measures = ",".join([f"{name}@{cut}" for name in names for cut in (5, 10, 20)] + ["NRBP", "nNRBP", "AP_IA"])
    by = ["-m", measures, "--ties", "docno-asc"]
    path = matrix("facets", "build", "--facet", "subtopic", "--ties", "docno-asc", qrels, run)
    commands: dict[str, list[object]] = {}
    for threads in (2, 1):
        commands[f"`.lmx`, whole process, {threads}"] = [data.laneval, "eval", path, *by, "--threads", threads]
        commands[f"text, whole process, {threads}"] = [data.laneval, "eval", "--facet", "subtopic", qrels, run, *by, "--threads", threads]
    of = least(commands, 5)
    in_turns = [[peer(tool, qrels, run)[-1][1] for tool in ("pyndeval", "subtopics")] for _ in range(3)]
    theirs, tuples = (min(walls) for walls in zip(*in_turns, strict=True))
    lines = [[name, seconds(wall), f"{theirs / wall:.1f}"] for name, (_, wall) in of.items()]
    lines += [["Python, lists of tuples", seconds(tuples), f"{theirs / tuples:.1f}"], ["`pyndeval.ndeval`, its lists ready", seconds(theirs), ""]]
    return rows(["laneval, from, threads", "wall s", "× as fast as pyndeval"], lines)


@table
def start_up() -> str:
    """Small work."""
    one = matrix("one", "gen", "--query-count", 1, "--results", 100)
    files = {"1 query × 100": one, "10,000 × 100": matrix("ten-thousand", "gen", "--query-count", 10_000, "--results", 100)}
    files["1,000,000 × 10"] = matrix("million", "gen", "--query-count", 1_000_000, "--results", 10)
    commands: dict[str, list[object]] = {"`laneval --version`": [data.laneval, "--version"]}
    commands |= {f"`laneval eval` of a `.lmx` of {name}": evaluate(path) for name, path in files.items()}
    commands |= {"`python -c pass`": [sys.executable, "-c", "pass"], "`python -c 'import laneval'`": [sys.executable, "-c", "import laneval"]}
    of = least(commands, 25)
    return rows(["command", "CPU ms", "wall ms"], [[name, *(f"{value * 1e3:.1f}" for value in took)] for name, took in of.items()])


@table
def arrays() -> str:
    """Rankings in memory, beside NumPy."""
    peers = BENCHES / "peers.py"
    theirs = [f"{tool} {shape}" for tool in ("numpy", "argpartition") for shape in ("200000 100", "20000 1000")]
    ours = shown("cargo bench --bench rows", bench("rows"))
    lines = [shown(f"python benches/peers.py {words}", printed(sys.executable, peers, *words.split()).splitlines()[-1]) for words in theirs]
    return "\n\n".join([ours, *lines])


@table
def neighbours() -> str:
    return script("benches/neighbours.py")


@table
def walks() -> str:
    return shown("cargo bench --bench walks", bench("walks"))


@table
def flips() -> str:
    """Sums under random signs, and what is made of them."""
    return rows(["`cargo bench --bench flips`", "", "median ms"], [[group, case, f"{took * 1e3:.1f}"] for group, case, took in criterion("flips")])


@table
def columns() -> str:
    """Columns beside text."""
    found = [(group, case, took) for group, case, took in criterion("ingest")]
    plain = {case.split(", ")[1]: took for group, case, took in found if group == "columns" and case.startswith("text")}
    ranked = next(took for _, case, took in found if case == "ranked")

    def share(group: str, case: str, took: float) -> float:
        return took / (plain[case.split(", ")[1]] if group == "columns" else ranked)

    return rows(
        ["`cargo bench --bench ingest`", "rows, threads", "median ms", "of text"],
        [[group, case, f"{took * 1e3:.1f}", f"{share(group, case, took):.2f}"] for group, case, took in found],
    )


@table
def python() -> str:
    """The Python package beside others."""
    return "\n\n".join(script(f"python/benches/{name}") for name in ("tables.py", "peers.py", "compat.py"))


def script(path: str) -> str:
    """A script of Python, and what it prints."""
    return shown(f"python {path}", printed(sys.executable, ROOT / path))


@table
def calls() -> str:
    """Calls from several threads at once."""
    return shown("cargo bench --bench calls", bench("calls")) + "\n\n" + script("python/benches/calls.py")


@table
def compared() -> str:
    """Comparisons of runs, and preferences."""
    qrels, runs = text(50, 100, runs=60)
    of_runs = [data.laneval, "compare", qrels, *runs, "--threads", 1]
    chain, pairs, levels = (DATA / f"{name}-10000.prefs" for name in ("chain", "pairs", "levels"))
    found = DATA / "preferred-10000.run"
    docs = [f"d{at:05}" for at in range(10_000)]

    def preferred(pairs: Iterable[Iterable[int]]) -> str:
        """Each pair in a sub-group of its own: the first of two documents is better."""
        return "".join(f"q 0 {at} {docs[doc]} {level}\n" for at, pair in enumerate(pairs) for doc, level in zip(pair, (2, 1), strict=True))

    draw = random.Random(1)
    once(found, lambda path: path.write_text("".join(f"q Q0 {docs[at * 10]} {at} {1000 - at} t\n" for at in range(1000))))
    once(chain, lambda path: path.write_text(preferred((at, at + 1) for at in range(9_999))))
    once(pairs, lambda path: path.write_text(preferred(sorted(draw.sample(range(10_000), 2)) for _ in range(30_000))))
    once(levels, lambda path: path.write_text("".join(f"q 0 {of} {doc} {at % 3}\n" for of in range(2) for at, doc in enumerate(docs))))
    values = [data.laneval, "eval", "--facet", "preference", "-m", "prefs_simp,prefs_pair", "--threads", 1]
    of = least(
        {
            "60 runs × 50 queries, nDCG@10": [*of_runs, "-m", "nDCG@10"],
            "60 runs × 50 queries, five": [*of_runs, "-m", FIVE],
            "preferences of 10,000 documents, a chain": [*values, chain, found],
            "the same, 30,000 random pairs without circles": [*values, pairs, found],
            "the same, two sub-groups of the same three levels": [*values, levels, found],
        },
        2,
    )
    return rows(["work, 1 thread", "CPU s"], [[name, seconds(cpu)] for name, (cpu, _) in of.items()])


@table
def growth() -> str:
    """Exponents."""
    library = shown("cargo bench --bench scaling", bench("scaling"))
    command = printed(sys.executable, BENCHES / "growth.py", data.laneval)
    line = re.compile(r"(\w+) +([\d.]+) ms +([\d.]+) ms +([\d.]+) ms +exponent +([\d.]+)")
    found = [line.match(row) for row in command.splitlines()]
    return (
        rows(["`python benches/growth.py`", "once, ms", "tenfold", "hundredfold", "exponent"], [of.groups() for of in found if of]) + "\n\n" + library
    )

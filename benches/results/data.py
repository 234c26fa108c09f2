"""The data that are evaluated, each file made once, and the commands that evaluate them."""

from __future__ import annotations

import pathlib
import random
from collections.abc import Callable

from timing import ROOT, printed

DATA = ROOT / "target" / "results" / "data"
FIVE = "AP,nDCG@10,RR,P@10,R@100"

# The command that is measured, which the caller sets.
laneval = ""


def once(path: pathlib.Path, write: Callable[[pathlib.Path], object]) -> pathlib.Path:
    """A file or a folder that is written when it is not there. It gets its name when it is complete."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_name(f"begun-{path.name}")
        write(begun)
        begun.rename(path)
    return path


def text(queries: int, depth: int, runs: int = 1) -> tuple[pathlib.Path, list[pathlib.Path]]:
    """Judgments and runs of `laneval gen`."""
    shape = ["--query-count", queries, "--results", depth, "--runs", runs]
    folder = once(DATA / f"{queries}x{depth}x{runs}", lambda path: printed(laneval, "gen", *shape, "-o", path))
    names = ["run.txt"] if runs == 1 else [f"run-{at}.txt" for at in range(1, runs + 1)]
    return folder / "qrels.txt", [folder / name for name in names]


def matrix(name: str, *words: object) -> pathlib.Path:
    """A label matrix, which these words of the command make."""
    return once(DATA / f"{name}.lmx", lambda path: printed(laneval, *words, "-o", path))


def sampled(name: str, queries: int, results: int, documents: int) -> pathlib.Path:
    """A run whose documents are drawn from `documents` ones."""

    def write(path: pathlib.Path) -> None:
        draw = random.Random(2)
        with path.open("w") as file:
            for query in range(queries):
                for rank, doc in enumerate(draw.sample(range(documents), results)):
                    file.write(f"q{query} Q0 d{doc:06} {rank} {results - rank} t\n")

    return once(DATA / f"{name}.run", write)


def medium() -> tuple[pathlib.Path, pathlib.Path]:
    qrels, [run] = text(6980, 1000)
    return qrels, run


def large() -> tuple[pathlib.Path, pathlib.Path]:
    qrels, [run] = text(100_000, 100)
    return qrels, run


def evaluate(*words: object, threads: int = 1) -> list[object]:
    return [laneval, "eval", *words, "-m", FIVE, "--threads", threads]

"""The data that are evaluated, each file made once, and the commands that evaluate them."""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections.abc import Callable

from timing import ROOT, printed

DATA = ROOT / "target" / "results" / "data"
FIVE = "AP,nDCG@10,RR,P@10,R@100"

# The command that is measured, which the caller sets.
laneval = ""


def text(queries: int, depth: int) -> tuple[pathlib.Path, pathlib.Path]:
    """Judgments and a run, made once."""
    folder = DATA / f"{queries}x{depth}"
    if not folder.exists():
        printed(laneval, "gen", "--queries", queries, "--depth", depth, "-o", folder)
    return folder / "qrels.txt", folder / "run.txt"


def matrix(name: str, *words: object) -> pathlib.Path:
    """A label matrix, made once."""
    path = DATA / f"{name}.lmx"
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        printed(laneval, *words, "-o", path)
    return path


def once(path: pathlib.Path, write: Callable[[pathlib.Path], object]) -> pathlib.Path:
    """A file that is written when it is not there."""
    if not path.exists():
        write(path)
    return path


def medium() -> tuple[pathlib.Path, pathlib.Path]:
    return text(6980, 1000)


def large() -> tuple[pathlib.Path, pathlib.Path]:
    return text(100_000, 100)


def evaluate(*words: object, threads: int = 1) -> list[object]:
    return [laneval, "eval", *words, "-m", FIVE, "--threads", threads]


def folds(words: list[object], turns: int = 30) -> float:
    """The least time of "folds and formulas", as `--timing` shows it, in seconds."""

    def once() -> float:
        said = subprocess.run([str(word) for word in [*words, "--timing"]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = re.search(r"folds and formulas\s+([\d.]+) (µs|ms|s)", said.stderr)
        assert found, said.stderr
        return float(found[1]) * {"µs": 1e-6, "ms": 1e-3, "s": 1.0}[found[2]]

    return min(once() for _ in range(turns))

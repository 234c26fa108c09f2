"""Times two builds in turns: `just pairs REV`, or `python tests/pairs/pairs.py REV [--only GLOB] [--limit 1.02] [--list]`.

REV is any revision of git; it is built once, and compared with the working tree. A number is the CPU time of a process with its children and its
system calls, or of one call inside of Python (calls.py), on one core and one thread; the builds take turns, and the least of all turns counts.
Rows of `start` are instructions, which valgrind counts, the same each time but for the addresses of memory. With --limit the exit code is 1 if a
ratio is above it; such a row is first measured with thrice the turns more.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import builds

FOLDER = builds.FOLDER / "timed"
CALLS = pathlib.Path(__file__).with_name("calls.py")
FIVE = "AP,nDCG@10,RR,P@10,R@100"
CPU = max(os.sched_getaffinity(0))
DENSITIES = {"0.1": "0.001", "1": "0.01", "10": "0.1"}


@dataclasses.dataclass(frozen=True)
class Row:
    """What is timed: words of the command, a workload of Python, or words whose instructions are counted."""

    name: str
    words: tuple[str, ...] = ()
    kind: str = "seconds"


def table(pair: tuple[builds.Build, builds.Build], package: bool) -> list[Row]:
    """All rows, or those of the command. {own} is the folder of the build's own bytes."""
    text = {
        "sorted": "run.txt", "shuffled": "shuffled.txt", "tsv": "run.tsv", "jsonl": "run.jsonl", "json": "run.json", "gzip": "run.txt.gz",
        "parquet": "run.parquet",
    }  # fmt: skip
    found = [
        Row(f"text-{name}", ("eval", "medium/qrels.txt", f"medium/{path}", "-m", FIVE), "package" if name == "parquet" else "seconds")
        for name, path in text.items()
    ]
    found.append(Row("text-100000x100", ("eval", "large/qrels.txt", "large/run.txt", "-m", FIVE)))
    for density in DENSITIES:
        found += [
            Row(f"lmx-{density}%-{name}", ("eval", f"{{own}}/{density}.lmx", "-m", of)) for name, of in (("five", FIVE), ("nDCG@10", "nDCG@10"))
        ]
    runs = [f"runs/run-{at}.txt" for at in range(1, 61)]
    found += [Row(f"compare-60x50-{name}", ("compare", "runs/qrels.txt", *runs, "-m", of)) for name, of in (("five", FIVE), ("nDCG@10", "nDCG@10"))]
    if package:
        found += [
            Row(f"python-{name}", (name,), "python")
            for name in builds.printed(builds.PYTHON, CALLS, "--list", PYTHONPATH=str(pair[1].package)).split()
        ]
    tiny = ("eval", "tiny.qrels", "tiny.run", "-m", "nDCG@10")
    of_start = {"version": ("--version",), "eval": tiny, "measures": ("measures", "--names")}
    found += [Row(f"start-{name}", words, "instructions") for name, words in of_start.items()]
    return [row for row in found if package or row.kind != "package"]


def make(build: builds.Build, package: bool) -> None:
    """The data, which is made once, by the build of the revision."""
    FOLDER.mkdir(parents=True, exist_ok=True)

    def once(name: str, *words: object) -> pathlib.Path:
        path, begun = FOLDER.joinpath(name), FOLDER.joinpath("begun")
        if not path.exists():
            shutil.rmtree(begun, ignore_errors=True)
            builds.printed(build.command, "gen", *words, "-o", begun)
            begun.rename(path)
        return path

    medium = once("medium", "--query-count", 2000, "--results", 1000)
    once("large", "--query-count", 100_000, "--results", 100)
    once("runs", "--query-count", 50, "--results", 100, "--runs", 60)
    (FOLDER / "tiny.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (FOLDER / "tiny.run").write_text("q1 Q0 d1 1 2 r\nq1 Q0 d2 2 1 r\n")
    run = medium / "run.txt"
    if not (medium / "run.tsv").exists():
        lines = run.read_text().splitlines(keepends=True)
        (medium / "shuffled.txt").write_text("".join(random.Random(1).sample(lines, len(lines))))
        (medium / "run.txt.gz").write_bytes(gzip.compress(run.read_bytes(), 1))
        of: dict[str, dict[str, float]] = {}
        for query, _, doc, _, score, _ in map(str.split, lines):
            of.setdefault(query, {})[doc] = float(score)
        (medium / "run.json").write_text(json.dumps(of))
        for end in ("jsonl", "tsv"):
            builds.printed(build.command, "convert", run, "-o", medium / f"run.{end}")
    if package and not (medium / "run.parquet").exists():
        builds.printed(builds.PYTHON, "-m", "laneval", "convert", run, "-o", medium / "run.parquet", PYTHONPATH=str(build.package))


class Side:
    """A build with its own bytes and its own process of Python."""

    def __init__(self, at: int, build: builds.Build, package: bool) -> None:
        self.build, self.own, self.python = build, build.folder / f"timed-{at}", None
        self.own.mkdir(exist_ok=True)
        for name, density in DENSITIES.items():
            builds.printed(build.command, "gen", "--query-count", 30_000, "--results", 1000, "--density", density, "-o", self.own / f"{name}.lmx")
        if package:
            words = ["taskset", "-c", str(CPU), builds.PYTHON, CALLS, self.own]
            self.python = subprocess.Popen(words, env=self.env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def env(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.build.package), "LANEVAL_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def measured(self, row: Row) -> float:
        """Seconds of CPU, or instructions."""
        if row.kind == "python":
            assert self.python and self.python.stdin and self.python.stdout
            print(*row.words, file=self.python.stdin, flush=True)
            answer = self.python.stdout.readline()
            return float(answer) if answer else sys.exit(f"error: calls.py ended in {row.name} with the package of {self.build.name}")
        command = [builds.PYTHON, "-m", "laneval"] if row.kind == "package" else [self.build.command]
        words = [str(word).replace("{own}", str(self.own)) for word in (*command, *row.words)]
        if row.kind == "instructions":
            words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words]
        process = subprocess.Popen(["taskset", "-c", str(CPU), *words], cwd=FOLDER, env=self.env(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"error: {row.name} ended with {process.returncode} and {self.build.name}\n{' '.join(words)}\n{said}")
        if row.kind == "instructions":
            return float(re.findall(r"Collected : (\d+)", said)[0])
        return usage.ru_utime + usage.ru_stime

    def end(self) -> None:
        if self.python and self.python.stdin:
            self.python.stdin.close()
            self.python.wait()


def least(sides: list[Side], row: Row, turns: int) -> list[float]:
    """The least of the turns, one after the other."""
    if row.kind == "instructions":
        return [side.measured(row) for side in sides]
    all_of = [[side.measured(row) for side in sides] for _ in range(turns)]
    return [min(of) for of in zip(*all_of)]


def machine() -> str:
    info = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.findall(r"model name\s+: (.*)", info)[0]
    widest = next((name for flag, name in (("avx512bw", "AVX-512"), ("avx2", "AVX2")) if flag in info), "neither AVX2 nor AVX-512")
    return f"{name} with {widest}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", metavar="REV", help="the revision to compare the working tree with")
    parser.add_argument("--only", metavar="GLOB", default="*", help="the rows to measure, such as 'lmx-*' [default: all]")
    parser.add_argument("--limit", metavar="RATIO", type=float, help="exit with 1 if the working tree takes this many times what REV takes")
    parser.add_argument("--turns", metavar="N", type=int, default=7, help="how often each build is measured [default: 7]")
    parser.add_argument("--command", action="store_true", help="measure the command only: the Python package, which takes long to build, is left out")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    chosen = parser.parse_args()
    package = not chosen.command
    pair = builds.both(chosen.revision, package=package)
    wanted = [row for row in table(pair, package) if fnmatch.fnmatchcase(row.name, chosen.only)]
    if chosen.list:
        print(*(row.name for row in wanted), sep="\n")
        return
    if not wanted:
        sys.exit(f"error: no row is named {chosen.only}; --list has their names")
    if any(row.kind == "instructions" for row in wanted) and not shutil.which("valgrind"):
        sys.exit("error: instructions are counted by valgrind, which is not installed")
    make(pair[0], package)
    sides = [Side(at, build, package) for at, build in enumerate(pair)]
    print(f"{pair[0].name} beside {pair[1].name}; {machine()}; CPU time in ms or instructions in millions, the least of {chosen.turns} turns\n")
    print(f"{'':26} {'then':>10} {'now':>10} {'now/then':>9}", flush=True)
    above = 0
    for row in wanted:
        one, two = least(sides, row, chosen.turns)
        if chosen.limit and two / one > chosen.limit and row.kind != "instructions":
            one, two = map(min, zip((one, two), least(sides, row, 3 * chosen.turns)))
        scale, unit = (1e-6, "M") if row.kind == "instructions" else (1e3, "ms")
        is_above = bool(chosen.limit) and two / one > chosen.limit
        above += is_above
        print(f"{row.name:26} {one * scale:10.2f} {two * scale:10.2f} {two / one:9.3f} {unit}{'  above the limit' if is_above else ''}", flush=True)
    for side in sides:
        side.end()
    if above:
        sys.exit(f"{above} of {len(wanted)} rows are above {chosen.limit}")


if __name__ == "__main__":
    main()

"""How the command's cost grows with work, CPU time of whole processes: `python benches/growth.py LANEVAL [WORK ...]`.

Each kind of work is done once, tenfold and a hundredfold. The exponent is that of the last step, where starting up no longer counts: 1 is
linear, 2 is quadratic; what is above 1.1 is marked. `cargo bench --bench scaling` has the exponents of the library, without files.
"""

from __future__ import annotations

import math
import pathlib
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable

REPEATS = 3
FIVE = "AP,nDCG@10,RR,P@10,R@100"

command = sys.argv[1] if len(sys.argv) > 1 else "laneval"
folder = pathlib.Path()


def run(*words: object) -> float:
    """Runs the command, and returns its CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([command, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def generated(**shape: int) -> pathlib.Path:
    """A folder with judgments and a run, or runs, of `laneval gen`."""
    to = folder / "generated"
    to.mkdir(exist_ok=True)
    run("gen", *(word for name, value in shape.items() for word in (f"--{name.replace('_', '-')}", value)), "-o", to)
    return to


def matrix(**shape: int) -> pathlib.Path:
    """A matrix of `laneval gen`."""
    to = folder / "generated.lmx"
    run("gen", *(word for name, value in shape.items() for word in (f"--{name.replace('_', '-')}", value)), "-o", to)
    return to


def lines(times: int) -> list[object]:
    of = generated(query_count=500 * times, results=100)
    return ["eval", of / "qrels.txt", of / "run.txt", "-m", FIVE]


def shuffled(times: int) -> list[object]:
    """One line of each query after the other."""
    of = generated(query_count=500 * times, results=100)
    rows = (of / "run.txt").read_text().splitlines(keepends=True)
    (of / "shuffled.txt").write_text("".join(rows[at] for first in range(100) for at in range(first, len(rows), 100)))
    return ["eval", of / "qrels.txt", of / "shuffled.txt", "-m", FIVE]


def queries(times: int) -> list[object]:
    return ["eval", matrix(query_count=5000 * times, results=20), "-m", FIVE]


def depth(times: int) -> list[object]:
    return ["eval", matrix(query_count=1000, results=2000 * times), "-m", FIVE]


def runs(times: int) -> list[object]:
    return ["eval", matrix(query_count=1000, results=200, runs=5 * times), "-m", FIVE]


def compared(times: int) -> list[object]:
    """Pairs grow with the square of runs; these are runs beside a baseline."""
    return ["compare", matrix(query_count=1000, results=100, runs=3 * times), "-m", FIVE, "--baseline", "run-1.txt"]


def cutoffs(times: int) -> list[object]:
    cuts = ",".join(str(cut) for cut in range(1, 10 * times + 1))
    return ["eval", matrix(query_count=5000, results=1000), "-m", f"P@[{cuts}]"]


def grades(times: int) -> list[object]:
    """Judgments of 2, 20 and 200 grades, of the same documents."""
    of = generated(query_count=2000, results=500, judged=400, grades=2 * times)
    return ["eval", of / "qrels.txt", of / "run.txt", "-m", FIVE]


def judges(times: int) -> list[object]:
    of = generated(query_count=200, results=100)
    of_line = [line.split() for line in (of / "qrels.txt").read_text().splitlines()]
    rows = (f"{query} j{judge} {doc} {(int(grade) + judge) % 4}\n" for query, _, doc, grade in of_line for judge in range(3 * times))
    (of / "judged.txt").write_text("".join(rows))
    return ["eval", of / "judged.txt", of / "run.txt", "-m", FIVE, "--facet", "judge", "--judges", "mean"]


def groups(times: int) -> list[object]:
    """The same queries in more groups."""
    of = matrix(query_count=100_000, results=10)
    text = generated(query_count=100_000, results=1)
    names = dict.fromkeys(line.split()[0] for line in (text / "qrels.txt").read_text().splitlines())
    (folder / "groups.tsv").write_text("".join(f"{name}\tg{at % (100 * times)}\n" for at, name in enumerate(names)))
    return ["eval", of, "-m", FIVE, "--group-by", folder / "groups.tsv"]


def draws(times: int) -> list[object]:
    of = matrix(query_count=1000, results=100, runs=4)
    return ["compare", of, "-m", FIVE, "--permutations", 10_000 * times, "--test", "randomisation"]


def resampled(times: int) -> list[object]:
    """Bootstrap intervals, of 9,999 resamples, of more queries."""
    return ["compare", matrix(query_count=500 * times, results=50, runs=4), "-m", FIVE, "--ci", "bootstrap"]


WORK: list[Callable[[int], list[object]]] = [
    lines, shuffled, queries, depth, runs, compared, cutoffs, grades, judges, groups, draws, resampled
]  # fmt: skip


def main() -> None:
    global folder
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for work in WORK:
            if sys.argv[2:] and work.__name__ not in sys.argv[2:]:
                continue
            costs = []
            for times in (1, 10, 100):
                words = [*work(times), "--threads", 1]
                costs.append(min(run(*words) for _ in range(REPEATS)))
            exponent = math.log10(costs[2] / costs[1])
            shown = " ".join(f"{cost * 1e3:9.1f} ms" for cost in costs)
            print(f"{work.__name__:10} {shown}   exponent {exponent:5.2f}{'  above 1.1' if exponent > 1.1 else ''}", flush=True)


main()

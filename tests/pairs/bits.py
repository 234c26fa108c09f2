"""Compares what two builds put out, to the last bit: `just bits REV`, or `python tests/pairs/bits.py REV [--only GLOB] [--allow FILE]`.

REV is any revision of git; it is built once, and compared with the working tree. The cases are the rows of cases.txt, which are command lines, the
blocks of commands on REV's own pages of docs/, and the functions of cases.py, which call the Python package. A case runs with both builds in an
empty folder that has the same data (data.py). It puts out stdout, stderr, its exit code, and every file that it writes, and each of these has a
name: `text/depth-mixed:stdout`, `lmx/units:m.lmx`. Bytes that a build reads back it has written itself.

A difference fails, unless a line of the file of --allow has a glob of its name, or of its case, a tab, and the reason; an allowance that nothing
needs is told. A case also fails that ends with another exit code than its row says with both builds, and one that puts out nothing: a comparison
that cannot fail is none.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import builds
import data

HERE = pathlib.Path(__file__).resolve().parent
WORK = builds.FOLDER / "work"
SIDES = ("then", "now")
WORKERS = os.cpu_count() or 1
NUMBER = re.compile(rb"(?<![\w.])[-+]?\d[\w.+-]*")
TOOK = re.compile(rb" in \d+\.\d+ s\b")
# The guide of the commands: what stands in a block marked sh is run there by tests, too.
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Case:
    """Command lines, and how they end."""

    name: str
    script: str
    code: int = 0


@dataclasses.dataclass(frozen=True)
class Fault:
    """What is wrong: the name of an output or of a case, and in words what it is. Only differences can be allowed."""

    name: str
    text: str
    is_difference: bool = True


def rows(sets: dict[str, list[str]]) -> list[Case]:
    """The rows of cases.txt, in which {word} stands for each word of `set word …`."""
    found: list[Case] = []
    section = ""
    for number, line in enumerate((HERE / "cases.txt").read_text().splitlines(), 1):
        where = f"cases.txt:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[] ")
            continue
        head, mark, script = (part.strip() for part in line.partition("|"))
        if head.startswith("set "):
            word, *values = head.split()[1:]
            sets[word] = values + script.split()
            continue
        if not mark or not script:
            sys.exit(f"error: {where}: 'name | commands' was expected, or 'name CODE | commands' where they fail")
        name, *code = head.split()
        found += expanded(Case(f"{section}/{name}", script, int(code[0]) if code else 0), sets)
    return found


def expanded(case: Case, sets: dict[str, list[str]]) -> list[Case]:
    """The case with each word of each set that it names."""
    word = next((word for word in sets if f"{{{word}}}" in case.name + case.script), None)
    if word is None:
        return [case]
    if f"{{{word}}}" not in case.name:
        sys.exit(f"error: cases.txt: {case.name} has to name {{{word}}}, which its commands have")
    made = (dataclasses.replace(case, name=case.name.replace(f"{{{word}}}", of), script=case.script.replace(f"{{{word}}}", of)) for of in sets[word])
    return [row for of in made for row in expanded(of, sets)]


def pages(source: pathlib.Path) -> list[Case]:
    """The pages of a revision, each a case whose blocks run one after the other."""
    found = []
    for page in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
        blocks = BLOCK.findall(page.read_text())
        script = "".join(f"echo '== block {at}'\n(\n{block})\n" for at, block in enumerate(blocks, 1))
        if blocks:
            found.append(Case(f"docs/{page.stem}", f"cp -r data/examples .\n{script}rm -rf examples try\n"))
    return found


def run(case: Case, side: str, build: builds.Build) -> tuple[int, dict[str, bytes]]:
    """The exit code of a case with a build, and what it puts out, by name."""
    folder = WORK / side / case.name.replace("/", "+")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "data").symlink_to(WORK / "data")
    env = {
        "PATH": f"{build.command.parent}:{os.environ['PATH']}",
        "PYTHON": str(builds.PYTHON),
        "PYTHONPATH": str(build.package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANEVAL_THREADS": "1",
        "HOME": "/",
        "TMPDIR": str(WORK / "tmp"),
        "LC_ALL": "C.UTF-8",
    }
    try:
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", case.script], cwd=folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=300
        )
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(folder / "data"))
        found = {"stdout": done.stdout, "stderr": TOOK.sub(b" in some time", done.stderr)}
        found |= {str(path.relative_to(folder)): path.read_bytes() for path in files}
        return done.returncode, found
    except subprocess.TimeoutExpired:
        return -1, {"stderr": b"it ran for more than 300 seconds"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compared(case: Case, pair: tuple[builds.Build, builds.Build]) -> tuple[list[Fault], int, int]:
    """What is wrong with a case, and how many numbers and bytes were compared."""
    (code, then), (other, now) = (run(case, side, build) for side, build in zip(SIDES, pair))
    return judged(case, code, other, then, now)


def judged(case: Case, code: int, other: int, then: dict[str, bytes], now: dict[str, bytes]) -> tuple[list[Fault], int, int]:
    faults = []
    if code != other:
        said = [f"{side}: exit {of}: {last_line(puts)}" for side, of, puts in zip(SIDES, (code, other), (then, now))]
        faults.append(Fault(f"{case.name}:exit", "\n".join(said)))
    elif code != case.code:
        text = f"runs nowhere: exit {code} with both builds, where {case.code} was expected: {last_line(now)}"
        faults.append(Fault(case.name, text, is_difference=False))
    elif not any(then.values()):
        faults.append(Fault(case.name, "puts out nothing, so that there is nothing to compare", is_difference=False))
    for name in dict.fromkeys([*then, *now]):
        one, two = then.get(name), now.get(name)
        if one != two:
            faults.append(Fault(f"{case.name}:{name}", difference(one, two)))
    return faults, sum(len(NUMBER.findall(of)) for of in then.values() if is_text(of)), sum(map(len, then.values()))


def last_line(puts: dict[str, bytes]) -> str:
    lines = (puts.get("stderr") or puts.get("stdout") or puts.get("value") or b"").decode(errors="replace").strip().splitlines()
    return next((line for line in lines if line.startswith("error")), lines[-1] if lines else "it said nothing")


def is_text(content: bytes) -> bool:
    return b"\0" not in content[:4096]


def difference(one: bytes | None, two: bytes | None) -> str:
    """The first difference: the lines of text, or the offset and the bytes around it."""
    if one is None or two is None:
        return f"only {SIDES[one is None]} is there"
    at = next((at for at, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two)))
    if is_text(one) and is_text(two):
        start = one.rfind(b"\n", 0, at) + 1
        lines = [of[start:].split(b"\n", 1)[0] for of in (one, two)]
        number, column = one.count(b"\n", 0, start) + 1, at - start
        where = f"line {number}"
        if max(map(len, lines)) > 240:
            where, begin = f"{where}, byte {column + 1} (offset {at})", max(0, column - 80)
            lines = [line[begin : column + 80] for line in lines]
        shown = [line.decode(errors="replace") for line in lines]
    else:
        where = f"offset {at} of {len(one)} and {len(two)} bytes"
        shown = [of[max(0, at - 8) : at + 16].hex(" ") for of in (one, two)]
    return "\n".join([where, *(f"{side:4} {line}" for side, line in zip(SIDES, shown))])


def of_python(pair: tuple[builds.Build, builds.Build], wanted: str) -> list[tuple[Case, int, int, dict[str, bytes], dict[str, bytes]]]:
    """The cases of cases.py, which run in one process for each build, side by side."""
    processes, folders = [], []
    for side, build in zip(SIDES, pair):
        folder = WORK / side / "python"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "data").symlink_to(WORK / "data")
        env = {**os.environ, "PYTHONPATH": str(build.package), "LANEVAL_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        words = [builds.PYTHON, HERE / "cases.py", "out", wanted]
        processes.append(subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        folders.append(folder / "out")
    for process, build in zip(processes, pair):
        said = process.communicate()[0]
        if process.returncode:
            sys.exit(f"error: cases.py ended with {process.returncode} and the package of {build.name}\n{said}")
    found = []
    for name in sorted({path.name for folder in folders for path in folder.iterdir()}):
        code, other = (int((folder / name / "exit").read_text()) for folder in folders)
        then, now = ({path.name: path.read_bytes() for path in sorted((folder / name).iterdir()) if path.name != "exit"} for folder in folders)
        found.append((Case(f"python/{name}", ""), code, other, then, now))
    return found


def allowances(path: pathlib.Path | None) -> dict[str, str]:
    """The reasons of allowed differences, by glob."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines() if path else (), 1):
        glob, tab, reason = line.partition("\t")
        if line.strip() and not line.startswith("#"):
            if not tab or not reason.strip():
                sys.exit(f"error: {path}:{number}: a glob of names, a tab and the reason were expected")
            found[glob.strip()] = reason.strip()
    return found


def matches(name: str, glob: str) -> bool:
    """Whether a glob is of an output, or of its case."""
    return fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(name.partition(":")[0], glob)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", metavar="REV", help="the revision to compare the working tree with")
    parser.add_argument("--only", metavar="GLOB", default="*", help="the cases to run, such as 'compare/*' [default: all]")
    parser.add_argument("--command", action="store_true", help="compare the command only: the Python package, which takes long to build, is left out")
    parser.add_argument("--allow", metavar="FILE", type=pathlib.Path, help="lines of a glob, a tab and a reason: differences that are meant")
    parser.add_argument("--list", action="store_true", help="print the names of the cases, but of those of cases.py, and what they run")
    chosen = parser.parse_args()
    allowed = allowances(chosen.allow)
    package = not chosen.command
    pair = builds.both(chosen.revision, package=package)
    folder = data.make(pair[0])
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "tmp").mkdir(parents=True)
    (WORK / "data").symlink_to(folder)
    start = time.monotonic()
    cases = [case for case in rows(data.sets(folder)) + pages(pair[0].source.root) if fnmatch.fnmatchcase(case.name, chosen.only)]
    cases = [case for case in cases if package or not case.name.startswith("package/")]
    if chosen.list:
        for case in cases:
            print(f"{case.name}\t{case.script}")
        return
    faults, numbers, size, count = [], 0, 0, 0
    lock = threading.Lock()

    def add(found: tuple[list[Fault], int, int]) -> None:
        nonlocal numbers, size, count
        with lock:
            faults.extend(found[0])
            numbers, size, count = numbers + found[1], size + found[2], count + 1

    if package:
        for of in of_python(pair, chosen.only):
            add(judged(*of))
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for found in pool.map(lambda case: compared(case, pair), cases):
            add(found)
    if count == 0:
        sys.exit(f"error: no case is named {chosen.only}")
    sys.exit(report(pair, faults, allowed, f"{count:,} cases, {numbers:,} numbers, {size:,} bytes, {time.monotonic() - start:.0f} s"))


def report(pair: tuple[builds.Build, builds.Build], faults: list[Fault], allowed: dict[str, str], what: str) -> int:
    """Prints what is wrong, and returns the exit code."""
    reasons = {fault: next((glob for glob in allowed if fault.is_difference and matches(fault.name, glob)), None) for fault in faults}
    for fault, glob in reasons.items():
        if glob is None:
            print(f"{'DIFFERENT' if fault.is_difference else 'WRONG'}  {fault.name}\n    " + fault.text.replace("\n", "\n    "))
    for glob, reason in allowed.items():
        names = [fault.name for fault, of in reasons.items() if of == glob]
        print(
            f"allowed    {glob}: {reason}: {len(names)} outputs, {names[0]} first"
            if names
            else f"UNNEEDED   {glob}: no output differs that it allows ({reason})"
        )
    unlisted = [fault for fault, glob in reasons.items() if glob is None]
    verdict = "the same" if not faults else f"{len(faults)} differ, {len(faults) - len(unlisted)} of them as allowed"
    print(f"{pair[0].name} beside {pair[1].name}: {what}: {verdict}")
    return 1 if unlisted else 0


if __name__ == "__main__":
    main()

"""How commands are run and timed, and how what they print is read and shown."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

ROOT = pathlib.Path(__file__).parent.parent.parent
BENCHES = ROOT / "benches"


def used(command: Iterable[object]) -> tuple[float, float]:
    """Runs a command whole, and returns its CPU time and its time by the clock, in seconds."""
    words = [str(word) for word in command]
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{said.decode()}")
    return usage.ru_utime + usage.ru_stime, took


def least(commands: dict[str, list[object]], turns: int) -> dict[str, tuple[float, float]]:
    """The least CPU time and the least time by the clock of some commands, which take turns."""
    best = {name: (float("inf"), float("inf")) for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            cpu, wall = used(command)
            best[name] = (min(best[name][0], cpu), min(best[name][1], wall))
    return best


def anonymous(command: Iterable[object]) -> float:
    """The peak of a command's own memory in MiB, without the files that it maps, looked at every millisecond."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        peak = max([peak, *(int(kib) for kib in re.findall(r"RssAnon:\s+(\d+) kB", status))])
        time.sleep(0.001)
    process.wait()
    return peak / 1024


def printed(*command: object) -> str:
    """What a command prints."""
    words = [str(word) for word in command]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{found.stderr}")
    return found.stdout


def commit() -> str:
    """What is measured. This file's own tables do not count as a change."""
    changed = printed("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!benches/RESULTS.md").strip()
    return printed("git", "rev-parse", "--short", "HEAD").strip() + (" with changes" if changed else "")


def shown(command: str, output: str) -> str:
    """A command and what it printed."""
    lines = [line.rstrip() for line in output.strip().splitlines()]
    return "\n".join(["```text", f"$ {command}", *lines, "```"])


def bench(name: str) -> str:
    """What a bench prints."""
    return printed("cargo", "bench", "--quiet", "--no-default-features", "--bench", name)


def folds(command: Iterable[object], turns: int = 30) -> float:
    """The least time of "folds and formulas" of an evaluation, as `--timing` shows it, in seconds."""
    words = [*(str(word) for word in command), "--timing"]
    said = (subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr for _ in range(turns))
    return min(float(re.findall(r"folds and formulas +([\d.]+) s", steps)[0]) for steps in said)


def criterion(name: str) -> Iterator[tuple[str, str, float]]:
    """Group, case and median in seconds of a bench of criterion."""
    folder = ROOT / "target" / "criterion"
    before = time.time()
    bench(name)
    found = [path for path in sorted(folder.glob("*/*/new/estimates.json")) if path.stat().st_mtime >= before]
    if not found:
        sys.exit(f"{folder} has no estimates of {name}")
    for estimates in found:
        of = json.loads((estimates.parent / "benchmark.json").read_text())
        yield of["group_id"], of["function_id"], json.loads(estimates.read_text())["median"]["point_estimate"] * 1e-9


def peer(*words: object) -> list[tuple[str, float, float]]:
    """The phases that benches/peers.py prints: name, seconds by the clock, seconds of CPU."""
    phase = r"^(\w+) +([\d.]+) s wall +([\d.]+) s CPU"
    of = re.findall(phase, printed(sys.executable, BENCHES / "peers.py", *words), re.MULTILINE)
    if not of:
        sys.exit(f"benches/peers.py printed no phase of {words}")
    return [(name, float(wall), float(cpu)) for name, wall, cpu in of]


def rows(head: list[str], body: Iterable[Iterable[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in body)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"

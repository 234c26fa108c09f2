"""Simulates an evaluation on many machines: shards are generated, evaluated one after the other, and their summaries merged; the same rows in one
process have to give the same bytes. `python benches/shards.py LANEVAL [--shards 100] [--queries 10000] [--folder FOLDER]`

It prints bytes, CPU seconds, the largest peak of a shard's process (mapped files included), and the size of a summary.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import tempfile
import time


def measured(*command: str) -> tuple[bytes, float, float, int]:
    """What a command prints, its seconds by the clock and of CPU, and its peak in KiB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return printed, time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("laneval")
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--queries", type=int, default=10_000, help="of a shard, each with 100 results")
    parser.add_argument("--folder", type=pathlib.Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        simulate(asked.laneval, pathlib.Path(name), asked.shards, asked.queries)


def simulate(laneval: str, folder: pathlib.Path, shards: int, queries: int) -> None:
    total, peak, read, parts = 0.0, 0, 0, []
    with (folder / "all.qrels").open("wb") as all_qrels, (folder / "all.run").open("wb") as all_runs:
        for shard in range(shards):
            measured(laneval, "gen", "--query-count", str(queries), "--results", "100", "--seed", str(shard), "-o", str(folder / "made"), "--quiet")
            for made, all_rows in (("qrels.txt", all_qrels), ("run.txt", all_runs)):
                # Queries of different shards are different queries.
                before = f"s{shard:03}-".encode()
                rows = before + (folder / "made" / made).read_bytes().rstrip(b"\n").replace(b"\n", b"\n" + before) + b"\n"
                (folder / made).write_bytes(rows)
                all_rows.write(rows)
                read += len(rows)
            part = folder / f"{shard}.lms"
            of_shard = (str(folder / "qrels.txt"), f"run={folder / 'run.txt'}", "--threads", "1", "--partial", str(part), "--quiet")
            _, _, used, of_process = measured(laneval, "eval", *of_shard)
            total, peak = total + used, max(peak, of_process)
            parts.append(part)
    merged, _, merging, _ = measured(laneval, "merge", *map(str, parts), "--format", "jsonl")
    of_all = (str(folder / "all.qrels"), f"run={folder / 'all.run'}", "--threads", "1", "--format", "jsonl", "--quiet")
    whole, _, at_once, _ = measured(laneval, "eval", *of_all)
    assert merged == whole, "the merged summaries say something else than one process"
    size = sum(part.stat().st_size for part in parts) / len(parts)
    print(f"{shards} shards of {queries} queries x 100, {read / 1e9:.2f} GB of text: the same bytes as one process")
    print(f"shards {total:.2f} s of CPU, peak {peak / 1024:.0f} MiB; one process {at_once:.2f} s")
    print(f"merging {merging:.2f} s of CPU, {size / 1000:.0f} kB a summary")


if __name__ == "__main__":
    main()

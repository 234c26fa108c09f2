"""Signals, forks and threads."""

import subprocess
import sys
import textwrap

import pytest


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


MANY = """
import laneval
qrels = {f"q{i}": {f"d{j}": j % 2 for j in range(5)} for i in range(40_000)}
runs = {f"q{i}": {f"d{j}": float(j) for j in range(5)} for i in range(40_000)}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_child_works():
    script = MANY + """
import os
expected = laneval.evaluate(qrels, runs, "AP")["AP"]
child = os.fork()
if child == 0:
    os._exit(0 if laneval.evaluate(qrels, runs, "AP")["AP"] == expected else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(script) == "0"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_ends_a_call():
    script = MANY + """
import os, signal, threading, time
matrix = laneval.Matrix.build(qrels, {"run": runs})
seen = []
def look(done, total):
    seen.append((done, total))
    if 0 < done < total:
        os.kill(os.getpid(), signal.SIGINT)
try:
    while True:
        matrix.evaluate(["AP", "nDCG", "INST"], engine="reference", threads=1, progress=look)
except KeyboardInterrupt:
    done, total = seen[-1]
    print(0 < done < total)
"""
    assert run(script) == "True"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_ends_the_draws_of_a_comparison():
    script = MANY + """
import os, signal, threading
other = {query: {doc: -score for doc, score in ranking.items()} for query, ranking in runs.items()}
scores = laneval.evaluate_runs(qrels, {"a": runs, "b": other}, "AP", per_query=True)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    scores.compare(permutations=4_000_000_000)
except KeyboardInterrupt:
    print("ended")
"""
    assert run(script) == "ended"


def test_what_progress_raises_ends_a_call():
    script = MANY + """
matrix = laneval.Matrix.build(qrels, {"run": runs})
def look(done, total):
    if 0 < done < total:
        raise RuntimeError("enough")
try:
    while True:
        matrix.evaluate(["AP", "nDCG", "INST"], engine="reference", threads=1, progress=look)
except RuntimeError as error:
    print(error)
"""
    assert run(script) == "enough"


def test_threads_work_at_the_same_time():
    script = MANY + """
from concurrent.futures import ThreadPoolExecutor
matrix = laneval.Matrix.build(qrels, {"run": runs})
expected = matrix.evaluate("AP").to_dict()
with ThreadPoolExecutor(8) as pool:
    print(all(of == expected for of in pool.map(lambda _: matrix.evaluate("AP").to_dict(), range(64))))
"""
    assert run(script) == "True"


def test_nothing_else_is_imported():
    assert run("import sys, laneval; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow') if m in sys.modules])") == "[]"


def test_the_command():
    assert run("import sys; sys.argv[1:] = ['--version']; from laneval.__main__ import main; sys.exit(main())").startswith("laneval ")


def test_progress_is_told():
    script = MANY + """
seen = []
laneval.evaluate(qrels, runs, "AP", progress=lambda done, total: seen.append((done, total)), threads=1)
done, total = seen[-1]
print(done == total > 0)
"""
    assert run(script) == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names threads in files")
def test_calls_from_several_threads_do_not_wait_for_one_worker():
    """Each call has a worker of its own, though each asks for one thread."""
    script = MANY + """
import pathlib, threading, time
matrix = laneval.Matrix.build(qrels, {"run": runs})
over = threading.Event()
def call():
    while not over.is_set():
        matrix.evaluate(["AP", "nDCG"], engine="reference", threads=1)
def workers():
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:
            pass  # it has ended
    return sum(name.startswith("laneval-") for name in names)
before = workers()
callers = [threading.Thread(target=call) for _ in range(3)]
for caller in callers:
    caller.start()
end = time.monotonic() + 60
while workers() < before + 3 and time.monotonic() < end:
    time.sleep(0.01)
found = workers()
over.set()
for caller in callers:
    caller.join()
print(found - before)
"""
    assert run(script) == "3"

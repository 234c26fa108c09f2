"""Labels that stay on a GPU."""

import os
import subprocess
import sys

import pytest

import laneval

from .conftest import made

ADAPTER = os.environ.get("LANEVAL_ADAPTER")


def is_chosen(gpu) -> bool:
    """Whether a GPU is one that is taken without being named."""
    return gpu["unusable"] is None and gpu["kind"] != "software"


pytestmark = [
    pytest.mark.skipif(
        ADAPTER is None and not any(map(is_chosen, laneval.devices())),
        reason="there is no GPU, or only a software adapter, which LANEVAL_ADAPTER names",
    ),
    pytest.mark.filterwarnings("ignore::laneval.LanevalWarning"),
]


@pytest.fixture
def matrix():
    qrels, run = made(11)
    return laneval.Matrix.build(qrels, {"a": run, "b": made(12)[1]})


def test_they_give_what_a_gpu_gives_each_time(matrix):
    measures = ["AP", "nDCG@10", "RR", "bpref"]
    expected = matrix.evaluate(measures, engine="gpu", adapter=ADAPTER, per_query=True)
    with matrix.load(ADAPTER) as resident:
        for _ in range(2):
            scores = resident.evaluate(measures, per_query=True)
            assert scores.to_dict() == expected.to_dict()
            assert scores["a"].per_query().to_dict() == expected["a"].per_query().to_dict()
        assert resident.evaluate("P@5", depth=3).to_dict() == matrix.evaluate("P@5", depth=3).to_dict()
        assert repr(resident) == "<a, b: on a GPU>"


def test_what_is_wrong(matrix):
    with pytest.raises(laneval.DeviceError, match="no such GPU here"):
        matrix.load("no such GPU here")
    with matrix.load(ADAPTER) as resident:
        with pytest.raises(TypeError, match="engine is chosen already"):
            resident.evaluate("AP", engine="cpu")
        top = laneval.measure(name="Top")(lambda labels, *_: [0.0] * len(labels))
        with pytest.raises(laneval.UnanswerableError, match="Top is a function of Python"):
            resident.evaluate(["AP", top])
    with pytest.raises(laneval.UnanswerableError, match="no longer on the GPU"):
        resident.evaluate("AP")
    resident.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_child_is_told_that_the_gpu_is_its_parents():
    script = """
import os, laneval
resident = laneval.Matrix.build({"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}}).load(os.environ.get("LANEVAL_ADAPTER"))
child = os.fork()
if child == 0:
    try:
        resident.evaluate("AP")
    except laneval.DeviceError as error:
        resident.close()
        del resident
        os._exit(0 if "opened by the parent process" in str(error) else 1)
    os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), resident.evaluate("AP")["a"]["AP"])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "0 1.0", done.stderr

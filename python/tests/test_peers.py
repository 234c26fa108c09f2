"""ir_measures' own tests, from its source distribution and as they are, with laneval in the place of pytrec_eval."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import ir_measures
import pytest

PEERS = Path(__file__).parent / "peers"
SUITES = ["test_pytrec_eval", "test_aggregate", "test_util", "test_runtime"]

@pytest.fixture(scope="session")
def suites(tmp_path_factory):
    """A folder with the tests of ir_measures, and what they lack."""
    folder = tmp_path_factory.mktemp("ir_measures")
    version = ir_measures.__version__
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    source = ["--no-binary", "ir_measures", f"ir_measures=={version}", "--dest", str(folder)]
    subprocess.run([*command, *source], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    tests = folder / f"ir_measures-{version}" / "tests"
    (tests / "__init__.py").touch()
    shutil.copy(PEERS / "base.py", tests)
    return tests


def outcomes(tests: Path, suites: list[str], swap: str) -> dict[str, str]:
    """The outcome of each test, with laneval in the place of a tool."""
    files = [str(tests / f"{suite}.py") for suite in suites]
    command = [sys.executable, "-m", "pytest", "-p", "swap", "-p", "no:cacheprovider", "-q", "-rA", "--tb=line", *files]
    paths = [str(PEERS), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    path = os.pathsep.join(os.path.abspath(folder) for folder in paths if folder)
    environment = {**os.environ, "PYTHONPATH": path, "LANEVAL_SWAP": swap}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tests.parent)
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S*?(test_\w+\.py::\S+)", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {test: outcome for outcome, test in found}


def test_ir_measures_tests_pass_in_the_place_of_pytrec_eval(suites):
    ours = outcomes(suites, SUITES, "pytrec_eval")
    assert set(ours.values()) == {"PASSED"}, ours
    assert ours == outcomes(suites, SUITES, "")
    assert sum("test_pytrec_eval" in test for test in ours) > 10


def test_ir_measures_tests_pass_with_the_provider(suites):
    ours = outcomes(suites, ["test_aggregate", "test_util", "test_runtime"], "provider")
    assert set(ours.values()) == {"PASSED"}, ours

"""Data that several tests use."""

import os
import random

import pytest

Judgments = dict[str, dict[str, int]]
Results = dict[str, dict[str, float]]


def made(seed: int, queries: int = 30, results: int = 40, ties: bool = True) -> tuple[Judgments, Results]:
    """Judgments and a run that overlap in part, in no particular order."""
    draw = random.Random(seed)
    docs = [f"doc{at}" for at in range(200)]
    qrels = {
        f"q{at}": {doc: draw.choice([0, 0, 1, 2]) for doc in draw.sample(docs, 30)} for at in range(queries)
    }
    score = (lambda: draw.randint(0, 15) / 4) if ties else draw.random
    run = {f"q{at}": {doc: float(score()) for doc in draw.sample(docs, results)} for at in range(2, queries + 3)}
    return qrels, run


@pytest.fixture
def data() -> tuple[Judgments, Results]:
    return made(7)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where `LANEVAL_REQUIRE_ALL` is set, a test that was skipped is a failure: something that it needs is not there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("LANEVAL_REQUIRE_ALL") and (reporter is None or reporter.stats.get("skipped")):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

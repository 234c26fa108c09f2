"""Gates in tests: `laneval.testing`, by itself and as a plugin of pytest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import laneval
from laneval.testing import assert_gates

pytest_plugins = ["pytester"]

DATA = Path(__file__).parents[2] / "examples/data"
QRELS, OLD, NEW = (str(DATA / name) for name in ("demo.qrels", "demo-bm25.run", "demo-hybrid.run"))
MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def main_json(tmp_path_factory):
    """What the command keeps of the better run."""
    path = tmp_path_factory.mktemp("kept") / "main.json"
    command = [sys.executable, "-m", "laneval", "eval", QRELS, f"main={NEW}", "-m", ",".join(MEASURES), "--per-query", "-o", str(path)]
    subprocess.run(command, check=True)
    return path


def read(path):
    """A run or judgments as a dict."""
    made = {}
    for line in Path(path).read_text().splitlines():
        query, _, document, *rest = line.split()
        made.setdefault(query, {})[document] = int(rest[0]) if path == QRELS else float(rest[1])
    return made


def same(one, other):
    """Whether two comparisons have the same numbers."""
    return [pair[2:-2] for pair in one] == [pair[2:-2] for pair in other]


def test_a_run_that_is_better_passes():
    comparison = assert_gates(QRELS, NEW, baseline=OLD, fail_if=["nDCG@10 drops > 0.5%", "AP < 0.3"])
    assert comparison.measures == MEASURES
    scores = laneval.evaluate_runs(QRELS, {"old": OLD, "new": NEW}, MEASURES, per_query=True)
    assert same(comparison, scores.compare(baseline="old"))
    assert same(comparison, assert_gates(QRELS, scores["new"], baseline=scores["old"], fail_if="AP < 0.3", measures=MEASURES))
    assert same(comparison, assert_gates(QRELS, scores["new"], baseline=OLD, fail_if="AP < 0.3", measures="nDCG@10,AP"))
    assert same(comparison, assert_gates(read(QRELS), read(NEW), baseline=scores["old"], fail_if="AP < 0.3", measures=MEASURES))


def test_a_run_that_is_worse_fails_with_the_verdict_and_the_gates(tmp_path):
    gates = ["nDCG@10 drops > 0.5%", "AP < 0.3", "P@5 drops > 0.01 p<0.05"]
    with pytest.raises(AssertionError) as failed:
        assert_gates(QRELS, OLD, baseline=NEW, fail_if=gates, page=tmp_path / "page.html")
    verdict, *lines = str(failed.value).splitlines()
    assert verdict.startswith("run is worse than baseline: nDCG@10 -0.165 (-22.4 %, ")
    assert [line.split("  (")[0] for line in lines] == [
        "FAILED  run: nDCG@10 drops > 0.5%",
        "PASSED  run: AP < 0.3",
        "FAILED  run: P@5 drops > 0.01 p<0.05",
    ]
    assert "; allowed: a drop of 0.0037 (0.5 %))" in lines[0]
    assert type(failed.value) is AssertionError
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "P@5 drops" in page


def test_options_reach_the_runs_and_the_comparison():
    options = {"depth": 5, "queries": "common"}
    comparison = assert_gates(QRELS, NEW, baseline=OLD, fail_if="AP < 0.1", comparison={"test": "sign"}, **options)
    scores = laneval.evaluate_runs(QRELS, {"old": OLD, "new": NEW}, "AP", per_query=True, **options)
    assert same(comparison, scores.compare(baseline="old", test="sign"))


def test_a_gate_that_cannot_be_computed_is_no_pass():
    def gate(fail_if, **options):
        return assert_gates(QRELS, NEW, **{"baseline": OLD, "fail_if": fail_if, **options})

    for gates in [[], ()]:
        with pytest.raises(laneval.UnanswerableError, match="fail_if has no gate"):
            gate(gates)
    with pytest.raises(laneval.MeasureError, match="nDGC"):
        gate(["AP < 0.9", "nDGC@10 drops > 1%"])
    with pytest.raises(ValueError, match="falls"):
        gate(["AP < 0.9", "AP falls"])
    with pytest.raises(FileNotFoundError):
        gate("AP drops > 1%", baseline="gone.json")
    one = {"q": {"d": 1}}
    with pytest.raises(ValueError):  # one query has no p
        assert_gates(one, {"q": {"d": 1.0}}, baseline={"q": {"e": 1.0}}, fail_if="AP worse p<0.05")
    scores = laneval.evaluate(QRELS, NEW, "AP")
    with pytest.raises(laneval.UnanswerableError, match="per_query=True"):
        assert_gates(QRELS, scores, baseline=scores, fail_if="AP drops > 1%")
    scores = laneval.evaluate(QRELS, NEW, "AP", per_query=True)
    with pytest.raises(laneval.UnanswerableError, match=r"P@5"):
        assert_gates(QRELS, scores, baseline=scores, fail_if="P@5 drops > 1%")
    with pytest.raises(laneval.UnanswerableError, match="depth: both runs were evaluated already"):
        assert_gates(QRELS, scores, baseline=scores, fail_if="AP drops > 1%", depth=5)


def test_scores_that_the_command_kept_are_a_baseline(main_json):
    with pytest.raises(AssertionError, match=r"run is worse than main: nDCG@10 -0\.165") as failed:
        assert_gates(QRELS, OLD, baseline=main_json, fail_if="nDCG@10 drops > 0.5%")
    assert "FAILED  run: nDCG@10 drops > 0.5%  (nDCG@10 of run fell by 0.1648 (-22.4 %, " in str(failed.value)
    scores = laneval.evaluate_runs(QRELS, {"main": NEW, "run": OLD}, MEASURES, per_query=True)
    of_file = assert_gates(read(QRELS), read(OLD), baseline=str(main_json), fail_if="AP < 0.1", measures=MEASURES)
    assert same(of_file, scores.compare(baseline="main"))
    assert same(of_file, assert_gates(QRELS, scores["run"], baseline=main_json, fail_if="AP < 0.1", measures=MEASURES))


@pytest.mark.filterwarnings("ignore::laneval.IgnoredQueriesWarning")
def test_scores_that_were_saved_are_what_the_command_keeps(main_json, tmp_path):
    mine = tmp_path / "mine.json"
    scores = laneval.evaluate_runs(QRELS, {"main": NEW}, MEASURES, per_query=True)["main"]
    scores.save(mine)
    assert json.loads(mine.read_text()) == json.loads(main_json.read_text())
    for options in ({"depth": 7, "judged_only": True}, {"ties": "average"}, {"relevant_from": "retrieved", "drop_identical_ids": True}):
        of_options = laneval.evaluate_runs(QRELS, {"main": NEW}, MEASURES, per_query=True, **options)["main"]
        of_options.save(mine)
        assert_gates(QRELS, NEW, baseline=mine, fail_if="AP drops > 0.1", **options)
        with pytest.raises(laneval.UnanswerableError, match="they were evaluated with"):
            assert_gates(QRELS, NEW, baseline=mine, fail_if="AP drops > 0.1")
    with pytest.raises(laneval.UnanswerableError, match="the values of queries were not kept"):
        laneval.evaluate(QRELS, NEW, "AP").save(mine)
    of_python = laneval.measure(name="mine")(lambda labels, *_: [0.0] * len(labels))
    with pytest.raises(laneval.UnanswerableError, match="mine is a function of Python, which a file cannot name"):
        laneval.evaluate(QRELS, NEW, of_python, per_query=True).save(mine)


def test_values_of_queries_are_no_run(tmp_path):
    kept = tmp_path / "values.json"
    kept.write_text(json.dumps(laneval.evaluate(QRELS, NEW, ["RR", "AP"], per_query=True).per_query().to_dict()))
    with pytest.raises(laneval.UnanswerableError, match="it has values of RR, AP for each query, where a run has documents"):
        assert_gates(QRELS, OLD, baseline=kept, fail_if="RR drops > 0.1")


def test_a_baseline_brings_its_measures(main_json):
    assert assert_gates(QRELS, NEW, baseline=main_json, fail_if="AP < 0.1").measures == MEASURES
    old = laneval.evaluate(QRELS, OLD, ["RR", "Judged@5", "P@5"], per_query=True)
    assert assert_gates(QRELS, NEW, baseline=old, fail_if="P@5 < 0.1").measures == ["RR", "P@5"]


@pytest.mark.filterwarnings("ignore:.*no retrieved document is judged:laneval.LanevalWarning")
def test_floors_need_no_baseline():
    scores = assert_gates(QRELS, NEW, fail_if=["AP < 0.3", "nDCG@10 < 0.5"], measures="P@5")
    assert list(scores) == ["P@5", "AP", "nDCG@10"]
    assert assert_gates(QRELS, scores, fail_if="P@5 < 0.1") is scores
    with pytest.raises(AssertionError) as failed:
        assert_gates(QRELS, OLD, fail_if=["AP < 0.9", "nDCG@10 < 0.1"])
    lines = [line.split("  (")[0] for line in str(failed.value).splitlines()]
    assert lines == ["FAILED  run: AP < 0.9", "PASSED  run: nDCG@10 < 0.1"]
    for run, gate, options, says in [
        (NEW, "AP drops > 0.1", {}, "it takes a baseline, and there is none"),
        (NEW, "AP < 0.1", {"page": "page.html"}, "page and comparison are of a comparison"),
        (NEW, "hard: AP < 0.1", {}, "about the group hard, and all queries are evaluated"),
        (scores, "RR < 0.1", {}, "was not evaluated with RR"),
        (scores, "AP < 0.1", {"depth": 5}, "depth: the run was evaluated already"),
        ({query: {"no such document": 1.0} for query in read(QRELS)}, "AP > 0.1", {}, "no result of run is judged"),
    ]:
        with pytest.raises(laneval.UnanswerableError, match=says):
            assert_gates(QRELS, run, fail_if=gate, **options)


@pytest.mark.filterwarnings("ignore::laneval.IgnoredQueriesWarning")
def test_scores_that_do_not_belong_to_the_run_are_refused(main_json, tmp_path):
    def refused(match, change=None, **options):
        document = json.loads(main_json.read_text())
        if change is not None:
            change(document)
        path = tmp_path / "other.json"
        path.write_text(json.dumps(document))
        with pytest.raises(laneval.UnanswerableError, match=match):
            assert_gates(options.pop("qrels", QRELS), OLD, baseline=path, **{"fail_if": "AP drops > 1%", **options})

    def first(document):
        return document["runs"][0]

    fewer = {query: grades for query, grades in read(QRELS).items() if query != "07"}
    refused("queries|judgments", qrels=fewer)
    other = read(QRELS)
    other["07"] = {document: 1 - min(grade, 1) for document, grade in other["07"].items()}
    refused("different judgments", qrels=other)
    refused("P@5", fail_if="P@5 drops > 1%")
    refused("depth", depth=10)
    refused("judged_only", judged_only=True)
    refused("score_type", score_type="f32")
    refused("ties", ties="average")
    refused("queries", queries="common")
    refused("no values of queries", lambda of: first(of).pop("per_query"))
    refused("several runs", lambda of: of["runs"].append({**first(of), "run": "second"}))
    refused("not a finite number", lambda of: first(of)["per_query"]["07"].update(AP=float("nan")))
    refused("not a finite number", lambda of: first(of)["per_query"]["07"].update(AP=None))
    refused("not a file of scores", lambda of: first(of)["per_query"]["07"].pop("AP"))
    refused("not a file of scores", lambda of: first(of).update(rule=3))
    refused("07|queries", lambda of: first(of)["per_query"].pop("07"))
    path = tmp_path / "other.json"
    text = main_json.read_text()
    for broken, match in [(text[:-9], "not a file of scores"), (text.replace('"08": {', '"07": {'), "'07' is there twice")]:
        path.write_text(broken)
        with pytest.raises(laneval.UnanswerableError, match=match):
            assert_gates(QRELS, OLD, baseline=path, fail_if="AP drops > 1%")


def test_ids_that_are_not_text_find_their_values(tmp_path):
    qrels, old, new = (tmp_path / name for name in ("qrels", "old.run", "new.run"))
    ids = [b"q\xff", "q\N{REPLACEMENT CHARACTER}".encode(), b"q"]
    qrels.write_bytes(b"".join(b"%s 0 d 1\n" % query for query in ids))
    old.write_bytes(b"".join(b"%s Q0 %s 1 2 t\n%s Q0 d 2 1 t\n" % (query, b"e" * at or b"d2", query) for at, query in enumerate(ids)))
    new.write_bytes(b"".join(b"%s Q0 d 1 2 t\n" % query for query in ids))
    kept = tmp_path / "old.json"
    subprocess.run([sys.executable, "-m", "laneval", "eval", qrels, old, "-m", "RR", "--per-query", "-o", kept], check=True)
    of_file = assert_gates(str(qrels), str(new), baseline=str(kept), fail_if="RR drops > 0.1")
    assert same(of_file, assert_gates(str(qrels), str(new), baseline=str(old), fail_if="RR drops > 0.1"))


def test_a_run_whose_first_query_is_called_schema_is_a_run(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"schema": {"d": 1.0}, "laneval": {"d": 1.0}}')
    qrels = {"schema": {"d": 1}, "laneval": {"d": 1}}
    new = {"schema": {"d": 1.0}, "laneval": {"e": 2.0, "d": 1.0}}
    assert assert_gates(qrels, new, baseline=path, fail_if="RR < 0.4").pairs[0].delta == -0.25


CONFTEST = 'import laneval.testing\npytest_plugins = ["laneval.testing"]\n'


def test_the_plugin_gives_tests_a_fixture(pytester, main_json):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        f"""
        def test_better(laneval_gate):
            assert laneval_gate({QRELS!r}, {NEW!r}, baseline={OLD!r}, fail_if="nDCG@10 drops > 1%").runs == ["baseline", "run"]

        def test_worse(laneval_gate):
            laneval_gate({QRELS!r}, {OLD!r}, baseline={str(main_json)!r}, fail_if="nDCG@10 drops > 1%")

        def test_unknown(laneval_gate):
            laneval_gate({QRELS!r}, {NEW!r}, baseline={OLD!r}, fail_if="P@five drops > 1%")
        """
    )
    result = pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E * AssertionError: run is worse than main: nDCG@10 -0.165 *",
            "E * FAILED  run: nDCG@10 drops > 1%  (nDCG@10 of run fell by *; allowed: a drop of *",
            "E * laneval.*MeasureError: *",
        ]
    )
    assert "raise AssertionError" not in result.stdout.str(), "the traceback ends in the test"


def test_other_runs_of_pytest_do_not_load_it(pytester):
    pytester.makepyfile("import sys\n\ndef test_nothing():\n    assert not [name for name in sys.modules if name.startswith('laneval')]\n")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_pytest_is_not_loaded_elsewhere():
    subprocess.run([sys.executable, "-c", "import sys, laneval.testing; assert 'pytest' not in sys.modules"], check=True)

"""Comparisons: the command's numbers, scipy's, and what they are as Python objects."""

import csv
import json
import math
import pathlib
import pickle
import random
import subprocess
import sys
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

import pytest

import laneval

from .conftest import made

DEMO = pathlib.Path(__file__).parents[2] / "examples/data"
NAMES = ["bm25", "dense", "hybrid"]
pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")


def demo(measures, **options) -> laneval.Scores:
    runs = {name: str(DEMO / f"demo-{name}.run") for name in NAMES}
    return laneval.evaluate_runs(str(DEMO / "demo.qrels"), runs, measures, per_query=True, **options)


def command(*options: str) -> str:
    runs = [f"{name}={DEMO / f'demo-{name}.run'}" for name in NAMES]
    words = [sys.executable, "-m", "laneval", "compare", str(DEMO / "demo.qrels"), *runs, "--quiet", *options]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def drawn(seed: int, runs: int = 3, queries: int = 30, measures=("nDCG@10", "AP")) -> laneval.Scores:
    """Scores of runs on data of their own, the later ones better."""
    draw = random.Random(seed)
    qrels = {f"q{at}": {f"d{doc}": draw.choice([0, 0, 1, 2]) for doc in range(30)} for at in range(queries)}
    found = {
        f"r{run}": {query: {doc: draw.random() + 0.1 * run * grade for doc, grade in docs.items()} for query, docs in qrels.items()}
        for run in range(runs)
    }
    return laneval.evaluate_runs(qrels, found, list(measures), per_query=True)


@pytest.fixture(scope="module")
def scores() -> laneval.Scores:
    return demo(["nDCG@10", "P@10", "Judged@10"])


@pytest.fixture(scope="module")
def comparison(scores) -> laneval.Comparison:
    return scores.compare()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ""),
        ({"baseline": "bm25", "margin": 0.2, "power": 0.05, "tie_epsilon": 0.01}, "--baseline bm25 --margin 0.2 --power 0.05 --tie-epsilon 0.01"),
        (
            {"test": "randomisation", "permutations": 999, "seed": 7, "correction": "none"},
            "--test randomisation --permutations 999 --seed 7 --correction none",
        ),
        ({"test": "wilcoxon", "wilcoxon_zeros": "pratt", "alternative": "better"}, "--test wilcoxon --wilcoxon-zeros pratt --alternative better"),
        ({"test": "wilcoxon", "wilcoxon_method": "normal", "correction": "bh"}, "--test wilcoxon --wilcoxon-method normal --correction bh"),
        ({"test": "sign", "alternative": "worse", "correction": "by"}, "--test sign --alternative worse --correction by"),
        ({"correction": "maxt", "family": "all", "ci": "bca"}, "--correction maxt --family all --ci bca"),
        ({"correction": "hsd", "ci": "bootstrap", "alpha": 0.1}, "--correction hsd --ci bootstrap --alpha 0.1"),
        ({"correction": "rhsd", "permutations": "auto", "anova": True}, "--correction rhsd --permutations auto --anova"),
        ({"correction": "bonferroni", "threads": 1}, "--correction bonferroni"),
    ],
)
def test_the_numbers_are_those_of_the_command(scores, options, words):
    comparison = scores.compare(**options)
    out = command("-m", "nDCG@10,P@10", "--per-query", "--format", "json", *words.split())
    theirs, ours = json.loads(out), comparison.to_dict(per_query=True)
    for data in (theirs, ours):  # notes name options there, keywords here
        data["notes"] = len(data["notes"])
    assert ours == theirs
    assert len(comparison) == len(theirs["pairs"]) > 0
    for pair, of in zip(comparison, theirs["pairs"], strict=True):
        assert pair._asdict() == of
        assert comparison[pair.run, pair.baseline, pair.measure] is pair


def test_the_reports_are_those_of_the_command(scores, comparison, tmp_path):
    for ending, format in [("csv", "csv"), ("tsv", "tsv"), ("jsonl", "jsonl"), ("md", "markdown"), ("tex", "latex"), ("txt", "table")]:
        path = tmp_path / f"comparison.{ending}"
        comparison.save(path)
        expected = command("-m", "nDCG@10,P@10", "--format", format)
        assert path.read_bytes().decode() == expected
        if ending == "csv":
            rows = list(csv.DictReader(expected.splitlines()))
            for pair in comparison:
                of = {row["stat"]: row["value"] for row in rows if (row["run"], row["baseline"], row["measure"]) == pair[:3]}
                assert {name: float(value) for name, value in of.items()} == {
                    name: value for name, value in pair._asdict().items() if type(value) in (int, float)
                }
    assert comparison.to_markdown() == (tmp_path / "comparison.md").read_text()
    assert comparison.to_latex() == (tmp_path / "comparison.tex").read_text()
    assert str(comparison).startswith((tmp_path / "comparison.txt").read_text().rstrip())
    assert all(note in str(comparison) for note in comparison.notes)
    with pytest.raises(ValueError, match=r"comparison.xls: the extension says how it is written: .csv, .* were expected"):
        comparison.save(tmp_path / "comparison.xls")


def test_known_numbers(comparison):
    pair = comparison["hybrid", "bm25"]
    assert pair is comparison["hybrid", "bm25", "ndcg_cut_10"]
    assert pair.delta == pytest.approx(0.164751672913, abs=5e-13)
    assert pair.t == pytest.approx(4.14895917013, abs=5e-12)
    assert pair.p == pytest.approx(0.000174972283748, abs=5e-16)
    assert pair.p_exact is None  # t decides
    assert pair.p_perm == 21 / 100_000
    assert (pair.wins, pair.ties, pair.losses, pair.better) == (26, 2, 12, "hybrid")
    assert pair.interval == (pair.ci_low, pair.ci_high)
    for missing in [("bm25", "hybrid"), ("hybrid", "bm25", "AP"), "hybrid"]:
        with pytest.raises(KeyError):
            comparison[missing]


@pytest.mark.parametrize("seed", range(3))
def test_scipy_agrees(seed):
    stats = pytest.importorskip("scipy.stats")
    np = pytest.importorskip("numpy")
    scores = drawn(seed)
    comparison = scores.compare(test="wilcoxon", wilcoxon_method="normal")
    for pair in comparison:
        one, other = (np.array(scores[name].per_query()[pair.measure]) for name in (pair.run, pair.baseline))
        t = stats.ttest_rel(one, other)
        assert pair.t == pytest.approx(t.statistic, rel=1e-10)
        assert pair.p_t == pytest.approx(t.pvalue, rel=1e-10)
        assert pair.interval == pytest.approx(t.confidence_interval(0.95), rel=1e-10)
        delta = np.round(one - other, 10)
        assert pair.p_wilcoxon == pytest.approx(stats.wilcoxon(delta, method="asymptotic", correction=False).pvalue, rel=1e-10)
        assert (pair.wins, pair.losses) == ((delta > 0).sum(), (delta < 0).sum())
        assert pair.d_z == pytest.approx((one - other).mean() / (one - other).std(ddof=1), rel=1e-10)
    by_measure = [[pair.p for pair in comparison if pair.measure == measure] for measure in comparison.measures]
    adjusted = [pair.p_adj for pair in scores.compare(test="wilcoxon", wilcoxon_method="normal", correction="bh")]
    expected = np.concatenate([stats.false_discovery_control(p) for p in by_measure])
    assert adjusted == pytest.approx(expected, rel=1e-12)


def test_one_run_with_another():
    qrels, first = made(3, ties=False)
    second = made(4, ties=False)[1]
    old, new = (laneval.evaluate(qrels, run, ["AP", "RR"], per_query=True) for run in (first, second))
    comparison = new.compare(old)
    assert comparison.runs == ["baseline", "run"] and comparison.baseline == "baseline"
    pair = comparison["run", "baseline", "AP"]
    assert pair.delta == pytest.approx(new["AP"] - old["AP"], abs=1e-15)
    assert old.compare(new)["run", "baseline", "AP"].delta == -pair.delta
    named = laneval.evaluate_runs(qrels, {"baseline": first}, ["AP", "RR"], per_query=True)["baseline"]
    assert named.compare(named).runs == ["other", "baseline"]
    same = named.compare(named).pairs[0]
    assert (same.p, same.p_adj, same.interval, same.t, same.better) == (1.0, 1.0, (0.0, 0.0), None, None)


def test_a_baseline_from_elsewhere(scores):
    before = pickle.loads(pickle.dumps(scores["bm25"]))
    rest = laneval.Scores([scores["dense"], scores["hybrid"]])
    assert rest.compare(baseline=before) == scores.compare(baseline="bm25")
    assert scores.compare(baseline=before).runs[0] == "baseline"


def test_measures_are_chosen_and_found_by_any_name(scores):
    assert scores.compare().measures == ["nDCG@10", "P@10"], "Judged@10 is a share"
    assert scores.compare(measures="P_10").measures == ["P@10"]
    assert scores.compare(measures=["P@10", "ndcg@10", "P_10"]).measures == ["P@10", "nDCG@10"]
    judged = [run["judged"] for run in scores.compare(measures="P@10").to_dict()["runs"]]
    assert judged == [[scores[name]["Judged@10"]] for name in NAMES]
    assert demo(["P@10"]).compare().to_dict()["runs"][0]["judged"] == []
    assert not any(demo(["P@10", "Judged@10"], judged_only=True).compare().to_dict()["runs"][0]["judged"])


def test_text(comparison):
    assert comparison.sentences == json.loads(comparison.to_json())["sentences"]
    assert comparison.sentences[0].startswith("hybrid is better than bm25 on nDCG@10: 0.7351 against 0.5703")
    assert any('family="all"' in note for note in comparison.notes) and not any("--" in note for note in comparison.notes)
    settings = comparison.settings
    assert (settings["test"], settings["correction"], settings["permutations"]) == ("t", "holm", 99_999)
    assert "hybrid against bm25, nDCG@10: 0.1648 (0.0844 … 0.2451), p 0.0002" in repr(comparison["hybrid", "bm25"])


def words(html: str) -> str:
    return " ".join("".join(ET.fromstring(f"<body>{html}</body>").itertext()).split())


@pytest.mark.parametrize("runs", [2, 3, 27])
def test_names_are_escaped_in_notebooks(runs):
    names = [f"<i>{at}</i>&\"'" for at in range(runs)]
    qrels, _ = made(3)
    found = {name: made(10 + at, ties=False)[1] for at, name in enumerate(names)}
    comparison = laneval.evaluate_runs(qrels, found, ["nDCG@10", "RR"], per_query=True).compare(permutations=99)
    html = comparison._repr_html_()
    assert "<i>" not in html and "&lt;i&gt;0&lt;/i&gt;&amp;" in html
    table = ET.fromstring(f"<body>{html}</body>").find("table")
    heads = ["".join(cell.itertext()) for cell in table.findall("tbody/tr/th")]
    assert heads == (["nDCG@10", "RR"] if runs == 2 else names)
    for name in names[:2]:
        assert name in words(html)
    page = comparison.to_html(title="<b>runs</b>")
    assert "<i>" not in page and "<b>" not in page and "&lt;b&gt;runs" in page
    ET.fromstring(page.removeprefix("<!DOCTYPE html>"))


def test_tables_in_notebooks_say_what_the_command_says(comparison, scores):
    html = comparison._repr_html_()
    rows = ET.fromstring(f"<body>{html}</body>").findall("table/tbody/tr")
    cells = [["".join(cell.itertext()) for cell in row] for row in rows]
    assert cells == [
        ["bm25", "a", "0.5703", "0.2775"],
        ["dense", "b", "0.6399=", "0.3275="],
        ["hybrid", "c", "0.7351a", "0.3600a"],
    ]
    assert html.count("<b>") == 2 and all(sentence in words(html) for sentence in comparison.sentences)
    assert "<sup>=</sup>" not in scores.compare(baseline="bm25")._repr_html_()
    two = scores["hybrid"].compare(scores["bm25"])._repr_html_()
    assert "<td>+0.1648</td><td>+0.0844 … +0.2451</td><td>0.0002</td>" in two and "<td><b>0.7351</b></td>" in two
    assert all(sentence.replace("&", "&amp;") in two for sentence in scores["hybrid"].compare(scores["bm25"]).sentences)


def test_lower_is_better_and_ratios_in_notebooks():
    scores = drawn(5, measures=("FallOut@10", "GMAP"))
    lowest = min(scores, key=lambda name: scores[name]["FallOut@10"])
    row = next(row for row in scores.compare()._repr_html_().split("<tr>") if row.startswith(f"<th>{lowest}<"))
    assert f"<b>{scores[lowest]['FallOut@10']:.4f}</b>" in row
    two = scores["r2"].compare(scores["r0"])
    assert f"<td>×{two['r2', 'r0', 'GMAP'].delta:.4f}</td><td>×" in two._repr_html_()


def test_pages(comparison, tmp_path):
    page = comparison.to_html(gates=["nDCG@10 drops > 0.005 p<0.05", "P@10 < 0.9"])
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>"))
    text = " ".join("".join(root.itertext()).split())
    assert "bm25, dense and hybrid compared" in text and "P@10 < 0.9" in text and "fingerprint of the judgments" in text
    assert "src=" not in page and "<script" not in page
    comparison.save(tmp_path / "report.html", gates=["P@10 < 0.9"])
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
    few = demo("P@10", depth=5, judged_only=True, ties="average").compare(permutations=9).to_html()
    assert "scores compared as f64, equal ones average, the first 5 ranks" in few and "only those with a judgment" in few
    comparison.save(tmp_path / "differences.svg")
    assert ET.parse(tmp_path / "differences.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    with pytest.raises(TypeError, match="gates is one str: a list of gates was expected"):
        comparison.to_html(gates="P@10 < 0.9")
    gates = comparison.to_dict(gates=["P@10 < 0.9"])["gates"]
    assert [(of["run"], of["verdict"]) for of in gates] == [("dense", "failed"), ("hybrid", "failed")]


def test_gates(scores):
    comparison = scores.compare(baseline="hybrid")
    gate = "nDCG@10 drops > 0.1 p<0.05"
    bm25, dense = comparison.gate(gate)
    assert (bm25.gate, bm25.run, bm25.passed, bm25.threshold) == (gate, "bm25", False, 0.1)
    assert bm25.value == pytest.approx(0.164751672913) and bm25.p == pytest.approx(0.000174972283748 / 2)
    assert (dense.run, dense.passed) == ("dense", True), "a drop of 0.095"
    fell = "nDCG@10 of bm25 fell by 0.1648 (-22.4 %, 95 % interval -0.2451 to -0.0844), p < 0.0001"
    assert str(bm25) == f"FAILED  bm25: {gate}  ({fell}; allowed: a drop of 0.1, or one that chance explains (p ≥ 0.05))"
    value = f"nDCG@10 of bm25 is {scores['bm25']['nDCG@10']:.4f}"
    assert str(comparison.gate("nDCG@10 < 0.1")[0]) == f"PASSED  bm25: nDCG@10 < 0.1  ({value}; allowed: 0.1 or more)"
    assert [verdict.run for verdict in scores.compare().gate("P@10 < 0.1")] == ["dense", "hybrid"], "the first run is the baseline"
    for wrong, message in [
        ("nDCG@10 falls > 0.1", "did you mean .*drops"),
        ("nDCG@10 rises > 0.1", "higher is better of nDCG@10, so `drops` was expected"),
        ("nDGC@10 < 0.1", "there is no measure `nDGC`"),
        ("AP < 0.1", "is on AP, which is not compared"),
        ("", "a measure"),
    ]:
        with pytest.raises(ValueError, match=message):
            comparison.gate(wrong)
        with pytest.raises(ValueError, match=message):
            comparison.to_json(gates=[wrong])


def test_a_gate_that_cannot_be_computed():
    labels = [[1, 0], [0, 1]]
    one, other = (laneval.evaluate_labels(of, "P@1", per_query=True) for of in (labels, [[0, 0], [0, 0]]))
    same = laneval.evaluate_labels([[1, 0], [1, 0]], "P@1", per_query=True)
    with pytest.raises(ValueError, match=r'every query changes by the same amount: take `test="randomisation"`'):
        other.compare(same).gate("P@1 drops > 0.5 p<0.05")
    assert other.compare(same, test="randomisation").gate("P@1 drops > 0.5 p<0.05")[0].p == 0.25
    single = laneval.evaluate_labels([[1, 0]], "P@1", per_query=True)
    assert single.compare(single).gate("P@1 drops > 0.5")[0].passed
    with pytest.raises(ValueError, match="two queries or more"):
        single.compare(single).gate("P@1 drops > 0.5 p<0.05")
    with pytest.raises(ValueError, match="the baseline's mean is 0, the worst there is, so no run can be worse"):
        one.compare(other).gate("P@1 drops > 0.5")
    assert other.compare(one).gate("P@1 drops > 0.6")[0].passed


def test_tables_read_it(comparison):
    rows = [pair._asdict() for pair in comparison]
    pa = pytest.importorskip("pyarrow")
    assert pa.table(comparison).to_pylist() == rows
    pl = pytest.importorskip("polars")
    assert pl.DataFrame(comparison).to_dicts() == rows and comparison.to_polars().equals(pl.DataFrame(comparison))
    assert comparison.to_polars().schema["wins"] == pl.Int64
    pd = pytest.importorskip("pandas")
    frame = comparison.to_pandas()
    assert list(frame.columns) == list(laneval.Pair._fields)
    assert frame["p_adj"].tolist() == [pair.p_adj for pair in comparison]
    assert (frame["p_wilcoxon"].dtype, frame["wins"].dtype, frame["n80"].dtype) == ("float64", "int64", "Int64")
    assert frame["p_wilcoxon"].isna().all() and frame["equivalent"].isna().all()
    assert pd.DataFrame(comparison)["delta"].tolist() == frame["delta"].tolist()
    duckdb = pytest.importorskip("duckdb")
    pairs = pa.table(comparison)
    assert duckdb.sql("select max(delta) from pairs").fetchall() == [(max(pair.delta for pair in comparison),)]


def test_differences_of_queries(scores, comparison):
    deltas = comparison.per_query()
    assert len(deltas) == 6 * 40 and deltas.queries == scores["bm25"].per_query().queries
    values = [dict(zip(deltas.queries, scores[name].per_query()["P@10"], strict=True)) for name in ("hybrid", "dense")]
    expected = [one - other for one, other in zip(values[0].values(), values[1].values(), strict=True)]
    assert deltas["hybrid", "dense", "P@10"] == expected
    assert deltas["hybrid", "dense"] == deltas["hybrid", "dense", "nDCG@10"] != expected
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(deltas)
    assert frame.columns == ["run", "baseline", "query_id", "measure", "value", "baseline_value", "delta"] and len(frame) == 240
    last = frame[-40:]
    assert last["delta"].to_list() == expected and set(last["run"]) == {"hybrid"} and set(last["measure"]) == {"P@10"}
    assert last["query_id"].to_list() == deltas.queries and last["value"].to_list() == list(values[0].values())
    pd = pytest.importorskip("pandas")
    table = deltas.to_pandas()
    assert table.to_dict("list") == frame.with_columns(pl.col("run", "baseline", "measure").cast(str)).to_dict(as_series=False)
    assert pd.api.types.is_float_dtype(table["delta"])
    pa = pytest.importorskip("pyarrow")
    assert pa.table(deltas)["delta"].to_pylist() == frame["delta"].to_list()
    assert pickle.loads(pickle.dumps(deltas))["hybrid", "dense", "P@10"] == expected


def test_rankings_without_ids_all_count():
    draw = random.Random(1)
    old, new = (
        laneval.evaluate_labels([[draw.randint(0, 1) for _ in range(10)] for _ in range(25)], ["AP", "RR"], per_query=True)
        for _ in range(2)
    )
    comparison = new.compare(old)
    assert comparison.to_dict()["queries"] == 25 == len(comparison.per_query().queries)
    assert comparison.pairs[0].delta == pytest.approx(new["AP"] - old["AP"], abs=1e-15)


def test_queries_of_both():
    qrels, run = made(3, ties=False)
    other = {query: docs for query, docs in made(4, ties=False)[1].items() if query not in ("q3", "q4", "q5")}
    scores = laneval.evaluate_runs(qrels, {"a": run, "b": other}, "AP", per_query=True, queries="common")
    assert (scores["a"].queries, scores["b"].queries) == (28, 25)
    comparison = scores.compare()
    assert comparison.to_dict()["queries"] == 25 and "q3" not in comparison.per_query().queries


def test_queries_that_are_no_text(tmp_path):
    qrels, run = tmp_path / "q", tmp_path / "r"
    qrels.write_bytes(b"q\xff 0 d 1\np 0 d 1\n")
    run.write_bytes(b"q\xff Q0 d 1 1 t\np Q0 e 1 1 t\n")
    scores = laneval.evaluate(qrels, run, "RR", per_query=True)
    again = pickle.loads(pickle.dumps(scores))
    deltas = again.compare(scores).per_query()
    assert deltas.queries == ["p", b"q\xff".decode("utf-8", "surrogateescape")]
    pa = pytest.importorskip("pyarrow")
    assert pa.table(deltas)["query_id"].to_pylist() == [b"p", b"q\xff"]


def test_it_is_pickled_and_cannot_be_changed(scores, comparison):
    again = pickle.loads(pickle.dumps(comparison))
    assert again == comparison and again.pairs == comparison.pairs and str(again) == str(comparison)
    assert comparison != scores.compare(seed=1) and comparison != 3
    other = scores.compare(baseline="dense", measures=iter(["P@10"]), test="sign", alpha=0.1)
    assert pickle.loads(pickle.dumps(other)) == other
    with pytest.raises(AttributeError):
        comparison.extra = 1
    with pytest.raises(AttributeError):
        comparison.notes = []
    with pytest.raises(AttributeError):
        comparison.pairs[0].p = 0.0
    with pytest.raises(TypeError):
        hash(comparison)


def test_threads_change_nothing(scores):
    options = {"correction": "maxt", "ci": "bca", "permutations": 200_000}
    expected = scores.compare(**options, threads=1)
    assert scores.compare(**options, threads=3) == expected
    with ThreadPoolExecutor(4) as pool:
        assert all(of == expected for of in pool.map(lambda _: scores.compare(**options), range(8)))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"test": "student"}, ValueError, "test is 'student': 't', 'randomisation', 'wilcoxon', 'sign' were expected"),
        ({"correction": None}, ValueError, "correction is None: 'none', 'bonferroni', .* were expected"),
        ({"family": "pairs"}, ValueError, "family is 'pairs'"),
        ({"alternative": "less"}, ValueError, "alternative is 'less'"),
        ({"ci": 0.95}, ValueError, "ci is 0.95: 't', 'bootstrap', 'bca' were expected"),
        ({"wilcoxon_zeros": "drop"}, ValueError, "wilcoxon_zeros is 'drop'"),
        ({"wilcoxon_method": "exact"}, ValueError, "wilcoxon_method is 'exact'"),
        ({"alpha": 5}, ValueError, "alpha is 5: a number between 0 and 1 was expected"),
        ({"alpha": math.nan}, ValueError, "alpha is nan"),
        ({"alpha": "0.05"}, TypeError, "alpha is '0.05' of <class 'str'>: a number between 0 and 1 was expected"),
        ({"margin": 0}, ValueError, "margin is 0: a number above 0 was expected"),
        ({"power": -1.0}, ValueError, "power is -1.0: a number above 0 was expected"),
        ({"tie_epsilon": math.inf}, ValueError, "tie_epsilon is inf: 0 or more was expected"),
        ({"permutations": 0}, ValueError, "permutations is 0: a whole number from 1 to 4294967295 was expected"),
        ({"permutations": 2**32}, ValueError, "permutations is 4294967296"),
        ({"permutations": 99.0}, TypeError, "permutations is 99.0 of <class 'float'>: an int was expected"),
        ({"permutations": "many"}, TypeError, "permutations is 'many'"),
        ({"seed": -1}, ValueError, "seed is -1: a whole number from 0 to 18446744073709551615 was expected"),
        ({"threads": 0}, ValueError, "threads is 0: 1 or more was expected"),
        ({"sed": 1}, TypeError, "unknown keyword sed: there are measures, test, alternative"),
        ({"baseline": "bm"}, ValueError, "baseline is 'bm': there are bm25, dense, hybrid"),
        ({"measures": "AP"}, ValueError, "bm25 was not evaluated with AP: there are nDCG@10, P@10, Judged@10"),
        ({"measures": "nDGC"}, ValueError, "there is no measure `nDGC`"),
        ({"measures": "Judged@10"}, ValueError, "a higher Judged@10 is neither better nor worse"),
        ({"measures": []}, ValueError, "there is no measure to compare by"),
        ({"correction": "maxt", "alternative": "better"}, ValueError, "maxt is two-sided"),
        ({"correction": "hsd", "family": "all"}, ValueError, "hsd corrects one measure only"),
    ],
)
def test_wrong_keywords(scores, options, error, message):
    with pytest.raises(error, match=message):
        scores.compare(**options)


@pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
def test_what_does_not_belong_together(scores):
    qrels, run = made(3, ties=False)
    one = laneval.evaluate(qrels, run, ["AP", "RR"], per_query=True)

    def other(changed=qrels, measures=("AP", "RR"), **options):
        return laneval.evaluate(changed, run, list(measures), **{"per_query": True, **options})

    chunks = {query: {f"{document}#1": score for document, score in of.items()} for query, of in run.items()}
    of_chunks = laneval.evaluate(qrels, chunks, ["AP", "RR"], per_query=True, doc_id="before:#")
    for found, message in [
        (other(per_query=False), "the values of queries were not kept: evaluate with per_query=True"),
        (other({**qrels, "q5": {"doc1": 1}}), "baseline and run cannot be compared: they have different judgments"),
        (other(queries="common"), "they were evaluated with queries='common' and queries='judged'"),
        (other(ties="docno-asc"), "they were evaluated with ties='docno-asc' and ties='docno-desc'"),
        (other(ties="average"), "they were evaluated with ties='average' and ties='docno-desc'"),
        (other(score_type="f32"), "they were evaluated with score_type='f32' and score_type='f64'"),
        (other(depth=5), "they were evaluated with depth=5 and depth=None"),
        (other(judged_only=True), "they were evaluated with judged_only=True and judged_only=False"),
        (other(relevant_from="retrieved"), "they were evaluated with relevant_from='retrieved' and relevant_from='judged'"),
        (other(drop_identical_ids=True), "they were evaluated with drop_identical_ids=True and drop_identical_ids=False"),
        (other(exclude={query: list(of)[:1] for query, of in run.items()}), "they were evaluated with exclude='[0-9a-f]{32}' and exclude=None"),
        (of_chunks, "they were evaluated with doc_id='before:#' and doc_id=None"),
        (other(aggregate="blank"), "they were evaluated with aggregate='blank' and aggregate='error'"),
        (other(max_chunks=5), "they were evaluated with max_chunks=5 and max_chunks=None"),
        (other(measures=("AP", "P@5")), "baseline and run have different measures, AP, P@5 and AP, RR: choose some with measures="),
    ]:
        with pytest.raises(laneval.UnanswerableError, match=message):
            one.compare(found)
    assert one.compare(other(measures=("RR", "AP"))).measures == ["RR", "AP"]
    assert one.compare(other(measures=("AP", "P@5")), measures="map").measures == ["AP"]
    assert len(one.compare(other({**qrels})).pairs) == 2
    labels = laneval.evaluate_labels([[1, 0]] * 3, "RR", per_query=True)
    with pytest.raises(ValueError, match="values of different queries, 2 and 3 of them"):
        labels.compare(laneval.evaluate_labels([[1, 0]] * 2, "RR", per_query=True))
    with pytest.raises(ValueError, match="bm25 is the only run: two or more were expected"):
        laneval.Scores([scores["bm25"]]).compare()
    with pytest.raises(ValueError, match="there are no runs to compare"):
        laneval.Scores([]).compare()


def test_every_setting_of_a_rule_is_compared(scores):
    tried = {"ties", "score_type", "depth", "drop_identical_ids", "doc_id", "aggregate", "max_chunks", "exclude"}
    assert set(scores["bm25"].rule._fields) == tried, "a new setting needs a case in the test above"


def test_what_is_no_run(scores):
    with pytest.raises(TypeError, match="other is of <class 'dict'>: the scores of a run, as evaluate gives them, were expected"):
        scores["bm25"].compare(dict(scores["dense"]))


def test_many_queries_are_not_drawn_unless_asked():
    np = pytest.importorskip("numpy")
    draw = np.random.default_rng(1)
    labels = [(draw.random((600_000, 1)) < chance).astype(np.uint8) for chance in (0.5, 0.501)]
    one, other = (laneval.evaluate_labels(of, ["P@1", "RR"], per_query=True) for of in labels)
    comparison = one.compare(other)
    assert comparison.settings["permutations"] == 0 and comparison.pairs[0].p_perm is None
    (note,) = (note for note in comparison.notes if "left out" in note)
    assert note.startswith("the randomisation test was left out") and note.endswith(": permutations=99999 runs it")


def test_functions_of_python_are_left_out():
    measure = laneval.measure(name="One")(lambda labels, lengths, judged, grades: [1.0] * len(lengths))
    qrels, run = made(3, ties=False)
    scores = laneval.evaluate_runs(qrels, {"a": run, "b": made(4, ties=False)[1]}, [measure, "AP"], per_query=True)
    with pytest.raises(ValueError, match="One is a function of Python, which cannot be compared: choose others with measures="):
        scores.compare()
    plain = laneval.evaluate_runs(qrels, {"a": run, "b": made(4, ties=False)[1]}, "AP", per_query=True)
    assert scores.compare(measures="AP") == plain.compare()
    assert pickle.loads(pickle.dumps(scores)).compare(measures="AP") == plain.compare()


def test_few_queries():
    one = laneval.evaluate_labels([[1, 0]], "RR", per_query=True)
    other = laneval.evaluate_labels([[0, 1]], "RR", per_query=True)
    pair = one.compare(other).pairs[0]
    assert (pair.delta, pair.p, pair.interval, pair.d_z) == (0.5, None, None, None)
    assert "in the only query" in one.compare(other).sentences[0] and "–" in one.compare(other)._repr_html_()


def test_runs_that_are_equal_on_paper_are_marked_alike():
    qrels = {f"q{at}": {f"r{doc}": 1 for doc in range(5)} for at in range(3)}
    of = lambda hits: {f"q{at}": {f"{'r' if rank < hit else 'x'}{rank}": 9.0 - rank for rank in range(5)} for at, hit in enumerate(hits)}  # noqa: E731
    scores = laneval.evaluate_runs(qrels, {"a": of([3, 0, 0]), "b": of([1, 2, 0]), "c": of([0, 0, 0])}, "P@5", per_query=True)
    means = [scores[run]["P@5"] for run in "ab"]
    assert means[0] != means[1], "or the example shows nothing"
    comparison = scores.compare()
    rows = {name: next(row for row in comparison._repr_html_().split("<tr>") if row.startswith(f"<th>{name}<")) for name in "abc"}
    assert ["<b>" in rows[name] for name in "abc"] == [True, True, False]
    assert comparison.to_markdown().count("**0.2000**") == 2


def test_queries_that_share_their_judged_documents_look_like_groups():
    def from_dicts(qrels, runs):
        return laneval.evaluate_runs(qrels, runs, "RR", per_query=True)

    def from_a_matrix(qrels, runs):
        return laneval.Matrix.build(qrels, runs).evaluate("RR", per_query=True)

    def from_a_pickle(qrels, runs):
        return pickle.loads(pickle.dumps(from_dicts(qrels, runs)))

    def found(per_set, evaluated):
        sets = {f"q{query}": query // per_set for query in range(60)}
        qrels = {query: {f"d{at}": 1, f"e{at}": 0} for query, at in sets.items()}
        runs = {name: {query: {f"d{at}": 3 * at % share, "x": 1} for query, at in sets.items()} for name, share in (("one", 2), ("two", 3))}
        return [note for note in evaluated(qrels, runs).compare().notes if "look like" in note]

    said = "60 judged queries look like 12 groups, in which all have the same judged documents: "
    for evaluated in (from_dicts, from_a_matrix, from_a_pickle):
        assert [note.startswith(said) for note in found(5, evaluated)] == [True]
        assert found(1, evaluated) == []

"""More distinct grades than labels of one byte have codes (253) are evaluated wherever grades are taken."""

import math
import random

import pytest

import laneval
import laneval.compat.pytrec_eval as swap

from .test_sources import qrels_text, run_text, table, triples

pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
MEASURES = ["nDCG", "nDCG@10", "AP(rel=0.7)", "P(rel=2.5)@5", "ERR(gmax=auto)@10", "RBP(gain=grade)", "Compat"]


def drawn(seed: int, grade) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Judgments of 30 queries with the grades that `grade` draws, and a run without equal scores that misses some documents."""
    draw = random.Random(seed)
    docs = [f"d{at}" for at in range(60)]
    qrels = {f"q{at:02}": {doc: grade(draw) for doc in draw.sample(docs, 40)} for at in range(30)}
    run = {query: dict(zip(draw.sample(docs, 35), draw.sample(range(1000), 35), strict=True)) for query in qrels}
    return qrels, {query: {doc: float(score) for doc, score in of.items()} for query, of in run.items()}


def real(draw: random.Random) -> float:
    return draw.choice([0.0, -0.5, 0.7, 2.5, round(draw.uniform(0, 4), 6), round(draw.uniform(0, 4), 6)])


def whole(draw: random.Random) -> int:
    return draw.choice([0, draw.randint(-3, 3000), draw.randint(-3, 3000)])


QRELS, RUN = drawn(3, real)
assert len({grade for of in QRELS.values() for grade in of.values() if grade >= 0}) > 253


def ranked(query: str) -> list[float]:
    """The grades of a ranking, best score first; 0 where a document has none."""
    return [max(QRELS[query].get(doc, 0.0), 0.0) for doc in sorted(RUN[query], key=RUN[query].get, reverse=True)]


def ndcg(query: str) -> float:
    dcg = lambda grades: math.fsum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))  # noqa: E731
    return dcg(ranked(query)) / dcg(sorted((max(grade, 0.0) for grade in QRELS[query].values()), reverse=True))


def average_precision(query: str) -> float:
    hits = [grade >= 0.7 for grade in ranked(query)]
    relevant = sum(grade >= 0.7 for grade in QRELS[query].values())
    return sum(sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit) / relevant


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, float]]:
    """The values of every query, of which two measures are compared with plain formulas."""
    values = laneval.evaluate(QRELS, RUN, MEASURES, per_query=True).per_query().to_dict()
    for query in QRELS:
        assert values[query]["nDCG"] == pytest.approx(ndcg(query), abs=1e-12)
        assert values[query]["AP(rel=0.7)"] == pytest.approx(average_precision(query), abs=1e-12)
        assert values[query]["P(rel=2.5)@5"] == sum(grade >= 2.5 for grade in ranked(query)[:5]) / 5
    return values


def values_of(qrels, run) -> dict[str, dict[str, float]]:
    return laneval.evaluate(qrels, run, MEASURES, per_query=True).per_query().to_dict()


def test_files_tuples_and_judgments(expected, tmp_path):
    (tmp_path / "qrels").write_text(qrels_text(QRELS))
    (tmp_path / "run").write_text(run_text(RUN))
    assert values_of(tmp_path / "qrels", tmp_path / "run") == expected
    assert values_of(triples(QRELS), triples(RUN)) == expected
    qrels = laneval.Qrels(QRELS)
    assert values_of(qrels, RUN) == expected
    assert list(qrels.grades) == sorted({grade for of in QRELS.values() for grade in of.values() if grade >= 0})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables(expected, kind):
    module = pytest.importorskip(kind)
    make = module.table if kind == "pyarrow" else module.DataFrame
    assert values_of(make(table(QRELS, "relevance")), make(table(RUN, "score"))) == expected


def test_matrices_that_are_saved_and_opened(expected, tmp_path):
    matrix = laneval.Matrix.build(QRELS, {"a": RUN})
    matrix.write(tmp_path / "many.lmx")
    for of in [matrix, laneval.Matrix.open(tmp_path / "many.lmx")]:
        scores = of.evaluate(MEASURES, per_query=True)
        assert scores["a"].per_query().to_dict() == expected


@pytest.mark.parametrize("order", ["grouped", "any"])
def test_streams(order):
    rows = triples(RUN)
    with laneval.RankingStream(MEASURES, qrels=QRELS, order=order) as stream:
        for at in range(0, len(rows), 100):
            stream.push(rows[at : at + 100])
        summary = stream.finish()
    assert summary.scores()["run"] == dict(laneval.evaluate(QRELS, RUN, MEASURES))


def test_arrays():
    np = pytest.importorskip("numpy")
    expected = np.mean([ndcg(query) for query in QRELS])
    # Judgments are all that a query has, and so ids, which say what was not retrieved, have the values of runs.
    relevant = [{doc: grade for doc, grade in of.items() if grade >= 0} for of in QRELS.values()]
    retrieved = [sorted(RUN[query], key=RUN[query].get, reverse=True) for query in QRELS]
    measures = [measure for measure in MEASURES if measure != "Compat"]
    of_ids = laneval.evaluate_ids(relevant, retrieved, measures)
    assert dict(of_ids) == dict(laneval.evaluate(QRELS, RUN, measures)) and of_ids["nDCG"] == pytest.approx(expected, abs=1e-12)
    grades = lambda query, docs: [QRELS[query].get(doc, -1.0) for doc in docs]  # noqa: E731
    labels = np.array([grades(query, docs) for query, docs in zip(QRELS, retrieved, strict=True)])
    labels[labels < 0] = -1
    of_labels = laneval.evaluate_labels(labels, [*measures, "DCG"])
    assert of_labels["DCG"] == laneval.evaluate(QRELS, RUN, "DCG")["DCG"]
    assert of_labels["AP(rel=0.7)"] == laneval.evaluate(QRELS, RUN, "AP(rel=0.7,norm=hits)")["AP(rel=0.7,norm=hits)"]
    order = np.random.default_rng(1).permutation(labels.shape[1])
    scores = -np.arange(labels.shape[1], dtype=np.float32)[order] * np.ones((len(labels), 1), np.float32)
    assert dict(laneval.evaluate_scores(scores, labels[:, order], [*measures, "DCG"])) == dict(of_labels)
    stream = laneval.RankingStream(measures, grades=sorted({*labels.ravel().tolist()} - {-1.0}))
    for at in range(0, len(labels), 7):
        stream.push(labels[at : at + 7])
    assert stream.finish().scores()["rankings"] == dict(laneval.evaluate_labels(labels, measures))


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 700, 1500])
def test_pytrec_eval(level, judged_only):
    original = pytest.importorskip("pytrec_eval")
    qrels, run = drawn(4, whole)
    theirs, ours = [
        module.RelevanceEvaluator(qrels, original.supported_measures, relevance_level=level, judged_docs_only_flag=judged_only).evaluate(run)
        for module in (original, swap)
    ]
    for of in [*theirs.values(), *ours.values()]:
        [of.pop(text, None) for text in ("runid", "relstring")]
    assert theirs == ours and sum(map(len, ours.values())) > 30 * 50


def test_comparisons():
    other = {query: {doc: score - 300 * (doc < "d3") for doc, score in of.items()} for query, of in RUN.items()}
    scores = laneval.evaluate_runs(QRELS, {"a": RUN, "b": other}, ["nDCG", "AP(rel=0.7)"], per_query=True)
    alone = [laneval.evaluate(QRELS, run, ["nDCG"])["nDCG"] for run in (RUN, other)]
    [pair, _] = scores.compare().pairs
    assert pair.delta == pytest.approx(alone[1] - alone[0], abs=1e-12)


def test_what_needs_few_grades_says_so():
    @laneval.measure(name="Mine")
    def mine(labels, lengths, judged, grades):
        raise AssertionError("it was called")

    message = "measures of one's own get a label for each document, and there are more distinct grades than labels"
    matrix = laneval.Matrix.build(QRELS, {"a": RUN})
    for evaluated in [
        lambda: laneval.evaluate(QRELS, RUN, [mine]),
        lambda: laneval.evaluate(QRELS, RUN, ["nDCG", mine]),
        lambda: matrix.evaluate(mine),
        lambda: laneval.evaluate_labels([list(range(300))], mine),
    ]:
        with pytest.raises(laneval.UnanswerableError, match=message):
            evaluated()
    with pytest.raises(laneval.UnanswerableError, match="more than 253 distinct grades"):
        laneval.evaluate(QRELS, RUN, "nDCG", ties="average")
    few = {query: {doc: round(grade) for doc, grade in of.items()} for query, of in QRELS.items()}
    with pytest.raises(AssertionError, match="it was called"):
        laneval.evaluate(few, RUN, [mine])

"""Labels, scores and ids in arrays give what the same rankings give as runs."""

import array
import enum
import warnings
from itertools import permutations

import pytest

import laneval

np = pytest.importorskip("numpy")
# Small integers as scores are tied.
pytestmark = pytest.mark.filterwarnings("ignore::laneval.TiedScoresWarning")
MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]
DRAW = np.random.default_rng(5)
LABELS = DRAW.choice([-1, 0, 0, 1, 2], size=(40, 12)).astype(np.int8)


def plainly(labels, measures=MEASURES, extra=None, **options) -> dict[str, float]:
    """The scores of the same rankings as dicts."""
    qrels, run = {}, {}
    for at, row in enumerate(labels):
        judged = {f"d{rank}": int(label) for rank, label in enumerate(row) if label >= 0}
        more = {f"x{grade}-{n}": grade for grade, count in enumerate(extra[at] if extra is not None else []) for n in range(count)}
        qrels[f"{at:03}"] = {**judged, **more, "none": -1}
        run[f"{at:03}"] = {f"d{rank}": float(-rank) for rank in range(len(row))}
    return dict(laneval.evaluate(qrels, run, measures, **options))


def test_scores_that_say_nothing_are_told():
    collapsed, grades = np.zeros((1000, 100), np.float32), np.zeros((1000, 100), np.int8)
    grades[:, 0] = 1
    with pytest.warns(laneval.TiedScoresWarning, match="in 1000 of 1000 queries documents of different grades have equal scores"):
        assert laneval.evaluate_scores(collapsed, grades, "RR")["RR"] == 1.0
    scores = DRAW.random((1000, 100), dtype=np.float32)
    with warnings.catch_warnings(action="error"):
        assert laneval.evaluate_scores(collapsed, grades, "RR", ties="average")["RR"] == pytest.approx(sum(1 / n for n in range(1, 101)) / 100)
        laneval.evaluate_scores(scores, grades, ["RR", "nDCG@10", "AP"])
        # A tie far behind, where nothing is relevant.
        scores[:, 0] = 2.0
        scores[:, 50:] = 0.0
        laneval.evaluate_scores(scores, grades, ["RR", "nDCG@10", "AP"])
    with pytest.warns(laneval.TiedScoresWarning):
        laneval.evaluate_scores(scores.round(1).astype(np.float16), grades[:, ::-1], "RR")


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "f2", "f4", "f8"])
def test_labels_of_every_type(kind):
    scores = laneval.evaluate_labels(LABELS.astype(kind), MEASURES)
    assert dict(scores) == plainly(LABELS) and scores.ideal == "retrieved"


def test_labels_in_every_layout():
    expected = plainly(LABELS)
    wide = np.zeros((40, 30), np.int8)
    wide[:, :12] = LABELS
    for of in [
        wide[:, :12],
        np.asfortranarray(LABELS),
        LABELS[::-1][::-1],
        np.repeat(LABELS, 2, axis=1)[:, ::2],
        LABELS.tolist(),
        memoryview(LABELS),
    ]:
        assert dict(laneval.evaluate_labels(of, MEASURES)) == expected
    unsigned = np.maximum(LABELS, 0).astype(np.uint8)
    assert dict(laneval.evaluate_labels(unsigned, MEASURES)) == plainly(unsigned)
    assert dict(laneval.evaluate_labels(unsigned > 0, MEASURES)) == plainly(unsigned > 0)


def test_rows_of_different_lengths():
    lengths = DRAW.integers(1, 13, 40)
    rows = [row[:length] for row, length in zip(LABELS, lengths, strict=True)]
    expected = plainly(rows)
    assert dict(laneval.evaluate_labels(LABELS, MEASURES, lengths=lengths)) == expected
    flat, offsets = np.concatenate(rows), np.concatenate([[0], np.cumsum(lengths)])
    assert dict(laneval.evaluate_labels(flat, MEASURES, offsets=offsets)) == expected
    groups = np.repeat(np.arange(40), lengths)
    assert dict(laneval.evaluate_labels(flat, MEASURES, groups=groups)) == expected


def test_what_is_judged_in_all():
    more = DRAW.integers(0, 3, (40, 3))
    held = np.stack([(LABELS == grade).sum(1) for grade in range(3)], axis=1)
    scores = laneval.evaluate_labels(LABELS, MEASURES, judged=held + more)
    assert dict(scores) == plainly(LABELS, extra=more) and scores.ideal == "judgments"
    binary = np.minimum(LABELS, 1)
    relevant = (binary == 1).sum(1) + more[:, 1]
    scores = laneval.evaluate_labels(binary, MEASURES, relevant=relevant)
    assert dict(scores) == plainly(binary, extra=more[:, :2] * [0, 1])


def test_scores_are_ranked():
    scores = DRAW.normal(size=LABELS.shape).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    expected = plainly(np.take_along_axis(LABELS, order, axis=1))
    assert dict(laneval.evaluate_scores(scores, LABELS, MEASURES)) == expected
    sizes = np.full(40, 12)
    assert dict(laneval.evaluate_scores(scores.ravel(), LABELS.ravel(), MEASURES, sizes=sizes)) == expected
    groups = np.repeat(np.arange(40), 12)
    assert dict(laneval.evaluate_scores(scores.ravel(), LABELS.ravel(), MEASURES, groups=groups)) == expected


def test_queries_without_anything_relevant():
    scores, grades = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[1, 0], [0, 0]])
    of = lambda empty: laneval.evaluate_scores(scores, grades, "RR", empty=empty)["RR"]  # noqa: E731
    assert [of("neg"), of("pos"), of("skip")] == [0.25, 0.75, 0.5]
    with pytest.raises(laneval.UnanswerableError, match="query 1 has nothing relevant"):
        of("error")


def test_ids():
    relevant = [{"a", "b"}, [7, 8], {"x": 2.0, "y": 1.0}]
    retrieved = [["a", "c", "b"], np.array([1, 7]), ["y", "x"]]
    scores = laneval.evaluate_ids(relevant, retrieved, ["RR", "nDCG@10"])
    qrels = {"0": {"a": 1, "b": 1}, "1": {"7": 1, "8": 1}, "2": {"x": 2, "y": 1}}
    run = {"0": {"a": 3, "c": 2, "b": 1}, "1": {"1": 2, "7": 1}, "2": {"y": 2, "x": 1}}
    assert dict(scores) == dict(laneval.evaluate(qrels, run, ["RR", "nDCG@10"]))


def test_ids_by_query():
    relevant = {"q2": ["b"], "q1": {"a": 2.0}, 7: None, "q3": ["x"]}
    retrieved = {"q1": ["c", "a"], "7": ["b"], "q2": ["b"]}
    with pytest.warns(laneval.MissingQueriesWarning, match="1 judged query is not in the run and counts as an empty ranking: q3"):
        scores = laneval.evaluate_ids(relevant, retrieved, ["RR", "nDCG@10"], per_query=True)
    qrels = {"q2": {"b": 1}, "q1": {"a": 2}, "q3": {"x": 1}}
    run = {"q1": {"c": 2, "a": 1}, "q2": {"b": 1}}
    with pytest.warns(laneval.MissingQueriesWarning):
        expected = laneval.evaluate(qrels, run, ["RR", "nDCG@10"], per_query=True)
    found = scores.per_query().to_dict()
    assert {query: found[query] for query in qrels} == expected.per_query().to_dict()
    assert found["7"] == {"RR": 0.0, "nDCG@10": 0.0}, "a query that is judged, and nothing is relevant"
    with pytest.warns(laneval.IgnoredQueriesWarning, match="1 of its queries is not judged and does not count: q9"):
        ignored = laneval.evaluate_ids({"q1": ["a"]}, {"q1": ["a"], "q9": ["a"]}, "RR").ignored
    assert (ignored.count, ignored.ids) == (1, ["q9"])
    with pytest.warns(laneval.MissingQueriesWarning, match="1 judged query is not in the run"):
        assert laneval.evaluate_ids([["a"], None], [None, ["b"]], "RR")["RR"] == 0.0
    for wrong, error in [
        (lambda: laneval.evaluate_ids({"q": ["a"]}, [["a"]]), TypeError),
        (lambda: laneval.evaluate_ids([["a"]], {"q": ["a"]}), TypeError),
        (lambda: laneval.evaluate_ids({1: ["a"], "1": ["a"]}, {}), ValueError),
        (lambda: laneval.evaluate_ids({1.5: ["a"]}, {}), TypeError),
    ]:
        with pytest.raises(error, match="expected|occurs twice"):
            wrong()


def test_ids_that_have_no_order_or_no_queries_in_common_are_refused():
    for retrieved in ({"a": 1.0, "b": 2.0}, {"a", "b"}, frozenset("ab")):
        with pytest.raises(TypeError, match="a list of ids, the best first, was expected"):
            laneval.evaluate_ids([["b"]], [retrieved], "RR")
    with pytest.raises(laneval.InputError, match="no query of it is judged"):
        laneval.evaluate_ids({"q1": ["a"]}, {"q2": ["a"]}, "RR")
    pd = pytest.importorskip("pandas")
    relevant, retrieved = pd.Series({"u1": ["x"], "u2": ["y"]}), pd.Series({"u2": ["y"], "u1": ["x"]})
    with pytest.raises(ValueError, match="have different indices"):
        laneval.evaluate_ids(relevant, retrieved, "RR")
    assert laneval.evaluate_ids(relevant.to_dict(), retrieved.to_dict(), "RR")["RR"] == 1.0
    assert laneval.evaluate_ids(relevant, retrieved.sort_index(), "RR")["RR"] == 1.0

    class Query(str, enum.Enum):
        ONE = "1"

    for query in (1, np.int64(1), "1", b"1", Query.ONE):
        assert laneval.evaluate_ids({query: ["a"]}, {1: ["a"]}, "RR")["RR"] == 1.0


def test_what_would_change_nothing_is_refused():
    for options in ({"score_type": "f32"}, {"ties": "docno-asc"}, {"drop_identical_ids": True}, {"dialect": "trec9"}):
        with pytest.raises(laneval.OptionError, match="changes nothing"):
            laneval.evaluate_scores([[0.5, 0.25]], [[0, 1]], "RR", **options)
        matrix = laneval.Matrix.build({"q": {"d": 1}}, {"run": {"q": {"d": 0.5}}})
        for evaluate in (matrix.evaluate, matrix.summary):
            with pytest.raises(laneval.OptionError, match=r": give it to `Matrix\.build`( instead)?$"):
                evaluate("RR", **options)
    with pytest.raises(laneval.OptionError) as raised:
        matrix.evaluate("RR", score_type="f32")
    assert str(raised.value) == (
        "score_type='f32' changes nothing for a matrix, whose rankings were made already: give it to `Matrix.build` instead"
    )
    with pytest.raises(ValueError, match="offsets are from 1 to 3, and labels has 4 values"):
        laneval.evaluate_labels(np.array([1, 0, 0, 1]), "RR", offsets=np.array([1, 3]))
    with pytest.raises(TypeError, match="hides some of its values"):
        laneval.evaluate_labels(np.ma.masked_array([[1, 0]], [[True, False]]), "RR")
    assert laneval.evaluate_scores([[1.0, 1.0]], [[0, 1]], "RR", ties="average").rule.ties == "average"


def test_ties_of_scores():
    """Values over all orders of equal scores: all orders by hand, and scikit-learn's nDCG, which averages over them."""
    sklearn = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(3)
    scores = random.integers(0, 4, (60, 12)).astype(np.float32)
    grades = random.integers(0, 4, (60, 12))
    of = lambda measure, ties: laneval.evaluate_scores(scores, grades, measure, ties=ties, per_query=True).per_query()[measure]  # noqa: E731
    known = [sklearn.ndcg_score([grade], [score], k=5) for grade, score in zip(grades, scores, strict=True)]
    np.testing.assert_allclose(of("nDCG@5", "average"), known, rtol=0, atol=1e-14)

    def first_hits(row):
        orders = [sorted(range(5), key=lambda at: (-scores[row, at], order[at])) for order in permutations(range(5))]
        return [1 / next((rank for rank, at in enumerate(order, 1) if grades[row, at] > 0), np.inf) for order in orders]

    few = laneval.evaluate_scores(scores[:, :5], grades[:, :5], "RR", ties="average", per_query=True).per_query()["RR"]
    extremes = [
        laneval.evaluate_scores(scores[:, :5], grades[:, :5], "RR", ties=ties, per_query=True).per_query()["RR"]
        for ties in ("worst", "best")
    ]
    for row in range(60):
        hits = first_hits(row)
        assert abs(few[row] - sum(hits) / len(hits)) < 1e-14
        assert [extreme[row] for extreme in extremes] == [min(hits), max(hits)]
    with pytest.raises(laneval.UnanswerableError, match="scores were expected"):
        laneval.evaluate_labels(LABELS, "RR", ties="average")


def test_arrays_without_numpy():
    flat = array.array("b", [0, 1, 1, 0])
    assert laneval.evaluate_labels(flat, "RR", offsets=array.array("q", [0, 2, 4]))["RR"] == 0.75


@pytest.mark.parametrize(
    ("of", "error", "message"),
    [
        (lambda: laneval.evaluate_labels(LABELS[0]), ValueError, "labels has one dimension: two were expected"),
        (lambda: laneval.evaluate_labels(LABELS[None]), ValueError, "labels has 3 dimensions"),
        (lambda: laneval.evaluate_labels([[1, 2], [3]]), ValueError, ""),
        (lambda: laneval.evaluate_labels("abc"), TypeError, "an array of numbers was expected"),
        (lambda: laneval.evaluate_labels(LABELS.astype(object)), TypeError, "integers, floats or bools were expected"),
        (lambda: laneval.evaluate_labels(LABELS.astype(">i2")), TypeError, "swapped"),
        (lambda: laneval.evaluate_labels(LABELS, lengths=[13] * 40), ValueError, "lengths[0] is 13, and a row has 12 values"),
        (lambda: laneval.evaluate_labels(LABELS, lengths=[1]), ValueError, "lengths has 1 of them, and labels has 40 rows"),
        (lambda: laneval.evaluate_labels(LABELS[0], offsets=[0, 5, 3, 12]), ValueError, "offsets[2] is 3, less than the one before"),
        (lambda: laneval.evaluate_labels(LABELS * np.float32("nan")), ValueError, "labels[0, 0] is NaN"),
        (lambda: laneval.evaluate_labels(np.arange(-2, 598).reshape(2, 300)), ValueError, "labels[0, 0] is -2"),
        (lambda: laneval.evaluate_scores(LABELS[:2], LABELS), ValueError, "scores has the shape (2, 12), and grades (40, 12)"),
        (lambda: laneval.evaluate_scores(np.full((1, 2), np.nan), [[1, 0]]), ValueError, "scores[0, 0] is not a number"),
        (lambda: laneval.evaluate_ids(["abc"], [["a"]]), TypeError, "relevant[0] is of <class 'str'>"),
        (lambda: laneval.evaluate_ids([["a"]], [["a"], ["b"]]), ValueError, "1 lists of relevant ids and 2 of retrieved"),
        (lambda: laneval.evaluate_ids([["a"]], [["a", "a"]]), ValueError, "occurs twice"),
        (lambda: laneval.evaluate_labels(np.zeros((0, 5))), ValueError, "no rankings"),
    ],
)
def test_arrays_that_are_wrong(of, error, message):
    with pytest.raises(error) as raised:
        of()
    assert message in str(raised.value)


def test_arrays_are_borrowed():
    """What is lent is not copied: the peak of a large matrix of labels stays below its size."""
    import resource

    labels = np.zeros((1 << 20, 128), np.uint8)
    labels[:, 5] = 1
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert laneval.evaluate_labels(labels, "RR")["RR"] == 1 / 6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000

"""Ids of nearest neighbours in arrays, beside sets of ids."""

from __future__ import annotations

import laneval
import pytest

np = pytest.importorskip("numpy")

TRUTH = np.array([[1, 2, 3, 4, 5, 6], [10, 11, 12, 13, 14, 15], [20, 21, 22, -1, -1, -1]])
DISTANCES = np.array([[1, 2, 2, 2, 3, 4], [1, 1, 1, 1, 1, 2], [1, 2, 3, 0, 0, 0]], dtype=np.float32)
FOUND = np.array([[1, 4, 9, 2], [15, 14, 10, 11], [22, 20, -1, -1]])
FOUND_DISTANCES = np.array([[1, 2, 2.5, 2], [2, 1, 1, 1], [3, 1, 0, 0]])
FALLING = np.array([[1, 2, 1, 4, 5, 6]] * 3, dtype=np.float64)
KINDS = ["int32", "uint32", "int64", "uint64"]


def near(*arrays, **keywords):
    return laneval.evaluate_neighbours(*arrays, "NNR@[1,2,3,4]", **keywords).to_dict().values()


def test_recalls_of_three_queries():
    assert list(near(TRUTH, FOUND)) == pytest.approx([1 / 3, 1 / 3, 4 / 9, 23 / 36], abs=1e-15)
    tied = near(TRUTH, FOUND, truth_distances=DISTANCES)
    assert list(tied) == pytest.approx([1 / 3, 2 / 3, 2 / 3, 13 / 18], abs=1e-15)
    within = near(TRUTH, FOUND, truth_distances=DISTANCES, found_distances=FOUND_DISTANCES, within=1e-3)
    assert list(within) == pytest.approx([1 / 3, 2 / 3, 2 / 3, 13 / 18], abs=1e-15)
    scores = laneval.evaluate_neighbours(TRUTH, FOUND, "NNR@2", per_query=True)
    assert scores.per_query().to_dict() == {"0": {"NNR@2": 0.5}, "1": {"NNR@2": 0.0}, "2": {"NNR@2": 0.5}}
    wide = np.arange(20).reshape(2, 10)
    assert laneval.evaluate_neighbours(wide, wide).to_dict() == {"NNR@10": 1.0}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_ids_of_every_type_and_layout(kind, other):
    expected = list(near(TRUTH, FOUND))
    truth, found = TRUTH.astype(kind), FOUND.astype(other)
    assert list(near(truth, found)) == expected
    wide = np.concatenate([found, found + 1], axis=1)
    assert list(near(truth, wide[:, :4])) == expected, "rows that lie apart"
    assert list(near(np.asfortranarray(truth), found[::-1][::-1])) == expected


def test_lists_are_arrays_of_numpy():
    assert list(near(TRUTH.tolist(), FOUND.tolist())) == list(near(TRUTH, FOUND))


@pytest.mark.parametrize("width", [3, 10, 16, 17, 100, 300])
def test_recalls_are_those_of_sets(width):
    random = np.random.default_rng(width)
    rows = [random.permutation(2 * width) for _ in range(50)]
    truth, found = np.array([row[:width] for row in rows]), np.array([random.permutation(2 * width)[:width] for _ in rows])
    for k in {1, width // 2, width}:
        expected = np.mean([len(set(t[:k]) & set(f[:k])) / k for t, f in zip(truth.tolist(), found.tolist())])
        assert laneval.evaluate_neighbours(truth, found, f"NNR@{k}")[f"NNR@{k}"] == pytest.approx(expected, abs=1e-14)


def test_queries_without_neighbours_do_not_count():
    truth, found = np.array([[-1, -1], [5, 6]]), np.array([[5, 6], [6, 9]])
    scores = laneval.evaluate_neighbours(truth, found, "NNR@2", per_query=True)
    assert scores.per_query().to_dict() == {"1": {"NNR@2": 0.5}}


def test_repeats():
    truth, found = np.array([[1, 2, 3, 4]]), np.array([[1, 1, 2, 9]])
    of = lambda measure, aggregate: laneval.evaluate_neighbours(truth, found, measure, aggregate=aggregate)[measure]  # noqa: E731
    assert [of("NNR@4", "blank"), of("NNR(truth=2)@2", "blank"), of("NNR(truth=2)@3", "blank")] == [0.5, 0.5, 1.0]
    assert of("NNR(truth=2)@2", "max") == 1.0
    with pytest.raises(laneval.UnanswerableError, match=r"found\[0, 1\], 1, is there twice"):
        of("NNR@4", "error")
    with pytest.raises(ValueError, match="error, max or blank was expected"):
        of("NNR@4", "last")
    lists = [[["a", "b"]], [["a", "a", "b"]]]
    assert laneval.evaluate_ids(*lists, "AP", aggregate="max")["AP"] == 1.0
    assert laneval.evaluate_ids({"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, "AP", aggregate="blank")["AP"] == (1 + 2 / 3) / 2
    arrays = [np.array([[1, 2]]), np.array([[1, 1, 2]])]
    assert laneval.evaluate_ids(*arrays, "AP", aggregate="max")["AP"] == 1.0
    with pytest.raises(laneval.UnanswerableError, match=r"retrieved\[0, 1\], 1, occurs twice"):
        laneval.evaluate_ids(*arrays, "AP")


def test_arrays_of_ids_are_lists_of_ids():
    random = np.random.default_rng(3)
    for width in (4, 16, 40):
        truth, found = (np.array([random.permutation(60)[:width] - 1 for _ in range(30)]) for _ in range(2))
        measures = ["AP", "nDCG@10", "RR", "R@5", "P@3"]
        arrays = laneval.evaluate_ids(truth.astype("int32"), found, measures)
        assert dict(arrays) == dict(laneval.evaluate_ids(truth.tolist(), found.tolist(), measures))
        assert arrays.queries == 30


def test_recall_by_all_neighbours_is_warned_of():
    with pytest.warns(laneval.LanevalWarning, match="R@2 divides by all 6 true neighbours; NNR@2 is the recall of nearest neighbours"):
        laneval.evaluate_neighbours(TRUTH, FOUND, "R@2")


def test_what_is_wrong_is_said():
    for error, message, arrays, keywords in [
        (ValueError, "truth has one dimension", (TRUTH[0], FOUND), {}),
        (TypeError, "truth has floats", (TRUTH * 1.0, FOUND), {}),
        (TypeError, "found has integers of 8 or 16 bits", (TRUTH, FOUND.astype("int8")), {}),
        (ValueError, r"truth_distances has the shape \(3, 5\), and truth \(3, 6\)", (TRUTH, FOUND), {"truth_distances": DISTANCES[:, :5].copy()}),
        (ValueError, "take numpy.ascontiguousarray", (TRUTH[:, :5], FOUND), {"truth_distances": DISTANCES[:, :5].copy()}),
        (ValueError, "within without found_distances", (TRUTH, FOUND), {"within": 0.1}),
        (laneval.UnanswerableError, "found_distances without truth_distances", (TRUTH, FOUND), {"found_distances": FOUND_DISTANCES}),
        (laneval.UnanswerableError, "found has 2 rows, and truth 3: a row for each query was expected", (TRUTH, FOUND[:2]), {}),
        (laneval.UnanswerableError, r"truth_distances\[0\]: 1.0 follows 2.0 at rank 3: ascending", (TRUTH, FOUND), {"truth_distances": FALLING}),
        (laneval.UnanswerableError, "truth has empty places alone", (TRUTH * 0 - 1, FOUND), {}),
    ]:
        with pytest.raises(error, match=message):
            near(*arrays, **keywords)
    with pytest.raises(laneval.MeasureError, match="NNR@200: the truth has 6 neighbours a query"):
        laneval.evaluate_neighbours(TRUTH, FOUND, "NNR@200")
    with pytest.raises(laneval.UnanswerableError, match="AP: distances of found neighbours give values of NNR alone"):
        laneval.evaluate_neighbours(TRUTH, FOUND, "AP", truth_distances=DISTANCES, found_distances=FOUND_DISTANCES)

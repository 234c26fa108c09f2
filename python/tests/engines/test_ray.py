"""Ray Data gives the bits of one process, or says what is wrong."""

import os

import pytest

import laneval

pytest.importorskip("ray.data")
pa = pytest.importorskip("pyarrow")
import laneval.ray
import ray

from .cases import MEASURES, data, judgments, labels, results, run_examples, same, whole, whole_labels

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False, object_store_memory=200 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def blocks(table: pa.Table, rows: int):
    """A Dataset of blocks of `rows` rows."""
    return ray.data.from_arrow([table.slice(at, rows) for at in range(0, max(1, len(table)), rows)])


@pytest.fixture(scope="module")
def sets(cluster):
    qrels, run = data()
    return blocks(results(run), 1000), blocks(judgments(qrels), 333)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_bits_of_one_process(sets, partitions):
    qrels, run = data()
    same(laneval.ray.evaluate(*sets, MEASURES, partitions=partitions), whole(qrels, run))


def test_blocks_of_three_rows_and_partitions_without_anything():
    qrels, run = {"a": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}, {"c": {"d": 1.0, "e": 2.0}, "x": {"d": 1.0}, "y": {"d": 1.0}}
    sets = blocks(results(run), 3), blocks(judgments(qrels), 3)
    same(laneval.ray.evaluate(*sets, MEASURES, partitions=12, ties="worst"), whole(qrels, run, ties="worst"))


def test_several_runs_and_ids_of_two_types():
    qrels, run = {"7": {"1": 1, "3": 1}, "8": {"1": 2}}, {"7": {"1": 0.5, "2": 0.7}, "8": {"1": 0.1}}
    other = {"7": {"3": 1.0}}
    rows = [(int(q), int(d), s, name) for name, of in (("one", run), ("two", other)) for q, ds in of.items() for d, s in ds.items()]
    names = ["query_id", "doc_id", "score", "system"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    columns, sets = {"run": "system"}, (blocks(table, 2), blocks(judgments(qrels), 2))
    summary = laneval.ray.evaluate(*sets, MEASURES, columns=columns, partitions=2)
    same(summary, whole(qrels, run), "one")
    same(summary, whole(qrels, other), "two")


def test_comparisons(sets):
    qrels, run = data()
    scores = laneval.ray.scores(*sets, MEASURES, partitions=3)["run"]
    expected = whole(qrels, run, per_query=True, stats=[])
    assert dict(scores) == dict(expected)
    assert scores.per_query().to_dict() == expected.per_query().to_dict()
    assert scores.compare(expected, measures="AP").pairs[0].delta == 0.0


def test_values_of_queries(sets):
    qrels, run = data()
    rows = laneval.ray.per_query(*sets, MEASURES, partitions=3).take_all()
    expected = whole(qrels, run, per_query=True, stats=[]).per_query().to_dict()
    assert {row.pop("query_id"): row for row in rows} == expected


def test_rows_that_are_in_their_blocks_already(sets):
    qrels, run = data()
    rows = laneval.ray.tag_run(*sets)
    there = rows.repartition(3, keys=["query_id"])
    same(laneval.ray.evaluate_tagged(there, MEASURES, repartition=False), whole(qrels, run))
    with pytest.raises(laneval.ShardError, match="in more than one partition .*repartition=True"):
        laneval.ray.evaluate_tagged(rows, MEASURES, repartition=False)


def test_labels():
    rankings, relevant = labels()
    table = pa.table(
        {
            "query_id": [f"q{at:02}" for at in range(len(rankings))],
            "labels": pa.array([bytes(grade & 255 for grade in ranking) for ranking in rankings]),
            "relevant": relevant,
        }
    )
    rows = blocks(table, 3)
    same(laneval.ray.evaluate_labels(rows, MEASURES), whole_labels(rankings, relevant), "rankings")
    with pytest.raises(laneval.ShardError, match="counted twice"):
        laneval.ray.evaluate_labels(rows.union(rows), MEASURES)


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        ([("q", "d", None)], [("q", "d", 1)], "document 'd' of query 'q' has neither a score nor a grade"),
        ([("x", "d", 1.0)], [("q", "d", 1)], "no query of the qrels is in it"),
    ],
)
def test_wrong_rows(run, qrels, message):
    schema = [("query_id", pa.string()), ("doc_id", pa.string())]

    def table(rows, value):
        columns = list(zip(*rows, strict=True))
        return pa.table(list(map(pa.array, columns)), names=["query_id", "doc_id", value]).cast(
            pa.schema([*schema, (value, pa.float64())])
        )

    with pytest.raises(laneval.InputError, match=message):
        laneval.ray.evaluate(blocks(table(run, "score"), 3), blocks(table(qrels, "grade"), 3), MEASURES, partitions=2)


def test_what_is_refused_before_anything_runs(sets):
    with pytest.raises(laneval.UnanswerableError, match="a shuffle keeps neither the order"):
        laneval.ray.evaluate(*sets, ties="input")
    with pytest.raises(ValueError, match="there is no column `docs`"):
        laneval.ray.evaluate(*sets, columns={"doc": "docs"})


def test_the_examples_of_docstrings(cluster):
    assert run_examples(laneval.ray) > 20

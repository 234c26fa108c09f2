"""Tables of results and judgments mixed, and of labels a ranking, against the same in other forms."""

import math
import random

import pytest

import laneval

from .conftest import made

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
MEASURES = ["nDCG@10", "AP", "RR"]


def test_partitions_that_share_queries_are_named():
    """Whatever words their ids have."""
    from laneval import _distributed

    ids = ["a: in b", "x counted twice"]
    parts = [_distributed._queries(pa.array(ids)), _distributed._queries(pa.array(ids))]
    with pytest.raises(laneval.ShardError) as refused:
        _distributed._check(parts)
    said = str(refused.value)
    assert said.startswith("2 queries are in more than one partition (a: in b, x counted twice): all rows of a query"), said


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_partitions_without_a_shuffle_are_refused(engine):
    import importlib

    module = importlib.import_module(f"laneval.{engine}")
    with pytest.raises(TypeError, match="with repartition=False there is none"):
        module.evaluate_tagged(None, partitions=3, repartition=False)


def test_words_are_no_grades_of_columns():
    from laneval._distributed import PartitionTask

    with pytest.raises(TypeError, match="unknown keyword grade_words: on an engine there are queries, ties"):
        PartitionTask("RR", {"grade_words": {"E": 1}})


def test_scores_that_are_no_numbers_are_said_of_partitions():
    for run in ({"q": {"a": math.nan}}, {"q": {"b": 1.0, "a": math.nan}}):
        with pytest.raises(laneval.InputError, match="score NaN of document 'a' of query 'q' is not a number"):
            fed(tagged({"q": {"a": 1}}, run), 10)


def tagged(qrels, run, seed=1):
    rows = [(q, d, s, None) for q, of in run.items() for d, s in of.items()]
    rows += [(q, d, None, g) for q, of in qrels.items() for d, g in of.items()]
    random.Random(seed).shuffle(rows)
    columns = list(zip(*rows, strict=True))
    types = [pa.string(), pa.string(), pa.float64(), pa.int32()]
    arrays = [pa.array(column, of) for column, of in zip(columns, types, strict=True)]
    return pa.table(arrays, names=["query_id", "doc_id", "score", "grade"])


def fed(table, size, measures=MEASURES, **options):
    with laneval.RankingStream(measures, layout="tagged", **options) as stream:
        for at in range(0, len(table), size):
            stream.push(table.slice(at, size))
        return stream.finish()


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize("options", [{}, {"ties": "average"}, {"queries": "common"}])
def test_results_and_judgments_in_one_table(size, options):
    qrels, run = made(2)
    found = fed(tagged(qrels, run), size, **options).scores(["std", "max"])["run"]
    expected = laneval.evaluate(qrels, run, MEASURES, stats=["std", "max"], **options)
    assert found.stats == expected.stats
    assert (found.queries, found.missing.count, found.ignored.count) == (
        expected.queries,
        expected.missing.count,
        expected.ignored.count,
    )


@pytest.mark.parametrize("kind", ["string_view", "dictionary", "dictionary of views", "binary"])
def test_types_of_ids(kind):
    qrels, run = made(2)
    table = tagged(qrels, run)
    types = {
        "string_view": pa.string_view(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "dictionary of views": pa.dictionary(pa.uint32(), pa.string()),
        "binary": pa.binary(),
    }
    for at, name in enumerate(["query_id", "doc_id"]):
        column = table[name].combine_chunks().cast(types[kind])
        if kind == "dictionary of views":
            column = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string_view()))
        table = table.set_column(at, name, column)
    assert dict(fed(table, 100).scores()["run"]) == dict(laneval.evaluate(qrels, run, MEASURES))
    with laneval.RankingStream("RR", layout="tagged") as stream:
        stream.push(table)
        seen = stream._native.seen().cast(pa.string()).to_pylist()
    assert sorted(seen) == sorted({*qrels, *run})


def test_a_row_may_be_both():
    table = pa.table({"qid": [7, 7, 7], "docno": ["a", "b", "c"], "score": [2.0, 1.0, None], "rel": [None, 1, 2]})
    assert fed(table, 2, "RR").scores()["run"]["RR"] == 0.5
    assert fed(table, 2, "R@5").scores()["run"]["R@5"] == 0.5


def test_parts_that_lack_something_add_up():
    qrels, run = {"a": {"d": 1}, "b": {"d": 1}}, {"b": {"e": 2.0, "d": 1.0}, "x": {"d": 1.0}, "y": {"d": 1.0}}
    kinds = ({"a": qrels["a"]}, {"x": run["x"]}), ({"b": qrels["b"]}, {"b": run["b"]}), ({}, {"y": run["y"]})
    parts = [fed(tagged(*of), 10) for of in kinds]
    merged = laneval.Summary.merge(parts).scores()["run"]
    expected = laneval.evaluate(qrels, run, MEASURES)
    assert dict(merged) == dict(expected)
    assert (merged.missing.count, merged.ignored.count) == (1, 2)


def test_runs_by_a_column():
    qrels, run = made(2)
    other = {query: dict(list(of.items())[:9]) for query, of in list(run.items())[:12]}
    tables = [tagged(qrels if name == "one" else {}, of, 3).to_pylist() for name, of in (("one", run), ("two", other))]
    rows = [{**row, "system": name if row["grade"] is None else None} for name, of in zip(("one", "two"), tables, strict=True) for row in of]
    random.Random(5).shuffle(rows)
    table = pa.Table.from_pylist(rows)
    scores = fed(table, 50, columns={"run": "system"}, runs=["two", "one", "three"]).scores()
    expected = laneval.evaluate_runs(qrels, {"two": other, "one": run}, MEASURES)
    assert {name: dict(scores[name]) for name in expected} == expected.to_dict()
    assert scores["three"]["AP"] == 0.0
    with pytest.raises(laneval.InputError, match="the run 'two' of a result is not one of those named: 'one'"):
        fed(table, 50, columns={"run": "system"}, runs=["one"])


def labelled(labels, kind):
    if kind == "bytes":
        return pa.array([bytes(grade & 255 for grade in row) for row in labels], pa.binary())
    if kind == "large bytes":
        return pa.array([bytes(grade & 255 for grade in row) for row in labels], pa.large_binary())
    return pa.array(labels, {"list": pa.list_(pa.int16()), "large list": pa.large_list(pa.float32())}[kind])


@pytest.mark.parametrize("kind", ["bytes", "large bytes", "list", "large list"])
@pytest.mark.parametrize("ids", [pa.string(), pa.int64(), pa.dictionary(pa.int8(), pa.string())])
def test_labels_in_a_table(kind, ids):
    np = pytest.importorskip("numpy")
    labels = [[(query * 7 + rank * 3) % 4 - 1 for rank in range(query % 9)] for query in range(40)]
    names = pa.array([str(query) for query in range(40)]).cast(ids)
    table = pa.table({"query_id": names, "labels": labelled(labels, kind)})
    stream = laneval.RankingStream(MEASURES, layout="labels", grades=[0, 1, 2])
    for at in range(0, 40, 7):
        stream.push(table.slice(at, 7))
    summary = stream.finish()
    flat = np.array([grade for row in labels for grade in row], np.int8)
    expected = laneval.evaluate_labels(flat, MEASURES, offsets=np.cumsum([0, *map(len, labels)]))
    assert summary.scores()["rankings"] == dict(expected)
    with pytest.raises(laneval.ShardError, match=r"40 queries are counted twice \(0, 1, 10, 11, 12, …\)"):
        summary + summary


def test_what_layouts_refuse():
    row = {"query_id": ["q"], "doc_id": ["d"], "score": [1.0], "grade": pa.array([None], pa.int32())}

    def refused(kind, message, **changed):
        with pytest.raises(kind, match=message):
            fed(pa.table({**row, **changed}), 1)

    refused(laneval.InputError, "document 'd' of query 'q' has neither a score nor a grade", score=pa.array([None], pa.float64()))
    refused(laneval.InputError, "the id of a query is a null", query_id=pa.array([None], pa.string()))
    refused(laneval.InputError, "the id of a document is a null", doc_id=pa.array([None], pa.string()))
    refused(TypeError, "Utf8", score=pa.array(["high"]))
    with pytest.raises(ValueError, match="no column `grade` is the grade: there are query_id, doc_id, score"):
        fed(pa.table(row).drop_columns("grade"), 1)
    with pytest.raises(TypeError, match="a table with a stream of Arrow was expected"):
        laneval.RankingStream(layout="tagged").push([("q", "d", 1.0)])
    with pytest.raises(TypeError, match="columns names 'document': query, doc, score, grade, run were expected"):
        laneval.RankingStream(layout="tagged", columns={"document": "docno"})
    with pytest.raises(TypeError, match="qrels are for runs"):
        laneval.RankingStream(layout="tagged", qrels={"q": {"d": 1}})
    with pytest.raises(TypeError, match="runs are for the layout 'tagged'"):
        laneval.RankingStream(runs=["a"])
    with pytest.raises(laneval.UnanswerableError, match="^there are no runs$"):
        laneval.RankingStream(layout="tagged", runs=[])
    with pytest.raises(ValueError, match="'run', 'tagged' or 'labels' was expected"):
        laneval.RankingStream(layout="other")

    def labels(**columns):
        laneval.RankingStream(MEASURES, layout="labels").push(pa.table({"query_id": ["q", "r"], **columns}))

    two = [[1, 0], [0]]
    for columns, kind, message in (
        ({}, ValueError, "no column `labels` is the labels"),
        ({"labels": [[1], None]}, laneval.InputError, "the labels of a query are a null"),
        ({"labels": [[1, None], [0]]}, laneval.InputError, "labels have a null"),
        ({"labels": ["1", "0"]}, TypeError, "labels are of type string: bytes, or lists of numbers"),
        ({"labels": two, "judged": [[1, 2], [1]]}, laneval.InputError, "lists of different lengths"),
        ({"labels": two, "relevant": [1, None]}, laneval.InputError, "relevant has a null"),
    ):
        with pytest.raises(kind, match=message):
            labels(**columns)


def test_many_parts_are_merged_in_pairs_and_to_the_bit():
    parts = []
    for at in range(23):
        qrels, run = made(at, queries=3)
        renamed = lambda of, at=at: {f"{at}-{query}": docs for query, docs in of.items()}
        parts.append((renamed(qrels), renamed(run)))
    qrels, run = ({q: of for part in parts for q, of in part[at].items()} for at in (0, 1))
    summaries = [laneval.Summary.evaluate(*[of[0], {"run": of[1]}], MEASURES) for of in parts]
    for order in (summaries, summaries[::-1]):
        merged = laneval.Summary.merge(part.to_bytes() for part in order)
        assert dict(merged.scores()["run"]) == dict(laneval.evaluate(qrels, run, MEASURES))
    assert laneval.Summary.merge(summaries) == laneval.Summary.merge(summaries[::-1])
    with pytest.raises(laneval.ShardError, match="counted twice"):
        laneval.Summary.merge([*summaries, summaries[5]])
    with pytest.raises(ValueError, match="no summaries"):
        laneval.Summary.merge([])


def test_the_average_over_no_queries_is_nan() -> None:
    scores = laneval.RankingStream("AP", layout="tagged").finish().scores()["run"]
    assert math.isnan(scores["AP"])
    assert repr(scores).startswith("<run: AP: nan; 0 queries")

"""Streams and summaries: the parts add up to the whole, to the bit."""

import pickle

import pytest

import laneval

from .conftest import made

pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
MEASURES = ["nDCG@10", "AP", "RR"]


def batches(run, size):
    rows = [(q, d, s) for q, of in run.items() for d, s in of.items()]
    return [rows[at : at + size] for at in range(0, len(rows), size)]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("order", ["grouped", "any"])
def test_a_run_in_batches(size, order):
    qrels, run = made(2)
    rows = batches(run, size)
    if order == "any":
        rows = rows[::2] + rows[1::2]
    with laneval.RankingStream(MEASURES, qrels=qrels, order=order) as stream:
        for batch in rows:
            stream.push(batch)
        summary = stream.finish()
    assert summary.scores()["run"] == dict(laneval.evaluate(qrels, run, MEASURES))


def test_tables_in_batches():
    pa = pytest.importorskip("pyarrow")
    qrels, run = made(2)
    rows = batches(run, 100_000)[0]
    table = pa.table({"qid": [r[0] for r in rows], "docno": [r[1] for r in rows], "score": [r[2] for r in rows]})
    for order in ("grouped", "any"):
        stream = laneval.RankingStream(MEASURES, qrels=qrels, order=order)
        for at in range(0, len(table), 33):
            stream.push(table.slice(at, 33))
        assert stream.finish().scores()["run"] == dict(laneval.evaluate(qrels, run, MEASURES))


def test_labels_in_batches():
    np = pytest.importorskip("numpy")
    labels = np.random.default_rng(1).integers(0, 3, (50, 9)).astype(np.uint8)
    stream = laneval.RankingStream(MEASURES, grades=[0, 1, 2])
    for at in range(0, 50, 20):
        stream.push(labels[at : at + 20])
    assert stream.finish().scores(["max"])["rankings"] == laneval.evaluate_labels(labels, MEASURES, stats=["max"])


def test_what_streams_refuse():
    qrels, run = made(2)
    stream = laneval.RankingStream(qrels=qrels)
    rows = batches(run, 10)
    with pytest.raises(laneval.InputError, match="comes back"):
        for batch in [*rows, rows[0], rows[-1]]:
            stream.push(batch)
    with pytest.raises(laneval.UnanswerableError, match="the stream has ended"):
        stream.push(rows[0])
    with pytest.raises(laneval.UnanswerableError, match="the stream has ended"):
        stream.finish()
    with pytest.raises(ValueError, match="'grouped' or 'any' was expected"):
        laneval.RankingStream(qrels=qrels, order="some")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"stats": ["median"]}, "stats: median"),
        ({"stats": "ci95"}, "stats: ci95"),
        ({"stats": ("std", "median")}, "stats: median"),
        ({"per_query": True}, "per_query=True"),
    ],
)
@pytest.mark.parametrize("made_by", ["stream", "labels", "summary", "matrix"])
def test_what_needs_the_values_of_all_queries_is_refused(options, what, made_by):
    qrels, run = made(2)
    make = {
        "stream": lambda: laneval.RankingStream(MEASURES, qrels=qrels, **options),
        "labels": lambda: laneval.RankingStream(MEASURES, layout="labels", **options),
        "summary": lambda: laneval.Summary.evaluate(qrels, {"mine": run}, MEASURES, **options),
        "matrix": lambda: laneval.Matrix.build(qrels, {"mine": run}).summary(MEASURES, **options),
    }
    with pytest.raises(laneval.OptionError) as raised:
        make[made_by]()
    message = f"{what} needs the values of all queries, which a summary does not have: take "
    assert str(raised.value).startswith(message) and "`evaluate`" in str(raised.value)


def test_statistics_that_a_summary_has_are_taken():
    qrels, run = made(2)
    plain = laneval.Summary.evaluate(qrels, {"mine": run}, "AP")
    for stats in (["std", "min"], "max", ["mean"], iter(["std"]), ()):
        assert laneval.Summary.evaluate(qrels, {"mine": run}, "AP", stats=stats, per_query=False) == plain
    with pytest.raises(laneval.OptionError, match="`mode` is not a statistic"):
        laneval.Summary.evaluate(qrels, {"mine": run}, "AP", stats=["mode"])
    with pytest.raises(laneval.OptionError, match="stats: median"):
        laneval.Summary.evaluate(qrels, {"mine": run}, "AP", stats=iter(["median"]))


def test_summaries_add_up():
    qrels, run = made(2)
    whole = laneval.Summary.evaluate(qrels, {"mine": run}, MEASURES)
    queries = sorted(qrels)
    parts = []
    for at in range(3):
        of = queries[at::3]
        judged = {q: qrels[q] for q in of}
        parts.append(laneval.Summary.evaluate(judged, {"mine": {q: run[q] for q in of if q in run}}, MEASURES))
    merged = laneval.Summary.merge([parts[2], parts[0].to_bytes(), parts[1]])
    assert merged.scores()["mine"] == whole.scores()["mine"] == dict(laneval.evaluate(qrels, run, MEASURES))
    assert parts[0] + parts[1] + parts[2] == parts[2] + parts[1] + parts[0]
    assert pickle.loads(pickle.dumps(merged)) == merged
    with pytest.raises(laneval.ShardError, match="counted twice"):
        whole + parts[0]
    with pytest.raises(laneval.ShardError):
        laneval.Summary.from_bytes(whole.to_bytes()[:-3])


def test_queries_that_no_part_had():
    qrels, run = made(2)
    some = {q: qrels[q] for q in qrels if q in run}
    summary = laneval.Summary.evaluate(some, {"run": run}, MEASURES).with_missing(qrels)
    assert summary.scores()["run"] == dict(laneval.evaluate(qrels, run, MEASURES))

"""Judgments of chunks, made of passages by their positions."""

import pathlib

import pytest

import laneval

GOLD = [("q", "d1", 10, 30, 1), ("q", "d1", 50, 60, 2), ("q", "d2", 0, 20)]
CHUNKS = [("c0", "d1", 0, 20), ("c1", "d1", 20, 40), ("c2", "d1", 40, 60), ("c3", "d2", 0, 25)]
RUN = {"q": {"c0": 5.0, "c1": 4.0, "c9": 3.0, "c3": 2.0, "c2": 1.0}}


def sources(folder: pathlib.Path) -> list[tuple[object, object]]:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    gold = {"query_id": ["q"] * 3, "doc_id": ["d1", "d1", "d2"], "start": [10, 50, 0], "end": [30, 60, 20], "grade": [1, 2, 1]}
    names = ("chunk_id", "doc", "start_index", "end_index")
    chunks = {name: [chunk[at] for chunk in CHUNKS] for at, name in enumerate(names)}
    (folder / "gold.csv").write_text("query,doc,start,end,grade\n" + "".join(f"{','.join(map(str, (*of, 1)[:5]))}\n" for of in GOLD))
    (folder / "chunks.tsv").write_text("chunk\tdoc\tstart\tend\n" + "".join("\t".join(map(str, of)) + "\n" for of in CHUNKS))
    records = [dict(zip(("query", "doc", "begin", "stop"), of, strict=False), rel=(*of, 1)[4]) for of in GOLD]
    return [
        (GOLD, CHUNKS),
        (records, [dict(zip(names, of, strict=True)) for of in CHUNKS]),
        (gold, chunks),
        (pandas.DataFrame(gold), pandas.DataFrame(chunks)),
        (polars.DataFrame(gold), polars.DataFrame(chunks)),
        (pyarrow.table(gold), pyarrow.table(chunks)),
        (folder / "gold.csv", str(folder / "chunks.tsv")),
    ]


def test_chunks_have_the_grades_of_passages(tmp_path: pathlib.Path) -> None:
    for gold, chunks in sources(tmp_path):
        plain = laneval.chunk_qrels(gold, chunks)
        scores = laneval.evaluate(plain, RUN, ["nDCG@5", "AP", "R@2"])
        assert scores["nDCG@5"] == pytest.approx(0.796076735613, abs=1e-12)
        assert (scores["AP"], scores["R@2"]) == (71 / 80, 1 / 2)
        assert plain.grades == [1.0, 2.0]
        spans = laneval.chunk_qrels(gold, chunks, facet="subtopic")
        found = laneval.evaluate(spans, RUN, ["StRecall@1", "StRecall@4", "alpha_nDCG@5"])
        assert (found["StRecall@1"], found["StRecall@4"]) == (1 / 3, 2 / 3)
        assert found["alpha_nDCG@5"] == pytest.approx(0.909100841187, abs=1e-12)
    whole = laneval.chunk_qrels(GOLD, CHUNKS, min_overlap=1.0)
    assert laneval.evaluate(whole, RUN, "NumRel")["NumRel"] == 2


def test_what_is_wrong_is_said() -> None:
    for gold, chunks, kind, said in [
        ([("q", "d", 30, 10)], CHUNKS, laneval.InputError, "gold:1: the span of 'd' ends at 10, before its start at 30"),
        ([("q", "d", -4, 10)], CHUNKS, laneval.InputError, "gold:1: start '-4' is not a position: a whole number from 0 was expected"),
        ([("q", "d", 1, 1)], CHUNKS, laneval.InputError, "gold:1: the span of 'd' from 1 to 1 is empty"),
        ([("q", "d", 1, 2, float("nan"))], CHUNKS, laneval.InputError, "gold:1: grade NaN of document 'd' of query 'q' is not a number"),
        ([], CHUNKS, laneval.InputError, "gold: there is no row in it"),
        (GOLD, [("c", "d1", 0, 5), ("c", "d1", 0, 6)], laneval.InputError, "chunks:2: chunk 'c' is there again with another span, first on line 1"),
        (GOLD, [("c", "x", 0, 5)], laneval.UnanswerableError, "chunks: has none of the documents of gold ('d1', 'd2' there, 'x' here)"),
        ([("q", "d")], CHUNKS, ValueError, "gold, row 1 has 2 fields: 4 or 5 were expected"),
        (["qd12"], CHUNKS, TypeError, "a tuple or a dict was expected"),
        ({"query": ["q"]}, CHUNKS, ValueError, "gold: none of doc_id,"),
    ]:
        with pytest.raises(kind) as error:
            laneval.chunk_qrels(gold, chunks)  # type: ignore[arg-type]
        assert said in str(error.value)
    with pytest.raises(laneval.UnanswerableError, match="a share of 0 is none"):
        laneval.chunk_qrels(GOLD, CHUNKS, min_overlap=0)
    with pytest.raises(ValueError, match="'subtopic' or None was expected"):
        laneval.chunk_qrels(GOLD, CHUNKS, facet="span")  # type: ignore[arg-type]

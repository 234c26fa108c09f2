"""Lists of documents in records, tables and dicts, named tuples, and files of platforms."""

from __future__ import annotations

import collections
import json
import re
from pathlib import Path
from typing import Any

import pytest

import laneval

DATA = Path(__file__).parent / "../../examples/data"
PLATFORMS = Path(__file__).parent / "../../tests/fixtures/platforms"
MEASURES = ["nDCG@3", "RR", "R@3"]


@pytest.fixture
def records() -> list[dict]:
    """The records that Ragas wrote."""
    return [json.loads(line) for line in (DATA / "rag-dense.jsonl").read_text().splitlines()]


def expected(records: list[dict]) -> dict[str, float]:
    """The values of the same judgments and results as dicts of dicts."""
    qrels = {of["user_input"]: {doc: 1 for doc in of["reference_context_ids"]} for of in records}
    run = {of["user_input"]: {doc: -rank for rank, doc in enumerate(of["retrieved_context_ids"])} for of in records}
    return laneval.evaluate(qrels, run, MEASURES)


def test_records_of_lists_are_judgments_and_run(records: list[dict]) -> None:
    path = str(DATA / "rag-dense.jsonl")
    assert laneval.evaluate(path, path, MEASURES) == expected(records)
    assert laneval.evaluate(records, records, MEASURES) == expected(records)
    assert laneval.evaluate(iter(records), tuple(records), MEASURES) == expected(records)


def test_tables_of_lists_are_read(records: list[dict]) -> None:
    columns = {key: [of[key] for of in records] for key in records[0]}
    assert laneval.evaluate(columns, columns, MEASURES) == expected(records)
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)):
        assert laneval.evaluate(table, table, MEASURES) == expected(records), type(table)


def test_files_of_tables_may_have_lists(records: list[dict], tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {key: [of[key] for of in records] for key in records[0]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "rag.parquet")
    assert laneval.evaluate(tmp_path / "rag.parquet", tmp_path / "rag.parquet", MEASURES) == expected(records)


def test_files_of_tables_may_have_lists_of_records(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    judged = {"query_id": ["q1", "q2"], "qrels": [[{"corpus_id": "a", "score": 2}, {"corpus_id": "b", "score": 0}], [{"corpus_id": "c", "score": 1}]]}
    found = {"query_id": ["q1", "q2"], "candidates": [[{"doc_id": "a", "score": 0.9}, {"doc_id": "b", "score": 0.5}], [{"doc_id": "x", "score": 1.0}]]}
    for name, columns in (("judged", judged), ("found", found)):
        parquet.write_table(pyarrow.table(columns), tmp_path / f"{name}.parquet")
    qrels, run = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}, {"q1": {"b": 0.5, "a": 0.9}, "q2": {"x": 1.0}}
    of_dicts = laneval.evaluate(qrels, run, MEASURES)
    assert laneval.evaluate(tmp_path / "judged.parquet", tmp_path / "found.parquet", MEASURES) == of_dicts
    assert laneval.evaluate(pyarrow.table(judged), pyarrow.table(found), MEASURES) == of_dicts


def test_a_folder_of_files_is_one_table(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    labels = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "c"], "label": ["E", "I", "S"]}
    results = {"query_id": ["q1", "q1", "q2"], "doc_id": ["b", "a", "x"], "score": [0.5, 0.9, 1.0]}
    for name, columns in (("judged", labels), ("found", results)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_SUCCESS").touch()
        table = pyarrow.table(columns)
        for part in range(2):
            parquet.write_table(table.slice(2 * part, 2), tmp_path / name / f"part-0000{part}.snappy.parquet")
    qrels, run = {"q1": {"a": 3, "b": 0}, "q2": {"c": 2}}, {"q1": {"b": 0.5, "a": 0.9}, "q2": {"x": 1.0}}
    judged = laneval.Qrels(tmp_path / "judged", grade_words={"E": 3, "S": 2, "I": 0})
    assert laneval.evaluate(judged, tmp_path / "found", MEASURES) == laneval.evaluate(qrels, run, MEASURES)
    with pytest.raises(laneval.InputError, match=r"part-00000\.snappy\.parquet: row 1: grade 'E' is not a number \(`grade_words=\{\"E\": …\}` gives words grades\)"):
        laneval.Qrels(str(tmp_path / "judged"))


def test_scores_stand_beside_lists() -> None:
    columns = {"query": ["q1", "q2"], "docs": [["a", "b"], ["a"]], "scores": [[1.0, 2.0], [3.0]]}
    names = {"doc": "docs", "score": "scores"}
    qrels = {"q1": {"b": 1}, "q2": {"a": 1}}
    assert laneval.evaluate(qrels, columns, "RR", columns=names)["RR"] == 1.0
    ranked = {"doc": "docs", "score": "-"}
    assert laneval.evaluate(qrels, columns, "RR", columns=ranked)["RR"] == 0.75
    wrong = {**columns, "scores": [[1.0, 2.0], []]}
    with pytest.raises(laneval.InputError, match="2: 1 id and 0 scores: a score for each id was expected"):
        laneval.evaluate(qrels, wrong, "RR", columns=names)


def test_what_is_wrong_with_lists_is_said() -> None:
    qrels = {"q": {"a": 1}}
    twice = [{"query": "q", "retrieved_ids": ["a"]}, {"query": "q", "retrieved_ids": ["b"]}]
    with pytest.raises(laneval.InputError, match="2: query 'q' has a list already"):
        laneval.evaluate(qrels, twice, "RR")
    none = [{"query": "q", "retrieved_ids": ["a"]}, {"query": "r", "retrieved_ids": None}]
    with pytest.raises(laneval.InputError, match="2: 'retrieved_ids' is None: a list was expected"):
        laneval.evaluate(qrels, none, "RR")
    texts = [{"user_input": "q", "retrieved_contexts": ["A text."]}]
    with pytest.raises(ValueError, match=r"has texts \(retrieved_contexts\) and no ids: retrieved_context_ids was expected"):
        laneval.evaluate(qrels, texts, "RR")
    with pytest.raises(ValueError, match=r"has texts \(retrieved_contexts\) and no ids"):
        laneval.evaluate(qrels, {"user_input": ["q"], "retrieved_contexts": [["A text."]]}, "RR")
    with pytest.raises(laneval.InputError, match="column query has 1 rows, and retrieved_ids has 2 rows"):
        laneval.evaluate(qrels, {"query": ["q"], "retrieved_ids": [["a"], ["b"]]}, "RR")
    # A dict of lists with the name of a column is a table, and not one of queries.
    for columns in ({"query_id": ["q"], "text": ["a"]}, {"query_id": ["q"], "text": [("a", 1.0)]}):
        with pytest.raises(ValueError, match="run: no column is the doc: there are 'query_id', 'text', and doc_id"):
            laneval.evaluate(qrels, columns, "RR")


UNGRADED = "without grades: each document has grade 1$"


@pytest.mark.parametrize("make", [list, tuple, set, frozenset])
def test_a_query_has_a_list_or_a_set_of_relevant_documents(make: Any) -> None:
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
    assert laneval.evaluate({"q1": make(["a"]), "q2": make(["c", "d"])}, run, "RR")["RR"] == 0.75
    graded = {"q1": make([("a", 2), ("b", 0)]), "q2": make([("c", 1)])}
    assert laneval.Qrels(graded).fingerprint == laneval.Qrels({"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}).fingerprint
    with pytest.warns(laneval.LanevalWarning) as caught:
        qrels = laneval.Qrels({"q1": make(["a"]), "q2": make([]), "q3": {}})
    assert qrels.queries == ["q1", "q2"]
    assert [str(warning.message) for warning in caught] == [
        "qrels: 1 query has an empty list (q2): it is judged, and no document is relevant to it",
        "qrels: 1 query has no documents (q3): it does not count; to count as 0, a query needs a document, with grade 0",
    ]


def test_a_list_of_documents_is_a_ranking() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    text = b'{"q1": ["c", "a"], "q2": ["b"], "q3": []}'
    runs: list[Any] = [
        text,
        {"q1": ["c", "a"], "q2": ("b",), "q3": set()},
        {"q1": ["c", "a"], "q2": ["b"], "q3": []},
        {"q1": [("c", 0.5), ["a", 0.25]], "q2": {("b", 1)}, "q3": []},
    ]
    for run in runs:
        values = laneval.evaluate(qrels, run, ["RR", "NumRet"], per_query=True).per_query().to_dict()
        assert values == {"q1": {"RR": 0.5, "NumRet": 2.0}, "q2": {"RR": 1.0, "NumRet": 1.0}}, run


def test_judgments_without_grades_are_asked_for(tmp_path: Path) -> None:
    columns = {"qid": ["q1", "q2"], "pid": ["a", "c"], "split": ["dev", "dev"]}
    path = tmp_path / "qrels.tsv"
    path.write_text("qid\tpid\tsplit\nq1\ta\tdev\nq2\tc\tdev\n")
    expected = laneval.Qrels({"q1": {"a": 1}, "q2": {"c": 1}}).fingerprint
    records = [dict(zip(columns, row)) for row in zip(*columns.values())]
    sources: list[Any] = [path, columns, records]
    for name, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        sources.append(getattr(pytest.importorskip(name), make)(columns))
    for source in sources:
        with pytest.warns(laneval.LanevalWarning, match=UNGRADED):
            assert laneval.Qrels(source, columns={"grade": None}).fingerprint == expected
        with pytest.raises(ValueError, match="None"):
            laneval.Qrels(source)


def table_of(kind: str, columns: dict[str, list[object]]) -> Any:
    if kind == "columns":
        return columns
    if kind == "records":
        return [dict(zip(columns, row)) for row in zip(*columns.values())]
    library = pytest.importorskip(kind)
    return library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)


@pytest.mark.parametrize("kind", ["columns", "records", "pyarrow", "polars", "pandas"])
def test_what_is_wrong_in_a_list_is_told_by_its_row(kind: str) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = table_of(kind, {"query": ["q1", "q2"], "retrieved_ids": [["a", "b"], ["b", "c", "b"]]})
    with pytest.raises(laneval.InputError, match="run:2: docno 'b' occurs again for query 'q2', first on line 2"):
        laneval.evaluate(qrels, run, "RR")
    scores = table_of(kind, {"query": ["q1", "q2"], "retrieved_ids": [["a", "b"], ["b", "c"]], "score": [[2.0, 1.0], [1.0, float("nan")]]})
    # pandas makes a null of what is not a number.
    with pytest.raises(laneval.InputError, match="run:2: .*(NaN|nan|a null)"):
        laneval.evaluate(qrels, scores, "RR")
    judged = table_of(kind, {"query": ["q1", "q2"], "expected_ids": [["a", "b"], ["c", "c"]]})
    with pytest.warns(laneval.LanevalWarning, match="1 judgment is repeated with the same grade, and counts once"):
        laneval.Qrels(judged)


def test_rows_without_a_grade_are_told(tmp_path: Path) -> None:
    path = tmp_path / "quepid.csv"
    path.write_text("query,docid,rating\nq1,a,1\nq2,,\nq3,c,\n")
    with pytest.warns(laneval.LanevalWarning, match=r"quepid\.csv: 2 rows without a grade were skipped") as caught:
        laneval.Qrels(path)
        assert laneval.evaluate(path, {"q1": {"a": 1.0}}, "RR")["RR"] == 1.0
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_named_tuples_are_read_by_their_names() -> None:
    # The fields of ir_datasets' TrecQrel and TrecSubQrel.
    qrel = collections.namedtuple("TrecQrel", "query_id doc_id relevance iteration")
    scored = collections.namedtuple("GenericScoredDoc", "query_id doc_id score")
    qrels = [qrel("q1", "a", 2, "0"), qrel("q1", "b", 0, "Q0"), qrel("q2", "b", 1, "0")]
    run = [scored("q1", "b", 2.0), scored("q1", "a", 1.0), scored("q2", "b", 0.5)]
    assert laneval.evaluate(qrels, run, "RR")["RR"] == 0.75
    subtopic = collections.namedtuple("TrecSubQrel", "query_id doc_id relevance subtopic_id")
    judged = [subtopic("q1", "a", 1, "s1"), subtopic("q1", "b", 1, "s2")]
    rows = [("q1", "s1", "a", 1), ("q1", "s2", "b", 1)]
    measure, run = "StRecall@1", run[:2]
    assert laneval.evaluate(judged, run, measure) == laneval.evaluate(rows, run, measure) == {measure: 0.5}
    with pytest.raises(laneval.InputError, match=r"\(query, document, grade\) was expected"):
        laneval.evaluate([("q1", "a", 2, "0")], run, "RR")


def test_a_subset_of_predictions_is_named() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    predictions = PLATFORMS / "mteb_predictions.json"
    with pytest.raises(laneval.InputError, match="has the subsets de/test and en/test: say which with subset="):
        laneval.evaluate(qrels, predictions, "RR")
    assert laneval.evaluate(qrels, predictions, "RR", subset="en/test")["RR"] == 0.75
    with pytest.warns(laneval.MissingQueriesWarning):
        scores = laneval.evaluate_runs(qrels, [predictions], "RR", subset="de/test")
    assert scores["mteb_predictions.json"]["RR"] == 0.5


def test_files_of_platforms_are_read() -> None:
    with pytest.warns(laneval.LanevalWarning, match=r"has no documents \(q2\)"):
        qrels = laneval.Qrels(PLATFORMS / "rank_eval_request.json")
    assert qrels.queries == ["q1"]
    assert laneval.evaluate(qrels, PLATFORMS / "rank_eval_response.json", "RR")["RR"] == 0.5


SAID = r"has no documents \(q2\): it does not count; to count as 0, a query needs a document, with grade 0$"

EMPTY = r"has an empty list \(q2\): it is judged, and no document is relevant to it$"

BARE = [{"query_id": "q1", "expected_ids": ["a"]}, {"query_id": "q2", "expected_ids": []}]


def test_queries_without_documents_are_told() -> None:
    run = {"q1": {"a": 1.0}}
    text = json.dumps({"q1": {"a": 1}, "q2": {}}).encode()
    columns = {key: [of[key] for of in BARE] for key in BARE[0]}
    for qrels, said, value in [({"q1": {"a": 1}, "q2": {}}, SAID, 1.0), (BARE, EMPTY, 0.5), (columns, EMPTY, 0.5), (text, SAID, 1.0)]:
        with pytest.warns(laneval.LanevalWarning) as caught:
            scores = laneval.evaluate(qrels, run, "RR")
        assert any(re.search(f"qrels: 1 query {said}", str(warning.message)) for warning in caught)
        assert scores["RR"] == value
    judges = {"q1": {"a": {"ann": 1}}, "q2": {}}
    with pytest.warns(laneval.LanevalWarning, match=SAID):
        laneval.Qrels(judges, facet="judge")


@pytest.mark.parametrize(("name", "make"), [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")])
def test_queries_without_documents_are_told_of_tables(name: str, make: str) -> None:
    library = pytest.importorskip(name)
    table = getattr(library, make)({key: [of[key] for of in BARE] for key in BARE[0]})
    with pytest.warns(laneval.LanevalWarning) as caught:
        scores = laneval.evaluate(table, {"q1": {"a": 1.0}}, "RR")
    assert any(re.search(f"qrels: 1 query {EMPTY}", str(warning.message)) for warning in caught)
    assert scores["RR"] == 0.5


def test_a_query_of_two_records_has_the_documents_of_both(recwarn: pytest.WarningsRecorder) -> None:
    records = [{"query_id": "q1", "expected_ids": []}, {"query_id": "q1", "expected_ids": ["a"]}]
    laneval.evaluate(records, {"q1": {"a": 1.0}}, "RR")
    laneval.evaluate({"q1": {"a": 1}}, {"q1": {}}, "RR")
    assert not [of for of in recwarn if "no documents" in str(of.message)]

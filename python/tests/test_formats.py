"""Files in every format, as paths and as bytes, beside the same rows as dicts."""

from pathlib import Path

import pytest

import laneval

SAMPLES = Path(__file__).parents[2] / "examples" / "data" / "formats"
QRELS = {"PLAIN-1": {"MED-10": 2, "MED-11": 1, "MED-12": 0}, "PLAIN-2": {"MED-20": 1, "MED-21": 0}}
RUN = {"PLAIN-1": {"MED-12": 9.5, "MED-10": 8.25, "MED-11": 7.0}, "PLAIN-2": {"MED-21": 3.5, "MED-20": 1.25}}
MEASURES = ["nDCG@10", "AP", "RR"]

QRELS_FILES = ["qrels.trec", "qrels.tsv", "qrels.csv", "qrels.json", "qrels.jsonl", "qrels.parquet", "qrels.arrow", "judged.letor"]
RUN_FILES = ["run.trec", "untagged.trec", "run.tsv", "run.csv", "msmarco.tsv", "run.json", "run.jsonl", "run.parquet", "run.arrow"]


@pytest.mark.parametrize(
    ("qrels", "run"), [(name, "run.trec") for name in QRELS_FILES] + [("qrels.trec", name) for name in RUN_FILES]
)
def test_every_file_has_the_bits_of_dicts(qrels: str, run: str) -> None:
    ours = laneval.evaluate(QRELS, RUN, MEASURES)
    assert dict(laneval.evaluate(SAMPLES / qrels, SAMPLES / run, MEASURES)) == dict(ours)
    assert dict(laneval.evaluate((SAMPLES / qrels).read_bytes(), (SAMPLES / run).read_bytes(), MEASURES)) == dict(ours)
    matrix = laneval.Matrix.build(SAMPLES / qrels, {"mine": SAMPLES / run})
    assert dict(matrix.evaluate(MEASURES)["mine"]) == dict(ours)


def test_matrices_and_scores_go_with_their_judgments() -> None:
    ours = laneval.evaluate(QRELS, RUN, MEASURES)
    assert dict(laneval.evaluate(SAMPLES / "labels.npy", SAMPLES / "scores.npy", MEASURES)) == dict(ours)
    assert dict(laneval.evaluate(SAMPLES / "judged.letor", SAMPLES / "scores.txt", MEASURES)) == dict(ours)


def test_columns_and_formats_are_said(tmp_path: Path) -> None:
    named = tmp_path / "named.csv"
    named.write_text("who,what,how\nPLAIN-1,MED-10,0.5\nPLAIN-1,MED-12,0.75\n")
    judged = tmp_path / "judged.tsv"
    judged.write_text("who\twhat\thow\nPLAIN-1\tMED-10\t1\n")
    columns = {"query": "who", "doc": "what", "score": "how", "grade": "how"}
    assert laneval.evaluate(judged, named, "RR", columns=columns)["RR"] == 0.5
    assert laneval.evaluate(laneval.Qrels(judged, columns=columns), named, "RR", columns=columns)["RR"] == 0.5
    ranks = tmp_path / "ranks.txt"
    ranks.write_text("PLAIN-1\tMED-10\t7\nPLAIN-1\tMED-12\t2\n")
    with pytest.raises(laneval.InputError, match="rank 1 was expected"):
        laneval.evaluate(QRELS, ranks, "RR")
    assert laneval.evaluate(QRELS, ranks, "RR", run_format="msmarco", queries="common")["RR"] == 0.5
    with pytest.raises(laneval.InputError, match="'{' was expected"):
        laneval.evaluate(SAMPLES / "qrels.trec", RUN, "RR", qrels_format="json")
    with pytest.raises(laneval.InputError, match="'{' was expected"):
        laneval.Qrels(SAMPLES / "qrels.trec", qrels_format="json")
    with pytest.raises(ValueError, match="run_format is 'xml': trec, tsv"):
        laneval.evaluate(QRELS, ranks, "RR", run_format="xml")  # type: ignore[arg-type]


def test_errors_name_keywords(tmp_path: Path) -> None:
    def said(run: str, **options: object) -> str:
        path = tmp_path / "it.tsv"
        path.write_text(run)
        with pytest.raises(laneval.InputError) as refused:
            laneval.evaluate(QRELS, path, "RR", **options)  # type: ignore[arg-type]
        assert "--" not in str(refused.value)
        return str(refused.value)

    assert 'columns={"doc": "NAME"}' in said("qid\tx\tscore\nPLAIN-1\tMED-10\t1\n")
    assert 'columns={"query": "NAME", "doc": "NAME", "score": "NAME"}' in said("a\tb\tc\nPLAIN-1\tMED-10\t1\n")
    assert 'columns={"query": "NAME", "doc": "NAME", "score": "NAME"}' in said('{"a": 1}\n')
    three = said("PLAIN-1\tMED-10\t0.5\n")
    assert 'run_format="msmarco"' in three and 'columns=["query", "doc", "score"]' in three
    late = "".join(f"PLAIN-1\tMED-{rank}\t{rank}\n" for rank in [*range(1, 40), 50])
    assert 'run_format="msmarco"' in said(late)
    assert 'columns=["query", None, "doc", "score"]' in said("PLAIN-1\tx y\tMED-10\t0.5\n")
    assert 'columns=["query", "doc", "rank", "score"]' in said("PLAIN-1\tMED-10\t1\t0.5\n")
    judged = tmp_path / "judged.txt"
    judged.write_text("1 1:0.5\n0 1:0.25\n")
    with pytest.raises(laneval.InputError, match="`letor_groups=FILE` names a file"):
        laneval.Qrels(judged)


def test_columns_in_their_order(tmp_path: Path) -> None:
    scored, judged = tmp_path / "scored.tsv", tmp_path / "judged.tsv"
    scored.write_text("PLAIN-1\tx\tMED-10\t0.5\nPLAIN-1\tx\tMED-12\t0.75\n")
    judged.write_text("1\tMED-10\tPLAIN-1\n")
    for unread in (None, "-"):
        found = laneval.evaluate(QRELS, scored, "RR", columns=["query", unread, "doc", "score"], queries="common")
        assert found["RR"] == 0.5
    qrels = laneval.Qrels(judged, columns=("grade", "doc", "query"))
    assert qrels.queries == ["PLAIN-1"]
    for columns, message in [
        (["query", "score"], "the doc is missing"),
        (["query", "doc", "score", "score"], "score occurs twice"),
    ]:
        with pytest.raises(ValueError, match=message):
            laneval.evaluate(QRELS, scored, "RR", columns=columns)  # type: ignore[arg-type]
    for wrong in ("query,doc,score", ["query", "dok", "score"]):
        with pytest.raises(TypeError, match="expected"):
            laneval.evaluate(QRELS, scored, "RR", columns=wrong)  # type: ignore[arg-type]


def test_groups_of_letor(tmp_path: Path) -> None:
    (tmp_path / "sizes").write_text("3\n2\n")
    labels = tmp_path / "labels.txt"
    labels.write_bytes((SAMPLES / "lightgbm.txt").read_bytes())
    ours = laneval.evaluate(SAMPLES / "lightgbm.txt", SAMPLES / "scores.txt", MEASURES)
    by_groups = laneval.evaluate(labels, SAMPLES / "scores.txt", MEASURES, letor_groups=tmp_path / "sizes")
    assert dict(by_groups) == dict(ours)
    qrels = laneval.Qrels(labels, letor_groups=str(tmp_path / "sizes"))
    assert dict(laneval.evaluate(qrels, SAMPLES / "scores.txt", MEASURES)) == dict(ours)
    runs = laneval.evaluate_runs(labels, {"m": SAMPLES / "scores.txt"}, MEASURES, letor_groups=tmp_path / "sizes")
    assert dict(runs["m"]) == dict(ours)
    matrix = laneval.Matrix.build(labels, {"m": SAMPLES / "scores.txt"}, letor_groups=tmp_path / "sizes")
    assert dict(matrix.evaluate(MEASURES)["m"]) == dict(ours)
    with pytest.raises(TypeError, match="letor_groups is for judgments that are read here: give it to Qrels"):
        laneval.evaluate(qrels, SAMPLES / "scores.txt", letor_groups=tmp_path / "sizes")


def test_all_nulls_of_a_table_are_said() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"query_id": ["q"] * 5, "doc_id": ["a", None, "b", None, "c"], "score": [1.0, 2.0, None, 3.0, 4.0]})
    with pytest.raises(laneval.InputError) as refused:
        laneval.evaluate({"q": {"a": 1}}, table)
    assert str(refused.value) == "run:2: doc_id: a null\nrun:3: score: a null\nrun:4: doc_id: a null"
    many = pa.table({"query_id": ["q"] * 50, "doc_id": pa.nulls(50, pa.string()), "score": [1.0] * 50})
    with pytest.raises(laneval.InputError, match="… and 30 more"):
        laneval.evaluate({"q": {"a": 1}}, many)


def test_documents_called_as_their_query_are_dropped() -> None:
    qrels, run = {"q1": {"d1": 1}}, {"q1": {"q1": 2.0, "d1": 1.0}}
    assert laneval.evaluate(qrels, run, "RR")["RR"] == 0.5
    assert laneval.evaluate(qrels, run, "RR", drop_identical_ids=True)["RR"] == 1.0


def test_excluded_documents_are_left_out(tmp_path: Path) -> None:
    qrels, run = {"q1": {"d1": 1, "d2": 1}}, {"q1": {"d9": 3.0, "d8": 2.0, "d1": 1.0}}
    assert laneval.evaluate(qrels, run, ["RR", "AP"]) == {"RR": 1 / 3, "AP": 1 / 6}
    pairs, lists = tmp_path / "pairs.tsv", tmp_path / "lists.jsonl"
    pairs.write_text("query_id\tdoc_id\nq1\td9\nq7\td1\n")
    lists.write_text('{"query": "a text", "id": "q1", "excluded_ids": ["d9"]}\n{"query": "b", "id": "q7", "excluded_ids": ["d1"]}\n')
    with pytest.warns(laneval.LanevalWarning, match=r"pairs\.tsv: 1 result of 1 query was left out"):
        of_pairs = laneval.evaluate(qrels, run, ["RR", "AP"], exclude=pairs)
    assert of_pairs == {"RR": 1 / 2, "AP": 1 / 4}
    with pytest.warns(laneval.LanevalWarning, match=r"lists\.jsonl: 1 result of 1 query was left out"):
        assert laneval.evaluate(qrels, run, ["RR", "AP"], exclude=str(lists)).rule == of_pairs.rule
    with pytest.warns(laneval.LanevalWarning, match="exclude: 1 result of 1 query was left out"):
        of_dict = laneval.evaluate(qrels, run, ["RR", "AP"], exclude={"q7": ["d1"], "q1": ["d9", "d9"]})
    assert (of_dict, of_dict.rule) == (of_pairs, of_pairs.rule)
    assert of_dict.rule.exclude is not None and len(of_dict.rule.exclude) == 32
    with pytest.warns(laneval.LanevalWarning, match="1 document of it is judged relevant: recall cannot reach 1"):
        assert laneval.evaluate(qrels, run, "R@10", exclude={"q1": ["d1"]})["R@10"] == 0.0
    with pytest.warns(laneval.LanevalWarning, match="exclude: nothing was left out"):
        assert laneval.evaluate(qrels, run, "RR", exclude={"q1": ["d7"], "q2": ["d9"]})["RR"] == 1 / 3
    with pytest.raises(TypeError, match="a list of documents was expected"):
        laneval.evaluate(qrels, run, "RR", exclude={"q1": "d9"})
    with pytest.raises(FileNotFoundError):
        laneval.evaluate(qrels, run, "RR", exclude=tmp_path / "missing")


@pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
def test_a_damaged_table_is_an_error_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    whole = (SAMPLES / "run.parquet").read_bytes()
    refused = 0
    for at in range(len(whole)):
        try:
            laneval.evaluate(QRELS, whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :], "RR")
        except laneval.InputError:
            refused += 1
    assert refused > len(whole) // 4
    assert capfd.readouterr() == ("", "")

"""Judgments by judge, by subtopic and as preferences are the same from every source."""

import json
import pathlib
import random

import pytest

import laneval

pytestmark = pytest.mark.filterwarnings("ignore::laneval.LanevalWarning")
Row = tuple[str, str, str, float]
SUBTOPICS = ["alpha_nDCG@5", "ERR_IA@10", "StRecall@3", "nDCG@10"]
JUDGES = ["nDCG(judges=mean)@10", "AP(judges=min)", "P@5"]
MEASURES = {"subtopic": SUBTOPICS, "judge": JUDGES}


@pytest.fixture
def rows() -> list[Row]:
    """Judgments: query, group, document, grade."""
    draw = random.Random(3)
    of = [
        (f"q{query}", str(group), f"d{doc:02}", draw.choice([0, 0, 1, 1, 2]))
        for query in range(6)
        for group in range(1, draw.randint(3, 5))
        for doc in draw.sample(range(30), 12)
    ]
    draw.shuffle(of)
    return of


@pytest.fixture
def run() -> dict[str, dict[str, float]]:
    draw = random.Random(4)
    return {f"q{query}": {f"d{doc:02}": draw.random() for doc in draw.sample(range(30), 20)} for query in range(6)}


def text(rows: list[Row]) -> bytes:
    return "".join(f"{' '.join(map(str, row))}\n" for row in rows).encode()


def columns(rows: list[Row], group: str) -> dict[str, list[object]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(("query_id", group, "doc_id", "relevance"))}


def values(qrels, run, measures, **options) -> dict[str, dict[str, float]]:
    return laneval.evaluate(qrels, run, measures, per_query=True, **options).per_query().to_dict()


@pytest.mark.parametrize("by", ["judge", "subtopic"])
def test_every_source_gives_the_same(rows, run, by, tmp_path: pathlib.Path):
    expected = values(text(rows), run, MEASURES[by])
    assert len(expected) == 6
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for query, group, doc, grade in rows:
        nested.setdefault(query, {}).setdefault(doc, {})[group] = grade
    names = ["qid", by, "docid", "rel"]
    files = {
        "qrels.txt": text(rows).decode(),
        "qrels.tsv": "\n".join("\t".join(map(str, row)) for row in [names, *rows]) + "\n",
        "qrels.csv": "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n",
        "qrels.jsonl": "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows),
        "qrels.json": json.dumps([dict(zip(names, row, strict=True)) for row in rows]),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        assert values(tmp_path / name, run, MEASURES[by]) == expected, name
    for source in (rows, iter(rows), nested, [(q, int(g), d, v) for q, g, d, v in rows]):
        assert values(source, run, MEASURES[by]) == expected
    judged = laneval.Qrels(rows, facet=by)
    assert values(judged, run, MEASURES[by]) == expected
    assert judged.fingerprint == laneval.Qrels(text(rows), facet=by).fingerprint
    assert len(laneval.Qrels(nested, facet=by)) == 6
    matrix = laneval.Matrix.build(rows, {"run": run}, facet=by)
    assert matrix.evaluate(MEASURES[by], per_query=True)["run"].per_query().to_dict() == expected


@pytest.mark.parametrize("by", ["judge", "subtopic"])
@pytest.mark.parametrize("kind", ["pandas", "pandas category", "polars", "pyarrow", "duckdb", "parquet", "arrow"])
def test_tables(rows, run, by, kind, tmp_path: pathlib.Path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns(rows, f"{by}_id"))
    if kind.startswith("pandas"):
        frame = pytest.importorskip("pandas").DataFrame(columns(rows, f"{by}_id"))
        table = frame.astype({f"{by}_id": "category"}) if kind == "pandas category" else frame.astype({f"{by}_id": int})
    elif kind == "polars":
        table = pytest.importorskip("polars").DataFrame(columns(rows, f"{by}_id"))
    elif kind == "duckdb":
        of_arrow = table
        table = pytest.importorskip("duckdb").sql("select * from of_arrow")
    elif kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "qrels.parquet")
        table = tmp_path / "qrels.parquet"
    elif kind == "arrow":
        pytest.importorskip("pyarrow.feather").write_feather(table, tmp_path / "qrels.arrow")
        table = tmp_path / "qrels.arrow"
    assert values(table, run, MEASURES[by]) == values(text(rows), run, MEASURES[by])


def test_pandas_without_pyarrow(rows, run, monkeypatch):
    pd = pytest.importorskip("pandas")

    def no_stream(self, requested_schema=None):
        raise ImportError("pyarrow is not installed")

    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", no_stream)
    frame = pd.DataFrame(columns(rows, "aspect"))
    assert values(frame, run, SUBTOPICS) == values(text(rows), run, SUBTOPICS)


def test_columns_by_other_names(rows, run, tmp_path: pathlib.Path):
    pa = pytest.importorskip("pyarrow")
    query, group, doc, grade = columns(rows, "x").values()
    table = pa.table({"who": group, "judge": ["nobody"] * len(group), "query": query, "doc": doc, "grade": grade})
    expected = values(text(rows), run, JUDGES)
    assert values(table, run, JUDGES, columns={"judge": "who"}) == expected
    path = tmp_path / "qrels.csv"
    path.write_text("".join(f"{d},x,{g},{q},{j}\n" for q, j, d, g in rows))
    judged = laneval.Qrels(path, columns=["doc", None, "grade", "query", "judge"], facet="judge")
    assert values(judged, run, JUDGES) == expected


def test_preferences(run):
    draw = random.Random(5)
    levels = [
        (f"q{query}", "a", f"d{doc:02}", draw.randint(0, 3)) for query in range(6) for doc in draw.sample(range(30), 9)
    ]
    expected = values(text(levels), run, "prefs_simp", facet="preference")
    assert values(levels, run, "prefs_simp") == expected
    nested = {query: {doc: {"a": level} for of, _, doc, level in levels if of == query} for query in run}
    assert values(nested, run, "prefs_simp") == expected
    table = pytest.importorskip("pyarrow").table(columns(levels, "group"))
    with pytest.raises(ValueError, match="qrels: preferences are not read from tables"):
        laneval.evaluate(table, run, "prefs_simp")


def test_judges_sets_the_parameter_of_other_measures(rows, run):
    asked = ["nDCG@10", "AP(judges=max)", "P@5"]
    scores = laneval.evaluate(rows, run, asked, judges="min")
    assert list(scores) == ["nDCG(judges=min)@10", "AP(judges=max)", "P(judges=min)@5"]
    assert dict(scores) == dict(laneval.evaluate(text(rows), run, list(scores)))
    one, other = (laneval.evaluate(rows, run, "AP", judges=judges)[f"AP(judges={judges})"] for judges in ("min", "mean"))
    assert one < other


def test_each_judge_alone_is_what_judges_are_made_of(rows, run):
    alone = {}
    for judge in sorted({row[1] for row in rows}):
        own = [(query, doc, grade) for query, of, doc, grade in rows if of == judge]
        for query, of_query in values(own, run, "nDCG@10").items():
            alone.setdefault(query, []).append(of_query["nDCG@10"])
    for judges, of in (("mean", lambda found: sum(found) / len(found)), ("min", min), ("max", max)):
        found = values(rows, run, "nDCG@10", judges=judges)
        assert {query: of_query[f"nDCG(judges={judges})@10"] for query, of_query in found.items()} == pytest.approx(
            {query: of(found) for query, found in alone.items()}, abs=1e-12
        )


def test_pyndeval_gives_the_same(rows, run):
    pyndeval = pytest.importorskip("pyndeval")
    names = {"alpha-nDCG@5": "alpha_nDCG@5", "ERR-IA@10": "ERR_IA@10", "strec@10": "StRecall@10", "P-IA@5": "P_IA@5"}
    qrels = [pyndeval.SubtopicQrel(query, int(group), doc, int(grade)) for query, group, doc, grade in rows]
    results = [pyndeval.ScoredDoc(query, doc, score) for query, of in run.items() for doc, score in of.items()]
    theirs = pyndeval.ndeval(qrels, results, measures=list(names))
    ours = values(rows, run, list(names.values()))
    assert set(ours) == set(theirs)
    for query, of_query in theirs.items():
        assert [ours[query][name] for name in names.values()] == pytest.approx([of_query[name] for name in names], abs=1e-6)


@pytest.mark.parametrize(
    ("qrels", "options", "error", "said"),
    [
        ([("q0", "d", 1)], {}, laneval.InputError, r"qrels:1: \('q0', 'd', 1\) was found: \(query, subtopic, document, grade\) was expected"),
        ([("q0", "1", "d", None)], {}, laneval.InputError, "qrels:1: the grade of document 'd' of query 'q0' is None"),
        ([("q0", 1.5, "d", 1)], {}, TypeError, "the id 1.5 of a subtopic is of <class 'float'>"),
        ([("q0", "", "d", 1)], {}, laneval.InputError, "qrels:1: the group is empty"),
        ({"q0": {"d": 1}}, {}, TypeError, r"qrels\['q0'\]\['d'\] is of <class 'int'>: a mapping of subtopics to grades was expected"),
        ({"q0": 1}, {}, TypeError, r"qrels\['q0'\] is of <class 'int'>: a mapping of documents to mappings of subtopics to grades was"),
        ({"q0": {"d": {"1": "x"}}}, {}, laneval.InputError, "the grade of document 'd' of query 'q0' by subtopic '1' is 'x'"),
        ([("q0", "1", "d", 1), ("q0", "1", "d", 0)], {}, laneval.InputError, "qrels:2: docno 'd' is judged again for subtopic '1' for query 'q0'"),
        (b"qid\tdocid\trel\nq0\td\t1\n", {}, laneval.InputError, 'found no subtopic among .* `columns={"subtopic": "NAME"}` names another'),
        (b'{"q0": {"d": 1}}', {}, ValueError, "judgments by subtopic are read from TREC text, tables with a header"),
        ([("q0", "1", "d", 1)], {"facet": "judge"}, ValueError, "alpha_nDCG@5 needs judgments by subtopic"),
        ([("q0", "1", "d", 1)], {"facet": "topic"}, ValueError, "topic"),
        ([("q0", "1", "d", 1)], {"judges": "all"}, ValueError, "judges is 'all': mean, min or max was expected"),
        ([("q0", "1", "d", 1)], {"judges": "largest"}, ValueError, "judges is 'largest': mean, min or max was expected"),
    ],
)
def test_what_is_wrong_is_said(qrels, options, error, said):
    with pytest.raises(error, match=said):
        laneval.evaluate(qrels, {"q0": {"d": 1.0}}, "alpha_nDCG@5", **options)


def test_a_table_without_the_column_says_what_was_looked_for(rows, run):
    table = pytest.importorskip("pyarrow").table(columns(rows, "iter"))
    with pytest.raises(ValueError, match="no column is the judge: there are .*, and judge_id, judge, .* were looked for; say it with"):
        laneval.evaluate(table, run, JUDGES)


def test_judgments_that_were_read_keep_their_groups(rows, run):
    judged = laneval.Qrels(rows, facet="judge")
    with pytest.raises(TypeError, match="facet is for judgments that are read here: give it to Qrels"):
        laneval.evaluate(judged, run, "AP", facet="judge")
    with pytest.raises(ValueError, match="StRecall@3 needs judgments by subtopic"):
        laneval.evaluate(judged, run, "StRecall@3")
    with pytest.raises(ValueError, match="evaluate them one after the other"):
        laneval.evaluate(rows, run, ["StRecall@3", "AP(judges=mean)"])

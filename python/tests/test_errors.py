"""What is wrong is said in words that a user of a notebook understands."""

import contextlib
import copy
import math
import pathlib
import pickle
import re
import warnings

import pytest

import laneval

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
RUN = {"q1": {"d1": 0.5, "d2": 0.7}, "q2": {"d1": 0.1}}


def said(error, of, *args, **options) -> str:
    with pytest.raises(error) as raised:
        of(*args, **options)
    return str(raised.value)


def test_measures_that_there_are_not():
    with pytest.raises(laneval.MeasureError) as raised:
        laneval.evaluate(QRELS, RUN, ["nDGC@10"])
    assert "nDCG" in raised.value.suggestions and raised.value.text == "nDGC@10"
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, laneval.LanevalError)
    assert "names such as" in said(TypeError, laneval.evaluate, QRELS, RUN, 10)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("nDGC@10", "nDGC"),
        ("é nDGC@10", "é"),
        ("nDCG(é=2)@10", "é"),
        ("éé:AP", "éé:"),
        ("nDCG(gain=né𝄞)@10", "né𝄞"),
        ("AP,𝄞,é", "𝄞"),
        ("P@é𝄞", "é𝄞"),
    ],
)
def test_the_part_of_a_measure_that_is_wrong_is_counted_in_letters(text, wrong):
    with pytest.raises(laneval.MeasureError) as raised:
        laneval.parse_measure(text)
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value)), copy.copy(raised.value)):
        start, end = error.span
        assert error.text == text and text[start:end] == wrong
    _, shown, *marks = str(raised.value).splitlines()
    if text.count(",") < 2:
        assert shown[marks[0].index("^") :][: marks[0].count("^")] == wrong


def test_the_part_of_a_name_that_is_wrong_is_counted_in_letters():
    for name in ("né me", "𝄞,"):
        with pytest.raises(laneval.MeasureError) as raised:
            laneval.measure(name=name)(len)
        assert raised.value.span == (0, len(name))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q1": {1.5: 0.5}}, "the id 1.5 of a document is of <class 'float'>: a str or an int was expected"),
        ({"q1": {True: 0.5}}, "the id True of a document"),
        ({"q1": 7}, "run['q1'] is of <class 'int'>: a list of documents or a mapping of documents to their scores was expected"),
        (7, "run is of <class 'int'>: a path, bytes, a dict of dicts or lists, a table or an iterable"),
    ],
)
def test_types_that_are_wrong(run, message):
    assert message in said(TypeError, laneval.evaluate, QRELS, run)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q1": {"d1": None}}, "the score of document 'd1' of query 'q1' is None: a number was expected"),
        ({"q1": {"d1": "0.5"}}, "the score of document 'd1' of query 'q1' is '0.5' of <class 'str'>: a number was expected"),
        ({"q1": {"d1": math.nan}}, "the score of document 'd1' of query 'q1' is not a number (NaN)"),
        ([("q1", "d1")], "run:1: ('q1', 'd1') was found: (query, document, score) was expected"),
        ([("q1", "d1", 1.0), ("q1", "d2", None)], "run:2: the score of document 'd2' of query 'q1' is None: a number was expected"),
        ([("q1", "d1", 1.0), ("q1", "d1", 2.0)], "run:2: "),
        ({"x": {"d1": 0.5}}, "no query of qrels is in it"),
        (
            {"q1": {"d1", "d2"}},
            "run: query 'q1': a set of documents has no order: a list in the order of the ranking, or a score for each document, was expected",
        ),
        ({"q1": [("d1", 1.0), "d2"]}, "run: query 'q1': some documents have a score, and others have none"),
        ({"q1": ["d1"], "q2": {"d1": 1.0}}, "run: the documents of query 'q2' have scores, and those of the queries before have none"),
        ({"q1": {"d1": 1.0}, "q2": ["d1"]}, "run: the documents of query 'q2' have no scores, and those of the queries before have scores"),
        ({"q1": [("d1", 1, 2)]}, "run: query 'q1': ('d1', 1, 2) was found: (document, score) was expected"),
        ({"q1": [("d1", None)]}, "run: the score of document 'd1' of query 'q1' is None: a number was expected"),
    ],
)
def test_runs_that_are_wrong(run, message):
    assert message in said(laneval.InputError, laneval.evaluate, QRELS, run)


def test_a_generator_that_was_used_up():
    rows = iter([("q1", "d1", 1.0)])
    laneval.evaluate(QRELS, rows, queries="common")
    assert "an iterator gives its items only once" in said(laneval.InputError, laneval.evaluate, QRELS, rows)


def test_problems_have_files_and_lines(tmp_path):
    file = tmp_path / "my.run"
    file.write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 high t\n")
    with pytest.raises(laneval.InputError) as raised:
        laneval.evaluate(QRELS, file)
    (problem,) = raised.value.problems
    assert problem.file == str(file) and problem.line == 2 and "'high' is not a number" in problem.message
    assert pickle.loads(pickle.dumps(raised.value)).problems == [problem]
    with pytest.raises(FileNotFoundError) as missing:
        laneval.evaluate(QRELS, tmp_path / "not-there.run")
    assert missing.value.filename == str(tmp_path / "not-there.run")


def test_tables_that_are_wrong():
    pa = pytest.importorskip("pyarrow")
    good = {"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [1.0, 2.0]}
    nulls = pa.table({**good, "docno": ["d1", None]})
    assert said(laneval.InputError, laneval.evaluate, QRELS, nulls) == "run:2: docno: a null"
    floats = pa.table({**good, "docno": [1.0, 2.0]})
    assert "column `docno` is of type Float64: ids are text or integers" in said(TypeError, laneval.evaluate, QRELS, floats)
    texts = pa.table({**good, "score": ["a", "b"]})
    assert "column `score` is of type Utf8: numbers were expected" in said(TypeError, laneval.evaluate, QRELS, texts)
    nan = pa.table({**good, "score": [1.0, math.nan]})
    assert "run:2: " in said(laneval.InputError, laneval.evaluate, QRELS, nan)


@pytest.mark.parametrize("of", [laneval.evaluate_runs, laneval.Matrix.build, laneval.Summary.evaluate])
def test_no_runs(of, tmp_path):
    for none in ({}, [], (), iter([])):
        assert said(laneval.UnanswerableError, of, QRELS, none) == "there are no runs"
    file = tmp_path / "my.run"
    file.write_text("q1 Q0 d1 1 0.5 t\nq2 Q0 d1 1 0.5 t\n")
    assert repr(of(QRELS, iter([file]))) == repr(of(QRELS, [file]))
    for empty in ({}, []):  # a run that finds nothing is one
        with pytest.warns(laneval.MissingQueriesWarning) if of is laneval.evaluate_runs else contextlib.nullcontext():
            of(QRELS, {"mine": empty})


def test_keywords_that_are_wrong():
    assert "unknown keyword verbose" in said(TypeError, laneval.evaluate, QRELS, RUN, verbose=True)
    assert "queries is 'all': judged, common or require-all was expected" in said(
        laneval.OptionError, laneval.evaluate, QRELS, RUN, queries="all"
    )
    assert "docno-desc" in said(laneval.UnanswerableError, laneval.evaluate, QRELS, RUN, ties="random")
    assert "depth is 0: 1 or more was expected" in said(laneval.UnanswerableError, laneval.evaluate, QRELS, RUN, depth=0)
    assert "per_query=True" in said(laneval.UnanswerableError, laneval.evaluate(QRELS, RUN).per_query)
    assert "one path" in said(TypeError, laneval.evaluate_runs, QRELS, "a.run")
    with pytest.raises(KeyError):
        laneval.evaluate(QRELS, RUN, "RR")["AP"]
    assert "unknown keyword weights" in said(TypeError, laneval.evaluate, QRELS, RUN, weights={"q1": 2})
    assert "adapter is {'a': [1]}: a str was expected" in said(TypeError, laneval.evaluate, QRELS, RUN, adapter={"a": [1]})
    assert "([1],) of <class 'tuple'> is not a value of a keyword" in said(TypeError, laneval.evaluate, QRELS, RUN, stats=[[1]])
    assert "per_query is 'no': True or False was expected" in said(TypeError, laneval.evaluate, QRELS, RUN, per_query="no")
    assert "progress is 5: True, False, or a function" in said(TypeError, laneval.evaluate, QRELS, RUN, progress=5)
    assert "which does not take two arguments" in said(TypeError, laneval.evaluate, QRELS, RUN, progress=lambda done: None)


    for options, message in [
        ({"threads": 10**400}, "threads is out of range"),
        ({"depth": 2**64}, "depth is out of range"),
    ]:
        assert message in said(ValueError, laneval.evaluate, QRELS, RUN, **options)
    for options, message in [
        ({"threads": 1.5}, "threads is 1.5: an int was expected"),
        ({"depth": True}, "depth is True: an int was expected"),
        ({"ties": None}, "ties is None: a str was expected"),
        ({"stats": 5}, "stats is 5: names of statistics were expected"),
        ({"columns": 5}, "columns is 5: a dict of names"),
        ({"columns": {"query": 0}}, "columns names the query 0: the name of a column was expected"),
    ]:
        assert message in said(TypeError, laneval.evaluate, QRELS, RUN, **options)


def test_options_of_a_comparison_that_are_wrong():
    scores = laneval.evaluate(QRELS, RUN, "RR", per_query=True)
    compare = lambda **options: said((laneval.OptionError, TypeError, ValueError), scores.compare, scores, **options)  # noqa: E731
    assert "test is 'x': 't'" in compare(test="x")
    assert "threads is '2': an int was expected" in compare(threads="2")
    assert "threads is 0: 1 or more was expected" in compare(threads=0)
    assert "threads is out of range" in compare(threads=2**64)
    assert "a number between 0 and 1 was expected" in compare(alpha=10**400)
    assert "anova is 'no': True or False was expected" in compare(anova="no")


def test_the_number_of_threads_of_the_environment_is_read_at_each_call(monkeypatch):
    laneval.evaluate(QRELS, RUN, "RR")
    monkeypatch.setenv("LANEVAL_THREADS", "nonsense")
    assert "LANEVAL_THREADS is 'nonsense': a number of threads was expected" in said(laneval.OptionError, laneval.evaluate, QRELS, RUN, "RR")
    assert laneval.evaluate(QRELS, RUN, "RR", threads=2)["RR"] == 0.75
    assert "threads is 2.0: an int was expected" in said(TypeError, laneval.evaluate, QRELS, RUN, "RR", threads=2.0)


def test_numbers_and_tables_that_are_odd():
    huge = said(laneval.InputError, laneval.evaluate, QRELS, {"q1": {"d1": 10**400}})
    assert "which is too large for a float" in huge and len(huge) < 250
    pa = pytest.importorskip("pyarrow")
    assert said(ValueError, laneval.evaluate, QRELS, pa.table({})) == "run: it has no columns"
    np = pytest.importorskip("numpy")
    nothing = np.zeros((2, 0), dtype=np.int8)
    assert "the rows of labels have no values" in said(laneval.UnanswerableError, laneval.evaluate_labels, nothing, "RR")


def test_infinite_grades_are_told_and_not_a_panic():
    infinite = {"d1": math.inf}
    for qrels in ({"q1": infinite}, {"q1": infinite, "q2": {"d1": 1}}, {"q0": {"d1": 1}, "q1": infinite}):
        assert "grade inf of document 'd1' of query 'q1' is not a finite number" in said(laneval.InputError, laneval.Qrels, qrels)


def test_as_many_threads_are_started_as_help():
    assert laneval.evaluate(QRELS, RUN, "RR", threads=10**9) == laneval.evaluate(QRELS, RUN, "RR", threads=1)
    assert "threads is 0: 1 or more was expected" in said(laneval.OptionError, laneval.evaluate, QRELS, RUN, threads=0)


@pytest.mark.parametrize(("name", "meant"), [("recall_at_k", "R@10"), ("auc", "Accuracy"), ("coverage@10", "Success@10")])
def test_names_of_other_fields_are_suggested(name, meant):
    with pytest.raises(laneval.MeasureError) as raised:
        laneval.parse_measure(name)
    assert meant in raised.value.suggestions


def test_queries_that_are_missing_or_ignored_are_warned_of():
    with pytest.warns(laneval.MissingQueriesWarning, match="1 judged query is not in the run and counts as an empty ranking: q2"):
        scores = laneval.evaluate(QRELS, {"q1": {"d1": 1.0}}, "RR")
    assert scores["RR"] == 0.5 and (scores.missing.count, scores.missing.ids) == (1, ["q2"])
    with pytest.warns(laneval.IgnoredQueriesWarning, match="1 of its queries is not judged and does not count: q9"):
        scores = laneval.evaluate(QRELS, {**RUN, "q9": {"d1": 1.0}}, "RR")
    assert str(scores.ignored) == "q9"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert laneval.evaluate(QRELS, {"q1": {"d1": 1.0}}, "RR", queries="common")["RR"] == 1.0
    with pytest.raises(laneval.UnanswerableError, match="lacks 1 of the judged queries: q2"):
        laneval.evaluate(QRELS, {"q1": {"d1": 1.0}}, "RR", queries="require-all")


def test_warnings_point_at_the_caller():
    with pytest.warns(laneval.MissingQueriesWarning) as caught:
        laneval.evaluate(QRELS, {"q1": {"d1": 1.0}}, "RR")
        laneval.evaluate_runs(QRELS, {"a": {"q1": {"d1": 1.0}}}, "RR")
        laneval.Matrix.build(QRELS, {"a": {"q1": {"d1": 1.0}}}).evaluate("RR")
    assert [warning.filename for warning in caught] == [__file__] * 3


def test_matrices_that_are_wrong(tmp_path):
    file = tmp_path / "no.lmx"
    file.write_bytes(b"not a matrix at all" * 100)
    assert str(file) in said(laneval.MatrixError, laneval.Matrix.open, file)


def test_lone_surrogates_are_no_text():
    assert isinstance(pytest.raises(UnicodeEncodeError, laneval.evaluate, QRELS, {"q1": {"\ud800": 1.0}}).value, ValueError)


def test_options_that_readers_name_have_keywords():
    """What readers of files say with an option of the command is said with a keyword, or it is a command to be run."""
    known = {word.replace("_", "-") for word in laneval.Options.__annotations__} | {"grades", "letor-groups"}
    commands = {"features", "long", "qrels", "rel"}  # `rel` is a parameter of measures
    found = set()
    for crate in ("formats", "join", "read"):
        for path in (pathlib.Path(__file__).parents[2] / "crates" / crate / "src").rglob("*.rs"):
            lines = path.read_text().partition("#[cfg(test)]")[0].splitlines()
            code = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
            found |= set(re.findall(r"--([a-z]+(?:-[a-z]+)*)", code))
    assert found > {"columns", "doc-id", "exclude"} and found <= known | commands, found - known - commands


def test_errors_in_files_name_keywords(tmp_path):
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query,doc,more\nq,a,1\n")
    assert said(laneval.InputError, laneval.Qrels, qrels).endswith(
        '; `columns={"grade": "NAME"}` names another, and `None` as its name gives each document grade 1'
    )
    assert '; `columns={"query": "…", "doc": "…", "start": "NAME", "grade": "…"}` gives others' in said(
        laneval.LanevalError, laneval.Qrels, qrels, facet="span"
    )
    plain = {"q": {"a": 1.0}}
    message = said(laneval.InputError, laneval.evaluate, {"q": {"a": 1}}, plain, doc_id="before:#")
    assert message == "run: none of its ids has '#', so doc_id=\"before:#\" would change nothing: 'a'"
    lists = {"query": ["q"], "doc": [["a"]], "rank": [[1]]}
    assert 'or say columns={"score": None}' in said(ValueError, laneval.evaluate, {"q": {"a": 1}}, lists)
    with pytest.warns(laneval.LanevalWarning, match=r"1 result of 1 query was left out \(exclude=\)"):
        seen = tmp_path / "seen.tsv"
        seen.write_text("query_id\tdoc_id\nq\tb\n")
        laneval.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", exclude=seen)
    # An id is no option.
    wrong = said(laneval.InputError, laneval.Qrels, b"q 0 --depth 1\nq 0 --depth 2\n")
    assert "'--depth'" in wrong


def test_messages_name_keywords():
    run = {"q": {"a": 0.1 + 1e-12, "b": 0.1}}
    with pytest.warns(laneval.LanevalWarning, match='so does score_type="f32"'):
        laneval.evaluate({"q": {"a": 1}}, run, "AP")
    with pytest.raises(laneval.MeasureError, match="give judged_only=True"):
        laneval.parse_measure("nDCG(judged_only=True)@10")
    with pytest.raises(laneval.UnanswerableError, match='take ties="best", worst or docno-desc'):
        laneval.evaluate({"q": {"a": 1}}, run, "INST", ties="average")


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow", "columns", "records"])
def test_docno_is_read_and_docid_told(form):
    """In PyTerrier's tables docid is a number of the index. The warning names the line that called."""
    pl = pytest.importorskip("polars")
    make = {
        "polars": pl.DataFrame,
        "pandas": pytest.importorskip("pandas").DataFrame,
        "arrow": pytest.importorskip("pyarrow").table,
        "columns": dict,
        "records": lambda columns: pl.DataFrame(columns).to_dicts(),
    }
    run = make[form]({"qid": ["1", "1"], "docid": ["5", "12"], "docno": ["12", "5"], "score": [9.0, 8.0]})
    with pytest.warns(laneval.LanevalWarning) as caught:
        assert laneval.evaluate({"1": {"12": 1}}, run, "RR")["RR"] == 1
    said = "run: docno names the documents; docid is not read, which columns={'doc': 'docid'} names"
    assert [(str(of.message), of.filename) for of in caught] == [(said, __file__)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert laneval.evaluate({"1": {"12": 1}}, run, "RR", columns={"doc": "docid"})["RR"] == 0.5

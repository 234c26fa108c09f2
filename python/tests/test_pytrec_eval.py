"""laneval.compat.pytrec_eval against pytrec_eval."""

import collections
import math
import random
import struct
import subprocess
import sys

import numpy
import pytest
import pytrec_eval as original

import laneval.compat.pytrec_eval as swap

QRELS = {"q1": {"d1": 1, "d2": 2, "d3": 0}, "q2": {"d1": 1}}
RUN = {"q2": {"d1": 0.5}, "zz": {"d1": 1.0}, "q1": {"d1": 0.1, "d3": 0.5, "x": 0.7}}
PARAMETERS = (
    "P_3,7 set_F.0.5 11pt_avg.0.1,0.9 utility.1,2,3,4 success.2,3 Rprec_mult.0.3,1.7 iprec_at_recall.0.25 recall.1 map.10 relstring.5"
)


def bits(value: float) -> bytes:
    return struct.pack("d", value)


def answers(measures, qrels, run, **keywords):
    """What both answer."""
    return [module.RelevanceEvaluator(qrels, measures, **keywords).evaluate(run) for module in (original, swap)]


def same(theirs, ours, *, nan_is_zero=False):
    """Whether both are the same, to the order of keys and the bits of values, and the number of values that were compared."""
    assert list(theirs) == list(ours)
    compared = 0
    for query in theirs:
        assert list(theirs[query]) == list(ours[query])
        for measure, value in theirs[query].items():
            if measure in ("runid", "relstring"):
                assert ours[query][measure] == 0.0
                continue
            if nan_is_zero and math.isnan(value):
                value = 0.0
            assert type(ours[query][measure]) is float
            assert bits(value) == bits(ours[query][measure]), (query, measure)
            compared += 1
    return compared


def random_case(seed):
    draw = random.Random(seed)
    docs = [f"d{i}" for i in range(draw.choice([5, 30, 300]))]
    queries = [f"q{i}" for i in range(draw.randint(1, 6))]
    lowest = draw.choice([0, 0, -1])
    qrels = {}
    for query in queries:
        judged = draw.sample(docs, draw.randint(1, min(len(docs), 60)))
        qrels[query] = {doc: draw.randint(lowest, draw.choice([1, 3])) for doc in judged}
        qrels[query][judged[0]] = 1
    run = {}
    for query in draw.sample([*queries, "unjudged"], len(queries)):
        found = draw.sample(docs, min(len(docs), draw.choice([1, 2, 5, 8, 20, 120])))
        tied = draw.random() < 0.5
        run[query] = {doc: float(draw.randint(0, 4)) if tied else draw.random() for doc in found}
    return qrels, run, draw


def test_names():
    assert swap.supported_measures == original.supported_measures
    assert swap.supported_nicknames == original.supported_nicknames
    assert type(swap.supported_measures) is set
    assert swap.__version__ == original.__version__


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_all_values(level, judged_only):
    measures = original.supported_measures
    compared = 0
    for seed in range(60):
        qrels, run, _ = random_case(seed)
        both = answers(measures, qrels, run, relevance_level=level, judged_docs_only_flag=judged_only)
        compared += same(*both, nan_is_zero=judged_only)
    assert compared > 5000


def test_some_measures_with_parameters():
    for seed in range(100):
        qrels, run, draw = random_case(seed)
        known = [*sorted(original.supported_measures), *PARAMETERS.split(), "P.5", "P_10,100"]
        same(*answers(set(draw.sample(known, draw.randint(1, len(known)))), qrels, run))


@pytest.mark.parametrize("measures", [["official"], ["set"], ["all_trec"], ["set", "P.5", "map", "map.5"], ["P", "P.5"], ("P.5", "P")])
def test_merging(measures):
    same(*answers(measures, QRELS, RUN))


def test_scores_are_compared_as_f32():
    score = 0.1
    above = math.nextafter(score, 1.0)
    theirs, ours = answers({"recip_rank"}, {"q": {"a": 1}}, {"q": {"a": above, "b": score}})
    assert theirs == ours == {"q": {"recip_rank": 0.5}}


def test_infinite_and_integer_scores():
    docs = {"d1": math.inf, "d2": -math.inf, "d3": 0, "x": True, "y": numpy.float64(7.0), "z": 1e39}
    same(*answers({"map", "ndcg"}, QRELS, {"q1": docs}))


def test_answers_without_values():
    for qrels, run, measures in [
        (QRELS, {}, {"map"}),
        (QRELS, None, {"map"}),
        (QRELS, [], {"map"}),
        (QRELS, {"zz": {"d1": 1.0}}, {"map"}),
        ({}, RUN, {"map"}),
        ({"q1": {}}, RUN, {"map"}),
        ({"q1": {"d1": 1}, "q2": {}}, {"q2": {"d1": 1.0}, "q1": {"d1": 1.0}}, {"map"}),
        (QRELS, RUN, []),
    ]:
        theirs, ours = answers(measures, qrels, run)
        assert theirs == ours, (qrels, run)


def test_empty_rankings():
    # Some combinations end the interpreter there, so each measure is asked for in one of its own.
    for measure in ["num_q", "num_ret", "num_rel", "map", "gm_map", "P", "recip_rank", "ndcg", "Rprec", "11pt_avg", "set_F"]:
        call = f"RelevanceEvaluator({QRELS!r}, [{measure!r}]).evaluate({{'q1': {{}}}})"
        code = f"import pytrec_eval; print(pytrec_eval.{call})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        ours = swap.RelevanceEvaluator(QRELS, [measure]).evaluate({"q1": {}})
        assert repr(ours) == done.stdout.strip(), measure
    evaluator = swap.RelevanceEvaluator(QRELS, swap.supported_measures)
    beside = evaluator.evaluate({"q1": {}, "q2": {"d1": 1.0}})
    assert {name for name, value in beside["q1"].items() if value != 0.0} == {"num_q"}
    assert beside["q2"] == evaluator.evaluate({"q2": {"d1": 1.0}})["q2"]


def test_few_queries_of_many():
    qrels = {f"q{i}": {f"d{j}": (i + j) % 3 for j in range(5)} for i in range(200)}
    run = {f"q{i}": {f"d{j}": float(j * 7 % 5) for j in range(6)} for i in (170, 3, 99)}
    theirs, ours = answers(original.supported_measures, qrels, run)
    assert list(ours) == ["q170", "q3", "q99"]
    same(theirs, ours)


def test_an_evaluator_is_used_again_and_again():
    evaluator = swap.RelevanceEvaluator(QRELS, {"P_5,10"})
    assert evaluator.evaluate(RUN) == evaluator.evaluate(RUN)
    assert evaluator.evaluate(scores=RUN)["q2"] == {"P_5": 0.2, "P_10": 0.1}
    assert evaluator.evaluate(collections.OrderedDict(RUN)) == evaluator.evaluate(RUN)


def test_ids_and_scores_of_numpy():
    docs = numpy.array(["d1", "d3", "x"])
    run = {numpy.str_("q1"): dict(zip(docs, numpy.array([0.1, 0.5, 0.7]), strict=True))}
    theirs, ours = answers({"map", "ndcg"}, QRELS, run)
    same(theirs, ours)
    assert [type(query) for query in ours] == [type(query) for query in theirs] == [str]


def test_keywords():
    evaluator = swap.RelevanceEvaluator(
        query_relevance=QRELS, measures={"map"}, relevance_level=numpy.int64(2), judged_docs_only_flag=True
    )
    assert evaluator.evaluate(RUN)["q1"] == {"map": 0.0}


@pytest.mark.parametrize(
    "arguments",
    [
        ([1], ["map"]),
        ({"q1": 3}, ["map"]),
        ({"q1": [1]}, ["map"]),
        ({1: {"d": 1}}, ["map"]),
        ({"q1": {1: 1}}, ["map"]),
        ({"q1": {"d": 1.0}}, ["map"]),
        ({"q1": {"d": None}}, ["map"]),
        ({"q1": {"d": numpy.int64(1)}}, ["map"]),
        (QRELS, ["map"], 0),
        (QRELS, ["map"], 1.0),
        (QRELS, ["map"], None),
        (QRELS, ["map"], 10**12),
        (QRELS, ["map"], 1, None),
        (QRELS, ["map"], 1, 2.0),
        (QRELS, "map"[:1]),
        (QRELS, ["foo"]),
        (QRELS, [""]),
        (QRELS, ["MAP"]),
        (QRELS, ["yaap"]),
        (QRELS, ["iprec_at_recall_.10"]),
        (QRELS, [5]),
        (QRELS, None),
        (QRELS,),
        (QRELS, ["map"], 1, False, 3),
    ],
)
def test_wrong_arguments(arguments):
    with pytest.raises(Exception) as theirs:
        original.RelevanceEvaluator(*arguments)
    with pytest.raises(type(theirs.value)) as ours:
        swap.RelevanceEvaluator(*arguments)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    "scores",
    [
        {1: {"d1": 1.0}},
        {"q1": [1]},
        {"q1": {1: 1.0}},
        {"q1": {"d1": None}},
        {"q1": {"d1": "1.0"}},
        {"q1": {"d1": numpy.float32(1)}},
        {"q1": {"d1": numpy.int64(1)}},
        [1],
        collections.UserDict(RUN),
    ],
)
def test_wrong_scores(scores):
    with pytest.raises(TypeError) as theirs:
        original.RelevanceEvaluator(QRELS, {"map"}).evaluate(scores)
    with pytest.raises(TypeError) as ours:
        swap.RelevanceEvaluator(QRELS, {"map"}).evaluate(scores)
    assert str(ours.value) == str(theirs.value)


def test_a_wrong_score_says_what_caused_it():
    with pytest.raises(TypeError) as error:
        swap.RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"d1": None}})
    assert "a score is None" in str(error.value.__cause__)


@pytest.mark.parametrize("nickname", ["prefs", "all_prefs", "qrels_jg"])
def test_measures_of_other_formats(nickname):
    for module in (original, swap):
        with pytest.raises(ValueError, match="unsupported measure"):
            module.RelevanceEvaluator(QRELS, [nickname])


@pytest.mark.parametrize("measure", ["ndcg_10", "ndcg.1,2", "P_0", "P_5,5.5", "iprec_at_recall.0.5,0.50", "utility_1", "G.1"])
def test_what_ends_the_interpreter_there_is_an_error(measure):
    with pytest.raises(ValueError):
        swap.RelevanceEvaluator(QRELS, [measure])


def test_ids_that_end_the_interpreter_there():
    with pytest.raises(UnicodeEncodeError):
        swap.RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"\ud800": 1.0}})
    with pytest.raises(UnicodeEncodeError):
        swap.RelevanceEvaluator({"q1": {"\ud800": 1}}, {"map"})
    run = {"q1": {"a\0bc": 1.0}}
    assert swap.RelevanceEvaluator({"q1": {"a\0b": 1}}, {"map"}).evaluate(run) == {"q1": {"map": 0.0}}


def test_scores_that_are_no_numbers():
    evaluator = swap.RelevanceEvaluator(QRELS, {"map"})
    for nan in (math.nan, numpy.float64("nan")):
        with pytest.raises(ValueError, match="d9.*q1.*NaN"):
            evaluator.evaluate({"q1": {"d9": nan}})
    for huge in (10**400, -(10**400)):
        with pytest.raises(OverflowError):
            evaluator.evaluate({"q1": {"d9": huge}})
    for huge in (2**63, -(2**63) - 1, 10**30):
        with pytest.raises(OverflowError):
            swap.RelevanceEvaluator({"q1": {"d9": huge}}, {"map"})


@pytest.mark.parametrize("score", [2**63, 2**64, -(2**63) - 1, 10**30, -(10**300)])
def test_scores_beyond_64_bits_are_numbers(score):
    theirs, ours = answers({"map"}, {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": score, "d2": 1.0}})
    assert ours == theirs == {"q1": {"map": 1.0 if score > 0 else 0.5}}


@pytest.mark.parametrize("place", [0, 5, 31, 32, 40, 95, 99])
def test_dicts_of_any_length_with_any_item_in_them(place):
    """Items are looked at some at a time."""
    for count in (0, 1, 31, 32, 33, 64, 100):
        docs = {f"d{at}": float(at * 37 % 100) for at in range(count)}
        if place < count:
            docs[f"d{place}"] = int(docs[f"d{place}"])
        qrels = {"q": {f"d{at}": at % 2 for at in range(100)}}
        if docs:
            same(*answers({"map", "num_ret", "ndcg"}, qrels, {"q": docs}))


def test_a_dict_that_changes_while_it_is_looked_at():
    docs = {f"d{at}": float(at) for at in range(100)}

    class Clears(int):
        def __float__(self):
            docs.clear()
            docs.update({f"e{at}": 0.5 for at in range(3)})
            return 1.0

    docs["d40"] = Clears(1)
    found = swap.RelevanceEvaluator(QRELS, {"num_ret"}).evaluate({"q1": docs})
    assert 40 <= found["q1"]["num_ret"] <= 100


def test_aggregates():
    draw = random.Random(3)
    for count in [*range(1, 40), 127, 128, 129, 136, 255, 256, 257, 1000, 1111, 20000]:
        values = [draw.uniform(0, 1) * 10 ** draw.randint(-3, 3) for _ in range(count)]
        for measure in ("map", "num_ret"):
            theirs = original.compute_aggregated_measure(measure, values)
            assert bits(swap.compute_aggregated_measure(measure, values)) == bits(theirs), count
        logs = [math.log(draw.uniform(1e-5, 1)) for _ in range(count)]
        theirs = original.compute_aggregated_measure("gm_map", logs)
        assert swap.compute_aggregated_measure("gm_map", logs) == pytest.approx(theirs, rel=4e-16, abs=0)
    assert swap.compute_aggregated_measure("num_q", []) == 0.0
    assert math.isnan(swap.compute_aggregated_measure("map", []))
    assert swap.compute_aggregated_measure("map", numpy.array([1.0, 2.0])) == 1.5


def test_parsers():
    run = ["q1 Q0 d1 1 2.5 tag\n", "q1 Q0 d2 2 1.5 tag", "q2 Q0 d1 1 0.5 tag"]
    assert swap.parse_run(run) == original.parse_run(run)
    qrel = ["q1 0 d1 1\n", "q1 0 d2 0", "q2 0 d1 2"]
    assert swap.parse_qrel(qrel) == original.parse_qrel(qrel)
    assert type(swap.parse_qrel(qrel)) is collections.defaultdict
    for module in (original, swap):
        for parse, lines, error in [
            (module.parse_run, [run[0], run[0]], AssertionError),
            (module.parse_run, ["q1 Q0 d1 1 2.5"], ValueError),
            (module.parse_qrel, [qrel[0], qrel[0]], AssertionError),
            (module.parse_qrel, ["q1 0 d1 1.0"], ValueError),
            (module.parse_qrel, [""], ValueError),
        ]:
            with pytest.raises(error):
                parse(lines)


def test_install():
    code = (
        "import laneval.compat.pytrec_eval as swap; swap.install(); import pytrec_eval; "
        "from pytrec_eval import RelevanceEvaluator; assert pytrec_eval is swap; assert RelevanceEvaluator is swap.RelevanceEvaluator; "
        "import sys; assert 'pytrec_eval_ext' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

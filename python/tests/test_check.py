"""Checks of functions: definitions and mistakes are named as by the command, and what is no answer is an error."""

import json
import math
import subprocess
import sys

import pytest

import laneval


def ranked(run, query):
    return sorted(run[query], key=run[query].get, reverse=True)


def ndcg(qrels, run, k, gain=lambda grade: grade, discount=lambda rank: math.log2(rank + 1), nothing=0.0, listed=False):
    ((query, grades),) = qrels.items()
    gains = [gain(max(grades.get(document, 0), 0)) for document in ranked(run, query)]
    known = gains if listed else [gain(max(grade, 0)) for grade in grades.values()]
    total = [sum(worth / discount(rank) for rank, worth in enumerate(of[:k], start=1)) for of in (gains, sorted(known, reverse=True))]
    return total[0] / total[1] if total[1] else nothing


def test_a_definition_is_named_with_its_libraries():
    checked = laneval.check(ndcg)
    assert checked.verdict in ("found", "likely")
    assert [(of["id"], of["libraries"][0]) for of in checked.definitions] == [("nDCG:input", "ranx")]
    assert str(checked) == repr(checked)
    assert str(checked).startswith("this is nDCG@k --ties input: ranx, recommenders (raw)   (21 of 21 cases, ")

    def lightgbm(qrels, run, k):
        if min(grade for of in qrels.values() for grade in of.values()) < 0:
            raise ValueError("Label should be non-negative")
        return ndcg(qrels, run, k, gain=lambda grade: 2**grade - 1, nothing=1.0, listed=True)

    checked = laneval.check(lightgbm, "nDCG", as_="lightgbm")
    assert [of["measure"] for of in checked.definitions] == ["nDCG(gain=exp2,no_relevant=1)@k"]
    assert checked.compared == 18
    assert [case["id"] for case in checked.cases if "refused" in case] == ["negative", "S1", "S3"]
    assert "3 cases are refused and no evidence: negative (raised ValueError: Label should be non-negative) …" in str(checked)


def test_none_and_nan_leave_a_query_out():
    for none in (None, math.nan):
        checked = laneval.check(lambda *case: ndcg(*case, gain=lambda grade: min(grade, 1), nothing=none))
        assert [of["id"] for of in checked.definitions] == ["nDCG:binary,input,skip"]


def test_mistakes_are_named():
    checked = laneval.check(lambda *case: ndcg(*case, discount=lambda rank: math.log2(rank + 2)))
    assert (checked.verdict, checked.mistake, checked.nearest["id"]) == ("none", "discount lg(i + 2) for lg(i + 1)", "nDCG:input")
    checked = laneval.check(lambda *case: ndcg(*case, nothing=1.0))
    assert [(case["id"], case["found"], case["expected"]) for case in checked.cases if not case["agrees"]] == [("nothing", 1.0, 0.0), ("S4", 1.0, 0.0)]


def test_laneval_itself_is_known():
    def mine(qrels, run, k):
        return laneval.evaluate(qrels, run, f"AP@{k}")[f"AP@{k}"]

    checked = laneval.check(mine, "AP")
    assert [of["id"] for of in checked.definitions] == ["AP:trec_eval"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "ndgc"}, "ndgc: the suite has no such measure: nDCG, AP, RR, P, R, ERR, Bpref, AUC was expected"),
        ({"measure": "nDCG@10"}, "nDCG@10: cutoffs and parameters are what a check finds out"),
        ({"suite": "v9"}, "there is no suite `v9`, only v1"),
        ({"as_": "xgboots"}, "xgboots is no library of the suite"),
    ],
)
def test_what_is_not_known_is_an_error(arguments, message):
    with pytest.raises(laneval.UnanswerableError, match=message.replace("[", r"\[")):
        laneval.check(ndcg, **arguments)


def test_a_function_needs_a_number_for_some_case():
    def refuses(qrels, run, k):
        raise KeyError("no")

    with pytest.raises(laneval.UnanswerableError, match="raised KeyError: 'no' on every case: check needs a number for some"):
        laneval.check(refuses)
    with pytest.raises(laneval.UnanswerableError, match="returned str, where a number was expected on every case"):
        laneval.check(lambda *case: "0.5")
    with pytest.raises(laneval.UnanswerableError, match="the query has no value on every case"):
        laneval.check(lambda *case: None)


def test_an_interrupt_is_no_refusal():
    def interrupted(qrels, run, k):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        laneval.check(interrupted)


def test_the_command_says_the_same(tmp_path):
    program = tmp_path / "precision.py"
    program.write_text(
        "import sys\n"
        "qrels = {line.split()[2]: int(line.split()[3]) for line in open(sys.argv[1])}\n"
        "run = sorted((line.split() for line in open(sys.argv[2])), key=lambda row: -float(row[4]))\n"
        "k = int(sys.argv[3])\n"
        "print(sum(qrels.get(row[2], 0) > 0 for row in run[:k]) / k)\n"
    )
    words = [sys.executable, "-m", "laneval", "check", "-m", "P", "--format", "json", "--", sys.executable, str(program), "{qrels}", "{run}", "{k}"]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr

    def precision(qrels, run, k):
        ((query, grades),) = qrels.items()
        return sum(grades.get(document, 0) > 0 for document in ranked(run, query)[:k]) / k

    assert json.loads(done.stdout) == laneval.check(precision, "P").to_dict()

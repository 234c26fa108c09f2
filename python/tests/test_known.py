"""Relevant documents that a run retrieved, instead of all that were judged."""

import pytest

import laneval

QRELS = {"q": {"a": 3, "b": 1, "c": 2, "d": 1, "e": 0}}
RUN = {"q": {"b": 3.0, "u": 2.0, "c": 1.0}}


def test_values_are_those_of_lists() -> None:
    scores = laneval.evaluate(QRELS, RUN, ["nDCG@3", "R@3", "AP"], relevant_from="retrieved")
    # scikit-learn 1.9.1: ndcg_score
    assert scores["nDCG@3"] == pytest.approx(0.7601875334318685, abs=1e-15)
    assert (scores["R@3"], scores["AP"]) == (1.0, (1 + 2 / 3) / 2)
    assert laneval.evaluate(QRELS, RUN, "R@3", relevant_from="judged")["R@3"] == 0.5


def test_other_relevant_documents_are_not_compared() -> None:
    runs = [laneval.evaluate(QRELS, RUN, "AP", relevant_from=choice, per_query=True) for choice in ("judged", "retrieved")]
    with pytest.raises(laneval.UnanswerableError, match="they were evaluated with relevant_from="):
        runs[1].compare(runs[0])


def test_wrong_words_are_refused() -> None:
    with pytest.raises(laneval.OptionError, match="judged or retrieved was expected"):
        laneval.evaluate(QRELS, RUN, "AP", relevant_from="some")  # type: ignore[typeddict-item]

"""Evaluations as other libraries do them."""

import pytest

import laneval

QRELS = {"q": {"a": 2, "b": 0, "c": 1, "e": 3}}
RUN = {"q": {"c": 5.0, "b": 5.0, "a": 3.0, "v": 3.0, "u": 3.0, "e": 1.0}}


def test_as_takes_names_and_options() -> None:
    # scikit-learn 1.9.1: ndcg_score
    assert laneval.evaluate(QRELS, RUN, "ndcg_score@3", as_="sklearn")["nDCG@3"] == pytest.approx(0.24124991684358482, rel=1e-12)
    # ranx 0.3.21
    assert laneval.evaluate(QRELS, RUN, ["ndcg@3", "mrr"], as_="ranx").to_dict() == {
        "nDCG@3": pytest.approx(0.42000399150792816, rel=1e-15),
        "RR": 1.0,
    }
    settings = {"ties": "average", "relevant_from": "retrieved", "queries": "common"}
    assert laneval.evaluate(QRELS, RUN, "nDCG@3", **settings)["nDCG@3"] == pytest.approx(0.24124991684358482, rel=1e-12)  # type: ignore[arg-type]


def test_without_names_it_is_the_usual_measures_of_the_library() -> None:
    assert list(laneval.evaluate(QRELS, RUN, as_="trec9")) == ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def test_what_does_not_agree_is_refused() -> None:
    with pytest.raises(
        laneval.OptionError, match='as_="sklearn" averages over equal scores, ties="input" does not: leave one out'
    ):
        laneval.evaluate(QRELS, RUN, "ndcg_score@3", as_="sklearn", ties="input")
    assert laneval.evaluate(QRELS, RUN, "ndcg_score@3", as_="sklearn", ties="average")
    with pytest.raises(laneval.OptionError, match="skleran: is no library: did you mean sklearn?"):
        laneval.evaluate(QRELS, RUN, as_="skleran")
    with pytest.raises(TypeError, match="as_ is 3: a str was expected"):
        laneval.evaluate(QRELS, RUN, as_=3)  # type: ignore[arg-type]
    with pytest.raises(laneval.MeasureError, match="--as ranx means its own names"):
        laneval.evaluate(QRELS, RUN, "trec:map", as_="ranx")


def test_pools_are_made_as_libraries_do() -> None:
    runs = {"a": RUN, "b": {"q": {"e": 2.0, "a": 1.0}}}
    by_hand = laneval.pools(QRELS, runs, "AP", ties="input", pool_depth=2)
    assert laneval.pools(QRELS, runs, "map", as_="ranx", pool_depth=2).left_out == by_hand.left_out
    with pytest.raises(laneval.UnanswerableError, match="as_='sklearn' has values over all orders"):
        laneval.pools(QRELS, runs, "ndcg", as_="sklearn", pool_depth=2)


def test_a_matrix_is_built_as_the_library_ranks() -> None:
    matrix = laneval.Matrix.build(QRELS, {"mine": RUN}, as_="ranx")  # which says how rankings are made, and nothing else
    assert matrix.evaluate("ndcg@3", as_="ranx")["mine"]["nDCG@3"] == pytest.approx(0.42000399150792816, rel=1e-15)
    with pytest.raises(laneval.OptionError, match="give it to `Matrix.build`"):
        laneval.Matrix.build(QRELS, {"mine": RUN}).evaluate("ndcg@3", as_="ranx")


def test_a_matrix_is_not_built_with_what_changes_values() -> None:
    for options, says in [
        ({"queries": "common"}, "queries='common' changes values and not rankings: give it to `evaluate`$"),
        ({"judged_only": True}, "judged_only=True changes values"),
        ({"relevant_from": "retrieved"}, "relevant_from='retrieved' changes values"),
        ({"ties": "average"}, "ties='average' .* keep_ties=True to `Matrix.build`"),
        ({"judges": "mean"}, "judges='mean' .* facet='judge' to `Matrix.build`"),
        ({"stats": "std", "per_query": True}, "per_query=True, stats='std' changes"),
        ({"engine": "cpu"}, "engine='cpu' changes"),
        ({"as_": "sklearn"}, "as_='sklearn' stands for queries='common', relevant_from='retrieved', ties='average', which changes values"),
    ]:
        with pytest.raises(laneval.OptionError, match=says):
            laneval.Matrix.build(QRELS, {"mine": RUN}, **options)
    with pytest.raises(TypeError, match="keep_ties is 'yes': True or False was expected"):
        laneval.Matrix.build(QRELS, {"mine": RUN}, keep_ties="yes")
    tied = laneval.Matrix.build({"q": {"a": 1, "b": 0, "c": 0}}, {"x": {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}}, keep_ties=True)
    assert (tied.evaluate("RR")["x"]["RR"], tied.evaluate("RR", ties="average")["x"]["RR"]) == (0.5, 0.75)
    with pytest.raises(laneval.UnanswerableError, match="keep_ties=True"):
        laneval.Matrix.build(QRELS, {"mine": RUN}).evaluate("RR", ties="average")

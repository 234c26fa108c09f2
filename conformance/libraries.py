"""Runs the libraries that are installed over the suite, and compares what they give with the definitions they are said to have.

    python3 conformance/libraries.py                    exit code 1 if a library gives another value than its definition has
    python3 conformance/libraries.py --need ranx …      exit code 1 too if one of these is not installed

A library that refuses a query says nothing of its definition there. Which definition each function has is in `recorded.py`.
"""

import argparse
import importlib.metadata
import json
import math
import sys
import warnings

from recorded import RECORDED, SUITE

CASES = json.loads((SUITE / "cases.json").read_text(encoding="utf-8"))["cases"]
VALUES = {row["id"]: row["values"] for row in json.loads((SUITE / "values.json").read_text(encoding="utf-8"))["values"]}
# The largest relative difference, of libraries that compute in f64 and in f32, and the decimals of those that round.
DOUBLE, SINGLE = 1e-12, 2e-6


class Case:
    """A query: the judgments, the run in the order of its file, and what a program knows that is given a list."""

    def __init__(self, case):
        self.k = case["k"]
        self.qrels = {doc: int(grade) for doc, grade in case["qrels"]}
        self.run = [(doc, float(score)) for doc, score in case["run"]]
        self.scores = [score for _, score in self.run]
        self.labels = [self.qrels.get(doc, 0) for doc, _ in self.run]
        self.ranked = [doc for doc, _ in sorted(self.run, key=lambda row: -row[1])]


def pytrec_eval(measure):
    import pytrec_eval

    def value(case):
        name = measure.format(k=case.k)
        family, _, cut = name.partition(".")
        asked = {f"{family}.{cut}"} if cut else {family}
        found = pytrec_eval.RelevanceEvaluator({"q": case.qrels}, asked).evaluate({"q": dict(case.run)})
        return found["q"][name.replace(".", "_")]

    return value


def ir_measures(measure):
    import ir_measures

    def value(case):
        of = ir_measures.parse_measure(measure.format(k=case.k))
        return next(iter(ir_measures.iter_calc([of], {"1": case.qrels}, {"1": dict(case.run)}))).value

    return value


def ranx(measure):
    import ranx

    def value(case):
        qrels = ranx.Qrels({"q": case.qrels})
        return ranx.evaluate(qrels, ranx.Run({"q": dict(case.run)}), measure.format(k=case.k))

    return value


def scikit_learn(function, cut=False):
    import numpy
    from sklearn import metrics

    def value(case):
        grades, scores = numpy.array([case.labels]), numpy.array([case.scores])
        if function in ("ndcg_score", "label_ranking_average_precision_score"):
            labels = grades if cut else (grades > 0).astype(int)
            more = {"k": case.k} if cut else {}
            return getattr(metrics, function)(labels, scores, **more)
        return getattr(metrics, function)((grades[0] > 0).astype(int), scores[0])

    return value


def lightgbm(metric):
    import lightgbm
    import numpy

    def value(case):
        if not case.run:
            raise ValueError("an empty group")
        # A feature that says nothing: the scores stay those that it starts with.
        data = numpy.zeros((len(case.run), 1))
        binary = [int(label > 0) for label in case.labels]
        labels = case.labels if metric == "ndcg" else binary
        parameters = {"objective": "lambdarank", "metric": metric, "eval_at": [case.k], "verbose": -1, "min_data_in_leaf": 1,
                      "label_gain": [2**grade - 1 for grade in range(8)], "feature_pre_filter": False}
        train = lightgbm.Dataset(data, labels, group=[len(labels)], init_score=case.scores)
        valid = lightgbm.Dataset(data, labels, group=[len(labels)], init_score=case.scores, reference=train)
        told = {}
        lightgbm.train(parameters, train, 1, valid_sets=[valid], callbacks=[lightgbm.record_evaluation(told)])
        return told["valid_0"][f"{metric}@{case.k}"][0]

    return value


def xgboost(metric):
    import numpy
    import xgboost

    def value(case):
        if not case.run:
            raise ValueError("an empty group")
        graded = metric.startswith("ndcg")
        labels = case.labels if graded else [int(label > 0) for label in case.labels]
        data = xgboost.DMatrix(numpy.zeros((len(labels), 1)), label=labels, base_margin=case.scores, qid=[0] * len(labels))
        name = metric.format(k=case.k)
        booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": name, "disable_default_eval_metric": 1}, [data])
        return float(booster.eval(data).rsplit(":", 1)[1])

    return value


def catboost(metric):
    from catboost.utils import eval_metric

    def value(case):
        if not case.run:
            raise ValueError("an empty group crashes it")
        labels = case.labels if metric.startswith("NDCG") else [int(label > 0) for label in case.labels]
        return eval_metric(labels, case.scores, metric.format(k=case.k), group_id=[0] * len(labels))[0]

    return value


def rectools(name, **options):
    import pandas
    from rectools import Columns, metrics

    def value(case):
        relevant = [doc for doc, grade in case.qrels.items() if grade > 0]
        truth = pandas.DataFrame({Columns.User: ["q"] * len(relevant), Columns.Item: relevant})
        ranked = case.ranked
        rows = {Columns.User: ["q"] * len(ranked), Columns.Item: ranked, Columns.Rank: range(1, len(ranked) + 1)}
        per_user = getattr(metrics, name)(k=case.k, **options).calc_per_user(pandas.DataFrame(rows), truth)
        return None if per_user.empty else per_user.iloc[0]

    return value


# Each package with its functions: the library and the name in libraries.json, how it is run, and how near its values are.
PACKAGES = {
    "pytrec-eval-terrier": [
        ("pytrec_eval", "nDCG@3", lambda: pytrec_eval("ndcg_cut.{k}"), DOUBLE),
        ("pytrec_eval", "AP@3", lambda: pytrec_eval("map_cut.{k}"), DOUBLE),
        ("pytrec_eval", "P@3", lambda: pytrec_eval("P.{k}"), DOUBLE),
        ("pytrec_eval", "R@3", lambda: pytrec_eval("recall.{k}"), DOUBLE),
        ("pytrec_eval", "RR", lambda: pytrec_eval("recip_rank"), DOUBLE),
        ("pytrec_eval", "Bpref", lambda: pytrec_eval("bpref"), DOUBLE),
    ],
    "ir_measures": [
        ("ir_measures", "nDCG@3", lambda: ir_measures("nDCG@{k}"), DOUBLE),
        ("ir_measures", "RR@3", lambda: ir_measures("RR@{k}"), DOUBLE),
        ("ir_measures", "P@3", lambda: ir_measures("P@{k}"), DOUBLE),
        ("ir_measures", "nDCG(exp)@3", lambda: ir_measures("nDCG(dcg='exp-log2')@{k}"), 5),
        ("ir_measures", "ERR@3", lambda: ir_measures("ERR@{k}"), 5),
        ("ir_measures", "nDCG(judged_only)@3", lambda: ir_measures("nDCG(judged_only=True)@{k}"), DOUBLE),
    ],
    "ranx": [
        ("ranx", "nDCG@3", lambda: ranx("ndcg@{k}"), DOUBLE),
        ("ranx", "nDCG(exp)@3", lambda: ranx("ndcg_burges@{k}"), DOUBLE),
        ("ranx", "AP@3", lambda: ranx("map@{k}"), DOUBLE),
        ("ranx", "RR@3", lambda: ranx("mrr@{k}"), DOUBLE),
        ("ranx", "P@3", lambda: ranx("precision@{k}"), DOUBLE),
        ("ranx", "R@3", lambda: ranx("recall@{k}"), DOUBLE),
        ("ranx", "nDCG-l2@3", lambda: ranx("ndcg@{k}-l2"), DOUBLE),
    ],
    "scikit-learn": [
        ("sklearn (retrieved)", "ndcg_score k=3", lambda: scikit_learn("ndcg_score", cut=True), DOUBLE),
        ("sklearn (retrieved)", "average_precision_score", lambda: scikit_learn("average_precision_score"), DOUBLE),
        ("sklearn (retrieved)", "label_ranking_average_precision_score", lambda: scikit_learn("label_ranking_average_precision_score"), DOUBLE),
        ("sklearn (retrieved)", "roc_auc_score", lambda: scikit_learn("roc_auc_score"), DOUBLE),
    ],
    "lightgbm": [
        ("LightGBM 4.7.0", "ndcg@3", lambda: lightgbm("ndcg"), DOUBLE),
        ("LightGBM 4.7.0", "map@3", lambda: lightgbm("map"), DOUBLE),
    ],
    "xgboost": [
        ("XGBoost 3.2.0", "ndcg@3", lambda: xgboost("ndcg@{k}"), SINGLE),
        ("XGBoost 3.2.0", "ndcg@3-", lambda: xgboost("ndcg@{k}-"), SINGLE),
        ("XGBoost 3.2.0", "map@3", lambda: xgboost("map@{k}"), SINGLE),
        ("XGBoost 3.2.0", "pre@3", lambda: xgboost("pre@{k}"), SINGLE),
    ],
    "catboost": [
        ("CatBoost 1.2.10", "NDCG", lambda: catboost("NDCG:top={k}"), DOUBLE),
        ("CatBoost 1.2.10", "MAP", lambda: catboost("MAP:top={k}"), DOUBLE),
        ("CatBoost 1.2.10", "PrecisionAt", lambda: catboost("PrecisionAt:top={k}"), DOUBLE),
        ("CatBoost 1.2.10", "RecallAt", lambda: catboost("RecallAt:top={k}"), DOUBLE),
    ],
    "rectools": [
        ("RecTools 0.19.0", "NDCG", lambda: rectools("NDCG"), DOUBLE),
        ("RecTools 0.19.0", "NDCG divide_by_achievable", lambda: rectools("NDCG", divide_by_achievable=True), DOUBLE),
        ("RecTools 0.19.0", "MAP", lambda: rectools("MAP"), DOUBLE),
        ("RecTools 0.19.0", "MAP divide_by_k", lambda: rectools("MAP", divide_by_k=True), DOUBLE),
        ("RecTools 0.19.0", "MRR", lambda: rectools("MRR"), DOUBLE),
    ],
}


def is_near(found, expected, near):
    if found is None or expected is None:
        return found is expected
    if isinstance(near, int):
        return abs(found - expected) <= 0.5000001 * 10**-near
    return abs(found - expected) <= near * max(abs(found), abs(expected))


def differing(function, definition, near):
    """How many values were compared, how many queries were refused, and what differs."""
    compared, refused, wrong = 0, 0, []
    for case in CASES:
        expected = VALUES[definition].get(case["id"])
        if case["id"] not in VALUES[definition]:
            continue
        try:
            found = function(Case(case))
        except Exception:  # noqa: BLE001: what a library raises is its way to refuse
            refused += 1
            continue
        found = None if found is None or math.isnan(found) else float(found)
        expected = float(expected["v"]) if expected else None
        compared += 1
        if not is_near(found, expected, near):
            wrong.append(f"    {case['id']}: {found}, and the definition has {expected}")
    return compared, refused, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--need", nargs="*", default=[], metavar="PACKAGE")
    needed = parser.parse_args().need
    if unknown := set(needed) - PACKAGES.keys():
        parser.error(f"no such package here: {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore")
    definitions = {(library, name): definition for library, name, definition in RECORDED}
    failed = False
    for package, functions in PACKAGES.items():
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            failed |= package in needed
            print(f"{package}: not installed")
            continue
        for library, name, make, near in functions:
            definition = definitions[library, name]
            compared, refused, wrong = differing(make(), definition, near)
            failed |= bool(wrong) or compared < 5
            print(f"{package} {version} {name} = {definition}: {compared} values, {len(wrong)} differ, {refused} refused")
            print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(failed)


main()

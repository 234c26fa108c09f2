"""Compares the definitions of the suite with what libraries gave when they were run: the rows of `libraries.json`, each with its definition.

    python3 conformance/recorded.py      exit code 1 if a library gave another value than its definition has
"""

import json
import sys
from pathlib import Path

SUITE = Path(__file__).resolve().parent / "v1"
# The definition of each function of a library: its library and name in libraries.json, and the definition.
RECORDED = [
    ("pytrec_eval", "nDCG@3", "nDCG:trec_eval"),
    ("pytrec_eval", "AP@3", "AP:trec_eval"),
    ("pytrec_eval", "P@3", "P:k"),
    ("pytrec_eval", "R@3", "R:judged"),
    ("pytrec_eval", "RR", "RR:trec_eval"),
    ("pytrec_eval", "Bpref", "Bpref"),
    ("trec_eval 9", "nDCG@3", "nDCG:trec_eval"),
    ("trec_eval 10", "nDCG@3", "nDCG:trec_eval"),
    ("ir_measures", "nDCG@3", "nDCG:trec_eval"),
    ("ir_measures", "RR@3", "RR:docno-asc"),
    ("ir_measures", "P@3", "P:k"),
    ("ir_measures", "nDCG(exp)@3", "nDCG:exp2"),
    ("ir_measures", "ERR@3", "ERR:4"),
    ("ir_measures", "nDCG(judged_only)@3", "nDCG:judged_only"),
    ("ranx", "nDCG@3", "nDCG:input"),
    ("ranx", "nDCG(exp)@3", "nDCG:exp2,input"),
    ("ranx", "AP@3", "AP:input"),
    ("ranx", "RR@3", "RR:cut"),
    ("ranx", "P@3", "P:k,input"),
    ("ranx", "R@3", "R:input"),
    ("ranx", "nDCG-l2@3", "nDCG:rel2"),
    ("sklearn (retrieved)", "ndcg_score k=3", "nDCG:closed,average"),
    ("sklearn (retrieved)", "average_precision_score", "AP:tied,closed"),
    ("sklearn (retrieved)", "label_ranking_average_precision_score", "AP:tied,closed,1"),
    ("sklearn (retrieved)", "roc_auc_score", "AUC:half"),
    ("LightGBM 4.7.0", "ndcg@3", "nDCG:closed,exp2,1"),
    ("LightGBM 4.7.0", "map@3", "AP:closed,min,1"),
    ("XGBoost 3.2.0", "ndcg@3", "nDCG:closed,exp2,1"),
    ("XGBoost 3.2.0", "ndcg@3-", "nDCG:closed,exp2,0"),
    ("XGBoost 3.2.0", "map@3", "AP:closed,min,1"),
    ("XGBoost 3.2.0", "pre@3", "P:min"),
    ("XGBoost 3.2.0", "auc", "AUC:xgboost"),
    ("CatBoost 1.2.10", "NDCG", "nDCG:closed,worst,raw,1"),
    ("CatBoost 1.2.10", "NDCG Position", "nDCG:closed,worst,zipf,1"),
    ("CatBoost 1.2.10", "MAP", "AP:closed,min,0,worst"),
    ("CatBoost 1.2.10", "MRR", "RR:docno-asc"),
    ("CatBoost 1.2.10", "PrecisionAt", "P:min,worst"),
    ("CatBoost 1.2.10", "RecallAt", "R:closed,1"),
    ("RecTools 0.19.0", "NDCG", "nDCG:full"),
    ("RecTools 0.19.0", "NDCG divide_by_achievable", "nDCG:binary,input,skip"),
    ("RecTools 0.19.0", "MAP", "AP:skip"),
    ("RecTools 0.19.0", "MAP divide_by_k", "AP:k"),
    ("RecTools 0.19.0", "MRR", "RR:skip"),
    ("recommenders 1.2.1", "ndcg_at_k", "nDCG:binary,input"),
    ("recommenders 1.2.1", "ndcg_at_k raw log2", "nDCG:input"),
    ("recommenders 1.2.1", "ndcg_at_k exp", "nDCG:exp2,input"),
    ("recommenders 1.2.1", "map", "AP:input"),
    ("recommenders 1.2.1", "map_at_k", "AP:min"),
    ("recommenders 1.2.1", "precision_at_k", "P:k,input"),
    ("recommenders 1.2.1", "recall_at_k", "R:input"),
    ("RePlay 0.22 (function)", "NDCG", "nDCG:binary,input"),
    ("RePlay 0.22 (function)", "MAP", "AP:min"),
    ("RePlay 0.22 (function)", "MRR", "RR:cut"),
    ("RePlay 0.22 (function)", "Precision", "P:k,input"),
    ("RePlay 0.22 (function)", "Recall", "R:input"),
    ("Cornac (file)", "NDCG", "nDCG:binary,input,skip"),
    ("Cornac (file)", "MRR", "RR:skip"),
    ("Cornac (file)", "Precision", "P:k,input"),
    ("Cornac (file)", "AUC", "AUC:strict"),
    ("RecBole (method)", "MRR", "RR:cut"),
    ("RecBole (method)", "MAP", "AP:min"),
    ("RecBole (method)", "NDCG", "nDCG:binary,input"),
    ("RecBole (method)", "Precision", "P:k,input"),
    ("BEIR 2.2.0", "MRR", "RR:cut"),
    ("BEIR 2.2.0", "R_cap", "R:skip,min"),
    ("MTEB (function)", "MRR", "RR:trec_eval"),
    ("sentence-transformers (method)", "ndcg@k", "nDCG:binary,input,skip"),
    ("sentence-transformers (method)", "map@k", "AP:min"),
    ("sentence-transformers (method)", "mrr@k", "RR:skip"),
    ("sentence-transformers (method)", "precision@k", "P:k,input"),
    ("sentence-transformers (method)", "recall@k", "R:input"),
    ("llama-index 0.14.25 (class)", "NDCG", "nDCG:uncut,binary"),
    ("llama-index 0.14.25 (class)", "AveragePrecision", "AP:input"),
    ("llama-index 0.14.25 (class)", "MRR", "RR:cut"),
    ("llama-index 0.14.25 (class)", "MRR granular", "RR:hits"),
    ("llama-index 0.14.25 (class)", "Precision", "P:min"),
    ("llama-index 0.14.25 (class)", "Recall", "R:input"),
    ("llama-index 0.14.25 (class)", "HitRate granular", "R:input"),
    ("mlflow 3.18 (function)", "ndcg_at_k", "nDCG:binary,input"),
    ("mlflow 3.18 (function)", "precision_at_k", "P:min"),
    ("mlflow 3.18 (function)", "recall_at_k", "R:input"),
    ("ragas 0.4 (method)", "context_precision", "AP:hits"),
    ("haystack 3.4 (method)", "MAP", "AP:input"),
    ("haystack 3.4 (method)", "MRR", "RR:cut"),
    ("haystack 3.4 (method)", "NDCG", "nDCG:uncut"),
    ("XGBoost 1.7.6", "ndcg@3", "nDCG:closed,exp2,1"),
    ("XGBoost 1.7.6", "map@3", "AP:closed,1"),
    ("XGBoost 1.7.6", "pre@3", "P:k,input"),
    ("XGBoost 1.7.6", "auc", "AUC:xgboost"),
    ("RankLib e43f605", "NDCG@3", "nDCG:closed,exp2,0"),
    ("RankLib e43f605", "MAP", "AP:closed,whole"),
    ("RankLib e43f605", "ERR@3", "ERR:4"),
    ("RankLib e43f605", "RR@3", "RR:cut"),
    ("RankLib e43f605", "P@3", "P:min"),
    ("OpenSearch search-relevance d8be5d1", "P@3", "P:min"),
    ("OpenSearch search-relevance d8be5d1", "MAP@3", "AP:input"),
    ("OpenSearch search-relevance d8be5d1", "NDCG@3", "nDCG:round2,exp2"),
    ("Quepid f80322f3 (scorer, 5 decimals)", "ndcg@10", "nDCG:uncut,exp2,raw"),
    ("Quepid f80322f3 (scorer, 5 decimals)", "ap@10", "AP:skip"),
    ("Quepid f80322f3 (scorer, 5 decimals)", "rr@10", "RR:cut"),
]
# What a value may differ by that is printed with more than five decimals: f32.
RELATIVE = 2e-6


def read(name):
    return json.loads((SUITE / name).read_text(encoding="utf-8"))


def decimals(texts):
    """To how many decimals a library rounds; none if it does not."""
    most = max((len(text.split(".")[1]) for text in texts if "." in text and "e" not in text), default=0)
    return most if most <= 5 else None


def agrees(found, expected, digits):
    """Whether a library's value is that of a definition; both may be none, for a query that is left out."""
    if found is None or expected is None:
        return found is expected
    most = 0.5000001 * 10**-digits if digits is not None else RELATIVE * max(abs(found), abs(expected))
    return abs(found - expected) <= most


def compare(row, values):
    """The cases of a row that differ, and how many were compared; what a library refuses is not."""
    given = {case: text for case, text in row["values"].items() if not isinstance(text, dict)}
    digits = decimals([text for text in given.values() if text is not None])
    number = lambda text: None if text is None else float(text)  # noqa: E731
    expected = {case: None if values[case] is None else float(values[case]["v"]) for case in given}
    return [case for case, text in given.items() if not agrees(number(text), expected[case], digits)], len(given)


def main():
    values = {row["id"]: row["values"] for row in read("values.json")["values"]}
    rows = {(row["library"], row["name"]): row for row in read("libraries.json")["libraries"]}
    compared, wrong = 0, 0
    for library, name, definition in RECORDED:
        differing, count = compare(rows[library, name], values[definition])
        compared += count
        wrong += len(differing)
        if count < 3:
            wrong += 1
            print(f"{library} {name}: {count} values")
        for case in differing:
            print(f"{library} {name}, {case}: {rows[library, name]['values'][case]} for {values[definition][case]} ({definition})")
    named = {(library, name) for library, name, _ in RECORDED}
    print(f"{len(named)} of {len(rows)} recorded rows are definitions of the suite: {compared} values compared, {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

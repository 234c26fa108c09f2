"""The definitions of the suite: what libraries compute, each by its choices, in laneval's words where it has them."""

from dataclasses import dataclass

from formulas import Choices


# The prefixes of libraries whose name is another one.
SHORT = {
    "trec_eval": "trec",
    "ir_measures": "irm",
    "scikit-learn": "sklearn",
    "sentence-transformers": "st",
    "Elasticsearch": "elastic",
    "ml_metrics": "kaggle",
    "XGBoost 1": "xgboost1",
    "XGBoost 2 and later": "xgboost",
    "LlamaIndex 0.10": "llamaindex0",
}


def short(name):
    """The short name of a library, of which `(...)` says a function or option."""
    library = name.split(" (")[0]
    return SHORT.get(library, library.lower())


@dataclass
class Definition:
    """A row: the choices, laneval's measure and options (no measure: laneval has no words for it), a formula, and who has it."""

    choices: Choices
    measure: str | None
    options: dict
    formula: str
    libraries: list
    unless: str | None  # where laneval's measure is another: "negative grades", or "one kind" (a list of relevant documents only, or of others)


def row(measure, spelled, options, formula, libraries="", unless=None, **chosen):
    """A row of the table; libraries are separated by commas."""
    names = [name for name in libraries.split(", ") if name]
    return Definition(Choices(measure, **chosen), spelled, options, formula, names, unless)


DEFINITIONS = {
    "nDCG:trec_eval": row(
        "nDCG", "nDCG@k", {},
        "Σ g / lg(i + 1) over that of the best k judged documents",
        "trec_eval, pytrec_eval, ir_measures, BEIR, MTEB",
    ),
    "nDCG:input": row(
        "nDCG", "nDCG@k", {"ties": "input"},
        "as trec_eval, equal scores in the order of the file",
        "ranx, recommenders (raw)",
        order="input",
    ),
    "nDCG:exp2": row(
        "nDCG", "nDCG(gain=exp2)@k", {},
        "gain 2^g − 1",
        "gdeval, ir_measures (exp-log2)",
        gain="exp2",
    ),
    "nDCG:exp2,input": row(
        "nDCG", "nDCG(gain=exp2)@k", {"ties": "input"},
        "gain 2^g − 1, equal scores in the order of the file",
        "ranx (ndcg_burges), recommenders (exp)",
        gain="exp2", order="input",
    ),
    "nDCG:binary,input": row(
        "nDCG", "nDCG(gain=binary)@k", {"ties": "input"},
        "gain 1 for each relevant document",
        "RePlay, RecBole, mlflow, recommenders",
        gain="binary", order="input",
    ),
    "nDCG:binary,input,skip": row(
        "nDCG", "nDCG(gain=binary,no_relevant=skip)@k", {"ties": "input"},
        "gain 1 for each relevant document; no value where nothing is relevant",
        "RecTools (divide_by_achievable), Cornac, sentence-transformers",
        gain="binary", order="input", nothing=None,
    ),
    "nDCG:jk,binary,skip": row(
        "nDCG", "nDCG(discount=jk,gain=binary,no_relevant=skip)@k", {"ties": "input"},
        "gain 1 over max(1, lg i); no value where nothing is relevant",
        "LensKit",
        gain="binary", discount="jk", order="input", nothing=None,
    ),
    "nDCG:judged_only": row(
        "nDCG", "nDCG@k", {"judged_only": True},
        "as trec_eval, without unjudged documents",
        "ir_measures (judged_only)",
        judged_only=True,
    ),
    "nDCG:closed,average": row(
        "nDCG", "nDCG@k", {"ties": "average", "relevant_from": "retrieved"},
        "of the retrieved documents alone, the mean over all orders of equal scores",
        "scikit-learn (ndcg_score), torchmetrics",
        order="average", relevant_from="retrieved",
    ),
    "nDCG:union,average": row(
        "nDCG", "nDCG@k", {"ties": "average"},
        "the mean over all orders of equal scores",
        "scikit-learn (ndcg_score of all judged documents)",
        order="average",
    ),
    "nDCG:closed,exp2,1": row(
        "nDCG", "nDCG(gain=exp2,no_relevant=1)@k", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, gain 2^g − 1; 1 where nothing is relevant",
        "LightGBM, XGBoost",
        gain="exp2", order="input", relevant_from="retrieved", nothing=1,
    ),
    "nDCG:closed,exp2,0": row(
        "nDCG", "nDCG(gain=exp2)@k", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, gain 2^g − 1",
        "XGBoost (ndcg@k-), RankLib, allRank",
        gain="exp2", order="input", relevant_from="retrieved",
    ),
    "nDCG:closed,worst,raw,1": row(
        "nDCG", None, {},
        "of the retrieved documents alone, the worst first among equal scores, negative grades as they are; 1 where nothing is relevant",
        "CatBoost",
        order="worst", relevant_from="retrieved", raw=True, nothing=1,
    ),
    "nDCG:closed,worst,raw,0": row(
        "nDCG", None, {},
        "of the retrieved documents alone, the worst first among equal scores, negative grades as they are",
        order="worst", relevant_from="retrieved", raw=True,
    ),
    "nDCG:closed,worst,zipf,1": row(
        "nDCG", None, {},
        "of the retrieved documents alone, gains over i, the worst first among equal scores, negative grades as they are; 1 where nothing is relevant",
        "CatBoost (denominator=Position)",
        order="worst", relevant_from="retrieved", raw=True, discount="rank", nothing=1,
    ),
    "nDCG:closed,linear,input": row(
        "nDCG", "nDCG@k", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, equal scores in their order",
        order="input", relevant_from="retrieved",
    ),
    "nDCG:top": row(
        "nDCG", "nDCG(ideal=retrieved)@k", {"ties": "input", "max_rank": "k"},
        "the ideal is the best order of the first k results themselves",
        order="input", ideal="top",
    ),
    "nDCG:uncut": row(
        "nDCG", "nDCG(ideal=uncut)@k", {"ties": "input"},
        "the ideal is of all judged documents, not cut at k",
        "Haystack",
        order="input", ideal="uncut",
    ),
    "nDCG:uncut,exp2,raw": row(
        "nDCG", None, {},
        "gain 2^g − 1, the ideal not cut at k, negative grades as they are",
        "Quepid (nDCG@10)",
        order="input", ideal="uncut", gain="exp2", raw=True,
    ),
    "nDCG:uncut,binary": row(
        "nDCG", "nDCG(gain=binary,ideal=uncut)@k", {"ties": "input"},
        "gain 1 for each relevant document, the ideal not cut at k",
        "LlamaIndex",
        order="input", ideal="uncut", gain="binary",
    ),
    "nDCG:returned,exp2": row(
        "nDCG", "nDCG(gain=exp2,ideal=returned)@k", {"ties": "input"},
        "gain 2^g − 1, the ideal cut at the number of results",
        "Elasticsearch",
        order="input", ideal="returned", gain="exp2",
    ),
    "nDCG:full": row(
        "nDCG", "SDCG(no_relevant=skip)@k", {"ties": "input"},
        "Σ 1 / lg(i + 1) at relevant ranks over that of k ones; no value where nothing is relevant",
        "RecTools",
        order="input", ideal="full", gain="binary", nothing=None,
    ),
    "nDCG:filled": row(
        "nDCG", "SDCG(norm=min)@k", {"ties": "input"},
        "Σ 1 / lg(i + 1) at relevant ranks over that of min(k, n) ones",
        "LlamaIndex 0.10",
        order="input", ideal="filled", gain="binary",
    ),
    "nDCG:rel2": row(
        "nDCG", "nDCG(rel=2)@k", {"ties": "input"},
        "grades below 2 are worth nothing",
        "ranx (-l2)",
        order="input", rel=2,
    ),
    "nDCG:round2,exp2": row(
        "nDCG", None, {},
        "gain 2^g − 1, negative grades as they are, each query rounded to 2 decimals",
        "OpenSearch",
        order="input", gain="exp2", raw=True, digits=2,
    ),
    "AP:trec_eval": row(
        "AP", "AP@k", {},
        "Σ P@i at relevant ranks / R",
        "trec_eval, pytrec_eval, ir_measures, BEIR, MTEB",
    ),
    "AP:input": row(
        "AP", "AP@k", {"ties": "input"},
        "Σ P@i / R, equal scores in the order of the file",
        "ranx, Haystack, LlamaIndex, recommenders (map)",
        order="input",
    ),
    "AP:skip": row(
        "AP", "AP(no_relevant=skip)@k", {"ties": "input"},
        "Σ P@i / R; no value where nothing is relevant",
        "RecTools, Quepid",
        order="input", nothing=None,
    ),
    "AP:min": row(
        "AP", "AP(norm=min)@k", {"ties": "input"},
        "Σ P@i / min(k, R)",
        "RePlay, RecBole, recommenders (map_at_k), sentence-transformers",
        order="input", norm="min",
    ),
    "AP:min,1": row(
        "AP", "AP(norm=min,no_relevant=1)@k", {"ties": "input"},
        "Σ P@i / min(k, R); 1 where nothing is relevant",
        "ml_metrics (apk)",
        order="input", norm="min", nothing=1,
    ),
    "AP:closed,min,1": row(
        "AP", "AP(norm=min,no_relevant=1)@k", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, Σ P@i / min(k, R); 1 where nothing is relevant",
        "LightGBM, XGBoost 2 and later",
        order="input", relevant_from="retrieved", norm="min", nothing=1,
    ),
    "AP:closed,min,0,worst": row(
        "AP", "AP(norm=min)@k", {"ties": "worst", "relevant_from": "retrieved"},
        "of the retrieved documents alone, Σ P@i / min(k, R), the worst first among equal scores",
        "CatBoost",
        order="worst", relevant_from="retrieved", norm="min",
    ),
    "AP:closed,1": row(
        "AP", "AP(no_relevant=1)@k", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, Σ P@i / R; 1 where nothing is relevant",
        "XGBoost 1",
        order="input", relevant_from="retrieved", nothing=1,
    ),
    "AP:closed,whole": row(
        "AP", "AP", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, all of them, Σ P@i / R",
        "RankLib",
        order="input", relevant_from="retrieved", k=False,
    ),
    "AP:hits": row(
        "AP", "AP(norm=hits)@k", {"ties": "input"},
        "Σ P@i over the number of relevant documents in the first k ranks",
        "ragas, torchmetrics",
        order="input", norm="hits",
    ),
    "AP:k": row(
        "AP", "AP(norm=k,no_relevant=skip)@k", {"ties": "input"},
        "Σ P@i / k; no value where nothing is relevant",
        "RecTools (divide_by_k)",
        order="input", norm="k", nothing=None,
    ),
    "AP:retrieved": row(
        "AP", "AP(norm=retrieved,no_relevant=skip)@k", {"ties": "input"},
        "Σ P@i / min(k, n, R); no value where nothing is relevant",
        "LensKit",
        order="input", norm="retrieved", nothing=None,
    ),
    "AP:tied,closed": row(
        "AP(ties=together)", "AP(ties=together)", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, each relevant one at the last rank of its group of equal scores",
        "scikit-learn (average_precision_score)",
        order="input", relevant_from="retrieved",
    ),
    "AP:tied,closed,1": row(
        "AP(ties=together)", "AP(no_relevant=1,ties=together)", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, each relevant one at the last rank of its group of equal scores; 1 where nothing is relevant",
        "scikit-learn (label_ranking_average_precision_score)",
        order="input", relevant_from="retrieved", nothing=1,
    ),
    "RR:trec_eval": row(
        "RR", "RR", {},
        "1 over the rank of the first relevant document, not cut at k",
        "trec_eval, pytrec_eval",
        k=False,
    ),
    "RR:cut": row(
        "RR", "RR@k", {"ties": "input"},
        "1 over the rank of the first relevant document",
        "ranx, RePlay, RecBole, BEIR, Haystack, LlamaIndex, Quepid",
        order="input",
    ),
    "RR:docno-asc": row(
        "RR", "RR@k", {"ties": "docno-asc"},
        "1 over the rank of the first relevant document, equal scores by document id, ascending",
        "ir_measures (RR@k)",
        order="docno-asc",
    ),
    "RR:hits": row(
        "RR", "RR(over=hits)@k", {"ties": "input"},
        "the mean of 1 / i over the relevant documents in the first k ranks",
        "LlamaIndex (use_granular_mrr)",
        order="input", over="hits",
    ),
    "RR:judged": row(
        "RR", "RR(over=relevant)", {"ties": "input", "relevant_from": "retrieved"},
        "of the retrieved documents alone, Σ 1 / i over all relevant ones / R",
        "recommenders (deeprec mrr_score)",
        order="input", over="relevant", k=False, relevant_from="retrieved",
    ),
    "RR:skip": row(
        "RR", "RR(no_relevant=skip)@k", {"ties": "input"},
        "1 over the rank of the first relevant document; no value where nothing is relevant",
        "RecTools, Cornac, sentence-transformers",
        order="input", nothing=None,
    ),
    "P:k": row(
        "P", "P@k", {},
        "relevant documents in the first k ranks / k",
        "trec_eval, pytrec_eval, ir_measures, BEIR, MTEB",
    ),
    "P:k,input": row(
        "P", "P@k", {"ties": "input"},
        "relevant documents in the first k ranks / k, equal scores in the order of the file",
        "ranx, RePlay, RecBole, recommenders, Cornac, sentence-transformers, XGBoost 1",
        order="input",
    ),
    "P:min": row(
        "P", "P(norm=min)@k", {"ties": "input"},
        "relevant documents in the first k ranks / min(k, n)",
        "XGBoost 2 and later, LlamaIndex, mlflow, RankLib",
        order="input", norm="min",
    ),
    "P:judged": row(
        "P", "P(norm=min)@k", {"ties": "input", "judged_only": True, "max_rank": "k"},
        "relevant documents in the first k ranks / the judged ones there",
        "Elasticsearch (ignore_unlabeled)",
        order="input", norm="shown", unless="negative grades",
    ),
    "P:min,worst": row(
        "P", "P(norm=min)@k", {"ties": "worst"},
        "relevant documents in the first k ranks / min(k, n), the worst first among equal scores",
        "CatBoost",
        order="worst", norm="min",
    ),
    "R:judged": row(
        "R", "R@k", {},
        "relevant documents in the first k ranks / R",
        "trec_eval, pytrec_eval, ir_measures, BEIR, MTEB",
    ),
    "R:input": row(
        "R", "R@k", {"ties": "input"},
        "relevant documents in the first k ranks / R, equal scores in the order of the file",
        "ranx, RePlay, recommenders, LlamaIndex, mlflow, sentence-transformers",
        order="input",
    ),
    "R:min": row(
        "R", "R(norm=min)@k", {"ties": "input"},
        "relevant documents in the first k ranks / min(k, R)",
        order="input", norm="min",
    ),
    "R:closed,1": row(
        "R", "R(no_relevant=1)@k", {"ties": "worst", "relevant_from": "retrieved"},
        "of the retrieved documents alone, the worst first among equal scores; 1 where nothing is relevant",
        "CatBoost",
        order="worst", relevant_from="retrieved", nothing=1,
    ),
    "R:skip,min": row(
        "R", "R(norm=min,no_relevant=skip)@k", {"ties": "input"},
        "relevant documents in the first k ranks / min(k, R); no value where nothing is relevant",
        "LensKit, BEIR (R_cap)",
        order="input", norm="min", nothing=None,
    ),
    "ERR:4": row(
        "ERR", "ERR(gmax=4)@k", {},
        "a document of grade g stops with (2^g − 1) / 2^4",
        "ir_measures, RankLib",
    ),
    "ERR:3": row(
        "ERR", "ERR(gmax=3)@k", {"ties": "input"},
        "a document of grade g stops with (2^g − 1) / 2^3",
        order="input", gmax=3,
    ),
    "Bpref": row(
        "Bpref", "Bpref", {},
        "the mean over relevant documents of 1 − min(judged others above, R) / min(N, R)",
        "trec_eval, pytrec_eval",
    ),
    "Bpref:ranx": row(
        "Bpref", "Bpref(negatives=nonrelevant)", {"ties": "input"},
        "as trec_eval, negative grades being judgments that a document is not relevant",
        "ranx",
        order="input", raw=True,
    ),
    "AUC:half": row(
        "AUC", "Accuracy", {"ties": "average", "relevant_from": "retrieved"},
        "pairs of a relevant and another retrieved document with the relevant one above, ½ for equal scores",
        "scikit-learn (roc_auc_score)",
        nothing=None, unless="one kind",
    ),
    "AUC:strict": row(
        "AUC", "Accuracy", {"ties": "worst", "relevant_from": "retrieved"},
        "pairs of a relevant and another retrieved document with the relevant one above, 0 for equal scores",
        "Cornac",
        order="worst", nothing=None, unless="one kind",
    ),
    "AUC:xgboost": row(
        "AUC", None, {},
        "all pairs of retrieved documents, relevant ones before others as they stand, ½ for equal scores",
        "XGBoost",
        over="pairs", nothing=None, order="input",
    ),
}

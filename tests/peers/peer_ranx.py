"""ranx: data without ties, with the same topics in both files, 1e-12."""

from inputs import data_sets
from program import tidy
from tally import CLOSE, within

NAMES = ("hits@5", "hit_rate@5", "precision@5", "recall@5", "f1@5", "map@5", "map@10", "map", "mrr@10", "r-precision", "ndcg@10",
         "ndcg", "ndcg_burges@10", "dcg@10", "dcg_burges@10", "bpref", "rbp.95", "rbp.5")
LEVELS = ("", "-l2", "-l3")  # of relevance; the first is 1
# Documents below the level of relevance have no gain in ranx. That level is 1 by default, which whole grades do not show.
REAL = {"ndcg@10": "nDCG(rel=1)@10", "ndcg": "nDCG(rel=1)", "ndcg_burges@10": "nDCG(gain=exp2,rel=1)@10", "dcg@10": "DCG(rel=1)@10",
        "dcg_burges@10": "DCG(gain=exp2,rel=1)@10"}
# On binary data another measure of laneval has the values of `rbp.95`.
BINARY = {"rbp.95": "RBP(p=0.95)", "map": "AP", "ndcg@10": "nDCG@10"}


def ranx_values(names, qrels, run):
    import ranx

    topics = sorted(qrels.keys() & run.keys())  # ranx pairs the topics of two plain dicts by position
    scores = ranx.evaluate({t: {d: float(g) for d, g in qrels[t].items()} for t in topics},
                           {t: run[t] for t in topics}, list(names), return_mean=False)
    scores = {names[0]: scores} if len(names) == 1 else scores
    return {name: dict(zip(topics, map(float, scores[name]))) for name in names}


def ranx_bpref(name, qrels, run):
    """Only the topics for which ranx's bpref is defined: they have a relevant and a non-relevant document.

    Any other topic divides by zero, and the exception leaves 0 for all topics after it in its parallel loop.
    """
    level = int(name.partition("-l")[2] or 1)
    known = {topic: judged for topic, judged in qrels.items() if len({grade >= level for grade in judged.values()}) == 2}
    return ranx_values([name, "map"], known, run)[name]  # asked for `bpref-l2` alone, ranx looks up `bpref`


def check(laneval, tally, folder, options):
    seeds = [51] + ([] if options.quick else [52, 53]) + options.seeds
    named = {name + level: laneval.names.meaning(f"ranx:{name}{level}") for level in LEVELS for name in NAMES}
    real = named | REAL
    for shape, rows in (("distinct", named), ("untied", named), ("binary", BINARY), ("real untied", real)):
        recipes = [{"seed": seed, "shape": shape, "queries": 30, "depth": 50} for seed in seeds]
        for data in data_sets(folder, recipes):
            if rows is real:
                data.must_have_many_grades()
            asked = list(rows.values()) if rows in (BINARY, real) else [f"ranx:{name}" for name in rows]
            ours = laneval.evaluate(data, asked, ("--queries", "common"))
            qrels, run = data.read_qrels(), data.read_run()
            theirs = ranx_values([name for name in rows if not name.startswith("bpref")], qrels, run)
            for name, mine in rows.items():
                expected = ranx_bpref(name, qrels, run) if name.startswith("bpref") else theirs[name]
                found = {topic: value for topic, value in ours[tidy(mine)].items() if topic in expected}
                tally.add_topics("ranx many grades" if rows is real else "ranx", mine, found, expected, within(CLOSE), data.label)

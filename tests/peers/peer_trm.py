"""trm (tie-aware-retrieval-metrics): binary data with ties under `--ties average`, `best` and `worst`, 5e-15, relative."""

import itertools
from collections import defaultdict

from inputs import data_sets
from program import tidy
from tally import TIED, relative

CUTOFFS = (1, 3, 10, 100)
# trm's name -> laneval's, which a cutoff follows
TRM = {"ndcg": "nDCG", "mrr": "RR", "map": "AP", "recall": "R", "precision": "P", "f1": "F", "hits": "Hits"}


def trm_values(topics, qrels, run):
    """{rule: {laneval's name: {topic: value}}}.

    Beyond the end of a ranking its largest and smallest precision and F1 divide by the documents there are, and its expected ones by the
    cutoff, as trec_eval does.
    """
    import trm

    relevant = [[qrels[topic].get(docno, 0) > 0 for docno in run[topic]] for topic in topics]
    found = trm.evaluate([list(run[topic].values()) for topic in topics], relevant, list(TRM), list(CUTOFFS))
    values = {rule: defaultdict(dict) for rule in ("average", "best", "worst")}
    for (metric, name), k in itertools.product(TRM.items(), CUTOFFS):
        for topic, labels, value in zip(topics, relevant, found.per_query[metric][k]):
            fixed = {"precision": 0, "f1": sum(labels)}.get(metric)
            factor = 1.0 if fixed is None else (min(k, len(labels)) + fixed) / (k + fixed)
            values["average"][f"{name}@{k}"][topic] = value.expected
            values["best"][f"{name}@{k}"][topic] = value.maximum * factor
            values["worst"][f"{name}@{k}"][topic] = value.minimum * factor
    return values


def check(laneval, tally, folder, options):
    """The relevant documents that it knows are those retrieved: here they are all that there are."""
    seeds = [91] + ([] if options.quick else [92]) + options.seeds
    recipes = [{"seed": seed, "shape": "tied", "queries": 40, "depth": depth} for seed in seeds for depth in (7, 60)]
    for data in data_sets(folder, recipes):
        qrels, run = data.read_qrels(), data.read_run()
        names = [f"{name}@{k}" for name, k in itertools.product(TRM.values(), CUTOFFS)]
        for rule, theirs in trm_values(sorted(qrels.keys() & run.keys()), qrels, run).items():
            ours = laneval.evaluate(data, names, ("--queries", "common", "--ties", rule))
            for name in names:
                tally.add_topics(f"trm {rule}", name, ours[tidy(name)], theirs[name], relative(TIED), data.label)

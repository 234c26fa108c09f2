"""scikit-learn: data without ties and unjudged documents, 1e-12; data with ties under `--ties average`, 5e-15, relative."""

from inputs import data_sets
from program import tidy
from tally import CLOSE, TIED, relative, within

# (laneval's name, scikit-learn's function, its keyword arguments)
SKLEARN_RETRIEVED = (
    ("nDCG(ideal=retrieved)", "ndcg_score", {}),
    ("nDCG(ideal=retrieved)@10", "ndcg_score", {"k": 10}),
    ("DCG", "dcg_score", {}),
    ("DCG@10", "dcg_score", {"k": 10}),
)
SKLEARN_CLOSED = SKLEARN_RETRIEVED + (
    ("nDCG@10", "ndcg_score", {"k": 10}),
    ("AP", "average_precision_score", {"rel": 1}),
    ("AP(rel=2)", "average_precision_score", {"rel": 2}),
)

# Grades are real numbers, more of them than fit into a byte.
SKLEARN_REAL = SKLEARN_CLOSED + (
    ("nDCG", "ndcg_score", {}),
    ("nDCG@3", "ndcg_score", {"k": 3}),
    ("DCG@3", "dcg_score", {"k": 3}),
    ("AP(rel=0.7)", "average_precision_score", {"rel": 0.7}),
    ("AP(rel=2.5)", "average_precision_score", {"rel": 2.5}),
)

# (laneval's name, the gain of each grade, are ideal rankings made of the judgments?); also at the cutoffs below.
SKLEARN_TIED = (
    ("DCG", lambda grade: grade, None),
    ("DCG(gain=exp2)", lambda grade: 2**grade - 1, None),
    ("nDCG(ideal=retrieved)", lambda grade: grade, False),
    ("nDCG(gain=exp2,ideal=retrieved)", lambda grade: 2**grade - 1, False),
    ("nDCG", lambda grade: grade, True),
)
TIED_CUTOFFS = (1, 3, 10, 100)


def sklearn_values(function, keywords, qrels, run):
    """One value per topic that has what the function needs: two documents, or a relevant one."""
    import sklearn.metrics

    values = {}
    for topic, scores in run.items():
        grades = [qrels[topic][docno] for docno in scores]
        if function == "average_precision_score":
            labels = [int(grade >= keywords["rel"]) for grade in grades]
            if any(labels):
                values[topic] = float(sklearn.metrics.average_precision_score(labels, list(scores.values())))
        elif len(grades) > 1:
            call = getattr(sklearn.metrics, function)
            values[topic] = float(call([grades], [list(scores.values())], ignore_ties=False, **keywords))
    return values


def sklearn_tied_values(gain, of_judgments, k, qrels, run):
    """DCG, or nDCG; of topics with two documents and two judgments, which the function needs."""
    from sklearn.metrics import dcg_score, ndcg_score

    values = {}
    for topic in qrels.keys() & run.keys():
        scores, judged = run[topic], qrels[topic]
        if min(len(scores), len(judged)) < 2:
            continue
        gains = [gain(max(judged.get(docno, 0), 0)) for docno in scores]
        given = [gains], [list(scores.values())]
        values[topic] = float((ndcg_score if of_judgments is False else dcg_score)(*given, k=k))
        if of_judgments:
            best = [[gain(max(grade, 0)) for grade in judged.values()]]
            ideal = dcg_score(best, best, k=k)
            values[topic] = values[topic] / ideal if ideal else 0.0
    return values


def check_sklearn_tied(laneval, tally, folder, options):
    """Unjudged documents have no gain, and negative grades neither."""
    seeds = [64] + ([] if options.quick else [65]) + options.seeds
    recipes = [{"seed": seed, "queries": 40, "depth": depth} for seed in seeds for depth in (12, 60)]
    for data in data_sets(folder, recipes):
        qrels, run = data.read_qrels(), data.read_run()
        rows = [(f"{name}@{k}" if k else name, gain, of_judgments, k)
                for name, gain, of_judgments in SKLEARN_TIED for k in (None, *TIED_CUTOFFS)]
        ours = laneval.evaluate(data, [row[0] for row in rows], ("--queries", "common", "--ties", "average"))
        for name, gain, of_judgments, k in rows:
            theirs = sklearn_tied_values(gain, of_judgments, k, qrels, run)
            known = {topic: value for topic, value in ours[tidy(name)].items() if topic in theirs}
            tally.add_topics("scikit-learn ties", name, known, theirs, relative(TIED), data.label)


def check(laneval, tally, folder, options):
    check_sklearn_tied(laneval, tally, folder, options)
    seeds = [61] + ([] if options.quick else [62, 63]) + options.seeds
    for shape, rows in (("judged", SKLEARN_RETRIEVED), ("closed", SKLEARN_CLOSED), ("real closed", SKLEARN_REAL)):
        recipes = [{"seed": seed, "shape": shape, "queries": 30, "depth": 60} for seed in seeds]
        for data in data_sets(folder, recipes, runs=("run",)):  # the second run holds unjudged documents
            if rows is SKLEARN_REAL:
                data.must_have_many_grades()
            qrels, run = data.read_qrels(), data.read_run()
            ours = laneval.evaluate(data, [mine for mine, _, _ in rows])
            for mine, function, keywords in rows:
                theirs = sklearn_values(function, keywords, qrels, run)
                known = {topic: value for topic, value in ours[tidy(mine)].items() if topic in theirs}
                tally.add_topics("scikit-learn many grades" if rows is SKLEARN_REAL else "scikit-learn", mine, known, theirs, within(CLOSE), data.label)

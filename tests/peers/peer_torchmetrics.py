"""torchmetrics: data without ties, its own f32, 1e-6; only with --only torchmetrics, as it is not in requirements.txt."""

from inputs import by_rank, data_sets
from program import tidy
from tally import within

# (laneval's name, torchmetrics.functional.retrieval's function, its keyword arguments)
TORCH = tuple(row for k in (1, 5, 40) for row in (
    (f"P@{k}", "retrieval_precision", {"top_k": k}),
    (f"P(norm=min)@{k}", "retrieval_precision", {"top_k": k, "adaptive_k": True}),
    (f"R@{k}", "retrieval_recall", {"top_k": k}),
    (f"AP(norm=hits)@{k}", "retrieval_average_precision", {"top_k": k}),
    (f"RR@{k}", "retrieval_reciprocal_rank", {"top_k": k}),
    (f"Success@{k}", "retrieval_hit_rate", {"top_k": k}),
    (f"FallOut@{k}", "retrieval_fall_out", {"top_k": k}),
    (f"nDCG(ideal=retrieved)@{k}", "retrieval_normalized_dcg", {"top_k": k}),
))


def torch_values(function, keywords, qrels, run):
    """The values of torchmetrics, whose documents are those of the run, with positive scores: it sets the others to 0."""
    import torch
    import torchmetrics.functional.retrieval

    values = {}
    for topic, scores in by_rank(run).items():
        grades = [max(qrels.get(topic, {}).get(docno, 0), 0) for docno in scores]
        target = torch.tensor(grades if "dcg" in function else [grade >= 1 for grade in grades])
        call = getattr(torchmetrics.functional.retrieval, function)
        values[topic] = float(call(torch.tensor(list(scores.values())), target, **keywords))
    return values


def check(laneval, tally, folder, options):
    # All relevant documents are retrieved: recall is of those given.
    for seed in [81, 82] + options.seeds:
        for data in data_sets(folder, [{"seed": seed, "shape": "closed", "queries": 30, "depth": 30}], runs=("run",)):
            qrels, run = data.read_qrels(), data.read_run()
            ours = laneval.evaluate(data, [mine for mine, _, _ in TORCH])
            for mine, function, keywords in TORCH:
                theirs = torch_values(function, keywords, qrels, run)
                tally.add_topics("torchmetrics", mine, ours[tidy(mine)], theirs, within(1e-6), data.label)

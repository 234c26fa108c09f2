"""All orders: small tied rankings, and pytrec_eval's values of every order of equal scores.

The largest and the smallest are equal bit for bit, the mean to 4 ulps of 1 (relative above 1).
"""

import itertools
import math
from collections import defaultdict

from inputs import data_sets
from peer_pytrec_eval import MULTIPLES, pytrec_values
from program import tidy
from tally import few_ulps, same_bits

# Arguments of trec_eval for measures with an expected value over all orders, and for those with a best and a worst one besides.
ORDERS_MEAN = (
    "map", "Rprec", "recip_rank", "ndcg", "bpref", "infAP", "binG", "ndcg_rel", "Rndcg", "utility", "set_P", "set_recall",
    "set_F", "set_map", "set_relative_P", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret",
    "map_cut.1,2,3,5", "P.1,2,3,5,10", "recall.1,2,3,5", "relative_P.1,3,5", "ndcg_cut.1,2,3,5", "success.1,2,3,5",
    f"Rprec_mult.{','.join(map(str, MULTIPLES))}",
)
ORDERS_EXTREME = ("11pt_avg", "iprec_at_recall.0.1,0.5,1")
# The part of a ranking that is kept: (flags, ranks, only judged documents?)
ORDERS_VIEWS = (((), None, False), (("-M", "3"), 3, False), (("-J",), None, True), (("-M", "3", "-J"), 3, True))


def orders_of(scores):
    """Every order of documents that their scores allow."""
    ranked = sorted(scores, key=lambda docno: -scores[docno])
    groups = [list(group) for _, group in itertools.groupby(ranked, key=lambda docno: scores[docno])]
    return [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, groups))]


def order_values(names, arguments, qrels, run, ranks, judged_only):
    """{laneval's name: {topic: [value of each order]}}: pytrec_eval is given each order as a topic of its own."""
    topics = sorted(qrels.keys() & run.keys())
    orders = {(topic, number): order[:ranks] for topic in topics for number, order in enumerate(orders_of(run[topic]))}
    topic_of = {key: f"{key[0]} {key[1]}" for key in orders}
    found = pytrec_values({topic_of[key]: qrels[key[0]] for key in orders},
                          {topic_of[key]: {docno: float(len(order) - at) for at, docno in enumerate(order)}
                           for key, order in orders.items()}, arguments, names.trec_measure, judged_only=judged_only)
    values = defaultdict(lambda: defaultdict(list))
    for measure, of_orders in found.items():
        for key in orders:
            values[measure][key[0]].append(of_orders[topic_of[key]])
    return values


def compare_orders(laneval, tally, data, view):
    flags, ranks, judged_only = view
    qrels, run = data.read_qrels(), data.read_run()
    for rule in ("average",) if ranks and judged_only else ("average", "best", "worst"):
        arguments = ORDERS_MEAN + (ORDERS_EXTREME if rule != "average" and not judged_only else ())
        if rule != "average" and ranks:
            arguments = tuple(argument for argument in arguments if argument != "infAP")  # refused
        ours = laneval.evaluate(data, [f"trec:{argument}" for argument in arguments], ("--queries", "common", "--ties", rule, *flags))
        theirs = order_values(laneval.names, arguments, qrels, run, ranks, judged_only)
        for measure, topics in theirs.items():
            if rule == "average":
                expected = {topic: math.fsum(values) / len(values) for topic, values in topics.items()}
            else:
                extreme = max if rule == "best" else min
                expected = {topic: extreme(values) for topic, values in topics.items()}
            exact = rule != "average" and measure != "InfAP"  # whose extremes are sums of their own
            tally.add_topics(f"orders {rule}", measure, ours[tidy(measure)], expected,
                             same_bits if exact else few_ulps, f"{data.label} {' '.join(flags)}")


def check(laneval, tally, folder, options):
    seeds = [95] + ([] if options.quick else [96, 97]) + options.seeds
    recipes = [{"seed": seed, "queries": 40, "depth": depth} for seed in seeds for depth in (4, 6)]
    for data in data_sets(folder, recipes):
        for view in ORDERS_VIEWS:
            compare_orders(laneval, tally, data, view)

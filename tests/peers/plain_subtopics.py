"""The measures over subtopics in plain Python, from the published formulas; sums are `math.fsum`. Standard library only."""

import functools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass

from plain import ratio


@dataclass(frozen=True, eq=False)  # compared by identity, so that functions of it can be cached
class Topic:
    """The subtopics that each document is relevant to: of one ranking, best first, and of all judged documents, {docno: subtopics}."""

    ranked: tuple
    judged: dict

    @functools.cached_property
    def subtopics(self):
        return set().union(*self.judged.values())


def topics_of(lines, run, rel, depth=None, judged_only=False):
    """{topic: Topic} of lines (topic, subtopic, docno, grade): score descending, then docno ascending by bytes."""
    judged, known = defaultdict(lambda: defaultdict(set)), defaultdict(set)
    for topic, subtopic, docno, grade in lines:
        judged[topic][docno] |= {subtopic} if int(grade) >= rel else set()
        if int(grade) >= 0:
            known[topic].add(docno)
    topics = {}
    for topic, documents in judged.items():
        scores = run.get(topic, {})
        ranked = sorted(scores, key=lambda docno: (-scores[docno], docno.encode()))[:depth]
        kept = [docno for docno in ranked if not judged_only or docno in known[topic]]
        topics[topic] = Topic(tuple(documents.get(docno, set()) for docno in kept), dict(documents))
    return topics


def gains(ranked, alpha):
    """x(i): the sum over the subtopics of the document of (1 - alpha)^(documents above with it)."""
    above, values = Counter(), []
    for subtopics in ranked:
        values.append(math.fsum((1 - alpha) ** above[subtopic] for subtopic in subtopics))
        above.update(subtopics)
    return values


@functools.cache
def gains_of(t, alpha):
    return gains(t.ranked, alpha)


@functools.cache
def ideal_gains_of(t, alpha):
    return gains(ideal(t.judged, alpha), alpha)


def ideal(judged, alpha):
    """Subtopics of the greedy ideal ranking: the document with the largest gain comes next, of equal ones that of the larger docno.

    Which gains are equal depends on how they are rounded, so here they are what laneval says: sums in the bytewise order of subtopics, of powers
    that are repeated products.
    """
    powers = [1.0]
    while len(powers) <= len(judged):
        powers.append(powers[-1] * (1 - alpha))
    rest = {docno.encode(): sorted(subtopics, key=str.encode) for docno, subtopics in judged.items()}
    above, chosen = Counter(), []

    def rounded(docno):
        total = 0.0
        for subtopic in rest[docno]:
            total += powers[above[subtopic]]
        return total

    while rest:
        best = max(rest, key=lambda docno: (rounded(docno), docno))
        chosen.append(rest.pop(best))
        above.update(chosen[-1])
    return chosen


def discounted(values, k, discount):
    return math.fsum(x * discount(i) for i, x in enumerate(values[:k], 1))


def bounded(t, k, discount, alpha, first):
    whole = discounted(gains_of(t, alpha), k, discount)
    bound = len(t.subtopics) * math.fsum((1 - alpha) ** (i - 1) * discount(i) for i in range(1, k + 1))
    return whole if first == "raw" and k == 1 else ratio(whole, bound)


def of_ideal(t, k, discount, alpha):
    return ratio(discounted(gains_of(t, alpha), k, discount), discounted(ideal_gains_of(t, alpha), k, discount))


def by_log(i):
    return 1 / math.log2(i + 1)


def by_rank(i):
    return 1 / i


def nrbp_of(values, t, alpha, beta):
    return ratio((1 - (1 - alpha) * beta) * discounted(values, None, lambda i: beta ** (i - 1)), len(t.subtopics))


def nrbp(t, k, alpha=0.5, beta=0.5):
    return nrbp_of(gains_of(t, alpha), t, alpha, beta)


def normalised_nrbp(t, k, alpha=0.5, beta=0.5):
    return ratio(nrbp(t, k, alpha, beta), nrbp_of(ideal_gains_of(t, alpha), t, alpha, beta))


def average_precision(t, k):
    values = []
    for subtopic in t.subtopics:
        ranks = [i for i, subtopics in enumerate(t.ranked, 1) if subtopic in subtopics]
        relevant = sum(subtopic in subtopics for subtopics in t.judged.values())
        values.append(math.fsum(n / i for n, i in enumerate(ranks, 1)) / relevant)
    return ratio(math.fsum(values), len(values))


def precision(t, k):
    return ratio(sum(map(len, t.ranked[:k])), k * len(t.subtopics))


def recall(t, k):
    return ratio(len(set().union(*t.ranked[:k])), len(t.subtopics))


FUNCTIONS = {
    "alpha_DCG": lambda t, k, alpha=0.5, first="divided": bounded(t, k, by_log, alpha, first),
    "alpha_nDCG": lambda t, k, alpha=0.5: of_ideal(t, k, by_log, alpha),
    "ERR_IA": lambda t, k, alpha=0.5, first="divided": bounded(t, k, by_rank, alpha, first),
    "nERR_IA": lambda t, k, alpha=0.5: of_ideal(t, k, by_rank, alpha),
    "NRBP": nrbp, "nNRBP": normalised_nrbp, "AP_IA": average_precision, "P_IA": precision, "StRecall": recall,
}

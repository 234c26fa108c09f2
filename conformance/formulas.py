"""The formulas of measures of one query, each in plain Python, as its own choice of gain, discount, ideal, order and so on.

Nothing of laneval is used here: the values of the suite come from these lines. Sums run in the order of ranks, a gain is divided by its
discount, and an ideal is summed from the largest gain down, as trec_eval does it.
"""

from fractions import Fraction
from itertools import groupby
from math import log2

INFINITE = 10**9


class Query:
    """A query: grades of judged documents, and the documents of a run with their scores, in the order of the file."""

    def __init__(self, case):
        self.grades = dict(case["qrels"])
        self.run = [(document, Fraction(score)) for document, score in case["run"]]
        self.k = case["k"]

    def cut(self, choices):
        """The number of first ranks that count."""
        return max(self.k + choices.further, 1) if choices.k else INFINITE


class Choices:
    """A definition: a measure with all that was chosen. What a measure does not read stays as it is."""

    def __init__(self, measure, **chosen):
        self.measure = measure
        self.k = True  # cut at the k of the case
        self.gain = "linear"  # exp2, binary
        self.discount = "lg"  # jk: max(1, lg i); rank: i
        self.ideal = "judged"  # uncut, returned, top (of the first k themselves), full (k ones), filled (min(k, n) ones)
        self.norm = "judged"  # by what AP, P and R divide
        self.over = "first"  # RR: first, hits, relevant
        self.order = "docno-desc"  # docno-asc, input, average, worst, best; reversed: the order of the file from its end
        self.rel = 1
        self.raw = False  # negative grades count as they are
        self.judged_only = False
        self.relevant_from = "judged"  # retrieved: a document that was not retrieved does not exist
        self.nothing = 0  # 1, None: the value where nothing is relevant
        self.gmax = 4
        self.digits = None  # each query is rounded to so many decimals
        # Mistakes.
        self.late = 0  # added to each rank
        self.further = 0  # added to k
        self.sorting = "falling"  # rising: the lowest score first; none: rows as they come
        for name, value in chosen.items():
            if not hasattr(self, name):
                raise AttributeError(name)
            setattr(self, name, value)


def ordered(query, choices):
    """The retrieved documents as groups of equal scores, best first; a group of more than one is in the order of the rule."""
    run = query.run
    if choices.judged_only:
        run = [(document, score) for document, score in run if query.grades.get(document, -1) >= 0]
    if choices.sorting == "none":
        return [[document] for document, _ in run]
    sign = 1 if choices.sorting == "rising" else -1
    by_score = sorted(run, key=lambda row: sign * row[1])  # stable: the order of the file where scores are equal
    groups = [[document for document, _ in rows] for _, rows in groupby(by_score, key=lambda row: row[1])]
    if choices.order.startswith("docno"):
        groups = [sorted(group, reverse=choices.order == "docno-desc") for group in groups]
    if choices.order == "reversed":
        groups = [group[::-1] for group in groups]
    if choices.order in ("worst", "best"):
        worth = lambda document: gain(query.grades.get(document), choices)  # noqa: E731
        groups = [sorted(group, key=worth, reverse=choices.order == "best") for group in groups]
    return groups


def gain(grade, choices):
    """What a document is worth; an unjudged one has no grade. Below the level it is worth nothing."""
    grade = 0 if grade is None else grade
    if choices.raw and grade < 0:
        return 2.0**grade - 1 if choices.gain == "exp2" else grade
    if grade < choices.rel:
        return 0
    return {"linear": grade, "exp2": 2.0**grade - 1, "binary": 1}[choices.gain]


def discount(rank, choices):
    """What the gain at a rank is divided by."""
    return {
        "lg": lambda: log2(rank + 1),
        "jk": lambda: max(1.0, log2(rank)),
        "rank": lambda: rank,
        "late": lambda: log2(rank + 2),  # a mistake
    }[choices.discount]()


def summed(gains, choices):
    """The discounted sum of gains in the order of ranks."""
    total = 0.0
    for rank, worth in enumerate(gains, start=1):
        total += worth / discount(rank, choices)
    return total


def relevant(query, choices):
    """The grades of the documents that count as existing, largest first."""
    if choices.relevant_from == "retrieved":
        found = set(flat(ordered(query, choices)))
        grades = [grade for document, grade in query.grades.items() if document in found]
    else:
        grades = list(query.grades.values())
    return sorted(grades, reverse=True)


def value(query, choices):
    """The value of a query, or None where the definition has none."""
    groups = ordered(query, choices)
    grades = relevant(query, choices)
    found = MEASURES[choices.measure](query, choices, groups, grades)
    return found if found is None or choices.digits is None else float(round(found, choices.digits))


def ndcg(query, choices, groups, grades):
    """The discounted sum of gains over that of an ideal ranking."""
    gains = [worth for group in groups for worth in worths(group, query, choices)]
    k = query.cut(choices)
    first = gains[:k]
    ideal = [gain(grade, choices) for grade in grades]
    if choices.raw and choices.relevant_from == "retrieved":
        ideal = gains  # a list has its unjudged documents too, which are better than those with a negative grade
    ideal = sorted((worth for worth in ideal if worth or choices.raw), reverse=True)
    nothing = not any(worth > 0 for worth in ideal)
    ideal = {
        "judged": lambda: ideal[:k],
        "uncut": lambda: ideal,
        "returned": lambda: ideal[: min(k, len(gains))],
        "top": lambda: sorted(first, reverse=True),
        "full": lambda: [1] * k,
        "filled": lambda: [1] * min(k, len(gains)),
    }[choices.ideal]()
    if nothing:
        return choices.nothing
    best = summed(ideal, choices)
    return summed(first, choices) / best if best else 0.0


def worths(group, query, choices):
    """The gains of a group of equal scores; at each of its ranks the mean, if the definition is one over all orders."""
    gains = [gain(query.grades.get(document), choices) for document in group]
    return [sum(gains) / len(gains)] * len(gains) if choices.order == "average" else gains


def hits(query, choices, groups):
    """Whether the document at each rank is relevant."""
    return [query.grades.get(document, -1) >= choices.rel for document in flat(groups)]


def flat(groups):
    """The documents of all groups, in the order of ranks."""
    return [document for group in groups for document in group]


def count(choices, grades):
    """R: the number of relevant documents."""
    return sum(grade >= choices.rel for grade in grades)


def divisor(choices, k, shown, found, existing):
    """What a sum over the first k ranks is divided by: shown documents, found of them relevant, and existing relevant ones."""
    return {
        "judged": lambda: existing,
        "min": lambda: min(k, existing),
        "hits": lambda: found,
        "k": lambda: k,
        "retrieved": lambda: min(k, shown, existing),
        "plus": lambda: existing + 1,  # a mistake
    }[choices.norm]()


def average_precision(query, choices, groups, grades):
    """The sum of the precisions at the ranks of relevant documents."""
    at = hits(query, choices, groups)
    k = query.cut(choices)
    existing = count(choices, grades)
    if not existing:
        return choices.nothing
    total, found = 0.0, 0
    for rank, hit in enumerate(at[:k], start=1):
        if hit:
            found += 1
            total += found / (rank + choices.late)
    by = divisor(choices, k, len(at), found, existing)
    return total / by if by else 0.0


def tied_average_precision(query, choices, groups, grades):
    """Average precision in which all documents of equal score are at the last rank of their group."""
    existing = count(choices, grades)
    if not existing:
        return choices.nothing
    total, found, end = 0.0, 0, 0
    for group in groups:
        relevant_here = sum(query.grades.get(document, -1) >= choices.rel for document in group)
        found, end = found + relevant_here, end + len(group)
        for _ in range(relevant_here):
            total += found / end
    return total / existing


def reciprocal_rank(query, choices, groups, grades):
    """One over the rank of the first relevant document, or of all of them."""
    at = hits(query, choices, groups)
    at = at[: query.cut(choices)]
    existing = count(choices, grades)
    if not existing:
        return choices.nothing
    found = [1 / (rank + choices.late) for rank, hit in enumerate(at, start=1) if hit]
    if not found:
        return 0.0
    return {"first": lambda: found[0], "hits": lambda: sum(found) / len(found), "relevant": lambda: sum(found) / existing}[choices.over]()


def precision(query, choices, groups, grades):
    """The share of relevant documents in the first k ranks."""
    at = hits(query, choices, groups)
    if not count(choices, grades):
        return choices.nothing
    k = query.cut(choices)
    by = {
        "judged": lambda: k,
        "min": lambda: min(k, len(at)),
        "shown": lambda: sum(document in query.grades for document in flat(groups)[:k]),
    }[choices.norm]()
    return sum(at[:k]) / by if by else 0.0


def recall(query, choices, groups, grades):
    """The share of all relevant documents that the first k ranks have."""
    at = hits(query, choices, groups)
    existing = count(choices, grades)
    if not existing:
        return choices.nothing
    by = divisor(choices, query.cut(choices), len(at), 0, existing)
    return sum(at[: query.cut(choices)]) / by if by else 0.0


def expected_reciprocal_rank(query, choices, groups, grades):
    """The expected value of one over the rank at which somebody stops who reads from the top."""
    total, reads_on = 0.0, 1.0
    shown = flat(groups)[: query.cut(choices)]
    if not count(choices, grades):
        return choices.nothing
    for rank, document in enumerate(shown, start=1):
        stops = (2.0 ** max(query.grades.get(document, 0), 0) - 1) / 2.0**choices.gmax
        total += reads_on * stops / (rank + choices.late)
        reads_on *= 1 - stops
    return total


def bpref(query, choices, groups, grades):
    """How many judged documents that are not relevant stand above relevant ones."""
    existing = count(choices, grades)
    if not existing:
        return choices.nothing
    least = -INFINITE if choices.raw else 0  # whether negative grades are judgments
    others = sum(least <= grade < choices.rel for grade in grades)
    total, above = 0.0, 0
    for document in flat(groups):
        grade = query.grades.get(document)
        if grade is None or grade < least:
            continue
        if grade < choices.rel:
            above += 1
        else:
            total += 1 - min(above, existing) / min(others, existing) if above else 1
    return total / existing


def area(query, choices, groups, grades):
    """The share of pairs of a relevant and another retrieved document in which the relevant one is above."""
    rows = [(place, query.grades.get(document, 0)) for place, group in enumerate(groups) for document in group]
    if choices.over == "pairs":
        pairs = all_pairs([(place, grade >= choices.rel) for place, grade in rows])
    else:
        pairs = [(one, other) for one, grade in rows if grade >= choices.rel for other, worse in rows if worse < choices.rel]
    relevant_too = any(grade >= choices.rel for _, grade in rows) and any(grade < choices.rel for _, grade in rows)
    if not pairs or not relevant_too:
        return choices.nothing
    tied = 0 if choices.order == "worst" else 0.5
    return sum(1 if one < other else tied if one == other else 0 for one, other in pairs) / len(pairs)


def all_pairs(rows):
    """All pairs, those of two relevant documents or of two others too, relevant ones first; among equals as they were."""
    rows = sorted(rows, key=lambda row: -row[1])
    return [(one, other) for at, (one, _) in enumerate(rows) for other, _ in rows[at + 1 :]]


MEASURES = {
    "nDCG": ndcg,
    "AP": average_precision,
    "AP(ties=together)": tied_average_precision,
    "RR": reciprocal_rank,
    "P": precision,
    "R": recall,
    "ERR": expected_reciprocal_rank,
    "Bpref": bpref,
    "AUC": area,
}

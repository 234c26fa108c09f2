"""Chooses the queries that tell definitions apart, among random ones: how `cases.py` got those that were not written by hand.

    python3 conformance/search.py            chooses, and prints rows for cases.py (minutes)
    python3 conformance/search.py --verify   says what the cases of the suite tell apart; exit code 1 if two definitions are alike

A combination is a measure with one of the values of each choice. Two combinations with the same value of every query are one class.
"""

import random
import sys
from itertools import product

import cases
import notation
from definitions import DEFINITIONS
from formulas import Choices, Query, value

ORDERS = ("docno-desc", "docno-asc", "input", "worst", "best", "average")
COMMON = {"order": ORDERS, "judged_only": (False, True), "relevant_from": ("judged", "retrieved"), "nothing": (0, 1, None), "rel": (1, 2)}
# A mean over orders is in closed form here only for sums of gains.
IN_ORDER = {**COMMON, "order": ORDERS[:5]}
SPACES = [
    ("nDCG", {**COMMON, "gain": ("linear", "exp2", "binary"), "discount": ("lg", "jk", "rank"), "ideal": ("judged", "uncut", "returned", "top")}),
    ("nDCG", {**COMMON, "gain": ("binary",), "ideal": ("full", "filled")}),
    ("AP", {**IN_ORDER, "norm": ("judged", "min", "hits", "k", "retrieved")}),
    ("AP", {**IN_ORDER, "k": (False,)}),
    ("AP(ties=together)", {**COMMON, "order": ("input",)}),
    ("RR", {**IN_ORDER, "over": ("first", "hits", "relevant")}),
    ("P", {**IN_ORDER, "norm": ("judged", "min", "shown")}),
    ("R", {**IN_ORDER, "norm": ("judged", "min", "retrieved")}),
    ("ERR", {**IN_ORDER, "gmax": (3, 4)}),
]


def combinations():
    """All combinations, by measure."""
    found = {}
    for measure, space in SPACES:
        name = measure.split("(")[0]
        for chosen in product(*space.values()):
            found.setdefault(name, []).append(Choices(measure, **dict(zip(space, chosen))))
    return found


def random_case(seed):
    """A query of at most 14 documents, with equal scores, unjudged documents and grades of 0 to 3."""
    draw = random.Random(seed)
    names = "abcdefghijklmn"[: draw.randint(3, 14)]
    graded = [f"{name}{draw.choice([0, 0, 0, 1, 1, 2, 3])}" for name in names if draw.random() < 0.8]
    found = [f"{name}{draw.randint(1, 6)}" for name in names if draw.random() < 0.7] + [f"u{draw.randint(1, 6)}"]
    draw.shuffle(found)
    if draw.random() < 0.5:
        found.sort(key=lambda row: -int(row[1:]))
    return notation.read(f"random-{seed}", draw.choice([3, 5]), " ".join(graded), " ".join(found), "", "")


def rounded(found):
    """A value as a program prints it that prints little: what is equal so is not told apart."""
    return None if found is None else round(found, 3)


def classes(columns):
    """How many classes there are by these columns, one a query, of the values of all combinations of a measure."""
    return len(set(zip(*columns)))


def separated(values, chosen, among):
    """The number of classes of all measures."""
    return sum(classes([values[case][measure] for case in chosen]) for measure in among)


def greedy(pool, values, fixed, most):
    """Queries of a pool, each of which adds the most classes to those before it."""
    chosen = list(fixed)
    measures = list(values[fixed[0]])
    added = []
    reached = separated(values, chosen, measures)
    while len(added) < most:
        best, case = max((separated(values, [*chosen, case], measures), case) for case in pool if case not in chosen)
        if best == reached:
            break
        reached = best
        chosen.append(case)
        added.append(case)
        print(f"  {case}: {reached} classes", file=sys.stderr)
    return added


def pairs_apart(chosen, least):
    """The pairs of definitions of a measure, how many of them differ by `least` or by a value against none, and the least difference."""
    values = {name: [value(Query(case), row.choices) for case in chosen] for name, row in DEFINITIONS.items()}
    of_measure = lambda name: name.split(":")[0]  # noqa: E731
    gaps = []
    for one in values:
        for other in values:
            if one < other and of_measure(one) == of_measure(other):
                gaps.append((max(gap(a, b) for a, b in zip(values[one], values[other])), one, other))
    return len(gaps), sum(found >= least for found, _, _ in gaps), min(gaps)


def gap(one, other):
    """How far apart two values are; a value and none are as far as can be."""
    if one is None or other is None:
        return 0.0 if one is other else 1.0
    return abs(one - other)


def values_of(pool):
    """The values of all combinations on the queries of a pool: by query, by measure."""
    spaces = combinations()
    found = {}
    for case in pool:
        query = Query(case)
        found[case["id"]] = {measure: [rounded(value(query, choices)) for choices in of] for measure, of in spaces.items()}
    return found


def choose():
    """Prints the queries without negative grades, and those that tell combinations apart."""
    plain = [random_case(seed) for seed in range(2000)]
    nothing = next(case for case in cases.CASES if case["id"] == "S4")
    chosen = [nothing]
    while len(chosen) < 5 and pairs_apart(chosen, 0.004)[0] > pairs_apart(chosen, 0.004)[1]:
        best = max(plain, key=lambda case: (pairs_apart([*chosen, case], 0.004)[1], pairs_apart([*chosen, case], 0.004)[2][0]))
        chosen.append(best)
        print(*(case["id"] for case in chosen), pairs_apart(chosen, 0.004), file=sys.stderr)
    pool = {case["id"]: case for case in map(random_case, range(3000, 3160))}
    fixed = [*cases.HAND, *cases.SMALLEST_SET, *chosen[1:]]
    values = values_of([*fixed, *pool.values()])
    added = greedy(pool, values, [case["id"] for case in fixed], 15)
    for case in [*chosen, *(pool[name] for name in added)]:
        print(case["id"], case["k"], *notation.write(case), sep=" | ")


def verify():
    """Says what the cases of the suite tell apart; returns whether that is every pair of definitions."""
    named = {case["id"]: case for case in cases.CASES}
    all_apart = True
    for names in (cases.SEPARATING, cases.SEPARATING_PLAIN):
        total, apart, (least, one, other) = pairs_apart([named[name] for name in names], 1e-6)
        print(f"{' '.join(names)}: {apart} of {total} pairs of definitions, the nearest {least:.4f} apart ({one}, {other})")
        all_apart &= apart == total > 400
    values = values_of(cases.CASES)
    measures = combinations()
    print(f"{len(cases.CASES)} cases: {separated(values, list(values), measures)} classes of {sum(map(len, measures.values()))} combinations")
    return all_apart


if __name__ == "__main__":
    if sys.argv[1:] == ["--verify"]:
        sys.exit(not verify())
    choose()

"""The preference measures of trec_eval in plain Python, from their definition.

A judgment group prefers a document to another if one of its sub-groups has it at a higher level, or if that follows from several
sub-groups. A preference is a pair of positions (better, worse): retrieved documents of the topic come first, in the order of the ranking, the
others follow by docno. A line that stands twice in a group without other sub-groups counts as two documents there. Standard library only.
"""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """What one judgment group says about the documents of a topic."""

    pairs: tuple  # of positions, the preferred one first
    levels: tuple  # of (position, level), ascending by position
    single: bool  # whether it has no other sub-groups

    def __post_init__(self):
        object.__setattr__(self, "levels", tuple(sorted(self.levels)))

    def share(self, wanted, of):
        return ratio(self.count(wanted), self.count(of))

    def count(self, wanted):
        return sum(wanted(a, b) for a, b in self.pairs)

    def relevant(self, end):
        return sum(level > 0 for at, level in self.levels if at < end)

    def nonrelevant(self, end):
        return sum(level == 0 or self.single and level < 0 for at, level in self.levels if at < end)


def ratio(a, b):
    return a / b if b else 0.0


def follow(direct):
    """Everything that follows from {better: set of worse}."""
    reached = {}
    for start in direct:
        seen, todo = set(), [start]
        while todo:
            new = direct.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        reached[start] = seen
    return {(a, b) for a, worse in reached.items() for b in worse}


def make_group(lines, position):
    """The group of lines (sub-group, docno, level)."""
    lines = [(subgroup, position[docno], level) for subgroup, docno, level in lines]
    if len({subgroup for subgroup, _, _ in lines}) == 1:
        levels = [(at, level) for _, at, level in lines]
        return Group(tuple((a, b) for (a, x), (b, y) in itertools.product(levels, repeat=2) if x > y), tuple(levels), True)
    direct = defaultdict(set)
    for (s, a, x), (t, b, y) in itertools.product(lines, repeat=2):
        if s == t and x > y:
            direct[a].add(b)
    return Group(tuple(follow(dict(direct))), tuple({at: level for _, at, level in lines}.items()), False)


def groups_of(lines, ranking):
    """(groups, how many of the documents are retrieved) of lines (group, sub-group, docno, level) and a ranking of docnos."""
    named = {docno for _, _, docno, _ in lines}
    retrieved = [docno for docno in ranking if docno in named]
    others = sorted(named - set(retrieved), key=str.encode)
    position = {docno: at for at, docno in enumerate(retrieved + others)}
    by_group = defaultdict(list)
    for group, *line in lines:
        by_group[group].append(line)
    return [make_group(by_group[group], position) for group in sorted(by_group, key=str.encode)], len(retrieved)


def in_turn(terms):
    """The sum from the first to the last in f64, as trec_eval adds; `sum` does it another way in newer Pythons."""
    total = 0.0
    for term in terms:
        total += term
    return total


def pair_values(groups, q):
    """(prefs_pair, prefs_pair_ret, prefs_pair_imp): the mean share of groups that agree with the order of a pair."""
    weight = Counter(pair for group in groups for pair in group.pairs)
    unordered = sorted({(min(pair), max(pair)) for pair in weight})
    retrieved = [pair for pair in unordered if pair[1] < q]
    implied = [pair for pair in unordered if pair[0] < q <= pair[1]]

    def agreement(pairs):
        return in_turn(weight[a, b] / (weight[a, b] + weight[b, a]) for a, b in pairs)

    whole = agreement(retrieved + implied)
    return (ratio(whole, len(unordered)), ratio(agreement(retrieved), len(retrieved)), ratio(whole, len(retrieved) + len(implied)))


def balanced(groups, q, retrieved):
    """prefs_avgjg_Rnonrel, and with `retrieved` prefs_avgjg_Rnonrel_ret."""
    end = q if retrieved else math.inf
    shares = []
    for group in groups:
        relevant, nonrelevant, every = group.relevant(end), group.nonrelevant(end), group.relevant(math.inf)
        pairs = [(a, b) for a, b in group.pairs if max(a, b) < end]
        if relevant >= nonrelevant:
            more = relevant - nonrelevant
            done = group.relevant(q) * more
            possible = every * more
        else:
            lowest = min(level for _, level in group.levels) if group.single else 0
            low = [at for at, level in group.levels if level == lowest and at < end]
            kept = low[: relevant if group.single else every]
            dropped = Counter(low) - Counter(kept)
            if group.single:  # a document that stands twice may be kept once
                pairs = [(a, b) for a, b in pairs if b not in low]
                pairs += [(a, b) for b in kept for a, level in group.levels if level > lowest and a < end]
                done, possible = sum(x < y and x < q for x in low for y in kept), len(low) * len(kept)
            else:
                pairs = [(a, b) for a, b in pairs if not {a, b} & dropped.keys()]
                done = possible = 0
        done += sum(a < b and a < q for a, b in pairs)
        possible += len(pairs)
        shares.append(done / possible if possible else math.nan)
    value = in_turn(shares) / len(shares)
    return 0.0 if math.isnan(value) else value


def values(lines, ranking):
    """{trec_eval's name: value} of one topic."""
    groups, q = groups_of(lines, ranking)
    conditions = {
        "fulfilled": lambda a, b: a < b and a < q, "fulfilled_ret": lambda a, b: a < b < q,
        "all": lambda a, b: True, "ret": lambda a, b: a < q and b < q, "imp": lambda a, b: a < q or b < q,
    }
    total = {name: sum(group.count(wanted) for group in groups) for name, wanted in conditions.items()}

    def mean_share(wanted, of):
        return in_turn(group.share(conditions[wanted], conditions[of]) for group in groups) / len(groups)

    pair, pair_ret, pair_imp = pair_values(groups, q)
    return {
        "prefs_num_prefs_poss": float(total["all"]),
        "prefs_num_prefs_ful": float(total["fulfilled"]),
        "prefs_num_prefs_ful_ret": float(total["fulfilled_ret"]),
        "prefs_simp": ratio(total["fulfilled"], total["all"]),
        "prefs_pair": pair,
        "prefs_avgjg": mean_share("fulfilled", "all"),
        "prefs_avgjg_Rnonrel": balanced(groups, q, retrieved=False),
        "prefs_simp_ret": ratio(total["fulfilled_ret"], total["ret"]),
        "prefs_pair_ret": pair_ret,
        "prefs_avgjg_ret": mean_share("fulfilled_ret", "ret"),
        "prefs_avgjg_Rnonrel_ret": balanced(groups, q, retrieved=True),
        "prefs_simp_imp": ratio(total["fulfilled"], total["imp"]),
        "prefs_pair_imp": pair_imp,
        "prefs_avgjg_imp": mean_share("fulfilled", "imp"),
    }

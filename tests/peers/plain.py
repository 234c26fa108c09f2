"""The definitions in plain Python, for what no installed peer computes.

Every function takes a `Topic`, `k` (a rank or None) and the measure's parameters, and is written from
the published formula; sums are `math.fsum`, rankings are sliced, and nothing is computed incrementally
where the definition does not say so. A topic that the run lacks is an empty ranking. Standard library only.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

UNPOOLED, NEGATIVE = -1, -2  # labels of documents without a grade: not in the qrels, in them below 0
INFINITY = math.inf


@dataclass(frozen=True)
class Topic:
    """The labels of one ranking, best first, and the grades of all judged documents."""

    labels: tuple
    grades: tuple  # of every judged document, grades below 0 left out
    negatives: int  # documents of the qrels with a grade below 0
    top_grade: float  # the largest of the whole qrels file

    @property
    def n(self):
        return len(self.labels)

    def top(self, k):
        return self.labels if k is None else self.labels[:k]


def topics_of(qrels, run, judged_only=False):
    """{topic: Topic} of every judged topic; score descending, then docno descending by bytes."""
    top_grade = max((grade for judged in qrels.values() for grade in judged.values()), default=0)
    topics = {}
    for topic, judged in qrels.items():
        ranked = sorted(run.get(topic, {}).items(), key=lambda item: (item[1], item[0].encode()), reverse=True)
        labels = [label(judged, docno) for docno, _ in ranked]
        if judged_only:
            labels = [g for g in labels if g >= 0]
        grades = tuple(g for g in judged.values() if g >= 0)
        topics[topic] = Topic(tuple(labels), grades, len(judged) - len(grades), top_grade)
    return topics


def label(judged, docno):
    if docno not in judged:
        return UNPOOLED
    return judged[docno] if judged[docno] >= 0 else NEGATIVE


def ratio(a, b):
    return a / b if b else 0.0


def hits(t, k=None, rel=1):
    """r(k)."""
    return sum(g >= rel for g in t.top(k))


def relevant(t, rel):
    """R."""
    return sum(g >= rel for g in t.grades)


def nonrelevant(t, rel):
    """N."""
    return len(t.grades) - relevant(t, rel)


def relevant_ranks(t, k, rel):
    return [i for i, g in enumerate(t.top(k), 1) if g >= rel]


# --- sets and counts --------------------------------------------------------------------------------


def precision(t, k, rel=1, norm="k"):
    return ratio(hits(t, k, rel), min(k, t.n) if norm == "min" else k)


def recall(t, k, rel=1, norm="judged"):
    total = relevant(t, rel)
    most = {"judged": total, "min": k, "retrieved": len(t.top(k))}[norm]
    return ratio(hits(t, k, rel), min(most, total))


def f_measure(t, k, rel=1, beta=1):
    p, r = precision(t, k, rel), recall(t, k, rel)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def set_f(t, k, rel=1, beta=1):
    p, r = ratio(hits(t, None, rel), t.n), ratio(hits(t, None, rel), relevant(t, rel))
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def success(t, k, rel=1):
    return float(hits(t, k, rel) > 0)


def reciprocal_rank(t, k, rel=1, over="first"):
    reciprocals = [1 / i for i in relevant_ranks(t, k, rel)]
    if over == "first":
        return max(reciprocals, default=0.0)
    return ratio(math.fsum(reciprocals), len(reciprocals) if over == "hits" else relevant(t, rel))


def unjudged(t, k):
    return sum(g < 0 for g in t.top(k)) / k


def nearest(t, k, truth=None):
    """Grades are those of neighbours: the nearest has the largest, and so on down to 1."""
    wanted = truth or k or t.top_grade
    most = min(wanted, sum(g > 0 for g in t.grades))
    return ratio(min(most, sum(g >= 1 and t.top_grade + 1 - g <= wanted for g in t.top(k))), most)


def judged(t, k):
    return ratio(sum(g != UNPOOLED for g in t.top(k)), len(t.top(k)))


def fall_out(t, k, rel=1, norm="retrieved"):
    if norm == "judged":
        return ratio(sum(0 <= g < rel for g in t.top(k)), nonrelevant(t, rel))
    return ratio(sum(g < rel for g in t.top(k)), sum(g < rel for g in t.labels))


def utility(t, k, rel=1, a=1, b=-1, c=0, d=0, docs=0):
    m, total = hits(t, None, rel), relevant(t, rel)
    return a * m + b * (t.n - m) + c * (total - m) + d * (docs + m - t.n - total)


def accuracy(t, k, rel=1):
    others = [sum(g < rel for g in t.labels[: i - 1]) for i in relevant_ranks(t, k, rel)]
    whole = sum(g < rel for g in t.top(k))
    if not others:
        return 0.0
    return 1 - sum(others) / (whole * len(others)) if whole else 1.0


# --- precision averaged over ranks ------------------------------------------------------------------


def precision_sum(t, k, rel):
    """s: the sum of r(i) / i over the relevant ranks."""
    return math.fsum(hits(t, i, rel) / i for i in relevant_ranks(t, k, rel))


def average_precision(t, k, rel=1, norm="judged"):
    whole = {"judged": relevant(t, rel), "min": min(relevant(t, rel), k or INFINITY), "hits": hits(t, k, rel), "k": k}
    whole["retrieved"] = min(whole["min"], t.n)
    return ratio(precision_sum(t, k, rel), whole[norm])


def yaap(t, k, rel=1):
    s, total = precision_sum(t, None, rel), relevant(t, rel)
    return math.log((1 + s) / (1 + total - s)) if total else 0.0


def r_precision(t, k, rel=1, mult=1):
    c = math.trunc(mult * relevant(t, rel) + 0.9)
    return ratio(hits(t, c, rel), c)


def interpolated_precision(t, k, x, rel=1, cut="v9"):
    total = relevant(t, rel)
    needed = {
        "v9": math.trunc(x * total + 0.9),
        "v10": math.floor(x * total + 0.5),
        "exact": math.ceil(Fraction(str(x)) * total),
    }[cut]
    return max((hits(t, i, rel) / i for i in range(1, t.n + 1) if hits(t, i, rel) >= needed), default=0.0)


def mean_interpolated_precision(t, k, rel=1, cut="v9", points=tuple(tenth / 10 for tenth in range(11))):
    return math.fsum(interpolated_precision(t, None, x, rel, cut) for x in points) / len(points)


def bpref(t, k, rel=1, negatives="unjudged"):
    skipped = negatives == "unjudged"
    total, others = relevant(t, rel), nonrelevant(t, rel) + (0 if skipped else t.negatives)
    terms = []
    for i in relevant_ranks(t, None, rel):
        above = sum(g < rel and (g >= 0 or not skipped and g == NEGATIVE) for g in t.labels[: i - 1])
        terms.append(1 - min(above, total) / min(others, total) if above else 1.0)
    return ratio(math.fsum(terms), total)


def inferred_average_precision(t, k, rel=1):
    e, terms = 1e-5, []
    for i in relevant_ranks(t, None, rel):
        above, f = t.labels[: i - 1], i - 1
        a, b, u = sum(g >= rel for g in above), sum(0 <= g < rel for g in above), sum(g == NEGATIVE for g in above)
        terms.append(1 / i + f / i * ((a + b + u) / f) * ((a + e) / (a + b + 2 * e)) if f else 1.0)
    return ratio(math.fsum(terms), relevant(t, rel))


def bin_g(t, k, rel=1):
    return ratio(math.fsum(1 / math.log2(2 + i - hits(t, i, rel)) for i in relevant_ranks(t, None, rel)), relevant(t, rel))


# --- graded gain ------------------------------------------------------------------------------------


def gain_of(g, gain="linear", rel=0):
    """`gain` is linear, exp2, binary or {label: gain}; judged grades below `rel` are worth nothing."""
    if 0 <= g < rel:
        return 0.0
    if isinstance(gain, dict) and g in gain:
        return gain[g]
    if g < 0:
        return 0.0
    if gain == "binary":
        return float(g >= max(rel, 1))
    return 2.0**g - 1 if gain == "exp2" else float(g)


def gains(t, **how):
    return [gain_of(g, **how) for g in t.labels]


def ideal_gains(t, **how):
    return sorted((x for x in (gain_of(g, **how) for g in t.grades) if x > 0), reverse=True)


def discounted(values, k=None, discount="lg", base=2):
    """D and I: the sum of gain / lg(i + 1) to rank k, of gain / i, or of gain / log_b(i) with nothing divided before rank b."""
    def by(i):
        if discount == "rank":
            return i
        return math.log2(i + 1) if discount == "lg" else math.log(i, base) if i >= base else 1.0

    return math.fsum(x / by(i) for i, x in enumerate(values[:k], 1))


def cg(t, k, **how):
    return math.fsum(gains(t, **how)[:k])


def dcg(t, k, discount="lg", base=2, **how):
    return discounted(gains(t, **how), k, discount, base)


def ideal_dcg(t, k, discount="lg", base=2, **how):
    return discounted(ideal_gains(t, **how), k, discount, base)


def ndcg(t, k, ideal="judged", discount="lg", base=2, **how):
    best = ideal_gains(t, **how) if ideal != "retrieved" else sorted((x for x in gains(t, **how) if x > 0), reverse=True)
    depth = {"uncut": None, "returned": min(k or INFINITY, t.n)}.get(ideal, k)
    return ratio(dcg(t, k, discount, base, **how), discounted(best, depth, discount, base))


def g_measure(t, k, **how):
    mine, best = gains(t, **how), ideal_gains(t, **how)
    terms = []
    for i, x in enumerate(mine, 1):
        cost = sum(max(1, best[j]) if j < len(best) else 1 for j in range(i))
        if x:
            terms.append(x / math.log2(2 + cost - sum(mine[:i])))
    return ratio(math.fsum(terms), math.fsum(best))


def ndcg_rel(t, k, **how):
    mine, best = gains(t, **how), ideal_gains(t, **how)
    if not best:
        return 0.0
    found = [i for i, x in enumerate(mine, 1) if x > 0]
    terms = [discounted(mine, i) / discounted(best, min(i, len(best))) for i in found]
    value = (math.fsum(terms) + (len(best) - len(found)) * discounted(mine) / discounted(best)) / len(best)
    return max(value, 0.0)  # as trec_eval prints it where negative gains take it below 0


def rndcg(t, k, rel=1, gain="linear"):
    mine, best = gains(t, gain=gain), ideal_gains(t, gain=gain)
    if not relevant(t, rel) or not best:
        return 0.0
    size = len(best)
    terms = [discounted(mine, j) / discounted(best, j) for j in range(1, size + 1) if j == size or best[j] != best[j - 1]]
    if t.n >= size + 2:
        terms.append(discounted(mine) / discounted(best))
    return math.fsum(terms) / len(terms)


def expected_reciprocal_rank(t, k, gmax=4):
    stops = [(2.0 ** max(g, 0) - 1) / 2.0 ** (t.top_grade if gmax == "auto" else gmax) for g in t.top(k)]
    return math.fsum(math.prod(1 - s for s in stops[: i - 1]) * stop / i for i, stop in enumerate(stops, 1))


# --- weighted ranks ---------------------------------------------------------------------------------


def rbp(t, k, p=0.8, rel=1, gain="binary", scale="none", norm=None):
    if scale == "topic":
        most = max((0, *t.grades))
        values = [max(g, 0) / (most if most > 1 else 1) for g in t.labels]
    else:
        share = {"binary": lambda g: 1, "grade": lambda g: g / t.top_grade, "raw": lambda g: g}[gain]
        values = [share(g) if g >= rel else 0 for g in t.labels]
    values = values[: min(k or len(values), norm or len(values))]
    whole = math.fsum(p**i for i in range(norm)) if norm else 1 / (1 - p)
    return math.fsum(x * p**i for i, x in enumerate(values)) / whole


def rbp_resid(t, k, p=0.9):
    missing = [p**i for i, g in enumerate(t.labels) if g < 0]
    return p**t.n + (1 - p) * math.fsum(missing) if missing else 0.0


def cwl(continuation):
    """A C/W/L measure: `continuation(i, gain, gained so far, k, parameters)` is the chance to go on."""

    def value(t, k, rel=1, gain="binary", gmax="auto", depth=1000, **params):
        top = t.top_grade if gmax == "auto" else gmax
        share = (lambda g: float(g >= rel)) if gain == "binary" else (lambda g: min(max(g, 0), top) / top)
        weight, weights, gained, terms = 1.0, [], 0.0, []
        for i in range(1, depth + 1):
            x = share(t.labels[i - 1]) if i <= t.n else 0.0
            gained += x
            weights.append(weight)
            terms.append(weight * x)
            weight *= continuation(i, x, gained, k or INFINITY, params)
        return math.fsum(terms) / math.fsum(weights)

    return value


def squared(i, wanted):
    return ((i + wanted - 1) / (i + wanted)) ** 2


inst = cwl(lambda i, x, gained, k, o: squared(i, 2 * o.get("T", 1) - gained))
insq = cwl(lambda i, x, gained, k, o: squared(i, 2 * o.get("T", 1)))
bpm = cwl(lambda i, x, gained, k, o: float(gained < o.get("T", 1) and i < k))
scaled = cwl(lambda i, x, gained, k, o: math.log(i + 1) / math.log(i + 2) if i < k else 0.0)
nerr8 = cwl(lambda i, x, gained, k, o: (1 - x) * (i < k))
nerr9 = cwl(lambda i, x, gained, k, o: i / (i + 1) * (1 - x) * (i < k))
nerr10 = cwl(lambda i, x, gained, k, o: o.get("p", 0.9) * (1 - x))
nerr11 = cwl(lambda i, x, gained, k, o: squared(i, 2 * o.get("T", 1)) * (1 - x))


def sdcg(t, k, norm="k", **how):
    if norm == "min":
        k = min(k, t.n)
    return scaled(t, k, **how) if k else 0.0


def compatibility(t, k, p=0.95, normalize="true"):
    """Documents are (grade, m): the m-th retrieved one of its grade stands m-th of its grade in the ideal."""
    seen, mine = {}, []
    for i, g in enumerate(t.labels):
        seen[g] = seen.get(g, 0) + 1
        mine.append((g, seen[g]) if g > 0 else (UNPOOLED, i))
    counts = {g: t.grades.count(g) for g in t.grades if g > 0}
    ideal = [(g, m) for g in sorted(counts, reverse=True) for m in range(1, counts[g] + 1)]
    depth = max(len(mine), len(ideal))

    def overlap(a, b):
        return math.fsum(p ** (d - 1) * len(set(a[:d]) & set(b[:d])) / d for d in range(1, depth + 1))

    whole = overlap(ideal, ideal) if normalize == "true" else math.fsum(p**d for d in range(depth))
    return ratio(overlap(mine, ideal), whole)


FUNCTIONS = {
    "P": precision, "R": recall, "F": f_measure, "Success": success, "Hits": hits, "AP": average_precision,
    "RR": reciprocal_rank, "Rprec": r_precision, "CG": cg, "DCG": dcg, "nDCG": ndcg, "ERR": expected_reciprocal_rank,
    "RBP": rbp, "IPrec11": mean_interpolated_precision, "Judged": judged, "SetF": set_f, "Bpref": bpref,
    "NNR": nearest, "InfAP": inferred_average_precision, "YAAP": yaap, "BinG": bin_g, "G": g_measure, "nDCGrel": ndcg_rel,
    "RnDCG": rndcg, "IDCG": ideal_dcg, "RBPresid": rbp_resid, "Unjudged": unjudged, "Utility": utility,
    "Accuracy": accuracy, "FallOut": fall_out, "Compat": compatibility, "INST": inst, "INSQ": insq, "BPM": bpm,
    "SDCG": sdcg, "NERR8": nerr8, "NERR9": nerr9, "NERR10": nerr10, "NERR11": nerr11,
    "IPrec": lambda t, x, **params: interpolated_precision(t, None, x, **params),
}


# Measures that take no relevance level, or whose `rel` is a floor of gains.
NO_LEVEL = {"CG", "DCG", "nDCG", "IDCG", "G", "nDCGrel", "ERR", "Judged", "Unjudged", "RBPresid", "Compat", "NNR"}


def split(name):
    """`P(norm=min)@5` as ("P", {"norm": "min"}, "5")."""
    base, _, cutoff = name.partition("@")
    base, _, text = base.removesuffix(")").partition("(")
    return base, dict(pairs(text)), cutoff


def at_level(name, rel):
    """The name with rel=`rel`, or None where a measure has no level or the name says it."""
    base, params, cutoff = split(name)
    if base in NO_LEVEL or "rel" in params or params.get("scale") == "topic" or params.get("gain") == "grade":
        return None
    text = ",".join(f"{key}={value}" for key, value in {"rel": rel, **params}.items())
    return f"{base}({text})" + (f"@{cutoff}" if cutoff else "")


def values(name, topics):
    """{topic: value} of the measure that laneval calls `name`."""
    base, params, cutoff = split(name)
    number = None if not cutoff else float(cutoff) if base == "IPrec" else int(cutoff)
    params = {key: value_of(value) for key, value in params.items()}
    return {topic: float(FUNCTIONS[base](t, number, **params)) for topic, t in topics.items()}


def pairs(text):
    """key=value pairs of a parameter list; commas inside brackets belong to the value."""
    parts, deep = [""], 0
    for letter in text:
        deep += (letter in "[{") - (letter in "]}")
        if letter == "," and not deep:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.split("=", 1) for part in parts if part]


def value_of(text):
    if text.startswith("{"):
        return {value_of(grade): float(gain) for grade, gain in (pair.split(":") for pair in text[1:-1].split(","))}
    if text.startswith("["):
        return tuple(map(float, text[1:-1].split(",")))
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text

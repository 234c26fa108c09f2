#!/usr/bin/env python3
"""Seeded generator of adversarial TREC data: `qrels.txt`, `run.txt` and `run2.txt`.

Whatever has made two evaluators disagree is put in on purpose: scores equal in f64 and scores equal
only in f32, topics present in one file only, unjudged documents, negative grades, topics without a
relevant document, identifiers whose byte order is not their numeric order, and every legal way to
write a line. Only the shape "free" has topics with nothing but negative grades, because trec_eval
crashes on one. Standard library only.

    generate.py --out DIR [--seed 1] [--queries 30] [--depth 100] [--hard]
                [--shape mixed] [--layout shuffled] [--letor-groups judges]

The same arguments give the same bytes.
"""

import argparse
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

from generate_groups import GROUPS


@dataclass(frozen=True)
class Shape:
    """The topics that a data set may have."""

    grades: tuple = (0, 0, 0, 1, 1, 2, 3, 4)
    negative: bool = True  # grades -1 and -2: in the pool, but not judged
    ties: bool = True  # equal and nearly equal scores
    gaps: bool = True  # topics in one file only, and topics with odd judgments
    unjudged: bool = True  # retrieved documents that the qrels do not name
    unretrieved: bool = True  # judged documents that the run lacks
    numeric: bool = False  # topic ids are plain numbers
    shallow: bool = True  # some topics have far fewer documents than `depth`
    # Not part of the seed, so that a new field leaves the data of the old shapes as they are.
    kinds: tuple = field(default=(), repr=False)  # more kinds of topics, after KINDS


# Grades with 6 decimals up to 4, and grades below 0.01, with some on the levels that measures ask for.
REAL = tuple(n * 987_654_321 % 4_000_001 / 1_000_000 for n in range(1, 2500)) + (0.7, 1, 2, 2.5, 3, 4) * 60
TINY = tuple(n * 7919 % 10_007 / 1_000_000 for n in range(1, 1500)) + (0.0005, 0.005, 1e-300) * 60

SHAPES = {
    "mixed": Shape(),
    "numeric": Shape(numeric=True),
    "distinct": Shape(negative=False, ties=False, gaps=False),
    "binary": Shape(grades=(0, 0, 1), negative=False, ties=False, gaps=False),
    "judged": Shape(negative=False, ties=False, gaps=False, unjudged=False),
    "untied": Shape(ties=False),
    "wide": Shape(grades=tuple(range(13)) + (0, 0, 0, 1, 1)),
    "huge": Shape(grades=(0, 0, 0, 1, 2, 3, 12, 127, 128, 1000)),  # trec_eval's time grows with the largest
    "vast": Shape(grades=(0, 0, 0, 1, 2, 3, 30000, 1000000)),
    # More distinct grades than fit into a byte.
    "many": Shape(grades=tuple(range(3001)) + (0, 0, 1, 2, 1500, -3) * 200),
    "real": Shape(grades=REAL + (0,) * 1500 + (-0.5, -1.25) * 60),
    "tiny": Shape(grades=TINY + (0,) * 900),
    "real untied": Shape(grades=REAL + (0,) * 1500, ties=False),
    "real closed": Shape(grades=REAL + (0,) * 1500, negative=False, ties=False, gaps=False, unjudged=False, unretrieved=False),
    "free": Shape(grades=(0, 0, 0, 1, 1, 2, 3, 4, 12), kinds=("all negative", "only negative retrieved")),
    "closed": Shape(negative=False, ties=False, gaps=False, unjudged=False, unretrieved=False),
    "tied": Shape(grades=(0, 0, 1), negative=False, gaps=False, unretrieved=False),
}
HARD_GRADES = tuple(range(13)) + (0, 0, 0, 1, 100)


@dataclass(frozen=True)
class Layout:
    """The order and the look of the lines of a file."""

    order: str  # "sorted": best first; "shuffled": inside each topic; "interleaved": over all topics
    separator: str = " "
    newline: str = "\n"
    final_newline: bool = True


LAYOUTS = {
    "sorted": Layout("sorted"),
    "shuffled": Layout("shuffled"),
    "interleaved": Layout("interleaved", separator="\t"),
    "crlf": Layout("shuffled", separator=" \t", newline="\r\n"),
    "unfinished": Layout("interleaved", final_newline=False),
}

KINDS = ("ordinary", "ordinary", "no relevant", "ordinary", "all relevant", "not in run", "ordinary",
         "relevant not retrieved", "not in qrels", "ordinary", "no retrieved judged", "one relevant")

ODD_QUERY_IDS = ("Q1", "q10", "q2", "q1", "10", "9", "q-1", "q.1", "Q10", "é1", "q1a", "q_1", "1e1", "q#2")
DOCNO_STYLES = ("d{}", "D{}", "d{}a", "FT911-{}", "clueweb09-en0000-00-{:05d}", "LA{:06d}-0001", "{}", "é{}",
                "#{}", "http://example.org/a/rather/long/path/to/page?number={}", "日本{}")

# Scores written so that a group is one value in f64 (first row) or in f32 (every row).
NEAR_TIES = (
    ("0.97", "0.970", "9.7e-1", "97E-2", "0.97000000000000001"),
    ("0.97", "0.97000000001", "0.96999999999", "0.970000000000001"),
    ("12.5", "12.500000001", "12.500000002", "12.499999999", "12.50"),
    ("-3.25", "-3.2500000001", "-3.2499999999", "-325e-2"),
)
# 1 + 2^-24 is half-way between two f32 values: reading to f64 first and straight to f32 disagree just above it.
HARD_TIES = (
    ("1", "1.0", "1.000000059604644775390625", "1.00000005960464477539062500001", "1.0000000596046450", "1.00000011920929"),
    ("0", "-0.0", "0.0", "-0", "1e-46", "-1e-46", "1e-300", "1e-45"),
    ("1e39", "2e39", "1e300", "3.4028234e38"),
    ("16777216", "16777217", "16777218", "1.6777217E7"),
    ("0.1", "0.10000000149011612", "0.1000000000000000055511151231257827"),
)


@dataclass
class Topic:
    """One topic: its judgments and two rankings of (docno, score as written)."""

    query_id: str
    judged: dict
    runs: tuple


def query_ids(rng, count, numeric):
    if numeric:
        return [str(n) for n in rng.sample(range(1, 10 * count + 10), count)]
    ids = list(ODD_QUERY_IDS) + [f"q{n}" for n in range(11, 11 + count)]
    return rng.sample(ids[: max(count, len(ODD_QUERY_IDS))], count)


def docnos(rng, count):
    """`count` different docnos; in a small range of numbers many of them are prefixes of one another."""
    numbers = range(1, 1 + max(4, count))
    styles = rng.sample(DOCNO_STYLES, 5)
    return rng.sample([style.format(n) for style in styles for n in numbers], count)


def distinct_scores(rng, count):
    """Different scores, exact in f32 too."""
    return [repr(n / 1024) for n in rng.sample(range(-4 * count - 8, 40 * count + 80), count)]


def tied_scores(rng, count, hard):
    groups = NEAR_TIES + (HARD_TIES if hard else ())
    if rng.random() < 0.5:
        groups = (rng.choice(groups),)
    steps = rng.choice((2, 5, 50))
    writers = (
        lambda: rng.choice(rng.choice(groups)),
        lambda: f"{rng.randrange(steps) / 10:.1f}",
        lambda: f"{7 + rng.randrange(4 * steps) * 1e-9:.10f}",
        lambda: repr(rng.gauss(0, 3)),
    )
    weights = rng.choice(((1, 0, 0, 0), (1, 1, 1, 1), (0, 1, 0, 1), (0, 0, 1, 0), (1, 0, 0, 9), (0, 0, 0, 1)))
    return [write() for write in rng.choices(writers, weights, k=count)]


def depth_of(rng, index, depth, shallow):
    """The first topic has the full depth and the second a single document."""
    if not shallow or index == 0:
        return depth
    if index == 1:
        return 1
    return rng.choice((depth, rng.randint(1, depth), rng.randint(1, min(depth, 12))))


def judge(rng, kind, shape, retrieved, others):
    """The judgments of one topic; at least one grade is not negative."""
    if kind == "not in qrels":
        return {}
    share = rng.choice((0.1, 0.5, 1.0)) if shape.unjudged else 1.0
    seen = [docno for docno in retrieved if rng.random() < share]
    rest = rng.sample(others, rng.randint(1, len(others))) if shape.unretrieved else []
    grades = shape.grades + ((-1, -2) if shape.negative else ())
    judged = {docno: rng.choice(grades) for docno in seen + rest}
    positive = [g for g in shape.grades if g > 0]
    if kind == "no relevant":
        judged = {docno: min(grade, 0) for docno, grade in judged.items()}
    elif kind == "all relevant":
        judged = {docno: rng.choice(positive) for docno in retrieved + rest}
    elif kind == "relevant not retrieved":
        judged = {docno: grade if docno in rest else min(grade, 0) for docno, grade in judged.items()}
    elif kind == "no retrieved judged":
        judged = {docno: rng.choice(positive) for docno in rest}
    elif kind == "all negative":
        return {docno: -1 - index % 2 for index, docno in enumerate(seen + rest)}
    elif kind == "only negative retrieved":
        judged = {docno: rng.choice((-1, -2)) for docno in retrieved} | {docno: rng.choice(positive) for docno in rest}
    elif kind == "one relevant":
        judged = {docno: min(grade, 0) for docno, grade in judged.items()} | {rng.choice(retrieved): rng.choice(positive)}
    if all(grade < 0 for grade in judged.values()):
        judged[others[0] if shape.unretrieved else retrieved[0]] = 0
    return judged


def make_topic(rng, query_id, kind, shape, depth, hard):
    names = docnos(rng, 2 * depth + 4)
    runs = []
    for _ in range(2):
        found = rng.sample(names[: depth + depth // 3 + 1] if shape.unretrieved else names[:depth], depth)
        scores = tied_scores(rng, depth, hard) if shape.ties else distinct_scores(rng, depth)
        runs.append(list(zip(found, scores)))
    retrieved = [docno for docno, _ in runs[0]]
    others = [docno for docno in names if docno not in set(retrieved)]
    judged = judge(rng, kind, shape, retrieved, others)
    return Topic(query_id, judged, ([], []) if kind == "not in run" else tuple(runs))


def make_topics(seed, shape, queries, depth, hard=False):
    """The topics of one data set; `shape` is a Shape."""
    rng = random.Random(f"{seed} {queries} {depth} {hard} {shape}")
    if hard and not shape.numeric:
        shape = replace(shape, grades=HARD_GRADES)
    ids = query_ids(rng, queries, shape.numeric)
    cycle = KINDS + shape.kinds if shape.gaps else ("ordinary",)
    kinds = [cycle[i % len(cycle)] for i in range(queries)]
    return [make_topic(rng, query_id, kind, shape, depth_of(rng, i, depth, shape.shallow), hard)
            for i, (query_id, kind) in enumerate(zip(ids, kinds))]


def qrels_rows(topics):
    return [[(t.query_id, "0", docno, str(grade)) for docno, grade in t.judged.items()] for t in topics]


def run_rows(topics, which, tag):
    """The rank column counts lines from 1, in file order: no program may rely on it."""
    return [[(t.query_id, "Q0", docno, str(rank), score, tag)
             for rank, (docno, score) in enumerate(t.runs[which], 1)] for t in topics]


def arrange(rng, groups, order):
    """Lines of all topics in file order."""
    if order == "sorted":
        return [row for rows in groups for row in sorted(rows, key=lambda row: -float(row[-2]))]
    rows = [row for rows in groups for row in rng.sample(rows, len(rows))]
    return rng.sample(rows, len(rows)) if order == "interleaved" else rows


def write_rows(path, rows, layout):
    text = layout.newline.join(layout.separator.join(row) for row in rows)
    end = layout.newline if layout.final_newline and rows else ""
    path.write_bytes((text + end).encode())


def grouped_rows(topics, groups, seed):
    """The lines of judgments by facet; `groups` is a key of GROUPS."""
    rng = random.Random(f"{groups} {seed}")
    return [GROUPS[groups](rng, topic) for topic in topics]


def write_data(out, seed, shape="mixed", layout="shuffled", queries=30, depth=100, hard=False, groups=None):
    """Write one data set into the folder `out` and return its three paths."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    layout = LAYOUTS[layout]
    topics = make_topics(seed, SHAPES[shape], queries, depth, hard)
    rng = random.Random(f"lines {seed}")
    paths = out / "qrels.txt", out / "run.txt", out / "run2.txt"
    qrels_order = "shuffled" if layout.order == "sorted" else layout.order
    judged = grouped_rows(topics, groups, seed) if groups else qrels_rows(topics)
    write_rows(paths[0], arrange(rng, judged, qrels_order), layout)
    for which, path in enumerate(paths[1:]):
        write_rows(path, arrange(rng, run_rows(topics, which, path.stem), layout.order), layout)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--queries", type=int, default=30, metavar="N")
    parser.add_argument("--depth", type=int, default=100, metavar="K")
    parser.add_argument("--hard", action="store_true", help="grades up to 12 and 100, scores at the edges of f32")
    parser.add_argument("--shape", choices=SHAPES, default="mixed")
    parser.add_argument("--layout", choices=LAYOUTS, default="shuffled")
    parser.add_argument("--letor-groups", choices=GROUPS, help="judgments by facet, where the second field says which")
    args = parser.parse_args()
    for path in write_data(args.out, args.seed, args.shape, args.layout, args.queries, args.depth, args.hard, args.groups):
        print(path)


if __name__ == "__main__":
    main()

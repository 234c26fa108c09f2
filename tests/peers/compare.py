#!/usr/bin/env python3
"""Compare every per-query value of `laneval` with the programs people use today.

Each section generates data (`generate.py`, fixed seeds), runs `laneval eval`, asks one peer for the
same values, and compares topic by topic:

    pytrec_eval   the trec_eval measures under `--score f32`: equal bit for bit
    ir_measures   each provider under its own tie rule: 1e-12 (gdeval prints 5 decimals: half of 1e-5)
    ranx          tie-free data with the same topics in both files: 1e-12
    scikit-learn  tie-free data without unjudged documents: 1e-12; tied data under `--ties average`: 5e-15, relative
    trm           (tie-aware-retrieval-metrics) binary tied data under `--ties average`, `best`, `worst`: 5e-15, relative
    orders        small tied rankings: the mean, largest and smallest of pytrec_eval's values of all orders of equal scores;
                  the extremes bit for bit, the mean to 4 ulps of 1 (relative above 1)
    torchmetrics  tie-free data, its own f32: 1e-6; only with --only torchmetrics, as it is not in requirements.txt
    plain         every measure in plain Python (`plain.py`), for what no peer computes: 1e-12

Every mean that laneval prints is compared with math.fsum(values) / n, one ulp allowed. One line per
(peer, measure) says how many values were compared, the largest difference and how many differ; the
last line is the total. Exit status 1 on any difference, 2 when a peer is not installed.

    compare.py --laneval target/release/laneval [--quick] [--seed S] [--fresh] [--only pytrec_eval,ranx]
"""

import argparse
import importlib
import itertools
import json
import logging
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import plain
from generate import write_data

CLOSE = 1e-12
FIVE_DECIMALS = 5.0001e-6  # half a unit of the last printed digit
TIED = 5e-15  # relative; scikit-learn takes differences of cumulated discounts

# --- the measures: laneval's name beside the peer's -------------------------------------------------

# trec_eval's name -> laneval's. A cutoff, where there is one, follows: map_cut_5 -> AP@5.
TREC_PLAIN = {
    "map": "AP", "gm_map": "GMAP", "Rprec": "Rprec", "recip_rank": "RR", "ndcg": "nDCG", "11pt_avg": "IPrec11",
    "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF",
    "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelRet", "bpref": "Bpref", "gm_bpref": "GMBpref", "infAP": "InfAP",
    "set_map": "SetAP", "set_relative_P": "SetP(norm=min)", "utility": "Utility", "binG": "BinG", "G": "G",
    "ndcg_rel": "nDCGrel", "Rndcg": "RnDCG",
}
TREC_CUT = {"map_cut": "AP", "P": "P", "recall": "R", "relative_P": "R(norm=min)", "ndcg_cut": "nDCG", "success": "Success"}
TREC_LEVEL = {"iprec_at_recall": "IPrec"}
TREC_MULTIPLES = (0.05, 0.2, 0.4, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 2, 3.7)  # not 1, which is Rprec
# What follows a point: trec_eval's argument -> laneval's name of the one measure that it means.
TREC_PARAMETERS = ({"set_F.0.5": "SetF(beta2=0.5)", "11pt_avg.0.2,0.5,0.8": "IPrec11(points=[0.2,0.5,0.8])"},
                   {"set_F.4": "SetF(beta=2)", "11pt_avg.0,0.33,0.67,1": "IPrec11(points=[0,0.33,0.67,1])"})
TREC_TEXTS = {"relstring", "runid"}
# laneval's parameter -> what each grade is worth. pytrec_eval has no such parameter: it gets other grades.
TREC_GAINS = {
    "gain={1:3,2:9}": {1: 3, 2: 9}.get,
    "gain={0:2,1:5,3:0}": {0: 2, 1: 5, 3: 0}.get,
    "gain=exp2": lambda grade, _: 2**grade - 1,
    "rel=2": lambda grade, _: grade if grade >= 2 else 0,
}
TREC_GRADED = {"ndcg": "nDCG({})", "ndcg_cut.3,10": "nDCG({})", "G": "G({})", "ndcg_rel": "nDCGrel({})", "Rndcg": "RnDCG({})"}
ODD_CUTOFFS = ".1,2,3,5,7,10,17,64,100,1000"

# (provider, flags, laneval's name, ir_measures' name, tolerance)
F32 = ("--score", "f32")
JUDGED_ONLY = (*F32, "-J")
ASCENDING = ("--ties", "docno-asc")
INPUT_ORDER = ("--ties", "input")
IR_MEASURES = (
    ("pytrec_eval", F32, "AP", "AP", CLOSE),
    ("pytrec_eval", F32, "AP@7", "AP@7", CLOSE),
    ("pytrec_eval", F32, "AP(rel=2)", "AP(rel=2)", CLOSE),
    ("pytrec_eval", F32, "nDCG", "nDCG", CLOSE),
    ("pytrec_eval", F32, "nDCG@10", "nDCG@10", CLOSE),
    ("pytrec_eval", F32, "P@5", "P@5", CLOSE),
    ("pytrec_eval", F32, "P(rel=2)@5", "P(rel=2)@5", CLOSE),
    ("pytrec_eval", F32, "R@10", "R@10", CLOSE),
    ("pytrec_eval", F32, "RR", "RR", CLOSE),
    ("pytrec_eval", F32, "Rprec", "Rprec", CLOSE),
    ("pytrec_eval", F32, "Success@5", "Success@5", CLOSE),
    ("pytrec_eval", F32, "IPrec@0.1", "IPrec@0.1", CLOSE),
    ("pytrec_eval", F32, "IPrec@0.5", "IPrec@0.5", CLOSE),
    ("pytrec_eval", F32, "SetP", "SetP", CLOSE),
    ("pytrec_eval", F32, "SetR", "SetR", CLOSE),
    ("pytrec_eval", F32, "SetF", "SetF", CLOSE),
    ("pytrec_eval", F32, "SetF(beta2=0.5)", "SetF(beta=0.5)", CLOSE),
    ("pytrec_eval", F32, "NumRet", "NumRet", CLOSE),
    ("pytrec_eval", F32, "NumRelRet(rel=2)", "NumRet(rel=2)", CLOSE),
    ("pytrec_eval", F32, "Bpref", "Bpref", CLOSE),
    ("pytrec_eval", F32, "Bpref(rel=2)", "Bpref(rel=2)", CLOSE),
    ("pytrec_eval", F32, "InfAP", "infAP", CLOSE),
    ("pytrec_eval", F32, "InfAP(rel=2)", "infAP(rel=2)", CLOSE),
    ("pytrec_eval", F32, "SetAP", "SetAP", CLOSE),
    ("pytrec_eval", F32, "SetP(norm=min)", "SetP(relative=True)", CLOSE),
    ("pytrec_eval", F32, "nDCG(gain={1:3,2:9})", "nDCG(gains={1:3,2:9})", CLOSE),
    ("pytrec_eval", JUDGED_ONLY, "AP", "AP(judged_only=True)", CLOSE),
    ("pytrec_eval", JUDGED_ONLY, "nDCG@10", "nDCG(judged_only=True)@10", CLOSE),
    ("pytrec_eval", JUDGED_ONLY, "SetP(norm=min)", "SetP(relative=True,judged_only=True)", CLOSE),
    ("msmarco", ASCENDING, "RR@3", "RR@3", CLOSE),
    ("msmarco", ASCENDING, "RR@10", "RR@10", CLOSE),
    ("msmarco", ASCENDING, "RR(rel=2)@10", "RR(rel=2)@10", CLOSE),
    ("judged", ASCENDING, "Judged", "Judged", CLOSE),
    ("judged", ASCENDING, "Judged@1", "Judged@1", CLOSE),
    ("judged", ASCENDING, "Judged@10", "Judged@10", CLOSE),
    ("judged", ASCENDING, "Judged@1000", "Judged@1000", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RBP", "RBP(rel=1,p=0.8)", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RBP(p=0.95)", "RBP(rel=1,p=0.95)", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RBP(p=0.5,rel=2)", "RBP(rel=2,p=0.5)", CLOSE),
    ("cwl_eval", INPUT_ORDER, "P(rel=2)@7", "P(rel=2)@7", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RR", "RR(rel=1)", CLOSE),
    ("compat", (), "Compat", "Compat", CLOSE),
    ("compat", (), "Compat(p=0.8)", "Compat(p=0.8)", CLOSE),
    ("compat", (), "Compat(p=0.98,normalize=false)", "Compat(p=0.98,normalize=False)", CLOSE),
    ("accuracy", INPUT_ORDER, "Accuracy", "Accuracy", CLOSE),
    ("accuracy", INPUT_ORDER, "Accuracy@5", "Accuracy@5", CLOSE),
    ("accuracy", INPUT_ORDER, "Accuracy(rel=2)@20", "Accuracy(rel=2)@20", CLOSE),
    # cwl_eval's one RBP is both laneval's untruncated one, scaled, and the one that norm=1000 names.
    ("cwl_eval", (*INPUT_ORDER, "--rel", "1"), "RBP(norm=1000)", "RBP(rel=1,p=0.8)", CLOSE),
    ("cwl_eval", (*INPUT_ORDER, "--rel", "1"), "RBP(p=0.999,rel=2,norm=1000)", "RBP(rel=2,p=0.999)", CLOSE),
)
# cwl_eval's graded measures: (name, parameter, cutoff).
CWL_GRADED = (
    ("INST", "", ""), ("INST", "T=2.5", ""), ("INSQ", "", ""), ("INSQ", "T=0.5", ""),
    ("BPM", "", "@10"), ("BPM", "T=2.5", "@100"),
    ("SDCG", "", "@1"), ("SDCG", "", "@10"), ("NERR8", "", "@1"), ("NERR8", "", "@10"), ("NERR9", "", "@10"),
    ("NERR9", "", "@100"), ("NERR10", "", ""), ("NERR10", "p=0.5", ""), ("NERR11", "", ""), ("NERR11", "T=2.5", ""),
)
IR_MEASURES += tuple(
    ("cwl_eval", INPUT_ORDER, f"{name}({','.join(filter(None, (param, f'gain=grade,gmax={top}')))}){cut}",
     f"{name}({','.join(filter(None, (param, f'max_rel={top}')))}){cut}", CLOSE)
    for top in (1, 4, 12) for name, param, cut in CWL_GRADED
)
GDEVAL = (
    ("gdeval", (), "ERR@5", "ERR@5", FIVE_DECIMALS),
    ("gdeval", (), "ERR@20", "ERR@20", FIVE_DECIMALS),
    ("gdeval", (), "nDCG(gain=exp2)@5", "nDCG(dcg='exp-log2')@5", FIVE_DECIMALS),
    ("gdeval", (), "nDCG(gain=exp2)@20", "nDCG(dcg='exp-log2')@20", FIVE_DECIMALS),
)
CWL_DEPTH = 1000  # cwl_eval divides by the sum of the weights to this depth

# (laneval's name, ranx's name), the latter with `ranx:` also being laneval's argument
RANX_LEVELS = (
    ("Hits{}@5", "hits@5"), ("Success{}@5", "hit_rate@5"), ("P{}@5", "precision@5"), ("R{}@5", "recall@5"),
    ("F{}@5", "f1@5"), ("AP{}@5", "map@5"), ("AP{}@10", "map@10"), ("AP{}", "map"), ("RR{}@10", "mrr@10"),
    ("Rprec{}", "r-precision"), ("nDCG{}@10", "ndcg@10"), ("nDCG{}", "ndcg"), ("nDCG(gain=exp2{},)@10", "ndcg_burges@10"),
    ("DCG{}@10", "dcg@10"), ("DCG(gain=exp2{},)@10", "dcg_burges@10"), ("Bpref(negatives=nonrelevant{},)", "bpref"),
    ("RBP(p=0.95,gain=raw{},)", "rbp.95"), ("RBP(p=0.5,gain=raw{},)", "rbp.5"),
)


def ranx_rows(level):
    """The rows at a relevance level: ("AP(rel=2)@5", "map@5-l2"); none is written for level 1."""
    for ours, name in RANX_LEVELS:
        alone, after = (f"(rel={level})", f",rel={level}") if level > 1 else ("", "")
        ours = ours.replace("{},)", f"{after})").replace("{}", alone)
        yield ours, name + (f"-l{level}" if level > 1 else "")


RANX = tuple(row for level in (1, 2, 3) for row in ranx_rows(level))
RANX_BINARY = (("RBP(p=0.95)", "rbp.95"), ("AP", "map"), ("nDCG@10", "ndcg@10"))

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

# Every measure with a value of its own, where `plain.py` is the peer; each also at level 2 if it has a level.
PLAIN = """
P@5 P(norm=min)@1 P(norm=min)@5 P(norm=min)@100 R@5 R(norm=min)@1 R(norm=min)@5 R(norm=min)@50 R(norm=retrieved)@5 R(norm=retrieved)@50 F@5 F(beta=2)@10 F(beta=0.5)@3
Success Success@3 Hits Hits@7 AP AP@5 AP(norm=hits) AP(norm=hits)@5 AP(norm=min) AP(norm=min)@5 AP(norm=min)@40 RR RR@2
Rprec Rprec(mult=0.3) Rprec(mult=2.5) SetF(beta=2) Judged Judged@4 Unjudged@1 Unjudged@5 Unjudged@20 Accuracy Accuracy@6
FallOut FallOut@1 FallOut@5 FallOut@30 FallOut(norm=judged) FallOut(norm=judged)@5 FallOut(norm=judged)@30
Utility Utility(a=2.5,c=-0.5,d=0.25) Utility(b=-2,c=3,d=4,docs=1000) Utility(a=0,b=0,d=1)
Bpref Bpref(negatives=nonrelevant) InfAP YAAP BinG IPrec@0 IPrec@0.3 IPrec@1 IPrec(cut=v10)@0.1 IPrec(cut=v10)@0.5
IPrec(cut=v10)@0.7 IPrec11 IPrec11(cut=v10) IPrec11(points=[0.2,0.5,0.8]) IPrec11(cut=v10,points=[0.25,0.75])
IPrec(cut=exact)@0.05 IPrec(cut=exact)@0.7 IPrec11(cut=exact) IPrec11(cut=exact,points=[0.05,0.7])
Compat Compat(p=0.5) Compat(p=0.9,normalize=false)
RBP RBP@3 RBP(p=0.5)@10 RBP(gain=grade) RBP(gain=raw) RBP(p=0.9,scale=topic) RBP(p=0.5,scale=topic) RBP(p=0.95,scale=topic)@10
RBP(norm=1000) RBP(p=0.95,norm=20) RBP(p=0.3,gain=grade,norm=5) RBPresid RBPresid(p=0.5) RBPresid(p=0.99)
"""
PLAIN_GAINS = ("", "rel=2", "gain={1:3,2:9}", "gain={-2:0.25,-1:0.5,0:0.125,1:3,2:0}", "gain={1:-2,2:0.75}")
PLAIN_NARROW = ("gain=exp2", "gain=exp2,rel=3")  # where no grade is above 12
PLAIN_GRADED = ("CG{}", "CG{}@5", "DCG{}", "DCG{}@5", "IDCG{}", "IDCG{}@5", "nDCG{}", "nDCG{}@5", "G{}", "nDCGrel{}", "RnDCG{}")
PLAIN_IDEAL = ("nDCG(ideal=retrieved)", "DCG(discount=jk)", "nDCG(discount=jk)@5", "IDCG(discount=jk,base=10)", "nDCG(discount=jk,base=3.5)", "nDCG(ideal=retrieved)@5", "nDCG(gain={1:3,2:9},ideal=retrieved)@5")
PLAIN_CWL = """
INST INST(T=2.5) INST(depth=5) INSQ INSQ(T=0.5) INSQ(depth=7) BPM BPM@10 BPM(T=2)@10 BPM(T=3,depth=8) SDCG@5 SDCG@100
NERR8 NERR8@10 NERR9 NERR9@10 NERR9(depth=5)@10 NERR10 NERR10(p=0.5) NERR10(p=0.5,depth=5) NERR11 NERR11(T=3)
INST(gain=grade) INSQ(gain=grade) SDCG(gain=grade)@5 NERR8(gain=grade)@10 NERR9(gain=grade,gmax=3)@10 NERR11(gain=grade,gmax=20)
BPM(T=1.5,gain=grade)@20 NERR10(gain=grade)
"""

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

# (laneval's name, what each grade is worth, are ideal rankings made of the judgments?); also at the cutoffs below.
SKLEARN_TIED = (
    ("DCG", lambda grade: grade, None),
    ("DCG(gain=exp2)", lambda grade: 2**grade - 1, None),
    ("nDCG(ideal=retrieved)", lambda grade: grade, False),
    ("nDCG(gain=exp2,ideal=retrieved)", lambda grade: 2**grade - 1, False),
    ("nDCG", lambda grade: grade, True),
)
TIED_CUTOFFS = (1, 3, 10, 100)

# trm's name -> laneval's, which a cutoff follows
TRM = {"ndcg": "nDCG", "mrr": "RR", "map": "AP", "recall": "R", "precision": "P", "f1": "F", "hits": "Hits"}

# trec_eval's arguments for what has an expected value over all orders, and for what has a best and a worst one besides.
ORDERS_MEAN = (
    "map", "Rprec", "recip_rank", "ndcg", "bpref", "infAP", "binG", "ndcg_rel", "Rndcg", "utility", "set_P", "set_recall",
    "set_F", "set_map", "set_relative_P", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret",
    "map_cut.1,2,3,5", "P.1,2,3,5,10", "recall.1,2,3,5", "relative_P.1,3,5", "ndcg_cut.1,2,3,5", "success.1,2,3,5",
    f"Rprec_mult.{','.join(map(str, TREC_MULTIPLES))}",
)
ORDERS_EXTREME = ("11pt_avg", "iprec_at_recall.0.1,0.5,1")
# What is kept of a ranking: (flags, ranks, only judged documents?)
ORDERS_VIEWS = (((), None, False), (("-M", "3"), 3, False), (("-J",), None, True), (("-M", "3", "-J"), 3, True))


def with_number(name, cutoff):
    """`name@cutoff` with the cutoff in its shortest form: IPrec@0.1, P@5."""
    return f"{name}@{float(cutoff):g}"


def laneval_name(trec_name):
    """laneval's canonical name of a measure that trec_eval prints, or None: map_cut_5 -> AP@5."""
    if trec_name in TREC_PLAIN:
        return TREC_PLAIN[trec_name]
    family, _, cutoff = trec_name.rpartition("_")
    if family == "Rprec_mult":
        return f"Rprec(mult={float(cutoff):g})"
    base = (TREC_CUT | TREC_LEVEL).get(family)
    return with_number(base, cutoff) if base else None


def trec_arguments(cutoffs=""):
    """The measures as trec_eval spells them; `cutoffs` is "" or ".1,2,3"."""
    multiples = ",".join(map(str, TREC_MULTIPLES))
    return [*TREC_PLAIN, *TREC_LEVEL, *(name + cutoffs for name in TREC_CUT), f"Rprec_mult.{multiples}"]


def as_laneval_takes(argument):
    """One argument of trec_eval as arguments of laneval: the same one in its vocabulary."""
    if argument.startswith("Rprec_mult."):
        return [f"Rprec(mult={multiple})" for multiple in TREC_MULTIPLES]
    return [f"trec:{argument}"]


# --- counting ---------------------------------------------------------------------------------------


@dataclass
class Line:
    """What has been found for one (peer, measure)."""

    compared: int = 0
    largest: float = 0.0
    differing: int = 0
    documented: int = 0  # values where laneval departs from the peer on purpose


@dataclass
class Tally:
    """All comparisons so far, and where to look for the first differences."""

    lines: dict = field(default_factory=lambda: defaultdict(Line))
    shown: int = 0

    def line(self, peer, measure):
        """The line of a measure; its cutoffs share one."""
        return self.lines[peer, measure.partition("@")[0] + ("@k" if "@" in measure else "")]

    def add(self, peer, measure, ours, theirs, same, place):
        line = self.line(peer, measure)
        line.compared += 1
        if not math.isnan(ours) and not math.isnan(theirs):
            line.largest = max(line.largest, abs(ours - theirs))
        if same:
            return
        line.differing += 1
        if self.shown < 20:
            self.shown += 1
            print(f"differs: {peer} {measure} {place}: laneval {ours!r}, peer {theirs!r}", file=sys.stderr)

    def add_topics(self, peer, measure, ours, theirs, same, place):
        """Compare two {topic: value}; a topic on one side only is a difference."""
        for topic in sorted(ours.keys() | theirs.keys()):
            mine, other = ours.get(topic, math.nan), theirs.get(topic, math.nan)
            self.add(peer, measure, mine, other, same(mine, other), f"{place} topic {topic}")

    def report(self):
        """Print the table; return the number of differences."""
        for (peer, measure), line in sorted(self.lines.items()):
            note = f"  ({line.documented} documented)" if line.documented else ""
            print(f"{peer:24} {measure:26} {line.compared:8} compared  largest {line.largest:.1e}"
                  f"  {line.differing} differ{note}")
        compared = sum(line.compared for line in self.lines.values())
        differing = sum(line.differing for line in self.lines.values())
        print(f"total: {compared} values compared, {differing} differ")
        return differing


def same_bits(a, b):
    return struct.pack("<d", a) == struct.pack("<d", b)


def within(tolerance):
    """A test of two values; false for a missing (NaN) one."""
    return lambda a, b: abs(a - b) <= tolerance


def relative(tolerance):
    """The same with a tolerance in units of the peer's value."""
    return lambda a, b: abs(a - b) <= tolerance * abs(b)


def within_an_ulp(a, b):
    return b in (a, math.nextafter(a, math.inf), math.nextafter(a, -math.inf))


# --- data and laneval -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """One qrels file and one run."""

    qrels: Path
    run: Path
    label: str

    def read_qrels(self):
        return self._read(self.qrels, 3, int)

    def read_run(self):
        return self._read(self.run, 4, float)

    @staticmethod
    def _read(path, column, number):
        """{topic: {docno: number}} in the order of the file."""
        topics = defaultdict(dict)
        for fields in (line.split() for line in path.read_text(encoding="utf-8").splitlines()):
            topics[fields[0]][fields[2]] = number(fields[column])
        return dict(topics)


def data_sets(folder, recipes, runs=("run", "run2")):
    """Write each recipe (keyword arguments of `write_data`) and yield one Data per run."""
    for recipe in recipes:
        label = " ".join(f"{key}={value}" for key, value in recipe.items())
        paths = write_data(folder / label.replace(" ", "_"), **recipe)
        for path in paths[1:]:
            if path.stem in runs:
                yield Data(paths[0], path, f"[{label} {path.name}]")


def tidy(name, dropped=()):
    """A measure name without the parameters in `dropped`, the others in order and the cutoff in shortest form."""
    base, params, cutoff = plain.split(name)
    kept = ",".join(f"{key}={value}" for key, value in sorted(params.items()) if f"{key}={value}" not in dropped)
    base += f"({kept})" if kept else ""
    return with_number(base, cutoff) if cutoff else base


class Laneval:
    """Runs the command under test and checks the means it prints."""

    def __init__(self, path, tally):
        self.path, self.tally = path, tally

    def evaluate(self, data, measures, flags=(), dropped=()):
        """{measure: {topic: value}} of one command."""
        command = [self.path, "eval", str(data.qrels), str(data.run), "--per-query", "--format", "jsonl", *flags]
        command += [part for measure in measures for part in ("-m", measure)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}: {done.stderr}")
        values, summaries = defaultdict(dict), []
        for row in map(json.loads, done.stdout.splitlines()):
            measure, topic = tidy(row["measure"], dropped), row["query_id"]
            value = math.nan if row["value"] is None else float(row["value"])
            if not topic:
                summaries.append((measure, row["stat"], value))
            elif topic in values[measure]:
                sys.exit(f"{' '.join(command)}\nprints {measure} of topic {topic} twice")
            else:
                values[measure][topic] = value
        self.check_summaries(data, values, summaries)
        return values

    def check_summaries(self, data, values, summaries):
        for measure in values.keys() - {measure for measure, _, _ in summaries}:
            self.tally.add("math.fsum", "mean", math.nan, math.nan, False, f"no summary of {measure} {data.label}")
        for measure, stat, summary in summaries:
            topics = list(values[measure].values())
            if measure.startswith("GM"):
                stat = "geometric mean"
                expected = math.exp(math.fsum(map(math.log, topics)) / len(topics))
                same = within(CLOSE)(summary, expected)
            elif stat == "mean":
                expected = math.fsum(topics) / len(topics)
                same = within_an_ulp(summary, expected)
            elif stat == "sum":
                expected = math.fsum(topics)
                same = summary == expected
            else:
                continue
            self.tally.add("math.fsum", stat, summary, expected, same, f"{measure} {data.label}")


# --- pytrec_eval ------------------------------------------------------------------------------------


def pytrec_values(qrels, run, arguments, rel=1, judged_only=False, name=laneval_name):
    """{laneval's name: {topic: value}}; GMAP holds ln(max(AP, 1e-5)), as pytrec_eval gives it, GMBpref likewise."""
    import pytrec_eval

    judge = pytrec_eval.RelevanceEvaluator(qrels, arguments, relevance_level=rel, judged_docs_only_flag=judged_only)
    values = defaultdict(dict)
    for topic, row in judge.evaluate(run).items():
        for trec_name, value in row.items():
            values[name(trec_name)][topic] = value
    return values


def without_nan(tally, measure, ours, theirs):
    """`theirs` with 0 for its NaN where laneval says 0.

    trec_eval divides 0 by 0 in the interpolated precisions when -J leaves no result; laneval scores 0.
    """
    fixed = dict(theirs)
    for topic, value in theirs.items():
        if math.isnan(value) and ours.get(topic) == 0.0:
            fixed[topic] = 0.0
            tally.line("pytrec_eval", measure).documented += 1
    return fixed


def compare_plain_trec(laneval, tally, data, rel, judged_only):
    """Every measure of pytrec_eval at one level: first with odd cutoffs, then with parameters of their own."""
    qrels, run = data.read_qrels(), data.read_run()
    flags = ["--score", "f32", "--queries", "both", *(["--rel", "2"] if rel == 2 else []), *(["-J"] if judged_only else [])]
    passes = [(trec_arguments(ODD_CUTOFFS), laneval_name)]
    for renamed in TREC_PARAMETERS:
        passes.append((list(renamed), {argument.partition(".")[0]: ours for argument, ours in renamed.items()}.get))
    for arguments, name in passes:
        mine = [part for argument in arguments for part in as_laneval_takes(argument)]
        if name is not laneval_name:
            mine = [name(argument.partition(".")[0]) for argument in arguments]
        ours = laneval.evaluate(data, mine, flags, dropped=("rel=2",))
        theirs = pytrec_values(qrels, run, arguments, rel, judged_only, name)
        for geometric in {"GMAP", "GMBpref"} & ours.keys():
            ours[geometric] = {topic: math.log(value) for topic, value in ours[geometric].items()}
        theirs = {tidy(measure): values for measure, values in theirs.items()}
        for measure in sorted(ours.keys() | theirs.keys()):
            expected = theirs.get(measure, {})
            if judged_only and measure.startswith("IPrec"):
                expected = without_nan(tally, measure, ours[measure], expected)
            tally.add_topics("pytrec_eval", measure, ours[measure], expected, same_bits, f"{data.label} {' '.join(flags)}")


def compare_gains(laneval, tally, data):
    """The graded measures under other gains: pytrec_eval is given the gains as grades."""
    qrels, run = data.read_qrels(), data.read_run()
    for parameter, gain in TREC_GAINS.items():
        gains = {topic: {docno: gain(grade, grade) if grade >= 0 else grade for docno, grade in judged.items()}
                 for topic, judged in qrels.items()}
        # RnDCG asks whether a topic has relevant documents, by their grades and not by their gains.
        kept = all((grade >= 1) == (gains[topic][docno] >= 1) for topic in qrels for docno, grade in qrels[topic].items())
        kept = kept and parameter.startswith("gain")
        graded = {name: ours.format(parameter) for name, ours in TREC_GRADED.items() if kept or name != "Rndcg"}

        def name(trec_name):
            cut = trec_name.removeprefix("ndcg_cut_")
            return tidy(f"nDCG({parameter})@{cut}" if cut != trec_name else graded[trec_name])

        asked = [ours for trec, ours in graded.items() if trec != "ndcg_cut.3,10"] + [f"nDCG({parameter})@[3,10]"]
        ours = laneval.evaluate(data, asked, ("--score", "f32", "--queries", "both"))
        theirs = pytrec_values(gains, run, list(graded), name=name)
        for measure in sorted(ours.keys() | theirs.keys()):
            tally.add_topics("pytrec_eval gains", measure, ours[measure], theirs[measure], same_bits, data.label)


def check_pytrec_eval(laneval, tally, folder, options):
    recipes = [{"seed": seed, "shape": "mixed", "layout": layout, "queries": 24, "depth": 12, "hard": hard}
               for seed, layout, hard in ((11, "shuffled", False), (12, "crlf", True), (13, "unfinished", True))]
    if not options.quick:
        recipes += [{"seed": 14, "layout": "interleaved", "queries": 40, "depth": 200},
                    {"seed": 15, "layout": "sorted", "queries": 24, "depth": 1000, "hard": True},
                    {"seed": 16, "layout": "crlf", "queries": 40, "depth": 60, "hard": True}]
        recipes += [{"seed": seed, "queries": 16, "depth": 6, "hard": seed % 2 == 0} for seed in range(20, 30)]
    recipes += [{"seed": seed, "queries": 40, "depth": 80, "layout": "interleaved", "hard": True} for seed in options.seeds]
    recipes += [{"seed": seed, "shape": "huge", "queries": 24, "depth": 30} for seed in [17, *options.seeds]]
    for data in data_sets(folder, recipes):
        for rel in (1, 2):
            for judged_only in (False, True):
                compare_plain_trec(laneval, tally, data, rel, judged_only)
    seeds = [18] + ([] if options.quick else [19]) + options.seeds
    for data in data_sets(folder, [{"seed": seed, "shape": "wide", "queries": 40, "depth": 60} for seed in seeds]):
        compare_gains(laneval, tally, data)


# --- ir_measures ------------------------------------------------------------------------------------


def cwl_factor(name):
    """What turns laneval's untruncated RBP into cwl_eval's, whose weights sum to 1."""
    import ir_measures

    return 1 / (1 - ir_measures.parse_measure(name)["p"] ** CWL_DEPTH)


def accuracy_values(names, qrels, run):
    """Topic by topic: the provider divides by zero where all of the k documents are relevant.

    It also leaves out topics without a relevant one. laneval says 1 and 0.
    """
    values = {name: dict.fromkeys(qrels, 0.0) for name in names}
    for topic in qrels.keys() & run.keys():
        for name in names:
            try:
                found = ir_measures_values("accuracy", [name], {topic: qrels[topic]}, {topic: run[topic]}, whole=True)
            except ZeroDivisionError:
                values[name][topic] = 1.0
            else:
                values[name] |= found.get(name, {})
    return values


def by_rank(run):
    """The run with the scores n..1 in laneval's order.

    Compat takes an absent document's score for 0, and so asks for positive scores, and orders ties by the qrels.
    """
    ranked = {topic: sorted(scores, key=lambda docno: (scores[docno], docno.encode())) for topic, scores in run.items()}
    return {topic: {docno: float(n) for n, docno in enumerate(docnos, 1)} for topic, docnos in ranked.items()}


def ir_measures_values(provider, names, qrels, run, whole=False):
    import ir_measures

    if provider == "accuracy" and not whole:
        return accuracy_values(names, qrels, run)
    if provider == "compat":
        run = by_rank(run)

    logging.getLogger("ir_measures.cwl_eval").setLevel("ERROR")  # it warns of grades above max_rel
    measures = {ir_measures.parse_measure(name): name for name in names}
    values = defaultdict(dict)
    for metric in getattr(ir_measures, provider).iter_calc(list(measures), qrels, run):
        values[measures[metric.measure]][metric.query_id] = float(metric.value)
    return values


def compare_ir_measures(laneval, tally, data, rows):
    """Compare rows that share one provider and one set of flags in one command."""
    qrels, run = data.read_qrels(), data.read_run()
    groups = defaultdict(list)
    for provider, flags, ours, theirs, tolerance in rows:
        groups[provider, flags].append((ours, theirs, tolerance))
    for (provider, flags), group in groups.items():
        mine = laneval.evaluate(data, [ours for ours, _, _ in group], flags)
        other = ir_measures_values(provider, [theirs for _, theirs, _ in group], qrels, run)
        for ours, theirs, tolerance in group:
            factor = cwl_factor(theirs) if ours.startswith("RBP") and "norm" not in ours else 1.0
            scaled = {topic: value * factor for topic, value in mine[tidy(ours)].items()}
            tally.add_topics(f"ir_measures {provider}", ours, scaled, other[theirs], within(tolerance), data.label)


def check_ir_measures(laneval, tally, folder, options):
    recipes = [{"seed": 31, "layout": "interleaved", "queries": 30, "depth": 30}]
    numeric = [{"seed": 41, "shape": "numeric", "layout": "shuffled", "queries": 30, "depth": 40}]
    if not options.quick:
        recipes += [{"seed": 32, "layout": "shuffled", "queries": 24, "depth": 1100, "hard": True},
                    {"seed": 33, "layout": "crlf", "queries": 60, "depth": 20, "hard": True},
                    {"seed": 34, "shape": "huge", "layout": "unfinished", "queries": 24, "depth": 30}]
        numeric += [{"seed": 42, "shape": "numeric", "layout": "interleaved", "queries": 60, "depth": 200}]
    recipes += [{"seed": seed, "queries": 40, "depth": 80, "hard": True} for seed in options.seeds]
    numeric += [{"seed": seed, "shape": "numeric", "queries": 40, "depth": 80, "hard": True} for seed in options.seeds]
    for data in data_sets(folder, recipes):
        compare_ir_measures(laneval, tally, data, IR_MEASURES)
    for data in data_sets(folder, numeric):
        compare_ir_measures(laneval, tally, data, GDEVAL)


# --- ranx -------------------------------------------------------------------------------------------


def ranx_values(names, qrels, run):
    import ranx

    topics = sorted(qrels.keys() & run.keys())  # ranx pairs the topics of two plain dicts by position
    scores = ranx.evaluate({t: {d: float(g) for d, g in qrels[t].items()} for t in topics},
                           {t: run[t] for t in topics}, list(names), return_mean=False)
    scores = {names[0]: scores} if len(names) == 1 else scores
    return {name: dict(zip(topics, map(float, scores[name]))) for name in names}


def ranx_bpref(name, qrels, run):
    """Only the topics for which ranx's bpref is defined: they have a relevant and a non-relevant document.

    Any other topic divides by zero, and the exception leaves 0 for all topics after it in its parallel loop.
    """
    level = int(name.partition("-l")[2] or 1)
    known = {topic: judged for topic, judged in qrels.items() if len({grade >= level for grade in judged.values()}) == 2}
    return ranx_values([name, "map"], known, run)[name]  # asked for `bpref-l2` alone, ranx looks up `bpref`


def check_ranx(laneval, tally, folder, options):
    seeds = [51] + ([] if options.quick else [52, 53]) + options.seeds
    for shape, rows in (("distinct", RANX), ("untied", RANX), ("binary", RANX_BINARY)):
        recipes = [{"seed": seed, "shape": shape, "queries": 30, "depth": 50} for seed in seeds]
        for data in data_sets(folder, recipes):
            # On binary data `rbp.95` is compared with another measure of laneval.
            asked = [mine if rows is RANX_BINARY else f"ranx:{name}" for mine, name in rows]
            ours = laneval.evaluate(data, asked, ("--queries", "both"))
            qrels, run = data.read_qrels(), data.read_run()
            theirs = ranx_values([name for _, name in rows if not name.startswith("bpref")], qrels, run)
            for mine, name in rows:
                expected = ranx_bpref(name, qrels, run) if name.startswith("bpref") else theirs[name]
                found = {topic: value for topic, value in ours[tidy(mine)].items() if topic in expected}
                tally.add_topics("ranx", mine, found, expected, within(CLOSE), data.label)


# --- scikit-learn -----------------------------------------------------------------------------------


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
        ours = laneval.evaluate(data, [row[0] for row in rows], ("--queries", "both", "--ties", "average"))
        for name, gain, of_judgments, k in rows:
            theirs = sklearn_tied_values(gain, of_judgments, k, qrels, run)
            known = {topic: value for topic, value in ours[tidy(name)].items() if topic in theirs}
            tally.add_topics("scikit-learn ties", name, known, theirs, relative(TIED), data.label)


def check_sklearn(laneval, tally, folder, options):
    check_sklearn_tied(laneval, tally, folder, options)
    seeds = [61] + ([] if options.quick else [62, 63]) + options.seeds
    for shape, rows in (("judged", SKLEARN_RETRIEVED), ("closed", SKLEARN_CLOSED)):
        recipes = [{"seed": seed, "shape": shape, "queries": 30, "depth": 60} for seed in seeds]
        for data in data_sets(folder, recipes, runs=("run",)):  # the second run holds unjudged documents
            qrels, run = data.read_qrels(), data.read_run()
            ours = laneval.evaluate(data, [mine for mine, _, _ in rows])
            for mine, function, keywords in rows:
                theirs = sklearn_values(function, keywords, qrels, run)
                known = {topic: value for topic, value in ours[tidy(mine)].items() if topic in theirs}
                tally.add_topics("scikit-learn", f"{mine}", known, theirs, within(CLOSE), data.label)


# --- trm --------------------------------------------------------------------------------------------


def trm_values(topics, qrels, run):
    """{rule: {laneval's name: {topic: value}}}.

    Beyond the end of a ranking its largest and smallest precision and F1 divide by the documents there are, and its expected ones by the
    cutoff, as trec_eval does.
    """
    import trm

    relevant = [[qrels[topic].get(docno, 0) > 0 for docno in run[topic]] for topic in topics]
    found = trm.evaluate([list(run[topic].values()) for topic in topics], relevant, list(TRM), list(TIED_CUTOFFS))
    values = {rule: defaultdict(dict) for rule in ("average", "best", "worst")}
    for (metric, name), k in itertools.product(TRM.items(), TIED_CUTOFFS):
        for topic, labels, value in zip(topics, relevant, found.per_query[metric][k]):
            fixed = {"precision": 0, "f1": sum(labels)}.get(metric)
            factor = 1.0 if fixed is None else (min(k, len(labels)) + fixed) / (k + fixed)
            values["average"][f"{name}@{k}"][topic] = value.expected
            values["best"][f"{name}@{k}"][topic] = value.maximum * factor
            values["worst"][f"{name}@{k}"][topic] = value.minimum * factor
    return values


def check_trm(laneval, tally, folder, options):
    """The relevant documents that it knows are those retrieved: here they are all that there are."""
    seeds = [91] + ([] if options.quick else [92]) + options.seeds
    recipes = [{"seed": seed, "shape": "tied", "queries": 40, "depth": depth} for seed in seeds for depth in (7, 60)]
    for data in data_sets(folder, recipes):
        qrels, run = data.read_qrels(), data.read_run()
        names = [f"{name}@{k}" for name, k in itertools.product(TRM.values(), TIED_CUTOFFS)]
        for rule, theirs in trm_values(sorted(qrels.keys() & run.keys()), qrels, run).items():
            ours = laneval.evaluate(data, names, ("--queries", "both", "--ties", rule))
            for name in names:
                tally.add_topics(f"trm {rule}", name, ours[tidy(name)], theirs[name], relative(TIED), data.label)


# --- all orders -------------------------------------------------------------------------------------


def orders_of(scores):
    """Every order of documents that their scores allow."""
    ranked = sorted(scores, key=lambda docno: -scores[docno])
    groups = [list(group) for _, group in itertools.groupby(ranked, key=lambda docno: scores[docno])]
    return [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, groups))]


def order_values(arguments, qrels, run, ranks, judged_only):
    """{laneval's name: {topic: [value of each order]}}: pytrec_eval is given each order as a topic of its own."""
    topics = sorted(qrels.keys() & run.keys())
    orders = {(topic, number): order[:ranks] for topic in topics for number, order in enumerate(orders_of(run[topic]))}
    names = {key: f"{key[0]} {key[1]}" for key in orders}
    found = pytrec_values({names[key]: qrels[key[0]] for key in orders},
                          {names[key]: {docno: float(len(order) - at) for at, docno in enumerate(order)}
                           for key, order in orders.items()}, arguments, judged_only=judged_only)
    values = defaultdict(lambda: defaultdict(list))
    for measure, of_orders in found.items():
        for key in orders:
            values[measure][key[0]].append(of_orders[names[key]])
    return values


def compare_orders(laneval, tally, data, view):
    flags, ranks, judged_only = view
    qrels, run = data.read_qrels(), data.read_run()
    for rule in ("average",) if ranks and judged_only else ("average", "best", "worst"):
        arguments = ORDERS_MEAN + (ORDERS_EXTREME if rule != "average" and not judged_only else ())
        if rule != "average" and ranks:
            arguments = tuple(argument for argument in arguments if argument != "infAP")  # refused
        mine = [part for argument in arguments for part in as_laneval_takes(argument)]
        ours = laneval.evaluate(data, mine, ("--queries", "both", "--ties", rule, *flags))
        theirs = order_values(arguments, qrels, run, ranks, judged_only)
        for measure, topics in theirs.items():
            if rule == "average":
                expected = {topic: math.fsum(values) / len(values) for topic, values in topics.items()}
            else:
                extreme = max if rule == "best" else min
                expected = {topic: extreme(values) for topic, values in topics.items()}
            exact = rule != "average" and measure != "InfAP"  # whose extremes are sums of their own
            tally.add_topics(f"orders {rule}", measure, ours[tidy(measure)], expected,
                             same_bits if exact else few_ulps, f"{data.label} {' '.join(flags)}")


def few_ulps(a, b):
    """4 units of the last digit of 1, relative above 1."""
    return abs(a - b) <= 4 * math.ulp(1.0) * max(1.0, abs(b))


def check_orders(laneval, tally, folder, options):
    seeds = [95] + ([] if options.quick else [96, 97]) + options.seeds
    recipes = [{"seed": seed, "queries": 40, "depth": depth} for seed in seeds for depth in (4, 6)]
    for data in data_sets(folder, recipes):
        for view in ORDERS_VIEWS:
            compare_orders(laneval, tally, data, view)


# --- torchmetrics -----------------------------------------------------------------------------------


def torch_values(function, keywords, qrels, run):
    """Its documents are those of the run, and its scores positive: it sets the others to 0."""
    import torch
    import torchmetrics.functional.retrieval

    values = {}
    for topic, scores in by_rank(run).items():
        grades = [max(qrels.get(topic, {}).get(docno, 0), 0) for docno in scores]
        target = torch.tensor(grades if "dcg" in function else [grade >= 1 for grade in grades])
        call = getattr(torchmetrics.functional.retrieval, function)
        values[topic] = float(call(torch.tensor(list(scores.values())), target, **keywords))
    return values


def check_torchmetrics(laneval, tally, folder, options):
    # All relevant documents are retrieved: recall is of those given.
    for seed in [81, 82] + options.seeds:
        for data in data_sets(folder, [{"seed": seed, "shape": "closed", "queries": 30, "depth": 30}], runs=("run",)):
            qrels, run = data.read_qrels(), data.read_run()
            ours = laneval.evaluate(data, [mine for mine, _, _ in TORCH])
            for mine, function, keywords in TORCH:
                theirs = torch_values(function, keywords, qrels, run)
                tally.add_topics("torchmetrics", mine, ours[tidy(mine)], theirs, within(1e-6), data.label)


# --- plain Python -----------------------------------------------------------------------------------


def plain_names(wide):
    """laneval's names of everything in `plain.py`; `wide` where grades go beyond 12."""
    names = [*PLAIN.split(), *PLAIN_IDEAL, *PLAIN_CWL.split()]
    for parameters in PLAIN_GAINS + (() if wide else PLAIN_NARROW):
        names += [name.format(f"({parameters})" if parameters else "") for name in PLAIN_GRADED
                  if not (name.startswith("RnDCG") and "rel" in parameters)]
    names += [name for name in (plain.at_level(name, 2) for name in names) if name]
    return names + ([] if wide else ["ERR(gmax=12)", "ERR(gmax=auto)@5"])


def check_plain(laneval, tally, folder, options):
    seeds = [71] + ([] if options.quick else [72]) + options.seeds
    recipes = [{"seed": seed, "shape": shape, "layout": layout, "queries": 30, "depth": depth}
               for seed in seeds for shape, layout, depth in
               (("free", "crlf", 12), ("wide", "interleaved", 40), ("vast", "unfinished", 20))]
    for data in data_sets(folder, recipes):
        qrels, run = data.read_qrels(), data.read_run()
        for judged_only in (False, True):
            topics = plain.topics_of(qrels, run, judged_only)
            names = plain_names(wide="vast" in data.label)
            ours = laneval.evaluate(data, names, ["-J"] if judged_only else [])
            for name in names:
                tally.add_topics("plain", name, ours[tidy(name)], plain.values(name, topics), nearly,
                                 f"{data.label}{' -J' if judged_only else ''}")


def nearly(a, b):
    """1e-12, relative above 1: huge grades make huge sums."""
    return abs(a - b) <= CLOSE * max(1.0, abs(b))


# --- the command ------------------------------------------------------------------------------------

# section: (modules that must be there, the check)
SECTIONS = {
    "pytrec_eval": (("pytrec_eval",), check_pytrec_eval),
    "ir_measures": (("ir_measures", "pytrec_eval", "cwl"), check_ir_measures),
    "ranx": (("ranx",), check_ranx),
    "scikit-learn": (("sklearn",), check_sklearn),
    "trm": (("trm",), check_trm),
    "orders": (("pytrec_eval",), check_orders),
    "plain": ((), check_plain),
    "torchmetrics": (("torch", "torchmetrics"), check_torchmetrics),
}
USUAL = [section for section in SECTIONS if section != "torchmetrics"]  # 5 GB to install


def require(modules):
    """A missing peer is an error: a comparison that did not happen must not look like a pass."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"compare.py: {error}; install requirements.txt, or leave the section out with --only", file=sys.stderr)
            sys.exit(2)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--laneval", required=True, metavar="PATH", help="the laneval program")
    parser.add_argument("--seed", type=int, action="append", dest="seeds", default=[], metavar="S",
                        help="also compare on fresh data of this seed (may be repeated)")
    parser.add_argument("--fresh", action="store_true", help="also compare on fresh data of a random seed, which is printed")
    parser.add_argument("--quick", action="store_true", help="the first, small data sets only")
    parser.add_argument("--only", default=",".join(USUAL), metavar="PEER,...", help="default: %(default)s")
    options = parser.parse_args()
    if options.fresh:
        options.seeds.append(random.SystemRandom().randrange(10**9))
        print(f"seed {options.seeds[-1]}", flush=True)
    options.only = options.only.split(",")
    unknown = set(options.only) - SECTIONS.keys()
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse_arguments()
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # the data is small: threads only add start-up time
    for section in options.only:
        require(SECTIONS[section][0])
    tally = Tally()
    laneval = Laneval(options.laneval, tally)
    with tempfile.TemporaryDirectory() as folder:
        for section in options.only:
            SECTIONS[section][1](laneval, tally, Path(folder) / section, options)
    sys.exit(1 if tally.report() else 0)


if __name__ == "__main__":
    main()

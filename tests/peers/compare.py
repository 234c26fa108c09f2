#!/usr/bin/env python3
"""Compare every per-query value of `laneval` with the programs people use today.

Each section generates data (`generate.py`, fixed seeds), runs `laneval eval`, asks one peer for the
same values, and compares topic by topic:

    pytrec_eval   the trec_eval measures under `--score f32`: equal bit for bit
    ir_measures   each provider under its own tie rule: 1e-12 (gdeval prints 5 decimals: half of 1e-5)
    ranx          tie-free data with the same topics in both files: 1e-12
    scikit-learn  tie-free data without unjudged documents: 1e-12

Every mean that laneval prints is compared with math.fsum(values) / n, one ulp allowed. One line per
(peer, measure) says how many values were compared, the largest difference and how many differ; the
last line is the total. Exit status 1 on any difference, 2 when a peer is not installed.

    compare.py --laneval target/release/laneval [--quick] [--seed S] [--only pytrec_eval,ranx]
"""

import argparse
import importlib
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from generate import write_data

CLOSE = 1e-12
FIVE_DECIMALS = 5.0001e-6  # half a unit of the last printed digit

# --- the measures: laneval's name beside the peer's -------------------------------------------------

# trec_eval's name -> laneval's. A cutoff, where there is one, follows: map_cut_5 -> AP@5.
TREC_PLAIN = {
    "map": "AP", "gm_map": "GMAP", "Rprec": "Rprec", "recip_rank": "RR", "ndcg": "nDCG", "11pt_avg": "IPrec11",
    "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF",
    "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
}
TREC_CUT = {"map_cut": "AP", "P": "P", "recall": "R", "ndcg_cut": "nDCG", "success": "Success"}
TREC_LEVEL = {"iprec_at_recall": "IPrec"}
ODD_CUTOFFS = ".1,2,3,5,7,10,17,64,100,1000"

# (provider, flags, laneval's name, ir_measures' name, tolerance)
F32 = ("--score", "f32")
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
    ("msmarco", ASCENDING, "RR@3", "RR@3", CLOSE),
    ("msmarco", ASCENDING, "RR@10", "RR@10", CLOSE),
    ("msmarco", ASCENDING, "RR(rel=2)@10", "RR(rel=2)@10", CLOSE),
    ("judged", ASCENDING, "Judged@1", "Judged@1", CLOSE),
    ("judged", ASCENDING, "Judged@10", "Judged@10", CLOSE),
    ("judged", ASCENDING, "Judged@1000", "Judged@1000", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RBP", "RBP(rel=1,p=0.8)", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RBP(p=0.95)", "RBP(rel=1,p=0.95)", CLOSE),
    ("cwl_eval", INPUT_ORDER, "RBP(p=0.5,rel=2)", "RBP(rel=2,p=0.5)", CLOSE),
)
GDEVAL = (
    ("gdeval", (), "ERR@5", "ERR@5", FIVE_DECIMALS),
    ("gdeval", (), "ERR@20", "ERR@20", FIVE_DECIMALS),
    ("gdeval", (), "nDCG(gain=exp2)@5", "nDCG(dcg='exp-log2')@5", FIVE_DECIMALS),
    ("gdeval", (), "nDCG(gain=exp2)@20", "nDCG(dcg='exp-log2')@20", FIVE_DECIMALS),
)
CWL_DEPTH = 1000  # cwl_eval divides by the sum of the weights to this depth

# (laneval's name, ranx's name)
RANX = (
    ("Hits@5", "hits@5"), ("Success@5", "hit_rate@5"), ("P@5", "precision@5"), ("R@5", "recall@5"),
    ("F@5", "f1@5"), ("AP@5", "map@5"), ("AP", "map"), ("AP(rel=2)", "map-l2"), ("RR@10", "mrr@10"),
    ("Rprec", "r-precision"), ("nDCG@10", "ndcg@10"), ("nDCG", "ndcg"), ("nDCG(gain=exp2)@10", "ndcg_burges@10"),
    ("DCG@10", "dcg@10"),
)
RANX_BINARY = (("RBP(p=0.95)", "rbp.95"), ("AP", "map"), ("nDCG@10", "ndcg@10"))

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


def with_number(name, cutoff):
    """`name@cutoff` with the cutoff in its shortest form: IPrec@0.1, P@5."""
    return f"{name}@{float(cutoff):g}"


def laneval_name(trec_name):
    """laneval's canonical name of a measure that trec_eval prints, or None: map_cut_5 -> AP@5."""
    if trec_name in TREC_PLAIN:
        return TREC_PLAIN[trec_name]
    family, _, cutoff = trec_name.rpartition("_")
    base = (TREC_CUT | TREC_LEVEL).get(family)
    return with_number(base, cutoff) if base else None


def trec_arguments(cutoffs=""):
    """The measures as both trec_eval and laneval spell them; `cutoffs` is "" or ".1,2,3"."""
    return [*TREC_PLAIN, *TREC_LEVEL, *(name + cutoffs for name in TREC_CUT)]


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
    """A printed measure name without the parameters in `dropped` and with its cutoff in shortest form."""
    base, _, cutoff = name.partition("@")
    base, _, params = base.rstrip(")").partition("(")
    kept = [param for param in params.split(",") if param and param not in dropped]
    base += f"({','.join(kept)})" if kept else ""
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
            if measure == "GMAP":
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


def pytrec_values(qrels, run, arguments, rel, judged_only):
    """{laneval's name: {topic: value}}; GMAP holds ln(max(AP, 1e-5)), as pytrec_eval gives it."""
    import pytrec_eval

    judge = pytrec_eval.RelevanceEvaluator(qrels, arguments, relevance_level=rel, judged_docs_only_flag=judged_only)
    values = defaultdict(dict)
    for topic, row in judge.evaluate(run).items():
        for trec_name, value in row.items():
            values[laneval_name(trec_name)][topic] = value
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


def check_pytrec_eval(laneval, tally, folder, options):
    recipes = [{"seed": seed, "shape": "mixed", "layout": layout, "queries": 24, "depth": 12, "hard": hard}
               for seed, layout, hard in ((11, "shuffled", False), (12, "crlf", True), (13, "unfinished", True))]
    if not options.quick:
        recipes += [{"seed": 14, "layout": "interleaved", "queries": 40, "depth": 200},
                    {"seed": 15, "layout": "sorted", "queries": 24, "depth": 1000, "hard": True},
                    {"seed": 16, "layout": "crlf", "queries": 40, "depth": 60, "hard": True}]
        recipes += [{"seed": seed, "queries": 16, "depth": 6, "hard": seed % 2 == 0} for seed in range(20, 30)]
    recipes += [{"seed": seed, "queries": 40, "depth": 80, "layout": "interleaved", "hard": True} for seed in options.seeds]
    arguments = trec_arguments(ODD_CUTOFFS)
    for data in data_sets(folder, recipes):
        qrels, run = data.read_qrels(), data.read_run()
        for rel in (1, 2):
            for judged_only in (False, True):
                flags = ["--score", "f32", "--queries", "both", *(["--rel", "2"] if rel == 2 else []),
                         *(["-J"] if judged_only else [])]
                ours = laneval.evaluate(data, arguments, flags, dropped=("rel=2", "judged_only", "judged-only"))
                theirs = pytrec_values(qrels, run, arguments, rel, judged_only)
                ours["GMAP"] = {topic: math.log(value) for topic, value in ours["GMAP"].items()}
                for measure in sorted(ours.keys() | theirs.keys()):
                    expected = theirs[measure]
                    if judged_only and measure.startswith("IPrec"):
                        expected = without_nan(tally, measure, ours[measure], expected)
                    tally.add_topics("pytrec_eval", measure, ours[measure], expected, same_bits,
                                     f"{data.label} {' '.join(flags)}")


# --- ir_measures ------------------------------------------------------------------------------------


def cwl_factor(name):
    """What turns laneval's untruncated RBP into cwl_eval's, whose weights sum to 1."""
    import ir_measures

    return 1 / (1 - ir_measures.parse_measure(name)["p"] ** CWL_DEPTH)


def ir_measures_values(provider, names, qrels, run):
    import ir_measures

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
            factor = cwl_factor(theirs) if provider == "cwl_eval" else 1.0
            scaled = {topic: value * factor for topic, value in mine[tidy(ours)].items()}
            tally.add_topics(f"ir_measures {provider}", ours, scaled, other[theirs], within(tolerance), data.label)


def check_ir_measures(laneval, tally, folder, options):
    recipes = [{"seed": 31, "layout": "interleaved", "queries": 30, "depth": 30}]
    numeric = [{"seed": 41, "shape": "numeric", "layout": "shuffled", "queries": 30, "depth": 40}]
    if not options.quick:
        recipes += [{"seed": 32, "layout": "shuffled", "queries": 24, "depth": 1000, "hard": True},
                    {"seed": 33, "layout": "crlf", "queries": 60, "depth": 20, "hard": True}]
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

    topics = sorted(qrels)  # ranx pairs the topics of two plain dicts by position
    scores = ranx.evaluate({t: {d: float(g) for d, g in qrels[t].items()} for t in topics},
                           {t: run[t] for t in topics}, list(names), return_mean=False)
    scores = {names[0]: scores} if len(names) == 1 else scores
    return {name: dict(zip(topics, map(float, scores[name]))) for name in names}


def check_ranx(laneval, tally, folder, options):
    seeds = [51] + ([] if options.quick else [52, 53]) + options.seeds
    for shape, rows in (("distinct", RANX), ("binary", RANX_BINARY)):
        recipes = [{"seed": seed, "shape": shape, "queries": 30, "depth": 50} for seed in seeds]
        for data in data_sets(folder, recipes):
            ours = laneval.evaluate(data, [mine for mine, _ in rows])
            theirs = ranx_values([name for _, name in rows], data.read_qrels(), data.read_run())
            for mine, name in rows:
                tally.add_topics("ranx", mine, ours[tidy(mine)], theirs[name], within(CLOSE), data.label)


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


def check_sklearn(laneval, tally, folder, options):
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


# --- the command ------------------------------------------------------------------------------------

# section: (modules that must be there, the check)
SECTIONS = {
    "pytrec_eval": (("pytrec_eval",), check_pytrec_eval),
    "ir_measures": (("ir_measures", "pytrec_eval", "cwl"), check_ir_measures),
    "ranx": (("ranx",), check_ranx),
    "scikit-learn": (("sklearn",), check_sklearn),
}


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
    parser.add_argument("--quick", action="store_true", help="the first, small data sets only")
    parser.add_argument("--only", default=",".join(SECTIONS), metavar="PEER,...", help="default: %(default)s")
    options = parser.parse_args()
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

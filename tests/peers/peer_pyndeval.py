"""pyndeval: the measures of ndeval over subtopics, equal bit for bit.

laneval adds up in the bytewise order of the subtopics' ids and pyndeval in the order in which they appear, so pyndeval is given the
judgments in the former. It has cutoffs up to 20.
"""

import math
import random

from inputs import data_sets
from program import tidy
from tally import same_bits

# pyndeval's name -> laneval's, and the parameters that change its value
CUT = {
    "alpha-DCG": ("alpha_DCG", "alpha"), "alpha-nDCG": ("alpha_nDCG", "alpha"), "ERR-IA": ("ERR_IA", "alpha"),
    "nERR-IA": ("nERR_IA", "alpha"), "P-IA": ("P_IA", ""), "strec": ("StRecall", ""),
}
WHOLE = {"NRBP": ("NRBP", "alpha beta"), "nNRBP": ("nNRBP", "alpha beta"), "MAP-IA": ("AP_IA", "")}
RAW = ("alpha_DCG", "ERR_IA")  # whose first rank ndeval does not divide
CUTOFFS = range(1, 21)
DEFAULTS = {"rel": 1, "alpha": 0.5, "beta": 0.5}
SETTINGS = tuple({"rel": rel, "alpha": alpha, "beta": beta} for rel, alpha, beta in (
    (1, 0.5, 0.5), (2, 0.5, 0.8), (1, 0, 0.5), (1, 1, 0.3), (1, 0.3, 0.7), (2, 0.9, 0.1), (1, 0.25, 0), (1, 0.1, 1), (1, 0, 1), (3, 0.7, 0.9)))


def full_name(base, wanted, setting, first=None):
    """laneval's name with the parameters that are not the defaults."""
    params = {key: setting[key] for key in ("rel", *wanted.split()) if setting[key] != DEFAULTS[key]}
    params |= {"first": first} if first else {}
    text = ",".join(f"{key}={value}" for key, value in params.items())
    return base + (f"({text})" if text else "")


def peer_values(rows, run, setting):
    """{pyndeval's name: {topic: value}}."""
    import pyndeval

    asked = [f"{name}@{k}" for name in CUT for k in CUTOFFS] + list(WHOLE)
    judge = pyndeval.RelevanceEvaluator([(topic, subtopic, docno, int(grade)) for topic, subtopic, docno, grade in rows], asked,
                                        relevance_level=setting["rel"], alpha=setting["alpha"], beta=setting["beta"])
    found = judge.evaluate([(topic, docno, score) for topic, scores in run.items() for docno, score in scores.items()])
    return {name: {topic: values[name] for topic, values in found.items()} for name in asked}


def leave_out_nan(tally, peer, ours, theirs):
    """Both without the topics in which nNRBP divides 0 by 0 in pyndeval; laneval says 0."""
    nan = {topic for topic, value in theirs.items() if math.isnan(value) and ours.get(topic) == 0.0}
    tally.line(peer, "nNRBP").documented += len(nan)
    return [{topic: value for topic, value in values.items() if topic not in nan} for values in (ours, theirs)]


def compare_pyndeval(laneval, tally, data, settings):
    rows = sorted(data.read_lines(), key=lambda row: row[1].encode())
    run = data.read_run()
    measures = {}  # (number of the setting, pyndeval's name): laneval's name
    for number, setting in enumerate(settings):
        for theirs, (ours, wanted) in CUT.items():
            base = full_name(ours, wanted, setting, "raw" if ours in RAW else None)
            measures |= {(number, f"{theirs}@{k}"): f"{base}@{k}" for k in CUTOFFS}
        measures |= {(number, theirs): full_name(ours, wanted, setting) for theirs, (ours, wanted) in WHOLE.items()}
    found = laneval.evaluate(data, dict.fromkeys(measures.values()), ("--queries", "common", "--ties", "docno-asc"))
    for number, setting in enumerate(settings):
        expected = peer_values(rows, run, setting)
        for theirs, values in expected.items():
            name = measures[number, theirs]
            mine = found[tidy(name)]
            if theirs == "nNRBP":
                mine, values = leave_out_nan(tally, "pyndeval", mine, values)
            base, _, cutoff = name.partition("@")
            label = base.partition("(")[0] + (f"@{cutoff}" if cutoff else "")
            tally.add_topics("pyndeval", label, mine, values, same_bits, f"{data.label} {setting}")


def check(laneval, tally, folder, options):
    seeds = [101] + ([] if options.quick else [102]) + options.seeds
    recipes = [{"seed": seed, "groups": "subtopics", "layout": layout, "queries": 30, "depth": depth, "hard": True}
               for seed in seeds for layout, depth in (("interleaved", 12), ("crlf", 50))]
    for data in data_sets(folder, recipes):
        rng = random.Random(data.label)
        fresh = {"rel": 1, "alpha": rng.random(), "beta": rng.random()}
        compare_pyndeval(laneval, tally, data, (*SETTINGS, fresh))
